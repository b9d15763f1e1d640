package trajectory

import (
	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/jsonscan"
)

// A Bundle is `ng_agent_observations`: what an agent reported of its own doing (spec trajectory §3). The order of its
// records means nothing, but is kept.
type Bundle struct {
	Source      Text
	Records     []Observation // in their order
	Invocations []Invocation
	Tools       []ToolCall // without outputs
	Sandboxes   []Sandbox
	Compactions []Compaction
	Gaps        []Gap
}

// An Observation is one record of a bundle: which list of the bundle it is in, and where.
type Observation struct {
	Kind  ObservationKind
	Index int
}

// An ObservationKind names one of the four lists.
type ObservationKind uint8

const (
	ObservedInvocation ObservationKind = iota
	ObservedTool
	ObservedSandbox
	ObservedCompaction
)

// A Sandbox is the measured use of one sandbox execution.
type Sandbox struct {
	Role, Provider, ID, Outcome Text
	ExitCode                    Count
	WallTimeS, CPUTimeS         Real
	PeakMemoryMiB               Real
	UsageSource, ErrorType      Text
	At                          jsonscan.Value
}

// A Compaction is one shortening of an agent's context.
type Compaction struct {
	InvocationID, Trigger, Outcome, Summary, FirstKeptItem Text
	ObservedAt                                             Real
	TokensBefore, TokensAfter                              Count
	Before, After                                          *Ref // nil for null
	Refs                                                   []Ref
	At                                                     jsonscan.Value
}

var bundleTable = table{
	name: "bundle of observations",
	fields: []field{
		must("source", text),
		opt("records", list(tagged(&observations))).by(`[]`),
		opt("gaps", list(object(&gapTable))).by(`[]`),
	},
}

var observations = union{name: "observation", kinds: true, tables: []*table{
	&observedInvocationTable, &observedToolTable, &sandboxTable, &compactionTable,
}}

// In a bundle the kind of a record cannot be left out.
var observedInvocationTable = table{
	name: invocationTable.name, tag: "agent_invocation", part: partInvocation, fields: invocationTable.fields,
}

var observedToolTable = table{
	name: toolTable.name, tag: "tool_call", part: partObservedTool, rule: ruleTimes, fields: toolTable.fields[:toolOutput],
}

var sandboxTable = table{
	name: "sandbox",
	tag:  "sandbox",
	part: partSandbox,
	fields: []field{
		opt("kind", word("sandbox")).by(`"sandbox"`),
		must("role", word("agent", "verifier", "environment")),
		may("provider", text),
		may("sandbox_id", text),
		opt("outcome", word("completed", "failed", "timeout", "oom", "sandbox_error", "cancelled", "unknown")).by(`"unknown"`),
		may("exit_code", whole),
		may("wall_time_s", span),
		may("cpu_time_s", span),
		may("peak_memory_mib", span),
		may("resource_usage_source", text),
		may("error_type", text),
	},
}

const (
	_ = iota
	sandboxRole
	sandboxProvider
	sandboxID
	sandboxOutcome
	sandboxExit
	sandboxWall
	sandboxCPU
	sandboxMemory
	sandboxSource
	sandboxError
)

var compactionTable = table{
	name: "context compaction",
	tag:  "context_compaction",
	part: partCompaction,
	fields: []field{
		opt("kind", word("context_compaction")).by(`"context_compaction"`),
		must("invocation_id", text),
		may("observed_at", number),
		may("trigger", text),
		may("tokens_before", count),
		may("tokens_after", count),
		opt("outcome", word("completed", "failed", "aborted", "unknown")).by(`"unknown"`),
		may("summary", text),
		may("first_kept_item_id", text),
		may("before_model_call", object(&refTable)),
		opt("model_calls", list(object(&refTable))).by(`[]`),
		may("after_model_call", object(&refTable)),
	},
}

const (
	_ = iota
	compactionInvocation
	compactionObserved
	compactionTrigger
	compactionTokensBefore
	compactionTokensAfter
	compactionOutcome
	compactionSummary
	compactionFirstKept
	compactionBefore
	compactionRefs
	compactionAfter
)

// ReadBundle validates v as a bundle of observations. It is valid until the next Read or ReadBundle, or until v dies.
// The error is an [*Invalid], whose path begins at the bundle.
func (r *Reader) ReadBundle(v jsonscan.Value) (*Bundle, error) {
	b, deep, err := r.readAnyBundle(v)
	if deep {
		return nil, fault{ClassValue, r.deep - 1, tooDeepReason}.in(v)
	}
	return b, err
}

