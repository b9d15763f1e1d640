package check

var noSuccessfulCalls = Check{
	ID:      "task_no_successful_model_calls",
	Scope:   Task,
	Subject: "task",
	Needs:   []Need{NeedTurnCalls},
	Reads: []string{"_ng_task_index", "_ng_rollout_index", "ng_trajectory.turns[].model_calls",
		"ng_trajectory.model_calls[].response_metadata.status_code"},
	Title: "No repeat of the task had a successful model call",
	Text: "On every repeat the calls that turns refer to are known, and none of them was successful: not failed, with a status from 200 to 399 " +
		"or none. Known means that the turns cover all calls and each of their references leads to exactly one captured call; one repeat for which " +
		"that does not hold leaves the check unobserved for the task. The flag changes no verdict.",
	Since: "0.7.0",
	Tally: func(r *Repeats) Outcome {
		switch {
		case r.Unresolved > 0:
			return RepeatsIncomplete
		case r.Successful == 0:
			return Fired
		}
		return Clean
	},
}
