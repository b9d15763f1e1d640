package e2e

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/storage"
	"github.com/chromedp/chromedp"
)

// A Host is a plain static server below a path. What it serves can be exchanged, and files can fail.
type Host struct {
	URL    string // of the folder, ends with a slash
	server *httptest.Server

	mu     sync.Mutex
	folder string
	broken string // end of the path of files that fail
	hits   []string
}

// NewHost serves a folder until the test ends.
func NewHost(t testing.TB, folder string) *Host {
	h := &Host{folder: folder}
	h.server = httptest.NewServer(http.StripPrefix("/below/a/path", h))
	h.URL = h.server.URL + "/below/a/path/"
	t.Cleanup(h.server.Close)
	return h
}

func (h *Host) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	folder, broken := h.folder, h.broken != "" && strings.HasSuffix(r.URL.Path, h.broken)
	h.hits = append(h.hits, r.URL.Path)
	h.mu.Unlock()
	if broken {
		http.Error(w, "broken", http.StatusInternalServerError)
		return
	}
	http.FileServer(http.Dir(folder)).ServeHTTP(w, r)
}

// Serve exchanges the folder; files whose path ends with broken fail, "" for none.
func (h *Host) Serve(folder, broken string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.folder, h.broken = folder, broken
}

// Hits lists the paths asked for since the last call.
func (h *Host) Hits() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := h.hits
	h.hits = nil
	return list
}

// Stop ends the server: whoever asks is refused.
func (h *Host) Stop() {
	h.server.CloseClientConnections()
	h.server.Close()
}

// installed waits until the service worker of the page has its files and is in charge of the page.
func (p *Page) installed() {
	p.t.Helper()
	Eval[bool](p, `navigator.serviceWorker.ready.then(() => navigator.serviceWorker.controller || new Promise((done) =>
		navigator.serviceWorker.addEventListener("controllerchange", done, { once: true }))).then(() => true)`)
}

// settled waits until the page's worker has looked for a newer version and is done with it. It gives the states of the
// registration's workers: active, waiting, installing.
func (p *Page) settled() []string {
	p.t.Helper()
	return Eval[[]string](p, `(async () => {
		const registration = await navigator.serviceWorker.getRegistration();
		await registration.update().catch(() => {});
		const worker = registration.installing;
		if (worker) await new Promise((done) => {
			const look = () => { if (worker.state !== "installing") done(); };
			worker.addEventListener("statechange", look);
			look();
		});
		return [registration.active, registration.waiting, registration.installing].map((w) => w ? w.state : "");
	})()`)
}

// caches names the versions that the browser keeps.
func (p *Page) caches() []string {
	p.t.Helper()
	return Eval[[]string](p, `caches.keys().then((names) => names.map((n) => n.split(" ").at(-1)).sort())`)
}

// makeSite bundles into a folder.
func makeSite(t testing.TB, work, output string, args ...string) string {
	t.Helper()
	if out, talk, code := product.Run(t, work, append(append([]string{"bundle"}, args...), "-o", output)...); code != 0 {
		t.Fatalf("bundle: exit %d: %s%s", code, out, talk)
	}
	return filepath.Join(work, output)
}

// TestOffline opens the static viewer once; then its server ends, and it still opens, reads files and asks for nothing.
func TestOffline(t *testing.T) {
	host := NewHost(t, makeSite(t, t.TempDir(), "viewer"))
	p := newPage(t)
	p.Open(host.URL + "#tab=health")
	p.installed()
	p.Click("details.lock summary")
	p.Wait(`document.querySelector("details.lock").innerText.includes("A service worker keeps version ")`)
	if fresh := Eval[bool](p, `document.querySelector("#fresh") !== null`); fresh {
		t.Error("a first visit is told of a new version")
	}
	p.trace.loaded()
	p.ChooseFiles(caseFile("s15-ignored-checks"))
	p.WaitState("ready")
	p.holds(judge(t, filepath.Join(goldens, "s15-ignored-checks", "input"), []string{"rollouts.jsonl"}, nil, ""))
	if list := p.Requests(); len(list) > 0 {
		t.Errorf("requests after loading: %q", list)
	}

	host.Stop()
	p.Allow("ERR_CONNECTION_REFUSED|fetching the script") // that is what looking for a newer version comes to
	p.Open(host.URL + "?tab=health")
	p.cutNetwork()
	p.trace.loaded()
	p.ChooseFiles(caseFile("s15-ignored-checks"))
	p.WaitState("ready")
	p.SetHash("tab=health")
	p.holds(judge(t, filepath.Join(goldens, "s15-ignored-checks", "input"), []string{"rollouts.jsonl"}, nil, ""))
	p.Click("details.lock summary")
	p.Wait(`document.querySelector("details.lock").innerText.includes("Requests since load: 0")`)
	if list := p.Requests(); len(list) > 0 {
		t.Errorf("requests after loading without a network: %q", list)
	}
	p.Screenshot("offline", 1280, 800, false)
}

