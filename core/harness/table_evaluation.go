package harness

// evaluationChecks are the checks of the grade and of sandboxes (§7.4).
var evaluationChecks = []Check{
	{
		ID: "evaluation.reward", Kind: Schema, Evidence: evidence(VerifierOutcome), Applies: WithVerifier,
		place: inRow, shape: needs(must(keyReward, aNumber)),
		Title: "The reward is there",
		Text:  "A number at the top of the row. What turns say about resolution does not stand in for it.",
		Fails: "the row has no reward, or it is no number",
	},
	{
		ID: "evaluation.evaluation_completed", Kind: Schema, Evidence: evidence(VerifierOutcome), Applies: WithVerifier,
		place: inRow, shape: needs(must(keyCompleted, aBool)),
		Title: "The row says whether the evaluation was completed",
		Text:  "False where the verifier could not do its work, so that the reward is no measurement.",
		Fails: "the row does not say whether the evaluation was completed",
	},
	{
		ID: "evaluation.mask_sample", Kind: Schema, Evidence: evidence(VerifierOutcome), Applies: WithVerifier,
		place: inRow, shape: needs(must(keyMask, aBool)),
		Title: "The row says whether it is masked",
		Text:  "True where the row must not count in training or in averages.",
		Fails: "the row does not say whether it is masked",
	},
	{
		ID: "evaluation.failure_kind", Kind: Schema, Evidence: evidence(VerifierOutcome), Applies: WhenFailed,
		place: inRow, shape: needs(must(keyFailureKind, aText)),
		Title: "A row that does not count names the kind of failure",
		Text:  "Asked for where the row is masked or its evaluation was not completed.",
		Fails: "the row does not count but names no kind of failure",
	},
	{
		ID: "evaluation.failure_reason", Kind: Schema, Evidence: evidence(VerifierOutcome), Applies: WhenFailed,
		place: inRow, shape: needs(must(keyFailureReason, aText)),
		Title: "A row that does not count says why",
		Text:  "In words for people, where the row is masked or its evaluation was not completed.",
		Fails: "the row does not count but says no reason",
	},
	{
		ID: "sandbox.present", Kind: Schema, Evidence: evidence(VerifierOutcome), Applies: WhenSandboxRequired,
		place: inRecords, rule: func(j *Judge) bool { return len(j.sandboxes) > 0 },
		Title: "A sandbox is recorded",
		Text:  "Asked for only where the scope makes sandbox records mandatory: an observation of kind `sandbox`.",
		Rule:  "at least one record is an object of `kind` `sandbox`",
		Fails: "no sandbox is recorded",
	},
	{
		ID: "sandbox.identity", Kind: Schema, Evidence: evidence(VerifierOutcome), Needs: []string{"sandbox.present"}, Applies: WithSandbox,
		place: inSandboxes, each: true, shape: needs(must(keySandboxID, aText)),
		Title: "Every sandbox has an id",
		Text:  "So that its logs can be found again.",
		Fails: "a sandbox has no id",
	},
	{
		ID: "sandbox.outcome", Kind: Schema, Evidence: evidence(VerifierOutcome), Needs: []string{"sandbox.present"}, Applies: WithSandbox,
		place: inSandboxes, each: true, shape: needs(must(keyOutcome, one("completed", "failed", "timeout", "oom", "sandbox_error", "cancelled"))),
		Title: "Every sandbox says how it ended",
		Text:  "With one of six words.",
		Fails: "a sandbox does not say how it ended",
	},
	{
		ID: "sandbox.error", Kind: Schema, Evidence: evidence(VerifierOutcome), Needs: []string{"sandbox.present"}, Applies: WithSandbox,
		place: inSandboxes, each: true, shape: excused,
		Title: "A sandbox that went wrong names its error",
		Text:  "Asked for where it failed, ran out of memory or could not be used.",
		Fails: "a sandbox went wrong and names no error",
	},
}

// gapChecks are the checks of gaps that a producer declared itself (§7.5).
var gapChecks = []Check{
	{
		ID: "calls.capture_gap", Kind: Semantic, Evidence: evidence(ModelCallStatus, History, Payloads, RunJoin, StepJoin), Needs: []string{"model_calls.present"},
		place: inGaps, rule: gapRule([]string{"agent_observation_join_failed"}, "model_call_capture"),
		Title: "No gap in the capture of calls is declared",
		Text:  "A producer that knows of lost calls declares it. That is honest, and it means that the record of calls cannot be trusted to be whole.",
		Rule:  "no `code` of a gap begins with `model_call_capture` or is `agent_observation_join_failed`",
		Fails: "the producer declares that captured calls are incomplete",
	},
	{
		ID: "ownership.gap", Kind: Semantic, Evidence: evidence(RunJoin), Needs: []string{"model_calls.present"},
		place: inGaps, rule: gapRule([]string{"model_call_ownership_unavailable"}, "model_call_reference"),
		Title: "No gap in the ownership of calls is declared",
		Text:  "The producer could not attach every call to its invocation.",
		Rule:  "no `code` of a gap begins with `model_call_reference` or is `model_call_ownership_unavailable`",
		Fails: "the producer declares that the owners of calls are incomplete",
	},
	{
		ID: "steps.gap", Kind: Semantic, Evidence: evidence(Steps), Needs: []string{"model_calls.present"}, Applies: WithSteps,
		place: inGaps, rule: gapRule([]string{"turns_unavailable", "turn_evidence_incomplete", "trajectory_projection_failed"}),
		Title: "No gap in the steps is declared",
		Text:  "The producer could not make the turns, or not all of them.",
		Rule:  "no `code` of a gap is `turns_unavailable`, `turn_evidence_incomplete` or `trajectory_projection_failed`",
		Fails: "the producer declares that turns are incomplete",
	},
	{
		ID: "steps.accounting_gap", Kind: Semantic, Evidence: evidence(StepJoin), Needs: []string{"model_calls.present"}, Applies: WithSteps,
		place: inGaps, rule: gapRule([]string{"turn_model_call_scope_incomplete"}),
		Title: "No gap in the calls of steps is declared",
		Text:  "The producer could not tell which calls belong to which turn.",
		Rule:  "no `code` of a gap is `turn_model_call_scope_incomplete`",
		Fails: "the producer declares that the calls of turns are incomplete",
	},
}
