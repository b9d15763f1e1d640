package analysis

import (
	"context"
	"fmt"
	"sync"

	"github.com/rollscope/rollscope/core/source"
)

// Options say how sources are read.
type Options struct {
	Workers  int                     // goroutines; below 2 means one
	MaxLine  int64                   // longest line that is read, in bytes; 0 for no bound
	Block    int64                   // bytes of a range, 0 for a good default
	Progress func(bytes, rows int64) // called now and then, from one goroutine at a time; may be nil
}

const (
	defaultBlock = 16 << 20
	feedSize     = 1 << 20
)

// Read scans sources of known size to the end and returns their table. Errors name the source;
// [source.ErrChanged] means that one ended early.
func Read(ctx context.Context, sources []source.Source, o Options) (*Table, error) {
	names, sizes := make([]string, len(sources)), make([]int64, len(sources))
	for i, s := range sources {
		names[i], sizes[i] = s.Name(), s.Size()
	}
	table := NewTable(names, sizes)
	block := o.Block
	if block <= 0 {
		block = defaultBlock
	}

	type task struct {
		source   int
		from, to int64
	}
	var (
		tasks      = make(chan task)
		ctx2, stop = context.WithCancelCause(ctx)
		wait       sync.WaitGroup
		lock       sync.Mutex // guards table, bytes and rows
		bytes      int64
		rows       int64
	)
	defer stop(nil)
	for range max(o.Workers, 1) {
		wait.Go(func() {
			buf := make([]byte, feedSize)
			for t := range tasks {
				p, err := scanRange(ctx2, sources[t.source], t.source, t.from, t.to, o.MaxLine, buf)
				lock.Lock()
				if err == nil {
					err = table.Add(p)
				}
				if err != nil {
					stop(fmt.Errorf("%s: %w", sources[t.source].Name(), err))
				} else {
					bytes += t.to - t.from
					rows += int64(p.Rows())
					if o.Progress != nil {
						o.Progress(bytes, rows)
					}
				}
				lock.Unlock()
			}
		})
	}
feed:
	for i, size := range sizes {
		for from := int64(0); from < size; from += block {
			select {
			case tasks <- task{i, from, min(from+block, size)}:
			case <-ctx2.Done():
				break feed
			}
		}
	}
	close(tasks)
	wait.Wait()
	if ctx2.Err() != nil {
		return nil, context.Cause(ctx2)
	}
	return table, nil
}

// scanRange reads the lines that begin in one range.
func scanRange(ctx context.Context, s source.Source, number int, from, to, maxLine int64, buf []byte) (*Partial, error) {
	scan := NewScan(number, from, to, maxLine)
	for !scan.Done() {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		n := min(int64(len(buf)), s.Size()-scan.Next())
		if n <= 0 {
			scan.Finish()
			break
		}
		// Behind the range only the rest of one line is wanted.
		if over := to - scan.Next(); over <= 0 {
			n = min(n, 64<<10)
		}
		if err := source.ReadFull(s, buf[:n], scan.Next()); err != nil {
			return nil, err
		}
		scan.Feed(buf[:n])
	}
	return scan.Take(), nil
}
