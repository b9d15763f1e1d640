package verify

import (
	"errors"
	"slices"

	"github.com/rollscope/rollscope/core/batch"
	"github.com/rollscope/rollscope/core/finding"
	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/omitted"
	"github.com/rollscope/rollscope/core/outcome"
	"github.com/rollscope/rollscope/core/records"
	"github.com/rollscope/rollscope/core/recovery"
	"github.com/rollscope/rollscope/core/schema"
	"github.com/rollscope/rollscope/core/store"
	"github.com/rollscope/rollscope/core/value"
)

// A Part says which files make a run, and holds its small documents. A nil document is not there.
type Part struct {
	Key        string
	Place      records.Place
	Present    [3]bool // by records.File
	Journal    bool
	Manifest   []byte
	Coverage   []byte
	CoverPath  string
	Companions []string // paths of all of them
}

// A Reader reads one run. Give it all lines of the materialized inputs, then of the failures sidecar, then of the
// rollouts file, and finish.
type Reader struct {
	run      *RunReport
	part     Part
	options  *Options
	manifest *store.Manifest
	faults   []schema.Fault // of the manifest

	names    *records.Names
	inputs   store.Inputs
	lines    [3]store.Reader // of the sidecar and the rollouts file
	rows     records.Reader
	pairs    *records.Legacy // also of runs with a manifest that have no index, for the agents of their rows
	observer *batch.Observer
	config   *recovery.Config
	tally    *batch.Tally // of runs without an index, if a batch manifest is there
	saved    records.Saved
	current  line

	inputsError string
	passErrors  [3]string          // of the reading for run ids, by file
	blocked     bool               // rows with a run id and no manifest: there is no index
	runIDs      [3][]value.Value   // distinct ones, by file
	tagged      [3]finding.Finding // first row with a run id
	seenIDs     map[string]bool

	notes     []note
	kinds     map[string]*kind
	server    bool // some row names an environment server
	stale     []finding.Finding
	unrouted  counted
	final     counted // failures marked as the model's own
	unindexed counted // results that lack an index
	indexed   int64   // results that have both
}

// A line is the row that is being added.
type line struct {
	file   records.File
	offset int64
	row    jsonscan.Value
}

// A note is a finding whose attempt is that of the row, if the index still holds it in the end.
type note struct {
	finding.Finding
	at   int32
	file records.File
}

// A kind is an unregistered name of failures.
type kind struct {
	finding.Finding
	rows int64
}

// counted is a number of rows and the place of the first.
type counted struct {
	rows         int64
	line, offset int64
	file         records.File
}

func (c *counted) add(row *records.Row) {
	if c.rows == 0 {
		c.line, c.offset, c.file = row.Line, row.Offset, row.File
	}
	c.rows++
}

// NewReader starts to read a run. saved gives rows again; it may be nil if it is never asked, which nobody can know.
func NewReader(part Part, o *Options, saved records.Saved) *Reader {
	run := &RunReport{
		Key: part.Key, Place: part.Place, Present: part.Present, Reading: NoIndex, Evidence: new(omitted.Evidence),
		Failures: []Failure{}, Classes: Classes{map[string]int64{}, map[string]int64{}}, Zeros: records.Zeros{ByClass: map[string]int64{}},
		Check: records.CoverageCheck{Differences: []records.Difference{}, Extra: []string{}},
	}
	r := &Reader{run: run, part: part, options: o, names: new(records.Names), saved: saved, kinds: map[string]*kind{}, seenIDs: map[string]bool{}}
	if part.Present[records.Results] {
		run.Output = part.Place.Results
	}
	if part.Coverage != nil {
		run.Saved = records.ReadCoverage(part.CoverPath, part.Coverage)
	}
	run.Settings = o.settings(run.Saved)
	if run.Dialect = o.Dialect; run.Dialect == Auto {
		run.Dialect = Legacy
		if part.Manifest != nil {
			run.Dialect = Manifest
		}
	}
	if run.Dialect == Legacy {
		r.part.Manifest = nil // those versions do not know it
	}
	if r.part.Manifest != nil {
		if r.manifest, r.faults = store.ReadManifest(part.Manifest); r.manifest != nil {
			run.RunID, run.HasRunID = r.manifest.RunID, true
		}
	}
	r.begin()
	return r
}

