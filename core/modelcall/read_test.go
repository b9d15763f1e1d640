package modelcall

import (
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/trajectory/lax"
	"github.com/rollscope/rollscope/core/value"
)

func callOf(t testing.TB, line string) *Call {
	t.Helper()
	c, err := new(Reader).Read([]byte(line), 0)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return c
}

func TestCaptureLines(t *testing.T) {
	for _, tt := range []struct {
		file    string
		calls   []int
		damaged []int // line numbers
	}{
		{"{}\n\n{}", []int{0, 1}, nil},
		{"{}\n{bad\n{}\n", []int{0, 2}, []int{2}},
		{"[1]\nnull\n{}", []int{2}, []int{1, 2}},
		{`{"status_code": 200.5}`, nil, []int{1}},
		{`{"a":1} {"b":2}`, nil, []int{1}},
		{"", nil, nil}, {"\n \t\r\n\v\f\n", nil, nil},
		{"\v{}\f\r\n", []int{0}, nil},
		{"{}\n" + strings.Repeat(`{"a":`, 1025) + "1" + strings.Repeat("}", 1025), []int{0}, []int{2}},
		{"\ufeff{}", nil, []int{1}},
	} {
		scan := Scan{Reader: new(Reader)}
		var calls []int
		scan.Data([]byte(tt.file), func(c *Call) { calls = append(calls, c.Index) })
		var damaged []int
		for _, d := range scan.Damaged {
			damaged = append(damaged, d.Line)
			if d.Reason == "" || d.Offset < 0 || d.Offset > int64(len(tt.file)) {
				t.Errorf("%q: %+v", tt.file, d)
			}
		}
		if !equalInts(calls, tt.calls) || !equalInts(damaged, tt.damaged) || scan.Calls != len(calls) {
			t.Errorf("%q: calls %v damaged %v", tt.file, calls, damaged)
		}
	}
}

func equalInts(a, b []int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func TestUsage(t *testing.T) {
	for _, tt := range []struct{ usage, want string }{ // in out reasoning total created cached hit
		{`{"input_tokens":10,"output_tokens":5}`, "10 5 null 15 null null null"},
		{`{"prompt_tokens":7,"completion_tokens":3,"total_tokens":11,"prompt_tokens_details":{"cached_tokens":0}}`, "7 3 null 11 null 0 false"},
		{`{"input_tokens":3,"output_tokens":9,"cache_read_input_tokens":5,"cache_creation_input_tokens":2}`, "10 9 null 19 2 5 true"},
		{`{"output_tokens":3,"cache_read_input_tokens":0}`, "null 3 null null null 0 false"},
		{`{"output_tokens":3,"cache_read_input_tokens":4}`, "4 3 null 7 null 4 true"},
		{`{"input_tokens":2.0,"prompt_tokens":5,"output_tokens":true,"completion_tokens":4}`, "5 4 null 9 null null null"},
		{`{"input_tokens":5,"output_tokens":5,"total_tokens":0}`, "5 5 null 0 null null null"},
		{`{"output_tokens_details":{"reasoning_tokens":-1},"completion_tokens_details":{"reasoning_tokens":9},"reasoning_output_tokens":4}`, "null null 9 null null null null"},
		{`{"reasoning_output_tokens":4,"cached_input_tokens":6}`, "null null 4 null null 6 true"},
		{`{"input_tokens_details":{"cached_input_tokens":2},"prompt_tokens_details":5}`, "null null null null null 2 true"},
		{`{"prompt_tokens_details":{"cached_tokens":"1","cached_input_tokens":3},"input_tokens_details":{"cached_tokens":4}}`, "null null null null null 3 true"},
		{`{"input_tokens":18446744073709551615,"output_tokens":1}`, "18446744073709551615 1 null 18446744073709551616 null null null"},
		{`{"input_tokens":18446744073709551616}`, "null null null null null null null"},
		{`{"input_tokens":1,"input_tokens":2}`, "2 null null null null null null"},
		{`[]`, "null null null null null null null"}, {`null`, "null null null null null null null"},
	} {
		c := callOf(t, `{"response":{"usage":`+tt.usage+`}}`)
		var b []byte
		for _, n := range []lax.Count{c.TokensIn, c.TokensOut, c.TokensReasoning, c.TokensTotal, c.CacheCreationTokens, c.CachedTokens} {
			b = append(AppendCount(b, n), ' ')
		}
		if got := string(AppendFlag(b, c.CacheHit)); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.usage, got, tt.want)
		}
	}
}

