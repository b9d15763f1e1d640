package metrics

import (
	"math"
	"slices"
	"strings"

	"github.com/rollscope/rollscope/core/rollout"
)

// Status says how a saved value and the derived one of its name go together (spec metrics §14).
type Status uint8

// The statuses.
const (
	Match        Status = iota
	Differs             // both are there, and not equal
	SavedOnly           // it cannot be derived from the rows
	DerivedOnly         // the file does not have it
	DefaultScore        // a pass@k value that is not of the table, and equals what the reward gives
	OtherScore          // the same, and differs
	statusCount
)

var statusNames = [statusCount]string{"match", "differs", "saved only", "derived only", "agrees with the default score", "uses another score"}

// String gives the status in words.
func (s Status) String() string { return statusNames[s] }

// A Part is a part of an entry.
type Part uint8

// The parts.
const (
	AgentPart Part = iota
	KeyPart
	GroupPart
	RepeatPart
	partCount
)

var partNames = [partCount]string{"agent_metrics", "key_metrics", "group_level_metrics", "repeat_level_metrics"}

// String gives the name of the part in the file.
func (p Part) String() string { return partNames[p] }

// A Difference is a saved value that was not found equal, or a derived one that was not saved.
type Difference struct {
	Part    Part
	Index   rollout.Key // of the task or the repeat, in those parts
	Name    string
	Saved   Number // without meaning if only derived
	Derived Number // without meaning if only saved
	Status  Status
}

// An Agreement holds one saved entry against the rows.
type Agreement struct {
	Label string
	Rules Rules
	// Rows are the rows that belong to the entry, and Saved the rollouts that the file counts, −1 where it does not say.
	// If they differ, rows were added or lost since, and nothing else need agree.
	Rows, Saved int
	Counts      [statusCount]int
	Differences []Difference // all but the matches
	Matches     []Difference
}

// Agree derives what a saved file says from the rows of the run, entry by entry, by the rules of the version that wrote
// it, and tells where both part.
func (r *Run) Agree(s *Saved) []Agreement {
	list := make([]Agreement, 0, len(s.Entries))
	rows := r.Distinct()
	servers, _ := r.route(rows)
	for _, e := range s.Entries {
		mine := r.rowsOf(e, rows, servers, len(s.Entries) == 1)
		a := Agreement{Label: e.Label, Rules: e.Rules, Rows: len(mine), Saved: e.rollouts(), Differences: []Difference{}, Matches: []Difference{}}
		a.compare(e, r.entryOf(mine, e.Rules))
		list = append(list, a)
	}
	return list
}

// Distinct lists the rows that can be read, one for every rollout, in the order of task and repeat.
func (r *Run) Distinct() []int32 {
	rank := r.keyRanks()
	rows := r.all()
	slices.SortStableFunc(rows, func(a, b int32) int {
		if c := int(rank[r.task[a]]) - int(rank[r.task[b]]); c != 0 {
			return c
		}
		return int(rank[r.repeat[a]]) - int(rank[r.repeat[b]])
	})
	return slices.CompactFunc(rows, func(a, b int32) bool { return r.task[a] == r.task[b] && r.repeat[a] == r.repeat[b] })
}

// rowsOf finds the rows of a saved entry: those of its server, or in files without servers those of its agent. A file
// of one entry is about all rows, whatever they call themselves.
func (r *Run) rowsOf(e *SavedEntry, rows []int32, servers []string, alone bool) []int32 {
	mine := make([]int32, 0, len(rows))
	for i, row := range rows {
		agent, _ := r.Agent(int(row))
		switch {
		case e.Server != "" && servers != nil:
			if servers[i] == e.Server {
				mine = append(mine, row)
			}
		case agent == e.Label || e.Part && e.Label == "":
			mine = append(mine, row)
		}
	}
	if len(mine) == 0 && alone {
		return rows
	}
	return mine
}

// rollouts is the number of rollouts the entry counts, −1 if it does not say.
func (e *SavedEntry) rollouts() int {
	total, known := 0, false
	for _, g := range e.Groups {
		if n, ok := g.Number("num_rollouts"); ok {
			total += int(n.Float())
			known = true
		}
	}
	if !known {
		return -1
	}
	for _, v := range e.Agent {
		if v.Name == "coverage/masked_rollouts" {
			total += int(v.Number.Float())
		}
	}
	return total
}

