package check

import (
	"testing"
)

func TestTokenCountMismatch(t *testing.T) {
	found := func(a, b, c, d string) string {
		return `{"check":"rollout_token_count_mismatch","detail":{"transcript_prompt":` + a + `,"transcript_completion":` + b +
			`,"capture_prompt":` + c + `,"capture_completion":` + d + `}}`
	}
	const usage = `{"input_tokens":3,"output_tokens":2}`
	own := invocations(`{"invocation_id":"i",` + refsTo("b") + `}`)
	lost := invocations(`{"invocation_id":"i",` + refsTo("nowhere") + `}`)
	a, b := call("a", "", counted), call("b", "", counted)
	runSamples(t, TokenCountMismatch, []sample{
		{"no trajectory", `{"response":{"usage":{"input_tokens":3,"output_tokens":2}}}`, "no_trajectory", ""},
		{"equal", usageRow(usage, turns(said(1, "a")), calls(a)), "clean", ""},
		{"unreferenced calls do not count", usageRow(usage, turns(said(1, "a")), calls(a, b)), "clean", ""},
		{"prompt differs", usageRow(`{"input_tokens":4,"output_tokens":2}`, turns(said(1, "a")), calls(a)), found("4", "2", "3", "2"), ""},
		{"completion differs", usageRow(`{"input_tokens":3,"output_tokens":0}`, turns(said(1, "a")), calls(a)), found("3", "0", "3", "2"), ""},
		{"sum", usageRow(`{"prompt_tokens":6,"completion_tokens":4}`, turns(said(1, "a"), said(2, "b", "a")), calls(a, b)), "clean", ""},
		{"scope gap", usageRow(usage, turns(said(1, "a")), calls(a), gapList(gapOf("turn_model_call_scope_incomplete"))), "turn_model_call_scope_incomplete", ""},
		{"call gap", usageRow(usage, turns(said(1, "a")), calls(a), gapList(gapOf("model_call_capture_incomplete"))), "model_call_capture_incomplete", ""},
		{"turns gap does not matter", usageRow(usage, turns(said(1, "a")), calls(a), gapList(gapOf("turns_unavailable"))), "clean", ""},
		{"no turn refers", usageRow(usage, turns(said(1)), calls(a)), "view_without_references", ""},
		{"reference to nothing", usageRow(usage, turns(said(1, "a", "x")), calls(a)), "view_missing_call", ""},
		{"reference to several", usageRow(usage, turns(refs1(`{`+policy+`,"response_id":"r"}`)), calls(call("", `"response_id":"r",`+policy, counted), call("", `"response_id":"r",`+policy, counted))), "view_duplicated_call", ""},
		{"no usage", row(turns(said(1, "a")), calls(a)), "no_usage", ""},
		{"half a usage", usageRow(`{"input_tokens":3}`, turns(said(1, "a")), calls(a)), "no_usage", ""},
		{"usage null hides the other name", usageRow(`{"input_tokens":null,"prompt_tokens":3,"output_tokens":2}`, turns(said(1, "a")), calls(a)), "no_usage", ""},
		{"usage of odd kinds", usageRow(`{"input_tokens":3.0,"output_tokens":"2"}`, turns(said(1, "a")), calls(a)), "no_usage", ""},
		{"negative usage", usageRow(`{"input_tokens":-3,"output_tokens":2}`, turns(said(1, "a")), calls(a)), "no_usage", ""},
		{"counts missing", usageRow(usage, turns(said(1, "a")), calls(call("a", "", `"prompt_tokens":3`))), "token_counts_missing", ""},
		{"counts of others missing", usageRow(usage, turns(said(1, "a")), calls(a, call("b", "", ""))), "clean", ""},
		{"counts of an overflow missing", usageRow(usage, turns(said(1, "a")), calls(call("a", overflowed, ""))), "token_counts_missing", ""},
		{"large", usageRow(`{"input_tokens":18446744073709551615,"output_tokens":2}`, turns(said(1, "a")), calls(call("a", "", `"prompt_tokens":18446744073709551615,"completion_tokens":3`))),
			found("18446744073709551615", "2", "18446744073709551615", "3"), ""},

		{"owned: invocations count too", usageRow(usage, turns(said(1, "a")), own, calls(a, b)), "clean", found("3", "2", "6", "4")},
		{"owned: equal where turns differ", usageRow(`{"input_tokens":6,"output_tokens":4}`, turns(said(1, "a")), own, calls(a, b)), found("6", "4", "3", "2"), "clean"},
		{"owned: only invocations refer", usageRow(usage, turns(said(1)), own, calls(a, b)), "view_without_references", "clean"},
		{"owned: an invocation's reference leads nowhere", usageRow(usage, turns(said(1, "a")), lost, calls(a, b)), "clean", "view_missing_call"},
		{"owned: counts missing", usageRow(usage, turns(said(1, "a")), own, calls(a, call("b", "", ""))), "clean", "token_counts_missing"},
		{"owned: scope gap", usageRow(usage, turns(said(1, "a")), own, calls(a, b), gapList(gapOf("turn_model_call_scope_incomplete"))), "turn_model_call_scope_incomplete", ""},
		{"owned: same calls", usageRow(`{"input_tokens":4,"output_tokens":2}`, turns(said(1, "b")), own, calls(b)), found("4", "2", "3", "2"), ""},
	})

	j := judgeRow(lead + usageRow(`{"input_tokens":4,"output_tokens":2}`, turns(said(1, "a")), calls(a)))
	_, f := j.of(t, TokenCountMismatch, V07)
	if f[0].at(j.line) != `{"input_tokens":4,"output_tokens":2}` || f[0].Place.Pointer != "/response/usage" ||
		Sentence(f[0]) != "the row counts 4 prompt and 2 completion tokens, its calls 3 and 2" {
		t.Errorf("%+v %s", f[0].Place, Sentence(f[0]))
	}

	// A sum beyond what reports can write is a finding that cannot be written.
	huge := call("a", "", `"prompt_tokens":18446744073709551615,"completion_tokens":3`)
	j = judgeRow(usageRow(usage, turns(said(1, "a", "b")), calls(huge, b)))
	_, f = j.of(t, TokenCountMismatch, V07)
	if n := f[0].Get("capture_prompt"); n.String() != "18446744073709551618" {
		t.Error(n)
	}
	if _, err := f[0].AppendJSON(nil); err == nil {
		t.Error("written all the same")
	}
}
