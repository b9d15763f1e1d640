package harness

import "github.com/rollscope/rollscope/core/jsonscan"

// A place is the part of a row that a check is about, whole or item by item.
type place uint8

const (
	inRow place = iota
	inTrajectory
	inCalls
	inInvocations
	inTurns
	inTools
	inSandboxes // the records of sandboxes, counted by themselves
	inRecords
	inGaps
	places
)

// steps lead from the row to a place.
var placeSteps = [places][]step{
	inRow:         {},
	inTrajectory:  {byKey(keyTrajectory)},
	inCalls:       {byKey(keyTrajectory), byKey(keyModelCalls)},
	inInvocations: {byKey(keyTrajectory), byKey(keyInvocations)},
	inTurns:       {byKey(keyTrajectory), byKey(keyTurns)},
	inTools:       {byKey(keyTrajectory), byKey(keyToolCalls)},
	inSandboxes:   {byKey(keyObservations), byKey(keyRecords)},
	inRecords:     {byKey(keyObservations), byKey(keyRecords)},
	inGaps:        {byKey(keyTrajectory), byKey(keyGaps)},
}

// A fault is one place where a row breaks a check.
type fault struct {
	check    uint8
	from, to int            // of its steps in Judge.steps, counted from the row
	number   int32          // of the item among those that locations count, −1 if it is the index itself
	at       jsonscan.Value // absent if there is nothing to point at
}

// Positions in an array may be any; a call, turn or record that references point at is one of these.
type (
	call struct {
		value    jsonscan.Value
		id       jsonscan.Value
		ref      jsonscan.Value // of its metadata
		response jsonscan.Value // id of the response, of its metadata
		status   jsonscan.Value // of its metadata
		request  jsonscan.Value
		body     jsonscan.Value
		keys     [3]span // of id, ref and response, once they are needed
		owners   int32   // references of invocations that resolve to it
		owner    int32   // the invocation of the first one
		turns    int32   // references of turns that resolve to it
		compacts bool
	}
	item struct {
		value jsonscan.Value
		index int32          // in its array
		id    jsonscan.Value // invocation_id
		refs  jsonscan.Value // model_calls
		more  jsonscan.Value // of an invocation its parent, of a tool its id
		name  jsonscan.Value // of a tool
		to    int32          // the invocation that id is of, −1 for none or several
	}
	span struct{ from, to int }
)

// A Judge runs the checks over one row after the other. It reuses its memory and belongs to one goroutine.
type Judge struct {
	text
	objects objects
	running uint8 // position of the check that runs
	path    []step
	number  int32

	row         jsonscan.Value
	trajectory  jsonscan.Value
	values      [places]jsonscan.Value // what schema checks validate
	calls       []call
	invocations []item
	turns       []item
	tools       []item
	compactions []item // records of compactions
	sandboxes   []item

	failed    Checks // evaluated and failed
	evaluated Checks
	faulty    []fault
	steps     []step
	tokens    [len(tokenKeys)]int
	counted   bool // the calls have been taken

	resolver resolver
	byID     index // invocations by id
	hasIDs   bool  // it is ready
	earlier  index // calls by the id and the server of their response
	asked    index // requests by invocation and id
	requests []asking
	turnRefs []turnRef
	states   []byte  // of invocations while parents are followed
	hops     []int32 // the invocations on the way
	scratch  []byte
}

// tokenKeys are the counts whose availability is told.
var tokenKeys = [...]key{keyPromptTokens, keyCompletionTokens, keyReasoningTokens, keyTotalTokens, keyCachedTokens}

// judge runs all checks over a row. Every check is evaluated whose prerequisites pass, whatever the scope.
func (j *Judge) judge(row jsonscan.Value, original []byte) {
	j.original = original
	j.objects.reset()
	j.path, j.faulty, j.steps = j.path[:0], j.faulty[:0], j.steps[:0]
	j.failed, j.evaluated, j.hasIDs = 0, 0, false
	j.resolver.reset()
	j.collect(row)
	for i := range registry {
		c := &registry[i]
		switch {
		case j.evaluated.Has(i) || c.needs&(j.failed|^j.evaluated) != 0:
		case c.shape == nil:
			j.run(i, func() bool { return c.rule(j) })
		case c.each:
			j.eachItem(c.place)
		default:
			j.run(i, func() bool { return j.whole(c) })
		}
	}
	if !j.counted {
		// Token counts are told of whatever calls there are.
		for e := j.values[inCalls].Elements(); e.Next(); {
			if e.Value.IsObject() {
				j.takeCall(e.Value)
			}
		}
	}
}

// run evaluates one check. A rule that fails without naming a place fails at its designated one.
func (j *Judge) run(position int, evaluate func() bool) {
	j.running = uint8(position)
	j.evaluated = j.evaluated.with(position)
	if !evaluate() {
		j.failed = j.failed.with(position)
	}
}

// whole validates the value of a place.
func (j *Judge) whole(c *Check) bool {
	v := j.values[c.place]
	if j.fits(c.shape, v) {
		return true
	}
	j.path = append(j.path[:0], placeSteps[c.place]...)
	j.number = -1
	j.faults(c.shape, v)
	j.path = j.path[:0]
	return false
}

