package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/rollscope/rollscope/core/finding"
)

// A findingDocument is a finding id as --json prints it.
type findingDocument struct {
	ID       string `json:"id"`
	Severity string `json:"severity"`
	Varies   string `json:"varies"` // when the severity is another one, empty for never
	Title    string `json:"title"`
	Text     string `json:"text"`
	Says     string `json:"says"`
}

// findingDocuments are the documents of some finding ids.
func findingDocuments(list []finding.Definition) []findingDocument {
	documents := []findingDocument{}
	for _, f := range list {
		documents = append(documents, findingDocument{f.ID, string(f.Severity), f.Varies, f.Title, f.Text, f.Says})
	}
	return documents
}

// findingIDs finds the ids that are a text, or begin with it and a dot.
func findingIDs(text string) []finding.Definition {
	if info, ok := finding.ByID(text); ok {
		return []finding.Definition{info}
	}
	var list []finding.Definition
	prefix := strings.TrimSuffix(text, ".") + "."
	for _, f := range finding.All() {
		if strings.HasPrefix(f.ID, prefix) {
			list = append(list, f)
		}
	}
	return list
}

// printFindingIDs lists finding ids.
func printFindingIDs(w io.Writer, list []finding.Definition) error {
	rows := [][]string{}
	for _, f := range list {
		rows = append(rows, []string{f.ID, string(f.Severity), f.Title})
	}
	return printTable(w, []column{{title: "finding"}, {title: "severity"}, {title: "what it is"}}, rows)
}

// explainFinding prints everything about a finding id.
func explainFinding(w io.Writer, f finding.Definition) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n\n%s\n\n", f.ID, f.Title, wrap(f.Text, 78))
	fmt.Fprintf(&b, "severity  %s\n", f.Severity)
	if f.Varies != "" {
		fmt.Fprintf(&b, "          %s\n", f.Varies)
	}
	fmt.Fprintf(&b, "says      %s\n", f.Says)
	_, err := io.WriteString(w, b.String())
	return err
}
