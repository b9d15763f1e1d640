package main

import (
	"strings"

	"github.com/rollscope/rollscope/core/finding"
	"github.com/rollscope/rollscope/core/records"
	"github.com/rollscope/rollscope/core/recovery"
	"github.com/rollscope/rollscope/core/verify"
	"github.com/rollscope/rollscope/core/view"
)

// printVerify prints what a report says about each run, then the findings, the worst first.
func printVerify(h *host, r *verify.Report) error {
	out := &errWriter{w: h.out}
	if len(r.Runs) == 0 {
		out.printf("no run in %s\n", amount(len(r.Files), "file"))
	}
	for _, run := range r.Runs {
		out.printf("%s\n", safe(run.Key))
		out.printf("  read as   %s\n", reading(run))
		if c := run.Coverage; c != nil {
			out.printf("  coverage  %s of %s completed, %s failed, %s omitted, %s unknown\n",
				view.Group(c.Successful), view.Group(c.Expected), view.Group(c.Failed), view.Group(c.Omitted), view.Group(c.Unknown))
		}
		for file, a := range run.Accounts {
			if run.Present[file] {
				out.printf("  %-8s  %s: %s, %s blank, %s unreadable\n", records.File(file), amount(int(a.Lines), "line"), amount(int(a.Rows), "row"), view.Group(a.Blank), view.Group(a.Unreadable))
			}
		}
		out.printf("  resume    %s\n", resume(run))
	}
	if out.err != nil {
		return out.err
	}
	return printSorted(h, out, r.Findings)
}

// printSorted prints findings, the worst first.
func printSorted(h *host, out *errWriter, findings []finding.Finding) error {
	if len(findings) == 0 {
		out.printf("nothing found\n")
		return out.err
	}
	out.printf("\n")
	if out.err != nil {
		return out.err
	}
	sorted := []finding.Finding{}
	for _, s := range []finding.Severity{finding.Error, finding.Warning, finding.Info} {
		for _, f := range findings {
			if f.Severity != s {
				continue
			}
			if f.File == "" {
				f.File = f.Run // its place is the run as a whole
			}
			sorted = append(sorted, f)
		}
	}
	return printFindings(h, sorted)
}

// reading says how a run was read.
func reading(run *verify.RunReport) string {
	how := map[verify.Reading]string{
		verify.ByManifest: "a run with a manifest", verify.Imported: "a run without a manifest, attempts numbered as they come", verify.NoIndex: "rows alone: there is no index",
	}[run.Reading]
	if run.FirstError != "" {
		how += "; the reference stops at " + run.FirstError
	}
	return how
}

// resume says what a resume would do.
func resume(run *verify.RunReport) string {
	switch run.Resume.Outcome {
	case recovery.Fresh:
		return "would start, nothing is here yet"
	case recovery.Restart:
		return "would start afresh and delete what is here"
	case recovery.Refused:
		codes := strings.Join(run.Resume.Codes, ", ")
		if codes == finding.NoManifest {
			return "would run " + amount(int(run.Numbers().ToRun), "rollout") + " by the rules of 0.7.0; later versions want to be forced (" + codes + ")"
		}
		return "would be refused: " + codes
	}
	return "would run " + amount(len(run.Pending()), "rollout")
}

// printCoverage prints the counts of each run and how the saved ones compare.
func printCoverage(h *host, r *verify.Report) error {
	out := &errWriter{w: h.out}
	for _, run := range r.Runs {
		out.printf("%s: %s\n", safe(run.Key), reading(run))
		if run.Coverage == nil {
			out.printf("  without an index there is no coverage; of the rows with a result %s are measured, %s masked, %s unscored\n",
				view.Group(run.Rows.Measured), view.Group(run.Rows.Masked), view.Group(run.Rows.Unscored))
		} else {
			saved := map[string]string{}
			for _, d := range run.Check.Differences {
				saved[d.Field] = "  saved: " + d.Saved.String()
			}
			for _, m := range run.Coverage.Document().Members() {
				out.printf("  %-24s %s%s\n", m.Key, safe(m.Value.String()), safe(saved[m.Key]))
			}
		}
		if run.Saved != nil {
			out.printf("  saved in %s: %s\n", safe(run.Saved.Path), run.Check.Comparison)
		}
		if run.Legacy != nil {
			n := run.Numbers()
			out.printf("  by pairs of indices, as 0.7.0 reads it: %s done, %s with failures, %s final, %s failed too often", view.Group(n.Done), view.Group(n.FailureKeys), view.Group(n.Terminal), view.Group(n.Maxed))
			if run.Present[records.Inputs] {
				out.printf(", %s of %s to run", view.Group(n.ToRun), view.Group(n.Inputs))
			}
			out.printf("\n")
		}
	}
	if out.err != nil {
		return out.err
	}
	return printSorted(h, out, about("coverage.")(r))
}

// printBatch prints what the inputs hold for each agent, and how it stands.
func printBatch(h *host, r *verify.Report) error {
	out := &errWriter{w: h.out}
	for i := range r.Manifests {
		m := &r.Manifests[i]
		to := "belongs to no run here"
		if m.Run != "" {
			to = "belongs to " + m.Run
		}
		out.printf("%s: %s, %s\n", safe(m.Path), m.Result, safe(to))
	}
	for _, run := range r.Runs {
		out.printf("%s\n", safe(run.Key))
		if run.Batch.Observation == nil {
			out.printf("  without materialized inputs nothing is known\n")
			continue
		}
		for _, a := range run.Batch.Observation.Agents {
			seeded := "without seeds"
			if a.Seeded {
				seeded = "with seeds"
			}
			out.printf("  %s: %s, %s, %s of each, %s\n    dataset %s\n", safe(a.Agent), amount(int(a.Tasks), "task"), amount(int(a.Rollouts), "rollout"), view.Group(a.Repeats), seeded, a.Dataset)
		}
		for i := range run.Batch.Members {
			m := &run.Batch.Members[i]
			out.printf("  %s (%s): %s of %s completed, %s remaining, metrics %s\n", safe(m.Member.Agent), safe(m.Member.Slug), view.Group(m.Completed), m.Member.Rollouts, m.Remaining, m.Aggregation)
		}
		for i := range run.Batch.Observation.Errors {
			e := run.Batch.Observation.Errors[i].Finding(run.Key, run.Place.Inputs)
			if run.Batch.Manifest == "" {
				out.printf("  line %d: %s\n", e.Line, safe(e.Message()))
			}
		}
		if run.Batch.StatusPath != "" {
			out.printf("  saved in %s: %s\n", safe(run.Batch.StatusPath), run.Batch.Status.Comparison)
		}
	}
	if out.err != nil {
		return out.err
	}
	return printSorted(h, out, about("batch.")(r))
}
