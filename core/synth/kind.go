package synth

// Kind says what is right or wrong with a made-up rollout. Each kind knows what
// the health pass must say about it, so that a made-up run is its own answer
// sheet.
type Kind uint8

const (
	Healthy Kind = iota
	EndedFailed
	Retried
	Hollow
	ZeroCompletion
	Uncounted
	Runaway
	LostCall
	DoubledCall
	ConflictingCall
	TokenMismatch
	NoTurns
	CheckError
	BadTrajectory
	AllFailed
	NoTrajectory
	ProjectionFailed
	TurnsGap
	CaptureGap
	ScopeGap

	// KindCount is the number of kinds.
	KindCount = iota
)

const (
	checkExecution = "check_execution_error"
	unreadable     = "record_unreadable"
	missingTurns   = "rollout_missing_agent_turns"
	endedOnFailed  = "rollout_ended_on_failed_model_call"
	hollowTurn     = "agent_turn_hollow"
	zeroTokens     = "model_call_zero_completion_tokens"
	missingCounts  = "model_call_missing_token_counts"
	mismatch       = "trajectory_capture_mismatch"
	failedCall     = "model_call_failed"
	countMismatch  = "rollout_token_count_mismatch"
	runaway        = "model_call_runaway_generation"
)

// trajectoryChecks are the checks of one rollout that need a trajectory.
var trajectoryChecks = []string{missingTurns, endedOnFailed, hollowTurn, zeroTokens, missingCounts, mismatch, failedCall, countMismatch, runaway}

// kinds is indexed by Kind. share is the part of the rollouts in per mille;
// AllFailed goes by tasks instead, since it happens to all repeats of one.
// fires and hides are in registry order.
var kinds = [KindCount]struct {
	name  string
	share int
	fires []string
	hides []string
}{
	Healthy:          {name: "healthy"},
	EndedFailed:      {name: "ended_failed", share: 15, fires: []string{endedOnFailed, missingCounts, failedCall}},
	Retried:          {name: "retried", share: 6, fires: []string{missingCounts, failedCall}},
	Hollow:           {name: "hollow", share: 5, fires: []string{hollowTurn}},
	ZeroCompletion:   {name: "zero_completion", share: 5, fires: []string{zeroTokens}},
	Uncounted:        {name: "uncounted", share: 5, fires: []string{missingCounts}, hides: []string{countMismatch}},
	Runaway:          {name: "runaway", share: 5, fires: []string{hollowTurn, runaway}},
	LostCall:         {name: "lost_call", share: 3, fires: []string{mismatch}, hides: []string{countMismatch}},
	DoubledCall:      {name: "doubled_call", share: 3, fires: []string{mismatch}, hides: []string{countMismatch}},
	ConflictingCall:  {name: "conflicting_call", share: 3, fires: []string{mismatch}},
	TokenMismatch:    {name: "token_mismatch", share: 5, fires: []string{countMismatch}},
	NoTurns:          {name: "no_turns", share: 3, fires: []string{missingTurns}, hides: []string{countMismatch}},
	CheckError:       {name: "check_error", share: 2, fires: []string{checkExecution}, hides: []string{missingTurns, hollowTurn}},
	BadTrajectory:    {name: "bad_trajectory", share: 3, fires: []string{unreadable}, hides: trajectoryChecks},
	AllFailed:        {name: "all_failed", share: 6, fires: []string{endedOnFailed, hollowTurn, missingCounts, failedCall}, hides: []string{countMismatch}},
	NoTrajectory:     {name: "no_trajectory", share: 10, hides: trajectoryChecks},
	ProjectionFailed: {name: "projection_failed", share: 2, hides: trajectoryChecks},
	TurnsGap:         {name: "turns_gap", share: 2, hides: []string{missingTurns, hollowTurn, countMismatch}},
	CaptureGap:       {name: "capture_gap", share: 6, hides: []string{endedOnFailed, zeroTokens, missingCounts, mismatch, failedCall, countMismatch, runaway}},
	ScopeGap:         {name: "scope_gap", share: 2, hides: []string{countMismatch}},
}

// String returns the stable name of the kind.
func (k Kind) String() string {
	if int(k) < len(kinds) {
		return kinds[k].name
	}
	return "unknown"
}

// Fires returns the ids of the checks that report at least one finding on a
// rollout of this kind, in registry order. The caller must not change the list.
func (k Kind) Fires() []string { return kinds[k].fires }

// Unobserved returns the ids of the checks that cannot be judged on a rollout of
// this kind, in registry order. The caller must not change the list.
func (k Kind) Unobserved() []string { return kinds[k].hides }

// Verdict returns the verdict of a rollout of this kind whose identity no other
// row repeats: healthy, unhealthy or unobserved.
func (k Kind) Verdict() string {
	switch {
	case len(kinds[k].fires) > 0:
		return "unhealthy"
	case len(kinds[k].hides) > 0:
		return "unobserved"
	}
	return "healthy"
}

// The parts a kind leaves out of a row.
func (k Kind) hasTrajectory() bool { return k != NoTrajectory }
func (k Kind) hasContent() bool    { return k != NoTrajectory && k != ProjectionFailed }
func (k Kind) hasTurns() bool      { return k.hasContent() && k != NoTurns && k != TurnsGap }

// leastSteps is how many steps a rollout needs for its kind to come out as
// described: a lost call must not be the only one, for instance.
func (k Kind) leastSteps() int {
	switch k {
	case LostCall, DoubledCall, Retried, EndedFailed:
		return 2
	}
	return 1
}
