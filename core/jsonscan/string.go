package jsonscan

import (
	"bytes"
	"math/bits"
	"unicode/utf8"
)

// What checkString found on its way.
const (
	escaped = 1 << iota // there is an escape
	high                // there is a byte above ASCII
)

// plain tells which bytes may follow a backslash and stand for themselves or for one control character.
var plain = [256]bool{'"': true, '\\': true, '/': true, 'b': true, 'f': true, 'n': true, 'r': true, 't': true}

// checkString validates string content from i on, but for UTF-8, and returns the offset behind the closing
// quote, or 0 if the string cannot stand. It says nothing about why: [refuseString] looks again.
func checkString(text []byte, i int) (end int, found uint) {
	var tall uint64
	for {
		for i+8 <= len(text) {
			x := load(text, i)
			if m := stops(x); m != 0 {
				k := bits.TrailingZeros64(m)
				tall |= x & (1<<k - 1)
				i += k >> 3
				goto stop
			}
			tall |= x
			i += 8
		}
		for i < len(text) && text[i] >= 0x20 && text[i] != '"' && text[i] != '\\' {
			tall |= uint64(text[i])
			i++
		}
		if i == len(text) {
			return 0, 0
		}
	stop:
		if text[i] == '"' {
			if tall&tops != 0 {
				found |= high
			}
			return i + 1, found
		}
		if text[i] != '\\' || i+1 == len(text) {
			return 0, 0
		}
		found |= escaped
		if plain[text[i+1]] {
			i += 2
			continue
		}
		size, err := escape(text, i)
		if err != nil {
			return 0, 0
		}
		i += size
	}
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
