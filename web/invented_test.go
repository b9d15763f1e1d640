package web

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"

	"github.com/rollscope/rollscope/core/view"
)

func bins(labels, texts []string, values ...float64) []view.Bin {
	var list []view.Bin
	for i, v := range values {
		b := view.Bin{Value: v, Text: fmt.Sprint(v), Href: fmt.Sprintf("#bin=%d", i)}
		if i < len(labels) {
			b.Label = labels[i]
		}
		if i < len(texts) {
			b.Text = texts[i]
		}
		list = append(list, b)
	}
	return list
}

func clock(from, step, n int) []string {
	var list []string
	for i := range n {
		m := from + i*step
		list = append(list, fmt.Sprintf("%d:%02d", m/60%24, m%60))
	}
	return list
}

func inventedRollouts() *view.Rollouts {
	r := &view.Rollouts{
		Facts: []view.Fact{
			{Label: "verdict", Value: view.Text{Text: "74 unhealthy", Mark: view.MarkUnhealthy}, Note: view.Text{Text: "of 74 judged"}},
			{Label: "reward", Value: view.Text{Text: "0.0000"}, Note: view.Text{Text: "mean, 74 of 74"}},
			{Label: "tasks", Value: view.Text{Text: "71"}, Note: view.Text{Text: "of 2,500"}},
			{Label: "model calls", Value: view.Text{Text: "868"}, Note: view.Text{Text: "101 failed"}},
			{Label: "completion tokens", Value: view.Text{Text: "364,396"}, Note: view.Text{Text: "74 of 74"}},
			{Label: "latency p50 / p90", Value: view.Text{Text: "3:22 / 6:07"}, Note: view.Text{Text: "min:s"}},
		},
		Charts: []view.Chart{
			{ID: "latency", Title: "latency", Caption: "min:s, bins of 2:10", Kind: "bars", Bins: bins(clock(0, 130, 14), nil, 17, 36, 14, 2, 3, 1, 0, 0, 0, 0, 0, 0, 0, 1)},
			{ID: "started", Title: "started", Caption: "bins of 30 min", Kind: "bars", Bins: bins(clock(20*60+31, 30, 12), nil, 8, 8, 7, 6, 11, 10, 5, 9, 5, 3, 2, 0)},
			{ID: "status", Title: "failed calls by status", Caption: "– = no status", Kind: "bars", Bins: bins([]string{"429", "500", "503", "–"}, nil, 46, 23, 20, 12)},
			{ID: "calls", Title: "failed calls per rollout", Kind: "bars", Bins: bins([]string{"1", "2", "3", "4", "5+"}, nil, 52, 17, 5, 0, 0)},
		},
		Table: view.Table{
			ID: "rollouts", Caption: "rollouts", Total: 20000, Height: 27, Window: true, Sortable: true,
			Columns: []view.Column{
				{Key: "task", Title: "task", Right: true, Mono: true, Width: 61, Href: "#sort=task"}, {Key: "repeat", Title: "repeat", Right: true, Mono: true, Width: 57, Href: "#sort=repeat"},
				{Key: "name", Title: "name", Width: 153, Grow: true}, {Key: "verdict", Title: "verdict", Width: 105, Href: "#sort=verdict"}, {Key: "reward", Title: "reward", Right: true, Width: 59},
				{Key: "findings", Title: "findings", Width: 178}, {Key: "failed", Title: "failed calls", Right: true, Width: 80}, {Key: "status", Title: "status", Mono: true, Width: 60},
				{Key: "turns", Title: "turns", Right: true, Width: 50}, {Key: "calls", Title: "calls", Right: true, Width: 50}, {Key: "prompt", Title: "prompt", Unit: "tok", Right: true, Width: 82},
				{Key: "completion", Title: "compl.", Unit: "tok", Right: true, Width: 80}, {Key: "latency", Title: "latency", Right: true, Sorted: -1, Href: "#sort=latency", Width: 76}, {Key: "started", Title: "started", Right: true, Width: 71},
				{Key: "attempt", Title: "attempt", Right: true, Width: 63}, {Key: "line", Title: "line", Right: true, Mono: true, Width: 60},
			},
		},
	}
	names := []string{"wire-json-diff", "resolve-zoneinfo", "rotate-cron-parser", "audit-go-race", "bench-apt-pin", "mount-arm-elf", "merge-nginx-route", "bench-perl-port"}
	for i := range 34 {
		at := "rollouts.jsonl:" + fmt.Sprint(6544+i*131)
		r.Table.Rows = append(r.Table.Rows, view.Row{ID: at, Index: i, Rollout: at, Href: "#rollout=" + at, Selected: i == 4, Cells: []view.Cell{
			{Text: view.Text{Text: fmt.Sprint(609 + i*17%800)}}, {Text: view.Text{Text: fmt.Sprint(i % 8)}}, {Text: view.Text{Text: names[i%8]}},
			{Text: view.Text{Text: "unhealthy", Mark: view.MarkUnhealthy}}, {Text: view.Text{Text: "0"}}, {Text: view.Text{Text: "model_call_failed"}, Extra: view.Text{Text: "+1"}},
			{Text: view.Text{Text: fmt.Sprint(1 + i%2)}}, {Text: view.Text{Text: "429"}}, {Text: view.Text{Text: fmt.Sprint(5 + i%13)}}, {Text: view.Text{Text: fmt.Sprint(6 + i%13)}},
			{Text: view.Text{Text: view.Group(165411 - i*3371)}}, {Text: view.Text{Text: view.Group(3432 + i*211)}}, {Text: view.Text{Text: fmt.Sprintf("%d:%02d", 30-i%20, i*7%60), Title: "1,800,214 ms"}},
			{Text: view.Text{Text: fmt.Sprintf("22:%02d:%02d", i, i*13%60)}}, {Text: view.Text{Text: "0"}}, {Text: view.Text{Text: fmt.Sprint(6544 + i*131), Href: "#rollout=" + at}},
		}})
	}
	return r
}

