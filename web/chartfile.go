package web

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"github.com/rollscope/rollscope/core/view"
)

// ChartPrefix begins the name of the file of a chart: the prefix, its id and ".svg".
const ChartPrefix = "chart-"

// Measures of a chart that stands in a file of its own.
const (
	fileWidth  = 640
	fileHeight = 200
	fileEdge   = 16
	fileTitle  = 22
)

// fileRules style a chart in a file of its own. Names of tokens stand for their colours.
const fileRules = `svg{background:--bg}
text{fill:--fg;font:11px system-ui,sans-serif;font-variant-numeric:tabular-nums}
.title{font-size:13px;font-weight:700}.caption,.label{fill:--muted}
.axis{stroke:--line}.grid{stroke:--grid}polyline{fill:none;stroke:--s1;stroke-width:1.5}.area{fill:--s1;opacity:.12}
.hit{fill:none}.mark{fill:--bar}.dot{fill:--s1;fill-opacity:.55}.band{opacity:.14}`

// toned are the classes of marks with a colour of the same name.
var toned = []string{"healthy", "unhealthy", "unobserved", "failed", "masked", "omitted", "s1", "s2", "s3", "s4"}

// ChartFile writes the drawing of a chart as a file of its own, with the colours of one theme in it.
func ChartFile(c view.Chart, dark bool) templ.Component {
	c.Bins = slices.Clone(c.Bins)
	if c.Plot != nil {
		plot := *c.Plot
		plot.Dots = slices.Clone(plot.Dots)
		for i := range plot.Dots {
			plot.Dots[i].Href = ""
		}
		c.Plot = &plot
	}
	for i := range c.Bins {
		c.Bins[i].Href = "" // links lead nowhere in a file
	}
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		colour := palette(dark)
		rules := fileRules
		for _, t := range toned {
			rules += "." + t + "{fill:--" + t + "}"
			if len(t) == 2 { // a series
				rules += ".fill-" + t + "{fill:--" + t + "}polyline." + t + "{fill:none;stroke:--" + t + "}"
			}
		}
		rules = coloured(rules, colour)
		p := measure(c, fileHeight)
		width, height := fileWidth+2*fileEdge, p.total()+2*fileTitle+2*fileEdge
		fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img"><style>%s</style><rect width="100%%" height="100%%" fill="%s"></rect>`,
			width, height, width, height, rules, colour["--bg"])
		fmt.Fprintf(w, `<text class="title" x="%d" y="%d">%s</text><text class="caption" x="%d" y="%d">%s</text>`,
			fileEdge, fileEdge+12, templ.EscapeString(plain(c.Title)), fileEdge, fileEdge+12+18, templ.EscapeString(plain(captionOf(view.Chart{Caption: c.Caption, Note: c.Note}))))
		if _, err := fmt.Fprintf(w, `<svg x="%d" y="%d" width="%d" height="%d">`, fileEdge, fileEdge+2*fileTitle, fileWidth, p.total()); err != nil {
			return err
		}
		if err := drawing(c, p).Render(ctx, w); err != nil {
			return err
		}
		_, err := io.WriteString(w, "</svg></svg>\n")
		return err
	})
}

// palette reads the colours of a theme out of the stylesheet, so that there is one place for them.
func palette(dark bool) map[string]string {
	sheet, err := sheets.ReadFile("css/tokens.css")
	if err != nil {
		panic(err) // embedded at build time
	}
	colours := map[string]string{}
	blocks := strings.Split(string(sheet), ":root")[1:] // light, dark by the system, dark by choice
	for i, block := range blocks {
		if i > 0 && !(dark && i == len(blocks)-1) {
			continue
		}
		for line := range strings.Lines(block) {
			name, value, found := strings.Cut(strings.TrimSpace(line), ": ")
			if value = strings.TrimSuffix(value, ";"); found && strings.HasPrefix(name, "--") && strings.HasPrefix(value, "#") {
				colours[name] = value
			}
		}
	}
	return colours
}

// coloured puts colours in the place of the names of tokens.
func coloured(rules string, colours map[string]string) string {
	var b strings.Builder
	for {
		at := strings.Index(rules, "--")
		if at < 0 {
			b.WriteString(rules)
			return b.String()
		}
		end := at + 2
		for end < len(rules) && (rules[end] >= 'a' && rules[end] <= 'z' || rules[end] >= '0' && rules[end] <= '9' || rules[end] == '-') {
			end++
		}
		b.WriteString(rules[:at] + colours[rules[at:end]])
		rules = rules[end:]
	}
}

// chartName is the name of the file of a chart.
func chartName(c view.Chart) string { return ChartPrefix + strings.TrimSpace(c.ID) + ".svg" }
