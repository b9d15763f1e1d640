package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/records"
	"github.com/rollscope/rollscope/core/recovery"
	"github.com/rollscope/rollscope/core/runfolder"
	"github.com/rollscope/rollscope/core/value"
	"github.com/rollscope/rollscope/core/verify"
	"github.com/rollscope/rollscope/core/view"
)

// planFile is what a plan is written to.
const planFile = "resume.json"

func recoveryCommand(h *host) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "recovery <command>",
		Short: "say what a resume would do",
		Long:  "Say what a resume of a saved run would do. Nothing is ever resumed or changed.",
		Args:  cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("a command is missing: plan")
			}
			return usagef("unknown command %q of recovery", args[0])
		},
	}
	plan := recoveryPlanCommand(h)
	plan.DisableFlagsInUseLine = true
	plan.Flags().SortFlags = false
	cmd.AddCommand(plan)
	return cmd
}

// planning is how a resume would be told to go.
type planning struct {
	verifying
	longest bool
	dir     string
}

func recoveryPlanCommand(h *host) *cobra.Command {
	var p planning
	cmd := &cobra.Command{
		Use:   "plan FILE [flags]",
		Short: "list what a resume would run",
		Long: `List what a resume of a run would run, in the order in which it would dispatch it,
and refuse where it would refuse. A run without a manifest is planned by the
rules of version 0.7.0, one with a manifest by its reservations.

FILE is the rollouts file of the run; a directory stands for the file
` + defaultRolloutsFile + ` in it. Without -o a summary is printed and nothing is written; with
-o DIR the plan is written to ` + planFile + ` there.`,
		Example: "  rollscope recovery plan rollouts.jsonl\n  rollscope recovery plan rollouts.jsonl -o plans --dispatch-longest-first",
		Args:    exactly(1, "name the rollouts file of one run"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if p.dir == "" && cmd.Flags().Changed("output") {
				return usagef("-o: a directory is missing")
			}
			if cmd.Flags().Changed("max-attempts") && p.maxAttempts < 1 {
				return usagef("--max-attempts %d: at least 1", p.maxAttempts)
			}
			return p.run(cmd.Context(), h, args[0])
		},
	}
	f := cmd.Flags()
	f.StringVarP(&p.dir, "output", "o", "", "write the plan into this `directory`")
	f.BoolVar(&p.asJSON, "json", false, "print the plan as one JSON document")
	p.settings(cmd)
	f.BoolVar(&p.longest, "dispatch-longest-first", false, "run those first whose failures took longest")
	return cmd
}

// stemOf finds the files of the run that a rollouts file belongs to.
func stemOf(path string) (dir, stem string) {
	dir, base := filepath.Split(path)
	return dir, runfolder.Stem(base)
}

func (p *planning) run(ctx context.Context, h *host, path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, defaultRolloutsFile)
	}
	dir, stem := stemOf(path)
	beside := func(suffix string) string { return filepath.Join(dir, stem+suffix) }
	inputs, failures := beside("_materialized_inputs.jsonl"), beside("_failures.jsonl")
	for _, name := range []string{path, inputs} {
		if info, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s is missing: a resume would start afresh, and delete what is left of the run", name)
		} else if err != nil {
			return fmt.Errorf("recovery: %w", err)
		} else if !info.Mode().IsRegular() {
			return fmt.Errorf("recovery: %s is no file", name)
		}
	}
	opened, err := p.open(path, inputs, failures)
	defer closeInputs(opened)
	if err != nil {
		return err
	}
	plan, err := p.plan(ctx, h, path, isFile(beside("_manifest.json")), opened)
	if err != nil {
		return err
	}
	for _, in := range opened {
		if more, err := in.grown(); err != nil {
			return err
		} else if more > 0 {
			h.note("%s has grown by %d bytes since it was opened; they are not in the plan", in.name, more)
		}
	}
	switch {
	case p.dir != "":
		err = save(ctx, p.dir, opened, []product{{planFile, func(w io.Writer) error { _, err := w.Write(plan.File()); return err }}})
		if err != nil || !p.asJSON {
			return err
		}
		fallthrough
	case p.asJSON:
		_, err = h.out.Write(append(plan.Document().Append(nil, value.Plain), '\n'))
		return err
	}
	return printPlan(h, plan)
}

// open opens the rollouts file, the inputs and, if there is one, the sidecar.
func (p *planning) open(path, inputs, failures string) (list []*input, err error) {
	names := []string{path, inputs}
	if _, err := os.Stat(failures); err == nil {
		names = append(names, failures)
	}
	for _, name := range names {
		in, err := openInput(name, false)
		if err != nil {
			return list, err
		}
		list = append(list, in)
	}
	return list, nil
}

