package harness

import (
	"errors"
	"fmt"
	"math/bits"
	"strings"
)

// An Applicability says when a check applies.
type Applicability uint8

// The conditions. What the scope excludes is not evaluated and counts for nothing.
const (
	Always Applicability = iota
	WithSteps
	WithTools
	WithVerifier
	WhenFailed // with a verifier, on a row that is masked or whose evaluation was not completed
	WhenSandboxRequired
	WithSandbox // a sandbox record is there, or required
	applicabilities
)

// String says when.
func (a Applicability) String() string {
	return [applicabilities]string{
		Always:              "always",
		WithSteps:           "where the policy has steps",
		WithTools:           "where tools are dispatched",
		WithVerifier:        "where there is a verifier",
		WhenFailed:          "where there is a verifier, on a record that is masked or whose evaluation was not completed",
		WhenSandboxRequired: "where sandbox records are required",
		WithSandbox:         "where a sandbox record is there or required",
	}[a]
}

// A Check is one question about the evidence of a record.
type Check struct {
	ID       string
	Kind     Kind
	Tier     Tier
	Evidence Capabilities
	Location string // the designated place, as reports name it
	Needs    []string
	Applies  Applicability
	Title    string // what is in order where it passes
	Text     string // why it matters and what to write
	Rule     string // the condition in words; that of a schema check is put together from its shape
	Fails    string // the reason of a failing row

	place place
	each  bool   // the shape is that of every item
	shape *shape // of a schema check
	rule  func(*Judge) bool
	needs Checks
}

// Condition says exactly what is asked.
func (c *Check) Condition() string {
	switch {
	case c.shape == nil:
		return c.Rule
	case c.each:
		return "array in which each item is " + c.shape.inner()
	}
	return c.shape.inner()
}

// Prerequisites are the checks that must pass before this one is evaluated, in their declared order. Those of the
// sandbox rows exist only where sandbox records are required.
func (c *Check) Prerequisites(s Scope) []string {
	if c.Applies == WithSandbox && !s.RequireSandbox {
		return nil
	}
	return c.Needs
}

// Count is the number of checks.
const Count = 56

// Checks is a set of checks, one bit for each position.
type Checks uint64

const every Checks = 1<<Count - 1

// Has tells whether the check at a position is in the set.
func (s Checks) Has(position int) bool { return s>>position&1 != 0 }

// Len counts the checks in the set.
func (s Checks) Len() int { return bits.OnesCount64(uint64(s)) }

// IDs lists the ids of the set in order; never nil.
func (s Checks) IDs() []string {
	ids := make([]string, 0, s.Len())
	for ; s != 0; s &= s - 1 {
		ids = append(ids, registry[bits.TrailingZeros64(uint64(s))].ID)
	}
	return ids
}

func (s Checks) with(position int) Checks { return s | 1<<position }

var (
	registry   [Count]Check
	positions  = map[string]int{}
	applying   [applicabilities]Checks
	carrying   [capabilities + 1]Checks // by capability
	itemChecks [places][]int
)

func init() {
	n := 0
	for _, table := range [][]Check{callChecks, structureChecks, joinChecks, evaluationChecks, gapChecks} {
		n += copy(registry[n:], table)
	}
	for i := range registry {
		c := &registry[i]
		positions[c.ID] = i
		applying[c.Applies] = applying[c.Applies].with(i)
		for _, e := range c.Evidence.List() {
			carrying[e] = carrying[e].with(i)
		}
		if c.each {
			itemChecks[c.place] = append(itemChecks[c.place], i)
		}
		for _, id := range c.Needs {
			// Validate tells whether they come first.
			if p, ok := positions[id]; ok && c.Applies != WithSandbox {
				c.needs = c.needs.with(p)
			}
		}
		if c.Location == "" {
			c.Location = string(appendPath([]byte("$"), placeSteps[c.place]))
		}
	}
}

func appendPath(dst []byte, steps []step) []byte {
	for _, s := range steps {
		dst = appendStep(dst, s)
	}
	return dst
}

// All lists the checks in the order in which they are run and reported. The slice is the caller's, the checks are not
// to be changed.
func All() []*Check {
	list := make([]*Check, Count)
	for i := range registry {
		list[i] = &registry[i]
	}
	return list
}

// At gives the check at a position.
func At(position int) *Check { return &registry[position] }

// ByID finds a check.
func ByID(id string) (*Check, bool) {
	if i, ok := positions[id]; ok {
		return &registry[i], true
	}
	return nil, false
}

// Position gives the place of a check in the order, −1 for an unknown id.
func Position(id string) int {
	if i, ok := positions[id]; ok {
		return i
	}
	return -1
}

// Validate holds a list of checks to the contract of the registry and names everything that breaks it.
func Validate(checks []*Check) error {
	var faults []error
	seen := map[string]*Check{}
	for i, c := range checks {
		fault := func(format string, args ...any) {
			faults = append(faults, fmt.Errorf("check %d (%s): %s", i, c.ID, fmt.Sprintf(format, args...)))
		}
		if !identifier(c.ID) {
			fault("id is not made of two lower-case words and a point")
		}
		if seen[c.ID] != nil {
			fault("id is taken")
		}
		for _, field := range []struct{ name, text string }{
			{"location", c.Location}, {"title", c.Title}, {"text", c.Text}, {"reason", c.Fails}, {"condition", c.Condition()},
		} {
			if field.text == "" {
				fault("no %s", field.name)
			}
		}
		if c.Tier >= tiers {
			fault("there is no tier %d", c.Tier)
		}
		if c.Kind > Semantic || c.Kind == Semantic && c.shape != nil || (c.shape == nil) != (c.rule != nil) {
			fault("a %s check has a shape or a rule, a semantic one a rule", [...]string{"schema", "semantic", "artifact"}[min(c.Kind, 2)])
		}
		if !strings.HasPrefix(c.Location, "$") {
			fault("location %s does not begin at the row", c.Location)
		}
		for _, id := range c.Needs {
			need := seen[id]
			switch {
			case need == nil:
				fault("%s does not come first", id)
			case need.Applies != Always && need.Applies != c.Applies && (c.Applies != WithSandbox || need.Applies != WhenSandboxRequired):
				fault("%s may not apply where this does", id)
			}
		}
		seen[c.ID] = c
	}
	return errors.Join(faults...)
}

func identifier(s string) bool {
	area, name, ok := strings.Cut(s, ".")
	word := func(s string) bool {
		for i := range len(s) {
			if c := s[i]; (c < 'a' || c > 'z') && (c != '_' || i == 0 || i == len(s)-1) {
				return false
			}
		}
		return s != ""
	}
	return ok && word(area) && word(name)
}
