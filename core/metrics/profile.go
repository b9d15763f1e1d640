package metrics

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/rollscope/rollscope/core/rollout"
)

// A Group describes one task, or one task of one label where labels share tasks (spec metrics §5).
type Group struct {
	Task     rollout.Key
	Label    string
	Labelled bool // the groups are split by label
	Stats    *Stats
	Rows     []int32 // its rows that count, in the order of their repeats
	Expected int     // rows of the inventory
	Sample   int     // row of the inventory that stands for the group, −1 without one

	run   *Run
	rules Rules
}

// Missing is how many rows the inventory has beyond those that are there.
func (g *Group) Missing() int { return g.Expected - len(g.Rows) }

// Completion is the share of the inventory that is there, in percent; 100 where nothing was expected.
func (g *Group) Completion() float64 { return percent(len(g.Rows), g.Expected) }

func percent(part, whole int) float64 {
	if whole == 0 {
		return 100
	}
	return 100 * float64(part) / float64(whole)
}

// An Agent describes all rows of one label.
type Agent struct {
	Label    string
	Stats    *Stats // nil when only its coverage is known
	Rows     []int32
	Across   []Across
	Coverage *Coverage // nil unless something is masked
}

// Coverage counts what masks left.
type Coverage struct {
	Measured, Masked           int // rollouts
	MeasuredTasks, FullyMasked int // tasks
}

// Metrics lists the counts as the files name them.
func (c *Coverage) Metrics() []Metric {
	return []Metric{
		{"coverage/measured_rollouts", Whole(int64(c.Measured))},
		{"coverage/masked_rollouts", Whole(int64(c.Masked))},
		{"coverage/measured_tasks", Whole(int64(c.MeasuredTasks))},
		{"coverage/fully_masked_tasks", Whole(int64(c.FullyMasked))},
	}
}

// cover counts rows; nil if none is masked.
func (r *Run) cover(rows []int32) *Coverage {
	var c Coverage
	measured, seen := map[uint32]bool{}, map[uint32]bool{}
	for _, row := range rows {
		seen[r.task[row]] = true
		if r.Masked(int(row)) {
			c.Masked++
			continue
		}
		c.Measured++
		measured[r.task[row]] = true
	}
	if c.Masked == 0 {
		return nil
	}
	c.MeasuredTasks, c.FullyMasked = len(measured), len(seen)-len(measured)
	return &c
}

// Completion counts what of an inventory there is (spec metrics §17).
type Completion struct {
	Expected, Completed, Missing, Extra int // rows
	Masked                              int // rows that are there but masked
	Inputs                              int // distinct pairs of task and run key in the inventory
	Complete, Partial, Without          int // of them
}

// Percent is the share of expected rows that are there.
func (c Completion) Percent() float64 { return percent(c.Completed, c.Expected) }

// A Profile is the reward profile of a run against its inventory.
type Profile struct {
	Completion Completion
	FanOut     bool // labels share tasks, so groups are split by label
	Agents     []Agent
	Repeats    []Repeat
	Uneven     bool // some repeat lacks tasks that its label has

	inputs *Run
	table  *table
	groups []group
}

// group is a Group before it is described.
type group struct {
	task     uint32
	label    int32
	rows     []int32
	expected int
	sample   int32
}

// ProfileOptions change how a profile is made.
type ProfileOptions struct {
	AllowPartial bool // rows of the inventory may lack a result
}

// listed is how many rollouts an error names.
const listed = 10

