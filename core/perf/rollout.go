package perf

import (
	"strconv"

	"github.com/rollscope/rollscope/core/jsontext"
	"github.com/rollscope/rollscope/core/trajectory"
	"github.com/rollscope/rollscope/core/trajectory/lax"
)

// A Rollout is `ng_perf` without the measured time: what follows from a trajectory (spec perf §1.3).
type Rollout struct {
	Turns, Tools int
	Coverage     float64 // share of the turns whose call's tokens were observed, at most 1

	// Sums over the owned calls of what is known; null where nothing is.
	Prompt, Cached, Completion, Reasoning lax.Count
}

// Names are the keys of `ng_perf` in written order.
var Names = [...]string{
	"num_turns", "num_tool_calls", "token_observability_coverage",
	"prompt_tokens", "cached_prompt_tokens", "completion_tokens", "reasoning_tokens", "total_latency_ms",
}

// Of gives the numbers of a rollout; ok is false for a trajectory without invocations, which has none.
func Of(r *trajectory.Record) (p Rollout, ok bool) {
	if len(r.Invocations) == 0 {
		return p, false
	}
	owners := Owners(r)
	owned := make([]int, len(r.Invocations))
	all := 0
	for i, owner := range owners {
		if owner < 0 {
			continue
		}
		owned[owner]++
		all++
		c := &r.Calls[i]
		add(&p.Prompt, c.PromptTokens)
		add(&p.Cached, c.CachedTokens)
		add(&p.Completion, c.CompletionTokens)
		add(&p.Reasoning, c.ReasoningTokens)
	}
	at := make(map[string]int, len(r.Invocations))
	for i := range r.Invocations {
		at[string(r.Invocations[i].ID.Bytes)] = i
	}
	turns := make([]int, len(r.Invocations))
	for i := range r.Turns {
		if k, listed := at[string(r.Turns[i].InvocationID.Bytes)]; listed {
			turns[k]++
		}
	}
	for i := range r.Invocations {
		switch {
		case turns[i] > 0:
			p.Turns += turns[i]
		case owned[i] > 0:
			p.Turns += owned[i]
		default:
			p.Turns++
		}
	}
	for i := range r.Tools {
		if _, listed := at[string(r.Tools[i].InvocationID.Bytes)]; listed {
			p.Tools++
		}
	}
	p.Coverage = min(1, float64(all)/float64(p.Turns))
	return p, true
}

func add(sum *lax.Count, n lax.Count) {
	if n.Set {
		*sum = lax.Count{Int: sum.Int.Add(n.Int), Set: true}
	}
}

// Owners tells for every call which invocation it counts for, −1 for none: the first whose reference fits it and no
// other call (spec perf §1.2).
func Owners(r *trajectory.Record) []int {
	owners := make([]int, len(r.Calls))
	byID, byResponse := make(map[string][]int, len(r.Calls)), make(map[string][]int, len(r.Calls))
	for i := range r.Calls {
		owners[i] = -1
		c := &r.Calls[i]
		if !c.ID.Empty() {
			byID[string(c.ID.Bytes)] = append(byID[string(c.ID.Bytes)], i)
		}
		if !c.ResponseID.Empty() {
			byResponse[string(c.ResponseID.Bytes)] = append(byResponse[string(c.ResponseID.Bytes)], i)
		}
	}
	for i := range r.Invocations {
		for k := range r.Invocations[i].Refs {
			ref := &r.Invocations[i].Refs[k]
			candidates := byResponse[string(ref.ResponseID.Bytes)]
			if !ref.ModelCallID.Empty() {
				candidates = byID[string(ref.ModelCallID.Bytes)]
			}
			fits, call := 0, -1
			for _, n := range candidates {
				c := &r.Calls[n]
				if ref.Matches(&trajectory.Ref{ModelCallID: c.ID, Model: c.ModelRef, ResponseID: c.ResponseID}) {
					fits++
					call = n
				}
			}
			if fits == 1 && owners[call] < 0 {
				owners[call] = i
			}
		}
	}
	return owners
}

// AppendJSON appends `ng_perf`. latency is the JSON text of the measured time, empty where none was.
func (p *Rollout) AppendJSON(dst []byte, latency []byte) []byte {
	dst = strconv.AppendInt(append(dst, `{"num_turns":`...), int64(p.Turns), 10)
	dst = strconv.AppendInt(append(dst, `,"num_tool_calls":`...), int64(p.Tools), 10)
	dst = jsontext.AppendFloat(append(dst, `,"token_observability_coverage":`...), p.Coverage)
	for i, n := range p.tokens() {
		if n.Set {
			dst = append(append(append(dst, `,"`...), Names[3+i]...), `":`...)
			dst = n.Int.Append(dst)
		}
	}
	if len(latency) > 0 {
		dst = append(append(dst, `,"total_latency_ms":`...), latency...)
	}
	return append(dst, '}')
}

func (p *Rollout) tokens() [4]lax.Count {
	return [...]lax.Count{p.Prompt, p.Cached, p.Completion, p.Reasoning}
}

// Writable tells whether a row can hold the sums.
func (p *Rollout) Writable() bool {
	for _, n := range p.tokens() {
		if !n.Int.Writable() {
			return false
		}
	}
	return true
}
