package view

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/rollscope/rollscope/core/metrics"
	"github.com/rollscope/rollscope/core/rollout"
)

// scoredList are the tasks of the table of scores, by a slice and in an order.
type scoredList struct {
	key     string
	tasks   []int32 // in Scores.Tasks
	repeats []rollout.Key
}

// A scoredRow is one line of the table with what its cells are made of.
type scoredRow struct {
	d    *Desk
	c    *selection
	s    State
	e    *earned
	task *metrics.TaskScore
	name string
}

// A scoredColumn is one column of the table: how it reads and what it sorts by, NaN for what is missing.
type scoredColumn struct {
	Column
	plain bool
	cell  func(*scoredRow) Cell
	value func(*metrics.TaskScore) float64 // nil where tasks are not sorted by a number
	word  func(e *earned, c *selection, t *metrics.TaskScore) string
}

var scoredColumns []scoredColumn

func init() {
	number := func(key, title, help string, plain bool, n func(*metrics.TaskScore) int) scoredColumn {
		return scoredColumn{Column{Key: key, Title: title, Right: true, Help: help}, plain,
			func(r *scoredRow) Cell { return wide(int64(n(r.task))) }, func(t *metrics.TaskScore) float64 { return float64(n(t)) }, nil}
	}
	real := func(key, title, help string, decimals int, plain bool, f func(*metrics.TaskScore) float64) scoredColumn {
		return scoredColumn{Column{Key: key, Title: title, Right: true, Help: help}, plain,
			func(r *scoredRow) Cell { return whyCell(f(r.task), decimals, r.task) }, f, nil}
	}
	scored := func(f func(*metrics.TaskScore) float64) func(*metrics.TaskScore) float64 {
		return func(t *metrics.TaskScore) float64 {
			if t.Measured == 0 {
				return math.NaN()
			}
			return f(t)
		}
	}
	scoredColumns = []scoredColumn{
		{Column{Key: "task", Title: "task", Right: true, Mono: true, Help: "task index, as saved"}, true,
			func(r *scoredRow) Cell { return keyCell(r.task.Task) }, nil, nil},
		{Column{Key: "name", Title: "name", Width: 160, Help: "where the first row gives one"}, true,
			func(r *scoredRow) Cell { return textCell(r.name) }, nil,
			func(e *earned, c *selection, t *metrics.TaskScore) string { return nameOf(e, c, t) }},
		{Column{Key: "group", Title: "group", Width: 120, Help: "agent, environment server, or what rows are grouped by"}, true,
			func(r *scoredRow) Cell { return textCell(r.task.Group) }, nil,
			func(_ *earned, _ *selection, t *metrics.TaskScore) string { return t.Group }},
		real("mean", "mean", "of the rewards that count", 3, true, scored(func(t *metrics.TaskScore) float64 { return t.Mean })),
		{Column{Key: "measured", Title: "measured", Right: true, Help: "rollouts with a reward that counts, of those that are expected; sorted by what lacks"}, true,
			func(r *scoredRow) Cell {
				return Cell{Text: Text{Text: Group(r.task.Measured)}, Extra: Text{Text: "of " + Group(r.task.Expected)}, Exact: strconv.Itoa(r.task.Measured)}
			}, func(t *metrics.TaskScore) float64 { return float64(t.Measured - t.Expected) }, nil},
		{Column{Key: "repeats", Title: "repeats", Width: 4 * boxWidth, Help: "reward of every repeat; tinted where it passes, in brackets where it is masked"}, true,
			func(r *scoredRow) Cell { return r.boxes() }, nil, nil},
		real("std", "spread", "standard deviation of the rewards", 3, true, func(t *metrics.TaskScore) float64 {
			if t.Measured < 2 {
				return math.NaN()
			}
			return t.Std
		}),
		{Column{Key: "slice", Title: "slice", Width: 160, Help: "always: every measured rollout passes; never: none does; missing: none is measured"}, true,
			func(r *scoredRow) Cell { return sliceCell(r.task) }, func(t *metrics.TaskScore) float64 { return float64(t.Slice) }, nil},
		number("passed", "passed", "rollouts whose reward reaches the threshold", false, func(t *metrics.TaskScore) int { return t.Passed }),
		real("least", "least", "reward", 3, false, func(t *metrics.TaskScore) float64 { return t.Min }),
		real("greatest", "greatest", "reward", 3, false, func(t *metrics.TaskScore) float64 { return t.Max }),
		real("passtokens", "compl. tok, passed", "mean completion tokens of the rollouts that pass", 1, true, func(t *metrics.TaskScore) float64 { return t.TokensPassed }),
		real("failtokens", "compl. tok, not", "mean completion tokens of the rollouts that do not pass", 1, true, func(t *metrics.TaskScore) float64 { return t.TokensFailed }),
		{Column{Key: "latency", Title: "latency p50", Unit: "min:s", Right: true, Help: "median of ng_perf.total_latency_ms over measured rollouts"}, true,
			func(r *scoredRow) Cell { return latencyCell(r.task.Latency) }, func(t *metrics.TaskScore) float64 { return t.Latency }, nil},
		number("failed", "failed", "rollouts known from the failures sidecar alone", false, func(t *metrics.TaskScore) int { return t.Failed }),
		number("masked", "masked", "rollouts whose score is no measurement", false, func(t *metrics.TaskScore) int { return t.Masked }),
		{Column{Key: "classes", Title: "failure classes", Mono: true, Width: 160, Help: "of the rollouts that failed"}, false,
			func(r *scoredRow) Cell { return textCell(strings.Join(r.task.Classes, ", ")) }, nil,
			func(_ *earned, _ *selection, t *metrics.TaskScore) string { return strings.Join(t.Classes, ", ") }},
	}
}

