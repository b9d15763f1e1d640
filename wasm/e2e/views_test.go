package e2e

import (
	"cmp"
	_ "embed"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/synth"
	"github.com/rollscope/rollscope/core/view"
)

// A look is one view of the page: where it is, and what a person does there to see it.
type look struct {
	name     string
	fragment string
	do       func(*Page)
	undo     string // keys that close what was opened
}

// given are, for tabs that the sample run has little or no evidence for, what is opened instead.
var given = map[string]func(*testing.T) []string{
	"coverage": func(*testing.T) []string { return []string{filepath.Join(top, "testdata/runs/02-interrupted/run")} },
	"compare":  halves,
}

// halves makes two runs of the sample run, its first repeats and its later ones, as the tutorial does.
func halves(t *testing.T) []string {
	contents := map[string]string{}
	for _, f := range synth.Sample() {
		contents["sample/"+f.Name] = string(f.Data)
	}
	folder := files(t, contents)
	var list []string
	for _, half := range []struct{ name, repeats string }{{"early", "(0, 1)"}, {"late", "(2, 3)"}} {
		rows, talk, code := product.Run(t, folder, "rows", "sample", "--raw", "--filter", "repeat in "+half.repeats+" line!=6 line!=30")
		if code != 0 {
			t.Fatalf("status %d, %s", code, talk)
		}
		write(t, folder, half.name+"/rollouts.jsonl", rows)
		list = append(list, filepath.Join(folder, half.name))
	}
	return list
}

// tabLooks are all tabs there are.
func tabLooks() []look {
	var list []look
	for _, tab := range view.Tabs {
		list = append(list, look{name: tab.ID, fragment: "tab=" + tab.ID})
	}
	return list
}

// partLooks are all parts of the page of a rollout, of the first one with findings and calls.
func partLooks(p *Page) []look {
	p.SetHash("tab=rollouts&filter=findings%3E0+calls%3E1")
	p.Wait(`document.querySelector("#filter-error, #region-main tr[data-rollout]")`)
	p.Settled()
	place := p.Rows()[0]
	p.SetHash("rollout=" + place)
	p.Wait(`document.querySelector("[data-page=rollout]") && document.querySelector("a[data-part]")`)
	var list []look
	for _, part := range Eval[[]string](p, `[...document.querySelectorAll("a[data-part]")].map((e) => e.dataset.part)`) {
		list = append(list, look{name: "rollout-" + part, fragment: "rollout=" + place + "&part=" + part})
	}
	return list
}

// otherLooks are what can be opened on a tab.
func otherLooks() []look {
	focused := func(keys string) func(*Page) { return func(p *Page) { p.Key(keys) } }
	return []look{
		{"check", "tab=health&check=model_call_failed", func(p *Page) { p.Wait(`document.querySelector("tr.detail")`) }, ""},
		{"filtered", "tab=rollouts&filter=verdict:unhealthy+reward%3E%3D0", func(p *Page) { p.Wait(`document.querySelector("ul.chips a")`) }, ""},
		{"filter-mistake", "tab=rollouts&filter=verdct:unhealthy", func(p *Page) { p.Wait(`document.querySelector("#filter-error")`) }, ""},
		{"no-rows", "tab=rollouts&filter=reward%3E9", func(p *Page) { p.Wait(`document.querySelector(".empty")`) }, ""},
		{"offers", "tab=rollouts", func(p *Page) {
			p.Key("/")
			p.Type("ver")
			p.Wait(`document.querySelector("#offers:not([hidden]) [role=option]")`)
		}, "Escape"},
		{"columns", "tab=rollouts&sort=-reward", func(p *Page) {
			p.Key("v")
			p.Wait(`document.querySelector("[data-chooser][open] [role=checkbox]")`)
		}, "Escape"},
		{"refused-row", "tab=rollouts&filter=unreadable", func(p *Page) {
			p.Wait(`document.querySelectorAll("#region-main tr[data-rollout]").length === 1`)
			p.Click("#region-main tr[data-rollout] a")
			p.Wait(`document.querySelector("[data-page=rollout]")`)
		}, ""},
		{"note", "tab=rollouts", func(p *Page) {
			p.Wait(`document.querySelectorAll("#region-main tr[data-rollout]").length > 8`)
			list := p.Rows()
			p.openRow(list[7])
			p.note("Ends on a failed call that was tried once. Is the retry budget of the proxy too small?")
			p.openRow(list[3])
			p.note("Compare with repeat 2: the same command, another directory.")
		}, ""},
		{"noted", "tab=rollouts", func(p *Page) { p.Wait(`document.querySelectorAll("#region-main .m-note").length === 2`) }, ""},
		{"notes", "tab=tasks", func(p *Page) {
			p.Key("E")
			p.Wait(`document.querySelectorAll("[data-notes-list] li").length === 2`)
		}, "Escape"},
		{"views", "tab=rollouts&filter=verdict:unhealthy", func(p *Page) {
			Eval[bool](p, `(localStorage.setItem("rollscope.views", JSON.stringify([
				{ name: "Unhealthy, dearest first", view: "tab=rollouts&filter=verdict:unhealthy&sort=-completion" },
				{ name: "Never solved", view: "tab=tasks&filter=task.solved=0" }])), true)`)
			p.Key("w")
			p.Wait(`document.querySelectorAll("[data-list] a").length === 2`)
		}, "Escape"},
		{"search", "tab=search&search=the", func(p *Page) { p.Wait(`document.querySelector("[data-table=hits] mark")`) }, ""},
		{"search-start", "tab=search", func(p *Page) { p.Wait(`document.querySelector(".search-help")`) }, ""},
		{"search-mistake", "tab=search&search=err(or&set=search.as%3Dregexp", func(p *Page) { p.Wait(`document.querySelector("#search-error")`) }, ""},
		{"search-nothing", "tab=search&search=nobody+says+this", func(p *Page) { p.Wait(`document.querySelector("[data-table=hits] .empty")`) }, ""},
		{"search-rollout", "tab=search&search=the", func(p *Page) {
			p.Wait(`document.querySelector("[data-table=hits] tr[data-index='2']")`)
			p.Click("[data-table=hits] tr[data-index='2'] a.row")
			p.Wait(`document.querySelector("mark.now")`)
		}, ""},
		{"lock", "tab=overview", func(p *Page) { p.Click("details.lock summary") }, "Escape"},
		{"keys", "tab=overview", focused("?"), "Escape"},
		{"palette", "tab=overview", func(p *Page) { p.Key("Control+k"); p.Type("tab") }, "Escape"},
	}
}

