package view

import (
	"math"
	"strconv"
	"strings"

	"github.com/rollscope/rollscope/core/rollout"
	"github.com/rollscope/rollscope/core/trajectory/lax"
)

// rowHeight is the height of a row of a main table, in CSS pixels.
const rowHeight = 27

// windowSize is how many rows a page carries before it is asked for others.
const windowSize = 60

// A rolloutColumn is one column of the Rollouts table: how it reads and how it sorts.
type rolloutColumn struct {
	Column
	plain bool // shown unless other columns are chosen
	cell  func(*item) Cell
	rank  ranker // nil where rows cannot be sorted by it
}

var rolloutColumns = []rolloutColumn{
	{Column{Key: "task", Title: "task", Right: true, Mono: true, Help: "task index, as saved"}, true,
		taskCell,
		byIndex(func(i *item) rollout.Key { return i.digest.Identity.Task })},
	{Column{Key: "repeat", Title: "repeat", Right: true, Mono: true, Help: "rollout index, as saved"}, true,
		func(i *item) Cell {
			if r := i.recovered(); r != nil {
				return i.mendedCell(keyCell(r.Rollout))
			}
			return keyCell(i.digest.Identity.Rollout)
		},
		byIndex(func(i *item) rollout.Key { return i.digest.Identity.Rollout })},
	{Column{Key: "stage", Title: "stage", Right: true, Mono: true, Help: "stage index"}, false,
		func(i *item) Cell { return keyCell(i.digest.Identity.Stage) },
		byIndex(func(i *item) rollout.Key { return i.digest.Identity.Stage })},
	{Column{Key: "name", Title: "name", Width: 150, Help: "of the task, where the row gives one"}, true,
		func(i *item) Cell {
			if r := i.recovered(); r != nil {
				return i.mendedCell(textCell(r.Name))
			}
			return textCell(i.digest.Facts.Name)
		},
		byWord(func(i *item) string { return i.digest.Facts.Name })},
	{Column{Key: "id", Title: "rollout id", Mono: true, Width: 150, Help: "as the reports have it"}, false,
		func(i *item) Cell { return Cell{Text: Text{Text: i.digest.Identity.ID, Mono: true}} },
		byWord(func(i *item) string { return i.digest.Identity.ID })},
	{Column{Key: "agent", Title: "agent", Width: 120, Help: "agent_ref.name"}, true,
		func(i *item) Cell {
			if r := i.recovered(); r != nil {
				return i.mendedCell(textCell(r.Agent))
			}
			return textCell(i.digest.Facts.Agent)
		},
		byWord(func(i *item) string { return i.digest.Facts.Agent })},
	{Column{Key: "verdict", Title: "verdict", Width: 104, Help: "of the health checks"}, true,
		func(i *item) Cell { return Cell{Text: verdictText(i.verdict())} },
		byCount(func(i *item) int64 { return int64(i.verdict()) })},
	{Column{Key: "reward", Title: "reward", Right: true, Help: "as saved"}, true,
		func(i *item) Cell {
			if r := i.recovered(); r != nil {
				return i.mendedCell(numberCell(r.Reward, "the row has no reward"))
			}
			c := numberCell(i.digest.Facts.Reward, "the row has no reward")
			if i.digest.Facts.Masked {
				c.Extra = Text{Text: "masked", Mark: MarkMasked, Title: "mask_sample is set: not to be taken as a measurement"}
			}
			return c
		},
		byJSON(func(i *item) string { return i.digest.Facts.Reward })},
	{Column{Key: "masked", Title: "masked", Help: "mask_sample is set"}, false,
		func(i *item) Cell { return yesCell(i.digest.Facts.Masked) },
		byCount(func(i *item) int64 {
			if i.digest.Facts.Masked {
				return 1
			}
			return 0
		})},
	{Column{Key: "findings", Title: "findings", Grow: true, Mono: true, Help: "of the health checks on the row, in their order, then the checks that flag its task"}, true,
		findingsCell,
		byCount(func(i *item) int64 { return int64(len(i.list())) })},
	{Column{Key: "unjudged", Title: "not judged", Right: true, Help: "health checks that could not be judged on the row"}, false,
		func(i *item) Cell { return wide(int64(len(i.c.unjudged(i)))) },
		byCount(func(i *item) int64 { return int64(len(i.c.unjudged(i))) })},
	{Column{Key: "output", Title: "output items", Right: true, Help: "in response.output"}, false,
		func(i *item) Cell {
			c := countCell(i.digest.Facts.Output)
			if i.digest.Facts.Output < 0 {
				c.Text.Title = "response.output is no list"
			}
			return c
		},
		byCount(func(i *item) int64 { return int64(i.digest.Facts.Output) })},
	{Column{Key: "turns", Title: "turns", Right: true, Help: "in the saved trajectory"}, true,
		func(i *item) Cell { return countCell(i.digest.Facts.Turns) },
		byCount(func(i *item) int64 { return int64(i.digest.Facts.Turns) })},
	{Column{Key: "calls", Title: "calls", Right: true, Help: "captured model calls"}, true,
		func(i *item) Cell { return countCell(i.digest.Facts.Calls) },
		byCount(func(i *item) int64 { return int64(i.digest.Facts.Calls) })},
	{Column{Key: "failed", Title: "failed calls", Right: true, Help: "captured model calls that failed"}, false,
		func(i *item) Cell {
			if i.digest.Facts.Calls < 0 {
				return countCell(-1)
			}
			return countCell(i.failed())
		},
		byCount(func(i *item) int64 {
			if i.digest.Facts.Calls < 0 {
				return -1
			}
			return i.failed()
		})},
	{Column{Key: "prompt", Title: "prompt tok", Right: true, Help: "by the row's own usage"}, true,
		func(i *item) Cell { return numberCell(i.digest.Facts.Prompt, "the row's usage does not say") },
		byJSON(func(i *item) string { return i.digest.Facts.Prompt })},
	{Column{Key: "completion", Title: "compl. tok", Right: true, Help: "by the row's own usage"}, true,
		func(i *item) Cell { return numberCell(i.digest.Facts.Completion, "the row's usage does not say") },
		byJSON(func(i *item) string { return i.digest.Facts.Completion })},
	{Column{Key: "latency", Title: "latency", Unit: "s", Right: true, Help: "seconds of the run request, by ng_perf"}, false,
		func(i *item) Cell {
			ms := double(i.digest.Facts.Latency)
			return realCell(lax.Real{Value: ms / 1000, Set: !math.IsNaN(ms)}, 2, "ng_perf does not say")
		},
		byJSON(func(i *item) string { return i.digest.Facts.Latency })},
	{Column{Key: "attempt", Title: "attempt", Right: true, Help: "_ng_attempt_index, as saved"}, false,
		func(i *item) Cell { return numberCell(i.digest.Facts.Attempt, "the row names no attempt") },
		byJSON(func(i *item) string { return i.digest.Facts.Attempt })},
	{Column{Key: "bytes", Title: "bytes", Right: true, Help: "of the line"}, false,
		func(i *item) Cell { return Cell{Text: Text{Text: Group(i.row.Length)}} },
		byCount(func(i *item) int64 { return int64(i.row.Length) })},
	{Column{Key: "note", Title: "note", Width: 220, Help: "yours, kept in this browser"}, false,
		noteCell,
		byWord(func(i *item) string {
			if n := i.c.note(int(i.row.Ordinal)); n != nil {
				return n.Text
			}
			return ""
		})},
	{Column{Key: "file", Title: "file", Mono: true, Width: 180, Help: "name of the file"}, false,
		func(i *item) Cell { return textCell(i.c.table.Name(i.row.Source)) },
		byCount(func(i *item) int64 { return int64(i.row.Source) })},
	{Column{Key: "line", Title: "line", Right: true, Mono: true, Help: "physical line in its file, from 1"}, false,
		func(i *item) Cell { return Cell{Text: Text{Text: strconv.FormatInt(i.row.Line, 10), Mono: true}} },
		byCount(func(i *item) int64 { return int64(i.row.Line) })},
	{Column{Key: "byte", Title: "byte", Right: true, Mono: true, Help: "offset of the line in its file"}, false,
		func(i *item) Cell { return Cell{Text: Text{Text: strconv.FormatInt(i.row.Offset, 10), Mono: true}} },
		byCount(func(i *item) int64 { return int64(i.row.Offset) })},
	{Column{Key: "place", Title: "place", Right: true, Mono: true, Help: "file and physical line"}, true,
		placeCell,
		byCount(func(i *item) int64 { return int64(i.row.Ordinal) })},
}

