package web

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/rollscope/rollscope/core/view"
)

// preview names a folder for documents made of the invented pages below, to look at them in a browser:
//
//	go test ./web -run TestPreview -preview /some/folder
var preview = flag.String("preview", "", "folder to write documents of invented pages into")

func TestPreview(t *testing.T) {
	if *preview == "" {
		return
	}
	for _, name := range invented() {
		for _, theme := range []string{"light", "dark"} {
			p := name.page
			p.Theme = theme
			var b bytes.Buffer
			o := DocumentOptions{Style: string(Stylesheet()), Keys: commands}
			if err := Document(p, o).Render(t.Context(), &b); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(*preview, name.name+"-"+theme+".html")
			if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

var commands = []view.Command{
	{Keys: []string{"/"}, Run: "filter", Title: "go to the filter"}, {Keys: []string{"j", "ArrowDown"}, Run: "row +1", Title: "next row or turn"},
	{Keys: []string{"Enter"}, Run: "open", Title: "open the row"}, {Keys: []string{"Escape"}, Run: "back", Title: "back"},
	{Keys: []string{"g h"}, Run: "tab health", Title: "Health"}, {Keys: []string{"?"}, Run: "keys", Title: "this sheet"},
}

type inventedPage struct {
	name string
	page view.Page
}

// invented are pages of one imaginary run. Every kind of page and every part of one occurs.
func invented() []inventedPage {
	reading := shell("rollouts")
	reading.Phase = view.Scanning
	reading.Progress = &view.Progress{
		Name: "rollouts.jsonl", Percent: 42,
		Bytes: view.Text{Text: "1,344,041,340 of 3,202,208,307 bytes"}, Rows: view.Text{Text: "8,231 rows"},
		Rate: view.Text{Text: "271 MB/s"}, Left: view.Text{Text: "about 7 s left", Muted: true},
		Note: "numbers below are for the rows read so far",
	}
	reading.Rollouts = inventedRollouts()
	reading.Rollouts.Charts = nil
	return []inventedPage{
		{"landing", inventedLanding()},
		{"health", with(shell("health"), func(p *view.Page) { p.Health = inventedHealth() })},
		{"rollouts", with(shell("rollouts"), func(p *view.Page) {
			p.Rollouts = inventedRollouts()
			p.Filter = inventedFilter()
		})},
		{"files", with(shell("files"), func(p *view.Page) {
			p.Files = inventedFiles()
			p.Alerts = inventedAlerts()
		})},
		{"calls-part", with(shell("rollouts"), func(p *view.Page) { p.Rollout = inventedCalls() })},
		{"tokens-part", with(shell("rollouts"), func(p *view.Page) { p.Rollout = inventedTokens() })},
		{"rollout", with(shell("rollouts"), func(p *view.Page) {
			p.Rollout = inventedRollout()
			p.Filter = inventedFilter()
		})},
		{"long", with(shell("rollouts"), func(p *view.Page) {
			p.Rollout = inventedRollout()
			p.Rollout.Blocks = append([]view.Block{{Kind: "prompt", ID: "prompt", Title: "Prompt", Note: "1 item", Children: []view.Block{{Kind: "message", Title: "user", Text: "Pin the package."}}}},
				view.Block{Kind: "chunk", ID: "0", Turn: 1, Folded: 3}, view.Block{Kind: "chunk", ID: "1", Turn: 4, Folded: 3, Children: p.Rollout.Blocks})
			p.Rollout.Blocks[2].Children[0].Children[1].Children = []view.Block{{Kind: "output", Title: "output", Mono: true, Text: "libssl3"}, {Kind: "note", Title: "unanswered", Text: "no output was saved", Mark: view.MarkUnknown}}
		})},
		{"row", with(shell("rollouts"), func(p *view.Page) {
			p.Rollout = inventedRollout()
			p.Rollout.Blocks, p.Rollout.Turns = nil, nil
			p.Filter = inventedFilter()
		})},
		{"raw", with(shell("rollouts"), func(p *view.Page) {
			p.Rollout = inventedRaw()
			p.Filter = inventedFilter()
		})},
		{"overview", with(shell("overview"), func(p *view.Page) { p.Overview = inventedOverview() })},
		{"tasks", with(shell("tasks"), func(p *view.Page) {
			p.Tasks, p.Chooser = inventedTasks(), inventedChooser()
			p.Sight = &view.Sight{Table: "tasks", Total: 2500, Text: "rows 1–30 of 2,500"}
		})},
		{"calls", with(shell("calls"), func(p *view.Page) { p.Calls = callsOf("quill") })},
		{"performance", with(shell("performance"), func(p *view.Page) { p.Performance = performanceOf("term") })},
		{"missing", inventedMissing()},
		{"reading", reading},
		{"empty", with(shell("rollouts"), func(p *view.Page) {
			p.Rollouts = &view.Rollouts{Table: inventedRollouts().Table}
			p.Rollouts.Table.Rows, p.Rollouts.Table.Total, p.Rollouts.Table.From = nil, 0, 0
			p.Rollouts.Table.Empty = "No rollout matches `reward>2`. Remove a part of the filter to see more."
			p.Filter.Text, p.Filter.Error, p.Filter.ErrorAt = "reward>2 and", "a comparison is expected here", 11
		})},
	}
}

func with(p view.Page, f func(*view.Page)) view.Page {
	f(&p)
	return p
}

func shell(tab string) view.Page {
	p := view.Page{
		Phase: view.Ready, Title: "term-r8 · Rollscope", Brand: "Rollscope", Version: "0.9.0",
		Lock: view.Lock{Text: "nothing leaves this page", Mode: "dropped files", Lines: []string{
			"policy in force: `connect-src 'none'`", "requests since load: 0", "read: rollouts.jsonl, 3,202,208,307 bytes",
		}},
		Runs: []view.RunChoice{
			{Name: "term-r8", Detail: "5 files", Href: "#run=term-r8", Current: true},
			{Name: "term-r8-prev", Detail: "5 files", Href: "#run=term-r8-prev"},
		},
		Filter: view.FilterBar{Shown: 20000, Total: 20000, Count: "20,000 of 20,000", Unit: "rollouts"},
		Stats: []view.Stat{
			{Name: "accounting.files", Value: "1"}, {Name: "accounting.lines", Value: "19612"}, {Name: "rollout.count", Value: "19612"},
			{Name: "verdict.healthy", Value: "14899"}, {Name: "verdict.unhealthy", Value: "1368"}, {Name: "score.mean", Value: ""},
		},
		Foot: []view.Text{
			{Text: "rollouts.jsonl 3,202,208,307 bytes · 19,612 read + 0 blank + 0 unreadable = 19,612 lines"}, {Text: "profile 0.7"},
		},
		Links: []view.Link{{Text: "Copy TSV", Copy: "tsv"}, {Text: "Download CSV", Download: "rollouts.csv"}, {Text: "Download JSONL", Download: "rollouts.jsonl"}},
	}
	for _, t := range []string{"Overview", "Rollouts", "Tasks", "Health", "Coverage", "Scores", "Calls", "Performance", "Harness", "Files"} {
		id := string(bytes.ToLower([]byte(t)))
		p.Tabs = append(p.Tabs, view.Tab{ID: id, Title: t, Href: "#tab=" + id, Current: id == tab, Key: id[:1]})
	}
	return p
}

func inventedFilter() view.FilterBar {
	return view.FilterBar{
		Text: "check:model_call_failed agent:opencode reward=0", Count: "74 of 20,000", Unit: "rollouts", Shown: 74, Total: 20000,
		Chips: []view.Chip{{Text: "check: model_call_failed", Remove: "#a"}, {Text: "agent: opencode", Remove: "#b"}, {Text: "reward = 0", Remove: "#c"}},
	}
}

func inventedAlerts() []view.Alert {
	return []view.Alert{
		{Code: "unreadable_row", Text: "line is not valid JSON: unexpected end of text", Place: view.Text{Text: "rollouts.jsonl:236", Mono: true, Href: "#x"}, Help: "It is counted as unreadable; the other lines are used.", Count: 3},
		{Code: "torn_tail", Text: "the last line has no line feed and is cut", Place: view.Text{Text: "rollouts-2.jsonl:9001", Mono: true}, Help: "The file is possibly still being written. Drop it again when the run has ended.", Count: 1},
	}
}

func inventedLanding() view.Page {
	p := shell("")
	p.Phase, p.Tabs, p.Runs, p.Filter.Hidden, p.Stats = view.Idle, nil, nil, true, nil
	p.Title = "Rollscope"
	p.Foot = []view.Text{{Text: "Rollscope 0.9.0"}, {Text: "health rules: profile 0.7"}}
	p.Links = nil
	p.Landing = &view.Landing{
		Heading: "Drop a run folder or rollout files anywhere in this window.",
		Lead:    "Rollscope shows whether an evaluation run is complete, healthy, well scored and fast, with the rows that prove it.",
		Privacy: "Files are read in this tab. The page makes no request after it has loaded, and the browser refuses any.",
		Loading: "Reader loading, 1.6 of 2.3 MB. Files dropped now are queued.",
		Understood: []view.Pair{
			{Name: "NeMo Gym run folder", Text: "rollouts.jsonl with _failures, _materialized_inputs, _manifest, _coverage, _aggregate_metrics, shards"},
			{Name: "Health reports", Text: "quality_summary.json, rollout_verdicts.jsonl"},
			{Name: "Captures", Text: "*.capture.jsonl: responses, chat and messages dialects"},
			{Name: "ATIF", Text: "trajectory.json, Harbor jobs folder"},
			{Name: "Other producers", Text: "Inspect .eval and .json, verl dumps, lm-eval samples"},
			{Name: "Packed", Text: ".gz .zst .zip .tar, read without unpacking"},
		},
		Note: "Any file size: rows stay in the file, memory grows with the number of rows only. Unknown files are listed with what was recognised and what was not.",
	}
	return p
}

func inventedMissing() view.Page {
	p := shell("")
	p.Phase, p.Tabs, p.Filter.Hidden, p.Stats, p.Links = view.Idle, nil, true, nil, nil
	p.Runs = []view.RunChoice{{Name: "term-r8", Detail: "1 of 5 files", Current: true}}
	p.Missing = &view.Missing{
		Heading: "This link needs 4 more files. Drop them here.",
		Lines:   []view.Text{{Text: "A link holds names, sizes and hashes, never the data. The view opens as soon as the files are there."}},
		Go:      view.Link{Text: "Go on with 1 of 5 files", Href: "#go"},
		Shows:   []view.Text{{Text: "Rollouts,"}, {Text: "check:model_call_failed agent:opencode reward=0", Mono: true}, {Text: "sorted by latency, rollout"}, {Text: "880-6", Mono: true}, {Text: "at turn 6."}},
		Table: view.Table{ID: "missing", Caption: "files of the link", Total: 3, Height: 27, Note: "1 of 5 given, 1 differs",
			Columns: []view.Column{{Key: "name", Title: "name", Mono: true}, {Key: "bytes", Title: "bytes", Right: true}, {Key: "hash", Title: "hash", Mono: true}, {Key: "state", Title: "state", Grow: true}},
		},
	}
	for i, f := range [][3]string{{"rollouts.jsonl", "3,202,208,307", "sha256 5f0c91d2…"}, {"rollouts_manifest.json", "1,204,551", "sha256 e3b97710…"}, {"rollouts_coverage.json", "612", "sha256 91d20c4f…"}} {
		state := []view.Text{{Mark: view.MarkUnknown, Text: "missing"}, {Mark: view.MarkHealthy, Text: "given"}, {Mark: view.MarkUnhealthy, Text: "differs: dropped file is sha256 7b1e29c0…"}}[i]
		p.Missing.Table.Rows = append(p.Missing.Table.Rows, view.Row{ID: f[0], Index: i, Cells: []view.Cell{{Text: view.Text{Text: f[0]}}, {Text: view.Text{Text: f[1]}}, {Text: view.Text{Text: f[2]}}, {Text: state}}})
	}
	return p
}

func inventedHealth() *view.Health {
	type check struct {
		id, subject                     string
		evaluated, unobserved, findings int
		touched                         int
		share, bar                      float64
	}
	checks := []check{
		{"check_execution_error", "check_execution", 19612, 0, 4, 4, 0.02, 0.02},
		{"record_unreadable", "record", 19612, 0, 5, 5, 0.03, 0.02},
		{"rollout_duplicate_identity", "rollout", 19612, 0, 0, 0, 0, 0},
		{"rollout_missing_agent_turns", "rollout", 19528, 84, 39, 39, 0.20, 0.08},
		{"rollout_ended_on_failed_model_call", "rollout", 19428, 184, 130, 130, 0.67, 0.27},
		{"agent_turn_hollow", "agent_turn", 19528, 84, 886, 451, 2.31, 0.92},
		{"model_call_zero_completion_tokens", "model_call", 19428, 184, 170, 127, 0.65, 0.26},
		{"model_call_missing_token_counts", "model_call", 19428, 184, 52, 52, 0.27, 0.11},
		{"trajectory_capture_mismatch", "trajectory_capture", 19428, 184, 105, 88, 0.45, 0.18},
		{"model_call_failed", "model_call", 19428, 184, 688, 346, 1.78, 0.71},
		{"rollout_token_count_mismatch", "rollout", 16122, 3490, 154, 154, 0.96, 0.38},
		{"model_call_runaway_generation", "model_call", 19428, 184, 170, 170, 0.88, 0.35},
		{"task_consistently_unhealthy", "task", 2125, 375, 50, 50, 2.35, 0.94},
		{"task_no_successful_model_calls", "task", 2048, 452, 3, 3, 0.15, 0.06},
	}
	h := &view.Health{
		Judged: "verdict of 19,612 judged rollouts",
		Shares: []view.Share{
			{Mark: view.MarkHealthy, Word: "healthy", Count: 14899, Text: "14,899", Percent: "75.969 %", Part: 0.75969, Href: "#h", Stat: "verdict.healthy"},
			{Mark: view.MarkUnhealthy, Word: "unhealthy", Count: 1368, Text: "1,368", Percent: "6.975 %", Part: 0.06975, Href: "#u", Stat: "verdict.unhealthy"},
			{Mark: view.MarkUnobserved, Word: "unobserved", Count: 3345, Text: "3,345", Percent: "17.056 %", Part: 0.17056, Href: "#o", Stat: "verdict.unobserved"},
		},
		Facts: []view.Fact{
			{Label: "model call errors", Value: view.Text{Text: "688"}, Note: view.Text{Text: "346 rollouts"}},
			{Label: "ended on an error", Value: view.Text{Text: "130"}, Note: view.Text{Text: "rollouts"}},
			{Label: "captures", Value: view.Text{Text: "19,607"}, Note: view.Text{Text: "of 19,612"}},
			{Label: "duplicated calls", Value: view.Text{Text: view.Dash, Title: "no row names a call twice"}, Note: view.Text{Text: "0 rollouts"}},
			{Label: "tasks flagged", Value: view.Text{Text: "50"}, Note: view.Text{Text: "of 2,500"}},
		},
		Options: view.HealthOptions{Profiles: []view.Choice{{Value: "0.7", Title: "0.7", Href: "#p7", On: true}, {Value: "main", Title: "main", Href: "#pm"}}},
		Checks: view.Table{
			ID: "checks", Caption: "checks in the order of the registry", Total: len(checks), Height: 27,
			Columns: []view.Column{
				{Key: "no", Title: "#", Right: true}, {Key: "check", Title: "check", Mono: true}, {Key: "subject", Title: "subject"},
				{Key: "evaluated", Title: "evaluated", Right: true}, {Key: "unobserved", Title: "unobserved", Right: true}, {Key: "ignored", Title: "ignored", Right: true},
				{Key: "findings", Title: "findings", Right: true}, {Key: "rollouts", Title: "rollouts or tasks", Right: true},
				{Key: "share", Title: "share", Unit: "%", Right: true}, {Key: "bar", Title: "0 – 2.5 %", Bars: true, Width: 124},
			},
		},
	}
	for i, c := range checks {
		h.Options.Ignored = append(h.Options.Ignored, view.Choice{Value: c.id, Title: c.id, Href: "#ignore=" + c.id, On: i == 2})
		m := view.MarkUnhealthy
		if c.findings == 0 {
			m = view.MarkHealthy
		}
		stat := "check." + c.id
		row := view.Row{ID: c.id, Index: i, Finding: c.id, Href: "#check=" + c.id, Cells: []view.Cell{
			{Text: view.Text{Text: fmt.Sprint(i + 1), Muted: true}, Bar: -1}, {Text: view.Text{Text: c.id, Mark: m}}, {Text: view.Text{Text: c.subject, Muted: true}},
			{Text: view.Text{Text: view.Group(c.evaluated)}, Stat: stat + ".evaluated", Exact: fmt.Sprint(c.evaluated)}, {Text: view.Text{Text: view.Group(c.unobserved)}}, {Text: view.Text{Text: "0"}},
			{Text: view.Text{Text: view.Group(c.findings)}, Stat: stat + ".fired", Exact: fmt.Sprint(c.findings)},
			{Text: view.Text{Text: view.Group(c.touched)}, Extra: view.Text{Text: "of " + view.Group(c.evaluated)}}, {Text: view.Text{Text: fmt.Sprintf("%.2f", c.share)}},
			{Bar: c.bar, Tone: "unhealthy"},
		}}
		if c.id == "model_call_failed" {
			row.Selected, row.Open = true, inventedDetail()
		}
		h.Checks.Rows = append(h.Checks.Rows, row)
	}
	return h
}

func inventedDetail() *view.Detail {
	d := &view.Detail{
		Text:  "A model call owned by this rollout failed: its status is 400 or higher, or it has an error category, or its response status is failed, error or cancelled.",
		Notes: []string{"Reads `ng_trajectory.model_calls`, turn and invocation references. One finding per call. Not judged on 184 rollouts: 179 with gap `model_call_capture_incomplete`, 5 with an unreadable trajectory."},
		Links: []view.Link{{Text: "Filter to 346 rollouts", Href: "#f"}, {Text: "Copy as TSV", Copy: "tsv"}},
		Tables: []view.Table{
			{ID: "status", Caption: "calls by status", Height: 22, Total: 4, Columns: []view.Column{{Title: "status", Mono: true}, {Title: "calls", Right: true}, {Bars: true}}},
			{ID: "findings", Caption: "first findings", Note: "4 of 688 findings · by agent: opencode 119 · hermes 92 · terminus_2 91 · pi 44", Height: 22, Total: 4, Columns: []view.Column{
				{Title: "rollout", Mono: true}, {Title: "call", Mono: true}, {Title: "status", Mono: true}, {Title: "category", Mono: true}, {Title: "last"}, {Title: "place", Mono: true}, {Title: "byte", Right: true}}},
		},
	}
	for i, s := range []struct {
		status, calls string
		bar           float64
	}{{"429", "378", .91}, {"500", "131", .31}, {"503", "96", .23}, {"–", "83", .2}} {
		d.Tables[0].Rows = append(d.Tables[0].Rows, view.Row{ID: s.status, Index: i, Cells: []view.Cell{{Text: view.Text{Text: s.status}}, {Text: view.Text{Text: s.calls}}, {Bar: s.bar}}})
	}
	for i, f := range [][7]string{
		{"880-6", "mc-4e19d2-5", "429", "rate_limited", "no", "rollouts.jsonl:7272", "1,190,447,529"}, {"1178-3", "mc-a07c11-3", "500", "–", "yes", "rollouts.jsonl:9168", "1,500,437,118"},
		{"411-2", "mc-19be40-2", "429", "rate_limited", "no", "rollouts.jsonl:3137", "517,051,944"}, {"16-1", "mc-77d0f3-9", "–", "connection_error", "no", "rollouts.jsonl:716", "122,165,767"},
	} {
		r := view.Row{ID: f[0], Index: i, Rollout: "rollouts.jsonl:" + f[6]}
		for j, s := range f {
			c := view.Cell{Text: view.Text{Text: s, Muted: j == 6}}
			if j == 0 || j == 5 {
				c.Text.Href = "#rollout=" + f[5]
			}
			r.Cells = append(r.Cells, c)
		}
		d.Tables[1].Rows = append(d.Tables[1].Rows, r)
	}
	return d
}
