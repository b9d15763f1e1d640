package trajectory

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/jsonscan"
)

// The frames that tests put a part of a trajectory into.
const (
	inRecord     = `{"task_id":"t","rollout_id":"r",%s}`
	inItems      = `{"task_id":"t","rollout_id":"r","invocations":[{"invocation_id":"i","conversation":[%s]}]}`
	inInvocation = `{"task_id":"t","rollout_id":"r","invocations":[%s]}`
	inTurns      = `{"task_id":"t","rollout_id":"r","turns":[%s]}`
	inCalls      = `{"task_id":"t","rollout_id":"r","model_calls":[%s]}`
	inTools      = `{"task_id":"t","rollout_id":"r","tool_calls":[%s]}`
	inGaps       = `{"task_id":"t","rollout_id":"r","gaps":[%s]}`

	plainTurn = `{"invocation_id":"i","task_id":"t","rollout_id":"r","turn_no":1,"timestamp":1,"step_count":0`
	plainTool = `{"invocation_id":"i","tool_call_id":"c"`
)

// scan gives the value of a text; its scanner is its own.
func scan(t testing.TB, text string) jsonscan.Value {
	t.Helper()
	s := new(jsonscan.Scanner)
	v, err := s.Scan([]byte(text))
	if err != nil {
		t.Fatalf("%.200s: %v", text, err)
	}
	return v
}

// classOf reads a text with a fresh reader and gives the class of its error, "" for a record.
func classOf(t testing.TB, text string) string {
	t.Helper()
	_, err := new(Reader).Read(scan(t, text))
	if err == nil {
		return ""
	}
	var invalid *Invalid
	if !errors.As(err, &invalid) || invalid.Class == "" {
		t.Fatalf("%.200s: error %v", text, err)
	}
	return invalid.Class
}

func expect(t *testing.T, want, text string) {
	t.Helper()
	if got := classOf(t, text); got != want {
		t.Errorf("%.400s\ngives %q, want %q", text, got, want)
	}
}

// nested is a value with so many levels.
func nested(levels int) string {
	return strings.Repeat("[", levels-1) + "0" + strings.Repeat("]", levels-1)
}

