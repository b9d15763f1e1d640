package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/rollscope/rollscope/core/pack"
	"github.com/rollscope/rollscope/core/redact"
	"github.com/rollscope/rollscope/core/runfolder"
	"github.com/rollscope/rollscope/core/source"
	"github.com/rollscope/rollscope/core/view"
	"github.com/rollscope/rollscope/web/bundle"
)

// bundling is what flags say about a bundle with data.
type bundling struct {
	filter, redact, title string
	workers               int
}

// largestBeside bounds files that are no rollouts.
const largestBeside = 16 << 20

// A bundler puts runs into blocks.
type bundler struct {
	h     *host
	ctx   context.Context
	o     bundling
	run   *laidRun
	rules *redact.Redactor
	names map[int]string // in the bundle, by file
	index pack.Index
	w     *pack.Writer
}

// bundleRuns writes a viewer with runs in it.
func (h *host) bundleRuns(ctx context.Context, k *bundle.Kit, paths []string, output string, single bool, o bundling) error {
	b := &bundler{h: h, ctx: ctx, o: o}
	var rules redact.Rules
	if o.redact != "" {
		text := o.redact
		if name, isFile := strings.CutPrefix(text, "@"); isFile {
			var err error
			if text, err = rulesFrom(name); err != nil {
				return fmt.Errorf("redaction rules: %w", err)
			}
		}
		var err error
		if rules, err = redact.Parse(text); err != nil {
			return usagef("--redact: %w", err)
		}
		b.rules = redact.New(rules)
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
	b.name()
	b.index.Made, b.index.By = made, "rollscope "+view.Version
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

// name gives every file its path in the bundle.
func (b *bundler) name() {
	b.names = map[int]string{}
	taken := map[string]bool{}
	for i, name := range b.run.names {
		if in := b.run.of[i]; in != nil && in.packed != nil {
			name = strings.TrimSuffix(name, ".gz") // it goes in unpacked
		}
		b.names[i] = unique(taken, strings.ToValidUTF8(name, "\uFFFD"))
	}
}

// pack puts everything into blocks and completes the index.
func (b *bundler) pack(put func(n int, packed []byte) error) ([]byte, string, error) {
	b.w = pack.NewWriter(put)
	x := &b.index
	state := view.State{Filter: b.o.filter}
	page, err := b.run.page(b.ctx, state.ToTab("rollouts"))
	if err != nil {
		return nil, "", err
	}
	if page.Filter.Error != "" {
		return nil, "", usagef("filter: %s", page.Filter.Error)
	}
	if page.Filter.Shown == 0 && b.o.filter != "" {
		return nil, "", errors.New("no row fits the filter, so there is nothing to bundle")
	}
	x.Rows = pack.Rows{Of: int64(page.Filter.Total), Kept: int64(page.Filter.Shown)}
	if b.rules != nil {
		if err := b.rows(state, func(_ int, line []byte) error { b.rules.Learn(line); return nil }); err != nil {
			return nil, "", err
		}
		b.scrubNames()
	}
	if err := b.write(state); err != nil {
		return nil, "", err
	}
	if err := b.beside(); err != nil {
		return nil, "", err
	}
	if x.Files, x.Blocks, err = b.w.Finish(); err != nil {
		return nil, "", err
	}
	// What was learned, counted and written must be the same rows.
	for _, in := range b.run.inputs {
		if _, err := in.grown(); err != nil {
			return nil, "", err
		}
	}
	if len(x.Files) == 0 {
		return nil, "", errors.New("there is no file of a run in what was named, so there is nothing to bundle")
	}
	x.Title, x.Filter = b.o.title, b.o.filter
	if b.rules != nil {
		b.redaction()
	}
	return x.Encode()
}

// scrubNames takes what is redacted out of the names of files.
func (b *bundler) scrubNames() {
	taken := map[string]bool{}
	for i := range b.run.files {
		name := b.rules.Text(b.names[i])
		if b.run.of[i] != nil && path.Ext(name) != path.Ext(b.names[i]) {
			name = path.Join(path.Dir(name), defaultRolloutsFile) // by their ending such files are known
		}
		b.names[i] = unique(taken, name)
	}
}

// redaction says in the index what was done to the rows, and on standard error what was probably not meant.
func (b *bundler) redaction() {
	x := &b.index
	x.Title, x.Filter = b.rules.Text(x.Title), b.rules.Text(x.Filter)
	r := &pack.Redaction{Kept: b.rules.Kept(), Copies: b.rules.Copies()}
	all := int64(0)
	for _, c := range b.rules.Counts() {
		all += c.Values
		r.Rules = append(r.Rules, pack.RuleCount{Action: c.Rule.Action.String(), Path: b.rules.Text(c.Rule.Path), Values: c.Values, Texts: c.Texts})
		if c.Values == 0 {
			b.h.note("the rule %q decides about nothing: no value stands at its path, or later rules decide", c.Rule.Action.String()+" "+c.Rule.Path)
		}
	}
	if r.Kept == 0 && all > 0 {
		b.h.note("the rules take everything out of the rows: no value stays as it was")
	}
	x.Redaction = r
}

// rows calls f for every line of the rollouts files, or for the rows that fit the filter, in the order of the files.
// Blank lines come along where there is no filter. A line ends without its line feed.
func (b *bundler) rows(s view.State, f func(file int, line []byte) error) error {
	if s.Filter == "" {
		for i := range b.run.files {
			in := b.run.of[i]
			if in == nil {
				continue
			}
			if err := eachRow(b.ctx, b.reader(i), func(line []byte) error { return f(i, line) }); err != nil {
				return err
			}
		}
		return nil
	}
	for from := 0; ; {
		if b.ctx.Err() != nil {
			return context.Cause(b.ctx)
		}
		e, err := b.run.Export(s.ToTab("rollouts"), "rollouts", "jsonl", from)
		if err != nil {
			return err
		}
		for _, need := range e.Ranges {
			data, err := b.run.bytes(need)
			if err != nil {
				return err
			}
			for line := range bytes.SplitSeq(data, []byte{'\n'}) {
				if err := f(need.File, line); err != nil {
					return err
				}
			}
		}
		if from = e.Next; e.Done {
			return nil
		}
	}
}

// reader reads a file from its start, unpacked.
func (b *bundler) reader(file int) io.Reader {
	if in := b.run.of[file]; in.packed != nil {
		return in.packed.Open()
	}
	in := b.run.of[file]
	return io.NewSectionReader(in.file, 0, in.info.Size())
}

// eachRow calls f for every line of a text, without its line feed.
func eachRow(ctx context.Context, r io.Reader, f func([]byte) error) error {
	lines := bufio.NewReaderSize(r, 1<<18)
	var long []byte
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		part, err := lines.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			long = append(long, part...)
			continue
		}
		if len(long) > 0 {
			long = append(long, part...)
			part = long
		}
		if len(part) > 0 {
			if err := f(bytes.TrimSuffix(part, []byte{'\n'})); err != nil {
				return err
			}
		}
		long = long[:0]
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// write packs the rollouts files. Without filter and rules they go in byte by byte.
func (b *bundler) write(s view.State) error {
	if b.rules == nil && s.Filter == "" {
		for i := range b.run.files {
			if b.run.of[i] == nil {
				continue
			}
			b.w.Begin(b.names[i])
			if _, err := io.Copy(b.w, readerOnly{b.ctx, b.reader(i)}); err != nil {
				return fmt.Errorf("%s: %w", b.run.files[i].Name, err)
			}
			if err := b.source(i, b.run.of[i].file); err != nil {
				return err
			}
		}
		return nil
	}
	begun := -1
	began := map[int]bool{}
	var line []byte
	err := b.rows(s, func(file int, row []byte) error {
		if file != begun {
			if began[file] {
				return errors.New("rows of one file do not follow each other")
			}
			b.w.Begin(b.names[file])
			begun, began[file] = file, true
		}
		line = append(line[:0], row...)
		if b.rules != nil && len(bytes.TrimSpace(row)) > 0 {
			out, ok := b.rules.Row(line[:0:0], row)
			if !ok {
				b.index.Rows.Unreadable++
				b.index.Rows.Kept--
				return nil
			}
			line = out
		}
		_, err := b.w.Write(append(line, '\n'))
		return err
	})
	if err != nil {
		return err
	}
	for i := range b.run.files {
		if b.run.of[i] == nil {
			continue
		}
		if !began[i] {
			b.left(i, "none of its rows fits the filter")
		} else if err := b.source(i, b.run.of[i].file); err != nil {
			return err
		}
	}
	if n := b.index.Rows.Unreadable; n > 0 {
		b.h.note("%s cannot be read, so they cannot be redacted and were left out", amount(int(n), "line"))
	}
	return nil
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

func (b *bundler) left(file int, why string) {
	b.index.Left = append(b.index.Left, pack.Left{Name: b.names[file], Reason: why})
}

// source notes what a bundle was made from. Who redacts does not want it to be known by its hash.
func (b *bundler) source(file int, r io.ReaderAt) error {
	if b.rules != nil {
		return nil
	}
	name, size := b.names[file], b.run.sizes[file]
	if in := b.run.of[file]; in != nil {
		if size = in.info.Size(); in.packed != nil {
			name += ".gz"
		}
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, readerOnly{b.ctx, io.NewSectionReader(r, 0, size)}); err != nil {
		return fmt.Errorf("%s: %w", b.run.files[file].Name, err)
	}
	b.index.Sources = append(b.index.Sources, pack.Source{Name: name, Size: size, SHA256: hex.EncodeToString(sum.Sum(nil))})
	return nil
}

// beside packs the files beside the rollouts that belong to a run and are small. What is no file of a run, such as
// settings with keys in them, never goes along.
func (b *bundler) beside() error {
	var list []runfolder.File
	for i, name := range b.run.names {
		list = append(list, runfolder.File{Path: name, Size: b.run.sizes[i]})
	}
	listing := runfolder.Sort(list)
	for _, i := range listing.Order {
		if b.run.of[i] != nil {
			continue
		}
		e := &listing.Entries[i]
		group := ""
		for _, k := range runfolder.Kinds {
			if k.Kind == e.Kind {
				group = string(k.Group)
			}
		}
		switch {
		case b.rules != nil:
			b.left(i, "rules are for rollouts alone, so nothing else goes along")
			continue
		case e.SameAs >= 0:
			continue
		case group != string(runfolder.GroupCompanion) && group != string(runfolder.GroupFolder) && group != string(runfolder.GroupCapture):
			b.left(i, "it is no file of a run")
			continue
		case e.Size > largestBeside:
			b.left(i, "it is larger than "+view.Bytes(largestBeside))
			continue
		}
		data := make([]byte, e.Size)
		f, err := os.Open(b.run.files[i].Path)
		if err != nil {
			return err
		}
		err = source.ReadFull(source.Of(b.run.files[i].Name, e.Size, f), data, 0)
		f.Close()
		if err != nil {
			return err
		}
		b.w.Begin(b.names[i])
		if _, err := b.w.Write(data); err != nil {
			return err
		}
		if err := b.source(i, bytes.NewReader(data)); err != nil {
			return err
		}
	}
	return nil
}
