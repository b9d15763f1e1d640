package check

import (
	"fmt"
	"strings"
)

var endedOnFailedCall = Check{
	ID:      "rollout_ended_on_failed_model_call",
	Scope:   Rollout,
	Subject: "rollout",
	Needs:   []Need{NeedRow, NeedTrajectory, NeedCalls, NeedSomeCall},
	Reads: []string{"ng_trajectory.model_calls[].started_at", "ng_trajectory.model_calls[].response_metadata.model_ref",
		"ng_trajectory.model_calls[].response_metadata.status_code", "ng_trajectory.model_calls[].response_metadata.error_category",
		"ng_trajectory.model_calls[].response_metadata.response_status", "ng_trajectory.gaps[].code"},
	Title: "The last call to a model failed",
	Text: "Captured calls are put into one chain per model, and into one more for calls that name no model. The last call of a chain is " +
		"the one that started last; equal starts are settled by position. A chain fires when its last call failed, or when all its " +
		"calls did. If a start is missing the order is not known, and then only the second counts. A call failed if its status is 400 or " +
		"higher, if it has an error category, or if its response status is failed, error or cancelled. All captured calls count, " +
		"whether anything refers to them or not. Unobserved without calls and with a gap in the capture of calls.",
	Since: "0.7.0",
	Run:   runEndedOnFailedCall,
	Say: func(f *Finding) string {
		model := "no named model"
		if m := f.Get("model_ref"); m.Kind == Text {
			model = m.Text[strings.IndexByte(m.Text, '/')+1:]
		}
		if n := f.Get("observed_calls").String(); n != "1" {
			return fmt.Sprintf("calls to %s ended on %s: %s; %s of %s calls successful", model, f.Get("call_id").Text, failure(f),
				f.Get("successful_calls"), n)
		}
		return fmt.Sprintf("the only call to %s, %s, failed: %s", model, f.Get("call_id").Text, failure(f))
	},
}

func runEndedOnFailedCall(e *Evidence, f *Findings) Raised {
	f.looked(len(e.Chains))
	for i := range e.Chains {
		ch := &e.Chains[i]
		if !ch.EndedOnFailure(e.Calls) {
			continue
		}
		last := &e.Calls[ch.Last]
		f.add(e.callSpot(ch.Last))
		f.label(last, int(ch.Last))
		if ch.Model != nil {
			f.model(fieldModelRef, ch.Model)
		} else {
			f.null(fieldModelRef)
		}
		f.failure(last)
		f.count(fieldObservedCalls, ch.Calls)
		f.count(fieldSuccessfulCalls, ch.Successful)
		f.response(last)
	}
	return Finished
}
