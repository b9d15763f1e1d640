package bundle

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/rollscope/rollscope/core/pack"
	"github.com/rollscope/rollscope/web"
)

// Names of what makes a static folder work without a network.
const (
	staticFolder = "static" // of the assets: what is for static folders alone
	serviceName  = "service.js"
	manifestName = "manifest.webmanifest"
	vectorIcon   = "icon.svg"
	bitmapIcon   = "icon.png"
)

// offline makes the files of a static folder whose viewer is kept by a service worker: the document, the manifest,
// the worker, the icons. kept are further files of the folder that are kept from the start; data is the folder of
// blocks that are kept as they are read, "" for none.
//
// Everything is of one version, a hash of all of it. The document asks for its assets under addresses with the
// version, so that no cache on the way gives those of another one.
func (k *Kit) offline(d web.DocumentOptions, kept []File, data string) ([]File, error) {
	if k.service == "" {
		return nil, fmt.Errorf("assets: %s/%s is missing or empty", staticFolder, serviceName)
	}
	d.CSP, d.Offline = Policy(Static, nil, nil), serviceName
	files := []File{{Name: manifestName, Type: types[".webmanifest"], Body: manifest(d.Bundle == "")}}
	for _, f := range slices.Concat(k.icons, k.files, kept) {
		if path.Ext(f.Name) != ".txt" { // licences are for who looks into the folder
			files = append(files, f)
		}
	}
	draft, err := k.linked(d, "", "")
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	part := func(name string, body []byte) { fmt.Fprintf(sum, "%s %x\n", name, sha256.Sum256(body)) }
	for _, f := range files {
		part(f.Name, f.Body)
	}
	part(documentName, draft)
	part(serviceName, []byte(k.service))
	part(data, nil)
	version := hex.EncodeToString(sum.Sum(nil))[:16]

	document := File{Name: documentName, Type: types[".html"]}
	if document.Body, err = k.linked(d, "", "?"+version); err != nil {
		return nil, err
	}
	list := map[string][2]string{}
	for _, f := range append(files, document) {
		sum := sha256.Sum256(f.Body)
		list[f.Name] = [2]string{f.Type, hex.EncodeToString(sum[:])}
	}
	var b bytes.Buffer
	for _, c := range []struct {
		name  string
		value any
	}{{"VERSION", version}, {"FILES", list}, {"DATA", data}} {
		text, err := json.Marshal(c.value) // maps are written in the order of their keys
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "const %s = %s;\n", c.name, text)
	}
	b.WriteString(k.service)
	return append([]File{document, files[0], {Name: serviceName, Type: types[".js"], Body: b.Bytes()}}, k.icons...), nil
}

// manifest is the web app manifest of a static folder. Its addresses are relative, so the folder may lie anywhere.
// A viewer without data of its own also opens files that the system hands it.
func manifest(handles bool) []byte {
	var b strings.Builder
	b.WriteString(`{
  "name": "Rollscope",
  "short_name": "Rollscope",
  "description": "A viewer for rollout evidence. Files are read in the browser; nothing is uploaded.",
  "start_url": "./",
  "scope": "./",
  "display": "standalone",
  "background_color": "#ffffff",
  "theme_color": "#0b5cad",
  "icons": [
    {"src": "` + path.Join(assetFolder, vectorIcon) + `", "sizes": "any", "type": "image/svg+xml", "purpose": "any"},
    {"src": "` + path.Join(assetFolder, bitmapIcon) + `", "sizes": "512x512", "type": "image/png", "purpose": "any maskable"}
  ]`)
	if handles {
		b.WriteString(`,
  "file_handlers": [{"action": "./", "accept": {"application/x-ndjson": [".jsonl", ".ndjson"]}}]`)
	}
	b.WriteString("\n}\n")
	return []byte(b.String())
}

// manifestLink is what a document says of its manifest.
func manifestLink(w io.Writer) error {
	return element(w, "link", attribute{"rel", "manifest"}, attribute{"href", manifestName})
}

// dataKept is the folder of the blocks that a service worker keeps as they are read: of no more than one file carries.
func dataKept(d Data) string {
	if d.Size > MaxSingle {
		return ""
	}
	return pack.Folder(d.ID) + "/"
}
