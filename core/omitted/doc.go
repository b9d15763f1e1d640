// Package omitted lists the rollouts of a run that have no result, and says of each in what way: left out on purpose,
// skipped for good, failed, or of unknown fate (spec omitted).
//
// Its nouns: an *omission* is an expected rollout without a result, with its *state*. *Evidence* is a row that only
// says why a result is missing; it is no attempt. A run with an index has omissions by disposition ([Indexed]), one
// from before there were attempts by pairs of indices ([Paired]). States partition: omitted.* are the intentionally
// omitted of the coverage, failed.* the failed, unknown.* the unknown.
//
//	omitted.Indexed(index, settings, evidence, func(o omitted.Omission) {
//		fmt.Println(o.ID, o.State, o.Class, o.Reason)
//	})
package omitted
