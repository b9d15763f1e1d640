package omitted

import (
	"maps"
	"slices"

	"github.com/rollscope/rollscope/core/finding"
	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/outcome"
	"github.com/rollscope/rollscope/core/records"
	"github.com/rollscope/rollscope/core/value"
)

// A State says in what way a rollout has no result.
type State string

// The states.
const (
	Intentional     State = "omitted.intentional"      // its producer suppressed the result
	Skip            State = "omitted.skip"             // it cannot be run
	Retryable       State = "failed.retryable"         // a resume runs it again
	Terminal        State = "failed.terminal"          // its failure is final
	Exhausted       State = "failed.exhausted"         // it failed as often as is allowed
	NeverDispatched State = "unknown.never_dispatched" // nothing was reserved or saved
	Interrupted     State = "unknown.interrupted"      // an attempt was reserved and left no outcome
	Missing         State = "unknown.missing"          // no row at all; one cannot tell whether it was started
)

// A StateInfo explains a state.
type StateInfo struct {
	State State
	Title string
	Text  string
}

// States lists the states in the order in which a run is told.
var States = []StateInfo{
	{Intentional, "left out on purpose", "The producer suppressed the result without naming a failure. It is not retried."},
	{Skip, "skipped for good", "The agent declared that the sample cannot be run. It is not retried."},
	{Retryable, "failed, to be retried", "The last attempt failed, and a resume would run another."},
	{Terminal, "failed for good", "The last attempt failed in a way that is not retried."},
	{Exhausted, "failed too often", "The last attempt failed, and the limit of counted failures is reached."},
	{NeverDispatched, "never dispatched", "No attempt was ever reserved and no row was saved."},
	{Interrupted, "interrupted", "An attempt was reserved and left no outcome: it was killed, or its outcome was lost."},
	{Missing, "without a trace", "There is no row at all. Old runs do not tell whether it was ever started."},
}

// An Omission is an expected rollout without a result.
type Omission struct {
	ID          string // empty if there is none that is valid
	Task, Index string // JSON, empty when absent
	Agent       string
	HasAgent    bool
	State       State
	Attempt     integer.Int // the latest, if HasAttempt
	HasAttempt  bool
	Class       string // JSON of the failure class, empty for none
	Reason      string
	Evidence    int64 // rows that are evidence about it
}

// Indexed walks the omissions of an indexed run, in the order of the inputs.
func Indexed(ix *records.Index, s records.Settings, e *Evidence, f func(Omission)) {
	for i := range ix.Len() {
		r := ix.Rollout(i, s)
		if r.Disposition == records.Success {
			continue
		}
		o := Omission{
			ID: r.ID, Task: r.Task, Index: r.Index, Agent: r.Agent, HasAgent: r.HasAgent, State: NeverDispatched,
			Attempt: r.Latest, HasAttempt: r.HasLatest, Evidence: e.About(r.ID),
		}
		a, speaks := ix.Selected(i)
		if speaks {
			o.Class, o.Reason = a.Class, a.Reason
		}
		switch {
		case r.Disposition == records.Omission && a.Omitted:
			o.State = Intentional
		case r.Disposition == records.Omission:
			o.State = Skip
		case r.Disposition == records.Failure && !r.Retryable:
			o.State = Terminal
		case r.Disposition == records.Failure && r.Exhausted:
			o.State = Exhausted
		case r.Disposition == records.Failure:
			o.State = Retryable
		case r.HasLatest:
			o.State = Interrupted
		}
		f(o)
	}
}

