// Package lax turns JSON values into field values the way the reference's models accept them (spec health
// §5.1, model-calls §5.7): numbers may come as strings, bools count as numbers, 0 and 1 as bools.
//
// Every function tells whether the value is accepted. Null is accepted by none; whether a field may be null
// is for its schema to say.
package lax

import (
	"bytes"
	"math"
	"strconv"

	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/jsonscan"
)

// maxDigits bounds numeric strings for whole numbers: the reference's own language refuses to convert more
// characters, counting the minus sign and leaving out leading zeros, underscores and the fraction. It also
// keeps a hostile row from costing quadratic time.
const maxDigits = 4300

// Int reads a whole number: an int, a float without fraction below 2^63 in size, a bool or a numeric string.
func Int(v jsonscan.Value) (n integer.Int, ok bool) {
	if !v.Exists() {
		return n, false
	}
	if n, ok := v.Small(); ok {
		return integer.Of(n), true
	}
	switch c := v.Raw()[0]; {
	case c == '-', c-'0' < 10:
		if whole, ok := v.Integer(); ok {
			return integer.FromUint(whole.Negative, whole.Magnitude), true
		}
		f, _ := v.Float()
		if f > -(1<<63) && f < 1<<63 && f == float64(int64(f)) {
			return integer.Of(int64(f)), true
		}
	case c == 't':
		return integer.Of(1), true
	case c == 'f':
		return integer.Of(0), true
	case c == '"':
		var room [64]byte
		return intText(content(v, room[:0]))
	}
	return n, false
}

// Float reads a number of any kind, a bool or a numeric string. The result may be infinite or NaN.
func Float(v jsonscan.Value) (f float64, ok bool) {
	if !v.Exists() {
		return 0, false
	}
	switch c := v.Raw()[0]; {
	case c == '-', c-'0' < 10:
		if f, ok := short(v.Raw()); ok {
			return f, true
		}
		return v.Float()
	case c == 't':
		return 1, true
	case c == 'f':
		return 0, true
	case c == '"':
		var room [64]byte
		return floatText(content(v, room[:0]))
	}
	return 0, false
}

// powers are the powers of ten that a short number can be divided by.
var powers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// short reads a number of at most fifteen digits without exponent. Its digits and the power of ten for its
// fraction are exact doubles, so that their quotient is the nearest one.
func short(number []byte) (f float64, ok bool) {
	negative := number[0] == '-'
	if negative {
		number = number[1:]
	}
	if len(number) > 16 {
		return 0, false
	}
	digits, fraction, point := int64(0), 0, 0
	for _, c := range number {
		if c == '.' {
			point = 1
			continue
		}
		if c-'0' > 9 {
			return 0, false
		}
		digits = digits*10 + int64(c-'0')
		fraction += point
	}
	if point == 0 && len(number) == 16 {
		return 0, false
	}
	f = float64(digits) / powers[fraction]
	// The int −0 is 0, the float −0.0 is not.
	if negative && (digits != 0 || point != 0) {
		f = -f
	}
	return f, true
}

// Bool reads a bool, a number equal to 0 or 1, or one of the words for yes and no.
func Bool(v jsonscan.Value) (truth, ok bool) {
	if !v.Exists() {
		return false, false
	}
	switch c := v.Raw()[0]; {
	case c == '-', c-'0' < 10:
		f, _ := v.Float()
		return f == 1, f == 0 || f == 1
	case c == 't':
		return true, true
	case c == 'f':
		return false, true
	case c == '"':
		var room [64]byte
		return boolText(content(v, room[:0]))
	}
	return false, false
}

// content is what a string holds, decoded into room only if it has to be.
func content(v jsonscan.Value, room []byte) []byte {
	inner, escapes := v.Escaped()
	if escapes {
		return v.AppendText(room)
	}
	return inner
}

