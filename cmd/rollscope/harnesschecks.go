package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/rollscope/rollscope/core/harness"
)

// A harnessDocument is a harness check as --json prints it.
type harnessDocument struct {
	ID            string   `json:"id"`
	Kind          string   `json:"kind"`
	Tier          string   `json:"tier"`
	Evidence      []string `json:"evidence"`
	Location      string   `json:"location"`
	Prerequisites []string `json:"prerequisites"`
	Applies       string   `json:"applies"`
	Title         string   `json:"title"`
	Text          string   `json:"text"`
	Condition     string   `json:"condition"`
	Fails         string   `json:"fails"`
}

// harnessDocuments are the documents of some harness checks.
func harnessDocuments(list []*harness.Check) []harnessDocument {
	documents := []harnessDocument{}
	for _, c := range list {
		documents = append(documents, harnessDocument{
			c.ID, c.Kind.String(), c.Tier.String(), c.Evidence.Labels(), c.Location, append([]string{}, c.Needs...), c.Applies.String(),
			c.Title, c.Text, c.Condition(), c.Fails,
		})
	}
	return documents
}

// harnessChecks finds the harness checks behind an id, or behind the label or the name of a capability.
func harnessChecks(id string) []*harness.Check {
	if c, ok := harness.ByID(id); ok {
		return []*harness.Check{c}
	}
	var list []*harness.Check
	if capability, ok := capabilityOf(id); ok {
		for _, c := range harness.All() {
			if c.Evidence.Has(capability) {
				list = append(list, c)
			}
		}
	}
	return list
}

func capabilityOf(name string) (harness.Capability, bool) {
	for _, c := range harness.AllCapabilities() {
		if strings.EqualFold(name, c.Label()) || name == c.String() {
			return c, true
		}
	}
	return 0, false
}

// printHarnessChecks lists harness checks.
func printHarnessChecks(w io.Writer, list []*harness.Check) error {
	rows := [][]string{}
	for _, c := range list {
		rows = append(rows, []string{c.ID, strings.Join(c.Evidence.Labels(), " "), c.Title})
	}
	return printTable(w, []column{{title: "harness check"}, {title: "evidence"}, {title: "what is in order where it passes"}}, rows)
}

// explainHarness prints everything about a harness check, or about a capability and its checks.
func explainHarness(w io.Writer, id string, list []*harness.Check) error {
	var b strings.Builder
	if capability, ok := capabilityOf(id); ok {
		fmt.Fprintf(&b, "%s %s\n\n%s\n\n", capability.Label(), capability, wrap(capability.Text(), 78))
		if _, err := io.WriteString(w, b.String()); err != nil {
			return err
		}
		return printHarnessChecks(w, list)
	}
	c := list[0]
	fmt.Fprintf(&b, "%s\n%s\n\n%s\n\n", c.ID, c.Title, wrap(c.Text, 78))
	fmt.Fprintf(&b, "kind      %s\nevidence  %s\nlocation  %s\n", c.Kind, strings.Join(c.Evidence.Labels(), " "), c.Location)
	fmt.Fprintf(&b, "applies   %s\n", c.Applies)
	for i, need := range c.Needs {
		label := "needs"
		if i > 0 {
			label = ""
		}
		fmt.Fprintf(&b, "%-9s %s\n", label, need)
	}
	fmt.Fprintf(&b, "fails     %s\n\ncondition:\n%s\n", c.Fails, wrap(c.Condition(), 78))
	_, err := io.WriteString(w, b.String())
	return err
}
