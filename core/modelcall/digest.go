package modelcall

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/trajectory/lax"
)

// ErrDigest means that a digest is damaged or of another version.
var ErrDigest = errors.New("call digest is damaged or of another version")

// A Digest is an opened digest of a row's calls: call Next, then look at Call.
type Digest struct {
	Source Source
	Len    int // calls
	Call   Summary

	words []string
	b     []byte
	next  int
	last  float64
	bad   bool
}

// Open opens what a Mapper made. It can be opened any number of times.
func Open(b []byte) (*Digest, error) {
	if len(b) < 2 || b[0] != digestVersion || b[1] > byte(SourceTrajectory) {
		return nil, ErrDigest
	}
	d := &Digest{Source: Source(b[1]), b: b[2:]}
	if d.Source == SourceNone {
		if len(d.b) > 0 {
			return nil, ErrDigest
		}
		return d, nil
	}
	calls, words := d.uvarint(), d.uvarint()
	// A call takes three bytes at least, a word one.
	if d.bad || calls > uint64(len(d.b))/3 || words > uint64(len(d.b)) {
		return nil, ErrDigest
	}
	d.Len = int(calls)
	d.words = make([]string, words)
	for i := range d.words {
		n := d.uvarint()
		if d.bad || n > uint64(len(d.b)) {
			return nil, ErrDigest
		}
		d.words[i], d.b = string(d.b[:n]), d.b[n:]
	}
	return d, nil
}

// Count is the number of calls in a digest, without opening it; 0 of a damaged one.
func Count(b []byte) int {
	if len(b) < 3 || b[0] != digestVersion {
		return 0
	}
	n, size := binary.Uvarint(b[2:])
	if size <= 0 || n > uint64(len(b))/3 {
		return 0
	}
	return int(n)
}

// Err tells whether the digest turned out to be damaged.
func (d *Digest) Err() error {
	if d.bad {
		return ErrDigest
	}
	return nil
}

// Next moves to the next call and tells whether there is one.
func (d *Digest) Next() bool {
	if d.bad || d.next == d.Len {
		if !d.bad && len(d.b) > 0 {
			d.bad = true
		}
		return false
	}
	if len(d.b) < 3 {
		d.bad = true
		return false
	}
	bits := uint64(d.b[0]) | uint64(d.b[1])<<8 | uint64(d.b[2])<<16
	d.b = d.b[3:]
	if bits&^uint64(knownBits) != 0 {
		d.bad = true
		return false
	}
	c := &d.Call
	*c = Summary{Index: d.next}
	d.next++
	if bits&hasStarted != 0 {
		c.Started = lax.RealOf(d.time())
		d.last = c.Started.Value
	}
	if bits&hasCompleted != 0 {
		c.Completed = lax.RealOf(d.time())
	}
	if bits&hasLatency != 0 {
		c.LatencyMS = lax.RealOf(d.scaled(100))
	}
	if bits&hasTTFT != 0 {
		c.TTFTMS = lax.RealOf(d.scaled(100))
	}
	for _, one := range [...]struct {
		to  *lax.Count
		bit uint64
	}{{&c.TokensIn, hasIn}, {&c.TokensOut, hasOut}, {&c.TokensReasoning, hasReasoning}, {&c.TokensTotal, hasTotal}, {&c.Cached, hasCached}} {
		if bits&one.bit != 0 {
			*one.to = lax.Count{Int: integer.FromUint(false, d.uvarint()), Set: true}
		}
	}
	if bits&hasStatus != 0 {
		c.Status = lax.CountOf(d.varint())
	}
	for _, one := range [...]struct {
		to  *string
		bit uint64
	}{
		{&c.Model, hasModel}, {&c.Server, hasServer}, {&c.Dialect, hasDialect}, {&c.Finish, hasFinish},
		{&c.Category, hasCategory}, {&c.ResponseStatus, hasResponseStatus},
	} {
		if bits&one.bit == 0 {
			continue
		}
		n := d.uvarint()
		if d.bad || n >= uint64(len(d.words)) {
			d.bad = true
			return false
		}
		*one.to = d.words[n]
	}
	if bits&hasTools != 0 {
		n := d.uvarint()
		if n > math.MaxInt32 {
			d.bad = true
		}
		c.Tools = int(n)
	}
	if bits&hasTurn != 0 {
		n := d.uvarint()
		if n == 0 || n > math.MaxInt32 {
			d.bad = true
		}
		c.Turn = int(n)
	}
	if bits&hasInvocation != 0 {
		n := d.uvarint()
		if d.bad || n >= uint64(len(d.words)) {
			d.bad = true
			return false
		}
		c.Invocation = d.words[n]
	}
	return !d.bad
}

// Seek moves on to a call by its place, from 0, and tells whether it is there. It never goes back.
func (d *Digest) Seek(index int) bool {
	for d.next <= index {
		if !d.Next() {
			return false
		}
	}
	return d.next == index+1
}

func (d *Digest) uvarint() uint64 {
	n, size := binary.Uvarint(d.b)
	if size <= 0 {
		d.bad = true
		d.b = nil
		return 0
	}
	d.b = d.b[size:]
	return n
}

func (d *Digest) varint() int64 {
	n, size := binary.Varint(d.b)
	if size <= 0 {
		d.bad = true
		d.b = nil
		return 0
	}
	d.b = d.b[size:]
	return n
}

// whole reads a float as a multiple, or by its bits; ok is false for the latter.
func (d *Digest) whole() (n int64, x float64, ok bool) {
	n = d.varint()
	if n&1 == 0 {
		return n / 2, 0, true
	}
	if len(d.b) < 8 {
		d.bad = true
		d.b = nil
		return 0, 0, false
	}
	x = math.Float64frombits(binary.LittleEndian.Uint64(d.b))
	d.b = d.b[8:]
	return 0, x, false
}

func (d *Digest) scaled(scale float64) float64 {
	n, x, ok := d.whole()
	if ok {
		return float64(n) / scale
	}
	return x
}

func (d *Digest) time() float64 {
	const scale = 1000
	n, x, ok := d.whole()
	if ok {
		return (math.Round(d.last*scale) + float64(n)) / scale
	}
	return x
}
