package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rollscope/rollscope/core/analysis"
	"github.com/rollscope/rollscope/core/health"
	"github.com/rollscope/rollscope/core/health/check"
)

// verdictWords are the verdicts in the order a person wants them.
var verdictWords = [...]string{"healthy", "unhealthy", "unobserved"}

// shares splits rows by verdict.
func shares(counts [3]int, s State) []Share {
	total := counts[0] + counts[1] + counts[2]
	list := make([]Share, 0, 3)
	for v, n := range counts {
		word := verdictWords[v]
		list = append(list, Share{
			Mark: Mark(word), Word: word, Count: n, Text: Group(n), Percent: percent(n, total), Part: share(n, total),
			Href: s.ToTab("rollouts").With(func(s *State) { s.Filter = withTerm(s.Filter, "verdict:"+word) }).Href(),
		})
	}
	return list
}

func (d *Desk) health(c *selection, s State) *Health {
	counts := c.verdicts()
	rows := counts[0] + counts[1] + counts[2]
	h := &Health{
		Judged: "verdict of " + count(rows, "rollout", "rollouts"),
		Shares: shares(counts, s), Facts: []Fact{}, Options: healthOptions(c, s),
	}
	if s.Filter != "" {
		h.Judged += ": the reports are of all, whatever the filter"
	}
	h.Checks = Table{
		ID: "checks", Caption: "health checks", Height: rowHeight, Rows: []Row{}, Empty: "Check counts need all rows.",
		Columns: []Column{
			{Key: "number", Title: "#", Right: true}, {Key: "check", Title: "check", Mono: true, Grow: true}, {Key: "subject", Title: "subject"},
			{Key: "evaluated", Title: "evaluated", Right: true}, {Key: "unobserved", Title: "unobserved", Right: true},
			{Key: "ignored", Title: "ignored", Right: true}, {Key: "findings", Title: "findings", Right: true},
			{Key: "touched", Title: "rollouts or tasks", Right: true}, {Key: "share", Title: "share %", Right: true},
			{Key: "bar", Title: "", Bars: true, Width: 92},
		},
	}
	if c.refused != nil {
		alert := refusal(c)
		h.Refused = &alert
		h.Checks.Empty = "There is no report: " + c.refused.Error() + "."
		return h
	}
	if c.report == nil {
		h.Partial = "Checks of tasks and repeated identities need all rows; the table is made when reading is complete."
		return h
	}
	h.Facts = healthFacts(c.report)
	if c.projects() {
		st := c.report.Stats()
		h.Partial = fmt.Sprintf("A projection: a run here has a manifest or an attempt journal, and the reference refuses to judge such a run with profile main. Judged are the %s that decide about their rollouts; %s left out.",
			count(st.Records, "result", "results"), count(st.Left, "row is", "rows are"))
	}
	stats := c.report.Checks()
	first := c.firsts()
	scale := 0.0
	for i := range stats {
		scale = max(scale, share(touched(&stats[i]), stats[i].Evaluated))
	}
	scale = niceMax(scale)
	h.Checks.Columns[9].Title = fmt.Sprintf("0 – %s %%", trimZeros(scale*100))
	h.Checks.Total = len(stats)
	for i := range stats {
		st := &stats[i]
		h.Checks.Rows = append(h.Checks.Rows, d.checkRow(c, s, st, i, scale, first[i]))
	}
	return h
}

