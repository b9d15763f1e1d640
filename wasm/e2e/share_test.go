package e2e

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rollscope/rollscope/core/pack"
)

// startSharing opens the dialog and waits until it knows what would go along.
func (p *Page) startSharing() {
	p.t.Helper()
	p.Key("h")
	p.Wait(`document.querySelector("#share[open] [data-action=share-make]:not([disabled])")`)
}

// shared makes the file that the dialog is about, and saves it where the browser does.
func (p *Page) shared(name string) []byte {
	p.t.Helper()
	document := p.Saves(name, func() { p.Click("[data-action=share-make]") })
	p.Wait(`document.querySelector("[data-share-said]").textContent.startsWith("Saved ` + name + `")`)
	return document
}

// verified saves a document beside others and has the command verify it.
func verified(t *testing.T, work, name string, document []byte) string {
	t.Helper()
	path := filepath.Join(work, name)
	if err := os.WriteFile(path, document, 0o666); err != nil {
		t.Fatal(err)
	}
	if out, talk, code := product.Run(t, work, "bundle", "--verify", name); code != 0 || !strings.Contains(out, "whole") {
		t.Errorf("verify: exit %d: %s%s", code, out, talk)
	}
	return path
}

// inside gives the index of a document and the files in it.
func inside(t *testing.T, document []byte) (*pack.Index, map[string][]byte) {
	t.Helper()
	element := func(id string) string {
		_, text, found := strings.Cut(string(document), `<script type="text/plain" id="`+id+`">`)
		if !found {
			t.Fatalf("the document has no %s", id)
		}
		text, _, _ = strings.Cut(text, "</script>")
		return text
	}
	x, err := pack.Parse([]byte(element("rollscope-bundle")), "")
	if err != nil {
		t.Fatal(err)
	}
	r := pack.NewReader(x, func(n int) ([]byte, error) {
		return base64.StdEncoding.DecodeString(element(fmt.Sprint("rollscope-block-", n)))
	})
	files := map[string][]byte{}
	for i, f := range x.Files {
		files[f.Path] = make([]byte, f.Size)
		if _, err := r.ReadAt(i, files[f.Path], 0); err != nil {
			t.Fatal(err)
		}
	}
	return x, files
}

