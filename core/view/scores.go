package view

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/rollscope/rollscope/core/metrics"
	"github.com/rollscope/rollscope/core/view/filter"
)

// Scores is the tab of that name: rewards, pass@k, tasks, and what was left out.
type Scores struct {
	Name    string // of the primary metric
	Number  Fact
	Lines   []Text  // its interval, the mean over tasks, what the file says
	Parts   []Share // of what is known of: measured, and left out for one reason after the other
	Parted  string
	Facts   []Fact
	Notes   []Text // what is not known yet, or cannot be
	At, By  Control
	Charts  []Chart
	Axes    [2]Control // of the scatter
	Passes  Table
	Repeats Table
	Groups  Table
	Slices  Table
	Fields  Table
	Saved   []SavedScores
	Table   Table
}

// A Control is something that a person can set: by one of its choices, or by a value of their own.
type Control struct {
	Setting string // name of the State's setting, for the script; "" where choices are all there is
	Label   string
	Value   string
	Hint    string // stands in an empty box
	Help    string
	Error   string // why the value means nothing
	Choices []Choice
	Many    bool // the choices are too many to stand side by side
}

var scoresPane = pane{
	there: func(_ *Desk, c *selection) bool { return c.table.Rows() > 0 },
	show:  (*Desk).showScores,
	table: (*Desk).scoresTable,
	charts: func(p *Page) []Chart {
		if p.Scores == nil {
			return nil
		}
		return p.Scores.Charts
	},
}

func (d *Desk) showScores(c *selection, r *request) []Need {
	if needs := d.scorePapers(c); len(needs) > 0 {
		return needs
	}
	s := r.state
	e := d.earned(c, s, r.found)
	all := &e.scores.All
	p := &Scores{Name: "mean/reward", Facts: []Fact{}, Notes: d.scoreNotes(c, s, e), Charts: []Chart{}}
	p.Number, p.Lines = headline(e)
	p.Parts, p.Parted = d.scoreParts(c, s, e)
	p.At, p.By = atControl(s, e), byControl(s, e)
	p.Facts = scoreFacts(s, e)
	saved := d.agreement(c, e)
	for _, text := range saved.lines(s) {
		p.Lines = append(p.Lines, text)
	}
	for _, chart := range []func(*Desk, *selection, State, *earned) (Chart, bool){(*Desk).passChart, (*Desk).solvedChart, (*Desk).rewardChart} {
		if made, ok := chart(d, c, s, e); ok {
			p.Charts = append(p.Charts, made)
		}
	}
	if chart, axes, ok := d.scatterChart(c, s, e); ok {
		p.Charts = append(p.Charts, chart)
		p.Axes = axes
	}
	p.Passes, p.Repeats, p.Groups, p.Slices = passTable(all), repeatTable(e), groupTable(c, s, e), d.sliceTable(c, s, e)
	p.Fields = fieldTable(e, saved)
	p.Saved = saved.tables(s)
	p.Table = d.scoredTable(c, s, e, r.windows["scored"], r.windows["scored"]+windowSize)
	r.page.Scores = p
	r.page.Stats = append(r.page.Stats, scoreStats(e)...)
	r.page.Stats = append(r.page.Stats, saved.stats()...)
	if e.partial && r.page.Phase == Ready && len(d.unread(c, s)) > 0 {
		r.page.Phase = Scanning
	}
	tableFoot(r.page, s, scoredChoice(), p.Table, "in the order of tasks")
	return nil
}

// unread tells whether the value that rows are grouped by is still being read.
func (d *Desk) unread(c *selection, s State) string {
	if q, _ := groupPath(s); q != nil && c.ask(q).lookup(q, c.sources).percent(c) < 100 {
		return "the values to group by"
	}
	return ""
}