func (d *Desk) checkRow(c *selection, s State, st *health.CheckStat, i int, scale float64, first int) Row {
	id := st.Check.ID
	part := share(touched(st), st.Evaluated)
	mark := MarkHealthy
	switch {
	case st.Fired > 0:
		mark = MarkUnhealthy
	case st.Evaluated == 0:
		mark = MarkUnobserved
	}
	stat := func(name string, n int64) Cell {
		return Cell{Text: Text{Text: Group(n)}, Stat: "check." + id + "." + name, Exact: fmt.Sprint(n)}
	}
	open := s.Check == id
	row := Row{ID: id, Index: i, Finding: id, Selected: open,
		Href: s.With(func(s *State) {
			if s.Check = id; open {
				s.Check = ""
			}
		}).Href(),
		Cells: []Cell{
			{Text: Text{Text: fmt.Sprint(i + 1), Muted: true}},
			{Text: Text{Text: id, Mono: true, Mark: mark, Title: st.Check.Title}},
			{Text: Text{Text: st.Check.Subject}},
			stat("evaluated", int64(st.Evaluated)), stat("unobserved", int64(st.Unobserved)), stat("ignored", int64(st.Ignored)), stat("fired", st.Fired),
			{Text: Text{Text: Group(touched(st))}, Extra: Text{Text: "of " + Group(st.Evaluated)}},
			{Text: Text{Text: fixed(part*100, 2)}},
			{Bar: part / scale, Tone: "unhealthy"},
		}}
	row.Cells[1].Text.Href = row.Href
	if st.Evaluated == 0 {
		row.Cells[8].Text = Text{Text: Dash, Muted: true, Title: "evaluated nowhere"}
	}
	if open {
		row.Open = d.checkDetail(c, s, st, first)
	}
	return row
}

// firstFindings is how many findings an open check lists; the count says how many there are.
const firstFindings = 12

func (d *Desk) checkDetail(c *selection, s State, st *health.CheckStat, first int) *Detail {
	id := st.Check.ID
	detail := &Detail{Text: st.Check.Text, Notes: []string{}, Tables: []Table{}, Links: []Link{}}
	if len(st.Check.Reads) > 0 {
		detail.Notes = append(detail.Notes, "Reads "+strings.Join(st.Check.Reads, ", ")+".")
	}
	if st.Ignored > 0 {
		detail.Notes = append(detail.Notes, "This check is ignored.")
	}
	if len(st.Reasons) > 0 {
		reasons := Table{ID: "reasons", Caption: "why the check was not judged", Height: 22, Rows: []Row{}, Columns: []Column{
			{Key: "reason", Title: "not judged because", Grow: true}, {Key: "gap", Title: "gap", Mono: true}, {Key: "count", Title: unitOf(st.Check), Right: true}, {Key: "bar", Bars: true, Width: 80},
		}}
		for i, r := range st.Reasons {
			gap := Cell{Text: Text{Text: r.Gap, Mono: true}}
			if r.Gap == "" {
				gap.Text = Text{Text: Dash, Muted: true, Title: "not the work of a gap"}
			}
			reasons.Rows = append(reasons.Rows, Row{ID: fmt.Sprint("reason-", i), Index: i, Cells: []Cell{
				{Text: Text{Text: r.Text}}, gap, {Text: Text{Text: Group(r.Count)}}, {Bar: share(r.Count, st.Unobserved)},
			}})
		}
		reasons.Total = len(reasons.Rows)
		detail.Tables = append(detail.Tables, reasons)
	}
	if st.Fired > 0 {
		if st.Check.Scope == check.Task {
			detail.Tables = append(detail.Tables, d.taskFindings(c, s, st))
		} else {
			detail.Tables = append(detail.Tables, d.checkFindings(c, s, st, first))
		}
		detail.Links = append(detail.Links, Link{
			Text: "Filter to " + count(touched(st), unitOne(st.Check), unitOf(st.Check)),
			Href: s.ToTab("rollouts").With(func(s *State) { s.Filter = withTerm(s.Filter, "check:"+id) }).Href(),
		}, Link{Text: "Copy as TSV", Copy: "findings:" + id})
	}
	return detail
}

func unitOf(c *check.Check) string {
	if c.Scope == check.Task {
		return "tasks"
	}
	return "rollouts"
}

func unitOne(c *check.Check) string { return strings.TrimSuffix(unitOf(c), "s") }

