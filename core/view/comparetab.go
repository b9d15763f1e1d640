package view

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/rollscope/rollscope/core/compare"
	"github.com/rollscope/rollscope/core/health"
	"github.com/rollscope/rollscope/core/metrics"
)

// The settings of the Compare tab.
const (
	setBase    = "compare.base" // name of the run that is the baseline
	setCand    = "compare.with" // of the candidate
	setKey     = "compare.key"  // what tasks are joined by: "" for their index, group, name, or a path into the row
	setMove    = "compare.show" // which tasks are listed: "" for those that moved, all, or one move
	setMetrics = "compare.metrics"
	setLeft    = "compare.left" // places of two rollouts whose transcripts are shown side by side
	setRight   = "compare.right"
)

// Compare is the tab of that name: one run against another, or the transcripts of two rollouts.
type Compare struct {
	Base, Cand, Key Control
	Swap            Link
	Problem         string // why nothing can be compared
	Facts           []Fact
	Moves           []Choice
	Chart           *Chart
	Care            []Text // what is assumed
	Metrics         Table
	Agents          Table
	Sides           Table
	Table           Table
	Folded          Text
	Only            []Table // tasks on one side
	Talk            *Talk
}

var comparePane = pane{
	there: func(d *Desk, c *selection) bool { return len(d.comparable()) > 1 },
	show:  (*Desk).showCompare,
	table: (*Desk).compareTable,
	charts: func(p *Page) []Chart {
		if p.Compare == nil || p.Compare.Chart == nil {
			return nil
		}
		return []Chart{*p.Compare.Chart}
	},
	download: (*Desk).compareFile,
}

// comparable lists the runs that have rows to compare.
func (d *Desk) comparable() []int {
	var list []int
	for i := range d.listing.Runs {
		for _, file := range d.listing.Runs[i].Shards {
			if source, known := d.sourceOf[file]; known && d.table.Account(source).Rows() > 0 {
				list = append(list, i)
				break
			}
		}
	}
	return list
}

// pairOf gives the two runs that a State compares: those it names, or else the first two.
func (d *Desk) pairOf(s State) (base, cand int) {
	list := d.comparable()
	find := func(name string) int {
		for _, i := range list {
			if d.listing.Runs[i].Name == name && name != "" {
				return i
			}
		}
		return -1
	}
	base, cand = find(s.Setting(setBase)), find(s.Setting(setCand))
	for _, i := range list {
		if base < 0 && i != cand {
			base = i
		}
	}
	for _, i := range list {
		if cand < 0 && i != base {
			cand = i
		}
	}
	return base, cand
}

func (d *Desk) showCompare(c *selection, r *request) []Need {
	s := r.state
	r.page.Filter.Hidden = true
	base, cand := d.pairOf(s)
	p := &Compare{}
	r.page.Compare = p
	if s.Setting(setLeft) != "" && s.Setting(setRight) != "" {
		var needs []Need
		p.Talk, needs = d.talks(c, s)
		return needs
	}
	p.Base, p.Cand = d.runControl("baseline", setBase, s, base), d.runControl("candidate", setCand, s, cand)
	p.Swap = Link{Text: "Swap", Href: s.Choose(setBase, d.listing.Runs[cand].Name).Choose(setCand, d.listing.Runs[base].Name).Href()}
	m := d.comparison(c, s)
	p.Key = keyControl(s, m)
	r.page.Stats = append(r.page.Stats, m.stats()...)
	if m.waits && r.page.Phase == Ready {
		r.page.Phase = Scanning
	}
	p.Facts, p.Moves = m.facts(s), m.moves(s)
	p.Care = d.care(m)
	if chart, ok := m.chart(); ok {
		p.Chart = &chart
	}
	p.Metrics, p.Agents, p.Sides = m.metricTable(s), m.agentTable(), m.sideTable()
	p.Table = d.pairTable(s, m, r.windows["pairs"], r.windows["pairs"]+windowSize)
	p.Folded = m.folded(s)
	p.Only = []Table{d.onlyTable(s, &m.sides[0], m.align.BaselineOnly, "only-baseline"), d.onlyTable(s, &m.sides[1], m.align.CandidateOnly, "only-candidate")}
	tableFoot(r.page, s, pairChoice(), p.Table, "what got worse first, by the size of the change")
	if m.report != nil {
		for _, name := range [...]string{compare.ReportMarkdown, compare.ReportJSON} {
			r.page.Links = append(r.page.Links, Link{Text: name, Download: name})
		}
	}
	return nil
}

