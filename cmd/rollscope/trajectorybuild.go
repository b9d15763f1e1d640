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
	"sync"

	"github.com/spf13/cobra"

	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/modelcall"
	"github.com/rollscope/rollscope/core/packed"
	"github.com/rollscope/rollscope/core/projection"
	"github.com/rollscope/rollscope/core/source"
	"github.com/rollscope/rollscope/core/value"
)

// building is what trajectory build is told.
type building struct {
	dir, inputs, captures, latencies string
	silent                           bool // no numbers of performance
	workers                          int
}

func trajectoryBuildCommand(h *host) *cobra.Command {
	var b building
	cmd := &cobra.Command{
		Use:   "build RAW.jsonl -o DIR --inputs FILE [flags]",
		Short: "make finished rows of raw results",
		Long: `Make finished rows of raw results, as a collection does with every rollout that
comes back: attach the captured model calls, join the agent's observations to
them, put the trajectory together and count tokens, turns and tools.

Rows go to ` + projection.RolloutsFile + `, those of failed rollouts to
` + projection.FailuresFile + `, which is only made when there are any.`,
		Example: `  rollscope trajectory build raw_results.jsonl -o finished \
      --inputs rollouts_materialized_inputs.jsonl --captures captures`,
		Args: exactly(1, "one file of raw results is wanted"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case b.dir == "":
				return usagef("-o: a directory is missing")
			case b.inputs == "":
				return usagef("--inputs: the file of materialized inputs is missing")
			case b.workers < 1:
				return usagef("workers must be at least 1")
			}
			return h.build(cmd.Context(), args[0], &b)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&b.dir, "output", "o", "", "write the rows into this `directory`")
	f.StringVar(&b.inputs, "inputs", "", "`file` of the materialized inputs")
	f.StringVar(&b.captures, "captures", "", "`directory` of the captured model calls; without it none are attached")
	f.StringVar(&b.latencies, "latencies", "", "`file` with the measured milliseconds of each rollout: {\"<task>-<rollout>\": 1628.2}")
	f.BoolVar(&b.silent, "no-observability", false, "write no ng_perf")
	f.IntVar(&b.workers, "workers", min(h.cpus, mostWorkers), "work on this `number` of rows at a time; results do not depend on it")
	return cmd
}

// build projects a file of raw results.
func (h *host) build(ctx context.Context, raw string, b *building) (err error) {
	var (
		projected = projection.Projector{Observability: !b.silent}
		captures  []string
	)
	in, err := openInput(raw, false)
	if err != nil {
		return err
	}
	inputs := []*input{in}
	defer func() { closeInputs(inputs) }()
	if projected.Inputs, inputs, err = readInputs(b.inputs, inputs); err != nil {
		return err
	}
	if b.captures != "" {
		switch info, err := os.Stat(b.captures); {
		case errors.Is(err, fs.ErrNotExist):
			h.note("%s is not there; no calls are attached", b.captures)
		case err != nil:
			return err
		case !info.IsDir():
			return fmt.Errorf("captures: %s is no directory", b.captures)
		default:
			captures = []string{b.captures}
		}
	}
	if b.latencies != "" {
		if projected.Latency, err = readLatencies(b.latencies); err != nil {
			return err
		}
	}
	out := drafts{ctx: ctx, dir: b.dir, inputs: inputs}
	defer out.discard()
	if err := out.open(projection.RolloutsFile); err != nil {
		return err
	}
	progress := h.progress(in.info.Size())
	defer progress.done()
	rows := int64(0)
	err = projectLines(ctx, in, b.workers, func() *projection.Projector {
		p := projected
		if captures != nil {
			p.Captures = &captureDir{dirs: captures}
		}
		return &p
	}, func(j *projectedLine) error {
		if j.err != nil {
			return fmt.Errorf("%s:%d: %w", in.name, j.line.Number, j.err)
		}
		rows++
		progress.show(j.line.Offset+j.line.Size(), rows)
		switch j.to {
		case projection.Rollouts:
			return out.write(projection.RolloutsFile, append(j.row, '\n'))
		case projection.Failures:
			return out.write(projection.FailuresFile, append(j.row, '\n'))
		}
		return nil
	})
	if err != nil {
		return err
	}
	return out.keep()
}