func gzipped(t *testing.T, plain []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(plain); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestShare shares a run from the page as it is served: the file opens from a disk with the network cut, verifies, and
// shows the numbers of the page and of a bundle that the command makes. It is shared again out of that file.
func TestShare(t *testing.T) {
	work := t.TempDir()
	if err := os.CopyFS(filepath.Join(work, "s16"), os.DirFS(filepath.Join(goldens, "s16-agents", "input"))); err != nil {
		t.Fatal(err)
	}
	live := newPage(t)
	live.Open(product.Start(t, work, "view", "s16"))
	live.WaitState("ready")
	want := live.numbers()
	live.startSharing()
	live.Type("Sent <b>run</b>")
	live.examine("share")
	document := live.shared("s16.html")
	live.examine("share-saved")
	path := verified(t, work, "sent.html", document)

	if out, talk, code := product.Run(t, work, "bundle", "s16", "-o", "made.html", "--title", "Sent <b>run</b>"); code != 0 {
		t.Fatalf("bundle: exit %d: %s%s", code, out, talk)
	}
	made, err := os.ReadFile(filepath.Join(work, "made.html"))
	if err != nil {
		t.Fatal(err)
	}
	x, files := inside(t, document)
	other, others := inside(t, made)
	if !maps.EqualFunc(files, others, bytes.Equal) || !slices.Equal(x.Sources, other.Sources) || x.Rows != other.Rows || x.Title != other.Title || !slices.Equal(x.Left, other.Left) {
		t.Errorf("the command has %+v in its bundle, the page %+v", other, x)
	}
	// But for data the two documents are the same text: the module differs in how well it is packed.
	shell := func(document []byte) string {
		front, _, _ := strings.Cut(string(document), `<script type="text/plain" id="rollscope-wasm">`)
		return strings.ReplaceAll(front, fmt.Sprintf("data-bundle=%q", Eval[string](live, fmt.Sprintf("%q.match(/data-bundle=\"([0-9a-f]*)\"/)[1]", front[:400]))), "")
	}
	if shell(document) != shell(made) {
		t.Error("the page writes another viewer than the command")
	}

	p := newPage(t)
	p.Open("file://" + path)
	p.WaitState("ready")
	p.cutNetwork()
	if got := p.numbers(); !maps.EqualFunc(got, want, maps.Equal[map[string]string, map[string]string]) {
		t.Errorf("the file shows %v, the page %v", got, want)
	}
	if title := p.Title(); !strings.Contains(title, "Sent <b>run</b>") {
		t.Errorf("the title is %q", title)
	}
	p.SetHash("tab=rollouts&filter=task=1")
	p.Settled()
	p.startSharing()
	again := p.shared("s16.html")
	x, files = inside(t, again)
	if x.Origin == nil || x.Origin.ID != Eval[string](p, `document.documentElement.dataset.bundle`) || x.Filter != "task=1" || x.Rows.Kept == 0 || x.Rows.Kept == x.Rows.Of {
		t.Errorf("shared again: %+v", x)
	}
	q := newPage(t)
	q.Open("file://" + verified(t, work, "again.html", again))
	q.WaitState("ready")
	q.WaitStats(map[string]string{"rollout.count": fmt.Sprint(x.Rows.Kept)})
	for _, page := range []*Page{p, q} {
		if asked := page.Requests(); len(asked) > 0 {
			t.Errorf("requests: %q", asked)
		}
	}
}

// TestShareFiltered shares the rows of a filter out of files that were dropped on a static viewer, one of them packed,
// by the palette; the page can fetch nothing by then.
func TestShareFiltered(t *testing.T) {
	work := t.TempDir()
	if out, talk, code := product.Run(t, work, "bundle", "-o", "viewer"); code != 0 {
		t.Fatalf("bundle: exit %d: %s%s", code, out, talk)
	}
	rows, err := os.ReadFile(caseFile("s16-agents"))
	if err != nil {
		t.Fatal(err)
	}
	run := filepath.Join(work, "night run")
	copyFile(t, caseFile("s16-agents"), filepath.Join(run, "rollouts.jsonl"))
	for name, text := range map[string][]byte{"more.jsonl.gz": gzipped(t, rows), "rollouts_failures.jsonl": []byte("{}\n"), "keys.env": []byte("KEY=1\n")} {
		if err := os.WriteFile(filepath.Join(run, name), text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	server := httptest.NewServer(http.FileServer(http.Dir(filepath.Join(work, "viewer"))))
	defer server.Close()
	p := newPage(t)
	p.Open(server.URL + "/#tab=rollouts&filter=reward=1")
	p.cutNetwork()
	p.ChooseFolder(run)
	p.WaitState("ready")
	count := p.Stat("filter.count")
	p.Key("Control+k")
	p.Type("share what")
	p.Key("Enter")
	p.Wait(`document.querySelector("#share[open] [data-action=share-make]:not([disabled])")`)
	if said := p.Text("[data-share-some]"); said != "the "+count+" rows of the filter reward=1" || !Eval[bool](p, `document.querySelector("[name=share-rows][value=filter]").checked`) {
		t.Errorf("the choice is %q", said)
	}
	if plan := Eval[string](p, `document.querySelector("[data-share-plan]").textContent`); !strings.Contains(plan, "keys.env") || !strings.Contains(plan, "it is no file of a run") || !strings.Contains(plan, "goes in unpacked") {
		t.Errorf("the plan says %q", plan)
	}
	document := p.shared("night-run.html")
	if said := Eval[string](p, `document.querySelector("[data-share-result]").textContent`); !strings.Contains(said, "left out: night run/keys.env") || !strings.Contains(said, count+" rows of") {
		t.Errorf("the page says %q", said)
	}
	x, files := inside(t, document)
	var want []byte
	for line := range bytes.Lines(rows) {
		var r struct{ Reward float64 }
		if json.Unmarshal(line, &r) == nil && r.Reward == 1 {
			want = append(want, line...)
		}
	}
	for _, name := range []string{"night run/rollouts.jsonl", "night run/more.jsonl"} {
		if !bytes.Equal(files[name], want) {
			t.Errorf("%s holds %.300q", name, files[name])
		}
	}
	if len(files) != 3 || fmt.Sprint(x.Rows.Kept) != count || len(x.Sources) != 3 {
		t.Errorf("%d files, %+v", len(files), x)
	}
	q := newPage(t)
	q.Open("file://" + verified(t, work, "sent.html", document))
	q.WaitState("ready")
	q.WaitStats(map[string]string{"rollout.count": count})
}

// TestShareRedacted shares with rules: what they take out stands nowhere in the file, and what was probably not meant is
// said before the file is saved.
func TestShareRedacted(t *testing.T) {
	work := t.TempDir()
	rows, err := os.ReadFile(caseFile("s16-agents"))
	if err != nil {
		t.Fatal(err)
	}
	taken := map[string]bool{}
	for line := range bytes.Lines(rows) {
		var r map[string]any
		if json.Unmarshal(line, &r) == nil {
			textsOf(r["response"], taken)
		}
	}
	run := filepath.Join(work, "secret run")
	if err := os.Mkdir(run, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(run, "rollouts.jsonl"), append(slices.Clone(rows), "not json\n"...), 0o666); err != nil {
		t.Fatal(err)
	}
	p := open(t, "")
	p.ChooseFolder(run)
	p.WaitState("ready")
	p.startSharing()
	Eval[bool](p, `document.querySelector("[data-share=rules]").focus() || true`)
	p.Type("length resp")
	p.Type("onse\ndrop nothing.here\ndrop a..b")
	p.Wait(`document.querySelector("[data-share-plan] .error")?.textContent.includes("line 3")`)
	if !Eval[bool](p, `document.querySelector("[data-action=share-make]").disabled`) {
		t.Error("wrong rules can be used")
	}
	for range len("a..b") {
		p.Key("Backspace")
	}
	p.Type("ng_perf")
	p.Wait(`!document.querySelector("[data-action=share-make]").disabled && !document.querySelector("[data-share-plan] .error")`)
	p.Click("[data-action=share-make]")
	p.Wait(`document.querySelector("[data-share-done]:not([hidden]) .notes")`)
	for _, want := range []string{"1 line cannot be read", "drop nothing.here", "decides about nothing"} {
		if said := p.Text("[data-share-done]"); !strings.Contains(said, want) {
			t.Errorf("%q is not said: %s", want, said)
		}
	}
	p.Screenshot("share-notes", 400, 800, true)
	document := p.Saves("bundle.html", func() { p.Click("[data-action=share-save]") })
	verified(t, work, "sent.html", document)
	x, files := inside(t, document)
	if len(files) != 1 || len(x.Sources) != 0 || x.Redaction == nil || x.Rows.Unreadable != 1 {
		t.Fatalf("%d files, %+v", len(files), x)
	}
	index, _ := json.Marshal(x)
	named := map[string]bool{}
	for _, content := range files {
		for line := range bytes.Lines(content) {
			var r any
			if err := json.Unmarshal(line, &r); err != nil {
				t.Fatalf("%s is no row", line)
			}
			namesOf(r, named)
			found := map[string]bool{}
			textsOf(r, found)
			for text := range taken {
				for there := range found {
					if strings.Contains(there, text) {
						t.Errorf("%q stands in %q", text, there)
					}
				}
			}
		}
	}
	for text := range taken {
		if !named[text] && bytes.Contains(index, []byte(text)) {
			t.Errorf("%q stands in the index", text)
		}
	}
	if len(taken) < 10 {
		t.Errorf("only %d texts are looked for", len(taken))
	}
}

// textsOf collects the texts of eight characters and more in a value, namesOf the names of members.
func textsOf(v any, texts map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for _, inner := range v {
			textsOf(inner, texts)
		}
	case []any:
		for _, inner := range v {
			textsOf(inner, texts)
		}
	case string:
		if utf8.RuneCountInString(v) >= 8 {
			texts[v] = true
		}
	}
}

func namesOf(v any, names map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			names[name] = true
			namesOf(inner, names)
		}
	case []any:
		for _, inner := range v {
			namesOf(inner, names)
		}
	}
}

