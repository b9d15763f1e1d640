// Package records brings the saved rows of a run together: which rollouts were expected, which attempts of them left
// an outcome, which outcome speaks, and what that gives in numbers (spec records).
//
// Its nouns: an *expected* rollout is a row of the materialized inputs and has a *logical id*. An *attempt* is one
// execution of it. An *outcome* is a saved row, whatever it says. The *latest* attempt, reserved or saved, speaks for
// the rollout; outcomes of other attempts are history. The *disposition* of a rollout is success, failure, omitted or
// unknown. *Coverage* counts dispositions.
//
// Rows come one by one. A [Reader] makes a [Row] of a line: a few hundred bytes that do not need the line any more and
// can be stored ([Row.Append]) and sent. An [Index] takes the expected rows, then the rows of the sidecar, then those
// of the rollouts file, in the order of the files:
//
//	ix := records.NewIndex(manifest, place, nil)
//	ix.Expect(reader.Read(input, …))
//	ix.Add(reader.Read(row, …), saved)
//	ix.Coverage(records.Settings{MaxAttempts: 3})
//
// Only when two rows claim the same attempt their content is compared, so the index asks its caller for the stored row
// then ([Saved]); a caller that must fetch it first returns an error and adds the row again.
//
// [Legacy] is the reading of runs from before there were attempts: rows are counted by task and rollout index.
package records
