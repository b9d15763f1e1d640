package view

import (
	"fmt"
	"math"
	"slices"

	"github.com/rollscope/rollscope/core/records"
	"github.com/rollscope/rollscope/core/recovery"
	"github.com/rollscope/rollscope/core/value"
	"github.com/rollscope/rollscope/core/verify"
)

// savedTable lists the fields of the coverage as saved and as derived.
func (f *fates) savedTable(sum *covered) Table {
	t := Table{ID: "fields", Caption: "fields of the coverage, saved against derived", Height: 22, Rows: []Row{},
		Columns: []Column{{Key: "field", Title: "field", Mono: true, Grow: true}, {Key: "saved", Title: "saved", Right: true}, {Key: "derived", Title: "derived", Right: true}, {Key: "comparison", Title: ""}}}
	var saved *records.SavedCoverage
	var run *verify.RunReport
	switch {
	case len(f.runs) == 1:
		run = f.runs[0]
		saved = run.Saved
	case len(f.runs) > 1:
		t.Note = "sums of " + count(len(sum.runs), "run", "runs")
	}
	notSaved := "no coverage file was saved"
	if saved != nil {
		equal := 0
		for _, m := range sum.fields {
			if v := saved.Document.Get(m.Key); v.Exists() && value.Equal(v, m.Value) {
				equal++
			}
		}
		t.Note = fmt.Sprintf("%s · %d of %d equal · %s", saved.Path, equal, len(sum.fields), comparisonWords[run.Check.Comparison])
		notSaved = "the coverage file does not have it"
	}
	if len(f.runs) > 1 {
		notSaved = "saved by run, see the table of runs"
	}
	add := func(field string, savedValue, derived value.Value, why string, stat bool) {
		cells := []Cell{{Text: Text{Text: field, Mono: true}}, {Text: valueText(savedValue, notSaved), Exact: exactValue(savedValue)},
			{Text: valueText(derived, why), Exact: exactValue(derived)}, {Text: Text{Text: "not saved", Muted: true}}}
		switch at := &cells[3].Text; {
		case !savedValue.Exists():
		case !derived.Exists() || run.Check.Comparison == records.Unreadable || run.Check.Comparison == records.Unsupported:
			*at = Text{Text: "not compared", Muted: true}
		case value.Equal(savedValue, derived) || field == "run_id" && run.Coverage != nil && run.Coverage.Imported:
			*at = Text{Text: "equal", Mark: MarkHealthy}
		default:
			*at = Text{Text: "differs", Mark: MarkUnhealthy}
		}
		if stat {
			cells[2].Stat = "coverage." + field
		} else {
			cells[1].Stat = "coverage." + field
		}
		t.Rows = append(t.Rows, Row{ID: field, Index: len(t.Rows), Cells: cells})
	}
	for _, m := range sum.fields {
		v := value.Value{}
		if saved != nil {
			v = saved.Document.Get(m.Key)
		}
		why := "not known without an index"
		switch {
		case sum.total != nil && len(f.runs) > 1:
			why = "differs between the runs"
		case m.Key == "run_id":
			why = "without a manifest a run has no id"
		}
		add(m.Key, v, m.Value, why, true)
	}
	if saved != nil {
		for _, field := range [...]string{"scored", "failures_counted_as_zero", "imputed"} {
			if v := saved.Document.Get(field); v.Exists() {
				add(field, v, value.Value{}, "the classes that count as zero are not saved, so it is checked and not derived", false)
			}
		}
		for _, field := range run.Check.Extra {
			t.Rows = append(t.Rows, Row{ID: "extra-" + field, Index: len(t.Rows), Cells: []Cell{{Text: Text{Text: field, Mono: true}},
				{Text: valueText(saved.Document.Get(field), "")}, {Text: Text{Text: Dash, Muted: true, Title: "nobody here knows this field"}}, {Text: Text{Text: "unknown field", Muted: true}}}})
		}
	}
	t.Total = len(t.Rows)
	return t
}

// comparisonWords say how a saved coverage stands to the files.
var comparisonWords = map[records.Comparison]string{
	records.Unreadable: "it cannot be read", records.Unsupported: "its format is not known", records.NoIndex: "not compared: there is no index",
	records.Foreign: "it is that of another run", records.Unreliable: "not compared: not all rows could be taken in", records.Match: "it equals what the files give",
	records.Stale: "it is older than the files", records.Mismatch: "it differs from the files",
}

