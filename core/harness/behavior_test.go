package harness

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/health"
	"github.com/rollscope/rollscope/core/health/check"
	"github.com/rollscope/rollscope/core/rollout"
	"github.com/rollscope/rollscope/core/value"
)

func parsedValue(t testing.TB, text string) value.Value {
	t.Helper()
	v, err := value.Parse([]byte(text), value.Leniency{Surrogates: true})
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return v
}

const (
	askedOnce = `{"input": [{"role": "user", "content": "go"}]}`
	answered  = `{"id": "r1", "status": "completed", "usage": {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5, "output_tokens_details": {"reasoning_tokens": 1}}}`
	askedChat = `{"messages": [{"role": "user", "content": "go"}]}`
	saidChat  = `{"id": "x", "choices": [{"finish_reason": "stop"}, {"finish_reason": "other"}], "usage": {"prompt_tokens": 10, "prompt_tokens_details": {"cached_tokens": 4}}}`

	// A scenario with one error, a chat call, a tool and a verification, and the row that belongs to it.
	sawAll = `{"seeded": 1, "finished": true, "violations": [],
"attempts": [
 {"request": ` + askedOnce + `, "response": null, "status_code": 500},
 {"request": ` + askedOnce + `, "response": ` + answered + `, "status_code": 200},
 {"request": ` + askedChat + `, "response": ` + saidChat + `, "status_code": 200}],
"tool_calls": [{"id": "t1", "name": "box__run", "arguments": {"n": 1.0}, "exit_code": 0, "outputs": ["4"], "executed": true, "result_seen": true}],
"verifications": [{"reward": 1, "answer_seen": true, "evaluation_completed": true}]}`
	savedAll = `{"reward": 1.0, "evaluation_completed": true, "ng_trajectory": {
"model_calls": [
 {"request": ` + askedChat + `, "response": ` + saidChat + `, "response_metadata": {"status_code": 200, "response_id": "x", "finish_reason": "stop"}, "token_stats": {"prompt_tokens": 10, "cached_tokens": 4}},
 {"request": ` + askedOnce + `, "response": {}, "response_metadata": {"status_code": 500}},
 {"request": ` + askedOnce + `, "response": ` + answered + `, "response_metadata": {"status_code": 200, "response_id": "r1", "response_status": "completed"},
  "token_stats": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5, "reasoning_tokens": 1, "cached_tokens": null}}],
"tool_calls": [{"tool_call_id": "t1", "invocation_id": "i", "tool_name": "run", "status": "completed", "output": "4"}],
"invocations": [{"invocation_id": "i", "conversation": [{"type": "function_call", "call_id": "t1", "name": "run", "namespace": "box", "arguments": "{\"n\": 1}"}]},
 {"invocation_id": "j", "conversation": [{"type": "function_call", "call_id": "t1"}]}]}}`

	sawTimeout = `{"seeded": 1, "finished": true, "violations": [], "tool_calls": [],
"attempts": [
 {"request": ` + askedOnce + `, "response": {"error": "late"}, "status_code": 504, "timeout": {"expired": true, "scope": "model_call", "model_server": "policy_model", "limit_seconds": 2}},
 {"request": ` + askedOnce + `, "response": ` + answered + `, "status_code": 200}],
"verifications": [{"reward": 1, "answer_seen": true, "evaluation_completed": true}]}`
	savedTimeout = `{"reward": 1, "evaluation_completed": true, "ng_trajectory": {"model_calls": [
 {"request": ` + askedOnce + `, "response": {"error": "late"}, "response_metadata": {"status_code": 504, "error_category": "timeout", "response_id": null}},
 {"request": ` + askedOnce + `, "response": ` + answered + `, "response_metadata": {"status_code": 200, "response_id": "r1", "response_status": "completed"},
  "token_stats": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5, "reasoning_tokens": 1}}]}}`
)

var (
	withAll     = Scenario{HTTPErrors: []int64{500}, ToolSteps: 1, ExpectedReward: value.Int(1)}
	withTimeLim = Scenario{ExpectedReward: value.Float(1), ModelTimeout: value.Float(2)}
)

