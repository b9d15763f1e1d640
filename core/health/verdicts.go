package health

import (
	"fmt"
	"io"

	"github.com/rollscope/rollscope/core/health/check"
	"github.com/rollscope/rollscope/core/jsontext"
)

// WriteVerdicts writes rollout_verdicts.jsonl: one line for each judged row, sorted by task, rollout and
// stage index. Rows are opened as they are written. When a number of a finding cannot be written, the rows
// before it are, and the error wraps [ErrIntegerRange].
func (r *Report) WriteVerdicts(w io.Writer) error {
	const block = 64 << 10
	var (
		buf      []byte
		findings []Finding
		failure  error
	)
	for _, i := range r.order() {
		if r.rows.verdict[i] == Skipped {
			continue
		}
		start := len(buf)
		buf, findings, failure = r.appendVerdict(buf, findings[:0], int(i))
		if failure != nil {
			buf = buf[:start]
			break
		}
		if len(buf) >= block {
			if _, err := w.Write(buf); err != nil {
				return err
			}
			buf = buf[:0]
		}
	}
	if len(buf) > 0 {
		if _, err := w.Write(buf); err != nil {
			return err
		}
	}
	return failure
}

func (r *Report) appendVerdict(dst []byte, findings []Finding, i int) ([]byte, []Finding, error) {
	rows := &r.rows
	dst = append(dst, `{"_ng_task_index":`...)
	dst = r.keys.appendJSON(dst, rows.task[i])
	dst = append(dst, `,"_ng_rollout_index":`...)
	dst = r.keys.appendJSON(dst, rows.rollout[i])
	dst = append(dst, `,"rollout_id":`...)
	dst = jsontext.AppendQuoted(dst, r.ID(i))
	dst = append(dst, `,"verdict":"`...)
	dst = append(dst, rows.verdict[i].String()...)
	dst = append(dst, `","findings":[`...)
	findings, err := r.findings(i, findings)
	for k := range findings {
		if err != nil {
			break
		}
		if k > 0 {
			dst = append(dst, ',')
		}
		dst, err = findings[k].AppendJSON(dst)
	}
	if err != nil {
		return dst, findings, fmt.Errorf("%s:%d: %w", r.sources[rows.source[i]], rows.line[i], err)
	}
	dst = append(dst, `],"unobserved":[`...)
	comma := false
	for c := range check.RolloutCount {
		if rows.unobserved[i].Has(c) {
			if comma {
				dst = append(dst, ',')
			}
			comma = true
			dst = jsontext.AppendQuoted(dst, check.At(c).ID)
		}
	}
	dst = append(dst, ']')
	if !r.keys.isNone(rows.stage[i]) {
		dst = append(dst, `,"stage_index":`...)
		dst = r.keys.appendJSON(dst, rows.stage[i])
	}
	return append(dst, "}\n"...), findings, nil
}

// order sorts the rows by task, rollout and stage index and otherwise leaves them as they came. Keys are
// ranked once; rows are then dealt out by rank, last key first, which takes no comparisons.
func (r *Report) order() []uint32 {
	n := r.rows.len()
	from, to := make([]uint32, n), make([]uint32, n)
	for i := range from {
		from[i] = uint32(i)
	}
	ranks, distinct := r.keys.ranks()
	starts := make([]uint32, distinct+1)
	for _, column := range [...][]uint32{r.rows.stage, r.rows.rollout, r.rows.task} {
		clear(starts)
		for _, key := range column {
			starts[ranks[key]+1]++
		}
		for k := range distinct {
			starts[k+1] += starts[k]
		}
		for _, i := range from {
			place := &starts[ranks[column[i]]]
			to[*place] = i
			*place++
		}
		from, to = to, from
	}
	return from
}
