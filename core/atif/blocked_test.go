package atif

import (
	"errors"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/value"
)

// toolRow is a rollout in which the agent thinks, calls two tools at once, and answers.
const toolRow = `{"_ng_task_index":3,"_ng_rollout_index":0,"_ng_environment_server":"env","ng_trajectory":{"task_id":"3","rollout_id":"3-0",
"invocations":[{"invocation_id":"main","status":"completed","duration_ms":1500,"model_calls":[{"model_call_id":"m1"},{"model_ref":{"type":"responses_api_models","name":"n"},"response_id":"r2"},{"model_call_id":"m3"}],
 "conversation":[
  {"role":"system","content":"be good","type":"message","phase":null},
  {"role":"user","content":[{"type":"input_text","text":"go"}],"status":"completed","type":"message"},
  {"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"think"}]},
  {"type":"function_call","call_id":"c1","name":"f","arguments":"{\"x\": 1.50}","id":"fc_1","status":"completed"},
  {"type":"function_call","call_id":"c2","name":"g","arguments":"{}"},
  {"type":"function_call_output","call_id":"c2","output":[{"type":"input_text","text":"two"}]},
  {"type":"function_call_output","call_id":"c1","output":"one","id":"fo_1","status":"completed"},
  {"id":"msg_1","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"a","annotations":[]},{"type":"output_text","text":"b","annotations":[]}]}]}],
"turns":[
 {"invocation_id":"main","task_id":"3","rollout_id":"3-0","turn_no":1,"timestamp":1700000000,"resolved":true,"step_count":2,"model_calls":[{"model_call_id":"m1"}],
  "question":[{"role":"system","content":"be good","type":"message"},{"role":"user","content":[{"type":"input_text","text":"go"}],"status":"completed","type":"message"}],
  "answer":[{"type":"function_call","call_id":"c1","name":"f","arguments":"{\"x\": 1.50}","id":"fc_1","status":"completed"},{"type":"function_call","call_id":"c2","name":"g","arguments":"{}"}],
  "reasoning_content":[{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"think"}]}]},
 {"invocation_id":"main","task_id":"3","rollout_id":"3-0","turn_no":2,"timestamp":1700000001.5,"step_count":2,"model_calls":[{"model_ref":{"type":"responses_api_models","name":"n"},"response_id":"r2"}],
  "question":[{"role":"system","content":"be good","type":"message"},{"role":"user","content":[{"type":"input_text","text":"go"}],"status":"completed","type":"message"},
   {"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"think"}]},
   {"type":"function_call","call_id":"c1","name":"f","arguments":"{\"x\": 1.50}","id":"fc_1","status":"completed"},{"type":"function_call","call_id":"c2","name":"g","arguments":"{}"},
   {"type":"function_call_output","call_id":"c2","output":[{"type":"input_text","text":"two"}]},{"type":"function_call_output","call_id":"c1","output":"one","id":"fo_1","status":"completed"}],
  "answer":[{"id":"msg_1","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"a","annotations":[]},{"type":"output_text","text":"b","annotations":[]}]}]}],
"tool_calls":[
 {"tool_call_id":"c1","invocation_id":"main","status":"completed","tool_name":"f","output":"one","started_at":10,"completed_at":12,"duration_ms":2000,"timing_source":"executor","sandbox_id":"sb"},
 {"tool_call_id":"c2","invocation_id":"main","status":"completed"}],
"model_calls":[
 {"model_call_id":"m1","started_at":1,"request":{"n":null},"response_metadata":{"model":"tiny","dialect":"chat","status_code":200,"finish_reason":"tool_calls"},"token_stats":{"prompt_tokens":9,"completion_tokens":3,"reasoning_tokens":1,"cached_tokens":2,"total_tokens":12}},
 {"response_metadata":{"model":"tiny","model_ref":{"type":"responses_api_models","name":"n"},"response_id":"r2","finish_reason":" STOP "},"token_stats":{"prompt_tokens":20,"completion_tokens":4}},
 {"model_call_id":"m3","response_metadata":{"model":"big"},"token_stats":{}}]}}`

func lineOf(v value.Value) []byte { return v.Append(nil, value.Row) }

