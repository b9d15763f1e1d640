package check

import "testing"

// TestExecutionError holds that the check itself never judges; its findings stand with the stopped ones.
func TestExecutionError(t *testing.T) {
	runSamples(t, ExecutionError, []sample{
		{"readable", `{}`, "clean", ""},
		{"unreadable", `1`, "line_unreadable", ""},
		{"with a stopped check", row(turns(turn(1, `"answer":{"type":{}}`))), "clean", ""},
	})
	j := judgeRow(row(turns(turn(1, `"answer":{"type":{}}`)), gapList(gapOf("turns_unavailable"))))
	if j.Outcomes[V07][TurnHollow] != TurnsUnavailable || len(j.Findings()) != 0 {
		t.Error("turns that are not observed were looked at")
	}
}
