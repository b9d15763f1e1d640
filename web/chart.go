package web

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rollscope/rollscope/core/view"
)

// Measures of a chart in CSS pixels. Widths are shares of the chart's own width, so that a chart fits its place
// and its letters stay as they are; only what depends on the width of letters assumes a nominal one.
const (
	nominal  = 216 // width that labels are thinned out for
	numbers  = 14  // room above the bars for their numbers
	labels   = 16  // room below the axis
	digit    = 6.4 // width of a character of 11 px
	manyBins = 500 // marks that may be links; a longer line has none
	wordy    = 8   // bars that each have a label, however short
	slots    = 5   // a chart of fewer bars is no wider than one of so many
)

// Heights of the plotted area.
const (
	lowChart   = 26
	smallChart = 50
	tallChart  = 124
	plotChart  = 150

	courseChart = 140
	spreadChart = 84
)

// plot is a chart as it is drawn.
type plot struct {
	height  int  // of the plotted area
	plotted bool // two scales are drawn, with labels below
	marks   []plotMark
	labels  []plotLabel
	line    string // points of a line, in a square of 1000 × 1000
	area    string
	top     string // label of the upper end of a line's scale
}

// plotMark is one bin: its bar, the column around it that takes a click, and its number.
type plotMark struct {
	bin         view.Bin
	x, width    string // of the bar
	left, reach string // of the column
	y, height   string
	middle      string // of the number
	numberY     string
	number      string // "" where it would not fit
	name        string // for pointers and screen readers
}

type plotLabel struct{ x, anchor, text string }

// measure lays a chart out.
func measure(c view.Chart, height int) plot {
	p := plot{height: height, plotted: c.Plot != nil}
	n := len(c.Bins)
	if n == 0 || c.Plot != nil {
		return p
	}
	top := c.Max
	if !(top > 0) || math.IsInf(top, 0) {
		top = 0
		for _, b := range c.Bins {
			if !math.IsInf(b.Value, 0) && !math.IsNaN(b.Value) {
				top = max(top, b.Value)
			}
		}
		if top == 0 {
			top = 1
		}
	}
	largest, widest := 0, 0
	for i, b := range c.Bins {
		if b.Value > c.Bins[largest].Value {
			largest = i
		}
		widest = max(widest, utf8.RuneCountInString(b.Text))
	}
	step := float64(n)
	if c.Kind == "bars" {
		step = float64(max(n, slotsOf(c)))
	}
	gap := min(0.0075, 0.2/step)
	every := c.Kind != "strip" && float64(widest)*digit <= nominal/step+4
	for i, b := range c.Bins {
		part := unit(b.Value / top)
		tall := part * float64(height)
		if part > 0 {
			tall = max(tall, 1)
		}
		y := float64(numbers) + float64(height) - tall
		m := plotMark{
			bin: b, x: percent(float64(i)/step + gap/2), width: percent(1/step - gap),
			left: percent(float64(i) / step), reach: percent(1 / step),
			y: number(y), height: number(tall),
			middle: percent((float64(i) + 0.5) / step), numberY: number(y - 3),
			name: plain(binTitle(b, i)),
		}
		if every || i == largest {
			m.number = b.Text
		}
		p.marks = append(p.marks, m)
	}
	p.labels = axis(c)
	if c.Kind == "line" {
		var points strings.Builder
		for i, b := range c.Bins {
			x := 500.0
			if n > 1 {
				x = float64(i) / (step - 1) * 1000
			}
			if i > 0 {
				points.WriteByte(' ')
			}
			points.WriteString(number(x) + "," + number(1000-unit(b.Value/top)*1000))
		}
		p.line = points.String()
		p.area = "0,1000 " + p.line + " 1000,1000"
		p.top = c.Bins[largest].Text
	}
	return p
}

