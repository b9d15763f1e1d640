package metrics

import (
	"cmp"
	"math"
	"slices"

	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/outcome"
)

// A record is one sign of a rollout: a row of the run, of the failures sidecar or of the inventory.
type record struct {
	task, repeat uint32
	group        int32
	kind         recordKind
	row          int32
}

type recordKind uint8

// The kinds, in the order in which they count for one rollout.
const (
	ofResult recordKind = iota
	ofFailure
	ofTrace // of the failures sidecar, and yet no failure: the rollout stays to be run
	ofInventory
	recordKinds
)

// scoring is the work of Scores.
type scoring struct {
	run       *Run
	o         ScoreOptions
	threshold float64
	names     []string // of groups, in order; the last is that of rows without one
	records   []record // in the order of task, group and repeat
	tasks     []TaskScore
	classes   []ClassCount
	classAt   map[string]int // in classes
	classTask []int          // the task that each was last seen in, by its place in tasks
	groups    []*tally
	all       *tally
}

// tally gathers what one Score is made of.
type tally struct {
	score     Score
	rewards   []float64 // of measured rollouts
	means     []float64 // of tasks
	scores    [][]RolloutScore
	repeats   map[uint32][]float64 // rewards of rollout indices
	threshold float64
}

// Scores scores the run. It is meant for a lenient one.
func (r *Run) Scores(o ScoreOptions) *Scores {
	s := &scoring{run: r, o: o, threshold: 1}
	if o.Threshold != nil {
		s.threshold = *o.Threshold
	}
	s.all = s.tally()
	s.collect()
	for from := 0; from < len(s.records); {
		to := from + 1
		for to < len(s.records) && s.records[to].task == s.records[from].task && s.records[to].group == s.records[from].group {
			to++
		}
		s.task(s.records[from:to])
		from = to
	}
	for _, state := range r.state {
		switch {
		case state == Readable:
		case state == Unreadable:
			s.all.score.LeftOut.Unreadable++
		default:
			s.all.score.LeftOut.Malformed++
		}
	}
	out := &Scores{Threshold: s.threshold, Tasks: s.tasks, Groups: []Score{}, Classes: s.classes, Binary: true}
	slices.SortFunc(out.Classes, func(a, b ClassCount) int {
		return cmp.Or(cmp.Compare(b.Rollouts, a.Rollouts), cmp.Compare(a.Class, b.Class))
	})
	if out.Tasks == nil {
		out.Tasks = []TaskScore{}
	}
	out.All = s.all.finish(r)
	if o.Inventory == nil {
		out.All.Expected += out.All.LeftOut.Unreadable + out.All.LeftOut.Malformed
	}
	for i, t := range s.groups {
		if t == nil {
			continue
		}
		score := t.finish(r)
		score.Name, score.Named, score.group = s.names[i], i < len(s.names)-1, int32(i)
		out.Groups = append(out.Groups, score)
	}
	for _, x := range s.all.rewards {
		out.Binary = out.Binary && (x == 0 || x == 1)
	}
	s.expect(out)
	return out
}

// collect makes the records and puts them in order.
func (s *scoring) collect() {
	runs := [recordKinds]*Run{ofResult: s.run, ofFailure: s.o.Failures, ofInventory: s.o.Inventory}
	groups := s.group(runs)
	for kind, r := range runs {
		if r == nil {
			continue
		}
		for row, state := range r.state {
			if state != Readable {
				continue
			}
			one := record{
				task: s.run.keys.number(r.Task(row)), repeat: s.run.keys.number(r.Repeat(row)),
				group: groups[kind][row], kind: recordKind(kind), row: int32(row),
			}
			if one.kind == ofFailure && r.trace(row) {
				one.kind = ofTrace
			}
			s.records = append(s.records, one)
		}
	}
	rank := s.run.keyRanks()
	slices.SortStableFunc(s.records, func(a, b record) int {
		return cmp.Or(
			cmp.Compare(rank[a.task], rank[b.task]), cmp.Compare(a.group, b.group),
			cmp.Compare(rank[a.repeat], rank[b.repeat]), cmp.Compare(a.kind, b.kind),
		)
	})
	s.groups = make([]*tally, len(s.names))
}

