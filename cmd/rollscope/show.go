package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rollscope/rollscope/core/atif"
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/rollout"
	"github.com/rollscope/rollscope/core/transcript"
	"github.com/rollscope/rollscope/core/value"
	"github.com/rollscope/rollscope/core/view"
)

func showCommand(h *host) *cobra.Command {
	var (
		rolloutsFile string
		turn         int
		full         bool
	)
	cmd := &cobra.Command{
		Use:   "show PATH ROLLOUT [flags]",
		Short: "print what was asked, thought, done and said in a rollout",
		Long: `Print the transcript of one rollout, turn by turn: what was new to the agent, what
it thought, which tools it called with what came back, what it said, and the
model call behind it.

ROLLOUT is a rollout id, the task and the rollout index with a hyphen between
them, or the place of the row as line:NUMBER. PATH may be an ATIF document,
which is one rollout.`,
		Example: `  rollscope show RUN_DIR 12-0
  rollscope show RUN_DIR 12-0 --turn 3 | less
  rollscope show rollouts.jsonl line:17 --full
  rollscope show trajectory.json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return usagef("a path and a rollout are wanted")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("turn") && turn < 1 {
				return usagef("--turn %d: turns are counted from 1", turn)
			}
			p := printer{w: errWriter{w: h.out}, full: full, turn: turn}
			if doc, ok, err := readATIF(args[0]); err != nil {
				return err
			} else if ok {
				return p.document(doc)
			}
			if len(args) < 2 {
				return usagef("a rollout is missing; rollscope rows lists them")
			}
			return h.showRow(cmd.Context(), args[0], rolloutsFile, args[1], &p)
		},
	}
	f := cmd.Flags()
	f.StringVar(&rolloutsFile, "rollouts-file", "", "`name` of the rollouts file of a directory (default "+defaultRolloutsFile+")")
	f.IntVar(&turn, "turn", 0, "print this turn alone, counted from 1")
	f.BoolVar(&full, "full", false, "print long texts to their end")
	return cmd
}

// readATIF reads a file if it is an ATIF document.
func readATIF(path string) (doc value.Value, ok bool, err error) {
	if !strings.HasSuffix(strings.ToLower(path), ".json") || !isFile(path) {
		return doc, false, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return doc, false, err
	}
	doc, err = value.Parse(text, value.Leniency{Surrogates: true})
	if err != nil {
		return doc, false, fmt.Errorf("%s: %w", path, err)
	}
	return doc, atif.Looks(doc), nil
}

var errFound = errors.New("found")

// wanted tells whether a row is the one that was asked for.
func wanted(name string, row *rollout.Row, id *rollout.Identity) bool {
	if line, ok := strings.CutPrefix(name, "line:"); ok {
		return line == strconv.FormatInt(row.Line, 10)
	}
	return id.ID == name || id.Task.String()+"-"+id.Rollout.String() == name
}

// showRow finds a row and prints it.
func (h *host) showRow(ctx context.Context, path, rolloutsFile, name string, p *printer) error {
	inputs, err := openInputs([]string{path}, inputOptions{rolloutsFile, false})
	defer closeInputs(inputs)
	if err != nil {
		return err
	}
	var printed error
	err = h.eachRow(ctx, inputs, func(source int, row *rollout.Row, ordinal int64) error {
		identity := row.Identity()
		identity = identity.Resolve(ordinal, source, row.Line)
		if !wanted(name, row, &identity) {
			return nil
		}
		if row.Problem != nil {
			printed = fmt.Errorf("%s:%d cannot be read: %s", inputs[source].name, row.Line, row.Problem.Reason)
		} else {
			printed = p.row(inputs[source].name, row, &identity)
		}
		return errFound
	})
	switch {
	case errors.Is(err, errFound):
		return printed
	case err != nil:
		return err
	}
	return fmt.Errorf("no rollout %s in %s; rollscope rows lists them", name, path)
}

// A printer prints transcripts: plain lines, indented, with nothing in them that a terminal would obey.
type printer struct {
	w    errWriter
	full bool
	turn int // alone, if above 0
}

// longText is how many characters of a text are printed.
const longText = 4000

func (p *printer) line(indent int, format string, args ...any) {
	p.w.printf("%s\n", strings.TrimRight(strings.Repeat("  ", indent)+safe(fmt.Sprintf(format, args...)), " "))
}

// text prints a text line by line. What is left out is counted.
func (p *printer) text(indent int, s string) {
	rest := 0
	if !p.full {
		count := 0
		for i := range s {
			if count == longText {
				rest = strings.Count(s[i:], "") - 1
				s = s[:i]
				break
			}
			count++
		}
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(s, "\n"), "\n") {
		p.line(indent, "%s", strings.TrimSuffix(line, "\r"))
	}
	if rest > 0 {
		p.line(indent, "… + %s characters; --full prints them", view.Group(int64(rest)))
	}
}

// row prints a row of a rollouts file.
func (p *printer) row(file string, row *rollout.Row, id *rollout.Identity) error {
	var reader transcript.Reader
	t := reader.Read(row)
	facts := row.Facts()
	p.line(0, "rollout %s  (%s:%d)", id.ID, file, row.Line)
	about := []string{"task " + id.Task.String(), "repeat " + id.Rollout.String()}
	for _, one := range [...]struct{ name, text string }{
		{"name", facts.Name}, {"agent", facts.Agent}, {"reward", facts.Reward}, {"prompt tokens", facts.Prompt}, {"completion tokens", facts.Completion},
	} {
		if one.text != "" {
			about = append(about, one.name+" "+one.text)
		}
	}
	if facts.Masked {
		about = append(about, "masked")
	}
	p.line(0, "%s", strings.Join(about, ", "))
	switch {
	case t.Err != nil:
		p.line(0, "the trajectory cannot be used: %s", t.Err)
	case t.Record == nil:
		p.line(0, "no trajectory; turns follow from the response")
	case !t.Saved:
		p.line(0, "the trajectory has no turns; they follow from the response")
	}
	if t.Record != nil {
		for i := range t.Record.Gaps {
			g := &t.Record.Gaps[i]
			p.line(0, "gap: %s %s %s", g.Code.String(), g.InvocationID.String(), g.Detail.String())
		}
	}
	p.invocations(t)
	if p.turn > len(t.Turns) {
		return fmt.Errorf("no turn %d: the rollout has %d", p.turn, len(t.Turns))
	}
	if p.turn == 0 && len(t.Prompt) > 0 {
		p.line(0, "")
		p.line(0, "prompt")
		p.items(t.Prompt, nil, t)
	}
	for i := range t.Turns {
		if p.turn == 0 || p.turn == i+1 {
			p.printTurn(t, i)
		}
	}
	if p.turn == 0 {
		if len(t.Turns) == 0 {
			p.line(0, "")
			p.line(0, "no turns: the response is %s", kindOf(row.Response))
		}
		p.loose(t)
	}
	return p.w.err
}

func kindOf(v jsonscan.Value) string {
	if out := v.Get("output"); v.IsObject() && out.IsArray() {
		return "empty"
	}
	return v.Kind().String()
}

// invocations prints the tree of agents.
func (p *printer) invocations(t *transcript.Rollout) {
	if len(t.Invocations) < 2 {
		return
	}
	var walk func(i, depth int)
	seen := map[int]bool{}
	walk = func(i, depth int) {
		if seen[i] {
			return
		}
		seen[i] = true
		in := &t.Invocations[i]
		p.line(depth, "invocation %s: %s, %d turns, %d model calls, %d tool calls", in.ID, in.Status, len(in.Turns), len(in.Calls), len(in.Tools))
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

func (p *printer) printTurn(t *transcript.Rollout, i int) {
	turn := &t.Turns[i]
	p.line(0, "")
	head := fmt.Sprintf("turn %d of %d", i+1, len(t.Turns))
	if t.Saved {
		head += fmt.Sprintf(", invocation %s turn %s, step %s", turn.ID, turn.No, turn.StepCount)
		if turn.HasTime && turn.Timestamp != 0 {
			head += ", " + clock(turn.Timestamp)
		}
	}
	p.line(0, "%s", head)
	for _, k := range turn.Calls {
		c := t.Calls[k].At
		p.line(1, "model call %s: %s", orDash(c.ID.String()), callLine(c.Model.String(), countText(c.StatusCode), c.ErrorCategory.String(), c.FinishReason.String(),
			countText(c.PromptTokens), countText(c.CompletionTokens), realText(c.DurationMS, 0), realText(c.TTFTMS, 0)))
	}
	p.items(turn.Input, nil, t)
	for k := range turn.Reasoning {
		p.reasoning(&turn.Reasoning[k])
	}
	p.items(turn.Answer, turn.Tools, t)
}

// callLine says in one line how a model call went.
func callLine(model, status, category, finish, prompt, completion, latency, first string) string {
	parts := []string{orDash(model), "status " + status}
	if category != "" {
		parts = append(parts, "error "+category)
	}
	return strings.Join(append(parts, "finish "+orDash(finish), prompt+" + "+completion+" tokens", latency+" ms, first token "+first+" ms"), ", ")
}

// items prints items of a conversation; tools are the tool calls among them, in their order.
func (p *printer) items(list []transcript.Item, tools []int, t *transcript.Rollout) {
	n := 0
	for i := range list {
		it := &list[i]
		switch it.Kind {
		case transcript.Reasoning:
			p.reasoning(it)
		case transcript.ToolCall:
			var tool *transcript.Tool
			if n < len(tools) {
				tool = &t.Tools[tools[n]]
				n++
			}
			p.tool(it, tool)
		case transcript.ToolResult:
			id := "without a call id"
			if it.HasCallID {
				id = "of " + it.CallID
			}
			p.line(1, "tool result %s", id)
			p.content(2, it.Content())
		case transcript.Message:
			p.line(1, "%s", orWord(it.Role, "message"))
			parts := it.Content()
			if len(parts) == 0 {
				p.line(2, "(empty)")
			}
			p.content(2, parts)
		default:
			kind := it.Value.Get("type").Text()
			p.line(1, "%s", orWord(kind, it.Value.Kind().String()))
			p.text(2, string(it.Value.Raw()))
		}
	}
}

func orWord(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

func (p *printer) reasoning(it *transcript.Item) {
	p.line(1, "reasoning")
	parts := it.Content()
	p.content(2, parts)
	switch {
	case it.Encrypted():
		p.line(2, "(encrypted, %s characters)", view.Group(int64(len(it.Value.Get("encrypted_content").Text()))))
	case len(parts) == 0:
		p.line(2, "(empty)")
	}
}

// tool prints a tool call with what came back.
func (p *printer) tool(it *transcript.Item, tool *transcript.Tool) {
	id := "without a call id"
	if it.HasCallID {
		id = it.CallID
	}
	p.line(1, "tool call %s %s", orDash(it.Name), id)
	kind, parsed := transcript.ArgumentsOf(it.Arguments)
	switch {
	case kind == transcript.ArgumentsObject:
		p.text(2, string(parsed.Append(nil, value.Row)))
	case kind != transcript.ArgumentsEmpty && it.Arguments.IsString():
		p.text(2, it.Arguments.Text())
		p.line(2, "(arguments: %s)", kind)
	case kind != transcript.ArgumentsEmpty && it.Arguments.Exists():
		p.text(2, string(it.Arguments.Raw()))
		p.line(2, "(arguments: %s)", kind)
	default:
		p.line(2, "(arguments: %s)", kind)
	}
	if tool == nil {
		return
	}
	if tool.Record != nil {
		r := tool.Record
		line := r.Status.String()
		if r.DurationMS.Set {
			line += ", " + realText(r.DurationMS, 1) + " ms"
		}
		if !r.ErrorType.Empty() {
			line += ", " + r.ErrorType.String()
		}
		p.line(2, "observed: %s", line)
	}
	if tool.Answered {
		p.line(2, "result")
		parts := (&transcript.Item{Kind: transcript.ToolResult, Text: tool.Result}).Content()
		if len(parts) == 0 {
			p.line(3, "(empty)")
		}
		p.content(3, parts)
		return
	}
	p.line(2, "(no result)")
}

func (p *printer) content(indent int, parts []transcript.Part) {
	for _, part := range parts {
		switch part.Kind {
		case transcript.PartText:
			p.text(indent, part.Text.Text())
		case transcript.PartRefusal:
			p.line(indent, "(refusal)")
			p.text(indent, part.Text.Text())
		case transcript.PartImage:
			p.line(indent, "%s", imageLine(part.Image))
		default:
			p.line(indent, "(%s)", orWord(part.Value.Get("type").Text(), part.Value.Kind().String()))
			p.text(indent, string(part.Value.Raw()))
		}
	}
}

func imageLine(i transcript.Image) string {
	switch i.Kind {
	case transcript.ImageRemote, transcript.ImageFile:
		return fmt.Sprintf("[%s, not fetched: %s]", i.Kind, i.Address)
	case transcript.ImageUnknown:
		return "[" + i.Kind.String() + "]"
	}
	return fmt.Sprintf("[%s, %s, %s]", i.Kind, orDash(i.MediaType), view.Bytes(int64(i.Bytes)))
}

// loose prints what belongs to no turn: tools that nobody asked for, results without a call.
func (p *printer) loose(t *transcript.Rollout) {
	for i := range t.Tools {
		tool := &t.Tools[i]
		if tool.Turn < 0 {
			p.line(0, "")
			p.line(0, "observed tool call %s %s that no turn asks for: %s", orDash(tool.Name), tool.ID, tool.Record.Status.String())
		}
	}
	for _, it := range t.Orphans {
		p.line(0, "")
		p.line(0, "tool result of %s, which nobody called", orWord(it.CallID, "no call id"))
	}
}

// document prints an ATIF document.
func (p *printer) document(v value.Value) error {
	d := atif.View(v)
	if p.turn > len(d.Steps) {
		return fmt.Errorf("no step %d: the document has %d", p.turn, len(d.Steps))
	}
	p.atif(&d, 0)
	return p.w.err
}

func (p *printer) atif(d *atif.Document, indent int) {
	p.line(indent, "trajectory %s by %s %s, %d steps, %s", orDash(d.ID), orDash(d.Agent), d.AgentVersion, len(d.Steps), orDash(d.Version))
	p.line(indent, "tokens of its own steps: prompt %s, completion %s, cached %s", d.Own.Prompt, d.Own.Completion, d.Own.Cached)
	if len(d.Subagents) > 0 {
		both := d.Own.Add(d.Subagent)
		p.line(indent, "tokens of its subagents: prompt %s, completion %s; together %s and %s", d.Subagent.Prompt, d.Subagent.Completion, both.Prompt, both.Completion)
	}
	if d.Declared.Exists() {
		p.line(indent, "the file says: %s", string(d.Declared.Append(nil, value.Row)))
	}
	if d.Version != "" && !slices.Contains(atif.HarborVersions, d.Version) {
		p.line(indent, "%s is not known here; what is known of it is shown", d.Version)
	}
	if d.Malformed {
		p.line(indent, "some steps are no objects and are left out")
	}
	if len(d.Unknown) > 0 {
		p.line(indent, "keys that are not known: %s", strings.Join(d.Unknown, ", "))
	}
	for i := range d.Steps {
		if p.turn == 0 || p.turn == i+1 || indent > 0 {
			p.atifStep(&d.Steps[i], indent)
		}
	}
	for i := range d.Subagents {
		if p.turn == 0 {
			p.line(indent, "")
			p.line(indent, "subagent")
			p.atif(&d.Subagents[i], indent+1)
		}
	}
}

func (p *printer) atifStep(s *atif.Step, indent int) {
	p.line(indent, "")
	head := fmt.Sprintf("step %d", s.Position)
	if n, ok := s.Number.Int64(); !ok || n != int64(s.Position) {
		head += ", numbered " + s.Number.OrNull().String()
	}
	head += ", " + orDash(s.Source)
	for _, more := range [...]string{s.Stamp, s.Model} {
		if more != "" {
			head += ", " + more
		}
	}
	if s.Copied {
		head += ", copied context"
	}
	p.line(indent, "%s", head)
	if s.Metrics.Exists() && !s.Metrics.IsNull() {
		p.line(indent+1, "metrics %s", string(s.Metrics.Append(nil, value.Row)))
	}
	if s.Reasoning != "" {
		p.line(indent+1, "reasoning")
		p.text(indent+2, s.Reasoning)
	}
	p.atifParts(indent+1, s.Message)
	for i := range s.Calls {
		c := &s.Calls[i]
		p.line(indent+1, "tool call %s %s", orDash(c.Name), c.ID)
		p.text(indent+2, string(c.Arguments.Append(nil, value.Row)))
		if len(c.Results) == 0 {
			p.line(indent+2, "(no result)")
		}
		for k := range c.Results {
			p.line(indent+2, "result")
			p.atifResult(indent+3, &c.Results[k])
		}
	}
	for i := range s.Loose {
		name := "observation"
		if s.Loose[i].CallID != "" {
			name = "result of " + s.Loose[i].CallID + ", which the step did not call"
		}
		p.line(indent+1, "%s", name)
		p.atifResult(indent+2, &s.Loose[i])
	}
}

func (p *printer) atifResult(indent int, r *atif.Result) {
	if len(r.Content) == 0 && len(r.Subagents) == 0 && !r.Direct.Exists() {
		p.line(indent, "(empty)")
	}
	p.atifParts(indent, r.Content)
	if r.Direct.Exists() {
		p.text(indent, string(r.Direct.Append(nil, value.Row)))
	}
	for _, ref := range r.Subagents {
		p.line(indent, "subagent %s", string(ref.Append(nil, value.Row)))
	}
}

func (p *printer) atifParts(indent int, parts []atif.Part) {
	for _, part := range parts {
		if part.Kind == "text" {
			if part.Text != "" {
				p.text(indent, part.Text)
			}
			continue
		}
		p.line(indent, "[%s, %s, not fetched: %s]", part.Kind, orDash(part.MediaType), part.Path)
	}
}
