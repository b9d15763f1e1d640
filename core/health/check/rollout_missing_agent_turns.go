package check

import "fmt"

var missingAgentTurns = Check{
	ID:      "rollout_missing_agent_turns",
	Scope:   Rollout,
	Subject: "rollout",
	Needs:   []Need{NeedRow, NeedTrajectory, NeedTurns},
	Reads: []string{"ng_trajectory.turns[].answer", "ng_trajectory.turns[].reasoning_content", "ng_trajectory.turns[].model_calls",
		"ng_trajectory.gaps[].code"},
	Title: "No turn shows the agent at work",
	Text: "None of the turns has a message, a tool call or a reference to a model call; a trajectory without turns is such a case. " +
		"A message is any visible text in the answer or the reasoning of the turn, white space does not count. A turn with nothing " +
		"but references keeps this check quiet, though it is hollow. Unobserved without a valid trajectory, with the gap " +
		gapTurnsUnavailable + ", and when an answer stops the check.",
	Since: "0.7.0",
	Run:   runMissingAgentTurns,
	Say: func(f *Finding) string {
		switch f.Among {
		case 0:
			return "the trajectory has no turns"
		case 1:
			return "the only turn has no message, no tool call and no reference to a model call"
		}
		return fmt.Sprintf("none of %d turns has a message, a tool call or a reference to a model call", f.Among)
	},
}

func runMissingAgentTurns(e *Evidence, f *Findings) Raised {
	if e.raised != Finished {
		f.stopAt(e.turnSpot(e.raisedTurn))
		return e.raised
	}
	for i := range e.Turns {
		if t := &e.Turns[i]; t.Message || t.Tool || len(t.Refs) > 0 {
			return Finished
		}
	}
	f.looked(len(e.Turns))
	at := spot{kind: spotTurns, at: e.Row.Trajectory.Get("turns"), turn: -1, call: -1}
	if !at.at.Exists() {
		at = spot{kind: spotPath, path: "/ng_trajectory", at: e.Row.Trajectory, turn: -1, call: -1}
	}
	f.add(at)
	f.phrase(fieldReason, phraseNoTurns)
	return Finished
}
