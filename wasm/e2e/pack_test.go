package e2e

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// packTabs are the tabs whose numbers a bundle must show as the live page does.
var packTabs = []string{"overview", "tasks", "health", "coverage", "scores", "calls", "performance", "files"}

// numbers reads the stats of every tab, but for those about the bundle itself.
func (p *Page) numbers() map[string]map[string]string {
	p.t.Helper()
	all := map[string]map[string]string{}
	for _, tab := range packTabs {
		p.SetHash("tab=" + tab)
		p.Wait(`document.querySelector("[data-tab=` + tab + `][aria-current]") !== null`)
		p.WaitState("ready")
		all[tab] = p.Stats()
		maps.DeleteFunc(all[tab], func(name, _ string) bool { return strings.HasPrefix(name, "bundle.") })
	}
	return all
}

// cutNetwork takes the network away.
func (p *Page) cutNetwork() {
	p.t.Helper()
	p.call(func(ctx context.Context, t *chromedp.Target) error {
		if _, err := cdp.Call(ctx, t, network.Enable, network.EnableParams{}); err != nil {
			return err
		}
		_, err := cdp.Call(ctx, t, network.OverrideNetworkState, network.OverrideNetworkStateParams{Offline: true})
		if err != nil {
			return err
		}
		_, err = cdp.Call(ctx, t, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{
			MatchedNetworkConditions: []*network.Conditions{{Offline: true}},
		})
		return err
	})
}

// TestBundle bundles a run as a folder under the plainest server there is and as one file on a disk: both show on every
// tab what the live page shows, and a rollout opens; the file needs no network for it.
func TestBundle(t *testing.T) {
	work := t.TempDir()
	run := filepath.Join(work, "s16")
	if err := os.CopyFS(run, os.DirFS(filepath.Join(goldens, "s16-agents", "input"))); err != nil {
		t.Fatal(err)
	}
	for _, output := range []string{"site", "run.html"} {
		if out, talk, code := product.Run(t, work, "bundle", "s16", "-o", output, "--title", "Sent <b>run</b>"); code != 0 {
			t.Fatalf("bundle: exit %d: %s%s", code, out, talk)
		}
		if out, talk, code := product.Run(t, work, "bundle", "--verify", output); code != 0 || !strings.Contains(out, "whole") {
			t.Errorf("verify: exit %d: %s%s", code, out, talk)
		}
	}
	live := newPage(t)
	live.Open(product.Start(t, work, "view", "s16"))
	live.WaitState("ready")
	want := live.numbers()

	server := httptest.NewServer(http.StripPrefix("/below", http.FileServer(http.Dir(filepath.Join(work, "site")))))
	defer server.Close()
	for name, url := range map[string]string{"folder": server.URL + "/below/", "single file": "file://" + filepath.Join(work, "run.html")} {
		p := newPage(t)
		p.Open(url)
		p.WaitState("ready")
		if name == "single file" {
			p.cutNetwork()
		}
		got := p.numbers()
		for _, tab := range packTabs {
			if !maps.Equal(got[tab], want[tab]) {
				t.Errorf("%s: the tab %s shows %v, the live page %v", name, tab, got[tab], want[tab])
			}
		}
		p.SetHash("rollout=stamped.jsonl:3&part=raw")
		p.Wait(`document.querySelector("#region-main").innerText.includes("_ng_task_index")`)
		if title := Eval[string](p, `document.title`); !strings.Contains(title, "Sent <b>run</b>") {
			t.Errorf("%s: the title is %q", name, title)
		}
		for _, request := range p.Requests() {
			if !strings.HasPrefix(request, "GET "+server.URL+"/below/data/") || name == "single file" {
				t.Errorf("%s: a request to somewhere else: %s", name, request)
			}
		}
	}
}

