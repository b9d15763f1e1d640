package trajectory

import (
	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/jsonscan"
)

// A Reader reads one trajectory after the other and reuses its memory. The zero Reader is ready.
type Reader struct {
	record Record
	refs   []Ref    // of all turns and invocations; each owner has a stretch
	taken  int      // how many of them have an owner
	model  ModelRef // the one read last
	arena  []byte   // decoded strings
	seen   set
	bundle Bundle

	values  []jsonscan.Value // fields of the objects being read, inner ones behind outer ones
	coerced []coercion       // their numbers, at the same places

	fault fault
	deep  int // offset behind the first free value that is too deep; 0 if there is none
}

// coercion is what the lax rules make of a value.
type coercion struct {
	whole  integer.Int
	number float64
	truth  bool
}

// Read validates v against the schema and gives its record, which stays valid until the next Read, or until
// v dies with the next Scan of its scanner. The error is an [*Invalid]. A trajectory that is null or absent
// is no trajectory at all; that is for the caller to see before.
func (r *Reader) Read(v jsonscan.Value) (*Record, error) {
	rec, deep, err := r.readAny(v)
	if deep {
		return nil, fault{ClassValue, r.deep - 1, tooDeepReason}.in(v)
	}
	return rec, err
}

const tooDeepReason = "nested too deep to be written"

// readAny is Read that leaves free values as deep as they are; deep tells that one is too deep to be written.
func (r *Reader) readAny(v jsonscan.Value) (rec *Record, deep bool, err error) {
	r.reset()
	if !r.trajectory(v) && r.fault.class != ClassType {
		r.findRaising(v)
	}
	if r.fault.class != "" {
		return nil, false, r.fault.in(v)
	}
	return &r.record, r.deep > 0, nil
}

func (r *Reader) reset() {
	rec := &r.record
	*rec = Record{
		Invocations: rec.Invocations[:0],
		Turns:       rec.Turns[:0],
		Calls:       rec.Calls[:0],
		Tools:       rec.Tools[:0],
		Gaps:        rec.Gaps[:0],
	}
	b := &r.bundle
	*b = Bundle{Records: b.Records[:0], Sandboxes: b.Sandboxes[:0], Compactions: b.Compactions[:0]}
	r.refs, r.taken = r.refs[:0], 0
	r.arena = r.arena[:0]
	r.values, r.coerced = r.values[:0], r.coerced[:0]
	r.fault, r.deep = fault{}, 0
}

// trajectory reads the whole. The ids come first: turns are held against them.
func (r *Reader) trajectory(v jsonscan.Value) bool {
	if !r.gather(&schema, v) || !r.fields(&schema, v, 0, 0, recordInvocations) {
		return false
	}
	r.text(&r.record.TaskID, &r.values[recordTask])
	r.text(&r.record.RolloutID, &r.values[recordRollout])
	return r.fields(&schema, v, 0, recordInvocations, len(schema.fields)) && r.unique()
}

// take makes the object whose fields stand at base a part of the record.
func (r *Reader) take(p part, v jsonscan.Value, base int) bool {
	f, n := r.values[base:], r.coerced[base:]
	rec := &r.record
	switch p {
	case partModelRef:
		r.model = ModelRef{Set: true}
		r.text(&r.model.Type, &f[modelRefType])
		r.text(&r.model.Name, &f[modelRefName])

	case partRef:
		r.refs = more(r.refs)
		ref := &r.refs[len(r.refs)-1]
		r.text(&ref.ModelCallID, &f[refCall])
		if !f[refModel].IsNull() {
			ref.Model = r.model
		}
		r.text(&ref.ResponseID, &f[refResponse])

	case partInvocation:
		r.observed(ObservedInvocation, len(rec.Invocations))
		rec.Invocations = more(rec.Invocations)
		i := &rec.Invocations[len(rec.Invocations)-1]
		r.text(&i.ID, &f[invocationID])
		r.text(&i.Parent, &f[invocationParent])
		r.text(&i.SpawnedBy, &f[invocationSpawnedBy])
		r.status(&i.Status, &f[invocationStatus])
		i.DurationMS = float(f, n, invocationDuration)
		r.text(&i.ErrorType, &f[invocationError])
		i.Refs = r.owned()
		i.Conversation = f[invocationConversation]
		i.At = v

	case partTurn:
		if !r.same(f[turnTask], r.values[recordTask]) {
			return r.bad(f[turnTask], "is not the task_id of the trajectory")
		}
		if !r.same(f[turnRollout], r.values[recordRollout]) {
			return r.bad(f[turnRollout], "is not the rollout_id of the trajectory")
		}
		rec.Turns = more(rec.Turns)
		t := &rec.Turns[len(rec.Turns)-1]
		r.text(&t.InvocationID, &f[turnInvocation])
		t.No = n[turnNo].whole
		t.Timestamp = n[turnTimestamp].number
		t.Question = f[turnQuestion]
		t.Answer = f[turnAnswer]
		t.Reasoning = f[turnReasoning]
		t.Resolved = truth(f, n, turnResolved)
		t.StepCount = n[turnSteps].whole
		t.Refs = r.owned()
		t.At = v

	case partMetadata:
		c := &rec.Calls[len(rec.Calls)-1]
		r.text(&c.ResponseID, &f[metaResponseID])
		if !f[metaModelRef].IsNull() {
			c.ModelRef = r.model
		}
		r.text(&c.Model, &f[metaModel])
		r.text(&c.Dialect, &f[metaDialect])
		c.StatusCode = amount(f, n, metaStatus)
		r.text(&c.ResponseStatus, &f[metaResponseStatus])
		r.text(&c.FinishReason, &f[metaFinish])
		c.UpstreamAttempted = truth(f, n, metaAttempted)
		r.text(&c.ResponseSource, &f[metaSource])
		c.UpstreamStatusCode = amount(f, n, metaUpstreamStatus)
		r.text(&c.LocalResponseReason, &f[metaLocalReason])
		r.text(&c.ErrorCategory, &f[metaError])
		c.TTFTMS = float(f, n, metaTTFT)

	case partStats:
		c := &rec.Calls[len(rec.Calls)-1]
		c.PromptTokens = amount(f, n, statsPrompt)
		c.CompletionTokens = amount(f, n, statsCompletion)
		c.ReasoningTokens = amount(f, n, statsReasoning)
		c.TotalTokens = amount(f, n, statsTotal)
		c.CachedTokens = amount(f, n, statsCached)

	case partCall:
		c := &rec.Calls[len(rec.Calls)-1]
		r.text(&c.ID, &f[callID])
		c.StartedAt = float(f, n, callStarted)
		c.CompletedAt = float(f, n, callCompleted)
		c.DurationMS = float(f, n, callDuration)
		c.Request = f[callRequest]
		c.Response = f[callResponse]
		c.At = v

	case partTool, partObservedTool:
		r.observed(ObservedTool, len(rec.Tools))
		rec.Tools = more(rec.Tools)
		t := &rec.Tools[len(rec.Tools)-1]
		r.text(&t.InvocationID, &f[toolInvocation])
		r.text(&t.ID, &f[toolID])
		r.text(&t.SandboxID, &f[toolSandbox])
		r.text(&t.Name, &f[toolName])
		t.StartedAt = float(f, n, toolStarted)
		t.CompletedAt = float(f, n, toolCompleted)
		t.DurationMS = float(f, n, toolDuration)
		r.text(&t.TimingSource, &f[toolTiming])
		r.status(&t.Status, &f[toolStatus])
		r.text(&t.ErrorType, &f[toolError])
		if p == partTool {
			t.Output = f[toolOutput]
		}
		t.At = v

	case partSandbox:
		r.sandbox(f, n, v)

	case partCompaction:
		r.compaction(f, n, v)

	case partGap:
		rec.Gaps = more(rec.Gaps)
		g := &rec.Gaps[len(rec.Gaps)-1]
		r.text(&g.Code, &f[gapCode])
		r.text(&g.InvocationID, &f[gapInvocation])
		r.text(&g.Detail, &f[gapDetail])
	}
	return true
}