// Paired walks the omissions of a run that is read by pairs of indices, one per input row.
func Paired(l *records.Legacy, s records.Settings, e *Evidence, f func(Omission)) {
	l.Inputs(s, func(in records.Input) {
		if in.Done {
			return
		}
		o := Omission{
			ID: in.ID, Task: in.Task, Index: in.Index, Agent: in.Agent, HasAgent: in.HasAgent,
			Class: in.Class, Reason: in.Reason, Evidence: e.About(in.ID),
		}
		if in.Failures > 0 {
			o.Attempt, o.HasAttempt = integer.Of(in.Failures-1), true
		}
		switch {
		case in.Skip:
			o.State = Skip
		case in.Terminal:
			o.State = Terminal
		case in.Maxed:
			o.State = Exhausted
		case in.Failures > 0:
			o.State = Retryable
		default:
			o.State = Missing
		}
		f(o)
	})
}

// A Tally sums omissions up for findings.
type Tally struct {
	intentional, skip               int64
	intentionalReasons, skipReasons map[string]bool
}

// Add takes an omission.
func (t *Tally) Add(o Omission) {
	if t.intentionalReasons == nil {
		t.intentionalReasons, t.skipReasons = map[string]bool{}, map[string]bool{}
	}
	switch o.State {
	case Intentional:
		t.intentional++
		t.intentionalReasons[o.Reason] = true
	case Skip:
		t.skip++
		t.skipReasons[o.Reason] = true
	}
}

// Findings says what the sums mean. file is the sidecar, or the rollouts file where there is none; successes counts
// the rollouts with a result.
func (t *Tally) Findings(run, file string, successes int64) []finding.Finding {
	var list []finding.Finding
	add := func(id string, count int64, reasons map[string]bool) {
		if count > 0 {
			sorted := slices.Sorted(maps.Keys(reasons))
			list = append(list, finding.New(id, run, file, value.M("rollouts", value.Int(count)), value.M("reasons", value.Texts(sorted))))
		}
	}
	add(finding.Intentional, t.intentional, t.intentionalReasons)
	add(finding.Skip, t.skip, t.skipReasons)
	if omitted := t.intentional + t.skip; omitted > 0 && successes == 0 {
		list = append(list, finding.New(finding.AllOmitted, run, file, value.M("omitted", value.Int(omitted))))
	}
	return list
}

// Evidence collects the rows that only say why a result is missing. A nil Evidence has none.
type Evidence struct {
	Rows  []EvidenceRow
	about map[string]int64
}

// An EvidenceRow is one of them.
type EvidenceRow struct {
	File         records.File
	Line, Offset int64
	ID           string // empty if there is none that is valid
	Kind         outcome.Evidence
	Class        string // JSON, empty for none
	Reason       string
}

// Add takes a row if it is evidence: first those of the sidecar, then those of the rollouts file.
func (e *Evidence) Add(row *records.Row) {
	if row.Evidence == outcome.NoEvidence {
		return
	}
	if e.about == nil {
		e.about = map[string]int64{}
	}
	id := string(row.ID)
	e.about[id]++
	e.Rows = append(e.Rows, EvidenceRow{row.File, row.Line, row.Offset, id, row.Evidence, string(row.Class), string(row.Reason)})
}

// About counts the evidence about a rollout.
func (e *Evidence) About(id string) int64 {
	if e == nil || id == "" {
		return 0
	}
	return e.about[id]
}

// Findings says what evidence there is, and which of it is about no rollout of the index. Without an index, or for
// runs that have no manifest, nobody can tell.
func (e *Evidence) Findings(place records.Place, ix *records.Index) []finding.Finding {
	if len(e.Rows) == 0 {
		return nil
	}
	var list []finding.Finding
	kinds := map[string]int64{}
	for _, r := range e.Rows {
		kinds[r.Kind.String()]++
		if ix == nil {
			continue
		}
		if _, known := ix.Find(r.ID); !known {
			list = append(list, finding.New(finding.UnknownIdentity, place.Run, place.Path(r.File)).At(r.Line, r.Offset).Of(r.ID))
		}
	}
	first := e.Rows[0]
	return append(list, finding.New(finding.EvidenceRows, place.Run, place.Path(first.File), finding.Counts(kinds).Members()...).At(first.Line, first.Offset))
}
