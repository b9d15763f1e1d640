package trajectory

import (
	"strconv"

	"github.com/rollscope/rollscope/core/modelcall"
	"github.com/rollscope/rollscope/core/trajectory/lax"
)

// A CallName is what the join needs to know of a captured call.
type CallName struct {
	Ref
	SessionID Text
	Index     int // call_index
}

// NameOf takes it from a call.
func NameOf(c *modelcall.Call) CallName {
	return CallName{Ref: c.Canonical(), SessionID: c.ClientSessionID, Index: c.Index}
}

// Join ties the references of a bundle to captured calls (spec model-calls §10). References that fit exactly one call
// become its full name, every call gets one owner at most, and what remains open becomes a gap. The order of the
// bundle's invocations decides who owns a call that several claim; all else does not depend on it.
func (b *Bundle) Join(calls []CallName) {
	j := joining{bundle: b, calls: calls, owner: make([]int, len(calls))}
	j.index()
	j.attach()
	j.dropStale()
	for i := range b.Invocations {
		for k := range b.Invocations[i].Refs {
			j.claim(i, &b.Invocations[i].Refs[k])
		}
	}
	for i := range b.Compactions {
		j.compaction(&b.Compactions[i])
	}
	j.unowned()
	b.Gaps = distinctGaps(b.Gaps)
}

// nobody owns a call.
const nobody = 0

type joining struct {
	bundle      *Bundle
	calls       []CallName
	owner       []int // of each call: the number of its invocation plus one
	invocations map[string]int
	byID        map[string][]int
	byResponse  map[string][]int
}

// index finds calls and invocations by their names.
func (j *joining) index() {
	j.invocations = make(map[string]int, len(j.bundle.Invocations))
	for i := range j.bundle.Invocations {
		j.invocations[string(j.bundle.Invocations[i].ID.Bytes)] = i
	}
	j.byID = make(map[string][]int, len(j.calls))
	j.byResponse = make(map[string][]int, len(j.calls))
	for i := range j.calls {
		c := &j.calls[i]
		if !c.ModelCallID.Empty() {
			j.byID[string(c.ModelCallID.Bytes)] = append(j.byID[string(c.ModelCallID.Bytes)], i)
		}
		if !c.ResponseID.Empty() {
			j.byResponse[string(c.ResponseID.Bytes)] = append(j.byResponse[string(c.ResponseID.Bytes)], i)
		}
	}
}

// matches gives the number of calls that a reference fits, and one of them.
func (j *joining) matches(r *Ref) (n, call int) {
	candidates := j.byResponse[string(r.ResponseID.Bytes)]
	if !r.ModelCallID.Empty() {
		candidates = j.byID[string(r.ModelCallID.Bytes)]
	}
	for _, i := range candidates {
		if r.Matches(&j.calls[i].Ref) {
			if n++; n == 1 {
				call = i
			}
		}
	}
	return n, call
}

// attach adds the calls of a client session to the invocation of that name, unless it names them already.
func (j *joining) attach() {
	named := map[int]map[string]bool{}
	for i := range j.calls {
		c := &j.calls[i]
		if c.SessionID.Empty() || c.ModelCallID.Empty() {
			continue
		}
		at, found := j.invocations[string(c.SessionID.Bytes)]
		if !found {
			continue
		}
		in := &j.bundle.Invocations[at]
		names := named[at]
		if names == nil {
			names = make(map[string]bool, len(in.Refs))
			for k := range in.Refs {
				names[string(in.Refs[k].AppendJSON(nil))] = true
			}
			named[at] = names
		}
		known := false
		for _, r := range [...]Ref{
			{ModelCallID: c.ModelCallID},
			{ModelCallID: c.ModelCallID, Model: c.Model},
			{ModelCallID: c.ModelCallID, ResponseID: c.ResponseID},
			c.Ref,
		} {
			known = known || names[string(r.AppendJSON(nil))]
		}
		if c.Model.Set && c.ResponseID.Set {
			pair := Ref{Model: c.Model, ResponseID: c.ResponseID}
			known = known || names[string(pair.AppendJSON(nil))]
		}
		if known {
			continue
		}
		in.Refs = append(in.Refs[:len(in.Refs):len(in.Refs)], c.Ref)
		names[string(c.Ref.AppendJSON(nil))] = true
	}
}

