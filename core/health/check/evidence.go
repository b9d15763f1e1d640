package check

import (
	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/rollout"
	"github.com/rollscope/rollscope/core/trajectory"
)

// The codes of gaps that decide what can be judged (spec health §8). Any other code has no effect.
const (
	gapProjectionFailed  = "trajectory_projection_failed"
	gapTurnsUnavailable  = "turns_unavailable"
	gapScopeIncomplete   = "turn_model_call_scope_incomplete"
	gapCallsUnavailable  = "model_calls_unavailable"
	gapCaptureIncomplete = "model_call_capture_incomplete"
	gapRecordsUnreadable = "model_call_capture_records_unreadable"
	gapCaptureUnreadable = "model_call_capture_unreadable"
	gapUnmatched         = "model_call_reference_unmatched"
	gapAmbiguous         = "model_call_reference_ambiguous"
	gapConflict          = "model_call_reference_conflict"
)

// gaps is the set of those codes that a trajectory has.
type gaps uint8

const (
	projectionFailed gaps = 1 << iota
	turnsUnavailable
	scopeIncomplete
	callsUnavailable
	captureIncomplete
	recordsUnreadable
	captureUnreadable

	callGaps = callsUnavailable | captureIncomplete | recordsUnreadable | captureUnreadable
)

func (g gaps) has(code gaps) bool { return g&code != 0 }

// Invalid says why a trajectory breaks its schema.
type Invalid struct {
	Class  string // as reports name it: ValidationError, TypeError or ValueError
	Offset int64  // of the offending value in the row's text, −1 if unknown
	Path   string // JSON pointer in the row
	Reason string // for people
}

// Evidence is what one row offers to the checks. It is filled by Collect, belongs to one goroutine and
// reuses its memory; everything in it dies with the row.
type Evidence struct {
	Row     *rollout.Row
	Record  *trajectory.Record // nil unless the trajectory is valid
	Invalid *Invalid           // nil unless it breaks its schema
	Usage   rollout.Usage      // the row's own token counts
	Gaps    gaps
	Calls   []Call // in captured order; empty if the trajectory is not observed
	Turns   []Turn // empty if the turns are not observed
	Chains  []Chain
	Turned  View // what the references of the turns lead to
	Owned   View // the same with the references of the invocations behind them

	Replayed int // calls that repeat the identity of an earlier one
	Exempt   int // calls that overflowed the context, see Call.Overflow

	profile        Profile
	raised         Raised // how the look at the turns stopped
	raisedTurn     int
	contradictions []int32 // positions of gaps that report a doubtful reference
	refs           []bound // different references, those of the turns first
	turnRefs       int     // how many of them are of turns
	groups         []group // calls without regard to their id, by model and response

	seen, byID, byResponse, byModel, labels table
	texts                                   []label
}

// A Call is a captured model call and its state.
type Call struct {
	*trajectory.Call
	Failed     bool
	Successful bool // not failed, with no status or one of 200 to 399
	Overflow   bool // refused by the upstream because the context was too long
	bound      uint8
	turn       int32 // first turn that refers to it, −1 if none does
}

// Bits of Call.bound.
const (
	boundTurn = 1 << iota
	boundOwned
)

// A Turn says what a turn holds.
type Turn struct {
	*trajectory.Turn
	Message bool // its answer or reasoning has content
	Tool    bool // its answer has a tool call
}

// Collect derives the evidence of a row. record is its valid trajectory, invalid tells why it has none;
// both are nil for a row without one.
func (e *Evidence) Collect(row *rollout.Row, record *trajectory.Record, invalid *Invalid) {
	e.Row, e.Record, e.Invalid = row, record, invalid
	e.Usage = rollout.Usage{}
	if row.Problem == nil {
		e.Usage = row.Usage()
	}
	e.Gaps, e.Replayed, e.Exempt = 0, 0, 0
	e.Calls, e.Turns, e.Chains = e.Calls[:0], e.Turns[:0], e.Chains[:0]
	e.Turned.clear()
	e.Owned.clear()
	e.profile, e.raised, e.raisedTurn = V07, Finished, 0
	e.contradictions, e.refs, e.turnRefs = e.contradictions[:0], e.refs[:0], 0
	if record == nil {
		return
	}
	e.readGaps()
	if e.Gaps.has(projectionFailed) {
		e.contradictions = e.contradictions[:0]
		return
	}
	e.readCalls()
	e.bind()
	if !e.Gaps.has(turnsUnavailable) {
		e.readTurns()
	}
}