// TestBundleOffline opens a bundle folder once; then its server ends, and every tab shows what the live page shows.
func TestBundleOffline(t *testing.T) {
	work := t.TempDir()
	if err := os.CopyFS(filepath.Join(work, "s16"), os.DirFS(filepath.Join(goldens, "s16-agents", "input"))); err != nil {
		t.Fatal(err)
	}
	live := newPage(t)
	live.Open(product.Start(t, work, "view", "s16"))
	live.WaitState("ready")
	want := live.numbers()

	host := NewHost(t, makeSite(t, work, "site", "s16"))
	p := newPage(t)
	p.Open(host.URL)
	p.installed()
	// What was read before the worker was there is read through it now.
	p.Open(host.URL)
	p.WaitState("ready")
	Eval[bool](p, `(async () => {
		const index = await (await fetch(document.documentElement.dataset.blocks + "index.json")).json();
		for (;;) {
			await new Promise((done) => setTimeout(done, 20));
			for (const name of await caches.keys()) {
				const blocks = (await (await caches.open(name)).keys()).filter(({ url }) => url.endsWith(".zst"));
				if (blocks.length === index.blocks.length) return true;
			}
		}
	})()`)
	host.Stop()
	p.Allow("ERR_CONNECTION_REFUSED|fetching the script")
	p.Open(host.URL)
	p.cutNetwork()
	p.WaitState("ready")
	got := p.numbers()
	for _, tab := range packTabs {
		if !maps.Equal(got[tab], want[tab]) {
			t.Errorf("the tab %s shows %v, the live page %v", tab, got[tab], want[tab])
		}
	}
	p.SetHash("rollout=stamped.jsonl:3&part=raw")
	p.Wait(`document.querySelector("#region-main").innerText.includes("_ng_task_index")`)
	p.Click("details.lock summary")
	p.Wait(`/\d blocks? of the bundle/.test(document.querySelector("details.lock").innerText)`)
}

