package e2e

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Runs with many failed calls, and with numbers of performance.
const (
	failedCalls = "testdata/health/s05-failed-calls/input/rollouts.jsonl"
	timedRun    = "testdata/health/s01-healthy-perf/input/rollouts.jsonl"
)

// printed is what a command says of a run as a JSON document.
func printed(t *testing.T, into any, command, run string) {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(top, run))
	if err != nil {
		t.Fatal(err)
	}
	out, talk, code := product.Run(t, t.TempDir(), command, path, "--json")
	if code != 0 {
		t.Fatalf("%s: status %d, %s", command, code, talk)
	}
	d := json.NewDecoder(strings.NewReader(out))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		t.Fatal(err)
	}
}

// TestCalls reads the Calls tab and wants the numbers of the command, chooses failed calls by a bar, follows one of them
// to its rollout and goes back.
func TestCalls(t *testing.T) {
	var command struct {
		All      struct{ Calls, Failed json.Number }
		Category []struct {
			Value         *string
			Calls, Failed int
		}
	}
	printed(t, &command, "calls", failedCalls)
	p := open(t, "#tab=calls")
	p.ChooseFiles(filepath.Join(top, failedCalls))
	p.WaitState("ready")
	p.WaitStats(map[string]string{"calls.total": command.All.Calls.String(), "calls.failed": command.All.Failed.String()})
	p.Settled()
	want := 0
	for _, c := range command.Category {
		if c.Value != nil && *c.Value == "timeout" {
			want = c.Calls
		}
	}
	if want == 0 {
		t.Fatalf("no call took too long: %+v", command.Category)
	}
	// A mark of the chart is a link that is drawn.
	p.Click(`[data-chart="error"] a[aria-label^="timeout: "]`)
	p.WaitStats(map[string]string{"calls.total": strconv.Itoa(want), "calls.failed": strconv.Itoa(want)})
	p.Wait(fmt.Sprintf(`document.querySelector("[data-table=calls]").dataset.total === "%d"`, want))
	p.Settled()
	if chip := p.Text(".calls-where .chips li"); !strings.Contains(chip, "timeout") {
		t.Errorf("the condition reads %q", chip)
	}
	place := Eval[string](p, `document.querySelector("[data-table=calls] tr[data-rollout]").dataset.rollout`)
	p.Click(`[data-table="calls"] tr[data-rollout] a`)
	p.Wait(`document.querySelector("[data-page=rollout]")`)
	if hash := p.Hash(); !strings.Contains(hash, "rollout="+place) {
		t.Errorf("the call of %s leads to %s", place, hash)
	}
	p.Key("Escape")
	p.current("calls")
	p.WaitStats(map[string]string{"calls.total": strconv.Itoa(want)})
	p.Settled()
	p.Click(".calls-where .chips a")
	p.WaitStats(map[string]string{"calls.total": command.All.Calls.String()})
	// Sorted by latency, the slowest is first.
	p.Settled()
	p.Click(`[data-table="calls"] th[data-column="completion"] a`)
	p.Wait(`document.querySelector("[data-table=calls] th[data-column=completion][aria-sort=ascending]")`)
}

// TestPerformance reads the Performance tab, wants the numbers of the command, and filters by a bar of its latencies.
func TestPerformance(t *testing.T) {
	var command struct {
		Window  struct{ Per_hour, Mean_concurrency json.Number }
		Summary map[string]json.Number `json:"perf_summary"`
		Drain   json.Number            `json:"drain_margin_s"`
	}
	printed(t, &command, "perf", timedRun)
	p := open(t, "#tab=performance")
	p.ChooseFiles(filepath.Join(top, timedRun))
	p.WaitState("ready")
	want := map[string]string{}
	for name, n := range command.Summary {
		want["perf."+name] = n.String()
	}
	p.WaitStats(want)
	same := func(stat string, n json.Number) {
		t.Helper()
		x, _ := n.Float64()
		if y, err := strconv.ParseFloat(p.Stat(stat), 64); n != "" && (err != nil || x != y) {
			t.Errorf("%s is %s, the command says %s", stat, p.Stat(stat), n)
		}
	}
	same("perf.rollouts_per_hour", command.Window.Per_hour)
	same("perf.mean_concurrency", command.Window.Mean_concurrency)
	same("perf.drain_margin_s", command.Drain)
	p.Settled()
	all := p.Stat("filter.count")
	rows := Eval[string](p, `(() => { const a = document.querySelector("[data-chart=latency] a"); return a.getAttribute("aria-label").split(": ").pop(); })()`)
	p.Click(`[data-chart="latency"] a`)
	p.Wait(fmt.Sprintf(`document.querySelector("[data-stat='filter.count']").dataset.value !== %q`, all))
	p.WaitStats(map[string]string{"filter.count": rows})
}
