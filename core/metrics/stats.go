package metrics

import (
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mathext"
)

// pairwise adds floats the way the reference's table does: plainly below eight of them, up to 128 with eight
// accumulators side by side, more of them in halves (spec metrics §15).
func pairwise(a []float64) float64 {
	n := len(a)
	switch {
	case n < 8:
		sum := 0.0
		for _, x := range a {
			sum += x
		}
		return sum
	case n <= 128:
		var r [8]float64
		copy(r[:], a)
		i := 8
		for ; i+8 <= n; i += 8 {
			for k := range r {
				r[k] += a[i+k]
			}
		}
		sum := ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]))
		for ; i < n; i++ {
			sum += a[i]
		}
		return sum
	}
	half := n / 2
	half -= half % 8
	return pairwise(a[:half]) + pairwise(a[half:])
}

// mean is the arithmetic mean; a must not be empty.
func mean(a []float64) float64 { return pairwise(a) / float64(len(a)) }

// deviation is the standard deviation around a known mean with divisor n − less; 0 for as few values as that.
func deviation(a []float64, mean float64, less int, squares []float64) float64 {
	if len(a) <= less {
		return 0
	}
	squares = squares[:0]
	for _, x := range a {
		d := mean - x
		squares = append(squares, d*d)
	}
	return math.Sqrt(pairwise(squares) / float64(len(a)-less))
}

// quantile of sorted values at share q: linear between the neighbours of position (n−1)·q.
func quantile(sorted []float64, q float64) float64 {
	at := float64(len(sorted)-1) * q
	low := int(math.Floor(at))
	if low >= len(sorted)-1 {
		return sorted[len(sorted)-1]
	}
	a, b, w := sorted[low], sorted[low+1], at-float64(low)
	if w >= 0.5 {
		return b - (b-a)*(1-w)
	}
	return a + (b-a)*w
}

// middle is the median of sorted values.
func middle(sorted []float64) float64 {
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}
	return mean(sorted[n/2-1 : n/2+1])
}

// A sum is a compensated sum (Neumaier), which keeps its last bits whatever the order of magnitude of its parts.
type sum struct{ total, lost float64 }

func (s *sum) add(x float64) {
	t := s.total + x
	if math.Abs(s.total) >= math.Abs(x) {
		s.lost += (s.total - t) + x
	} else {
		s.lost += (x - t) + s.total
	}
	s.total = t
}

func (s *sum) value() float64 {
	// What overflowed has nothing to be mended.
	if math.IsNaN(s.lost) || math.IsInf(s.lost, 0) {
		return s.total
	}
	return s.total + s.lost
}

func compensated(a []float64) float64 {
	var s sum
	for _, x := range a {
		s.add(x)
	}
	return s.value()
}

// TQuantile gives the t for which a Student variable with df degrees of freedom lies between −t and t with
// probability 0.95, the factor of every interval here. df need not be whole. It is NaN unless df is positive.
func TQuantile(df float64) float64 {
	const within = 0.95
	switch {
	case !(df > 0):
		return math.NaN()
	case df >= 1000:
		// Inverting the beta function loses digits here, while the series around the normal quantile has them all.
		z := math.Sqrt2 * math.Erfinv(within)
		y, r := z*z, 1/df
		return z * (1 + r*((y+1)/4+r*(((5*y+16)*y+3)/96+r*((((3*y+19)*y+17)*y-15)/384+
			r*(((((79*y+776)*y+1482)*y-1920)*y-945)/92160)))))
	case df < 1:
		// t² / (df + t²) is next to 1, so its distance from there is what can be solved for.
		x := mathext.InvRegIncBeta(df/2, 0.5, 1-within)
		return math.Sqrt(df * (1 - x) / x)
	}
	x := mathext.InvRegIncBeta(0.5, df/2, within)
	return math.Sqrt(df * x / (1 - x))
}

// interval is mean ± t·se with n−1 degrees of freedom; ok is false for fewer than two values.
func interval(mean, se float64, n int) (low, high float64, ok bool) {
	switch {
	case n < 2:
		return 0, 0, false
	case se == 0:
		return mean, mean, true
	}
	t := tOf(n - 1)
	return mean - t*se, mean + t*se, true
}

// tTable holds the t of small whole degrees of freedom, which are asked for again and again. The first ones are as the
// reference has them (spec metrics §15), whose last digits are not always the nearest.
var tTable = sync.OnceValue(func() *[64]float64 {
	var t [64]float64
	for df := copy(t[:], []float64{
		math.NaN(), 12.706204736174694, 4.302652729749462, 3.1824463052837078, 2.7764451051977934, 2.5705818356363146,
		2.4469118511449786, 2.364624251592784, 2.306004135204166, 2.262157162798205, 2.228138851986274, 2.200985160091639,
		2.1788128296672284, 2.1603686564627913, 2.144786687917804, 2.131449545559776,
	}); df < len(t); df++ {
		t[df] = TQuantile(float64(df))
	}
	return &t
})

func tOf(df int) float64 {
	if t := tTable(); df < len(t) {
		return t[df]
	}
	return TQuantile(float64(df))
}

// sortedCopy sorts a copy of a into dst.
func sortedCopy(dst, a []float64) []float64 {
	dst = append(dst[:0], a...)
	slices.Sort(dst)
	return dst
}
