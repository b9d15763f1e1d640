package view

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/rollscope/rollscope/core/jsontext"
	"github.com/rollscope/rollscope/core/modelcall"
	"github.com/rollscope/rollscope/core/quantile"
	"github.com/rollscope/rollscope/core/runfolder"
	"github.com/rollscope/rollscope/core/view/filter"
)

// Calls is the tab of that name: every model call of the run.
type Calls struct {
	Facts    []Fact
	Chips    []Chip // conditions on calls, within the rows of the filter
	Quick    []Choice
	Error    string // why the conditions are not used
	Charts   []Chart
	Table    Table
	Note     string // what is not known yet
	Captures *Captures
}

var callsPane = pane{
	there:  func(d *Desk, c *selection) bool { return c.tally.series.called || d.hasCaptures() },
	probe:  callsProbe.ID,
	show:   showCalls,
	table:  callsTable,
	charts: func(p *Page) []Chart { return p.Calls.Charts },
}

// hasCaptures tells whether files with captured calls are among those given.
func (d *Desk) hasCaptures() bool {
	for i := range d.listing.Entries {
		if d.listing.Entries[i].Kind == runfolder.Capture {
			return true
		}
	}
	return false
}

func callsTable(d *Desk, c *selection, r *request, id string, from, to int) (Table, bool) {
	switch id {
	case "calls":
		return d.callTable(c, r.state, r.found, from, to), true
	case "captures":
		captures, _ := d.captures(c, r.state)
		return captures.Table, true
	}
	return Table{}, false
}

func showCalls(d *Desk, c *selection, r *request) []Need {
	s := r.state
	l := d.calls(c, s, r.found)
	v := &Calls{
		Facts: callFacts(c, s, r, l), Chips: []Chip{}, Quick: []Choice{}, Charts: callCharts(s, l), Table: d.callTable(c, s, r.found, r.windows["calls"], r.windows["calls"]+windowSize),
	}
	r.page.Calls = v
	for i, chip := range l.filter.Chips() {
		v.Chips = append(v.Chips, Chip{Text: chip.Label, Remove: s.Choose(callsWhere, l.filter.Without(i).String()).Href()})
	}
	if l.err != nil {
		v.Error = fmt.Sprintf("The conditions on calls are not used: %s (character %d).", l.err, l.errAt+1)
	}
	for _, q := range [...]Choice{{Value: "failed=true", Title: "failed alone"}, {Value: "not has(turn)", Title: "of no turn"}} {
		f, err := filter.Parse(q.Value, callFilterFields)
		if err != nil {
			continue
		}
		q.On = f.String() == l.filter.String()
		q.Href = s.Choose(callsWhere, f.String()).Href()
		if q.On {
			q.Href = s.Choose(callsWhere, "").Href()
		}
		v.Quick = append(v.Quick, q)
	}
	if r.pending {
		v.Note = fmt.Sprintf("so far: the calls of %s of %s were looked at", Group(l.looked), count(r.found.len(c), "row", "rows"))
	}
	tableFoot(r.page, s, callChoice(), v.Table, "in the order of the files")
	if !d.hasCaptures() {
		return nil
	}
	captures, needs := d.captures(c, s)
	v.Captures = captures
	if k := &c.called.captures; k.damaged > 0 {
		r.page.Alerts = append(r.page.Alerts, Alert{Code: "unreadable_row", Count: k.damaged, Place: Text{Text: k.first, Mono: true},
			Text: count(k.damaged, "line of the captures is no call.", "lines of the captures are no calls."), Help: "The calls around them were read; the table of captures has the reasons."})
	}
	return needs
}

// callFacts is the strip of the tab.
func callFacts(c *selection, s State, r *request, l *callList) []Fact {
	rep := l.report
	calls, failed := rep.All.Calls, rep.All.Failed
	facts := []Fact{
		{Label: "model calls", Value: Text{Text: Group(calls)}, Note: Text{Text: "of " + Group(l.of)}, Stat: "calls.total", Exact: strconv.FormatInt(calls, 10)},
		{Label: "failed", Value: Text{Text: Group(failed)}, Note: Text{Text: percent(int(failed), int(calls))}, Stat: "calls.failed", Exact: strconv.FormatInt(failed, 10)},
	}
	if failed > 0 {
		facts[1].Value.Mark = MarkFailed
	}
	if failed > 0 && failed < calls {
		facts[1].Value.Href = callsNarrowed(s, "failed=true")
	}
	with := Fact{Label: "rollouts with calls", Value: Text{Text: Group(rep.WithCalls)}, Note: Text{Text: "of " + Group(r.found.len(c)),
		Title: fmt.Sprintf("%s with captured calls, %s by their trajectory alone", Group(rep.Attached), Group(rep.FromTrajectory))}}
	if rep.FromTrajectory > 0 {
		with.Note.Text += " · " + Group(rep.FromTrajectory) + " by trajectory"
	}
	facts = append(facts, with)
	facts = append(facts, tokenFacts(&rep.All)...)
	return append(facts, spreadFact("latency p50 p90 p99, ms", "p50, p90, p99", rep.All.LatencyMS, 0, int(calls), "no call has a latency"),
		spreadFact("TTFT, ms", "p50, p90, p99", rep.All.TTFTMS, 0, int(calls), "no call has a time to the first token"),
		spreadFact("tokens/s", "p50, p90, p99", rep.All.OutRate, 1, int(calls), "needs completion tokens and a latency above 0"))
}

