package view

import (
	"slices"
	"strings"

	"github.com/rollscope/rollscope/core/analysis"
	"github.com/rollscope/rollscope/core/finding"
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/omitted"
	"github.com/rollscope/rollscope/core/outcome"
	"github.com/rollscope/rollscope/core/records"
	"github.com/rollscope/rollscope/core/rollout"
	"github.com/rollscope/rollscope/core/runfolder"
	"github.com/rollscope/rollscope/core/verify"
	"github.com/rollscope/rollscope/core/view/filter"
)

// A fate is what became of a rollout: the part of the flow of the Coverage tab that it ends in.
type fate uint8

const (
	noFate fate = iota // nobody knows, or the row speaks for no rollout
	fateMeasured
	fateMasked
	fateUnscored
	fateFailed
	fateOmitted
	fateUnknown
	fateCount
)

// fateInfos are the fates as pages show them.
var fateInfos = [fateCount]struct {
	mark        Mark
	word        string
	disposition records.Disposition
	measurement outcome.Measurement
	text        string
}{
	fateMeasured: {MarkMeasured, "measured", records.Success, outcome.Measured, "a result whose reward counts"},
	fateMasked:   {MarkMasked, "masked", records.Success, outcome.Masked, "a result whose reward must not be taken as a measurement"},
	fateUnscored: {MarkUnscored, "unscored", records.Success, outcome.Unscored, "a result without a number as reward"},
	fateFailed:   {MarkFailed, "failed", records.Failure, "", "its latest attempt failed"},
	fateOmitted:  {MarkOmitted, "omitted", records.Omission, "", "left out on purpose, or it cannot be run"},
	fateUnknown:  {MarkUnknown, "unknown", records.Unknown, "", "its latest attempt has no outcome, or there was none"},
}

func fateOf(d records.Disposition, m outcome.Measurement) fate {
	for f := fateMeasured; f < fateCount; f++ {
		if fateInfos[f].disposition == d && (d != records.Success || fateInfos[f].measurement == m) {
			return f
		}
	}
	return noFate
}

// fates hold what became of the rollouts that a selection was asked for, once its files are held against each other:
// one entry a row, and one for every expected rollout.
type fates struct {
	report *verify.Report
	runs   []*verify.RunReport // of the selection
	picks  []bool              // by run: with profile main its selected results alone are judged
	starts []int               // expected rollouts of runs[i] are numbered starts[i] … starts[i+1]-1
	rows   []rowFate           // by ordinal
	wants  []want              // by number of the expected rollout
	states []omitted.State     // by number; empty for those with a result

	list    wantList
	said    []*finding.Finding
	grouped []*findingGroup
	byFile  map[string]saidCount

	// What every drawing shows, made once.
	summed  *covered
	lacks   lacking
	planned []planSum // by run
	plan    *Table    // the first rollouts of it
	gaps    []int     // rollouts without a result along the inputs
	failed  struct {
		key  string
		list []failureAt
	}
}

// A rowFate says which rollout a row is about. Its fate is that of the rollout, be it the row that decides it or not.
type rowFate struct {
	want   int32 // number of the expected rollout, −1 for none
	run    int32 // in runs, −1 for none
	fate   fate
	speaks bool // it is the record that decides
}

// A want is an expected rollout.
type want struct {
	row  int32 // ordinal of the row that speaks, else of the first one about it; −1 for none
	fate fate
}

// lacking counts the rollouts of unknown fate: those without a trace, which old runs cannot tell from those that were
// never dispatched, and those with a reservation alone.
type lacking struct {
	made               bool
	never, interrupted int
	old                bool // nothing tells whether they were dispatched
}

// A planSum counts what a resume would do with the rollouts of a run.
type planSum struct{ total, again, first, final int }

// fates gives what became of the rollouts of a selection; nil while the files are not held against each other yet.
func (d *Desk) fates(c *selection) *fates {
	if d.audited == nil || d.audited.report == nil || !c.table.Complete() {
		return nil
	}
	report := d.audited.report
	if c.fated == nil || c.fated.report != report || len(c.fated.rows) != c.table.Rows() {
		c.fated = d.newFates(c, report)
	}
	return c.fated
}

// runsOf are the runs of the audit that a selection looks at, in their order.
func (d *Desk) runsOf(c *selection, report *verify.Report) []*verify.RunReport {
	kept := map[string]bool{}
	for _, source := range c.sources {
		kept[d.name(source)] = true
	}
	named := d.runNames()
	sources := make(map[string]int, len(d.sources))
	for source := range d.sources {
		sources[d.name(source)] = source
	}
	list := []*verify.RunReport{}
	for _, run := range report.Runs {
		source, read := sources[run.Output]
		switch {
		case run.Output != "" && read:
			if !kept[d.name(source)] {
				continue
			}
		case c.only != "" && named[run.Key] != c.only:
			continue
		}
		list = append(list, run)
	}
	return list
}

