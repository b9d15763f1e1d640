package compare

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/rollscope/rollscope/core/metrics"
)

// A Key names a task, so that the tasks of two runs can be joined; ok is false for a task it cannot name.
type Key func(t *metrics.TaskScore) (key string, ok bool)

// ByIndex names tasks by their index. It is right if both runs had the same tasks in the same order.
func ByIndex(t *metrics.TaskScore) (string, bool) {
	if t.Task.IsInt() {
		return t.Task.String(), true
	}
	return `"` + t.Task.String() + `"`, true
}

// ByIndexAndGroup names tasks by index and group, for runs in which several agents have the same tasks.
func ByIndexAndGroup(t *metrics.TaskScore) (string, bool) {
	index, _ := ByIndex(t)
	return index + "\x00" + t.Group, true
}

// A Pair is a task that both runs have.
type Pair struct {
	Key                 string
	Baseline, Candidate *metrics.TaskScore
	Delta               Optional // of the mean rewards
	Move                Move
}

// A Move says what became of a task.
type Move uint8

// The moves. In the binary mode a task passes when its mean is above one half; a mean of exactly one half is a tie.
const (
	NotScored Move = iota // a side has no reward
	Same
	Tied
	ToFail
	ToPass
	Lower // of the continuous mode
	Higher
	moves
)

var moveNames = [moves]string{"not scored", "same", "tied", "pass→fail", "fail→pass", "lower", "higher"}

// String gives the move in words.
func (m Move) String() string { return moveNames[m] }

// An Alignment is two runs task by task.
type Alignment struct {
	Mode   Mode
	Pairs  []Pair // what moved first, by the size of the move; then the others
	Counts [moves]int
	// Tasks on one side only, and those whose key is on one side more than once, which cannot be joined.
	BaselineOnly, CandidateOnly []*metrics.TaskScore
	Ambiguous                   []string
	Unnamed                     int // tasks that have no key

	// Difference is the mean of the deltas of all scored tasks, with the interval that holds it with 95 %. Tasks are
	// paired, so their difficulty is not part of it.
	Difference Difference
}

// A Difference is a mean of N deltas.
type Difference struct {
	N         int
	Mean      float64
	Low, High float64
	Interval  bool // there are at least two
}

// Align joins the tasks of two runs by a key.
func Align(baseline, candidate *metrics.Scores, key Key) *Alignment {
	a := &Alignment{Pairs: []Pair{}, BaselineOnly: []*metrics.TaskScore{}, CandidateOnly: []*metrics.TaskScore{}, Ambiguous: []string{}}
	base, baseOrder := a.index(baseline, key)
	cand, candOrder := a.index(candidate, key)
	binary := true
	for _, k := range baseOrder {
		b, c := base[k], cand[k]
		switch {
		case len(c) == 0:
			a.BaselineOnly = append(a.BaselineOnly, b...)
			continue
		case len(b) > 1 || len(c) > 1:
			a.Ambiguous = append(a.Ambiguous, k)
			continue
		}
		p := Pair{Key: k, Baseline: b[0], Candidate: c[0]}
		if p.Baseline.Measured > 0 && p.Candidate.Measured > 0 {
			p.Delta = finite(p.Candidate.Mean - p.Baseline.Mean)
			binary = binary && zeroOne(p.Baseline) && zeroOne(p.Candidate)
		}
		a.Pairs = append(a.Pairs, p)
	}
	for _, k := range candOrder {
		if len(base[k]) == 0 {
			a.CandidateOnly = append(a.CandidateOnly, cand[k]...)
		}
	}
	a.judge(binary)
	return a
}

// index finds tasks by their keys.
func (a *Alignment) index(s *metrics.Scores, key Key) (at map[string][]*metrics.TaskScore, order []string) {
	at = make(map[string][]*metrics.TaskScore, len(s.Tasks))
	for i := range s.Tasks {
		t := &s.Tasks[i]
		k, ok := key(t)
		if !ok {
			a.Unnamed++
			continue
		}
		if len(at[k]) == 0 {
			order = append(order, k)
		}
		at[k] = append(at[k], t)
	}
	return at, order
}

func zeroOne(t *metrics.TaskScore) bool {
	one := func(x float64) bool { return x == 0 || x == 1 }
	return one(t.Min) && one(t.Max)
}

// judge decides about the moves and puts pairs in order.
func (a *Alignment) judge(binary bool) {
	var deltas []float64
	for i := range a.Pairs {
		p := &a.Pairs[i]
		if p.Delta.OK {
			deltas = append(deltas, p.Delta.X)
			p.Move = move(p.Baseline.Mean, p.Candidate.Mean, binary)
		}
		a.Counts[p.Move]++
	}
	switch {
	case len(deltas) == 0:
		a.Mode = Unavailable
	case binary:
		a.Mode = Binary
	default:
		a.Mode = Continuous
	}
	slices.SortStableFunc(a.Pairs, func(x, y Pair) int {
		return cmp.Or(
			cmp.Compare(moveRank(x.Move), moveRank(y.Move)),
			cmp.Compare(math.Abs(y.Delta.X), math.Abs(x.Delta.X)),
			x.Baseline.Task.Compare(y.Baseline.Task),
			strings.Compare(x.Key, y.Key),
		)
	})
	a.Difference = difference(deltas)
}

func move(b, c float64, binary bool) Move {
	switch {
	case !binary && c < b:
		return Lower
	case !binary && c > b:
		return Higher
	case !binary:
		return Same
	case b == passMark || c == passMark:
		return Tied
	case b > passMark && c < passMark:
		return ToFail
	case b < passMark && c > passMark:
		return ToPass
	}
	return Same
}

// moveRank puts what got worse first and sameness last.
func moveRank(m Move) int {
	return [moves]int{NotScored: 4, Same: 3, Tied: 2, ToFail: 0, ToPass: 1, Lower: 0, Higher: 0}[m]
}

func difference(deltas []float64) Difference {
	d := Difference{N: len(deltas)}
	if d.N == 0 {
		return d
	}
	var variance float64
	d.Mean, variance = moments(deltas)
	if d.Interval = d.N > 1; d.Interval {
		half := 0.0
		if variance > 0 {
			half = metrics.TQuantile(float64(d.N-1)) * math.Sqrt(variance/float64(d.N))
		}
		d.Low, d.High = d.Mean-half, d.Mean+half
	}
	return d
}
