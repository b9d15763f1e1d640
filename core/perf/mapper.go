package perf

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/modelcall"
	"github.com/rollscope/rollscope/core/rollout"
	"github.com/rollscope/rollscope/core/trajectory/lax"
	"github.com/rollscope/rollscope/core/value"
)

// The digest of a row is, one behind the other:
//
//	version   one byte
//	flags     one byte
//	numbers   of every name of ng_perf: its kind and value, only if the row has the object
//	elapsed   the observed seconds, if there are any
const digestVersion = 1

const (
	hasPerf = 1 << iota
	hasElapsed
	isFailure  // the row is of a failed rollout
	isBad      // ng_perf is there and no object
	knownFlags = 1<<iota - 1
)

// A Mapper makes digests of rows. The zero Mapper is ready.
type Mapper struct{}

// Append appends the digest of a row to dst. Its calls have a digest of their own.
func (*Mapper) Append(dst []byte, row *rollout.Row) []byte {
	dst = append(dst, digestVersion, 0)
	at := len(dst) - 1
	if row.Problem != nil {
		return dst
	}
	flags := byte(0)
	switch {
	case row.Perf.IsObject():
		flags |= hasPerf
		dst = appendNumbers(dst, row.Perf)
	case !row.Perf.IsNull():
		flags |= isBad
	}
	if seconds, ok := Elapsed(row.Value, row.Response); ok {
		flags |= hasElapsed
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(seconds))
	}
	if !row.Value.Get("_ng_failure_class").IsNull() {
		flags |= isFailure
	}
	dst[at] = flags
	return dst
}

func appendNumbers(dst []byte, object jsonscan.Value) []byte {
	var found [len(Names)]jsonscan.Value
	m := object.Members()
	for m.Next() {
		for i := range Names {
			if Names[i] == string(m.Key) {
				found[i] = m.Value
			}
		}
	}
	for _, v := range found {
		switch v.Kind() {
		case jsonscan.Absent:
			dst = append(dst, noNumber)
		case jsonscan.Int:
			n, _ := v.Integer()
			sign := byte(0)
			if n.Negative {
				sign = 0x80
			}
			dst = binary.AppendUvarint(append(dst, intNumber|sign), n.Magnitude)
		case jsonscan.Float:
			f, _ := v.Float()
			dst = binary.LittleEndian.AppendUint64(append(dst, floatNumber), math.Float64bits(f))
		default:
			dst = append(dst, badNumber)
		}
	}
	return dst
}

// Elapsed is the observed time of a rollout in seconds: what the row says of it, or else its response's metadata (spec
// perf §4).
func Elapsed(row, response jsonscan.Value) (seconds float64, ok bool) {
	for _, v := range [...]jsonscan.Value{row.Get("elapsed_seconds"), response.Get("metadata").Get("elapsed_seconds")} {
		if v.IsNull() {
			continue
		}
		if f, ok := lax.Float(v); ok && f > 0 {
			return f, true
		}
	}
	return 0, false
}

// ErrDigest means that a digest is damaged or of another version.
var ErrDigest = errors.New("performance digest is damaged or of another version")

// A digest is an opened digest.
type digest struct {
	flags   byte
	numbers Saved
	elapsed float64
}

func (d *digest) open(b []byte) error {
	if len(b) < 2 || b[0] != digestVersion || b[1]&^byte(knownFlags) != 0 {
		return ErrDigest
	}
	*d = digest{flags: b[1]}
	b = b[2:]
	if d.flags&hasPerf != 0 {
		for i := range d.numbers {
			if len(b) == 0 {
				return ErrDigest
			}
			kind := b[0]
			b = b[1:]
			n := &d.numbers[i]
			n.kind = kind &^ 0x80
			switch n.kind {
			case intNumber:
				magnitude, size := binary.Uvarint(b)
				if size <= 0 {
					return ErrDigest
				}
				n.Int, b = integer.FromUint(kind&0x80 != 0, magnitude), b[size:]
			case floatNumber:
				if len(b) < 8 {
					return ErrDigest
				}
				n.Float, b = math.Float64frombits(binary.LittleEndian.Uint64(b)), b[8:]
			case noNumber, badNumber:
			default:
				return ErrDigest
			}
		}
	}
	if d.flags&hasElapsed != 0 {
		if len(b) < 8 {
			return ErrDigest
		}
		d.elapsed, b = math.Float64frombits(binary.LittleEndian.Uint64(b)), b[8:]
	}
	if len(b) > 0 {
		return ErrDigest
	}
	return nil
}

// SavedOf takes the numbers of an `ng_perf` object.
func SavedOf(object value.Value) Saved {
	var s Saved
	for i, name := range Names {
		s[i] = NumberOf(object.Get(name))
	}
	return s
}

// latency is the measured time in seconds, if it is one.
func (d *digest) latency() (seconds float64, ok bool) {
	n := d.numbers[atLatency]
	if !n.Known() {
		return 0, false
	}
	seconds = n.Real() / 1000
	return seconds, seconds > 0 && !math.IsInf(seconds, 0)
}

// span is from the first start to the last end of a row's calls.
type span struct {
	start, end         float64
	started, ended     bool
	calls              int
	prompt, completion integer.Int // tokens
	model              string
}

func spanOf(b []byte) (span, error) {
	var s span
	d, err := modelcall.Open(b)
	if err != nil {
		return s, err
	}
	for d.Next() {
		c := &d.Call
		s.calls++
		if c.Started.Set && (!s.started || c.Started.Value < s.start) {
			s.start, s.started = c.Started.Value, true
		}
		if c.Completed.Set && (!s.ended || c.Completed.Value > s.end) {
			s.end, s.ended = c.Completed.Value, true
		}
		if c.TokensIn.Set {
			s.prompt = s.prompt.Add(c.TokensIn.Int)
		}
		if c.TokensOut.Set {
			s.completion = s.completion.Add(c.TokensOut.Int)
		}
		if s.model == "" {
			s.model = c.Model
		}
	}
	return s, d.Err()
}
