package redact

import (
	"encoding/binary"
	"hash/maphash"
	"slices"
	"unicode/utf8"
)

const (
	maskCharacter = 'x'
	// shortest is how many characters a text has at least that is looked for elsewhere. Shorter ones are words that
	// say nothing about where they come from.
	shortest = 8
	// lowest is the first rung: texts are found by their first 8 bytes.
	lowest = 3
	// deepest bounds how often a text inside a text is unescaped.
	deepest = 8
)

// known are the texts that were taken out. Of each its length and hashes are kept, not the text, so that memory grows
// with their number alone.
//
// Texts stand on a ladder: one of n bytes is on the highest rung k with 2^k ≤ n, under the hash of its first 2^k bytes,
// and on every rung below stands that there is something above. Texts that begin alike are so told apart without
// looking at each. The hash is one of which that of every stretch of a text is had from those of its beginnings, so a
// text that begins like a known one at each of its places takes no longer than its length says.
type known struct {
	hash  hasher
	bloom []uint64 // of first 8 bytes
	// rungs gives, by the hash of a beginning of 2^k bytes, which of lengths are those of the texts that stand there; 0
	// for none.
	rungs   map[uint64]int32
	lengths [][]int // longest first
	whole   map[uint64]struct{}

	levels []level // of the text that is looked at
	spans  []span
}

// A span is a stretch of a text, to the byte behind it.
type span struct{ from, to int }

const bloomBits = 1 << 22

func newKnown() known {
	return known{
		hash: newHasher(maphash.Bytes(maphash.MakeSeed(), nil)), bloom: make([]uint64, bloomBits/64),
		rungs: map[uint64]int32{}, lengths: make([][]int, 1), whole: map[uint64]struct{}{},
	}
}

func bloomAt(text []byte) (word int, bit uint64) {
	h := binary.LittleEndian.Uint64(text) * 0x9e3779b97f4a7c15 >> 42
	return int(h / 64), 1 << (h % 64)
}

// keyed tells hashes of stretches of different lengths apart.
func keyed(hash uint64, length int) uint64 { return hash ^ uint64(length)*0x9e3779b97f4a7c15 }

// add takes a text in.
func (k *known) add(text []byte) {
	if len(text) < shortest || utf8.RuneCount(text) < shortest {
		return
	}
	// The hashes of the beginnings lie on the way to that of the whole.
	n, hash, done := lowest, uint64(0), 0
	for ; ; n++ {
		hash = k.hash.extend(hash, text[done:1<<n])
		done = 1 << n
		if 1<<(n+1) > len(text) {
			break
		}
		if at := keyed(hash, done); k.rungs[at] == 0 {
			k.rungs[at] = 0
		}
	}
	whole := keyed(k.hash.extend(hash, text[done:]), len(text))
	if _, there := k.whole[whole]; there {
		return
	}
	k.whole[whole] = struct{}{}
	word, bit := bloomAt(text)
	k.bloom[word] |= bit
	at := keyed(hash, done)
	list := k.rungs[at]
	if list == 0 {
		list = int32(len(k.lengths))
		k.lengths = append(k.lengths, nil)
		k.rungs[at] = list
	}
	i, there := slices.BinarySearchFunc(k.lengths[list], len(text), func(a, b int) int { return b - a })
	if !there {
		k.lengths[list] = slices.Insert(k.lengths[list], i, len(text))
	}
}

// longest is the length of the longest known text that stands at a place of another one, 0 for none.
func (k *known) longest(t *hashed, at int) int {
	rest := len(t.text) - at
	if _, there := k.rungs[keyed(k.hash.extend(0, t.text[at:at+1<<lowest]), 1<<lowest)]; !there {
		return 0
	}
	var lists [64]int32
	top := lowest
	for n := lowest; n < len(lists) && 1<<n <= rest; n++ {
		list, there := k.rungs[keyed(t.stretch(at, 1<<n), 1<<n)]
		if !there {
			break
		}
		lists[n], top = list, n
	}
	for n := top; n >= lowest; n-- {
		for _, length := range k.lengths[lists[n]] {
			if length > rest {
				continue
			}
			if _, there := k.whole[keyed(t.stretch(at, length), length)]; there {
				return length
			}
		}
	}
	return 0
}

// find appends where known texts stand in a text, in order; stretches that overlap are one.
func (k *known) find(list []span, text []byte) []span {
	t := hashed{hasher: &k.hash, text: text}
	for i := 0; i+1<<lowest <= len(text); i++ {
		if word, bit := bloomAt(text[i:]); k.bloom[word]&bit == 0 {
			continue
		}
		length := k.longest(&t, i)
		if length == 0 {
			continue
		}
		if n := len(list); n > 0 && list[n-1].to >= i {
			list[n-1].to = max(list[n-1].to, i+length)
		} else {
			list = append(list, span{i, i + length})
		}
	}
	return list
}

// mask writes a text with every known one in it masked, also where it stands behind escapes as inside of JSON that is
// itself a text. found is false if there is none; nothing is written then.
func (k *known) mask(dst, text []byte) (out []byte, found bool) {
	if len(k.whole) == 0 {
		return dst, false
	}
	k.spans = k.find(k.spans[:0], text)
	inner := text
	for n := range deepest {
		if n == len(k.levels) {
			k.levels = append(k.levels, level{})
		}
		if !k.levels[n].unescape(inner) {
			break
		}
		inner = k.levels[n].text
		before := len(k.spans)
		k.spans = append(k.spans, k.find(nil, inner)...)
		for i := range k.spans[before:] {
			s := &k.spans[before+i]
			for up := n; up >= 0; up-- {
				s.from, s.to = k.levels[up].outside(s.from), k.levels[up].outside(s.to)
			}
		}
	}
	if len(k.spans) == 0 {
		return dst, false
	}
	slices.SortFunc(k.spans, func(a, b span) int { return a.from - b.from })
	done := 0
	for _, s := range k.spans {
		if s.to <= done {
			continue
		}
		if s.from > done {
			dst, done = append(dst, text[done:s.from]...), s.from
		}
		dst = appendMask(dst, text[done:s.to])
		done = s.to
	}
	return append(dst, text[done:]...), true
}

// appendMask writes as many x as a text has characters.
func appendMask(dst, text []byte) []byte {
	for range utf8.RuneCount(text) {
		dst = append(dst, maskCharacter)
	}
	return dst
}
