package view

import (
	"bytes"
	"sort"
	"unicode/utf8"

	"github.com/rollscope/rollscope/core/jsonscan"
)

// An Outline lays a JSON text out as lines, one member, element or bracket each, and remembers only where
// each line begins. Lines are made when they are looked at, so a row of a hundred megabytes costs a few
// bytes a line until then.
type Outline struct {
	text  []byte
	lines []outlineLine
	plain bool // the text is no JSON: its lines are its own
}

type outlineLine struct {
	at    uint32 // of the line's first byte
	depth uint16
}

// NewOutline lays out a valid JSON value. The outline keeps its text.
func NewOutline(v jsonscan.Value) *Outline {
	o := &Outline{text: v.Raw()}
	depth := uint16(0)
	fresh := true // the next token begins a line
	for i := 0; i < len(o.text); {
		switch c := o.text[i]; c {
		case ' ', '\t', '\n', '\r':
			i++
			continue
		case ',':
			fresh = true
			i++
			continue
		case '{', '[':
			if fresh {
				o.add(i, depth)
			}
			end := skipSpace(o.text, i+1)
			if o.text[end] == c+2 {
				// An empty container stays on its line.
				i, fresh = end+1, false
				continue
			}
			depth++
			fresh = true
			i++
		case '}', ']':
			depth--
			o.add(i, depth)
			fresh = false
			i++
		case ':':
			fresh = false
			i++
		case '"':
			if fresh {
				o.add(i, depth)
				fresh = false
			}
			i = stringAfter(o.text, i)
		default:
			if fresh {
				o.add(i, depth)
				fresh = false
			}
			i++
		}
	}
	return o
}

func (o *Outline) add(at int, depth uint16) {
	o.lines = append(o.lines, outlineLine{uint32(at), depth})
}

func skipSpace(text []byte, i int) int {
	for text[i] == ' ' || text[i] == '\t' || text[i] == '\n' || text[i] == '\r' {
		i++
	}
	return i
}

