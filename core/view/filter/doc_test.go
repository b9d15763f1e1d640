package filter

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestManual reads every example of the manual.
func TestManual(t *testing.T) {
	text, err := os.ReadFile("../../../docs/filter.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, limit := range []int{MaxDepth, MaxSigns, MaxLists, MaxPattern, MaxSteps, allSteps} {
		if s := strconv.Itoa(limit); !strings.Contains(strings.ReplaceAll(string(text), ",", ""), s) {
			t.Errorf("the manual does not mention the limit %d", limit)
		}
	}
	names := append(Fields{{Name: "completion_tokens", Kind: NumberKind, Title: "completion tokens"}, {Name: "calls", Kind: NumberKind, Title: "model calls"}}, fields...)
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
	if want := listManual(); !strings.Contains(string(text), want) {
		t.Errorf("the manual does not have the lists as they are:\n%s", want)
	}
	for _, word := range append(append([]string{}, keywords...), later...) {
		if !strings.Contains(string(text), "`"+word+"`") && !strings.Contains(string(text), `"`+word+`"`) {
			t.Errorf("the manual does not mention %s", word)
		}
	}
}

// listManual is what the manual says of lists.
func listManual() string {
	var b strings.Builder
	b.WriteString("| List | Elements | Read from |\n|---|---|---|\n")
	for _, l := range Lists {
		b.WriteString("| `" + l.Name + "` | " + l.Title + " | " + l.From + " |\n")
	}
	for _, l := range Lists {
		b.WriteString("\n| Field of `" + l.Name + "` | Kind | Meaning |\n|---|---|---|\n")
		for _, f := range l.Fields {
			kind := f.Kind.String()
			if f.List {
				kind = "list of texts"
			}
			b.WriteString("| `" + f.Name + "` | " + kind + " | " + f.Title + " |\n")
		}
	}
	return b.String()
}

func TestLists(t *testing.T) {
	for _, l := range Lists {
		if err := l.Fields.Check(); err != nil {
			t.Errorf("%s: %v", l.Name, err)
		}
	}
}
