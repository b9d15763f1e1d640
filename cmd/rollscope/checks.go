package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rollscope/rollscope/core/finding"
	"github.com/rollscope/rollscope/core/harness"
	"github.com/rollscope/rollscope/core/health/check"
)

// A checkDocument is a check as --json prints it.
type checkDocument struct {
	ID      string   `json:"id"`
	Scope   string   `json:"scope"`
	Subject string   `json:"subject"`
	Title   string   `json:"title"`
	Text    string   `json:"text"`
	Reads   []string `json:"reads"`
	Needs   []string `json:"needs"`
	Since   string   `json:"since"`
	Varies  bool     `json:"varies"` // the answer can differ between profiles
}

func checksCommand(h *host) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "checks [ID] [--json]",
		Short: "explain health checks, harness checks and findings",
		Long: `List the health checks, the harness checks and the ids of findings about files
and evidence, or explain one of them. TE-1 to TE-9 explain a capability of a
harness. The beginning of ids up to a dot, such as records or coverage, lists the
findings of that area.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("one check at a time")
			}
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			var ids []string
			for _, c := range check.All() {
				ids = append(ids, c.ID+"\t"+c.Title)
			}
			for _, c := range harness.All() {
				ids = append(ids, c.ID+"\t"+c.Title)
			}
			for _, f := range finding.All() {
				ids = append(ids, f.ID+"\t"+f.Title)
			}
			return ids, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			list, others, findings := check.All(), harness.All(), finding.All()
			if len(args) == 1 {
				if found := harnessChecks(args[0]); found != nil {
					if asJSON {
						return printJSON(h.out, map[string]any{"harness": harnessDocuments(found)})
					}
					return explainHarness(h.out, args[0], found)
				}
				if found := findingIDs(args[0]); found != nil {
					switch {
					case asJSON:
						return printJSON(h.out, map[string]any{"findings": findingDocuments(found)})
					case len(found) == 1 && found[0].ID == args[0]:
						return explainFinding(h.out, found[0])
					}
					return printFindingIDs(h.out, found)
				}
				others, findings = nil, nil
				c, ok := check.ByID(args[0])
				if !ok {
					return fmt.Errorf("unknown check %q; rollscope checks lists them", args[0])
				}
				list = []*check.Check{c}
			}
			switch {
			case asJSON:
				documents := []checkDocument{}
				for _, c := range list {
					documents = append(documents, documentOf(c))
				}
				document := map[string]any{"checks": documents}
				if others != nil {
					document["harness"] = harnessDocuments(others)
				}
				if findings != nil {
					document["findings"] = findingDocuments(findings)
				}
				return printJSON(h.out, document)
			case len(args) == 1:
				return explain(h.out, list[0])
			}
			rows := [][]string{}
			for _, c := range list {
				rows = append(rows, []string{c.ID, c.Scope.String(), c.Title})
			}
			if err := printTable(h.out, []column{{title: "check"}, {title: "scope"}, {title: "what it finds"}}, rows); err != nil {
				return err
			}
			if _, err := io.WriteString(h.out, "\n"); err != nil {
				return err
			}
			if err := printHarnessChecks(h.out, others); err != nil {
				return err
			}
			if _, err := io.WriteString(h.out, "\n"); err != nil {
				return err
			}
			return printFindingIDs(h.out, findings)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}

func documentOf(c *check.Check) checkDocument {
	d := checkDocument{
		ID: c.ID, Scope: c.Scope.String(), Subject: c.Subject, Title: c.Title, Text: c.Text,
		Reads: append([]string{}, c.Reads...), Needs: []string{}, Since: c.Since, Varies: c.Varies,
	}
	for _, n := range c.Needs {
		d.Needs = append(d.Needs, n.Code())
	}
	return d
}

// explain prints everything a check says about itself.
func explain(w io.Writer, c *check.Check) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n\n%s\n\n", c.ID, c.Title, wrap(c.Text, 78))
	fmt.Fprintf(&b, "scope    %s\nsubject  %s\nsince    %s\n", c.Scope, c.Subject, c.Since)
	fmt.Fprintf(&b, "reads    %s\n", strings.Join(c.Reads, "\n         "))
	for i, n := range c.Needs {
		label := "needs"
		if i > 0 {
			label = ""
		}
		fmt.Fprintf(&b, "%-8s %s (%s)\n", label, n.Code(), n.Text())
	}
	if c.Varies {
		b.WriteString("profile  the answer can differ between 0.7 and main\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
