package view

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rollscope/rollscope/core/metrics"
	"github.com/rollscope/rollscope/core/perf"
)

// everything are the matches of no filter: panels are about the whole selection.
var everything = &matches{all: true}

// scorePanel is what the run has earned, with the one chart and the few numbers that say most.
func (d *Desk) scorePanel(c *selection, s State) Panel {
	plain := s.Choose(setAt, "").Choose(setGroup, "").With(func(s *State) { s.Filter = "" })
	to := plain.ToTab("scores")
	e := d.earned(c, plain, everything)
	all := &e.scores.All
	p := Panel{Title: "Score", Charts: []Chart{}, Lines: []Line{}}
	if panes["scores"].there(d, c) {
		p.Href, p.Link = to.Href(), "Scores"
	}
	number, lines := headline(e)
	p.Number = number.Value
	p.Of = fmt.Sprintf("mean reward, %s of %s", Group(all.Measured), Group(all.Expected))
	if all.Measured == 0 {
		p.Of = "no reward that counts in " + count(all.Expected, "rollout", "rollouts")
		if out := all.LeftOut.Total(); out > 0 {
			p.Lines = append(p.Lines, Line{Text: "left out", Right: leftOut(&all.LeftOut).Text, Href: p.Href})
		}
		return p
	}
	chart, ok := d.solvedChart(c, plain, e)
	if !ok {
		chart, _ = d.rewardChart(c, plain, e)
	}
	if len(lines) > 0 && all.Across.Interval && finiteRange(all.Across.Low, all.Across.High) {
		p.Lines = append(p.Lines, Line{Text: "95 % over " + count(all.Across.N, "repeat", "repeats"), Right: scoreText(all.Across.Low) + " – " + scoreText(all.Across.High), Href: to.Href()})
	}
	chart.ID = "score-" + chart.ID
	p.Charts = append(p.Charts, chart)
	points := all.Pass.Curve
	for i, at := range []int{0, len(points) - 1} {
		if at < i || len(points) < 2 {
			break
		}
		if point := points[at]; point.Tasks > 0 {
			p.Lines = append(p.Lines, Line{Text: "pass@" + strconv.Itoa(point.K), Right: fmt.Sprintf("%s · %s of %s", fixed(point.Pass, 2), Group(point.Tasks), count(all.Tasks, "task", "tasks")), Href: to.Href()})
		}
	}
	p.Lines = append(p.Lines, Line{Text: "never · sometimes · always", Right: fmt.Sprintf("%s · %s · %s", Group(all.Slices[metrics.Never]), Group(all.Slices[metrics.Sometimes]), Group(all.Slices[metrics.Always])), Href: to.Href()})
	if all.LeftOut.Total() > 0 {
		p.Lines = append(p.Lines, Line{Text: "left out", Right: leftOut(&all.LeftOut).Text, Href: to.Href()})
	}
	saved := d.agreement(c, e)
	for i := range saved.files {
		f := &saved.files[i]
		match, differ, _ := f.counts()
		line := Line{Mark: MarkHealthy, Text: "saved metrics equal derived", Right: fmt.Sprintf("%s of %s values", Group(match), Group(match+differ)), Href: to.Href()}
		switch {
		case f.problem != "":
			line.Mark, line.Text, line.Right = MarkFailed, "saved metrics cannot be used", f.name
		case differ > 0:
			line.Mark, line.Text, line.Right = MarkUnhealthy, "saved metrics differ from derived", fmt.Sprintf("%s of %s values", Group(differ), Group(match+differ))
		case i > 0:
			continue
		}
		p.Lines = append(p.Lines, line)
	}
	return p
}

// latencyPath is where rows say how long they took.
const latencyPath = "row.ng_perf.total_latency_ms"

