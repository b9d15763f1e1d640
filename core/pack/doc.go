// Package pack is the form in which a bundle carries files: an index and blocks, each small enough to be fetched when
// somebody looks at it.
//
// Its nouns: the *content* is all files behind each other. A *block* is a stretch of it, packed with a [Codec]; it
// ends with a line where lines are not too long, so that a row lies in one block. The [Index] is a JSON document that says
// what the files are and which block holds what, with the SHA-256 of every packed block, and tells people when the
// bundle was made, from what, and what was left out of it. A bundle is known by its [ID], the SHA-256 of its index:
// whoever holds the id can tell that index and blocks are those that were written.
//
//	w := pack.NewWriter(put)                 // put stores a packed block
//	w.Begin("run/rollouts.jsonl"); w.Write(line); …
//	err := w.Finish()
//	index := pack.Index{…, Files: w.Files(), Blocks: w.Blocks()}
//
//	x, err := pack.Parse(text, id)
//	plain, err := x.Open(n, packed)          // a *Damage says which file and bytes are lost
//
// Blocks are read whole: no ranges and no headers of a server are needed.
package pack
