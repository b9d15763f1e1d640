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
//	feed(n) int32            the next n bytes of what was begun last, a scan or a slice, are in the buffer: 0 go on,
//	                         1 no more are needed, −1 failed
//	call(op, n) int32        an operation with n bytes of input: 0 done, 1 bytes are needed first, −1 failed
//	out(), outlen() int32    the answer of the last call, valid until the next; after a failure {"error","stack"}
//
// Operations (numbers are constants of this package):
//
//	OpScan    JSON {source, from, to, maxLine, packed, query} begins a scan → JSON {next}: the first byte to feed. A
//	          packed source is fed as it lies there, from its start; from and to count its plain bytes, and to may be
//	          −1, its end. With query {id, filter, probe, search} it is a second scan, see render
//	OpTake    → a partial, in its binary form, of the lines read since the last OpTake; empty if there are none
//	OpFinish  the source has ended → as OpTake; of a slice → nothing
//	OpAdd     a partial → JSON {rows, complete}
//	OpBytes   JSON line {file, offset, length, problem} + LF + those bytes: answers a "need" → {}
//	OpSlice   JSON {file, offset, length} begins to unpack what a "need" of a packed file names → JSON {next, done}:
//	          the first byte of the packed file to feed, unless it is done. What is unpacked answers the need
//	OpCall    JSON {op, …} → JSON; the operations of the desk
//	OpHash    the sampled blocks of a file, put together → their hash as text
//	OpBlock   JSON line {codec, size, packed, sha256, place} + LF + the bytes of a block of a bundle → its plain bytes
//	OpParcel  JSON line {op, …} + LF + bytes: a step of making a bundle, see below
//	OpWarm    scans the sample once and forgets it, so that the browser has compiled the scan well → {}
//
// Operations of the desk (OpCall):
//
//	hello    {} → {version, protocol}
//	open     {files: [{path, size}], add, bundle} → {scan: [{source, file, size, packed}]}; add keeps what is there,
//	         bundle tells that the files are those of the bundle that was told of before
//	bundle   {text, hash} → {files: [{path, size, at}], blocks: [{at, size, packed, sha256, place, name, codec}]}: the index
//	         of a bundle with the hash that it must have, "" for any
//	reset    {} → {}: back to the landing page
//	sample   {} → {files: [{path, data}]}: the embedded sample run, base64
//	render   {fragment, host, windows} → {fragment, phase, title, regions: {name: html}, query, audit} or needs
//	         bytes; query, where the filter, the tab or the search needs a second scan, is {id, filter, probe, search,
//	         scan: [{source, file, from, to, packed}]}: what is still to be scanned with that query. Another id ends the scan of the one
//	         before. audit tells that the operation of that name has something to do
//	audit    {} → {done} or needs bytes: a stretch of the comparison of all files with each other
//	grow     {changes: [{file, size, anew}], files: [{path, size}]} → {scan: [{source, file, from, to, packed}], anew: [file]}
//	         begins a step to what has become of files and to further ones; anew lists the rollouts files that are read
//	         from their start. What is scanned from here on belongs to the step, of which nothing is shown yet
//	grown    {} → {done} or needs bytes: a stretch of the comparison of the files of the step
//	step     {fragment} → {rows, fragment, sources: [file]}: goes over to the files of the step
//	still    {} → {}: gives the step up
//	where    {fragment, host, text} → {at}: the position in the Rollouts table of the row at a place, −1 for none
//	window   {fragment, host, table, from, to} → {html, from, total} or needs bytes; of the table "timeline" it is
//	         {seconds, rows, kinds, labels, data, letters, numbers}, see view.Spans
//	download {fragment, name} → bytes (raw) or needs bytes
//	copy     {fragment, what} → text (raw) or needs bytes
//	export   {fragment, host, table, form, from} → {text, ranges: [[file, offset, length]], next, total, done}
//	bytes    {file, offset, length} → those bytes of a file, unpacked (raw), or needs bytes
//	grid     {fragment, host, from, to} → cells of the grid of tasks (raw), see view.Desk.Cells
//	cell     {fragment, host, row, column} → {text, href, rollout}
//	offer    {fragment, host, text, cursor} → {html, before, after, count}: what can stand at the cursor of a filter
//	link     {fragment, host} → {fragment, hash: [file]}: a link that names its files, hash lists those to hash first
//	give     {fragment, host, what, text, title, size, length, take} → {all, some, html, ok, name, begin, wanted}: what a
//	         bundle would hold. what is "filter" for its rows alone, text are rules of redaction, size and length the plain
//	         and packed bytes of a sample; begin and wanted, where take is set, are what OpParcel needs
//	blocks   {size} → {blocks: [[offset, length]]}: what the sampled hash of a file is made of
//	hashed   {file, hash} → {}
//	notes    {notes: [{file, line, task, repeat, text, other}], add} → {}: the person's notes; with add they come beside those
//	         that are there, and an empty text takes one away
//	noted    {fragment, host} → {list: [{file, line, other, rollout, name, href}]}: the rows that the notes are on
//
// Steps of OpParcel, in an instance of its own:
//
//	begin    {files, filtered, filter, rows, origin, title, rules, made} → {learns, rollouts: [file], beside: [file]}
//	file     {file, wanted: [[offset, length]]} → {}: what is fed from here on is this file as it lies there, whole. A feed
//	         answers 1 where blocks wait to be packed
//	end      {} → {}: the file has ended
//	learned  {} → {}: where begin answered learns, rollouts are fed once in front of this step and once behind it
//	block    {} → the plain bytes of the next block that waits, nothing for none
//	packed   {n} + bytes → the element of a document that holds the block
//	finish   {} → {}: everything was fed; the last block waits
//	index    {} → {html, notes, id}: what is in the bundle, how many of it was probably not meant
//	front    {style, script, worker, libraries} + the module in gzip → the document up to its first block
//	behind   {} → what stands behind the last block
//
// A need is answered with {need: [{file, offset, length, packed}]}: the host supplies those bytes with OpBytes,
// or with OpSlice where they are packed, and asks again. A region is sent only when its HTML differs from what was sent last.
package engine

// Protocol is the version of the boundary. Page and module must agree on it.
const Protocol = 2

// The operations of call.
const (
	OpScan = iota + 1
	OpTake
	OpFinish
	OpAdd
	OpBytes
	OpCall
	OpSlice
	OpHash
	OpWarm
	OpBlock
	OpParcel
)
