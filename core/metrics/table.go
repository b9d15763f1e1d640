package metrics

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/rollscope/rollscope/core/integer"
)

// Rules say which version of the reference a table follows (spec metrics §16).
type Rules uint8

// The rules.
const (
	Current   Rules = iota // of the versions that write repeat level metrics
	Infos                  // L1: rollout infos, but no repeats; fields with an underscore count, masks do not
	LineOrder              // L0: no rollout infos either
)

// A table is the numeric table of some rows: who takes part, and which columns there are, in which order.
type table struct {
	run     *Run
	rules   Rules
	rows    []int32
	columns []uint32 // names, in the order of their first appearance
	rank    []int32  // of a name: its column, −1 for none
	labels  []string // of the groups, where they are split by label
	whole   bool     // every row has every column and every value is spelled as a whole number
	scratch scratch
}

// scratch is the memory a description of a group reuses.
type scratch struct {
	count   []int32 // cells of a column, by rank
	touched []int32
	cells   []tableCell // grouped by column
	at      []int32     // of every cell: which of the rows it belongs to
	from    []int32     // first cell of a column, by rank
	values  []float64
	filled  []float64
	sorted  []float64
	squares []float64
}

// hiddenBefore are members that rows lose before an entry of an aggregate-metrics file is computed.
var hiddenBefore = []string{"response", "responses_create_params", "ng_agent_observations", "ng_model_call_capture", "ng_trajectory"}

// newTable makes the table of rows, which stand in the order of task and repeat. Members named in without are no
// columns.
func newTable(run *Run, rows []int32, rules Rules, without []string) *table {
	t := &table{run: run, rules: rules, rows: rows, rank: make([]int32, run.names.len())}
	banned := make([]bool, run.names.len())
	for i, name := range run.names.texts {
		t.rank[i] = -1
		switch {
		case name == "_ng_task_index" || name == "_ng_rollout_index":
			banned[i] = true
		case rules == Current && strings.HasPrefix(name, "_"):
			banned[i] = true
		}
	}
	ban := func(name string) {
		if i, ok := run.names.at[name]; ok {
			banned[i] = true
		}
	}
	if rules == Current {
		ban("mask_sample")
	}
	for _, name := range without {
		ban(name)
	}
	cells, whole := 0, true
	for _, row := range rows {
		for c := range run.cellsOf(int(row)) {
			if c.uses&inTable == 0 || banned[c.name] {
				continue
			}
			if t.rank[c.name] < 0 {
				t.rank[c.name] = int32(len(t.columns))
				t.columns = append(t.columns, c.name)
			}
			cells++
			whole = whole && cell{kind: c.kind}.whole()
		}
	}
	t.whole = whole && cells == len(rows)*len(t.columns)
	t.scratch.count = make([]int32, len(t.columns))
	t.scratch.from = make([]int32, len(t.columns))
	return t
}

func (t *table) name(column int32) string { return t.run.names.texts[t.columns[column]] }

// Stats describe some rows column by column. Columns without a value among them are not there.
type Stats struct {
	// Whole tells that extremes are spelled as whole numbers, which they are if every value of the table is one.
	Whole   bool
	Rows    int
	Columns []ColumnStats
}

// ColumnStats describe the values of one column.
type ColumnStats struct {
	Name    string
	N       int // rows that have a value
	Mean    float64
	Median  float64
	Max     Number
	Min     Number
	Std     float64 // with divisor n−1
	Defined bool    // whether Std is
}

// Column finds a column by its name; nil if there is none.
func (s *Stats) Column(name string) *ColumnStats {
	for i := range s.Columns {
		if s.Columns[i].Name == name {
			return &s.Columns[i]
		}
	}
	return nil
}

