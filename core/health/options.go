package health

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rollscope/rollscope/core/health/check"
)

// Options say how a run is judged.
type Options struct {
	Profile      string   // version of the rules: "0.7", which "" stands for, or "main"
	Ignored      []string // checks that are left out completely
	SkipBadIndex bool     // leave out rows with an index that is none, instead of refusing the run
}

// ErrUnknownCheck means that an ignored check does not exist.
var ErrUnknownCheck = errors.New("unknown check")

// ErrUnknownProfile means that there is no such version of the rules.
var ErrUnknownProfile = errors.New("unknown profile")

// unknownChecks is the error about ignored checks that do not exist, in the words of the reference.
type unknownChecks []string

func (e unknownChecks) Error() string {
	return "Unknown rollout health check(s): " + strings.Join(e, ", ")
}

func (e unknownChecks) Is(target error) bool { return target == ErrUnknownCheck }

// NormalizeIgnored gives the check ids of a list whose items may themselves be comma-separated lists: white
// space around ids is dropped, and so are empty items and all but the first of equal ones. The error
// wraps [ErrUnknownCheck] and names every unknown id.
func NormalizeIgnored(list []string) ([]string, error) {
	ids := []string{}
	var unknown []string
	for _, items := range list {
		for item := range strings.SplitSeq(items, ",") {
			id := trim(item)
			if id == "" || slices.Contains(ids, id) || slices.Contains(unknown, id) {
				continue
			}
			if check.Position(id) < 0 {
				unknown = append(unknown, id)
				continue
			}
			ids = append(ids, id)
		}
	}
	if unknown != nil {
		slices.Sort(unknown)
		return nil, unknownChecks(unknown)
	}
	return ids, nil
}

// trim removes white space as the reference's language has it.
func trim(s string) string {
	for s != "" {
		r, size := utf8.DecodeRuneInString(s)
		if !check.White(r) {
			break
		}
		s = s[size:]
	}
	for s != "" {
		r, size := utf8.DecodeLastRuneInString(s)
		if !check.White(r) {
			break
		}
		s = s[:len(s)-size]
	}
	return s
}

// Rules are checked Options.
type Rules struct {
	profile check.Profile
	ignored check.Set
	skipBad bool
}

// NewRules checks options. The error wraps [ErrUnknownCheck] or [ErrUnknownProfile].
func NewRules(o Options) (Rules, error) {
	ids, err := NormalizeIgnored(o.Ignored)
	if err != nil {
		return Rules{}, err
	}
	r := Rules{skipBad: o.SkipBadIndex}
	var ok bool
	if r.profile, ok = check.ParseProfile(o.Profile); !ok {
		return Rules{}, fmt.Errorf("%w %q: there are 0.7 and main", ErrUnknownProfile, o.Profile)
	}
	for _, id := range ids {
		r.ignored = r.ignored.With(check.Position(id))
	}
	return r, nil
}

// Profile is the version of the rules.
func (r Rules) Profile() check.Profile { return r.profile }

// Ignored is the set of checks that are left out.
func (r Rules) Ignored() check.Set { return r.ignored }

// ignoredIDs lists them as reports do, by code point.
func (r Rules) ignoredIDs() []string {
	ids := r.ignored.IDs()
	slices.Sort(ids)
	return ids
}

// A Verdict is what the checks say about a row.
type Verdict uint8

// The verdicts. Skipped rows have none: they are no part of the report.
const (
	Healthy Verdict = iota
	Unhealthy
	Unobserved
	Skipped
)

// String gives the verdict as reports write it.
func (v Verdict) String() string {
	switch v {
	case Healthy:
		return "healthy"
	case Unhealthy:
		return "unhealthy"
	case Unobserved:
		return "unobserved"
	}
	return "skipped"
}

// verdict follows from what fired and what could not be judged.
func verdict(fired, unobserved check.Set) Verdict {
	switch {
	case fired != 0:
		return Unhealthy
	case unobserved != 0:
		return Unobserved
	}
	return Healthy
}

// A Preview is what one row says by itself, before duplicates are known.
type Preview struct {
	Verdict    Verdict
	Fired      check.Set // checks with findings
	Unobserved check.Set // checks that could not be judged
}

// Preview judges one row by itself, as during a scan. The error wraps [ErrDigest].
func (r Rules) Preview(stored []byte) (Preview, error) {
	var d digest
	if err := d.open(stored); err != nil {
		return Preview{}, err
	}
	return r.preview(&d), nil
}

func (r Rules) preview(d *digest) Preview {
	var p Preview
	for i, o := range d.outcomes[r.profile] {
		switch {
		case r.ignored.Has(i):
		case o == check.Fired:
			p.Fired = p.Fired.With(i)
		case o.Unobserved():
			p.Unobserved = p.Unobserved.With(i)
			if o.Raised() != check.Finished && !r.ignored.Has(check.ExecutionError) {
				p.Fired = p.Fired.With(check.ExecutionError)
			}
		}
	}
	p.Verdict = verdict(p.Fired, p.Unobserved)
	return p
}
