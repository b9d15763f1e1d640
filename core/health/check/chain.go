package check

import (
	"hash/maphash"

	"github.com/rollscope/rollscope/core/trajectory"
)

// A Chain is the sequence of calls to one model.
type Chain struct {
	Model      *trajectory.ModelRef // nil for the calls that name no model
	Calls      int
	Failed     int
	Successful int
	Last       int32 // position of the call that started last
	untimed    bool  // some call has no start
	start      float64
}

// EndedOnFailure tells whether the chain's last call failed. Where starts are missing the order is
// unknown, and then only a chain without any other than failed calls did.
func (c *Chain) EndedOnFailure(calls []Call) bool {
	return c.Failed == c.Calls || c.Failed > 0 && !c.untimed && calls[c.Last].Failed
}

// chain groups the calls by model, in order of first appearance.
func (e *Evidence) chain() {
	e.byModel.reset(len(e.Calls))
	none := int32(-1)
	for i := range e.Calls {
		c := &e.Calls[i]
		at := none
		if c.ModelRef.Set {
			at = e.chainOf(&c.ModelRef)
		} else if none < 0 {
			none = int32(len(e.Chains))
			at = none
			e.Chains = append(e.Chains, Chain{})
		}
		ch := &e.Chains[at]
		ch.Calls++
		if c.Failed {
			ch.Failed++
		}
		if c.Successful {
			ch.Successful++
		}
		start := 0.0
		if c.StartedAt.Set {
			start = c.StartedAt.Value
		} else {
			ch.untimed = true
		}
		if ch.Calls == 1 || start >= ch.start {
			ch.start, ch.Last = start, int32(i)
		}
	}
}

func (e *Evidence) chainOf(model *trajectory.ModelRef) int32 {
	if n := len(e.Chains); n > 0 && e.Chains[n-1].Model != nil && sameModel(e.Chains[n-1].Model, model) {
		return int32(n - 1)
	}
	for s := e.byModel.slot(mix(mix(0, model.Type.Bytes), model.Name.Bytes)); ; s = e.byModel.next(s) {
		i := e.byModel.slots[s] - 1
		if i < 0 {
			i = int32(len(e.Chains))
			e.byModel.slots[s] = i + 1
			e.Chains = append(e.Chains, Chain{Model: model})
			return i
		}
		if sameModel(e.Chains[i].Model, model) {
			return i
		}
	}
}

// countReplayed counts calls whose identity an earlier one has. Ids are unique, so only calls without one
// can repeat: they are known by model and response id.
func (e *Evidence) countReplayed() {
	e.seen.reset(len(e.Calls))
	for i := range e.Calls {
		c := &e.Calls[i]
		if !c.ID.Empty() || c.ResponseID.Empty() {
			continue
		}
		for s := e.seen.slot(replayHash(c)); ; s = e.seen.next(s) {
			k := e.seen.slots[s] - 1
			if k < 0 {
				e.seen.slots[s] = int32(i) + 1
				break
			}
			if sameReplay(&e.Calls[k], c) {
				e.Replayed++
				break
			}
		}
	}
}

// The identity of a replayed call is one text, the name of its model and the response id with a colon
// between them, or the response id alone where no model is named. As in the reference, the text decides:
// name "a" with id "b:c" is name "a:b" with id "c".
func replayHash(c *Call) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	if c.ModelRef.Set {
		h.Write(c.ModelRef.Name.Bytes)
		h.WriteByte(':')
	}
	h.Write(c.ResponseID.Bytes)
	return h.Sum64()
}

func sameReplay(a, b *Call) bool {
	if a.ModelRef.Set != b.ModelRef.Set {
		return false
	}
	if !a.ModelRef.Set {
		return same(a.ResponseID, b.ResponseID)
	}
	short, long := a, b
	if len(short.ModelRef.Name.Bytes) > len(long.ModelRef.Name.Bytes) {
		short, long = long, short
	}
	name, rest := long.ModelRef.Name.Bytes, short.ResponseID.Bytes
	n := len(short.ModelRef.Name.Bytes)
	if string(name[:n]) != string(short.ModelRef.Name.Bytes) {
		return false
	}
	if name = name[n:]; len(name) > 0 {
		// What the longer name has more must be the other's colon and the start of its response id.
		if name[0] != ':' || len(rest) < len(name) || string(rest[:len(name)-1]) != string(name[1:]) || rest[len(name)-1] != ':' {
			return false
		}
		rest = rest[len(name):]
	}
	return string(rest) == string(long.ResponseID.Bytes)
}
