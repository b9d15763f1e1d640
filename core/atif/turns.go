package atif

import (
	"slices"
	"strings"

	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/value"
)

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
	for _, id := range [...]value.Value{calls[found].Get("model_call_id"), metadata.Get("response_id")} {
		if s, ok := id.Text(); ok && blank(s) {
			return 0, blocked("the model call has a blank id")
		}
	}
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
