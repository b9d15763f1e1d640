package main

import (
	"github.com/spf13/cobra"
)

func trajectoryCommand(h *host) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "trajectory <command>",
		Short: "build, check and export what agents did",
		Long: `What an agent did in a rollout is its trajectory: invocations, turns, model calls
and tool calls. It can be put together from captured calls and observations,
checked against them, and written in forms that other programs read.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("a command is missing: build, validate or export")
			}
			return usagef("unknown command %q of trajectory", args[0])
		},
	}
	for _, make := range []func(*host) *cobra.Command{trajectoryBuildCommand, trajectoryValidateCommand, trajectoryExportCommand} {
		c := make(h)
		c.DisableFlagsInUseLine = true
		c.Flags().SortFlags = false
		cmd.AddCommand(c)
	}
	return cmd
}
