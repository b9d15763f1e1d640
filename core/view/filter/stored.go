package filter

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/rollscope/rollscope/core/integer"
)

// errStored means that bytes are no stored Value.
var errStored = errors.New("damaged stored value")

// Append stores the value.
func (v Value) Append(dst []byte) []byte {
	dst = append(dst, byte(v.kind))
	switch v.kind {
	case boolean:
		return append(dst, byte(index(v.truth)))
	case whole:
		var room [32]byte
		digits := v.whole.Append(room[:0])
		return append(binary.AppendUvarint(dst, uint64(len(digits))), digits...)
	case float:
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(v.float))
	case text:
		return append(binary.AppendUvarint(dst, uint64(len(v.text))), v.text...)
	case list:
		dst = binary.AppendUvarint(dst, uint64(len(v.list)))
		for _, e := range v.list {
			dst = e.Append(dst)
		}
	}
	return dst
}

// ParseValue reads what Append stored and returns the rest of b.
func ParseValue(b []byte) (v Value, rest []byte, err error) { return parseValue(b, true) }

func parseValue(b []byte, outer bool) (v Value, rest []byte, err error) {
	if len(b) == 0 {
		return v, nil, errStored
	}
	kind := valueKind(b[0])
	b = b[1:]
	var n uint64
	if kind == whole || kind == text || kind == list {
		var size int
		if n, size = binary.Uvarint(b); size <= 0 || n > uint64(len(b)-size) {
			return v, nil, errStored
		}
		b = b[size:]
	}
	v.kind = kind
	switch kind {
	case missing, object:
		return v, b, nil
	case boolean:
		if len(b) == 0 || b[0] > 1 {
			return Value{}, nil, errStored
		}
		v.truth = b[0] == 1
		return v, b[1:], nil
	case whole:
		var ok bool
		if v.whole, ok = integer.Parse(string(b[:n])); !ok {
			return Value{}, nil, errStored
		}
		return v, b[n:], nil
	case float:
		if len(b) < 8 {
			return Value{}, nil, errStored
		}
		v.float = math.Float64frombits(binary.LittleEndian.Uint64(b))
		if math.IsNaN(v.float) {
			return Value{}, nil, errStored
		}
		return v, b[8:], nil
	case text:
		v.text = string(b[:n])
		return v, b[n:], nil
	case list:
		if !outer {
			break
		}
		v.list = make([]Value, 0, n)
		for range n {
			var e Value
			if e, b, err = parseValue(b, false); err != nil {
				return Value{}, nil, err
			}
			v.list = append(v.list, e)
		}
		return v, b, nil
	}
	return Value{}, nil, errStored
}