// show brings a page to a look and waits until it stands still.
func (p *Page) show(l look) {
	p.t.Helper()
	p.SetHash(l.fragment)
	// The frame has drawn what the address says when the current tab or part is the one it names.
	tab, part := "", ""
	for pair := range strings.SplitSeq(l.fragment, "&") {
		if key, value, _ := strings.Cut(pair, "="); key == "tab" {
			tab = value
		} else if key == "part" {
			part = value
		}
	}
	switch {
	case tab == "search": // no tab, but the search of the bar
		p.Wait(`document.querySelector("[data-search-way][aria-current=page]")`)
	case tab != "":
		p.current(tab)
	}
	if part != "" {
		p.Wait(fmt.Sprintf(`document.querySelector("a[data-part=%s][aria-current=page]")`, part))
	}
	if l.do != nil {
		l.do(p)
	}
	p.Settled()
}

// Settled waits until the page has drawn all that it was asked for, and the browser has laid it out.
func (p *Page) Settled() {
	p.t.Helper()
	Eval[bool](p, `(async () => {
		const frame = () => new Promise((done) => requestAnimationFrame(done));
		for (let calm = 0; calm < 2;) {
			await frame();
			const s = globalThis.rollscope ? rollscope.status() : {};
			calm = s.drawing || s.timer || s.again || document.getAnimations().length ? 0 : calm + 1;
		}
		await document.fonts.ready;
		return true;
	})()`)
}

// openSample opens the sample run as a person does.
func openSample(t *testing.T) *Page {
	t.Helper()
	p := open(t, "")
	p.intake()
	p.Click("Try the sample run")
	p.WaitState("ready")
	p.current("overview")
	return p
}

