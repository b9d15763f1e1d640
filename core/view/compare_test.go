package view

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/analysis"
	"github.com/rollscope/rollscope/core/compare"
	"github.com/rollscope/rollscope/core/runfolder"
)

// twoRuns opens a baseline and a candidate whose rewards are listed by task and repeat; a negative one has no row.
func twoRuns(t testing.TB, base, cand [][]float64) (*Desk, map[string][]byte) {
	t.Helper()
	data := map[string][]byte{}
	var files []runfolder.File
	for name, rewards := range map[string][][]float64{"a": base, "b": cand} {
		var b bytes.Buffer
		for task, list := range rewards {
			for repeat, reward := range list {
				if reward < 0 {
					continue
				}
				fmt.Fprintf(&b, `{"_ng_task_index":%d,"_ng_rollout_index":%d,"reward":%v,"agent_ref":{"name":"agent"},"uid":"u%d","responses_create_params":{"input":"do task %d"},`+
					`"response":{"output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"well"}]},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"%s %v"}]}],"usage":{"output_tokens":%d}}}`+"\n",
					task, repeat, reward, task, task, name, reward, 10+task)
			}
		}
		data[name+"/rollouts.jsonl"] = b.Bytes()
	}
	for _, name := range []string{"a/rollouts.jsonl", "b/rollouts.jsonl"} {
		files = append(files, runfolder.File{Path: "top/" + name, Size: int64(len(data[name]))})
		data["top/"+name] = data[name]
	}
	return openDesk(t, files, data), data
}

// TestComparison is the worked example of the spec: one task flips to each side, one is tied, one stays.
func TestComparison(t *testing.T) {
	d, data := twoRuns(t, [][]float64{{1, 1}, {0, 1}, {0, 0}, {1, 1}, {1}}, [][]float64{{0, 0}, {1, 1}, {1, 1}, {1, 1}})
	p := served(t, d, data, "tab=compare")
	for name, want := range map[string]string{"common": "4", "pass_to_fail": "1", "fail_to_pass": "1", "tied": "1", "unchanged": "1", "net": "0", "baseline_only": "1", "candidate_only": "0"} {
		if have := stat(p, "compare."+name); have != want {
			t.Errorf("compare.%s is %q, want %q", name, have, want)
		}
	}
	if !slices.ContainsFunc(p.Tabs, func(tab Tab) bool { return tab.ID == "compare" }) {
		t.Error("there is no tab for comparisons")
	}
	rows := p.Compare.Table.Rows
	if len(rows) != 2 || rows[0].Cells[0].Text.Text != "0" || rows[0].Cells[3].Text.Text != "pass → fail" || rows[1].Cells[3].Text.Text != "fail → pass" {
		t.Fatalf("%+v", rows)
	}
	for _, box := range append(rows[0].Cells[4].Boxes, rows[0].Cells[6].Boxes...) {
		if box.Value.Href == "" {
			t.Errorf("%+v leads nowhere", box)
		}
	}
	if len(p.Compare.Only[0].Rows) != 1 || len(p.Compare.Only[1].Rows) != 0 {
		t.Errorf("tasks on one side: %+v", p.Compare.Only)
	}
	if all := served(t, d, data, "tab=compare&set=compare.show%3Dall"); len(all.Compare.Table.Rows) != 4 {
		t.Errorf("%d tasks in all", len(all.Compare.Table.Rows))
	}
	// Both are reports of the same comparison.
	for name, part := range map[string]string{compare.ReportJSON: `"fail_to_pass_count": 1`, compare.ReportMarkdown: "pass→fail"} {
		content, err := d.Download(State{Tab: "compare"}, name)
		if err != nil || !bytes.Contains(content, []byte(part)) {
			t.Errorf("%s: %v, %.500s", name, err, content)
		}
	}
	// The other way round.
	swapped := served(t, d, data, strings.TrimPrefix(p.Compare.Swap.Href, "#"))
	if stat(swapped, "compare.baseline_only") != "0" || stat(swapped, "compare.candidate_only") != "1" || swapped.Compare.Base.Value != "b/rollouts" {
		t.Errorf("swapped: %+v", swapped.Compare.Base)
	}
	// A flip leads to both transcripts.
	talk := served(t, d, data, strings.TrimPrefix(rows[0].Href, "#")).Compare.Talk
	if talk == nil || talk.Problem != "" || len(talk.Rows) != 2 {
		t.Fatalf("%+v", talk)
	}
	if same := talk.Rows[0].Same; len(same) != 2 || talk.Rows[1].Sides[0].Text != "a 1" || talk.Rows[1].Sides[1].Text != "b 0" || !talk.Rows[1].First {
		t.Errorf("%+v", talk.Rows)
	}
	for i, want := range []string{"a/rollouts.jsonl:1", "b/rollouts.jsonl:1"} {
		if talk.Heads[i].Place.Text != want || talk.Heads[i].Place.Href == "" {
			t.Errorf("%+v", talk.Heads[i])
		}
		// The page of that rollout gets its bytes as well, and the transcripts keep theirs.
		if p := served(t, d, data, strings.TrimPrefix(talk.Heads[i].Place.Href, "#")); p.Rollout == nil || len(p.Rollout.Blocks) == 0 {
			t.Errorf("%s leads to %+v", want, p.Rollout)
		}
	}
}

