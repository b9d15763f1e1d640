package view

import (
	"math"
	"strconv"

	"github.com/rollscope/rollscope/core/modelcall"
	"github.com/rollscope/rollscope/core/trajectory/lax"
)

// A calledItem is a call with its row.
type calledItem struct {
	c       *selection
	call    *modelcall.Summary
	ordinal int
	row     *item // for cells alone
}

// A callColumn is one column of the table of calls: how it reads and how it sorts.
type callColumn struct {
	Column
	plain bool
	cell  func(*calledItem) Cell
	// rank gives what a call is sorted by, a number or a word; NaN and "" where it has neither. It is nil where calls
	// cannot be sorted by the column.
	rank func(*calledItem) (at float64, word string)
}

var callColumns []callColumn

func init() {
	text := func(get func(*modelcall.Summary) string, missing string) (func(*calledItem) Cell, func(*calledItem) (float64, string)) {
		return func(i *calledItem) Cell { return orMissing(get(i.call), missing) },
			func(i *calledItem) (float64, string) { return math.NaN(), get(i.call) }
	}
	whole := func(get func(*modelcall.Summary) lax.Count) (func(*calledItem) Cell, func(*calledItem) (float64, string)) {
		return func(i *calledItem) Cell { return wholeCell(get(i.call)) },
			func(i *calledItem) (float64, string) { return countRank(get(i.call)), "" }
	}
	real := func(get func(*modelcall.Summary) lax.Real, decimals int, missing string) (func(*calledItem) Cell, func(*calledItem) (float64, string)) {
		return func(i *calledItem) Cell { return realCell(get(i.call), decimals, missing) },
			func(i *calledItem) (float64, string) {
				if f := get(i.call); f.Set {
					return f.Value, ""
				}
				return math.NaN(), ""
			}
	}
	rate := func(get func(*modelcall.Summary) (float64, bool), missing string) (func(*calledItem) Cell, func(*calledItem) (float64, string)) {
		of := func(s *modelcall.Summary) lax.Real {
			f, ok := get(s)
			return lax.Real{Value: f, Set: ok}
		}
		return real(of, 1, missing)
	}
	add := func(col Column, plain bool, cell func(*calledItem) Cell, rank func(*calledItem) (float64, string)) {
		callColumns = append(callColumns, callColumn{col, plain, cell, rank})
	}
	number := func(get func(*calledItem) float64) func(*calledItem) (float64, string) {
		return func(i *calledItem) (float64, string) { return get(i), "" }
	}
	add(Column{Key: "rollout", Chars: 10, Title: "rollout", Right: true, Mono: true, Help: "task and rollout index of the row; leads to the turn"}, true,
		func(i *calledItem) Cell { return Cell{Text: Text{Text: i.row.name(), Mono: true}, Exact: i.row.name()} }, nil)
	add(Column{Key: "turn", Chars: 4, Title: "turn", Right: true, Help: "place among the turns of the trajectory, from 1"}, true,
		func(i *calledItem) Cell {
			if i.call.Turn == 0 {
				return missingCell("no turn of the trajectory refers to the call")
			}
			return wide(int64(i.call.Turn))
		}, number(func(i *calledItem) float64 {
			if i.call.Turn == 0 {
				return math.NaN()
			}
			return float64(i.call.Turn)
		}))
	add(Column{Key: "call", Chars: 4, Title: "call", Right: true, Help: "place among the calls of the row, from 1"}, true,
		func(i *calledItem) Cell { return wide(int64(i.call.Index) + 1) }, number(func(i *calledItem) float64 { return float64(i.call.Index) + 1 }))
	add(Column{Key: "agent", Title: "agent", Width: 100, Help: "agent_ref.name of the row"}, true,
		func(i *calledItem) Cell { return orMissing(i.c.calledAgent(i.ordinal), "the row names no agent") },
		func(i *calledItem) (float64, string) { return math.NaN(), i.c.calledAgent(i.ordinal) })
	cell, rank := text(func(s *modelcall.Summary) string { return s.Invocation }, "no invocation of the trajectory owns the call")
	add(Column{Key: "invocation", Title: "invocation", Mono: true, Width: 110, Help: "id of the agent's run that made the call"}, true, cell, rank)
	cell, rank = text(func(s *modelcall.Summary) string { return s.Model }, "the call names no model")
	add(Column{Key: "model", Title: "model", Width: 120, Grow: true}, true, cell, rank)
	cell, rank = text(func(s *modelcall.Summary) string { return s.Server }, "the call names no server")
	add(Column{Key: "server", Title: "server", Width: 110, Help: "name of the model server"}, false, cell, rank)
	cell, rank = text(func(s *modelcall.Summary) string { return s.Dialect }, "the call names no dialect")
	add(Column{Key: "dialect", Title: "dialect", Help: "chat, responses or messages"}, true, cell, rank)
	_, rank = whole(func(s *modelcall.Summary) lax.Count { return s.Status })
	add(Column{Key: "status", Chars: 5, Title: "status", Right: true, Help: "HTTP status; ✕ where the call failed"}, true, statusCell, rank)
	cell, rank = text(func(s *modelcall.Summary) string { return s.Category }, "no error")
	add(Column{Key: "error", Title: "error", Width: 110, Help: "error category"}, true, cell, rank)
	cell, rank = text(func(s *modelcall.Summary) string { return s.Finish }, "no finish reason was given")
	add(Column{Key: "finish", Title: "finish", Width: 80, Help: "finish reason"}, true, cell, rank)
	cell, rank = text(func(s *modelcall.Summary) string { return s.ResponseStatus }, "the response has no status")
	add(Column{Key: "response", Title: "response", Help: "status of the response"}, false, cell, rank)
	for _, one := range []struct {
		key, title, help string
		plain            bool
		chars            int
		get              func(*modelcall.Summary) lax.Count
	}{
		{"prompt", "in", "prompt tokens", true, 9, func(s *modelcall.Summary) lax.Count { return s.TokensIn }},
		{"cached", "cached", "cached prompt tokens", true, 9, func(s *modelcall.Summary) lax.Count { return s.Cached }},
		{"completion", "out", "completion tokens", true, 8, func(s *modelcall.Summary) lax.Count { return s.TokensOut }},
		{"reasoning", "reasoning", "reasoning tokens, part of those that came out", true, 8, func(s *modelcall.Summary) lax.Count { return s.TokensReasoning }},
		{"total", "total", "tokens in and out", false, 9, func(s *modelcall.Summary) lax.Count { return s.TokensTotal }},
	} {
		cell, rank = whole(one.get)
		add(Column{Key: one.key, Chars: one.chars, Title: one.title, Right: true, Help: one.help}, one.plain, cell, rank)
	}
	cell, rank = real(func(s *modelcall.Summary) lax.Real { return s.LatencyMS }, 0, "the latency was not noted")
	add(Column{Key: "latency", Chars: 9, Title: "latency", Unit: "ms", Right: true, Help: "milliseconds from request to end"}, true, cell, rank)
	cell, rank = real(func(s *modelcall.Summary) lax.Real { return s.TTFTMS }, 0, "the time to the first token was not noted")
	add(Column{Key: "ttft", Chars: 7, Title: "TTFT", Unit: "ms", Right: true, Help: "milliseconds to the first token"}, true, cell, rank)
	cell, rank = rate((*modelcall.Summary).OutRate, "needs completion tokens and a latency above 0")
	add(Column{Key: "rate", Chars: 7, Title: "tok/s", Right: true, Help: "completion tokens a second over the whole call"}, true, cell, rank)
	cell, rank = rate((*modelcall.Summary).GenerationRate, "needs completion tokens and a first token before the end")
	add(Column{Key: "generation", Chars: 8, Title: "gen. tok/s", Right: true, Help: "completion tokens a second behind the first one"}, false, cell, rank)
	add(Column{Key: "tools", Chars: 3, Title: "tool calls", Right: true, Help: "tool calls that the response asks for, where they were captured"}, false,
		func(i *calledItem) Cell { return wide(int64(i.call.Tools)) }, number(func(i *calledItem) float64 { return float64(i.call.Tools) }))
	started := func(s *modelcall.Summary) lax.Real { return s.Started }
	_, rank = real(started, 0, "")
	add(Column{Key: "started", Chars: 19, Title: "started", Unit: "UTC", Right: true, Help: "by the clock of the collection"}, false,
		func(i *calledItem) Cell { return clockCell(started(i.call)) }, rank)
	ended := func(s *modelcall.Summary) lax.Real { return s.Completed }
	_, rank = real(ended, 0, "")
	add(Column{Key: "ended", Chars: 19, Title: "ended", Unit: "UTC", Right: true, Help: "by the clock of the collection"}, false,
		func(i *calledItem) Cell { return clockCell(ended(i.call)) }, rank)
	add(Column{Key: "place", Title: "place", Right: true, Mono: true, Help: "file and physical line of the row"}, false,
		func(i *calledItem) Cell { return placeCell(i.row) }, number(func(i *calledItem) float64 { return float64(i.ordinal) }))
}

