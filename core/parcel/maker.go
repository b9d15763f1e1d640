package parcel

import (
	"bytes"
	"errors"
	"fmt"
	"path"

	"github.com/rollscope/rollscope/core/pack"
	"github.com/rollscope/rollscope/core/redact"
)

// A Range is a stretch of a file's plain bytes: a row, or rows that follow each other, without the last line feed.
type Range struct{ Offset, Length int64 }

// A Maker makes the content of a bundle.
type Maker struct {
	plan   *Plan
	choice *Choice
	w      *pack.Writer
	rules  *redact.Redactor // nil for none
	names  []string         // by file
	left   []Left
	rows   pack.Rows
	made   []pack.Source

	learning bool
	file     int // that was begun, -1 for none
	wanted   []Range
	at       int64  // plain offset of the next byte of the file
	row      []byte // the line that has not ended, as far as it must be known
	open     bool   // a line was written that has not ended
	out      []byte
}

// NewMaker makes a Maker that writes to w.
func NewMaker(p *Plan, c *Choice, w *pack.Writer) *Maker {
	m := &Maker{plan: p, choice: c, w: w, names: p.names(), rows: c.Rows, file: -1}
	m.left = append(m.left, p.Left...)
	if len(c.Rules) > 0 {
		m.rules, m.learning = redact.New(c.Rules), true
	}
	return m
}

// Learns tells whether the rollouts files are to be learned before they are written.
func (m *Maker) Learns() bool { return m.learning }

// Redacts tells whether there are rules.
func (m *Maker) Redacts() bool { return m.rules != nil }

// Learned ends the learning. Names of files are known by now to hold what is redacted, or not.
func (m *Maker) Learned() {
	m.learning = false
	taken := map[string]bool{}
	for i, name := range m.names {
		free := m.rules.Text(name)
		if m.plan.files[i].Rollouts && path.Ext(free) != path.Ext(name) {
			free = path.Join(path.Dir(free), "rollouts.jsonl") // by their ending such files are known
		}
		m.names[i] = Unique(taken, free)
	}
}

// Begin begins a file. wanted are its rows that go along where the choice is about some of them, in the order of the
// file.
func (m *Maker) Begin(file int, wanted []Range) error {
	if file < 0 || file >= len(m.plan.files) || m.file >= 0 {
		return errors.New("there is no such file to begin")
	}
	end := int64(0)
	for _, r := range wanted {
		if r.Offset < end || r.Length < 1 {
			return errors.New("rows of one file do not follow each other")
		}
		end = r.Offset + r.Length
	}
	m.file, m.wanted, m.at = file, wanted, 0
	if m.learning {
		return nil
	}
	if m.some() && len(wanted) == 0 {
		m.left = append(m.left, Left{file, "none of its rows fits the filter"})
		return nil
	}
	m.w.Begin(m.names[file])
	return nil
}

// some tells whether not the whole of the file is wanted.
func (m *Maker) some() bool { return m.choice.Filtered && m.plan.files[m.file].Rollouts }

// Take takes plain bytes of the file that stand at an offset. What is not wanted may be left out.
func (m *Maker) Take(at int64, b []byte) error {
	if m.file < 0 {
		return errors.New("no file was begun")
	}
	if !m.some() {
		if at != m.at {
			return errGap
		}
		m.at += int64(len(b))
		return m.put(b)
	}
	for len(m.wanted) > 0 && len(b) > 0 {
		r := m.wanted[0]
		skip := min(r.Offset-at, int64(len(b)))
		if skip > 0 {
			at, b = at+skip, b[skip:]
			continue
		}
		if at > r.Offset && at != m.at {
			return errGap
		}
		n := min(r.Offset+r.Length-at, int64(len(b)))
		if err := m.put(b[:n]); err != nil {
			return err
		}
		at, b = at+n, b[n:]
		m.at = at
		if at == r.Offset+r.Length {
			if err := m.endLine(); err != nil {
				return err
			}
			m.wanted = m.wanted[1:]
		}
	}
	return nil
}

var errGap = errors.New("bytes of the file were left out")

// End ends the file that was begun.
func (m *Maker) End() error {
	if m.file < 0 {
		return errors.New("no file was begun")
	}
	defer func() { m.file = -1 }()
	if len(m.wanted) > 0 && m.some() {
		return errors.New("the file is shorter than when it was read")
	}
	if !m.some() && m.rules == nil {
		return nil // byte by byte
	}
	return m.endLine()
}

