package jsonscan

import "math/bits"

// Names are the names of members that [Value.Gather] looks for.
type Names struct {
	names []name
	slots []uint8 // number of a name plus one, by its hash; 0 where free
}

// A name is held against a text by words: its bytes and the closing quote, with zeros behind.
type name struct {
	text  string
	size  int // with the closing quote
	words [nameWords]uint64
	masks [nameWords]uint64 // ones where words has bytes of the name
}

// nameWords is how many words of a name are compared. A longer name is always looked up.
const nameWords = 4

// NewNames makes the names for [Value.Gather]. At most 127 are taken, of plain ASCII characters; others are a
// mistake of the program, and it panics.
func NewNames(texts ...string) *Names {
	size := 16
	for size < 2*len(texts) {
		size *= 2
	}
	if len(texts) > 127 {
		panic("jsonscan: too many names")
	}
	n := &Names{names: make([]name, len(texts)), slots: make([]uint8, size)}
	for i, text := range texts {
		k := &n.names[i]
		k.text, k.size = text, len(text)+1
		for j, c := range []byte(text + `"`) {
			if j < len(text) && (c < ' ' || c > '~' || c == '"' || c == '\\') {
				panic("jsonscan: a name that is not plain: " + text)
			}
			if j < 8*nameWords {
				k.words[j/8] |= uint64(c) << (j % 8 * 8)
				k.masks[j/8] |= 0xFF << (j % 8 * 8)
			}
		}
		if k.size > 8*nameWords {
			k.words[0], k.masks[0] = 1, 0 // fits no text
		}
		s := n.slot([]byte(text))
		for n.slots[s] != 0 {
			s = (s + 1) & (size - 1)
		}
		n.slots[s] = uint8(i) + 1
	}
	return n
}

// slot is where the search for a name begins.
func (n *Names) slot(key []byte) int {
	h := uint32(len(key))
	if len(key) > 0 {
		h += uint32(key[0])<<8 + uint32(key[len(key)-1])<<16 + uint32(key[len(key)/2])<<24
	}
	return int(h*0x9E3779B1>>16) & (len(n.slots) - 1)
}

// find gives the number of a name, −1 if there is none such. Of equal ones it is the first.
func (n *Names) find(key []byte) int {
	s := n.slot(key)
	for n.slots[s] != 0 {
		if i := int(n.slots[s]) - 1; n.names[i].text == string(key) {
			return i
		}
		s = (s + 1) & (len(n.slots) - 1)
	}
	return -1
}

// look reads the key whose text begins at i: the offset behind its closing quote, and its number.
func (n *Names) look(text []byte, i int) (end, number int) {
	end, escapes := stringEnd(text, i)
	if escapes {
		var room [64]byte
		return end, n.find(unescape(room[:0], text[i:end-1]))
	}
	return end, n.find(text[i : end-1])
}

// Gather puts the values of an object's members at the places of their names in out, which has as many as there
// are names; of a repeated name the last value stands, and places of names that are not there keep what
// they hold. It returns the value of the first member with any other name, absent if there is none, or v
// is no object.
//
// This is what reading a row does most, so the walk is written out here, and the name that follows the one
// found last is tried first: where members come in the order of the names, no end of a key is searched for.
func (v Value) Gather(n *Names, out []Value) (other Value) {
	if !v.IsObject() {
		return other
	}
	d := v.doc
	text := d.text
	i, mark := int(v.at)+1, v.mark()
	if d.marked(v.at, mark) != nil {
		mark++
	}
	until := d.until(mark)
	next := 0
	for {
		if text[i] == ',' {
			i++
		}
		if text[i] != '"' {
			if i = behindComma(text, i); text[i] == '}' {
				return other
			}
		}
		i++
		number := -1
		if next < len(n.names) && i+8*nameWords <= len(text) {
			k := &n.names[next]
			if (load(text, i)^k.words[0])&k.masks[0]|(load(text, i+8)^k.words[1])&k.masks[1] == 0 &&
				(k.size <= 16 || (load(text, i+16)^k.words[2])&k.masks[2]|(load(text, i+24)^k.words[3])&k.masks[3] == 0) &&
				k.masks[0] != 0 {
				number = next
				i += k.size
			}
		}
		if number < 0 {
			i, number = n.look(text, i)
		}
		next = number + 1
		if text[i] != ':' {
			i = behindSpace(text, i)
		}
		if i++; text[i] <= ' ' {
			i = behindSpace(text, i)
		}

		at, first := i, text[i]
		note := noteOf(mark, first)
		switch {
		case uint32(i) == until:
			m := &d.marks[mark]
			if !m.escapes {
				note |= plainBit
			}
			i, mark = int(m.end), m.next
			until = d.until(mark)
		case first == '"':
			i++
			for i+8 <= len(text) {
				m := quotes(load(text, i))
				i += bits.TrailingZeros64(m) >> 3
				if m != 0 {
					break
				}
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
		case first == 'n' || first == 't':
			i += 4
		case first == 'f':
			i += 5
		case first == '{' || first == '[':
			var end uint32
			end, mark = d.skip(uint32(i), mark)
			i = int(end)
		default:
			i = behindNumber(text, i)
		}

		if number >= 0 {
			o := &out[number]
			o.doc, o.at, o.end, o.note = d, uint32(at), uint32(i), note
		} else {
			next = 0
			if other.doc == nil {
				other = Value{d, uint32(at), uint32(i), note}
			}
		}
	}
}

// behindComma moves over white space and a comma.
//
//go:noinline
func behindComma(text []byte, i int) int {
	for text[i] == ',' || space(text[i]) {
		i++
	}
	return i
}

// behindNumber gives the offset behind the valid number or literal at i.
func behindNumber(text []byte, i int) int {
	for i+8 <= len(text) {
		m := closes(load(text, i))
		i += bits.TrailingZeros64(m) >> 3
		if m != 0 {
			return i
		}
	}
	for i < len(text) && !ends(text[i]) {
		i++
	}
	return i
}
