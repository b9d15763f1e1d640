package view

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// refusedBlocks show the bytes of a line that cannot be read: its start, and the place that is wrong.
func refusedBlocks(line []byte, bad int64) []Block {
	const around = 1500
	blocks := []Block{}
	if zeros := zeroRun(line, bad); zeros > 16 {
		blocks = append(blocks, Block{ID: "zeros", Kind: "note", Title: count(zeros, "zero byte", "zero bytes"), Note: "from byte " + Group(bad) + " of the line"})
	}
	add := func(id, title string, from, to int64) {
		text := visible(line[from:to])
		b := Block{ID: id, Kind: "raw", Title: title, Text: text, Mono: true, Note: fmt.Sprintf("bytes %s to %s of %s", Group(from), Group(to), Group(int64(len(line))))}
		if rest := int64(len(line)) - to; rest > 0 {
			b.Folded = int(rest)
		}
		blocks = append(blocks, b)
	}
	size := int64(len(line))
	bad = min(max(bad, 0), size)
	if bad > 2*around {
		add("start", "start of the line", 0, around)
		add("place", "around the place that cannot stand", bad-around, min(bad+around, size))
		return blocks
	}
	add("start", "the line", 0, min(max(bad+around, 2*around), size))
	return blocks
}

func zeroRun(line []byte, at int64) int {
	n := 0
	for at >= 0 && at < int64(len(line)) && line[at] == 0 {
		at++
		n++
	}
	return n
}

// visible makes text of bytes that may be none: what is not UTF-8 is written as \xNN, and a long run of
// zero bytes as their number.
func visible(b []byte) string {
	var s strings.Builder
	for len(b) > 0 {
		if n := zeroRun(b, 0); n > 16 {
			fmt.Fprintf(&s, "⟨%s zero bytes⟩", Group(n))
			b = b[n:]
			continue
		}
		r, size := utf8.DecodeRune(b)
		if r == utf8.RuneError && size == 1 {
			fmt.Fprintf(&s, `\x%02x`, b[0])
		} else {
			s.WriteRune(r)
		}
		b = b[size:]
	}
	return s.String()
}
