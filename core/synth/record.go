package synth

// The writers of this file know the written form of the records in a row, keys
// in the order of the trajectory and model-call specs. The large runs and the
// sample run share them, so a healthy row is healthy in both for one reason.

const (
	policyServer = "policy_model"
	judgeServer  = "judge_model"
)

// call is one exchange with a model server.
type call struct {
	id, responseID string // empty: null
	server, model  string
	dialect        string // responses, chat or messages
	status         int    // HTTP status
	state          string // response status; empty: null
	finish         string // finish reason; empty: null
	failure        string // error category; empty: null
	started        int64  // Unix milliseconds
	took           int64  // milliseconds
	first          int64  // milliseconds to the first token; negative: null
	prompt         int    // tokens; negative: null, as the next three
	completion     int
	reasoning      int
	cached         int
	request        []byte // JSON; empty: null
	response       []byte
	tools          []byte // members of the capture's tool_calls list
	thought        string // reasoning text as a JSON string; empty: null
}

func (c *call) total() int {
	if c.prompt < 0 || c.completion < 0 {
		return unknown
	}
	return c.prompt + c.completion
}

func appendModelRef(dst []byte, server string) []byte {
	dst = append(dst, `{"type":"responses_api_models","name":"`...)
	dst = append(dst, server...)
	return append(dst, `"}`...)
}

// appendOrigin appends what the call record and the trajectory's metadata share.
func (c *call) appendOrigin(dst []byte) []byte {
	dst = append(dst, `"model_ref":`...)
	dst = appendModelRef(dst, c.server)
	dst = append(dst, `,"model":`...)
	dst = appendOptional(dst, c.model)
	dst = append(dst, `,"dialect":`...)
	dst = appendOptional(dst, c.dialect)
	dst = append(dst, `,"status_code":`...)
	dst = appendInt(dst, c.status)
	dst = append(dst, `,"response_status":`...)
	dst = appendOptional(dst, c.state)
	dst = append(dst, `,"finish_reason":`...)
	dst = appendOptional(dst, c.finish)
	dst = append(dst, `,"upstream_attempted":true,"response_source":"upstream","upstream_status_code":`...)
	dst = appendInt(dst, c.status)
	return append(dst, `,"local_response_reason":null`...)
}

func (c *call) appendFirst(dst []byte) []byte {
	if c.first < 0 {
		return append(dst, "null"...)
	}
	return appendMillis(dst, c.first)
}

// appendTrajectory appends the call as a member of ng_trajectory.model_calls.
func (c *call) appendTrajectory(dst []byte) []byte {
	dst = append(dst, `{"model_call_id":`...)
	dst = appendOptional(dst, c.id)
	dst = append(dst, `,"started_at":`...)
	dst = appendSeconds(dst, c.started)
	dst = append(dst, `,"completed_at":`...)
	dst = appendSeconds(dst, c.started+c.took)
	dst = append(dst, `,"duration_ms":`...)
	dst = appendMillis(dst, c.took)
	dst = append(dst, `,"request":`...)
	dst = appendJSON(dst, c.request)
	dst = append(dst, `,"response":`...)
	dst = appendJSON(dst, c.response)
	dst = append(dst, `,"response_metadata":{"response_id":`...)
	dst = appendOptional(dst, c.responseID)
	dst = append(dst, ',')
	dst = c.appendOrigin(dst)
	dst = append(dst, `,"error_category":`...)
	dst = appendOptional(dst, c.failure)
	dst = append(dst, `,"latency_ttft_ms":`...)
	dst = c.appendFirst(dst)
	dst = append(dst, `},"token_stats":{"prompt_tokens":`...)
	dst = appendCount(dst, c.prompt)
	dst = append(dst, `,"completion_tokens":`...)
	dst = appendCount(dst, c.completion)
	dst = append(dst, `,"reasoning_tokens":`...)
	dst = appendCount(dst, c.reasoning)
	dst = append(dst, `,"total_tokens":`...)
	dst = appendCount(dst, c.total())
	dst = append(dst, `,"cached_tokens":`...)
	dst = appendCount(dst, c.cached)
	return append(dst, `}}`...)
}

