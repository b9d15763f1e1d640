package harness

import (
	"bytes"
	"strings"

	"github.com/rollscope/rollscope/core/jsonscan"
)

// The identifiers of a call, and which of them a reference has.
const (
	idCall = iota
	idServer
	idResponse
	identifiers
)

// A resolver finds the call that a reference means. All identifiers that the reference has must agree, so that there
// is one index for each set of them that occurs.
type resolver struct {
	byIDs [1 << identifiers]index
	built uint8 // sets whose index is ready
	keyed bool  // the calls have their keys
	keys  []byte
	key   []byte
}

func (r *resolver) reset() { r.built, r.keyed, r.keys = 0, false, r.keys[:0] }

// resolve gives the one call that a well-formed reference means; ok is false if there is none or several (§4).
func (j *Judge) resolve(ref jsonscan.Value) (at int32, ok bool) {
	r := &j.resolver
	o := j.objects.open(ref)
	ids := [identifiers]jsonscan.Value{o.get(keyModelCallID), o.get(keyModelRef), o.get(keyResponseID)}
	set := 0
	r.key = r.key[:0]
	for i, id := range ids {
		if !id.IsNull() {
			set |= 1 << i
			r.key = append(j.appendKey(r.key, id), 0)
		}
	}
	if r.built>>set&1 == 0 {
		j.indexCalls(set)
	}
	at, n := r.byIDs[set].find(r.key)
	return at, n == 1
}

// indexCalls makes the index for a set of identifiers.
func (j *Judge) indexCalls(set int) {
	r := &j.resolver
	if !r.keyed {
		r.keyed = true
		for i := range j.calls {
			c := &j.calls[i]
			for k, id := range [identifiers]jsonscan.Value{c.id, c.ref, c.response} {
				from := len(r.keys)
				r.keys = append(j.appendKey(r.keys, id), 0)
				c.keys[k] = span{from, len(r.keys)}
			}
		}
	}
	r.built |= 1 << set
	x := &r.byIDs[set]
	x.reset(len(j.calls))
	for i := range j.calls {
		j.scratch = j.scratch[:0]
		for k, s := range j.calls[i].keys {
			if set>>k&1 != 0 {
				j.scratch = append(j.scratch, r.keys[s.from:s.to]...)
			}
		}
		x.put(j.scratch, int32(i))
	}
}

// previousResponses is the rule of content.previous_response.
func (j *Judge) previousResponses() bool {
	ok, indexed := true, false
	x := &j.earlier
	for i := range j.calls {
		c := &j.calls[i]
		id := j.objects.get(c.request, keyPreviousResponseID)
		if id.Truthy() {
			if !indexed {
				// Most rows have no such request; calls before the first one are put in now.
				indexed = true
				x.reset(len(j.calls))
				for k := range i {
					x.put(j.answer(j.calls[k].response, j.calls[k].ref), int32(k))
				}
			}
			at, n := x.find(j.answer(id, c.ref))
			if n != 1 || j.calls[at].request.IsNull() || j.calls[at].body.IsNull() {
				ok = false
				j.point(inCalls, id, step(i), byKey(keyRequest), byKey(keyPreviousResponseID))
			}
		}
		if indexed {
			x.put(j.answer(c.response, c.ref), int32(i))
		}
	}
	return ok
}

// answer is the key of a response by its id and its server.
func (j *Judge) answer(id, ref jsonscan.Value) []byte {
	j.scratch = append(j.appendKey(j.scratch[:0], id), 0)
	j.scratch = j.appendKey(j.scratch, ref)
	return j.scratch
}

// findInvocation finds the one invocation with an id; −1 if there is none or several.
func (j *Judge) findInvocation(id jsonscan.Value) int32 {
	if !j.hasIDs {
		j.hasIDs = true
		j.byID.reset(len(j.invocations))
		for i := range j.invocations {
			j.scratch = j.appendKey(j.scratch[:0], j.invocations[i].id)
			j.byID.put(j.scratch, int32(i))
		}
	}
	j.scratch = j.appendKey(j.scratch[:0], id)
	if at, n := j.byID.find(j.scratch); n == 1 {
		return at
	}
	return -1
}

