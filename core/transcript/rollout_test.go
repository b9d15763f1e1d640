package transcript

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/rollout"
)

// family is a rollout in which an agent calls a tool that starts a subagent, and uses an id again.
const family = `{"ng_trajectory":{"task_id":"t","rollout_id":"r","invocations":[
 {"invocation_id":"main","status":"completed","model_calls":[{"model_call_id":"m1"},{"model_call_id":"m2"},{"model_call_id":"m3"}],"conversation":[
  {"role":"user","content":"go","type":"message"},{"type":"function_call","call_id":"c","name":"spawn","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"one"},
  {"type":"function_call","call_id":"c","name":"spawn","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"two"},{"type":"function_call_output","call_id":"z","output":"lost"}]},
 {"invocation_id":"sub","parent_invocation_id":"main","spawned_by_tool_call_id":"c","status":"failed","model_calls":[{"model_call_id":"m4"}],"conversation":[]},
 {"invocation_id":"deep","parent_invocation_id":"sub","status":"completed","model_calls":[],"conversation":[]}],
"turns":[
 {"invocation_id":"main","task_id":"t","rollout_id":"r","turn_no":1,"timestamp":10,"step_count":0,"model_calls":[{"model_call_id":"m1"}],
  "question":[{"role":"user","content":"go","type":"message"}],"answer":[{"type":"function_call","call_id":"c","name":"spawn","arguments":"{}"}]},
 {"invocation_id":"main","task_id":"t","rollout_id":"r","turn_no":2,"timestamp":20,"step_count":1,"model_calls":[{"model_call_id":"m2"},{"model_call_id":"m3"}],
  "question":[{"role":"user","content":"go","type":"message"},{"type":"function_call","call_id":"c","name":"spawn","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"one"}],
  "answer":[{"type":"function_call","call_id":"c","name":"spawn","arguments":"{}"}],"reasoning_content":[{"id":"r","type":"reasoning","summary":[]}]},
 {"invocation_id":"ghost","task_id":"t","rollout_id":"r","turn_no":1,"timestamp":30,"step_count":0,"model_calls":[],"question":"what","answer":"that"}],
"tool_calls":[
 {"tool_call_id":"c","invocation_id":"main","status":"completed","tool_name":"spawn"},
 {"tool_call_id":"d","invocation_id":"sub","status":"failed","tool_name":"read","output":"seen"},
 {"tool_call_id":"e","invocation_id":"nobody","status":"unknown"}],
"model_calls":[
 {"model_call_id":"m1","response_metadata":{},"token_stats":{}},{"model_call_id":"m2","response_metadata":{},"token_stats":{}},
 {"model_call_id":"m3","response_metadata":{},"token_stats":{}},{"model_call_id":"m4","response_metadata":{},"token_stats":{}},{"model_call_id":"m5","response_metadata":{},"token_stats":{}}]}}`

func TestFamily(t *testing.T) {
	r := read(t, []byte(strings.ReplaceAll(family, "\n", " ")))
	if r.Err != nil || !r.Saved {
		t.Fatal(r.Err)
	}
	var got []string
	say := func(format string, args ...any) { got = append(got, fmt.Sprintf(format, args...)) }
	for _, in := range r.Invocations {
		say("%s %s: parent %d, depth %d, children %v, turns %v, calls %v, tools %v", in.ID, in.Status, in.Parent, in.Depth, in.Children, in.Turns, in.Calls, in.Tools)
	}
	for _, turn := range r.Turns {
		say("%s %s: asked %d; %s; %s; %s; calls %v, tools %v", turn.ID, turn.No, turn.Asked, sketch(turn.Input), sketch(turn.Reasoning), sketch(turn.Answer), turn.Calls, turn.Tools)
	}
	for _, call := range r.Calls {
		say("%s: invocation %d, turns %v", call.At.ID, call.Invocation, call.Turns)
	}
	for _, tool := range r.Tools {
		say("%s %s: invocation %d, turn %d, answered %t %s, record %t", tool.ID, tool.Name, tool.Invocation, tool.Turn, tool.Answered, tool.Result.Raw(), tool.Record != nil)
	}
	say("%s", sketch(r.Orphans))
	want := `main completed: parent -1, depth 0, children [1], turns [0 1], calls [0 1 2], tools [0 1]
sub failed: parent 0, depth 1, children [2], turns [], calls [3], tools [2]
deep completed: parent 1, depth 2, children [], turns [], calls [], tools []
main 1: asked 1; user:go; ; tool call c; calls [0], tools [0]
main 2: asked 3; tool result c; reasoning; tool call c; calls [1 2], tools [1]
ghost 1: asked 1; :what; ; assistant:that; calls [], tools []
m1: invocation 0, turns [0]
m2: invocation 0, turns [1]
m3: invocation 0, turns [1]
m4: invocation 1, turns []
m5: invocation -1, turns []
c spawn: invocation 0, turn 0, answered true "one", record true
c spawn: invocation 0, turn 1, answered true "two", record false
d read: invocation 1, turn -1, answered true "seen", record true
e : invocation -1, turn -1, answered false , record true
tool result z`
	if s := strings.Join(got, "\n"); s != want {
		t.Errorf("%s\nwant\n%s", s, want)
	}
}

