package jsonscan

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
	w := walk{doc: v.doc, at: v.at + 1, mark: v.mark}
	if v.doc.marked(v.at, v.mark) != nil {
		w.mark++
	}
	return w
}

// Next moves to the next member and tells whether there is one.
func (m *Members) Next() bool {
	if m.doc == nil || !m.start() {
		return false
	}
	text := m.doc.text
	key := int(m.at) + 1
	end, escapes := stringEnd(text, key)
	m.Key = text[key : end-1 : end-1]
	if escapes {
		m.decoded = unescape(m.decoded[:0], m.Key)
		m.Key = m.decoded
	}
	for text[end] != ':' {
		end++
	}
	end++
	for text[end] <= ' ' {
		end++
	}
	m.at = uint32(end)
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
	i := w.at
	for text[i] <= ' ' || text[i] == ',' {
		i++
	}
	w.at = i
	return text[i] != ']' && text[i] != '}'
}

// value reads the value at the position and moves behind it.
func (w *walk) value() Value {
	v := Value{doc: w.doc, at: w.at, mark: w.mark}
	text := w.doc.text
	switch c := text[w.at]; {
	case c == '"' || c == '{' || c == '[':
		if m := w.doc.marked(w.at, w.mark); m != nil {
			w.at, w.mark = m.end, m.next
		} else if c == '"' {
			end, _ := stringEnd(text, int(w.at)+1)
			w.at = uint32(end)
		} else {
			w.at, w.mark = w.doc.skip(w.at, w.mark)
		}
	default:
		i := int(w.at)
		for i < len(text) && !ends(text[i]) {
			i++
		}
		w.at = uint32(i)
	}
	v.end = w.at
	return v
}