// TestViews goes through every view there is: nothing of it is hard to read or to operate by the rules of axe, in
// light and in dark, and nothing is wider than a narrow window. With -shots it keeps their pictures.
func TestViews(t *testing.T) {
	visit := func(p *Page, l look) {
		t.Run(l.name, func(t *testing.T) {
			p.In(t)
			p.show(l)
			p.examine(l.name)
			if l.undo != "" {
				p.Key(l.undo)
			}
		})
	}
	t.Run("landing", func(t *testing.T) {
		p := open(t, "")
		p.Settled()
		p.examine("landing")
	})
	t.Run("recent", func(t *testing.T) {
		p := newPage(t)
		p.before(pickers)
		p.Open(site)
		p.put("tuesday.jsonl", caseFile("s01-healthy-perf"))
		p.choosing("tuesday.jsonl")
		p.Click("Open files")
		p.WaitState("ready")
		p.Drop(caseFile("s05-failed-calls"))
		p.WaitState("ready")
		p.landed("tuesday.jsonl")
		p.examine("recent")
	})
	t.Run("missing", func(t *testing.T) {
		p := open(t, missingLink)
		p.Wait(`document.documentElement.dataset.waiting !== undefined`)
		p.Settled()
		p.examine("missing")
	})
	t.Run("failed-files", func(t *testing.T) {
		p := open(t, "")
		p.Drop(files(t, map[string]string{"rollouts.jsonl": row(1, 0) + "\n{\"_ng_task_index\":\n\n" + row(1, 1)[:20], "notes.txt": "?", "b/rollouts.jsonl": ""}))
		p.WaitState("ready")
		p.Wait(`document.querySelector("[role=alert][data-code]")`)
		p.Settled()
		p.examine("alerts")
		p.show(look{fragment: "tab=files"})
		p.examine("alerts-files")
	})
	p := openSample(t)
	offered := func(p *Page, l look) bool {
		return Eval[bool](p, `Boolean(document.querySelector("[data-tab=`+l.name+`]"))`)
	}
	for _, l := range tabLooks() {
		paths, other := given[l.name]
		if !other {
			if !offered(p, l) {
				t.Errorf("nothing here has evidence for the tab %s", l.name)
				continue
			}
			visit(p, l)
			continue
		}
		q := open(t, "")
		q.Drop(paths(t)...)
		q.WaitState("ready")
		q.Settled()
		if !offered(q, l) {
			t.Errorf("what is opened for the tab %s has no evidence for it", l.name)
			continue
		}
		visit(q, l)
	}
	for _, l := range append(partLooks(p), otherLooks()...) {
		visit(p, l)
	}
}

// missingLink is a link to a view of files that nobody has.
const missingLink = "#tab=rollouts&filter=verdict:unhealthy&sort=-completion&files=night/rollouts-00000-of-00002.jsonl:1048576:0123456789abcdef0123456789abcdef,night/rollouts-00001-of-00002.jsonl:734003:fedcba9876543210fedcba9876543210"

//go:embed testdata/axe/axe.min.js
var axe string

// examine holds what is shown against the rules for all views.
func (p *Page) examine(name string) {
	p.t.Helper()
	for _, w := range []struct {
		scheme string
		width  int64
	}{{"light", 1280}, {"dark", 1280}, {"dark", 400}, {"light", 400}, {"light", 360}} {
		if p.shots == "" && w.scheme == "dark" && w.width < 1280 {
			continue
		}
		if err := p.window(w.width, 800, w.scheme); err != nil {
			p.t.Fatal(err)
		}
		p.Settled()
		if w.width > 360 {
			p.picture(fmt.Sprintf("%s-%s-%d", name, w.scheme, w.width))
		}
		switch {
		case w.width < 1280:
			p.fits(w.width)
		case w.scheme == "light":
			p.accessible("")
		default: // the rest is the same in all colours
			p.accessible("color-contrast")
		}
	}
	if err := p.window(1280, 800, ""); err != nil {
		p.t.Fatal(err)
	}
}

// accessible runs axe on the page, all of its rules or one. What it calls serious or critical fails the test.
func (p *Page) accessible(rule string) {
	p.t.Helper()
	Eval[bool](p, `globalThis.axe || ((module) => { `+axe+`; globalThis.axe = axe; })(undefined), Boolean(globalThis.axe)`)
	only := ""
	if rule != "" {
		only = fmt.Sprintf(", runOnly: [%q]", rule)
	}
	for _, text := range Eval[[]string](p, `axe.run(document, { resultTypes: ["violations"]`+only+` }).then((result) => result.violations
		.filter((v) => v.impact === "serious" || v.impact === "critical")
		.flatMap((v) => v.nodes.slice(0, 5).map((n) => v.id + " (" + v.impact + "): " + n.target.join(" ") + ": " + n.failureSummary.replace(/\s+/g, " ") + " in " + n.html.slice(0, 200))))`) {
		p.t.Errorf("%s: %s", cmp.Or(rule, "axe"), text)
	}
}

// fits fails the test when the page can be scrolled sideways, or something stands outside of it.
func (p *Page) fits(width int64) {
	p.t.Helper()
	for _, text := range Eval[[]string](p, `(() => {
		const wide = document.documentElement.clientWidth, found = [];
		if (document.documentElement.scrollWidth > wide || document.body.scrollWidth > wide) found.push("the page scrolls sideways: " + document.documentElement.scrollWidth);
		const clipped = (el) => { for (let e = el.parentElement; e; e = e.parentElement) if (getComputedStyle(e).overflowX !== "visible") return true; return false; };
		for (const el of document.querySelectorAll("body *")) {
			const box = el.getBoundingClientRect();
			if (box.width > 1 && box.height > 1 && box.right > wide + 1 && !clipped(el) && getComputedStyle(el).visibility === "visible") found.push(el.outerHTML.slice(0, 120) + " ends at " + Math.round(box.right));
		}
		return found.slice(0, 6);
	})()`) {
		p.t.Errorf("%d pixels wide: %s", width, text)
	}
}
