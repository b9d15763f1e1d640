package view

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/runfolder"
	"github.com/rollscope/rollscope/core/value"
	"github.com/rollscope/rollscope/core/verify"
)

// A golden run: what the commands say about it.
type goldenRun struct {
	Run, Dialect string
	Derived      map[string]json.RawMessage
	Legacy       map[string]json.RawMessage
	Saved        *struct {
		Comparison  string
		Differences []struct{ Field string }
	}
	Rollouts []struct {
		ID, Disposition, Measurement string
		Attempts                     []json.RawMessage
	}
	Pending []struct {
		ID      string
		Attempt json.RawMessage
	}
	Failures []struct {
		Line     int64
		Class    json.RawMessage
		Evidence bool
		Selected bool
	}
}

func goldenRuns(t *testing.T, file string) map[string]*goldenRun {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct{ Runs []*goldenRun }
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	runs := map[string]*goldenRun{}
	for _, r := range doc.Runs {
		runs[r.Run] = r
	}
	return runs
}

// statsOf are the numbers of a table that scripts read.
func statsOf(t *Table) map[string]string {
	stats := map[string]string{}
	for _, r := range t.Rows {
		for _, c := range r.Cells {
			if c.Stat != "" {
				stats[c.Stat] = c.Exact
			}
		}
	}
	return stats
}

// exactJSON is what a script reads of a value of a golden document.
func exactJSON(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	v, err := value.Parse(raw, value.Leniency{})
	if err != nil {
		t.Fatal(err)
	}
	return exactValue(v)
}

// TestCoverageOfGoldens compares what the page says about the runs of the reference's documents with them.
func TestCoverageOfGoldens(t *testing.T) {
	cases, err := filepath.Glob("../../testdata/runs/*/case.json")
	if err != nil || len(cases) != 39 {
		t.Fatalf("%d cases, %v", len(cases), err)
	}
	for _, p := range cases {
		dir := filepath.Dir(p)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			var spec struct {
				Run  string
				Args []string
			}
			b, err := os.ReadFile(p)
			if err == nil {
				err = json.Unmarshal(b, &spec)
			}
			if err != nil {
				t.Fatal(err)
			}
			root := filepath.Join(dir, spec.Run)
			if info, err := os.Stat(root); err == nil && !info.IsDir() {
				root = filepath.Dir(root)
			}
			files, data := folder(t, root)
			d := openDesk(t, files, data)
			if len(d.sources) == 0 && len(d.listing.Runs) == 0 {
				if p, _ := page(t, d, "tab=files"); slices.ContainsFunc(p.Tabs, func(tab Tab) bool { return tab.ID == "coverage" }) {
					t.Error("there is a tab without a run")
				}
				return
			}
			coverage := goldenRuns(t, filepath.Join(dir, "expected", "coverage.json"))
			records := goldenRuns(t, filepath.Join(dir, "expected", "records.json"))
			if len(spec.Args) > 0 {
				// A page is told nothing on a command line.
				coverage, records = documentsOf(t, d.audited.report)
			}
			c := d.choose(State{})
			f := d.fates(c)
			if f == nil {
				t.Fatal(d.audited.failed)
			}
			seen := 0
			for n, run := range f.runs {
				want, list := coverage[run.Key], records[run.Key]
				if want == nil {
					continue // another run of the folder than the one that was named
				}
				seen++
				one := &fates{report: f.report, runs: f.runs[n : n+1], states: f.states[f.starts[n]:f.starts[n+1]], wants: f.wants[f.starts[n]:f.starts[n+1]], starts: []int{0, f.starts[n+1] - f.starts[n]}}
				for _, row := range f.rows {
					if row.run == int32(n) {
						one.rows = append(one.rows, row)
					}
				}
				compareRun(t, d, c, one, want, list)
			}
			if seen != len(coverage) {
				t.Errorf("%d runs on the page, %d in the document", seen, len(coverage))
			}
			s, _ := d.Read("tab=coverage", Host{})
			page, _ := d.Page(s, Host{}, nil)
			if page.Coverage == nil {
				t.Fatalf("the tab is %s", d.tab(s))
			}
			flowAddsUp(t, page.Coverage.Flow)
			for _, id := range []string{"expected", "failures", "fields", "coverage_runs", "resume", "classes", "shapes", "digests", "legacy", "said", "saying", "batch"} {
				for _, form := range []string{formTSV, formCSV, formJSONL} {
					if _, err := d.Export(s, id, form, 0); err != nil {
						t.Errorf("%s as %s: %v", id, form, err)
					}
				}
			}
		})
	}
}