func (r *Reader) begin() {
	run := r.run
	inputs := run.Present[records.Inputs]
	switch {
	case inputs && r.manifest != nil:
		run.Reading = ByManifest
		run.Index = records.NewIndex(r.manifest, run.Place, r.names)
		identity := *r.manifest // the index alone needs the reservations, until it has applied them
		identity.Reserved = nil
		r.manifest = &identity
		r.part.Manifest = []byte{}
	case inputs && r.part.Manifest == nil:
		run.Reading = Imported
		run.Index = records.NewIndex(nil, run.Place, r.names)
	}
	if run.Dialect == Legacy || run.Index == nil {
		r.pairs = records.NewLegacy(run.Place, r.names)
	}
	if run.Dialect == Legacy {
		run.Legacy = r.pairs
	}
	if inputs && (r.options.Observe || r.options.batches) {
		r.observer = new(batch.Observer)
	}
	if r.options.batches && r.pairs != nil {
		r.tally = new(batch.Tally)
	}
	r.config = r.options.Config.With()
}

// Line takes the next line of a file. An error comes from the Saved of the reader; the line may be given again.
func (r *Reader) Line(file records.File, l *jsonl.Line) error {
	if file == records.Inputs {
		r.input(l)
		return nil
	}
	lines := &r.lines[file]
	before := *lines
	row, ok := lines.Read(l)
	if !ok {
		if faults := lines.Faults; len(faults) > len(before.Faults) && faults[len(faults)-1].Fatal() {
			r.stop(file, faults[len(faults)-1].ID)
		}
		return nil
	}
	r.current = line{file, l.Offset, row}
	err := r.Row(r.rows.Read(row, file, lines.Account.Lines, l.Offset, l.Size()))
	r.current = line{}
	if err != nil {
		lines.Account, lines.Faults = before.Account, before.Faults
	}
	return err
}

// stop notes that the reference stops at a line of a file.
func (r *Reader) stop(file records.File, id string) {
	if r.passErrors[file] == "" {
		r.passErrors[file] = id
	}
	if r.run.Index != nil {
		r.run.Index.Finish()
		r.run.Index.Stop(id)
	}
}

// Unread takes account of lines of the rollouts file that were read elsewhere: their sums, and those that are no rows.
// It comes in front of the rows behind them.
func (r *Reader) Unread(a store.Account, faults ...store.Fault) {
	lines := &r.lines[records.Results]
	lines.Account.Lines += a.Lines
	lines.Account.Rows += a.Rows
	lines.Account.Blank += a.Blank
	lines.Account.Unreadable += a.Unreadable
	lines.Account.Bytes += a.Bytes
	for _, f := range faults {
		lines.Faults = append(lines.Faults, f)
		if f.Fatal() {
			r.stop(records.Results, f.ID)
		}
	}
}

// input reads a line of the materialized inputs.
func (r *Reader) input(l *jsonl.Line) {
	before := len(r.inputs.Faults)
	v, ok := r.inputs.Read(l)
	if !ok {
		if faults := r.inputs.Faults; len(faults) > before && faults[before].Fatal() && r.inputsError == "" {
			r.inputsError = faults[before].ID
		}
		return
	}
	row := r.rows.Read(v, records.Inputs, r.inputs.Account.Lines, l.Offset, l.Size())
	if r.run.Index != nil {
		r.run.Index.Expect(row)
	}
	if r.pairs != nil {
		r.pairs.Input(row)
	}
	if r.observer != nil {
		r.observer.Row(v, row.Line, row.Offset)
	}
	if r.config != nil {
		r.config.Row(v)
	}
	r.server = r.server || row.Is(records.Server)
	if !row.Is(records.Routable) {
		r.unrouted.add(row)
	}
}

// errNoSaved means that a row must be read again and nobody can.
var errNoSaved = errors.New("no access to saved rows")

// Saved gives a row again: the one that is being added, or one from the caller.
func (r *Reader) Saved(file records.File, offset, length int64) (value.Value, error) {
	if r.current.row.Exists() && file == r.current.file && offset == r.current.offset {
		return value.Of(r.current.row), nil
	}
	if r.saved == nil {
		return value.Value{}, errNoSaved
	}
	return r.saved.Saved(file, offset, length)
}