// partKey is what the audit calls a part of a run.
func (d *Desk) partKey(p *runfolder.Part) string {
	for _, i := range slices.Concat([]int{p.Output}, p.Others, p.Companions) {
		if i >= 0 {
			if dir := d.listing.Entries[i].Dir; dir != "" {
				return strings.TrimSuffix(dir, "/") + "/" + p.Stem
			}
		}
	}
	return p.Stem
}

func (d *Desk) newFates(c *selection, report *verify.Report) *fates {
	f := &fates{report: report, runs: d.runsOf(c, report), rows: make([]rowFate, c.table.Rows()), starts: []int{0}}
	for i := range f.rows {
		f.rows[i] = rowFate{want: -1, run: -1}
	}
	places := map[string]int{}
	for i := range c.table.Sources() {
		places[c.table.Name(i)] = i
	}
	indexed := make([]bool, c.table.Sources())
	for n, run := range f.runs {
		source, read := places[run.Output]
		f.picks = append(f.picks, run.Index != nil && (run.Dialect == verify.Manifest || run.FirstError == finding.DraftJournal))
		if run.Index != nil {
			if read {
				indexed[source] = true
			} else {
				source = -1
			}
			f.index(c, run, n, source)
		}
		f.starts = append(f.starts, len(f.wants))
	}
	f.plain(c, indexed)
	return f
}

// index takes in the rollouts of a run that has an index.
func (f *fates) index(c *selection, run *verify.RunReport, n, source int) {
	ix := run.Index
	var attempts []records.Attempt
	at := func(line int64) int {
		if source < 0 {
			return -1
		}
		ordinal, ok := c.table.Find(source, line)
		if !ok {
			return -1
		}
		return ordinal
	}
	base := len(f.wants)
	for i := range ix.Len() {
		e := ix.Rollout(i, run.Settings)
		w := want{row: -1, fate: fateOf(e.Disposition, e.Measurement)}
		if attempts = ix.AppendAttempts(attempts[:0], i); len(attempts) > 0 {
			for _, a := range attempts {
				if a.File != records.Results {
					continue
				}
				if ordinal := at(a.Line); ordinal >= 0 {
					f.rows[ordinal] = rowFate{int32(base + i), int32(n), w.fate, a.Selected}
					if w.row < 0 || a.Selected {
						w.row = int32(ordinal)
					}
				}
			}
		}
		f.wants = append(f.wants, w)
		f.states = append(f.states, "")
	}
	for _, dup := range ix.Duplicates {
		i, ok := ix.Find(dup.Rollout)
		if !ok || dup.FirstFile != records.Results {
			continue
		}
		if ordinal := at(dup.FirstAt); ordinal >= 0 {
			f.rows[ordinal] = rowFate{int32(base + i), int32(n), f.wants[base+i].fate, false}
		}
	}
	run.Omissions(func(o omitted.Omission) {
		if i, ok := ix.Find(o.ID); ok && f.wants[base+i].fate >= fateFailed {
			f.states[base+i] = o.State
		}
	})
}

// plain takes in the rows of files without an index: each speaks for itself.
func (f *fates) plain(c *selection, indexed []bool) {
	outputs := make(map[string]int32, len(f.runs))
	for n, r := range f.runs {
		if r.Output != "" {
			outputs[r.Output] = int32(n)
		}
	}
	run := make([]int32, c.table.Sources())
	for i := range run {
		n, ok := outputs[c.table.Name(i)]
		if run[i] = n; !ok {
			run[i] = -1
		}
	}
	c.table.Each(0, func(r *analysis.Row) bool {
		row := &f.rows[r.Ordinal]
		row.run = run[r.Source]
		if indexed[r.Source] {
			return true
		}
		d, err := r.Digest()
		if err != nil {
			return true
		}
		record, fault, err := records.OpenDigest(d.Records, r.Line, r.Offset, r.Length)
		if err != nil || fault != nil || record.Evidence != outcome.NoEvidence {
			return true
		}
		row.speaks = true
		switch {
		case record.Is(records.Omitted):
			row.fate = fateOmitted
		case len(record.Class) > 0:
			row.fate = fateFailed
		default:
			row.fate = fateOf(records.Success, outcome.MeasurementOf(record.Is(records.Scored), record.Is(records.Masked)))
		}
		return true
	})
}

// judged tells whether a row is part of a report by profile main, which is no report over a run with a manifest or a
// journal: of such a run it takes the results that decide about their rollouts.
func (f *fates) judged(ordinal int) bool {
	row := &f.rows[ordinal]
	return row.run < 0 || !f.picks[row.run] || row.speaks && row.fate < fateFailed
}

// projects tells whether profile main leaves rows out.
func (f *fates) projects() bool { return slices.Contains(f.picks, true) }

// of splits the number of an expected rollout.
func (f *fates) of(number int) (run *verify.RunReport, i int) {
	n, found := slices.BinarySearch(f.starts, number)
	if !found {
		n--
	}
	for n+1 < len(f.starts)-1 && f.starts[n+1] == f.starts[n] { // runs without an index
		n++
	}
	return f.runs[n], number - f.starts[n]
}

