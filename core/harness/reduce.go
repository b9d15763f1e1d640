package harness

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
)

// ErrEmpty means that there is no record to judge.
var ErrEmpty = errors.New("no records")

// A Refused says which line refuses an input. Its text names file and line, never content.
type Refused struct {
	Source string
	Line   int64 // physical line, from 1
	Offset int64 // of the first byte that cannot stand, in the source
	Reason string
}

// Error gives place and reason.
func (e *Refused) Error() string {
	return fmt.Sprintf("%s:%d: %s at byte %d", e.Source, e.Line, e.Reason, e.Offset)
}

// A Line is the digest of one line of a source, of what package jsonl calls one.
type Line struct {
	Source int    // position of its file in the run, from 0
	Name   string // of the file as it was given
	Number int64  // of the line, from 1
	Offset int64  // of its first byte
	Digest []byte // of the Mapper; the reduction keeps it
}

// A Reducer takes the lines of a run in order. Blank ones may be left out if their digest is empty.
type Reducer struct {
	// Lenient goes on behind lines that refuse the input and keeps why, so that a page can show what can be shown.
	Lenient  bool
	Refusals []*Refused

	names  []string
	source int // of the last line
	extra  int64
	rows   []reported
	d      digest
}

// reported is one record.
type reported struct {
	digest []byte
	line   int64 // physical
	number int64 // of the line it is part of
	source int32
	within int32 // physical line within that line
}

// NewReducer begins a reduction.
func NewReducer() *Reducer { return &Reducer{source: -1} }

// Add takes the next line. The error is a [*Refused] if the line refuses the input; nothing may be added then. It wraps
// [ErrDigest] if the digest cannot be read.
func (r *Reducer) Add(l Line) error {
	if l.Source != r.source {
		r.source, r.extra = l.Source, 0
		r.names = append(r.names, l.Name)
	}
	if len(l.Digest) == 0 {
		return nil
	}
	damaged := func() error { return fmt.Errorf("%s:%d: %w", l.Name, l.Number, ErrDigest) }
	if l.Digest[0] != lineVersion {
		return damaged()
	}
	in := reader{b: l.Digest[1:]}
	count := in.count()
	for len(in.b) > 0 && !in.bad {
		number := in.count()
		kind := in.byte()
		body := in.bytes()
		if in.bad || number >= count || number > math.MaxInt32 || kind > entryRefused {
			return damaged()
		}
		line := l.Number + r.extra + number
		if kind == entryRefused {
			why := reader{b: body}
			offset := why.count()
			refused := &Refused{Base(l.Name), line, l.Offset + offset, string(why.b)}
			if !r.Lenient {
				return refused
			}
			r.Refusals = append(r.Refusals, refused)
			continue
		}
		if r.d.open(body) != nil {
			return damaged()
		}
		r.rows = append(r.rows, reported{body, line, l.Number, int32(len(r.names) - 1), int32(number)})
	}
	if in.bad || count == 0 {
		return damaged()
	}
	r.extra += count - 1
	return nil
}

// Records is how many records were added.
func (r *Reducer) Records() int { return len(r.rows) }

// Report judges what was added. It is [ErrEmpty] if there was no record.
func (r *Reducer) Report(s Scope) (*Report, error) {
	if len(r.rows) == 0 {
		return nil, ErrEmpty
	}
	rep := &Report{names: r.names, rows: r.rows}
	return rep.Under(s), nil
}

// Base gives the last part of a path, which is how reports name a file wherever it lies.
func Base(path string) string {
	for i := len(path) - 1; i >= 0; i-- {
		if path[i] == '/' {
			return path[i+1:]
		}
	}
	return path
}

// Counts says how many records have which verdict.
type Counts struct{ Records, Fulfilled, NotFulfilled, NotApplicable int64 }

// Verdict is that of a batch with these counts.
func (c Counts) Verdict() Verdict {
	switch {
	case c.NotFulfilled > 0:
		return NotFulfilled
	case c.NotApplicable == c.Records:
		return NoVerdict
	}
	return Fulfilled
}

func (c *Counts) add(v Verdict) {
	c.Records++
	switch v {
	case Fulfilled:
		c.Fulfilled++
	case NotFulfilled:
		c.NotFulfilled++
	default:
		c.NotApplicable++
	}
}

func (c *Counts) merge(o Counts) {
	c.Records += o.Records
	c.Fulfilled += o.Fulfilled
	c.NotFulfilled += o.NotFulfilled
	c.NotApplicable += o.NotApplicable
}

// A CheckCount says what came of one check on some records. Failed and Blocked are both failures: Failed was evaluated.
type CheckCount struct{ Passed, Failed, Blocked, NotApplicable int64 }

// A Tally sums up records. Tallies of parts add up to that of the whole, in any order.
type Tally struct {
	Records      Counts // whole records; none is NotApplicable
	Capabilities [capabilities]Counts
	Checks       [Count]CheckCount
	Tokens       Tokens
}

// Merge adds the records of another tally.
func (t *Tally) Merge(o *Tally) {
	t.Records.merge(o.Records)
	for i := range t.Capabilities {
		t.Capabilities[i].merge(o.Capabilities[i])
	}
	for i := range t.Checks {
		c, d := &t.Checks[i], &o.Checks[i]
		c.Passed += d.Passed
		c.Failed += d.Failed
		c.Blocked += d.Blocked
		c.NotApplicable += d.NotApplicable
	}
	for i := range t.Tokens {
		t.Tokens[i].Available += o.Tokens[i].Available
		t.Tokens[i].Calls += o.Tokens[i].Calls
	}
}

// Verdict is that of a batch of these records.
func (t *Tally) Verdict() Verdict {
	return fulfilled(t.Records.Records > 0 && t.Records.NotFulfilled == 0)
}

func (t *Tally) add(d *digest, s Scope) {
	applies, passes := d.standing(s)
	failing := d.failing(s, applies, passes)
	t.Records.add(fulfilled(applies == passes && applies != 0))
	for i := range t.Capabilities {
		t.Capabilities[i].add(capability(Capability(i+1), s, applies, passes))
	}
	for rest := every; rest != 0; rest &= rest - 1 {
		i := bits.TrailingZeros64(uint64(rest))
		c := &t.Checks[i]
		switch {
		case !applies.Has(i):
			c.NotApplicable++
		case passes.Has(i):
			c.Passed++
		case failing.Has(i):
			c.Failed++
		default:
			c.Blocked++
		}
	}
	for i := range t.Tokens {
		t.Tokens[i].Available += d.tokens[i]
		t.Tokens[i].Calls += d.calls
	}
}
