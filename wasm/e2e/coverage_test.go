package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// derived are the numbers of "rollscope coverage --json" about one run, as the page names them.
func derived(t *testing.T, dir, file string) map[string]string {
	t.Helper()
	out, talk, code := product.Run(t, dir, "coverage", "--json", file)
	if code != 0 {
		t.Fatalf("exit %d: %s", code, talk)
	}
	var doc struct {
		Runs []struct{ Derived, Legacy map[string]json.RawMessage }
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil || len(doc.Runs) != 1 {
		t.Fatalf("%d runs, %v", len(doc.Runs), err)
	}
	stats := map[string]string{}
	for prefix, list := range map[string]map[string]json.RawMessage{"coverage.": doc.Runs[0].Derived, "coverage.legacy.": doc.Runs[0].Legacy} {
		for name, raw := range list {
			stats[prefix+name] = strings.Trim(string(raw), `"`)
			if string(raw) == "null" {
				stats[prefix+name] = ""
			}
		}
	}
	return stats
}

// TestCoverage drops masked samples and a torn, half-finished run with failures, reads what became of their rollouts,
// follows a part of the flow to them and a failure to its line.
func TestCoverage(t *testing.T) {
	const resumed = top + "/testdata/resume"
	// The rows of masked samples are kept once, with the health cases.
	masked := t.TempDir()
	copyFile(t, filepath.Join(goldens, "s17-masked", "input", "rollouts.jsonl"), filepath.Join(masked, "input", "rollouts.jsonl"))
	copyFile(t, top+"/testdata/metrics/s17-masked/input/rollouts_materialized_inputs.jsonl", filepath.Join(masked, "input", "rollouts_materialized_inputs.jsonl"))
	beside := func(dir, stem string) (list []string) {
		for _, suffix := range []string{".jsonl", "_materialized_inputs.jsonl", "_failures.jsonl"} {
			if path := filepath.Join(dir, "input", stem+suffix); exists(path) {
				list = append(list, path)
			}
		}
		return list
	}
	for _, c := range []struct {
		dir, stem string
		want      map[string]string
	}{
		{masked, "rollouts", golden17(t, top+"/testdata/metrics/s17-masked/expected")},
		{resumed, "rollouts", map[string]string{"coverage.legacy.inputs": "15", "coverage.legacy.done": "7", "coverage.legacy.failure_rows": "13", "coverage.legacy.failure_keys": "7",
			"coverage.legacy.terminal": "2", "coverage.legacy.maxed": "2", "coverage.legacy.to_run": strconv.Itoa(len(remaining(t, filepath.Join(resumed, "expected", "resume.json"))))}},
		{resumed, "clean", map[string]string{}},
	} {
		p := open(t, "#tab=coverage")
		p.ChooseFiles(beside(c.dir, c.stem)...)
		p.WaitState("ready")
		p.WaitStats(derived(t, filepath.Join(c.dir, "input"), c.stem+".jsonl"))
		p.WaitStats(c.want)
	}

	p := open(t, "#tab=coverage")
	p.ChooseFiles(beside(resumed, "rollouts")...)
	p.WaitState("ready")
	p.Screenshot("coverage", 1280, 800, false)
	p.Screenshot("coverage-dark", 1280, 800, true)
	p.Screenshot("coverage-400", 400, 800, false)
	// What a resume would run is what the reference ran.
	var plan []string
	for _, r := range remaining(t, filepath.Join(resumed, "expected", "resume.json")) {
		plan = append(plan, fmt.Sprint(r["_ng_task_index"], " ", r["_ng_rollout_index"]))
	}
	const cells = `[...document.querySelectorAll("[data-table=resume] [data-rows] tr")].map(r => r.cells[0].innerText.trim() + " " + r.cells[1].innerText.trim()).join("; ")`
	if got := Eval[string](p, cells); got != strings.Join(plan, "; ") {
		t.Errorf("to run: %s, want %s", got, plan)
	}
	// A part of the flow leaves its rollouts.
	failed := p.Stat("coverage.failed")
	p.Click(".reckoning [data-fate=failed]")
	p.Wait(`location.hash.includes("disposition:failure") && document.querySelector("[data-table=expected]").dataset.total === "` + failed + `"`)
	// One of them leads to the line that decides.
	p.Click(`[data-table=expected] [data-rows] a[href*="line:"]`)
	p.Wait(`document.querySelector("#line pre") && document.querySelector("#line h2").innerText.includes("rollouts_failures.jsonl") && document.querySelector("#line pre").innerText.includes("_ng_failure_class")`)
	p.Screenshot("coverage-line", 1280, 800, false)
	// So does a group of failures.
	p.SetHash("tab=coverage")
	p.Click("[data-table=classes] [data-rows] tr a.row")
	p.Click(`[data-table^=group] a[href*="line:"]`)
	p.Wait(`document.querySelector("#line pre") && document.querySelector("#line pre").innerText.includes("_ng_failure_class")`)
	// The row of a result lists the failures before it.
	p.SetHash("rollout=rollouts.jsonl:1&part=attempts")
	p.Wait(`document.querySelectorAll("[data-table=attempts] [data-rows] tr").length > 0`)
	p.Screenshot("attempts", 1280, 800, false)
	// The grid of tasks has all expected rollouts, the Files tab all files with what they say about each other.
	p.SetHash("tab=tasks")
	p.WaitStats(map[string]string{"task.count": "6"}) // five, and the torn line for itself
	p.Screenshot("tasks-missing", 1280, 800, false)
	p.SetHash("tab=files&open=finding:layout.torn_tail,digest:rollouts_failures.jsonl")
	p.Wait(`document.querySelector("[data-table='said-layout.torn_tail']") && document.querySelector("[data-part=findings]")`)
	p.Wait(`[...document.querySelectorAll("[data-table=others] td")].some(c => c.title.startsWith("SHA-256 "))`)
	p.Screenshot("files-findings", 1280, 800, true)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// golden17 takes the numbers of rows out of the aggregated metrics of the reference.
func golden17(t *testing.T, dir string) map[string]string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "aggregate_metrics.json"))
	if err != nil {
		t.Fatal(err)
	}
	var entries []struct {
		Metrics map[string]float64 `json:"agent_metrics"`
	}
	if err := json.Unmarshal(b, &entries); err != nil {
		t.Fatal(err)
	}
	counts := map[string]float64{}
	for _, e := range entries {
		for _, part := range []string{"measured", "masked"} {
			counts["coverage."+part] += e.Metrics["coverage/"+part+"_rollouts"]
		}
	}
	stats := map[string]string{}
	for name, n := range counts {
		stats[name] = strconv.Itoa(int(n))
	}
	return stats
}

func remaining(t *testing.T, file string) []map[string]any {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct{ Remaining []map[string]any }
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Remaining
}

// TestManyFiles verifies more files than one request of the audit reads: they are all held against each other, and
// nothing is told of a problem.
func TestManyFiles(t *testing.T) {
	const runs = 12
	folder := t.TempDir()
	for n := range runs {
		run := fmt.Sprintf("run-%02d/", n)
		write(t, folder, run+"rollouts.jsonl", rows(2))
		write(t, folder, run+"rollouts_materialized_inputs.jsonl", rows(3))
	}
	p := open(t, "#tab=coverage")
	p.ChooseFolder(folder)
	p.WaitState("ready")
	p.WaitStats(map[string]string{"coverage.expected": strconv.Itoa(3 * runs), "rollout.count": strconv.Itoa(2 * runs)})
	if codes := p.Codes(); len(codes) > 0 {
		t.Errorf("messages %q", codes)
	}
}