// TestTogether says on the Overview that runs with the same rollouts are judged as one, and leads to one of them.
func TestTogether(t *testing.T) {
	said := func(query string, base, cand [][]float64) string {
		d, data := twoRuns(t, base, cand)
		for _, panel := range served(t, d, data, query).Overview.Panels {
			for _, line := range panel.Lines {
				if strings.HasSuffix(line.Text, "judged as one") {
					return line.Text + ": " + line.Href
				}
			}
		}
		return ""
	}
	same, other := [][]float64{{1, 0}, {1}}, [][]float64{{-1, -1, 1}}
	together := said("", same, same)
	alone, ok := strings.CutPrefix(together, "2 runs, judged as one: #")
	if !ok || !strings.Contains(alone, "apart=1") {
		t.Fatalf("of the same rollouts: %q", together)
	}
	if got := said(alone, same, same); got != "" {
		t.Errorf("of one of them: %q", got)
	}
	if got := said("", same, other); got != "" {
		t.Errorf("of other rollouts: %q", got)
	}
}

// TestComparisonIntervals holds the numbers of the worked example.
func TestComparisonIntervals(t *testing.T) {
	d, data := twoRuns(t, [][]float64{{1, 1}, {0, 1}, {0, 0}, {1, 1}}, [][]float64{{0, 0}, {1, 1}, {1, 1}, {1, 1}})
	p := served(t, d, data, "tab=compare")
	row := p.Compare.Metrics.Rows[0]
	for i, want := range []string{"mean/reward", "0.625", "0.75", "0.125"} {
		if exact(row.Cells[i]) != want {
			t.Errorf("%q, want %q", exact(row.Cells[i]), want)
		}
	}
	var low, high float64
	if n, err := fmt.Sscan(exact(row.Cells[5]), &low, &high); n != 2 || !near(low, -1.4632755920218368) || !near(high, 1.7132755920218368) {
		t.Errorf("interval %v to %v, %v", low, high, err)
	}
	if row.Cells[6].Range == nil || !row.Cells[6].Range.Interval {
		t.Error("the interval is not drawn")
	}
}

// TestComparisonKeys joins tasks by a field where their order is another.
func TestComparisonKeys(t *testing.T) {
	d, data := twoRuns(t, [][]float64{{1}, {0}, {1}}, [][]float64{{1}, {0}, {1}})
	const fragment = "tab=compare&set=compare.key%3Drow.uid"
	answered(t, d, data, fragment)
	p := served(t, d, data, fragment)
	if stat(p, "compare.common") != "3" || p.Phase != Ready {
		t.Errorf("%s common tasks, %s", stat(p, "compare.common"), p.Phase)
	}
	if p := served(t, d, data, "tab=compare&set=compare.key%3Dname"); stat(p, "compare.common") != "0" || p.Compare.Table.Empty == "" {
		t.Errorf("by name: %s", stat(p, "compare.common"))
	}
}