// intText reads an optional sign, digits with single underscores between them and a fraction of zeros.
func intText(s []byte) (n integer.Int, ok bool) {
	s = bytes.TrimSpace(s)
	negative := false
	if len(s) > 0 && (s[0] == '+' || s[0] == '-') {
		negative = s[0] == '-'
		s = s[1:]
	}
	whole := s
	if dot := bytes.IndexByte(s, '.'); dot >= 0 {
		whole = s[:dot]
		if dot+1 == len(s) {
			return n, false
		}
		for _, c := range s[dot+1:] {
			if c != '0' {
				return n, false
			}
		}
	}
	if !spaced(whole) || len(whole) == 0 {
		return n, false
	}
	digits := 0 // behind the leading zeros
	small := int64(0)
	for _, c := range whole {
		switch {
		case c == '_':
			continue
		case c-'0' > 9:
			return n, false
		case c == '0' && digits == 0:
			continue
		}
		if digits++; digits <= 18 {
			small = small*10 + int64(c-'0')
		}
	}
	if digits <= 18 {
		if negative {
			small = -small
		}
		return integer.Of(small), true
	}
	if negative {
		digits++
	}
	if digits > maxDigits {
		return n, false
	}
	plain := make([]byte, 0, len(whole)+1)
	if negative {
		plain = append(plain, '-')
	}
	for _, c := range whole {
		if c != '_' {
			plain = append(plain, c)
		}
	}
	return integer.Parse(string(plain))
}

// spaced tells whether the underscores of s stand singly inside it.
func spaced(s []byte) bool {
	if len(s) > 0 && (s[0] == '_' || s[len(s)-1] == '_') {
		return false
	}
	for i := bytes.IndexByte(s, '_'); i >= 0 && i+1 < len(s); i++ {
		if s[i] == '_' && s[i+1] == '_' {
			return false
		}
	}
	return true
}

// floatText reads a decimal number, an infinity or a NaN. Underscores may stand anywhere inside, one at a
// time.
func floatText(s []byte) (f float64, ok bool) {
	s = bytes.TrimSpace(s)
	if bytes.IndexByte(s, '_') >= 0 {
		if !spaced(s) {
			return 0, false
		}
		s = bytes.ReplaceAll(s, []byte("_"), nil)
	}
	if !decimal(s) {
		return special(s)
	}
	// The form is known to strconv, so the only error left is an overflow, which gives an infinity.
	f, _ = strconv.ParseFloat(string(s), 64)
	return f, true
}

// decimal tells whether s is digits with a point before, between or behind them, and an exponent.
func decimal(s []byte) bool {
	i := 0
	if i < len(s) && (s[i] == '+' || s[i] == '-') {
		i++
	}
	digits := 0
	for point := false; i < len(s); i++ {
		if s[i]-'0' < 10 {
			digits++
			continue
		}
		if s[i] != '.' || point {
			break
		}
		point = true
	}
	if digits == 0 {
		return false
	}
	if i == len(s) {
		return true
	}
	if s[i]|0x20 != 'e' {
		return false
	}
	i++
	if i < len(s) && (s[i] == '+' || s[i] == '-') {
		i++
	}
	first := i
	for i < len(s) && s[i]-'0' < 10 {
		i++
	}
	return i == len(s) && i > first
}

// special reads the name of an infinity or of NaN.
func special(s []byte) (f float64, ok bool) {
	sign := 1
	if len(s) > 0 && (s[0] == '+' || s[0] == '-') {
		if s[0] == '-' {
			sign = -1
		}
		s = s[1:]
	}
	switch {
	case len(s) == 3 && same(s, "nan"):
		return math.NaN(), true
	case len(s) == 3 && same(s, "inf"), len(s) == 8 && same(s, "infinity"):
		return math.Inf(sign), true
	}
	return 0, false
}

// boolText reads the words for yes and no in any case.
func boolText(s []byte) (truth, ok bool) {
	switch len(s) {
	case 1:
		switch s[0] {
		case '1', 't', 'T', 'y', 'Y':
			return true, true
		case '0', 'f', 'F', 'n', 'N':
			return false, true
		}
	case 2:
		return same(s, "on"), same(s, "on") || same(s, "no")
	case 3:
		return same(s, "yes"), same(s, "yes") || same(s, "off")
	case 4:
		return true, same(s, "true")
	case 5:
		return false, same(s, "false")
	}
	return false, false
}

// same compares s with a lower-case word of the same length, whatever the case of its letters.
func same(s []byte, word string) bool {
	for i, c := range s {
		if c-'A' < 26 {
			c |= 0x20
		}
		if c != word[i] {
			return false
		}
	}
	return true
}