func (d *Desk) scoresTable(c *selection, r *request, id string, from, to int) (Table, bool) {
	s := r.state
	e := d.earned(c, s, r.found)
	switch id {
	case "scored":
		return d.scoredTable(c, s, e, from, to), true
	case "passes":
		return passTable(&e.scores.All), true
	case "repeats":
		return repeatTable(e), true
	case "groups":
		return groupTable(c, s, e), true
	case "slices":
		return d.sliceTable(c, s, e), true
	case "fields":
		return fieldTable(e, d.agreement(c, e)), true
	}
	if name, ok := strings.CutPrefix(id, "saved-"); ok {
		for i, t := range d.agreement(c, e).tables(s.Choose(setEqual, "1")) {
			if strconv.Itoa(i) == name {
				return t.Table, true
			}
		}
	}
	return Table{}, false
}

// headline is the primary metric with what belongs to it: how many rollouts it is of, its interval, and the mean over
// tasks, which is another number where tasks have unlike numbers of repeats.
func headline(e *earned) (Fact, []Text) {
	all := &e.scores.All
	f := Fact{Label: "mean reward", Value: Text{Text: Dash, Title: noReward(e)},
		Note: Text{Text: fmt.Sprintf("%s of %s", Group(all.Measured), count(all.Expected, "rollout", "rollouts"))}}
	lines := []Text{}
	if all.Measured == 0 {
		return f, lines
	}
	f.Value = Text{Text: scoreText(all.Mean), Title: exactFloat(all.Mean)}
	switch a := &all.Across; {
	case a.Interval && finiteRange(a.Low, a.High):
		lines = append(lines, Text{Text: fmt.Sprintf("95 %% interval over %s: %s – %s", count(a.N, "repeat", "repeats"), scoreText(a.Low), scoreText(a.High)),
			Title: fmt.Sprintf("of the mean of the repeats' means, which is %s; by Student's t", exactFloat(a.Mean))})
	default:
		lines = append(lines, Text{Text: "no interval: it takes the means of two repeats", Muted: true})
	}
	scored := all.Tasks - all.Slices[metrics.MissingTask]
	lines = append(lines, Text{Text: fmt.Sprintf("mean over tasks %s, %s of %s", scoreText(all.TaskMean), Group(scored), Group(all.Tasks)), Title: exactFloat(all.TaskMean)})
	if all.Measured > 1 {
		lines = append(lines, Text{Text: "standard deviation " + scoreText(all.Std), Title: exactFloat(all.Std)})
	}
	return f, lines
}

// scoreText writes a score with four decimals, very large ones short; what is no finite number has none.
func scoreText(f float64) string {
	switch {
	case !finiteRange(f, f):
		return Dash
	case math.Abs(f) >= 1e9:
		return shortFloat(f)
	}
	return fixed(f, 4)
}

// finiteRange tells whether both ends are numbers that can be shown.
func finiteRange(low, high float64) bool {
	return !math.IsNaN(low) && !math.IsInf(low, 0) && !math.IsNaN(high) && !math.IsInf(high, 0)
}

func noReward(e *earned) string {
	if e.run.Rows() == 0 {
		return "there is no row"
	}
	return "no rollout has a number as reward that counts"
}

// scoreNotes say what a reader must know of the numbers.
func (d *Desk) scoreNotes(c *selection, s State, e *earned) []Text {
	var list []Text
	say := func(format string, args ...any) { list = append(list, Text{Text: fmt.Sprintf(format, args...)}) }
	switch {
	case !c.table.Complete():
		say("So far, for %s; what failed and what is missing is known at the end.", count(e.rows, "row", "rows"))
	case e.filtered:
		say("Of the rows that fit the filter alone; failed and missing rollouts have no row, so they are not counted.")
	case e.partial && d.AuditPending():
		say("Failures and materialized inputs are still being read; expected counts can grow.")
	}
	if text := d.unread(c, s); text != "" {
		say("So far: %s are still being read.", text)
	}
	if e.problem != "" {
		say("Not all of a file beside the rollouts could be read: %s.", e.problem)
	}
	if runs := d.mixedRuns(c); len(runs) > 1 && e.scores.All.LeftOut.Duplicates > 0 {
		say("%s are shown as one, and of rollouts that several of them have the first counts. Choose one run at the top, or open Compare.", count(len(runs), "run", "runs"))
	}
	if len(e.scores.All.Repeats) > 1 && uneven(e.scores.All.Repeats) {
		say("Repeats do not cover the same tasks: intervals mix the difficulty of tasks with the spread of repeats.")
	}
	return list
}

