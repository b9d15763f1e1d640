package view

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/rollscope/rollscope/core/analysis"
	"github.com/rollscope/rollscope/core/compare"
	"github.com/rollscope/rollscope/core/health"
	"github.com/rollscope/rollscope/core/metrics"
)

// A side is one run of a comparison, by itself.
type side struct {
	run int // in the listing
	c   *selection
	e   *earned
}

// A comparison is two runs held against each other, kept until rows or settings change.
type comparison struct {
	stamp     string
	sides     [2]side
	align     *compare.Alignment
	report    *compare.Report // of all rows of each side
	reportErr error
	agents    *compare.Report // agent by agent
	agentsErr error

	key     string // what tasks are joined by
	badKey  string
	waits   bool // for the values that tasks are joined by
	partial bool

	listKey string
	list    []int32 // pairs of the table
}

// keyGroup joins tasks by index and group.
const keyGroup = "group"

// sideOf gives the rows of one run as a selection of their own.
func (d *Desk) sideOf(s State, run int) *selection {
	name := d.listing.Runs[run].Name
	if d.sides == nil {
		d.sides = map[string]*selection{}
	}
	if d.sides[name] == nil {
		if len(d.sides) >= mostSides {
			clear(d.sides)
		}
		d.sides[name] = new(selection)
	}
	c := d.sides[name]
	s = s.With(func(s *State) { s.Apart, s.Run = true, name })
	d.renew(c, name, s, func() []int {
		var list []int
		for _, file := range d.listing.Runs[run].Shards {
			if source, known := d.sourceOf[file]; known && !slices.Contains(s.Drop, d.listing.Entries[file].Name) {
				list = append(list, source)
			}
		}
		return list
	})
	c.tally.count(c.table, c.rules)
	return c
}

// mostSides is how many runs are kept apart at a time.
const mostSides = 4

// joinPath is the question that tells what tasks are joined by, nil where it is known.
func joinPath(s State) (q *Question, bad string) {
	switch key := s.Setting(setKey); key {
	case "", "name", keyGroup:
		return nil, ""
	default:
		return pathQuestion(key)
	}
}

// comparison compares the two runs of a State.
func (d *Desk) comparison(_ *selection, s State) *comparison {
	base, cand := d.pairOf(s)
	m := &d.compared
	var sides [2]side
	plain := s.Choose(setGroup, "").Choose(setAt, "")
	for i, run := range [...]int{base, cand} {
		sides[i].run, sides[i].c = run, d.sideOf(s, run)
	}
	q, bad := joinPath(s)
	waits := false
	if q != nil {
		for i := range sides {
			c := sides[i].c
			c.ask(q).lookup(q, c.sources).missing(c, func(int, analysis.Range) { waits = true })
		}
	}
	stamp := ""
	for i := range sides {
		sides[i].e = d.earned(sides[i].c, plain, everything)
		stamp += fmt.Sprint(sides[i].run, " ", sides[i].e.rows, " ", sides[i].e.key, " ", sides[i].c.report != nil, "; ")
	}
	stamp += fmt.Sprint(s.Setting(setKey), " ", waits, s.Profile, s.Ignore)
	if m.stamp == stamp {
		return m
	}
	*m = comparison{stamp: stamp, sides: sides, key: s.Setting(setKey), badKey: bad, waits: waits, partial: sides[0].e.partial || sides[1].e.partial}
	if bad != "" {
		m.key = ""
	}
	if m.key == "" && (shared(sides[0].e.scores) || shared(sides[1].e.scores)) {
		m.key = keyGroup
	}
	m.align = compare.Align(sides[0].e.scores, sides[1].e.scores, m.keyOf(q))
	m.report, m.reportErr = compare.Runs([]*compare.Entry{compare.Derived(sides[0].e.all)}, []*compare.Entry{compare.Derived(sides[1].e.all)}, compare.Agents{})
	var entries [2][]*compare.Entry
	for i := range sides {
		a, err := sides[i].e.run.Aggregate()
		if err != nil {
			m.agentsErr = err
			continue
		}
		for _, e := range a.Entries {
			entries[i] = append(entries[i], compare.Derived(e))
		}
	}
	if m.agentsErr == nil {
		m.agents, m.agentsErr = compare.Runs(entries[0], entries[1], compare.Agents{})
	}
	return m
}

