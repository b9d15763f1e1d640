package atif

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/value"
)

// An ImportError says why a document cannot be turned back into a response.
type ImportError struct{ Problem }

// Error gives path and reason.
func (e *ImportError) Error() string {
	if e.Path == "" {
		return e.Reason
	}
	return e.Path + ": " + e.Reason
}

func refusedImport(path, reason string, args ...any) error {
	return &ImportError{Problem{path, fmt.Sprintf(reason, args...)}}
}

// An Imported document is the response that a verifier judges (spec atif §6).
type Imported struct {
	Response value.Value // without the fields of the request
	Hash     string      // content hash, hexadecimal
	Identity string      // what must not repeat in a batch: the trimmed trajectory id, else the content hash
}

// Import turns a document of the strict form back into a response. Fields that the response takes over from the
// request come from params, the `responses_create_params` of the input row; absent ones are left out. The error is an
// [*ImportError].
func Import(v, params value.Value) (*Imported, error) {
	if problems := Problems(v, Gym); len(problems) > 0 {
		return nil, &ImportError{problems[0]}
	}
	if err := importable(v); err != nil {
		return nil, err
	}
	usage, err := usageOf(v)
	if err != nil {
		return nil, err
	}
	im := &Imported{Hash: ContentHash(v)}
	id, _ := v.Get("trajectory_id").Text()
	seed := id
	if im.Identity = strings.TrimSpace(id); im.Identity == "" {
		im.Identity = im.Hash
		seed = "content:" + im.Hash
	}
	im.Response = response(v, params, seed, usage)
	return im, nil
}

// Importable tells why a document cannot be imported; nil if it can.
func Importable(v value.Value) error {
	_, err := Import(v, value.Null)
	return err
}

// importable looks for what the schema lets pass and an import cannot hold.
func importable(v value.Value) error {
	if !v.Get("continued_trajectory_ref").IsNull() {
		return refusedImport("continued_trajectory_ref", "the document goes on in another one")
	}
	if v.Get("subagent_trajectories").Len() > 0 {
		return refusedImport("subagent_trajectories", "has trajectories of subagents")
	}
	ids := map[string]bool{}
	agents, models, unknown := 0, map[string]bool{}, false
	for i, step := range v.Get("steps").Items() {
		path := "steps[" + strconv.Itoa(i) + "]"
		agent := step.Get("source").Is("agent")
		if copied, _ := step.Get("is_copied_context").Truth(); copied {
			return refusedImport(path+".is_copied_context", "the step is copied context")
		}
		if err := textParts(path+".message", step.Get("message")); err != nil {
			return err
		}
		if n, ok := step.Get("llm_call_count").Whole(); ok && n.Cmp(integer.Of(1)) > 0 {
			return refusedImport(path+".llm_call_count", "the step stands for several model calls")
		}
		metrics := step.Get("metrics")
		for _, name := range [...]string{"prompt_token_ids", "completion_token_ids", "logprobs"} {
			if !metrics.Get(name).IsNull() {
				return refusedImport(path+".metrics."+name, "token ids and log probabilities are not imported")
			}
		}
		if !agent {
			if agents > 0 {
				return refusedImport(path, "a step of the %s follows one of the agent", sourceOf(step))
			}
			if !step.Get("observation").IsNull() {
				return refusedImport(path+".observation", "only steps of the agent have observations")
			}
			continue
		}
		agents++
		if model, ok := step.Get("model_name").Text(); ok {
			models[model] = true
		} else if model, ok := v.Get("agent").Get("model_name").Text(); ok {
			models[model] = true
		} else {
			unknown = true
		}
		if err := importStep(path, step, ids); err != nil {
			return err
		}
	}
	switch {
	case agents == 0:
		return refusedImport("steps", "no step is the agent's")
	case len(models) > 1:
		return refusedImport("steps", "several models were used")
	case len(models) == 1 && unknown:
		return refusedImport("steps", "the model of some steps is not known")
	}
	if at, ok := lastStamp(v); ok {
		if s, _ := ParseStamp(at); !s.Zone {
			return refusedImport("steps", "the last time stamp of the agent has no zone")
		}
	}
	return nil
}

