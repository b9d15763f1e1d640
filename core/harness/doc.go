// Package harness judges the evidence that a harness leaves in a saved rollout: whether model calls, token counts,
// steps, history, tool records, verifier outcomes, payloads and their joins are there and fit together. It says
// nothing about the agent: a failed task with complete evidence is in order, a solved one with gaps is not (spec
// harness-capabilities).
//
// The nouns:
//
//   - A [Capability] is one of nine promises, TE-1 to TE-9. It groups results; it is not judged itself.
//   - A [Check] is what is judged. It is a value: id, kind, capabilities, one designated place in the row,
//     prerequisites, when it applies, words for people, and either a shape that is data or a rule that is a function.
//     [All] gives the 56 of them in their order.
//   - A [Scope] says what the harness is expected to have: tools, a verifier, steps, sandbox records. It is declared
//     by people and never concluded from what a row lacks.
//   - A [Row] is what came of one check on one record; a [Record] is all rows of one record with its verdicts.
//
// The way is that of package health. A [Mapper] turns a line of a rollouts file into a digest, a few bytes where all
// is well, which holds what every check found whatever the scope is. A [Reducer] takes the digests in the order of
// the run; its [Report] gives records, counts and the files of a report, and judges anew under another scope without
// reading any row again. Exact places in a row, for a page that shows it, come from [Mapper.Failures].
//
//	var m harness.Mapper
//	digest := m.Append(nil, line, nil)
//
//	r := harness.NewReducer()
//	err := r.Add(harness.Line{Name: "rollouts.jsonl", Number: 1, Digest: digest})
//	report, err := r.Report(harness.Scope{})
//	record := report.Record(0)
//
// Rows are read by the rules of §8 there, which are not those of package rollout: a line also ends at a lone carriage
// return, integers are exact at any size, floats may be infinite, and halves of surrogate pairs are kept. One line
// that cannot be read refuses the whole input.
package harness