// TestTools looks at the document of a rollout with tools.
func TestTools(t *testing.T) {
	doc, from, err := exporter().Row(lineOf(parse(t, toolRow)))
	if err != nil {
		t.Fatal(err)
	}
	if from.Agent != "env" || from.FileName() != "3-0.json" {
		t.Errorf("%+v", from)
	}
	for _, p := range []Profile{Gym, Harbor} {
		if list := Problems(doc, p); len(list) > 0 {
			t.Errorf("%s: %v", p, list)
		}
	}
	im, err := Import(doc, parse(t, `{"tools":[],"temperature":0.5,"input":"no"}`))
	if err != nil {
		t.Fatal(err)
	}
	if out := im.Response.Get("output"); out.Len() != 6 || !im.Response.Get("parallel_tool_calls").Truthy() || im.Response.Get("input").Exists() || !im.Response.Get("tools").Exists() {
		t.Errorf("%s", im.Response)
	}
	steps := doc.Get("steps")
	for path, want := range map[string]string{
		"0.message":        `"be good"`,
		"1.message":        `[{"type":"text","text":"go"}]`,
		"2.message":        `""`,
		"2.timestamp":      `"2023-11-14T22:13:20Z"`,
		"3.timestamp":      `"2023-11-14T22:13:21.500000Z"`,
		"2.tool_calls":     `[{"tool_call_id":"c1","function_name":"f","arguments":{"x":1.5},"extra":{"nemo_gym":{"source_item_id":"fc_1"}}},{"tool_call_id":"c2","function_name":"g","arguments":{}}]`,
		"2.observation":    `{"results":[{"source_call_id":"c2","content":[{"type":"text","text":"two"}]},{"source_call_id":"c1","content":"one","extra":{"nemo_gym":{"sandbox_id":"sb","started_at":10.0,"completed_at":12.0,"duration_ms":2000.0,"timing_source":"executor","source_item_id":"fo_1"}}}]}`,
		"2.metrics":        `{"prompt_tokens":9,"completion_tokens":3,"cached_tokens":2,"extra":{"reasoning_tokens":1,"total_tokens":12}}`,
		"3.metrics":        `{"prompt_tokens":20,"completion_tokens":4}`,
		"3.message":        `[{"type":"text","text":"a"},{"type":"text","text":"b"}]`,
		"2.extra":          `{"nemo_gym":{"turn":{"turn_no":1,"step_count":2,"resolved":true},"model_call":{"model_call_id":"m1","started_at":1.0,"request":{"n":null},"response_metadata":{"model":"tiny","dialect":"chat","status_code":200,"finish_reason":"tool_calls"},"token_stats":{"prompt_tokens":9,"completion_tokens":3,"reasoning_tokens":1,"total_tokens":12,"cached_tokens":2}},"source_items":{"reasoning_ids":["rs_1"]}}}`,
		"3.extra":          `{"nemo_gym":{"turn":{"turn_no":2,"step_count":2},"model_call":{"response_metadata":{"response_id":"r2","model_ref":{"type":"responses_api_models","name":"n"},"model":"tiny","finish_reason":" STOP "},"token_stats":{"prompt_tokens":20,"completion_tokens":4}},"source_items":{"message_id":"msg_1"}}}`,
		"2.llm_call_count": "1",
	} {
		at := steps
		for _, key := range strings.Split(path, ".") {
			if at.IsObject() {
				at = at.Get(key)
			} else {
				at = at.At(int(key[0] - '0'))
			}
		}
		if got := string(at.Append(nil, value.Row)); got != want {
			t.Errorf("%s: %s\nwant %s", path, got, want)
		}
	}
	if got := string(doc.Get("final_metrics").Append(nil, value.Row)); got != `{"total_prompt_tokens":29,"total_completion_tokens":7,"total_steps":4}` {
		t.Error(got)
	}
	if extra := doc.Get("extra").Get("nemo_gym"); extra.Get("surplus_model_calls").Len() != 1 || !extra.Get("source").Get("invocation_duration_ms").Exists() {
		t.Errorf("%s", extra)
	}
	if !doc.Get("agent").Get("model_name").Is("tiny") {
		t.Errorf("%s", doc.Get("agent"))
	}
}

