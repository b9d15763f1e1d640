package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/rollscope/rollscope/core/metrics"
	"github.com/rollscope/rollscope/core/rollout"
)

// A Mode says how tasks move between the sides.
type Mode string

// The modes.
const (
	Binary      Mode = "binary"      // every reward is 0 or 1, so a task passes or fails
	Continuous  Mode = "continuous"  // scores change
	Unavailable Mode = "unavailable" // nothing can be said
)

// A Direction says how a task moved.
type Direction string

// The directions.
const (
	PassToFail Direction = "pass_to_fail"
	FailToPass Direction = "fail_to_pass"
	Changed    Direction = "changed"
)

// Flips say which tasks moved.
type Flips struct {
	Mode   Mode
	Reason string // why nothing can be said
	Common int    // tasks on both sides
	// Tasks on one side only.
	BaselineOnly, CandidateOnly int
	// Counts of scored tasks. Those of flips are for the binary mode alone.
	PassToFail, FailToPass, Tied, Unchanged int
	List                                    []Flip
}

// Net is by how many more tasks pass.
func (f *Flips) Net() int { return f.FailToPass - f.PassToFail }

// A Flip is a task that moved.
type Flip struct {
	Task                rollout.Key
	Baseline, Candidate float64 // means of the rewards
	Delta               float64
	Direction           Direction
	// Rewards by repeat; nil where they are not known, and behind the first ten flips of a direction.
	BaselineRewards, CandidateRewards []metrics.Number
}

// Shown is how many flips of a direction are shown with their rewards.
const Shown = 10

// passMark is what the mean of a task must be above for it to pass. It is the reference's for comparisons and has
// nothing to do with the threshold of slices.
const passMark = 0.5

// flips joins the tasks of both sides by their index.
func flips(base, cand *Entry) Flips {
	f := Flips{List: []Flip{}}
	at := make(map[rollout.Key]int, len(cand.Tasks))
	for i, t := range cand.Tasks {
		at[t.Index] = i
	}
	type pair struct{ b, c *Task }
	var scored []pair
	for i := range base.Tasks {
		k, ok := at[base.Tasks[i].Index]
		if !ok {
			f.BaselineOnly++
			continue
		}
		f.Common++
		if b, c := &base.Tasks[i], &cand.Tasks[k]; b.Mean.OK && c.Mean.OK {
			scored = append(scored, pair{b, c})
		}
	}
	f.CandidateOnly = len(cand.Tasks) - f.Common
	switch {
	case len(base.Tasks) == 0 || len(cand.Tasks) == 0:
		side := "baseline"
		if len(base.Tasks) > 0 {
			side = "candidate"
		}
		f.Mode, f.Reason = Unavailable, "The "+side+" has no tasks with an index."
		return f
	case f.Common == 0:
		f.Mode, f.Reason = Unavailable, fmt.Sprintf("No task index is on both sides (%d and %d tasks).", len(base.Tasks), len(cand.Tasks))
		return f
	case len(scored) == 0:
		f.Mode, f.Reason = Unavailable, "No task has a mean reward on both sides."
		return f
	}
	f.Mode = Binary
	for _, p := range scored {
		if !p.b.binary() || !p.c.binary() {
			f.Mode = Continuous
			break
		}
	}
	tasks := make([]pair, 0, len(scored))
	for _, p := range scored {
		flip := Flip{Task: p.b.Index, Baseline: p.b.Mean.X, Candidate: p.c.Mean.X, Delta: p.c.Mean.X - p.b.Mean.X}
		switch {
		case f.Mode == Continuous && flip.Baseline == flip.Candidate:
			f.Unchanged++
			continue
		case f.Mode == Continuous:
			flip.Direction = Changed
		case flip.Baseline == passMark || flip.Candidate == passMark:
			f.Tied++
			continue
		case flip.Baseline > passMark && flip.Candidate < passMark:
			flip.Direction = PassToFail
			f.PassToFail++
		case flip.Baseline < passMark && flip.Candidate > passMark:
			flip.Direction = FailToPass
			f.FailToPass++
		default:
			f.Unchanged++
			continue
		}
		f.List = append(f.List, flip)
		tasks = append(tasks, p)
	}
	order := make([]int, len(f.List))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := &f.List[i], &f.List[j]
		return cmp.Or(
			cmp.Compare(rank(a.Direction), rank(b.Direction)),
			cmp.Compare(math.Abs(b.Delta), math.Abs(a.Delta)),
			a.Task.Compare(b.Task),
		)
	})
	list := make([]Flip, len(order))
	shown := map[Direction]int{}
	for n, i := range order {
		list[n] = f.List[i]
		if shown[list[n].Direction]++; shown[list[n].Direction] <= Shown {
			list[n].BaselineRewards, list[n].CandidateRewards = tasks[i].b.Rewards(), tasks[i].c.Rewards()
		}
	}
	f.List = list
	return f
}

// rank puts what got worse first.
func rank(d Direction) int {
	if d == FailToPass {
		return 1
	}
	return 0
}

// binary tells whether all that is known of the task's rewards is 0 or 1.
func (t *Task) binary() bool {
	one := func(x float64) bool { return x == 0 || x == 1 }
	switch {
	case !t.Min.OK && !t.Max.OK:
		return one(t.Mean.X)
	case t.Min.OK && !one(t.Min.X):
		return false
	}
	return !t.Max.OK || one(t.Max.X)
}
