// Package jsonscan validates one JSON text and gives access to its parts without building a tree.
//
// A [Scanner] makes one validating pass over a line. It accepts and refuses exactly what the reference's
// parser does (spec run-folder §4.1): no NaN or Infinity, no lone half of a surrogate pair, no invalid
// UTF-8, no byte-order mark, no raw control character in a string, no leading zero, no float that
// overflows to infinity, nothing behind the value and no more than [MaxDepth] levels of nesting.
//
// While it validates, the scanner notes where the large parts end, what they hold and how deep they are,
// on a tape that stays a fraction of the text whatever the text. The result is a [Value], a span of the
// line together with that tape, so that walking past a large member costs nothing, and reading a nested
// one never starts over:
//
//	var s jsonscan.Scanner
//	row, err := s.Scan(line)
//	for m := row.Members(); m.Next(); {
//		switch string(m.Key) {
//		case "reward":
//			fmt.Println(m.Value.Kind(), string(m.Value.Raw()))
//		}
//	}
//
// Who wants certain members of an object gives their names once, as [Names], and takes them all in one walk by
// [Value.Gather]; that is several times as fast.
//
// Integers and floats are different kinds ([Int], [Float]) and keep their exact text. Where a key is
// repeated, members are given in the order of the text: a reader that assigns lets the last one win, as
// [Value.Get] does.
//
// Long lists of token ids need no walk to be counted or checked: [Value.Parts] knows how many elements an
// array has and of which kinds they are.
//
// Text is looked at eight bytes at a time. The one unsafe load this takes is in a file of its own; the
// build tag purego puts a portable one in its place.
//
// Values point into the scanned bytes and into the scanner. They die with the next Scan.
package jsonscan
