package bundle

import (
	"bytes"
	"encoding/base64"
	"errors"
	"html"
	"io"
	"path"
	"regexp"
	"strconv"
	"sync"

	"github.com/rollscope/rollscope/core/pack"
	"github.com/rollscope/rollscope/core/view"
	"github.com/rollscope/rollscope/web"
)

// Data is what a viewer carries: an index, as package pack has it, and the packed blocks behind it.
type Data struct {
	Index  []byte
	ID     string // of the index
	Blocks int
	Size   int64 // of all packed blocks, in bytes
	Block  func(n int) ([]byte, error)
}

// MaxSingle is how many packed bytes one HTML file carries: browsers open a text of more with difficulty.
const MaxSingle = view.LargestParcel

// FolderWith makes the files of a static viewer that opens data, but for the blocks: they belong into
// [pack.Folder] of the id under their [pack.Name]. The document is the last file.
func (k *Kit) FolderWith(d Data) ([]File, error) {
	index := File{Name: path.Join(pack.Folder(d.ID), pack.IndexName), Type: types[".json"], Body: d.Index}
	files, err := k.folder(web.DocumentOptions{Mode: "bundle", Bundle: d.ID, Blocks: pack.Folder(d.ID) + "/"}, []File{index}, dataKept(d))
	if err != nil {
		return nil, err
	}
	return append(append(files[1:len(files):len(files)], index), files[0]), nil
}

// Ids of the elements that hold the data of a single file.
const (
	indexElement = "rollscope-bundle"
	blockElement = "rollscope-block-"
)

// WriteSingle writes the whole viewer and data as one document. Blocks stand behind the script, so that of a file
// that was cut the viewer and the index are there and say what is missing.
func (k *Kit) WriteSingle(w io.Writer, d Data) error {
	front, end, err := k.Around(d.Index, d.ID)
	if err != nil {
		return err
	}
	if _, err := w.Write(front); err != nil {
		return err
	}
	for n := range d.Blocks {
		packed, err := d.Block(n)
		if err != nil {
			return err
		}
		if _, err := w.Write(Element(n, packed)); err != nil {
			return err
		}
	}
	_, err = w.Write(end)
	return err
}

// Around gives what stands in front of the blocks in a single file, and behind them.
func (k *Kit) Around(index []byte, id string) (front, end []byte, err error) {
	document, err := k.single(web.DocumentOptions{Bundle: id}, embedded{indexElement, "text/plain", string(index)})
	if err != nil {
		return nil, nil, err
	}
	at := bytes.LastIndex(document, []byte("</body>"))
	if at < 0 {
		return nil, nil, errors.New("the document has no end")
	}
	return document[:at], document[at:], nil
}

// Element is the element of a single file that holds a packed block.
func Element(n int, packed []byte) []byte {
	b := []byte(`<script type="text/plain" id="` + blockElement + strconv.Itoa(n) + `">`)
	b = base64.StdEncoding.AppendEncode(b, packed)
	return append(b, "</script>\n"...)
}

// ErrNoData means that a document is a viewer without data, or no viewer at all.
var ErrNoData = errors.New("there is no bundle with data in it")

// They are made when a document is read: the page, which only writes one, goes without.
var (
	idAttribute     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[^>]*<html[^>]* data-bundle="([0-9a-f]{64})"`) })
	blocksAttribute = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`<html[^>]* data-blocks="([^"]*)"`) })
)

// A Document is what a document says about the data it opens.
type Document struct {
	ID     string
	Folder string // of index and blocks beside the document; "" where they stand in it
	text   []byte
	texts  map[string][]byte // by id of their element, nil where the file ends inside
}

// ReadDocument reads the document of a viewer.
func ReadDocument(text []byte) (*Document, error) {
	head := text[:min(len(text), 4096)]
	id := idAttribute().FindSubmatch(bytes.TrimPrefix(head, []byte("<!doctype html>")))
	if id == nil {
		return nil, ErrNoData
	}
	d := &Document{ID: string(id[1]), text: text}
	if folder := blocksAttribute().FindSubmatch(head); folder != nil {
		d.Folder = html.UnescapeString(string(folder[1]))
	}
	return d, nil
}

// Index gives the text of an index that stands in the document.
func (d *Document) Index() ([]byte, error) { return d.element(indexElement) }

// Block gives a packed block that stands in the document.
func (d *Document) Block(n int) ([]byte, error) {
	text, err := d.element(blockElement + strconv.Itoa(n))
	if err != nil {
		return nil, err
	}
	packed, err := base64.StdEncoding.DecodeString(string(text))
	if err != nil {
		return nil, errors.New("it is no base64")
	}
	return packed, nil
}

const elementStart = `<script type="text/plain" id="`

// element gives the text of an element, of several with one id the first.
func (d *Document) element(id string) ([]byte, error) {
	if d.texts == nil {
		d.texts = map[string][]byte{}
		for rest := d.text; ; {
			_, behind, found := bytes.Cut(rest, []byte(elementStart))
			if !found {
				break
			}
			name, body, _ := bytes.Cut(behind[:min(len(behind), 200)], []byte(`">`))
			body = behind[min(len(name)+len(`">`), len(behind)):]
			text, next, closed := bytes.Cut(body, []byte("</script>"))
			if !closed {
				text, next = nil, nil
			}
			if _, there := d.texts[string(name)]; !there {
				d.texts[string(name)] = text
			}
			rest = next
		}
	}
	switch text, there := d.texts[id]; {
	case !there:
		return nil, errors.New("it is not in this file")
	case text == nil:
		return nil, errors.New("the file ends in the middle of it")
	default:
		return text, nil
	}
}
