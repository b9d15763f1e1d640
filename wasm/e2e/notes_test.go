package e2e

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// note writes a note on the rollout that is open, by keys, and waits until it is kept.
func (p *Page) note(text string) {
	p.t.Helper()
	p.Key("e")
	p.Wait(`document.activeElement.matches("[data-note-text]")`)
	p.Type(text)
	p.Wait(`document.querySelector("[data-note-when]").textContent.startsWith("kept")`)
	p.Key("Escape")
}

// openRow opens the rollout of a line.
func (p *Page) openRow(place string) {
	p.t.Helper()
	p.SetHash("tab=rollouts&rollout=" + place)
	p.Wait(fmt.Sprintf(`document.querySelector("[data-note]")?.dataset.line === %q`, place[strings.LastIndexByte(place, ':')+1:]))
	p.Settled()
}

// noteText is what the field on the page of a rollout holds.
const noteText = `document.querySelector("[data-note-text]").value`

// TestNotes writes notes on rollouts, finds them again in the tables, by the filter and in the list, opens the same
// file elsewhere and another version of it, and takes the notes out and in.
func TestNotes(t *testing.T) {
	folder := t.TempDir()
	lines := []string{row(1, 0), row(1, 1), row(2, 0), row(2, 1), row(3, 0)}
	write(t, folder, "run/rollouts.jsonl", strings.Join(lines, "\n")+"\n")
	write(t, folder, "copy/other-name.jsonl", strings.Join(lines, "\n")+"\n")
	write(t, folder, "later/run/rollouts.jsonl", strings.Join(append([]string{row(9, 9)}, lines...), "\n")+"\n")
	p := open(t, "#tab=rollouts")
	p.Drop(filepath.Join(folder, "run"))
	p.WaitState("ready")
	p.Key("E")
	p.Wait(`document.querySelector("#notes").open && document.querySelector("[data-notes-count]").innerText.includes("no note")`)
	p.Key("Escape")

	p.openRow("rollouts.jsonl:3")
	p.note("Loops for ever, <b>ask</b> Kim")
	p.Key("]")
	p.Wait(`document.querySelector("[data-note]")?.dataset.line === "4" && ` + noteText + ` === ""`)
	p.note("fine")
	p.Key("[")
	p.Wait(noteText + ` === "Loops for ever, <b>ask</b> Kim"`)
	p.Wait(`document.querySelector("[data-kept=count-notes]").textContent === "Notes 2"`)

	// Marked in the tables, found by the filter.
	p.SetHash("tab=rollouts&filter=note~Kim")
	p.WaitStats(map[string]string{"filter.count": "1"})
	p.Wait(`document.querySelector("#region-main tr[data-rollout='rollouts.jsonl:3'] .m-note title").textContent === "note: Loops for ever, <b>ask</b> Kim"`)
	p.SetHash("tab=rollouts&filter=has(note)")
	p.WaitStats(map[string]string{"filter.count": "2"})
	p.SetHash("tab=tasks")
	p.current("tasks")
	p.Wait(`document.querySelector("[data-table=tasks] .m-note title").textContent.startsWith("note: 2 notes, the first: Loops")`)

	// The list: searched, and a way to the rollout.
	p.Key("E")
	p.Wait(`document.querySelectorAll("[data-notes-list] li").length === 2`)
	p.Type("kim")
	p.Wait(`document.querySelector("[data-notes-count]").innerText === "1 of 2 notes"`)
	p.Click("[data-notes-list] li:not([hidden]) a")
	p.Wait(`!document.querySelector("#notes").open && document.querySelector("[data-note]")?.dataset.line === "3"`)

	// Out, as a file for people and one for machines.
	p.Key("E")
	p.Wait(`document.querySelector("#notes").open`)
	if text := string(p.Download("notes.md")); !strings.Contains(text, "# Notes on run/rollouts.jsonl") || !strings.Contains(text, "## 2-0, line 3\n\n```text\nLoops for ever, <b>ask</b> Kim\n```") {
		t.Errorf("as Markdown: %s", text)
	}
	saved := string(p.Download("notes.json"))
	if !strings.Contains(saved, `"task": "2"`) || !strings.Contains(saved, `"text": "fine"`) {
		t.Errorf("as JSON: %s", saved)
	}

	// Away, and back.
	p.Click("[aria-label='Remove the note on 2-1']")
	p.Wait(`document.querySelectorAll("[data-notes-list] li").length === 1`)
	p.Click("Undo")
	p.Wait(`document.querySelectorAll("[data-notes-list] li").length === 2`)
	p.Key("Escape")

	// The same file under another name, after a new start.
	p.Open(site + "#tab=rollouts")
	p.Drop(filepath.Join(folder, "copy", "other-name.jsonl"))
	p.WaitState("ready")
	p.Wait(`document.querySelectorAll("#region-main .m-note").length === 2`)
	p.openRow("other-name.jsonl:4")
	p.Wait(noteText + ` === "fine"`)

	// Another version of it, where the lines are others.
	p.Open(site + "#tab=rollouts")
	p.Drop(filepath.Join(folder, "later"))
	p.WaitState("ready")
	p.Wait(`document.querySelector("[data-kept=count-notes]").title.includes("2 on another version")`)
	if n := Eval[int](p, `document.querySelectorAll("#region-main .m-note").length`); n != 0 {
		t.Errorf("%d rows of another file are marked", n)
	}
	p.Click("[data-kept=count-notes]")
	p.Wait(`document.querySelector("[data-notes-others]").innerText.includes("2 notes belong to another version of this file")`)
	p.accessible("")
	p.Click("Show them")
	p.Wait(`document.querySelectorAll("[data-notes-list] a[href*='rollouts.jsonl:4']").length === 1`)
	p.Click("[data-notes-list] a[href*='rollouts.jsonl:4']")
	p.Wait(`document.querySelector("[data-note]")?.innerText.includes("Loops for ever")`)
	p.note("still so")
	p.Key("E")
	p.Wait(`document.querySelectorAll("[data-notes-list] li").length === 3`)
	p.Key("Escape")

	// In again, where nothing is kept any more; what is damaged is refused.
	Eval[bool](p, `(localStorage.clear(), true)`)
	p.Open(site + "#tab=rollouts")
	p.Drop(filepath.Join(folder, "run"))
	p.WaitState("ready")
	p.importing("notes.json", saved)
	p.Wait(`document.querySelector("#take-back").innerText.includes("2 notes imported")`)
	p.Wait(`document.querySelectorAll("#region-main .m-note").length === 2`)
	p.Key("u")
	p.Wait(`document.querySelectorAll("#region-main .m-note").length === 0`)
	p.importing("twice.json", saved)
	p.Wait(`document.querySelectorAll("#region-main .m-note").length === 2`)
	p.importing("again.json", saved)
	p.Wait(`document.querySelector("#live").textContent.includes("2 left as they were")`)
	p.importing("bad.json", strings.Replace(saved, `"line": 4`, `"line": "4"`, 1))
	p.says("bad.json was not imported: note 2 of its file 1 has no line or text")
	for n, kind := range []string{`"constructor"`, `"__proto__"`, `"toString"`, `["notes"]`, `{"toString": 1}`} {
		name := fmt.Sprintf("kind-%d.json", n)
		p.importing(name, `{"rollscope": `+kind+`, "version": 1, "files": []}`)
		p.says(name + " was not imported: it does not say that it holds views or notes")
	}
	p.importing("later.json", `{"rollscope": "notes", "version": "`+strings.Repeat("v", 1<<20)+`"}`)
	p.says(`later.json was not imported: it is of version "vvvv`)
	if text := p.Text("#region-alerts"); len(text) > 10_000 {
		t.Errorf("an alert of %d bytes", len(text))
	}
}

