package redact

import "math/bits"

// A hasher makes hashes of texts: the value of the text as a number of base base, modulo the prime 2^61−1. The base is
// drawn by chance, so nobody can choose texts that have the same.
type hasher struct {
	base   uint64
	powers [48]uint64 // of the base: the 2^n-th at n
}

const prime = 1<<61 - 1

func newHasher(seed uint64) hasher {
	h := hasher{base: seed%(prime-1000) + 500}
	h.powers[0] = h.base
	for n := 1; n < len(h.powers); n++ {
		h.powers[n] = product(h.powers[n-1], h.powers[n-1])
	}
	return h
}

func reduced(n uint64) uint64 {
	if n = n&prime + n>>61; n >= prime {
		n -= prime
	}
	return n
}

func product(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return reduced(lo&prime + (hi<<3 | lo>>61))
}

// extend gives the hash of a text that goes on.
func (h *hasher) extend(hash uint64, text []byte) uint64 {
	for _, c := range text {
		hash = reduced(product(hash, h.base) + uint64(c) + 1)
	}
	return hash
}

// power gives the base to a power.
func (h *hasher) power(n int) uint64 {
	p := uint64(1)
	for i := 0; n > 0; i, n = i+1, n>>1 {
		if n&1 != 0 {
			p = product(p, h.powers[i])
		}
	}
	return p
}

// stride is how far apart the beginnings lie whose hashes are kept.
const stride = 16

// A hashed is a text of which hashes of stretches are asked for.
type hashed struct {
	*hasher
	text   []byte
	begins []uint64 // hashes of the beginnings of 0, stride, 2·stride … bytes
}

// begin gives the hash of a beginning.
func (t *hashed) begin(length int) uint64 {
	if len(t.begins) == 0 {
		t.begins = make([]uint64, 1, len(t.text)/stride+1)
	}
	at := length / stride
	for n := len(t.begins); n <= at; n++ {
		t.begins = append(t.begins, t.extend(t.begins[n-1], t.text[(n-1)*stride:n*stride]))
	}
	return t.extend(t.begins[at], t.text[at*stride:length])
}

// stretch gives the hash of a part.
func (t *hashed) stretch(at, length int) uint64 {
	before := product(t.begin(at), t.power(length))
	return reduced(t.begin(at+length) + prime - before)
}
