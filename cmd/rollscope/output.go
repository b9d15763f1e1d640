package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// A product is one file that a command writes.
type product struct {
	name  string
	write func(io.Writer) error
}

// save writes products into a directory, which is made when missing. Each is written beside its place first and
// all are moved there when the last is complete, so a command that fails or is interrupted leaves nothing half
// written. An input is never written over.
func save(ctx context.Context, dir string, inputs []*input, products []product) (err error) {
	if err := named(dir); err != nil {
		return err
	}
	for _, p := range products {
		if err := notInput(filepath.Join(dir, p.name), inputs); err != nil {
			return err
		}
	}
	var drafts []string
	var made directories
	defer func() {
		for _, d := range drafts {
			if d != "" {
				os.Remove(d)
			}
		}
		if err != nil {
			made.remove()
		}
	}()
	for _, p := range products {
		if err := made.make(filepath.Join(dir, filepath.Dir(p.name))); err != nil {
			return fmt.Errorf("output: %w", err)
		}
		draft, err := writeDraft(ctx, filepath.Join(dir, p.name), p.write)
		drafts = append(drafts, draft)
		if err != nil {
			return err
		}
	}
	for i, p := range products {
		if err := os.Rename(drafts[i], filepath.Join(dir, p.name)); err != nil {
			return fmt.Errorf("output: %w", err)
		}
		drafts[i] = ""
	}
	return nil
}

// named refuses a directory whose name elsewhere means standard output.
func named(dir string) error {
	if dir == "-" {
		return usagef("-o -: a directory is wanted (./- is one)")
	}
	return nil
}

// directories are those that a command has made.
type directories []string

// make makes a directory and what is missing above it.
func (d *directories) make(path string) error {
	var missing []string
	for at := filepath.Clean(path); ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); !errors.Is(err, fs.ErrNotExist) || at == filepath.Dir(at) {
			break
		}
		missing = append(missing, at)
	}
	err := os.MkdirAll(path, 0o777)
	for i := len(missing) - 1; i >= 0; i-- {
		*d = append(*d, missing[i])
	}
	return err
}

// remove removes them, unless somebody else has put something into one.
func (d directories) remove() {
	for i := len(d) - 1; i >= 0; i-- {
		os.Remove(d[i])
	}
}

// notInput refuses a path that is one of the inputs, under whatever name.
func notInput(path string, inputs []*input) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return fmt.Errorf("output: %w", err)
	}
	for _, in := range inputs {
		if os.SameFile(info, in.info) {
			return fmt.Errorf("output %s would overwrite the input %s", path, in.name)
		}
	}
	if info.IsDir() {
		return fmt.Errorf("output %s is a directory", path)
	}
	return nil
}

// writeDraft writes a file beside its place. The name of the draft is given in case of an error as well, if
// there is one to remove.
func writeDraft(ctx context.Context, path string, write func(io.Writer) error) (draft string, err error) {
	draft = filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%d.tmp", filepath.Base(path), os.Getpid()))
	f, err := os.OpenFile(draft, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return "", fmt.Errorf("output: %w", err)
	}
	w := bufio.NewWriterSize(stoppable{ctx, f}, 1<<16)
	err = write(w)
	if err == nil {
		err = w.Flush()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return draft, fmt.Errorf("output %s: %w", path, err)
	}
	return draft, nil
}

// stoppable fails once ctx has ended.
type stoppable struct {
	ctx context.Context
	w   io.Writer
}

func (s stoppable) Write(b []byte) (int, error) {
	if s.ctx.Err() != nil {
		return 0, context.Cause(s.ctx)
	}
	return s.w.Write(b)
}
