package e2e

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// The tests of this file take something away that the page likes to have, before its first script runs.

// beforeWorkers runs a script in every worker of the page before its own.
func (p *Page) beforeWorkers(script string) {
	p.trace.mu.Lock()
	defer p.trace.mu.Unlock()
	p.trace.before = script
}

// complained tells whether the page or a worker wrote an error with these words.
func (p *Page) complained(words string) bool {
	return strings.Contains(strings.Join(p.Errors(), "\n"), words)
}

// TestNoByteReaders reads in a browser whose streams of files cannot fill a buffer: its pieces come as it cuts them.
func TestNoByteReaders(t *testing.T) {
	b := bigFile(t)
	p := newPage(t)
	p.Allow("no byte readers here")
	p.beforeWorkers(`
		delete globalThis.ReadableStreamBYOBReader;
		const getReader = ReadableStream.prototype.getReader;
		ReadableStream.prototype.getReader = function (options) {
			if (options && options.mode) { console.error("no byte readers here"); throw new TypeError("mode"); }
			return getReader.call(this);
		};`)
	p.Open(site + "#tab=health")
	p.Drop(b.path)
	p.WaitState("ready")
	p.WaitStats(b.want())
	p.holds(judge(t, b.folder, []string{"rollouts.jsonl"}, nil, ""))
	if !p.complained("no byte readers here") {
		t.Error("nobody asked for a byte reader: the test tests nothing")
	}
}

// TestNoBase64 opens the viewer as one file, and its sample, where the browser reads no base64 into bytes.
func TestNoBase64(t *testing.T) {
	folder := t.TempDir()
	if out, talk, code := product.Run(t, folder, "bundle", "-o", "rollscope.html"); code != 0 {
		t.Fatalf("bundle: exit %d: %s%s", code, out, talk)
	}
	p := newPage(t)
	p.before(`delete Uint8Array.fromBase64; delete Uint8Array.prototype.setFromBase64;`)
	p.Open("file://" + filepath.Join(folder, "rollscope.html") + "#tab=health")
	if Eval[bool](p, `"fromBase64" in Uint8Array`) {
		t.Fatal("the browser still has it")
	}
	p.Drop(caseFile("s15-ignored-checks"))
	p.WaitState("ready")
	p.holds(judge(t, filepath.Join(goldens, "s15-ignored-checks", "input"), []string{"rollouts.jsonl"}, nil, ""))
	p.Goto("file://" + filepath.Join(folder, "rollscope.html") + "#tab=health")
	p.Click("Try the sample run")
	p.WaitState("ready")
	p.everyCheckFires()
}

// TestWaysIn takes away the ways to files, one set after the other: what is left is enough, or the page says what to do.
func TestWaysIn(t *testing.T) {
	const (
		pickers = `for (const name of ["showOpenFilePicker", "showSaveFilePicker", "showDirectoryPicker"]) delete globalThis[name];`
		handles = `delete DataTransferItem.prototype.getAsFileSystemHandle;`
		entries = `delete DataTransferItem.prototype.webkitGetAsEntry;`
	)
	folder, names := many(t, 3)
	write(t, folder, "plot.png", picture)
	want := judge(t, folder, names, nil, "")
	single := filepath.Join(folder, filepath.FromSlash(names[0]))
	for _, c := range []struct {
		name, without string
		blind         bool // dropped folders cannot be opened
	}{
		{"no pickers", pickers, false},
		{"no pickers and handles", pickers + handles, false},
		{"no pickers and entries", pickers + entries, false},
		{"nothing but files", pickers + handles + entries, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPage(t)
			p.before(c.without)
			p.Open(site + "#tab=health")
			p.Drop(single)
			p.WaitState("ready")
			p.WaitStats(map[string]string{"rollout.count": "1"})
			p.ChooseFolder(folder)
			p.WaitState("ready")
			p.holds(want)
			p.Drop(folder)
			if !c.blind {
				p.WaitState("ready")
				p.holds(want)
				return
			}
			if text := p.WaitAlert("vanished"); text == "" {
				t.Error("the message is empty")
			}
			p.Wait(`document.querySelector("#region-alerts").innerText.includes("Open the folder by its button")`)
			p.holds(want) // what is open stays
		})
	}
}

