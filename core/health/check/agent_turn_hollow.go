package check

import "fmt"

var turnHollow = Check{
	ID:      "agent_turn_hollow",
	Scope:   Rollout,
	Subject: "agent_turn",
	Needs:   []Need{NeedRow, NeedTrajectory, NeedTurns},
	Reads:   []string{"ng_trajectory.turns[].answer", "ng_trajectory.turns[].reasoning_content", "ng_trajectory.gaps[].code"},
	Title:   "A turn says nothing and does nothing",
	Text: "A turn has neither a message nor a tool call. Messages are visible text in answer or reasoning_content: a string with more " +
		"than white space, found directly, in arrays, or in objects under text, content, output_text, answer, refusal, " +
		"encrypted_content, reasoning, reasoning_content or summary. A tool call is an object in the answer, directly or in arrays, " +
		"whose type is one of thirteen call kinds or whose tool_calls is not empty. A number or an unknown object is nothing. One " +
		"finding per turn, named by its turn_no. Unobserved without a valid trajectory, with the gap " + gapTurnsUnavailable +
		", and when an answer stops the check.",
	Since: "0.7.0",
	Run:   runTurnHollow,
	Say: func(f *Finding) string {
		switch {
		case f.Among == 1:
			return "the only turn has neither message nor tool call"
		case f.Fired == 1:
			return fmt.Sprintf("1 of %d turns has neither message nor tool call", f.Among)
		}
		return fmt.Sprintf("%d of %d turns have neither message nor tool call", f.Fired, f.Among)
	},
}

func runTurnHollow(e *Evidence, f *Findings) Raised {
	if e.raised != Finished {
		f.stopAt(e.turnSpot(e.raisedTurn))
		return e.raised
	}
	f.looked(len(e.Turns))
	for i := range e.Turns {
		if t := &e.Turns[i]; !t.Message && !t.Tool {
			f.add(e.turnSpot(i))
			f.number(fieldTurn, t.No)
			f.phrase(fieldReason, phraseHollow)
		}
	}
	return Finished
}
