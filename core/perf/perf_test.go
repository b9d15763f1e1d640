package perf

import (
	"fmt"
	"math"
	"math/rand"
	"reflect"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/finding"
	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/modelcall"
	"github.com/rollscope/rollscope/core/rollout"
	"github.com/rollscope/rollscope/core/trajectory"
	"github.com/rollscope/rollscope/core/value"
)

func record(t testing.TB, text string) *trajectory.Record {
	t.Helper()
	v, err := new(jsonscan.Scanner).Scan([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	rec, err := new(trajectory.Reader).Read(v)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return rec
}

const head = `{"task_id":"t","rollout_id":"r"`

func turn(invocation string, no int) string {
	return fmt.Sprintf(`{"invocation_id":"%s","task_id":"t","rollout_id":"r","turn_no":%d,"timestamp":1,"step_count":0}`, invocation, no)
}

func refs(ids ...string) string {
	var list []string
	for _, id := range ids {
		list = append(list, `{"model_call_id":"`+id+`"}`)
	}
	return `"model_calls":[` + strings.Join(list, ",") + `]`
}

// TestOf holds the table of the spec.
func TestOf(t *testing.T) {
	pair := `{"model_ref":{"type":"responses_api_models","name":"p"},"response_id":"x"}`
	server := `"model_ref":{"type":"responses_api_models","name":"p"},"response_id":"x"`
	for _, tt := range []struct{ text, want string }{
		{head + `,"invocations":[{"invocation_id":"A",` + refs("a", "b", "a") + `},{"invocation_id":"B"},{"invocation_id":"C",` + refs("a") + `}],"turns":[` + turn("B", 1) + "," + turn("ZZ", 1) + `],
			"model_calls":[{"model_call_id":"a","token_stats":{"prompt_tokens":1}},{"model_call_id":"b","token_stats":{"prompt_tokens":0,"reasoning_tokens":0}}],
			"tool_calls":[{"invocation_id":"A","tool_call_id":"1"},{"invocation_id":"ZZ","tool_call_id":"2"}]}`,
			`{"num_turns":4,"num_tool_calls":1,"token_observability_coverage":0.5,"prompt_tokens":1,"reasoning_tokens":0}`},
		{head + `,"invocations":[{"invocation_id":"A",` + refs("a", "b", "c") + `}],"turns":[` + turn("A", 1) + "," + turn("A", 2) + `],"model_calls":[{"model_call_id":"a"},{"model_call_id":"b"},{"model_call_id":"c"}]}`,
			`{"num_turns":2,"num_tool_calls":0,"token_observability_coverage":1.0}`},
		{head + `,"invocations":[{"invocation_id":"A","model_calls":[` + pair + `]}],"model_calls":[{"model_call_id":"a","response_metadata":{` + server + `}},{"model_call_id":"b","response_metadata":{` + server + `}}]}`,
			`{"num_turns":1,"num_tool_calls":0,"token_observability_coverage":0.0}`},
		{head + `,"invocations":[{"invocation_id":"A"}],"model_calls":[{"model_call_id":"a","token_stats":{"prompt_tokens":5}}]}`, `{"num_turns":1,"num_tool_calls":0,"token_observability_coverage":0.0}`},
		{head + `,"invocations":[{"invocation_id":"A","model_calls":[` + pair + `]}],"model_calls":[{"response_metadata":{` + server + `},"token_stats":{"completion_tokens":5,"cached_tokens":2}}]}`,
			`{"num_turns":1,"num_tool_calls":0,"token_observability_coverage":1.0,"cached_prompt_tokens":2,"completion_tokens":5}`},
		{head + `,"model_calls":[{"model_call_id":"a"}]}`, ""},
	} {
		p, ok := Of(record(t, tt.text))
		got := ""
		if ok {
			got = string(p.AppendJSON(nil, nil))
		}
		if got != tt.want {
			t.Errorf("%s:\n%s, want\n%s", tt.text, got, tt.want)
		}
	}
	var p Rollout
	if got := string(p.AppendJSON(nil, []byte("7"))); !strings.HasSuffix(got, `,"total_latency_ms":7}`) {
		t.Error(got)
	}
}

func saved(t testing.TB, objects ...string) []Saved {
	t.Helper()
	var list []Saved
	for _, text := range objects {
		v, err := value.Strict([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, SavedOf(v))
	}
	return list
}

func text(members []value.Member) string {
	return string(value.Object(members...).Append(nil, value.Row))
}

// TestSummarize holds the worked examples of the spec.
func TestSummarize(t *testing.T) {
	list := saved(t,
		`{"num_turns":3,"completion_tokens":10,"prompt_tokens":100,"token_observability_coverage":1,"total_latency_ms":1000.5}`,
		`{"num_turns":4,"completion_tokens":0,"token_observability_coverage":0,"total_latency_ms":2000}`,
		`{"num_turns":0,"completion_tokens":7,"reasoning_tokens":3,"token_observability_coverage":0.25}`)
	const want = `{"overall_observability_coverage":0.6,"token_observability_coverage":0.4,"mean_prompt_tokens":100.0,"median_prompt_tokens":100,"total_prompt_tokens":100,` +
		`"mean_completion_tokens":5.666666666666667,"median_completion_tokens":7,"total_completion_tokens":17,"mean_reasoning_tokens":3.0,"median_reasoning_tokens":3,"total_reasoning_tokens":3,` +
		`"mean_num_turns":2.3333333333333335,"median_num_turns":3,"std_num_turns":1.699673171197595,"min_num_turns":0,"p90_num_turns":3.8,"max_num_turns":4,` +
		`"mean_tokens_per_turn":1.6666666666666667,"median_tokens_per_turn":1.6666666666666667,"total_latency_p50_ms":1500.25,"total_latency_p90_ms":1900.05,"total_latency_p99_ms":1990.0049999999999,"total_latency_mean_ms":1500.25}`
	if got := text(Summarize(5, list)); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got := text(Summarize(2, saved(t, `{}`))); got != `{"overall_observability_coverage":0.5,"token_observability_coverage":0.0}` {
		t.Error(got)
	}
	if Summarize(0, nil) != nil || Summarize(3, nil) != nil {
		t.Error("a summary of nothing")
	}
	var turns []string
	for _, n := range []int{1, 2, 2, 3, 5, 8, 13} {
		turns = append(turns, fmt.Sprintf(`{"num_turns":%d}`, n))
	}
	if got := text(Summarize(7, saved(t, turns...))); !strings.Contains(got, `"mean_num_turns":4.857142857142857,"median_num_turns":3,"std_num_turns":3.979539507766891,"min_num_turns":1,"p90_num_turns":10.000000000000002,`) {
		t.Error(got)
	}
	got := text(Summarize(4, saved(t, `{"total_latency_ms":0.1}`, `{"total_latency_ms":0.7}`, `{"total_latency_ms":0.3}`, `{"total_latency_ms":0.2}`)))
	if !strings.HasSuffix(got, `"total_latency_p50_ms":0.25,"total_latency_p90_ms":0.5800000000000001,"total_latency_p99_ms":0.6879999999999998,"total_latency_mean_ms":0.325}`) {
		t.Error(got)
	}
	// What is no number takes part in nothing; sums are exact beyond a double.
	got = text(Summarize(3, saved(t, `{"prompt_tokens":true}`, `{"prompt_tokens":18446744073709551615}`, `{"prompt_tokens":18446744073709551615}`)))
	if !strings.Contains(got, `"total_prompt_tokens":36893488147419103230`) || !strings.Contains(got, `"mean_prompt_tokens":1.8446744073709552e+19`) {
		t.Error(got)
	}
	if got := text(Summarize(3, saved(t, `{"prompt_tokens":0.1}`, `{"prompt_tokens":0.2}`, `{"prompt_tokens":0.3}`))); !strings.Contains(got, `"total_prompt_tokens":0.6`) {
		t.Error(got)
	}
}

func TestTracker(t *testing.T) {
	var tr Tracker
	if _, ok := tr.Quantile(.5); ok || tr.Lines()[0] != "no rollout was timed" {
		t.Error("an empty tracker")
	}
	for _, s := range []float64{60, 120, 0, -1, 30, math.NaN()} {
		tr.Record(s)
	}
	if !reflect.DeepEqual(tr.Seconds(), []float64{30, 60, 120}) {
		t.Errorf("%v", tr.Seconds())
	}
	if _, ok := tr.DrainMargin(0, false); ok {
		t.Error("a margin of three durations")
	}
	if s, ok := tr.DrainMargin(0, true); !ok || s != 0 {
		t.Error("a configured margin of 0")
	}
	tr.Record(600)
	tr.Record(300)
	if s, ok := tr.DrainMargin(0, false); !ok || s != 300 {
		t.Errorf("margin %v", s)
	}
	if s, _ := tr.DrainMargin(7, true); s != 7 {
		t.Errorf("margin %v", s)
	}
	tr.Drained = 2
	if got := strings.Join(tr.Lines(), "; "); got != "5 timed rollouts: median 2.0 min, p90 8.0 min, p99 9.8 min, longest 10.0 min; delivered task time: 0.3 h; 2 rows were not started" {
		t.Error(got)
	}
	if !reflect.DeepEqual(TrackerOf([]float64{600, 30, 0, 60, 300, 120}).Seconds(), tr.Seconds()) {
		t.Error("made at once")
	}
	for f, want := range map[float64]string{.25: "0.2", .75: "0.8", .35: "0.3", .05: "0.1", 1e9: "1000000000.0"} {
		if got := oneDecimal(f); got != want {
			t.Errorf("%v: %s, want %s", f, got, want)
		}
	}
	if rate, ok := PerMinute(3, 90); !ok || rate != 2 {
		t.Errorf("%v", rate)
	}
}

func rowOf(t testing.TB, text string) *rollout.Row {
	t.Helper()
	var r rollout.Reader
	return r.Read(&jsonl.Line{Bytes: []byte(text), Length: int64(len(text)), Terminated: true})
}

func TestElapsed(t *testing.T) {
	for row, want := range map[string]float64{
		`{"elapsed_seconds":0,"response":{"metadata":{"elapsed_seconds":"7"}}}`: 7, `{"elapsed_seconds":"x","response":{"metadata":{"elapsed_seconds":7}}}`: 7,
		`{"elapsed_seconds":true}`: 1, `{"elapsed_seconds":-1}`: 0, `{"response":null}`: 0, `{"elapsed_seconds":"5.5"}`: 5.5, `{"elapsed_seconds":"nan"}`: 0, `{"elapsed_seconds":"inf"}`: math.Inf(1),
	} {
		r := rowOf(t, row)
		if got, _ := Elapsed(r.Value, r.Response); got != want {
			t.Errorf("%s: %v, want %v", row, got, want)
		}
	}
}

func perfRow(t testing.TB, i int64, text string) *Row {
	r := rowOf(t, text)
	id := r.Identity()
	return &Row{Ordinal: i, Identity: id.Resolve(i, 0, i+1), Agent: r.Facts().Agent, Perf: new(Mapper).Append(nil, r), Calls: new(modelcall.Mapper).Append(nil, r)}
}

func runRow(task int, start, end, latency float64, more string) string {
	return fmt.Sprintf(`{"_ng_task_index":%d,"agent_ref":{"name":"a%d"},"ng_perf":{"num_turns":2,"completion_tokens":10,"total_latency_ms":%v},"ng_model_call_capture":{"calls":[{"model":"m","started_at":%v,"completed_at":%v,"tokens_out":30,"latency_total_ms":1000,"latency_ttft_ms":250}]}%s}`,
		task, task%2, latency, start, end, more)
}

func TestReport(t *testing.T) {
	var red Reducer
	for i, text := range []string{
		runRow(0, 1000, 1010, 20000, ``), runRow(1, 1010, 1100, 30000, ``), runRow(2, 1015, 1025, 10000, `,"elapsed_seconds":12`),
		runRow(3, 1000, 1001, 1000, `,"_ng_failure_class":"x"`), `{"elapsed_seconds":"3"}`, `{bad`,
	} {
		if err := red.Add(perfRow(t, int64(i), text)); err != nil {
			t.Fatal(err)
		}
	}
	r := red.Report()
	if r.Rows != 6 || r.Failures != 1 || r.WithPerf != 4 || r.Trackers[ByRequest].Len() != 3 || r.Trackers[ByElapsed].Len() != 2 || r.Trackers[ByCalls].Len() != 3 {
		t.Errorf("%+v", r)
	}
	w := r.Window
	if !w.Known || w.Start != 1000 || w.End != 1100 || w.Rows != 4 || w.PerHour != 144 || w.PeakConcurrency != 3 || w.MeanConcurrency != .61 || w.Completion.String() != "120" || w.CompletionPerSecond != 1.2 {
		t.Errorf("%+v", w)
	}
	if w.Quarters[0].Rows != 2 || w.Quarters[1].Rows != 2 || w.Quarters[3].Rows != 0 || w.Hours[0] != 4 {
		t.Errorf("%+v", w.Quarters)
	}
	area := 0.0
	levels := w.Concurrency(7)
	for _, l := range levels {
		area += l.Mean * (l.To - l.From)
	}
	if len(levels) != 7 || math.Abs(area-61) > 1e-9 || levels[0].From != 1000 || levels[6].To != 1040 {
		t.Errorf("%v %+v", area, levels)
	}
	if len(r.Agents) != 3 || r.Agents[0].Name != "" && r.Agents[0].Name != "a0" || r.Slowest[0].Latency != 30 {
		t.Errorf("%+v", r.Agents)
	}
	for _, p := range r.Agents {
		if p.Name == "a0" && (p.By != ByRequest || p.OutPerSecond != 20.0/30 || p.Completion.String() != "20" || p.TurnsMean != 2) {
			t.Errorf("%+v", p)
		}
	}
	if levels := new(Window).Concurrency(3); levels != nil {
		t.Errorf("%+v", levels)
	}
}

// TestMerge holds parts that are merged against the whole.
func TestMerge(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for range 100 {
		var rows []*Row
		for i := range r.Intn(15) {
			start := 1e9 + float64(r.Intn(1000))
			more := ""
			if r.Intn(3) == 0 {
				more = fmt.Sprintf(`,"elapsed_seconds":%d`, r.Intn(50))
			}
			rows = append(rows, perfRow(t, int64(i), runRow(r.Intn(4), start, start+float64(r.Intn(50)), float64(r.Intn(60000)), more)))
		}
		reduce := func(rows []*Row) *Reducer {
			var red Reducer
			for _, row := range rows {
				if err := red.Add(row); err != nil {
					t.Fatal(err)
				}
			}
			return &red
		}
		k := 0
		if len(rows) > 0 {
			k = r.Intn(len(rows) + 1)
		}
		first := reduce(rows[:k])
		first.Merge(reduce(rows[k:]))
		if a, b := reduce(rows).Report(), first.Report(); !reflect.DeepEqual(a, b) {
			t.Fatalf("%+v\n%+v", a, b)
		}
	}
}

func TestLongestFirst(t *testing.T) {
	key := func(n uint64) rollout.Key { return rollout.IntKey(jsonscan.Integer{Magnitude: n}) }
	list := LongestFirst([]Waiting{{key(1), key(0), 0}, {key(2), key(0), 5}, {key(3), key(0), 0}, {key(2), key(0), 9}, {key(4), key(0), 7}, {key(5), key(0), 9}})
	var order []string
	for _, w := range list {
		order = append(order, w.Task.String())
	}
	if got := strings.Join(order, " "); got != "2 5 4 1 3" {
		t.Error(got)
	}
}

func ids(t *testing.T, list []finding.Finding) string {
	var out []string
	for _, f := range list {
		if f.Severity == "" || f.Message() == "" {
			t.Errorf("%s: %s", f.ID, f.Message())
		}
		out = append(out, strings.TrimPrefix(f.ID, "perf."))
	}
	return strings.Join(out, " ")
}

func TestCheck(t *testing.T) {
	rec := record(t, head+`,"invocations":[{"invocation_id":"A",`+refs("a")+`}],"model_calls":[{"model_call_id":"a","started_at":1,"completed_at":5,"token_stats":{"prompt_tokens":3}}]}`)
	half := record(t, head+`,"invocations":[{"invocation_id":"A"}]}`)
	none := record(t, head+`}`)
	good := `{"num_turns":1,"num_tool_calls":0,"token_observability_coverage":1.0,"prompt_tokens":3`
	for _, tt := range []struct {
		saved    string
		rec      *trajectory.Record
		want     string
		expected bool
	}{
		{good + `}`, rec, "", true}, {good + `,"total_latency_ms":3000}`, rec, "", true}, {good + `,"total_latency_ms":2999}`, rec, "latency_span", true},
		{good + `,"total_latency_ms":-1}`, rec, "bad_latency", true}, {good + `,"total_latency_ms":"x"}`, rec, "bad_latency", true},
		{`{"num_turns":1.0,"num_tool_calls":0,"token_observability_coverage":1,"prompt_tokens":3}`, rec, "", true},
		{`{"num_turns":true,"num_tool_calls":0,"token_observability_coverage":1,"prompt_tokens":3}`, rec, "bad_value", true},
		{good + `,"completion_tokens":0}`, rec, "mismatch", true}, {`5`, rec, "mismatch", true}, {`null`, rec, "", true},
		{`{"num_turns":1,"num_tool_calls":0,"token_observability_coverage":0.0}`, half, "low_coverage", true},
		{good + `}`, none, "unexpected", false}, {good + `}`, nil, "unexpected", false}, {`null`, none, "", false},
	} {
		v, err := value.Strict([]byte(tt.saved))
		if err != nil {
			t.Fatal(err)
		}
		var list []finding.Finding
		expected := Check(v, tt.rec, func(id string, values ...value.Member) { list = append(list, finding.New(id, "", "", values...)) })
		if got := ids(t, list); got != tt.want || expected != tt.expected {
			t.Errorf("%s: %s %t, want %s", tt.saved, got, expected, tt.want)
		}
	}
}

func TestCheckSummaries(t *testing.T) {
	var red Reducer
	for i := range 3 {
		if err := red.Add(perfRow(t, int64(i), runRow(i, 1000, 1010, float64(1000*i+1), ""))); err != nil {
			t.Fatal(err)
		}
	}
	r := red.Report()
	good := text(r.Summary)
	for entries, want := range map[string]string{
		`[{"perf_summary":` + good + `}]`: "", `[{}]`: "summary_missing", `[{"perf_summary":` + strings.Replace(good, `"total_completion_tokens":30`, `"total_completion_tokens":31`, 1) + `}]`: "summary_mismatch",
		`[{"perf_summary":` + strings.Replace(good, `"total_latency_mean_ms":1001.0`, `"total_latency_mean_ms":1001.0000000000001`, 1) + `}]`: "summary_mismatch",
		`[{"agent_ref":{"name":"a9"}},{"agent_ref":{"name":"a8"}}]`:                                                                           "", `{}`: "",
	} {
		v, err := value.Strict([]byte(entries))
		if err != nil {
			t.Fatal(err)
		}
		list := CheckSummaries(v, r, "f")
		if got := ids(t, list); got != want {
			t.Errorf("%s: %s, want %s", entries, got, want)
		}
		if strings.Contains(entries, "0000001") && (len(list) != 1 || list[0].Severity != finding.Info) {
			t.Errorf("the last bit: %+v", list)
		}
	}
}

// FuzzDigest opens bytes of any content.
func FuzzDigest(f *testing.F) {
	f.Add(perfRow(f, 0, runRow(1, 1, 2, 3, `,"elapsed_seconds":1`)).Perf)
	f.Fuzz(func(t *testing.T, b []byte) {
		var d digest
		if d.open(b) == nil {
			d.latency()
		}
	})
}
