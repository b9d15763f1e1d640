package value

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/jsontext"
)

// A Form says how a compact text writes floats, strings and the order of keys.
type Form struct {
	float   func([]byte, float64) []byte
	number  func([]byte, Value) []byte // instead of float, for all numbers
	text    func([]byte, string) []byte
	sorted  bool
	unifies bool // bools are numbers as well
}

// The forms. All but Plain sort keys by code point.
var (
	Plain     = &Form{float: jsontext.AppendRepr, text: jsontext.AppendQuoted[string]}                   // documents of this program
	Canonical = &Form{float: constant, text: jsontext.AppendQuoted[string], sorted: true}                // spec recovery §3
	Batch     = &Form{float: jsontext.AppendFloat, text: jsontext.AppendQuoted[string], sorted: true}    // spec batch-status §3
	BatchOld  = &Form{float: jsontext.AppendOldFloat, text: jsontext.AppendQuoted[string], sorted: true} // the older float text of §3.1
	Inner     = &Form{float: constant, text: ascii, sorted: true}                                        // spec batch-status §3.2
)

// constant writes floats as the reference's language does, with its words for what JSON lacks.
func constant(dst []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "NaN"...)
	case math.IsInf(f, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(f, -1):
		return append(dst, "-Infinity"...)
	}
	return jsontext.AppendRepr(dst, f)
}

// ascii quotes a string whose halves of surrogate pairs stand in it as three bytes each.
func ascii(dst []byte, s string) []byte {
	half := strings.IndexByte(s, surrogateLead)
	if half < 0 || utf8.ValidString(s) {
		return jsontext.AppendQuotedASCII(dst, s)
	}
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for s != "" {
		if r, ok := surrogate(s); ok {
			dst = append(dst, '\\', 'u', hex[r>>12], hex[r>>8&15], hex[r>>4&15], hex[r&15])
			s = s[3:]
			continue
		}
		_, size := utf8.DecodeRuneInString(s)
		quoted := jsontext.AppendQuotedASCII(nil, s[:size])
		dst = append(dst, quoted[1:len(quoted)-1]...)
		s = s[size:]
	}
	return append(dst, '"')
}

// surrogateLead is the first byte of half a surrogate pair in three bytes.
const surrogateLead = 0xED

// surrogate reads half a surrogate pair from the front of s.
func surrogate(s string) (rune, bool) {
	if len(s) < 3 || s[0] != surrogateLead || s[1] < 0xA0 || s[1] > 0xBF || s[2] < 0x80 || s[2] > 0xBF {
		return 0, false
	}
	return rune(s[0]&15)<<12 | rune(s[1]&63)<<6 | rune(s[2]&63), true
}

// Append appends the compact text of the value, null if it is absent.
func (v Value) Append(dst []byte, f *Form) []byte { return appendValue(dst, v, f) }

// String is the canonical text.
func (v Value) String() string { return string(v.Append(nil, Canonical)) }

func appendValue(dst []byte, v Value, f *Form) []byte {
	switch v.kind {
	case jsonscan.Bool:
		switch {
		case f.unifies:
			return f.number(dst, v)
		case v.bits != 0:
			return append(dst, "true"...)
		}
		return append(dst, "false"...)
	case jsonscan.Int:
		return appendInt(dst, v)
	case jsonscan.Float:
		if f.number != nil {
			return f.number(dst, v)
		}
		return f.float(dst, math.Float64frombits(v.bits))
	case jsonscan.String:
		if f.text == nil {
			return jsontext.AppendQuoted(dst, v.text)
		}
		return f.text(dst, v.text)
	case jsonscan.Array:
		dst = append(dst, '[')
		for i := range v.parts {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendValue(dst, v.parts[i].Value, f)
		}
		return append(dst, ']')
	case jsonscan.Object:
		dst = append(dst, '{')
		for i, m := range inOrder(v.parts, f.sorted) {
			if i > 0 {
				dst = append(dst, ',')
			}
			if f.text == nil {
				dst = jsontext.AppendQuoted(dst, m.Key)
			} else {
				dst = f.text(dst, m.Key)
			}
			dst = append(dst, ':')
			dst = appendValue(dst, m.Value, f)
		}
		return append(dst, '}')
	}
	return append(dst, "null"...)
}

func inOrder(members []Member, sorted bool) []Member {
	byKey := func(a, b Member) int { return strings.Compare(a.Key, b.Key) }
	if !sorted || slices.IsSortedFunc(members, byKey) {
		return members
	}
	members = slices.Clone(members)
	slices.SortFunc(members, byKey)
	return members
}

// Sorted gives the value with the keys of all its objects in order.
func (v Value) Sorted() Value {
	switch v.kind {
	case jsonscan.Array, jsonscan.Object:
		parts := slices.Clone(inOrder(v.parts, v.kind == jsonscan.Object))
		for i := range parts {
			parts[i].Value = parts[i].Value.Sorted()
		}
		v.parts = parts
	}
	return v
}

// AppendIndented appends the document form with two spaces of indentation and no line end behind it (spec run-folder
// §4.5). escaped writes ASCII alone.
func (v Value) AppendIndented(dst []byte, escaped bool) []byte {
	f := &Form{float: constant, text: jsontext.AppendQuoted[string]}
	if escaped {
		f.text = ascii
	}
	return appendIndented(dst, v, f, 0)
}

// AppendPretty appends the text with two spaces of indentation in a form, without a line end behind it.
func (v Value) AppendPretty(dst []byte, f *Form) []byte { return appendIndented(dst, v, f, 0) }

func appendIndented(dst []byte, v Value, f *Form, depth int) []byte {
	if len(v.parts) == 0 {
		return appendValue(dst, v, f)
	}
	brackets := "[]"
	if v.kind == jsonscan.Object {
		brackets = "{}"
	}
	dst = append(dst, brackets[0])
	for i := range v.parts {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendBreak(dst, depth+1)
		if v.kind == jsonscan.Object {
			dst = f.text(dst, v.parts[i].Key)
			dst = append(dst, ": "...)
		}
		dst = appendIndented(dst, v.parts[i].Value, f, depth+1)
	}
	dst = appendBreak(dst, depth)
	return append(dst, brackets[1])
}

func appendBreak(dst []byte, depth int) []byte {
	dst = append(dst, '\n')
	for range depth {
		dst = append(dst, "  "...)
	}
	return dst
}
