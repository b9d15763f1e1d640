package projection

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/modelcall"
	"github.com/rollscope/rollscope/core/perf"
	"github.com/rollscope/rollscope/core/trajectory"
	"github.com/rollscope/rollscope/core/value"
)

const data = "../../testdata/project"

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

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// inputsOf reads materialized inputs from a text.
func inputsOf(t *testing.T, text []byte) *Inputs {
	t.Helper()
	in, err := ReadInputs(func(add func([]byte, int) error) error {
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
	return in
}

func lineOf(text []byte) *jsonl.Line {
	return &jsonl.Line{Number: 1, Bytes: text, Length: int64(len(text)), Terminated: true}
}

// TestGolden holds projected rows against those of the reference, byte for byte.
func TestGolden(t *testing.T) {
	for _, name := range []string{"s20-projection", "s21-projection-damaged"} {
		dir := filepath.Join(data, name)
		latencies, err := value.Strict(readFile(t, filepath.Join(dir, "latencies.json")))
		if err != nil {
			t.Fatal(err)
		}
		for _, observed := range []bool{true, false} {
			p := Projector{Inputs: inputsOf(t, readFile(t, filepath.Join(dir, "input/rollouts_materialized_inputs.jsonl"))), Observability: observed}
			expected := filepath.Join(dir, "expected/observability_off")
			if observed {
				expected = filepath.Join(dir, "expected")
				p.Captures = folder(filepath.Join(dir, "input/captures"))
				p.Latency = func(key string) []byte {
					if v := latencies.Get(key); v.Exists() {
						return v.Append(nil, value.Row)
					}
					return nil
				}
			}
			var out [3][]byte
			for _, line := range bytes.Split(readFile(t, filepath.Join(dir, "input/raw_results.jsonl")), []byte{'\n'}) {
				if len(line) == 0 {
					continue
				}
				row, to, err := p.Row(nil, lineOf(line))
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				out[to] = append(append(out[to], row...), '\n')
			}
			for to, file := range map[Destination]string{Rollouts: RolloutsFile, Failures: FailuresFile} {
				want, err := os.ReadFile(filepath.Join(expected, file))
				if err != nil && !errors.Is(err, os.ErrNotExist) {
					t.Fatal(err)
				}
				if !bytes.Equal(out[to], want) {
					t.Errorf("%s, observability %t: %s differs at byte %d", name, observed, file, differ(out[to], want))
				}
			}
			if observed {
				summarize(t, name, out[Rollouts], readFile(t, filepath.Join(dir, "expected/perf_summary.json")))
			}
		}
	}
}

func differ(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// summarize holds the summary of projected rows against the saved one.
func summarize(t *testing.T, name string, rows, want []byte) {
	t.Helper()
	var list []perf.Saved
	n := 0
	for _, line := range bytes.Split(bytes.TrimSpace(rows), []byte{'\n'}) {
		v, err := value.Strict(line)
		if err != nil {
			t.Fatal(err)
		}
		n++
		if p := v.Get("ng_perf"); p.IsObject() {
			list = append(list, perf.SavedOf(p))
		}
	}
	saved, err := value.Strict(want)
	if err != nil {
		t.Fatal(err)
	}
	d := value.Differ{}
	d.Compare("", saved, value.Object(perf.Summarize(n, list)...))
	if d.Count > 0 {
		t.Errorf("%s: summary %+v", name, d.List)
	}
}

// one is a capture that every key has.
type one string

func (c one) Capture(string) ([]byte, bool, bool, error) { return []byte(c), true, false, nil }

type broken struct{}

func (broken) Capture(string) ([]byte, bool, bool, error) { return nil, true, false, errors.New("no") }

const input = `{"_ng_task_index":0,"_ng_rollout_index":0}`

func project(t *testing.T, input, raw string, captures Captures) (value.Value, Destination, error) {
	t.Helper()
	p := Projector{Inputs: inputsOf(t, []byte(input)), Captures: captures, Observability: true}
	row, to, err := p.Row(nil, lineOf([]byte(raw)))
	if err != nil {
		return value.Value{}, to, err
	}
	v, err := value.Strict(row)
	if err != nil {
		t.Fatalf("%s: %v", row, err)
	}
	if again, _, err := p.Row(nil, lineOf([]byte(raw))); err != nil || !bytes.Equal(again, row) {
		t.Errorf("%s: another row the second time: %v", raw, err)
	}
	return v, to, nil
}

func TestRow(t *testing.T) {
	const head = `{"_ng_task_index":0,"_ng_rollout_index":0`
	call := `{"model_call_id":"a","response":{"output":[{"type":"function_call","arguments":"{\"x\":1}"}]},"latency_ms":1}`
	owned := `,"ng_agent_observations":{"source":"s","records":[{"kind":"agent_invocation","invocation_id":"i","model_calls":[{"model_call_id":"a"}]}]}`
	for _, tt := range []struct {
		name, input, raw string
		captures         Captures
		want             map[string]string // path → value
		to               Destination
	}{
		{"nothing to say", input, head + `}`, nil, map[string]string{"ng_trajectory": "", "ng_perf": ""}, Rollouts},
		{"input copied over", `{"_ng_task_index":0,"_ng_rollout_index":0.0,"agent_ref":{"name":"a"},"_ng_attempt_index":null}`, head + `,"agent_ref":1}`, nil,
			map[string]string{"agent_ref": `{"name":"a"}`, "_ng_attempt_index": "null"}, Rollouts},
		{"null observations count", input, head + `,"ng_agent_observations":null}`, nil, map[string]string{"ng_trajectory.gaps[0].code": `"model_calls_unavailable"`}, Rollouts},
		{"attachment without observations", input, head + `}`, one(call), map[string]string{
			"ng_model_call_capture.metrics.num_calls": "1", "ng_trajectory.model_calls[0].duration_ms": "1.0", "ng_perf": "", "ng_model_call_capture.calls[0].response": ""}, Rollouts},
		{"unreadable", input, head + `}`, broken{}, map[string]string{"ng_model_call_capture.gaps": `[{"code":"model_call_capture_unreadable"}]`, "ng_model_call_capture.calls": "[]"}, Rollouts},
		{"negative latency keeps the payload", input, head + owned + `}`, one(`{"model_call_id":"a","request":{"q":1},"latency_ms":-1}`), map[string]string{
			"ng_trajectory": "", "ng_model_call_capture.gaps": `[{"code":"trajectory_projection_failed","detail":"ValidationError"}]`,
			"ng_model_call_capture.calls[0].request": `{"q":1}`, "ng_model_call_capture.calls[0].response_raw": "null"}, Rollouts},
		{"two calls of one id", input, head + `}`, one(call + "\n" + call), map[string]string{
			"ng_trajectory": "", "ng_model_call_capture.gaps[0].detail": `"ValidationError"`}, Rollouts},
		{"odd message", input, head + owned + `}`, one(`{"model_call_id":"a","response":{"choices":[{"message":"s"}]}}`), map[string]string{
			"ng_model_call_capture.gaps[0].detail": `"AttributeError"`}, Rollouts},
		{"odd tool calls", input, head + owned + `}`, one(`{"model_call_id":"a","response":{"choices":[{"message":{"tool_calls":"xy"}}]}}`), map[string]string{
			"ng_trajectory.turns[0].step_count": "0", "ng_trajectory.turns[0].answer": `{"tool_calls":"xy"}`}, Rollouts},
		{"failure without a result", input, head + `,"_ng_failure_class":"agent_run_error"}`, one(call), map[string]string{"ng_model_call_capture": ""}, Failures},
		{"empty class", input, head + `,"_ng_failure_class":""}`, one(call), map[string]string{"ng_model_call_capture.rollout_id": `"0-0"`}, Failures},
		{"drained", input, head + `,"_ng_dispatch_drained":1}`, one(call), map[string]string{"ng_model_call_capture": ""}, Rollouts},
		{"redacted", input, head + `,"ng_trajectory":{"gaps":[5,{"code":"multimodal_history_redacted"}]}}`, one(call), map[string]string{
			"ng_trajectory.model_calls[0].response": "null", "ng_trajectory.gaps[0].code": `"producer_trajectory_invalid"`}, Rollouts},
		{"attempt", `{"_ng_task_index":0,"_ng_rollout_index":0,"_ng_attempt_index":2}`, head + `}`, one(call), map[string]string{"ng_model_call_capture.rollout_id": `"0-0-a2"`, "ng_trajectory.rollout_id": `"0-0-a2"`}, Rollouts},
		{"bad id without captures", `{"_ng_task_index":0,"_ng_rollout_index":0,"_ng_rollout_id":5}`, head + `,"ng_agent_observations":{"source":"s"}}`, nil, map[string]string{
			"ng_trajectory": "", "ng_agent_observations.gaps": `[{"code":"trajectory_projection_failed","detail":"ValueError"}]`}, Rollouts},
		{"bad id and odd gaps", `{"_ng_task_index":0,"_ng_rollout_index":0,"_ng_rollout_id":5}`, head + `,"ng_agent_observations":{"gaps":1}}`, nil, map[string]string{
			"ng_trajectory": "", "ng_agent_observations.gaps": `1`}, Rollouts},
		{"a minimal record", input, head + `,"ng_model_call_capture":{"calls":5,"gaps":"x"}}`, nil, map[string]string{
			"ng_trajectory.gaps": `[{"code":"trajectory_projection_failed","invocation_id":null,"detail":"TypeError"}]`, "ng_trajectory.turns": "[]"}, Rollouts},
		{"saved attachment", input, head + `,"ng_model_call_capture":{"calls":[{"model_call_id":"a","response":{"status":"completed","output":[]},"request_raw":"q","tokens_in":3,"tokens_out":true,"latency_total_ms":"2"},7]}` + owned + `}`, nil, map[string]string{
			"ng_model_call_capture.calls":                                    `[{"model_call_id":"a","tokens_in":3,"tokens_out":true,"latency_total_ms":"2"},7]`,
			"ng_trajectory.model_calls[0].response_metadata.response_status": `"completed"`, "ng_trajectory.model_calls[0].token_stats.completion_tokens": "null",
			"ng_trajectory.turns[0].question": `"q"`, "ng_trajectory.model_calls[0].duration_ms": "2.0"}, Rollouts},
		{"non-finite numbers", input, head + `,"ng_agent_observations":{"source":"s","records":[{"kind":"context_compaction","invocation_id":"i","observed_at":"nan"}]}}`, one(""), map[string]string{
			"ng_agent_observations.records[0].observed_at": "null"}, Rollouts},
		{"duplicate key", input, head + `,"reward":1,"reward":2}`, nil, map[string]string{"reward": "2"}, Rollouts},
		{"not persisted", input, head + `,"_ng_no_persist":true}`, nil, nil, Nowhere},
	} {
		p := Projector{Inputs: inputsOf(t, []byte(tt.input)), Captures: tt.captures, Observability: true}
		row, to, err := p.Row(nil, lineOf([]byte(tt.raw)))
		if err != nil || to != tt.to {
			t.Errorf("%s: %d, %v", tt.name, to, err)
			continue
		}
		if to == Nowhere {
			continue
		}
		v, err := value.Strict(row)
		if err != nil {
			t.Fatal(err)
		}
		for path, want := range tt.want {
			got := find(v, path)
			if text := string(got.Append(nil, value.Row)); got.Exists() != (want != "") || got.Exists() && text != want {
				t.Errorf("%s: %s is %s, want %s\n%s", tt.name, path, text, want, row)
			}
		}
		if again, _, err := p.Row(nil, lineOf([]byte(tt.raw))); err != nil || !bytes.Equal(again, row) {
			t.Errorf("%s: another row the second time", tt.name)
		}
	}
}

// find follows a path like a.b[2].c.
func find(v value.Value, path string) value.Value {
	for _, part := range strings.Split(path, ".") {
		name, index, list := strings.Cut(part, "[")
		v = v.Get(name)
		if list {
			n := int(index[0] - '0')
			if v.Kind() != jsonscan.Array || n >= v.Len() {
				return value.Value{}
			}
			v = v.At(n)
		}
	}
	return v
}

func TestRefused(t *testing.T) {
	const head = `{"_ng_task_index":0,"_ng_rollout_index":0`
	deep := strings.Repeat("[", 300) + strings.Repeat("]", 300)
	for _, tt := range []struct {
		name, input, raw string
		captures         Captures
		unwritable       bool
	}{
		{"no input", `{"_ng_task_index":0,"_ng_rollout_index":1}`, head + `}`, nil, false},
		{"text is no number", `{"_ng_task_index":"0","_ng_rollout_index":0}`, head + `}`, nil, false},
		{"cut", input, head, nil, false},
		{"no object", input, `[]`, nil, false},
		{"bad id with captures", `{"_ng_task_index":0,"_ng_rollout_index":0,"_ng_rollout_id":"-x"}`, head + `}`, one(""), false},
		{"deep row", input, head + `,"x":` + deep + `}`, nil, true},
		{"deep payload", input, head + `}`, one(`{"response":{"x":` + deep[10:590] + `}}`), true},
		{"deep arguments", input, head + `}`, one(`{"response":{"output":[{"type":"function_call","arguments":"` + deep + `"}]}}`), true},
		{"wide arguments", input, head + `}`, one(`{"response":{"output":[{"type":"function_call","arguments":"{\"x\":18446744073709551616}"}]}}`), true},
		{"half a pair", input, head + `}`, one(`{"response":{"output":[{"type":"function_call","arguments":"{\"x\":\"\\ud800\"}"}]}}`), true},
		{"wide status", input, head + `}`, one(`{"status_code":"99999999999999999999"}`), true},
		{"wide observation", input, head + `,"ng_agent_observations":{"source":"s","records":[{"kind":"context_compaction","invocation_id":"i","tokens_before":"99999999999999999999"}]}}`, one(""), true},
		{"wide sum", input, head + `}`, one(`{"response":{"usage":{"input_tokens":18446744073709551615}}}` + "\n" + `{"response":{"usage":{"input_tokens":1}}}`), true},
	} {
		_, _, err := project(t, tt.input, tt.raw, tt.captures)
		if err == nil || errors.Is(err, ErrUnwritable) != tt.unwritable {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	// Just as deep as can be written.
	row := head + `,"x":` + strings.Repeat("[", 253) + strings.Repeat("]", 253) + `}`
	if _, _, err := project(t, input, row, nil); err != nil {
		t.Errorf("254 levels: %v", err)
	}
	if _, err := ReadInputs(func(add func([]byte, int) error) error { return add([]byte("{"), 1) }); !errors.Is(err, ErrInput) {
		t.Errorf("cut input: %v", err)
	}
}

// FuzzRow projects rows with captures of any content: what comes out is JSON whose trajectory is valid.
func FuzzRow(f *testing.F) {
	for _, name := range []string{"s20-projection", "s21-projection-damaged"} {
		dir := filepath.Join(data, name, "input")
		raw, err := os.ReadFile(filepath.Join(dir, "raw_results.jsonl"))
		if err != nil {
			f.Fatal(err)
		}
		for _, line := range bytes.Split(raw, []byte{'\n'}) {
			v, err := value.Strict(line)
			if err != nil {
				continue
			}
			key := v.Get("_ng_task_index").String() + "-" + v.Get("_ng_rollout_index").String()
			capture, _ := os.ReadFile(filepath.Join(dir, "captures", modelcall.CaptureFile(key)))
			f.Add(line, capture)
		}
	}
	f.Fuzz(func(t *testing.T, raw, capture []byte) {
		v, err := value.Strict(raw)
		if err != nil || !v.IsObject() {
			return
		}
		in := value.Object(value.M("_ng_task_index", v.Get("_ng_task_index").OrNull()), value.M("_ng_rollout_index", v.Get("_ng_rollout_index").OrNull()))
		inputs, err := ReadInputs(func(add func([]byte, int) error) error { return add(in.Append(nil, value.Row), 1) })
		if err != nil {
			t.Fatal(err)
		}
		p := Projector{Inputs: inputs, Captures: one(capture), Observability: true}
		row, to, err := p.Row(nil, lineOf(raw))
		if err != nil || to == Nowhere {
			return
		}
		var s jsonscan.Scanner
		scanned, err := s.Scan(row)
		if err != nil {
			t.Fatalf("%v\n%s", err, row)
		}
		saved := scanned.Get("ng_trajectory")
		if saved.IsNull() {
			return
		}
		var r trajectory.Reader
		if _, err := r.Read(saved); err != nil && !bytes.Contains(row, []byte(`"timestamp":null`)) {
			t.Errorf("%v\n%s", err, row)
		}
	})
}