// TestBlocked changes rollouts that can be exported; want is a part of the rule that is broken, "" for none.
func TestBlocked(t *testing.T) {
	message, tools := parse(t, exampleRow), parse(t, toolRow)
	const (
		tr   = "ng_trajectory."
		inv  = tr + "invocations.0."
		item = inv + "conversation."
		t1   = tr + "turns.0."
		t2   = tr + "turns.1."
		m1   = tr + "model_calls.0."
		meta = m1 + "response_metadata."
		tool = tr + "tool_calls.0."
	)
	for _, tt := range []struct {
		name    string
		row     value.Value
		changes []string
		want    string
	}{
		// The table of edge cases.
		{"stop with tools", tools, []string{meta + "finish_reason", `"stop"`}, `ended with "stop"`},
		{"a time far away", message, []string{t1 + "timestamp", "1e12"}, "no calendar"},
		{"a phase that is null", message, []string{item + "0.phase", "null"}, ""},

		// Indices and agent.
		{"a bool as an index", message, []string{"_ng_task_index", "true"}, "_ng_task_index"},
		{"a float as an index", message, []string{"_ng_rollout_index", "1.0"}, "_ng_rollout_index"},
		{"a negative index", message, []string{"_ng_rollout_index", "-1"}, "_ng_rollout_index"},
		{"no index", message, []string{"_ng_rollout_index", "-"}, "_ng_rollout_index"},
		{"no agent", message, []string{"agent_ref", "-"}, "names no agent"},
		{"a blank agent", message, []string{"agent_ref.name", `" "`}, "names no agent"},
		{"an agent without a name", message, []string{"agent_ref.name", "null", "_ng_environment_server", `"e"`}, ""},
		{"an agent of another type", message, []string{"agent_ref.type", `"x"`}, "another type"},
		{"an agent of the type", message, []string{"agent_ref.type", `"responses_api_agents"`}, ""},
		{"an agent with another key", message, []string{"agent_ref.more", "null"}, "has the key more"},
		{"an agent that is no object", message, []string{"agent_ref", `"x"`, "_ng_environment_server", `"e"`}, "no object"},

		// What the trajectory as it was written may hold.
		{"no trajectory", message, []string{"ng_trajectory", "-"}, "no trajectory"},
		{"an item without a type", message, []string{item + "0.type", "-"}, "no type"},
		{"an item of another type", message, []string{item + "0.type", `"web_search_call"`}, "no type"},
		{"an item with token ids", message, []string{item + "1.prompt_token_ids", "[1]"}, "prompt_token_ids"},
		{"a user's id", message, []string{item + "0.id", `"x"`}, "has the key id"},
		{"a phase", message, []string{item + "1.phase", `"final"`}, "has a phase"},
		{"a namespace", tools, []string{item + "3.namespace", `"n"`}, "has a namespace"},
		{"a namespace that is null", tools, []string{item + "3.namespace", "null"}, ""},
		{"the status of a text", message, []string{item + "0.status", `"completed"`}, "without a list"},
		{"a part without a type", message, []string{item + "1.content.0.type", "-"}, "without a type"},
		{"a part of another type", tools, []string{item + "1.content.0", `{"type":"input_image","detail":"auto","image_url":"u"}`}, "input_image"},
		{"a part with another key", message, []string{item + "1.content.0.more", "1"}, "key more"},
		{"a key in a question", message, []string{t1 + "question.0.more", "1"}, "question"},
		{"a reference with another key", message, []string{inv + "model_calls.0.model_ref", `{"type":"responses_api_models","name":"n","url":"u"}`}, "model server"},

		// The trajectory itself.
		{"a number as text", message, []string{t1 + "turn_no", `"1"`}, "not valid"},
		{"a float for an int", message, []string{t1 + "turn_no", "1.0"}, "not valid"},
		{"an int for a float", message, []string{t1 + "timestamp", "1700000000"}, ""},
		{"a gap", message, []string{tr + "gaps", `[{"code":"trace_missing"}]`}, "has gaps, the first is trace_missing"},
		{"a blank id of the task", message, []string{tr + "task_id", `" "`, t1 + "task_id", `" "`}, "blank"},
		{"no invocation", message, []string{tr + "invocations", "[]"}, "0 invocations"},
		{"an invocation with a blank id", message, []string{inv + "invocation_id", `""`, t1 + "invocation_id", `""`}, "blank id"},
		{"an invocation with a parent", message, []string{inv + "parent_invocation_id", `"x"`}, "parent"},
		{"an invocation that failed", message, []string{inv + "status", `"failed"`}, "not completed"},
		{"an invocation with an error", message, []string{inv + "error_type", `"x"`}, "error"},

		// The conversation.
		{"nothing of the agent", message, []string{inv + "conversation", `[{"role":"user","content":"2+2?","type":"message"}]`}, "did nothing"},
		{"a developer", message, []string{item + "0.role", `"developer"`, t1 + "question.0.role", `"developer"`}, "role developer"},
		{"an assistant's text", message, []string{item + "0.role", `"assistant"`, t1 + "question.0.role", `"assistant"`}, "role assistant"},
		{"a user behind the agent", message, []string{item + "2", `{"role":"user","content":"more","type":"message"}`}, "behind the agent"},
		{"an empty list of parts", message, []string{item + "0.content", "[]", t1 + "question.0.content", "[]"}, "plain text"},
		{"an input that is not completed", tools, []string{item + "1.status", `"in_progress"`}, "not completed"},
		{"a message that is not completed", message, []string{item + "1.status", `"incomplete"`}, "not completed"},
		{"a message without parts", message, []string{item + "1.content", "[]"}, "plain text"},
		{"annotations", message, []string{item + "1.content.0.annotations", `[{"type":"file_path","file_id":"f","index":1}]`}, "plain text"},
		{"log probabilities", message, []string{item + "1.content.0.logprobs", `[{"token":"4","bytes":[52],"logprob":-1,"top_logprobs":[]}]`}, "plain text"},
		{"no log probabilities", message, []string{item + "1.content.0.logprobs", "[]", t1 + "answer.0.content.0.logprobs", "[]"}, ""},
		{"a text part of a user", message, []string{item + "0", `{"role":"user","content":[{"type":"input_text","text":"x"}],"type":"message"}`, t1 + "question.0", `{"role":"user","content":[{"type":"input_text","text":"x"}],"type":"message"}`}, ""},
		{"reasoning at the end", message, []string{item + "2", `{"id":"r","type":"reasoning","summary":[{"type":"summary_text","text":"x"}]}`}, "ends with reasoning"},
		{"reasoning without text", tools, []string{item + "2.summary", "[]"}, "no text"},
		{"reasoning with two texts", tools, []string{item + "2.summary.1", `{"type":"summary_text","text":"more"}`}, "several texts"},
		{"reasoning with both", tools, []string{item + "2.content", `[{"type":"reasoning_text","text":"more"}]`}, "both"},
		{"reasoning of content", tools, []string{
			item + "2.summary", "[]", item + "2.content", `[{"type":"reasoning_text","text":"x"}]`, t1 + "reasoning_content.0.summary", "[]", t1 + "reasoning_content.0.content", `[{"type":"reasoning_text","text":"x"}]`,
			t2 + "question.2.summary", "[]", t2 + "question.2.content", `[{"type":"reasoning_text","text":"x"}]`}, ""},
		{"encrypted reasoning", tools, []string{item + "2.encrypted_content", `"x"`}, "encrypted"},

		// Tools.
		{"an output alone", tools, []string{item + "2", `{"type":"function_call_output","call_id":"c0","output":""}`}, "does not belong"},
		{"an output of nobody", tools, []string{item + "5.call_id", `"c9"`}, "not waiting"},
		{"an output twice", tools, []string{item + "6.call_id", `"c2"`}, "not waiting"},
		{"no output", tools, []string{inv + "conversation.5", `{"id":"msg_1","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"a","annotations":[]}]}`}, "has no output"},
		{"one id of two calls", tools, []string{item + "4.call_id", `"c1"`}, "two tool calls"},
		{"a blank call id", tools, []string{item + "3.call_id", `" "`}, "blank"},
		{"a blank name", tools, []string{item + "3.name", `""`}, "blank"},
		{"a call that is not completed", tools, []string{item + "3.status", `"incomplete"`}, "not completed"},
		{"an output that is not completed", tools, []string{item + "6.status", `"incomplete"`}, "not completed"},
		{"arguments that are no object", tools, []string{item + "3.arguments", `"[]"`}, "no JSON object"},
		{"arguments that are no JSON", tools, []string{item + "3.arguments", `"{"`}, "no JSON object"},
		{"arguments with a key twice", tools, []string{item + "3.arguments", `"{\"a\":1,\"a\":1}"`}, "no JSON object"},
		{"arguments with lost digits", tools, []string{item + "3.arguments", `"{\"a\":1.0000000000000001}"`}, "no JSON object"},
		{"no record", tools, []string{tr + "tool_calls", `[{"tool_call_id":"c1","invocation_id":"main","status":"completed"}]`}, "no record"},
		{"a record too many", tools, []string{tr + "tool_calls.2", `{"tool_call_id":"c9","invocation_id":"main","status":"completed"}`}, "not in the conversation"},
		{"one id of two records", tools, []string{tr + "tool_calls.2", `{"tool_call_id":"c1","invocation_id":"main","status":"completed"}`}, "two tool calls"},
		{"a record of another invocation", tools, []string{tool + "invocation_id", `"x"`}, "another invocation"},
		{"a record that failed", tools, []string{tool + "status", `"failed"`}, "not completed"},
		{"a record with an error", tools, []string{tool + "error_type", `"x"`}, "not completed"},
		{"a record of another name", tools, []string{tool + "tool_name", `"g"`}, "two names"},
		{"a record of another output", tools, []string{tool + "output", `"two"`}, "two outputs"},
		{"an output without parts", tools, []string{item + "5.output", "[]"}, "plain text"},

		// Turns.
		{"a turn too few", tools, []string{tr + "turns", "[]"}, "0 turns"},
		{"a turn of another invocation", message, []string{t1 + "invocation_id", `"x"`}, "another invocation"},
		{"a turn of another number", message, []string{t1 + "turn_no", "2"}, "another number"},
		{"another question", message, []string{t1 + "question.0.content", `"3+3?"`}, "another question"},
		{"another answer", message, []string{t1 + "answer.0.id", `"x"`}, "another answer"},
		{"another reasoning", tools, []string{t1 + "reasoning_content.0.id", `"x"`}, "another reasoning_content"},
		{"reasoning missing", tools, []string{t1 + "reasoning_content", "null"}, "another reasoning_content"},
		{"reasoning of nothing", message, []string{t1 + "reasoning_content", "[]"}, "reasoning"},
		{"steps before the turn", tools, []string{t1 + "step_count", "0"}, "counts 0 steps"},
		{"no call", message, []string{t1 + "model_calls", "[]"}, "0 model calls"},
		{"a call that is not there", message, []string{t1 + "model_calls.0.model_call_id", `"x"`}, "no model call"},
		{"a call twice", tools, []string{t2 + "model_calls", `[{"model_call_id":"m1"}]`}, "another turn"},
		{"a contradiction of ids", message, []string{t1 + "model_calls.0.response_id", `"x"`}, "contradicts"},
		{"a contradiction of servers", tools, []string{t1 + "model_calls.0.model_ref", `{"type":"responses_api_models","name":"n"}`}, "contradicts"},
		{"a blank reference", message, []string{t1 + "model_calls.0.response_id", `" "`}, "blank id"},
		{"a blank id of the call", message, []string{meta + "response_id", `" "`}, "blank id"},
		{"two calls of one id", tools, []string{tr + "model_calls.2.model_call_id", `"m1"`}, "not valid"},
		{"two calls of one response", tools, []string{tr + "model_calls.2", `{"response_metadata":{"model_ref":{"type":"responses_api_models","name":"n"},"response_id":"r2"},"token_stats":{}}`}, "several model calls"},
		{"the invocation names a call twice", message, []string{inv + "model_calls.1", `{"model_call_id":"m1"}`}, "twice"},
		{"the invocation names no call", message, []string{inv + "model_calls", "[]"}, "does not name"},
		{"the invocation names a call that is not there", message, []string{inv + "model_calls.1", `{"model_call_id":"x"}`}, "no model call"},

		// Calls.
		{"a response that is incomplete", message, []string{meta + "response_status", `"incomplete"`}, "incomplete"},
		{"a response that is completed", message, []string{meta + "response_status", `"completed"`}, ""},
		{"a call with an error", message, []string{meta + "error_category", `"timeout"`}, "error"},
		{"a refusing status", message, []string{meta + "status_code", "300"}, "status 300"},
		{"no status", message, []string{meta + "status_code", "null"}, ""},
		{"a blank model", message, []string{meta + "model", `" "`}, "blank name"},
		{"a blank finish reason", message, []string{meta + "finish_reason", `" "`}, "ended with"},
		{"a length", message, []string{meta + "finish_reason", `" Length "`}, "Length"},
		{"stop of a response", message, []string{meta + "finish_reason", `"stop"`}, ""},
		{"tools without tools", message, []string{meta + "finish_reason", `"tool_use"`}, "tool_use"},
		{"any reason of a response", message, []string{meta + "finish_reason", `"eos"`}, ""},
		{"any reason of a chat", message, []string{meta + "dialect", `"chat"`, meta + "finish_reason", `"eos"`}, "eos"},
		{"a reason of messages", message, []string{meta + "dialect", `"messages"`, meta + "finish_reason", `"end_turn"`}, ""},
		{"another reason of messages", message, []string{meta + "dialect", `"messages"`, meta + "finish_reason", `"stop"`}, "stop"},
		{"tools of messages", tools, []string{meta + "dialect", `"messages"`, meta + "finish_reason", `"tool_use"`}, ""},
		{"more prompt than all", message, []string{m1 + "token_stats.total_tokens", "8"}, "contradict"},
		{"more than all", message, []string{m1 + "token_stats.total_tokens", "9"}, "contradict"},
		{"all of it", message, []string{m1 + "token_stats.total_tokens", "10"}, ""},
		{"more cached than prompt", message, []string{m1 + "token_stats.cached_tokens", "10"}, "contradict"},
		{"more reasoning than completion", message, []string{m1 + "token_stats.reasoning_tokens", "2"}, "contradict"},
	} {
		x := exporter()
		_, _, err := x.Row(lineOf(set(t, tt.row, tt.changes...)))
		var e *ExportError
		switch {
		case err == nil && tt.want == "":
		case err == nil:
			t.Errorf("%s: exported", tt.name)
		case tt.want == "" || !errors.As(err, &e) || !strings.Contains(err.Error(), tt.want):
			t.Errorf("%s: %q, want %q", tt.name, err, tt.want)
		}
	}
	for _, text := range []string{"", "{", "[1]", `{"_ng_task_index":0,"_ng_task_index":0}`, `{"a":1e999}`, `{"a":"\ud800"}`} {
		if _, _, err := exporter().Row([]byte(text)); err == nil {
			t.Errorf("%s: exported", text)
		}
	}
}

