package view

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/rollscope/rollscope/core/analysis"
	"github.com/rollscope/rollscope/core/metrics"
	"github.com/rollscope/rollscope/core/runfolder"
	"github.com/rollscope/rollscope/core/view/filter"
)

// The settings of the Scores tab.
const (
	setAt    = "scores.at"    // reward from which on a rollout passes
	setGroup = "scores.by"    // what rows are grouped by: "", source, or a path into the row
	setSlice = "scores.slice" // the slice of tasks that is listed
	setX     = "scores.x"     // columns of the scatter
	setY     = "scores.y"
	setEqual = "scores.equal" // values that the files and the rows agree about are listed as well
)

// earned is what the rows of a selection have earned, made once and kept until rows, sidecars or settings change.
type earned struct {
	key      string
	run      *metrics.Run
	ordinals []int32 // of the rows of the run; nil where they are the same
	scores   *metrics.Scores
	all      *metrics.Entry // all rows as one

	filtered bool   // the run holds the rows of a filter alone, and nothing is known beside them
	partial  bool   // rows, sidecars or the values to group by are still coming in
	rows     int    // of the selection that were there
	problem  string // with a sidecar
	badBy    string // why the rows cannot be grouped as wanted

	listed     scoredList // tasks of the table
	compare    *agreement // of saved files
	scatter    *Chart
	scatterKey string
}

// ordinal is that of a row of the run in the selection.
func (e *earned) ordinal(row int32) int {
	if e.ordinals == nil {
		return int(row)
	}
	return int(e.ordinals[row])
}

// measures puts the metrics of rows into columns. What is there is added to as rows come in.
func (c *selection) measures() *metrics.Run {
	if c.measured == nil {
		c.measured = metrics.NewRun(metrics.Options{Lenient: true})
	}
	c.table.Each(c.measured.Rows(), func(r *analysis.Row) bool {
		return c.measure(c.measured, r) == nil
	})
	return c.measured
}

// measure adds a row to a run.
func (c *selection) measure(run *metrics.Run, r *analysis.Row) error {
	d, err := r.Digest()
	if err != nil {
		return err
	}
	return run.Add(&metrics.Row{
		Source: r.Source, Name: c.table.Name(r.Source), Line: r.Line, Offset: r.Offset, Length: r.Length, Identity: &d.Identity, Digest: d.Metrics,
	})
}

// threshold is the reward from which on a rollout passes; ok is false where the State does not say it properly.
func threshold(s State) (at float64, ok bool) {
	text := s.Setting(setAt)
	if text == "" {
		return 1, true
	}
	at, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(at) {
		return 1, false
	}
	return at, true
}

// scoresLag is how much the rows may have grown, while they come in, before scores are made anew.
const scoresLag = 1.25

// earned gives the scores of a State.
func (d *Desk) earned(c *selection, s State, found *matches) *earned {
	e := &c.scored
	by, badBy := groupPath(s)
	var look *lookup
	waiting := false
	if by != nil {
		look = c.ask(by).lookup(by, c.sources)
		look.missing(c, func(int, analysis.Range) { waiting = true })
	}
	sides := d.audited != nil && d.audited.done
	serial := 0
	if !found.all {
		serial = found.serial
	}
	key := fmt.Sprint(serial, " ", sides, " ", waiting, " ", c.table.Complete(), " ", s.Setting(setAt), " ", s.Setting(setGroup))
	rows := c.table.Rows()
	if e.key == key && e.scores != nil && (rows == e.rows || !c.table.Complete() && float64(rows) < scoresLag*float64(e.rows)) {
		return e
	}
	*e = earned{key: key, rows: rows, filtered: !found.all, badBy: badBy, partial: !c.table.Complete() || waiting || found.pending}
	if e.filtered {
		e.run = metrics.NewRun(metrics.Options{Lenient: true})
		for n := range found.len(c) {
			ordinal := found.at(c, n)
			row, ok := c.table.Row(ordinal)
			if !ok || c.measure(e.run, &row) != nil {
				break
			}
			e.ordinals = append(e.ordinals, int32(ordinal))
		}
		if e.ordinals == nil {
			e.ordinals = []int32{}
		}
	} else {
		e.run = c.measures()
	}
	var o metrics.ScoreOptions
	if at, ok := threshold(s); ok {
		o.Threshold = &at
	}
	if s.Setting(setGroup) == bySource {
		o.By = metrics.BySource
	}
	if by != nil {
		o.Value = func(row int) (string, bool) { return c.valueOf(look, by, e.ordinal(int32(row))) }
	}
	if !e.filtered && c.table.Complete() {
		if sides {
			var problem [2]string
			o.Failures, problem[0] = d.sidecars(c, runfolder.Failures)
			o.Inventory, problem[1] = d.sidecars(c, runfolder.MaterializedInputs)
			e.problem = strings.Trim(problem[0]+"; "+problem[1], "; ")
		} else {
			e.partial = true
		}
	}
	e.scores = e.run.Scores(o)
	e.all, _ = e.run.AllRows() // the lenient reading refuses nothing
	return e
}

// bySource groups by task_source.
const bySource = "source"

// groupPath is the question that tells how rows are grouped, nil where their digests know it. bad says why the setting
// means nothing.
func groupPath(s State) (q *Question, bad string) {
	by := s.Setting(setGroup)
	if by == "" || by == bySource {
		return nil, ""
	}
	return pathQuestion(by)
}

// pathQuestion asks for the value at a path into the row.
func pathQuestion(path string) (q *Question, bad string) {
	if !strings.HasPrefix(path, "row") && !strings.HasPrefix(path, "$") {
		path = "row." + path
	}
	ref, err := filter.ParsePath(path)
	if err == nil {
		q, err = Ask("has(" + ref.Name + ")")
	}
	switch {
	case err != nil:
		return nil, err.Error()
	case q == nil || len(q.paths) != 1 || q.paths[0].Path == nil:
		return nil, "it is no path into the row"
	}
	return q, ""
}

// valueOf is the value of a path in a row, as the name of a group.
func (c *selection) valueOf(look *lookup, q *Question, ordinal int) (string, bool) {
	row, ok := c.table.Row(ordinal)
	if !ok {
		return "", false
	}
	b, ok := look.answers.Row(look.source(row.Source), row.Number)
	if !ok {
		return "", false
	}
	a, ok := look.parse(b)
	if !ok || len(a.values) == 0 {
		return "", false
	}
	for n, p := range look.paths {
		if n < len(a.values) && p.Name == q.paths[0].Name {
			word, ok := a.values[n].Word()
			return word, ok && word != ""
		}
	}
	return "", false
}
