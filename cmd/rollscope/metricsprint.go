package main

import (
	"fmt"
	"strconv"

	"github.com/rollscope/rollscope/core/metrics"
	"github.com/rollscope/rollscope/core/view"
)

// statColumns are the heads of a table of statistics.
var statColumns = []column{
	{title: "field"}, {title: "mean", right: true}, {title: "of", right: true}, {title: "std", right: true},
	{title: "min", right: true}, {title: "median", right: true}, {title: "max", right: true}, {title: "95 % across repeats"},
}

// statRows lists the columns of a description, each with the number of rows its mean is made of.
func statRows(s *metrics.Stats, across []metrics.Across) [][]string {
	rows := [][]string{}
	for i := range s.Columns {
		c := &s.Columns[i]
		interval := view.Dash
		for k := range across {
			if a := &across[k]; a.Name == "mean/"+c.Name {
				interval = between(a.Low, a.High, a.Interval)
			}
		}
		rows = append(rows, []string{
			c.Name, decimal(c.Mean, true), fmt.Sprintf("%s of %s", view.Group(c.N), view.Group(s.Rows)), decimal(c.Std, c.Defined),
			decimal(c.Min.Float(), true), decimal(c.Median, true), decimal(c.Max.Float(), true), interval,
		})
	}
	return rows
}

// metricColumns are the heads of the table that CSV has of one or more lists of metrics.
var metricColumns = []column{{title: "agent"}, {title: "metric"}, {title: "value", right: true}}

func metricRows(rows [][]string, label string, list []metrics.Metric) [][]string {
	for _, m := range list {
		rows = append(rows, []string{label, m.Name, m.Value.String()})
	}
	return rows
}

// entrySheets print one entry: what it is made of, its fields, its repeats.
func entrySheets(s *sheets, e *metrics.Entry, title string) {
	one := sheet{title: title, columns: statColumns}
	if e.Server != "" {
		text := "environment server " + e.Server
		if e.Stand {
			text += " (no row names it; made of the agent's name)"
		}
		one.intro = append(one.intro, text)
	}
	one.intro = append(one.intro, coverageText(e.Results, e.Coverage, e.Groups(), e.NumRepeats))
	if e.Stats == nil {
		one.notes = append(one.notes, "Every rollout is masked, so there is no score.")
	} else {
		one.rows = statRows(e.Stats, e.Across)
		if len(one.rows) == 0 {
			one.notes = append(one.notes, "No row has a numeric field.")
		}
	}
	if e.Uneven {
		one.notes = append(one.notes, "Not every repeat has every task, so repeats are not about the same tasks.")
	}
	s.add(one)
	for i := range e.Repeats {
		e.Repeats[i].Label = title
	}
	repeatSheets(s, e.Repeats)
	perfSheets(s, e.Perf)
}

func coverageText(results int, c *metrics.Coverage, tasks, repeats int) string {
	text := amount(results, "rollout")
	if c != nil {
		text += fmt.Sprintf(" (%s measured, %s masked)", view.Group(c.Measured), view.Group(c.Masked))
	}
	text += ", " + amount(tasks, "task") + ", " + amount(repeats, "repeat")
	if c != nil && c.FullyMasked > 0 {
		text += "; " + amount(c.FullyMasked, "task") + " with masked rollouts alone"
	}
	return text
}

func repeatSheets(s *sheets, repeats []metrics.Repeat) {
	if len(repeats) == 0 {
		return
	}
	one := sheet{title: "reward by repeat", columns: []column{
		{title: "agent"}, {title: "repeat", right: true}, {title: "tasks", right: true}, {title: "missing", right: true}, {title: "mean", right: true},
		{title: "std", right: true}, {title: "95 %"},
	}}
	for i := range repeats {
		r := &repeats[i]
		row := []string{r.Label, r.Index.String(), view.Group(r.Sample), view.Group(r.Missing), view.Dash, view.Dash, view.Dash}
		for k := range r.Columns {
			if c := &r.Columns[k]; c.Name == "reward" {
				row[4], row[5], row[6] = decimal(c.Mean, true), decimal(c.Std, true), between(c.Low, c.High, c.Interval)
			}
		}
		one.rows = append(one.rows, row)
	}
	s.add(one)
}

func perfSheets(s *sheets, p *metrics.Perf) {
	if p == nil {
		return
	}
	one := sheet{title: "performance", columns: []column{{title: "metric"}, {title: "value", right: true}}}
	one.intro = []string{fmt.Sprintf("%s of %s have performance records", view.Group(p.Observed), amount(p.Records, "rollout"))}
	for _, m := range p.Metrics() {
		text := decimal(m.Value.Float(), true)
		if m.Value.IsWhole() {
			text = m.Value.String()
		}
		one.rows = append(one.rows, []string{m.Name, text})
	}
	s.add(one)
}

func aggregateSheets(a *metrics.Aggregate) *sheets {
	s := &sheets{main: sheet{columns: metricColumns}}
	if a.Nowhere > 0 {
		s.add(sheet{intro: []string{fmt.Sprintf("%s of %s name neither agent nor server and are in no entry", view.Group(a.Nowhere), amount(a.Results, "rollout"))}})
	}
	if len(a.Entries) == 0 {
		s.add(sheet{intro: []string{"no entries"}})
	}
	for _, e := range a.Entries {
		entrySheets(s, e, e.Label)
		s.main.rows = metricRows(s.main.rows, e.Label, e.Metrics())
	}
	return s
}

