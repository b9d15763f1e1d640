package atif

import (
	"testing"
)

// TestView shows the case: what is copied does not count, nor does the subagent count for its parent.
func TestView(t *testing.T) {
	for _, name := range []string{"trajectory.json", "future.json"} {
		d := View(parse(t, string(readCase(t, name))))
		if len(d.Steps) != 6 || d.Agent != "demo" || d.Session != "s" || d.Malformed {
			t.Errorf("%+v", d)
		}
		n := func(t Tokens) string {
			return t.Prompt.String() + "/" + t.Completion.String() + "/" + t.Cached.String()
		}
		if n(d.Own) != "220/30/60" || n(d.Subagent) != "7/1/0" {
			t.Errorf("%s %s", n(d.Own), n(d.Subagent))
		}
		if !d.Steps[1].Copied || d.Steps[2].Model != "m" || d.Steps[0].Model != "" {
			t.Errorf("%+v", d.Steps)
		}
		if s := d.Steps[2].Message; len(s) != 2 || s[1].Kind != "image" || s[1].Path != "images/x.png" || s[1].MediaType != "image/png" {
			t.Errorf("%+v", s)
		}
		s := d.Steps[3]
		if len(s.Calls) != 1 || len(s.Calls[0].Results) != 1 || len(s.Loose) != 2 || s.Loose[0].CallID != "c9" || s.Calls[0].Arguments.Get("n").String() != "9007199254740993" {
			t.Errorf("%+v", s)
		}
		if sub, file := d.Find(s.Calls[0].Results[0].Subagents[0]); sub == nil || sub.Agent != "h" || file != "" {
			t.Errorf("%+v %s", sub, file)
		}
		if s := d.Steps[4]; len(s.Loose) != 1 || s.Loose[0].Content[0].Text != "the summary text" {
			t.Errorf("%+v", s)
		}
		if models := d.Models(); len(models) != 1 || models[0].Model != "m" || models[0].Steps != 2 || n(models[0].Tokens) != "220/30/60" || models[0].Priced {
			t.Errorf("%+v", models)
		}
		if want := map[string]int{"trajectory.json": 0, "future.json": 1}[name]; len(d.Unknown) != want {
			t.Errorf("%v", d.Unknown)
		}
	}
	if sub, file := (&Document{}).Find(parse(t, `{"trajectory_id":"x","trajectory_path":"p"}`)); sub != nil || file != "p" {
		t.Errorf("%v %s", sub, file)
	}
}

// TestModelUsage sums costs and tokens up by model.
func TestModelUsage(t *testing.T) {
	d := View(parse(t, `{"agent":{"name":"a","version":"1","model_name":"m"},"steps":[
		{"source":"agent","metrics":{"prompt_tokens":"5","completion_tokens":2.0,"cost_usd":0.25}},
		{"source":"agent","metrics":{"prompt_tokens":0}},
		{"source":"agent","model_name":"n","metrics":{"prompt_tokens":1}},
		{"source":"agent","is_copied_context":"yes","metrics":{"prompt_tokens":100}},
		{"source":"agent"},7],
		"subagent_trajectories":[{"steps":[{"source":"agent","metrics":{"prompt_tokens":50}},{"source":"agent","model_name":"m","metrics":{"prompt_tokens":1,"cost_usd":"0.5"}}]},1]}`))
	models := d.Models()
	if len(models) != 2 || !d.Malformed {
		t.Fatalf("%+v", models)
	}
	if m := models[0]; m.Model != "m" || m.Tokens.Prompt.String() != "6" || m.Tokens.Completion.String() != "2" || m.Cost != 0.75 || !m.Priced || m.Steps != 3 {
		t.Errorf("%+v", m)
	}
	if m := models[1]; m.Model != "n" || m.Priced || m.Tokens.Prompt.String() != "1" {
		t.Errorf("%+v", m)
	}
}
