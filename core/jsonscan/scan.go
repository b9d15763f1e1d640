package jsonscan

import (
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
)

const (
	// MaxDepth is the deepest nesting that is accepted; the outermost container is level 1.
	MaxDepth = 1024
	// MaxLength is the longest text a Scanner takes, in bytes.
	MaxLength = math.MaxUint32
)

// An Error says why a text is refused and where.
type Error struct {
	Offset int    // of the first byte that cannot stand, from the start of the text
	Reason string // short, lower case, without the place
}

// Error gives reason and offset.
func (e *Error) Error() string { return fmt.Sprintf("%s at byte %d", e.Reason, e.Offset) }

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
	ReasonCut       = "ends inside a value"
	ReasonZeros     = "zero bytes"
	ReasonUnknown   = "unexpected character"
	ReasonLength    = "longer than 4 GiB"
)

// A Scanner validates texts one after the other and reuses its memory. The zero Scanner is ready.
type Scanner struct {
	doc   doc
	stack []level
}

// level is an open container.
type level struct {
	mark   uint32 // its number, or none
	height uint16 // of the tallest finished part, itself included
	object bool
}

const none = math.MaxUint32

// Scan validates text, which must be one JSON value with nothing but JSON white space around it, and
// returns that value. The error is an [*Error].
func (s *Scanner) Scan(text []byte) (Value, error) {
	if uint64(len(text)) > MaxLength {
		return Value{}, &Error{Reason: ReasonLength}
	}
	s.doc = doc{text: text, marks: s.doc.marks[:0]}
	s.stack = s.stack[:0]
	return s.scan()
}

// bound keeps the tape a fraction of the text on hostile input: a mark takes twelve bytes, and texts of
// nothing but brackets would need one for every other byte.
func bound(n int) int { return n/16 + 1024 }

func (s *Scanner) scan() (Value, error) {
	text := s.doc.text
	n := len(text)
	limit := bound(n)
	i := 0
	for i < n && space(text[i]) {
		i++
	}
	if i == n {
		return Value{}, &Error{i, ReasonEmpty}
	}
	root := Value{doc: &s.doc, at: uint32(i)}

value:
	for i < n && space(text[i]) {
		i++
	}
	if i == n {
		return Value{}, &Error{i, ReasonCut}
	}
	switch c := text[i]; c {
	case '{', '[':
		if len(s.stack) == MaxDepth {
			return Value{}, &Error{i, ReasonDepth}
		}
		l := level{mark: none, height: 1, object: c == '{'}
		if len(s.doc.marks) < limit {
			l.mark = uint32(len(s.doc.marks))
			s.doc.marks = append(s.doc.marks, mark{})
		}
		s.stack = append(s.stack, l)
		i++
		for i < n && space(text[i]) {
			i++
		}
		if i < n && text[i] == c+2 {
			goto closed
		}
		if c == '{' {
			goto key
		}
		goto value
	case '"':
		end, err := checkString(text, i+1)
		if err != nil {
			return Value{}, err
		}
		i = end
	case 't':
		if !word(text, i, "true") {
			return Value{}, refuse(text, i)
		}
		i += 4
	case 'f':
		if !word(text, i, "false") {
			return Value{}, refuse(text, i)
		}
		i += 5
	case 'n':
		if !word(text, i, "null") {
			return Value{}, refuse(text, i)
		}
		i += 4
	default:
		if c != '-' && (c < '0' || c > '9') {
			return Value{}, refuse(text, i)
		}
		end, err := checkNumber(text, i)
		if err != nil {
			return Value{}, err
		}
		i = end
	}

after:
	if len(s.stack) == 0 {
		root.end = uint32(i)
		for i < n {
			if !space(text[i]) {
				reason := ReasonTrailing
				if text[i] == 0 {
					reason = ReasonZeros
				}
				return Value{}, &Error{i, reason}
			}
			i++
		}
		return root, nil
	}
	for i < n && space(text[i]) {
		i++
	}
	if i == n {
		return Value{}, &Error{i, ReasonCut}
	}
	{
		top := &s.stack[len(s.stack)-1]
		if top.height < 2 {
			top.height = 2
		}
		switch c := text[i]; {
		case c == ',':
			i++
			if top.object {
				for i < n && space(text[i]) {
					i++
				}
				goto key
			}
			goto value
		case c == '}' && top.object, c == ']' && !top.object:
			goto closed
		}
		return Value{}, refuse(text, i)
	}

key:
	if i == n {
		return Value{}, &Error{i, ReasonCut}
	}
	if text[i] != '"' {
		return Value{}, refuse(text, i)
	}
	{
		end, err := checkString(text, i+1)
		if err != nil {
			return Value{}, err
		}
		i = end
		for i < n && space(text[i]) {
			i++
		}
		if i == n {
			return Value{}, &Error{i, ReasonCut}
		}
		if text[i] != ':' {
			return Value{}, refuse(text, i)
		}
		i++
		goto value
	}

closed:
	{
		i++
		l := s.stack[len(s.stack)-1]
		s.stack = s.stack[:len(s.stack)-1]
		if l.mark != none {
			s.doc.marks[l.mark] = mark{end: uint32(i), next: uint32(len(s.doc.marks)), height: l.height}
		}
		if len(s.stack) > 0 {
			parent := &s.stack[len(s.stack)-1]
			parent.height = max(parent.height, l.height+1)
		}
		goto after
	}
}

