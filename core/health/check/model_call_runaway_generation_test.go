package check

import (
	"strings"
	"testing"
)

func TestRunawayGeneration(t *testing.T) {
	found := func(id, reason string) string {
		return `{"check":"model_call_runaway_generation","locator":{"call_id":"` + id + `"},"detail":{"finish_reason":"` + reason + `"}}`
	}
	stopped := func(class string) string {
		return `raised {"check":"check_execution_error","detail":{"reason":"check raised an unexpected exception","failed_check":"model_call_runaway_generation","error":"` + class + `"}}`
	}
	limited := func(id, response string) string {
		return callWith(id, `"finish_reason":"length"`, "", `"response":`+response)
	}
	one := func(c string) string { return row(turns(said(1, "a")), calls(c)) }
	runSamples(t, RunawayGeneration, append(needMatched(`"finish_reason":"length"`, ""),
		sample{"stop", one(callWith("a", `"finish_reason":"stop"`, "", `"response":{}`)), "clean", ""},
		sample{"length", one(limited("a", `{}`)), found("a", "length"), ""},
		sample{"max_tokens", one(callWith("a", `"finish_reason":"max_tokens"`, "", `"response":{}`)), found("a", "max_tokens"), ""},
		sample{"max_output_tokens", one(callWith("a", `"finish_reason":"max_output_tokens"`, "", `"response":{}`)), found("a", "max_output_tokens"), ""},
		sample{"Length", one(callWith("a", `"finish_reason":"Length"`, "", `"response":{}`)), "clean", ""},
		sample{"response null", one(limited("a", `null`)), "response_missing", ""},
		sample{"response absent", one(call("a", `"finish_reason":"length"`, "")), "response_missing", ""},
		sample{"one null among two", row(turns(said(1, "a", "b")), calls(limited("a", `{}`), limited("b", `null`))), "response_missing", ""},
		sample{"null with another reason", row(turns(said(1, "a", "b")), calls(limited("a", `{}`), callWith("b", "", "", `"response":null`))), found("a", "length"), ""},
		sample{"null without reference", row(turns(said(1, "a")), calls(limited("a", `{}`), limited("b", `null`))), found("a", "length"), ""},
		sample{"type error", one(limited("a", `{"choices":5}`)), stopped("TypeError"), ""},
		sample{"attribute error", one(limited("a", `{"choices":[{"message":"s"}]}`)), stopped("AttributeError"), ""},
		sample{"what was found is lost", row(turns(said(1, "a", "b")), calls(limited("a", `{}`), limited("b", `{"choices":true}`))), stopped("TypeError"), ""},
		sample{"overflow", row(turns(said(1, "a", "b")), calls(callWith("a", overflowed+`,"finish_reason":"length"`, "", `"response":{}`), limited("b", `{}`))),
			found("a", "length") + "\n" + found("b", "length"), found("b", "length")},
		sample{"overflow without response", row(turns(said(1, "a", "b")), calls(call("a", overflowed+`,"finish_reason":"length"`, ""), limited("b", `{}`))),
			"response_missing", found("b", "length")},
		sample{"overflow that stops", row(turns(said(1, "a", "b")), calls(callWith("a", overflowed+`,"finish_reason":"length"`, "", `"response":{"choices":5}`), limited("b", `{}`))),
			stopped("TypeError"), found("b", "length")},
		sample{"stops differently", row(turns(said(1, "a", "b")), calls(callWith("a", overflowed+`,"finish_reason":"length"`, "", `"response":{"choices":5}`), limited("b", `{"choices":[{"message":1}]}`))),
			stopped("TypeError"), stopped("AttributeError")},
	))
	for response, want := range map[string]Outcome{
		`"text"`: Fired, `[{"text":"x"}]`: Fired, `0`: Fired, `{"text":"x"}`: Fired,
		`{"output_text":"x"}`: Clean, `{"content":[{"text":"x"}]}`: Clean, `{"output_text":" "}`: Fired,
		`{"output":[{"content":[{"text":"x"}]}]}`: Clean, `{"output":[{"type":"function_call","arguments":"x"}]}`: Fired,
		`{"output":[{"type":"reasoning","summary":[{"text":"x"}]}]}`: Clean,
		`{"choices":[]}`: Fired, `{"choices":0}`: Fired, `{"choices":0.0}`: Fired, `{"choices":false}`: Fired, `{"choices":"abc"}`: Fired, `{"choices":{"message":1}}`: Fired,
		`{"choices":1.5}`: RaisedTypeError, `{"choices":true}`: RaisedTypeError, `{"choices":-1,"output":["x"]}`: RaisedTypeError, `{"choices":5,"output_text":"x"}`: Clean,
		`{"choices":[1,"x",null,[{"text":"x"}]]}`: Fired, `{"choices":[{"text":"x"},{"message":1}]}`: Clean, `{"choices":[{"message":1},{"text":"x"}]}`: RaisedAttributeError,
		`{"choices":[{"message":{"content":"x"}}]}`: Clean, `{"choices":[{"message":{"content":null,"tool_calls":[1],"reasoning_content":"x"}}]}`: Fired,
		`{"choices":[{"message":null},{"message":0},{"message":""},{"message":[]},{"message":{}}]}`: Fired,
		`{"choices":[{"message":[0]}]}`: RaisedAttributeError, `{"choices":[{"message":true}]}`: RaisedAttributeError,
		`{"choices":[{"text":"x","message":5}]}`: Clean, `{"choices":[{"message":{}}],"output":"x"}`: Clean,
		`{"choices":[{"delta":{"content":"x"}}],"output":"x"}`: Clean, `{"choices":5,"choices":[]}`: Fired,
	} {
		j := judgeRow(one(limited("a", response)))
		if o, _ := j.of(t, RunawayGeneration, V07); o != want {
			t.Errorf("response %s: %s", response, o.Code())
		}
	}
	j := judgeRow(one(limited("a", `{"choices":5}`)))
	_, f := j.of(t, RunawayGeneration, V07)
	if p := f[0].Place; p.Call != 0 || p.Turn != 0 || !strings.HasPrefix(f[0].at(j.line), `{"model_call_id":"a"`) {
		t.Errorf("%+v", p)
	}
	j = judgeRow(one(limited("a", `{}`)))
	_, f = j.of(t, RunawayGeneration, V07)
	if s := Sentence(f[0]); s != "call a stopped at its limit (length) without any content" {
		t.Error(s)
	}
}
