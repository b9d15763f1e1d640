package view

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/analysis"
	"github.com/rollscope/rollscope/core/runfolder"
)

// openCase drops the files of a folder of cases on a desk and reads them.
func openCase(t *testing.T, name string) (*Desk, map[string][]byte) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("../../testdata/cases", name, "*.jsonl"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s: %v", name, err)
	}
	data := map[string][]byte{}
	var files []runfolder.File
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		data[filepath.Base(p)] = b
		files = append(files, runfolder.File{Path: filepath.Base(p), Size: int64(len(b))})
	}
	return openDesk(t, files, data), data
}

func openDesk(t testing.TB, files []runfolder.File, data map[string][]byte) *Desk {
	t.Helper()
	d := new(Desk)
	for _, task := range d.Open(files, false) {
		scan := analysis.NewScan(task.Source, 0, task.Size, 0).Keep(analysis.All)
		scan.Feed(data[files[task.File].Path])
		scan.Finish()
		if err := d.Add(scan.Take()); err != nil {
			t.Fatal(err)
		}
	}
	auditAll(t, d, data)
	return d
}

func stat(p *Page, name string) string {
	for _, s := range p.Stats {
		if s.Name == name {
			return s.Value
		}
	}
	return "absent"
}

func codes(p *Page) string {
	var list []string
	for _, a := range p.Alerts {
		list = append(list, a.Code+"="+strconv.Itoa(a.Count))
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

// TestDamage drops the damaged cases: what is counted, what is announced, what the table shows of the lines.
func TestDamage(t *testing.T) {
	tests := []struct {
		name                                    string
		read, unreadable, repaired, recoverable string
		alerts                                  string
		tasks                                   string // first column of the Rollouts table
	}{
		{"01-bom-utf8", "2", "1", "1", "1", "repaired_row=1 unreadable_row=1", "0+repaired 0 1"},
		{"06-invalid-utf8", "2", "3", "3", "3", "repaired_row=3 unreadable_row=3", "0 0+repaired 0+repaired 0+repaired 0"},
		{"07-lone-surrogate-escape", "1", "4", "4", "4", "repaired_row=4 unreadable_row=4", "0 0+repaired 0+repaired 0+repaired 0+repaired"},
		{"09-nul-blocks", "2", "3", "1", "1", "repaired_row=1 torn_tail=1 unreadable_row=2", `0 0+repaired "__unreadable_record__:input-0:line-3" 1 "__unreadable_record__:input-0:line-5"`},
		{"13-nan-infinity-literals", "2", "3", "3", "3", "repaired_row=3 unreadable_row=3", "0 0+repaired 0+repaired 0+repaired 0"},
		{"14-number-edges", "1", "2", "2", "2", "repaired_row=2 unreadable_row=2", "0 0+repaired 0+repaired"},
		{"18-deep-nesting", "3", "4", "3", "3", "repaired_row=1 repaired_row=2 unreadable_row=2 unreadable_row=2",
			`"__unreadable_record__:input-0:line-1" –+repaired 0 0 0+repaired 0+repaired 0`},
		{"19-glued-objects", "1", "2", "2", "4", "repaired_row=2 unreadable_row=2", "0+2 records, repaired 1 1+2 records, repaired"},
		{"21-cut-last-line", "9", "3", "1", "1", "repaired_row=1 torn_tail=1 torn_tail=1 unreadable_row=1", "0 0 1+repaired 0 0 1+repaired 0 0 1 0 0 1+repaired"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, _ := openCase(t, tt.name)
			page, _ := d.Page(State{Tab: "rollouts"}, Host{}, nil)
			for name, want := range map[string]string{
				"accounting.read": tt.read, "accounting.unreadable": tt.unreadable, "accounting.repaired": tt.repaired, "accounting.recoverable": tt.recoverable,
			} {
				if got := stat(page, name); got != want {
					t.Errorf("%s is %s, want %s", name, got, want)
				}
			}
			if got := codes(page); got != tt.alerts {
				t.Errorf("alerts %s, want %s", got, tt.alerts)
			}
			var tasks []string
			for _, row := range page.Rollouts.Table.Rows {
				text := row.Cells[0].Text.Text
				if extra := row.Cells[0].Extra.Text; extra != "" {
					text += "+" + extra
				}
				tasks = append(tasks, text)
			}
			if got := strings.Join(tasks, " "); got != tt.tasks {
				t.Errorf("tasks %s, want %s", got, tt.tasks)
			}
			// What is shown enters nothing that counts or saves rows.
			page, _ = d.Page(State{Tab: "rollouts", Filter: "repaired=true and has(reward)"}, Host{}, nil)
			if got := stat(page, "filter.count"); got != "0" {
				t.Errorf("%s repaired rows have a reward", got)
			}
			copied, err := d.Copy(State{Tab: "rollouts"}, "rollouts")
			if err != nil || strings.Count(copied, "repaired: ") == 0 {
				t.Errorf("copies do not mark what is repaired: %v", err)
			}
			files, _ := d.Page(State{Tab: "files"}, Host{}, nil)
			if n := files.Files.Refused.Total; strconv.Itoa(n) != tt.unreadable {
				t.Errorf("%d lines are listed as unreadable", n)
			}
		})
	}
}

func TestTolerant(t *testing.T) {
	d := new(Desk)
	v, repairs, ok := d.tolerant([]byte(`{"a":NaN}{"b":1`))
	if !ok || string(v.Get("a").Raw()) != `"NaN"` || len(repairs) != 3 {
		t.Fatalf("%t, %s, %v", ok, v.Raw(), repairs)
	}
	if v, ok = d.record(1); !ok || !v.Get("b").Exists() {
		t.Errorf("second record: %t, %s", ok, v.Raw())
	}
	if _, ok = d.record(2); ok {
		t.Error("there is a third record")
	}
	if _, repairs, ok = d.tolerant([]byte("nothing")); ok || len(repairs) != 0 {
		t.Error("a record was found where there is none")
	}
}