// shared tells whether several groups have the same task.
func shared(s *metrics.Scores) bool {
	for i := 1; i < len(s.Tasks); i++ {
		if s.Tasks[i].Task == s.Tasks[i-1].Task {
			return true
		}
	}
	return false
}

// keyOf names the tasks of both sides.
func (m *comparison) keyOf(q *Question) compare.Key {
	switch {
	case m.key == "":
		return compare.ByIndex
	case m.key == keyGroup:
		return compare.ByIndexAndGroup
	}
	names := map[*metrics.TaskScore]string{}
	for i := range m.sides {
		side := &m.sides[i]
		for k := range side.e.scores.Tasks {
			t := &side.e.scores.Tasks[k]
			if len(t.Rows) == 0 {
				continue
			}
			ordinal := side.e.ordinal(t.Rows[0])
			name, ok := "", false
			if q == nil {
				name = nameOf(side.e, side.c, t)
				ok = name != ""
			} else {
				name, ok = side.c.valueOf(side.c.ask(q).lookup(q, side.c.sources), q, ordinal)
			}
			if ok {
				names[t] = name
			}
		}
	}
	return func(t *metrics.TaskScore) (string, bool) {
		name, ok := names[t]
		return name, ok
	}
}

// metricTable lists the metrics of all rows with their deltas: key metrics, and the others when they are asked for.
func (m *comparison) metricTable(s State) Table {
	t := Table{ID: "compared", Caption: "metrics of both runs", Height: 24, Rows: []Row{}, Columns: []Column{
		{Key: "metric", Title: "metric", Mono: true, Grow: true}, {Key: "baseline", Title: "baseline", Right: true}, {Key: "candidate", Title: "candidate", Right: true},
		{Key: "delta", Title: "Δ", Right: true}, {Key: "percent", Title: "Δ %", Right: true}, {Key: "interval", Title: "95 % interval of Δ", Right: true},
		{Key: "range", Title: "around 0", Help: "each row on a scale of its own, with 0 in the middle"}, {Key: "from", Title: "from", Right: true},
	}}
	if m.report == nil {
		t.Empty = "There is no metric on both sides."
		return t
	}
	c := &m.report.Comparisons[0]
	repeats := fmt.Sprintf("%s and %s repeats", repeatsText(c.Baseline), repeatsText(c.Candidates[0]))
	all := s.Setting(setMetrics) != ""
	hidden := 0
	none := func(why string) Cell { return Cell{Text: Text{Text: Dash, Muted: true, Title: why}} }
	value := func(s *compare.Side) Cell {
		if s == nil {
			return none("this side does not have it")
		}
		full := exactFloat(s.Compared())
		if s.Number.IsWhole() && !s.Mean.OK {
			return Cell{Text: Text{Text: groupNumber(s.Number.String())}, Exact: s.Number.String()}
		}
		return Cell{Text: Text{Text: metricText(s.Compared()), Title: full}, Exact: full}
	}
	order := make([]int, len(c.Metrics))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(btoi(c.Metrics[a].Name != "mean/reward"), btoi(c.Metrics[b].Name != "mean/reward"))
	})
	row := func(name string, cells []Cell) {
		t.Rows = append(t.Rows, Row{ID: "metric-" + name, Index: len(t.Rows), Cells: append([]Cell{{Text: Text{Text: name, Mono: true}}}, cells...)})
	}
	for n, i := range order {
		metric := &c.Metrics[i]
		if n > 0 && !all && (!metric.Key || n > mostKeyMetrics) {
			hidden++
			continue
		}
		cand := metric.Candidates[0]
		cells := []Cell{value(metric.Baseline), value(cand), none("one side does not have it"), none("the baseline is 0 or missing"), none("it takes two repeats on each side"), {Range: nil}, {Text: Text{Text: repeats, Muted: true}}}
		if cand != nil && cand.Delta.OK {
			full := exactFloat(cand.Delta.X)
			cells[2] = Cell{Text: Text{Text: signed(metricText(cand.Delta.X)), Title: full}, Exact: full}
			if cand.Number.IsWhole() && metric.Baseline.Number.IsWhole() && !cand.Mean.OK {
				cells[2].Text.Text = signed(groupNumber(fixed(cand.Delta.X, 0)))
			}
			if cand.Percent.OK {
				cells[3] = signedFloat(cand.Percent.X, 2)
			}
			if cand.DeltaLow.OK && cand.DeltaHigh.OK {
				low, high := cand.DeltaLow.X, cand.DeltaHigh.X
				cells[4] = Cell{Text: Text{Text: signed(metricText(low)) + " to " + signed(metricText(high)), Title: exactFloat(low) + " to " + exactFloat(high)}, Exact: exactFloat(low) + " " + exactFloat(high)}
				reach := max(math.Abs(low), math.Abs(high), math.Abs(cand.Delta.X))
				scale := Axis{Low: -reach, High: reach}
				cells[5] = Cell{Range: &Range{At: scale.Part(cand.Delta.X), Low: scale.Part(low), High: scale.Part(high), Interval: true, Mark: 0.5}, Exact: exactFloat(cand.Delta.X)}
			}
		}
		row(metric.Name, cells)
		if n == 0 {
			m.passRows(row, none)
		}
	}
	t.Total = len(t.Rows)
	t.Links = exports(t.ID)
	switch {
	case hidden > 0:
		t.Note = count(hidden, "further metric is folded", "further metrics are folded")
		t.Links = append(t.Links, Link{Text: "Show all metrics", Href: s.Choose(setMetrics, "all").Href()})
	case all:
		t.Links = append(t.Links, Link{Text: "Fold metrics", Href: s.Choose(setMetrics, "").Href()})
	}
	return t
}