func behave(t testing.TB, saved, seen string, s Scenario) Rows {
	t.Helper()
	record := value.Value{}
	if saved != "" {
		record = parsedValue(t, saved)
	}
	var w *Witness
	if seen != "" {
		var err error
		if w, err = ParseWitness([]byte(seen)); err != nil {
			t.Fatal(err)
		}
	}
	return Behave(record, w, s, nil)
}

// not lists the rows that fail, with a mark for those that were not evaluated.
func not(rows Rows) string {
	list := []string{}
	for _, r := range rows {
		switch {
		case r.Status == Fail && len(r.BlockedBy) > 0:
			list = append(list, r.ID+"(waits)")
		case r.Status == Fail && r.Reasons[0] == unavailable:
			list = append(list, r.ID+"(unavailable)")
		case r.Status == Fail:
			list = append(list, r.ID)
		}
	}
	return strings.Join(list, " ")
}

func TestBehaviors(t *testing.T) {
	replace := func(in, old, new string) string {
		if !strings.Contains(in, old) {
			t.Fatalf("nothing to replace: %s", old)
		}
		return strings.Replace(in, old, new, 1)
	}
	for _, c := range []struct{ name, saved, seen, want string }{
		{"in order", savedAll, sawAll, ""},
		{"set up twice", savedAll, replace(sawAll, `"seeded": 1`, `"seeded": 2`), "episode.initialized"},
		{"set up true", savedAll, replace(sawAll, `"seeded": 1`, `"seeded": true`), ""},
		{"violation", savedAll, replace(sawAll, `"violations": []`, `"violations": ["x"]`), "model.protocol"},
		{"another error", replace(savedAll, `"status_code": 500`, `"status_code": 501`), replace(sawAll, `"status_code": 500`, `"status_code": 501`), "model.error_sequence"},
		{"unfinished", savedAll, replace(sawAll, `"finished": true`, `"finished": 0`), "model.finished"},
		{"tool not executed", savedAll, replace(sawAll, `"executed": true`, `"executed": false`), "tools.executed"},
		{"two verifications", savedAll, replace(sawAll, `"verifications": [`, `"verifications": [{"reward": 1, "answer_seen": true},`), "verifier.outcome verifier.answer"},
		{"another reward", savedAll, replace(sawAll, `{"reward": 1`, `{"reward": 0`), "verifier.outcome"},
		{"another saved reward", replace(savedAll, `"reward": 1.0`, `"reward": "1"`), sawAll, "verifier.saved_reward"},
		{"lost exchange", replace(savedAll, `{"request": `+askedOnce+`, "response": {}, "response_metadata": {"status_code": 500}},`, ""), sawAll,
			"model.saved_exchanges model.response_metadata model.token_counts"},
		{"null for an empty error body", replace(savedAll, `"response": {}`, `"response": null`), sawAll, "model.saved_exchanges model.response_metadata model.token_counts"},
		{"another finish reason", replace(savedAll, `"finish_reason": "stop"}, "token_stats"`, `"finish_reason": "length"}, "token_stats"`), sawAll, "model.response_metadata"},
		{"count as a float", replace(savedAll, `"prompt_tokens": 10, "cached`, `"prompt_tokens": 10.0, "cached`), sawAll, "model.token_counts"},
		{"another tool", replace(savedAll, `{"tool_call_id": "t1"`, `{"tool_call_id": "t2"`), sawAll,
			"tools.witness_ids tools.witness_join(waits) tools.witness_request(waits) tools.witness_status(waits) tools.witness_output(waits)"},
		{"id is a number", replace(savedAll, `{"tool_call_id": "t1"`, `{"tool_call_id": 1`), replace(sawAll, `{"id": "t1"`, `{"id": 1`),
			"tools.witness_ids tools.witness_join(waits) tools.witness_request(waits) tools.witness_status(waits) tools.witness_output(waits)"},
		{"request is elsewhere", replace(savedAll, `[{"type": "function_call", "call_id": "t1", "name"`, `[{"type": "call", "call_id": "t1", "name"`), sawAll, "tools.witness_join tools.witness_request(waits)"},
		{"no namespace", replace(savedAll, `"namespace": "box", `, ""), sawAll, "tools.witness_request"},
		{"other arguments", replace(savedAll, `{\"n\": 1}`, `{\"n\": 2}`), sawAll, "tools.witness_request"},
		{"arguments are no JSON", replace(savedAll, `{\"n\": 1}`, `{n}`), sawAll, "tools.witness_request"},
		{"another tool name", replace(savedAll, `"tool_name": "run"`, `"tool_name": "box__run"`), sawAll, "tools.witness_request"},
		{"exit code", savedAll, replace(sawAll, `"exit_code": 0`, `"exit_code": 3`), "tools.witness_status"},
		{"another output", savedAll, replace(sawAll, `"outputs": ["4"]`, `"outputs": ["4", 4]`), "tools.witness_output"},
		{"no output", savedAll, replace(sawAll, `"outputs": ["4"]`, `"outputs": []`), "tools.witness_output"},
		{"no record", "", sawAll, "verifier.saved_reward(unavailable) model.saved_exchanges(unavailable) model.response_metadata(unavailable) model.token_counts(unavailable) " +
			"tools.witness_ids(unavailable) tools.witness_join(waits) tools.witness_request(waits) tools.witness_status(waits) tools.witness_output(waits)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if have := not(behave(t, c.saved, c.seen, withAll)); have != c.want {
				t.Errorf("have %q\nwant %q", have, c.want)
			}
		})
	}
	if rows := behave(t, savedAll, "", withAll); slices.ContainsFunc(rows, func(r Row) bool { return r.Status == Pass }) || len(rows) != len(Behaviors()) {
		t.Errorf("without a witness: %s", not(rows))
	}
	// What was not scripted does not apply.
	absent := []string{}
	for _, r := range behave(t, savedAll, sawAll, Scenario{ExpectedReward: value.Int(1)}) {
		if r.Status == NotApplicable {
			absent = append(absent, r.ID)
		}
	}
	if have := strings.Join(absent, " "); have != "model.error_sequence model.retry_request model.terminal_error tools.executed tools.witness_ids tools.witness_join "+
		"tools.witness_request tools.witness_status tools.witness_output model.timeout_triggered model.timeout_retained model.retry_after_timeout verifier.completed_after_timeout" {
		t.Error(have)
	}
	// An empty list is not available rather than right.
	rows := behave(t, `{"ng_trajectory": {}}`, `{"tool_calls": []}`, Scenario{ToolSteps: 1})
	if r := rows.Find("tools.witness_join"); r.Status != Fail || r.Reasons[0] != unavailable || len(r.BlockedBy) != 0 {
		t.Errorf("%+v", r)
	}
}

