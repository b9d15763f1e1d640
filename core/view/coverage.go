package view

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/rollscope/rollscope/core/finding"
	"github.com/rollscope/rollscope/core/records"
	"github.com/rollscope/rollscope/core/recovery"
	"github.com/rollscope/rollscope/core/value"
	"github.com/rollscope/rollscope/core/verify"
)

// Coverage is the tab of that name: what became of every rollout that was asked for.
type Coverage struct {
	Facts    []Fact
	Notes    []Text // what is not known, and why
	Flow     Flow
	Charts   []Chart
	Saved    Table // the fields of the coverage, saved against derived
	Runs     Table // the same by run, where there are several
	Failures Failures
	Resume   Resume
	Digests  Table
	Legacy   Table  // as versions without a manifest count
	Wants    Table  // the expected rollouts
	Line     *Lined // a line that somebody wants to see
	Filtered bool   // some of them are looked at
	Partial  string // what the tab waits for
}

// A Flow leads from what was asked for to what counts. Its parts add up.
type Flow struct {
	Title  string
	Note   string
	Start  Share   // what was asked for
	Losses []Share // what left on the way, one for each stage behind the start
	Stages []Share // what is left behind each of them
	Parts  []Share // what the last stage is made of
	Sums   []Pair  // how the numbers add up
}

// Resume says what a resume would do.
type Resume struct {
	Lines []Text
	Table Table
}

var coveragePane = pane{
	there: func(d *Desk, _ *selection) bool { return len(d.sources) > 0 || len(d.listing.Runs) > 0 },
	show:  (*Desk).coverage, table: (*Desk).coverageTable, charts: func(p *Page) []Chart { return p.Coverage.Charts },
}

func (d *Desk) coverage(c *selection, r *request) []Need {
	p := &Coverage{Facts: []Fact{}, Notes: []Text{}, Charts: []Chart{}}
	r.page.Coverage = p
	f := d.fates(c)
	if f == nil {
		p.Partial = "This tab is made when every row is in and the files are held against each other."
		if d.audited != nil && d.audited.failed != nil {
			p.Partial = "The files could not be held against each other: " + d.audited.failed.Error() + "."
		}
		return nil
	}
	s := r.state
	sum := f.sum()
	p.Facts = coverageFacts(f, sum)
	p.Notes = coverageNotes(f)
	p.Flow = f.flow(s, sum)
	p.Saved = f.savedTable(sum)
	p.Runs = d.runsTable(f, s, groupsMost)
	if chart, ok := f.gapChart(s); ok {
		p.Charts = append(p.Charts, chart)
	}
	p.Failures = d.failures(c, f, s, r.windows)
	p.Resume = d.resume(f, s)
	p.Digests = f.digestTable()
	p.Legacy = f.legacyTable()
	if len(f.wants) > 0 {
		p.Wants = d.wantTable(c, f, s, r.windows["expected"], r.windows["expected"]+windowSize)
		p.Filtered = s.Filter != ""
		r.page.Chooser = chooserOf(s, wantChoice(f))
	}
	var needs []Need
	p.Line, needs = d.lined(s)
	if p.Line != nil {
		r.page.Target = "line"
	}
	for _, t := range []*Table{&p.Saved, &p.Runs, &p.Wants, &p.Resume.Table, &p.Failures.Classes, &p.Failures.Shapes, &p.Failures.Rows, &p.Digests, &p.Legacy} {
		if t.Total > 0 {
			t.Links = exports(t.ID)
		}
	}
	return needs
}

// A covered is the coverage of some runs together.
type covered struct {
	runs    []*verify.RunReport // those with an index
	without int                 // runs without one
	fields  []value.Member      // of the coverage; absent values are those that no sum has
	total   *records.Coverage   // nil without any index
	rows    [fateCount]int      // rows that speak, by fate
}

// sum adds up the coverage of all runs that have one.
func (f *fates) sum() *covered {
	if f.summed == nil {
		f.summed = f.newSum()
	}
	return f.summed
}

func (f *fates) newSum() *covered {
	sum := &covered{}
	for _, r := range f.rows {
		if r.speaks {
			sum.rows[r.fate]++
		}
	}
	for _, run := range f.runs {
		if run.Coverage == nil {
			sum.without++
			continue
		}
		sum.runs = append(sum.runs, run)
		c := *run.Coverage
		if sum.total == nil {
			sum.total = &c
			continue
		}
		t := sum.total
		for _, n := range [...]struct {
			to   *int64
			more int64
		}{
			{&t.Expected, c.Expected}, {&t.Successful, c.Successful}, {&t.Measured, c.Measured}, {&t.Masked, c.Masked}, {&t.Unscored, c.Unscored},
			{&t.Failed, c.Failed}, {&t.Omitted, c.Omitted}, {&t.Unknown, c.Unknown}, {&t.NeverDispatched, c.NeverDispatched},
			{&t.CountedFailures, c.CountedFailures}, {&t.Exhausted, c.Exhausted},
		} {
			*n.to += n.more
		}
		t.Attempts = t.Attempts.Add(c.Attempts)
		t.IdentityVerified = t.IdentityVerified && c.IdentityVerified
	}
	document := new(records.Coverage).Document().Members()
	if sum.total != nil {
		document = sum.total.Document().Members()
	}
	for _, m := range document {
		switch {
		case sum.total == nil:
			m.Value = value.Value{}
			for _, part := range [...]fate{fateMeasured, fateMasked, fateUnscored} {
				if m.Key == fateInfos[part].word {
					m.Value = value.Int(int64(sum.rows[part]))
				}
			}
		case len(sum.runs) > 1 && !sum.agree(m.Key):
			m.Value = value.Value{}
		}
		sum.fields = append(sum.fields, m)
	}
	return sum
}

