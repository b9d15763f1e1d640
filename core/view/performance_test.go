package view

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/perf"
	"github.com/rollscope/rollscope/core/runfolder"
	"github.com/rollscope/rollscope/core/value"
)

// TestPerformanceTab wants the numbers of the command, and behind every mark the rows that it counts.
func TestPerformanceTab(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for _, name := range evidenceRuns {
		d, data := evidenceRun(t, name)
		s := State{Tab: "performance"}
		answerProbe(t, d, data, s, rng)
		page := pageOf(t, d, data, s)
		v := page.Performance
		_, want := measuredRun(t, d, data)
		stats := map[string]string{}
		for _, row := range v.Summary.Rows {
			stats[row.Cells[1].Stat] = row.Cells[1].Exact
		}
		for _, f := range v.Facts {
			if f.Stat != "" {
				stats[f.Stat] = f.Exact
			}
		}
		expect := func(stat, exact string) {
			t.Helper()
			if stats[stat] != exact {
				t.Errorf("%s: %s is %q, want %q", name, stat, stats[stat], exact)
			}
		}
		for _, m := range want.Summary {
			expect("perf."+m.Key, string(m.Value.Append(nil, value.Plain)))
		}
		if w := &want.Window; w.Known {
			expect("perf.window_s", shortest(w.End-w.Start))
			expect("perf.rollouts_per_hour", shortest(w.PerHour))
			expect("perf.mean_concurrency", shortest(w.MeanConcurrency))
		} else {
			expect("perf.rollouts_per_hour", "")
		}
		if margin, ok := want.Trackers[perf.ByRequest].DrainMargin(0, false); ok {
			expect("perf.drain_margin_s", shortest(margin))
		} else {
			expect("perf.drain_margin_s", "")
		}
		for _, chart := range v.Spread {
			n := 0
			for _, b := range chart.Bins {
				n += int(b.Value)
				if b.Href == "" {
					continue
				}
				to := decoded(t, b.Href)
				one := pageOf(t, d, data, to)
				got := 0
				if to.Tab == "calls" {
					got = one.Calls.Table.Total
				} else {
					got = d.filter(d.choose(to), to).len(d.choose(to))
				}
				if got < int(b.Value) || chart.ID == "ttft" && got != int(b.Value) {
					t.Errorf("%s: %s %s counts %v, its link %d: %s", name, chart.ID, b.Label, b.Value, got, b.Href)
				}
			}
			if chart.ID == "latency" && n != want.Spreads[perf.ByRequest].N && want.Spreads[perf.ByRequest].N > 0 {
				t.Errorf("%s: %d durations, want %d", name, n, want.Spreads[perf.ByRequest].N)
			}
		}
		for _, chart := range v.Course {
			ended := 0.0
			for _, b := range chart.Bins {
				ended += b.Value
				decoded(t, b.Href)
			}
			if len(chart.Bins) != stretches || ended == 0 {
				t.Errorf("%s: %s has %d marks", name, chart.ID, len(chart.Bins))
			}
		}
		if v.Tasks.Total != len(want.Tasks) || v.Slowest.Total != len(want.Slowest) {
			t.Errorf("%s: %d tasks, %d slow", name, v.Tasks.Total, v.Slowest.Total)
		}
		for i, row := range v.Slowest.Rows {
			seconds, _, _ := want.Slowest[i].Seconds()
			if row.Cells[4].Exact != shortest(seconds) || row.Href == "" {
				t.Errorf("%s: %+v, want %v", name, row, seconds)
			}
		}
		// Sorted by any column, every task is there once, those without a value at the end.
		for _, key := range timeSortKeys() {
			for _, sign := range [...]string{"", "-"} {
				table := pageOf(t, d, data, State{Tab: "performance", Sort: sign + key}).Performance.Tasks
				at, seen := columnIndex(table, key), map[string]bool{}
				last, missing := "", false
				for _, row := range table.Rows {
					seen[row.ID] = true
					text := exactAt(row, at)
					missing = missing || text == ""
					x, errX := strconv.ParseFloat(last, 64)
					y, errY := strconv.ParseFloat(text, 64)
					if missing && text != "" || errX == nil && errY == nil && (sign == "" && x > y || sign == "-" && x < y) {
						t.Errorf("%s by %s%s: %q behind %q", name, sign, key, text, last)
					}
					last = text
				}
				if len(seen) != min(len(want.Tasks), windowSize) {
					t.Errorf("%s by %s: %d tasks", name, key, len(seen))
				}
			}
		}
	}
}

func columnIndex(t Table, key string) int {
	for i, c := range t.Columns {
		if c.Key == key {
			return i
		}
	}
	return -1
}

// TestSavedPerf holds saved summaries against the rows: equal, changed, lost, unreadable.
func TestSavedPerf(t *testing.T) {
	_, data := folder(t, "../../testdata/project/s21-projection-damaged")
	rows := data["s21-projection-damaged/expected/projected_rollouts.jsonl"]
	saved := string(data["s21-projection-damaged/expected/perf_summary.json"])
	entry := `[{"agent_ref":{"name":"synthetic_agent"},"perf_summary":` + saved + `}]`
	for _, tt := range []struct{ name, text, verdict, state string }{
		{"equal", entry, "perf_summary equals derived, 1 of 1 entry", ""},
		{"changed", strings.Replace(entry, `"max_num_turns": 4`, `"max_num_turns": 5`, 1), "perf_summary equals derived, 0 of 1 entry", "differs"},
		{"lost", `[{"agent_ref":{"name":"synthetic_agent"}}]`, "perf_summary equals derived, 0 of 1 entry", "not saved"},
		{"more", strings.Replace(entry, `"max_num_turns"`, `"odd":1,"max_num_turns"`, 1), "perf_summary equals derived, 0 of 1 entry", "saved alone"},
		{"broken", `[{`, "perf_summary equals derived, 0 of 0 entries", "not read"},
	} {
		data := map[string][]byte{"run/rollouts.jsonl": rows, "run/rollouts_aggregate_metrics.json": []byte(tt.text)}
		var files []runfolder.File
		for _, name := range []string{"run/rollouts.jsonl", "run/rollouts_aggregate_metrics.json"} {
			files = append(files, runfolder.File{Path: name, Size: int64(len(data[name]))})
		}
		d := openDesk(t, files, data)
		s := State{Tab: "performance", Filter: "turns>1"} // all rows count for what was saved
		answerProbe(t, d, data, s, rand.New(rand.NewPCG(1, 1)))
		v := pageOf(t, d, data, s).Performance
		if v.Verdict != tt.verdict {
			t.Errorf("%s: %s", tt.name, v.Verdict)
		}
		odd := ""
		for _, row := range v.Saved.Rows {
			if text := row.Cells[4].Text.Text; text != "equal" {
				odd = text
			}
		}
		if !strings.HasPrefix(odd, tt.state) || tt.state == "" && odd != "" {
			t.Errorf("%s: %q", tt.name, odd)
		}
	}
}

// TestTimes writes stretches of time and names their units.
func TestTimes(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{windowText(86_390, 86_399), "23:59:50 – 23:59:59 UTC"},
		{windowText(86_390, 86_405), "1970-01-01 23:59:50 – 1970-01-02 00:00:05 UTC"},
		{spanText(1.70621e9), "473,947:13:20"},
		{latencyUnit(3213), ""},
		{latencyUnit(10_000), "min:s"},
		{latencyUnit(3_599_500), "h:min:s"},
		{latencyUnit(math.NaN()), ""},
	} {
		if c.got != c.want {
			t.Errorf("%s, want %s", c.got, c.want)
		}
	}
}