// compareFile makes the report of a comparison, as the command makes it of the rows: agent by agent where both sides have
// the same, else of all rows as one. A page has no clock, so it does not say when.
func (d *Desk) compareFile(c *selection, r *request, name string) (content []byte, ok bool, err error) {
	if name != compare.ReportMarkdown && name != compare.ReportJSON {
		return nil, false, nil
	}
	m := d.comparison(c, r.state)
	report := m.agents
	if report == nil {
		report = m.report
	}
	if report == nil {
		return nil, true, m.reportErr
	}
	h := &compare.Heading{Command: "rollscope compare --derive", Rules: "0.7.0", Program: Version}
	for i, about := range [...]*compare.Run{&h.Baseline, &h.Candidate} {
		run := &d.listing.Runs[m.sides[i].run]
		about.Label, about.Rollouts, about.Agents = run.Name, d.listing.Entries[run.Shards[0]].Name, []string{}
		for k := range report.Comparisons {
			e := report.Comparisons[k].Baseline
			if i == 1 {
				e = report.Comparisons[k].Candidates[0]
			}
			about.Agents = append(about.Agents, e.Label)
		}
		for _, skip := range report.Skipped {
			if (skip.Side == "baseline") == (i == 0) {
				about.Agents = append(about.Agents, skip.Agents...)
			}
		}
		slices.Sort(about.Agents)
		h.Command += " " + about.Rollouts
	}
	if name == compare.ReportMarkdown {
		return report.Markdown(h), true, nil
	}
	return report.JSON(h), true, nil
}

func (d *Desk) compareTable(c *selection, r *request, id string, from, to int) (Table, bool) {
	s := r.state
	if s.Setting(setLeft) != "" && s.Setting(setRight) != "" {
		return Table{}, false
	}
	m := d.comparison(c, s)
	switch id {
	case "pairs":
		return d.pairTable(s, m, from, to), true
	case "compared":
		return m.metricTable(s), true
	case "by-agent":
		return m.agentTable(), true
	case "sides":
		return m.sideTable(), true
	case "only-baseline":
		return d.onlyTable(s, &m.sides[0], m.align.BaselineOnly, id), true
	case "only-candidate":
		return d.onlyTable(s, &m.sides[1], m.align.CandidateOnly, id), true
	}
	return Table{}, false
}

func (d *Desk) runControl(label, setting string, s State, now int) Control {
	c := Control{Label: label, Value: d.listing.Runs[now].Name, Many: true, Help: "the run that is the " + label}
	for _, i := range d.comparable() {
		run := &d.listing.Runs[i]
		c.Choices = append(c.Choices, Choice{Value: run.Name, Title: run.Name, Href: s.Choose(setting, run.Name).Href(), On: i == now})
	}
	return c
}

func keyControl(s State, m *comparison) Control {
	now := s.Setting(setKey)
	c := Control{Setting: setKey, Label: "tasks joined by", Hint: "row.…", Help: "what tells that tasks of both runs are the same: their index, their name, or the value of a field in their first row"}
	for _, one := range [...]struct{ value, title, help string }{
		{"", "index", "right if both runs had the same tasks in the same order"},
		{"name", "name", "where the rows give one"},
	} {
		c.Choices = append(c.Choices, Choice{Value: one.value, Title: one.title, Help: one.help, Href: s.Choose(setKey, one.value).Href(), On: now == one.value})
	}
	if now != "name" {
		c.Value = now
	}
	if m.badKey != "" {
		c.Error = "Tasks cannot be joined by " + now + ": " + m.badKey + "."
	}
	return c
}

// moveWords are what the page calls the moves, and their settings.
var moveWords = []struct {
	move      compare.Move
	word, key string
}{
	{compare.ToPass, "fail → pass", "to_pass"}, {compare.ToFail, "pass → fail", "to_fail"}, {compare.Higher, "higher", "higher"}, {compare.Lower, "lower", "lower"},
	{compare.Tied, "tied, a side at 0.5", "tied"}, {compare.Same, "same", "same"}, {compare.NotScored, "not scored", "not_scored"},
}

