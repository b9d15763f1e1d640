// Package runfolder sorts a list of dropped or named files into runs by their names (spec run-folder §2 and §2.1;
// the Selection contract of the design).
//
// Its nouns: a *file* is a path and a size. Its *kind* says what it is in a run folder: a rollouts file, one of the
// companions beside it, a report of the folder, a capture, a leftover, or something else, named by its ending. The
// *stem* of a rollouts file ties its companions to it. A *part* is what one collection wrote: at most one rollouts
// file and the companions of its stem. A *run* is one part, or several of one folder whose stems differ in digits
// alone: the shards of one run.
//
//	l := runfolder.Sort([]runfolder.File{
//		{Path: "results/rollouts-rs10.jsonl", Size: 812},
//		{Path: "results/rollouts-rs2.jsonl", Size: 790},
//		{Path: "results/rollouts-rs2_failures.jsonl", Size: 0},
//	})
//	l.Runs[0].Name    // "rollouts-rs*": one run of two shards, since the folder all files share is not shown
//	l.Rollouts()      // []int{1, 0}: shard 2 before shard 10, the sidecar is no rollouts file
//
// No file is opened here. The one rule about content, that of batch manifests, is a question to the caller.
package runfolder
