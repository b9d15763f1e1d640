package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rollscope/rollscope/core/harness"
	"github.com/rollscope/rollscope/core/packed"
	"github.com/rollscope/rollscope/core/source"
	"github.com/rollscope/rollscope/core/view"
)

// bundleFiles are where the rollouts of a harness may lie in a directory; exactly one of them is there.
var bundleFiles = []string{"rollouts.jsonl", "artifacts/rollouts.jsonl", "evaluator_rollouts.jsonl", "artifacts/evaluator_rollouts.jsonl"}

// captures is what the names of capture files look like.
const captures = "*.capture.*"

// errUnfulfilled means that evidence is missing. Everything has been done and printed by then.
var errUnfulfilled = fmt.Errorf("the evidence is not fulfilled%w", silent{errMatched})

// silent is an error that adds nothing to the text of those that wrap it.
type silent struct{ error }

func (silent) Error() string   { return "" }
func (s silent) Unwrap() error { return s.error }

// A scoping is what a harness is expected to have, with the flags that say so.
type scoping struct {
	scope   harness.Scope
	profile string
	workers int
	dir     string
	asJSON  bool
}

func (s *scoping) flags(cmd *cobra.Command, h *host) {
	f := cmd.Flags()
	f.BoolVar(&s.scope.NoTools, "no-tools", false, "the harness dispatches no tools")
	f.BoolVar(&s.scope.NoVerifier, "no-verifier", false, "there is no verifier")
	f.BoolVar(&s.scope.NoSteps, "no-steps", false, "the policy has no steps")
	f.BoolVar(&s.scope.RequireSandbox, "require-sandbox", false, "a sandbox record is mandatory")
	f.BoolVar(&s.asJSON, "json", false, "print one JSON document")
	f.StringVarP(&s.dir, "output", "o", "", "publish the files of the report in this `directory`, in a folder named by its id")
	f.StringVar(&s.profile, "profile", harness.Profile, "`version` of the checks; there is one")
	f.IntVar(&s.workers, "workers", min(h.cpus, mostWorkers), "read with this `number` of workers; results do not depend on it")
	// A refused command line is one line on standard error, like every other refusal.
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w; see %s --help", err, cmd.CommandPath())
	})
}

func (s *scoping) check(cmd *cobra.Command) error {
	if s.dir == "" && cmd.Flags().Changed("output") {
		return errors.New("-o: a directory is missing")
	}
	if s.workers < 1 {
		return errors.New("workers must be at least 1")
	}
	return harness.ParseProfile(s.profile)
}

// What is retained is the bundle that one harness has left behind.
type retained struct {
	path  string
	file  *os.File
	info  fs.FileInfo
	files []captured // the capture files beside it
}

// captured is a file whose digest alone is told.
type captured struct{ path, sha string }

// openBundle finds and opens the rollouts file behind a path.
func openBundle(path string) (*retained, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		var found []string
		for _, name := range bundleFiles {
			if _, err := os.Stat(filepath.Join(path, filepath.FromSlash(name))); err == nil {
				found = append(found, name)
			}
		}
		if len(found) != 1 {
			have := "none of them"
			if len(found) > 0 {
				have = strings.Join(found, " and ")
			}
			return nil, fmt.Errorf("%s: a directory must hold exactly one of %s, here is %s; name the file", path, strings.Join(bundleFiles, ", "), have)
		}
		path = filepath.Join(path, filepath.FromSlash(found[0]))
	}
	in, err := openInput(path, false)
	if err != nil {
		return nil, err
	}
	return &retained{path: path, file: in.file, info: in.info}, nil
}

// withCaptures adds the digests of the capture files of a directory.
func (b *retained) withCaptures(ctx context.Context, dir string) error {
	if info, err := os.Stat(dir); err != nil {
		return fmt.Errorf("capture directory: %w", err)
	} else if !info.IsDir() {
		return fmt.Errorf("capture directory: %s is no directory", dir)
	}
	names, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("capture directory: %w", err)
	}
	for _, name := range names {
		if ok, _ := filepath.Match(captures, name.Name()); !ok {
			continue
		}
		path := filepath.Join(dir, name.Name())
		sha, err := fileDigest(ctx, path)
		if err != nil {
			return err
		}
		b.files = append(b.files, captured{path, sha})
	}
	return nil
}

