package redact

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"slices"
	"unicode/utf8"

	"github.com/rollscope/rollscope/core/jsontext"
)

const (
	maskCharacter = 'x'
	// shortest is how many characters a text has at least that is looked for elsewhere. Shorter ones are words that
	// say nothing about where they come from.
	shortest = 8
	// lowest is the first rung: texts are found by their first 8 bytes.
	lowest = 3
)

// known are the texts that were taken out. Of each its length and hashes are kept, not the text, so that memory grows
// with their number alone.
//
// Texts stand on a ladder: one of n bytes is on the highest rung k with 2^k ≤ n, under the hash of its first 2^k bytes,
// and on every rung below stands that there is something above. Texts that begin alike are so told apart without
// looking at each.
type known struct {
	seed  maphash.Seed
	bloom []uint64 // of first 8 bytes
	rungs map[rung][]mark
	form  []byte
}

type rung struct {
	k      int
	prefix uint64
}

// A mark is a whole text.
type mark struct {
	length int
	hash   uint64
}

const bloomBits = 1 << 20

func newKnown() known {
	return known{seed: maphash.MakeSeed(), bloom: make([]uint64, bloomBits/64), rungs: map[rung][]mark{}}
}

func (k *known) bloomAt(text []byte) (word int, bit uint64) {
	h := binary.LittleEndian.Uint64(text) * 0x9e3779b97f4a7c15 >> 44
	return int(h / 64), 1 << (h % 64)
}

// add takes a text in, and the forms it has inside of JSON that is itself a text.
func (k *known) add(text []byte) {
	if utf8.RuneCount(text) < shortest {
		return
	}
	k.addForm(text)
	for _, quote := range []func([]byte, string) []byte{jsontext.AppendQuoted[string], jsontext.AppendQuotedASCII} {
		k.form = quote(k.form[:0], string(text))
		if inner := k.form[1 : len(k.form)-1]; !bytes.Equal(inner, text) {
			k.addForm(inner)
		}
	}
}

func (k *known) addForm(text []byte) {
	word, bit := k.bloomAt(text)
	k.bloom[word] |= bit
	n := lowest
	for ; 1<<(n+1) <= len(text); n++ {
		if at := (rung{n, maphash.Bytes(k.seed, text[:1<<n])}); k.rungs[at] == nil {
			k.rungs[at] = []mark{}
		}
	}
	at := rung{n, maphash.Bytes(k.seed, text[:1<<n])}
	m := mark{len(text), maphash.Bytes(k.seed, text)}
	if list := k.rungs[at]; !slices.Contains(list, m) {
		k.rungs[at] = append(list, m)
	}
}

// longest is the length of the longest known text that another one begins with, 0 for none.
func (k *known) longest(text []byte) (length int) {
	for n := lowest; 1<<n <= len(text); n++ {
		list, there := k.rungs[rung{n, maphash.Bytes(k.seed, text[:1<<n])}]
		if !there {
			break
		}
		for _, m := range list {
			if m.length > length && m.length <= len(text) && maphash.Bytes(k.seed, text[:m.length]) == m.hash {
				length = m.length
			}
		}
	}
	return length
}

// mask writes a text with every known one in it masked, the longest first. found is false if there is none; nothing
// is written then.
func (k *known) mask(dst, text []byte) (out []byte, found bool) {
	from := 0 // what is not written yet
	for i := 0; i+1<<lowest <= len(text); {
		length := 0
		if word, bit := k.bloomAt(text[i:]); k.bloom[word]&bit != 0 {
			length = k.longest(text[i:])
		}
		if length == 0 {
			i++
			continue
		}
		found = true
		dst = append(dst, text[from:i]...)
		for range utf8.RuneCount(text[i : i+length]) {
			dst = append(dst, maskCharacter)
		}
		i += length
		from = i
	}
	if !found {
		return dst, false
	}
	return append(dst, text[from:]...), true
}
