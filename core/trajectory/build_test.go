package trajectory

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/finding"
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/modelcall"
	"github.com/rollscope/rollscope/core/value"
)

func origin(t testing.TB, row string) Origin {
	v := scan(t, row)
	return Origin{
		modelcall.Names{RolloutID: v.Get("_ng_rollout_id"), Task: v.Get("_ng_task_index"), Rollout: v.Get("_ng_rollout_index"), Attempt: v.Get("_ng_attempt_index")},
		v.Get("task_id"), v.Get("problem_id"), v.Get("instance_id"),
	}
}

func TestIDs(t *testing.T) {
	const indices = `"_ng_task_index":3,"_ng_rollout_index":1`
	for _, tt := range []struct{ row, task, rollout, class string }{
		{`{` + indices + `}`, "3", "3-1", ""},
		{`{` + indices + `,"task_id":null,"problem_id":0}`, "0", "3-1", ""}, {`{` + indices + `,"task_id":"","problem_id":1}`, "", "3-1", ""},
		{`{` + indices + `,"instance_id":"i","problem_id":"p"}`, "p", "3-1", ""}, {`{` + indices + `,"task_id":1.50}`, "1.5", "3-1", ""}, {`{` + indices + `,"task_id":true}`, "True", "3-1", ""},
		{`{` + indices + `,"task_id":{"taskset":"T","id":7}}`, "{'taskset': 'T', 'id': 7}", "3-1", ""}, {`{` + indices + `,"task_id":[1,null,true]}`, "[1, None, True]", "3-1", ""},
		{`{` + indices + `,"task_id":["it's","\"","\n\u0001\u00e9\u2028"]}`, `["it's", '"', '\n\x01é\u2028']`, "3-1", ""},
		{`{` + indices + `,"_ng_attempt_index":2}`, "3", "3-1-a2", ""}, {`{` + indices + `,"_ng_rollout_id":"run7","_ng_attempt_index":1}`, "3", "run7-a1", ""},
		{`{` + indices + `,"_ng_rollout_id":5}`, "", "", ClassValue}, {`{` + indices + `,"_ng_attempt_index":"x"}`, "", "", ClassValue}, {`{` + indices + `,"_ng_attempt_index":[]}`, "", "", ClassType},
		{`{"_ng_rollout_index":1}`, "", "", ClassKey}, {`{"_ng_rollout_index":1,"task_id":"t"}`, "", "", ClassKey}, {`{"_ng_task_index":1}`, "", "", ClassKey},
		{`{"_ng_task_index":null,"_ng_rollout_index":1}`, "None", "None-1", ""}, {`{"task_id":"t","_ng_rollout_id":"r"}`, "t", "r", ""},
	} {
		o := origin(t, tt.row)
		task, rollout, err := o.IDs()
		class := ""
		if err != nil {
			class = err.(*BuildError).Class
		}
		if task != tt.task || rollout != tt.rollout || class != tt.class {
			t.Errorf("%s: %q %q %q, want %q %q %q", tt.row, task, rollout, class, tt.task, tt.rollout, tt.class)
		}
	}
}