// fileDigest is the SHA-256 of a file as it is now.
func fileDigest(ctx context.Context, path string) (string, error) {
	// A pipe would be waited for, so its kind is looked at before it is opened.
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is no file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	hash := sha256.New()
	if _, err := io.Copy(stoppable{ctx, hash}, f); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// inspect judges a bundle. That neither it nor its captures change meanwhile is part of the result.
func (h *host) inspect(ctx context.Context, b *retained, s scoping) (*harness.Summary, error) {
	defer b.file.Close()
	hash := sha256.New()
	var in io.Reader = io.TeeReader(b.file, hash)
	if strings.HasSuffix(b.path, ".gz") {
		in = packed.NewReader(in, packed.Member{})
	}
	p := h.progress(b.info.Size())
	digests, err := harness.Read(ctx, in, harness.ReadOptions{Workers: s.workers, Progress: func(n int64) { p.show(min(n, b.info.Size()), 0) }})
	p.done()
	if damage := (*packed.Damage)(nil); errors.As(err, &damage) {
		return nil, fmt.Errorf("%s %w", b.path, err)
	} else if err != nil {
		return nil, fmt.Errorf("%s: %w", b.path, err)
	}
	name := filepath.Base(b.path)
	r := harness.NewReducer()
	if err := r.AddAll(0, name, digests); err != nil {
		return nil, err
	}
	report, err := r.Report(s.scope)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b.path, err)
	}
	// Behind the last member of a packed file there may be bytes that nothing reads.
	if _, err := io.Copy(stoppable{ctx, hash}, b.file); err != nil {
		return nil, fmt.Errorf("%s: %w", b.path, err)
	}
	files := append([]captured{{b.path, hex.EncodeToString(hash.Sum(nil))}}, b.files...)
	inputs := make([]harness.Input, len(files))
	for i, f := range files {
		now, err := fileDigest(ctx, f.path)
		if err != nil {
			return nil, err
		}
		if now != f.sha {
			return nil, fmt.Errorf("%s: %w", f.path, source.ErrChanged)
		}
		inputs[i] = harness.Input{Name: filepath.Base(f.path), SHA256: f.sha}
	}
	return report.Summary(inputs)
}

func harnessCommand(h *host) *cobra.Command {
	var (
		how        scoping
		captureDir string
	)
	cmd := &cobra.Command{
		Use:   "harness FILE|RUN [flags]",
		Short: "judge the evidence that a harness leaves",
		Long: `Judge what a harness has left in its rollouts: whether model calls, token counts,
steps, history, tool records, grades, payloads and their joins are there and fit
together. It says nothing about how well the agent did.

A directory stands for the one rollouts file in it. What the harness is expected
to have is declared by flags and never concluded from what is missing. Without
-o nothing is written. rollscope checks ID explains a check.

Exit status: 0 all evidence fulfilled, 1 some is not, 2 usage, or input that
cannot be read, is empty or is malformed.`,
		Example: `  rollscope harness RUN_DIR
  rollscope harness rollouts.jsonl --no-tools --json
  rollscope harness matrix --harness one=RUN_1 --harness two=RUN_2`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("harness takes one rollouts file or run directory; see rollscope harness --help")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := how.check(cmd); err != nil {
				return err
			}
			b, err := openBundle(args[0])
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("capture-dir") {
				if err := b.withCaptures(cmd.Context(), captureDir); err != nil {
					b.file.Close()
					return err
				}
			}
			summary, err := h.inspect(cmd.Context(), b, how)
			if err != nil {
				return err
			}
			report := summary.Report()
			if how.dir != "" {
				if err := publish(cmd.Context(), how.dir, summary.ID, reportFiles(summary)); err != nil {
					return err
				}
			}
			switch {
			case how.asJSON:
				err = summary.WriteJSON(h.out)
			case how.dir != "":
				_, err = fmt.Fprintf(h.out, "%s\n%s\n", report.Verdict(), safe(filepath.Join(how.dir, summary.ID, harness.SummaryFile)))
			default:
				err = printHarness(h.out, report)
			}
			if err == nil && report.Verdict() != harness.Fulfilled {
				err = errUnfulfilled
			}
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&captureDir, "capture-dir", "", "`directory` of capture files, whose digests become part of the report")
	how.flags(cmd, h)
	matrix := harnessMatrixCommand(h)
	matrix.DisableFlagsInUseLine = true
	matrix.Flags().SortFlags = false
	cmd.AddCommand(matrix)
	return cmd
}

