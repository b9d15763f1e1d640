package view

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/rollscope/rollscope/core/health"
	"github.com/rollscope/rollscope/core/view/filter"
)

// tasks is the Tasks tab: one line a task, its repeats side by side.
func (d *Desk) tasks(c *selection, s State, from int) *Tasks {
	list := d.listed(c, s)
	g := c.groups()
	t := &Tasks{Facts: d.taskFacts(c, list, g), Charts: taskCharts(c, s, list, g), Table: d.taskTable(c, s, from, from+windowSize)}
	if g.repeats.columns > 0 {
		t.Grid = Grid{Tasks: len(list.lines), Repeats: g.repeats.columns,
			Caption: fmt.Sprintf("verdicts and rewards of %s with up to %s", count(len(list.lines), "task", "tasks"), count(g.repeats.columns, "repeat", "repeats"))}
	}
	return t
}

func (d *Desk) taskFacts(c *selection, list *taskList, g *taskGroups) []Fact {
	all := len(g.totals)
	facts := []Fact{{Label: "tasks", Value: Text{Text: Group(len(list.lines))}, Note: Text{Text: "of " + Group(all)}}}
	facts = append(facts, Fact{Label: "repeats", Value: Text{Text: Group(g.repeats.columns)}, Note: Text{Text: "at most"}})
	never, sometimes, always, scored, flagged := 0, 0, 0, 0, 0
	for i := range list.lines {
		l := &list.lines[i]
		if len(c.flags(l)) > 0 {
			flagged++
		}
		if l.scored == 0 {
			continue
		}
		scored++
		switch l.solved {
		case 0:
			never++
		case l.scored:
			always++
		default:
			sometimes++
		}
	}
	facts = append(facts, Fact{Label: "never · sometimes · always solved",
		Value: Text{Text: Group(never) + " · " + Group(sometimes) + " · " + Group(always), Title: "solved is a reward of exactly 1"},
		Note:  Text{Text: "of " + Group(scored) + " with a reward"}})
	if c.fated != nil && len(c.fated.wants) > 0 {
		missing, tasks := int32(0), 0
		for i := range list.lines {
			if n := list.lines[i].without(); n > 0 {
				missing, tasks = missing+n, tasks+1
			}
		}
		facts = append(facts, Fact{Label: "without a result", Value: Text{Text: Group(missing), Title: "expected rollouts that failed, were omitted, or whose fate is unknown"},
			Note: Text{Text: "in " + count(tasks, "task", "tasks")}})
	}
	if c.report != nil {
		facts = append(facts, Fact{Label: "flagged", Value: Text{Text: Group(flagged)}, Note: Text{Text: "by checks of tasks"}})
	} else {
		facts = append(facts, Fact{Label: "flagged", Value: Text{Text: Dash, Title: "checks of tasks need all rows"}})
	}
	return facts
}

// taskCharts count the listed tasks over all their repeats.
func taskCharts(c *selection, s State, list *taskList, g *taskGroups) []Chart {
	charts := []Chart{}
	measured := map[int32]int{}
	for i := range list.lines {
		measured[g.totals[list.lines[i].task].scored]++
	}
	// Tasks with as many measured repeats as most have can be compared.
	full, tasks := int32(0), 0
	for n, of := range measured {
		if n > 0 && (of > tasks || of == tasks && n > full) {
			full, tasks = n, of
		}
	}
	if full > 0 && full <= mostRepeatBars {
		solved := make([]int, full+1)
		for i := range list.lines {
			if t := &g.totals[list.lines[i].task]; t.scored == full {
				solved[t.solved]++
			}
		}
		chart := Chart{ID: "solved", Title: "tasks by solved repeats", Kind: "bars",
			Caption: fmt.Sprintf("%s of %s", Group(tasks), Group(len(list.lines)))}
		if others := len(list.lines) - tasks; others > 0 {
			chart.Note = fmt.Sprintf("%s another number of measured repeats than %s", count(others, "task has", "tasks have"), Group(full))
		}
		for n, of := range solved {
			label := fmt.Sprintf("%d/%d", n, full)
			chart.Bins = append(chart.Bins, Bin{Label: label, Value: float64(of), Text: Group(of),
				Href: narrowed(s, "task.solved="+strconv.Itoa(n)+" task.scored="+strconv.Itoa(int(full)))})
		}
		charts = append(charts, chart)
	}
	most := int32(0)
	for i := range list.lines {
		most = max(most, g.totals[list.lines[i].task].verdicts[health.Unhealthy])
	}
	if most > 0 && most <= mostRepeatBars {
		unhealthy := make([]int, most+1)
		for i := range list.lines {
			unhealthy[g.totals[list.lines[i].task].verdicts[health.Unhealthy]]++
		}
		chart := Chart{ID: "unhealthy", Title: "tasks by unhealthy repeats", Kind: "bars",
			Caption: fmt.Sprintf("%s of %s", Group(len(list.lines)-unhealthy[0]), Group(len(list.lines)))}
		if unhealthy[0] > 0 {
			chart.Note = count(unhealthy[0], "task has none", "tasks have none")
		}
		for n, of := range unhealthy[1:] {
			chart.Bins = append(chart.Bins, Bin{Label: strconv.Itoa(n + 1), Value: float64(of), Text: Group(of),
				Href: narrowed(s, filter.Equal("task.unhealthy", filter.Int(int64(n+1))))})
		}
		charts = append(charts, chart)
	}
	return charts
}

