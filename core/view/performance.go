package view

import (
	"fmt"
	"strconv"

	"github.com/rollscope/rollscope/core/perf"
	"github.com/rollscope/rollscope/core/quantile"
	"github.com/rollscope/rollscope/core/value"
	"github.com/rollscope/rollscope/core/view/filter"
)

// Performance is the tab of that name: latency, tokens, throughput, the slowest rollouts.
type Performance struct {
	Facts   []Fact
	Note    string  // what is not known yet
	Empty   string  // why there is nothing to show
	Course  []Chart // over the time of the run
	Spread  []Chart // distributions
	Slowest Table
	Tables  []Table // durations, quarters, agents, models; Caption is the title
	Tasks   Table   // a window
	Summary Table   // perf_summary of the rows in sight
	Saved   Table   // saved beside derived
	Verdict string  // of that comparison
}

var performancePane = pane{
	there: func(_ *Desk, c *selection) bool { return c.tally.series.called || c.tally.series.timed },
	probe: callsProbe.ID,
	show:  showPerformance,
	table: performanceTable,
	charts: func(p *Page) []Chart {
		return append(append([]Chart{}, p.Performance.Course...), p.Performance.Spread...)
	},
}

func showPerformance(d *Desk, c *selection, r *request) []Need {
	t := d.timing(c, r.found)
	v := &Performance{
		Facts: timeFacts(t), Course: courseCharts(r.state, t), Spread: spreadCharts(r.state, t), Slowest: d.slowestTable(c, r.state, t),
		Tables: []Table{durationTable(t)}, Tasks: taskTimes(r.state, t, r.windows["tasktimes"], r.windows["tasktimes"]+windowSize), Summary: summaryTable(t),
	}
	r.page.Performance = v
	if t.report.Window.Known {
		v.Tables = append(v.Tables, quarterTable(t))
	}
	v.Tables = append(v.Tables, partTable("agenttimes", "By agent", "agent", r.state, t, t.report.Agents), partTable("modeltimes", "By model", "model", r.state, t, t.report.Models))
	if r.pending {
		v.Note = fmt.Sprintf("so far: %s of %s were looked at", Group(t.looked), count(r.found.len(c), "row", "rows"))
	}
	if t.source < 0 && t.calls.All.Calls == 0 {
		v.Empty = "No row that fits the filter tells how long it took or which model calls it made."
	}
	list, needs := d.savedSummaries(c)
	v.Saved, v.Verdict = savedTable(list), savedVerdict(list, r.pending)
	r.page.Foot = append([]Text{{Text: v.Verdict}}, r.page.Foot...)
	r.page.Links = exports("tasktimes")
	return needs
}

// performanceTable finds a table of the tab by its id.
func performanceTable(d *Desk, c *selection, r *request, id string, from, to int) (Table, bool) {
	t := d.timing(c, r.found)
	switch id {
	case "tasktimes":
		return taskTimes(r.state, t, from, to), true
	case "durations":
		return durationTable(t), true
	case "quarters":
		return quarterTable(t), true
	case "agenttimes":
		return partTable(id, "By agent", "agent", r.state, t, t.report.Agents), true
	case "modeltimes":
		return partTable(id, "By model", "model", r.state, t, t.report.Models), true
	case "slowest":
		return d.slowestTable(c, r.state, t), true
	case "perfsummary":
		return summaryTable(t), true
	case "savedsummary":
		list, _ := d.savedSummaries(c)
		return savedTable(list), true
	}
	return Table{}, false
}