// runsTable shows several runs beside each other.
func (d *Desk) runsTable(f *fates, s State, limit int) Table {
	t := Table{ID: "coverage_runs", Caption: "coverage by run", Height: 24, Rows: []Row{}}
	if len(f.runs) < 2 {
		return t
	}
	t.Columns = []Column{{Key: "run", Title: "run", Mono: true, Grow: true}, {Key: "reading", Title: "read as"}, {Key: "expected", Title: "expected", Right: true}, {Key: "successful", Title: "with a result", Right: true},
		{Key: "failed", Title: "failed", Right: true}, {Key: "omitted", Title: "omitted", Right: true}, {Key: "unknown", Title: "unknown", Right: true}, {Key: "saved", Title: "saved coverage"}, {Key: "resume", Title: "a resume"}}
	names := d.runNames()
	for n, run := range f.runs {
		if n == limit {
			t.Note = fmt.Sprintf("the first %s of %s; the saved table has all of them", Group(limit), Group(len(f.runs)))
			break
		}
		how, why := readingWords(run)
		name := Text{Text: run.Key, Mono: true}
		if part := names[run.Key]; part != "" && len(d.listing.Runs) > 1 {
			name.Href = s.With(func(s *State) { s.Apart, s.Run, s.Sort = true, part, "" }).Href()
		}
		row := Row{ID: run.Key, Index: n, Cells: []Cell{{Text: name}, {Text: Text{Text: how, Title: why}}}}
		if c := run.Coverage; c != nil {
			for _, k := range [...]int64{c.Expected, c.Successful, c.Failed, c.Omitted, c.Unknown} {
				row.Cells = append(row.Cells, wide(k))
			}
		} else {
			unknown := Cell{Text: Text{Text: Dash, Muted: true, Title: noIndex(run)}}
			row.Cells = append(row.Cells, unknown, wide(run.Rows.Measured+run.Rows.Masked+run.Rows.Unscored), unknown, unknown, unknown)
		}
		savedText := Text{Text: "none", Muted: true}
		if run.Saved != nil {
			savedText = Text{Text: string(run.Check.Comparison), Title: comparisonWords[run.Check.Comparison]}
		}
		row.Cells = append(row.Cells, Cell{Text: savedText}, Cell{Text: Text{Text: resumeWord(run)}})
		t.Rows = append(t.Rows, row)
	}
	t.Total = len(t.Rows)
	return t
}

// runNames are the names of the runs by the keys of their parts.
func (d *Desk) runNames() map[string]string {
	names := map[string]string{}
	for i := range d.listing.Runs {
		for _, p := range d.listing.Runs[i].Parts {
			names[d.partKey(&p)] = d.listing.Runs[i].Name
		}
	}
	return names
}

func resumeWord(run *verify.RunReport) string {
	switch run.Resume.Outcome {
	case recovery.Fresh:
		return "starts"
	case recovery.Restart:
		return "starts afresh"
	case recovery.Refused:
		return "is refused"
	}
	return "runs " + Group(len(run.Pending()))
}

// digestTable shows the digests of runs with their saved counterparts.
func (f *fates) digestTable() Table {
	t := Table{ID: "digests", Caption: "digests", Height: 22, Rows: []Row{}, Columns: []Column{
		{Key: "run", Title: "run", Mono: true}, {Key: "digest", Title: "digest of"}, {Key: "saved", Title: "in the manifest", Mono: true}, {Key: "derived", Title: "of the files", Mono: true}, {Key: "comparison", Title: "", Grow: true}}}
	if len(f.runs) < 2 {
		t.Columns = t.Columns[1:]
	}
	digest := func(text, why string) Cell {
		if text == "" {
			return Cell{Text: Text{Text: Dash, Muted: true, Title: why}}
		}
		return Cell{Text: Text{Text: clipped(text, 12), Mono: true, Title: text}, Exact: text}
	}
	for _, run := range f.runs {
		d := &run.Digests
		noManifest := "there is no manifest"
		for _, line := range []struct{ what, saved, derived, why string }{
			{"materialized inputs", d.MaterializedSaved, d.Materialized, "the inputs are not there, or cannot be read"},
			{"inputs, for a resume", "", d.MaterializedResume, "the inputs are not there, or cannot be read"},
			{"dataset", d.SourceSaved, "", "the dataset is not among the files; rollscope verify --source checks it"},
			{"configuration", d.ConfigSaved, "", "the configuration is not among the files; rollscope verify --config checks it"},
		} {
			if line.saved == "" && line.derived == "" {
				continue
			}
			same := Text{Text: "not compared", Muted: true}
			switch {
			case line.saved == "" || line.derived == "":
			case line.saved == line.derived:
				same = Text{Text: "equal", Mark: MarkHealthy}
			default:
				same = Text{Text: "differs", Mark: MarkUnhealthy}
			}
			cells := []Cell{{Text: Text{Text: line.what}}, digest(line.saved, noManifest), digest(line.derived, line.why), {Text: same}}
			if len(f.runs) > 1 {
				cells = append([]Cell{{Text: Text{Text: run.Key, Mono: true}}}, cells...)
			}
			t.Rows = append(t.Rows, Row{ID: fmt.Sprint("digest-", len(t.Rows)), Index: len(t.Rows), Cells: cells})
		}
	}
	t.Total = len(t.Rows)
	if t.Total == 0 {
		t.Columns = nil
	}
	return t
}

