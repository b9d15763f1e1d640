package outcome

import "strings"

// A Vocabulary says where the name of a class comes from.
type Vocabulary string

// The vocabularies.
const (
	Registered   Vocabulary = "registered"   // the reference defines it
	Namespaced   Vocabulary = "namespaced"   // its producer defines it, under a prefix of its own
	Unregistered Vocabulary = "unregistered" // nobody defines it; legal all the same
)

// kinds are the failure kinds that the reference defines; the last two came after 0.7.0.
var kinds = map[string]bool{}

func init() {
	for _, kind := range strings.Fields(`
		transport_unreachable transport_peer_drop transport_timeout transport_local_resource
		agent_run_error agent_request_failed agent_timeout agent_command_not_allowed
		judge_failed judge_unparseable verifier_error
		provider_unavailable provider_quota_exhausted provider_oom_killed
		session_lost session_expired session_release_failed
		cancelled kill_shaped shutdown persistence_failed cohort_incomplete
		environment_server_failed protocol_violation`) {
		kinds[kind] = true
	}
}

// VocabularyOf tells where the name of a class comes from.
func VocabularyOf(class string) Vocabulary {
	if kinds[class] {
		return Registered
	}
	if space, name, found := strings.Cut(class, ":"); found && word(space) && word(name) {
		return Namespaced
	}
	return Unregistered
}

// word tells whether s is a lower-case name.
func word(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c-'a' < 26 || i > 0 && (c-'0' < 10 || c == '_') {
			continue
		}
		return false
	}
	return s != ""
}

// Domain is the part of a class name that groups it with others: what stands before the first underscore, or the
// namespace.
func Domain(class string) string {
	if VocabularyOf(class) == Namespaced {
		space, _, _ := strings.Cut(class, ":")
		return space
	}
	domain, _, _ := strings.Cut(class, "_")
	return domain
}

// A Label explains a class found in sidecars. The explanation never decides anything.
type Label struct {
	Class    string
	Text     string
	Terminal string // whether it is terminal when written
	Since    string
}

// Labels lists the classes whose meaning is known.
var Labels = []Label{
	{"agent_run_error", "The agent server answered with an error status: the rollout ran and broke.", "no", "0.7.0"},
	{"agent_request_failed", "No answer, or one that says the server was busy or away: nothing is known about the rollout.", "no", "0.7.0"},
	{"environment_server_failed", "The environment server reported a failed episode and no kind of its own.", "as reported", "0.7.0"},
	{"protocol_violation", "The reply broke the contract between collector and server.", "mostly", "main"},
	{"judge_failed", "The call of the judge failed; the answer itself may be fine.", "no", "all"},
	{"judge_invalid", "The judge answered, and its verdict cannot be used.", "no", "0.7.0"},
	{"permanent", "The verdict cannot be used and asking again is not worth it.", "yes", "0.7.0"},
	{"timeout_exceeded", "The time limit of the task was reached.", "depends on the agent", "all"},
	{"skipped", "The sample cannot be run.", "yes", "all"},
	{"transient", "Infrastructure broke; worth a retry.", "no", "all"},
	{"legitimate", "The agent's own code broke; worth a retry.", "no", "all"},
	{"incomplete", "The agent left no deliverable.", "no", "all"},
	{"reference_missing", "The environment lacks its reference; it may be repaired between runs.", "yes", "0.7.0"},
	{"eval_missing", "The environment lacks its evaluation; it may be repaired between runs.", "yes", "0.7.0"},
	{"transport_ineligible", "The environment cannot be reached this way; it may be repaired between runs.", "yes", "0.7.0"},
	{"kill_shaped", "The worker died in a way that looks like being killed.", "no", "all"},
	{"cancelled", "The rollout was never started.", "no", "all"},
}

// Skipped is the class of samples that cannot be run.
const Skipped = "skipped"

// retried lists classes that the retry override makes retryable.
var retried = map[string]bool{"timeout_exceeded": true, "reference_missing": true, "eval_missing": true, "transport_ineligible": true}

// Terminal tells whether a failure is not to be retried. flag is whether its row says so; override is the option that
// retries time limits and makes skips final.
func Terminal(class string, flag, override bool) bool {
	switch {
	case !override:
		return flag
	case retried[class]:
		return false
	case class == Skipped:
		return true
	}
	return flag
}

// A Delivery says whether a request reached its server.
const (
	NotSent           = "not_sent"           // it never left
	PossiblyDelivered = "possibly_delivered" // nobody can tell; also of every row without a structured record
	Delivered         = "delivered"          // a reply exists
)

// Spends tells whether a failure takes from the retry budget: without the override, and in addition with it.
func Spends(class string, flag bool, delivery string) (always, overridden bool) {
	if delivery == NotSent {
		return false, false
	}
	return !flag, flag && !Terminal(class, flag, true)
}

// A Measurement says what a completed result contributes.
type Measurement string

// The measurements.
const (
	Measured Measurement = "measured" // a number, 0 included
	Masked   Measurement = "masked"   // a number that must not be taken as a measurement
	Unscored Measurement = "unscored" // no number
)

// MeasurementOf tells what a completed result contributes.
func MeasurementOf(numeric, masked bool) Measurement {
	switch {
	case !numeric:
		return Unscored
	case masked:
		return Masked
	}
	return Measured
}

// An Evidence is what kind of missing result a row is evidence of. Such a row is no attempt and no failure.
type Evidence uint8

// The kinds of evidence.
const (
	NoEvidence   Evidence = iota
	Interrupted           // the rollout ran and was stopped
	NeverStarted          // its turn never came
	Unrouted              // its failure ended the whole run
)

var evidenceNames = [...]string{"", "interrupted", "never_started", "unrouted"}

// String is the name that documents have.
func (e Evidence) String() string { return evidenceNames[e] }

// EvidenceOf reads the marks of a row.
func EvidenceOf(omittedRollout, unrouted, drained bool, class string) Evidence {
	switch {
	case !omittedRollout:
		return NoEvidence
	case unrouted:
		return Unrouted
	case drained || class == "cancelled":
		return NeverStarted
	}
	return Interrupted
}
