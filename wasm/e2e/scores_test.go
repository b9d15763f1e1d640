package e2e

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// savedRuns are real runs with the metrics that their own tools saved.
var savedRuns = []string{"testdata/metrics/claude_code_agent-math/input", "testdata/metrics/moldetox/input", "testdata/saved/ether0"}

// TestSavedScores drops runs with their saved metrics and reads on the page what the files say beside what the rows
// give. A folder of more such runs can be named by a variable.
func TestSavedScores(t *testing.T) {
	var dirs []string
	for _, dir := range savedRuns {
		dirs = append(dirs, filepath.Join(top, dir))
	}
	if more := os.Getenv("ROLLSCOPE_RUNS"); more != "" {
		list, _ := filepath.Glob(filepath.Join(more, "*", "*_aggregate_metrics.json"))
		profiled, _ := filepath.Glob(filepath.Join(more, "*", "*_reward_profiling.jsonl"))
		for _, file := range append(list, profiled...) {
			dirs = append(dirs, filepath.Dir(file))
		}
	}
	p := open(t, "#tab=scores")
	seen := map[string]bool{}
	for _, dir := range dirs {
		if seen[dir] {
			continue
		}
		seen[dir] = true
		p.ChooseFolder(dir)
		p.WaitState("ready")
		p.WaitStats(map[string]string{"score.saved_files.0.differs": "0"})
		p.Settled()
		stats := p.Stats()
		both := 0
		for name, saved := range stats {
			name, ok := strings.CutPrefix(name, "score.saved.")
			derived, there := stats["score."+name]
			if !ok || !there {
				continue
			}
			both++
			a, _ := strconv.ParseFloat(derived, 64)
			b, err := strconv.ParseFloat(saved, 64)
			if err != nil || math.Abs(a-b) > 1e-9*max(1, math.Abs(a), math.Abs(b)) {
				t.Errorf("%s: %s is %s, the file says %s", dir, name, derived, saved)
			}
		}
		if both == 0 {
			t.Errorf("%s: nothing is said twice", dir)
		}
		// A person sees both beside each other.
		text := p.Text(`[data-table^="saved-"]`)
		if !strings.Contains(text, "from the rows") || !strings.Contains(text, "the file says") || !strings.Contains(text, "mean/reward") {
			t.Errorf("%s shows %.300q", dir, text)
		}
	}
	t.Logf("%d runs", len(seen))
}

// TestScores reads the Scores tab of the sample run and wants what the command says of it, sets a threshold, lists a
// slice, and follows a bar and the reward of a repeat to rows.
func TestScores(t *testing.T) {
	sample := sampleFile(t)
	out, talk, code := product.Run(t, t.TempDir(), "metrics", "scores", sample, "--json")
	if code != 0 {
		t.Fatalf("status %d, %s", code, talk)
	}
	var command struct {
		All struct {
			Mean               json.Number
			Measured, Expected int
			Slices             map[string]int
		}
	}
	if err := json.Unmarshal([]byte(out), &command); err != nil {
		t.Fatal(err)
	}
	p := open(t, "#tab=scores")
	p.ChooseFiles(sample)
	p.WaitState("ready")
	want := map[string]string{"score.mean/reward": command.All.Mean.String(), "score.expected": strconv.Itoa(command.All.Expected)}
	for slice, n := range command.All.Slices {
		want["score.slice."+slice] = strconv.Itoa(n)
	}
	p.WaitStats(want)
	p.Settled()
	// A mark of the distribution leads to its rows.
	p.Click(`[data-chart="reward"] a`)
	p.current("rollouts")
	p.Wait(`document.querySelector("ul.chips a")`)
	p.SetHash("tab=scores")
	p.current("scores")
	p.Settled()
	p.Click(`.strip a[href*="scores.slice%3Dnever"]`)
	p.Wait(`document.querySelector("[data-table=scored]").dataset.total === "` + strconv.Itoa(command.All.Slices["never"]) + `"`)
	p.Settled()
	Eval[bool](p, `(() => { const box = document.querySelector("[data-set='scores.at']"); box.focus(); box.select(); return true; })()`)
	p.Type("0")
	p.Key("Enter")
	p.WaitStats(map[string]string{"score.slice.never": "0"})
	if hash := p.Hash(); !strings.Contains(hash, "scores.at") || !strings.Contains(hash, "scores.slice") {
		t.Errorf("the threshold stands in %s", hash)
	}
	p.SetHash("tab=scores")
	p.WaitStats(want)
	p.Settled()
	p.Click(`[data-table="scored"] .rep a`)
	p.Wait(`document.querySelector("[data-page=rollout]")`)
	p.Key("Escape")
	p.current("scores")
}

// sampleFile is a run with scores of several repeats.
func sampleFile(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(top, timedRun))
	if err != nil {
		t.Fatal(err)
	}
	return path
}
