// Package engine is what the wasm module does behind its exports, in plain Go that knows no host.
//
// One module serves two roles. A scanning worker runs [Engine.Scan], Feed and Take over ranges of files. The
// desk, one worker a page, owns the list of files, adds the partials, and turns a State into HTML. Nothing
// here asks for bytes: an answer that needs some names them ("need"), and the host supplies them and asks
// again.
//
// # The boundary
//
// The module exports five functions; the same source builds for GOOS=js and as a wasip1 reactor.
//
//	version() int32          protocol version
//	buf(n) int32             address of an input buffer of at least n bytes
//	feed(n) int32            the next n bytes of the running scan are in the buffer: 0 go on, 1 range done, −1 failed
//	call(op, n) int32        an operation with n bytes of input: 0 done, 1 bytes are needed first, −1 failed
//	out(), outlen() int32    the answer of the last call, valid until the next; after a failure {"error","stack"}
//
// Operations (numbers are constants of this package):
//
//	OpScan    JSON {source, from, to, maxLine} begins a scan → JSON {next}: the first byte to feed
//	OpTake    → a partial, in its binary form, of the lines read since the last OpTake; empty if there are none
//	OpFinish  the source has ended → as OpTake
//	OpAdd     a partial → JSON {rows, complete}
//	OpBytes   JSON line {file, offset, length, problem} + LF + those bytes: answers a "need" → {}
//	OpCall    JSON {op, …} → JSON; the operations of the desk
//
// Operations of the desk (OpCall):
//
//	hello    {} → {version, protocol}
//	open     {files: [{path, size}], add} → {scan: [{source, file, size}]}; add keeps what is there
//	reset    {} → {}: back to the landing page
//	sample   {} → {files: [{path, data}]}: the embedded sample run, base64
//	render   {fragment, host, windows} → {fragment, phase, title, regions: {name: html}} or needs bytes
//	window   {fragment, host, table, from, to} → {html, from, total} or needs bytes
//	download {fragment, name} → bytes (raw) or needs bytes
//	copy     {fragment, what} → text (raw) or needs bytes
//
// A need is answered with {need: [{file, offset, length}]}: the host supplies those bytes with OpBytes and
// asks again. A region is sent only when its HTML differs from what was sent last.
package engine

// Protocol is the version of the boundary. Page and module must agree on it.
const Protocol = 1

// The operations of call.
const (
	OpScan = iota + 1
	OpTake
	OpFinish
	OpAdd
	OpBytes
	OpCall
)
