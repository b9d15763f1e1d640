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
const stored = 2

// ErrStored means that bytes are no stored row of this version.
var ErrStored = errors.New("no stored row")

// The marks of a stored row, in front of those that say which of its texts are there.
const (
	markPlainID = 1 << iota // the id is made of the two indices as they stand
	markElapsed
	markNoID
	markTexts = iota
)

// Append stores the row. Its place is not part of it, since whoever stores rows knows their places.
//
// The stored form is a version, the file, the kind of evidence, the flags, the marks, the texts that are there each
// behind its length, the bits of the elapsed time, and what a structured failure holds.
func (r *Row) Append(dst []byte) []byte {
	marks, texts := uint64(0), r.texts()
	for i, on := range [...]bool{r.plainID(), r.Elapsed != 0, r.NoID} {
		if on {
			marks |= 1 << i
		}
	}
	for i, t := range texts {
		if len(*t) > 0 && (i > 0 || marks&markPlainID == 0) {
			marks |= 1 << (markTexts + i)
		}
	}
	dst = append(dst, stored, byte(r.File), byte(r.Evidence))
	dst = binary.AppendUvarint(dst, uint64(r.Flags))
	dst = binary.AppendUvarint(dst, marks)
	for i, t := range texts {
		if marks>>(markTexts+i)&1 != 0 {
			dst = binary.AppendUvarint(dst, uint64(len(*t)))
			dst = append(dst, *t...)
		}
	}
	if marks&markElapsed != 0 {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(r.Elapsed))
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

// plainID tells whether the id is that of the indices as they stand.
func (r *Row) plainID() bool {
	n := len(r.Task)
	return n > 0 && len(r.Rollout) > 0 && len(r.ID) == n+1+len(r.Rollout) &&
		string(r.ID[:n]) == string(r.Task) && r.ID[n] == '-' && string(r.ID[n+1:]) == string(r.Rollout)
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
	if head := p.take(3); len(head) == 3 && head[0] == stored && head[1] <= byte(Results) && head[2] <= byte(outcome.Unrouted) {
		row.File, row.Evidence = File(head[1]), outcome.Evidence(head[2])
	} else {
		return Row{}, b, ErrStored
	}
	row.Flags = Flags(p.number())
	marks := p.number()
	row.NoID = marks&markNoID != 0
	for i, t := range row.texts() {
		if marks>>(markTexts+i)&1 != 0 {
			*t = p.text()
		}
	}
	if marks&markPlainID != 0 {
		row.ID = make([]byte, 0, len(row.Task)+1+len(row.Rollout))
		row.ID = append(append(append(row.ID, row.Task...), '-'), row.Rollout...)
	}
	if marks&markElapsed != 0 {
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