func uneven(list []metrics.RepeatScore) bool {
	for _, r := range list {
		if r.Missing > 0 {
			return true
		}
	}
	return false
}

// mixedRuns lists the runs that a selection has rows of.
func (d *Desk) mixedRuns(c *selection) []int {
	var list []int
	seen := map[int]bool{}
	for _, source := range c.sources {
		if run := d.listing.Entries[d.sources[source]].Run; run >= 0 && !seen[run] {
			seen[run] = true
			list = append(list, run)
		}
	}
	return list
}

// scoreParts splits everything that is known of by what became of it.
func (d *Desk) scoreParts(c *selection, s State, e *earned) (list []Share, of string) {
	all := &e.scores.All
	l := &all.LeftOut
	whole := all.Measured + l.Total()
	rows := func(term string) string {
		if term == "" || e.filtered {
			return ""
		}
		return narrowed(s.ToTab("rollouts"), term)
	}
	add := func(mark Mark, word string, n int, stat, href string) {
		if n > 0 || word == "measured" {
			list = append(list, Share{Mark: mark, Word: word, Count: n, Text: Group(n), Percent: percent(n, whole), Part: share(n, whole), Stat: stat, Href: href})
		}
	}
	add(MarkMeasured, "measured", all.Measured, "score.measured", "")
	add(MarkMasked, "masked", l.Masked, "score.left_out.masked", rows("masked"))
	add(MarkUnscored, "without a number as reward", l.Unscored, "score.left_out.unscored", "")
	add(MarkFailed, "failed", l.Failed, "score.left_out.failed", s.Choose(setSlice, sliceFailed).Href())
	add(MarkOmitted, "omitted", l.Omitted, "score.left_out.omitted", "")
	add(MarkUnknown, "missing", l.Missing, "score.left_out.missing", s.Choose(setSlice, "incomplete").Href())
	add(MarkUnknown, plural(l.Duplicates, "second row of a rollout", "second rows of a rollout"), l.Duplicates, "score.left_out.duplicates", rows("check:rollout_duplicate_identity"))
	add(MarkUnhealthy, plural(l.Unreadable, "unreadable line", "unreadable lines"), l.Unreadable, "score.left_out.unreadable", rows("unreadable"))
	add(MarkUnhealthy, plural(l.Malformed, "malformed row", "malformed rows"), l.Malformed, "score.left_out.malformed", "")
	return list, fmt.Sprintf("what the mean is made of: %s of %s", Group(all.Measured), Group(whole))
}

func scoreFacts(s State, e *earned) []Fact {
	all := &e.scores.All
	slice := func(word string, n int) Fact {
		f := Fact{Label: word, Value: Text{Text: Group(n)}, Note: Text{Text: "of " + count(all.Tasks, "task", "tasks")}, Stat: "score.slice." + word, Exact: strconv.Itoa(n)}
		if n > 0 {
			f.Value.Href = s.Choose(setSlice, word).Href()
		}
		return f
	}
	facts := []Fact{slice("always", all.Slices[metrics.Always]), slice("sometimes", all.Slices[metrics.Sometimes]),
		slice("never", all.Slices[metrics.Never]), slice("missing", all.Slices[metrics.MissingTask]), slice("incomplete", all.Incomplete)}
	facts[4].Note.Title = "with a reward, but not of every rollout that is expected"
	return facts
}

// atControl sets the threshold from which on a rollout passes.
func atControl(s State, e *earned) Control {
	c := Control{Setting: setAt, Label: "passes from", Value: s.Setting(setAt), Hint: "1",
		Help: "the reward from which on a rollout passes, for slices and solved repeats; a comparison asks whether the mean of a task is above 0.5 instead"}
	if _, ok := threshold(s); !ok {
		c.Error = "The threshold is no number; 1 is taken."
	}
	if d := e.scores.All.Rewards; d != nil && len(d.Distinct) > 2 && len(d.Distinct) < 8 {
		for _, v := range d.Distinct {
			text := exactFloat(v.Value)
			c.Choices = append(c.Choices, Choice{Value: text, Title: text, Href: s.Choose(setAt, text).Href(), On: e.scores.Threshold == v.Value})
		}
	}
	return c
}

