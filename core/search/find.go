package search

import (
	"unicode/utf8"

	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/rollout"
)

// A Hit is one place where the pattern was found.
type Hit struct {
	Pointer string // JSON pointer of the text in the row
	Part    Part
	Role    string // of a message
	Tool    string // name of the tool, of calls and results
	Call    string // their id
	Turn    int    // place of the turn as transcripts show it, from 1; 0 for none

	Text           int // offset of the text's opening quote in the row, in bytes
	Offset, Length int // of the hit in the decoded text, in bytes

	Before, Match, After string // the hit and the rest of its line, as much as [Options.Context] says
	Cut                  bool   // Match is not the whole of it
}

// longMatch bounds the text of a match that a Hit has, in bytes.
const longMatch = 1000

// A Finder looks for hits in one row after the other. It belongs to one goroutine.
type Finder struct {
	search *Search
	reader reader
	text   []byte
	places map[int]place
	trail  trail
	lines  int // of so many hits of a row the text is wanted, of all if it is negative
}

// Finder makes a finder.
func (s *Search) Finder() *Finder { return &Finder{search: s, lines: -1} }

// Row calls visit for the hits of a row until it gives false. A hit is valid during the call. A line that cannot be read
// has none.
func (f *Finder) Row(row *rollout.Row, visit func(*Hit) bool) {
	s := f.search
	if row.Problem != nil {
		return
	}
	f.trail = trail{row: row.Value, path: f.trail.path[:0]}
	var hit Hit
	more, lines := true, f.lines
	look := func(v jsonscan.Value, at func() place) {
		inner, escapes := v.Escaped()
		if !more || !s.Could(inner) {
			return
		}
		text := inner
		if escapes {
			f.text = v.AppendText(f.text[:0])
			text = f.text
		}
		known := false
		s.each(text, func(start, end int) bool {
			if !known {
				known = true
				p := at()
				if !s.options.Parts.Has(p.part) {
					return false
				}
				hit = Hit{Pointer: f.trail.pointer(v.Offset()), Part: p.part, Role: p.role, Tool: p.tool, Call: p.call, Turn: p.turn, Text: v.Offset()}
			}
			hit.Offset, hit.Length = start, end-start
			if hit.Before, hit.Match, hit.After, hit.Cut = "", "", "", false; lines != 0 {
				lines--
				hit.Before, hit.Match, hit.After, hit.Cut = around(text, start, end, s.options.Context)
			}
			more = visit(&hit)
			return more
		})
	}
	if !s.options.All && s.options.Under == "" {
		for _, t := range f.reader.read(row) {
			look(t.value, func() place { return t.place })
		}
		return
	}
	// What is said has a place in the conversation, which is looked for once there is a hit.
	ready := false
	each(follow(row.Value, s.options.Under), func(v jsonscan.Value) {
		look(v, func() place {
			if !ready {
				ready = true
				f.places = map[int]place{}
				for _, t := range f.reader.read(row) {
					f.places[t.value.Offset()] = t.place
				}
			}
			return f.places[v.Offset()]
		})
	})
}

// around gives a hit with the rest of its line, in characters at most.
func around(text []byte, start, end, most int) (before, match, after string, cut bool) {
	from := start
	for range most {
		if from == 0 || text[from-1] == '\n' {
			break
		}
		_, size := utf8.DecodeLastRune(text[:from])
		from -= size
	}
	to := end
	for range most {
		if to == len(text) || text[to] == '\n' {
			break
		}
		_, size := utf8.DecodeRune(text[to:])
		to += size
	}
	last := end
	if end-start > longMatch {
		last = start + longMatch
		for !utf8.RuneStart(text[last]) {
			last--
		}
		cut = true
	}
	return string(text[from:start]), string(text[start:last]), string(text[end:to]), cut
}
