package e2e

import (
	"fmt"
	"testing"
)

// Focus tells what has the keyboard's focus, and fails the test when a person could not see where that is.
func (p *Page) Focus() string {
	p.t.Helper()
	found := Eval[[2]string](p, `(() => {
		const el = document.activeElement;
		if (!el || el === document.body) return ["", "nothing has the focus"];
		const name = (el.getAttribute("aria-label") || el.innerText || el.id || el.tagName).trim().replace(/\s+/g, " ").slice(0, 60);
		const s = getComputedStyle(el), box = el.getBoundingClientRect();
		if (!el.matches(":focus-visible")) return [name, "is not shown to have it"];
		// The canvas draws its ring, the bar of a chart has it inside.
		const ring = el.querySelector(".hit") && getComputedStyle(el.querySelector(".hit")).stroke !== "none";
		if (!el.matches("canvas") && !ring && (s.outlineStyle === "none" || parseFloat(s.outlineWidth) < 1)) return [name, "has no outline"];
		if (box.bottom <= 0 || box.right <= 0 || box.top >= innerHeight || box.left >= innerWidth) return [name, "is out of sight"];
		const at = document.elementFromPoint(Math.min(innerWidth - 1, Math.max(0, box.x + box.width / 2)), Math.min(innerHeight - 1, Math.max(0, box.y + Math.min(box.height, 40) / 2)));
		if (at && !el.contains(at) && !at.contains(el) && !at.closest("label")) return [name, "is covered by " + at.outerHTML.slice(0, 80)];
		return [name, ""];
	})()`)
	if found[1] != "" {
		p.t.Errorf("focus: %s %s", found[0], found[1])
	}
	return found[0]
}

// TabTo presses Tab until a condition on the focused element, el, holds. Every stop is looked at.
func (p *Page) TabTo(condition string) string {
	p.t.Helper()
	var seen []string
	for range 60 {
		p.Key("Tab")
		name := p.Focus()
		seen = append(seen, name)
		if Eval[bool](p, `((el) => Boolean(`+condition+`))(document.activeElement)`) {
			return name
		}
	}
	p.t.Fatalf("Tab never comes to %s, but to %q", condition, seen)
	return ""
}

// TestKeyboardWalk goes from the landing page to the place in a rollout that proves a finding, and back, by keys alone.
func TestKeyboardWalk(t *testing.T) {
	p := open(t, "")
	p.intake()
	p.TabTo(`el.innerText === "Try the sample run"`)
	p.Key("Enter")
	p.WaitState("ready")
	p.current("overview")
	p.TabTo(`el.closest("#region-main a")`) // everything in front of the content can be passed
	p.Key("g h")
	p.current("health")

	// Down to a check, into its findings, to the first of them.
	const check = "model_call_failed"
	for range 40 {
		p.Key("j")
		p.Wait(`document.activeElement.dataset.index`)
		p.Focus()
		if Eval[bool](p, fmt.Sprintf(`document.activeElement.dataset.row === %q`, check)) {
			break
		}
	}
	p.Key("Enter")
	p.Wait(fmt.Sprintf(`location.hash.includes("check=%s") && document.querySelector("tr.detail")`, check))
	p.Settled()
	p.Focus()
	p.TabTo(`el.closest("tr.detail [data-finding] a")`)
	p.Key("Enter")
	p.Wait(fmt.Sprintf(`location.hash.includes("rollout=") && document.querySelector("#region-main [data-finding=%s]")`, check))
	p.Settled()

	// The page of the rollout has the focus, and the finding leads on to the call that failed.
	p.Focus()
	p.TabTo(`el.closest("[data-finding] a, .findings a")`)
	p.Key("Enter")
	p.Settled()
	p.Focus()
	if !Eval[bool](p, `[...document.querySelectorAll("#region-main [data-finding=`+check+`]")].some((e) => { const box = e.getBoundingClientRect(); return box.height > 0 && box.top < innerHeight && box.bottom > 0; })`) {
		t.Error("the finding is out of sight where its link leads")
	}
	p.Key("Tab")
	p.Focus()
	p.Key("j j k")
	p.Settled()

	// Back to where it was left.
	p.Key("Escape")
	p.current("health")
	p.Wait(`document.querySelector("tr.detail")`)
	p.Settled()
	p.Key("Tab")
	p.Focus()
}
