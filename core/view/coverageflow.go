package view

import (
	"fmt"
	"strings"

	"github.com/rollscope/rollscope/core/omitted"
)

// toFate is the link to the expected rollouts, or the rows, with one fate.
func toFate(s State, part fate) string {
	term := "disposition:" + string(fateInfos[part].disposition)
	if m := fateInfos[part].measurement; m != "" {
		term = "measurement:" + string(m)
	}
	return s.ToTab("coverage").With(func(t *State) {
		if s.Tab == "coverage" {
			t.Columns = s.Columns
		}
		t.Filter = withTerm(s.Filter, term)
	}).Href()
}

func toState(s State, state string) string {
	return s.ToTab("coverage").With(func(t *State) {
		if s.Tab == "coverage" {
			t.Columns = s.Columns
		}
		t.Filter = withTerm(s.Filter, "state:"+state)
	}).Href()
}

// shares are the parts of a whole with their links.
func (sum *covered) shares(s State, parts ...fate) []Share {
	list := make([]Share, 0, len(parts))
	whole := sum.whole()
	for _, part := range parts {
		n := sum.count(part)
		info := fateInfos[part]
		list = append(list, Share{Mark: info.mark, Word: info.word, Count: n, Text: Group(n), Percent: percent(n, whole), Part: share(n, whole), Href: toFate(s, part)})
	}
	return list
}

// whole is what the parts add up to: the expected rollouts, or the rows where nothing says what was expected.
func (sum *covered) whole() int {
	if sum.total != nil {
		return int(sum.total.Expected)
	}
	n := 0
	for part := fateMeasured; part < fateCount; part++ {
		n += sum.rows[part]
	}
	return n
}

func (sum *covered) count(part fate) int {
	t := sum.total
	if t == nil {
		return sum.rows[part]
	}
	return int([fateCount]int64{
		fateMeasured: t.Measured, fateMasked: t.Masked, fateUnscored: t.Unscored, fateFailed: t.Failed, fateOmitted: t.Omitted, fateUnknown: t.Unknown,
	}[part])
}

// flow leads from what was asked for to what counts.
func (f *fates) flow(s State, sum *covered) Flow {
	whole := sum.whole()
	part := func(mark Mark, word string, n int, href string) Share {
		return Share{Mark: mark, Word: word, Count: n, Text: Group(n), Percent: percent(n, whole), Part: share(n, whole), Href: href}
	}
	flow := Flow{Title: "From expected to measured", Note: "selection policy latest_allocated · click a part to filter", Losses: []Share{}, Stages: []Share{}, Sums: []Pair{},
		Parts: sum.shares(s, fateMeasured, fateMasked, fateUnscored, fateFailed, fateOmitted)}
	all := s.ToTab("coverage").With(func(t *State) { t.Columns = s.Columns }).Href()
	plus := func(list ...int) string {
		texts := make([]string, len(list))
		for i, n := range list {
			texts[i] = Group(n)
		}
		return "= " + strings.Join(texts, " + ")
	}
	n := sum.count
	successful := n(fateMeasured) + n(fateMasked) + n(fateUnscored)
	flow.Sums = append(flow.Sums, Pair{"with a result " + Group(successful), plus(n(fateMeasured), n(fateMasked), n(fateUnscored))})
	t := sum.total
	if t == nil {
		flow.Title, flow.Note = "From rows to measured", "nothing says what was expected, so these are rows · click a part to filter"
		flow.Start = part(NoMark, "rows of the rollouts files", whole, "")
		flow.Sums = append(flow.Sums, Pair{"rows " + Group(whole), plus(successful, n(fateFailed), n(fateOmitted))})
		return flow
	}
	lacks := f.lacking()
	never, interrupted := lacks.never, lacks.interrupted
	flow.Start = part(NoMark, "expected", whole, all)
	word, stage, neverState := "never dispatched", "dispatched", "never_dispatched"
	if lacks.old {
		word, stage, neverState = "without a trace", "left a trace", "missing"
	}
	flow.Losses = append(flow.Losses, part(MarkUnknown, word, never, toState(s, neverState)))
	flow.Stages = append(flow.Stages, part(NoMark, stage, whole-never, ""))
	flow.Losses = append(flow.Losses, part(MarkUnknown, "reserved, never saved", interrupted, toState(s, "interrupted")))
	flow.Stages = append(flow.Stages, part(NoMark, "have an outcome", whole-never-interrupted, ""))
	flow.Sums = append(flow.Sums,
		Pair{"unknown " + Group(n(fateUnknown)), plus(never, interrupted)},
		Pair{"expected " + Group(whole), plus(successful, n(fateFailed), n(fateOmitted), n(fateUnknown))})
	if sum.without > 0 {
		flow.Note = fmt.Sprintf("of %s; %s without an index %s not in it · click a part to filter", count(len(sum.runs), "run", "runs"), count(sum.without, "run", "runs"), areIs(sum.without))
	}
	return flow
}

// lacking counts the rollouts of unknown fate.
func (f *fates) lacking() lacking {
	if f.lacks.made {
		return f.lacks
	}
	f.lacks.made = true
	for _, state := range f.states {
		switch state {
		case omitted.NeverDispatched:
			f.lacks.never++
		case omitted.Missing:
			f.lacks.never++
			f.lacks.old = true
		case omitted.Interrupted:
			f.lacks.interrupted++
		}
	}
	return f.lacks
}

func areIs(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}
