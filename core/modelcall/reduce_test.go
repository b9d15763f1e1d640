package modelcall

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/rollout"
)

func rowOf(t testing.TB, text string) *rollout.Row {
	t.Helper()
	var r rollout.Reader
	return r.Read(&jsonl.Line{Bytes: []byte(text), Length: int64(len(text)), Terminated: true})
}

func digestOf(t testing.TB, text string) []byte {
	t.Helper()
	return new(Mapper).Append(nil, rowOf(t, text))
}

func TestDigest(t *testing.T) {
	attached := `{"ng_model_call_capture":{"calls":[{"model":"m","model_ref":{"type":"t","name":"s"},"dialect":"chat","finish_reason":"stop","error_category":"timeout","response_status":"failed",
		"status_code":"504","started_at":1703997288.688,"completed_at":1703997289.9381235,"latency_total_ms":1250.25,"latency_ttft_ms":-0.0,"tokens_in":3,"tokens_out":true,"tokens_total":-1,
		"cached_tokens":18446744073709551615,"tool_calls":[1,2]},7,{"started_at":"inf","status_code":99999999999999999999,"latency_total_ms":0.1}]}}`
	d, err := Open(digestOf(t, attached))
	if err != nil {
		t.Fatal(err)
	}
	var list []Summary
	for d.Next() {
		list = append(list, d.Call)
	}
	if d.Err() != nil || len(list) != 2 || d.Source != SourceAttachment {
		t.Fatalf("%v %+v", d.Err(), list)
	}
	c := list[0]
	if c.Model != "m" || c.Server != "s" || c.Dialect != "chat" || c.Finish != "stop" || c.Category != "timeout" || c.ResponseStatus != "failed" || c.Status.Int.String() != "504" ||
		c.Started.Value != 1703997288.688 || c.Completed.Value != 1703997289.9381235 || c.LatencyMS.Value != 1250.25 || !math.Signbit(c.TTFTMS.Value) || c.TokensIn.Int.String() != "3" ||
		c.TokensOut.Int.String() != "1" || c.TokensTotal.Set || c.Cached.Set || c.Tools != 2 || !c.Failed() {
		t.Errorf("%+v", c)
	}
	if c := list[1]; c.Started.Set || c.Status.Set || c.LatencyMS.Value != .1 || c.Model != "" || c.Failed() {
		t.Errorf("%+v", c)
	}
	saved := `{"ng_trajectory":{"model_calls":[{"started_at":5,"duration_ms":2,"response":{},"response_metadata":{"model":"` + strings.Repeat("é", 150) + `","model_ref":{"name":"s"},"status_code":200,"latency_ttft_ms":1},"token_stats":{"prompt_tokens":1,"completion_tokens":4}}]}}`
	d, err = Open(digestOf(t, saved))
	if err != nil || !d.Next() || d.Source != SourceTrajectory {
		t.Fatalf("%v", err)
	}
	c = d.Call
	if !strings.HasSuffix(c.Model, "é…") || len(c.Model) > longestWord+3 || c.TokensOut.Int.String() != "4" || c.TTFTMS.Value != 1 || c.LatencyMS.Value != 2 || c.Server != "s" {
		t.Errorf("%+v", c)
	}
	if rate, ok := c.OutRate(); !ok || rate != 2000 {
		t.Errorf("rate %v", rate)
	}
	if rate, ok := c.GenerationRate(); !ok || rate != 4000 {
		t.Errorf("rate %v", rate)
	}
	for _, none := range []string{`{}`, `[]`, `{"ng_model_call_capture":5,"ng_trajectory":{"model_calls":{}}}`, `{bad`} {
		if d, err := Open(digestOf(t, none)); err != nil || d.Len != 0 || d.Source != SourceNone || d.Next() {
			t.Errorf("%s: %v", none, err)
		}
	}
}

