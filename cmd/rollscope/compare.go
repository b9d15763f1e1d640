package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rollscope/rollscope/core/compare"
	"github.com/rollscope/rollscope/core/metrics"
	"github.com/rollscope/rollscope/core/view"
)

// A comparing is how two runs are compared, with the flags that say so.
type comparing struct {
	agent      string
	baseline   string
	candidates []string
	derive     bool
}

// A comparedRun is one side.
type comparedRun struct {
	entries []*compare.Entry
	about   compare.Run
	inputs  []*input // what must not be written over
}

func compareCommand(h *host) *cobra.Command {
	var (
		out printing
		how comparing
	)
	cmd := &cobra.Command{
		Use:   "compare BASELINE CANDIDATE [flags]",
		Short: "hold one run against another",
		Long: `Compare the metrics of two runs: deltas with their intervals, and the tasks that
passed in one and failed in the other. Both are named by their rollouts files; a
directory stands for the file ` + defaultRolloutsFile + ` in it. What is read is the file
of aggregate metrics beside it. With --derive the metrics are computed from the
rows instead.

Tasks are joined by their index alone. That is right only if both runs had the
same dataset, split, limit and order.`,
		Example: `  rollscope compare before/rollouts.jsonl after/rollouts.jsonl
  rollscope compare before after --derive -o report
  rollscope compare a b --baseline-agent old_agent --candidate-agents new_agent`,
		Args: exactly(2, "compare takes two runs: a baseline and a candidate"),
		RunE: func(cmd *cobra.Command, paths []string) error {
			if err := out.check(cmd); err != nil {
				return err
			}
			agents := compare.Agents{Name: how.agent, Baseline: how.baseline}
			for _, list := range how.candidates {
				agents.Candidates = append(agents.Candidates, strings.Split(list, ",")...)
			}
			sides := [2]*comparedRun{}
			for i, role := range [...]string{"baseline", "candidate"} {
				side, err := h.side(cmd.Context(), role, paths[i], how.derive)
				if side != nil {
					defer closeInputs(side.inputs)
				}
				if err != nil {
					return err
				}
				sides[i] = side
			}
			report, err := compare.Runs(sides[0].entries, sides[1].entries, agents)
			if err != nil {
				return err
			}
			for _, text := range append(slices.Clone(report.Warnings), report.Remarks...) {
				h.note("%s", text)
			}
			heading := &compare.Heading{
				Generated: time.Now().UTC().Format("2006-01-02T15:04:05+00:00"),
				Command:   commandLine(how, paths),
				Rules:     "0.7.0", Program: view.Version,
				Baseline: sides[0].about, Candidate: sides[1].about,
			}
			document := func(w io.Writer) error { _, err := w.Write(report.JSON(heading)); return err }
			markdown := func(w io.Writer) error { _, err := w.Write(report.Markdown(heading)); return err }
			if out.dir != "" {
				inputs := append(slices.Clone(sides[0].inputs), sides[1].inputs...)
				err := save(cmd.Context(), out.dir, inputs, []product{{compare.ReportJSON, document}, {compare.ReportMarkdown, markdown}})
				if err != nil {
					return err
				}
			}
			if out.markdown {
				return h.shown(markdown)
			}
			return h.print(&out, compareSheets(report, heading), document)
		},
	}
	out.flags(cmd, compare.ReportJSON+" and "+compare.ReportMarkdown)
	f := cmd.Flags()
	f.StringVar(&how.agent, "agent", "", "compare this `agent` alone")
	f.StringVar(&how.baseline, "baseline-agent", "", "`name` of the baseline's agent")
	f.StringArrayVar(&how.candidates, "candidate-agents", nil, "comma-separated `names` of the candidates' agents, one for each")
	f.BoolVar(&how.derive, "derive", false, "compute the metrics from the rows instead of reading a file of them")
	return cmd
}

