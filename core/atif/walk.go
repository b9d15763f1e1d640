package atif

import (
	"slices"

	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/value"
)

// A group is one round of the agent: what it thought, and then what it said, or which tools it called with what came
// back (spec atif §5.3).
type group struct {
	before    int // items of the conversation in front of it
	reasoning []value.Value
	calls     []value.Value
	outputs   []value.Value
	tools     []value.Value // records of the calls, in the order of the outputs
	message   value.Value

	turn value.Value
	call call
}

// normal gives an item its normal form without nulls: defaults are there, and what the schema drops is not.
func normal(item value.Value) value.Value {
	var keys []string
	with := func(key string, preset string) {
		if !item.Get(key).Exists() {
			item = item.With(key, value.Text(preset))
		}
	}
	kind, _ := item.Get("type").Text()
	switch kind {
	case "message":
		switch messageKind(item) {
		case inputKind:
			keys = []string{"content", "role", "status", "type"}
		case outputKind:
			with("role", "assistant")
			with("status", "completed")
			keys = []string{"id", "content", "role", "status", "type", "phase"}
		default:
			keys = []string{"content", "role", "type", "phase"}
		}
	case "reasoning", "function_call", "function_call_output":
		keys = itemKeys[kind]
	default:
		return item
	}
	members := []value.Member{}
	for _, m := range item.Members() {
		if slices.Contains(keys, m.Key) && !m.Value.IsNull() {
			members = append(members, value.M(m.Key, bareParts(m.Value)))
		}
	}
	return value.Object(members...)
}

// bareParts drops the nulls of the parts of a content.
func bareParts(v value.Value) value.Value {
	if v.Kind() != jsonscan.Array {
		return v
	}
	items := v.Items()
	for i, part := range items {
		if !part.IsObject() {
			continue
		}
		members := []value.Member{}
		for _, m := range part.Members() {
			if !m.Value.IsNull() {
				members = append(members, m)
			}
		}
		items[i] = value.Object(members...)
	}
	return value.List(items...)
}

// The kinds of messages.
const (
	easyKind = iota
	inputKind
	outputKind
)

// messageKind tells the kinds of messages apart (spec health appendix A).
func messageKind(item value.Value) int {
	content := item.Get("content")
	role, _ := item.Get("role").Text()
	list := content.Kind() == jsonscan.Array
	switch role {
	case "user", "system", "developer":
		status, _ := item.Get("status").Text()
		if list && (status == "in_progress" || status == "completed" || status == "incomplete") {
			return inputKind
		}
		return easyKind
	}
	switch {
	case !list:
	case content.Len() == 0:
		if _, ok := item.Get("id").Text(); ok {
			return outputKind
		}
	default:
		first := content.At(0)
		tag := first.Get("type")
		if tag.Is("output_text") || tag.Is("refusal") || !tag.Truthy() && first.Get("refusal").Exists() {
			return outputKind
		}
	}
	return easyKind
}

// same compares two values as the export does: numbers by value, and a bool is no number.
func same(a, b value.Value) bool {
	x, isBool := a.Truth()
	y, other := b.Truth()
	if isBool || other {
		return isBool && other && x == y
	}
	switch {
	case a.Kind() == jsonscan.Array && b.Kind() == jsonscan.Array:
		if a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			if !same(a.At(i), b.At(i)) {
				return false
			}
		}
		return true
	case a.IsObject() && b.IsObject():
		if a.Len() != b.Len() {
			return false
		}
		for _, m := range a.Members() {
			if other := b.Get(m.Key); !other.Exists() || !same(m.Value, other) {
				return false
			}
		}
		return true
	}
	return value.Equal(a, b)
}

// texts takes the texts of a content: one string, or parts of nothing but text.
func texts(content value.Value) (list []string, ok bool) {
	if s, ok := content.Text(); ok {
		return []string{s}, true
	}
	if content.Kind() != jsonscan.Array || content.Len() == 0 {
		return nil, false
	}
	for _, part := range content.Items() {
		tag, _ := part.Get("type").Text()
		text, isText := part.Get("text").Text()
		if tag != "input_text" && tag != "output_text" || !isText || part.Get("annotations").Len() > 0 || part.Get("logprobs").Len() > 0 {
			return nil, false
		}
		list = append(list, text)
	}
	return list, true
}

// parts makes the content of a step of the same form: a string of a string, text parts of parts.
func parts(content value.Value, list []string) value.Value {
	if s, ok := content.Text(); ok {
		return value.Text(s)
	}
	return textPartList(list)
}

func textPartList(list []string) value.Value {
	items := make([]value.Value, len(list))
	for i, s := range list {
		items[i] = value.Object(value.M("type", value.Text("text")), value.M("text", value.Text(s)))
	}
	return value.List(items...)
}

// walk cuts the conversation into the steps of its prefix and the groups of the agent.
func (c *conversion) walk() error {
	tools := map[string]value.Value{}
	for _, t := range c.saved.Get("tool_calls").Items() {
		id, _ := t.Get("tool_call_id").Text()
		if _, there := tools[id]; there {
			return blocked("two tool calls have the id %s", id)
		}
		tools[id] = t
	}
	for _, item := range c.invocation.Get("conversation").Items() {
		c.items = append(c.items, normal(item))
	}
	w := walker{c: c, tools: tools, used: map[string]bool{}, seen: map[string]bool{}}
	for w.at < len(c.items) {
		if err := w.next(); err != nil {
			return err
		}
	}
	switch {
	case len(c.groups) == 0:
		return blocked("the agent did nothing")
	case len(w.used) != len(tools):
		return blocked("a tool call is not in the conversation")
	}
	return nil
}

type walker struct {
	c     *conversion
	at    int
	tools map[string]value.Value
	used  map[string]bool // tool records
	seen  map[string]bool // call ids
}

