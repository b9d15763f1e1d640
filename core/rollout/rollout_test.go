package rollout

import (
	"bytes"
	"testing"

	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/jsonscan"
)

func read(t *testing.T, text string) *Row {
	t.Helper()
	var r Reader
	line := &jsonl.Line{Bytes: []byte(text), Length: int64(len(text)), Terminated: true}
	return r.Read(line)
}

func TestIdentity(t *testing.T) {
	tests := []struct{ row, task, rollout, stage, id string }{
		{`{}`, "9", "0", "None", "9-0"},
		{`{"_ng_task_index":3,"_ng_rollout_index":1}`, "3", "1", "None", "3-1"},
		{`{"_ng_task_index":"a","_ng_rollout_index":""}`, `"a"`, `""`, "None", "a-"},
		{`{"_ng_task_index":true,"_ng_rollout_index":false}`, "1", "0", "None", "True-False"},
		{`{"_ng_task_index":1.0,"_ng_rollout_index":2e0}`, "1", "2", "None", "1.0-2.0"},
		{`{"_ng_task_index":-0,"_ng_rollout_index":-0.0}`, "0", "0", "None", "0--0.0"},
		{`{"_ng_task_index":18446744073709551615}`, "18446744073709551615", "0", "None", "18446744073709551615-0"},
		{`{"_ng_task_index":-9223372036854775808}`, "-9223372036854775808", "0", "None", "-9223372036854775808-0"},
		{`{"_ng_task_index":0,"stage_index":null}`, "0", "0", "None", "0-0"},
		{`{"_ng_task_index":0,"stage_index":2}`, "0", "0", "2", "0-0"},
		{`{"_ng_task_index":0,"stage_index":"None"}`, "0", "0", `"None"`, "0-0"},
		{`{"_ng_task_index":1,"_ng_task_index":2}`, "2", "0", "None", "2-0"},
		{`{"_ng_rollout_id":"x"}`, "9", "0", "None", "x"},
		{`{"_ng_rollout_id":0,"ng_trajectory":{"rollout_id":"t"}}`, "9", "0", "None", "t"},
		{`{"_ng_rollout_id":"","ng_trajectory":{"rollout_id":""}}`, "9", "0", "None", "9-0"},
		{`{"_ng_rollout_id":true}`, "9", "0", "None", "True"},
		{`{"_ng_rollout_id":[1,"a",null]}`, "9", "0", "None", "[1, 'a', None]"},
		{`{"ng_trajectory":[{"rollout_id":"t"}]}`, "9", "0", "None", "9-0"},
		{`nonsense`, `"__unreadable_record__:input-2:line-7"`, "0", "None", "__unreadable_record__:input-2:line-7-0"},
		{`[]`, `"__unreadable_record__:input-2:line-7"`, "0", "None", "__unreadable_record__:input-2:line-7-0"},
	}
	show := func(k Key) string {
		if k.IsInt() || k.IsNone() {
			return k.String()
		}
		return `"` + k.String() + `"`
	}
	for _, tt := range tests {
		id := read(t, tt.row).Identity()
		stored, rest, err := ParseIdentity(id.Append(nil))
		if err != nil || len(rest) != 0 {
			t.Fatalf("%s: %v, %d bytes left", tt.row, err, len(rest))
		}
		if stored != id {
			t.Errorf("%s: stored %+v, read %+v", tt.row, id, stored)
		}
		if member, value, bad := id.Bad(); bad {
			t.Errorf("%s: %s is bad: %s", tt.row, member, value)
		}
		got := stored.Resolve(9, 2, 7)
		if show(got.Task) != tt.task || show(got.Rollout) != tt.rollout || show(got.Stage) != tt.stage || got.ID != tt.id {
			t.Errorf("%s: task %s rollout %s stage %s id %q", tt.row, show(got.Task), show(got.Rollout), show(got.Stage), got.ID)
		}
	}
}

func TestBadIndex(t *testing.T) {
	tests := []struct{ row, member, value string }{
		{`{"_ng_task_index":null}`, "_ng_task_index", "null"},
		{`{"_ng_task_index":1.5}`, "_ng_task_index", "1.5"},
		{`{"_ng_task_index":9.3e18}`, "_ng_task_index", "9.3e18"},
		{`{"_ng_task_index":18446744073709551616}`, "_ng_task_index", "18446744073709551616"},
		{`{"_ng_task_index":-9223372036854775809}`, "_ng_task_index", "-9223372036854775809"},
		{`{"_ng_rollout_index":[1]}`, "_ng_rollout_index", "[1]"},
		{`{"stage_index":{}}`, "stage_index", "{}"},
		{`{"stage_index":0.5,"_ng_task_index":null}`, "_ng_task_index", "null"},
	}
	for _, tt := range tests {
		id := read(t, tt.row).Identity()
		stored, _, err := ParseIdentity(id.Append(nil))
		if err != nil {
			t.Fatal(err)
		}
		member, value, bad := stored.Bad()
		if !bad || member != tt.member || value != tt.value {
			t.Errorf("%s: got %q, %q, %t", tt.row, member, value, bad)
		}
	}
}

