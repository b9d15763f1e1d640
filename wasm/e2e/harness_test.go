package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/harness"
)

// TestHarness drops a run, reads the matrix, follows a failing cell to the places it names, and declares a scope.
func TestHarness(t *testing.T) {
	file, err := filepath.Abs(filepath.Join(goldens, "s16-agents", "input", "rollouts.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	p := open(t, "")
	p.Drop(file)
	p.WaitState("ready")
	p.Click("Harness")
	p.current("harness")
	p.WaitState("ready")
	results := p.Download(harness.ResultsFile)
	dir := t.TempDir()
	product.Run(t, dir, "harness", "-o", dir, file)
	found, err := filepath.Glob(filepath.Join(dir, "*", harness.ResultsFile))
	if err != nil || len(found) != 1 {
		t.Fatalf("%v %v", found, err)
	}
	if want, err := os.ReadFile(found[0]); err != nil || !bytes.Equal(results, want) {
		t.Error("the page's results are not those of the command")
	}

	// A cell, a check of it, a record on which it fails, the place in the record.
	p.Click(`[data-table="capabilities"] tbody tr:nth-child(5) a`)
	p.Wait(`document.querySelector("[data-table=capabilities] td.current")`)
	p.Click(`[data-table="harness-checks"] [data-finding="tools.request"] a`)
	p.Wait(`location.hash.includes("check=tools.request")`)
	p.Wait(`document.querySelector(".graph [aria-current]")`)
	p.Click(`[data-table="failing"] [data-rollout] a`)
	p.Wait(`document.querySelector("[data-part=raw][aria-current]")`)
	p.Wait(`document.querySelector(".raw .marked.on")`)
	if text := p.Text(".found"); !strings.Contains(text, "tools.request") {
		t.Errorf("the findings are %q", text)
	}
	Eval[int](p, `(history.back(), 0)`)
	p.current("harness")

	// Without tools the capability does not apply any more.
	p.Click(`[data-choice="no-tools"]`)
	p.Wait(`document.querySelector("[data-choice=no-tools][aria-current]")`)
	p.WaitStats(map[string]string{"harness.tools.request.fail": "0", "harness.TE-5.not_fulfilled": "0"})
}
