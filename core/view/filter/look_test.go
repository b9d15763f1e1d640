package filter

import (
	"testing"

	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/rollout"
)

const (
	withTrajectory = `{"responses_create_params":{"input":[{"role":"user","content":"fix it"}]},"response":{"output":[]},"ng_trajectory":{"task_id":"t","rollout_id":"r",
		"invocations":[{"invocation_id":"root"}],
		"turns":[
			{"invocation_id":"root","task_id":"t","rollout_id":"r","turn_no":"3","timestamp":5.5,"step_count":1,"resolved":false,"question":[{"role":"user","content":"fix it"}],
				"answer":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I look"},{"type":"output_text","text":"again"}]},{"type":"function_call","call_id":"c1","name":"bash","arguments":"{\"cmd\":\"ls\"}"}],
				"reasoning_content":"hm"},
			{"invocation_id":"root","task_id":"t","rollout_id":"r","turn_no":4,"timestamp":6,"step_count":2,
				"question":[{"role":"user","content":"fix it"},{"type":"function_call_output","call_id":"c1","output":"a.go"}],"answer":[{"role":"assistant","content":null,"tool_calls":[{"id":"c2","type":"function","function":{"name":"edit","arguments":"{}"}}]}]}],
		"model_calls":[{"model_call_id":"m","duration_ms":"1500","response_metadata":{"status_code":"500","latency_ttft_ms":12.5},"token_stats":{"prompt_tokens":7}},{"response_metadata":{"status_code":true}}],
		"tool_calls":[{"invocation_id":"root","tool_call_id":"c1","tool_name":"bash","status":"completed","duration_ms":20},{"invocation_id":"root","tool_call_id":"c9","tool_name":"web","status":"failed","error_type":"Boom","output":"no net"}]}}`
	withoutTrajectory = `{"response":{"output":[{"type":"reasoning","summary":[{"type":"summary_text","text":"think"}]},{"type":"function_call","call_id":"a","name":"f","arguments":{"x":1}},{"type":"function_call_output","call_id":"a","output":"yes"},{"type":"message","role":"assistant","content":"done"}]}}`
	nothing           = `{"reward":1}`
	invalid           = `{"response":{"output":[]},"ng_trajectory":{"turns":5,"model_calls":[{}]}}`
)

func look(t *testing.T, line string) *Look {
	t.Helper()
	var reader rollout.Reader
	row := reader.Read(&jsonl.Line{Bytes: []byte(line), Length: int64(len(line)), Terminated: true})
	if row.Problem != nil {
		t.Fatal(row.Problem)
	}
	l := new(Look)
	l.At(row)
	return l
}

// TestLook asks about the named lists.
func TestLook(t *testing.T) {
	for line, tests := range map[string]map[string]bool{
		withTrajectory: {
			"count(turns) = 2": true,
			"any(turns, no=3 timestamp=5.5 steps=1 resolved=false invocation:root tools=1 messages=1)": true,
			"any(turns, text:again text ~ look reasoning:hm)":                                          true,
			"any(turns, calls > 0)":              false,
			"any(turns, has(resolved) no=4)":     false,
			"any(turns, count(item.answer) = 2)": true,
			"count(tool_calls) = 3":              true,
			"any(tool_calls, name:bash id:c1 turn=1 arguments ~ ls output:a.go answered status:completed duration_ms=20)": true,
			"any(tool_calls, name:edit turn=2 arguments:\"{}\" not answered not has(status))":                             true,
			"any(tool_calls, name:web error:Boom not has(turn) output ~ net)":                                             true,
			"any(tool_calls, item.function.name : edit)":                                                                  true,
			"all(tool_calls, has(name))":                                                  true,
			"count(messages) = 2":                                                         true,
			"any(messages, role:user text ~ fix turn=1)":                                  true,
			"any(messages, role:assistant turn=1)":                                        true,
			"any(calls, status >= 500 duration_ms = 1500 ttft_ms = 12.5 prompt = 7 id:m)": true,
			"any(calls, status = 1)":                                                      false,
			"count(calls, has(status)) = 2":                                               true,
		},
		withoutTrajectory: {
			"count(turns) = 2 any(turns, no=2 text:done) any(turns, reasoning:think tools=1)": true,
			"any(turns, has(item) or has(timestamp) or has(calls))":                           false,
			`any(tool_calls, name:f arguments:"{\"x\":1}" output:yes)`:                        true,
			"any(calls, status=1) or not any(calls, status=1)":                                true,
			"has(row.ng_trajectory) or count(calls) >= 0":                                     false,
			"all(calls, status<500)":                                                          false,
		},
		nothing: {
			"count(turns) >= 0 or count(tool_calls) >= 0 or count(messages) >= 0 or count(calls) >= 0": false,
			"all(turns, tools=0)":     false,
			"not all(turns, tools=0)": true,
		},
		invalid: {
			"count(turns) = 0 count(tool_calls) = 0 all(turns, tools=9)": true,
			"count(calls) = 1": true,
		},
	} {
		l := look(t, line)
		for text, want := range tests {
			f, err := Parse(text, nil)
			if err != nil {
				t.Error(err)
			} else if f.Match(l) != want {
				t.Errorf("%s on %.60s: %t", text, line, !want)
			}
		}
	}
	var none Look
	if f, _ := Parse("count(turns) = 0 or has(row.a)", nil); f.Match(&none) {
		t.Error("a look at nothing sees something")
	}
}