// byControl sets what rows are grouped by.
func byControl(s State, e *earned) Control {
	now := s.Setting(setGroup)
	c := Control{Setting: setGroup, Label: "by", Hint: "row.…", Help: "a field of the rows, such as row.difficulty or row.verifier_metadata.level; its first value in a task is that of the task"}
	for _, one := range [...]struct{ value, title, help string }{
		{"", "agent and environment", "the environment server that rows are stamped with, else the agent they name"},
		{bySource, "task source", "the member task_source"},
	} {
		c.Choices = append(c.Choices, Choice{Value: one.value, Title: one.title, Help: one.help, Href: s.Choose(setGroup, one.value).Href(), On: now == one.value})
	}
	if now != bySource {
		c.Value = now
	}
	if e.badBy != "" {
		c.Error = "Rows cannot be grouped by " + now + ": " + e.badBy + "."
	}
	return c
}

// passTable lists pass@k and its like with the tasks behind every point.
func passTable(all *metrics.Score) Table {
	t := Table{ID: "passes", Caption: "pass@k", Height: 22, Rows: []Row{}, Columns: []Column{
		{Key: "k", Title: "k", Right: true}, {Key: "pass", Title: "pass@k", Unit: "%", Right: true, Help: "chance that the best of k rollouts of a task passes, where rewards are 0 or 1; else the best of the first k"},
		{Key: "interval", Title: "± 95 %", Right: true, Help: "from the spread between tasks"},
		{Key: "avg", Title: "avg@k", Unit: "%", Right: true, Help: "mean of the first k rollouts of every task"},
		{Key: "tasks", Title: "tasks", Right: true, Help: "with k rollouts or more"}, {Key: "skipped", Title: "skipped", Right: true, Help: "with a reward, but with fewer rollouts than k"},
	}}
	scored := all.Tasks - all.Slices[metrics.MissingTask]
	for i, c := range all.Pass.Curve {
		if i >= mostRepeatBars && i < len(all.Pass.Curve)-1 {
			continue
		}
		row := Row{ID: "k-" + strconv.Itoa(c.K), Index: len(t.Rows), Cells: []Cell{wide(int64(c.K)), floatCell(c.Pass, 2), {Text: Text{Text: Dash, Muted: true, Title: "fewer than two tasks"}},
			floatCell(c.Avg, 2), wide(int64(c.Tasks)), wide(int64(scored - c.Tasks))}}
		if c.Tasks > 1 {
			row.Cells[2] = floatCell(normal95*c.SE, 2)
		}
		t.Rows = append(t.Rows, row)
	}
	t.Total = len(t.Rows)
	t.Empty = "No task has a reward that counts."
	t.Links = exports(t.ID)
	return t
}

// normal95 is how many standard errors hold 95 % around a mean of many.
const normal95 = 1.959963984540054

