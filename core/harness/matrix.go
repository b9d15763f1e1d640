package harness

import (
	"errors"
	"fmt"
	"strings"

	"github.com/rollscope/rollscope/core/value"
)

// A Harness is one column of comparison: a name and the summary of its bundle.
type Harness struct {
	Name    string
	Summary *Summary
}

// ErrHarness means that a harness has no name that a matrix can use.
var ErrHarness = errors.New("the name of a harness is made of letters, digits, _ and -, and used once")

// A Matrix holds harnesses against each other.
type Matrix struct {
	ID        string
	Document  value.Value
	harnesses []Harness
}

// ParseHarness reads NAME=PATH.
func ParseHarness(text string) (name, path string, err error) {
	name, path, ok := strings.Cut(text, "=")
	if !ok || path == "" || !harnessName(name) {
		return "", "", fmt.Errorf("%q is not NAME=PATH: %w", text, ErrHarness)
	}
	return name, path, nil
}

func harnessName(s string) bool {
	for i := range len(s) {
		if c := s[i]; c-'0' >= 10 && c|0x20-'a' >= 26 && c != '_' && c != '-' {
			return false
		}
	}
	return s != ""
}

// NewMatrix makes a matrix of harnesses in their order. The error wraps [ErrHarness].
func NewMatrix(harnesses []Harness) (*Matrix, error) {
	m := &Matrix{harnesses: harnesses}
	seen := map[string]bool{}
	members := make([]value.Member, len(harnesses))
	for i, h := range harnesses {
		if !harnessName(h.Name) || seen[h.Name] {
			return nil, fmt.Errorf("%q: %w", h.Name, ErrHarness)
		}
		seen[h.Name] = true
		members[i] = value.M(h.Name, h.Summary.Document.With("report", value.Text(h.Name+"/"+h.Summary.ID)))
	}
	m.Document = value.Object(
		value.M("schema_version", value.Text(MatrixSchema)),
		value.M("profile", value.Text(Profile)),
		value.M("harnesses", value.Object(members...)),
		value.M("is_behavioral_qualification", value.Bool(false)),
	)
	m.ID = documentID(m.Document)
	return m, nil
}

// Verdict is fulfilled if that of every harness is.
func (m *Matrix) Verdict() Verdict {
	ok := len(m.harnesses) > 0
	for _, h := range m.harnesses {
		ok = ok && h.Summary.report.Verdict() == Fulfilled
	}
	return fulfilled(ok)
}

// Text is the matrix file.
func (m *Matrix) Text() []byte { return documentText(m.Document) }

// Compact is the same document on one line, with the id of the matrix.
func (m *Matrix) Compact() []byte {
	members := append([]value.Member{value.M("matrix_id", value.Text(m.ID))}, m.Document.Members()...)
	return append(value.Object(members...).Append(nil, value.Plain), '\n')
}

// Page is the matrix in Markdown.
func (m *Matrix) Page() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Retained evidence by harness\n\nProfile `%s`. A cell says what the saved records show, not how a harness behaves.\n\n| Harness |", Profile)
	for _, c := range AllCapabilities() {
		fmt.Fprintf(&b, " %s |", c.Label())
	}
	b.WriteString(" P0 |\n|---|" + strings.Repeat("---|", capabilities+1) + "\n")
	for _, h := range m.harnesses {
		r := h.Summary.report
		fmt.Fprintf(&b, "| %s |", h.Name)
		for i := range r.tally.Capabilities {
			fmt.Fprintf(&b, " %s |", r.tally.Capabilities[i].Verdict().Word())
		}
		fmt.Fprintf(&b, " %s |\n", r.Verdict().Word())
	}
	return b.String()
}
