package view

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/rollscope/rollscope/core/metrics"
	"github.com/rollscope/rollscope/core/view/filter"
)

// passChart draws pass@k with its band and avg@k.
func (d *Desk) passChart(_ *selection, _ State, e *earned) (Chart, bool) {
	all := &e.scores.All
	points := all.Pass.Curve
	if len(points) < 2 {
		return Chart{}, false
	}
	pass := Curve{Name: "pass@k", Tone: "s1", Band: true, Points: []PlotPoint{}}
	avg := Curve{Name: "avg@k", Tone: "s3", Points: []PlotPoint{}}
	chart := Chart{ID: "passk", Title: "pass@k, avg@k", Kind: "plot"}
	low, high := math.Inf(1), math.Inf(-1)
	step := (len(points)-1)/mostCurve + 1
	for i, c := range points {
		if i%step != 0 && i != len(points)-1 {
			continue
		}
		if c.Tasks > 0 {
			p := PlotPoint{X: float64(c.K), Y: c.Pass, Low: c.Pass - normal95*c.SE, High: c.Pass + normal95*c.SE,
				Name: fmt.Sprintf("pass@%d: %s %% over %s", c.K, fixed(c.Pass, 2), count(c.Tasks, "task", "tasks"))}
			pass.Points = append(pass.Points, p)
			low, high = min(low, p.Low), max(high, p.High)
			chart.Bins = append(chart.Bins, Bin{Name: "pass@" + strconv.Itoa(c.K), Value: c.Pass, Text: fixed(c.Pass, 2)})
		}
		avg.Points = append(avg.Points, PlotPoint{X: float64(c.K), Y: c.Avg, Name: fmt.Sprintf("avg@%d: %s %%", c.K, fixed(c.Avg, 2))})
		low, high = min(low, c.Avg), max(high, c.Avg)
		chart.Bins = append(chart.Bins, Bin{Name: "avg@" + strconv.Itoa(c.K), Value: c.Avg, Text: fixed(c.Avg, 2)})
	}
	if inPercent(points) {
		// Where every value is a percentage, so is what the interval says of it.
		low, high = max(low, 0), min(high, 100)
		for i := range pass.Points {
			p := &pass.Points[i]
			p.Low, p.High = max(p.Low, 0), min(p.High, 100)
		}
	}
	chart.Plot = &Plot{X: Axis{Title: "k", Low: 1, High: float64(len(points)), Ticks: []Tick{}}, Y: linear("%", low, high, 4), Curves: []Curve{pass, avg}, Dots: []Dot{}}
	if chart.Plot.Y.High > 100 && high <= 100 {
		chart.Plot.Y.High = 100
	}
	every := (len(points)-1)/12 + 1
	for k := 1; k <= len(points); k += every {
		chart.Plot.X.Ticks = append(chart.Plot.X.Ticks, Tick{float64(k), strconv.Itoa(k)})
	}
	scored := all.Tasks - all.Slices[metrics.MissingTask]
	chart.Caption = fmt.Sprintf("%% of %s, ± 95 %%", count(scored, "task", "tasks"))
	if !e.scores.Binary {
		chart.Note = "rewards are not only 0 and 1: pass@k is the best of the first k"
	}
	return chart, true
}

// inPercent tells whether all values of a curve lie between 0 and 100.
func inPercent(points []metrics.PassPoint) bool {
	for _, c := range points {
		if c.Tasks > 0 && (c.Pass < 0 || c.Pass > 100) || c.Avg < 0 || c.Avg > 100 {
			return false
		}
	}
	return true
}

// mostCurve is how many points a curve has at most.
const mostCurve = 128

// solvedChart counts the tasks with every repeat measured by how many of them pass.
func (d *Desk) solvedChart(_ *selection, s State, e *earned) (Chart, bool) {
	all := &e.scores.All
	k := all.Pass.MaxK
	if k < 2 || k > mostRepeatBars || len(all.Solved) != k+1 {
		return Chart{}, false
	}
	whole := 0
	for _, n := range all.Solved {
		whole += n
	}
	if whole == 0 {
		return Chart{}, false
	}
	scored := all.Tasks - all.Slices[metrics.MissingTask]
	chart := Chart{ID: "solved", Title: "tasks by passed repeats", Kind: "bars", Caption: fmt.Sprintf("%s of %s", Group(whole), Group(scored))}
	if whole < scored {
		chart.Note = fmt.Sprintf("%s without a reward of all %d repeats", count(scored-whole, "task is", "tasks are"), k)
	}
	// The filter counts a repeat as solved if its reward is exactly 1.
	same := e.scores.Threshold == 1 && e.scores.Binary && !e.filtered && all.LeftOut.Duplicates == 0
	for n, tasks := range all.Solved {
		bin := Bin{Label: fmt.Sprintf("%d/%d", n, k), Value: float64(tasks), Text: Group(tasks)}
		if same && tasks > 0 {
			bin.Href = narrowed(s.ToTab("tasks"), fmt.Sprintf("task.solved=%d task.scored=%d", n, k))
		}
		chart.Bins = append(chart.Bins, bin)
	}
	return chart, true
}