// appendCapture appends the call as a member of ng_model_call_capture.calls.
func (c *call) appendCapture(dst []byte, index int) []byte {
	dst = append(dst, `{"model_call_id":`...)
	dst = appendOptional(dst, c.id)
	dst = append(dst, `,"response_id":`...)
	dst = appendOptional(dst, c.responseID)
	dst = append(dst, `,"client_session_id":null,"call_index":`...)
	dst = appendInt(dst, index)
	dst = append(dst, ',')
	dst = c.appendOrigin(dst)
	dst = append(dst, `,"started_at":`...)
	dst = appendSeconds(dst, c.started)
	dst = append(dst, `,"completed_at":`...)
	dst = appendSeconds(dst, c.started+c.took)
	dst = append(dst, `,"tokens_in":`...)
	dst = appendCount(dst, c.prompt)
	dst = append(dst, `,"tokens_out":`...)
	dst = appendCount(dst, c.completion)
	dst = append(dst, `,"tokens_reasoning":`...)
	dst = appendCount(dst, c.reasoning)
	dst = append(dst, `,"tokens_total":`...)
	dst = appendCount(dst, c.total())
	dst = append(dst, `,"tool_calls":[`...)
	dst = append(dst, c.tools...)
	dst = append(dst, `],"reasoning_content":`...)
	dst = appendJSON(dst, c.thought)
	dst = append(dst, `,"cache_hit":`...)
	if c.cached < 0 {
		dst = append(dst, "null"...)
	} else {
		dst = appendBool(dst, c.cached > 0)
	}
	dst = append(dst, `,"cached_tokens":`...)
	dst = appendCount(dst, c.cached)
	dst = append(dst, `,"cache_creation_tokens":null,"error_category":`...)
	dst = appendOptional(dst, c.failure)
	dst = append(dst, `,"latency_total_ms":`...)
	dst = appendMillis(dst, c.took)
	dst = append(dst, `,"latency_ttft_ms":`...)
	dst = c.appendFirst(dst)
	return append(dst, '}')
}

// appendRef appends a reference to the call as an invocation or a turn makes it:
// by id and by server and response id, as far as they are known.
func (c *call) appendRef(dst []byte) []byte {
	dst = append(dst, `{"model_call_id":`...)
	dst = appendOptional(dst, c.id)
	dst = append(dst, `,"model_ref":`...)
	dst = appendModelRef(dst, c.server)
	dst = append(dst, `,"response_id":`...)
	dst = appendOptional(dst, c.responseID)
	return append(dst, '}')
}

// appendPairRef appends a reference that names the call by server and response
// id alone.
func (c *call) appendPairRef(dst []byte) []byte {
	by := *c
	by.id = ""
	return by.appendRef(dst)
}

// appendLostRef appends a reference to a call that nobody captured.
func appendLostRef(dst []byte, id string) []byte {
	dst = append(dst, `{"model_call_id":"`...)
	dst = append(dst, id...)
	return append(dst, `","model_ref":null,"response_id":null}`...)
}

// sums adds up counts, keeping "nobody knew" apart from zero.
type sums struct {
	prompt, completion, reasoning, cached, total int
	took                                         int64
	calls                                        int
}

func noSums() sums {
	return sums{prompt: unknown, completion: unknown, reasoning: unknown, cached: unknown, total: unknown}
}

func (s *sums) add(c *call) {
	plus := func(sum *int, n int) {
		if n >= 0 {
			*sum = max(*sum, 0) + n
		}
	}
	plus(&s.prompt, c.prompt)
	plus(&s.completion, c.completion)
	plus(&s.reasoning, c.reasoning)
	plus(&s.cached, c.cached)
	plus(&s.total, c.total())
	s.took += c.took
	s.calls++
}

