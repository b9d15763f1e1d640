package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/rollout"
	"github.com/rollscope/rollscope/core/search"
	"github.com/rollscope/rollscope/core/view"
	"github.com/rollscope/rollscope/core/view/filter"
)

// errNothing means that there is no hit. Nothing is said about it, since scripts ask for the status.
var errNothing = errors.New("no hit")

// A hitDocument is a hit as --json prints it, in a list of hits, one a line.
type hitDocument struct {
	rolloutPlace
	Pointer    string `json:"pointer"` // of the text in the row
	Part       string `json:"part"`
	Role       string `json:"role,omitempty"`
	Tool       string `json:"tool,omitempty"`
	Call       string `json:"call_id,omitempty"`
	Turn       int    `json:"turn,omitempty"` // from 1
	TextOffset int64  `json:"text_offset"`    // of the text's opening quote in the file
	HitOffset  int    `json:"hit_offset"`     // in the decoded text, in bytes
	HitLength  int    `json:"hit_length"`
	Before     string `json:"before"`
	Match      string `json:"match"`
	After      string `json:"after"`
	Cut        bool   `json:"cut,omitempty"` // match is not the whole of it
}

// A rolloutPlace says which rollout it is.
type rolloutPlace struct {
	File    string          `json:"file"`
	Line    int64           `json:"line"`
	Offset  int64           `json:"offset"`
	Task    json.RawMessage `json:"task_index"`
	Rollout json.RawMessage `json:"rollout_index"`
	ID      string          `json:"rollout_id"`
}

// A countDocument is a rollout with hits, as --json prints it with --count and --list in a list of rollouts.
type countDocument struct {
	rolloutPlace
	Hits int `json:"hits,omitempty"`
}

// A grep is one search over files.
type grep struct {
	host   *host
	search *search.Search
	asJSON bool
	list   bool
	count  bool
	most   int                      // hits of a rollout, 0 for all
	fits   func(ordinal int64) bool // rows that are looked into; nil for all
	colour bool

	out      *bufio.Writer
	progress *progress
	printed  bool // some element of the document of --json
	found    bool
	refused  int64 // lines that may have hits and cannot be read
}

