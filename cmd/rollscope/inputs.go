package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rollscope/rollscope/core/health"
	"github.com/rollscope/rollscope/core/packed"
	"github.com/rollscope/rollscope/core/runfolder"
	"github.com/rollscope/rollscope/core/source"
)

// An input is one rollouts file of a report.
type input struct {
	name string // in reports
	file *os.File
	info fs.FileInfo // when it was opened

	packed *packed.Source // nil for a file that is read as it lies there
	damage *packed.Damage // where it could not be unpacked any further, once that is known
}

// damagedInputs is the error of inputs that could not be unpacked to their ends. What was read has been reported by then,
// but nobody may take it for the whole.
func damagedInputs(list []*input) error {
	var errs []error
	for _, in := range list {
		if d := in.damage; d != nil {
			errs = append(errs, fmt.Errorf("%s %w; what is reported holds the %d bytes that could be unpacked", in.name, d, d.Plain))
		}
	}
	return errors.Join(errs...)
}

// inputOptions say how the paths of a report are understood.
type inputOptions struct {
	rolloutsFile string // the file of a run directory
	resolve      bool   // absolute paths with links resolved (spec health §16, M1)
	refuse       bool   // runs with a manifest or a journal are refused (M2)
}

const defaultRolloutsFile = "rollouts.jsonl"

// openInputs opens the rollouts files behind paths, in their order: a file is itself, a directory is the one
// rollouts file in it (spec health §2). The caller closes them, in case of an error as well.
func openInputs(paths []string, o inputOptions) (list []*input, err error) {
	if len(paths) == 0 {
		return nil, usagef("at least one rollout JSONL path is required")
	}
	directories := 0
	for _, given := range paths {
		path := health.Lexical(given)
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist) && strings.HasSuffix(given, "/"):
			return list, fmt.Errorf("run directory not found: %s", path)
		case err == nil && info.IsDir():
			directories++
			name := o.rolloutsFile
			if name == "" {
				name = defaultRolloutsFile
			}
			if filepath.IsAbs(name) {
				path = health.Lexical(name)
			} else {
				path = health.Lexical(path + "/" + name)
			}
		}
		if o.refuse {
			if beside := recordedBeside(resolved(path)); beside != "" {
				return list, refusal(resolved(path), beside)
			}
		}
		in, err := openInput(path, o.resolve)
		if err != nil {
			if others := rolloutsIn(given, ""); o.rolloutsFile == "" && others != "" {
				err = fmt.Errorf("%w; here is %s: name the file, or --rollouts-file", err, others)
			}
			return list, err
		}
		list = append(list, in)
	}
	if o.rolloutsFile != "" && directories == 0 {
		return list, usagef("--rollouts-file names a file in a run directory, and no directory was given")
	}
	return list, nil
}

// unread tells which rollouts files of the directories among paths are not read: of each, only one is.
func (h *host) unread(paths []string, rolloutsFile string) {
	if rolloutsFile == "" {
		rolloutsFile = defaultRolloutsFile
	}
	for _, path := range paths {
		if others := rolloutsIn(path, rolloutsFile); others != "" {
			h.note("of %s, %s alone is read, not %s: name the files to read them together", path, rolloutsFile, others)
		}
	}
}

// rolloutsIn names the rollouts files right inside a directory but for one, the first few of them. It is empty for a file.
func rolloutsIn(directory, but string) string {
	const most = 3
	entries, err := os.ReadDir(directory)
	if err != nil {
		return ""
	}
	var files []runfolder.File
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			files = append(files, runfolder.File{Path: e.Name(), Size: info.Size()})
		}
	}
	var names []string
	for _, i := range runfolder.Sort(files).Rollouts() {
		if files[i].Path == but {
			continue
		}
		if names = append(names, files[i].Path); len(names) > most {
			return strings.Join(names[:most], ", ") + " …"
		}
	}
	return strings.Join(names, ", ")
}

func openInput(path string, resolve bool) (*input, error) {
	name := path
	if resolve {
		name = resolved(path)
	}
	// A pipe would be waited for, so its kind is looked at before it is opened.
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("rollout JSONL not found: %s", name)
	} else if err != nil {
		return nil, fmt.Errorf("rollout JSONL %w", err)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("rollout JSONL %w", err)
	}
	if info, err = f.Stat(); err != nil {
		f.Close()
		return nil, fmt.Errorf("rollout JSONL %w", err)
	}
	in := &input{name: name, file: f, info: info}
	if strings.HasSuffix(name, ".gz") {
		in.packed = packed.Of(source.Of(name, info.Size(), f))
	}
	return in, nil
}

// resolved is the absolute path with links followed. A missing file keeps its place in messages.
func resolved(path string) string {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	if real, err := filepath.EvalSymlinks(absolute); err == nil {
		return real
	}
	return absolute
}

func closeInputs(list []*input) {
	for _, in := range list {
		in.file.Close()
	}
}

func (in *input) source() source.Source {
	if in.packed != nil {
		return in.packed
	}
	return source.Of(in.name, in.info.Size(), in.file)
}

// grown tells by how much the file has grown since it was opened. Any other change is an error: what was read is
// then neither the old file nor the new one.
func (in *input) grown() (int64, error) {
	now, err := os.Stat(in.name)
	if err != nil {
		return 0, fmt.Errorf("%s: %w: %w", in.name, source.ErrChanged, err)
	}
	switch {
	case !os.SameFile(in.info, now):
		return 0, fmt.Errorf("%s: %w: another file has taken its place", in.name, source.ErrChanged)
	case now.Size() < in.info.Size():
		return 0, fmt.Errorf("%s: %w: it has become %d bytes shorter", in.name, source.ErrChanged, in.info.Size()-now.Size())
	case now.Size() == in.info.Size() && !now.ModTime().Equal(in.info.ModTime()):
		return 0, fmt.Errorf("%s: %w", in.name, source.ErrChanged)
	}
	return now.Size() - in.info.Size(), nil
}

// recorded gives the name of the run manifest or the attempt journal that stands beside a rollouts file, "" if
// there is neither.
func (in *input) recorded() string { return recordedBeside(in.name) }

func recordedBeside(path string) string {
	dir, base := filepath.Split(path)
	stem := base
	if dot := strings.LastIndexByte(base, '.'); dot > 0 && dot < len(base)-1 {
		stem = base[:dot]
	}
	for _, name := range []string{stem + "_manifest.json", stem + "_attempts.jsonl"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return name
		}
	}
	return ""
}