// TestRecord reads a record with a bit of everything and looks at every field.
func TestRecord(t *testing.T) {
	const text = ` {
	"schema_version": "1.0", "task_id": "t\u00e4sk", "rollout_id": "r",
	"invocations": [
		{"kind": "agent_invocation", "invocation_id": "main", "status": "completed", "duration_ms": "1_0.5", "model_calls": [{"model_call_id": "c1"}],
			"conversation": [{"role": "user", "content": "hi"}]},
		{"invocation_id": "s\u0075b", "parent_invocation_id": "main", "spawned_by_tool_call_id": "x", "error_type": "Boom"}],
	"turns": [
		{"invocation_id": "main", "task_id": "täsk", "rollout_id": "r", "turn_no": "07", "timestamp": 1.5, "question": {"q": 1}, "answer": null,
			"reasoning_content": [2], "resolved": "Yes", "step_count": true,
			"model_calls": [{"model_call_id": "c1"}, {"model_ref": {"type": "responses_api_models", "name": "m", "more": 1}, "response_id": "p"}]},
		{"invocation_id": "main", "task_id": "täsk", "rollout_id": "r", "turn_no": "99999999999999999999.0", "timestamp": "nan", "step_count": 0}],
	"model_calls": [
		{"model_call_id": "c1", "started_at": 1, "completed_at": "2.5", "duration_ms": 3, "request": 4, "response": "five",
			"response_metadata": {"response_id": "p", "model_ref": {"type": "responses_api_models", "name": "m"}, "model": "M", "dialect": "chat", "status_code": true,
				"response_status": "ok", "finish_reason": "stop", "upstream_attempted": 1, "response_source": "local", "upstream_status_code": "0404",
				"local_response_reason": "why", "error_category": "", "latency_ttft_ms": "inf"},
			"token_stats": {"prompt_tokens": 1, "completion_tokens": "18446744073709551616", "reasoning_tokens": null, "total_tokens": 3.0, "cached_tokens": 18446744073709551615}},
		{}],
	"tool_calls": [
		{"kind": "tool_call", "invocation_id": "main", "tool_call_id": "x", "sandbox_id": "s", "tool_name": "n", "started_at": 1, "completed_at": 2, "duration_ms": 0,
			"timing_source": "artifact", "status": "timeout", "error_type": "e", "output": []},
		{"invocation_id": "", "tool_call_id": ""}],
	"gaps": [{"code": "a"}, {"code": "b\n", "invocation_id": "main", "detail": "d"}]} `
	var r Reader
	rec, err := r.Read(scan(t, text))
	if err != nil {
		t.Fatal(err)
	}
	str := func(x Text) string {
		if !x.Set {
			if x.Bytes != nil {
				t.Error("a null text has bytes")
			}
			return "-"
		}
		return "'" + x.String() + "'"
	}
	num := func(x Count) string {
		if !x.Set {
			return "-"
		}
		return x.Int.String()
	}
	flt := func(x Real) string {
		if !x.Set {
			return "-"
		}
		return fmt.Sprint(x.Value)
	}
	refs := func(refs []Ref) string {
		s := ""
		for _, x := range refs {
			s += " " + str(x.ModelCallID) + str(x.Model.Type) + str(x.Model.Name) + fmt.Sprint(x.Model.Set) + str(x.ResponseID)
		}
		return s
	}
	raw := func(v jsonscan.Value) string { return string(v.Raw()) }
	var b strings.Builder
	fmt.Fprintln(&b, str(rec.TaskID), str(rec.RolloutID))
	for _, x := range rec.Invocations {
		fmt.Fprintln(&b, "inv", str(x.ID), str(x.Parent), str(x.SpawnedBy), str(x.Status), flt(x.DurationMS), str(x.ErrorType), refs(x.Refs), raw(x.Conversation), raw(x.At)[:5])
	}
	for _, x := range rec.Turns {
		fmt.Fprintln(&b, "turn", str(x.InvocationID), x.No, x.Timestamp, raw(x.Question), raw(x.Answer), raw(x.Reasoning), x.Resolved, x.StepCount, refs(x.Refs), raw(x.At)[:9])
	}
	for _, x := range rec.Calls {
		fmt.Fprintln(&b, "call", str(x.ID), flt(x.StartedAt), flt(x.CompletedAt), flt(x.DurationMS), raw(x.Request), raw(x.Response), str(x.ResponseID), str(x.Model), str(x.Dialect), str(x.ResponseStatus), str(x.FinishReason),
			str(x.ModelRef.Name), x.ModelRef.Set, num(x.StatusCode), num(x.UpstreamStatusCode), x.UpstreamAttempted, str(x.ResponseSource), str(x.LocalResponseReason), str(x.ErrorCategory), flt(x.TTFTMS),
			num(x.PromptTokens), num(x.CompletionTokens), num(x.ReasoningTokens), num(x.TotalTokens), num(x.CachedTokens), raw(x.At)[:2])
	}
	for _, x := range rec.Tools {
		fmt.Fprintln(&b, "tool", str(x.InvocationID), str(x.ID), str(x.SandboxID), str(x.Name), str(x.ErrorType), flt(x.StartedAt), flt(x.CompletedAt), flt(x.DurationMS), str(x.TimingSource), str(x.Status), raw(x.Output), raw(x.At)[:3])
	}
	for _, x := range rec.Gaps {
		fmt.Fprintf(&b, "gap %q %s %s\n", x.Code.Bytes, str(x.InvocationID), str(x.Detail))
	}
	fmt.Fprint(&b, rec.Has("a"), rec.Has("b"), rec.Has("b\n"))
	const want = `'täsk' 'r'
inv 'main' - - 'completed' 10.5 -  'c1'--false- [{"role": "user", "content": "hi"}] {"kin
inv 'sub' 'main' 'x' 'unknown' - 'Boom'   {"inv
turn 'main' 7 1.5 {"q": 1} null [2] {true true} 1  'c1'--false- -'responses_api_models''m'true'p' {"invocat
turn 'main' 99999999999999999999 NaN    {false false} 0  {"invocat
call 'c1' 1 2.5 3 4 "five" 'p' 'M' 'chat' 'ok' 'stop' 'm' true 1 404 {true true} 'local' 'why' '' +Inf 1 18446744073709551616 - 3 18446744073709551615 {"
call - - - -   - - - - - - false - - {false false} - - - - - - - - - {}
tool 'main' 'x' 's' 'n' 'e' 1 2 0 'artifact' 'timeout' [] {"k
tool '' '' - - - - - - - 'unknown'  {"i
gap "a" - -
gap "b\n" 'main' 'd'
true false true`
	if b.String() != want {
		t.Errorf("the record is\n%s\nwant\n%s", b.String(), want)
	}

	// A smaller one behind it must not see anything of it.
	rec, err = r.Read(scan(t, `{"task_id":"","rollout_id":"","model_calls":[{}]}`))
	if err != nil || len(rec.Invocations)+len(rec.Turns)+len(rec.Tools)+len(rec.Gaps) != 0 || len(rec.Calls) != 1 ||
		rec.Calls[0].StatusCode.Set || rec.Calls[0].ModelRef.Set || rec.Calls[0].Model.Set || !rec.TaskID.Set || !rec.TaskID.Empty() {
		t.Errorf("the reader kept something: %+v, %v", rec, err)
	}
}

