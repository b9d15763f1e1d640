package perf

import (
	"cmp"
	"math"
	"slices"

	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/modelcall"
	"github.com/rollscope/rollscope/core/quantile"
)

// A Window is the time in which a run took place, by the clocks of its model calls, and what happened in it (spec perf
// §4).
type Window struct {
	Start, End float64 // Unix seconds: of the first start and the last end of all calls
	Known      bool    // there is such a time, it is longer than nothing, and two rows at least have a place in it
	Rows       int     // that have a place

	PerHour, PerMinute float64 // rollouts
	MeanConcurrency    float64
	PeakConcurrency    int
	// Little is throughput times mean latency by source 1: near the mean concurrency if both are sound. Only where every
	// placed row has that source.
	Little      float64
	LittleKnown bool

	Completion          integer.Int
	CompletionPerSecond float64

	Quarters [4]Quarter
	Hours    [24]int // rows by the hour of the day, UTC, in which they ended

	steps []step
	ends  []float64 // of the placed rows, in order
}

// A Quarter is a fourth of the window.
type Quarter struct {
	From, To float64
	Rows     int // that ended in it
	PerHour  float64
	Seconds  quantile.Spread // of those with source 1
}

// A step is a change of the number of rollouts that run.
type step struct {
	at    float64
	level int // from there on
}

func windowOf(rows []Timed) Window {
	var (
		w       Window
		started bool
		ended   bool
	)
	for i := range rows {
		t := &rows[i]
		if t.HasFirst && (!started || t.FirstCall < w.Start) {
			w.Start, started = t.FirstCall, true
		}
		if t.HasLast && (!ended || t.LastCall > w.End) {
			w.End, ended = t.LastCall, true
		}
		if t.Placed {
			w.Rows++
		}
	}
	length := w.End - w.Start
	if !started || !ended || !(length > 0) || math.IsInf(length, 0) || w.Rows < 2 {
		return w
	}
	w.Known = true
	w.PerHour = float64(w.Rows) / (length / 3600)
	w.PerMinute = w.PerHour / 60

	var (
		open    modelcall.Sum
		latency modelcall.Sum
		timed   int
		seconds [len(w.Quarters)][]float64
		edges   []step
	)
	for q := range w.Quarters {
		w.Quarters[q].From = w.Start + length*float64(q)/4
		w.Quarters[q].To = w.Start + length*float64(q+1)/4
	}
	for i := range rows {
		t := &rows[i]
		w.Completion = w.Completion.Add(t.Completion)
		if !t.Placed {
			continue
		}
		open.Add(t.End - t.Start)
		edges = append(edges, step{t.Start, 1}, step{t.End, -1})
		w.ends = append(w.ends, t.End)
		q := min(max(int((t.End-w.Start)/length*4), 0), len(w.Quarters)-1)
		w.Quarters[q].Rows++
		if t.Latency > 0 {
			latency.Add(t.Latency)
			timed++
			seconds[q] = append(seconds[q], t.Latency)
		}
		w.Hours[hourOf(t.End)]++
	}
	for q := range w.Quarters {
		w.Quarters[q].PerHour = float64(w.Quarters[q].Rows) / (length / 4 / 3600)
		w.Quarters[q].Seconds = quantile.SpreadOf(seconds[q])
	}
	w.MeanConcurrency = open.Value() / length
	if timed == w.Rows {
		w.Little, w.LittleKnown = float64(w.Rows)/length*(latency.Value()/float64(timed)), true
	}
	w.CompletionPerSecond = realOf(w.Completion) / length
	w.steps = stepsOf(edges)
	slices.Sort(w.ends)
	for _, s := range w.steps {
		w.PeakConcurrency = max(w.PeakConcurrency, s.level)
	}
	return w
}

// hourOf is the hour of the day of a time, in UTC.
func hourOf(unix float64) int {
	day := math.Mod(unix, 86400)
	if day < 0 {
		day += 86400
	}
	return min(max(int(day/3600), 0), 23)
}

// stepsOf turns starts and ends into levels. An interval does not hold its end.
func stepsOf(edges []step) []step {
	slices.SortFunc(edges, func(a, b step) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.level, b.level)) })
	var list []step
	level := 0
	for i, e := range edges {
		level += e.level
		if i+1 < len(edges) && edges[i+1].at == e.at {
			continue
		}
		list = append(list, step{e.at, level})
	}
	return list
}

// A Level is the number of rollouts that ran in a stretch of time: on average, and at most.
type Level struct {
	From, To float64
	Mean     float64
	Peak     int
	Ended    int // in it; the last stretch has those that ended at its end as well
}

// Concurrency cuts the time from the first start to the last end into n equal stretches.
func (w *Window) Concurrency(n int) []Level {
	if n <= 0 || len(w.steps) < 2 {
		return nil
	}
	from, to := w.steps[0].at, w.steps[len(w.steps)-1].at
	if !(to > from) || math.IsInf(to-from, 0) {
		return nil
	}
	list := make([]Level, n)
	width := (to - from) / float64(n)
	at, level, ended := 0, 0, 0
	for i := range list {
		l := &list[i]
		l.From, l.To = from+width*float64(i), from+width*float64(i+1)
		if i == n-1 {
			l.To = to
		}
		area, now := 0.0, l.From
		for at < len(w.steps) && w.steps[at].at <= l.From {
			level = w.steps[at].level
			at++
		}
		l.Peak = level
		for at < len(w.steps) && w.steps[at].at < l.To {
			area += float64(level) * (max(w.steps[at].at, now) - now)
			now = max(w.steps[at].at, now)
			level = w.steps[at].level
			l.Peak = max(l.Peak, level)
			at++
		}
		area += float64(level) * (l.To - now)
		l.Mean = area / (l.To - l.From)
		for ended < len(w.ends) && (w.ends[ended] < l.To || i == n-1) {
			l.Ended++
			ended++
		}
	}
	return list
}