func sourceOf(step value.Value) string {
	s, _ := step.Get("source").Text()
	return s
}

// importStep looks at the tool calls and the results of an agent's step.
func importStep(path string, step value.Value, ids map[string]bool) error {
	message, calls := step.Get("message"), step.Get("tool_calls").Items()
	if message.Kind() == jsonscan.Array && message.Len() == 0 {
		return refusedImport(path+".message", "is an empty list")
	}
	if len(calls) > 0 && !message.Is("") {
		return refusedImport(path+".message", "the step calls tools and says something")
	}
	open := map[string]int{}
	for k, call := range calls {
		where := path + ".tool_calls[" + strconv.Itoa(k) + "]"
		id, _ := call.Get("tool_call_id").Text()
		name, _ := call.Get("function_name").Text()
		switch {
		case strings.TrimSpace(id) == "":
			return refusedImport(where+".tool_call_id", "is blank")
		case ids[id]:
			return refusedImport(where+".tool_call_id", "is that of another tool call")
		case strings.TrimSpace(name) == "":
			return refusedImport(where+".function_name", "is blank")
		}
		ids[id] = true
		open[id] = 0
	}
	for k, result := range step.Get("observation").Get("results").Items() {
		where := path + ".observation.results[" + strconv.Itoa(k) + "]"
		id, ok := result.Get("source_call_id").Text()
		if !ok {
			return refusedImport(where+".source_call_id", "is missing")
		}
		if open[id]++; open[id] > 1 {
			return refusedImport(where+".source_call_id", "the tool call has another result")
		}
		if result.Get("subagent_trajectory_ref").Len() > 0 {
			return refusedImport(where+".subagent_trajectory_ref", "refers to a subagent")
		}
		content := result.Get("content")
		_, direct := toolResult(result)
		switch {
		case content.IsNull() && !direct:
			return refusedImport(where, "has neither content nor a tool result")
		case !content.IsNull() && direct:
			return refusedImport(where, "has both content and a tool result")
		case content.Kind() == jsonscan.Array && content.Len() == 0:
			return refusedImport(where+".content", "is an empty list")
		}
		if err := textParts(where+".content", content); err != nil {
			return err
		}
	}
	for k, call := range calls {
		id, _ := call.Get("tool_call_id").Text()
		if open[id] == 0 {
			return refusedImport(path+".tool_calls["+strconv.Itoa(k)+"]", "has no result")
		}
	}
	return nil
}

// toolResult is a result that is not text; a null counts as one.
func toolResult(result value.Value) (value.Value, bool) {
	v := result.Get("extra").Get("tool_result")
	return v, v.Exists()
}

// textParts refuses parts that are not text.
func textParts(path string, v value.Value) error {
	if v.Kind() != jsonscan.Array {
		return nil
	}
	for i, part := range v.Items() {
		if !part.Get("type").Is("text") {
			return refusedImport(path+"["+strconv.Itoa(i)+"]", "is no text")
		}
	}
	return nil
}

// lastStamp is the last time stamp of the agent.
func lastStamp(v value.Value) (stamp string, ok bool) {
	for _, step := range v.Get("steps").Items() {
		if at, is := step.Get("timestamp").Text(); is && step.Get("source").Is("agent") {
			stamp, ok = at, true
		}
	}
	return stamp, ok
}

