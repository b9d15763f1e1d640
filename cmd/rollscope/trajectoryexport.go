package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rollscope/rollscope/core/atif"
	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/rollout"
	"github.com/rollscope/rollscope/core/timeline"
	"github.com/rollscope/rollscope/core/traceevent"
	"github.com/rollscope/rollscope/core/trajectory"
	"github.com/rollscope/rollscope/core/transcript"
	"github.com/rollscope/rollscope/core/value"
)

// The formats of trajectory export.
const (
	formatATIF  = "atif"
	formatTrace = "trace-event"
)

func trajectoryExportCommand(h *host) *cobra.Command {
	var dir, format, rolloutsFile, session, version, only string
	cmd := &cobra.Command{
		Use:   "export PATH --format FORMAT -o DIR [flags]",
		Short: "write trajectories in a form that other programs read",
		Long: `Write trajectories in a form that other programs read.

  atif         one ATIF document for each rollout and a manifest with digests. All
               rollouts of the file have to fit, or nothing is written; what keeps
               rows from it is told. The directory must not be there yet.
  trace-event  one Chrome trace for each rollout with a trajectory, to be opened in
               Perfetto or in chrome://tracing`,
		Example: `  rollscope trajectory export RUN_DIR --format trace-event -o traces
  rollscope trajectory export RUN_DIR --format atif --session nightly --agent-version 2 -o atif`,
		Args: exactly(1, "one path is wanted"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case dir == "":
				return usagef("-o: a directory is missing")
			case format != formatATIF && format != formatTrace:
				return usagef("--format %s: want %s or %s", format, formatATIF, formatTrace)
			}
			inputs, err := openInputs(args, inputOptions{rolloutsFile: rolloutsFile})
			defer closeInputs(inputs)
			if err != nil {
				return err
			}
			if format == formatTrace {
				return h.exportTraces(cmd.Context(), inputs, dir, only)
			}
			return h.exportATIF(cmd.Context(), inputs[0], dir, atif.Options{Session: session, AgentVersion: version})
		},
	}
	f := cmd.Flags()
	f.StringVar(&format, "format", "", "`format`: "+formatATIF+" or "+formatTrace)
	f.StringVarP(&dir, "output", "o", "", "write the files into this `directory`")
	f.StringVar(&rolloutsFile, "rollouts-file", "", "`name` of the rollouts file of a directory (default "+defaultRolloutsFile+")")
	f.StringVar(&session, "session", "", "session `id` of the ATIF documents")
	f.StringVar(&version, "agent-version", "", "`version` of the agent in the ATIF documents")
	f.StringVar(&only, "rollout", "", "with "+formatTrace+": this `rollout` alone")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{formatATIF, formatTrace}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// exportATIF writes a document for every row of a file, or nothing.
func (h *host) exportATIF(ctx context.Context, in *input, dir string, o atif.Options) error {
	export, err := atif.NewExport(o)
	if err != nil {
		return usagef("%s: --session and --agent-version are needed", err)
	}
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		if err != nil {
			return fmt.Errorf("output: %w", err)
		}
		return fmt.Errorf("output %s is there already", dir)
	}
	// Documents are written beside the place of the directory, which is moved there when all are complete.
	draft := filepath.Clean(dir) + fmt.Sprintf(".%d.tmp", os.Getpid())
	if err := os.MkdirAll(draft, 0o777); err != nil {
		return fmt.Errorf("output: %w", err)
	}
	defer os.RemoveAll(draft)
	write := func(name string, text []byte) error {
		if err := os.WriteFile(filepath.Join(draft, name), text, 0o666); err != nil {
			return fmt.Errorf("output: %w", err)
		}
		return nil
	}
	files := 0
	err = in.lines(ctx, func(line *jsonl.Line) error {
		f := export.Line(line.Bytes)
		if f == nil || len(export.Errors()) > 0 {
			return nil
		}
		files++
		return write(f.Name, f.Text)
	})
	if err != nil {
		return err
	}
	manifest, err := export.Finish()
	if err != nil {
		return fmt.Errorf("%s cannot be exported; nothing was written\n%w", in.name, err)
	}
	if err := write(atif.ManifestFile, manifest); err != nil {
		return err
	}
	if err := os.Rename(draft, dir); err != nil {
		return fmt.Errorf("output: %w", err)
	}
	_, err = fmt.Fprintf(h.err, "%d documents in %s\n", files, safe(filepath.ToSlash(dir)))
	return err
}

