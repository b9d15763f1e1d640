package main

import (
	"bytes"
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

	"github.com/rollscope/rollscope/core/finding"
	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/store"
	"github.com/rollscope/rollscope/core/value"
	"github.com/rollscope/rollscope/core/verify"
	"github.com/rollscope/rollscope/core/view"
)

// The files that a repair writes beside the copy.
const (
	repairLog     = "repair.json"
	repairText    = "repair.txt"
	repairRemoved = "repair_removed.bin" // the bytes that the copy lacks, one part behind the other
)

// A repairing is how a copy is made.
type repairing struct {
	dir      string
	glued    bool
	coverage bool
	asJSON   bool
}

func repairCommand(h *host) *cobra.Command {
	var r repairing
	cmd := &cobra.Command{
		Use:   "repair RUN -o NEW_DIR [flags]",
		Short: "write a repaired copy of a run",
		Long: `Write a copy of a run in which the rollouts files and failures sidecars end in
whole lines: a last line that is a JSON value gets its line end, any other is cut
off, as a resume of the reference would do it. Nothing else is changed; rows that
are there twice stay and are listed. The run itself is never written to.

The log ` + repairLog + ` names every difference, ` + repairText + ` says the same in
words, and ` + repairRemoved + ` holds the bytes that were cut off.

` + runArgument,
		Example: "  rollscope repair RUN_DIR -o repaired\n  rollscope repair RUN_DIR/rollouts.jsonl -o repaired --split-glued",
		Args:    exactly(1, "name one run: a directory, or one of its files"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if r.dir == "" {
				return usagef("-o NEW_DIR is missing: a repair is written to a new directory")
			}
			return r.run(cmd.Context(), h, args[0])
		},
	}
	f := cmd.Flags()
	f.StringVarP(&r.dir, "output", "o", "", "write the copy into this new `directory`")
	f.BoolVar(&r.glued, "split-glued", false, "put objects that stand on one line behind each other on lines of their own")
	f.BoolVar(&r.coverage, "fresh-coverage", false, "write a fresh coverage file for runs with a manifest")
	f.BoolVar(&r.asJSON, "json", false, "print the log as one JSON document")
	return cmd
}

// A repaired file is one file of the copy.
type repaired struct {
	path, role    string
	before, after int64
	edits         []store.Edit
	parts         []removedPart // of edits that remove bytes
	sha           string        // of the copy
}

// A removedPart is where removed bytes are kept.
type removedPart struct {
	at  int64 // in the file of removed bytes
	sha string
}

// A repairReport is what was done.
type repairReport struct {
	source     string
	files      []repaired
	duplicates []value.Value
	coverage   []string // coverage files that were written anew
	leftOut    []string
	removed    bytes.Buffer
}

func (r *repairing) run(ctx context.Context, h *host, path string) (err error) {
	folder, err := listFolder(path)
	if err != nil {
		return err
	}
	defer folder.close()
	if err := r.fresh(folder); err != nil {
		return err
	}
	report, err := folder.verify(ctx, h, verify.Options{})
	if err != nil {
		return err
	}
	if err := named(r.dir); err != nil {
		return err
	}
	undo, err := makeFresh(r.dir)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			undo()
		}
	}()
	done := &repairReport{source: filepath.ToSlash(path), duplicates: duplicates(report)}
	for _, info := range report.Files {
		if folder.only != "" && info.Run == "" {
			continue
		}
		if slices.Contains([]string{repairLog, repairText, repairRemoved}, info.Path) {
			done.leftOut = append(done.leftOut, info.Path) // of an earlier repair
			continue
		}
		at := slices.IndexFunc(folder.files, func(f verify.File) bool { return f.Path == info.Path })
		if err := r.copy(ctx, done, info, folder.files[at]); err != nil {
			return err
		}
	}
	if r.coverage {
		if err := r.writeCoverage(ctx, h, done); err != nil {
			return err
		}
	}
	return r.tell(h, done)
}

// fresh refuses a directory that is, holds or lies in the run.
func (r *repairing) fresh(folder *runFolder) error {
	source, err := realPath(folder.dir)
	if err != nil {
		return fmt.Errorf("run folder: %w", err)
	}
	target, err := realPath(r.dir)
	if err != nil {
		return fmt.Errorf("output: %w", err)
	}
	inside := func(a, b string) bool {
		rest, ok := strings.CutPrefix(a, strings.TrimSuffix(b, string(filepath.Separator)))
		return ok && (rest == "" || rest[0] == filepath.Separator)
	}
	if inside(target, source) || folder.only == "" && inside(source, target) {
		return fmt.Errorf("output %s: a repaired copy is not written into the run it is made of", r.dir)
	}
	return nil
}