func missingCell(why string) Cell { return Cell{Text: Text{Text: Dash, Muted: true, Title: why}} }

func orMissing(s, why string) Cell {
	if s == "" {
		return missingCell(why)
	}
	return Cell{Text: Text{Text: s, Title: s}, Exact: s}
}

func wholeCell(n lax.Count) Cell {
	if !n.Set {
		return missingCell("was not noted")
	}
	saved := n.Int.String()
	return Cell{Text: Text{Text: groupNumber(saved)}, Exact: saved}
}

func countRank(n lax.Count) float64 {
	if !n.Set {
		return math.NaN()
	}
	return double(n.Int.String())
}

// realCell shows a double with some decimals; the whole of it is in the title and in copies.
func realCell(f lax.Real, decimals int, missing string) Cell {
	if !f.Set {
		return missingCell(missing)
	}
	full := strconv.FormatFloat(f.Value, 'g', -1, 64)
	return Cell{Text: Text{Text: groupFixed(f.Value, decimals), Title: full}, Exact: full}
}

// statusCell is the status of a call, with a mark where it failed.
func statusCell(i *calledItem) Cell {
	c := wholeCell(i.call.Status)
	if !i.call.Status.Set {
		c = missingCell("there was no answer")
	} else {
		c.Text.Text = c.Exact
	}
	if i.call.Failed() {
		c.Text.Mark = MarkFailed
		c.Text.Title = joined("failed", c.Text.Title)
	}
	return c
}

