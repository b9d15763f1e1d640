// Package perf is about time and tokens: the numbers of one rollout (`ng_perf`), the summary of a batch
// (`perf_summary`), and what a run's rows say about latency, throughput and concurrency (spec perf).
//
// [Of] gives the numbers of a rollout from its trajectory. [Summarize] reduces those of a batch. A [Tracker] holds
// durations as the collection does and answers for quantiles and the drain margin. A [Mapper] makes a digest of every
// row and a [Reducer] brings the digests of a run together in a [Report]: latencies by three sources that are never
// mixed, time to first token, throughput, concurrency over time, token rates, per agent, model and task, and the rows
// whose saved numbers contradict their evidence.
//
//	t := perf.TrackerOf(seconds)
//	p90, ok := t.Quantile(0.9)
//	margin, ok := t.DrainMargin(0, false) // known from five durations on
//
// There are two rules for quantiles, those of package quantile. The collection's tracker weighs both neighbours
// ([Tracker.Quantile]); the summary of a batch goes from the nearer one. Their last bits differ, so each number says which
// rule it follows.
package perf
