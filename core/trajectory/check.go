package trajectory

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/rollscope/rollscope/core/finding"
	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/modelcall"
	"github.com/rollscope/rollscope/core/value"
)

// Check holds a trajectory against itself (spec trajectory §11, independent checks; §7). bundle may be nil; sorted
// tells that its turns come from the agent, and so should be in order.
func Check(r *Record, bundle *Bundle, sorted bool, add modelcall.Notice) {
	checkRefs(r, bundle, add)
	if sorted {
		for i := 1; i < len(r.Turns); i++ {
			if compareTurns(&r.Turns[i-1], &r.Turns[i]) > 0 {
				add(finding.TrajUnsortedTurns, value.M("position", value.Int(int64(i))))
				break
			}
		}
	}
	checkTurns(r, add)
	checkGaps(r, add)
	checkTools(r, add)
}

func compareTurns(a, b *Turn) int {
	return cmp.Or(compareTimes(a.Timestamp, b.Timestamp), bytes.Compare(a.InvocationID.Bytes, b.InvocationID.Bytes), a.No.Cmp(b.No))
}

// checkRefs looks for references that fit no single call while no gap says so.
func checkRefs(r *Record, bundle *Bundle, add modelcall.Notice) {
	said := map[string]bool{}
	for i := range r.Gaps {
		switch string(r.Gaps[i].Code.Bytes) {
		case modelcall.GapUnmatched, modelcall.GapAmbiguous, modelcall.GapConflict, modelcall.GapUnowned:
			label := r.Gaps[i].Detail.Bytes
			for _, prefix := range [...]string{"model_calls:", "before_model_call:", "after_model_call:"} {
				label = bytes.TrimPrefix(label, []byte(prefix))
			}
			said[string(label)] = true
		}
	}
	names := make([]CallName, len(r.Calls))
	for i := range r.Calls {
		c := &r.Calls[i]
		names[i] = CallName{Ref: Ref{ModelCallID: c.ID, Model: c.ModelRef, ResponseID: c.ResponseID}}
	}
	j := joining{bundle: new(Bundle), calls: names}
	j.index()
	look := func(where string, ref *Ref) {
		if n, _ := j.matches(ref); n != 1 && !said[string(ref.Label())] {
			add(finding.TrajDanglingRef, value.M("where", value.Text(where)), value.M("label", value.Text(string(ref.Label()))), value.M("matches", value.Int(int64(n))))
		}
	}
	for i := range r.Turns {
		t := &r.Turns[i]
		for k := range t.Refs {
			look("turn "+t.No.String()+" of "+t.InvocationID.String(), &t.Refs[k])
		}
	}
	for i := range r.Invocations {
		for k := range r.Invocations[i].Refs {
			look("invocation "+r.Invocations[i].ID.String(), &r.Invocations[i].Refs[k])
		}
	}
	if bundle == nil {
		return
	}
	for i := range bundle.Compactions {
		c := &bundle.Compactions[i]
		where := "a compaction of " + c.InvocationID.String()
		for k := range c.Refs {
			look(where, &c.Refs[k])
		}
		for _, ref := range [...]*Ref{c.Before, c.After} {
			if ref != nil {
				look(where, ref)
			}
		}
	}
}

// checkTurns looks at the numbers and step counts of every invocation's turns.
func checkTurns(r *Record, add modelcall.Notice) {
	turns := map[string][]*Turn{}
	var order []string
	for i := range r.Turns {
		id := string(r.Turns[i].InvocationID.Bytes)
		if len(turns[id]) == 0 {
			order = append(order, id)
		}
		turns[id] = append(turns[id], &r.Turns[i])
	}
	for _, id := range order {
		list := turns[id]
		slices.SortStableFunc(list, func(a, b *Turn) int { return a.No.Cmp(b.No) })
		holes := false
		numbers := make([]value.Value, len(list))
		for i, t := range list {
			holes = holes || t.No.Cmp(integer.Of(int64(i)+1)) != 0
			numbers[i] = value.Whole(t.No)
		}
		name := value.M("invocation", value.Text(id))
		if holes {
			add(finding.TrajTurnGap, name, value.M("numbers", value.List(numbers...)))
		}
		for i := 1; i < len(list); i++ {
			if list[i].StepCount.Cmp(list[i-1].StepCount) < 0 {
				add(finding.TrajStepCount, name, value.M("turn", value.Whole(list[i].No)))
				break
			}
		}
	}
}

// checkGaps holds what gaps say is missing against what is there.
func checkGaps(r *Record, add modelcall.Notice) {
	spoken := false
	for i := range r.Invocations {
		e := r.Invocations[i].Conversation.Elements()
		spoken = spoken || e.Next()
	}
	projected := r.Has(modelcall.GapProjection)
	for _, g := range [...]struct {
		code  string
		there bool
		must  bool // without it the gap has to be there
	}{
		{modelcall.GapNoTurns, len(r.Turns) > 0, false},
		{modelcall.GapNoCalls, len(r.Calls) > 0, !projected},
		{modelcall.GapNoDialogue, spoken, !projected},
	} {
		has := r.Has(g.code)
		state := ""
		switch {
		case has && g.there:
			state = "the gap is there, and so is what it says is missing"
		case !has && !g.there && g.must:
			state = "it is missing, and no gap says so"
		default:
			continue
		}
		add(finding.TrajGapContradiction, value.M("gap", value.Text(g.code)), value.M("state", value.Text(state)))
	}
}

