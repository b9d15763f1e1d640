package view

import (
	"fmt"
	"strconv"

	"github.com/rollscope/rollscope/core/view/filter"
)

// rolloutFacts is the strip above the rows: sums and means over the rows of the filter.
func (d *Desk) rolloutFacts(c *selection, s State, found *matches) []Fact {
	rows := found.len(c)
	facts := []Fact{}
	for v, n := range found.verdicts(c) {
		word := verdictWords[v]
		value := Text{Text: Group(n), Mark: Mark(word)}
		if n > 0 && n < rows {
			value.Href = narrowed(s, filter.Equal("verdict", filter.Text(word)))
		}
		facts = append(facts, Fact{Label: word, Value: value, Note: Text{Text: percent(n, rows)}})
	}
	columns := &c.tally.series
	var reward, completion, calls, failed total
	masked, tasks := 0, newMarks(len(columns.tasks))
	for i := range found.each(c) {
		if columns.masked[i] {
			masked++
		} else {
			reward.add(columns.reward[i])
		}
		completion.add(columns.completion[i])
		calls.add(counted(columns.calls[i]))
		failed.add(counted(columns.failed[i]))
		tasks.set(columns.task[i])
	}
	facts = append(facts, rewardFact(reward, rows, masked),
		Fact{Label: "tasks", Value: Text{Text: Group(tasks.n)}, Note: Text{Text: "of " + Group(len(columns.tasks))}})
	if calls.n > 0 {
		facts = append(facts, Fact{Label: "model calls", Value: Text{Text: calls.text()}, Note: Text{Text: failed.text() + " failed" + ofRows(calls.n, rows)}})
	}
	return append(facts, sumFact("completion tokens", completion, rows, "no row's usage says how many"))
}

// rewardFact is the mean of the rewards that are numbers. Masked rows are left out and told.
func rewardFact(t total, rows, masked int) Fact {
	f := Fact{Label: "reward", Value: Text{Text: Dash, Title: "no row has a number as reward"}, Note: Text{Text: "mean, 0 of " + Group(rows)}}
	if mean, ok := t.mean(); ok {
		f.Value = Text{Text: fixed(mean, 4), Title: strconv.FormatFloat(mean, 'g', -1, 64)}
		f.Note.Text = fmt.Sprintf("mean, %s of %s", Group(t.n), Group(rows))
	}
	if masked > 0 {
		f.Note.Text += ", " + Group(masked) + " masked"
		f.Note.Title = "rows with mask_sample are left out"
	}
	return f
}

func sumFact(label string, t total, rows int, missing string) Fact {
	if t.n == 0 {
		return Fact{Label: label, Value: Text{Text: Dash, Title: missing}, Note: Text{Text: "0 of " + Group(rows)}}
	}
	return Fact{Label: label, Value: Text{Text: t.text()}, Note: Text{Text: fmt.Sprintf("%s of %s", Group(t.n), Group(rows))}}
}

// ofRows tells how many rows a sum is of, where that is not all of them.
func ofRows(n, rows int) string {
	if n == rows {
		return ""
	}
	return fmt.Sprintf(", %s of %s rows", Group(n), Group(rows))
}

// marks is a set of small numbers that knows its size.
type marks struct {
	bits []uint64
	n    int
}

func newMarks(size int) *marks { return &marks{bits: make([]uint64, size/64+1)} }

func (m *marks) set(i int32) {
	if word, bit := i/64, uint64(1)<<(i%64); m.bits[word]&bit == 0 {
		m.bits[word] |= bit
		m.n++
	}
}