// timeFacts is the strip of the tab.
func timeFacts(t *timing) []Fact {
	rep, w := t.report, &t.report.Window
	real := func(label, stat string, f float64, text, note, missing string, ok bool) Fact {
		if !ok {
			return Fact{Label: label, Value: Text{Text: Dash, Muted: true, Title: missing}, Stat: stat}
		}
		return Fact{Label: label, Value: Text{Text: text, Title: shortest(f)}, Note: Text{Text: note}, Stat: stat, Exact: shortest(f)}
	}
	unplaced := fmt.Sprintf("%s a place in time, where two are needed", count(w.Rows, "row has", "rows have"))
	facts := []Fact{
		real("window", "perf.window_s", w.End-w.Start, spanText(w.End-w.Start), windowText(w.Start, w.End), unplaced, w.Known),
		real("throughput", "perf.rollouts_per_hour", w.PerHour, groupFixed(w.PerHour, 1), "rollouts/h", unplaced, w.Known),
	}
	if t.source >= 0 {
		s := rep.Spreads[t.source]
		for i, at := range [...]int{0, 2, 3} {
			note := ""
			if i == 0 {
				note = fmt.Sprintf("%s of %s", Group(s.N), Group(rep.Rows))
			}
			facts = append(facts, Fact{Label: "latency " + quantile.ShareNames[at], Value: Text{Text: spanText(s.ByTracker[at]), Title: shortest(s.ByTracker[at]) + " s by the tracker's rule"},
				Note: Text{Text: note, Title: perf.SourceNames[t.source]}, Exact: shortest(s.ByTracker[at])})
		}
	} else {
		facts = append(facts, Fact{Label: "latency", Value: Text{Text: Dash, Muted: true, Title: "no row tells how long it took"}})
	}
	little := ""
	if w.LittleKnown {
		little = "rate × mean latency " + fixed(w.Little, 2)
	}
	facts = append(facts, real("mean concurrency", "perf.mean_concurrency", w.MeanConcurrency, groupFixed(w.MeanConcurrency, 2), joined(little, "most "+Group(w.PeakConcurrency)), unplaced, w.Known))
	if w.Known && w.MeanConcurrency > float64(w.PeakConcurrency) {
		facts[len(facts)-1].Note.Title = "the mean is the time of all rollouts over the window, which ends with the last model call; some rollouts outlast it"
	}
	facts = append(facts, tokenFacts(&t.calls.All)...)
	facts = append(facts, real("completion tok/s", "perf.completion_tokens_per_second", w.CompletionPerSecond, groupFixed(w.CompletionPerSecond, 1), "", unplaced, w.Known))
	tracker := rep.Trackers[perf.ByRequest]
	margin, ok := tracker.DrainMargin(0, false)
	facts = append(facts, real("drain margin", "perf.drain_margin_s", margin, spanText(margin), "p75 of "+Group(tracker.Len()),
		count(tracker.Len(), "timed rollout", "timed rollouts")+" where 5 are needed", ok))
	hours := tracker.Hours()
	return append(facts, real("delivered task time", "perf.delivered_hours", hours, groupFixed(hours, 2)+" h", "", "no rollout has a time of its run request", tracker.Len() > 0))
}

// courseCharts show what happened over the time of the run, on one axis.
func courseCharts(s State, t *timing) []Chart {
	if len(t.levels) == 0 {
		return []Chart{}
	}
	width := t.levels[0].To - t.levels[0].From
	dated := t.levels[len(t.levels)-1].To-t.levels[0].From > 20*3600
	rate := Chart{ID: "throughput", Title: "throughput, rollouts/h", Kind: "line", Caption: "stretches of " + spanText(width) + ", by end time, UTC", Bins: []Bin{}}
	open := Chart{ID: "open", Title: "open rollouts", Kind: "line", Caption: "mean of each stretch", Bins: []Bin{}}
	for i := range t.levels {
		l := &t.levels[i]
		label := clockText(l.From, dated)
		if i == len(t.levels)-1 {
			label = clockText(l.To, dated)
		}
		name := clockText(l.From, true) + " – " + clockText(l.To, false)
		hour := float64(l.Ended) / (width / 3600)
		to := s.ToTab("calls")
		rate.Bins = append(rate.Bins, Bin{Label: label, Name: name + ": " + count(l.Ended, "rollout", "rollouts") + " ended", Value: hour, Text: groupFixed(hour, 1),
			Href: callsNarrowed(to, filter.Between("ended", number64(l.From), number64(l.To), i == len(t.levels)-1))})
		open.Bins = append(open.Bins, Bin{Label: label, Name: name + ": at most " + Group(l.Peak), Value: l.Mean, Text: groupFixed(l.Mean, 2),
			Href: callsNarrowed(to, filter.Between("started", number64(l.From), number64(l.To), i == len(t.levels)-1))})
	}
	return []Chart{rate, open}
}

