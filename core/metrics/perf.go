package metrics

import (
	"slices"

	"github.com/rollscope/rollscope/core/perf"
)

// Perf summarises the ng_perf objects of results (spec metrics §11).
type Perf struct{ *perf.Summary }

// perf summarises rows; nil if none of them has an ng_perf object.
func (r *Run) perf(rows []int32) *Perf {
	// One pass over the cells; the summary asks for one field after the other.
	var values [perfCount][]stored
	for _, row := range rows {
		if r.flags[row]&flagPerf == 0 {
			continue
		}
		n := len(values[0])
		for i := range values {
			values[i] = append(values[i], stored{kind: cellAbsent})
		}
		for c := range r.cellsOf(int(row)) {
			if c.uses == ofPerf {
				values[c.name][n] = stored{c.bits, c.kind}
			}
		}
	}
	s := perf.Describe(len(rows), len(values[0]), func(i int, name string) perf.Number {
		c := values[slices.Index(perfFields[:], name)][i]
		switch {
		case !c.numeric():
			return perf.Number{}
		case (cell{kind: c.kind}).whole():
			return perf.WholeNumber(c.integer())
		}
		return perf.RealNumber(c.float())
	})
	if s == nil {
		return nil
	}
	return &Perf{s}
}

// Metrics lists the summary as the files name it.
func (p *Perf) Metrics() []Metric {
	list := []Metric{}
	for _, m := range p.Members() {
		n := Number{}
		if whole, ok := m.Value.Whole(); ok {
			n = exact(whole)
		} else if real, ok := m.Value.Float(); ok {
			n = Real(real)
		} else {
			continue
		}
		if n.Finite() {
			list = append(list, Metric{m.Key, n})
		}
	}
	return list
}

func (s stored) number() Number { return cell{kind: s.kind, bits: s.bits}.number() }