// group gives every row of the runs its group.
func (s *scoring) group(runs [recordKinds]*Run) (groups [recordKinds][]int32) {
	var keys []runKey
	for _, r := range runs {
		if r == nil || s.o.By != ByLabel || s.o.Value != nil {
			continue
		}
		seen := map[[2]uint32]bool{}
		for row, state := range r.state {
			pair := [2]uint32{r.server[row], r.agent[row]}
			if state != Readable || seen[pair] {
				continue
			}
			seen[pair] = true
			if k, ok := r.runKey(row); ok {
				keys = append(keys, k)
			}
		}
	}
	labels := labelsOf(keys)
	chosen := s.o.Value != nil || s.o.By >= ByField
	of := func(r *Run, row int) (name string, ok bool) {
		if s.o.Value != nil {
			if r != s.run {
				return "", false
			}
			return s.o.Value(row)
		}
		switch s.o.By {
		case ByLabel:
			k, ok := r.runKey(row)
			return labels[k.key], ok
		case BySource:
			if name, ok = r.TaskSource(row); !ok {
				name = NoSource
			}
			return name, true
		}
		name, kind := r.Field(row, int(s.o.By-ByField))
		return name, truthy(name, kind)
	}
	// each calls f for every row that can be read.
	each := func(f func(kind int, r *Run, row int, task uint32, name string, ok bool)) {
		for kind, r := range runs {
			if r == nil {
				continue
			}
			for row, state := range r.state {
				if state == Readable {
					name, ok := of(r, row)
					f(kind, r, row, s.run.keys.number(r.Task(row)), name, ok)
				}
			}
		}
	}
	// home is where the first row of a task is that has a group. A field chosen later is one of the task. A sidecar does
	// not say everything, so its rows go where other rows of their task are.
	home := map[uint32]string{}
	each(func(_ int, _ *Run, _ int, task uint32, name string, ok bool) {
		if _, there := home[task]; ok && !there {
			home[task] = name
		}
	})
	place := func(kind int, task uint32, name string, ok bool) (string, bool) {
		if chosen || kind != int(ofResult) && (!ok || s.o.By != ByLabel) {
			if first, there := home[task]; there {
				return first, true
			}
		}
		return name, ok
	}
	number := map[string]int32{}
	each(func(kind int, _ *Run, _ int, task uint32, name string, ok bool) {
		if name, ok = place(kind, task, name, ok); ok {
			number[name] = 0
		}
	})
	for name := range number {
		s.names = append(s.names, name)
	}
	slices.Sort(s.names)
	for i, name := range s.names {
		number[name] = int32(i)
	}
	s.names = append(s.names, "")
	for kind, r := range runs {
		if r != nil {
			groups[kind] = make([]int32, r.Rows())
		}
	}
	each(func(kind int, _ *Run, row int, task uint32, name string, ok bool) {
		groups[kind][row] = int32(len(s.names) - 1)
		if name, ok = place(kind, task, name, ok); ok {
			groups[kind][row] = number[name]
		}
	})
	return groups
}

// truthy tells whether the value of a chosen field names a group: what the reference's language takes for false does
// not.
func truthy(text string, kind jsonscan.Kind) bool {
	switch kind {
	case jsonscan.Absent, jsonscan.Null:
		return false
	case jsonscan.String:
		return text != ""
	case jsonscan.Array:
		return text != "[]"
	case jsonscan.Object:
		return text != "{}"
	}
	return text != "0"
}

