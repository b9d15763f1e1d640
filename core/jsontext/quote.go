package jsontext

const hex = "0123456789abcdef"

// short holds the letter of the two-byte escape of a byte, or zero.
var short = [256]byte{'"': '"', '\\': '\\', '\b': 'b', '\t': 't', '\n': 'n', '\f': 'f', '\r': 'r'}

// AppendQuoted appends s as a JSON string. Quote, backslash and the control characters below 0x20 are
// escaped, by \" \\ \b \t \n \f \r or else \u00xx with lower-case digits. Every other byte is written as
// it is: DEL, the separators U+2028 and U+2029, markup, and also bytes that are not UTF-8.
func AppendQuoted[T string | []byte](dst []byte, s T) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < 0x20 || c == '"' || c == '\\' {
			dst = append(dst, s[start:i]...)
			dst = appendEscape(dst, c)
			start = i + 1
		}
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

// AppendQuotedASCII appends s as a JSON string of ASCII: as [AppendQuoted], but DEL and everything above
// it become \uxxxx with lower-case digits, a pair of them above U+FFFF. Bytes that are not UTF-8 become
// U+FFFD.
func AppendQuotedASCII(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for _, r := range s {
		switch {
		case r < 0x20 || r == '"' || r == '\\':
			dst = appendEscape(dst, byte(r))
		case r < 0x7F:
			dst = append(dst, byte(r))
		case r < 0x10000:
			dst = appendUnit(dst, uint16(r))
		default:
			r -= 0x10000
			dst = appendUnit(dst, 0xD800|uint16(r>>10))
			dst = appendUnit(dst, 0xDC00|uint16(r&0x3FF))
		}
	}
	return append(dst, '"')
}

func appendEscape(dst []byte, c byte) []byte {
	if letter := short[c]; letter != 0 {
		return append(dst, '\\', letter)
	}
	return appendUnit(dst, uint16(c))
}

func appendUnit(dst []byte, u uint16) []byte {
	return append(dst, '\\', 'u', hex[u>>12], hex[u>>8&15], hex[u>>4&15], hex[u&15])
}
