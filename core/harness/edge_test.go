package harness

import (
	"slices"
	"strings"
	"testing"
)

// TestEdges is the table of edge cases (§13): a change of a complete row, the checks that fail by themselves or wait, and
// the capabilities that are not fulfilled.
func TestEdges(t *testing.T) {
	waitsForCalls := func() []string {
		list := []string{}
		for _, c := range All() {
			if needsAll(c)&1 != 0 && (c.Applies == Always || c.Applies == WithSteps) {
				list = append(list, c.ID+" (blocked)")
			}
		}
		return list
	}()
	gone := `"error_category": "transport", "status_code": null, "model_ref": {"type": "responses_api_models", "name": "policy_model"}, "dialect": "responses"`
	for _, c := range []struct {
		name, changes, fails, lacks string
		also                        []string
	}{
		{name: "complete"},
		{name: "a string among the calls", changes: `model_calls.+ = "x"`, fails: "model_calls.present", also: waitsForCalls, lacks: "1234789"},
		{name: "second invocation with the same id", changes: `invocations.+ = {"invocation_id": "main", "model_calls": []}`,
			fails: "steps.invocation_target tools.invocation_target", lacks: "359",
			also: []string{"tools.request (blocked)", "steps.call_target (blocked)", "steps.call_owner (blocked)", "steps.attempt_accounting (blocked)"}},
		{name: "parents in a circle", changes: "invocations.0.parent_invocation_id = \"sub\"\n" + `invocations.+ = {"invocation_id": "sub", "model_calls": [], "parent_invocation_id": "main"}`,
			fails: "invocations.parent", lacks: "8"},
		{name: "compaction without calls", changes: `ng_agent_observations.records = [{"kind": "context_compaction"}]`, fails: "steps.compaction_target", lacks: "9",
			also: []string{"steps.attempt_accounting (blocked)"}},
		{name: "all calls are of compactions", lacks: "9", fails: "steps.attempt_accounting",
			changes: `ng_agent_observations.records = [{"kind": "context_compaction", "model_calls": [{"model_call_id": "c1"}, {"model_call_id": "c2"}]}]`},
		{name: "success with an empty text", changes: `model_calls.0.response = ""`, fails: "calls.response", lacks: "47", also: []string{"content.media (blocked)"}},
		{name: "success with an error category and a text", changes: "model_calls.0.response = \"\"\nmodel_calls.0.response_metadata.error_category = \"x\""},
		{name: "metadata are a text", changes: `model_calls.0.response_metadata = "x"` + "\n" + `invocations.0.model_calls.0.response_id = "r1"` + "\n" + `turns.0.model_calls.0.response_id = "r1"`,
			fails: "calls.model calls.protocol calls.outcome calls.response_id calls.request calls.response ownership.call_target steps.call_target", lacks: "14789",
			also: []string{"content.media (blocked)", "content.previous_response (blocked)", "ownership.call_owner (blocked)", "steps.call_owner (blocked)", "steps.attempt_accounting (blocked)"}},
		{name: "a tool that nobody asked for", changes: `invocations.0.conversation.1.call_id = "t7"`, fails: "tools.request", lacks: "5"},
		{name: "declared gaps", changes: `gaps = [{"code": "model_call_capture_x"}, {"code": "turns_unavailable"}, "model_call_reference"]`, fails: "calls.capture_gap steps.gap", lacks: "134789"},
		{name: "times", changes: "model_calls.0.started_at -\nmodel_calls.0.completed_at = null", fails: "calls.timing", lacks: "1"},
		{name: "the transport failed", changes: "model_calls.0.response = null\nmodel_calls.0.response_metadata = {" + gone + "}\nmodel_calls.1.request.previous_response_id -"},
		{name: "a body although there is no status", changes: "model_calls.0.response = {}\nmodel_calls.0.response_metadata = {" + gone + "}\nmodel_calls.1.request.previous_response_id -",
			fails: "calls.response", lacks: "47", also: []string{"content.media (blocked)"}},
		{name: "resolved is a text", changes: `turns.0.resolved = "true"`, fails: "steps.resolution", lacks: "3"},
		{name: "turns without calls", changes: "turns.0.model_calls -\nturns.1.model_calls -", fails: "steps.references", lacks: "9",
			also: []string{"steps.call_target (blocked)", "steps.call_owner (blocked)", "steps.attempt_accounting (blocked)"}},
		{name: "no reward, though a turn says resolved", changes: "reward -\nturns.1.resolved = true", fails: "evaluation.reward", lacks: "6"},
		{name: "a failed grade with its reasons", changes: "evaluation_completed = false\nfailure_kind = \"timeout\"\nfailure_reason = \"too slow\""},
		{name: "garbage in other places", changes: "ng_model_call_capture = [1, {\"calls\": \"x\"}]\nng_trajectory.schema_version = []\nturns.0.task_id = 7\nturns.0.answer = {}\nng_agent_observations.model_calls = 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := judge(t, change(t, splitChanges(c.changes)...), Scope{})
			want := append(strings.Fields(c.fails), c.also...)
			have := failing(r)
			slices.Sort(want)
			slices.Sort(have)
			if !slices.Equal(want, have) {
				t.Errorf("failing\nwant %q\nhave %q", want, have)
			}
			if lacking(r) != c.lacks {
				t.Errorf("lacking %q, want %q", lacking(r), c.lacks)
			}
			if (r.Verdict == Fulfilled) != (len(want) == 0) {
				t.Errorf("verdict %s", r.Verdict)
			}
		})
	}
	if r := judge(t, change(t, `model_calls.+ = "x"`), Scope{}); len(failing(r)) != 26 {
		t.Errorf("%d rows fail for one odd item", len(failing(r)))
	}
}

