// Package verify reads whole run folders and brings together what the other packages say about them: which files make
// which runs, what was expected and what became of it, what saved files claim and what the rows give, what a resume
// would do, and how a batch stands (spec run-commands).
//
// [Run] takes a list of files and gives a [Report]: the files, the runs, the batch manifests, and the findings about
// all of them. A report is a typed value; its four documents, those of the commands verify, coverage, records and
// batch, are written from it and from nothing else.
//
//	report, err := verify.Run(ctx, files, verify.Options{})
//	report.WriteVerify(w)
//
// Every file is read once, line by line: first the small documents of a run, then its materialized inputs, its
// failures sidecar and its rollouts file. A host that cannot be asked for bytes uses a [Reader] for each run instead
// and feeds it; the rows of the rollouts file may come in stored form from a scan that was made for other reasons.
package verify
