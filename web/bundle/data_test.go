package bundle

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

var blocksOf = [][]byte{[]byte("first \x00 block"), []byte("</script><!-- second")}

func data(index string) Data {
	return Data{Index: []byte(index), ID: strings.Repeat("a1", 32), Blocks: len(blocksOf), Block: func(n int) ([]byte, error) { return blocksOf[n], nil }}
}

// What a file carries is read from it again, and a cut one says what is missing.
func TestWriteSingle(t *testing.T) {
	k := load(t, parts())
	var b bytes.Buffer
	if err := k.WriteSingle(&b, data("{\"index\":1}\n")); err != nil {
		t.Fatal(err)
	}
	d, err := ReadDocument(b.Bytes())
	if err != nil || d.ID != strings.Repeat("a1", 32) || d.Folder != "" {
		t.Fatalf("document %+v, %v", d, err)
	}
	if index, err := d.Index(); err != nil || string(index) != "{\"index\":1}\n" {
		t.Errorf("index %q, %v", index, err)
	}
	for n, want := range blocksOf {
		if got, err := d.Block(n); err != nil || !bytes.Equal(got, want) {
			t.Errorf("block %d: %q, %v", n, got, err)
		}
	}
	if _, err := d.Block(len(blocksOf)); err == nil {
		t.Error("there is one block more")
	}
	text := b.String()
	if at := strings.Index(text, `id="rollscope-block-0"`); strings.LastIndex(text, "start(1 < 2") > at || strings.Index(text, `id="rollscope-bundle"`) > at || !strings.HasSuffix(text, "</body></html>") {
		t.Error("blocks do not stand behind the script and the index")
	}
	cut, err := ReadDocument(b.Bytes()[:strings.Index(text, `id="rollscope-block-1"`)+30])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cut.Block(0); err != nil {
		t.Errorf("the first block: %v", err)
	}
	if _, err := cut.Block(1); err == nil || !strings.Contains(err.Error(), "ends in the middle") {
		t.Errorf("the cut block: %v", err)
	}
	// An index that would end its element, and blocks that fail.
	if err := k.WriteSingle(io.Discard, data("</script>")); err == nil {
		t.Error("an index that is no text of an element was written")
	}
	failing := data("{}")
	failing.Block = func(int) ([]byte, error) { return nil, io.ErrUnexpectedEOF }
	if err := k.WriteSingle(io.Discard, failing); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a missing block: %v", err)
	}
}

func TestFolderWith(t *testing.T) {
	files, err := load(t, parts()).FolderWith(data("{}"))
	if err != nil {
		t.Fatal(err)
	}
	last := files[len(files)-1]
	index := files[len(files)-2]
	if last.Name != "index.html" || index.Name != "data/a1a1a1a1a1a1a1a1/index.json" || string(index.Body) != "{}" {
		t.Errorf("files end with %s, %s", index.Name, last.Name)
	}
	d, err := ReadDocument(last.Body)
	if err != nil || d.Folder != "data/a1a1a1a1a1a1a1a1/" {
		t.Errorf("document %+v, %v", d, err)
	}
	if bytes.Count(last.Body, []byte("connect-src &#39;self&#39;; ")) != 1 {
		t.Error("the document may not ask for its blocks")
	}
}

func TestReadDocumentRefuses(t *testing.T) {
	single, err := load(t, parts()).Single()
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "no page", string(single), `<!doctype html><html data-bundle="12">`, `<!doctype html><p><html data-bundle="` + strings.Repeat("0", 64) + `">`} {
		if _, err := ReadDocument([]byte(text)); !errors.Is(err, ErrNoData) {
			t.Errorf("%.60q: %v", text, err)
		}
	}
}

// Elements are found in one pass, whatever stands between them.
func TestElements(t *testing.T) {
	head := "<!doctype html><html data-bundle=\"" + strings.Repeat("0", 64) + "\">"
	d, err := ReadDocument([]byte(head + elementStart + `no end of a name` + strings.Repeat("x", 300) + "</script>" + elementStart + "rollscope-block-0\"></script>" +
		elementStart + "rollscope-block-1\">MQ==</script>" + elementStart + "rollscope-block-1\">Mg==</script>" + elementStart + "rollscope-block-2\">M"))
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range []string{"", "1", "the file ends in the middle of it", "it is not in this file"} {
		b, err := d.Block(n)
		if got := string(b); err == nil && got != want || err != nil && err.Error() != want {
			t.Errorf("block %d: %q, %v", n, got, err)
		}
	}
}

// A page that knows its parts makes the same document as the command.
func TestAssemble(t *testing.T) {
	k := load(t, parts())
	var want, got bytes.Buffer
	if err := k.WriteSingle(&want, data("{}\n")); err != nil {
		t.Fatal(err)
	}
	p := Parts{Style: k.style, Script: k.script, Worker: k.worker, Module: k.packed}
	for _, l := range k.libraries {
		p.Libraries = append(p.Libraries, l.text)
	}
	again, err := Assemble(p)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.WriteSingle(&got, data("{}\n")); err != nil || !bytes.Equal(want.Bytes(), got.Bytes()) {
		t.Errorf("another document, %v:\n%s", err, got.Bytes())
	}
	for _, change := range []func(*Parts){func(p *Parts) { p.Script = "" }, func(p *Parts) { p.Worker = "" }, func(p *Parts) { p.Module = nil }} {
		less := p
		change(&less)
		if _, err := Assemble(less); err == nil {
			t.Errorf("%+v were enough", less)
		}
	}
}