// plan makes the plan of a run by the rules it was saved with.
func (p *planning) plan(ctx context.Context, h *host, path string, managed bool, opened []*input) (*recovery.Plan, error) {
	folder, err := listFolder(path)
	if err != nil {
		return nil, err
	}
	defer folder.close()
	settings, err := p.planSettings(folder)
	if err != nil {
		return nil, err
	}
	if managed {
		return p.indexed(ctx, h, folder, settings, opened)
	}
	planner := &recovery.Planner{Settings: settings, LongestFirst: p.longest}
	for i, feed := range []func(*jsonl.Line) error{planner.Input, planner.Result, planner.Failure} {
		at := []int{1, 0, 2}[i]
		if at >= len(opened) {
			continue
		}
		if at == 2 {
			planner.Sidecar()
		}
		if err := eachLine(ctx, io.LimitReader(opened[at].file, opened[at].info.Size()), feed); err != nil {
			return nil, fmt.Errorf("a resume would refuse %s: %w", opened[at].name, err)
		}
	}
	return planner.Plan(), nil
}

// planSettings are those of the flags, else those of the saved coverage.
func (p *planning) planSettings(folder *runFolder) (records.Settings, error) {
	var saved *records.SavedCoverage
	stem := runfolder.Stem(folder.only)
	for _, f := range folder.files {
		if f.Path == stem+"_coverage.json" {
			text := make([]byte, f.Source.Size())
			if _, err := f.Source.ReadAt(text, 0); err != nil && !errors.Is(err, io.EOF) {
				return records.Settings{}, fmt.Errorf("%s: %w", f.Path, err)
			}
			saved = records.ReadCoverage(f.Path, text)
		}
	}
	s := saved.Settings()
	if p.maxAttempts > 0 {
		s.MaxAttempts = p.maxAttempts
	}
	if p.retry || p.give {
		s.Override = p.retry
	}
	return s, nil
}

// indexed plans a run that has a manifest.
func (p *planning) indexed(ctx context.Context, h *host, folder *runFolder, s records.Settings, opened []*input) (*recovery.Plan, error) {
	report, err := folder.verify(ctx, h, verify.Options{MaxAttempts: s.MaxAttempts, Override: &s.Override})
	if err != nil {
		return nil, err
	}
	if len(report.Runs) != 1 {
		return nil, fmt.Errorf("%s belongs to no run", folder.only)
	}
	run := report.Runs[0]
	if run.Resume.Outcome != recovery.Resumes {
		return nil, fmt.Errorf("a resume would refuse %s: %s; rollscope verify tells more", run.Key, strings.Join(run.Resume.Codes, ", "))
	}
	plan := &recovery.Plan{}
	plan.Indexed(run.Index, run.Settings, p.longest)
	for i, sum := range []func(recovery.Sum){func(s recovery.Sum) { plan.Results = s }, nil, func(s recovery.Sum) { plan.Failures = &s }} {
		if sum == nil || i >= len(opened) {
			continue
		}
		var tail recovery.Tail
		rows := int64(0)
		err := eachLine(ctx, io.LimitReader(opened[i].file, opened[i].info.Size()), func(l *jsonl.Line) error {
			if tail.Line(l) && !jsonl.Blank(l.Bytes) {
				rows++
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", opened[i].name, err)
		}
		if i == 0 {
			plan.Completed = rows
		}
		sum(tail.Sum())
	}
	return plan, nil
}

// printPlan sums a plan up.
func printPlan(h *host, plan *recovery.Plan) error {
	out := &errWriter{w: h.out}
	c := plan.Counts
	out.printf("%s of %s to run: %s for the first time, %s again\n", view.Group(int64(len(plan.Remaining))), amount(int(plan.Inputs), "rollout"), view.Group(c.First), view.Group(c.Again))
	out.printf("not run: %s done, %s failed for good, %s failed too often\n", view.Group(c.Done), view.Group(c.Terminal), view.Group(c.Maxed))
	out.printf("rollouts file after the repair of its tail: %s, %s\n", view.Bytes(plan.Results.Bytes), amount(int(plan.Results.Lines), "line"))
	if plan.Failures != nil {
		out.printf("failures sidecar after the repair of its tail: %s, %s\n", view.Bytes(plan.Failures.Bytes), amount(int(plan.Failures.Lines), "line"))
	}
	return out.err
}
