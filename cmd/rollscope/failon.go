package main

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rollscope/rollscope/core/health"
)

// A threshold is a --fail-on condition: at least so many rollouts with a verdict, or at least such a share of all. It
// never matches where no rollout has the verdict.
type threshold struct {
	text  string
	of    health.Verdict
	least *big.Rat // count, or percent
	share bool
}

// failOnVerdicts are the verdicts that can fail a command.
var failOnVerdicts = map[string]health.Verdict{"unhealthy": health.Unhealthy, "unobserved": health.Unobserved}

// parseThreshold reads unhealthy, unhealthy=N or unhealthy=P%, and the same of unobserved.
func parseThreshold(text string) (*threshold, error) {
	refused := usagef("--fail-on %s: want unhealthy, unhealthy=N or unhealthy=P%%, or unobserved in its place", text)
	name, bound, given := strings.Cut(text, "=")
	of, known := failOnVerdicts[name]
	if !known {
		return nil, refused
	}
	t := &threshold{text: text, of: of, least: big.NewRat(1, 1)}
	if !given {
		return t, nil
	}
	bound, t.share = strings.CutSuffix(bound, "%")
	digits := strings.Trim(bound, "0123456789")
	if bound == "" || len(bound) > 32 || digits != "" && (digits != "." || !t.share) {
		return nil, refused
	}
	var ok bool
	if t.least, ok = t.least.SetString(bound); !ok || t.share && t.least.Cmp(big.NewRat(100, 1)) > 0 {
		return nil, refused
	}
	return t, nil
}

// matches tells whether so many of all rollouts reach the threshold.
func (t *threshold) matches(have, all int64) bool {
	if t == nil || have == 0 {
		return false
	}
	part := big.NewRat(have, 1)
	if t.share {
		part = big.NewRat(100*have, max(all, 1))
	}
	return part.Cmp(t.least) >= 0
}

// check gives the error of a command whose result reaches the threshold; counts are the rollouts by verdict.
func (t *threshold) check(counts [health.Skipped + 1]int64) error {
	if t == nil {
		return nil
	}
	have, all := counts[t.of], int64(0)
	for _, n := range counts {
		all += n
	}
	if !t.matches(have, all) {
		return nil
	}
	return fmt.Errorf("%w %s matched: %d of %d rollouts are %s", errMatched, t.text, have, all, t.of)
}

// failOnFlag adds --fail-on to a command; of says whose share is meant.
func failOnFlag(cmd *cobra.Command, value *string, of string) {
	cmd.Flags().StringVar(value, "fail-on", "", "exit with status 1 on `unhealthy[=N|=P%]`: at least one, N, or P percent of "+of+"; unobserved likewise")
}

// thresholdOf gives the condition of a command line, nil if there is none.
func thresholdOf(cmd *cobra.Command, value string) (*threshold, error) {
	if !cmd.Flags().Changed("fail-on") {
		return nil, nil
	}
	return parseThreshold(value)
}
