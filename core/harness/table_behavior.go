package harness

import "github.com/rollscope/rollscope/core/value"

const (
	witnessFile    = "witness.json"
	callLocation   = "$.ng_trajectory.model_calls"
	toolLocation   = "$.ng_trajectory.tool_calls"
	rewardLocation = "$.reward"
)

// When behavioural checks apply.
func anyScenario(*Scenario) bool     { return true }
func withErrors(s *Scenario) bool    { return len(s.HTTPErrors) > 0 }
func withRetries(s *Scenario) bool   { return len(s.HTTPErrors) > 1 }
func endsInError(s *Scenario) bool   { return s.TerminalError }
func endsInAnswer(s *Scenario) bool  { return !s.TerminalError }
func withToolSteps(s *Scenario) bool { return s.ToolSteps > 0 }
func withTimeout(s *Scenario) bool   { return !s.ModelTimeout.IsNull() }

// What they need to be available.
func (b *behaving) witnessed() bool { return b.seen }
func (b *behaving) both() bool      { return b.seen && b.record.IsObject() }

// verified gives the one verification there was.
func (b *behaving) verified() (v value.Value, one bool) {
	if len(b.verifications) != 1 {
		return v, false
	}
	return b.verifications[0], true
}

// repeats tells whether the attempts in a range have the request of the first one.
func (b *behaving) repeats(from, to int) bool {
	if to > len(b.attempts) {
		return false
	}
	for _, a := range b.attempts[from:to] {
		if !value.Equal(a.Get("request"), b.attempts[0].Get("request")) {
			return false
		}
	}
	return true
}

