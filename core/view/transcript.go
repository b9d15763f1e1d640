package view

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rollscope/rollscope/core/health/check"
	"github.com/rollscope/rollscope/core/jsonscan"
)

// A transcript is the order of a row's turns and what belongs together in them. It holds spans of the row
// alone; a turn becomes blocks when it comes into sight.
type transcript struct {
	saved   bool // turns come from the trajectory, not from the response
	prompt  []jsonscan.Value
	turns   []turn
	outputs map[string][]jsonscan.Value // tool outputs by call id, in order
	tools   map[string]jsonscan.Value   // tool records of the trajectory by call id
	calls   map[string]int              // model call id → position in model_calls
	record  []jsonscan.Value            // model_calls
	asked   map[string]int              // call id → number of tool calls with it
	nth     map[int]int                 // place of a tool call in the row → how many with its id came before
	shown   map[int]bool                // places of the outputs that stand among the items of a turn
	orphans []jsonscan.Value            // outputs without a call
	strays  []check.Finding             // findings that belong to no turn
}

// A turn is what the agent did between two answers of the world.
type turn struct {
	at       jsonscan.Value   // of the trajectory, absent for turns of the response
	items    []jsonscan.Value // of the response
	input    []jsonscan.Value // what came in before it and is new
	findings []check.Finding
}

// newTranscript orders a row. It walks the items once and opens none.
func newTranscript(row jsonscan.Value, findings []check.Finding) *transcript {
	t := &transcript{
		outputs: map[string][]jsonscan.Value{}, tools: map[string]jsonscan.Value{}, calls: map[string]int{}, asked: map[string]int{},
		nth: map[int]int{}, shown: map[int]bool{},
	}
	trajectory := row.Get("ng_trajectory")
	response := row.Get("response")
	t.readTools(trajectory)
	params := row.Get("responses_create_params")
	t.prompt = messages(params.Get("input"))
	output := response.Get("output")
	if instructions := params.Get("instructions"); instructions.IsString() {
		t.prompt = append([]jsonscan.Value{instructions}, t.prompt...)
	}
	t.readTurns(trajectory.Get("turns"))
	if len(t.turns) == 0 {
		t.prompt = nil
		t.readOutput(params.Get("input"), output)
	} else {
		t.saved = true
	}
	t.collect(output)
	t.collect(params.Get("input"))
	t.pair()
	t.place(findings)
	return t
}

// readTools notes the tool records and model calls of the trajectory.
func (t *transcript) readTools(trajectory jsonscan.Value) {
	e := trajectory.Get("tool_calls").Elements()
	for e.Next() {
		if id := e.Value.Get("tool_call_id"); id.IsString() {
			t.tools[id.Text()] = e.Value
		}
	}
	e = trajectory.Get("model_calls").Elements()
	for e.Next() {
		if id := e.Value.Get("model_call_id"); id.IsString() {
			t.calls[id.Text()] = len(t.record)
		}
		t.record = append(t.record, e.Value)
	}
	e = trajectory.Get("invocations").Elements()
	for e.Next() {
		t.collect(e.Value.Get("conversation"))
	}
}

// readTurns takes the turns that were saved. A turn's question repeats what came before it, so only its new
// end is shown.
func (t *transcript) readTurns(turns jsonscan.Value) {
	before := map[string]int{} // by invocation: items of the last question
	e := turns.Elements()
	for e.Next() {
		one := turn{at: e.Value}
		question := e.Value.Get("question")
		id := e.Value.Get("invocation_id").Text()
		if question.IsArray() {
			n := 0
			q := question.Elements()
			for q.Next() {
				if n >= before[id] && spoken(q.Value) {
					one.input = append(one.input, q.Value)
				}
				n++
			}
			before[id] = n
			t.collect(question)
		} else if !question.IsNull() {
			one.input = append(one.input, question)
		}
		t.turns = append(t.turns, one)
	}
}

// spoken tells whether an input item is said by somebody: answers of the agent and of tools stand elsewhere.
func spoken(v jsonscan.Value) bool {
	if !v.IsObject() {
		return true
	}
	role := v.Get("role")
	return role.Is("user") || role.Is("system") || role.Is("developer") || !role.Exists() && v.Get("type").IsNull()
}

