package check

var missingTokenCounts = Check{
	ID:      "model_call_missing_token_counts",
	Scope:   Rollout,
	Subject: "model_call",
	Needs:   []Need{NeedRow, NeedTrajectory, NeedCalls, NeedMatched},
	Reads: []string{"ng_trajectory.model_calls[].token_stats.prompt_tokens", "ng_trajectory.model_calls[].token_stats.completion_tokens",
		"ng_trajectory.turns[].model_calls", "ng_trajectory.invocations[].model_calls", "ng_trajectory.gaps[].code"},
	Title: "A model call lacks token counts",
	Text: "A call that a turn or an invocation refers to has no prompt count, no completion count, or neither; 0 is a count. The finding " +
		"lists what is missing. Profile main leaves out calls that the upstream refused with 400 because the context was too long. " +
		"Unobserved with a gap in the capture of calls, and when no reference leads to a captured call.",
	Since:  "0.7.0",
	Varies: true,
	Run:    runMissingTokenCounts,
	Say: func(f *Finding) string {
		what := "neither prompt nor completion tokens"
		if list := f.Get("missing").List; len(list) == 1 {
			what = "no prompt tokens"
			if list[0] == phrases[phraseCompletion] {
				what = "no completion tokens"
			}
		}
		return "call " + f.Get("call_id").Text + " reports " + what
	},
}

func runMissingTokenCounts(e *Evidence, f *Findings) Raised {
	f.looked(len(e.Owned.Matched))
	for n, i := range e.Owned.Matched {
		c := &e.Calls[i]
		if c.PromptTokens.Set && c.CompletionTokens.Set || e.exempt(c) {
			continue
		}
		f.add(e.callSpot(i))
		f.label(c, n)
		switch {
		case c.PromptTokens.Set:
			f.list(fieldMissing, phraseCompletion)
		case c.CompletionTokens.Set:
			f.list(fieldMissing, phrasePrompt)
		default:
			f.list(fieldMissing, phrasePrompt, phraseCompletion)
		}
	}
	return Finished
}
