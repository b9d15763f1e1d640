package bundle

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
)

// ErrNotBuilt means that the embedded assets lack the module: the program was built without "make wasm".
var ErrNotBuilt = errors.New("the page's module is not built into this program: run make wasm, then build again")

// A File is one file of a delivery.
type File struct {
	Name   string // slash-separated path
	Type   string // media type
	Body   []byte
	Gzip   []byte // packed forms made beforehand; nil where there is none
	Brotli []byte
}

// Folder of every asset beside the document, and the parts the page asks for by name.
const (
	assetFolder   = "assets"
	builtFolder   = "built"
	libraryFolder = "vendor" // scripts of others, loaded in front of the page's, with their licences beside them
	noticeEnding  = ".LICENSE.txt"

	pageScript   = "page.js"
	workerScript = "worker.js"
	workerParts  = "worker." // begins the names of parts that follow it
	loaderScript = "wasm_exec.js"
	module       = "rollscope.wasm"
	stylesheet   = "style.css"
	documentName = "index.html"
)

// types are the media types of assets by their extension; nothing else is delivered.
var types = map[string]string{
	".css":         "text/css; charset=utf-8",
	".html":        "text/html; charset=utf-8",
	".js":          "text/javascript; charset=utf-8",
	".json":        "application/json",
	".png":         "image/png",
	".svg":         "image/svg+xml",
	".txt":         "text/plain; charset=utf-8",
	".wasm":        "application/wasm",
	".webmanifest": "application/manifest+json",
}

// A Kit holds the parts of the page.
type Kit struct {
	files     []File // below assets/, by name
	service   string // source of a static folder's service worker
	icons     []File // of its manifest
	script    string // of the page
	worker    string // loader and source
	style     string
	packed    []byte // the module, gzip
	libraries []text // scripts that run before the page's, each with its licence in front
}

// Parts are what a page knows of its own viewer, so that it can make one without its host.
type Parts struct {
	Style, Script, Worker string
	Libraries             []string // in their order
	Module                []byte   // packed with gzip
}

// Assemble makes a Kit of parts that came from one. It makes single files alone.
func Assemble(p Parts) (*Kit, error) {
	if p.Script == "" || p.Worker == "" || len(p.Module) == 0 {
		return nil, errors.New("parts of the viewer are missing")
	}
	k := &Kit{style: newlines(p.Style), script: newlines(p.Script), worker: newlines(p.Worker), packed: p.Module}
	for _, l := range p.Libraries {
		k.libraries = append(k.libraries, text{text: newlines(l)})
	}
	return k, nil
}

// A text is a part with its name below assets/.
type text struct{ name, text string }

// Load reads the parts from the tree of the assets, as package web describes it, and the page's stylesheet. The
// error is [ErrNotBuilt] when the module or its loader is not there.
func Load(assets fs.FS, style []byte) (*Kit, error) {
	loader, err := fs.ReadFile(assets, path.Join(builtFolder, loaderScript))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotBuilt
	} else if err != nil {
		return nil, fmt.Errorf("assets: %w", err)
	}
	k := &Kit{style: newlines(string(style))}
	source := ""
	var more, beside []string // the parts of the page's script that follow its first, and those of the worker
	err = fs.WalkDir(assets, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		media, known := types[path.Ext(name)]
		if !known {
			return nil
		}
		f := File{Name: name, Type: media}
		if f.Body, err = fs.ReadFile(assets, name); err != nil {
			return err
		}
		switch rest, built := strings.CutPrefix(name, builtFolder+"/"); {
		case rest == loaderScript:
			return nil
		case path.Dir(name) == staticFolder:
			if path.Base(name) == serviceName {
				k.service = newlines(string(f.Body))
				return nil
			}
			f.Name = path.Join(assetFolder, path.Base(name))
			k.icons = append(k.icons, f)
			return nil
		case built:
			f.Name = rest
			if f.Gzip, err = optional(assets, name+".gz"); err != nil {
				return err
			}
			if f.Brotli, err = optional(assets, name+".br"); err != nil {
				return err
			}
		case name == pageScript:
			k.script = newlines(string(f.Body))
		case name == workerScript:
			source = string(f.Body)
		case strings.HasPrefix(name, workerParts) && path.Ext(name) == ".js":
			beside = append(beside, string(f.Body))
			return nil
		case path.Dir(name) == "." && path.Ext(name) == ".js":
			more = append(more, newlines(string(f.Body)))
			return nil
		case path.Dir(name) == libraryFolder && path.Ext(name) == ".js":
			notice, err := optional(assets, strings.TrimSuffix(name, ".js")+noticeEnding)
			if err != nil {
				return err
			}
			l, err := licensed(string(f.Body), string(notice))
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			k.libraries = append(k.libraries, text{name, l})
			f.Body = []byte(l)
		}
		f.Name = path.Join(assetFolder, f.Name)
		k.files = append(k.files, f)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("assets: %w", err)
	}
	if script := k.file(pageScript); script != nil {
		k.script = strings.Join(append([]string{k.script}, more...), "\n")
		script.Body = []byte(k.script)
	}
	if worker := k.file(workerScript); worker != nil {
		k.worker = newlines(strings.Join(append([]string{string(loader), source}, beside...), "\n"))
		worker.Body = []byte(k.worker)
	}
	wasm := k.file(module)
	switch {
	case wasm == nil:
		return nil, ErrNotBuilt
	case k.script == "" || source == "":
		return nil, fmt.Errorf("assets: %s or %s is missing or empty", pageScript, workerScript)
	}
	k.files = append(k.files, File{Name: path.Join(assetFolder, stylesheet), Type: types[".css"], Body: []byte(k.style)})
	if k.packed = wasm.Gzip; k.packed == nil {
		if k.packed, err = zip(wasm.Body); err != nil {
			return nil, err
		}
	} else if plain, err := unzip(k.packed); err != nil || !bytes.Equal(plain, wasm.Body) {
		return nil, fmt.Errorf("assets: %s and its gzip form are of two builds: run make wasm", module)
	}
	return k, nil
}

// licensed puts a licence in front of a script, which then goes wherever the script goes.
func licensed(script, notice string) (string, error) {
	if notice == "" {
		return newlines(script), nil
	}
	if strings.Contains(notice, "*/") {
		return "", errors.New("the licence would end its comment")
	}
	return newlines("/*\n" + strings.TrimSuffix(notice, "\n") + "\n*/\n" + script), nil
}

// file finds a part by its name in the asset folder.
func (k *Kit) file(name string) *File {
	for i := range k.files {
		if k.files[i].Name == path.Join(assetFolder, name) {
			return &k.files[i]
		}
	}
	return nil
}

// Assets lists the files that the document of a served page or a static folder loads. They must not be changed.
func (k *Kit) Assets() []File { return k.files }

func optional(tree fs.FS, name string) ([]byte, error) {
	b, err := fs.ReadFile(tree, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

// newlines makes line ends what an HTML parser makes of them. Hashes are taken of the parsed text.
func newlines(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

func zip(data []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	err = w.Close()
	return b.Bytes(), err
}

// unzip gives what a packed form stands for.
func unzip(packed []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