// realPath is the absolute path without links, also of what is not there yet.
func realPath(path string) (string, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	rest := ""
	for {
		real, err := filepath.EvalSymlinks(absolute)
		if err == nil {
			return filepath.Join(real, rest), nil
		}
		if !errors.Is(err, fs.ErrNotExist) || filepath.Dir(absolute) == absolute {
			return "", err
		}
		rest = filepath.Join(filepath.Base(absolute), rest)
		absolute = filepath.Dir(absolute)
	}
}

// makeFresh makes an empty directory, or takes one that is empty. undo takes away what was put into it since.
func makeFresh(dir string) (undo func(), err error) {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return nil, fmt.Errorf("output: %w", err)
		}
		return func() { os.RemoveAll(dir) }, nil
	case err != nil:
		return nil, fmt.Errorf("output: %w", err)
	case len(entries) > 0:
		return nil, fmt.Errorf("output: %s is not empty", dir)
	}
	return func() {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			os.RemoveAll(filepath.Join(dir, e.Name()))
		}
	}, nil
}

// copy writes the copy of one file.
func (r *repairing) copy(ctx context.Context, done *repairReport, info verify.FileInfo, file verify.File) error {
	c := repaired{path: info.Path, role: info.Role, before: file.Source.Size(), after: file.Source.Size()}
	whole := io.NewSectionReader(file.Source, 0, c.before)
	if info.Role == "results" || info.Role == "failures" {
		repair := store.Repair{Glued: r.glued}
		if err := eachLine(ctx, whole, func(l *jsonl.Line) error { repair.Line(l); return nil }); err != nil {
			return fmt.Errorf("%s: %w", info.Path, err)
		}
		c.edits = repair.Edits
	}
	for _, e := range c.edits {
		if e.LF {
			c.after++
		}
		if e.Removed == 0 {
			c.parts = append(c.parts, removedPart{})
			continue
		}
		c.after -= e.Removed
		part := make([]byte, e.Removed)
		if _, err := file.Source.ReadAt(part, e.Offset); err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("%s: %w", info.Path, err)
		}
		c.parts = append(c.parts, removedPart{int64(done.removed.Len()), store.Sum(part)})
		done.removed.Write(part)
	}
	hash := sha256.New()
	err := r.write(ctx, info.Path, func(w io.Writer) error { return store.Apply(io.MultiWriter(w, hash), file.Source, c.before, c.edits) })
	c.sha = hex.EncodeToString(hash.Sum(nil))
	done.files = append(done.files, c)
	return err
}

// write writes a file of the copy.
func (r *repairing) write(ctx context.Context, name string, write func(io.Writer) error) error {
	path := filepath.Join(r.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return fmt.Errorf("output: %w", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return fmt.Errorf("output: %w", err)
	}
	err = write(stoppable{ctx, f})
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("output %s: %w", path, err)
	}
	return nil
}

// writeCoverage writes fresh coverage files for the runs of the copy.
func (r *repairing) writeCoverage(ctx context.Context, h *host, done *repairReport) error {
	copied, err := listFolder(r.dir)
	if err != nil {
		return err
	}
	defer copied.close()
	report, err := copied.verify(ctx, h, verify.Options{})
	if err != nil {
		return err
	}
	for _, run := range report.Runs {
		if run.Reading != verify.ByManifest || !run.Reliable {
			h.note("%s: no fresh coverage, since it is %s", run.Key, reading(run))
			continue
		}
		name := strings.TrimSuffix(run.Place.Manifest, "_manifest.json") + "_coverage.json"
		path := filepath.Join(r.dir, filepath.FromSlash(name))
		if err := os.WriteFile(path, run.Coverage.File(), 0o666); err != nil {
			return fmt.Errorf("output: %w", err)
		}
		done.coverage = append(done.coverage, name)
	}
	return nil
}

// duplicates lists the rows that repeat another.
func duplicates(report *verify.Report) []value.Value {
	list := []value.Value{}
	type place struct {
		file string
		line int64
	}
	seen := map[place]bool{}
	add := func(file string, line int64, firstFile string, first int64, rollout string, attempt value.Value, equal bool) {
		if seen[place{file, line}] {
			return
		}
		seen[place{file, line}] = true
		list = append(list, value.Object(value.M("file", value.Text(file)), value.M("line", value.Int(line)), value.M("first_file", value.Text(firstFile)), value.M("first_line", value.Int(first)),
			value.M("rollout", value.TextOrNull(rollout)), value.M("attempt", attempt), value.M("equal", value.Bool(equal))))
	}
	for _, run := range report.Runs {
		if run.Index != nil {
			for _, d := range run.Index.Duplicates {
				add(run.Place.Path(d.File), d.Line, run.Place.Path(d.FirstFile), d.FirstAt, d.Rollout, value.Whole(d.Attempt), true)
			}
		}
		for i := range run.Findings {
			f := &run.Findings[i]
			first, _ := f.Value("first_line").Int64()
			switch f.ID {
			case finding.ConflictingOutcome:
				file, _ := f.Value("first_file").Text()
				add(f.File, f.Line, file, first, f.Rollout, value.Whole(f.Attempt), false)
			case finding.DuplicateResult:
				add(f.File, f.Line, f.File, first, f.Rollout, value.Null, false)
			}
		}
	}
	return list
}

