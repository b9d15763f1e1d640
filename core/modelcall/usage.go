package modelcall

import (
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/trajectory/lax"
)

// The names of the counts of a usage object. Dialects differ in names and in what the prompt count includes.
const (
	usageInput = iota
	usagePrompt
	usageOutput
	usageCompletion
	usageTotal
	usageRead
	usageCreated
	usageReasoning
	usageCached
	usageOutputDetails
	usageCompletionDetails
	usagePromptDetails
	usageInputDetails
	usageFields
)

var usageNames = [usageFields]string{
	"input_tokens", "prompt_tokens", "output_tokens", "completion_tokens", "total_tokens",
	"cache_read_input_tokens", "cache_creation_input_tokens", "reasoning_output_tokens", "cached_input_tokens",
	"output_tokens_details", "completion_tokens_details", "prompt_tokens_details", "input_tokens_details",
}

// readUsage takes over the token counts (spec model-calls §5.1) and the cache signal (§5.2).
func (c *Call) readUsage(usage jsonscan.Value) {
	var v [usageFields]jsonscan.Value
	m := usage.Members()
	for m.Next() {
		for i, name := range usageNames {
			if name == string(m.Key) {
				v[i] = m.Value
				break
			}
		}
	}
	c.TokensIn = firstCount(v[usageInput], v[usagePrompt])
	c.TokensOut = firstCount(v[usageOutput], v[usageCompletion])
	read := countOf(v[usageRead])
	c.CacheCreationTokens = countOf(v[usageCreated])
	if read.Set || c.CacheCreationTokens.Set {
		// The messages dialect counts cached tokens apart from the prompt.
		if aside := read.Int.Add(c.CacheCreationTokens.Int); c.TokensIn.Set || aside.Sign() > 0 {
			c.TokensIn = lax.Count{Int: c.TokensIn.Int.Add(aside), Set: true}
		}
	}
	c.TokensTotal = countOf(v[usageTotal])
	if !c.TokensTotal.Set && c.TokensIn.Set && c.TokensOut.Set {
		c.TokensTotal = lax.Count{Int: c.TokensIn.Int.Add(c.TokensOut.Int), Set: true}
	}
	c.TokensReasoning = firstCount(
		v[usageOutputDetails].Get("reasoning_tokens"), v[usageCompletionDetails].Get("reasoning_tokens"), v[usageReasoning])

	c.CachedTokens = firstCount(
		v[usagePromptDetails].Get("cached_tokens"), v[usagePromptDetails].Get("cached_input_tokens"),
		v[usageInputDetails].Get("cached_tokens"), v[usageInputDetails].Get("cached_input_tokens"),
		v[usageRead], v[usageCached])
	if c.CachedTokens.Set {
		c.CacheHit = lax.Flag{True: c.CachedTokens.Int.Sign() > 0, Set: true}
	}
}

// firstCount gives the first value that is a count.
func firstCount(values ...jsonscan.Value) lax.Count {
	for _, v := range values {
		if n := countOf(v); n.Set {
			return n
		}
	}
	return lax.Count{}
}
