package view

import (
	"math"
	"slices"
	"strconv"
)

// A Plot is a chart with two scales: curves with their bands, and dots.
type Plot struct {
	X, Y   Axis
	Curves []Curve
	Dots   []Dot
}

// An Axis is a scale.
type Axis struct {
	Title     string
	Low, High float64
	Ticks     []Tick
}

// A Tick is a labelled place of a scale.
type Tick struct {
	At   float64
	Text string
}

// A Curve joins points in their order.
type Curve struct {
	Name   string
	Tone   string // s1 … s4, with a shape of its own
	Points []PlotPoint
	Band   bool // the points have an interval each
}

// A PlotPoint is a point of a curve.
type PlotPoint struct {
	X, Y, Low, High float64
	Name            string // in words, for pointers and screen readers
}

// A Dot is one or more rows at nearly the same place.
type Dot struct {
	X, Y float64
	Size int // rows
	Name string
	Href string
}

// linear makes a scale that holds low and high, with round ticks.
func linear(title string, low, high float64, most int) Axis {
	if !(low <= high) {
		low, high = 0, 1
	}
	if low == high {
		low, high = low-0.5*max(math.Abs(low)*0.1, 1), high+0.5*max(math.Abs(high)*0.1, 1)
	}
	a := Axis{Title: title, Ticks: []Tick{}}
	step := niceMax((high/2 - low/2) / float64(most) * 2)
	a.Low, a.High = math.Floor(low/step)*step, math.Ceil(high/step)*step
	if math.IsInf(a.Low, 0) || math.IsInf(a.High, 0) || !(a.High > a.Low) || step == 0 {
		a.Low, a.High = low, high
		return a
	}
	decimals := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
	if step*math.Pow(10, float64(decimals)) != math.Trunc(step*math.Pow(10, float64(decimals))) {
		decimals++
	}
	for n := 0; n <= 2*most; n++ {
		at := a.Low + float64(n)*step
		if at > a.High+step/2 {
			break
		}
		text := shortFloat(at)
		if math.Abs(at) < 1e6 {
			text = fixed(at, min(decimals, 6))
		}
		if math.Abs(at) >= 1000 {
			text = borderText(round(at))
		}
		a.Ticks = append(a.Ticks, Tick{at, text})
	}
	return a
}

// Part is where a value lies on the scale, between 0 and 1.
func (a Axis) Part(x float64) float64 {
	if width := a.High/2 - a.Low/2; width > 0 {
		return min(max((x/2-a.Low/2)/width, 0), 1)
	}
	return 0.5
}

// Measures of a scatter.
const (
	scatterDots    = 400 // rows that have a dot each
	scatterColumns = 48  // of places where dots are put together
	scatterRows    = 24
)

// scatterOf puts pairs of values on a plane. Many of them share a dot with their neighbours, whose size tells how many
// there are. name and href are of single ones.
func scatterOf(xTitle, yTitle string, x, y []float64, name func(i int) string, href func(i int) string) *Plot {
	p := &Plot{Curves: []Curve{}, Dots: []Dot{}}
	p.X, p.Y = linear(xTitle, least(x), greatest(x), 6), linear(yTitle, least(y), greatest(y), 4)
	if len(x) <= scatterDots {
		for i := range x {
			p.Dots = append(p.Dots, Dot{X: x[i], Y: y[i], Size: 1, Name: name(i), Href: href(i)})
		}
		return p
	}
	type place struct{ column, row int }
	at := map[place][]int{}
	var order []place
	for i := range x {
		k := place{int(p.X.Part(x[i]) * (scatterColumns - 1)), int(p.Y.Part(y[i]) * (scatterRows - 1))}
		if at[k] == nil {
			order = append(order, k)
		}
		at[k] = append(at[k], i)
	}
	slices.SortFunc(order, func(a, b place) int { return (a.row-b.row)*scatterColumns + a.column - b.column })
	for _, k := range order {
		list := at[k]
		if len(list) == 1 {
			p.Dots = append(p.Dots, Dot{X: x[list[0]], Y: y[list[0]], Size: 1, Name: name(list[0]), Href: href(list[0])})
			continue
		}
		var sx, sy float64
		for _, i := range list {
			sx += x[i] / float64(len(list))
			sy += y[i] / float64(len(list))
		}
		p.Dots = append(p.Dots, Dot{X: sx, Y: sy, Size: len(list), Name: Group(len(list)) + " rollouts around " + shortFloat(sx) + ", " + shortFloat(sy)})
	}
	return p
}

func least(list []float64) float64 {
	if len(list) == 0 {
		return 0
	}
	return slices.Min(list)
}

func greatest(list []float64) float64 {
	if len(list) == 0 {
		return 1
	}
	return slices.Max(list)
}

// exactFloat is a double as data-value has it: the shortest text that reads back as the same.
func exactFloat(f float64) string {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return ""
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}
