package metrics

import (
	"math"
	"slices"
	"strings"

	"github.com/rollscope/rollscope/core/rollout"
)

// A Repeat describes the rows of one label that have one rollout index (spec metrics §6).
type Repeat struct {
	Label   string
	Index   rollout.Key
	Sample  int // distinct tasks it has
	Missing int // tasks the label has and this repeat has not
	Columns []RepeatColumn
}

// RepeatColumn describes the values of one column in a repeat.
type RepeatColumn struct {
	Name                   string
	N                      int
	Mean, Median, Std, SEM float64
	Min, Max, P25, P75     float64
	Low, High              float64 // of the interval that holds the mean with 95 %
	Interval               bool    // whether there is one
}

// each calls f for the metrics of the column, leaving out what cannot stand in a file.
func (c *RepeatColumn) each(f func(prefix string, x float64)) {
	for _, m := range [...]struct {
		prefix string
		x      float64
		there  bool
	}{
		{"mean/", c.Mean, true}, {"median/", c.Median, true}, {"std/", c.Std, true}, {"sem/", c.SEM, true},
		{"min/", c.Min, true}, {"max/", c.Max, true}, {"p25/", c.P25, true}, {"p75/", c.P75, true},
		{"ci_low_95/", c.Low, c.Interval}, {"ci_high_95/", c.High, c.Interval},
	} {
		if m.there && Real(m.x).Finite() {
			f(m.prefix, m.x)
		}
	}
}

// repeats gives the repeats of one label's rows, none if they have one rollout index only. Rows stand in the order of
// task and repeat.
func (t *table) repeats(rows []int32, label string) []Repeat {
	r := t.run
	rank := r.keyRanks()
	byRepeat := map[uint32][]int32{}
	var order []uint32
	tasks := 0
	for i, row := range rows {
		if i == 0 || r.task[rows[i-1]] != r.task[row] {
			tasks++
		}
		k := r.repeat[row]
		if _, ok := byRepeat[k]; !ok {
			order = append(order, k)
		}
		byRepeat[k] = append(byRepeat[k], row)
	}
	if len(order) < 2 {
		return nil
	}
	slices.SortFunc(order, func(a, b uint32) int { return int(rank[a]) - int(rank[b]) })
	list := make([]Repeat, 0, len(order))
	for _, k := range order {
		mine := byRepeat[k]
		d := Repeat{Label: label, Index: r.keys.list[k], Columns: t.repeatColumns(mine)}
		for i, row := range mine {
			if i == 0 || r.task[mine[i-1]] != r.task[row] {
				d.Sample++
			}
		}
		d.Missing = tasks - d.Sample
		list = append(list, d)
	}
	return list
}

// repeatColumns describes every column of some rows, in the order of their names.
func (t *table) repeatColumns(rows []int32) []RepeatColumn {
	s := &t.scratch
	touched := t.gather(rows)
	slices.SortFunc(touched, func(a, b int32) int { return strings.Compare(t.name(a), t.name(b)) })
	list := make([]RepeatColumn, 0, len(touched))
	for _, k := range touched {
		values := s.floats(s.column(k))
		c := RepeatColumn{Name: t.name(k), N: len(values), Mean: mean(values)}
		c.Std = deviation(values, c.Mean, 1, s.squares)
		c.SEM = c.Std / math.Sqrt(float64(len(values)))
		s.sorted = sortedCopy(s.sorted, values)
		c.Median = middle(s.sorted)
		c.Min, c.Max = s.sorted[0], s.sorted[len(s.sorted)-1]
		c.P25, c.P75 = quantile(s.sorted, 0.25), quantile(s.sorted, 0.75)
		c.Low, c.High, c.Interval = interval(c.Mean, c.SEM, len(values))
		list = append(list, c)
	}
	return list
}

// Across is a metric with every repeat as one observation.
type Across struct {
	Name                        string // of the metric in the repeats, such as mean/reward
	N                           int    // repeats that have it
	Mean, Median, Std, Min, Max float64
	SE                          float64
	Low, High                   float64
	Interval                    bool
}

// acrossRepeats gives the primary metrics of repeats across them, in the order of their first appearance.
func acrossRepeats(repeats []Repeat) []Across {
	var names []string
	values := map[string][]float64{}
	for i := range repeats {
		for k := range repeats[i].Columns {
			c := &repeats[i].Columns[k]
			c.each(func(prefix string, x float64) {
				// A prefix decides for nearly all of them; only means are estimates.
				if prefix != "mean/" {
					return
				}
				name := prefix + c.Name
				if !Primary(name) {
					return
				}
				if _, ok := values[name]; !ok {
					names = append(names, name)
				}
				values[name] = append(values[name], x)
			})
		}
	}
	list := make([]Across, 0, len(names))
	for _, name := range names {
		list = append(list, across(name, values[name]))
	}
	return list
}

func across(name string, values []float64) Across {
	a := Across{Name: name, N: len(values), Mean: mean(values)}
	sorted := sortedCopy(nil, values)
	a.Median = middle(sorted)
	a.Min, a.Max = sorted[0], sorted[len(sorted)-1]
	a.Std = deviation(values, a.Mean, 1, nil)
	a.SE = a.Std / math.Sqrt(float64(a.N))
	a.Low, a.High, a.Interval = interval(a.Mean, a.SE, a.N)
	return a
}

// Metrics lists what the files say of the metric.
func (a *Across) Metrics() []Metric {
	list := make([]Metric, 0, 8)
	for _, m := range [...]struct {
		kind  string
		x     float64
		there bool
	}{
		{"mean", a.Mean, true}, {"median", a.Median, true}, {"std", a.Std, true}, {"min", a.Min, true}, {"max", a.Max, true},
		{"se", a.SE, true}, {"ci_low_95", a.Low, a.Interval}, {"ci_high_95", a.High, a.Interval},
	} {
		if m.there && Real(m.x).Finite() {
			list = append(list, Metric{m.kind + "_across_repeats/" + a.Name, Real(m.x)})
		}
	}
	return list
}
