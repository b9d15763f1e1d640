package records

import (
	"errors"
	"slices"

	"github.com/rollscope/rollscope/core/finding"
	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/outcome"
	"github.com/rollscope/rollscope/core/schema"
	"github.com/rollscope/rollscope/core/store"
	"github.com/rollscope/rollscope/core/value"
)

// A Place names the run and its files in findings.
type Place struct {
	Run                                 string
	Inputs, Failures, Results, Manifest string
}

// Path is the path of a file.
func (p *Place) Path(f File) string { return [...]string{p.Inputs, p.Failures, p.Results}[f] }

// Saved gives a saved row once more. An error ends what was being done without a trace; the caller may do it again.
type Saved interface {
	Saved(file File, offset, length int64) (value.Value, error)
}

// ErrChanged says that the bytes of an indexed row are no longer that row.
var ErrChanged = errors.New("row changed after it was indexed")

// An Index holds the expected rollouts of a run and their outcomes. Findings are those about single rows, in the order
// in which rows came.
type Index struct {
	Findings   []finding.Finding
	FirstError string // id of the first finding at which the reference stops
	Duplicates []Duplicate

	place    Place
	manifest *store.Manifest // nil for a run without one
	imported bool            // rows may lack a run id
	next     map[string]integer.Int
	started  bool // rows of the other files have come

	rollouts pages[rollout]
	byID     map[string]int32
	outcomes pages[stand]
	odd      map[int32][2]string  // JSON of both indices of rollouts whose id does not hold them
	more     map[attemptKey]int32 // outcomes that are not the first of their rollout
	wide     map[string]int32     // those whose attempt fits no int64, by rollout and attempt
	counters map[int32]integer.Int
	names    *Names
}

// A rollout is one expected rollout.
type rollout struct {
	id            string
	line          int64
	next, latest  integer.Int
	agent         int32 // name, or noAgent
	split         int32 // where the id, made of two numbers, has its dash; 0 if it is made of something else
	counted, over int32 // failures that spend budget; those that do so in addition under the override
	first, last   int32 // outcomes, −1 for none
	routable      bool
	reserved, has bool // has a reservation; has a latest attempt
}

// A stand is one stored outcome.
type stand struct {
	rollout              int32
	after                int32 // next outcome of the rollout, −1 for none
	file                 File
	assigned             bool // the attempt is not in the row
	spends, overridden   bool
	flags                Flags
	line, offset, length int64
	attempt              integer.Int
	class, reason, agent int32
	elapsed              float64
}

type attemptKey struct {
	rollout int32
	attempt int64
}

// A Duplicate is a row that repeats the outcome of an attempt.
type Duplicate struct {
	File, FirstFile       File
	Line, Offset, FirstAt int64 // FirstAt is the line of the one that was there before
	Rollout               string
	Attempt               integer.Int
}

// NewIndex makes the index of a run. Without a manifest the run is imported: attempts are numbered as they come. names
// may be shared with others.
func NewIndex(m *store.Manifest, place Place, names *Names) *Index {
	ix := &Index{
		place: place, manifest: m, imported: m == nil || m.Imported, byID: map[string]int32{}, odd: map[int32][2]string{},
		more: map[attemptKey]int32{}, wide: map[string]int32{}, counters: map[int32]integer.Int{}, names: names,
	}
	return ix
}

// Expect takes the next row of the materialized inputs. stored tells whether it is an expected rollout: it has a valid
// id that no row before it has.
func (ix *Index) Expect(row *Row) (stored bool) {
	switch i, there := ix.byID[string(row.ID)]; {
	case len(row.ID) == 0:
		ix.refuse(row, row.IdentityFault(), false)
		return false
	case there:
		ix.refuse(row, finding.DuplicateIdentity, true, value.M("first_line", value.Int(ix.rollouts.at(i).line)))
		return false
	}
	id := string(row.ID)
	r := rollout{id: id, line: row.Line, routable: row.Is(Routable), agent: noAgent, first: -1, last: -1}
	n := len(row.Task)
	if n > 0 && n+1+len(row.Rollout) == len(id) && id[:n] == string(row.Task) && id[n] == '-' && id[n+1:] == string(row.Rollout) {
		r.split = int32(n)
	} else {
		ix.odd[int32(ix.rollouts.len())] = [2]string{string(row.Task), string(row.Rollout)}
	}
	if row.Is(AgentName) {
		r.agent = ix.names.Number(row.Agent)
	}
	ix.byID[id] = ix.rollouts.add(r)
	return true
}

// indices gives the JSON of the task and rollout index of an expected rollout.
func (ix *Index) indices(i int32) (task, index string) {
	if e := ix.rollouts.at(i); e.split > 0 {
		return e.id[:e.split], e.id[e.split+1:]
	}
	both := ix.odd[i]
	return both[0], both[1]
}