// tokenFacts are the sums of the tokens of some calls.
func tokenFacts(g *modelcall.Group) []Fact {
	var facts []Fact
	sum := func(label string, t modelcall.TokenSum) {
		f := Fact{Label: label, Value: Text{Text: Dash, Muted: true, Title: "no call says how many"}, Note: Text{Text: "0 of " + count(g.Calls, "call", "calls")}}
		if t.Calls > 0 {
			text := t.Sum.String()
			f.Value, f.Exact = Text{Text: groupNumber(text)}, text
			f.Note.Text = ""
			if t.Calls < g.Calls {
				f.Note.Text = Group(t.Calls) + " of " + Group(g.Calls)
			}
		}
		facts = append(facts, f)
	}
	sum("prompt tokens", g.Tokens.In)
	if in, cached := double(g.Tokens.In.Sum.String()), double(g.Tokens.Cached.Sum.String()); g.Tokens.Cached.Calls > 0 && in > 0 {
		facts[0].Note.Text = joined(facts[0].Note.Text, fixed(100*cached/in, 1)+" % cached")
		facts[0].Note.Title = groupNumber(g.Tokens.Cached.Sum.String()) + " cached, known of " + count(g.Tokens.Cached.Calls, "call", "calls")
	}
	sum("completion tokens", g.Tokens.Out)
	if t := g.Tokens.Reasoning; t.Calls > 0 {
		last := len(facts) - 1
		facts[last].Note.Title = groupNumber(t.Sum.String()) + " of them reasoning, known of " + count(t.Calls, "call", "calls")
	}
	return facts
}

func joined(a, b string) string {
	if a == "" {
		return b
	}
	return a + ", " + b
}

// spreadFact shows three quantiles, by the rule of the collection's tracker.
func spreadFact(label, which string, s quantile.Spread, decimals, of int, missing string) Fact {
	f := Fact{Label: label, Value: Text{Text: Dash, Muted: true, Title: missing}, Note: Text{Text: "0 of " + Group(of)}}
	if s.N == 0 {
		return f
	}
	q := s.ByTracker
	f.Value = Text{Text: groupFixed(q[0], decimals) + " · " + groupFixed(q[2], decimals) + " · " + groupFixed(q[3], decimals),
		Title: fmt.Sprintf("%s, %s, %s; quantiles by the rule of the collection's latency tracker", shortest(q[0]), shortest(q[2]), shortest(q[3]))}
	f.Value.Title = which + ": " + f.Value.Title
	if s.N != of {
		f.Note.Text = fmt.Sprintf("%s of %s", Group(s.N), Group(of))
	} else {
		f.Note.Text = ""
	}
	return f
}

// callsNarrowed is the link to a State with one more condition on calls.
func callsNarrowed(s State, term string) string {
	base, err := filter.Parse(s.Setting(callsWhere), callFilterFields)
	if err != nil {
		base = filter.Filter{}
	}
	more, err := filter.Parse(term, callFilterFields)
	if err != nil {
		return s.Href()
	}
	return s.Choose(callsWhere, base.With(more).String()).Href()
}

