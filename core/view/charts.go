package view

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strconv"

	"github.com/rollscope/rollscope/core/health"
	"github.com/rollscope/rollscope/core/view/filter"
)

// A rowChart counts the rows of the filter by one field; its marks add a condition to the filter.
type rowChart struct {
	id, title, field string
	whole            bool
	missing          string // what rows without a value have not
	value            func(s *series, ordinal int) float64
}

var rowCharts = []rowChart{
	{"reward", "reward", "reward", false, "have no number as reward", func(s *series, n int) float64 { return s.reward[n] }},
	{"turns", "turns", "turns", true, "have no list of turns", func(s *series, n int) float64 { return counted(s.turns[n]) }},
	{"completion", "completion tokens", "completion", true, "do not say", func(s *series, n int) float64 { return s.completion[n] }},
	{"failed", "failed calls per rollout", "failed", true, "have no list of calls", func(s *series, n int) float64 { return counted(s.failed[n]) }},
}

// mostAgents is how many agents a chart has bars for.
const mostAgents = 8

// each gives the ordinals of the matches that are in the series.
func (m *matches) each(c *selection) iter.Seq[int] {
	return func(yield func(int) bool) {
		rows := c.tally.series.rows()
		for n := range m.len(c) {
			if i := m.at(c, n); i < rows && !yield(i) {
				return
			}
		}
	}
}

// rolloutCharts are the charts above the rows. One appears when a row of the filter has a value for it.
func (d *Desk) rolloutCharts(c *selection, s State, found *matches) []Chart {
	charts := []Chart{}
	for i := range rowCharts {
		if chart, ok := rowCharts[i].draw(c, s, found); ok {
			charts = append(charts, chart)
		}
	}
	if chart, ok := agentChart(c, s, found); ok {
		charts = append(charts, chart)
	} else if found.len(c) > 0 {
		charts = append(charts, verdictChart(c, s, found))
	}
	return charts
}

// Chart finds a chart of the page that a State shows, for a file of its own.
func (d *Desk) Chart(s State, id string) (Chart, bool) {
	if d.Empty() {
		return Chart{}, false
	}
	page, _ := d.Page(s, Host{}, nil)
	var charts []Chart
	switch {
	case page.Rollouts != nil:
		charts = page.Rollouts.Charts
	case page.Tasks != nil:
		charts = page.Tasks.Charts
	case page.Overview != nil:
		for _, p := range page.Overview.Panels {
			charts = append(charts, p.Charts...)
		}
	default:
		if pane := d.pane(s.With(func(s *State) { s.Tab = d.tab(*s) })); pane != nil && pane.charts != nil {
			charts = pane.charts(page)
		}
	}
	for _, chart := range charts {
		if chart.ID == id {
			return chart, true
		}
	}
	return Chart{}, false
}

func (r *rowChart) draw(c *selection, s State, found *matches) (Chart, bool) {
	columns := &c.tally.series
	n := 0
	bins := binned(func(yield func(float64) bool) {
		for i := range found.each(c) {
			if !yield(r.value(columns, i)) {
				return
			}
		}
	}, r.whole)
	for _, b := range bins {
		n += b.n
	}
	if n == 0 {
		return Chart{}, false
	}
	chart := Chart{ID: r.id, Title: r.title, Kind: "bars"}
	chart.Caption, chart.Note = outOf(n, found.len(c), r.missing)
	if b := bins[len(bins)/2]; b.from != b.below && !b.open {
		chart.Caption += ", bins of " + borderText(round(b.below-b.from))
	}
	for _, b := range bins {
		chart.Bins = append(chart.Bins, Bin{Label: b.label(), Name: b.name(), Value: float64(b.n), Text: Group(b.n), Href: narrowed(s, b.term(r.field))})
	}
	return chart, true
}

// counted is a count of which −1 says that there is none.
func counted(n int32) float64 {
	if n < 0 {
		return missingNumber
	}
	return float64(n)
}

// outOf says how many rows a chart shows, and in a note what the others lack.
func outOf(n, of int, missing string) (caption, note string) {
	if n == of {
		return Group(n) + " of " + Group(of), ""
	}
	return Group(n) + " of " + Group(of), fmt.Sprintf("%s of %s %s", Group(of-n), count(of, "rollout", "rollouts"), missing)
}

// narrowed is the link to a State with one more condition.
func narrowed(s State, term string) string {
	return s.With(func(s *State) { s.Filter = withTerm(s.Filter, term) }).Href()
}

// agentChart counts rows by agent where there are several.
func agentChart(c *selection, s State, found *matches) (Chart, bool) {
	columns := &c.tally.series
	counts := make([]int, len(columns.agents)+1)
	for i := range found.each(c) {
		counts[columns.agent[i]+1]++
	}
	var agents []int
	for i := range columns.agents {
		if counts[i+1] > 0 {
			agents = append(agents, i)
		}
	}
	if len(agents) < 2 {
		return Chart{}, false
	}
	slices.SortStableFunc(agents, func(a, b int) int { return cmp.Compare(counts[b+1], counts[a+1]) })
	chart := Chart{ID: "agent", Title: "agent", Kind: "bars"}
	chart.Caption, chart.Note = outOf(found.len(c)-counts[0], found.len(c), "name none")
	rest, restOf := 0, 0
	for n, i := range agents {
		if n >= mostAgents-1 && len(agents) > mostAgents {
			rest += counts[i+1]
			restOf++
			continue
		}
		name := columns.agents[i]
		chart.Bins = append(chart.Bins, Bin{Label: name, Value: float64(counts[i+1]), Text: Group(counts[i+1]), Href: narrowed(s, filter.Equal("agent", filter.Text(name)))})
	}
	if restOf > 0 {
		chart.Bins = append(chart.Bins, Bin{Label: "+" + strconv.Itoa(restOf), Name: count(restOf, "other agent", "other agents"), Value: float64(rest), Text: Group(rest)})
	}
	return chart, true
}

func verdictChart(c *selection, s State, found *matches) Chart {
	chart := Chart{ID: "verdict", Title: "verdict", Kind: "bars", Caption: count(found.len(c), "rollout", "rollouts")}
	for v, n := range found.verdicts(c) {
		word := health.Verdict(v).String()
		chart.Bins = append(chart.Bins, Bin{Label: word, Value: float64(n), Text: Group(n), Tone: word, Href: narrowed(s, filter.Equal("verdict", filter.Text(word)))})
	}
	return chart
}
