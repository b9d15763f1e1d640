package check

import (
	"bytes"

	"github.com/rollscope/rollscope/core/trajectory"
)

// A View says what a list of references to model calls leads to (spec health §7).
type View struct {
	References int     // different ones
	Missing    int     // that lead to no call
	Duplicated int     // that fit several
	Matched    []int32 // calls that exactly one answer is, by position, each once
}

// Complete tells whether there are references and each leads to exactly one call.
func (v *View) Complete() bool { return v.References > 0 && v.Missing == 0 && v.Duplicated == 0 }

func (v *View) clear() { *v = View{Matched: v.Matched[:0]} }

func (v *View) count(matches int32) {
	v.References++
	switch {
	case matches == 0:
		v.Missing++
	case matches > 1:
		v.Duplicated++
	}
}

// bound is a reference with what it leads to.
type bound struct {
	ref     *trajectory.Ref
	owner   int32 // position of its turn, or of its invocation if it is none of the turns'
	index   int32 // among the owner's references
	matches int32
}

// group is a set of calls with the same model and response id.
type group struct {
	first, size int32
}

// bind resolves the references of all turns and then of all invocations. Those that look alike count
// once, and the first of them decides how they resolve. The turns' references come first, so what their
// view keeps is a prefix of what the owned view keeps, and one pass serves both.
func (e *Evidence) bind() {
	total := 0
	for i := range e.Record.Turns {
		total += len(e.Record.Turns[i].Refs)
	}
	for i := range e.Record.Invocations {
		total += len(e.Record.Invocations[i].Refs)
	}
	if total == 0 {
		return
	}
	e.seen.reset(total)
	e.indexCalls()
	for i := range e.Record.Turns {
		refs := e.Record.Turns[i].Refs
		for k := range refs {
			e.bindRef(&refs[k], int32(i), int32(k), boundTurn|boundOwned)
		}
	}
	e.turnRefs = len(e.refs)
	for i := range e.Record.Invocations {
		refs := e.Record.Invocations[i].Refs
		for k := range refs {
			e.bindRef(&refs[k], int32(i), int32(k), boundOwned)
		}
	}
	for i := range e.Calls {
		if e.Calls[i].bound&boundTurn != 0 {
			e.Turned.Matched = append(e.Turned.Matched, int32(i))
		}
		if e.Calls[i].bound&boundOwned != 0 {
			e.Owned.Matched = append(e.Owned.Matched, int32(i))
		}
	}
}

// indexCalls makes calls known by id, and by model with response id.
func (e *Evidence) indexCalls() {
	e.byID.reset(len(e.Calls))
	e.byResponse.reset(len(e.Calls))
	e.groups = e.groups[:0]
	for i := range e.Calls {
		c := &e.Calls[i]
		if !c.ID.Empty() {
			s := e.byID.slot(mix(0, c.ID.Bytes))
			for e.byID.slots[s] != 0 {
				s = e.byID.next(s)
			}
			e.byID.slots[s] = int32(i) + 1
		}
		if !c.ModelRef.Set || !c.ResponseID.Set {
			continue
		}
		for s := e.byResponse.slot(responseHash(&c.ModelRef, c.ResponseID)); ; s = e.byResponse.next(s) {
			k := e.byResponse.slots[s] - 1
			if k < 0 {
				e.byResponse.slots[s] = int32(len(e.groups)) + 1
				e.groups = append(e.groups, group{int32(i), 1})
				break
			}
			if first := &e.Calls[e.groups[k].first]; same(first.ResponseID, c.ResponseID) && sameModel(&first.ModelRef, &c.ModelRef) {
				e.groups[k].size++
				break
			}
		}
	}
}

func responseHash(m *trajectory.ModelRef, response trajectory.Text) uint64 {
	return mix(mix(mix(0, m.Type.Bytes), m.Name.Bytes), response.Bytes)
}

