package e2e

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rollscope/rollscope/core/synth"
)

// grepped is a hit as the command prints it.
type grepped struct {
	File, Before, Match, After string
	Line, Turn                 int
}

// grep asks the command for the hits of a file.
func grep(t *testing.T, path string, args ...string) (hits []grepped, rollouts int) {
	t.Helper()
	out, talk, code := product.Run(t, filepath.Dir(path), slices.Concat([]string{"grep", "--json"}, args, []string{filepath.Base(path)})...)
	if code > 1 {
		t.Fatalf("grep %v: status %d, %s", args, code, talk)
	}
	var document struct{ Hits []grepped }
	if err := json.Unmarshal([]byte(out), &document); err != nil {
		t.Fatal(err)
	}
	hits = document.Hits
	seen := map[int]bool{}
	for _, h := range hits {
		seen[h.Line] = true
	}
	return hits, len(seen)
}

// found waits until a search is done, with so many hits.
func (p *Page) found(hits, rollouts int) {
	p.t.Helper()
	p.WaitStats(map[string]string{"search.hits": strconv.Itoa(hits), "search.rollouts": strconv.Itoa(rollouts), "search.percent": "100"})
	p.WaitState("ready")
	p.Settled()
}

// TestSearch looks for a word in all transcripts as a person does, takes the hits along, goes to one of them and from
// hit to hit, and finds the same as the command.
func TestSearch(t *testing.T) {
	path := caseFile("s05-failed-calls")
	p := openCase(t, "s05-failed-calls", "")
	p.current("overview")
	p.Key("Control+f")
	p.Wait(`document.querySelector("[data-page=search]") && document.activeElement.matches("[data-search]")`)
	if text := p.Text(".search-help"); !strings.Contains(text, "as people read it") {
		t.Errorf("without a search the page says %q", text)
	}
	hits, rollouts := grep(t, path, "-i", "-F", "harbor")
	p.Type("HARBOR")
	p.found(len(hits), rollouts)
	if note := p.Text("[data-search-state]"); note != fmt.Sprintf("%d hits in %d rollouts", len(hits), rollouts) {
		t.Errorf("the page says %q", note)
	}
	type line struct{ Rollout, Text, Mark, Turn string }
	shown := Eval[[]line](p, `[...document.querySelectorAll("[data-table=hits] tr[data-rollout]")].map((r) => ({ rollout: r.dataset.rollout, turn: r.cells[2].innerText, text: r.cells[4].innerText, mark: r.querySelector("mark")?.innerText }))`)
	if len(shown) != len(hits) {
		t.Fatalf("%d hits are listed, want %d", len(shown), len(hits))
	}
	for i, h := range hits {
		if s := shown[i]; s.Rollout != fmt.Sprintf("rollouts.jsonl:%d", h.Line) || s.Turn != strconv.Itoa(h.Turn) || s.Mark != h.Match || !strings.HasSuffix(s.Text, h.Match+h.After) {
			t.Errorf("hit %d: %+v, want %+v", i, s, h)
		}
	}

	// Taken along as a table.
	var saved struct{ Rollout, Text string }
	all := strings.Split(strings.TrimSpace(string(p.Download("hits.jsonl"))), "\n")
	if err := json.Unmarshal([]byte(all[len(all)-1]), &saved); err != nil || len(all) != len(hits) || saved.Text != hits[len(hits)-1].Before+hits[len(hits)-1].Match+hits[len(hits)-1].After {
		t.Errorf("%d hits are saved, the last is %+v, %v", len(all), saved, err)
	}

	// The filter narrows the list down and leaves the search alone.
	p.Key("Escape /")
	p.Type("task=3")
	p.Key("Enter")
	p.WaitStats(map[string]string{"search.shown": "1", "search.hits": strconv.Itoa(len(hits))})
	p.Settled()
	p.Click(`ul.chips a[aria-label^="remove"]`)
	p.WaitStats(map[string]string{"search.shown": strconv.Itoa(rollouts)})
	p.Settled()

	// To the second hit of a rollout that has several, and on.
	at, of := 0, 0
	for i := 1; i < len(hits) && at == 0; i++ {
		if hits[i].Line == hits[i-1].Line {
			at = i
		}
	}
	for _, h := range hits {
		if h.Line == hits[at].Line {
			of++
		}
	}
	p.Click(fmt.Sprintf(`[data-table=hits] tr[data-index="%d"] a.row`, at))
	stands := func(n int) {
		t.Helper()
		p.Wait(fmt.Sprintf(`document.querySelector("[data-search-found]")?.innerText === "%d of %d" && document.querySelector("mark.now")?.id === "hit-%d"`, n, of, n))
		p.Settled()
		if text := p.Text("mark.now"); !strings.EqualFold(text, "harbor") {
			t.Errorf("hit %d is %q", n, text)
		}
		if !Eval[bool](p, `(() => { const m = document.querySelector("mark.now").getBoundingClientRect(), r = document.querySelector(".rollout .read").getBoundingClientRect(); return m.top >= r.top && m.bottom <= r.bottom; })()`) {
			t.Errorf("hit %d is not in sight", n)
		}
	}
	stands(2)
	if n := Eval[int](p, `document.querySelectorAll(".read mark").length`); n != of {
		t.Errorf("%d places are marked, want %d", n, of)
	}
	for n := 3; n <= of+1; n++ {
		p.Key(".")
		stands((n-1)%of + 1)
	}
	p.Key(",")
	stands(of)
	// The bar takes another word; Enter goes on from hit to hit.
	p.Key("Control+f")
	p.Wait(`document.activeElement.matches("[data-hit-bar] [data-search]")`)
	p.Type("lagoon")
	more, _ := grep(t, path, "-i", "-F", "lagoon")
	of = 0
	for _, h := range more {
		if h.Line == hits[at].Line {
			of++
		}
	}
	p.Wait(fmt.Sprintf(`document.querySelector("[data-search-found]")?.innerText.startsWith("%d hit")`, of))
	p.Key("Enter")
	p.Wait(`document.querySelector("mark.now")?.innerText === "lagoon" && document.activeElement.matches("[data-search]")`)
	p.Click(`a[data-search-clear]`)
	p.Wait(`!document.querySelector("mark") && document.querySelector("[data-hit-bar]").hidden`)
	Eval[int](p, `(history.back(), 0)`)
	p.Wait(`document.querySelector("mark.now")`)
	p.Settled()
	p.Key("Escape")
	p.Wait(`document.querySelector("[data-page=search]")`)
	p.found(len(hits), rollouts)
}

