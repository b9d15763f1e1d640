package check

import (
	"strings"
	"testing"
)

// overflowed is a call that the upstream refused because the context was too long.
const overflowed = `"upstream_attempted":true,"upstream_status_code":400,"status_code":400,"error_category":"context_length_exceeded"`

// needMatched are the samples of all checks that look at referenced calls.
func needMatched(metadata, stats string) []sample {
	c := call("a", metadata, stats)
	return []sample{
		{"unreadable", `[]`, "line_unreadable", ""},
		{"no trajectory", `{}`, "no_trajectory", ""},
		{"projection failed", row(turns(said(1, "a")), calls(c), gapList(gapOf("trajectory_projection_failed"))), "trajectory_projection_failed", ""},
		{"no calls", row(turns(said(1))), "no_matched_calls", ""},
		{"no reference", row(turns(said(1)), calls(c)), "no_matched_calls", ""},
		{"reference to nothing", row(turns(said(1, "b")), calls(c)), "no_matched_calls", ""},
		{"calls unavailable", row(turns(said(1, "a")), calls(c), gapList(gapOf("model_calls_unavailable"))), "model_calls_unavailable", ""},
		{"capture incomplete", row(turns(said(1, "a")), calls(c), gapList(gapOf("model_call_capture_incomplete"))), "model_call_capture_incomplete", ""},
		{"records unreadable", row(turns(said(1, "a")), calls(c), gapList(gapOf("model_call_capture_records_unreadable"))), "model_call_capture_records_unreadable", ""},
		{"capture unreadable", row(turns(said(1, "a")), calls(c), gapList(gapOf("model_call_capture_unreadable"))), "model_call_capture_unreadable", ""},
	}
}

func TestZeroCompletionTokens(t *testing.T) {
	zero := func(id string) string {
		return `{"check":"model_call_zero_completion_tokens","locator":{"call_id":"` + id + `"},"detail":{"completion_tokens":0}}`
	}
	none := `"completion_tokens":0`
	runSamples(t, ZeroCompletionTokens, append(needMatched("", none),
		sample{"zero", row(turns(said(1, "a")), calls(call("a", "", none))), zero("a"), ""},
		sample{"of an invocation", row(invocations(`{"invocation_id":"i",`+refsTo("a")+`}`), calls(call("a", "", none))), zero("a"), ""},
		sample{"null", row(turns(said(1, "a")), calls(call("a", "", ""))), "clean", ""},
		sample{"as text", row(turns(said(1, "a")), calls(call("a", "", `"completion_tokens":"0"`))), zero("a"), ""},
		sample{"false", row(turns(said(1, "a")), calls(call("a", "", `"completion_tokens":false`))), zero("a"), ""},
		sample{"others are not looked at", row(turns(said(1, "b")), calls(call("a", "", none), call("b", "", counted))), "clean", ""},
		sample{"turns and scope do not matter", row(turns(said(1, "a")), calls(call("a", "", none)), gapList(gapOf("turns_unavailable"), gapOf("turn_model_call_scope_incomplete"))), zero("a"), ""},
		sample{"order and labels", row(turns(turn(1, `"answer":"x","model_calls":[{"model_call_id":"z"},{`+policy+`,"response_id":"one"},{"model_ref":{"type":"responses_api_models","name":"judge"},"response_id":"two"}]`)),
			calls(call("other", "", none), call("", `"response_id":"two",`+judge, none), call("", `"response_id":"one",`+policy, none), call("z", "", none))),
			zero("two") + "\n" + zero("one") + "\n" + zero("z"), ""},
		sample{"overflow", row(turns(said(1, "a", "b")), calls(call("a", overflowed, none), call("b", "", none))), zero("a") + "\n" + zero("b"), zero("b")},
		sample{"only overflow", row(turns(said(1, "a")), calls(call("a", overflowed, none))), zero("a"), "clean"},
		sample{"overflow by local reason", row(turns(said(1, "a")), calls(call("a",
			`"upstream_attempted":true,"upstream_status_code":400,"local_response_reason":"context_length_exceeded"`, none))), zero("a"), "clean"},
		sample{"not attempted", row(turns(said(1, "a")), calls(call("a",
			`"upstream_attempted":false,"upstream_status_code":400,"error_category":"context_length_exceeded"`, none))), zero("a"), ""},
		sample{"another status", row(turns(said(1, "a")), calls(call("a",
			`"upstream_attempted":true,"upstream_status_code":413,"error_category":"context_length_exceeded"`, none))), zero("a"), ""},
		sample{"another reason", row(turns(said(1, "a")), calls(call("a",
			`"upstream_attempted":true,"upstream_status_code":400,"error_category":"bad_request"`, none))), zero("a"), ""},
	))
	j := judgeRow(row(turns(said(1), said(2, "a")), calls(call("a", "", none))))
	_, f := j.of(t, ZeroCompletionTokens, V07)
	if p := f[0].Place; Sentence(f[0]) != "call a reports 0 completion tokens" || p.Turn != 1 || p.Call != 0 || f[0].at(j.line) != call("a", "", none) {
		t.Errorf("%+v", f[0])
	}
}

