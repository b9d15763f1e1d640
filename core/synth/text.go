package synth

import "strconv"

const hexDigits = "0123456789abcdef"

// appendQuoted appends s as a JSON string. Only what JSON demands is escaped;
// everything above ASCII stays as it is, which is how the rows of the field are
// written.
func appendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\f':
			dst = append(dst, '\\', 'f')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	dst = append(dst, s[from:]...)
	return append(dst, '"')
}

// quoted is appendQuoted as a string.
func quoted(s string) string { return string(appendQuoted(nil, s)) }

// appendOptional appends an identifier or enumerated text that needs no escape,
// or null when it is empty.
func appendOptional(dst []byte, s string) []byte {
	if s == "" {
		return append(dst, "null"...)
	}
	dst = append(dst, '"')
	dst = append(dst, s...)
	return append(dst, '"')
}

// appendJSON appends a ready JSON text, or null when it is empty.
func appendJSON[T string | []byte](dst []byte, text T) []byte {
	if len(text) == 0 {
		return append(dst, "null"...)
	}
	return append(dst, text...)
}

// unknown is a count that was not observed and is written as null.
const unknown = -1

// appendCount appends a count, or null for unknown.
func appendCount(dst []byte, n int) []byte {
	if n < 0 {
		return append(dst, "null"...)
	}
	return strconv.AppendInt(dst, int64(n), 10)
}

func appendInt(dst []byte, n int) []byte { return strconv.AppendInt(dst, int64(n), 10) }

// appendDecimal appends n / 10^places as the shortest JSON float: trailing
// zeros go, one decimal stays. n must not be negative.
func appendDecimal(dst []byte, n int64, places int) []byte {
	scale := int64(1)
	for range places {
		scale *= 10
	}
	dst = strconv.AppendInt(dst, n/scale, 10)
	dst = append(dst, '.')
	rest := n % scale
	for {
		scale /= 10
		if scale == 0 {
			return append(dst, '0')
		}
		dst = append(dst, byte('0'+rest/scale))
		rest %= scale
		if rest == 0 {
			return dst
		}
	}
}

// appendSeconds appends a moment given in Unix milliseconds as Unix seconds.
func appendSeconds(dst []byte, ms int64) []byte { return appendDecimal(dst, ms, 3) }

// appendMillis appends a duration given in milliseconds as a float.
func appendMillis(dst []byte, ms int64) []byte { return appendDecimal(dst, ms, 0) }

func appendBool(dst []byte, b bool) []byte { return strconv.AppendBool(dst, b) }

// comma separates the members of a list that is built from left to right.
func comma(dst []byte) []byte {
	if len(dst) > 0 {
		dst = append(dst, ',')
	}
	return dst
}

// appendRatio appends a / b as a JSON float; b must be positive.
func appendRatio(dst []byte, a, b int) []byte {
	switch a {
	case 0:
		return append(dst, "0.0"...)
	case b:
		return append(dst, "1.0"...)
	}
	return strconv.AppendFloat(dst, float64(a)/float64(b), 'f', -1, 64)
}