func inventedFiles() *view.Files {
	num := func(n int) view.Cell { return view.Cell{Text: view.Text{Text: view.Group(n)}} }
	str := func(s string) view.Cell { return view.Cell{Text: view.Text{Text: s}} }
	return &view.Files{
		Facts: []view.Fact{
			{Label: "files", Value: view.Text{Text: "2"}, Note: view.Text{Text: "of 6 hold rollouts"}, Stat: "accounting.files", Exact: "2"},
			{Label: "lines", Value: view.Text{Text: "19,616"}, Note: view.Text{Text: "= 19,612 read + 1 blank + 3 unreadable"}},
			{Label: "bytes", Value: view.Text{Text: "3,202,208,307"}, Note: view.Text{Text: "all accounted for"}},
		},
		Read: view.Table{ID: "read", Caption: "rollout files", Total: 2, Height: 27, Columns: []view.Column{
			{Title: "file", Mono: true}, {Title: "run"}, {Title: "lines", Right: true}, {Title: "read", Right: true}, {Title: "blank", Right: true}, {Title: "unreadable", Right: true}, {Title: "repaired", Right: true}, {Title: "torn", Right: true}, {Title: "bytes", Right: true}, {Title: "state"}},
			Rows: []view.Row{
				{ID: "a", Cells: []view.Cell{str("term-r8/rollouts.jsonl"), str("term-r8"), num(10615), num(10612), num(0), num(3), num(1), num(0), num(1902208307), {Text: view.Text{Text: "read", Mark: view.MarkHealthy}}}},
				{ID: "b", Cells: []view.Cell{str("term-r8/rollouts-2.jsonl"), str("term-r8"), num(9001), num(9000), num(1), num(0), num(0), num(1), num(1300000000), {Text: view.Text{Text: "torn", Mark: view.MarkUnhealthy}}}},
			}},
		Others: view.Table{ID: "others", Caption: "other files", Total: 2, Height: 27, Columns: []view.Column{{Title: "file", Mono: true}, {Title: "kind"}, {Title: "bytes", Right: true}, {Title: "what is done with it", Grow: true}},
			Rows: []view.Row{
				{ID: "m", Cells: []view.Cell{str("term-r8/rollouts_manifest.json"), str("manifest"), num(1204551), str("recognised, not read yet")}},
				{ID: "x", Cells: []view.Cell{str("term-r8/notes.docx"), {Text: view.Text{Text: "unknown", Mark: view.MarkUnknown}}, num(48120), str("first bytes PK; not a kind this page knows")}},
			}},
		Refused: view.Table{ID: "refused", Caption: "refused lines", Total: 2, Note: "3 of 19,616 lines", Height: 27, Columns: []view.Column{{Title: "place", Mono: true}, {Title: "byte", Right: true}, {Title: "bytes", Right: true}, {Title: "reason"}, {Title: "text", Mono: true, Grow: true}},
			Rows: []view.Row{
				{ID: "1", Cells: []view.Cell{{Text: view.Text{Text: "rollouts.jsonl:236", Href: "#r"}}, num(10447529), num(48), str("unexpected end of text"), str("{\"response\": {\"output\": [\x1b[31m<b onclick=alert(1)>\u202egnp.exe\x00\x00\x00\x00\x00")}},
				{ID: "2", Cells: []view.Cell{{Text: view.Text{Text: "rollouts.jsonl:900", Href: "#r"}}, num(30447529), num(12), str("not UTF-8"), str("{\"a\": \"\xff\xfe\u200b\"}")}},
			}},
		Order: []view.FileOrder{
			{Name: "term-r8/rollouts.jsonl", Down: "#d", Drop: "#x"}, {Name: "term-r8/rollouts-2.jsonl", Up: "#u", Drop: "#x"}, {Name: "term-r8/rollouts-old.jsonl", Drop: "#y", Dropped: true},
		},
	}
}

