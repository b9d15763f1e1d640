package metrics

import (
	"math"
	"math/big"
	"slices"

	"github.com/rollscope/rollscope/core/integer"
)

// Perf summarises the ng_perf objects of results (spec metrics §11).
type Perf struct {
	Records  int // results
	Observed int // of them, those with an ng_perf object
	Tokens   int // of them, those that say some of their tokens were observed
	Fields   [4]PerfField
	Turns    PerfField
	PerTurn  PerfField // completion tokens of a record over its turns
	Latency  PerfField // ms
}

// perfTitles are the fields of [Perf.Fields] as the files name them.
var perfTitles = [...]string{"prompt_tokens", "cached_prompt_tokens", "completion_tokens", "reasoning_tokens"}

// PerfField describes one number of the records that have it.
type PerfField struct {
	N               int
	Mean            float64
	Median          Number
	Total, Min, Max Number
	Std             float64 // with divisor n
	P50, P90, P99   float64
}

// perf summarises rows; nil if none of them has an ng_perf object.
func (r *Run) perf(rows []int32) *Perf {
	p := &Perf{Records: len(rows)}
	var values [perfCount][]stored
	var perTurn []stored
	for _, row := range rows {
		if r.flags[row]&flagPerf == 0 {
			continue
		}
		p.Observed++
		var mine [perfCount]stored
		for c := range r.cellsOf(int(row)) {
			if c.uses == ofPerf {
				mine[c.name] = stored{c.bits, c.kind}
				values[c.name] = append(values[c.name], mine[c.name])
			}
		}
		if c := mine[perfCoverage]; c.numeric() && c.float() > 0 {
			p.Tokens++
		}
		if c, n := mine[perfCompletion], mine[perfTurns]; c.numeric() && n.numeric() && n.float() > 0 {
			perTurn = append(perTurn, stored{math.Float64bits(c.float() / n.float()), cellFloat})
		}
	}
	if p.Observed == 0 {
		return nil
	}
	for i, k := range [...]int{perfPrompt, perfCached, perfCompletion, perfReasoning} {
		p.Fields[i] = perfField(values[k])
	}
	p.Turns, p.PerTurn, p.Latency = perfField(values[perfTurns]), perfField(perTurn), perfField(values[perfLatency])
	return p
}

func perfField(list []stored) (d PerfField) {
	if d.N = len(list); d.N == 0 {
		return d
	}
	d.Mean = exactMean(list)
	d.Total = total(list)
	// Order by value; whole numbers beyond the exact doubles by their own.
	slices.SortStableFunc(list, compareStored)
	d.Min, d.Max = list[0].number(), list[d.N-1].number()
	d.Median = list[d.N/2].number()
	if d.N%2 == 0 {
		d.Median = Real((list[d.N/2-1].float() + list[d.N/2].float()) / 2)
	}
	floats := make([]float64, d.N)
	var squares exactSum
	for i, c := range list {
		floats[i] = c.float()
		squares.add((floats[i] - d.Mean) * (floats[i] - d.Mean))
	}
	d.Std = math.Sqrt(squares.value() / float64(d.N))
	if d.Total.IsWhole() {
		d.Std = wholeDeviation(list)
	}
	d.P50, d.P90, d.P99 = quantile(floats, 0.5), quantile(floats, 0.9), quantile(floats, 0.99)
	return d
}

func compareStored(a, b stored) int {
	if (cell{kind: a.kind}).whole() && (cell{kind: b.kind}).whole() {
		return a.integer().Cmp(b.integer())
	}
	switch x, y := a.float(), b.float(); {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

func (s stored) number() Number { return cell{kind: s.kind, bits: s.bits}.number() }

// total adds values: whole numbers exactly, with a float among them as floats.
func total(list []stored) Number {
	var whole integer.Int
	var s exactSum
	floats := false
	for _, c := range list {
		if (cell{kind: c.kind}).whole() {
			whole = whole.Add(c.integer())
		} else {
			floats = true
		}
		s.add(c.float())
	}
	if !floats {
		return exact(whole)
	}
	return Real(s.value())
}

// Metrics lists the summary as the files name it.
func (p *Perf) Metrics() []Metric {
	list := []Metric{
		{"overall_observability_coverage", Real(float64(p.Observed) / float64(p.Records))},
		{"token_observability_coverage", Real(float64(p.Tokens) / float64(p.Records))},
	}
	add := func(name string, n Number) {
		if n.Finite() {
			list = append(list, Metric{name, n})
		}
	}
	for i, name := range perfTitles {
		if f := &p.Fields[i]; f.N > 0 {
			add("mean_"+name, Real(f.Mean))
			add("median_"+name, f.Median)
			add("total_"+name, f.Total)
		}
	}
	if f := &p.Turns; f.N > 0 {
		add("mean_num_turns", Real(f.Mean))
		add("median_num_turns", f.Median)
		add("std_num_turns", Real(f.Std))
		add("min_num_turns", f.Min)
		add("p90_num_turns", Real(f.P90))
		add("max_num_turns", f.Max)
	}
	if f := &p.PerTurn; f.N > 0 {
		add("mean_tokens_per_turn", Real(f.Mean))
		add("median_tokens_per_turn", f.Median)
	}
	if f := &p.Latency; f.N > 0 {
		add("total_latency_p50_ms", Real(f.P50))
		add("total_latency_p90_ms", Real(f.P90))
		add("total_latency_p99_ms", Real(f.P99))
		add("total_latency_mean_ms", Real(f.Mean))
	}
	return list
}

// wholeDeviation is the standard deviation of whole numbers with divisor n, rounded once.
func wholeDeviation(list []stored) float64 {
	n := big.NewInt(int64(len(list)))
	sum, squares := new(big.Int), new(big.Int)
	x, square := new(big.Int), new(big.Int)
	for _, c := range list {
		if small, ok := c.integer().Int64(); ok {
			x.SetInt64(small)
		} else {
			x.SetString(c.integer().String(), 10)
		}
		sum.Add(sum, x)
		squares.Add(squares, square.Mul(x, x))
	}
	// n²·variance = n·Σx² − (Σx)²
	squares.Mul(squares, n)
	squares.Sub(squares, sum.Mul(sum, sum))
	const precision = 256
	v := new(big.Float).SetPrec(precision).SetInt(squares)
	v.Sqrt(v)
	v.Quo(v, new(big.Float).SetPrec(precision).SetInt(n))
	f, _ := v.Float64()
	return f
}
