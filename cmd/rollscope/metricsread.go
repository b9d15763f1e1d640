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
	"strings"

	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/metrics"
	"github.com/rollscope/rollscope/core/packed"
	"github.com/rollscope/rollscope/core/rollout"
	"github.com/rollscope/rollscope/core/source"
)

// A rowFeed reads the rows of files for metrics. Every reader of the reference refuses a file with a line that is no
// JSON object; they differ in where lines end.
type rowFeed struct {
	ctx      context.Context
	mapper   metrics.Mapper
	progress *progress
	done     int64
	rows     int64

	anywhere bool // lines end at CR as well and a blank one is no JSON, as for the profile command
	lenient  bool // a line that is no row is one all the same, and so is what stands in front of damage

	digest []byte
	row    metrics.Row
}

// feedBytes is how much of a file is read at once.
const feedBytes = 1 << 20

// each reads the rows of a file and hands them to add, which must not keep the digest. number is the position of the
// file in the run. The lenient reading resolves identities, for which first is the number of rows in front of these.
func (f *rowFeed) each(in *input, number int, first int64, add func(*metrics.Row) error) error {
	var (
		from     io.Reader = io.NewSectionReader(in.file, 0, in.info.Size())
		reader   rollout.Reader
		splitter = jsonl.NewSplitter(0)
		buf      = make([]byte, feedBytes)
		line     int64
		read     int64
		failed   error
	)
	if in.packed != nil {
		from = in.packed.Open()
	}
	take := func(l *jsonl.Line) bool {
		line++
		if !f.anywhere && jsonl.Blank(l.Bytes) {
			return true
		}
		failed = f.take(in, number, line, first, &reader, l, add)
		first++
		return failed == nil
	}
	emit := take
	if f.anywhere {
		emit = func(l *jsonl.Line) bool { return cutCR(l, take) }
	}
	for failed == nil {
		if f.ctx.Err() != nil {
			return context.Cause(f.ctx)
		}
		n, err := from.Read(buf)
		splitter.Feed(buf[:n], emit)
		read += int64(n)
		f.done += int64(n)
		if f.progress != nil {
			f.progress.show(f.done, f.rows)
		}
		damage := (*packed.Damage)(nil)
		switch {
		case failed != nil || err == nil:
			continue
		case errors.As(err, &damage) && f.lenient:
			f.progress.host.note("%s %s; what stands in front of it is read", in.name, damage.Reason)
		case err != io.EOF:
			return fmt.Errorf("%s: %w", in.name, err)
		case in.packed == nil && read < in.info.Size():
			return fmt.Errorf("%s: %w", in.name, source.ErrChanged)
		}
		splitter.Finish(emit)
		return failed
	}
	return failed
}

func (f *rowFeed) take(in *input, number int, line, ordinal int64, reader *rollout.Reader, l *jsonl.Line, add func(*metrics.Row) error) error {
	row := reader.Read(l)
	if p := row.Problem; p != nil && !f.lenient {
		return fmt.Errorf("%s:%d: not a row: %s: %w", in.name, line, p.Reason, metrics.ErrRefused)
	}
	f.rows++
	f.digest = f.mapper.Append(f.digest[:0], row)
	f.row = metrics.Row{Source: number, Name: in.name, Line: line, Offset: l.Offset, Length: l.Length, Digest: f.digest}
	if f.lenient {
		identity := row.Identity()
		identity = identity.Resolve(ordinal, number, line)
		f.row.Identity = &identity
	}
	return add(&f.row)
}

// cutCR cuts a line where a CR stands, as a reader does for which CR, LF and both together end lines.
func cutCR(l *jsonl.Line, emit func(*jsonl.Line) bool) bool {
	rest := l.Bytes
	if n := len(rest); n > 0 && rest[n-1] == '\r' {
		// At the end it is part of the line end, or a line end by itself.
		rest = rest[:n-1]
	}
	offset := l.Offset
	for {
		end := bytes.IndexByte(rest, '\r')
		part := *l
		part.Offset, part.Bytes, part.Length = offset, rest, int64(len(rest))
		if end >= 0 {
			part.Bytes, part.Length = rest[:end], int64(end)
		}
		if !emit(&part) {
			return false
		}
		if end < 0 {
			return true
		}
		offset += int64(end) + 1
		rest = rest[end+1:]
	}
}

// stem is the path of a rollouts file without its last extension, which its sidecars share (spec metrics §1).
func stem(path string) string {
	dir, base := filepath.Split(path)
	if dot := strings.LastIndexByte(base, '.'); dot > 0 && dot < len(base)-1 {
		base = base[:dot]
	}
	return dir + base
}

// sidecar opens a file beside a rollouts file; nil if there is none.
func sidecar(in *input, suffix string) (*input, error) {
	path := beside(in.name, suffix)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return openInput(path, false)
}

// beside names a companion of a rollouts file. One that was packed after it had companions keeps its old stem.
func beside(path, suffix string) string {
	own := stem(path) + suffix
	if plain, packed := strings.CutSuffix(path, ".gz"); packed {
		if _, err := os.Stat(own); errors.Is(err, fs.ErrNotExist) {
			return stem(plain) + suffix
		}
	}
	return own
}

const (
	failuresSuffix = "_failures.jsonl"
	inputsSuffix   = "_materialized_inputs.jsonl"
	savedSuffix    = "_aggregate_metrics.json"
)

// fed reads what one command needs while a line on the terminal tells how far it is.
func (h *host) fed(ctx context.Context, inputs []*input, f *rowFeed, read func() error) error {
	total := int64(0)
	for _, in := range inputs {
		if in != nil {
			total += in.info.Size()
		}
	}
	f.ctx, f.progress = ctx, h.progress(total)
	err := read()
	f.progress.done()
	return err
}

// unchanged makes sure that files are still what was read.
func (h *host) unchanged(inputs []*input) error {
	for _, in := range inputs {
		more, err := in.grown()
		if err != nil {
			return err
		}
		if more > 0 {
			h.note("%s has grown by %d bytes since it was opened; they are not in the result", in.name, more)
		}
	}
	return nil
}