// response puts the output items together.
func response(v, params value.Value, seed string, usage value.Value) value.Value {
	id := func(parts ...string) value.Value {
		sum := sha256.Sum256([]byte(strings.Join(append([]string{seed}, parts...), "\x00")))
		return value.Text("atif_" + hex.EncodeToString(sum[:])[:20])
	}
	var items []value.Value
	parallel, model := false, "unknown"
	for _, step := range v.Get("steps").Items() {
		if !step.Get("source").Is("agent") {
			continue
		}
		if name, ok := step.Get("model_name").Text(); ok {
			model = name
		} else if name, ok := v.Get("agent").Get("model_name").Text(); ok {
			model = name
		}
		n, _ := step.Get("step_id").Whole()
		number := n.String()
		if text, ok := step.Get("reasoning_content").Text(); ok {
			items = append(items, value.Object(
				value.M("id", id("reasoning", number)), value.M("summary", value.List(value.Object(value.M("text", value.Text(text)), value.M("type", value.Text("summary_text"))))),
				value.M("type", value.Text("reasoning"))))
		}
		calls := step.Get("tool_calls").Items()
		parallel = parallel || len(calls) > 1
		if texts := textsOf(step.Get("message")); len(calls) == 0 || len(texts) > 0 && !(len(texts) == 1 && texts[0] == "") {
			parts := []value.Value{}
			for _, text := range texts {
				parts = append(parts, value.Object(value.M("annotations", value.List()), value.M("text", value.Text(text)), value.M("type", value.Text("output_text"))))
			}
			items = append(items, value.Object(
				value.M("id", id("message", number)), value.M("content", value.List(parts...)), value.M("role", value.Text("assistant")),
				value.M("status", value.Text("completed")), value.M("type", value.Text("message"))))
		}
		for _, call := range calls {
			callID, _ := call.Get("tool_call_id").Text()
			items = append(items, value.Object(
				value.M("arguments", value.Text(string(call.Get("arguments").Append(nil, value.Canonical)))),
				value.M("call_id", value.Text(callID)), value.M("name", call.Get("function_name")), value.M("type", value.Text("function_call")),
				value.M("id", id("function-call", callID)), value.M("status", value.Text("completed"))))
		}
		for k, result := range step.Get("observation").Get("results").Items() {
			callID, _ := result.Get("source_call_id").Text()
			items = append(items, value.Object(
				value.M("call_id", value.Text(callID)), value.M("output", outputOf(result)), value.M("type", value.Text("function_call_output")),
				value.M("id", id("function-output", callID, strconv.Itoa(k))), value.M("status", value.Text("completed"))))
		}
	}
	created := value.Float(0)
	if at, ok := lastStamp(v); ok {
		if s, ok := ParseStamp(at); ok {
			created = value.Float(s.Unix())
		}
	}
	members := []value.Member{
		value.M("id", id("response")), value.M("created_at", created), value.M("model", value.Text(model)),
		value.M("object", value.Text("response")), value.M("output", value.List(items...)),
		value.M("parallel_tool_calls", value.Bool(parallel)), value.M("status", value.Text("completed")),
	}
	if usage.Exists() {
		members = append(members, value.M("usage", usage))
	}
	for _, name := range requestFields {
		if p := params.Get(name); p.Exists() {
			members = append(members, value.M(name, p))
		}
	}
	return value.Object(members...)
}

// requestFields are what a response repeats of its request.
var requestFields = [...]string{"instructions", "metadata", "temperature", "tool_choice", "tools", "top_p", "background", "max_output_tokens", "max_tool_calls", "previous_response_id", "prompt", "reasoning", "service_tier", "text", "top_logprobs", "truncation", "user"}

// textsOf are the texts of a message or a content: one of a string, one of each part of a list.
func textsOf(v value.Value) []string {
	if s, ok := v.Text(); ok {
		return []string{s}
	}
	var texts []string
	for _, part := range v.Items() {
		s, _ := part.Get("text").Text()
		texts = append(texts, s)
	}
	return texts
}

func outputOf(result value.Value) value.Value {
	if v, direct := toolResult(result); direct {
		if s, ok := v.Text(); ok {
			return value.Text(s)
		}
		return value.Text(string(v.Append(nil, value.Canonical)))
	}
	content := result.Get("content")
	if s, ok := content.Text(); ok {
		return value.Text(s)
	}
	parts := []value.Value{}
	for _, text := range textsOf(content) {
		parts = append(parts, value.Object(value.M("text", value.Text(text)), value.M("type", value.Text("input_text"))))
	}
	return value.List(parts...)
}
