package health

import (
	"fmt"
	"strings"
)

// The names of the reports.
const (
	SummaryFile  = "quality_summary.json"
	VerdictsFile = "rollout_verdicts.jsonl"
)

// Text gives the two lines that the command prints: what was judged, and where the summary is.
func (r *Report) Text(summaryPath string) string {
	s := &r.stats
	ignored := ""
	if ids := r.rules.ignoredIDs(); len(ids) > 0 {
		ignored = " (ignored: " + strings.Join(ids, ", ") + ")"
	}
	return fmt.Sprintf("Rollout health: %d checked, %d healthy, %d unhealthy, %d unobserved%s\nQuality summary: %s\n",
		s.Records, s.Healthy, s.Unhealthy, s.Unobserved, ignored, Lexical(summaryPath))
}

// Lexical gives a path the form that reports print: repeated slashes and segments of a single dot are
// dropped, a final slash too, while ".." stays. Exactly two slashes in front stay as well, as the path rules
// of the reference's platform have it. An empty path is ".".
func Lexical(path string) string {
	root := ""
	switch rest := strings.TrimLeft(path, "/"); len(path) - len(rest) {
	case 0:
	case 2:
		root = "//"
	default:
		root = "/"
	}
	var b strings.Builder
	b.WriteString(root)
	first := true
	for segment := range strings.SplitSeq(path, "/") {
		if segment == "" || segment == "." {
			continue
		}
		if !first {
			b.WriteByte('/')
		}
		first = false
		b.WriteString(segment)
	}
	if b.Len() == 0 {
		return "."
	}
	return b.String()
}
