package main_test

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/modelcall"
	"github.com/rollscope/rollscope/core/perf"
	"github.com/rollscope/rollscope/core/rollout"
	"github.com/rollscope/rollscope/core/value"
)

// TestCalls reads the numbers of calls and time from the module, and compares with those of whole files.
func TestCalls(t *testing.T) {
	stats := regexp.MustCompile(`data-stat="((?:calls|perf)\.[^"]+)" data-value="([^"]*)"`)
	for _, name := range []string{"health/s05-failed-calls/input/rollouts.jsonl", "project/s21-projection-damaged/expected/projected_rollouts.jsonl"} {
		data, err := os.ReadFile("../testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{}
		var (
			reader rollout.Reader
			calls  modelcall.Reducer
			times  perf.Reducer
		)
		for i, line := range bytes.Split(data, []byte{'\n'}) {
			if jsonl.Blank(line) {
				continue
			}
			row := reader.Read(&jsonl.Line{Bytes: line, Length: int64(len(line)), Terminated: true})
			identity := row.Identity()
			digest := new(modelcall.Mapper).Append(nil, row)
			if err := calls.Add(&modelcall.Row{Digest: digest}); err != nil {
				t.Fatal(err)
			}
			if err := times.Add(&perf.Row{Identity: identity.Resolve(int64(i), 0, int64(i)+1), Perf: new(perf.Mapper).Append(nil, row), Calls: digest}); err != nil {
				t.Fatal(err)
			}
		}
		report, err := calls.Report()
		if err != nil {
			t.Fatal(err)
		}
		want["calls.total"], want["calls.failed"] = fmt.Sprint(report.All.Calls), fmt.Sprint(report.All.Failed)
		timed := times.Report()
		for _, m := range timed.Summary {
			want["perf."+m.Key] = string(m.Value.Append(nil, value.Plain))
		}
		if w := &timed.Window; w.Known {
			want["perf.rollouts_per_hour"] = strconv.FormatFloat(w.PerHour, 'g', -1, 64)
		}
		for n, form := range forms {
			if n > 0 && len(timed.Summary) == 0 {
				continue // the second form is a cross-check of the first
			}
			h := guest(t, form)
			files := []input{{Path: "rollouts.jsonl", Size: len(data), data: data}}
			h.open(files, 30_000)
			got := map[string]string{}
			for _, fragment := range []string{"#tab=calls", "#tab=performance"} {
				d := h.probed(fragment, files, 25_000)
				if d.Phase != "ready" {
					t.Errorf("%s %s: %s", name, fragment, d.Phase)
				}
				for _, m := range stats.FindAllStringSubmatch(d.Regions["main"], -1) {
					got[m[1]] = m[2]
				}
			}
			for stat, value := range want {
				if got[stat] != value {
					t.Errorf("%s, %s: %s is %q, want %q", form, name, stat, got[stat], value)
				}
			}
		}
	}
}
