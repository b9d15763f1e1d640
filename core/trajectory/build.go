package trajectory

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/jsontext"
	"github.com/rollscope/rollscope/core/modelcall"
	"github.com/rollscope/rollscope/core/rollout"
	"github.com/rollscope/rollscope/core/trajectory/lax"
)

// The further classes of errors that stop an assembly, as gaps name them.
const (
	ClassAttribute = "AttributeError"
	ClassKey       = "KeyError"
)

// A BuildError says why no trajectory can be put together.
type BuildError struct{ Class, Reason string }

// Error gives class and reason.
func (e *BuildError) Error() string { return e.Class + ": " + e.Reason }

// An Origin is the input row of a rollout as far as its identity goes (spec trajectory §5).
type Origin struct {
	modelcall.Names
	TaskID, ProblemID, InstanceID jsonscan.Value
}

// OriginOf takes it from a row.
func OriginOf(row *rollout.Row) Origin {
	return Origin{modelcall.NamesOf(row), row.TaskID, row.ProblemID, row.InstanceID}
}

// IDs gives task id and rollout id. The error is a [*BuildError].
func (o *Origin) IDs() (task, repeat string, err error) {
	name := o.Task
	for _, v := range [...]jsonscan.Value{o.InstanceID, o.ProblemID, o.TaskID} {
		if !v.IsNull() {
			name = v
		}
	}
	if !name.Exists() {
		return "", "", &BuildError{ClassKey, "_ng_task_index is missing"}
	}
	key, bad := o.Key()
	if bad != nil {
		class := ClassValue
		if e, ok := bad.(*modelcall.BadKeyError); ok && e.Member == "_ng_attempt_index" && (o.Attempt.IsArray() || o.Attempt.IsObject()) {
			class = ClassType
		}
		return "", "", &BuildError{class, bad.Error()}
	}
	if key == "" {
		if !o.Task.Exists() || !o.Rollout.Exists() {
			return "", "", &BuildError{ClassKey, "an index is missing"}
		}
		key = string(o.AppendPair(nil))
	}
	return string(rollout.AppendText(nil, name)), key, nil
}

// Parts are what a trajectory is put together from, besides the calls that were given to the builder.
type Parts struct {
	Origin       Origin
	Producer     jsonscan.Value  // ng_trajectory that the agent sent; what is no object counts as absent
	Observations jsonscan.Value  // ng_agent_observations; null and absent are alike
	Joined       *Bundle         // the same, read and joined already
	Attachment   jsonscan.Value  // a saved ng_model_call_capture, where the calls come from it
	Gaps         []modelcall.Gap // of the attachment, where the calls were given
	Resolved     jsonscan.Value
}

// A Builder puts trajectories together. It reuses its memory; the zero Builder is ready.
type Builder struct {
	producer, observed, saved Reader
	scanner                   jsonscan.Scanner
	w                         writer

	arena   arena
	calls   []*draftCall
	failure *BuildError // of a call
	deep    bool        // some free value is

	record      Record
	invocations []draftInvocation
	turns       []draftTurn
	tools       []*draftTool
	gaps        []Gap
}

// Reset begins a new trajectory.
func (b *Builder) Reset() {
	b.arena.reset()
	b.calls, b.failure, b.deep = b.calls[:0], nil, false
	b.record = Record{}
	b.invocations, b.turns, b.tools, b.gaps = b.invocations[:0], b.turns[:0], b.tools[:0], b.gaps[:0]
	b.w.wide = false
}

// Wide tells whether a whole number was written that no row can hold.
func (b *Builder) Wide() bool { return b.w.wide }

// Add gives a captured call, in the order of the capture. Without payload nothing of what was sent and received is
// kept. The bytes of the call's line must stay until the trajectory is written.
func (b *Builder) Add(c *modelcall.Call, payload bool) {
	d, err := b.arena.captured(c, payload)
	if err != nil {
		if b.failure == nil {
			b.failure = err
		}
		return
	}
	if payload {
		b.deep = b.deep || exceeds(c.Request, freeLevels) || exceeds(c.Response, freeLevels)
	}
	b.calls = append(b.calls, d)
}

// A Built trajectory can be written, and asked: its record has ids, references, tokens and gaps; free values and
// conversations are only in the text. It lives until the builder is reset.
type Built struct {
	Record *Record

	b            *Builder
	task, repeat []byte
}

// ReadBundle reads a bundle, to be joined and given to Build. It is valid until the next ReadBundle.
func (b *Builder) ReadBundle(v jsonscan.Value) (*Bundle, error) { return b.observed.ReadBundle(v) }

