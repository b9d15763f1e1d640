package e2e

import (
	"context"
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
var packTabs = []string{"overview", "rollouts", "tasks", "health", "coverage", "scores", "calls", "performance", "files"}

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

// TestBundleDamaged opens bundles that were edited, and mixed from two versions.
func TestBundleDamaged(t *testing.T) {
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
	change("00001.zst", func(b []byte) []byte { b[len(b)/2] ^= 1; return b })
	p := newPage(t)
	p.Open(server.URL)
	p.Wait(`document.querySelector("[role=alert][data-code=damaged_bundle]") !== null`)
	if text := Eval[string](p, `document.querySelector("[role=alert][data-code=damaged_bundle]").innerText`); !strings.Contains(text, "block 1 of 1") || !strings.Contains(text, "rollouts.jsonl") {
		t.Errorf("the alert says %q", text)
	}
	change("index.json", func(b []byte) []byte { return []byte(strings.Replace(string(b), `"kept": `, `"kept": 1`, 1)) })
	p = newPage(t)
	p.Allow("")
	p.Open(server.URL)
	p.WaitState("failed")
	if text := Eval[string](p, `document.querySelector("[role=alert][data-code=damaged_bundle]").innerText`); !strings.Contains(text, "two versions") {
		t.Errorf("the alert says %q", text)
	}
}