// gather sorts the cells of rows by column and gives the columns that have any, in order.
func (t *table) gather(rows []int32) []int32 {
	s := &t.scratch
	s.touched = s.touched[:0]
	for _, row := range rows {
		for c := range t.run.cellsOf(int(row)) {
			if c.uses&inTable == 0 || t.rank[c.name] < 0 {
				continue
			}
			k := t.rank[c.name]
			if s.count[k] == 0 {
				s.touched = append(s.touched, k)
			}
			s.count[k]++
		}
	}
	slices.Sort(s.touched)
	total := int32(0)
	for _, k := range s.touched {
		s.from[k] = total
		total += s.count[k]
		s.count[k] = 0
	}
	s.cells = slices.Grow(s.cells[:0], int(total))[:total]
	s.at = slices.Grow(s.at[:0], int(total))[:total]
	for i, row := range rows {
		for c := range t.run.cellsOf(int(row)) {
			if c.uses&inTable == 0 || t.rank[c.name] < 0 {
				continue
			}
			k := t.rank[c.name]
			s.cells[s.from[k]+s.count[k]] = c
			s.at[s.from[k]+s.count[k]] = int32(i)
			s.count[k]++
		}
	}
	return s.touched
}

// column gives the gathered cells of a column, and forgets their number for the next gathering.
func (s *scratch) column(k int32) []tableCell {
	cells := s.cells[s.from[k] : s.from[k]+s.count[k]]
	s.count[k] = 0
	return cells
}

// floats gives the values of cells as doubles.
func (s *scratch) floats(cells []tableCell) []float64 {
	s.values = s.values[:0]
	for _, c := range cells {
		s.values = append(s.values, cell{kind: c.kind, bits: c.bits}.float())
	}
	return s.values
}

// describe gives the statistics of rows (spec metrics §3).
func (t *table) describe(rows []int32) *Stats {
	s := &t.scratch
	touched := t.gather(rows)
	d := &Stats{Whole: t.whole, Rows: len(rows), Columns: make([]ColumnStats, 0, len(touched))}
	defined := false
	// Filling gaps costs as much as there are rows, for every column.
	fill := int64(len(touched))*int64(len(rows)) <= mostFilled
	for _, k := range touched {
		cells, at := s.column(k), s.at[s.from[k]:]
		values := s.floats(cells)
		c := ColumnStats{Name: t.name(k), N: len(cells)}
		gaps := fill && len(cells) < len(rows)
		c.Mean = s.mean(at, len(rows), gaps)
		c.Max, c.Min = extremes(cells, t.whole)
		s.sorted = sortedCopy(s.sorted, values)
		c.Median = middle(s.sorted)
		if c.Defined = len(values) > 1; c.Defined {
			defined = true
			c.Std = s.deviation(at, len(rows), c.Mean, gaps)
		}
		d.Columns = append(d.Columns, c)
	}
	if !defined {
		// Where nothing has a deviation, a column without a gap in the group has none to speak of.
		for i := range d.Columns {
			d.Columns[i].Defined = d.Columns[i].N == len(rows)
		}
	}
	return d
}

// mostFilled bounds the cells of a group, gaps included, up to which gaps are filled.
const mostFilled = 1 << 26

// mean is the mean of the values that were read last. In the table a gap counts as a zero of a sum, which moves the
// borders between the parts that are added up, and with them the last bits.
func (s *scratch) mean(at []int32, rows int, gaps bool) float64 {
	if !gaps {
		return mean(s.values)
	}
	s.blank(rows)
	for i, x := range s.values {
		s.filled[at[i]] = x
	}
	return pairwise(s.filled) / float64(len(s.values))
}

// deviation is the standard deviation of the values that were read last, with gaps as in mean.
func (s *scratch) deviation(at []int32, rows int, mean float64, gaps bool) float64 {
	if !gaps {
		return deviation(s.values, mean, 1, s.squares)
	}
	s.blank(rows)
	for i, x := range s.values {
		s.filled[at[i]] = (mean - x) * (mean - x)
	}
	return math.Sqrt(pairwise(s.filled) / float64(len(s.values)-1))
}

func (s *scratch) blank(n int) {
	s.filled = slices.Grow(s.filled[:0], n)[:n]
	clear(s.filled)
}