// needsAll are the prerequisites of a check, and those of its prerequisites.
func needsAll(c *Check) Checks {
	all := c.needs
	for _, id := range c.Needs {
		if p, ok := ByID(id); ok && c.Applies != WithSandbox {
			all |= needsAll(p)
		}
	}
	return all
}

// TestLocations holds the order of locations and that none is told twice (§3.1).
func TestLocations(t *testing.T) {
	for _, c := range []struct {
		id, want string
		changes  []string
	}{
		{"calls.timing", "[0] [0].completed_at", []string{"model_calls.0.started_at -", "model_calls.0.completed_at = null"}},
		{"calls.timing", "[0].started_at [0].completed_at [1]", []string{"model_calls.0.started_at = []", "model_calls.0.completed_at = null", "model_calls.1.started_at -", "model_calls.1.completed_at -"}},
		{"calls.outcome", "[0].response_metadata.status_code [0].response_metadata.response_status [0].response_metadata.finish_reason [0].response_metadata",
			[]string{"model_calls.0.response_metadata.finish_reason = 1", "model_calls.0.response_metadata.response_status = 1", "model_calls.0.response_metadata.status_code = 1"}},
		{"calls.model", "[0].response_metadata.model_ref.name", []string{"model_calls.0.response_metadata.model_ref.name = 0"}},
		{"invocations.references", "[0].model_calls[0].model_ref", []string{"invocations.0.model_calls.0.model_ref = {\"name\": 0}"}},
		{"steps.references", "[0].model_calls[0] [0].model_calls[1].response_id [1]",
			[]string{"turns.0.model_calls = [[], {\"model_call_id\": \"c1\", \"response_id\": 1}]", "turns.1.model_calls -"}},
		{"model_calls.present", "[2] [3]", []string{"model_calls.+ = null", "model_calls.+ = []"}},
	} {
		row := judge(t, change(t, c.changes...), Scope{}).Checks.Find(c.id)
		have := ""
		for _, l := range row.Locations[1:] {
			have += " " + strings.TrimPrefix(l, row.Locations[0])
		}
		if strings.TrimPrefix(have, " ") != c.want {
			t.Errorf("%s: %s, want %s", c.id, have, c.want)
		}
	}
}

// TestHiddenLabels holds that a scope hides capabilities but not the rows that carry them (§8).
func TestHiddenLabels(t *testing.T) {
	r := judge(t, change(t, "task_id -", "turns -"), Scope{NoSteps: true})
	if r.Evidence[Steps-1] != NoVerdict || r.Evidence[StepJoin-1] != NoVerdict || r.Evidence[RunJoin-1] != NotFulfilled || r.Verdict != NotFulfilled {
		t.Errorf("%v, %s", r.Evidence, r.Verdict)
	}
	steps := 0
	for _, f := range r.Findings() {
		if f.Evidence == Steps {
			steps++
		}
	}
	if steps != 1 {
		t.Errorf("%d findings of a hidden capability", steps)
	}
	r = judge(t, change(t, `ng_agent_observations.records = [{"kind": "sandbox"}]`), Scope{NoVerifier: true})
	if r.Evidence[VerifierOutcome-1] != NoVerdict || r.Verdict != NotFulfilled {
		t.Errorf("%v, %s", r.Evidence, r.Verdict)
	}
}

