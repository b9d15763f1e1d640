package traceevent

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/rollout"
	"github.com/rollscope/rollscope/core/timeline"
	"github.com/rollscope/rollscope/core/trajectory"
	"github.com/rollscope/rollscope/core/transcript"
	"github.com/rollscope/rollscope/core/value"
)

func text(v value.Value) []byte { return v.Append(nil, value.Row) }

// TestSamples writes traces of the rows of the reference and holds them against the format.
func TestSamples(t *testing.T) {
	spans := 0
	for _, name := range []string{"s20-projection", "s21-projection-damaged"} {
		file, err := os.ReadFile("../../testdata/project/" + name + "/expected/projected_rollouts.jsonl")
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range bytes.Split(bytes.TrimSpace(file), []byte{'\n'}) {
			row := new(rollout.Reader).Read(&jsonl.Line{Number: 1, Bytes: line, Length: int64(len(line))})
			bundle, err := new(trajectory.Reader).ReadBundle(row.Value.Get("ng_agent_observations"))
			if err != nil {
				bundle = nil
			}
			placed := timeline.Of(new(transcript.Reader).Read(row), bundle)
			trace := Trace(placed, Rollout{ID: "0-0", Task: "0"})
			if err := Check(text(trace)); err != nil {
				t.Errorf("%s: %s\n%s", name, err, trace)
			}
			n := 0
			for _, e := range trace.Get("traceEvents").Items() {
				if ph := e.Get("ph"); ph.Is("X") || ph.Is("i") {
					n++
				}
			}
			if n != len(placed.Spans) || trace.Get("otherData").Get("unplaced").Len() != len(placed.Unplaced) {
				t.Errorf("%s: %d events of %d spans", name, n, len(placed.Spans))
			}
			spans += n
		}
	}
	if spans == 0 {
		t.Error("no spans")
	}
}

// TestTrace looks at the events of a small timeline.
func TestTrace(t *testing.T) {
	line := &timeline.Timeline{Start: 100, End: 110, Spans: []timeline.Span{
		{Kind: timeline.Invocation, Name: "main", Invocation: 0, Start: 100, End: 110, Placing: timeline.Derived, DurationMS: math.NaN(), Turn: -1},
		{Kind: timeline.Turn, Name: "turn 1", Invocation: 0, Start: 100.5, End: 102, Placing: timeline.Derived, DurationMS: math.NaN(), Turn: -1},
		{Kind: timeline.ModelCall, Name: "tiny", ID: "m", Invocation: 0, Start: 100.000001, End: 102.0000025, Placing: timeline.Measured, DurationMS: 2000, Turn: 0, Status: "stop"},
		{Kind: timeline.ModelCall, Index: 1, Name: "tiny", Invocation: 0, Start: 102, End: 101, Lane: 1, DurationMS: math.NaN(), Backwards: true, Failed: true, Turn: 7},
		{Kind: timeline.Compaction, Name: "compaction", Invocation: -1, Start: 105, End: 105, DurationMS: math.NaN(), Turn: -1},
	}, Unplaced: []timeline.Span{{Kind: timeline.ToolCall, Name: "f", DurationMS: 5}}}
	trace := Trace(line, Rollout{ID: "0-1", Task: "0", Arguments: func(s *timeline.Span) []value.Member {
		if s.Kind == timeline.ModelCall {
			return []value.Member{value.M("tokens", value.Int(3))}
		}
		return nil
	}})
	if err := Check(text(trace)); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range trace.Get("traceEvents").Items() {
		got = append(got, string(text(e)))
	}
	for _, want := range []string{
		`{"name":"process_name","ph":"M","pid":1,"tid":0,"args":{"name":"rollout 0-1"}}`,
		`{"name":"thread_name","ph":"M","pid":1,"tid":1,"args":{"name":"invocations"}}`,
		`{"name":"thread_name","ph":"M","pid":1,"tid":4,"args":{"name":"main: model calls 2"}}`,
		`{"name":"main","cat":"invocation","ph":"X","pid":1,"tid":1,"ts":0.0,"dur":10000000.0,"args":{"placing":"derived"}}`,
		`{"name":"tiny","cat":"model call","ph":"X","pid":1,"tid":3,"ts":1.0,"dur":2000001.5,"args":{"placing":"measured","id":"m","status":"stop","duration_ms":2000.0,"tokens":3}}`,
		`{"name":"tiny","cat":"model call","ph":"X","pid":1,"tid":4,"ts":1000000.0,"dur":1000000.0,"args":{"placing":"measured","failed":true,"ends_before_it_starts":true,"tokens":3}}`,
		`{"name":"compaction","cat":"compaction","ph":"i","pid":1,"tid":5,"ts":5000000.0,"s":"t","args":{"placing":"measured"}}`,
		`{"name":"call to turn","cat":"flow","ph":"s","id":1,"pid":1,"tid":3,"ts":1.0}`,
		`{"name":"call to turn","cat":"flow","ph":"f","id":1,"pid":1,"tid":2,"ts":500000.0,"bp":"e"}`,
	} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is not in\n%s", want, strings.Join(got, "\n"))
		}
	}
	if other := string(text(trace.Get("otherData"))); other != `{"rollout_id":"0-1","task_id":"0","start_unix_s":100.0,"unplaced":[{"kind":"tool call","name":"f","id":null,"duration_ms":5.0}]}` {
		t.Error(other)
	}
	if err := Check(text(Trace(&timeline.Timeline{}, Rollout{}))); err != nil {
		t.Error(err)
	}
}

