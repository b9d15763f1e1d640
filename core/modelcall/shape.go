package modelcall

import (
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/jsontext"
	"github.com/rollscope/rollscope/core/trajectory/lax"
	"github.com/rollscope/rollscope/core/value"
)

// Tool calls and reasoning of the three shapes of a response (spec model-calls §5.4–5.6). Which shape it is, the
// response alone decides.

func (r *Reader) responses(c *Call, output jsonscan.Value) *DamageError {
	var j joiner
	items := output.Elements()
	for items.Next() {
		item := items.Value
		switch kind := item.Get("type"); {
		case kind.Is("function_call"):
			id := item.Get("call_id")
			if !id.Truthy() {
				id = item.Get("id")
			}
			r.tool(c, id, item.Get("name"), r.arguments(c, item.Get("arguments")))
		case kind.Is("reasoning"):
			summary := item.Get("summary")
			if summary.Truthy() && !iterable(summary) {
				return &DamageError{summary.Offset(), "summary of a reasoning item is a " + summary.Kind().String()}
			}
			parts := summary.Elements()
			for parts.Next() {
				if text := parts.Value.Get("text"); text.Truthy() && text.IsString() {
					j.add(text)
				}
			}
		}
	}
	c.Reasoning = j.text()
	return nil
}

func (r *Reader) chat(c *Call, choices jsonscan.Value) *DamageError {
	var j joiner
	list := choices.Elements()
	for list.Next() {
		message := list.Value.Get("message")
		if !message.IsObject() {
			continue
		}
		calls := message.Get("tool_calls")
		if calls.Truthy() && !iterable(calls) {
			return &DamageError{calls.Offset(), "tool_calls of a message is a " + calls.Kind().String()}
		}
		each := calls.Elements()
		for each.Next() {
			if each.Value.IsObject() {
				function := each.Value.Get("function")
				r.tool(c, each.Value.Get("id"), function.Get("name"), r.arguments(c, function.Get("arguments")))
			}
		}
		text := message.Get("reasoning_content")
		if !text.Truthy() {
			text = message.Get("reasoning")
		}
		if text.IsString() && text.Truthy() {
			j.add(text)
		}
	}
	c.Reasoning = j.text()
	return nil
}

func (r *Reader) messages(c *Call, content jsonscan.Value) *DamageError {
	var j joiner
	blocks := content.Elements()
	for blocks.Next() {
		block := blocks.Value
		switch kind := block.Get("type"); {
		case kind.Is("tool_use"):
			input := block.Get("input")
			arguments := []byte("{}")
			if input.Truthy() {
				arguments = value.AppendScanned(nil, input)
			}
			r.tool(c, block.Get("id"), block.Get("name"), arguments)
		case kind.Is("thinking"), kind.Is("redacted_thinking"):
			if text := block.Get("thinking"); text.IsString() {
				j.add(text)
			}
		}
	}
	c.Reasoning = j.text()
	return nil
}

// iterable tells whether the reference can walk over a value.
func iterable(v jsonscan.Value) bool { return v.IsArray() || v.IsObject() || v.IsString() }

func (r *Reader) tool(c *Call, id, name jsonscan.Value, arguments []byte) {
	c.ToolCalls = append(c.ToolCalls, ToolCall{value.AppendScanned(nil, id), value.AppendScanned(nil, name), arguments})
}

// arguments reads the arguments of a tool call, which are an object, or a text that should hold one. A text that is
// not JSON is kept under a name of its own.
func (r *Reader) arguments(c *Call, v jsonscan.Value) []byte {
	switch {
	case v.IsObject():
		return value.AppendScanned(nil, v)
	case !v.IsString():
		return []byte("{}")
	}
	inner, escapes := v.Escaped()
	text := inner
	if escapes {
		text = v.AppendText(nil)
	}
	// Most texts are what the strict reader accepts and mean the same to both.
	if !longNumber(text) {
		if strict, err := r.inner.Scan(text); err == nil {
			c.Height = max(c.Height, strict.Height())
			return value.AppendScanned(nil, strict)
		}
	}
	loose, err := value.Parse(text, Loose)
	if err != nil {
		return append(jsontext.AppendQuoted([]byte(`{"_raw":`), text), '}')
	}
	c.Height = max(c.Height, loose.Height())
	if reason := unwritable(loose); reason != "" {
		c.Unwritable = "the arguments of a tool call hold " + reason
	}
	return loose.Append(nil, value.Row)
}

// Loose is what the reference's lenient parser accepts of texts inside responses and of events.
var Loose = value.Leniency{Surrogates: true}

// unwritable says what of a loosely read value no row can hold. Numbers that are not finite are no hindrance: they
// become null.
func unwritable(v value.Value) string {
	switch {
	case v.Wide():
		return "an integer beyond 64 bits"
	case v.Halved():
		return "half of a surrogate pair"
	}
	return ""
}

// longNumber tells whether a text has so many digits in a row that an integer may not fit 64 bits.
func longNumber(text []byte) bool {
	run := 0
	for _, c := range text {
		if c-'0' < 10 {
			if run++; run == 19 {
				return true
			}
		} else {
			run = 0
		}
	}
	return false
}

// A joiner joins texts with LF.
type joiner struct {
	parts int
	whole lax.Text
}

func (j *joiner) add(v jsonscan.Value) {
	if j.parts++; j.parts == 1 {
		j.whole = lax.Text{Bytes: v.AppendText(nil), Set: true}
		return
	}
	j.whole.Bytes = append(j.whole.Bytes, '\n')
	j.whole.Bytes = v.AppendText(j.whole.Bytes)
}

// text gives what was joined; nothing is null.
func (j *joiner) text() lax.Text {
	if j.whole.Empty() {
		return lax.Text{}
	}
	return j.whole
}
