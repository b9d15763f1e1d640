package view

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/health/check"
	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/rollout"
	"github.com/rollscope/rollscope/core/trajectory"
	"github.com/rollscope/rollscope/core/transcript"
)

// tell writes a row's transcript as one line a block: kind, title, name, note and text.
func tell(t *testing.T, row string, findings ...check.Finding) []string {
	t.Helper()
	talk := talkOf(t, row, findings...)
	var lines []string
	var walk func(list []Block, depth int)
	walk = func(list []Block, depth int) {
		for _, b := range list {
			parts := []string{b.Kind}
			for _, s := range []string{b.Title, b.Name, b.Note, b.Text} {
				if s != "" {
					parts = append(parts, s)
				}
			}
			if b.Folded > 0 {
				parts = append(parts, fmt.Sprintf("+%d", b.Folded))
			}
			lines = append(lines, strings.Repeat(".", depth)+strings.Join(parts, "|"))
			walk(b.Children, depth+1)
		}
	}
	if len(talk.Prompt) > 0 {
		walk([]Block{talk.prompt(State{})}, 0)
	}
	for n := 0; n*chunkSize < len(talk.Turns); n++ {
		walk(talk.chunk(n, State{}), 0)
	}
	walk(talk.tail(State{}), 0)
	return lines
}

// talkOf ties a row together.
func talkOf(t *testing.T, row string, findings ...check.Finding) *talk {
	t.Helper()
	read := new(rollout.Reader).Read(&jsonl.Line{Number: 1, Bytes: []byte(row), Length: int64(len(row))})
	if read.Problem != nil {
		t.Fatal(read.Problem.Reason)
	}
	return readTalk(read, findings, new(transcript.Reader), new(trajectory.Reader))
}

