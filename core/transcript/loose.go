package transcript

import (
	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/modelcall"
	"github.com/rollscope/rollscope/core/trajectory"
	"github.com/rollscope/rollscope/core/trajectory/lax"
)

// loose takes what it can of a trajectory that is not valid, for eyes alone: a record with one bad field still has
// turns that somebody wants to see. It is nil where there is nothing to show.
func loose(v jsonscan.Value) *trajectory.Record {
	r := &trajectory.Record{TaskID: text(v.Get("task_id")), RolloutID: text(v.Get("rollout_id"))}
	each(v.Get("invocations"), func(v jsonscan.Value) {
		r.Invocations = append(r.Invocations, trajectory.Invocation{
			ID: text(v.Get("invocation_id")), Parent: text(v.Get("parent_invocation_id")), SpawnedBy: text(v.Get("spawned_by_tool_call_id")),
			Status: text(v.Get("status")), DurationMS: float(v.Get("duration_ms")), ErrorType: text(v.Get("error_type")),
			Refs: refs(v.Get("model_calls")), Conversation: v.Get("conversation"), At: v,
		})
	})
	each(v.Get("turns"), func(v jsonscan.Value) {
		stamp := float(v.Get("timestamp"))
		r.Turns = append(r.Turns, trajectory.Turn{
			InvocationID: text(v.Get("invocation_id")), No: whole(v.Get("turn_no")).Int, Timestamp: stamp.Value,
			Question: v.Get("question"), Answer: v.Get("answer"), Reasoning: v.Get("reasoning_content"),
			StepCount: whole(v.Get("step_count")).Int, Refs: refs(v.Get("model_calls")), At: v,
		})
	})
	each(v.Get("model_calls"), func(v jsonscan.Value) {
		meta, stats := v.Get("response_metadata"), v.Get("token_stats")
		r.Calls = append(r.Calls, trajectory.Call{
			ID: text(v.Get("model_call_id")), StartedAt: float(v.Get("started_at")), CompletedAt: float(v.Get("completed_at")),
			DurationMS: float(v.Get("duration_ms")), Request: v.Get("request"), Response: v.Get("response"),
			ResponseID: text(meta.Get("response_id")), ModelRef: server(meta.Get("model_ref")), Model: text(meta.Get("model")), Dialect: text(meta.Get("dialect")),
			FinishReason: text(meta.Get("finish_reason")), StatusCode: whole(meta.Get("status_code")), ErrorCategory: text(meta.Get("error_category")),
			TTFTMS: float(meta.Get("latency_ttft_ms")), PromptTokens: whole(stats.Get("prompt_tokens")),
			CompletionTokens: whole(stats.Get("completion_tokens")), ReasoningTokens: whole(stats.Get("reasoning_tokens")),
			CachedTokens: whole(stats.Get("cached_tokens")), At: v,
		})
	})
	each(v.Get("tool_calls"), func(v jsonscan.Value) {
		r.Tools = append(r.Tools, trajectory.ToolCall{
			InvocationID: text(v.Get("invocation_id")), ID: text(v.Get("tool_call_id")), SandboxID: text(v.Get("sandbox_id")), Name: text(v.Get("tool_name")),
			ErrorType: text(v.Get("error_type")), StartedAt: float(v.Get("started_at")), CompletedAt: float(v.Get("completed_at")),
			DurationMS: float(v.Get("duration_ms")), Status: text(v.Get("status")), Output: v.Get("output"), At: v,
		})
	})
	if len(r.Invocations)+len(r.Turns)+len(r.Calls)+len(r.Tools) == 0 {
		return nil
	}
	return r
}

// attached takes the calls that a row without a trajectory carries as its capture.
func (t *Rollout) attached(v jsonscan.Value) {
	each(v, func(v jsonscan.Value) {
		request, response := v.Get("request"), v.Get("response")
		if request.IsNull() {
			request = v.Get("request_raw")
		}
		if response.IsNull() {
			response = v.Get("response_raw")
		}
		t.Calls = append(t.Calls, Call{Invocation: -1, At: &trajectory.Call{
			ID: text(v.Get("model_call_id")), StartedAt: float(v.Get("started_at")), CompletedAt: float(v.Get("completed_at")),
			DurationMS: float(v.Get("latency_total_ms")), TTFTMS: float(v.Get("latency_ttft_ms")), Request: request, Response: response,
			ResponseID: text(v.Get("response_id")), Model: text(v.Get("model")), Dialect: text(v.Get("dialect")),
			FinishReason: text(v.Get("finish_reason")), StatusCode: whole(v.Get("status_code")), ErrorCategory: text(v.Get("error_category")),
			PromptTokens: whole(v.Get("tokens_in")), CompletionTokens: whole(v.Get("tokens_out")), ReasoningTokens: whole(v.Get("tokens_reasoning")),
			CachedTokens: whole(v.Get("cached_tokens")), At: v,
		}})
	})
}

// each walks the objects of a list.
func each(v jsonscan.Value, f func(jsonscan.Value)) {
	e := v.Elements()
	for e.Next() {
		if e.Value.IsObject() {
			f(e.Value)
		}
	}
}

func refs(v jsonscan.Value) []modelcall.Ref {
	var list []modelcall.Ref
	each(v, func(v jsonscan.Value) {
		ref := modelcall.Ref{ModelCallID: text(v.Get("model_call_id")), ResponseID: text(v.Get("response_id"))}
		ref.Model = server(v.Get("model_ref"))
		list = append(list, ref)
	})
	return list
}

func server(v jsonscan.Value) modelcall.ModelRef {
	if !v.IsObject() {
		return modelcall.ModelRef{}
	}
	return modelcall.ModelRef{Type: text(v.Get("type")), Name: text(v.Get("name")), Set: true}
}

func text(v jsonscan.Value) lax.Text {
	if !v.IsString() {
		return lax.Text{}
	}
	return lax.TextOf(v.Text())
}

func float(v jsonscan.Value) (r lax.Real) {
	if !v.IsNull() {
		r.Value, r.Set = lax.Float(v)
	}
	return r
}

func whole(v jsonscan.Value) lax.Count {
	if v.IsNull() {
		return lax.Count{}
	}
	n, ok := lax.Int(v)
	if !ok {
		return lax.Count{Int: integer.Of(0)}
	}
	return lax.Count{Int: n, Set: true}
}
