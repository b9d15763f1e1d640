package check

import (
	"strings"
	"testing"
)

func mismatch(call, rest string) string {
	return `{"check":"trajectory_capture_mismatch","locator":{"call_id":"` + call + `"},"detail":{` + rest + `}}`
}

func missing(call string) string { return mismatch(call, `"kind":"missing_captured_call"`) }

func byGap(call, kind, gap, invocation string) string {
	return mismatch(call, `"kind":"`+kind+`","observation_gap":"`+gap+`","invocation_id":`+invocation)
}

func gapAbout(code, detail string) string {
	return `{"code":"` + code + `","invocation_id":"i","detail":` + detail + `}`
}

func refs1(refs string) string { return turn(1, `"answer":"x","model_calls":[`+refs+`]`) }

func TestCaptureMismatch(t *testing.T) {
	const (
		unmatched = "model_call_reference_unmatched"
		ambiguous = "model_call_reference_ambiguous"
		conflict  = "model_call_reference_conflict"
		gone      = "missing_captured_call"
		twice     = "duplicated_captured_call"
		contested = "conflicting_call_ownership"
	)
	byResponse := func(id string) string { return `{` + policy + `,"response_id":"` + id + `"}` }
	answered := func(id, response, model string) string { return call(id, `"response_id":"`+response+`",`+model, "") }
	runSamples(t, CaptureMismatch, []sample{
		{"no trajectory", `{}`, "no_trajectory", ""},
		{"calls unavailable", row(turns(said(1, "a")), gapList(gapOf("model_calls_unavailable"))), "model_calls_unavailable", ""},
		{"nothing refers", row(turns(said(1)), calls(call("a", "", ""))), "no_references", ""},
		{"fits", row(turns(said(1, "a")), calls(call("a", "", ""))), "clean", ""},
		{"turn and invocation", row(turns(said(1, "a", "x:lost")), invocations(`{"invocation_id":"i",`+refsTo("b", "a", "x:lost")+`}`), calls(call("a", "", ""))),
			missing("lost") + "\n" + missing("b"), ""},
		{"label behind the colon", row(turns(said(1, "lost:7", "x:", "a:b:c"))), missing("7") + "\n" + missing("") + "\n" + missing("c"), ""},
		{"same label once", row(turns(said(1, "x:7", "y:7"))), missing("7"), ""},
		{"model must fit", row(turns(refs1(`{"model_call_id":"a",`+policy+`}`)), calls(call("a", judge, ""))), missing("a"), ""},
		{"call without model", row(turns(refs1(`{"model_call_id":"a",`+policy+`}`)), calls(call("a", "", ""))), missing("a"), ""},
		{"reference without model", row(turns(refs1(`{"model_call_id":"a"}`)), calls(call("a", judge, ""))), "clean", ""},
		{"response must fit", row(turns(refs1(`{"model_call_id":"a","response_id":"r"}`)), calls(answered("a", "s", policy))), missing("a"), ""},
		{"empty response fits the empty one only", row(turns(refs1(`{"model_call_id":"a","response_id":""}`)), calls(call("a", "", ""))), missing("a"), ""},
		{"empty response", row(turns(refs1(`{"model_call_id":"a","response_id":""}`)), calls(answered("a", "", policy))), "clean", ""},
		{"null response asks nothing", row(turns(refs1(`{"model_call_id":"a","response_id":null}`)), calls(answered("a", "s", policy))), "clean", ""},
		{"first of look-alikes decides: empty", row(turns(refs1(`{"model_call_id":"a","response_id":""},{"model_call_id":"a"}`)), calls(call("a", "", ""))), missing("a"), ""},
		{"first of look-alikes decides: null", row(turns(refs1(`{"model_call_id":"a"},{"model_call_id":"a","response_id":""}`)), calls(call("a", "", ""))), "clean", ""},
		{"by response", row(turns(refs1(byResponse("r"))), calls(answered("", "r", policy), answered("", "r", judge), answered("", "s", policy))), "clean", ""},
		{"by response, id set", row(turns(refs1(byResponse("r"))), calls(answered("a", "r", policy))), "clean", ""},
		{"by response, nothing", row(turns(refs1(byResponse("p:r"))), calls(call("", `"response_id":"p:r"`, ""), answered("", "p:r", judge))), missing("r"), ""},
		{"by response, several", row(turns(refs1(byResponse("p:r"))), calls(answered("a", "p:r", policy), answered("", "p:r", policy), answered("b", "p:r", policy))),
			mismatch("r", `"kind":"`+twice+`","count":3`), ""},
		{"missing before duplicated", row(turns(refs1(byResponse("r")+`,{"model_call_id":"lost"}`)), calls(answered("", "r", policy), answered("", "r", policy))),
			missing("lost") + "\n" + mismatch("r", `"kind":"`+twice+`","count":2`), ""},
		{"gaps", row(gapList(gapAbout(unmatched, `"call:c1"`), gapAbout(ambiguous, `"c1"`), gapAbout(conflict, `"a:b:c1"`))),
			byGap("c1", gone, unmatched, `"i"`) + "\n" + byGap("c1", twice, ambiguous, `"i"`) + "\n" + byGap("c1", contested, conflict, `"i"`), ""},
		{"gaps without detail", row(gapList(gapOf(conflict), gapAbout(conflict, `""`), gapAbout(conflict, `"x:"`))),
			byGap("unknown", contested, conflict, "null") + "\n" + byGap("unknown", contested, conflict, `"i"`) + "\n" + byGap("", contested, conflict, `"i"`), ""},
		{"repeated gaps stay", row(gapList(gapAbout(unmatched, `"c"`), gapAbout(unmatched, `"c"`))), byGap("c", gone, unmatched, `"i"`) + "\n" + byGap("c", gone, unmatched, `"i"`), ""},
		{"gap about what was found", row(turns(said(1, "x:c")), gapList(gapAbout(unmatched, `"c"`), gapAbout(ambiguous, `"c"`), gapAbout(conflict, `"c"`))),
			missing("c") + "\n" + byGap("c", twice, ambiguous, `"i"`) + "\n" + byGap("c", contested, conflict, `"i"`), ""},
		{"gap alone with calls", row(turns(said(1)), calls(call("c", "", "")), gapList(gapAbout(conflict, `"c"`))), byGap("c", contested, conflict, `"i"`), ""},
		{"other gaps", row(gapList(gapAbout("model_call_ownership_unavailable", `"c"`))), "no_references", ""},
		{"projection failed", row(gapList(gapAbout(conflict, `"c"`), gapOf("trajectory_projection_failed"))), "trajectory_projection_failed", ""},
	})
}

