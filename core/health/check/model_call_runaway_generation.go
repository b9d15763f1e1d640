package check

var runawayGeneration = Check{
	ID:      "model_call_runaway_generation",
	Scope:   Rollout,
	Subject: "model_call",
	Needs:   []Need{NeedRow, NeedTrajectory, NeedCalls, NeedMatched, NeedResponses},
	Reads: []string{"ng_trajectory.model_calls[].response_metadata.finish_reason", "ng_trajectory.model_calls[].response",
		"ng_trajectory.turns[].model_calls", "ng_trajectory.invocations[].model_calls", "ng_trajectory.gaps[].code"},
	Title: "A model call ran to its limit and said nothing",
	Text: "A call that a turn or an invocation refers to finished with length, max_output_tokens or max_tokens, and its saved response has " +
		"no visible content: nothing in output_text or content, none in the text or message content of its choices, none in its output. " +
		"Tool calls and reasoning inside a message do not count as content. One such call saved without its response leaves the check " +
		"unobserved for the whole rollout, and so do a gap in the capture of calls and references that lead to no captured call. Choices of an odd shape " +
		"stop the check. Profile main leaves out calls that the upstream refused with 400 because the context was too long.",
	Since:  "0.7.0",
	Varies: true,
	Run:    runRunawayGeneration,
	Say: func(f *Finding) string {
		return "call " + f.Get("call_id").Text + " stopped at its limit (" + f.Get("finish_reason").Text + ") without any content"
	},
}

func runRunawayGeneration(e *Evidence, f *Findings) Raised {
	f.looked(len(e.Owned.Matched))
	for n, i := range e.Owned.Matched {
		c := &e.Calls[i]
		if !lengthLimited(c) || e.exempt(c) {
			continue
		}
		content, raised := responseContent(c.Response)
		if raised != Finished {
			f.stopAt(e.callSpot(i))
			return raised
		}
		if !content {
			f.add(e.callSpot(i))
			f.label(c, n)
			f.text(fieldFinishReason, c.FinishReason.Bytes)
		}
	}
	return Finished
}
