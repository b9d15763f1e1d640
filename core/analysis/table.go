package analysis

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/rollscope/rollscope/core/packed"
	"github.com/rollscope/rollscope/core/rollout"
)

// A Table holds the digests of a list of sources. Partials are added in any order; rows are there as soon
// as everything before them is, so that their numbers never change.
type Table struct {
	sources []tableSource
}

type tableSource struct {
	name  string
	size  int64      // −1 while it is not known
	parts []*Partial // disjoint, by From
	ready int        // parts[:ready] follow each other from 0 on
	lines []int64    // lines before each ready part
	rows  []int64    // rows before each ready part
	total Account    // of the ready parts

	members []packed.Member // of a packed source, those that were met, in order
	damage  *packed.Damage
}

func (s *tableSource) reached() int64 {
	if s.ready == 0 {
		return 0
	}
	return s.parts[s.ready-1].To
}

// complete tells whether every byte of the source is in.
func (s *tableSource) complete() bool { return s.size >= 0 && s.reached() >= s.size }

// NewTable makes an empty table of the sources with these names and sizes, in their visible order. A size of −1
// is not known yet, as that of a packed source; the partial that ends it tells.
func NewTable(names []string, sizes []int64) *Table {
	t := &Table{sources: make([]tableSource, len(names))}
	for i := range names {
		t.sources[i].name, t.sources[i].size = names[i], sizes[i]
	}
	return t
}

// ErrPartial means that a partial does not belong into the table it was added to.
var ErrPartial = errors.New("partial does not fit")

// Adopt takes over what another table has read of the sources with the same numbers. Names and sizes stay
// those of t.
func (t *Table) Adopt(old *Table) {
	for i := range old.sources {
		name, size := t.sources[i].name, t.sources[i].size
		t.sources[i] = old.sources[i]
		t.sources[i].name = name
		if size >= 0 {
			t.sources[i].size = size
		}
	}
}

// Select makes a table of some of the sources in another order, without reading anything again. The two
// share their partials; the new one takes no more.
func (t *Table) Select(order []int) *Table {
	u := &Table{sources: make([]tableSource, len(order))}
	for i, source := range order {
		u.sources[i] = t.sources[source]
	}
	return u
}

// Add takes a partial in. Partials may come in any order; ranges must not overlap.
func (t *Table) Add(p *Partial) error {
	if p.Source < 0 || p.Source >= len(t.sources) {
		return fmt.Errorf("%w: source %d of %d", ErrPartial, p.Source, len(t.sources))
	}
	if p.Query != 0 {
		return fmt.Errorf("%w: it is of a second scan", ErrPartial)
	}
	s := &t.sources[p.Source]
	if s.size >= 0 && p.To > s.size {
		return fmt.Errorf("%w: range [%d, %d) of source %d goes beyond its end at %d", ErrPartial, p.From, p.To, p.Source, s.size)
	}
	if p.From < p.To {
		if err := s.add(p); err != nil {
			return err
		}
	}
	for _, m := range p.Members {
		at := sort.Search(len(s.members), func(i int) bool { return s.members[i].Packed >= m.Packed })
		if at == len(s.members) || s.members[at].Packed > m.Packed {
			s.members = slices.Insert(s.members, at, m)
		}
	}
	if p.Damage != nil {
		s.damage = p.Damage
	}
	if p.End && s.size < 0 {
		s.size = p.To
	}
	return nil
}

func (s *tableSource) add(p *Partial) error {
	at := sort.Search(len(s.parts), func(i int) bool { return s.parts[i].From >= p.From })
	if at > 0 && s.parts[at-1].To > p.From || at < len(s.parts) && s.parts[at].From < p.To {
		return fmt.Errorf("%w: range [%d, %d) of source %d is there already", ErrPartial, p.From, p.To, p.Source)
	}
	s.parts = append(s.parts, nil)
	copy(s.parts[at+1:], s.parts[at:])
	s.parts[at] = p
	s.follow()
	return nil
}

// follow counts the parts in that follow each other.
func (s *tableSource) follow() {
	for s.ready < len(s.parts) && s.parts[s.ready].From == s.reached() {
		s.lines = append(s.lines, s.total.Lines)
		s.rows = append(s.rows, s.total.Rows())
		s.total = s.total.Add(s.parts[s.ready].Account)
		s.ready++
	}
}

// Sources is the number of sources.
func (t *Table) Sources() int { return len(t.sources) }

// Name is the name of a source.
func (t *Table) Name(source int) string { return t.sources[source].name }

// Size is the size of a source in bytes, −1 while it is not known.
func (t *Table) Size(source int) int64 { return t.sources[source].size }

// Reached is how many bytes from the start of a source on are in.
func (t *Table) Reached(source int) int64 { return t.sources[source].reached() }

// Ended tells whether every byte of a source is in.
func (t *Table) Ended(source int) bool { return t.sources[source].complete() }

// Damage tells where a packed source cannot be read further, nil where it can.
func (t *Table) Damage(source int) *packed.Damage { return t.sources[source].damage }

