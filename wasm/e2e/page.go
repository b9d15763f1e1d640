package e2e

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// limit ends what would wait for ever.
var limit = 90 * time.Second

// probe runs in every document before its first script.
//
//go:embed probe.js
var probe string

// A Page is a tab with storage of its own. Its methods fail the test when they cannot do what they say.
type Page struct {
	t     testing.TB
	ctx   context.Context
	trace *trace
	since int              // data-state changes before the last intake
	allow []*regexp.Regexp // errors that the test means to cause
	saved string           // folder of downloads
	burst []time.Time      // when the last downloads began
	shots string           // folder of screenshots, "" for none
}

// NewPage opens an empty tab that ends with the test.
func (b *Browser) NewPage(t testing.TB, shots string) *Page {
	t.Helper()
	return openPage(t, b.ctx, shots, chromedp.WithNewBrowserContext())
}

// Another opens an empty tab that shares the storage of this one.
func (p *Page) Another() *Page { p.t.Helper(); return openPage(p.t, p.ctx, p.shots) }

func openPage(t testing.TB, parent context.Context, shots string, options ...chromedp.ContextOption) *Page {
	t.Helper()
	p := &Page{t: t, trace: newTrace(), saved: t.TempDir(), shots: shots}
	ctx, cancel := chromedp.NewContext(parent, append(options, chromedp.WithListener(p.trace.heard))...)
	p.ctx = ctx
	t.Cleanup(func() {
		p.verdict()
		cancel()
	})
	// The first call binds the tab to its context, so it has no limit.
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("open a tab: %v", err)
	}
	if err := p.trace.watch(ctx); err != nil {
		t.Fatalf("watch the workers: %v", err)
	}
	p.call(func(ctx context.Context, target *chromedp.Target) error {
		if _, err := cdp.Call(ctx, target, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: probe}); err != nil {
			return err
		}
		_, err := cdp.Call(ctx, chromedp.FromContext(ctx).Browser, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
			Behavior: browser.SetDownloadBehaviorBehaviorAllowAndName, DownloadPath: p.saved, EventsEnabled: new(true),
			BrowserContextID: chromedp.FromContext(ctx).BrowserContextID,
		})
		return err
	})
	return p
}

// verdict fails the test for what went wrong without being noticed.
func (p *Page) verdict() {
	for _, text := range append(p.Errors(), p.Violations()...) {
		if !slices.ContainsFunc(p.allow, func(r *regexp.Regexp) bool { return r.MatchString(text) }) {
			p.t.Errorf("in the page: %s", text)
		}
	}
	if p.t.Failed() {
		p.t.Logf("the page at the end: %s", p.describe())
		if p.shots != "" {
			p.Screenshot("failed-"+strings.ReplaceAll(p.t.Name(), "/", "-"), 1280, 800, false)
		}
	}
}

// Allow names errors, by a regular expression, that the test means to cause.
func (p *Page) Allow(expr string) { p.allow = append(p.allow, regexp.MustCompile(expr)) }

// call runs steps against the tab within the limit.
func (p *Page) call(step func(context.Context, *chromedp.Target) error) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, limit)
	defer cancel()
	err := chromedp.Do(ctx, func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		return chromedp.Void{}, step(ctx, t)
	})
	if err != nil {
		p.t.Fatal(err)
	}
}

// Eval gives the value of an expression in the page. A promise is waited for.
func Eval[T any](p *Page, expression string) T {
	p.t.Helper()
	v, err := eval[T](p, expression)
	if err != nil {
		p.t.Fatalf("%v in %s\nthe page: %s\nerrors: %q", err, expression, p.describe(), p.Errors())
	}
	return v
}

func eval[T any](p *Page, expression string) (T, error) {
	ctx, cancel := context.WithTimeout(p.ctx, limit)
	defer cancel()
	for {
		v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
		// A click that leads to another document ends what was asked of the old one.
		if err == nil || ctx.Err() != nil || !strings.Contains(err.Error(), "navigated or closed") {
			return v, err
		}
	}
}

