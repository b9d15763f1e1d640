package e2e

import (
	"encoding/base64"
	"fmt"
	"os"
	"strings"
	"testing"
)

// pickers makes the browser's private file system stand in for native dialogs: what stands in it is what a person
// chooses. kept.put writes a file there, kept.chosen names what the next dialog gives.
const pickers = `
	globalThis.kept = {
		chosen: [],
		async put(path, base64) {
			const steps = path.split("/"), name = steps.pop();
			let at = await navigator.storage.getDirectory();
			for (const step of steps) at = await at.getDirectoryHandle(step, { create: true });
			const file = await (await at.getFileHandle(name, { create: true })).createWritable();
			await file.write(Uint8Array.from(atob(base64), (c) => c.charCodeAt(0)));
			await file.close();
			return true;
		},
		async at(path, folder) {
			let at = await navigator.storage.getDirectory();
			const steps = path.split("/"), name = steps.pop();
			for (const step of steps) at = await at.getDirectoryHandle(step);
			return folder ? at.getDirectoryHandle(name) : at.getFileHandle(name);
		},
		async remove(name) {
			await (await navigator.storage.getDirectory()).removeEntry(name, { recursive: true });
			return true;
		},
	};
	showOpenFilePicker = () => Promise.all(kept.chosen.map((path) => kept.at(path)));
	showDirectoryPicker = () => kept.at(kept.chosen[0], true);
`

// put writes a file of the disk into the private file system.
func (p *Page) put(path, file string) {
	p.t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		p.t.Fatal(err)
	}
	p.putText(path, string(b))
}

func (p *Page) putText(path, text string) {
	p.t.Helper()
	Eval[bool](p, fmt.Sprintf(`kept.put(%q, %q)`, path, base64.StdEncoding.EncodeToString([]byte(text))))
}

// choosing says what the next dialog gives.
func (p *Page) choosing(paths ...string) {
	p.t.Helper()
	Eval[bool](p, fmt.Sprintf(`(kept.chosen = %q.split("\n")) && true`, strings.Join(paths, "\n")))
	p.intake()
}

// handles tells for every open file whether the page can get its handle, by the name that the handle has.
const handles = `Promise.all(rollscope.page.state.files.map(async (f) => f.path + "=" + ((await rollscope.page.intake.handleOf(f))?.name || "")))
	.then((list) => list.sort().join(" "))`

// TestHandles opens files in every way there is: where the browser gives handles the page has them.
func TestHandles(t *testing.T) {
	p := newPage(t)
	p.before(pickers)
	p.Open(site + "#tab=health")
	p.put("one.jsonl", caseFile("s01-healthy-perf"))
	p.put("night/run/rollouts.jsonl", caseFile("s05-failed-calls"))
	p.putText("night/run/deep/notes.txt", "nothing")
	p.choosing("one.jsonl")
	p.Click("Open files")
	p.WaitState("ready")
	if got := Eval[string](p, handles); got != "one.jsonl=one.jsonl" {
		t.Errorf("chosen: %s", got)
	}
	p.choosing("night")
	p.Key("O")
	p.WaitState("ready")
	if got, want := Eval[string](p, handles), "night/run/deep/notes.txt=notes.txt night/run/rollouts.jsonl=rollouts.jsonl"; got != want {
		t.Errorf("chosen folder: %s, want %s", got, want)
	}
	folder, names := many(t, 2)
	p.Drop(folder)
	p.WaitState("ready")
	if got := Eval[string](p, handles); strings.Count(got, "=rollouts.jsonl") != len(names) {
		t.Errorf("dropped: %s, want handles of %v", got, names)
	}
	p.Drop(caseFile("s01-healthy-perf"))
	p.WaitState("ready")
	if got := Eval[string](p, handles); got != "rollouts.jsonl=rollouts.jsonl" {
		t.Errorf("dropped file: %s", got)
	}
	p.ChooseFiles(caseFile("s01-healthy-perf"))
	p.WaitState("ready")
	if got := Eval[string](p, handles); got != "rollouts.jsonl=" {
		t.Errorf("an input gives no handles: %s", got)
	}
}

