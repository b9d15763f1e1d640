package web

import "github.com/rollscope/rollscope/core/view"

// callsOf is the Calls tab with a text wherever one of a file may come to stand.
func callsOf(text string) *view.Calls {
	t := view.Text{Text: "t" + text, Title: "t" + text}
	cells := []view.Cell{{Text: t, Extra: t}, {Text: view.Text{Text: "503", Mark: view.MarkFailed}}}
	columns := []view.Column{{Key: "k" + text, Title: "h" + text, Help: "h" + text}, {Key: "status", Title: "status", Right: true, Href: "#sort=status"}}
	return &view.Calls{
		Facts: []view.Fact{{Label: "model calls", Value: view.Text{Text: "96"}, Note: view.Text{Text: "of 96"}, Stat: "calls.total", Exact: "96"},
			{Label: "failed", Value: view.Text{Text: "4", Mark: view.MarkFailed, Href: "#set=calls.where"}, Stat: "calls.failed", Exact: "4"}},
		Chips: []view.Chip{{Text: "error: " + text, Remove: "#" + text}},
		Quick: []view.Choice{{Value: "failed=true", Title: "failed alone", Href: "#failed", On: true}, {Value: "not has(turn)", Title: "of no turn", Href: "#turn"}},
		Note:  "so far: the calls of 3 of 45 rows were looked at", Error: "e" + text,
		Charts: []view.Chart{{ID: "model", Title: "model", Kind: "bars", Bins: []view.Bin{{Label: "b" + text, Value: 3, Text: "3", Href: "#" + text}, {Label: "none", Name: "names none", Value: 1, Text: "1"}}},
			{ID: "error", Title: "failed calls", Caption: "4 of 96", Kind: "bars", Bins: []view.Bin{{Label: "timeout", Value: 4, Text: "4", Tone: "failed", Href: "#timeout"}}}},
		Table: view.Table{ID: "calls", Caption: "model calls", Total: 2, Window: true, Sortable: true, Movable: true, Height: 27, Columns: columns,
			Rows: []view.Row{{ID: "call-0", Rollout: "r" + text, Href: "#" + text, Cells: cells}}},
		Captures: &view.Captures{Heading: "Captures", Note: "2 files", Table: view.Table{ID: "captures", Caption: "captures", Total: 1, Height: 24, Columns: columns,
			Links: []view.Link{{Text: "Copy TSV", Copy: "tsv", Table: "captures"}}, Rows: []view.Row{{ID: "capture-" + text, Href: "#" + text, Cells: cells}}}},
	}
}

// performanceOf is the Performance tab with a text wherever one of a file may come to stand.
func performanceOf(text string) *view.Performance {
	t := view.Text{Text: "t" + text, Title: "t" + text, Href: "#" + text}
	table := func(id string, window bool) view.Table {
		return view.Table{ID: id, Caption: id, Note: "n" + text, Total: 1, Window: window, Height: 24, Links: []view.Link{{Text: "Copy TSV", Copy: "tsv", Table: id}},
			Columns: []view.Column{{Key: "name", Title: "name"}, {Key: "n", Title: "n", Right: true}},
			Rows:    []view.Row{{ID: id + text, Href: "#" + text, Cells: []view.Cell{{Text: t}, {Text: view.Text{Text: "1"}, Stat: "perf." + id, Exact: "1"}}}}}
	}
	line := view.Chart{ID: "throughput", Title: "throughput, rollouts/h", Kind: "line", Caption: "stretches of 4:52"}
	for i := range 60 {
		line.Bins = append(line.Bins, view.Bin{Label: "20:31", Name: "n" + text, Value: float64(i % 7), Text: "1", Href: "#" + text})
	}
	return &view.Performance{
		Facts: []view.Fact{{Label: "window", Value: t, Note: t, Stat: "perf.window_s", Exact: "20755"}, {Label: "drain margin", Value: view.Text{Text: view.Dash, Muted: true, Title: "5 are needed"}, Stat: "perf.drain_margin_s"}},
		Note:  "so far", Empty: "e" + text, Course: []view.Chart{line},
		Spread:  []view.Chart{{ID: "latency", Title: "latency, s", Kind: "bars", Caption: "42 of 45", Note: "n" + text, Bins: []view.Bin{{Label: "0", Value: 7, Text: "7", Href: "#latency"}, {Label: "10", Value: 28, Text: "28"}}}},
		Slowest: table("slowest", false), Tables: []view.Table{table("durations", false), table("agenttimes", false)}, Tasks: table("tasktimes", true),
		Summary: table("perfsummary", false), Saved: table("savedsummary", false), Verdict: "perf_summary equals derived, 4 of 4 entries",
	}
}
