package check

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/rollout"
	"github.com/rollscope/rollscope/core/trajectory"
)

func TestRegistry(t *testing.T) {
	if err := Validate(All()); err != nil {
		t.Error(err)
	}
	want := []string{
		"check_execution_error", "record_unreadable", "rollout_duplicate_identity", "rollout_missing_agent_turns",
		"rollout_ended_on_failed_model_call", "agent_turn_hollow", "model_call_zero_completion_tokens",
		"model_call_missing_token_counts", "trajectory_capture_mismatch", "model_call_failed",
		"rollout_token_count_mismatch", "model_call_runaway_generation", "task_consistently_unhealthy",
		"task_no_successful_model_calls",
	}
	if have := Every.IDs(); strings.Join(have, " ") != strings.Join(want, " ") {
		t.Errorf("registry order is %q", have)
	}
	for i, id := range want {
		c, ok := ByID(id)
		if !ok || c != At(i) || Position(id) != i {
			t.Errorf("%s is not at %d", id, i)
		}
	}
	if _, ok := ByID("rollout"); ok || Position("") >= 0 {
		t.Error("found a check that is none")
	}
}

func TestValidateFinds(t *testing.T) {
	for name, spoil := range map[string]func(*Check){
		"id":           func(c *Check) { c.ID = "Bad id" },
		"subject":      func(c *Check) { c.Subject = "" },
		"title":        func(c *Check) { c.Title = "" },
		"text":         func(c *Check) { c.Text = "" },
		"since":        func(c *Check) { c.Since = "" },
		"reads":        func(c *Check) { c.Reads = nil },
		"unknown need": func(c *Check) { c.Needs = []Need{needCount} },
		"task need":    func(c *Check) { c.Needs = []Need{NeedRepeats} },
		"no run":       func(c *Check) { c.Run = nil },
		"no words":     func(c *Check) { c.Say = nil },
		"no scope":     func(c *Check) { c.Scope = 0 },
		"task":         func(c *Check) { c.Scope = Task },
	} {
		bad := *At(CallFailed)
		spoil(&bad)
		if Validate([]*Check{&bad}) == nil {
			t.Errorf("%s: not noticed", name)
		}
	}
	if Validate([]*Check{At(0), At(0)}) == nil {
		t.Error("id twice: not noticed")
	}
	if Validate([]*Check{At(NoSuccessfulCalls), At(0)}) == nil {
		t.Error("rollout check behind task check: not noticed")
	}
}

func TestSet(t *testing.T) {
	s := Set(0).With(3).With(13)
	if !s.Has(3) || s.Has(4) || s.Len() != 2 || strings.Join(s.IDs(), ",") != At(3).ID+","+At(13).ID {
		t.Errorf("%b", s)
	}
	if Set(0).IDs() == nil || Every.Len() != Count {
		t.Error("empty and full set")
	}
}

// TestTables looks for holes in the tables of outcomes, needs, fields and phrases.
func TestTables(t *testing.T) {
	for o := range outcomeCount {
		if o.Code() == "" || o.Text() == "" || (o.Code() == "gap") != (o.Gap() != "") {
			t.Errorf("outcome %d: %q %q %q", o, o.Code(), o.Gap(), o.Text())
		}
	}
	for n := range needCount {
		if n.Code() == "" || n.Text() == "" {
			t.Errorf("need %d: %q %q", n, n.Code(), n.Text())
		}
	}
	for f := fieldEnd + 1; f < fieldNames; f++ {
		if fields[f].name == "" {
			t.Errorf("field %d has no name", f)
		}
	}
	for p, s := range phrases {
		if s == "" {
			t.Errorf("phrase %d is empty", p)
		}
	}
}

// A sample is one row and what one check makes of it.
type sample struct {
	name string
	row  string
	// want is the findings as reports have them, one a line; or "clean"; or the code of the reason why the
	// check could not be judged, or the gap. A check that stops has its execution error behind "raised".
	want string
	main string // the same for profile main; "" where it is no different
}

// lead is put before every row: places count from the first byte of the line.
const lead = "\v "

// judged is a row after all checks.
type judged struct {
	line string
	Evidence
	Judgement
	reader rollout.Reader
	record trajectory.Reader
}

func judgeRow(line string) *judged {
	j := &judged{line: line}
	row := j.reader.Read(&jsonl.Line{Number: 1, Offset: 1000, Length: int64(len(line)), Bytes: []byte(line), Terminated: true})
	var record *trajectory.Record
	var invalid *Invalid
	if row.Problem == nil && !row.Trajectory.IsNull() {
		r, err := j.record.Read(row.Trajectory)
		record = r
		if err != nil {
			e := err.(*trajectory.Invalid)
			record, invalid = nil, &Invalid{e.Class, int64(e.Offset), "/ng_trajectory" + e.Path, e.Reason}
		}
	}
	j.Collect(row, record, invalid)
	j.Judge(&j.Evidence)
	return j
}

// of gives what one check found in one profile.
func (j *judged) of(t testing.TB, position int, p Profile) (Outcome, []Finding) {
	t.Helper()
	outcome := j.Outcomes[p][position]
	var list []Finding
	g := NewGroups(j.Findings())
	for g.Next() {
		if g.Check == position && g.In(p) {
			list = g.Findings(list, outcome)
		}
	}
	if g.Err() != nil {
		t.Fatal(g.Err())
	}
	return outcome, list
}

