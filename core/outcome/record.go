package outcome

import (
	"regexp"

	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/schema"
	"github.com/rollscope/rollscope/core/value"
)

// ReasonLength is the length at which reasons are cut, in code points.
const ReasonLength = 2000

// A Record is a structured failure that passed its schema.
type Record struct {
	RolloutID string
	Attempt   integer.Int
	RunID     string
	Source    string // SourceEnvironment or SourceCollector
	Delivery  string
	Reason    string
	Terminal  bool
	Kind      string // empty if it states none
	Stage     string
}

// The sources of a structured failure.
const (
	SourceEnvironment = "environment"
	SourceCollector   = "collector"
)

// ReadRecord checks a structured failure. It gives faults instead of a record if there are any.
func ReadRecord(v value.Value) (*Record, []schema.Fault) {
	r := &Record{}
	c := schema.Begin(v)
	c.Version("schema_version", 1)
	if episode, ok := c.Object("episode_id", schema.Required); ok {
		if id, ok := episode.Text("rollout_id", schema.Required); ok {
			switch {
			case id == "":
				episode.Fault("rollout_id", schema.TextTooShort)
			case !idShape.MatchString(id):
				episode.Fault("rollout_id", schema.Pattern)
			case reserved.MatchString(id):
				episode.Fault("rollout_id", schema.ValueError)
			}
			r.RolloutID = id
		}
		r.Attempt, _ = episode.Int("attempt", schema.Optional, 0, 0, false)
		episode.End()
	}
	run, ok := c.Text("run_id", schema.Required)
	if ok && run == "" {
		c.Fault("run_id", schema.TextTooShort)
	}
	r.RunID = run
	r.Source, _ = c.Choice("source", schema.Required, false, SourceEnvironment, SourceCollector)
	r.Delivery, _ = c.Choice("delivery", schema.Required, false, NotSent, PossiblyDelivered, Delivered)
	if failure, ok := c.Object("failure", schema.Required); ok {
		r.Reason, _ = failure.Bounded("failure_reason", schema.Required, ReasonLength, false)
		r.Terminal, _ = failure.Bool("terminal", schema.Required)
		r.Kind, _ = failure.TextOrNull("failure_kind")
		r.Stage, _ = failure.Choice("stage", schema.Optional, true, "admission", "seed", "agent", "verification", "cleanup")
		failure.End()
	}
	c.Int("http_status", schema.Optional, 100, 599, true)
	c.Bounded("exception_type", schema.Optional, ReasonLength, true)
	c.End()
	if c.Sound() && r.Source == SourceEnvironment && r.Delivery != Delivered {
		c.Fault("", schema.ValueError)
	}
	if !c.Sound() {
		return nil, c.Faults()
	}
	return r, nil
}

// Class is the class that the row of this record must have.
func (r *Record) Class() string {
	switch {
	case r.Kind != "":
		return r.Kind
	case r.Source == SourceEnvironment:
		return "environment_server_failed"
	}
	return "agent_request_failed"
}

var (
	idShape  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)
	reserved = regexp.MustCompile(`-a[1-9][0-9]*$`)
)

// ValidID tells whether a text can be a logical id: the shape is right, and it does not end like the capture key of a
// retry (spec records §2).
func ValidID[T string | []byte](id T) bool {
	if len(id) == 0 || !alphanumeric(id[0]) {
		return false
	}
	digits := len(id) // where the digits at the end begin
	for digits > 0 && id[digits-1]-'0' < 10 {
		digits--
	}
	for i := 1; i < len(id); i++ {
		if c := id[i]; !alphanumeric(c) && c != '.' && c != '_' && c != '-' {
			return false
		}
	}
	return digits == len(id) || id[digits] == '0' || digits < 2 || id[digits-1] != 'a' || id[digits-2] != '-'
}

func alphanumeric(c byte) bool { return c-'0' < 10 || c|0x20-'a' < 26 }