// landed waits for the landing page with its list of what was opened.
func (p *Page) landed(name string) {
	p.t.Helper()
	p.Goto(site)
	p.Wait(`document.documentElement.dataset.state === "idle"`)
	p.Wait(fmt.Sprintf(`[...document.querySelectorAll("[data-recent-list] li")].some((li) => li.innerText.includes(%q))`, name))
	p.Settled()
}

// reopen clicks an entry of the list.
func (p *Page) reopen(name string) {
	p.t.Helper()
	p.intake()
	id := Eval[string](p, fmt.Sprintf(`[...document.querySelectorAll("[data-action=reopen]")].find((b) => b.innerText === %q).dataset.id`, name))
	p.Click(fmt.Sprintf("[data-action=reopen][data-id=%q]", id))
}

func (p *Page) says(words string) {
	p.t.Helper()
	p.Wait(fmt.Sprintf(`document.querySelector("#region-alerts").innerText.includes(%q)`, words))
}

// TestRecent opens a file and a folder, comes back, and opens them again with one click: as they were, changed, moved
// away, and without the permission.
func TestRecent(t *testing.T) {
	p := newPage(t)
	p.before(pickers)
	p.Open(site)
	p.put("one.jsonl", caseFile("s01-healthy-perf"))
	p.putText("night/a/rollouts.jsonl", row(1, 0)+"\n")
	p.putText("night/b/rollouts.jsonl", row(2, 0)+"\n")
	p.choosing("one.jsonl")
	p.Click("Open files")
	p.WaitState("ready")
	// The way back to the list is behind the name of the run, and closes what is open.
	p.Click("details.runs summary")
	p.Click("Start page")
	p.Wait(`document.documentElement.dataset.state === "idle"`)
	p.Wait(`[...document.querySelectorAll("[data-recent-list] li")].some((li) => li.innerText.includes("one.jsonl"))`)
	p.landed("one.jsonl")
	p.choosing("night")
	p.Click("Open folder")
	p.WaitState("ready")
	p.landed("night/")
	p.reopen("one.jsonl")
	p.WaitState("ready")
	if codes := p.Codes(); len(codes) > 0 {
		t.Errorf("the same file again: %v", codes)
	}
	// Of two entries the one that was opened last is the first, and none is there twice.
	p.landed("one.jsonl")
	if got := Eval[string](p, `[...document.querySelectorAll("[data-recent-list] li > .mono")].map((e) => e.innerText).join(" ")`); got != "one.jsonl night/" {
		t.Errorf("the list is %s", got)
	}
	p.reopen("night/")
	p.WaitState("ready")
	p.WaitStats(map[string]string{"rollout.count": "2"})

	p.putText("night/b/rollouts.jsonl", row(2, 0)+"\n"+row(2, 1)+"\n")
	p.putText("night/c/rollouts.jsonl", row(3, 0)+"\n")
	Eval[bool](p, `navigator.storage.getDirectory().then((d) => d.getDirectoryHandle("night")).then((d) => d.removeEntry("a", { recursive: true })).then(() => true)`)
	p.landed("night/")
	p.reopen("night/")
	p.WaitState("ready")
	p.WaitStats(map[string]string{"rollout.count": "3"})
	p.says("night/b/rollouts.jsonl has changed from")
	p.says("night/a/rollouts.jsonl has gone")
	p.says("night/c/rollouts.jsonl is new")
	p.WaitAlert("changed_since")

	// What is not allowed is said, and asked for again.
	p.landed("one.jsonl")
	Eval[bool](p, `(() => {
		globalThis.asked = 0;
		FileSystemHandle.prototype.queryPermission = async () => "prompt";
		FileSystemHandle.prototype.requestPermission = async () => (asked++, globalThis.allowed || "denied");
		return true;
	})()`)
	p.reopen("one.jsonl")
	p.WaitAlert("permission_refused")
	Eval[bool](p, `(globalThis.allowed = "granted", true)`)
	p.reopen("one.jsonl")
	p.WaitState("ready")
	if n := Eval[int](p, `asked`); n != 2 {
		t.Errorf("the browser was asked %d times", n)
	}
	if codes := p.Codes(); len(codes) > 0 {
		t.Errorf("allowed: %v", codes)
	}

	// A file that is gone leaves what is open, here nothing, as it is.
	p.landed("one.jsonl")
	Eval[bool](p, `kept.remove("one.jsonl")`)
	p.reopen("one.jsonl")
	p.WaitAlert("vanished")
	p.says("one.jsonl is no longer there")

	// Off the list, and back.
	p.Click(`[aria-label="take one.jsonl off the list"]`)
	p.Wait(`document.querySelectorAll("[data-recent-list] li").length === 1`)
	p.Click("Undo")
	p.Wait(`document.querySelectorAll("[data-recent-list] li").length === 2`)
	p.Click("Clear list")
	p.Wait(`document.querySelector("[data-recent]").hidden`)
	p.Key("u")
	p.Wait(`document.querySelectorAll("[data-recent-list] button[data-action=reopen]").length === 2`)
}