// timePanel is what rows say of their time and tokens: the performance summary of everything.
func (d *Desk) timePanel(c *selection, s State) Panel {
	plain := s.Choose(setAt, "").Choose(setGroup, "").With(func(s *State) { s.Filter = "" })
	e := d.earned(c, plain, everything)
	p := Panel{Title: "Time", Charts: []Chart{}, Lines: []Line{}, Number: Text{Text: Dash, Title: "no row has the object ng_perf"}}
	if there := panes["performance"]; there.there(d, c) {
		p.Href, p.Link = plain.ToTab("performance").Href(), "Performance"
	}
	sum := e.all.Perf
	if sum == nil {
		p.Of = "0 of " + count(e.run.Rows(), "row says", "rows say") + " how long they took"
		return p
	}
	p.Of = fmt.Sprintf("0 of %s say how long they took", Group(sum.Records))
	p.Number.Title = "no row has " + latencyPath[len("row."):]
	if l := &sum.Latency; l.N > 0 {
		p.Number = Text{Text: clock(l.P50), Title: exactFloat(l.P50) + " ms"}
		p.Of = fmt.Sprintf("median latency, %s of %s", Group(l.N), count(sum.Records, "rollout", "rollouts"))
		p.Charts = append(p.Charts, latencyChart(plain, e))
		t := &Table{ID: "latency", Caption: "latency", Height: 22, Total: 1, Columns: []Column{{Key: "what", Title: "latency"}}, Rows: []Row{{ID: "latency", Cells: []Cell{{Text: Text{Text: latencyUnit(l.Max.Real()), Muted: true}}}}}}
		for _, one := range [...]struct {
			key   string
			value float64
		}{{"p50", l.P50}, {"p90", l.P90}, {"p99", l.P99}, {"max", l.Max.Real()}} {
			t.Columns = append(t.Columns, Column{Key: one.key, Title: one.key, Right: true})
			t.Rows[0].Cells = append(t.Rows[0].Cells, latencyCell(one.value))
		}
		p.Table = t
		p.Lines = append(p.Lines, slowest(plain, e)...)
		p.Lines = append(p.Lines, Line{Text: "source: " + latencyPath[len("row."):], Right: Group(l.N) + " of " + Group(sum.Records)})
	}
	if f := sum.Completion(); f.N > 0 {
		p.Lines = append(p.Lines, Line{Text: "completion tokens", Right: fmt.Sprintf("%s · mean %s", totalText(f.Total), shortFloat(f.Mean))})
	}
	if sum.Turns.N > 0 {
		p.Lines = append(p.Lines, Line{Text: "turns", Right: fmt.Sprintf("mean %s · most %s", shortFloat(sum.Turns.Mean), totalText(sum.Turns.Max))})
	}
	return p
}

// totalText writes a number of a summary.
func totalText(n perf.Number) string {
	if whole, ok := n.Value().Whole(); ok {
		return groupNumber(whole.String())
	}
	return shortFloat(n.Real())
}

// latencies lists the latencies of the rows that the summary is of.
func (e *earned) latencies() []float64 {
	list := make([]float64, 0, e.run.Rows())
	for _, row := range e.run.Distinct() {
		if ms, ok := e.run.Latency(int(row)); ok {
			list = append(list, ms)
		}
	}
	return list
}

// latencyChart counts rollouts by their latency in seconds.
func latencyChart(s State, e *earned) Chart {
	list := e.latencies()
	chart := Chart{ID: "latency", Title: "rollouts by latency, s", Kind: "bars"}
	to := s.ToTab("rollouts")
	for _, b := range binned(func(yield func(float64) bool) {
		for _, ms := range list {
			if !yield(ms / 1000) {
				return
			}
		}
	}, false) {
		inside := b
		inside.from, inside.below = b.from*1000, b.below*1000
		chart.Bins = append(chart.Bins, Bin{Label: b.label(), Name: b.name() + " s", Value: float64(b.n), Text: Group(b.n), Href: narrowed(to, inside.term(latencyPath))})
	}
	return chart
}

// slowest says how much of the time the slowest rollouts take.
func slowest(s State, e *earned) []Line {
	list := e.latencies()
	if len(list) < 10 {
		return nil
	}
	slices.Sort(list)
	n := max(len(list)/100, 1)
	sum, tail := 0.0, 0.0
	for i, ms := range list {
		sum += ms
		if i >= len(list)-n {
			tail += ms
		}
	}
	if !(sum > 0) {
		return nil
	}
	share := strings.TrimSpace(fixed(tail*100/sum, 1)) + " %"
	text := "slowest 1 % hold " + share + " of the time"
	if len(list) < 100 {
		text = "the slowest holds " + share + " of the time"
	}
	return []Line{{Text: text, Right: count(n, "rollout", "rollouts"), Href: narrowed(s.ToTab("rollouts"), latencyPath+">="+exactFloat(list[len(list)-n]))}}
}

// scoreEyes are the saved metrics that are not what the rows give.
func (d *Desk) scoreEyes(c *selection, s State) []eye {
	plain := s.Choose(setAt, "").Choose(setGroup, "").With(func(s *State) { s.Filter = "" })
	e := d.earned(c, plain, everything)
	var list []eye
	for _, f := range d.agreement(c, e).files {
		t := f.sentence()
		if t.Mark == MarkHealthy {
			continue
		}
		touched := 0
		for i := range f.agreed {
			touched += f.agreed[i].Rows
		}
		list = append(list, eye{mark: t.Mark, text: f.name + " " + t.Text, check: "saved metrics", touched: touched, first: -1, href: plain.ToTab("scores").Href()})
	}
	return list
}
