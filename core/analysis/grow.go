package analysis

import (
	"encoding/binary"
	"slices"
)

// A source can grow behind the back of who reads it. Everything that was read of it stays but for a last line without a
// line end, of which more may have come: that one is taken out again and read from its start.

// tail is the last line of a partial that no line end follows.
type tail struct {
	offset  int64   // of its first byte
	account Account // of this line alone
	blanks  int     // answers about it that are kept as those of a blank line
}

func (t *tail) append(dst []byte) []byte {
	dst = t.account.append(binary.AppendUvarint(dst, uint64(t.offset)))
	return binary.AppendUvarint(dst, uint64(t.blanks))
}

// fits tells whether a stored tail can be that of its partial.
func (t *tail) fits(p *Partial) bool {
	rest := p.Account.minus(t.account)
	for _, n := range rest.fields() {
		if *n < 0 {
			return false
		}
	}
	return t.offset >= p.From && t.offset < p.To && t.account.Lines == 1 && t.account.Rows() >= 0 && t.account.Rows() <= 1 &&
		t.blanks >= 0 && t.blanks <= len(p.blanks)
}

// ended gives a partial without its last line, where that has no line end. p stays as it is.
func (p *Partial) ended() *Partial {
	t := p.tail
	if t == nil {
		return p
	}
	q := *p
	q.Account = p.Account.minus(t.account)
	rows := p.Rows() - int(t.account.Rows())
	q.ends = p.ends[:rows:rows]
	q.digests = p.digests[:0:0]
	if rows > 0 {
		q.digests = p.digests[:p.ends[rows-1]:p.ends[rows-1]]
	}
	if p.Query == 0 {
		q.lines, q.offsets, q.lengths = p.lines[:rows:rows], p.offsets[:rows:rows], p.lengths[:rows:rows]
	}
	blanks := len(p.blanks) - t.blanks
	q.blanks = p.blanks[:blanks:blanks]
	q.To, q.End, q.tail = t.offset, false, nil
	return &q
}

// Grow tells the table the size that a source has now, which is no smaller than what was read of it. A last line without
// a line end is no longer there afterwards; what is to be read are the [Table.Missing] ranges.
func (t *Table) Grow(source int, size int64) {
	s := &t.sources[source]
	parts := slices.Clone(s.parts) // tables that were selected share them
	for i, p := range parts {
		if p.tail == nil {
			continue
		}
		// What follows are ranges that this line runs through.
		if parts = parts[:i]; p.tail.offset > p.From {
			parts = append(parts, p.ended())
		}
		break
	}
	*s = tableSource{name: s.name, size: size, parts: parts, members: s.members, damage: s.damage}
	s.follow()
}

// Ending is the offset up to which what was read of a source still holds when it grows: where its last line begins, if
// that has no line end.
func (t *Table) Ending(source int) int64 {
	s := &t.sources[source]
	for _, p := range s.parts[:s.ready] {
		if p.tail != nil {
			return p.tail.offset
		}
	}
	return s.reached()
}

// Renew forgets what was read of a source whose content is another now. A size of -1 is not known yet.
func (t *Table) Renew(source int, size int64) {
	t.sources[source] = tableSource{name: t.sources[source].name, size: size}
}

// Missing gives the parts of a source of known size that are not in yet, in order.
func (t *Table) Missing(source int) []Range {
	return missing(t.sources[source].parts, t.sources[source].size)
}

// Grow gives the answers that still hold when sources have grown, with room for so many sources: those in front of the
// offset that kept names for a source.
func (a *Answers) Grow(sources int, kept func(source int) int64) *Answers {
	b := NewAnswers(a.query, sources)
	for i := range a.sources {
		upTo := kept(i)
		s := &b.sources[i]
		for _, p := range a.sources[i].parts {
			switch {
			case p.To <= upTo:
				s.parts = append(s.parts, p)
			case p.tail != nil && p.tail.offset == upTo && p.From < upTo:
				s.parts = append(s.parts, p.ended())
			}
		}
		s.follow()
	}
	return b
}
