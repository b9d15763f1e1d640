package modelcall

import (
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/value"
)

func TestEvents(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"data: {\"a\":1}\n\ndata: {\"b\":2}", `{"a":1} {"b":2}`},
		{"data:{\"a\":1}\r\n\r\ndata: [DONE]\n\nevent: x\n\n", `{"a":1}`},
		{"data: {\"a\":\ndata: 1}\n\n", `{"a":1}`},
		{"data: {}\ndata: {}\n\n", ""},
		{"data: {\"a\":1}\u2028\ndata: x\n\n", ""},
		{"data: {\"a\":1}\u2028xdata: 1\n\n", `{"a":1}`},
		{"data: {\"a\":1}\vdata: \n\n", `{"a":1}`},
		{" data: {\"a\":1}\n\n", ""},
		{"data: {\"a\":1}\r\rdata: {\"b\":1}", ""},
		{"data: [1]\n\ndata: 5\n\ndata: NaN\n\ndata: {\"a\":NaN,\"b\":1e999}\n\n", `{"a":NaN,"b":Infinity}`},
		{"data: {\"a\":\"\\ud800\"}\n\n", "{\"a\":\"\\ud800\"}"},
		{"\n\n\n\ndata:\u00a0\u3000{\"a\":1}", `{"a":1}`},
		{"", ""}, {"data:", ""}, {"data: {\"a\":1}", `{"a":1}`}, {"data: {\"a\":99999999999999999999}", `{"a":99999999999999999999}`},
	} {
		var parts []string
		Events(tt.text, func(v value.Value) { parts = append(parts, string(v.Append(nil, value.Inner))) })
		if got := strings.Join(parts, " "); got != tt.want {
			t.Errorf("%q: %s, want %s", tt.text, got, tt.want)
		}
	}
}

func TestTerminal(t *testing.T) {
	for _, tt := range []struct {
		dialect, text string
		want          Terminal
	}{
		{"messages", "data: {\"type\":\"message_stop\"}\n\n", NotEnded},
		{"responses", "event:   error\ndata:{}\n\n", Failed},
		{"chat", "data: [DONE]", NotEnded}, {"chat", "data: [DONE]\n\n", Complete}, {"chat", "data:[DONE]\r\n\r\n", Complete}, {"chat", "data: [DONE] \n\n", NotEnded},
		{"chat", "data: {\"error\":0}\n\n", Failed}, {"chat", "data: {\"error\":null}\n\n", NotEnded}, {"chat", "data: {\"error\":1}\ndata: [DONE]\n\n", Complete},
		{"messages", "event: message_stop\n\nevent: error\n\n", Complete}, {"messages", "event: error\n\nevent: message_stop\n\n", Failed},
		{"responses", "event: response.completed\n\n", Complete}, {"responses", "event: response.incomplete\n\n", Incomplete}, {"responses", "event: response.failed\n\n", Failed},
		{"responses", "event: response.completed\rdata: x\n\n", Complete}, {"responses", "event: response.completed", NotEnded}, {"other", "event: error\n\n", NotEnded},
		{"chat", "event: error\n\n", Failed}, {"responses", "", NotEnded},
	} {
		if got := TerminalOf(tt.dialect, tt.text); got != tt.want {
			t.Errorf("%s %q: %s, want %s", tt.dialect, tt.text, got, tt.want)
		}
	}
}

func stream(events ...string) string {
	var b strings.Builder
	for _, e := range events {
		b.WriteString("data: " + e + "\n\n")
	}
	return b.String()
}

