package atif

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/value"
)

// An amount is a token count that may not be known.
type amount struct {
	n     integer.Int
	known bool
}

func amountOf(v value.Value) amount {
	n, ok := v.Whole()
	return amount{n, ok}
}

func (a amount) value() value.Value {
	if !a.known {
		return value.Null
	}
	return value.Whole(a.n)
}

// usageOf adds the usage of a document up, absent where it has none (spec atif §6).
func usageOf(v value.Value) (value.Value, error) {
	type stepUsage struct{ prompt, completion, cached, reasoning, total amount }
	final := v.Get("final_metrics")
	totals := stepUsage{
		prompt: amountOf(final.Get("total_prompt_tokens")), completion: amountOf(final.Get("total_completion_tokens")), cached: amountOf(final.Get("total_cached_tokens")),
	}
	var steps []stepUsage
	any := false
	for i, step := range v.Get("steps").Items() {
		if n, ok := step.Get("llm_call_count").Whole(); !step.Get("source").Is("agent") || ok && n.Sign() == 0 {
			continue
		}
		path := "steps[" + strconv.Itoa(i) + "].metrics"
		m := step.Get("metrics")
		u := stepUsage{prompt: amountOf(m.Get("prompt_tokens")), completion: amountOf(m.Get("completion_tokens")), cached: amountOf(m.Get("cached_tokens"))}
		var err error
		if u.reasoning, err = agreed(path, "reasoning_tokens", reasoningPlaces(m.Get("extra"))); err != nil {
			return value.Value{}, err
		}
		if u.total, err = agreed(path, "total_tokens", []value.Value{m.Get("extra").Get("total_tokens")}); err != nil {
			return value.Value{}, err
		}
		any = any || u.prompt.known || u.completion.known || u.cached.known || u.reasoning.known || u.total.known
		if u.cached.known && u.prompt.known && u.cached.n.Cmp(u.prompt.n) > 0 {
			return value.Value{}, refusedImport(path+".cached_tokens", "are more than the prompt has")
		}
		if u.reasoning.known && u.completion.known && u.reasoning.n.Cmp(u.completion.n) > 0 {
			return value.Value{}, refusedImport(path+".extra.reasoning_tokens", "are more than the completion has")
		}
		if u.total.known && u.prompt.known && u.completion.known && u.total.n.Cmp(u.prompt.n.Add(u.completion.n)) < 0 {
			return value.Value{}, refusedImport(path+".extra.total_tokens", "are fewer than prompt and completion")
		}
		steps = append(steps, u)
	}
	if totals.cached.known && totals.prompt.known && totals.cached.n.Cmp(totals.prompt.n) > 0 {
		return value.Value{}, refusedImport("final_metrics.total_cached_tokens", "are more than the prompts have")
	}
	if !any {
		switch {
		case !totals.prompt.known && !totals.completion.known && !totals.cached.known:
			return value.Value{}, nil
		case !totals.prompt.known || !totals.completion.known:
			return value.Value{}, refusedImport("final_metrics", "only some of the totals are known")
		}
		return usageObject(totals.prompt.n, totals.completion.n, totals.cached, amount{}, amount{}), nil
	}
	var prompt, completion, cached, reasoning, total integer.Int
	allCached, noneCached, allReasoning, allTotal := true, true, true, true
	for _, u := range steps {
		if !u.prompt.known || !u.completion.known {
			return value.Value{}, refusedImport("steps", "the tokens of some model steps are not known")
		}
		prompt, completion = prompt.Add(u.prompt.n), completion.Add(u.completion.n)
		cached, reasoning, total = cached.Add(u.cached.n), reasoning.Add(u.reasoning.n), total.Add(u.total.n)
		allCached, noneCached = allCached && u.cached.known, noneCached && !u.cached.known
		allReasoning, allTotal = allReasoning && u.reasoning.known, allTotal && u.total.known
	}
	if !totals.prompt.known || !totals.completion.known || totals.prompt.n.Cmp(prompt) != 0 || totals.completion.n.Cmp(completion) != 0 {
		return value.Value{}, refusedImport("final_metrics", "the totals are not the sums over the steps")
	}
	known := amount{}
	switch {
	case allCached:
		if totals.cached.known && totals.cached.n.Cmp(cached) != 0 {
			return value.Value{}, refusedImport("final_metrics.total_cached_tokens", "is not the sum over the steps")
		}
		known = amount{cached, true}
	case noneCached:
		known = totals.cached
	}
	return usageObject(prompt, completion, known, amount{reasoning, allReasoning}, amount{total, allTotal}), nil
}

