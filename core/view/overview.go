package view

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/rollscope/rollscope/core/health"
	"github.com/rollscope/rollscope/core/health/check"
	"github.com/rollscope/rollscope/core/records"
	"github.com/rollscope/rollscope/core/view/filter"
)

// overview is the first tab: panels in the order of a person's questions, then what needs their eyes.
func (d *Desk) overview(c *selection, s State, found *matches) *Overview {
	o := &Overview{Panels: []Panel{d.completePanel(c, s), d.healthyPanel(c, s), d.scorePanel(c, s), d.timePanel(c, s)}}
	o.Eyes = d.eyes(c, s)
	if c.report == nil && c.refused == nil {
		o.Note = "so far; checks of tasks and repeated identities need all rows"
	} else if s.Filter != "" {
		o.Note = "of all rows: the filter holds on the other tabs"
	}
	return o
}

// completePanel says how much of what was asked for has a result, and what became of the rest.
func (d *Desk) completePanel(c *selection, s State) Panel {
	f := d.fates(c)
	if f == nil || len(f.runs) == 0 {
		return d.readPanel(c, s)
	}
	sum := f.sum()
	tab := s.ToTab("coverage").Href()
	p := Panel{Title: "Complete", Href: tab, Link: "Coverage", Charts: []Chart{}, Lines: []Line{}}
	parts := []fate{fateMeasured, fateMasked, fateUnscored, fateFailed, fateOmitted, fateUnknown}
	successful := sum.count(fateMeasured) + sum.count(fateMasked) + sum.count(fateUnscored)
	p.Number = Text{Text: Group(successful), Title: "rollouts with a result"}
	p.Of = "of " + count(sum.whole(), "expected rollout has", "expected rollouts have") + " a result"
	if sum.total == nil {
		parts = parts[:5]
		p.Of = "of " + count(sum.whole(), "row is a result", "rows are results") + ", expected not known"
	}
	p.Shares = sum.shares(s, parts...)
	if chart, ok := f.gapChart(s); ok {
		p.Charts = append(p.Charts, chart)
	}
	add := func(l Line) { p.Lines = append(p.Lines, l) }
	if sum.total != nil {
		flow := f.flow(s, sum)
		for _, loss := range flow.Losses {
			if loss.Count > 0 {
				add(Line{Mark: loss.Mark, Text: loss.Word, Right: count(loss.Count, "rollout", "rollouts"), Href: loss.Href})
			}
		}
	}
	for n, run := range f.runs {
		if n == 3 || len(p.Lines) > 4 {
			break
		}
		switch {
		case run.FirstError != "":
			add(Line{Mark: MarkUnhealthy, Text: "the reference package refuses it", Right: run.FirstError, Href: toFindings(s, run.FirstError)})
		case run.Saved == nil:
		case run.Check.Comparison == records.Match:
			add(Line{Mark: MarkHealthy, Text: "saved coverage equals derived", Href: tab})
		default:
			add(Line{Mark: MarkUnhealthy, Text: "saved coverage", Right: comparisonWords[run.Check.Comparison], Href: tab})
		}
	}
	a := c.table.Total()
	files := s.ToTab("files").Href()
	if a.Unreadable > 0 {
		right := Group(a.Unreadable)
		if a.Repaired > 0 {
			right += ", " + Group(a.Repaired) + " repaired for display alone"
		}
		add(Line{Mark: MarkFailed, Text: "unreadable lines", Right: right, Href: files})
	}
	if a.Torn > 0 {
		add(Line{Mark: MarkUnhealthy, Text: "cut last lines, possibly still being written", Right: Group(a.Torn), Href: files})
	}
	add(Line{Text: count(a.Lines, "line", "lines") + " in " + count(c.table.Sources(), "rollouts file", "rollouts files"), Right: Group(a.Bytes()) + " bytes", Href: files})
	if other := len(d.files) - len(d.sources); other > 0 {
		add(Line{Text: count(other, "other file", "other files"), Right: "with " + count(len(f.findings()), "finding", "findings"), Href: files})
	}
	return p
}

