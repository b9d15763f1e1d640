package main

import (
	"errors"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/rollscope/rollscope/core/modelcall"
	"github.com/rollscope/rollscope/core/quantile"
	"github.com/rollscope/rollscope/core/trajectory/lax"
	"github.com/rollscope/rollscope/core/value"
	"github.com/rollscope/rollscope/core/view"
)

func callsCommand(h *host) *cobra.Command {
	var (
		how          printing
		rolloutsFile string
		list         bool
		failed       bool
		only         rowFilter
	)
	cmd := &cobra.Command{
		Use:   "calls PATH… [flags]",
		Short: "sum up the model calls of a run",
		Long: `Sum up the model calls that the rows of a run carry: how many there are and how
many failed, by model, status, error and finish reason; tokens, latency, time to
the first token and token rates. With --list every call is a line.

Calls are taken from what was captured, and where a row has nothing captured,
from its trajectory. --filter chooses rows in the language of the page, as the
command rows does.`,
		Example: `  rollscope calls RUN_DIR
  rollscope calls RUN_DIR --list --failed
  rollscope calls RUN_DIR --filter 'agent:opencode reward=0'
  rollscope calls RUN_DIR --list --csv > calls.csv`,
		RunE: func(cmd *cobra.Command, paths []string) error {
			fits, err := only.rows(cmd.Context(), h, paths, rolloutsFile)
			if err != nil {
				return err
			}
			inputs, err := openInputs(paths, inputOptions{rolloutsFile: rolloutsFile})
			defer closeInputs(inputs)
			if err != nil {
				return err
			}
			h.unread(paths, rolloutsFile)
			m, err := h.measure(cmd.Context(), inputs, fits)
			if err != nil {
				return err
			}
			report, err := m.calls.Report()
			if err != nil {
				return err
			}
			if list {
				err = h.print(&how, callList(report, inputs, failed), func(w io.Writer) error { return listDocument(w, report, inputs, failed) })
			} else {
				err = h.print(&how, callSheets(report), func(w io.Writer) error { return callsDocument(w, report) })
			}
			return errors.Join(err, damagedInputs(inputs))
		},
	}
	f := cmd.Flags()
	f.StringVar(&rolloutsFile, "rollouts-file", "", "`name` of the rollouts file of a directory (default "+defaultRolloutsFile+")")
	f.BoolVar(&list, "list", false, "list every call")
	f.BoolVar(&failed, "failed", false, "with --list: failed calls alone")
	only.flag(cmd)
	how.formats(cmd)
	return cmd
}

// formats are the flags of a command that writes no files.
func (p *printing) formats(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&p.json, "json", false, "print one JSON document")
	f.BoolVar(&p.csv, "csv", false, "print the main table as CSV")
	f.BoolVar(&p.markdown, "markdown", false, "print the tables as Markdown")
	cmd.MarkFlagsMutuallyExclusive("json", "csv", "markdown")
}

// dash stands for what is not known.
const dash = "–"

func orDash(s string) string {
	if s == "" {
		return dash
	}
	return s
}

// decimals writes a number with a few decimals.
func decimals(f float64, n int) string { return strconv.FormatFloat(f, 'f', n, 64) }

func realText(f lax.Real, n int) string {
	if !f.Set {
		return dash
	}
	return decimals(f.Value, n)
}

func countText(n lax.Count) string {
	if !n.Set {
		return dash
	}
	return n.Int.String()
}

// spreadCells are the cells of a spread: count, quantiles by the tracker's rule, longest.
func spreadCells(s quantile.Spread, n int) []string {
	if s.N == 0 {
		return []string{"0", dash, dash, dash, dash}
	}
	return []string{view.Group(int64(s.N)), decimals(s.ByTracker[0], n), decimals(s.ByTracker[2], n), decimals(s.ByTracker[3], n), decimals(s.Max, n)}
}

