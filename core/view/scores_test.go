package view

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/analysis"
	"github.com/rollscope/rollscope/core/runfolder"
)

// served makes a page and hands over the bytes that it needs, as a host does.
func served(t testing.TB, d *Desk, data map[string][]byte, fragment string) *Page {
	t.Helper()
	s, odd := d.Read(fragment, Host{})
	if len(odd) > 0 {
		t.Fatalf("%s: %v means nothing", fragment, odd)
	}
	for range 100 {
		p, needs := d.Page(s, Host{}, nil)
		if len(needs) == 0 {
			return p
		}
		for _, n := range needs {
			d.Supply(n, bytes.Clone(data[d.files[n.File].Path][n.Offset:n.Offset+n.Length]), "")
		}
	}
	t.Fatalf("%s needs more and more", fragment)
	return nil
}

// answered runs the second scan that a page wants.
func answered(t testing.TB, d *Desk, data map[string][]byte, fragment string) {
	t.Helper()
	s, _ := d.Read(fragment, Host{})
	a := d.Asking(s)
	if a == nil {
		t.Fatalf("%s asks nothing", fragment)
	}
	q, err := Ask(a.Filter)
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range a.Tasks {
		scan := analysis.NewScan(task.Source, task.From, task.To, 0).Ask(q.Number(), analysis.RowMapper(q))
		scan.Feed(data[d.files[task.File].Path][scan.Next():])
		scan.Finish()
		if err := d.Add(scan.Take()); err != nil {
			t.Fatal(err)
		}
	}
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(a), math.Abs(b)) }

// statNumber reads a stat of a page.
func statNumber(t testing.TB, p *Page, name string) float64 {
	t.Helper()
	text := stat(p, name)
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Errorf("%s is %q", name, text)
		return math.NaN()
	}
	return f
}

// caseFolders are the cases of the repository, and those of a folder that a variable names.
func caseFolders(variable, pattern string) []string {
	dirs, _ := filepath.Glob(pattern)
	if more := os.Getenv(variable); more != "" {
		list, _ := filepath.Glob(filepath.Join(more, "*"))
		dirs = append(dirs, list...)
	}
	return slices.DeleteFunc(dirs, func(dir string) bool {
		info, err := os.Stat(dir)
		return err != nil || !info.IsDir()
	})
}

var (
	wantedAggregate = regexp.MustCompile(`Reference aggregate over the readable records: (\{.*\})`)
	wantedTask      = regexp.MustCompile(`(\S+): mean ([\d.]+), std ([\d.]+), n (\d+)`)
)

// TestCaseAggregates holds the page against what the reference computes of the rows that can be read.
func TestCaseAggregates(t *testing.T) {
	checked := 0
	for _, dir := range caseFolders("ROLLSCOPE_CASES", "../../testdata/cases/*") {
		expect, err := os.ReadFile(filepath.Join(dir, "expect.md"))
		if err != nil {
			continue
		}
		m := wantedAggregate.FindSubmatch(expect)
		if m == nil {
			continue
		}
		checked++
		files, data := folder(t, dir)
		d := openDesk(t, files, data)
		p := served(t, d, data, "tab=scores")
		var want map[string]float64
		if err := json.Unmarshal(m[1], &want); err != nil {
			t.Fatal(err)
		}
		for name, value := range want {
			if have := statNumber(t, p, "score."+name); !near(have, value) {
				t.Errorf("%s: %s is %v, want %v", dir, name, have, value)
			}
		}
		for _, line := range wantedTask.FindAllStringSubmatch(string(expect), -1) {
			found := false
			for i := range d.chosen.scored.scores.Tasks {
				task := &d.chosen.scored.scores.Tasks[i]
				if task.Task.String() != line[1] {
					continue
				}
				found = true
				mean, _ := strconv.ParseFloat(line[2], 64)
				std, _ := strconv.ParseFloat(line[3], 64)
				if !near(task.Mean, mean) || task.Measured > 1 && !near(task.Std, std) || strconv.Itoa(task.Measured) != line[4] {
					t.Errorf("%s: task %s has mean %v, std %v, n %d", dir, line[1], task.Mean, task.Std, task.Measured)
				}
			}
			if !found {
				t.Errorf("%s: there is no task %s", dir, line[1])
			}
		}
	}
	if checked < 2 {
		t.Errorf("%d cases", checked)
	}
}

