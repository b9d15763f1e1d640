package perf

import (
	"math"
	"math/big"
	"slices"

	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/modelcall"
	"github.com/rollscope/rollscope/core/quantile"
	"github.com/rollscope/rollscope/core/value"
)

// A Number is a saved number of a rollout: an int or a float, or none.
type Number struct {
	Int   integer.Int
	Float float64
	kind  uint8
}

const (
	noNumber uint8 = iota
	intNumber
	floatNumber
	badNumber // something else was saved
)

// NumberOf takes a saved value; what is neither an int nor a float takes part in nothing.
func NumberOf(v value.Value) Number {
	if n, ok := v.Whole(); ok {
		return Number{Int: n, kind: intNumber}
	}
	if f, ok := v.Float(); ok {
		return Number{Float: f, kind: floatNumber}
	}
	if v.Exists() {
		return Number{kind: badNumber}
	}
	return Number{}
}

// Known tells whether there is a number.
func (n Number) Known() bool { return n.kind == intNumber || n.kind == floatNumber }

// Bad tells whether something else was saved in its place.
func (n Number) Bad() bool { return n.kind == badNumber }

// Real is the number as a float.
func (n Number) Real() float64 {
	if n.kind == intNumber {
		return realOf(n.Int)
	}
	return n.Float
}

// Value is the number as it was saved, null for none.
func (n Number) Value() value.Value {
	switch n.kind {
	case intNumber:
		return value.Whole(n.Int)
	case floatNumber:
		return value.Float(n.Float)
	}
	return value.Null
}

// realOf is the nearest double of a whole number.
func realOf(n integer.Int) float64 {
	if small, ok := n.Int64(); ok {
		return float64(small)
	}
	f, _ := new(big.Float).SetInt(bigOf(n)).Float64()
	return f
}

func bigOf(n integer.Int) *big.Int {
	if small, ok := n.Int64(); ok {
		return big.NewInt(small)
	}
	b, _ := new(big.Int).SetString(n.String(), 10)
	return b
}

// Saved are the numbers of one rollout as its row has them, in the order of [Names].
type Saved [len(Names)]Number

// The places of the names.
const (
	atTurns = iota
	atTools
	atCoverage
	atPrompt
	atCached
	atCompletion
	atReasoning
	atLatency
)

// Summarize gives `perf_summary` of a batch: rows is the number of its rows, list has the numbers of those that have
// any. There is no summary of nothing (spec perf §2).
func Summarize(rows int, list []Saved) []value.Member {
	if rows == 0 || len(list) == 0 {
		return nil
	}
	covered := 0
	for i := range list {
		if c := list[i][atCoverage]; c.Known() && c.Real() > 0 {
			covered++
		}
	}
	out := []value.Member{
		value.M("overall_observability_coverage", value.Float(float64(len(list))/float64(rows))),
		value.M("token_observability_coverage", value.Float(float64(covered)/float64(rows))),
	}
	for at := atPrompt; at <= atReasoning; at++ {
		if c := columnOf(list, at); len(c) > 0 {
			name := Names[at]
			out = append(out, value.M("mean_"+name, value.Float(c.mean())), value.M("median_"+name, c.median()), value.M("total_"+name, c.total()))
		}
	}
	if c := columnOf(list, atTurns); len(c) > 0 {
		out = append(out,
			value.M("mean_num_turns", value.Float(c.mean())), value.M("median_num_turns", c.median()),
			value.M("std_num_turns", value.Float(c.deviation())), value.M("min_num_turns", c[0].Value()),
			value.M("p90_num_turns", value.Float(c.percentile(90))), value.M("max_num_turns", c[len(c)-1].Value()))
	}
	var perTurn column
	for i := range list {
		n, turns := list[i][atCompletion], list[i][atTurns]
		if n.Known() && turns.Known() && turns.Real() > 0 {
			perTurn = append(perTurn, Number{Float: quotient(n, turns), kind: floatNumber})
		}
	}
	if len(perTurn) > 0 {
		perTurn.sort()
		out = append(out, value.M("mean_tokens_per_turn", value.Float(perTurn.mean())), value.M("median_tokens_per_turn", perTurn.median()))
	}
	if c := columnOf(list, atLatency); len(c) > 0 {
		out = append(out,
			value.M("total_latency_p50_ms", value.Float(c.percentile(50))), value.M("total_latency_p90_ms", value.Float(c.percentile(90))),
			value.M("total_latency_p99_ms", value.Float(c.percentile(99))), value.M("total_latency_mean_ms", value.Float(c.mean())))
	}
	return out
}

