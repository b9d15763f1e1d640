package verify

import (
	"github.com/rollscope/rollscope/core/batch"
	"github.com/rollscope/rollscope/core/finding"
	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/omitted"
	"github.com/rollscope/rollscope/core/outcome"
	"github.com/rollscope/rollscope/core/records"
	"github.com/rollscope/rollscope/core/recovery"
	"github.com/rollscope/rollscope/core/schema"
	"github.com/rollscope/rollscope/core/store"
)

// A Report is what is known of a list of files.
type Report struct {
	Files     []FileInfo      // by path
	Runs      []*RunReport    // by key
	Manifests []BatchManifest // by path
	Findings  []finding.Finding
}

// Find gives the run with a key, nil if there is none.
func (r *Report) Find(key string) *RunReport {
	for _, run := range r.Runs {
		if run.Key == key {
			return run
		}
	}
	return nil
}

// A FileInfo says what one file is.
type FileInfo struct {
	Path    string
	Role    string // spec run-commands §2
	Run     string // key, empty if it belongs to no run
	Bytes   int64
	Account *store.Account // of results, failures and inputs
}

// A Dialect says by which rules a run is read.
type Dialect string

// The dialects.
const (
	Auto     Dialect = ""         // with a run manifest the one, without the other
	Legacy   Dialect = "legacy"   // versions 0.5.1 and 0.7.0
	Manifest Dialect = "manifest" // versions with a run manifest
)

// A Reading says what the index of a run was made from.
type Reading string

// The readings.
const (
	ByManifest Reading = "manifest"
	Imported   Reading = "imported" // no manifest: attempts are numbered as they come
	NoIndex    Reading = "none"
)

// A RunReport is what is known of one run.
type RunReport struct {
	Key     string // directory and stem
	Output  string // path of the rollouts file, empty if it is missing
	Place   records.Place
	Dialect Dialect
	Reading Reading

	RunID    string // of the manifest, if HasRunID
	HasRunID bool

	FirstError string // id of the finding at which the reference stops, empty if it opens the run
	Reliable   bool   // there is an index and the reference opens the run
	Resume     recovery.Decision
	Digests    Digests
	Settings   records.Settings // in force

	Accounts [3]store.Account // by records.File
	Present  [3]bool
	Rows     Measurements // of the rollouts file, row by row, whatever speaks for a rollout

	Index    *records.Index    // nil without one
	Coverage *records.Coverage // nil without an index
	Zeros    records.Zeros
	Legacy   *records.Legacy // of legacy runs
	Saved    *records.SavedCoverage
	Check    records.CoverageCheck // of Saved

	Failures []Failure
	Classes  Classes
	Evidence *omitted.Evidence

	Findings []finding.Finding // about this run, in order

	Batch BatchReport
}

// Omissions walks the expected rollouts without a result, in the order of the inputs.
func (r *RunReport) Omissions(f func(omitted.Omission)) {
	switch {
	case r.Dialect == Legacy && r.Present[records.Inputs]:
		omitted.Paired(r.Legacy, r.Settings, r.Evidence, f)
	case r.Dialect != Legacy && r.Index != nil:
		omitted.Indexed(r.Index, r.Settings, r.Evidence, f)
	}
}

// Numbers are the sums of the legacy reading.
func (r *RunReport) Numbers() records.Numbers { return r.Legacy.Numbers(r.Settings) }

// Pending lists what a resume would run.
func (r *RunReport) Pending() []records.Pending {
	if r.Index == nil {
		return []records.Pending{}
	}
	return r.Index.Pending(r.Settings)
}

// Measurements count rows of the rollouts file by what they contribute. Rows with a failure class, a mark of omission
// or evidence contribute nothing.
type Measurements struct {
	Measured, Masked, Unscored int64
}

// Digests are the digests of a run; empty ones are unknown or not defined.
type Digests struct {
	Materialized       string // by the reader of rows
	MaterializedResume string // by the check before a resume
	MaterializedSaved  string // the three of the manifest
	SourceSaved        string
	ConfigSaved        string
}

// A Failure is one row of the failures sidecar.
type Failure struct {
	Line, Offset                    int64
	ID                              string      // empty if there is none that is valid
	Attempt                         integer.Int // if Stored
	Class                           string      // JSON, empty for none
	Evidence                        outcome.Evidence
	Terminal, TerminalOver          bool   // not to be retried; so under the override
	Delivery, Source, Stage, Status string // JSON, empty for null
	Kind                            string // stated kind, empty for none
	Reason                          string
	Stored                          bool // the index holds this very row
	Counted                         bool // its attempt spent budget
	Selected                        bool // it speaks for its rollout

	at int32 // outcome in the index, −1 for none
}

// Classes count failures by class; a class that is no text stands as its JSON.
type Classes struct {
	Rows     map[string]int64 // sidecar rows, without evidence
	Selected map[string]int64 // rollouts that failed
}

// A BatchManifest is a batch manifest that was found or given.
type BatchManifest struct {
	Path   string
	SHA256 string // empty if it could not be read
	Result batch.Result
	Faults []schema.Fault
	Run    string // key of the run it belongs to, empty for none

	manifest *batch.Manifest
	dir      string
	outside  bool // it does not lie in the folder
	status   *File
}

// A BatchReport is what is known of a run as part of a batch.
type BatchReport struct {
	Observation *batch.Observation // nil without inputs, or if it was not asked for
	Manifest    string             // path of the batch manifest, empty for none
	Members     []batch.StatusMember
	StatusPath  string // path of the saved status, empty for none
	Status      batch.StatusCheck

	tally *batch.Tally // of a run without an index
}
