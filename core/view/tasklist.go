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

	keys      []rollout.Key // of the tasks: those with rows, then those without any
	gapStarts []int32
	gaps      []gap // expected rollouts without a row, by task as the list is
}

// A gap is an expected rollout without a row.
type gap struct {
	number int32 // of the expected rollout
	at     int32 // its rollout index, −1 where that is no small number
}

// without gives the expected rollouts of a task that have no row, in the order of the inputs.
func (g *taskGroups) without(task int32) []gap {
	if g.gapStarts == nil {
		return nil
	}
	return g.gaps[g.gapStarts[task]:g.gapStarts[task+1]]
}

// of gives the ordinals of a task's rows, in the order of the files.
func (g *taskGroups) of(task int32) []int32 {
	if int(task)+1 >= len(g.starts) {
		return nil
	}
	return g.list[g.starts[task]:g.starts[task+1]]
}

// A taskLine is what some rows of a task come to.
type taskLine struct {
	task       int32 // index in the series
	first      int32 // ordinal of the first row of the task, be it among them or not; −1 where it has none
	rows       int32
	verdicts   [3]int32
	scored     int32 // rows that are not masked and have a number as reward
	solved     int32 // of them those with reward 1
	sum        float64
	least, top float64
	missing    [3]int32 // expected rollouts without a result: failed, omitted, unknown
}

// without is how many expected rollouts have no result.
func (l *taskLine) without() int32 { return l.missing[0] + l.missing[1] + l.missing[2] }

