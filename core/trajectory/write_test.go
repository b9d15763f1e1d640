package trajectory

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/value"
)

// TestItemForms holds the written form of conversation items.
func TestItemForms(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{`{"role":"user","content":"x","foo":1}`, `{"content":"x","role":"user","type":"message","phase":null}`},
		{`{"phase":"commentary","type":"message","role":"assistant","content":[{"type":"input_text","text":"a","x":1},{"type":"input_image","detail":"low"}]}`,
			`{"content":[{"text":"a","type":"input_text"},{"detail":"low","type":"input_image"}],"role":"assistant","type":"message","phase":"commentary"}`},
		{`{"role":"user","content":[{"type":"input_video","video":{"url":"u","z":1}},{"type":"input_file","file_id":null}],"status":"in_progress"}`,
			`{"content":[{"type":"input_video","video":{"url":"u","z":1}},{"type":"input_file","file_id":null}],"role":"user","status":"in_progress","type":"message"}`},
		{`{"type":"message","id":"i","content":[{"type":"output_text","text":"a","annotations":[{"type":"file_path","file_id":"f","index":"1","x":2}]},{"refusal":"no"}]}`,
			`{"id":"i","content":[{"annotations":[{"file_id":"f","index":1,"type":"file_path"}],"text":"a","type":"output_text","logprobs":null},{"refusal":"no","type":"refusal"}],"role":"assistant","status":"completed","type":"message","phase":null}`},
		{`{"type":"message","id":"i","content":[{"text":"a","annotations":[]}],"role":"assistant"}`, ``},
		{`{"type":"message","id":"i","role":"assistant","content":[{"type":"output_text","text":"a","annotations":[],"logprobs":[{"token":"a","logprob":1,"bytes":["97",1.0],"top_logprobs":[{"token":"b","logprob":"-1","bytes":[],"x":1}]},{"token":"a","logprob":true,"bytes":"xy","top_logprobs":[5]}]}]}`,
			`{"id":"i","content":[{"annotations":[],"text":"a","type":"output_text","logprobs":[{"token":"a","bytes":[97,1],"logprob":1.0,"top_logprobs":[{"token":"b","bytes":[],"logprob":-1.0}]},{"token":"a","bytes":"xy","logprob":1.0,"top_logprobs":[5]}]}],"role":"assistant","status":"completed","type":"message","phase":null}`},
		{`{"id":"r","summary":[{"type":"summary_text","text":"t","more":1}],"status":"completed","content":[{"type":"reasoning_text","text":"x"}]}`,
			`{"id":"r","summary":[{"text":"t","type":"summary_text","more":1}],"type":"reasoning","encrypted_content":null,"content":[{"text":"x","type":"reasoning_text"}]}`},
		{`{"arguments":"{}","name":"n","call_id":"c","prompt_token_ids":[1,"2"],"generation_token_ids":[],"generation_log_probs":[1,-0.5],"z":0}`,
			`{"prompt_token_ids":[1,2],"generation_token_ids":[],"generation_log_probs":[1.0,-0.5],"routed_experts":null,"arguments":"{}","call_id":"c","name":"n","type":"function_call","id":null,"status":null,"namespace":null}`},
		{`{"role":"user","content":"x","prompt_token_ids":[],"generation_token_ids":[],"generation_log_probs":[],"routed_experts":[[[1.0]]]}`,
			`{"prompt_token_ids":[],"generation_token_ids":[],"generation_log_probs":[],"routed_experts":[[[1]]],"content":"x","role":"user","type":"message","phase":null}`},
		{`{"call_id":"c","output":[{"type":"input_text","text":"a","y":1}],"prompt_token_ids":[],"generation_token_ids":[],"generation_log_probs":[]}`,
			`{"call_id":"c","output":[{"text":"a","type":"input_text"}],"type":"function_call_output","id":null,"status":null}`},
		{`{"foo":1,"tools":[{"a": 1.50}],"bar":"\u00e9"}`, `{"tools":[{"a":1.5}],"type":"mcp_list_tools","id":null,"server_label":null,"error":null,"foo":1,"bar":"é"}`},
		{`{}`, `{"tools":[],"type":"mcp_list_tools","id":null,"server_label":null,"error":null}`},
		{`{"a":1,"b":2,"a":3}`, `{"tools":[],"type":"mcp_list_tools","id":null,"server_label":null,"error":null,"a":3,"b":2}`},
		{`{"type":"file_search_call","id":"i","queries":["q"],"status":"failed","results":[{"attributes":{"a":1,"b":true,"c":"x","a":2},"k":0}],"prompt_token_ids":[1],"generation_token_ids":[],"generation_log_probs":[]}`,
			`{"id":"i","queries":["q"],"status":"failed","type":"file_search_call","results":[{"attributes":{"a":2.0,"b":true,"c":"x"},"file_id":null,"filename":null,"score":null,"text":null,"k":0}],"prompt_token_ids":[1],"generation_token_ids":[],"generation_log_probs":[]}`},
		{`{"type":"custom_tool_call_output","call_id":"c","output":[{"type":"input_image","detail":"low","q":1}]}`,
			`{"call_id":"c","output":[{"detail":"low","type":"input_image","file_id":null,"image_url":null,"q":1}],"type":"custom_tool_call_output","id":null}`},
		{`{"type":"local_shell_call","id":"i","call_id":"c","status":"completed","action":{"type":"exec","command":["a"],"env":{"K":"v"},"timeout_ms":"5"}}`,
			`{"id":"i","call_id":"c","action":{"command":["a"],"env":{"K":"v"},"type":"exec","timeout_ms":5,"user":null,"working_directory":null},"status":"completed","type":"local_shell_call"}`},
		{`{"type":"compaction_trigger","x":[1]}`, `{"type":"compaction_trigger","x":[1]}`},
	} {
		text := fmt.Sprintf(`{"task_id":"t","rollout_id":"r","invocations":[{"invocation_id":"i","conversation":[%s]}]}`, tt.in)
		var b Builder
		got, err := b.AppendRecord(nil, scan(t, text))
		if err != nil {
			if tt.want != "" {
				t.Errorf("%s: %v", tt.in, err)
			}
			continue
		}
		var s jsonscan.Scanner
		v, err := s.Scan(got)
		if err != nil {
			t.Fatalf("%s: %v", got, err)
		}
		e := v.Get("invocations").Elements()
		e.Next()
		item := e.Value.Get("conversation").Raw()
		if form := string(item[1 : len(item)-1]); tt.want != "" && form != tt.want {
			t.Errorf("%s:\n%s, want\n%s", tt.in, form, tt.want)
		}
	}
}

