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
	Eval[bool](p, `rollscope.page.actions["open-folder"]() && true`)
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