// TestNotesLong keeps a note of half a million characters over a reload, and times that are none out of the list.
func TestNotesLong(t *testing.T) {
	p := open(t, "#tab=rollouts")
	path := files(t, map[string]string{"rollouts.jsonl": row(1, 0) + "\n" + row(1, 1) + "\n"})
	p.Drop(path)
	p.WaitState("ready")
	p.openRow("rollouts.jsonl:1")
	p.note("first")
	Eval[bool](p, `(() => { const area = document.querySelector("[data-note-text]"); area.focus(); area.value = "long ".repeat(100_000); area.dispatchEvent(new InputEvent("input", { bubbles: true })); return true; })()`)
	p.Wait(`document.querySelector("[data-note-when]").textContent.startsWith("kept")`)
	saved := p.Saves("notes.json", func() {
		p.Key("Escape")
		p.Key("E")
		p.Wait(`document.querySelector("#notes").open`)
		p.Click("[data-download='notes.json']")
	})
	p.Open(site + "#tab=rollouts")
	p.Drop(path)
	p.WaitState("ready")
	p.openRow("rollouts.jsonl:1")
	p.Wait(`document.querySelector("[data-note-text]")?.value.length === 500_000`)

	Eval[bool](p, `(localStorage.clear(), true)`)
	p.Open(site + "#tab=rollouts")
	p.Drop(path)
	p.WaitState("ready")
	bad := regexp.MustCompile(`"at": "[^"]*"`).ReplaceAllString(string(saved), `"at": "<b>\n# then"`)
	p.importing("long.json", bad)
	p.Wait(`document.querySelector("#take-back").innerText.includes("1 note imported")`)
	p.Key("E")
	p.Wait(`document.querySelector("[data-notes-list] li")`)
	if text := p.Text("[data-notes-list] .muted"); strings.Contains(text, "Invalid") || strings.Contains(text, "then") {
		t.Errorf("the list says %q", text)
	}
}