// rollout describes an expected rollout.
func (f *fates) rollout(number int) (run *verify.RunReport, e records.Rollout) {
	run, i := f.of(number)
	return run, run.Index.Rollout(i, run.Settings)
}

// class is the failure class of the record that decides a rollout, "" for none.
func (f *fates) class(number int) string {
	run, i := f.of(number)
	if a, ok := run.Index.Selected(i); ok && a.Class != "" {
		return records.ClassName(a.Class)
	}
	return ""
}

// stateWord is what the filter calls a state.
func stateWord(s omitted.State) string {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == '.' {
			return string(s[i+1:])
		}
	}
	return string(s)
}

// dispositionWords and measurementWords are the values of filter fields.
var (
	dispositionWords = []string{string(records.Success), string(records.Failure), string(records.Omission), string(records.Unknown)}
	measurementWords = []string{string(outcome.Measured), string(outcome.Masked), string(outcome.Unscored)}
)

func stateWords() []string {
	list := []string{}
	for _, s := range omitted.States {
		list = append(list, stateWord(s.State))
	}
	return list
}

// classes are the failure classes of the run, for completion.
func (f *fates) classes() []string {
	if f == nil {
		return nil
	}
	seen := map[string]bool{}
	for _, run := range f.runs {
		for name := range run.Classes.Rows {
			seen[name] = true
		}
	}
	list := make([]string, 0, len(seen))
	for name := range seen {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

// fateField gives the value of a field that tells what became of the rollout of a row.
func (c *selection) fateField(ordinal int, name string) filter.Value {
	f := c.fated
	if f == nil || ordinal >= len(f.rows) {
		return filter.Value{}
	}
	row := &f.rows[ordinal]
	switch name {
	case "speaks":
		return filter.Bool(row.speaks)
	case "measurement":
		if m := fateInfos[row.fate].measurement; row.speaks && m != "" {
			return filter.Text(string(m))
		}
		return filter.Value{}
	case "failure.class":
		if row.want < 0 {
			return filter.Value{}
		}
	}
	if row.want >= 0 {
		return f.wantField(int(row.want), name)
	}
	if d := fateInfos[row.fate].disposition; name == "disposition" && d != "" {
		return filter.Text(string(d))
	}
	return filter.Value{}
}

// wantField gives the value of a field of an expected rollout.
func (f *fates) wantField(number int, name string) filter.Value {
	w := &f.wants[number]
	switch name {
	case "disposition":
		return filter.Text(string(fateInfos[w.fate].disposition))
	case "measurement":
		if m := fateInfos[w.fate].measurement; m != "" {
			return filter.Text(string(m))
		}
		return filter.Value{}
	case "state":
		if s := f.states[number]; s != "" {
			return filter.Text(stateWord(s))
		}
		return filter.Value{}
	case "failure.class":
		if class := f.class(number); class != "" && w.fate >= fateFailed {
			return filter.Text(class)
		}
		return filter.Value{}
	}
	run, e := f.rollout(number)
	switch name {
	case "pending":
		return filter.Bool(pendingIn(run, &e))
	case "task":
		return keyValue(keyOfJSON(e.Task))
	case "repeat", "rollout":
		return keyValue(keyOfJSON(e.Index))
	case "id":
		return filter.Text(e.ID)
	case "agent":
		if e.HasAgent {
			return filter.Text(e.Agent)
		}
	case "attempt":
		if e.HasLatest {
			return filter.Whole(e.Latest)
		}
	}
	return filter.Value{}
}

// pendingIn tells whether a resume would run a rollout.
func pendingIn(run *verify.RunReport, e *records.Rollout) bool {
	if run.Dialect == verify.Legacy && run.Legacy != nil {
		return run.Legacy.Runs(e.Task, e.Index, run.Settings)
	}
	return e.Retryable && !e.Exhausted
}

// keyOfJSON reads an index as the rows of the rollouts file do.
func keyOfJSON(text string) rollout.Key {
	if text == "" {
		return rollout.Key{}
	}
	v, err := new(jsonscan.Scanner).Scan([]byte(text))
	if err != nil {
		return rollout.Key{}
	}
	return rollout.KeyOf(v)
}

// A wantRow gives a filter the values of an expected rollout that has no row.
type wantRow struct {
	f      *fates
	number int
}

// Field gives the value of a field; what only rows have is missing.
func (r wantRow) Field(name string) filter.Value { return r.f.wantField(r.number, name) }

// Inside is missing: there is no row to look into.
func (r wantRow) Inside(*filter.Ref) filter.Value { return filter.Value{} }

// wantList are the expected rollouts that fit a filter, in the order of the inputs or of a sort.
type wantList struct {
	key  string
	all  bool
	list []int32
	n    [fateCount]int // of them, by fate
}

func (l *wantList) len(f *fates) int {
	if l.all {
		return len(f.wants)
	}
	return len(l.list)
}

func (l *wantList) at(n int) int {
	if l.all {
		return n
	}
	return int(l.list[n])
}
