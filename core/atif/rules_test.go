package atif

import (
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/value"
)

// document is valid by all rules and can be imported.
const document = `{"schema_version":"ATIF-v1.7","session_id":"s","agent":{"name":"a","version":"1","model_name":"m"},"steps":[
	{"step_id":1,"source":"user","message":"hi"},
	{"step_id":2,"source":"agent","message":"","tool_calls":[{"tool_call_id":"c","function_name":"f","arguments":{"x":1}}],
		"observation":{"results":[{"source_call_id":"c","content":"r"}]},"metrics":{"prompt_tokens":5,"completion_tokens":2}},
	{"step_id":3,"source":"agent","message":"yo","timestamp":"2026-08-06T16:02:34Z","reasoning_content":"hm","reasoning_effort":"high","llm_call_count":1,
		"metrics":{"prompt_tokens":9,"completion_tokens":3,"cost_usd":0.5}}],
	"final_metrics":{"total_prompt_tokens":14,"total_completion_tokens":5,"total_steps":3}}`

// TestProfiles changes a document that is valid everywhere. Letters name the profiles that still take it: G for Gym, H
// for Harbor, I for the import.
func TestProfiles(t *testing.T) {
	base := parse(t, document)
	agentPart := func(part string) []string { return []string{"steps.2.message", "[" + part + "]"} }
	for _, tt := range []struct {
		name    string
		changes []string
		want    string
	}{
		{"nothing", nil, "GHI"},

		// The table of edge cases.
		{"a user's metrics are null", []string{"steps.0.metrics", "null"}, "GHI"},
		{"a user's call count is 0", []string{"steps.0.llm_call_count", "0"}, "GHI"},
		{"one id twice in a step", []string{"steps.1.tool_calls.1", `{"tool_call_id":"c","function_name":"f","arguments":{}}`}, "GH"},
		{"a step number as a float", []string{"steps.1.step_id", "2.0"}, "H"},
		{"an agent's message without parts", []string{"steps.2.message", "[]"}, "GH"},
		{"no subagents", []string{"subagent_trajectories", "[]"}, "GHI"},
		{"a subagent of nothing", []string{"subagent_trajectories", `[{"x":1}]`}, "G"},
		{"a direct result without content", []string{"steps.1.observation.results.0", `{"source_call_id":"c","content":null,"extra":{"tool_result":{"b":1,"a":2}}}`}, "GHI"},
		{"cached tokens of one step and the total", []string{"steps.1.metrics.cached_tokens", "1", "final_metrics.total_cached_tokens", "4"}, "GHI"},

		// Versions.
		{"an older version", []string{"schema_version", `"ATIF-v1.0"`}, "H"},
		{"a newer version", []string{"schema_version", `"ATIF-v1.8"`}, "H"},
		{"a future version", []string{"schema_version", `"ATIF-v9.0"`}, ""},
		{"no version", []string{"schema_version", "-"}, "H"},

		// Conversions.
		{"a count as text", []string{"steps.1.metrics.prompt_tokens", `"5"`}, "H"},
		{"a count as a bool", []string{"steps.1.metrics.prompt_tokens", "true"}, "H"},
		{"a count with a fraction", []string{"steps.1.metrics.prompt_tokens", "5.5"}, ""},
		{"a cost as text", []string{"steps.2.metrics.cost_usd", `"0.5"`}, "H"},
		{"a cost as an int", []string{"steps.2.metrics.cost_usd", "1"}, "GHI"},
		{"a flag as text", []string{"steps.0.is_copied_context", `"false"`}, "H"},
		{"a name as a number", []string{"agent.name", "1"}, ""},
		{"an effort as a number", []string{"steps.2.reasoning_effort", "0.5"}, "GHI"},
		{"an effort as a bool", []string{"steps.2.reasoning_effort", "true"}, "H"},
		{"an effort as a list", []string{"steps.2.reasoning_effort", "[]"}, ""},

		// Structure.
		{"an unknown key of the root", []string{"more", "1"}, ""},
		{"an unknown key of a step", []string{"steps.0.more", "1"}, ""},
		{"an unknown key of metrics", []string{"steps.1.metrics.more", "1"}, ""},
		{"an unknown key of a result", []string{"steps.1.observation.results.0.more", "1"}, ""},
		{"an unknown key of a part", agentPart(`{"type":"text","text":"x","more":1}`), ""},
		{"no steps", []string{"steps", "[]", "final_metrics", "-"}, ""},
		{"no list of steps", []string{"steps", "{}", "final_metrics", "-"}, ""},
		{"a step that is none", []string{"steps.0", "1"}, ""},
		{"no agent", []string{"agent", "-"}, ""},
		{"an agent without a version", []string{"agent.version", "-"}, ""},
		{"no message", []string{"steps.0.message", "null"}, ""},
		{"another source", []string{"steps.0.source", `"tool"`}, ""},
		{"arguments as text", []string{"steps.1.tool_calls.0.arguments", `"{}"`}, ""},
		{"tools of the agent", []string{"agent.tool_definitions", `[{"name":"f"}]`}, "GHI"},
		{"a tool of the agent that is none", []string{"agent.tool_definitions", "[1]"}, ""},
		{"extra is no object", []string{"extra", "[]"}, ""},
		{"notes", []string{"notes", `"n"`}, "GHI"},

		// Rules over several fields.
		{"steps out of order", []string{"steps.1.step_id", "3"}, ""},
		{"step 0", []string{"steps.0.step_id", "0"}, ""},
		{"a user's model", []string{"steps.0.model_name", `"m"`}, ""},
		{"a user's tools", []string{"steps.0.tool_calls", "[]"}, ""},
		{"a user's observation", []string{"steps.0.observation", `{"results":[]}`}, "GH"},
		{"metrics without a call", []string{"steps.2.llm_call_count", "0"}, ""},
		{"an effort without a call", []string{"steps.2.llm_call_count", "0", "steps.2.metrics", "-", "steps.2.reasoning_content", "-", "final_metrics", `{"total_prompt_tokens":5,"total_completion_tokens":2}`}, "H"},
		{"a negative call count", []string{"steps.2.llm_call_count", "-1"}, ""},
		{"a result of nobody", []string{"steps.1.observation.results.0.source_call_id", `"d"`}, ""},
		{"a result without tools", []string{"steps.1.tool_calls", "-"}, ""},
		{"another number of steps", []string{"final_metrics.total_steps", "4"}, "H"},
		{"a negative number of steps", []string{"final_metrics.total_steps", "-1"}, ""},
		{"a negative count", []string{"steps.1.metrics.prompt_tokens", "-5", "final_metrics.total_prompt_tokens", "4"}, "H"},
		{"a negative cost", []string{"steps.2.metrics.cost_usd", "-0.5"}, "H"},
		{"a negative token id", []string{"steps.1.metrics.prompt_token_ids", "[-1]"}, "H"},
		{"a token id as text", []string{"steps.1.metrics.prompt_token_ids", `["1"]`}, "H"},
		{"token ids", []string{"steps.1.metrics.prompt_token_ids", "[1]"}, "GH"},
		{"no token ids in a list", []string{"steps.1.metrics.completion_token_ids", "[]"}, "GH"},
		{"log probabilities", []string{"steps.1.metrics.logprobs", "[-0.5,0]"}, "GH"},
		{"a log probability that is none", []string{"steps.1.metrics.logprobs", `["x"]`}, ""},
		{"a time that is none", []string{"steps.2.timestamp", `"2026-08"`}, ""},
		{"a time as a number", []string{"steps.2.timestamp", "1"}, ""},

		// Parts.
		{"a text part", agentPart(`{"type":"text","text":"x","source":null}`), "GHI"},
		{"a text part without text", agentPart(`{"type":"text"}`), ""},
		{"a text part with a source", agentPart(`{"type":"text","text":"x","source":{"media_type":"image/png","path":"p"}}`), ""},
		{"an image", agentPart(`{"type":"image","source":{"media_type":"image/png","path":"p"}}`), "GH"},
		{"an image with text", agentPart(`{"type":"image","text":"x","source":{"media_type":"image/png","path":"p"}}`), ""},
		{"an image without a source", agentPart(`{"type":"image"}`), ""},
		{"an image of another type", agentPart(`{"type":"image","source":{"media_type":"image/bmp","path":"p"}}`), ""},
		{"an image without a path", agentPart(`{"type":"image","source":{"media_type":"image/png"}}`), ""},
		{"an image with a duration", agentPart(`{"type":"image","source":{"media_type":"image/png","path":"p","duration_sec":1}}`), ""},
		{"a sound", agentPart(`{"type":"audio","source":{"media_type":"Audio/X-WAV","path":"p","duration_sec":"1.5"}}`), "H"},
		{"a sound of no length", agentPart(`{"type":"audio","source":{"media_type":"audio/mp3","path":"p","duration_sec":-1}}`), ""},
		{"a sound of another type", agentPart(`{"type":"audio","source":{"media_type":"audio/midi","path":"p"}}`), ""},
		{"a part of another type", agentPart(`{"type":"video","source":{}}`), ""},
		{"a part that is none", agentPart(`1`), ""},
		{"a message that is none", []string{"steps.0.message", "1"}, ""},

		// Subagents.
		{"a subagent", []string{"subagent_trajectories", `[{"trajectory_id":"t","agent":{"name":"a","version":"1"},"steps":[{"step_id":1,"source":"agent","message":""}]}]`}, "GH"},
		{"a subagent without an id", []string{"subagent_trajectories", `[{"agent":{"name":"a","version":"1"},"steps":[{"step_id":1,"source":"agent","message":""}]}]`}, "G"},
		{"two subagents of one id", []string{"subagent_trajectories", `[{"trajectory_id":"t","agent":{"name":"a","version":"1"},"steps":[{"step_id":1,"source":"agent","message":""}]},` +
			`{"trajectory_id":"t","agent":{"name":"a","version":"1"},"steps":[{"step_id":1,"source":"agent","message":""}]}]`}, "G"},
		{"a subagent that is no object", []string{"subagent_trajectories", "[1]"}, ""},
		{"a reference by id", []string{"steps.1.observation.results.0.subagent_trajectory_ref", `[{"trajectory_id":"t"}]`}, "GH"},
		{"a reference by path", []string{"steps.1.observation.results.0.subagent_trajectory_ref", `[{"trajectory_path":"t.json","session_id":"s","extra":{}}]`}, "GH"},
		{"a reference by session", []string{"steps.1.observation.results.0.subagent_trajectory_ref", `[{"session_id":"s"}]`}, "G"},
		{"a reference with another key", []string{"steps.1.observation.results.0.subagent_trajectory_ref", `[{"trajectory_id":"t","more":1}]`}, "G"},
		{"a reference that is none", []string{"steps.1.observation.results.0.subagent_trajectory_ref", `["t"]`}, ""},
		{"no references", []string{"steps.1.observation.results.0.subagent_trajectory_ref", "[]"}, "GHI"},
	} {
		doc := set(t, base, tt.changes...)
		got := ""
		for _, p := range []Profile{Gym, Harbor} {
			list := Problems(doc, p)
			if len(list) == 0 {
				got += p.String()[:1]
			}
			for _, one := range list {
				if one.Reason == "" || strings.HasPrefix(one.Path, ".") {
					t.Errorf("%s, %s: %+v", tt.name, p, one)
				}
			}
		}
		got = strings.Replace(got, "N", "G", 1)
		if Importable(doc) == nil {
			got += "I"
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q; %v, %v, %v", tt.name, got, tt.want, Problems(doc, Gym), Problems(doc, Harbor), Importable(doc))
		}
	}
}

// TestPaths looks at where problems are said to be.
func TestPaths(t *testing.T) {
	doc := set(t, parse(t, document), "agent.name", "-", "steps.1.step_id", "7", "steps.1.observation.results.0.source_call_id", `"d"`, "steps.2.message", `[{"type":"x"}]`, "more", "1")
	var got []string
	for _, one := range Problems(doc, Gym) {
		got = append(got, one.Path)
	}
	want := "agent.name steps[2].message[0].type more steps[1].step_id steps[1].observation.results[0].source_call_id"
	if s := strings.Join(got, " "); s != want {
		t.Errorf("%s\nwant %s", s, want)
	}
	if list := Problems(value.List(), Harbor); len(list) != 1 || list[0].Path != "" {
		t.Errorf("%v", list)
	}
}
