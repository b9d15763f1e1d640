package health

import (
	"cmp"
	"hash/maphash"
	"math/bits"
	"slices"
	"strconv"

	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/jsontext"
	"github.com/rollscope/rollscope/core/rollout"
)

// keys gives every different task, rollout or stage index a small number, so that a row needs four bytes
// for one. Columns instead of structs: a million tasks must fit into a browser.
type keys struct {
	kinds  []byte
	values []uint64 // magnitude, or position in texts
	texts  []string
	slots  []uint32 // open-addressed index: number of the key plus one
}

// Kinds of keys. Their order is not the order of reports.
const (
	keyNone byte = iota
	keyPositive
	keyNegative
	keyText
)

var seed = maphash.MakeSeed()

func (k *keys) len() int { return len(k.kinds) }

// hash spreads a key; tables index with its high bits.
func hashKey(kind byte, value uint64, text string) uint64 {
	if kind == keyText {
		return maphash.String(seed, text)
	}
	return mix(mix(uint64(kind)) + value)
}

// mix is a finaliser: every bit of n moves every bit of the result.
func mix(n uint64) uint64 {
	n = (n ^ n>>30) * 0xBF58476D1CE4E5B9
	n = (n ^ n>>27) * 0x94D049BB133111EB
	return n ^ n>>31
}

// intern gives the number of a key.
func (k *keys) intern(key rollout.Key) uint32 {
	kind, value, text := keyNone, uint64(0), ""
	switch {
	case key.IsNone():
	case key.IsInt():
		kind, value = keyPositive, key.Int.Magnitude
		if key.Int.Negative && value != 0 {
			kind = keyNegative
		}
	default:
		kind, text = keyText, key.Text
	}
	if 2*(k.len()+1) > len(k.slots) {
		k.grow()
	}
	mask := uint64(len(k.slots) - 1)
	for s := hashKey(kind, value, text) & mask; ; s = (s + 1) & mask {
		i := k.slots[s]
		if i == 0 {
			k.slots[s] = uint32(k.len()) + 1
			if kind == keyText {
				value = uint64(len(k.texts))
				k.texts = append(k.texts, text)
			}
			k.kinds = append(k.kinds, kind)
			k.values = append(k.values, value)
			return uint32(k.len()) - 1
		}
		if i--; k.kinds[i] == kind && (kind == keyText && k.texts[k.values[i]] == text || kind != keyText && k.values[i] == value) {
			return i
		}
	}
}

func (k *keys) grow() {
	k.slots = make([]uint32, max(16, 2*len(k.slots)))
	mask := uint64(len(k.slots) - 1)
	for i := range k.kinds {
		s := hashKey(k.kinds[i], k.values[i], k.text(uint32(i))) & mask
		for k.slots[s] != 0 {
			s = (s + 1) & mask
		}
		k.slots[s] = uint32(i) + 1
	}
}

// text is the text of a text key.
func (k *keys) text(i uint32) string {
	if k.kinds[i] == keyText {
		return k.texts[k.values[i]]
	}
	return ""
}

// key is the key with a number.
func (k *keys) key(i uint32) rollout.Key {
	switch k.kinds[i] {
	case keyNone:
		return rollout.Key{}
	case keyText:
		return rollout.TextKey(k.text(i))
	}
	return rollout.IntKey(jsonscan.Integer{Negative: k.kinds[i] == keyNegative, Magnitude: k.values[i]})
}

// isNone tells whether the key stands for no index.
func (k *keys) isNone(i uint32) bool { return k.kinds[i] == keyNone }

// isText tells whether the key is a text.
func (k *keys) isText(i uint32) bool { return k.kinds[i] == keyText }

// appendText appends the key as text. Keys of different kinds can look alike.
func (k *keys) appendText(dst []byte, i uint32) []byte {
	switch k.kinds[i] {
	case keyNone:
		return append(dst, "None"...)
	case keyText:
		return append(dst, k.text(i)...)
	case keyNegative:
		dst = append(dst, '-')
	}
	return strconv.AppendUint(dst, k.values[i], 10)
}

// appendPair appends what the id of a row without one is made of.
func (k *keys) appendPair(dst []byte, task, repeat uint32) []byte {
	return k.appendText(append(k.appendText(dst, task), '-'), repeat)
}

// appendJSON appends the key as a JSON value.
func (k *keys) appendJSON(dst []byte, i uint32) []byte {
	switch k.kinds[i] {
	case keyNone:
		return append(dst, "null"...)
	case keyText:
		return jsontext.AppendQuoted(dst, k.text(i))
	}
	return k.appendText(dst, i)
}

// compare orders keys as verdict rows are: whole numbers by value, then everything else by text, no key
// among them as None.
func (k *keys) compare(a, b uint32) int {
	ka, kb := k.kinds[a], k.kinds[b]
	switch {
	case ka == keyPositive && kb == keyPositive:
		return cmp.Compare(k.values[a], k.values[b])
	case ka == keyNegative && kb == keyNegative:
		return cmp.Compare(k.values[b], k.values[a])
	case ka == keyNegative && kb == keyPositive:
		return -1
	case ka == keyPositive && kb == keyNegative:
		return 1
	case ka == keyPositive || ka == keyNegative:
		return -1
	case kb == keyPositive || kb == keyNegative:
		return 1
	}
	return cmp.Compare(k.orderText(a), k.orderText(b))
}

func (k *keys) orderText(i uint32) string {
	if k.isNone(i) {
		return "None"
	}
	return k.text(i)
}

// ranks numbers the keys by their order; those that tie have the same rank.
func (k *keys) ranks() (ranks []uint32, distinct int) {
	order := make([]uint32, k.len())
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, k.compare)
	ranks = make([]uint32, k.len())
	for n, i := range order {
		if n > 0 && k.compare(order[n-1], i) != 0 {
			distinct++
		}
		ranks[i] = uint32(distinct)
	}
	return ranks, distinct + 1
}

// A group index finds rows that agree in up to three small numbers.
type groupIndex struct {
	slots []uint32
	mask  uint64
}

func newGroupIndex(n int) groupIndex {
	size := 1 << bits.Len(uint(2*n))
	return groupIndex{make([]uint32, size), uint64(size - 1)}
}

func (g *groupIndex) slot(a, b, c uint32) uint64 {
	return mix(mix(uint64(a)<<32|uint64(b))+uint64(c)) & g.mask
}

func (g *groupIndex) next(slot uint64) uint64 { return (slot + 1) & g.mask }