func TestCaptureMismatchPlace(t *testing.T) {
	line := lead + row(turns(said(1, "a"), said(2, "b", "x:lost")),
		invocations(`{"invocation_id":"h"}`, `{"invocation_id":"i",`+refsTo("b", "gone", `later`)+`}`),
		calls(call("a", "", ""), call("b", "", "")),
		gapList(gapOf("tool_timing_unavailable"), gapAbout("model_call_reference_conflict", `"c"`)))
	j := judgeRow(line)
	_, f := j.of(t, CaptureMismatch, V07)
	want := []struct {
		at, pointer, words string
		turn               int
	}{
		{`{"model_call_id":"x:lost"}`, "/ng_trajectory/turns/1/model_calls/1", "no captured call belongs to the reference lost", 1},
		{`{"model_call_id":"gone"}`, "/ng_trajectory/invocations/1/model_calls/1", "no captured call belongs to the reference gone", -1},
		{`{"model_call_id":"later"}`, "/ng_trajectory/invocations/1/model_calls/2", "no captured call belongs to the reference later", -1},
		{gapAbout("model_call_reference_conflict", `"c"`), "/ng_trajectory/gaps/1",
			"more than one owner claims call c, by gap model_call_reference_conflict of invocation i", -1},
	}
	if len(f) != len(want) {
		t.Fatalf("%+v", f)
	}
	for i, w := range want {
		if p := f[i].Place; f[i].at(line) != w.at || p.Pointer != w.pointer || p.Turn != w.turn || Sentence(f[i]) != w.words {
			t.Errorf("%s %+v %s", f[i].at(line), p, Sentence(f[i]))
		}
	}
	j = judgeRow(row(turns(refs1(`{`+policy+`,"response_id":"r"}`)), calls(call("", `"response_id":"r",`+policy, ""), call("", `"response_id":"r",`+policy, ""))))
	_, f = j.of(t, CaptureMismatch, V07)
	if s := Sentence(f[0]); s != "2 captured calls belong to the reference r" {
		t.Error(s)
	}
	j = judgeRow(row(gapList(gapOf("model_call_reference_ambiguous"))))
	_, f = j.of(t, CaptureMismatch, V07)
	if s := Sentence(f[0]); !strings.HasPrefix(s, "several captured calls belong to the reference unknown, by gap ") {
		t.Error(s)
	}
}
