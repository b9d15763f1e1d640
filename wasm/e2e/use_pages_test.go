package e2e

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/view"
)

// TestPacked drops gzip files of several members and with padding behind them: all rows are there, and any of them
// can be opened and taken along.
func TestPacked(t *testing.T) {
	p := open(t, "#tab=rollouts")
	p.Drop(filepath.Join(top, "testdata/cases/28-gzip-members"))
	p.WaitState("ready")
	p.WaitStats(map[string]string{"rollout.count": "5", "accounting.unreadable": "0"})
	list := p.Rows()
	if len(list) != 5 {
		t.Fatalf("the rows are %q", list)
	}
	// The third row of the first file begins in one member and ends in the next.
	i := slices.IndexFunc(list, func(place string) bool { return strings.HasSuffix(place, "rollouts.jsonl.gz:3") })
	p.SetHash("rollout=" + list[i] + "&part=raw")
	p.Wait(`document.querySelector("[data-page=rollout]")?.innerText.includes("_ng_task_index")`)
	p.SetHash("tab=rollouts")
	p.Wait(`document.querySelector("[data-download='rollouts.jsonl']")`)
	if saved := p.Download("rollouts.jsonl"); strings.Count(string(saved), "\n") != 5 || !strings.HasPrefix(string(saved), `{"_ng_task_index"`) {
		t.Errorf("%d lines are saved: %.100s", strings.Count(string(saved), "\n"), saved)
	}
}

// TestGrid goes through the grid of tasks by keys, hears what a cell is, opens it, and reads the same in the table.
func TestGrid(t *testing.T) {
	p := openSample(t)
	p.Key("g t")
	p.current("tasks")
	p.Settled()
	p.TabTo(`el.matches("canvas[data-grid]")`)
	said := func(words string) string {
		t.Helper()
		return Eval[string](p, fmt.Sprintf(`e2e.until(() => document.querySelector("#live").textContent.includes(%q) && document.querySelector("#live").textContent)`, words))
	}
	first := said("repeat 0")
	p.Key("Right")
	said("repeat 1")
	p.Key("Down End Home")
	if below := said("repeat 0"); below == first {
		t.Errorf("the cell below is also %q", below)
	}
	row := Eval[[]string](p, `[...document.querySelectorAll("[data-table=tasks] tr[data-index]")[1].cells].map((c) => c.innerText)`)
	task := row[0]
	p.Key("Enter")
	p.Wait(`document.querySelector("[data-page=rollout]")`)
	p.Settled()
	if name := p.Text(".rollout-head .title b"); !strings.HasPrefix(name, strings.TrimSpace(task)+"-0") {
		t.Errorf("the first cell of the row of task %s opens %s", task, name)
	}
	p.Key("Escape")
	p.current("tasks")
	// The table says in words what the grid shows.
	if text := Eval[string](p, `[...document.querySelectorAll("[data-table=tasks] tr[data-index]")[1].cells].map((c) => c.textContent).join(" ")`); !strings.Contains(text, "healthy") && !strings.Contains(text, "unobserved") {
		t.Errorf("the row of the grid reads %q", text)
	}
	p.Click("th[data-column=unhealthy] a")
	p.Wait(`document.querySelector("[data-table=tasks] th[aria-sort]")`)
}

// TestPalette finds a command by its words and runs it; the sheet lists them all.
func TestPalette(t *testing.T) {
	p := openSample(t)
	p.Key("?")
	p.Wait(`document.querySelector("#keys").open`)
	if n := Eval[int](p, `[...document.querySelectorAll("#commands li")].filter((e) => e.getClientRects().length).length`); n != len(view.Commands()) {
		t.Errorf("the sheet lists %d of %d commands", n, len(view.Commands()))
	}
	p.Key("Escape")
	p.Wait(`!document.querySelector("#keys").open`)
	p.Key("Control+k")
	p.Type("where it fired")
	p.Wait(`document.querySelectorAll("#commands li:not([hidden])").length === 1`)
	p.Key("Enter")
	p.current("health")
	if Eval[bool](p, `document.querySelector("#keys").open`) {
		t.Error("the palette stays open")
	}
	p.Key("Control+k")
	p.Type("light and dark")
	before := Eval[string](p, `getComputedStyle(document.body).backgroundColor`)
	p.Key("Enter")
	p.Wait(fmt.Sprintf(`getComputedStyle(document.body).backgroundColor !== %q`, before))
	// The next keys are for the page, however soon they come. A table is sorted by the names of its heads.
	p.Key("g r")
	p.current("rollouts")
	p.Key("Control+k")
	p.Type("sort findings desc")
	p.Wait(`document.querySelectorAll("#commands li:not([hidden])").length === 1`)
	p.Key("Enter")
	p.Wait(`document.querySelector("th[data-column=findings]").getAttribute("aria-sort") === "descending"`)
	p.Key("g h")
	p.current("health")
	// What is not there is not offered: with one run there is nothing to compare, and outside a rollout none of its parts.
	for words, left := range map[string]string{"one run against another": "", "calls": "tab calls"} {
		p.Key("Control+k")
		p.Type(words)
		p.Wait(fmt.Sprintf(`[...document.querySelectorAll("#commands li:not([hidden])")].map((e) => e.dataset.run).join() === %q`, left))
		p.Key("Escape")
		p.Wait(`!document.querySelector("#keys").open`)
	}
}