// mostRepeatBars is how many repeats a chart has a bar for.
const mostRepeatBars = 64

// A taskRow is one line of the table of tasks with what its cells are made of.
type taskRow struct {
	c     *selection
	list  *taskList
	line  *taskLine
	first *item
}

// A taskColumn is one column of the table of tasks: how it reads and how it sorts.
type taskColumn struct {
	Column
	plain bool
	cell  func(*taskRow) Cell
	order ordering // nil where tasks cannot be sorted by it
}

var taskColumns []taskColumn

func init() {
	number := func(n func(*taskLine) int32) func(*taskRow) Cell {
		return func(r *taskRow) Cell { return wide(int64(n(r.line))) }
	}
	verdict := func(v health.Verdict) taskColumn {
		word := v.String()
		return taskColumn{Column{Key: word, Title: word, Right: true, Help: "repeats with this verdict"}, true,
			number(func(l *taskLine) int32 { return l.verdicts[v] }), byVerdict(v)}
	}
	taskColumns = []taskColumn{
		{Column{Key: "task", Title: "task", Right: true, Mono: true, Help: "task index, as saved"}, true,
			func(r *taskRow) Cell { return keyCell(r.c.groups().keys[r.line.task]) }, byKey},
		{Column{Key: "name", Title: "name", Width: 150, Help: "where the first row gives one"}, true,
			func(r *taskRow) Cell {
				if r.first == nil {
					return Cell{Text: Text{Text: Dash, Muted: true, Title: "the task has no row"}}
				}
				return textCell(r.first.digest.Facts.Name)
			}, byName},
		{Column{Key: "agent", Title: "agent", Width: 100, Help: "of the first row"}, true,
			func(r *taskRow) Cell { return textCell(r.c.agentOf(r.line)) }, byAgent},
		{Column{Key: "cells", Title: "repeats", Help: "verdict and reward of every repeat"}, true, cellsCell, nil},
		{Column{Key: "solved", Title: "solved", Right: true, Help: "repeats with a reward of exactly 1, of those that are not masked and have a reward; sorted by share"}, true,
			func(r *taskRow) Cell {
				return Cell{Text: Text{Text: Group(r.line.solved)}, Extra: Text{Text: "of " + Group(r.line.scored)}}
			}, byNumber((*taskLine).share)},
		{Column{Key: "scored", Title: "with reward", Right: true, Help: "repeats that are not masked and have a number as reward"}, false,
			number(func(l *taskLine) int32 { return l.scored }), byNumber(func(l *taskLine) float64 { return float64(l.scored) })},
		{Column{Key: "mean", Title: "mean", Right: true, Help: "of the rewards"}, true,
			func(r *taskRow) Cell { return floatCell(r.line.mean(), 3) }, byNumber((*taskLine).mean)},
		{Column{Key: "spread", Title: "spread", Right: true, Help: "least and greatest reward; sorted by their distance"}, false,
			func(r *taskRow) Cell {
				if r.line.scored == 0 {
					return floatCell(math.NaN(), 0)
				}
				return Cell{Text: Text{Text: shortFloat(r.line.least) + " – " + shortFloat(r.line.top)}}
			}, byNumber((*taskLine).spread)},
		verdict(health.Healthy), verdict(health.Unhealthy), verdict(health.Unobserved),
		{Column{Key: "missing", Title: "no result", Right: true, Help: "expected rollouts of the task that failed, were omitted, or whose fate is unknown"}, true,
			func(r *taskRow) Cell {
				cell := wide(int64(r.line.without()))
				parts := []string{}
				for n, part := range [...]fate{fateFailed, fateOmitted, fateUnknown} {
					if k := r.line.missing[n]; k > 0 {
						parts = append(parts, fmt.Sprint(k, " ", fateInfos[part].word))
					}
				}
				cell.Text.Title = strings.Join(parts, ", ")
				return cell
			}, byNumber(func(l *taskLine) float64 { return float64(l.without()) })},
		{Column{Key: "repeats", Title: "rows", Right: true, Help: "rows of the task"}, false,
			number(func(l *taskLine) int32 { return l.rows }), byNumber(func(l *taskLine) float64 { return float64(l.rows) })},
		{Column{Key: "flags", Title: "task flags", Mono: true, Grow: true, Help: "checks of tasks that fired"}, true,
			func(r *taskRow) Cell { return flagsCell(r.c, r.line) }, byFlags},
		{Column{Key: "place", Title: "first place", Mono: true, Help: "file and line of the first row"}, false,
			func(r *taskRow) Cell {
				if r.first == nil {
					return Cell{Text: Text{Text: Dash, Muted: true, Title: "the task has no row"}}
				}
				return Cell{Text: Text{Text: r.first.place(), Mono: true}}
			}, byNumber(func(l *taskLine) float64 { return float64(l.first) })},
	}
}

