package main

import (
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// shells lists the shells with the script each is given.
var shells = []struct {
	name  string
	write func(root *cobra.Command, w io.Writer) error
}{
	{"bash", func(root *cobra.Command, w io.Writer) error { return root.GenBashCompletionV2(w, true) }},
	{"zsh", func(root *cobra.Command, w io.Writer) error { return root.GenZshCompletion(w) }},
	{"fish", func(root *cobra.Command, w io.Writer) error { return root.GenFishCompletion(w, true) }},
	{"powershell", func(root *cobra.Command, w io.Writer) error { return root.GenPowerShellCompletionWithDesc(w) }},
}

func completionCommand(h *host) *cobra.Command {
	names := make([]string, len(shells))
	for i, s := range shells {
		names[i] = s.name
	}
	return &cobra.Command{
		Use:       "completion " + strings.Join(names, "|"),
		Short:     "print the completion script of a shell",
		Long:      "Print the script that lets a shell complete commands and flags. In bash:\n\n  source <(rollscope completion bash)",
		ValidArgs: names,
		Args:      exactly(1, "name one shell: "+strings.Join(names, ", ")),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, s := range shells {
				if s.name == args[0] {
					return s.write(cmd.Root(), h.out)
				}
			}
			return usagef("unknown shell %q: there are %s", args[0], strings.Join(names, ", "))
		},
	}
}