// extremes are the largest and the smallest value of cells.
func extremes(cells []tableCell, whole bool) (most, least Number) {
	if !whole {
		high, low := cell{kind: cells[0].kind, bits: cells[0].bits}.float(), cell{kind: cells[0].kind, bits: cells[0].bits}.float()
		for _, c := range cells[1:] {
			f := cell{kind: c.kind, bits: c.bits}.float()
			high, low = max(high, f), min(low, f)
		}
		return Real(high), Real(low)
	}
	value := func(c tableCell) integer.Int { return cell{kind: c.kind, bits: c.bits}.integer() }
	high, low := value(cells[0]), value(cells[0])
	for _, c := range cells[1:] {
		n := value(c)
		if n.Cmp(high) > 0 {
			high = n
		}
		if n.Cmp(low) < 0 {
			low = n
		}
	}
	return exact(high), exact(low)
}

// each calls f for the metrics of a description in the order of the files, leaving out what cannot stand in them.
func (s *Stats) each(f func(prefix, column string, n Number)) {
	for _, kind := range [...]struct {
		prefix string
		value  func(*ColumnStats) Number
	}{
		{"mean/", func(c *ColumnStats) Number { return Real(c.Mean) }},
		{"max/", func(c *ColumnStats) Number { return c.Max }},
		{"min/", func(c *ColumnStats) Number { return c.Min }},
		{"median/", func(c *ColumnStats) Number { return Real(c.Median) }},
		{"std/", func(c *ColumnStats) Number { return Real(c.Std) }},
	} {
		for i := range s.Columns {
			c := &s.Columns[i]
			if kind.prefix == "std/" && !c.Defined {
				continue
			}
			if n := kind.value(c); n.Finite() {
				f(kind.prefix, c.Name, n)
			}
		}
	}
}

// Metrics lists the statistics as the files name them.
func (s *Stats) Metrics() []Metric {
	list := make([]Metric, 0, 5*len(s.Columns))
	s.each(func(prefix, column string, n Number) { list = append(list, Metric{prefix + column, n}) })
	return list
}

// sorted gives rows in the order of task and repeat; rows of one identity stay as they were. Strictly, indices of one
// kind cannot be ordered among those of the other.
func (r *Run) sorted(rows []int32, repeats bool) ([]int32, error) {
	if !r.lenient {
		if err := r.oneKind(rows, r.task, "_ng_task_index"); err != nil {
			return nil, err
		}
		if repeats {
			if err := r.oneKind(rows, r.repeat, "_ng_rollout_index"); err != nil {
				return nil, err
			}
		}
	}
	rank := r.keyRanks()
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b int32) int {
		c := cmp.Compare(rank[r.task[a]], rank[r.task[b]])
		if c == 0 && repeats {
			c = cmp.Compare(rank[r.repeat[a]], rank[r.repeat[b]])
		}
		return c
	})
	return rows, nil
}

func (r *Run) oneKind(rows []int32, column []uint32, name string) error {
	for i, row := range rows {
		if i > 0 && r.keys.list[column[row]].IsInt() != r.keys.list[column[rows[0]]].IsInt() {
			return fmt.Errorf("%s: %s is a text in some rows and a whole number in others: %w", r.Where(int(row)), name, ErrRefused)
		}
	}
	return nil
}

// keyRanks numbers the keys by their order. Keys that differ never share a rank.
func (r *Run) keyRanks() []uint32 {
	if len(r.ranks) == len(r.keys.list) {
		return r.ranks
	}
	order := make([]uint32, len(r.keys.list))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortStableFunc(order, func(a, b uint32) int { return r.keys.list[a].Compare(r.keys.list[b]) })
	rank := make([]uint32, len(order))
	for n, i := range order {
		rank[i] = uint32(n)
	}
	r.ranks = rank
	return rank
}

// all lists the rows that can be read, in the order they were added.
func (r *Run) all() []int32 {
	rows := make([]int32, 0, len(r.state))
	for i, s := range r.state {
		if s == Readable {
			rows = append(rows, int32(i))
		}
	}
	return rows
}
