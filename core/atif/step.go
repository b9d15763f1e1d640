package atif

import (
	"github.com/rollscope/rollscope/core/value"
)

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
	if len(g.reasoning) > 0 {
		text, _ := reasoningText(g.reasoning)
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
