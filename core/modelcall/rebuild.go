package modelcall

import (
	"cmp"
	"slices"
	"strings"

	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/value"
)

// Rebuild puts the response of a stream together from its raw text; ok is false where the events give none (spec
// model-calls §6.2–6.4).
func Rebuild(dialect, text string) (response value.Value, ok bool) {
	switch dialect {
	case "messages":
		return rebuildMessages(text)
	case "chat":
		return rebuildChat(text)
	case "responses":
		return rebuildResponses(text)
	}
	return response, false
}

// fields of an object that is being put together, in the order they were first set.
type pieces struct{ members []value.Member }

func (p *pieces) set(key string, v value.Value) {
	for i := range p.members {
		if p.members[i].Key == key {
			p.members[i].Value = v
			return
		}
	}
	p.members = append(p.members, value.M(key, v))
}

func (p *pieces) get(key string) value.Value { return value.Object(p.members...).Get(key) }

// update takes over the members of an object; anything that is not one and says something is a failure.
func (p *pieces) update(v value.Value) bool {
	if !v.IsObject() {
		return !v.Truthy()
	}
	for _, m := range v.Members() {
		p.set(m.Key, m.Value)
	}
	return true
}

// glue joins a text that is there with a text that comes; null and absent are empty.
func glue(there, comes value.Value) (value.Value, bool) {
	a, okA := there.Text()
	b, okB := comes.Text()
	return joined(a, b), (okA || !there.Truthy()) && (okB || !comes.Truthy())
}

// joined makes a string of pieces that may hold halves of surrogate pairs, which other texts cannot.
func joined(parts ...string) value.Value { return value.Raw(strings.Join(parts, "")) }

// A slot is a part of a message that grows, under an index of whatever kind the stream gives it.
type slot struct {
	index   value.Value
	fields  pieces
	json    strings.Builder // of the arguments
	hasJSON bool
}

type slots struct {
	list []*slot
	at   map[string]*slot
}

// find gives the slot of an index, a new one if there is none; ok is false for an index that cannot be looked up.
func (s *slots) find(index value.Value) (*slot, bool) {
	if k := index.Kind(); k == jsonscan.Array || k == jsonscan.Object {
		return nil, false
	}
	key := value.Key(index)
	if s.at == nil {
		s.at = map[string]*slot{}
	}
	found := s.at[key]
	if found == nil {
		found = &slot{index: index}
		s.at[key] = found
		s.list = append(s.list, found)
	}
	return found, true
}

// sorted gives the slots by index; indices that cannot be compared are a failure.
func (s *slots) sorted() ([]*slot, bool) {
	if len(s.list) < 2 {
		return s.list, true
	}
	texts, numbers := 0, 0
	for _, one := range s.list {
		if _, ok := one.index.Text(); ok {
			texts++
		} else if _, ok := amount(one.index); ok {
			numbers++
		}
	}
	if texts != len(s.list) && numbers != len(s.list) {
		return nil, false
	}
	slices.SortStableFunc(s.list, func(a, b *slot) int {
		if texts > 0 {
			x, _ := a.index.Text()
			y, _ := b.index.Text()
			return strings.Compare(x, y)
		}
		x, _ := amount(a.index)
		y, _ := amount(b.index)
		return cmp.Compare(x, y)
	})
	return s.list, true
}

// amount is a number or a bool as one.
func amount(v value.Value) (float64, bool) {
	if truth, ok := v.Truth(); ok {
		if truth {
			return 1, true
		}
		return 0, true
	}
	return v.Number()
}

