package jsonscan

import (
	"bytes"
	"math/bits"
	"slices"
)

// Kind tells what a [Value] is. The zero Kind belongs to a value that is not there.
type Kind uint8

// The kinds of the value model. Int and Float are told apart as the reference does: a literal without
// fraction and exponent is an Int if it fits −2^63 … 2^64−1 and a Float otherwise.
const (
	Absent Kind = iota
	Null
	Bool
	Int
	Float
	String
	Array
	Object
)

var kindNames = [...]string{"absent", "null", "bool", "int", "float", "string", "array", "object"}

// String gives the lower-case name of the kind.
func (k Kind) String() string { return kindNames[k] }

// Kinds is a set of kinds, one bit each.
type Kinds uint8

// Has tells whether the set holds k.
func (s Kinds) Has(k Kind) bool { return s>>k&1 != 0 }

// Within tells whether the set holds nothing but the kinds given; the empty set always does.
func (s Kinds) Within(kinds ...Kind) bool {
	for _, k := range kinds {
		s &^= 1 << k
	}
	return s == 0
}

// A Value is one JSON value inside a scanned text. The zero Value is absent.
type Value struct {
	doc     *doc
	at, end uint32
	note    note
}

// A note is what else is known of a value, in one word: a struct of more than four fields is not kept in
// registers. It is made of the number of the first mark at or behind the value, its first byte, and a bit
// for strings that are known to have no escapes. That of an absent value is zero.
type note uint64

const plainBit note = 1 << 40

func noteOf(mark uint32, first byte) note { return note(mark) | note(first)<<32 }

func (v Value) mark() uint32 { return uint32(v.note) }
func (v Value) first() byte  { return byte(v.note >> 32) }

// Exists tells whether the value is there at all; null exists.
func (v Value) Exists() bool { return v.doc != nil }

// Offset is the position of the value's first byte in the scanned text.
func (v Value) Offset() int { return int(v.at) }

// Len is the length of the value's text in bytes.
func (v Value) Len() int { return int(v.end - v.at) }

// Raw is the value's text as written. It must not be changed or kept.
func (v Value) Raw() []byte {
	if v.doc == nil {
		return nil
	}
	return v.doc.text[v.at:v.end:v.end]
}

// Kind tells what the value is.
func (v Value) Kind() Kind {
	switch v.first() {
	case 0:
		return Absent
	case '{':
		return Object
	case '[':
		return Array
	case '"':
		return String
	case 'n':
		return Null
	case 't', 'f':
		return Bool
	}
	return numberKind(v.doc.text[v.at:v.end])
}

// IsNull tells whether the value is null or absent, the two forms of "nothing" that most readers treat alike.
func (v Value) IsNull() bool { return v.first() == 0 || v.first() == 'n' }

// IsObject, IsArray and IsString are quick forms of a comparison with [Value.Kind].
func (v Value) IsObject() bool { return v.first() == '{' }

// IsArray tells whether the value is an array.
func (v Value) IsArray() bool { return v.first() == '[' }

// IsString tells whether the value is a string.
func (v Value) IsString() bool { return v.first() == '"' }

// Truth is the value of a bool; ok is false for every other kind.
func (v Value) Truth() (truth, ok bool) {
	switch v.first() {
	case 't':
		return true, true
	case 'f':
		return false, true
	}
	return false, false
}

// Truthy follows the reference's language: null, false, zero, "", [] and {} are false, and so is an absent
// value; everything else is true.
func (v Value) Truthy() bool {
	switch v.Kind() {
	case Absent, Null:
		return false
	case Bool:
		return v.first() == 't'
	case Int:
		n, _ := v.Integer()
		return n.Magnitude != 0
	case Float:
		f, _ := v.Float()
		return f != 0
	case String:
		return v.end-v.at > 2
	}
	for _, c := range v.doc.text[v.at+1 : v.end-1] {
		if !space(c) {
			return true
		}
	}
	return false
}

// Height counts the levels of nesting below and including the value: 1 for a scalar or an empty
// container, 2 for an array of scalars.
func (v Value) Height() int {
	if !v.IsObject() && !v.IsArray() {
		return 1
	}
	if m := v.doc.marked(v.at, v.mark()); m != nil {
		return int(m.height)
	}
	return v.doc.height(v.at, v.end, v.mark())
}