// TestSearchMistake writes a regular expression that cannot be read, mends it, and narrows the search down.
func TestSearchMistake(t *testing.T) {
	path := caseFile("s05-failed-calls")
	p := openCase(t, "s05-failed-calls", "#tab=search&search=har(bor")
	p.WaitStats(map[string]string{"search.hits": "0"})
	p.Wait(`document.querySelector("[data-table=hits] .empty")?.innerText.includes("No transcript holds it")`)
	p.Settled()
	p.Click(`a[data-choice=regexp]`)
	p.Wait(`document.querySelector("#search-error")?.innerText.includes("at character 4")`)
	p.Settled()
	p.Click(`#search-error [data-action=search-mistake]`)
	if from := Eval[int](p, `document.activeElement.selectionStart`); from != 3 {
		t.Errorf("the mistake is selected from %d on", from)
	}
	p.Type("(bor|vest)")
	p.Key("Enter")
	hits, rollouts := grep(t, path, "-i", "har(bor|vest)")
	p.found(len(hits), rollouts)
	if Eval[bool](p, `Boolean(document.querySelector("#search-error"))`) {
		t.Error("the mistake is still told")
	}
	p.Click(`a[data-choice=message]`)
	hits, rollouts = grep(t, path, "-i", "--field", "message", "har(bor|vest)")
	p.found(len(hits), rollouts)
	p.Click(`a[data-choice=all]`)
	hits, rollouts = grep(t, path, "-i", "--all", "har(bor|vest)")
	p.found(len(hits), rollouts)
	// What no transcript shows leads to the JSON.
	other := Eval[string](p, `[...document.querySelectorAll("[data-table=hits] tr[data-rollout]")].find((r) => r.cells[3].innerText.startsWith("/"))?.dataset.href || ""`)
	if other == "" {
		t.Fatal("everything is in transcripts")
	}
	p.SetHash(other)
	p.Wait(`document.querySelector("[data-table=raw] .on mark")`)
	// The link restores all of it.
	again := openCase(t, "s05-failed-calls", "#tab=search&search=har(bor|vest)&set=search.as%3Dregexp%2Csearch.in%3Dall")
	again.found(len(hits), rollouts)
}