// describe says in short what the page shows.
func (p *Page) describe() string {
	ctx, cancel := context.WithTimeout(p.ctx, 5*time.Second)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](`e2e.describe()`))
	if err != nil {
		return err.Error()
	}
	return text
}

// Goto loads an address in the tab and does not wait for the reader.
func (p *Page) Goto(url string) {
	p.t.Helper()
	p.since = 0
	p.call(func(ctx context.Context, t *chromedp.Target) error {
		// An address that differs in its fragment alone would not be loaded again.
		if _, err := chromedp.Navigate("about:blank")(ctx, t); err != nil {
			return err
		}
		_, err := chromedp.Navigate(url)(ctx, t)
		return err
	})
}

// Open loads an address and waits until the page can read files. What it requests later is no part of the loading.
func (p *Page) Open(url string) {
	p.t.Helper()
	p.Goto(url)
	p.Wait(`!["", "starting"].includes(document.documentElement.dataset.state || "")`)
	p.trace.loaded()
}

// Reload loads the page again, as its button in the browser does, and waits like [Page.Open].
func (p *Page) Reload() {
	p.t.Helper()
	p.since = 0
	p.call(func(ctx context.Context, t *chromedp.Target) error {
		_, err := chromedp.Reload()(ctx, t)
		return err
	})
	p.Wait(`!["", "starting"].includes(document.documentElement.dataset.state || "")`)
	p.trace.loaded()
}

// Wait waits until a condition holds in the page; it is looked at after every change of the document.
func (p *Page) Wait(condition string) {
	p.t.Helper()
	Eval[bool](p, `e2e.until(() => (`+condition+`)).then(Boolean)`)
}

// WaitState waits for a data-state. After files went in, it is the state that comes of them.
func (p *Page) WaitState(state string) {
	p.t.Helper()
	p.Wait(fmt.Sprintf(`e2e.state(%q, %d)`, state, p.since))
}

// intake remembers what the page's state was before files go in.
func (p *Page) intake() {
	p.t.Helper()
	p.since = Eval[int](p, `e2e.states.length`)
}

// ChooseFiles chooses files in the dialog behind "Open files".
func (p *Page) ChooseFiles(paths ...string) { p.t.Helper(); p.choose("files", paths) }

// ChooseFolder chooses a folder in the dialog behind "Open folder".
func (p *Page) ChooseFolder(path string) { p.t.Helper(); p.choose("folder", []string{path}) }

func (p *Page) choose(intake string, paths []string) {
	p.t.Helper()
	p.intake()
	p.call(func(ctx context.Context, t *chromedp.Target) error {
		found, err := cdp.Call(ctx, t, runtime.Evaluate, runtime.EvaluateParams{
			Expression: fmt.Sprintf(`document.querySelector("input[type=file][data-intake=%s]")`, intake),
		})
		if err != nil {
			return err
		}
		if found.Result.ObjectID == "" {
			return fmt.Errorf("there is no input for %s", intake)
		}
		_, err = cdp.Call(ctx, t, dom.SetFileInputFiles, dom.SetFileInputFilesParams{Files: absolute(paths), ObjectID: found.Result.ObjectID})
		return err
	})
}

// Drop drags files and folders from outside over the window and drops them in its middle.
func (p *Page) Drop(paths ...string) {
	p.t.Helper()
	p.intake()
	size := Eval[[2]float64](p, `[innerWidth, innerHeight]`)
	data := &input.DragData{Items: []*input.DragDataItem{}, Files: absolute(paths), DragOperationsMask: 1}
	send := func(kind input.DispatchDragEventType) {
		p.t.Helper()
		p.call(func(ctx context.Context, t *chromedp.Target) error {
			_, err := cdp.Call(ctx, t, input.DispatchDragEvent, input.DispatchDragEventParams{Type: kind, X: size[0] / 2, Y: size[1] / 2, Data: data})
			if err != nil {
				return fmt.Errorf("%s: %w", kind, err)
			}
			return nil
		})
	}
	// The browser takes a drop back whose drag the page has not let pass yet. A person would drop again.
	for range 5 {
		send(input.DispatchDragEventTypeDragEnter)
		send(input.DispatchDragEventTypeDragOver)
		Eval[string](p, `e2e.dragTo("dragover")`)
		send(input.DispatchDragEventTypeDragOver)
		send(input.DispatchDragEventTypeDrop)
		if Eval[string](p, `e2e.dragTo("drop", "dragleave")`) == "drop" {
			return
		}
	}
	p.t.Fatal("the browser takes every drop back")
}

