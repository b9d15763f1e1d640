package metrics

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/rollout"
)

// digest is a stored digest that was opened. Its texts are parts of the stored bytes.
type digest struct {
	state  State
	flags  byte
	task   index
	repeat index
	agent  []byte
	server []byte
	source []byte
	reward cell
	perf   byte
	perfs  [perfCount]cell
	top    []named
	usage  []named
	fields []field
}

// index is a task or rollout index as the row has it.
type index struct {
	kind  byte
	value uint64
	text  []byte
}

// cell is a stored value.
type cell struct {
	kind byte
	bits uint64 // magnitude, or the bits of a float
	text []byte // of what is not a number
}

type named struct {
	name []byte
	cell
}

// field is the value of a chosen field.
type field struct {
	kind jsonscan.Kind
	text []byte
}

// numeric tells whether the cell is a number; bools are.
func (c cell) numeric() bool { return c.kind >= cellFalse && c.kind <= cellSmall }

// whole tells whether a numeric cell is spelled as a whole number; bools are.
func (c cell) whole() bool { return c.kind >= cellFalse && c.kind <= cellNegative }

// float is the value of a numeric cell.
func (c cell) float() float64 {
	switch c.kind {
	case cellTrue:
		return 1
	case cellPositive, cellSmall:
		return float64(c.bits)
	case cellNegative:
		return -float64(c.bits)
	case cellFloat:
		return math.Float64frombits(c.bits)
	}
	return 0
}

// integer is the value of a whole cell.
func (c cell) integer() integer.Int {
	switch c.kind {
	case cellTrue:
		return integer.Of(1)
	case cellPositive, cellNegative:
		return integer.FromUint(c.kind == cellNegative, c.bits)
	}
	return integer.Int{}
}

// number is the value of a numeric cell with its spelling.
func (c cell) number() Number {
	if c.whole() {
		return exact(c.integer())
	}
	return Real(c.float())
}

// bad tells whether the index is neither a whole number nor a text.
func (x index) bad() bool { return x.kind == indexBad }

// key is the index as a key; a missing one counts as 0 (spec metrics §1).
func (x index) key() rollout.Key {
	switch x.kind {
	case indexText, indexBad:
		return rollout.TextKey(string(x.text))
	case indexPositive, indexNegative:
		return rollout.IntKey(jsonscan.Integer{Negative: x.kind == indexNegative, Magnitude: x.value})
	}
	return rollout.IntKey(jsonscan.Integer{})
}

// reader takes stored values from the front of b. After the first damage everything reads as zero.
type reader struct {
	b      []byte
	broken bool
}

func (r *reader) byte() byte {
	if len(r.b) == 0 {
		r.broken = true
		return 0
	}
	c := r.b[0]
	r.b = r.b[1:]
	return c
}

func (r *reader) uint() uint64 {
	n, size := binary.Uvarint(r.b)
	if size <= 0 {
		r.broken, r.b = true, nil
		return 0
	}
	r.b = r.b[size:]
	return n
}

func (r *reader) text() []byte {
	n := r.uint()
	if n > uint64(len(r.b)) {
		r.broken, r.b = true, nil
		return nil
	}
	text := r.b[:n:n]
	r.b = r.b[n:]
	return text
}

func (r *reader) index() (x index) {
	switch x.kind = r.byte(); x.kind {
	case indexMissing:
	case indexPositive, indexNegative:
		x.value = r.uint()
	case indexText, indexBad:
		x.text = r.text()
	default:
		r.broken = true
	}
	return x
}

func (r *reader) cell() (c cell) {
	switch c.kind = r.byte(); c.kind {
	case cellPositive, cellNegative, cellSmall:
		c.bits = r.uint()
	case cellFloat:
		if len(r.b) < 8 {
			r.broken, r.b = true, nil
			return c
		}
		c.bits = binary.LittleEndian.Uint64(r.b)
		r.b = r.b[8:]
	case cellOther:
		c.text = r.text()
	case cellFalse, cellTrue, cellNull, cellAbsent:
	default:
		r.broken = true
	}
	return c
}

func (r *reader) cells(dst []named) []named {
	for n := r.uint(); n > 0 && !r.broken; n-- {
		var c named
		switch i := r.uint(); {
		case i == 0:
			c.name = r.text()
		case i <= uint64(len(dictionary)):
			c.name = dictionaryBytes[i-1]
		default:
			r.broken = true
			return dst
		}
		c.cell = r.cell()
		dst = append(dst, c)
	}
	return dst
}

var dictionaryBytes = func() (list [len(dictionary)][]byte) {
	for i, name := range dictionary {
		list[i] = []byte(name)
	}
	return list
}()

// open reads a stored digest.
func (d *digest) open(stored []byte) error {
	r := reader{b: stored}
	if v := r.byte(); v != digestVersion || r.broken {
		return fmt.Errorf("%w: version %d", ErrDigest, v)
	}
	*d = digest{top: d.top[:0], usage: d.usage[:0], fields: d.fields[:0]}
	if d.state = State(r.byte()); d.state >= states || r.broken {
		return fmt.Errorf("%w: state %d", ErrDigest, d.state)
	}
	if d.state == Readable {
		d.flags = r.byte()
		d.task, d.repeat = r.index(), r.index()
		for _, t := range [...]struct {
			bit  byte
			text *[]byte
		}{{flagAgent, &d.agent}, {flagServer, &d.server}, {flagSource, &d.source}} {
			if d.flags&t.bit != 0 {
				*t.text = r.text()
			}
		}
		d.reward = r.cell()
		if d.flags&flagPerf != 0 {
			d.perf = r.byte()
			for i := range d.perfs {
				if d.perf>>i&1 != 0 {
					d.perfs[i] = r.cell()
				}
			}
		}
		d.top = r.cells(d.top)
		d.usage = r.cells(d.usage)
		for n := r.uint(); n > 0 && !r.broken; n-- {
			f := field{kind: jsonscan.Kind(r.byte())}
			switch {
			case f.kind > jsonscan.Object:
				r.broken = true
			case f.kind > jsonscan.Null:
				f.text = r.text()
			}
			d.fields = append(d.fields, f)
		}
	}
	if r.broken || len(r.b) > 0 {
		return ErrDigest
	}
	return nil
}