func TestShapes(t *testing.T) {
	for _, tt := range []struct{ response, finish, tools, reasoning string }{
		{`{}`, "null", `[]`, "null"},
		{`{"stop_reason":"","choices":[{"finish_reason":"stop"}]}`, `""`, `[]`, "null"},
		{`{"stop_reason":5,"choices":[{"finish_reason":"stop"},{"finish_reason":"length"}]}`, `"stop"`, `[]`, "null"},
		{`{"choices":["x",{"finish_reason":"stop"}],"incomplete_details":{"reason":"max_output_tokens"}}`, `"max_output_tokens"`, `[]`, "null"},
		{`{"incomplete_details":"x"}`, "null", `[]`, "null"},
		{`{"output":[],"choices":[{"message":{"tool_calls":[{"id":"a"}]}}]}`, "null", `[]`, "null"},
		{`{"output":[{"type":"function_call","call_id":"","id":7,"name":[1],"arguments":"{\"a\": 1.50}"},{"type":"mcp_call"},"junk",{"type":"function_call","call_id":"c","arguments":"{x"}]}`, "null",
			`[{"call_id":7,"name":[1],"arguments":{"a":1.5}},{"call_id":"c","name":null,"arguments":{"_raw":"{x"}}]`, "null"},
		{`{"output":[{"type":"function_call","arguments":"[1]"},{"type":"function_call","arguments":"null"},{"type":"function_call","arguments":5},{"type":"function_call","arguments":{"x":1}},{"type":"function_call","arguments":"NaN"}]}`, "null",
			`[{"call_id":null,"name":null,"arguments":[1]},{"call_id":null,"name":null,"arguments":null},{"call_id":null,"name":null,"arguments":{}},{"call_id":null,"name":null,"arguments":{"x":1}},{"call_id":null,"name":null,"arguments":null}]`, "null"},
		{`{"choices":[{"message":{"reasoning_content":"","reasoning":"rr","tool_calls":["x",{"id":"q","function":"f"},{"function":{"name":"n","arguments":"{broken"}}]}},{"message":5},{"message":{"reasoning_content":["l"],"reasoning":"no","tool_calls":{"a":1}}},{"message":{"reasoning":"ss","tool_calls":""}}]}`, "null",
			`[{"call_id":"q","name":null,"arguments":{}},{"call_id":null,"name":"n","arguments":{"_raw":"{broken"}}]`, `"rr\nss"`},
		{`{"content":[{"type":"tool_use","id":"t","name":"n","input":0},{"type":"tool_use","id":"u","input":[1]},{"type":"thinking","thinking":""},{"type":"redacted_thinking","thinking":""},{"type":"thinking","thinking":5}]}`, "null",
			`[{"call_id":"t","name":"n","arguments":{}},{"call_id":"u","name":null,"arguments":[1]}]`, `"\n"`},
		{`{"content":[{"type":"thinking","thinking":""}]}`, "null", `[]`, "null"},
		{`{"output":[{"type":"reasoning","summary":[{"text":"a"},{"text":""},{"text":5},"x",{"text":"b"}],"content":[{"text":"no"}]},{"type":"reasoning","summary":{"text":"x"}},{"type":"reasoning","summary":"t"}]}`, "null", `[]`, `"a\nb"`},
		{`{"content":"text"}`, "null", `[]`, "null"},
	} {
		c := callOf(t, `{"response":`+tt.response+`}`)
		finish, tools, reasoning := string(AppendText(nil, c.FinishReason)), string(appendToolCalls(nil, c)), string(AppendText(nil, c.Reasoning))
		if finish != tt.finish || tools != tt.tools || reasoning != tt.reasoning {
			t.Errorf("%s:\n%s %s %s, want\n%s %s %s", tt.response, finish, tools, reasoning, tt.finish, tt.tools, tt.reasoning)
		}
	}
}