// documentsOf reads the documents that a report writes.
func documentsOf(t *testing.T, r *verify.Report) (coverage, records map[string]*goldenRun) {
	t.Helper()
	var a, b bytes.Buffer
	for _, err := range []error{r.WriteCoverage(&a), r.WriteRecords(&b, nil)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	for name, text := range map[string][]byte{"coverage": a.Bytes(), "records": b.Bytes()} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return goldenRuns(t, filepath.Join(dir, "coverage")), goldenRuns(t, filepath.Join(dir, "records"))
}

func compareRun(t *testing.T, d *Desk, c *selection, f *fates, want, list *goldenRun) {
	t.Helper()
	run := f.runs[0]
	sum := f.sum()
	fields := f.savedTable(sum)
	stats := statsOf(&fields)
	for field, raw := range want.Derived {
		if got := stats["coverage."+field]; got != exactJSON(t, raw) {
			t.Errorf("%s: coverage.%s is %s, want %s", run.Key, field, got, raw)
		}
	}
	if want.Derived == nil {
		if stats["coverage.expected"] != "" || stats["coverage.failed"] != "" {
			t.Errorf("%s: there is no coverage, and %v", run.Key, stats)
		}
		if got, rows := stats["coverage.measured"], fmt.Sprint(run.Rows.Measured); got != rows {
			t.Errorf("%s: %s measured rows, want %s", run.Key, got, rows)
		}
	}
	legacy := f.legacyTable()
	numbers := statsOf(&legacy)
	for field, raw := range want.Legacy {
		if got := numbers["coverage.legacy."+field]; got != exactJSON(t, raw) {
			t.Errorf("%s: coverage.legacy.%s is %s, want %s", run.Key, field, got, raw)
		}
	}
	differs := 0
	for _, r := range fields.Rows {
		if r.Cells[3].Text.Text == "differs" {
			differs++
		}
	}
	if want.Saved != nil && (want.Saved.Comparison == "stale" || want.Saved.Comparison == "mismatch") && differs != len(want.Saved.Differences) {
		t.Errorf("%s: %d fields differ, want %d", run.Key, differs, len(want.Saved.Differences))
	}
	if run.Index != nil && len(f.wants) != len(list.Rollouts) {
		t.Fatalf("%s: %d expected rollouts, want %d", run.Key, len(f.wants), len(list.Rollouts))
	}
	for i, r := range list.Rollouts {
		info := fateInfos[f.wants[i].fate]
		if string(info.disposition) != r.Disposition || string(info.measurement) != r.Measurement {
			t.Errorf("%s: %s is %s, want %s %s", run.Key, r.ID, info.word, r.Disposition, r.Measurement)
		}
	}
	plan := f.resumeTable(1 << 20)
	if want.Dialect == "manifest" {
		if len(plan.Rows) != len(list.Pending) {
			t.Errorf("%s: %d rollouts to run, want %d", run.Key, len(plan.Rows), len(list.Pending))
		}
		n := 0
		run.Planned(func(p verify.Planned) {
			if n < len(list.Pending) && (p.ID != list.Pending[n].ID || p.Attempt.String() != string(list.Pending[n].Attempt)) {
				t.Errorf("%s: %s at attempt %s is to run, want %+v", run.Key, p.ID, p.Attempt, list.Pending[n])
			}
			n++
		})
	} else if raw := want.Legacy["to_run"]; string(raw) != "null" && fmt.Sprint(plan.Total) != string(raw) {
		t.Errorf("%s: %d rollouts to run, want %s", run.Key, plan.Total, raw)
	}
	rows, decide := 0, 0
	for _, r := range list.Failures {
		if !r.Evidence {
			if rows++; r.Selected {
				decide++
			}
		}
	}
	classes, _ := d.classTable(c, f, State{Tab: "coverage"}, func(string) bool { return false }, func(failureAt) bool { return true })
	for _, r := range classes.Rows {
		at := func(key string) int {
			i := slices.IndexFunc(classes.Columns, func(col Column) bool { return col.Key == key })
			n := 0
			fmt.Sscan(strings.ReplaceAll(r.Cells[i].Text.Text, ",", ""), &n)
			return n
		}
		rows, decide = rows-at("rows"), decide-at("rollouts")
	}
	if rows != 0 || decide != 0 {
		t.Errorf("%s: the groups of failures lack %d rows and %d that decide", run.Key, rows, decide)
	}
}

// flowAddsUp tells whether the parts of a flow are its whole.
func flowAddsUp(t *testing.T, f Flow) {
	t.Helper()
	sum := 0
	for _, list := range [][]Share{f.Parts, f.Losses} {
		for _, s := range list {
			sum += s.Count
		}
	}
	if sum != f.Start.Count {
		t.Errorf("%s: parts of %d, want %d", f.Title, sum, f.Start.Count)
	}
}

// TestFatesFilter follows every part of the flow: its link leaves as many expected rollouts as it counts, and of the
// rows as many as speak.
func TestFatesFilter(t *testing.T) {
	for _, dir := range []string{"01-sound/run", "02-interrupted/run", "21-retry-default/run", "23-omissions/run", "25-imported/run"} {
		files, data := folder(t, "../../testdata/runs/"+dir)
		d := openDesk(t, files, data)
		p, _ := page(t, d, "tab=coverage")
		for _, list := range [][]Share{p.Coverage.Flow.Parts, p.Coverage.Flow.Losses} {
			for _, share := range list {
				there, _ := page(t, d, share.Href)
				if there.Filter.Error != "" || there.Coverage.Wants.Total != share.Count {
					t.Errorf("%s: %s is %d, its link leaves %d %s", dir, share.Word, share.Count, there.Coverage.Wants.Total, there.Filter.Error)
				}
				rows, _ := page(t, d, strings.Replace(share.Href, "tab=coverage", "tab=rollouts", 1))
				speaks := share.Mark == MarkMeasured || share.Mark == MarkMasked || share.Mark == MarkUnscored
				if speaks && rows.Filter.Shown != share.Count {
					t.Errorf("%s: %s is %d, %d rows", dir, share.Word, share.Count, rows.Filter.Shown)
				}
				for _, r := range there.Coverage.Wants.Rows {
					if speaks && r.Rollout == "" {
						t.Errorf("%s: %s leads to %q", dir, share.Word, r.Rollout)
					}
				}
			}
		}
		for _, col := range wantSortKeys() {
			for _, sign := range []string{"", "-"} {
				sorted, _ := page(t, d, "tab=coverage&sort="+sign+col)
				if sorted.Coverage.Wants.Total != p.Coverage.Wants.Total {
					t.Errorf("%s: sorted by %s there are %d", dir, col, sorted.Coverage.Wants.Total)
				}
			}
		}
	}
}

// TestTasksWithoutRows has the grid of tasks show what has no row: failures-and-missing of the odd inputs.
func TestTasksWithoutRows(t *testing.T) {
	files, data := folder(t, "../../testdata/cases/35-failures-and-missing")
	files = slices.DeleteFunc(files, func(f runfolder.File) bool { return strings.HasSuffix(f.Path, ".md") })
	d := openDesk(t, files, data)
	p, s := page(t, d, "tab=tasks")
	if p.Tasks.Table.Total != 3 {
		t.Fatalf("%d tasks", p.Tasks.Table.Total)
	}
	b, err := d.Cells(s, 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(b[16:22]); got != "[19 11 19 4 4 6]" {
		t.Errorf("cells %s", got)
	}
	texts := []string{}
	for row := range 3 {
		for column := range 2 {
			cell, err := d.Cell(s, row, column)
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, cell.Text)
			if cell.Href == "" && !strings.Contains(cell.Text, "unknown") {
				t.Errorf("%s leads nowhere", cell.Text)
			}
		}
	}
	for i, want := range []string{"unobserved, reward 1", "unobserved, reward 0", "unobserved, reward 1", "failed", "failed", "unknown"} {
		if !strings.Contains(texts[i], want) {
			t.Errorf("cell %d: %s", i, texts[i])
		}
	}
	last := p.Tasks.Table.Rows[2]
	solved := slices.IndexFunc(p.Tasks.Table.Columns, func(c Column) bool { return c.Key == "solved" })
	if last.Cells[solved].Text.Text != "0" || last.Cells[solved].Extra.Text != "of 0" {
		t.Errorf("task 2 is solved %v", last.Cells[solved])
	}
	some, _ := page(t, d, "tab=tasks&filter=disposition:failure")
	if some.Tasks.Table.Total != 2 {
		t.Errorf("%d tasks with failures", some.Tasks.Table.Total)
	}
}

func TestShapes(t *testing.T) {
	for message, want := range map[string]string{
		"":                                   "",
		"timeout after 30 s":                 "timeout after # s",
		"timeout after 31.5s":                "timeout after #s",
		"worker-12 died":                     "worker-# died",
		"read /tmp/run-3/out.json: no space": "read #path: no space",
		"POST http://10.0.0.1:8080/v1/x 502": "POST #url #",
		"id 3f2a9b0c1d2e failed":             "id #hex failed",
		"at 0x7fff12, bad":                   "at #hex, bad",
		"deadbeef is a word, 1234 is not":    "deadbeef is a word, # is not",
		"3c1f0a52-9b7e-4c1d-8a55-0123456789ab  twice\n": "#hex twice",
		"C:\\temp\\x.txt is gone":                       "#path is gone",
		"a/b and 1/2":                                   "a/b and #/#",
		"größe 12":                                      "größe #",
	} {
		if got := shapeOf(message); got != want {
			t.Errorf("%q: %q, want %q", message, got, want)
		}
	}
	if long := shapeOf(strings.Repeat("ä", 1000)); !strings.HasSuffix(long, " …") || len(long) > shapeBytes+8 {
		t.Errorf("%d bytes", len(long))
	}
}

func FuzzShape(f *testing.F) {
	f.Add("timeout after 30 s at /tmp/x")
	f.Add("\xff0x\xfe~/C:\\")
	f.Fuzz(func(t *testing.T, s string) {
		if got := shapeOf(s); len(got) > 8*len(s)+8 {
			t.Errorf("%q: %d bytes", s, len(got))
		}
	})
}

// TestProjection has profile main judge the results that decide, and no others, as soon as the files are held against
// each other.
func TestProjection(t *testing.T) {
	const both = `"_ng_rollout_index":0,"_ng_run_id":"r1"`
	row := func(task, attempt int, more string) string {
		return fmt.Sprintf(`{"_ng_task_index":%d,%s,"_ng_attempt_index":%d%s}`+"\n", task, both, attempt, more)
	}
	zeros := strings.Repeat("0", 64)
	data := map[string][]byte{
		"r.jsonl":                     []byte(row(0, 0, `,"reward":1,"response":{}`) + row(1, 0, `,"reward":1,"response":{}`) + row(2, 1, `,"reward":0,"response":{}`) + row(9, 0, `,"reward":1`)),
		"r_failures.jsonl":            []byte(row(1, 1, `,"_ng_failure_class":"judge_failed"`) + row(2, 0, `,"_ng_failure_class":"transient"`)),
		"r_materialized_inputs.jsonl": []byte(`{"_ng_task_index":0,"_ng_rollout_index":0}` + "\n" + `{"_ng_task_index":1,"_ng_rollout_index":0}` + "\n" + `{"_ng_task_index":2,"_ng_rollout_index":0}` + "\n"),
		"r_manifest.json": []byte(`{"schema_version":2,"selection_policy":"latest_allocated","next_attempt":{"0-0":1,"1-0":2,"2-0":2},"run_id":"r1","source_digest":"` +
			zeros + `","materialized_digest":"` + zeros + `","config_digest":"` + zeros + `","legacy_import":false,"identity_overridden":false}`),
	}
	files := []runfolder.File{}
	for _, name := range []string{"r.jsonl", "r_failures.jsonl", "r_materialized_inputs.jsonl", "r_manifest.json"} {
		files = append(files, runfolder.File{Path: name, Size: int64(len(data[name]))})
	}
	d := openDesk(t, files, data)
	for fragment, want := range map[string]string{"tab=health": "4 ", "tab=health&profile=main": "2 "} {
		p, _ := page(t, d, fragment)
		if !strings.HasPrefix(strings.TrimPrefix(p.Health.Judged, "verdict of "), want) || strings.Contains(p.Health.Partial, "projection") != (want == "2 ") {
			t.Errorf("%s: %s, %s", fragment, p.Health.Judged, p.Health.Partial)
		}
	}
	for line, want := range []string{"Attempt 0 decides", "Attempt 1 decides", "Attempt 1 decides", "was not taken in"} {
		s, _ := d.Read(fmt.Sprintf("rollout=r.jsonl:%d&part=attempts", line+1), Host{})
		var p *Page
		for range 3 {
			var needs []Need
			if p, needs = d.Page(s, Host{}, nil); len(needs) == 0 {
				break
			}
			for _, n := range needs {
				d.Supply(n, bytes.Clone(data[d.files[n.File].Path][n.Offset:n.Offset+n.Length]), "")
			}
		}
		if p.Rollout.Attempts == nil || !strings.Contains(p.Rollout.Attempts.Lines[0].Text, want) {
			t.Fatalf("line %d: %+v", line+1, p.Rollout.Attempts)
		}
		roles := []string{}
		for _, r := range p.Rollout.Attempts.Table.Rows {
			roles = append(roles, r.Cells[0].Text.Text+" "+r.Cells[1].Text.Text+" "+r.Cells[2].Text.Text)
		}
		if got, want := strings.Join(roles, "; "), []string{"0 result decides", "0 result history; 1 failure decides", "0 failure history; 1 result decides", "0 row not taken in"}[line]; got != want {
			t.Errorf("line %d: %s, want %s", line+1, got, want)
		}
	}
}
