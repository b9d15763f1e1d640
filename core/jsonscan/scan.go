package jsonscan

import (
	"math"
	"math/bits"
)

const (
	// MaxDepth is the deepest nesting that is accepted; the outermost container is level 1.
	MaxDepth = 1024
	// MaxLength is the longest text a Scanner takes, in bytes.
	MaxLength = math.MaxUint32
)

// A Scanner validates texts one after the other and reuses its memory. The zero Scanner is ready.
type Scanner struct {
	doc   doc
	stack []level
}

// level is a container whose end was not reached yet.
type level struct {
	at     uint32
	mark   uint32 // the number of its mark, or none
	count  uint32 // members or elements that are complete
	height uint16 // of the tallest complete part, itself included
	kinds  Kinds
	object bool
}

const (
	none = math.MaxUint32
	// generous is how many marks a scanner keeps room for, whatever the next text looks like.
	generous = 1 << 16
)

// Scan validates text, which must be one JSON value with nothing but JSON white space around it, and
// returns that value. The error is an [*Error].
func (s *Scanner) Scan(text []byte) (Value, error) {
	if uint64(len(text)) > MaxLength {
		return Value{}, &Error{Reason: ReasonLength}
	}
	if s.stack == nil {
		s.stack = make([]level, MaxDepth+1)
	}
	if cap(s.doc.marks) > generous && cap(s.doc.marks)/8 > most(len(text)) {
		s.doc.marks = nil
	}
	s.doc.text = text
	start := 0
	for start < len(text) && space(text[start]) {
		start++
	}
	if start == len(text) {
		return Value{}, &Error{Offset: start, Reason: ReasonEmpty}
	}
	end, err := s.scan(text, start)
	if err != nil {
		return Value{}, err
	}
	for i := end; i < len(text); i++ {
		if !space(text[i]) {
			return Value{}, refuseTrailing(text, i)
		}
	}
	return Value{doc: &s.doc, at: uint32(start), end: uint32(end), note: noteOf(0, text[start])}, nil
}

// scan validates the value at i, fills the tape, and returns the offset behind the value. It is one long
// function, and strings of up to eight bytes are done in place, because calls are what costs most in
// WebAssembly. White space is asked for in two steps, because most rows have none.
func (s *Scanner) scan(text []byte, i int) (int, *Error) {
	n := len(text)
	marks := s.doc.marks[:0]
	stack := s.stack[:MaxDepth+1]
	depth := 0
	l := &stack[0] // the innermost open container, or what stands for the text as a whole
	*l = level{}

value:
	if i < n && text[i] <= ' ' {
		for i < n && space(text[i]) {
			i++
		}
	}
	if i >= n {
		return 0, refuse(text, i)
	}
	switch c := text[i]; {
	case c == '"':
		begin := i
		i++
		k := 0
		if i+8 <= n {
			k = bits.TrailingZeros64(stops(load(text, i))) >> 3
		}
		if i += k; i >= n || text[i] != '"' {
			end, escapes := checkString(text, i)
			if end == 0 {
				return 0, refuseString(text, i)
			}
			if end-begin >= tapedString {
				marks = append(marks, mark{at: uint32(begin), end: uint32(end), next: uint32(len(marks)) + 1, height: 1, escapes: escapes})
			}
			i = end - 1
		}
		i++
		l.kinds |= 1 << String
	case c-'0' < 10 || c == '-':
		end, count, kinds := checkNumbers(text, i, depth > 0 && !l.object)
		if end == 0 {
			return 0, refuseNumber(text, i+int(count))
		}
		l.kinds |= kinds
		l.count += count
		i = end
	case c == '{' || c == '[':
		if depth == MaxDepth {
			return 0, &Error{Offset: i, Reason: ReasonDepth}
		}
		open := i
		i++
		if i < n && text[i] <= ' ' {
			for i < n && space(text[i]) {
				i++
			}
		}
		if i < n && text[i] == c+2 {
			i++
			l.kinds |= containerKind(c)
			if i-open >= tapedContainer {
				marks = append(marks, mark{at: uint32(open), end: uint32(i), next: uint32(len(marks)) + 1, height: 1})
			}
			goto after
		}
		l.kinds |= containerKind(c)
		depth++
		l = &stack[depth]
		l.at, l.mark, l.count, l.kinds, l.object = uint32(open), none, 0, 0, c == '{'
		l.height = 2
		if !crowded(marks, open) {
			l.mark = uint32(len(marks))
			if len(marks) == cap(marks) {
				marks = append(marks, mark{})
			} else {
				marks = marks[:len(marks)+1]
			}
			marks[l.mark].at = l.at
		}
		if c == '{' {
			goto key
		}
		goto value
	case i+5 <= n && string(text[i:i+4]) == "null":
		l.kinds |= 1 << Null
		i += 4
	case i+5 <= n && string(text[i:i+4]) == "true":
		l.kinds |= 1 << Bool
		i += 4
	case starts(text[i:], "false"):
		l.kinds |= 1 << Bool
		i += 5
	case starts(text[i:], "null"):
		l.kinds |= 1 << Null
		i += 4
	case starts(text[i:], "true"):
		l.kinds |= 1 << Bool
		i += 4
	case c == ']' && depth > 0 && !l.object:
		return 0, &Error{Offset: i, Reason: ReasonComma}
	default:
		return 0, refuse(text, i)
	}

after:
	l.count++
	if depth == 0 {
		s.doc.marks = marks
		return i, nil
	}
	if i < n && text[i] <= ' ' {
		for i < n && space(text[i]) {
			i++
		}
	}
	if i >= n {
		return 0, refuse(text, i)
	}
	if text[i] == ',' {
		i++
		if !l.object {
			goto value
		}
		for i < n && space(text[i]) {
			i++
		}
		if i < n && text[i] == '}' {
			return 0, &Error{Offset: i, Reason: ReasonComma}
		}
		goto key
	}
	if l.object && text[i] == '}' || !l.object && text[i] == ']' {
		goto closed
	}
	return 0, refuse(text, i)

key:
	if i >= n || text[i] != '"' {
		return 0, refuse(text, i)
	}
	{
		i++
		k := 0
		if i+8 <= n {
			k = bits.TrailingZeros64(stops(load(text, i))) >> 3
		}
		if i += k; i >= n || text[i] != '"' {
			end, _ := checkString(text, i)
			if end == 0 {
				return 0, refuseString(text, i)
			}
			i = end - 1
		}
		i++
		if i < n && text[i] <= ' ' {
			for i < n && space(text[i]) {
				i++
			}
		}
		if i >= n || text[i] != ':' {
			return 0, refuse(text, i)
		}
		i++
		goto value
	}

closed:
	i++
	if l.mark != none {
		if i-int(l.at) < tapedContainer {
			// Whatever is inside is smaller still, so that no mark follows this one.
			marks = marks[:l.mark]
		} else {
			marks[l.mark] = mark{at: l.at, end: uint32(i), next: uint32(len(marks)), count: l.count, height: l.height, kinds: l.kinds}
		}
	}
	depth--
	l = &stack[depth]
	l.height = max(l.height, stack[depth+1].height+1)
	goto after
}

// containerKind is the kind of a container that opens with c, as a set.
func containerKind(c byte) Kinds {
	if c == '{' {
		return 1 << Object
	}
	return 1 << Array
}

// refuseTrailing names what stands behind the value.
func refuseTrailing(text []byte, i int) *Error {
	if text[i] == 0 {
		return zeros(text, i)
	}
	return &Error{Offset: i, Reason: ReasonTrailing}
}