// repeatTable lists the means of repeats on one scale.
func repeatTable(e *earned) Table {
	all := &e.scores.All
	if len(all.Repeats) == 0 {
		return Table{}
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, r := range all.Repeats {
		for _, x := range [...]float64{r.Mean, r.Low, r.High} {
			if (r.Interval || x == r.Mean) && finiteRange(x, x) {
				low, high = min(low, x), max(high, x)
			}
		}
	}
	scale := linear("", low, high, 4)
	t := Table{ID: "repeats", Caption: "means of repeats", Height: 22, Rows: []Row{}, Total: len(all.Repeats), Columns: []Column{
		{Key: "repeat", Title: "repeat", Right: true}, {Key: "mean", Title: "mean", Right: true}, {Key: "tasks", Title: "tasks", Right: true},
		{Key: "missing", Title: "missing", Right: true, Help: "tasks with a reward, but not of this repeat"},
		{Key: "interval", Title: shortFloat(scale.Low) + " – " + shortFloat(scale.High), Grow: true, Help: "mean with the interval that holds it with 95 %, from the spread between tasks"},
	}}
	for i, r := range all.Repeats {
		if i == mostRepeatBars && len(all.Repeats) > mostRepeatBars+1 {
			t.Note = "the first " + strconv.Itoa(i) + " are listed"
			break
		}
		cell := Cell{Range: &Range{At: scale.Part(r.Mean), Low: scale.Part(r.Low), High: scale.Part(r.High), Interval: r.Interval && finiteRange(r.Low, r.High), Mark: scale.Part(all.Across.Mean)}}
		cell.Exact = exactFloat(r.Mean)
		if r.Interval && finiteRange(r.Low, r.High) {
			cell.Exact = exactFloat(r.Low) + " " + exactFloat(r.High)
		}
		t.Rows = append(t.Rows, Row{ID: "repeat-" + strconv.Itoa(i), Index: i, Cells: []Cell{
			keyCell(r.Index), floatCell(r.Mean, 4), wide(int64(r.Tasks)), wide(int64(r.Missing)), cell,
		}})
	}
	t.Links = exports(t.ID)
	return t
}

// groupTable has one line for everything and one for each group.
func groupTable(sel *selection, s State, e *earned) Table {
	all := &e.scores.All
	middle := (all.Pass.MaxK + 1) / 2
	title := "agent or environment"
	switch by := s.Setting(setGroup); {
	case by == bySource:
		title = "task source"
	case by != "" && e.badBy == "":
		title = by
	}
	t := Table{ID: "groups", Caption: "by " + title, Height: 24, Rows: []Row{}, Columns: []Column{
		{Key: "group", Title: title, Grow: true}, {Key: "mean", Title: "mean reward", Right: true}, {Key: "interval", Title: "95 % over repeats", Right: true},
		{Key: "measured", Title: "measured", Right: true, Help: "rollouts that the mean is of, of all that are known of"},
		{Key: "pass@1", Title: "pass@1", Right: true},
	}}
	ks := []int{1}
	for _, k := range [...]int{middle, all.Pass.MaxK} {
		if k > ks[len(ks)-1] {
			ks = append(ks, k)
			t.Columns = append(t.Columns, Column{Key: "pass@" + strconv.Itoa(k), Title: "pass@" + strconv.Itoa(k), Right: true})
		}
	}
	last := strconv.Itoa(all.Pass.MaxK)
	t.Columns = append(t.Columns, Column{Key: "tasks", Title: "tasks in pass@" + last, Right: true},
		Column{Key: "always", Title: "always", Right: true}, Column{Key: "sometimes", Title: "sometimes", Right: true}, Column{Key: "never", Title: "never", Right: true},
		Column{Key: "missing", Title: "missing", Right: true}, Column{Key: "out", Title: "left out"})
	add := func(g *metrics.Score, name Text) {
		row := Row{ID: "group-" + strconv.Itoa(len(t.Rows)), Index: len(t.Rows), Href: name.Href, Cells: []Cell{{Text: name}, meanCell(g.Mean, 4, g.Measured > 0), acrossCell(&g.Across),
			{Text: Text{Text: Group(g.Measured)}, Extra: Text{Text: "of " + Group(g.Expected)}}}}
		tasks := 0
		for _, k := range ks {
			c := metrics.PassPoint{}
			if k <= len(g.Pass.Curve) {
				c = g.Pass.Curve[k-1]
			}
			row.Cells = append(row.Cells, meanCell(c.Pass, 2, c.Tasks > 0))
			tasks = c.Tasks
		}
		row.Cells = append(row.Cells, Cell{Text: Text{Text: Group(tasks)}, Extra: Text{Text: "of " + Group(g.Tasks)}},
			wide(int64(g.Slices[metrics.Always])), wide(int64(g.Slices[metrics.Sometimes])), wide(int64(g.Slices[metrics.Never])), wide(int64(g.Slices[metrics.MissingTask])),
			Cell{Text: leftOut(&g.LeftOut)})
		t.Rows = append(t.Rows, row)
	}
	add(all, Text{Text: "all"})
	for i := range e.scores.Groups {
		g := &e.scores.Groups[i]
		if i == mostScoreGroups {
			t.Note = fmt.Sprintf("the first %s of %s", Group(mostScoreGroups), Group(len(e.scores.Groups)))
			break
		}
		name := Text{Text: g.Name, Href: groupHref(sel, s, g)}
		if !g.Named {
			name = Text{Text: "none", Muted: true, Title: "rows that name none", Href: name.Href}
		}
		add(g, name)
	}
	if t.Total = len(t.Rows); t.Note == "" {
		t.Note = "masked and unscored rollouts are left out of every mean"
		if e.scores.Binary && all.Measured > 0 {
			t.Note = "rewards are 0 or 1; " + t.Note
		}
	}
	t.Links = exports(t.ID)
	return t
}

// mostScoreGroups bounds the groups that are listed.
const mostScoreGroups = 500

// groupHref leads to the rows of a group, "" where the filter cannot tell them.
func groupHref(c *selection, s State, g *metrics.Score) string {
	field := "agent"
	switch by := s.Setting(setGroup); {
	case by == bySource:
		if field = "row.task_source"; g.Name == metrics.NoSource {
			return narrowed(s.ToTab("rollouts"), "not has("+field+")")
		}
	case by == "" && g.Named && !slices.Contains(c.tally.series.agents, g.Name):
		field = "row._ng_environment_server"
	case by != "":
		q, _ := groupPath(s)
		if q == nil {
			return ""
		}
		field = q.paths[0].Name
	}
	if !g.Named {
		return narrowed(s.ToTab("rollouts"), "not has("+field+")")
	}
	return narrowed(s.ToTab("rollouts"), filter.Equal(field, filter.Text(g.Name)))
}

func meanCell(f float64, decimals int, there bool) Cell {
	if !there {
		f = math.NaN()
	}
	return floatCell(f, decimals)
}

func acrossCell(a *metrics.Across) Cell {
	if !a.Interval || !finiteRange(a.Low, a.High) {
		return Cell{Text: Text{Text: Dash, Muted: true, Title: "an interval takes the means of two repeats, which are not beyond all numbers"}}
	}
	return Cell{Text: Text{Text: scoreText(a.Low) + " – " + scoreText(a.High), Muted: true, Title: exactFloat(a.Low) + " – " + exactFloat(a.High)}, Exact: exactFloat(a.Low) + " " + exactFloat(a.High)}
}

// leftOut says in words what is in no mean.
func leftOut(l *metrics.LeftOut) Text {
	var parts []string
	for _, one := range [...]struct {
		n    int
		word string
	}{
		{l.Masked, "masked"}, {l.Unscored, "unscored"}, {l.Failed, "failed"}, {l.Omitted, "omitted"}, {l.Missing, "missing"}, {l.Duplicates, "repeated"},
		{l.Unreadable, "unreadable"}, {l.Malformed, "malformed"},
	} {
		if one.n > 0 {
			parts = append(parts, Group(one.n)+" "+one.word)
		}
	}
	if len(parts) == 0 {
		return Text{Text: "nothing", Muted: true}
	}
	return Text{Text: strings.Join(parts, ", ")}
}

// scoreStats are the metrics of all rows under the names of the files, and the family of pass@k.
func scoreStats(e *earned) []Stat {
	list := []Stat{}
	add := func(m metrics.Metric) {
		if len(list) < mostStats {
			list = append(list, Stat{Name: "score." + m.Name, Value: numberText(m.Value)})
		}
	}
	for _, m := range e.all.Metrics() {
		add(m)
	}
	for _, family := range [...][]metrics.Metric{e.scores.All.Pass.Metrics, e.scores.All.Pass.Spread} {
		for _, m := range family {
			add(m)
		}
	}
	if e.scores.All.Measured == 0 {
		list = append(list, Stat{Name: "score.mean/reward"})
	} else {
		list = append(list, Stat{Name: "score.task_mean", Value: exactFloat(e.scores.All.TaskMean)})
	}
	return append(list, Stat{Name: "score.expected", Value: strconv.Itoa(e.scores.All.Expected)})
}

// mostStats bounds the metrics that a page carries for scripts.
const mostStats = 5000

// numberText is a metric as data-value has it.
func numberText(n metrics.Number) string {
	if n.IsWhole() {
		return n.String()
	}
	return exactFloat(n.Float())
}
