package atif

import (
	"strings"

	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/value"
)

// A Document is a trajectory for display, of whatever version, as far as it is known. Texts are what the file has;
// nothing of it is checked.
type Document struct {
	Version, Session, ID string
	Agent, AgentVersion  string
	Model                string
	Notes                string
	Steps                []Step
	Subagents            []Document
	Continued            string // path of the document that goes on from here

	// What the steps themselves give, without copied context; subagents are counted apart.
	Own       Tokens
	Subagent  Tokens
	Declared  value.Value // final_metrics: what the file says
	Unknown   []string    // keys of the document that are not known
	Malformed bool        // steps is no list of objects throughout
}

// Tokens are sums over steps that know them.
type Tokens struct{ Prompt, Completion, Cached, Reasoning integer.Int }

// Add gives the sums of both.
func (t Tokens) Add(u Tokens) Tokens {
	return Tokens{t.Prompt.Add(u.Prompt), t.Completion.Add(u.Completion), t.Cached.Add(u.Cached), t.Reasoning.Add(u.Reasoning)}
}

// A Step is one step. Number is what the file says, Position where it stands, from 1.
type Step struct {
	Position  int
	Number    value.Value
	Source    string
	Message   []Part
	Reasoning string
	Stamp     string
	Model     string // its own, or else the agent's
	Calls     []ToolCall
	Loose     []Result // results that answer no call of the step
	Copied    bool     // context taken over from elsewhere
	CallCount value.Value
	Metrics   value.Value
	Extra     value.Value
}

// A ToolCall is a tool call with its results.
type ToolCall struct {
	ID, Name  string
	Arguments value.Value
	Results   []Result
}

// A Result is what came back from a tool, or what a step observed.
type Result struct {
	CallID    string
	Content   []Part
	Subagents []value.Value // references
	Direct    value.Value   // extra.tool_result: a result that is no text
}

// A Part is a piece of a message: text, or a file of a media type.
type Part struct {
	Kind      string // text, image, audio, or what the file says
	Text      string
	MediaType string
	Path      string
}

// View gives a parsed document for display. Numbers that the file has as texts are taken for numbers.
func View(v value.Value) Document {
	text := func(v value.Value, name string) string {
		s, _ := v.Get(name).Text()
		return s
	}
	agent := v.Get("agent")
	d := Document{
		Version: text(v, "schema_version"), Session: text(v, "session_id"), ID: text(v, "trajectory_id"), Notes: text(v, "notes"),
		Agent: text(agent, "name"), AgentVersion: text(agent, "version"), Model: text(agent, "model_name"),
		Continued: text(v, "continued_trajectory_ref"), Declared: v.Get("final_metrics"),
	}
	for _, m := range v.Members() {
		known := false
		for i := range rootTable.fields {
			known = known || rootTable.fields[i].name == m.Key
		}
		if !known {
			d.Unknown = append(d.Unknown, m.Key)
		}
	}
	for i, step := range v.Get("steps").Items() {
		if !step.IsObject() {
			d.Malformed = true
			continue
		}
		s := stepOf(step, i, d.Model)
		if !s.Copied {
			d.Own = d.Own.Add(tokensOf(s.Metrics))
		}
		d.Steps = append(d.Steps, s)
	}
	for _, sub := range v.Get("subagent_trajectories").Items() {
		if !sub.IsObject() {
			continue
		}
		one := View(sub)
		d.Subagent = d.Subagent.Add(one.Own).Add(one.Subagent)
		d.Subagents = append(d.Subagents, one)
	}
	return d
}

// A ModelUsage is what the steps of one model took.
type ModelUsage struct {
	Model  string
	Steps  int // with metrics
	Tokens Tokens
	Cost   float64 // US dollars; of the steps that know theirs
	Priced bool    // every step with tokens knows its cost
}

// Models sums usage up by model, subagents included and copied context left out, in the order in which models appear.
// Steps without a model or without metrics do not count.
func (d *Document) Models() []ModelUsage {
	var list []ModelUsage
	at := map[string]int{}
	d.models(func(s *Step) {
		k, there := at[s.Model]
		if !there {
			k = len(list)
			at[s.Model] = k
			list = append(list, ModelUsage{Model: s.Model, Priced: true})
		}
		u, t := &list[k], tokensOf(s.Metrics)
		u.Steps++
		u.Tokens = u.Tokens.Add(t)
		j := judge{profile: Harbor}
		if cost, ok := j.real(s.Metrics.Get("cost_usd")); ok {
			u.Cost += cost
		} else if t.Prompt.Sign() != 0 || t.Completion.Sign() != 0 || t.Cached.Sign() != 0 {
			u.Priced = false
		}
	})
	return list
}