func inventedRollout() *view.Rollout {
	parts := func(current string) (list []view.Tab) {
		for _, t := range []string{"Transcript", "Tokens", "Calls", "Raw"} {
			list = append(list, view.Tab{ID: t, Title: t, Href: "#part=" + t, Current: t == current})
		}
		return list
	}
	r := &view.Rollout{
		Back: view.Link{Text: "Rollouts", Href: "#tab=rollouts"}, Name: "880-6", TaskName: "bench-apt-pin", Parts: parts("Transcript"),
		Place: "5 of 74", Prev: "#prev", Next: "#next",
		Facts: []view.FactGroup{
			{Title: "Verdict", Facts: []view.Fact{{Label: "verdict", Value: view.Text{Text: "unhealthy", Mark: view.MarkUnhealthy}}, {Label: "outcome", Value: view.Text{Text: "measured", Mark: view.MarkMeasured}}, {Label: "reward", Value: view.Text{Text: "0"}}}},
			{Title: "Identity", Facts: []view.Fact{{Label: "task", Value: view.Text{Text: "880 · bench-apt-pin"}}, {Label: "repeat · attempt", Value: view.Text{Text: "6 · 0"}}, {Label: "agent", Value: view.Text{Text: "opencode"}}, {Label: "place", Value: view.Text{Text: "rollouts.jsonl:7272", Mono: true, Href: "#x"}}, {Label: "bytes", Value: view.Text{Text: "1,190,447,529 + 208,554"}}}},
			{Title: "Tokens", Note: "row = Σ of 11 turn calls", Facts: []view.Fact{{Label: "prompt · cached", Value: view.Text{Text: "97,981 · 56,697"}}, {Label: "completion · reasoning", Value: view.Text{Text: "9,764 · 6,250"}}}},
			{Title: "Time", Facts: []view.Fact{{Label: "total, min:s", Value: view.Text{Text: "9:15"}}, {Label: "13 model calls", Value: view.Text{Text: "6:04"}}, {Label: "verifier", Value: view.Text{Text: view.Dash, Title: "the row has no verifier time"}}}},
			{Title: "Repeats of task 880", Note: "solved 6 of 8", Boxes: []view.Box{{Value: view.Text{Text: "1", Mark: view.MarkHealthy, Href: "#1"}, Solved: true}, {Value: view.Text{Text: "0", Mark: view.MarkHealthy, Href: "#2"}}, {Value: view.Text{Text: "0", Mark: view.MarkUnhealthy}, Current: true}, {Value: view.Text{Mark: view.MarkFailed}}}},
		},
		Findings: []view.FindingView{
			{Check: "agent_turn_hollow", Sentence: "neither message nor tool call", Where: view.Text{Text: "turn 6", Href: "#turn=6"}, Target: "f1"},
			{Check: "model_call_failed", Sentence: "429 rate_limited, not the last call", Where: view.Text{Text: "call 5", Href: "#turn=5"}, Target: "f2", Detail: []view.Pair{{Name: "call", Text: "mc-4e19d2-5"}}},
		},
		Unjudged: []view.UnjudgedView{{Check: "rollout_token_count_mismatch", Reason: "turn 6 names no model call"}},
		Notices:  []view.Alert{{Code: "repaired_row", Text: "repaired for display: the text begins with a byte order mark", Help: "No number uses this row.", Count: 1}},
	}
	for i := 1; i <= 11; i++ {
		t := view.TurnMark{No: i, Href: fmt.Sprintf("#turn=%d", i), Current: i == 6}
		if i == 5 || i == 6 || i == 9 {
			t.Mark = view.MarkUnhealthy
		}
		r.Turns = append(r.Turns, t)
	}
	turn := func(n int, note string, mark view.Mark, children ...view.Block) view.Block {
		return view.Block{Kind: "turn", Turn: n, ID: fmt.Sprint("t", n), Title: fmt.Sprintf("Turn %d of 11", n), Note: note, Mark: mark, Children: children}
	}
	r.Blocks = []view.Block{
		turn(4, "mc-4e19d2-4 · 731 completion tok · 0:29 · at 2:28", "",
			view.Block{Kind: "message", Title: "message", Text: "The pin in preferences.d never applies because the origin label is wrong. I will print the policy before I change it.\n<script>alert(1)</script> \u202eevil\u202c"},
			view.Block{Kind: "call", Title: "tool call", Name: "bash", Note: "completed · 0:05", Mono: true, Text: "apt-cache policy libssl3 | head -n 20 && cat /etc/apt/preferences.d/bench"},
			view.Block{Kind: "output", Title: "output", Mono: true, Text: "libssl3:\n  Installed: 3.0.11-1~deb12u2\n  Candidate: 3.0.15-1~deb12u1\n  Version table: ", Folded: 48211, Unfold: "#more"},
			view.Block{Kind: "image", Title: "image", Note: "png, 67 bytes", Image: picture()},
		),
		turn(5, "mc-4e19d2-6 · 1,130 completion tok · 0:41 · at 3:16", view.MarkUnhealthy,
			view.Block{Kind: "finding", ID: "f2", Title: "model_call_failed", Text: "call 5 `mc-4e19d2-5`: status 429, rate_limited, not the last call. Repeated 13 s later as call 6."},
			view.Block{Kind: "reasoning", Title: "reasoning", Text: "The candidate comes from the security suite. The pin needs release l=Debian-Security, otherwise … ", Folded: 2904, Unfold: "#more2"},
			view.Block{Kind: "call", Title: "tool call", Name: "bash", Note: "failed · exit 2 · 0:14", Mono: true, Text: "printf \"Package: libssl3\\nPin: release l=Debian-Security\\nPin-Priority: 1001\\n\" > /etc/apt/preferences.d/bench"},
			view.Block{Kind: "output", Title: "output", Mono: true, Mark: view.MarkFailed, Text: "bash: /etc/apt/preferences.d/bench: Permission denied"},
		),
		turn(6, "mc-4e19d2-7 · 2 completion tok · 0:12 · at 4:12", view.MarkUnhealthy,
			view.Block{Kind: "finding", ID: "f1", Title: "agent_turn_hollow", Text: "1 of 11 turns has neither message nor tool call."},
			view.Block{Kind: "note", Text: "`[]` – empty list, finish reason stop."},
		),
	}
	return r
}

