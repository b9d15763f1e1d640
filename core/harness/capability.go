package harness

import "math/bits"

// A Capability is a promise about what a saved rollout lets its reader do.
type Capability uint8

// The capabilities. The zero Capability is none.
const (
	ModelCallStatus Capability = 1 + iota
	TokenCounts
	Steps
	History
	ToolRecord
	VerifierOutcome
	Payloads
	RunJoin
	StepJoin

	capabilities = int(StepJoin) // how many there are
)

var capabilityTable = [capabilities + 1]struct{ label, name, text string }{
	ModelCallStatus: {"TE-1", "model_call_status", "Every model call is identified, with its server, its protocol, when it began and ended, and how it ended."},
	TokenCounts:     {"TE-2", "token_counts", "The normalised token counts that a call has are whole numbers that can be trusted."},
	Steps:           {"TE-3", "steps", "The steps of the policy can be walked: whose they are, their number, their time, and whether the task was resolved."},
	History:         {"TE-4", "history", "What went into the model and what came out is there in order, without media or earlier history that cannot be read."},
	ToolRecord:      {"TE-5", "tool_record", "It is recorded which tools ran, what was asked of them, how they ended and what they gave back."},
	VerifierOutcome: {"TE-6", "verifier_outcome", "The grade is there, and whether it is a measurement that counts. What became of sandboxes is reported here too."},
	Payloads:        {"TE-7", "payloads", "The bodies of requests, responses and errors are stored."},
	RunJoin:         {"TE-8", "run_join", "Every model call belongs to exactly one invocation."},
	StepJoin:        {"TE-9", "step_join", "Every model call of the policy belongs to exactly one step."},
}

// Label gives the short name, such as TE-1.
func (c Capability) Label() string { return capabilityTable[c].label }

// String gives the long name, such as model_call_status.
func (c Capability) String() string { return capabilityTable[c].name }

// Text says in a sentence what a reader can do where the capability is fulfilled.
func (c Capability) Text() string { return capabilityTable[c].text }

// AllCapabilities lists the capabilities in order.
func AllCapabilities() []Capability {
	list := make([]Capability, capabilities)
	for i := range list {
		list[i] = Capability(i + 1)
	}
	return list
}

// Capabilities is a set of capabilities.
type Capabilities uint16

func evidence(list ...Capability) Capabilities {
	s := Capabilities(0)
	for _, c := range list {
		s |= 1 << c
	}
	return s
}

// Has tells whether c is in the set.
func (s Capabilities) Has(c Capability) bool { return s>>c&1 != 0 }

// List gives the set in order; never nil.
func (s Capabilities) List() []Capability {
	list := make([]Capability, 0, bits.OnesCount16(uint16(s)))
	for c := ModelCallStatus; int(c) <= capabilities; c++ {
		if s.Has(c) {
			list = append(list, c)
		}
	}
	return list
}

// Labels gives the labels of the set in order; never nil.
func (s Capabilities) Labels() []string {
	labels := make([]string, 0, bits.OnesCount16(uint16(s)))
	for _, c := range s.List() {
		labels = append(labels, c.Label())
	}
	return labels
}
