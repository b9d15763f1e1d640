package audit

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/finding"
	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/modelcall"
	"github.com/rollscope/rollscope/core/projection"
	"github.com/rollscope/rollscope/core/value"
)

const data = "../../testdata/project"

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// folder reads captures from a directory.
type folder string

func (f folder) Capture(key string) (text []byte, found, marker bool, err error) {
	if _, err := os.Stat(filepath.Join(string(f), modelcall.MarkerFile(key))); err == nil {
		marker = true
	}
	text, err = os.ReadFile(filepath.Join(string(f), modelcall.CaptureFile(key)))
	if errors.Is(err, os.ErrNotExist) {
		return nil, false, marker, nil
	}
	return text, err == nil, marker, err
}

func auditor(t testing.TB, name string, captures bool) *Auditor {
	t.Helper()
	text := readFile(t, filepath.Join(data, name, "input/rollouts_materialized_inputs.jsonl"))
	inputs, err := projection.ReadInputs(func(add func([]byte, int) error) error {
		for i, line := range bytes.Split(text, []byte{'\n'}) {
			if err := add(line, i+1); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	a := &Auditor{Run: "run", Inputs: inputs}
	if captures {
		a.Captures = folder(filepath.Join(data, name, "input/captures"))
	}
	return a
}

func line(text []byte, n int64) *jsonl.Line {
	return &jsonl.Line{Number: n, Bytes: text, Length: int64(len(text)), Terminated: true}
}

// ids lists findings, repeats once, but for notes about the made-up clocks of the samples.
func ids(t testing.TB, list []finding.Finding) string {
	t.Helper()
	var out []string
	for _, f := range list {
		if f.Severity == "" || f.Message() == "" || f.File == "" {
			t.Errorf("%+v: %s", f, f.Message())
		}
		switch f.ID {
		case finding.PerfLatencySpan, finding.PerfLowCoverage, finding.CallsUnknownCategory:
			continue
		}
		out = append(out, f.ID)
	}
	return strings.Join(slices.Compact(out), " ")
}

// TestSound audits the rows of the reference: with captures and without nothing contradicts itself.
func TestSound(t *testing.T) {
	for _, name := range []string{"s20-projection", "s21-projection-damaged"} {
		rows := bytes.Split(bytes.TrimSpace(readFile(t, filepath.Join(data, name, "expected/projected_rollouts.jsonl"))), []byte{'\n'})
		for _, captures := range []bool{true, false} {
			a := auditor(t, name, captures)
			for i, row := range rows {
				for _, f := range a.Row("rollouts.jsonl", line(row, int64(i)+1)) {
					if f.Severity == finding.Error || f.Severity == finding.Warning && f.ID != finding.CallsDamaged && f.ID != finding.CallsIncomplete {
						t.Errorf("%s, captures %t: %s %s: %s", name, captures, f.Rollout, f.ID, f.Message())
					}
				}
			}
			if list := a.Finish(); len(list) > 0 {
				t.Errorf("%+v", list)
			}
			c := a.Counts
			if c.Rows != len(rows) || c.Valid != len(rows) || c.Other != 0 || c.FromProducer != 3 || captures && c.Captured == 0 || !captures && c.Captured != 0 {
				t.Errorf("%s: %+v", name, c)
			}
		}
	}
}

// TestDamage changes a sound row and looks for what is found.
func TestDamage(t *testing.T) {
	const name = "s20-projection"
	rows := bytes.Split(bytes.TrimSpace(readFile(t, filepath.Join(data, name, "expected/projected_rollouts.jsonl"))), []byte{'\n'})
	row, err := value.Strict(rows[0])
	if err != nil {
		t.Fatal(err)
	}
	calls := row.Get("ng_trajectory").Get("model_calls").Items()
	first, _ := calls[0].Get("model_call_id").Text()
	in := func(v value.Value, path []string, f func(value.Value) value.Value) value.Value {
		return edit(v, path, f)
	}
	set := func(path string, to value.Value) func(value.Value) value.Value {
		return func(v value.Value) value.Value {
			return in(v, strings.Split(path, "."), func(value.Value) value.Value { return to })
		}
	}
	for _, tt := range []struct {
		name   string
		change func(value.Value) value.Value
		want   string
	}{
		{"nothing", func(v value.Value) value.Value { return v }, ""},
		{"bad id", set("_ng_rollout_id", value.Text("-x")), "calls.bad_rollout_id"},
		{"a number of a call", set("ng_model_call_capture.calls.0.tokens_in", value.Int(1)), "calls.attachment_mismatch calls.metrics_mismatch traj.token_mismatch"},
		{"a sum", set("ng_model_call_capture.metrics.tokens_in", value.Int(1)), "calls.attachment_mismatch calls.metrics_mismatch"},
		{"a call too many", func(v value.Value) value.Value {
			return in(v, []string{"ng_model_call_capture", "calls"}, func(v value.Value) value.Value { return value.List(append(v.Items(), v.At(0))...) })
		}, "calls.missing calls.metrics_mismatch calls.join_mismatch"},
		{"a call too few", func(v value.Value) value.Value {
			return in(v, []string{"ng_model_call_capture", "calls"}, func(v value.Value) value.Value { return value.List(v.Items()[:2]...) })
		}, "calls.late calls.metrics_mismatch calls.join_mismatch"},
		{"an older version", func(v value.Value) value.Value {
			return in(v, []string{"ng_model_call_capture", "calls", "0"}, func(v value.Value) value.Value { return v.Without("response_source") })
		}, "calls.older_version"},
		{"a payload left", set("ng_model_call_capture.calls.0.request", value.Null), "traj.payload_duplicate"},
		{"no trajectory", func(v value.Value) value.Value { return v.Without("ng_trajectory") }, "perf.unexpected"},
		{"invalid", set("ng_trajectory.turns.0.turn_no", value.Int(0)), "traj.invalid perf.unexpected"},
		{"another version", set("ng_trajectory.schema_version", value.Text("2.0")), "traj.schema_version perf.unexpected"},
		{"another id", set("ng_trajectory.task_id", value.Text("x")), "traj.invalid perf.unexpected"},
		{"a call of the trajectory", set("ng_trajectory.model_calls.0.started_at", value.Float(1)), "traj.mismatch"},
		{"tokens of the trajectory", set("ng_trajectory.model_calls.0.token_stats.prompt_tokens", value.Int(1)), "traj.token_mismatch traj.mismatch perf.mismatch"},
		{"a reference", set("ng_trajectory.turns.0.model_calls.0.model_call_id", value.Text("ghost")), "traj.dangling_ref"},
		{"a tool of nobody", set("ng_trajectory.tool_calls.0.invocation_id", value.Text("ghost")), "traj.mismatch traj.orphan_tool perf.mismatch"},
		{"a number of performance", set("ng_perf.num_turns", value.Int(7)), "perf.mismatch"},
		{"a bad latency", set("ng_perf.total_latency_ms", value.Text("x")), "perf.bad_latency"},
		{"a lost gap", set("ng_agent_observations.gaps", value.List()), "calls.join_mismatch"},
	} {
		a := auditor(t, name, true)
		got := ids(t, a.Row("f", line(tt.change(row).Append(nil, value.Row), 1)))
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	// Without the capture a mismatch is a doubt.
	a := auditor(t, name, false)
	for _, f := range a.Row("f", line(set("ng_trajectory.tool_calls.0.invocation_id", value.Text("ghost"))(row).Append(nil, value.Row), 1)) {
		if f.ID == finding.TrajMismatch && f.Severity != finding.Warning {
			t.Errorf("%+v", f)
		}
	}
	// A row that lost its numbers, among others that have them.
	a = auditor(t, name, true)
	a.Row("f", line(rows[0], 1))
	a.Row("f", line(row.Without("ng_perf").Append(nil, value.Row), 2))
	if got := ids(t, a.Finish()); got != "perf.missing" {
		t.Error(got)
	}
	if first == "" {
		t.Error("the sample has no call ids")
	}
	for text, want := range map[string]string{"{bad": "layout.malformed_line", "[1]": "layout.not_an_object"} {
		if got := ids(t, a.Row("f", line([]byte(text), 3))); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	if a.Counts.Unreadable != 2 {
		t.Errorf("%+v", a.Counts)
	}
}

// edit changes a place inside a value.
func edit(v value.Value, path []string, f func(value.Value) value.Value) value.Value {
	if len(path) == 0 {
		return f(v)
	}
	if v.IsObject() || !v.Exists() {
		return v.With(path[0], edit(v.Get(path[0]), path[1:], f))
	}
	items := v.Items()
	n := int(path[0][0] - '0')
	items[n] = edit(items[n], path[1:], f)
	return value.List(items...)
}

func TestFiles(t *testing.T) {
	a := auditor(t, "s20-projection", true)
	a.Row("f", line([]byte(`{"_ng_task_index":0,"_ng_rollout_index":0}`), 1))
	a.Sidecar(line([]byte(`{"_ng_task_index":5,"_ng_rollout_index":0}`), 1))
	list := a.Files("captures", []string{"0-0.capture.jsonl", "0-0.capture.incomplete", "5-0.capture.jsonl", "1-0.capture.jsonl", "1-0.capture.incomplete", "a b.capture.jsonl", "0-0.capture.claim.1", "notes.txt", "0-0.tokens.jsonl"})
	if got := ids(t, list); got != "calls.orphan_capture calls.bad_key calls.unfinished_claim" {
		t.Error(got)
	}
	if !slices.ContainsFunc(list, func(f finding.Finding) bool { return f.File == "captures/1-0.capture.jsonl" && f.Rollout == "1-0" }) {
		t.Errorf("%+v", list)
	}
}

// FuzzRow audits rows and captures of any content.
func FuzzRow(f *testing.F) {
	for _, name := range []string{"s20-projection", "s21-projection-damaged"} {
		for _, row := range bytes.Split(bytes.TrimSpace(readFile(f, filepath.Join(data, name, "expected/projected_rollouts.jsonl"))), []byte{'\n'}) {
			f.Add(row, []byte(`{"model_call_id":"a","response_raw":"data: x","dialect":"chat"}`))
		}
	}
	f.Fuzz(func(t *testing.T, row, capture []byte) {
		a := Auditor{Captures: every(capture)}
		a.Row("f", line(row, 1))
		a.Finish()
	})
}

type every []byte

func (e every) Capture(string) ([]byte, bool, bool, error) { return e, true, false, nil }
