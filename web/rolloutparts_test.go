package web

import "github.com/rollscope/rollscope/core/view"

// inventedCalls is the calls part, with a search in the JSON of a call.
func inventedCalls() *view.Rollout {
	r := inventedRaw()
	raw := r.Raw
	raw.Find, raw.Found, raw.Prev, raw.Next, raw.Line, raw.Copy = "error", "1 of 2", "#hit=2", "#hit=2", 4, "json"
	raw.Places = []view.Link{{Text: "model_call_failed line 5", Href: "#at=f2"}}
	raw.Lines[4].KeyHits, raw.Lines[4].Current = []view.Hit{{From: 1, To: 6, Now: true}}, true
	raw.Lines[5].Before, raw.Lines[5].Hits = 120, []view.Hit{{From: 5, To: 8}}
	r.Raw = nil
	r.Calls = &view.CallsPart{
		Open: "Call 5", Note: "quill-30b · status 429", Links: []view.Link{{Text: "turn 5", Href: "#turn=5"}}, JSON: raw,
		Sides: []view.Tab{{Title: "Call", Href: "#at=c5", Current: true}, {ID: "request", Title: "Request", Href: "#at=c5.request"}},
		Table: view.Table{
			ID: "calls-of-row", Caption: "model calls", Window: true, Total: 13, Height: 24, Columns: []view.Column{{Title: "call", Right: true}, {Title: "id", Mono: true}},
			Rows: []view.Row{{ID: "c5", Index: 4, Selected: true, Href: "#at=c5", Cells: []view.Cell{{Text: view.Text{Text: "5", Mark: view.MarkFailed}}, str("mc-4e19d2-5")}}},
		},
	}
	r.Timeline = inventedTimeline()
	return r
}

func inventedTimeline() *view.TimelineView {
	return &view.TimelineView{
		Note: "0:00 = 22:11:21 · turn 6 of 11", Seconds: 555, Rows: 3, Turn: 6, At: "c5", Missing: 1,
		Lanes: []view.Lane{{Label: "turns", Kind: "turn", Rows: 1}, {Label: "calls of a long name", Kind: "modelcall", Row: 1, Rows: 1}, {Label: "tools", Kind: "toolcall", Row: 2, Rows: 1}},
		Ticks: []view.TimeTick{{At: 0, Text: "0:00"}, {At: .5, Text: "4:37"}},
		Marks: []view.SpanMark{
			{Kind: "turn", From: 0, Width: .25, Label: "1", Title: "turn 1", Href: "#turn=1", Turn: 1, Derived: true},
			{Kind: "modelcall", From: .3, Width: 0, Row: 1, Label: "429", Title: "model call 5, status 429", Href: "#at=c5", At: "c5", Turn: 5, Failed: true, Current: true},
			{Kind: "toolcall", From: .5, Width: .1, Row: 2, Label: "<b>bash\u202e", Title: "tool call", Href: "#at=t4", At: "t4", Turn: 5},
		},
		Unplaced: []view.UnplacedSpan{{What: "tool call read", Reason: "nobody observed its execution", Href: "#at=t5"}}, More: "and 3 more",
		Table: view.Table{ID: "spans", Caption: "timeline", Window: true, Total: 1, Height: 22, Columns: []view.Column{{Title: "kind"}}, Rows: []view.Row{{ID: "0", Href: "#at=c5", Cells: []view.Cell{str("model call")}}}},
	}
}

// inventedTokens is the tokens part.
func inventedTokens() *view.Rollout {
	r := inventedRollout()
	r.Blocks = nil
	column := func(from, width, height float64, step, token int) view.TokenColumn {
		return view.TokenColumn{From: from, Width: width, Height: height, Step: step, Token: token, Title: "token " + decimal(token)}
	}
	r.Tokens = &view.TokensPart{
		Title: "Turn 7 of 11 · message", Note: "2 prompt + 3 completion tokens", Problems: []string{"token ids have 4 entries for 3 tokens"},
		Links: []view.Link{{Text: "least likely", Href: "#token=4"}}, By: []view.Choice{{Title: "log probability", On: true, Href: "#a"}, {Value: "entropy", Title: "entropy", Href: "#by=entropy"}},
		Legend: []view.TokenStep{{Step: 1, Text: "0 to −0.3"}, {Step: 5, Text: "under −4"}},
		Plots: []view.TokenPlot{
			{Title: "log probability by position", Top: "0", Bottom: "−6.8300", Down: true, At: .5, Columns: []view.TokenColumn{column(0, .5, .1, 1, 3), column(.5, .5, 1, 5, 4)}},
			{Title: "entropy", Top: "3", Bottom: "0", At: -1, Columns: []view.TokenColumn{column(0, 1, .5, 0, 3)}},
		},
		Bands: []view.TokenBand{
			{Width: .4, Kind: "prompt", Title: "prompt, 2 tokens"}, {From: .4, Width: .6, Kind: "completion", Title: "completion, 3 tokens"},
			{Row: 1, From: .6, Width: .4, Kind: "counts", Title: "loss_mask: counts"},
		},
		BandNote: "loss_mask: 2 of 5 tokens count",
		Tokens: []view.TokenView{
			{No: 1, Text: "151644", Prompt: true, Title: "token 1, prompt"}, {No: 3, Text: " <b>", Known: true, Step: 1, Title: "token 3"},
			{No: 4, Text: "held\n", Known: true, Step: 5, Current: true, Title: "token 4"}, {No: 5, Text: "\u202e", Known: true, Step: 2, Masked: true, Title: "token 5, does not count"},
		},
		Window: "tokens 1 to 500 of 900", Before: view.Link{Text: "500 before", Href: "#b"}, After: view.Link{Text: "next 400", Href: "#n"},
		Facts:   []view.FactGroup{{Title: "Token 4", Note: "of 5", Facts: []view.Fact{{Label: "text", Value: view.Text{Text: "held", Mono: true}}}}, {Title: "Source"}},
		Options: &view.Table{ID: "alternatives", Caption: "saved alternatives", Height: 22, Total: 1, Columns: []view.Column{{Title: "token", Mono: true}, {Title: "p", Bars: true}}, Rows: []view.Row{{ID: "0", Cells: []view.Cell{str("pin"), {Text: view.Text{Text: "0.5379"}, Bar: .5379}}}}},
		Chart:   &view.Chart{ID: "logprobs", Title: "log probabilities", Kind: "bars", Max: 291, Bins: []view.Bin{{Label: "0", Value: 291, Text: "291", Href: "#token=3"}, {Label: "−2", Value: 5, Text: "5"}}},
		Table:   view.Table{ID: "sequences", Caption: "sequences", Total: 2, Height: 22, Columns: []view.Column{{Title: "sequence"}}, Rows: []view.Row{{ID: "q1", Selected: true, Href: "#at=q1", Cells: []view.Cell{str("1")}}}},
	}
	r.Tree = []view.Branch{{Name: "root", Note: "4 turns", Href: "#at=i1", Current: true}, {Depth: 1, Name: "explore-1<b>", Note: "failed", Mark: view.MarkFailed}}
	return r
}

func str(s string) view.Cell { return view.Cell{Text: view.Text{Text: s}} }
