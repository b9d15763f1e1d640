package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"io"
	"os"
	"time"
)

// An entry is one file of an archive.
type entry struct {
	name string // with slashes
	body []byte
	runs bool // it is a program
}

func (e entry) mode() os.FileMode {
	if e.runs {
		return 0o755
	}
	return 0o644
}

// archive writes an archive to a path.
func archive(path string, write func(io.Writer, []entry, time.Time) error, files []entry, when time.Time) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := write(f, files, when); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// tarball writes a tar archive packed with gzip. It names no user and no time but the one given.
func tarball(w io.Writer, files []entry, when time.Time) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	t := tar.NewWriter(z)
	for _, f := range files {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: f.name, Size: int64(len(f.body)), Mode: int64(f.mode()), ModTime: when, Format: tar.FormatPAX}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if _, err := t.Write(f.body); err != nil {
			return err
		}
	}
	if err := t.Close(); err != nil {
		return err
	}
	return z.Close()
}

// zipped writes a zip archive, with the same in it.
func zipped(w io.Writer, files []entry, when time.Time) error {
	z := zip.NewWriter(w)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: when.UTC()}
		h.SetMode(f.mode())
		part, err := z.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := part.Write(f.body); err != nil {
			return err
		}
	}
	return z.Close()
}
