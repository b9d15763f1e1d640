package transcript

import (
	"strings"

	"github.com/rollscope/rollscope/core/jsonscan"
)

// A Kind says what an item is.
type Kind uint8

const (
	Other      Kind = iota // anything that is not known; it is shown as it was written
	Message                // somebody says something
	Reasoning              // the model thinks
	ToolCall               // the model asks for a tool
	ToolResult             // what came back
)

// String gives the word for it.
func (k Kind) String() string {
	return [...]string{"other", "message", "reasoning", "tool call", "tool result"}[k]
}

// An Item is one entry of a conversation. Of items inside others, such as the tool calls of a chat message, Value is the
// inner one.
type Item struct {
	Kind  Kind
	Role  string // of a message
	Value jsonscan.Value
	Text  jsonscan.Value // what is said: a string or a list of parts; absent where it must be looked for in Value

	CallID    string // of tool calls and results
	HasCallID bool   // it is there and no null
	Name      string // of the tool
	Arguments jsonscan.Value
	Result    jsonscan.Value // of a tool call that carries what came back itself
	Hosted    bool           // of a tool call that the model's server answers: no result is expected

	Pair int // the place of the result or call that belongs to it, −1 for none
}

// Items reads a conversation: a list of items or messages, one message, or one text.
func Items(v jsonscan.Value) []Item {
	list := appendItems(nil, v)
	pair(list)
	return list
}

func appendItems(list []Item, v jsonscan.Value) []Item {
	switch v.Kind() {
	case jsonscan.Absent, jsonscan.Null:
		return list
	case jsonscan.Array:
		e := v.Elements()
		for e.Next() {
			list = appendItem(list, e.Value)
		}
		return list
	}
	return appendItem(list, v)
}

func appendItem(list []Item, v jsonscan.Value) []Item {
	add := func(i Item) { i.Pair = -1; list = append(list, i) }
	if v.IsString() {
		add(Item{Kind: Message, Value: v, Text: v})
		return list
	}
	if !v.IsObject() {
		add(Item{Value: v})
		return list
	}
	var kind, role, content, id, callID, name, arguments, output, calls, toolCallID, reasoning, thinking, text, input, useID jsonscan.Value
	m := v.Members()
	for m.Next() {
		switch string(m.Key) {
		case "type":
			kind = m.Value
		case "role":
			role = m.Value
		case "content":
			content = m.Value
		case "id":
			id = m.Value
		case "call_id":
			callID = m.Value
		case "name":
			name = m.Value
		case "arguments":
			arguments = m.Value
		case "output":
			output = m.Value
		case "tool_calls":
			calls = m.Value
		case "tool_call_id":
			toolCallID = m.Value
		case "reasoning_content":
			reasoning = m.Value
		case "thinking":
			thinking = m.Value
		case "text":
			text = m.Value
		case "input":
			input = m.Value
		case "tool_use_id":
			useID = m.Value
		}
	}
	tool := func(k Kind, id, arguments jsonscan.Value) Item {
		return Item{Kind: k, Value: v, CallID: id.Text(), HasCallID: id.IsString(), Name: name.Text(), Arguments: arguments}
	}
	switch tag := kind.Text(); {
	case tag == "function_call" || tag == "custom_tool_call" || tag == "mcp_call":
		if tag == "custom_tool_call" {
			arguments = input
		}
		if callID.IsNull() && tag == "mcp_call" {
			callID = id
		}
		i := tool(ToolCall, callID, arguments)
		if tag == "mcp_call" && !output.IsNull() {
			i.Result = output
		}
		add(i)
	case tag == "function_call_output" || tag == "custom_tool_call_output" || tag == "tool_result" && callID.Exists():
		i := tool(ToolResult, callID, jsonscan.Value{})
		i.Text = output
		add(i)
	case tag == "tool_use":
		add(tool(ToolCall, id, input))
	case tag == "tool_result":
		i := tool(ToolResult, useID, jsonscan.Value{})
		i.Text = content
		add(i)
	case tag == "reasoning":
		add(Item{Kind: Reasoning, Value: v})
	case tag == "thinking" || tag == "redacted_thinking":
		add(Item{Kind: Reasoning, Value: v, Text: thinking})
	case tag == "text" && !role.Exists():
		add(Item{Kind: Message, Value: v, Text: text})
	case role.Is("tool"):
		i := tool(ToolResult, toolCallID, jsonscan.Value{})
		i.Text = content
		add(i)
	case role.IsString() && (tag == "message" || !kind.IsString()):
		list = appendMessage(list, v, role, content, reasoning, calls)
	case tag == "message":
		add(Item{Kind: Message, Role: "assistant", Value: v, Text: content})
	case strings.HasSuffix(tag, "_call_output") || tag == "mcp_approval_response":
		i := tool(ToolResult, callID, jsonscan.Value{})
		i.Text = output
		add(i)
	case strings.HasSuffix(tag, "_call") || tag == "tool_call":
		add(hosted(v, tag, callID, id, name, arguments))
	default:
		add(Item{Value: v})
	}
	return list
}