func (a *Agreement) compare(e *SavedEntry, d *Entry) {
	if !e.Part || len(e.Agent) > 0 {
		pass, own := d.defaultPass(), d.Metrics()
		if e.Part {
			own = slices.DeleteFunc(own, func(m Metric) bool { return m.Name == "num_repeats" }) // not on that level
		}
		a.part(AgentPart, rollout.Key{}, e.Agent, own, pass)
		a.part(KeyPart, rollout.Key{}, e.Key, d.KeyMetrics(), pass)
	}
	groups := map[rollout.Key]int{}
	for i := range d.groups {
		groups[d.table.run.keys.list[d.groups[i].task]] = i
	}
	for n, saved := range e.Groups {
		k, ok := saved.Index("_ng_task_index")
		if !ok && e.Part && len(e.Groups) == len(d.groups) {
			// The oldest files have the tasks in their order and no index.
			k, ok = d.table.run.keys.list[d.groups[n].task], true
		}
		if !ok {
			continue
		}
		var own []Metric
		if i, ok := groups[k]; ok {
			g := d.Group(i)
			own = g.Stats.Metrics()
			if e.Rules != LineOrder {
				own = append(own,
					Metric{"num_rollouts", Whole(int64(len(g.Rows)))}, Metric{"expected_num_rollouts", Whole(int64(g.Expected))},
					Metric{"missing_num_rollouts", Whole(int64(g.Missing()))}, Metric{"reward_profile_completion_pct", Real(g.Completion())})
			}
		}
		a.part(GroupPart, k, saved.Values(), own, nil)
	}
	repeats := map[rollout.Key]int{}
	for i := range d.Repeats {
		repeats[d.Repeats[i].Index] = i
	}
	for _, saved := range e.Repeats {
		k, ok := saved.Index("_ng_rollout_index")
		if !ok {
			continue
		}
		var own []Metric
		if i, ok := repeats[k]; ok {
			own = d.Repeats[i].Metrics()
		}
		a.part(RepeatPart, k, saved.Values(), own, nil)
	}
}

// part holds one list of values against another.
func (a *Agreement) part(part Part, index rollout.Key, saved []SavedValue, own []Metric, pass []Metric) {
	derived := make(map[string]Number, len(own))
	for _, m := range own {
		derived[m.Name] = m.Value
	}
	add := func(d Difference) {
		a.Counts[d.Status]++
		if d.Status == Match {
			a.Matches = append(a.Matches, d)
		} else {
			a.Differences = append(a.Differences, d)
		}
	}
	seen := make(map[string]bool, len(saved))
	for _, v := range saved {
		seen[v.Name] = true
		if !v.Numeric || v.Name == "_ng_task_index" || v.Name == "_ng_rollout_index" {
			continue
		}
		d := Difference{Part: part, Index: index, Name: v.Name, Saved: v.Number, Status: SavedOnly}
		var ok bool
		if d.Derived, ok = derived[v.Name]; ok {
			if d.Status = Differs; agrees(v.Name, d.Saved, d.Derived) {
				d.Status = Match
			}
		} else if d.Derived, ok = Find(pass, v.Name); ok {
			if d.Status = OtherScore; agrees(v.Name, d.Saved, d.Derived) {
				d.Status = DefaultScore
			}
		}
		add(d)
	}
	for _, m := range own {
		// Which metrics are key metrics an environment may choose, so none is missing there.
		if !seen[m.Name] && part != KeyPart {
			add(Difference{Part: part, Index: index, Name: m.Name, Derived: m.Value, Status: DerivedOnly})
		}
	}
}

// tolerance is how far two equal numbers may be apart, in parts of the larger one, or of 1.
const tolerance = 1e-9

// agrees tells whether two numbers are equal: counts exactly, others nearly.
func agrees(name string, a, b Number) bool {
	x, y := a.Float(), b.Float()
	switch {
	case strings.HasPrefix(name, "coverage/"), strings.HasSuffix(name, "num_rollouts"), name == "num_repeats", strings.HasSuffix(name, "_count"):
		return x == y
	}
	return math.Abs(x-y) <= tolerance*max(1, math.Abs(x), math.Abs(y))
}

// defaultPass is the pass@k family with the reward as the score, over the tasks of the entry.
func (e *Entry) defaultPass() []Metric {
	r := e.table.run
	var tasks [][]RolloutScore
	for i := range e.groups {
		var scores []RolloutScore
		for _, row := range e.groups[i].rows {
			if x, ok := r.Reward(int(row)); ok {
				scores = append(scores, RolloutScore{Value: x})
			}
		}
		if len(scores) > 0 {
			tasks = append(tasks, scores)
		}
	}
	p := NewPassK(tasks, false)
	return append(p.Metrics, p.Spread...)
}

// Metrics lists what the files say of the repeat.
func (r *Repeat) Metrics() []Metric {
	list := []Metric{{"sample_count", Whole(int64(r.Sample))}, {"missing_count", Whole(int64(r.Missing))}}
	for i := range r.Columns {
		c := &r.Columns[i]
		c.each(func(prefix string, x float64) { list = append(list, Metric{prefix + c.Name, Real(x)}) })
	}
	return list
}
