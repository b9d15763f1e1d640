package check

import (
	"testing"
)

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
		row(turns(said(1, "mc-1")), calls(call("mc-1", `"response_status":"error"`, ""))):                                                 "call mc-1: no status, response error, the last call",
		row(turns(said(1, "mc-1", "lost")), calls(call("mc-1", `"status_code":500`, ""))):                                                 "call mc-1: status 500",
	} {
		j := judgeRow(line)
		_, f := j.of(t, CallFailed, V07)
		if s := Sentence(f[0]); s != want {
			t.Error(s)
		}
	}
}
