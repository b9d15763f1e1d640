package atif

import (
	"slices"
	"strings"

	"github.com/rollscope/rollscope/core/integer"
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

// reasoningText is the one segment of text that the reasoning of a round may have.
func reasoningText(list []value.Value) (text string, err error) {
	segments := 0
	for _, item := range list {
		if !item.Get("encrypted_content").IsNull() {
			return "", blocked("a reasoning item is encrypted")
		}
		for _, name := range [...]string{"summary", "content"} {
			for _, part := range item.Get(name).Items() {
				segments++
				text, _ = part.Get("text").Text()
			}
		}
	}
	switch {
	case segments > 1:
		return "", blocked("the reasoning of a round has several texts")
	case len(list) > 0 && segments == 0:
		return "", blocked("the reasoning of a round has no text")
	case segments == 1 && text == "":
		return "", blocked("the reasoning of a round is empty")
	}
	return text, nil
}

// step makes the fields of the group's step, but for its number.
func (g *group) step() []value.Member {
	members := []value.Member{value.M("source", value.Text("agent"))}
	if g.message.Exists() {
		list, _ := texts(g.message.Get("content"))
		members = append(members, value.M("message", textPartList(list)))
	} else {
		members = append(members, value.M("message", value.Text("")))
	}
	at, _ := g.turn.Get("timestamp").Number()
	stamp, _ := FormatStamp(at)
	members = append(members, value.M("timestamp", value.Text(stamp)))
	if model := g.call.meta("model"); !model.IsNull() {
		members = append(members, value.M("model_name", model))
	}
	if text, _ := reasoningText(g.reasoning); text != "" {
		members = append(members, value.M("reasoning_content", value.Text(text)))
	}
	if len(g.calls) > 0 {
		members = append(members, value.M("tool_calls", g.toolCalls()), value.M("observation", value.Object(value.M("results", g.results()))))
	}
	if g.call.metered() {
		members = append(members, value.M("metrics", g.call.metrics()))
	}
	return append(members, value.M("llm_call_count", value.Int(1)), value.M("extra", value.Object(value.M("nemo_gym", g.provenance()))))
}

func (g *group) toolCalls() value.Value {
	var list []value.Value
	for _, item := range g.calls {
		text, _ := item.Get("arguments").Text()
		arguments, _ := Strict([]byte(text))
		members := []value.Member{
			value.M("tool_call_id", item.Get("call_id")), value.M("function_name", item.Get("name")), value.M("arguments", arguments),
		}
		if id := item.Get("id"); !id.IsNull() {
			members = append(members, value.M("extra", value.Object(value.M("nemo_gym", value.Object(value.M("source_item_id", id))))))
		}
		list = append(list, value.Object(members...))
	}
	return value.List(list...)
}

func (g *group) results() value.Value {
	var list []value.Value
	for i, item := range g.outputs {
		record := g.tools[i]
		extra := []value.Member{}
		for _, name := range [...]string{"sandbox_id", "started_at", "completed_at", "duration_ms", "timing_source"} {
			v := record.Get(name)
			if v.IsNull() {
				continue
			}
			if f, ok := v.Number(); ok {
				v = value.Float(f)
			}
			extra = append(extra, value.M(name, v))
		}
		if id := item.Get("id"); !id.IsNull() {
			extra = append(extra, value.M("source_item_id", id))
		}
		content, _ := texts(item.Get("output"))
		members := []value.Member{value.M("source_call_id", item.Get("call_id")), value.M("content", parts(item.Get("output"), content))}
		if len(extra) > 0 {
			members = append(members, value.M("extra", value.Object(value.M("nemo_gym", value.Object(extra...)))))
		}
		list = append(list, value.Object(members...))
	}
	return value.List(list...)
}

func (g *group) provenance() value.Value {
	turn := []value.Member{value.M("turn_no", g.turn.Get("turn_no")), value.M("step_count", g.turn.Get("step_count"))}
	if resolved := g.turn.Get("resolved"); !resolved.IsNull() {
		turn = append(turn, value.M("resolved", resolved))
	}
	members := []value.Member{value.M("turn", value.Object(turn...)), value.M("model_call", bareCall(g.call.v))}
	source := []value.Member{}
	ids := []value.Value{}
	for _, item := range g.reasoning {
		if id := item.Get("id"); !id.IsNull() {
			ids = append(ids, id)
		}
	}
	if len(ids) > 0 {
		source = append(source, value.M("reasoning_ids", value.List(ids...)))
	}
	if id := g.message.Get("id"); !id.IsNull() {
		source = append(source, value.M("message_id", id))
	}
	if len(source) > 0 {
		members = append(members, value.M("source_items", value.Object(source...)))
	}
	return value.Object(members...)
}

// A call is a model call of the trajectory as it was written.
type call struct {
	index int
	v     value.Value
}

func (c *call) meta(name string) value.Value { return c.v.Get("response_metadata").Get(name) }

var statNames = [...]string{"prompt_tokens", "completion_tokens", "cached_tokens", "reasoning_tokens", "total_tokens"}

// counts are prompt, completion, cached, reasoning and total tokens.
func (c *call) counts() [len(statNames)]amount {
	var list [len(statNames)]amount
	for i, name := range statNames {
		list[i] = amountOf(c.v.Get("token_stats").Get(name))
	}
	return list
}

// metered tells whether any token count of the call is known.
func (c *call) metered() bool {
	for _, n := range c.counts() {
		if n.known {
			return true
		}
	}
	return false
}

func (c *call) metrics() value.Value {
	members, extra := []value.Member{}, []value.Member{}
	for i, n := range c.counts() {
		switch {
		case !n.known:
		case i < 3:
			members = append(members, value.M(statNames[i], n.value()))
		default:
			extra = append(extra, value.M(statNames[i], n.value()))
		}
	}
	if len(extra) > 0 {
		members = append(members, value.M("extra", value.Object(extra...)))
	}
	return value.Object(members...)
}

// callFields are the fields of a call in written order, and whether they are floats.
var callFields = []struct {
	name string
	real bool
}{
	{"model_call_id", false}, {"started_at", true}, {"completed_at", true}, {"duration_ms", true}, {"request", false}, {"response", false},
}

var metadataFields = []string{
	"response_id", "model_ref", "model", "dialect", "status_code", "response_status", "finish_reason", "upstream_attempted", "response_source",
	"upstream_status_code", "local_response_reason", "error_category", "latency_ttft_ms",
}

// bareCall is the record of a call without the nulls of its fields. Those inside its payloads stay.
func bareCall(v value.Value) value.Value {
	members := []value.Member{}
	real := func(v value.Value) value.Value {
		if f, ok := v.Number(); ok {
			return value.Float(f)
		}
		return v
	}
	for _, f := range callFields {
		found := v.Get(f.name)
		if found.IsNull() {
			continue
		}
		if f.real {
			found = real(found)
		}
		members = append(members, value.M(f.name, found))
	}
	metadata, stats := []value.Member{}, []value.Member{}
	for _, name := range metadataFields {
		found := v.Get("response_metadata").Get(name)
		switch {
		case found.IsNull():
			continue
		case name == "latency_ttft_ms":
			found = real(found)
		case name == "model_ref":
			found = value.Object(value.M("type", found.Get("type")), value.M("name", found.Get("name")))
		}
		metadata = append(metadata, value.M(name, found))
	}
	for _, name := range [...]string{"prompt_tokens", "completion_tokens", "reasoning_tokens", "total_tokens", "cached_tokens"} {
		if found := v.Get("token_stats").Get(name); !found.IsNull() {
			stats = append(stats, value.M(name, found))
		}
	}
	return value.Object(append(members, value.M("response_metadata", value.Object(metadata...)), value.M("token_stats", value.Object(stats...)))...)
}

// stops are finish reasons that say the model did not come to an end.
var stops = []string{
	"aborted", "canceled", "cancelled", "content_filter", "failed", "incomplete", "length", "max_output_tokens", "max_tokens",
	"model_context_window_exceeded", "pause_turn", "refusal", "timed_out", "timeout",
}

// turns ties every group to its turn and its call (spec atif §5.4).
func (c *conversion) turns() error {
	list := c.saved.Get("turns").Items()
	if len(list) != len(c.groups) {
		return blocked("there are %d turns and %d rounds of the agent", len(list), len(c.groups))
	}
	calls := c.saved.Get("model_calls").Items()
	used := map[int]bool{}
	steps := 0
	for i, turn := range list {
		g := &c.groups[i]
		g.turn = turn
		steps += len(g.calls)
		at := "turn " + ordinal(i)
		if !same(turn.Get("invocation_id"), c.invocation.Get("invocation_id")) {
			return blocked("%s is another invocation's", at)
		}
		if n, ok := turn.Get("turn_no").Whole(); !ok || n.Cmp(integer.Of(int64(i)+1)) != 0 {
			return blocked("%s has another number", at)
		}
		if err := c.content(at, g); err != nil {
			return err
		}
		if n, ok := turn.Get("step_count").Whole(); !ok || n.Cmp(integer.Of(int64(steps))) != 0 {
			return blocked("%s counts %s steps, there are %d with its own", at, turn.Get("step_count"), steps)
		}
		refs := turn.Get("model_calls").Items()
		if len(refs) != 1 {
			return blocked("%s has %d model calls, not one", at, len(refs))
		}
		k, err := resolve(refs[0], calls)
		if err != nil {
			return blocked("%s: %s", at, err)
		}
		if used[k] {
			return blocked("%s has the model call of another turn", at)
		}
		used[k] = true
		g.call = call{k, calls[k]}
		if err := g.sound(at); err != nil {
			return err
		}
		unix, _ := turn.Get("timestamp").Number()
		if _, ok := FormatStamp(unix); !ok {
			return blocked("%s has a time that no calendar has", at)
		}
	}
	named := map[int]bool{}
	for _, ref := range c.invocation.Get("model_calls").Items() {
		k, err := resolve(ref, calls)
		switch {
		case err != nil:
			return blocked("the invocation: %s", err)
		case named[k]:
			return blocked("the invocation names a model call twice")
		}
		named[k] = true
	}
	for k := range used {
		if !named[k] {
			return blocked("a turn has a model call that the invocation does not name")
		}
	}
	return nil
}

// content holds what a turn says against the conversation.
func (c *conversion) content(at string, g *group) error {
	answer := g.calls
	if g.message.Exists() {
		answer = []value.Value{g.message}
	}
	for _, f := range [...]struct {
		name string
		want []value.Value
	}{{"question", c.items[:g.before]}, {"answer", answer}, {"reasoning_content", g.reasoning}} {
		have := g.turn.Get(f.name)
		if f.name == "reasoning_content" && len(f.want) == 0 {
			if !have.IsNull() {
				return blocked("%s has reasoning that the conversation has not", at)
			}
			continue
		}
		if have.Kind() != jsonscan.Array {
			return blocked("%s has another %s than the conversation", at, f.name)
		}
		list := have.Items()
		for i := range list {
			if list[i].IsObject() {
				list[i] = normal(list[i])
			}
		}
		if !same(value.List(list...), value.List(f.want...)) {
			return blocked("%s has another %s than the conversation", at, f.name)
		}
	}
	return nil
}

// resolve finds the one call that a reference names.
func resolve(ref value.Value, calls []value.Value) (int, error) {
	id, _ := ref.Get("model_call_id").Text()
	response, _ := ref.Get("response_id").Text()
	for _, name := range [...]string{"model_call_id", "response_id"} {
		if s, ok := ref.Get(name).Text(); ok && blank(s) {
			return 0, blocked("a reference has a blank id")
		}
	}
	found := -1
	for k, c := range calls {
		metadata := c.Get("response_metadata")
		hit := false
		if id != "" {
			hit = c.Get("model_call_id").Is(id)
		} else {
			hit = metadata.Get("response_id").Is(response) && same(server(metadata.Get("model_ref")), server(ref.Get("model_ref")))
		}
		if !hit {
			continue
		}
		if found >= 0 {
			return 0, blocked("a reference fits several model calls")
		}
		found = k
	}
	if found < 0 {
		return 0, blocked("a reference fits no model call")
	}
	metadata := calls[found].Get("response_metadata")
	if r := ref.Get("response_id"); !r.IsNull() && !same(r, metadata.Get("response_id")) {
		return 0, blocked("a reference contradicts its model call")
	}
	if r := ref.Get("model_ref"); !r.IsNull() && !same(server(r), server(metadata.Get("model_ref"))) {
		return 0, blocked("a reference contradicts its model call")
	}
	return found, nil
}

func server(ref value.Value) value.Value {
	return value.List(ref.Get("type").OrNull(), ref.Get("name").OrNull())
}

// sound looks at the call of a turn.
func (g *group) sound(at string) error {
	c := &g.call
	status, hasStatus := c.meta("response_status").Text()
	code, hasCode := c.meta("status_code").Whole()
	model, hasModel := c.meta("model").Text()
	small, _ := code.Int64()
	switch {
	case hasStatus && status != "completed":
		return blocked("%s: the response is %s", at, status)
	case !c.meta("error_category").IsNull():
		return blocked("%s: the model call has an error", at)
	case hasCode && (small < 200 || small > 299):
		return blocked("%s: the model call has the status %s", at, code)
	case hasModel && blank(model):
		return blocked("%s: the model has a blank name", at)
	}
	for _, id := range [...]value.Value{c.v.Get("model_call_id"), c.meta("response_id")} {
		if s, ok := id.Text(); ok && blank(s) {
			return blocked("%s: the model call has a blank id", at)
		}
	}
	if err := g.finish(at); err != nil {
		return err
	}
	n := c.counts()
	prompt, completion, cached, reasoning, total := n[0], n[1], n[2], n[3], n[4]
	more := func(a, b amount) bool { return a.known && b.known && a.n.Cmp(b.n) > 0 }
	both := amount{prompt.n.Add(completion.n), prompt.known && completion.known}
	if more(prompt, total) || more(completion, total) || more(reasoning, total) || more(cached, total) || more(both, total) || more(cached, prompt) || more(reasoning, completion) {
		return blocked("%s: the token counts contradict each other", at)
	}
	return nil
}

// finish holds the finish reason against what the agent did.
func (g *group) finish(at string) error {
	v := g.call.meta("finish_reason")
	if v.IsNull() {
		return nil
	}
	text, _ := v.Text()
	reason := strings.ToLower(strings.TrimSpace(text))
	tools := len(g.calls) > 0
	wrong := false
	dialect, _ := g.call.meta("dialect").Text()
	switch {
	case reason == "" || slices.Contains(stops, reason):
		wrong = true
	case dialect == "chat":
		wrong = tools && reason != "tool_calls" && reason != "function_call" || !tools && reason != "stop"
	case dialect == "messages":
		wrong = tools && reason != "tool_use" || !tools && reason != "end_turn" && reason != "stop_sequence"
	default:
		switch reason {
		case "stop", "end_turn", "stop_sequence":
			wrong = tools
		case "tool_calls", "tool_use", "function_call":
			wrong = !tools
		}
	}
	if wrong {
		return blocked("%s: the model call ended with %q", at, text)
	}
	return nil
}