// rewardChart is the distribution of the rewards that count.
func (d *Desk) rewardChart(_ *selection, s State, e *earned) (Chart, bool) {
	all := &e.scores.All
	if all.Measured == 0 {
		return Chart{}, false
	}
	chart := Chart{ID: "reward", Title: "rewards", Kind: "bars", Caption: fmt.Sprintf("%s of %s", Group(all.Measured), count(all.Expected, "rollout", "rollouts"))}
	if out := all.LeftOut.Total(); out > 0 {
		chart.Note = "left out: " + leftOut(&all.LeftOut).Text
	}
	to := s.ToTab("rollouts")
	only := ""
	if all.LeftOut.Masked > 0 {
		only = " not masked"
	}
	for _, v := range all.Rewards.Distinct {
		chart.Bins = append(chart.Bins, Bin{Label: shortReward(v.Value), Name: exactFloat(v.Value), Value: float64(v.N), Text: Group(v.N),
			Href: narrowed(to, filter.Equal("reward", number64(v.Value))+only)})
	}
	for i, b := range all.Rewards.Bins {
		closed := i == len(all.Rewards.Bins)-1
		chart.Bins = append(chart.Bins, Bin{Label: shortReward(b.Low), Name: exactFloat(b.Low) + " to " + exactFloat(b.High), Value: float64(b.N), Text: Group(b.N),
			Href: narrowed(to, filter.Between("reward", number64(b.Low), number64(b.High), closed)+only)})
	}
	return chart, true
}

// scatterChart puts two columns of the rows that count against each other.
func (d *Desk) scatterChart(c *selection, s State, e *earned) (chart Chart, axes [2]Control, ok bool) {
	columns := e.columns()
	if len(columns) < 2 || e.scores.All.Measured == 0 {
		return Chart{}, axes, false
	}
	x, y := s.Setting(setX), s.Setting(setY)
	if !slices.Contains(columns, x) {
		x = usual(columns, "", "output_tokens", "completion_tokens", "total_tokens")
	}
	if !slices.Contains(columns, y) {
		y = usual(columns, x, "reward")
	}
	for i, one := range [...]struct{ name, label, now string }{{setX, "across", x}, {setY, "up", y}} {
		axes[i] = Control{Label: one.label, Value: one.now, Many: true, Help: "a numeric field of the rows"}
		for n, name := range columns {
			if n == mostColumns {
				break
			}
			axes[i].Choices = append(axes[i].Choices, Choice{Value: name, Title: name, Href: s.Choose(one.name, name).Href(), On: name == one.now})
		}
	}
	key := x + "\x00" + y
	if e.scatter == nil || e.scatterKey != key {
		e.scatterKey, e.scatter = key, d.scattered(c, s, e, x, y)
	}
	return *e.scatter, axes, true
}

// mostColumns is how many columns are offered.
const mostColumns = 400

// columns are the numeric fields of the run.
func (e *earned) columns() []string {
	if e.all.Stats == nil {
		return nil
	}
	names := make([]string, len(e.all.Stats.Columns))
	for i := range names {
		names[i] = e.all.Stats.Columns[i].Name
	}
	return names
}

// usual picks the first of the wanted columns that is there, or else the first that is not the other one.
func usual(columns []string, other string, wanted ...string) string {
	for _, name := range wanted {
		if name != other && slices.Contains(columns, name) {
			return name
		}
	}
	for _, name := range columns {
		if name != other && name != "reward" {
			return name
		}
	}
	return columns[0]
}

func (d *Desk) scattered(c *selection, s State, e *earned, x, y string) *Chart {
	var xs, ys []float64
	var rows []int32
	measured := 0
	for i := range e.scores.Tasks {
		for n, row := range e.scores.Tasks[i].Rows {
			if n > 0 && e.run.Repeat(int(row)) == e.run.Repeat(int(e.scores.Tasks[i].Rows[n-1])) || e.run.Masked(int(row)) {
				continue
			}
			measured++
			a, okA := e.run.Column(int(row), x)
			b, okB := e.run.Column(int(row), y)
			if okA && okB && !math.IsInf(a, 0) && !math.IsInf(b, 0) {
				xs, ys, rows = append(xs, a), append(ys, b), append(rows, row)
			}
		}
	}
	chart := &Chart{ID: "scatter", Title: y + " against " + x, Kind: "plot"}
	chart.Caption, chart.Note = outOf(len(xs), measured, "lack one of the two")
	name := func(i int) string {
		return fmt.Sprintf("%s-%s: %s %s, %s %s", e.run.Task(int(rows[i])), e.run.Repeat(int(rows[i])), x, shortFloat(xs[i]), y, shortFloat(ys[i]))
	}
	chart.Plot = scatterOf(x, y, xs, ys, name, func(i int) string { return d.toRow(s, c, e.ordinal(rows[i])) })
	for i, dot := range chart.Plot.Dots {
		if i == mostDotRows {
			chart.Bins = append(chart.Bins, Bin{Name: "further places", Value: float64(len(chart.Plot.Dots) - i), Text: Group(len(chart.Plot.Dots) - i)})
			break
		}
		chart.Bins = append(chart.Bins, Bin{Name: dot.Name, Value: float64(dot.Size), Text: count(dot.Size, "rollout", "rollouts"), Href: dot.Href})
	}
	return chart
}

// mostDotRows is how many dots a scatter lists in its table.
const mostDotRows = 400
