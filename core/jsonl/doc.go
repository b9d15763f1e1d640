// Package jsonl cuts a file that arrives in pieces into physical lines.
//
// A physical line ends at LF and nowhere else; a CR in front of it is content, and the rest behind the
// last LF is a line if it is not empty (spec run-folder §4.2, health §3). The lines of a file therefore
// partition its bytes: the sum of [Line.Size] over all lines is the size of the file, however it was cut
// into pieces.
//
//	s := jsonl.NewSplitter(0)
//	for chunk := range chunks {
//		s.Feed(chunk, read)
//	}
//	s.Finish(read)
//
// A line that lies inside one piece is given as a part of that piece, without a copy. A line that spans
// pieces is gathered first. Gathering costs twice the length of the line at most, since memory that a
// browser once gave to a module never comes back: the parts are kept as they came and joined once, into a
// buffer of the exact size.
//
// The package knows nothing of JSON. [Blank] and [Trim] are here because they use the white space of
// lines, six ASCII bytes, which is not the white space of JSON.
package jsonl
