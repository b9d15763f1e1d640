package jsonscan

import "math/bits"

// walk is a position between the parts of a container.
type walk struct {
	doc  *doc
	at   uint32
	mark uint32 // number of the first mark at or behind at
}

// Members is a walk over an object: call Next, then read Key and Value.
type Members struct {
	walk
	Key   []byte // decoded name; valid until the next call of Next
	Value Value

	decoded []byte // memory for names with escapes
}

// Elements is a walk over an array: call Next, then read Value.
type Elements struct {
	walk
	Value Value
}

// Members walks an object's members in the order of the text; on any other kind there are none.
func (v Value) Members() Members {
	if !v.IsObject() {
		return Members{}
	}
	return Members{walk: v.inside()}
}

// Elements walks an array's elements; on any other kind there are none.
func (v Value) Elements() Elements {
	if !v.IsArray() {
		return Elements{}
	}
	return Elements{walk: v.inside()}
}

// inside is the position behind the opening bracket.
func (v Value) inside() walk {
	w := walk{doc: v.doc, at: v.at + 1, mark: v.mark()}
	if v.doc.marked(v.at, v.mark()) != nil {
		w.mark++
	}
	return w
}

// Next moves to the next member and tells whether there is one.
func (m *Members) Next() bool {
	if m.doc == nil {
		return false
	}
	text := m.doc.text
	i := int(m.at)
	for text[i] != '"' {
		if text[i] == '}' {
			return false
		}
		i++
	}
	i++
	key, escapes := i, false
	if i+8 <= len(text) {
		i += bits.TrailingZeros64(quotes(load(text, i))) >> 3
	}
	if text[i] == '"' {
		i++
	} else {
		i, escapes = stringEnd(text, i)
	}
	m.Key = text[key : i-1 : i-1]
	if escapes {
		m.decoded = unescape(m.decoded[:0], m.Key)
		m.Key = m.decoded
	}
	for text[i] != ':' {
		i++
	}
	i++
	for text[i] <= ' ' {
		i++
	}
	m.value(i, &m.Value)
	return true
}

// Next moves to the next element and tells whether there is one.
func (e *Elements) Next() bool {
	if e.doc == nil {
		return false
	}
	text := e.doc.text
	i := int(e.at)
	for text[i] <= ' ' || text[i] == ',' {
		i++
	}
	if text[i] == ']' {
		return false
	}
	e.value(i, &e.Value)
	return true
}

// value reads the value at i into v and moves behind it.
func (w *walk) value(i int, v *Value) {
	d := w.doc
	if v.doc == nil { // a pointer that stays is not written again, because that is looked at by the collector
		v.doc = d
	}
	text := d.text
	v.at = uint32(i)
	note := noteOf(w.mark, text[i])
	if int(w.mark) < len(d.marks) && d.marks[w.mark].at == uint32(i) {
		m := &d.marks[w.mark]
		if !m.escapes {
			note |= plainBit
		}
		w.at, w.mark, v.end, v.note = m.end, m.next, m.end, note
		return
	}
	switch text[i] {
	case '"':
		i++
		if i+8 <= len(text) {
			i += bits.TrailingZeros64(quotes(load(text, i))) >> 3
		}
		if text[i] == '"' {
			i++
			note |= plainBit
		} else {
			var escapes bool
			if i, escapes = stringEnd(text, i); !escapes {
				note |= plainBit
			}
		}
	case '{', '[':
		var end uint32
		end, w.mark = d.skip(uint32(i), w.mark)
		i = int(end)
	default:
		i = behindNumber(text, i)
	}
	w.at, v.end, v.note = uint32(i), uint32(i), note
}
