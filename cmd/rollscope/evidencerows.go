package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/rollscope/rollscope/core/health/check"
	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/modelcall"
	"github.com/rollscope/rollscope/core/perf"
	"github.com/rollscope/rollscope/core/rollout"
	"github.com/rollscope/rollscope/core/view"
)

// eachRow gives the non-blank lines of rollouts files in order, as rows of one run. A row is valid during the call. Of a
// packed file that is damaged it gives what could be unpacked; see [damagedInputs].
func (h *host) eachRow(ctx context.Context, list []*input, each func(source int, row *rollout.Row, ordinal int64) error) error {
	total := int64(0)
	for _, in := range list {
		total += in.info.Size()
	}
	progress := h.progress(total)
	defer progress.done()
	var reader rollout.Reader
	ordinal, before := int64(0), int64(0)
	for source, in := range list {
		err := in.lines(ctx, func(line *jsonl.Line) error {
			if jsonl.Blank(line.Bytes) {
				return nil
			}
			row := reader.Read(line)
			row.Line = line.Number
			if err := each(source, row, ordinal); err != nil {
				return err
			}
			ordinal++
			progress.show(before+line.Offset+line.Size(), ordinal)
			return nil
		})
		if errors.As(err, &in.damage) {
			err = nil
		}
		if err != nil {
			return err
		}
		before += in.info.Size()
	}
	return nil
}

// measured is what the rows of a run say of calls and time.
type measured struct {
	calls modelcall.Reducer // of the rows that were asked for
	perf  perf.Reducer
	all   perf.Reducer // of all rows, where only some were asked for
}

// measure reads the rows behind paths. fits tells which rows are asked for, by their ordinals; nil is all of them.
func (h *host) measure(ctx context.Context, list []*input, fits func(ordinal int64) bool) (*measured, error) {
	var (
		m     measured
		calls modelcall.Mapper
		times perf.Mapper
	)
	err := h.eachRow(ctx, list, func(source int, row *rollout.Row, ordinal int64) error {
		identity := row.Identity()
		identity = identity.Resolve(ordinal, source, row.Line)
		facts := row.Facts()
		digest := calls.Append(nil, row)
		timed := perf.Row{Source: source, Line: row.Line, Ordinal: ordinal, Identity: identity, Agent: facts.Agent, Perf: times.Append(nil, row), Calls: digest}
		if fits != nil {
			if err := m.all.Add(&timed); err != nil || !fits(ordinal) {
				return err
			}
		}
		if err := m.calls.Add(&modelcall.Row{Source: source, Line: row.Line, Ordinal: ordinal, Identity: identity, Agent: facts.Agent, Digest: digest}); err != nil {
			return err
		}
		return m.perf.Add(&timed)
	})
	return &m, err
}

// A rowFilter is the flag of commands that look at some rows of a run.
type rowFilter struct{ text string }

func (f *rowFilter) flag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.text, "filter", "", "take the rows that fit this `expression` alone")
}

// rows tells which rows fit, by their ordinals; nil where there is no filter. It reads and judges the whole run, as the
// page does: a filter may ask for verdicts.
func (f *rowFilter) rows(ctx context.Context, h *host, paths []string, rolloutsFile string) (fits func(ordinal int64) bool, err error) {
	question, err := view.Ask(f.text)
	if err != nil {
		return nil, wrongFilter(err)
	}
	if f.text == "" {
		return nil, nil
	}
	how := judging{rolloutsFile: rolloutsFile, profile: check.V07.String(), workers: min(h.cpus, mostWorkers)}
	j, err := h.judge(ctx, paths, how)
	if err != nil {
		return nil, err
	}
	defer j.close()
	answers, err := h.ask(ctx, j, question, how.workers)
	if err != nil {
		return nil, err
	}
	found, err := view.Search(j.table, j.report, f.text, "", answers)
	if err != nil {
		return nil, wrongFilter(err)
	}
	fit := make([]bool, j.table.Rows())
	for _, ordinal := range found {
		fit[ordinal] = true
	}
	return func(ordinal int64) bool { return ordinal < int64(len(fit)) && fit[ordinal] }, nil
}
