package jsontext

import (
	"math"
	"strconv"
)

// AppendRepr appends the shortest text of a float as the reference's language prints it (spec recovery
// §3.1, health appendix B): positional with at least one decimal for exponents from −4 to 15, else with a
// sign and at least two exponent digits. NaN and infinities give nan, inf and -inf.
func AppendRepr(dst []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "nan"...)
	case math.IsInf(f, 1):
		return append(dst, "inf"...)
	case math.IsInf(f, -1):
		return append(dst, "-inf"...)
	}
	start := len(dst)
	dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
	if _, exponent := cutExponent(dst[start:]); exponent < -4 || exponent > 15 {
		return dst
	}
	return appendPositional(dst[:start], f)
}

// AppendFloat appends the shortest text of a float as the reference's fast serialiser writes it (spec
// batch-status §3.1): positional with at least one decimal for exponents from −5 to 15, else with a sign
// and no more exponent digits than needed. NaN and infinities give null.
func AppendFloat(dst []byte, f float64) []byte { return appendFloat(dst, f, "+") }

// AppendOldFloat is [AppendFloat] as the serialiser had it before its version 3.11.7, without the plus
// sign in front of an exponent.
func AppendOldFloat(dst []byte, f float64) []byte { return appendFloat(dst, f, "") }

func appendFloat(dst []byte, f float64, plus string) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(dst, "null"...)
	}
	start := len(dst)
	dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
	mantissa, exponent := cutExponent(dst[start:])
	if exponent >= -5 && exponent <= 15 {
		return appendPositional(dst[:start], f)
	}
	dst = append(dst[:start+mantissa], 'e')
	if exponent > 0 {
		dst = append(dst, plus...)
	}
	return strconv.AppendInt(dst, int64(exponent), 10)
}

// cutExponent tells how long the part before the e is, and the exponent.
func cutExponent(text []byte) (mantissa, exponent int) {
	mantissa = len(text) - 1
	for text[mantissa] != 'e' {
		mantissa--
	}
	for _, c := range text[mantissa+2:] {
		exponent = exponent*10 + int(c-'0')
	}
	if text[mantissa+1] == '-' {
		exponent = -exponent
	}
	return mantissa, exponent
}

func appendPositional(dst []byte, f float64) []byte {
	start := len(dst)
	dst = strconv.AppendFloat(dst, f, 'f', -1, 64)
	for _, c := range dst[start:] {
		if c == '.' {
			return dst
		}
	}
	return append(dst, ".0"...)
}
