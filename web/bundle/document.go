package bundle

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/a-h/templ"

	"github.com/rollscope/rollscope/core/view"
	"github.com/rollscope/rollscope/web"
)

// Options say what a document opens by itself.
type Options struct {
	Runs   string // address of a list of files that the server hands out
	Follow bool   // the files of Runs are followed
	Sample bool   // the sample run, where there are no Runs
}

// Document writes the document of a served page. Its assets stand at /assets, so it may be sent from any path.
func (k *Kit) Document(o Options) ([]byte, error) {
	mode := ""
	if o.Runs != "" {
		mode = "served"
	}
	d := web.DocumentOptions{Mode: mode, Runs: o.Runs, Follow: o.Follow, Sample: o.Sample}
	return k.linked(d, "/", "")
}

// linked writes a document whose assets are addressed below base; version ends their addresses.
func (k *Kit) linked(d web.DocumentOptions, base, version string) ([]byte, error) {
	d.StyleHref = base + path.Join(assetFolder, stylesheet) + version
	d.ScriptSrc = base + path.Join(assetFolder, pageScript) + version
	d.Head = markup(func(w io.Writer) error {
		if d.Offline != "" {
			if err := manifestLink(w); err != nil {
				return err
			}
		}
		for _, s := range k.libraries {
			// Deferred scripts run in the order of the document, so these are there before the page's script.
			if err := element(w, "script", attribute{"src", base + path.Join(assetFolder, s.name) + version}, attribute{"defer", ""}); err != nil {
				return err
			}
			if _, err := io.WriteString(w, "</script>"); err != nil {
				return err
			}
		}
		return nil
	})
	return render(d)
}

// Folder makes the files of a static viewer: index.html with the policy in it, its assets, and the service worker and
// manifest by which it works without a network once it was opened.
func (k *Kit) Folder() ([]File, error) {
	return k.folder(web.DocumentOptions{}, nil, "")
}

// folder makes the files; see [Kit.offline] for kept and data. The document comes first.
func (k *Kit) folder(d web.DocumentOptions, kept []File, data string) ([]File, error) {
	files, err := k.offline(d, kept, data)
	if err != nil {
		return nil, err
	}
	for _, f := range k.files {
		files = append(files, f)
		// Many static hosts send these in place of the file when they lie beside it.
		for _, packed := range []struct {
			ending string
			body   []byte
		}{{".gz", f.Gzip}, {".br", f.Brotli}} {
			if packed.body != nil {
				files = append(files, File{Name: f.Name + packed.ending, Type: "application/octet-stream", Body: packed.body})
			}
		}
	}
	return files, nil
}

// Single makes the whole viewer one document. The worker's text and the module stand in elements that are no
// scripts to a browser; page.js takes them from there.
func (k *Kit) Single() ([]byte, error) { return k.single(web.DocumentOptions{}) }

// single writes the document with further parts in front of the page's script.
func (k *Kit) single(d web.DocumentOptions, more ...embedded) ([]byte, error) {
	var scripts []string
	for _, s := range k.libraries {
		scripts = append(scripts, s.text)
	}
	scripts = append(scripts, k.script)
	d.Mode, d.CSP, d.Style, d.Script = "file", Policy(Inline, scripts, []string{k.style}), k.style, k.script
	d.Tail = markup(func(w io.Writer) error {
		for _, part := range append(k.parts(), more...) {
			if err := part.write(w); err != nil {
				return err
			}
		}
		return nil
	})
	return render(d)
}

// An embedded part stands in an element of its own in front of the page's script.
type embedded struct {
	id, kind string // kind "" is a script that runs
	text     string
}

// parts lists what a single file carries beside style and script.
func (k *Kit) parts() []embedded {
	const data = "text/plain"
	list := []embedded{
		{"rollscope-worker", data, k.worker},
		{"rollscope-wasm", data, base64.StdEncoding.EncodeToString(k.packed)},
	}
	for _, s := range k.libraries {
		list = append(list, embedded{"", "", s.text})
	}
	return list
}

func (e embedded) write(w io.Writer) error {
	lower := strings.ToLower(e.text)
	if strings.Contains(lower, "</script") || strings.Contains(lower, "<!--") {
		return fmt.Errorf("text of %s would end its element early", e.id)
	}
	var attributes []attribute
	if e.kind != "" {
		attributes = []attribute{{"type", e.kind}, {"id", e.id}}
	}
	if err := element(w, "script", attributes...); err != nil {
		return err
	}
	_, err := io.WriteString(w, e.text+"</script>")
	return err
}

type attribute struct{ name, value string }

// element writes a start tag.
func element(w io.Writer, tag string, attributes ...attribute) error {
	b := "<" + tag
	for _, a := range attributes {
		b += " " + a.name
		if a.value != "" {
			b += `="` + templ.EscapeString(a.value) + `"`
		}
	}
	_, err := io.WriteString(w, b+">")
	return err
}

func markup(write func(io.Writer) error) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error { return write(w) })
}

// render writes the first paint: the landing page, before anything is read.
func render(d web.DocumentOptions) ([]byte, error) {
	page, _ := new(view.Desk).Page(view.State{}, view.Host{Mode: d.Mode}, nil)
	page.Phase = view.Starting
	d.Keys = view.Commands()
	var b bytes.Buffer
	if err := web.Document(*page, d).Render(context.Background(), &b); err != nil {
		return nil, fmt.Errorf("document: %w", err)
	}
	return b.Bytes(), nil
}

// A Listing is the page of several runs.
type Listing struct {
	Runs []ListedRun
	More bool // there are too many to list
}

// A ListedRun is one of them.
type ListedRun struct {
	Name, Href string
	Files      int
	Size       int64 // in bytes
}

// Listing writes the page of several runs.
func (k *Kit) Listing(l Listing) ([]byte, error) {
	var b bytes.Buffer
	if err := listing(l, "/"+path.Join(assetFolder, stylesheet)).Render(context.Background(), &b); err != nil {
		return nil, fmt.Errorf("listing: %w", err)
	}
	return b.Bytes(), nil
}