func grepCommand(h *host) *cobra.Command {
	var (
		o            search.Options
		g            = grep{host: h}
		field        string
		rolloutsFile string
		only         rowFilter
	)
	cmd := &cobra.Command{
		Use:   "grep PATTERN RUN… [flags]",
		Short: "find a text in what was said, thought, called and returned",
		Long: `Find a pattern in the messages, the reasoning, the tool arguments and the tool
outputs of all rollouts, as people read them: with the escapes of JSON decoded,
and each text once however often later questions repeat it.

The pattern is a regular expression as Go has them (RE2): no back references,
and never slow. ^ and $ are the ends of lines. With -F it is a text. Letter case
counts unless -i is given; it is folded character by character as Unicode says.

A hit is one line: place, rollout id, turn, what the text is, and the hit with the
rest of its line, separated by tabs. Lines that cannot be read as rows have no
texts; where one might hold the pattern, that is noted.

--field narrows the search down: to some of message, reasoning, tool_call,
tool_result and other, separated by commas, or to all strings at and below a
path such as row.response.output or /response/output/0. --filter looks into some
rows alone, in the language of the page.

Exit status: 0 there are hits, 1 there are none, 2 usage, or input that is
unreadable or damaged.`,
		Example: `  rollscope grep 'permission denied' RUN_DIR -i
  rollscope grep -F 'a[0]' RUN_DIR -l
  rollscope grep '"rm -rf' RUN_DIR --field tool_call --json
  rollscope grep Traceback RUN_DIR --filter 'verdict:unhealthy reward=0'
  rollscope grep abc123 a.jsonl b.jsonl --all`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usagef("a pattern and a run are wanted")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, f := range []string{"context", "max-count"} {
				if n, err := cmd.Flags().GetInt(f); err == nil && cmd.Flags().Changed(f) && n < 1 {
					return usagef("--%s %d: want a number from 1 on", f, n)
				}
			}
			if o.Context > search.MaxContext {
				return usagef("--context %d: at most %d", o.Context, search.MaxContext)
			}
			if g.list && g.count {
				return usagef("--list and --count cannot be used together")
			}
			if err := narrow(&o, field); err != nil {
				return err
			}
			o.Pattern = args[0]
			var err error
			if g.search, err = search.New(o); err != nil {
				return usagef("%w", err)
			}
			if g.fits, err = only.rows(cmd.Context(), h, args[1:], rolloutsFile); err != nil {
				return err
			}
			inputs, err := openInputs(args[1:], inputOptions{rolloutsFile: rolloutsFile})
			defer closeInputs(inputs)
			if err != nil {
				return err
			}
			return g.run(cmd.Context(), inputs)
		},
	}
	f := cmd.Flags()
	f.BoolVarP(&o.Fold, "ignore-case", "i", false, "letter case does not count")
	f.BoolVarP(&o.Literal, "fixed-strings", "F", false, "the pattern is a text, not a regular expression")
	f.BoolVarP(&o.All, "all", "a", false, "look into all strings of the rows, such as ids and requests of model calls")
	f.StringVar(&field, "field", "", "look into these `parts`, or at and below this path, alone")
	f.BoolVarP(&g.list, "list", "l", false, "list the rollouts with hits alone")
	f.BoolVarP(&g.count, "count", "c", false, "list the rollouts with hits and how many they have")
	f.IntVarP(&g.most, "max-count", "m", 0, "stop at this `number` of hits of a rollout")
	f.IntVarP(&o.Context, "context", "C", 0, "this `number` of characters of the line on either side of a hit, at most (default "+strconv.Itoa(search.DefaultContext)+")")
	f.BoolVar(&g.asJSON, "json", false, "print one JSON document, a hit a line")
	f.StringVar(&rolloutsFile, "rollouts-file", "", "`name` of the rollouts file of a directory (default "+defaultRolloutsFile+")")
	only.flag(cmd)
	return cmd
}

// partNames are the parts of what is said, as --field names them.
var partNames = []struct {
	name string
	part search.Part
}{
	{"message", search.Message}, {"reasoning", search.Reasoning}, {"tool_call", search.ToolCall}, {"tool_result", search.ToolResult}, {"other", search.Other},
}

// narrow reads --field.
func narrow(o *search.Options, field string) error {
	switch {
	case field == "":
		return nil
	case field[0] == '/':
		o.Under = field
		return nil
	case strings.HasPrefix(field, "row.") || strings.HasPrefix(field, "row[") || field[0] == '$':
		ref, err := filter.ParsePath(field)
		if err != nil {
			return usagef("--field: %w", err)
		}
		for _, step := range ref.Path {
			if step.Key == nil {
				o.Under += "/" + strconv.Itoa(step.Index)
			} else {
				o.Under += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(*step.Key)
			}
		}
		return nil
	}
	var names []string
	for _, p := range partNames {
		names = append(names, p.name)
	}
	for name := range strings.SplitSeq(field, ",") {
		i := slices.Index(names, strings.TrimSpace(name))
		if i < 0 {
			return usagef("--field %s: want some of %s, or a path such as row.response.output", field, strings.Join(names, ", "))
		}
		o.Parts = o.Parts.With(partNames[i].part)
	}
	return nil
}

