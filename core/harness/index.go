package harness

import (
	"bytes"
	"hash/maphash"
)

// An index finds things by keys (see appendKey). It reuses its memory.
type index struct {
	slots   []int32 // entries by hash, −1 for none; a power of two, more than there are entries
	entries []entry
	keys    []byte
}

type entry struct {
	hash     uint64
	from, to int   // of the key
	first    int32 // what was put first under the key
	count    int32
}

// The seed may differ from run to run, since nothing depends on the order of entries.
var seed = maphash.MakeSeed()

// reset empties the index and makes room for n keys.
func (x *index) reset(n int) {
	size := 8
	for size < 2*n {
		size *= 2
	}
	if size > len(x.slots) || size < len(x.slots)/64 {
		x.slots = make([]int32, size)
	}
	for i := range x.slots {
		x.slots[i] = -1
	}
	x.entries, x.keys = x.entries[:0], x.keys[:0]
}

// put adds what has a key.
func (x *index) put(key []byte, what int32) {
	hash := maphash.Bytes(seed, key)
	slot := x.slot(hash, key)
	if i := x.slots[slot]; i >= 0 {
		x.entries[i].count++
		return
	}
	x.slots[slot] = int32(len(x.entries))
	from := len(x.keys)
	x.keys = append(x.keys, key...)
	x.entries = append(x.entries, entry{hash, from, len(x.keys), what, 1})
}

// find tells how many things were put under a key, and which was the first.
func (x *index) find(key []byte) (first, count int32) {
	if i := x.slots[x.slot(maphash.Bytes(seed, key), key)]; i >= 0 {
		return x.entries[i].first, x.entries[i].count
	}
	return -1, 0
}

// slot is where a key is, or where it would be.
func (x *index) slot(hash uint64, key []byte) uint64 {
	mask := uint64(len(x.slots) - 1)
	for at := hash & mask; ; at = (at + 1) & mask {
		i := x.slots[at]
		if i < 0 {
			return at
		}
		if e := &x.entries[i]; e.hash == hash && bytes.Equal(x.keys[e.from:e.to], key) {
			return at
		}
	}
}
