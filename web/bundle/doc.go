// Package bundle makes the deliveries of the page out of its parts: what the server hands out, a folder for any
// static host, and one HTML file that needs no host at all.
//
// Its nouns: a [Kit] holds the parts, read once from the embedded assets. A [Delivery] is a way the page reaches a
// browser; each has a content security policy of its own, and all of them stand in the table [Deliveries]. A [File]
// is one file of a delivery with its media type and, where they were made beforehand, its packed forms.
//
//	kit, err := bundle.Load(web.Assets(), web.Stylesheet()) // ErrNotBuilt without the module
//	files, err := kit.Folder()                               // index.html, assets/…
//	html, err := kit.Single()
//
// Everything here is a function of the parts; nothing is read from or written to a disk.
package bundle
