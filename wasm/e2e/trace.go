package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"sync"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/inspector"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// A trace is what a page and its workers did: requests, console errors, exceptions. Workers are stopped before
// their first line until they are watched as well, so nothing of them is missed.
type trace struct {
	mu       sync.Mutex
	requests []string // method and URL, of the page and its workers
	mark     int      // how many of them belong to the loading of the page
	errors   []string
	workers  int    // that were ever started
	before   string // a script that every worker runs before its own first line

	attached chan target.SessionID
}

func newTrace() *trace { return &trace{attached: make(chan target.SessionID, 256)} }

// heard takes in an event of the page. It must not send anything: the same goroutine delivers the answers.
func (r *trace) heard(event any) {
	switch e := event.(type) {
	case *target.EventAttachedToTarget:
		r.mu.Lock()
		r.workers++
		r.mu.Unlock()
		r.attached <- e.SessionID
	case *target.EventReceivedMessageFromTarget:
		r.worker(e.Message)
	case *network.EventRequestWillBeSent:
		r.request(e.Request.Method, e.Request.URL)
	case *network.EventWebSocketCreated:
		r.request("socket", e.URL)
	case *network.EventWebTransportCreated:
		r.request("transport", e.URL)
	case *runtime.EventExceptionThrown:
		r.failed("exception: " + thrown(e.ExceptionDetails))
	case *runtime.EventConsoleAPICalled:
		r.console("console", e)
	case *log.EventEntryAdded:
		r.logged("page", e.Entry)
	case *inspector.EventTargetCrashed:
		r.failed("the tab has crashed")
	}
}

// worker takes in a message of a worker, which stands inside one of the page.
func (r *trace) worker(text string) {
	var m struct {
		Method string
		Params json.RawMessage
	}
	if json.Unmarshal([]byte(text), &m) != nil {
		return
	}
	switch m.Method {
	case "Network.requestWillBeSent":
		var e network.EventRequestWillBeSent
		if json.Unmarshal(m.Params, &e) == nil && e.Request != nil {
			r.request(e.Request.Method, e.Request.URL)
		}
	case "Network.webSocketCreated":
		var e network.EventWebSocketCreated
		if json.Unmarshal(m.Params, &e) == nil {
			r.request("socket", e.URL)
		}
	case "Runtime.exceptionThrown":
		var e runtime.EventExceptionThrown
		if json.Unmarshal(m.Params, &e) == nil {
			r.failed("exception in a worker: " + thrown(e.ExceptionDetails))
		}
	case "Runtime.consoleAPICalled":
		var e runtime.EventConsoleAPICalled
		if json.Unmarshal(m.Params, &e) == nil {
			r.console("console of a worker", &e)
		}
	case "Log.entryAdded":
		var e log.EventEntryAdded
		if json.Unmarshal(m.Params, &e) == nil {
			r.logged("worker", e.Entry)
		}
	}
}

func (r *trace) request(method, address string) {
	if u, err := url.Parse(address); err == nil && (u.Scheme == "blob" || u.Scheme == "data") {
		return // memory of the page
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests = append(r.requests, method+" "+address)
}

func (r *trace) failed(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.errors = append(r.errors, what)
}

func (r *trace) console(where string, e *runtime.EventConsoleAPICalled) {
	if e.Type != runtime.ConsoleAPICalledTypeError && e.Type != runtime.ConsoleAPICalledTypeAssert {
		return
	}
	var words []string
	for _, arg := range e.Args {
		if arg.Description != "" {
			words = append(words, arg.Description)
		} else {
			words = append(words, strings.Trim(string(arg.Value), `"`))
		}
	}
	r.failed(where + ": " + strings.Join(words, " "))
}

func (r *trace) logged(where string, e *log.Entry) {
	if e != nil && e.Level == log.EntryLevelError {
		r.failed(fmt.Sprintf("log of the %s: %s %s", where, e.Text, e.URL))
	}
}

func thrown(d *runtime.ExceptionDetails) string {
	if d == nil {
		return "unknown"
	}
	if d.Exception != nil && d.Exception.Description != "" {
		return d.Exception.Description
	}
	return d.Text
}

// watch has workers stopped at their start, and lets each go on once it tells what it does. It returns when the
// page is gone.
func (r *trace) watch(ctx context.Context) error {
	follow := func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		// Without "flatten" a worker's messages pass through the page's session, which chromedp delivers.
		_, err := cdp.Call(ctx, t, target.SetAutoAttach, target.SetAutoAttachParams{
			AutoAttach: true, WaitForDebuggerOnStart: true, Flatten: new(false),
		})
		if err != nil {
			return chromedp.Void{}, err
		}
		go func() {
			for {
				select {
				case <-ctx.Done():
					return
				case session := <-r.attached:
					for _, message := range r.greeting() {
						// A worker may be gone again.
						_ = t.Call(ctx, "Target.sendMessageToTarget", map[string]any{"message": message, "sessionId": session}, nil)
					}
				}
			}
		}()
		return chromedp.Void{}, nil
	}
	return chromedp.Do(ctx, follow)
}

// greeting lists what is sent to a worker that waits at its start.
func (r *trace) greeting() (messages []string) {
	type call struct {
		ID     int               `json:"id"`
		Method string            `json:"method"`
		Params map[string]string `json:"params,omitempty"`
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	calls := []call{{Method: "Network.enable"}, {Method: "Log.enable"}, {Method: "Runtime.enable"}}
	if r.before != "" {
		calls = append(calls, call{Method: "Runtime.evaluate", Params: map[string]string{"expression": r.before}})
	}
	for i, c := range append(calls, call{Method: "Runtime.runIfWaitingForDebugger"}) {
		c.ID = i + 1
		text, err := json.Marshal(c)
		if err != nil {
			panic(err) // texts and a number
		}
		messages = append(messages, string(text))
	}
	return messages
}

// loaded says that what was requested until now belongs to the loading of the page.
func (r *trace) loaded() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mark = len(r.requests)
}