// randomRow makes a row whose calls have all kinds of numbers.
func randomRow(r *rand.Rand) string {
	var calls []string
	for range r.Intn(6) {
		c := fmt.Sprintf(`{"model":"m%d","model_ref":{"type":"t","name":"s%d"},"status_code":%d,"tokens_out":%d,"tokens_in":%d,"started_at":%v,"latency_total_ms":%v`,
			r.Intn(3), r.Intn(2), []int{200, 200, 429, 500}[r.Intn(4)], r.Intn(500), r.Intn(1e6), 1.7e9+math.Round(r.Float64()*1e6)/1e3, r.Float64()*1e4)
		if r.Intn(2) == 0 {
			c += fmt.Sprintf(`,"latency_ttft_ms":%v,"completed_at":%v,"finish_reason":"f%d","cached_tokens":%d`, math.Round(r.Float64()*1e4)/100, 1.7e9+r.Float64()*1e3, r.Intn(3), r.Intn(2))
		}
		calls = append(calls, c+"}")
	}
	return `{"ng_model_call_capture":{"calls":[` + strings.Join(calls, ",") + `]}}`
}

// TestMerge holds parts that are merged against the whole.
func TestMerge(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for range 200 {
		var rows []Row
		for i := range r.Intn(20) {
			rows = append(rows, Row{Ordinal: int64(i), Digest: digestOf(t, randomRow(r))})
		}
		reduce := func(rows []Row) *Reducer {
			var red Reducer
			red.Grow(len(rows))
			for i := range rows {
				if err := red.Add(&rows[i]); err != nil {
					t.Fatal(err)
				}
			}
			return &red
		}
		whole, err := reduce(rows).Report()
		if err != nil {
			t.Fatal(err)
		}
		a, b := 0, 0
		if len(rows) > 0 {
			a = r.Intn(len(rows) + 1)
			b = a + r.Intn(len(rows)-a+1)
		}
		first, second, third := reduce(rows[:a]), reduce(rows[a:b]), reduce(rows[b:])
		second.Merge(third)
		first.Merge(second)
		merged, err := first.Report()
		if err != nil {
			t.Fatal(err)
		}
		whole.rows, merged.rows = nil, nil
		if !reflect.DeepEqual(whole, merged) {
			t.Fatalf("%+v\n%+v", whole, merged)
		}
	}
}

// TestReport sums a known run up.
func TestReport(t *testing.T) {
	text, err := os.ReadFile("../../testdata/project/s21-projection-damaged/expected/projected_rollouts.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var red Reducer
	for i, line := range bytes.Split(bytes.TrimSpace(text), []byte{'\n'}) {
		if err := red.Add(&Row{Ordinal: int64(i), Digest: digestOf(t, string(line))}); err != nil {
			t.Fatal(err)
		}
	}
	rep, err := red.Report()
	if err != nil {
		t.Fatal(err)
	}
	if rep.All.Calls != 35 || rep.All.Failed != 1 || rep.WithCalls != 19 || rep.Attached != 19 || len(rep.Groups) != 5 || rep.All.LatencyMS.ByTracker[0] != 1250 ||
		rep.All.Tokens.Out.Sum.String() != "4116" || rep.Status[0].Value != "" || rep.Status[1] != (Tally{"200", 33, 0}) || rep.Status[2] != (Tally{"500", 1, 1}) {
		t.Errorf("%+v", rep)
	}
	n := 0
	rep.Each(func(row *Row, c *Summary) bool {
		n++
		return n < 10
	})
	if n != 10 {
		t.Errorf("%d calls", n)
	}
	if err := red.Add(&Row{Digest: []byte("x")}); !errors.Is(err, ErrDigest) {
		t.Error(err)
	}
}

// FuzzDigest opens bytes of any content.
func FuzzDigest(f *testing.F) {
	r := rand.New(rand.NewSource(2))
	for range 20 {
		f.Add(digestOf(f, randomRow(r)))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := Open(b)
		if err != nil {
			return
		}
		for d.Next() {
			d.Call.Failed()
			d.Call.OutRate()
			d.Call.GenerationRate()
		}
	})
}
