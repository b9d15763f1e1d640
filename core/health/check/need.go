package check

// An Outcome says what came of one check on one row or task: it found nothing, it fired, or it could not
// be judged, and then why.
type Outcome uint8

// The outcomes. Everything behind Fired means unobserved. The numbers are part of stored digests.
const (
	Clean Outcome = iota
	Fired
	LineUnreadable
	NoTrajectory
	TrajectoryUnreadable
	ProjectionFailed
	TurnsUnavailable
	CallsUnavailable
	CaptureIncomplete
	RecordsUnreadable
	CaptureUnreadable
	ScopeIncomplete
	NoCalls
	NoMatchedCalls
	NoReferences
	ViewUnreferenced
	ViewMissing
	ViewDuplicated
	NoUsage
	CountsMissing
	ResponseMissing
	RaisedTypeError
	RaisedAttributeError
	FewRepeats
	RepeatsIncomplete
	outcomeCount
)

var outcomes = [outcomeCount]struct{ code, gap, text string }{
	Clean:                {code: "clean", text: "judged, nothing found"},
	Fired:                {code: "fired", text: "judged, something found"},
	LineUnreadable:       {code: "line_unreadable", text: "the line cannot be read"},
	NoTrajectory:         {code: "no_trajectory", text: "the row has no trajectory"},
	TrajectoryUnreadable: {code: "trajectory_unreadable", text: "the trajectory breaks its schema"},
	ProjectionFailed:     {code: "gap", gap: gapProjectionFailed, text: "the trajectory could not be built"},
	TurnsUnavailable:     {code: "gap", gap: gapTurnsUnavailable, text: "turns were not observed"},
	CallsUnavailable:     {code: "gap", gap: gapCallsUnavailable, text: "model calls were not observed"},
	CaptureIncomplete:    {code: "gap", gap: gapCaptureIncomplete, text: "the capture of model calls is incomplete"},
	RecordsUnreadable:    {code: "gap", gap: gapRecordsUnreadable, text: "some captured model calls cannot be read"},
	CaptureUnreadable:    {code: "gap", gap: gapCaptureUnreadable, text: "the capture of model calls cannot be read"},
	ScopeIncomplete:      {code: "gap", gap: gapScopeIncomplete, text: "the turns do not cover all model calls"},
	NoCalls:              {code: "no_calls", text: "no model call was captured"},
	NoMatchedCalls:       {code: "no_matched_calls", text: "no captured model call is referred to by a turn or an invocation"},
	NoReferences:         {code: "no_references", text: "nothing refers to a model call and no gap speaks of a reference"},
	ViewUnreferenced:     {code: "view_without_references", text: "nothing that counts for this check refers to a model call"},
	ViewMissing:          {code: "view_missing_call", text: "a reference leads to no captured model call"},
	ViewDuplicated:       {code: "view_duplicated_call", text: "a reference fits several captured model calls"},
	NoUsage:              {code: "no_usage", text: "the row does not say how many tokens it used"},
	CountsMissing:        {code: "token_counts_missing", text: "a referenced model call lacks a token count"},
	ResponseMissing:      {code: "response_missing", text: "a model call that reached its length limit was saved without its response"},
	RaisedTypeError:      {code: "raised", text: "the check stopped with TypeError"},
	RaisedAttributeError: {code: "raised", text: "the check stopped with AttributeError"},
	FewRepeats:           {code: "few_repeats", text: "fewer than two repeats have a verdict other than unobserved"},
	RepeatsIncomplete:    {code: "repeats_incomplete", text: "some repeat does not resolve all model calls of its turns"},
}

// Unobserved tells whether the check could not be judged.
func (o Outcome) Unobserved() bool { return o > Fired }

// Code is a stable name of the outcome; "gap" stands for all that have a [Outcome.Gap].
func (o Outcome) Code() string { return outcomes[o].code }

// Gap is the code of the gap in the trajectory that is the cause, "" for other causes.
func (o Outcome) Gap() string { return outcomes[o].gap }

// Text says it for people.
func (o Outcome) Text() string { return outcomes[o].text }

// Raised tells how the check stopped, Finished if it did not.
func (o Outcome) Raised() Raised {
	switch o {
	case RaisedTypeError:
		return TypeError
	case RaisedAttributeError:
		return AttributeError
	}
	return Finished
}

// Valid tells whether o is one of the outcomes a row can have; it guards stored digests.
func (o Outcome) Valid() bool { return o < FewRepeats }

// Outcomes is the number of outcomes, for tables indexed by one.
const Outcomes = int(outcomeCount)

// A Need is a piece of evidence that a check cannot do without.
type Need uint8

// The needs.
const (
	NeedRow        Need = iota // a line that can be read
	NeedTrajectory             // a valid trajectory that was not given up
	NeedTurns                  // its turns
	NeedCalls                  // its model calls, all of them
	NeedSomeCall               // at least one model call
	NeedMatched                // at least one model call that something refers to
	NeedReferences             // at least one reference, or a gap that speaks of one
	NeedScope                  // turns that account for all model calls
	NeedView                   // references that all lead to exactly one model call
	NeedUsage                  // the row's own token counts
	NeedCounts                 // both token counts on every model call that is compared
	NeedResponses              // the response of every model call that reached its length limit
	NeedRepeats                // two repeats with a verdict other than unobserved
	NeedTurnCalls              // a complete view of the turns' calls on every repeat
	needCount
)