// A projectedLine is a line on its way through the workers.
type projectedLine struct {
	line jsonl.Line
	text []byte // of the line, which is copied
	row  []byte
	to   projection.Destination
	err  error
	done chan struct{}
}

// projectLines projects the lines of a file on several workers and gives the rows in the order of the lines.
func projectLines(ctx context.Context, in *input, workers int, projector func() *projection.Projector, each func(*projectedLine) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var (
		work  = make(chan *projectedLine)
		order = make(chan *projectedLine, workers) // rows that are finished or being worked on
		spare = make(chan *projectedLine, workers+2)
		wait  sync.WaitGroup
		read  error
	)
	for range workers {
		wait.Go(func() {
			p := projector()
			for j := range work {
				j.row, j.to, j.err = p.Row(j.row[:0], &j.line)
				close(j.done)
			}
		})
	}
	wait.Go(func() {
		defer close(order)
		defer close(work)
		read = in.lines(ctx, func(line *jsonl.Line) error {
			if jsonl.Blank(line.Bytes) {
				return nil
			}
			var j *projectedLine
			select {
			case j = <-spare:
			default:
				j = new(projectedLine)
			}
			j.text = append(j.text[:0], line.Bytes...)
			j.line, j.done = *line, make(chan struct{})
			j.line.Bytes = j.text
			select {
			case work <- j:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			order <- j
			return nil
		})
	})
	var err error
	for j := range order {
		<-j.done
		if err == nil {
			if err = each(j); err != nil {
				stop()
			}
		}
		select {
		case spare <- j:
		default:
		}
	}
	wait.Wait()
	if err == nil {
		err = read
	}
	return err
}

// lines gives the physical lines of a file in order, those of a packed one unpacked. What is appended to the file
// meanwhile is not read.
func (in *input) lines(ctx context.Context, each func(*jsonl.Line) error) error {
	if in.packed != nil {
		err := eachLine(ctx, in.packed.Open(), each)
		if damage := (*packed.Damage)(nil); errors.As(err, &damage) {
			return fmt.Errorf("%s: %w", in.name, err)
		}
		return err
	}
	from := io.NewSectionReader(in.file, 0, in.info.Size())
	if err := eachLine(ctx, from, each); err != nil {
		return err
	}
	if at, err := from.Seek(0, io.SeekCurrent); err == nil && at < in.info.Size() {
		return fmt.Errorf("%s: %w", in.name, source.ErrChanged)
	}
	return nil
}

// eachLine gives the physical lines of a text in order.
func eachLine(ctx context.Context, r io.Reader, each func(*jsonl.Line) error) (err error) {
	s := jsonl.NewSplitter(0)
	emit := func(l *jsonl.Line) bool {
		err = each(l)
		return err == nil
	}
	buf := make([]byte, 1<<20)
	for {
		n, end := r.Read(buf)
		if s.Feed(buf[:n], emit); err != nil {
			return err
		}
		switch {
		case errors.Is(end, io.EOF):
			s.Finish(emit)
			return err
		case end != nil:
			// What could be unpacked ends here, within a line perhaps.
			if damage := (*packed.Damage)(nil); errors.As(end, &damage) {
				if s.Finish(emit); err != nil {
					return err
				}
			}
			return end
		case ctx.Err() != nil:
			return context.Cause(ctx)
		}
	}
}

// readInputs reads materialized inputs and adds their file to the list.
func readInputs(path string, list []*input) (*projection.Inputs, []*input, error) {
	in, err := openInput(path, false)
	if err != nil {
		return nil, list, err
	}
	list = append(list, in)
	rows, err := projection.ReadInputs(func(add func([]byte, int) error) error {
		return in.lines(context.Background(), func(l *jsonl.Line) error { return add(l.Bytes, int(l.Number)) })
	})
	if err != nil {
		return nil, list, fmt.Errorf("%s: %w", path, err)
	}
	return rows, list, nil
}

// readLatencies reads the object of measured times.
func readLatencies(path string) (func(string) []byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("latencies: %w", err)
	}
	v, err := value.Strict(text)
	if err != nil {
		return nil, fmt.Errorf("latencies: %s: %w", path, err)
	}
	if !v.IsObject() {
		return nil, fmt.Errorf("latencies: %s is no object", path)
	}
	known := make(map[string][]byte, v.Len())
	for _, m := range v.Members() {
		if k := m.Value.Kind(); k == jsonscan.Int || k == jsonscan.Float {
			known[m.Key] = m.Value.Append(nil, value.Row)
		}
	}
	return func(name string) []byte { return known[name] }, nil
}