// Parts counts the members of an object or the elements of an array, and tells of which kinds their values
// are. Repeated members count each. For a large container the answer is ready.
func (v Value) Parts() (count int, kinds Kinds) {
	switch {
	case v.IsObject():
		if m := v.doc.marked(v.at, v.mark()); m != nil {
			return int(m.count), m.kinds
		}
		for m := v.Members(); m.Next(); count++ {
			kinds |= 1 << m.Value.Kind()
		}
	case v.IsArray():
		if m := v.doc.marked(v.at, v.mark()); m != nil {
			return int(m.count), m.kinds
		}
		for e := v.Elements(); e.Next(); count++ {
			kinds |= 1 << e.Value.Kind()
		}
	}
	return count, kinds
}

// Get finds a member of an object by its exact name; the last of repeated ones wins. The result is absent
// when there is no such member or v is no object.
func (v Value) Get(key string) Value {
	var found Value
	for m := v.Members(); m.Next(); {
		if string(m.Key) == key {
			found = m.Value
		}
	}
	return found
}

// Is tells whether the value is exactly this string.
func (v Value) Is(s string) bool {
	// Decoding never makes a string longer, and at most six times shorter.
	if n := v.Len() - 2; !v.IsString() || n < len(s) || n/6 > len(s) {
		return false
	}
	inner, escapes := v.Escaped()
	if !escapes {
		return string(inner) == s
	}
	return string(unescape(nil, inner)) == s
}

// Text is the decoded content of a string, "" for any other kind.
func (v Value) Text() string {
	inner, escapes := v.Escaped()
	if !escapes {
		return string(inner)
	}
	return string(unescape(make([]byte, 0, len(inner)), inner))
}

// AppendText appends the decoded content of a string to dst; other kinds append nothing.
func (v Value) AppendText(dst []byte) []byte {
	inner, escapes := v.Escaped()
	if !escapes {
		return append(dst, inner...)
	}
	return unescape(slices.Grow(dst, len(inner)), inner)
}

// Escaped gives the string's content between its quotes, escapes as written, and whether there are any.
// It must not be changed or kept. Other kinds have none.
func (v Value) Escaped() (inner []byte, escapes bool) {
	if !v.IsString() {
		return nil, false
	}
	inner = v.doc.text[v.at+1 : v.end-1 : v.end-1]
	if v.note&plainBit != 0 {
		return inner, false
	}
	if m := v.doc.marked(v.at, v.mark()); m != nil {
		return inner, m.escapes
	}
	return inner, bytes.IndexByte(inner, '\\') >= 0
}

// Plain gives what Escaped gives for a string that is known to have no escapes; it looks for none.
func (v Value) Plain() (inner []byte, ok bool) {
	if v.note&plainBit == 0 || v.first() != '"' {
		return nil, false
	}
	return v.doc.text[v.at+1 : v.end-1 : v.end-1], true
}

// Small is the value of an [Int] of few digits without a sign; ok is false for every other value, and for
// one that stands at the end of the text.
func (v Value) Small() (n int64, ok bool) {
	size := int(v.end - v.at)
	if v.doc == nil || size > 8 || int(v.at)+8 > len(v.doc.text) {
		return 0, false
	}
	x := load(v.doc.text, int(v.at)) ^ zerosWord
	if bits.TrailingZeros64(noDigits(x))>>3 < size {
		return 0, false
	}
	// The digits move to the end of the word; pairs, fours and then all eight of them are joined.
	x <<= (8 - size) * 8
	x = x * (1 + 10<<8) >> 8 & 0x00FF00FF00FF00FF
	x = x * (1 + 100<<16) >> 16 & 0x0000FFFF0000FFFF
	return int64(x * (1 + 10000<<32) >> 32), true
}

// Integer is the value of an [Int]; ok is false for every other kind. −0 is 0.
func (v Value) Integer() (n Integer, ok bool) {
	if v.doc == nil {
		return n, false
	}
	return parseInteger(v.doc.text[v.at:v.end])
}

// Float is the nearest double of a number, Int or Float; ok is false for every other kind.
func (v Value) Float() (f float64, ok bool) {
	if c := v.first(); c != '-' && c-'0' > 9 {
		return 0, false
	}
	text := v.doc.text[v.at:v.end]
	if len(text) <= 15 {
		// Whole numbers of so few digits are doubles; this is the usual case and needs no conversion.
		if n, ok := parseInteger(text); ok {
			f = float64(n.Magnitude)
			if n.Negative {
				f = -f
			}
			return f, true
		}
	}
	return parseFloat(text), true
}
