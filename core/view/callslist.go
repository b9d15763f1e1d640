package view

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/rollscope/rollscope/core/modelcall"
	"github.com/rollscope/rollscope/core/order"
	"github.com/rollscope/rollscope/core/trajectory/lax"
	"github.com/rollscope/rollscope/core/view/filter"
)

// callsWhere is the setting that chooses calls among those of the rows in sight: a filter text with the fields of a call.
const callsWhere = "calls.where"

// callFilterFields are the names that a filter of calls can use.
var callFilterFields = filter.Fields{
	{Name: "failed", Kind: filter.BoolKind, Title: "an error status, an error category, or a response that says so"},
	{Name: "error", Kind: filter.TextKind, Title: "error category"},
	{Name: "finish", Kind: filter.TextKind, Title: "finish reason"},
	{Name: "response", Kind: filter.TextKind, Title: "status of the response"},
	{Name: "status", Kind: filter.NumberKind, Title: "HTTP status"},
	{Name: "model", Kind: filter.TextKind, Title: "model"},
	{Name: "server", Kind: filter.TextKind, Title: "name of the model server"},
	{Name: "dialect", Kind: filter.TextKind, Title: "chat, responses or messages"},
	{Name: "agent", Kind: filter.TextKind, Title: "agent of the rollout"},
	{Name: "invocation", Kind: filter.TextKind, Title: "id of the agent's run that made it"},
	{Name: "turn", Kind: filter.NumberKind, Title: "place among the turns of the rollout, from 1"},
	{Name: "prompt", Kind: filter.NumberKind, Title: "prompt tokens"},
	{Name: "cached", Kind: filter.NumberKind, Title: "cached prompt tokens"},
	{Name: "completion", Kind: filter.NumberKind, Title: "completion tokens"},
	{Name: "reasoning", Kind: filter.NumberKind, Title: "reasoning tokens"},
	{Name: "latency", Kind: filter.NumberKind, Title: "milliseconds from request to end"},
	{Name: "ttft", Kind: filter.NumberKind, Title: "milliseconds to the first token"},
	{Name: "rate", Kind: filter.NumberKind, Title: "completion tokens a second, whole call"},
	{Name: "started", Kind: filter.NumberKind, Title: "start in Unix seconds"},
	{Name: "ended", Kind: filter.NumberKind, Title: "end in Unix seconds"},
}

// A calledRow is a call as a filter sees it.
type calledRow struct {
	call  *modelcall.Summary
	agent string
}

// Field gives the value of a field.
func (r calledRow) Field(name string) filter.Value {
	s := r.call
	switch name {
	case "failed":
		return filter.Bool(s.Failed())
	case "error":
		return textValue(s.Category)
	case "finish":
		return textValue(s.Finish)
	case "response":
		return textValue(s.ResponseStatus)
	case "status":
		return wholeValue(s.Status)
	case "model":
		return textValue(s.Model)
	case "server":
		return textValue(s.Server)
	case "dialect":
		return textValue(s.Dialect)
	case "agent":
		return textValue(r.agent)
	case "invocation":
		return textValue(s.Invocation)
	case "turn":
		if s.Turn == 0 {
			return filter.Value{}
		}
		return filter.Int(int64(s.Turn))
	case "prompt":
		return wholeValue(s.TokensIn)
	case "cached":
		return wholeValue(s.Cached)
	case "completion":
		return wholeValue(s.TokensOut)
	case "reasoning":
		return wholeValue(s.TokensReasoning)
	case "latency":
		return realValue(s.LatencyMS)
	case "ttft":
		return realValue(s.TTFTMS)
	case "rate":
		if rate, ok := s.OutRate(); ok {
			return filter.Float(rate)
		}
	case "started":
		return realValue(s.Started)
	case "ended":
		return realValue(s.Completed)
	}
	return filter.Value{}
}

// Inside gives nothing: a call is known by its fields alone.
func (calledRow) Inside(*filter.Ref) filter.Value { return filter.Value{} }

func wholeValue(n lax.Count) filter.Value {
	if !n.Set {
		return filter.Value{}
	}
	return filter.Whole(n.Int)
}

func realValue(f lax.Real) filter.Value {
	if !f.Set {
		return filter.Value{}
	}
	return filter.Float(f.Value)
}

// callList are the calls of the rows in sight that fit the filter of calls. It keeps their numbers and what charts and
// sums say of them.
type callList struct {
	key     string
	filter  filter.Filter
	err     error // why the filter is not used
	errAt   int
	of      int     // calls of the rows in sight
	looked  int     // of those rows, the ones that have an answer
	list    []int32 // in the order of the files
	report  *modelcall.Report
	latency []bin // milliseconds

	sort   string
	sorted []int32
}