// callCharts are the charts above the calls. One appears when there is something to tell apart.
func callCharts(s State, l *callList) []Chart {
	charts := []Chart{}
	rep := l.report
	total := rep.All.Calls
	if total == 0 {
		return charts
	}
	models, dialects := map[string]*modelcall.Tally{}, map[string]*modelcall.Tally{}
	var byModel, byDialect []*modelcall.Tally
	gather := func(at map[string]*modelcall.Tally, list *[]*modelcall.Tally, name string, g *modelcall.Group) {
		if at[name] == nil {
			at[name] = &modelcall.Tally{Value: name}
			*list = append(*list, at[name])
		}
		at[name].Calls += g.Calls
		at[name].Failed += g.Failed
	}
	for i := range rep.Groups {
		gather(models, &byModel, rep.Groups[i].Model, &rep.Groups[i])
		gather(dialects, &byDialect, rep.Groups[i].Dialect, &rep.Groups[i])
	}
	charts = append(charts, tallyChart(s, "model", "model", "model", byModel, "names none"))
	if len(byDialect) > 1 {
		charts = append(charts, tallyChart(s, "dialect", "dialect", "dialect", byDialect, "names none"))
	}
	if rep.All.Failed > 0 {
		charts = append(charts, failedChart(s, rep))
	}
	charts = append(charts, tallyChart(s, "status", "status", "status", pointers(rep.Status), "has none"),
		tallyChart(s, "finish", "finish reason", "finish", pointers(rep.Finish), "gives none"))
	if chart, ok := callHistogram(s, "latency", "latency, ms", "have no latency", l.latency, int(total)); ok {
		charts = append(charts, chart)
	}
	return charts
}

func pointers(list []modelcall.Tally) []*modelcall.Tally {
	out := make([]*modelcall.Tally, len(list))
	for i := range list {
		out[i] = &list[i]
	}
	return out
}

// mostCallBars is how many values a chart of calls has bars for.
const mostCallBars = 6

// tallyChart counts calls by a text or, for the status, by a number.
func tallyChart(s State, id, title, field string, list []*modelcall.Tally, none string) Chart {
	chart := Chart{ID: id, Title: title, Kind: "bars", Bins: []Bin{}}
	rest, restOf, nameless := int64(0), 0, false
	var shown []string
	for n, t := range list {
		if n >= mostCallBars-1 && len(list) > mostCallBars {
			rest += t.Calls
			restOf++
			nameless = nameless || t.Value == ""
			continue
		}
		switch {
		case t.Value == "":
		case field == "status":
			shown = append(shown, t.Value)
		default:
			shown = append(shown, string(jsontext.AppendQuoted(nil, t.Value)))
		}
		b := Bin{Label: t.Value, Value: float64(t.Calls), Text: Group(t.Calls)}
		switch {
		case t.Value == "":
			b.Label, b.Name = "none", none
			b.Href = callsNarrowed(s, "not has("+field+")")
		case field == "status":
			b.Href = callsNarrowed(s, filter.Equal(field, filter.Number(t.Value)))
		default:
			b.Href = callsNarrowed(s, filter.Equal(field, filter.Text(t.Value)))
		}
		if t.Failed == t.Calls {
			b.Tone = "failed"
		}
		chart.Bins = append(chart.Bins, b)
	}
	if restOf > 0 {
		term := field + " not in (" + strings.Join(shown, ", ") + ")"
		if nameless {
			term = "not has(" + field + ") or " + term
		}
		chart.Bins = append(chart.Bins, Bin{Label: "+" + strconv.Itoa(restOf), Name: count(restOf, "other", "others"), Value: float64(rest), Text: Group(rest), Href: callsNarrowed(s, term)})
	}
	return chart
}

// failedChart counts the calls that failed by error category.
func failedChart(s State, rep *modelcall.Report) Chart {
	chart := Chart{ID: "error", Title: "failed calls", Kind: "bars", Bins: []Bin{},
		Caption: Group(rep.All.Failed) + " of " + Group(rep.All.Calls)}
	for _, t := range rep.Category {
		if t.Failed == 0 {
			continue
		}
		b := Bin{Label: t.Value, Value: float64(t.Failed), Text: Group(t.Failed), Tone: "failed", Href: callsNarrowed(s, filter.Equal("error", filter.Text(t.Value)))}
		if t.Value == "" {
			b.Label, b.Name, b.Href = "none", "failed without an error category", callsNarrowed(s, "failed=true not has(error)")
		}
		chart.Bins = append(chart.Bins, b)
	}
	return chart
}

// callHistogram draws the bins of a number of calls.
func callHistogram(s State, id, title, missing string, bins []bin, of int) (Chart, bool) {
	n := 0
	for _, b := range bins {
		n += b.n
	}
	if n == 0 {
		return Chart{}, false
	}
	chart := Chart{ID: id, Title: title, Kind: "bars", Caption: Group(n) + " of " + Group(of)}
	if n < of {
		chart.Note = fmt.Sprintf("%s of %s %s", Group(of-n), count(of, "call", "calls"), missing)
	}
	for _, b := range bins {
		chart.Bins = append(chart.Bins, Bin{Label: b.label(), Name: b.name(), Value: float64(b.n), Text: Group(b.n), Href: callsNarrowed(s, b.term(id))})
	}
	return chart, true
}