func runSamples(t *testing.T, position int, samples []sample) {
	t.Helper()
	for _, s := range samples {
		t.Run(s.name, func(t *testing.T) {
			j := judgeRow(lead + s.row)
			if j.Invalid != nil && position != RecordUnreadable {
				t.Fatalf("the row is wrong: %+v", j.Invalid)
			}
			main := s.main
			if main == "" {
				main = s.want
			}
			for p, want := range [Profiles]string{V07: s.want, Main: main} {
				outcome, findings := j.of(t, position, Profile(p))
				if have := describe(t, outcome, findings); have != want {
					t.Errorf("profile %s\nwant %s\nhave %s", Profile(p), want, have)
				}
				for i := range findings {
					findings[i].check(t, j.line)
				}
			}
		})
	}
}

func describe(t testing.TB, o Outcome, findings []Finding) string {
	t.Helper()
	if len(findings) == 0 {
		if o.Gap() != "" {
			return o.Gap()
		}
		return o.Code()
	}
	var b []byte
	if o.Raised() != Finished {
		b = append(b, "raised "...)
	} else if o != Fired {
		t.Errorf("findings with outcome %s", o.Code())
	}
	for i := range findings {
		if i > 0 {
			b = append(b, '\n')
		}
		var err error
		if b, err = findings[i].AppendJSON(b); err != nil {
			t.Error(err)
		}
	}
	return string(b)
}

// check holds a finding to what all findings keep.
func (f *Finding) check(t *testing.T, line string) {
	t.Helper()
	p := f.Place
	if p.Offset < 0 || p.Offset+p.Length > int64(len(line)) {
		t.Errorf("%s: place %d + %d is outside of the line", f.Check, p.Offset, p.Length)
	}
	if s := Sentence(*f); s == "" || strings.Contains(s, "%!") || s == f.Check {
		t.Errorf("%s: no sentence: %q", f.Check, s)
	}
}

// at gives the text of the row that a finding points at.
func (f *Finding) at(line string) string { return line[f.Place.Offset : f.Place.Offset+f.Place.Length] }

// The following functions write rows.

// row writes a row with a trajectory of these members, and no usage.
func row(members ...string) string { return usageRow("", members...) }

// usageRow writes a row with this usage.
func usageRow(usage string, members ...string) string {
	s := `{"_ng_task_index":1,`
	if usage != "" {
		s += `"response":{"usage":` + usage + `},`
	}
	return s + `"ng_trajectory":{"task_id":"t","rollout_id":"r",` + strings.Join(members, ",") + `}}`
}

func array(name string, items []string) string {
	return `"` + name + `":[` + strings.Join(items, ",") + `]`
}

func turns(items ...string) string       { return array("turns", items) }
func calls(items ...string) string       { return array("model_calls", items) }
func invocations(items ...string) string { return array("invocations", items) }
func gapList(items ...string) string     { return array("gaps", items) }

// turn writes a turn whose members include these.
func turn(no int, members string) string {
	if members != "" {
		members = "," + members
	}
	return fmt.Sprintf(`{"invocation_id":"i","task_id":"t","rollout_id":"r","turn_no":%d,"timestamp":1,"step_count":1%s}`, no, members)
}

// said writes a turn with an answer and references to calls by id.
func said(no int, ids ...string) string { return turn(no, `"answer":"ok",`+refsTo(ids...)) }

func refsTo(ids ...string) string {
	for i, id := range ids {
		ids[i] = `{"model_call_id":"` + id + `"}`
	}
	return array("model_calls", ids)
}

// call writes a call with an id, metadata and statistics.
func call(id, metadata, stats string) string { return callWith(id, metadata, stats, "") }

func callWith(id, metadata, stats, members string) string {
	if members != "" {
		members = "," + members
	}
	return fmt.Sprintf(`{"model_call_id":%s,"response_metadata":{%s},"token_stats":{%s}%s}`, quoted(id), metadata, stats, members)
}

func quoted(s string) string {
	if s == "" {
		return "null"
	}
	return `"` + s + `"`
}

func gapOf(code string) string { return `{"code":"` + code + `"}` }

const (
	policy  = `"model_ref":{"type":"responses_api_models","name":"policy"}`
	judge   = `"model_ref":{"type":"responses_api_models","name":"judge"}`
	counted = `"prompt_tokens":3,"completion_tokens":2`
)

// overflowed is a call that the upstream refused because the context was too long.
const overflowed = `"upstream_attempted":true,"upstream_status_code":400,"status_code":400,"error_category":"context_length_exceeded"`

// needMatched are the samples of all checks that look at referenced calls.
func needMatched(metadata, stats string) []sample {
	c := call("a", metadata, stats)
	return []sample{
		{"unreadable", `[]`, "line_unreadable", ""},
		{"no trajectory", `{}`, "no_trajectory", ""},
		{"projection failed", row(turns(said(1, "a")), calls(c), gapList(gapOf("trajectory_projection_failed"))), "trajectory_projection_failed", ""},
		{"no calls", row(turns(said(1))), "no_matched_calls", ""},
		{"no reference", row(turns(said(1)), calls(c)), "no_matched_calls", ""},
		{"reference to nothing", row(turns(said(1, "b")), calls(c)), "no_matched_calls", ""},
		{"calls unavailable", row(turns(said(1, "a")), calls(c), gapList(gapOf("model_calls_unavailable"))), "model_calls_unavailable", ""},
		{"capture incomplete", row(turns(said(1, "a")), calls(c), gapList(gapOf("model_call_capture_incomplete"))), "model_call_capture_incomplete", ""},
		{"records unreadable", row(turns(said(1, "a")), calls(c), gapList(gapOf("model_call_capture_records_unreadable"))), "model_call_capture_records_unreadable", ""},
		{"capture unreadable", row(turns(said(1, "a")), calls(c), gapList(gapOf("model_call_capture_unreadable"))), "model_call_capture_unreadable", ""},
	}
}
