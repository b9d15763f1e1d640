package jsonscan

import (
	"fmt"
	"unicode/utf8"
)

// An Error says why a text is refused and where.
type Error struct {
	Offset int    // of the first byte that cannot stand, from the start of the text
	Reason string // short, lower case, without the place
	Count  int    // for [ReasonZeros] how many zero bytes follow each other there, else 0
}

// Error gives reason and offset.
func (e *Error) Error() string {
	if e.Count > 0 {
		return fmt.Sprintf("%d %s at byte %d", e.Count, e.Reason, e.Offset)
	}
	return fmt.Sprintf("%s at byte %d", e.Reason, e.Offset)
}

// The reasons a text is refused for. Each is one entry so that a page can explain it.
const (
	ReasonEmpty     = "no value"
	ReasonUTF8      = "not UTF-8"
	ReasonBOM       = "byte-order mark"
	ReasonSurrogate = "half of a surrogate pair"
	ReasonControl   = "raw control character in a string"
	ReasonEscape    = "unknown escape"
	ReasonNumber    = "malformed number"
	ReasonOverflow  = "number overflows to infinity"
	ReasonConstant  = "NaN or Infinity"
	ReasonDepth     = "nested deeper than 1024 levels"
	ReasonTrailing  = "content behind the value"
	ReasonComma     = "comma before a closing bracket"
	ReasonCut       = "ends inside a value"
	ReasonZeros     = "zero bytes"
	ReasonUnknown   = "unexpected character"
	ReasonLength    = "longer than 4 GiB"
)

// zeros is the error for the zero bytes from i on.
func zeros(text []byte, i int) *Error {
	end := i
	for end < len(text) && text[end] == 0 {
		end++
	}
	return &Error{Offset: i, Reason: ReasonZeros, Count: end - i}
}

// refuse names what stands at i where something else was expected.
func refuse(text []byte, i int) *Error {
	if i >= len(text) {
		return &Error{Offset: len(text), Reason: ReasonCut}
	}
	rest := text[i:]
	switch c := rest[0]; {
	case c == 0:
		return zeros(text, i)
	case starts(rest, "\xEF\xBB\xBF"):
		return &Error{Offset: i, Reason: ReasonBOM}
	case starts(rest, "NaN"), starts(rest, "Infinity"), starts(rest, "-Infinity"):
		return &Error{Offset: i, Reason: ReasonConstant}
	case c >= utf8.RuneSelf:
		if !utf8.FullRune(rest) {
			return &Error{Offset: len(text), Reason: ReasonCut}
		}
		if r, size := utf8.DecodeRune(rest); r == utf8.RuneError && size == 1 {
			return &Error{Offset: i, Reason: ReasonUTF8}
		}
	}
	for _, word := range [...]string{"true", "false", "null"} {
		if rest[0] == word[0] {
			return refuseWord(text, i, word)
		}
	}
	return &Error{Offset: i, Reason: ReasonUnknown}
}

// refuseKey names what stands at i where the key of a member was expected.
func refuseKey(text []byte, i int) *Error {
	if i < len(text) && text[i] == '}' {
		return &Error{Offset: i, Reason: ReasonComma}
	}
	return refuse(text, i)
}

// refuseWord names the first byte that keeps the text at i from being the word.
func refuseWord(text []byte, i int, word string) *Error {
	for k := 0; k < len(word) && i < len(text) && text[i] == word[k]; k++ {
		i++
	}
	switch {
	case i == len(text):
		return &Error{Offset: i, Reason: ReasonCut}
	case text[i] == 0:
		return zeros(text, i)
	}
	return &Error{Offset: i, Reason: ReasonUnknown}
}

func starts(text []byte, word string) bool {
	return len(text) >= len(word) && string(text[:len(word)]) == word
}

// refuseString names the first byte that cannot stand in the string whose content begins at i. The
// string is known to be wrong, or to lack its end.
func refuseString(text []byte, i int) *Error {
	for i < len(text) {
		switch c := text[i]; {
		case c == 0:
			return zeros(text, i)
		case c < 0x20:
			return &Error{Offset: i, Reason: ReasonControl}
		case c == '\\':
			size, err := escape(text, i)
			if err != nil {
				return err
			}
			i += size
		case c < utf8.RuneSelf:
			i++
		case !utf8.FullRune(text[i:]):
			return &Error{Offset: len(text), Reason: ReasonCut}
		default:
			r, size := utf8.DecodeRune(text[i:])
			if r == utf8.RuneError && size == 1 {
				return &Error{Offset: i, Reason: ReasonUTF8}
			}
			i += size
		}
	}
	return &Error{Offset: len(text), Reason: ReasonCut}
}

// refuseNumber names what is wrong with the number at i, which is known to be wrong.
func refuseNumber(text []byte, i int) *Error {
	start := i
	if text[i] == '-' {
		if starts(text[i:], "-Infinity") {
			return &Error{Offset: i, Reason: ReasonConstant}
		}
		i++
	}
	whole := i
	i = digits(text, i)
	switch {
	case i == whole:
	case i > whole+1 && text[whole] == '0':
		return &Error{Offset: start, Reason: ReasonNumber}
	default:
		if i < len(text) && text[i] == '.' {
			fraction := i + 1
			if i = digits(text, fraction); i == fraction {
				break
			}
		}
		if i < len(text) && text[i]|0x20 == 'e' {
			i++
			if i < len(text) && (text[i] == '-' || text[i] == '+') {
				i++
			}
			exponent := i
			if i = digits(text, exponent); i == exponent {
				break
			}
		}
		return &Error{Offset: start, Reason: ReasonOverflow}
	}
	switch {
	case i == len(text):
		return &Error{Offset: i, Reason: ReasonCut}
	case text[i] == 0:
		return zeros(text, i)
	}
	return &Error{Offset: start, Reason: ReasonNumber}
}

// digits gives the offset behind the decimal digits from i on.
func digits(text []byte, i int) int {
	for i < len(text) && text[i]-'0' < 10 {
		i++
	}
	return i
}