// agree tells whether a field that is no sum is the same in all runs.
func (s *covered) agree(field string) bool {
	switch field {
	case "run_id", "max_rollout_attempts", "retry_terminal_timeouts":
	default:
		return true
	}
	first := s.runs[0].Coverage.Document().Get(field)
	for _, run := range s.runs[1:] {
		if !value.Equal(run.Coverage.Document().Get(field), first) {
			return false
		}
	}
	return true
}

// exactValue is a value of a document as scripts read it.
func exactValue(v value.Value) string {
	if !v.Exists() || v.IsNull() {
		return ""
	}
	if text, ok := v.Text(); ok {
		return text
	}
	return v.String()
}

// valueText shows a value of a document; why says what it means that there is none.
func valueText(v value.Value, why string) Text {
	exact := exactValue(v)
	if exact == "" {
		return Text{Text: Dash, Muted: true, Title: why}
	}
	if text, ok := v.Text(); ok {
		return Text{Text: clipped(text, 12), Mono: true, Title: text}
	}
	return Text{Text: groupNumber(exact), Title: exact}
}

func coverageFacts(f *fates, sum *covered) []Fact {
	list := []Fact{}
	add := func(label, text, note, title string) {
		list = append(list, Fact{Label: label, Value: Text{Text: text, Title: title}, Note: Text{Text: note}})
	}
	if len(f.runs) == 1 {
		run := f.runs[0]
		how, why := readingWords(run)
		add("read as", how, "", why)
		if run.HasRunID {
			list = append(list, Fact{Label: "run id", Value: Text{Text: clipped(run.RunID, 12), Mono: true, Title: run.RunID}})
		}
	} else {
		add("runs", Group(len(f.runs)), fmt.Sprintf("%d with an index", len(sum.runs)), "")
	}
	if t := sum.total; t != nil {
		add("completed", percent(int(t.Successful), int(t.Expected)), Group(t.Successful)+" of "+Group(t.Expected), "")
		yes := func(b bool, word, not string) Text {
			if b {
				return Text{Text: word, Mark: MarkHealthy}
			}
			return Text{Text: not, Mark: MarkUnhealthy}
		}
		list = append(list,
			Fact{Label: "complete", Value: yes(t.Complete(), "yes", "no")},
			Fact{Label: "reconciled", Value: yes(t.Reconciled(), "yes", "no"), Note: Text{Text: count(t.Unknown, "unknown", "unknown"), Title: "reconciled: the fate of every expected rollout is known"}},
			Fact{Label: "identity", Value: yes(t.IdentityVerified, "verified", "not verified")})
		add("attempts", groupNumber(t.Attempts.String()), fmt.Sprintf("%s counted failures, %s of %d spent", Group(t.CountedFailures), count(t.Exhausted, "rollout with all", "rollouts with all"), t.Settings.MaxAttempts), "")
	}
	for _, run := range f.runs {
		if len(f.runs) == 1 && run.FirstError != "" {
			list = append(list, Fact{Label: "the reference stops at", Value: Text{Text: run.FirstError, Mono: true, Mark: MarkUnhealthy, Title: explained(run.FirstError)}})
		}
	}
	return list
}

// clipped cuts a text for a narrow place.
func clipped(text string, most int) string {
	for i := range text {
		if most--; most < 0 {
			return text[:i] + "…"
		}
	}
	return text
}

func explained(id string) string {
	info, _ := finding.ByID(id)
	return info.Text
}

// readingWords say how a run was read, and what that means.
func readingWords(run *verify.RunReport) (how, why string) {
	switch run.Reading {
	case verify.ByManifest:
		return "a run with a manifest", "attempts are those that the manifest reserved; the latest one speaks for its rollout"
	case verify.Imported:
		return "a run without a manifest", "written by 0.5.1 or 0.7.0: attempts are numbered as they come, failures before results; nothing tells whether a rollout without a row was started"
	}
	return "rows alone", "there is no index: " + noIndex(run)
}

// noIndex says why a run has no index.
func noIndex(run *verify.RunReport) string {
	switch {
	case !run.Present[records.Inputs] && run.HasRunID:
		return "the materialized inputs are missing, so nothing says what was expected"
	case !run.Present[records.Inputs]:
		return "there are neither materialized inputs nor a manifest, so nothing says what was expected"
	case run.FirstError != "":
		return explained(run.FirstError)
	}
	return "the manifest cannot be read"
}

// coverageNotes say what cannot be known.
func coverageNotes(f *fates) []Text {
	list := []Text{}
	for _, run := range f.runs {
		if len(list) == 6 {
			list = append(list, Text{Text: "… and more runs of this kind."})
			break
		}
		name := ""
		if len(f.runs) > 1 {
			name = run.Key + ": "
		}
		switch {
		case run.Index == nil:
			list = append(list, Text{Text: name + "How many rollouts were expected is not known: " + strings.TrimSuffix(noIndex(run), ".") + ". Counted are rows."})
		case !run.Reliable:
			list = append(list, Text{Text: name + "The reference refuses this run at " + run.FirstError + ". Rows that it would stop at are left out of these numbers."})
		case run.Reading == verify.Imported:
			list = append(list, Text{Text: name + "Without a manifest, a rollout without a row may have been started and lost, or never started. Which rows belong to it is told by their indices."})
		}
	}
	if len(f.runs) == 0 {
		list = append(list, Text{Text: "None of these files belongs to a run."})
	}
	return list
}

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
			{"inputs, as a resume reads them", "", d.MaterializedResume, "the inputs are not there, or cannot be read"},
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
