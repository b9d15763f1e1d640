package check

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/trajectory"
)

// plain is the binding as the rules put it, comparing everything with everything.
type plain struct {
	matched             []int32
	missing, duplicated int
	references          int
}

func bindPlainly(calls []trajectory.Call, refs []trajectory.Ref) plain {
	var p plain
	signature := func(r *trajectory.Ref) string {
		return fmt.Sprintf("%q %q %q %q", r.ModelCallID, r.Model.Type, r.Model.Name, r.ResponseID)
	}
	null := func(t trajectory.Text) string { return fmt.Sprint(t.Set, t) }
	model := func(m trajectory.ModelRef) string { return fmt.Sprint(m.Set, m.Type, m.Name) }
	seen := map[string]bool{}
	found := map[int32]bool{}
	for i := range refs {
		r := &refs[i]
		if seen[signature(r)] {
			continue
		}
		seen[signature(r)] = true
		p.references++
		var fits []int32
		for k := range calls {
			c := &calls[k]
			if r.ModelCallID.Empty() {
				if model(c.ModelRef) == model(r.Model) && null(c.ResponseID) == null(r.ResponseID) {
					fits = append(fits, int32(k))
				}
			} else if string(c.ID.Bytes) == string(r.ModelCallID.Bytes) && (!r.Model.Set || model(c.ModelRef) == model(r.Model)) &&
				(!r.ResponseID.Set || null(c.ResponseID) == null(r.ResponseID)) {
				fits = append(fits, int32(k))
			}
		}
		switch len(fits) {
		case 0:
			p.missing++
		case 1:
			found[fits[0]] = true
		default:
			p.duplicated++
		}
	}
	for k := range calls {
		if found[int32(k)] {
			p.matched = append(p.matched, int32(k))
		}
	}
	return p
}

func (v *View) equal(p plain) bool {
	return slices.Equal(v.Matched, p.matched) && v.Missing == p.missing && v.Duplicated == p.duplicated && v.References == p.references
}

// randomRow writes a trajectory in which ids and models collide all the time.
func randomRow(r *rand.Rand) string {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	model := func() string {
		return pick("", "", `"model_ref":null,`, policy+",", judge+",", `"model_ref":{"type":"responses_api_models","name":""},`, `"model_ref":{"type":"responses_api_models","name":"a:b"},`)
	}
	response := func() string {
		return pick("", `"response_id":null,`, `"response_id":"",`, `"response_id":"r",`, `"response_id":"b:r",`)
	}
	refs := func() string {
		var list []string
		for range r.IntN(4) {
			id := pick("a", "b", "c", "d", "e")
			if r.IntN(2) == 0 {
				list = append(list, strings.TrimSuffix(`{"model_call_id":"`+id+`",`+model()+response(), ",")+"}")
			} else {
				list = append(list, `{`+pick(policy, judge, `"model_ref":{"type":"responses_api_models","name":"a:b"}`)+`,"response_id":"`+pick("r", "b:r")+`"}`)
			}
		}
		return array("model_calls", list)
	}
	var callList, turnList, invocationList []string
	ids := []string{"a", "b", "c", "d", "e"}
	for range r.IntN(8) {
		id := "null"
		if len(ids) > 0 && r.IntN(2) == 0 {
			id, ids = quoted(ids[0]), ids[1:]
		} else if r.IntN(2) == 0 {
			id = `""`
		}
		callList = append(callList, `{"model_call_id":`+id+pick("", `,"started_at":null`, `,"started_at":1`, `,"started_at":2`, `,"started_at":-1`)+`,"response_metadata":{`+
			strings.TrimSuffix(model()+response()+pick("", `"status_code":200,`, `"status_code":500,`, `"error_category":"x",`), ",")+`}}`)
	}
	for i := range r.IntN(4) {
		turnList = append(turnList, turn(i+1, refs()))
	}
	for i := range r.IntN(3) {
		invocationList = append(invocationList, `{"invocation_id":"`+strconv.Itoa(i)+`",`+refs()+`}`)
	}
	return row(calls(callList...), turns(turnList...), invocations(invocationList...))
}