// A captureDir finds captures in directories; the first that has a key is used alone.
type captureDir struct {
	dirs []string
	data []byte
}

// Capture reads the capture of a key.
func (c *captureDir) Capture(key string) (data []byte, found, marker bool, err error) {
	if !modelcall.FileKey(key) {
		return nil, false, false, nil
	}
	for _, dir := range c.dirs {
		if _, err := os.Stat(filepath.Join(dir, modelcall.MarkerFile(key))); err == nil {
			marker = true
		}
		f, err := os.Open(filepath.Join(dir, modelcall.CaptureFile(key)))
		if errors.Is(err, fs.ErrNotExist) {
			if marker {
				return nil, false, true, nil
			}
			continue
		} else if err != nil {
			return nil, false, marker, err
		}
		defer f.Close()
		if c.data, err = readInto(c.data[:0], f); err != nil {
			return nil, true, marker, err
		}
		return c.data, true, marker, nil
	}
	return nil, false, false, nil
}

// readInto reads a file to its end into memory that is used again.
func readInto(buf []byte, f *os.File) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return buf, err
	}
	if need := int(info.Size()) + 1; cap(buf) < need {
		buf = make([]byte, 0, need)
	}
	for {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := f.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		switch {
		case errors.Is(err, io.EOF):
			return buf, nil
		case err != nil:
			return buf, err
		}
	}
}

// drafts are files that are written beside their places and moved there when all are complete.
type drafts struct {
	ctx    context.Context
	dir    string
	inputs []*input
	files  []*draft
}

type draft struct {
	name, path string
	file       *os.File
	w          *bufio.Writer
}

func (d *drafts) find(name string) *draft {
	for _, f := range d.files {
		if f.name == name {
			return f
		}
	}
	return nil
}

func (d *drafts) open(name string) error {
	target := filepath.Join(d.dir, name)
	if err := notInput(target, d.inputs); err != nil {
		return err
	}
	if err := os.MkdirAll(d.dir, 0o777); err != nil {
		return fmt.Errorf("output: %w", err)
	}
	path := filepath.Join(d.dir, fmt.Sprintf(".%s.%d.tmp", name, os.Getpid()))
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return fmt.Errorf("output: %w", err)
	}
	d.files = append(d.files, &draft{name, path, f, bufio.NewWriterSize(stoppable{d.ctx, f}, 1<<16)})
	return nil
}

// write adds to a file, which is made when it is not there.
func (d *drafts) write(name string, b []byte) error {
	if d.find(name) == nil {
		if err := d.open(name); err != nil {
			return err
		}
	}
	if _, err := d.find(name).w.Write(b); err != nil {
		return fmt.Errorf("output %s: %w", name, err)
	}
	return nil
}

// close ends the writing of all files there are, so that no more of them are open than need be.
func (d *drafts) close() error {
	for _, f := range d.files {
		if f.file == nil {
			continue
		}
		err := f.w.Flush()
		if closed := f.file.Close(); err == nil {
			err = closed
		}
		f.file, f.w = nil, nil
		if err != nil {
			return fmt.Errorf("output %s: %w", f.name, err)
		}
	}
	return nil
}

// keep moves the files to their places.
func (d *drafts) keep() error {
	if err := d.close(); err != nil {
		return err
	}
	for _, f := range d.files {
		if err := os.Rename(f.path, filepath.Join(d.dir, f.name)); err != nil {
			return fmt.Errorf("output: %w", err)
		}
		f.path = ""
	}
	return nil
}

// discard removes what was not kept.
func (d *drafts) discard() {
	for _, f := range d.files {
		if f.file != nil {
			f.file.Close()
		}
		if f.path != "" {
			os.Remove(f.path)
		}
	}
}
