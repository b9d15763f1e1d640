package verify

import (
	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/records"
)

// Planned is a rollout that a resume would run, if it is not refused.
type Planned struct {
	ID          string // empty if there is none that is valid
	Task, Index string // JSON, empty when absent
	Attempt     integer.Int
	HasAttempt  bool // an old run numbers repeated attempts alone
	Reuse       bool // an earlier deliverable is used again
	Failures    int64
	Class       string // JSON of the last failure's class, empty for none
	Has         bool   // some attempt was reserved or saved
}

// Planned walks what a resume would run, in the order of the inputs: by the reservations of a run with a manifest, by
// the rules of version 0.7.0 else (spec records §7, §10.2).
func (r *RunReport) Planned(f func(Planned)) {
	if r.Dialect == Legacy {
		if !r.Present[records.Inputs] {
			return
		}
		r.Legacy.Inputs(r.Settings, func(in records.Input) {
			if in.Done || in.Terminal || in.Maxed {
				return
			}
			f(Planned{
				ID: in.ID, Task: in.Task, Index: in.Index, Attempt: integer.Of(in.Failures), HasAttempt: in.Failures > 0,
				Reuse: in.Reuse, Failures: in.Failures, Class: in.Class, Has: in.Failures > 0,
			})
		})
		return
	}
	for _, p := range r.Pending() {
		e := r.Index.Rollout(p.Rollout, r.Settings)
		planned := Planned{ID: e.ID, Task: e.Task, Index: e.Index, Attempt: p.Attempt, HasAttempt: true, Reuse: p.Reuse, Has: e.HasLatest}
		if a, ok := r.Index.Newest(p.Rollout); ok && a.Class != "" {
			planned.Class = a.Class
			for _, a := range r.Index.Attempts(p.Rollout) {
				if a.Class != "" {
					planned.Failures++
				}
			}
			if !a.Selected {
				planned.Failures = 0 // the newest attempt is one without an outcome
			}
		}
		f(planned)
	}
}
