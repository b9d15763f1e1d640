package main

import (
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rollscope/rollscope/core/report"
	"github.com/rollscope/rollscope/core/view"
)

func reportCommand(h *host) *cobra.Command {
	var output, text, profile string
	var workers int
	cmd := &cobra.Command{
		Use:   "report RUN… [flags]",
		Short: "write the Overview of a run as a document",
		Long: `Write what the Overview of the page says as a document: is the run complete, is it
healthy, what is its score, what took how long, and what needs eyes, each with
its place. -o NAME.md writes Markdown, -o NAME.html one HTML file that needs
nothing else and runs no script; without -o the Markdown is printed.

With --filter the score and the time are those of the rollouts that fit, which
are listed as well; what is complete and healthy is always said of the whole run.
A directory stands for every file below it, as with the view command.`,
		Example: "  rollscope report RUN_DIR\n  rollscope report RUN_DIR -o report.html\n  rollscope report RUN_DIR -o report.md --filter verdict:unhealthy",
		RunE: func(cmd *cobra.Command, paths []string) error {
			if output == "-" { // as without it
				output, cmd.Flags().Lookup("output").Changed = "", false
			}
			asHTML := false
			switch ending := strings.ToLower(filepath.Ext(output)); {
			case ending == ".html" || ending == ".htm":
				asHTML = true
			case output == "" && cmd.Flags().Changed("output"):
				return usagef("-o: a file is missing")
			case output != "" && ending != ".md" && ending != ".markdown":
				return usagef("-o %s: name a file that ends in .md or .html", output)
			}
			if workers < 1 {
				return usagef("workers must be at least 1")
			}
			if _, err := view.Ask(text); err != nil {
				return wrongFilter(err)
			}
			l, err := h.lay(cmd.Context(), paths, workers)
			if err != nil {
				return err
			}
			defer l.close()
			pages, err := l.pages(cmd, view.State{Filter: text, Profile: profile})
			if err != nil {
				return err
			}
			audited, failed := l.Audited()
			d := report.Overview(pages, audited, failed)
			write := d.WriteMarkdown
			if asHTML {
				write = d.WriteHTML
			}
			if output == "" {
				return write(h.out)
			}
			return h.saveFile(cmd, output, l.inputs, write)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&output, "output", "o", "", "write into this `file`, which ends in .md or .html")
	f.StringVar(&text, "filter", "", "list the rows that fit this `expression`, and score them alone")
	f.StringVar(&profile, "profile", "0.7", "`version` of the rules: 0.7 or main")
	f.IntVar(&workers, "workers", min(h.cpus, mostWorkers), "read with this `number` of workers; results do not depend on it")
	_ = cmd.RegisterFlagCompletionFunc("profile", cobra.FixedCompletions([]string{"0.7", "main"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// pages makes the pages of a report.
func (l *laidRun) pages(cmd *cobra.Command, s view.State) (p report.Pages, err error) {
	ctx := cmd.Context()
	tab := func(id string) (*view.Page, error) { return l.page(ctx, s.ToTab(id)) }
	if p.Overview, err = tab("overview"); err != nil {
		return p, err
	}
	if p.Overview.Filter.Error != "" {
		return p, usagef("filter: %s", p.Overview.Filter.Error)
	}
	for _, part := range []struct {
		id    string
		there bool
		page  **view.Page
	}{
		{"scores", hasTab(p.Overview, "scores"), &p.Scores},
		{"performance", hasTab(p.Overview, "performance"), &p.Performance},
		{"rollouts", s.Filter != "", &p.Rollouts},
	} {
		if !part.there {
			continue
		}
		if *part.page, err = tab(part.id); err != nil {
			return p, err
		}
	}
	return p, nil
}

// saveFile writes one file, which is there when it is complete.
func (h *host) saveFile(cmd *cobra.Command, path string, inputs []*input, write func(io.Writer) error) error {
	return save(cmd.Context(), filepath.Dir(path), inputs, []product{{filepath.Base(path), write}})
}