// spreadCharts are the distributions of durations and of times to the first token.
func spreadCharts(s State, t *timing) []Chart {
	charts := []Chart{}
	rep := t.report
	if t.source >= 0 {
		q := rep.Spreads[t.source]
		chart := Chart{ID: "latency", Title: "latency, s", Kind: "bars", Bins: []Bin{},
			Caption: fmt.Sprintf("%s of %s · p50 %s · p90 %s · p99 %s", Group(q.N), Group(rep.Rows), spanText(q.ByTracker[0]), spanText(q.ByTracker[2]), spanText(q.ByTracker[3])),
			Note:    "source: " + perf.SourceNames[t.source] + "; failures and rows without a duration are left out"}
		for _, b := range t.durations {
			one := Bin{Label: b.label(), Name: b.name(), Value: float64(b.n), Text: Group(b.n)}
			if t.source == perf.ByRequest {
				one.Href = narrowed(s, b.term("latency"))
			}
			chart.Bins = append(chart.Bins, one)
		}
		charts = append(charts, chart)
	}
	calls := &t.calls.All
	if chart, ok := callHistogram(s.ToTab("calls"), "ttft", "time to first token, ms", "have no time to the first token", t.firsts, int(calls.Calls)); ok {
		q := calls.TTFTMS.ByTracker
		chart.Caption += fmt.Sprintf(" calls · p50 %s · p90 %s · p99 %s", groupFixed(q[0], 0), groupFixed(q[2], 0), groupFixed(q[3], 0))
		charts = append(charts, chart)
	}
	return charts
}

// spreadCells are the cells of a spread by one rule.
func spreadCells(s quantile.Spread, rule [len(quantile.Shares)]float64, decimals int) []Cell {
	var cells []Cell
	for _, f := range rule {
		cells = append(cells, exactReal(f, decimals))
	}
	return append(cells, exactReal(s.Max, decimals))
}

func exactReal(f float64, decimals int) Cell {
	return Cell{Text: Text{Text: groupFixed(f, decimals), Title: shortest(f)}, Exact: shortest(f)}
}

// durationTable has every spread by both rules of quantiles.
func durationTable(t *timing) Table {
	table := Table{ID: "durations", Caption: "Quantiles by both rules", Height: 24, Rows: []Row{}, Links: exports("durations"),
		Note: "tracker: as the collection weighs neighbours while it runs; summary: as perf_summary is made. They differ in the last digits.",
		Columns: []Column{{Key: "what", Title: "what"}, {Key: "rule", Title: "rule"}, {Key: "n", Title: "n", Right: true}, {Key: "p50", Title: "p50", Right: true},
			{Key: "p75", Title: "p75", Right: true}, {Key: "p90", Title: "p90", Right: true}, {Key: "p99", Title: "p99", Right: true}, {Key: "max", Title: "most", Right: true}, {Key: "mean", Title: "mean", Right: true}}}
	add := func(what string, s quantile.Spread, decimals int) {
		if s.N == 0 {
			return
		}
		for i, rule := range [...]struct {
			name string
			q    [len(quantile.Shares)]float64
		}{{"tracker", s.ByTracker}, {"summary", s.BySummary}} {
			cells := append([]Cell{{Text: Text{Text: what, Muted: i > 0}}, {Text: Text{Text: rule.name}}, wide(int64(s.N))}, spreadCells(s, rule.q, decimals)...)
			table.Rows = append(table.Rows, Row{ID: what + "-" + rule.name, Index: len(table.Rows), Cells: append(cells, exactReal(s.Mean, decimals))})
		}
	}
	for k, name := range perf.SourceNames {
		add("rollout, s: "+name, t.report.Spreads[k], 2)
	}
	add("call, ms: latency", t.calls.All.LatencyMS, 1)
	add("call, ms: time to first token", t.calls.All.TTFTMS, 1)
	add("call: tokens/s, whole call", t.calls.All.OutRate, 1)
	add("call: tokens/s, generation", t.calls.All.GenerationRate, 1)
	table.Total = len(table.Rows)
	table.Empty = "Nothing was timed."
	return table
}

// quarterTable puts rate and latency side by side.
func quarterTable(t *timing) Table {
	w := &t.report.Window
	table := Table{ID: "quarters", Caption: "Rate against latency, by quarter of the window", Height: 24, Rows: []Row{}, Links: exports("quarters"),
		Note: "by end time; latency of the run requests",
		Columns: []Column{{Key: "quarter", Title: "quarter, UTC"}, {Key: "rollouts", Title: "rollouts", Right: true}, {Key: "per_hour", Title: "rollouts/h", Right: true},
			{Key: "p50", Title: "p50", Right: true}, {Key: "p90", Title: "p90", Right: true}, {Key: "p99", Title: "p99", Right: true}}}
	add := func(name string, rows int, hour float64, s quantile.Spread) {
		cells := []Cell{{Text: Text{Text: name}}, wide(int64(rows)), exactReal(hour, 1)}
		table.Rows = append(table.Rows, Row{ID: "quarter-" + strconv.Itoa(len(table.Rows)), Index: len(table.Rows), Cells: append(cells, spanCells(s, "no row has a time of its run request")...)})
	}
	for i := range w.Quarters {
		q := &w.Quarters[i]
		add(clockText(q.From, i == 0)+" – "+clockText(q.To, false), q.Rows, q.PerHour, q.Seconds)
	}
	add("whole window", w.Rows, w.PerHour, t.report.Spreads[perf.ByRequest])
	table.Total = len(table.Rows)
	return table
}