// Row takes a row of the sidecar or of the rollouts file that was read elsewhere. An error comes from the Saved of the
// reader; the row may be given again.
func (r *Reader) Row(row *records.Row) error {
	at := int32(-1)
	if r.run.Index != nil {
		var err error
		if at, err = r.run.Index.Add(row, r); err != nil {
			return err
		}
	}
	if r.run.Dialect == Legacy {
		r.runID(row)
	}
	r.server = r.server || row.Is(records.Server)
	evidence := row.Evidence != outcome.NoEvidence
	r.run.Evidence.Add(row)
	if r.pairs != nil {
		r.pairs.Add(row)
	}
	if r.tally != nil && !evidence {
		r.count(row)
	}
	if row.File == records.Results {
		r.result(row, at, evidence)
	} else {
		r.failure(row, at, evidence)
	}
	if row.Is(records.NoPersist) && !evidence {
		r.note(row, at, finding.NoPersistSaved)
	}
	return nil
}

// note adds a finding about a row.
func (r *Reader) note(row *records.Row, at int32, id string, values ...value.Member) {
	f := row.At(finding.New(id, r.run.Key, r.run.Place.Path(row.File), values...))
	r.notes = append(r.notes, note{f.Of(string(row.ID)), at, row.File})
}

// runID looks for the run id of a row that should have none.
func (r *Reader) runID(row *records.Row) {
	place := func(id string, values ...value.Member) finding.Finding {
		return row.At(finding.New(id, r.run.Key, r.run.Place.Path(row.File), values...))
	}
	switch {
	case row.Is(records.RunIDUntyped):
		r.blocked = true
		r.notes = append(r.notes, note{place(finding.UntypedCrash, value.M("field", value.Text("_ng_run_id"))), -1, row.File})
		if r.passErrors[row.File] == "" {
			r.passErrors[row.File] = finding.UntypedCrash
		}
	case len(row.RunID) > 0 && string(row.RunID) != "null":
		r.blocked = true
		if r.tagged[row.File].ID == "" {
			r.tagged[row.File] = place(finding.LostManifest)
		}
		v, err := value.Strict(row.RunID)
		if err != nil { // the text of a row is JSON
			return
		}
		if key := string(value.AppendKey([]byte{byte(row.File)}, v)); !r.seenIDs[key] {
			r.seenIDs[key] = true
			r.runIDs[row.File] = append(r.runIDs[row.File], v)
		}
	}
}

// count tells the batch about a row of a run without an index.
func (r *Reader) count(row *records.Row) {
	agent, ok := r.pairs.AgentOf(row)
	if !ok || !row.Keyed() || string(row.Task) == "null" || string(row.Rollout) == "null" {
		return
	}
	pair := records.Pair(row.Task, row.Rollout)
	if row.File == records.Results {
		r.tally.Completed(agent, pair)
		return
	}
	r.tally.Failed(agent, pair, falsyEmpty(string(row.Class)))
}

// falsyEmpty is the name under which a batch counts a class, empty for one that is falsy.
func falsyEmpty(class string) string {
	if class == "" {
		return ""
	}
	if v, err := value.Strict([]byte(class)); err != nil || !v.Truthy() {
		return ""
	}
	return records.ClassName(class)
}

// result notes what a row of the rollouts file tells by itself.
func (r *Reader) result(row *records.Row, at int32, evidence bool) {
	if null(row.Task) || null(row.Rollout) {
		r.unindexed.add(row)
	} else {
		r.indexed++
	}
	if evidence {
		return
	}
	if row.Is(records.Omitted) {
		r.note(row, at, finding.InResults)
	} else if len(row.Class) == 0 {
		switch outcome.MeasurementOf(row.Is(records.Scored), row.Is(records.Masked)) {
		case outcome.Measured:
			r.run.Rows.Measured++
		case outcome.Masked:
			r.run.Rows.Masked++
		default:
			r.run.Rows.Unscored++
		}
	}
	if row.Is(records.Odd) && r.run.Dialect == Manifest {
		r.note(row, at, finding.OddResult)
	}
}

