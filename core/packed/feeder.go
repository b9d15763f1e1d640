package packed

import (
	"errors"
	"io"
	"iter"
)

// A Feeder unpacks a file whose bytes are pushed into it. The unpacking runs as a coroutine that is parked whenever
// a call returns, so nobody waits for it and it waits for nobody. [Feeder.Close] ends it.
type Feeder struct {
	reader *Reader
	emit   func([]byte) int
	resume func() (struct{}, bool)
	stop   func()
	yield  func(struct{}) bool

	chunk []byte // pushed and not used yet
	at    int64  // packed offset of its first byte
	ended bool   // no more bytes will be pushed
	done  bool
	err   error
}

// errStopped ends the coroutine.
var errStopped = errors.New("unpacking was stopped")

// NewFeeder unpacks from a member on, of which the first Feed begins with the first byte. emit gets the plain bytes,
// valid until it returns, and tells how many it has used; if that is not all of them, unpacking pauses there.
func NewFeeder(from Member, emit func([]byte) int) *Feeder {
	f := &Feeder{at: from.Packed, emit: emit}
	f.reader = newReader((*pushed)(f), from)
	f.resume, f.stop = iter.Pull(f.run)
	return f
}

// run is the coroutine. It yields when it needs bytes and when nobody wants its own.
func (f *Feeder) run(yield func(struct{}) bool) {
	f.yield = yield
	buf := make([]byte, 64<<10)
	for {
		n, err := f.reader.Read(buf)
		for rest := buf[:n]; len(rest) > 0; {
			rest = rest[f.emit(rest):]
			if len(rest) > 0 {
				f.chunk = nil // whoever pushed it has other uses for it
				if !yield(struct{}{}) {
					return
				}
			}
		}
		if err != nil {
			f.err, f.done = err, true
			return
		}
	}
}

// Next is the packed offset of the byte that the next Feed must begin with.
func (f *Feeder) Next() int64 { return f.at }

// Feed takes the next bytes of the packed file; none asks a paused Feeder to go on. It keeps no reference to them.
// done tells that the file holds nothing more that could be read.
func (f *Feeder) Feed(b []byte) (done bool) {
	if !f.done {
		f.chunk = b
		f.resume()
		f.chunk = nil
	}
	return f.done
}

// Finish says that the packed file has ended. The error is a *[Damage] if it ended too early or cannot be read
// further.
func (f *Feeder) Finish() error {
	f.ended = true
	f.Feed(nil)
	if f.err == io.EOF || errors.Is(f.err, errStopped) {
		return nil
	}
	return f.err
}

// Members gives the members that have begun since the last call.
func (f *Feeder) Members() []Member { return f.reader.Members() }

// Close ends the coroutine. A closed Feeder takes no more.
func (f *Feeder) Close() {
	f.done = true
	f.stop()
}

// pushed is the Feeder as its own reader sees it: a file that is there bit by bit.
type pushed Feeder

// more tells whether there is a byte, and waits for one by yielding.
func (p *pushed) more() error {
	for len(p.chunk) == 0 {
		if p.ended {
			return io.EOF
		}
		if !p.yield(struct{}{}) {
			return errStopped
		}
	}
	return nil
}

func (p *pushed) Offset() int64 { return p.at }

func (p *pushed) Read(b []byte) (int, error) {
	if err := p.more(); err != nil {
		return 0, err
	}
	n := copy(b, p.chunk)
	p.chunk = p.chunk[n:]
	p.at += int64(n)
	return n, nil
}

func (p *pushed) ReadByte() (byte, error) {
	if len(p.chunk) == 0 {
		if err := p.more(); err != nil {
			return 0, err
		}
	}
	c := p.chunk[0]
	p.chunk = p.chunk[1:]
	p.at++
	return c, nil
}

// peek gives the next byte and leaves it.
func (p *pushed) peek() (byte, error) {
	if err := p.more(); err != nil {
		return 0, err
	}
	return p.chunk[0], nil
}
