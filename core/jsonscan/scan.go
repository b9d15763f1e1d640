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

// scan validates the value at i, fills the tape, and returns the offset behind the value.
//
// It is one long function, since calls are what costs most in WebAssembly, and next to them jumps that lead back.
// So keys, short strings and short numbers are read in place and without loops; what is rare is a call.
func (s *Scanner) scan(text []byte, i int) (int, *Error) {
	n := len(text)
	marks := s.doc.marks[:0]
	stack := s.stack[:MaxDepth+1]
	depth := 0
	l := &stack[0] // the innermost open container, or what stands for the text as a whole
	*l = level{}
	var c byte

value:
	if i >= n {
		return 0, refuse(text, i)
	}
	if c = text[i]; c <= ' ' {
		if i = behindSpace(text, i); i >= n {
			return 0, refuse(text, i)
		}
		c = text[i]
	}
	if c == '"' {
		begin := i
		i++
		if i+32 <= n {
			m := stops(load(text, i))
			if m == 0 {
				i += 8
				if m = stops(load(text, i)); m == 0 {
					i += 8
					if m = stops(load(text, i)); m == 0 {
						i += 8
						m = stops(load(text, i))
					}
				}
			}
			i += bits.TrailingZeros64(m) >> 3
		}
		if i >= n || text[i] != '"' {
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
		goto after
	}
	if c-'0' < 10 || c == '-' {
		if l.object && i+8 <= n {
			// Most numbers of objects are whole and short, and end where the object goes on.
			run := bits.TrailingZeros64(noDigits(load(text, i)^zerosWord)) >> 3
			if run-1 < 7-1 && (c != '0' || run == 1) && (text[i+run] == ',' || text[i+run] == '}') {
				i += run
				l.kinds |= 1 << Int
				goto after
			}
		}
		end, count, kinds := checkNumbers(text, i, depth > 0 && !l.object)
		if end == 0 {
			return 0, refuseNumber(text, i+int(count))
		}
		l.kinds |= kinds
		l.count += count
		i = end
		goto after
	}
	if c == '{' || c == '[' {
		if depth == MaxDepth {
			return 0, &Error{Offset: i, Reason: ReasonDepth}
		}
		open := i
		if i++; i < n && text[i] <= ' ' {
			i = behindSpace(text, i)
		}
		l.kinds |= containerKind(c)
		if i < n && text[i] == c+2 {
			i++
			if i-open >= tapedContainer {
				marks = append(marks, mark{at: uint32(open), end: uint32(i), next: uint32(len(marks)) + 1, height: 1})
			}
			goto after
		}
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
	}
	if i+8 <= n && uint32(load(text, i)) == 'n'|'u'<<8|'l'<<16|'l'<<24 {
		i += 4
		l.kinds |= 1 << Null
	} else {
		size, kind := literal(text[i:])
		if size == 0 {
			if c == ']' && depth > 0 && !l.object {
				return 0, &Error{Offset: i, Reason: ReasonComma}
			}
			return 0, refuse(text, i)
		}
		i += size
		l.kinds |= 1 << kind
	}

after:
	l.count++
	if depth == 0 {
		s.doc.marks = marks
		return i, nil
	}
	if i >= n {
		return 0, refuse(text, i)
	}
	if c = text[i]; c <= ' ' {
		if i = behindSpace(text, i); i >= n {
			return 0, refuse(text, i)
		}
		c = text[i]
	}
	if c != ',' {
		if l.object && c == '}' || !l.object && c == ']' {
			goto closed
		}
		return 0, refuse(text, i)
	}
	i++
	if !l.object {
		goto value
	}
	if i < n && text[i] <= ' ' {
		i = behindSpace(text, i)
	}

key:
	if i >= n || text[i] != '"' {
		return 0, refuseKey(text, i)
	}
	i++
	if i+24 <= n {
		m := stops(load(text, i))
		if m == 0 {
			i += 8
			if m = stops(load(text, i)); m == 0 {
				i += 8
				m = stops(load(text, i))
			}
		}
		i += bits.TrailingZeros64(m) >> 3
	}
	if i >= n || text[i] != '"' {
		end, _ := checkString(text, i)
		if end == 0 {
			return 0, refuseString(text, i)
		}
		i = end - 1
	}
	i++
	if i >= n || text[i] != ':' {
		if i = behindSpace(text, i); i >= n || text[i] != ':' {
			return 0, refuse(text, i)
		}
	}
	i++
	goto value

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

// literal reads one of the three words.
//
//go:noinline
func literal(text []byte) (size int, kind Kind) {
	switch {
	case starts(text, "null"):
		return 4, Null
	case starts(text, "true"):
		return 4, Bool
	case starts(text, "false"):
		return 5, Bool
	}
	return 0, Absent
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