func keyCell(k rollout.Key) Cell {
	if k.IsNone() {
		return Cell{Text: Text{Text: Dash, Muted: true, Title: "none"}}
	}
	text := k.String()
	if !k.IsInt() {
		// 7 and "7" are two tasks and must look so.
		text = strconv.Quote(text)
	}
	return Cell{Text: Text{Text: text, Mono: true}}
}

// taskCell shows a row's task. Of a line that cannot be read it is what the tolerant reading found, marked so.
func taskCell(i *item) Cell {
	r := i.recovered()
	if r == nil {
		return keyCell(i.digest.Identity.Task)
	}
	c := i.mendedCell(keyCell(r.Task))
	c.Extra = mendedMark(r)
	return c
}

func textCell(s string) Cell {
	if s == "" {
		return Cell{Text: Text{Text: Dash, Muted: true, Title: "the row does not say"}}
	}
	return Cell{Text: Text{Text: s, Title: s}, Exact: s}
}

// numberCell shows a number as saved, with separators in whole ones.
func numberCell(saved, missing string) Cell {
	if saved == "" {
		return Cell{Text: Text{Text: Dash, Muted: true, Title: missing}}
	}
	return Cell{Text: Text{Text: groupNumber(saved), Title: saved}, Exact: saved}
}

func countCell(n int64) Cell {
	if n < 0 {
		return Cell{Text: Text{Text: Dash, Muted: true, Title: "the row has no trajectory that lists them"}}
	}
	return Cell{Text: Text{Text: Group(n)}}
}

