package records

// Names keeps each text once and calls it by a number. Number 0 is the empty text.
type Names struct {
	list []string
	at   map[string]int32
	last int32 // most rows name what the row before them named
}

// Number gives the number of a text.
func (n *Names) Number(text []byte) int32 {
	if len(text) == 0 {
		return 0
	}
	if n.last > 0 && n.list[n.last] == string(text) {
		return n.last
	}
	if i, ok := n.at[string(text)]; ok {
		n.last = i
		return i
	}
	if n.at == nil {
		n.at, n.list = map[string]int32{}, []string{""}
	}
	s := string(text)
	i := int32(len(n.list))
	n.list = append(n.list, s)
	n.at[s] = i
	return i
}

// Text gives the text of a number.
func (n *Names) Text(i int32) string {
	if i == 0 {
		return ""
	}
	return n.list[i]
}

// Pair is a text that two pairs of indices, given as JSON, share exactly if they are equal. An absent index, the empty
// text, counts as null.
func Pair[T string | []byte](task, index T) string {
	return key([]byte(task)) + "," + key([]byte(index))
}

// String is the name of a file in documents for people.
func (f File) String() string { return [...]string{"inputs", "failures", "results"}[f] }
