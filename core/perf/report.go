package perf

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/modelcall"
	"github.com/rollscope/rollscope/core/quantile"
	"github.com/rollscope/rollscope/core/rollout"
	"github.com/rollscope/rollscope/core/value"
)

// A Row is one row of a run with its digests.
type Row struct {
	Source   int
	Line     int64
	Ordinal  int64
	Identity rollout.Identity
	Agent    string
	Perf     []byte // digest of the Mapper
	Calls    []byte // digest of modelcall's Mapper
}

// A Timed row is what the reduction keeps: below two hundred bytes.
type Timed struct {
	Ordinal       int64
	Source        int
	Line          int64
	Task, Rollout rollout.Key
	ID            string
	Agent, Model  string
	Failure       bool

	Perf     bool    // it has an ng_perf object
	Numbers  Saved   // of it
	Latency  float64 // seconds by source 1, 0 where there is none
	Elapsed  float64 // by source 2
	CallSpan float64 // by source 3, a lower bound

	// When the rollout ran, in Unix seconds.
	Start, End float64
	Placed     bool // Start and End are known
	FirstCall  float64
	LastCall   float64
	HasFirst   bool
	HasLast    bool

	Calls              int
	Prompt, Completion integer.Int // tokens of its calls
}

// A Reducer takes the rows of a run in order.
type Reducer struct{ rows []Timed }

// Grow makes room for n more rows.
func (r *Reducer) Grow(n int) { r.rows = slices.Grow(r.rows, n) }

// Add takes the next row. The error wraps [ErrDigest] or [modelcall.ErrDigest].
func (r *Reducer) Add(row *Row) error {
	t, err := Open(row)
	if err == nil {
		r.rows = append(r.rows, t)
	}
	return err
}

// Open makes of a row what a reduction looks at. The error wraps [ErrDigest] or [modelcall.ErrDigest].
func Open(row *Row) (Timed, error) {
	var d digest
	if err := d.open(row.Perf); err != nil {
		return Timed{}, fmt.Errorf("row %d: %w", row.Ordinal, err)
	}
	s, err := spanOf(row.Calls)
	if err != nil {
		return Timed{}, fmt.Errorf("row %d: %w", row.Ordinal, err)
	}
	t := Timed{
		Ordinal: row.Ordinal, Source: row.Source, Line: row.Line, Task: row.Identity.Task, Rollout: row.Identity.Rollout,
		ID: row.Identity.ID, Agent: row.Agent, Model: s.model, Failure: d.flags&isFailure != 0,
		Perf: d.flags&hasPerf != 0, Numbers: d.numbers, Elapsed: d.elapsed, Calls: s.calls, Prompt: s.prompt, Completion: s.completion,
		FirstCall: s.start, LastCall: s.end, HasFirst: s.started, HasLast: s.ended,
	}
	if seconds, ok := d.latency(); ok {
		t.Latency = seconds
	}
	if s.started && s.ended && s.end > s.start {
		t.CallSpan = s.end - s.start
	}
	switch {
	case s.started && t.Latency > 0:
		t.Start, t.End, t.Placed = s.start, s.start+t.Latency, true
	case s.started && s.ended && s.end >= s.start:
		t.Start, t.End, t.Placed = s.start, s.end, true
	}
	return t, nil
}

// Merge takes the rows of another reducer, which come behind its own.
func (r *Reducer) Merge(other *Reducer) { r.rows = append(r.rows, other.rows...) }

// The sources of a row's duration (spec perf §4), in the order they are preferred.
const (
	ByRequest = iota // total_latency_ms: the whole run request
	ByElapsed        // observed elapsed seconds
	ByCalls          // from the first start to the last end of the calls: a lower bound
	durationSources
)

// SourceNames say what a source of durations is.
var SourceNames = [durationSources]string{"run request (ng_perf)", "elapsed seconds of the row", "span of its model calls (a lower bound)"}

// A Report is about the time and the tokens of a run.
type Report struct {
	Rows, Failures, WithPerf int
	Trackers                 [durationSources]*Tracker // of the successful rows that have that source
	Spreads                  [durationSources]quantile.Spread
	Mixed                    [durationSources]int // successful rows by the first source they have
	Summary                  []value.Member       // perf_summary over all rows
	Window                   Window
	Agents, Models, Tasks    []Part
	Slowest                  []*Timed // by the first source each has, the slowest first

	rows []Timed
}

// A Part describes the rows of one agent, model or task.
type Part struct {
	Name               string
	Task               rollout.Key // of a part that is a task: 7 and "7" are two
	Rows, Failures     int
	Seconds            [durationSources]quantile.Spread
	Prompt, Completion integer.Int
	Calls              int
	By                 int     // the first source that any of its rows has, −1 for none
	OutPerSecond       float64 // completion tokens over the time of the rows that have that source, 0 where none has
	TurnsMean          float64
	TurnsKnown         int
}

// slowest is how many rows are listed.
const slowest = 20

