package view

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/runfolder"
)

// TestFindingsColumn holds the column of findings against what the filter calls the checks of a row: the findings of
// the row, then the flags of its task.
func TestFindingsColumn(t *testing.T) {
	data, err := os.ReadFile(filepath.FromSlash("../../testdata/health/s14-task-level/input/rollouts.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	sample, _ := sampleDesk(t)
	flagged := 0
	for name, d := range map[string]*Desk{"sample": sample, "tasks": deskOf(t, "rollouts.jsonl", data)} {
		c := d.choose(State{})
		for n := range c.table.Rows() {
			i, _ := c.item(n)
			cell, want := findingsCell(i), i.fired()
			if cell.Exact != strings.Join(want, " ") {
				t.Errorf("%s, row %d: %q, the filter says %q", name, n, cell.Exact, want)
			}
			if len(want) == 0 != (cell.Text.Text == Dash && cell.Extra.Text == "") {
				t.Errorf("%s, row %d: shows %q %q for %q", name, n, cell.Text.Text, cell.Extra.Text, want)
			}
			if len(i.flags()) > 0 {
				flagged++
				if !strings.Contains(cell.Extra.Text, "task") {
					t.Errorf("%s, row %d: %q does not name the task's flags", name, n, cell.Extra.Text)
				}
			}
		}
	}
	if flagged == 0 {
		t.Error("no task is flagged")
	}
}

// TestMistakenFilter says that all rows are shown because the filter is none.
func TestMistakenFilter(t *testing.T) {
	d, _ := sampleDesk(t)
	p, _ := page(t, d, "tab=tasks&filter=verdct:healthy")
	if f := p.Filter; f.Error == "" || f.Shown != f.Total || !strings.HasSuffix(f.Unit, ", not filtered") {
		t.Errorf("%+v", f)
	}
}

// TestRunNames names runs by the folder they were given in.
func TestRunNames(t *testing.T) {
	for want, paths := range map[string][]string{
		"rollouts":              {"rollouts.jsonl"},
		"night":                 {"night/rollouts.jsonl", "night/rollouts_failures.jsonl"},
		"night/easy":            {"night/easy.jsonl"},
		"night/deep/rollouts":   {"night/deep/rollouts.jsonl"},
		"2 runs a/x b/rollouts": {"a/x.jsonl", "b/rollouts.jsonl"},
	} {
		var list []runfolder.File
		data := map[string][]byte{}
		for n, path := range paths {
			data[path] = []byte(strings.Repeat("{}\n", n+1))
			list = append(list, runfolder.File{Path: path, Size: int64(len(data[path]))})
		}
		d := openDesk(t, list, data)
		p, _ := page(t, d, "")
		var names []string
		for _, r := range p.Runs {
			names = append(names, r.Name)
		}
		if got := strings.Join(names, " "); got != want || p.Title != names[0]+" – "+brand {
			t.Errorf("%q are called %q, want %q; the title is %q", paths, got, want, p.Title)
		}
	}
}