// checkFindings lists the first findings of a check with their places.
func (d *Desk) checkFindings(c *selection, s State, st *health.CheckStat, first int) Table {
	t := Table{ID: "findings", Caption: "findings of " + st.Check.ID, Height: 22, Rows: []Row{}, Columns: []Column{
		{Key: "rollout", Title: "rollout", Mono: true}, {Key: "finding", Title: "finding", Grow: true}, {Key: "place", Title: "place", Mono: true}, {Key: "byte", Title: "byte", Right: true},
	}}
	at := check.Position(st.Check.ID)
	for n := first; n >= 0 && n < c.table.Rows() && len(t.Rows) < firstFindings; n++ {
		if !c.report.Fired(n).Has(at) {
			continue
		}
		i, ok := c.item(n)
		if !ok {
			break
		}
		for _, f := range i.list() {
			if f.Check != st.Check.ID || len(t.Rows) == firstFindings {
				continue
			}
			href := d.toFinding(s, i, &f)
			t.Rows = append(t.Rows, Row{
				ID: fmt.Sprint("finding-", len(t.Rows)), Index: len(t.Rows), Rollout: i.place(), Finding: f.Check, Href: href,
				Cells: []Cell{
					{Text: Text{Text: i.name(), Mono: true, Href: d.toRow(s, c, n)}},
					{Text: Text{Text: check.Sentence(f)}},
					{Text: Text{Text: i.place(), Mono: true, Href: href}},
					{Text: Text{Text: Group(i.row.Offset + f.Place.Offset)}},
				}})
		}
	}
	t.Total = len(t.Rows)
	t.Note = Group(len(t.Rows)) + " of " + count(st.Fired, "finding", "findings")
	return t
}

// taskFindings lists the first tasks a task check flagged.
func (d *Desk) taskFindings(c *selection, s State, st *health.CheckStat) Table {
	t := Table{ID: "findings", Caption: "tasks with " + st.Check.ID, Height: 22, Rows: []Row{}, Columns: []Column{
		{Key: "task", Title: "task", Mono: true, Grow: true}, {Key: "repeats", Title: "repeats", Right: true},
		{Key: "healthy", Title: "healthy", Right: true}, {Key: "unhealthy", Title: "unhealthy", Right: true}, {Key: "unobserved", Title: "unobserved", Right: true},
		{Key: "place", Title: "first place", Mono: true},
	}}
	for _, task := range c.report.Tasks() {
		if len(t.Rows) == firstFindings {
			break
		}
		if !slices.Contains(task.Flags, st.Check.ID) {
			continue
		}
		i, ok := c.item(task.First)
		if !ok {
			continue
		}
		cell := keyCell(task.Key)
		cell.Text.Href = s.ToTab("rollouts").With(func(s *State) { s.Filter = withTerm(s.Filter, taskTerm(task.Key)) }).Href()
		t.Rows = append(t.Rows, Row{
			ID: fmt.Sprint("task-", len(t.Rows)), Index: len(t.Rows), Finding: st.Check.ID,
			Cells: []Cell{cell, numeral(task.Repeats), numeral(task.Healthy), numeral(task.Unhealthy), numeral(task.Unobserved),
				{Text: Text{Text: i.place(), Mono: true, Href: d.toRow(s, c, task.First)}}},
		})
	}
	t.Total = len(t.Rows)
	t.Note = Group(len(t.Rows)) + " of " + count(st.Fired, "task", "tasks")
	return t
}

func numeral(n int) Cell { return Cell{Text: Text{Text: Group(n)}} }

// toFinding is the link to the place of a finding inside its row.
func (d *Desk) toFinding(s State, i *item, f *check.Finding) string {
	return s.With(func(s *State) {
		s.Rollout, s.Check = i.place(), ""
		s.Part, s.Turn = "", 0
		if f.Place.Turn >= 0 {
			s.Turn = f.Place.Turn + 1
		}
		for n, one := range i.list() {
			if findingID(one) == findingID(*f) {
				s.At = spot{'f', n}.String()
				break
			}
		}
	}).Href()
}

