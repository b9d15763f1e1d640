package records

import (
	"slices"
	"strings"

	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/outcome"
)

// A Disposition says what became of an expected rollout.
type Disposition string

// The dispositions.
const (
	Success   Disposition = "success"
	Failure   Disposition = "failure"
	Omission  Disposition = "omitted"
	Unknown   Disposition = "unknown"
	skipClass             = `"` + outcome.Skipped + `"`
)

// Settings are what a resume would be told. They change what is retried, never what is stored.
type Settings struct {
	MaxAttempts int64 // counted failures after which a rollout is given up
	Override    bool  // time limits are retried, skips are final
}

// DefaultMaxAttempts is the limit when nothing says another.
const DefaultMaxAttempts = 3

// A Rollout is an expected rollout with what became of it.
type Rollout struct {
	ID              string
	Task, Index     string // JSON of the indices, empty when absent
	Agent           string
	HasAgent        bool
	Routable        bool // an agent or an environment server is named
	Line            int64
	Disposition     Disposition
	Measurement     outcome.Measurement // of a success, else empty
	Latest          integer.Int         // if HasLatest
	HasLatest       bool
	Next            integer.Int // next attempt by the manifest, if Reserved
	Reserved        bool
	Retryable       bool
	Exhausted       bool // it would be retried, were it not for the limit
	CountedFailures int64
	Outcomes        int // stored attempts
}

// An Attempt is a stored outcome.
type Attempt struct {
	Number               integer.Int
	File                 File
	Line, Offset, Length int64
	Class                string // JSON, empty for none
	Reason               string
	Terminal, Omitted    bool
	Masked, Scored       bool
	Reuse                bool
	Elapsed              float64 // seconds, 0 for none; may be infinite
	Selected             bool    // it speaks for its rollout
}

// Len is the number of expected rollouts.
func (ix *Index) Len() int { return ix.rollouts.len() }

// Finish says that all rows have come.
func (ix *Index) Finish() { ix.start() }

// Find gives the number of an expected rollout.
func (ix *Index) Find(id string) (i int, ok bool) {
	at, ok := ix.byID[id]
	return int(at), ok
}

// ID gives the logical id of an expected rollout as the index keeps it; ok is false if it is not expected.
func (ix *Index) ID(id []byte) (kept string, ok bool) {
	at, ok := ix.byID[string(id)]
	if !ok {
		return "", false
	}
	return ix.rollouts.at(at).id, true
}

// disposition tells what became of a rollout, and which outcome says so, −1 if none does.
func (ix *Index) disposition(i int32) (Disposition, int32) {
	e := ix.rollouts.at(i)
	if !e.has {
		return Unknown, -1
	}
	at := ix.find(i, e.latest)
	if at < 0 {
		return Unknown, -1
	}
	o := ix.outcomes.at(at)
	class := ix.names.Text(o.class)
	switch {
	case o.flags&Omitted != 0:
		return Omission, at
	case class == skipClass && o.flags&Terminal != 0:
		return Omission, at
	case class != "":
		return Failure, at
	}
	return Success, at
}

// terminal tells whether an outcome is not to be retried.
func (ix *Index) terminal(at int32, override bool) bool {
	o := ix.outcomes.at(at)
	class, _ := parsed([]byte(ix.names.Text(o.class))).Text()
	return outcome.Terminal(class, o.flags&Terminal != 0, override)
}

// Rollout describes an expected rollout.
func (ix *Index) Rollout(i int, s Settings) Rollout {
	e := ix.rollouts.at(int32(i))
	d, at := ix.disposition(int32(i))
	r := Rollout{
		ID: e.id, Routable: e.routable, Line: e.line, Disposition: d, Latest: e.latest, HasLatest: e.has, Next: e.next, Reserved: e.reserved,
		CountedFailures: int64(e.counted),
	}
	r.Task, r.Index = ix.indices(int32(i))
	if e.agent >= 0 {
		r.Agent, r.HasAgent = ix.names.Text(e.agent), true
	}
	if s.Override {
		r.CountedFailures += int64(e.over)
	}
	if d == Success {
		o := ix.outcomes.at(at)
		r.Measurement = outcome.MeasurementOf(o.flags&Scored != 0, o.flags&Masked != 0)
	}
	r.Retryable = d != Success && d != Omission && (at < 0 || !ix.terminal(at, s.Override))
	r.Exhausted = r.Retryable && r.CountedFailures >= s.MaxAttempts
	for o := e.first; o >= 0; o = ix.outcomes.at(o).after {
		r.Outcomes++
	}
	return r
}

// attempt describes a stored outcome.
func (ix *Index) attempt(at int32) Attempt {
	o := ix.outcomes.at(at)
	e := ix.rollouts.at(o.rollout)
	return Attempt{
		Number: o.attempt, File: o.file, Line: o.line, Offset: o.offset, Length: o.length,
		Class: ix.names.Text(o.class), Reason: ix.names.Text(o.reason),
		Terminal: o.flags&Terminal != 0, Omitted: o.flags&Omitted != 0, Masked: o.flags&Masked != 0, Scored: o.flags&Scored != 0,
		Reuse: o.flags&Reuse != 0, Elapsed: o.elapsed, Selected: e.latest.Cmp(o.attempt) == 0,
	}
}

// Attempts lists the stored outcomes of a rollout by attempt.
func (ix *Index) Attempts(i int) []Attempt { return ix.AppendAttempts([]Attempt{}, i) }

// AppendAttempts appends the stored outcomes of a rollout to a list, by attempt.
func (ix *Index) AppendAttempts(list []Attempt, i int) []Attempt {
	from := len(list)
	for at := ix.rollouts.at(int32(i)).first; at >= 0; at = ix.outcomes.at(at).after {
		list = append(list, ix.attempt(at))
	}
	slices.SortFunc(list[from:], func(a, b Attempt) int { return a.Number.Cmp(b.Number) })
	return list
}

