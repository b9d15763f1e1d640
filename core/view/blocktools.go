package view

import (
	"strconv"
	"strings"

	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/transcript"
	"github.com/rollscope/rollscope/core/value"
)

// call writes a tool call with its result beside it.
func (w *writer) call(it *transcript.Item, i int) Block {
	tool := &w.t.Tools[i]
	b := w.asked(it)
	b.ID = spot{'t', i}.String()
	b.Current = w.s.At == b.ID
	w.ran(&b, tool)
	switch {
	case !it.HasCallID && !tool.Hosted:
		b.Children = append(b.Children, Block{Kind: "note", Title: "no call id", Text: "the call cannot be tied to a result", Mark: MarkUnknown})
	case w.t.reused[toolKey(tool)] > 1 && tool.ID != "":
		b.Children = append(b.Children, Block{Kind: "note", Title: "call id used " + strconv.Itoa(w.t.reused[toolKey(tool)]) + " times", Text: tool.ID})
	}
	switch {
	case tool.Answered:
		b.Children = append(b.Children, w.result(tool.Result))
	case tool.Hosted, !it.HasCallID:
	default:
		b.Children = append(b.Children, Block{Kind: "note", Title: "unanswered", Text: "no result with the call id " + tool.ID + " was saved", Mark: MarkUnknown})
	}
	w.spawned(&b, tool)
	return b
}

// ran notes what was observed of a tool call's execution.
func (w *writer) ran(b *Block, tool *transcript.Tool) {
	if tool.Record == nil {
		return
	}
	r := tool.Record
	parts := []string{r.Status.String()}
	if r.DurationMS.Set {
		parts = append(parts, seconds(r.DurationMS.Value))
	}
	if !r.ErrorType.Empty() {
		parts = append(parts, r.ErrorType.String())
	}
	b.Note = strings.Trim(b.Note+" · "+strings.Join(parts, " · "), " ·")
	if s := r.Status.String(); s == "failed" || s == "timeout" || s == "cancelled" || !r.ErrorType.Empty() {
		b.Mark = MarkFailed
	}
}

// spawned names the subagents that a tool call started.
func (w *writer) spawned(b *Block, tool *transcript.Tool) {
	if tool.ID == "" {
		return
	}
	for i := range w.t.Invocations {
		in := &w.t.Invocations[i]
		if in.SpawnedBy == tool.ID && (in.Parent < 0 || in.Parent == tool.Invocation) {
			at := spot{'i', i}
			note := Block{Kind: "note", Title: "subagent", Text: in.ID + ", " + orWord(in.Status, "no status") + ", " + count(len(in.Turns), "turn", "turns")}
			if len(in.Turns) > 0 {
				note.Links = []Link{{Text: "turn " + strconv.Itoa(turnNumber(in.Turns[0])), Href: w.t.toSpot(w.s, at)}}
			}
			b.Children = append(b.Children, note)
		}
	}
}

func orWord(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// asked writes a tool call alone.
func (w *writer) asked(it *transcript.Item) Block {
	text, note := argumentText(it.Arguments)
	b := w.text("call", "tool call", text, true, it.Arguments)
	b.Name = orWord(it.Name, it.Value.Get("type").Text())
	if b.Note == "empty" {
		b.Note = ""
	}
	if note != "" {
		b.Note = strings.TrimPrefix(b.Note+" · "+note, " · ")
	}
	return b
}

// argumentText shows the arguments of a tool call as they were meant, and says what is odd about them.
func argumentText(v jsonscan.Value) (text, note string) {
	kind, parsed := transcript.ArgumentsOf(v)
	text = v.Text()
	if !v.IsString() && v.Exists() {
		text = pretty(v)
	}
	switch kind {
	case transcript.ArgumentsObject:
		return text, ""
	case transcript.ArgumentsDirect:
		return text, "arguments are not a text"
	case transcript.ArgumentsValue:
		return text, "arguments are no object"
	case transcript.ArgumentsEncoded:
		return string(parsed.Append(nil, value.Row)), "arguments are JSON inside JSON"
	case transcript.ArgumentsBroken:
		return text, "arguments are not JSON"
	case transcript.ArgumentsEmpty:
		return "", "no arguments"
	case transcript.ArgumentsNone:
		if v.IsNull() && v.Exists() {
			return "", "arguments are null"
		}
		return "", "no arguments"
	}
	return text, "arguments are neither text nor object"
}

// observed writes a tool call that was seen running, but that no turn asks for.
func (w *writer) observed(i int) Block {
	tool := &w.t.Tools[i]
	b := Block{ID: spot{'t', i}.String(), Kind: "call", Title: "tool call", Name: tool.Name, Mark: MarkUnknown}
	b.Current = w.s.At == b.ID
	w.ran(&b, tool)
	text := "it was observed under the id " + tool.ID
	if tool.Invocation >= 0 {
		text += " in " + w.t.Invocations[tool.Invocation].ID
	}
	b.Children = append(b.Children, Block{Kind: "note", Title: "no turn asks for it", Text: text})
	if tool.Answered {
		b.Children = append(b.Children, w.result(tool.Result))
	}
	return b
}

// result writes what came back.
func (w *writer) result(v jsonscan.Value) Block {
	switch {
	case v.IsNull():
		return Block{ID: w.id(), Kind: "output", Title: "output", Note: map[bool]string{true: "null", false: "without content"}[v.Exists()]}
	case v.IsString():
		return w.text("output", "output", v.Text(), true, v)
	case v.IsArray() && typedParts(v):
		b := Block{ID: w.id(), Kind: "output", Title: "output", Children: []Block{}}
		parts := (&transcript.Item{Kind: transcript.ToolResult, Text: v}).Content()
		for n := range parts {
			if w.full(&b.Children) {
				break
			}
			b.Children = append(b.Children, w.part("output", "", &parts[n], true))
		}
		return b
	}
	return w.text("output", "output", pretty(v), true, v)
}

func typedParts(v jsonscan.Value) bool {
	e := v.Elements()
	n := 0
	for e.Next() {
		if !e.Value.IsObject() || !e.Value.Get("type").IsString() {
			return false
		}
		n++
	}
	return n > 0
}

// orphan writes a result that has no call, and says so.
func (w *writer) orphan(it *transcript.Item) Block {
	b := w.result(it.Text)
	if status := it.Value.Get("status").Text(); status != "" && status != "completed" {
		b.Note = strings.TrimPrefix(b.Note+" · "+status, " · ")
	}
	b.Mark = MarkUnknown
	text := "no tool call with the id " + it.CallID + " was saved"
	if !it.HasCallID {
		text = "the output names no call"
	}
	b.Children = append(b.Children, Block{Kind: "note", Title: "output without a call", Text: text})
	return b
}