func TestRetriesAndTerminalErrors(t *testing.T) {
	attempt := func(request string, status string) string {
		return `{"request": ` + request + `, "status_code": ` + status + `}`
	}
	two := Scenario{HTTPErrors: []int64{500, 503}, TerminalError: true}
	for _, c := range []struct {
		attempts []string
		fails    string
	}{
		{[]string{attempt("1", "503"), attempt("1", "503")}, "model.error_sequence"},
		{[]string{attempt("1", "500"), attempt("1.0", "503")}, "model.terminal_error"},
		{[]string{attempt("1", "500"), attempt("2", "503")}, "model.retry_request model.terminal_error"},
		{[]string{attempt("1", "503")}, "model.error_sequence model.retry_request"},
		{nil, "model.reached model.error_sequence model.retry_request model.terminal_error"},
	} {
		rows := behave(t, "", `{"attempts": [`+strings.Join(c.attempts, ",")+`]}`, two)
		have := []string{}
		for _, id := range []string{"model.reached", "model.error_sequence", "model.retry_request", "model.terminal_error"} {
			if rows.Find(id).Status == Fail {
				have = append(have, id)
			}
		}
		if strings.Join(have, " ") != c.fails {
			t.Errorf("%v: %v", c.attempts, have)
		}
		for _, id := range []string{"model.finished", "verifier.outcome", "verifier.answer", "verifier.saved_reward"} {
			if rows.Find(id).Status != NotApplicable {
				t.Errorf("%s: %s", id, rows.Find(id).Status)
			}
		}
	}
}

