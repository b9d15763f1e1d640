package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/synth"
)

// watchTasks has a page note its long tasks: those of the main thread that take 50 ms or more, as browsers count them.
const watchTasks = `window.longTasks = []; try {
	new PerformanceObserver((list) => { for (const e of list.getEntries()) window.longTasks.push(e.duration); }).observe({ type: "longtask", buffered: true });
} catch {}`

// longestTask is the longest task of the main thread since the last call, in milliseconds; 0 if none took 50.
func longestTask(p *Page) float64 {
	return Eval[float64](p, `new Promise((done) => requestAnimationFrame(() => setTimeout(() => {
		const longest = Math.max(0, ...window.longTasks);
		window.longTasks.length = 0;
		done(longest);
	}, 100)))`)
}

// BenchmarkPayload measures what a first visit loads, compressed, and how long it is until files can be read.
func BenchmarkPayload(b *testing.B) {
	const built = "../../web/assets/built"
	module, err := os.Stat(filepath.Join(built, "rollscope.wasm.gz"))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		p := newPage(b)
		p.before(`new MutationObserver(() => { if (!window.readyAt && document.documentElement?.dataset.state === "idle") window.readyAt = performance.now(); }).observe(document, { subtree: true, childList: true, attributes: true });`)
		p.Open(site)
		p.Wait(`window.readyAt`)
		type load struct {
			Name string
			Size int64 // over the network; what the page asks for once more comes out of the cache
		}
		rest := int64(0)
		for _, l := range Eval[[]load](p, `[...performance.getEntriesByType("resource"), ...performance.getEntriesByType("navigation")].map((e) => ({ Name: e.name, Size: e.transferSize ? e.encodedBodySize : 0 }))`) {
			if !strings.HasSuffix(l.Name, ".wasm") {
				rest += l.Size
			}
		}
		b.ReportMetric(float64(module.Size())/(1<<20), "wasm-gzip-MiB(≤3.5)")
		b.ReportMetric(float64(rest)/(1<<10), "rest-KiB(≤200)")
		b.ReportMetric(Eval[float64](p, `window.readyAt`), "ready-ms(≤500)")
	}
}

// BenchmarkTasks measures the longest task of the main thread while a person waits and looks: reading a file, going
// through the tabs, filtering and sorting 100,000 rows, and drawing a timeline of 5,000 spans. Tasks under 50 ms count
// as 0.
func BenchmarkTasks(b *testing.B) {
	dir := b.TempDir()
	many := filepath.Join(dir, "many.jsonl")
	var rows strings.Builder
	for n := range 100_000 {
		fmt.Fprintf(&rows, `{"_ng_task_index":%d,"_ng_rollout_index":%d,"agent_ref":{"name":"agent-%d"},"reward":%d,"response":{"output":[],"usage":{"input_tokens":%d,"output_tokens":%d}}}`+"\n", n/8, n%8, n%5, n%2, n%977, n%331)
	}
	if err := os.WriteFile(many, []byte(rows.String()), 0o644); err != nil {
		b.Fatal(err)
	}
	whole := filepath.Join(dir, "rollouts.jsonl")
	if _, err := generate(whole, synth.Options{Rollouts: 2000, Seed: 5}); err != nil {
		b.Fatal(err)
	}
	spans := filepath.Join(dir, "spans.jsonl")
	if err := os.WriteFile(spans, []byte(longRow(1700, `"prompt_tokens":1,"completion_tokens":1`)), 0o644); err != nil {
		b.Fatal(err)
	}
	fresh := func(path string) *Page {
		p := newPage(b)
		p.before(watchTasks)
		p.Open(site)
		longestTask(p)
		p.ChooseFiles(path)
		p.WaitState("ready")
		return p
	}
	for b.Loop() {
		p := fresh(whole)
		b.ReportMetric(longestTask(p), "reading-ms(≤50)")
		for _, tab := range []string{"rollouts", "tasks", "health", "coverage", "scores", "calls", "performance", "harness", "files"} {
			p.SetHash("tab=" + tab)
			p.Wait(`document.querySelector("[data-tab=` + tab + `][aria-current=page]") && document.documentElement.dataset.state === "ready"`)
		}
		b.ReportMetric(longestTask(p), "tabs-ms(≤50)")

		p = fresh(many)
		longestTask(p)
		p.SetHash("tab=rollouts&filter=reward=1+completion>100&sort=-prompt")
		p.Wait(`document.querySelector('[data-stat="filter.count"]').dataset.value !== "100000"`)
		b.ReportMetric(longestTask(p), "filter-ms(≤50)")

		p = fresh(spans)
		longestTask(p)
		p.SetHash("rollout=spans.jsonl:1")
		p.Wait(`document.querySelector("[data-spans]")?.dataset.asked`)
		b.ReportMetric(longestTask(p), "timeline-ms(≤50)")
	}
}