func harnessMatrixCommand(h *host) *cobra.Command {
	var (
		how   scoping
		named []string
	)
	cmd := &cobra.Command{
		Use:   "matrix --harness NAME=PATH … [flags]",
		Short: "hold the evidence of several harnesses against each other",
		Long: `Judge one bundle for each harness and print which capabilities its evidence
fulfils, as a table in Markdown. Without -o nothing is written.

Exit status: 0 every harness fulfilled, 1 some is not, 2 usage, or one of the
inputs is refused; there is no matrix then.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return errors.New("matrix takes its inputs by --harness NAME=PATH; see rollscope harness matrix --help")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := how.check(cmd); err != nil {
				return err
			}
			if len(named) == 0 {
				return errors.New("at least one --harness NAME=PATH is required")
			}
			var names, paths []string
			for _, text := range named {
				name, path, err := harness.ParseHarness(text)
				if err == nil && slices.Contains(names, name) {
					err = fmt.Errorf("%q: %w", name, harness.ErrHarness)
				}
				if err != nil {
					return err
				}
				names, paths = append(names, name), append(paths, path)
			}
			var list []harness.Harness
			for i, path := range paths {
				b, err := openBundle(path)
				if err != nil {
					return fmt.Errorf("%s: %w", names[i], err)
				}
				summary, err := h.inspect(cmd.Context(), b, how)
				if err != nil {
					return fmt.Errorf("%s: %w", names[i], err)
				}
				list = append(list, harness.Harness{Name: names[i], Summary: summary})
			}
			matrix, err := harness.NewMatrix(list)
			if err != nil {
				return err
			}
			if how.dir != "" {
				for _, one := range list {
					if err := publish(cmd.Context(), filepath.Join(how.dir, one.Name), one.Summary.ID, reportFiles(one.Summary)); err != nil {
						return err
					}
				}
				if err := publish(cmd.Context(), how.dir, matrix.ID, matrixFiles(matrix)); err != nil {
					return err
				}
			}
			switch {
			case how.asJSON:
				_, err = h.out.Write(matrix.Compact())
			case how.dir != "":
				_, err = fmt.Fprintln(h.out, safe(filepath.Join(how.dir, matrix.ID, harness.MatrixPageFile)))
			default:
				_, err = io.WriteString(h.out, matrix.Page())
			}
			if err == nil && matrix.Verdict() != harness.Fulfilled {
				err = errUnfulfilled
			}
			return err
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&named, "harness", nil, "`NAME=PATH` of a harness and its rollouts file or run directory; repeatable")
	how.flags(cmd, h)
	return cmd
}

// printHarness prints a report for people: the capabilities, and the checks that fail with their first places.
func printHarness(w io.Writer, r *harness.Report) error {
	t := r.Tally()
	out := &errWriter{w: w}
	out.printf("%s: %s of %s with complete evidence (profile %s)\n\n", r.Verdict(), view.Group(int(t.Records.Fulfilled)), amount(r.Records(), "record"), harness.Profile)
	if out.err != nil {
		return out.err
	}
	rows := [][]string{}
	for _, c := range harness.AllCapabilities() {
		n := t.Capabilities[c-1]
		applicable := view.Dash
		if n.Records > n.NotApplicable {
			applicable = view.Group(int(n.Fulfilled)) + " of " + view.Group(int(n.Records-n.NotApplicable))
		}
		rows = append(rows, []string{c.Label(), c.String(), n.Verdict().String(), applicable})
	}
	if err := printTable(w, []column{{title: "TE"}, {title: "capability"}, {title: "verdict"}, {title: "records", right: true}}, rows); err != nil {
		return err
	}
	out.printf("\nToken counts that are there:\n")
	for i, name := range harness.TokenFields() {
		a := t.Tokens[i]
		out.printf("  %s: %s of %s\n", name, view.Group(int(a.Available)), amount(int(a.Calls), "call"))
	}
	for i, c := range harness.All() {
		n := t.Checks[i]
		if n.Failed == 0 {
			continue
		}
		if i == firstFailed(t) {
			out.printf("\nWhere to look first:\n")
		}
		out.printf("%s: %s; %s\n", c.ID, amount(int(n.Failed), "record"), c.Fails)
		shown := 0
		for k := 0; k < r.Records() && shown < placesShown; k++ {
			if !r.Standing(k).Failed.Has(i) {
				continue
			}
			shown++
			source, line := r.Place(k)
			location, named := r.First(k, i)
			more := ""
			if named > 1 {
				more = fmt.Sprintf(" and %s more", view.Group(int(named-1)))
			}
			out.printf("  %s:%d  %s%s\n", safe(source), line, location, more)
		}
		if rest := int(n.Failed) - shown; rest > 0 {
			out.printf("  and %s\n", amount(rest, "more record"))
		}
	}
	waiting := [][]string{}
	for i, c := range harness.All() {
		if n := t.Checks[i].Blocked; n > 0 {
			waiting = append(waiting, []string{c.ID, view.Group(int(n)), strings.Join(c.Prerequisites(r.Scope()), ", ")})
		}
	}
	if len(waiting) > 0 && out.err == nil {
		out.printf("\nNot evaluated, since a prerequisite failed:\n")
		if out.err != nil {
			return out.err
		}
		return printTable(w, []column{{title: "check"}, {title: "records", right: true}, {title: "needs"}}, waiting)
	}
	return out.err
}

// firstFailed is the position of the first check that failed by itself.
func firstFailed(t *harness.Tally) int {
	return slices.IndexFunc(t.Checks[:], func(c harness.CheckCount) bool { return c.Failed > 0 })
}
