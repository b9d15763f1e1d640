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
	left := b.entries
	err = fs.WalkDir(b.root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if stopped := ctx.Err(); stopped != nil {
			return stopped
		}
		if err != nil && name == "." {
			return err
		}
		if err != nil || !entry.IsDir() {
			return nil // a folder that may not be read is not handed out
		}
		if name != "." {
			if !handedOut(name) {
				return fs.SkipDir
			}
			if strings.Count(name, "/") >= maxDepth {
				more = true
				return fs.SkipDir
			}
		}
		entries, err := fs.ReadDir(b.root.FS(), name)
		if err != nil {
			return fs.SkipDir
		}
		if left -= len(entries); left < 0 {
			more = true
			return fs.SkipAll
		}
		if run, ok := b.runOf(name, entries); ok {
			list = append(list, run)
		}
		return nil
	})
	if err != nil {
		return nil, false, fmt.Errorf("list runs: %w", err)
	}
	slices.SortFunc(list, func(a, b Run) int { return order.Compare(a.Name, b.Name) })
	return list, more, nil
}

// Run reads one folder.
func (b *BelowShelf) Run(_ context.Context, id string) (Run, error) {
	dir, ok := pathOf(id)
	if !ok {
		return Run{}, fs.ErrNotExist
	}
	if at, ok := b.resolve(dir); !ok || at != dir {
		return Run{}, fs.ErrNotExist
	}
	entries, err := fs.ReadDir(b.root.FS(), dir)
	if err != nil {
		return Run{}, fmt.Errorf("%w: %s", fs.ErrNotExist, dir)
	}
	run, ok := b.runOf(dir, entries)
	if !ok {
		return Run{}, fs.ErrNotExist
	}
	return run, nil
}

// runOf makes the run of a folder; ok is false if there is no rollouts file in it.
func (b *BelowShelf) runOf(dir string, entries []fs.DirEntry) (run Run, ok bool) {
	id := idOf(dir)
	var files []File
	var named []runfolder.File
	for _, entry := range entries {
		name := path.Join(dir, entry.Name())
		if entry.IsDir() || !handedOut(name) {
			continue
		}
		at := name
		if entry.Type()&fs.ModeSymlink != 0 {
			if at, ok = b.resolve(name); !ok {
				continue
			}
		}
		info, err := b.root.Stat(at)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		files = append(files, newFile(id, idOf(entry.Name()), name, info))
		named = append(named, runfolder.File{Path: name, Size: info.Size()})
	}
	sorted := runfolder.Sort(named)
	if len(sorted.Rollouts()) == 0 {
		return Run{}, false
	}
	ordered := make([]File, 0, len(files))
	for _, i := range sorted.Order {
		ordered = append(ordered, files[i])
	}
	return newRun(id, dir, ordered), true
}

// Open opens a file of a run.
func (b *BelowShelf) Open(run, file string) (*os.File, fs.FileInfo, error) {
	dir, ok1 := pathOf(run)
	base, ok2 := pathOf(file)
	if !ok1 || !ok2 || strings.Contains(base, "/") || base == "." {
		return nil, nil, fs.ErrNotExist
	}
	name, ok := b.resolve(path.Join(dir, base))
	if !ok {
		return nil, nil, fs.ErrNotExist
	}
	f, info, err := openRegular(name, b.root.Stat, b.root.Open)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		// Whether something is there that is not handed out is nobody's business.
		err = fmt.Errorf("%w: %s", fs.ErrNotExist, name)
	}
	return f, info, err
}

// resolve follows the links of files, so that none leads to what is not handed out; links of folders are not
// followed. That nothing outside the root is opened does not rest on it: the root sees to that.
func (b *BelowShelf) resolve(name string) (target string, ok bool) {
	const longestChain = 16
	for range longestChain {
		if !fs.ValidPath(name) || name != "." && !handedOut(name) {
			return "", false
		}
		for i, c := range name {
			if c == '/' {
				if info, err := b.root.Lstat(name[:i]); err != nil || !info.IsDir() {
					return "", false
				}
			}
		}
		info, err := b.root.Lstat(name)
		if err != nil {
			return "", false
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			return name, true
		}
		to, err := b.root.Readlink(name)
		if err != nil || path.IsAbs(to) {
			return "", false
		}
		name = path.Join(path.Dir(name), to)
	}
	return "", false
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