// put takes bytes that are wanted.
func (m *Maker) put(b []byte) error {
	if m.rules == nil {
		if len(b) == 0 {
			return nil
		}
		m.open = b[len(b)-1] != '\n'
		_, err := m.w.Write(b)
		return err
	}
	for len(b) > 0 {
		end := bytes.IndexByte(b, '\n')
		if end < 0 {
			m.row = append(m.row, b...)
			return nil
		}
		row := b[:end]
		if len(m.row) > 0 {
			m.row = append(m.row, row...)
			row = m.row
		}
		if err := m.line(row); err != nil {
			return err
		}
		m.row, b = m.row[:0], b[end+1:]
	}
	return nil
}

// endLine gives the last line its end where it has none.
func (m *Maker) endLine() error {
	switch {
	case m.rules == nil && m.open:
		m.open = false
		_, err := m.w.Write([]byte{'\n'})
		return err
	case len(m.row) > 0:
		err := m.line(m.row)
		m.row = m.row[:0]
		return err
	}
	return nil
}

// line learns or redacts a line, which comes without its line feed.
func (m *Maker) line(row []byte) error {
	blank := len(bytes.TrimSpace(row)) == 0
	if m.learning {
		if !blank {
			m.rules.Learn(row)
		}
		return nil
	}
	if blank {
		m.out = append(m.out[:0], row...)
	} else {
		out, ok := m.rules.Row(m.out[:0], row)
		if !ok {
			m.rows.Unreadable++
			m.rows.Kept--
			return nil
		}
		m.out = out
	}
	m.out = append(m.out, '\n')
	_, err := m.w.Write(m.out)
	return err
}

// Source notes what a file was, by the SHA-256 of its bytes as they lie there. Who redacts does not want it known.
func (m *Maker) Source(file int, size int64, sha256 string) {
	if m.rules != nil {
		return
	}
	name := m.names[file]
	if f := &m.plan.files[file]; f.Rollouts && f.Packed {
		name += packedEnding
	}
	m.made = append(m.made, pack.Source{Name: name, Size: size, SHA256: sha256})
}

// Finish hands the rest of the content over to be packed.
func (m *Maker) Finish() error { return m.w.Finish() }

// Index tells what the bundle is.
func (m *Maker) Index() *pack.Index {
	c := m.choice
	x := &pack.Index{Made: c.Made, By: c.By, Title: c.Title, Rows: m.rows, Sources: m.made, Files: m.w.Files(), Blocks: m.w.Blocks()}
	if c.Filtered {
		x.Filter = c.Filter
	}
	for _, l := range m.left {
		x.Left = append(x.Left, pack.Left{Name: m.names[l.File], Reason: l.Reason})
	}
	if c.Origin != nil {
		from := *c.Origin
		x.Origin = &from
	}
	if m.rules == nil {
		return x
	}
	x.Title, x.Filter = m.rules.Text(x.Title), m.rules.Text(x.Filter)
	if x.Origin != nil {
		x.Origin.ID, x.Origin.Filter = "", m.rules.Text(x.Origin.Filter)
	}
	x.Redaction = &pack.Redaction{Kept: m.rules.Kept(), Copies: m.rules.Copies()}
	for _, n := range m.rules.Counts() {
		x.Redaction.Rules = append(x.Redaction.Rules, pack.RuleCount{Action: n.Rule.Action.String(), Path: m.rules.Text(n.Rule.Path), Values: n.Values, Texts: n.Texts})
	}
	return x
}

// Notes say what was probably not meant, for the person who makes the bundle alone.
func (m *Maker) Notes() (list []string) {
	if m.rules == nil {
		return nil
	}
	if n := m.rows.Unreadable; n == 1 {
		list = append(list, "1 line cannot be read, so it cannot be redacted and was left out")
	} else if n > 1 {
		list = append(list, fmt.Sprintf("%d lines cannot be read, so they cannot be redacted and were left out", n))
	}
	all := int64(0)
	for _, n := range m.rules.Counts() {
		all += n.Values
		if n.Values == 0 {
			list = append(list, fmt.Sprintf("the rule %q decides about nothing: no value stands at its path, or later rules decide", n.Rule.Action.String()+" "+n.Rule.Path))
		}
	}
	if m.rules.Kept() == 0 && all > 0 {
		list = append(list, "the rules take everything out of the rows: no value stays as it was")
	}
	return list
}
