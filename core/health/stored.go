package health

import "github.com/rollscope/rollscope/core/health/check"

// Findings opens the findings that a stored digest holds by itself: what a page shows of a row while the
// run is still being read. Duplicates are not among them. A digest that is damaged has none.
func (r Rules) Findings(stored []byte, source string, line int64) []Finding {
	var d digest
	if d.open(stored) != nil {
		return nil
	}
	var list []Finding
	g := check.NewGroups(d.findings)
	for g.Next() {
		outcome := d.outcomes[r.profile][g.Check]
		if !g.In(r.profile) || r.ignored.Has(g.Check) || outcome.Raised() != check.Finished && r.ignored.Has(check.ExecutionError) {
			continue
		}
		before := len(list)
		list = g.Findings(list, outcome)
		if g.Check == check.RecordUnreadable && d.outcomes[r.profile][check.ExecutionError] == check.LineUnreadable {
			for k := range list[before:] {
				list[before+k].InLine(source, line)
			}
		}
	}
	return list
}

// Unobserved tells which checks could not be judged on a row, from its stored digest.
func (r Rules) Unobserved(stored []byte) []Unjudged {
	list := []Unjudged{}
	var d digest
	if d.open(stored) != nil {
		return list
	}
	set := r.preview(&d).Unobserved
	for c, o := range d.outcomes[r.profile] {
		if set.Has(c) {
			list = append(list, unjudged(check.At(c).ID, o))
		}
	}
	return list
}

// FailedCalls is the number of failed model calls that a stored digest counts.
func FailedCalls(stored []byte) int64 {
	var d digest
	if d.open(stored) != nil {
		return 0
	}
	return d.failed
}
