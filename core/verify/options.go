package verify

import (
	"strings"

	"github.com/rollscope/rollscope/core/records"
	"github.com/rollscope/rollscope/core/recovery"
	"github.com/rollscope/rollscope/core/schema"
	"github.com/rollscope/rollscope/core/source"
	"github.com/rollscope/rollscope/core/store"
	"github.com/rollscope/rollscope/core/value"
)

// A File is one file of a folder: its path below the folder, with "/" between names, and its bytes.
type File struct {
	Path   string
	Source source.Source
}

// A GivenManifest is a batch manifest that was named, whether it lies in the folder or not. Status is the status
// document beside it, nil if there is none.
type GivenManifest struct {
	File
	Status *File
}

// Options say how folders are read and what else is known. The zero value reads them as they are.
type Options struct {
	MaxAttempts int64 // limit of counted failures; 0 for that of the saved coverage
	Override    *bool // retry time limits; nil for what the saved coverage says
	Dialect     Dialect
	Source      string            // digest of the dataset, empty if it is not known
	Current     *recovery.Current // digests of what a resume would use
	Config      *recovery.Config
	Manifests   []GivenManifest
	Only        string // path of a file; of the runs, only the one it belongs to is read
	Observe     bool   // observe the inputs for a batch even if there is no batch manifest
	Progress    func(bytes int64)

	// Scanned gives the rows of a rollouts file, by its number in the list, if they were read already; the file itself
	// is read then only where rows must be compared whole. It may be nil, and so may what it gives.
	Scanned func(file int) Scanned

	batches bool // some batch manifest can be read
}

// Scanned is a rollouts file whose rows were read elsewhere. Each calls f for every row and every line that is no row,
// in the order of the file, one of the two being nil, and ends with the first error. Account takes all of them for rows.
type Scanned interface {
	Account() store.Account
	Each(f func(row *records.Row, fault *store.Fault) error) error
}

// settings are those in force for a run.
func (o *Options) settings(saved *records.SavedCoverage) records.Settings {
	s := saved.Settings()
	if o.MaxAttempts > 0 {
		s.MaxAttempts = o.MaxAttempts
	}
	if o.Override != nil {
		s.Override = *o.Override
	}
	return s
}

func (o *Options) given(config *recovery.Config) recovery.Given {
	return recovery.Given{Current: o.Current, Source: o.Source, Config: config}
}

func faultValues(faults []schema.Fault) value.Value { return schema.Value(faults) }

// journalPath is where the attempt journal of a run stands, beside its manifest.
func journalPath(p records.Place) string {
	return strings.TrimSuffix(p.Manifest, "_manifest.json") + "_attempts.jsonl"
}
