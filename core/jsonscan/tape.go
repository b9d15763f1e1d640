package jsonscan

// The tape tells readers where the large parts of a text end, so that walking past one costs nothing. It
// must not grow large itself: a mark takes 20 bytes, and a text of nothing but brackets has a container in
// every other byte. Therefore only containers of at least [tapedContainer] bytes and string values of at
// least [tapedString] bytes have a mark, and where the containers stand close, one per [cell] bytes.
//
// The end of a part without a mark is found by looking, with every marked part on the way skipped. That
// stays cheap, however deep a reader descends: among the containers around a byte, those that are large,
// have no mark, and lie inside no other marked one all open in one cell, so that a byte is looked at a few
// dozen times at most by a reader who visits everything.

const (
	tapedContainer = 64
	tapedString    = 128
	cell           = 64
	freely         = 1024 // marks that are given whatever their density
)

// A mark tells about one large part of a text.
type mark struct {
	at, end uint32 // its first byte, and the offset behind it
	next    uint32 // number of the first mark behind it
	count   uint32 // members or elements
	height  uint16 // levels of nesting, itself included
	kinds   Kinds  // of its members or elements
	escapes bool   // a string that has some
}

// crowded tells whether a container that opens at i must do without a mark.
func crowded(marks []mark, i int) bool {
	return len(marks) > freely+i/cell && marks[len(marks)-1].at/cell == uint32(i)/cell
}

// most bounds the number of marks for a text of n bytes.
func most(n int) int { return freely + 1 + 2*n/cell + n/tapedString }

// doc is one scanned text and its tape.
type doc struct {
	text  []byte
	marks []mark
}

// marked gives the mark of the part at at, if it has one; n is the number of the first mark at or behind it.
func (d *doc) marked(at, n uint32) *mark {
	if int(n) < len(d.marks) && d.marks[n].at == at {
		return &d.marks[n]
	}
	return nil
}

// skip finds the end of the container at at and the first mark behind it by looking.
func (d *doc) skip(at, n uint32) (end, next uint32) {
	text, depth := d.text, 0
	until := d.until(n)
	for {
		if at == until {
			at, n = d.marks[n].end, d.marks[n].next
			until = d.until(n)
			continue
		}
		switch text[at] {
		case '"':
			i, _ := stringEnd(text, int(at)+1)
			at = uint32(i)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return at + 1, n
			}
		}
		at++
	}
}

// until is the place of mark n.
func (d *doc) until(n uint32) uint32 {
	if int(n) < len(d.marks) {
		return d.marks[n].at
	}
	return MaxLength
}

// height counts the levels of the container at at by looking. Its first byte has no mark.
func (d *doc) height(at, end, n uint32) int {
	text, depth, height := d.text, 0, 1
	until := d.until(n)
	for at < end {
		if at == until {
			m := &d.marks[n]
			height = max(height, depth+int(m.height))
			at, n = m.end, m.next
			until = d.until(n)
			continue
		}
		switch text[at] {
		case '{', '[':
			depth++
			height = max(height, depth)
		case '}', ']':
			depth--
		case ' ', '\t', '\n', '\r', ',', ':':
		case '"':
			height = max(height, depth+1)
			i, _ := stringEnd(text, int(at)+1)
			at = uint32(i)
			continue
		default:
			height = max(height, depth+1)
		}
		at++
	}
	return height
}