// TestNotesUnkept writes a note where the browser takes nothing, for want of room and on principle: it stays in the
// page, the page says so, warns before it is left, and keeps it as soon as it can.
func TestNotesUnkept(t *testing.T) {
	for _, c := range []struct{ name, before, why, after string }{
		{"full", `localStorage.setItem("rest", "x".repeat(5 << 20 >> 1)); for (let n = 4096, k = 0; n; n >>= 1) try { for (;;) localStorage.setItem("rest" + k++, "x".repeat(n * 64)); } catch {}
			for (let k = 0;; k++) try { localStorage.setItem("r" + k, ""); } catch { break; }`, "no room left", `Object.keys(localStorage).filter((k) => k.startsWith("r") && !k.startsWith("rollscope")).forEach((k) => localStorage.removeItem(k))`},
		{"forbidden", `globalThis.setItem = Storage.prototype.setItem; Storage.prototype.setItem = () => { throw new DOMException("denied", "SecurityError"); };`, "store nothing", `Storage.prototype.setItem = globalThis.setItem`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := open(t, "#tab=rollouts")
			p.Drop(files(t, map[string]string{"rollouts.jsonl": row(1, 0) + "\n" + row(1, 1) + "\n"}))
			p.WaitState("ready")
			Eval[bool](p, `(() => { `+c.before+`; return true; })()`)
			asks := func(want bool) {
				t.Helper()
				if got := Eval[bool](p, `!dispatchEvent(new Event("beforeunload", { cancelable: true }))`); got != want {
					t.Errorf("leaving asks: %v, want %v", got, want)
				}
			}
			asks(false)
			p.openRow("rollouts.jsonl:1")
			p.Key("e")
			p.Type("a note of some length")
			if text := p.WaitAlert("unkept_note"); !strings.Contains(text, c.why) {
				t.Errorf("the page says %q", text)
			}
			p.Wait(`document.querySelector("[data-note-unkept]:not([hidden])")`)
			p.accessible("")
			asks(true)
			// It is a note like others meanwhile.
			p.SetHash("tab=rollouts&filter=has(note)")
			p.WaitStats(map[string]string{"filter.count": "1"})
			p.Click("[data-kept=count-notes]")
			if saved := p.Download("notes.json"); !strings.Contains(string(saved), "a note of some length") {
				t.Errorf("saved: %s", saved)
			}
			p.Key("Escape")
			asks(false) // it is in that file
			p.openRow("rollouts.jsonl:2")
			p.Key("e")
			p.Type("another")
			p.Wait(`document.querySelector("[data-code=unkept_note]").innerText.includes("2 notes")`)
			asks(true)
			Eval[bool](p, `(`+c.after+`, true)`)
			p.Type("!")
			p.Wait(`!document.querySelector("[data-code=unkept_note]")`)
			asks(false)
			if got := Eval[string](p, `Object.entries(localStorage).find(([k]) => k.startsWith("rollscope.notes."))[1]`); !strings.Contains(got, "a note of some length") || !strings.Contains(got, "another!") {
				t.Errorf("kept: %s", got)
			}
		})
	}
}

// TestNotesGrow writes a note, has more rows come behind it, and finds it where it was: while the file is followed, and
// when it is opened again.
func TestNotesGrow(t *testing.T) {
	p := newPage(t)
	p.before(pickers)
	p.Open(site + "#tab=rollouts")
	lines := row(1, 0) + "\n" + row(1, 1) + "\n"
	p.putText("live.jsonl", lines)
	p.choosing("live.jsonl")
	Eval[bool](p, `rollscope.page.actions["open-files"]() && true`)
	p.WaitState("ready")
	p.openRow("live.jsonl:2")
	p.note("here")
	p.SetHash("tab=rollouts")
	p.Key("l")
	p.putText("live.jsonl", lines+row(2, 0)+"\n")
	Eval[bool](p, `rollscope.page.follow.look().then(() => true)`)
	p.WaitStats(map[string]string{"rollout.count": "3"})
	p.Wait(`document.querySelector("#region-main tr[data-rollout='live.jsonl:2'] .m-note")`)
	p.Wait(`document.querySelector("[data-kept=count-notes]").title === "E"`)
	p.putText("live.jsonl", lines+row(2, 0)+"\n"+row(2, 1)+"\n")
	p.landed("live.jsonl")
	p.reopen("live.jsonl")
	p.WaitState("ready")
	p.SetHash("tab=rollouts&filter=has(note)")
	p.WaitStats(map[string]string{"rollout.count": "4", "filter.count": "1"})
	// In a narrow window the field is behind "All facts"; the key leads to it all the same.
	p.openRow("live.jsonl:2")
	if err := p.window(400, 800, ""); err != nil {
		t.Fatal(err)
	}
	p.Wait(`document.querySelector(".facts .all .m-note")`)
	p.Key("e")
	p.Wait(`document.activeElement.matches("[data-note-text]") && document.activeElement.getClientRects().length > 0 && ` + noteText + ` === "here"`)
	p.fits(400)
	if n := Eval[int](p, `Object.keys(localStorage).filter((k) => k.startsWith("rollscope.notes.")).length`); n != 1 {
		t.Errorf("%d versions of the file have notes", n)
	}
}