func TestDamage(t *testing.T) {
	for line, damaged := range map[string]bool{
		`{"model_call_id":7}`: true, `{"model_call_id":null}`: false, `{"client_session_id":7}`: false, `{"dialect":[]}`: true, `{"error_category":1}`: true,
		`{"status_code":"0404"}`: false, `{"status_code":200.0}`: false, `{"status_code":true}`: false, `{"status_code":"x"}`: true, `{"status_code":18446744073709551616}`: true,
		`{"status_code":-5}`: false, `{"upstream_status_code":1.5}`: true, `{"started_at":"1e3"}`: false, `{"started_at":"nan"}`: false, `{"started_at":[]}`: true,
		`{"latency_ms":-3}`: false, `{"latency_ttft_ms":"x"}`: true, `{"upstream_attempted":"Yes"}`: false, `{"upstream_attempted":2}`: true,
		`{"response_source":"local"}`: false, `{"response_source":"Local"}`: true, `{"response_source":null}`: false, `{"local_response_reason":1}`: true,
		`{"model_ref":null}`: false, `{"model_ref":{"type":"responses_api_models","name":"p","x":1}}`: false, `{"model_ref":{"type":"x","name":"p"}}`: true,
		`{"model_ref":{"type":"responses_api_models"}}`: true, `{"model_ref":"p"}`: true, `{"model_server":"p"}`: false,
		`{"response":{"output":[{"type":"reasoning","summary":5}]}}`: true, `{"response":{"output":[{"type":"reasoning","summary":0}]}}`: false,
		`{"response":{"output":[{"type":"reasoning","summary":true}]}}`: true, `{"response":{"choices":[{"message":{"tool_calls":true}}]}}`: true,
		`{"response":{"choices":[{"message":{"tool_calls":0}}]}}`: false, `{"request":5,"response":"x"}`: false, `{}`: false, `{"a":NaN}`: true,
	} {
		_, err := new(Reader).Read([]byte(line), 0)
		if (err != nil) != damaged {
			t.Errorf("%s: %v", line, err)
		}
		if err != nil && err.Error() == "" {
			t.Errorf("%s: no reason", line)
		}
	}
}

// TestRecord holds the order of fields and what stands in them.
func TestRecord(t *testing.T) {
	c := callOf(t, `{"response_raw":"data: x","request":{"model":"rq","z":[1, 2.50]},"latency_ttft_ms":1,"latency_ms":"2","completed_at":"inf","started_at":3,"error_category":null,
		"local_response_reason":"r","upstream_status_code":"200","response_source":"upstream","upstream_attempted":1,"client_session_id":"s","status_code":"404","dialect":"chat",
		"model_ref":{"name":"p","type":"responses_api_models"},"model_call_id":"\u0061","response":{"id":"r1","model":"","status":"completed"},"extra":1}`)
	const want = `{"model_call_id":"a","response_id":"r1","client_session_id":"s","call_index":0,"model_ref":{"type":"responses_api_models","name":"p"},"model":"rq","dialect":"chat","status_code":404,` +
		`"response_status":"completed","finish_reason":null,"upstream_attempted":true,"response_source":"upstream","upstream_status_code":200,"local_response_reason":"r","started_at":3.0,"completed_at":null,` +
		`"tokens_in":null,"tokens_out":null,"tokens_reasoning":null,"tokens_total":null,"tool_calls":[],"reasoning_content":null,"cache_hit":null,"cached_tokens":null,"cache_creation_tokens":null,` +
		`"error_category":null,"latency_total_ms":2.0,"latency_ttft_ms":1.0}`
	if got := string(c.AppendRecord(nil)); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got := string(c.AppendPayload(nil)); got != `,"request":{"model":"rq","z":[1,2.5]},"response":{"id":"r1","model":"","status":"completed"},"request_raw":null,"response_raw":"data: x"` {
		t.Error(got)
	}
	whole := c.AppendTail(c.AppendPayload(c.AppendHead(nil)))
	if _, err := value.Strict(whole); err != nil {
		t.Errorf("%s: %v", whole, err)
	}
}

