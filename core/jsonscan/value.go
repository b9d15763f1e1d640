package jsonscan

import (
	"bytes"
	"unicode/utf8"
)

// Kind tells what a [Value] is. The zero Kind belongs to a value that is not there.
type Kind uint8

// The kinds of the value model. Int and Float are told apart as the reference does: a literal without
// fraction and exponent is an Int if it fits −2^63 … 2^64−1 and a Float otherwise.
const (
	Absent Kind = iota
	Null
	Bool
	Int
	Float
	String
	Array
	Object
)

var kindNames = [...]string{"absent", "null", "bool", "int", "float", "string", "array", "object"}

// String gives the lower-case name of the kind.
func (k Kind) String() string { return kindNames[k] }

// doc is one scanned text and the ends of its containers.
type doc struct {
	text  []byte
	marks []mark
}

// mark says where the container that opened as the n-th of its text ends. Containers beyond the bound of
// the tape have no mark; readers then find the end by looking.
type mark struct {
	end    uint32 // offset behind the closing bracket
	next   uint32 // number of the first container that opens behind it
	height uint16 // levels of nesting, itself included
}

// A Value is one JSON value inside a scanned text. The zero Value is absent.
type Value struct {
	doc     *doc
	at, end uint32
	mark    uint32 // number of the first container that opens at or behind at
}

// Exists tells whether the value is there at all; null exists.
func (v Value) Exists() bool { return v.doc != nil }

// Offset is the position of the value's first byte in the scanned text.
func (v Value) Offset() int { return int(v.at) }

// Len is the length of the value's text in bytes.
func (v Value) Len() int { return int(v.end - v.at) }

// Raw is the value's text as written. It must not be changed or kept.
func (v Value) Raw() []byte {
	if v.doc == nil {
		return nil
	}
	return v.doc.text[v.at:v.end:v.end]
}

// Kind tells what the value is.
func (v Value) Kind() Kind {
	if v.doc == nil {
		return Absent
	}
	switch c := v.doc.text[v.at]; c {
	case '{':
		return Object
	case '[':
		return Array
	case '"':
		return String
	case 'n':
		return Null
	case 't', 'f':
		return Bool
	}
	if _, ok := v.Integer(); ok {
		return Int
	}
	return Float
}

// IsNull tells whether the value is null or absent, the two forms of "nothing" that most readers treat alike.
func (v Value) IsNull() bool { return v.doc == nil || v.doc.text[v.at] == 'n' }

// IsObject, IsArray and IsString are quick forms of a comparison with [Value.Kind].
func (v Value) IsObject() bool { return v.doc != nil && v.doc.text[v.at] == '{' }

// IsArray tells whether the value is an array.
func (v Value) IsArray() bool { return v.doc != nil && v.doc.text[v.at] == '[' }

// IsString tells whether the value is a string.
func (v Value) IsString() bool { return v.doc != nil && v.doc.text[v.at] == '"' }

// Truth is the value of a bool; ok is false for every other kind.
func (v Value) Truth() (truth, ok bool) {
	if v.doc == nil {
		return false, false
	}
	switch v.doc.text[v.at] {
	case 't':
		return true, true
	case 'f':
		return false, true
	}
	return false, false
}

// Truthy follows the reference's language: null, false, zero, "", [] and {} are false, and so is an absent
// value; everything else is true.
func (v Value) Truthy() bool {
	switch v.Kind() {
	case Absent, Null:
		return false
	case Bool:
		return v.doc.text[v.at] == 't'
	case Int:
		n, _ := v.Integer()
		return n.Magnitude != 0
	case Float:
		f, _ := v.Float()
		return f != 0
	case String:
		return v.end-v.at > 2
	}
	for _, c := range v.doc.text[v.at+1 : v.end-1] {
		if !space(c) {
			return true
		}
	}
	return false
}

// Height counts the levels of nesting below and including the value: 1 for a scalar or an empty
// container, 2 for an array of scalars.
func (v Value) Height() int {
	if !v.IsObject() && !v.IsArray() {
		return 1
	}
	height := 0
	if int(v.mark) < len(v.doc.marks) {
		height = int(v.doc.marks[v.mark].height)
	} else {
		height = heightOf(v.doc.text[v.at:v.end])
	}
	return height
}

// Members walks an object's members in the order of the text; on any other kind there are none.
func (v Value) Members() Members {
	if !v.IsObject() {
		return Members{}
	}
	return Members{walk: walk{doc: v.doc, at: v.at + 1, mark: v.mark + 1}}
}

// Elements walks an array's elements; on any other kind there are none.
func (v Value) Elements() Elements {
	if !v.IsArray() {
		return Elements{}
	}
	return Elements{walk: walk{doc: v.doc, at: v.at + 1, mark: v.mark + 1}}
}

// Get finds a member of an object by its exact name; the last of repeated ones wins. The result is absent
// when there is no such member or v is no object.
func (v Value) Get(key string) Value {
	var found Value
	for m := v.Members(); m.Next(); {
		if string(m.Key) == key {
			found = m.Value
		}
	}
	return found
}

// Is tells whether the value is exactly this string.
func (v Value) Is(s string) bool {
	if !v.IsString() {
		return false
	}
	inner := v.doc.text[v.at+1 : v.end-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return string(inner) == s
	}
	return string(unescape(nil, inner)) == s
}