// toInvocations finds the invocation of every item of a place.
func (j *Judge) toInvocations(p place, list []item) bool {
	ok := true
	for i := range list {
		it := &list[i]
		if it.to = j.findInvocation(it.id); it.to < 0 {
			ok = false
			j.point(p, it.id, step(it.index), byKey(keyInvocationID))
		}
	}
	return ok
}

// turnInvocations is the rule of steps.invocation_target.
func (j *Judge) turnInvocations() bool { return j.toInvocations(inTurns, j.turns) }

// toolInvocations is the rule of tools.invocation_target.
func (j *Judge) toolInvocations() bool { return j.toInvocations(inTools, j.tools) }

// toolRequests is the rule of tools.request. Every tool is known to belong to one invocation.
func (j *Judge) toolRequests() bool {
	x := &j.asked
	j.requests = j.requests[:0]
	for i := range j.invocations {
		for e := j.objects.get(j.invocations[i].value, keyConversation).Elements(); e.Next(); {
			if o := j.objects.open(e.Value); o.get(keyType).Is("function_call") {
				j.requests = append(j.requests, asking{int32(i), o.get(keyCallID), o.get(keyName), o.get(keyArguments)})
			}
		}
	}
	x.reset(len(j.requests))
	for i := range j.requests {
		x.put(j.askedKey(j.requests[i].invocation, j.requests[i].id), int32(i))
	}
	ok := true
	for i := range j.tools {
		t := &j.tools[i]
		at, n := x.find(j.askedKey(t.to, t.more))
		if n != 1 || !j.requests[at].arguments.IsString() || !j.equal(j.requests[at].name, t.name) {
			ok = false
			j.point(inTools, t.more, step(t.index), byKey(keyToolCallID))
		}
	}
	return ok
}

// asking is a function_call of a conversation.
type asking struct {
	invocation          int32
	id, name, arguments jsonscan.Value
}

func (j *Judge) askedKey(invocation int32, id jsonscan.Value) []byte {
	j.scratch = append(j.scratch[:0], byte(invocation), byte(invocation>>8), byte(invocation>>16), byte(invocation>>24))
	j.scratch = j.appendKey(j.scratch, id)
	return j.scratch
}

// equal compares two values of the row as joins do (§3).
func (j *Judge) equal(a, b jsonscan.Value) bool {
	j.scratch = j.appendKey(j.scratch[:0], a)
	n := len(j.scratch)
	j.scratch = j.appendKey(j.scratch, b)
	return bytes.Equal(j.scratch[:n], j.scratch[n:])
}

// The states of an invocation while parents are followed.
const (
	unvisited = iota
	onPath
	rooted
	lost
)

// parents is the rule of invocations.parent. What is known of an invocation holds for all that lead to it, so that
// each is visited once.
func (j *Judge) parents() bool {
	ok := true
	state := append(j.states[:0], make([]byte, len(j.invocations))...)
	j.states = state
	for i := range j.invocations {
		j.hops = j.hops[:0]
		at, end := int32(i), byte(rooted)
		for state[at] == unvisited {
			state[at] = onPath
			j.hops = append(j.hops, at)
			parent := j.invocations[at].more
			if parent.IsNull() {
				break
			}
			next := j.findInvocation(parent)
			if next < 0 {
				j.pointParent(at)
				end = lost
				break
			}
			if state[next] == onPath {
				// Everything from there to here goes round in a circle.
				for k := len(j.hops) - 1; ; k-- {
					j.pointParent(j.hops[k])
					if j.hops[k] == next {
						break
					}
				}
				end = lost
				break
			}
			at = next
		}
		if state[at] == lost {
			end = lost
		}
		for _, k := range j.hops {
			state[k] = end
		}
		ok = ok && end != lost
	}
	return ok
}

func (j *Judge) pointParent(i int32) {
	j.point(inInvocations, j.invocations[i].more, step(j.invocations[i].index), byKey(keyParentID))
}