// axis thins the labels of the bins out until they fit. All of them stand under the middle of their bars; chosen
// ones begin where their bars do.
func axis(c view.Chart) []plotLabel {
	n, widest := len(c.Bins), 0
	for _, b := range c.Bins {
		widest = max(widest, utf8.RuneCountInString(b.Label))
	}
	if widest == 0 || c.Kind == "strip" {
		return nil
	}
	var list []plotLabel
	if c.Kind == "line" {
		for k, anchor := range [...]string{"start", "middle", "end"} {
			list = append(list, plotLabel{percent(float64(k) / 2), anchor, c.Bins[k*(n-1)/2].Label})
		}
		return list
	}
	wide := float64(max(n, slotsOf(c))) // a strip has no labels, a line has its own
	room := nominal / wide
	if float64(widest)*digit+4 <= room {
		for i, b := range c.Bins {
			list = append(list, plotLabel{percent((float64(i) + 0.5) / wide), "middle", b.Label})
		}
		return list
	}
	if n <= wordy {
		// Few bars have names rather than numbers: each keeps as much of its name as there is room for.
		for i, b := range c.Bins {
			list = append(list, plotLabel{percent((float64(i) + 0.5) / wide), "middle", clipped(b.Label, int((room-4)/digit))})
		}
		return list
	}
	every := int(math.Ceil((float64(widest)*digit + 10) / room))
	for i := 0; i < n; i += every {
		if left := float64(n-i) * room; left < float64(widest)*digit {
			break
		}
		list = append(list, plotLabel{percent(float64(i) / wide), "start", c.Bins[i].Label})
	}
	return list
}

// binTitle is what a bin is called: its name and its number.
func binTitle(b view.Bin, i int) string {
	return binName(b, i) + ": " + binValue(b)
}

// binName is the name of bin i in full: its label where it has no other, its number where it has neither.
func binName(b view.Bin, i int) string {
	switch {
	case b.Name != "":
		return b.Name
	case b.Label != "":
		return b.Label
	}
	return "bin " + decimal(i+1)
}

func binValue(b view.Bin) string {
	if b.Text != "" {
		return b.Text
	}
	return strconv.FormatFloat(b.Value, 'g', -1, 64)
}

// total is the height of the whole drawing.
func (p plot) total() int {
	if len(p.labels) == 0 && !p.plotted {
		return numbers + p.height + 1
	}
	return numbers + p.height + labels
}

func (p plot) base() string { return decimal(numbers + p.height) }

// A segment is one part of a stacked bar.
type segment struct {
	x, width string
	share    view.Share
}

// segments lays the parts of a whole out side by side. A part that would be too thin to see is drawn a little
// wider, least of the whole, at the cost of the others; a part of nothing is not drawn.
func segments(shares []view.Share, least float64) []segment {
	thin, thick := 0.0, 0.0
	for _, s := range shares {
		switch part := unit(s.Part); {
		case part == 0:
		case part < least:
			thin += least
		default:
			thick += part
		}
	}
	if thin+thick == 0 {
		return nil
	}
	scale := 1.0
	if thick > 0 {
		scale = max(1-thin, 0) / thick
	}
	var list []segment
	at := 0.0
	for _, s := range shares {
		part := unit(s.Part)
		switch {
		case part == 0:
			continue
		case part < least:
			part = least
		default:
			part *= scale
		}
		list = append(list, segment{percent(at), percent(part), s})
		at += part
	}
	return list
}

// sharesName says in words what a stacked bar shows.
func sharesName(shares []view.Share) string {
	var b strings.Builder
	for i, s := range shares {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(s.Word + " " + s.Text)
	}
	return plain(b.String())
}

// leastPart is about three pixels of the places where stacked bars of a height stand: a panel or a cell.
func leastPart(height int) float64 {
	if height < 14 {
		return 0.03
	}
	return 0.011
}

// captionOf is what stands over a chart, and what is not in it.
func captionOf(c view.Chart) string {
	var parts []string
	for _, part := range [...]string{c.Title, c.Caption, c.Note} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ", ")
}

// slotsOf is how many bars a chart has room for at least: few with names, more with numbers.
func slotsOf(c view.Chart) int {
	for _, b := range c.Bins {
		if utf8.RuneCountInString(b.Label) > 5 {
			return 3
		}
	}
	return slots
}

// clipped cuts a label that does not fit; a number loses decimals, as long as something of it is left.
func clipped(s string, most int) string {
	r := []rune(s)
	if len(r) <= most {
		return s
	}
	if f, err := strconv.ParseFloat(s, 64); err == nil && strings.Trim(s, "+-.0123456789") == "" {
		sign := ""
		if s[0] == '+' {
			sign = "+"
		}
		for decimals := most; decimals >= 0; decimals-- {
			text := sign + strconv.FormatFloat(f, 'f', decimals, 64)
			if len(text) <= most && strings.ContainsAny(text, "123456789") {
				return text
			}
		}
	}
	return string(r[:max(most-1, 1)]) + "…"
}

// anchorOf is how the i-th of n labels stands at its place: those at the ends stay inside.
func anchorOf(i, n int) string {
	switch {
	case n > 1 && i == 0:
		return "start"
	case n > 1 && i == n-1:
		return "end"
	}
	return "middle"
}
