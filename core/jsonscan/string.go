package jsonscan

import (
	"bytes"
	"math/bits"
	"unicode/utf8"
)

// plain tells which bytes may follow a backslash and stand for themselves or for one control character.
var plain = [256]bool{'"': true, '\\': true, '/': true, 'b': true, 'f': true, 'n': true, 'r': true, 't': true}

// checkString validates string content from i on and returns the offset behind the closing quote, or 0 if
// the string cannot stand. It does not say why: [refuseString] looks again.
func checkString(text []byte, i int) (end int, escapes bool) {
	for i+8 <= len(text) {
		x := load(text, i)
		m := stops(x)
		if m == 0 {
			if i += 8; i+32 <= len(text) {
				// Several words a round, since a jump back costs as much as looking at one.
				if m = stops(load(text, i)); m == 0 {
					i += 8
					if m = stops(load(text, i)); m == 0 {
						i += 8
						if m = stops(load(text, i)); m == 0 {
							i += 8
							m = stops(load(text, i))
						}
					}
				}
				if m == 0 {
					i += 8
					continue
				}
			} else {
				continue
			}
		}
		i += bits.TrailingZeros64(m) >> 3
		c := text[i]
		if c == '"' {
			return i + 1, escapes
		}
		if c == '\\' {
			escapes = true
			if i+1 < len(text) && plain[text[i+1]] {
				i += 2
				continue
			}
			size, err := escape(text, i)
			if err != nil {
				return 0, false
			}
			i += size
			continue
		}
		if c < utf8.RuneSelf {
			return 0, false
		}
		// Characters above ASCII come in runs. The lowest bytes of x are the character: its first byte
		// tells how many there are, the others must be 10xxxxxx.
		for i+8 <= len(text) {
			x = load(text, i)
			if x&0xC0C0F0 == 0x8080E0 {
				// Too small for three bytes or a surrogate, by the upper ten bits of the character.
				if upper := x&0xF<<6 | x>>8&0x3F; upper < 0x800>>6 || upper-0xD800>>6 < 0x800>>6 {
					return 0, false
				}
				i += 3
				if x >>= 24; x&0xC0C0F0 == 0x8080E0 && x&0xF != 0 && x&0xF != 0xD {
					i += 3
				}
			} else if x&0xC0E0 == 0x80C0 {
				if x&0x1E == 0 {
					return 0, false
				}
				i += 2
				if x>>16&0xC0E0 == 0x80C0 && x&(0x1E<<16) != 0 {
					i += 2
				}
			} else if x&0xC0C0C0F8 == 0x808080F0 {
				// From U+10000 to U+10FFFF, by the number of the plane.
				if plane := x&7<<2 | x>>12&3; plane-1 >= 16 {
					return 0, false
				}
				i += 4
			} else if x&0x80 == 0 {
				break
			} else {
				return 0, false
			}
		}
	}
	return checkStringTail(text, i, escapes)
}

// checkStringTail is [checkString] for the last bytes of a text.
func checkStringTail(text []byte, i int, escapes bool) (int, bool) {
	for i < len(text) {
		switch c := text[i]; {
		case c == '"':
			return i + 1, escapes
		case c == '\\':
			size, err := escape(text, i)
			if err != nil {
				return 0, false
			}
			i, escapes = i+size, true
		case c < 0x20:
			return 0, false
		case c < utf8.RuneSelf:
			i++
		default:
			r, size := utf8.DecodeRune(text[i:])
			if r == utf8.RuneError && size == 1 {
				return 0, false
			}
			i += size
		}
	}
	return 0, false
}

// escape validates the escape at i, with its second half if it is the first of a pair.
func escape(text []byte, i int) (size int, err *Error) {
	if i+1 < len(text) && plain[text[i+1]] {
		return 2, nil
	}
	if i+1 == len(text) || text[i+1] != 'u' {
		return 0, refuseEscape(text, i, i+1)
	}
	r, end := unit(text, i+2)
	switch {
	case r < 0:
		return 0, refuseEscape(text, i, end)
	case r < 0xD800 || r > 0xDFFF:
		return 6, nil
	case r > 0xDBFF:
		return 0, &Error{Offset: i, Reason: ReasonSurrogate}
	}
	for _, c := range []byte(`\u`) {
		switch {
		case end == len(text):
			return 0, &Error{Offset: end, Reason: ReasonCut}
		case text[end] != c:
			return 0, &Error{Offset: i, Reason: ReasonSurrogate}
		}
		end++
	}
	r, end = unit(text, end)
	switch {
	case r < 0:
		return 0, refuseEscape(text, i+6, end)
	case r < 0xDC00 || r > 0xDFFF:
		return 0, &Error{Offset: i, Reason: ReasonSurrogate}
	}
	return 12, nil
}

// refuseEscape names what is wrong with the escape at i, whose byte at bad cannot stand.
func refuseEscape(text []byte, i, bad int) *Error {
	switch {
	case bad == len(text):
		return &Error{Offset: bad, Reason: ReasonCut}
	case text[bad] == 0:
		return zeros(text, bad)
	}
	return &Error{Offset: i, Reason: ReasonEscape}
}

// unit reads the four hexadecimal digits at i; end is the offset behind them. If one of them is missing, r
// is −1 and end the offset where it should be.
func unit(text []byte, i int) (r rune, end int) {
	for range 4 {
		if i == len(text) {
			return -1, i
		}
		c := text[i]
		switch {
		case c-'0' < 10:
			c -= '0'
		case c|0x20-'a' < 6:
			c = c | 0x20 - 'a' + 10
		default:
			return -1, i
		}
		r = r<<4 | rune(c)
		i++
	}
	return r, i
}

// stringEnd finds the offset behind the closing quote of a valid string whose content begins at i.
func stringEnd(text []byte, i int) (end int, escapes bool) {
	for {
		for i+8 <= len(text) {
			if m := quotes(load(text, i)); m != 0 {
				i += bits.TrailingZeros64(m) >> 3
				goto stop
			}
			i += 8
		}
		for text[i] != '"' && text[i] != '\\' {
			i++
		}
	stop:
		if text[i] == '"' {
			return i + 1, escapes
		}
		escapes = true
		i += 2
	}
}

// unescape appends the decoded form of valid string content.
func unescape(dst, inner []byte) []byte {
	for {
		i := bytes.IndexByte(inner, '\\')
		if i < 0 {
			return append(dst, inner...)
		}
		dst = append(dst, inner[:i]...)
		c := inner[i+1]
		inner = inner[i+2:]
		switch c {
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case 'u':
			r, _ := unit(inner, 0)
			inner = inner[4:]
			if r >= 0xD800 && r < 0xDC00 {
				low, _ := unit(inner, 2)
				r = 0x10000 + (r-0xD800)<<10 + (low - 0xDC00)
				inner = inner[6:]
			}
			dst = utf8.AppendRune(dst, r)
		default:
			dst = append(dst, c)
		}
	}
}
