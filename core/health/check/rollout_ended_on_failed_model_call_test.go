package check

import (
	"strings"
	"testing"
)

func ended(call, model, status, category, observed, successful string) string {
	return `{"check":"rollout_ended_on_failed_model_call","locator":{"call_id":"` + call + `"},"detail":{"model_ref":` + model + `,"status":` + status +
		`,"error_category":` + category + `,"observed_calls":` + observed + `,"successful_calls":` + successful + `}}`
}

func at(start string) string { return `"started_at":` + start }

func TestEndedOnFailedCall(t *testing.T) {
	const p = `"responses_api_models/policy"`
	bad, good := `"status_code":500`, `"status_code":200`
	runSamples(t, EndedOnFailedCall, []sample{
		{"no calls", row(calls()), "no_calls", ""},
		{"gap", row(calls(call("a", bad, "")), gapList(gapOf("model_call_capture_unreadable"))), "model_call_capture_unreadable", ""},
		{"turns do not matter", row(calls(call("a", bad, "")), gapList(gapOf("turns_unavailable"), gapOf("turn_model_call_scope_incomplete"))), ended("a", "null", "500", "null", "1", "0"), ""},
		{"all well", row(calls(call("a", good, ""), call("b", "", ""))), "clean", ""},
		{"one failed, no times", row(calls(call("a", bad+","+policy, ""))), ended("a", p, "500", "null", "1", "0"), ""},
		{"all failed, no times: last by position", row(calls(call("a", bad, ""), call("b", `"status_code":429`, ""))), ended("b", "null", "429", "null", "2", "0"), ""},
		{"all failed: last by time, null is 0", row(calls(callWith("a", bad, "", at("5")), callWith("b", `"status_code":429`, "", at("-1")), call("c", bad, ""))),
			ended("a", "null", "500", "null", "3", "0"), ""},
		{"mixed, a time missing", row(calls(callWith("a", good, "", at("1")), callWith("b", bad, "", at("2")), call("c", good, ""))), "clean", ""},
		{"mixed, ended badly", row(calls(callWith("b", bad, "", at("2")), callWith("a", good, "", at("1")))), ended("b", "null", "500", "null", "2", "1"), ""},
		{"mixed, ended well", row(calls(callWith("b", bad, "", at("1")), callWith("a", good, "", at("2")))), "clean", ""},
		{"tie: position decides", row(calls(callWith("a", good, "", at("1")), callWith("b", bad, "", at("1")))), ended("b", "null", "500", "null", "2", "1"), ""},
		{"tie: position decides well", row(calls(callWith("b", bad, "", at("1")), callWith("a", good, "", at("1")))), "clean", ""},
		{"infinite start", row(calls(callWith("b", bad, "", at(`"inf"`)), callWith("a", good, "", at("1e300")))), ended("b", "null", "500", "null", "2", "1"), ""},
		{"chains apart, in order of appearance", row(calls(call("x", good, ""), callWith("j", bad+","+judge, "", at("1")), callWith("p", bad+","+policy, "", at("2")),
			callWith("q", good+","+judge, "", at("3")))), ended("p", p, "500", "null", "1", "0"), ""},
		{"two chains", row(calls(call("p", bad+","+policy, ""), call("x", bad, ""), call("p2", bad+","+policy, ""))),
			ended("p2", p, "500", "null", "2", "0") + "\n" + ended("x", "null", "500", "null", "1", "0"), ""},
		{"neither failed nor successful", row(calls(callWith("a", bad, "", at("1")), callWith("b", `"status_code":100`, "", at("2")), callWith("c", `"error_category":" "`, "", at("3")))),
			ended("c", "null", "null", `" "`, "3", "0"), ""},
		{"response status", row(calls(call("a", `"response_status":"cancelled"`, ""))), ended("a", "null", "null", "null", "1", "0"), ""},
		{"response status in capitals", row(calls(call("a", `"response_status":"Failed"`, ""))), "clean", ""},
		{"labels fall back", row(calls(call("", good+","+policy, ""), call("", `"status_code":400,"response_id":"resp"`, ""), call("", `"status_code":"0404",`+judge, ""))),
			ended("resp", "null", "400", "null", "1", "0") + "\n" + ended("2", `"responses_api_models/judge"`, "404", "null", "1", "0"), ""},
		{"empty category", row(calls(call("a", `"error_category":""`, ""))), "clean", ""},
		{"399", row(calls(call("a", `"status_code":399`, ""))), "clean", ""},
	})
}

func TestEndedOnFailedCallWords(t *testing.T) {
	line := row(turns(said(1, "b")), calls(callWith("a", `"status_code":200,`+policy, "", at("1")), callWith("b", `"status_code":500,"error_category":"upstream",`+policy, "", at("2"))))
	j := judgeRow(line)
	_, f := j.of(t, EndedOnFailedCall, V07)
	if s := Sentence(f[0]); s != "calls to policy ended on b: status 500, upstream; 1 of 2 calls successful" {
		t.Error(s)
	}
	if p := f[0].Place; p.Call != 1 || p.Turn != 0 || p.Pointer != "/ng_trajectory/model_calls/1" || !strings.HasPrefix(f[0].at(line), `{"model_call_id":"b"`) {
		t.Errorf("%+v", p)
	}
	j = judgeRow(row(calls(call("a", `"response_status":"failed"`, ""))))
	_, f = j.of(t, EndedOnFailedCall, V07)
	if s := Sentence(f[0]); s != "the only call to no named model, a, failed: no status, response failed" {
		t.Error(s)
	}
}