// needs describes them. A missing function gives Clean when the need is met and the cause otherwise;
// needs of tasks have none, their check answers itself.
var needs = [needCount]struct {
	Code, Text string
	missing    func(*Evidence) Outcome
}{
	NeedRow:        {"row", "a line that can be read", missingRow},
	NeedTrajectory: {"trajectory", "a valid ng_trajectory without the gap " + gapProjectionFailed, missingTrajectory},
	NeedTurns:      {"turns", "turns, so no gap " + gapTurnsUnavailable, missingTurns},
	NeedCalls: {"calls", "model calls, so none of the gaps " + gapCallsUnavailable + ", " + gapCaptureIncomplete + ", " +
		gapRecordsUnreadable + ", " + gapCaptureUnreadable, missingCalls},
	NeedSomeCall:   {"some_call", "at least one captured model call", missingSomeCall},
	NeedMatched:    {"matched_call", "at least one captured model call that a turn or an invocation refers to", missingMatched},
	NeedReferences: {"references", "at least one reference to a model call, or a gap that reports a doubtful one", missingReferences},
	NeedScope:      {"turn_scope", "turns that cover all model calls, so no gap " + gapScopeIncomplete, missingScope},
	NeedView: {"complete_view", "references that each lead to exactly one captured model call (profile 0.7: those of the turns; main: also those of the invocations)",
		missingView},
	NeedUsage:     {"usage", "both token counts in response.usage, whole numbers from 0 on", missingUsage},
	NeedCounts:    {"token_counts", "both token counts on every model call that is compared", missingCounts},
	NeedResponses: {"responses", "the saved response of every referenced model call that reached its length limit", missingResponses},
	NeedRepeats:   {"repeats", "at least two repeats that are healthy or unhealthy", nil},
	NeedTurnCalls: {"turn_calls", "turns whose references all lead to exactly one captured model call, on every repeat", nil},
}

// Code is a stable name of the need.
func (n Need) Code() string { return needs[n].Code }

// Text says for people what is needed.
func (n Need) Text() string { return needs[n].Text }

func missingRow(e *Evidence) Outcome {
	if e.Row.Problem != nil {
		return LineUnreadable
	}
	return Clean
}

func missingTrajectory(e *Evidence) Outcome {
	switch {
	case e.Invalid != nil:
		return TrajectoryUnreadable
	case e.Record == nil:
		return NoTrajectory
	case e.Gaps.has(projectionFailed):
		return ProjectionFailed
	}
	return Clean
}

func missingTurns(e *Evidence) Outcome {
	if e.Gaps.has(turnsUnavailable) {
		return TurnsUnavailable
	}
	return Clean
}

func missingCalls(e *Evidence) Outcome {
	switch {
	case e.Gaps&callGaps == 0:
		return Clean
	case e.Gaps.has(callsUnavailable):
		return CallsUnavailable
	case e.Gaps.has(captureIncomplete):
		return CaptureIncomplete
	case e.Gaps.has(recordsUnreadable):
		return RecordsUnreadable
	}
	return CaptureUnreadable
}

func missingSomeCall(e *Evidence) Outcome {
	if len(e.Calls) == 0 {
		return NoCalls
	}
	return Clean
}

func missingMatched(e *Evidence) Outcome {
	if len(e.Owned.Matched) == 0 {
		return NoMatchedCalls
	}
	return Clean
}

func missingReferences(e *Evidence) Outcome {
	if e.Owned.References == 0 && len(e.contradictions) == 0 {
		return NoReferences
	}
	return Clean
}

func missingScope(e *Evidence) Outcome {
	if e.Gaps.has(scopeIncomplete) {
		return ScopeIncomplete
	}
	return Clean
}

func missingView(e *Evidence) Outcome {
	switch v := e.compared(); {
	case v.References == 0:
		return ViewUnreferenced
	case v.Missing > 0:
		return ViewMissing
	case v.Duplicated > 0:
		return ViewDuplicated
	}
	return Clean
}

func missingUsage(e *Evidence) Outcome {
	if !e.Usage.HasPrompt || !e.Usage.HasCompletion {
		return NoUsage
	}
	return Clean
}

func missingCounts(e *Evidence) Outcome {
	for _, i := range e.compared().Matched {
		if c := &e.Calls[i]; !c.PromptTokens.Set || !c.CompletionTokens.Set {
			return CountsMissing
		}
	}
	return Clean
}

func missingResponses(e *Evidence) Outcome {
	for _, i := range e.Owned.Matched {
		if c := &e.Calls[i]; lengthLimited(c) && c.Response.IsNull() && !e.exempt(c) {
			return ResponseMissing
		}
	}
	return Clean
}
