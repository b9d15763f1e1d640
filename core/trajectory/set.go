package trajectory

import (
	"hash/maphash"

	"github.com/rollscope/rollscope/core/integer"
)

// A set tells whether an id was there before. Unlike a map it can be used again without cost.
type set struct {
	seed  maphash.Seed
	keys  []setKey
	slots []uint32 // index of a key plus one, 0 where free; twice as many as keys or more
}

type setKey struct {
	id []byte
	no integer.Int
}

// reset empties the set and makes room for n keys.
func (s *set) reset(n int) {
	if s.slots == nil {
		s.seed = maphash.MakeSeed()
	}
	size := 16
	for size < 2*n {
		size *= 2
	}
	if size > cap(s.slots) {
		s.slots = make([]uint32, size)
	} else {
		s.slots = s.slots[:size]
		clear(s.slots)
	}
	clear(s.keys)
	s.keys = s.keys[:0]
}

// add tells whether the key is new, and keeps it.
func (s *set) add(id []byte, no integer.Int) bool {
	low, _ := no.Int64()
	hash := maphash.Bytes(s.seed, id) + uint64(low)*0x9E3779B97F4A7C15
	mask := uint64(len(s.slots) - 1)
	at := (hash ^ hash>>32) & mask
	for ; s.slots[at] != 0; at = (at + 1) & mask {
		k := &s.keys[s.slots[at]-1]
		if string(k.id) == string(id) && k.no.Cmp(no) == 0 {
			return false
		}
	}
	s.keys = append(s.keys, setKey{id, no})
	s.slots[at] = uint32(len(s.keys))
	return true
}