// readPanel accounts for every line, for as long as nothing is known of the run as a whole.
func (d *Desk) readPanel(c *selection, s State) Panel {
	a := c.table.Total()
	lines := int(a.Lines)
	part := func(mark Mark, word string, n int64, stat string) Share {
		return Share{Mark: mark, Word: word, Count: int(n), Text: Group(n), Percent: percent(int(n), lines), Part: share(int(n), lines), Href: s.ToTab("files").Href()}
	}
	p := Panel{
		Title: "Read", Href: s.ToTab("files").Href(), Link: "Files",
		Number: Text{Text: Group(a.Read), Title: "lines read as records"}, Of: "of " + Group(a.Rows()) + " records are readable",
		Shares: []Share{
			part(MarkMeasured, "read", a.Read, "read"), part(MarkFailed, "unreadable", a.Unreadable, "unreadable"), part(MarkUnknown, "blank", a.Blank, "blank"),
		},
		Charts: []Chart{}, Lines: []Line{},
	}
	p.Lines = append(p.Lines, Line{Text: count(c.table.Sources(), "rollouts file", "rollouts files"), Right: Group(a.Bytes()) + " bytes", Href: s.ToTab("files").Href()})
	if other := len(d.files) - len(d.sources); other > 0 {
		p.Lines = append(p.Lines, Line{Text: count(other, "other file", "other files"), Right: "listed, not read", Href: s.ToTab("files").Href()})
	}
	if a.Repaired > 0 {
		p.Lines = append(p.Lines, Line{Mark: MarkUnknown, Text: "unreadable lines, repaired for display alone", Right: Group(a.Repaired), Href: s.ToTab("files").Href()})
	}
	if a.Torn > 0 {
		p.Lines = append(p.Lines, Line{Mark: MarkUnhealthy, Text: "cut last lines, possibly still being written", Right: Group(a.Torn), Href: s.ToTab("files").Href()})
	}
	if c.report != nil {
		p.Lines = append(p.Lines, Line{Text: "tasks", Right: Group(len(c.report.Tasks())), Href: s.ToTab("tasks").Href()})
	}
	return p
}

// healthyPanel splits the rows by verdict and names the checks that fired most.
func (d *Desk) healthyPanel(c *selection, s State) Panel {
	counts := c.verdicts()
	total := counts[0] + counts[1] + counts[2]
	p := Panel{
		Title: "Healthy", Href: s.ToTab("health").Href(), Link: "Health",
		Number: Text{Text: Group(counts[health.Unhealthy])}, Of: "of " + count(total, "rollout is", "rollouts are") + " unhealthy",
		Shares: shares(counts, s), Charts: []Chart{}, Lines: []Line{},
	}
	if total > 0 && counts[health.Unobserved] == total {
		p.Of += ", none could be judged in full" // 0 alone would read as if all were well
	}
	p.Table = agentTable(c, s)
	if c.report == nil {
		return p
	}
	stats := c.report.Checks()
	slices.SortStableFunc(stats, func(a, b health.CheckStat) int { return cmp.Compare(touched(&b), touched(&a)) })
	for i := range stats {
		if stats[i].Fired == 0 || len(p.Lines) == 4 {
			break
		}
		p.Lines = append(p.Lines, Line{Mark: MarkUnhealthy, Text: stats[i].Check.ID, Right: count(touched(&stats[i]), unitOne(stats[i].Check), unitOf(stats[i].Check)),
			Href: s.ToTab("health").With(func(s *State) { s.Check = stats[i].Check.ID }).Href()})
	}
	// Two runs of one dataset have the same rollouts, and together every one of them is there twice.
	runs := d.listing.Runs
	repeated := func(stat health.CheckStat) bool {
		return stat.Check.ID == "rollout_duplicate_identity" && stat.Fired > 0
	}
	if !s.Apart && len(runs) > 1 && slices.ContainsFunc(stats, repeated) {
		alone := s.With(func(s *State) { s.Apart, s.Run = true, runs[0].Name })
		p.Lines = append(p.Lines, Line{Mark: MarkUnobserved, Text: count(len(runs), "run", "runs") + ", judged as one", Right: "shared ones are repeated", Href: alone.Href()})
	}
	return p
}

