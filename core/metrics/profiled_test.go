package metrics

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// savedReaders read the saved metrics beside a rollouts file, by the end of their names.
var savedReaders = map[string]func([]byte) (*Saved, error){
	"_aggregate_metrics.json": ParseSaved, "_reward_profiling.jsonl": ParseProfile, "_agent_metrics.json": ParseAgents, "_repeat_level_metrics.json": ParseRepeats,
}

// agreeBeside compares the saved files beside rollouts with what the rows give, and tells how many there are.
func agreeBeside(t *testing.T, rollouts string) (files, matches int) {
	t.Helper()
	data, err := os.ReadFile(rollouts)
	if err != nil {
		t.Fatal(err)
	}
	for suffix, read := range savedReaders {
		path := strings.TrimSuffix(rollouts, ".jsonl") + suffix
		text, err := os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		files++
		saved, err := read(text)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		run := mustRun(t, string(data), true)
		for _, a := range run.Agree(saved) {
			t.Logf("%s %q: rules %v, rows %d, saved %d, %v", filepath.Base(path), a.Label, a.Rules, a.Rows, a.Saved, a.Counts)
			matches += a.Counts[Match]
			for _, d := range a.Differences {
				if d.Status == Differs {
					t.Errorf("%s: %+v", path, d)
				}
			}
		}
	}
	return files, matches
}

// TestProfileFiles reads what the profile command wrote beside real rollouts.
func TestProfileFiles(t *testing.T) {
	files := 0
	dirs, _ := filepath.Glob("../../testdata/metrics/*/input")
	if more := os.Getenv("ROLLSCOPE_RUNS"); more != "" { // a folder of run folders
		list, _ := filepath.Glob(filepath.Join(more, "*"))
		dirs = append(dirs, list...)
	}
	for _, dir := range dirs {
		list, _ := filepath.Glob(filepath.Join(dir, "*rollouts.jsonl"))
		for _, path := range list {
			n, matches := agreeBeside(t, path)
			if n > 0 && matches == 0 {
				t.Errorf("%s: nothing matches", path)
			}
			files += n
		}
	}
	t.Logf("%d files", files)
	if files == 0 {
		t.Error("no file was compared")
	}
}
