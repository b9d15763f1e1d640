package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rollscope/rollscope/core/omitted"
	"github.com/rollscope/rollscope/core/records"
	"github.com/rollscope/rollscope/core/value"
	"github.com/rollscope/rollscope/core/verify"
	"github.com/rollscope/rollscope/core/view"
	"github.com/rollscope/rollscope/core/view/filter"
)

// recordFields are the names that a filter of logical rollouts may use.
var recordFields = filter.Fields{
	{Name: "id", Kind: filter.TextKind, Title: "logical id"},
	{Name: "task", Title: "task index"},
	{Name: "rollout", Title: "rollout index"},
	{Name: "agent", Kind: filter.TextKind, Title: "agent of the materialized inputs"},
	{Name: "run", Kind: filter.TextKind, Title: "run key"},
	{Name: "line", Kind: filter.NumberKind, Title: "line in the materialized inputs"},
	{Name: "disposition", Kind: filter.TextKind, Title: "what became of it", Closed: true, Values: func() []string {
		return []string{string(records.Success), string(records.Failure), string(records.Omission), string(records.Unknown)}
	}},
	{Name: "measurement", Kind: filter.TextKind, Title: "what a success contributes", Closed: true, Values: func() []string { return []string{"measured", "masked", "unscored"} }},
	{Name: "class", Kind: filter.TextKind, Title: "failure class of the outcome that speaks"},
	{Name: "reason", Kind: filter.TextKind, Title: "reason of the outcome that speaks"},
	{Name: "latest", Kind: filter.NumberKind, Title: "newest attempt, reserved or saved"},
	{Name: "outcomes", Kind: filter.NumberKind, Title: "number of saved attempts"},
	{Name: "counted_failures", Kind: filter.NumberKind, Title: "failures that spent retry budget"},
	{Name: "retryable", Kind: filter.BoolKind, Title: "a resume may run it again"},
	{Name: "exhausted", Kind: filter.BoolKind, Title: "it failed as often as is allowed"},
	{Name: "pending", Kind: filter.BoolKind, Title: "a resume would run it"},
}

// A recordRow gives a filter the values of one logical rollout.
type recordRow struct {
	run *verify.RunReport
	*records.Rollout
}

// Field gives the value of a field.
func (r recordRow) Field(name string) filter.Value {
	known := func(v filter.Value, ok bool) filter.Value {
		if !ok {
			return filter.Value{}
		}
		return v
	}
	speaks := func() (records.Attempt, bool) {
		i, ok := r.run.Index.Find(r.ID)
		if !ok {
			return records.Attempt{}, false
		}
		return r.run.Index.Selected(i)
	}
	switch name {
	case "id":
		return filter.Text(r.ID)
	case "task":
		return jsonValue(r.Task)
	case "rollout":
		return jsonValue(r.Index)
	case "agent":
		return known(filter.Text(r.Agent), r.HasAgent)
	case "run":
		return filter.Text(r.run.Key)
	case "line":
		return filter.Int(r.Line)
	case "disposition":
		return filter.Text(string(r.Disposition))
	case "measurement":
		return known(filter.Text(string(r.Measurement)), r.Measurement != "")
	case "class":
		a, ok := speaks()
		return known(filter.Text(records.ClassName(a.Class)), ok && a.Class != "")
	case "reason":
		a, ok := speaks()
		return known(filter.Text(a.Reason), ok && a.Reason != "")
	case "latest":
		return known(filter.Whole(r.Latest), r.HasLatest)
	case "outcomes":
		return filter.Int(int64(r.Outcomes))
	case "counted_failures":
		return filter.Int(r.CountedFailures)
	case "retryable":
		return filter.Bool(r.Retryable)
	case "exhausted":
		return filter.Bool(r.Exhausted)
	case "pending":
		return filter.Bool(r.Retryable && !r.Exhausted)
	}
	return filter.Value{}
}

// Inside is missing: a logical rollout is no row.
func (r recordRow) Inside(*filter.Ref) filter.Value { return filter.Value{} }