// eachItem runs all checks of the items of a place together, so that every item is opened once.
func (j *Judge) eachItem(p place) {
	checks := itemChecks[p]
	for _, i := range checks {
		j.evaluated = j.evaluated.with(i)
	}
	validate := func(v jsonscan.Value, index, number int32) {
		for _, i := range checks {
			c := &registry[i]
			if j.fits(c.shape, v) {
				continue
			}
			j.failed = j.failed.with(i)
			j.running, j.number = uint8(i), number
			j.path = append(append(j.path[:0], placeSteps[p]...), step(index))
			j.faults(c.shape, v)
			j.path = j.path[:0]
		}
	}
	if p == inSandboxes {
		for i := range j.sandboxes {
			validate(j.sandboxes[i].value, j.sandboxes[i].index, int32(i))
		}
		return
	}
	n := int32(0)
	for e := j.values[p].Elements(); e.Next(); n++ {
		// What is taken now need not be opened again for it.
		j.take(p, e.Value, n)
		validate(e.Value, n, -1)
	}
}

// take keeps what the rules need of an item. It is an object.
func (j *Judge) take(p place, v jsonscan.Value, index int32) {
	switch p {
	case inCalls:
		j.counted = true
		j.takeCall(v)
	case inInvocations:
		j.invocations = append(j.invocations, j.item(v, index, keyParentID, keyNone))
	case inTurns:
		j.turns = append(j.turns, j.item(v, index, keyNone, keyNone))
	case inTools:
		j.tools = append(j.tools, j.item(v, index, keyToolCallID, keyToolName))
	}
}

func (j *Judge) takeCall(v jsonscan.Value) {
	o := j.objects.open(v)
	c := call{value: v, id: o.get(keyModelCallID), request: o.get(keyRequest), body: o.get(keyResponse), owner: -1}
	metadata, stats := o.get(keyMetadata), o.get(keyTokenStats)
	o = j.objects.open(metadata)
	c.ref, c.response, c.status = o.get(keyModelRef), o.get(keyResponseID), o.get(keyStatusCode)
	o = j.objects.open(stats)
	for i, k := range tokenKeys {
		if !o.get(k).IsNull() {
			j.tokens[i]++
		}
	}
	j.calls = append(j.calls, c)
}

func (j *Judge) item(v jsonscan.Value, index int32, more, name key) item {
	o := j.objects.open(v)
	return item{
		value: v, index: index, to: -1,
		id: o.get(keyInvocationID), refs: o.get(keyModelCalls), more: o.get(more), name: o.get(name),
	}
}

// fault reports the value at j.path.
func (j *Judge) fault(v jsonscan.Value) {
	from := len(j.steps)
	j.steps = append(j.steps, j.path...)
	j.faulty = append(j.faulty, fault{j.running, from, len(j.steps), j.number, v})
}

// point reports a value for a rule: steps behind those of the place of the check.
func (j *Judge) point(p place, v jsonscan.Value, steps ...step) {
	from := len(j.steps)
	j.steps = append(append(j.steps, placeSteps[p]...), steps...)
	j.faulty = append(j.faulty, fault{j.running, from, len(j.steps), -1, v})
}

// collect finds the parts of a row.
func (j *Judge) collect(row jsonscan.Value) {
	j.row = row
	o := j.objects.open(row)
	j.trajectory = o.get(keyTrajectory)
	observations := o.get(keyObservations)
	o = j.objects.open(j.trajectory)
	j.values = [places]jsonscan.Value{
		inRow:         row,
		inTrajectory:  j.trajectory,
		inCalls:       o.get(keyModelCalls),
		inInvocations: o.get(keyInvocations),
		inTurns:       o.get(keyTurns),
		inTools:       o.get(keyToolCalls),
		inGaps:        o.get(keyGaps),
		inRecords:     j.objects.get(observations, keyRecords),
	}
	j.calls, j.invocations, j.turns, j.tools = j.calls[:0], j.invocations[:0], j.turns[:0], j.tools[:0]
	j.tokens, j.counted = [len(tokenKeys)]int{}, false
	j.compactions, j.sandboxes = j.compactions[:0], j.sandboxes[:0]
	n := int32(0)
	for e := j.values[inRecords].Elements(); e.Next(); n++ {
		kind := j.objects.get(e.Value, keyKind)
		switch {
		case kind.Is("sandbox"):
			j.sandboxes = append(j.sandboxes, item{value: e.Value, index: n})
		case kind.Is("context_compaction"):
			j.compactions = append(j.compactions, item{value: e.Value, index: n, refs: j.objects.get(e.Value, keyModelCalls)})
		}
	}
}

// isFailed tells whether the row says of itself that it is no measurement (§7.4).
func (j *Judge) isFailed() bool {
	o := j.objects.open(j.row)
	masked, isMask := o.get(keyMask).Truth()
	completed, isCompleted := o.get(keyCompleted).Truth()
	return isMask && masked || isCompleted && !completed
}
