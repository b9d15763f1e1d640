package synth

import "strconv"

// row puts the finished rollout together and says when it ended.
func (s *scribe) row(root *strand) ([]byte, int64) {
	e, t := s.e, s.task
	agentTime := s.clock - s.began
	evalTime := int64(s.between(2500, 9000))
	if e.quirk == judged {
		s.judge()
	}
	end := s.clock + evalTime
	rolloutID := strconv.Itoa(e.task) + "-" + strconv.Itoa(e.repeat)

	b := []byte(`{"responses_create_params":{"input":[`)
	b = appendEasyMessage(b, sparse, "user", root.prompt)
	b = append(b, `],"max_output_tokens":8192,"temperature":0.8,"tools":[`...)
	b = append(b, t.toolList()...)
	b = append(b, `]},"response":{"id":"sample-`+rolloutID+`","object":"response","created_at":`...)
	b = appendInt(b, int(s.began/1000))
	b = append(b, `,"model":"`+sampleModel+`","output":[`...)
	b = append(b, s.output...)
	b = append(b, `],"usage":`...)
	completion := max(s.usage.completion, 0)
	if e.kind == TokenMismatch {
		completion -= 23 // the harness left out a summary it had asked for
	}
	b = appendUsage(b, max(s.usage.prompt, 0), s.usage.cached, completion, s.usage.reasoning)

	passed := t.tests
	if e.reward == 0 {
		passed = s.below(t.tests)
	}
	b = append(b, `},"reward":`...)
	b = appendRatio(b, e.reward, 1)
	b = append(b, `,"resolved":`...)
	b = appendBool(b, e.reward == 1)
	b = append(b, `,"tests_passed":`...)
	b = appendInt(b, passed)
	b = append(b, `,"tests_total":`...)
	b = appendInt(b, t.tests)
	b = append(b, `,"agent_timed_out":`...)
	b = appendBool(b, e.quirk == unansweredCall)
	b = append(b, `,"agent_run_time":`...)
	b = appendDecimal(b, agentTime, 3)
	b = append(b, `,"eval_run_time":`...)
	b = appendDecimal(b, evalTime, 3)
	b = append(b, `,"evaluation_completed":`...)
	b = appendBool(b, e.masked == "")
	b = append(b, `,"mask_sample":`...)
	b = appendBool(b, e.masked != "")
	if e.masked != "" {
		b = append(b, `,"failure_kind":"`+e.masked+`","failure_reason":`...)
		b = appendQuoted(b, maskReason(e.masked))
	}
	b = append(b, `,"task_id":"`+t.id+`","category":"`+t.category+`","difficulty":"`+t.difficulty+`","_ng_task_index":`...)
	b = appendInt(b, e.task)
	b = append(b, `,"_ng_rollout_index":`...)
	b = appendInt(b, e.repeat)
	b = append(b, `,"agent_ref":{"type":"responses_api_agents","name":"`+t.agent+`"}`...)
	if e.kind != NoTrajectory {
		b = s.appendEvidence(b, root, rolloutID, end-s.began)
	}
	return append(b, '}'), end
}

func maskReason(kind string) string {
	if kind == "sandbox_lost" {
		return "the sandbox was gone before the tests could run"
	}
	return "the tests did not finish within 120 s"
}

// toolList returns the definitions of the tools that the task's agent has.
func (t *sampleTask) toolList() []byte {
	names := []string{"bash"}
	switch t.agent {
	case "opencode":
		names = []string{"bash", "task"}
	case "terminus_2":
		names = []string{"keystrokes"}
	}
	var b []byte
	for _, name := range names {
		argument, about := sampleTool(name)
		b = append(comma(b), `{"type":"function","name":"`+name+`","description":"`+about+`","parameters":{"type":"object","properties":{"`+argument+`":{"type":"string"}}},"strict":true}`...)
	}
	return b
}