func TestMissingTokenCounts(t *testing.T) {
	missing := func(id, list string) string {
		return `{"check":"model_call_missing_token_counts","locator":{"call_id":"` + id + `"},"detail":{"missing":[` + list + `]}}`
	}
	const both = `"prompt_tokens","completion_tokens"`
	runSamples(t, MissingTokenCounts, append(needMatched("", ""),
		sample{"both there", row(turns(said(1, "a")), calls(call("a", "", counted))), "clean", ""},
		sample{"zero is there", row(turns(said(1, "a")), calls(call("a", "", `"prompt_tokens":0,"completion_tokens":0`))), "clean", ""},
		sample{"all kinds", row(turns(said(1, "a", "b", "c")), calls(call("a", "", `"prompt_tokens":1`), call("b", "", `"completion_tokens":1`), call("c", "", `"total_tokens":1`))),
			missing("a", `"completion_tokens"`) + "\n" + missing("b", `"prompt_tokens"`) + "\n" + missing("c", both), ""},
		sample{"overflow", row(turns(said(1, "a", "b")), calls(call("a", overflowed, ""), call("b", "", ""))), missing("a", both) + "\n" + missing("b", both), missing("b", both)},
	))
	j := judgeRow(row(turns(said(1, "a", "b", "c")), calls(call("a", "", `"prompt_tokens":1`), call("b", "", `"completion_tokens":1`), call("c", "", ""))))
	_, f := j.of(t, MissingTokenCounts, V07)
	for i, want := range []string{"call a reports no completion tokens", "call b reports no prompt tokens", "call c reports neither prompt nor completion tokens"} {
		if s := Sentence(f[i]); s != want {
			t.Error(s)
		}
	}
}

func TestCallFailed(t *testing.T) {
	failed := func(id, status, category, terminal string) string {
		return `{"check":"model_call_failed","locator":{"call_id":"` + id + `"},"detail":{"status":` + status + `,"error_category":` + category + `,"terminal":` + terminal + `}}`
	}
	runSamples(t, CallFailed, append(needMatched(`"status_code":500`, ""),
		sample{"well", row(turns(said(1, "a", "b", "c")), calls(call("a", "", ""), call("b", `"status_code":100`, ""), call("c", `"status_code":-5`, ""))), "clean", ""},
		sample{"last and not last", row(turns(said(1, "b", "a")), calls(call("a", `"status_code":400`, ""), call("b", `"error_category":"x","status_code":200`, ""), call("c", `"status_code":500`, ""))),
			failed("a", "400", "null", "false") + "\n" + failed("b", "200", `"x"`, "true"), ""},
		sample{"incomplete view", row(turns(said(1, "a", "lost")), calls(call("a", `"status_code":400`, ""))), failed("a", "400", "null", "false"), ""},
		sample{"last by position among referenced", row(turns(said(1, "a")), calls(call("a", `"response_status":"error"`, ""), call("b", "", ""))), failed("a", "null", "null", "true"), ""},
		sample{"overflow counts here", row(turns(said(1, "a")), calls(call("a", overflowed, ""))), failed("a", "400", `"context_length_exceeded"`, "true"), ""},
		sample{"status as bool", row(turns(said(1, "a")), calls(call("a", `"status_code":true,"error_category":" "`, ""))), failed("a", "1", `" "`, "true"), ""},
	))
	for line, want := range map[string]string{
		row(turns(said(1, "mc-1", "b")), calls(call("mc-1", `"status_code":429,"error_category":"rate_limited"`, ""), call("b", "", ""))): "call mc-1: status 429, rate_limited, not the last call",
		row(turns(said(1, "mc-1")), calls(call("mc-1", `"response_status":"error"`, ""))):                                              "call mc-1: no status, response error, the last call",
		row(turns(said(1, "mc-1", "lost")), calls(call("mc-1", `"status_code":500`, ""))):                                             "call mc-1: status 500",
	} {
		j := judgeRow(line)
		_, f := j.of(t, CallFailed, V07)
		if s := Sentence(f[0]); s != want {
			t.Error(s)
		}
	}
}

func TestRunawayGeneration(t *testing.T) {
	found := func(id, reason string) string {
		return `{"check":"model_call_runaway_generation","locator":{"call_id":"` + id + `"},"detail":{"finish_reason":"` + reason + `"}}`
	}
	stopped := func(class string) string {
		return `raised {"check":"check_execution_error","detail":{"reason":"check raised an unexpected exception","failed_check":"model_call_runaway_generation","error":"` + class + `"}}`
	}
	limited := func(id, response string) string { return callWith(id, `"finish_reason":"length"`, "", `"response":`+response) }
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
