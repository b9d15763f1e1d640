package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rollscope/rollscope/core/finding"
	"github.com/rollscope/rollscope/core/perf"
	"github.com/rollscope/rollscope/core/quantile"
	"github.com/rollscope/rollscope/core/value"
	"github.com/rollscope/rollscope/core/view"
)

func perfCommand(h *host) *cobra.Command {
	var (
		how          printing
		rolloutsFile string
		margin       float64
		failOn       string
		only         rowFilter
	)
	cmd := &cobra.Command{
		Use:   "perf PATH… [flags]",
		Short: "say how long a run took and what it made in that time",
		Long: `Say how long the rollouts of a run took, how many ran at a time and how many were
done an hour, and how many tokens they made. Durations come from three sources
that are never mixed: the time of the run request, the seconds that a row tells
of itself, and the span of its model calls, which is a lower bound.

A saved summary beside the rollouts file is held against all of its rows, also
where --filter chooses some of them, in the language of the page.`,
		Example: "  rollscope perf RUN_DIR\n  rollscope perf RUN_DIR --filter 'agent:opencode' --json",
		RunE: func(cmd *cobra.Command, paths []string) error {
			least, err := parseSeverity(failOn, cmd.Flags().Changed("fail-on"))
			if err != nil {
				return err
			}
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
			report := m.perf.Report()
			var found []finding.Finding
			if len(inputs) == 1 {
				whole := report
				if fits != nil {
					whole = m.all.Report()
				}
				if found, err = savedSummary(inputs[0], whole); err != nil {
					h.note("%s", err)
				}
			}
			given := cmd.Flags().Changed("margin")
			err = h.print(&how, timeSheets(report, found, margin, given), func(w io.Writer) error { return timeDocument(w, report, found, margin, given) })
			if err != nil {
				return err
			}
			if err := damagedInputs(inputs); err != nil {
				return err
			}
			return least.check(found)
		},
	}
	f := cmd.Flags()
	f.StringVar(&rolloutsFile, "rollouts-file", "", "`name` of the rollouts file of a directory (default "+defaultRolloutsFile+")")
	f.Float64Var(&margin, "margin", 0, "take these `seconds` as the configured drain margin")
	f.StringVar(&failOn, "fail-on", "", "exit with status 1 on a finding of this `severity` or a worse one: error, warning or info")
	only.flag(cmd)
	how.formats(cmd)
	return cmd
}

// savedSummary holds the saved metrics beside a rollouts file against its rows.
func savedSummary(in *input, r *perf.Report) ([]finding.Finding, error) {
	path := beside(in.name, savedSuffix)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	saved, err := value.Parse(text, value.Leniency{Surrogates: true})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return perf.CheckSummaries(saved, r, path), nil
}

func seconds(f float64) string {
	switch {
	case f >= 3600:
		return decimals(f/3600, 2) + " h"
	case f >= 60:
		return decimals(f/60, 2) + " min"
	}
	return decimals(f, 2) + " s"
}

func clock(unix float64) string {
	if !(math.Abs(unix) < 1<<40) {
		return decimals(unix, 3)
	}
	return time.UnixMilli(int64(math.Round(unix * 1000))).UTC().Format("2006-01-02 15:04:05")
}

func timeSheets(r *perf.Report, found []finding.Finding, margin float64, given bool) *sheets {
	var s sheets
	intro := []string{view.Group(int64(r.Rows)) + " rows, " + view.Group(int64(r.Failures)) + " of them failures, " + view.Group(int64(r.WithPerf)) + " with numbers of performance"}
	timing := r.Trackers[perf.ByRequest]
	intro = append(intro, timing.Lines()...)
	intro = append(intro, marginLine(timing, margin, given))
	s.add(sheet{intro: intro})
	durations := sheet{title: "Duration of a rollout, seconds", columns: []column{
		{title: "source"}, {title: "rollouts", right: true}, {title: "p50", right: true}, {title: "p90", right: true}, {title: "p99", right: true}, {title: "longest", right: true},
	}, notes: []string{"quantiles by the rule of the collection's latency tracker"}}
	for k, name := range perf.SourceNames {
		durations.rows = append(durations.rows, append([]string{name}, spreadCells(r.Spreads[k], 2)...))
	}
	s.add(durations)
	s.main = durations
	s.add(windowSheet(&r.Window))
	if r.Window.Known {
		s.add(quarterSheet(&r.Window))
		s.add(concurrencySheet(&r.Window))
	}
	for _, g := range []struct {
		title string
		list  []perf.Part
	}{{"By agent", r.Agents}, {"By model", r.Models}, {"By task", r.Tasks}} {
		s.add(partSheet(g.title, g.list))
	}
	if len(r.Summary) > 0 {
		summary := sheet{title: "perf_summary of all rows", columns: []column{{title: "name"}, {title: "value", right: true}}}
		for _, m := range r.Summary {
			summary.rows = append(summary.rows, []string{m.Key, string(m.Value.Append(nil, value.Plain))})
		}
		s.add(summary)
	}
	if len(r.Slowest) > 0 {
		slow := sheet{title: "Slowest rollouts", columns: []column{{title: "rollout"}, {title: "agent"}, {title: "duration", right: true}, {title: "calls", right: true}, {title: "by"}}}
		for _, t := range r.Slowest {
			d, source, _ := t.Seconds()
			slow.rows = append(slow.rows, []string{t.ID, orDash(t.Agent), seconds(d), strconv.Itoa(t.Calls), perf.SourceNames[source]})
		}
		s.add(slow)
	}
	if len(found) > 0 {
		table := sheet{title: "Findings", columns: []column{{title: "severity"}, {title: "finding"}, {title: "what"}}}
		for i := range found {
			table.rows = append(table.rows, []string{string(found[i].Severity), found[i].ID, found[i].Message()})
		}
		s.add(table)
	}
	return &s
}