// TestWhole holds values of the whole trajectory and its rules over several objects.
func TestWhole(t *testing.T) {
	const V = ClassValidation
	turn := func(more string) string { return plainTurn + more + "}" }
	tests := []struct{ want, text string }{
		{V, `false`}, {V, `true`}, {V, `0`}, {V, `5`}, {V, `""`}, {V, `"x"`}, {V, `[]`}, {V, `[{}]`}, {V, `{}`}, {V, `null`},
		{"", `{"task_id":"","rollout_id":""}`},
		{V, `{"task_id":"t"}`}, {V, `{"rollout_id":"t"}`}, {V, `{"task_id":1,"rollout_id":"r"}`}, {V, `{"task_id":null,"rollout_id":"r"}`},

		// Keys may be escaped and repeated; the last value stands.
		{"", `{"t\u0061sk_id":"t","rollout_id":"r"}`},
		{"", `{"task_id":1,"rollout_id":"r","task_id":"t"}`},
		{V, `{"task_id":"t","rollout_id":"r","t\u0061sk_id":1}`},
		{"", `{"invocations":5,"task_id":"t","rollout_id":"r","invocations":[]}`},
		{V, `{"task_id":"t","rollout_id":"r","x":1}`},
		{V, `{"task_id":"t","rollout_id":"r","Task_id":"t"}`},
		{V, `{"task_id":"t","rollout_id":"r","":null}`},
		{V, `{"task_id":"t","rollout_id":"r","x":1,"x":2}`},

		// Ids of invocations and calls, and turns, are unique.
		{"", fmt.Sprintf(inInvocation, `{"invocation_id":"a"},{"invocation_id":"b"},{"invocation_id":""}`)},
		{V, fmt.Sprintf(inInvocation, `{"invocation_id":"a"},{"invocation_id":"b"},{"invocation_id":"\u0061"}`)},
		{V, fmt.Sprintf(inInvocation, `{"invocation_id":""},{"invocation_id":""}`)},
		{"", fmt.Sprintf(inInvocation, `{"invocation_id":"a","parent_invocation_id":"a"}`)},
		{"", fmt.Sprintf(inCalls, `{"model_call_id":""},{"model_call_id":""},{},{"model_call_id":null},{"model_call_id":"a"}`)},
		{V, fmt.Sprintf(inCalls, `{"model_call_id":"a"},{},{"model_call_id":"a"}`)},
		{"", fmt.Sprintf(inTurns, turn("")+","+turn(`,"turn_no":2`)+","+turn(`,"invocation_id":"j"`))},
		{V, fmt.Sprintf(inTurns, turn("")+","+turn(`,"turn_no":"1.0"`))},
		{V, fmt.Sprintf(inTurns, turn(`,"turn_no":"99999999999999999999"`)+","+turn(`,"turn_no":"099999999999999999999"`))},
		{"", fmt.Sprintf(inTurns, turn(`,"turn_no":"99999999999999999999"`)+","+turn(`,"turn_no":"99999999999999999998"`))},

		// Every turn repeats the ids of the trajectory.
		{"", fmt.Sprintf(inTurns, turn(`,"task_id":"\u0074"`))},
		{V, fmt.Sprintf(inTurns, turn(`,"task_id":"T"`))},
		{V, fmt.Sprintf(inTurns, turn(`,"rollout_id":""`))},
		{"", `{"turns":[` + turn("") + `],"rollout_id":"r","task_id":"\u0074"}`},
		{"", fmt.Sprintf(inTurns, turn(`,"invocation_id":"not listed"`))},

		// A reference names a call, or a response of a model server.
		{"", fmt.Sprintf(inTurns, turn(`,"model_calls":[{"model_call_id":"a"}]`))},
		{"", fmt.Sprintf(inTurns, turn(`,"model_calls":[{"model_call_id":"","model_ref":{"type":"responses_api_models","name":""},"response_id":"p"}]`))},
		{V, fmt.Sprintf(inTurns, turn(`,"model_calls":[{"model_call_id":"","response_id":"p"}]`))},
		{V, fmt.Sprintf(inTurns, turn(`,"model_calls":[{"model_ref":{"type":"responses_api_models","name":"m"},"response_id":""}]`))},
		{V, fmt.Sprintf(inTurns, turn(`,"model_calls":[{"model_ref":null,"response_id":"p"}]`))},
		{V, fmt.Sprintf(inTurns, turn(`,"model_calls":[{}]`))},
		{V, fmt.Sprintf(inInvocation, `{"invocation_id":"a","model_calls":[{}]}`)},

		// A tool call does not end before it starts; nothing is before or behind NaN.
		{"", fmt.Sprintf(inTools, plainTool+`,"started_at":1,"completed_at":1}`)},
		{V, fmt.Sprintf(inTools, plainTool+`,"started_at":1,"completed_at":0.5}`)},
		{V, fmt.Sprintf(inTools, plainTool+`,"started_at":"inf","completed_at":"1e300"}`)},
		{"", fmt.Sprintf(inTools, plainTool+`,"started_at":1,"completed_at":"nan"}`)},
		{"", fmt.Sprintf(inTools, plainTool+`,"started_at":"nan","completed_at":0}`)},
		{"", fmt.Sprintf(inTools, plainTool+`,"started_at":1,"completed_at":null}`)},
		{"", fmt.Sprintf(inTools, plainTool+`,"completed_at":-1}`)},
		{"", fmt.Sprintf(inCalls, `{"started_at":2,"completed_at":1}`)},

		// Bounds are tested behind the conversion, and NaN keeps none.
		{"", fmt.Sprintf(inCalls, `{"duration_ms":"-0.0","started_at":"nan","completed_at":"-inf"}`)},
		{V, fmt.Sprintf(inCalls, `{"duration_ms":"nan"}`)},
		{V, fmt.Sprintf(inCalls, `{"duration_ms":-0.001}`)},
		{"", fmt.Sprintf(inCalls, `{"response_metadata":{"status_code":-5,"upstream_status_code":"-99999999999999999999"}}`)},
		{V, fmt.Sprintf(inCalls, `{"response_metadata":{"latency_ttft_ms":-1}}`)},
		{"", fmt.Sprintf(inCalls, `{"token_stats":{"prompt_tokens":"3","completion_tokens":3.0,"total_tokens":true,"cached_tokens":"-0"}}`)},
		{V, fmt.Sprintf(inCalls, `{"token_stats":{"prompt_tokens":-1}}`)},
		{V, fmt.Sprintf(inCalls, `{"token_stats":{"prompt_tokens":"-99999999999999999999"}}`)},
		{V, fmt.Sprintf(inCalls, `{"token_stats":{"prompt_tokens":2.5}}`)},
		{V, fmt.Sprintf(inTurns, turn(`,"turn_no":0`))},
		{V, fmt.Sprintf(inTurns, turn(`,"turn_no":99999999999999999999`))},
		{V, fmt.Sprintf(inTurns, turn(`,"turn_no":false`))},
		{"", fmt.Sprintf(inTurns, turn(`,"turn_no":true`))},
		{V, fmt.Sprintf(inTurns, turn(`,"step_count":-1`))},

		// A model reference ignores what it does not know, nothing else does.
		{"", fmt.Sprintf(inCalls, `{"response_metadata":{"model_ref":{"type":"responses_api_models","name":"","x":{}}}}`)},
		{V, fmt.Sprintf(inCalls, `{"response_metadata":{"model_ref":{"type":"other","name":"m"}}}`)},
		{V, fmt.Sprintf(inCalls, `{"response_metadata":{"x":null}}`)},
		{V, fmt.Sprintf(inCalls, `{"token_stats":{"x":null}}`)},
	}
	for _, tt := range tests {
		expect(t, tt.want, tt.text)
	}
}

