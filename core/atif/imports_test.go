package atif

import (
	"errors"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/value"
)

// TestContentHash is the example of the spec.
func TestContentHash(t *testing.T) {
	doc, err := Strict([]byte(`{"schema_version":"ATIF-v1.7","agent":{"name":"a","version":"1","extra":{"x":1}},"steps":[{"step_id":1,"source":"user","message":"hi"},
		{"step_id":2,"source":"agent","message":"yo","metrics":{"prompt_tokens":3,"completion_tokens":2,"extra":{"junk":1,"reasoning_tokens":1}}}],
		"final_metrics":{"total_prompt_tokens":3,"total_completion_tokens":2}}`))
	if err != nil {
		t.Fatal(err)
	}
	im, err := Import(doc, value.Null)
	if err != nil {
		t.Fatal(err)
	}
	if im.Hash != "121a51844def4b687b9706342e2a4382986b9ab6db9cd55bbc52ecfece009492" || im.Identity != im.Hash {
		t.Errorf("content hash %s of %s", im.Hash, hashed(doc))
	}
	if !im.Response.Get("id").Is("atif_6a9ea85ba8bae24007b5") || !im.Response.Get("output").At(0).Get("id").Is("atif_a31cad3bef2f5282608b") {
		t.Errorf("%s", im.Response)
	}
	// What programs add for themselves and the name do not change it; what changes the meaning does.
	for _, tt := range []struct {
		changes []string
		same    bool
	}{
		{[]string{"trajectory_id", `"t"`}, true},
		{[]string{"agent.extra", "-"}, true},
		{[]string{"extra", `{"nemo_gym":{"source":1}}`}, true},
		{[]string{"extra", `{"nemo_gym":{"source":{"a":1}}}`}, false},
		{[]string{"steps.0.extra", `{"x":1}`}, true},
		{[]string{"steps.1.metrics.extra.junk", "2"}, true},
		{[]string{"steps.1.metrics.extra", `{"output_tokens_details":{"reasoning_tokens":1}}`}, true},
		{[]string{"steps.1.metrics.extra", `{"completion_tokens_details":{"reasoning_tokens":1},"total_tokens":null}`}, true},
		{[]string{"steps.1.metrics.extra.total_tokens", "5"}, false},
		{[]string{"steps.1.metrics.extra.reasoning_tokens", "2"}, false},
		{[]string{"steps.1.metrics.cost_usd", "1"}, false},
		{[]string{"final_metrics.extra", `{"x":1}`}, true},
		{[]string{"notes", "null"}, true},
		{[]string{"notes", `"n"`}, false},
		{[]string{"session_id", `"s"`}, false},
		{[]string{"steps.0.message", `[{"type":"text","text":"hi"}]`}, false},
	} {
		if same := ContentHash(set(t, doc, tt.changes...)) == im.Hash; same != tt.same {
			t.Errorf("%v: same %t", tt.changes, same)
		}
	}
	cost := func(text string) string { return ContentHash(set(t, doc, "steps.1.metrics.cost_usd", text)) }
	if cost("1") != cost("1.0") || cost("1") == cost("2") {
		t.Error("costs are floats")
	}
}

