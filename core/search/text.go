package search

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// fold gives the character that stands for all with the same letter.
func fold(r rune) rune {
	if r < utf8.RuneSelf {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}
	// The least of the orbit, in small letters if that is one of ASCII.
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	if 'A' <= least && least <= 'Z' {
		least += 'a' - 'A'
	}
	return least
}

// In calls visit for the hits in a text as it is read, from left to right, until visit gives false: the places that a
// [Finder] gives for the same text.
func (s *Search) In(text string, visit func(start, end int) bool) { s.each([]byte(text), visit) }

// each calls visit for the hits in a decoded text, from left to right, none of them empty or inside another, until
// visit gives false.
func (s *Search) each(text []byte, visit func(start, end int) bool) {
	switch {
	case s.re != nil:
		s.eachMatch(text, visit)
	case s.folds != nil:
		s.eachFolded(text, visit)
	default:
		for at := 0; ; {
			i := bytes.Index(text[at:], []byte(s.literal))
			if i < 0 || !visit(at+i, at+i+len(s.literal)) {
				return
			}
			at += i + len(s.literal)
		}
	}
}

// fewMatches is how many matches of a text are listed at once.
const fewMatches = 256

func (s *Search) eachMatch(text []byte, visit func(start, end int) bool) {
	more := true
	list := s.re.FindAllIndex(text, fewMatches)
	last := -1 // start of the last match that was visited
	for _, m := range list {
		if last = m[0]; m[0] < m[1] && !visit(m[0], m[1]) {
			return
		}
	}
	if len(list) < fewMatches {
		return
	}
	// There may be as many as there are characters. They are too many for a list, so one is visited as it is replaced
	// by nothing; where it stands is told by the room behind it.
	s.re.ReplaceAllFunc(text, func(match []byte) []byte {
		start := cap(text) - cap(match)
		if start > last && len(match) > 0 && more {
			more = visit(start, start+len(match))
		}
		return nil
	})
}

func (s *Search) eachFolded(text []byte, visit func(start, end int) bool) {
	n := &s.needles[0]
	if n.run == nil || n.kin && related(text) {
		// Every place is tried.
		for at := 0; at < len(text); {
			if end := s.folded(text, at); end >= 0 {
				if !visit(at, end) {
					return
				}
				at = end
				continue
			}
			_, size := utf8.DecodeRune(text[at:])
			at += size
		}
		return
	}
	from := 0 // of what is not in a hit
	w := n.walk(text)
	for at := 0; ; {
		start := w.next(at)
		if start < 0 {
			return
		}
		at = start + 1
		for range s.lead {
			if start <= from {
				start = -1
				break
			}
			_, size := utf8.DecodeLastRune(text[from:start])
			start -= size
		}
		if start < from {
			continue
		}
		end := s.folded(text, start)
		if end < 0 {
			continue
		}
		if !visit(start, end) {
			return
		}
		from = end
		at = max(at, end)
	}
}

// folded gives the end of the literal that begins at start, −1 if none does.
func (s *Search) folded(text []byte, start int) int {
	at := start
	for _, want := range s.folds {
		if at == len(text) {
			return -1
		}
		r, size := rune(text[at]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(text[at:])
		}
		if fold(r) != want {
			return -1
		}
		at += size
	}
	return at
}
