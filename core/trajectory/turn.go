package trajectory

import (
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/jsontext"
	"github.com/rollscope/rollscope/core/value"
)

// What a turn shows of a model call: the question in its request, the answer and the reasoning in its response (spec
// trajectory §6). Requests and responses come in the shapes of the model server's dialects.

// An exchange is the content of one call as a turn has it. Its parts are JSON texts.
type exchange struct {
	question, answer, reasoning []byte
	tools                       int    // calls of tools that the answer makes
	failure                     string // class of the error that the reference raises, "" if it raises none
}

// exchangeOf reads request and response, which need not be objects.
func exchangeOf(request, response jsonscan.Value) exchange {
	e := exchange{question: appendQuestion(nil, request), answer: null, reasoning: null}
	output, choices := response.Get("output"), response.Get("choices")
	switch {
	case output.IsArray():
		e.responses(output)
	case choices.IsArray():
		if first := choices.Elements(); first.Next() && first.Value.IsObject() {
			e.chat(first.Value.Get("message"))
		}
	}
	return e
}

var null = []byte("null")

// appendQuestion writes the messages of a request. Those that the Responses dialect lets go without a type get one.
func appendQuestion(dst []byte, request jsonscan.Value) []byte {
	if !request.IsObject() {
		return value.AppendScanned(dst, request)
	}
	input := request.Get("input")
	if !input.Exists() {
		return value.AppendScanned(dst, request.Get("messages"))
	}
	if !input.IsArray() {
		return value.AppendScanned(dst, input)
	}
	dst = append(dst, '[')
	e := input.Elements()
	for i := 0; e.Next(); i++ {
		if i > 0 {
			dst = append(dst, ',')
		}
		if e.Value.IsObject() && e.Value.Get("role").Exists() && !e.Value.Get("type").Exists() {
			dst = append(dst, `{"type":"message",`...)
			at := len(dst)
			dst = value.AppendScanned(dst, e.Value)
			dst = append(dst[:at], dst[at+1:]...)
			continue
		}
		dst = value.AppendScanned(dst, e.Value)
	}
	return append(dst, ']')
}

func (e *exchange) responses(output jsonscan.Value) {
	answer, reasoning := []byte{'['}, []byte{'['}
	items := output.Elements()
	for items.Next() {
		item := items.Value
		if !item.IsObject() {
			continue
		}
		to := &answer
		switch kind := item.Get("type"); {
		case kind.Is("reasoning"):
			to = &reasoning
		case kind.Is("function_call"):
			e.tools++
		}
		if len(*to) > 1 {
			*to = append(*to, ',')
		}
		*to = value.AppendScanned(*to, item)
	}
	e.answer = append(answer, ']')
	if len(reasoning) > 1 {
		e.reasoning = append(reasoning, ']')
	}
}

func (e *exchange) chat(message jsonscan.Value) {
	if !message.Truthy() {
		e.answer = []byte("{}")
		return
	}
	if !message.IsObject() {
		e.failure = ClassAttribute
		return
	}
	reasoning := message.Get("reasoning_content")
	if !reasoning.Truthy() {
		reasoning = message.Get("reasoning")
	}
	e.reasoning = value.AppendScanned(nil, reasoning)
	answer := []byte{'{'}
	repeats := value.Repeats(message)
	m := message.Members()
	for m.Next() {
		switch string(m.Key) {
		case "reasoning_content", "reasoning":
			continue
		}
		last := m.Value
		if repeats {
			if last = message.Get(string(m.Key)); first(message, m.Key) != m.Value.Offset() {
				continue
			}
		}
		if len(answer) > 1 {
			answer = append(answer, ',')
		}
		answer = append(jsontext.AppendQuoted(answer, m.Key), ':')
		answer = value.AppendScanned(answer, last)
	}
	e.answer = append(answer, '}')
	calls := message.Get("tool_calls")
	if !calls.Truthy() {
		return
	}
	switch calls.Kind() {
	case jsonscan.Array:
		e.tools, _ = calls.Parts()
	case jsonscan.Object:
		e.tools = distinct(calls)
	case jsonscan.String:
		e.tools = len([]rune(calls.Text()))
	default:
		e.failure = ClassType
	}
}

// distinct counts the members of an object, repeated ones once.
func distinct(v jsonscan.Value) int {
	keys := map[string]bool{}
	for m := v.Members(); m.Next(); {
		keys[string(m.Key)] = true
	}
	return len(keys)
}