// TestCaseMeans holds the headline of the page: the mean, how many rollouts it is of, and what was left out.
func TestCaseMeans(t *testing.T) {
	for _, one := range []struct {
		name, mean   string
		measured, of int
		left         string
	}{
		{"01-bom-utf8", "", 2, 3, "1 unreadable"},
		{"03-line-endings-mixed", "0.75", 4, 4, "nothing"},
		{"13-nan-infinity-literals", "0.5", 2, 5, "3 unreadable"},
		{"15-ids-beyond-2p53", "0.3333333333333333", 3, 3, "nothing"},
		{"17-keys-differ-in-case", "1", 2, 3, "1 unscored"},
		{"27-very-long-line", "0.6666666666666666", 3, 3, "nothing"},
		{"28-gzip-members", "0.5", 4, 4, "nothing"},
		{"33-number-versus-text-ids", "", 5, 5, "nothing"},
		{"35-failures-and-missing", "0.6666666666666666", 3, 6, "2 failed, 1 missing"},
		{"36-masked-samples", "0.6666666666666666", 3, 6, "3 masked"},
		{"39-unequal-repeats", "0.7142857142857143", 7, 7, "nothing"},
		{"50-folder-of-120", "0.3333333333333333", 120, 120, "nothing"},
	} {
		dir := filepath.Join("../../testdata/cases", one.name)
		if more := os.Getenv("ROLLSCOPE_CASES"); more != "" {
			dir = filepath.Join(more, one.name)
		}
		if _, err := os.Stat(dir); err != nil {
			continue
		}
		files, data := folder(t, dir)
		if slices.ContainsFunc(files, func(f runfolder.File) bool { return strings.HasSuffix(f.Path, ".gz") }) {
			continue // packed files are read by another way
		}
		d := openDesk(t, files, data)
		p := served(t, d, data, "tab=scores")
		if p.Scores == nil {
			t.Errorf("%s: there are no scores", one.name)
			continue
		}
		all := &d.chosen.scored.scores.All
		if one.mean != "" && exactFloat(all.Mean) != one.mean || all.Measured != one.measured || all.Expected != one.of || leftOut(&all.LeftOut).Text != one.left {
			t.Errorf("%s: mean %v, %d of %d, left out %q", one.name, all.Mean, all.Measured, all.Expected, leftOut(&all.LeftOut).Text)
		}
		if want := fmt.Sprintf("%d of %s", one.measured, count(one.of, "rollout", "rollouts")); p.Scores.Number.Note.Text != want {
			t.Errorf("%s says %q", one.name, p.Scores.Number.Note.Text)
		}
		o := served(t, d, data, "tab=overview")
		if at := slices.IndexFunc(o.Overview.Panels, func(p Panel) bool { return p.Title == "Score" }); at < 0 ||
			o.Overview.Panels[at].Number.Title != exactFloat(all.Mean) || o.Overview.Panels[at].Of != fmt.Sprintf("mean reward, %d of %d", one.measured, one.of) {
			t.Errorf("%s: the panel is wrong", one.name)
		}
	}
}

