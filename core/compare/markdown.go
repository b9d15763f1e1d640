package compare

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/metrics"
	"github.com/rollscope/rollscope/core/rollout"
)

// Dash stands for a value that is missing.
const Dash = "—"

func wholeIndex(k rollout.Key) integer.Int { return integer.FromUint(k.Int.Negative, k.Int.Magnitude) }

// Fixed writes a number for a report: four decimals below ten, two above (spec metrics §12.7).
func Fixed(x float64, signed bool) string {
	decimals := 2
	if math.Abs(x) < 10 {
		decimals = 4
	}
	text := strconv.FormatFloat(x, 'f', decimals, 64)
	if signed && text[0] != '-' {
		text = "+" + text
	}
	return text
}

// Text writes the number, a dash if there is none.
func (o Optional) Text(signed bool) string {
	if !o.OK {
		return Dash
	}
	return Fixed(o.X, signed)
}

// span writes an interval.
func span(low, high Optional, signed bool) string {
	if !low.OK || !high.OK {
		return Dash
	}
	return "[" + low.Text(signed) + ", " + high.Text(signed) + "]"
}

// Cells are the cells of a metric's row, for its first candidate: name, delta, its interval, and number and interval
// of both sides.
func (m *Metric) Cells() []string {
	side := func(s *Side) (number, interval string) {
		if s == nil {
			return Dash, Dash
		}
		return finite(s.Compared()).Text(false), span(s.Low, s.High, false)
	}
	delta, interval := Dash, Dash
	if c := m.Candidates[0]; c != nil && c.Delta.OK {
		percent := "n/a"
		if c.Percent.OK {
			percent = strconv.FormatFloat(c.Percent.X, 'f', 1, 64) + "%"
			if percent[0] != '-' {
				percent = "+" + percent
			}
		}
		delta = c.Delta.Text(true) + " (" + percent + ")"
		interval = span(c.DeltaLow, c.DeltaHigh, true)
	}
	bn, bi := side(m.Baseline)
	cn, ci := side(m.Candidates[0])
	return []string{m.Name, delta, interval, bn, bi, cn, ci}
}

// Cells are the cells of a flip: task, direction, scores, delta, and rewards of both sides.
func (f *Flip) Cells() []string {
	direction := string(f.Direction)
	switch f.Direction {
	case PassToFail:
		direction = "pass→fail"
	case FailToPass:
		direction = "fail→pass"
	}
	return []string{
		f.Task.String(), direction, Fixed(f.Baseline, false), Fixed(f.Candidate, false), Fixed(f.Delta, true),
		rewards(f.BaselineRewards), rewards(f.CandidateRewards),
	}
}

func rewards(list []metrics.Number) string {
	if list == nil {
		return Dash
	}
	var b strings.Builder
	for i, n := range list {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(general(n.Float()))
	}
	return b.String()
}