func inventedRaw() *view.Rollout {
	r := inventedRollout()
	r.Blocks, r.Notices = nil, nil
	for i := range r.Parts {
		r.Parts[i].Current = r.Parts[i].ID == "Raw"
	}
	r.Raw = &view.Raw{Note: "4,211 lines, laid out; values as written", Total: 4211, Lines: []view.RawLine{
		{Text: "{", Kind: "bracket"}, {Depth: 1, Key: `"reward"`, Text: "0.0", Kind: "number", Comma: true},
		{Depth: 1, Key: `"response"`, Text: "{", Kind: "bracket"}, {Depth: 2, Key: `"status"`, Text: `"completed"`, Kind: "string"},
		{Depth: 2, Key: `"error"`, Text: "null", Kind: "word", Marked: true}, {Depth: 2, Key: `"text"`, Text: `"The pin in preferences.d never applies `, Kind: "string", Folded: 48211},
		{Depth: 1, Text: "}", Kind: "bracket"}, {Text: "}", Kind: "bracket"},
	}}
	return r
}

func part(m view.Mark, word string, n int, part float64) view.Share {
	return view.Share{Mark: m, Word: word, Count: n, Text: view.Group(n), Percent: fmt.Sprintf("%.3f %%", part*100), Part: part, Href: "#" + word}
}