// more lengthens a slice by a zero element. Unlike append it clears the element in its place: some are large.
func more[T any](s []T) []T {
	n := len(s)
	if n == cap(s) {
		s = append(s, *new(T))
	}
	s = s[:n+1]
	clear(s[n:])
	return s
}

// owned gives the references read since the last owner took his.
func (r *Reader) owned() []Ref {
	refs := r.refs[r.taken:len(r.refs):len(r.refs)]
	r.taken = len(r.refs)
	return refs
}

// text decodes a string field into a text that is null; null and absent leave it so.
func (r *Reader) text(to *Text, v *jsonscan.Value) {
	if v.IsNull() {
		return
	}
	to.Set = true
	if inner, ok := v.Plain(); ok {
		to.Bytes = inner
		return
	}
	to.Bytes = r.content(*v)
}

// content is what a string holds. It is decoded into the arena only if it has to be.
func (r *Reader) content(v jsonscan.Value) []byte {
	inner, escapes := v.Escaped()
	if !escapes {
		return inner
	}
	start := len(r.arena)
	r.arena = v.AppendText(r.arena)
	return r.arena[start:len(r.arena):len(r.arena)]
}

var unknown = []byte("unknown")

// status decodes a status, which is unknown when it is not given.
func (r *Reader) status(to *Text, v *jsonscan.Value) {
	if !v.Exists() {
		*to = Text{Bytes: unknown, Set: true}
		return
	}
	r.text(to, v)
}

// same tells whether two strings have the same content. What is decoded for that is given back.
func (r *Reader) same(v, w jsonscan.Value) bool {
	if string(v.Raw()) == string(w.Raw()) {
		return true
	}
	start := len(r.arena)
	equal := string(r.content(v)) == string(r.content(w))
	r.arena = r.arena[:start]
	return equal
}

func float(f []jsonscan.Value, n []coercion, i int) Real {
	if f[i].IsNull() {
		return Real{}
	}
	return Real{Value: n[i].number, Set: true}
}

func amount(f []jsonscan.Value, n []coercion, i int) Count {
	if f[i].IsNull() {
		return Count{}
	}
	return Count{Int: n[i].whole, Set: true}
}

func truth(f []jsonscan.Value, n []coercion, i int) Flag {
	if f[i].IsNull() {
		return Flag{}
	}
	return Flag{True: n[i].truth, Set: true}
}

// unique holds the ids of the whole trajectory against each other.
func (r *Reader) unique() bool {
	rec := &r.record
	r.seen.reset(len(rec.Invocations))
	for i := range rec.Invocations {
		in := &rec.Invocations[i]
		if !r.seen.add(in.ID.Bytes, integer.Int{}) {
			return r.bad(in.At, "a second invocation with this invocation_id")
		}
	}
	r.seen.reset(len(rec.Turns))
	for i := range rec.Turns {
		t := &rec.Turns[i]
		if !r.seen.add(t.InvocationID.Bytes, t.No) {
			return r.bad(t.At, "a second turn with this invocation_id and turn_no")
		}
	}
	r.seen.reset(len(rec.Calls))
	for i := range rec.Calls {
		c := &rec.Calls[i]
		if !c.ID.Empty() && !r.seen.add(c.ID.Bytes, integer.Int{}) {
			return r.bad(c.At, "a second model call with this model_call_id")
		}
	}
	return true
}