// references walks the references of an item of a place and tells whether each leads to one call.
func (j *Judge) references(p place, it *item, found func(call int32, ref jsonscan.Value, at step)) bool {
	ok, at := true, step(0)
	for e := it.refs.Elements(); e.Next(); at++ {
		ref := e.Value
		if call, one := j.resolve(ref); one {
			found(call, ref, at)
		} else {
			ok = false
			j.point(p, ref, step(it.index), byKey(keyModelCalls), at)
		}
	}
	return ok
}

// ownerReferences is the rule of ownership.call_target. It finds the owners of all calls.
func (j *Judge) ownerReferences() bool {
	ok := true
	for i := range j.invocations {
		ok = j.references(inInvocations, &j.invocations[i], func(call int32, _ jsonscan.Value, _ step) {
			c := &j.calls[call]
			if c.owners++; c.owners == 1 {
				c.owner = int32(i)
			}
		}) && ok
	}
	return ok
}

// owners is the rule of ownership.call_owner.
func (j *Judge) owners() bool {
	ok := true
	for i := range j.calls {
		if j.calls[i].owners != 1 {
			ok = false
			j.point(inCalls, j.calls[i].value, step(i))
		}
	}
	return ok
}

// compactionReferences is the rule of steps.compaction_target.
func (j *Judge) compactionReferences() bool {
	ok := true
	for i := range j.compactions {
		it := &j.compactions[i]
		if !j.fits(callRefs, it.refs) {
			ok = false
			if it.refs.Exists() {
				j.point(inRecords, it.refs, step(it.index), byKey(keyModelCalls))
			} else {
				j.point(inRecords, it.value, step(it.index))
			}
			continue
		}
		ok = j.references(inRecords, it, func(call int32, _ jsonscan.Value, _ step) { j.calls[call].compacts = true }) && ok
	}
	return ok
}

// turnRef is a reference of a turn that leads to one call.
type turnRef struct {
	turn, call int32
	at         step
	ref        jsonscan.Value
}

// turnReferences is the rule of steps.call_target. It finds the turns of all calls.
func (j *Judge) turnReferences() bool {
	ok := true
	j.turnRefs = j.turnRefs[:0]
	for i := range j.turns {
		ok = j.references(inTurns, &j.turns[i], func(call int32, ref jsonscan.Value, at step) {
			j.calls[call].turns++
			j.turnRefs = append(j.turnRefs, turnRef{int32(i), call, at, ref})
		}) && ok
	}
	return ok
}

// turnOwners is the rule of steps.call_owner. Turns are known to belong to one invocation each, so that their ids are
// equal exactly if the invocations are the same.
func (j *Judge) turnOwners() bool {
	ok := true
	for _, r := range j.turnRefs {
		c, t := &j.calls[r.call], &j.turns[r.turn]
		if c.owners > 1 || c.owners == 1 && c.owner != t.to {
			ok = false
			j.point(inTurns, r.ref, step(t.index), byKey(keyModelCalls), r.at)
		}
	}
	return ok
}

// accounting is the rule of steps.attempt_accounting.
func (j *Judge) accounting() bool {
	ok, policy := true, false
	for i := range j.calls {
		c := &j.calls[i]
		least, most := int32(1), int32(1)
		if c.compacts {
			least, most = 0, 0
		} else {
			policy = true
			if j.atLeast(c.status, 400) {
				least = 0
			}
		}
		if c.turns < least || c.turns > most {
			ok = false
			j.point(inCalls, c.value, step(i))
		}
	}
	return ok && policy
}

// gapRule makes the rule of a declared gap: a code that is one of some words or begins with a prefix fails.
func gapRule(words []string, prefix ...string) func(*Judge) bool {
	return func(j *Judge) bool {
		ok, at := true, step(0)
		for e := j.values[inGaps].Elements(); e.Next(); at++ {
			// Only texts can be one of these; what other values read as does not matter (§7.5).
			code := j.objects.get(e.Value, keyCode)
			if !code.IsString() {
				continue
			}
			text := code.Text()
			bad := isWord(words, code)
			for _, p := range prefix {
				bad = bad || strings.HasPrefix(text, p)
			}
			if bad {
				ok = false
				j.point(inGaps, code, at, byKey(keyCode))
			}
		}
		return ok
	}
}
