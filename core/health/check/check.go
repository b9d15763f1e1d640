package check

import (
	"errors"
	"fmt"
	"math/bits"
)

// A Scope says what a check judges.
type Scope uint8

// The scopes. No check of these profiles judges a whole run.
const (
	Rollout Scope = 1 + iota // one row
	Task                     // all repeats of a task
)

// String gives the scope in lower case.
func (s Scope) String() string {
	switch s {
	case Rollout:
		return "rollout"
	case Task:
		return "task"
	}
	return "none"
}

// A Profile is a version of the rules.
type Profile uint8

// The profiles. Main is V07 plus the exemption of calls that overflowed the context and the owned view of
// the token comparison (spec health §16, M3 and M4).
const (
	V07 Profile = iota
	Main
	Profiles // how many there are
)

// String gives the name of the profile.
func (p Profile) String() string {
	if p == Main {
		return "main"
	}
	return "0.7"
}

// ParseProfile finds a profile by its name; "" is 0.7.
func ParseProfile(name string) (Profile, bool) {
	switch name {
	case "", "0.7":
		return V07, true
	case "main":
		return Main, true
	}
	return V07, false
}

// Raised says that a check stopped on a value its rule cannot handle, with the name of the exception the
// reference reports.
type Raised uint8

// The ways to stop. Finished is none.
const (
	Finished Raised = iota
	TypeError
	AttributeError
)

// A Check is one question about a rollout or a task.
type Check struct {
	ID      string
	Scope   Scope
	Subject string   // what a finding is about
	Needs   []Need   // in the order in which they are asked for; a missing one leaves the check unobserved
	Reads   []string // paths in the row, [] for every member of an array
	Title   string   // a phrase
	Text    string   // what it means, what makes it fire, what it needs, why it may not be judged
	Since   string   // first release of the reference that has it
	Varies  bool     // the answer can differ between profiles

	// Run judges a row and is set on rollout checks. It is called only when all needs are met.
	Run func(*Evidence, *Findings) Raised
	// Tally judges a task and is set on task checks: Clean, Fired or why it is unobserved.
	Tally func(*Repeats) Outcome
	// Say puts a finding into words; set on rollout checks.
	Say func(*Finding) string
}

// Positions in the registry. Reports list everything in this order.
const (
	ExecutionError = iota
	RecordUnreadable
	DuplicateIdentity
	MissingAgentTurns
	EndedOnFailedCall
	TurnHollow
	ZeroCompletionTokens
	MissingTokenCounts
	CaptureMismatch
	CallFailed
	TokenCountMismatch
	RunawayGeneration
	ConsistentlyUnhealthy
	NoSuccessfulCalls

	Count        = NoSuccessfulCalls + 1 // all checks
	RolloutCount = RunawayGeneration + 1 // the rollout checks, which come first; the rest judges tasks
)

var registry = [Count]*Check{
	ExecutionError:        &executionError,
	RecordUnreadable:      &recordUnreadable,
	DuplicateIdentity:     &duplicateIdentity,
	MissingAgentTurns:     &missingAgentTurns,
	EndedOnFailedCall:     &endedOnFailedCall,
	TurnHollow:            &turnHollow,
	ZeroCompletionTokens:  &zeroCompletionTokens,
	MissingTokenCounts:    &missingTokenCounts,
	CaptureMismatch:       &captureMismatch,
	CallFailed:            &callFailed,
	TokenCountMismatch:    &tokenCountMismatch,
	RunawayGeneration:     &runawayGeneration,
	ConsistentlyUnhealthy: &consistentlyUnhealthy,
	NoSuccessfulCalls:     &noSuccessfulCalls,
}

// All gives the checks in registry order. The slice is the caller's, the checks are not to be changed.
func All() []*Check { return append([]*Check(nil), registry[:]...) }

// At gives the check at a position of the registry.
func At(position int) *Check { return registry[position] }

// ByID finds a check.
func ByID(id string) (*Check, bool) {
	if i := Position(id); i >= 0 {
		return registry[i], true
	}
	return nil, false
}

// Position gives the place of a check in the registry, −1 for an unknown id.
func Position(id string) int {
	for i, c := range registry {
		if c.ID == id {
			return i
		}
	}
	return -1
}

// A Set is a set of checks.
type Set uint16

// Every holds all checks.
const Every Set = 1<<Count - 1

// Has tells whether the check at a position is in the set.
func (s Set) Has(position int) bool { return s>>position&1 != 0 }

// With adds the check at a position.
func (s Set) With(position int) Set { return s | 1<<position }

// Len counts the checks in the set.
func (s Set) Len() int { return bits.OnesCount16(uint16(s)) }

// IDs lists the checks of the set in registry order; never nil.
func (s Set) IDs() []string {
	ids := make([]string, 0, s.Len())
	for i, c := range registry {
		if s.Has(i) {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// Validate holds a list of checks to the contract of the registry and names everything that breaks it.
func Validate(checks []*Check) error {
	var faults []error
	seen := map[string]bool{}
	tasks := false
	for i, c := range checks {
		fault := func(format string, args ...any) {
			faults = append(faults, fmt.Errorf("check %d (%s): %s", i, c.ID, fmt.Sprintf(format, args...)))
		}
		if !identifier(c.ID) {
			fault("id is not made of lower-case words and underscores")
		}
		if seen[c.ID] {
			fault("id is taken")
		}
		seen[c.ID] = true
		for name, text := range map[string]string{"subject": c.Subject, "title": c.Title, "text": c.Text, "since": c.Since} {
			if text == "" {
				fault("no %s", name)
			}
		}
		if len(c.Reads) == 0 {
			fault("reads nothing")
		}
		for _, n := range c.Needs {
			if int(n) >= len(needs) || needs[n].Code == "" {
				fault("unknown need %d", n)
			} else if (needs[n].missing == nil) != (c.Scope == Task) {
				fault("need %s belongs to another scope", needs[n].Code)
			}
		}
		switch c.Scope {
		case Rollout:
			if tasks {
				fault("rollout check behind a task check")
			}
			if c.Run == nil || c.Say == nil || c.Tally != nil {
				fault("a rollout check has Run and Say and no Tally")
			}
		case Task:
			tasks = true
			if c.Run != nil || c.Tally == nil {
				fault("a task check has Tally and no Run")
			}
		default:
			fault("no scope")
		}
	}
	return errors.Join(faults...)
}

func identifier(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c != '_' || i == 0 || i == len(s)-1 || s[i-1] == '_') {
			return false
		}
	}
	return s != ""
}