// TestCaseRepeats holds tasks with unlike numbers of repeats: both means are named, and pass@k is of the tasks that
// have as many.
func TestCaseRepeats(t *testing.T) {
	files, data := folder(t, "../../testdata/cases/39-unequal-repeats")
	d := openDesk(t, files, data)
	p := served(t, d, data, "tab=scores")
	for name, want := range map[string]string{"score.task_mean": "0.5", "score.pass@1/accuracy": "50", "score.pass@2/accuracy": "100"} {
		if have := stat(p, name); have != want {
			t.Errorf("%s is %q, want %q", name, have, want)
		}
	}
	for i, want := range []string{"1", "1", "1", "0", "2"} {
		if f := p.Scores.Facts[i]; f.Exact != want {
			t.Errorf("%s is %s, want %s", f.Stat, f.Exact, want)
		}
	}
	if row := p.Scores.Passes.Rows[1]; exact(row.Cells[4]) != "2" || exact(row.Cells[5]) != "1" {
		t.Errorf("pass@2 is of %s tasks, %s skipped", exact(row.Cells[4]), exact(row.Cells[5]))
	}
}

// TestEmptyScores has nothing to score: a dash and a reason, never 0.
func TestEmptyScores(t *testing.T) {
	for name, text := range map[string]string{
		"all masked": `{"_ng_task_index":0,"reward":1,"mask_sample":true}` + "\n", "no reward": `{"_ng_task_index":0,"reward":null}` + "\n", "a text": `{"_ng_task_index":0,"reward":"NaN"}` + "\n",
		"damaged": "{\n",
	} {
		d := deskOf(t, "rollouts.jsonl", []byte(text))
		p := served(t, d, nil, "tab=scores")
		if p.Scores.Number.Value.Text != Dash || p.Scores.Number.Value.Title == "" || stat(p, "score.mean/reward") != "" {
			t.Errorf("%s: %+v, %q", name, p.Scores.Number, stat(p, "score.mean/reward"))
		}
		for _, row := range p.Scores.Groups.Rows {
			for _, cell := range row.Cells {
				if strings.Contains(cell.Text.Text, "NaN") || strings.Contains(cell.Text.Text, "Inf") {
					t.Errorf("%s: %q", name, cell.Text.Text)
				}
			}
		}
	}
}

// TestSavedScores shows what the files say beside what the rows give, and both are equal.
func TestSavedScores(t *testing.T) {
	checked := 0
	for _, dir := range caseFolders("ROLLSCOPE_RUNS", "../../testdata/metrics/*/input") {
		files, data := folder(t, dir)
		d := openDesk(t, files, data)
		if d.table.Rows() == 0 || len(files) < 2 {
			continue
		}
		p := served(t, d, data, "tab=scores")
		if stat(p, "score.saved_files") == "0" {
			continue
		}
		checked++
		if len(p.Scores.Saved) == 0 || stat(p, "score.saved_files.0.differs") != "0" || stat(p, "score.saved_files.0.match") == "0" {
			t.Errorf("%s: %q match, %q differ", dir, stat(p, "score.saved_files.0.match"), stat(p, "score.saved_files.0.differs"))
		}
		both := 0
		for _, s := range p.Stats {
			if name, ok := strings.CutPrefix(s.Name, "score.saved."); ok {
				if have := stat(p, "score."+name); have != "absent" {
					both++
					a, _ := strconv.ParseFloat(have, 64)
					b, _ := strconv.ParseFloat(s.Value, 64)
					if !near(a, b) {
						t.Errorf("%s: %s is %s, the file says %s", dir, name, have, s.Value)
					}
				}
			}
		}
		rows := 0
		for _, f := range p.Scores.Saved {
			if f.Note.Mark != MarkHealthy {
				t.Errorf("%s: %s", dir, f.Note.Text)
			}
			rows += len(f.Table.Rows)
		}
		if rows == 0 {
			t.Errorf("%s: no value is shown", dir)
		}
		if both == 0 && stat(p, "score.saved.mean/reward") != "absent" {
			t.Errorf("%s: nothing is on both sides", dir)
		}
	}
	t.Logf("%d runs", checked)
	if checked < 5 {
		t.Errorf("%d runs", checked)
	}
}

