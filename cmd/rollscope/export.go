package main

import (
	"io"
	"os"
	"path"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/rollscope/rollscope/core/analysis"
	"github.com/rollscope/rollscope/core/finding"
	"github.com/rollscope/rollscope/core/health"
	"github.com/rollscope/rollscope/core/health/check"
	"github.com/rollscope/rollscope/core/report"
	"github.com/rollscope/rollscope/core/verify"
	"github.com/rollscope/rollscope/core/view"
)

func exportCommand(h *host) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "export findings",
		Short: "write findings for other programs",
		Args:  exactly(0, "name what is exported: findings"),
		RunE:  func(*cobra.Command, []string) error { return usagef("name what is exported: findings") },
	}
	cmd.AddCommand(exportFindings(h))
	return cmd
}

// Forms of exported findings.
const (
	formSARIF    = "sarif"
	formMarkdown = "markdown"
)

func exportFindings(h *host) *cobra.Command {
	var (
		how          judging
		text         string
		form, output string
	)
	cmd := &cobra.Command{
		Use:   "findings PATH… [flags]",
		Short: "write the findings of a run as SARIF or Markdown",
		Long: `Write every finding with its place: those of the health checks on rollouts and on
tasks and, where a directory is given, those about its files.

SARIF is what code hosts and editors read (version 2.1.0): the region of a result
is the row's line, by number and by bytes; turn, call and pointer stand beside it.
Markdown is for people. The form follows the ending of -o (.sarif, .json, .md).
With --filter the findings are those on the rows that fit; paths are understood
as by the health command.`,
		Example: "  rollscope export findings RUN_DIR -o findings.sarif\n  rollscope export findings RUN_DIR --format markdown --filter check:agent_turn_hollow",
		RunE: func(cmd *cobra.Command, paths []string) error {
			if form == "" {
				switch filepath.Ext(output) {
				case ".sarif", ".json":
					form = formSARIF
				default:
					form = formMarkdown
				}
			}
			if form != formSARIF && form != formMarkdown {
				return usagef("--format %s: want %s or %s", form, formSARIF, formMarkdown)
			}
			question, err := view.Ask(text)
			if err != nil {
				return wrongFilter(err)
			}
			j, err := h.judge(cmd.Context(), paths, how)
			if err != nil {
				return err
			}
			defer j.close()
			answers, err := h.ask(cmd.Context(), j, question, how.workers)
			if err != nil {
				return err
			}
			found, err := view.Search(j.table, j.report, text, "", answers)
			if err != nil {
				return wrongFilter(err)
			}
			list, err := findingsOf(j, found)
			if err != nil {
				return err
			}
			if text == "" {
				files, err := h.fileFindings(cmd, paths)
				if err != nil {
					return err
				}
				list = append(list, files...)
			}
			write := func(w io.Writer) error { return report.WriteFindings(w, "Findings in "+titleOf(paths), list) }
			if form == formSARIF {
				write = func(w io.Writer) error { return report.WriteSARIF(w, "Rollscope", view.Version, list) }
			}
			if output == "" || output == "-" {
				err = write(h.out)
			} else {
				err = h.saveFile(cmd, output, j.inputs, write)
			}
			if err != nil {
				return err
			}
			return j.damaged()
		},
	}
	f := cmd.Flags()
	f.StringVar(&form, "format", "", "`form`: "+formSARIF+" or "+formMarkdown)
	f.StringVarP(&output, "output", "o", "", "write into this `file`")
	f.StringVar(&text, "filter", "", "export the findings on rows that fit this `expression` alone")
	how.flags(cmd, h)
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{formSARIF, formMarkdown}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// findingsOf lists the findings on rows in their order, behind those of a row that is the first of a flagged task the
// ones about the task.
func findingsOf(j *judged, ordinals []int) ([]report.Finding, error) {
	rules := map[string]*report.Rule{}
	for _, c := range check.All() {
		rules[c.ID] = &report.Rule{ID: c.ID, Title: c.Title, Text: c.Text}
	}
	list := []report.Finding{}
	told := map[int]bool{} // tasks
	for _, ordinal := range ordinals {
		if j.report.Verdict(ordinal) == health.Skipped {
			continue
		}
		row, _ := j.table.Row(ordinal)
		digest, err := row.Digest()
		if err != nil {
			return nil, err
		}
		base := placeOf(j, &row, &digest)
		for _, f := range j.report.Findings(ordinal) {
			one := base
			one.Rule, one.Level, one.Message = rules[f.Check], report.LevelError, health.Sentence(f)
			one.Inside = report.Inside{Pointer: f.Place.Pointer, Offset: f.Place.Offset, Length: f.Place.Length, Turn: f.Place.Turn + 1, Call: f.Place.Call + 1}
			list = append(list, one)
		}
		task := j.report.TaskOf(ordinal)
		if task < 0 || told[task] {
			continue
		}
		told[task] = true
		stat := j.report.Task(task)
		for _, id := range stat.Flags {
			one := base
			one.Rollout = ""
			one.Rule, one.Level = rules[id], report.LevelError
			one.Message = "task " + base.Task + ", " + amount(stat.Repeats, "repeat") + ": " + rules[id].Title
			list = append(list, one)
		}
	}
	return list, nil
}

func placeOf(j *judged, row *analysis.Row, d *analysis.Digest) report.Finding {
	return report.Finding{
		File: filepath.ToSlash(j.table.Name(row.Source)), Line: row.Line, Offset: row.Offset, Length: row.Length,
		Rollout: j.report.ID(int(row.Ordinal)), Task: string(keyJSON(d.Identity.Task)),
	}
}

// fileFindings are the findings about the files of the directories among paths.
func (h *host) fileFindings(cmd *cobra.Command, paths []string) ([]report.Finding, error) {
	var list []report.Finding
	rules := map[string]*report.Rule{}
	for _, path := range paths {
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			continue
		}
		folder, err := listFolder(path)
		if err != nil {
			return nil, err
		}
		r, err := folder.verify(cmd.Context(), h, verify.Options{})
		folder.close()
		if err != nil {
			return nil, err
		}
		for i := range r.Findings {
			list = append(list, fileFinding(path, &r.Findings[i], rules))
		}
	}
	return list, nil
}

func fileFinding(dir string, f *finding.Finding, rules map[string]*report.Rule) report.Finding {
	rule := rules[f.ID]
	if rule == nil {
		rule = &report.Rule{ID: f.ID}
		if d, ok := finding.ByID(f.ID); ok {
			rule.Title, rule.Text = d.Title, d.Text
		}
		rules[f.ID] = rule
	}
	level := map[finding.Severity]string{finding.Error: report.LevelError, finding.Warning: report.LevelWarning}[f.Severity]
	if level == "" {
		level = report.LevelNote
	}
	one := report.Finding{Rule: rule, Level: level, Message: f.Message(), Line: f.Line, Offset: f.Offset, Rollout: f.Rollout}
	if f.Known {
		one.Message += " (attempt " + f.Attempt.String() + ")"
	}
	if one.File = f.File; one.File == "" {
		one.File = f.Run
	}
	if one.File != "" {
		one.File = path.Join(filepath.ToSlash(dir), one.File) // as rows name it
	}
	return one
}