func inventedOverview() *view.Overview {
	agents := &view.Table{ID: "agents", Caption: "by agent", Height: 22, Total: 4, Columns: []view.Column{{Title: "agent"}, {Grow: true}, {Title: "unhealthy", Right: true}}}
	for _, a := range []struct {
		name        string
		n, of       int
		h, u, other float64
	}{{"opencode", 548, 7862, .91, .07, .02}, {"hermes", 326, 4687, .91, .07, .02}, {"terminus_2", 299, 3929, .9, .08, .02}, {"pi", 195, 3134, 0, .06, .94}} {
		agents.Rows = append(agents.Rows, view.Row{ID: a.name, Cells: []view.Cell{{Text: view.Text{Text: a.name}},
			{Parts: []view.Share{part(view.MarkHealthy, "healthy", 1, a.h), part(view.MarkUnhealthy, "unhealthy", a.n, a.u), part(view.MarkUnobserved, "unobserved", 1, a.other)}},
			{Text: view.Text{Text: view.Group(a.n)}, Extra: view.Text{Text: "of " + view.Group(a.of)}}}})
	}
	latency := &view.Table{ID: "latency", Caption: "latency", Height: 22, Total: 1, Columns: []view.Column{{Title: "latency"}, {Title: "p50", Right: true}, {Title: "p90", Right: true}, {Title: "p99", Right: true}, {Title: "max", Right: true}},
		Rows: []view.Row{{ID: "l", Cells: []view.Cell{{Text: view.Text{Text: "min:s", Muted: true}}, {Text: view.Text{Text: "3:16"}}, {Text: view.Text{Text: "7:56"}}, {Text: view.Text{Text: "17:07"}}, {Text: view.Text{Text: "30:00"}}}}}}
	var hours []view.Bin
	for i := range 45 {
		v := 4000 - float64((i-22)*(i-22)%700)*2
		if i > 41 {
			v = float64(45-i) * 400
		}
		hours = append(hours, view.Bin{Label: clock(20*60+31, 8, 45)[i], Value: v, Text: view.Group(int(v)) + "/h"})
	}
	o := &view.Overview{
		Panels: []view.Panel{
			{Title: "Complete", Href: "#tab=coverage", Link: "Coverage", Number: view.Text{Text: "19,612"}, Of: "of 20,000 have a result",
				Shares: []view.Share{part(view.MarkMeasured, "measured", 19480, .974), part(view.MarkMasked, "masked", 108, .0054), part(view.MarkUnscored, "unscored", 24, .0012), part(view.MarkFailed, "failed", 231, .01155), part(view.MarkOmitted, "omitted", 64, .0032), part(view.MarkUnknown, "unknown, no outcome", 93, .00465)},
				Charts: []view.Chart{{ID: "holes", Title: "without a result, per 100 task indices", Kind: "strip", Bins: bins(nil, nil, 14, 18, 17, 16, 8, 24, 10, 8, 13, 9, 9, 12, 11, 8, 11, 12, 9, 8, 12, 11, 12, 9, 7, 10, 65)}},
				Lines:  []view.Line{{Text: "41 were never dispatched", Right: "tasks 2494–2499", Href: "#a"}, {Text: "52 reserved, never saved", Right: "52 rollouts"}, {Text: "saved coverage equals derived", Right: "21 of 21 fields"}}},
			{Title: "Healthy", Href: "#tab=health", Link: "Health", Number: view.Text{Text: "1,368"}, Of: "of 19,612 judged are unhealthy",
				Shares: []view.Share{part(view.MarkHealthy, "healthy", 14899, .75969), part(view.MarkUnhealthy, "unhealthy", 1368, .06975), part(view.MarkUnobserved, "unobserved", 3345, .17056)},
				Table:  agents, Lines: []view.Line{{Mark: view.MarkUnhealthy, Text: "agent_turn_hollow", Right: "451", Href: "#a"}, {Mark: view.MarkUnhealthy, Text: "model_call_failed", Right: "346", Href: "#b"}, {Text: "no row to judge", Right: "388 of 20,000"}}},
			{Title: "Score", Href: "#tab=scores", Link: "Scores", Number: view.Text{Text: "0.5007", Title: "0.5006673511293634"}, Of: "mean reward, 19,480 of 20,000",
				Charts: []view.Chart{{ID: "solved", Title: "95 % interval over 8 repeats 0.4927 – 0.5087", Kind: "bars", Bins: bins([]string{"0/8", "1/8", "2/8", "3/8", "4/8", "5/8", "6/8", "7/8", "8/8"}, nil, 368, 227, 189, 181, 136, 158, 189, 271, 380)}},
				Lines:  []view.Line{{Text: "pass@1", Right: "49.95 · 2,487 of 2,500"}, {Text: "pass@8", Right: "82.47 · 2,099 of 2,500"}}},
			{Title: "Time", Href: "#tab=performance", Link: "Performance", Number: view.Text{Text: "5 h 46 min"}, Of: "first call to last",
				Charts: []view.Chart{{ID: "rate", Title: "rollouts per hour, mean 3,402", Kind: "line", Bins: hours}}, Table: latency,
				Lines: []view.Line{{Text: "slowest 1 % hold 5.4 % of task time", Right: "196 rollouts"}, {Text: "source: ng_perf.total_latency_ms", Right: "19,612 of 19,612"}}},
		},
		Eyes: view.Table{ID: "eyes", Caption: "findings of the whole run", Note: "4 of 9, ranked by rollouts touched · click a row to filter", Height: 27, Total: 4, Columns: []view.Column{
			{Title: "kind"}, {Title: "finding", Grow: true}, {Title: "check", Mono: true}, {Title: "rollouts", Right: true}, {Title: "0 – 4,000", Bars: true}, {Title: "first place", Mono: true}}},
	}
	for i, e := range []struct {
		m              view.Mark
		k, s, c, n, at string
		bar            float64
	}{
		{view.MarkUnobserved, "unobserved", "check has no evidence: turns of agent pi name no model call, 3,134 of 3,134 rollouts", "rollout_token_count_mismatch", "3,490", "rollouts.jsonl:136", .87},
		{view.MarkUnhealthy, "unhealthy", "886 of 225,381 turns have neither message nor tool call", "agent_turn_hollow", "451", "rollouts.jsonl:372", .11},
		{view.MarkFailed, "failed", "failed at the latest attempt: 72 timeout_exceeded, 71 agent_request_failed, 88 other", "outcome", "231", "rollouts_failures.jsonl:1", .06},
		{view.MarkUnknown, "unknown", "no outcome: 41 never dispatched (tasks 2494–2499), 52 reserved, never saved", "coverage", "93", "…_inputs.jsonl:19960", .02},
	} {
		o.Eyes.Rows = append(o.Eyes.Rows, view.Row{ID: fmt.Sprint(i), Index: i, Finding: e.c, Href: "#f" + e.c, Cells: []view.Cell{
			{Text: view.Text{Text: e.k, Mark: e.m}}, {Text: view.Text{Text: e.s}}, {Text: view.Text{Text: e.c}}, {Text: view.Text{Text: e.n}}, {Bar: e.bar}, {Text: view.Text{Text: e.at, Href: "#p"}}}})
	}
	return o
}

