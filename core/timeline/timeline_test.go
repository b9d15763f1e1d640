package timeline

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/rollout"
	"github.com/rollscope/rollscope/core/trajectory"
	"github.com/rollscope/rollscope/core/transcript"
)

// run is a rollout with clocks of every kind: a root with two overlapping calls and a subagent, tools with and without
// times, a call that ends before it starts.
const run = `{"ng_trajectory":{"task_id":"t","rollout_id":"r","invocations":[
 {"invocation_id":"main","status":"completed","duration_ms":9000,"model_calls":[{"model_call_id":"m1"},{"model_call_id":"m2"},{"model_call_id":"m3"}],"conversation":[]},
 {"invocation_id":"sub","parent_invocation_id":"main","status":"failed","model_calls":[{"model_call_id":"m4"}],"conversation":[]},
 {"invocation_id":"idle","status":"completed","model_calls":[],"conversation":[]}],
"turns":[
 {"invocation_id":"main","task_id":"t","rollout_id":"r","turn_no":1,"timestamp":100.5,"step_count":0,"model_calls":[{"model_call_id":"m1"}],"question":"q",
  "answer":[{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"}]},
 {"invocation_id":"main","task_id":"t","rollout_id":"r","turn_no":2,"timestamp":0,"step_count":1,"model_calls":[{"model_call_id":"m5"}],"question":"q","answer":"a"},
 {"invocation_id":"sub","task_id":"t","rollout_id":"r","turn_no":1,"timestamp":107,"step_count":0,"model_calls":[],"question":"q","answer":"a"}],
"tool_calls":[
 {"tool_call_id":"c1","invocation_id":"main","status":"completed","tool_name":"f","started_at":103,"duration_ms":1500,"sandbox_id":"box"},
 {"tool_call_id":"c2","invocation_id":"main","status":"timeout","completed_at":110,"duration_ms":500,"sandbox_id":"box"},
 {"tool_call_id":"c3","invocation_id":"sub","status":"completed","duration_ms":5}],
"model_calls":[
 {"model_call_id":"m1","started_at":101,"completed_at":103,"duration_ms":2000,"response_metadata":{"model":"tiny","status_code":200,"finish_reason":"stop"},"token_stats":{}},
 {"model_call_id":"m2","started_at":102,"completed_at":104,"response_metadata":{"model":"tiny","status_code":503},"token_stats":{}},
 {"model_call_id":"m3","started_at":106,"completed_at":105,"response_metadata":{"error_category":"timeout"},"token_stats":{}},
 {"model_call_id":"m4","started_at":108,"response_metadata":{},"token_stats":{}},
 {"model_call_id":"m5","response_metadata":{},"token_stats":{}}]},
"ng_agent_observations":{"source":"s","records":[{"kind":"sandbox","sandbox_id":"box","role":"agent","outcome":"completed"},{"kind":"sandbox","sandbox_id":"other","role":"verifier","outcome":"failed","wall_time_s":2},
 {"kind":"context_compaction","invocation_id":"main","outcome":"completed","observed_at":105.5},{"kind":"context_compaction","invocation_id":"x","outcome":"failed"}]}}`

func timelineOf(t testing.TB, text string) *Timeline {
	t.Helper()
	row := new(rollout.Reader).Read(&jsonl.Line{Number: 1, Bytes: []byte(text), Length: int64(len(text))})
	if row.Problem != nil {
		t.Fatal(row.Problem)
	}
	r := new(transcript.Reader).Read(row)
	bundle, err := new(trajectory.Reader).ReadBundle(row.Value.Get("ng_agent_observations"))
	if err != nil {
		bundle = nil
	}
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	return Of(r, bundle)
}

func sketch(s *Span) string {
	text := fmt.Sprintf("%s %d %q of %d: ", s.Kind, s.Index, s.Name, s.Invocation)
	if s.Placing != Unplaced {
		text += fmt.Sprintf("%v–%v lane %d, ", s.Start, s.End, s.Lane)
	}
	text += s.Placing.String()
	if !math.IsNaN(s.DurationMS) {
		text += fmt.Sprintf(", %v ms", s.DurationMS)
	}
	if s.Turn >= 0 {
		text += fmt.Sprintf(", turn %d", s.Turn)
	}
	if s.Status != "" {
		text += ", " + s.Status
	}
	if s.Failed {
		text += ", failed"
	}
	if s.Backwards {
		text += ", backwards"
	}
	return text
}

