package bundle

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// parts is a small tree of assets.
func parts() fstest.MapFS {
	return fstest.MapFS{
		"page.js":              {Data: []byte("\"use strict\";\r\nstart(1 < 2 && 3 > 2);\n")},
		"worker.js":            {Data: []byte("work();\n")},
		"worker.more.js":       {Data: []byte("more();\n")},
		"vendor/a.js":          {Data: []byte("// a\n")},
		"vendor/b.js":          {Data: []byte("// b\n")},
		"vendor/a.LICENSE.txt": {Data: []byte("The licence of a.\n")},
		"logo.svg":             {Data: []byte("<svg/>")},
		"notes":                {Data: []byte("not delivered")},
		"static/service.js":    {Data: []byte("answer();\n")},
		"static/icon.svg":      {Data: []byte("<svg/>")},
		"static/icon.png":      {Data: []byte("png")},
		"built/README":         {Data: []byte("not delivered")},
		"built/wasm_exec.js":   {Data: []byte("load();")},
		"built/rollscope.wasm": {Data: []byte("\x00asm module")},
	}
}

func load(t *testing.T, tree fstest.MapFS) *Kit {
	t.Helper()
	k, err := Load(tree, []byte("body { color: red }\r\n"))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func zipped(t *testing.T, text string) []byte {
	t.Helper()
	b, err := zip([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestLoad(t *testing.T) {
	for _, c := range []struct {
		name     string
		change   func(fstest.MapFS)
		notBuilt bool
		says     string
	}{
		{"whole", func(fstest.MapFS) {}, false, ""},
		{"no module", func(f fstest.MapFS) { delete(f, "built/rollscope.wasm") }, true, "make wasm"},
		{"no loader", func(f fstest.MapFS) { delete(f, "built/wasm_exec.js") }, true, "make wasm"},
		{"fresh clone", func(f fstest.MapFS) { delete(f, "built/rollscope.wasm"); delete(f, "built/wasm_exec.js") }, true, "make wasm"},
		{"no script", func(f fstest.MapFS) { delete(f, "page.js") }, false, "page.js"},
		{"no worker", func(f fstest.MapFS) { delete(f, "worker.js") }, false, "worker.js"},
		{"other gzip", func(f fstest.MapFS) { f["built/rollscope.wasm.gz"] = &fstest.MapFile{Data: zipped(t, "older")} }, false, "two builds"},
		{"bad licence", func(f fstest.MapFS) { f["vendor/a.LICENSE.txt"] = &fstest.MapFile{Data: []byte("/* x */")} }, false, "end its comment"},
		{"bad gzip", func(f fstest.MapFS) { f["built/rollscope.wasm.gz"] = &fstest.MapFile{Data: []byte("x")} }, false, "two builds"},
	} {
		tree := parts()
		c.change(tree)
		_, err := Load(tree, nil)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) || errors.Is(err, ErrNotBuilt) != c.notBuilt {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestAssets(t *testing.T) {
	tree := parts()
	tree["built/rollscope.wasm.gz"] = &fstest.MapFile{Data: zipped(t, "\x00asm module")}
	tree["built/rollscope.wasm.br"] = &fstest.MapFile{Data: []byte("br")}
	k := load(t, tree)
	var names []string
	for _, f := range k.Assets() {
		names = append(names, f.Name)
	}
	want := []string{"assets/rollscope.wasm", "assets/logo.svg", "assets/page.js", "assets/vendor/a.LICENSE.txt", "assets/vendor/a.js",
		"assets/vendor/b.js", "assets/worker.js", "assets/style.css"}
	if !slices.Equal(names, want) {
		t.Errorf("assets %q", names)
	}
	if f := k.file("worker.js"); string(f.Body) != "load();\nwork();\n\nmore();\n" {
		t.Errorf("worker %q", f.Body)
	}
	if f := k.file("rollscope.wasm"); f.Type != "application/wasm" || f.Gzip == nil || string(f.Brotli) != "br" {
		t.Errorf("module %+v", f)
	}

	files, err := k.Folder()
	if err != nil {
		t.Fatal(err)
	}
	names = nil
	for _, f := range files {
		names = append(names, f.Name)
	}
	for _, name := range []string{"index.html", "assets/rollscope.wasm", "assets/rollscope.wasm.gz", "assets/rollscope.wasm.br"} {
		if !slices.Contains(names, name) {
			t.Errorf("folder lacks %s: %q", name, names)
		}
	}
}

// The policies are those of the design's table of modes.
func TestPolicies(t *testing.T) {
	for d, want := range map[Delivery]string{
		Served: "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data: blob:; worker-src blob:; " +
			"connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
		Static: "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data: blob:; worker-src 'self' blob:; " +
			"connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'",
		Inline: "default-src 'none'; script-src 'sha256-ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs=' 'wasm-unsafe-eval'; " +
			"style-src 'sha256-PiPoFgA5WUoziU9lZOGxNIu9egCI1CxKy3PurtWcAJ0='; img-src data: blob:; worker-src blob:; " +
			"connect-src 'none'; base-uri 'none'; form-action 'none'",
	} {
		var scripts, styles []string
		if d == Inline {
			scripts, styles = []string{"a"}, []string{"b"}
		}
		if got := Policy(d, scripts, styles); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", d, got, want)
		}
	}
	for _, info := range Deliveries {
		if info.Title == "" || info.Text == "" {
			t.Errorf("%s is not explained", info.Delivery)
		}
	}
}

func TestFolderDocument(t *testing.T) {
	files, err := load(t, parts()).Folder()
	if err != nil {
		t.Fatal(err)
	}
	html := string(files[0].Body)
	for _, want := range []string{
		`<meta http-equiv="Content-Security-Policy" content="` + strings.ReplaceAll(Policy(Static, nil, nil), "'", "&#39;") + `">`,
		`href="assets/style.css?`, `<link rel="manifest" href="manifest.webmanifest">`, `<script src="assets/vendor/a.js?`, `<script src="assets/vendor/b.js?`,
		`<script src="assets/page.js?`, ` data-offline="service.js"`, `data-state="starting"`, `data-intake="files"`, `data-intake="folder"`, `href="data:,"`,
	} {
		if !strings.Contains(html, want) {
			t.Errorf("document lacks %s:\n%s", want, html)
		}
	}
	if strings.Index(html, "http-equiv=\"Content-Security-Policy\"") > strings.Index(html, "assets/") {
		t.Error("something is loaded in front of the policy")
	}
	if strings.Index(html, "vendor/b.js") > strings.Index(html, "page.js") {
		t.Error("a library is loaded behind the page's script")
	}
}

var elements = regexp.MustCompile(`(?s)<(script|style)([^>]*)>(.*?)</(script|style)>`)

func TestSingle(t *testing.T) {
	k := load(t, parts())
	html, err := k.Single()
	if err != nil {
		t.Fatal(err)
	}
	data := map[string]string{}
	var running []string
	for _, m := range elements.FindAllStringSubmatch(string(html), -1) {
		attributes, text := m[2], m[3]
		if strings.Contains(attributes, "src=") {
			t.Errorf("something is loaded: %s", m[0])
		}
		if id := regexp.MustCompile(`id="([^"]*)"`).FindStringSubmatch(attributes); id != nil {
			if !strings.Contains(attributes, `type="text/plain"`) {
				t.Errorf("data in %q would run", attributes)
			}
			data[id[1]] = text
			continue
		}
		running = append(running, m[1]+": "+text)
		sum := sha256.Sum256([]byte(text))
		if hash := "sha256-" + base64.StdEncoding.EncodeToString(sum[:]); !strings.Contains(string(html), hash) {
			t.Errorf("the policy does not allow %q", text)
		}
	}
	want := []string{"style: body { color: red }\n", "script: /*\nThe licence of a.\n*/\n// a\n", "script: // b\n", "script: \"use strict\";\nstart(1 < 2 && 3 > 2);\n"}
	if !slices.Equal(running, want) {
		t.Errorf("running %q", running)
	}
	if data["rollscope-worker"] != "load();\nwork();\n\nmore();\n" {
		t.Errorf("data %q", data)
	}
	packed, err := base64.StdEncoding.DecodeString(data["rollscope-wasm"])
	if err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	if wasm, err := io.ReadAll(r); err != nil || string(wasm) != "\x00asm module" {
		t.Errorf("module %q, %v", wasm, err)
	}
	for _, never := range []string{"href=\"/", "href=\"assets", " style=", "http://", "https://", "\r"} {
		if bytes.Contains(html, []byte(never)) {
			t.Errorf("the file has %q", never)
		}
	}
	if again, err := k.Single(); err != nil || !bytes.Equal(html, again) {
		t.Errorf("a second one differs, %v", err)
	}
}

// What would end its element early is refused, not written.
func TestSingleRefuses(t *testing.T) {
	for _, name := range []string{"page.js", "worker.js", "vendor/a.js", "built/wasm_exec.js", "vendor/a.LICENSE.txt"} {
		for _, text := range []string{"x = '</script>'", "x = '</SCRIPT '", "<!-- x"} {
			tree := parts()
			tree[name] = &fstest.MapFile{Data: []byte(text)}
			if _, err := load(t, tree).Single(); err == nil {
				t.Errorf("%s with %s was written", name, text)
			}
		}
	}
}
