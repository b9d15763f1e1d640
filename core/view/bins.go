package view

import (
	"iter"
	"math"
	"slices"
	"strconv"

	"github.com/rollscope/rollscope/core/view/filter"
)

const (
	mostValues   = 12       // different values that each get a bin of their own
	mostBins     = 13       // bins of a range
	goodBins     = 10       // bins that a step is chosen for
	lastExact    = 1 << 53  // whole numbers above are not all doubles, so no border lies there
	probe        = 1 << 10  // values that the end of the range is chosen by
	tail         = 99       // percent of the values that lie before the last, open bin of a long tail
	longTail     = 2        // the rest makes a bin when it would take more than this times the range of the others
	borderDigits = 15       // digits of a border, which is a round number
	wholeSpan    = mostBins // whole numbers this close get a bin each, with the empty ones between them
)

// A bin is a part of a histogram: the values from From on, below Below. A bin of a single value has both the same,
// the open one at the end has Open.
type bin struct {
	from, below float64
	open        bool
	n           int
}

// binned sorts numbers into bins that were chosen for them. Counts are exact: a value belongs to the bin whose
// borders its double lies between, which is how the filter compares. NaN stands for a missing number and is not
// counted. whole says that there are only whole numbers, so that borders are as well.
func binned(values iter.Seq[float64], whole bool) []bin {
	distinct := map[float64]int{}
	low, high := math.Inf(1), math.Inf(-1)
	total := 0
	for v := range values {
		if math.IsNaN(v) {
			continue
		}
		total++
		low, high = min(low, v), max(high, v)
		if len(distinct) <= mostValues {
			distinct[v]++ // −0 and 0 are one key
		}
	}
	switch {
	case total == 0:
		return nil
	case whole && high-low < wholeSpan && math.Abs(low) < lastExact && math.Abs(high) < lastExact:
		bins := make([]bin, int(high-low)+1)
		for i := range bins {
			bins[i].from = low + float64(i)
			bins[i].below = bins[i].from
		}
		for v := range values {
			if !math.IsNaN(v) {
				bins[int(v-low)].n++
			}
		}
		return bins
	case len(distinct) <= mostValues && -low <= lastExact && high <= lastExact:
		var bins []bin
		for v, n := range distinct {
			bins = append(bins, bin{from: v, below: v, n: n})
		}
		slices.SortFunc(bins, func(a, b bin) int {
			if a.from < b.from {
				return -1
			}
			return 1
		})
		return bins
	}
	return ranged(values, total, low, high, whole)
}

// ranged sorts many different values into bins of one width.
func ranged(values iter.Seq[float64], total int, low, high float64, whole bool) []bin {
	low, high = min(max(low, -lastExact), lastExact), max(min(high, lastExact), -lastExact)
	top := high
	if t := tailAt(values, total); t < high && high-low > longTail*(t-low) && t > low {
		top = t
	}
	step := stepOf((top-low)/goodBins, whole)
	first := math.Floor(low / step)
	n := int(math.Floor(top/step)-first) + 1
	n = min(max(n, 1), mostBins+1)
	borders := make([]float64, n+1)
	for i := range borders {
		borders[i] = round((first + float64(i)) * step)
	}
	bins := make([]bin, n, n+2)
	for i := range bins {
		bins[i].from, bins[i].below = borders[i], borders[i+1]
	}
	before, after := bin{from: math.Inf(-1), below: borders[0]}, bin{from: borders[n], open: true}
	for v := range values {
		if math.IsNaN(v) {
			continue
		}
		switch {
		case v < borders[0]:
			before.n++
		case v >= borders[n]:
			after.n++
		default:
			i := min(max(int(math.Floor(v/step)-first), 0), n-1)
			for v < borders[i] {
				i--
			}
			for v >= borders[i+1] {
				i++
			}
			bins[i].n++
		}
	}
	if before.n > 0 {
		bins = slices.Insert(bins, 0, before)
	}
	if after.n > 0 {
		bins = append(bins, after)
	}
	return bins
}

// tailAt is about the value that all but the last per cent lie before, by evenly spaced samples. It decides where
// bins are, never what is in them.
func tailAt(values iter.Seq[float64], total int) float64 {
	every := max(total/probe, 1)
	var sample []float64
	i := 0
	for v := range values {
		if math.IsNaN(v) {
			continue
		}
		if i%every == 0 {
			sample = append(sample, v)
		}
		i++
	}
	slices.Sort(sample)
	return sample[(len(sample)-1)*tail/100]
}

// stepOf is the round number next to f from above: one, two or five times a power of ten.
func stepOf(f float64, whole bool) float64 {
	if whole && f <= 1 {
		return 1
	}
	if !(f > 0) {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(f)))
	if power == 0 {
		return 1 // smaller than any border can be
	}
	for _, s := range [...]float64{1, 2, 5} {
		if f <= s*power*(1+1e-9) {
			return round(s * power)
		}
	}
	return round(10 * power)
}

// round takes the noise of floating arithmetic off a border.
func round(f float64) float64 {
	if math.Abs(f) < lastExact && f == math.Trunc(f) {
		return f
	}
	g, err := strconv.ParseFloat(strconv.FormatFloat(f, 'g', borderDigits, 64), 64)
	if err != nil {
		return f
	}
	return g
}

// term is the condition of a filter that the values of the bin meet.
func (b bin) term(field string) string {
	switch {
	case b.open:
		return filter.Between(field, number64(b.from), filter.Value{}, false)
	case math.IsInf(b.from, -1):
		return filter.Between(field, filter.Value{}, number64(b.below), false)
	case b.from == b.below:
		return filter.Equal(field, number64(b.from))
	}
	return filter.Between(field, number64(b.from), number64(b.below), false)
}

// label is the lower border, for the axis; name says the whole range.
func (b bin) label() string {
	switch {
	case b.open:
		return borderText(b.from) + "+"
	case math.IsInf(b.from, -1):
		return "< " + borderText(b.below)
	case b.from == b.below && b.from != math.Trunc(b.from):
		return shortFloat(b.from) // a value, which may have many digits, and no border
	}
	return borderText(b.from)
}

func (b bin) name() string {
	switch {
	case b.open:
		return borderText(b.from) + " and more"
	case math.IsInf(b.from, -1):
		return "below " + borderText(b.below)
	case b.from == b.below:
		return borderText(b.from)
	}
	return borderText(b.from) + " to below " + borderText(b.below)
}

// number64 is a border as the filter writes it: whole numbers without a point.
func number64(f float64) filter.Value {
	if f == math.Trunc(f) && math.Abs(f) <= lastExact {
		return filter.Int(int64(f))
	}
	return filter.Float(f)
}

// borderText writes a border short: 1500000 is 1.5M, what is not so round stays as it is.
func borderText(f float64) string {
	if f == math.Trunc(f) && math.Abs(f) >= 1000 && math.Abs(f) <= lastExact {
		for _, unit := range [...]struct {
			of   float64
			name string
		}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
			if math.Abs(f) < unit.of {
				continue
			}
			if g := f / unit.of; math.Abs(g*100-math.Round(g*100)) < 1e-9 {
				return strconv.FormatFloat(g, 'f', -1, 64) + unit.name
			}
			return Group(int64(f))
		}
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}
