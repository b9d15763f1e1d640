package web

import (
	"embed"
	"io/fs"
)

//go:embed assets
var embedded embed.FS

// Assets is the tree of the files that the page's document loads:
//
//	page.js                   the page's script, a classic script; the other scripts beside it are parts of it and are
//	                          delivered behind it under its name, in the order of their names:
//	  crew.js  scan.js        workers, the desk; scanners, the second scan
//	  intake.js               drops, dialogs, folders, the sample
//	  view.js  lists.js       drawing; windows of long tables and transcripts
//	  notices.js              what the page says on its own account
//	  actions.js  commands.js what clicks and keys do
//	  filter.js  grid.js  table.js
//	  offline.js             the copy that a service worker keeps, newer versions
//	  settings.js            lists and boxes that set something of a tab
//	  kept.js  recent.js      what the browser keeps: out, in and back; what was opened before
//	  views.js  notes.js      saved views; notes on rollouts
//	  search.js              the search in all transcripts
//	  share.js               what is open as one file
//	worker.js                 the source of the workers, without its loader; worker.share.js and others like it follow it
//	built/wasm_exec.js        the loader that the Go toolchain ships
//	built/rollscope.wasm      the module, with .gz and .br forms beside it
//	static/                   what a static folder has beside its document: service.js, the source of its service worker,
//	                          and the icons of its manifest
//	any other file            delivered under its own name
//
// The folder built is empty in a fresh clone: "make wasm" fills it.
//
// How page.js finds its parts is the same in every delivery (package bundle makes them all):
//
//   - Where page.js has an address (document.currentScript.src), "worker.js" and "rollscope.wasm" lie beside it.
//     That worker.js is the loader followed by the source, so the text of one fetch is a whole Blob worker.
//   - Where it is inlined, the element #rollscope-worker holds that same text, and #rollscope-wasm the module:
//     base64 of its gzip form. Both are <script type="text/plain">.
//   - What stands behind a question mark in the address of page.js is the version; it asks for its parts with the same.
//   - <html data-offline="service.js"> names the service worker of a static folder.
//   - <html data-runs="/runs"> names the list of runs that the server hands out; without it there is none.
func Assets() fs.FS {
	sub, err := fs.Sub(embedded, "assets")
	if err != nil {
		panic(err) // the name is a constant and valid
	}
	return sub
}
