package view

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/jsonscan"
)

// Lined is one line of a file that is not read as rollouts, laid out.
type Lined struct {
	Title string
	Note  string
	Close string // link to the page without it
	Lines []RawLine
	Text  string // of a line that is no JSON
}

const (
	linePrefix  = "line:"
	lineBytes   = 256 << 10 // of a line that are shown
	lineOutline = 2000      // lines of its layout
)

// lineID names a line of a file in a State: number, first byte, file.
func lineID(path string, line, offset int64) string {
	return linePrefix + strconv.FormatInt(line, 10) + ":" + strconv.FormatInt(offset, 10) + ":" + path
}

// toLine is the link to a line: the page of a rollout, or the line itself beside what is looked at.
func (d *Desk) toLine(s State, c *selection, path string, line, offset int64) string {
	if line <= 0 {
		return ""
	}
	for i := range c.table.Sources() {
		if c.table.Name(i) == path {
			if ordinal, ok := c.table.Find(i, line); ok {
				return d.toRow(s, c, ordinal)
			}
			return ""
		}
	}
	file := d.fileNamed(path)
	if file < 0 || offset < 0 || offset >= d.files[file].Size {
		return ""
	}
	if s.Rollout != "" && s.Part == "attempts" {
		return s.With(func(s *State) { s.Open = append(withoutLines(s.Open), lineID(path, line, offset)) }).Href()
	}
	tab := s.Tab
	if tab != "coverage" || s.Rollout != "" {
		tab = "files"
	}
	return s.With(func(t *State) {
		if t.Tab != tab || t.Rollout != "" {
			*t = s.ToTab(tab)
		}
		t.Open = append(withoutLines(t.Open), lineID(path, line, offset))
	}).Href()
}

func (d *Desk) fileNamed(path string) int {
	for i := range d.listing.Entries {
		if e := &d.listing.Entries[i]; e.Name == path && e.SameAs < 0 {
			return i
		}
	}
	return -1
}

func withoutLines(open []string) []string {
	return slices.DeleteFunc(slices.Clone(open), func(id string) bool { return strings.HasPrefix(id, linePrefix) })
}

// lined lays the line out that a State has open, nil for none.
func (d *Desk) lined(s State) (*Lined, []Need) {
	i := slices.IndexFunc(s.Open, func(id string) bool { return strings.HasPrefix(id, linePrefix) })
	if i < 0 {
		return nil, nil
	}
	parts := strings.SplitN(strings.TrimPrefix(s.Open[i], linePrefix), ":", 3)
	if len(parts) != 3 {
		return nil, nil
	}
	line, err := strconv.ParseInt(parts[0], 10, 64)
	offset, bad := strconv.ParseInt(parts[1], 10, 64)
	l := &Lined{Title: "Line " + parts[0] + " of " + parts[2], Lines: []RawLine{},
		Close: s.With(func(s *State) { s.Open = withoutLines(s.Open) }).Href()}
	file := d.fileNamed(parts[2])
	if err != nil || bad != nil || line < 1 || file < 0 || offset < 0 || offset >= d.files[file].Size {
		l.Note = "It is not among the files that are open."
		return l, nil
	}
	need := Need{file, offset, min(d.files[file].Size-offset, lineBytes)}
	text, problem := d.line.data, d.line.err
	if !d.line.ok || d.line.need != need {
		whole, there := d.papers[file]
		if !there || offset != 0 || need.Length != d.files[file].Size {
			d.line = supplied{need: need}
			return l, []Need{need}
		}
		text, problem = whole.text, whole.problem
	}
	if problem != "" {
		l.Note = "It cannot be read: " + problem + "."
		return l, nil
	}
	whole := true
	if end := bytes.IndexByte(text, '\n'); end >= 0 {
		text = text[:end]
	} else {
		whole = offset+need.Length == d.files[file].Size
	}
	l.Note = fmt.Sprintf("byte %s, %s", Group(offset), count(len(text), "byte", "bytes"))
	v, failed := new(jsonscan.Scanner).Scan(jsonl.Trim(text))
	switch {
	case !whole:
		l.Note += fmt.Sprintf("; the first %s of it", Bytes(int64(len(text))))
		l.Text = string(text)
	case failed != nil:
		l.Note += "; it is no JSON"
		l.Text = string(text)
	default:
		o := NewOutline(v)
		l.Lines = o.Window(0, min(o.Len(), lineOutline), lookAt{hit: -1, line: -1})
		if o.Len() > lineOutline {
			l.Note += fmt.Sprintf("; the first %s of %s lines of its layout", Group(lineOutline), Group(o.Len()))
		}
	}
	return l, nil
}

// keepLine takes the bytes of the line that is looked at and tells whether they are.
func (d *Desk) keepLine(n Need, data []byte, problem string) bool {
	if d.line.ok || d.line.need != n || n.Length == 0 {
		return false
	}
	d.line = supplied{need: n, data: data, ok: true, err: problem}
	return true
}
