// Package tolerant makes displayable JSON of a line that the validating reading refuses.
//
// Two readings stand side by side (design §4). The strict one decides every verdict and every number; what it
// refuses stays unreadable there. This one is for people who want to see the row all the same: it reads on
// where that is possible and keeps a list of what it changed. Nothing it gives may enter a number of a report.
//
// Its nouns: a *record* is an object on the line; there are several where an append lost its line end. A
// [Repair] is one change: its kind, the bytes of the line it is about, and where it stands in the record. Every
// [Kind] is an entry of a table that says what happens to it.
//
//	r := tolerant.Read([]byte("{\"reward\":NaN}"))
//	// r.Values[0] is {"reward":"NaN"}, r.Summary() "NaN or Infinity shown as text"
//
// Reading takes one pass over the line, keeps no more than [jsonscan.MaxDepth] levels, and every record it
// gives is accepted by [jsonscan.Scanner]. A repair never makes a number: what was none, or none that a double
// can hold, becomes a text.
package tolerant
