package view

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/rollscope/rollscope/core/compare"
	"github.com/rollscope/rollscope/core/metrics"
)

// A pairRow is one line of the table of tasks that both runs have.
type pairRow struct {
	d    *Desk
	s    State
	m    *comparison
	pair *compare.Pair
}

func (r *pairRow) task(i int) *metrics.TaskScore {
	if i == 0 {
		return r.pair.Baseline
	}
	return r.pair.Candidate
}

// A pairColumn is one column of that table. Tasks without a value to sort by come last.
type pairColumn struct {
	Column
	plain bool
	cell  func(*pairRow) Cell
	value func(m *comparison, p *compare.Pair) float64
	word  func(m *comparison, p *compare.Pair) string
}

var pairColumns []pairColumn

func init() {
	mean := func(i int) func(*comparison, *compare.Pair) float64 {
		return func(_ *comparison, p *compare.Pair) float64 {
			t := (&pairRow{pair: p}).task(i)
			if t.Measured == 0 {
				return math.NaN()
			}
			return t.Mean
		}
	}
	repeats := func(i int) func(*pairRow) Cell {
		return func(r *pairRow) Cell {
			side := &r.m.sides[i]
			return boxesOf(r.d, side.c, r.s, side.e, r.task(i))
		}
	}
	meanCellOf := func(i int) func(*pairRow) Cell {
		return func(r *pairRow) Cell { return whyCell(mean(i)(r.m, r.pair), 3, r.task(i)) }
	}
	// both shows a number of each side with an arrow between.
	both := func(text func(r *pairRow, i int) Text) func(*pairRow) Cell {
		return func(r *pairRow) Cell {
			a, b := text(r, 0), text(r, 1)
			return Cell{Text: Text{Text: a.Text + " → " + b.Text, Title: a.Title + " → " + b.Title}}
		}
	}
	tokens := func(t *metrics.TaskScore) float64 {
		n, sum := 0, 0.0
		if !math.IsNaN(t.TokensPassed) {
			n, sum = n+t.Passed, sum+t.TokensPassed*float64(t.Passed)
		}
		if rest := t.Measured - t.Passed; !math.IsNaN(t.TokensFailed) {
			n, sum = n+rest, sum+t.TokensFailed*float64(rest)
		}
		return sum / float64(n)
	}
	short := func(f float64, text func(float64) string) Text {
		if !finiteRange(f, f) {
			return Text{Text: Dash, Title: "no row says"}
		}
		return Text{Text: text(f), Title: exactFloat(f)}
	}
	pairColumns = []pairColumn{
		{Column{Key: "task", Title: "task", Right: true, Mono: true, Help: "task index in the baseline"}, true,
			func(r *pairRow) Cell { return keyCell(r.pair.Baseline.Task) }, nil, nil},
		{Column{Key: "name", Title: "name", Width: 132, Help: "where a row gives one"}, true,
			func(r *pairRow) Cell { return textCell(r.m.nameOf(r.pair)) }, nil,
			func(m *comparison, p *compare.Pair) string { return m.nameOf(p) }},
		{Column{Key: "group", Title: "agent", Width: 104, Help: "or environment server"}, true,
			func(r *pairRow) Cell { return textCell(r.pair.Baseline.Group) }, nil,
			func(_ *comparison, p *compare.Pair) string { return p.Baseline.Group }},
		{Column{Key: "move", Title: "move", Width: 112, Help: "what became of the task"}, true,
			func(r *pairRow) Cell { return moveCell(r.pair.Move) }, func(_ *comparison, p *compare.Pair) float64 { return float64(p.Move) }, nil},
		{Column{Key: "before", Title: "baseline", Help: "rewards of the repeats in the baseline"}, true, repeats(0), nil, nil},
		{Column{Key: "mean", Title: "mean", Right: true, Help: "in the baseline"}, true, meanCellOf(0), mean(0), nil},
		{Column{Key: "after", Title: "candidate", Help: "rewards of the repeats in the candidate"}, true, repeats(1), nil, nil},
		{Column{Key: "newmean", Title: "mean", Right: true, Help: "in the candidate"}, true, meanCellOf(1), mean(1), nil},
		{Column{Key: "delta", Title: "Δ", Right: true, Help: "candidate minus baseline"}, true,
			func(r *pairRow) Cell {
				if !r.pair.Delta.OK {
					return Cell{Text: Text{Text: Dash, Muted: true, Title: "a side has no reward that counts"}}
				}
				return signedFloat(r.pair.Delta.X, 3)
			}, func(_ *comparison, p *compare.Pair) float64 {
				if !p.Delta.OK {
					return math.NaN()
				}
				return p.Delta.X
			}, nil},
		{Column{Key: "unhealthy", Title: "unhealthy", Right: true, Help: "unhealthy rollouts of the task; sorted by how many more there are"}, true,
			both(func(r *pairRow, i int) Text {
				n := r.m.sides[i].unhealthy(r.task(i))
				return Text{Text: Group(n), Title: Group(n) + " of " + Group(len(r.task(i).Rows))}
			}), func(m *comparison, p *compare.Pair) float64 {
				return float64(m.sides[1].unhealthy(p.Candidate) - m.sides[0].unhealthy(p.Baseline))
			}, nil},
		{Column{Key: "tokens", Title: "compl. tok", Right: true, Help: "mean completion tokens; sorted by the change"}, false,
			both(func(r *pairRow, i int) Text { return short(tokens(r.task(i)), metricText) }),
			func(_ *comparison, p *compare.Pair) float64 { return tokens(p.Candidate) - tokens(p.Baseline) }, nil},
		{Column{Key: "latency", Title: "latency p50", Unit: "min:s", Right: true, Help: "sorted by the change"}, true,
			both(func(r *pairRow, i int) Text { return short(r.task(i).Latency, clock) }),
			func(_ *comparison, p *compare.Pair) float64 { return p.Candidate.Latency - p.Baseline.Latency }, nil},
	}
}

