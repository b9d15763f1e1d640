// Package health judges the rollouts of a run and writes the two reports of that judgement.
//
// The pass has two halves. A [Mapper] turns each row into a digest, a few dozen bytes on most rows, which
// holds what came of every check in every profile and all findings with their places. It depends on the
// row alone, so rows may be mapped anywhere and in any order. A [Reducer] takes the digests in the order
// of the run and adds what only the whole can know: duplicate identities, repeats, tasks and sums. To
// ignore a check or to change the profile is to reduce again; no row is read for it.
//
//	var m health.Mapper
//	digest := m.Append(nil, row)
//
//	r, err := health.NewReducer(health.Options{})
//	err = r.Add(&health.Row{Name: "rollouts.jsonl", Line: 1, Identity: id, Digest: digest})
//	report, err := r.Report()
//	summary, err := report.SummaryJSON()
//	err = report.WriteVerdicts(w)
//
// The reports are byte for byte those of the reference (spec health §10–§15). They carry no verdict on the
// run, no profile and no digest of their inputs; whoever stores one must remember the profile. The checks
// themselves are values of package check.
package health
