package filter

import (
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/trajectory/lax"
	"github.com/rollscope/rollscope/core/transcript"
)

// A NamedList is a list that every row may have.
type NamedList struct {
	Name   string
	Title  string // what its elements are
	From   string // where they are read from
	Fields Fields // of an element

	each  func(l *Look, visit func(*element) bool) (there bool)
	field func(l *Look, e *element, name string) Value
}

// An element of a list. Which of the parts are there depends on the list.
type element struct {
	value jsonscan.Value // as it is written, absent where nothing is
	turn  *transcript.Turn
	item  *transcript.Item
	tool  *transcript.Tool
	at    int // place of its turn, −1 for none
}

// Lists are the named lists, in the order of the manual.
var Lists = []*NamedList{
	{
		Name: "calls", Title: "model calls of the saved trajectory, as they are written", From: "ng_trajectory.model_calls",
		Fields: Fields{
			{Name: "id", Kind: TextKind, Title: "model_call_id"},
			{Name: "status", Kind: NumberKind, Title: "status code of the response"},
			{Name: "error", Kind: TextKind, Title: "error category"},
			{Name: "finish", Kind: TextKind, Title: "finish reason"},
			{Name: "model", Kind: TextKind, Title: "model that answered"},
			{Name: "source", Kind: TextKind, Title: "response source, upstream or local"},
			{Name: "prompt", Kind: NumberKind, Title: "prompt tokens"},
			{Name: "completion", Kind: NumberKind, Title: "completion tokens"},
			{Name: "reasoning", Kind: NumberKind, Title: "reasoning tokens"},
			{Name: "cached", Kind: NumberKind, Title: "cached tokens"},
			{Name: "total", Kind: NumberKind, Title: "total tokens"},
			{Name: "duration_ms", Kind: NumberKind, Title: "duration in milliseconds"},
			{Name: "ttft_ms", Kind: NumberKind, Title: "time to the first token in milliseconds"},
			{Name: "started", Kind: NumberKind, Title: "start in seconds since 1970"},
			{Name: "completed", Kind: NumberKind, Title: "end in seconds since 1970"},
		},
		each: eachCall, field: callField,
	},
	{
		Name: "turns", Title: "turns as the transcript of show has them", From: "ng_trajectory.turns if the trajectory is valid and has some, else response.output",
		Fields: Fields{
			{Name: "no", Kind: NumberKind, Title: "turn number as saved, else the place from 1"},
			{Name: "invocation", Kind: TextKind, Title: "id of the invocation"},
			{Name: "timestamp", Kind: NumberKind, Title: "time in seconds since 1970"},
			{Name: "steps", Kind: NumberKind, Title: "step count as saved"},
			{Name: "resolved", Kind: BoolKind, Title: "resolved as saved"},
			{Name: "calls", Kind: NumberKind, Title: "model calls that made it"},
			{Name: "tools", Kind: NumberKind, Title: "tool calls in its answer"},
			{Name: "messages", Kind: NumberKind, Title: "messages in its answer"},
			{Name: "text", Kind: TextKind, List: true, Title: "texts of its answer"},
			{Name: "reasoning", Kind: TextKind, List: true, Title: "texts of its reasoning"},
		},
		each: eachTurn, field: turnField,
	},
	{
		Name: "tool_calls", Title: "tool calls as the transcript of show has them", From: "answers of the turns and ng_trajectory.tool_calls if the trajectory is valid and has turns, else response.output",
		Fields: Fields{
			{Name: "id", Kind: TextKind, Title: "id of the call"},
			{Name: "name", Kind: TextKind, Title: "name of the tool"},
			{Name: "turn", Kind: NumberKind, Title: "place of the turn that asks for it, from 1"},
			{Name: "arguments", Kind: TextKind, Title: "arguments as text"},
			{Name: "output", Kind: TextKind, List: true, Title: "texts of the result"},
			{Name: "answered", Kind: BoolKind, Title: "a result is there"},
			{Name: "status", Kind: TextKind, Title: "status of its execution, where it was observed"},
			{Name: "error", Kind: TextKind, Title: "error type of its execution"},
			{Name: "duration_ms", Kind: NumberKind, Title: "duration of its execution in milliseconds"},
		},
		each: eachTool, field: toolField,
	},
	{
		Name: "messages", Title: "messages as the transcript of show has them, those of the prompt first", From: "instructions of responses_create_params and, in a row without saved turns, its input; then as turns",
		Fields: Fields{
			{Name: "role", Kind: TextKind, Title: "who says it", Values: func() []string { return []string{"system", "developer", "user", "assistant"} }},
			{Name: "text", Kind: TextKind, List: true, Title: "texts of the message"},
			{Name: "turn", Kind: NumberKind, Title: "place of its turn, from 1; missing in the prompt"},
		},
		each: eachMessage, field: messageField,
	},
}