func (w *walker) item() value.Value { return w.c.items[w.at] }

func (w *walker) is(kind string) bool { return w.at < len(w.c.items) && w.item().Get("type").Is(kind) }

func (w *walker) next() error {
	item := w.item()
	if w.is("message") && messageKind(item) != outputKind {
		return w.prefix(item)
	}
	g := group{before: w.at}
	for w.is("reasoning") {
		g.reasoning = append(g.reasoning, w.item())
		w.at++
	}
	if _, err := reasoningText(g.reasoning); err != nil {
		return err
	}
	switch {
	case w.is("function_call"):
		if err := w.callTools(&g); err != nil {
			return err
		}
	case w.is("message") && messageKind(w.item()) == outputKind:
		g.message = w.item()
		list, ok := texts(g.message.Get("content"))
		switch {
		case !g.message.Get("status").Is("completed"):
			return blocked("item %s of the conversation is not completed", ordinal(w.at))
		case !ok || len(list) == 0:
			return blocked("item %s of the conversation is not plain text", ordinal(w.at))
		}
		w.at++
	default:
		if w.at == len(w.c.items) {
			return blocked("the conversation ends with reasoning")
		}
		return blocked("item %s of the conversation does not belong there", ordinal(w.at))
	}
	w.c.groups = append(w.c.groups, g)
	return nil
}

// prefix makes a step of a message in front of the agent's first round.
func (w *walker) prefix(item value.Value) error {
	role, _ := item.Get("role").Text()
	content := item.Get("content")
	list, ok := texts(content)
	switch {
	case role != "system" && role != "user":
		return blocked("item %s of the conversation is a message of the role %s", ordinal(w.at), role)
	case len(w.c.groups) > 0:
		return blocked("item %s of the conversation comes behind the agent", ordinal(w.at))
	case messageKind(item) == inputKind && !item.Get("status").Is("completed"):
		return blocked("item %s of the conversation is not completed", ordinal(w.at))
	case !ok:
		return blocked("item %s of the conversation is not plain text", ordinal(w.at))
	}
	w.c.steps = append(w.c.steps, value.Object(value.M("source", value.Text(role)), value.M("message", parts(content, list))))
	w.at++
	return nil
}

// callTools takes calls and the outputs that must follow them.
func (w *walker) callTools(g *group) error {
	open := map[string]bool{}
	for w.is("function_call") {
		item := w.item()
		id, _ := item.Get("call_id").Text()
		name, _ := item.Get("name").Text()
		switch {
		case blank(id) || blank(name):
			return blocked("a tool call has a blank id or name")
		case w.seen[id]:
			return blocked("two tool calls of the conversation have the id %s", id)
		case !done(item):
			return blocked("the tool call %s is not completed", id)
		}
		text, _ := item.Get("arguments").Text()
		if arguments, err := Strict([]byte(text)); err != nil || !arguments.IsObject() {
			return blocked("the arguments of the tool call %s are no JSON object", id)
		}
		w.seen[id], open[id] = true, true
		g.calls = append(g.calls, item)
		w.at++
	}
	for w.is("function_call_output") {
		item := w.item()
		id, _ := item.Get("call_id").Text()
		if !open[id] {
			return blocked("an output names the tool call %s, which is not waiting for one", id)
		}
		delete(open, id)
		record, found := w.tools[id]
		if !found {
			return blocked("the tool call %s has no record", id)
		}
		if err := w.fits(g, item, record, id); err != nil {
			return err
		}
		w.used[id] = true
		g.outputs = append(g.outputs, item)
		g.tools = append(g.tools, record)
		w.at++
	}
	if len(open) > 0 {
		return blocked("a tool call has no output")
	}
	return nil
}

func done(item value.Value) bool {
	status := item.Get("status")
	return status.IsNull() || status.Is("completed")
}

// fits holds an output against the record of its call.
func (w *walker) fits(g *group, item, record value.Value, id string) error {
	name := value.Value{}
	for _, call := range g.calls {
		if call.Get("call_id").Is(id) {
			name = call.Get("name")
		}
	}
	_, plain := texts(item.Get("output"))
	switch {
	case !done(item):
		return blocked("the output of the tool call %s is not completed", id)
	case !same(record.Get("invocation_id"), w.c.invocation.Get("invocation_id")):
		return blocked("the tool call %s is another invocation's", id)
	case !record.Get("status").Is("completed") || !record.Get("error_type").IsNull():
		return blocked("the tool call %s is not completed", id)
	case !record.Get("tool_name").IsNull() && !same(record.Get("tool_name"), name):
		return blocked("the tool call %s has two names", id)
	case !record.Get("output").IsNull() && !same(bareParts(record.Get("output")), item.Get("output")):
		return blocked("the tool call %s has two outputs", id)
	case !plain:
		return blocked("the output of the tool call %s is not plain text", id)
	}
	return nil
}

// reasoningText is the one segment of text that the reasoning of a round may have. There is none without reasoning.
func reasoningText(list []value.Value) (text string, err error) {
	segments := 0
	for _, item := range list {
		if !item.Get("encrypted_content").IsNull() {
			return "", blocked("a reasoning item is encrypted")
		}
		content, summary := item.Get("content").Items(), item.Get("summary").Items()
		switch {
		case len(content) > 0 && len(summary) > 0:
			return "", blocked("a reasoning item has both content and summary")
		case len(content)+len(summary) == 0:
			return "", blocked("a reasoning item has no text")
		}
		for _, part := range append(content, summary...) {
			segments++
			text, _ = part.Get("text").Text()
		}
	}
	if segments > 1 {
		return "", blocked("the reasoning of a round has several texts")
	}
	return text, nil
}
