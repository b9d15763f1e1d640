package analysis

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/rollscope/rollscope/core/packed"
	"github.com/rollscope/rollscope/core/source"
)

// Options say how sources are read.
type Options struct {
	Workers  int                     // goroutines; below 2 means one
	MaxLine  int64                   // longest line that is read, in bytes; 0 for no bound
	Block    int64                   // bytes of a range, 0 for a good default
	Keep     Sections                // of the digests; 0 for Health alone
	Progress func(bytes, rows int64) // called now and then, from one goroutine at a time; may be nil
}

const (
	defaultBlock = 16 << 20
	feedSize     = 1 << 20
)

// Read scans sources to the end and returns their table. Errors name the source; [source.ErrChanged] means that
// one ended early. A packed source is read in order by one worker; that it is damaged is no error, the table
// knows where.
func Read(ctx context.Context, sources []source.Source, o Options) (*Table, error) {
	names, sizes := make([]string, len(sources)), make([]int64, len(sources))
	for i, s := range sources {
		names[i], sizes[i] = s.Name(), s.Size()
		if _, ok := s.(*packed.Source); ok {
			sizes[i] = -1 // it may have been read before, and has changed since
		}
	}
	table := NewTable(names, sizes)
	keep := o.Keep
	if keep == 0 {
		keep = Only(Health)
	}
	begin := func(source int, from, to int64) *Scan { return NewScan(source, from, to, o.MaxLine).Keep(keep) }
	if err := run(ctx, sources, o, begin, table.Add); err != nil {
		return nil, err
	}
	return table, nil
}

// Ask scans sources a second time, with a question of a number that is not 0. m is used by all workers at once.
// Errors are those of [Read].
func Ask(ctx context.Context, sources []source.Source, query uint64, m Mapper, o Options) (*Answers, error) {
	answers := NewAnswers(query, len(sources))
	begin := func(source int, from, to int64) *Scan { return NewScan(source, from, to, o.MaxLine).Ask(query, m) }
	if err := run(ctx, sources, o, begin, answers.Add); err != nil {
		return nil, err
	}
	return answers, nil
}

// Parts scans sources as [Read] does, or as [Ask] does with a question of a number that is not 0, and hands over what
// comes of it one partial at a time, for those who keep the table themselves. mapper makes a Mapper for a scan that asks;
// as scans run at the same time, each has one of its own, unless mapper gives one that several may use at once.
func Parts(ctx context.Context, sources []source.Source, query uint64, mapper func() Mapper, o Options, take func(*Partial) error) error {
	keep := o.Keep
	if keep == 0 {
		keep = Only(Health)
	}
	begin := func(source int, from, to int64) *Scan {
		s := NewScan(source, from, to, o.MaxLine)
		if query != 0 {
			return s.Ask(query, mapper())
		}
		return s.Keep(keep)
	}
	return run(ctx, sources, o, begin, take)
}

// run scans all sources in ranges, with as many workers as are wanted, and hands over what comes of it, one partial
// at a time.
func run(ctx context.Context, sources []source.Source, o Options, begin func(source int, from, to int64) *Scan, take func(*Partial) error) error {
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
		lock       sync.Mutex // guards take, bytes and rows
		bytes      int64
		rows       int64
	)
	defer stop(nil)
	for range max(o.Workers, 1) {
		wait.Go(func() {
			buf := make([]byte, feedSize)
			for t := range tasks {
				add := func(p *Partial, read int64) error {
					lock.Lock()
					defer lock.Unlock()
					if err := take(p); err != nil {
						return err
					}
					bytes += read
					rows += int64(p.Rows())
					if o.Progress != nil {
						o.Progress(bytes, rows)
					}
					return nil
				}
				var err error
				if s, ok := sources[t.source].(*packed.Source); ok {
					err = scanPacked(ctx2, s, begin(t.source, 0, -1), block, buf, add)
				} else {
					var p *Partial
					if p, err = scanRange(ctx2, sources[t.source], begin(t.source, t.from, t.to), buf); err == nil {
						err = add(p, t.to-t.from)
					}
				}
				if err != nil {
					stop(fmt.Errorf("%s: %w", sources[t.source].Name(), err))
				}
			}
		})
	}
	hand := func(t task) bool {
		select {
		case tasks <- t:
			return true
		case <-ctx2.Done():
			return false
		}
	}
feed:
	for i := range sources {
		size := sources[i].Size()
		if _, ok := sources[i].(*packed.Source); ok {
			if !hand(task{i, 0, -1}) {
				break
			}
			continue
		}
		for from := int64(0); from < size; from += block {
			if !hand(task{i, from, min(from+block, size)}) {
				break feed
			}
		}
	}
	close(tasks)
	wait.Wait()
	if ctx2.Err() != nil {
		return context.Cause(ctx2)
	}
	return nil
}

// scanRange reads the lines that begin in one range.
func scanRange(ctx context.Context, s source.Source, scan *Scan, buf []byte) (*Partial, error) {
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
		if scan.Next() >= scan.to {
			n = min(n, 64<<10)
		}
		if err := source.ReadFull(s, buf[:n], scan.Next()); err != nil {
			return nil, err
		}
		scan.Feed(buf[:n])
	}
	return scan.Take(), nil
}

// scanPacked reads a packed source from its first byte to its last, and hands over what it has after every block.
func scanPacked(ctx context.Context, s *packed.Source, scan *Scan, block int64, buf []byte, add func(p *Partial, read int64) error) error {
	stream := s.Open()
	used := int64(0)
	take := func() error {
		p := scan.Take()
		p.Members = stream.Members()
		if scan.Done() {
			p.Damage = s.Damage()
		}
		read := stream.Used() - used
		used += read
		return add(p, read)
	}
	for last := int64(0); !scan.Done(); {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		n, err := stream.Read(buf)
		scan.Feed(buf[:n])
		damage := (*packed.Damage)(nil)
		switch {
		case err == io.EOF, errors.As(err, &damage):
			scan.Finish()
		case err != nil:
			return err
		}
		if stream.Used()-last >= block {
			last = stream.Used()
			if err := take(); err != nil {
				return err
			}
		}
	}
	return take()
}