// TestFindings holds what a failing row says, and in which order.
func TestFindings(t *testing.T) {
	r := judge(t, change(t, "model_calls.1.request -", "reward -"), Scope{})
	var have []string
	for _, f := range r.Findings() {
		have = append(have, f.Evidence.Label()+" "+f.Assertion+" "+f.Location)
		if f.Reason == "" {
			t.Errorf("%+v", f)
		}
	}
	want := []string{
		"TE-4 calls.request f:1:$.ng_trajectory.model_calls", "TE-4 calls.request f:1:$.ng_trajectory.model_calls[1]",
		"TE-7 calls.request f:1:$.ng_trajectory.model_calls", "TE-7 calls.request f:1:$.ng_trajectory.model_calls[1]",
		"TE-4 content.media f:1:$.ng_trajectory.model_calls", "TE-7 content.media f:1:$.ng_trajectory.model_calls",
		"TE-4 content.previous_response f:1:$.ng_trajectory.model_calls",
		"TE-6 evaluation.reward f:1:$",
	}
	if !slices.Equal(have, want) {
		t.Errorf("%q", have)
	}
}

// TestDesignatedPlaces holds that copies elsewhere stand in for nothing.
func TestDesignatedPlaces(t *testing.T) {
	calls := `[{"model_call_id": "c1"}]`
	r := judge(t, change(t, "model_calls -", "ng_model_call_capture = {\"calls\": "+calls+"}", "ng_agent_observations = {\"model_calls\": "+calls+"}", "model_calls_ = "+calls), Scope{})
	if r.Checks[0].Status != Fail || r.Tokens[0].Calls != 0 {
		t.Errorf("%+v", r.Checks[0])
	}
}

// TestTokens holds the availability of counts, which asks for no type.
func TestTokens(t *testing.T) {
	r := judge(t, change(t, `model_calls.0.token_stats = {"prompt_tokens": "x", "total_tokens": null}`, "model_calls.+ = 1", "model_calls.+ = {}"), Scope{})
	want := Tokens{{2, 3}, {1, 3}, {1, 3}, {1, 3}, {1, 3}}
	if r.Tokens != want {
		t.Errorf("%v", r.Tokens)
	}
}

// TestPlaces holds the exact places of failures.
func TestPlaces(t *testing.T) {
	text := change(t, "model_calls.1.response_metadata.model_ref.name = 12345", "turns.1.invocation_id = \"nobody\"", "tool_calls -", "turns.0.model_calls.0.model_call_id = \"gone\"",
		`ng_agent_observations.records = [{"kind": "x"}, {"kind": "sandbox", "outcome": "oom", "sandbox_id": "s"}]`, `model_calls.0.request.x = {"file_id": "f"}`)
	var m Mapper
	list, err := m.Failures(lineOf(text), 0, Scope{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]struct {
		text, pointer, location string
		turn, call              int
	}{
		"calls.model":             {"12345", "/ng_trajectory/model_calls/1/response_metadata/model_ref/name", "$.ng_trajectory.model_calls[1].response_metadata.model_ref.name", -1, 1},
		"steps.invocation_target": {`"nobody"`, "/ng_trajectory/turns/1/invocation_id", "$.ng_trajectory.turns[1].invocation_id", 1, -1},
		"tool_calls.present":      {"", "/ng_trajectory/tool_calls", "$.ng_trajectory.tool_calls", -1, -1},
		"sandbox.error":           {`{"kind":"sandbox","outcome":"oom","sandbox_id":"s"}`, "/ng_agent_observations/records/1", "$.ng_agent_observations.records[1]", -1, -1},
		"content.media":           {`{"file_id":"f"}`, "/ng_trajectory/model_calls/0/request", "$.ng_trajectory.model_calls[0].request", -1, 0},
	}
	for _, f := range list {
		w, ok := want[f.Check.ID]
		if !ok {
			continue
		}
		delete(want, f.Check.ID)
		p := f.Places[0]
		if at := strings.ReplaceAll(text[p.Offset:p.Offset+p.Length], " ", ""); at != w.text || p.Pointer != w.pointer || p.Location != w.location || p.Turn != w.turn || p.Call != w.call {
			t.Errorf("%s: %q at %+v", f.Check.ID, at, p)
		}
		if p.Length == 0 && !strings.HasPrefix(text[p.Offset:], `{"gaps":`) {
			t.Errorf("%s: nearest value is %s", f.Check.ID, text[p.Offset:p.Offset+20])
		}
	}
	if len(want) > 0 {
		t.Errorf("not found: %v", want)
	}
	r := NewReducer()
	if err := r.Add(Line{Name: "f", Number: 1, Digest: m.Append(nil, lineOf(text), nil)}); err != nil {
		t.Fatal(err)
	}
	report, err := r.Report(Scope{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		position := Position(f.Check.ID)
		location, named := report.First(0, position)
		if location != f.Places[0].Location && named > 0 || named > 0 && int(named) != len(f.Places) {
			t.Errorf("%s: first %s of %d, places %v", f.Check.ID, location, named, f.Places)
		}
		if !report.Standing(0).Failed.Has(position) {
			t.Errorf("%s does not stand as failed", f.Check.ID)
		}
	}
}