func pairChoice() []choosable {
	return choosables(pairColumns, func(c *pairColumn) choosable { return choosable{c.Column, c.plain} })
}

func pairSortKeys() []string {
	keys := []string{"task"}
	for _, col := range pairColumns {
		if col.value != nil || col.word != nil {
			keys = append(keys, col.Key)
		}
	}
	return keys
}

// Marks of moves: a shape beside the word.
var moveMarks = map[compare.Move]Mark{
	compare.ToPass: MarkHealthy, compare.Higher: MarkHealthy, compare.ToFail: MarkUnhealthy, compare.Lower: MarkUnhealthy, compare.NotScored: MarkUnscored, compare.Tied: MarkUnobserved,
}

func moveCell(move compare.Move) Cell {
	for _, w := range moveWords {
		if w.move == move {
			word, _, _ := strings.Cut(w.word, ",")
			return Cell{Text: Text{Text: word, Mark: moveMarks[move]}}
		}
	}
	return Cell{}
}

// nameOf is the name of a task that both runs have.
func (m *comparison) nameOf(p *compare.Pair) string {
	if name := nameOf(m.sides[0].e, m.sides[0].c, p.Baseline); name != "" {
		return name
	}
	return nameOf(m.sides[1].e, m.sides[1].c, p.Candidate)
}

// shows tells whether the table lists a move.
func shows(move compare.Move, chosen string) bool {
	switch chosen {
	case "all":
		return true
	case "":
		return move == compare.ToFail || move == compare.ToPass || move == compare.Lower || move == compare.Higher
	}
	for _, w := range moveWords {
		if w.key == chosen {
			return w.move == move
		}
	}
	return false
}