func listNames() []string {
	names := make([]string, len(Lists))
	for i, l := range Lists {
		names[i] = l.Name
	}
	return names
}

func eachCall(l *Look, visit func(*element) bool) bool {
	list := l.row.Trajectory.Get("model_calls")
	if !list.IsArray() {
		return false
	}
	for e := list.Elements(); e.Next(); {
		if !visit(&element{value: e.Value}) {
			break
		}
	}
	return true
}

// callPlaces tells where the fields of a call stand, and whether they are numbers.
var callPlaces = map[string]struct {
	in, key string
	number  numberForm
}{
	"id": {"", "model_call_id", noNumber}, "started": {"", "started_at", realNumber}, "completed": {"", "completed_at", realNumber},
	"duration_ms": {"", "duration_ms", realNumber},
	"status":      {"response_metadata", "status_code", wholeNumber}, "error": {"response_metadata", "error_category", noNumber},
	"finish": {"response_metadata", "finish_reason", noNumber}, "model": {"response_metadata", "model", noNumber},
	"source": {"response_metadata", "response_source", noNumber}, "ttft_ms": {"response_metadata", "latency_ttft_ms", realNumber},
	"prompt": {"token_stats", "prompt_tokens", wholeNumber}, "completion": {"token_stats", "completion_tokens", wholeNumber},
	"reasoning": {"token_stats", "reasoning_tokens", wholeNumber}, "cached": {"token_stats", "cached_tokens", wholeNumber},
	"total": {"token_stats", "total_tokens", wholeNumber},
}

type numberForm uint8

const (
	noNumber numberForm = iota
	wholeNumber
	realNumber
)

func callField(_ *Look, e *element, name string) Value {
	place := callPlaces[name]
	v := e.value
	if place.in != "" {
		v = v.Get(place.in)
	}
	v = v.Get(place.key)
	switch place.number {
	case wholeNumber:
		// Numbers may come as texts; they are read as the trajectory itself reads them.
		if n, ok := lax.Int(v); ok && v.Kind() != jsonscan.Bool {
			return Whole(n)
		}
	case realNumber:
		if exact := Of(v); exact.isNumber() {
			return exact
		}
		if f, ok := lax.Float(v); ok && v.Kind() != jsonscan.Bool {
			return Float(f)
		}
	}
	if v.IsArray() || v.IsObject() {
		return Value{kind: object}
	}
	return Of(v)
}

func eachTurn(l *Look, visit func(*element) bool) bool {
	t := l.transcript()
	if !t.Saved && !l.row.Response.Get("output").Exists() && !l.row.Response.IsString() {
		return false
	}
	for i := range t.Turns {
		e := element{turn: &t.Turns[i], at: i}
		if t.Saved && t.Record != nil && i < len(t.Record.Turns) { // a damaged trajectory has turns and no record
			e.value = t.Record.Turns[i].At
		}
		if !visit(&e) {
			break
		}
	}
	return true
}

