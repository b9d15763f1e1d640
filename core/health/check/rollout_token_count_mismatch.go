package check

import (
	"fmt"

	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/jsonscan"
)

var tokenCountMismatch = Check{
	ID:      "rollout_token_count_mismatch",
	Scope:   Rollout,
	Subject: "rollout",
	Needs:   []Need{NeedRow, NeedTrajectory, NeedCalls, NeedScope, NeedView, NeedUsage, NeedCounts},
	Reads: []string{"response.usage", "ng_trajectory.turns[].model_calls", "ng_trajectory.invocations[].model_calls",
		"ng_trajectory.model_calls[].token_stats.prompt_tokens", "ng_trajectory.model_calls[].token_stats.completion_tokens",
		"ng_trajectory.gaps[].code"},
	Title: "Row and calls count different tokens",
	Text: "The prompt or completion tokens in the row's usage differ from the sum over the captured calls: those that turns refer to in " +
		"profile 0.7, those that turns or invocations refer to in profile main. Usage is read as input_tokens and output_tokens, or " +
		"prompt_tokens and completion_tokens where the former are absent. It is judged only when nothing is missing: no gap in the " +
		"capture, turns that cover all calls, references that each lead to exactly one call, both counts on each of these calls and in " +
		"the usage.",
	Since:  "0.7.0",
	Varies: true,
	Run:    runTokenCountMismatch,
	Say: func(f *Finding) string {
		return fmt.Sprintf("the row counts %s prompt and %s completion tokens, its calls %s and %s", f.Get("transcript_prompt"),
			f.Get("transcript_completion"), f.Get("capture_prompt"), f.Get("capture_completion"))
	},
}

func runTokenCountMismatch(e *Evidence, f *Findings) Raised {
	var prompt, completion integer.Int
	matched := e.compared().Matched
	for _, i := range matched {
		prompt = prompt.Add(e.Calls[i].PromptTokens.Int)
		completion = completion.Add(e.Calls[i].CompletionTokens.Int)
	}
	own, ownCompletion := whole(e.Usage.Prompt), whole(e.Usage.Completion)
	if prompt.Cmp(own) == 0 && completion.Cmp(ownCompletion) == 0 {
		return Finished
	}
	f.looked(len(matched))
	f.add(spot{kind: spotUsage, at: e.Row.Response.Get("usage"), turn: -1, call: -1})
	f.number(fieldTranscriptPrompt, own)
	f.number(fieldTranscriptCompletion, ownCompletion)
	f.number(fieldCapturePrompt, prompt)
	f.number(fieldCaptureCompletion, completion)
	return Finished
}

func whole(n jsonscan.Integer) integer.Int { return integer.FromUint(n.Negative, n.Magnitude) }