// Report sums the run up.
func (r *Reducer) Report() *Report {
	rep := &Report{Rows: len(r.rows), rows: r.rows}
	var (
		saved   []Saved
		seconds [durationSources][]float64
	)
	for i := range r.rows {
		t := &r.rows[i]
		if t.Perf {
			rep.WithPerf++
			saved = append(saved, t.Numbers)
		}
		if t.Failure {
			rep.Failures++
			continue
		}
		for k, s := range t.durations() {
			if s > 0 {
				seconds[k] = append(seconds[k], s)
			}
		}
		if _, k, ok := t.Seconds(); ok {
			rep.Mixed[k]++
		}
	}
	for k := range seconds {
		rep.Trackers[k] = TrackerOf(seconds[k])
		rep.Spreads[k] = quantile.SpreadOf(finite(seconds[k]))
	}
	rep.Summary = Summarize(len(r.rows), saved)
	rep.Window = windowOf(r.rows)
	rep.Agents = parts(r.rows, func(t *Timed) Part { return Part{Name: t.Agent} })
	rep.Models = parts(r.rows, func(t *Timed) Part { return Part{Name: t.Model} })
	rep.Tasks = parts(r.rows, func(t *Timed) Part { return Part{Name: t.Task.String(), Task: t.Task} })
	rep.Slowest = slowestOf(r.rows)
	return rep
}

// durations are the seconds by every source, 0 where there are none.
func (t *Timed) durations() [durationSources]float64 {
	return [...]float64{t.Latency, t.Elapsed, t.CallSpan}
}

// Seconds is the duration by the first source the row has.
func (t *Timed) Seconds() (seconds float64, source int, ok bool) {
	for k, s := range t.durations() {
		if s > 0 {
			return s, k, true
		}
	}
	return 0, 0, false
}

// finite leaves out what cannot be averaged.
func finite(list []float64) []float64 {
	return slices.DeleteFunc(slices.Clone(list), func(x float64) bool { return math.IsInf(x, 0) || math.IsNaN(x) })
}

// parts groups rows by what names them, those without a name under "".
func parts(rows []Timed, part func(*Timed) Part) []Part {
	type identity struct {
		name string
		task rollout.Key
	}
	at := map[identity]int{}
	var (
		list    []Part
		seconds [][durationSources][]float64
		turns   []modelcall.Sum
		time    [][durationSources]modelcall.Sum
		made    [][durationSources]integer.Int
	)
	for i := range rows {
		t := &rows[i]
		named := part(t)
		key := identity{named.Name, named.Task}
		k, known := at[key]
		if !known {
			k = len(list)
			at[key] = k
			list = append(list, named)
			seconds = append(seconds, [durationSources][]float64{})
			turns = append(turns, modelcall.Sum{})
			time, made = append(time, [durationSources]modelcall.Sum{}), append(made, [durationSources]integer.Int{})
		}
		p := &list[k]
		p.Rows++
		if t.Failure {
			p.Failures++
			continue
		}
		p.Calls += t.Calls
		prompt, completion := t.Prompt, t.Completion
		if n := t.Numbers[atCompletion]; n.kind == intNumber {
			completion = n.Int
		}
		p.Completion = p.Completion.Add(completion)
		if n := t.Numbers[atPrompt]; n.kind == intNumber {
			prompt = n.Int
		}
		p.Prompt = p.Prompt.Add(prompt)
		for source, s := range t.durations() {
			if s > 0 && !math.IsInf(s, 0) {
				seconds[k][source] = append(seconds[k][source], s)
				time[k][source].Add(s)
				made[k][source] = made[k][source].Add(completion)
			}
		}
		if n := t.Numbers[atTurns]; n.Known() {
			turns[k].Add(n.Real())
			p.TurnsKnown++
		}
	}
	for k := range list {
		list[k].By = -1
		for source := range seconds[k] {
			list[k].Seconds[source] = quantile.SpreadOf(seconds[k][source])
			if s := time[k][source].Value(); s > 0 && list[k].By < 0 {
				list[k].By, list[k].OutPerSecond = source, realOf(made[k][source])/s
			}
		}
		if n := list[k].TurnsKnown; n > 0 {
			list[k].TurnsMean = turns[k].Value() / float64(n)
		}
	}
	slices.SortStableFunc(list, func(a, b Part) int {
		return cmp.Or(cmp.Compare(b.Rows, a.Rows), strings.Compare(a.Name, b.Name))
	})
	return list
}

func slowestOf(rows []Timed) []*Timed {
	list := make([]*Timed, 0, len(rows))
	for i := range rows {
		if _, _, ok := rows[i].Seconds(); ok {
			list = append(list, &rows[i])
		}
	}
	slices.SortStableFunc(list, func(a, b *Timed) int {
		x, _, _ := a.Seconds()
		y, _, _ := b.Seconds()
		return cmp.Compare(y, x)
	})
	return list[:min(slowest, len(list))]
}

// Each gives the rows of the run in order until f returns false.
func (r *Report) Each(f func(*Timed) bool) {
	for i := range r.rows {
		if !f(&r.rows[i]) {
			return
		}
	}
}

// Forget drops the rows behind the report, except for the slowest: Each gives none from then on.
func (r *Report) Forget() {
	for i, t := range r.Slowest {
		kept := *t
		r.Slowest[i] = &kept
	}
	r.rows = nil
}

// A Waiting rollout failed and may be run again.
type Waiting struct {
	Task, Rollout rollout.Key
	Elapsed       float64 // observed seconds, 0 where none are known
}

// LongestFirst is the order in which a resume that starts the longest rollouts first would run failures again: each
// rollout once, by the longest time that was observed of it, those without one at the end in the order given.
func LongestFirst(failures []Waiting) []Waiting {
	type key struct{ task, rollout rollout.Key }
	at := map[key]int{}
	var list []Waiting
	for _, w := range failures {
		k := key{w.Task, w.Rollout}
		i, known := at[k]
		if !known {
			at[k] = len(list)
			list = append(list, w)
			continue
		}
		list[i].Elapsed = max(list[i].Elapsed, w.Elapsed)
	}
	slices.SortStableFunc(list, func(a, b Waiting) int { return cmp.Compare(b.Elapsed, a.Elapsed) })
	return list
}
