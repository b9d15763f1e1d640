// Package recovery answers what a resume of a saved run would do, and whether the run is still the one its manifest
// names (spec recovery). It never resumes anything.
//
// Its nouns: the *check* holds the manifest against what is there now. The *identity* of a configuration is the part
// of it that a run depends on, without addresses, credentials and options of the collection; its digest is in the
// manifest. The *decision* is what a resume would do with a folder. The *plan* lists what it would run.
//
// Runs without a manifest are planned by [Planner] as version 0.7.0 does it, line by line over the three files; runs
// with one by the index of package records.
//
//	p := recovery.Planner{Settings: records.Settings{MaxAttempts: 3}}
//	p.Input(line)   // every line of the inputs, then
//	p.Result(line)  // of the rollouts file, then
//	p.Failure(line) // of the sidecar
//	plan := p.Plan()
package recovery