// refuse notes a finding at which the reference stops before it knows the attempt; known tells whether it knows the
// rollout.
func (ix *Index) refuse(row *Row, id string, known bool, values ...value.Member) {
	f := row.At(finding.New(id, ix.place.Run, ix.place.Path(row.File), values...))
	if known {
		f.Rollout = string(row.ID)
	}
	ix.Findings = append(ix.Findings, f)
	ix.Stop(id)
}

// Stop says that the reference stops here, with the finding id.
func (ix *Index) Stop(id string) {
	if ix.FirstError == "" {
		ix.FirstError = id
	}
}

// start applies the reservations, once all expected rows are known.
func (ix *Index) start() {
	if ix.started {
		return
	}
	ix.started = true
	if ix.manifest == nil {
		return
	}
	var unknown []string
	for _, r := range ix.manifest.Reserved {
		i, ok := ix.byID[r.ID]
		if !ok {
			unknown = append(unknown, r.ID)
			continue
		}
		e := ix.rollouts.at(i)
		e.reserved, e.has = true, true
		e.next, e.latest = r.Next, r.Next.Add(integer.Of(-1))
	}
	// A million reservations are not kept twice.
	m := *ix.manifest
	m.Reserved = nil
	ix.manifest = &m
	if len(unknown) > 0 {
		slices.Sort(unknown)
		ix.Findings = append(ix.Findings, finding.New(finding.UnknownReservation, ix.place.Run, ix.place.Manifest, value.M("rollouts", value.Texts(unknown))))
		ix.Stop(finding.UnknownReservation)
	}
}

// Add takes the next row of the sidecar or of the rollouts file: first all of the sidecar, then all of the other.
// at is the number of the outcome that the row has become, −1 if it was not stored. An error comes from saved; the row
// may be added again.
func (ix *Index) Add(row *Row, saved Saved) (at int32, err error) {
	ix.start()
	if row.Evidence != outcome.NoEvidence {
		return -1, nil
	}
	untagged := ix.imported && len(row.RunID) == 0
	if !untagged && (row.File == Results) == (len(row.Class) > 0) {
		ix.refuse(row, finding.WrongArtifact, len(row.ID) > 0, value.M("class", echo(row.Class)))
		return -1, nil
	}
	i, attempt, ok := ix.locate(row, untagged)
	if !ok {
		return -1, nil
	}
	found := ix.find(i, attempt)
	other, this, err := ix.pair(found, row, attempt, untagged, saved)
	if err == nil && found >= 0 && untagged && !value.Equal(other, this) {
		// The number is taken, so the row gets one behind it.
		attempt = later(ix.counters[i], attempt)
		found = ix.find(i, attempt)
		other, this, err = ix.pair(found, row, attempt, untagged, saved)
	}
	if err != nil {
		return -1, err
	}
	if untagged {
		ix.counters[i] = later(ix.counters[i], attempt)
	}
	if found >= 0 && row.File == Results && outcome.Migrated(this, other) {
		ix.migrated(row, untagged, found, attempt)
		return -1, nil
	}
	if !ix.check(row, i, attempt, untagged) {
		return -1, nil
	}
	if found >= 0 && !value.Equal(other, this) {
		o := ix.outcomes.at(found)
		ix.note(row, finding.ConflictingOutcome, attempt,
			value.M("first_file", value.Text(ix.place.Path(o.file))), value.M("first_line", value.Int(o.line)))
		ix.Stop(finding.ConflictingOutcome)
		return -1, nil
	}
	if field := crash(row); field != "" {
		ix.note(row, finding.UntypedCrash, attempt, value.M("field", value.Text(field)))
		ix.Stop(finding.UntypedCrash)
		return -1, nil
	}
	return ix.store(row, i, attempt, untagged, found), nil
}

// later is the greater of a counter and the number behind an attempt.
func later(counter, attempt integer.Int) integer.Int {
	if next := attempt.Add(integer.Of(1)); next.Cmp(counter) > 0 {
		return next
	}
	return counter
}

// content is what is compared of a row: with the attempt it was assigned, if it was.
func content(v value.Value, assigned bool, attempt integer.Int) value.Value {
	if assigned {
		return v.With("_ng_attempt_index", value.Whole(attempt))
	}
	return v
}

func crash(row *Row) string {
	switch {
	case row.Is(PlainResponse):
		return "response"
	case row.Is(PlainMetadata):
		return "response.metadata"
	}
	return ""
}

