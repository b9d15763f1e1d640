package harness

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Row is what came of one check.
type Row struct {
	ID        string
	Kind      Kind
	Status    Status
	Tier      Tier
	Evidence  Capabilities
	Locations []string // its base location first, then those of failures
	Reasons   []string // empty unless the row failed
	BlockedBy []string // prerequisites that did not pass, also where nothing was evaluated
}

// Rows are the results of checks in the order of their first recording.
type Rows []Row

// ErrConflict means that one id was recorded as two different checks.
var ErrConflict = errors.New("recorded as another check before")

// Find gives the row of an id, nil if there is none.
func (r Rows) Find(id string) *Row {
	for i := range r {
		if r[i].ID == id {
			return &r[i]
		}
	}
	return nil
}

// Record adds a result. If the id is there already, its status can only move up and its lists grow (§5). The error
// wraps [ErrConflict], or says that there is no such tier.
func (r *Rows) Record(row Row) error {
	if row.Tier >= tiers {
		return fmt.Errorf("%s: there is no tier %d", row.ID, row.Tier)
	}
	known := r.Find(row.ID)
	if known == nil {
		row.Locations = join(nil, row.Locations)
		row.Reasons = join(nil, row.Reasons)
		row.BlockedBy = join(nil, row.BlockedBy)
		*r = append(*r, row)
		return nil
	}
	if known.Kind != row.Kind || known.Tier != row.Tier || known.Evidence != row.Evidence {
		return fmt.Errorf("%s: %w", row.ID, ErrConflict)
	}
	known.Status = max(known.Status, row.Status)
	known.Locations = join(known.Locations, row.Locations)
	known.Reasons = join(known.Reasons, row.Reasons)
	known.BlockedBy = join(known.BlockedBy, row.BlockedBy)
	return nil
}

// join appends texts that are neither empty nor there already. The result is never nil.
func join(list, more []string) []string {
	if list == nil {
		list = make([]string, 0, len(more))
	}
	for _, s := range more {
		if s != "" && !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

// Gate tells whether there are rows of a tier that apply, and all of them pass.
func (r Rows) Gate(t Tier) bool {
	some := false
	for i := range r {
		if r[i].Tier != t || r[i].Status == NotApplicable {
			continue
		}
		if r[i].Status != Pass {
			return false
		}
		some = true
	}
	return some
}

// blocked lists the prerequisites that have not passed.
func (r Rows) blocked(needs []string) []string {
	list := []string{}
	for _, id := range needs {
		if row := r.Find(id); row == nil || row.Status != Pass {
			list = append(list, id)
		}
	}
	return list
}

// unavailable is the reason of a row whose input is not there.
const unavailable = "input unavailable"

func waiting(blocked []string) string { return "waits for " + strings.Join(blocked, ", ") }

// run records a result by the rule of §5. evaluate is asked only if nothing stands in its way; its reason counts if
// the check failed.
func (r *Rows) run(row Row, needs []string, applies, available bool, evaluate func() (ok bool, reason string)) error {
	row.BlockedBy = r.blocked(needs)
	switch {
	case !applies:
		row.Status = NotApplicable
	case !available:
		row.Status, row.Reasons = Fail, []string{unavailable}
	case len(row.BlockedBy) > 0:
		row.Status, row.Reasons = Fail, []string{waiting(row.BlockedBy)}
	default:
		row.Status = Pass
		if ok, reason := evaluate(); !ok {
			row.Status, row.Reasons = Fail, []string{reason}
		}
	}
	return r.Record(row)
}

// Availability says how many calls have a token count.
type Availability struct{ Available, Calls int64 }

// TokenFields are the names of the counts whose availability is told.
func TokenFields() []string {
	list := make([]string, len(tokenKeys))
	for i, k := range tokenKeys {
		list[i] = k.String()
	}
	return list
}

// Tokens is the availability of each of the [TokenFields].
type Tokens [len(tokenKeys)]Availability

// A Record is everything that came of one record.
type Record struct {
	Source   string // file name and physical line
	Scope    Scope
	Checks   Rows
	Evidence [capabilities]Verdict // of TE-1, TE-2 …
	Verdict  Verdict
	Tokens   Tokens
}

// A Finding is one reason why a record lacks a capability.
type Finding struct {
	Evidence  Capability
	Assertion string // id of the check
	Location  string // source and place
	Reason    string
}

// Findings lists what the failing rows say, once for each capability, location and reason.
func (r *Record) Findings() []Finding {
	list := []Finding{}
	for i := range r.Checks {
		row := &r.Checks[i]
		if row.Status != Fail {
			continue
		}
		for _, c := range row.Evidence.List() {
			for _, location := range row.Locations {
				for _, reason := range row.Reasons {
					list = append(list, Finding{c, row.ID, r.Source + ":" + location, reason})
				}
			}
		}
	}
	return list
}

// hidden tells whether a scope takes a capability out of the picture, whatever its rows say.
func (s Scope) hidden(c Capability) bool {
	switch c {
	case Steps, StepJoin:
		return s.NoSteps
	case ToolRecord:
		return s.NoTools
	case VerifierOutcome:
		return s.NoVerifier
	}
	return false
}

// capability is the verdict of one capability on a record.
func capability(c Capability, s Scope, applies, passes Checks) Verdict {
	here := carrying[c] & applies
	switch {
	case s.hidden(c) || here == 0:
		return NoVerdict
	case here&^passes != 0:
		return NotFulfilled
	}
	return Fulfilled
}

// record gives the results of an opened digest.
func (d *digest) record(source string, s Scope) Record {
	applies, passes := d.standing(s)
	r := Record{Source: source, Scope: s, Checks: make(Rows, Count), Verdict: fulfilled(applies == passes && applies != 0)}
	for i := range registry {
		c := &registry[i]
		row := &r.Checks[i]
		*row = Row{ID: c.ID, Kind: c.Kind, Tier: c.Tier, Evidence: c.Evidence, Reasons: []string{}, BlockedBy: []string{}}
		for _, id := range c.Prerequisites(s) {
			if !passes.Has(positions[id]) {
				row.BlockedBy = append(row.BlockedBy, id)
			}
		}
		row.Locations = []string{c.Location}
		switch {
		case !applies.Has(i):
		case passes.Has(i):
			row.Status = Pass
		case len(row.BlockedBy) > 0:
			row.Status, row.Reasons = Fail, []string{waiting(row.BlockedBy)}
		default:
			row.Status, row.Reasons = Fail, []string{c.Fails}
			row.Locations = d.locations(i)
		}
	}
	for i := range r.Evidence {
		r.Evidence[i] = capability(Capability(i+1), s, applies, passes)
	}
	for i := range r.Tokens {
		r.Tokens[i] = Availability{d.tokens[i], d.calls}
	}
	return r
}

// Unavailable gives the results of a record that was not supplied: whatever applies fails (§7). No file can hold such a
// record.
func Unavailable(source string, s Scope) Record {
	d := digest{}
	applies, _ := d.standing(s)
	r := Record{Source: source, Scope: s, Verdict: NotFulfilled}
	for i := range registry {
		c := &registry[i]
		row := Row{ID: c.ID, Kind: c.Kind, Tier: c.Tier, Evidence: c.Evidence, Locations: []string{c.Location}}
		// The ids of the registry differ, so that nothing can conflict.
		_ = r.Checks.run(row, c.Prerequisites(s), applies.Has(i), false, nil)
	}
	for i := range r.Evidence {
		r.Evidence[i] = capability(Capability(i+1), s, applies, 0)
	}
	return r
}
