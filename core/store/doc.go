// Package store reads the files in which a run keeps itself: lines of rows, the run manifest, the materialized inputs
// (spec run-folder §4, recovery §1–3 and §5). It writes nothing; of a torn file it says what a repaired copy looks
// like.
//
// Its nouns: a *row* is a line that holds one JSON object. A *fault* is a line that holds none: cut, malformed, or
// another value. The *manifest* names the run and reserves attempts. A *digest* is the SHA-256 of a canonical text.
//
// The reference reads the materialized inputs in two ways, once as rows and once as text before a resume; [Inputs]
// follows both in one pass, and they are the same text until a line makes a difference.
//
//	var in store.Inputs
//	lines := jsonl.NewSplitter(0)
//	lines.Feed(chunk, func(l *jsonl.Line) bool { row, ok := in.Read(l); …; return true })
//	in.Record()  // the digest that the manifest must have
package store
