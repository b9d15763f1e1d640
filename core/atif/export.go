package atif

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/trajectory"
	"github.com/rollscope/rollscope/core/value"
)

// An ExportError says which rule keeps a rollout from being exported.
type ExportError struct{ Rule string }

// Error gives the rule.
func (e *ExportError) Error() string { return e.Rule }

func blocked(rule string, args ...any) error { return &ExportError{fmt.Sprintf(rule, args...)} }

// Options say what an export is called.
type Options struct {
	Session      string // session id, not blank
	AgentVersion string // not blank
	Exporter     string // version of the exporting package, as the document names it
}

// ExporterVersion is the version of the reference package whose documents are written here.
const ExporterVersion = "0.7.0"

// An Exporter makes documents of rows, one after the other. The zero Exporter is ready.
type Exporter struct {
	Options Options

	scanner jsonscan.Scanner
	reader  trajectory.Reader
	builder trajectory.Builder
}

// A Source is the identity of an exported row.
type Source struct {
	Task, Rollout integer.Int
	Agent         string

	named bool // the agent is known
}

// Row makes the document of one row (spec atif §5.2). The error is an [*ExportError] or a [*SyntaxError].
func (x *Exporter) Row(line []byte) (doc value.Value, from Source, err error) {
	row, err := readRow(line)
	if err != nil {
		return doc, from, err
	}
	if from, err = sourceOfRow(row); err != nil {
		return doc, from, err
	}
	doc, err = x.convert(line, row, from)
	return doc, from, err
}

func readRow(line []byte) (value.Value, error) {
	row, err := Strict(line)
	if err == nil && !row.IsObject() {
		err = blocked("the row is no object")
	}
	return row, err
}

// convert makes the document of a row that has been read.
func (x *Exporter) convert(line []byte, row value.Value, from Source) (doc value.Value, err error) {
	saved := row.Get("ng_trajectory")
	if err := preflight(saved); err != nil {
		return doc, err
	}
	scanned, err := x.scanner.Scan(line)
	if err != nil {
		return doc, blocked("%s", err)
	}
	span := scanned.Get("ng_trajectory")
	if span.IsNull() {
		return doc, blocked("there is no trajectory")
	}
	if _, err := x.reader.Read(span); err != nil {
		return doc, blocked("the trajectory is not valid: %s", err)
	}
	if err := x.builder.CheckStrict(span); err != nil {
		return doc, blocked("the trajectory is not valid: %s", err)
	}
	c := conversion{row: row, saved: saved, from: from, o: x.Options}
	return c.document()
}

// sourceOfRow reads indices and agent of a row. The agent may be missing.
func sourceOfRow(row value.Value) (s Source, err error) {
	for _, f := range [...]struct {
		name string
		to   *integer.Int
	}{{"_ng_task_index", &s.Task}, {"_ng_rollout_index", &s.Rollout}} {
		n, ok := row.Get(f.name).Whole()
		if !ok || n.Sign() < 0 {
			return s, blocked("%s is %s, not a whole number from 0 on", f.name, row.Get(f.name).OrNull())
		}
		*f.to = n
	}
	label := row.Get("_ng_environment_server")
	if name := row.Get("agent_ref").Get("name"); !name.IsNull() {
		label = name
	}
	s.Agent, s.named = label.Text()
	return s, nil
}

