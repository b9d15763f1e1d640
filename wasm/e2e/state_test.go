package e2e

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// openCase drops the files of a health case on a fresh page at a fragment.
func openCase(t *testing.T, name, fragment string) *Page {
	t.Helper()
	p := open(t, fragment)
	p.Drop(caseFile(name))
	p.WaitState("ready")
	return p
}

func caseFile(name string) string { return filepath.Join(goldens, name, "input", "rollouts.jsonl") }

// current waits until a tab is the one that is shown.
func (p *Page) current(tab string) {
	p.t.Helper()
	p.Wait(fmt.Sprintf(`document.querySelector("[data-tab=%s][aria-current=page]")`, tab))
}

// TestTabs goes through the tabs by click and by key, and back by the browser's history.
func TestTabs(t *testing.T) {
	p := openCase(t, "s15-ignored-checks", "")
	p.current("overview")
	for _, tab := range []struct{ id, title, key string }{
		{"rollouts", "Rollouts", "r"}, {"tasks", "Tasks", "t"}, {"health", "Health", "h"}, {"files", "Files", "f"}, {"overview", "Overview", "o"},
	} {
		p.Click(tab.title)
		p.current(tab.id)
		p.Key("g o")
		p.current("overview")
		p.Key("g " + tab.key)
		p.current(tab.id)
		// The numbers of every tab.
		for _, name := range []string{"accounting.files", "accounting.lines", "accounting.read", "accounting.blank", "accounting.unreadable",
			"accounting.torn", "accounting.bytes", "rollout.count", "filter.count", "verdict.healthy", "verdict.unhealthy", "verdict.unobserved"} {
			if text := p.Stat(name); text == "" {
				t.Errorf("%s: stat %s is empty", tab.id, name)
			}
		}
		p.Screenshot("tab-"+tab.id, 1280, 800, false)
		p.Screenshot("tab-"+tab.id+"-dark", 1280, 800, true)
		p.Screenshot("tab-"+tab.id+"-400", 400, 800, false)
	}
	p.SetHash("tab=health")
	p.current("health")
	p.SetHash("tab=tasks")
	p.current("tasks")
	Eval[int](p, `(history.back(), 0)`)
	p.current("health")
	Eval[int](p, `(history.forward(), 0)`)
	p.current("tasks")
}

// TestRules changes what is judged: the same rows are reduced again, without another look at the file.
func TestRules(t *testing.T) {
	dir := filepath.Join(goldens, "s15-ignored-checks", "input")
	names := []string{"rollouts.jsonl"}
	p := openCase(t, "s15-ignored-checks", "#tab=health")
	p.holds(judge(t, dir, names, nil, ""))
	workers := p.Workers()

	// By the page's own controls.
	p.Click("details.ignored summary")
	p.Click("[data-ignore=agent_turn_hollow]")
	want := judge(t, dir, names, []string{"agent_turn_hollow"}, "")
	p.WaitStats(want.stats)
	p.holds(want)
	p.Click("[data-profile=main]")
	want = judge(t, dir, names, []string{"agent_turn_hollow"}, "main")
	p.Wait(`location.hash.includes("profile=main")`)
	p.WaitStats(want.stats)
	// With this profile the command writes where a file lies on its disk, which a page cannot know.
	same(t, "the page's summary and the command's", p.Download("quality_summary.json"), want.summary)
	// And back.
	Eval[int](p, `(history.go(-2), 0)`)
	want = judge(t, dir, names, nil, "")
	p.WaitStats(want.stats)
	p.holds(want)
	if now := p.Workers(); now != workers {
		t.Errorf("%d workers were started for it", now-workers)
	}
	if text := Eval[string](p, `e2e.states.slice(`+strconv.Itoa(p.since)+`).lastIndexOf("scanning") > 3 ? "read again" : ""`); text != "" {
		t.Errorf("the file was %s", text)
	}
}