// TestForbiddenStorage runs where every access to stored things throws: choices hold while the page is open, and it
// is said once that they will not hold longer.
func TestForbiddenStorage(t *testing.T) {
	for _, c := range []struct{ name, script string }{
		{"the property throws", `
			for (const name of ["localStorage", "sessionStorage"]) {
				Object.defineProperty(window, name, { get() { throw new DOMException("denied", "SecurityError"); } });
			}`},
		{"every call throws", `
			for (const name of ["getItem", "setItem", "removeItem"]) {
				Storage.prototype[name] = () => { throw new DOMException("denied", "SecurityError"); };
			}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPage(t)
			p.before(c.script)
			p.Open(site + "#tab=health")
			Eval[bool](p, `(() => {
				e2e.said = 0;
				new MutationObserver(() => {
					if (document.querySelector("#live").textContent.includes("not remembered")) e2e.said++;
				}).observe(document.querySelector("#live"), { childList: true, characterData: true, subtree: true });
				return true;
			})()`)
			folder := files(t, map[string]string{"rollouts.jsonl": rows(4)})
			p.Drop(folder)
			p.WaitState("ready")
			p.holds(judge(t, folder, []string{"rollouts.jsonl"}, nil, ""))
			for _, theme := range []string{"dark", "light", "dark"} {
				p.Click("[data-action=theme]")
				p.Wait(fmt.Sprintf(`document.documentElement.dataset.theme === %q`, theme))
				p.SetHash("tab=files&filter=" + theme) // drawn anew, the choice must hold
				p.Wait(`document.documentElement.dataset.theme && document.querySelector("[data-filter-input]")?.value === "` + theme + `"`)
				if have := Eval[string](p, `document.documentElement.dataset.theme`); have != theme {
					t.Errorf("after %s was chosen, the page is %s", theme, have)
				}
			}
			p.Wait(`e2e.said > 0`)
			if n := Eval[int](p, `e2e.said`); n != 1 {
				t.Errorf("it was said %d times that choices are not remembered", n)
			}
			if list := p.Alerts(); len(list) > 0 {
				t.Errorf("messages %v", list)
			}
		})
	}
}

// TestFiveRuns drops five runs at once: together they are one report, and each by itself has its own.
func TestFiveRuns(t *testing.T) {
	contents := map[string]string{}
	var names, paths []string
	for i := range 5 {
		name := fmt.Sprintf("run-%c/rollouts.jsonl", 'a'+i)
		contents[name] = rows(2*i + 1)
		names = append(names, name)
	}
	folder := files(t, contents)
	for _, name := range names {
		paths = append(paths, filepath.Join(folder, filepath.Dir(name)))
	}
	p := open(t, "#tab=health")
	p.Drop(paths...)
	p.WaitState("ready")
	p.WaitStats(map[string]string{"rollout.count": "25", "accounting.files": "5"})
	all := judge(t, folder, names, nil, "")
	p.holds(all)
	if list := p.Codes(); len(list) > 0 {
		t.Errorf("messages %q", list)
	}
	listed := Eval[[]string](p, `[...document.querySelectorAll("details.runs li")].map((e) => e.textContent)`)
	if len(listed) != 6 { // all of them together, and each
		t.Errorf("the switcher lists %q", listed)
	}
	for i, name := range names {
		run := filepath.Dir(name)
		p.Click("details.runs summary")
		p.Click(fmt.Sprintf(`details.runs a[href*=%q]`, run))
		p.WaitStats(map[string]string{"rollout.count": fmt.Sprint(2*i + 1), "accounting.files": "1"})
		p.holds(judge(t, filepath.Join(folder, run), []string{"rollouts.jsonl"}, nil, ""))
		if hash := p.Hash(); !strings.Contains(hash, run) || !strings.Contains(hash, "apart=1") {
			t.Errorf("the address of %s alone is %s", run, hash)
		}
	}
	p.Click("details.runs summary")
	p.Click(`details.runs li:first-child a`)
	p.WaitStats(map[string]string{"rollout.count": "25", "accounting.files": "5"})
	p.holds(all)
}

// TestHiddenTab reads a run in a tab that nobody sees: once in a window that was made small, and once where, as after
// a while in the background, there are no frames, timers come once a second and nothing is in sight.
func TestHiddenTab(t *testing.T) {
	b := bigFile(t)
	want := judge(t, b.folder, []string{"rollouts.jsonl"}, nil, "")
	for _, c := range []struct{ name, before string }{
		{"minimized", ""},
		{"throttled", `
			globalThis.requestAnimationFrame = () => 0;
			const later = globalThis.setTimeout;
			globalThis.setTimeout = (act, wait, ...rest) => later(act, Math.max(wait || 0, 1000), ...rest);
			globalThis.IntersectionObserver = class { observe() {} unobserve() {} disconnect() {} };`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPage(t)
			p.before(c.before)
			p.Open(site + "#tab=health")
			p.minimize()
			p.Wait(`document.visibilityState === "hidden"`)
			p.ChooseFiles(b.path)
			p.WaitState("ready")
			p.WaitStats(b.want())
			if state := Eval[string](p, `document.visibilityState`); state != "hidden" {
				t.Errorf("the tab is %s", state)
			}
			p.holds(want)
		})
	}
}

// minimize makes the window of the page so small that nobody sees it.
func (p *Page) minimize() {
	p.t.Helper()
	p.call(func(ctx context.Context, _ *chromedp.Target) error {
		c := chromedp.FromContext(ctx)
		w, err := cdp.Call(ctx, c.Browser, browser.GetWindowForTarget, browser.GetWindowForTargetParams{TargetID: c.Target.TargetID})
		if err != nil {
			return err
		}
		_, err = cdp.Call(ctx, c.Browser, browser.SetWindowBounds, browser.SetWindowBoundsParams{
			WindowID: w.WindowID, Bounds: &browser.Bounds{WindowState: browser.WindowStateMinimized},
		})
		return err
	})
}

// TestFrozenTab freezes the page in the middle of reading, as browsers do with tabs that nobody has seen for long: when
// it goes on, everything is read.
func TestFrozenTab(t *testing.T) {
	b := bigFile(t)
	p := open(t, "#tab=health")
	p.Drop(b.path)
	p.Wait(reading)
	for _, state := range []page.SetWebLifecycleStateState{page.SetWebLifecycleStateStateFrozen, page.SetWebLifecycleStateStateActive} {
		p.call(func(ctx context.Context, t *chromedp.Target) error {
			_, err := cdp.Call(ctx, t, page.SetWebLifecycleState, page.SetWebLifecycleStateParams{State: state})
			return err
		})
	}
	p.WaitState("ready")
	p.WaitStats(b.want())
	p.holds(judge(t, b.folder, []string{"rollouts.jsonl"}, nil, ""))
}

// TestDeadScannerLater kills the worker that reads when everything is read: the list stays, and a filter that needs
// the rows once more gets them from a new worker.
func TestDeadScannerLater(t *testing.T) {
	folder := files(t, map[string]string{"rollouts.jsonl": rows(6)})
	p := open(t, "#tab=rollouts")
	p.Allow("out of memory")
	p.Drop(folder)
	p.WaitState("ready")
	Eval[bool](p, `rollscope.crashScanner().then(() => true)`)
	if n := len(p.Rows()); n != 6 {
		t.Errorf("%d rows are shown after a worker died", n)
	}
	p.SetHash("tab=rollouts&filter=row.reward=1")
	p.WaitStats(map[string]string{"filter.count": "3", "rollout.count": "6"})
	p.SetHash("tab=rollouts")
	p.WaitStats(map[string]string{"filter.count": "6"})
	if n := len(p.Rows()); n != 6 {
		t.Errorf("%d rows are shown without the filter", n)
	}
}

// TestKeysBehind presses keys faster than the page draws: every one counts.
func TestKeysBehind(t *testing.T) {
	folder := files(t, map[string]string{"rollouts.jsonl": rows(9)})
	p := open(t, "#tab=rollouts")
	p.Drop(folder)
	p.WaitState("ready")
	p.SetHash("rollout=rollouts.jsonl:2")
	p.Wait(`document.querySelector("a[rel=next]")`)
	// All in one go, so that nothing can be drawn in between.
	press := func(p *Page, keys string) {
		Eval[bool](p, fmt.Sprintf(`(() => {
			for (const key of %q) document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
			return true;
		})()`, keys))
	}
	for _, c := range []struct{ keys, at string }{
		{"]]", "3"}, {"]]]", "6"}, {"[[", "4"}, {"[]]", "5"}, {"]]]]]]]", "8"}, {"[", "7"},
	} {
		press(p, c.keys)
		p.Wait(fmt.Sprintf(`document.title.startsWith("%s-0 ")`, c.at)) // by task and repeat
	}
	// The turns of a transcript, from above the first one on.
	p = open(t, "")
	p.Click("Try the sample run")
	p.WaitState("ready")
	p.SetHash("rollout=rollouts.jsonl:" + longest(p))
	p.Wait(`document.querySelectorAll(".rail a").length > 2`)
	for _, c := range []struct{ keys, at string }{{"jj", "2"}, {"kj", "2"}, {"jk", "2"}, {"kjj", "3"}} {
		press(p, c.keys)
		p.Wait(fmt.Sprintf(`location.hash.includes("turn=%s") && document.querySelector(".rail a[aria-current]")?.innerText.trim() === %[1]q`, c.at))
	}
}

// longest is the line of a rollout with more than two turns.
func longest(p *Page) string {
	p.t.Helper()
	p.SetHash("tab=rollouts&filter=turns%3E2")
	p.Wait(`document.querySelector("#region-main tr[data-rollout]") && document.querySelector("[data-filter-input]")?.value`)
	_, line, _ := strings.Cut(p.Rows()[0], ":")
	return line
}

// TestListing drops a folder of many files: the page says how far it is with the list, and the list can be given up.
func TestListing(t *testing.T) {
	folder := files(t, map[string]string{"rollouts.jsonl": rows(5)})
	for i := range 2_000 {
		write(t, folder, fmt.Sprintf("trials/trial-%05d.json", i), `{}`)
	}
	small := files(t, map[string]string{"rollouts.jsonl": rows(2)})
	p := newPage(t)
	// Once the page says how far it is, the folder hands out no more until the page has stopped saying so.
	p.before(`
		globalThis.held = true;
		const entryOf = DataTransferItem.prototype.webkitGetAsEntry;
		let slowed = null;
		DataTransferItem.prototype.webkitGetAsEntry = function () {
			const entry = entryOf.call(this);
			if (entry && entry.isDirectory && !slowed) {
				slowed = Object.getPrototypeOf(entry.createReader()); // its class has no name here
				const read = slowed.readEntries, shown = () => document.querySelector("#listing");
				slowed.readEntries = function (done, failed) {
					const wait = held && shown() ? e2e.until(() => !shown()) : Promise.resolve();
					wait.then(() => read.call(this, done, failed));
				};
			}
			return entry;
		};`)
	p.Open(site + "#tab=health")
	p.Drop(small)
	p.WaitState("ready")
	const line = `document.querySelector("#listing")`
	// The button is pressed by the page itself as soon as it is there.
	Eval[bool](p, `(() => {
		e2e.done = e2e.until(() => /Reading the folder\s*[\d,]+ entr/.test(`+line+`?.innerText || ""))
			.then(() => { e2e.spoken = document.querySelector("#live").textContent; `+line+`.querySelector("[data-action=cancel]").click(); });
		return true;
	})()`)
	p.Drop(folder)
	text := p.WaitAlert("cancelled")
	p.WaitState("ready")
	if !strings.Contains(text, "entries") || !strings.Contains(text, "Nothing of it was opened") {
		t.Errorf("the message says %q", text)
	}
	if spoken := Eval[string](p, `e2e.spoken`); !strings.HasPrefix(spoken, "reading the folder: ") {
		t.Errorf("people who listen were told %q", spoken)
	}
	if Eval[bool](p, line+` !== null || document.querySelector("#region-progress").parentElement !== document.body`) {
		t.Error("the line is still there")
	}
	p.holds(judge(t, small, []string{"rollouts.jsonl"}, nil, "")) // what was open stays
	// Dropped again, it is opened; a file that is dropped meanwhile takes its place.
	Eval[bool](p, `!(held = false)`)
	p.Drop(folder)
	p.WaitState("ready")
	p.holds(judge(t, folder, []string{"rollouts.jsonl"}, nil, ""))
	Eval[bool](p, `held = true`)
	p.Drop(folder)
	p.Wait(line)
	p.Drop(small)
	p.WaitState("ready")
	p.holds(judge(t, small, []string{"rollouts.jsonl"}, nil, ""))
	if Eval[bool](p, line+` !== null`) {
		t.Error("the line of the drop that was given up is still there")
	}
}

// TestServedRanges reads a served run through servers that do not hand out what was asked for: the page says what
// the server did.
func TestServedRanges(t *testing.T) {
	b := bigFile(t) // longer than one range
	whole := product.Start(t, b.folder, "view", "rollouts.jsonl")
	target, err := url.Parse(strings.TrimSuffix(whole, "/"))
	if err != nil {
		t.Fatal(err)
	}
	size := fmt.Sprint(b.stats.Bytes)
	for _, c := range []struct {
		name   string
		spoil  func(w http.ResponseWriter, r *http.Request) bool // true when it has answered
		code   string
		says   string
		causes string // what the browser writes to its console
	}{
		{"no ranges", func(_ http.ResponseWriter, r *http.Request) bool { r.Header.Del("Range"); return false },
			"vanished", "as a whole only", ""},
		{"shorter", func(w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("Content-Range", "bytes */1000")
			w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
			return true
		}, "changed_while_reading", "listed with " + size + " bytes and has 1000", "416"},
		{"gone", func(w http.ResponseWriter, r *http.Request) bool {
			w.WriteHeader(http.StatusNotFound)
			return true
		}, "vanished", "no longer has the file", "404"},
		{"other bytes", func(_ http.ResponseWriter, r *http.Request) bool {
			r.Header.Set("Range", "bytes=7-999")
			return false
		}, "vanished", "other bytes than those from", ""},
		{"failing", func(w http.ResponseWriter, r *http.Request) bool {
			w.WriteHeader(http.StatusBadGateway)
			return true
		}, "vanished", "the server answered 502", "502"},
	} {
		t.Run(c.name, func(t *testing.T) {
			proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
			between := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.Count(r.URL.Path, "/") > 2 && c.spoil(w, r) { // /runs/<run>/<file>
					return
				}
				proxy.ServeHTTP(w, r)
			}))
			defer between.Close()
			p := newPage(t)
			if c.causes != "" {
				p.Allow(c.causes)
			}
			p.Open(between.URL + "/#tab=health")
			text := p.WaitAlert(c.code)
			p.Wait(`document.documentElement.dataset.state === "ready"`)
			if !strings.Contains(text, "rollouts.jsonl") || !strings.Contains(text, c.says) {
				t.Errorf("the message does not say %q: %s", c.says, text)
			}
		})
	}
}

// TestVanishedLater takes a file away after it was read: what is asked of it then is refused with a message, and the
// list and all numbers stay.
func TestVanishedLater(t *testing.T) {
	for _, c := range []struct {
		name string
		ask  func(p *Page)
		code string // of the message, "" where the filter says it
	}{
		{"rows saved", func(p *Page) { p.Click(`[data-download$=".jsonl"][data-of=rollouts]`) }, "vanished"},
		{"link copied", func(p *Page) { p.Key("c") }, "vanished"},
		{"filter inside rows", func(p *Page) { p.SetHash("tab=rollouts&filter=row.reward=1") }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			folder := files(t, map[string]string{"rollouts.jsonl": rows(6)})
			p := open(t, "#tab=rollouts")
			p.Drop(folder)
			p.WaitState("ready")
			if err := os.Remove(filepath.Join(folder, "rollouts.jsonl")); err != nil {
				t.Fatal(err)
			}
			c.ask(p)
			if c.code != "" {
				if text := p.WaitAlert(c.code); !strings.Contains(text, "rollouts.jsonl") {
					t.Errorf("the message names no file: %s", text)
				}
			} else {
				p.Wait(`document.querySelector("#filter-error")?.innerText.includes("rollouts.jsonl")`)
			}
			p.SetHash("tab=rollouts")
			p.WaitStats(map[string]string{"rollout.count": "6", "filter.count": "6", "accounting.read": "6"})
			p.Wait(`document.documentElement.dataset.state === "ready"`)
			if n := len(p.Rows()); n != 6 {
				t.Errorf("%d rows are shown", n)
			}
		})
	}
}

// TestVanishedServed takes a served file away after it was read, and asks for its rows.
func TestVanishedServed(t *testing.T) {
	folder := files(t, map[string]string{"rollouts.jsonl": rows(6)})
	url := product.Start(t, folder, "view", "rollouts.jsonl")
	p := newPage(t)
	p.Allow("404")
	p.Open(url + "#tab=rollouts")
	p.WaitState("ready")
	if err := os.Remove(filepath.Join(folder, "rollouts.jsonl")); err != nil {
		t.Fatal(err)
	}
	p.Click(`[data-download$=".jsonl"][data-of=rollouts]`)
	if text := p.WaitAlert("vanished"); !strings.Contains(text, "rollouts.jsonl") || !strings.Contains(text, "no longer has the file") {
		t.Errorf("the message does not say which file and why: %s", text)
	}
	p.WaitStats(map[string]string{"rollout.count": "6"})
	p.Wait(`document.documentElement.dataset.state === "ready"`)
}