// marginLine says when a run with a budget would have stopped starting rollouts.
func marginLine(t *perf.Tracker, margin float64, given bool) string {
	s, ok := t.DrainMargin(margin, given)
	switch {
	case !ok:
		return "drain margin: none, " + strconv.Itoa(t.Len()) + " timed rollouts where 5 are needed"
	case given:
		return "drain margin: " + seconds(s) + ", as configured"
	}
	return "drain margin: " + seconds(s) + " over " + strconv.Itoa(t.Len()) + " timed rollouts"
}

func windowSheet(w *perf.Window) sheet {
	table := sheet{title: "Throughput", columns: []column{{title: "what"}, {title: "value", right: true}}}
	if !w.Known {
		table.intro = []string{"not known: " + strconv.Itoa(w.Rows) + " rows have a place in time, where two are needed"}
		return table
	}
	add := func(name, text string) { table.rows = append(table.rows, []string{name, text}) }
	add("first call starts, UTC", clock(w.Start))
	add("last call ends, UTC", clock(w.End))
	add("window", seconds(w.End-w.Start))
	add("rollouts in it", view.Group(int64(w.Rows)))
	add("rollouts an hour", decimals(w.PerHour, 2))
	add("rollouts a minute", decimals(w.PerMinute, 4))
	add("running at a time, mean", decimals(w.MeanConcurrency, 2))
	add("running at a time, most", strconv.Itoa(w.PeakConcurrency))
	if w.LittleKnown {
		add("throughput × mean latency", decimals(w.Little, 2))
	}
	add("completion tokens", w.Completion.String())
	add("completion tokens a second", decimals(w.CompletionPerSecond, 2))
	return table
}

func quarterSheet(w *perf.Window) sheet {
	table := sheet{title: "By quarter of the window", columns: []column{
		{title: "from"}, {title: "ended", right: true}, {title: "an hour", right: true}, {title: "p50 s", right: true}, {title: "p90 s", right: true}, {title: "p99 s", right: true},
	}, notes: []string{"the more run at a time, the more are done and the longer each takes"}}
	for i := range w.Quarters {
		q := &w.Quarters[i]
		cells := spreadCells(q.Seconds, 2)
		table.rows = append(table.rows, []string{clock(q.From), strconv.Itoa(q.Rows), decimals(q.PerHour, 2), cells[1], cells[2], cells[3]})
	}
	return table
}

func concurrencySheet(w *perf.Window) sheet {
	table := sheet{title: "Running at a time", columns: []column{{title: "from"}, {title: "mean", right: true}, {title: "most", right: true}, {title: ""}}}
	levels := w.Concurrency(12)
	for _, l := range levels {
		bar := ""
		if w.PeakConcurrency > 0 {
			bar = strings.Repeat("█", int(math.Round(40*l.Mean/float64(w.PeakConcurrency))))
		}
		table.rows = append(table.rows, []string{clock(l.From), decimals(l.Mean, 2), strconv.Itoa(l.Peak), bar})
	}
	return table
}

// mostParts bounds the rows of a printed table of groups.
const mostParts = 20

func partSheet(title string, list []perf.Part) sheet {
	table := sheet{title: title, columns: []column{
		{title: "name"}, {title: "rows", right: true}, {title: "failures", right: true}, {title: "p50 s", right: true}, {title: "p90 s", right: true},
		{title: "turns, mean", right: true}, {title: "calls", right: true}, {title: "prompt", right: true}, {title: "completion", right: true}, {title: "tokens/s", right: true}, {title: "time by"},
	}}
	for i := range list {
		if i == mostParts {
			table.notes = append(table.notes, "and "+strconv.Itoa(len(list)-mostParts)+" more; --json lists all")
			break
		}
		p := &list[i]
		best, by := quantile.Spread{}, dash
		if p.By >= 0 {
			best, by = p.Seconds[p.By], perf.SourceNames[p.By]
		}
		cells, turns, rate := spreadCells(best, 2), dash, dash
		if p.TurnsKnown > 0 {
			turns = decimals(p.TurnsMean, 1)
		}
		if p.OutPerSecond > 0 {
			rate = decimals(p.OutPerSecond, 1)
		}
		table.rows = append(table.rows, []string{
			orDash(p.Name), view.Group(int64(p.Rows)), view.Group(int64(p.Failures)), cells[1], cells[2], turns, view.Group(int64(p.Calls)),
			p.Prompt.String(), p.Completion.String(), rate, by,
		})
	}
	return table
}