// Text is the decoded content of a string, "" for any other kind.
func (v Value) Text() string {
	if !v.IsString() {
		return ""
	}
	inner := v.doc.text[v.at+1 : v.end-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return string(inner)
	}
	return string(unescape(nil, inner))
}

// AppendText appends the decoded content of a string to dst; other kinds append nothing.
func (v Value) AppendText(dst []byte) []byte {
	if !v.IsString() {
		return dst
	}
	return unescape(dst, v.doc.text[v.at+1:v.end-1])
}

// Escaped gives the string's content between its quotes, escapes as written, and whether there are any.
func (v Value) Escaped() (inner []byte, escapes bool) {
	if !v.IsString() {
		return nil, false
	}
	inner = v.doc.text[v.at+1 : v.end-1]
	return inner, bytes.IndexByte(inner, '\\') >= 0
}

// walk is a position between the parts of a container.
type walk struct {
	doc  *doc
	at   uint32
	mark uint32
}

// Members is a walk over an object: call Next, then read Key and Value.
type Members struct {
	walk
	Key   []byte // decoded name; valid until the next call of Next
	Value Value
}

// Elements is a walk over an array: call Next, then read Value.
type Elements struct {
	walk
	Value Value
}

// Next moves to the next member and tells whether there is one.
func (m *Members) Next() bool {
	if m.doc == nil || !m.start() {
		return false
	}
	text := m.doc.text
	key := m.at + 1
	end, escapes := stringEnd(text, key)
	m.Key = text[key : end-1]
	if escapes {
		m.Key = unescape(nil, m.Key)
	}
	m.at = end
	for text[m.at] != ':' {
		m.at++
	}
	m.at++
	m.Value = m.value()
	return true
}

// Next moves to the next element and tells whether there is one.
func (e *Elements) Next() bool {
	if e.doc == nil || !e.start() {
		return false
	}
	e.Value = e.value()
	return true
}

// start moves to the first byte of the next part; false at the closing bracket.
func (w *walk) start() bool {
	text := w.doc.text
	for {
		switch text[w.at] {
		case ' ', '\t', '\n', '\r', ',':
			w.at++
		case ']', '}':
			return false
		default:
			return true
		}
	}
}

// value reads the value at or behind the position and moves behind it.
func (w *walk) value() Value {
	text := w.doc.text
	for space(text[w.at]) {
		w.at++
	}
	v := Value{doc: w.doc, at: w.at, mark: w.mark}
	switch text[w.at] {
	case '{', '[':
		if int(w.mark) < len(w.doc.marks) {
			m := &w.doc.marks[w.mark]
			w.at, w.mark = m.end, m.next
		} else {
			w.at = containerEnd(text, w.at)
		}
	case '"':
		w.at, _ = stringEnd(text, w.at+1)
	default:
		for w.at < uint32(len(text)) && !ends(text[w.at]) {
			w.at++
		}
	}
	v.end = w.at
	return v
}

// space tells whether c is JSON white space.
func space(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

// ends tells whether c cannot belong to a number or a literal.
func ends(c byte) bool { return c == ',' || c == ']' || c == '}' || space(c) }

// stringEnd finds the offset behind the closing quote of a valid string whose content begins at at.
func stringEnd(text []byte, at uint32) (end uint32, escapes bool) {
	for {
		i := bytes.IndexByte(text[at:], '"')
		quote := at + uint32(i)
		slash := bytes.IndexByte(text[at:quote], '\\')
		if slash < 0 {
			return quote + 1, escapes
		}
		escapes = true
		at += uint32(slash) + 2
	}
}

// containerEnd finds the offset behind the bracket that closes the valid container at at.
func containerEnd(text []byte, at uint32) uint32 {
	depth := 0
	for {
		switch text[at] {
		case '"':
			at, _ = stringEnd(text, at+1)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return at + 1
			}
		}
		at++
	}
}

// heightOf counts the levels of a valid container.
func heightOf(text []byte) int {
	depth, height := 0, 0
	for at := uint32(0); at < uint32(len(text)); at++ {
		switch text[at] {
		case '"':
			end, _ := stringEnd(text, at+1)
			at = end - 1
		case '{', '[':
			depth++
			// An empty container is a leaf like a scalar; members of a filled one stand a level deeper.
			height = max(height, depth)
		case '}', ']':
			depth--
		case ' ', '\t', '\n', '\r', ',', ':':
		default:
			height = max(height, depth+1)
		}
		if text[at] == '"' && depth > 0 {
			height = max(height, depth+1)
		}
	}
	return height
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
			r := hex4(inner)
			inner = inner[4:]
			if r >= 0xD800 && r < 0xDC00 {
				r = 0x10000 + (r-0xD800)<<10 + (hex4(inner[2:]) - 0xDC00)
				inner = inner[6:]
			}
			dst = utf8.AppendRune(dst, r)
		default:
			dst = append(dst, c)
		}
	}
}

// hex4 reads four hexadecimal digits, −1 if they are not.
func hex4(b []byte) rune {
	if len(b) < 4 {
		return -1
	}
	var r rune
	for _, c := range b[:4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}
