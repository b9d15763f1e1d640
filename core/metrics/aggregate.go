package metrics

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Names of the files that the commands write (spec metrics §17).
const (
	AggregateFile = "aggregate_metrics.json"
	AllRowsFile   = "all_rows_metrics.json"
	ProfileFile   = "reward_profiling.jsonl"
	AgentFile     = "agent_metrics.json"
	RepeatFile    = "repeat_level_metrics.json"
	PassFile      = "pass_at_k.json"
)

// An Entry is the metrics of all rows of one label: an element of an aggregate-metrics file, or all rows as one.
type Entry struct {
	Label  string // "" for all rows as one
	Server string
	// Stand says that the server is made up from the agent's name, since no row is stamped with it.
	Stand bool

	Results    int    // rows, masked ones included
	Stats      *Stats // nil if every row is masked
	Across     []Across
	Coverage   *Coverage // nil unless something is masked
	NumRepeats int       // distinct rollout indices of all rows
	Repeats    []Repeat
	Uneven     bool // some repeat lacks tasks that others have
	Perf       *Perf

	table  *table
	groups []group
}

// entry computes the metrics of rows as if all had one label.
func (r *Run) entry(rows []int32, rules Rules) (*Entry, error) {
	rows, err := r.sorted(rows, true)
	if err != nil {
		return nil, err
	}
	same := func(a, b int32) bool { return r.task[a] == r.task[b] && r.repeat[a] == r.repeat[b] }
	if r.lenient {
		rows = slices.CompactFunc(rows, same)
	}
	for i := 1; i < len(rows); i++ {
		if same(rows[i-1], rows[i]) {
			return nil, r.twice(int(rows[i]))
		}
	}
	return r.entryOf(rows, rules), nil
}

// entryOf is entry for rows that are sorted and distinct.
func (r *Run) entryOf(rows []int32, rules Rules) *Entry {
	e := &Entry{Results: len(rows), Repeats: []Repeat{}}
	counted := rows
	if rules == Current {
		e.Coverage = r.cover(rows)
		repeats := map[uint32]bool{}
		for _, row := range rows {
			repeats[r.repeat[row]] = true
		}
		e.NumRepeats = len(repeats)
		e.Perf = r.perf(rows)
	}
	if e.Coverage != nil {
		counted = rows[:0:0]
		for _, row := range rows {
			if !r.Masked(int(row)) {
				counted = append(counted, row)
			}
		}
	}
	e.table = newTable(r, counted, rules, hiddenBefore)
	for from := 0; from < len(counted); {
		to := from + 1
		for to < len(counted) && r.task[counted[to]] == r.task[counted[from]] {
			to++
		}
		e.groups = append(e.groups, group{task: r.task[counted[from]], rows: counted[from:to:to], expected: to - from, sample: -1})
		from = to
	}
	if len(counted) == 0 {
		return e
	}
	e.Stats = e.table.describe(counted)
	if rules == Current {
		if repeats := e.table.repeats(counted, ""); repeats != nil {
			e.Repeats = repeats
		}
		e.Across = acrossRepeats(e.Repeats)
		e.Uneven = uneven(e.Repeats)
	}
	return e
}

// Groups is the number of tasks with a row that counts.
func (e *Entry) Groups() int { return len(e.groups) }

// Group describes a task.
func (e *Entry) Group(i int) *Group { return e.table.describeGroup(&e.groups[i]) }

// Metrics lists the entry's agent_metrics.
func (e *Entry) Metrics() []Metric {
	list := []Metric{}
	if e.Stats != nil {
		list = append(list, e.Stats.Metrics()...)
		for i := range e.Across {
			list = append(list, e.Across[i].Metrics()...)
		}
	}
	if e.Coverage != nil {
		list = append(list, e.Coverage.Metrics()...)
	}
	if e.Stats != nil && e.table.rules == Current {
		list = append(list, Metric{"num_repeats", Whole(int64(e.NumRepeats))})
	}
	return list
}

// KeyMetrics lists the headline subset.
func (e *Entry) KeyMetrics() []Metric {
	list := []Metric{}
	if e.Stats != nil {
		for _, m := range e.Stats.Metrics() {
			if strings.HasPrefix(m.Name, "mean/") {
				list = append(list, m)
			}
		}
	}
	if e.Coverage != nil {
		list = append(list, e.Coverage.Metrics()...)
	}
	return list
}