// TestRecordForm holds the written form of everything around the items.
func TestRecordForm(t *testing.T) {
	const in = `{"gaps":[{"code":"c"}],"rollout_id":"r","task_id":"\u0074","invocations":[{"invocation_id":"i","duration_ms":1,"model_calls":[{"response_id":"p","model_ref":{"name":"n","type":"responses_api_models","x":1}}]}],
		"turns":[{"step_count":"2","timestamp":"inf","turn_no":1.0,"rollout_id":"r","task_id":"t","invocation_id":"i","resolved":"yes","answer":{"b": 1,"a":[ ]}}],
		"model_calls":[{"token_stats":{"cached_tokens":true},"response":"x","started_at":1e3}],"tool_calls":[{"tool_call_id":"c","invocation_id":"i","output":[null]}]}`
	const want = `{"schema_version":"1.0","task_id":"t","rollout_id":"r","invocations":[{"kind":"agent_invocation","invocation_id":"i","parent_invocation_id":null,"spawned_by_tool_call_id":null,"status":"unknown","duration_ms":1.0,"error_type":null,` +
		`"model_calls":[{"model_call_id":null,"model_ref":{"type":"responses_api_models","name":"n"},"response_id":"p"}],"conversation":[]}],` +
		`"turns":[{"invocation_id":"i","task_id":"t","rollout_id":"r","turn_no":1,"timestamp":null,"question":null,"answer":{"b":1,"a":[]},"reasoning_content":null,"resolved":true,"step_count":2,"model_calls":[]}],` +
		`"model_calls":[{"model_call_id":null,"started_at":1000.0,"completed_at":null,"duration_ms":null,"request":null,"response":"x","response_metadata":{"response_id":null,"model_ref":null,"model":null,"dialect":null,"status_code":null,"response_status":null,` +
		`"finish_reason":null,"upstream_attempted":null,"response_source":null,"upstream_status_code":null,"local_response_reason":null,"error_category":null,"latency_ttft_ms":null},"token_stats":{"prompt_tokens":null,"completion_tokens":null,"reasoning_tokens":null,"total_tokens":null,"cached_tokens":1}}],` +
		`"tool_calls":[{"kind":"tool_call","invocation_id":"i","tool_call_id":"c","sandbox_id":null,"tool_name":null,"started_at":null,"completed_at":null,"duration_ms":null,"timing_source":null,"status":"unknown","error_type":null,"output":[null]}],` +
		`"gaps":[{"code":"c","invocation_id":null,"detail":null}]}`
	var b Builder
	got, err := b.AppendRecord(nil, scan(t, in))
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
}

// FuzzWrite writes whatever is a valid trajectory: the written form is valid, and writing it again changes nothing.
func FuzzWrite(f *testing.F) {
	for _, row := range sampleRows(f, "s*") {
		if v := scan(f, string(row)).Get("ng_trajectory"); v.Exists() {
			f.Add(v.Raw())
		}
	}
	for _, c := range kindCases {
		f.Add([]byte(fmt.Sprintf(c.frame, c.minimal)))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := new(jsonscan.Scanner).Scan(text)
		if err != nil {
			return
		}
		var b Builder
		once, err := b.AppendRecord(nil, v)
		if err != nil || b.Wide() {
			return
		}
		w, err := new(jsonscan.Scanner).Scan(once)
		if err != nil {
			t.Fatalf("%v\n%s", err, once)
		}
		twice, err := new(Builder).AppendRecord(nil, w)
		if err != nil {
			if strings.Contains(string(once), `"timestamp":null`) || strings.Contains(string(once), `null`) && bytes.Contains(bytes.ToLower(text), []byte("n")) {
				return // a number that is not finite became null where none may be
			}
			t.Fatalf("%v\n%s", err, once)
		}
		if !bytes.Equal(once, twice) {
			t.Errorf("%s\nthen\n%s", once, twice)
		}
		if err := b.CheckStrict(w); err != nil {
			t.Errorf("not strict: %v\n%s", err, once)
		}
		if tree := value.Of(w).Append(nil, value.Row); !bytes.Equal(tree, once) {
			t.Errorf("not in the form of rows: %s\nthan\n%s", once, tree)
		}
	})
}
