package view

import (
	"math"
	"strings"

	"github.com/rollscope/rollscope/core/timeline"
)

// treeOrder lists the invocations so that each stands behind its parent. Those of a circle of parents come last.
func (t *talk) treeOrder() []int {
	list := make([]int, 0, len(t.Invocations))
	seen := make([]bool, len(t.Invocations))
	var walk func(i int)
	walk = func(i int) {
		if seen[i] {
			return
		}
		seen[i] = true
		list = append(list, i)
		for _, k := range t.Invocations[i].Children {
			walk(k)
		}
	}
	for i := range t.Invocations {
		if t.Invocations[i].Parent < 0 {
			walk(i)
		}
	}
	for i := range t.Invocations {
		walk(i)
	}
	return list
}

// mostBranches is how many invocations the tree lists.
const mostBranches = 200

// tree lists the invocations of a rollout that has several.
func (t *talk) tree(s State) []Branch {
	list := []Branch{}
	if len(t.Invocations) < 2 {
		return list
	}
	took := map[int]float64{}
	line := t.timeline()
	for i := range line.Spans {
		if span := &line.Spans[i]; span.Kind == timeline.Invocation {
			took[span.Index] = span.End - span.Start
		}
	}
	now := -1
	if s.Turn > 0 && s.Turn <= len(t.Turns) {
		now = t.Turns[s.Turn-1].Invocation
	}
	for n, i := range t.treeOrder() {
		if n == mostBranches {
			list = append(list, Branch{Name: "+ " + count(len(t.Invocations)-n, "invocation", "invocations"), Note: "are in the table of the timeline"})
			break
		}
		in := &t.Invocations[i]
		var parts []string
		if in.Status != "" {
			parts = append(parts, in.Status)
		}
		parts = append(parts, count(len(in.Turns), "turn", "turns"), count(len(in.Calls), "call", "calls"), count(len(in.Tools), "tool call", "tool calls"))
		if in.At != nil && in.At.DurationMS.Set && !math.IsNaN(in.At.DurationMS.Value) {
			parts = append(parts, seconds(in.At.DurationMS.Value))
		} else if sec, placed := took[i]; placed {
			parts = append(parts, seconds(sec*1000))
		}
		b := Branch{Depth: in.Depth, Name: in.ID, Note: strings.Join(parts, " · "), Current: i == now}
		if in.Status == "failed" || in.At != nil && !in.At.ErrorType.Empty() {
			b.Mark = MarkFailed
		}
		if len(in.Turns) > 0 {
			b.Href = t.toSpot(s, spot{'i', i})
		}
		list = append(list, b)
	}
	return list
}

// facts are the groups of the facts column that need the row's text: time, and what is missing.
func (t *talk) facts(s State) []FactGroup {
	var groups []FactGroup
	line := t.timeline()
	if len(line.Spans) > 0 {
		g := FactGroup{Title: "Time", Note: "min:s", Facts: []Fact{{Label: "from first to last", Value: Text{Text: minutes(line.End - line.Start), Title: exactSeconds(line.End - line.Start)}}}}
		for _, kind := range [...]timeline.Kind{timeline.ModelCall, timeline.ToolCall} {
			sum, n := 0.0, 0
			for i := range line.Spans {
				if span := &line.Spans[i]; span.Kind == kind {
					n++
					sum += math.Abs(span.End - span.Start)
				}
			}
			if n > 0 {
				one := kind.String()
				g.Facts = append(g.Facts, Fact{Label: count(n, one, one+"s"), Value: Text{Text: minutes(sum), Title: exactSeconds(sum) + ", added up"}})
			}
		}
		if n := len(line.Unplaced); n > 0 {
			g.Facts = append(g.Facts, Fact{Label: "without a place in time", Value: Text{Text: Group(n)}})
		}
		groups = append(groups, g)
	}
	if t.Record != nil && len(t.Record.Gaps) > 0 {
		g := FactGroup{Title: "Gaps", Note: Group(len(t.Record.Gaps)), Facts: []Fact{}}
		for i := range t.Record.Gaps {
			if i == mostPlaces {
				g.Facts = append(g.Facts, Fact{Label: "more", Value: Text{Text: Group(len(t.Record.Gaps) - i)}})
				break
			}
			gap := &t.Record.Gaps[i]
			about := strings.TrimSpace(gap.InvocationID.String() + " " + gap.Detail.String())
			g.Facts = append(g.Facts, Fact{Label: gap.Code.String(), Value: Text{Text: about}})
		}
		groups = append(groups, g)
	}
	if t.bundleErr != nil {
		groups = append(groups, FactGroup{Title: "Observations", Facts: []Fact{{Label: "not valid", Value: Text{Text: t.bundleErr.Error()}}}})
	}
	return groups
}