// jsonValue makes a value of an index as JSON.
func jsonValue(text string) filter.Value {
	v, err := value.Strict([]byte(text))
	if err != nil {
		return filter.Value{}
	}
	if s, ok := v.Text(); ok {
		return filter.Text(s)
	}
	if b, ok := v.Truth(); ok {
		return filter.Bool(b)
	}
	return filter.Number(text)
}

func recordsCommand(h *host) *cobra.Command {
	var (
		text string
		only filter.Filter
	)
	names := make([]string, len(recordFields))
	for i, f := range recordFields {
		names[i] = f.Name
	}
	keep := func(run *verify.RunReport, r *records.Rollout) bool { return only.Match(recordRow{run, r}) }
	return folderCommand{
		use:   "records RUN [flags]",
		short: "list the rollouts that were asked for, with their attempts",
		long: `List the rollouts that were asked for, one a line: id, what became of it, newest
attempt, number of saved attempts, where the outcome that speaks stands, failure
class and reason, separated by tabs. Of a run without an index the rollouts
without a result are listed.

` + runArgument + `

Fields of --filter: ` + wrap(strings.Join(names, ", "), 58) + `.`,
		example: "  rollscope records RUN_DIR\n  rollscope records RUN_DIR --filter 'disposition:failure class:timeout_exceeded'\n  rollscope records RUN_DIR --json",
		document: func(r *verify.Report, w io.Writer) error {
			if only.Empty() {
				return r.WriteRecords(w, nil)
			}
			return r.WriteRecords(w, keep)
		},
		print:    func(h *host, r *verify.Report) error { return printRecords(h, r, keep) },
		findings: about("records.", "outcomes.", "omitted."),
		more: func(cmd *cobra.Command) {
			cmd.Flags().StringVar(&text, "filter", "", "list the rollouts that fit this `expression` alone")
		},
		before: func() (err error) {
			if only, err = filter.Parse(text, recordFields); err != nil {
				return wrongFilter(err)
			}
			if paths, _ := only.Paths(); len(paths) > 0 {
				return usagef("--filter: a path into rows is for the rows command")
			}
			return nil
		},
	}.make(h)
}

// printRecords prints one line a rollout.
func printRecords(h *host, r *verify.Report, keep func(*verify.RunReport, *records.Rollout) bool) error {
	out := bufio.NewWriter(h.out)
	prefix := func(run *verify.RunReport) string {
		if len(r.Runs) > 1 {
			return safe(run.Key) + "\t"
		}
		return ""
	}
	for _, run := range r.Runs {
		if run.Index == nil {
			h.note("%s: %s", run.Key, reading(run))
			run.Omissions(func(o omitted.Omission) {
				fmt.Fprintf(out, "%s%s\t%s\t%s\t\t\t%s\t%s\n", prefix(run), safe(o.ID), o.State, attemptText(o.Attempt.String(), o.HasAttempt), safe(classText(o.Class)), safe(short(o.Reason, placeWidth)))
			})
			continue
		}
		for i := range run.Index.Len() {
			e := run.Index.Rollout(i, run.Settings)
			if !keep(run, &e) {
				continue
			}
			what := string(e.Disposition)
			if e.Measurement != "" {
				what += " " + string(e.Measurement)
			}
			switch {
			case e.Exhausted:
				what += " exhausted"
			case e.Retryable:
				what += " retryable"
			}
			place, class, reason := "", "", ""
			if a, ok := run.Index.Selected(i); ok {
				place, class, reason = fmt.Sprintf("%s:%d", run.Place.Path(a.File), a.Line), classText(a.Class), a.Reason
			}
			fmt.Fprintf(out, "%s%s\t%s\t%s\t%d\t%s\t%s\t%s\n", prefix(run), safe(e.ID), what, attemptText(e.Latest.String(), e.HasLatest), e.Outcomes,
				safe(place), safe(class), safe(short(reason, placeWidth)))
		}
	}
	return out.Flush()
}

func attemptText(n string, known bool) string {
	if !known {
		return view.Dash
	}
	return n
}

func classText(class string) string {
	if class == "" {
		return ""
	}
	return records.ClassName(class)
}
