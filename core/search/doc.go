// Package search finds a text or a regular expression in what rollouts say: in the texts of a row as they are read
// by people, with the escapes of JSON decoded.
//
// Its nouns: a [Search] is a pattern with what belongs to it, shared by everybody. A [Finder] looks at one row after
// the other and gives every [Hit] with its place: the JSON pointer of the text, the turn, the offset in the decoded
// text, and the rest of the line around it.
//
//	s, err := search.New(search.Options{Pattern: "no such file", Literal: true, Fold: true})
//	f := s.Finder()
//	if s.Could(line) {
//		f.Row(row, func(h *search.Hit) bool { fmt.Println(h.Pointer, h.Match); return true })
//	}
//
// The texts of a row are its messages, reasoning, tool arguments and tool outputs, each once however often later
// questions repeat it, or all strings of the row if that is asked for.
//
// Most rows have no hit and should cost next to nothing. [Search.Could] looks at the bytes of a line as they are and
// lets those pass that may have one. It knows how JSON writes text: a character stands for itself, or as \uXXXX, and
// some as a backslash with a letter. So what is looked for is a stretch of characters that writers leave as they are;
// only a line with the odd escape of such a character must be read to be sure. Of a regular expression the parts count
// that every match must contain.
//
// Letter case is folded as in regular expressions: by Unicode's simple folding, character by character, so that the
// Kelvin sign is a k, the long s is an s, and ß is not ss.
package search