// messages lists the items of an input, which may be one text.
func messages(input jsonscan.Value) []jsonscan.Value {
	if input.IsString() {
		return []jsonscan.Value{input}
	}
	var list []jsonscan.Value
	e := input.Elements()
	for e.Next() {
		list = append(list, e.Value)
	}
	return list
}

// readOutput makes turns of a response: an answer of a tool or a person closes one.
func (t *transcript) readOutput(input, output jsonscan.Value) {
	first := turn{input: messages(input)}
	switch {
	case output.IsArray():
		open, answered := first, false
		e := output.Elements()
		for e.Next() {
			v := e.Value
			if toolOutput(v) || v.Get("role").Is("user") {
				if v.Get("role").Is("user") {
					if len(open.items) > 0 || len(open.input) > 0 {
						t.turns = append(t.turns, open)
					}
					open, answered = turn{input: []jsonscan.Value{v}}, false
					continue
				}
				answered = true
				open.items = append(open.items, v)
				continue
			}
			if answered && len(open.items) > 0 {
				t.turns = append(t.turns, open)
				open, answered = turn{}, false
			}
			open.items = append(open.items, v)
		}
		if len(open.items) > 0 || len(open.input) > 0 {
			t.turns = append(t.turns, open)
		}
	case output.Exists():
		first.items = []jsonscan.Value{output}
		t.turns = append(t.turns, first)
	case len(first.input) > 0:
		t.turns = append(t.turns, first)
	}
}

// outputTypes are the items that answer a tool call.
var outputTypes = map[string]bool{
	"function_call_output": true, "tool_call_output": true, "tool_result": true, "computer_call_output": true, "custom_tool_call_output": true,
	"local_shell_call_output": true, "shell_call_output": true, "apply_patch_call_output": true, "mcp_approval_response": true,
}

func toolOutput(v jsonscan.Value) bool {
	if !v.IsObject() {
		return false
	}
	kind := v.Get("type")
	return kind.IsString() && outputTypes[kind.Text()] || v.Get("role").Is("tool")
}

// callID is what ties an output to its call.
func callID(v jsonscan.Value) (string, bool) {
	for _, key := range [...]string{"call_id", "tool_call_id", "tool_use_id"} {
		if id := v.Get(key); id.IsString() {
			return id.Text(), true
		}
	}
	return "", false
}

// collect notes the tool outputs among items. The same output stands in several places of a row; it counts
// once for each distinct text.
func (t *transcript) collect(items jsonscan.Value) {
	e := items.Elements()
	for e.Next() {
		v := e.Value
		if !toolOutput(v) {
			// A message of another dialect may hold results among its parts.
			p := v.Get("content").Elements()
			for p.Next() {
				if p.Value.Get("type").Is("tool_result") {
					t.note(p.Value)
				}
			}
			continue
		}
		t.note(v)
	}
}

// mostAlike is how many earlier outputs of one call an output is compared with.
const mostAlike = 16

func (t *transcript) note(v jsonscan.Value) {
	id, ok := callID(v)
	if !ok {
		t.orphans = append(t.orphans, v)
		return
	}
	text := result(v).Raw()
	list := t.outputs[id]
	for _, known := range list[max(0, len(list)-mostAlike):] {
		if bytes.Equal(result(known).Raw(), text) {
			return
		}
	}
	t.outputs[id] = append(t.outputs[id], v)
}

// result is the content of a tool output.
func result(v jsonscan.Value) jsonscan.Value {
	for _, key := range [...]string{"output", "content"} {
		if r := v.Get(key); r.Exists() {
			return r
		}
	}
	return v
}

// pair counts the tool calls by id, so that outputs without one are found.
func (t *transcript) pair() {
	for i := range t.turns {
		for _, v := range t.turns[i].answer() {
			t.countCalls(v)
			if toolOutput(v) {
				t.shown[v.Offset()] = true
			}
		}
	}
	for id, list := range t.outputs {
		if t.asked[id] == 0 {
			t.orphans = append(t.orphans, list...)
		}
	}
	t.orphans = slices.DeleteFunc(t.orphans, func(v jsonscan.Value) bool { return t.shown[v.Offset()] })
	slices.SortFunc(t.orphans, func(a, b jsonscan.Value) int { return a.Offset() - b.Offset() })
}

