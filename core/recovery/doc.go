// Package recovery answers what a resume of a saved run would do, and whether the run is still the one its manifest
// names (spec recovery). It never resumes anything.
//
// Its nouns: the *check* holds the manifest against what is there now. The *identity* of a configuration is the part
// of it that a run depends on, without addresses, credentials and options of the collection; its digest is in the
// manifest. The *decision* is what a resume would do with a folder. The *plan* lists what it would run.
//
// Runs without a manifest are planned by [Planner] as version 0.7.0 does it, line by line over the three files; runs
// with one by the index of package records.
package recovery