func (d *Document) models(each func(*Step)) {
	for i := range d.Steps {
		if s := &d.Steps[i]; !s.Copied && s.Model != "" && s.Metrics.IsObject() {
			each(s)
		}
	}
	for i := range d.Subagents {
		d.Subagents[i].models(each)
	}
}

// Find resolves a reference to a subagent: to a trajectory inside this document, else to the path of a file. It finds
// neither where the reference leads nowhere.
func (d *Document) Find(ref value.Value) (sub *Document, file string) {
	if id, ok := ref.Get("trajectory_id").Text(); ok {
		for i := range d.Subagents {
			if one := &d.Subagents[i]; one.ID == id {
				return one, ""
			}
		}
	}
	file, _ = ref.Get("trajectory_path").Text()
	return nil, file
}

func tokensOf(m value.Value) Tokens {
	j := judge{profile: Harbor}
	count := func(v value.Value) integer.Int {
		n, _ := j.whole(v)
		return n
	}
	t := Tokens{Prompt: count(m.Get("prompt_tokens")), Completion: count(m.Get("completion_tokens")), Cached: count(m.Get("cached_tokens"))}
	for _, v := range reasoningPlaces(m.Get("extra")) {
		if !v.IsNull() {
			t.Reasoning = count(v)
			break
		}
	}
	return t
}

func stepOf(v value.Value, position int, model string) Step {
	text := func(name string) string {
		s, _ := v.Get(name).Text()
		return s
	}
	s := Step{
		Position: position + 1, Number: v.Get("step_id"), Source: text("source"), Message: partsOf(v.Get("message")), Reasoning: text("reasoning_content"),
		Stamp: text("timestamp"), Model: text("model_name"), CallCount: v.Get("llm_call_count"), Metrics: v.Get("metrics"), Extra: v.Get("extra"),
		Copied: truth(v.Get("is_copied_context")),
	}
	if s.Model == "" && s.Source == "agent" {
		s.Model = model
	}
	at := map[string]int{}
	for _, call := range v.Get("tool_calls").Items() {
		id, _ := call.Get("tool_call_id").Text()
		name, _ := call.Get("function_name").Text()
		if _, there := at[id]; !there {
			at[id] = len(s.Calls)
		}
		s.Calls = append(s.Calls, ToolCall{ID: id, Name: name, Arguments: call.Get("arguments")})
	}
	for _, result := range v.Get("observation").Get("results").Items() {
		r := Result{Content: partsOf(result.Get("content")), Subagents: result.Get("subagent_trajectory_ref").Items(), Direct: result.Get("extra").Get("tool_result")}
		r.CallID, _ = result.Get("source_call_id").Text()
		if k, there := at[r.CallID]; there && r.CallID != "" {
			s.Calls[k].Results = append(s.Calls[k].Results, r)
			continue
		}
		s.Loose = append(s.Loose, r)
	}
	return s
}

// truth reads a bool by the lax rules; what is none is false.
func truth(v value.Value) bool {
	if b, ok := v.Truth(); ok {
		return b
	}
	s, _ := v.Text()
	switch strings.ToLower(s) {
	case "true", "t", "1", "yes", "y", "on":
		return true
	}
	f, ok := v.Number()
	return ok && f == 1
}

func partsOf(v value.Value) []Part {
	if s, ok := v.Text(); ok {
		return []Part{{Kind: "text", Text: s}}
	}
	if v.Kind() != jsonscan.Array {
		if v.IsNull() {
			return nil
		}
		return []Part{{Kind: "text", Text: string(v.Append(nil, value.Row))}}
	}
	var list []Part
	for _, part := range v.Items() {
		text := func(v value.Value, name string) string {
			s, _ := v.Get(name).Text()
			return s
		}
		p := Part{Kind: text(part, "type"), Text: text(part, "text"), MediaType: text(part.Get("source"), "media_type"), Path: text(part.Get("source"), "path")}
		if p.Kind == "" {
			p.Kind, p.Text = "text", string(part.Append(nil, value.Row))
		}
		list = append(list, p)
	}
	return list
}