func rebuildMessages(text string) (response value.Value, ok bool) {
	var (
		message *pieces
		blocks  slots
		usage   pieces
		good    = true
	)
	Events(text, func(e value.Value) {
		if !good {
			return
		}
		switch kind, _ := e.Get("type").Text(); kind {
		case "message_start":
			start := e.Get("message")
			if !start.IsObject() {
				good = !start.Truthy()
			}
			message = new(pieces)
			for _, key := range [...]string{"id", "type", "role", "model", "stop_reason"} {
				if v := start.Get(key); !v.IsNull() {
					message.set(key, v)
				}
			}
			good = good && usage.update(start.Get("usage"))
		case "content_block_start":
			index := e.Get("index")
			if !index.Exists() {
				index = value.Int(int64(len(blocks.list)))
			}
			block, found := blocks.find(index)
			if good = found; good {
				block.fields = pieces{}
				good = block.fields.update(e.Get("content_block"))
			}
		case "content_block_delta":
			index := e.Get("index")
			if !index.Exists() {
				index = value.Int(0)
			}
			block, found := blocks.find(index)
			delta := e.Get("delta")
			if good = found && (delta.IsObject() || !delta.Truthy()); good {
				good = block.delta(delta)
			}
		case "message_delta":
			good = usage.update(e.Get("usage"))
			delta := e.Get("delta")
			good = good && (delta.IsObject() || !delta.Truthy())
			if stop := delta.Get("stop_reason"); message != nil && stop.Truthy() {
				message.set("stop_reason", stop)
			}
		}
	})
	list, sortable := blocks.sorted()
	if !good || !sortable || message == nil && len(list) == 0 {
		return response, false
	}
	if message == nil {
		message = new(pieces)
	}
	content := make([]value.Value, len(list))
	for i, block := range list {
		block.parse()
		content[i] = value.Object(block.fields.members...)
	}
	message.set("type", value.Text("message"))
	message.set("content", value.List(content...))
	if len(usage.members) > 0 {
		message.set("usage", value.Object(usage.members...))
	}
	return value.Object(message.members...), true
}

// delta adds a delta of the messages dialect to a block.
func (s *slot) delta(delta value.Value) bool {
	kind, _ := delta.Get("type").Text()
	switch kind {
	case "text_delta", "thinking_delta":
		name := strings.TrimSuffix(kind, "_delta")
		text, ok := glue(s.fields.get(name), delta.Get(name))
		if !ok {
			return false
		}
		s.fields.set(name, text)
		if !s.fields.get("type").Exists() {
			s.fields.set("type", value.Text(name))
		}
	case "input_json_delta":
		part := delta.Get("partial_json")
		text, ok := part.Text()
		if !ok && part.Truthy() {
			return false
		}
		s.json.WriteString(text)
		s.hasJSON = true
	}
	return true
}

// parse gives a tool's block the input that came in pieces.
func (s *slot) parse() {
	if !s.hasJSON || !s.fields.get("type").Is("tool_use") || s.fields.get("input").Truthy() {
		return
	}
	text := s.json.String()
	if text == "" {
		s.fields.set("input", value.Object())
		return
	}
	v, err := value.Parse([]byte(text), Loose)
	if err != nil {
		v = value.Object(value.M("_raw", joined(text)))
	}
	s.fields.set("input", v)
}

// A chatStream is what the chunks of a chat stream add up to. All choices are one.
type chatStream struct {
	model, id, usage, role, finish value.Value
	content, refusal, reasoning    []string
	tools                          slots
	choices                        int
}

func rebuildChat(text string) (response value.Value, ok bool) {
	var s chatStream
	good := true
	Events(text, func(e value.Value) { good = good && s.chunk(e) })
	tools, sortable := s.tools.sorted()
	if !good || !sortable || s.choices == 0 {
		return response, false
	}
	role := s.role
	if !role.Exists() {
		role = value.Text("assistant")
	}
	content := value.Null
	if text := joined(s.content...); text.Truthy() {
		content = text
	}
	message := pieces{members: []value.Member{value.M("role", role), value.M("content", content)}}
	if text := joined(s.reasoning...); text.Truthy() {
		message.set("reasoning_content", text)
	}
	if text := joined(s.refusal...); text.Truthy() {
		message.set("refusal", text)
	}
	if len(tools) > 0 {
		calls := make([]value.Value, len(tools))
		for i, t := range tools {
			calls[i] = value.Object(
				value.M("id", t.fields.get("id").OrNull()), value.M("type", value.Text("function")),
				value.M("function", value.Object(
					value.M("name", t.fields.get("name").OrNull()), value.M("arguments", joined(t.json.String())))))
		}
		message.set("tool_calls", value.List(calls...))
	}
	result := pieces{members: []value.Member{
		value.M("object", value.Text("chat.completion")),
		value.M("model", s.model.OrNull()),
		value.M("choices", value.List(value.Object(
			value.M("index", value.Int(0)), value.M("message", value.Object(message.members...)),
			value.M("finish_reason", s.finish.OrNull())))),
	}}
	if s.id.Exists() {
		result.set("id", s.id)
	}
	if s.usage.Exists() {
		result.set("usage", s.usage)
	}
	return value.Object(result.members...), true
}

