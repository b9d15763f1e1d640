package transcript

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/rollscope/rollscope/core/trajectory"
	"github.com/rollscope/rollscope/core/value"
)

// A Scribe takes down what [Rollout.Tell] tells. Depths count from 0.
type Scribe interface {
	Head(text string)            // begins a part: the prompt, a turn, what belongs to none
	Line(depth int, text string) // says in one line what comes next, or how something went
	Text(depth int, text string) // what was said, as it was said
}

const dash = "–"

// Tell tells a rollout in reading order: the prompt, every turn, what belongs to no turn. With a turn, counted from 1,
// it tells that one alone.
func (t *Rollout) Tell(s Scribe, turn int) {
	w := teller{t, s}
	if turn == 0 && len(t.Prompt) > 0 {
		s.Head("prompt")
		w.items(t.Prompt, nil)
	}
	for i := range t.Turns {
		if turn == 0 || turn == i+1 {
			w.turn(i)
		}
	}
	if turn == 0 {
		w.loose()
	}
}

type teller struct {
	t *Rollout
	s Scribe
}

func (w teller) line(depth int, format string, args ...any) {
	w.s.Line(depth, fmt.Sprintf(format, args...))
}

func (w teller) turn(i int) {
	t := w.t
	turn := &t.Turns[i]
	head := fmt.Sprintf("turn %d of %d", i+1, len(t.Turns))
	if t.Saved {
		head += fmt.Sprintf(", invocation %s turn %s, step %s", turn.ID, turn.No, turn.StepCount)
		if turn.HasTime && turn.Timestamp != 0 {
			head += ", " + clock(turn.Timestamp)
		}
	}
	w.s.Head(head)
	for _, k := range turn.Calls {
		w.line(1, "model call %s: %s", word(t.Calls[k].At.ID.String()), callLine(t.Calls[k].At))
	}
	w.items(turn.Input, nil)
	for k := range turn.Reasoning {
		w.reasoning(&turn.Reasoning[k])
	}
	w.items(turn.Answer, turn.Tools)
}

func word(s string) string {
	if s == "" {
		return dash
	}
	return s
}