// TestRecentForbidden has no storage at all: what was opened is known while the page is there.
func TestRecentForbidden(t *testing.T) {
	p := newPage(t)
	p.before(pickers + `
		for (const name of ["localStorage", "sessionStorage", "indexedDB"]) {
			Object.defineProperty(window, name, { get() { throw new DOMException("denied", "SecurityError"); } });
		}`)
	p.Open(site)
	p.put("one.jsonl", caseFile("s01-healthy-perf"))
	p.choosing("one.jsonl")
	p.Click("Open files")
	p.WaitState("ready")
	Eval[bool](p, `rollscope.page.actions.close().then(() => true)`)
	p.Wait(`document.querySelector("[data-recent-list] button[data-action=reopen]")`)
	p.Settled()
	p.reopen("one.jsonl")
	p.WaitState("ready")
}

// views lists the saved views in the panel.
func (p *Page) views() string {
	p.t.Helper()
	return Eval[string](p, `[...document.querySelectorAll("[data-list] a b")].map((b) => b.innerText).join(" | ")`)
}

// saveView saves what is shown under a name, by keys alone.
func (p *Page) saveView(name string) {
	p.t.Helper()
	p.Key("w")
	p.Wait(`document.activeElement.matches("[data-save-view] input")`)
	p.Type(name)
	p.Key("Enter")
	p.Wait(fmt.Sprintf(`[...document.querySelectorAll("[data-list] a b")].some((b) => b.innerText === %q)`, name))
}