// chunk takes one event of a chat stream.
func (s *chatStream) chunk(e value.Value) bool {
	keep(&s.model, e.Get("model"))
	if id := e.Get("id"); id.Kind() == jsonscan.String {
		s.id = id
	}
	keep(&s.usage, e.Get("usage"))
	choices := e.Get("choices")
	if !walkable(choices) {
		return false
	}
	for _, choice := range choices.Items() {
		if !choice.IsObject() {
			continue
		}
		s.choices++
		keep(&s.finish, choice.Get("finish_reason"))
		delta := choice.Get("delta")
		if !delta.IsObject() && delta.Truthy() {
			return false
		}
		keep(&s.role, delta.Get("role"))
		reasoning := delta.Get("reasoning_content")
		if !reasoning.Truthy() {
			reasoning = delta.Get("reasoning")
		}
		if !gather(&s.content, delta.Get("content")) || !gather(&s.refusal, delta.Get("refusal")) ||
			!gather(&s.reasoning, reasoning) || !s.calls(delta.Get("tool_calls")) {
			return false
		}
	}
	return true
}

// calls adds the tool calls of a delta to their slots.
func (s *chatStream) calls(calls value.Value) bool {
	if !walkable(calls) || calls.Kind() == jsonscan.String && calls.Truthy() || calls.IsObject() && calls.Len() > 0 {
		return false
	}
	for _, call := range calls.Items() {
		if !call.IsObject() {
			return false
		}
		index := call.Get("index")
		if !index.Exists() {
			index = value.Int(0)
		}
		tool, ok := s.tools.find(index)
		if !ok {
			return false
		}
		function := call.Get("function")
		if !function.IsObject() && function.Truthy() {
			return false
		}
		if id := call.Get("id"); id.Truthy() {
			tool.fields.set("id", id)
		}
		if name := function.Get("name"); name.Truthy() {
			tool.fields.set("name", name)
		}
		arguments := function.Get("arguments")
		text, isText := arguments.Text()
		if !isText && arguments.Truthy() {
			return false
		}
		tool.json.WriteString(text)
	}
	return true
}

// keep keeps a value that says something.
func keep(to *value.Value, v value.Value) {
	if v.Truthy() {
		*to = v
	}
}

// gather adds a text that says something; what else says something cannot be joined.
func gather(to *[]string, v value.Value) bool {
	if !v.Truthy() {
		return true
	}
	text, ok := v.Text()
	*to = append(*to, text)
	return ok
}

// walkable tells whether the reference can walk over a value or take it for nothing.
func walkable(v value.Value) bool {
	switch v.Kind() {
	case jsonscan.Array, jsonscan.Object, jsonscan.String:
		return true
	}
	return !v.Truthy()
}

func rebuildResponses(text string) (response value.Value, ok bool) {
	last := false
	Events(text, func(e value.Value) {
		r := e.Get("response")
		if !r.IsObject() {
			return
		}
		final := false
		switch kind, _ := e.Get("type").Text(); kind {
		case "response.completed", "response.incomplete", "response.failed":
			final = true
		}
		if final || !last {
			response, last = r, final || last
		}
	})
	return response, response.Exists()
}

// Finite gives a value with null in the place of numbers that are not finite, as files hold it.
func Finite(v value.Value) value.Value {
	switch v.Kind() {
	case jsonscan.Float:
		if v.Undefined() {
			return value.Null
		}
	case jsonscan.Array:
		items := v.Items()
		for i := range items {
			items[i] = Finite(items[i])
		}
		return value.List(items...)
	case jsonscan.Object:
		members := slices.Clone(v.Members())
		for i := range members {
			members[i].Value = Finite(members[i].Value)
		}
		return value.Object(members...)
	}
	return v
}