// agent looks at what names the agent of a row.
func (c *conversion) agent() error {
	ref := c.row.Get("agent_ref")
	for _, m := range ref.Members() {
		if m.Key != "type" && m.Key != "name" {
			return blocked("agent_ref has the key %s", m.Key)
		}
	}
	switch kind := ref.Get("type"); {
	case !ref.IsNull() && !ref.IsObject():
		return blocked("agent_ref is no object")
	case !kind.IsNull() && !kind.Is("responses_api_agents"):
		return blocked("agent_ref is of another type than responses_api_agents")
	case !c.from.named || blank(c.from.Agent):
		return blocked("the row names no agent")
	}
	return nil
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

// itemKeys are the keys that items of a conversation may have, by their type.
var itemKeys = map[string][]string{
	"assistant":            {"id", "content", "role", "status", "type", "phase"},
	"message":              {"content", "role", "status", "type", "phase"},
	"reasoning":            {"id", "summary", "type", "encrypted_content", "content"},
	"function_call":        {"arguments", "call_id", "name", "type", "id", "status", "namespace"},
	"function_call_output": {"call_id", "output", "type", "id", "status"},
}

// partKeysOf are the keys that parts of a content may have, by their type.
var partKeysOf = map[string][]string{
	"input_text":     {"type", "text"},
	"output_text":    {"type", "text", "annotations", "logprobs"},
	"summary_text":   {"type", "text"},
	"reasoning_text": {"type", "text"},
}

// preflight looks at the trajectory as it was written for what an exported document cannot hold.
func preflight(saved value.Value) error {
	for i, in := range saved.Get("invocations").Items() {
		if err := items(fmt.Sprintf("invocation %d", i), in.Get("conversation")); err != nil {
			return err
		}
	}
	for i, turn := range saved.Get("turns").Items() {
		for _, name := range [...]string{"question", "answer", "reasoning_content"} {
			if err := items(fmt.Sprintf("%s of turn %d of the list", name, i), turn.Get(name)); err != nil {
				return err
			}
		}
	}
	var refs []value.Value
	for _, name := range [...]string{"invocations", "turns"} {
		for _, owner := range saved.Get(name).Items() {
			for _, ref := range owner.Get("model_calls").Items() {
				refs = append(refs, ref.Get("model_ref"))
			}
		}
	}
	for _, call := range saved.Get("model_calls").Items() {
		refs = append(refs, call.Get("response_metadata").Get("model_ref"))
	}
	for _, ref := range refs {
		for _, m := range ref.Members() {
			if m.Key != "type" && m.Key != "name" {
				return blocked("a reference to a model server has the key %s", m.Key)
			}
		}
	}
	return nil
}

func items(where string, list value.Value) error {
	for i, item := range list.Items() {
		if !item.IsObject() {
			continue
		}
		at := fmt.Sprintf("item %d of %s", i, where)
		kind, _ := item.Get("type").Text()
		key := kind
		if kind == "message" && item.Get("role").Is("assistant") {
			key = "assistant"
		}
		allowed, known := itemKeys[key]
		if !known || kind == "assistant" {
			return blocked("%s is of no type that can be exported", at)
		}
		for _, m := range item.Members() {
			if !slices.Contains(allowed, m.Key) {
				return blocked("%s has the key %s", at, m.Key)
			}
		}
		for _, name := range [...]string{"phase", "namespace"} {
			if !item.Get(name).IsNull() {
				return blocked("%s has a %s", at, name)
			}
		}
		if key == "message" && item.Get("status").Exists() && item.Get("content").Kind() != jsonscan.Array {
			return blocked("%s has a status without a list as its content", at)
		}
		for _, name := range [...]string{"content", "summary", "output"} {
			for _, part := range item.Get(name).Items() {
				if !part.IsObject() {
					continue
				}
				tag, _ := part.Get("type").Text()
				if blank(tag) {
					return blocked("%s has a part without a type", at)
				}
				allowed, known := partKeysOf[tag]
				if !known {
					return blocked("%s has a part of the type %s", at, tag)
				}
				for _, m := range part.Members() {
					if !slices.Contains(allowed, m.Key) {
						return blocked("%s has a part with the key %s", at, m.Key)
					}
				}
			}
		}
	}
	return nil
}

// conversion makes the document of one row whose trajectory is valid.
type conversion struct {
	row, saved value.Value
	from       Source
	o          Options

	invocation value.Value
	items      []value.Value // the conversation in its normal form
	groups     []group
	steps      []value.Value // of the prefix
}

// document follows the rules of a row in their order.
func (c *conversion) document() (doc value.Value, err error) {
	if n := c.saved.Get("gaps").Len(); n > 0 {
		code, _ := c.saved.Get("gaps").At(0).Get("code").Text()
		return doc, blocked("the trajectory has gaps, the first is %s", code)
	}
	task, _ := c.saved.Get("task_id").Text()
	repeat, _ := c.saved.Get("rollout_id").Text()
	if blank(task) || blank(repeat) {
		return doc, blocked("task id or rollout id is blank")
	}
	list := c.saved.Get("invocations").Items()
	if len(list) != 1 {
		return doc, blocked("there are %d invocations, not one", len(list))
	}
	c.invocation = list[0]
	id, _ := c.invocation.Get("invocation_id").Text()
	switch {
	case blank(id):
		return doc, blocked("the invocation has a blank id")
	case !c.invocation.Get("parent_invocation_id").IsNull() || !c.invocation.Get("spawned_by_tool_call_id").IsNull():
		return doc, blocked("the invocation has a parent")
	case !c.invocation.Get("status").Is("completed"):
		return doc, blocked("the invocation is not completed")
	case !c.invocation.Get("error_type").IsNull():
		return doc, blocked("the invocation has an error")
	}
	if err := c.agent(); err != nil {
		return doc, err
	}
	if err := c.walk(); err != nil {
		return doc, err
	}
	if err := c.turns(); err != nil {
		return doc, err
	}
	return c.write(task, repeat, id), nil
}

// write puts the document together.
func (c *conversion) write(task, repeat, invocation string) value.Value {
	var steps []value.Value
	number := func(members []value.Member) {
		steps = append(steps, value.Object(append([]value.Member{value.M("step_id", value.Int(int64(len(steps))+1))}, members...)...))
	}
	for _, s := range c.steps {
		number(s.Members())
	}
	model, same := "", true
	sums, complete := [3]integer.Int{}, [3]bool{true, true, true}
	for i := range c.groups {
		g := &c.groups[i]
		number(g.step())
		name, known := g.call.meta("model").Text()
		same = same && known && (i == 0 || name == model)
		model = name
		counts := g.call.counts()
		for k, n := range counts[:3] {
			complete[k] = complete[k] && n.known && g.call.metered()
			sums[k] = sums[k].Add(n.n)
		}
	}
	agent := []value.Member{value.M("name", value.Text(c.from.Agent)), value.M("version", value.Text(c.o.AgentVersion))}
	if same && len(c.groups) > 0 {
		agent = append(agent, value.M("model_name", value.Text(model)))
	}
	final := []value.Member{}
	for k, name := range [...]string{"total_prompt_tokens", "total_completion_tokens", "total_cached_tokens"} {
		if complete[k] {
			final = append(final, value.M(name, value.Whole(sums[k])))
		}
	}
	final = append(final, value.M("total_steps", value.Int(int64(len(steps)))))
	return value.Object(
		value.M("schema_version", value.Text(GymVersion)), value.M("session_id", value.Text(c.o.Session)),
		value.M("trajectory_id", value.Text(c.o.Session+":"+c.from.Task.String()+":"+c.from.Rollout.String())),
		value.M("agent", value.Object(agent...)), value.M("steps", value.List(steps...)),
		value.M("final_metrics", value.Object(final...)),
		value.M("extra", value.Object(value.M("nemo_gym", c.provenance(task, repeat, invocation)))))
}

func (c *conversion) provenance(task, repeat, invocation string) value.Value {
	source := []value.Member{
		value.M("format", value.Text("ng_trajectory")), value.M("schema_version", value.Text("1.0")),
		value.M("task_id", value.Text(task)), value.M("rollout_id", value.Text(repeat)),
		value.M("task_index", value.Whole(c.from.Task)), value.M("rollout_index", value.Whole(c.from.Rollout)),
		value.M("invocation_id", value.Text(invocation)), value.M("invocation_status", value.Text("completed")),
	}
	if d, ok := c.invocation.Get("duration_ms").Number(); ok {
		source = append(source, value.M("invocation_duration_ms", value.Float(d)))
	}
	exporter := c.o.Exporter
	if exporter == "" {
		exporter = ExporterVersion
	}
	members := []value.Member{
		value.M("exporter", value.Object(value.M("name", value.Text("nemo-gym")), value.M("version", value.Text(exporter)))),
		value.M("source", value.Object(source...)),
		value.M("conversion", value.Object(value.M("profile", value.Text("ng-trajectory-to-atif-v1")), value.M("status", value.Text("complete")))),
	}
	used := map[int]bool{}
	for i := range c.groups {
		used[c.groups[i].call.index] = true
	}
	surplus := []value.Value{}
	for i, call := range c.saved.Get("model_calls").Items() {
		if !used[i] {
			surplus = append(surplus, bareCall(call))
		}
	}
	if len(surplus) > 0 {
		members = append(members, value.M("surplus_model_calls", value.List(surplus...)))
	}
	return value.Object(members...)
}

// Text is the file of a document: two spaces of indentation, and one line end.
func Text(doc value.Value) []byte { return append(doc.AppendPretty(nil, value.Row), '\n') }

// FileName is the name of the file of a row.
func (s Source) FileName() string { return s.Task.String() + "-" + s.Rollout.String() + ".json" }

// ordinal names a position for people.
func ordinal(i int) string { return strconv.Itoa(i + 1) }
