package web

import (
	"fmt"
	"strconv"

	"github.com/rollscope/rollscope/core/view"
)

// Measures of the drawing of a flow. Lengths across are in thousandths of its width, lengths down in CSS pixels.
const (
	flowHeight = 300
	flowTop    = 12
	flowRoom   = 200 // height of the whole
	flowLeast  = 3   // of a band that is there at all
	flowNode   = 9.0 // width of a bar
	flowStep   = 280.0
	flowLeft   = 12.0
	flowGap    = 20 // between the ends of the last stage
)

func flowBox() string { return fmt.Sprintf("0 0 1000 %d", flowHeight) }

type (
	flowBand struct {
		mark view.Mark
		path string
	}
	flowBar struct {
		mark         view.Mark
		x, y, height float64
	}
	flowText struct {
		share    view.Share
		x, markX string
		y        float64
	}
)

// flowSize is the height of a number of rollouts.
func flowSize(f view.Flow, n int) float64 {
	if n == 0 || f.Start.Count == 0 {
		return 0
	}
	return max(flowRoom*float64(n)/float64(f.Start.Count), flowLeast)
}

// stages are the counts that are left at every stage, the start being the first.
func flowStages(f view.Flow) []view.Share { return append([]view.Share{f.Start}, f.Stages...) }

func flowX(stage int) float64 { return flowLeft + flowStep*float64(stage) }

// flowEnds are where the parts of the last stage end.
func flowEnds(f view.Flow) (list []flowBar) {
	y := float64(flowTop)
	for _, p := range f.Parts {
		h := flowSize(f, p.Count)
		list = append(list, flowBar{p.Mark, flowX(len(f.Stages) + 1), y, h})
		y += max(h, flowGap-6) + 6
	}
	return list
}

// flowBars are the bars of the stages, of what left on the way, and of the parts at the end.
func flowBars(f view.Flow) (list []flowBar) {
	for i, s := range flowStages(f) {
		list = append(list, flowBar{view.NoMark, flowX(i), flowTop, flowSize(f, s.Count)})
	}
	for i, l := range f.Losses {
		if l.Count > 0 {
			list = append(list, flowBar{l.Mark, flowX(i + 1), flowLossY, flowSize(f, l.Count)})
		}
	}
	for _, e := range flowEnds(f) {
		if e.height > 0 {
			list = append(list, e)
		}
	}
	return list
}

const flowLossY = flowTop + flowRoom + 26

// ribbon is a band from one height to another.
func ribbon(x0, y0, h0, x1, y1, h1 float64) string {
	n := func(f float64) string { return strconv.FormatFloat(f, 'f', 2, 64) }
	m := (x0 + x1) / 2
	return "M" + n(x0) + " " + n(y0) + "C" + n(m) + " " + n(y0) + " " + n(m) + " " + n(y1) + " " + n(x1) + " " + n(y1) +
		"L" + n(x1) + " " + n(y1+h1) + "C" + n(m) + " " + n(y1+h1) + " " + n(m) + " " + n(y0+h0) + " " + n(x0) + " " + n(y0+h0) + "Z"
}

// flowBands lead from each stage to the next and to what left there.
func flowBands(f view.Flow) (list []flowBand) {
	stages := flowStages(f)
	for i := 1; i < len(stages); i++ {
		x0, x1 := flowX(i-1)+flowNode, flowX(i)
		h := flowSize(f, stages[i].Count)
		if h > 0 {
			list = append(list, flowBand{view.NoMark, ribbon(x0, flowTop, h, x1, flowTop, h)})
		}
		if loss := flowSize(f, f.Losses[i-1].Count); loss > 0 {
			from := flowTop + max(flowSize(f, stages[i-1].Count)-loss, 0)
			list = append(list, flowBand{f.Losses[i-1].Mark, ribbon(x0, from, loss, x1, flowLossY, loss)})
		}
	}
	x0, y := flowX(len(f.Stages))+flowNode, float64(flowTop)
	whole := flowSize(f, stages[len(stages)-1].Count)
	for i, e := range flowEnds(f) {
		if e.height == 0 {
			continue
		}
		h := flowRoom * float64(f.Parts[i].Count) / float64(max(f.Start.Count, 1))
		h = min(max(h, 1), max(flowTop+whole-y, 1))
		list = append(list, flowBand{e.mark, ribbon(x0, y, h, e.x, e.y, e.height)})
		y += h
	}
	return list
}

// flowLabels say what every bar is.
func flowLabels(f view.Flow) (list []flowText) {
	at := func(s view.Share, x, y float64) {
		shift := 1.8
		if s.Mark == view.NoMark {
			shift = 0.6
		}
		list = append(list, flowText{s, percentage(x/10 + flowNode/10 + shift), percentage(x/10 + flowNode/10 + 0.5), y})
	}
	for i, s := range flowStages(f) {
		at(s, flowX(i), flowTop+flowSize(f, s.Count)/2+4)
	}
	for i, l := range f.Losses {
		at(l, flowX(i+1), flowLossY+6)
	}
	for i, e := range flowEnds(f) {
		at(f.Parts[i], e.x, e.y+max(e.height, 3)/2+4)
	}
	return list
}

func percentage(f float64) string { return strconv.FormatFloat(f, 'f', 2, 64) + "%" }

// flowShares are the parts that add up to what was asked for.
func flowShares(f view.Flow) []view.Share {
	return append(append([]view.Share{}, f.Parts...), f.Losses...)
}

// flowName says the flow in words.
func flowName(f view.Flow) string {
	name := plain(f.Start.Text + " " + f.Start.Word)
	for _, s := range flowShares(f) {
		name += ", " + plain(s.Text+" "+s.Word)
	}
	return name
}
