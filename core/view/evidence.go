package view

import (
	"strings"

	"github.com/rollscope/rollscope/core/harness"
	"github.com/rollscope/rollscope/core/health/check"
	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/jsonl"
)

// mostEvidencePlaces is how many places of one check of evidence are pointed at on a row; how many there are is told.
const mostEvidencePlaces = 12

// evident tells whether a State wants to see on a row where its evidence fails: somebody has come from the Harness tab.
func evident(s State) bool { return s.Tab == "harness" }

// evidence lists the places at which the row that is open fails the checks of evidence under the scope of a State, as
// findings that stand beside those of the health checks. The row's text must be there.
func (d *Desk) evidence(i *item, s State) []check.Finding {
	line := &jsonl.Line{Bytes: d.texts.data, Number: i.row.Line, Offset: i.row.Offset, Length: int64(len(d.texts.data)), Terminated: true}
	failures, err := new(harness.Mapper).Failures(line, 0, scopeOf(s))
	if err != nil {
		return nil // the Harness tab says so
	}
	var list []check.Finding
	for _, f := range failures {
		for n, p := range f.Places {
			if n == mostEvidencePlaces {
				break
			}
			found := check.Finding{Check: f.Check.ID, Place: p.Place, Locator: []check.Field{{Name: "location", Value: check.Value{Kind: check.Text, Text: p.Location}}}}
			if len(f.Places) > mostEvidencePlaces {
				found.Aside = []check.Field{{Name: "places", Value: check.Value{Kind: check.Int, Int: integer.Of(int64(len(f.Places)))}}}
			}
			// What should be there is often missing: where the nearest value around it begins is pointed at.
			if at := found.Place.Offset; found.Place.Length == 0 || at < int64(len(line.Bytes)) && (line.Bytes[at] == '{' || line.Bytes[at] == '[') {
				found.Place.Length = 1
			}
			list = append(list, found)
		}
	}
	return list
}

// sentence says in words what a finding found.
func sentence(f check.Finding) string {
	if k, ok := harness.ByID(f.Check); ok {
		labels := strings.Join(k.Evidence.Labels(), ", ")
		return labels + ": " + k.Fails
	}
	return check.Sentence(f)
}

// towards makes a State that names a check of evidence stand at its first place on the row.
func (t *talk) towards(s State) State {
	if !evident(s) || s.Check == "" || s.At != "" {
		return s
	}
	for n := range t.findings {
		if t.findings[n].Check == s.Check {
			return s.With(func(s *State) { s.At = spot{'f', n}.String() })
		}
	}
	return s
}