// calledAgent is the agent of a row.
func (c *selection) calledAgent(ordinal int) string {
	s := &c.tally.series
	if ordinal >= s.rows() || s.agent[ordinal] < 0 {
		return ""
	}
	return s.agents[s.agent[ordinal]]
}

// calls gives the calls of a State in its order.
func (d *Desk) calls(c *selection, s State, found *matches) *callList {
	numbers := d.callNumbers(c)
	where := s.Setting(callsWhere)
	key := fmt.Sprint(found.serial, numbers.rows, numbers.probes, where)
	l := &c.called.calls
	if l.key != key {
		*l = callList{key: key, list: []int32{}}
		d.pickCalls(c, l, where, found, numbers)
	}
	if l.sorted == nil || l.sort != s.Sort {
		l.sort, l.sorted = s.Sort, d.sortCalls(c, l, s.Sort, numbers)
	}
	return l
}

// pickCalls looks at every call of the rows in sight.
func (d *Desk) pickCalls(c *selection, l *callList, where string, found *matches, numbers *callNumbers) {
	var err error
	if l.filter, err = filter.Parse(where, callFilterFields); err != nil {
		l.err = err
		var place *filter.Error
		if errors.As(err, &place) {
			l.errAt = place.Column - 1
		}
	}
	sum := modelcall.NewSumming(true)
	for n := range found.len(c) {
		ordinal := found.at(c, n)
		if ordinal >= numbers.rows {
			continue
		}
		digest, ok := d.digestOfCalls(c, ordinal)
		if !ok {
			continue
		}
		l.looked++
		row := calledRow{call: &digest.Call, agent: c.calledAgent(ordinal)}
		fit := 0
		for digest.Next() {
			l.of++
			if !l.filter.Match(row) {
				continue
			}
			fit++
			l.list = append(l.list, numbers.starts[ordinal]+int32(digest.Call.Index))
			sum.Add(&digest.Call)
		}
		sum.Row(digest.Source, fit)
	}
	if !slices.IsSorted(l.list) { // rows can be in another order than those of the files
		slices.Sort(l.list)
	}
	l.latency = binned(slices.Values(sum.LatencyMS()), false)
	l.report = sum.Report()
}

// digestOfCalls opens the calls of a row; ok is false where they are not there.
func (d *Desk) digestOfCalls(c *selection, ordinal int) (*modelcall.Digest, bool) {
	row, ok := c.table.Row(ordinal)
	if !ok {
		return nil, false
	}
	r, ok := d.callsOf(c, &row)
	if !ok {
		return nil, false
	}
	digest, err := modelcall.Open(r.calls)
	return digest, err == nil
}

// A callRank orders a call by one column.
type callRank struct {
	at   float64
	call int32
}

// sortCalls gives the numbers of the calls in the order of a sort. Those without a value come last in both directions;
// those of one value stay as they are.
func (d *Desk) sortCalls(c *selection, l *callList, sorting string, numbers *callNumbers) []int32 {
	key, down := sortKey(State{Sort: sorting})
	i := slices.IndexFunc(callColumns, func(col callColumn) bool { return col.Key == key && col.rank != nil })
	if i < 0 {
		return l.list
	}
	var names words[string]
	ranks, missing := make([]callRank, 0, len(l.list)), []int32{}
	texts := false
	for n := 0; n < len(l.list); {
		ordinal, _ := numbers.row(l.list[n])
		digest, ok := d.digestOfCalls(c, ordinal)
		end := numbers.starts[ordinal+1]
		for ; n < len(l.list) && l.list[n] < end; n++ {
			call := l.list[n]
			at, word := math.NaN(), ""
			if ok && digest.Seek(int(call-numbers.starts[ordinal])) {
				at, word = callColumns[i].rank(&calledItem{c: c, call: &digest.Call, ordinal: ordinal})
			}
			switch {
			case word != "":
				texts = true
				ranks = append(ranks, callRank{names.intern(word), call})
			case math.IsNaN(at):
				missing = append(missing, call)
			default:
				ranks = append(ranks, callRank{at, call})
			}
		}
	}
	if texts {
		places := names.places(order.Name)
		for k := range ranks {
			ranks[k].at = float64(places[int(ranks[k].at)])
		}
	}
	slices.SortFunc(ranks, func(a, b callRank) int {
		if down {
			return cmp.Or(cmp.Compare(b.at, a.at), cmp.Compare(a.call, b.call))
		}
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.call, b.call))
	})
	list := make([]int32, 0, len(l.list))
	for _, r := range ranks {
		list = append(list, r.call)
	}
	return append(list, missing...)
}