// TestSearchBig cancels a search in a big file, goes on with it, and replaces it by another while it runs.
func TestSearchBig(t *testing.T) {
	b := bigFile(t)
	hits, rollouts := grep(t, b.path, "-F", "-i", "harbor")
	p := open(t, "#tab=search&search=harbor")
	whileReading(p, `globalThis.waiting = document.querySelector("[data-search-state]")?.innerText`)
	p.Drop(b.path)
	p.Wait(reading)
	// The search begins when the files are read; cancelled, what was found stays.
	Eval[bool](p, `e2e.until(() => { const stop = document.querySelector("[data-action=search-off]"); if (stop) stop.click(); return Boolean(stop); })`)
	p.Wait(`document.querySelector("[data-action=search-on]")`)
	p.WaitState("ready")
	p.Settled()
	if waiting := Eval[string](p, `globalThis.waiting || ""`); !strings.Contains(waiting, "waits for the files") {
		t.Errorf("while files are read the search says %q", waiting)
	}
	if note := p.Text("[data-search-state]"); !strings.Contains(note, "cancelled at") {
		t.Errorf("the page says %q", note)
	}
	if n, _ := strconv.Atoi(p.Stat("search.hits")); n > len(hits) {
		t.Errorf("%d hits of %d", n, len(hits))
	}
	p.Click("[data-action=search-on]")
	p.found(len(hits), rollouts)
	// Ten of a rollout are listed at most; the list is long and goes to its end.
	p.Key("Escape End")
	// A second search replaces the first while that runs.
	others, in := grep(t, b.path, "-F", "-i", "lagoon harbor")
	p.SetHash("tab=search&search=lagoon")
	p.Wait(`document.querySelector("[data-search-state]")?.innerText.includes("scanning")`)
	p.SetHash("tab=search&search=lagoon+harbor")
	p.found(len(others), in)
}

// BenchmarkSearch measures a search for a text against the plain second scan of the same file, both in one worker: a
// filter that looks for a member that no row has.
func BenchmarkSearch(b *testing.B) {
	path := filepath.Join(b.TempDir(), "rollouts.jsonl")
	const rows = 4000
	stats, err := generate(path, synth.Options{Rollouts: rows, Seed: 3})
	if err != nil {
		b.Fatal(err)
	}
	speed := func(d time.Duration) float64 { return float64(stats.Bytes) / 1e6 / d.Seconds() }
	var plain, literal, folded float64
	for b.Loop() {
		p := withWorkers(b, 1)
		p.took(path, rows)
		for n := range 3 {
			plain = max(plain, speed(p.second(fmt.Sprintf("tab=rollouts&filter=has(row.absent%d)", n))))
			literal = max(literal, speed(p.second(fmt.Sprintf("tab=search&search=harbor+is+never+seen%d&set=search.case%%3D1", n))))
			folded = max(folded, speed(p.second(fmt.Sprintf("tab=search&search=harbor+is+never+seen%d", n))))
		}
	}
	b.ReportMetric(plain, "second-scan-MB/s")
	b.ReportMetric(literal, "literal-MB/s")
	b.ReportMetric(folded, "folded-MB/s")
	b.ReportMetric(literal/plain, "literal/second-scan(≥0.7)")
	b.ReportMetric(folded/plain, "folded/second-scan(≥0.7)")
}

// second is the time from a link that needs a second scan to its last answer.
func (p *Page) second(fragment string) time.Duration {
	p.t.Helper()
	ms := Eval[float64](p, fmt.Sprintf(`new Promise((done) => {
		const start = performance.now();
		let begun = false;
		location.hash = %q;
		const look = () => {
			const { second } = rollscope.status();
			begun ||= second > 0;
			return begun && second === 0 ? done(performance.now() - start) : setTimeout(look, 2);
		};
		look();
	})`, fragment))
	p.WaitState("ready")
	return time.Duration(ms * float64(time.Millisecond))
}