// AppendBundle appends the written form of a bundle.
func (b *Builder) AppendBundle(dst []byte, bundle *Bundle) []byte { return b.w.bundle(dst, bundle) }

// Build puts the trajectory together (spec trajectory §5). The error is a [*BuildError].
func (b *Builder) Build(p *Parts) (*Built, error) {
	task, repeat, err := p.Origin.IDs()
	if err != nil {
		return nil, err
	}
	given := b.calls
	b.calls = nil
	b.record = Record{TaskID: lax.TextOf(task), RolloutID: lax.TextOf(repeat)}
	taskText, repeatText := jsontext.AppendQuoted(nil, task), jsontext.AppendQuoted(nil, repeat)

	produced := b.produce(p.Producer, taskText, repeatText)
	b.observe(p)
	slices.SortStableFunc(b.turns, func(x, y draftTurn) int {
		return cmp.Or(compareTimes(x.turn.Timestamp, y.turn.Timestamp),
			bytes.Compare(x.turn.InvocationID.Bytes, y.turn.InvocationID.Bytes), x.turn.No.Cmp(y.turn.No))
	})
	if b.failure != nil {
		return nil, b.failure
	}
	if !p.Attachment.Exists() {
		b.capture(given)
		for _, g := range p.Gaps {
			gap := Gap{Code: lax.TextOf(g.Code)}
			if g.Detail != "" {
				gap.Detail = lax.TextOf(g.Detail)
			}
			b.gaps = append(b.gaps, gap)
		}
	} else if err := b.attachment(p.Attachment); err != nil {
		return nil, err
	}
	if !p.Producer.IsObject() {
		if err := b.derive(p.Resolved); err != nil {
			return nil, err
		}
	}
	b.close(produced)
	if err := b.unique(); err != nil {
		return nil, err
	}
	if b.deep {
		return nil, &BuildError{ClassValue, "a value is nested too deep to be written"}
	}
	return b.finish(taskText, repeatText), nil
}

