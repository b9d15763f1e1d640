package check

var zeroCompletionTokens = Check{
	ID:      "model_call_zero_completion_tokens",
	Scope:   Rollout,
	Subject: "model_call",
	Needs:   []Need{NeedRow, NeedTrajectory, NeedCalls, NeedMatched},
	Reads: []string{"ng_trajectory.model_calls[].token_stats.completion_tokens", "ng_trajectory.turns[].model_calls",
		"ng_trajectory.invocations[].model_calls", "ng_trajectory.gaps[].code"},
	Title: "A model call produced no token",
	Text: "A call that a turn or an invocation refers to reports exactly 0 completion tokens. A missing count is another check's matter. " +
		"Captured calls that nothing refers to are not looked at. Profile main leaves out calls that the upstream refused with 400 " +
		"because the context was too long. Unobserved with a gap in the capture of calls, and when no reference leads to a captured call.",
	Since:  "0.7.0",
	Varies: true,
	Run:    runZeroCompletionTokens,
	Say: func(f *Finding) string {
		return "call " + f.Get("call_id").Text + " reports 0 completion tokens"
	},
}

func runZeroCompletionTokens(e *Evidence, f *Findings) Raised {
	f.looked(len(e.Owned.Matched))
	for n, i := range e.Owned.Matched {
		if c := &e.Calls[i]; c.CompletionTokens.Set && c.CompletionTokens.Int.Sign() == 0 && !e.exempt(c) {
			f.add(e.callSpot(i))
			f.label(c, n)
			f.count(fieldCompletionTokens, 0)
		}
	}
	return Finished
}