// document is the log.
func (d *repairReport) document() value.Value {
	files := []value.Value{}
	for _, c := range d.files {
		edits := []value.Value{}
		for i, e := range c.edits {
			kept, sha := value.Null, value.Null
			if e.Removed > 0 {
				kept, sha = value.Int(c.parts[i].at), value.Text(c.parts[i].sha)
			}
			added := int64(0)
			if e.LF {
				added = 1
			}
			edits = append(edits, value.Object(value.M("line", value.Int(e.Line)), value.M("offset", value.Int(e.Offset)), value.M("removed", value.Int(e.Removed)),
				value.M("added", value.Int(added)), value.M("reason", value.Text(e.Reason)), value.M("removed_sha256", sha), value.M("kept_at", kept)))
		}
		files = append(files, value.Object(value.M("path", value.Text(c.path)), value.M("role", value.Text(c.role)), value.M("bytes_before", value.Int(c.before)),
			value.M("bytes_after", value.Int(c.after)), value.M("sha256_after", value.Text(c.sha)), value.M("edits", value.List(edits...))))
	}
	return value.Object(value.M("schema", value.Text("rollscope.repair/1")), value.M("source", value.Text(d.source)), value.M("removed", value.Int(int64(d.removed.Len()))),
		value.M("files", value.List(files...)), value.M("duplicates", value.List(d.duplicates...)), value.M("coverage_written", value.Texts(d.coverage)), value.M("left_out", value.Texts(d.leftOut)))
}

// reasons say what an edit did.
var reasons = map[string]string{
	store.CutTail:  "cut off %d bytes: the last line is no JSON value",
	store.EndTail:  "added the line end that the last line lacks",
	store.SplitRow: "added a line end between two objects on one line",
}

// words is the log for people.
func (d *repairReport) words() string {
	var b strings.Builder
	edits := 0
	for _, c := range d.files {
		for _, e := range c.edits {
			edits++
			text := reasons[e.Reason]
			if e.Removed > 0 {
				text = fmt.Sprintf(text, e.Removed)
			}
			fmt.Fprintf(&b, "%s:%d: %s (at byte %d)\n", safe(c.path), e.Line, text, e.Offset)
		}
	}
	for _, dup := range d.duplicates {
		file, _ := dup.Get("file").Text()
		first, _ := dup.Get("first_file").Text()
		how := "another row for the same rollout"
		if equal, _ := dup.Get("equal").Truth(); equal {
			how = "the same row"
		}
		fmt.Fprintf(&b, "%s:%s: kept, %s:%s has %s\n", safe(file), dup.Get("line"), safe(first), dup.Get("first_line"), how)
	}
	for _, name := range d.coverage {
		fmt.Fprintf(&b, "%s: written anew\n", safe(name))
	}
	for _, name := range d.leftOut {
		fmt.Fprintf(&b, "%s: left out, it is the log of an earlier repair\n", safe(name))
	}
	fmt.Fprintf(&b, "%s copied, %s, %s removed\n", amount(len(d.files), "file"), amount(edits, "edit"), view.Bytes(int64(d.removed.Len())))
	return b.String()
}

// tell writes the log and prints it.
func (r *repairing) tell(h *host, d *repairReport) error {
	ctx := context.Background()
	text := d.words()
	if d.removed.Len() > 0 {
		if err := r.write(ctx, repairRemoved, func(w io.Writer) error { _, err := w.Write(d.removed.Bytes()); return err }); err != nil {
			return err
		}
	}
	if err := r.write(ctx, repairText, func(w io.Writer) error { _, err := io.WriteString(w, text); return err }); err != nil {
		return err
	}
	document := d.document()
	if err := r.write(ctx, repairLog, func(w io.Writer) error {
		_, err := w.Write(append(document.AppendIndented(nil, false), '\n'))
		return err
	}); err != nil {
		return err
	}
	if r.asJSON {
		_, err := h.out.Write(append(document.Append(nil, value.Plain), '\n'))
		return err
	}
	_, err := io.WriteString(h.out, text)
	return err
}