// TestComparisonOdd compares runs that have little to compare.
func TestComparisonOdd(t *testing.T) {
	for name, sides := range map[string][2][][]float64{
		"no common task": {{{1}, {-1}}, {{-1}, {1}}}, "continuous": {{{0.25}, {0.5}}, {{0.5}, {0.5}}}, "one repeat": {{{0}}, {{1}}},
	} {
		d, data := twoRuns(t, sides[0], sides[1])
		p := served(t, d, data, "tab=compare")
		for _, table := range []Table{p.Compare.Metrics, p.Compare.Sides, p.Compare.Table} {
			for _, row := range table.Rows {
				for _, cell := range row.Cells {
					if text := cell.Text.Text + cell.Exact; strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
						t.Errorf("%s: %q", name, text)
					}
				}
			}
		}
		switch name {
		case "no common task":
			if stat(p, "compare.common") != "0" || stat(p, "compare.pass_to_fail") != "" {
				t.Errorf("%s: %s common", name, stat(p, "compare.common"))
			}
		case "continuous":
			if stat(p, "compare.fail_to_pass") != "" || p.Compare.Table.Rows[0].Cells[3].Text.Text != "higher" {
				t.Errorf("%s: %+v", name, p.Compare.Table.Rows)
			}
		case "one repeat":
			if stat(p, "compare.fail_to_pass") != "1" || p.Compare.Metrics.Rows[0].Cells[5].Text.Text != Dash {
				t.Errorf("%s: %+v", name, p.Compare.Metrics.Rows[0])
			}
		}
	}
}

// TestAlignSaid keeps every item of both sides in its order, and the common ones together.
func TestAlignSaid(t *testing.T) {
	say := func(text string) (list []said) {
		for i, word := range strings.Fields(text) {
			list = append(list, said{turn: i, title: word[:1], text: word})
		}
		return list
	}
	for _, one := range [][3]string{
		{"a b c", "a b c", "a=a b=b c=c"}, {"a b c", "a c", "a=a b|- c=c"}, {"", "a", "-|a"}, {"a1 b", "a2 b", "a1|a2 b=b"},
		{"x a b", "a b y", "x|- a=a b=b -|y"}, {"a1 b1 c", "b2 c", "a1|- b1|b2 c=c"}, {"a b a b", "b a", "a|- b=b a=a b|-"},
	} {
		a, b := say(one[0]), say(one[1])
		var have []string
		for _, p := range alignSaid(a, b) {
			left, right, sign := "-", "-", "|"
			if p.left >= 0 {
				left = a[p.left].text
			}
			if p.right >= 0 {
				right = b[p.right].text
			}
			if p.equal {
				sign = "="
			}
			have = append(have, left+sign+right)
		}
		if text := strings.Join(have, " "); text != one[2] {
			t.Errorf("%q and %q: %s, want %s", one[0], one[1], text, one[2])
		}
	}
	if have := sharedStart("aä\xff1", "aä\xff2"); have != "aä\xff" {
		t.Errorf("%q", have)
	}
	if have := sharedStart("aä", "aö"); have != "a" {
		t.Errorf("%q", have)
	}
}

// TestComparisonGrows compares while rows come in.
func TestComparisonGrows(t *testing.T) {
	d, data := twoRuns(t, [][]float64{{1}, {1}}, [][]float64{{0}, {1}})
	files := slices.Clone(d.files)
	d = new(Desk)
	tasks := d.Open(files, false)
	for _, task := range tasks {
		served(t, d, data, "tab=compare")
		scan := analysis.NewScan(task.Source, 0, task.Size, 0).Keep(analysis.All)
		scan.Feed(data[files[task.File].Path])
		scan.Finish()
		if err := d.Add(scan.Take()); err != nil {
			t.Fatal(err)
		}
	}
	p := served(t, d, data, "tab=compare")
	if stat(p, "compare.pass_to_fail") != "1" || d.compared.align.Mode != compare.Binary {
		t.Errorf("%s", stat(p, "compare.pass_to_fail"))
	}
}