// mostKeyMetrics is how many key metrics are listed unless all metrics are.
const mostKeyMetrics = 12

func repeatsText(e *compare.Entry) string {
	if e.RepeatCount < 0 {
		return "unknown"
	}
	return Group(e.RepeatCount)
}

// passRows compare pass@k at its ends, as far as both sides have it. Tasks are too few observations of a repeat for an
// interval of their difference, so there is none.
func (m *comparison) passRows(row func(string, []Cell), none func(string) Cell) {
	b, c := m.sides[0].e.scores.All.Pass, m.sides[1].e.scores.All.Pass
	last := min(len(b.Curve), len(c.Curve))
	for k := 1; k <= last; k += max(last-1, 1) {
		x, y := b.Curve[k-1], c.Curve[k-1]
		if x.Tasks == 0 || y.Tasks == 0 {
			continue
		}
		cells := []Cell{floatCell(x.Pass, 2), floatCell(y.Pass, 2), signedFloat(y.Pass-x.Pass, 2), none("the baseline is 0"), none("not computed for pass@k"), {},
			{Text: Text{Text: fmt.Sprintf("%s and %s tasks", Group(x.Tasks), Group(y.Tasks)), Muted: true}}}
		if x.Pass != 0 {
			cells[3] = signedFloat((y.Pass-x.Pass)/x.Pass*100, 2)
		}
		row(fmt.Sprintf("pass@%d/accuracy", k), cells)
	}
}

// metricText writes a metric short: few digits behind the point for large numbers.
func metricText(f float64) string {
	switch a := math.Abs(f); {
	case !finiteRange(f, f):
		return Dash
	case a >= 1e7:
		return shortFloat(f)
	case a >= 1000:
		return groupNumber(fixed(math.Trunc(f), 0)) + fixed(a-math.Trunc(a), 1)[1:]
	case a >= 10:
		return fixed(f, 2)
	}
	return fixed(f, 4)
}