// checkTools looks at whose the tool calls are, and at their times.
func checkTools(r *Record, add modelcall.Notice) {
	listed := map[string]bool{}
	for i := range r.Invocations {
		listed[string(r.Invocations[i].ID.Bytes)] = true
	}
	for i := range r.Tools {
		t := &r.Tools[i]
		name := value.M("tool", value.Text(t.ID.String()))
		if !listed[string(t.InvocationID.Bytes)] {
			add(finding.TrajOrphanTool, name, value.M("invocation", value.Text(t.InvocationID.String())))
		}
		if t.StartedAt.Set && t.CompletedAt.Set && t.DurationMS.Set {
			span := (t.CompletedAt.Value - t.StartedAt.Value) * 1000
			if math.Abs(span-t.DurationMS.Value) > 1+t.DurationMS.Value/100 {
				add(finding.TrajToolDuration, name, value.M("duration_ms", value.Float(t.DurationMS.Value)), value.M("span_ms", value.Float(math.Round(span*1000)/1000)))
			}
		}
	}
}

// CheckTokens holds the token counts of the calls against those attached to the row (spec trajectory §11).
func CheckTokens(r *Record, attachment value.Value, add modelcall.Notice) {
	attached := map[string]value.Value{}
	payloads := 0
	for _, c := range attachment.Get("calls").Items() {
		if id, ok := c.Get("model_call_id").Text(); ok && id != "" {
			attached[id] = c
		}
		for _, key := range modelcall.PayloadFields {
			if c.Get(key).Exists() {
				payloads++
				break
			}
		}
	}
	for i := range r.Calls {
		c := &r.Calls[i]
		other, found := attached[string(c.ID.Bytes)]
		if !found || c.ID.Empty() {
			continue
		}
		for k, n := range [...]Count{c.PromptTokens, c.CompletionTokens, c.ReasoningTokens, c.TotalTokens, c.CachedTokens} {
			saved := value.Null
			if n.Set {
				saved = value.Whole(n.Int)
			}
			// What the attached call does not know, the agent may have.
			if made := other.Get(statsNames[k]); !made.IsNull() && !value.Equal(saved, made) {
				add(finding.TrajTokenMismatch, value.M("call", value.Text(c.ID.String())), value.M("field", value.Text(statsTable.fields[k].name)),
					value.M("saved", saved), value.M("made", value.Short(made)))
			}
		}
	}
	if payloads > 0 {
		add(finding.TrajPayloadDuplicate, value.M("calls", value.Int(int64(payloads))))
	}
}

// CheckIdentity holds the ids of a trajectory against its input row; without one only the rollout id is judged.
func CheckIdentity(r *Record, o *Origin, known bool, add modelcall.Notice) {
	task, repeat, err := o.IDs()
	if err != nil {
		return
	}
	if known && r.TaskID.String() != task {
		add(finding.TrajIdentity, value.M("field", value.Text("task_id")), value.M("saved", value.Text(r.TaskID.String())), value.M("made", value.Text(task)))
	}
	if r.RolloutID.String() != repeat {
		add(finding.TrajIdentity, value.M("field", value.Text("rollout_id")), value.M("saved", value.Text(r.RolloutID.String())), value.M("made", value.Text(repeat)))
	}
}

// CheckJoin joins the observations of a row once more with its attached calls, and tells whether they come out as
// they are (spec model-calls §10). The order of gaps may move.
func (b *Builder) CheckJoin(bundle *Bundle, attachment value.Value, add modelcall.Notice) {
	var names []CallName
	for i, c := range attachment.Get("calls").Items() {
		if !c.IsObject() {
			continue
		}
		text := func(v value.Value) Text {
			s, ok := v.Text()
			return Text{Bytes: []byte(s), Set: ok}
		}
		n := CallName{Index: i, SessionID: text(c.Get("client_session_id"))}
		n.ModelCallID, n.ResponseID = text(c.Get("model_call_id")), text(c.Get("response_id"))
		if ref := c.Get("model_ref"); ref.IsObject() {
			n.Model = ModelRef{Type: text(ref.Get("type")), Name: text(ref.Get("name")), Set: true}
		}
		if at, ok := c.Get("call_index").Int64(); ok {
			n.Index = int(at)
		}
		names = append(names, n)
	}
	split := func() (records string, gaps []string) {
		v, err := value.Strict(b.w.bundle(nil, bundle))
		if err != nil {
			return "", nil
		}
		for _, g := range v.Get("gaps").Items() {
			gaps = append(gaps, g.String())
		}
		slices.Sort(gaps)
		return v.Get("records").String(), gaps
	}
	records, gaps := split()
	bundle.Join(names)
	again, others := split()
	what := ""
	switch {
	case records != again:
		what = "references"
	case !slices.Equal(gaps, others):
		what = strconv.Itoa(len(gaps)) + " gaps saved, " + strconv.Itoa(len(others)) + " made"
	default:
		return
	}
	add(finding.CallsJoinMismatch, value.M("what", value.Text(what)))
}
