// Package outcome says what a saved row means: a completed result, a failure of some class, or evidence that a result
// is missing (spec outcomes; omitted §4 for evidence).
//
// Its nouns: a *class* routes a failure and names its kind; it comes from an open vocabulary. A *record* is the
// structured failure that newer versions save beside the class. A failure is *terminal* when it is not to be retried;
// what counts as terminal changes when the run is told to retry time limits. A *measurement* says what a completed
// result contributes to a score.
//
//	outcome.Terminal(class, flag, false)            // is this failure final, where time limits are not retried?
//	outcome.MeasurementOf(numeric, masked)          // measured, masked or unscored
//	record, faults := outcome.ReadRecord(value)     // the structured failure of a row, and what is wrong with it
//
// The package decides about one row at a time. Which row speaks for a rollout is decided in package records.
package outcome