// spanCells are p50, p90 and p99 of seconds.
func spanCells(s quantile.Spread, missing string) []Cell {
	if s.N == 0 {
		return []Cell{missingCell(missing), missingCell(missing), missingCell(missing)}
	}
	var cells []Cell
	for _, at := range [...]int{0, 2, 3} {
		f := s.ByTracker[at]
		cells = append(cells, Cell{Text: Text{Text: spanText(f), Title: shortest(f) + " s"}, Exact: shortest(f)})
	}
	return cells
}

func partColumns(first string) []Column {
	return []Column{{Key: "name", Title: first, Grow: true}, {Key: "rows", Title: "rows", Right: true, Chars: 7}, {Key: "timed", Title: "timed", Right: true, Chars: 7}, {Key: "failures", Title: "failed", Right: true, Chars: 6, Help: "rows of failed rollouts; they are in no other column"},
		{Key: "p50", Title: "p50", Right: true, Chars: 8}, {Key: "p90", Title: "p90", Right: true, Chars: 8}, {Key: "p99", Title: "p99", Right: true, Chars: 8}, {Key: "turns", Title: "turns, mean", Right: true, Chars: 6},
		{Key: "calls", Title: "calls", Right: true, Chars: 7}, {Key: "prompt", Title: "prompt tok", Right: true, Chars: 11}, {Key: "completion", Title: "compl. tok", Right: true, Chars: 11},
		{Key: "rate", Title: "tok/s", Right: true, Chars: 7, Help: "completion tokens over the time of the rows that are timed"}}
}

// timeSortKeys are what tasks can be sorted by.
func timeSortKeys() []string {
	var keys []string
	for _, c := range partColumns("task") {
		keys = append(keys, c.Key)
	}
	return keys
}

// partCells describe one part of a run behind its name.
func partCells(p *perf.Part) []Cell {
	cells := []Cell{wide(int64(p.Rows))}
	why := "no row of it tells how long it took"
	best := quantile.Spread{}
	if p.By >= 0 {
		best = p.Seconds[p.By]
	}
	timed := wide(int64(best.N))
	if p.By > 0 {
		timed.Extra = Text{Text: "≥", Title: perf.SourceNames[p.By]}
		if p.By == perf.ByElapsed {
			timed.Extra.Text = "el."
		}
	}
	cells = append(cells, timed, wide(int64(p.Failures)))
	cells = append(cells, spanCells(best, why)...)
	turns := missingCell("no row of it has ng_perf with turns")
	if p.TurnsKnown > 0 {
		turns = exactReal(p.TurnsMean, 2)
	}
	rate := missingCell(why)
	if p.OutPerSecond > 0 {
		rate = exactReal(p.OutPerSecond, 1)
	}
	token := func(text string) Cell { return Cell{Text: Text{Text: groupNumber(text)}, Exact: text} }
	return append(cells, turns, wide(int64(p.Calls)), token(p.Prompt.String()), token(p.Completion.String()), rate)
}