func TestRebuild(t *testing.T) {
	for _, tt := range []struct {
		name, dialect string
		events        []string
		want          string // "" is none
	}{
		{"nothing", "messages", nil, ""}, {"unknown", "other", []string{`{}`}, ""},
		{"a message", "messages", []string{
			`{"type":"message_start","message":{"id":"m","role":"assistant","model":"x","stop_reason":null,"usage":{"input_tokens":3}}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}`,
			`{"type":"content_block_delta","delta":{"type":"thinking_delta","thinking":"hm"}}`,
			`{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"t","name":"n","input":{}}}`,
			`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"a\":"}}`,
			`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"NaN}"}}`,
			`{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"hi"}}`,
			`{"type":"content_block_delta","index":1,"delta":{"type":"signature_delta","signature":"x"}}`,
			`{"type":"ping"}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":null,"output_tokens":2}}`,
		}, `{"id":"m","role":"assistant","model":"x","stop_reason":"end_turn","type":"message","content":[{"type":"thinking","thinking":"hm"},{"text":"hi","type":"text"},{"type":"tool_use","id":"t","name":"n","input":{"a":null}}],"usage":{"input_tokens":null,"output_tokens":2}}`},
		{"blocks alone", "messages", []string{`{"type":"content_block_start","content_block":{"type":"text","text":"a"}}`, `{"type":"content_block_start","content_block":{"type":"text","text":"b"}}`},
			`{"type":"message","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`},
		{"a tool without arguments", "messages", []string{`{"type":"content_block_start","content_block":{"type":"tool_use","input":null}}`, `{"type":"content_block_delta","delta":{"type":"input_json_delta","partial_json":""}}`},
			`{"type":"message","content":[{"type":"tool_use","input":{}}]}`},
		{"a cut tool", "messages", []string{`{"type":"content_block_start","content_block":{"type":"tool_use"}}`, `{"type":"content_block_delta","delta":{"type":"input_json_delta","partial_json":"{x"}}`},
			`{"type":"message","content":[{"type":"tool_use","input":{"_raw":"{x"}}]}`},
		{"an input that is there stays", "messages", []string{`{"type":"content_block_start","content_block":{"type":"tool_use","input":{"k":1}}}`, `{"type":"content_block_delta","delta":{"type":"input_json_delta","partial_json":"{}"}}`},
			`{"type":"message","content":[{"type":"tool_use","input":{"k":1}}]}`},
		{"no object where one must be", "messages", []string{`{"type":"content_block_start","content_block":5}`}, ""},
		{"an index that cannot be looked up", "messages", []string{`{"type":"content_block_start","index":[],"content_block":{}}`}, ""},
		{"chat", "chat", []string{
			`{"id":"c","model":"m","choices":[{"delta":{"role":"assistant","content":""}}]}`,
			`{"id":5,"choices":[{"delta":{"reasoning":"th"}},{"delta":{"content":"a","reasoning_content":"x"}}]}`,
			`{"choices":[{"delta":{"content":"b","refusal":"no","tool_calls":[{"index":1,"id":"t2","function":{"name":"g","arguments":"{"}},{"id":"t1","function":{"name":"f"}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":1,"function":{"arguments":"}"}}]},"finish_reason":"tool_calls"}]}`,
			`{"choices":[],"usage":{"total_tokens":3}}`,
		}, `{"object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"ab","reasoning_content":"thx","refusal":"no","tool_calls":[{"id":"t1","type":"function","function":{"name":"f","arguments":""}},{"id":"t2","type":"function","function":{"name":"g","arguments":"{}"}}]},"finish_reason":"tool_calls"}],"id":"c","usage":{"total_tokens":3}}`},
		{"a whole message in a chunk", "chat", []string{`{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}]}`},
			`{"object":"chat.completion","model":null,"choices":[{"index":0,"message":{"role":"assistant","content":null},"finish_reason":"stop"}]}`},
		{"no choice", "chat", []string{`{"id":"c","choices":[]}`}, ""}, {"an odd tool call", "chat", []string{`{"choices":[{"delta":{"tool_calls":["x"]}}]}`}, ""},
		{"an odd content", "chat", []string{`{"choices":[{"delta":{"content":5}}]}`}, ""},
		{"responses", "responses", []string{`{"type":"response.created","response":{"status":"in_progress"}}`, `{"type":"response.completed","response":{"status":"completed"}}`, `{"type":"x","response":{"status":"later"}}`}, `{"status":"completed"}`},
		{"responses cut", "responses", []string{`{"type":"response.created","response":{"status":"queued"}}`, `{"type":"response.in_progress","response":{"status":"in_progress"}}`}, `{"status":"in_progress"}`},
		{"responses failed twice", "responses", []string{`{"type":"response.failed","response":{"n":1}}`, `{"type":"response.incomplete","response":{"n":2}}`}, `{"n":2}`},
		{"responses without any", "responses", []string{`{"type":"response.completed","response":"x"}`}, ""},
	} {
		v, ok := Rebuild(tt.dialect, stream(tt.events...))
		got := ""
		if ok {
			got = string(Finite(v).Append(nil, value.Row))
		}
		if got != tt.want {
			t.Errorf("%s:\n%s, want\n%s", tt.name, got, tt.want)
		}
	}
}

