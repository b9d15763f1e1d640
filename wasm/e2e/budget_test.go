package e2e

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/rollscope/rollscope/core/synth"
)

// peer reads a file as a page without a module would: lines by TextDecoder and JSON.parse, in one worker.
//
//go:embed peer.js
var peer string

// before runs a script in every document of the tab in front of its own.
func (p *Page) before(script string) {
	p.t.Helper()
	p.call(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
		return err
	})
}

// withWorkers opens the bare page as a browser with that many processors would.
func withWorkers(b *testing.B, n int) *Page {
	p := newPage(b)
	p.before(fmt.Sprintf(`Object.defineProperty(navigator, "hardwareConcurrency", { value: %d });`, n))
	p.Open(site)
	return p
}

// took is the time from dropping a file to its report, as the page itself measures reading.
func (p *Page) took(path string, rows int) time.Duration {
	p.t.Helper()
	p.ChooseFiles(path)
	p.Wait(`document.documentElement.dataset.state === "ready"`)
	if have := p.Stat("rollout.count"); have != strconv.Itoa(rows) {
		p.t.Fatalf("%s rows of %d", have, rows)
	}
	return time.Duration(Eval[float64](p, `(() => { const s = rollscope.status(); return s.ended - s.started; })()`) * float64(time.Millisecond))
}

// BenchmarkBudget measures the rows of the design that need a browser, all in one run on the same file:
// the pass in one worker against JSON.parse in one worker, and two workers against one.
func BenchmarkBudget(b *testing.B) {
	path := filepath.Join(b.TempDir(), "rollouts.jsonl")
	const rows = 4000
	if _, err := generate(path, synth.Options{Rollouts: rows, Seed: 3}); err != nil {
		b.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	speed := func(d time.Duration) float64 { return float64(info.Size()) / 1e6 / d.Seconds() }
	var best [3]float64 // peer, one worker, two workers
	for b.Loop() {
		for range 3 {
			best[0] = max(best[0], speed(parsed(b, path, rows)))
			for n := 1; n <= 2; n++ {
				best[n] = max(best[n], speed(withWorkers(b, n).took(path, rows)))
			}
		}
	}
	b.ReportMetric(best[0], "JSON.parse-MB/s")
	b.ReportMetric(best[1], "one-worker-MB/s")
	b.ReportMetric(best[1]/best[0], "one/JSON.parse(≥1.5)")
	b.ReportMetric(best[2]/best[1], "two/one")
}

// parsed times the peer.
func parsed(b *testing.B, path string, rows int) time.Duration {
	p := newPage(b)
	p.Goto("about:blank")
	Eval[bool](p, peer+`; document.body.innerHTML = "<input type=file data-intake=files>"; true`)
	p.choose("files", []string{path})
	got := Eval[struct {
		Rows int
		MS   float64
	}](p, `peer(document.querySelector("input").files[0])`)
	if got.Rows != rows {
		b.Fatalf("the peer read %d rows of %d", got.Rows, rows)
	}
	return time.Duration(got.MS * float64(time.Millisecond))
}

// BenchmarkMemory reads a file of one GiB and reports what the modules and the renderer hold, the time to
// the first rows, and the time to open one rollout of it.
func BenchmarkMemory(b *testing.B) {
	path := filepath.Join(b.TempDir(), "rollouts.jsonl")
	const rows = 20_000
	if _, err := generate(path, synth.Options{Rollouts: rows, Seed: 7}); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		p := newPage(b)
		p.Open(site)
		time.Sleep(time.Second) // nobody drops a file sooner, and the browser compiles the module well meanwhile
		stop := make(chan struct{})
		peak := make(chan int64)
		go func() {
			most := int64(0)
			for {
				select {
				case <-stop:
					peak <- most
					return
				case <-time.After(100 * time.Millisecond):
					most = max(most, renderer())
				}
			}
		}()
		p.ChooseFiles(path)
		first := Eval[float64](p, `new Promise((done) => {
			const start = performance.now();
			const look = () => Number(document.querySelector('[data-stat="rollout.count"]')?.dataset.value) > 0 ? done(performance.now() - start) : requestAnimationFrame(look);
			look();
		})`)
		p.Wait(`document.documentElement.dataset.state === "ready"`)
		close(stop)
		b.ReportMetric(float64(<-peak)/(1<<20), "renderer-MiB(≤400)")
		sum := Eval[float64](p, `rollscope.memory().then((m) => m.desk + m.scanners.reduce((a, n) => a + n, 0))`)
		b.ReportMetric(sum/(1<<20), "wasm-MiB(≤256)")
		b.ReportMetric(first, "first-rows-ms(≤300)")
		open := Eval[float64](p, `new Promise((done) => {
			const start = performance.now();
			location.hash = "#rollout=rollouts.jsonl:15000";
			const look = () => document.querySelector(".turn") ? done(performance.now() - start) : requestAnimationFrame(look);
			look();
		})`)
		b.ReportMetric(open, "open-ms(≤100)")
	}
}

// renderer is the resident memory of the largest renderer, in bytes.
func renderer() int64 {
	most := int64(0)
	folders, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range folders {
		line, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(line), "--type=renderer") {
			continue
		}
		status, err := os.ReadFile(filepath.Join(filepath.Dir(path), "statm"))
		if err != nil {
			continue
		}
		if fields := strings.Fields(string(status)); len(fields) > 1 {
			pages, _ := strconv.ParseInt(fields[1], 10, 64)
			most = max(most, pages*int64(os.Getpagesize()))
		}
	}
	return most
}
