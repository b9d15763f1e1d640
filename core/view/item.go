package view

import (
	"github.com/rollscope/rollscope/core/analysis"
	"github.com/rollscope/rollscope/core/health"
	"github.com/rollscope/rollscope/core/health/check"
)

// An item is one row with everything that is known of it, opened as far as somebody asked.
type item struct {
	c      *selection
	row    analysis.Row
	digest analysis.Digest
	broken bool // its digest cannot be read

	findings []check.Finding
	opened   bool

	look   *lookup // where its answer is from
	answer answer  // of a second scan
}

// item opens a row by its ordinal.
func (c *selection) item(ordinal int) (*item, bool) {
	row, ok := c.table.Row(ordinal)
	if !ok {
		return nil, false
	}
	return c.itemOf(&row), true
}

func (c *selection) itemOf(row *analysis.Row) *item {
	digest, err := row.Digest()
	return &item{c: c, row: *row, digest: digest, broken: err != nil}
}

func (i *item) verdict() health.Verdict { return i.c.verdict(&i.row, i.digest.Health) }

// Findings of the row; before there is a report without those that need all rows.
func (i *item) list() []check.Finding {
	if i.opened {
		return i.findings
	}
	i.opened = true
	if i.c.report != nil {
		i.findings = i.c.report.Findings(int(i.row.Ordinal))
	} else {
		i.findings = i.c.rules.Findings(i.digest.Health, i.c.table.Name(i.row.Source), i.row.Line)
	}
	return i.findings
}

// failed is the number of failed model calls of the row.
func (i *item) failed() int64 { return health.FailedCalls(i.digest.Health) }

// name is the short name of a rollout: task and repeat.
func (i *item) name() string {
	return i.digest.Identity.Task.String() + "-" + i.digest.Identity.Rollout.String()
}

func (i *item) place() string { return placeOf(i.c.table, &i.row) }

// verdictText is a verdict with its shape and word.
func verdictText(v health.Verdict) Text {
	return Text{Text: v.String(), Mark: Mark(v.String())}
}
