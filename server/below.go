package server

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rollscope/rollscope/core/order"
	"github.com/rollscope/rollscope/core/runfolder"
)

// Bounds of one walk.
const (
	maxEntries = 200_000
	maxDepth   = 32
)

// Below is a shelf of what lies below a folder: one run for each folder that holds a rollouts file, with every
// file beside it. Names that begin with a dot are not there, and links that lead out of the folder lead nowhere.
// Ids are the paths below the folder, so an address stays good over a restart; Close ends it.
func Below(dir string) (*BelowShelf, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("root: %w", err)
	}
	return &BelowShelf{root: root, entries: maxEntries}, nil
}

// A BelowShelf is the shelf that [Below] makes.
type BelowShelf struct {
	root    *os.Root
	entries int // most entries of one walk
}

// Close closes the folder.
func (b *BelowShelf) Close() error { return b.root.Close() }

// List walks the folder.
func (b *BelowShelf) List(ctx context.Context) (list []Run, more bool, err error) {
	tree := b.root.FS()
	folders := map[string][]File{}
	left := b.entries
	err = fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if stopped := ctx.Err(); stopped != nil {
			return stopped
		}
		if err != nil {
			if name == "." {
				return err
			}
			return nil // a folder that may not be read is not handed out
		}
		if left--; left < 0 {
			more = true
			return fs.SkipAll
		}
		if name == "." {
			return nil
		}
		if !handedOut(name) {
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if entry.IsDir() {
			if strings.Count(name, "/")+1 >= maxDepth {
				more = true
				return fs.SkipDir
			}
			return nil
		}
		info, err := b.root.Stat(name)
		if err != nil || !info.Mode().IsRegular() {
			return nil
		}
		dir, base := path.Split(name)
		dir = path.Clean("./" + dir)
		run, file := idOf(dir), idOf(base)
		folders[dir] = append(folders[dir], File{ID: file, Path: name, Size: info.Size(), Tag: tag(info), URL: fileURL(run, file)})
		return nil
	})
	if err != nil {
		return nil, false, fmt.Errorf("list runs: %w", err)
	}
	for dir, files := range folders {
		if run, ok := runOf(dir, files); ok {
			list = append(list, run)
		}
	}
	slices.SortFunc(list, func(a, b Run) int { return order.Compare(a.Name, b.Name) })
	return list, more, nil
}

// runOf makes the run of a folder; ok is false if there is no rollouts file in it.
func runOf(dir string, files []File) (run Run, ok bool) {
	named := make([]runfolder.File, len(files))
	for i, f := range files {
		named[i] = runfolder.File{Path: f.Path, Size: f.Size}
	}
	sorted := runfolder.Sort(named)
	if len(sorted.Rollouts()) == 0 {
		return Run{}, false
	}
	run = Run{ID: idOf(dir), Name: dir, Files: make([]File, 0, len(files))}
	for _, i := range sorted.Order {
		run.Files = append(run.Files, files[i])
		run.Size += files[i].Size
	}
	return run, true
}

// Open opens a file of a run.
func (b *BelowShelf) Open(run, file string) (*os.File, fs.FileInfo, error) {
	dir, ok1 := pathOf(run)
	base, ok2 := pathOf(file)
	if !ok1 || !ok2 || strings.Contains(base, "/") || base == "." {
		return nil, nil, fs.ErrNotExist
	}
	name := path.Join(dir, base)
	if !handedOut(name) {
		return nil, nil, fs.ErrNotExist
	}
	f, info, err := openRegular(name, b.root.Stat, b.root.Open)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		// Whether something is there that is not handed out is nobody's business.
		err = fmt.Errorf("%w: %s", fs.ErrNotExist, name)
	}
	return f, info, err
}

// handedOut tells whether a path is text and none of its parts begins with a dot.
func handedOut(name string) bool {
	if !utf8.ValidString(name) {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if strings.HasPrefix(part, ".") {
			return false
		}
	}
	return true
}

func idOf(name string) string { return base64.RawURLEncoding.EncodeToString([]byte(name)) }

func pathOf(id string) (name string, ok bool) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(id)
	name = string(b)
	return name, err == nil && fs.ValidPath(name)
}
