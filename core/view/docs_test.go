package view

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the tables of the manual anew")

// The manual has the keys, the parts of links and the columns that there are.
func TestManual(t *testing.T) {
	const file = "../../docs/page.md"
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	var keys strings.Builder
	keys.WriteString("| Keys | |\n|---|---|\n")
	for _, c := range Commands() {
		keys.WriteString("| `" + strings.ReplaceAll(c.Name(), "  ", "` `") + "` | " + c.Title + " |\n")
	}
	if *update {
		before, rest, _ := strings.Cut(text, "## Keys\n\n")
		_, after, _ := strings.Cut(rest, "\n`Ctrl-F`")
		text = before + "## Keys\n\n" + keys.String() + "\n`Ctrl-F`" + after
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if !strings.Contains(text, keys.String()) {
		t.Error("the keys of the manual are not those of the page: -update writes them anew")
	}
	for part := range strings.SplitSeq(full().Encode(), "&") {
		if key, _, _ := strings.Cut(part, "="); !strings.Contains(text, "`"+key+"`") {
			t.Errorf("%s is in links and not in the manual", key)
		}
	}
}
