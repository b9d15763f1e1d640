package verify

import (
	"github.com/rollscope/rollscope/core/finding"
	"github.com/rollscope/rollscope/core/omitted"
	"github.com/rollscope/rollscope/core/records"
	"github.com/rollscope/rollscope/core/recovery"
	"github.com/rollscope/rollscope/core/store"
	"github.com/rollscope/rollscope/core/value"
)

// Finish gives the report of the run. What only all runs together show is added to it later.
func (r *Reader) Finish() *RunReport {
	run := r.run
	run.Accounts = [3]store.Account{r.inputs.Account, r.lines[records.Failures].Account, r.lines[records.Results].Account}
	if run.Index != nil {
		run.Index.Finish()
	}
	if r.blocked {
		run.Index, run.Reading = nil, NoIndex
	}
	r.digests()
	run.FirstError = r.firstError()
	run.Reliable = run.Index != nil && run.FirstError == ""
	r.layout()
	r.settle()
	r.rowsOfIndex()
	r.recovery()
	if run.Index != nil {
		c := run.Index.Coverage(run.Settings)
		run.Coverage, run.Zeros = &c, run.Index.Zeros()
		run.Index.Selection(records.Failure, func(_ int, a records.Attempt) { run.Classes.Selected[records.ClassName(a.Class)]++ })
	}
	r.omissions()
	if run.Saved != nil {
		run.Check = run.Saved.Compare(run.Key, run.Index, run.Reliable)
		run.Findings = append(run.Findings, run.Check.Findings...)
	}
	if r.observer != nil {
		run.Batch.Observation = r.observer.Observation()
	}
	return run
}

func (r *Reader) add(id, file string, values ...value.Member) {
	r.run.Findings = append(r.run.Findings, finding.New(id, r.run.Key, file, values...))
}

func (r *Reader) digests() {
	d := &r.run.Digests
	if r.run.Present[records.Inputs] {
		d.Materialized, d.MaterializedResume = r.inputs.Record(), r.inputs.Resume()
	}
	if m := r.manifest; m != nil {
		d.MaterializedSaved, d.SourceSaved, d.ConfigSaved = m.Materialized, m.Source, m.Config
	}
}

// mismatched tells whether the inputs are not those of the manifest, as the reader of rows sees them.
func (r *Reader) mismatched() bool {
	d := &r.run.Digests
	return r.manifest != nil && d.Materialized != "" && d.Materialized != r.manifest.Materialized
}

// firstError follows the order in which the reference opens a run (spec run-folder §9).
func (r *Reader) firstError() string {
	run := r.run
	p := run.Present
	index := func() string {
		if run.Index != nil {
			return run.Index.FirstError
		}
		return ""
	}
	if r.part.Journal {
		return finding.DraftJournal
	}
	if r.part.Manifest != nil {
		switch {
		case !p[records.Results]:
			return finding.MissingOutput
		case !p[records.Failures]:
			return finding.MissingFailures
		case r.manifest == nil:
			return finding.UnreadableManifest
		case !p[records.Inputs]:
			return finding.MissingMaterialized
		case r.inputsError != "":
			return r.inputsError
		case r.mismatched():
			return finding.MaterializedMismatch
		}
		return index()
	}
	switch {
	case !p[records.Inputs]:
		return ""
	case r.inputsError != "":
		return r.inputsError
	case r.passErrors[records.Results] != "":
		return r.passErrors[records.Results]
	case r.passErrors[records.Failures] != "":
		return r.passErrors[records.Failures]
	}
	switch ids := r.distinct(); {
	case len(ids) > 1:
		return finding.MixedRuns
	case len(ids) == 1:
		return finding.LostManifest
	}
	return index()
}