// callChoice is what the chooser of the table offers.
func callChoice() []choosable {
	return choosables(callColumns, func(c *callColumn) choosable { return choosable{c.Column, c.plain} })
}

// callSortKeys are those of the columns that calls can be sorted by.
func callSortKeys() []string {
	var keys []string
	for _, c := range callColumns {
		if c.rank != nil {
			keys = append(keys, c.Key)
		}
	}
	return keys
}

// callTable is the part of the table of calls between two of its rows.
func (d *Desk) callTable(c *selection, s State, found *matches, from, to int) Table {
	l, numbers := d.calls(c, s, found), d.callNumbers(c)
	t := Table{ID: "calls", Caption: "model calls", Height: rowHeight, Columns: []Column{}, Rows: []Row{}, Total: len(l.sorted),
		Window: true, Sortable: true, Movable: true, Empty: "No model call fits the filter."}
	if l.of == 0 {
		t.Empty = "The rows in sight carry no model calls."
	}
	all := callChoice()
	var cols []*callColumn
	for _, shown := range chosen(s, all) {
		col := &callColumns[columnAt(all, shown.Key)]
		cols, t.Columns = append(cols, col), append(t.Columns, head(s, col.Column, shown, col.rank != nil))
	}
	t.From = max(0, min(from, t.Total-1))
	var (
		digest *modelcall.Digest
		row    *item
		before = -1
		last   = -1
	)
	for n := t.From; n < min(to, t.Total); n++ {
		ordinal, index := numbers.row(l.sorted[n])
		if ordinal != before || index <= last {
			ok := false
			if digest, ok = d.digestOfCalls(c, ordinal); !ok {
				break
			}
			if ordinal != before {
				row, _ = c.item(ordinal)
			}
		}
		before, last = ordinal, index
		if row == nil || !digest.Seek(index) {
			break
		}
		i := &calledItem{c: c, call: &digest.Call, ordinal: ordinal, row: row}
		r := Row{ID: "call-" + strconv.Itoa(int(l.sorted[n])), Index: n, Rollout: row.place(), Cells: make([]Cell, 0, len(cols)), Href: i.href(s, digest.Len)}
		for _, col := range cols {
			cell := col.cell(i)
			if col.Key == "place" || col.Key == "rollout" {
				cell.Text.Href = r.Href
			}
			r.Cells = append(r.Cells, cell)
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

// href leads to a call in the transcript of its rollout. That page numbers the calls of the trajectory; where others are
// attached than it has, the turn has to do.
func (i *calledItem) href(s State, calls int) string {
	return s.With(func(s *State) {
		s.Rollout, s.Part, s.Turn, s.Open, s.Check = i.row.place(), "", i.call.Turn, nil, ""
		s.At, s.Token, s.Find, s.Hit = "", 0, "", 0
		if int64(calls) == i.row.digest.Facts.Calls {
			s.At = spot{'c', i.call.Index}.String()
		}
	}).Href()
}
