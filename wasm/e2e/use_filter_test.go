package e2e

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// filterRows asks the command which rows of a folder fit a filter.
func filterRows(t *testing.T, folder, filter string, more ...string) []string {
	t.Helper()
	out, talk, code := product.Run(t, folder, append([]string{"rows", "rollouts.jsonl", "--filter", filter}, more...)...)
	if code != 0 {
		t.Fatalf("rows --filter %q: exit %d: %s", filter, code, talk)
	}
	list := []string{}
	for line := range strings.Lines(out) {
		place, _, _ := strings.Cut(line, "\t")
		list = append(list, place)
	}
	return list
}

// showsRows waits until the table has exactly these rows; there must be few.
func (p *Page) showsRows(want []string) {
	p.t.Helper()
	p.WaitStats(map[string]string{"filter.count": fmt.Sprint(len(want))})
	p.Wait(fmt.Sprintf(`document.documentElement.dataset.state === "ready" && document.querySelectorAll("#region-main tr[data-rollout]").length === %d`, len(want)))
	p.Settled()
	if have := p.Rows(); !slices.Equal(have, want) {
		p.t.Errorf("the page has the rows %q, the command %q", have, want)
	}
}

// TestSecondScan filters by what is only inside the rows, writes the filter with the offers, and mends a mistake.
func TestSecondScan(t *testing.T) {
	p := openCase(t, "s05-failed-calls", "#tab=rollouts")
	folder := filepath.Dir(caseFile("s05-failed-calls"))
	p.Key("/")
	p.Type("row.response.output[0].type:message and reward=0")
	p.Key("Enter")
	p.showsRows(filterRows(t, folder, "row.response.output[0].type:message and reward=0"))
	p.Screenshot("second-scan", 1280, 800, false)

	// A word at a time, chosen by keys.
	p.Key("Escape /")
	p.Type("verd")
	p.Wait(`document.querySelector("#offers:not([hidden]) [role=option]")?.innerText.includes("verdict")`)
	p.Key("Down Enter")
	p.Wait(`document.querySelector("[data-filter-input]").value.startsWith("verdict")`)
	p.Type(":")
	p.Wait(`[...document.querySelectorAll("#offers [role=option]")].some((e) => e.dataset.insert === "unhealthy")`)
	p.Key("Down Down")
	p.Wait(`document.querySelector("#offers [aria-selected=true]").dataset.insert === "unhealthy"`)
	p.Key("Enter Escape Enter")
	p.showsRows(filterRows(t, folder, "verdict:unhealthy"))

	// A mistake is told at its character; the link mends it.
	p.Key("Escape /")
	p.Type("reward=0 verdct:unhealthy")
	p.Key("Enter")
	p.Wait(`document.querySelector("#filter-error")?.innerText.includes("at character 10")`)
	if text := p.Text(".count"); !strings.Contains(text, "not filtered") {
		t.Errorf("the count says %q with a filter that is not used", text)
	}
	p.Click("#filter-error [data-action=mistake]")
	if place := Eval[[2]int](p, `(() => { const e = document.activeElement; return [e.selectionStart, e.selectionEnd]; })()`); place != [2]int{9, 15} {
		t.Errorf("the mistake is selected at %v", place)
	}
	p.Key("Escape")
	p.Click("#filter-error a[data-fix]")
	p.showsRows(filterRows(t, folder, "reward=0 verdict:unhealthy"))

	// Chips take conditions away, Back brings them again.
	p.Click(`ul.chips a[aria-label^="remove reward"]`)
	p.showsRows(filterRows(t, folder, "verdict:unhealthy"))
	Eval[int](p, `(history.back(), 0)`)
	p.showsRows(filterRows(t, folder, "reward=0 verdict:unhealthy"))
	Eval[int](p, `(history.forward(), 0)`)
	p.showsRows(filterRows(t, folder, "verdict:unhealthy"))
	p.Click("ul.chips a")
	p.showsRows(filterRows(t, folder, ""))
}

// TestNeighbours goes through the rows of a filter by their pages, in the order of a sort.
func TestNeighbours(t *testing.T) {
	p := openSample(t)
	p.SetHash("tab=rollouts&filter=verdict:unhealthy&sort=-completion")
	p.Wait(`document.querySelector("[data-table=rollouts] tr[data-rollout]")`)
	p.Settled()
	list := p.Rows()
	if len(list) < 4 {
		t.Fatalf("only %q", list)
	}
	p.Key("j Enter")
	for _, place := range append(slices.Clone(list), list[len(list)-1]) { // the last one has no next
		p.Wait(fmt.Sprintf(`decodeURIComponent(location.hash).includes(%q) && document.querySelector("[data-page=rollout]")`, "rollout="+place))
		p.Settled()
		if at := p.Text(".way .muted"); !strings.Contains(at, fmt.Sprint(slices.Index(list, place)+1)) || !strings.Contains(at, fmt.Sprint(len(list))) {
			t.Errorf("%s says that it is %q", place, at)
		}
		p.Key("]")
	}
	p.Key("Escape")
	p.Wait(fmt.Sprintf(`document.activeElement?.dataset.rollout === %q`, list[len(list)-1]))
	Eval[int](p, `(history.back(), 0)`)
	p.Wait(`document.querySelector("[data-page=rollout]")`)
}