// TestChangedScores has a file that says something else: it is told on the tab and among what needs eyes.
func TestChangedScores(t *testing.T) {
	rows := []byte(`{"_ng_task_index":0,"_ng_rollout_index":0,"reward":1.0,"agent_ref":{"name":"a"}}` + "\n" + `{"_ng_task_index":1,"_ng_rollout_index":0,"reward":0.0,"agent_ref":{"name":"a"}}` + "\n")
	saved := []byte(`[{"agent_ref":{"name":"a"},"agent_metrics":{"mean/reward":0.75,"max/reward":1.0},"key_metrics":{"mean/reward":0.75},"group_level_metrics":[],"repeat_level_metrics":[]}]`)
	data := map[string][]byte{"r/rollouts.jsonl": rows, "r/rollouts_aggregate_metrics.json": saved}
	var files []runfolder.File
	for _, path := range []string{"r/rollouts.jsonl", "r/rollouts_aggregate_metrics.json"} {
		files = append(files, runfolder.File{Path: path, Size: int64(len(data[path]))})
	}
	d := openDesk(t, files, data)
	p := served(t, d, data, "tab=scores")
	table := p.Scores.Saved[0].Table
	if r := table.Rows[0]; r.Cells[3].Text.Text != "mean/reward" || exact(r.Cells[4]) != "0.5" || exact(r.Cells[5]) != "0.75" || r.Cells[6].Text.Text != "differs" {
		t.Errorf("%+v", r)
	}
	if !slices.ContainsFunc(p.Scores.Lines, func(l Text) bool { return l.Text == "the file says 0.7500" }) {
		t.Errorf("%+v", p.Scores.Lines)
	}
	o := served(t, d, data, "tab=overview")
	if !slices.ContainsFunc(o.Overview.Eyes.Rows, func(r Row) bool {
		return strings.Contains(r.Cells[1].Text.Text, "differs from what the rows give in 2 of 3 values")
	}) {
		for _, r := range o.Overview.Eyes.Rows {
			t.Log(r.Cells[1].Text.Text)
		}
		t.Error("the difference is not among what needs eyes")
	}
}

// TestSlices lists the tasks of a slice, by a threshold and by failure class.
func TestSlices(t *testing.T) {
	files, data := folder(t, "../../testdata/cases/35-failures-and-missing")
	d := openDesk(t, files, data)
	list := func(set string) string {
		p := served(t, d, data, "tab=scores&set="+set)
		var names []string
		for _, r := range p.Scores.Table.Rows {
			names = append(names, r.Cells[0].Text.Text)
		}
		return strings.Join(names, " ")
	}
	for set, want := range map[string]string{"": "0 1 2", "scores.slice=missing": "2", "scores.slice=incomplete": "1 2", "scores.slice=failed": "1 2", "scores.slice=always": "1"} {
		if have := list(set); have != want {
			t.Errorf("%q lists tasks %q, want %q", set, have, want)
		}
	}
	p := served(t, d, data, "tab=scores")
	classes := 0
	for _, r := range p.Scores.Slices.Rows {
		if r.Cells[0].Text.Mark == MarkFailed && r.Cells[0].Text.Mono {
			classes++
			if have := list("scores.slice=failed:" + r.Cells[0].Text.Text); have == "" {
				t.Errorf("no task has failures of class %s", r.Cells[0].Text.Text)
			}
		}
	}
	if classes == 0 {
		t.Error("no failure class is listed")
	}
	if p := served(t, d, data, "tab=scores&set=scores.at%3Dx"); p.Scores.At.Error == "" {
		t.Error("a threshold that is no number is not told")
	}
}

