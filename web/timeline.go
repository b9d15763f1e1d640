package web

import (
	"context"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/a-h/templ"

	"github.com/rollscope/rollscope/core/view"
)

// Measures of a timeline in CSS pixels. The script draws by the same.
const (
	rowOfTime  = 22
	spanHeight = 18
)

// laneTop is where a line of a timeline begins.
func laneTop(row int) int { return row * rowOfTime }

// laneLabel is as much of a label as there is room for.
func laneLabel(label string) string {
	label = plain(label)
	if utf8.RuneCountInString(label) <= 14 {
		return label
	}
	n := 0
	for i := range label {
		if n == 13 {
			return label[:i] + "…"
		}
		n++
	}
	return label
}

func bandHeight(p *view.TokensPart) int {
	height := 9
	for _, b := range p.Bands {
		height = max(height, b.Row*11+9)
	}
	return height
}

func bandWords(p *view.TokensPart) string {
	text := ""
	for _, b := range p.Bands {
		if b.Row == 0 {
			text += b.Title + " · "
		}
	}
	return strings.TrimSuffix(text+p.BandNote, " · ")
}

func columnTop(p view.TokenPlot, c view.TokenColumn) string {
	if p.Down {
		return "0"
	}
	return number(64 - 64*unit(c.Height))
}

// tokenStrip writes tokens one behind the other. It is written by hand because every space counts.
func tokenStrip(list []view.TokenView) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		var b strings.Builder
		for _, t := range list {
			class := join("tok", when(t.Step > 0, "step-"+decimal(t.Step)), when(t.Prompt, "prompt"), when(t.Masked, "masked"), when(!t.Known, "id"))
			b.WriteString(`<span role="option" class="` + class + `" data-token="` + decimal(t.No) + `" title="` + templ.EscapeString(plain(t.Title)) + `"`)
			if t.Current {
				b.WriteString(` aria-selected="true" id="token-` + decimal(t.No) + `"`)
			}
			b.WriteByte('>')
			if err := writeVisible(&b, t.Text, false); err != nil {
				return err
			}
			b.WriteString("</span>")
			if !t.Known {
				b.WriteByte(' ')
			} else if strings.HasSuffix(t.Text, "\n") {
				b.WriteString("<br>")
			}
		}
		_, err := io.WriteString(w, b.String())
		return err
	})
}
