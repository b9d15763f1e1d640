// Package timeline places what happened in a rollout in time: invocations, turns, model calls, tool calls, sandboxes and
// compactions, each as a span.
//
// A clock is evidence. A span whose two ends were measured says so ([Measured]); one that follows from other spans, or
// from one end and a duration, is [Derived]; what has no place in time at all is kept apart with what is known of it.
// Nothing is clamped: a call that ends before it starts keeps its ends and is marked. A time outside of the years 1 to
// 9999 is none.
//
//	t := timeline.Of(talk, bundle) // of a transcript and, if it is known, the observations beside it
//	for _, span := range t.Spans {
//		fmt.Println(timeline.Kinds[span.Kind], span.Start-t.Start, span.End-span.Start, span.Placing)
//	}
//
// Times are those of the trajectory's records (spec trajectory §2, model-calls §5), in Unix seconds.
package timeline

import (
	"cmp"
	"math"
	"slices"

	"github.com/rollscope/rollscope/core/trajectory"
	"github.com/rollscope/rollscope/core/transcript"
)

// A Kind says what a span is.
type Kind uint8

const (
	Invocation Kind = iota
	Turn
	ModelCall
	ToolCall
	Sandbox
	Compaction
)

// Kinds names them all, in the order of their tracks.
var Kinds = [...]string{"invocation", "turn", "model call", "tool call", "sandbox", "compaction"}

// String names the kind.
func (k Kind) String() string { return Kinds[k] }

// A Placing says how a span came to its place.
type Placing uint8

const (
	Measured Placing = iota // both ends were measured
	Derived                 // it follows from other spans, or from one end and a duration
	Unplaced                // nothing says when it was
)

// String gives the word for it.
func (p Placing) String() string { return [...]string{"measured", "derived", "unplaced"}[p] }

// A Span is something that took time.
type Span struct {
	Kind       Kind
	Index      int // its place in the list it comes from
	Name, ID   string
	Invocation int     // whose it is, by place, −1 for none
	Start, End float64 // Unix seconds
	Placing    Placing
	DurationMS float64 // as measured; NaN where it was not
	Status     string
	Failed     bool
	Backwards  bool   // it ends before it starts
	Lane       int    // among the spans of its kind and invocation: no two of a lane overlap
	Turn       int    // of model and tool calls: the turn that they belong to, −1 for none
	Reason     string // why it is unplaced
}

// A Timeline is a rollout in time.
type Timeline struct {
	Start, End float64 // of all placed spans; both 0 where there are none
	Spans      []Span  // placed, by kind, invocation and start
	Unplaced   []Span
}

// Of places a rollout. bundle has its sandboxes and compactions and may be nil.
func Of(r *transcript.Rollout, bundle *trajectory.Bundle) *Timeline {
	b := builder{r: r}
	for i := range r.Calls {
		b.call(i)
	}
	for i := range r.Tools {
		b.tool(i)
	}
	b.turns()
	b.invocations()
	if bundle != nil {
		b.sandboxes(bundle)
		b.compactions(bundle)
	}
	return b.finish()
}

type builder struct {
	r     *transcript.Rollout
	spans []Span
}

// ends places a span by what is known of it: two ends, or one and a duration in milliseconds.
func ends(s *Span, started, completed, duration trajectory.Real) {
	s.DurationMS = math.NaN()
	if finite(duration) {
		s.DurationMS = duration.Value
	}
	s.Placing = Derived
	switch begun, over := timed(started), timed(completed); {
	case begun && over:
		s.Start, s.End, s.Placing = started.Value, completed.Value, Measured
	case begun:
		s.Start, s.End = started.Value, started.Value
		if end := started.Value + s.DurationMS/1000; dated(end) {
			s.End = end
		}
	case over:
		s.Start, s.End = completed.Value, completed.Value
		if start := completed.Value - s.DurationMS/1000; dated(start) {
			s.Start = start
		}
	default:
		s.Placing = Unplaced
	}
	s.Backwards = s.Placing != Unplaced && s.End < s.Start
}

func finite(f trajectory.Real) bool {
	return f.Set && !math.IsNaN(f.Value) && !math.IsInf(f.Value, 0)
}

// timed tells whether a value is a time of the calendar.
func timed(f trajectory.Real) bool { return f.Set && dated(f.Value) }

