package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rollscope/rollscope/core/harness"
)

// publish puts files into the folder id of a directory, all of them or none. A folder that is there already holds the
// same files, or it is an error: what has an id never changes.
func publish(ctx context.Context, dir, id string, files []product) (err error) {
	target := filepath.Join(dir, id)
	if same, err := published(ctx, target, files); same || err != nil {
		return err
	}
	if err := named(dir); err != nil {
		return err
	}
	var made directories
	draft := ""
	defer func() {
		if err == nil {
			return
		}
		if draft != "" {
			os.RemoveAll(draft)
		}
		made.remove()
	}()
	if err := made.make(dir); err != nil {
		return fmt.Errorf("output: %w", err)
	}
	if draft, err = os.MkdirTemp(dir, "."+id+".*.tmp"); err != nil {
		return fmt.Errorf("output: %w", err)
	}
	for _, f := range files {
		path := filepath.Join(draft, f.name)
		out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err != nil {
			return fmt.Errorf("output: %w", err)
		}
		err = f.write(stoppable{ctx, out})
		if closed := out.Close(); err == nil {
			err = closed
		}
		if err != nil {
			return fmt.Errorf("output %s: %w", path, err)
		}
	}
	if err = os.Chmod(draft, 0o755); err == nil {
		err = os.Rename(draft, target)
	}
	if err != nil {
		return fmt.Errorf("output: %w", err)
	}
	return nil
}

// published tells whether a folder holds exactly these files. It is an error if it holds anything else.
func published(ctx context.Context, target string, files []product) (bool, error) {
	entries, err := os.ReadDir(target)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	} else if err != nil {
		return false, fmt.Errorf("output: %w", err)
	}
	same := len(entries) == len(files)
	for _, f := range files {
		if !same {
			break
		}
		content, err := os.ReadFile(filepath.Join(target, f.name))
		if err != nil {
			same = false
			break
		}
		c := &comparer{left: content}
		if err := f.write(stoppable{ctx, c}); err != nil && !errors.Is(err, errDiffers) {
			return false, err
		} else if err != nil || len(c.left) > 0 {
			same = false
		}
	}
	if !same {
		return false, fmt.Errorf("output: %s is there and holds something else", target)
	}
	return true, nil
}

var errDiffers = errors.New("other content")

// comparer fails where what is written is not what it expects.
type comparer struct{ left []byte }

func (c *comparer) Write(b []byte) (int, error) {
	rest, ok := bytes.CutPrefix(c.left, b)
	if !ok {
		return 0, errDiffers
	}
	c.left = rest
	return len(b), nil
}

func bytesProduct(name string, content []byte) product {
	return product{name, func(w io.Writer) error { _, err := w.Write(content); return err }}
}

// reportFiles are the files of one report.
func reportFiles(s *harness.Summary) []product {
	return []product{
		{harness.ResultsFile, s.Report().WriteResults},
		bytesProduct(harness.SummaryFile, s.Text()),
		bytesProduct(harness.ReportFile, []byte(s.Page())),
	}
}

// matrixFiles are the files of a matrix.
func matrixFiles(m *harness.Matrix) []product {
	return []product{
		bytesProduct(harness.MatrixFile, m.Text()),
		bytesProduct(harness.MatrixPageFile, []byte(m.Page())),
	}
}
