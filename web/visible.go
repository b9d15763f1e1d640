package web

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/a-h/templ"
)

// A Run is a stretch of a text: plain characters, or the name of characters that cannot be seen.
type Run struct {
	Text  string // plain characters; "" in a run that has a Name
	Name  string // short name of what stands here: "RLO", "NUL×512", "U+FE01"
	Title string // code point, or the value of a byte that is not UTF-8
}

// Visible splits a text so that everything a reader could not see gets a run of its own: control characters,
// characters that change the direction, characters without width, and bytes that are not UTF-8. Line feeds and tabs
// are among them; use it where a text is one line.
func Visible(s string) []Run { return split(s, false) }

// VisibleLines is [Visible] for a text that is shown with its lines: line feeds and tabs stay as they are.
func VisibleLines(s string) []Run { return split(s, true) }

func split(s string, lines bool) []Run {
	var runs []Run
	from := 0
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if !hidden(r, size, lines) {
			i += size
			continue
		}
		if i > from {
			runs = append(runs, Run{Text: s[from:i]})
		}
		// Thousands of the same byte would make thousands of elements.
		unit, times := s[i:i+size], 1
		for strings.HasPrefix(s[i+times*size:], unit) {
			times++
		}
		one := named(r, unit)
		if times < 4 {
			for range times {
				runs = append(runs, one)
			}
		} else {
			one.Name += "×" + strconv.Itoa(times)
			runs = append(runs, one)
		}
		i += times * size
		from = i
	}
	if from < len(s) {
		runs = append(runs, Run{Text: s[from:]})
	}
	return runs
}

// hidden tells whether a rune, decoded from size bytes, needs a name to be seen.
func hidden(r rune, size int, lines bool) bool {
	switch {
	case r >= 0x20 && r < 0x7f:
		return false
	case r == '\n' || r == '\t':
		return !lines
	case r == utf8.RuneError:
		return size == 1
	case r < 0xa0:
		return true
	}
	return unicode.Is(unseen, r) || unicode.Is(unicode.Cf, r)
}

// unseen has the characters without ink that are no format characters by their category: line and paragraph
// separators, joiners and fillers that count as letters or marks, and variation selectors.
var unseen = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x034f, Hi: 0x034f, Stride: 1},
		{Lo: 0x115f, Hi: 0x1160, Stride: 1},
		{Lo: 0x17b4, Hi: 0x17b5, Stride: 1},
		{Lo: 0x180b, Hi: 0x180f, Stride: 1},
		{Lo: 0x2028, Hi: 0x2029, Stride: 1},
		{Lo: 0x2065, Hi: 0x2065, Stride: 1},
		{Lo: 0x3164, Hi: 0x3164, Stride: 1},
		{Lo: 0xfe00, Hi: 0xfe0f, Stride: 1},
		{Lo: 0xffa0, Hi: 0xffa0, Stride: 1},
		{Lo: 0xfff0, Hi: 0xfff8, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0xe0000, Hi: 0xe0fff, Stride: 1},
	},
}

// c0 names the control characters below the space.
var c0 = [...]string{
	"NUL", "SOH", "STX", "ETX", "EOT", "ENQ", "ACK", "BEL", "BS", "TAB", "LF", "VT", "FF", "CR", "SO", "SI",
	"DLE", "DC1", "DC2", "DC3", "DC4", "NAK", "SYN", "ETB", "CAN", "EM", "SUB", "ESC", "FS", "GS", "RS", "US",
}

// short names the characters that have a well-known abbreviation.
var short = map[rune]string{
	0x7f: "DEL", 0x85: "NEL", 0xad: "SHY", 0x034f: "CGJ", 0x061c: "ALM",
	0x200b: "ZWSP", 0x200c: "ZWNJ", 0x200d: "ZWJ", 0x200e: "LRM", 0x200f: "RLM",
	0x2028: "LS", 0x2029: "PS", 0x202a: "LRE", 0x202b: "RLE", 0x202c: "PDF", 0x202d: "LRO", 0x202e: "RLO",
	0x2060: "WJ", 0x2066: "LRI", 0x2067: "RLI", 0x2068: "FSI", 0x2069: "PDI", 0xfeff: "BOM",
}

func named(r rune, unit string) Run {
	if r == utf8.RuneError && len(unit) == 1 {
		value := fmt.Sprintf("0x%02X", unit[0])
		return Run{Name: value, Title: "byte " + value + ", not UTF-8"}
	}
	title := fmt.Sprintf("U+%04X", r)
	switch {
	case int(r) < len(c0):
		return Run{Name: c0[r], Title: title}
	case short[r] != "":
		return Run{Name: short[r], Title: title}
	}
	return Run{Name: title, Title: title}
}

// text writes a text of one line.
func text(s string) templ.Component { return written(s, false) }

// lines writes a text with its lines.
func lines(s string) templ.Component { return written(s, true) }

func written(s string, keep bool) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		return writeVisible(w, s, keep)
	})
}

func writeVisible(w io.Writer, s string, keep bool) error {
	if clean(s, keep) {
		_, err := io.WriteString(w, templ.EscapeString(s))
		return err
	}
	var b strings.Builder
	for _, run := range split(s, keep) {
		if run.Name == "" {
			b.WriteString(templ.EscapeString(run.Text))
			continue
		}
		b.WriteString(`<span class="ctl" title="` + run.Title + `">⟨` + run.Name + `⟩</span>`)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func clean(s string, keep bool) bool {
	for i := 0; i < len(s); {
		if c := s[i]; c >= 0x20 && c < 0x7f {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if hidden(r, size, keep) {
			return false
		}
		i += size
	}
	return true
}

// plain is a text for an attribute, where no element can stand: names are put in brackets.
func plain(s string) string {
	if clean(s, true) {
		return s
	}
	var b strings.Builder
	for _, run := range VisibleLines(s) {
		if run.Name == "" {
			b.WriteString(run.Text)
		} else {
			b.WriteString("⟨" + run.Name + "⟩")
		}
	}
	return b.String()
}

// prose writes a sentence of the product's own, in which backquotes enclose what is shown in monospace.
func prose(s string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		for i, part := range strings.Split(s, "`") {
			open, shut := "", ""
			if i%2 == 1 {
				open, shut = "<code>", "</code>"
			}
			if _, err := io.WriteString(w, open); err != nil {
				return err
			}
			if err := writeVisible(w, part, true); err != nil {
				return err
			}
			if _, err := io.WriteString(w, shut); err != nil {
				return err
			}
		}
		return nil
	})
}
