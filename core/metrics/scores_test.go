package metrics

import (
	"encoding/json"
	"errors"
	"math"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/jsonscan"
)

// scoreCase reads a folder of made-up rows: the run, and what stands beside it.
func scoreCase(t *testing.T, name string) (*Run, ScoreOptions) {
	t.Helper()
	folder := filepath.Join(testdata, "metrics", "scores", name)
	run := mustRun(t, string(read(t, filepath.Join(folder, "rollouts.jsonl"))), true)
	var o ScoreOptions
	if matches, _ := filepath.Glob(filepath.Join(folder, "*_failures.jsonl")); len(matches) > 0 {
		o.Failures = mustRun(t, string(read(t, matches[0])), true)
	}
	if matches, _ := filepath.Glob(filepath.Join(folder, "*_inputs.jsonl")); len(matches) > 0 {
		o.Inventory = mustRun(t, string(read(t, matches[0])), true)
	}
	return run, o
}

func TestScoreCases(t *testing.T) {
	for _, test := range []struct {
		name               string
		mean               float64
		measured, expected int
		left               LeftOut
		tasks              string // key: mean, measured of expected, slice
	}{
		{"01-bom-utf8", 0.5, 2, 3, LeftOut{Unreadable: 1}, "0: 0 1/2 never, 1: 1 1/2 always"},
		{"03-line-endings-mixed", 0.75, 4, 4, LeftOut{}, "0: 0.5 2/2 sometimes, 1: 1 2/2 always"},
		{"13-nan-infinity-literals", 0.5, 2, 5, LeftOut{Unreadable: 3}, "0: 0.5 2/2 sometimes"},
		{"15-ids-beyond-2p53", 1.0 / 3, 3, 3, LeftOut{}, "9007199254740992: 1 1/2 always, 9007199254740993: 0 2/2 never"},
		{"17-keys-differ-in-case", 1, 2, 3, LeftOut{Unscored: 1}, "0: 1 2/3 always"},
		{"33-number-versus-text-ids", 0.4, 5, 5, LeftOut{}, `1: 1 1/2 always, 2: 0.5 2/2 sometimes, "01": 0 1/2 never, "1": 0 1/2 never`},
		{"34-duplicate-identity", 2.0 / 3, 3, 3, LeftOut{Duplicates: 2}, "0: 0.5 2/2 sometimes, 1: 1 1/2 always"},
		{"35-failures-and-missing", 2.0 / 3, 3, 6, LeftOut{Failed: 2, Missing: 1}, "0: 0.5 2/2 sometimes, 1: 1 1/2 always, 2: - 0/2 missing"},
		{"36-masked-samples", 2.0 / 3, 3, 6, LeftOut{Masked: 3}, "0: 1 2/3 always, 1: - 0/3 missing, 2: 0 1/3 never"},
		{"39-unequal-repeats", 5.0 / 7, 7, 7, LeftOut{}, "0: 1 4/4 always, 1: 0.5 2/4 sometimes, 2: 0 1/4 never"},
	} {
		run, o := scoreCase(t, test.name)
		s := run.Scores(o)
		var tasks []string
		for i := range s.Tasks {
			task := &s.Tasks[i]
			key, mean := task.Task.String(), "-"
			if !task.Task.IsInt() {
				key = strconv.Quote(key)
			}
			if task.Measured > 0 {
				mean = strconv.FormatFloat(task.Mean, 'g', -1, 64)
			}
			tasks = append(tasks, key+": "+mean+" "+strconv.Itoa(task.Measured)+"/"+strconv.Itoa(task.Expected)+" "+task.Slice.String())
		}
		all := &s.All
		if !near(all.Mean, test.mean) || all.Measured != test.measured || all.Expected != test.expected || all.LeftOut != test.left {
			t.Errorf("%s: mean %v over %d of %d, %+v", test.name, all.Mean, all.Measured, all.Expected, all.LeftOut)
		}
		if have := strings.Join(tasks, ", "); have != test.tasks {
			t.Errorf("%s: %s", test.name, have)
		}
		if len(s.Groups) != 1 || s.Groups[0].Name != "demo_agent" || s.Groups[0].Measured != test.measured {
			t.Errorf("%s: %d groups", test.name, len(s.Groups))
		}
	}
}

