package check

import "github.com/rollscope/rollscope/core/jsonscan"

func rowSpot() spot { return spot{kind: spotRow, turn: -1, call: -1} }

// turnSpot is the place of a turn.
func (e *Evidence) turnSpot(i int) spot {
	return spot{kind: spotTurn, at: e.Record.Turns[i].At, turn: i, call: -1}
}

// callSpot is the place of a call, at the first turn that refers to it.
func (e *Evidence) callSpot(i int32) spot {
	c := &e.Calls[i]
	return spot{kind: spotCall, at: c.At, turn: int(c.turn), call: int(i)}
}

// An elements walk gives the elements of an array by ascending position, without starting over.
type elements struct {
	walk jsonscan.Elements
	next int
}

func (w *elements) at(i int) jsonscan.Value {
	for w.next <= i {
		if !w.walk.Next() {
			return jsonscan.Value{}
		}
		w.next++
	}
	return w.walk.Value
}

// A refs walk gives the places of references in the order of Evidence.refs. The record has no spans for
// them, since hardly any is ever pointed at.
type refs struct {
	e     *Evidence
	refs  elements
	owner int32
	turn  bool
}

func (e *Evidence) refWalk() refs { return refs{e: e, owner: -1} }

func (w *refs) at(i int) spot {
	b := &w.e.refs[i]
	turn := i < w.e.turnRefs
	if w.owner != b.owner || w.turn != turn {
		w.owner, w.turn = b.owner, turn
		var owner jsonscan.Value
		if turn {
			owner = w.e.Record.Turns[b.owner].At
		} else {
			owner = w.e.Record.Invocations[b.owner].At
		}
		w.refs = elements{walk: owner.Get("model_calls").Elements()}
	}
	s := spot{kind: spotInvocationRef, at: w.refs.at(int(b.index)), a: int(b.owner), b: int(b.index), turn: -1, call: -1}
	if turn {
		s.kind, s.turn = spotTurnRef, int(b.owner)
	}
	return s
}
