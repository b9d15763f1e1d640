package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/rollscope/rollscope/core/metrics"
)

// A Report compares a baseline with candidates. There is one candidate today; everything about candidates is a list
// all the same.
type Report struct {
	Comparisons []Comparison
	Skipped     []Skip   // agents that only one side has
	Warnings    []string // one for each of Skipped
	Remarks     []string // what a reader should know of the runs, not part of the report
}

// A Skip lists the agents that were not compared because only one side has them.
type Skip struct {
	Side   string // baseline, candidate[0]
	Agents []string
}

// Agents say which agents are compared. Names of one side win over the common name, which wins over all.
type Agents struct {
	Name       string
	Baseline   string
	Candidates []string // one for each candidate
}

// A Comparison is one agent of the baseline against one of every candidate.
type Comparison struct {
	Baseline   *Entry
	Candidates []*Entry
	Metrics    []Metric
	Flips      []Flips // one for each candidate
	Notes      []string
}

// A Metric is one row of a comparison.
type Metric struct {
	Name       string
	Key        bool // some side has it among its key metrics
	Baseline   *Side
	Candidates []*Side // nil where a candidate does not have it
}

// A Side is what one side says of a metric.
type Side struct {
	Value  float64
	Number metrics.Number // Value as it is spelled

	Low, High Optional // interval of the mean across repeats
	SE        Optional // standard error across repeats
	Mean      Optional // across repeats
	RunSE     Optional // standard error across runs

	// Of a candidate, against the baseline; missing where it cannot be told.
	Delta, Percent      Optional
	DeltaLow, DeltaHigh Optional
}

// Compared is the number that is compared: the mean across repeats where there is one.
func (s *Side) Compared() float64 {
	if s.Mean.OK {
		return s.Mean.X
	}
	return s.Value
}

// present tells which sides have the metric, by their names in reports.
func (m *Metric) present() []string {
	list := []string{}
	if m.Baseline != nil {
		list = append(list, "baseline")
	}
	for i, c := range m.Candidates {
		if c != nil {
			list = append(list, candidateName(i))
		}
	}
	return list
}

func candidateName(i int) string { return fmt.Sprintf("candidate[%d]", i) }

// Runs compares the entries of two runs. Errors wrap [ErrRefused].
func Runs(baseline, candidate []*Entry, agents Agents) (*Report, error) {
	r := &Report{Comparisons: []Comparison{}, Skipped: []Skip{}, Warnings: []string{}, Remarks: []string{}}
	pairs, err := r.pair(baseline, candidate, agents)
	if err != nil {
		return nil, err
	}
	for _, p := range pairs {
		c := Comparison{Baseline: p[0], Candidates: []*Entry{p[1]}}
		if err := c.compare(); err != nil {
			return nil, err
		}
		r.remark("baseline", p[0])
		r.remark(candidateName(0), p[1])
		r.Comparisons = append(r.Comparisons, c)
	}
	return r, nil
}

// remark tells of repeats that do not cover the same tasks.
func (r *Report) remark(side string, e *Entry) {
	uneven := slices.ContainsFunc(e.Repeats, func(d Repeat) bool { return d.Missing > 0 || d.Sample != e.Repeats[0].Sample })
	if uneven {
		r.Remarks = append(r.Remarks, fmt.Sprintf("%s, agent %q: repeats do not cover the same tasks, so intervals mix the difficulty of tasks with the spread of repeats", side, e.Label))
	}
}

// pair finds which entries are compared.
func (r *Report) pair(baseline, candidate []*Entry, agents Agents) ([][2]*Entry, error) {
	if agents.Baseline != "" || len(agents.Candidates) > 0 {
		name := ""
		switch len(agents.Candidates) {
		case 0:
		case 1:
			name = agents.Candidates[0]
		default:
			return nil, fmt.Errorf("%d names for 1 candidate: %w", len(agents.Candidates), ErrRefused)
		}
		b, err := pick("baseline", baseline, agents.Baseline, agents.Name)
		if err != nil {
			return nil, err
		}
		c, err := pick("candidate", candidate, name, agents.Name)
		if err != nil {
			return nil, err
		}
		return [][2]*Entry{{b, c}}, nil
	}
	if agents.Name != "" {
		b, err := pick("baseline", baseline, agents.Name, "")
		if err != nil {
			return nil, err
		}
		c, err := pick("candidate", candidate, agents.Name, "")
		if err != nil {
			return nil, err
		}
		return [][2]*Entry{{b, c}}, nil
	}
	var pairs [][2]*Entry
	for _, b := range baseline {
		if c := find(candidate, b.Label); c != nil {
			pairs = append(pairs, [2]*Entry{b, c})
		}
	}
	slices.SortFunc(pairs, func(a, b [2]*Entry) int { return strings.Compare(a[0].Label, b[0].Label) })
	r.skip("baseline", baseline, candidate)
	r.skip(candidateName(0), candidate, baseline)
	if len(pairs) == 0 {
		return nil, fmt.Errorf("no agent is on both sides: the baseline has %s, the candidate %s: %w", names(baseline), names(candidate), ErrRefused)
	}
	return pairs, nil
}

func (r *Report) skip(side string, own, other []*Entry) {
	var only []string
	for _, e := range own {
		if find(other, e.Label) == nil {
			only = append(only, e.Label)
		}
	}
	if len(only) == 0 {
		return
	}
	slices.Sort(only)
	r.Skipped = append(r.Skipped, Skip{side, only})
	r.Warnings = append(r.Warnings, fmt.Sprintf("Only %s has %s; not compared.", side, strings.Join(only, ", ")))
}

func find(list []*Entry, label string) *Entry {
	for _, e := range list {
		if e.Label == label {
			return e
		}
	}
	return nil
}

