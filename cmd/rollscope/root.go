package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rollscope/rollscope/core/view"
)

func init() { cobra.EnableCommandSorting = false } // the table below is in order

// A group gathers commands in the help.
type group struct{ id, title string }

var groups = []group{
	{"judge", "Reports:"},
	{"page", "The page:"},
	{"about", "About:"},
}

// commands lists every command in the order of the help.
var commands = []struct {
	group string
	make  func(*host) *cobra.Command
}{
	{"judge", healthCommand},
	{"judge", rowsCommand},
	{"judge", grepCommand},
	{"judge", reportCommand},
	{"judge", exportCommand},
	{"judge", harnessCommand},
	{"judge", checksCommand},
	{"judge", metricsCommand},
	{"judge", compareCommand},
	{"judge", showCommand},
	{"judge", callsCommand},
	{"judge", perfCommand},
	{"judge", trajectoryCommand},
	{"judge", verifyCommand},
	{"judge", coverageCommand},
	{"judge", recordsCommand},
	{"judge", batchCommand},
	{"judge", recoveryCommand},
	{"judge", repairCommand},
	{"page", viewCommand},
	{"page", serveCommand},
	{"page", bundleCommand},
	{"about", completionCommand},
	{"about", versionCommand},
	{"about", helpCommand},
}

func newRoot(h *host) *cobra.Command {
	root := &cobra.Command{
		Use:   "rollscope <command> [flags] PATH…",
		Short: "look at the evidence of an evaluation run",
		Long: `Rollscope looks at what an evaluation run has left behind: which rollouts are
healthy, unhealthy or unobserved, and which rows prove it. It reads files in
place, never writes to them, and sends nothing anywhere.

  rollscope view                       open the page on a sample run
  rollscope view RUN_DIR               open the page on a run
  rollscope health RUN_DIR             judge every rollout and print a summary
  rollscope health RUN_DIR -o REPORTS  write quality_summary.json and rollout_verdicts.jsonl

Exit status: 0 done; 1 --fail-on matched, or a value cannot be represented;
2 usage, or input that is unreadable or refused; 130 interrupted.`,
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		Args:              cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("a command is missing")
			}
			err := usagef("unknown command %q", args[0])
			cmd.SuggestionsMinimumDistance = 2
			if like := cmd.SuggestionsFor(args[0]); len(like) > 0 {
				err = usagef("unknown command %q; did you mean %s?", args[0], like[0])
			}
			return err
		},
	}
	root.SetOut(h.out)
	root.SetErr(h.err)
	root.SetUsageTemplate(usage)
	root.Version = view.Version
	root.SetVersionTemplate("rollscope {{.Version}}\n")
	root.DisableFlagsInUseLine = true
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return &usageError{err, cmd.CommandPath()} })
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
	}
	for _, c := range commands {
		cmd := c.make(h)
		cmd.GroupID = c.group
		cmd.DisableFlagsInUseLine = true
		cmd.Flags().SortFlags = false
		if cmd.Name() == "help" {
			root.SetHelpCommand(cmd)
		}
		root.AddCommand(cmd)
	}
	return root
}

// usage is what help prints behind the description of a command.
const usage = `Usage: {{.UseLine}}
{{- range $group := .Groups}}

{{.Title}}
{{- range $.Commands}}{{if eq .GroupID $group.ID}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}
{{- if .HasAvailableLocalFlags}}

Flags:
{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}
{{- if .HasExample}}

Examples:
{{.Example}}{{end}}
{{- if .HasAvailableSubCommands}}

{{.Root.Name}} <command> --help explains a command.{{end}}
`

// run runs one command line and gives its exit status.
func (h *host) run(ctx context.Context, args []string) int {
	root := newRoot(h)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitDone
	}
	if errors.Is(err, errNothing) {
		return exitMatched
	}
	code := status(ctx, err)
	if code == exitInterrupted {
		err = errors.New("interrupted")
	}
	for i, line := range strings.Split(err.Error(), "\n") {
		if i == 0 {
			line = "rollscope: " + line
		}
		fmt.Fprintln(h.err, safe(line))
	}
	if usage := (*usageError)(nil); errors.As(err, &usage) {
		hint := usage.hint
		if hint == "" {
			hint = cmd.CommandPath()
		}
		fmt.Fprintf(h.err, "See %s --help.\n", hint)
	}
	return code
}

// exactly refuses another number of arguments than n.
func exactly(n int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != n {
			return usagef("%s", what)
		}
		return nil
	}
}