// Profile makes the reward profile of the run's rows, with the rows of inputs as its inventory. Both runs must be
// read strictly. Errors wrap [ErrRefused].
func (r *Run) Profile(inputs *Run, o ProfileOptions) (*Profile, error) {
	for _, side := range [...]*Run{inputs, r} {
		for row, missing := range side.missing {
			if missing != 0 {
				name := "_ng_task_index"
				if missing&missingTask == 0 {
					name = "_ng_rollout_index"
				}
				return nil, fmt.Errorf("%s: %s is missing: %w", side.Where(row), name, ErrRefused)
			}
		}
	}
	m, err := r.match(inputs)
	if err != nil {
		return nil, err
	}
	if len(m.extra) > 0 {
		return nil, fmt.Errorf("%d results have no row among the inputs: %s: %w", len(m.extra), r.pairs(m.extra), ErrRefused)
	}
	if len(m.missing) > 0 && !o.AllowPartial {
		return nil, fmt.Errorf("%d inputs have no result: %s (a partial run has to be allowed): %w", len(m.missing), inputs.pairs(m.missing), ErrRefused)
	}
	p := &Profile{Completion: m.completion(), inputs: inputs}
	rows, err := r.sorted(r.all(), true)
	if err != nil {
		return nil, err
	}
	// Labels are those of the inputs, and masked results leave together with their own.
	kept := make([]int32, 0, inputs.Rows())
	for i := range inputs.Rows() {
		if result := m.result[i]; result < 0 || !r.Masked(int(result)) {
			kept = append(kept, int32(i))
		}
	}
	labels := inputs.labelled(kept)
	counted := rows[:0:0]
	for _, row := range rows {
		if !r.Masked(int(row)) {
			counted = append(counted, row)
		}
	}
	p.table = newTable(r, counted, Current, nil)
	p.fan(kept, labels)
	p.group(m, kept, labels)
	p.agents(m, labels)
	p.cover(m)
	return p, nil
}

// A matching joins results and inputs by task and repeat.
type matching struct {
	run, inputs *Run
	task        []uint32 // of every input, as a key of the results
	result      []int32  // of every input, −1 for none
	input       []int32  // of every result
	missing     []int32  // inputs without a result
	extra       []int32  // results without an input
}

func (r *Run) match(inputs *Run) (*matching, error) {
	m := &matching{run: r, inputs: inputs, task: make([]uint32, inputs.Rows()), result: make([]int32, inputs.Rows()), input: make([]int32, r.Rows())}
	at := make(map[uint64]int32, inputs.Rows())
	for i := range inputs.Rows() {
		m.result[i] = -1
		m.task[i] = r.keys.number(inputs.Task(i))
		key := uint64(m.task[i])<<32 | uint64(r.keys.number(inputs.Repeat(i)))
		if _, ok := at[key]; ok {
			return nil, fmt.Errorf("%s: the inputs have task %s, rollout %s twice: %w", inputs.Where(i), inputs.Task(i), inputs.Repeat(i), ErrRefused)
		}
		at[key] = int32(i)
	}
	seen := make(map[uint64]bool, r.Rows())
	for row := range r.Rows() {
		key := uint64(r.task[row])<<32 | uint64(r.repeat[row])
		if seen[key] {
			return nil, r.twice(row)
		}
		seen[key] = true
		i, ok := at[key]
		if !ok {
			m.input[row] = -1
			m.extra = append(m.extra, int32(row))
			continue
		}
		m.input[row], m.result[i] = i, int32(row)
	}
	for i, result := range m.result {
		if result < 0 {
			m.missing = append(m.missing, int32(i))
		}
	}
	return m, nil
}

func (r *Run) twice(row int) error {
	return fmt.Errorf("%s: task %s, rollout %s is there twice: %w", r.Where(row), r.Task(row), r.Repeat(row), ErrRefused)
}

// pairs lists the identities of the first rows of a list.
func (r *Run) pairs(rows []int32) string {
	var b strings.Builder
	for i, row := range rows {
		if i == listed {
			fmt.Fprintf(&b, " and %d more", len(rows)-listed)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "(%s, %s)", r.Task(int(row)), r.Repeat(int(row)))
	}
	return b.String()
}

func (m *matching) completion() Completion {
	c := Completion{Expected: m.inputs.Rows(), Missing: len(m.missing), Extra: len(m.extra)}
	c.Completed = c.Expected - c.Missing
	for row := range m.run.Rows() {
		if m.run.Masked(row) {
			c.Masked++
		}
	}
	type input struct {
		task        uint32
		key         string
		known       bool
		total, done int
	}
	at := map[input]int{}
	var list []input
	for i := range m.inputs.Rows() {
		k, known := m.inputs.runKey(i)
		id := input{task: m.task[i], key: k.key, known: known}
		n, ok := at[id]
		if !ok {
			n = len(list)
			at[id] = n
			list = append(list, id)
		}
		list[n].total++
		if m.result[i] >= 0 {
			list[n].done++
		}
	}
	c.Inputs = len(list)
	for _, in := range list {
		switch in.done {
		case in.total:
			c.Complete++
		case 0:
			c.Without++
		default:
			c.Partial++
		}
	}
	return c
}

