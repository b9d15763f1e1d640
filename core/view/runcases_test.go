package view

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/runfolder"
)

// oddCase opens a folder of odd inputs, as it was dropped.
func oddCase(t *testing.T, name string) *Desk {
	t.Helper()
	dirs, err := filepath.Glob("../../testdata/cases/" + name)
	if err != nil || len(dirs) != 1 {
		t.Fatalf("%s: %v %v", name, dirs, err)
	}
	files, data := folder(t, dirs[0])
	files = slices.DeleteFunc(files, func(f runfolder.File) bool { return strings.HasSuffix(f.Path, ".md") })
	return openDesk(t, files, data)
}

// cellText is the text of a column of a row.
func cellText(t Table, r Row, key string) string {
	i := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Key == key })
	if i < 0 {
		return "no column " + key
	}
	return strings.TrimSpace(r.Cells[i].Text.Text + " " + r.Cells[i].Extra.Text)
}

// TestRunCases holds the page against what is right for odd inputs about run files.
func TestRunCases(t *testing.T) {
	stats := func(d *Desk, fragment string) map[string]string {
		p, _ := page(t, d, fragment)
		list := map[string]string{}
		for _, s := range p.Stats {
			list[s.Name] = s.Value
		}
		if p.Coverage != nil {
			for name, value := range statsOf(&p.Coverage.Saved) {
				list[name] = value
			}
		}
		return list
	}
	expect := func(t *testing.T, got map[string]string, want map[string]string) {
		t.Helper()
		for name, value := range want {
			if got[name] != value {
				t.Errorf("%s is %q, want %q", name, got[name], value)
			}
		}
	}
	tasks := func(t *testing.T, d *Desk, key string) string {
		t.Helper()
		p, _ := page(t, d, "tab=tasks&columns=task,cells,solved,mean,repeats,missing&sort=task")
		list := []string{}
		for _, r := range p.Tasks.Table.Rows {
			list = append(list, cellText(p.Tasks.Table, r, "task")+": "+cellText(p.Tasks.Table, r, key))
		}
		return strings.Join(list, ", ")
	}
	said := func(d *Desk) string {
		ids := []string{}
		for _, g := range d.fates(d.choose(State{})).findingGroups() {
			ids = append(ids, fmt.Sprint(g.info.ID, " ", len(g.list)))
		}
		slices.Sort(ids)
		return strings.Join(ids, ", ")
	}

	t.Run("failures and missing", func(t *testing.T) {
		d := oddCase(t, "35-*")
		expect(t, stats(d, "tab=coverage"), map[string]string{"coverage.expected": "6", "coverage.measured": "3", "coverage.failed": "2", "coverage.unknown": "1", "coverage.counted_failures": "2"})
		if got := tasks(t, d, "solved"); got != "0: 1 of 2, 1: 1 of 1, 2: 0 of 0" {
			t.Errorf("solved %s", got)
		}
		if got := tasks(t, d, "missing"); got != "0: 0, 1: 1, 2: 2" {
			t.Errorf("without a result %s", got)
		}
		p, _ := page(t, d, "")
		if panel := p.Overview.Panels[0]; panel.Title != "Complete" || panel.Number.Text != "3" || !strings.HasPrefix(panel.Of, "of 6 expected") {
			t.Errorf("%s %s %s", panel.Title, panel.Number.Text, panel.Of)
		}
	})
	t.Run("masked samples", func(t *testing.T) {
		d := oddCase(t, "36-*")
		expect(t, stats(d, "tab=coverage"), map[string]string{"coverage.expected": "", "coverage.measured": "3", "coverage.masked": "3", "coverage.unscored": "0"})
		expect(t, stats(d, "tab=rollouts&filter=measurement:masked"), map[string]string{"filter.count": "3"})
		if got := tasks(t, d, "mean"); !strings.Contains(got, "1: –") {
			t.Errorf("means %s", got)
		}
	})
	t.Run("unequal repeats", func(t *testing.T) {
		d := oddCase(t, "39-*")
		if got := tasks(t, d, "repeats"); got != "0: 4, 1: 2, 2: 1" {
			t.Errorf("rows %s", got)
		}
		p, _ := page(t, d, "tab=coverage")
		if len(p.Coverage.Notes) != 1 || !strings.Contains(p.Coverage.Notes[0].Text, "not known") {
			t.Errorf("%v", p.Coverage.Notes)
		}
	})
	t.Run("shards", func(t *testing.T) {
		d := oddCase(t, "41-*")
		expect(t, stats(d, "tab=coverage"), map[string]string{"rollout.count": "7", "accounting.files": "4"})
		p, _ := page(t, d, "tab=coverage")
		names := []string{}
		for _, r := range p.Coverage.Runs.Rows {
			names = append(names, r.ID[strings.LastIndexByte(r.ID, '/')+1:])
		}
		if len(names) != 4 || p.Coverage.Flow.Start.Count == 0 {
			t.Errorf("%v, %+v", names, p.Coverage.Flow.Start)
		}
		expect(t, stats(d, "tab=rollouts&filter=check:rollout_duplicate_identity"), map[string]string{"filter.count": "2"})
	})
	t.Run("duplicate identity", func(t *testing.T) {
		d := oddCase(t, "34-*")
		expect(t, stats(d, "tab=rollouts&filter=check:rollout_duplicate_identity"), map[string]string{"filter.count": "3", "rollout.count": "5"})
		if got := said(d); !strings.Contains(got, "records.duplicate_result 2") {
			t.Errorf("findings %s", got)
		}
		var p *Page
		s, _ := d.Read("rollout=rollouts.jsonl:1&part=attempts", Host{})
		part, _ := d.attempts(d.choose(s), firstItem(t, d), s)
		if part.Table.Total != 3 {
			t.Errorf("%d records of 0-0, %v", part.Table.Total, p)
		}
	})
	t.Run("index missing or odd", func(t *testing.T) {
		d := oddCase(t, "32-*")
		expect(t, stats(d, "tab=coverage"), map[string]string{"rollout.count": "10", "accounting.unreadable": "0"})
		if got := said(d); !strings.Contains(got, "layout.no_inventory 2") {
			t.Errorf("findings %s", got)
		}
	})
	t.Run("number and text ids", func(t *testing.T) {
		d := oddCase(t, "33-*")
		if got := tasks(t, d, "mean"); got != `1: 1.000, 2: 0.500, "01": 0.000, "1": 0.000` {
			t.Errorf("means %s", got)
		}
		if got := said(d); strings.Contains(got, "duplicate") {
			t.Errorf("findings %s", got)
		}
	})
	t.Run("cut last line", func(t *testing.T) {
		d := oddCase(t, "21-*")
		if got := said(d); !strings.Contains(got, "layout.torn_tail 2") || !strings.Contains(got, "layout.malformed_line 1") {
			t.Errorf("findings %s", got)
		}
		expect(t, stats(d, "tab=coverage"), map[string]string{"accounting.torn": "2", "accounting.unreadable": "3", "accounting.read": "9"})
	})
	t.Run("empty inputs", func(t *testing.T) {
		d := oddCase(t, "26-*")
		for _, tab := range []string{"overview", "coverage", "tasks", "files"} {
			p, _ := page(t, d, "tab="+tab)
			if p.Coverage != nil && p.Coverage.Flow.Start.Count != 0 {
				t.Errorf("%+v", p.Coverage.Flow)
			}
			if p.Overview != nil && strings.Contains(fmt.Sprint(p.Overview), "NaN") {
				t.Error("NaN on the Overview")
			}
		}
		p, _ := page(t, d, "tab=files")
		for _, r := range p.Files.Others.Rows {
			if got := cellText(p.Files.Others, r, "state"); (r.ID == "zero.eval" || r.ID == "empty.json") && got != "empty file" {
				t.Errorf("%s: %s", r.ID, got)
			}
		}
	})
}