func absolute(paths []string) []string {
	list := make([]string, len(paths))
	for i, path := range paths {
		if abs, err := filepath.Abs(path); err == nil {
			path = abs
		}
		list[i] = path
	}
	return list
}

// Click clicks the middle of what a CSS selector finds, or of the button or link with a text. It waits until it is
// there. A selector has a bracket, a dot or a hash in it.
func (p *Page) Click(what string) {
	p.t.Helper()
	at := Eval[[2]float64](p, fmt.Sprintf(`e2e.until(() => e2e.place(%q))`, what))
	p.call(func(ctx context.Context, t *chromedp.Target) error {
		_, err := chromedp.MouseClickXY(at[0], at[1])(ctx, t)
		return err
	})
}

// named keys; all others are written as the character they give.
var named = map[string]string{
	"Enter": kb.Enter, "Escape": kb.Escape, "Down": kb.ArrowDown, "Up": kb.ArrowUp,
	"Left": kb.ArrowLeft, "Right": kb.ArrowRight, "PageDown": kb.PageDown, "PageUp": kb.PageUp,
	"Home": kb.Home, "End": kb.End, "Tab": kb.Tab, "Space": " ", "Backspace": kb.Backspace,
}

// modifiers can stand in front of a key: "Shift+Tab".
var modifiers = map[string]chromedp.Modifier{"Shift": chromedp.ModifierShift, "Control": chromedp.ModifierCtrl}