// agentTable compares the agents that both sides have, one by one.
func (m *comparison) agentTable() Table {
	if m.agents == nil || len(m.agents.Comparisons) < 2 {
		return Table{}
	}
	t := Table{ID: "by-agent", Caption: "by agent", Height: 24, Rows: []Row{}, Columns: []Column{
		{Key: "agent", Title: "agent", Grow: true}, {Key: "baseline", Title: "mean reward, baseline", Right: true}, {Key: "candidate", Title: "candidate", Right: true}, {Key: "delta", Title: "Δ", Right: true},
		{Key: "interval", Title: "95 % interval of Δ", Right: true}, {Key: "common", Title: "common tasks", Right: true}, {Key: "to_pass", Title: "fail → pass", Right: true}, {Key: "to_fail", Title: "pass → fail", Right: true},
	}}
	for i := range m.agents.Comparisons {
		c := &m.agents.Comparisons[i]
		row := Row{ID: fmt.Sprint("agent-", i), Index: i, Cells: []Cell{{Text: Text{Text: c.Baseline.Label}}, floatCell(math.NaN(), 4), floatCell(math.NaN(), 4), floatCell(math.NaN(), 4), floatCell(math.NaN(), 4)}}
		for k := range c.Metrics {
			one := &c.Metrics[k]
			if one.Name != "mean/reward" {
				continue
			}
			if one.Baseline != nil {
				row.Cells[1] = floatCell(one.Baseline.Compared(), 4)
			}
			if cand := one.Candidates[0]; cand != nil {
				row.Cells[2] = floatCell(cand.Compared(), 4)
				if cand.Delta.OK {
					row.Cells[3] = signedFloat(cand.Delta.X, 4)
				}
				if cand.DeltaLow.OK && cand.DeltaHigh.OK {
					row.Cells[4] = Cell{Text: Text{Text: signed(fixed(cand.DeltaLow.X, 4)) + " to " + signed(fixed(cand.DeltaHigh.X, 4))}}
				}
			}
		}
		f := &c.Flips[0]
		row.Cells = append(row.Cells, wide(int64(f.Common)))
		if f.Mode == compare.Binary {
			row.Cells = append(row.Cells, wide(int64(f.FailToPass)), wide(int64(f.PassToFail)))
		} else {
			why := Cell{Text: Text{Text: Dash, Muted: true, Title: "rewards are not only 0 and 1, or not on both sides"}}
			row.Cells = append(row.Cells, why, why)
		}
		t.Rows = append(t.Rows, row)
	}
	t.Total = len(t.Rows)
	t.Links = exports(t.ID)
	return t
}

// A bill is what the rows of a side took.
type bill struct {
	rows, unhealthy                     int
	tokens, lostTokens, time, lostTime  float64
	withTokens, withTime, lost, counted int
}

func (s *side) bill() bill {
	var b bill
	columns := &s.c.tally.series
	b.rows = columns.rows()
	for n := range b.rows {
		if s.c.verdictOf(n) == health.Unhealthy {
			b.unhealthy++
		}
		reward, ok := 0.0, false
		if n < s.e.run.Rows() {
			reward, ok = s.e.run.Reward(n)
		}
		lost := ok && reward < s.e.scores.Threshold
		if ok {
			b.counted++
		}
		if lost {
			b.lost++
		}
		if x := columns.completion[n]; !math.IsNaN(x) {
			b.withTokens++
			b.tokens += x
			if lost {
				b.lostTokens += x
			}
		}
		if n < s.e.run.Rows() {
			if ms, ok := s.e.run.Latency(n); ok {
				b.withTime++
				b.time += ms
				if lost {
					b.lostTime += ms
				}
			}
		}
	}
	return b
}