func inventedTasks() *view.Tasks {
	t := &view.Tasks{
		Facts: []view.Fact{{Label: "tasks", Value: view.Text{Text: "2,500"}, Stat: "task.count", Exact: "2500"}, {Label: "repeats", Value: view.Text{Text: "8"}}, {Label: "always solved", Value: view.Text{Text: "380"}, Note: view.Text{Text: "of 2,099"}}},
		Grid:  view.Grid{Tasks: 2500, Repeats: 8, Caption: "2,500 tasks × 8 repeats, verdict by shape and colour"},
		Table: view.Table{ID: "tasks", Caption: "tasks", Total: 2500, Height: 27, Window: true, Columns: []view.Column{
			{Key: "task", Title: "task", Right: true, Mono: true, Width: 60, Sorted: 1, Href: "#s"}, {Key: "name", Title: "name", Grow: true}, {Key: "cells", Title: "repeats", Width: 92, Grid: &view.GridHead{Columns: 2, Cell: 38, Labels: []string{"0", "1"}}}, {Key: "solved", Title: "solved", Right: true, Width: 90},
			{Key: "mean", Title: "mean", Right: true, Width: 70}, {Key: "healthy", Title: "healthy", Right: true, Width: 80}, {Key: "unhealthy", Title: "unhealthy", Right: true, Width: 80}, {Key: "unobserved", Title: "unobserved", Right: true, Width: 90}, {Key: "flags", Title: "task flags", Width: 280}}},
	}
	for i := range 30 {
		flags := view.Cell{}
		if i == 6 {
			flags.Text = view.Text{Text: "consistently unhealthy; no call succeeded", Mark: view.MarkUnhealthy}
		}
		t.Table.Rows = append(t.Table.Rows, view.Row{ID: fmt.Sprint(i), Index: i, Href: fmt.Sprintf("#task=%d", i), Selected: i == 6, Cells: []view.Cell{
			{Text: view.Text{Text: fmt.Sprint(2028 + i)}}, {Text: view.Text{Text: "patch-log-rotate"}}, {Text: view.Text{Text: "0 healthy 1, 1 healthy 0"}}, {Text: view.Text{Text: "5"}, Extra: view.Text{Text: "of 8"}}, {Text: view.Text{Text: "0.625"}},
			{Text: view.Text{Text: "6"}}, {Text: view.Text{Text: "0"}}, {Text: view.Text{Text: "2"}}, flags}})
	}
	return t
}

