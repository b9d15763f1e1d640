package view

import (
	"github.com/rollscope/rollscope/core/analysis"
	"github.com/rollscope/rollscope/core/health"
	"github.com/rollscope/rollscope/core/rollout"
)

// tally counts rows as they come in, each once, so that numbers are there long before a report.
type tally struct {
	rows     int
	verdicts [3]int // by health.Verdict
	problems []problem
	torn     map[int]problem // by source
	tooLong  map[int]problem
	bad      *badIndex
	refused  []int32 // ordinals of lines that cannot be read
	repaired []repair
	series   series
}

// problem is the first refused line of a source and how many there are.
type problem struct {
	source, count int
	first         int // ordinal
	line, offset  int64
	start, length int64 // of the line
	reason        string
}

// badIndex is the first row whose index no report can hold.
type badIndex struct {
	ordinal       int
	member, value string
}

// count takes in the rows that have come since the last call.
func (t *tally) count(table *analysis.Table, rules health.Rules) {
	table.Each(t.rows, func(r *analysis.Row) bool {
		t.rows++
		d, err := r.Digest()
		if err != nil {
			t.series.add(&analysis.Digest{}, health.Unobserved)
			return true
		}
		verdict := health.Unobserved
		if p, err := rules.Preview(d.Health); err == nil {
			verdict = p.Verdict
			t.verdicts[verdict]++
		}
		t.series.add(&d, verdict)
		if member, value, bad := d.Identity.Bad(); bad && t.bad == nil {
			t.bad = &badIndex{int(r.Ordinal), member, value}
		}
		if d.Facts.Class == "" {
			return true
		}
		t.refused = append(t.refused, int32(r.Ordinal))
		p := problem{source: r.Source, count: 1, first: int(r.Ordinal), line: r.Line, offset: d.Facts.Refused,
			start: r.Offset, length: r.Length, reason: d.Facts.Reason}
		t.countRepair(p, &d.Facts)
		switch {
		case d.Facts.Torn:
			if t.torn == nil {
				t.torn = map[int]problem{}
			}
			t.torn[r.Source] = p
		case d.Facts.Reason == rollout.ReasonTooLong:
			if t.tooLong == nil {
				t.tooLong = map[int]problem{}
			}
			if old, there := t.tooLong[r.Source]; there {
				p, p.count = old, old.count+1
			}
			t.tooLong[r.Source] = p
		case len(t.problems) > 0 && t.problems[len(t.problems)-1].source == r.Source:
			t.problems[len(t.problems)-1].count++
		default:
			t.problems = append(t.problems, p)
		}
		return true
	})
}
