package harness

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"

	"github.com/rollscope/rollscope/core/jsonl"
)

// Digests are the digests of consecutive lines of one file.
type Digests struct {
	lines  int64    // all of them, blank ones too
	size   int64    // their bytes
	places [][2]int // of each line with a digest: its number, from 0, and its offset
	ends   []int    // where its digest ends
	bytes  []byte
}

// MapLines makes the digests of the lines of data. Whatever follows the last LF is a line as well.
func (m *Mapper) MapLines(data []byte) *Digests {
	d := &Digests{size: int64(len(data))}
	each := func(l *jsonl.Line) bool {
		d.lines++
		before := len(d.bytes)
		if d.bytes = m.Append(d.bytes, l, nil); len(d.bytes) > before {
			d.places = append(d.places, [2]int{int(l.Number - 1), int(l.Offset)})
			d.ends = append(d.ends, len(d.bytes))
		}
		return true
	}
	s := jsonl.NewSplitter(0)
	s.Feed(data, each)
	s.Finish(each)
	return d
}

// Merge gives the digests of the lines of a and, behind them, of b. It is associative and changes neither.
func Merge(a, b *Digests) *Digests {
	d := &Digests{lines: a.lines, size: a.size, places: a.places[:len(a.places):len(a.places)], ends: a.ends[:len(a.ends):len(a.ends)], bytes: a.bytes[:len(a.bytes):len(a.bytes)]}
	d.join(b)
	return d
}

func (d *Digests) join(b *Digests) {
	for i := range b.places {
		d.places = append(d.places, [2]int{b.places[i][0] + int(d.lines), b.places[i][1] + int(d.size)})
		d.ends = append(d.ends, b.ends[i]+len(d.bytes))
	}
	d.bytes = append(d.bytes, b.bytes...)
	d.lines += b.lines
	d.size += b.size
}

// AddAll takes all lines of the next source, with the errors of [Reducer.Add].
func (r *Reducer) AddAll(source int, name string, d *Digests) error {
	from := 0
	for i, end := range d.ends {
		err := r.Add(Line{source, name, int64(d.places[i][0]) + 1, int64(d.places[i][1]), d.bytes[from:end:end]})
		if err != nil {
			return err
		}
		from = end
	}
	return nil
}

// ReadOptions say how a file is read.
type ReadOptions struct {
	Workers  int               // goroutines that judge; below 2 means one
	Block    int               // bytes that one of them gets at once, 0 for a good default
	Progress func(bytes int64) // called now and then, from one goroutine; may be nil
}

const defaultBlock = 4 << 20

// Read makes the digests of all lines of a file that is read in order. It stops early where a line refuses the input.
func Read(ctx context.Context, r io.Reader, o ReadOptions) (*Digests, error) {
	block := o.Block
	if block <= 0 {
		block = defaultBlock
	}
	workers := max(o.Workers, 1)
	type task struct {
		number int
		lines  []byte
		buf    []byte // whose beginning they are
	}
	var (
		tasks   = make(chan task)
		free    = make(chan []byte, workers+1)
		wait    sync.WaitGroup
		lock    sync.Mutex // guards parts and refused
		parts   []*Digests
		refused bool
	)
	for range workers + 1 {
		free <- nil
	}
	for range workers {
		wait.Go(func() {
			var m Mapper
			for t := range tasks {
				part := m.MapLines(t.lines)
				lock.Lock()
				parts[t.number] = part
				refused = refused || m.refused
				lock.Unlock()
				free <- t.buf
			}
		})
	}
	err := func() error {
		var rest []byte // an unfinished line
		at := int64(0)
		for ends := false; !ends; {
			buf := <-free
			lock.Lock()
			stop := refused
			lock.Unlock()
			if stop {
				return nil
			}
			buf = append(buf[:0], rest...)
			cut := 0
			for cut == 0 && !ends {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				// A line that is longer than a block makes the buffer grow.
				from := len(buf)
				buf = append(buf, make([]byte, max(block, from))...)
				n, err := io.ReadFull(r, buf[from:])
				buf = buf[:from+n]
				at += int64(n)
				switch {
				case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
					ends, cut = true, len(buf)
				case err != nil:
					return err
				default:
					if end := bytes.LastIndexByte(buf[from:], '\n'); end >= 0 {
						cut = from + end + 1
					}
				}
			}
			rest = append(rest[:0], buf[cut:]...)
			lock.Lock()
			number := len(parts)
			parts = append(parts, nil)
			lock.Unlock()
			tasks <- task{number, buf[:cut], buf}
			if o.Progress != nil {
				o.Progress(at)
			}
		}
		return nil
	}()
	close(tasks)
	wait.Wait()
	if err != nil {
		return nil, err
	}
	d := &Digests{}
	for _, p := range parts {
		d.join(p)
	}
	return d, nil
}