// TestPlace tells where a violation is and what is said about it.
func TestPlace(t *testing.T) {
	tests := []struct{ text, at, want string }{ // at is the text that begins at the offset
		{`7`, `7`, "ValidationError: the trajectory: trajectory is not an object"},
		{`{"task_id":"t"}`, `{"task`, "ValidationError: the trajectory: rollout_id is missing"},
		{`{"task_id":"t","rollout_id":"r","a/b~c":[1]}`, `[1]`, "ValidationError: /a~1b~0c: unknown key of trajectory"},
		{fmt.Sprintf(inTurns, plainTurn+`},`+plainTurn+`,"turn_no":[1]}`), `[1]`, "ValidationError: /turns/1/turn_no: is not a whole number"},
		{fmt.Sprintf(inTurns, plainTurn+`,"answer":`+nested(256)+`}`), `[[`, "ValueError: /turns/0/answer: nested too deep to be written"},
		{fmt.Sprintf(inItems, `{"role":"user","content":"x"},{"r\u006fle":[ ],"content":[]}`), `[ ]`, "TypeError: /invocations/0/conversation/1/role: role is an array or object and cannot be looked up"},
		{fmt.Sprintf(inRecord, `"turns":3,"gaps":3`), `3,`, "ValidationError: /turns: is not an array"},
		{fmt.Sprintf(inCalls, `{"response_metadata":{"response_source":"Local"}}`), `"Local"`, "ValidationError: /model_calls/0/response_metadata/response_source: is not one of upstream, local"},
		{fmt.Sprintf(inGaps, `{"code":"c"},{"detail":"d"}`), `{"detail`, "ValidationError: /gaps/1: code is missing"},
	}
	for _, tt := range tests {
		text := `{"before":[1,2],"ng_trajectory":` + tt.text + `,"behind":{}}`
		_, err := new(Reader).Read(scan(t, text).Get("ng_trajectory"))
		if err == nil || err.Error() != tt.want || !strings.HasPrefix(text[err.(*Invalid).Offset:], tt.at) {
			t.Errorf("%.200s: %v, want %s", tt.text, err, tt.want)
		}
	}
	// A value that is not there at all is refused without a place.
	if _, err := new(Reader).Read(jsonscan.Value{}); err == nil {
		t.Error("an absent value is a record")
	}
}