// TestNewVersion exchanges the folder behind a page: the old version stays whole until somebody wants the new one, and
// as long as a page is of it. A version that cannot be fetched as a whole is none.
func TestNewVersion(t *testing.T) {
	work := t.TempDir()
	copyFile(t, caseFile("s16-agents"), filepath.Join(work, "run", "rollouts.jsonl"))
	one := makeSite(t, work, "one", "run", "--title", "First version")
	two := makeSite(t, work, "two", "run", "--title", "Second version")
	host := NewHost(t, one)
	titled := func(p *Page, title string) {
		t.Helper()
		p.WaitState("ready")
		p.Wait(fmt.Sprintf(`document.title.includes(%q)`, title))
	}
	p := newPage(t)
	p.Open(host.URL)
	p.installed()
	titled(p, "First version")
	old := p.caches()
	if len(old) != 1 {
		t.Fatalf("versions %q are kept", old)
	}

	// The module of the new version does not come through, then the server sends a document of another build. Browsers
	// try more than once.
	calm := func(what string) {
		t.Helper()
		if states := p.settled(); states[0] != "activated" || states[1]+states[2] != "" {
			t.Errorf("after %s the workers are %q", what, states)
		}
		p.await(`(await caches.keys()).length === 1`)
		if kept := p.caches(); !slices.Equal(kept, old) || Eval[bool](p, `document.querySelector("#fresh") !== null`) {
			t.Errorf("after %s %q are kept, and a new version is offered: %v", what, kept, Eval[bool](p, `document.querySelector("#fresh") !== null`))
		}
		titled(p, "First version")
	}
	host.Serve(two, "rollscope.wasm")
	p.Allow("status of 500|is not that of this version")
	p.Reload()
	calm("a broken download")
	mixed := filepath.Join(work, "mixed")
	if err := os.CopyFS(mixed, os.DirFS(two)); err != nil {
		t.Fatal(err)
	}
	copyFile(t, filepath.Join(one, "index.html"), filepath.Join(mixed, "index.html"))
	host.Serve(mixed, "")
	p.Reload()
	calm("a mixed download")

	// It comes through: that is said, and nothing changes before it is asked for.
	host.Serve(two, "")
	p.Reload()
	p.Wait(`document.querySelector("#fresh")?.innerText.includes("A new version of this viewer is ready.")`)
	titled(p, "First version")
	p.Screenshot("new-version", 1280, 800, false)
	p.Screenshot("new-version-narrow", 400, 800, true)
	p.Click("Later")
	p.Wait(`document.querySelector("#fresh") === null`)
	p.Reload()
	p.Wait(`document.querySelector("#fresh") !== null`)
	titled(p, "First version")
	if kept := p.caches(); len(kept) != 2 {
		t.Errorf("%q are kept", kept)
	}

	// A second page of the old version is there when the first one goes on: it loses nothing.
	second := p.Another()
	second.Open(host.URL)
	titled(second, "First version")
	p.Click("Reload")
	titled(p, "Second version")
	if Eval[bool](p, `document.querySelector("#fresh") !== null`) {
		t.Error("the new version is offered again")
	}
	p.Reload()
	titled(p, "Second version")
	if kept := p.caches(); len(kept) != 2 {
		t.Errorf("with a page of each version %q are kept", kept)
	}
	if text := Eval[string](second, `fetch("./index.html?" + new URL(document.querySelector("script[src*=page]").src).search.slice(1)).then((r) => r.text())`); !strings.Contains(text, old[0]) {
		t.Errorf("the page of the old version was given another document: %.200q", text)
	}
	second.Goto("about:blank")
	p.await(`(await navigator.locks.query()).held.length === 1`)
	p.Reload()
	p.await(`(await caches.keys()).length === 1`)
	if kept := p.caches(); slices.Equal(kept, old) {
		t.Errorf("the old version %q is kept", kept)
	}

	// Where no page is left of a version, the next visit is of the newer one, and is told so.
	host.Serve(makeSite(t, work, "three", "run", "--title", "Third version"), "")
	if states := p.settled(); states[1] != "installed" {
		t.Errorf("the workers are %q", states)
	}
	p.Open(host.URL)
	titled(p, "Third version")
	p.Wait(`document.querySelector("#fresh")?.innerText.includes("a newer version than the last time")`)
}

// await waits until an expression, which may wait itself, is true.
func (p *Page) await(condition string) {
	p.t.Helper()
	Eval[bool](p, `(async () => { while (!(`+condition+`)) await new Promise((done) => setTimeout(done, 20)); return true; })()`)
}

// TestWithoutWorker opens a static folder where the browser has no service workers, where it forbids them, and where
// there is no room: the page works, and nobody complains.
func TestWithoutWorker(t *testing.T) {
	host := NewHost(t, makeSite(t, t.TempDir(), "viewer"))
	for name, change := range map[string]string{
		"none":      `delete Navigator.prototype.serviceWorker; delete Navigator.prototype.locks;`,
		"forbidden": `if (navigator.serviceWorker) navigator.serviceWorker.register = () => Promise.reject(new DOMException("not here", "SecurityError")); delete window.caches;`,
		"no room":   ``,
	} {
		p := newPage(t)
		p.before(change)
		if name == "no room" {
			p.call(func(ctx context.Context, target *chromedp.Target) error {
				origin, _, _ := strings.Cut(host.URL, "/below")
				_, err := cdp.Call(ctx, target, storage.OverrideQuotaForOrigin, storage.OverrideQuotaForOriginParams{Origin: origin, QuotaSize: new(float64(1 << 20))})
				return err
			})
			p.Allow("QuotaExceeded|Quota exceeded") // in the worker's own log
		}
		p.Open(host.URL + "#tab=health")
		p.ChooseFiles(caseFile("s15-ignored-checks"))
		p.WaitState("ready")
		p.Click("details.lock summary")
		want := name != "none"
		p.Wait(`document.querySelector("details.lock").open`)
		p.Wait(fmt.Sprintf(`document.querySelector("details.lock").innerText.includes("This browser keeps no copy of the viewer") === %v`, want))
		if alerts := p.Codes(); !slices.Equal(alerts, []string{"unreadable_row"}) { // of the file
			t.Errorf("%s: alerts %q", name, alerts)
		}
		if list := p.Requests(); len(list) > 0 && name != "no room" {
			t.Errorf("%s: requests after loading: %q", name, list)
		}
	}
}
