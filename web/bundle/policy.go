package bundle

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"
)

// A Delivery is a way the page reaches a browser.
type Delivery string

// The deliveries.
const (
	Served Delivery = "served" // by a server that sends the policy as a header
	Static Delivery = "static" // a folder on a static host; the document carries the policy
	Inline Delivery = "single" // one HTML file, opened from disk
)

// A DeliveryInfo explains a delivery.
type DeliveryInfo struct {
	Delivery Delivery
	Title    string
	Text     string
	policy   []directive
}

type directive struct {
	name    string
	sources string // keywords; the hashes of an inline delivery come in front
}

// Deliveries lists every delivery with its policy. Nothing is allowed that is not named.
//
// The module is fetched and compiled by the page itself, which needs connect-src 'self' and 'wasm-unsafe-eval'.
// Once it is compiled the page adds a meta policy with connect-src 'none'; workers are made from Blobs after that
// and inherit both. A worker with an address would follow the headers of its own file instead, so 'self' is no
// source of workers, but for the service worker of a static folder, which Blobs cannot make.
var Deliveries = []DeliveryInfo{
	{Served, "served page", "Assets come from the server that sent the page.", []directive{
		{"default-src", "'none'"},
		{"script-src", "'self' 'wasm-unsafe-eval'"},
		{"style-src", "'self'"},
		{"img-src", "'self' data: blob:"},
		{"worker-src", "blob:"},
		{"connect-src", "'self'"},
		{"manifest-src", "'self'"},
		{"base-uri", "'none'"},
		{"form-action", "'none'"},
		{"frame-ancestors", "'none'"}, // works in a header alone
	}},
	{Static, "static folder", "Assets lie beside the page on any static host.", []directive{
		{"default-src", "'none'"},
		{"script-src", "'self' 'wasm-unsafe-eval'"},
		{"style-src", "'self'"},
		{"img-src", "'self' data: blob:"},
		{"worker-src", "'self' blob:"},
		{"connect-src", "'self'"},
		{"manifest-src", "'self'"},
		{"base-uri", "'none'"},
		{"form-action", "'none'"},
	}},
	{Inline, "single file", "Everything is in one HTML file; nothing is fetched.", []directive{
		{"default-src", "'none'"},
		{"script-src", "'wasm-unsafe-eval'"},
		{"style-src", ""}, // nothing but the hashes
		{"img-src", "data: blob:"},
		{"worker-src", "blob:"},
		{"connect-src", "'none'"},
		{"base-uri", "'none'"},
		{"form-action", "'none'"},
	}},
}

// Policy gives the content security policy of a delivery. The texts of its inline scripts and styles are allowed
// by their hashes; they are given exactly as they stand between the tags.
func Policy(d Delivery, scripts, styles []string) string {
	inline := map[string][]string{"script-src": scripts, "style-src": styles}
	var b strings.Builder
	for _, info := range Deliveries {
		if info.Delivery != d {
			continue
		}
		for i, p := range info.policy {
			if i > 0 {
				b.WriteString("; ")
			}
			b.WriteString(p.name)
			for _, text := range inline[p.name] {
				sum := sha256.Sum256([]byte(text))
				b.WriteString(" 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'")
			}
			if p.sources != "" {
				b.WriteString(" " + p.sources)
			}
		}
	}
	return b.String()
}