// taskChoice is what the chooser of the table offers.
func taskChoice() []choosable {
	return choosables(taskColumns, func(c *taskColumn) choosable { return choosable{c.Column, c.plain} })
}

// taskTable is the part of the table of tasks between two of its rows.
func (d *Desk) taskTable(c *selection, s State, from, to int) Table {
	list, g := d.listed(c, s), c.groups()
	t := Table{ID: "tasks", Caption: "tasks", Height: rowHeight, Columns: []Column{}, Rows: []Row{}, Total: len(list.lines),
		Window: true, Sortable: true, Movable: true, Empty: "No task has a rollout that fits the filter."}
	if c.table.Rows() == 0 {
		t.Empty = "There are no tasks."
	}
	all := taskChoice()
	var cols []*taskColumn
	for _, shown := range chosen(s, all) {
		col := &taskColumns[columnAt(all, shown.Key)]
		h := head(s, c.sized(col.Column), shown, col.order != nil)
		if col.Key == "cells" {
			h.Grid = gridHead(g.repeats)
			h.Width, h.Set = h.Grid.Cell*h.Grid.Columns+2*gridMargin, false
		}
		cols, t.Columns = append(cols, col), append(t.Columns, h)
	}
	from = max(0, min(from, t.Total-1))
	t.From = from
	for n := from; n < min(to, t.Total); n++ {
		line := &list.lines[n]
		first, ok := c.item(int(line.first))
		if !ok {
			first = nil
		}
		r := &taskRow{c: c, list: list, line: line, first: first}
		row := Row{ID: "task-" + strconv.Itoa(int(line.task)), Index: n, Cells: make([]Cell, 0, len(cols)),
			Href: s.ToTab(tabOfTask(line)).With(func(s *State) { s.Filter = withTerm(s.Filter, taskTerm(g.keys[line.task])) }).Href()}
		for _, col := range cols {
			cell := col.cell(r)
			if col.Key == "place" {
				cell.Text.Href = d.toRow(s, c, int(line.first))
			}
			row.Cells = append(row.Cells, cell)
		}
		row.Cells[0].Note = c.taskHint(line.task)
		t.Rows = append(t.Rows, row)
	}
	return t
}

func flagsCell(c *selection, l *taskLine) Cell {
	flags := c.flags(l)
	if len(flags) == 0 {
		why := "no flag"
		if c.report == nil {
			why = "checks of tasks need all rows"
		}
		return Cell{Text: Text{Text: Dash, Muted: true, Title: why}}
	}
	cell := Cell{Text: Text{Text: flags[0], Mono: true, Mark: MarkUnhealthy}, Exact: strings.Join(flags, " ")}
	if len(flags) > 1 {
		cell.Extra = Text{Text: strings.Join(flags[1:], " "), Mono: true}
	}
	return cell
}

// tabOfTask is where the rollouts of a task are seen: those without a row on the Coverage tab.
func tabOfTask(l *taskLine) string {
	if l.first < 0 {
		return "coverage"
	}
	return "rollouts"
}

// floatCell shows a double with some decimals; the whole of it is in the title and in copies.
func floatCell(f float64, decimals int) Cell {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return Cell{Text: Text{Text: Dash, Muted: true, Title: "no repeat has a reward that counts"}}
	}
	full := strconv.FormatFloat(f, 'g', -1, 64)
	if math.Abs(f) >= 1e12 {
		return Cell{Text: Text{Text: shortFloat(f), Title: full}, Exact: full}
	}
	return Cell{Text: Text{Text: fixed(f, decimals), Title: full}, Exact: full}
}

// shortFloat writes a double with at most three decimals.
func shortFloat(f float64) string {
	if math.Abs(f) >= 1e6 || f != 0 && math.Abs(f) < 0.001 {
		return strconv.FormatFloat(f, 'g', 3, 64)
	}
	return trimZeros(f)
}

// sortKeys of a table are those of the columns it can be sorted by.
func taskSortKeys() []string {
	var keys []string
	for _, c := range taskColumns {
		if c.order != nil {
			keys = append(keys, c.Key)
		}
	}
	return slices.Clip(keys)
}
