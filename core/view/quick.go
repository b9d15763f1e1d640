package view

import (
	"math"

	"github.com/rollscope/rollscope/core/analysis"
	"github.com/rollscope/rollscope/core/rollout"
	"github.com/rollscope/rollscope/core/view/filter"
)

// A quickRow is a row of which the columns of the series are known, and which is opened only for what they do not hold.
// Searching hundreds of thousands of rows is mostly the opening of digests. What it gives is what the item gives.
type quickRow struct {
	c    *selection
	row  analysis.Row
	item *item // once it is opened
}

func (q *quickRow) ordinal() int { return int(q.row.Ordinal) }

func (q *quickRow) open() *item {
	if q.item == nil {
		q.item = q.c.itemOf(&q.row)
	}
	return q.item
}

// light is the row without its digest.
func (q *quickRow) light() *item { return &item{c: q.c, row: q.row} }

// Field gives the value of a field for the filter.
func (q *quickRow) Field(name string) filter.Value {
	s, n := &q.c.tally.series, q.ordinal()
	if n >= s.rows() {
		return q.open().Field(name)
	}
	switch name {
	case "verdict":
		return filter.Text(q.c.verdictOf(n).String())
	case "task":
		return keyValue(s.tasks[s.task[n]])
	case "repeat":
		return keyValue(s.repeats[s.repeat[n]])
	case "agent":
		if s.agent[n] < 0 {
			return filter.Value{}
		}
		return filter.Text(s.agents[s.agent[n]])
	case "masked":
		return filter.Bool(s.masked[n])
	case "reward":
		if v, ok := exactNumber(s.reward[n]); ok {
			return v
		}
	case "completion":
		if v, ok := exactNumber(s.completion[n]); ok {
			return v
		}
	case "turns":
		if s.turns[n] < math.MaxInt32 {
			return countValue(int64(s.turns[n]))
		}
	case "calls":
		if s.calls[n] < math.MaxInt32 {
			return countValue(int64(s.calls[n]))
		}
	case "failed":
		if s.failed[n] < math.MaxInt32 {
			return countValue(int64(s.failed[n]))
		}
	case "disposition", "measurement", "state", "failure.class", "speaks", "pending":
		return q.c.fateField(n, name)
	case "note", "file", "line", "bytes", "task.repeats", "task.scored", "task.solved", "task.unhealthy":
		return q.light().Field(name)
	}
	return q.open().Field(name)
}

// Inside gives a value inside the row.
func (q *quickRow) Inside(r *filter.Ref) filter.Value { return q.open().Inside(r) }

// exactNumber is a number that a double holds exactly as it was written, as far as the filter can tell.
func exactNumber(f float64) (filter.Value, bool) {
	if math.IsNaN(f) || math.Abs(f) >= lastExact {
		return filter.Value{}, false
	}
	return number64(f), true
}

// rank adds the row to a ranking by a column.
func (q *quickRow) rank(r *ranking, col *rolloutColumn) {
	s, n := &q.c.tally.series, q.ordinal()
	if n >= s.rows() {
		col.rank(r, q.open())
		return
	}
	count := func(of int32) {
		if of < 0 {
			r.rows = append(r.rows, rank{class: classMissing})
		} else {
			r.rows = append(r.rows, rank{classNumber, float64(of)})
		}
	}
	index := func(key rollout.Key) {
		if key.IsNone() {
			r.rows = append(r.rows, rank{class: classMissing})
		} else {
			r.rows = append(r.rows, rank{classWord, r.keys.intern(key)})
		}
	}
	switch col.Key {
	case "verdict":
		count(int32(q.c.verdictOf(n)))
	case "turns":
		count(s.turns[n])
	case "calls":
		count(s.calls[n])
	case "failed":
		count(s.failed[n])
	case "task":
		index(s.tasks[s.task[n]])
	case "repeat":
		index(s.repeats[s.repeat[n]])
	case "agent":
		if s.agent[n] < 0 {
			r.word("")
		} else {
			r.word(s.agents[s.agent[n]])
		}
	case "reward", "completion":
		f := s.completion[n]
		if col.Key == "reward" {
			f = s.reward[n]
		}
		if math.IsNaN(f) {
			col.rank(r, q.open())
		} else {
			r.rows = append(r.rows, rank{classNumber, f})
		}
	case "note", "place", "line", "byte", "bytes", "file":
		col.rank(r, q.light())
	default:
		col.rank(r, q.open())
	}
}
