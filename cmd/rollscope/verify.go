package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rollscope/rollscope/core/finding"
	"github.com/rollscope/rollscope/core/recovery"
	"github.com/rollscope/rollscope/core/value"
	"github.com/rollscope/rollscope/core/verify"
)

// verifying is what a command about run folders is told by its flags.
type verifying struct {
	maxAttempts int64
	retry, give bool
	source      string
	config      string
	current     string
	manifests   []string
	asJSON      bool
	failOn      string
}

func (v *verifying) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&v.asJSON, "json", false, "print one JSON document")
	f.StringVar(&v.failOn, "fail-on", "", "exit with status 1 on a finding of this `severity` or a worse one: error, warning or info")
	v.settings(cmd)
	f.StringVar(&v.source, "source", "", "`file` of the dataset, to hold its digest against the manifest")
	f.StringVar(&v.config, "config", "", "JSON `file` with the objects config and global, to hold the configuration against the manifest")
	f.StringVar(&v.current, "current", "", "JSON `file` with the digests that a resume would compute now")
	f.StringArrayVar(&v.manifests, "batch-manifest", nil, "batch manifest `file` besides those in the folder, may be repeated")
	_ = cmd.RegisterFlagCompletionFunc("fail-on", cobra.FixedCompletions([]string{string(finding.Error), string(finding.Warning), string(finding.Info)}, cobra.ShellCompDirectiveNoFileComp))
}

// settings adds the flags that say what a resume would be told.
func (v *verifying) settings(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Int64Var(&v.maxAttempts, "max-attempts", 0, "`number` of counted failures after which a rollout is given up (default: that of the saved coverage, else 3)")
	f.BoolVar(&v.retry, "retry-terminal-timeouts", false, "retry rollouts that ran into a time limit, and let skips be final")
	f.BoolVar(&v.give, "no-retry-terminal-timeouts", false, "take failures as final that say so (default: as in the saved coverage)")
	cmd.MarkFlagsMutuallyExclusive("retry-terminal-timeouts", "no-retry-terminal-timeouts")
}

// options reads what the flags name. A file that cannot be read is an error.
func (v *verifying) options(ctx context.Context, cmd *cobra.Command, f *runFolder) (o verify.Options, err error) {
	if cmd.Flags().Changed("max-attempts") && v.maxAttempts < 1 {
		return o, usagef("--max-attempts %d: at least 1", v.maxAttempts)
	}
	o.MaxAttempts = v.maxAttempts
	if v.retry || v.give {
		o.Override = &v.retry
	}
	if v.source != "" {
		if o.Source, err = fileDigest(ctx, v.source); err != nil {
			return o, fmt.Errorf("dataset: %w", err)
		}
	}
	if v.config != "" {
		text, err := os.ReadFile(v.config)
		if err != nil {
			return o, fmt.Errorf("configuration: %w", err)
		}
		var ok bool
		if o.Config, ok = recovery.ReadConfig(text); !ok {
			return o, fmt.Errorf("configuration: %s is no JSON object with the objects config and global", v.config)
		}
	}
	if v.current != "" {
		text, err := os.ReadFile(v.current)
		if err != nil {
			return o, fmt.Errorf("current digests: %w", err)
		}
		document, err := value.Parse(text, value.Leniency{})
		if err != nil || !document.IsObject() {
			return o, fmt.Errorf("current digests: %s is no JSON object", v.current)
		}
		digest := func(name string) string { s, _ := document.Get(name).Text(); return s }
		o.Current = &recovery.Current{Source: digest("source_digest"), Materialized: digest("materialized_digest"), Config: digest("config_digest")}
	}
	for _, name := range v.manifests {
		g, err := f.manifest(name)
		if err != nil {
			return o, err
		}
		o.Manifests = append(o.Manifests, g)
	}
	return o, nil
}

// A folderCommand is a command that reads a run folder and shows one side of it.
type folderCommand struct {
	use, short, long, example string
	observe                   bool
	document                  func(*verify.Report, io.Writer) error
	print                     func(*host, *verify.Report) error
	findings                  func(*verify.Report) []finding.Finding // those that --fail-on looks at
	more                      func(*cobra.Command)
	before                    func() error
}

func (c folderCommand) make(h *host) *cobra.Command {
	var v verifying
	cmd := &cobra.Command{
		Use: c.use, Short: c.short, Long: c.long, Example: c.example,
		Args: exactly(1, "name one run: a directory, or one of its files"),
		RunE: func(cmd *cobra.Command, args []string) error {
			least, err := parseSeverity(v.failOn, cmd.Flags().Changed("fail-on"))
			if err != nil {
				return err
			}
			if c.before != nil {
				if err := c.before(); err != nil {
					return err
				}
			}
			folder, err := listFolder(args[0])
			if err != nil {
				return err
			}
			defer folder.close()
			o, err := v.options(cmd.Context(), cmd, folder)
			if err != nil {
				return err
			}
			o.Observe = c.observe
			report, err := folder.verify(cmd.Context(), h, o)
			if err != nil {
				return err
			}
			if v.asJSON {
				err = c.document(report, h.out)
			} else {
				err = c.print(h, report)
			}
			if err != nil {
				return err
			}
			return least.check(c.findings(report))
		},
	}
	if c.more != nil {
		c.more(cmd)
	}
	v.flags(cmd)
	return cmd
}

// about picks the findings of some areas.
func about(prefixes ...string) func(*verify.Report) []finding.Finding {
	return func(r *verify.Report) []finding.Finding {
		list := []finding.Finding{}
		for _, f := range r.Findings {
			for _, p := range prefixes {
				if strings.HasPrefix(f.ID, p) {
					list = append(list, f)
				}
			}
		}
		return list
	}
}

const runArgument = `RUN is a directory, in which every run is read, or one file of a run.`

func verifyCommand(h *host) *cobra.Command {
	return folderCommand{
		use:   "verify RUN [flags]",
		short: "hold the files of a run against each other",
		long: `Read every file of a run folder and say what is missing, damaged or contradicts
the rest: manifest, materialized inputs, rollouts, failures, coverage, batch.

` + runArgument + `

An error means that the reference refuses the run, a warning that it warns or
silently loses data.`,
		example:  "  rollscope verify RUN_DIR\n  rollscope verify RUN_DIR/rollouts.jsonl --json\n  rollscope verify RUN_DIR --fail-on error",
		document: (*verify.Report).WriteVerify,
		print:    printVerify,
		findings: func(r *verify.Report) []finding.Finding { return r.Findings },
	}.make(h)
}

func coverageCommand(h *host) *cobra.Command {
	return folderCommand{
		use:   "coverage RUN [flags]",
		short: "count what became of the rollouts that were asked for",
		long: `Count the rollouts of a run by what became of them, and hold the saved coverage
against that.

` + runArgument,
		example:  "  rollscope coverage RUN_DIR\n  rollscope coverage RUN_DIR --max-attempts 5 --json",
		document: (*verify.Report).WriteCoverage,
		print:    printCoverage,
		findings: about("coverage."),
	}.make(h)
}

func batchCommand(h *host) *cobra.Command {
	return folderCommand{
		use:   "batch RUN [flags]",
		short: "hold a batch manifest and its status against the run",
		long: `Say what the materialized inputs of a run hold for each agent, and hold a batch
manifest and a saved batch status against that.

` + runArgument,
		example:  "  rollscope batch RUN_DIR\n  rollscope batch RUN_DIR --batch-manifest ../batch.json",
		observe:  true,
		document: (*verify.Report).WriteBatch,
		print:    printBatch,
		findings: about("batch."),
	}.make(h)
}
