package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rollscope/rollscope/core/analysis"
	"github.com/rollscope/rollscope/core/health"
	"github.com/rollscope/rollscope/core/health/check"
	"github.com/rollscope/rollscope/core/source"
)

// mostWorkers is where more workers stop being the default.
const mostWorkers = 8

// judging is how a run is read and judged, with the flags that say so.
type judging struct {
	rolloutsFile string
	ignore       []string
	profile      string
	workers      int
	skipBad      bool
	journal      string
}

func (j *judging) flags(cmd *cobra.Command, h *host) {
	f := cmd.Flags()
	f.StringVar(&j.rolloutsFile, "rollouts-file", "", "`name` of the rollouts file of a directory (default "+defaultRolloutsFile+")")
	f.StringArrayVar(&j.ignore, "ignore", nil, "leave out the checks with these comma-separated `ids`")
	f.StringVar(&j.profile, "profile", "0.7", "`version` of the rules: 0.7 or main")
	f.IntVar(&j.workers, "workers", min(h.cpus, mostWorkers), "read with this `number` of workers; results do not depend on it")
	f.BoolVar(&j.skipBad, "skip-bad-index", false, "leave out rows whose index is neither a whole number nor a text")
	f.StringVar(&j.journal, "journal", journalSelected, "`selected|refuse`: with profile main, judge the results of a managed run that decide, or refuse it")
	_ = cmd.RegisterFlagCompletionFunc("journal", cobra.FixedCompletions([]string{journalSelected, journalRefuse}, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("profile", cobra.FixedCompletions([]string{"0.7", "main"}, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("ignore", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		var ids []string
		for _, c := range check.All() {
			ids = append(ids, c.ID+"\t"+c.Title)
		}
		return ids, cobra.ShellCompDirectiveNoFileComp
	})
}

func (j *judging) options() health.Options {
	return health.Options{Profile: j.profile, Ignored: j.ignore, SkipBadIndex: j.skipBad}
}

// A judged run is its rows and their report.
type judged struct {
	inputs []*input
	table  *analysis.Table
	report *health.Report
	chosen deciding
}

func (j *judged) close() { closeInputs(j.inputs) }

// sources are the inputs as the core reads them, with the bytes there are to read.
func (j *judged) sources() (list []source.Source, total int64) {
	for _, in := range j.inputs {
		list = append(list, in.source())
		total += in.info.Size()
	}
	return list, total
}

// place is where a row stands.
func (j *judged) place(ordinal int) string {
	row, ok := j.table.Row(ordinal)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%s:%d", j.table.Name(row.Source), row.Line)
}

// damaged is the error of a run of which a packed file cannot be read to its end. What was read has been reported
// by then, but nobody may take it for the whole.
func (j *judged) damaged() error {
	var errs []error
	for i := range j.table.Sources() {
		if d := j.table.Damage(i); d != nil {
			errs = append(errs, fmt.Errorf("%s %w; what is reported holds the %d bytes that could be unpacked", j.table.Name(i), d, d.Plain))
		}
	}
	return errors.Join(errs...)
}

// judge reads the rollouts files behind paths and judges them as one run. What it cannot know for sure it tells
// on standard error.
func (h *host) judge(ctx context.Context, paths []string, o judging) (*judged, error) {
	// Unknown ids are told before any path is looked at, and the number of workers after it (spec health §2).
	if _, err := health.NewRules(o.options()); err != nil {
		// The reference's sentence, written as the other messages are.
		text := err.Error()
		return nil, usagef("%s%s", strings.ToLower(text[:1]), text[1:])
	}
	main := o.profile == check.Main.String()
	j := &judged{}
	var err error
	if j.inputs, err = openInputs(paths, inputOptions{o.rolloutsFile, main, main && o.journal == journalRefuse}); err == nil && o.workers < 1 {
		err = usagef("workers must be at least 1")
	}
	if err == nil && main {
		j.chosen, err = h.project(ctx, j.inputs)
	}
	if err == nil {
		err = h.read(ctx, j, o)
	}
	if err == nil {
		err = h.remark(j)
	}
	if err != nil {
		j.close()
		return nil, err
	}
	return j, nil
}

func (h *host) read(ctx context.Context, j *judged, o judging) error {
	sources, total := j.sources()
	p := h.progress(total)
	table, err := analysis.Read(ctx, sources, analysis.Options{Workers: o.workers, Progress: p.show})
	p.done()
	if err != nil {
		return err
	}
	reducer, err := health.NewReducer(o.options())
	if err != nil {
		return err
	}
	reducer.Grow(table.Rows())
	table.Each(0, func(r *analysis.Row) bool {
		var d analysis.Digest
		if r.Ordinal%4096 == 0 && ctx.Err() != nil {
			err = context.Cause(ctx)
			return false
		}
		if d, err = r.Digest(); err != nil {
			return false
		}
		err = reducer.Add(&health.Row{
			Source: r.Source, Name: table.Name(r.Source), Line: r.Line, Ordinal: r.Ordinal,
			Identity: d.Identity, Digest: d.Health, Left: j.chosen.leaves(r.Source, r.Line),
		})
		return err == nil
	})
	if errors.Is(err, health.ErrIdentity) {
		return fmt.Errorf("%w; --skip-bad-index leaves such rows out", err)
	} else if err != nil {
		return err
	}
	j.table = table
	j.report, err = reducer.Report()
	return err
}

// remark tells what a reader of the report should know about its inputs. The error is that an input is no longer
// what was read.
func (h *host) remark(j *judged) error {
	for i, in := range j.inputs {
		more, err := in.grown()
		if err != nil {
			return err
		}
		if more > 0 {
			h.note("%s has grown by %d bytes since it was opened; they are not in the report", in.name, more)
		}
		if a := j.table.Account(i); a.Torn > 0 {
			h.note("%s:%d: the last line is cut off and has no line end: possibly still being written", in.name, a.Lines)
		}
	}
	if n := j.report.Stats().Skipped; n > 0 {
		for i := range j.report.Rows() {
			if row, _ := j.table.Row(i); j.report.Verdict(i) == health.Skipped && !j.chosen.leaves(row.Source, row.Line) {
				h.note("left out %s with an index that is neither a whole number nor a text; the first is %s", amount(n, "row"), j.place(i))
				break
			}
		}
	}
	return nil
}

func healthCommand(h *host) *cobra.Command {
	var (
		how    judging
		asJSON bool
		failOn string
		dir    string
	)
	cmd := &cobra.Command{
		Use:   "health PATH… [flags]",
		Short: "judge every rollout of a run",
		Long: `Judge every rollout of a run and report the verdicts.

Several files are judged as one run, in the order given. A directory stands for
the file ` + defaultRolloutsFile + ` in it. A file that ends in .gz is unpacked; one that is
damaged is reported as far as it goes, with exit status 2. Without -o a summary is printed and nothing is
written; with -o DIR the two reports ` + health.SummaryFile + ` and
` + health.VerdictsFile + ` are written there.`,
		Example: `  rollscope health RUN_DIR
  rollscope health shard-*.jsonl -o reports
  rollscope health RUN_DIR --fail-on unhealthy=5%`,
		RunE: func(cmd *cobra.Command, paths []string) error {
			limit, err := thresholdOf(cmd, failOn)
			if err != nil {
				return err
			}
			if dir == "" && cmd.Flags().Changed("output") {
				return usagef("-o: a directory is missing")
			}
			if err := how.parseJournal(cmd.Flags().Changed("journal")); err != nil {
				return err
			}
			j, err := h.judge(cmd.Context(), paths, how)
			if err != nil {
				return err
			}
			defer j.close()
			summary, err := j.report.SummaryJSON()
			if err != nil {
				return err
			}
			if dir != "" {
				err = save(cmd.Context(), dir, j.inputs, []product{
					{health.SummaryFile, func(w io.Writer) error { _, err := w.Write(summary); return err }},
					{health.VerdictsFile, j.report.WriteVerdicts},
				})
				if err != nil {
					return err
				}
			}
			switch {
			case asJSON:
				_, err = h.out.Write(j.report.SummaryCompact())
			case dir != "":
				_, err = io.WriteString(h.out, j.report.Text(filepath.ToSlash(dir)+"/"+health.SummaryFile))
			default:
				err = printHealth(h.out, j)
			}
			if err != nil {
				return err
			}
			if err := j.damaged(); err != nil {
				return err
			}
			s := j.report.Stats()
			return limit.check([...]int64{health.Healthy: int64(s.Healthy), health.Unhealthy: int64(s.Unhealthy), health.Unobserved: int64(s.Unobserved), health.Skipped: 0})
		},
	}
	f := cmd.Flags()
	f.StringVarP(&dir, "output", "o", "", "write the reports into this `directory`")
	f.BoolVar(&asJSON, "json", false, "print the summary as one line of JSON")
	failOnFlag(cmd, &failOn, "the rollouts")
	how.flags(cmd, h)
	return cmd
}
