// Package metrics derives the scores of a run from its rows: the reward profile, aggregate metrics, pass@k and
// slices (spec metrics §1–§11, §13–§16; package compare holds §12).
//
// The work has two halves, as everywhere in the core. A [Mapper] turns each row into a digest of a few dozen bytes:
// who the row is, whose it is, what it earned, and its numeric fields with the spelling they have in the file. A
// [Run] takes digests in the order of the run and keeps them as columns. Runs of neighbouring ranges can be joined
// with [Run.Merge], so that any split gives the same result. Everything else is a reduction over a Run:
//
//	var m metrics.Mapper
//	digest := m.Append(nil, row)
//
//	run := metrics.NewRun(metrics.Options{})
//	err := run.Add(&metrics.Row{Name: "rollouts.jsonl", Line: 1, Digest: digest})
//	report, err := run.Aggregate()
//	err = report.WriteJSON(w)
//
// There are two readings. The strict one belongs to the parity commands and refuses what the reference refuses; its
// errors wrap [ErrRefused]. The lenient one belongs to the page: what cannot be counted is left out and told.
//
// A *cell* is one numeric field of a row, a *column* all cells of one name. The *label* is what counts as one agent.
// A *group* is a task (of one label, where labels share tasks), a *repeat* all rows of one rollout index, an *entry*
// one element of an aggregate-metrics file. A *metric* is a named number; it is *primary* if it estimates something
// and does not merely describe the spread of another.
//
// Sums are made in the order and manner of the reference (spec metrics §15), so that results agree to the last bit
// and depend neither on the split nor on the number of workers.
package metrics