// TestSamples joins the rows of the reference: every model call of a turn is found, every tool call that was answered
// has its answer.
func TestSamples(t *testing.T) {
	for _, name := range []string{"s20-projection", "s21-projection-damaged"} {
		turns, calls, tools := 0, 0, 0
		for _, line := range lines(t, "project/"+name+"/expected/projected_rollouts.jsonl") {
			r := read(t, line)
			if r.Err != nil {
				t.Fatal(r.Err)
			}
			if !r.Saved {
				continue
			}
			for i := range r.Turns {
				turns++
				if len(r.Turns[i].Calls) != len(r.Record.Turns[i].Refs) {
					t.Errorf("%s: turn %d has %d of %d calls", name, i, len(r.Turns[i].Calls), len(r.Record.Turns[i].Refs))
				}
				calls += len(r.Turns[i].Calls)
			}
			for _, tool := range r.Tools {
				if tool.Answered {
					tools++
				}
			}
		}
		if turns == 0 || calls == 0 || name == "s20-projection" && tools == 0 {
			t.Errorf("%s: %d turns, %d calls, %d tools", name, turns, calls, tools)
		}
	}
}

// TestInvalid: a trajectory that is not valid leaves the response.
func TestInvalid(t *testing.T) {
	r := read(t, []byte(`{"responses_create_params":{"instructions":"be good","input":"q"},"response":{"output":[{"type":"reasoning","summary":[]},{"type":"message","role":"assistant","content":"a"},{"type":"message","role":"user","content":"more"},{"type":"message","role":"assistant","content":"b"}]},"ng_trajectory":{"x":1}}`))
	if r.Err == nil || r.Record != nil || r.Saved || sketch(r.Prompt) != "system:be good, :q" {
		t.Errorf("%v %s", r.Err, sketch(r.Prompt))
	}
	if len(r.Turns) != 2 || sketch(r.Turns[0].Answer) != "assistant:a" || sketch(r.Turns[1].Input) != "user:more" || len(r.Turns[0].Reasoning) != 1 {
		t.Errorf("%+v", r.Turns)
	}
}

// TestLoose: of a trajectory with a bad field everything else can be seen.
func TestLoose(t *testing.T) {
	r := read(t, []byte(strings.Replace(strings.ReplaceAll(family, "\n", " "), `"turn_no":1`, `"turn_no":0`, 1)))
	if r.Err == nil || r.Record != nil || !r.Saved || !r.Loose {
		t.Fatalf("%v %v %t %t", r.Err, r.Record, r.Saved, r.Loose)
	}
	if len(r.Turns) != 3 || len(r.Invocations) != 3 || len(r.Calls) != 5 || len(r.Tools) != 4 || len(r.Turns[1].Calls) != 2 || r.Calls[3].Invocation != 1 {
		t.Errorf("%d turns, %d invocations, %d calls, %d tools", len(r.Turns), len(r.Invocations), len(r.Calls), len(r.Tools))
	}
}

// TestAttached: a row without a trajectory may still carry its calls.
func TestAttached(t *testing.T) {
	r := read(t, []byte(`{"response":{"output":"x"},"ng_model_call_capture":{"calls":[7,{"model_call_id":"a","started_at":1.5,"status_code":429,"error_category":"rate_limited","tokens_in":3,"request":null,"request_raw":"{"}]}}`))
	if len(r.Calls) != 1 || r.Calls[0].At.ID.String() != "a" || r.Calls[0].At.PromptTokens.Int.String() != "3" || !r.Calls[0].At.Request.IsString() {
		t.Errorf("%+v", r.Calls)
	}
}