// locate finds the rollout and the attempt of a row (check K of the spec).
func (ix *Index) locate(row *Row, untagged bool) (i int32, attempt integer.Int, ok bool) {
	if len(row.ID) == 0 {
		ix.refuse(row, row.IdentityFault(), false)
		return 0, attempt, false
	}
	if i, ok = ix.byID[string(row.ID)]; !ok {
		ix.refuse(row, finding.NotExpected, true)
		return 0, attempt, false
	}
	if attempt, ok = row.AttemptNumber(); !ok {
		ix.refuse(row, finding.BadAttempt, true, value.M("value", echo(row.Attempt)))
		return 0, attempt, false
	}
	if untagged && len(row.Attempt) == 0 {
		attempt = ix.counters[i]
	}
	task, rollout := ix.indices(i)
	for _, index := range [...]struct {
		field    string
		expected string
		saved    []byte
	}{{"_ng_task_index", task, row.Task}, {"_ng_rollout_index", rollout, row.Rollout}} {
		if index.expected != string(index.saved) && key([]byte(index.expected)) != key(index.saved) {
			ix.note(row, finding.IndexMismatch, attempt, value.M("field", value.Text(index.field)),
				value.M("expected", echo([]byte(index.expected))), value.M("saved", echo(index.saved)))
			ix.Stop(finding.IndexMismatch)
			return 0, attempt, false
		}
	}
	return i, attempt, true
}

// note adds a finding about a row whose attempt is known.
func (ix *Index) note(row *Row, id string, attempt integer.Int, values ...value.Member) {
	f := row.At(finding.New(id, ix.place.Run, ix.place.Path(row.File), values...))
	ix.Findings = append(ix.Findings, f.Of(string(row.ID)).On(attempt))
}

// sameRun is check R of the spec.
func (ix *Index) sameRun(row *Row, attempt integer.Int, untagged bool) bool {
	if untagged {
		return true
	}
	expected := value.Null // of an imported run, whose id nobody knows
	if ix.manifest != nil {
		expected = value.Text(ix.manifest.RunID)
		if v := parsed(row.RunID); v.Is(ix.manifest.RunID) {
			return true
		}
	}
	ix.note(row, finding.ForeignRun, attempt, value.M("expected", expected), value.M("saved", echo(row.RunID)))
	ix.Stop(finding.ForeignRun)
	return false
}

// check makes the checks R, F and A of the spec.
func (ix *Index) check(row *Row, i int32, attempt integer.Int, untagged bool) bool {
	if !ix.sameRun(row, attempt, untagged) {
		return false
	}
	if row.Is(Recorded) {
		if len(row.Faults) > 0 {
			ix.note(row, finding.BadFailureRecord, attempt, value.M("errors", schema.Value(row.Faults)))
			ix.Stop(finding.BadFailureRecord)
			return false
		}
		if fields := ix.disagreement(row, attempt); len(fields) > 0 {
			ix.note(row, finding.InconsistentFailureRecord, attempt, value.M("fields", value.Texts(fields)))
			ix.Stop(finding.InconsistentFailureRecord)
			return false
		}
	}
	if e := ix.rollouts.at(i); !untagged && attempt.Cmp(e.next) >= 0 {
		ix.note(row, finding.UnreservedAttempt, attempt, value.M("reserved", value.Whole(e.next)))
		ix.Stop(finding.UnreservedAttempt)
		return false
	}
	return true
}

// disagreement lists in what a structured failure and its row differ (spec outcomes §3).
func (ix *Index) disagreement(row *Row, attempt integer.Int) []string {
	var fields []string
	if ix.manifest == nil || string(row.RecordRun) != ix.manifest.RunID {
		fields = append(fields, "run_id")
	}
	if string(row.RecordID) != string(row.ID) || row.RecordAttempt.Cmp(attempt) != 0 {
		fields = append(fields, "episode_id")
	}
	if !parsed(row.Class).Is(string(row.RecordClass)) {
		fields = append(fields, "class")
	}
	if row.Is(Terminal) != row.Is(RecordFinal) {
		fields = append(fields, "terminal")
	}
	return fields
}

// migrated handles the row of a migration that stopped half way: it is ignored.
func (ix *Index) migrated(row *Row, untagged bool, found int32, attempt integer.Int) {
	if ix.sameRun(row, attempt, untagged) {
		ix.note(row, finding.MigrationPair, attempt, value.M("failure_line", value.Int(ix.outcomes.at(found).line)))
	}
}

// pair reads the row stored for an attempt and the one at hand again, as they are compared. Both are absent if none is
// stored.
func (ix *Index) pair(found int32, row *Row, attempt integer.Int, untagged bool, saved Saved) (other, this value.Value, err error) {
	if found < 0 {
		return other, this, nil
	}
	o := ix.outcomes.at(found)
	if other, err = saved.Saved(o.file, o.offset, o.length); err != nil {
		return other, this, err
	}
	if this, err = saved.Saved(row.File, row.Offset, row.Length); err != nil {
		return other, this, err
	}
	if !ix.still(found, other) {
		ix.changed(found)
		return value.Value{}, content(this, untagged, attempt), nil
	}
	return content(other, o.assigned, attempt), content(this, untagged, attempt), nil
}