// exportTraces writes a trace for every row that has a trajectory.
func (h *host) exportTraces(ctx context.Context, inputs []*input, dir, only string) error {
	out := drafts{ctx: ctx, dir: dir, inputs: inputs}
	defer out.discard()
	var (
		reader  transcript.Reader
		bundles trajectory.Reader
		written int
		without int
		names   = map[string]bool{}
	)
	err := h.eachRow(ctx, inputs, func(source int, row *rollout.Row, ordinal int64) error {
		identity := row.Identity()
		identity = identity.Resolve(ordinal, source, row.Line)
		if only != "" && !wanted(only, row, &identity) {
			return nil
		}
		if row.Problem != nil {
			without++
			return nil
		}
		t := reader.Read(row)
		if t.Record == nil {
			without++
			return nil
		}
		var bundle *trajectory.Bundle
		if observed := row.Value.Get("ng_agent_observations"); !observed.IsNull() {
			if b, err := bundles.ReadBundle(observed); err == nil {
				bundle = b
			}
		}
		trace := traceevent.Trace(timeline.Of(t, bundle), traceevent.Rollout{ID: identity.ID, Task: t.Record.TaskID.String(), Arguments: func(s *timeline.Span) []value.Member { return spanDetails(t, bundle, s) }})
		name := fileName(identity.ID)
		for n := 2; names[name]; n++ {
			name = fmt.Sprintf("%s.%d", fileName(identity.ID), n)
		}
		names[name] = true
		written++
		if err := out.write(name+".trace.json", append(trace.Append(nil, value.Row), '\n')); err != nil {
			return err
		}
		return out.close()
	})
	if err == nil {
		err = damagedInputs(inputs)
	}
	switch {
	case err != nil:
		return err
	case written == 0:
		return fmt.Errorf("no rollout with a trajectory")
	}
	if without > 0 {
		h.note("%d rows have no trajectory that can be drawn", without)
	}
	if err := out.keep(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(h.err, "%s in %s\n", amount(written, "trace"), safe(filepath.ToSlash(dir)))
	return err
}

// fileName makes a name of an id that any file system takes.
func fileName(id string) string {
	name := strings.Map(func(r rune) rune {
		if r < 0x80 && (r == '-' || r == '_' || r == '.' || r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z') {
			return r
		}
		return '_'
	}, short(id, 100))
	if strings.Trim(name, ".") == "" {
		return "rollout"
	}
	return strings.TrimLeft(name, ".")
}

// spanDetails are what a span's own record says of it.
func spanDetails(t *transcript.Rollout, bundle *trajectory.Bundle, s *timeline.Span) []value.Member {
	var list []value.Member
	count := func(name string, n trajectory.Count) {
		if n.Set {
			list = append(list, value.M(name, value.Whole(n.Int)))
		}
	}
	text := func(name string, x trajectory.Text) {
		if x.Set {
			list = append(list, value.M(name, value.Text(x.String())))
		}
	}
	real := func(name string, x trajectory.Real) {
		if x.Set {
			list = append(list, value.M(name, value.Float(x.Value)))
		}
	}
	switch s.Kind {
	case timeline.ModelCall:
		c := t.Calls[s.Index].At
		text("server", c.ModelRef.Name)
		text("dialect", c.Dialect)
		count("status_code", c.StatusCode)
		text("error_category", c.ErrorCategory)
		count("prompt_tokens", c.PromptTokens)
		count("completion_tokens", c.CompletionTokens)
		count("cached_tokens", c.CachedTokens)
		real("ttft_ms", c.TTFTMS)
	case timeline.ToolCall:
		if r := t.Tools[s.Index].Record; r != nil {
			text("timing_source", r.TimingSource)
			text("sandbox_id", r.SandboxID)
			text("error_type", r.ErrorType)
		}
	case timeline.Turn:
		turn := &t.Turns[s.Index]
		list = append(list, value.M("step_count", value.Text(turn.StepCount)), value.M("tool_calls", value.Int(int64(len(turn.Tools)))))
	case timeline.Sandbox:
		b := &bundle.Sandboxes[s.Index]
		text("provider", b.Provider)
		count("exit_code", b.ExitCode)
		real("wall_time_s", b.WallTimeS)
		real("cpu_time_s", b.CPUTimeS)
		real("peak_memory_mib", b.PeakMemoryMiB)
	case timeline.Compaction:
		c := &bundle.Compactions[s.Index]
		text("trigger", c.Trigger)
		count("tokens_before", c.TokensBefore)
		count("tokens_after", c.TokensAfter)
	}
	return list
}
