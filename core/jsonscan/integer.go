package jsonscan

import (
	"math"
	"strconv"
)

// An Integer is the value of an [Int]: sign and magnitude, from −2^63 to 2^64−1.
type Integer struct {
	Negative  bool
	Magnitude uint64
}

// Int64 gives the value if it fits.
func (n Integer) Int64() (int64, bool) {
	if n.Negative {
		return -int64(n.Magnitude), true
	}
	return int64(n.Magnitude), n.Magnitude <= math.MaxInt64
}

// Append appends the decimal form.
func (n Integer) Append(dst []byte) []byte {
	if n.Negative && n.Magnitude != 0 {
		dst = append(dst, '-')
	}
	return strconv.AppendUint(dst, n.Magnitude, 10)
}

// String gives the decimal form.
func (n Integer) String() string { return string(n.Append(nil)) }

// Compare orders integers by value.
func (n Integer) Compare(m Integer) int {
	switch {
	case n == m:
		return 0
	case n.Negative != m.Negative:
		if n.Negative {
			return -1
		}
		return 1
	case (n.Magnitude < m.Magnitude) != n.Negative:
		return -1
	}
	return 1
}