func TestTimeouts(t *testing.T) {
	ids := []string{"model.timeout_triggered", "model.timeout_retained", "model.retry_after_timeout", "verifier.completed_after_timeout"}
	for _, c := range []struct{ name, saved, seen, want string }{
		{"in order", savedTimeout, sawTimeout, "pppp"},
		{"true-like", savedTimeout, strings.Replace(sawTimeout, `"expired": true`, `"expired": 1`, 1), "fffp"},
		{"another limit", savedTimeout, strings.Replace(sawTimeout, `"limit_seconds": 2`, `"limit_seconds": 3`, 1), "fffp"},
		{"not called a timeout", strings.Replace(savedTimeout, `"error_category": "timeout"`, `"error_category": "http"`, 1), sawTimeout, "pfpp"},
		{"with a response id", strings.Replace(savedTimeout, `"response_id": null`, `"response_id": "r0"`, 1), sawTimeout, "pfpp"},
		{"not repeated", savedTimeout, strings.Replace(sawTimeout, `"status_code": 200`, `"status_code": 500`, 1), "ppfp"},
		{"not completed", strings.Replace(savedTimeout, `"evaluation_completed": true`, `"evaluation_completed": 1`, 1), sawTimeout, "pppf"},
	} {
		rows := behave(t, c.saved, c.seen, withTimeLim)
		have := ""
		for _, id := range ids {
			have += rows.Find(id).Status.String()[:1]
		}
		if have != c.want {
			t.Errorf("%s: %s, want %s", c.name, have, c.want)
		}
	}
}

func TestFingerprint(t *testing.T) {
	w, err := ParseWitness([]byte(sawAll))
	if err != nil {
		t.Fatal(err)
	}
	saved := parsedValue(t, strings.Replace(savedAll, `"content": "go"`, `"content": "GO"`, 1))
	if Behave(saved, w, withAll, nil).Find("model.saved_exchanges").Status != Fail {
		t.Error("another request counts as the same")
	}
	loose := func(request, status, response value.Value) string {
		return strings.ToLower(PlainFingerprint(request, status, response))
	}
	if r := Behave(saved, w, withAll, loose).Find("model.saved_exchanges"); r.Status != Pass {
		t.Errorf("%+v", r)
	}
}

