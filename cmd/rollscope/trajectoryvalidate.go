package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rollscope/rollscope/core/atif"
	"github.com/rollscope/rollscope/core/audit"
	"github.com/rollscope/rollscope/core/finding"
	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/projection"
	"github.com/rollscope/rollscope/core/value"
	"github.com/rollscope/rollscope/core/view"
)

// companions are the files beside a run that its evidence is held against.
type companions struct {
	rolloutsFile string
	inputs       string
	captures     []string
}

func (c *companions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&c.rolloutsFile, "rollouts-file", "", "`name` of the rollouts file of a directory (default "+defaultRolloutsFile+")")
	f.StringVar(&c.inputs, "inputs", "", "`file` of the materialized inputs (default: the one beside the rollouts file)")
	f.StringArrayVar(&c.captures, "captures", nil, "`directory` of captured model calls, may be repeated (default: captures beside the rollouts file)")
}

// beside finds the companions of a rollouts file that were not named.
func (c *companions) beside(path string) (inputs string, captures []string) {
	inputs, captures = c.inputs, c.captures
	if inputs == "" {
		if p := beside(path, inputsSuffix); isFile(p) {
			inputs = p
		}
	}
	if captures == nil {
		if p := filepath.Join(filepath.Dir(path), "captures"); isDir(p) {
			captures = []string{p}
		}
	}
	return inputs, captures
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func trajectoryValidateCommand(h *host) *cobra.Command {
	var (
		with   companions
		asJSON bool
		export bool
		failOn string
	)
	cmd := &cobra.Command{
		Use:   "validate PATH… [flags]",
		Short: "hold saved evidence against what it was made of",
		Long: `Hold the evidence that rows carry against what it was made of: attached calls
against their captures, trajectories against calls and observations, numbers of
performance against trajectories. An ATIF document is held against the rules of
the programs that read it, and a folder of exported ones also against the
rollouts they were made of, when those are among the paths.

An error means that the evidence contradicts itself, a warning that it is lost
or doubtful.`,
		Example: `  rollscope trajectory validate RUN_DIR
  rollscope trajectory validate rollouts.jsonl --captures captures --fail-on error
  rollscope trajectory validate trajectory.json
  rollscope trajectory validate rollouts.jsonl exported`,
		RunE: func(cmd *cobra.Command, paths []string) error {
			if len(paths) == 0 {
				return usagef("at least one path is wanted")
			}
			least, err := parseSeverity(failOn, cmd.Flags().Changed("fail-on"))
			if err != nil {
				return err
			}
			v := validation{host: h, with: with, export: export}
			if err := v.paths(cmd.Context(), paths); err != nil {
				return err
			}
			finding.Sort(v.found)
			if asJSON {
				err = v.document()
			} else {
				err = v.print()
			}
			if err != nil {
				return err
			}
			if v.damage != nil {
				return v.damage
			}
			if err := least.check(v.found); err != nil {
				return err
			}
			return v.unread(least)
		},
	}
	with.flags(cmd)
	cmd.Flags().BoolVar(&export, "exportable", false, "also tell which rollouts cannot be exported as ATIF")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	cmd.Flags().StringVar(&failOn, "fail-on", "", "exit with status 1 on a finding of this `severity` or a worse one: error, warning or info")
	return cmd
}

// A severityLimit is the mildest severity that a command fails on.
type severityLimit struct {
	least finding.Severity
	given bool
}

func parseSeverity(text string, given bool) (severityLimit, error) {
	l := severityLimit{finding.Severity(text), given}
	if given && l.least.Rank() < 0 {
		return l, usagef("--fail-on %s: want error, warning or info", text)
	}
	return l, nil
}

// check gives the error of a command whose findings reach the limit.
func (l severityLimit) check(list []finding.Finding) error {
	if !l.given {
		return nil
	}
	n := 0
	for i := range list {
		if list[i].Severity.Rank() >= l.least.Rank() {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return fmt.Errorf("%w %s matched: %s", errMatched, l.least, amount(n, "finding"))
}

// A validation gathers the findings of several paths.
type validation struct {
	host   *host
	with   companions
	export bool
	found  []finding.Finding
	counts audit.Counts
	atif   []value.Value // one entry for each ATIF document
	damage error         // of packed files

	exported map[string]string // files of manifests by their rollouts
	exporter atif.Exporter
}

// unread is the error of rollouts of which no row can be read. Nothing was held against anything then, which is no
// success where success is asked for.
func (v *validation) unread(l severityLimit) error {
	if c := v.counts; l.given && c.Rows > 0 && c.Unreadable == c.Rows {
		return fmt.Errorf("%w %s matched: none of %d rows can be read", errMatched, l.least, c.Rows)
	}
	return nil
}

// paths looks at ATIF documents first, so that rollouts can be held against what was exported of them.
func (v *validation) paths(ctx context.Context, paths []string) error {
	v.exported = map[string]string{}
	var runs []string
	for _, path := range paths {
		switch done, err := v.documents(path); {
		case err != nil:
			return err
		case !done:
			runs = append(runs, path)
		}
	}
	if len(runs) == 0 {
		return nil
	}
	list, err := openInputs(runs, inputOptions{rolloutsFile: v.with.rolloutsFile})
	defer closeInputs(list)
	if err != nil {
		return err
	}
	for _, in := range list {
		if err := v.rollouts(ctx, in); err != nil {
			return err
		}
	}
	return nil
}

// documents holds an ATIF document, or the files of a manifest of such, against their rules; it is not done where the
// path is neither.
func (v *validation) documents(path string) (done bool, err error) {
	if isDir(path) {
		// An exported folder has a manifest and no rollouts.
		if path = filepath.Join(path, atif.ManifestFile); !isFile(path) || isFile(filepath.Join(filepath.Dir(path), defaultRolloutsFile)) {
			return false, nil
		}
	}
	if filepath.Base(path) == atif.ManifestFile {
		return true, v.manifest(path)
	}
	if !strings.HasSuffix(strings.ToLower(path), ".json") || !isFile(path) {
		return false, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return true, err
	}
	v.judge(filepath.ToSlash(path), text)
	return true, nil
}

// judge judges one document.
func (v *validation) judge(name string, text []byte) {
	validity, found := atif.Check(text, name, isFile)
	v.found = append(v.found, found...)
	word := func(ok bool) value.Value {
		if ok {
			return value.Text("valid")
		}
		return value.Text("invalid")
	}
	importable := value.Text("impossible")
	if validity.Importable {
		importable = value.Text("possible")
	}
	v.atif = append(v.atif, value.Object(value.M("file", value.Text(name)), value.M("gym", word(validity.Gym)), value.M("harbor", word(validity.Harbor)), value.M("import", importable)))
}

// manifest judges the entries of a manifest and their documents.
func (v *validation) manifest(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	name := filepath.ToSlash(path)
	var list []atif.Manifested
	for i, line := range bytes.Split(text, []byte{'\n'}) {
		if jsonl.Blank(line) {
			continue
		}
		entry, err := atif.ParseEntry(line, i+1)
		if err != nil {
			v.found = append(v.found, finding.New(finding.ATIFBadManifest, "", name, value.M("reason", value.Text(err.Error()))).At(int64(i)+1, 0))
			continue
		}
		m := atif.Manifested{Entry: entry, File: entry.File(name)}
		if m.Text, err = os.ReadFile(filepath.FromSlash(m.File)); err == nil {
			m.Found = true
			v.exported[entry.Key()] = m.File
			v.judge(m.File, m.Text)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		list = append(list, m)
	}
	if len(list) == 0 {
		v.found = append(v.found, finding.New(finding.ATIFBadManifest, "", name, value.M("reason", value.Text("there is no entry"))))
	}
	v.found = append(v.found, atif.CheckManifest(name, list)...)
	return nil
}

// rollouts audits one rollouts file.
func (v *validation) rollouts(ctx context.Context, in *input) error {
	a := audit.Auditor{Run: in.name}
	inputs, captures := v.with.beside(in.name)
	if inputs != "" {
		rows, list, err := readInputs(inputs, nil)
		closeInputs(list)
		switch {
		case errors.Is(err, projection.ErrInput):
			v.host.note("%s; task ids are not judged", err)
		case err != nil:
			return err
		default:
			a.Inputs = rows
		}
	} else {
		v.host.note("%s: no materialized inputs beside it; task ids are not judged", in.name)
	}
	if captures != nil {
		a.Captures = &captureDir{dirs: captures}
	}
	progress := v.host.progress(in.info.Size())
	rows := int64(0)
	err := in.lines(ctx, func(line *jsonl.Line) error {
		if !jsonl.Blank(line.Bytes) {
			rows++
			v.found = append(v.found, a.Row(in.name, line)...)
			if err := v.exportable(in.name, line); err != nil {
				return err
			}
		}
		progress.show(line.Offset+line.Size(), rows)
		return nil
	})
	progress.done()
	if errors.As(err, &in.damage) {
		v.damage, err = errors.Join(v.damage, damagedInputs([]*input{in})), nil
	}
	if err != nil {
		return err
	}
	// Failed rollouts are told of in a file of their own, and have captures too.
	failures := beside(in.name, failuresSuffix)
	if len(captures) > 0 && isFile(failures) {
		if err := v.sidecar(ctx, failures, &a); err != nil {
			return err
		}
	}
	for _, dir := range captures {
		entries, err := os.ReadDir(dir)
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("captures: %s is not there", dir)
		} else if err != nil {
			return fmt.Errorf("captures: %w", err)
		}
		var names []string
		for _, e := range entries {
			if !e.IsDir() {
				names = append(names, e.Name())
			}
		}
		v.found = append(v.found, a.Files(filepath.ToSlash(dir), names)...)
	}
	v.found = append(v.found, a.Finish()...)
	v.counts = v.counts.Add(a.Counts)
	return nil
}

// exportable tells what keeps a row from being exported, and holds it against the document that was made of it.
func (v *validation) exportable(name string, line *jsonl.Line) error {
	if !v.export && len(v.exported) == 0 {
		return nil
	}
	v.exporter.Options = atif.Options{Session: "session", AgentVersion: "0"}
	doc, from, err := v.exporter.Row(line.Bytes)
	file, there := v.exported[from.Task.String()+"-"+from.Rollout.String()]
	if err != nil {
		if v.export {
			f := finding.New(finding.ATIFExportBlocked, "", name, value.M("rule", value.Text(err.Error())))
			v.found = append(v.found, f.At(line.Number, line.Offset))
		}
		return nil
	}
	if !there {
		return nil
	}
	text, err := os.ReadFile(filepath.FromSlash(file))
	if err != nil {
		return err
	}
	if saved, err := atif.Strict(text); err == nil {
		v.found = append(v.found, atif.CompareExport(saved, doc, file)...)
	}
	return nil
}

// sidecar reads the failures beside a rollouts file.
func (v *validation) sidecar(ctx context.Context, path string, a *audit.Auditor) error {
	in, err := openInput(path, false)
	if err != nil {
		return err
	}
	defer closeInputs([]*input{in})
	return in.lines(ctx, func(line *jsonl.Line) error {
		if !jsonl.Blank(line.Bytes) {
			a.Sidecar(line)
		}
		return nil
	})
}

func (v *validation) document() error {
	list := []value.Value{}
	for i := range v.found {
		list = append(list, v.found[i].Document())
	}
	c := v.counts
	number := func(name string, n int) value.Member { return value.M(name, value.Int(int64(n))) }
	doc := value.Object(
		value.M("counts", value.Object(
			number("rows", c.Rows), number("unreadable", c.Unreadable), number("attached", c.Attached), number("captured", c.Captured),
			number("trajectories", c.Trajectories), number("valid", c.Valid), number("from_calls", c.FromCalls),
			number("from_producer", c.FromProducer), number("other", c.Other), number("perf", c.Perf))),
		value.M("atif", value.List(v.atif...)),
		value.M("findings", value.List(list...)),
	)
	_, err := v.host.out.Write(append(doc.Append(nil, value.Plain), '\n'))
	return err
}

func (v *validation) print() error {
	w := errWriter{w: v.host.out}
	if c := v.counts; c.Rows > 0 {
		w.printf("%s rows, %d unreadable; %d with attached calls, the captures of %d at hand\n", view.Group(int64(c.Rows)), c.Unreadable, c.Attached, c.Captured)
		w.printf("%d trajectories, %d valid: turns of %d from calls, of %d from the agent, of %d from neither\n\n", c.Trajectories, c.Valid, c.FromCalls, c.FromProducer, c.Other)
	}
	for _, doc := range v.atif {
		w.printf("%s\n", safe(atifLine(doc)))
	}
	if w.err != nil {
		return w.err
	}
	if len(v.found) == 0 {
		w.printf("nothing found\n")
		return w.err
	}
	return printFindings(v.host, v.found)
}

// printFindings prints findings as a table.
func printFindings(h *host, list []finding.Finding) error {
	rows := [][]string{}
	for i := range list {
		f := &list[i]
		place := f.File
		if f.Line > 0 {
			place = fmt.Sprintf("%s:%d", f.File, f.Line)
		}
		rows = append(rows, []string{string(f.Severity), safe(f.ID), safe(place), safe(f.Rollout), safe(f.Message())})
	}
	return printTable(h.out, []column{{title: "severity"}, {title: "finding"}, {title: "place"}, {title: "rollout"}, {title: "what"}}, rows)
}

// atifLine says in one line which programs can read an ATIF document.
func atifLine(doc value.Value) string {
	text := func(name string) string {
		s, _ := doc.Get(name).Text()
		return s
	}
	return fmt.Sprintf("%s: Gym %s, Harbor %s, import %s", text("file"), text("gym"), text("harbor"), text("import"))
}