func TestSums(t *testing.T) {
	var s Sum
	for _, x := range []float64{.1, .2, .3} {
		s.Add(x)
	}
	if s.Value() != .6 {
		t.Errorf("%v", s.Value())
	}
	var m Metrics
	for _, line := range []string{
		`{"latency_ms":0.1,"response":{"usage":{"input_tokens":1,"output_tokens":2}}}`, `{"latency_ms":0.2}`, `{"latency_ms":0.3,"response":{"usage":{"input_tokens":4,"cached_input_tokens":1}}}`,
	} {
		m.Add(callOf(t, line))
	}
	if got := string(m.AppendJSON(nil)); got != `{"tokens_in":5,"tokens_out":2,"tokens_reasoning":null,"tokens_total":3,"cached_tokens":1,"latency_total_ms":0.6,"num_calls":3}` {
		t.Error(got)
	}
	m = Metrics{}
	if got := string(m.AppendJSON(nil)); got != `{"tokens_in":null,"tokens_out":null,"tokens_reasoning":null,"tokens_total":null,"cached_tokens":null,"latency_total_ms":null,"num_calls":0}` {
		t.Error(got)
	}
}

func TestGaps(t *testing.T) {
	for _, tt := range []struct {
		file          string
		found, marker bool
		want          string
	}{
		{"", false, false, "model_call_capture_no_records"}, {"", false, true, "model_call_capture_incomplete"}, {"", true, true, "model_call_capture_incomplete"},
		{"", true, false, "model_call_capture_no_records"}, {"{bad", true, false, "model_call_capture_records_unreadable count=1"},
		{"{bad\n[]", true, true, "model_call_capture_records_unreadable count=2; model_call_capture_incomplete"}, {"{}", true, false, ""}, {"{}", true, true, "model_call_capture_incomplete"},
	} {
		scan := Scan{Reader: new(Reader)}
		scan.Data([]byte(tt.file), func(*Call) {})
		var parts []string
		for _, g := range scan.Gaps(tt.found, tt.marker) {
			parts = append(parts, strings.TrimSpace(g.Code+" "+g.Detail))
		}
		if got := strings.Join(parts, "; "); got != tt.want {
			t.Errorf("%q %t %t: %s", tt.file, tt.found, tt.marker, got)
		}
	}
}

// FuzzRead reads lines of any content: what is read can be written, and read as a row has it.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"model_call_id":"a","response":{"output":[{"type":"function_call","arguments":"{\"x\":[1e999,\"\\ud800\"]}"},{"type":"reasoning","summary":[{"text":"t"}]}],"usage":{"input_tokens":3}}}`))
	f.Add([]byte(`{"status_code":"404","response":{"choices":[{"message":{"tool_calls":[{"function":{"arguments":"[1]"}}],"reasoning":"r"}}]}}`))
	f.Add([]byte(`{"started_at":"1_0.5","response":{"content":[{"type":"thinking","thinking":"t"},{"type":"tool_use","input":{"a":1}}]},"response_raw":"data: {}\n\n"}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		c, err := new(Reader).Read(line, 3)
		if err != nil {
			return
		}
		CheckCall(c, func(string, ...value.Member) {})
		if c.Writable() != "" {
			return
		}
		text := c.AppendTail(c.AppendPayload(c.AppendHead(nil)))
		v, err := value.Strict(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if n, _ := v.Get("call_index").Int64(); n != 3 || v.Len() != len(recordFields) {
			t.Errorf("%s", text)
		}
	})
}