func TestCategories(t *testing.T) {
	done := "data: [DONE]\\n\\n"
	for _, tt := range []struct {
		line string
		fits bool
	}{
		{`{"status_code":500,"error_category":"upstream_error"}`, true}, {`{"status_code":500,"error_category":null}`, false}, {`{"status_code":408,"error_category":"timeout"}`, true},
		{`{"status_code":504,"error_category":"timeout"}`, true}, {`{"status_code":429,"error_category":"rate_limit"}`, true}, {`{"status_code":401,"error_category":"auth"}`, true},
		{`{"status_code":403,"error_category":"auth"}`, true}, {`{"status_code":404,"error_category":"not_found"}`, true}, {`{"status_code":422,"error_category":"client_error"}`, true},
		{`{"status_code":422,"local_response_reason":"context_length_exceeded","error_category":"context_length_exceeded"}`, true},
		{`{"status_code":200,"local_response_reason":"context_length_exceeded","error_category":null}`, false},
		{`{"status_code":200,"response":{}}`, true}, {`{"status_code":200,"response":{},"error_category":"timeout"}`, false},
		{`{"dialect":"chat","response":{},"response_raw":"` + done + `"}`, true}, {`{"dialect":"chat","response":{},"response_raw":"x"}`, false},
		{`{"dialect":"chat","response":{},"response_raw":"x","error_category":"stream_truncated"}`, true},
		{`{"dialect":"responses","response":{},"response_raw":"event: response.incomplete\n\n","error_category":"incomplete"}`, true},
		{`{}`, true}, {`{"error_category":"cancelled"}`, true}, {`{"error_category":"stream_truncated"}`, true}, {`{"error_category":"capture_parse_error"}`, false},
		{`{"dialect":"chat","response_raw":"<html>","error_category":"capture_parse_error"}`, true}, {`{"dialect":"chat","response_raw":"x","error_category":"stream_truncated"}`, true},
		{`{"dialect":"chat","response_raw":"` + done + `","error_category":"stream_truncated"}`, false}, {`{"dialect":"chat","response_raw":"` + done + `"}`, false},
		{`{"error_category":"a_new_one"}`, true}, {`{"dialect":"new","response":{},"response_raw":"x"}`, true},
	} {
		if c := callOf(t, tt.line); c.CategoryFits() != tt.fits {
			t.Errorf("%s: %t, allowed %q", tt.line, !tt.fits, c.AllowedCategories())
		}
	}
}

// FuzzStream takes texts of any content apart.
func FuzzStream(f *testing.F) {
	f.Add("responses", "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{}}\n\n")
	f.Add("chat", "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":\"a\"},{\"index\":1.5}]}}]}\r\n\r\ndata: [DONE]\n\n")
	f.Add("messages", "data: {\"type\":\"content_block_delta\",\"index\":true,\"delta\":{\"type\":\"text_delta\",\"text\":\"\\ud800\"}}\n\n")
	f.Fuzz(func(t *testing.T, dialect, text string) {
		TerminalOf(dialect, text)
		if v, ok := Rebuild(dialect, text); ok && !v.IsObject() {
			t.Errorf("%q: %s", text, v)
		}
		blocks := 0
		for rest, more := text, true; more; blocks++ {
			var block string
			block, rest, more = cutBlock(rest)
			if strings.Contains(block, "\n\n") {
				t.Errorf("%q: block %q", text, block)
			}
		}
	})
}