// facts count the tasks by how they moved.
func (m *comparison) facts(s State) []Fact {
	pairs := len(m.align.Pairs)
	var facts []Fact
	binary := m.align.Mode == compare.Binary
	for _, w := range moveWords {
		n := m.align.Counts[w.move]
		switch w.move {
		case compare.ToPass, compare.ToFail, compare.Tied:
			if m.align.Mode == compare.Continuous {
				continue
			}
		case compare.Higher, compare.Lower:
			if m.align.Mode != compare.Continuous {
				continue
			}
		}
		f := Fact{Label: w.word, Value: Text{Text: Group(n)}, Note: Text{Text: "of " + count(pairs, "task", "tasks")}}
		if n > 0 {
			f.Value.Href = s.Choose(setMove, w.key).Href()
		}
		facts = append(facts, f)
		if w.move == compare.ToFail && binary {
			net := m.align.Counts[compare.ToPass] - n
			facts = append(facts, Fact{Label: "net", Value: Text{Text: signed(strconv.Itoa(net))}, Note: Text{Text: "tasks"}})
		}
	}
	for i, list := range [...][]*metrics.TaskScore{m.align.BaselineOnly, m.align.CandidateOnly} {
		facts = append(facts, Fact{Label: "only in " + sideNames[i], Value: Text{Text: Group(len(list))}, Note: Text{Text: "of " + Group(len(m.sides[i].e.scores.Tasks))}})
	}
	return facts
}

var sideNames = [...]string{"baseline", "candidate"}

// moves choose what the table lists.
func (m *comparison) moves(s State) []Choice {
	now := s.Setting(setMove)
	list := []Choice{{Title: "moved", Href: s.Choose(setMove, "").Href(), On: now == ""}}
	for _, w := range moveWords {
		if n := m.align.Counts[w.move]; n > 0 {
			list = append(list, Choice{Value: w.key, Title: w.word + " " + Group(n), Href: s.Choose(setMove, w.key).Href(), On: now == w.key})
		}
	}
	return append(list, Choice{Value: "all", Title: "all", Href: s.Choose(setMove, "all").Href(), On: now == "all"})
}

// signed puts a plus in front of a positive number.
func signed(text string) string {
	if text == "" || text[0] == '-' || text == "0" || text == Dash {
		return text
	}
	return "+" + text
}

func signedFloat(f float64, decimals int) Cell {
	cell := floatCell(f, decimals)
	if f > 0 {
		cell.Text.Text = "+" + cell.Text.Text
	}
	return cell
}

// care says what a reader must know before they believe a number.
func (d *Desk) care(m *comparison) []Text {
	var list []Text
	say := func(format string, args ...any) { list = append(list, Text{Text: fmt.Sprintf(format, args...)}) }
	switch {
	case m.waits:
		say("So far: the field that tasks are joined by is still being read.")
	case m.partial:
		say("So far: rows or files beside them are still being read.")
	}
	switch m.key {
	case "":
		say("Tasks are joined by their index alone: both runs must have had the same dataset, split, limit and order.")
	case keyGroup:
		say("Tasks are joined by index and agent, since agents share tasks: both runs must have had the same dataset, split, limit and order.")
	case "name":
		say("Tasks are joined by their name.")
	default:
		say("Tasks are joined by %s of their first row.", m.key)
	}
	if text := d.sameInputs(m); text != "" {
		say("%s", text)
	}
	switch m.align.Mode {
	case compare.Binary:
		say("A side passes when its task mean is over 0.5; at exactly 0.5 the task is tied.")
	case compare.Continuous:
		say("Rewards are not only 0 and 1, so task means are higher or lower, and none flips.")
	default:
		say("No task has a reward on both sides.")
	}
	say("Intervals: 95 %%, Welch over repeats, unpaired.")
	if x := m.align.Difference; x.N > 1 && finiteRange(x.Low, x.High) {
		say("Over tasks, paired: the mean changes by %s, 95 %% interval %s to %s, %s.", signed(scoreText(x.Mean)), signed(scoreText(x.Low)), signed(scoreText(x.High)), count(x.N, "task", "tasks"))
	}
	if n := len(m.align.Ambiguous); n > 0 {
		say("%s more than once on a side and cannot be joined.", count(n, "key is there", "keys are there"))
	}
	if m.align.Unnamed > 0 {
		say("%s nothing to be joined by.", count(m.align.Unnamed, "task has", "tasks have"))
	}
	if m.report != nil {
		for _, note := range m.report.Comparisons[0].Notes {
			say("%s", note)
		}
	}
	if m.agents != nil {
		for _, text := range m.agents.Warnings {
			say("%s", text)
		}
	} else if m.agentsErr != nil {
		say("Agents are not compared one by one: %s.", m.agentsErr)
	}
	return list
}