// stringAfter gives the offset behind the string that begins at i.
func stringAfter(text []byte, i int) int {
	for i++; text[i] != '"'; i++ {
		if text[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// Len is the number of lines.
func (o *Outline) Len() int { return len(o.lines) }

// LineAt finds the line that holds a byte of the text.
func (o *Outline) LineAt(offset int) int {
	n := sort.Search(len(o.lines), func(i int) bool { return int(o.lines[i].at) > offset })
	return max(n-1, 0)
}

// NewTextOutline lays out a text that is no JSON: line by line.
func NewTextOutline(text []byte) *Outline {
	o := &Outline{text: text, plain: true}
	for at := 0; ; {
		o.add(at, 0)
		end := bytes.IndexByte(text[at:], '\n')
		if end < 0 {
			return o
		}
		at += end + 1
	}
}

// foldAt is how many bytes of one value a line shows.
const foldAt = 2000

// Line gives one line as it is shown: key, value, and how many characters are left out.
func (o *Outline) Line(i int) RawLine {
	line, _, _ := o.line(i, 0)
	return line
}

// extent is the range of a line in the text, with the layout behind it.
func (o *Outline) extent(i int) (from, to int) {
	from, to = int(o.lines[i].at), len(o.text)
	if i+1 < len(o.lines) {
		to = int(o.lines[i+1].at)
	}
	return from, to
}

// line gives a line with the place in the text where what is shown of its key and of its value begins. Of a value that
// is too long the part around the byte at focus is shown.
func (o *Outline) line(i, focus int) (line RawLine, keyAt, textAt int) {
	from, to := o.extent(i)
	whole := o.text[from:to]
	line.Depth = int(o.lines[i].depth)
	// What stands between two lines, white space and a comma, is layout.
	part := bytes.TrimRight(whole, " \t\r\n,")
	keyAt, textAt = from, from
	if o.plain {
		part = bytes.TrimRight(whole, "\r\n")
		line.Kind = "text"
	} else {
		line.Comma = bytes.IndexByte(whole[len(part):], ',') >= 0
		if part[0] == '"' {
			end := stringAfter(part, 0)
			if rest := skipBlank(part[end:]); len(rest) > 0 && rest[0] == ':' {
				line.Key = string(part[:end])
				part = skipBlank(rest[1:])
				textAt = from + cap(whole) - cap(part)
			}
		}
		line.Kind = rawKind(part)
	}
	if len(part) > foldAt {
		start := 0
		if at := focus - textAt; at > foldAt/2 && at < len(part) {
			start = boundary(part, at-foldAt/4)
		}
		end := boundary(part, min(start+foldAt, len(part)))
		line.Before, line.Folded = utf8.RuneCount(part[:start]), utf8.RuneCount(part[end:])
		textAt += start
		part = part[start:end]
	}
	line.Text = string(part)
	return line, keyAt, textAt
}

// boundary is the last beginning of a character at or in front of a byte.
func boundary(b []byte, i int) int {
	for i > 0 && i < len(b) && !utf8.RuneStart(b[i]) {
		i--
	}
	return max(i, 0)
}

func skipBlank(b []byte) []byte { return bytes.TrimLeft(b, " \t\r\n") }

// rawKind names what a line holds, for its colour.
func rawKind(b []byte) string {
	switch {
	case len(b) == 0:
		return "text"
	case b[0] == '"':
		return "string"
	case b[0] == '{', b[0] == '[', b[0] == '}', b[0] == ']':
		return "bracket"
	case b[0] == 't', b[0] == 'f', b[0] == 'n':
		return "word"
	}
	return "number"
}

// A Span is a range of bytes.
type Span struct{ From, To int64 }

// A jsonSearch is a text that is looked for in an outline, and where it is.
type jsonSearch struct {
	length int
	at     []int // of the first byte of each place, in order
	more   bool  // there are more than are kept
}

// mostHits is how many places of a text are kept.
const mostHits = 100_000

// Search finds a text as it is written, in whichever case its ASCII letters are.
func (o *Outline) Search(what string) *jsonSearch {
	s := &jsonSearch{length: len(what)}
	if what == "" {
		return s
	}
	low := bytes.ToLower([]byte(what))
	first := low[0]
	upper := bytes.ToUpper(low[:1])[0]
	for i := 0; i+len(low) <= len(o.text); i++ {
		next := indexEither(o.text[i:len(o.text)-len(low)+1], first, upper)
		if next < 0 {
			break
		}
		i += next
		if !bytes.EqualFold(o.text[i:i+len(low)], low) {
			continue
		}
		if len(s.at) == mostHits {
			s.more = true
			break
		}
		s.at = append(s.at, i)
		i += len(low) - 1
	}
	return s
}

// indexEither finds the first of two bytes.
func indexEither(b []byte, x, y byte) int {
	i := bytes.IndexByte(b, x)
	if x == y {
		return i
	}
	if i >= 0 {
		b = b[:i]
	}
	if k := bytes.IndexByte(b, y); k >= 0 {
		return k
	}
	return i
}

// A lookAt says what of an outline is highlighted.
type lookAt struct {
	marks  []Span // ranges of the text, of findings
	search *jsonSearch
	hit    int // the place of the search that the page stands at, from 0; −1 for none
	line   int // the line that the page stands at, −1 for none
}

// Window gives the lines from one on, at most n.
func (o *Outline) Window(from, n int, look lookAt) []RawLine {
	from = min(max(from, 0), len(o.lines))
	to := from + min(max(n, 0), len(o.lines)-from)
	lines := make([]RawLine, 0, to-from)
	for i := from; i < to; i++ {
		start, end := o.extent(i)
		var hits []int
		focus := 0
		if s := look.search; s != nil && s.length > 0 {
			first := sort.Search(len(s.at), func(k int) bool { return s.at[k]+s.length > start })
			last := sort.Search(len(s.at), func(k int) bool { return s.at[k] >= end })
			hits = s.at[first:max(first, last)]
			if len(hits) > 0 {
				focus = hits[0]
			}
			if look.hit >= first && look.hit < last {
				focus = s.at[look.hit]
			}
		}
		line, keyAt, textAt := o.line(i, focus)
		for _, h := range hits {
			length := look.search.length
			now := look.hit >= 0 && h == look.search.at[look.hit]
			line.KeyHits = within(line.KeyHits, h-keyAt, length, len(line.Key), now)
			line.Hits = within(line.Hits, h-textAt, length, len(line.Text), now)
			if len(line.Hits) >= mostMarked {
				break
			}
		}
		for _, m := range look.marks {
			// A line begins with its key, a place with its value.
			if int64(start) < m.To && (int64(start) >= m.From || m.From < int64(end)) {
				line.Marked = true
			}
		}
		line.Current = i == look.line
		lines = append(lines, line)
	}
	return lines
}

// mostMarked is how many places of a search are marked in one line.
const mostMarked = 200

// within adds the part of a place that lies within a text of some length.
func within(list []Hit, at, length, size int, now bool) []Hit {
	from, to := max(at, 0), min(at+length, size)
	if from >= to {
		return list
	}
	return append(list, Hit{From: from, To: to, Now: now})
}