// TestRefusals changes a document that can be imported.
func TestRefusals(t *testing.T) {
	base := parse(t, document)
	result := "steps.1.observation.results.0"
	for _, tt := range []struct {
		name    string
		changes []string
		want    string // part of path or reason, "" for none
	}{
		{"continued", []string{"continued_trajectory_ref", `"x"`}, "continued_trajectory_ref"},
		{"subagents", []string{"subagent_trajectories", "[{}]"}, "subagent_trajectories"},
		{"a reference", []string{result + ".subagent_trajectory_ref", "[{}]"}, "subagent"},
		{"an image of a user", []string{"steps.0.message", `[{"type":"image","source":{"media_type":"image/png","path":"p"}}]`}, "steps[0].message[0]: is no text"},
		{"copied context", []string{"steps.0.is_copied_context", "true"}, "copied"},
		{"no copied context", []string{"steps.0.is_copied_context", "false"}, ""},
		{"token ids", []string{"steps.2.metrics.prompt_token_ids", "[]"}, "prompt_token_ids"},
		{"a message with tools", []string{"steps.1.message", `"x"`}, "says something"},
		{"several calls", []string{"steps.2.llm_call_count", "2"}, "several model calls"},
		{"a user behind the agent", []string{"steps.3", `{"step_id":4,"source":"user","message":"more"}`, "final_metrics.total_steps", "4"}, "follows one of the agent"},
		{"a user's observation", []string{"steps.0.observation", `{"results":[]}`}, "observation"},
		{"no agent", []string{"steps", `[{"step_id":1,"source":"user","message":"x"}]`, "final_metrics", "-"}, "no step is the agent's"},
		{"an empty message", []string{"steps.2.message", "[]"}, "empty list"},
		{"an empty result", []string{result + ".content", "[]"}, "empty list"},
		{"a user's empty message", []string{"steps.0.message", "[]"}, ""},
		{"a blank id", []string{"steps.1.tool_calls.0.tool_call_id", `" "`, result + ".source_call_id", `" "`}, "blank"},
		{"an id in another step", []string{"steps.2.tool_calls", `[{"tool_call_id":"c","function_name":"f","arguments":{}}]`, "steps.2.message", `""`, "steps.2.observation", `{"results":[{"source_call_id":"c","content":""}]}`}, "another tool call"},
		{"a blank function", []string{"steps.1.tool_calls.0.function_name", `""`}, "blank"},
		{"a result without a call", []string{"steps.1.observation.results.1", `{"content":"x"}`}, "source_call_id"},
		{"two results", []string{"steps.1.observation.results.1", `{"source_call_id":"c","content":"x"}`}, "another result"},
		{"no result", []string{"steps.1.observation.results", "[]"}, "no result"},
		{"nothing as a result", []string{result + ".content", "null"}, "neither"},
		{"both as a result", []string{result + ".extra", `{"tool_result":null}`}, "both"},
		{"a time without zone", []string{"steps.2.timestamp", `"2026-08-06T16:02:34"`}, "zone"},
		{"an earlier time without zone", []string{"steps.1.timestamp", `"2026-08-06T16:02:34"`}, ""},
		{"a user's time without zone", []string{"steps.0.timestamp", `"2026-08-06"`}, ""},
		{"several models", []string{"steps.2.model_name", `"n"`}, "several models"},
		{"an unknown model", []string{"agent.model_name", "-", "steps.2.model_name", `"n"`}, "not known"},
		{"no model", []string{"agent.model_name", "-"}, ""},
		{"not valid", []string{"more", "1"}, "more: unknown key"},

		// Usage.
		{"more cached than prompt", []string{"steps.1.metrics.cached_tokens", "6"}, "cached_tokens"},
		{"more cached in total", []string{"final_metrics.total_cached_tokens", "15"}, "total_cached_tokens"},
		{"tokens of one step", []string{"steps.1.metrics", "-", "final_metrics", `{"total_prompt_tokens":9,"total_completion_tokens":3}`}, "not known"},
		{"tokens of one side", []string{"steps.1.metrics.completion_tokens", "-"}, "not known"},
		{"no tokens without a call", []string{"steps.1.metrics", "-", "steps.1.llm_call_count", "0", "final_metrics", `{"total_prompt_tokens":9,"total_completion_tokens":3}`}, ""},
		{"other totals", []string{"final_metrics.total_prompt_tokens", "15"}, "sums"},
		{"no totals", []string{"final_metrics", "-"}, "sums"},
		{"no tokens at all", []string{"final_metrics", `{"total_cost_usd":1}`, "steps.1.metrics", "-", "steps.2.metrics", `{"cost_usd":1}`}, ""},
		{"totals alone", []string{"steps.1.metrics", "-", "steps.2.metrics", "-"}, ""},
		{"one total", []string{"final_metrics.total_prompt_tokens", "-", "steps.1.metrics", "-", "steps.2.metrics", "-"}, "some of the totals"},
		{"the cached total alone", []string{"final_metrics", `{"total_cached_tokens":1}`, "steps.1.metrics", "-", "steps.2.metrics", "-"}, "some of the totals"},
		{"another cached sum", []string{"steps.1.metrics.cached_tokens", "1", "steps.2.metrics.cached_tokens", "1", "final_metrics.total_cached_tokens", "3"}, "total_cached_tokens"},
		{"the cached sum", []string{"steps.1.metrics.cached_tokens", "1", "steps.2.metrics.cached_tokens", "1", "final_metrics.total_cached_tokens", "2"}, ""},
		{"reasoning in two ways", []string{"steps.1.metrics.extra", `{"reasoning_tokens":1,"output_tokens_details":{"reasoning_tokens":2}}`}, "two ways"},
		{"reasoning that is none", []string{"steps.1.metrics.extra", `{"completion_tokens_details":{"reasoning_tokens":"1"}}`}, "no count"},
		{"too much reasoning", []string{"steps.1.metrics.extra", `{"reasoning_tokens":3}`}, "reasoning_tokens"},
		{"too small a total", []string{"steps.1.metrics.extra", `{"total_tokens":6}`}, "total_tokens"},
		{"reasoning alone", []string{"steps.1.metrics", `{"extra":{"reasoning_tokens":1}}`, "steps.2.metrics", "-", "final_metrics", "-"}, "not known"},
	} {
		err := Importable(set(t, base, tt.changes...))
		var e *ImportError
		if (err == nil) != (tt.want == "") || err != nil && (!errors.As(err, &e) || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

// TestUsage looks at the numbers that an import gives.
func TestUsage(t *testing.T) {
	base := parse(t, document)
	for _, tt := range []struct {
		changes []string
		want    string
	}{
		{nil, `{"input_tokens":14,"input_tokens_details":{"cached_tokens":null},"output_tokens":5,"output_tokens_details":{"reasoning_tokens":null},"total_tokens":19}`},
		{[]string{"steps.1.metrics.cached_tokens", "1", "final_metrics.total_cached_tokens", "4"}, `{"input_tokens":14,"input_tokens_details":{"cached_tokens":null},"output_tokens":5,"output_tokens_details":{"reasoning_tokens":null},"total_tokens":19}`},
		{[]string{"final_metrics.total_cached_tokens", "4"}, `{"input_tokens":14,"input_tokens_details":{"cached_tokens":4},"output_tokens":5,"output_tokens_details":{"reasoning_tokens":null},"total_tokens":19}`},
		{[]string{"steps.1.metrics.cached_tokens", "1", "steps.2.metrics.cached_tokens", "2"}, `{"input_tokens":14,"input_tokens_details":{"cached_tokens":3},"output_tokens":5,"output_tokens_details":{"reasoning_tokens":null},"total_tokens":19}`},
		{[]string{"steps.1.metrics.extra", `{"reasoning_tokens":1,"total_tokens":8}`, "steps.2.metrics.extra", `{"output_tokens_details":{"reasoning_tokens":2},"total_tokens":12}`},
			`{"input_tokens":14,"input_tokens_details":{"cached_tokens":null},"output_tokens":5,"output_tokens_details":{"reasoning_tokens":3},"total_tokens":20}`},
		{[]string{"steps.1.metrics.extra", `{"reasoning_tokens":1,"total_tokens":8}`}, `{"input_tokens":14,"input_tokens_details":{"cached_tokens":null},"output_tokens":5,"output_tokens_details":{"reasoning_tokens":null},"total_tokens":19}`},
		{[]string{"steps.1.metrics", "-", "steps.2.metrics", "-"}, `{"input_tokens":14,"input_tokens_details":{"cached_tokens":null},"output_tokens":5,"output_tokens_details":{"reasoning_tokens":null},"total_tokens":19}`},
		{[]string{"steps.1.metrics", "-", "steps.2.metrics", "-", "final_metrics", "-"}, "null"},
	} {
		im, err := Import(set(t, base, tt.changes...), value.Null)
		if err != nil {
			t.Errorf("%v: %s", tt.changes, err)
		} else if got := string(im.Response.Get("usage").OrNull().Append(nil, value.Row)); got != tt.want {
			t.Errorf("%v: %s\nwant %s", tt.changes, got, tt.want)
		}
	}
}

// TestResponse looks at the output items of an import.
func TestResponse(t *testing.T) {
	doc := set(t, parse(t, document), "trajectory_id", `" t "`, "steps.1.tool_calls.0.arguments", `{"b":"é","a":[1.50,null]}`,
		"steps.1.observation.results.0", `{"source_call_id":"c","extra":{"tool_result":{"z":1,"a":{"d":2,"c":[]}}}}`, "steps.2.message", `[{"type":"text","text":"x"},{"type":"text","text":""}]`)
	im, err := Import(doc, parse(t, `{"temperature":1,"tools":[{"name":"f"}],"input":"i","model":"no"}`))
	if err != nil {
		t.Fatal(err)
	}
	r := im.Response
	if im.Identity != "t" || r.Get("created_at").String() != "1786032154.0" || !r.Get("model").Is("m") || r.Get("tools").Len() != 1 || r.Get("input").Exists() || r.Get("parallel_tool_calls").Truthy() {
		t.Errorf("%s %s", im.Identity, r)
	}
	for i, want := range []string{
		`{"arguments":"{\"a\":[1.5,null],\"b\":\"é\"}","call_id":"c","name":"f","type":"function_call"`,
		`{"call_id":"c","output":"{\"a\":{\"c\":[],\"d\":2},\"z\":1}","type":"function_call_output"`,
		`"summary":[{"text":"hm","type":"summary_text"}],"type":"reasoning"}`,
		`"content":[{"annotations":[],"text":"x","type":"output_text"},{"annotations":[],"text":"","type":"output_text"}],"role":"assistant","status":"completed","type":"message"}`,
	} {
		if got := string(r.Get("output").At(i).Append(nil, value.Row)); !strings.Contains(got, want) {
			t.Errorf("item %d: %s\nwant %s", i, got, want)
		}
	}
	// The untrimmed id is the seed, and without a time the response is of the epoch.
	other, err := Import(set(t, doc, "trajectory_id", `"t"`, "steps.2.timestamp", "-", "steps.2.message", `""`), value.Null)
	if err != nil {
		t.Fatal(err)
	}
	if value.Equal(other.Response.Get("id"), r.Get("id")) || other.Response.Get("created_at").String() != "0.0" {
		t.Errorf("%s", other.Response)
	}
	if m := other.Response.Get("output").At(3).Get("content"); m.Len() != 1 || !m.At(0).Get("text").Is("") {
		t.Errorf("%s", m)
	}
}
