package check

import (
	"testing"
)

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
