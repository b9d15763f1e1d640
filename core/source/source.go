// Package source is how the core sees an input: a name, a size and bytes by range.
//
// Files, browser File handles, HTTP ranges and blocks of a bundle all fit. The core never opens anything:
// a host hands it Sources, or feeds it the bytes of one in order.
//
//	file, _ := os.Open(path)
//	info, _ := file.Stat()
//	s := source.Of(path, info.Size(), file)
//
// A source has its size from the start: what is behind it belongs to a later reading, and one that ends early has
// changed ([ErrChanged]). A *sampled hash* tells large sources apart without reading all of them; links name files by it.
package source

import (
	"bytes"
	"errors"
	"io"
)

// A Source is one input of known size. Name is the path as it was given; it appears in reports.
type Source interface {
	Name() string
	Size() int64
	io.ReaderAt
}

// ErrChanged means that a source ended before the size it had when it was listed.
var ErrChanged = errors.New("source changed while it was read")

// Of makes a Source of anything that reads by range.
func Of(name string, size int64, at io.ReaderAt) Source {
	return readerAt{at, name, size}
}

type readerAt struct {
	io.ReaderAt
	name string
	size int64
}

func (s readerAt) Name() string { return s.name }
func (s readerAt) Size() int64  { return s.size }

// Bytes makes a Source of bytes in memory.
func Bytes(name string, data []byte) Source {
	return Of(name, int64(len(data)), bytes.NewReader(data))
}

// ReadFull fills p from off on. It returns [ErrChanged] when the source ends too early.
func ReadFull(s Source, p []byte, off int64) error {
	n, err := s.ReadAt(p, off)
	if n == len(p) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return ErrChanged
	}
	return err
}