// sideTable compares what the runs are made of and what they took: health, tokens, time, and what rollouts cost that
// did not pass.
func (m *comparison) sideTable() Table {
	t := Table{ID: "sides", Caption: "health, tokens and time of both runs", Height: 24, Rows: []Row{}, Columns: []Column{
		{Key: "what", Title: "", Grow: true}, {Key: "baseline", Title: "baseline", Right: true}, {Key: "candidate", Title: "candidate", Right: true}, {Key: "delta", Title: "Δ", Right: true},
	}}
	b := [2]bill{m.sides[0].bill(), m.sides[1].bill()}
	whole := func(title string, f func(i int) int, of func(i int) int) {
		row := Row{ID: "side-" + title, Index: len(t.Rows), Cells: []Cell{{Text: Text{Text: title}}, wide(int64(f(0))), wide(int64(f(1))), {Text: Text{Text: signed(Group(f(1) - f(0)))}}}}
		for i := range 2 {
			if of != nil {
				row.Cells[1+i].Extra, row.Cells[1+i].Exact = Text{Text: "of " + Group(of(i))}, fmt.Sprint(f(i))
			}
		}
		t.Rows = append(t.Rows, row)
	}
	real := func(title string, f func(i int) (float64, bool), text func(float64) string, note func(i int) string) {
		row := Row{ID: "side-" + title, Index: len(t.Rows), Cells: []Cell{{Text: Text{Text: title}}}}
		var x [2]float64
		both := true
		for i := range 2 {
			var ok bool
			if x[i], ok = f(i); !ok || !finiteRange(x[i], x[i]) {
				both = false
				row.Cells = append(row.Cells, Cell{Text: Text{Text: Dash, Muted: true, Title: "no row of this side says, or what they say is beyond all numbers"}})
				continue
			}
			row.Cells = append(row.Cells, Cell{Text: Text{Text: text(x[i]), Title: exactFloat(x[i])}, Exact: exactFloat(x[i]), Extra: Text{Text: note(i)}})
		}
		delta := Cell{Text: Text{Text: Dash, Muted: true, Title: "a side does not say"}}
		if both && finiteRange(x[1]-x[0], 0) {
			difference := text(math.Abs(x[1] - x[0]))
			if x[1] < x[0] {
				difference = "-" + difference
			}
			delta = Cell{Text: Text{Text: signed(difference)}, Exact: exactFloat(x[1] - x[0])}
		}
		t.Rows = append(t.Rows, Row{ID: row.ID, Index: row.Index, Cells: append(row.Cells, delta)})
	}
	score := func(i int) *metrics.Score { return &m.sides[i].e.scores.All }
	whole("rollouts with a reward that counts", func(i int) int { return score(i).Measured }, func(i int) int { return score(i).Expected })
	whole("unhealthy rollouts", func(i int) int { return b[i].unhealthy }, func(i int) int { return b[i].rows })
	whole("rollouts that do not pass", func(i int) int { return b[i].lost }, func(i int) int { return b[i].counted })
	real("completion tokens, mean", func(i int) (float64, bool) { return b[i].tokens / float64(b[i].withTokens), b[i].withTokens > 0 }, metricText,
		func(i int) string { return "of " + Group(b[i].withTokens) })
	real("completion tokens of rollouts that do not pass", func(i int) (float64, bool) { return b[i].lostTokens, b[i].withTokens > 0 }, func(f float64) string { return groupNumber(fixed(f, 0)) },
		func(i int) string { return partOf(b[i].lostTokens, b[i].tokens) })
	real("latency, median", func(i int) (float64, bool) {
		p := m.sides[i].e.all.Perf
		if p == nil || p.Latency.N == 0 {
			return 0, false
		}
		return p.Latency.P50, true
	}, clock, func(i int) string { return "of " + Group(b[i].withTime) })
	real("time of rollouts that do not pass", func(i int) (float64, bool) { return b[i].lostTime, b[i].withTime > 0 }, clock,
		func(i int) string { return partOf(b[i].lostTime, b[i].time) })
	t.Total = len(t.Rows)
	t.Links = exports(t.ID)
	return t
}

func partOf(part, whole float64) string {
	if !(whole > 0) || !finiteRange(part/whole*100, whole) {
		return ""
	}
	return fixed(part/whole*100, 1) + " %"
}