func turnField(l *Look, e *element, name string) Value {
	t := e.turn
	switch name {
	case "no":
		if v := Number(t.No); v.kind != missing {
			return v
		}
		return Int(int64(e.at) + 1)
	case "invocation":
		return textOrMissing(t.ID)
	case "timestamp":
		if t.HasTime {
			return Float(t.Timestamp)
		}
	case "steps":
		return Number(t.StepCount)
	case "resolved":
		if t.Resolved.Set {
			return Bool(t.Resolved.True)
		}
	case "calls":
		if l.transcript().Saved {
			return Int(int64(len(t.Calls)))
		}
	case "tools":
		return Int(int64(len(t.Tools)))
	case "messages":
		n := int64(0)
		for i := range t.Answer {
			if t.Answer[i].Kind == transcript.Message {
				n++
			}
		}
		return Int(n)
	case "text":
		return textsOf(t.Answer, transcript.Message)
	case "reasoning":
		return textsOf(t.Reasoning, transcript.Reasoning)
	}
	return Value{}
}

func textOrMissing(s string) Value {
	if s == "" {
		return Value{}
	}
	return Text(s)
}

// textsOf gives the texts of all items of a kind.
func textsOf(items []transcript.Item, kind transcript.Kind) Value {
	texts := []Value{}
	for i := range items {
		if items[i].Kind == kind {
			texts = appendTexts(texts, &items[i])
		}
	}
	return List(texts...)
}

func appendTexts(texts []Value, it *transcript.Item) []Value {
	for _, part := range it.Content() {
		if part.Text.IsString() {
			texts = append(texts, Text(part.Text.Text()))
		}
	}
	return texts
}

func eachTool(l *Look, visit func(*element) bool) bool {
	t := l.transcript()
	if !t.Saved && !l.row.Response.Get("output").Exists() {
		return false
	}
	for i := range t.Tools {
		e := element{tool: &t.Tools[i], value: t.Tools[i].Call, at: t.Tools[i].Turn}
		if !e.value.Exists() && t.Tools[i].Record != nil {
			e.value = t.Tools[i].Record.At
		}
		if !visit(&e) {
			break
		}
	}
	return true
}

func toolField(_ *Look, e *element, name string) Value {
	t := e.tool
	switch name {
	case "id":
		return textOrMissing(t.ID)
	case "name":
		return textOrMissing(t.Name)
	case "turn":
		return placeOf(e.at)
	case "arguments":
		for _, it := range transcript.Items(t.Call) {
			if it.Kind == transcript.ToolCall {
				return plainText(it.Arguments)
			}
		}
		return plainText(t.Call.Get("function").Get("arguments")) // of a chat message
	case "output":
		if t.Answered {
			it := transcript.Item{Kind: transcript.ToolResult, Text: t.Result}
			return List(appendTexts([]Value{}, &it)...)
		}
	case "answered":
		return Bool(t.Answered)
	}
	if t.Record == nil {
		return Value{}
	}
	switch name {
	case "status":
		return textOrMissing(t.Record.Status.String())
	case "error":
		return textOrMissing(t.Record.ErrorType.String())
	case "duration_ms":
		if t.Record.DurationMS.Set {
			return Float(t.Record.DurationMS.Value)
		}
	}
	return Value{}
}

// plainText gives a string as it is and anything else as it is written.
func plainText(v jsonscan.Value) Value {
	switch {
	case v.IsNull():
		return Value{}
	case v.IsString():
		return Text(v.Text())
	}
	return Text(string(v.Raw()))
}

// placeOf counts a place from 1.
func placeOf(at int) Value {
	if at < 0 {
		return Value{}
	}
	return Int(int64(at) + 1)
}

func eachMessage(l *Look, visit func(*element) bool) bool {
	t := l.transcript()
	each := func(items []transcript.Item, at int) bool {
		for i := range items {
			if items[i].Kind == transcript.Message && !visit(&element{item: &items[i], value: items[i].Value, at: at}) {
				return false
			}
		}
		return true
	}
	there := t.Saved || len(t.Prompt) > 0 || l.row.Response.Get("output").Exists() || l.row.Response.IsString()
	if !each(t.Prompt, -1) {
		return true
	}
	for i := range t.Turns {
		if !each(t.Turns[i].Input, i) || !each(t.Turns[i].Answer, i) {
			return true
		}
	}
	return there
}

func messageField(_ *Look, e *element, name string) Value {
	switch name {
	case "role":
		return textOrMissing(e.item.Role)
	case "text":
		return List(appendTexts([]Value{}, e.item)...)
	case "turn":
		return placeOf(e.at)
	}
	return Value{}
}
