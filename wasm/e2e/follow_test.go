package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A followed run is looked at every two seconds; the tests have the page look at once.

// looks has the page look at its files and waits until it shows so many rollouts.
func (p *Page) looks(rollouts int) {
	p.t.Helper()
	p.look()
	p.WaitStats(map[string]string{"rollout.count": fmt.Sprint(rollouts)})
	p.WaitState("ready")
}

func (p *Page) look() {
	p.t.Helper()
	Eval[bool](p, `rollscope.look().then(() => true)`)
}

// appends writes text behind a file.
func appends(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(text)
		err = errorsOf(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

func errorsOf(list ...error) error {
	for _, err := range list {
		if err != nil {
			return err
		}
	}
	return nil
}

// strip is what the line about following says.
func (p *Page) strip() string {
	p.t.Helper()
	return Eval[string](p, `document.querySelector("#follow")?.innerText.replace(/\s+/g, " ") || ""`)
}

func rowsOf(from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		b.WriteString(row(i, 0) + "\n")
	}
	return b.String()
}

// TestFollow watches a run that is being written: the page keeps its place, whatever comes.
func TestFollow(t *testing.T) {
	folder := files(t, map[string]string{"rollouts.jsonl": rows(200)})
	path := filepath.Join(folder, "rollouts.jsonl")
	url := product.Start(t, filepath.Dir(folder), "view", "--follow", "run")
	p := newPage(t)
	p.Open(url + "#tab=rollouts")
	p.WaitState("ready")
	p.Wait(`document.documentElement.dataset.following === "on"`)
	p.look()

	// In the middle of the table, with a row that has the focus.
	Eval[bool](p, `(document.querySelector("[data-table=rollouts]").scrollTop = 80 * Number(document.querySelector("[data-table=rollouts]").dataset.height)) && true`)
	p.Wait(`document.querySelector("[data-index='84']")`)
	Eval[bool](p, `((r) => { r.tabIndex = 0; r.focus({ preventScroll: true }); return true; })(document.querySelector("[data-index='84']"))`)
	const place = `[document.querySelector("[data-table=rollouts]").scrollTop, document.activeElement.dataset.rollout].join(" ")`
	before := Eval[string](p, place)
	line := row(200, 0)
	appends(t, path, line[:len(line)/2])
	p.looks(201) // a line that is being written counts as what it is so far
	if codes := p.Codes(); len(codes) > 0 {
		t.Errorf("alarms about a line that is being written: %v", codes)
	}
	if foot := p.Text("#region-foot"); !strings.Contains(foot, "the last line of rollouts.jsonl is being written") {
		t.Errorf("the foot says %q", foot)
	}
	appends(t, path, line[len(line)/2:]+"\n"+rowsOf(201, 203))
	p.looks(203)
	p.WaitStats(map[string]string{"accounting.unreadable": "0", "accounting.torn": "0"})
	if after := Eval[string](p, place); after != before {
		t.Errorf("the place was %s and is %s", before, after)
	}
	if said := p.strip(); !strings.Contains(said, "Following 2 new rows") && !strings.Contains(said, "Following 3 new rows") {
		t.Errorf("the line says %q", said)
	}

	// Under a filter and with a rollout open.
	p.SetHash("tab=rollouts&filter=task%3E%3D100")
	p.WaitStats(map[string]string{"filter.count": "103"})
	p.SetHash("tab=rollouts&filter=task%3E%3D100&rollout=rollouts.jsonl:110")
	p.Wait(`document.querySelector(".way")?.innerText.includes("of 103")`)
	turns := p.Text("#region-main")
	appends(t, path, rowsOf(203, 210))
	p.looks(210)
	p.Wait(`document.querySelector(".way").innerText.includes("of 110")`)
	if now := p.Text("#region-main"); now != turns {
		t.Errorf("the open rollout shows\n%s\nand did\n%s", now, turns)
	}
	if hash := p.Hash(); !strings.Contains(hash, "rollouts.jsonl:110") {
		t.Errorf("the page went to %s", hash)
	}

	// Further files: one of rows that comes in front of those in sight, one of another kind.
	p.SetHash("tab=rollouts")
	p.WaitStats(map[string]string{"filter.count": "210"})
	Eval[bool](p, `(document.querySelector("[data-table=rollouts]").scrollTop = 120 * Number(document.querySelector("[data-table=rollouts]").dataset.height)) && true`)
	const first = `((t) => [...t.querySelectorAll("[data-index]")].find((r) => r.getBoundingClientRect().bottom > t.getBoundingClientRect().top + t.querySelector("thead").offsetHeight).dataset.rollout)(document.querySelector("[data-table=rollouts]"))`
	p.Wait(`document.querySelector("[data-index='125']")`)
	top := Eval[string](p, first)
	write(t, folder, "a/rollouts.jsonl", rowsOf(300, 330))
	write(t, folder, "rollouts_failures.jsonl", "")
	p.looks(240)
	p.Wait(`document.querySelector("#follow").innerText.includes("2 new files")`)
	p.Wait(first + ` === ` + fmt.Sprintf("%q", top))
	if n := p.Stat("accounting.files"); n != "2" {
		t.Errorf("%s files of rows", n)
	}
	p.SetHash("tab=health")
	p.Wait(`document.querySelector("[data-page=health]")`)
	p.holds(judge(t, folder, []string{"a/rollouts.jsonl", "rollouts.jsonl"}, nil, ""))

	// Paused, nothing is asked for; then it catches up.
	p.Key("l")
	p.Wait(`document.documentElement.dataset.following === "paused" && document.querySelector("#follow").innerText.includes("Paused")`)
	appends(t, path, rowsOf(210, 211))
	p.look()
	if n := p.Stat("rollout.count"); n != "240" {
		t.Errorf("%s rows while paused", n)
	}
	p.Click("#follow button")
	p.WaitStats(map[string]string{"rollout.count": "241"})
	p.Screenshot("follow", 1280, 800, false)
	p.Screenshot("follow-narrow", 400, 800, true)
}

// TestFollowBroken cuts, replaces and takes away what is followed, and at last the server.
func TestFollowBroken(t *testing.T) {
	folder := files(t, map[string]string{"rollouts.jsonl": rows(20), "rollouts_aggregate_metrics.json": "[]"})
	path := filepath.Join(folder, "rollouts.jsonl")
	url, stop, err := product.start(folder, "view", "--follow", ".")
	if err != nil {
		t.Fatal(err)
	}
	stopped := false
	defer func() {
		if !stopped {
			_ = stop()
		}
	}()
	p := newPage(t)
	p.Allow(`ERR_CONNECTION_REFUSED|Failed to load resource|404`)
	p.Open(url + "#tab=health")
	p.WaitState("ready")
	p.look()

	write(t, folder, "rollouts.jsonl", rows(12)[:len(rows(11))+40])
	p.looks(12)
	if text := p.WaitAlert("truncated"); !strings.Contains(text, "read anew") {
		t.Errorf("it says %q", text)
	}
	p.WaitStats(map[string]string{"accounting.torn": "1"})

	// As long as before, or longer, and something else.
	write(t, folder, "rollouts.jsonl", rowsOf(50, 90))
	p.looks(40)
	if text := p.WaitAlert("replaced"); !strings.Contains(text, "no longer begins with") {
		t.Errorf("it says %q", text)
	}
	if slices.Contains(p.Codes(), "truncated") {
		t.Error("two messages about one file")
	}
	p.holds(judge(t, folder, []string{"rollouts.jsonl"}, nil, ""))

	// Another file under its name that begins alike.
	write(t, folder, "other", rowsOf(50, 95))
	if err := os.Rename(filepath.Join(folder, "other"), path); err != nil {
		t.Fatal(err)
	}
	p.looks(45)
	if text := p.WaitAlert("replaced"); !strings.Contains(text, "another one has taken its place") {
		t.Errorf("it says %q", text)
	}

	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	p.look()
	if text := p.WaitAlert("vanished"); !strings.Contains(text, "no longer there") {
		t.Errorf("it says %q", text)
	}
	if n := p.Stat("rollout.count"); n != "45" {
		t.Errorf("%s rows are kept of a file that is gone", n)
	}
	write(t, folder, "rollouts.jsonl", rowsOf(50, 97))
	p.looks(47)
	if slices.Contains(p.Codes(), "vanished") {
		t.Error("the file is back and said to be gone")
	}

	if err := stop(); err != nil {
		t.Fatal(err)
	}
	stopped = true
	p.look()
	p.Wait(`document.documentElement.dataset.following === "trouble"`)
	if said := p.strip(); !strings.Contains(said, "the server does not answer; what was read stays") {
		t.Errorf("the line says %q", said)
	}
	if n := p.Stat("rollout.count"); n != "47" {
		t.Errorf("%s rows without the server", n)
	}
	p.SetHash("tab=tasks")
	p.WaitState("ready")
	p.Screenshot("follow-gone", 1280, 800, true)
}

// TestManyCompanions opens a run with many files beside it: all of them can be read.
func TestManyCompanions(t *testing.T) {
	contents := map[string]string{"rollouts.jsonl": rows(3), "rollouts_failures.jsonl": "{}\n", "rollouts_aggregate_metrics.json": "[]"}
	for i := range 80 {
		contents[fmt.Sprintf("notes/%d.txt", i)] = "a note"
	}
	p := open(t, "#tab=files")
	p.Drop(files(t, contents))
	p.WaitState("ready")
	if text := p.Text("#region-main"); strings.Contains(text, "could not be held against each other") || strings.Contains(text, "TypeError") {
		t.Errorf("the Files tab says\n%s", text)
	}
}

// TestFollowEmpty follows a run that has written nothing yet.
func TestFollowEmpty(t *testing.T) {
	folder := t.TempDir()
	url := product.Start(t, folder, "view", "--follow", ".")
	p := newPage(t)
	p.Goto(url)
	p.Wait(`document.documentElement?.dataset.state === "idle" && document.documentElement.dataset.following === "on"`)
	write(t, folder, "rollouts.jsonl", rows(3))
	p.look()
	p.WaitState("ready")
	p.looks(3)
}

// TestFollowHandle follows a file that was picked, in the private file system of the browser, and the folder around it.
func TestFollowHandle(t *testing.T) {
	p := open(t, "")
	Eval[bool](p, pickers+`true`)
	p.putText("run/rollouts.jsonl", rows(30))
	p.choosing("run")
	p.Click("[data-action=open-folder]")
	p.WaitStats(map[string]string{"rollout.count": "30"})
	p.WaitState("ready")
	if said := p.strip(); said != "" {
		t.Errorf("a picked file is followed at once: %s", said)
	}
	p.putText("run/rollouts.jsonl", rows(33))
	p.look()
	if n := p.Stat("rollout.count"); n != "30" {
		t.Errorf("%s rows, and nobody follows", n)
	}
	p.Click("[data-action=live]")
	p.WaitStats(map[string]string{"rollout.count": "33"})
	p.Wait(`document.querySelector(".bar [data-action=live]").getAttribute("aria-pressed") === "true"`)
	p.SetHash("tab=rollouts&rollout=rollouts.jsonl:31&part=raw")
	p.Wait(`document.querySelector("#region-main").innerText.includes("_ng_task_index")`)
	p.putText("run/rollouts.jsonl", rows(40))
	// Between two looks the handle is asked for what is read of the file.
	p.SetHash("tab=rollouts&rollout=rollouts.jsonl:5&part=raw")
	p.Wait(`document.querySelector("#region-main").innerText.includes("_ng_task_index")`)
	p.looks(40)
	if codes := p.Codes(); len(codes) > 0 {
		t.Errorf("messages %v", codes)
	}
	p.putText("run/rollouts.jsonl", rows(40)+row(40, 0)[:50])
	p.putText("run/rollouts_failures.jsonl", "")
	p.looks(41)
	p.Wait(`document.querySelector("#follow").innerText.includes("1 new file: rollouts_failures.jsonl")`)

	// The page's reader dies, and what follows goes on.
	p.Allow("out of memory")
	Eval[bool](p, `rollscope.crashDesk().then(() => true)`)
	p.WaitAlert("worker_restarted")
	p.WaitStats(map[string]string{"rollout.count": "41"})
	p.WaitState("ready")
	p.putText("run/rollouts.jsonl", rows(42))
	p.looks(42)
	p.putText("run/rollouts.jsonl", rows(7))
	p.SetHash("tab=overview")
	p.looks(7)
	p.WaitAlert("truncated")
	Eval[bool](p, `kept.remove("run")`)
	p.look()
	p.WaitAlert("vanished")
	p.WaitStats(map[string]string{"rollout.count": "7"})
	p.Key("l")
	p.Wait(`document.documentElement.dataset.following === "paused"`)
}

// TestFollowDropped follows a folder on the disk that was dropped.
func TestFollowDropped(t *testing.T) {
	folder := files(t, map[string]string{"rollouts.jsonl": rows(30)})
	path := filepath.Join(folder, "rollouts.jsonl")
	p := open(t, "#tab=rollouts")
	p.Drop(folder)
	p.WaitState("ready")
	p.Click("[data-action=live]")
	p.Wait(`document.documentElement.dataset.following === "on"`)
	p.look()
	appends(t, path, rowsOf(30, 35))
	// What the browser gave before is void now; the handle is asked again.
	p.SetHash("tab=rollouts&rollout=rollouts.jsonl:7&part=raw")
	p.Wait(`document.querySelector("#region-main").innerText.includes("_ng_task_index")`)
	p.looks(35)
	write(t, folder, "rollouts_failures.jsonl", "")
	p.look()
	p.Wait(`document.querySelector("#follow").innerText.includes("1 new file")`)
	write(t, folder, "rollouts.jsonl", rowsOf(60, 120))
	p.looks(60)
	p.WaitAlert("replaced")
	p.SetHash("tab=health")
	p.Wait(`document.querySelector("[data-page=health]")`)
	p.holds(judge(t, folder, []string{"rollouts.jsonl"}, nil, ""))
}