// quotient divides two numbers and rounds once.
func quotient(a, b Number) float64 {
	if a.kind == intNumber && b.kind == intNumber {
		f, _ := new(big.Rat).SetFrac(bigOf(a.Int), bigOf(b.Int)).Float64()
		return f
	}
	return a.Real() / b.Real()
}

// A column is the known values of one field in ascending order.
type column []Number

func columnOf(list []Saved, at int) column {
	var c column
	for i := range list {
		if n := list[i][at]; n.Known() && !math.IsNaN(n.Real()) {
			c = append(c, n)
		}
	}
	c.sort()
	return c
}

func (c column) sort() {
	slices.SortStableFunc(c, func(a, b Number) int {
		if a.kind == intNumber && b.kind == intNumber {
			return a.Int.Cmp(b.Int)
		}
		switch x, y := a.Real(), b.Real(); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
}

// exact is the sum of the values as doubles, without rounding; ok is false where one is not finite.
func (c column) exact() (sum *big.Rat, ok bool) {
	sum = new(big.Rat)
	for _, n := range c {
		x := n.Real()
		if math.IsInf(x, 0) {
			return nil, false
		}
		sum.Add(sum, new(big.Rat).SetFloat64(x))
	}
	return sum, true
}

// mean is the exactly rounded sum, divided once.
func (c column) mean() float64 {
	sum, ok := c.exact()
	if !ok {
		total := 0.0
		for _, n := range c {
			total += n.Real()
		}
		return total / float64(len(c))
	}
	f, _ := sum.Float64()
	return f / float64(len(c))
}

// median is the middle value as it is, or the mean of the middle two.
func (c column) median() value.Value {
	n := len(c)
	if n%2 == 1 {
		return c[n/2].Value()
	}
	a, b := c[n/2-1], c[n/2]
	if a.kind == intNumber && b.kind == intNumber {
		f, _ := new(big.Rat).SetFrac(bigOf(a.Int.Add(b.Int)), big.NewInt(2)).Float64()
		return value.Float(f)
	}
	return value.Float((a.Real() + b.Real()) / 2)
}

// total adds: ints exactly, floats with compensation.
func (c column) total() value.Value {
	var (
		whole  integer.Int
		sum    modelcall.Sum
		floats bool
	)
	for _, n := range c {
		if n.kind == intNumber {
			whole = whole.Add(n.Int)
		} else {
			floats = true
			sum.Add(n.Float)
		}
	}
	if !floats {
		return value.Whole(whole)
	}
	if whole.Sign() != 0 {
		sum.Add(realOf(whole))
	}
	return value.Float(sum.Value())
}

// deviation is the square root of the exact variance with divisor n, rounded once.
func (c column) deviation() float64 {
	sum, ok := c.exact()
	if !ok {
		return math.NaN()
	}
	n := big.NewRat(int64(len(c)), 1)
	mean := new(big.Rat).Quo(sum, n)
	squares, d := new(big.Rat), new(big.Rat)
	for _, one := range c {
		d.Sub(new(big.Rat).SetFloat64(one.Real()), mean)
		squares.Add(squares, d.Mul(d, d))
	}
	const precision = 512
	v := new(big.Float).SetPrec(precision).SetRat(squares.Quo(squares, n))
	f, _ := v.Sqrt(v).Float64()
	return f
}

// percentile is by the rule of summaries.
func (c column) percentile(p float64) float64 {
	list := make([]float64, len(c))
	for i, n := range c {
		list[i] = n.Real()
	}
	return quantile.Nearer(list, p/100)
}