func TestTranscript(t *testing.T) {
	tests := []struct{ name, row, want string }{
		{"response", `{"responses_create_params":{"input":"hi"},"response":{"output":[
			{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}]},
			{"type":"function_call","call_id":"c","name":"sh","arguments":"{\"a\":1}"},
			{"type":"function_call_output","call_id":"c","output":"ok"},
			{"type":"message","role":"assistant","content":[{"type":"output_text","text":"done"}]}]}}`,
			`prompt|Prompt|1 item
.input|input|hi
turn|Turn 1 of 2|2 items of the response
.reasoning|reasoning|hm
.call|tool call|sh|{"a":1}
..output|output|ok
turn|Turn 2 of 2|1 item of the response
.message|message|done`},
		{"unanswered and orphan", `{"response":{"output":[{"type":"function_call","call_id":"c","name":"sh","arguments":""},{"type":"function_call_output","call_id":"d","output":"late"}]}}`,
			`turn|Turn 1 of 2|1 item of the response
.call|tool call|sh|no arguments
..note|unanswered|no result with the call id c was saved
turn|Turn 2 of 2|1 item of the response
.output|output|late
..note|output without a call|no tool call with the id d was saved`},
		{"odd arguments", `{"response":{"output":[{"type":"function_call","name":"a","arguments":"{"},{"type":"function_call","name":"b","arguments":{"x":1}},{"type":"function_call","name":"c","arguments":"\"{}\""},{"type":"function_call","name":"d","arguments":null}]}}`,
			`turn|Turn 1 of 1|4 items of the response
.call|tool call|a|arguments are not JSON|{
..note|no call id|the call cannot be tied to a result
.call|tool call|b|arguments are not a text|{
  "x": 1
}
..note|no call id|the call cannot be tied to a result
.call|tool call|c|arguments are JSON inside JSON|{}
..note|no call id|the call cannot be tied to a result
.call|tool call|d|arguments are null
..note|no call id|the call cannot be tied to a result`},
		{"ids used twice", `{"response":{"output":[{"type":"function_call","call_id":"c","name":"a","arguments":"{}"},{"type":"function_call","call_id":"c","name":"b","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"1"},{"type":"function_call_output","call_id":"c","output":"2"}]}}`,
			`turn|Turn 1 of 1|2 items of the response
.call|tool call|a|{}
..note|call id used 2 times|c
..output|output|2
.call|tool call|b|{}
..note|call id used 2 times|c
..output|output|1`},
		{"odd outputs", `{"response":{"output":["text",7,null,{"type":"web_search_call","action":{"type":"search"}},{"type":"later","x":1},{"type":"reasoning","encrypted_content":"abc"},{"type":"reasoning"}]}}`,
			`turn|Turn 1 of 1|7 items of the response
.message|message|text
.raw|int|7
.raw|null|null
.call|tool call|web_search|arguments are not a text|{
  "type": "search"
}
.raw|later|{
  "type": "later",
  "x": 1
}
.reasoning|reasoning|encrypted, 3 characters
.reasoning|reasoning|empty`},
		{"output is a text", `{"response":{"output":"just text"}}`, "turn|Turn 1 of 1|1 item of the response\n.message|message|just text"},
		{"no output", `{"response":null}`, ""},
		{"chat turns", `{"ng_trajectory":{"turns":[{"invocation_id":"root","turn_no":1,"question":[{"role":"user","content":"q"}],"answer":{"role":"assistant","content":"a","tool_calls":[{"id":"t","type":"function","function":{"name":"ls","arguments":"{}"}}]},"reasoning_content":"r"},
			{"invocation_id":"root","turn_no":2,"question":[{"role":"user","content":"q"},{"role":"assistant","content":"a"},{"role":"tool","tool_call_id":"t","content":"files"}],"answer":[]}]}}`,
			`turn|Turn 1 of 2|step 0
.input|user|q
.reasoning|reasoning|r
.message|message|a
.call|tool call|ls|{}
..output|output|files
turn|Turn 2 of 2|step 0
.note|answer|nothing was said`},
		{"images", `{"response":{"output":[{"type":"message","role":"user","content":[{"type":"input_image","image_url":"https://example.com/x.png"},{"type":"input_image","image_url":"data:image/svg+xml;base64,AAAA"},{"type":"input_image","image_url":"data:image/png;base64,!!"},{"type":"input_image","file_id":"f"}]}]}}`,
			`turn|Turn 1 of 1|1 item of the response
.image|remote image|an address, not fetched|https://example.com/x.png
.image|data that is no picture|image/svg+xml, 3 B, not shown as a picture|data:image/svg+xml;base64,AAAA
.image|broken image|image/png, 2 characters, not valid base64
.image|image file|a file id, its content is not in the row|f`},
		{"token lists", `{"response":{"output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"x"}],"prompt_token_ids":[1,2,3],"generation_token_ids":[4]}]}}`,
			"turn|Turn 1 of 1|1 item of the response\n.message|message|3 prompt token ids, 1 generation token ids|x"},
	}
	for _, tt := range tests {
		got := strings.Join(tell(t, tt.row), "\n")
		if got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
}

// TestHugeTurn shows that a turn of any size becomes a page of bounded size that says what is left out.
func TestHugeTurn(t *testing.T) {
	item := `{"type":"function_call","call_id":"c","name":"sh","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"ok"}`
	row := `{"ng_trajectory":{"turns":[{"turn_no":1,"answer":[` + strings.TrimSuffix(strings.Repeat(item+",", 20_000), ",") + `]}]}}`
	lines := tell(t, row)
	if len(lines) > 3*mostItems {
		t.Errorf("%d blocks", len(lines))
	}
	if last := lines[len(lines)-1]; !strings.Contains(last, "39,600 items") {
		t.Errorf("the end says %q", last)
	}
	parts := `{"response":{"output":[{"type":"message","role":"assistant","content":[` + strings.TrimSuffix(strings.Repeat(`{"type":"output_text","text":"x"},`, 20_000), ",") + `]}]}}`
	if lines := tell(t, parts); len(lines) > mostBlocks+10 {
		t.Errorf("%d blocks of one message", len(lines))
	}
}

func TestFoldedText(t *testing.T) {
	lines := tell(t, `{"response":{"output":"`+strings.Repeat("é", 5000)+`"}}`)
	if !strings.HasSuffix(lines[1], "|+3500") {
		t.Errorf("%.40s … %s", lines[1], lines[1][len(lines[1])-10:])
	}
}

// TestRefusedRow opens the page of lines that cannot be read: the tolerant reading shows their records, the
// raw part their bytes, and the numbers know them as unreadable.
func TestRefusedRow(t *testing.T) {
	glued := `{"response":{"output":"first"}}{"response":{"output":"second"}}`
	file := glued + "\n" + `{"response":{"output":"\ud800"}}` + "\n\x00\x00\x00\n"
	d := deskOf(t, "a.jsonl", []byte(file))
	tests := []struct {
		line   int
		part   string
		codes  string
		blocks string
	}{
		{1, "", "unreadable_row repaired_row", "note turn note turn"},
		{1, "raw", "unreadable_row", "raw"},
		{2, "", "unreadable_row repaired_row", "turn"},
		{3, "", "unreadable_row", "raw"},
	}
	for _, tt := range tests {
		s := State{Rollout: fmt.Sprintf("a.jsonl:%d", tt.line), Part: tt.part}
		p, needs := d.Page(s, Host{}, nil)
		for _, n := range needs {
			d.Supply(n, []byte(file[n.Offset:n.Offset+n.Length]), "")
			p, _ = d.Page(s, Host{}, nil)
		}
		var codes, kinds []string
		for _, a := range p.Rollout.Notices {
			codes = append(codes, a.Code)
		}
		for _, b := range p.Rollout.Blocks {
			kinds = append(kinds, b.Kind)
		}
		if got := strings.Join(codes, " "); got != tt.codes {
			t.Errorf("line %d: notices %s", tt.line, got)
		}
		if got := strings.Join(kinds, " "); got != tt.blocks {
			t.Errorf("line %d %s: blocks %s", tt.line, tt.part, got)
		}
	}
}