// TestFilter narrows the rows by text, by a link of the Health tab and by a chip.
func TestFilter(t *testing.T) {
	p := openCase(t, "s15-ignored-checks", "#tab=rollouts")
	all := p.Stat("rollout.count")
	p.Key("/")
	p.Type("verdict:unobserved")
	p.WaitStats(map[string]string{"filter.count": p.Stat("verdict.unobserved"), "rollout.count": all})
	p.Wait(`document.querySelectorAll("#region-main tr[data-rollout]").length === Number(document.querySelector("[data-stat='verdict.unobserved']").dataset.value)`)
	p.Wait(`location.hash.includes("filter=verdict:unobserved")`)
	// All tabs share it.
	p.Key("Escape")
	p.Key("g f")
	p.current("files")
	p.WaitStats(map[string]string{"filter.count": p.Stat("verdict.unobserved")})
	// A chip takes it away.
	p.Click("ul.chips a")
	p.WaitStats(map[string]string{"filter.count": all})
	// A check leads to the rows it fired on.
	p.SetHash("tab=health&check=model_call_failed")
	p.Click(`tr.detail a.button`)
	p.current("rollouts")
	p.Wait(`location.hash.includes("check:model_call_failed")`)
	p.WaitStats(map[string]string{"filter.count": strconv.Itoa(len(p.Rows()))})
	// A filter that cannot be read says where it fails.
	p.SetHash("tab=rollouts&filter=reward%3E%3E")
	p.Wait(`document.querySelector("#filter-error")`)
}

// TestRestore opens a link on a fresh page: with the files it shows what the link says, and it asks for them before.
func TestRestore(t *testing.T) {
	run := filepath.Join(t.TempDir(), "run")
	for _, name := range []string{"a.jsonl", "b.jsonl"} {
		copyFile(t, filepath.Join(goldens, "s12-identities", "input", "shards", name), filepath.Join(run, name))
	}
	p := open(t, "")
	p.Drop(run)
	p.WaitState("ready")
	p.SetHash("tab=rollouts&order=b.jsonl,a.jsonl&filter=verdict:unhealthy&sort=-task")
	p.Wait(`document.querySelector("#region-main tr[data-rollout]")`)
	p.WaitStats(map[string]string{"filter.count": p.Stat("verdict.unhealthy")})
	want, link := p.Rows(), p.Hash()

	p = open(t, link)
	p.Wait(`document.documentElement.dataset.waiting !== undefined`)
	if text := p.Text("#region-main"); !strings.Contains(text, "a.jsonl") || !strings.Contains(text, "b.jsonl") {
		t.Errorf("the page does not say which files are missing: %s", text)
	}
	p.Drop(run)
	p.WaitState("ready")
	p.Wait(fmt.Sprintf(`document.querySelectorAll("#region-main tr[data-rollout]").length === %d`, len(want)))
	if have := p.Rows(); fmt.Sprint(have) != fmt.Sprint(want) {
		t.Errorf("the link shows %q, the page had %q", have, want)
	}
	if have := p.Hash(); have != link {
		t.Errorf("the link became %q, was %q", have, link)
	}
}

