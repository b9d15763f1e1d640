package report

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// visible writes characters that steer, hide or turn the direction of writing as their number; a document is one
// line a text.
func visible(s string) string {
	if utf8.ValidString(s) && strings.IndexFunc(s, hidden) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(s, "\uFFFD") {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			b.WriteByte(' ')
		case hidden(r):
			fmt.Fprintf(&b, "U+%04X", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func hidden(r rune) bool { return r != ' ' && !unicode.IsPrint(r) }

// text escapes what Markdown, and HTML inside it, would take for markup. Every such character may stand behind a
// backslash.
func text(s string) string {
	s = visible(s)
	var b strings.Builder
	for i, r := range s {
		switch {
		case strings.ContainsRune("\\`*[]<>|#&~$", r),
			r == '_' && !(wordAt(s[:i], utf8.DecodeLastRuneInString) && wordAt(s[i+1:], utf8.DecodeRuneInString)),
			i == 0 && strings.ContainsRune("-+=:", r),
			// An address is no link.
			r == ':' && strings.HasPrefix(s[i:], "://"), r == '.' && i > 2 && strings.EqualFold(s[i-3:i], "www"),
			// Digits at the start of a line make it an entry of a list.
			(r == '.' || r == ')') && i > 0 && strings.Trim(s[:i], "0123456789") == "" && (i+1 == len(s) || s[i+1] == ' '):
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// wordAt tells whether a text ends, or begins, with a letter or digit: an underscore between two of them is no markup.
func wordAt(s string, decode func(string) (rune, int)) bool {
	r, _ := decode(s)
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

// code writes a text in monospace. The fence is longer than any inside.
func code(s string) string {
	s = visible(s)
	if s == "" {
		return ""
	}
	longest, run := 0, 0
	for _, r := range s {
		if r == '`' {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
	}
	// In a table a bar ends the cell in a code span as well, unless it is escaped; behind a backslash readers differ.
	if strings.Contains(s, `\|`) {
		return text(s)
	}
	s = strings.ReplaceAll(s, "|", "\\|")
	fence := strings.Repeat("`", longest+1)
	if s[0] == '`' || s[len(s)-1] == '`' {
		return fence + " " + s + " " + fence
	}
	return fence + s + fence
}

// A printer keeps the first error.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) put(parts ...string) {
	for _, s := range parts {
		if p.err == nil {
			_, p.err = io.WriteString(p.w, s)
		}
	}
}

// WriteMarkdown writes the document as Markdown with tables, as code hosts read it.
func (d *Document) WriteMarkdown(w io.Writer) error {
	p := &printer{w: w}
	p.put("# ", text(d.Title), "\n")
	for _, line := range d.Lines {
		p.put("\n", text(line), "\n")
	}
	for i := range d.Sections {
		s := &d.Sections[i]
		p.put("\n## ", text(s.Title), "\n")
		if s.Number != "" {
			p.put("\n**", text(s.Number), "** ", text(s.Of), "\n")
		}
		if parts := s.parts(); len(parts) > 0 {
			p.put("\n", text(strings.Join(parts, " · ")), "\n")
		}
		if len(s.Lines) > 0 {
			p.put("\n")
			for _, l := range s.Lines {
				p.put("- ", text(l.join()), "\n")
			}
		}
		for _, t := range s.Tables {
			p.put("\n")
			if t.Title != "" {
				p.put(text(t.Title), ":\n\n")
			}
			t.markdown(p)
		}
		for _, note := range s.Notes {
			p.put("\n", text(note), "\n")
		}
	}
	return p.err
}

// parts says how a whole is split.
func (s *Section) parts() (list []string) {
	for _, part := range s.Parts {
		words := part.Text + " " + part.Word
		if part.Percent != "" {
			words += " (" + part.Percent + ")"
		}
		list = append(list, words)
	}
	return list
}

func (l *Line) join() string {
	s := l.Text
	if l.Value != "" {
		s += ": " + l.Value
	}
	if l.Note != "" {
		s += " (" + l.Note + ")"
	}
	return s
}

// more says how many rows are left out.
func (t *Table) more() string {
	if t.More == 0 {
		return ""
	}
	return fmt.Sprintf("and %d more", t.More)
}

func (t *Table) markdown(p *printer) {
	if len(t.Rows) == 0 {
		p.put(text(t.Empty), "\n")
		return
	}
	for _, c := range t.Columns {
		p.put("| ", text(c.Title), " ")
	}
	p.put("|\n")
	for _, c := range t.Columns {
		if c.Right {
			p.put("|--:")
		} else {
			p.put("|---")
		}
	}
	p.put("|\n")
	for _, row := range t.Rows {
		for i, cell := range row {
			if t.Columns[i].Mono {
				p.put("| ", code(cell), " ")
			} else {
				p.put("| ", text(cell), " ")
			}
		}
		p.put("|\n")
	}
	if more := t.more(); more != "" {
		p.put("\n", more, "\n")
	}
}
