package harness

import (
	"bytes"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/rollscope/rollscope/core/health/check"
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/value"
)

// A text is the text of a row: what was scanned, and what stood there if that had to be mended first (see mend).
// Values are found in the one and read from the other.
type text struct {
	original []byte // nil if it is what was scanned
	scanner  jsonscan.Scanner
	keys     []byte // the canonical form of the last value that took time
	last     []byte // that value
}

// raw gives a value as it was written.
func (t *text) raw(v jsonscan.Value) []byte {
	if t.original == nil || !v.Exists() {
		return v.Raw()
	}
	return t.original[v.Offset() : v.Offset()+v.Len()]
}

// is tells whether a value has one of some forms.
func (t *text) is(f form, v jsonscan.Value) bool {
	switch v.Kind() {
	case jsonscan.Null:
		return f&isNull != 0
	case jsonscan.Bool:
		return f&isBool != 0
	case jsonscan.Int:
		return f&(isInteger|isNumber) != 0
	case jsonscan.Float:
		return f&isNumber != 0 || f&isInteger != 0 && t.integral(v)
	case jsonscan.String:
		return f&isText != 0 || f&isWritten != 0 && isWrittenText(v)
	case jsonscan.Array:
		return f&isArray != 0
	case jsonscan.Object:
		return f&isObject != 0
	}
	return false
}

// integral tells whether a number that the scanner takes for a float counts as a whole number: it is an int too wide
// for the scanner, or finite and without fraction.
func (t *text) integral(v jsonscan.Value) bool {
	raw := t.raw(v)
	if isInt(raw) {
		return true
	}
	f := t.float(v, raw)
	return f == math.Trunc(f) && !math.IsInf(f, 0)
}

// isInt tells whether a number is written as an int.
func isInt(raw []byte) bool { return bytes.IndexAny(raw, ".eE") < 0 }

// float gives the double of a number, an infinity if it is beyond all doubles.
func (t *text) float(v jsonscan.Value, raw []byte) float64 {
	if t.original == nil {
		f, _ := v.Float()
		return f
	}
	n, err := t.scanner.Scan(raw)
	if err != nil {
		// A number can only be refused for its size.
		if raw[0] == '-' {
			return math.Inf(-1)
		}
		return math.Inf(1)
	}
	f, _ := n.Float()
	return f
}

// within tells whether a number is inside of bounds; what is no number is not asked.
func (t *text) within(b *bounds, v jsonscan.Value) bool {
	switch v.Kind() {
	case jsonscan.Int, jsonscan.Float:
	default:
		return true
	}
	raw := t.raw(v)
	if isInt(raw) {
		n, err := strconv.ParseInt(string(raw), 10, 64)
		if err != nil { // wide: the sign decides
			return raw[0] != '-' && b.open
		}
		return n >= b.least && (b.open || n <= b.most)
	}
	f := t.float(v, raw)
	return f >= float64(b.least) && (b.open || f <= float64(b.most))
}

// atLeast tells whether v is an int, not a float and not a bool, of at least n.
func (t *text) atLeast(v jsonscan.Value, n int64) bool {
	switch v.Kind() {
	case jsonscan.Int, jsonscan.Float:
		return isInt(t.raw(v)) && t.within(&bounds{least: n, open: true}, v)
	}
	return false
}

// isWrittenText tells whether a text has a character that is not white space (§3).
func isWrittenText(v jsonscan.Value) bool {
	inner, escapes := v.Escaped()
	if len(inner) == 0 {
		return false
	}
	if c := inner[0]; c > ' ' && c < utf8.RuneSelf && c != '\\' {
		return true
	}
	if escapes {
		inner = v.AppendText(nil)
	}
	return !blank(inner)
}

// blank tells whether b is nothing but white space in the wide sense of §3.
func blank(b []byte) bool {
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		if !check.White(r) {
			return false
		}
		b = b[size:]
	}
	return true
}

// appendKey appends a text that two values of one row share exactly if they are equal (§3). An absent value is null.
func (t *text) appendKey(dst []byte, v jsonscan.Value) []byte {
	raw := t.raw(v)
	switch v.Kind() {
	case jsonscan.Absent:
		return append(dst, "null"...)
	case jsonscan.String:
		if _, escapes := v.Escaped(); !escapes {
			return append(dst, raw...)
		}
	case jsonscan.Null:
		return append(dst, raw...)
	}
	if len(raw) != len(t.last) || !bytes.Equal(raw, t.last) {
		t.last = append(t.last[:0], raw...)
		// The text was scanned, so that it can be parsed.
		tree, _ := value.Parse(raw, value.Leniency{Surrogates: true})
		t.keys = value.AppendKey(t.keys[:0], tree)
	}
	return append(dst, t.keys...)
}

// readable tells whether a text is an image that stands in the row itself (§7.6).
func readable(v jsonscan.Value) bool {
	if !v.IsString() {
		return false
	}
	inner, escapes := v.Escaped()
	if escapes {
		inner = v.AppendText(nil)
	}
	rest, ok := bytes.CutPrefix(inner, []byte("data:"))
	if !ok {
		return false
	}
	_, code, ok := bytes.Cut(rest, []byte(";base64,"))
	return ok && isBase64(code)
}

// isBase64 tells whether b is strict standard base64 of one byte at least: padded, and nothing else in between or
// behind. Bits that no byte uses may be set.
func isBase64(b []byte) bool {
	if len(b) == 0 || len(b)%4 != 0 {
		return false
	}
	for range 2 {
		if b[len(b)-1] == '=' {
			b = b[:len(b)-1]
		}
	}
	for _, c := range b {
		if c-'0' >= 10 && c|0x20-'a' >= 26 && c != '+' && c != '/' {
			return false
		}
	}
	return true
}
