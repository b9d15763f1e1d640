// Package quantile holds the two rules by which the reference finds quantiles of sorted numbers, and the spread of a
// list by both (spec perf §2, §3).
//
// Both go to the position (n−1)·q between two neighbours. The collection's tracker weighs the two ([Tracked]); the
// summary of a batch starts from the nearer one ([Nearer]). They agree but for the last bits, which is why a number
// that is to equal a saved one must name its rule.
//
//	s := quantile.SpreadOf(list)
//	s.ByTracker[2] // p90 by the first rule, see [Shares]
//	s.BySummary[2] // by the second
package quantile

import (
	"math"
	"slices"
)

// Tracked is the quantile q of numbers in ascending order by the rule of the collection's tracker. There must be one
// number at least.
func Tracked(sorted []float64, q float64) float64 {
	n := len(sorted)
	p := float64(n-1) * q
	low := int(math.Floor(p))
	high := min(low+1, n-1)
	share := p - float64(low)
	return float64(sorted[low]*(1-share)) + float64(sorted[high]*share)
}

// Nearer is the quantile q of numbers in ascending order by the rule of batch summaries. There must be one number at
// least.
func Nearer(sorted []float64, q float64) float64 {
	n := len(sorted)
	v := float64(n-1) * q
	i := int(math.Floor(v))
	g := v - float64(i)
	a, b := sorted[i], sorted[min(i+1, n-1)]
	d := b - a
	if g >= 0.5 {
		return b - float64(d*(1-g))
	}
	return a + float64(d*g)
}

// A Spread describes a list of numbers. The quantiles of [ByTracker] and [BySummary] are at the shares of [Shares].
type Spread struct {
	N         int
	Min, Max  float64
	Mean      float64
	ByTracker [len(Shares)]float64
	BySummary [len(Shares)]float64
}

// Shares are the quantiles that a spread has.
var Shares = [...]float64{0.5, 0.75, 0.9, 0.99}

// ShareNames are their names.
var ShareNames = [...]string{"p50", "p75", "p90", "p99"}

// SpreadOf describes a list, which is sorted. NaN must not be in it.
func SpreadOf(list []float64) Spread {
	s := Spread{N: len(list)}
	if s.N == 0 {
		return s
	}
	slices.Sort(list)
	s.Min, s.Max = list[0], list[s.N-1]
	sum := 0.0
	for _, x := range list {
		sum += x
	}
	s.Mean = sum / float64(s.N)
	for i, q := range Shares {
		s.ByTracker[i], s.BySummary[i] = Tracked(list, q), Nearer(list, q)
	}
	return s
}