// TestScoresOfAnything makes every view of scores and comparisons of rows with odd values, none of which may break it.
func TestScoresOfAnything(t *testing.T) {
	odd := []string{`1`, `0`, `0.5`, `-1e308`, `1e308`, `true`, `null`, `"NaN"`, `[1]`, `18446744073709551615`, `-0.0`, `1e-320`}
	rng := rand.New(rand.NewPCG(1, 2))
	pick := func() string { return odd[rng.IntN(len(odd))] }
	for range 30 {
		data := map[string][]byte{}
		var files []runfolder.File
		for _, name := range []string{"a", "b"} {
			var b bytes.Buffer
			for range rng.IntN(30) {
				fmt.Fprintf(&b, `{"_ng_task_index":%s,"_ng_rollout_index":%d,"reward":%s,"x":%s,"mask_sample":%t,"agent_ref":%s,"ng_perf":{"total_latency_ms":%s,"num_turns":%s},"response":{"usage":{"output_tokens":%s}}}`+"\n",
					[]string{"0", "1", `"1"`, "2", "-3"}[rng.IntN(5)], rng.IntN(4), pick(), pick(), rng.IntN(9) == 0, []string{`{"name":"q"}`, `{"name":"r"}`, `null`, `[1]`}[rng.IntN(4)], pick(), pick(), pick())
			}
			path := "top/" + name + "/rollouts.jsonl"
			data[path] = b.Bytes()
			files = append(files, runfolder.File{Path: path, Size: int64(b.Len())})
		}
		d := openDesk(t, files, data)
		for _, fragment := range []string{
			"tab=scores", "tab=scores&sort=-latency", "tab=scores&set=scores.at%3D-1e308,scores.by%3Dsource,scores.x%3Dx", "tab=scores&filter=reward%3E0", "tab=compare", "tab=compare&sort=-delta&set=compare.show%3Dall",
			"tab=overview", "tab=compare&set=compare.left%3Da/rollouts.jsonl:1,compare.right%3Db/rollouts.jsonl:1", "tab=scores&apart=1&run=a/rollouts",
		} {
			p := served(t, d, data, fragment)
			for _, s := range p.Stats {
				if strings.Contains(s.Value, "NaN") || strings.Contains(s.Value, "Inf") {
					t.Errorf("%s: %s is %s", fragment, s.Name, s.Value)
				}
			}
			var tables []Table
			switch {
			case p.Scores != nil:
				tables = []Table{p.Scores.Groups, p.Scores.Fields, p.Scores.Table, p.Scores.Repeats, p.Scores.Passes, p.Scores.Slices}
			case p.Compare != nil:
				tables = []Table{p.Compare.Metrics, p.Compare.Agents, p.Compare.Sides, p.Compare.Table}
			}
			for _, table := range tables {
				for _, row := range table.Rows {
					for _, cell := range row.Cells {
						if text := cell.Text.Text + cell.Extra.Text + cell.Exact; strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
							t.Errorf("%s: %s has %q", fragment, table.ID, text)
						}
					}
				}
			}
		}
	}
}

// A prompt is the same whether it was saved as a text or as a message.
func TestSaidSpeakers(t *testing.T) {
	rows := [2]string{
		`{"responses_create_params":{"input":"Fix it."},"response":{"output":[{"type":"message","role":"assistant","content":"done"}]}}`,
		`{"responses_create_params":{"input":[{"role":"user","content":"Fix it."}]},"response":{"output":[{"type":"message","content":[{"type":"output_text","text":"done"}]}]}}`,
	}
	var talk [2][]said
	for i, row := range rows {
		talk[i] = saidIn([]byte(row))
	}
	for _, p := range alignSaid(talk[0], talk[1]) {
		if !p.equal {
			t.Errorf("they differ: %+v and %+v", talk[0], talk[1])
		}
	}
	if len(talk[0]) != 2 || talk[0][0].title != "user" || talk[1][1].title != "assistant" {
		t.Errorf("%+v", talk)
	}
}
