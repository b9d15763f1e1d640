// Package audit holds the evidence of a run's rows against what it was made of: attached calls against captures, the
// trajectory against calls and observations, the numbers of performance against the trajectory (spec model-calls §11,
// trajectory §11, perf §5).
//
// An [Auditor] looks at one row after the other and gives findings. Whatever a row lacks, it judges with what is there:
// without captures the attached calls stand for them, without materialized inputs the task id is taken as it is.
// [Auditor.Finish] tells what only the whole run shows.
package audit