// compareTimes orders times; NaN has no place.
func compareTimes(x, y float64) int {
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

func (b *Builder) gap(code, detail string) {
	g := Gap{Code: lax.TextOf(code)}
	if detail != "" {
		g.Detail = lax.TextOf(detail)
	}
	b.gaps = append(b.gaps, g)
}

// produce takes over the trajectory that the agent sent, and tells whether its turns count as observed.
func (b *Builder) produce(v jsonscan.Value, task, repeat []byte) bool {
	if !v.IsObject() {
		return false
	}
	rec, deep, err := b.producer.readAny(v)
	if err != nil {
		b.gap(modelcall.GapBadProducer, err.(*Invalid).Class)
		return false
	}
	b.deep = b.deep || deep
	var differ []byte
	if string(rec.TaskID.Bytes) != string(b.record.TaskID.Bytes) {
		differ = append(differ, "task_id"...)
	}
	if string(rec.RolloutID.Bytes) != string(b.record.RolloutID.Bytes) {
		if len(differ) > 0 {
			differ = append(differ, ',')
		}
		differ = append(differ, "rollout_id"...)
	}
	if len(differ) > 0 {
		b.gap(modelcall.GapIdentity, string(differ))
	}
	b.gaps = append(b.gaps, rec.Gaps...)
	for i := range rec.Invocations {
		b.invocation(&rec.Invocations[i])
	}
	for i := range rec.Turns {
		start := len(b.arena.text)
		b.arena.text = b.w.turn(b.arena.text, &rec.Turns[i], task, repeat)
		b.turns = append(b.turns, draftTurn{turn: rec.Turns[i], text: b.arena.since(start)})
	}
	for i := range rec.Tools {
		d := &draftTool{tool: rec.Tools[i]}
		b.pieces(d.pieces[:], &toolTable, rec.Tools[i].At)
		b.tools = append(b.tools, d)
	}
	for i := range rec.Calls {
		b.calls = append(b.calls, b.draftOf(&rec.Calls[i]))
	}
	return true
}

func (b *Builder) invocation(in *Invocation) {
	start := len(b.arena.text)
	b.arena.text = b.w.invocation(b.arena.text, in)
	b.invocations = append(b.invocations, draftInvocation{*in, b.arena.since(start)})
}

// observe takes over what the agent observed.
func (b *Builder) observe(p *Parts) {
	bundle := p.Joined
	if bundle == nil {
		if p.Observations.IsNull() {
			return
		}
		read, deep, err := b.observed.readAnyBundle(p.Observations)
		if err != nil {
			b.gap(modelcall.GapBadBundle, err.(*Invalid).Class)
			return
		}
		bundle, b.deep = read, b.deep || deep
	}
	b.gaps = append(b.gaps, bundle.Gaps...)
	produced := make(map[string]bool, len(b.invocations))
	for i := range b.invocations {
		produced[string(b.invocations[i].invocation.ID.Bytes)] = true
	}
	for i := range bundle.Invocations {
		if in := &bundle.Invocations[i]; !produced[string(in.ID.Bytes)] {
			b.invocation(in)
		}
	}
	if !b.mergeTools(bundle) {
		b.gap(modelcall.GapBadBundle, ClassValidation)
	}
}

// toolKey is the identity of a tool call.
type toolKey struct{ invocation, call string }

// mergeTools lays the observed tools over those that are there; it is not ok when one would end before it starts.
func (b *Builder) mergeTools(bundle *Bundle) bool {
	if len(bundle.Tools) == 0 {
		return true
	}
	at := make(map[toolKey]int, len(b.tools)+len(bundle.Tools))
	for i, d := range b.tools {
		at[toolKey{string(d.tool.InvocationID.Bytes), string(d.tool.ID.Bytes)}] = i
	}
	outputs := b.outputs()
	for i := range bundle.Tools {
		t := &bundle.Tools[i]
		var pieces [toolOutput + 1][]byte
		b.pieces(pieces[:toolOutput], &observedToolTable, t.At)
		key := toolKey{string(t.InvocationID.Bytes), string(t.ID.Bytes)}
		place, there := at[key]
		next := &draftTool{pieces: pieces, tool: *t}
		if there {
			merged := *b.tools[place]
			merged.overlay(pieces[:], t)
			next = &merged
		}
		if !next.ordered() {
			return false
		}
		if output, ok := outputs[key]; ok {
			next.pieces[toolOutput] = output
		}
		if there {
			b.tools[place] = next
			continue
		}
		at[key] = len(b.tools)
		b.tools = append(b.tools, next)
	}
	return true
}

// outputs collects what the conversations hold as the results of tool calls.
func (b *Builder) outputs() map[toolKey][]byte {
	found := map[toolKey][]byte{}
	for i := range b.invocations {
		in := &b.invocations[i].invocation
		e := in.Conversation.Elements()
		for e.Next() {
			if b.w.kindOf(e.Value) != functionCallOutput {
				continue
			}
			key := toolKey{string(in.ID.Bytes), e.Value.Get("call_id").Text()}
			found[key] = b.w.shape(nil, &functionCallOutput.fields[functionOutput].shape, e.Value.Get("output"))
		}
	}
	return found
}

// functionOutput is the place of `output` in its table.
const functionOutput = 1

// capture lays the captured calls over those of the producer and adds the others.
func (b *Builder) capture(list []*draftCall) {
	unused := map[string][]*draftCall{}
	for _, d := range b.calls {
		if id := string(d.call.ID.Bytes); d.call.ID.Set {
			unused[id] = append(unused[id], d)
		}
	}
	for _, d := range list {
		if id := string(d.call.ID.Bytes); d.call.ID.Set && len(unused[id]) > 0 {
			unused[id][0].overlay(d)
			unused[id] = unused[id][1:]
			continue
		}
		b.calls = append(b.calls, d)
	}
}

// derive makes a turn of every answered call that an invocation owns (spec trajectory §6).
func (b *Builder) derive(resolved jsonscan.Value) *BuildError {
	byID, byResponse := map[string]int{}, map[string]int{}
	for i := range b.invocations {
		for _, r := range b.invocations[i].invocation.Refs {
			if !r.ModelCallID.Empty() {
				byID[string(r.ModelCallID.Bytes)] = i
			}
			if !r.ResponseID.Empty() {
				byResponse[string(r.ResponseID.Bytes)] = i
			}
		}
	}
	turns, steps := make([]int, len(b.invocations)), make([]int, len(b.invocations))
	for _, c := range b.calls {
		if !c.answered {
			continue
		}
		owner, found := byID[string(c.call.ID.Bytes)]
		if !found || c.call.ID.Empty() {
			if owner, found = byResponse[string(c.call.ResponseID.Bytes)]; c.call.ResponseID.Empty() {
				found = false
			}
		}
		if !found {
			continue
		}
		if c.exchange.failure != "" {
			return &BuildError{c.exchange.failure, "the message of a response is not of the form of its dialect"}
		}
		ref := Ref{ModelCallID: c.call.ID, Model: c.call.ModelRef, ResponseID: c.call.ResponseID}
		if !ref.Valid() {
			return &BuildError{ClassValidation, "a turn's call has neither an id nor a response of a model server"}
		}
		turns[owner]++
		b.turns = append(b.turns, draftTurn{call: c, turn: Turn{
			InvocationID: b.invocations[owner].invocation.ID, No: integer.Of(int64(turns[owner])), Timestamp: c.timestamp(),
			StepCount: integer.Of(int64(steps[owner])), Refs: []Ref{ref},
		}})
		steps[owner] += c.exchange.tools
	}
	if truth, ok := resolved.Truth(); ok && len(b.turns) > 0 {
		b.turns[len(b.turns)-1].turn.Resolved = Flag{True: truth, Set: true}
	}
	return nil
}

// close adds the gaps that say what is not there.
func (b *Builder) close(produced bool) {
	if len(b.calls) == 0 {
		b.gap(modelcall.GapNoCalls, "")
	}
	if len(b.turns) == 0 && !produced {
		b.gap(modelcall.GapNoTurns, "")
	}
	spoken := false
	for i := range b.invocations {
		e := b.invocations[i].invocation.Conversation.Elements()
		spoken = spoken || e.Next()
	}
	if !spoken {
		b.gap(modelcall.GapNoDialogue, "")
	}
	b.gaps = distinctGaps(b.gaps)
}

// unique holds the ids of the calls against each other; those of everything else differ by how they came here.
func (b *Builder) unique() *BuildError {
	var seen set
	seen.reset(len(b.calls))
	for _, c := range b.calls {
		if id := c.call.ID; !id.Empty() && !seen.add(id.Bytes, integer.Int{}) {
			return &BuildError{ClassValidation, "two model calls have the id " + id.String()}
		}
	}
	return nil
}

// finish makes the record of the trajectory.
func (b *Builder) finish(task, repeat []byte) *Built {
	rec := &b.record
	for i := range b.invocations {
		rec.Invocations = append(rec.Invocations, b.invocations[i].invocation)
	}
	for i := range b.turns {
		rec.Turns = append(rec.Turns, b.turns[i].turn)
	}
	for _, c := range b.calls {
		rec.Calls = append(rec.Calls, c.call)
	}
	for _, t := range b.tools {
		rec.Tools = append(rec.Tools, t.tool)
	}
	rec.Gaps = b.gaps
	return &Built{Record: rec, b: b, task: task, repeat: repeat}
}

// AppendJSON writes the trajectory.
func (t *Built) AppendJSON(dst []byte) []byte {
	b := t.b
	dst = append(append(dst, `{"schema_version":"1.0","task_id":`...), t.task...)
	dst = append(append(dst, `,"rollout_id":`...), t.repeat...)
	dst = append(dst, `,"invocations":[`...)
	for i := range b.invocations {
		dst = append(comma(dst), b.invocations[i].text...)
	}
	dst = append(dst, `],"turns":[`...)
	for i := range b.turns {
		dst = b.turns[i].append(comma(dst), t.task, t.repeat)
	}
	dst = append(dst, `],"model_calls":[`...)
	for _, c := range b.calls {
		dst = c.append(comma(dst))
	}
	dst = append(dst, `],"tool_calls":[`...)
	for _, tool := range b.tools {
		dst = tool.append(comma(dst))
	}
	dst = appendGaps(append(dst, `],"gaps":`...), b.gaps)
	return append(dst, '}')
}

// Size estimates the length of the text, so that it can be given room at once.
func (t *Built) Size() int {
	size := 1024
	for _, c := range t.b.calls {
		size += len(c.top[callRequest]) + len(c.top[callResponse]) + 1024
	}
	for i := range t.b.turns {
		size += t.b.turns[i].size() + 1
	}
	for i := range t.b.invocations {
		size += len(t.b.invocations[i].text) + 1
	}
	for _, tool := range t.b.tools {
		size += len(tool.pieces[toolOutput]) + 512
	}
	return size
}

// comma separates the elements of a list.
func comma(dst []byte) []byte {
	if dst[len(dst)-1] == '[' {
		return dst
	}
	return append(dst, ',')
}

// Minimal is the trajectory that only says why there is none.
func Minimal(task, repeat, class string) []byte {
	dst := jsontext.AppendQuoted([]byte(`{"schema_version":"1.0","task_id":`), task)
	dst = jsontext.AppendQuoted(append(dst, `,"rollout_id":`...), repeat)
	dst = append(dst, `,"invocations":[],"turns":[],"model_calls":[],"tool_calls":[],"gaps":`...)
	dst = appendGaps(dst, []Gap{{Code: lax.TextOf(modelcall.GapProjection), Detail: lax.TextOf(class)}})
	return append(dst, '}')
}