// TestShareFails goes through what can go wrong: nothing open, a file that is gone, more than a file carries, a worker
// that stops, a browser that cannot pack; and a person who changes their mind.
func TestShareFails(t *testing.T) {
	said := func(p *Page, words ...string) {
		t.Helper()
		p.Wait(`document.querySelector("[data-share-done]:not([hidden])")`)
		for _, want := range words {
			if text := p.Text("[data-share-done]"); !strings.Contains(text, want) {
				t.Errorf("%q is not said: %s", want, text)
			}
		}
	}
	work := t.TempDir()
	file := filepath.Join(work, "rollouts.jsonl")
	copyFile(t, caseFile("s16-agents"), file)

	// sharing opens the dialog on a page whose workers do something else in place of packing.
	sharing := func(packing string) *Page {
		t.Helper()
		p := newPage(t)
		if packing != "" {
			p.beforeWorkers(`CompressionStream = function () { ` + packing + ` };`)
		}
		p.Open(site)
		p.ChooseFiles(file)
		p.WaitState("ready")
		p.startSharing()
		return p
	}
	p := sharing(`return new TransformStream({ transform: () => new Promise(() => {}) })`)
	p.Click("[data-action=share-make]")
	p.Wait(`document.querySelector("[data-share-work]:not([hidden])")`)
	p.Click("[data-action=share-cancel]")
	p.Wait(`!document.querySelector("[data-share-form]").hidden && document.querySelector("[data-share-work]").hidden`)
	p.Key("Escape")
	p.Wait(`!document.querySelector("#share").open`)

	p = sharing(`return new TransformStream({ transform: (_, to) => to.enqueue(new Uint8Array(101 << 20)) })`)
	p.Wait(`document.querySelector("[data-share-plan]").textContent.includes("more than one file carries")`)
	p.Click("[data-action=share-make]")
	said(p, "more than one file carries", "rollscope bundle RUN -o DIR")

	p = sharing(`go.exitCode = 2; go.stderr = ["out of memory"]; throw new Dead("out of memory")`)
	p.Click("[data-action=share-make]")
	said(p, "has stopped", "out of memory")

	p = sharing("")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	p.Click("[data-action=share-make]")
	said(p, "No file was made", "rollouts.jsonl")

	p = open(t, "")
	p.Key("h")
	p.Wait(`document.querySelector("#live").textContent.includes("nothing to share")`)

	q := newPage(t)
	q.before(`delete window.CompressionStream`)
	q.Open(site)
	q.ChooseFiles(caseFile("s16-agents"))
	q.WaitState("ready")
	q.startSharing()
	q.Click("[data-action=share-make]")
	said(q, "cannot pack")
}
