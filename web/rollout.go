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
	case r.Calls != nil:
		return "Model calls"
	case r.Tokens != nil:
		return "Tokens"
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
	if class := join(when(l.Marked, "marked"), when(l.Current, "on")); class != "" {
		b.WriteString(` class="` + class + `"`)
	}
	if l.Current {
		b.WriteString(` id="line-` + decimal(index) + `"`)
	}
	b.WriteString(">" + indent(l.Depth))
	if l.Key != "" {
		b.WriteString(`<span class="k">`)
		if err := writeHits(b, l.Key, l.KeyHits, false); err != nil {
			return err
		}
		b.WriteString("</span>: ")
	}
	if l.Before > 0 {
		b.WriteString(`<span class="fold muted">` + more(l.Before, "characters before") + "</span> ")
	}
	b.WriteString(`<span class="j-` + tone(l.Kind) + `">`)
	if err := writeHits(b, l.Text, l.Hits, false); err != nil {
		return err
	}
	b.WriteString("</span>")
	if l.Folded > 0 {
		b.WriteString(` <span class="fold muted">` + more(l.Folded, "characters") + "</span>")
	}
	if l.Comma {
		b.WriteByte(',')
	}
	b.WriteString("</div>")
	return nil
}

// marked is a text of one line with the places of a search marked.
func marked(s string, hits []view.Hit) templ.Component { return withHits(s, hits, false) }

// markedLines is a text with its lines and the places of a search.
func markedLines(s string, hits []view.Hit) templ.Component { return withHits(s, hits, true) }

func withHits(s string, hits []view.Hit, keep bool) templ.Component {
	if len(hits) == 0 {
		return written(s, keep)
	}
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		var b strings.Builder
		if err := writeHits(&b, s, hits, keep); err != nil {
			return err
		}
		_, err := io.WriteString(w, b.String())
		return err
	})
}

// writeHits writes a text with the places of a search marked; keep leaves its lines as they are.
func writeHits(b *strings.Builder, text string, hits []view.Hit, keep bool) error {
	at := 0
	for _, h := range hits {
		if h.From < at || h.To > len(text) || h.From >= h.To {
			continue
		}
		if err := writeVisible(b, text[at:h.From], keep); err != nil {
			return err
		}
		b.WriteString(`<mark` + when(h.Now, ` class="now"`) + when(h.ID != "", ` id="`+h.ID+`"`) + ">")
		if err := writeVisible(b, text[h.From:h.To], keep); err != nil {
			return err
		}
		b.WriteString("</mark>")
		at = h.To
	}
	return writeVisible(b, text[at:], keep)
}

// focusable lets a block take the focus that a link names.
func focusable(b view.Block) templ.Attributes {
	if b.Kind != "call" {
		return nil
	}
	return templ.Attributes{"tabindex": "-1"}
}

// foundTitle heads the findings; a narrow window reads it as one line with their number.
func foundTitle(r *view.Rollout) string {
	if foundCount(r) == "1" {
		return "Finding"
	}
	return "Findings"
}

// foundCount says how many findings there are, and of very many which are listed.
func foundCount(r *view.Rollout) string {
	if r.MoreFindings != "" {
		return r.MoreFindings
	}
	return decimal(max(r.Found, len(r.Findings)))
}

// told tells whether the middle of the page tells the findings in full: where there is no transcript to show them in.
func told(r *view.Rollout) bool {
	return r.Raw == nil && r.Calls == nil && r.Tokens == nil && r.Attempts == nil && len(r.Blocks) == 0 && len(r.Facts) > 0
}

// hiddenHits says how many places of a search are in what is left out of a text.
func hiddenHits(b view.Block) string {
	switch {
	case b.Hidden == 0:
		return ""
	case b.Hidden == 1:
		return ", 1 hit"
	}
	return ", " + view.Group(b.Hidden) + " hits"
}