// dated tells whether a Unix time lies in the years 1 to 9999. What does not is no clock's.
func dated(unix float64) bool { return unix >= -62135596800 && unix < 253402300800 }

func (b *builder) call(i int) {
	c := &b.r.Calls[i]
	s := Span{Kind: ModelCall, Index: i, Name: c.At.Model.String(), ID: c.At.ID.String(), Invocation: c.Invocation, Status: c.At.FinishReason.String(), Turn: -1}
	if s.Name == "" {
		s.Name = "model call"
	}
	if len(c.Turns) > 0 {
		s.Turn = c.Turns[0]
	}
	code, ok := c.At.StatusCode.Int.Int64()
	s.Failed = !c.At.ErrorCategory.Empty() || c.At.StatusCode.Set && (!ok || code >= 400)
	if s.Failed && !c.At.ErrorCategory.Empty() {
		s.Status = c.At.ErrorCategory.String()
	}
	ends(&s, c.At.StartedAt, c.At.CompletedAt, c.At.DurationMS)
	if s.Placing == Unplaced {
		s.Reason = "the call has neither a start nor an end"
	}
	b.spans = append(b.spans, s)
}

func (b *builder) tool(i int) {
	t := &b.r.Tools[i]
	s := Span{Kind: ToolCall, Index: i, Name: t.Name, ID: t.ID, Invocation: t.Invocation, Turn: t.Turn, DurationMS: math.NaN(), Placing: Unplaced}
	if s.Name == "" {
		s.Name = "tool call"
	}
	if t.Record != nil {
		s.Status = t.Record.Status.String()
		s.Failed = s.Status == "failed" || s.Status == "timeout" || s.Status == "cancelled" || !t.Record.ErrorType.Empty()
		ends(&s, t.Record.StartedAt, t.Record.CompletedAt, t.Record.DurationMS)
		if s.Placing == Unplaced {
			s.Reason = "its record has neither a start nor an end"
		}
	} else {
		s.Reason = "nobody observed its execution"
	}
	b.spans = append(b.spans, s)
}

// turns last from their first call to the end of what they asked for.
func (b *builder) turns() {
	around := map[int]*reach{}
	for i := range b.spans {
		if s := &b.spans[i]; s.Turn >= 0 && s.Placing != Unplaced {
			grow(around, s.Turn, s.Start, s.End)
		}
	}
	for i := range b.r.Turns {
		t := &b.r.Turns[i]
		s := Span{Kind: Turn, Index: i, Name: "turn " + t.No, ID: t.ID, Invocation: t.Invocation, Turn: -1, DurationMS: math.NaN(), Placing: Derived}
		reached := around[i]
		timed := t.HasTime && t.Timestamp != 0 && dated(t.Timestamp)
		switch {
		case reached != nil:
			s.Start, s.End = reached.from, reached.to
			if timed {
				s.Start = min(s.Start, t.Timestamp)
			}
		case timed:
			s.Start, s.End = t.Timestamp, t.Timestamp
		default:
			s.Placing, s.Reason = Unplaced, "it has no timestamp, and none of its calls has a place"
		}
		b.spans = append(b.spans, s)
	}
}

// A reach is the time that some spans cover.
type reach struct{ from, to float64 }

func grow(m map[int]*reach, key int, from, to float64) {
	if to < from {
		from, to = to, from
	}
	if r := m[key]; r != nil {
		r.from, r.to = min(r.from, from), max(r.to, to)
		return
	}
	m[key] = &reach{from, to}
}

// invocations last as long as anything of theirs, or of their subagents.
func (b *builder) invocations() {
	around := map[int]*reach{}
	for i := range b.spans {
		s := &b.spans[i]
		if s.Placing == Unplaced {
			continue
		}
		for k, n := s.Invocation, 0; k >= 0 && n <= len(b.r.Invocations); k, n = b.r.Invocations[k].Parent, n+1 {
			grow(around, k, s.Start, s.End)
		}
	}
	for i := range b.r.Invocations {
		in := &b.r.Invocations[i]
		s := Span{Kind: Invocation, Index: i, Name: in.ID, ID: in.ID, Invocation: i, Status: in.Status, Turn: -1, DurationMS: math.NaN(), Placing: Unplaced}
		if in.At != nil {
			s.Failed = in.Status == "failed" || !in.At.ErrorType.Empty()
			if finite(in.At.DurationMS) {
				s.DurationMS = in.At.DurationMS.Value
			}
		}
		if r := around[i]; r != nil {
			s.Start, s.End, s.Placing = r.from, r.to, Derived
		} else {
			s.Reason = "nothing of it has a place"
		}
		b.spans = append(b.spans, s)
	}
}