func scoredChoice() []choosable {
	return choosables(scoredColumns, func(c *scoredColumn) choosable { return choosable{c.Column, c.plain} })
}

func scoredSortKeys() []string {
	keys := []string{"task"}
	for _, col := range scoredColumns {
		if col.value != nil || col.word != nil {
			keys = append(keys, col.Key)
		}
	}
	return keys
}

// nameOf is the name of a task, where its first row gives one.
func nameOf(e *earned, c *selection, t *metrics.TaskScore) string {
	if len(t.Rows) == 0 {
		return ""
	}
	if i, ok := c.item(e.ordinal(t.Rows[0])); ok {
		return i.digest.Facts.Name
	}
	return ""
}

// whyCell is a number of a task, or the reason why there is none.
func whyCell(f float64, decimals int, t *metrics.TaskScore) Cell {
	cell := floatCell(f, decimals)
	if !math.IsNaN(f) {
		return cell
	}
	switch {
	case t.Measured > 0:
		cell.Text.Title = "too few rollouts of the task, or none of them says"
	default:
		cell.Text.Title = whyMissing(t)
	}
	return cell
}

// whyMissing says why a task has no score.
func whyMissing(t *metrics.TaskScore) string {
	var parts []string
	for _, one := range [...]struct {
		n    int
		word string
	}{{t.Failed, "failed"}, {t.Omitted, "omitted"}, {t.Masked, "masked"}, {t.Expected - t.Failed - t.Omitted - t.Masked, "without a reward or never landed"}} {
		if one.n > 0 {
			parts = append(parts, Group(one.n)+" "+one.word)
		}
	}
	if len(parts) == 0 {
		return "no rollout has a reward that counts"
	}
	return "no reward counts: " + strings.Join(parts, ", ")
}

// latencyCell writes milliseconds as minutes and seconds.
func latencyCell(ms float64) Cell {
	if math.IsNaN(ms) || math.IsInf(ms, 0) {
		return Cell{Text: Text{Text: Dash, Muted: true, Title: "no rollout has ng_perf.total_latency_ms"}}
	}
	return Cell{Text: Text{Text: clock(ms), Title: exactFloat(ms) + " ms"}, Exact: exactFloat(ms)}
}

// latencyUnit names what [clock] writes up to a number of milliseconds; short times name their unit themselves.
func latencyUnit(most float64) string {
	switch {
	case !(most >= 10_000) || most > 1e15:
		return ""
	case most < 3_599_500:
		return "min:s"
	}
	return "h:min:s"
}

