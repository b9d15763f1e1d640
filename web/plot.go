package web

import (
	"math"
	"strings"

	"github.com/rollscope/rollscope/core/view"
)

// Measures of a plot: what stands at the sides of the area where points are.
const (
	plotLeft  = 5.0 // percent of the width
	plotRight = 4.0
)

// plotting lays the two scales of a plot out: across in percent of the chart's width, up in pixels.
type plotting struct {
	view.Plot
	height float64 // of the area
}

func plottingOf(c view.Chart, p plot) plotting { return plotting{*c.Plot, float64(p.height)} }

// across is where a value lies, in percent.
func (p plotting) across(x float64) string {
	return percent((plotLeft + (100-plotLeft-plotRight)*p.X.Part(x)) / 100)
}

// up is the distance of a value from the top of the drawing.
func (p plotting) up(y float64) float64 { return numbers + p.height*(1-p.Y.Part(y)) }

// line gives the points of a curve in a square of 1000 × 1000.
func (p plotting) line(list []view.PlotPoint, value func(view.PlotPoint) float64) string {
	var b strings.Builder
	for i, one := range list {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(number(10*(plotLeft+(100-plotLeft-plotRight)*p.X.Part(one.X))) + "," + number(1000*(1-p.Y.Part(value(one)))))
	}
	return b.String()
}

func middleOf(p view.PlotPoint) float64 { return p.Y }

// band is the area between the ends of the intervals.
func (p plotting) band(list []view.PlotPoint) string {
	back := make([]view.PlotPoint, len(list))
	for i, one := range list {
		back[len(list)-1-i] = one
	}
	return p.line(list, func(p view.PlotPoint) float64 { return p.High }) + " " + p.line(back, func(p view.PlotPoint) float64 { return p.Low })
}

// radius is that of a dot: its area grows with the rows it stands for.
func (p plotting) radius(d view.Dot) string {
	most := 1
	for _, one := range p.Dots {
		most = max(most, one.Size)
	}
	if most == 1 {
		return "3"
	}
	return number(1.5 + 6.5*math.Sqrt(float64(d.Size)/float64(most)))
}

// squared tells whether the points of a curve are squares: tones differ in shape as well.
func squared(tone string) bool { return tone == "s2" || tone == "s3" }

// ended gives the last point of a curve, where its name stands.
func ended(list []view.PlotPoint) view.PlotPoint { return list[len(list)-1] }

// names tells how far down the name of every curve stands: over its last point, or under the names before it where
// they would lie on each other.
func (p plotting) names() []float64 {
	const line = 12
	list := make([]float64, len(p.Curves))
	for i, v := range p.Curves {
		if len(v.Points) == 0 {
			list[i] = math.Inf(-1)
			continue
		}
		list[i] = p.up(ended(v.Points).Y) - 7
		for range i {
			for _, other := range list[:i] {
				if math.Abs(list[i]-other) < line {
					list[i] = other + line
				}
			}
		}
	}
	return list
}

// firstTitle is the head of a table's first column.
func firstTitle(t view.Table) string {
	if len(t.Columns) == 0 {
		return ""
	}
	return t.Columns[0].Title
}

// sameWords counts what is folded because it is equal.
func sameWords(n int) string {
	if n == 1 {
		return "1 item the same"
	}
	return view.Group(n) + " items the same"
}
