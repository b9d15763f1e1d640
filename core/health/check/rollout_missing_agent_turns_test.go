package check

import "testing"

func TestMissingAgentTurns(t *testing.T) {
	const found = `{"check":"rollout_missing_agent_turns","detail":{"reason":"no agent turn with model activity"}}`
	runSamples(t, MissingAgentTurns, []sample{
		{"unreadable", `{"a":`, "line_unreadable", ""},
		{"no trajectory", `{}`, "no_trajectory", ""},
		{"turns unavailable", row(gapList(gapOf("turns_unavailable"))), "turns_unavailable", ""},
		{"no turns member", row(calls()), found, ""},
		{"zero turns", row(turns()), found, ""},
		{"hollow turns", row(turns(turn(1, ""), turn(2, `"answer":{"name":"x"}`))), found, ""},
		{"message", row(turns(turn(1, ""), turn(2, `"answer":"x"`))), "clean", ""},
		{"reasoning", row(turns(turn(1, `"reasoning_content":"x"`))), "clean", ""},
		{"tool call", row(turns(turn(1, `"answer":[{"type":"tool_use"}]`))), "clean", ""},
		{"only a reference", row(turns(turn(1, refsTo("nowhere")))), "clean", ""},
		{"invocation references do not count", row(turns(turn(1, "")), invocations(`{"invocation_id":"i",`+refsTo("c")+`}`)), found, ""},
		{"stopped", row(turns(said(1), turn(2, `"answer":{"type":[]}`))),
			`raised {"check":"check_execution_error","detail":{"reason":"check raised an unexpected exception","failed_check":"rollout_missing_agent_turns","error":"TypeError"}}`, ""},
	})

	line := row(turns(turn(1, ""), turn(2, "")))
	j := judgeRow(line)
	_, f := j.of(t, MissingAgentTurns, V07)
	if f[0].Place.Pointer != "/ng_trajectory/turns" || f[0].at(line)[0] != '[' || Sentence(f[0]) != "none of 2 turns has a message, a tool call or a reference to a model call" {
		t.Errorf("%+v", f[0])
	}
	j = judgeRow(row(calls()))
	_, f = j.of(t, MissingAgentTurns, V07)
	if f[0].Place.Pointer != "/ng_trajectory" || Sentence(f[0]) != "the trajectory has no turns" {
		t.Errorf("%+v", f[0])
	}
	j = judgeRow(row(turns(said(1), turn(2, `"answer":{"type":[]}`))))
	_, f = j.of(t, MissingAgentTurns, V07)
	if f[0].Place.Pointer != "/ng_trajectory/turns/1" || f[0].Place.Turn != 1 || Sentence(f[0]) != "check rollout_missing_agent_turns stopped with TypeError" {
		t.Errorf("%+v", f[0])
	}
}
