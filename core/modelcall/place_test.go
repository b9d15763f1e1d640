package modelcall

import (
	"bytes"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// TestPlaceEdges places calls by references of all kinds.
func TestPlaceEdges(t *testing.T) {
	calls := `[{"model_call_id":"a","model_ref":{"type":"t","name":"s"},"response_id":"r1"},{"model_call_id":"b"},{"model_call_id":"b"},{"response_id":"r2","model_ref":{"type":"t","name":"s"}},{}]`
	row := func(turns, invocations string) string {
		return `{"ng_model_call_capture":{"calls":` + calls + `},"ng_trajectory":{"turns":` + turns + `,"invocations":` + invocations + `}}`
	}
	for _, tt := range []struct{ name, turns, invocations, want string }{
		{"by id", `[{"model_calls":[{"model_call_id":"a"}]}]`, `[{"invocation_id":"x","model_calls":[{"model_call_id":"a"}]}]`, "1x 0 0 0 0"},
		{"two calls of one id", `[{"model_calls":[{"model_call_id":"b"}]}]`, `[]`, "0 0 0 0 0"},
		{"by answer and server", `[7,{"model_calls":[{"response_id":"r2","model_ref":{"type":"t","name":"s"}}]}]`, `[]`, "0 0 0 2 0"},
		{"answer without server", `[{"model_calls":[{"response_id":"r2"}]}]`, `[]`, "0 0 0 0 0"},
		{"another server", `[{"model_calls":[{"model_call_id":"a","model_ref":{"type":"t","name":"z"}}]}]`, `[]`, "0 0 0 0 0"},
		{"the first one counts", `[{"model_calls":[{"model_call_id":"a"}]},{"model_calls":[{"model_call_id":"a"}]}]`,
			`[{"invocation_id":"x","model_calls":[{"model_call_id":"a"},{"model_call_id":"a"}]},{"invocation_id":"y","model_calls":[{"model_call_id":"a"}]}]`, "1x 0 0 0 0"},
		{"no lists", `{}`, `null`, "0 0 0 0 0"},
		{"odd references", `[{"model_calls":{}},{"model_calls":[null,"a",{"model_call_id":5},{"model_call_id":""}]}]`, `[{"invocation_id":7,"model_calls":[{"model_call_id":"a"}]}]`, "0 0 0 0 0"},
	} {
		d, err := Open(digestOf(t, row(tt.turns, tt.invocations)))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for d.Next() {
			got = append(got, fmt.Sprint(d.Call.Turn)+d.Call.Invocation)
		}
		if text := strings.Join(got, " "); text != tt.want || d.Err() != nil {
			t.Errorf("%s: %s, want %s", tt.name, text, tt.want)
		}
	}
}

// TestSeek goes to calls out of line.
func TestSeek(t *testing.T) {
	r := rand.New(rand.NewSource(3))
	for range 100 {
		b := digestOf(t, randomRow(r))
		d, _ := Open(b)
		if Count(b) != d.Len {
			t.Fatalf("%d calls, %d counted", d.Len, Count(b))
		}
		var all []Summary
		for d.Next() {
			all = append(all, d.Call)
		}
		d, _ = Open(b)
		for i := range all {
			if r.Intn(2) == 0 {
				continue
			}
			if !d.Seek(i) || !reflect.DeepEqual(d.Call, all[i]) || !d.Seek(i) {
				t.Fatalf("call %d is %+v, want %+v", i, d.Call, all[i])
			}
		}
		if d.Seek(len(all)) {
			t.Error("a call behind the last one")
		}
	}
	for _, b := range []string{"", "\x02", "\x01\x01\x05", "\x02\x01\xff"} {
		if Count([]byte(b)) != 0 {
			t.Errorf("%q has calls", b)
		}
	}
}

// TestLean holds sums of calls given one by one against those of a reducer.
func TestLean(t *testing.T) {
	r := rand.New(rand.NewSource(4))
	for range 50 {
		var red Reducer
		sum := NewSumming(true)
		for i := range r.Intn(10) {
			b := digestOf(t, randomRow(r))
			if err := red.Add(&Row{Ordinal: int64(i), Digest: b}); err != nil {
				t.Fatal(err)
			}
			d, _ := Open(b)
			for d.Next() {
				sum.Add(&d.Call)
			}
			sum.Row(d.Source, d.Len)
		}
		want, err := red.Report()
		if err != nil {
			t.Fatal(err)
		}
		if latencies := sum.LatencyMS(); len(latencies) != want.All.LatencyMS.N || len(sum.TTFTMS()) != want.All.TTFTMS.N {
			t.Errorf("%d latencies", len(latencies))
		}
		got := sum.Report()
		for i := range want.Groups {
			g := &want.Groups[i]
			g.LatencyMS, g.TTFTMS, g.OutRate, g.GenerationRate = got.Groups[i].LatencyMS, got.Groups[i].TTFTMS, got.Groups[i].OutRate, got.Groups[i].GenerationRate
		}
		want.rows = nil
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v\n%+v", got, want)
		}
	}
}

// TestAttachmentDigest makes the same digest of a capture as of the row it belongs to, but for where the trajectory places
// its calls.
func TestAttachmentDigest(t *testing.T) {
	root := "../../testdata/project/s21-projection-damaged/"
	text, err := os.ReadFile(root + "expected/projected_rollouts.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, line := range bytes.Split(bytes.TrimSpace(text), []byte{'\n'}) {
		row := rowOf(t, string(line))
		names := NamesOf(row)
		key, err := names.Key()
		if err != nil || key == "" {
			continue
		}
		data, err := os.ReadFile(filepath.Join(root, "input/captures", CaptureFile(key)))
		if err != nil {
			continue
		}
		var (
			reader Reader
			attach Attachment
		)
		attach.Reset(key)
		scan := Scan{Reader: &reader}
		scan.Data(data, attach.Add)
		made, err := Open(AppendAttachment(nil, attach.AppendJSON(nil, nil)))
		if err != nil {
			t.Fatal(err)
		}
		saved, err := Open(digestOf(t, string(line)))
		if err != nil || saved.Len != made.Len {
			t.Fatalf("%s: %v %d calls, made %d", key, err, saved.Len, made.Len)
		}
		for saved.Next() && made.Next() {
			if field := saved.Call.Differs(&made.Call); field != "" {
				t.Errorf("%s: call %d differs in %s", key, saved.Call.Index, field)
			}
			compared++
		}
	}
	if compared < 20 {
		t.Errorf("%d calls", compared)
	}
	for _, none := range []string{"", "{", "{}", `{"calls":5}`} {
		if d, err := Open(AppendAttachment(nil, []byte(none))); err != nil || d.Len != 0 {
			t.Errorf("%s: %v", none, err)
		}
	}
	a := Summary{Model: "m"}
	if b := a; a.Differs(&b) != "" {
		t.Error("a call differs from itself")
	}
	if a.Differs(&Summary{Model: "n"}) != "model" || a.Differs(&Summary{Model: "m", Tools: 1}) != "tool_calls" {
		t.Error("a difference was not seen")
	}
}
