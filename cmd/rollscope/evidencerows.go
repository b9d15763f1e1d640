package main

import (
	"context"

	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/modelcall"
	"github.com/rollscope/rollscope/core/perf"
	"github.com/rollscope/rollscope/core/rollout"
)

// eachRow gives the non-blank lines of rollouts files in order, as rows of one run. A row is valid during the call.
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
		if err != nil {
			return err
		}
		before += in.info.Size()
	}
	return nil
}

// measured is what the rows of a run say of calls and time.
type measured struct {
	calls      modelcall.Reducer
	perf       perf.Reducer
	unreadable int
}

// measure reads the rows behind paths.
func (h *host) measure(ctx context.Context, list []*input) (*measured, error) {
	var (
		m     measured
		calls modelcall.Mapper
		times perf.Mapper
	)
	err := h.eachRow(ctx, list, func(source int, row *rollout.Row, ordinal int64) error {
		if row.Problem != nil {
			m.unreadable++
		}
		identity := row.Identity()
		identity = identity.Resolve(ordinal, source, row.Line)
		facts := row.Facts()
		digest := calls.Append(nil, row)
		if err := m.calls.Add(&modelcall.Row{Source: source, Line: row.Line, Ordinal: ordinal, Identity: identity, Agent: facts.Agent, Digest: digest}); err != nil {
			return err
		}
		return m.perf.Add(&perf.Row{Source: source, Line: row.Line, Ordinal: ordinal, Identity: identity, Agent: facts.Agent, Perf: times.Append(nil, row), Calls: digest})
	})
	return &m, err
}
