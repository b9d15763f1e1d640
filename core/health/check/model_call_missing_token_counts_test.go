package check

import (
	"testing"
)

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