// answer lists the items a turn consists of.
func (t *turn) answer() []jsonscan.Value {
	if !t.at.Exists() {
		return t.items
	}
	answer := t.at.Get("answer")
	if answer.IsArray() {
		return messages(answer)
	}
	if answer.IsNull() {
		return nil
	}
	return []jsonscan.Value{answer}
}

func (t *transcript) countCalls(v jsonscan.Value) {
	if !v.IsObject() {
		return
	}
	if toolCall(v) {
		t.ask(v)
		return
	}
	e := v.Get("tool_calls").Elements()
	for e.Next() {
		t.ask(e.Value)
	}
	e = v.Get("content").Elements()
	for e.Next() {
		if toolCall(e.Value) {
			t.ask(e.Value)
		}
	}
}

func (t *transcript) ask(v jsonscan.Value) {
	if id, ok := toolCallID(v); ok {
		t.nth[v.Offset()] = t.asked[id]
		t.asked[id]++
	}
}

// place puts findings to their turns: by turn, or by the turn that refers to their model call.
func (t *transcript) place(findings []check.Finding) {
	byCall := map[int]int{} // position in model_calls → turn
	byReply := map[string]int{}
	for n, call := range t.record {
		if id := call.Get("response_metadata").Get("response_id"); id.IsString() {
			if _, taken := byReply[id.Text()]; !taken {
				byReply[id.Text()] = n
			}
		}
	}
	first := func(n, i int) {
		if _, taken := byCall[n]; !taken {
			byCall[n] = i
		}
	}
	for i := range t.turns {
		e := t.turns[i].at.Get("model_calls").Elements()
		for e.Next() {
			id := e.Value.Get("model_call_id")
			if n, ok := t.calls[id.Text()]; ok && id.IsString() {
				first(n, i)
				continue
			}
			if n, ok := byReply[e.Value.Get("response_id").Text()]; ok {
				first(n, i)
			}
		}
	}
	for _, f := range findings {
		at, ok := f.Place.Turn, f.Place.Turn >= 0 && t.saved
		if !ok && f.Place.Call >= 0 {
			at, ok = byCall[f.Place.Call]
		}
		if ok && at < len(t.turns) {
			t.turns[at].findings = append(t.turns[at].findings, f)
		} else {
			t.strays = append(t.strays, f)
		}
	}
}

// turnNumber is the number a turn goes by: its place among all turns, from 1.
func turnNumber(i int) int { return i + 1 }

// title names a turn: its number, and the invocation where there are several.
func (t *transcript) title(i int) string {
	return fmt.Sprintf("Turn %d of %d", turnNumber(i), len(t.turns))
}

// note says what is known of a turn at a glance.
func (t *transcript) turnNote(i int) string {
	one := &t.turns[i]
	if !one.at.Exists() {
		return count(len(one.items), "item", "items") + " of the response"
	}
	var parts []string
	if id := one.at.Get("invocation_id").Text(); id != "" {
		parts = append(parts, id)
	}
	if no, ok := one.at.Get("turn_no").Integer(); ok && no.String() != strconv.Itoa(turnNumber(i)) {
		parts = append(parts, "turn_no "+no.String())
	}
	e := one.at.Get("model_calls").Elements()
	for e.Next() {
		n, ok := t.calls[e.Value.Get("model_call_id").Text()]
		if !ok {
			continue
		}
		call := t.record[n]
		parts = append(parts, e.Value.Get("model_call_id").Text())
		if tokens, ok := call.Get("token_stats").Get("completion_tokens").Integer(); ok {
			parts = append(parts, groupText(tokens.String())+" completion tok")
		}
		if ms, ok := call.Get("duration_ms").Float(); ok {
			parts = append(parts, seconds(ms))
		}
		if status, ok := call.Get("response_metadata").Get("status_code").Integer(); ok && status.String() != "200" {
			parts = append(parts, "status "+status.String())
		}
	}
	return strings.Join(parts, " · ")
}

// seconds writes a duration of milliseconds as min:s.
func seconds(ms float64) string {
	s := int64(ms/1000 + 0.5)
	if s < 60 {
		return fixed(ms/1000, 1) + " s"
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}