// task scores the records of one task in one group.
func (s *scoring) task(records []record) {
	r := s.run
	t := TaskScore{Task: r.keys.list[records[0].task], Group: s.names[records[0].group], group: records[0].group, Min: math.NaN(), Max: math.NaN()}
	g := s.groups[records[0].group]
	if g == nil {
		g = s.tally()
		s.groups[records[0].group] = g
	}
	both := [...]*tally{s.all, g}
	var (
		rewards, latencies []float64
		passed, failed     average
		scores             []RolloutScore
		inventory, seen    int
	)
	for from := 0; from < len(records); {
		to := from + 1
		for to < len(records) && records[to].repeat == records[from].repeat {
			to++
		}
		seen++
		first, last := records[from], records[from] // last is the last of the kind that counts
		for _, one := range records[from:to] {
			if one.kind == first.kind {
				last = one
			}
			switch {
			case one.kind == ofInventory:
				inventory++
			case one.kind == ofResult:
				t.Rows = append(t.Rows, one.row)
				if one != first {
					for _, b := range both {
						b.score.LeftOut.Duplicates++
					}
				}
			}
		}
		x, scored := 0.0, false
		for _, b := range both {
			b.score.Expected++
			switch {
			case first.kind == ofFailure && s.o.Failures.omission(int(last.row)):
				b.score.LeftOut.Omitted++
			case first.kind == ofFailure:
				b.score.LeftOut.Failed++
			case first.kind != ofResult:
				b.score.LeftOut.Missing++
			case r.Masked(int(first.row)):
				b.score.LeftOut.Masked++
			default:
				if x, scored = r.Reward(int(first.row)); !scored {
					b.score.LeftOut.Unscored++
					continue
				}
				b.rewards = append(b.rewards, x)
				b.repeats[first.repeat] = append(b.repeats[first.repeat], x)
			}
		}
		switch {
		case first.kind == ofFailure && s.o.Failures.omission(int(last.row)):
			t.Omitted++
		case first.kind == ofFailure:
			t.Failed++
			class := s.o.Failures.class(int(last.row))
			if s.fail(class, len(s.tasks)) {
				t.Classes = append(t.Classes, class)
			}
		case first.kind == ofResult && r.Masked(int(first.row)):
			t.Masked++
		}
		if scored {
			rewards = append(rewards, x)
			scores = append(scores, RolloutScore{Value: x})
			pass := x >= s.threshold
			if pass {
				t.Passed++
			}
			if n, ok := r.completion(int(first.row)); ok && pass {
				passed.add(n)
			} else if ok {
				failed.add(n)
			}
			if ms, ok := r.Latency(int(first.row)); ok {
				latencies = append(latencies, ms)
			}
		}
		from = to
	}
	t.Measured = len(rewards)
	if t.Expected = seen; s.o.Inventory != nil {
		t.Expected = max(inventory, t.Measured)
	}
	t.TokensPassed, t.TokensFailed, t.Latency = passed.value(), failed.value(), math.NaN()
	if len(latencies) > 0 {
		slices.Sort(latencies)
		t.Latency = middle(latencies)
	}
	if t.Measured > 0 {
		t.Mean = mean(rewards)
		t.Std = deviation(rewards, t.Mean, 1, nil)
		t.Min, t.Max = slices.Min(rewards), slices.Max(rewards)
		switch t.Passed {
		case t.Measured:
			t.Slice = Always
		case 0:
			t.Slice = Never
		default:
			t.Slice = Sometimes
		}
	}
	s.tasks = append(s.tasks, t)
	for _, b := range both {
		b.score.Tasks++
		b.score.Slices[t.Slice]++
		if t.Measured > 0 {
			b.means = append(b.means, t.Mean)
			b.scores = append(b.scores, scores)
		}
	}
}

// fail counts a rollout that failed, and its task if it is the first of the class there.
func (s *scoring) fail(class string, task int) (first bool) {
	at, known := s.classAt[class]
	if !known {
		if s.classAt == nil {
			s.classAt = map[string]int{}
		}
		at = len(s.classes)
		s.classAt[class] = at
		s.classes, s.classTask = append(s.classes, ClassCount{Class: class}), append(s.classTask, -1)
	}
	s.classes[at].Rollouts++
	if first = s.classTask[at] != task; first {
		s.classes[at].Tasks++
		s.classTask[at] = task
	}
	return first
}

// FailureFields are the chosen fields of a failures sidecar that tell failures, omissions and mere traces apart.
var FailureFields = []string{ClassField, "_ng_failure_terminal", "_ng_omitted", "_ng_omitted_rollout", "_ng_unrouted_run_error", "_ng_dispatch_drained"}

// flag tells whether a chosen field of a sidecar's row is set.
func (r *Run) flag(row, field int) bool { return truthy(r.Field(row, field)) }

// class is the failure class of a sidecar's row, "" where it names none.
func (r *Run) class(row int) string {
	class, _ := r.Field(row, 0)
	return class
}

// omission tells whether a row of a failures sidecar says that the rollout was left out on purpose (spec omitted §1).
func (r *Run) omission(row int) bool {
	return r.flag(row, 2) || r.class(row) == "skipped" && r.flag(row, 1)
}

