package server

import (
	"context"
	"io/fs"
	"os"
	"strconv"
	"sync"
)

// Followed is a shelf of one run whose files are listed anew whenever somebody asks: list gives those that are there, in
// their order. A file keeps its id for as long as the server runs, and what list never gave cannot be asked for. Whoever
// lists the run twice learns what has become of a file: its size and its tag, and its copy number, which goes up when
// another file has taken its place.
func Followed(name string, list func() ([]NamedFile, error)) Shelf {
	return &followed{name: name, list: list, at: map[string]int{}}
}

type followed struct {
	name string
	list func() ([]NamedFile, error)

	lock  sync.Mutex
	files []followedFile // by id
	at    map[string]int // by path
}

type followedFile struct {
	NamedFile
	info fs.FileInfo // when it was listed last
	copy int
}

func (f *followed) List(ctx context.Context) ([]Run, bool, error) {
	run, err := f.Run(ctx, namedRun)
	return []Run{run}, false, err
}

func (f *followed) Run(ctx context.Context, id string) (Run, error) {
	if id != namedRun {
		return Run{}, fs.ErrNotExist
	}
	f.lock.Lock()
	defer f.lock.Unlock()
	list, err := f.list()
	if err != nil {
		return Run{}, err
	}
	var files []File
	for _, named := range list {
		if err := ctx.Err(); err != nil {
			return Run{}, err
		}
		info, err := os.Stat(named.Path)
		if err != nil || !info.Mode().IsRegular() {
			continue // gone since it was listed
		}
		i, known := f.at[named.Path]
		if !known {
			i = len(f.files)
			f.files = append(f.files, followedFile{NamedFile: named, info: info})
			f.at[named.Path] = i
		}
		one := &f.files[i]
		if !os.SameFile(one.info, info) || info.Size() < one.info.Size() {
			one.copy++
		}
		one.info = info
		file := newFile(namedRun, strconv.Itoa(i), one.Name, info)
		file.Copy = one.copy
		files = append(files, file)
	}
	return newRun(namedRun, f.name, files), nil
}

func (f *followed) Open(run, file string) (*os.File, fs.FileInfo, error) {
	i, ok := position(run, file)
	if !ok {
		return nil, nil, fs.ErrNotExist
	}
	path := ""
	f.lock.Lock()
	if i < len(f.files) {
		path = f.files[i].Path
	}
	f.lock.Unlock()
	if path == "" {
		return nil, nil, fs.ErrNotExist
	}
	return openRegular(path, os.Stat, os.Open)
}
