package e2e

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"
)

// Clipboard gives what a person would paste now.
func (p *Page) Clipboard() string {
	p.t.Helper()
	p.call(func(ctx context.Context, _ *chromedp.Target) error {
		b := chromedp.FromContext(ctx)
		_, err := cdp.Call(ctx, b.Browser, browser.SetPermission, browser.SetPermissionParams{
			Permission: &browser.PermissionDescriptor{Name: "clipboard-read"}, Setting: browser.PermissionSettingGranted, BrowserContextID: b.BrowserContextID,
		})
		return err
	})
	return Eval[string](p, `navigator.clipboard.readText()`)
}

// heads gives the keys of the columns of the main table, in their order.
func (p *Page) heads() []string {
	p.t.Helper()
	return Eval[[]string](p, `[...document.querySelectorAll("[data-table][data-window] thead th")].map((e) => e.dataset.column)`)
}

// pull drags with the mouse from one place to another.
func (p *Page) pull(from, to [2]float64) {
	p.t.Helper()
	p.call(func(ctx context.Context, t *chromedp.Target) error {
		for _, step := range []struct {
			kind string
			at   [2]float64
		}{{"mousePressed", from}, {"mouseMoved", [2]float64{(from[0] + to[0]) / 2, from[1]}}, {"mouseMoved", to}, {"mouseReleased", to}} {
			if err := mouse(ctx, t, step.kind, step.at); err != nil {
				return err
			}
		}
		return nil
	})
}

// TestColumns chooses, resizes and moves columns, by keys and by pulling; a link restores them.
func TestColumns(t *testing.T) {
	p := openCase(t, "s05-failed-calls", "#tab=rollouts")
	usual := p.heads()
	// By keys: one away, another to another place, wider.
	p.Key("v")
	p.Wait(`document.querySelector("[data-chooser][open]") && document.activeElement.matches("[role=checkbox]")`)
	p.Key("Space")
	p.Wait(fmt.Sprintf(`document.querySelector("[data-table=rollouts] thead th").dataset.column === %q && document.querySelector("[data-chooser][open]")`, usual[1]))
	p.Click(fmt.Sprintf(`[data-chooser] a[aria-label="move down: %s"]`, usual[1]))
	p.Wait(fmt.Sprintf(`document.querySelector("[data-table=rollouts] thead th").dataset.column === %q`, usual[2]))
	p.Click(`[data-chooser] a[aria-label="wider: verdict"]`)
	p.Wait(`document.querySelector("th[data-column=verdict]").dataset.width`)
	p.Key("Escape")
	p.Wait(`!document.querySelector("[data-chooser][open]")`)
	// By pulling: the edge of a head, then a head itself in front of another one.
	p.Settled()
	box := func(key string) [4]float64 {
		return Eval[[4]float64](p, fmt.Sprintf(`(() => { const b = document.querySelector("th[data-column=%s]").getBoundingClientRect(); return [b.left, b.right, b.top + b.height / 2, b.width]; })()`, key))
	}
	reward := box("reward")
	p.pull([2]float64{reward[1] - 2, reward[2]}, [2]float64{reward[1] + 58, reward[2]})
	p.Wait(`location.hash.includes("reward:")`)
	p.Settled()
	if now := box("reward"); now[3] < reward[3]+40 {
		t.Errorf("pulled by 60 pixels the column is %v wide, was %v", now[3], reward[3])
	}
	agent, findings := box("agent"), box("findings")
	p.pull([2]float64{findings[0] + 20, findings[2]}, [2]float64{agent[0] + 4, agent[2]})
	p.Wait(`(() => { const keys = [...document.querySelectorAll("[data-table=rollouts] thead th")].map((e) => e.dataset.column); return keys.indexOf("findings") === keys.indexOf("agent") - 1; })()`)
	// Sorted by a click, and the other way by another.
	p.Click("th[data-column=completion] a")
	p.Wait(`document.querySelector("th[data-column=completion]").ariaSort === "ascending"`)
	p.Click("th[data-column=completion] a")
	p.Wait(`document.querySelector("th[data-column=completion]").ariaSort === "descending"`)
	p.Settled()
	want, rows, widths := p.heads(), p.Rows(), Eval[string](p, `[...document.querySelectorAll("th[data-width]")].map((e) => e.dataset.column + e.dataset.width).join()`)
	if slices.Equal(want, usual) || slices.Contains(want, usual[0]) {
		t.Errorf("the columns are %q", want)
	}
	if sorted := filterRows(t, filepath.Dir(caseFile("s05-failed-calls")), "", "--sort", "-completion"); !slices.Equal(rows, sorted[:len(rows)]) {
		t.Errorf("sorted rows are %q, by the command %q", rows, sorted)
	}

	// The link, elsewhere.
	p.Key("c")
	p.Wait(`document.querySelector("#live").textContent === "Link copied."`)
	link := p.Clipboard()
	if !strings.Contains(link, "files=rollouts.jsonl:") {
		t.Errorf("the link names no files: %s", link)
	}
	other := newPage(t)
	other.Open(link)
	other.Wait(`document.documentElement.dataset.waiting !== undefined`)
	other.Drop(caseFile("s05-failed-calls"))
	other.WaitState("ready")
	other.Wait(`document.querySelector("[data-table=rollouts] tr[data-rollout]")`)
	other.Settled()
	if have := other.heads(); !slices.Equal(have, want) {
		t.Errorf("the link restores the columns %q, had %q", have, want)
	}
	if have := other.Rows(); !slices.Equal(have, rows) {
		t.Errorf("the link restores the rows %q, had %q", have, rows)
	}
	if have := Eval[string](other, `[...document.querySelectorAll("th[data-width]")].map((e) => e.dataset.column + e.dataset.width).join()`); have != widths {
		t.Errorf("the link restores the widths %q, had %q", have, widths)
	}
	// Usual columns again.
	p.Key("v")
	p.Click("Usual columns")
	p.Wait(`!location.hash.includes("columns=")`)
	p.Settled()
	if have := p.heads(); !slices.Equal(have, usual) {
		t.Errorf("usual columns are %q, were %q", have, usual)
	}
}

