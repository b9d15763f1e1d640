package analysis

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/rollout"
)

// A Scan turns the lines of one range of a source into digests. Bytes are pushed into it; it never asks.
type Scan struct {
	source   int
	from, to int64 // the range
	open     bool  // to is not known yet
	ended    bool  // to is the end of the source
	maxLine  int64
	next     int64 // first byte of the source that comes next
	skipping bool  // still inside a line that began before the range
	done     bool

	packed *unpacking // of a packed source
	query  uint64     // of a second scan
	ask    Mapper

	splitter *jsonl.Splitter
	reader   rollout.Reader
	wanted   Sections
	mappers  [sections]Mapper
	partial  *Partial
	scratch  []byte
	emit     func(*jsonl.Line) bool
}

// NewScan begins a scan of the lines whose first byte lies in [from, to) of a source. maxLine is the
// length of the longest line that is read, in bytes, 0 for no bound: longer ones are unreadable. A negative to means
// the end of the source, wherever that is.
func NewScan(source int, from, to, maxLine int64) *Scan {
	s := &Scan{source: source, from: from, to: to, next: from, maxLine: maxLine}
	if to < 0 {
		s.to, s.open = math.MaxInt64, true
	}
	s.done = from >= s.to
	if from > 0 {
		// The byte in front of the range tells whether a line begins with it.
		s.next, s.skipping = from-1, true
	} else {
		s.begin(0)
	}
	s.partial = &Partial{Source: source, From: from}
	s.emit = s.line
	return s.Keep(Only(Health))
}

// Keep says which sections the digests of a scan that has not begun yet have. Without it that is Health.
func (s *Scan) Keep(wanted Sections) *Scan {
	s.wanted, s.mappers = wanted, wanted.mappers()
	s.partial.Sections = wanted
	return s
}

// begin starts the first line of the range.
func (s *Scan) begin(offset int64) {
	s.splitter = jsonl.NewSplitter(offset)
	s.splitter.Max = s.maxLine
}

// Next is the offset of the byte that the next Feed must begin with, in a packed source that of the packed file.
func (s *Scan) Next() int64 {
	if s.packed != nil {
		return s.packed.feeder.Next()
	}
	return s.next
}

// Feed takes the next bytes of the source and tells whether the range is done; what follows is not needed
// then.
func (s *Scan) Feed(b []byte) (done bool) {
	if s.packed != nil {
		return s.packed.feeder.Feed(b) || s.done
	}
	return s.feed(b)
}

// feed takes the next plain bytes.
func (s *Scan) feed(b []byte) (done bool) {
	if s.done {
		return true
	}
	if s.skipping {
		end := bytes.IndexByte(b, '\n')
		if end < 0 {
			s.next += int64(len(b))
			// The line runs through the whole range: nothing begins in it.
			s.done = s.next >= s.to
			return s.done
		}
		s.skipping = false
		s.next += int64(end) + 1
		b = b[end+1:]
		s.begin(s.next)
		if s.next >= s.to {
			s.done = true
			return true
		}
	}
	s.next += int64(s.splitter.Feed(b, s.emit))
	return s.done
}

// Finish says that the source has ended.
func (s *Scan) Finish() {
	if s.packed != nil && !s.done {
		s.partial.Damage = s.packed.finish()
	}
	if !s.done && !s.skipping {
		s.splitter.Finish(s.emit)
	}
	if s.open && !s.ended {
		s.to, s.ended = max(s.next, s.partial.From), true
	}
	s.done = true
}

// Close gives up what a scan of a packed source holds. Other scans need it not.
func (s *Scan) Close() {
	if s.packed != nil {
		s.packed.feeder.Close()
	}
}

// line digests one physical line and tells whether another one can begin in the range. A line without an end may go on
// when the source grows, so what it adds is kept apart as well.
func (s *Scan) line(l *jsonl.Line) bool {
	if l.Terminated {
		return s.digest(l)
	}
	p := s.partial
	before, blanks := p.Account, len(p.blanks)
	more := s.digest(l)
	p.tail = &tail{l.Offset, p.Account.minus(before), len(p.blanks) - blanks}
	return more
}

func (s *Scan) digest(l *jsonl.Line) bool {
	p := s.partial
	number := p.Account.Lines
	p.Account.Lines++
	more := l.Offset+l.Size() < s.to
	s.done = !more
	if !l.TooLong && jsonl.Blank(l.Bytes) {
		p.Account.Blank++
		p.Account.BlankBytes += l.Size()
		if m, ok := s.ask.(BlankMapper); ok {
			if text := m.AppendBlank(nil, l); len(text) > 0 {
				p.blanks = append(p.blanks, blank{uint32(p.Rows()), text})
			}
		}
		return more
	}
	if m, ok := s.ask.(Passer); ok && m.Passes(l.Bytes) {
		p.Account.Read++ // as far as anybody can tell
		p.Account.ReadBytes += l.Size()
		p.answer(p.digests)
		return more
	}
	row := s.reader.Read(l)
	row.Line = number + 1
	if s.ask != nil {
		s.answer(l, row)
		return more
	}
	identity, facts := row.Identity(), row.Facts()
	if row.Problem != nil {
		p.Account.Unreadable++
		p.Account.UnreadableBytes += l.Size()
		if row.Problem.Class == rollout.ErrorDecode {
			facts.Recovered = s.reader.Recover(l)
		}
		switch {
		case row.Torn:
			p.Account.Torn++
		case facts.Recovered.Exists():
			p.Account.Repaired++
			p.Account.Recoverable += facts.Recovered.Records
		}
	} else {
		p.Account.Read++
		p.Account.ReadBytes += l.Size()
	}
	digests := facts.Append(identity.Append(p.digests))
	for _, m := range s.mappers {
		if m == nil {
			continue
		}
		s.scratch = m.Append(s.scratch[:0], l, row)
		digests = binary.AppendUvarint(digests, uint64(len(s.scratch)))
		digests = append(digests, s.scratch...)
	}
	p.add(uint32(number), l.Offset, l.Length, digests)
	return more
}

// answer keeps what a second scan asks of a row.
func (s *Scan) answer(l *jsonl.Line, row *rollout.Row) {
	a := &s.partial.Account
	if row.Problem != nil {
		a.Unreadable++
		a.UnreadableBytes += l.Size()
	} else {
		a.Read++
		a.ReadBytes += l.Size()
	}
	s.partial.answer(s.ask.Append(s.partial.digests, l, row))
}

// Take gives what has been read since the last Take and begins a new partial behind it.
func (s *Scan) Take() *Partial {
	p := s.partial
	p.To, p.End = s.to, s.ended
	if s.packed != nil {
		p.Members = s.packed.feeder.Members()
	}
	if !s.done {
		// Lines up to here are in; the one that is being gathered begins here.
		p.To = p.From
		if !s.skipping {
			p.To = min(max(s.splitter.Offset(), p.From), s.to)
		}
	}
	s.partial = &Partial{Source: s.source, From: p.To, Sections: p.Sections, Query: s.query}
	return p
}

// Done tells whether the range is done.
func (s *Scan) Done() bool { return s.done }
