// Package batch reads what a scheduler and the reference keep about several benchmarks that share one run: the batch
// manifest, what the materialized inputs say about each agent, and the batch status (spec batch-status).
//
// Its nouns: a *member* of the manifest says what one agent is expected to be given. An *observation* says what the
// inputs give each agent, with a *dataset digest* over its tasks. The *status* says how far each agent has come.
//
// An [Observer] looks at the inputs row by row; [Manifest.Validate] holds its observation against the manifest;
// [Manifest.Derive] makes the status that the saved files give, and [Manifest.Compare] holds a saved status against it.
//
//	m, result, faults := batch.ReadManifest(text)
//	var o batch.Observer
//	o.Row(row, line, offset) // every row of the inputs
//	seen := o.Observation()
package batch