// TestModels looks at what depends on what all steps know.
func TestModels(t *testing.T) {
	row := parse(t, toolRow)
	doc, _, err := exporter().Row(lineOf(set(t, row, "ng_trajectory.model_calls.0.response_metadata.model", "null")))
	if err != nil {
		t.Fatal(err)
	}
	if doc.Get("agent").Get("model_name").Exists() || doc.Get("steps").At(2).Get("model_name").Exists() || !doc.Get("steps").At(3).Get("model_name").Is("tiny") {
		t.Errorf("%s", doc.Get("agent"))
	}
	doc, _, err = exporter().Row(lineOf(set(t, row, "ng_trajectory.model_calls.1.token_stats", "{}")))
	if err != nil {
		t.Fatal(err)
	}
	if final := doc.Get("final_metrics"); final.Len() != 1 || !final.Get("total_steps").Exists() || doc.Get("steps").At(3).Get("metrics").Exists() {
		t.Errorf("%s", final)
	}
	// Reasoning may be an empty text.
	changes := []string{"ng_trajectory.invocations.0.conversation.2.summary.0.text", `""`, "ng_trajectory.turns.0.reasoning_content.0.summary.0.text", `""`, "ng_trajectory.turns.1.question.2.summary.0.text", `""`}
	doc, _, err = exporter().Row(lineOf(set(t, row, changes...)))
	if err != nil {
		t.Fatal(err)
	}
	if !doc.Get("steps").At(2).Get("reasoning_content").Is("") {
		t.Errorf("%s", doc.Get("steps").At(2))
	}
}