// Observed tells whether there is a trajectory to judge.
func (e *Evidence) Observed() bool { return e.Record != nil && !e.Gaps.has(projectionFailed) }

// TurnCallsObserved tells whether the calls of the turns are known: the turns cover all calls and every
// reference of theirs leads to exactly one. Gaps in the calls do not matter here.
func (e *Evidence) TurnCallsObserved() bool {
	return e.Observed() && !e.Gaps.has(scopeIncomplete) && e.Turned.Complete()
}

// EndedOnError tells whether any chain ended on a failure.
func (e *Evidence) EndedOnError() bool {
	for i := range e.Chains {
		if e.Chains[i].EndedOnFailure(e.Calls) {
			return true
		}
	}
	return false
}

func (e *Evidence) readGaps() {
	for i := range e.Record.Gaps {
		switch string(e.Record.Gaps[i].Code.Bytes) {
		case gapProjectionFailed:
			e.Gaps |= projectionFailed
		case gapTurnsUnavailable:
			e.Gaps |= turnsUnavailable
		case gapScopeIncomplete:
			e.Gaps |= scopeIncomplete
		case gapCallsUnavailable:
			e.Gaps |= callsUnavailable
		case gapCaptureIncomplete:
			e.Gaps |= captureIncomplete
		case gapRecordsUnreadable:
			e.Gaps |= recordsUnreadable
		case gapCaptureUnreadable:
			e.Gaps |= captureUnreadable
		case gapUnmatched, gapAmbiguous, gapConflict:
			e.contradictions = append(e.contradictions, int32(i))
		}
	}
}

func (e *Evidence) readCalls() {
	for i := range e.Record.Calls {
		c := Call{Call: &e.Record.Calls[i], turn: -1}
		c.Failed = failed(c.Call)
		c.Successful = !c.Failed && (!c.StatusCode.Set ||
			c.StatusCode.Int.Cmp(integer.Of(200)) >= 0 && c.StatusCode.Int.Cmp(integer.Of(400)) < 0)
		if c.Overflow = overflow(c.Call); c.Overflow {
			e.Exempt++
		}
		e.Calls = append(e.Calls, c)
	}
	e.chain()
	e.countReplayed()
}

func failed(c *trajectory.Call) bool {
	if c.StatusCode.Set && c.StatusCode.Int.Cmp(integer.Of(400)) >= 0 || !c.ErrorCategory.Empty() {
		return true
	}
	switch string(c.ResponseStatus.Bytes) {
	case "failed", "error", "cancelled":
		return true
	}
	return false
}

// overflow tells whether the upstream was asked and refused because the context was too long.
func overflow(c *trajectory.Call) bool {
	const reason = "context_length_exceeded"
	return c.UpstreamAttempted.Set && c.UpstreamAttempted.True &&
		c.UpstreamStatusCode.Set && c.UpstreamStatusCode.Int.Cmp(integer.Of(400)) == 0 &&
		(string(c.LocalResponseReason.Bytes) == reason || string(c.ErrorCategory.Bytes) == reason)
}

// exempt tells whether the profile leaves the call out of the checks on token counts and length limits.
func (e *Evidence) exempt(c *Call) bool { return e.profile == Main && c.Overflow }

// compared is the view whose token counts are held against the row's.
func (e *Evidence) compared() *View {
	if e.profile == Main {
		return &e.Owned
	}
	return &e.Turned
}

// lengthLimited tells whether a call ended at a limit of its length.
func lengthLimited(c *Call) bool {
	switch string(c.FinishReason.Bytes) {
	case "length", "max_output_tokens", "max_tokens":
		return true
	}
	return false
}

// readTurns looks at every turn in order. The look for tool calls is made even where there is a message,
// since it is what may raise.
func (e *Evidence) readTurns() {
	for i := range e.Record.Turns {
		t := Turn{Turn: &e.Record.Turns[i]}
		t.Message = nonEmpty(t.Answer) || nonEmpty(t.Reasoning)
		var raised Raised
		if t.Tool, raised = toolCall(t.Answer); raised != Finished {
			e.raised, e.raisedTurn = raised, i
			return
		}
		e.Turns = append(e.Turns, t)
	}
}