// TestRolloutPage opens a row from the table, goes to its neighbours and back by keys.
func TestRolloutPage(t *testing.T) {
	p := openCase(t, "s05-failed-calls", "#tab=rollouts")
	list := p.Rows()
	p.Click(fmt.Sprintf(`tr[data-rollout=%q] a`, list[2]))
	p.Wait(`location.hash.includes("rollout=")`)
	place := func(n int) {
		t.Helper()
		p.Wait(fmt.Sprintf(`decodeURIComponent(location.hash).includes(%q) && document.querySelector("#region-main").innerText.includes(%q)`, "rollout="+list[n], list[n]))
	}
	place(2)
	p.Key("]")
	place(3)
	p.Key("[")
	place(2)
	p.Key("[")
	place(1)
	p.Key("r")
	p.Wait(`location.hash.includes("part=raw") && document.querySelector("#region-main").innerText.includes("_ng_task_index")`)
	p.Screenshot("rollout-raw", 1280, 800, false)
	p.Key("p")
	p.Wait(`!location.hash.includes("part=raw")`)
	p.Screenshot("rollout", 1280, 800, false)
	p.Screenshot("rollout-dark", 1280, 800, true)
	p.Screenshot("rollout-400", 400, 800, false)
	p.Key("Escape")
	p.Wait(`document.querySelector("[data-table=rollouts] tr[data-rollout]")`)
	// The keyboard alone: from the row that was left, which has the focus, down to the third and in.
	p.Wait(`document.activeElement?.dataset.index === "1"`)
	p.Key("j")
	p.Wait(`document.activeElement?.dataset.index === "2"`)
	p.Key("Enter")
	place(2)
	// Findings of a row stand on its page, with their check.
	p.SetHash("tab=health&check=model_call_failed")
	p.Click(`tr.detail [data-finding=model_call_failed] a`)
	p.Wait(`location.hash.includes("rollout=") && document.querySelector("#region-main [data-finding=model_call_failed]")`)
}

// TestTheme switches between light and dark, and finds the choice again.
func TestTheme(t *testing.T) {
	p := open(t, "")
	const ground = `getComputedStyle(document.body).backgroundColor`
	first := Eval[string](p, ground)
	p.Click("[data-action=theme]")
	p.Wait(ground + ` !== "` + first + `"`)
	chosen := Eval[string](p, `document.documentElement.dataset.theme`)
	p.Open(site)
	p.Wait(ground + ` !== "` + first + `"`)
	if now := Eval[string](p, `document.documentElement.dataset.theme`); now != chosen {
		t.Errorf("the theme is %q after loading again, was %q", now, chosen)
	}
	p.Key("d")
	p.Wait(ground + ` === "` + first + `"`)
	p.Screenshot("landing", 1280, 800, false)
	p.Screenshot("landing-400", 400, 800, false)
}

// TestKeysSheet opens the sheet of keys.
func TestKeysSheet(t *testing.T) {
	p := open(t, "")
	p.Key("?")
	p.Wait(`document.querySelector("#keys").open`)
	p.Key("Escape")
	p.Wait(`!document.querySelector("#keys").open`)
}

// TestLongTable scrolls through many rows: only those in sight are in the document.
func TestLongTable(t *testing.T) {
	const n = 20_000
	folder := files(t, map[string]string{"rollouts.jsonl": rows(n)})
	p := open(t, "#tab=rollouts")
	p.Drop(folder)
	p.WaitState("ready")
	p.WaitStats(map[string]string{"rollout.count": strconv.Itoa(n)})
	const table = `document.querySelector("[data-table=rollouts]")`
	shown := func(line int) {
		t.Helper()
		p.Wait(fmt.Sprintf(`document.querySelector("tr[data-rollout='rollouts.jsonl:%d']")`, line))
		sight := Eval[int](p, `Math.ceil(`+table+`.clientHeight / Number(`+table+`.dataset.height))`)
		if have := len(p.Rows()); have > 3*sight+10 && have > 60 {
			t.Errorf("%d rows in the document where %d are in sight", have, sight)
		}
	}
	shown(1)
	Eval[int](p, table+`.scrollTop = `+table+`.scrollHeight / 2`)
	shown(n / 2)
	Eval[int](p, table+`.scrollTop = `+table+`.scrollHeight`)
	shown(n)
	Eval[int](p, table+`.scrollTop = 0`)
	shown(1)
	// Sorted the other way, the first row is the last of the file.
	p.SetHash("tab=rollouts&sort=-task")
	shown(n)
	if nodes := Eval[int](p, `document.querySelectorAll("*").length`); nodes > 4_000 {
		t.Errorf("%d elements in the page", nodes)
	}
}
