package harness

import "fmt"

// The names that reports carry.
const (
	Profile       = "gym-p0/v1"                  // the only profile
	Decoder       = "gym-p0-evidence/v2"         // version of the places that are read
	SummarySchema = "harness-evidence/v1"        // schema_version of a summary
	MatrixSchema  = "harness-evidence-matrix/v1" // schema_version of a matrix
	Surface       = "rollout_jsonl"              // delivery_surface
	Closure       = "not_independently_witnessed"
	Basis         = "retained_artifacts"
	// Checker names the version of these rules. It is part of every report id, so that it changes whenever a result
	// can change.
	Checker = "rollscope-harness/1"
)

// ParseProfile accepts the one profile there is; "" stands for it.
func ParseProfile(name string) error {
	if name != "" && name != Profile {
		return fmt.Errorf("unknown profile %q: there is %s", name, Profile)
	}
	return nil
}

// A Scope says what a harness and its benchmark are expected to have. The zero Scope is the default: tools, a
// verifier and steps, sandbox records not mandatory.
type Scope struct {
	NoTools        bool // no tools are dispatched
	NoVerifier     bool // there is no verifier
	NoSteps        bool // the policy has no steps
	RequireSandbox bool // a saved sandbox record is mandatory
}

// A Kind says how a check judges.
type Kind uint8

// The kinds, in the order in which documents group them.
const (
	Schema     Kind = iota // the shape of one place
	Semantic               // how places fit together
	Behavioral             // the row against what a witness saw
	Health                 // the row against what was expected of its health
	kinds
)

// String gives the kind as reports write it.
func (k Kind) String() string { return [kinds]string{"schema", "semantic", "behavioral", "health"}[k] }

// A Tier says how much a check counts. All checks of this version are P0.
type Tier uint8

// The tiers. P0 is what the gate asks for.
const (
	P0 Tier = iota
	P1
	P2
	tiers
)

// String gives the tier as reports write it.
func (t Tier) String() string { return [tiers]string{"P0", "P1", "P2"}[t] }

// A Status is what came of a check. Statuses recorded for the same check move up in this order.
type Status uint8

// The statuses. There is none for "unknown": what is not demonstrated fails.
const (
	NotApplicable Status = iota
	Pass
	Fail
	statuses
)

// String gives the status as reports write it.
func (s Status) String() string { return [statuses]string{"not_applicable", "pass", "fail"}[s] }

// A Verdict is what rows say together.
type Verdict uint8

// The verdicts. A whole record or batch is Fulfilled or NotFulfilled.
const (
	NoVerdict Verdict = iota // not applicable
	Fulfilled
	NotFulfilled
	verdicts
)

// String gives the verdict as reports write it.
func (v Verdict) String() string {
	return [verdicts]string{"not_applicable", "fulfilled", "not_fulfilled"}[v]
}

// Word gives the verdict as the cells of a matrix write it.
func (v Verdict) Word() string { return [verdicts]string{"N/A", "PASS", "FAIL"}[v] }

func fulfilled(ok bool) Verdict {
	if ok {
		return Fulfilled
	}
	return NotFulfilled
}