// Key presses keys one after the other, as in "g h".
func (p *Page) Key(keys string) {
	p.t.Helper()
	for name := range strings.FieldsSeq(keys) {
		var with chromedp.Modifier
		if held, rest, ok := strings.Cut(name, "+"); ok && modifiers[held] != 0 {
			with, name = modifiers[held], rest
		}
		code, ok := named[name]
		if !ok {
			code = name
		}
		r, _ := utf8.DecodeRuneInString(code)
		key, ok := kb.Keys[r]
		if !ok {
			p.t.Fatalf("there is no key %q", name)
		}
		down := input.DispatchKeyEventParams{
			Type: input.DispatchKeyEventTypeKeyDown, Key: key.Key, Code: key.Code,
			NativeVirtualKeyCode: key.Native, WindowsVirtualKeyCode: key.Windows,
		}
		if key.Shift {
			with |= chromedp.ModifierShift
		}
		down.Modifiers = int64(with)
		up := down
		up.Type = input.DispatchKeyEventTypeKeyUp
		if key.Print && with&chromedp.ModifierCtrl == 0 {
			// The text comes with the press, so that it is not written where the page takes the press for itself.
			down.Text, down.UnmodifiedText = key.Text, key.Unmodified
		}
		p.call(func(ctx context.Context, t *chromedp.Target) error {
			for _, event := range []input.DispatchKeyEventParams{down, up} {
				if _, err := cdp.Call(ctx, t, input.DispatchKeyEvent, event); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// Type writes a text into what has the focus.
func (p *Page) Type(text string) {
	p.t.Helper()
	p.call(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, input.InsertText, input.InsertTextParams{Text: text})
		return err
	})
}

// Hash gives the fragment, and SetHash changes it as following a link does.
func (p *Page) Hash() string { p.t.Helper(); return Eval[string](p, `location.hash`) }

// SetHash changes the fragment.
func (p *Page) SetHash(fragment string) {
	p.t.Helper()
	Eval[string](p, fmt.Sprintf(`location.hash = %q`, fragment))
}

// Stat gives the exact value of a number of the page; it must be there once, or as often as it has one value.
func (p *Page) Stat(name string) string {
	p.t.Helper()
	value, ok := p.Stats()[name]
	if !ok {
		p.t.Fatalf("there is no stat %s", name)
	}
	return value
}

// Stats gives the exact values of all numbers of the page by name, or by "run name" where data-run is set.
func (p *Page) Stats() map[string]string {
	p.t.Helper()
	stats := map[string]string{}
	for _, s := range Eval[[][2]string](p, `e2e.stats()`) {
		if old, twice := stats[s[0]]; twice && old != s[1] {
			p.t.Errorf("stat %s is both %s and %s", s[0], old, s[1])
		}
		stats[s[0]] = s[1]
	}
	return stats
}

// WaitStats waits until the page has these stats.
func (p *Page) WaitStats(want map[string]string) {
	p.t.Helper()
	text, err := json.Marshal(want)
	if err != nil {
		p.t.Fatal(err)
	}
	if _, err := eval[bool](p, `e2e.until(() => e2e.has(`+string(text)+`))`); err != nil {
		have := p.Stats()
		for _, name := range slices.Sorted(maps.Keys(want)) {
			if have[name] != want[name] {
				p.t.Errorf("stat %s is %q, want %q", name, have[name], want[name])
			}
		}
		p.t.FailNow()
	}
}

// An Alert is a message of the page about its input.
type Alert struct{ Code, Text string }

// Alerts gives the messages in the order of the page.
func (p *Page) Alerts() []Alert { p.t.Helper(); return Eval[[]Alert](p, `e2e.alerts()`) }

// Codes gives the codes of the messages, each once, sorted.
func (p *Page) Codes() []string {
	p.t.Helper()
	codes := []string{}
	for _, a := range p.Alerts() {
		codes = append(codes, a.Code)
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

// WaitAlert waits for a message with this code and gives its text.
func (p *Page) WaitAlert(code string) string {
	p.t.Helper()
	return Eval[string](p, fmt.Sprintf(`e2e.until(() => e2e.alerts().find((a) => a.Code === %q)).then((a) => a.Text)`, code))
}

// Rows gives the places "<source>:<line>" of the rows that the page shows now.
func (p *Page) Rows() []string {
	p.t.Helper()
	return Eval[[]string](p, `[...document.querySelectorAll("#region-main tr[data-rollout]")].map((e) => e.dataset.rollout)`)
}

// Text gives the text of what a selector finds, as it is read on the screen.
func (p *Page) Text(selector string) string {
	p.t.Helper()
	return Eval[string](p, fmt.Sprintf(`e2e.until(() => document.querySelector(%q)).then((e) => e.innerText)`, selector))
}

// Title gives the document's title.
func (p *Page) Title() string { p.t.Helper(); return Eval[string](p, `document.title`) }

// Download saves what data-download names and gives its bytes.
func (p *Page) Download(name string) []byte {
	p.t.Helper()
	return p.Saves(name, func() { p.Click(fmt.Sprintf(`[data-download=%q]`, name)) })
}

// Saves gives the bytes of a file that the page saves under a name because of what is done.
func (p *Page) Saves(name string, do func()) []byte {
	p.t.Helper()
	p.calm()
	ctx, cancel := context.WithTimeout(p.ctx, limit)
	defer cancel()
	begun := chromedp.BrowserEvents(ctx, browser.DownloadWillBegin)
	moved := chromedp.BrowserEvents(ctx, browser.DownloadProgress)
	do()
	guid := ""
	for e, err := range begun {
		if err != nil {
			p.t.Fatalf("download %s: %v", name, err)
		}
		if e.SuggestedFilename != name {
			p.t.Errorf("the download is called %q, want %q", e.SuggestedFilename, name)
		}
		guid = e.GUID
		break
	}
	for e, err := range moved {
		if err != nil {
			p.t.Fatalf("download %s: %v", name, err)
		}
		if e.GUID != guid || e.State == browser.DownloadProgressStateInProgress {
			continue
		}
		if e.State != browser.DownloadProgressStateCompleted {
			p.t.Fatalf("download %s: %s", name, e.State)
		}
		break
	}
	content, err := os.ReadFile(filepath.Join(p.saved, guid))
	if err != nil {
		p.t.Fatal(err)
	}
	return content
}

// calm waits where nobody clicks as fast: Chromium silently drops the eleventh download of a frame within a second.
func (p *Page) calm() {
	p.t.Helper()
	const most, span = 10, time.Second + 100*time.Millisecond
	if n := len(p.burst); n >= most {
		if rest := span - time.Since(p.burst[n-most]); rest > 0 {
			Eval[bool](p, fmt.Sprintf(`new Promise((done) => setTimeout(() => done(true), %d))`, rest.Milliseconds()))
		}
	}
	p.burst = append(p.burst, time.Now())
}

// Screenshot keeps a picture of the page in a window of a size, in light or dark, where pictures are asked for.
func (p *Page) Screenshot(name string, width, height int64, dark bool) {
	if p.shots == "" {
		return
	}
	p.t.Helper()
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	err := p.window(width, height, scheme)
	var picture []byte
	if err == nil {
		ctx, cancel := context.WithTimeout(p.ctx, limit)
		defer cancel()
		picture, err = chromedp.Run(ctx, chromedp.CaptureScreenshot())
	}
	if err == nil {
		err = os.MkdirAll(p.shots, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(p.shots, name+".png"), picture, 0o644)
	}
	if err == nil {
		err = p.window(1280, 800, "")
	}
	if err != nil {
		p.t.Errorf("screenshot %s: %v", name, err)
	}
}

// window gives the page a size and the system's colour scheme, and waits until it is laid out for them.
func (p *Page) window(width, height int64, scheme string) error {
	ctx, cancel := context.WithTimeout(p.ctx, limit)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(width, height), colours(scheme)); err != nil {
		return err
	}
	_, err := eval[bool](p, fmt.Sprintf(`new Promise((done) => {
		const look = () => innerWidth === %d ? requestAnimationFrame(() => done(true)) : requestAnimationFrame(look);
		requestAnimationFrame(look);
	})`, width))
	return err
}

// colours has the page see a colour scheme of the system; "" is its own.
func colours(name string) chromedp.Action[chromedp.Void] {
	return func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}},
		})
		return chromedp.Void{}, err
	}
}

