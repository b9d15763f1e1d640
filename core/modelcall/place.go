package modelcall

import (
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/trajectory/lax"
)

// A placing finds out which turn and which invocation of a trajectory refer to the calls of a row. A reference counts
// where it fits one call and no other; a call belongs to the first turn and to the first invocation that name it (spec
// perf §1.2). It reuses its memory.
type placing struct {
	refs       []Ref
	byID       map[string]int32 // last call of an id, and before each the one before
	byResponse map[string]int32
	sameID     []int32
	sameAnswer []int32
	text       []byte
}

// look sets turn and invocation of the calls.
func (p *placing) look(calls []callFields, trajectory jsonscan.Value) {
	turns, invocations := trajectory.Get("turns"), trajectory.Get("invocations")
	if len(calls) == 0 || !turns.IsArray() && !invocations.IsArray() {
		return
	}
	p.index(calls)
	e := turns.Elements()
	for n := 1; e.Next(); n++ {
		refs := e.Value.Get("model_calls").Elements()
		for refs.Next() {
			if at := p.find(refs.Value); at >= 0 && calls[at].turn == 0 {
				calls[at].turn = n
			}
		}
	}
	e = invocations.Elements()
	for e.Next() {
		refs := e.Value.Get("model_calls").Elements()
		for refs.Next() {
			if at := p.find(refs.Value); at >= 0 && !calls[at].invocation.Exists() {
				calls[at].invocation = e.Value.Get("invocation_id")
			}
		}
	}
}

// index notes the names of the calls.
func (p *placing) index(calls []callFields) {
	if p.byID == nil {
		p.byID, p.byResponse = map[string]int32{}, map[string]int32{}
	}
	clear(p.byID)
	clear(p.byResponse)
	p.refs, p.sameID, p.sameAnswer, p.text = p.refs[:0], p.sameID[:0], p.sameAnswer[:0], p.text[:0]
	chain := func(at map[string]int32, list []int32, name lax.Text) []int32 {
		before := int32(-1)
		if name.Empty() {
			return append(list, before)
		}
		if last, there := at[string(name.Bytes)]; there {
			before = last
		}
		at[string(name.Bytes)] = int32(len(list))
		return append(list, before)
	}
	for i := range calls {
		r := Ref{ModelCallID: p.word(calls[i].id), Model: p.server(calls[i].ref), ResponseID: p.word(calls[i].response)}
		p.refs = append(p.refs, r)
		p.sameID = chain(p.byID, p.sameID, r.ModelCallID)
		p.sameAnswer = chain(p.byResponse, p.sameAnswer, r.ResponseID)
	}
}

// find gives the only call that a reference fits, −1 where there is none or more than one.
func (p *placing) find(v jsonscan.Value) int {
	end := len(p.text)
	r := Ref{ModelCallID: p.word(v.Get("model_call_id")), Model: p.server(v.Get("model_ref")), ResponseID: p.word(v.Get("response_id"))}
	at, names, before := p.byResponse, r.ResponseID, p.sameAnswer
	if !r.ModelCallID.Empty() {
		at, names, before = p.byID, r.ModelCallID, p.sameID
	}
	found := -1
	next, there := at[string(names.Bytes)]
	for there && next >= 0 {
		if r.Matches(&p.refs[next]) {
			if found >= 0 {
				found = -1
				break
			}
			found = int(next)
		}
		next = before[next]
	}
	p.text = p.text[:end]
	return found
}

// word decodes a text. Those that were decoded before keep their bytes when the room for more grows.
func (p *placing) word(v jsonscan.Value) lax.Text {
	if !v.IsString() {
		return lax.Text{}
	}
	start := len(p.text)
	p.text = v.AppendText(p.text)
	return lax.Text{Bytes: p.text[start:len(p.text):len(p.text)], Set: true}
}

func (p *placing) server(v jsonscan.Value) ModelRef {
	if !v.IsObject() {
		return ModelRef{}
	}
	return ModelRef{Type: p.word(v.Get("type")), Name: p.word(v.Get("name")), Set: true}
}
