package trajectory

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/rollscope/rollscope/core/jsonscan"
)

// answer is all a read says.
func answer(r *Reader, v jsonscan.Value) string {
	rec, err := r.Read(v)
	if err != nil {
		return fmt.Sprintf("%#v", err)
	}
	return fmt.Sprintf("%d %d %d %d %d %+v", len(rec.Invocations), len(rec.Turns), len(rec.Calls), len(rec.Tools), len(rec.Gaps), shown(rec))
}

// shown gives a record without the values that point into its scanner.
func shown(rec *Record) any {
	var all []any
	for _, x := range rec.Invocations {
		all = append(all, x.ID, x.Parent, x.SpawnedBy, x.Status, x.DurationMS, x.ErrorType, x.Refs, string(x.Conversation.Raw()))
	}
	for _, x := range rec.Turns {
		all = append(all, x.InvocationID, x.No.String(), x.Timestamp, string(x.Answer.Raw()), x.Resolved, x.StepCount.String(), x.Refs)
	}
	for _, x := range rec.Calls {
		x.Request, x.Response, x.At = jsonscan.Value{}, jsonscan.Value{}, jsonscan.Value{}
		for _, n := range []*Count{&x.StatusCode, &x.UpstreamStatusCode, &x.PromptTokens, &x.CompletionTokens, &x.ReasoningTokens, &x.TotalTokens, &x.CachedTokens} {
			all = append(all, n.Set, n.Int.String())
			*n = Count{}
		}
		all = append(all, x)
	}
	for _, x := range rec.Tools {
		x.Output, x.At = jsonscan.Value{}, jsonscan.Value{}
		all = append(all, x)
	}
	return append(all, rec.TaskID, rec.RolloutID, rec.Gaps)
}

// FuzzRead reads any valid JSON as a trajectory, and as an item of one. Nothing may panic, a used reader must
// answer like a new one, and an error must be complete.
func FuzzRead(f *testing.F) {
	for _, row := range sampleRows(f, "s*") {
		if v := scan(f, string(row)).Get("ng_trajectory"); v.Exists() {
			f.Add(v.Raw())
		}
	}
	for _, c := range kindCases {
		f.Add([]byte(fmt.Sprintf(c.frame, c.minimal)))
	}
	used := new(Reader)
	f.Fuzz(func(t *testing.T, text []byte) {
		s := new(jsonscan.Scanner)
		v, err := s.Scan(text)
		if err != nil {
			return
		}
		want := answer(new(Reader), v)
		for range 2 {
			if got := answer(used, v); got != want {
				t.Errorf("a used reader says\n%s\na new one\n%s", got, want)
			}
		}
		if _, err := used.Read(v); err != nil {
			e := err.(*Invalid)
			if e.Class == "" || e.Reason == "" || e.Offset < v.Offset() || e.Offset >= len(text) {
				t.Errorf("incomplete error %#v", e)
			}
		}

		inner := fmt.Appendf(nil, `{"task_id":"t","rollout_id":"r","invocations":[{"invocation_id":"i","conversation":[%s]}]}`, text)
		item, err := s.Scan(inner)
		if err != nil {
			return // nested too deep by the frame
		}
		var class string
		if _, err := used.Read(item); err != nil {
			class = err.(*Invalid).Class
		}
		// A violation elsewhere turns everything but a raising item into one.
		inner = fmt.Appendf(inner[:len(inner)-1], `,"x":1}`)
		item, err = s.Scan(inner)
		if err != nil {
			return
		}
		_, err = used.Read(item)
		want = ClassValidation
		if class == ClassType {
			want = ClassType
		}
		if got := err.(*Invalid).Class; got != want {
			t.Errorf("item is %q alone and %q with a violation", class, got)
		}
	})
}

// TestAgain reads all samples with one reader, forwards and backwards, and each with a reader of its own.
func TestAgain(t *testing.T) {
	var values []jsonscan.Value
	for _, row := range sampleRows(t, "s*") {
		values = append(values, scan(t, string(row)).Get("ng_trajectory"))
	}
	var want, got []string
	for _, v := range values {
		want = append(want, answer(new(Reader), v))
	}
	var r Reader
	for i := range values {
		answer(&r, values[len(values)-1-i])
	}
	for _, v := range values {
		got = append(got, answer(&r, v))
	}
	if !reflect.DeepEqual(got, want) {
		t.Error("a used reader answers differently")
	}
}