func TestOf(t *testing.T) {
	line := timelineOf(t, strings.ReplaceAll(run, "\n", " "))
	var got []string
	for i := range line.Spans {
		got = append(got, sketch(&line.Spans[i]))
	}
	got = append(got, "unplaced")
	for i := range line.Unplaced {
		got = append(got, sketch(&line.Unplaced[i]))
	}
	want := `invocation 0 "main" of 0: 100.5–110 lane 0, derived, 9000 ms, completed
invocation 1 "sub" of 1: 107–108 lane 0, derived, failed, failed
turn 0 "turn 1" of 0: 100.5–104.5 lane 0, derived
turn 2 "turn 1" of 1: 107–107 lane 0, derived
model call 0 "tiny" of 0: 101–103 lane 0, measured, 2000 ms, turn 0, stop
model call 1 "tiny" of 0: 102–104 lane 1, measured, failed
model call 2 "model call" of 0: 106–105 lane 0, measured, timeout, failed, backwards
model call 3 "model call" of 1: 108–108 lane 0, derived
tool call 0 "f" of 0: 103–104.5 lane 0, derived, 1500 ms, turn 0, completed
tool call 1 "tool call" of 0: 109.5–110 lane 0, derived, 500 ms, timeout, failed
sandbox 0 "agent sandbox" of -1: 103–110 lane 0, derived, completed
compaction 0 "compaction" of 0: 105.5–105.5 lane 0, measured, completed
unplaced
model call 4 "model call" of -1: unplaced, turn 1
tool call 2 "tool call" of 1: unplaced, 5 ms, completed
turn 1 "turn 2" of 0: unplaced
invocation 2 "idle" of 2: unplaced, completed
sandbox 1 "verifier sandbox" of -1: unplaced, 2000 ms, failed, failed
compaction 1 "compaction" of -1: unplaced, failed, failed`
	if s := strings.Join(got, "\n"); s != want {
		t.Errorf("%s\nwant\n%s", s, want)
	}
	if line.Start != 100.5 || line.End != 110 {
		t.Errorf("%v–%v", line.Start, line.End)
	}
}

// TestSamples places the rows of the reference: nothing is lost, lanes do not overlap, and children lie in their parents.
func TestSamples(t *testing.T) {
	for _, name := range []string{"s20-projection", "s21-projection-damaged"} {
		text, err := os.ReadFile("../../testdata/project/" + name + "/expected/projected_rollouts.jsonl")
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range bytes.Split(bytes.TrimSpace(text), []byte{'\n'}) {
			holds(t, timelineOf(t, string(row)))
		}
	}
	if line := Of(&transcript.Rollout{}, nil); len(line.Spans)+len(line.Unplaced) > 0 || line.Start != 0 || line.End != 0 {
		t.Errorf("%+v", line)
	}
}

// holds looks at what is true of every timeline.
func holds(t testing.TB, line *Timeline) {
	t.Helper()
	for i := range line.Spans {
		s := &line.Spans[i]
		if s.from() < line.Start || s.to() > line.End || s.Lane < 0 || s.Placing == Unplaced {
			t.Errorf("%s outside of %v–%v", sketch(s), line.Start, line.End)
		}
		for k := i + 1; k < len(line.Spans); k++ {
			o := &line.Spans[k]
			if o.Kind == s.Kind && o.Invocation == s.Invocation && o.Lane == s.Lane && o.from() < s.to() && o.to() > s.from() {
				t.Errorf("%s overlaps %s", sketch(s), sketch(o))
			}
		}
		if s.Kind == Turn || s.Invocation < 0 || s.Kind == Invocation {
			continue
		}
		for k := range line.Spans {
			if o := &line.Spans[k]; o.Kind == Invocation && o.Index == s.Invocation && s.Kind != Compaction && (s.from() < o.Start || s.to() > o.End) {
				t.Errorf("%s outside of %s", sketch(s), sketch(o))
			}
		}
	}
}

// FuzzOf places rows of any content.
func FuzzOf(f *testing.F) {
	f.Add([]byte(strings.ReplaceAll(run, "\n", " ")))
	f.Add([]byte(strings.ReplaceAll(strings.ReplaceAll(run, "\n", " "), "103", "1e308")))
	f.Fuzz(func(t *testing.T, text []byte) {
		row := new(rollout.Reader).Read(&jsonl.Line{Number: 1, Bytes: text, Length: int64(len(text))})
		r := new(transcript.Reader).Read(row)
		bundle, err := new(trajectory.Reader).ReadBundle(row.Value.Get("ng_agent_observations"))
		if err != nil {
			bundle = nil
		}
		holds(t, Of(r, bundle))
	})
}
