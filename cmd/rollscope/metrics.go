package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rollscope/rollscope/core/metrics"
	"github.com/rollscope/rollscope/core/source"
)

func metricsCommand(h *host) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "metrics <command> FILE… [flags]",
		Short: "derive scores from the rows of a run",
		Long: `Derive scores from the rows of a run: the numbers of the reward profile, of
aggregate metrics and of pass@k, with what they were made of and what was left
out. Sidecars are found by the stem of the rollouts file. Without -o a summary is
printed and nothing is written.

Input that the reference makes no metrics of is refused with status 2.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("metrics: aggregate, profile, pass-at-k or scores is missing")
			}
			return usagef("unknown command \"metrics %s\"", args[0])
		},
		DisableFlagsInUseLine: true,
	}
	cmd.AddGroup(&cobra.Group{ID: "derive", Title: "Commands:"})
	for _, sub := range []*cobra.Command{aggregateCommand(h), profileCommand(h), passAtKCommand(h), scoresCommand(h)} {
		sub.GroupID = "derive"
		sub.DisableFlagsInUseLine = true
		sub.Flags().SortFlags = false
		cmd.AddCommand(sub)
	}
	return cmd
}

func aggregateCommand(h *host) *cobra.Command {
	var (
		out     printing
		allRows bool
		zeros   metrics.Zeros
		classes []string
	)
	cmd := &cobra.Command{
		Use:   "aggregate FILE… [flags]",
		Short: "aggregate metrics: one entry per environment server",
		Long: `Compute the aggregate metrics of a run: statistics of every numeric field per
agent, per task and per repeat. Several files are the shards of one run. A
directory stands for the file ` + defaultRolloutsFile + ` in it.

Which server an agent stands behind is written in the configuration of a run,
which is not read. Rows that are not stamped with a server take the server that
other rows of their agent are stamped with, or else a name made of the agent's.`,
		Example: `  rollscope metrics aggregate RUN_DIR
  rollscope metrics aggregate rollouts.jsonl -o metrics
  rollscope metrics aggregate rollouts.jsonl --count-failure-classes-as-zero agent_run_error`,
		RunE: func(cmd *cobra.Command, paths []string) error {
			if err := out.check(cmd); err != nil {
				return err
			}
			for _, list := range classes {
				for class := range strings.SplitSeq(list, ",") {
					if class = strings.TrimSpace(class); class != "" {
						zeros.Classes = append(zeros.Classes, class)
					}
				}
			}
			if allRows && zeros.Any() {
				return usagef("--all-rows counts the rows as they are; failures and missing rollouts are counted without it")
			}
			inputs, err := openInputs(paths, inputOptions{})
			defer func() { closeInputs(inputs) }()
			if err != nil {
				return err
			}
			run, c, err := h.collect(cmd.Context(), inputs, zeros)
			if err != nil {
				return err
			}
			if err := h.unchanged(inputs); err != nil {
				return err
			}
			if allRows {
				e, err := run.AllRows()
				if err != nil {
					return err
				}
				return h.finish(cmd.Context(), &out, inputs, allRowsSheets(e), e.WriteJSON, product{metrics.AllRowsFile, e.WriteJSON})
			}
			a, err := run.Aggregate()
			if err != nil {
				return err
			}
			h.tellZeros(c, zeros)
			var files []product
			if a.Results > 0 {
				files = append(files, product{metrics.AggregateFile, a.WriteJSON})
			} else {
				h.note("there is no result row, so there is nothing to aggregate")
			}
			return h.finish(cmd.Context(), &out, inputs, aggregateSheets(a), a.WriteJSON, files...)
		},
	}
	out.flags(cmd, metrics.AggregateFile+" or "+metrics.AllRowsFile)
	f := cmd.Flags()
	f.BoolVar(&allRows, "all-rows", false, "take all rows as one entry, whatever agent they name")
	f.StringArrayVar(&classes, "count-failure-classes-as-zero", nil, "count failures of these comma-separated `classes` with a reward of 0")
	f.BoolVar(&zeros.Missing, "count-missing-rollouts-as-zero", false, "count inputs with neither result nor failure with a reward of 0")
	return cmd
}