// legacyTable shows the numbers of versions that count by pairs of indices.
func (f *fates) legacyTable() Table {
	t := Table{ID: "legacy", Caption: "as version 0.7.0 counts", Height: 22, Rows: []Row{}, Columns: []Column{{Key: "number", Title: "number", Grow: true}, {Key: "value", Title: "rollouts", Right: true}}}
	var n records.Numbers
	lines, inputs, runs := int64(0), true, 0
	for _, run := range f.runs {
		if run.Legacy == nil {
			continue
		}
		runs++
		m := run.Numbers()
		n.Inputs += m.Inputs
		n.Done += m.Done
		n.FailureRows += m.FailureRows
		n.FailureKeys += m.FailureKeys
		n.Terminal += m.Terminal
		n.Maxed += m.Maxed
		n.ToRun += m.ToRun
		n.Imputable += m.Imputable
		n.Unroutable += m.Unroutable
		lines += run.Accounts[records.Inputs].Lines
		inputs = inputs && run.Present[records.Inputs]
	}
	if runs == 0 {
		t.Columns = nil
		return t
	}
	t.Note = "by pairs of task and rollout index; every row of the rollouts file is a result, every row of the sidecar an attempt"
	add := func(stat, what string, n int64, needsInputs bool) {
		cell := Cell{Text: Text{Text: Group(n)}, Stat: "coverage.legacy." + stat, Exact: fmt.Sprint(n)}
		if needsInputs && !inputs {
			cell = Cell{Text: Text{Text: Dash, Muted: true, Title: "not known without the materialized inputs"}, Stat: "coverage.legacy." + stat}
		}
		t.Rows = append(t.Rows, Row{ID: stat, Index: len(t.Rows), Cells: []Cell{{Text: Text{Text: what}}, cell}})
	}
	add("expected", "expected: lines of the materialized inputs", lines, true)
	add("inputs", "inputs: rows among them", n.Inputs, true)
	add("done", "done: pairs with a result", n.Done, false)
	add("failure_rows", "rows of the failures sidecar", n.FailureRows, false)
	add("failure_keys", "pairs with a failure", n.FailureKeys, false)
	add("terminal", "pairs with a final failure", n.Terminal, false)
	add("maxed", "pairs that failed as often as is allowed", n.Maxed, false)
	add("to_run", "to run in a resume", n.ToRun, true)
	add("persisted", "persisted: pairs with a result", n.Done, false)
	add("missing", "missing: expected and not persisted", lines-n.Done, true)
	add("imputable", "without any row, and could be counted as zero", n.Imputable, true)
	add("unroutable", "without any row, and name neither agent nor server", n.Unroutable, true)
	t.Total = len(t.Rows)
	return t
}

// gapBins is how many parts the chart of rollouts without a result has at most.
const gapBins = 25

// gapChart counts the expected rollouts without a result along the inputs, so that a hole in the run is seen.
func (f *fates) gapChart(s State) (Chart, bool) {
	total := len(f.wants)
	if total < 2*gapBins {
		return Chart{}, false
	}
	size := max(1, int(stepOf(float64(total)/gapBins, true)))
	if f.gaps == nil {
		f.gaps = make([]int, (total+size-1)/size)
		for i, w := range f.wants {
			if w.fate >= fateFailed {
				f.gaps[i/size]++
			}
		}
	}
	bins := f.gaps
	if slices.Max(bins) == 0 {
		return Chart{}, false
	}
	chart := Chart{ID: "gaps", Title: "without a result", Kind: "strip", Caption: fmt.Sprintf("per %s in the order of the inputs", count(size, "expected rollout", "expected rollouts"))}
	for i, n := range bins {
		first := i * size
		_, e := f.rollout(first)
		_, last := f.rollout(min(first+size, total) - 1)
		chart.Bins = append(chart.Bins, Bin{Label: clipped(e.ID, 8), Name: e.ID + " to " + last.ID, Value: float64(n), Text: Group(n)})
	}
	return chart, true
}

// coverageTable is a table of the tab with the rows of a part at least.
func (d *Desk) coverageTable(c *selection, r *request, id string, from, to int) (Table, bool) {
	f, s := d.fates(c), r.state
	if f == nil {
		return Table{}, false
	}
	closed := func(string) bool { return false }
	switch id {
	case "expected":
		return d.wantTable(c, f, s, from, to), true
	case "failures":
		return d.failureTable(c, f, s, from, to), true
	case "fields":
		return f.savedTable(f.sum()), true
	case "coverage_runs":
		return d.runsTable(f, s, math.MaxInt), true
	case "classes":
		t, _ := d.classTable(c, f, s, closed, d.keptFailures(c, f, s))
		return t, true
	case "shapes":
		return d.shapeTable(c, f, s, closed, d.keptFailures(c, f, s)), true
	case "digests":
		return f.digestTable(), true
	case "legacy":
		return f.legacyTable(), true
	case "resume":
		return f.resumeTable(math.MaxInt), true
	}
	return Table{}, false
}