// behaviors are the behavioural checks (§11.2).
var behaviors = []Behavior{
	{
		ID: "episode.initialized", Location: witnessFile, applies: anyScenario, given: (*behaving).witnessed,
		Title: "The episode was set up once", Fails: "the episode was not set up exactly once",
		rule: func(b *behaving) bool { return value.Equal(b.seeded, value.Int(1)) },
	},
	{
		ID: "model.reached", Evidence: evidence(ModelCallStatus), Location: witnessFile, applies: anyScenario, given: (*behaving).witnessed,
		Title: "The model was asked", Fails: "no request reached the model",
		rule: func(b *behaving) bool { return len(b.attempts) > 0 },
	},
	{
		ID: "model.protocol", Location: witnessFile, applies: anyScenario, given: (*behaving).witnessed,
		Title: "The protocol was kept", Fails: "the witness saw violations of the protocol",
		rule: func(b *behaving) bool { return !b.violations.Truthy() },
	},
	{
		ID: "model.error_sequence", Evidence: evidence(ModelCallStatus), Location: witnessFile, applies: withErrors, given: (*behaving).witnessed,
		Title: "The scripted errors were met", Fails: "the first answers were not the scripted errors",
		rule: func(b *behaving) bool {
			for i, status := range b.HTTPErrors {
				if i >= len(b.attempts) || !value.Equal(b.attempts[i].Get("status_code"), value.Int(status)) {
					return false
				}
			}
			return true
		},
	},
	{
		ID: "model.retry_request", Evidence: evidence(ModelCallStatus), Location: witnessFile, applies: withRetries,
		given: func(b *behaving) bool { return b.seen && len(b.attempts) >= len(b.HTTPErrors) },
		Title: "Retries repeat the request", Fails: "a retry sent another request than the first attempt",
		rule: func(b *behaving) bool { return b.repeats(1, len(b.HTTPErrors)) },
	},
	{
		ID: "model.terminal_error", Evidence: evidence(ModelCallStatus), Location: witnessFile, applies: endsInError, given: (*behaving).witnessed,
		Title: "The terminal error was met to the end", Fails: "an attempt was not answered with the terminal error, or there was none",
		rule: func(b *behaving) bool {
			n := len(b.HTTPErrors)
			if n == 0 {
				return false
			}
			for _, a := range b.attempts {
				if !value.Equal(a.Get("status_code"), value.Int(b.HTTPErrors[n-1])) {
					return false
				}
			}
			return len(b.attempts) > 0
		},
	},
	{
		ID: "model.finished", Location: witnessFile, applies: endsInAnswer, given: (*behaving).witnessed,
		Title: "The script was played to its end", Fails: "the script of the model was not played to its end",
		rule: func(b *behaving) bool { return b.finished.Truthy() },
	},
	{
		ID: "tools.executed", Evidence: evidence(History, ToolRecord), Location: witnessFile, applies: withToolSteps, given: (*behaving).witnessed,
		Title: "The scripted tools were run", Fails: "not all scripted tools were run with their results seen, or others were",
		rule: func(b *behaving) bool {
			for _, t := range b.tools {
				if !t.Get("executed").Truthy() || !t.Get("result_seen").Truthy() {
					return false
				}
			}
			return len(b.tools) == b.ToolSteps
		},
	},
	{
		ID: "verifier.outcome", Evidence: evidence(VerifierOutcome), Location: witnessFile, applies: endsInAnswer, given: (*behaving).witnessed,
		Title: "The verifier gave the expected reward", Fails: "there was not exactly one verification with the expected reward",
		rule: func(b *behaving) bool {
			v, one := b.verified()
			return one && value.Equal(v.Get("reward"), b.ExpectedReward)
		},
	},
	{
		ID: "verifier.answer", Evidence: evidence(VerifierOutcome), Location: witnessFile, applies: endsInAnswer, given: (*behaving).witnessed,
		Title: "The verifier saw the answer", Fails: "there was not exactly one verification that saw the answer",
		rule: func(b *behaving) bool {
			v, one := b.verified()
			return one && v.Get("answer_seen").Truthy()
		},
	},
	{
		ID: "verifier.saved_reward", Evidence: evidence(VerifierOutcome), Location: rewardLocation, applies: endsInAnswer, given: (*behaving).both,
		Title: "The expected reward was saved", Fails: "the saved reward is not the expected one",
		rule: func(b *behaving) bool { return value.Equal(b.record.Get("reward"), b.ExpectedReward) },
	},
	{
		ID: "model.saved_exchanges", Evidence: evidence(ModelCallStatus, History, Payloads), Location: callLocation, applies: anyScenario, given: (*behaving).both,
		Title: "The saved exchanges are those that took place", Fails: "saved and witnessed exchanges differ",
		rule: func(b *behaving) bool { return b.sameExchanges(nothingMore, nothingMore) },
	},
	{
		ID: "model.response_metadata", Evidence: evidence(ModelCallStatus), Location: callLocation, applies: anyScenario, given: (*behaving).both,
		Title: "The saved metadata are those of the responses", Fails: "saved and witnessed ids, statuses or finish reasons differ",
		rule: func(b *behaving) bool { return b.sameExchanges(witnessedEnd, savedEnd) },
	},
	{
		ID: "model.token_counts", Evidence: evidence(TokenCounts), Location: callLocation, applies: anyScenario, given: (*behaving).both,
		Title: "The saved token counts are those of the responses", Fails: "saved and witnessed token counts differ",
		rule: func(b *behaving) bool { return b.sameExchanges(witnessedCounts, savedCounts) },
	},
	{
		ID: "tools.witness_ids", Evidence: evidence(ToolRecord), Location: toolLocation, applies: withToolSteps, given: (*behaving).both,
		Title: "The saved tools are those that ran", Fails: "saved and witnessed ids of tool calls differ, or are not unique",
		rule: func(b *behaving) bool { return b.sameIDs },
	},
	{
		ID: "tools.witness_join", Evidence: evidence(ToolRecord), Location: witnessFile, Needs: []string{"tools.witness_ids"}, applies: withToolSteps,
		given: func(b *behaving) bool { return len(b.joined) > 0 },
		Title: "Every tool that ran was asked for once", Fails: "a tool that ran has no single request in the conversation of its invocation",
		rule: func(b *behaving) bool { return all(b.joined) },
	},
	{
		ID: "tools.witness_request", Evidence: evidence(ToolRecord), Location: witnessFile, Needs: []string{"tools.witness_ids", "tools.witness_join"}, applies: withToolSteps,
		given: func(b *behaving) bool { return len(b.asked) > 0 },
		Title: "Every tool ran as it was asked for", Fails: "a tool ran under another name or with other arguments than were saved",
		rule: func(b *behaving) bool { return all(b.asked) },
	},
	{
		ID: "tools.witness_status", Evidence: evidence(ToolRecord), Location: witnessFile, Needs: []string{"tools.witness_ids"}, applies: withToolSteps,
		given: func(b *behaving) bool { return len(b.ended) > 0 },
		Title: "The saved statuses of tools are right", Fails: "a saved status of a tool contradicts its exit code",
		rule: func(b *behaving) bool { return all(b.ended) },
	},
	{
		ID: "tools.witness_output", Evidence: evidence(ToolRecord), Location: witnessFile, Needs: []string{"tools.witness_ids"}, applies: withToolSteps,
		given: func(b *behaving) bool { return len(b.returned) > 0 },
		Title: "The saved outputs of tools are right", Fails: "a saved output of a tool is not what was witnessed",
		rule: func(b *behaving) bool { return all(b.returned) },
	},
	{
		ID: "model.timeout_triggered", Evidence: evidence(ModelCallStatus), Location: witnessFile, applies: withTimeout, given: (*behaving).witnessed,
		Title: "The scripted timeout took place", Fails: "the first attempt was not ended by the declared timeout",
		rule: func(b *behaving) bool {
			if len(b.attempts) == 0 {
				return false
			}
			first := b.attempts[0]
			t := first.Get("timeout")
			expired, is := t.Get("expired").Truth()
			return is && expired && t.Get("scope").Is("model_call") && t.Get("model_server").Is("policy_model") &&
				value.Equal(t.Get("limit_seconds"), b.ModelTimeout) && value.Equal(first.Get("status_code"), value.Int(504))
		},
	},
	{
		ID: "model.timeout_retained", Evidence: evidence(ModelCallStatus), Location: callLocation, Needs: []string{"model.timeout_triggered"}, applies: withTimeout, given: (*behaving).both,
		Title: "The timeout was saved", Fails: "there is not exactly one saved call of the first attempt, or it does not say that it timed out",
		rule: func(b *behaving) bool {
			if len(b.attempts) == 0 {
				return false
			}
			var found []value.Value
			first := b.attempt(b.attempts[0])
			for _, c := range b.calls {
				if b.call(c) == first {
					found = append(found, c)
				}
			}
			return len(found) == 1 && metadata(found[0]).Get("error_category").Is("timeout") && metadata(found[0]).Get("response_id").IsNull()
		},
	},
	{
		ID: "model.retry_after_timeout", Evidence: evidence(ModelCallStatus), Location: witnessFile, Needs: []string{"model.timeout_triggered"}, applies: withTimeout, given: (*behaving).witnessed,
		Title: "The request was repeated after the timeout", Fails: "the second attempt did not repeat the request with success",
		rule: func(b *behaving) bool {
			return b.repeats(1, 2) && value.Equal(b.attempts[1].Get("status_code"), value.Int(200))
		},
	},
	{
		ID: "verifier.completed_after_timeout", Evidence: evidence(VerifierOutcome), Location: "$.evaluation_completed", applies: withTimeout, given: (*behaving).both,
		Title: "The evaluation was completed after the timeout", Fails: "verification or row do not say that the evaluation was completed",
		rule: func(b *behaving) bool {
			v, one := b.verified()
			seen, isSeen := v.Get("evaluation_completed").Truth()
			saved, isSaved := b.record.Get("evaluation_completed").Truth()
			return one && isSeen && seen && isSaved && saved
		},
	},
}