// reasoningPlaces are where a step may say how many tokens the reasoning took, the first nested ones last.
func reasoningPlaces(extra value.Value) []value.Value {
	return []value.Value{
		extra.Get("reasoning_tokens"), extra.Get("output_tokens_details").Get("reasoning_tokens"), extra.Get("completion_tokens_details").Get("reasoning_tokens"),
	}
}

// agreed is the count that all places give that say something.
func agreed(path, name string, places []value.Value) (amount, error) {
	var a amount
	for _, v := range places {
		if v.IsNull() {
			continue
		}
		n, ok := v.Whole()
		if !ok || n.Sign() < 0 {
			return a, refusedImport(path+".extra."+name, "is no count")
		}
		if a.known && a.n.Cmp(n) != 0 {
			return a, refusedImport(path+".extra."+name, "is said in two ways")
		}
		a = amount{n, true}
	}
	return a, nil
}

func usageObject(prompt, completion integer.Int, cached, reasoning, total amount) value.Value {
	if !total.known {
		total = amount{prompt.Add(completion), true}
	}
	return value.Object(
		value.M("input_tokens", value.Whole(prompt)),
		value.M("input_tokens_details", value.Object(value.M("cached_tokens", cached.value()))),
		value.M("output_tokens", value.Whole(completion)),
		value.M("output_tokens_details", value.Object(value.M("reasoning_tokens", reasoning.value()))),
		value.M("total_tokens", total.value()))
}

// ContentHash is the SHA-256 of what a document says, in hexadecimal digits: without its name, and without what
// programs have added for themselves (spec atif §6).
func ContentHash(v value.Value) string {
	sum := sha256.Sum256(hashed(v).Append(nil, value.Canonical))
	return hex.EncodeToString(sum[:])
}

// hashed is the document whose text is hashed: every field of the schema is there, null where it is not known.
func hashed(v value.Value) value.Value {
	root := filled(rootTable, v)
	root = root.With("trajectory_id", value.Null)
	source := v.Get("extra").Get("nemo_gym").Get("source")
	extra := value.Null
	if source.IsObject() {
		extra = value.Object(value.M("nemo_gym", value.Object(value.M("source", source))))
	}
	return root.With("extra", extra)
}

// filled gives an object of the schema all its fields. What programs have added goes, but for the places where it can
// change the meaning.
func filled(t *table, v value.Value) value.Value {
	members := make([]value.Member, 0, len(t.fields))
	for i := range t.fields {
		f := &t.fields[i]
		if f.name == "extra" && t != rootTable && t != resultTable && t != metricsTable {
			continue
		}
		found := v.Get(f.name).OrNull()
		switch {
		case found.IsNull():
		case f.kind == kindObject:
			found = filled(f.table, found)
		case f.kind == kindList:
			items := found.Items()
			for k := range items {
				items[k] = filled(f.table, items[k])
			}
			found = value.List(items...)
		case f.kind == kindContent:
			found = filledContent(found)
		case f.name == "extra":
			found = hashedExtra(t, found)
		case f.kind == kindAmount:
			if n, ok := found.Number(); ok {
				found = value.Float(n)
			}
		case f.kind == kindReals:
			items := found.Items()
			for k := range items {
				if n, ok := items[k].Number(); ok {
					items[k] = value.Float(n)
				}
			}
			found = value.List(items...)
		}
		members = append(members, value.M(f.name, found))
	}
	return value.Object(members...)
}

// filledContent gives every part of a content all its fields.
func filledContent(v value.Value) value.Value {
	if _, ok := v.Text(); ok {
		return v
	}
	items := v.Items()
	for i, part := range items {
		source := part.Get("source").OrNull()
		items[i] = value.Object(value.M("type", part.Get("type").OrNull()), value.M("text", part.Get("text").OrNull()), value.M("source", source))
	}
	return value.List(items...)
}

// hashedExtra keeps of what programs have added what changes the meaning.
func hashedExtra(t *table, extra value.Value) value.Value {
	switch t {
	case resultTable:
		if v := extra.Get("tool_result"); v.Exists() {
			return value.Object(value.M("tool_result", v))
		}
	case metricsTable:
		members := []value.Member{}
		if v := extra.Get("total_tokens"); !v.IsNull() {
			members = append(members, value.M("total_tokens", v))
		}
		for _, v := range reasoningPlaces(extra) {
			if !v.IsNull() {
				members = append(members, value.M("reasoning_tokens", v))
				break
			}
		}
		if len(members) > 0 {
			return value.Object(members...)
		}
	}
	return value.Null
}
