package perf

import (
	"slices"
	"strconv"

	"github.com/rollscope/rollscope/core/modelcall"
	"github.com/rollscope/rollscope/core/quantile"
)

// A Tracker holds durations as the collection does while it runs (spec perf §3). The zero Tracker is empty.
type Tracker struct {
	seconds []float64 // ascending
	Drained int       // rows that were not started
}

// enough is how many durations a drain margin needs.
const enough = 5

// Record takes a duration in seconds. What is not above zero is ignored.
func (t *Tracker) Record(seconds float64) {
	if !(seconds > 0) {
		return
	}
	at, _ := slices.BinarySearch(t.seconds, seconds)
	t.seconds = slices.Insert(t.seconds, at, seconds)
}

// TrackerOf makes a tracker of many durations at once.
func TrackerOf(seconds []float64) *Tracker {
	t := &Tracker{}
	for _, s := range seconds {
		if s > 0 {
			t.seconds = append(t.seconds, s)
		}
	}
	slices.Sort(t.seconds)
	return t
}

// Len is the number of durations.
func (t *Tracker) Len() int { return len(t.seconds) }

// Seconds are the durations in ascending order. They must not be changed.
func (t *Tracker) Seconds() []float64 { return t.seconds }

// Quantile is the duration at a share; ok is false where there is none.
func (t *Tracker) Quantile(q float64) (seconds float64, ok bool) {
	if len(t.seconds) == 0 {
		return 0, false
	}
	return quantile.Tracked(t.seconds, q), true
}

// DrainMargin is how much time must remain for another row to be started. A configured margin is taken as it is; else
// five durations have to be known.
func (t *Tracker) DrainMargin(configured float64, given bool) (seconds float64, ok bool) {
	if given {
		return configured, true
	}
	if len(t.seconds) < enough {
		return 0, false
	}
	return t.Quantile(0.75)
}

// Hours is the time of all rollouts together.
func (t *Tracker) Hours() float64 {
	var sum modelcall.Sum
	for _, s := range t.seconds {
		sum.Add(s)
	}
	return sum.Value() / 3600
}

// Lines is the report at the end of a run, in the numbers of the collection and words of our own. The collection writes
// minutes and hours; of runs so short that these would be zeros the numbers are in a smaller unit.
func (t *Tracker) Lines() []string {
	lines := []string{}
	if len(t.seconds) == 0 {
		lines = append(lines, "no rollout was timed")
	} else {
		median, _ := t.Quantile(0.5)
		size, unit := 1.0, " s"
		if median >= 60 {
			size, unit = 60, " min"
		}
		at := func(q float64) string {
			s, _ := t.Quantile(q)
			return oneDecimal(s/size) + unit
		}
		longest := t.seconds[len(t.seconds)-1]
		delivered := oneDecimal(t.Hours()) + " h"
		switch s := t.Hours() * 3600; {
		case s < 60:
			delivered = oneDecimal(s) + " s"
		case s < 360:
			delivered = oneDecimal(s/60) + " min"
		}
		lines = append(lines,
			strconv.Itoa(len(t.seconds))+" timed rollouts: median "+at(0.5)+", p90 "+at(0.9)+", p99 "+at(0.99)+", longest "+oneDecimal(longest/size)+unit,
			"delivered task time: "+delivered)
	}
	if t.Drained > 0 {
		lines = append(lines, strconv.Itoa(t.Drained)+" rows were not started")
	}
	return lines
}

// oneDecimal rounds the exact value of a double to one decimal, ties to even.
func oneDecimal(f float64) string {
	// strconv rounds the exact binary value, and ties to even.
	return strconv.FormatFloat(f, 'f', 1, 64)
}

// PerMinute is how many rollouts were completed a minute, as the collection prints it; ok is false before any time has
// passed.
func PerMinute(completed int, elapsed float64) (rate float64, ok bool) {
	if !(elapsed > 0) {
		return 0, false
	}
	return float64(completed) / (elapsed / 60), true
}
