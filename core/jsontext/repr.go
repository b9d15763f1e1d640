// Package jsontext writes JSON text the way the reference's reports have it.
package jsontext

import "strconv"

// AppendRepr appends the shortest text of a float as the reference's language prints it (spec recovery
// §3.1): positional with at least one decimal for exponents from −4 to 15, else with a sign and at least
// two exponent digits. NaN and infinities give nan, inf and -inf.
func AppendRepr(dst []byte, f float64) []byte {
	start := len(dst)
	dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
	text := dst[start:]
	e := len(text) - 1
	for e >= 0 && text[e] != 'e' {
		e--
	}
	if e < 0 {
		return append(dst[:start], special(f)...)
	}
	exponent, _ := strconv.Atoi(string(text[e+1:]))
	if exponent < -4 || exponent > 15 {
		return dst
	}
	dst = strconv.AppendFloat(dst[:start], f, 'f', -1, 64)
	for _, c := range dst[start:] {
		if c == '.' {
			return dst
		}
	}
	return append(dst, ".0"...)
}

func special(f float64) string {
	switch {
	case f > 0:
		return "inf"
	case f < 0:
		return "-inf"
	}
	return "nan"
}
