package view

import (
	"fmt"
	"strconv"

	"github.com/rollscope/rollscope/core/metrics"
)

// A sliceSum is what the tasks of a slice come to.
type sliceSum struct {
	tasks, measured, expected, incomplete int
	sum                                   float64
	out                                   metrics.LeftOut
}

func (s *sliceSum) add(t *metrics.TaskScore) {
	s.tasks++
	s.measured += t.Measured
	s.expected += t.Expected
	s.out.Failed += t.Failed
	s.out.Omitted += t.Omitted
	s.out.Masked += t.Masked
	if rest := t.Expected - t.Measured - t.Failed - t.Omitted - t.Masked; rest > 0 {
		s.out.Missing += rest
	}
	if t.Measured > 0 {
		s.sum += t.Mean * float64(t.Measured)
	}
	if t.Incomplete {
		s.incomplete++
	}
}

// sliceTable counts tasks by how they go, then those with failed rollouts by the class of the failure. A line lists
// its tasks below.
func (d *Desk) sliceTable(_ *selection, s State, e *earned) Table {
	t := Table{ID: "slices", Caption: "tasks by slice", Height: 24, Rows: []Row{}, Empty: "There are no tasks.", Columns: []Column{
		{Key: "slice", Title: "slice", Grow: true}, {Key: "tasks", Title: "tasks", Right: true}, {Key: "share", Title: "share", Right: true},
		{Key: "mean", Title: "mean reward", Right: true}, {Key: "measured", Title: "measured", Right: true}, {Key: "incomplete", Title: "incomplete", Right: true, Help: "tasks that lack a reward of an expected rollout"},
		{Key: "out", Title: "left out"},
	}}
	now := s.Setting(setSlice)
	add := func(id string, name Text, sum *sliceSum) {
		to := id
		if to == now {
			to = ""
		}
		name.Href = s.Choose(setSlice, to).Href()
		if sum.tasks == 0 && id != now {
			name.Href = ""
		}
		row := Row{ID: "slice-" + strconv.Itoa(len(t.Rows)), Index: len(t.Rows), Href: name.Href, Selected: id == now && now != "", Cells: []Cell{
			{Text: name}, wide(int64(sum.tasks)), {Text: Text{Text: percent(sum.tasks, len(e.scores.Tasks))}}, meanCell(sum.sum/float64(sum.measured), 4, sum.measured > 0),
			{Text: Text{Text: Group(sum.measured)}, Extra: Text{Text: "of " + Group(sum.expected)}, Exact: strconv.Itoa(sum.measured)},
			wide(int64(sum.incomplete)), {Text: leftOut(&sum.out)},
		}}
		t.Rows = append(t.Rows, row)
	}
	var sums [metrics.SliceCount]sliceSum
	var failed sliceSum
	classes := map[string]*sliceSum{}
	for i := range e.scores.Tasks {
		task := &e.scores.Tasks[i]
		sums[task.Slice].add(task)
		if task.Failed > 0 {
			failed.add(task)
		}
		for _, class := range task.Classes {
			if classes[class] == nil {
				classes[class] = new(sliceSum)
			}
			classes[class].add(task)
		}
	}
	for _, slice := range [...]metrics.Slice{metrics.Always, metrics.Sometimes, metrics.Never, metrics.MissingTask} {
		add(slice.String(), Text{Text: slice.String(), Mark: sliceMarks[slice]}, &sums[slice])
	}
	if failed.tasks > 0 {
		add(sliceFailed, Text{Text: "with a failed rollout", Mark: MarkFailed}, &failed)
	}
	for i, class := range e.scores.Classes {
		if i == mostClasses {
			t.Note = fmt.Sprintf("the %s most frequent of %s failure classes", Group(i), Group(len(e.scores.Classes)))
			break
		}
		name := Text{Text: class.Class, Mark: MarkFailed, Mono: true, Title: count(class.Rollouts, "failed rollout", "failed rollouts")}
		if class.Class == "" {
			name.Text, name.Mono = "without a class", false
		}
		add(sliceFailed+":"+class.Class, name, classes[class.Class])
	}
	if t.Total = len(t.Rows); t.Note == "" {
		t.Note = "passes from a reward of " + shortFloat(e.scores.Threshold)
	}
	t.Links = exports(t.ID)
	return t
}

// mostClasses bounds the failure classes that are listed.
const mostClasses = 50