func word(text []byte, i int, w string) bool {
	return len(text)-i >= len(w) && string(text[i:i+len(w)]) == w
}

// refuse names what stands at i where something else was expected.
func refuse(text []byte, i int) *Error {
	rest := text[i:]
	switch {
	case len(rest) >= 3 && rest[0] == 0xEF && rest[1] == 0xBB && rest[2] == 0xBF:
		return &Error{i, ReasonBOM}
	case rest[0] == 0:
		return &Error{i, ReasonZeros}
	case rest[0] == 'N', rest[0] == 'I', len(rest) > 1 && rest[0] == '-' && rest[1] == 'I':
		return &Error{i, ReasonConstant}
	case rest[0] >= 0x80 && !utf8.FullRune(rest), rest[0] >= 0x80 && invalid(rest):
		return &Error{i, ReasonUTF8}
	}
	for _, w := range [...]string{"true", "false", "null"} {
		if len(rest) < len(w) && string(rest) == w[:len(rest)] {
			return &Error{len(text), ReasonCut}
		}
	}
	return &Error{i, ReasonUnknown}
}

func invalid(b []byte) bool {
	r, size := utf8.DecodeRune(b)
	return r == utf8.RuneError && size == 1
}

// checkString validates string content from i on and returns the offset behind the closing quote.
func checkString(text []byte, i int) (int, *Error) {
	start, high := i, false
	for i < len(text) {
		c := text[i]
		switch {
		case c == '"':
			if high && !utf8.Valid(text[start:i]) {
				return 0, badUTF8(text, start, i)
			}
			return i + 1, nil
		case c == '\\':
			if i+1 == len(text) {
				return 0, &Error{len(text), ReasonCut}
			}
			switch text[i+1] {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
				i += 2
			case 'u':
				size, err := checkUnicode(text, i)
				if err != nil {
					return 0, err
				}
				i += size
			default:
				return 0, &Error{i, ReasonEscape}
			}
			continue
		case c < 0x20:
			if c == 0 {
				return 0, &Error{i, ReasonZeros}
			}
			return 0, &Error{i, ReasonControl}
		case c >= 0x80:
			high = true
		}
		i++
	}
	return 0, &Error{len(text), ReasonCut}
}

// badUTF8 names the first byte of text[start:end] that is not UTF-8.
func badUTF8(text []byte, start, end int) *Error {
	for start < end {
		r, size := utf8.DecodeRune(text[start:end])
		if r == utf8.RuneError && size == 1 {
			break
		}
		start += size
	}
	return &Error{start, ReasonUTF8}
}

// checkUnicode validates the \u escape at i, with its second half if it is the first of a pair.
func checkUnicode(text []byte, i int) (size int, err *Error) {
	if len(text)-i < 6 {
		return 0, &Error{len(text), ReasonCut}
	}
	r := hex4(text[i+2:])
	switch {
	case r < 0:
		return 0, &Error{i, ReasonEscape}
	case r < 0xD800 || r > 0xDFFF:
		return 6, nil
	case r >= 0xDC00:
		return 0, &Error{i, ReasonSurrogate}
	}
	if len(text)-i < 12 {
		if len(text)-i < 8 || text[i+6] == '\\' && text[i+7] == 'u' {
			return 0, &Error{len(text), ReasonCut}
		}
		return 0, &Error{i, ReasonSurrogate}
	}
	if text[i+6] != '\\' || text[i+7] != 'u' {
		return 0, &Error{i, ReasonSurrogate}
	}
	if low := hex4(text[i+8:]); low < 0xDC00 || low > 0xDFFF {
		return 0, &Error{i, ReasonSurrogate}
	}
	return 12, nil
}

// checkNumber validates the number at i and returns the offset behind it.
func checkNumber(text []byte, i int) (int, *Error) {
	start := i
	if text[i] == '-' {
		i++
		if i < len(text) && text[i] == 'I' {
			return 0, &Error{start, ReasonConstant}
		}
	}
	whole := i
	for i < len(text) && text[i]-'0' < 10 {
		i++
	}
	digits := i - whole
	if digits == 0 || digits > 1 && text[whole] == '0' {
		return 0, malformed(text, start, i)
	}
	exponent := 0
	if i < len(text) && text[i] == '.' {
		i++
		fraction := i
		for i < len(text) && text[i]-'0' < 10 {
			i++
		}
		if i == fraction {
			return 0, malformed(text, start, i)
		}
	}
	if i < len(text) && text[i]|0x20 == 'e' {
		i++
		minus := i < len(text) && text[i] == '-'
		if i < len(text) && (text[i] == '-' || text[i] == '+') {
			i++
		}
		first := i
		for i < len(text) && text[i]-'0' < 10 {
			if exponent < 1<<20 {
				exponent = exponent*10 + int(text[i]-'0')
			}
			i++
		}
		if i == first {
			return 0, malformed(text, start, i)
		}
		if minus {
			exponent = 0
		}
	}
	// A number is smaller than ten to the power of its whole digits plus its exponent, so only these few
	// can reach infinity.
	if digits+exponent > 308 {
		if f, _ := strconv.ParseFloat(string(text[start:i]), 64); math.IsInf(f, 0) {
			return 0, &Error{start, ReasonOverflow}
		}
	}
	return i, nil
}

// malformed tells a number that the text ends in from one that is wrong.
func malformed(text []byte, start, i int) *Error {
	if i == len(text) {
		return &Error{i, ReasonCut}
	}
	return &Error{start, ReasonNumber}
}