func null(text []byte) bool { return len(text) == 0 || string(text) == "null" }

// failure lists a row of the sidecar and notes what it tells by itself.
func (r *Reader) failure(row *records.Row, at int32, evidence bool) {
	class := string(row.Class)
	text, isText := "", false
	if v, err := value.Strict(row.Class); err == nil {
		text, isText = v.Text()
	}
	intern := func(b []byte) string { return r.names.Text(r.names.Number(b)) }
	r.run.Failures = append(r.run.Failures, Failure{
		Line: row.Line, Offset: row.Offset, ID: r.id(row), Class: intern(row.Class), Evidence: row.Evidence, at: at,
		Terminal: outcome.Terminal(text, row.Is(records.Terminal), false), TerminalOver: outcome.Terminal(text, row.Is(records.Terminal), true),
		Delivery: intern(row.Delivery), Source: intern(row.Source), Stage: intern(row.Stage), Status: intern(row.Status),
		Kind: intern(row.Kind), Reason: intern(row.Reason),
	})
	if row.Is(records.CutReason) {
		r.note(row, at, finding.MessageTruncated)
	}
	if evidence {
		return
	}
	r.run.Classes.Rows[records.ClassName(class)]++
	if name := records.ClassName(class); class != "" && (!isText || outcome.VocabularyOf(text) == outcome.Unregistered) {
		if r.kinds[name] == nil {
			r.kinds[name] = &kind{Finding: row.At(finding.New(finding.UnregisteredKind, r.run.Key, r.run.Place.Failures))}
		}
		r.kinds[name].rows++
	}
	if row.Is(records.Scored) {
		v, err := value.Strict(row.Reward)
		if err == nil {
			r.note(row, at, finding.RewardOnFailure, value.M("reward", v))
		}
	}
	if row.Is(records.ModelFinal) {
		r.final.add(row)
	}
	if r.run.Dialect == Legacy && r.run.Present[records.Inputs] && row.Keyed() && !r.pairs.Expects(row) {
		r.stale = append(r.stale, row.At(finding.New(finding.StaleSidecar, r.run.Key, r.run.Place.Failures,
			value.M("task", parsed(row.Task)), value.M("rollout", parsed(row.Rollout)))))
	}
}

// id keeps the logical id of a row, without a copy if it is that of an expected rollout.
func (r *Reader) id(row *records.Row) string {
	if r.run.Index != nil {
		if id, ok := r.run.Index.ID(row.ID); ok {
			return id
		}
	}
	return string(row.ID)
}

func parsed[T string | []byte](text T) value.Value {
	if len(text) == 0 {
		return value.Null
	}
	v, err := value.Strict([]byte(text))
	if err != nil { // texts come from a writer
		return value.Null
	}
	return v
}

// distinct lists the run ids in the order of the reference: those of the rollouts file before those of the sidecar.
func (r *Reader) distinct() []value.Value {
	list := slices.Clone(r.runIDs[records.Results])
	for _, v := range r.runIDs[records.Failures] {
		if !slices.ContainsFunc(list, func(other value.Value) bool { return value.Equal(v, other) }) {
			list = append(list, v)
		}
	}
	return list
}

// settle gives notes the attempt of their row, and failures their place in the index.
func (r *Reader) settle() {
	run := r.run
	for _, n := range r.notes {
		f := n.Finding
		if run.Index != nil {
			if a, _, ok := run.Index.Holds(n.at, n.file, f.Line); ok {
				f = f.On(a.Number)
			}
		}
		run.Findings = append(run.Findings, f)
	}
	for i := range run.Failures {
		f := &run.Failures[i]
		f.Stored, f.Attempt = false, integer.Int{}
		if run.Index == nil {
			continue
		}
		if a, spent, ok := run.Index.Holds(f.at, records.Failures, f.Line); ok {
			f.Stored, f.Attempt, f.Selected, f.Counted = true, a.Number, a.Selected, spent.Under(run.Settings)
		}
	}
	names := make([]string, 0, len(r.kinds))
	for name := range r.kinds {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		k := r.kinds[name]
		k.Values = []value.Member{value.M("name", value.Text(name)), value.M("rows", value.Int(k.rows))}
		run.Findings = append(run.Findings, k.Finding)
	}
}