// changed notes that a stored row is no longer what it was.
func (ix *Index) changed(found int32) {
	o := ix.outcomes.at(found)
	f := finding.New(finding.ChangedAfterIndex, ix.place.Run, ix.place.Path(o.file)).At(o.line, o.offset)
	f = f.Of(ix.rollouts.at(o.rollout).id).On(o.attempt)
	for i := range ix.Findings {
		if finding.Compare(ix.Findings[i], f) == 0 {
			return
		}
	}
	ix.Findings = append(ix.Findings, f)
	ix.Stop(finding.ChangedAfterIndex)
}

// still tells whether a row that was read again is the stored outcome: run, logical id and attempt are as indexed.
func (ix *Index) still(found int32, v value.Value) bool {
	o := ix.outcomes.at(found)
	if !v.IsObject() {
		return false
	}
	text := v.Append(nil, value.Canonical)
	span, err := new(jsonscan.Scanner).Scan(text)
	if err != nil {
		return false
	}
	row := new(Reader).Read(span, o.file, o.line, o.offset, o.length)
	attempt, ok := row.AttemptNumber()
	untagged := ix.imported && len(row.RunID) == 0
	tagged := ix.manifest != nil && parsed(row.RunID).Is(ix.manifest.RunID)
	return ok && string(row.ID) == ix.rollouts.at(o.rollout).id && (untagged || tagged) &&
		(o.assigned && untagged || attempt.Cmp(o.attempt) == 0)
}

// find gives the outcome stored for an attempt, −1 if there is none.
func (ix *Index) find(i int32, attempt integer.Int) int32 {
	first := ix.rollouts.at(i).first
	if first < 0 || ix.outcomes.at(first).attempt.Cmp(attempt) == 0 {
		return first
	}
	if ix.outcomes.at(first).after < 0 {
		return -1
	}
	if n, small := attempt.Int64(); small {
		if at, ok := ix.more[attemptKey{i, n}]; ok {
			return at
		}
		return -1
	}
	if at, ok := ix.wide[wideKey(i, attempt)]; ok {
		return at
	}
	return -1
}

func wideKey(i int32, attempt integer.Int) string {
	return string(attempt.Append(append(integer.Of(int64(i)).Append(nil), '-')))
}

// store stores an outcome, in place of an equal one if there is one.
func (ix *Index) store(row *Row, i int32, attempt integer.Int, untagged bool, found int32) int32 {
	e := ix.rollouts.at(i)
	if !e.has || attempt.Cmp(e.latest) > 0 {
		e.latest, e.has = attempt, true
	}
	o := stand{
		rollout: i, after: -1, file: row.File, assigned: untagged, flags: row.Flags, line: row.Line, offset: row.Offset, length: row.Length,
		attempt: attempt, class: ix.names.Number(row.Class), reason: ix.names.Number(row.Reason), agent: noAgent, elapsed: row.Elapsed,
	}
	switch {
	case row.Is(AgentName):
		o.agent = ix.names.Number(row.Agent)
	case row.Is(AgentRef):
		o.agent = badAgent
	}
	if found >= 0 {
		before := ix.outcomes.at(found)
		ix.Duplicates = append(ix.Duplicates, Duplicate{
			File: row.File, Line: row.Line, Offset: row.Offset, FirstFile: before.file, FirstAt: before.line, Rollout: e.id, Attempt: attempt,
		})
		o.after, o.spends, o.overridden = before.after, before.spends, before.overridden
		*before = o
		return found
	}
	if len(row.Class) > 0 {
		class, _ := parsed(row.Class).Text()
		o.spends, o.overridden = outcome.Spends(class, row.Is(Terminal), delivery(row))
		if o.spends {
			e.counted++
		}
		if o.overridden {
			e.over++
		}
	}
	at := ix.outcomes.add(o)
	if e.first < 0 {
		e.first = at
	} else {
		ix.outcomes.at(e.last).after = at
		if n, small := attempt.Int64(); small {
			ix.more[attemptKey{i, n}] = at
		} else {
			ix.wide[wideKey(i, attempt)] = at
		}
	}
	e.last = at
	return at
}

// The numbers of names that are none.
const (
	noAgent  = -1 // the row names no agent, so that of the inputs counts
	badAgent = -2 // the row names an agent in a shape that is none
)

func delivery(row *Row) string {
	text, _ := parsed(row.Delivery).Text()
	return text
}