// TestCheck gives the check what it must refuse.
func TestCheck(t *testing.T) {
	event := func(fields string) string {
		return `{"traceEvents":[{"name":"n","cat":"c","pid":1,"tid":1,` + fields + `}]}`
	}
	for _, tt := range []struct{ text, want string }{
		{event(`"ph":"X","ts":1,"dur":1`), ""},
		{event(`"ph":"i","ts":1,"s":"g"`), ""},
		{`{"traceEvents":[],"displayTimeUnit":"ns"}`, ""},
		{`{`, "ends"},
		{`{}`, "no array"},
		{`{"traceEvents":[],"displayTimeUnit":"s"}`, "neither"},
		{`{"traceEvents":[1]}`, "no object"},
		{`{"traceEvents":[{"ph":"M"}]}`, "name"},
		{`{"traceEvents":[{"name":"n","ph":"XX"}]}`, "no letter"},
		{`{"traceEvents":[{"name":"n","ph":"X","pid":"1"}]}`, "pid"},
		{event(`"ph":"X","ts":-1,"dur":1`), "no time"},
		{event(`"ph":"X","ts":1,"dur":-1`), "no duration"},
		{event(`"ph":"X","ts":1`), "no duration"},
		{event(`"ph":"X","ts":1,"dur":1,"args":[]`), "args"},
		{event(`"ph":"M"`), "no args"},
		{event(`"ph":"i","ts":1`), "scope"},
		{event(`"ph":"s","ts":1`), "no id"},
		{event(`"ph":"s","ts":1,"id":1`), "begin and end"},
		{event(`"ph":"Q","ts":1`), "not expected"},
		{`{"traceEvents":[{"name":"n","ph":"X","pid":1,"tid":1,"ts":1,"dur":1}]}`, "cat"},
		{`{"traceEvents":[{"name":"n","cat":"c","ph":"X","pid":1,"tid":1,"ts":1,"dur":5},{"name":"n","cat":"c","ph":"X","pid":1,"tid":1,"ts":3,"dur":5}]}`, "overlap"},
		{`{"traceEvents":[{"name":"n","cat":"c","ph":"X","pid":1,"tid":1,"ts":1,"dur":5},{"name":"n","cat":"c","ph":"X","pid":1,"tid":2,"ts":3,"dur":5}]}`, ""},
		{`{"traceEvents":[{"name":"n","cat":"c","ph":"X","pid":1,"tid":1,"ts":1,"dur":5},{"name":"n","cat":"c","ph":"X","pid":1,"tid":1,"ts":3,"dur":3}]}`, ""},
	} {
		err := Check([]byte(tt.text))
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.text, err, tt.want)
		}
	}
}

// TestRandom writes traces of timelines of any shape; what timeline makes of them fits the format.
func TestRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	number := func() string {
		switch rng.IntN(8) {
		case 0:
			return "null"
		case 1:
			return []string{"1e308", "-1e308", "0", "1e-300", "-5", "1e15"}[rng.IntN(6)]
		}
		return fmt.Sprintf("%.7f", 1.7e9+float64(rng.IntN(1000))/7)
	}
	for range 300 {
		var calls, tools []string
		for i := range rng.IntN(12) {
			calls = append(calls, fmt.Sprintf(`{"model_call_id":"m%d","started_at":%s,"completed_at":%s,"response_metadata":{},"token_stats":{}}`, i, number(), number()))
		}
		for i := range rng.IntN(12) {
			tools = append(tools, fmt.Sprintf(`{"tool_call_id":"c%d","invocation_id":"main","started_at":%s}`, i, number()))
		}
		var turns []string
		for i := range rng.IntN(4) {
			turns = append(turns, fmt.Sprintf(`{"invocation_id":"main","task_id":"t","rollout_id":"r","turn_no":%d,"timestamp":%s,"step_count":0,"model_calls":[{"model_call_id":"m%d"}],"question":"q","answer":"a"}`,
				i+1, strings.Replace(number(), "null", "0", 1), rng.IntN(12)))
		}
		line := fmt.Sprintf(`{"ng_trajectory":{"task_id":"t","rollout_id":"r","invocations":[{"invocation_id":"main","model_calls":[],"conversation":[]}],"turns":[%s],"tool_calls":[%s],"model_calls":[%s]}}`,
			strings.Join(turns, ","), strings.Join(tools, ","), strings.Join(calls, ","))
		row := new(rollout.Reader).Read(&jsonl.Line{Number: 1, Bytes: []byte(line), Length: int64(len(line))})
		joined := new(transcript.Reader).Read(row)
		if joined.Err != nil {
			t.Fatal(joined.Err, line)
		}
		if err := Check(text(Trace(timeline.Of(joined, nil), Rollout{}))); err != nil {
			t.Fatalf("%s: %s", err, line)
		}
	}
}

// FuzzCheck reads traces of any content.
func FuzzCheck(f *testing.F) {
	f.Add([]byte(`{"traceEvents":[{"name":"n","cat":"c","ph":"X","pid":1,"tid":1,"ts":1,"dur":5},{"name":"n","cat":"c","ph":"s","id":1,"pid":1,"tid":1,"ts":3}]}`))
	f.Fuzz(func(t *testing.T, text []byte) { _ = Check(text) })
}