// appendUsage appends a usage object of the responses dialect; unknown parts are
// left out.
func appendUsage(dst []byte, prompt, cached, completion, reasoning int) []byte {
	dst = append(dst, '{')
	if prompt >= 0 {
		dst = append(dst, `"input_tokens":`...)
		dst = appendInt(dst, prompt)
		dst = append(dst, `,"input_tokens_details":{"cached_tokens":`...)
		dst = appendInt(dst, max(cached, 0))
		dst = append(dst, `},`...)
	}
	dst = append(dst, `"output_tokens":`...)
	dst = appendInt(dst, completion)
	dst = append(dst, `,"output_tokens_details":{"reasoning_tokens":`...)
	dst = appendInt(dst, max(reasoning, 0))
	dst = append(dst, '}')
	if prompt >= 0 {
		dst = append(dst, `,"total_tokens":`...)
		dst = appendInt(dst, prompt+completion)
	}
	return append(dst, '}')
}

// appendCaptureSummary appends an ng_model_call_capture around finished calls.
func appendCaptureSummary(dst []byte, rolloutID string, s sums, calls, gaps []byte) []byte {
	dst = append(dst, `{"rollout_id":"`...)
	dst = append(dst, rolloutID...)
	dst = append(dst, `","metrics":{"tokens_in":`...)
	dst = appendCount(dst, s.prompt)
	dst = append(dst, `,"tokens_out":`...)
	dst = appendCount(dst, s.completion)
	dst = append(dst, `,"tokens_reasoning":`...)
	dst = appendCount(dst, s.reasoning)
	dst = append(dst, `,"tokens_total":`...)
	dst = appendCount(dst, s.total)
	dst = append(dst, `,"cached_tokens":`...)
	dst = appendCount(dst, s.cached)
	dst = append(dst, `,"latency_total_ms":`...)
	if s.calls == 0 {
		dst = append(dst, "null"...)
	} else {
		dst = appendMillis(dst, s.took)
	}
	dst = append(dst, `,"num_calls":`...)
	dst = appendInt(dst, s.calls)
	dst = append(dst, `},"calls":[`...)
	dst = append(dst, calls...)
	dst = append(dst, ']')
	if len(gaps) > 0 {
		dst = append(dst, `,"gaps":[`...)
		dst = append(dst, gaps...)
		dst = append(dst, ']')
	}
	return append(dst, '}')
}

// turn is one turn of an agent.
type turn struct {
	invocation, ids string // ids: the members task_id and rollout_id as JSON
	no, steps       int
	at              int64  // Unix milliseconds
	question        []byte // JSON, as the two that follow; empty: null
	answer          []byte
	reasoning       []byte
	resolved        string // true, false or empty for null
	refs            []byte // references, separated by commas
}

func (t *turn) append(dst []byte) []byte {
	dst = append(dst, `{"invocation_id":"`...)
	dst = append(dst, t.invocation...)
	dst = append(dst, `",`...)
	dst = append(dst, t.ids...)
	dst = append(dst, `,"turn_no":`...)
	dst = appendInt(dst, t.no)
	dst = append(dst, `,"timestamp":`...)
	dst = appendSeconds(dst, t.at)
	dst = append(dst, `,"question":`...)
	dst = appendJSON(dst, t.question)
	dst = append(dst, `,"answer":`...)
	dst = appendJSON(dst, t.answer)
	dst = append(dst, `,"reasoning_content":`...)
	dst = appendJSON(dst, t.reasoning)
	dst = append(dst, `,"resolved":`...)
	dst = appendJSON(dst, t.resolved)
	dst = append(dst, `,"step_count":`...)
	dst = appendInt(dst, t.steps)
	dst = append(dst, `,"model_calls":[`...)
	dst = append(dst, t.refs...)
	return append(dst, `]}`...)
}

// toolCall is one observed execution of a tool.
type toolCall struct {
	invocation, id, name string
	sandbox              string // empty: null
	started, took        int64  // Unix milliseconds, milliseconds; started 0: no timing
	status, failure      string
	output               []byte // JSON; empty: null
}

