package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/rollscope/rollscope/core/pack"
	"github.com/rollscope/rollscope/core/parcel"
	"github.com/rollscope/rollscope/core/redact"
	"github.com/rollscope/rollscope/core/source"
	"github.com/rollscope/rollscope/core/view"
	"github.com/rollscope/rollscope/web/bundle"
)

// bundling is what flags say about a bundle with data.
type bundling struct {
	filter, redact, title string
	workers               int
}

// A bundler puts runs into blocks.
type bundler struct {
	h      *host
	ctx    context.Context
	o      bundling
	run    *laidRun
	choice parcel.Choice
	index  *pack.Index
}

// bundleRuns writes a viewer with runs in it.
func (h *host) bundleRuns(ctx context.Context, k *bundle.Kit, paths []string, output string, single bool, o bundling) error {
	b := &bundler{h: h, ctx: ctx, o: o}
	if o.redact != "" {
		text := o.redact
		if name, isFile := strings.CutPrefix(text, "@"); isFile {
			var err error
			if text, err = rulesFrom(name); err != nil {
				return fmt.Errorf("redaction rules: %w", err)
			}
		}
		var err error
		if b.choice.Rules, err = redact.Parse(text); err != nil {
			return usagef("--redact: %w", err)
		}
	}
	if _, err := view.Ask(o.filter); err != nil {
		return wrongFilter(err)
	}
	if o.workers < 1 {
		return usagef("workers must be at least 1")
	}
	made, err := h.madeAt()
	if err != nil {
		return err
	}
	if b.run, err = h.lay(ctx, paths, o.workers); err != nil {
		return err
	}
	defer b.run.close()
	b.choice.Title, b.choice.Made, b.choice.By = o.title, made, view.MadeBy()
	if single {
		return b.single(k, output)
	}
	return b.folder(k, output)
}

// rulesFrom reads a file of rules, which may be a pipe.
func rulesFrom(name string) (string, error) {
	const most = 1 << 20
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && len(text) > most {
		err = fmt.Errorf("%s is larger than %s", name, view.Bytes(most))
	}
	return string(text), err
}

// madeAt is the time that a bundle carries: now, or what SOURCE_DATE_EPOCH says so that two builds are equal.
func (h *host) madeAt() (string, error) {
	now := time.Now()
	if text := h.env("SOURCE_DATE_EPOCH"); text != "" {
		seconds, err := strconv.ParseInt(text, 10, 64)
		if err != nil || seconds < 0 || seconds > 253402300799 {
			return "", fmt.Errorf("SOURCE_DATE_EPOCH is %q: want the seconds since 1970", text)
		}
		now = time.Unix(seconds, 0)
	}
	return now.UTC().Format(time.RFC3339), nil
}

// pack puts everything into blocks and completes the index.
func (b *bundler) pack(put func(n int, packed []byte) error) ([]byte, string, error) {
	state := view.State{Filter: b.o.filter}
	page, err := b.run.page(b.ctx, state.ToTab("rollouts"))
	if err != nil {
		return nil, "", err
	}
	if page.Filter.Error != "" {
		return nil, "", usagef("filter: %s", page.Filter.Error)
	}
	given, err := b.run.Give(state, b.o.filter != "")
	if err != nil {
		return nil, "", err
	}
	c := &b.choice
	c.Filtered, c.Filter, c.Rows = given.Filtered, given.Filter, given.Rows
	if c.Rows.Kept == 0 && c.Filtered {
		return nil, "", errors.New("no row fits the filter, so there is nothing to bundle")
	}
	plan := parcel.NewPlan(given.Files, c)
	m := parcel.NewMaker(plan, c, pack.NewWriter(put))
	if m.Learns() {
		for _, i := range plan.Rollouts {
			if err := b.through(m, i, given); err != nil {
				return nil, "", err
			}
		}
		m.Learned()
	}
	if len(plan.Rollouts)+len(plan.Beside) == 0 {
		return nil, "", errors.New("there is no file of a run in what was named, so there is nothing to bundle")
	}
	for _, i := range plan.Rollouts {
		if err := b.through(m, i, given); err != nil {
			return nil, "", err
		}
		in := b.run.of[i]
		if err := b.source(m, i, in.file, in.info.Size()); err != nil {
			return nil, "", err
		}
	}
	for _, i := range plan.Beside {
		if err := b.beside(m, i); err != nil {
			return nil, "", err
		}
	}
	if err := m.Finish(); err != nil {
		return nil, "", err
	}
	// What was learned, counted and written must be the same rows.
	for _, in := range b.run.inputs {
		if _, err := in.grown(); err != nil {
			return nil, "", err
		}
	}
	for _, note := range m.Notes() {
		b.h.note("%s", note)
	}
	b.index = m.Index()
	return b.index.Encode()
}

// through hands the bytes of a rollouts file to a maker: all of them, or the rows that fit the filter.
func (b *bundler) through(m *parcel.Maker, file int, given *view.Given) error {
	rows := given.Wanted[file]
	if err := m.Begin(file, rows); err != nil {
		return err
	}
	if given.Filtered {
		for _, r := range rows {
			if b.ctx.Err() != nil {
				return context.Cause(b.ctx)
			}
			data, err := b.run.bytes(view.Need{File: file, Offset: r.Offset, Length: r.Length})
			if err != nil {
				return err
			}
			if err := m.Take(r.Offset, data); err != nil {
				return err
			}
		}
		return m.End()
	}
	if _, err := io.Copy(&taker{m: m}, readerOnly{b.ctx, b.reader(file)}); err != nil {
		return fmt.Errorf("%s: %w", b.run.files[file].Name, err)
	}
	return m.End()
}

// A taker hands a file on from its start.
type taker struct {
	m  *parcel.Maker
	at int64
}

func (t *taker) Write(b []byte) (int, error) {
	at := t.at
	t.at += int64(len(b))
	return len(b), t.m.Take(at, b)
}

// reader reads a rollouts file from its start, unpacked.
func (b *bundler) reader(file int) io.Reader {
	in := b.run.of[file]
	if in.packed != nil {
		return in.packed.Open()
	}
	return io.NewSectionReader(in.file, 0, in.info.Size())
}

// readerOnly reads as long as nobody interrupts.
type readerOnly struct {
	ctx context.Context
	r   io.Reader
}

func (r readerOnly) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.r.Read(p)
}

// source notes what a bundle was made from.
func (b *bundler) source(m *parcel.Maker, file int, r io.ReaderAt, size int64) error {
	if m.Redacts() {
		return nil
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, readerOnly{b.ctx, io.NewSectionReader(r, 0, size)}); err != nil {
		return fmt.Errorf("%s: %w", b.run.files[file].Name, err)
	}
	m.Source(file, size, hex.EncodeToString(sum.Sum(nil)))
	return nil
}

// beside hands a file that is no rollouts file to a maker. It is small, and what is packed is what was hashed.
func (b *bundler) beside(m *parcel.Maker, file int) error {
	data := make([]byte, b.run.sizes[file])
	f, err := os.Open(b.run.files[file].Path)
	if err != nil {
		return err
	}
	err = source.ReadFull(source.Of(b.run.files[file].Name, b.run.sizes[file], f), data, 0)
	f.Close()
	if err != nil {
		return err
	}
	if err := m.Begin(file, nil); err != nil {
		return err
	}
	if err := m.Take(0, data); err != nil {
		return err
	}
	if err := m.End(); err != nil {
		return err
	}
	return b.source(m, file, bytes.NewReader(data), b.run.sizes[file])
}