// sandboxes have no clock; those that tool calls name last as long as these.
func (b *builder) sandboxes(bundle *trajectory.Bundle) {
	around := map[string]*reach{}
	for i := range b.spans {
		s := &b.spans[i]
		if s.Kind != ToolCall || s.Placing == Unplaced {
			continue
		}
		record := b.r.Tools[s.Index].Record
		if id := record.SandboxID.String(); id != "" {
			if r := around[id]; r != nil {
				r.from, r.to = min(r.from, s.Start), max(r.to, s.End)
			} else {
				around[id] = &reach{s.Start, s.End}
			}
		}
	}
	for i := range bundle.Sandboxes {
		box := &bundle.Sandboxes[i]
		s := Span{
			Kind: Sandbox, Index: i, Name: box.Role.String() + " sandbox", ID: box.ID.String(), Invocation: -1, Status: box.Outcome.String(), Turn: -1,
			DurationMS: math.NaN(), Placing: Unplaced,
		}
		s.Failed = s.Status != "completed" && s.Status != "unknown" || !box.ErrorType.Empty()
		if finite(box.WallTimeS) {
			s.DurationMS = box.WallTimeS.Value * 1000
		}
		if r := around[s.ID]; r != nil && s.ID != "" {
			s.Start, s.End, s.Placing = r.from, r.to, Derived
		} else {
			s.Reason = "sandboxes have no clock, and no tool call with a place names it"
		}
		b.spans = append(b.spans, s)
	}
}

func (b *builder) compactions(bundle *trajectory.Bundle) {
	at := map[string]int{}
	for i := range b.r.Invocations {
		at[b.r.Invocations[i].ID] = i
	}
	for i := range bundle.Compactions {
		c := &bundle.Compactions[i]
		s := Span{Kind: Compaction, Index: i, Name: "compaction", Invocation: -1, Status: c.Outcome.String(), Turn: -1, DurationMS: math.NaN(), Placing: Unplaced}
		if n, listed := at[c.InvocationID.String()]; listed {
			s.Invocation = n
		}
		s.Failed = s.Status == "failed" || s.Status == "aborted"
		if timed(c.ObservedAt) {
			s.Start, s.End, s.Placing = c.ObservedAt.Value, c.ObservedAt.Value, Measured
		} else {
			s.Reason = "nobody said when it was observed"
		}
		b.spans = append(b.spans, s)
	}
}

// finish parts placed from unplaced spans, orders them and finds their lanes.
func (b *builder) finish() *Timeline {
	t := &Timeline{}
	for _, s := range b.spans {
		if s.Placing == Unplaced {
			t.Unplaced = append(t.Unplaced, s)
			continue
		}
		t.Spans = append(t.Spans, s)
	}
	if len(t.Spans) == 0 {
		return t
	}
	t.Start, t.End = math.Inf(1), math.Inf(-1)
	for i := range t.Spans {
		s := &t.Spans[i]
		t.Start, t.End = min(t.Start, s.Start, s.End), max(t.End, s.Start, s.End)
	}
	slices.SortStableFunc(t.Spans, func(a, b Span) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Invocation, b.Invocation), cmp.Compare(a.from(), b.from()), cmp.Compare(a.Index, b.Index))
	})
	lanes(t.Spans)
	return t
}

func (s *Span) from() float64 { return min(s.Start, s.End) }
func (s *Span) to() float64   { return max(s.Start, s.End) }

// lanes gives each span the first lane of its kind and invocation that is free.
func lanes(spans []Span) {
	var free []float64
	for i := range spans {
		s := &spans[i]
		if i == 0 || spans[i-1].Kind != s.Kind || spans[i-1].Invocation != s.Invocation {
			free = free[:0]
		}
		s.Lane = len(free)
		for k, until := range free {
			if until <= s.from() {
				s.Lane = k
				break
			}
		}
		if s.Lane == len(free) {
			free = append(free, 0)
		}
		free[s.Lane] = s.to()
	}
}