// TestGroupedScores groups by a field that a second scan reads.
func TestGroupedScores(t *testing.T) {
	var b bytes.Buffer
	for i := range 40 {
		level := fmt.Sprintf(`"level":"l%d",`, i%3)
		if i%8 == 7 {
			level = ""
		}
		fmt.Fprintf(&b, `{"_ng_task_index":%d,"_ng_rollout_index":0,%s"reward":%d,"x":%d}`+"\n", i, level, i%2, i)
	}
	data := map[string][]byte{"rollouts.jsonl": b.Bytes()}
	d := deskOf(t, "rollouts.jsonl", b.Bytes())
	const fragment = "tab=scores&set=scores.by%3Drow.level"
	if p := served(t, d, data, fragment); p.Phase != Scanning || len(p.Scores.Notes) == 0 {
		t.Errorf("%s, %v", p.Phase, p.Scores.Notes)
	}
	answered(t, d, data, fragment)
	p := served(t, d, data, fragment)
	if p.Phase != Ready {
		t.Errorf("%s", p.Phase)
	}
	var groups []string
	for _, r := range p.Scores.Groups.Rows {
		groups = append(groups, r.Cells[0].Text.Text+"="+exact(r.Cells[3]))
	}
	if have := strings.Join(groups, " "); have != "all=40 l0=12 l1=11 l2=12 none=5" {
		t.Errorf("groups %s", have)
	}
	if r := p.Scores.Groups.Rows[1]; !strings.Contains(r.Href, "row.level") {
		t.Errorf("the group leads to %q", r.Href)
	}
	if p := served(t, d, data, "tab=scores&set=scores.by%3Drow..x"); p.Scores.By.Error == "" {
		t.Error("a path that is none is not told")
	}
	if p := served(t, d, data, "tab=scores&filter=reward%3D1"); p.Scores.Number.Value.Text != "1.0000" || p.Scores.Number.Note.Text != "20 of 20 rollouts" {
		t.Errorf("of a filter: %+v", p.Scores.Number)
	}
}

// TestScoreTables sorts, exports and links the tasks.
func TestScoreTables(t *testing.T) {
	d, data := sampleDesk(t)
	files := map[string][]byte{"rollouts.jsonl": data}
	p := served(t, d, files, "tab=scores&sort=-mean")
	last := math.Inf(1)
	for _, r := range p.Scores.Table.Rows {
		mean, err := strconv.ParseFloat(exact(r.Cells[3]), 64)
		if err != nil || mean > last || r.Href == "" {
			t.Errorf("%v behind %v, %v", mean, last, err)
		}
		last = mean
	}
	for _, id := range []string{"scored", "passes", "repeats", "groups", "slices", "fields"} {
		if text := exportAll(t, d, "tab=scores", id, "csv", data); strings.Count(text, "\n") < 2 {
			t.Errorf("%s: %q", id, text)
		}
	}
	for _, id := range []string{"passk", "solved", "reward", "scatter"} {
		chart, ok := d.Chart(State{Tab: "scores"}, id)
		if !ok || len(chart.Bins) == 0 {
			t.Errorf("there is no chart %s", id)
		}
		for _, bin := range chart.Bins {
			if id != "reward" || bin.Href == "" {
				continue
			}
			q := served(t, d, files, strings.TrimPrefix(bin.Href, "#"))
			// A second row of a rollout fits the filter and is in no score.
			if more := q.Filter.Shown - int(bin.Value); more < 0 || more > 1 {
				t.Errorf("%s %s: %v rollouts, the filter has %d", id, bin.Name, bin.Value, q.Filter.Shown)
			}
		}
	}
	if stat(p, "score.mean/reward") == "absent" || stat(p, "score.pass@4/accuracy") == "absent" {
		t.Error("stats are missing")
	}
}

func TestLinear(t *testing.T) {
	for _, one := range [][2]float64{{0, 1}, {-1, 1}, {3, 3}, {0, 0}, {-math.MaxFloat64, math.MaxFloat64}, {1e-300, 2e-300}, {0, 1e308}, {5, 4}, {math.NaN(), 1}} {
		a := linear("", one[0], one[1], 4)
		if !(a.Low < a.High) && !math.IsInf(a.High-a.Low, 0) {
			t.Errorf("%v: %+v", one, a)
		}
		for _, x := range append(one[:], 0) {
			if part := a.Part(x); !(part >= 0 && part <= 1) && !math.IsNaN(x) {
				t.Errorf("%v is at %v of %v", x, part, one)
			}
		}
		if len(a.Ticks) > 12 {
			t.Errorf("%v: %d ticks", one, len(a.Ticks))
		}
	}
}
