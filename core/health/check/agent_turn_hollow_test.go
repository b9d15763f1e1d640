package check

import "testing"

const hollow1 = `{"check":"agent_turn_hollow","locator":{"turn":1},"detail":{"reason":"agent turn has no message or tool calls"}}`

func TestTurnHollow(t *testing.T) {
	samples := []sample{
		{"no trajectory", `{}`, "no_trajectory", ""},
		{"null trajectory", `{"ng_trajectory":null}`, "no_trajectory", ""},
		{"projection failed", row(turns(turn(1, "")), gapList(gapOf("trajectory_projection_failed"))), "trajectory_projection_failed", ""},
		{"turns unavailable", row(turns(turn(1, "")), gapList(gapOf("turns_unavailable"))), "turns_unavailable", ""},
		{"other gaps", row(turns(turn(1, "")), gapList(gapOf("model_calls_unavailable"), gapOf("tool_timing_unavailable"))), hollow1, ""},
		{"no turns", row(turns()), "clean", ""},
		{"two of three", row(turns(turn(1, ""), said(2), turn(7, `"answer":[]`))), hollow1 + "\n" +
			`{"check":"agent_turn_hollow","locator":{"turn":7},"detail":{"reason":"agent turn has no message or tool calls"}}`, ""},
		{"large turn number", row(turns(turn(1, "")[:len(turn(1, ""))-1] + `,"turn_no":"99999999999999999999"}`)),
			"integer", ""},
		{"stopped", row(turns(said(1), turn(2, `"answer":[{"type":{}}]`), turn(3, ""))),
			`raised {"check":"check_execution_error","detail":{"reason":"check raised an unexpected exception","failed_check":"agent_turn_hollow","error":"TypeError"}}`, ""},
	}
	// A number that no report can hold is still a finding.
	big := samples[7]
	samples = append(samples[:7], samples[8])
	runSamples(t, TurnHollow, samples)
	j := judgeRow(big.row)
	if _, f := j.of(t, TurnHollow, V07); len(f) != 1 || f[0].Get("turn").String() != "99999999999999999999" {
		t.Errorf("%v", f)
	} else if _, err := f[0].AppendJSON(nil); err == nil {
		t.Error("written all the same")
	}
}

// TestTurnContent goes through what counts as a message or a tool call.
func TestTurnContent(t *testing.T) {
	for answer, full := range map[string]bool{
		`null`: false, `5`: false, `true`: false, `1.5`: false, `""`: false, `" "`: false, `"x"`: true, `"  x"`: true,
		`"\t\n\f\r \u000b"`: false, `"\u001c\u001d\u001e\u001f"`: false, `"\u0085\u00A0"`: false, `"\u3000\u2028\u2029\u202f\u205F\u1680"`: false,
		`"\u2000\u200a"`: false, `"\u200b"`: true, `"\ufeff"`: true, `"\b"`: true, `"\u0000"`: true, `"\u0008"`: true, `"\\"`: true, `"\""`: true, `"\/"`: true,
		`"\u180e"`: true, `"\ud83d\ude00"`: true, "\"\u00a0\u2003\u3000\"": false, "\"\u2003é\"": true, "\"\u007f\"": true,
		`[]`: false, `{}`: false, `[[["x"]]]`: true, `[1,null,[""]]`: false, `[" ",{"text":"x"}]`: true,
		`{"text":"x"}`: true, `{"content":"x"}`: true, `{"output_text":"x"}`: true, `{"answer":"x"}`: true, `{"refusal":"x"}`: true,
		`{"encrypted_content":"x"}`: true, `{"reasoning":"x"}`: true, `{"reasoning_content":"x"}`: true, `{"summary":[{"text":"x"}]}`: true,
		`{"name":"x"}`: false, `{"message":"x"}`: false, `{"Text":"x"}`: false, `{"te\u0078t":"x"}`: true,
		`{"text":"x","text":""}`: false, `{"text":"","text":"x"}`: true, `{"content":{"content":[{"text":"x"}]}}`: true,
		`{"type":"function_call"}`: true, `{"type":"tool_call"}`: true, `{"type":"tool_use"}`: true, `{"type":"mcp_call"}`: true,
		`{"type":"mcp_list_tools"}`: true, `{"type":"mcp_approval_request"}`: true, `{"type":"file_search_call"}`: true,
		`{"type":"web_search_call"}`: true, `{"type":"computer_call"}`: true, `{"type":"image_generation_call"}`: true,
		`{"type":"code_interpreter_call"}`: true, `{"type":"local_shell_call"}`: true, `{"type":"custom_tool_call"}`: true,
		`{"type":"function_call_output"}`: false, `{"type":"Function_call"}`: false, `{"type":"function\u005fcall"}`: true,
		`{"type":"message"}`: false, `{"type":null}`: false, `{"type":5}`: false,
		`{"tool_calls":"x"}`: true, `{"tool_calls":[]}`: false, `{"tool_calls":{}}`: false, `{"tool_calls":0}`: false, `{"tool_calls":[0]}`: true,
		`{"tool_calls":[1],"tool_calls":null}`: false, `{"type":{},"type":"x"}`: false,
		`{"inner":{"type":"tool_use"}}`: false, `[[{"type":"tool_use"}]]`: true, `[{"type":"tool_use"},{"type":[]}]`: true,
	} {
		j := judgeRow(row(turns(turn(1, `"answer":`+answer))))
		if o, _ := j.of(t, TurnHollow, V07); (o == Clean) != full || !full && o != Fired {
			t.Errorf("answer %s: %s", answer, o.Code())
		}
	}
	for reasoning, full := range map[string]bool{`"x"`: true, `" "`: false, `{"type":"tool_use"}`: false, `{"type":{}}`: false, `[{"summary":"x"}]`: true} {
		j := judgeRow(row(turns(turn(1, `"reasoning_content":`+reasoning))))
		if o, _ := j.of(t, TurnHollow, V07); (o == Clean) != full || !full && o != Fired {
			t.Errorf("reasoning %s: %s", reasoning, o.Code())
		}
	}
	for _, answer := range []string{`{"type":{}}`, `{"type":[]}`, `[{"text":"message"},{"type":{"a":1},"tool_calls":[1]}]`, `[[{"type":[]}],{"type":"tool_use"}]`} {
		j := judgeRow(row(turns(turn(1, `"answer":`+answer))))
		if o, _ := j.of(t, TurnHollow, V07); o != RaisedTypeError {
			t.Errorf("answer %s: %s", answer, o.Code())
		}
	}
}

func TestTurnHollowPlace(t *testing.T) {
	j := judgeRow(lead + row(turns(said(1), turn(2, `"answer":" "`), turn(3, ""))))
	_, f := j.of(t, TurnHollow, V07)
	if len(f) != 2 || f[0].at(j.line) != turn(2, `"answer":" "`) || f[0].Place.Pointer != "/ng_trajectory/turns/1" ||
		f[0].Place.Turn != 1 || f[0].Place.Call != -1 {
		t.Errorf("%+v", f)
	}
	if s := Sentence(f[1]); s != "2 of 3 turns have neither message nor tool call" {
		t.Error(s)
	}
	j = judgeRow(row(turns(said(1), turn(2, ""))))
	_, f = j.of(t, TurnHollow, V07)
	if s := Sentence(f[0]); s != "1 of 2 turns has neither message nor tool call" {
		t.Error(s)
	}
	j = judgeRow(row(turns(turn(1, ""))))
	_, f = j.of(t, TurnHollow, V07)
	if s := Sentence(f[0]); s != "the only turn has neither message nor tool call" {
		t.Error(s)
	}
}