func allRowsSheets(e *metrics.Entry) *sheets {
	s := &sheets{main: sheet{columns: metricColumns}}
	entrySheets(s, e, "all rows")
	s.main.rows = metricRows(s.main.rows, "", e.Metrics())
	return s
}

func profileSheets(p *metrics.Profile) *sheets {
	c := p.Completion
	s := &sheets{}
	s.add(sheet{title: "reward profile", intro: []string{
		fmt.Sprintf("%s of %s expected rollouts are there (%s %%)", view.Group(c.Completed), view.Group(c.Expected), strconv.FormatFloat(c.Percent(), 'f', 2, 64)),
		fmt.Sprintf("inputs: %s; %s complete, %s partial, %s without rollouts", view.Group(c.Inputs), view.Group(c.Complete), view.Group(c.Partial), view.Group(c.Without)),
		amount(c.Masked, "rollout") + " masked, left out of the scores",
	}})
	for i := range p.Agents {
		a := &p.Agents[i]
		one := sheet{title: a.Label, columns: statColumns}
		if a.Coverage != nil {
			one.intro = append(one.intro, fmt.Sprintf("%s measured, %s masked; %s measured, %s masked as a whole",
				amount(a.Coverage.Measured, "rollout"), view.Group(a.Coverage.Masked), amount(a.Coverage.MeasuredTasks, "task"), view.Group(a.Coverage.FullyMasked)))
		}
		if a.Stats != nil {
			one.rows = statRows(a.Stats, a.Across)
		} else {
			one.notes = append(one.notes, "No score under this name.")
		}
		s.add(one)
	}
	repeatSheets(s, p.Repeats)
	tasks := sheet{title: "reward by task", columns: []column{
		{title: "task"}, {title: "agent"}, {title: "rollouts", right: true}, {title: "expected", right: true}, {title: "mean", right: true},
		{title: "of", right: true}, {title: "std", right: true}, {title: "min", right: true}, {title: "max", right: true},
	}}
	exact := tasks
	exact.rows = nil
	for i := range p.Groups() {
		g := p.Group(i)
		row := []string{g.Task.String(), g.Label, view.Group(len(g.Rows)), view.Group(g.Expected), view.Dash, "0", view.Dash, view.Dash, view.Dash}
		full := append([]string(nil), row...)
		full[2], full[3] = strconv.Itoa(len(g.Rows)), strconv.Itoa(g.Expected)
		if c := g.Stats.Column("reward"); c != nil {
			row[4], row[5], row[6] = decimal(c.Mean, true), view.Group(c.N), decimal(c.Std, c.Defined)
			row[7], row[8] = decimal(c.Min.Float(), true), decimal(c.Max.Float(), true)
			full[4], full[5], full[6] = plainDecimal(c.Mean, true), strconv.Itoa(c.N), plainDecimal(c.Std, c.Defined)
			full[7], full[8] = c.Min.String(), c.Max.String()
		}
		tasks.rows = append(tasks.rows, row)
		exact.rows = append(exact.rows, full)
	}
	s.add(tasks)
	s.main = exact
	return s
}

func passSheets(p *metrics.PassK, run *metrics.Run) *sheets {
	columns := []column{
		{title: "k", right: true}, {title: "tasks", right: true}, {title: "pass@k", right: true}, {title: "se", right: true}, {title: "avg@k", right: true},
	}
	voted := len(p.Curve) > 0 && p.Curve[0].Voted
	if voted {
		columns = append(columns, column{title: "majority@k", right: true})
	}
	one, exact := sheet{title: "pass@k", columns: columns}, sheet{columns: columns}
	masked := 0
	for row := range run.Rows() {
		if run.Masked(row) {
			masked++
		}
	}
	one.intro = []string{fmt.Sprintf("score: reward, in percent; %s, %s masked and left out", amount(run.Rows(), "rollout"), view.Group(masked))}
	if p.MaxK == 0 {
		one.notes = []string{"no rollouts"}
	}
	for _, c := range p.Curve {
		row := []string{strconv.Itoa(c.K), view.Group(c.Tasks), decimal(c.Pass, c.Tasks > 0), decimal(c.SE, c.Tasks > 1), decimal(c.Avg, true)}
		full := []string{strconv.Itoa(c.K), strconv.Itoa(c.Tasks), plainDecimal(c.Pass, c.Tasks > 0), plainDecimal(c.SE, c.Tasks > 1), plainDecimal(c.Avg, true)}
		if voted {
			row, full = append(row, decimal(c.Majority, true)), append(full, plainDecimal(c.Majority, true))
		}
		one.rows, exact.rows = append(one.rows, row), append(exact.rows, full)
	}
	if len(p.Curve) > 1 {
		one.notes = append(one.notes, "pass@k is over the tasks that have k rollouts; avg@k over all, with the first k of each.")
	}
	s := &sheets{main: exact}
	s.add(one)
	return s
}