// fan finds out whether labels share tasks.
func (p *Profile) fan(kept []int32, labels labelling) {
	type pair struct {
		task  uint32
		label int32
	}
	pairs, tasks := map[pair]bool{}, map[uint32]bool{}
	for _, i := range kept {
		pairs[pair{p.inputs.task[i], labels.of[i]}] = true
		tasks[p.inputs.task[i]] = true
	}
	p.FanOut = len(pairs) > len(tasks)
}

// group sorts results and inputs into groups, in the order of task and label.
func (p *Profile) group(m *matching, kept []int32, labels labelling) {
	r := m.run
	type id struct {
		task  uint32
		label int32
	}
	of := func(input int32) id {
		if p.FanOut {
			return id{m.task[input], labels.of[input]}
		}
		return id{m.task[input], 0}
	}
	at := map[id]int{}
	for _, row := range p.table.rows {
		k := of(m.input[row])
		if k.label < 0 {
			continue
		}
		n, ok := at[k]
		if !ok {
			n = len(p.groups)
			at[k] = n
			p.groups = append(p.groups, group{task: k.task, label: k.label, sample: -1})
		}
		p.groups[n].rows = append(p.groups[n].rows, row)
	}
	for _, i := range kept {
		n, ok := at[of(i)]
		if !ok {
			continue
		}
		p.groups[n].expected++
		if p.groups[n].sample < 0 && m.result[i] >= 0 {
			p.groups[n].sample = i
		}
	}
	rank := r.keyRanks()
	slices.SortFunc(p.groups, func(a, b group) int {
		return cmp.Or(cmp.Compare(rank[a.task], rank[b.task]), cmp.Compare(a.label, b.label))
	})
	if p.FanOut {
		p.table.labels = labels.names
	}
}

// agents describes the rows of every label and their repeats.
func (p *Profile) agents(m *matching, labels labelling) {
	rows := make([][]int32, len(labels.names))
	for _, row := range p.table.rows {
		if k := labels.of[m.input[row]]; k >= 0 {
			rows[k] = append(rows[k], row)
		}
	}
	p.Agents, p.Repeats = []Agent{}, []Repeat{}
	for k, name := range labels.names {
		if len(rows[k]) == 0 {
			continue
		}
		repeats := p.table.repeats(rows[k], name)
		p.Agents = append(p.Agents, Agent{Label: name, Rows: rows[k], Stats: p.table.describe(rows[k]), Across: acrossRepeats(repeats)})
		p.Repeats = append(p.Repeats, repeats...)
	}
	p.Uneven = uneven(p.Repeats)
}

func uneven(repeats []Repeat) bool {
	return slices.ContainsFunc(repeats, func(r Repeat) bool { return r.Missing > 0 })
}

// cover counts the masked results of every agent by its name, which need not be a label.
func (p *Profile) cover(m *matching) {
	var names []string
	rows := map[string][]int32{}
	for i := range m.inputs.Rows() {
		name, ok := m.inputs.Agent(i)
		if !ok || m.result[i] < 0 {
			continue
		}
		if _, ok := rows[name]; !ok {
			names = append(names, name)
		}
		rows[name] = append(rows[name], m.result[i])
	}
	for _, name := range names {
		c := m.run.cover(rows[name])
		if c == nil {
			continue
		}
		at := slices.IndexFunc(p.Agents, func(a Agent) bool { return a.Label == name })
		if at < 0 {
			at = len(p.Agents)
			p.Agents = append(p.Agents, Agent{Label: name})
		}
		p.Agents[at].Coverage = c
	}
}

// Groups is the number of groups.
func (p *Profile) Groups() int { return len(p.groups) }

// Group describes a group.
func (p *Profile) Group(i int) *Group { return p.table.describeGroup(&p.groups[i]) }

func (t *table) describeGroup(g *group) *Group {
	d := &Group{
		Task: t.run.keys.list[g.task], Stats: t.describe(g.rows), Rows: g.rows,
		Expected: g.expected, Sample: int(g.sample), run: t.run, rules: t.rules,
	}
	if d.Labelled = t.labels != nil; d.Labelled {
		d.Label = t.labels[g.label]
	}
	return d
}