// clock writes milliseconds as hours, minutes and seconds; what is shorter than ten seconds keeps its tenths.
func clock(ms float64) string {
	if ms < 10_000 {
		return fixed(max(ms, 0)/1000, 1) + " s"
	}
	if ms > 1e15 {
		return shortFloat(ms/1000) + " s"
	}
	seconds := int64(ms/1000 + 0.5)
	if seconds < 3600 {
		return fmt.Sprintf("%d:%02d", seconds/60, seconds%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", seconds/3600, seconds/60%60, seconds%60)
}

// Marks of slices: a shape beside the word.
var sliceMarks = [metrics.SliceCount]Mark{metrics.MissingTask: MarkUnknown, metrics.Always: MarkHealthy, metrics.Sometimes: MarkMasked, metrics.Never: MarkUnhealthy}

func sliceCell(t *metrics.TaskScore) Cell {
	cell := Cell{Text: Text{Text: t.Slice.String(), Mark: sliceMarks[t.Slice]}}
	if t.Slice == metrics.MissingTask {
		cell.Text.Title = whyMissing(t)
	}
	if t.Incomplete {
		cell.Extra = Text{Text: "incomplete", Title: "not every expected rollout has a reward"}
	}
	return cell
}

// mostBoxes is how many repeats of a task are written out.
const mostBoxes = 12

// boxWidth is the room of a repeat in CSS pixels.
const boxWidth = 22

// boxesWidth is the room that the repeats of a task take.
func boxesWidth(e *earned) int {
	n := len(e.listed.repeats)
	if n == 0 {
		n = min(max(e.scores.All.Pass.MaxK, 1), mostBoxes)
	}
	if !e.scores.Binary {
		n *= 2
	}
	return min(max(n*boxWidth+30, 70), 340)
}

// boxes writes the rewards of a task's repeats side by side, each a link to its rollout.
func (r *scoredRow) boxes() Cell {
	return boxesOf(r.d, r.c, r.s, r.e, r.task)
}

func boxesOf(d *Desk, c *selection, s State, e *earned, t *metrics.TaskScore) Cell {
	var cell Cell
	var exact []string
	place := func(key rollout.Key) int { return slices.Index(e.listed.repeats, key) }
	next, aligned := 0, len(e.listed.repeats) > 0
	last := rollout.Key{}
	shown := 0
	for n, row := range t.Rows {
		key := e.run.Repeat(int(row))
		if n > 0 && key == last {
			continue // a second row of the rollout
		}
		last = key
		if at := place(key); aligned && at >= 0 {
			for ; next < at && shown < mostBoxes; next++ {
				cell.Boxes = append(cell.Boxes, Box{Value: Text{Text: Dash, Muted: true, Title: "repeat " + e.listed.repeats[next].String() + " has no row"}})
				shown++
			}
			next = at + 1
		}
		reward, ok := e.run.Reward(int(row))
		text := Dash
		if ok {
			text = shortReward(reward)
		}
		exact = append(exact, key.String()+":"+text)
		if shown >= mostBoxes {
			continue
		}
		box := Box{Value: Text{Text: text, Href: d.toRow(s, c, e.ordinal(row)), Title: fmt.Sprintf("repeat %s: reward %s", key, text)}}
		switch {
		case e.run.Masked(int(row)):
			box.Value.Text = "(" + text + ")"
			box.Value.Title += ", masked"
		case ok:
			box.Solved = reward >= e.scores.Threshold
			box.Value.Title = fmt.Sprintf("repeat %s: reward %s", key, exactFloat(reward))
		default:
			box.Value.Title = fmt.Sprintf("repeat %s has no number as reward", key)
		}
		cell.Boxes = append(cell.Boxes, box)
		shown++
	}
	if more := len(exact) - shown; more > 0 && shown >= mostBoxes {
		cell.Extra = Text{Text: "+" + strconv.Itoa(more)}
	}
	if len(cell.Boxes) == 0 {
		cell.Text = Text{Text: Dash, Muted: true, Title: "the task has no row"}
	}
	cell.Exact = strings.Join(exact, " ")
	return cell
}

// shortReward writes a reward in few characters.
func shortReward(f float64) string {
	if f == math.Trunc(f) && math.Abs(f) < 1e5 {
		return strconv.FormatFloat(f, 'f', 0, 64)
	}
	if math.Abs(f) < 1000 && math.Abs(f) >= 0.01 {
		return strings.TrimRight(strings.TrimRight(strconv.FormatFloat(f, 'f', 2, 64), "0"), ".")
	}
	return strconv.FormatFloat(f, 'g', 2, 64)
}

// sliceFailed is the slice of tasks with a failed rollout; with a colon and a class behind it, of that class.
const sliceFailed = "failed"

// inSlice tells whether a task is in a slice of the State.
func inSlice(t *metrics.TaskScore, slice string) bool {
	class, byClass := strings.CutPrefix(slice, sliceFailed+":")
	switch {
	case slice == "":
		return true
	case slice == "incomplete":
		return t.Incomplete || t.Slice == metrics.MissingTask
	case slice == sliceFailed:
		return t.Failed > 0
	case byClass:
		return slices.Contains(t.Classes, class)
	}
	return t.Slice.String() == slice
}

// tasksOf lists the tasks of the table.
func (e *earned) tasksOf(c *selection, s State) []int32 {
	key := s.Sort + "\x00" + s.Setting(setSlice)
	l := &e.listed
	if l.tasks != nil && l.key == key {
		return l.tasks
	}
	*l = scoredList{key: key, tasks: []int32{}, repeats: repeatKeys(e)}
	for i := range e.scores.Tasks {
		if inSlice(&e.scores.Tasks[i], s.Setting(setSlice)) {
			l.tasks = append(l.tasks, int32(i))
		}
	}
	by, down := sortKey(s)
	at := slices.IndexFunc(scoredColumns, func(col scoredColumn) bool { return col.Key == by })
	if at < 0 {
		return l.tasks
	}
	col := &scoredColumns[at]
	task := func(i int32) *metrics.TaskScore { return &e.scores.Tasks[i] }
	switch {
	case col.value != nil:
		slices.SortStableFunc(l.tasks, func(a, b int32) int {
			x, y := col.value(task(a)), col.value(task(b))
			switch {
			case math.IsNaN(x) || math.IsNaN(y):
				return cmp.Compare(btoi(math.IsNaN(x)), btoi(math.IsNaN(y)))
			case down:
				return cmp.Compare(y, x)
			}
			return cmp.Compare(x, y)
		})
	case col.word != nil:
		words := make(map[int32]string, len(l.tasks))
		for _, i := range l.tasks {
			words[i] = col.word(e, c, task(i))
		}
		slices.SortStableFunc(l.tasks, func(a, b int32) int {
			x, y := words[a], words[b]
			switch {
			case x == "" || y == "":
				return cmp.Compare(btoi(x == ""), btoi(y == ""))
			case down:
				return strings.Compare(y, x)
			}
			return strings.Compare(x, y)
		})
	case down: // tasks are in their order
		slices.Reverse(l.tasks)
	}
	return l.tasks
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// repeatKeys are the rollout indices of the run where they are few and common to tasks, so that those of several tasks
// stand under each other.
func repeatKeys(e *earned) []rollout.Key {
	var keys []rollout.Key
	for _, r := range e.scores.All.Repeats {
		keys = append(keys, r.Index)
	}
	if len(keys) > mostBoxes {
		return nil
	}
	return keys
}

// scoredTable is the part of the table of tasks between two of its rows.
func (d *Desk) scoredTable(c *selection, s State, e *earned, from, to int) Table {
	list := e.tasksOf(c, s)
	t := Table{ID: "scored", Caption: "scores of tasks", Height: rowHeight, Columns: []Column{}, Rows: []Row{}, Total: len(list),
		Window: true, Sortable: true, Movable: true, Empty: "There are no tasks."}
	if len(e.scores.Tasks) > 0 {
		t.Empty = "No task is in this slice."
	}
	t.Note = fmt.Sprintf("%s of %s", Group(len(list)), count(len(e.scores.Tasks), "task", "tasks"))
	all := scoredChoice()
	var cols []*scoredColumn
	for _, shown := range chosen(s, all) {
		col := &scoredColumns[columnAt(all, shown.Key)]
		h := head(s, col.Column, shown, col.value != nil || col.word != nil || col.Key == "task")
		switch {
		case col.Key == "task":
			h.Chars = c.tally.series.chars["task"]
		case col.Key == "repeats" && !h.Set:
			h.Width = boxesWidth(e)
		}
		cols, t.Columns = append(cols, col), append(t.Columns, h)
	}
	t.From = max(0, min(from, t.Total-1))
	for n := t.From; n < min(to, t.Total); n++ {
		task := &e.scores.Tasks[list[n]]
		r := &scoredRow{d, c, s, e, task, nameOf(e, c, task)}
		row := Row{ID: "scored-" + strconv.Itoa(int(list[n])), Index: n, Cells: make([]Cell, 0, len(cols))}
		if len(task.Rows) > 0 {
			row.Href = s.ToTab("rollouts").With(func(s *State) { s.Filter = withTerm(s.Filter, taskTerm(task.Task)) }).Href()
		}
		for _, col := range cols {
			row.Cells = append(row.Cells, col.cell(r))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