func firstItem(t *testing.T, d *Desk) *item {
	t.Helper()
	i, ok := d.choose(State{}).item(0)
	if !ok {
		t.Fatal("there is no row")
	}
	return i
}

// TestFilteredHealth says that the reports do not follow the filter.
func TestFilteredHealth(t *testing.T) {
	d := oddCase(t, "35-*")
	for fragment, told := range map[string]bool{"tab=health": false, "tab=health&filter=reward%3D1": true} {
		p, _ := page(t, d, fragment)
		if got := strings.Contains(p.Health.Judged, "whatever the filter"); got != told || !strings.HasPrefix(p.Health.Judged, "verdict of 3 rollouts") {
			t.Errorf("%s: %s", fragment, p.Health.Judged)
		}
	}
}

// TestBatchManifest opens a batch manifest, which only its content tells from another document: it is read, and no
// message says otherwise.
func TestBatchManifest(t *testing.T) {
	files, data := folder(t, "../../testdata/runs/37-batch-mismatch/run")
	d := openDesk(t, files, data)
	p, _ := page(t, d, "#tab=files")
	if got := codes(p); strings.Contains(got, runfolder.UnknownKind) {
		t.Errorf("messages %s", got)
	}
	for _, r := range p.Files.Others.Rows {
		if kind := r.Cells[1].Text.Text; strings.HasSuffix(r.ID, "/batch.json") && kind != runfolder.BatchManifest.Info().Title {
			t.Errorf("it is listed as %q", kind)
		}
	}
	// A document that is none has its message.
	other := "other/settings.json"
	data[other] = []byte(`{"a":1}`)
	d = openDesk(t, append(files, runfolder.File{Path: other, Size: int64(len(data[other]))}), data)
	p, _ = page(t, d, "#tab=overview")
	if got := codes(p); !strings.Contains(got, runfolder.UnknownKind) {
		t.Errorf("messages %s", got)
	}
	// Without a reward there are no scores to go to.
	for _, panel := range p.Overview.Panels {
		if panel.Title == "Score" && panel.Href != "" {
			t.Errorf("the panel leads to %s", panel.Href)
		}
	}
}
