package view

import (
	"strconv"

	"github.com/rollscope/rollscope/core/health"
)

// tasks is the Tasks tab: one line a task, its repeats side by side.
func (d *Desk) tasks(c *selection, s State, found *matches, from int) *Tasks {
	t := &Tasks{Facts: []Fact{}}
	t.Table = d.taskTable(c, s, from, from+windowSize)
	if c.report != nil {
		repeats, flagged := 0, 0
		for _, task := range c.report.Tasks() {
			repeats += task.Repeats
			if len(task.Flags) > 0 {
				flagged++
			}
		}
		n := len(c.report.Tasks())
		t.Facts = append(t.Facts,
			Fact{Label: "tasks", Value: Text{Text: Group(n)}, Stat: "task.count", Exact: strconv.Itoa(n)},
			Fact{Label: "repeats", Value: Text{Text: Group(repeats)}},
			Fact{Label: "tasks flagged", Value: Text{Text: Group(flagged)}, Note: Text{Text: "of " + Group(n)}})
	}
	return t
}

// shownRepeats is how many repeats a task shows side by side; the count says how many there are.
const shownRepeats = 16

// taskTable is the part of the table of tasks between two of its rows.
func (d *Desk) taskTable(c *selection, s State, from, to int) Table {
	t := Table{ID: "tasks", Caption: "tasks", Height: rowHeight, Rows: []Row{}, Window: true,
		Empty: "Tasks need all rows.",
		Columns: []Column{{Key: "task", Title: "task", Mono: true, Right: true}, {Key: "name", Title: "name", Width: 180}, {Key: "repeats", Title: "repeats", Right: true},
			{Key: "healthy", Title: "healthy", Right: true}, {Key: "unhealthy", Title: "unhealthy", Right: true}, {Key: "unobserved", Title: "unobserved", Right: true},
			{Key: "flags", Title: "flags", Mono: true, Grow: true}, {Key: "place", Title: "first place", Mono: true}}}
	if c.report == nil {
		return t
	}
	t.Total, t.Empty = c.report.TaskCount(), "There are no tasks."
	from = max(0, min(from, t.Total-1))
	t.From = from
	for n := from; n < min(to, t.Total); n++ {
		task := c.report.Task(n)
		i, ok := c.item(task.First)
		if !ok {
			break
		}
		href := s.ToTab("rollouts").With(func(s *State) { s.Filter = withTerm(s.Filter, taskTerm(task.Key)) }).Href()
		name := keyCell(task.Key)
		name.Text.Href = href
		t.Rows = append(t.Rows, Row{ID: "task-" + strconv.Itoa(n), Index: n, Href: href, Cells: []Cell{
			name, textCell(i.digest.Facts.Name), numeral(task.Repeats), numeral(task.Healthy), numeral(task.Unhealthy), numeral(task.Unobserved),
			flagsCell(&task), {Text: Text{Text: i.place(), Mono: true, Href: d.toRow(s, c, task.First)}},
		}})
	}
	return t
}

func flagsCell(task *health.TaskStat) Cell {
	if len(task.Flags) == 0 {
		return Cell{Text: Text{Text: Dash, Muted: true, Title: "no flag"}}
	}
	c := Cell{Text: Text{Text: task.Flags[0], Mono: true, Mark: MarkUnhealthy}}
	if len(task.Flags) > 1 {
		c.Extra = Text{Text: task.Flags[1], Mono: true}
	}
	return c
}
