package store

import (
	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/schema"
	"github.com/rollscope/rollscope/core/value"
)

// A Manifest is the identity of a run and its reservations of attempts (spec recovery §2).
type Manifest struct {
	RunID        string
	Source       string // digest of the dataset, or Unverified
	Materialized string // digest of the materialized inputs
	Config       string // digest of the configuration, or Unverified
	Imported     bool   // made for a run that had no manifest
	Overridden   bool   // a mismatch was accepted deliberately
	Reserved     []Reservation
}

// A Reservation says which attempt of a rollout is the next that was not reserved yet; it is at least 1.
type Reservation struct {
	ID   string
	Next integer.Int
}

const (
	// Unverified stands for a digest that was never computed.
	Unverified = "unverified"
	// Schema is the format of manifests and coverage files that is read.
	Schema = 2
	// Policy is the rule by which one attempt speaks for a rollout.
	Policy = "latest_allocated"

	// manifestDepth counts the document itself and the containers that may be nested in it.
	manifestDepth = 201
)

// ReadManifest reads the text of a manifest. It gives faults instead of a manifest if there are any.
func ReadManifest(text []byte) (*Manifest, []schema.Fault) {
	document, err := value.Parse(text, value.Leniency{Depth: manifestDepth})
	if err != nil {
		return nil, []schema.Fault{{Type: schema.JSONInvalid}}
	}
	m := &Manifest{}
	c := schema.Begin(document)
	c.Version("schema_version", Schema)
	c.Choice("selection_policy", schema.Optional, false, Policy)
	c.Map("next_attempt", schema.Optional, func(id string, v value.Value) {
		next, _ := v.Whole()
		switch {
		case v.Kind() != jsonscan.Int:
			c.Fault("next_attempt."+id, schema.IntType)
		case next.Sign() <= 0:
			c.Fault("next_attempt."+id, schema.TooSmall)
		default:
			m.Reserved = append(m.Reserved, Reservation{id, next})
		}
	})
	m.RunID, _ = c.Text("run_id", schema.Required)
	m.Source, _ = c.Text("source_digest", schema.Required)
	m.Materialized, _ = c.Text("materialized_digest", schema.Required)
	m.Config, _ = c.Text("config_digest", schema.Required)
	m.Imported, _ = c.Bool("legacy_import", schema.Optional)
	m.Overridden, _ = c.Bool("identity_overridden", schema.Optional)
	c.End()
	if !c.Sound() {
		return nil, c.Faults()
	}
	return m, nil
}