// members writes the parts of the entry that files of both shapes have.
func (e *Entry) members(j *jsonWriter, all bool) {
	group := func() {
		j.key("", "group_level_metrics")
		j.open('[')
		for i := range e.groups {
			j.group(e.Group(i), func() {
				j.open('{')
				j.agent("agent")
				j.close('}')
			})
		}
		j.close(']')
	}
	repeat := func() {
		j.key("", "repeat_level_metrics")
		j.open('[')
		for i := range e.Repeats {
			j.repeat(&e.Repeats[i], false)
		}
		j.close(']')
	}
	list := func(name string, list []Metric) {
		j.key("", name)
		j.open('{')
		j.metrics(list)
		j.close('}')
	}
	perf := func() {
		if e.Perf != nil {
			list("perf_summary", e.Perf.Metrics())
		} else if all {
			j.key("", "perf_summary")
			j.raw("null")
		}
	}
	if all {
		group()
	}
	list("agent_metrics", e.Metrics())
	list("key_metrics", e.KeyMetrics())
	if all {
		perf()
		repeat()
		return
	}
	group()
	repeat()
	perf()
}

// WriteJSON writes the entry as the one object of an all-rows file.
func (e *Entry) WriteJSON(w io.Writer) error {
	j := jsonWriter{w: w, indent: true}
	j.open('{')
	e.members(&j, true)
	j.close('}')
	j.flush()
	return j.err
}

// AllRows computes one entry over every row, whatever agent it names. Errors wrap [ErrRefused]; the lenient reading
// has none, here as in Aggregate.
func (r *Run) AllRows() (*Entry, error) { return r.entry(r.all(), Current) }

// An Aggregate is the entries of a run, in the order of their labels.
type Aggregate struct {
	Entries []*Entry
	Results int // rows, those without an entry included
	Nowhere int // rows that name neither agent nor server
}

// Aggregate computes one entry per environment server (spec metrics §8). Errors wrap [ErrRefused].
func (r *Run) Aggregate() (*Aggregate, error) {
	a := &Aggregate{Entries: []*Entry{}}
	rows, err := r.sorted(r.all(), true)
	if err != nil {
		return nil, err
	}
	a.Results = len(rows)
	servers, err := r.route(rows)
	if err != nil {
		return nil, err
	}
	var names []string
	parts := map[string][]int32{}
	for i, row := range rows {
		s := servers[i]
		if s == "" {
			a.Nowhere++
			continue
		}
		if _, ok := parts[s]; !ok {
			names = append(names, s)
		}
		parts[s] = append(parts[s], row)
	}
	keys := make([]runKey, 0, len(names))
	for _, s := range names {
		e, err := r.entry(parts[s], Current)
		if err != nil {
			return nil, err
		}
		e.Server = s
		a.Entries = append(a.Entries, e)
		keys = append(keys, runKey{key: s, agent: r.boundAgent(parts[s][0], s), named: true})
		e.Stand = !slices.ContainsFunc(parts[s], func(row int32) bool { return r.stamped(int(row)) })
	}
	labels := labelsOf(keys)
	for _, e := range a.Entries {
		e.Label = labels[e.Server]
	}
	slices.SortStableFunc(a.Entries, func(x, y *Entry) int {
		return cmp.Or(strings.Compare(x.Label, y.Label), strings.Compare(x.Server, y.Server))
	})
	return a, nil
}

// stamped tells whether a row carries the name of its server.
func (r *Run) stamped(row int) bool { return r.flags[row]&flagServerText != 0 }

// route gives every row its server, "" for a row that goes nowhere. The configuration that ties agents to servers is
// not at hand; what other rows say of an agent stands in for it, or else a name made of the agent's.
func (r *Run) route(rows []int32) ([]string, error) {
	fronts := map[string]string{}
	several := map[string]string{}
	for _, row := range rows {
		agent, ok := r.Agent(int(row))
		if !ok || !r.stamped(int(row)) {
			continue
		}
		server, _ := r.Server(int(row))
		if before, ok := fronts[agent]; ok && before != server {
			several[agent] = server
		} else {
			fronts[agent] = server
		}
	}
	servers := make([]string, len(rows))
	for i, row := range rows {
		if r.stamped(int(row)) {
			servers[i], _ = r.Server(int(row))
			continue
		}
		agent, ok := r.Agent(int(row))
		if !ok {
			continue
		}
		other, ambiguous := several[agent]
		if ambiguous && r.lenient {
			servers[i] = relay(agent)
			continue
		} else if ambiguous {
			return nil, fmt.Errorf("%s: the row names no environment server, and its agent %q stands behind several: %q and %q: %w",
				r.Where(int(row)), agent, fronts[agent], other, ErrRefused)
		}
		if servers[i], ok = fronts[agent]; !ok {
			servers[i] = relay(agent)
		}
	}
	return servers, nil
}