// trace tells whether a row of a failures sidecar is evidence of what happened, and no outcome.
func (r *Run) trace(row int) bool {
	return outcome.EvidenceOf(r.flag(row, 3), r.flag(row, 4), r.flag(row, 5), r.class(row)) != outcome.NoEvidence
}

func (s *scoring) tally() *tally {
	return &tally{repeats: map[uint32][]float64{}, threshold: s.threshold}
}

// average is a mean that may be of nothing.
type average struct {
	total sum
	n     int
}

func (a *average) add(x float64) { a.total.add(x); a.n++ }

func (a *average) value() float64 {
	if a.n == 0 {
		return math.NaN()
	}
	return a.total.value() / float64(a.n)
}

// finish computes what hangs on all rollouts of the tally.
func (t *tally) finish(r *Run) Score {
	d := t.score
	d.Repeats = []RepeatScore{}
	d.Measured = len(t.rewards)
	if d.Measured > 0 {
		d.Mean = mean(t.rewards)
		d.Std = deviation(t.rewards, d.Mean, 1, nil)
		d.TaskMean = mean(t.means)
	}
	d.Pass = NewPassK(t.scores, false)
	d.Rewards = distribute(t.rewards)
	t.solve(&d)
	if len(t.repeats) < 2 {
		return d
	}
	rank := r.keyRanks()
	keys := make([]uint32, 0, len(t.repeats))
	for key := range t.repeats {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b uint32) int { return cmp.Compare(rank[a], rank[b]) })
	means := make([]float64, 0, len(keys))
	for _, key := range keys {
		values := t.repeats[key]
		one := RepeatScore{Index: r.keys.list[key], Tasks: len(values), Missing: len(t.means) - len(values), Mean: mean(values)}
		se := deviation(values, one.Mean, 1, nil) / math.Sqrt(float64(len(values)))
		one.Low, one.High, one.Interval = interval(one.Mean, se, len(values))
		d.Repeats = append(d.Repeats, one)
		means = append(means, one.Mean)
	}
	d.Across = across("mean/reward", means)
	return d
}

// solve counts tasks by the number of their repeats that pass, over tasks with all repeats.
func (t *tally) solve(d *Score) {
	d.Solved = make([]int, d.Pass.MaxK+1)
	for _, scores := range t.scores {
		if len(scores) != d.Pass.MaxK {
			continue
		}
		n := 0
		for _, one := range scores {
			if one.Value >= t.threshold {
				n++
			}
		}
		d.Solved[n]++
	}
}

// expect tells which tasks lack rollouts. Without an inventory every task of a group is expected to have the repeats
// that the group has.
func (s *scoring) expect(out *Scores) {
	at := map[int32]int{}
	for i := range out.Groups {
		at[out.Groups[i].group] = i
	}
	indices := map[int32]map[uint32]bool{}
	if s.o.Inventory == nil {
		for _, one := range s.records {
			if indices[one.group] == nil {
				indices[one.group] = map[uint32]bool{}
			}
			indices[one.group][one.repeat] = true
		}
	}
	for i := range out.Tasks {
		t := &out.Tasks[i]
		if s.o.Inventory == nil {
			t.Expected = max(t.Expected, len(indices[t.group]))
		}
		if t.Incomplete = t.Measured > 0 && t.Measured < t.Expected; t.Incomplete {
			out.All.Incomplete++
			out.Groups[at[t.group]].Incomplete++
		}
	}
}

// completion is the number of completion tokens of a row: by its usage, or by its performance record.
func (r *Run) completion(row int) (float64, bool) {
	for c := range r.cellsOf(row) {
		if c.uses&ofUsage == 0 {
			continue
		}
		if name := r.names.texts[c.name]; name == "output_tokens" || name == "completion_tokens" {
			return r.numberOf(c).Float(), true
		}
	}
	return r.perfOf(row, perfCompletion)
}

// Latency is the total latency of a row by its performance record, in ms.
func (r *Run) Latency(row int) (ms float64, ok bool) { return r.perfOf(row, perfLatency) }

func (r *Run) perfOf(row, field int) (float64, bool) {
	for c := range r.cellsOf(row) {
		if c.uses == ofPerf && int(c.name) == field {
			return stored{c.bits, c.kind}.float(), true
		}
	}
	return 0, false
}
