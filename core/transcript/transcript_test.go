package transcript

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/rollout"
)

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../testdata", path))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func scan(t testing.TB, text string) jsonscan.Value {
	t.Helper()
	v, err := new(jsonscan.Scanner).Scan([]byte(text))
	if err != nil {
		t.Fatalf("%s: %s", err, text)
	}
	return v
}

// read reads a row of its own, so that its spans stay.
func read(t testing.TB, text []byte) *Rollout {
	t.Helper()
	row := new(rollout.Reader).Read(&jsonl.Line{Number: 1, Bytes: text, Length: int64(len(text))})
	if row.Problem != nil {
		t.Fatal(row.Problem)
	}
	return new(Reader).Read(row)
}

func lines(t testing.TB, path string) [][]byte {
	return bytes.Split(bytes.TrimSpace(readFile(t, path)), []byte{'\n'})
}

// sketch says in a few words what items there are.
func sketch(list []Item) string {
	var out []string
	for _, it := range list {
		s := it.Kind.String()
		switch {
		case it.Kind == Message:
			s = it.Role + ":"
			for _, p := range it.Content() {
				if p.Kind == PartText {
					s += p.Text.Text()
				} else {
					s += fmt.Sprint("?", p.Kind)
				}
			}
		case it.HasCallID:
			s += " " + it.CallID
		}
		if it.Pair >= 0 {
			s += fmt.Sprint("→", it.Pair)
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

func TestItems(t *testing.T) {
	for text, want := range map[string]string{
		`null`:                       "",
		`"hi"`:                       ":hi",
		`[]`:                         "",
		`[1,null,"x"]`:               "other, other, :x",
		`{"role":"user"}`:            "user:",
		`{"type":"x"}`:               "other",
		`{"type":"text","text":"a"}`: ":a",
		`[{"role":"user","content":"q"},{"type":"message","content":[{"type":"output_text","text":"a"},{"type":"refusal","refusal":"no"}]}]`:                                                                                                         "user:q, assistant:a?2",
		`[{"type":"message","role":"user","content":"q"},{"type":"web_search_call","role":"x"}]`:                                                                                                                                                     "user:q, tool call",
		`[{"type":"reasoning","summary":[]},{"type":"function_call","call_id":"a","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"a","output":"r"}]`:                                                                          "reasoning, tool call a→2, tool result a→1",
		`[{"type":"custom_tool_call","call_id":"a","name":"f","input":"x"},{"type":"custom_tool_call_output","call_id":"a","output":"r"}]`:                                                                                                           "tool call a→1, tool result a→0",
		`[{"type":"mcp_call","id":"m","name":"f","arguments":"{}"},{"type":"tool_result","call_id":"m","output":"r"}]`:                                                                                                                               "tool call m→1, tool result m→0",
		`[{"role":"assistant","content":null,"reasoning_content":"hm","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"r"},{"role":"assistant","content":"done"}]`: "reasoning, tool call c→2, tool result c→1, assistant:done",
		`{"role":"assistant","content":"x","tool_calls":[]}`:    "assistant:x",
		`{"role":"assistant","content":null,"tool_calls":null}`: "assistant:",
		`[{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"say"},{"type":"tool_use","id":"u","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"u","content":"r"},{"type":"text","text":"and"}]}]`: "reasoning, assistant:say, tool call u→3, tool result u→2, user:and",
		`[{"role":"assistant","content":[{"type":"redacted_thinking","data":"x"}]}]`:                                                                                                                                                "reasoning",
		`[{"type":"function_call","call_id":null,"name":"f"},{"type":"function_call_output","call_id":null,"output":""}]`:                                                                                                           "tool call, tool result",
		`[{"type":"function_call_output","call_id":"a"},{"type":"function_call","call_id":"a"}]`:                                                                                                                                    "tool result a, tool call a",
		`[{"type":"function_call","call_id":"a"},{"type":"function_call","call_id":"a"},{"type":"function_call_output","call_id":"a"},{"type":"function_call_output","call_id":"a"},{"type":"function_call_output","call_id":"a"}]`: "tool call a→3, tool call a→2, tool result a→1, tool result a→0, tool result a",
	} {
		if got := sketch(Items(scan(t, text))); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestToolCalls is the case of arguments and pairs of every kind.
func TestToolCalls(t *testing.T) {
	r := read(t, lines(t, "cases/44-tool-calls/rollouts.jsonl")[0])
	var calls, answers []string
	for _, tool := range r.Tools {
		kind, v := ArgumentsOf(tool.Call.Get("arguments"))
		s := tool.ID + " " + kind.String()
		if v.Exists() {
			s += " " + v.String()
		}
		calls = append(calls, s)
		if tool.Answered {
			answers = append(answers, tool.ID+" "+string(tool.Result.Raw()))
		}
	}
	if got, want := strings.Join(calls, "; "), `a object {"x":1}; b no object "SELECT * FROM t"; c not JSON; d object, not text {"x":1}; e JSON in JSON {"x":1}; f none; g empty; a object {"x":2};  object {}`; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got, want := strings.Join(answers, "; "), `a "1"; b "second first"; c null; d [{"type":"output_text","text":"list output"}]; a "2"`; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got := sketch(r.Orphans); got != "tool result zz, tool result" {
		t.Error(got)
	}
	if len(r.Turns) != 4 || r.Saved || len(r.Prompt) != 1 {
		t.Errorf("%d turns, %s", len(r.Turns), sketch(r.Prompt))
	}
}

// TestOdd is the case of responses of every shape: nothing is lost.
func TestOdd(t *testing.T) {
	var got []string
	for _, line := range lines(t, "cases/43-odd-outputs/rollouts.jsonl") {
		r := read(t, line)
		var turns []string
		for i := range r.Turns {
			turns = append(turns, sketch(append(append(r.Turns[i].Input, r.Turns[i].Reasoning...), r.Turns[i].Answer...)))
		}
		got = append(got, strings.Join(turns, " / "))
	}
	for i, want := range map[int]string{0: "", 1: ":plain text", 2: "", 3: ":text", 4: "", 6: "assistant:4", 7: "assistant:4", 8: "assistant:4"} {
		if got[i] != want {
			t.Errorf("row %d: %s, want %s", i, got[i], want)
		}
	}
	if want := "assistant:string content, assistant:, assistant:, assistant:?2, assistant:?0, reasoning, reasoning, tool call, other, other, other, :x"; got[5] != want {
		t.Errorf("%s, want %s", got[5], want)
	}
}

// TestImages is the case of images that may and may not be shown.
func TestImages(t *testing.T) {
	r := read(t, lines(t, "cases/47-remote-and-broken-images/rollouts.jsonl")[0])
	var got []string
	for _, p := range r.Prompt[0].Content()[1:] {
		got = append(got, fmt.Sprintf("%s %s %d %s", p.Image.Kind, p.Image.MediaType, p.Image.Bytes, p.Image.Address))
	}
	want := []string{
		"image image/png 70 ", "remote image  0 https://tracker.invalid/pixel.png?run=42", "broken image image/png 16 ", "data that is no picture text/html 25 ",
		"data that is no picture image/svg+xml 67 ", "image file  0 file_1",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%q\nwant %q", got, want)
	}
	for text, want := range map[string]ImageKind{
		`{"type":"image_url","image_url":{"url":"http://x/y"}}`:                                  ImageRemote,
		`{"type":"image","source":{"type":"base64","media_type":"image/PNG","data":"AAAA"}}`:     ImageInline,
		`{"type":"image","source":{"type":"base64","media_type":"image/svg+xml","data":"AAAA"}}`: ImageForeign,
		`{"type":"image","source":{"type":"url","url":"http://x"}}`:                              ImageRemote,
		`{"type":"input_image","image_url":"DATA:image/gif;BASE64,AAAA"}`:                        ImageInline,
		`{"type":"input_image","image_url":"data:image/png;base64,"}`:                            ImageBroken,
		`{"type":"input_image","image_url":"data:image/png"}`:                                    ImageForeign,
		`{"type":"input_image","image_url":"javascript:alert(1)"}`:                               ImageRemote,
		`{"type":"input_image"}`:               ImageUnknown,
		`{"type":"input_image","image_url":7}`: ImageUnknown,
	} {
		if got := partOf(scan(t, text)).Image.Kind; got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestArguments(t *testing.T) {
	for text, want := range map[string]ArgumentsKind{
		`7`:                     ArgumentsOdd,
		`[1]`:                   ArgumentsOdd,
		`"7"`:                   ArgumentsValue,
		`"\"x\""`:               ArgumentsValue,
		`"\"{\\\"a\\\":"`:       ArgumentsBroken,
		`"{\"a\":\"\\ud800\"}"`: ArgumentsObject,
		`" {} "`:                ArgumentsObject,
		`" "`:                   ArgumentsBroken,
	} {
		if got, _ := ArgumentsOf(scan(t, text)); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestReasoning(t *testing.T) {
	list := Items(scan(t, `[{"type":"reasoning","summary":[{"type":"summary_text","text":"a"}],"content":[{"type":"reasoning_text","text":"b"}],"encrypted_content":"x"},{"type":"reasoning","encrypted_content":""},{"type":"message","content":"x","encrypted_content":"y"}]`))
	if got := list[0].Content(); len(got) != 2 || got[0].Text.Text() != "a" || got[1].Text.Text() != "b" || !list[0].Encrypted() {
		t.Errorf("%+v", got)
	}
	if list[1].Encrypted() || list[2].Encrypted() || len(list[1].Content()) != 0 {
		t.Errorf("%+v", list)
	}
}
