package records

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/outcome"
	"github.com/rollscope/rollscope/core/schema"
)

// stored is the version of the stored form of rows.
const stored = 1

// ErrStored means that bytes are no stored row of this version.
var ErrStored = errors.New("no stored row")

// Append stores the row. Its place is not part of it, since whoever stores rows knows their places.
//
// The stored form is a version, the file, the kind of evidence, the flags, the texts each behind its length, the bits
// of the elapsed time, and what a structured failure holds.
func (r *Row) Append(dst []byte) []byte {
	noID := byte(0)
	if r.NoID {
		noID = 1
	}
	dst = append(dst, stored, byte(r.File), byte(r.Evidence), noID)
	dst = binary.AppendUvarint(dst, uint64(r.Flags))
	for _, t := range r.texts() {
		dst = binary.AppendUvarint(dst, uint64(len(*t)))
		dst = append(dst, *t...)
	}
	if r.Elapsed != 0 {
		dst = append(dst, 1)
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(r.Elapsed))
	} else {
		dst = append(dst, 0)
	}
	if !r.Is(Recorded) {
		return dst
	}
	dst = appendText(dst, r.RecordAttempt.String())
	dst = binary.AppendUvarint(dst, uint64(len(r.Faults)))
	for _, f := range r.Faults {
		dst = appendText(appendText(dst, f.Path), f.Type)
	}
	return dst
}

func (r *Row) texts() [17]*[]byte {
	return [...]*[]byte{
		&r.ID, &r.Task, &r.Rollout, &r.Attempt, &r.RunID, &r.Class, &r.Reward, &r.Agent,
		&r.Reason, &r.Kind, &r.Delivery, &r.Source, &r.Stage, &r.Status, &r.RecordID, &r.RecordRun, &r.RecordClass,
	}
}

func appendText(dst []byte, s string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(s)))
	return append(dst, s...)
}

// ParseRow reads what Append stored and returns the rest of b. The row keeps parts of b.
func ParseRow(b []byte) (row Row, rest []byte, err error) {
	p := parser{rest: b}
	if head := p.take(4); len(head) == 4 && head[0] == stored && head[1] <= byte(Results) && head[2] <= byte(outcome.Unrouted) && head[3] <= 1 {
		row.File, row.Evidence, row.NoID = File(head[1]), outcome.Evidence(head[2]), head[3] == 1
	} else {
		return Row{}, b, ErrStored
	}
	row.Flags = Flags(p.number())
	for _, t := range row.texts() {
		*t = p.text()
	}
	if has := p.take(1); len(has) == 1 && has[0] == 1 {
		if bits := p.take(8); len(bits) == 8 {
			row.Elapsed = math.Float64frombits(binary.LittleEndian.Uint64(bits))
		}
	}
	if row.Is(Recorded) {
		var ok bool
		if row.RecordAttempt, ok = integer.Parse(string(p.text())); !ok {
			p.bad = true
		}
		for n := p.number(); n > 0 && !p.bad; n-- {
			row.Faults = append(row.Faults, schema.Fault{Path: string(p.text()), Type: string(p.text())})
		}
	}
	if p.bad {
		return Row{}, b, ErrStored
	}
	return row, p.rest, nil
}

type parser struct {
	rest []byte
	bad  bool
}

func (p *parser) take(n uint64) []byte {
	if p.bad || n > uint64(len(p.rest)) {
		p.bad = true
		return nil
	}
	b := p.rest[:n:n]
	p.rest = p.rest[n:]
	return b
}

func (p *parser) number() uint64 {
	n, size := binary.Uvarint(p.rest)
	if p.bad || size <= 0 {
		p.bad = true
		return 0
	}
	p.rest = p.rest[size:]
	return n
}

func (p *parser) text() []byte {
	if b := p.take(p.number()); len(b) > 0 {
		return b
	}
	return nil
}
