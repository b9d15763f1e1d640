package server

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rollscope/rollscope/web/bundle"
)

// kit holds a small page: the module is packed beforehand, the script is not.
func kit(t *testing.T) *bundle.Kit {
	t.Helper()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := io.WriteString(w, module); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	k, err := bundle.Load(fstest.MapFS{
		"page.js":                 {Data: []byte(script)},
		"worker.js":               {Data: []byte("// the worker")},
		"built/wasm_exec.js":      {Data: []byte("// the loader")},
		"built/rollscope.wasm":    {Data: []byte(module)},
		"built/rollscope.wasm.gz": {Data: packed.Bytes()},
		"built/rollscope.wasm.br": {Data: []byte("the br form")},
	}, []byte("body { margin: 0 }"))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

var (
	module = strings.Repeat("wasm", 1000)
	script = strings.Repeat("// words\n", 1000)
)

// site is the small page, opening nothing.
func site(t *testing.T) *Site {
	t.Helper()
	s, err := NewSite(kit(t), bundle.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func start(t *testing.T, o Options) *Server {
	t.Helper()
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// ask makes one request of a server; headers are pairs.
func ask(s http.Handler, method, target string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, nil)
	r.Host = "localhost:7410"
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
			continue
		}
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

func TestHeaders(t *testing.T) {
	s := start(t, Options{Site: site(t)})
	want := map[string]string{
		"Content-Security-Policy": "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data: blob:; " +
			"worker-src blob:; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
		"X-Content-Type-Options":       "nosniff",
		"Referrer-Policy":              "no-referrer",
		"Cross-Origin-Opener-Policy":   "same-origin",
		"Cross-Origin-Resource-Policy": "same-origin",
	}
	for _, c := range []struct {
		method, target string
		status         int
	}{
		{"GET", "/", 200},
		{"HEAD", "/", 200},
		{"GET", "/assets/rollscope.wasm", 200},
		{"GET", "/healthz", 200},
		{"GET", "/nothing", 404},
		{"GET", "/assets/", 404},
		{"GET", "/assets/../server.go", 404},
		{"GET", "/runs", 404}, // none are handed out
		{"POST", "/", 405},
		{"OPTIONS", "/", 405},
		{"TRACE", "/", 405},
	} {
		w := ask(s, c.method, c.target)
		if w.Code != c.status {
			t.Errorf("%s %s: status %d, want %d", c.method, c.target, w.Code, c.status)
		}
		for name, value := range want {
			if got := w.Header().Get(name); got != value {
				t.Errorf("%s %s: %s is %q", c.method, c.target, name, got)
			}
		}
		if len(w.Header()["Access-Control-Allow-Origin"]) > 0 {
			t.Errorf("%s %s: opens itself to other origins", c.method, c.target)
		}
		if w.Code >= 400 {
			if kind := w.Header().Get("Content-Type"); c.method != "HEAD" && kind != "text/plain; charset=UTF-8" {
				t.Errorf("%s %s: an error is %q", c.method, c.target, kind)
			}
		}
	}
	if w := ask(s, "GET", "/healthz"); w.Body.String() != "ok\n" {
		t.Errorf("healthz: %q", w.Body)
	}
	if w := ask(s, "POST", "/"); w.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("Allow: %q", w.Header().Get("Allow"))
	}
}

func TestHosts(t *testing.T) {
	s := start(t, Options{Site: site(t), AllowHosts: []string{"Runs.Example.org", "10.0.0.7:9000", "fd00::1"}})
	for host, status := range map[string]int{
		"localhost":             200,
		"LOCALHOST:7410":        200,
		"localhost.":            200,
		"127.0.0.1:1":           200,
		"[::1]:7410":            200,
		"[0:0:0:0:0:0:0:1]":     200,
		"runs.example.org":      200,
		"runs.example.org.:80":  200,
		"10.0.0.7":              200,
		"[fd00::1]:80":          200,
		"":                      421,
		"evil.example":          421,
		"localhost.evil.org":    421,
		"127.0.0.1.evil.org":    421,
		"evil.org:localhost":    421,
		"localhost:":            421,
		"localhost:80:80":       421,
		"127.0.0.2":             421,
		"127.1":                 421,
		"2130706433":            421,
		"[::1":                  421,
		"[::1]evil":             421,
		"[127.0.0.1]":           421,
		"user@localhost":        421,
		"localhost/evil":        421,
		"localhost evil":        421,
		"[::ffff:127.0.0.1%lo]": 421,
	} {
		if w := ask(s, "GET", "/", "Host", host); w.Code != status {
			t.Errorf("host %q: status %d, want %d", host, w.Code, status)
		}
	}
	for _, bad := range []string{"", "a b", "http://x", "[::1", "host:99999999"} {
		if _, err := New(Options{AllowHosts: []string{bad}}); err == nil {
			t.Errorf("host %q was taken", bad)
		}
	}
}

// The address a connection arrived at is an expected host, whatever the server is bound to.
func TestOwnAddress(t *testing.T) {
	s := start(t, Options{Site: site(t)})
	for _, c := range []struct {
		local, host string
		status      int
	}{
		{"192.168.1.5:7410", "192.168.1.5:7410", 200},
		{"192.168.1.5:7410", "192.168.1.6:7410", 421},
		{"192.168.1.5:7410", "printer.local", 421},
		{"[fe80::1%eth0]:7410", "[fe80::1]:7410", 200},
	} {
		addr, err := net.ResolveTCPAddr("tcp", c.local)
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest("GET", "/", nil)
		r.Host = c.host
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(addr)))
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != c.status {
			t.Errorf("%s at %s: status %d, want %d", c.host, c.local, w.Code, c.status)
		}
	}
}

