package analysis

import (
	"fmt"
	"sort"
)

// A second scan asks every row once more for something that its digest does not hold: what a person has just thought
// of. It runs over the same ranges as the first one, by the same machinery, and its answers come together in any
// order as well.

// Ask makes a scan that has not begun yet a second one. m keeps the answer for every row, refused lines included;
// query is the number of the question, not 0.
func (s *Scan) Ask(query uint64, m Mapper) *Scan {
	s.Keep(0)
	s.query, s.ask = query, m
	s.partial.Query = query
	return s
}

// A Passer is a Mapper of a second scan that can tell by the bytes of a line that it has no answer for it. Such a line is
// not read.
type Passer interface {
	Mapper
	Passes(line []byte) bool
}

// Answers are what a second scan has found so far.
type Answers struct {
	query   uint64
	sources []tableSource
}

// NewAnswers makes room for the answers to a question about so many sources.
func NewAnswers(query uint64, sources int) *Answers {
	return &Answers{query: query, sources: make([]tableSource, sources)}
}

// Query is the number of the question.
func (a *Answers) Query() uint64 { return a.query }

// Add takes a part of a second scan in. Parts may come in any order; ranges must not overlap.
func (a *Answers) Add(p *Partial) error {
	switch {
	case p.Query != a.query:
		return fmt.Errorf("%w: it answers another question", ErrPartial)
	case p.Source < 0 || p.Source >= len(a.sources):
		return fmt.Errorf("%w: source %d of %d", ErrPartial, p.Source, len(a.sources))
	case p.From == p.To:
		return nil
	}
	return a.sources[p.Source].add(p)
}

// Row gives the answer for a row by its number in its source; ok is false if it is not there yet.
func (a *Answers) Row(source int, number int64) (answer []byte, ok bool) {
	s := &a.sources[source]
	part := sort.Search(s.ready, func(i int) bool { return s.rows[i] > number }) - 1
	if part < 0 || number < 0 || number-s.rows[part] >= int64(s.parts[part].Rows()) {
		return nil, false
	}
	return s.parts[part].digest(int(number - s.rows[part])), true
}

// EachBlank calls f for the answers about blank lines of a source that are there, in order; before is the number of
// rows in front of the line.
func (a *Answers) EachBlank(source int, f func(before int64, answer []byte)) {
	s := &a.sources[source]
	for part := range s.ready {
		for _, k := range s.parts[part].blanks {
			f(s.rows[part]+int64(k.before), k.text)
		}
	}
}

// Each calls f for every answer that is there, in whatever order.
func (p *Partial) Each(f func(answer []byte)) {
	for i := range p.ends {
		f(p.digest(i))
	}
}

// Answered makes the answers of a part of a second scan anew: f appends to dst what is kept of each.
func (p *Partial) Answered(f func(dst, answer []byte) []byte) {
	digests, from := make([]byte, 0, 64), uint32(0)
	for i, end := range p.ends {
		digests = f(digests, p.digests[from:end])
		from, p.ends[i] = end, uint32(len(digests))
	}
	p.digests = digests
}

// A Range is a part of a source.
type Range struct{ From, To int64 }

// Missing gives the parts of a source in front of an offset that are not in yet, in order.
func (a *Answers) Missing(source int, upTo int64) []Range {
	return missing(a.sources[source].parts, upTo)
}

func missing(parts []*Partial, upTo int64) []Range {
	var list []Range
	at := int64(0)
	for _, p := range parts {
		if p.From > at && at < upTo {
			list = append(list, Range{at, min(p.From, upTo)})
		}
		at = max(at, p.To)
	}
	if at < upTo {
		list = append(list, Range{at, upTo})
	}
	return list
}

// Memory is the number of bytes the answers take.
func (a *Answers) Memory() int64 {
	n := int64(0)
	for i := range a.sources {
		for _, p := range a.sources[i].parts {
			n += int64(cap(p.digests)) + 4*int64(cap(p.ends))
		}
	}
	return n
}