// partTable lists agents or models.
func partTable(id, caption, first string, s State, t *timing, list []perf.Part) Table {
	table := Table{ID: id, Caption: caption, Height: 24, Rows: []Row{}, Columns: partColumns(first), Links: exports(id), Empty: "There are no rows."}
	if first == "agent" {
		table.Columns = append(table.Columns, Column{Key: "ttft50", Title: "TTFT p50", Unit: "ms", Right: true}, Column{Key: "ttft99", Title: "p99", Unit: "ms", Right: true})
	}
	for i := range list {
		p := &list[i]
		name := orMissing(p.Name, "the rows name no "+first)
		row := Row{ID: id + "-" + strconv.Itoa(i), Index: i}
		switch {
		case first == "agent":
			term := "not has(agent)"
			if p.Name != "" {
				term = filter.Equal("agent", filter.Text(p.Name))
			}
			row.Href = narrowed(s, term)
		case p.Name != "":
			row.Href = callsNarrowed(s.ToTab("calls"), filter.Equal("model", filter.Text(p.Name)))
		}
		name.Text.Href = row.Href
		row.Cells = append([]Cell{name}, partCells(p)...)
		if first == "agent" {
			if q := t.agents[p.Name]; q.N > 0 {
				row.Cells = append(row.Cells, exactReal(q.ByTracker[0], 0), exactReal(q.ByTracker[3], 0))
			} else {
				row.Cells = append(row.Cells, missingCell("no call has a time to the first token"), missingCell("no call has a time to the first token"))
			}
		}
		table.Rows = append(table.Rows, row)
	}
	table.Total = len(table.Rows)
	return table
}

// taskTimes is the part of the table of tasks between two of its rows.
func taskTimes(s State, t *timing, from, to int) Table {
	order := t.taskOrder(s.Sort)
	table := Table{ID: "tasktimes", Caption: "By task", Height: rowHeight, Rows: []Row{}, Columns: partColumns("task"), Total: len(order), Window: true, Sortable: true, Empty: "There are no tasks.", Links: exports("tasktimes")}
	for i := range table.Columns {
		table.Columns[i] = head(s, table.Columns[i], Shown{}, true)
	}
	table.From = max(0, min(from, table.Total-1))
	for n := table.From; n < min(to, table.Total); n++ {
		p := &t.report.Tasks[order[n]]
		name := keyCell(p.Task)
		row := Row{ID: "tasktime-" + strconv.Itoa(order[n]), Index: n, Href: narrowed(s.ToTab("rollouts"), taskTerm(p.Task))}
		name.Text.Href = row.Href
		row.Cells = append([]Cell{name}, partCells(p)...)
		table.Rows = append(table.Rows, row)
	}
	return table
}

// slowestTable lists the rollouts that took longest.
func (d *Desk) slowestTable(c *selection, s State, t *timing) Table {
	table := Table{ID: "slowest", Caption: "Slowest", Height: 24, Rows: []Row{}, Links: exports("slowest"), Empty: "No row tells how long it took.",
		Columns: []Column{{Key: "rollout", Title: "rollout", Mono: true}, {Key: "agent", Title: "agent", Grow: true}, {Key: "verdict", Title: "verdict"}, {Key: "reward", Title: "reward", Right: true},
			{Key: "duration", Title: "took", Right: true}, {Key: "calls", Title: "calls", Right: true}, {Key: "started", Title: "started", Unit: "UTC", Right: true}}}
	for n, timed := range t.report.Slowest {
		i, ok := c.item(int(timed.Ordinal))
		if !ok {
			continue
		}
		seconds, source, _ := timed.Seconds()
		row := Row{ID: "slow-" + i.place(), Index: n, Rollout: i.place(), Href: d.toRow(s, c, int(timed.Ordinal))}
		started := missingCell("no call of it has a start")
		if timed.HasFirst {
			started = Cell{Text: Text{Text: clockText(timed.FirstCall, false), Title: clockText(timed.FirstCall, true)}, Exact: shortest(timed.FirstCall)}
		}
		row.Cells = []Cell{
			{Text: Text{Text: i.name(), Mono: true, Href: row.Href}, Exact: i.name()}, orMissing(timed.Agent, "the row names no agent"), {Text: verdictText(i.verdict())},
			numberCell(i.digest.Facts.Reward, "the row has no reward"), {Text: Text{Text: spanText(seconds), Title: shortest(seconds) + " s"}, Exact: shortest(seconds)},
			wide(int64(timed.Calls)), started,
		}
		row.Cells[4].Extra = Text{Text: [...]string{"", "elapsed", "by calls"}[source], Title: perf.SourceNames[source]}
		table.Rows = append(table.Rows, row)
	}
	table.Total = len(table.Rows)
	return table
}

