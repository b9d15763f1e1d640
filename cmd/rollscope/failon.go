package main

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/spf13/cobra"
)

// A threshold is a --fail-on condition: at least so many unhealthy rollouts, or at least such a share of all. It
// never matches where there is no unhealthy rollout.
type threshold struct {
	text  string
	least *big.Rat // count, or percent
	share bool
}

const failOnUnhealthy = "unhealthy"

// parseThreshold reads unhealthy, unhealthy=N or unhealthy=P%.
func parseThreshold(text string) (*threshold, error) {
	refused := usagef("--fail-on %s: want unhealthy, unhealthy=N or unhealthy=P%%", text)
	name, bound, given := strings.Cut(text, "=")
	if name != failOnUnhealthy {
		return nil, refused
	}
	t := &threshold{text: text, least: big.NewRat(1, 1)}
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

// matches tells whether unhealthy of all rollouts reach the threshold.
func (t *threshold) matches(unhealthy, all int64) bool {
	if t == nil || unhealthy == 0 {
		return false
	}
	have := big.NewRat(unhealthy, 1)
	if t.share {
		have = big.NewRat(100*unhealthy, max(all, 1))
	}
	return have.Cmp(t.least) >= 0
}

// check gives the error of a command whose result reaches the threshold.
func (t *threshold) check(unhealthy, all int64) error {
	if !t.matches(unhealthy, all) {
		return nil
	}
	return fmt.Errorf("%w %s matched: %d of %d rollouts are unhealthy", errMatched, t.text, unhealthy, all)
}

// failOnFlag adds --fail-on to a command; of says whose share is meant.
func failOnFlag(cmd *cobra.Command, value *string, of string) {
	cmd.Flags().StringVar(value, "fail-on", "", "exit with status 1 on `unhealthy[=N|=P%]`: at least one, N, or P percent of "+of)
}

// thresholdOf gives the condition of a command line, nil if there is none.
func thresholdOf(cmd *cobra.Command, value string) (*threshold, error) {
	if !cmd.Flags().Changed("fail-on") {
		return nil, nil
	}
	return parseThreshold(value)
}