// TestTakeAlong copies and saves the table of a filter: as TSV, CSV, and JSONL, which is the bytes of the lines.
func TestTakeAlong(t *testing.T) {
	const filter = "verdict:unhealthy"
	p := openCase(t, "s05-failed-calls", "#tab=rollouts&filter="+filter+"&sort=-completion")
	folder := filepath.Dir(caseFile("s05-failed-calls"))
	places := filterRows(t, folder, filter, "--sort", "-completion")
	p.WaitStats(map[string]string{"filter.count": fmt.Sprint(len(places))})

	jsonl := p.Download("rollouts.jsonl")
	file, err := os.ReadFile(caseFile("s05-failed-calls"))
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(file, []byte{'\n'})
	var want []byte
	for _, place := range places {
		line := 0
		if _, err := fmt.Sscanf(place, "rollouts.jsonl:%d", &line); err != nil {
			t.Fatal(err)
		}
		want = append(append(want, lines[line-1]...), '\n')
	}
	same(t, "the lines that are saved and those of the file", jsonl, want)

	table, err := csv.NewReader(bytes.NewReader(p.Download("rollouts.csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(table) != len(places)+1 || !slices.Equal(table[0], p.heads()) {
		t.Errorf("the CSV has %d lines under %q", len(table)-1, table[0])
	}
	p.Click("[data-copy=tsv]")
	p.Wait(`document.querySelector("#live").textContent === "Copied."`)
	copied := strings.Split(strings.TrimSuffix(p.Clipboard(), "\n"), "\n")
	if len(copied) != len(table) {
		t.Fatalf("%d lines are copied, want %d", len(copied), len(table))
	}
	// The same cells both ways, and they are those of the command.
	at := slices.Index(table[0], "place")
	for n := range table {
		if cells := strings.Split(copied[n], "\t"); n > 0 && !slices.Equal(cells, table[n]) {
			t.Errorf("line %d is copied as %q, saved as %q", n, cells, table[n])
		}
		if n > 0 && table[n][at] != places[n-1] {
			t.Errorf("line %d is %s, of the command %s", n, table[n][at], places[n-1])
		}
	}
}

// TestCharts filters by a bar, reads a chart as a table, and saves it.
func TestCharts(t *testing.T) {
	p := openSample(t)
	p.SetHash("tab=rollouts")
	p.Wait(`document.querySelector("[data-chart=reward] a")`)
	p.Settled()
	svg := string(p.Download("chart-reward.svg"))
	if !strings.HasPrefix(svg, "<svg") && !strings.HasPrefix(svg, "<?xml") || strings.Contains(svg, "var(--") || strings.Contains(svg, "style=") {
		t.Errorf("the chart is saved as %.300s", svg)
	}
	p.Click(`[data-chart=reward] .as-table summary`)
	p.Wait(`document.querySelector("[data-chart=reward] .as-table[open] a")`)
	cells := Eval[[][]string](p, `[...document.querySelectorAll("[data-chart=reward] .as-table tbody tr")].map((r) => [...r.cells].map((c) => c.innerText))`)
	p.Click(`[data-chart=reward] .as-table summary`)
	p.Click(`[data-chart=reward] svg a .hit`)
	p.Wait(`document.querySelector("ul.chips a")`)
	p.WaitStats(map[string]string{"filter.count": cells[0][1]})
	if !strings.Contains(p.Hash(), "reward") {
		t.Errorf("a bar of rewards leads to %s", p.Hash())
	}
}
