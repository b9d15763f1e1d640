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

// Integer is the value of an [Int]; ok is false for every other kind. −0 is 0.
func (v Value) Integer() (n Integer, ok bool) {
	if v.doc == nil {
		return n, false
	}
	digits := v.doc.text[v.at:v.end]
	if digits[0] == '-' {
		n.Negative = true
		digits = digits[1:]
	}
	if len(digits) == 0 || len(digits) > 20 {
		return Integer{}, false
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return Integer{}, false
		}
		d := uint64(c - '0')
		if n.Magnitude > (math.MaxUint64-d)/10 {
			return Integer{}, false
		}
		n.Magnitude = n.Magnitude*10 + d
	}
	if n.Negative && n.Magnitude > 1<<63 {
		return Integer{}, false
	}
	if n.Magnitude == 0 {
		n.Negative = false
	}
	return n, true
}

// Float is the nearest double of a number, Int or Float; ok is false for every other kind.
func (v Value) Float() (f float64, ok bool) {
	if v.doc == nil {
		return 0, false
	}
	switch c := v.doc.text[v.at]; {
	case c == '-', c >= '0' && c <= '9':
		// The scanner refused literals that overflow, so the only error left cannot occur.
		f, _ = strconv.ParseFloat(string(v.doc.text[v.at:v.end]), 64)
		return f, true
	}
	return 0, false
}