// agentRows is how many agents the panel shows.
const agentRows = 5

// agentTable splits the rows of every agent by verdict, nil where no row names one.
func agentTable(c *selection, s State) *Table {
	columns := &c.tally.series
	if len(columns.agents) == 0 {
		return nil
	}
	counts := make([][3]int, len(columns.agents)+1)
	for ordinal, agent := range columns.agent {
		if v := c.verdictOf(ordinal); int(v) < len(counts[0]) {
			counts[agent+1][v]++
		}
	}
	rows := func(agent int32) int { return counts[agent+1][0] + counts[agent+1][1] + counts[agent+1][2] }
	order := make([]int32, len(columns.agents))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(rows(b), rows(a)) })
	if rows(-1) > 0 {
		order = append(order, -1)
	}
	t := &Table{ID: "agents", Caption: "by agent", Height: 22, Rows: []Row{}, Total: len(order),
		Columns: []Column{{Key: "agent", Title: "agent"}, {Key: "verdicts", Title: "verdicts", Grow: true}, {Key: "unhealthy", Title: "unhealthy", Right: true}}}
	for n, agent := range order {
		if n == agentRows && len(order) > agentRows+1 {
			rest, unhealthy := 0, 0
			for _, other := range order[n:] {
				rest += rows(other)
				unhealthy += counts[other+1][health.Unhealthy]
			}
			t.Rows = append(t.Rows, Row{ID: "others", Index: n, Cells: []Cell{
				{Text: Text{Text: count(len(order)-n, "other", "others"), Muted: true}}, {},
				{Text: Text{Text: Group(unhealthy)}, Extra: Text{Text: "of " + Group(rest)}},
			}})
			break
		}
		name, term := Text{Text: "none", Muted: true, Title: "rows that name no agent"}, "not has(agent)"
		if agent >= 0 {
			name, term = Text{Text: columns.agents[agent], Title: columns.agents[agent]}, filter.Equal("agent", filter.Text(columns.agents[agent]))
		}
		name.Href = s.ToTab("rollouts").With(func(s *State) { s.Filter = withTerm(s.Filter, term) }).Href()
		parts := shares(counts[agent+1], s)
		t.Rows = append(t.Rows, Row{ID: "agent-" + strconv.Itoa(n), Index: n, Href: name.Href, Cells: []Cell{
			{Text: name}, {Parts: parts},
			{Text: Text{Text: Group(counts[agent+1][health.Unhealthy])}, Extra: Text{Text: "of " + Group(rows(agent))}},
		}})
	}
	return t
}

// eye is one entry of the list of what needs a person's eyes.
type eye struct {
	mark    Mark
	text    string
	check   string
	touched int
	first   int // ordinal, −1 if there is no place
	href    string

	word  string // in place of that of the mark
	place Text   // where there is no ordinal
}

