package view

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/rollscope/rollscope/core/health"
	"github.com/rollscope/rollscope/core/order"
	"github.com/rollscope/rollscope/core/rollout"
)

// taskGroups are the rows of a selection by task, with what they come to: filter fields and charts speak of whole
// tasks, whatever rows are looked at.
type taskGroups struct {
	rows    int  // that were there
	judged  bool // verdicts were those of the report
	starts  []int32
	list    []int32 // ordinals by task; those of task t are list[starts[t]:starts[t+1]]
	totals  []taskLine
	repeats repeatLayout
}

// of gives the ordinals of a task's rows, in the order of the files.
func (g *taskGroups) of(task int32) []int32 { return g.list[g.starts[task]:g.starts[task+1]] }

// A taskLine is what some rows of a task come to.
type taskLine struct {
	task       int32 // index in the series
	first      int32 // ordinal of the first row of the task, be it among them or not
	rows       int32
	verdicts   [3]int32
	scored     int32 // rows that are not masked and have a number as reward
	solved     int32 // of them those with reward 1
	sum        float64
	least, top float64
}

func (l *taskLine) add(c *selection, ordinal int) {
	columns := &c.tally.series
	l.rows++
	if v := c.verdictOf(ordinal); int(v) < len(l.verdicts) {
		l.verdicts[v]++
	}
	reward := columns.reward[ordinal]
	if columns.masked[ordinal] || math.IsNaN(reward) {
		return
	}
	if l.scored == 0 {
		l.least, l.top = reward, reward
	}
	l.scored++
	l.sum += reward
	l.least, l.top = min(l.least, reward), max(l.top, reward)
	if reward == 1 {
		l.solved++
	}
}

// mean is NaN where nothing is scored.
func (l *taskLine) mean() float64 { return l.sum / float64(l.scored) }

func (l *taskLine) share() float64 { return float64(l.solved) / float64(l.scored) }

func (l *taskLine) spread() float64 {
	if l.scored == 0 {
		return math.NaN()
	}
	return l.top - l.least
}

// groups gives the rows by task.
func (c *selection) groups() *taskGroups {
	g, columns := &c.grouped, &c.tally.series
	if g.starts != nil && g.rows == c.table.Rows() && g.judged == (c.report != nil) {
		return g
	}
	c.tally.count(c.table, c.rules)
	*g = taskGroups{rows: columns.rows(), judged: c.report != nil, starts: make([]int32, len(columns.tasks)+1), list: make([]int32, columns.rows())}
	for _, t := range columns.task {
		g.starts[t+1]++
	}
	for t := range columns.tasks {
		g.starts[t+1] += g.starts[t]
	}
	next := slices.Clone(g.starts)
	for ordinal, t := range columns.task {
		g.list[next[t]] = int32(ordinal)
		next[t]++
	}
	g.totals = make([]taskLine, len(columns.tasks))
	for t := range g.totals {
		line := &g.totals[t]
		line.task, line.first = int32(t), g.of(int32(t))[0]
		for _, ordinal := range g.of(int32(t)) {
			line.add(c, int(ordinal))
		}
	}
	g.repeats = layOut(columns, g)
	return g
}

// taskList is the list of tasks that a State shows: those with a row that fits the filter, counted over such rows.
type taskList struct {
	key   string
	lines []taskLine
	fits  []uint64 // rows that fit the filter; nil for all
}

func (t *taskList) has(ordinal int32) bool {
	return t.fits == nil || t.fits[ordinal/64]&(1<<(ordinal%64)) != 0
}

// listed gives the list of tasks of a State. It is kept until filter, sort or rows change.
func (d *Desk) listed(c *selection, s State) *taskList {
	g := c.groups()
	found := d.filter(c, s.With(func(s *State) { s.Tab, s.Rollout = "tasks", "" }))
	key := fmt.Sprint(found.serial, g.rows, g.judged, s.Sort)
	t := &c.listed
	if t.lines != nil && t.key == key {
		return t
	}
	*t = taskList{key: key, lines: []taskLine{}}
	if found.all {
		t.lines = slices.Clone(g.totals)
	} else {
		t.fits = make([]uint64, g.rows/64+1)
		lines := make([]taskLine, len(g.totals))
		for ordinal := range found.each(c) {
			t.fits[ordinal/64] |= 1 << (ordinal % 64)
			lines[c.tally.series.task[ordinal]].add(c, ordinal)
		}
		for i := range lines {
			if lines[i].rows > 0 {
				lines[i].task, lines[i].first = g.totals[i].task, g.totals[i].first
				t.lines = append(t.lines, lines[i])
			}
		}
	}
	// Tasks are numbered in order of their first rows.
	key, down := sortKey(s)
	if i := slices.IndexFunc(taskColumns, func(col taskColumn) bool { return col.Key == key && col.order != nil }); i >= 0 {
		compare := taskColumns[i].order(c, down)
		slices.SortStableFunc(t.lines, func(a, b taskLine) int { return compare(&a, &b) })
	}
	return t
}

// flags are the task checks that flagged a task.
func (c *selection) flags(l *taskLine) []string {
	if c.report == nil {
		return nil
	}
	if t := c.report.TaskOf(int(l.first)); t >= 0 {
		return c.report.Task(t).Flags
	}
	return nil
}