// TestFolded unfolds a long text and finds it unfolded again by going back.
func TestFolded(t *testing.T) {
	long := strings.Repeat("long text ", 4000)
	folder := files(t, map[string]string{"rollouts.jsonl": fmt.Sprintf(
		`{"_ng_task_index":0,"_ng_rollout_index":0,"response":{"output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"%sits end"}]}]}}`+"\n", long)})
	p := open(t, "")
	p.Drop(folder)
	p.WaitState("ready")
	p.SetHash("rollout=rollouts.jsonl:1")
	p.Wait(`document.querySelector("[data-page=rollout]")?.innerText.includes("+ ")`)
	const whole = `document.querySelector("#region-main").innerText.includes("its end")`
	if Eval[bool](p, whole) {
		t.Fatal("the long text is not folded")
	}
	more := Eval[string](p, `[...document.querySelectorAll("#region-main a, #region-main button, #region-main summary")].find((e) => /^\+ [\d,]+ characters/.test(e.innerText.trim()))?.innerText.trim()`)
	if !strings.Contains(more, "characters") {
		t.Fatalf("what is folded away is called %q", more)
	}
	p.Click(more)
	p.Wait(whole)
	p.Wait(`location.hash.includes("open=")`)
	Eval[int](p, `(history.back(), 0)`)
	p.Wait(`!` + whole)
	Eval[int](p, `(history.forward(), 0)`)
	p.Wait(whole)
}

// TestMended opens rows that cannot be read: they are marked, shown as far as they go, and in no number.
func TestMended(t *testing.T) {
	p := open(t, "#tab=rollouts&filter=repaired")
	p.Drop(filepath.Join(top, "testdata/cases/07-lone-surrogate-escape"))
	p.WaitState("ready")
	p.Wait(`document.querySelector("#region-main tr[data-rollout]")`)
	repaired := p.Stat("accounting.repaired")
	p.WaitStats(map[string]string{"filter.count": repaired})
	if repaired == "0" {
		t.Fatal("no row is repaired")
	}
	if !slices.Contains(p.Codes(), "repaired_row") {
		t.Errorf("the messages are %q", p.Codes())
	}
	p.Click("#region-main tr[data-rollout] a")
	p.Wait(`document.querySelector("[data-page=rollout]")?.innerText.includes("Repaired for display")`)
	p.Key("r")
	p.Wait(`location.hash.includes("part=raw")`)
	p.Settled()
	if p.Stat("accounting.unreadable") != repaired {
		t.Errorf("%s rows are unreadable, %s repaired", p.Stat("accounting.unreadable"), repaired)
	}
}

// TestMissing opens a link of two files: the page says which of them are there, takes another file for none of them,
// goes on when both are there, and goes on without them when it is told to.
func TestMissing(t *testing.T) {
	run := files(t, map[string]string{"a.jsonl": rows(3), "b.jsonl": rows(5)})
	p := open(t, "#tab=rollouts&sort=-task")
	p.Drop(run)
	p.WaitState("ready")
	p.Wait(`document.querySelector("#region-main tr[data-rollout]")`)
	want := p.Rows()
	p.Key("c")
	p.Wait(`document.querySelector("#live").textContent === "Link copied."`)
	link := p.Clipboard()

	other := newPage(t)
	other.Open(link)
	waiting := func(yes bool) {
		other.Wait(fmt.Sprintf(`(document.documentElement.dataset.waiting !== undefined) === %v`, yes))
	}
	waiting(true)
	state := func(name, words string) {
		t.Helper()
		other.Wait(fmt.Sprintf(`[...document.querySelectorAll("#region-main tr")].some((r) => r.innerText.includes(%q) && r.innerText.includes(%q))`, name, words))
	}
	state("a.jsonl", "missing")
	other.Drop(write(t, t.TempDir(), "a.jsonl", rows(4)))
	state("a.jsonl", "differs")
	other.Drop(filepath.Join(run, "b.jsonl"))
	state("b.jsonl", "given")
	waiting(true)
	other.Drop(filepath.Join(run, "a.jsonl"))
	waiting(false)
	other.WaitStats(map[string]string{"rollout.count": "8"})
	other.Wait(`document.querySelector("#region-main tr[data-rollout]")`)
	other.Settled()
	if have := other.Rows(); len(have) != len(want) {
		t.Errorf("the link shows %q, the page had %q", have, want)
	}

	other = newPage(t)
	other.Open(link)
	waiting(true)
	other.Click("#region-main .acts a.button")
	waiting(false)
	if other.Stats()["rollout.count"] != "" {
		t.Error("there are rows where no file was given")
	}
}