// hosted reads a call of a tool that has a type of its own. Some are run by the model's server and have no id that a
// result could name.
func hosted(v jsonscan.Value, tag string, callID, id, name, arguments jsonscan.Value) Item {
	it := Item{Kind: ToolCall, Value: v, CallID: callID.Text(), HasCallID: callID.IsString(), Name: name.Text(), Arguments: arguments}
	if tag == "tool_call" && !callID.Exists() {
		it.CallID, it.HasCallID = id.Text(), id.IsString()
	}
	if it.Name == "" {
		it.Name = strings.TrimSuffix(tag, "_call")
	}
	for _, key := range [...]string{"input", "action", "operation", "queries", "code"} {
		if it.Arguments.Exists() {
			break
		}
		it.Arguments = v.Get(key)
	}
	for _, key := range [...]string{"output", "outputs", "results", "result"} {
		if r := v.Get(key); r.Exists() && !r.IsNull() {
			it.Result = r
			break
		}
	}
	it.Hosted = !it.HasCallID && tag != "tool_call"
	return it
}

// appendMessage takes a message apart that holds blocks of its own, reasoning or tool calls.
func appendMessage(list []Item, v, role, content, reasoning, calls jsonscan.Value) []Item {
	if reasoning.Truthy() {
		list = append(list, Item{Kind: Reasoning, Value: v, Text: reasoning, Pair: -1})
	}
	blocks := false
	e := content.Elements()
	for e.Next() {
		switch e.Value.Get("type").Text() {
		case "tool_use", "tool_result", "thinking", "redacted_thinking":
			blocks = true
		}
	}
	if blocks {
		// Blocks of the messages dialect: those that are said stay with their speaker.
		e = content.Elements()
		for e.Next() {
			at := len(list)
			list = appendItem(list, e.Value)
			for k := at; k < len(list); k++ {
				if list[k].Kind == Message {
					list[k].Role = role.Text()
				}
			}
		}
	} else if !content.IsNull() || !calls.Truthy() {
		list = append(list, Item{Kind: Message, Role: role.Text(), Value: v, Text: content, Pair: -1})
	}
	e = calls.Elements()
	for e.Next() {
		function := e.Value.Get("function")
		id := e.Value.Get("id")
		list = append(list, Item{
			Kind: ToolCall, Value: e.Value, CallID: id.Text(), HasCallID: id.IsString(), Name: function.Get("name").Text(),
			Arguments: function.Get("arguments"), Pair: -1,
		})
	}
	return list
}

// pair gives every result its call.
func pair(list []Item) {
	open := map[string][]int{}
	for i := range list {
		it := &list[i]
		if !it.HasCallID {
			continue
		}
		switch it.Kind {
		case ToolCall:
			open[it.CallID] = append(open[it.CallID], i)
		case ToolResult:
			waiting := open[it.CallID]
			if len(waiting) == 0 {
				continue
			}
			last := len(waiting) - 1
			it.Pair, list[waiting[last]].Pair = waiting[last], i
			open[it.CallID] = waiting[:last]
		}
	}
}