// layout tells which files are missing or odd, and which lines are no rows.
func (r *Reader) layout() {
	run, p := r.run, r.run.Present
	managed := r.part.Manifest != nil
	if r.part.Journal {
		r.add(finding.DraftJournal, journalPath(run.Place))
	}
	if !p[records.Results] {
		f := finding.New(finding.MissingOutput, run.Key, run.Place.Results)
		switch {
		case managed:
			run.Findings = append(run.Findings, f)
		case p[records.Inputs]:
			run.Findings = append(run.Findings, f.As(finding.Warning))
		default:
			for _, path := range r.part.Companions {
				r.add(finding.OrphanCompanion, path)
			}
		}
	}
	if managed && !p[records.Failures] {
		r.add(finding.MissingFailures, run.Place.Failures)
	}
	if managed && !p[records.Inputs] {
		r.add(finding.MissingMaterialized, run.Place.Inputs)
	}
	if !managed && !p[records.Inputs] {
		r.add(finding.NoInventory, run.Output)
		r.add(finding.OmittedNoInventory, run.Output)
	}
	for file, faults := range [3][]store.Fault{r.inputs.Faults, r.lines[records.Failures].Faults, r.lines[records.Results].Faults} {
		for i := range faults {
			run.Findings = append(run.Findings, faults[i].Finding(run.Key, run.Place.Path(records.File(file))))
		}
	}
	if !r.server {
		run.Findings = append(run.Findings, r.stale...)
	}
	if r.unindexed.rows > 0 && r.indexed > 0 {
		f := finding.New(finding.MergeUnsortable, run.Key, run.Place.Results, value.M("with_index", value.Int(r.indexed)), value.M("without_index", value.Int(r.unindexed.rows)))
		run.Findings = append(run.Findings, f.At(r.unindexed.line, r.unindexed.offset))
	}
}

// rowsOfIndex adds what the index, or the lack of one, says about rows.
func (r *Reader) rowsOfIndex() {
	run := r.run
	if r.mismatched() {
		r.add(finding.MaterializedMismatch, run.Place.Inputs, value.M("saved", value.Text(r.manifest.Materialized)), value.M("derived", value.Text(run.Digests.Materialized)))
	}
	if run.Index != nil {
		run.Findings = append(run.Findings, run.Index.Findings...)
	}
	if run.Dialect != Legacy {
		return
	}
	run.Findings = append(run.Findings, run.Legacy.Duplicates...)
	ids := r.distinct()
	if len(ids) == 0 {
		return
	}
	first := r.tagged[records.Results]
	if first.ID == "" {
		first = r.tagged[records.Failures]
	}
	if len(ids) > 1 {
		again := finding.New(finding.MixedRuns, first.Run, first.File, value.M("run_ids", value.List(ids...)))
		run.Findings = append(run.Findings, again.At(first.Line, first.Offset))
		return
	}
	first.Values = []value.Member{value.M("run_id", ids[0])}
	run.Findings = append(run.Findings, first)
}

// recovery says what a resume would do.
func (r *Reader) recovery() {
	run, p := r.run, r.run.Present
	var refused []string
	given := r.options.given(r.config)
	switch {
	case r.part.Manifest == nil:
		r.add(finding.NoManifest, run.Place.Manifest)
	case r.manifest == nil:
		r.add(finding.UnreadableManifest, run.Place.Manifest, value.M("errors", faultValues(r.faults)))
	default:
		var inputs *store.Inputs
		if p[records.Inputs] {
			inputs = &r.inputs
		}
		var list []finding.Finding
		list, refused = recovery.Check(r.manifest, inputs, given, run.Place)
		run.Findings = append(run.Findings, list...)
		run.Findings = append(run.Findings, recovery.Remarks(r.manifest, given, run.Place)...)
		if run.Index != nil {
			if f, ok := recovery.Gap(run.Index, run.Place); ok {
				run.Findings = append(run.Findings, f)
			}
		}
	}
	presence := recovery.Presence{
		Journal: r.part.Journal, Manifest: r.part.Manifest != nil, Inputs: p[records.Inputs], Results: p[records.Results], Failures: p[records.Failures],
	}
	run.Resume = recovery.Decide(presence, r.part.Manifest != nil && r.manifest == nil, refused, run.FirstError)
	if run.Resume.Outcome == recovery.Restart {
		r.add(finding.WouldRestart, "")
	}
}

// omissions says which rollouts have no result, and why.
func (r *Reader) omissions() {
	run := r.run
	var tally omitted.Tally
	run.Omissions(tally.Add)
	successes := int64(0)
	switch {
	case run.Dialect == Legacy:
		successes = run.Numbers().Done
	case run.Coverage != nil:
		successes = run.Coverage.Successful
	}
	file := run.Place.Failures
	if !run.Present[records.Failures] {
		file = run.Output
	}
	run.Findings = append(run.Findings, tally.Findings(run.Key, file, successes)...)
	known := run.Index
	if run.Dialect == Legacy {
		known = nil
	}
	run.Findings = append(run.Findings, run.Evidence.Findings(run.Place, known)...)
	for _, c := range []struct {
		id string
		of counted
	}{{finding.ModelFinal, r.final}, {finding.Unroutable, r.unrouted}} {
		if c.of.rows > 0 {
			f := finding.New(c.id, run.Key, run.Place.Path(c.of.file), value.M("rows", value.Int(c.of.rows)))
			run.Findings = append(run.Findings, f.At(c.of.line, c.of.offset))
		}
	}
}
