package server

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"strconv"
)

// A NamedFile is a file that was named on a command line: where it is and the name it is shown under.
type NamedFile struct{ Path, Name string }

// Named is a shelf of one run with exactly these files in this order. Ids are positions, so nothing else can be
// asked for; what a name leads to through links was chosen by whoever named it.
func Named(name string, files []NamedFile) Shelf { return &named{name, files} }

type named struct {
	name  string
	files []NamedFile
}

const namedRun = "0"

// NamedURL is where the files of a [Named] shelf are listed.
const NamedURL = "/runs/" + namedRun

func (n *named) List(ctx context.Context) ([]Run, bool, error) {
	run, err := n.Run(ctx, namedRun)
	return []Run{run}, false, err
}

func (n *named) Run(ctx context.Context, id string) (Run, error) {
	if id != namedRun {
		return Run{}, fs.ErrNotExist
	}
	var files []File
	for i, f := range n.files {
		if err := ctx.Err(); err != nil {
			return Run{}, err
		}
		info, err := os.Stat(f.Path)
		if err != nil || !info.Mode().IsRegular() {
			continue // gone since it was named; it is listed again when it is back
		}
		files = append(files, newFile(namedRun, strconv.Itoa(i), f.Name, info))
	}
	return newRun(namedRun, n.name, files), nil
}

func (n *named) Open(run, file string) (*os.File, fs.FileInfo, error) {
	i, ok := position(run, file)
	if !ok || i >= len(n.files) {
		return nil, nil, fs.ErrNotExist
	}
	return openRegular(n.files[i].Path, os.Stat, os.Open)
}

// position is the one that the id of a file of a named run stands for; no other text stands for it.
func position(run, file string) (i int, ok bool) {
	n, err := strconv.ParseUint(file, 10, 31)
	return int(n), run == namedRun && err == nil && strconv.FormatUint(n, 10) == file
}

// openRegular opens a regular file. Opening a pipe waits for its other end, so its kind is looked at first, and
// again once it is open.
func openRegular(name string, stat func(string) (fs.FileInfo, error), open func(string) (*os.File, error)) (*os.File, fs.FileInfo, error) {
	info, err := stat(name)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s is no regular file: %w", name, fs.ErrNotExist)
	}
	f, err := open(name)
	if err != nil {
		return nil, nil, err
	}
	if info, err = f.Stat(); err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file: %w", name, fs.ErrNotExist)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}