// bindRef resolves one reference unless one that looks alike came before.
func (e *Evidence) bindRef(ref *trajectory.Ref, owner, index int32, view uint8) {
	for s := e.seen.slot(mix(responseHash(&ref.Model, ref.ResponseID), ref.ModelCallID.Bytes)); ; s = e.seen.next(s) {
		i := e.seen.slots[s] - 1
		if i < 0 {
			e.seen.slots[s] = int32(len(e.refs)) + 1
			break
		}
		if sameRef(e.refs[i].ref, ref) {
			return
		}
	}
	call, matches := e.resolve(ref)
	if matches == 1 {
		c := &e.Calls[call]
		if view&boundTurn != 0 && c.turn < 0 {
			c.turn = owner
		}
		c.bound |= view
	}
	e.refs = append(e.refs, bound{ref, owner, index, matches})
	if view&boundTurn != 0 {
		e.Turned.count(matches)
	}
	e.Owned.count(matches)
}

// sameRef compares what references are told apart by; there null and "" are the same.
func sameRef(a, b *trajectory.Ref) bool {
	return same(a.ModelCallID, b.ModelCallID) && same(a.ResponseID, b.ResponseID) && sameModel(&a.Model, &b.Model)
}

// resolve finds the calls a reference fits: how many, and one of them.
func (e *Evidence) resolve(ref *trajectory.Ref) (call, matches int32) {
	if ref.ModelCallID.Empty() {
		return e.resolveResponse(ref)
	}
	for s := e.byID.slot(mix(0, ref.ModelCallID.Bytes)); ; s = e.byID.next(s) {
		i := e.byID.slots[s] - 1
		if i < 0 {
			return 0, 0
		}
		c := &e.Calls[i]
		if !same(c.ID, ref.ModelCallID) {
			continue
		}
		// Ids are unique, so this is the only candidate. What the reference says besides must fit too.
		if ref.Model.Set && !(c.ModelRef.Set && sameModel(&c.ModelRef, &ref.Model)) ||
			ref.ResponseID.Set && !(c.ResponseID.Set && same(c.ResponseID, ref.ResponseID)) {
			return 0, 0
		}
		return i, 1
	}
}

func (e *Evidence) resolveResponse(ref *trajectory.Ref) (call, matches int32) {
	for s := e.byResponse.slot(responseHash(&ref.Model, ref.ResponseID)); ; s = e.byResponse.next(s) {
		k := e.byResponse.slots[s] - 1
		if k < 0 {
			return 0, 0
		}
		g := e.groups[k]
		if c := &e.Calls[g.first]; same(c.ResponseID, ref.ResponseID) && sameModel(&c.ModelRef, &ref.Model) {
			return g.first, g.size
		}
	}
}

// refLabel names a reference in a finding: its call id or else its response id, behind the last colon.
func refLabel(ref *trajectory.Ref) []byte {
	if !ref.ModelCallID.Empty() {
		return behindColon(ref.ModelCallID.Bytes)
	}
	return behindColon(ref.ResponseID.Bytes)
}

func behindColon(b []byte) []byte { return b[bytes.LastIndexByte(b, ':')+1:] }

// label is a text under a number, for telling whether both were there before.
type label struct {
	kind byte
	text []byte
}

// oldLabel tells whether kind and text were noted.
func (e *Evidence) oldLabel(kind byte, text []byte) bool {
	for s := e.labels.slot(mix(uint64(kind), text)); ; s = e.labels.next(s) {
		i := e.labels.slots[s] - 1
		if i < 0 {
			return false
		}
		if e.texts[i].kind == kind && bytes.Equal(e.texts[i].text, text) {
			return true
		}
	}
}

// newLabel tells whether kind and text are new since e.labels and e.texts were emptied, and notes them.
func (e *Evidence) newLabel(kind byte, text []byte) bool {
	for s := e.labels.slot(mix(uint64(kind), text)); ; s = e.labels.next(s) {
		i := e.labels.slots[s] - 1
		if i < 0 {
			e.labels.slots[s] = int32(len(e.texts)) + 1
			e.texts = append(e.texts, label{kind, text})
			return true
		}
		if e.texts[i].kind == kind && bytes.Equal(e.texts[i].text, text) {
			return false
		}
	}
}
