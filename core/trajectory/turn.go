package trajectory

import (
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/value"
)

// What a turn shows of a model call: the question in its request, the answer and the reasoning in its response (spec
// trajectory §6). Requests and responses come in the shapes of the model server's dialects.

// An exchange is the content of one call as a turn has it.
type exchange struct {
	question, answer, reasoning rope
	tools                       int    // calls of tools that the answer makes
	failure                     string // class of the error that the reference raises, "" if it raises none
}

// A rope is a JSON text in pieces that follow each other. Most pieces are parts of a line of the capture, which are
// many and long, so that none is copied before it is written.
type rope [][]byte

func (r rope) append(dst []byte) []byte {
	for _, piece := range r {
		dst = append(dst, piece...)
	}
	return dst
}

func (r rope) size() int {
	n := 0
	for _, piece := range r {
		n += len(piece)
	}
	return n
}

// null is the rope of nothing.
var null = rope{[]byte("null")}

var (
	openList, closeList     = []byte{'['}, []byte{']'}
	openObject, closeObject = []byte{'{'}, []byte{'}'}
	separator               = []byte{','}
	typedMessage            = []byte(`{"type":"message",`)
)

// An arena holds the texts that are made for one trajectory.
type arena struct {
	text    []byte
	ropes   [][]byte
	settled bool   // what is being read is part of a value that is known to be in order
	before  []byte // the last request that was in order: the next one probably begins with what it said
}

func (a *arena) reset() {
	a.text, a.before = a.text[:0], nil
	clear(a.ropes)
	a.ropes = a.ropes[:0]
}

// free gives the text of a free value: its own where that is in order, else one that is made. It lives as long as the
// scanned text and the arena.
func (a *arena) free(v jsonscan.Value) []byte {
	if v.Exists() && (a.settled || value.Settled(v)) {
		return v.Raw()
	}
	start := len(a.text)
	a.text = value.AppendScanned(a.text, v)
	return a.text[start:len(a.text):len(a.text)]
}

// request gives the text of a request like free.
func (a *arena) request(v jsonscan.Value) []byte {
	if value.SettledAfter(v, a.before) {
		a.before = v.Raw()
		return a.before
	}
	start := len(a.text)
	a.text = value.AppendScanned(a.text, v)
	return a.text[start:len(a.text):len(a.text)]
}

// strand begins a rope, tie ends it.
func (a *arena) strand() int           { return len(a.ropes) }
func (a *arena) add(piece []byte)      { a.ropes = append(a.ropes, piece) }
func (a *arena) tie(begin int) rope    { return rope(a.ropes[begin:len(a.ropes):len(a.ropes)]) }
func (a *arena) rope(text []byte) rope { begin := a.strand(); a.add(text); return a.tie(begin) }

// own tells whether a text is the value's own.
func own(text []byte, v jsonscan.Value) bool {
	raw := v.Raw()
	return len(raw) > 0 && len(text) == len(raw) && &text[0] == &raw[0]
}

// exchangeOf reads request and response, which need not be objects, and whose texts are known already. All of them live
// as long as their line.
func (a *arena) exchangeOf(request, response jsonscan.Value, requestText, responseText []byte) exchange {
	a.settled = own(requestText, request)
	e := exchange{question: a.question(request), answer: null, reasoning: null}
	a.settled = own(responseText, response)
	defer func() { a.settled = false }()
	output, choices := response.Get("output"), response.Get("choices")
	switch {
	case output.IsArray():
		a.responses(&e, output)
	case choices.IsArray():
		if first := choices.Elements(); first.Next() && first.Value.IsObject() {
			a.chat(&e, first.Value.Get("message"))
		}
	}
	return e
}

// question is the messages of a request. Those that the Responses dialect lets go without a type get one.
func (a *arena) question(request jsonscan.Value) rope {
	if !request.IsObject() {
		return a.rope(a.free(request))
	}
	input := request.Get("input")
	if !input.Exists() {
		return a.rope(a.free(request.Get("messages")))
	}
	if !input.IsArray() {
		return a.rope(a.free(input))
	}
	begin := a.strand()
	// A list that is in order is taken in stretches that end behind the bracket of a message without a type.
	e := input.Elements()
	if a.settled || value.Settled(input) {
		raw, from := input.Raw(), 0
		for e.Next() {
			if lacksType(e.Value) {
				at := e.Value.Offset() - input.Offset()
				a.add(raw[from:at])
				a.add(typedMessage)
				from = at + 1
			}
		}
		a.add(raw[from:])
		return a.tie(begin)
	}
	a.add(openList)
	for i := 0; e.Next(); i++ {
		if i > 0 {
			a.add(separator)
		}
		text := a.free(e.Value)
		if lacksType(e.Value) {
			a.add(typedMessage)
			text = text[1:]
		}
		a.add(text)
	}
	a.add(closeList)
	return a.tie(begin)
}

// lacksType tells whether a message of a request must be given its type.
func lacksType(v jsonscan.Value) bool {
	role := false
	m := v.Members()
	for m.Next() {
		switch string(m.Key) {
		case "role":
			role = true
		case "type":
			return false
		}
	}
	return role
}

func (a *arena) responses(e *exchange, output jsonscan.Value) {
	e.answer = a.items(output, func(item jsonscan.Value) bool {
		kind := item.Get("type")
		if kind.Is("function_call") {
			e.tools++
		}
		return !kind.Is("reasoning")
	})
	if reasoning := a.items(output, func(item jsonscan.Value) bool { return item.Get("type").Is("reasoning") }); len(reasoning) > 2 {
		e.reasoning = reasoning
	}
}

// items gives the objects of a list that are wanted, as a list.
func (a *arena) items(list jsonscan.Value, wanted func(jsonscan.Value) bool) rope {
	begin := a.strand()
	a.add(openList)
	items := list.Elements()
	n := 0
	for items.Next() {
		if !items.Value.IsObject() || !wanted(items.Value) {
			continue
		}
		if n > 0 {
			a.add(separator)
		}
		n++
		a.add(a.free(items.Value))
	}
	a.add(closeList)
	return a.tie(begin)
}

func (a *arena) chat(e *exchange, message jsonscan.Value) {
	if !message.Truthy() {
		begin := a.strand()
		a.add(openObject)
		a.add(closeObject)
		e.answer = a.tie(begin)
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
	e.reasoning = a.rope(a.free(reasoning))
	answer := value.Of(message).Without("reasoning_content", "reasoning")
	start := len(a.text)
	a.text = answer.Append(a.text, value.Row)
	e.answer = a.rope(a.text[start:len(a.text):len(a.text)])

	calls := message.Get("tool_calls")
	if !calls.Truthy() {
		return
	}
	switch calls.Kind() {
	case jsonscan.Array:
		e.tools, _ = calls.Parts()
	case jsonscan.Object:
		e.tools = value.Of(calls).Len()
	case jsonscan.String:
		e.tools = len([]rune(calls.Text()))
	default:
		e.failure = ClassType
	}
}