func orWord(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

func counted(n trajectory.Count) string {
	if !n.Set {
		return dash
	}
	return n.Int.String()
}

func measured(f trajectory.Real, decimals int) string {
	if !f.Set {
		return dash
	}
	return strconv.FormatFloat(f.Value, 'f', decimals, 64)
}

func clock(unix float64) string {
	if !(math.Abs(unix) < 1<<40) {
		return strconv.FormatFloat(unix, 'f', 3, 64)
	}
	return time.UnixMilli(int64(math.Round(unix * 1000))).UTC().Format("2006-01-02 15:04:05")
}

// callLine says in one line how a model call went.
func callLine(c *trajectory.Call) string {
	parts := []string{word(c.Model.String()), "status " + counted(c.StatusCode)}
	if !c.ErrorCategory.Empty() {
		parts = append(parts, "error "+c.ErrorCategory.String())
	}
	return strings.Join(append(parts, "finish "+word(c.FinishReason.String()), counted(c.PromptTokens)+" + "+counted(c.CompletionTokens)+" tokens",
		measured(c.DurationMS, 0)+" ms, first token "+measured(c.TTFTMS, 0)+" ms"), ", ")
}

// items tells items of a conversation; tools are the tool calls among them, in their order.
func (w teller) items(list []Item, tools []int) {
	n := 0
	for i := range list {
		it := &list[i]
		switch it.Kind {
		case Reasoning:
			w.reasoning(it)
		case ToolCall:
			var tool *Tool
			if n < len(tools) {
				tool = &w.t.Tools[tools[n]]
				n++
			}
			w.tool(it, tool)
		case ToolResult:
			id := "without a call id"
			if it.HasCallID {
				id = "of " + it.CallID
			}
			w.line(1, "tool result %s", id)
			w.content(2, it.Content())
		case Message:
			w.line(1, "%s", orWord(it.Role, "message"))
			parts := it.Content()
			if len(parts) == 0 {
				w.line(2, "(empty)")
			}
			w.content(2, parts)
		default:
			w.line(1, "%s", orWord(it.Value.Get("type").Text(), it.Value.Kind().String()))
			w.s.Text(2, string(it.Value.Raw()))
		}
	}
}

func (w teller) reasoning(it *Item) {
	w.line(1, "reasoning")
	parts := it.Content()
	w.content(2, parts)
	switch {
	case it.Encrypted():
		secret := it.Value.Get("encrypted_content")
		if !secret.IsString() {
			secret = it.Value.Get("data")
		}
		w.line(2, "(encrypted, %s characters)", grouped(len(secret.Text())))
	case len(parts) == 0:
		w.line(2, "(empty)")
	}
}

// grouped writes a count with separators.
func grouped(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// tool tells a tool call with what came back.
func (w teller) tool(it *Item, tool *Tool) {
	id := "without a call id"
	if it.HasCallID {
		id = it.CallID
	}
	w.line(1, "tool call %s %s", word(it.Name), id)
	kind, parsed := ArgumentsOf(it.Arguments)
	switch {
	case kind == ArgumentsObject:
		w.s.Text(2, string(parsed.Append(nil, value.Row)))
	case kind != ArgumentsEmpty && it.Arguments.IsString():
		w.s.Text(2, it.Arguments.Text())
		w.line(2, "(arguments: %s)", kind)
	case kind != ArgumentsEmpty && it.Arguments.Exists():
		w.s.Text(2, string(it.Arguments.Raw()))
		w.line(2, "(arguments: %s)", kind)
	default:
		w.line(2, "(arguments: %s)", kind)
	}
	if tool == nil {
		return
	}
	if tool.Record != nil {
		r := tool.Record
		line := r.Status.String()
		if r.DurationMS.Set {
			line += ", " + measured(r.DurationMS, 1) + " ms"
		}
		if !r.ErrorType.Empty() {
			line += ", " + r.ErrorType.String()
		}
		w.line(2, "observed: %s", line)
	}
	switch {
	case tool.Answered:
		w.line(2, "result")
		parts := (&Item{Kind: ToolResult, Text: tool.Result}).Content()
		if len(parts) == 0 {
			w.line(3, "(empty)")
		}
		w.content(3, parts)
	case tool.Hosted:
		w.line(2, "(run by the model's server)")
	default:
		w.line(2, "(no result)")
	}
}

func (w teller) content(depth int, parts []Part) {
	for _, part := range parts {
		switch part.Kind {
		case PartText:
			w.s.Text(depth, part.Text.Text())
		case PartRefusal:
			w.line(depth, "(refusal)")
			w.s.Text(depth, part.Text.Text())
		case PartImage:
			w.line(depth, "%s", part.Image.line())
		default:
			w.line(depth, "(%s)", orWord(part.Value.Get("type").Text(), part.Value.Kind().String()))
			w.s.Text(depth, string(part.Value.Raw()))
		}
	}
}

func (i Image) line() string {
	switch i.Kind {
	case ImageRemote, ImageFile:
		return fmt.Sprintf("[%s, not fetched: %s]", i.Kind, i.Address)
	case ImageUnknown:
		return "[" + i.Kind.String() + "]"
	}
	return fmt.Sprintf("[%s, %s, %s bytes]", i.Kind, word(i.MediaType), grouped(i.Bytes))
}

// loose tells what belongs to no turn: model calls, tools that nobody asked for, results without a call.
func (w teller) loose() {
	for i := range w.t.Calls {
		if c := &w.t.Calls[i]; len(c.Turns) == 0 {
			w.s.Head(fmt.Sprintf("model call %s of no turn: %s", word(c.At.ID.String()), callLine(c.At)))
		}
	}
	for i := range w.t.Tools {
		if tool := &w.t.Tools[i]; tool.Turn < 0 {
			w.s.Head(fmt.Sprintf("observed tool call %s %s that no turn asks for: %s", word(tool.Name), tool.ID, tool.Record.Status.String()))
		}
	}
	for _, it := range w.t.Orphans {
		w.s.Head(fmt.Sprintf("tool result of %s, which nobody called", orWord(it.CallID, "no call id")))
	}
}

// deepest is how far the tree of agents is set in: further down, room in front of a line tells nobody anything.
const deepest = 32

// Tree tells the tree of agents of a rollout that has several.
func (t *Rollout) Tree(s Scribe) {
	if len(t.Invocations) < 2 {
		return
	}
	seen := make([]bool, len(t.Invocations))
	var walk func(i, depth int)
	walk = func(i, depth int) {
		if seen[i] {
			return
		}
		seen[i] = true
		in := &t.Invocations[i]
		s.Line(min(depth, deepest), fmt.Sprintf("invocation %s: %s, %d turns, %d model calls, %d tool calls", in.ID, in.Status, len(in.Turns), len(in.Calls), len(in.Tools)))
		for _, k := range in.Children {
			walk(k, depth+1)
		}
	}
	for i := range t.Invocations {
		if t.Invocations[i].Parent < 0 {
			walk(i, 0)
		}
	}
	for i := range t.Invocations {
		walk(i, 0)
	}
}

// Source says where the turns come from, "" where they are those of a valid trajectory.
func (t *Rollout) Source() string {
	switch {
	case t.Loose:
		return "the trajectory is not valid; what can be read of it is shown: " + t.Err.Error()
	case t.Err != nil:
		return "the trajectory cannot be used: " + t.Err.Error()
	case t.Record == nil:
		return "no trajectory; turns follow from the response"
	case !t.Saved:
		return "the trajectory has no turns; they follow from the response"
	}
	return ""
}