// TestHosted: calls of tools with types of their own, and results that end a response.
func TestHosted(t *testing.T) {
	r := read(t, []byte(`{"response":{"output":[{"type":"web_search_call","id":"w","action":{"type":"search"}},{"type":"file_search_call","queries":["q"],"results":[{"text":"r"}]},{"type":"local_shell_call","call_id":"s","action":{"command":["ls"]}},{"type":"local_shell_call_output","call_id":"s","output":"files"}]}}`))
	var got []string
	for _, tool := range r.Tools {
		got = append(got, fmt.Sprintf("%s hosted %t %s", tool.Name, tool.Hosted, tool.Result.Raw()))
	}
	if s := strings.Join(got, "\n"); s != "web_search hosted true \nfile_search hosted true [{\"text\":\"r\"}]\nlocal_shell hosted false \"files\"" {
		t.Error(s)
	}
	if len(r.Turns) != 1 {
		t.Errorf("%d turns", len(r.Turns))
	}
}

// TestDialects: a response may have the shape of any dialect.
func TestDialects(t *testing.T) {
	for _, response := range []string{
		`{"choices":[{"message":{"role":"assistant","content":"a"}}]}`, `{"role":"assistant","content":[{"type":"text","text":"a"}]}`, `"a"`,
		`{"output":[{"type":"message","role":"assistant","content":"a"}]}`,
	} {
		r := read(t, []byte(`{"response":`+response+`}`))
		if len(r.Turns) != 1 || len(r.Turns[0].Answer) != 1 || r.Turns[0].Answer[0].Content()[0].Text.Text() != "a" {
			t.Errorf("%s: %+v", response, r.Turns)
		}
	}
}

// FuzzRead joins rows of any content; places must lie inside their lists.
func FuzzRead(f *testing.F) {
	f.Add([]byte(strings.ReplaceAll(family, "\n", " ")))
	for _, path := range []string{"cases/43-odd-outputs/rollouts.jsonl", "cases/44-tool-calls/rollouts.jsonl", "cases/47-remote-and-broken-images/rollouts.jsonl", "project/s20-projection/expected/projected_rollouts.jsonl"} {
		for _, line := range lines(f, path) {
			f.Add(line)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		row := new(rollout.Reader).Read(&jsonl.Line{Number: 1, Bytes: text, Length: int64(len(text))})
		r := new(Reader).Read(row)
		check := func(i, n int) {
			if i < -1 || i >= n {
				t.Errorf("place %d of %d", i, n)
			}
		}
		look := func(list []Item) {
			for _, it := range list {
				check(it.Pair, len(list))
				it.Content()
				it.Encrypted()
				ArgumentsOf(it.Arguments)
			}
		}
		look(r.Prompt)
		look(r.Orphans)
		for _, turn := range r.Turns {
			look(turn.Input)
			look(turn.Answer)
			look(turn.Reasoning)
			check(turn.Invocation, len(r.Invocations))
			for _, i := range turn.Tools {
				check(i, len(r.Tools))
			}
			for _, i := range turn.Calls {
				check(i, len(r.Calls))
			}
		}
		for _, in := range r.Invocations {
			check(in.Parent, len(r.Invocations))
		}
		for _, tool := range r.Tools {
			check(tool.Invocation, len(r.Invocations))
			check(tool.Turn, len(r.Turns))
		}
	})
}

// indents notes how far the lines of a tree are set in.
type indents []int

func (d *indents) Head(string)              {}
func (d *indents) Text(int, string)         {}
func (d *indents) Line(depth int, _ string) { *d = append(*d, depth) }

// TestDeepTree tells a chain of agents, each started by the one before: every one has its line, and the lines are not
// set in without end.
func TestDeepTree(t *testing.T) {
	r := new(Rollout)
	for i := range 1000 {
		in := Invocation{Parent: i - 1}
		if i < 999 {
			in.Children = []int{i + 1}
		}
		r.Invocations = append(r.Invocations, in)
	}
	var d indents
	r.Tree(&d)
	if len(d) != 1000 || d[0] != 0 || d[5] != 5 || d[999] != deepest {
		t.Errorf("%d lines, set in by %v", len(d), d)
	}
}
