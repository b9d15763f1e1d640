package check

var executionError = Check{
	ID:      "check_execution_error",
	Scope:   Rollout,
	Subject: "check_execution",
	Needs:   []Need{NeedRow},
	Reads:   []string{"ng_trajectory.turns[].answer", "ng_trajectory.model_calls[].response.choices"},
	Title:   "A check could not finish",
	Text: "A check met a value of a shape its rule cannot handle and stopped. There is one finding per stopped check, with its id and the " +
		"kind of exception; what that check had found before is dropped, and the check itself is unobserved on this rollout. " +
		"Three shapes do it: an object in a turn's answer whose type is an array or an object (the two turn checks stop), choices " +
		"of a length-limited response that are a number or true, and a choice whose message is neither empty nor an object (the " +
		"check for runaway generation stops). Ignoring this check hides the findings; the stopped checks stay unobserved. Not " +
		"judged on a line that cannot be read.",
	Since: "0.7.0",
	// Its findings come from the other checks as they stop.
	Run: func(*Evidence, *Findings) Raised { return Finished },
	Say: func(f *Finding) string {
		return "check " + f.Get("failed_check").Text + " stopped with " + f.Get("error").Text
	},
}