// TestBinding holds the hashed binding, the chains and the count of replayed calls to plain versions of the
// rules on rows where everything collides.
func TestBinding(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	bound, several := 0, 0
	for range 5000 {
		line := randomRow(r)
		j := judgeRow(line)
		if j.Invalid != nil {
			t.Fatalf("%+v: %s", j.Invalid, line)
		}
		var refs []trajectory.Ref
		for i := range j.Record.Turns {
			refs = append(refs, j.Record.Turns[i].Refs...)
		}
		if p := bindPlainly(j.Record.Calls, refs); !j.Turned.equal(p) {
			t.Fatalf("turns: %+v\nwant %+v\n%s", j.Turned, p, line)
		}
		for i := range j.Record.Invocations {
			refs = append(refs, j.Record.Invocations[i].Refs...)
		}
		p := bindPlainly(j.Record.Calls, refs)
		if !j.Owned.equal(p) {
			t.Fatalf("owned: %+v\nwant %+v\n%s", j.Owned, p, line)
		}
		bound += len(p.matched)
		several += p.duplicated
		if have, want := j.chains(), plainChains(j.Calls); have != want {
			t.Fatalf("chains %s\nwant %s\n%s", have, want, line)
		}
		if want := plainReplayed(j.Calls); j.Replayed != want {
			t.Fatalf("%d replayed, want %d\n%s", j.Replayed, want, line)
		}
	}
	if bound < 500 || several < 20 {
		t.Errorf("the rows show too little: %d calls bound, %d references fit several", bound, several)
	}
}

func (e *Evidence) chains() string {
	s := ""
	for i := range e.Chains {
		c := &e.Chains[i]
		model := "none"
		if c.Model != nil {
			model = c.Model.Name.String()
		}
		s += fmt.Sprintln(model, c.Calls, c.Failed, c.Successful, c.Last, c.EndedOnFailure(e.Calls))
	}
	return s
}

func plainChains(calls []Call) string {
	var names []string
	members := map[string][]int{}
	for i := range calls {
		name := "none"
		if calls[i].ModelRef.Set {
			name = calls[i].ModelRef.Name.String()
		}
		if members[name] == nil {
			names = append(names, name)
		}
		members[name] = append(members[name], i)
	}
	s := ""
	for _, name := range names {
		failed, successful, last, start, untimed := 0, 0, -1, math.Inf(-1), false
		for _, i := range members[name] {
			c := &calls[i]
			if c.Failed {
				failed++
			}
			if c.Successful {
				successful++
			}
			untimed = untimed || !c.StartedAt.Set
			if c.StartedAt.Value >= start {
				start, last = c.StartedAt.Value, i
			}
		}
		ended := failed == len(members[name]) || failed > 0 && !untimed && calls[last].Failed
		s += fmt.Sprintln(name, len(members[name]), failed, successful, last, ended)
	}
	return s
}

func plainReplayed(calls []Call) int {
	seen := map[string]int{}
	for i := range calls {
		c := &calls[i]
		switch {
		case !c.ID.Empty():
			seen["call:"+c.ID.String()]++
		case c.ResponseID.Empty():
		case c.ModelRef.Set:
			seen["response:"+c.ModelRef.Type.String()+":"+c.ModelRef.Name.String()+":"+c.ResponseID.String()]++
		default:
			seen["response::"+c.ResponseID.String()]++
		}
	}
	n := 0
	for _, k := range seen {
		n += k - 1
	}
	return n
}

// TestManyCalls goes through a row with as many different calls, models, statuses and references as an
// adversary would send. It ends because nothing is compared with everything.
func TestManyCalls(t *testing.T) {
	const n = 20000
	var list, refs, gaps []string
	for i := range n {
		k := strconv.Itoa(i)
		list = append(list, call("c"+k, `"status_code":`+strconv.Itoa(400+i)+`,"response_id":"r`+k+`","model_ref":{"type":"responses_api_models","name":"m`+k+`"}`, ""))
		refs = append(refs, `{"model_call_id":"c`+k+`"}`, `{"model_call_id":"lost`+k+`"}`,
			`{"response_id":"r`+k+`","model_ref":{"type":"responses_api_models","name":"m`+k+`"}}`)
		gaps = append(gaps, gapAbout("model_call_reference_unmatched", `"g`+k+`"`))
	}
	one := refs1(strings.Join(refs, ","))
	j := judgeRow(row(calls(list...), turns(one), invocations(`{"invocation_id":"i",`+array("model_calls", refs)+`}`), gapList(gaps...)))
	if j.Invalid != nil {
		t.Fatal(j.Invalid)
	}
	if len(j.Owned.Matched) != n || j.Owned.Missing != n || j.Owned.References != 3*n || len(j.Chains) != n {
		t.Errorf("%d matched, %d missing, %d references, %d chains", len(j.Owned.Matched), j.Owned.Missing, j.Owned.References, len(j.Chains))
	}
	for position, want := range map[int]int{CaptureMismatch: 2 * n, CallFailed: n, EndedOnFailedCall: n, MissingTokenCounts: n} {
		if _, f := j.of(t, position, V07); len(f) != want {
			t.Errorf("%s: %d findings", At(position).ID, len(f))
		}
	}
}
