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

// WholeNumber makes a number of an int.
func WholeNumber(n integer.Int) Number { return Number{Int: n, kind: intNumber} }

// RealNumber makes a number of a float.
func RealNumber(f float64) Number { return Number{Float: f, kind: floatNumber} }

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

// A Field describes one number of the records that have it.
type Field struct {
	N                       int
	Mean                    float64
	Median, Total, Min, Max Number
	Std                     float64 // with divisor n; only of fields whose spread was asked for
	P50, P90, P99           float64
}

// FieldOf describes numbers, which are put in order; what is no number takes no part. spread asks for the deviation.
func FieldOf(list []Number, spread bool) Field {
	c := column(slices.DeleteFunc(list, func(n Number) bool { return !n.Known() || math.IsNaN(n.Real()) }))
	f := Field{N: len(c)}
	if f.N == 0 {
		return f
	}
	c.sort()
	f.Mean, f.Median, f.Total, f.Min, f.Max = c.mean(), c.median(), c.total(), c[0], c[f.N-1]
	if spread {
		f.Std = c.deviation()
	}
	reals := c.reals()
	f.P50, f.P90, f.P99 = quantile.Nearer(reals, 0.5), quantile.Nearer(reals, 0.9), quantile.Nearer(reals, 0.99)
	return f
}

// A Summary is the performance summary of a batch (spec perf §2).
type Summary struct {
	Records  int      // rows
	Observed int      // of them, those with a record of their performance
	Tokens   int      // of them, those that say some of their tokens were observed
	Fields   [4]Field // prompt, cached prompt, completion and reasoning tokens
	Turns    Field
	PerTurn  Field // completion tokens of a record over its turns
	Latency  Field // ms
}

// Completion describes the completion tokens.
func (s *Summary) Completion() *Field { return &s.Fields[atCompletion-atPrompt] }

// Members lists the summary as the files have it.
func (s *Summary) Members() []value.Member {
	out := []value.Member{
		value.M("overall_observability_coverage", value.Float(float64(s.Observed)/float64(s.Records))),
		value.M("token_observability_coverage", value.Float(float64(s.Tokens)/float64(s.Records))),
	}
	for i := range s.Fields {
		if f := &s.Fields[i]; f.N > 0 {
			name := Names[atPrompt+i]
			out = append(out, value.M("mean_"+name, value.Float(f.Mean)), value.M("median_"+name, f.Median.Value()), value.M("total_"+name, f.Total.Value()))
		}
	}
	if f := &s.Turns; f.N > 0 {
		out = append(out,
			value.M("mean_num_turns", value.Float(f.Mean)), value.M("median_num_turns", f.Median.Value()),
			value.M("std_num_turns", value.Float(f.Std)), value.M("min_num_turns", f.Min.Value()),
			value.M("p90_num_turns", value.Float(f.P90)), value.M("max_num_turns", f.Max.Value()))
	}
	if f := &s.PerTurn; f.N > 0 {
		out = append(out, value.M("mean_tokens_per_turn", value.Float(f.Mean)), value.M("median_tokens_per_turn", f.Median.Value()))
	}
	if f := &s.Latency; f.N > 0 {
		out = append(out,
			value.M("total_latency_p50_ms", value.Float(f.P50)), value.M("total_latency_p90_ms", value.Float(f.P90)),
			value.M("total_latency_p99_ms", value.Float(f.P99)), value.M("total_latency_mean_ms", value.Float(f.Mean)))
	}
	return out
}

// Describe summarises the numbers of so many records of rows. number gives the number of a record under one of [Names];
// it is asked for one name after the other, so that the records need not lie in memory as they are. There is no summary
// of nothing.
func Describe(rows, records int, number func(record int, name string) Number) *Summary {
	if rows == 0 || records == 0 {
		return nil
	}
	s := &Summary{Records: rows, Observed: records}
	list := make([]Number, 0, records)
	of := func(f func(i int) Number, spread bool) Field {
		list = list[:0]
		for i := range records {
			if n := f(i); n.Known() {
				list = append(list, n)
			}
		}
		return FieldOf(list, spread)
	}
	named := func(at int) func(i int) Number {
		return func(i int) Number { return number(i, Names[at]) }
	}
	for i := range records {
		if c := number(i, Names[atCoverage]); c.Known() && c.Real() > 0 {
			s.Tokens++
		}
	}
	for at := atPrompt; at <= atReasoning; at++ {
		s.Fields[at-atPrompt] = of(named(at), false)
	}
	s.Turns = of(named(atTurns), true)
	s.PerTurn = of(func(i int) Number {
		n, turns := number(i, Names[atCompletion]), number(i, Names[atTurns])
		if !n.Known() || !turns.Known() || !(turns.Real() > 0) {
			return Number{}
		}
		return RealNumber(quotient(n, turns))
	}, false)
	s.Latency = of(named(atLatency), false)
	return s
}

// Summarize gives `perf_summary` of a batch: rows is the number of its rows, list has the numbers of those that have
// any. There is no summary of nothing (spec perf §2).
func Summarize(rows int, list []Saved) []value.Member {
	s := Describe(rows, len(list), func(i int, name string) Number {
		for at, known := range Names {
			if known == name {
				return list[i][at]
			}
		}
		return Number{}
	})
	if s == nil {
		return nil
	}
	return s.Members()
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
func (c column) median() Number {
	n := len(c)
	if n%2 == 1 {
		return c[n/2]
	}
	a, b := c[n/2-1], c[n/2]
	if a.kind == intNumber && b.kind == intNumber {
		f, _ := new(big.Rat).SetFrac(bigOf(a.Int.Add(b.Int)), big.NewInt(2)).Float64()
		return RealNumber(f)
	}
	return RealNumber((a.Real() + b.Real()) / 2)
}

// total adds: ints exactly, floats with compensation.
func (c column) total() Number {
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
		return WholeNumber(whole)
	}
	if whole.Sign() != 0 {
		sum.Add(realOf(whole))
	}
	return RealNumber(sum.Value())
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

// reals are the values as doubles.
func (c column) reals() []float64 {
	list := make([]float64, len(c))
	for i, n := range c {
		list[i] = n.Real()
	}
	return list
}