// Member gives the last place in front of an offset of a packed source where reading can begin.
func (t *Table) Member(source int, offset int64) packed.Member {
	return packed.Before(t.sources[source].members, offset)
}

// Account counts the lines of a source that are in.
func (t *Table) Account(source int) Account { return t.sources[source].total }

// Total counts the lines of all sources that are in.
func (t *Table) Total() Account {
	var a Account
	for i := range t.sources {
		a = a.Add(t.sources[i].total)
	}
	return a
}

// Complete tells whether everything is in.
func (t *Table) Complete() bool {
	for i := range t.sources {
		if !t.sources[i].complete() {
			return false
		}
	}
	return true
}

// Rows is the number of rows that are there: those of the leading complete sources and of the first
// incomplete one as far as it is in.
func (t *Table) Rows() int {
	n := int64(0)
	for i := range t.sources {
		n += t.sources[i].total.Rows()
		if !t.sources[i].complete() {
			break
		}
	}
	return int(n)
}

// A Row is one row of the table.
type Row struct {
	Source         int
	Line           int64 // physical line from 1
	Offset, Length int64 // of the line in its source, without its line end
	Ordinal        int64 // among the non-blank lines of all sources, from 0
	Number         int64 // among those of its source, from 0
	digest         []byte
	sections       Sections
}

// Row finds a row by its ordinal; ok is false if it is not there.
func (t *Table) Row(ordinal int) (row Row, ok bool) {
	rest := int64(ordinal)
	if rest < 0 {
		return Row{}, false
	}
	for i := range t.sources {
		s := &t.sources[i]
		if n := s.total.Rows(); rest >= n {
			rest -= n
			if !s.complete() {
				break
			}
			continue
		}
		part := sort.Search(s.ready, func(i int) bool { return s.rows[i] > rest }) - 1
		return s.row(i, part, int(rest-s.rows[part]), int64(ordinal)), true
	}
	return Row{}, false
}

func (s *tableSource) row(source, part, i int, ordinal int64) Row {
	p := s.parts[part]
	return Row{
		Source: source, Line: s.lines[part] + int64(p.lines[i]) + 1,
		Offset: p.offsets[i], Length: int64(p.lengths[i]),
		Ordinal: ordinal, Number: s.rows[part] + int64(i), digest: p.digest(i), sections: p.Sections,
	}
}

// Find gives the ordinal of the row on a physical line of a source; ok is false for a blank line or one
// that is not there.
func (t *Table) Find(source int, line int64) (ordinal int, ok bool) {
	if source < 0 || source >= len(t.sources) {
		return 0, false
	}
	before := int64(0)
	for i := range source {
		before += t.sources[i].total.Rows()
	}
	s := &t.sources[source]
	part := sort.Search(s.ready, func(i int) bool { return s.lines[i] >= line }) - 1
	if part < 0 {
		return 0, false
	}
	local := line - 1 - s.lines[part]
	lines := s.parts[part].lines
	at := sort.Search(len(lines), func(i int) bool { return int64(lines[i]) >= local })
	if at == len(lines) || int64(lines[at]) != local {
		return 0, false
	}
	return int(before + s.rows[part] + int64(at)), true
}

// Each calls f for the rows from one ordinal on, in order, until it returns false.
func (t *Table) Each(from int, f func(*Row) bool) {
	ordinal := int64(0)
	var row Row
	for i := range t.sources {
		s := &t.sources[i]
		for part := range s.ready {
			n := int64(s.parts[part].Rows())
			if ordinal+n <= int64(from) {
				ordinal += n
				continue
			}
			for k := range int(n) {
				if ordinal >= int64(from) {
					row = s.row(i, part, k, ordinal)
					if !f(&row) {
						return
					}
				}
				ordinal++
			}
		}
		if !s.complete() {
			return
		}
	}
}

// Digest is what the scan kept of a row. A section that the scan did not keep is nil.
type Digest struct {
	Identity rollout.Identity // resolved
	Facts    rollout.Facts
	Health   []byte
	Metrics  []byte
	Records  []byte
}

// Digest opens the row's digest.
func (r *Row) Digest() (Digest, error) {
	var d Digest
	identity, rest, err := rollout.ParseIdentity(r.digest)
	if err != nil {
		return d, err
	}
	d.Identity = identity.Resolve(r.Ordinal, r.Source, r.Line)
	if d.Facts, rest, err = rollout.ParseFacts(rest); err != nil {
		return d, err
	}
	for i, section := range [sections]*[]byte{Health: &d.Health, Metrics: &d.Metrics, Records: &d.Records} {
		if !r.sections.Has(Section(i)) {
			continue
		}
		n, size := binary.Uvarint(rest)
		if size <= 0 || n > uint64(len(rest)-size) {
			return d, errPartial
		}
		*section, rest = rest[size:size+int(n):size+int(n)], rest[size+int(n):]
	}
	return d, nil
}
