package jsonscan

import "math"

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

const none = math.MaxUint32

// Scan validates text, which must be one JSON value with nothing but JSON white space around it, and
// returns that value. The error is an [*Error].
func (s *Scanner) Scan(text []byte) (Value, error) {
	if uint64(len(text)) > MaxLength {
		return Value{}, &Error{Reason: ReasonLength}
	}
	if s.stack == nil {
		s.stack = make([]level, MaxDepth+1)
	}
	s.doc.text = text
	v, err := s.scan(text)
	if err != nil {
		s.doc.marks = s.doc.marks[:0]
		return Value{}, err
	}
	return v, nil
}

func (s *Scanner) scan(text []byte) (Value, *Error) {
	n, i := len(text), 0
	marks := s.doc.marks[:0]
	stack := s.stack[:MaxDepth+1]
	depth := 0
	var l level // the innermost open container; the outer ones are stack[1:depth]

	for i < n && space(text[i]) {
		i++
	}
	if i == n {
		return Value{}, &Error{Offset: i, Reason: ReasonEmpty}
	}
	root := Value{doc: &s.doc, at: uint32(i)}

value:
	if i < n && text[i] <= ' ' {
		for i < n && space(text[i]) {
			i++
		}
	}
	if i >= n {
		return Value{}, refuse(text, i)
	}
	switch c := text[i]; {
	case c == '"':
		end, escapes := checkString(text, i+1)
		if end == 0 {
			return Value{}, refuseString(text, i+1)
		}
		if end-i >= tapedString {
			marks = append(marks, mark{at: uint32(i), end: uint32(end), next: uint32(len(marks)) + 1, height: 1, escapes: escapes})
		}
		l.kinds |= 1 << String
		i = end
	case c-'0' < 10 || c == '-':
		end, count, kinds := checkNumbers(text, i, depth > 0 && !l.object)
		if end == 0 {
			return Value{}, refuseNumber(text, i+int(count))
		}
		l.kinds |= kinds
		l.count += count
		i = end
	case c == '{' || c == '[':
		if depth == MaxDepth {
			return Value{}, &Error{Offset: i, Reason: ReasonDepth}
		}
		stack[depth] = l
		depth++
		l = level{at: uint32(i), mark: none, height: 1, object: c == '{'}
		if !crowded(marks, i) {
			l.mark = uint32(len(marks))
			marks = append(marks, mark{at: uint32(i)})
		}
		i++
		for i < n && space(text[i]) {
			i++
		}
		if i < n && text[i] == c+2 {
			goto closed
		}
		l.height = 2
		if c == '{' {
			goto key
		}
		goto value
	case c == 't' && starts(text[i:], "true"):
		l.kinds |= 1 << Bool
		i += 4
	case c == 'f' && starts(text[i:], "false"):
		l.kinds |= 1 << Bool
		i += 5
	case c == 'n' && starts(text[i:], "null"):
		l.kinds |= 1 << Null
		i += 4
	case c == ']' && depth > 0 && !l.object:
		return Value{}, &Error{Offset: i, Reason: ReasonComma}
	default:
		return Value{}, refuse(text, i)
	}

after:
	l.count++
	if depth == 0 {
		root.end = uint32(i)
		for i < n {
			if !space(text[i]) {
				return Value{}, refuseTrailing(text, i)
			}
			i++
		}
		s.doc.marks = marks
		return root, nil
	}
	if i < n && text[i] <= ' ' {
		for i < n && space(text[i]) {
			i++
		}
	}
	if i >= n {
		return Value{}, refuse(text, i)
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
			return Value{}, &Error{Offset: i, Reason: ReasonComma}
		}
		goto key
	}
	if l.object && text[i] == '}' || !l.object && text[i] == ']' {
		goto closed
	}
	return Value{}, refuse(text, i)

key:
	if i >= n || text[i] != '"' {
		return Value{}, refuse(text, i)
	}
	{
		end, _ := checkString(text, i+1)
		if end == 0 {
			return Value{}, refuseString(text, i+1)
		}
		i = end
		if i < n && text[i] <= ' ' {
			for i < n && space(text[i]) {
				i++
			}
		}
		if i >= n || text[i] != ':' {
			return Value{}, refuse(text, i)
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
	{
		height, kind := l.height+1, Kinds(1<<Array)
		if l.object {
			kind = 1 << Object
		}
		depth--
		l = stack[depth]
		l.height = max(l.height, height)
		l.kinds |= kind
	}
	goto after
}

// refuseTrailing names what stands behind the value.
func refuseTrailing(text []byte, i int) *Error {
	if text[i] == 0 {
		return zeros(text, i)
	}
	return &Error{Offset: i, Reason: ReasonTrailing}
}