// sameInputs tells whether the materialized inputs of both sides are the same, as far as they are there.
func (d *Desk) sameInputs(m *comparison) string {
	if d.audited == nil || d.audited.report == nil {
		return ""
	}
	var digests [2]string
	for i := range m.sides {
		for _, file := range d.listing.Runs[m.sides[i].run].Shards {
			for _, run := range d.audited.report.Runs {
				if run.Output == d.listing.Entries[file].Name {
					digests[i] += run.Digests.Materialized
				}
			}
		}
	}
	switch {
	case digests[0] == "" || digests[1] == "":
		return ""
	case digests[0] == digests[1]:
		return "The materialized inputs of both runs are the same."
	}
	return "The materialized inputs of the runs differ."
}

// chart counts the tasks by how much their mean has changed.
func (m *comparison) chart() (Chart, bool) {
	var deltas []float64
	reach := 0.0
	for i := range m.align.Pairs {
		if x := m.align.Pairs[i].Delta; x.OK {
			deltas = append(deltas, x.X)
			reach = max(reach, math.Abs(x.X))
		}
	}
	if len(deltas) == 0 || reach == 0 {
		return Chart{}, false
	}
	step := niceMax(reach) / 8
	if k := max(m.sides[0].e.scores.All.Pass.MaxK, m.sides[1].e.scores.All.Pass.MaxK); m.align.Mode == compare.Binary {
		step = 1 / float64(min(max(k, 1), 8))
	}
	half := int(math.Round(reach/step + 0.49))
	counts := make([]int, 2*half+1)
	for _, x := range deltas {
		counts[min(max(int(math.Round(x/step))+half, 0), 2*half)]++
	}
	chart := Chart{ID: "change", Title: "change of the task mean", Kind: "bars", Caption: fmt.Sprintf("%s, to the nearest %s", count(len(deltas), "task", "tasks"), shortFloat(step))}
	for i, n := range counts {
		at := float64(i-half) * step
		bin := Bin{Label: signed(shortFloat(at)), Value: float64(n), Text: Group(n)}
		switch {
		case at < 0:
			bin.Tone = "s2"
		case at > 0:
			bin.Tone = "s1"
		}
		chart.Bins = append(chart.Bins, bin)
	}
	return chart, true
}

// stats are the numbers that the contract names. Where tasks are joined as a saved report joins them, they are its own.
func (m *comparison) stats() []Stat {
	number := func(name string, n int, there bool) Stat {
		s := Stat{Name: "compare." + name}
		if there {
			s.Value = strconv.Itoa(n)
		}
		return s
	}
	a := m.align
	common, toFail, toPass, binary := len(a.Pairs), a.Counts[compare.ToFail], a.Counts[compare.ToPass], a.Mode == compare.Binary
	if m.report != nil && m.key == "" {
		f := &m.report.Comparisons[0].Flips[0]
		common = f.Common
	}
	list := []Stat{
		number("common", common, true), number("pass_to_fail", toFail, binary), number("fail_to_pass", toPass, binary),
		number("tied", a.Counts[compare.Tied], binary), number("unchanged", a.Counts[compare.Same], a.Mode != compare.Unavailable),
		number("net", toPass-toFail, binary), number("baseline_only", len(a.BaselineOnly), true), number("candidate_only", len(a.CandidateOnly), true),
	}
	if m.report != nil {
		for i := range m.report.Comparisons[0].Metrics {
			if row := &m.report.Comparisons[0].Metrics[i]; row.Candidates[0] != nil && row.Candidates[0].Delta.OK && len(list) < mostStats {
				list = append(list, Stat{Name: "compare.delta." + row.Name, Value: exactFloat(row.Candidates[0].Delta.X)})
			}
		}
	}
	return list
}

// unhealthy counts the unhealthy rows of a task.
func (s *side) unhealthy(t *metrics.TaskScore) int {
	n := 0
	for _, row := range t.Rows {
		if s.c.verdictOf(s.e.ordinal(row)) == health.Unhealthy {
			n++
		}
	}
	return n
}
