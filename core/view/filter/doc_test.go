package filter

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestManual reads every example of the manual.
func TestManual(t *testing.T) {
	text, err := os.ReadFile("../../../docs/filter.md")
	if err != nil {
		t.Fatal(err)
	}
	names := append(Fields{{Name: "completion_tokens", Kind: NumberKind, Title: "completion tokens"}}, fields...)
	examples, forms := 0, 0
	inside := false
	row := regexp.MustCompile("^\\| `(.*)` \\| `(.*)` \\|$")
	cell := regexp.MustCompile("`([^`]+)`")
	conditions := false
	for line := range strings.SplitSeq(string(text), "\n") {
		conditions = strings.HasPrefix(line, "| Form") || conditions && strings.HasPrefix(line, "|")
		switch {
		case strings.HasPrefix(line, "```"):
			inside = line == "```filter"
		case inside:
			examples++
			if f, err := Parse(line, names); err != nil {
				t.Errorf("%s: %v", line, err)
			} else if again, err := Parse(f.String(), names); err != nil || !again.Equal(f) {
				t.Errorf("%s: %v", f, err)
			}
		case conditions && strings.HasPrefix(line, "| `"):
			first, _, _ := strings.Cut(line[2:], " | ")
			for _, m := range cell.FindAllStringSubmatch(first, -1) {
				examples++
				if _, err := Parse(m[1], names); err != nil {
					t.Errorf("%s: %v", m[1], err)
				}
			}
		case row.MatchString(line):
			forms++
			m := row.FindStringSubmatch(line)
			if f, err := Parse(m[1], names); err != nil || f.String() != m[2] {
				t.Errorf("%s: %s, %v", m[1], f, err)
			}
		}
	}
	if examples < 25 || forms < 3 {
		t.Errorf("only %d examples and %d forms found", examples, forms)
	}
	for _, word := range append(append([]string{}, keywords...), later...) {
		if !strings.Contains(string(text), "`"+word+"`") && !strings.Contains(string(text), `"`+word+`"`) {
			t.Errorf("the manual does not mention %s", word)
		}
	}
}