// collect reads the rollouts files of a run and, where zeros ask for them, their sidecars.
func (h *host) collect(ctx context.Context, inputs []*input, zeros metrics.Zeros) (*metrics.Run, *metrics.Collection, error) {
	c := metrics.NewCollection(zeros)
	f := &rowFeed{}
	if zeros.Any() {
		f.mapper = metrics.Mapper{Keys: true, Fields: []string{metrics.ClassField}}
	}
	err := h.fed(ctx, inputs, f, func() error {
		for i, in := range inputs {
			c.Shard()
			if err := f.each(in, i, 0, c.Result); err != nil {
				return err
			}
			if !zeros.Any() {
				continue
			}
			for _, side := range [...]struct {
				suffix string
				add    func(*metrics.Row) error
			}{{failuresSuffix, c.Failure}, {inputsSuffix, c.Input}} {
				found, err := sidecar(in, side.suffix)
				if err != nil {
					return err
				}
				if found == nil {
					if side.suffix == inputsSuffix && zeros.Missing {
						h.note("%s: there is no inventory beside it, so no missing rollout is counted", in.name)
					}
					continue
				}
				err = f.each(found, len(inputs)+i, 0, side.add)
				found.file.Close()
				if err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	run, err := c.Run()
	return run, c, err
}

func (h *host) tellZeros(c *metrics.Collection, zeros metrics.Zeros) {
	if len(zeros.Classes) > 0 {
		h.note("%s counted with a reward of 0", amount(c.Counted, "failure"))
	}
	if zeros.Missing {
		h.note("%s counted with a reward of 0", amount(c.Imputed, "missing rollout"))
	}
	if c.Unroutable > 0 {
		h.note("%s of the inventory name neither server nor agent and are not counted", amount(c.Unroutable, "missing rollout"))
	}
}

// finish writes the files of a command, if a directory is given, and prints its result, unless files were written and
// no form was asked for.
func (h *host) finish(ctx context.Context, out *printing, inputs []*input, s *sheets, document func(io.Writer) error, files ...product) error {
	if out.dir != "" {
		if err := save(ctx, out.dir, inputs, files); err != nil {
			return err
		}
	}
	return out.print(h.out, s, document)
}

func profileCommand(h *host) *cobra.Command {
	var (
		out     printing
		partial bool
		path    string
	)
	cmd := &cobra.Command{
		Use:   "profile FILE [flags]",
		Short: "reward profile: results against the inventory of the run",
		Long: `Profile the rewards of a run: statistics of every numeric field per task, per
agent and per repeat, against the materialized inputs beside the rollouts file.
Every input must have its result unless --allow-partial is given.`,
		Example: `  rollscope metrics profile rollouts.jsonl
  rollscope metrics profile rollouts.jsonl -o profile --allow-partial`,
		Args: exactly(1, "metrics profile takes one rollouts file"),
		RunE: func(cmd *cobra.Command, paths []string) error {
			if err := out.check(cmd); err != nil {
				return err
			}
			inputs, err := openInputs(paths, inputOptions{})
			defer func() { closeInputs(inputs) }()
			if err != nil {
				return err
			}
			if path == "" {
				path = beside(inputs[0].name, inputsSuffix)
			}
			inventory, err := openInput(path, false)
			if err != nil {
				if errors.Is(err, os.ErrNotExist) || strings.Contains(err.Error(), "not found") {
					return fmt.Errorf("materialized inputs not found: %s; --inputs names them", path)
				}
				return err
			}
			inputs = append(inputs, inventory)
			results, expected := metrics.NewRun(metrics.Options{}), metrics.NewRun(metrics.Options{})
			f := &rowFeed{anywhere: true}
			err = h.fed(cmd.Context(), inputs, f, func() error {
				if err := f.each(inventory, 0, 0, expected.Add); err != nil {
					return err
				}
				return f.each(inputs[0], 0, 0, results.Add)
			})
			if err != nil {
				return err
			}
			p, err := results.Profile(expected, metrics.ProfileOptions{AllowPartial: partial})
			if err != nil {
				return err
			}
			if err := h.unchanged(inputs); err != nil {
				return err
			}
			if p.Uneven {
				h.note("not every repeat has every task, so repeats are not about the same tasks")
			}
			src := inventory.source()
			read := func(at metrics.Place) ([]byte, error) {
				line := make([]byte, at.Length)
				return line, source.ReadFull(src, line, at.Offset)
			}
			groups := func(w io.Writer) error { return p.WriteGroups(w, read) }
			return h.finish(cmd.Context(), &out, inputs, profileSheets(p), func(w io.Writer) error { return p.WriteJSON(w) },
				product{metrics.ProfileFile, groups}, product{metrics.AgentFile, p.WriteAgents}, product{metrics.RepeatFile, p.WriteRepeats})
		},
	}
	out.flags(cmd, metrics.ProfileFile+", "+metrics.AgentFile+" and "+metrics.RepeatFile)
	f := cmd.Flags()
	f.BoolVar(&partial, "allow-partial", false, "profile what is there although inputs lack a result")
	f.StringVar(&path, "inputs", "", "`file` of the materialized inputs, if it is not beside the rollouts file")
	return cmd
}

func passAtKCommand(h *host) *cobra.Command {
	var (
		out    printing
		answer string
	)
	cmd := &cobra.Command{
		Use:   "pass-at-k FILE… [flags]",
		Short: "pass@k, avg@k and majority@k over tasks",
		Long: `Compute pass@k, the mean over the first k rollouts, and majority@k, with the
reward as the score. Rollouts of a task stand in the order of the file; masked
ones are left out. Every other row needs a reward.`,
		Example: `  rollscope metrics pass-at-k rollouts.jsonl
  rollscope metrics pass-at-k rollouts.jsonl --answer-key extracted_answer -o metrics`,
		RunE: func(cmd *cobra.Command, paths []string) error {
			if err := out.check(cmd); err != nil {
				return err
			}
			inputs, err := openInputs(paths, inputOptions{})
			defer func() { closeInputs(inputs) }()
			if err != nil {
				return err
			}
			run := metrics.NewRun(metrics.Options{})
			answers := cmd.Flags().Changed("answer-key")
			f := &rowFeed{}
			if answers {
				f.mapper.Fields = []string{answer}
			}
			err = h.fed(cmd.Context(), inputs, f, func() error {
				for i, in := range inputs {
					if err := f.each(in, i, 0, run.Add); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
			p, err := run.PassK(answers)
			if err != nil {
				return err
			}
			if err := h.unchanged(inputs); err != nil {
				return err
			}
			return h.finish(cmd.Context(), &out, inputs, passSheets(p, run), p.WriteJSON, product{metrics.PassFile, p.WriteJSON})
		},
	}
	out.flags(cmd, metrics.PassFile)
	cmd.Flags().StringVar(&answer, "answer-key", "", "`field` of the extracted answer; adds majority@k and no_answer")
	return cmd
}
