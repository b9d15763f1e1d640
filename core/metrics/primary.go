package metrics

import (
	"slices"
	"strings"
)

// Lists of names that describe something instead of estimating it (spec metrics §10).
var (
	auxiliaryNames = []string{
		"_ng_task_index", "_ng_rollout_index", "_ng_attempt_index", "sample_count", "missing_count", "num_repeats", "token_usage_version",
	}
	auxiliaryPrefixes = []string{
		"max/", "min/", "median/", "std/", "sem/", "se/", "p25/", "p75/", "ci_low_95/", "ci_high_95/", "histogram/",
	}
	auxiliarySuffixes = []string{
		"/max", "/min", "/median", "/p5", "/p25", "/p75", "/p95", "/ci_low_95", "/ci_high_95", "/ci_lower", "/ci_upper",
		"_ci_lower", "_ci_upper", "_ci95_lower", "_ci95_upper", "/_ng_attempt_index",
		"/std_dev_across_runs", "/std_err_across_runs", "/avg_sample_std_dev",
	}
)

// Primary tells whether a metric of this name is a point estimate, fit to be compared and to be looked at across
// repeats.
func Primary(name string) bool {
	has := func(list []string, is func(s, part string) bool) bool {
		return slices.ContainsFunc(list, func(part string) bool { return is(name, part) })
	}
	return !slices.Contains(auxiliaryNames, name) &&
		!has(auxiliaryPrefixes, strings.HasPrefix) &&
		!has(auxiliarySuffixes, strings.HasSuffix) &&
		!strings.Contains(name, "_across_repeats/")
}