func pick(side string, list []*Entry, name, common string) (*Entry, error) {
	if name == "" {
		name = common
	}
	if name == "" {
		if len(list) == 1 {
			return list[0], nil
		}
		return nil, fmt.Errorf("the %s has several agents, %s, and none is named: %w", side, names(list), ErrRefused)
	}
	if e := find(list, name); e != nil {
		return e, nil
	}
	return nil, fmt.Errorf("the %s has no agent %q; it has %s: %w", side, name, names(list), ErrRefused)
}

func names(list []*Entry) string {
	all := []string{}
	for _, e := range list {
		all = append(all, e.Label)
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// named is how many metrics an error lists.
const named = 5

// compare fills in everything about the two sides.
func (c *Comparison) compare() error {
	base, cand := c.Baseline, c.Candidates[0]
	list := base.primary()
	known := map[string]bool{}
	for _, name := range list {
		known[name] = true
	}
	for _, name := range cand.primary() {
		if !known[name] {
			list = append(list, name)
		}
	}
	both, oneSided := false, 0
	for _, name := range list {
		m := Metric{Name: name, Key: base.Key[name] || cand.Key[name], Baseline: base.side(name), Candidates: []*Side{cand.side(name)}}
		if m.Baseline != nil && m.Candidates[0] != nil {
			both = true
			m.Candidates[0].against(m.Baseline, base, cand, name)
		} else {
			oneSided++
		}
		c.Metrics = append(c.Metrics, m)
	}
	if !both {
		return fmt.Errorf("no metric is on both sides: the baseline has %s, the candidate %s: %w", first(base.primary()), first(cand.primary()), ErrRefused)
	}
	c.Flips = []Flips{flips(base, cand)}
	c.note(oneSided)
	return nil
}

func first(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	names = slices.Clone(names)
	slices.Sort(names)
	if len(names) > named {
		return strings.Join(names[:named], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}

// side is what the entry says of a metric; nil if it has none of the name.
func (e *Entry) side(name string) *Side {
	i, ok := e.at[name]
	if !ok || !e.Values[i].Numeric {
		return nil
	}
	return &Side{
		Value: e.Values[i].Number.Float(), Number: e.Values[i].Number,
		Low: e.number("ci_low_95_across_repeats/" + name), High: e.number("ci_high_95_across_repeats/" + name),
		SE: e.number("se_across_repeats/" + name), Mean: e.number("mean_across_repeats/" + name),
		RunSE: e.number(name + "/std_err_across_runs"),
	}
}

// against holds a candidate's side against the baseline's.
func (s *Side) against(base *Side, b, c *Entry, name string) {
	from := base.Compared()
	s.Delta = finite(s.Compared() - from)
	if s.Delta.OK && from != 0 {
		s.Percent = finite(s.Delta.X / math.Abs(from) * 100)
	}
	if !s.Mean.OK || !base.Mean.OK {
		return
	}
	if low, high, ok := Welch(b.observations(name), c.observations(name)); ok {
		s.DeltaLow, s.DeltaHigh = finite(low), finite(high)
	}
}

func finite(x float64) Optional { return Optional{x, !math.IsNaN(x) && !math.IsInf(x, 0)} }

// observations are the finite values of a metric in the repeats.
func (e *Entry) observations(name string) []float64 {
	var list []float64
	for _, r := range e.Repeats {
		if x, ok := r.Values[name]; ok && !math.IsNaN(x) && !math.IsInf(x, 0) {
			list = append(list, x)
		}
	}
	return list
}

// Welch gives the interval that holds the difference of two means, of candidate and baseline, with 95 %, for
// independent samples of unlike spread. ok is false unless both have at least two values.
func Welch(baseline, candidate []float64) (low, high float64, ok bool) {
	if len(baseline) < 2 || len(candidate) < 2 {
		return 0, 0, false
	}
	mb, vb := moments(baseline)
	mc, vc := moments(candidate)
	nb, nc := float64(len(baseline)), float64(len(candidate))
	difference := mc - mb
	if vb == 0 && vc == 0 {
		return difference, difference, true
	}
	a, b := vc/nc, vb/nb
	df := (a + b) * (a + b) / (a*a/(nc-1) + b*b/(nb-1))
	if math.IsNaN(df) {
		df = 1
	}
	half := metrics.TQuantile(df) * math.Sqrt(a+b)
	return difference - half, difference + half, true
}

// moments are mean and sample variance.
func moments(values []float64) (mean, variance float64) {
	n := float64(len(values))
	for _, x := range values {
		mean += x
	}
	mean /= n
	for _, x := range values {
		variance += (x - mean) * (x - mean)
	}
	return mean, variance / (n - 1)
}

// note says what a reader of the numbers should know.
func (c *Comparison) note(oneSided int) {
	c.Notes = []string{}
	base, cand := c.Baseline, c.Candidates[0]
	if base.RepeatCount >= 0 && cand.RepeatCount >= 0 && base.RepeatCount != cand.RepeatCount {
		c.Notes = append(c.Notes, fmt.Sprintf("The baseline has %d repeats and the candidate %d; names with a number of repeats in them do not meet.", base.RepeatCount, cand.RepeatCount))
	}
	intervals := func(e *Entry) bool {
		return slices.ContainsFunc(e.Values, func(v Value) bool { return strings.HasPrefix(v.Name, "ci_low_95_across_repeats/") })
	}
	if !intervals(base) && !intervals(cand) {
		c.Notes = append(c.Notes, "Neither side has intervals across repeats; they take two repeats or more.")
	}
	if oneSided > 0 {
		noun := "metrics are"
		if oneSided == 1 {
			noun = "metric is"
		}
		c.Notes = append(c.Notes, fmt.Sprintf("%d %s on one side only.", oneSided, noun))
	}
}