// TestBundleBlocks opens a bundle of several blocks: a rollout's page asks for the block it lies in and no other, and a
// block that was edited is said with its place while the rest is shown.
func TestBundleBlocks(t *testing.T) {
	work := t.TempDir()
	rows, err := os.ReadFile(caseFile("s16-agents"))
	if err != nil {
		t.Fatal(err)
	}
	const times = 40
	if err := os.Mkdir(filepath.Join(work, "run"), 0o777); err != nil {
		t.Fatal(err)
	}
	for name, n := range map[string]int{"a": times, "b": 2} {
		if err := os.WriteFile(filepath.Join(work, "run", name+".jsonl"), bytes.Repeat(rows, n), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if out, talk, code := product.Run(t, work, "bundle", "run", "-o", "site"); code != 0 {
		t.Fatalf("bundle: exit %d: %s%s", code, out, talk)
	}
	lines := bytes.Count(rows, []byte("\n"))
	server := httptest.NewServer(http.FileServer(http.Dir(filepath.Join(work, "site"))))
	defer server.Close()
	p := newPage(t)
	p.Open(server.URL)
	p.WaitState("ready")
	p.WaitStats(map[string]string{"rollout.count": fmt.Sprint((times + 2) * lines), "accounting.bytes": fmt.Sprint((times + 2) * len(rows))})
	for _, place := range []string{fmt.Sprintf("a.jsonl:%d", times*lines), "a.jsonl:1", fmt.Sprintf("a.jsonl:%d", times/2*lines), "b.jsonl:3"} {
		before := len(p.Requests())
		p.SetHash("rollout=" + place + "&part=raw")
		p.Wait(fmt.Sprintf(`e2e.states.at(-1) === "ready" && document.title.length > 0 && document.querySelector("#region-main").innerText.includes("_ng_task_index")`))
		if asked := p.Requests()[before:]; len(asked) > 3 {
			t.Errorf("%s took %d requests: %q", place, len(asked), asked)
		}
	}

	blocks, err := filepath.Glob(filepath.Join(work, "site", "data", "*", "*.zst"))
	if err != nil || len(blocks) < 3 {
		t.Fatalf("blocks %q, %v", blocks, err)
	}
	text, err := os.ReadFile(blocks[1])
	if err == nil {
		text[len(text)/2] ^= 1
		err = os.WriteFile(blocks[1], text, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	p = newPage(t)
	p.Open(server.URL)
	p.Wait(`document.querySelector("[role=alert][data-code=damaged_bundle]") !== null`)
	want := fmt.Sprintf("block 2 of %d (bytes ", len(blocks))
	if said := Eval[string](p, `document.querySelector("[role=alert][data-code=damaged_bundle]").innerText`); !strings.Contains(said, want) || !strings.Contains(said, "a.jsonl") {
		t.Errorf("the alert says %q", said)
	}
	p.Wait(fmt.Sprintf(`Number(document.querySelector("[data-stat='rollout.count']").dataset.value) >= %d`, 2*lines))
}

// TestBundleMixed opens a bundle whose index is that of another version.
func TestBundleMixed(t *testing.T) {
	work := t.TempDir()
	copyFile(t, caseFile("s16-agents"), filepath.Join(work, "run", "rollouts.jsonl"))
	if out, talk, code := product.Run(t, work, "bundle", "run", "-o", "site"); code != 0 {
		t.Fatalf("bundle: exit %d: %s%s", code, out, talk)
	}
	change := func(pattern string, edit func([]byte) []byte) {
		found, err := filepath.Glob(filepath.Join(work, "site", "data", "*", pattern))
		if err != nil || len(found) != 1 {
			t.Fatalf("%s: %q %v", pattern, found, err)
		}
		text, err := os.ReadFile(found[0])
		if err == nil {
			err = os.WriteFile(found[0], edit(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	server := httptest.NewServer(http.FileServer(http.Dir(filepath.Join(work, "site"))))
	defer server.Close()
	change("index.json", func(b []byte) []byte { return []byte(strings.Replace(string(b), `"kept": `, `"kept": 1`, 1)) })
	p := newPage(t)
	p.Allow("two versions")
	p.Allow("is not that of this version") // says the worker that keeps the viewer
	p.Open(server.URL)
	p.WaitState("failed")
	if text := Eval[string](p, `document.querySelector("[role=alert][data-code=damaged_bundle]").innerText`); !strings.Contains(text, "two versions") {
		t.Errorf("the alert says %q", text)
	}
}

// TestBundleUnstarted opens files of which the script is not whole, or the index is gone: the page says so.
func TestBundleUnstarted(t *testing.T) {
	work := t.TempDir()
	copyFile(t, caseFile("s16-agents"), filepath.Join(work, "run", "rollouts.jsonl"))
	if out, talk, code := product.Run(t, work, "bundle", "run", "-o", "run.html"); code != 0 {
		t.Fatalf("bundle: exit %d: %s%s", code, out, talk)
	}
	whole, err := os.ReadFile(filepath.Join(work, "run.html"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, work, "cut.html", string(whole[:bytes.Index(whole, []byte(`id="rollscope-block-0"`))-100]))
	write(t, work, "bare.html", strings.Replace(string(whole), `id="rollscope-bundle"`, `id="else"`, 1))
	for name, want := range map[string]string{
		"cut.html":  `(document.getAnimations().forEach((a) => a.finish()), getComputedStyle(document.querySelector("#unstarted")).visibility === "visible") && document.querySelector("#unstarted").textContent.includes("not whole")`,
		"bare.html": `document.querySelector("#broken")?.innerText.includes("index of the bundle is not in this file") && !document.querySelector("#unstarted")`,
	} {
		p := newPage(t)
		p.Allow(`index of the bundle is not in this file`)
		p.Goto("file://" + filepath.Join(work, name))
		p.Wait(want)
	}
}