func (l *taskLine) add(c *selection, ordinal int) {
	columns := &c.tally.series
	l.rows++
	if v := c.verdictOf(ordinal); int(v) < len(l.verdicts) {
		l.verdicts[v]++
	}
	reward := columns.reward[ordinal]
	if columns.masked[ordinal] || math.IsNaN(reward) || c.history(ordinal) {
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

// history tells whether another record than a row decides about its rollout, or the row is no result.
func (c *selection) history(ordinal int) bool {
	if c.fated == nil || ordinal >= len(c.fated.rows) {
		return false
	}
	r := &c.fated.rows[ordinal]
	return r.fate >= fateFailed || r.want >= 0 && !r.speaks
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
	g.keys = columns.tasks
	g.gather(c)
	for t := range g.totals {
		line := &g.totals[t]
		line.task, line.first = int32(t), -1
		for n, ordinal := range g.of(int32(t)) {
			if n == 0 {
				line.first = ordinal
			}
			line.add(c, int(ordinal))
		}
	}
	g.repeats = layOut(columns, g)
	return g
}

// gather finds the tasks of the expected rollouts without a result. Tasks without any row come behind the others.
func (g *taskGroups) gather(c *selection) {
	f := c.fated
	if f == nil || len(f.wants) == 0 {
		g.totals = make([]taskLine, len(g.keys))
		return
	}
	g.keys = slices.Clone(g.keys)
	more := map[rollout.Key]int32{}
	type missing struct {
		task, at int32
	}
	tasks := make([]missing, 0, 64)
	numbers := []int32{}
	for number := range f.wants {
		w := &f.wants[number]
		if w.row >= 0 && w.fate < fateFailed {
			continue
		}
		m := missing{at: -1}
		if w.row >= 0 {
			m.task = c.tally.series.task[w.row]
		} else {
			_, e := f.rollout(number)
			key := keyOfJSON(e.Task)
			known := false
			if m.task, known = c.tally.series.taskOf[key]; !known {
				if m.task, known = more[key]; !known {
					m.task = int32(len(g.keys))
					more[key] = m.task
					g.keys = append(g.keys, key)
				}
			}
			if at, small := indexOfRepeat(keyOfJSON(e.Index)); small {
				m.at = int32(at)
			}
		}
		tasks, numbers = append(tasks, m), append(numbers, int32(number))
	}
	g.totals = make([]taskLine, len(g.keys))
	g.gapStarts = make([]int32, len(g.keys)+1)
	for i, m := range tasks {
		w := &f.wants[numbers[i]]
		if w.fate >= fateFailed {
			g.totals[m.task].missing[w.fate-fateFailed]++
		}
		if w.row < 0 {
			g.gapStarts[m.task+1]++
		}
	}
	for t := range g.keys {
		g.gapStarts[t+1] += g.gapStarts[t]
	}
	g.gaps = make([]gap, g.gapStarts[len(g.keys)])
	next := slices.Clone(g.gapStarts)
	for i, m := range tasks {
		if f.wants[numbers[i]].row < 0 {
			g.gaps[next[m.task]] = gap{numbers[i], m.at}
			next[m.task]++
		}
	}
}

// taskList is the list of tasks that a State shows: those with a row that fits the filter, counted over such rows.
type taskList struct {
	key   string
	lines []taskLine
	fits  []uint64 // rows that fit the filter; nil for all
	gaps  []uint64 // expected rollouts without a row that do
}

// hasGap tells whether an expected rollout without a row fits the filter.
func (t *taskList) hasGap(number int32) bool {
	return t.fits == nil || t.gaps != nil && t.gaps[number/64]&(1<<(number%64)) != 0
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
		if f := c.fated; f != nil && len(g.gaps) > 0 {
			t.gaps = make([]uint64, len(f.wants)/64+1)
			for task := range lines {
				for _, gap := range g.without(int32(task)) {
					if found.filter.Match(wantRow{f, int(gap.number)}) {
						t.gaps[gap.number/64] |= 1 << (gap.number % 64)
						if fate := f.wants[gap.number].fate; fate >= fateFailed {
							lines[task].missing[fate-fateFailed]++
						}
					}
				}
			}
		}
		for i := range lines {
			if lines[i].rows > 0 || lines[i].without() > 0 {
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
	if c.report == nil || l.first < 0 {
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
	keys := c.groups().keys
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
	return byText(down, c.agentOf)
}

// agentOf names the agent of a task: of its first row, else of its first expected rollout.
func (c *selection) agentOf(l *taskLine) string {
	columns := &c.tally.series
	if l.first >= 0 {
		if i := columns.agent[l.first]; i >= 0 {
			return columns.agents[i]
		}
		return ""
	}
	for _, gap := range c.groups().without(l.task) {
		if _, e := c.fated.rollout(int(gap.number)); e.HasAgent {
			return e.Agent
		}
	}
	return ""
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
	last, spread := 0, false
	for t := range g.totals {
		most = max(most, len(g.of(int32(t)))+len(g.without(int32(t))))
		for _, gap := range g.without(int32(t)) {
			spread = spread || gap.at < 0
			last = max(last, int(gap.at))
		}
	}
	if spread {
		return repeatLayout{columns: most}
	}
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
	number  int32 // of an expected rollout without a row; −1 for none
}

// cells lays the rows of a task out, into a slice of as many cells as the grid has columns.
func (c *selection) cells(cells []gridCell, task int32) {
	g, columns := c.groups(), &c.tally.series
	for i := range cells {
		cells[i] = gridCell{ordinal: -1, number: -1}
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
	for n, gap := range g.without(task) {
		at := len(rows) + n
		if g.repeats.byIndex {
			at = int(gap.at)
		}
		if at < len(cells) && cells[at].ordinal < 0 && cells[at].number < 0 {
			cells[at].number = gap.number
		}
	}
}

// fateIn is what became of the rollout of a cell, where that is not told by the verdict and the reward of its row.
func (c *selection) fateIn(cell gridCell) fate {
	f := c.fated
	switch {
	case cell.number >= 0:
		return f.wants[cell.number].fate
	case f != nil && cell.ordinal >= 0 && f.rows[cell.ordinal].fate >= fateFailed:
		return f.rows[cell.ordinal].fate
	}
	return noFate
}