// build puts a trajectory together of a producer, a bundle and captured calls, all as texts.
func build(t testing.TB, producer, bundle, resolved string, calls ...string) (value.Value, error) {
	t.Helper()
	var (
		b      Builder
		reader modelcall.Reader
		names  []CallName
		lines  [][]byte
	)
	parts := Parts{Origin: origin(t, `{"_ng_task_index":0,"_ng_rollout_index":0}`)}
	for i, line := range calls {
		lines = append(lines, []byte(line))
		c, err := reader.Read(lines[i], i)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		b.Add(c, true)
		names = append(names, NameOf(c))
	}
	if producer != "" {
		parts.Producer = scan(t, producer)
	}
	if resolved != "" {
		parts.Resolved = scan(t, resolved)
	}
	if bundle != "" {
		parts.Observations = scan(t, bundle)
		if read, err := b.ReadBundle(parts.Observations); err == nil {
			read.Join(names)
			parts.Joined = read
		}
	}
	built, err := b.Build(&parts)
	if err != nil {
		return value.Value{}, err
	}
	text := built.AppendJSON(nil)
	if len(text) > built.Size() {
		t.Errorf("%d bytes, %d were expected at most", len(text), built.Size())
	}
	var s jsonscan.Scanner
	v, err := s.Scan(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	rec, err := new(Reader).Read(v)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if len(rec.Turns) != len(built.Record.Turns) || len(rec.Calls) != len(built.Record.Calls) || len(rec.Tools) != len(built.Record.Tools) || len(rec.Invocations) != len(built.Record.Invocations) {
		t.Errorf("the record differs from the text\n%s", text)
	}
	return value.Of(v), nil
}

// codes are the codes of the gaps with their details.
func codes(v value.Value) string {
	var list []string
	for _, g := range v.Get("gaps").Items() {
		code, _ := g.Get("code").Text()
		if detail, ok := g.Get("detail").Text(); ok {
			code += "(" + detail + ")"
		}
		list = append(list, code)
	}
	return strings.Join(list, " ")
}

func bundleOf(records ...string) string {
	return `{"source":"s","records":[` + strings.Join(records, ",") + `]}`
}

func TestTurns(t *testing.T) {
	for _, tt := range []struct {
		name  string
		calls []string
		want  []string // of every turn: question, answer, reasoning, step count
	}{
		{"responses", []string{
			`{"model_call_id":"a","started_at":5,"request":{"input":[{"role":"user","content":"q"},{"type":"x","role":"y"},7]},"response":{"output":[{"type":"reasoning","id":"r"},{"type":"function_call"},{"type":"message"},"junk"]}}`,
			`{"model_call_id":"b","completed_at":6,"started_at":0,"request":{"input":null,"messages":[]},"response":{"output":[]}}`,
		}, []string{
			`[{"type":"message","role":"user","content":"q"},{"type":"x","role":"y"},7] [{"type":"function_call"},{"type":"message"}] [{"type":"reasoning","id":"r"}] 0 5.0`, `null [] null 1 6.0`}},
		{"chat", []string{
			`{"model_call_id":"a","request":{"messages":[{"role":"user"}]},"response":{"choices":[{"message":{"role":"assistant","content":"hi","reasoning_content":"","reasoning":"rr","tool_calls":[{},{}]}},{"message":{}}]}}`,
			`{"model_call_id":"b","request":{},"response":{"choices":[{"message":{"reasoning":0,"tool_calls":null}}]}}`,
			`{"model_call_id":"c","response":{"choices":[{"message":null}]}}`, `{"model_call_id":"d","response":{"choices":[]}}`, `{"model_call_id":"e","response":{"choices":["x"]}}`,
		}, []string{
			`[{"role":"user"}] {"role":"assistant","content":"hi","tool_calls":[{},{}]} "rr" 0 0.0`, `null {"tool_calls":null} 0 2 0.0`, `null {} null 2 0.0`, `null null null 2 0.0`, `null null null 2 0.0`}},
		{"messages and raw texts", []string{
			`{"model_call_id":"a","request":{"messages":"m"},"response":{"content":[{"type":"tool_use"}]}}`, `{"model_call_id":"b","request_raw":"RQ","response_raw":"RS"}`,
			`{"model_call_id":"c","request":{"input":"text"}}`,
		}, []string{`"m" null null 0 0.0`, `"RQ" null null 0 0.0`}},
		{"odd spacing", []string{`{"model_call_id":"a","request":{"input": [ {"role":"u", "content":[ ]} ]},"response":{"output":[ {"a": 1.0} ]}}`}, []string{`[{"type":"message","role":"u","content":[]}] [{"a":1.0}] null 0 0.0`}},
	} {
		var refs []string
		for _, id := range []string{"a", "b", "c", "d", "e"} {
			refs = append(refs, byID(id))
		}
		v, err := build(t, "", bundleOf(invocation("i", refs...)), "true", tt.calls...)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		turns := v.Get("turns").Items()
		for i, turn := range turns {
			got := ""
			for _, name := range []string{"question", "answer", "reasoning_content", "step_count", "timestamp"} {
				got += string(turn.Get(name).Append(nil, value.Row)) + " "
			}
			if i >= len(tt.want) || got != tt.want[i]+" " {
				t.Errorf("%s, turn %d: %s", tt.name, i, got)
			}
			if n, _ := turn.Get("turn_no").Int64(); n != int64(i)+1 {
				t.Errorf("%s: turn %d has the number %d", tt.name, i, n)
			}
			if resolved, _ := turn.Get("resolved").Truth(); resolved != (i == len(turns)-1) {
				t.Errorf("%s: turn %d is resolved: %t", tt.name, i, resolved)
			}
		}
		if len(turns) != len(tt.want) {
			t.Errorf("%s: %d turns", tt.name, len(turns))
		}
	}
	// The second look-up ignores the model server; a later reference takes the place of an earlier one.
	v, err := build(t, "", bundleOf(invocation("i", byPair("other", "r")), invocation("k", `{"model_call_id":"x","response_id":"r"}`)), "", `{"model_call_id":"a","model_ref":{"type":"responses_api_models","name":"p"},"response":{"id":"r"}}`)
	if err != nil || !v.Get("turns").At(0).Get("invocation_id").Is("k") {
		t.Errorf("%v %s", err, v)
	}
	if _, err := build(t, "", bundleOf(invocation("i", byPair("p", "r"))), "", `{"response":{"id":"r"}}`); err == nil || err.(*BuildError).Class != ClassValidation {
		t.Errorf("a turn whose call cannot be named: %v", err)
	}
}

// TestEdges are the edge cases of the spec.
func TestEdges(t *testing.T) {
	const ids = `"task_id":"0","rollout_id":"0-0"`
	call := `{"model_call_id":"a","response":{"output":[]}}`
	owned := bundleOf(invocation("i", byID("a")))
	tool := func(fields string) string {
		return `{"kind":"tool_call","invocation_id":"i","tool_call_id":"c1"` + fields + `}`
	}
	outputs := `{"kind":"agent_invocation","invocation_id":"i","conversation":[{"call_id":"c1","output":"first"},{"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"second","x":1}]}]}`
	for _, tt := range []struct {
		name, producer, bundle string
		calls                  []string
		gaps                   string
		want                   map[string]string
	}{
		{"nothing", "", "", nil, "model_calls_unavailable turns_unavailable conversation_unavailable", nil},
		{"ids alone", `{` + ids + `}`, "", nil, "model_calls_unavailable conversation_unavailable", map[string]string{"turns": "[]"}},
		{"unknown key", `{` + ids + `,"x":1}`, owned, []string{call}, "producer_trajectory_invalid(ValidationError) turns_unavailable conversation_unavailable", map[string]string{"turns": "[]"}},
		{"a list", `[]`, owned, []string{call}, "conversation_unavailable", map[string]string{"turns[0].answer": "[]"}},
		{"another version", `{` + ids + `,"schema_version":"1.1"}`, "", nil, "producer_trajectory_invalid(ValidationError) model_calls_unavailable turns_unavailable conversation_unavailable", nil},
		{"other ids", `{"task_id":"x","rollout_id":"y","turns":[{"invocation_id":"i","task_id":"x","rollout_id":"y","turn_no":1,"timestamp":1,"step_count":0}]}`, "", nil,
			"producer_trajectory_identity_mismatch(task_id,rollout_id) model_calls_unavailable conversation_unavailable", map[string]string{"turns[0].task_id": `"0"`, "turns[0].rollout_id": `"0-0"`}},
		{"overlay", `{` + ids + `,"model_calls":[{"model_call_id":"a","started_at":7,"response_metadata":{"finish_reason":"stop"},"token_stats":{"prompt_tokens":99,"completion_tokens":1}}]}`, "",
			[]string{`{"model_call_id":"a","completed_at":9,"latency_ms":2,"response":{"usage":{"output_tokens":5}}}`}, "conversation_unavailable",
			map[string]string{"model_calls": `[{"model_call_id":"a","started_at":7.0,"completed_at":9.0,"duration_ms":2.0,"request":null,"response":{"usage":{"output_tokens":5}},"response_metadata":{"response_id":null,"model_ref":null,"model":null,"dialect":null,"status_code":null,"response_status":null,"finish_reason":"stop","upstream_attempted":null,"response_source":null,"upstream_status_code":null,"local_response_reason":null,"error_category":null,"latency_ttft_ms":null},"token_stats":{"prompt_tokens":99,"completion_tokens":5,"reasoning_tokens":null,"total_tokens":null,"cached_tokens":null}}]`}},
		{"calls without ids", `{` + ids + `,"model_calls":[{}]}`, "", []string{`{}`}, "conversation_unavailable", map[string]string{"model_calls[1].model_call_id": "null"}},
		{"invocations of one id", "", bundleOf(invocation("i"), invocation("i")), nil, "agent_observations_invalid(ValidationError) model_calls_unavailable turns_unavailable conversation_unavailable", nil},
		{"null observations", "", "null", nil, "model_calls_unavailable turns_unavailable conversation_unavailable", nil},
		{"a gap of the bundle", "", `{"source":"s","gaps":[{"code":"turns_unavailable"},{"code":"z"}]}`, nil, "turns_unavailable z model_calls_unavailable conversation_unavailable", nil},
		{"merged tools", "", bundleOf(outputs, tool(`,"status":"completed","duration_ms":1000`), tool(`,"error_type":"E"`)), nil, "model_calls_unavailable turns_unavailable", map[string]string{
			"tool_calls": `[{"kind":"tool_call","invocation_id":"i","tool_call_id":"c1","sandbox_id":null,"tool_name":null,"started_at":null,"completed_at":null,"duration_ms":1000.0,"timing_source":null,"status":"completed","error_type":"E","output":[{"text":"second","type":"input_text"}]}]`}},
		{"last producer tool", `{` + ids + `,"tool_calls":[` + strings.ReplaceAll(tool(`,"status":"failed"`), `"kind":"tool_call",`, "") + `,` + tool(`,"status":"completed","output":5`) + `]}`, bundleOf(tool(`,"duration_ms":4`)), nil,
			"model_calls_unavailable conversation_unavailable", map[string]string{"tool_calls[0].status": `"failed"`, "tool_calls[1].duration_ms": "4.0", "tool_calls[1].status": `"completed"`, "tool_calls[1].output": "5"}},
		{"merged tool ends before it starts", `{` + ids + `,"tool_calls":[` + tool(`,"started_at":5`) + `]}`, bundleOf(invocation("i"), tool(`,"completed_at":1`)), nil,
			"agent_observations_invalid(ValidationError) model_calls_unavailable conversation_unavailable", map[string]string{"invocations[0].invocation_id": `"i"`, "tool_calls[0].completed_at": "null"}},
		{"no tools observed", `{` + ids + `,"tool_calls":[` + tool(`,"output":"mine"`) + `]}`, bundleOf(outputs), nil, "model_calls_unavailable", map[string]string{"tool_calls[0].output": `"mine"`}},
		{"producer's invocation stays", `{` + ids + `,"invocations":[{"invocation_id":"i","status":"failed"}]}`, bundleOf(invocation("i"), invocation("k")), nil, "model_calls_unavailable conversation_unavailable",
			map[string]string{"invocations[0].status": `"failed"`, "invocations[1].invocation_id": `"k"`}},
		{"sorted turns", `{` + ids + `,"turns":[` + strings.Join([]string{turnAt("b", 1, 5), turnAt("a", 2, 5), turnAt("a", 1, 5), turnAt("z", 9, 1)}, ",") + `]}`, "", nil, "model_calls_unavailable conversation_unavailable",
			map[string]string{"turns[0].turn_no": "9", "turns[1].turn_no": "1", "turns[2].turn_no": "2", "turns[3].invocation_id": `"b"`}},
	} {
		v, err := build(t, tt.producer, tt.bundle, "", tt.calls...)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if got := codes(v); got != tt.gaps {
			t.Errorf("%s: gaps %s", tt.name, got)
		}
		for path, want := range tt.want {
			if got := string(follow(v, path).Append(nil, value.Row)); got != want {
				t.Errorf("%s: %s is %s, want %s", tt.name, path, got, want)
			}
		}
	}
}

func turnAt(invocation string, no, at int) string {
	return fmt.Sprintf(`{"invocation_id":"%s","task_id":"0","rollout_id":"0-0","turn_no":%d,"timestamp":%d,"step_count":0}`, invocation, no, at)
}

func follow(v value.Value, path string) value.Value {
	for _, part := range strings.Split(path, ".") {
		name, index, list := strings.Cut(part, "[")
		if v = v.Get(name); list {
			if n := int(index[0] - '0'); n < v.Len() {
				v = v.At(n)
			} else {
				return value.Value{}
			}
		}
	}
	return v
}

// TestBuildHolds builds of random pieces: what comes out is valid, and a fixed point of building it again.
func TestBuildHolds(t *testing.T) {
	r := rand.New(rand.NewSource(5))
	derived, produced := 0, 0
	for range 2000 {
		var calls []string
		for i := range r.Intn(5) {
			response := []string{`null`, `{"id":"r%d","output":[{"type":"function_call"}]}`, `{"id":"r%d","choices":[{"message":{"content":"x","tool_calls":[{}]}}]}`, `{"id":"r%d"}`}[r.Intn(4)]
			calls = append(calls, fmt.Sprintf(`{"model_call_id":"c%d","started_at":%d,"latency_ms":%d,"model_ref":{"type":"responses_api_models","name":"p"},"request":{"input":[{"role":"user","content":%d}]},"response":%s}`,
				i, r.Intn(3), r.Intn(9), r.Intn(9), strings.ReplaceAll(response, "%d", fmt.Sprint(i))))
		}
		records, _ := randomBundle(r, true)
		records = append(records, fmt.Sprintf(`{"kind":"tool_call","invocation_id":"i%d","tool_call_id":"t","started_at":%d}`, r.Intn(3), r.Intn(5)))
		bundle := bundleOf(records...)
		producer := ""
		if r.Intn(2) == 0 {
			producer = `{"task_id":"0","rollout_id":"0-0","turns":[` + turnAt("i0", 2, r.Intn(9)) + "," + turnAt("i0", 1, r.Intn(9)) + `],"tool_calls":[{"invocation_id":"i0","tool_call_id":"t","status":"failed"}]}`
		}
		v, err := build(t, producer, bundle, "", calls...)
		if err != nil {
			t.Fatalf("%v: %s", err, bundle)
		}
		text := string(v.Append(nil, value.Row))
		c := Comparison{
			Parts: Parts{Origin: origin(t, `{"_ng_task_index":0,"_ng_rollout_index":0}`)},
			Calls: func(b *Builder) {
				var reader modelcall.Reader
				for i, line := range calls {
					call, err := reader.Read([]byte(line), i)
					if err != nil {
						t.Fatal(err)
					}
					b.Add(call, true)
				}
			},
		}
		// The saved observations are joined already.
		var joinBuilder Builder
		joined, err := joinBuilder.ReadBundle(scan(t, bundle))
		if err != nil {
			t.Fatal(err)
		}
		var names []CallName
		var reader modelcall.Reader
		for i, line := range calls {
			call, _ := reader.Read([]byte(line), i)
			names = append(names, NameOf(call))
		}
		joined.Join(names)
		c.Parts.Observations = scan(t, string(joinBuilder.AppendBundle(nil, joined)))
		var b Builder
		found, err := b.Compare(scan(t, text), &c)
		if err != nil || !found.Equal() {
			t.Fatalf("%v %+v\n%s", err, found, text)
		}
		if found.From == FromCalls {
			derived++
		} else {
			produced++
		}
		if producer == "" && found.From != FromCalls {
			t.Fatalf("%s\n%s", found.From, text)
		}
	}
	if derived < 500 || produced < 500 {
		t.Errorf("%d derived, %d produced", derived, produced)
	}
}

func TestCompare(t *testing.T) {
	call := `{"model_call_id":"a","started_at":1,"request":{"input":[]},"response":{"output":[{"type":"message"}]}}`
	bundle := bundleOf(`{"kind":"agent_invocation","invocation_id":"i","model_calls":[{"model_call_id":"a"}],"conversation":[{"role":"user","content":"x"}]}`)
	v, err := build(t, "", bundle, "", call)
	if err != nil {
		t.Fatal(err)
	}
	change := func(old, new string) string {
		text := string(v.Append(nil, value.Row))
		if !strings.Contains(text, old) {
			t.Fatalf("%s not in %s", old, text)
		}
		return strings.Replace(text, old, new, 1)
	}
	calls := func(b *Builder) {
		c, err := new(modelcall.Reader).Read([]byte(call), 0)
		if err != nil {
			t.Fatal(err)
		}
		b.Add(c, true)
	}
	for _, tt := range []struct {
		name, saved string
		partial     bool
		from, path  string // a path tells that it is nothing that the evidence gives
	}{
		{"as built", change("x", "x"), false, FromCalls, ""}, {"as built, without the capture", change("x", "x"), true, FromCalls, ""},
		// What an agent says of its own turns and its conversation stands for itself.
		{"another answer", change(`"answer":[{"type":"message"}]`, `"answer":[]`), false, FromProducer, ""},
		{"another conversation", change(`"content":"x"`, `"content":"y"`), true, FromProducer, ""},
		{"another gap", change(`"gaps":[]`, `"gaps":[{"code":"g","invocation_id":null,"detail":null}]`), false, FromProducer, ""},
		{"another start", change(`"started_at":1.0`, `"started_at":2.0`), false, "", "model_calls[0].started_at"},
		{"another response", change(`"response":{"output":[{"type":"message"}]}`, `"response":{"output":[]}`), false, "", "model_calls[0].response.output[0]"},
		{"another response, without the capture", change(`"response":{"output":[{"type":"message"}]}`, `"response":{"output":[]}`), true, FromProducer, ""},
		{"a gap that is missing", change(`"conversation":[{"content":"x","role":"user","type":"message","phase":null}]`, `"conversation":[]`), true, "", "invocations[0].conversation[0]"},
		{"a gap of the capture, without it", change(`"gaps":[]`, `"gaps":[{"code":"model_call_capture_incomplete","invocation_id":null,"detail":null}]`), true, FromCalls, ""},
	} {
		c := Comparison{Parts: Parts{Origin: origin(t, `{"_ng_task_index":0,"_ng_rollout_index":0}`), Observations: scan(t, bundle)}, Partial: tt.partial, NoTask: true}
		if !tt.partial {
			c.Calls = calls
		}
		var b Builder
		// The observations of the row are joined; so are these, since the call has no further names.
		found, err := b.Compare(scan(t, tt.saved), &c)
		if err != nil {
			t.Fatal(err)
		}
		if found.Equal() != (tt.path == "") || !found.Equal() && found.First.Path != tt.path || found.Equal() && found.From != tt.from {
			t.Errorf("%s: %+v", tt.name, found)
		}
	}
}

// findings checks a trajectory and gives the ids.
func findings(t *testing.T, text, bundle string, sorted bool) string {
	t.Helper()
	rec, err := new(Reader).Read(scan(t, text))
	if err != nil {
		t.Fatal(err)
	}
	var read *Bundle
	if bundle != "" {
		if read, err = new(Reader).ReadBundle(scan(t, bundle)); err != nil {
			t.Fatal(err)
		}
	}
	var list []string
	Check(rec, read, sorted, noticed(t, &list))
	return strings.Join(list, " ")
}

func noticed(t *testing.T, list *[]string) modelcall.Notice {
	return func(id string, values ...value.Member) {
		f := finding.New(id, "", "f", values...)
		if f.Severity == "" || f.Message() == "" {
			t.Errorf("%s: %s", id, f.Message())
		}
		*list = append(*list, strings.TrimPrefix(id, "traj."))
	}
}

func TestCheck(t *testing.T) {
	const head = `{"task_id":"0","rollout_id":"0-0"`
	talk := `,"invocations":[{"invocation_id":"i","conversation":[{}]}]`
	calls := `,"model_calls":[{"model_call_id":"a"},{"model_call_id":"b","response_metadata":{"response_id":"r"}}]`
	quiet := `,"gaps":[{"code":"turns_unavailable"}]`
	for _, tt := range []struct {
		text, bundle, want string
		sorted             bool
	}{
		{head + talk + calls + quiet + `}`, "", "", false},
		{head + talk + calls + `,"turns":[` + strings.Replace(turnAt("i", 1, 1), `}`, `,"model_calls":[{"model_call_id":"ghost"}]}`, 1) + `]}`, "", "dangling_ref", false},
		{head + talk + calls + `,"turns":[` + strings.Replace(turnAt("i", 1, 1), `}`, `,"model_calls":[{"model_call_id":"ghost"}]}`, 1) + `],"gaps":[{"code":"model_call_reference_unmatched","detail":"ghost"}]}`, "", "", false},
		{head + calls + quiet + `,"invocations":[{"invocation_id":"i","conversation":[{}],"model_calls":[{"model_call_id":"ghost"}]}]}`, "", "dangling_ref", false},
		{head + talk + calls + quiet + `}`, bundleOf(`{"kind":"context_compaction","invocation_id":"i","before_model_call":{"model_call_id":"ghost"},"model_calls":[{"model_call_id":"a"}]}`), "dangling_ref", false},
		{head + talk + calls + `,"turns":[` + turnAt("i", 1, 5) + "," + turnAt("i", 2, 1) + `]}`, "", "unsorted_turns", true},
		{head + talk + calls + `,"turns":[` + turnAt("i", 1, 5) + "," + turnAt("i", 2, 1) + `]}`, "", "", false},
		{head + talk + calls + `,"turns":[` + turnAt("i", 2, 1) + `]}`, "", "turn_gap", true},
		{head + talk + calls + `,"turns":[` + strings.Replace(turnAt("i", 1, 1), `"step_count":0`, `"step_count":3`, 1) + "," + turnAt("i", 2, 2) + `]}`, "", "step_count", true},
		{head + talk + calls + `,"turns":[` + turnAt("i", 1, 1) + `],"gaps":[{"code":"turns_unavailable"}]}`, "", "gap_contradiction", false},
		{head + `,"turns":[` + turnAt("i", 1, 1) + `]}`, "", "gap_contradiction gap_contradiction", false},
		{head + `,"gaps":[{"code":"trajectory_projection_failed"}]}`, "", "", false},
		{head + talk + calls + quiet + `,"tool_calls":[{"invocation_id":"x","tool_call_id":"t"}]}`, "", "orphan_tool", false},
		{head + talk + calls + quiet + `,"tool_calls":[{"invocation_id":"i","tool_call_id":"t","started_at":1,"completed_at":2,"duration_ms":1012}]}`, "", "tool_duration", false},
		{head + talk + calls + quiet + `,"tool_calls":[{"invocation_id":"i","tool_call_id":"t","started_at":1,"completed_at":2,"duration_ms":1011}]}`, "", "", false},
	} {
		if got := findings(t, tt.text, tt.bundle, tt.sorted); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.text, got, tt.want)
		}
	}
	rec, err := new(Reader).Read(scan(t, head+`,"model_calls":[{"model_call_id":"a","token_stats":{"prompt_tokens":1}},{"model_call_id":"b"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for attached, want := range map[string]string{
		`{"calls":[{"model_call_id":"a","tokens_in":1.0}]}`: "", `{"calls":[{"model_call_id":"a","tokens_in":2,"tokens_out":null}]}`: "token_mismatch", `{"calls":[{"model_call_id":"b","tokens_out":1,"request":null}]}`: "token_mismatch payload_duplicate",
		`{"calls":[{"model_call_id":"x","tokens_in":5}]}`: "", `{}`: "",
	} {
		var list []string
		CheckTokens(rec, value.Of(scan(t, attached)), noticed(t, &list))
		if got := strings.Join(list, " "); got != want {
			t.Errorf("%s: %s, want %s", attached, got, want)
		}
	}
	for row, want := range map[string]string{
		`{"_ng_task_index":0,"_ng_rollout_index":0}`: "", `{"_ng_task_index":0,"_ng_rollout_index":0,"task_id":"x"}`: "identity", `{"_ng_task_index":0,"_ng_rollout_index":0,"_ng_attempt_index":1}`: "identity",
	} {
		var list []string
		o := origin(t, row)
		CheckIdentity(rec, &o, true, noticed(t, &list))
		if got := strings.Join(list, " "); got != want {
			t.Errorf("%s: %s, want %s", row, got, want)
		}
	}
}

func TestCheckJoin(t *testing.T) {
	attached := `{"calls":[{"model_call_id":"a","call_index":0,"response_id":"r","model_ref":{"type":"responses_api_models","name":"p"}},{"model_call_id":"b","call_index":2}]}`
	for _, tt := range []struct{ bundle, want string }{
		{`{"source":"s","records":[{"kind":"agent_invocation","invocation_id":"i","model_calls":[{"model_call_id":"a","response_id":"r","model_ref":{"type":"responses_api_models","name":"p"}}]}],"gaps":[{"code":"model_call_ownership_unavailable","detail":"capture:b:call_index=2"}]}`, ""},
		{bundleOf(invocation("i", byID("a"))), "calls.join_mismatch"},
		{`{"source":"s","gaps":[{"code":"model_call_ownership_unavailable","detail":"capture:b:call_index=2"}]}`, "calls.join_mismatch"},
	} {
		bundle, err := new(Reader).ReadBundle(scan(t, tt.bundle))
		if err != nil {
			t.Fatal(err)
		}
		var list []string
		new(Builder).CheckJoin(bundle, value.Of(scan(t, attached)), noticed(t, &list))
		if got := strings.Join(list, " "); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.bundle, got, tt.want)
		}
	}
}

func TestStrict(t *testing.T) {
	for text, ok := range map[string]bool{
		`{"task_id":"t","rollout_id":"r","invocations":[{"invocation_id":"i","duration_ms":1}]}`:                                                                                                      true,
		`{"task_id":"t","rollout_id":"r","invocations":[{"invocation_id":"i","duration_ms":"1"}]}`:                                                                                                    false,
		`{"task_id":"t","rollout_id":"r","model_calls":[{"token_stats":{"prompt_tokens":1.0}}]}`:                                                                                                      false,
		`{"task_id":"t","rollout_id":"r","model_calls":[{"token_stats":{"prompt_tokens":true}}]}`:                                                                                                     false,
		`{"task_id":"t","rollout_id":"r","turns":[{"invocation_id":"i","task_id":"t","rollout_id":"r","turn_no":1,"timestamp":1,"step_count":0,"resolved":1}]}`:                                       false,
		`{"task_id":"t","rollout_id":"r","invocations":[{"invocation_id":"i","conversation":[{"type":"mcp_approval_response","approval_request_id":"a","approve":"yes"}]}]}`:                          false,
		`{"task_id":"t","rollout_id":"r","invocations":[{"invocation_id":"i","conversation":[{"type":"file_search_call","id":"i","queries":[],"status":"failed","results":[{"score":1}]},{"x":1}]}]}`: true,
	} {
		v := scan(t, text)
		if _, err := new(Reader).Read(v); err != nil {
			t.Fatal(err)
		}
		if err := new(Builder).CheckStrict(v); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
}
