package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rollscope/rollscope/core/analysis"
	"github.com/rollscope/rollscope/core/health"
	"github.com/rollscope/rollscope/core/rollout"
	"github.com/rollscope/rollscope/core/view"
	"github.com/rollscope/rollscope/core/view/filter"
)

// A rowDocument is a row as --json prints it.
type rowDocument struct {
	File       string          `json:"file"`
	Line       int64           `json:"line"`
	Offset     int64           `json:"offset"`
	Length     int64           `json:"length"`
	Task       json.RawMessage `json:"task_index"`
	Rollout    json.RawMessage `json:"rollout_index"`
	Stage      json.RawMessage `json:"stage_index"`
	ID         string          `json:"rollout_id"`
	Verdict    string          `json:"verdict"`
	Checks     []string        `json:"checks"`      // with a finding on the row
	TaskChecks []string        `json:"task_checks"` // that flag its task
	Unobserved []string        `json:"unobserved"`

	Refused *refusedDocument `json:"refused,omitempty"` // of a line that cannot be read
}

// A refusedDocument says why a line cannot be read, and what stands on it all the same. That is for display and in
// no number.
type refusedDocument struct {
	Class    string          `json:"class"`
	Reason   string          `json:"reason"`
	Offset   int64           `json:"offset"` // of the first byte that cannot stand
	Torn     bool            `json:"torn"`
	Repaired string          `json:"repaired,omitempty"` // what was changed to show it
	Records  int64           `json:"records"`            // found on the line
	Task     json.RawMessage `json:"task_index"`         // of the first one
	Rollout  json.RawMessage `json:"rollout_index"`
}

// note is the refusal in words.
func (r *refusedDocument) note() string {
	s := fmt.Sprintf("unreadable: %s at byte %d", r.Reason, r.Offset)
	if r.Records > 0 {
		s += fmt.Sprintf("; repaired for display: %s-%s, %s", r.Task, r.Rollout, r.Repaired)
	}
	return s
}