func healthFacts(r *health.Report) []Fact {
	st := r.Stats()
	big := func(n fmt.Stringer) Text { return Text{Text: groupText(n.String()), Title: n.String()} }
	return []Fact{
		{Label: "model call errors", Value: Text{Text: Group(st.Errors)}, Note: Text{Text: count(st.ErrorRollouts, "rollout", "rollouts")}},
		{Label: "ended on an error", Value: Text{Text: Group(st.EndedOnError)}, Note: Text{Text: plural(st.EndedOnError, "rollout", "rollouts")}},
		{Label: "captures", Value: Text{Text: Group(st.Captures)}, Note: Text{Text: "of " + Group(st.Records)}},
		{Label: "duplicated calls", Value: Text{Text: Group(st.Replayed)}, Note: Text{Text: count(st.ReplayedRollouts, "rollout", "rollouts")}},
		{Label: "tokens, transcript", Value: big(st.Prompt), Note: Text{Text: "prompt, " + big(st.Completion).Text + " completion"}},
		{Label: "tokens, captured", Value: big(st.CapturePrompt), Note: Text{Text: "prompt, " + big(st.CaptureCompletion).Text + " completion"}},
	}
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// healthOptions are the controls of the rules: profile and ignored checks.
func healthOptions(c *selection, s State) HealthOptions {
	o := HealthOptions{Profiles: []Choice{}, Ignored: []Choice{}}
	for _, p := range [...]struct{ id, help string }{
		{check.V07.String(), "the rules of release 0.7.0"},
		{check.Main.String(), "the rules of the development line: context overflows are exempt, token totals follow owned calls"},
	} {
		o.Profiles = append(o.Profiles, Choice{Value: p.id, Title: "profile " + p.id, Help: p.help, On: c.rules.Profile().String() == p.id,
			Href: s.With(func(s *State) {
				if s.Profile = p.id; p.id == check.V07.String() {
					s.Profile = ""
				}
			}).Href()})
	}
	for _, k := range check.All() {
		on := c.rules.Ignored().Has(check.Position(k.ID))
		o.Ignored = append(o.Ignored, Choice{Value: k.ID, Title: k.ID, Help: k.Title, On: on,
			Href: s.With(func(s *State) {
				if on {
					s.Ignore = slices.DeleteFunc(s.Ignore, func(id string) bool { return strings.TrimSpace(id) == k.ID })
				} else {
					s.Ignore = append(s.Ignore, k.ID)
				}
			}).Href()})
	}
	if c.invalid != nil {
		o.Unknown = c.invalid.Error()
	}
	return o
}

// The names of the two reports.
const (
	summaryFile  = "quality_summary.json"
	verdictsFile = "rollout_verdicts.jsonl"
)

func reportLinks(c *selection) []Link {
	if c.report == nil {
		return []Link{}
	}
	return append([]Link{
		{Text: "Download " + summaryFile, Download: summaryFile},
		{Text: "Download verdicts", Download: verdictsFile},
	}, exports("checks")...)
}

// eachFinding calls f for all findings of the selection, in order.
func (c *selection) eachFinding(f func(*item, *check.Finding)) {
	c.table.Each(0, func(r *analysis.Row) bool {
		i := c.itemOf(r)
		for k := range i.list() {
			f(i, &i.findings[k])
		}
		return true
	})
}

// touched is the number of rows, or tasks, with a finding of a check.
func touched(st *health.CheckStat) int {
	if st.Check.Scope == check.Task {
		return int(st.Fired)
	}
	return st.Rollouts
}

// firsts gives for every check the ordinal of the first row with a finding of it, −1 if there is none.
func (c *selection) firsts() [check.Count]int {
	var list [check.Count]int
	var seen check.Set
	for i := range list {
		list[i] = -1
	}
	for n := range c.report.Rows() {
		fresh := c.report.Fired(n) &^ seen
		if fresh == 0 {
			continue
		}
		seen |= fresh
		for i := range list {
			if fresh.Has(i) {
				list[i] = n
			}
		}
	}
	for _, task := range c.report.Tasks() {
		for i := check.RolloutCount; i < check.Count; i++ {
			if task.Fired.Has(i) && (list[i] < 0 || task.First < list[i]) {
				list[i] = task.First
			}
		}
	}
	return list
}
