package metrics

import "github.com/rollscope/rollscope/core/rollout"

// A Grouping says what rows are put together by.
type Grouping int

// The groupings. A number from ByField on stands for a field: ByField + i is the i-th of [Mapper.Fields].
const (
	ByLabel  Grouping = iota // environment server or agent (spec metrics §4)
	BySource                 // task_source
	ByField
)

// NoSource is the group of rows without a task source, as the reference names it.
const NoSource = "none"

// ScoreOptions change how a run is scored. The zero ScoreOptions know no inventory and take a reward of 1 for a pass.
type ScoreOptions struct {
	Threshold *float64 // reward from which on a rollout passes; nil means 1
	By        Grouping
	// Value, if it is not nil, names the group of a row of the run instead; ok is false for a row that has none. All rows
	// of a task are in the group of its first row that has one, as with a chosen field.
	Value     func(row int) (name string, ok bool)
	Inventory *Run // rows of the materialized inputs; nil if there are none
	Failures  *Run // rows of the failures sidecar, mapped with [FailureFields]; nil if there is none
}

// Scores are what a run has earned, and over what. Rows that cannot be counted are left out and told.
type Scores struct {
	Threshold float64
	All       Score
	Groups    []Score // by their names; one for each, unlabelled rows under an empty name
	Tasks     []TaskScore
	Classes   []ClassCount // of failed rollouts, the most frequent first
	// Binary tells that every reward is 0 or 1.
	Binary bool
}

// A Score is what some rows have earned.
type Score struct {
	Name     string
	Named    bool // rows of no group have no name
	Expected int  // rollouts that are known of, from rows and sidecars; without an inventory lines that cannot be read count as well
	Measured int  // rollouts with a reward that counts
	LeftOut  LeftOut

	Mean, Std  float64 // over rollouts; without meaning unless something is measured
	TaskMean   float64 // mean over tasks of their means
	Tasks      int     // tasks that are known of
	Repeats    []RepeatScore
	Across     Across // of the means of repeats; N is 0 without any
	Slices     [SliceCount]int
	Incomplete int // tasks that lack a reward of an expected rollout, those of the slice missing aside
	Pass       *PassK
	Solved     []int // tasks by the number of their repeats that pass, over tasks with all repeats measured; the last is all
	Rewards    *Distribution

	group int32
}

// LeftOut counts what is in no mean, and why.
type LeftOut struct {
	Masked     int // the row says that its score is no measurement
	Unscored   int // no reward, or none that is a number
	Duplicates int // a row of the same rollout came before
	Unreadable int // no row at all
	Malformed  int // a part of the row has a shape that metrics cannot read
	Failed     int // known from the failures sidecar only
	Omitted    int // the same, left out on purpose
	Missing    int // known from the inventory only, or from a trace that is no outcome
}

// Total is the sum of all reasons.
func (l LeftOut) Total() int {
	return l.Masked + l.Unscored + l.Duplicates + l.Unreadable + l.Malformed + l.Failed + l.Omitted + l.Missing
}

// A ClassCount counts the rollouts that failed for good with one class, and the tasks they are of.
type ClassCount struct {
	Class    string // "" where none is named
	Rollouts int
	Tasks    int
}

// A RepeatScore is what the rows of one rollout index have earned.
type RepeatScore struct {
	Index     rollout.Key
	Tasks     int // tasks with a reward
	Missing   int // tasks of the group without one
	Mean      float64
	Low, High float64
	Interval  bool
}

// A Slice says how a task goes.
type Slice uint8

// The slices (spec metrics §13).
const (
	MissingTask Slice = iota // no reward that counts
	Always                   // every rollout passes
	Sometimes
	Never
	SliceCount
)

var sliceNames = [SliceCount]string{"missing", "always", "sometimes", "never"}

// String gives the name of the slice.
func (s Slice) String() string { return sliceNames[s] }

// A TaskScore is what the rollouts of one task have earned.
type TaskScore struct {
	Task       rollout.Key
	Group      string
	Rows       []int32 // its rows in the order of their repeats, those that are left out included
	Expected   int
	Measured   int
	Passed     int
	Failed     int // known from the failures sidecar only
	Omitted    int // the same, left out on purpose
	Masked     int
	Mean, Std  float64
	Min, Max   float64
	Slice      Slice
	Incomplete bool
	Classes    []string // of the failed rollouts, without repetition

	// Tokens are mean completion tokens of the rollouts that pass and of those that do not; NaN where none says.
	TokensPassed, TokensFailed float64
	Latency                    float64 // median of the total latency in ms; NaN where no rollout says

	group int32
}