// append appends the tool call; withOutput tells the form of a trajectory from
// that of an observation, which has no output.
func (t *toolCall) append(dst []byte, withOutput bool) []byte {
	dst = append(dst, `{"kind":"tool_call","invocation_id":"`...)
	dst = append(dst, t.invocation...)
	dst = append(dst, `","tool_call_id":"`...)
	dst = append(dst, t.id...)
	dst = append(dst, `","sandbox_id":`...)
	dst = appendOptional(dst, t.sandbox)
	dst = append(dst, `,"tool_name":"`...)
	dst = append(dst, t.name...)
	dst = append(dst, '"')
	if t.started == 0 {
		dst = append(dst, `,"started_at":null,"completed_at":null,"duration_ms":null,"timing_source":null`...)
	} else {
		dst = append(dst, `,"started_at":`...)
		dst = appendSeconds(dst, t.started)
		dst = append(dst, `,"completed_at":`...)
		dst = appendSeconds(dst, t.started+t.took)
		dst = append(dst, `,"duration_ms":`...)
		dst = appendMillis(dst, t.took)
		dst = append(dst, `,"timing_source":"executor"`...)
	}
	dst = append(dst, `,"status":"`...)
	dst = append(dst, t.status...)
	dst = append(dst, `","error_type":`...)
	dst = appendOptional(dst, t.failure)
	if withOutput {
		dst = append(dst, `,"output":`...)
		dst = appendJSON(dst, t.output)
	}
	return append(dst, '}')
}

// invocation is one run of an agent inside a rollout.
type invocation struct {
	id, parent, spawnedBy string // empty: null
	status                string
	took                  int64
	failure               string
	refs, conversation    []byte
}

func (v *invocation) append(dst []byte) []byte {
	dst = append(dst, `{"kind":"agent_invocation","invocation_id":"`...)
	dst = append(dst, v.id...)
	dst = append(dst, `","parent_invocation_id":`...)
	dst = appendOptional(dst, v.parent)
	dst = append(dst, `,"spawned_by_tool_call_id":`...)
	dst = appendOptional(dst, v.spawnedBy)
	dst = append(dst, `,"status":"`...)
	dst = append(dst, v.status...)
	dst = append(dst, `","duration_ms":`...)
	dst = appendMillis(dst, v.took)
	dst = append(dst, `,"error_type":`...)
	dst = appendOptional(dst, v.failure)
	dst = append(dst, `,"model_calls":[`...)
	dst = append(dst, v.refs...)
	dst = append(dst, `],"conversation":[`...)
	dst = append(dst, v.conversation...)
	return append(dst, `]}`...)
}

// appendGap appends an observation gap with all its keys, as trajectories and
// bundles write it.
func appendGap(dst []byte, code, invocationID, detail string) []byte {
	dst = append(dst, `{"code":"`...)
	dst = append(dst, code...)
	dst = append(dst, `","invocation_id":`...)
	dst = appendOptional(dst, invocationID)
	dst = append(dst, `,"detail":`...)
	dst = appendOptional(dst, detail)
	return append(dst, '}')
}

// appendPerf appends an ng_perf: turns and tools as they are counted there, the
// sums of the owned calls, and the wall time of the rollout in milliseconds.
func appendPerf(dst []byte, turns, tools int, s sums, took int64) []byte {
	dst = append(dst, `{"num_turns":`...)
	dst = appendInt(dst, turns)
	dst = append(dst, `,"num_tool_calls":`...)
	dst = appendInt(dst, tools)
	dst = append(dst, `,"token_observability_coverage":`...)
	dst = appendRatio(dst, min(s.calls, turns), turns)
	optional := func(key string, n int) {
		if n >= 0 {
			dst = append(dst, key...)
			dst = appendInt(dst, n)
		}
	}
	optional(`,"prompt_tokens":`, s.prompt)
	optional(`,"cached_prompt_tokens":`, s.cached)
	optional(`,"completion_tokens":`, s.completion)
	optional(`,"reasoning_tokens":`, s.reasoning)
	dst = append(dst, `,"total_latency_ms":`...)
	dst = appendMillis(dst, took)
	return append(dst, '}')
}