func callSheets(r *modelcall.Report) *sheets {
	var s sheets
	failed := ""
	if r.All.Calls > 0 {
		failed = ", " + view.Group(r.All.Failed) + " failed (" + decimals(100*float64(r.All.Failed)/float64(r.All.Calls), 1) + " %)"
	}
	s.add(sheet{intro: []string{
		view.Group(r.All.Calls) + " model calls" + failed,
		"in " + view.Group(r.WithCalls) + " of " + view.Group(r.Rows) + " rows: " + view.Group(r.Attached) + " with captured calls, " + view.Group(r.FromTrajectory) + " by their trajectory alone",
	}})
	groups := sheet{title: "By model", columns: []column{
		{title: "server"}, {title: "model"}, {title: "dialect"}, {title: "calls", right: true}, {title: "failed", right: true},
		{title: "prompt", right: true}, {title: "cached", right: true}, {title: "completion", right: true}, {title: "reasoning", right: true},
	}}
	for _, g := range r.Groups {
		groups.rows = append(groups.rows, []string{
			orDash(g.Server), orDash(g.Model), orDash(g.Dialect), view.Group(g.Calls), view.Group(g.Failed),
			sumText(g.Tokens.In), sumText(g.Tokens.Cached), sumText(g.Tokens.Out), sumText(g.Tokens.Reasoning),
		})
	}
	s.main = groups
	if len(groups.rows) == 0 {
		return &s
	}
	s.add(groups)
	times := sheet{title: "Time", columns: []column{
		{title: "what"}, {title: "model"}, {title: "n", right: true}, {title: "p50", right: true}, {title: "p90", right: true}, {title: "p99", right: true}, {title: "most", right: true},
	}, notes: []string{"quantiles by the rule of the collection's latency tracker"}}
	add := func(what string, pick func(*modelcall.Group) quantile.Spread, n int) {
		times.rows = append(times.rows, append([]string{what, "all"}, spreadCells(pick(&r.All), n)...))
		if len(r.Groups) > 1 {
			for i := range r.Groups {
				if g := &r.Groups[i]; pick(g).N > 0 {
					times.rows = append(times.rows, append([]string{what, groupName(g, r.Groups)}, spreadCells(pick(g), n)...))
				}
			}
		}
	}
	add("latency, ms", func(g *modelcall.Group) quantile.Spread { return g.LatencyMS }, 1)
	add("first token, ms", func(g *modelcall.Group) quantile.Spread { return g.TTFTMS }, 1)
	add("tokens/s, whole call", func(g *modelcall.Group) quantile.Spread { return g.OutRate }, 1)
	add("tokens/s, generation", func(g *modelcall.Group) quantile.Spread { return g.GenerationRate }, 1)
	s.add(times)
	for _, t := range []struct {
		title, head, none string
		list              []modelcall.Tally
	}{
		{"By status", "status", "unknown", r.Status}, {"By error category", "category", "none", r.Category}, {"By finish reason", "finish reason", "unknown", r.Finish},
	} {
		table := sheet{title: t.title, columns: []column{{title: t.head}, {title: "calls", right: true}, {title: "failed", right: true}}}
		for _, one := range t.list {
			name := one.Value
			if name == "" {
				name = t.none
			}
			table.rows = append(table.rows, []string{name, view.Group(one.Calls), view.Group(one.Failed)})
		}
		s.add(table)
	}
	return &s
}

// groupName tells a group from the others: by model and dialect, and by the server where another one has both.
func groupName(g *modelcall.Group, all []modelcall.Group) string {
	name := orDash(g.Model)
	if g.Dialect != "" {
		name += " (" + g.Dialect + ")"
	}
	for i := range all {
		if o := &all[i]; o.Model == g.Model && o.Dialect == g.Dialect && o.Server != g.Server {
			return name + " of " + orDash(g.Server)
		}
	}
	return name
}

func sumText(t modelcall.TokenSum) string {
	if t.Calls == 0 {
		return dash
	}
	return t.Sum.String()
}

func callsDocument(w io.Writer, r *modelcall.Report) error {
	tallies := func(list []modelcall.Tally) value.Value {
		items := []value.Value{}
		for _, t := range list {
			items = append(items, value.Object(value.M("value", value.TextOrNull(t.Value)), value.M("calls", value.Int(t.Calls)), value.M("failed", value.Int(t.Failed))))
		}
		return value.List(items...)
	}
	groups := []value.Value{}
	for i := range r.Groups {
		groups = append(groups, groupDocument(&r.Groups[i]))
	}
	doc := value.Object(
		value.M("rows", value.Int(r.Rows)), value.M("rows_with_calls", value.Int(r.WithCalls)),
		value.M("attached", value.Int(r.Attached)), value.M("from_trajectory", value.Int(r.FromTrajectory)),
		value.M("all", groupDocument(&r.All)), value.M("groups", value.List(groups...)),
		value.M("status", tallies(r.Status)), value.M("category", tallies(r.Category)), value.M("finish", tallies(r.Finish)))
	_, err := w.Write(append(doc.Append(nil, value.Plain), '\n'))
	return err
}

