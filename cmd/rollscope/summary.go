package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/rollscope/rollscope/core/health"
	"github.com/rollscope/rollscope/core/health/check"
	"github.com/rollscope/rollscope/core/view"
)

const (
	placesShown = 3   // first places of a check
	placeWidth  = 160 // characters of a sentence
)

// printHealth prints a report for people: the verdicts, all checks, and where to look first.
func printHealth(w io.Writer, j *judged) error {
	verdicts, _, _ := strings.Cut(j.report.Text(""), "\n")
	out := &errWriter{w: w}
	out.printf("%s\n\n", verdicts)
	if out.err != nil {
		return out.err
	}
	checks := j.report.Checks()
	if err := printChecks(w, checks); err != nil {
		return err
	}
	places := placesOf(j, checks)
	if len(places) == 0 {
		return nil
	}
	out.printf("\nWhere to look first:\n")
	for _, p := range places {
		out.printf("%s: %s\n", p.check.ID, p.count)
		for _, line := range p.lines {
			out.printf("  %s\n", line)
		}
		if p.more > 0 {
			out.printf("  and %s more\n", view.Group(p.more))
		}
	}
	return out.err
}

func printChecks(w io.Writer, checks []health.CheckStat) error {
	columns := []column{
		{title: "check"}, {title: "findings", right: true}, {title: "rollouts", right: true},
		{title: "evaluated", right: true}, {title: "unobserved", right: true}, {title: "of"},
	}
	rows := make([][]string, len(checks))
	for i, c := range checks {
		of := "rollouts"
		if c.Check.Scope == check.Task {
			of = "tasks"
		}
		rows[i] = []string{c.Check.ID, view.Group(c.Fired), view.Group(c.Rollouts), view.Group(c.Evaluated), view.Group(c.Unobserved), of}
		if c.Ignored > 0 {
			rows[i] = []string{c.Check.ID, view.Dash, view.Dash, view.Dash, view.Dash, "ignored"}
		}
	}
	return printTable(w, columns, rows)
}

// places are the first places where one check fired.
type places struct {
	check *check.Check
	touch int    // rollouts it touches
	count string // in words
	lines []string
	more  int
}

// placesOf lists the checks that fired, those that touch most rollouts first, with their first places.
func placesOf(j *judged, checks []health.CheckStat) []places {
	list := []places{}
	at := map[string]int{}
	for _, c := range checks {
		if c.Fired == 0 {
			continue
		}
		at[c.Check.ID] = len(list)
		p := places{check: c.Check, touch: c.Rollouts, count: amount(c.Rollouts, "rollout")}
		if p.more = c.Rollouts; c.Check.Scope == check.Task {
			p.more = int(c.Fired)
			p.count = amount(int(c.Fired), "task") + ", " + p.count
		}
		list = append(list, p)
	}
	add := func(p *places, ordinal int, text string) {
		p.lines = append(p.lines, safe(j.place(ordinal))+"  "+safe(short(text, placeWidth)))
		p.more--
	}
	for i := range j.report.Rows() {
		wanted := slices.ContainsFunc(j.report.Fired(i).IDs(), func(id string) bool { return len(list[at[id]].lines) < placesShown })
		if !wanted {
			continue
		}
		said := check.Set(0)
		for _, f := range j.report.Findings(i) {
			p := &list[at[f.Check]]
			if position := check.Position(f.Check); !said.Has(position) && len(p.lines) < placesShown {
				said = said.With(position)
				add(p, i, health.Sentence(f))
			}
		}
	}
	for i := range j.report.TaskCount() {
		t := j.report.Task(i)
		for _, id := range t.Flags {
			if p := &list[at[id]]; len(p.lines) < placesShown {
				add(p, t.First, fmt.Sprintf("task %s, %s", t.Key, amount(t.Repeats, "repeat")))
			}
		}
	}
	slices.SortStableFunc(list, func(a, b places) int { return b.touch - a.touch })
	return list
}

func amount(n int, unit string) string {
	if n == 1 {
		return "1 " + unit
	}
	return view.Group(n) + " " + unit + "s"
}