// eyes ranks the findings of the whole run by the rollouts they touch. A missing piece of evidence is not a
// failure and says so.
func (d *Desk) eyes(c *selection, s State) Table {
	t := Table{ID: "eyes", Caption: "what needs your eyes", Height: rowHeight, Rows: []Row{}, Empty: "Nothing: every check that could be judged is silent.",
		Columns: []Column{{Key: "kind", Title: "kind"}, {Key: "finding", Title: "finding", Grow: true}, {Key: "check", Title: "check", Mono: true},
			{Key: "rollouts", Title: "rollouts", Right: true}, {Key: "bar", Title: "", Bars: true, Width: 92}, {Key: "place", Title: "first place", Mono: true}}}
	f := d.fates(c)
	if c.report == nil && f == nil {
		t.Empty = "This list needs all rows."
		if c.refused != nil {
			t.Empty = "There is no report: " + c.refused.Error() + "."
		}
		return t
	}
	list := d.fateEyes(c, f, s)
	if c.report != nil {
		list = append(list, c.healthEyes(s)...)
	}
	list = append(list, d.scoreEyes(c, s)...)
	list = folded(list)
	slices.SortStableFunc(list, func(a, b eye) int { return cmp.Compare(b.touched, a.touched) })
	top := 0.0
	if len(list) > 0 {
		top = niceMax(float64(list[0].touched))
	}
	t.Columns[4].Title = "0 – " + Group(int(top))
	for n, e := range list {
		row := Row{ID: fmt.Sprint("eye-", n), Index: n, Finding: e.check, Href: e.href, Cells: []Cell{
			{Text: Text{Text: cmp.Or(e.word, string(e.mark)), Mark: e.mark}}, {Text: Text{Text: e.text, Href: e.href}}, {Text: Text{Text: e.check, Mono: true}},
			numeral(e.touched), {Bar: float64(e.touched) / top}, {Text: Text{Text: Dash, Muted: true}},
		}}
		if i, ok := c.item(e.first); ok {
			row.Cells[5].Text = Text{Text: i.place(), Mono: true, Href: d.toRow(s, c, e.first)}
		} else if e.place.Text != "" {
			row.Cells[5].Text = e.place
		}
		t.Rows = append(t.Rows, row)
	}
	t.Total = len(t.Rows)
	if t.Total > 0 {
		t.Links = exports(t.ID)
	}
	t.Note = count(len(t.Rows), "entry", "entries") + ", ranked by rollouts touched"
	return t
}

// healthEyes are the entries of the health checks.
func (c *selection) healthEyes(s State) (list []eye) {
	first := c.firsts()
	for n, st := range c.report.Checks() {
		href := s.ToTab("health").With(func(s *State) { s.Check = st.Check.ID }).Href()
		if st.Fired > 0 {
			text := count(st.Fired, "finding", "findings") + ": " + st.Check.Title
			if st.Check.Scope == check.Task {
				text = count(st.Fired, "task", "tasks") + ": " + st.Check.Title
			}
			list = append(list, eye{mark: MarkUnhealthy, text: text, check: st.Check.ID, touched: st.Rollouts, first: first[n], href: href})
		}
		if st.Check.Scope == check.Task {
			continue
		}
		for _, r := range st.Reasons {
			if r.Reason == check.RaisedTypeError.Code() || r.Reason == check.LineUnreadable.Code() {
				continue // these have findings of their own
			}
			list = append(list, eye{mark: MarkUnobserved, text: "not judged: " + r.Text, check: st.Check.ID, touched: r.Count, first: c.firstUnjudged(n, r), href: href})
		}
	}
	return list
}

// folded joins the entries of checks that were not judged for one and the same reason on the same rows.
func folded(list []eye) []eye {
	type key struct {
		text           string
		touched, first int
	}
	at := map[key]int{}
	out := list[:0]
	checks := map[key]int{}
	for _, e := range list {
		k := key{e.text, e.touched, e.first}
		if e.mark != MarkUnobserved {
			out = append(out, e)
			continue
		}
		if n, seen := at[k]; seen {
			checks[k]++
			out[n].check = fmt.Sprintf("%d checks", checks[k])
			continue
		}
		at[k], checks[k] = len(out), 1
		out = append(out, e)
	}
	return out
}

// firstUnjudged is the first row where a check could not be judged for one reason.
func (c *selection) firstUnjudged(position int, reason health.ReasonCount) int {
	id := check.At(position).ID
	for n := range c.report.Rows() {
		if !c.report.Missing(n).Has(position) {
			continue
		}
		for _, u := range c.report.Unobserved(n) {
			if u.Check == id && u.Reason == reason.Reason && u.Gap == reason.Gap {
				return n
			}
		}
	}
	return -1
}
