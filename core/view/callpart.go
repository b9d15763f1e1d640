package view

import (
	"strconv"

	"github.com/rollscope/rollscope/core/trajectory"
)

// A CallsPart is the part of the rollout page that shows model calls: a table, and of one of them what was sent and
// what came back.
type CallsPart struct {
	Table Table
	Open  string // "Call 5"; "" where none is chosen
	Note  string
	Links []Link // to its turn
	Sides []Tab  // the call as written, its request, its response
	JSON  *Raw
}

// rowCallColumns are the columns of the table of model calls.
var rowCallColumns = []Column{
	{Key: "call", Title: "call", Right: true}, {Key: "id", Title: "id", Mono: true}, {Key: "turn", Title: "turn", Right: true},
	{Key: "invocation", Title: "invocation"}, {Key: "model", Title: "model"}, {Key: "dialect", Title: "dialect"},
	{Key: "status", Title: "status", Right: true}, {Key: "error", Title: "error"}, {Key: "finish", Title: "finish reason"},
	{Key: "prompt", Title: "prompt", Unit: "tok", Right: true}, {Key: "cached", Title: "cached", Unit: "tok", Right: true},
	{Key: "completion", Title: "completion", Unit: "tok", Right: true}, {Key: "reasoning", Title: "reasoning", Unit: "tok", Right: true},
	{Key: "latency", Title: "latency", Unit: "ms", Right: true}, {Key: "ttft", Title: "first token", Unit: "ms", Right: true},
	{Key: "start", Title: "start", Right: true},
}

// calls is the calls part. Without a call in the State the first failed one is open, or the first.
func (d *Desk) callsPart(i *item, s State, t *talk, windows map[string]int) *CallsPart {
	if len(t.Calls) == 0 {
		return &CallsPart{Note: "The row holds no model calls.", Links: []Link{}, Sides: []Tab{}, Table: t.callTable(s, -1, 0, 0)}
	}
	p, side, ok := spotOf(s.At)
	if !ok || p.kind != 'c' || p.n >= len(t.Calls) {
		p = spot{'c', 0}
		for n := range t.Calls {
			if failedCall(t.Calls[n].At) {
				p.n = n
				break
			}
		}
		side, s.At = "", p.String()
	}
	part := &CallsPart{Table: t.callTable(s, p.n, windows["calls-of-row"], windowSize), Open: "Call " + strconv.Itoa(p.n+1), Links: []Link{}, Sides: []Tab{}}
	c := &t.Calls[p.n]
	part.Note = callNote(c.At)
	if made := c.Turns; len(made) > 0 {
		part.Links = append(part.Links, Link{Text: "turn " + strconv.Itoa(turnNumber(made[0])), Href: t.toSpot(s, p)})
	} else {
		part.Links = append(part.Links, Link{Text: "its place in the transcript", Href: t.toSpot(s, p)})
	}
	for _, one := range [...]struct{ side, title string }{{"", "Call"}, {"request", "Request"}, {"response", "Response"}} {
		at := p.String()
		if one.side != "" {
			at += "." + one.side
		}
		part.Sides = append(part.Sides, Tab{ID: one.side, Title: one.title, Current: one.side == side,
			Href: s.With(func(s *State) { s.At, s.Find, s.Hit = at, "", 0 }).Href()})
	}
	part.JSON = d.json(i, s, -1, windowSize, windows)
	return part
}

// callTable is a window into the model calls of a row.
func (t *talk) callTable(s State, open, from, n int) Table {
	table := Table{ID: "calls-of-row", Caption: "Model calls of this rollout", Columns: rowCallColumns, Total: len(t.Calls), Height: 24, Window: true, Rows: []Row{},
		Note: count(len(t.Calls), "model call", "model calls")}
	table.From = min(max(from, 0), max(len(t.Calls)-1, 0))
	line := t.timeline()
	for k := table.From; k < min(table.From+n, len(t.Calls)); k++ {
		c := &t.Calls[k]
		at := spot{'c', k}
		row := Row{ID: at.String(), Index: k, Selected: k == open, Href: s.With(func(s *State) { s.Part, s.At, s.Find, s.Hit = "calls", at.String(), "", 0 }).Href()}
		turn := Cell{Text: Text{Text: Dash, Muted: true, Title: "no turn refers to this call"}}
		if len(c.Turns) > 0 {
			turn = Cell{Text: Text{Text: strconv.Itoa(turnNumber(c.Turns[0]))}}
			if len(c.Turns) > 1 {
				turn.Extra = Text{Text: "+" + strconv.Itoa(len(c.Turns)-1)}
			}
		}
		owner := Cell{Text: Text{Text: Dash, Muted: true, Title: "no invocation owns this call"}}
		if c.Invocation >= 0 {
			owner = Cell{Text: Text{Text: t.Invocations[c.Invocation].ID}}
		}
		number := Cell{Text: Text{Text: strconv.Itoa(k + 1)}}
		if failedCall(c.At) {
			number.Text.Mark = MarkFailed
		}
		start := Cell{Text: Text{Text: Dash, Muted: true, Title: "the call has no start"}}
		if at := c.At.StartedAt; at.Set && len(line.Spans) > 0 {
			start = Cell{Text: Text{Text: minutes(at.Value - line.Start), Title: utcText(at.Value)}, Exact: strconv.FormatFloat(at.Value, 'f', -1, 64)}
		}
		row.Cells = []Cell{
			number, savedText(c.At.ID, "the call has no id"), turn, owner, savedText(c.At.Model, "the call does not say"), savedText(c.At.Dialect, "the call does not say"),
			countOf(c.At.StatusCode), savedText(c.At.ErrorCategory, "no error was saved"), savedText(c.At.FinishReason, "the response does not say"),
			countOf(c.At.PromptTokens), countOf(c.At.CachedTokens), countOf(c.At.CompletionTokens), countOf(c.At.ReasoningTokens),
			realOf(c.At.DurationMS), realOf(c.At.TTFTMS), start,
		}
		table.Rows = append(table.Rows, row)
	}
	return table
}

func savedText(t trajectory.Text, missing string) Cell {
	if t.Empty() {
		return Cell{Text: Text{Text: Dash, Muted: true, Title: missing}}
	}
	return Cell{Text: Text{Text: t.String()}}
}

func countOf(c trajectory.Count) Cell {
	if !c.Set {
		return Cell{Text: Text{Text: Dash, Muted: true, Title: "not known"}}
	}
	return Cell{Text: Text{Text: groupText(c.Int.String())}, Exact: c.Int.String()}
}

func realOf(r trajectory.Real) Cell {
	if !r.Set {
		return Cell{Text: Text{Text: Dash, Muted: true, Title: "not known"}}
	}
	exact := strconv.FormatFloat(r.Value, 'g', -1, 64)
	return Cell{Text: Text{Text: fixed(r.Value, 1), Title: exact}, Exact: exact}
}