func yesCell(yes bool) Cell {
	if yes {
		return Cell{Text: Text{Text: "yes"}}
	}
	return Cell{Text: Text{Text: "no", Muted: true}}
}

func findingsCell(i *item) Cell {
	var own []string
	for _, f := range i.list() {
		own = append(own, f.Check)
	}
	flags := i.flags()
	c := Cell{Text: Text{Text: Dash, Muted: true, Title: "no finding on the row"}, Exact: strings.Join(i.fired(), " ")}
	if len(own) > 0 {
		c.Text = Text{Text: own[0], Mono: true}
	}
	switch {
	case len(own) > 1:
		c.Extra = Text{Text: "+" + strconv.Itoa(len(own)-1), Title: strings.Join(own[1:], ", ")}
		if len(flags) > 0 {
			c.Extra.Text += " and its task"
			c.Extra.Title += "; of its task: " + strings.Join(flags, ", ")
		}
	case len(flags) > 0:
		c.Extra = Text{Text: "task: " + strings.Join(flags, ", "), Title: "flags the row's task"}
	}
	return c
}

func placeCell(i *item) Cell {
	line := strconv.FormatInt(i.row.Line, 10)
	c := Cell{Text: Text{Text: line, Mono: true, Title: i.place()}, Exact: i.place()}
	if i.c.table.Sources() > 1 {
		c.Text.Text = i.place()
	}
	return c
}

// rolloutChoice is what the chooser of the table offers.
func rolloutChoice() []choosable {
	return choosables(rolloutColumns, func(c *rolloutColumn) choosable { return choosable{c.Column, c.plain} })
}

// columns gives the columns a State shows, with their heads.
func columns(s State) (list []*rolloutColumn, heads []Column) {
	all := rolloutChoice()
	for _, shown := range chosen(s, all) {
		col := &rolloutColumns[columnAt(all, shown.Key)]
		list = append(list, col)
		heads = append(heads, head(s, col.Column, shown, col.rank != nil))
	}
	return list, heads
}

// sortKey splits a State's sort into column and direction.
func sortKey(s State) (key string, down bool) {
	if len(s.Sort) > 0 && s.Sort[0] == '-' {
		return s.Sort[1:], true
	}
	return s.Sort, false
}

func (d *Desk) rollouts(c *selection, s State, found *matches, from int) *Rollouts {
	r := &Rollouts{Charts: d.rolloutCharts(c, s, found), Facts: d.rolloutFacts(c, s, found)}
	r.Table = d.rolloutTable(c, s, found, from, from+windowSize)
	return r
}

// rolloutTable is the part of the Rollouts table between two of its rows.
func (d *Desk) rolloutTable(c *selection, s State, found *matches, from, to int) Table {
	cols, heads := columns(s)
	for i := range heads {
		heads[i] = c.sized(heads[i])
	}
	t := Table{
		ID: "rollouts", Caption: "rollouts", Columns: heads, Rows: []Row{}, Height: rowHeight,
		Total: found.len(c), Window: true, Sortable: true, Movable: true, Empty: "No rollout fits the filter.",
	}
	if c.table.Rows() == 0 {
		t.Empty = "0 records: the rollouts files hold no line that is not blank."
	}
	from = max(0, min(from, t.Total-1))
	to = min(to, t.Total)
	t.From = max(from, 0)
	for n := t.From; n < to; n++ {
		i, ok := c.item(found.at(c, n))
		if !ok {
			break
		}
		t.Rows = append(t.Rows, d.rolloutRow(i, s, cols, n))
	}
	return t
}

func (d *Desk) rolloutRow(i *item, s State, cols []*rolloutColumn, n int) Row {
	place := i.place()
	row := Row{ID: place, Index: n, Rollout: place, Cells: make([]Cell, 0, len(cols))}
	row.Href = s.With(func(s *State) { s.Rollout, s.Part, s.Turn = place, "", 0 }).Href()
	for _, col := range cols {
		cell := col.cell(i)
		if col.Key == "place" {
			cell.Text.Href = row.Href
		}
		row.Cells = append(row.Cells, cell)
	}
	row.Cells[0].Note = i.c.noteHint(int(i.row.Ordinal))
	return row
}
