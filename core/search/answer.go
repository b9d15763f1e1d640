package search

import (
	"encoding/binary"
	"errors"

	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/rollout"
)

// An answer is what a second scan keeps of a row: nothing if it has no hit, else
//
//	version  one byte
//	count    of all hits
//	kept     number of hits that follow
//	hits     part, cut, turn, places and texts, one behind the other
//
// with numbers as uvarints and texts behind their lengths.
const answerVersion = 1

// An Answer is what a second scan has found in a row.
type Answer struct {
	Count int
	Hits  []Hit // the first ones
}

// Append answers for a row, as a mapper of a second scan. Several goroutines may call it at once.
func (s *Search) Append(dst []byte, line *jsonl.Line, row *rollout.Row) []byte {
	if row.Problem != nil || !s.Could(line.Bytes) {
		return dst
	}
	f, _ := s.finders.Get().(*Finder)
	if f == nil {
		f = s.Finder()
	}
	defer s.finders.Put(f)
	f.lines = s.options.Keep
	count, kept := 0, 0
	var room [1024]byte
	hits := room[:0]
	f.Row(row, func(h *Hit) bool {
		count++
		if kept < s.options.Keep {
			kept++
			hits = h.append(hits)
		}
		return true
	})
	if count == 0 {
		return dst
	}
	dst = append(dst, answerVersion)
	dst = binary.AppendUvarint(dst, uint64(count))
	dst = binary.AppendUvarint(dst, uint64(kept))
	return append(dst, hits...)
}

// Passes tells by the bytes of a line that Append has nothing to keep of it.
func (s *Search) Passes(line []byte) bool { return !s.Could(line) }

func (h *Hit) append(dst []byte) []byte {
	cut := byte(0)
	if h.Cut {
		cut = 1
	}
	dst = append(dst, byte(h.Part), cut)
	for _, n := range [...]int{h.Turn, h.Text, h.Offset, h.Length} {
		dst = binary.AppendUvarint(dst, uint64(n))
	}
	for _, s := range h.texts() {
		dst = binary.AppendUvarint(dst, uint64(len(*s)))
		dst = append(dst, *s...)
	}
	return dst
}

func (h *Hit) texts() [7]*string {
	return [...]*string{&h.Pointer, &h.Role, &h.Tool, &h.Call, &h.Before, &h.Match, &h.After}
}

var errAnswer = errors.New("damaged answer of a search")

// ParseAnswer reads what Append has made of a row.
func ParseAnswer(b []byte) (a Answer, err error) {
	if len(b) == 0 {
		return a, nil
	}
	if b[0] != answerVersion {
		return a, errAnswer
	}
	b = b[1:]
	ok := true
	number := func() int {
		n, size := binary.Uvarint(b)
		if size <= 0 || n > 1<<62 {
			ok, b = false, nil
			return 0
		}
		b = b[size:]
		return int(n)
	}
	a.Count = number()
	kept := number()
	if kept > a.Count || kept > len(b) {
		return Answer{}, errAnswer
	}
	for range kept {
		var h Hit
		if len(b) < 2 || b[0] > byte(ToolResult) || b[1] > 1 {
			return Answer{}, errAnswer
		}
		h.Part, h.Cut = Part(b[0]), b[1] == 1
		b = b[2:]
		for _, n := range [...]*int{&h.Turn, &h.Text, &h.Offset, &h.Length} {
			*n = number()
		}
		for _, s := range h.texts() {
			n := number()
			if n > len(b) {
				return Answer{}, errAnswer
			}
			*s, b = string(b[:n]), b[n:]
		}
		a.Hits = append(a.Hits, h)
	}
	if !ok || len(b) > 0 {
		return Answer{}, errAnswer
	}
	return a, nil
}

// Counts reads how many hits an answer counts and how many of them it has, without reading these.
func Counts(b []byte) (count, kept int) {
	if len(b) == 0 || b[0] != answerVersion {
		return 0, 0
	}
	n, size := binary.Uvarint(b[1:])
	if size <= 0 || n > 1<<62 {
		return 0, 0
	}
	k, size := binary.Uvarint(b[1+size:])
	if size <= 0 || k > n {
		return 0, 0
	}
	return int(n), int(k)
}

// AppendCount appends an answer without its hits, which are then counted alone. It is empty where the answer is.
func AppendCount(dst, answer []byte) []byte {
	count, _ := Counts(answer)
	if count == 0 {
		return dst
	}
	dst = append(dst, answerVersion)
	dst = binary.AppendUvarint(dst, uint64(count))
	return append(dst, 0)
}
