package trajectory

import (
	"strings"

	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/modelcall"
	"github.com/rollscope/rollscope/core/value"
)

// AppendRecord appends the written form of a valid trajectory, with everything coerced and every default in its place.
func (b *Builder) AppendRecord(dst []byte, v jsonscan.Value) ([]byte, error) {
	b.Reset()
	rec, err := b.producer.Read(v)
	if err != nil {
		return dst, err
	}
	return b.written(dst, rec, v), nil
}

func (b *Builder) written(dst []byte, rec *Record, v jsonscan.Value) []byte {
	w := &b.w
	task := value.AppendScannedText(nil, v.Get("task_id"))
	repeat := value.AppendScannedText(nil, v.Get("rollout_id"))
	dst = append(append(dst, `{"schema_version":"1.0","task_id":`...), task...)
	dst = append(append(dst, `,"rollout_id":`...), repeat...)
	dst = append(dst, `,"invocations":[`...)
	for i := range rec.Invocations {
		dst = w.invocation(comma(dst), &rec.Invocations[i])
	}
	dst = append(dst, `],"turns":[`...)
	for i := range rec.Turns {
		dst = w.turn(comma(dst), &rec.Turns[i], task, repeat)
	}
	dst = append(dst, `],"model_calls":[`...)
	for i := range rec.Calls {
		dst = b.draftOf(&rec.Calls[i]).append(comma(dst))
	}
	dst = append(dst, `],"tool_calls":[`...)
	for i := range rec.Tools {
		dst = w.object(comma(dst), &toolTable, rec.Tools[i].At)
	}
	dst = appendGaps(append(dst, `],"gaps":`...), rec.Gaps)
	return append(dst, '}')
}

// An Origin of a saved trajectory's turns, as comparing it tells.
const (
	FromCalls    = "calls"    // derived from captured calls
	FromProducer = "producer" // sent by the agent
)

// Differences are what a saved trajectory and one that was built again have not in common.
type Differences struct {
	From  string // which of the two ways of building it is compared with
	Count int
	First value.Difference // A is saved
}

// Equal tells whether nothing differs.
func (d *Differences) Equal() bool { return d.Count == 0 }

// A Comparison builds a saved trajectory again and tells how it differs.
type Comparison struct {
	Parts   Parts            // without producer; the attachment only where the calls cannot be had
	Calls   func(b *Builder) // adds the captured calls; nil where there is no capture
	Partial bool             // the capture is not there, or not the row's: what depends on it is not compared
	NoTask  bool             // the input row is not known, so that the task id cannot be judged
}

// Compare holds the saved trajectory v, which is valid, against what it was made of: first without a producer, then
// with itself as the producer, of which every sound record is a fixed point (spec trajectory §11).
func (b *Builder) Compare(v jsonscan.Value, c *Comparison) (Differences, error) {
	saved, err := b.AppendRecord(nil, v)
	if err != nil {
		return Differences{}, err
	}
	was, err := value.Strict(saved)
	if err != nil {
		return Differences{}, err
	}
	nearest := Differences{Count: -1}
	for _, from := range [...]string{FromCalls, FromProducer} {
		built, err := b.again(v, c, from)
		if err != nil {
			built = nil
		}
		found := Differences{From: from, Count: 1, First: value.Difference{Path: "", A: value.Null, B: value.Null}}
		if built != nil {
			if string(built) == string(saved) {
				return Differences{From: from}, nil
			}
			is, err := value.Strict(built)
			if err != nil {
				return Differences{}, err
			}
			found = c.differences(was, is, from)
			if found.Equal() {
				return found, nil
			}
		} else if err != nil {
			found.First.B = value.Text(err.Error())
		}
		if nearest.Count < 0 || found.Count < nearest.Count {
			nearest = found
		}
	}
	return nearest, nil
}

// again builds the trajectory once more.
func (b *Builder) again(v jsonscan.Value, c *Comparison, from string) ([]byte, error) {
	b.Reset()
	parts := c.Parts
	parts.Producer = jsonscan.Value{}
	switch {
	case c.Calls != nil:
		c.Calls(b)
	case from == FromCalls:
		// Without a capture the calls of the record itself say what its turns should be.
		rec, err := b.producer.Read(v)
		if err != nil {
			return nil, err
		}
		for i := range rec.Calls {
			d := b.draftOf(&rec.Calls[i])
			b.arena.payload(d, rec.Calls[i].Request, rec.Calls[i].Response)
			b.calls = append(b.calls, d)
		}
		parts.Attachment = jsonscan.Value{}
	}
	if from == FromProducer {
		parts.Producer = v
	}
	if c.NoTask {
		parts.Origin.TaskID = v.Get("task_id")
	}
	built, err := b.Build(&parts)
	if err != nil {
		return nil, err
	}
	return built.AppendJSON(nil), nil
}

// differences compares two written forms.
func (c *Comparison) differences(was, is value.Value, from string) Differences {
	d := value.Differ{Most: 1, NullIsAbsent: true}
	if c.Partial {
		d.Compare("gaps", ownGaps(was), ownGaps(is))
		d.Skip = func(path string, _, _ value.Value) bool {
			return path == "gaps" || path == "model_calls" || strings.HasPrefix(path, "turns[") && strings.HasSuffix(path, ".model_calls")
		}
		was, is = knownTurns(was, is), knownTurns(is, was)
	} else if from == FromProducer {
		// Calls without an id are appended a second time.
		was, is = namedCalls(was), namedCalls(is)
	}
	d.Compare("", was, is)
	found := Differences{From: from, Count: d.Count}
	if d.Count > 0 {
		found.First = d.List[0]
	}
	return found
}

// ownGaps are the gaps that do not depend on captured calls.
func ownGaps(v value.Value) value.Value {
	kept := []value.Value{}
	for _, g := range v.Get("gaps").Items() {
		switch code, _ := g.Get("code").Text(); code {
		case modelcall.GapNoRecords, modelcall.GapUnreadable, modelcall.GapDamaged, modelcall.GapIncomplete, modelcall.GapUnmatched,
			modelcall.GapAmbiguous, modelcall.GapConflict, modelcall.GapUnowned, modelcall.GapNoCalls, modelcall.GapNoTurns,
			modelcall.GapJoinFailed:
		default:
			kept = append(kept, g)
		}
	}
	return value.List(kept...)
}

// knownTurns leaves the turns whose calls both have.
func knownTurns(v, other value.Value) value.Value {
	known := map[string]bool{}
	for _, c := range other.Get("model_calls").Items() {
		if id, ok := c.Get("model_call_id").Text(); ok {
			known[id] = true
		}
	}
	kept := []value.Value{}
	for _, t := range v.Get("turns").Items() {
		all := true
		for _, r := range t.Get("model_calls").Items() {
			if id, ok := r.Get("model_call_id").Text(); ok {
				all = all && known[id]
			}
		}
		if all {
			kept = append(kept, t)
		}
	}
	return v.With("turns", value.List(kept...))
}

// namedCalls leaves the calls that have an id.
func namedCalls(v value.Value) value.Value {
	kept := []value.Value{}
	for _, c := range v.Get("model_calls").Items() {
		if !c.Get("model_call_id").IsNull() {
			kept = append(kept, c)
		}
	}
	return v.With("model_calls", value.List(kept...))
}