// readAnyBundle is ReadBundle that leaves free values as deep as they are.
func (r *Reader) readAnyBundle(v jsonscan.Value) (_ *Bundle, deep bool, err error) {
	r.reset()
	if !r.gather(&bundleTable, v) || !r.fields(&bundleTable, v, 0, 0, len(bundleTable.fields)) || !r.related() {
		if r.fault.class != ClassType {
			r.findRaisingRecord(v)
		}
	}
	if r.fault.class != "" {
		return nil, false, r.fault.in(v)
	}
	b, rec := &r.bundle, &r.record
	r.text(&b.Source, &r.values[0])
	b.Invocations, b.Tools, b.Gaps = rec.Invocations, rec.Tools, rec.Gaps
	return b, r.deep > 0, nil
}

// observed keeps the place of a record in its list.
func (r *Reader) observed(kind ObservationKind, index int) {
	r.bundle.Records = append(r.bundle.Records, Observation{kind, index})
}

func (r *Reader) sandbox(f []jsonscan.Value, n []coercion, v jsonscan.Value) {
	b := &r.bundle
	r.observed(ObservedSandbox, len(b.Sandboxes))
	b.Sandboxes = more(b.Sandboxes)
	s := &b.Sandboxes[len(b.Sandboxes)-1]
	r.text(&s.Role, &f[sandboxRole])
	r.text(&s.Provider, &f[sandboxProvider])
	r.text(&s.ID, &f[sandboxID])
	r.status(&s.Outcome, &f[sandboxOutcome])
	s.ExitCode = amount(f, n, sandboxExit)
	s.WallTimeS = float(f, n, sandboxWall)
	s.CPUTimeS = float(f, n, sandboxCPU)
	s.PeakMemoryMiB = float(f, n, sandboxMemory)
	r.text(&s.UsageSource, &f[sandboxSource])
	r.text(&s.ErrorType, &f[sandboxError])
	s.At = v
}

func (r *Reader) compaction(f []jsonscan.Value, n []coercion, v jsonscan.Value) {
	b := &r.bundle
	r.observed(ObservedCompaction, len(b.Compactions))
	b.Compactions = more(b.Compactions)
	c := &b.Compactions[len(b.Compactions)-1]
	r.text(&c.InvocationID, &f[compactionInvocation])
	c.ObservedAt = float(f, n, compactionObserved)
	r.text(&c.Trigger, &f[compactionTrigger])
	r.status(&c.Outcome, &f[compactionOutcome])
	r.text(&c.Summary, &f[compactionSummary])
	r.text(&c.FirstKeptItem, &f[compactionFirstKept])
	c.TokensBefore = amount(f, n, compactionTokensBefore)
	c.TokensAfter = amount(f, n, compactionTokensAfter)
	c.Refs = r.owned()
	c.At = v
	// Of the references the one before comes first and the one after last.
	if !f[compactionBefore].IsNull() {
		c.Before, c.Refs = &c.Refs[0], c.Refs[1:]
	}
	if !f[compactionAfter].IsNull() {
		last := len(c.Refs) - 1
		c.After, c.Refs = &c.Refs[last], c.Refs[:last:last]
	}
}

// related holds the invocations of a bundle against each other: their ids differ and their parents form no circle. A
// parent that is not there is no fault.
func (r *Reader) related() bool {
	list := r.record.Invocations
	r.seen.reset(len(list))
	for i := range list {
		if !r.seen.add(list[i].ID.Bytes, integer.Int{}) {
			return r.bad(list[i].At, "a second invocation with this invocation_id")
		}
	}
	parents := false
	for i := range list {
		parents = parents || list[i].Parent.Set
	}
	if !parents {
		return true
	}
	at := make(map[string]int, len(list))
	for i := range list {
		at[string(list[i].ID.Bytes)] = i
	}
	const (
		fresh = iota
		open
		done
	)
	state := make([]uint8, len(list))
	var path []int
	for i := range list {
		path = path[:0]
		for k := i; state[k] == fresh; {
			state[k] = open
			path = append(path, k)
			if !list[k].Parent.Set {
				break
			}
			parent, there := at[string(list[k].Parent.Bytes)]
			if !there {
				break
			}
			if state[parent] == open {
				return r.bad(list[k].At, "its parents form a circle")
			}
			k = parent
		}
		for _, k := range path {
			state[k] = done
		}
	}
	return true
}

// findRaisingRecord looks for an item that raises in any record of a bundle.
func (r *Reader) findRaisingRecord(v jsonscan.Value) {
	for e := v.Get("records").Elements(); e.Next(); {
		if e.Value.Get("kind").Is(observedInvocationTable.tag) && r.raisesIn(e.Value.Get("conversation")) {
			return
		}
	}
}

// raisesIn tells whether an item of a conversation raises.
func (r *Reader) raisesIn(conversation jsonscan.Value) bool {
	for e := conversation.Elements(); e.Next(); {
		r.values, r.coerced = r.values[:0], r.coerced[:0]
		if r.kindOf(e.Value); r.fault.class == ClassType {
			return true
		}
	}
	return false
}
