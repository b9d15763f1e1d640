package e2e

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestSample starts the viewer without a path: it opens the sample run, in which every check fires.
func TestSample(t *testing.T) {
	url := product.Start(t, t.TempDir(), "view")
	p := newPage(t)
	p.Open(url + "#tab=health")
	p.WaitState("ready")
	p.everyCheckFires()
	p.Screenshot("sample-health", 1280, 800, false)
	if list := p.Requests(); len(list) > 0 {
		t.Errorf("requests after loading: %q", list)
	}
	// Who has looked at files of their own finds the start page after loading anew, not the sample in their place.
	p.ChooseFiles(caseFile("s15-ignored-checks"))
	p.WaitState("ready")
	p.Reload()
	p.WaitState("idle")
	p.Wait(`[...document.querySelectorAll("[data-recent-list] li")].some((li) => li.innerText.includes("rollouts.jsonl"))`)
	if n := Eval[int](p, `document.querySelectorAll("[data-stat='rollout.count']").length`); n > 0 {
		t.Error("something is open after loading anew")
	}
	// The same run opens by one click.
	q := open(t, "#tab=health")
	q.Click("Try the sample run")
	q.WaitState("ready")
	q.everyCheckFires()
}

// everyCheckFires looks at the counts of the Health tab.
func (p *Page) everyCheckFires() {
	p.t.Helper()
	p.Wait(`document.querySelectorAll("[data-stat$='.fired']").length === 14`)
	for name, value := range p.Stats() {
		if strings.HasSuffix(name, ".fired") && (value == "" || value == "0") {
			p.t.Errorf("stat %s is %q in the sample run", name, value)
		}
	}
	for _, word := range []string{"healthy", "unhealthy", "unobserved"} {
		if n := p.Stat("verdict." + word); n == "0" {
			p.t.Errorf("no rollout of the sample run is %s", word)
		}
	}
}

// TestServedRun views a run by its path: it is read from the server of the page and from nowhere else.
func TestServedRun(t *testing.T) {
	dir := filepath.Join(goldens, "s15-ignored-checks", "input")
	url := product.Start(t, dir, "view", "rollouts.jsonl")
	p := newPage(t)
	p.Open(url + "#tab=health")
	p.WaitState("ready")
	p.holds(judge(t, dir, []string{"rollouts.jsonl"}, nil, ""))
	p.SetHash("rollout=rollouts.jsonl:2&part=raw")
	p.Wait(`document.querySelector("#region-main").innerText.includes("_ng_task_index")`)
	for _, request := range p.Requests() {
		if !strings.HasPrefix(request, "GET "+url+"runs") {
			t.Errorf("a request to somewhere else: %s", request)
		}
	}
	if text := Eval[string](p, `document.querySelector("details.lock").dataset.mode`); text != "served run" {
		t.Errorf("the lock says %q", text)
	}
}

// TestServedFolder views a folder of shards by its path.
func TestServedFolder(t *testing.T) {
	folder, names := many(t, 12)
	url := product.Start(t, filepath.Dir(folder), "view", filepath.Base(folder))
	p := newPage(t)
	p.Open(url + "#tab=health")
	p.WaitState("ready")
	p.holds(judge(t, folder, names, nil, ""))
}

// TestServedRoot chooses one of the runs below a served folder.
func TestServedRoot(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"s01-healthy-perf", "s15-ignored-checks"} {
		copyFile(t, caseFile(name), filepath.Join(root, name, "rollouts.jsonl"))
	}
	url := product.Start(t, root, "serve", "--root", root)
	p := newPage(t)
	p.Goto(url)
	p.Wait(`document.body && document.body.innerText.includes("s15-ignored-checks")`)
	p.Click("s15-ignored-checks")
	p.Wait(`document.documentElement?.dataset.state === "ready"`)
	p.SetHash("tab=health")
	p.Wait(`document.querySelector("[data-page=health]")`)
	p.holds(judge(t, filepath.Join(root, "s15-ignored-checks"), []string{"rollouts.jsonl"}, nil, ""))
}

// TestTwoRuns drops two runs at once: together they are one report, apart each has its own.
func TestTwoRuns(t *testing.T) {
	folder := files(t, map[string]string{"alpha/rollouts.jsonl": rows(3), "beta/rollouts.jsonl": rows(5)})
	p := open(t, "#tab=health")
	p.Drop(folder)
	p.WaitState("ready")
	p.holds(judge(t, folder, []string{"alpha/rollouts.jsonl", "beta/rollouts.jsonl"}, nil, ""))
	name := Eval[string](p, `[...document.querySelectorAll("details.runs li")].map((e) => e.textContent).find((s) => s.includes("beta")) || ""`)
	if name == "" {
		t.Fatalf("beta is not offered: %s", p.describe())
	}
	p.Click("details.runs summary")
	p.Click(`details.runs a[href*="beta"]`)
	p.WaitStats(map[string]string{"rollout.count": "5"})
	p.holds(judge(t, filepath.Join(folder, "beta"), []string{"rollouts.jsonl"}, nil, ""))
}
