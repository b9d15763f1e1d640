package view

import (
	"bytes"
	"sort"
	"strconv"
	"unicode/utf8"

	"github.com/rollscope/rollscope/core/jsonscan"
)

// An Outline lays a JSON text out as lines, one member, element or bracket each, and remembers only where
// each line begins. Lines are made when they are looked at, so a row of a hundred megabytes costs a few
// bytes a line until then.
type Outline struct {
	text  []byte
	lines []outlineLine
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

// foldAt is how many bytes of one value a line shows.
const foldAt = 2000

// Line gives one line as it is shown: key, value, and how many characters are left out.
func (o *Outline) Line(i int) RawLine {
	from := int(o.lines[i].at)
	to := len(o.text)
	if i+1 < len(o.lines) {
		to = int(o.lines[i+1].at)
	}
	// What stands between two lines, white space and a comma, is layout and not content.
	part := bytes.TrimRight(o.text[from:to], " \t\r\n,")
	line := RawLine{Depth: int(o.lines[i].depth)}
	if part[0] == '"' {
		end := stringAfter(part, 0)
		if rest := skipBlank(part[end:]); len(rest) > 0 && rest[0] == ':' {
			line.Key = string(part[:end])
			part = skipBlank(rest[1:])
		}
	}
	line.Kind = rawKind(part)
	if len(part) > foldAt {
		cut := foldAt
		for cut > 0 && !utf8.RuneStart(part[cut]) {
			cut--
		}
		line.Folded = utf8.RuneCount(part[cut:])
		part = part[:cut]
	}
	line.Text = string(part)
	return line
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

// Window gives the lines from one on, at most n; marks are byte ranges of the text that are highlighted.
func (o *Outline) Window(from, n int, marks []Span) []RawLine {
	from = min(max(from, 0), len(o.lines))
	to := min(from+n, len(o.lines))
	lines := make([]RawLine, 0, to-from)
	for i := from; i < to; i++ {
		line := o.Line(i)
		at := int64(o.lines[i].at)
		for _, m := range marks {
			if at >= m.From && at < m.To {
				line.Marked = true
			}
		}
		line.Pointer = strconv.Itoa(i)
		lines = append(lines, line)
	}
	return lines
}

// A Span is a range of bytes.
type Span struct{ From, To int64 }