// picture is a small bitmap as a transcript may carry it.
func picture() string {
	m := image.NewGray(image.Rect(0, 0, 320, 200))
	for y := range 200 {
		for x := range 320 {
			m.Set(x, y, color.Gray{uint8((x/20 + y/20) % 2 * 160)})
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		panic(err)
	}
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes())
}

func inventedChooser() *view.Chooser {
	return &view.Chooser{Tab: "rollouts", Shown: 2, Default: "#tab=rollouts", Entries: []view.ChosenColumn{
		{Key: "task", Title: "task", Help: "task index", On: true, Toggle: "#t", Down: "#d", Wider: "#w", Narrower: "#n"},
		{Key: "name", Title: "name", On: true, Up: "#u", Wider: "#w", Narrower: "#n"},
		{Key: "stage", Title: "stage", Help: "stage index", Toggle: "#s"},
	}}
}

// inventedGrid is a table whose cells are drawn.
func inventedGrid() view.Table {
	return view.Table{ID: "tasks", Caption: "tasks", Total: 900, Height: 27, Window: true, Movable: true,
		Columns: []view.Column{{Key: "task", Title: "task", Right: true, Href: "#s", Set: true, Width: 90}, {Key: "cells", Title: "repeats", Width: 92, Grid: &view.GridHead{Columns: 2, Cell: 38, Labels: []string{"0", "1"}}}, {Key: "flags", Title: "flags", Grow: true}},
		Rows:    []view.Row{{ID: "task-0", Href: "#f", Cells: []view.Cell{{Text: view.Text{Text: "7"}}, {Text: view.Text{Text: "0 healthy 1, 1 unhealthy 0"}}, {}}}},
	}
}