// pairs lists the tasks of the table.
func (m *comparison) pairs(s State) []int32 {
	key := s.Sort + "\x00" + s.Setting(setMove)
	if m.list != nil && m.listKey == key {
		return m.list
	}
	m.listKey, m.list = key, []int32{}
	for i := range m.align.Pairs {
		if shows(m.align.Pairs[i].Move, s.Setting(setMove)) {
			m.list = append(m.list, int32(i))
		}
	}
	by, down := sortKey(s)
	at := slices.IndexFunc(pairColumns, func(col pairColumn) bool { return col.Key == by })
	if at < 0 {
		return m.list
	}
	col := &pairColumns[at]
	pair := func(i int32) *compare.Pair { return &m.align.Pairs[i] }
	flip := func(c int) int {
		if down {
			return -c
		}
		return c
	}
	switch {
	case col.value != nil:
		values := make(map[int32]float64, len(m.list))
		for _, i := range m.list {
			values[i] = col.value(m, pair(i))
		}
		slices.SortStableFunc(m.list, func(a, b int32) int {
			x, y := values[a], values[b]
			if math.IsNaN(x) || math.IsNaN(y) {
				return cmp.Compare(btoi(math.IsNaN(x)), btoi(math.IsNaN(y)))
			}
			return flip(cmp.Compare(x, y))
		})
	case col.word != nil:
		words := make(map[int32]string, len(m.list))
		for _, i := range m.list {
			words[i] = col.word(m, pair(i))
		}
		slices.SortStableFunc(m.list, func(a, b int32) int {
			x, y := words[a], words[b]
			if x == "" || y == "" {
				return cmp.Compare(btoi(x == ""), btoi(y == ""))
			}
			return flip(strings.Compare(x, y))
		})
	case col.Key == "task":
		slices.SortStableFunc(m.list, func(a, b int32) int { return flip(pair(a).Baseline.Task.Compare(pair(b).Baseline.Task)) })
	}
	return m.list
}

// pairTable is the part of the table of tasks between two of its rows.
func (d *Desk) pairTable(s State, m *comparison, from, to int) Table {
	list := m.pairs(s)
	t := Table{ID: "pairs", Caption: "tasks of both runs", Height: rowHeight, Columns: []Column{}, Rows: []Row{}, Total: len(list), Window: true, Sortable: true, Movable: true,
		Empty: "No task has moved."}
	switch {
	case len(m.align.Pairs) == 0:
		t.Empty = "The runs have no task in common."
	case s.Setting(setMove) != "":
		t.Empty = "No task has moved so."
	}
	all := pairChoice()
	var cols []*pairColumn
	for _, shown := range chosen(s, all) {
		col := &pairColumns[columnAt(all, shown.Key)]
		h := head(s, col.Column, shown, col.value != nil || col.word != nil || col.Key == "task")
		if !h.Set && (col.Key == "before" || col.Key == "after") {
			h.Width = boxesWidth(m.sides[btoi(col.Key == "after")].e)
		}
		cols, t.Columns = append(cols, col), append(t.Columns, h)
	}
	for i := range m.sides {
		m.sides[i].e.tasksOf(m.sides[i].c, State{}) // where repeats stand
	}
	t.From = max(0, min(from, t.Total-1))
	for n := t.From; n < min(to, t.Total); n++ {
		r := &pairRow{d, s, m, &m.align.Pairs[list[n]]}
		row := Row{ID: "pair-" + strconv.Itoa(int(list[n])), Index: n, Href: d.toTalks(s, m, r.pair), Cells: make([]Cell, 0, len(cols))}
		for _, col := range cols {
			row.Cells = append(row.Cells, col.cell(r))
		}
		t.Rows = append(t.Rows, row)
	}
	t.Note = fmt.Sprintf("%s of %s; a row opens one rollout of each run side by side", Group(len(list)), count(len(m.align.Pairs), "common task", "common tasks"))
	return t
}