// Selected is the outcome that speaks for a rollout; ok is false if none does.
func (ix *Index) Selected(i int) (a Attempt, ok bool) {
	if _, at := ix.disposition(int32(i)); at >= 0 {
		return ix.attempt(at), true
	}
	return a, false
}

// Newest is the stored outcome with the greatest attempt, whether it speaks or not; ok is false if there is none.
func (ix *Index) Newest(i int) (a Attempt, ok bool) {
	if at := ix.newest(int32(i)); at >= 0 {
		return ix.attempt(at), true
	}
	return a, false
}

func (ix *Index) newest(i int32) int32 {
	newest := ix.rollouts.at(i).first
	for at := newest; at >= 0; at = ix.outcomes.at(at).after {
		if ix.outcomes.at(at).attempt.Cmp(ix.outcomes.at(newest).attempt) > 0 {
			newest = at
		}
	}
	return newest
}

// Selection walks the selected outcomes of the rollouts with one disposition, in the order of the inputs.
func (ix *Index) Selection(d Disposition, f func(i int, a Attempt)) {
	for i := range int32(ix.Len()) {
		if got, at := ix.disposition(i); got == d && at >= 0 {
			f(int(i), ix.attempt(at))
		}
	}
}

// ZeroCandidates walks the outcomes that may be scored as zero: failures, then omissions that were not intended.
func (ix *Index) ZeroCandidates(f func(i int, a Attempt)) {
	ix.Selection(Failure, f)
	ix.Selection(Omission, func(i int, a Attempt) {
		if !a.Omitted {
			f(i, a)
		}
	})
}

// AgentOf is the agent of a stored outcome: what its row names, else what the expected row names. ok is false if the
// row names one in a shape that is none, or neither names one.
func (ix *Index) AgentOf(i int, number integer.Int) (agent string, ok bool) {
	at := ix.find(int32(i), number)
	if at < 0 {
		return "", false
	}
	name := ix.outcomes.at(at).agent
	if name == noAgent {
		name = ix.rollouts.at(int32(i)).agent
	}
	if name < 0 {
		return "", false
	}
	return ix.names.Text(name), true
}

// Holds tells whether an outcome, by the number that [Index.Add] gave, still is the row on a line of a file, and which
// attempt it is.
func (ix *Index) Holds(at int32, file File, line int64) (a Attempt, spent Spent, ok bool) {
	if at < 0 {
		return a, spent, false
	}
	o := ix.outcomes.at(at)
	if o.file != file || o.line != line {
		return a, spent, false
	}
	return ix.attempt(at), Spent{o.spends, o.overridden}, true
}

// Spent says whether an attempt took from the retry budget, always or under the override alone.
type Spent struct{ Always, Overridden bool }

// Under tells whether it did under some settings.
func (s Spent) Under(settings Settings) bool { return s.Always || s.Overridden && settings.Override }

// A Pending is a rollout that a resume would run.
type Pending struct {
	Rollout int
	Attempt integer.Int
	Reuse   bool // its last deliverable is used again
}

// Pending lists what a resume would run, in the order of the inputs.
func (ix *Index) Pending(s Settings) []Pending {
	list := []Pending{}
	for i := range ix.Len() {
		if r := ix.Rollout(i, s); !r.Retryable || r.Exhausted {
			continue
		}
		e := ix.rollouts.at(int32(i))
		p := Pending{Rollout: i}
		switch {
		case e.reserved:
			p.Attempt = e.next
		case e.has:
			p.Attempt = e.latest.Add(integer.Of(1))
		}
		if at := ix.newest(int32(i)); at >= 0 {
			f := ix.outcomes.at(at).flags
			p.Reuse = f&Reuse != 0 && f&Omitted == 0
		}
		list = append(list, p)
	}
	return list
}

// LongestFirst brings pending rollouts into the order of the option: those whose failures took longest come first.
func (ix *Index) LongestFirst(list []Pending) {
	longest := func(p Pending) float64 {
		most := 0.0
		for at := ix.rollouts.at(int32(p.Rollout)).first; at >= 0; at = ix.outcomes.at(at).after {
			if o := ix.outcomes.at(at); o.class != 0 {
				most = max(most, o.elapsed)
			}
		}
		return most
	}
	slices.SortStableFunc(list, func(a, b Pending) int {
		switch x, y := longest(a), longest(b); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
}

// Gaps lists the expected rollouts of which attempts were reserved behind the last stored one, by id, and how many.
func (ix *Index) Gaps(f func(id string, gap integer.Int)) {
	for i := range int32(ix.Len()) {
		e := ix.rollouts.at(i)
		if !e.reserved {
			continue
		}
		gap := e.next
		if at := ix.newest(i); at >= 0 {
			gap = gap.Add(negative(ix.outcomes.at(at).attempt)).Add(integer.Of(-1))
		}
		if gap.Sign() > 0 {
			f(e.id, gap)
		}
	}
}

func negative(n integer.Int) integer.Int {
	text := n.String()
	positive, was := strings.CutPrefix(text, "-")
	if !was {
		positive = "-" + text
	}
	m, _ := integer.Parse(positive)
	return m
}

// Check tells whether the text of a row, read again, is the stored outcome of an attempt. The error is ErrChanged.
func (ix *Index) Check(i int, number integer.Int, text []byte) error {
	at := ix.find(int32(i), number)
	if at >= 0 {
		if v, err := parseRow(text); err == nil && ix.still(at, v) {
			return nil
		}
	}
	return ErrChanged
}