// taskNames are the names of all tasks, by their first rows.
func (c *selection) taskNames() []string {
	g := c.groups()
	names := make([]string, len(g.totals))
	for t := range g.totals {
		if i, ok := c.item(int(g.totals[t].first)); ok {
			names[t] = i.digest.Facts.Name
		}
	}
	return names
}

// An ordering makes the comparison that tasks are sorted by, upwards or downwards.
type ordering func(c *selection, down bool) func(a, b *taskLine) int

// byNumber orders by a number. What has none comes last in both directions.
func byNumber(number func(*taskLine) float64) ordering {
	return func(_ *selection, down bool) func(a, b *taskLine) int {
		return func(a, b *taskLine) int {
			x, y := number(a), number(b)
			switch {
			case math.IsNaN(x) && math.IsNaN(y):
				return 0
			case math.IsNaN(x):
				return 1
			case math.IsNaN(y):
				return -1
			case down:
				return cmp.Compare(y, x)
			}
			return cmp.Compare(x, y)
		}
	}
}

func byVerdict(v health.Verdict) ordering {
	return byNumber(func(l *taskLine) float64 { return float64(l.verdicts[v]) })
}

func byKey(c *selection, down bool) func(a, b *taskLine) int {
	keys := c.tally.series.tasks
	return turned(down, func(a, b *taskLine) int { return keys[a.task].Compare(keys[b.task]) })
}

func byName(c *selection, down bool) func(a, b *taskLine) int {
	names := c.taskNames()
	var known words[string]
	at := make([]int32, len(names))
	for i, name := range names {
		at[i] = -1
		if name != "" {
			at[i] = int32(known.intern(name))
		}
	}
	places := known.places(order.Name)
	return byNumber(func(l *taskLine) float64 {
		if at[l.task] < 0 {
			return math.NaN()
		}
		return float64(places[at[l.task]])
	})(c, down)
}

func byAgent(c *selection, down bool) func(a, b *taskLine) int {
	columns := &c.tally.series
	return byText(down, func(l *taskLine) string {
		if i := columns.agent[l.first]; i >= 0 {
			return columns.agents[i]
		}
		return ""
	})
}

func byFlags(c *selection, down bool) func(a, b *taskLine) int {
	return turned(down, func(a, b *taskLine) int { return cmp.Compare(len(c.flags(a)), len(c.flags(b))) })
}

// byText orders by a text; what has none comes last in both directions.
func byText(down bool, text func(*taskLine) string) func(a, b *taskLine) int {
	return func(a, b *taskLine) int {
		x, y := text(a), text(b)
		switch {
		case x == "" && y == "":
			return 0
		case x == "":
			return 1
		case y == "":
			return -1
		case down:
			return order.Name(y, x)
		}
		return order.Name(x, y)
	}
}

func turned(down bool, compare func(a, b *taskLine) int) func(a, b *taskLine) int {
	if !down {
		return compare
	}
	return func(a, b *taskLine) int { return compare(b, a) }
}

// repeatLayout says which column of the grid a repeat stands in.
type repeatLayout struct {
	columns int
	byIndex bool // the rollout index is the column; otherwise rows stand side by side in order of their index
}

// widestIndex is the largest rollout index that is a column of its own.
const widestIndex = 1023

// layOut takes the rollout indices for columns where they are small whole numbers and fill the grid fairly well.
func layOut(columns *series, g *taskGroups) repeatLayout {
	most := 0
	for t := range g.totals {
		most = max(most, len(g.of(int32(t))))
	}
	last := 0
	for _, key := range columns.repeats {
		n, ok := indexOfRepeat(key)
		if !ok {
			return repeatLayout{columns: most}
		}
		last = max(last, n)
	}
	if last+1 > 4*most+8 {
		return repeatLayout{columns: most}
	}
	return repeatLayout{columns: last + 1, byIndex: true}
}

func indexOfRepeat(key rollout.Key) (int, bool) {
	if !key.IsInt() || key.Int.Negative || key.Int.Magnitude > widestIndex {
		return 0, false
	}
	return int(key.Int.Magnitude), true
}

// A gridCell is what stands in one place of the grid.
type gridCell struct {
	ordinal int32 // of the first row; −1 where there is none
	rows    int   // with the same place
}

// cells lays the rows of a task out, into a slice of as many cells as the grid has columns.
func (c *selection) cells(cells []gridCell, task int32) {
	g, columns := c.groups(), &c.tally.series
	for i := range cells {
		cells[i] = gridCell{ordinal: -1}
	}
	rows := g.of(task)
	if !g.repeats.byIndex {
		rows = slices.Clone(rows)
		slices.SortStableFunc(rows, func(a, b int32) int {
			return columns.repeats[columns.repeat[a]].Compare(columns.repeats[columns.repeat[b]])
		})
	}
	for n, ordinal := range rows {
		at := n
		if g.repeats.byIndex {
			at, _ = indexOfRepeat(columns.repeats[columns.repeat[ordinal]])
		}
		if at >= len(cells) {
			continue
		}
		if cells[at].rows++; cells[at].rows == 1 {
			cells[at].ordinal = ordinal
		}
	}
}