// commandLine is the command as it could be given again.
func commandLine(how comparing, paths []string) string {
	words := []string{"rollscope", "compare"}
	if how.agent != "" {
		words = append(words, "--agent", how.agent)
	}
	if how.baseline != "" {
		words = append(words, "--baseline-agent", how.baseline)
	}
	for _, list := range how.candidates {
		words = append(words, "--candidate-agents", list)
	}
	if how.derive {
		words = append(words, "--derive")
	}
	words = append(words, paths...)
	for i, word := range words {
		if word == "" || strings.ContainsAny(word, " \t\n\"'\\$`*?[]{}()<>|&;#~!") {
			words[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

// side reads one side of a comparison.
func (h *host) side(ctx context.Context, role, path string, derive bool) (*comparedRun, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = strings.TrimRight(path, "/") + "/" + defaultRolloutsFile
	}
	side := &comparedRun{about: compare.Run{Label: runLabel(path), Rollouts: path}}
	var err error
	if derive {
		err = h.derived(ctx, side, path)
	} else {
		err = h.saved(side, path)
	}
	if err != nil {
		return side, fmt.Errorf("%s: %w", role, err)
	}
	for _, e := range side.entries {
		side.about.Agents = append(side.about.Agents, e.Label)
	}
	slices.Sort(side.about.Agents)
	return side, nil
}

// runLabel names a run: by its folder, or by its stem if the path has none.
func runLabel(path string) string {
	if dir := filepath.Base(filepath.Dir(path)); dir != "." && dir != string(filepath.Separator) {
		return dir
	}
	return filepath.Base(stem(path))
}

// saved reads the file of aggregate metrics beside a rollouts file.
func (h *host) saved(side *comparedRun, path string) error {
	side.about.Metrics = beside(path, savedSuffix)
	info, err := os.Stat(side.about.Metrics)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no file of metrics %s; --derive computes them from the rows", side.about.Metrics)
	case err == nil && !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a file", side.about.Metrics)
	}
	in, err := openInput(side.about.Metrics, false)
	if err != nil {
		return err
	}
	side.inputs = append(side.inputs, in)
	text, err := io.ReadAll(in.file)
	if err != nil {
		return fmt.Errorf("%s: %w", side.about.Metrics, err)
	}
	file, err := metrics.ParseSaved(text)
	if err != nil {
		return fmt.Errorf("%s: %w", side.about.Metrics, err)
	}
	rebuilt := false
	for _, s := range file.Entries {
		e, err := compare.Saved(s)
		if err != nil {
			return fmt.Errorf("%s: %w", side.about.Metrics, err)
		}
		side.entries = append(side.entries, e)
		rebuilt = rebuilt || e.Rebuilt
	}
	if rebuilt {
		h.note("%s has no metrics by repeat; they are computed from its rollout infos", side.about.Metrics)
	}
	return nil
}

// derived computes the metrics of a side from its rows.
func (h *host) derived(ctx context.Context, side *comparedRun, path string) error {
	var err error
	if side.inputs, err = openInputs([]string{path}, inputOptions{}); err != nil {
		return err
	}
	run, _, err := h.collect(ctx, side.inputs, metrics.Zeros{})
	if err != nil {
		return err
	}
	if err := h.unchanged(side.inputs); err != nil {
		return err
	}
	a, err := run.Aggregate()
	if err != nil {
		return err
	}
	for _, e := range a.Entries {
		side.entries = append(side.entries, compare.Derived(e))
	}
	if len(side.entries) == 0 {
		return fmt.Errorf("%s: no row belongs to an agent: %w", path, compare.ErrRefused)
	}
	return nil
}

// compareSheets print a comparison.
func compareSheets(r *compare.Report, h *compare.Heading) *sheets {
	columns := []column{
		{title: "metric"}, {title: "delta", right: true}, {title: "95 % of delta"}, {title: "baseline", right: true}, {title: "95 %"},
		{title: "candidate", right: true}, {title: "95 %"},
	}
	s := &sheets{main: sheet{columns: []column{
		{title: "agent"}, {title: "metric"}, {title: "key"}, {title: "baseline", right: true}, {title: "candidate", right: true}, {title: "delta", right: true},
		{title: "delta_pct", right: true}, {title: "delta_low", right: true}, {title: "delta_high", right: true},
	}}}
	for i := range r.Comparisons {
		c := &r.Comparisons[i]
		cand := c.Candidates[0]
		title := c.Baseline.Label
		if cand.Label != title {
			title += " against " + cand.Label
		}
		one := sheet{title: title, columns: columns, intro: []string{
			fmt.Sprintf("baseline   %s: %s, %s", h.Baseline.Label, amount(c.Baseline.Groups, "task"), repeatsText(c.Baseline)),
			fmt.Sprintf("candidate  %s: %s, %s", h.Candidate.Label, amount(cand.Groups, "task"), repeatsText(cand)),
		}}
		for k := range c.Metrics {
			m := &c.Metrics[k]
			one.rows = append(one.rows, dashed(m.Cells()))
			s.main.rows = append(s.main.rows, metricCSV(c.Baseline.Label, m))
		}
		one.notes = c.Notes
		s.add(one)
		f := &c.Flips[0]
		moved := sheet{title: "tasks that moved", intro: []string{f.Sentence()}, columns: []column{
			{title: "task", right: true}, {title: "direction"}, {title: "baseline", right: true}, {title: "candidate", right: true}, {title: "delta", right: true},
			{title: "baseline by repeat"}, {title: "candidate by repeat"},
		}}
		for _, flip := range f.ShownFlips() {
			moved.rows = append(moved.rows, dashed(flip.Cells()))
		}
		if more := len(f.List) - len(moved.rows); more > 0 {
			moved.notes = append(moved.notes, fmt.Sprintf("and %s more; --json lists all", view.Group(more)))
		}
		if f.Mode != compare.Unavailable {
			moved.notes = append(moved.notes, "Tasks are joined by their index: both runs must have had the same tasks in the same order.")
			moved.notes = append(moved.notes, onlyText(f)...)
		}
		s.add(moved)
	}
	return s
}

func onlyText(f *compare.Flips) []string {
	if f.BaselineOnly == 0 && f.CandidateOnly == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s in the baseline only, %s in the candidate only.", amount(f.BaselineOnly, "task"), view.Group(f.CandidateOnly))}
}

func repeatsText(e *compare.Entry) string {
	text := amount(e.RepeatCount, "repeat")
	if e.RepeatCount < 0 {
		text = "an unknown number of repeats"
	}
	if e.Rebuilt {
		text += " (repeats rebuilt)"
	}
	return text
}

// dashed writes the dash of this program instead of that of reports.
func dashed(cells []string) []string {
	for i, text := range cells {
		if text == compare.Dash {
			cells[i] = view.Dash
		}
	}
	return cells
}

func metricCSV(label string, m *compare.Metric) []string {
	key := "no"
	if m.Key {
		key = "yes"
	}
	row := []string{label, m.Name, key, view.Dash, view.Dash, view.Dash, view.Dash, view.Dash, view.Dash}
	if m.Baseline != nil {
		row[3] = plainDecimal(m.Baseline.Compared(), true)
	}
	if c := m.Candidates[0]; c != nil {
		row[4] = plainDecimal(c.Compared(), true)
		for i, o := range [...]compare.Optional{c.Delta, c.Percent, c.DeltaLow, c.DeltaHigh} {
			row[5+i] = plainDecimal(o.X, o.OK)
		}
	}
	return row
}
