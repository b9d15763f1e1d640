package e2e

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestTutorial goes through the tutorial as a person who reads it, on the page; its commands are run elsewhere. What the
// tutorial says of the page is so.
func TestTutorial(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(top, "docs", "tutorial.md"))
	if err != nil {
		t.Fatal(err)
	}
	tutorial := strings.Join(strings.Fields(string(text)), " ")
	written := func(phrase string) {
		t.Helper()
		if !strings.Contains(tutorial, phrase) {
			t.Errorf("the tutorial does not say %q", phrase)
		}
	}
	on := func(p *Page, where, phrase string) {
		t.Helper()
		if text := strings.Join(strings.Fields(p.Text(where)), " "); !strings.Contains(text, phrase) {
			t.Errorf("the page does not say %q but %q", phrase, text)
		}
	}
	both := func(p *Page, phrase string) { t.Helper(); written(phrase); on(p, "#region-main", phrase) }

	// Is it complete, and which rollouts are bad?
	p := openSample(t)
	p.Wait(`document.querySelector("[data-table=eyes] tr[data-index]")`)
	both(p, "44 of 44 rows are results, expected not known")
	both(p, "41 of 44")
	written("Of 45 rollouts 26 are healthy, 16 unhealthy and 3 unobserved")
	p.WaitStats(map[string]string{"rollout.count": "45", "verdict.healthy": "26", "verdict.unhealthy": "16", "verdict.unobserved": "3",
		"accounting.lines": "45", "accounting.read": "44", "accounting.unreadable": "1"})
	if alerts := p.Alerts(); len(alerts) != 2 {
		t.Errorf("%d bars at the top: %+v", len(alerts), alerts)
	}

	// The worst rollout.
	p.Click("[data-tab=rollouts]")
	p.current("rollouts")
	p.Click("[data-column=findings]") // anywhere in it
	p.Wait(`location.hash.includes("sort=findings")`)
	p.Settled()
	p.Click("[data-column=findings]") // anywhere in it
	p.Wait(`location.hash.includes("sort=-findings")`)
	p.Settled()
	if first := p.Rows()[:3]; !slices.Equal(first, []string{"rollouts.jsonl:26", "rollouts.jsonl:29", "rollouts.jsonl:7"}) {
		t.Errorf("the rows begin with %q", first)
	}
	written("6-0 and 6-1 come first with four findings each, then 0-2 with three")
	p.Click(`#region-main tr[data-rollout="rollouts.jsonl:7"] a`)
	p.Wait(`document.querySelector("[data-page=rollout] [data-turn]")`)
	p.Settled()
	on(p, "#region-main", "backup of 48211 bytes written")
	p.Key("n")
	p.Wait(`location.hash.includes("at=f1")`)
	p.Key("Escape")
	p.current("rollouts")

	// Filter.
	const filter = "check:rollout_ended_on_failed_model_call reward=0"
	written("```filter " + filter + " ```")
	p.Key("/")
	p.Type(filter)
	p.Key("Enter")
	p.WaitStats(map[string]string{"filter.count": "3"})
	written("Three of the zeros are the model server's")
	p.SetHash("tab=scores&filter=not+check:rollout_ended_on_failed_model_call")
	p.WaitStats(map[string]string{"score.measured": "38"})
	written("0.6579")
	on(p, "#region-main", "0.6579")

	// Compare.
	q := open(t, "")
	q.Drop(halves(t)...)
	q.WaitState("ready")
	q.Key("g m")
	q.current("compare")
	q.WaitStats(map[string]string{"compare.pass_to_fail": "2", "compare.fail_to_pass": "0"})
	written("two tasks that passed fail")
	delta, err := strconv.ParseFloat(q.Stat("compare.delta.mean/reward"), 64)
	if err != nil || delta >= 0 {
		t.Errorf("the mean changes by %v, %v", delta, err)
	}
	written(fmt.Sprintf("The mean falls by %.2f", math.Abs(delta)))
	var low, high float64
	interval := Eval[string](q, `document.querySelector("[data-table=compared] tr[data-index='0']").innerText`)
	for _, cell := range strings.Split(interval, "\t") {
		if strings.Contains(cell, " to ") {
			if _, err := fmt.Sscanf(strings.TrimSpace(cell), "%f to %f", &low, &high); err != nil {
				t.Errorf("%q: %v", cell, err)
			}
		}
	}
	written(fmt.Sprintf("from −%.2f to +%.2f", -low, high))
	on(q, "#region-main", "unhealthy rollouts 3 of 24 10 of 19")
	written("3 of 24 rollouts are unhealthy on the left and 10 of 19 on the right")
}