func TestKeyOrder(t *testing.T) {
	n := func(i uint64, negative bool) Key { return IntKey(jsonscan.Integer{Negative: negative, Magnitude: i}) }
	sorted := []Key{n(10, true), n(1, true), n(0, false), n(2, false), n(10, false), TextKey("A"), {}, TextKey("Z"), TextKey("a")}
	for i, a := range sorted {
		for k, b := range sorted {
			got := a.Compare(b)
			if want := min(max(i-k, -1), 1); min(max(got, -1), 1) != want {
				t.Errorf("%s against %s: %d", a, b, got)
			}
		}
	}
	if (Key{}).Compare(TextKey("None")) != 0 {
		t.Error("no key and the text None are not tied")
	}
}

func TestText(t *testing.T) {
	tests := []struct{ value, want string }{
		{`1`, "1"}, {`-0`, "0"}, {`1.0`, "1.0"}, {`1e16`, "1e+16"}, {`1e-5`, "1e-05"}, {`18446744073709551616`, "1.8446744073709552e+19"},
		{`true`, "True"}, {`null`, "None"}, {`"a'b"`, "a'b"},
		{`["a'b"]`, `["a'b"]`},
		{`["a\"b"]`, `['a"b']`},
		{`["a'\"b"]`, `['a\'"b']`},
		{`["\n\r\t\\\u0001\u00a0é\u200b\ud83d\ude42 "]`, `['\n\r\t\\\x01\xa0é\u200b🙂 ']`},
		{`{"a":1,"b":[],"a":{"c":true}}`, `{'a': {'c': True}, 'b': []}`},
		{`{"taskset":"T","id":7}`, `{'taskset': 'T', 'id': 7}`},
		{`["\ue000\udb40\udc01"]`, `['\ue000\U000e0001']`},
	}
	for _, tt := range tests {
		var s jsonscan.Scanner
		v, err := s.Scan([]byte(tt.value))
		if err != nil {
			t.Fatalf("%s: %v", tt.value, err)
		}
		if got := string(AppendText(nil, v)); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.value, got, tt.want)
		}
	}
}

func TestUsage(t *testing.T) {
	tests := []struct {
		response   string
		prompt     string
		completion string
	}{
		{`{"usage":{"input_tokens":3,"output_tokens":2}}`, "3", "2"},
		{`{"usage":{"prompt_tokens":3,"completion_tokens":2}}`, "3", "2"},
		{`{"usage":{"input_tokens":null,"prompt_tokens":3}}`, "", ""},
		{`{"usage":{"input_tokens":-1,"output_tokens":2.0}}`, "", ""},
		{`{"usage":{"input_tokens":true,"output_tokens":"2"}}`, "", ""},
		{`{"usage":{"input_tokens":18446744073709551615,"output_tokens":18446744073709551616}}`, "18446744073709551615", ""},
		{`{"usage":[]}`, "", ""}, {`[]`, "", ""}, {`null`, "", ""},
	}
	for _, tt := range tests {
		f := read(t, `{"response":`+tt.response+`}`).Facts()
		if f.Prompt != tt.prompt || f.Completion != tt.completion {
			t.Errorf("%s: %q, %q", tt.response, f.Prompt, f.Completion)
		}
	}
}

func TestFacts(t *testing.T) {
	long := `"` + string(bytes.Repeat([]byte("é"), 300)) + `"`
	tests := []struct {
		row  string
		want Facts
	}{
		{`{}`, Facts{Output: -1, Turns: -1, Calls: -1}},
		{`{"reward":1.50,"agent_ref":{"name":"a"},"mask_sample":[0],"response":{"output":[1,{}]},"problem_id":7,"task_id":null,"_ng_attempt_index":2}`,
			Facts{Reward: "1.50", Agent: "a", Masked: true, Output: 2, Turns: -1, Calls: -1, Name: "7", Attempt: "2"}},
		{`{"Reward":1,"reward":0}`, Facts{Reward: "0", Output: -1, Turns: -1, Calls: -1}},
		{`{"ng_trajectory":{"task_id":"t","turns":[{},{}],"model_calls":{}}}`, Facts{Name: "t", Output: -1, Turns: 2, Calls: -1}},
		{`{"task_id":` + long + `}`, Facts{Name: string(bytes.Repeat([]byte("é"), 128)) + "…", Output: -1, Turns: -1, Calls: -1}},
		{` {"a":01}`, Facts{Output: -1, Turns: -1, Calls: -1, Class: ErrorDecode, Reason: jsonscan.ReasonNumber, Refused: 6}},
		{`7`, Facts{Output: -1, Turns: -1, Calls: -1, Class: ErrorObject, Reason: "the row is an int, not an object"}},
	}
	for _, tt := range tests {
		f := read(t, tt.row).Facts()
		if f != tt.want {
			t.Errorf("%.60s:\n got %+v\nwant %+v", tt.row, f, tt.want)
		}
		stored, rest, err := ParseFacts(f.Append(nil))
		if err != nil || len(rest) != 0 || stored != f {
			t.Errorf("%.60s: stored %+v, %v", tt.row, stored, err)
		}
	}
}

func FuzzStored(f *testing.F) {
	id := read(new(testing.T), `{"_ng_task_index":"x","stage_index":1.0}`)
	identity, facts := id.Identity(), id.Facts()
	f.Add(facts.Append(identity.Append(nil)))
	f.Fuzz(func(t *testing.T, b []byte) {
		if id, rest, err := ParseIdentity(b); err == nil {
			id.Resolve(1, 1, 1)
			ParseFacts(rest)
		}
		ParseFacts(b)
	})
}
