package view

import (
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/rollscope/rollscope/core/analysis"
	"github.com/rollscope/rollscope/core/health"
	"github.com/rollscope/rollscope/core/rollout"
	"github.com/rollscope/rollscope/core/view/filter"
)

// series holds what charts, sums and the grid of tasks ask of every row, in columns: some fifty bytes a row, filled
// as rows come in. The number of a row is its ordinal.
type series struct {
	reward, completion   []float64 // NaN where there is no number
	turns, calls, failed []int32   // −1 where there is none
	masked               []bool
	verdict              []health.Verdict // of the row by itself, before there is a report
	agent                []int32          // index of agents, −1 where there is none
	agents               []string         // in order of appearance
	task                 []int32          // index of tasks
	tasks                []rollout.Key    // in order of appearance
	repeat               []int32          // index of repeats
	repeats              []rollout.Key    // in order of appearance

	called, timed bool // some row tells of model calls, of the time it took

	// Characters of the longest value, by the key of its column.
	chars map[string]int

	agentOf  map[string]int32
	taskOf   map[rollout.Key]int32
	repeatOf map[rollout.Key]int32
}

// missingNumber stands in a column for a number that is not there.
var missingNumber = math.NaN()

func (s *series) rows() int { return len(s.reward) }

// add takes in the next row.
func (s *series) add(d *analysis.Digest, v health.Verdict) {
	if s.agentOf == nil {
		s.chars = map[string]int{}
		s.agentOf, s.taskOf, s.repeatOf = map[string]int32{}, map[rollout.Key]int32{}, map[rollout.Key]int32{}
	}
	f := &d.Facts
	s.reward = append(s.reward, double(f.Reward))
	s.completion = append(s.completion, double(f.Completion))
	s.turns = append(s.turns, small(f.Turns))
	s.calls = append(s.calls, small(f.Calls))
	failed := int32(-1)
	if f.Calls >= 0 {
		failed = small(health.FailedCalls(d.Health))
	}
	s.failed = append(s.failed, failed)
	s.called = s.called || f.Calls > 0 || f.Attached
	s.timed = s.timed || f.Timed
	s.masked = append(s.masked, f.Masked)
	s.verdict = append(s.verdict, v)
	agent := int32(-1)
	if f.Agent != "" {
		agent = indexOf(f.Agent, s.agentOf, &s.agents)
	}
	s.agent = append(s.agent, agent)
	s.task = append(s.task, indexOf(d.Identity.Task, s.taskOf, &s.tasks))
	s.widest("task", indexText(d.Identity.Task))
	s.widest("repeat", indexText(d.Identity.Rollout))
	s.widest("prompt", groupNumber(f.Prompt))
	s.widest("completion", groupNumber(f.Completion))
	s.repeat = append(s.repeat, indexOf(d.Identity.Rollout, s.repeatOf, &s.repeats))
}

// indexText is what a column of indices must have room for: numbers, and the beginnings of texts.
func indexText(k rollout.Key) string {
	text := k.String()
	if !k.IsInt() {
		text = text[:min(len(text), 8)]
	}
	return text
}

// widest notes how long a value of a column is.
func (s *series) widest(column, text string) {
	if n := utf8.RuneCountInString(text); n > s.chars[column] {
		s.chars[column] = n
	}
}

// indexOf numbers values in order of appearance.
func indexOf[T comparable](v T, at map[T]int32, list *[]T) int32 {
	i, there := at[v]
	if !there {
		i = int32(len(*list))
		at[v] = i
		*list = append(*list, v)
	}
	return i
}

// double reads JSON text as the filter does: what is no number is NaN.
func double(json string) float64 {
	if json == "" {
		return math.NaN()
	}
	if filter.Number(json).IsMissing() {
		return math.NaN()
	}
	f, err := strconv.ParseFloat(json, 64)
	if err != nil { // a whole number beyond all doubles
		return math.Copysign(math.MaxFloat64, f)
	}
	return f
}

func small(n int64) int32 { return int32(min(max(n, -1), math.MaxInt32)) }

// verdictOf is the verdict of a row, so far or final.
func (c *selection) verdictOf(ordinal int) health.Verdict {
	if c.report != nil {
		return c.report.Verdict(ordinal)
	}
	if ordinal < c.tally.series.rows() {
		return c.tally.series.verdict[ordinal]
	}
	return health.Unobserved
}

// A total sums the numbers of some rows up.
type total struct {
	n      int     // rows with a number
	sum    float64 // exact as long as whole numbers stay below 2^53
	whole  bool    // all of them are whole
	solved int     // are 1
	min    float64
	max    float64
}

func (t *total) add(f float64) {
	if math.IsNaN(f) {
		return
	}
	if t.n == 0 {
		*t = total{whole: true, min: f, max: f}
	}
	t.n++
	t.sum += f
	t.whole = t.whole && f == math.Trunc(f)
	if f == 1 {
		t.solved++
	}
	t.min, t.max = min(t.min, f), max(t.max, f)
}

// text writes the sum: whole numbers with separators as long as they are exact.
func (t *total) text() string {
	if t.whole && math.Abs(t.sum) < 1<<53 {
		return Group(int64(t.sum))
	}
	return trimZeros(t.sum)
}

// mean is the mean, which is nothing of nothing.
func (t *total) mean() (float64, bool) { return t.sum / float64(t.n), t.n > 0 }