func groupDocument(g *modelcall.Group) value.Value {
	tokens := func(t modelcall.TokenSum) value.Value {
		if t.Calls == 0 {
			return value.Null
		}
		return value.Whole(t.Sum)
	}
	return value.Object(
		value.M("server", value.TextOrNull(g.Server)), value.M("model", value.TextOrNull(g.Model)), value.M("dialect", value.TextOrNull(g.Dialect)),
		value.M("calls", value.Int(g.Calls)), value.M("failed", value.Int(g.Failed)), value.M("cache_hits", value.Int(g.Cached)), value.M("tool_calls", value.Int(g.Tools)),
		value.M("tokens_in", tokens(g.Tokens.In)), value.M("tokens_out", tokens(g.Tokens.Out)), value.M("tokens_reasoning", tokens(g.Tokens.Reasoning)),
		value.M("tokens_total", tokens(g.Tokens.Total)), value.M("cached_tokens", tokens(g.Tokens.Cached)),
		value.M("latency_ms", spreadDocument(g.LatencyMS)), value.M("ttft_ms", spreadDocument(g.TTFTMS)),
		value.M("tokens_per_second", spreadDocument(g.OutRate)), value.M("generation_tokens_per_second", spreadDocument(g.GenerationRate)))
}

// spreadDocument has the quantiles by both rules.
func spreadDocument(s quantile.Spread) value.Value {
	if s.N == 0 {
		return value.Null
	}
	tracker, summary := []value.Member{}, []value.Member{}
	for i, name := range quantile.ShareNames {
		tracker = append(tracker, value.M(name, value.Float(s.ByTracker[i])))
		summary = append(summary, value.M(name, value.Float(s.BySummary[i])))
	}
	return value.Object(
		value.M("n", value.Int(int64(s.N))), value.M("min", value.Float(s.Min)), value.M("max", value.Float(s.Max)), value.M("mean", value.Float(s.Mean)),
		value.M("tracker", value.Object(tracker...)), value.M("summary", value.Object(summary...)))
}

// callList lists calls one by one.
func callList(r *modelcall.Report, inputs []*input, failed bool) *sheets {
	table := sheet{columns: []column{
		{title: "place"}, {title: "rollout"}, {title: "call", right: true}, {title: "model"}, {title: "dialect"}, {title: "status", right: true},
		{title: "error"}, {title: "finish"}, {title: "prompt", right: true}, {title: "cached", right: true}, {title: "completion", right: true},
		{title: "latency ms", right: true}, {title: "first token ms", right: true}, {title: "started", right: true},
	}}
	r.Each(func(row *modelcall.Row, c *modelcall.Summary) bool {
		if failed && !c.Failed() {
			return true
		}
		table.rows = append(table.rows, []string{
			inputs[row.Source].name + ":" + strconv.FormatInt(row.Line, 10), row.Identity.ID, strconv.Itoa(c.Index), orDash(c.Model), orDash(c.Dialect),
			countText(c.Status), orDash(c.Category), orDash(c.Finish), countText(c.TokensIn), countText(c.Cached), countText(c.TokensOut),
			realText(c.LatencyMS, 2), realText(c.TTFTMS, 2), realText(c.Started, 3),
		})
		return true
	})
	s := &sheets{main: table}
	if len(table.rows) == 0 {
		table.intro = []string{"no such call"}
	}
	s.add(table)
	return s
}

func listDocument(w io.Writer, r *modelcall.Report, inputs []*input, failed bool) error {
	list := []value.Value{}
	count := func(n lax.Count) value.Value {
		if !n.Set {
			return value.Null
		}
		return value.Whole(n.Int)
	}
	real := func(f lax.Real) value.Value {
		if !f.Set {
			return value.Null
		}
		return value.Float(f.Value)
	}
	r.Each(func(row *modelcall.Row, c *modelcall.Summary) bool {
		if failed && !c.Failed() {
			return true
		}
		list = append(list, value.Object(
			value.M("file", value.Text(inputs[row.Source].name)), value.M("line", value.Int(row.Line)), value.M("rollout_id", value.Text(row.Identity.ID)),
			value.M("call", value.Int(int64(c.Index))), value.M("server", value.TextOrNull(c.Server)), value.M("model", value.TextOrNull(c.Model)),
			value.M("dialect", value.TextOrNull(c.Dialect)), value.M("status_code", count(c.Status)), value.M("error_category", value.TextOrNull(c.Category)),
			value.M("response_status", value.TextOrNull(c.ResponseStatus)), value.M("finish_reason", value.TextOrNull(c.Finish)), value.M("failed", value.Bool(c.Failed())),
			value.M("tokens_in", count(c.TokensIn)), value.M("tokens_out", count(c.TokensOut)), value.M("tokens_reasoning", count(c.TokensReasoning)),
			value.M("tokens_total", count(c.TokensTotal)), value.M("cached_tokens", count(c.Cached)),
			value.M("started_at", real(c.Started)), value.M("completed_at", real(c.Completed)),
			value.M("latency_ms", real(c.LatencyMS)), value.M("ttft_ms", real(c.TTFTMS))))
		return true
	})
	doc := value.Object(value.M("calls", value.List(list...)))
	_, err := w.Write(append(doc.Append(nil, value.Plain), '\n'))
	return err
}
