// Package compare holds one run against another (spec metrics §12).
//
// There are two ways to look. The report compares what aggregate-metrics files say, or what would stand in them: an
// [Entry] is one agent of one side, a [Comparison] two of them with their metrics, deltas, intervals and flips. The
// alignment compares rows: [Align] joins the tasks of two runs by whatever names them and keeps the rows of both, so
// that every change leads to its rollouts.
//
//	report, err := compare.Runs(baseline, candidate, compare.Agents{})
//	for _, c := range report.Comparisons {
//		for _, m := range c.Metrics {
//			fmt.Println(m.Name, m.Delta)
//		}
//	}
//
// A *flip* is a task whose outcome differs between the sides. A *delta* is candidate − baseline. Intervals hold the
// difference of means with 95 %; there is no test of significance and no verdict.
package compare