func rowsCommand(h *host) *cobra.Command {
	var (
		how     judging
		text    string
		sorting string
		form    rowForm
		failOn  string
	)
	cmd := &cobra.Command{
		Use:   "rows PATH… [flags]",
		Short: "list rollouts with their verdicts",
		Long: `List the rollouts of a run, one a line: place, identity, verdict, and the ids of
the checks that fired on it or flag its task, separated by tabs; behind a line
that cannot be read stands why, and what was found on it all the same. A filter
is written in the language of the page:

  verdict:unhealthy
  check:model_call_failed agent:opencode reward=0
  0 < reward <= 1 and not masked
  row.response.usage.total_tokens > 100000

A path that begins with row. reads inside the rows, which takes a second look at
the files. --raw prints the rows as the bytes that stand in their files, --csv and
--tsv as a table, in which a text that spreadsheets take for a formula gets an
apostrophe in front. Fields: ` + wrap(strings.Join(fieldNames(), ", "), 72) + `.
Paths are understood as by the health command.`,
		Example: "  rollscope rows RUN_DIR --filter verdict:unhealthy\n  rollscope rows RUN_DIR --sort -completion --json\n  rollscope rows RUN_DIR --filter reward=0 --raw > failed.jsonl",
		RunE: func(cmd *cobra.Command, paths []string) error {
			limit, err := thresholdOf(cmd, failOn)
			if err != nil {
				return err
			}
			// What is wrong with the filter is told before anything is read.
			question, err := view.Ask(text)
			if err != nil {
				return wrongFilter(err)
			}
			if key := strings.TrimPrefix(sorting, "-"); sorting != "" && !slices.Contains(view.SortKeys(), key) {
				return usagef("--sort %s: rows are sorted by %s", sorting, strings.Join(view.SortKeys(), ", "))
			}
			j, err := h.judge(cmd.Context(), paths, how)
			if err != nil {
				return err
			}
			defer j.close()
			answers, err := h.ask(cmd.Context(), j, question, how.workers)
			if err != nil {
				return err
			}
			found, err := view.Search(j.table, j.report, text, sorting, answers)
			if err != nil {
				return wrongFilter(err)
			}
			switch {
			case form.raw:
				err = h.shown(func(w io.Writer) error { return printRaw(w, j, found) })
			case form.csv, form.tsv:
				err = h.shown(func(w io.Writer) error { return printCells(w, j, found, form.tsv) })
			default:
				err = printRows(h.out, j, found, form.json)
			}
			if err != nil {
				return err
			}
			if err := j.damaged(); err != nil {
				return err
			}
			var counts [health.Skipped + 1]int64
			for _, ordinal := range found {
				counts[j.report.Verdict(ordinal)]++
			}
			return limit.check(counts)
		},
	}
	f := cmd.Flags()
	f.StringVar(&text, "filter", "", "list the rows that fit this `expression` alone")
	f.StringVar(&sorting, "sort", "", "sort by this `key` instead of the place; - in front turns the order")
	f.BoolVar(&form.json, "json", false, "print one JSON document")
	f.BoolVar(&form.raw, "raw", false, "print the rows as the bytes that stand in their files")
	f.BoolVar(&form.csv, "csv", false, "print a table as CSV")
	f.BoolVar(&form.tsv, "tsv", false, "print a table separated by tabs")
	cmd.MarkFlagsMutuallyExclusive("json", "raw", "csv", "tsv")
	failOnFlag(cmd, &failOn, "the listed rows")
	how.flags(cmd, h)
	_ = cmd.RegisterFlagCompletionFunc("sort", cobra.FixedCompletions(view.SortKeys(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// ask reads a judged run a second time for what a filter reads inside its rows. Without a question it reads nothing.
func (h *host) ask(ctx context.Context, j *judged, q *view.Question, workers int) (*analysis.Answers, error) {
	if q == nil {
		return nil, nil
	}
	sources, total := j.sources()
	p := h.progress(total)
	defer p.done()
	answers, err := analysis.Ask(ctx, sources, q.Number(), analysis.RowMapper(q), analysis.Options{Workers: workers, Progress: p.show})
	if err != nil {
		return nil, err
	}
	for _, in := range j.inputs {
		// A file that has grown is asked as far as it was judged; anything else is another file.
		if _, err := in.grown(); err != nil {
			return nil, err
		}
	}
	return answers, nil
}

func fieldNames() []string {
	var names []string
	for _, f := range view.FilterFields() {
		names = append(names, f.Name)
	}
	return names
}

// wrongFilter shows the place of a mistake under the text.
func wrongFilter(err error) error {
	if place := (*filter.Error)(nil); errors.As(err, &place) {
		return usagef("%w\n%s", err, place.Mark())
	}
	return usagef("filter: %w", err)
}

func printRows(w io.Writer, j *judged, ordinals []int, asJSON bool) error {
	out := bufio.NewWriter(w)
	if asJSON {
		out.WriteString(`{"rows":[`)
	}
	for n, ordinal := range ordinals {
		row, _ := j.table.Row(ordinal)
		d, err := documentOfRow(j, &row)
		if err != nil {
			return err
		}
		if !asJSON {
			fmt.Fprintf(out, "%s:%d\t%s\t%s\t%s", safe(d.File), d.Line, safe(d.identity()), d.Verdict, strings.Join(append(d.Checks, d.TaskChecks...), ","))
			if d.Refused != nil {
				fmt.Fprintf(out, "\t%s", safe(d.Refused.note()))
			}
			out.WriteByte('\n')
			continue
		}
		if n > 0 {
			out.WriteByte(',')
		}
		out.WriteByte('\n')
		b, err := marshal(d)
		if err != nil {
			return err
		}
		out.Write(b)
	}
	if asJSON {
		out.WriteString("\n]}\n")
	}
	return out.Flush()
}

func documentOfRow(j *judged, row *analysis.Row) (rowDocument, error) {
	ordinal := int(row.Ordinal)
	name := j.table.Name(row.Source)
	digest, err := row.Digest()
	if err != nil {
		return rowDocument{}, fmt.Errorf("%s:%d: %w", name, row.Line, err)
	}
	id := &digest.Identity
	d := rowDocument{
		File: name, Line: row.Line, Offset: row.Offset, Length: row.Length,
		Task: keyJSON(id.Task), Rollout: keyJSON(id.Rollout), Stage: keyJSON(id.Stage), ID: id.ID,
		Verdict: j.report.Verdict(ordinal).String(),
		Checks:  j.report.Fired(ordinal).IDs(), TaskChecks: []string{}, Unobserved: j.report.Missing(ordinal).IDs(),
	}
	if f := &digest.Facts; f.Class != "" {
		r := &f.Recovered
		d.Refused = &refusedDocument{Class: f.Class, Reason: f.Reason, Offset: f.Refused, Torn: f.Torn,
			Repaired: r.Summary, Records: r.Records, Task: keyJSON(r.Task), Rollout: keyJSON(r.Rollout)}
	}
	if task := j.report.TaskOf(ordinal); task >= 0 {
		d.TaskChecks = append(d.TaskChecks, j.report.Task(task).Flags...)
	}
	return d, nil
}

// identity is task and rollout index, and the stage if there is one, on one line. Texts are in quotes, since 7 and
// "7" are two tasks.
func (d *rowDocument) identity() string {
	s := string(d.Task) + "-" + string(d.Rollout)
	if string(d.Stage) != "null" {
		s += " stage " + string(d.Stage)
	}
	return s
}

// keyJSON writes an index exactly; one that no rule accepts is given as it stands in the file.
func keyJSON(k rollout.Key) json.RawMessage {
	switch {
	case k.IsNone():
		return json.RawMessage("null")
	case k.IsInt():
		return json.RawMessage(k.String())
	}
	b, err := marshal(k.String())
	if err != nil {
		return json.RawMessage(strconv.Quote(k.String()))
	}
	return b
}
