package check

import (
	"bytes"
	"hash/maphash"

	"github.com/rollscope/rollscope/core/trajectory"
)

// A table is an open-addressed index over items that somebody else holds. It stores their positions, plus
// one, and is emptied for every row without giving up its memory. Rows may be hostile: with tens of
// thousands of calls and references, comparing each with each would never end, and a known hash could be
// aimed at. So hashes are seeded, and nothing in a report depends on them.
//
// Use it with a loop of one's own, which needs no function value per comparison:
//
//	for s := t.slot(h); ; s = t.next(s) {
//		i := t.slots[s] - 1
//		if i < 0 { t.slots[s] = position + 1; break } // not there
//		if same(items[i], item) { break }             // there
//	}
type table struct {
	slots []int32
	mask  uint32
}

var seed = maphash.MakeSeed()

// reset empties the table and makes room for n items.
func (t *table) reset(n int) {
	size := 8
	for size < 2*n {
		size *= 2
	}
	if cap(t.slots) < size {
		t.slots = make([]int32, size)
	} else {
		t.slots = t.slots[:size]
		clear(t.slots)
	}
	t.mask = uint32(size - 1)
}

func (t *table) slot(h uint64) uint32    { return uint32(h^h>>32) & t.mask }
func (t *table) next(slot uint32) uint32 { return (slot + 1) & t.mask }

// mix adds one more part to a hash. Parts do not run together: ("a", "b") and ("ab", "") differ.
func mix(h uint64, part []byte) uint64 {
	return (h^maphash.Bytes(seed, part))*0x9E3779B97F4A7C15 + 1
}

func same(a, b trajectory.Text) bool { return bytes.Equal(a.Bytes, b.Bytes) }

// sameModel compares two models that are both set.
func sameModel(a, b *trajectory.ModelRef) bool { return same(a.Name, b.Name) && same(a.Type, b.Type) }