// toTalks is the link to a rollout of each side: where the task has moved, to ones that show it.
func (d *Desk) toTalks(s State, m *comparison, p *compare.Pair) string {
	places := [2]string{}
	better := p.Delta.OK && p.Delta.X > 0
	var repeat = -1
	for i, t := range [...]*metrics.TaskScore{p.Baseline, p.Candidate} {
		side := &m.sides[i]
		best := -1
		// The worse side shows its worst rollout, the better one its best; of equals the same repeat.
		for n, row := range t.Rows {
			x, ok := side.e.run.Reward(int(row))
			if !ok || side.e.run.Masked(int(row)) {
				continue
			}
			if best < 0 {
				best = n
				continue
			}
			y, _ := side.e.run.Reward(int(t.Rows[best]))
			up := better == (i == 1)
			if p.Delta.OK && p.Delta.X != 0 && (up && x > y || !up && x < y) {
				best = n
			}
			if x == y && i == 1 && n == repeat {
				best = n
			}
		}
		if best < 0 && len(t.Rows) > 0 {
			best = 0
		}
		if best < 0 {
			return ""
		}
		repeat = best
		row, ok := side.c.table.Row(side.e.ordinal(t.Rows[best]))
		if !ok {
			return ""
		}
		places[i] = placeOf(side.c.table, &row)
	}
	return s.Choose(setLeft, places[0]).Choose(setRight, places[1]).Href()
}

// folded says how many tasks the table leaves out because nothing happened to them.
func (m *comparison) folded(s State) Text {
	if s.Setting(setMove) != "" {
		return Text{Text: "Show those that moved", Href: s.Choose(setMove, "").Href()}
	}
	n := &m.align.Counts
	var parts []string
	if n[compare.Same] > 0 {
		parts = append(parts, count(n[compare.Same], "task the same", "tasks the same"))
	}
	if n[compare.Tied] > 0 {
		parts = append(parts, Group(n[compare.Tied])+" tied")
	}
	if n[compare.NotScored] > 0 {
		parts = append(parts, Group(n[compare.NotScored])+" not scored")
	}
	if len(parts) == 0 {
		return Text{}
	}
	return Text{Text: strings.Join(parts, " and ") + ": show all", Href: s.Choose(setMove, "all").Href()}
}

// mostOnly bounds the tasks of one side that are listed.
const mostOnly = 300

// onlyTable lists the tasks that one run alone has.
func (d *Desk) onlyTable(s State, side *side, list []*metrics.TaskScore, id string) Table {
	if len(list) == 0 {
		return Table{}
	}
	t := Table{ID: id, Caption: "tasks of one run", Height: 22, Rows: []Row{}, Total: min(len(list), mostOnly), Columns: []Column{
		{Key: "task", Title: "task", Right: true, Mono: true}, {Key: "name", Title: "name", Grow: true}, {Key: "group", Title: "agent"}, {Key: "measured", Title: "measured", Right: true}, {Key: "mean", Title: "mean", Right: true}, {Key: "place", Title: "first place", Mono: true},
	}}
	for n, task := range list {
		if n == mostOnly {
			t.Note = fmt.Sprintf("the first %s of %s", Group(n), Group(len(list)))
			break
		}
		row := Row{ID: id + "-" + strconv.Itoa(n), Index: n, Cells: []Cell{keyCell(task.Task), textCell(nameOf(side.e, side.c, task)), textCell(task.Group),
			{Text: Text{Text: Group(task.Measured)}, Extra: Text{Text: "of " + Group(task.Expected)}, Exact: strconv.Itoa(task.Measured)},
			whyCell(map[bool]float64{true: task.Mean, false: math.NaN()}[task.Measured > 0], 3, task), {Text: Text{Text: Dash, Muted: true, Title: "the task has no row"}}}}
		if len(task.Rows) > 0 {
			if i, ok := side.c.item(side.e.ordinal(task.Rows[0])); ok {
				row.Cells[5].Text = Text{Text: i.place(), Mono: true, Href: d.toRow(s, side.c, side.e.ordinal(task.Rows[0]))}
			}
		}
		t.Rows = append(t.Rows, row)
	}
	t.Links = exports(id)
	return t
}