// Requests lists what the page and its workers have requested since it was loaded.
func (p *Page) Requests() []string {
	p.trace.mu.Lock()
	defer p.trace.mu.Unlock()
	return slices.Clone(p.trace.requests[p.trace.mark:])
}

// Errors lists console errors and exceptions of the page and its workers.
func (p *Page) Errors() []string {
	p.trace.mu.Lock()
	defer p.trace.mu.Unlock()
	return slices.Clone(p.trace.errors)
}

// Workers tells how many workers the page has started.
func (p *Page) Workers() int {
	p.trace.mu.Lock()
	defer p.trace.mu.Unlock()
	return p.trace.workers
}

// Violations lists what the policy of the document refused.
func (p *Page) Violations() []string {
	list, err := eval[[]string](p, `globalThis.e2e ? e2e.violations : []`)
	if err != nil {
		return []string{"violations cannot be read: " + err.Error()}
	}
	return list
}

// In has what fails from here on fail a part of the test, until that part ends.
func (p *Page) In(part testing.TB) {
	whole := p.t
	p.t = part
	part.Cleanup(func() { p.t = whole })
}

// mouse sends one event of the left button.
func mouse(ctx context.Context, t *chromedp.Target, kind string, at [2]float64) error {
	event := input.DispatchMouseEventParams{Type: input.DispatchMouseEventType(kind), X: at[0], Y: at[1], Button: input.MouseButtonLeft, Buttons: 1, ClickCount: 1}
	if kind == "mouseReleased" {
		event.Buttons = 0
	}
	_, err := cdp.Call(ctx, t, input.DispatchMouseEvent, event)
	return err
}