// run searches the files one after the other.
func (g *grep) run(ctx context.Context, inputs []*input) (err error) {
	total := int64(0)
	for _, in := range inputs {
		total += in.info.Size()
	}
	g.out = bufio.NewWriter(g.host.out)
	g.progress = g.host.progress(total)
	g.colour = g.host.outTerminal && !g.host.plain() && !g.asJSON
	if g.asJSON {
		list := "hits"
		if g.list || g.count {
			list = "rollouts"
		}
		fmt.Fprintf(g.out, "{%q:[", list)
	}
	defer func() {
		g.progress.done()
		if g.asJSON && err == nil { // else it is not whole, and must not look like it
			g.out.WriteString("\n]}\n")
		}
		if flushed := g.out.Flush(); err == nil {
			err = flushed
		}
		switch {
		case err != nil:
			return
		case g.refused > 0:
			g.host.note("lines that may hold the pattern and cannot be read as rows: %s", view.Group(g.refused))
		}
		if !g.found {
			err = errNothing
		}
	}()
	var reader rollout.Reader
	finder := g.search.Finder()
	rows, before := int64(0), int64(0)
	for source, in := range inputs {
		err := in.lines(ctx, func(line *jsonl.Line) error {
			if jsonl.Blank(line.Bytes) {
				return nil
			}
			ordinal := rows
			rows++
			if in.packed == nil {
				g.progress.show(before+line.Offset+line.Size(), rows)
			}
			if g.fits != nil && !g.fits(ordinal) || !g.search.Could(line.Bytes) {
				return nil
			}
			row := reader.Read(line)
			row.Line = line.Number
			if row.Problem != nil {
				g.refused++
				return nil
			}
			return g.row(in.name, source, ordinal, row, finder)
		})
		if err != nil {
			return err
		}
		before += in.info.Size()
	}
	return nil
}

// row prints the hits of a row.
func (g *grep) row(file string, source int, ordinal int64, row *rollout.Row, finder *search.Finder) (err error) {
	var at rolloutPlace
	count := 0
	finder.Row(row, func(hit *search.Hit) bool {
		if count == 0 {
			g.found = true
			id := row.Identity()
			id = id.Resolve(ordinal, source, row.Line)
			at = rolloutPlace{file, row.Line, row.Offset, keyJSON(id.Task), keyJSON(id.Rollout), id.ID}
			g.progress.done()
		}
		count++
		if !g.list && !g.count {
			err = g.print(&at, row, hit)
		}
		return err == nil && !g.list && (g.most == 0 || count < g.most)
	})
	switch {
	case err != nil || count == 0:
		return err
	case g.asJSON && g.list:
		err = g.element(countDocument{at, 0})
	case g.asJSON && g.count:
		err = g.element(countDocument{at, count})
	case g.list:
		_, err = fmt.Fprintf(g.out, "%s\n", at)
	case g.count:
		_, err = fmt.Fprintf(g.out, "%s\t%d\n", at, count)
	}
	if err == nil && g.host.outTerminal {
		err = g.out.Flush()
	}
	return err
}

// String is the place on one line.
func (p rolloutPlace) String() string {
	return fmt.Sprintf("%s:%d\t%s", safe(p.File), p.Line, safe(p.ID))
}

// element prints one more element of the document of --json.
func (g *grep) element(value any) error {
	b, err := marshal(value)
	if err != nil {
		return err
	}
	if g.printed {
		g.out.WriteByte(',')
	}
	g.printed = true
	g.out.WriteByte('\n')
	_, err = g.out.Write(b)
	return err
}

// print prints one hit.
func (g *grep) print(at *rolloutPlace, row *rollout.Row, hit *search.Hit) error {
	if g.asJSON {
		return g.element(hitDocument{
			rolloutPlace: *at, Pointer: hit.Pointer, Part: strings.ReplaceAll(hit.Part.String(), " ", "_"), Role: hit.Role, Tool: hit.Tool, Call: hit.Call, Turn: hit.Turn,
			TextOffset: row.Offset + row.Lead + int64(hit.Text), HitOffset: hit.Offset, HitLength: hit.Length,
			Before: hit.Before, Match: hit.Match, After: hit.After, Cut: hit.Cut,
		})
	}
	turn := "–"
	if hit.Turn > 0 {
		turn = "turn " + strconv.Itoa(hit.Turn)
	}
	match := safe(hit.Match)
	if hit.Cut {
		match += "…"
	}
	if g.colour {
		match = "\x1b[1;31m" + match + "\x1b[0m"
	}
	_, err := fmt.Fprintf(g.out, "%s\t%s\t%s\t%s%s%s\n", *at, turn, safe(hit.Words()), safe(hit.Before), match, safe(hit.After))
	return err
}
