package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// inputs reads the files of a folder.
func inputs(t *testing.T, dir string) []input {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []input
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, input{Path: e.Name(), Size: len(data), data: data})
	}
	return list
}

// TestScores has the module derive what the files beside the rollouts say, and compare two runs.
func TestScores(t *testing.T) {
	var runs []input
	for name, rewards := range map[string]string{"a": "101", "b": "011"} {
		var b strings.Builder
		for task, reward := range rewards {
			fmt.Fprintf(&b, `{"_ng_task_index":%d,"_ng_rollout_index":0,"reward":%c,"agent_ref":{"name":"x"},"response":{"output":[{"type":"message","role":"assistant","content":"run %s"}]}}`+"\n", task, reward, name)
		}
		runs = append(runs, input{Path: name + "/rollouts.jsonl", Size: b.Len(), data: []byte(b.String())})
	}
	for _, form := range forms {
		t.Run(form, func(t *testing.T) {
			h := guest(t, form)
			for _, dir := range []string{"../testdata/metrics/claude_code_agent-math/input", "../testdata/metrics/moldetox/input", "../testdata/saved/ether0"} {
				files := inputs(t, dir)
				h.open(files, 10_000)
				page := h.probed("#tab=scores", files, 10_000)
				if page.Phase != "ready" || page.stat("score.saved_files") == "0" || page.stat("score.saved_files.0.differs") != "0" || page.stat("score.saved_files.0.match") == "0" {
					t.Errorf("%s: %s, %s files, %s match, %s differ", dir, page.Phase, page.stat("score.saved_files"), page.stat("score.saved_files.0.match"), page.stat("score.saved_files.0.differs"))
				}
				if saved := page.stat("score.saved.mean/reward"); saved == "" || saved != page.stat("score.mean/reward") {
					t.Errorf("%s: mean %s, saved %s", dir, page.stat("score.mean/reward"), saved)
				}
			}
			h.open(runs, 100)
			page := h.probed("#tab=compare", runs, 100)
			for name, want := range map[string]string{"common": "3", "pass_to_fail": "1", "fail_to_pass": "1"} {
				if got := page.stat("compare." + name); got != want {
					t.Errorf("compare.%s: %s, want %s", name, got, want)
				}
			}
			talk := h.probed("#tab=compare&set=compare.left%3Da/rollouts.jsonl:1,compare.right%3Db/rollouts.jsonl:1", runs, 100)
			if main := talk.Regions["main"]; strings.Count(main, "data-diverged") != 1 || !strings.Contains(main, "run ") {
				t.Errorf("the transcripts: %.2000s", main)
			}
		})
	}
}
