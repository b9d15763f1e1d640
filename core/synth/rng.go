package synth

import "math/bits"

// rng is a SplitMix64 generator. Its sequence is fixed by this file alone, so
// that a seed gives the same bytes with every toolchain; the generators of the
// standard library promise that only for some of their methods.
type rng uint64

// seeded returns the generator of one stream: the same seed and stream always
// give the same numbers, and neighbouring streams have nothing in common.
func seeded(seed, stream uint64) rng {
	r := rng(seed + 0x9e3779b97f4a7c15)
	r = rng(r.next() ^ (stream+1)*0xd1342543de82ef95)
	r.next()
	return r
}

func (r *rng) next() uint64 {
	*r += 0x9e3779b97f4a7c15
	z := uint64(*r)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below returns a number in [0, n); n must be positive.
func (r *rng) below(n int) int {
	hi, _ := bits.Mul64(r.next(), uint64(n))
	return int(hi)
}

// between returns a number in [lo, hi].
func (r *rng) between(lo, hi int) int { return lo + r.below(hi-lo+1) }

// unit returns a number in [0, 1).
func (r *rng) unit() float64 { return float64(r.next()>>11) / (1 << 53) }

// pick returns one member of a list that is not empty.
func pick[T any](r *rng, list []T) T { return list[r.below(len(list))] }
