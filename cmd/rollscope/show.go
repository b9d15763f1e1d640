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
		only         rowFilter
	)
	cmd := &cobra.Command{
		Use:   "show PATH [ROLLOUT] [flags]",
		Short: "print what was asked, thought, done and said in a rollout",
		Long: `Print the transcript of one rollout, turn by turn: what was new to the agent, what
it thought, which tools it called with what came back, what it said, and the
model call behind it.

ROLLOUT is a rollout id, the task and the rollout index with a hyphen between
them, or the place of the row as line:NUMBER. PATH may be an ATIF document,
which is one rollout. With --filter, in the language of the page, ROLLOUT may be
left out: every rollout that fits is printed.`,
		Example: `  rollscope show RUN_DIR 12-0
  rollscope show RUN_DIR 12-0 --turn 3 | less
  rollscope show rollouts.jsonl line:17 --full
  rollscope show RUN_DIR --filter 'verdict:unhealthy reward=0' | less
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
			} else if ok && only.text != "" {
				return usagef("--filter chooses rows, and %s is one rollout", args[0])
			} else if ok {
				return p.document(doc)
			}
			name := ""
			if len(args) == 2 {
				name = args[1]
			} else if only.text == "" {
				return usagef("a rollout or --filter is missing; rollscope rows lists the rollouts")
			}
			fits, err := only.rows(cmd.Context(), h, args[:1], rolloutsFile)
			if err != nil {
				return err
			}
			return h.showRows(cmd.Context(), args[0], rolloutsFile, name, fits, &p)
		},
	}
	f := cmd.Flags()
	f.StringVar(&rolloutsFile, "rollouts-file", "", "`name` of the rollouts file of a directory (default "+defaultRolloutsFile+")")
	f.IntVar(&turn, "turn", 0, "print this turn alone, counted from 1")
	f.BoolVar(&full, "full", false, "print long texts to their end")
	only.flag(cmd)
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

// showRows finds a row by its name, or without a name all rows that fit a filter, and prints them. Without a filter all
// rows fit.
func (h *host) showRows(ctx context.Context, path, rolloutsFile, name string, fits func(ordinal int64) bool, p *printer) error {
	inputs, err := openInputs([]string{path}, inputOptions{rolloutsFile: rolloutsFile})
	defer closeInputs(inputs)
	if err != nil {
		return err
	}
	if name == "" {
		h.unread([]string{path}, rolloutsFile)
	}
	var printed error
	n := 0
	err = h.eachRow(ctx, inputs, func(source int, row *rollout.Row, ordinal int64) error {
		identity := row.Identity()
		identity = identity.Resolve(ordinal, source, row.Line)
		if name != "" && !wanted(name, row, &identity) || fits != nil && !fits(ordinal) {
			return nil
		}
		if n++; n > 1 {
			p.line(0, "")
		}
		if row.Problem != nil {
			printed = fmt.Errorf("%s:%d cannot be read: %s", inputs[source].name, row.Line, row.Problem.Reason)
		} else {
			printed = p.row(inputs[source].name, row, &identity)
		}
		if name != "" {
			return errFound
		}
		if printed != nil && p.w.err == nil { // of one of many, it is told in its place
			p.line(0, "%s", printed)
			printed = nil
		}
		return printed
	})
	switch {
	case errors.Is(err, errFound):
		return printed
	case err != nil:
		return err
	case n > 0:
		return damagedInputs(inputs)
	case name == "":
		return fmt.Errorf("no rollout of %s fits the filter", path)
	case fits != nil:
		return fmt.Errorf("no rollout %s in %s fits the filter; rollscope rows lists those that do", name, path)
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
	if source := t.Source(); source != "" {
		p.line(0, "%s", source)
	}
	if t.Record != nil {
		for i := range t.Record.Gaps {
			g := &t.Record.Gaps[i]
			p.line(0, "gap: %s %s %s", g.Code.String(), g.InvocationID.String(), g.Detail.String())
		}
	}
	t.Tree(p)
	if p.turn > len(t.Turns) {
		return fmt.Errorf("no turn %d: the rollout has %d", p.turn, len(t.Turns))
	}
	t.Tell(p, p.turn)
	if p.turn == 0 && len(t.Turns) == 0 {
		p.line(0, "")
		p.line(0, "no turns: the response is %s", kindOf(row.Response))
	}
	return p.w.err
}

func kindOf(v jsonscan.Value) string {
	if out := v.Get("output"); v.IsObject() && out.IsArray() {
		return "empty"
	}
	return v.Kind().String()
}

// Head, Line and Text take a transcript down.
func (p *printer) Head(text string) {
	p.line(0, "")
	p.line(0, "%s", text)
}

func (p *printer) Line(depth int, text string) { p.line(depth, "%s", text) }

func (p *printer) Text(depth int, text string) { p.text(depth, text) }

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