// relay makes the name of a server that does nothing but pass an agent's requests on.
func relay(agent string) string {
	stem := strings.TrimSuffix(strings.TrimSuffix(agent, "_simple_agent"), "simple_agent")
	stem = strings.TrimRight(stem, "_")
	if stem == agent {
		stem = strings.TrimRight(strings.TrimSuffix(agent, "_agent"), "_")
	}
	if stem == "" {
		stem = "simple_agent"
	}
	return stem + "_environment_server"
}

// boundAgent is the agent of a server: that of its first row in the order of task and repeat.
func (r *Run) boundAgent(first int32, server string) string {
	if agent, ok := r.Agent(int(first)); ok {
		return agent
	}
	return server + "_agent"
}

// WriteJSON writes the array of an aggregate-metrics file.
func (a *Aggregate) WriteJSON(w io.Writer) error {
	j := jsonWriter{w: w, indent: true}
	j.open('[')
	for _, e := range a.Entries {
		j.open('{')
		j.agent(e.Label)
		j.key("", "_ng_environment_server")
		j.text(e.Server)
		e.members(&j, false)
		j.close('}')
	}
	j.close(']')
	j.flush()
	return j.err
}

// WriteAgents writes the array of agent-level rows.
func (p *Profile) WriteAgents(w io.Writer) error {
	j := jsonWriter{w: w}
	p.agentRows(&j)
	j.flush()
	return j.err
}

func (p *Profile) agentRows(j *jsonWriter) {
	j.open('[')
	for i := range p.Agents {
		a := &p.Agents[i]
		j.open('{')
		if a.Stats != nil {
			j.stats(a.Stats)
		}
		j.agent(a.Label)
		for k := range a.Across {
			j.metrics(a.Across[k].Metrics())
		}
		if a.Coverage != nil {
			j.metrics(a.Coverage.Metrics())
		}
		j.close('}')
	}
	j.close(']')
}

// WriteRepeats writes the array of repeat-level rows.
func (p *Profile) WriteRepeats(w io.Writer) error {
	j := jsonWriter{w: w}
	p.repeatRows(&j)
	j.flush()
	return j.err
}

func (p *Profile) repeatRows(j *jsonWriter) {
	j.open('[')
	for i := range p.Repeats {
		j.repeat(&p.Repeats[i], true)
	}
	j.close(']')
}

// WriteGroups writes the group-level rows, one per line. read gives the line of the inventory at a place.
func (p *Profile) WriteGroups(w io.Writer, read func(Place) ([]byte, error)) error {
	j := jsonWriter{w: w}
	for i := range p.groups {
		g := p.Group(i)
		line, err := read(p.inputs.Place(g.Sample))
		if err != nil {
			return fmt.Errorf("read %s again: %w", p.inputs.Where(g.Sample), err)
		}
		sample, err := compactRow(line)
		if err != nil {
			return fmt.Errorf("read %s again: %w", p.inputs.Where(g.Sample), err)
		}
		j.group(g, func() { j.raw(string(sample)) })
		j.end("\n")
	}
	j.flush()
	return j.err
}

// WriteJSON writes the profile as one document: completion, agents, repeats, and groups without their samples.
func (p *Profile) WriteJSON(w io.Writer) error {
	j := jsonWriter{w: w, indent: true}
	j.open('{')
	c := p.Completion
	j.key("", "completion")
	j.open('{')
	j.count("expected_rollout_rows", c.Expected)
	j.count("completed_rollout_rows", c.Completed)
	j.count("missing_rollout_rows", c.Missing)
	j.count("extra_rollout_rows", c.Extra)
	j.key("", "reward_profile_completion_pct")
	j.number(Real(c.Percent()))
	j.count("masked_rollout_rows", c.Masked)
	j.count("total_input_rows", c.Inputs)
	j.count("complete_input_rows", c.Complete)
	j.count("partial_input_rows", c.Partial)
	j.count("missing_input_rows", c.Without)
	j.close('}')
	j.key("", "agent_metrics")
	p.agentRows(&j)
	j.key("", "repeat_level_metrics")
	p.repeatRows(&j)
	j.key("", "group_level_metrics")
	j.open('[')
	for i := range p.groups {
		j.group(p.Group(i), func() { j.raw("null") })
	}
	j.close(']')
	j.close('}')
	j.flush()
	return j.err
}

// Rewards lists the rewards of a group's rows in the order of their rollout indices, as rollout infos have them; ok is
// false unless every one is a number and no bool.
func (e *Entry) Rewards(group int) (list []Number, ok bool) {
	for _, row := range e.groups[group].rows {
		n, ok := e.table.run.infoReward(int(row), e.table.rules)
		if !ok {
			return nil, false
		}
		list = append(list, n)
	}
	return list, len(list) > 0
}