// judge adds a call that the verifier made through the same model server. No
// agent owns it.
func (s *scribe) judge() {
	s.numCalls++
	id := s.key + "-" + strconv.Itoa(s.numCalls)
	c := call{
		id: "mc-" + id, responseID: "resp-" + id, server: judgeServer, model: "quill-judge", dialect: "chat", status: 200, finish: "stop",
		started: s.clock + 900, took: 1340, first: 410, prompt: 512, completion: 9, cached: 0, reasoning: 0,
		request:  []byte(`{"model":"quill-judge","messages":[{"role":"user","content":"Does the last message claim more than was done? Answer yes or no."}],"max_tokens":16}`),
		response: []byte(`{"id":"resp-` + id + `","object":"chat.completion","model":"quill-judge","choices":[{"index":0,"message":{"role":"assistant","content":"no"},"finish_reason":"stop"}],"usage":{"prompt_tokens":512,"completion_tokens":9,"total_tokens":521,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}}}`),
	}
	s.gap("model_call_ownership_unavailable", "", "capture:"+c.id+":call_index="+strconv.Itoa(s.all.calls))
	s.keep(&c, false)
}

// appendEvidence appends the observations, the capture, the trajectory and the
// performance numbers.
func (s *scribe) appendEvidence(b []byte, root *strand, rolloutID string, took int64) []byte {
	kind := s.e.kind
	if s.e.quirk == unansweredCall {
		root.status, root.failure = "incomplete", "agent_run_timeout"
	}
	if s.e.quirk == secondClaims {
		s.claimAgain(root)
	}
	invocations := append(root.append(nil), s.helpers...)
	switch kind {
	case TurnsGap:
		s.turns = nil
		s.gap("turns_unavailable", "", "")
	}
	if s.observed {
		b = append(b, `,"ng_agent_observations":{"source":"opencode","records":[`...)
		b = append(b, invocations...)
		b = append(b, ',')
		if len(s.seenRuns) > 0 {
			b = append(append(b, s.seenRuns...), ',')
		}
		b = s.appendSandbox(b, root.took)
		b = append(append(b, `],"gaps":[`...), s.gaps...)
		b = append(b, `]}`...)
	}
	captureGaps := ""
	if kind == CaptureGap {
		captureGaps = `{"code":"model_call_capture_incomplete"}`
		s.gap("model_call_capture_incomplete", "", "")
	}
	if s.captured {
		b = append(b, `,"ng_model_call_capture":`...)
		b = appendCaptureSummary(b, rolloutID, s.all, s.summary, []byte(captureGaps))
	}
	b = append(b, `,"ng_trajectory":{"schema_version":"1.0",`+s.ids+`,"invocations":[`...)
	b = append(append(b, invocations...), `],"turns":[`...)
	b = append(append(b, s.turns...), `],"model_calls":[`...)
	b = append(append(b, s.calls...), `],"tool_calls":[`...)
	b = append(append(b, s.runs...), `],"gaps":[`...)
	b = append(append(b, s.gaps...), ']')
	if kind == BadTrajectory {
		// A later writer knows a key that this schema does not.
		return append(b, `,"instance_id":"sqlite-slow-report@2"}`...)
	}
	b = append(b, `},"ng_perf":`...)
	turns := s.numTurns
	if kind == TurnsGap {
		turns = s.owned.calls
	}
	if s.e.quirk == secondClaims {
		turns++ // an agent without turns of its own counts as one
	}
	return appendPerf(b, max(turns, 1), s.numRuns, s.owned, took)
}

// claimAgain adds an agent that claims the first call of the root as its own.
func (s *scribe) claimAgain(root *strand) {
	id := "mc-" + s.key + "-1"
	claim := call{id: id, responseID: "resp-" + s.key + "-1", server: policyServer}
	other := invocation{id: "review-1", parent: root.id, status: "completed", took: 40, refs: claim.appendRef(nil)}
	other.conversation = appendEasyMessage(nil, full, "user", quoted("Review the renamed files."))
	s.helpers = other.append(append(s.helpers, ','))
	s.gap("model_call_reference_conflict", other.id, id)
}

func (s *scribe) appendSandbox(b []byte, took int64) []byte {
	b = append(b, `{"kind":"sandbox","role":"agent","provider":"docker","sandbox_id":"sb-`+s.key+`","outcome":"completed","exit_code":0,"wall_time_s":`...)
	b = appendDecimal(b, took, 3)
	b = append(b, `,"cpu_time_s":`...)
	b = appendDecimal(b, int64(s.between(300, 2600)), 3)
	b = append(b, `,"peak_memory_mib":`...)
	b = appendDecimal(b, int64(s.between(900, 4200)), 1)
	return append(b, `,"resource_usage_source":"cgroup","error_type":null}`...)
}