// TestReferenceAggregate reads what a case says the reference prints and holds all rows against it.
func TestReferenceAggregate(t *testing.T) {
	line := regexp.MustCompile(`(?m)^- Reference aggregate[^:]*: (.*?)\.?$`)
	perTask := regexp.MustCompile(`(\d+): mean ([\d.]+), std ([\d.]+), n (\d+)`)
	found := 0
	for _, name := range []string{
		"03-line-endings-mixed", "15-ids-beyond-2p53", "34-duplicate-identity", "36-masked-samples", "39-unequal-repeats",
	} {
		folder := filepath.Join(testdata, "metrics", "scores", name)
		expect := string(read(t, filepath.Join(folder, "expect.md")))
		m := line.FindStringSubmatch(expect)
		if m == nil {
			t.Fatalf("%s: no such line", name)
		}
		e, err := mustRun(t, string(read(t, filepath.Join(folder, "rollouts.jsonl"))), false).AllRows()
		if strings.HasPrefix(m[1], "raises") {
			if !errors.Is(err, ErrRefused) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		var want map[string]float64
		if err := json.Unmarshal([]byte(m[1]), &want); err != nil {
			t.Fatalf("%s: %v in %s", name, err, m[1])
		}
		checkMetrics(t, e.Metrics(), want)
		for i, task := range perTask.FindAllStringSubmatch(expect, -1) {
			g := e.Group(i)
			mean, _ := strconv.ParseFloat(task[2], 64)
			std, _ := strconv.ParseFloat(task[3], 64)
			if c := g.Stats.Column("reward"); g.Task.String() != task[1] || !near(c.Mean, mean) || !near(c.Std, std) || strconv.Itoa(c.N) != task[4] {
				t.Errorf("%s: task %s is %+v", name, g.Task, c)
			}
			found++
		}
	}
	if found < 8 {
		t.Errorf("%d tasks", found)
	}
}

func TestScoresByOtherThings(t *testing.T) {
	m := &Mapper{Fields: []string{"difficulty"}}
	run, err := runOf(rows(
		`0 0 "reward":1,"difficulty":"easy","task_source":"s"`, `0 1 "reward":0,"difficulty":"easy","task_source":"s"`,
		`1 0 "reward":0.5,"difficulty":""`, `1 1 "reward":0.25,"difficulty":"hard"`, `2 0 "reward":1`,
	), m, true)
	if err != nil {
		t.Fatal(err)
	}
	names := func(s *Scores) (list []string) {
		for _, g := range s.Groups {
			list = append(list, g.Name+"="+strconv.FormatFloat(g.Mean, 'g', -1, 64))
		}
		return list
	}
	if have := strings.Join(names(run.Scores(ScoreOptions{By: BySource})), " "); have != "none=0.5833333333333334 s=0.5" {
		t.Errorf("by source: %s", have)
	}
	s := run.Scores(ScoreOptions{By: ByField})
	if have := strings.Join(names(s), " "); have != "easy=0.5 hard=0.375 =1" || s.Groups[2].Named {
		t.Errorf("by field: %s", have)
	}
	low := 0.25
	s = run.Scores(ScoreOptions{Threshold: &low})
	if s.Binary || s.All.Slices != [SliceCount]int{Always: 2, Sometimes: 1} || s.Tasks[1].Passed != 2 {
		t.Errorf("threshold 0.25: %+v", s.All.Slices)
	}
	if have := run.Scores(ScoreOptions{}).All.Slices; have != [SliceCount]int{Always: 1, Never: 1, Sometimes: 1} {
		t.Errorf("threshold 1: %+v", have)
	}
	if text, kind := run.Field(0, 0); text != "easy" || kind != jsonscan.String {
		t.Errorf("field: %q %s", text, kind)
	}
}

func TestDistribution(t *testing.T) {
	d := distribute([]float64{1, 0, 1, math.NaN(), 0.5, math.Inf(1)})
	if d.N != 4 || len(d.Distinct) != 3 || d.Distinct[2] != (ValueCount{1, 2}) {
		t.Errorf("%+v", d)
	}
	var many []float64
	for i := range 1000 {
		many = append(many, float64(i))
	}
	d = distribute(many)
	total := 0
	for i, b := range d.Bins {
		total += b.N
		if b.N != 50 || i > 0 && b.Low != d.Bins[i-1].High {
			t.Errorf("bin %d: %+v", i, b)
		}
	}
	if total != 1000 || d.Distinct != nil {
		t.Errorf("%+v", d)
	}
	wide := append([]float64{-math.MaxFloat64, math.MaxFloat64}, many...)
	for _, b := range distribute(wide).Bins {
		if math.IsInf(b.Low, 0) || math.IsInf(b.High, 0) || math.IsNaN(b.Low) {
			t.Errorf("%+v", b)
		}
	}
	if d := distribute(nil); d.N != 0 || d.Distinct == nil {
		t.Errorf("%+v", d)
	}
}

func TestSavedSlices(t *testing.T) {
	const file = `[{"agent_ref":{"name":"a"},"group_level_metrics":[
{"rollout_infos":[{"reward":1,"_ng_rollout_index":1},{"reward":0,"_ng_rollout_index":0}],"min/reward":1,"max/reward":1},
{"rollout_infos":[{"reward":1}]},{"rollout_infos":[{"reward":0.5}]},{"rollout_infos":[{"reward":null}],"min/reward":0.0,"max/reward":1.0},
{"min/reward":1.0,"max/reward":1.0},{"max/reward":0.5},{"mean/reward":1.0}]}]`
	saved, err := ParseSaved([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []Slice{Sometimes, Always, Never, Sometimes, Always, Never, MissingTask} {
		if have := saved.Entries[0].Groups[i].Slice(1); have != want {
			t.Errorf("row %d: %s, want %s", i, have, want)
		}
	}
	if list, ok := saved.Entries[0].Groups[0].Rewards(); !ok || list[0].String() != "0" || list[1].String() != "1" {
		t.Errorf("rewards %v", list)
	}
}

// TestFailedScores tells what the failures sidecar says apart: failures with their classes, omissions, and traces that
// are no outcome. The last row of a rollout counts.
func TestFailedScores(t *testing.T) {
	run := mustRun(t, rows(`0 0 "reward":1,"level":"a"`, `1 0 "reward":0`), true)
	sides, err := runOf(rows(
		`0 1 "_ng_failure_class":"agent_timeout"`, `0 1 "_ng_failure_class":"judge_failed"`, `1 1 "_ng_failure_class":"judge_failed"`, `1 2 "_ng_failure_class":"skipped","_ng_failure_terminal":true`,
		`2 0 "_ng_omitted":1`, `2 1 "_ng_omitted":0,"_ng_failure_class":"x"`, `2 2 "_ng_omitted_rollout":true`, `0 0 "_ng_failure_class":"agent_timeout"`,
	), &Mapper{Fields: FailureFields}, true)
	if err != nil {
		t.Fatal(err)
	}
	inputs := mustRun(t, rows(`0 0`, `0 1`, `1 0`, `1 1`, `1 2`, `2 0`, `2 1`, `2 2`, `3 0`), true)
	s := run.Scores(ScoreOptions{Failures: sides, Inventory: inputs, Value: func(row int) (string, bool) { return "group", row == 0 }})
	if l := s.All.LeftOut; l != (LeftOut{Failed: 3, Omitted: 2, Missing: 2}) || s.All.Expected != 9 || s.All.Measured != 2 {
		t.Errorf("%+v of %d", l, s.All.Expected)
	}
	if len(s.Classes) != 2 || s.Classes[0] != (ClassCount{"judge_failed", 2, 2}) || s.Classes[1] != (ClassCount{"x", 1, 1}) {
		t.Errorf("%+v", s.Classes)
	}
	if task := s.Tasks[2]; task.Slice != MissingTask || task.Omitted != 1 || task.Failed != 1 || len(task.Classes) != 1 || task.Expected != 3 {
		t.Errorf("%+v", task)
	}
	if s.Groups[0].Name != "group" || s.Groups[0].Measured != 1 || s.Groups[1].Named || s.Groups[1].Expected != 7 {
		t.Errorf("%+v", s.Groups)
	}
}