// TestSavedViews saves views, opens them on another run, replaces, renames and removes them, and takes them out and in.
func TestSavedViews(t *testing.T) {
	p := openSample(t)
	p.Key("g r")
	p.current("rollouts")
	p.Key("w")
	p.Wait(`document.querySelector("[data-empty]:not([hidden])")`)
	p.Key("Escape")
	p.Wait(`document.activeElement.matches("[data-views] summary")`)
	p.SetHash("tab=rollouts&filter=verdict:unhealthy&sort=-reward")
	p.Wait(`document.querySelector("ul.chips a")`)
	p.saveView("Bad ones")
	if got := Eval[string](p, `document.querySelector("[data-list] a").getAttribute("aria-current")`); got != "true" {
		t.Errorf("what is shown is not marked: %q", got)
	}
	p.Key("Escape")
	// What belongs to a run alone is no part of a view: not the rollout, not its turn.
	p.Click("#region-main tr[data-rollout] a")
	p.Wait(`document.querySelector("[data-page=rollout]")`)
	p.saveView("From a rollout")
	p.Key("Escape")
	if got := Eval[string](p, `JSON.parse(localStorage.getItem("rollscope.views")).map((v) => v.view).join(" ")`); strings.Contains(got, "rollout=") || strings.Count(got, "filter=verdict:unhealthy") != 2 {
		t.Errorf("saved is %s", got)
	}
	p.Key("Escape")
	p.Key("Escape")

	// Another view under the same name takes its place, and gives it back.
	p.SetHash("tab=health")
	p.current("health")
	p.saveView("Bad ones")
	p.Wait(`document.querySelector("#take-back").innerText.includes("“Bad ones” was replaced")`)
	p.Key("Escape")
	p.Key("u")
	p.Wait(`JSON.parse(localStorage.getItem("rollscope.views"))[0].view.includes("rollouts")`)

	// Open it by the palette, on other files; then by the panel.
	p.Drop(caseFile("s05-failed-calls"))
	p.WaitState("ready")
	p.Key("Control+k")
	p.Type("bad ones")
	p.Key("Enter")
	p.current("rollouts")
	p.Wait(`document.querySelector("[data-filter-input]").value === "verdict:unhealthy"`)
	p.SetHash("tab=health")
	p.current("health")
	p.Key("w")
	p.Click("a[data-view='Bad ones']")
	p.current("rollouts")
	p.Wait(`!document.querySelector("[data-views]").open`)

	// Rename by keys, to the name of the other one.
	p.Key("w")
	p.TabTo(`el.matches("[data-rename][data-of='Bad ones']")`)
	p.Key("Enter")
	p.Wait(`document.activeElement.matches("[data-rename-view] input")`)
	p.Type("From a rollout")
	p.Key("Enter")
	p.Wait(`document.querySelector("#take-back").innerText.includes("was replaced")`)
	if got := p.views(); got != "From a rollout" {
		t.Errorf("renamed: %s", got)
	}
	p.Click("Undo")
	p.Wait(`document.querySelectorAll("[data-list] a").length === 2`)

	// Out, away, and in again.
	saved := p.Download("views.json")
	p.Click("[data-action=remove-view][data-of='Bad ones']")
	p.Wait(`document.querySelectorAll("[data-list] a").length === 1`)
	p.Click("[data-action=remove-view]")
	p.Wait(`document.querySelector("[data-empty]:not([hidden])")`)
	p.importing("views.json", string(saved))
	p.Wait(`document.querySelectorAll("[data-list] a").length === 2`)
	if got := p.views(); got != "Bad ones | From a rollout" {
		t.Errorf("imported: %s", got)
	}
	for name, text := range map[string]string{"no JSON": "{", "no views": `{"rollscope":"views","version":1}`, "another version": `{"rollscope":"views","version":2}`,
		"something else": `[1]`, "no name": `{"rollscope":"views","version":1,"views":[{"view":"tab=health"}]}`} {
		p.importing(name+".json", text)
		p.says(name + ".json was not imported")
	}
	// A view of another version of the page says what of it means nothing, one about a tab without evidence so as well.
	p.importing("old.json", `{"rollscope":"views","version":1,"views":[{"name":"old","view":"tab=rollouts&filter=colour:red&sort=beauty&rollout=x:1"},{"name":"two","view":"tab=compare"}]}`)
	p.Wait(`document.querySelector("a[data-view=two]")`)
	p.Click("a[data-view=old]")
	p.says("sort=beauty")
	p.Wait(`document.querySelector("#filter-error").innerText.includes("colour")`)
	p.Key("w")
	p.Click("a[data-view=two]")
	p.says("no evidence for the Compare tab")
	p.SetHash("tab=health")
	p.Wait(`!document.querySelector("#region-alerts").innerText.includes("Compare")`)
}

// importing chooses a file in the dialog behind "Import".
func (p *Page) importing(name, text string) {
	p.t.Helper()
	Eval[bool](p, fmt.Sprintf(`(() => {
		const input = document.querySelector("[data-import]"), list = new DataTransfer();
		list.items.add(new File([%q], %q));
		input.files = list.files;
		input.dispatchEvent(new Event("change"));
		return true;
	})()`, text, name))
}

// TestViewsForbidden saves views where nothing is stored: that is said, they are there, and can be saved to a file.
func TestViewsForbidden(t *testing.T) {
	p := newPage(t)
	p.before(`for (const name of ["getItem", "setItem", "removeItem"]) Storage.prototype[name] = () => { throw new DOMException("denied", "SecurityError"); };`)
	p.Open(site + "#tab=health")
	p.Drop(caseFile("s05-failed-calls"))
	p.WaitState("ready")
	p.saveView("One")
	p.Wait(`document.querySelector("#live").textContent.includes("does not keep the views")`)
	if saved := p.Download("views.json"); !strings.Contains(string(saved), `"name": "One"`) {
		t.Errorf("saved: %s", saved)
	}
}
