package compare

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/metrics"
	"github.com/rollscope/rollscope/core/rollout"
)

const testdata = "../../testdata/metrics"

func read(t testing.TB, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// savedEntries reads a metrics file as one side.
func savedEntries(t testing.TB, text string) []*Entry {
	t.Helper()
	file, err := metrics.ParseSaved([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var list []*Entry
	for _, s := range file.Entries {
		e, err := Saved(s)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, e)
	}
	return list
}

// derivedEntries computes one side from rows.
func derivedEntries(t testing.TB, text string) ([]*Entry, *metrics.Run) {
	t.Helper()
	run := metrics.NewRun(metrics.Options{})
	var (
		m      metrics.Mapper
		reader rollout.Reader
	)
	s := jsonl.NewSplitter(0)
	emit := func(l *jsonl.Line) bool {
		if jsonl.Blank(l.Bytes) {
			return true
		}
		if err := run.Add(&metrics.Row{Line: l.Number, Digest: m.Append(nil, reader.Read(l))}); err != nil {
			t.Fatal(err)
		}
		return true
	}
	s.Feed([]byte(text), emit)
	s.Finish(emit)
	a, err := run.Aggregate()
	if err != nil {
		t.Fatal(err)
	}
	var list []*Entry
	for _, e := range a.Entries {
		list = append(list, Derived(e))
	}
	return list, run
}

type step struct {
	Op         string   `json:"op"`
	Into       string   `json:"into"`
	Baseline   string   `json:"baseline"`
	Candidate  string   `json:"candidate"`
	Agent      string   `json:"agent_name"`
	Base       string   `json:"baseline_agent_name"`
	Candidates []string `json:"candidate_agent_names"`
}

func label(path string) string { return filepath.Base(filepath.Dir(path)) }

// TestGolden compares the metrics files of every case and holds report and tables against the reference's.
func TestGolden(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(testdata, "*", "case.json"))
	if err != nil {
		t.Fatal(err)
	}
	seen, refused := 0, 0
	for _, path := range paths {
		var c struct{ Steps []step }
		if err := json.Unmarshal(read(t, path), &c); err != nil {
			t.Fatal(err)
		}
		for _, s := range c.Steps {
			if s.Op != "compare" {
				continue
			}
			name := filepath.Base(filepath.Dir(path))
			t.Run(name+"/"+s.Into, func(t *testing.T) {
				if s.Baseline == "" {
					s.Baseline, s.Candidate = "baseline/rollouts.jsonl", "candidate/rollouts.jsonl"
				}
				var sides [2]Run
				var entries [2][]*Entry
				for i, path := range []string{s.Baseline, s.Candidate} {
					saved := strings.TrimSuffix(path, ".jsonl") + "_aggregate_metrics.json"
					entries[i] = savedEntries(t, string(read(t, filepath.Join(testdata, name, "input", saved))))
					sides[i] = Run{Label: label(path), Rollouts: path, Metrics: saved, Agents: strings.Split(names(entries[i]), ", ")}
				}
				report, err := Runs(entries[0], entries[1], Agents{Name: s.Agent, Baseline: s.Base, Candidates: s.Candidates})
				expected := filepath.Join(testdata, name, "expected", s.Into)
				if _, none := os.Stat(filepath.Join(expected, "compare_error.json")); none == nil {
					refused++
					if !errors.Is(err, ErrRefused) {
						t.Errorf("the reference refuses this: %v", err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				seen++
				h := &Heading{Generated: "2000-01-01T00:00:00+00:00", Rules: "0.7.0", Program: "test", Command: "compare", Baseline: sides[0], Candidate: sides[1]}
				var want, have any
				for text, v := range map[string]*any{string(read(t, filepath.Join(expected, ReportJSON))): &want, string(report.JSON(h)): &have} {
					if err := json.Unmarshal([]byte(text), v); err != nil {
						t.Fatal(err)
					}
				}
				if d := differs("$", want, have); d != "" {
					t.Error(d)
				}
				a, b := tables(string(read(t, filepath.Join(expected, ReportMarkdown)))), tables(string(report.Markdown(h)))
				if a != b {
					t.Errorf("tables differ: want\n%s\nhave\n%s", a, b)
				}
			})
		}
	}
	if seen < 10 || refused < 2 {
		t.Errorf("%d comparisons, %d refusals", seen, refused)
	}
}

// differs gives the first difference; of prose only number and presence count.
func differs(where string, want, have any) string {
	switch w := want.(type) {
	case map[string]any:
		h, ok := have.(map[string]any)
		if !ok {
			return fmt.Sprintf("%s: have %v", where, have)
		}
		for key := range w {
			switch key {
			case "command", "nemo_gym_version":
				continue
			case "notes", "warnings":
				if a, b := w[key].([]any), h[key].([]any); len(a) != len(b) {
					return fmt.Sprintf("%s.%s: want %v, have %v", where, key, a, b)
				}
				continue
			case "reason":
				if (w[key] == nil) != (h[key] == nil) {
					return fmt.Sprintf("%s.%s: want %v, have %v", where, key, w[key], h[key])
				}
				continue
			}
			if d := differs(where+"."+key, w[key], h[key]); d != "" {
				return d
			}
		}
		for key := range h {
			if _, ok := w[key]; !ok && key != "rollscope_version" {
				return fmt.Sprintf("%s: unexpected key %s", where, key)
			}
		}
	case []any:
		h, ok := have.([]any)
		if !ok || len(h) != len(w) {
			return fmt.Sprintf("%s: want %d elements, have %v", where, len(w), have)
		}
		for i := range w {
			if d := differs(fmt.Sprintf("%s[%d]", where, i), w[i], h[i]); d != "" {
				return d
			}
		}
	case float64:
		if h, ok := have.(float64); !ok || math.Abs(w-h) > 1e-9*max(1, math.Abs(w)) {
			return fmt.Sprintf("%s: want %v, have %v", where, want, have)
		}
	default:
		if want != have {
			return fmt.Sprintf("%s: want %v, have %v", where, want, have)
		}
	}
	return ""
}

var rule = regexp.MustCompile(`^\|(:?-+:?\|)+$`)

// tables gives the body rows of all tables; a column without a title holds titles, which are free.
func tables(text string) string {
	var b strings.Builder
	inside, titled := false, false
	previous := ""
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		switch {
		case !strings.HasPrefix(line, "|"):
			inside = false
		case inside:
			if !titled {
				line = line[strings.Index(line[1:], "|")+1:]
			}
			b.WriteString(line + "\n")
		case rule.MatchString(strings.ReplaceAll(line, " ", "")) && previous != "":
			inside = true
			titled = strings.TrimSpace(strings.Split(previous, "|")[1]) != ""
			b.WriteString("table\n")
		}
		previous = line
	}
	return b.String()
}

// rewards writes the rows of an agent, one list of rewards for every task.
func rewardRows(agent string, tasks ...[]float64) string {
	var b strings.Builder
	for task, list := range tasks {
		for repeat, x := range list {
			fmt.Fprintf(&b, `{"_ng_task_index":%d,"_ng_rollout_index":%d,"reward":%v,"agent_ref":{"name":"%s"}}`+"\n", task, repeat, x, agent)
		}
	}
	return b.String()
}

func runs(t *testing.T, base, cand string, agents Agents) (*Report, error) {
	t.Helper()
	b, _ := derivedEntries(t, base)
	c, _ := derivedEntries(t, cand)
	return Runs(b, c, agents)
}

// TestWorkedExample is the example of spec metrics §12.
func TestWorkedExample(t *testing.T) {
	r, err := runs(t, rewardRows("a", []float64{1, 1}, []float64{0, 1}, []float64{0, 0}, []float64{1, 1}),
		rewardRows("a", []float64{0, 0}, []float64{1, 1}, []float64{1, 1}, []float64{1, 1}), Agents{})
	if err != nil {
		t.Fatal(err)
	}
	c := r.Comparisons[0]
	m := c.Metrics[0]
	s := m.Candidates[0]
	for name, pair := range map[string][2]float64{
		"baseline": {m.Baseline.Compared(), 0.625}, "candidate": {s.Compared(), 0.75}, "delta": {s.Delta.X, 0.125}, "percent": {s.Percent.X, 20},
		"low": {s.DeltaLow.X, -1.4632755920218368}, "high": {s.DeltaHigh.X, 1.7132755920218368},
	} {
		if math.Abs(pair[0]-pair[1]) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, pair[0], pair[1])
		}
	}
	f := c.Flips[0]
	if m.Name != "mean/reward" || !m.Key || f.Mode != Binary || f.PassToFail != 1 || f.FailToPass != 1 || f.Tied != 1 || f.Unchanged != 1 || f.Net() != 0 {
		t.Errorf("%+v", f)
	}
	if f.List[0].Task.String() != "0" || f.List[0].Direction != PassToFail || f.List[1].Task.String() != "2" || len(f.List[0].BaselineRewards) != 2 {
		t.Errorf("%+v", f.List)
	}
}

func TestEdges(t *testing.T) {
	one := func(x float64) string { return rewardRows("a", []float64{x}) }
	r, err := runs(t, one(0), one(1), Agents{})
	if err != nil {
		t.Fatal(err)
	}
	if s := r.Comparisons[0].Metrics[0].Candidates[0]; s.Delta.X != 1 || s.Percent.OK || s.DeltaLow.OK {
		t.Errorf("single repeats: %+v", s)
	}
	r, err = runs(t, rewardRows("a", []float64{1, 0}), rewardRows("a", []float64{1, 0, 1, 1}), Agents{})
	if err != nil {
		t.Fatal(err)
	}
	if c := r.Comparisons[0]; len(c.Notes) != 1 || !c.Metrics[0].Candidates[0].DeltaLow.OK || c.Flips[0].Tied != 1 {
		t.Errorf("2 against 4 repeats: %+v", c)
	}
	r, err = runs(t, rewardRows("A", []float64{1})+rewardRows("B", []float64{1}), rewardRows("B", []float64{0})+rewardRows("C", []float64{1}), Agents{})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Comparisons) != 1 || r.Comparisons[0].Baseline.Label != "B" || len(r.Skipped) != 2 || len(r.Warnings) != 2 || r.Skipped[1].Side != "candidate[0]" {
		t.Errorf("%+v", r)
	}
	for name, test := range map[string]struct {
		base, cand string
		agents     Agents
	}{
		"no common agent":     {rewardRows("a", []float64{1}), rewardRows("b", []float64{1}), Agents{}},
		"unknown agent":       {one(1), one(1), Agents{Name: "x"}},
		"several, none named": {rewardRows("a", []float64{1}) + rewardRows("b", []float64{1}), one(1), Agents{Candidates: []string{"a"}}},
		"two names":           {one(1), one(1), Agents{Candidates: []string{"a", "a"}}},
		"no common metric":    {one(1), `{"_ng_task_index":0,"other":1,"agent_ref":{"name":"a"}}`, Agents{}},
	} {
		if _, err := runs(t, test.base, test.cand, test.agents); !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := runs(t, rewardRows("a", []float64{1})+rewardRows("b", []float64{1}), one(1), Agents{Baseline: "b"}); err != nil {
		t.Errorf("the only candidate need not be named: %v", err)
	}
}

func TestUnavailable(t *testing.T) {
	const entry = `[{"agent_ref":{"name":"a"},"agent_metrics":{"mean/x":1},"key_metrics":{},"group_level_metrics":[%s],"repeat_level_metrics":[]}]`
	with := func(groups string) []*Entry { return savedEntries(t, fmt.Sprintf(entry, groups)) }
	for name, test := range map[string][2]string{
		"no groups":       {``, `{"_ng_task_index":0,"mean/reward":1}`},
		"no indices":      {`{"mean/reward":1}`, `{"_ng_task_index":0,"mean/reward":1}`},
		"no common index": {`{"_ng_task_index":1,"mean/reward":1}`, `{"_ng_task_index":0,"mean/reward":1}`},
		"no reward":       {`{"_ng_task_index":0,"mean/reward":"1"}`, `{"_ng_task_index":0,"mean/reward":1}`},
	} {
		r, err := Runs(with(test[0]), with(test[1]), Agents{})
		if err != nil {
			t.Fatal(err)
		}
		if f := r.Comparisons[0].Flips[0]; f.Mode != Unavailable || f.Reason == "" || r.Comparisons[0].Baseline.RepeatCount != -1 {
			t.Errorf("%s: %+v", name, f)
		}
	}
	r, err := Runs(with(`{"_ng_task_index":0,"mean/reward":0.7,"min/reward":0,"max/reward":1}`), with(`{"_ng_task_index":0,"mean/reward":0.2,"max/reward":1.0}`), Agents{})
	if err != nil {
		t.Fatal(err)
	}
	if f := r.Comparisons[0].Flips[0]; f.Mode != Binary || f.PassToFail != 1 || f.List[0].BaselineRewards != nil {
		t.Errorf("%+v", f)
	}
}

func TestManyFlips(t *testing.T) {
	var base, cand [][]float64
	for range 12 {
		base, cand = append(base, []float64{1}), append(cand, []float64{0})
	}
	r, err := runs(t, rewardRows("a", base...), rewardRows("a", cand...), Agents{})
	if err != nil {
		t.Fatal(err)
	}
	f := r.Comparisons[0].Flips[0]
	if len(f.List) != 12 || f.List[9].BaselineRewards == nil || f.List[10].BaselineRewards != nil || len(f.ShownFlips()) != 10 {
		t.Errorf("%+v", f.List)
	}
}

func TestText(t *testing.T) {
	for x, want := range map[float64]string{0.625: "0.6250", 12.5: "12.50", -0.125: "-0.1250", 1234.567: "1234.57", 9.99996: "10.0000"} {
		if have := Fixed(x, false); have != want {
			t.Errorf("%v: %s, want %s", x, have, want)
		}
	}
	if have := Fixed(math.Copysign(0, -1), true); have != "-0.0000" {
		t.Errorf("negative zero: %s", have)
	}
	for x, want := range map[float64]string{0: "0", 1: "1", 0.5: "0.5", 1e-5: "1e-05", 123456: "123456", 1234567: "1.23457e+06", 0.1234567: "0.123457", -2: "-2", 1e100: "1e+100", 0.0001: "0.0001"} {
		if have := general(x); have != want {
			t.Errorf("%v: %s, want %s", x, have, want)
		}
	}
	if have := code("a|b`c\n"); have != "`` a\\|b`c  ``" {
		t.Errorf("%q", have)
	}
}

// TestSameFromRowsAndFile derives a side and reads it from the file that would be written of it.
func TestSameFromRowsAndFile(t *testing.T) {
	text := rewardRows("a", []float64{1, 0.5}, []float64{0, 1, 1}, []float64{0.25})
	own, run := derivedEntries(t, text)
	a, err := run.Aggregate()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := a.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	file := savedEntries(t, b.String())
	h := &Heading{}
	x, err := Runs(own, file, Agents{})
	if err != nil {
		t.Fatal(err)
	}
	y, err := Runs(file, own, Agents{})
	if err != nil {
		t.Fatal(err)
	}
	if string(x.JSON(h)) != string(y.JSON(h)) {
		t.Errorf("%s\n%s", x.JSON(h), y.JSON(h))
	}
}