func timeDocument(w io.Writer, r *perf.Report, found []finding.Finding, margin float64, given bool) error {
	number := func(name string, n int) value.Member { return value.M(name, value.Int(int64(n))) }
	durations := []value.Member{}
	for k, name := range [...]string{"run_request_s", "observed_elapsed_s", "call_span_s"} {
		durations = append(durations, value.M(name, spreadDocument(r.Spreads[k])))
	}
	drain := value.Null
	if s, ok := r.Trackers[perf.ByRequest].DrainMargin(margin, given); ok {
		drain = value.Float(s)
	}
	parts := func(list []perf.Part) value.Value {
		items := []value.Value{}
		for i := range list {
			p := &list[i]
			seconds := []value.Member{}
			for k, name := range [...]string{"run_request_s", "observed_elapsed_s", "call_span_s"} {
				seconds = append(seconds, value.M(name, spreadDocument(p.Seconds[k])))
			}
			items = append(items, value.Object(
				value.M("name", value.TextOrNull(p.Name)), number("rows", p.Rows), number("failures", p.Failures), value.M("durations", value.Object(seconds...)),
				number("calls", p.Calls), value.M("prompt_tokens", value.Whole(p.Prompt)), value.M("completion_tokens", value.Whole(p.Completion)),
				value.M("tokens_per_second", value.Float(p.OutPerSecond)), value.M("time_by", timeBy(p.By))))
		}
		return value.List(items...)
	}
	findings := []value.Value{}
	for i := range found {
		findings = append(findings, found[i].Document())
	}
	summary := value.Null
	if len(r.Summary) > 0 {
		summary = value.Object(r.Summary...)
	}
	doc := value.Object(
		number("rows", r.Rows), number("failures", r.Failures), number("with_perf", r.WithPerf),
		value.M("durations", value.Object(durations...)), value.M("drain_margin_s", drain),
		value.M("delivered_hours", value.Float(r.Trackers[perf.ByRequest].Hours())),
		value.M("window", windowDocument(&r.Window)),
		value.M("agents", parts(r.Agents)), value.M("models", parts(r.Models)), value.M("tasks", parts(r.Tasks)),
		value.M("perf_summary", summary), value.M("findings", value.List(findings...)))
	_, err := w.Write(append(doc.Append(nil, value.Plain), '\n'))
	return err
}

// timeBy names the source of a part's time.
func timeBy(source int) value.Value {
	if source < 0 {
		return value.Null
	}
	return value.Text([...]string{"run_request", "observed_elapsed", "call_span"}[source])
}

func windowDocument(w *perf.Window) value.Value {
	if !w.Known {
		return value.Null
	}
	little := value.Null
	if w.LittleKnown {
		little = value.Float(w.Little)
	}
	quarters, levels := []value.Value{}, []value.Value{}
	for i := range w.Quarters {
		q := &w.Quarters[i]
		quarters = append(quarters, value.Object(value.M("from", value.Float(q.From)), value.M("to", value.Float(q.To)), value.M("rows", value.Int(int64(q.Rows))), value.M("per_hour", value.Float(q.PerHour)), value.M("run_request_s", spreadDocument(q.Seconds))))
	}
	for _, l := range w.Concurrency(60) {
		levels = append(levels, value.Object(value.M("from", value.Float(l.From)), value.M("to", value.Float(l.To)), value.M("mean", value.Float(l.Mean)), value.M("peak", value.Int(int64(l.Peak)))))
	}
	hours := []value.Value{}
	for _, n := range w.Hours {
		hours = append(hours, value.Int(int64(n)))
	}
	return value.Object(
		value.M("start", value.Float(w.Start)), value.M("end", value.Float(w.End)), value.M("rows", value.Int(int64(w.Rows))),
		value.M("per_hour", value.Float(w.PerHour)), value.M("per_minute", value.Float(w.PerMinute)),
		value.M("mean_concurrency", value.Float(w.MeanConcurrency)), value.M("peak_concurrency", value.Int(int64(w.PeakConcurrency))), value.M("little", little),
		value.M("completion_tokens", value.Whole(w.Completion)), value.M("completion_tokens_per_second", value.Float(w.CompletionPerSecond)),
		value.M("quarters", value.List(quarters...)), value.M("ended_by_hour_utc", value.List(hours...)), value.M("concurrency", value.List(levels...)))
}
