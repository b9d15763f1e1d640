package web

import (
	"context"
	"io"
	"strings"

	"github.com/a-h/templ"

	"github.com/rollscope/rollscope/core/view"
)

// turnID is the id of the element of a turn.
func turnID(n int) string { return "turn-" + decimal(n) }

// at is the id of an element whose name comes from a model. The prefix keeps it apart from the page's own ids.
func at(id string) string { return "at-" + id }

// blockID is the id of a turn's element.
func blockID(b view.Block) string {
	if b.Turn > 0 {
		return turnID(b.Turn)
	}
	return at(b.ID)
}

// idAttr is the id of a block that has one.
func idAttr(b view.Block) templ.Attributes {
	if b.ID == "" {
		return nil
	}
	return templ.Attributes{"id": at(b.ID)}
}

// currentTurn is the turn the rail stands at, 0 for none.
func currentTurn(r *view.Rollout) int {
	for _, t := range r.Turns {
		if t.Current {
			return t.No
		}
	}
	return 0
}

// readName is what the middle of the page holds.
func readName(r *view.Rollout) string {
	switch {
	case r.Raw != nil:
		return "JSON of the row"
	case told(r):
		return "Findings"
	}
	return "Transcript"
}

func markOr(m, other view.Mark) view.Mark {
	if m == view.NoMark {
		return other
	}
	return m
}

// deepest is where the indent of JSON stops growing, so that deep rows stay in sight.
const deepest = 40

func indent(depth int) string { return strings.Repeat("  ", min(max(depth, 0), deepest)) }

// foldedOf says what a folded line leaves out.
func foldedOf(l view.RawLine) string {
	if l.Kind == "object" || l.Kind == "array" {
		return "entries"
	}
	return "characters"
}

// ownTitle is the part of a turn's title that names it, "Turn 4" of "Turn 4 of 11"; the rest is said in passing.
func ownTitle(b view.Block) string {
	own := "Turn " + decimal(b.Turn)
	if strings.HasPrefix(b.Title, own+" ") {
		return own
	}
	return b.Title
}

// rawHeight is the height of a line of JSON in CSS pixels.
const rawHeight = 18

// WindowLines writes the lines of a window into a row's JSON alone. They are written by hand because every space counts
// in preformatted text.
func WindowLines(r view.Raw) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		var b strings.Builder
		for i, l := range r.Lines {
			if err := writeLine(&b, r.From+i, l); err != nil {
				return err
			}
		}
		_, err := io.WriteString(w, b.String())
		return err
	})
}

func writeLine(b *strings.Builder, index int, l view.RawLine) error {
	b.WriteString(`<div data-index="` + decimal(index) + `"`)
	if l.Marked {
		b.WriteString(` class="marked"`)
	}
	if l.Pointer != "" {
		b.WriteString(` data-pointer="` + templ.EscapeString(plain(l.Pointer)) + `"`)
	}
	b.WriteString(">" + indent(l.Depth))
	if l.Key != "" {
		b.WriteString(`<span class="k">`)
		if err := writeVisible(b, l.Key, false); err != nil {
			return err
		}
		b.WriteString("</span>: ")
	}
	b.WriteString(`<span class="j-` + tone(l.Kind) + `">`)
	if err := writeVisible(b, l.Text, false); err != nil {
		return err
	}
	b.WriteString("</span>")
	if l.Folded > 0 {
		b.WriteByte(' ')
		left := more(l.Folded, foldedOf(l))
		if linked(l.Toggle) {
			b.WriteString(`<a class="fold" href="` + templ.EscapeString(l.Toggle) + `">` + left + "</a>")
		} else {
			b.WriteString(`<span class="fold muted">` + left + "</span>")
		}
	}
	b.WriteString("</div>")
	return nil
}

// told tells whether the middle of the page tells the findings in full: where there is no transcript to show them in.
func told(r *view.Rollout) bool { return r.Raw == nil && len(r.Blocks) == 0 && len(r.Facts) > 0 }