func TestBody(t *testing.T) {
	s := start(t, Options{Site: site(t)})
	for _, body := range []io.Reader{strings.NewReader("x"), io.MultiReader(strings.NewReader("x"))} {
		r := httptest.NewRequest("GET", "/", body)
		r.Host = "localhost"
		if r.ContentLength < 0 {
			r.TransferEncoding = []string{"chunked"}
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != http.StatusRequestEntityTooLarge {
			t.Errorf("a body of length %d: status %d", r.ContentLength, w.Code)
		}
	}
}

func TestPacked(t *testing.T) {
	s := start(t, Options{Site: site(t)})
	form := ask(s, "GET", "/assets/rollscope.wasm", "Accept-Encoding", "gzip").Body.String()
	for _, c := range []struct{ accept, coding, body string }{
		{"", "", module},
		{"identity", "", module},
		{"gzip, deflate, br, zstd", "br", "the br form"},
		{"gzip", "gzip", form},
		{"GZIP;q=0.5", "gzip", form},
		{"br;q=0, gzip", "gzip", form},
		{"br;q=0, *", "gzip", form},
		{"*", "br", "the br form"},
		{"*;q=0", "", module},
		{"br;q=nonsense", "", module},
		{"br;q=NaN", "", module},
		{"brotli, x-gzip", "", module},
	} {
		w := ask(s, "GET", "/assets/rollscope.wasm", "Accept-Encoding", c.accept)
		if got := w.Header().Get("Content-Encoding"); got != c.coding || w.Body.String() != c.body {
			t.Errorf("%q: coding %q, %d bytes", c.accept, got, w.Body.Len())
		}
		if got := w.Header().Get("Content-Type"); got != "application/wasm" {
			t.Errorf("%q: type %q", c.accept, got)
		}
		if w.Header().Get("Vary") != "Accept-Encoding" || w.Header().Get("Cache-Control") != "no-cache" {
			t.Errorf("%q: headers %v", c.accept, w.Header())
		}
		tag := w.Header().Get("ETag")
		again := ask(s, "GET", "/assets/rollscope.wasm", "Accept-Encoding", c.accept, "If-None-Match", tag)
		if again.Code != http.StatusNotModified || again.Body.Len() != 0 {
			t.Errorf("%q: status %d for the same tag", c.accept, again.Code)
		}
		head := ask(s, "HEAD", "/assets/rollscope.wasm", "Accept-Encoding", c.accept)
		if head.Code != 200 || head.Body.Len() != 0 || head.Header().Get("Content-Length") != w.Header().Get("Content-Length") || head.Header().Get("ETag") != tag {
			t.Errorf("%q: head %v against %v", c.accept, head.Header(), w.Header())
		}
	}

	tags := map[string]bool{}
	for _, accept := range []string{"", "gzip", "br"} {
		tags[ask(s, "GET", "/assets/rollscope.wasm", "Accept-Encoding", accept).Header().Get("ETag")] = true
	}
	if len(tags) != 3 {
		t.Errorf("tags of three forms: %v", tags)
	}

	// A script without packed forms is packed by the server.
	w := ask(s, "GET", "/assets/page.js", "Accept-Encoding", "gzip, br")
	r, err := gzip.NewReader(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(r); err != nil || string(text) != script {
		t.Errorf("script: %d bytes, %v", len(text), err)
	}

	// A range of a packed form is ignored, one of the plain form is not.
	if w := ask(s, "GET", "/assets/rollscope.wasm", "Accept-Encoding", "br", "Range", "bytes=0-2"); w.Code != 200 || w.Body.String() != "the br form" {
		t.Errorf("range of a packed form: %d %q", w.Code, w.Body)
	}
	if w := ask(s, "GET", "/assets/rollscope.wasm", "Range", "bytes=0-2"); w.Code != 206 || w.Body.String() != "was" {
		t.Errorf("range of the plain form: %d %q", w.Code, w.Body)
	}
}

func TestPanic(t *testing.T) {
	s := start(t, Options{Runs: shelfOf{func() error { panic("broken") }}})
	if w := ask(s, "GET", "/runs"); w.Code != 500 || strings.Contains(w.Body.String(), "broken") {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
	s = start(t, Options{Runs: shelfOf{func() error { return errors.New("secret place") }}})
	if w := ask(s, "GET", "/runs"); w.Code != 500 || strings.Contains(w.Body.String(), "secret") {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
}

type shelfOf struct{ list func() error }

func (s shelfOf) List(context.Context) ([]Run, bool, error) { return nil, false, s.list() }

func TestServe(t *testing.T) {
	// A request is under way when the server is told to stop: it is answered, then Serve returns.
	entered, leave := make(chan struct{}), make(chan struct{})
	s := start(t, Options{Site: site(t), Runs: shelfOf{func() error { close(entered); <-leave; return nil }}})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, l) }()

	answer := make(chan string, 1)
	go func() {
		r, err := http.Get("http://" + l.Addr().String() + "/runs")
		if err != nil {
			answer <- err.Error()
			return
		}
		defer r.Body.Close()
		b, _ := io.ReadAll(r.Body)
		answer <- string(b)
	}()
	<-entered
	stop()
	close(leave)
	if got := <-answer; got != "[]\n" {
		t.Errorf("answer %q", got)
	}
	if err := <-served; err != nil {
		t.Errorf("serve: %v", err)
	}
	if _, err := net.Dial("tcp", l.Addr().String()); err == nil {
		t.Error("the listener is still open")
	}
	// A listener that fails is an error.
	if err := s.Serve(context.Background(), l); err == nil {
		t.Error("a closed listener was served")
	}
}

// A header beyond the limit is refused before any handler sees it.
func TestLongHeader(t *testing.T) {
	s := start(t, Options{Site: site(t)})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, l) }()
	r, err := http.NewRequest("GET", "http://"+l.Addr().String()+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Long", strings.Repeat("x", 4*maxHeader))
	if answer, err := http.DefaultClient.Do(r); err == nil {
		answer.Body.Close()
		if answer.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("status %d", answer.StatusCode)
		}
	}
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

func TestPages(t *testing.T) {
	dir := tree(t, map[string]string{"a/rollouts.jsonl": letters, "b <i>/rollouts.jsonl": "", "none/notes.txt": ""})
	shelf, err := Below(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer shelf.Close()
	opens, err := NewSite(kit(t), bundle.Options{Runs: NamedURL})
	if err != nil {
		t.Fatal(err)
	}
	sample, err := NewSite(kit(t), bundle.Options{Sample: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		o       Options
		target  string
		has     []string
		hasNone []string
	}{
		{"page", Options{Site: site(t)}, "/", []string{`src="/assets/page.js"`, `href="/assets/style.css"`, `data-state="starting"`, `data-intake="files"`},
			[]string{"data-runs", "data-sample", "http-equiv", " style="}},
		{"sample", Options{Site: sample}, "/", []string{"data-sample"}, []string{"data-runs"}},
		{"run", Options{Site: opens, Runs: Named("r", nil)}, "/", []string{`data-runs="/runs/0"`, `data-mode="served"`}, []string{"data-sample"}},
		{"list", Options{Site: site(t), Runs: shelf, Choice: true}, "/",
			[]string{`<a href="/run/` + idOf("a") + `">a</a>`, "b &lt;i&gt;", `<td class="r">26</td>`}, []string{"<i>", "none", "<script", " style="}},
		{"chosen", Options{Site: site(t), Runs: shelf, Choice: true}, pageURL(idOf("a")), []string{`data-runs="/runs/` + idOf("a") + `"`, `src="/assets/page.js"`}, nil},
	} {
		w := ask(start(t, c.o), "GET", c.target)
		if w.Code != 200 || w.Header().Get("Content-Type") != "text/html; charset=utf-8" {
			t.Errorf("%s: %d %v", c.name, w.Code, w.Header())
		}
		for _, part := range c.has {
			if !strings.Contains(w.Body.String(), part) {
				t.Errorf("%s lacks %s:\n%s", c.name, part, w.Body)
			}
		}
		for _, part := range c.hasNone {
			if strings.Contains(w.Body.String(), part) {
				t.Errorf("%s has %s:\n%s", c.name, part, w.Body)
			}
		}
	}
	s := start(t, Options{Site: site(t), Runs: shelf, Choice: true})
	for _, target := range []string{"/run/", "/run/x", pageURL(idOf("none")), pageURL(idOf(".."))} {
		if w := ask(s, "GET", target); w.Code != 404 {
			t.Errorf("%s: %d", target, w.Code)
		}
	}
}
