package recovery

import (
	"regexp"

	"github.com/rollscope/rollscope/core/finding"
	"github.com/rollscope/rollscope/core/records"
	"github.com/rollscope/rollscope/core/store"
	"github.com/rollscope/rollscope/core/value"
)

// A Current holds the digests of what a resume would use now. An empty one is unknown and differs.
type Current struct {
	Source, Materialized, Config string
}

// A Given is what the caller knows besides the folder.
type Given struct {
	Current *Current // nil if unknown
	Source  string   // digest of the dataset, empty if it was not given
	Config  *Config  // nil if it was not given
}

// Check holds a manifest against the materialized inputs, nil if there are none, and what else is given (spec recovery
// §5). refused lists the findings for which a resume refuses, in its order.
func Check(m *store.Manifest, in *store.Inputs, given Given, place records.Place) (list []finding.Finding, refused []string) {
	add := func(id string, refuses bool, values ...value.Member) {
		list = append(list, finding.New(id, place.Run, place.Manifest, values...))
		if refuses {
			refused = append(refused, id)
		}
	}
	fatal := in != nil && in.Refused()
	if fatal {
		list = append(list, finding.New(finding.Unreadable, place.Run, place.Inputs))
		refused = append(refused, finding.Unreadable)
	}
	if m.Imported {
		add(finding.LegacyIdentity, !fatal)
	}
	if m.Overridden {
		add(finding.OverriddenIdentity, !fatal)
	}
	if in != nil {
		if derived := in.Resume(); derived != "" && derived != m.Materialized {
			add(finding.SavedInputs, !fatal, value.M("saved", value.Text(m.Materialized)), value.M("derived", value.Text(derived)))
		}
	}
	if given.Current == nil {
		add(finding.CurrentUnknown, false)
	} else {
		differs := func(id, saved, current string) {
			if saved != current {
				add(id, !fatal, value.M("saved", value.Text(saved)), value.M("current", value.TextOrNull(current)))
			}
		}
		differs(finding.SourceDataset, m.Source, given.Current.Source)
		differs(finding.CurrentInputs, m.Materialized, given.Current.Materialized)
		differs(finding.Configuration, m.Config, given.Current.Config)
	}
	if in != nil && in.Disagree() {
		list = append(list, finding.New(finding.ReaderDisagreement, place.Run, place.Inputs,
			value.M("record_reader", value.TextOrNull(in.Record())), value.M("resume_check", value.TextOrNull(in.Resume()))))
	}
	return list, refused
}

var runID = regexp.MustCompile(`^[0-9a-f]{32}$`)

// Remarks says what a manifest alone tells: its run id, the dataset and the configuration.
func Remarks(m *store.Manifest, given Given, place records.Place) []finding.Finding {
	var list []finding.Finding
	add := func(id string, values ...value.Member) {
		list = append(list, finding.New(id, place.Run, place.Manifest, values...))
	}
	both := func(saved, derived string) []value.Member {
		return []value.Member{value.M("saved", value.Text(saved)), value.M("derived", value.Text(derived))}
	}
	if !runID.MatchString(m.RunID) {
		add(finding.RunIDShape, value.M("run_id", value.Text(m.RunID)))
	}
	if given.Source != "" && m.Source != store.Unverified {
		if given.Source == m.Source {
			add(finding.SourceMatch)
		} else {
			add(finding.SourceMismatch, both(m.Source, given.Source)...)
		}
	}
	if given.Config == nil || m.Config == store.Unverified {
		add(finding.ConfigOpaque)
		return list
	}
	digest, missing, ok := given.Config.Digest()
	switch {
	case len(missing) > 0:
		for _, server := range missing {
			add(finding.ConfigMissingServer, value.M("server", value.Text(server)))
		}
	case !ok:
		add(finding.ConfigUnverifiable)
	case digest == m.Config:
		add(finding.ConfigMatch)
	default:
		add(finding.ConfigMismatch, both(m.Config, digest)...)
	}
	return list
}

// Gap names the rollouts of which attempts were reserved behind the last outcome; ok is false if there are none.
func Gap(ix *records.Index, place records.Place) (f finding.Finding, ok bool) {
	gaps := []value.Member{}
	ix.Gaps(func(id string, gap count) { gaps = append(gaps, value.M(id, value.Whole(gap))) })
	if len(gaps) == 0 {
		return f, false
	}
	return finding.New(finding.Gap, place.Run, place.Manifest, value.M("rollouts", value.Object(gaps...).Sorted())), true
}

// An Outcome is what a resume would do with a folder.
type Outcome string

// The outcomes.
const (
	Fresh   Outcome = "fresh"   // it starts, nothing is here
	Restart Outcome = "restart" // it starts afresh and deletes what is here
	Refused Outcome = "refused"
	Resumes Outcome = "resumes"
)

// A Presence says which files of a run are there.
type Presence struct {
	Journal, Manifest, Inputs, Results, Failures bool
}

// A Decision is what a resume would do, and the findings for which it refuses.
type Decision struct {
	Outcome Outcome
	Codes   []string
}

// Decide follows the table of spec recovery §6. refused are the findings of the check of a readable manifest,
// firstError is where loading stops; unreadable tells that the manifest has faults.
func Decide(p Presence, unreadable bool, refused []string, firstError string) Decision {
	missing := []string{}
	if !p.Inputs {
		missing = append(missing, finding.MissingMaterialized)
	}
	if !p.Results {
		missing = append(missing, finding.MissingOutput)
	}
	if !p.Failures {
		missing = append(missing, finding.MissingFailures)
	}
	switch {
	case p.Journal:
		return Decision{Refused, []string{finding.DraftJournal}}
	case !p.Manifest && !p.Inputs && !p.Results && !p.Failures:
		return Decision{Fresh, []string{}}
	case !p.Manifest && (!p.Inputs || !p.Results):
		return Decision{Restart, []string{}}
	case p.Manifest && len(missing) > 0:
		return Decision{Refused, missing}
	case !p.Manifest:
		return Decision{Refused, []string{finding.NoManifest}}
	case unreadable:
		return Decision{Refused, []string{finding.UnreadableManifest}}
	case len(refused) > 0:
		return Decision{Refused, refused}
	case firstError != "":
		return Decision{Refused, []string{firstError}}
	}
	return Decision{Resumes, []string{}}
}
