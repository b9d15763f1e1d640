package metrics

import (
	"math"
	"slices"
)

// A Distribution says how values are spread: by every value where they are few, else by bins of equal width.
type Distribution struct {
	N        int
	Distinct []ValueCount // by value; nil if there are too many
	Bins     []Bin        // nil if there are few values
}

// A ValueCount is a value and how often it is there.
type ValueCount struct {
	Value float64
	N     int
}

// A Bin counts the values from Low to below High; the last one has those at High as well.
type Bin struct {
	Low, High float64
	N         int
}

const (
	fewValues = 20
	binCount  = 20
)

// distribute says how finite values are spread.
func distribute(values []float64) *Distribution {
	sorted := make([]float64, 0, len(values))
	for _, x := range values {
		if !math.IsNaN(x) && !math.IsInf(x, 0) {
			sorted = append(sorted, x)
		}
	}
	slices.Sort(sorted)
	d := &Distribution{N: len(sorted), Distinct: []ValueCount{}}
	for _, x := range sorted {
		if n := len(d.Distinct); n > 0 && d.Distinct[n-1].Value == x {
			d.Distinct[n-1].N++
			continue
		}
		if len(d.Distinct) == fewValues {
			d.Distinct = nil
			break
		}
		d.Distinct = append(d.Distinct, ValueCount{x, 1})
	}
	if d.Distinct != nil {
		return d
	}
	// Halves keep the width of a range finite that spans nearly all doubles.
	low, high := sorted[0], sorted[len(sorted)-1]
	half := (high/2 - low/2) / binCount
	d.Bins = make([]Bin, binCount)
	edge := func(i int) float64 {
		if i == binCount {
			return high
		}
		return low + half*float64(i) + half*float64(i)
	}
	for i := range d.Bins {
		d.Bins[i].Low, d.Bins[i].High = edge(i), edge(i+1)
	}
	i := 0
	for _, x := range sorted {
		for i < binCount-1 && x >= d.Bins[i].High {
			i++
		}
		d.Bins[i].N++
	}
	return d
}

// Columns lists the numeric fields of the rows that count, by the rules of the table, in the order of their first
// appearance.
func (r *Run) Columns() []string {
	t := newTable(r, r.counted(), Current, hiddenBefore)
	names := make([]string, len(t.columns))
	for i := range t.columns {
		names[i] = t.name(int32(i))
	}
	return names
}

// Distribution says how the values of a column are spread over the rows that count.
func (r *Run) Distribution(column string) *Distribution {
	var values []float64
	for _, row := range r.counted() {
		if x, ok := r.Column(int(row), column); ok {
			values = append(values, x)
		}
	}
	return distribute(values)
}

// Column is the value of a column in a row.
func (r *Run) Column(row int, column string) (float64, bool) {
	name, ok := r.names.at[column]
	if !ok {
		return 0, false
	}
	for c := range r.cellsOf(row) {
		if c.name == name && c.uses&inTable != 0 {
			return r.numberOf(c).Float(), true
		}
	}
	return 0, false
}

// Describe gives the statistics of rows by the rules of the table; masked rows and those that cannot be read do not
// take part.
func (r *Run) Describe(rows []int32) *Stats {
	kept := make([]int32, 0, len(rows))
	for _, row := range rows {
		if r.state[row] == Readable && !r.Masked(int(row)) {
			kept = append(kept, row)
		}
	}
	return newTable(r, kept, Current, hiddenBefore).describe(kept)
}

// counted lists the rows that can be read and are not masked, one for every rollout.
func (r *Run) counted() []int32 {
	seen := make(map[uint64]bool, r.Rows())
	rows := r.all()
	kept := rows[:0]
	for _, row := range rows {
		key := uint64(r.task[row])<<32 | uint64(r.repeat[row])
		if seen[key] {
			continue
		}
		seen[key] = true
		if !r.Masked(int(row)) {
			kept = append(kept, row)
		}
	}
	return kept
}