// general writes a number with six significant digits, as %g does in the reference's language: trailing zeros go,
// and an exponent has two digits at least.
func general(x float64) string {
	text := strconv.FormatFloat(x, 'e', 5, 64)
	mantissa, exponent, ok := strings.Cut(text, "e")
	if !ok {
		return text
	}
	e, _ := strconv.Atoi(exponent)
	if e < -4 || e >= 6 {
		if strings.Contains(mantissa, ".") {
			mantissa = strings.TrimRight(strings.TrimRight(mantissa, "0"), ".")
		}
		return fmt.Sprintf("%se%+03d", mantissa, e)
	}
	text = strconv.FormatFloat(x, 'f', 5-e, 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// ShownFlips are the flips that reports show: at most ten of a direction.
func (f *Flips) ShownFlips() []Flip {
	list := []Flip{}
	count := map[Direction]int{}
	for _, flip := range f.List {
		if count[flip.Direction]++; count[flip.Direction] <= Shown {
			list = append(list, flip)
		}
	}
	return list
}

// Sentence says in one line how tasks moved.
func (f *Flips) Sentence() string {
	tasks := fmt.Sprintf("%d tasks on both sides", f.Common)
	if f.Common == 1 {
		tasks = "1 task on both sides"
	}
	switch f.Mode {
	case Binary:
		return fmt.Sprintf("%s: %d pass→fail, %d fail→pass (net %+d), %d unchanged, %d tied.", tasks, f.PassToFail, f.FailToPass, f.Net(), f.Unchanged, f.Tied)
	case Continuous:
		return fmt.Sprintf("%s: the reward of %d changed, that of %d did not.", tasks, len(f.List), f.Unchanged)
	}
	return "How tasks moved cannot be told. " + f.Reason
}

// Markdown is the report for people.
func (r *Report) Markdown(h *Heading) []byte {
	m := &markdown{}
	m.line("# Comparison of two runs")
	for i := range r.Comparisons {
		c := &r.Comparisons[i]
		if len(r.Comparisons) > 1 {
			m.line("## Agent " + code(c.Baseline.Label))
		}
		m.runs(h, c)
		m.metrics(c)
		m.flips(&c.Flips[0])
		m.oneSided(c)
		m.list("### Notes", c.Notes)
	}
	m.list("## Warnings", r.Warnings)
	made := h.Generated
	if made != "" {
		made += " "
	}
	m.line(fmt.Sprintf("Made %sby rollscope %s after the rules of nemo-gym %s: %s", made, plain(h.Program), h.Rules, code(h.Command)))
	return []byte(m.b.String())
}

type markdown struct{ b strings.Builder }

// line writes a paragraph.
func (m *markdown) line(text string) {
	if m.b.Len() > 0 {
		m.b.WriteByte('\n')
	}
	m.b.WriteString(text)
	m.b.WriteByte('\n')
}

func (m *markdown) list(title string, items []string) {
	if len(items) == 0 {
		return
	}
	m.line(title)
	m.b.WriteByte('\n')
	for _, item := range items {
		m.b.WriteString("- " + plain(item) + "\n")
	}
}

// table writes a table unless it has no rows. Titles that end in a colon are those of numbers.
func (m *markdown) table(titles []string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	m.b.WriteByte('\n')
	head, rule := "|", "|"
	for _, t := range titles {
		name, number := strings.CutSuffix(t, ":")
		head += " " + name + " |"
		if number {
			rule += "---:|"
		} else {
			rule += "---|"
		}
	}
	m.b.WriteString(head + "\n" + rule + "\n")
	for _, r := range rows {
		m.b.WriteString("| " + strings.Join(r, " | ") + " |\n")
	}
}

func (m *markdown) runs(h *Heading, c *Comparison) {
	repeats := func(e *Entry) string {
		if e.RepeatCount < 0 {
			return "unknown"
		}
		return strconv.Itoa(e.RepeatCount)
	}
	source := func(r *Run) string {
		if r.Metrics == "" {
			return "derived from the rows"
		}
		return code(r.Metrics)
	}
	b, d := c.Baseline, c.Candidates[0]
	m.table([]string{"", "Baseline", "Candidate"}, [][]string{
		{"run", code(h.Baseline.Label), code(h.Candidate.Label)},
		{"rollouts", code(h.Baseline.Rollouts), code(h.Candidate.Rollouts)},
		{"metrics", source(&h.Baseline), source(&h.Candidate)},
		{"agent", code(b.Label), code(d.Label)},
		{"tasks", strconv.Itoa(b.Groups), strconv.Itoa(d.Groups)},
		{"repeats", repeats(b), repeats(d)},
	})
}

var metricTitles = []string{"metric", "Δ:", "95 % of Δ", "baseline:", "95 %", "candidate:", "95 %"}

func (m *markdown) metrics(c *Comparison) {
	var key, other [][]string
	for i := range c.Metrics {
		cells := c.Metrics[i].Cells()
		cells[0] = code(cells[0])
		if c.Metrics[i].Key {
			key = append(key, cells)
		} else {
			other = append(other, cells)
		}
	}
	if len(key) > 0 {
		m.line("### Key metrics")
		m.table(metricTitles, key)
	}
	if len(other) > 0 {
		m.line(fmt.Sprintf("<details>\n<summary>Other metrics (%d)</summary>", len(other)))
		m.table(metricTitles, other)
		m.line("</details>")
	}
	m.line("Δ is candidate − baseline, of the means across repeats where both are known. Its interval is Welch's, with repeats as independent samples; " + Dash + " means that the data for it is missing.")
}

func (m *markdown) flips(f *Flips) {
	m.line("### Tasks that moved")
	m.line(plain(f.Sentence()))
	if f.Mode == Unavailable {
		return
	}
	rows := [][]string{}
	for _, flip := range f.ShownFlips() {
		cells := flip.Cells()
		cells[0] = plain(cells[0])
		rows = append(rows, cells)
	}
	m.table([]string{"task:", "direction", "baseline:", "candidate:", "Δ:", "baseline by repeat", "candidate by repeat"}, rows)
	if more := len(f.List) - len(rows); more > 0 {
		m.line(fmt.Sprintf("%d more are in %s.", more, code(ReportJSON)))
	}
	m.line("Tasks are joined by their index alone, since metrics files name no task. That is right only if both runs had the same dataset, split, limit and order.")
}

func (m *markdown) oneSided(c *Comparison) {
	items := []string{}
	for i := range c.Metrics {
		if p := c.Metrics[i].present(); len(p) == 1 {
			items = append(items, c.Metrics[i].Name+" ("+p[0]+")")
		}
	}
	m.list("### On one side only", items)
}

// code writes a text as code that no table and no fence of it can break.
func code(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7F {
			return ' '
		}
		return r
	}, text)
	text = strings.ReplaceAll(text, "|", `\|`)
	fence := "`"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	if len(fence) > 1 {
		return fence + " " + text + " " + fence
	}
	return fence + text + fence
}

// plain writes a text so that nothing in it is markup.
func plain(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r < ' ' || r == 0x7F:
			r = ' '
		case strings.ContainsRune("\\`*_[]<>|#", r):
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