// dropStale removes the gaps that an earlier join left.
func (j *joining) dropStale() {
	kept := make([]Gap, 0, len(j.bundle.Gaps))
	for _, g := range j.bundle.Gaps {
		switch string(g.Code.Bytes) {
		case modelcall.GapAmbiguous, modelcall.GapConflict, modelcall.GapUnmatched:
			continue
		case modelcall.GapUnowned:
			const capture = "capture:"
			if d := g.Detail.Bytes; !g.InvocationID.Set && len(d) >= len(capture) && string(d[:len(capture)]) == capture {
				continue
			}
		}
		kept = append(kept, g)
	}
	j.bundle.Gaps = kept
}

// gap adds a gap about a reference or a call.
func (j *joining) gap(code string, invocation Text, prefix string, label []byte) {
	j.bundle.Gaps = append(j.bundle.Gaps, Gap{
		Code: lax.TextOf(code), InvocationID: invocation, Detail: lax.TextOf(prefix + string(label)),
	})
}

// unclear is the code of a reference that does not fit exactly one call.
func unclear(n int) string {
	if n > 1 {
		return modelcall.GapAmbiguous
	}
	return modelcall.GapUnmatched
}

// claim gives an invocation the call that one of its references names.
func (j *joining) claim(invocation int, r *Ref) {
	id := j.bundle.Invocations[invocation].ID
	n, call := j.matches(r)
	switch {
	case n != 1:
		j.gap(unclear(n), id, "", r.Label())
	case j.owner[call] != nobody:
		j.gap(modelcall.GapConflict, id, "", j.calls[call].Label())
	default:
		j.owner[call] = invocation + 1
		*r = j.calls[call].Ref
	}
}

// compaction resolves the references of a compaction. Its own calls must belong to its invocation.
func (j *joining) compaction(c *Compaction) {
	mine := -1
	if at, found := j.invocations[string(c.InvocationID.Bytes)]; found {
		mine = at + 1
	}
	resolve := func(r *Ref, prefix string, must bool) {
		n, call := j.matches(r)
		switch {
		case n != 1:
			j.gap(unclear(n), c.InvocationID, prefix, r.Label())
		case j.owner[call] == nobody && must:
			j.gap(modelcall.GapUnowned, c.InvocationID, prefix, j.calls[call].Label())
		case j.owner[call] != nobody && j.owner[call] != mine:
			j.gap(modelcall.GapConflict, c.InvocationID, prefix, j.calls[call].Label())
		default:
			*r = j.calls[call].Ref
		}
	}
	for i := range c.Refs {
		resolve(&c.Refs[i], "model_calls:", true)
	}
	if c.Before != nil {
		resolve(c.Before, "before_model_call:", false)
	}
	if c.After != nil {
		resolve(c.After, "after_model_call:", false)
	}
}

// unowned adds a gap for every call that nobody claims.
func (j *joining) unowned() {
	for i := range j.calls {
		if j.owner[i] != nobody {
			continue
		}
		c := &j.calls[i]
		label := c.Label()
		if len(label) == 0 {
			label = []byte("unknown")
		}
		j.gap(modelcall.GapUnowned, Text{}, "capture:", append(label[:len(label):len(label)], ":call_index="+strconv.Itoa(c.Index)...))
	}
}

// distinctGaps keeps the first of gaps that say the same.
func distinctGaps(gaps []Gap) []Gap {
	if len(gaps) < 2 {
		return gaps
	}
	seen := make(map[string]bool, len(gaps))
	kept := gaps[:0:0]
	var key []byte
	for i := range gaps {
		key = gaps[i].appendJSON(key[:0])
		if !seen[string(key)] {
			seen[string(key)] = true
			kept = append(kept, gaps[i])
		}
	}
	return kept
}