// summaryTable is perf_summary of the rows in sight.
func summaryTable(t *timing) Table {
	table := Table{ID: "perfsummary", Caption: "perf_summary of these rows", Height: 22, Rows: []Row{}, Links: exports("perfsummary"),
		Note: fmt.Sprintf("%s of %s with ng_perf", Group(t.report.WithPerf), count(t.report.Rows, "row", "rows")), Empty: "No row has ng_perf.",
		Columns: []Column{{Key: "name", Title: "name", Mono: true}, {Key: "value", Title: "value", Right: true, Mono: true}}}
	for i, m := range t.report.Summary {
		text := string(m.Value.Append(nil, value.Plain))
		table.Rows = append(table.Rows, Row{ID: "summary-" + m.Key, Index: i, Cells: []Cell{
			{Text: Text{Text: m.Key, Mono: true}}, {Text: Text{Text: groupNumber(text), Mono: true}, Stat: "perf." + m.Key, Exact: text},
		}})
	}
	table.Total = len(table.Rows)
	return table
}

// savedTable puts every number of saved summaries beside the one that follows from the rows.
func savedTable(list []savedSummary) Table {
	table := Table{ID: "savedsummary", Caption: "Saved against derived", Height: 22, Rows: []Row{}, Links: exports("savedsummary"),
		Columns: []Column{{Key: "entry", Title: "entry"}, {Key: "name", Title: "name", Mono: true}, {Key: "saved", Title: "saved", Right: true, Mono: true}, {Key: "derived", Title: "derived from all rows", Right: true, Mono: true}, {Key: "state", Title: ""}}}
	for n := range list {
		one := &list[n]
		label := one.entry.Label
		if label == "" {
			label = one.file
		}
		add := func(name string, saved, made Cell, state Text) {
			table.Rows = append(table.Rows, Row{ID: fmt.Sprintf("saved-%d-%s", n, name), Index: len(table.Rows),
				Cells: []Cell{{Text: Text{Text: label, Title: one.file}}, {Text: Text{Text: name, Mono: true}}, saved, made, {Text: state}}})
		}
		if one.problem != "" {
			add("perf_summary", missingCell(one.problem), missingCell("there is nothing to compare"), Text{Text: "not read: " + one.problem, Mark: MarkUnknown})
			continue
		}
		for _, k := range summaryKeys(&one.entry) {
			was, is := one.entry.Saved.Get(k), value.Object(one.entry.Made...).Get(k)
			state := Text{Text: "equal", Mark: MarkHealthy}
			if difference := summaryDiffers(&one.entry, k); difference != "" {
				state = Text{Text: difference, Mark: MarkUnhealthy}
			}
			add(k, savedCell(was, "not saved"), savedCell(is, "does not follow from the rows"), state)
		}
	}
	table.Total = len(table.Rows)
	table.Empty = "No saved metrics lie beside these rollouts."
	return table
}

func savedCell(v value.Value, missing string) Cell {
	if !v.Exists() {
		return missingCell(missing)
	}
	text := string(v.Append(nil, value.Plain))
	return Cell{Text: Text{Text: groupNumber(text), Mono: true}, Exact: text}
}

// summaryKeys are the keys of an entry, derived ones first.
func summaryKeys(e *perf.Entry) []string {
	var keys []string
	made := map[string]bool{}
	for _, m := range e.Made {
		keys = append(keys, m.Key)
		made[m.Key] = true
	}
	for _, m := range e.Saved.Members() {
		if !made[m.Key] {
			keys = append(keys, m.Key)
		}
	}
	return keys
}

// summaryDiffers says how a saved number differs, "" where it does not.
func summaryDiffers(e *perf.Entry, key string) string {
	was, is := e.Saved.Get(key), value.Object(e.Made...).Get(key)
	switch {
	case !was.Exists() && !is.Exists():
		return ""
	case !was.Exists():
		return "not saved"
	case !is.Exists():
		return "saved alone"
	}
	d := value.Differ{}
	d.Compare("", was, is)
	switch {
	case d.Count == 0:
		return ""
	case perf.Nearly(was, is):
		return "differs in the last digits"
	}
	return "differs"
}

// savedVerdict says in one line how saved and derived summaries compare.
func savedVerdict(list []savedSummary, pending bool) string {
	if len(list) == 0 {
		return "no saved perf_summary beside these rollouts"
	}
	equal, entries := 0, 0
	for i := range list {
		if list[i].problem != "" {
			continue
		}
		entries++
		same := true
		for _, k := range summaryKeys(&list[i].entry) {
			same = same && summaryDiffers(&list[i].entry, k) == ""
		}
		if same {
			equal++
		}
	}
	text := fmt.Sprintf("perf_summary equals derived, %d of %s", equal, count(entries, "entry", "entries"))
	if pending {
		text += " (so far)"
	}
	return text
}