func TestParseWitness(t *testing.T) {
	for _, bad := range []string{"", "[]", "null", "{", `{"a":1}x`} {
		if _, err := ParseWitness([]byte(bad)); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
	w, err := ParseWitness([]byte(`{"attempts": {"a": 1}, "verifications": [1, {}], "tool_calls": null}`))
	if err != nil || len(w.attempts) != 0 || len(w.verifications) != 1 {
		t.Errorf("%+v, %v", w, err)
	}
}

func TestExpect(t *testing.T) {
	at := func(ids ...string) check.Set {
		s := check.Set(0)
		for _, id := range ids {
			s = s.With(check.Position(id))
		}
		return s
	}
	const failed, counts, hollow = "model_call_failed", "model_call_missing_token_counts", "agent_turn_hollow"
	well := ObservedHealth{Covered: check.Every}
	sick := ObservedHealth{Covered: check.Every, Fired: at(failed, counts)}
	blind := ObservedHealth{Covered: check.Every &^ at(hollow), Unobserved: at(counts), Fired: at(counts)}
	for _, c := range []struct {
		name     string
		rollouts []ObservedHealth
		expected Expectations
		scope    Scope
		fails    string
		lines    int
	}{
		{"healthy", []ObservedHealth{well, well}, nil, Scope{}, "", 2},
		{"one is not", []ObservedHealth{well, sick}, nil, Scope{}, counts + " " + failed, 2},
		{"as expected", []ObservedHealth{sick}, Expectations{failed: {health.Unhealthy}, counts: {health.Unobserved, health.Unhealthy}}, Scope{}, "", 1},
		{"healthy against expectation", []ObservedHealth{well}, Expectations{failed: {health.Unhealthy}}, Scope{}, failed, 1},
		{"unobserved comes first, and what was ignored fails", []ObservedHealth{blind}, Expectations{counts: {health.Unobserved}, hollow: {health.Unobserved}}, Scope{}, hollow, 1},
		{"steps are out of scope", []ObservedHealth{blind}, Expectations{counts: {health.Unobserved}}, Scope{NoSteps: true}, "", 1},
	} {
		rows, err := Expect(c.rollouts, c.expected, c.scope, "out")
		if err != nil {
			t.Fatal(err)
		}
		have := []string{}
		for _, r := range rows {
			if r.Status == Fail {
				have = append(have, strings.TrimPrefix(r.ID, "health."))
			}
			if len(r.Locations) != c.lines || r.Locations[0] != "out/rollout_verdicts.jsonl:1" || r.Kind != Health || r.Evidence != 0 {
				t.Errorf("%s: %+v", c.name, r)
			}
		}
		if strings.Join(have, " ") != c.fails || len(rows) != check.RolloutCount {
			t.Errorf("%s: %d rows, failing %v", c.name, len(rows), have)
		}
	}
	rows, err := Expect(nil, Expectations{failed: {health.Unobserved}}, Scope{}, "out")
	if err != nil || slices.ContainsFunc(rows, func(r Row) bool { return r.Status != Fail || r.Reasons[0] != unavailable }) {
		t.Errorf("no rollouts: %v, %v", rows, err)
	}
	for _, bad := range []Expectations{{"nothing": {health.Healthy}}, {"task_no_successful_model_calls": {health.Healthy}}, {failed: {}}, {failed: {health.Skipped}}} {
		if _, err := Expect(nil, bad, Scope{}, ""); !errors.Is(err, ErrExpectation) {
			t.Errorf("%v: %v", bad, err)
		}
	}
	for _, p := range Presets() {
		if _, err := Expect(nil, p.Expectations, Scope{NoSteps: p.NoSteps}, ""); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
	}
}

func TestScenarioTable(t *testing.T) {
	have := ScenarioTable("one", []ScenarioRows{
		{"plain", Rows{{ID: "health.x", Kind: Health, Status: Pass}, {ID: "calls.x", Kind: Schema, Status: Pass}, {ID: "tools.x", Kind: Behavioral, Status: NotApplicable}}},
		{"errors", Rows{{ID: "calls.y", Kind: Schema, Status: Fail}, {ID: "calls.x", Kind: Schema, Status: Fail}}},
	})
	want := `## one

| Check | plain | errors |
|---|---|---|
| **Schema** |  |  |
| ` + "`calls.x`" + ` | ✓ | ✗ |
| ` + "`calls.y`" + ` | ✗ | ✗ |
| **Behavioral** |  |  |
| ` + "`tools.x`" + ` | — | ✗ |
| **Health** |  |  |
| ` + "`health.x`" + ` | ✓ | ✗ |
`
	if have != want {
		t.Errorf("%s", have)
	}
	if got := ScenarioTable("none", []ScenarioRows{{Name: "a"}, {Name: "b"}}); !strings.HasSuffix(got, "|---|---|---|\n|  | ✗ | ✗ |\n") {
		t.Errorf("%s", got)
	}
}

func TestHealthOf(t *testing.T) {
	r, err := health.NewReducer(health.Options{Ignored: []string{"model_call_failed"}})
	if err != nil {
		t.Fatal(err)
	}
	var reader rollout.Reader
	var m health.Mapper
	for i, text := range []string{`{}`, `x`} {
		row := reader.Read(lineOf(text))
		id := row.Identity()
		err := r.Add(&health.Row{Name: "f", Line: int64(i) + 1, Ordinal: int64(i), Identity: id.Resolve(int64(i), 0, int64(i)+1), Digest: m.Append(nil, row)})
		if err != nil {
			t.Fatal(err)
		}
	}
	report, err := r.Report()
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []health.Verdict{health.Healthy, health.Unhealthy} {
		o := HealthOf(report, i)
		if v, ok := o.verdict(check.RecordUnreadable); !ok || v != want {
			t.Errorf("row %d: %s %v", i, v, ok)
		}
		if _, ok := o.verdict(check.CallFailed); ok {
			t.Errorf("row %d: an ignored check was asked", i)
		}
	}
	if v, ok := HealthOf(report, 0).verdict(check.MissingAgentTurns); !ok || v != health.Unobserved {
		t.Errorf("%s %v", v, ok)
	}
}
