// Package integer holds whole numbers of any size as cheaply as an int64.
//
// Token counts, status codes and turn numbers of a trajectory may come as numeric strings without a bound
// (spec health §5.1). Nearly all of them are small; the few that are not must neither wrap nor round, and
// must be refused where a report cannot write them (spec health §14).
package integer

import (
	"math"
	"math/big"
	"strconv"
)

// An Int is a whole number of any size. The zero Int is 0. Ints are values: operations never change their
// operands.
type Int struct {
	small int64
	big   *big.Int // set only when the value does not fit an int64
}

// Of makes an Int from an int64.
func Of(n int64) Int { return Int{small: n} }

// FromUint makes an Int from sign and magnitude.
func FromUint(negative bool, magnitude uint64) Int {
	switch {
	case !negative && magnitude <= math.MaxInt64:
		return Int{small: int64(magnitude)}
	case negative && magnitude <= 1<<63:
		return Int{small: -int64(magnitude)}
	}
	b := new(big.Int).SetUint64(magnitude)
	if negative {
		b.Neg(b)
	}
	return Int{big: b}
}

// Parse reads a decimal number with an optional sign and nothing else.
func Parse(s string) (Int, bool) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return Of(n), true
	}
	b, ok := new(big.Int).SetString(s, 10)
	if !ok {
		return Int{}, false
	}
	return fit(b), true
}

func fit(b *big.Int) Int {
	if b.IsInt64() {
		return Of(b.Int64())
	}
	return Int{big: b}
}

func (n Int) wide() *big.Int {
	if n.big != nil {
		return n.big
	}
	return big.NewInt(n.small)
}

// Add gives the exact sum.
func (n Int) Add(m Int) Int {
	if n.big == nil && m.big == nil {
		if s := n.small + m.small; (s > n.small) == (m.small > 0) {
			return Of(s)
		}
	}
	return fit(new(big.Int).Add(n.wide(), m.wide()))
}

// Cmp gives −1, 0 or 1 as n is less than, equal to or greater than m.
func (n Int) Cmp(m Int) int {
	if n.big == nil && m.big == nil {
		switch {
		case n.small < m.small:
			return -1
		case n.small > m.small:
			return 1
		}
		return 0
	}
	return n.wide().Cmp(m.wide())
}

// Sign gives −1, 0 or 1.
func (n Int) Sign() int {
	if n.big != nil {
		return n.big.Sign()
	}
	return n.Cmp(Int{})
}

// Int64 gives the value if it fits.
func (n Int) Int64() (int64, bool) { return n.small, n.big == nil }

// Writable tells whether reports can hold the value: −2^63 … 2^64−1.
func (n Int) Writable() bool { return n.big == nil || n.big.IsUint64() }

// Append appends the decimal form.
func (n Int) Append(dst []byte) []byte {
	if n.big != nil {
		return n.big.Append(dst, 10)
	}
	return strconv.AppendInt(dst, n.small, 10)
}

// String gives the decimal form.
func (n Int) String() string { return string(n.Append(nil)) }
