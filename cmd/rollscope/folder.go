package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rollscope/rollscope/core/source"
	"github.com/rollscope/rollscope/core/verify"
)

// A runFolder is the files of a directory, opened when they are read.
type runFolder struct {
	dir   string
	only  string // the file that was named, empty if the directory was
	files []verify.File
	seen  []*folderFile
	open  []*folderFile // those that are open now, the latest last
}

// mostOpen bounds the files that are open at the same time.
const mostOpen = 64

// A folderFile is one file of a folder.
type folderFile struct {
	folder *runFolder
	path   string
	info   fs.FileInfo // when it was listed
	file   *os.File    // nil while it is closed
}

// listFolder lists the files behind RUN: all below a directory, whose directory links are not followed, or those
// beside a file.
func listFolder(path string) (*runFolder, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("run folder: %w", err)
	}
	f := &runFolder{dir: path}
	deep := info.IsDir()
	if !deep {
		if !info.Mode().IsRegular() {
			return nil, fmt.Errorf("run folder: %s is neither a directory nor a file", path)
		}
		f.dir, f.only = filepath.Dir(path), filepath.Base(path)
	}
	// With a slash behind it, a directory that is reached by a link is walked as well.
	err = filepath.WalkDir(f.dir+string(filepath.Separator), func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(f.dir, p)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name != "." && !deep {
				return filepath.SkipDir
			}
			return nil
		}
		return f.add(name, p)
	})
	if err != nil {
		return nil, fmt.Errorf("run folder: %w", err)
	}
	return f, nil
}

// add lists a file. What is no file, such as a pipe or a link to a directory, is left out.
func (f *runFolder) add(name, path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // a link to nothing, or a file that was taken away meanwhile
	} else if err != nil {
		return err
	}
	if info.Mode().IsRegular() {
		f.files = append(f.files, f.file(filepath.ToSlash(name), path, info))
	}
	return nil
}

func (f *runFolder) file(name, path string, info fs.FileInfo) verify.File {
	file := &folderFile{folder: f, path: path, info: info}
	f.seen = append(f.seen, file)
	return verify.File{Path: name, Source: source.Of(name, info.Size(), file)}
}

// ReadAt reads from the file and opens it if need be.
func (f *folderFile) ReadAt(b []byte, at int64) (int, error) {
	if f.file == nil {
		file, err := os.Open(f.path)
		if err != nil {
			return 0, err
		}
		if len(f.folder.open) == mostOpen {
			f.folder.open[0].shut()
		}
		f.file = file
		f.folder.open = append(f.folder.open, f)
	}
	return f.file.ReadAt(b, at)
}

func (f *folderFile) shut() {
	f.file.Close()
	f.file = nil
	f.folder.open = slices.DeleteFunc(f.folder.open, func(other *folderFile) bool { return other == f })
}

func (f *runFolder) close() {
	for len(f.open) > 0 {
		f.open[0].shut()
	}
}

// size is the number of bytes of all files.
func (f *runFolder) size() (total int64) {
	for _, file := range f.seen {
		total += file.info.Size()
	}
	return total
}

// remark tells which files changed while they were read.
func (f *runFolder) remark(h *host) {
	for _, file := range f.seen {
		now, err := os.Stat(file.path)
		switch {
		case err != nil:
			h.note("%s was taken away while it was read", file.path)
		case now.Size() > file.info.Size():
			h.note("%s has grown by %d bytes since it was listed; they are not in the result", file.path, now.Size()-file.info.Size())
		case now.Size() != file.info.Size() || !now.ModTime().Equal(file.info.ModTime()):
			h.note("%s was changed while it was read", file.path)
		}
	}
}

// manifest names a batch manifest, as it is called below the folder if it lies there, with the status beside it.
func (f *runFolder) manifest(given string) (verify.GivenManifest, error) {
	var g verify.GivenManifest
	name := filepath.ToSlash(given)
	if below, ok := f.below(given); ok {
		name = below
	}
	info, err := os.Stat(given)
	if err != nil {
		return g, fmt.Errorf("batch manifest: %w", err)
	}
	if !info.Mode().IsRegular() {
		return g, fmt.Errorf("batch manifest: %s is no file", given)
	}
	// A file that cannot be opened is an error here, not something to report about the run.
	if _, err := os.ReadFile(given); err != nil {
		return g, fmt.Errorf("batch manifest: %w", err)
	}
	g.File = f.file(name, given, info)
	const beside = "batch_status.json"
	status := filepath.Join(filepath.Dir(given), beside)
	if info, err := os.Stat(status); err == nil && info.Mode().IsRegular() {
		dir := name[:strings.LastIndexByte(name, '/')+1]
		file := f.file(dir+beside, status, info)
		g.Status = &file
	}
	return g, nil
}

// below gives the name of a path inside the folder.
func (f *runFolder) below(path string) (name string, ok bool) {
	root, err := filepath.Abs(f.dir)
	if err != nil {
		return "", false
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", false
	}
	name, err = filepath.Rel(root, absolute)
	if err != nil || name == ".." || strings.HasPrefix(name, ".."+string(filepath.Separator)) {
		return "", false
	}
	return filepath.ToSlash(name), true
}

// verify reads the folder.
func (f *runFolder) verify(ctx context.Context, h *host, o verify.Options) (*verify.Report, error) {
	p := h.progress(f.size())
	o.Only = f.only
	o.Progress = func(bytes int64) { p.show(bytes, 0) }
	report, err := verify.Run(ctx, f.files, o)
	p.done()
	if err != nil {
		return nil, err
	}
	f.remark(h)
	return report, nil
}
