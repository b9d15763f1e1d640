package jsonl

import "bytes"

const (
	// Head is how many bytes of a line that is too long are kept.
	Head = 4096

	// block is the least room a part of a gathered line gets, so that pieces of a few bytes do not end up
	// as one allocation each.
	block = 64 << 10

	// patience is how many gathered lines in a row may leave most of a big buffer unused before it is
	// given up. A file with one huge line should not hold on to it, a file of many should not start anew.
	patience = 32
)

// A Line is one physical line. The Line and its Bytes belong to the splitter and are valid until emit
// returns.
type Line struct {
	Number     int64  // 1 for the first line the splitter saw
	Offset     int64  // of the line's first byte
	Length     int64  // bytes of content, without the LF
	Bytes      []byte // the content; only its first bytes, at most [Head], if the line is TooLong
	Terminated bool   // an LF follows the content
	TooLong    bool   // longer than [Splitter.Max]
}

// Size is the number of bytes the line takes in its file, the LF included.
func (l *Line) Size() int64 {
	if l.Terminated {
		return l.Length + 1
	}
	return l.Length
}

// A Splitter cuts bytes into lines. Feed it the pieces of a file in order, then call Finish.
type Splitter struct {
	// Max is the length of the longest line that is given whole, in bytes; 0 means no bound. What lies
	// beyond it is counted but not kept.
	Max int64

	offset  int64    // of the first byte not yet in an emitted line
	number  int64    // lines emitted
	pending int64    // bytes of the unfinished line seen so far, kept or not
	parts   [][]byte // its kept bytes in order; parts[0] is the buffer that is used again
	kept    int64    // their sum
	idle    int      // gathered lines in a row that were small for parts[0]
	line    Line
}

// NewSplitter gives a splitter whose first byte has the given offset in its file.
func NewSplitter(offset int64) *Splitter { return &Splitter{offset: offset} }

// Pending tells how many bytes of an unfinished line the splitter has taken in.
func (s *Splitter) Pending() int64 { return s.pending }

// Offset is the offset of the first byte that is not part of an emitted line.
func (s *Splitter) Offset() int64 { return s.offset }

// Feed takes the next piece of the file and calls emit for every line that ends in it. If emit returns
// false, Feed stops behind that line; consumed tells how much of the piece was used, and the next Feed
// goes on with what follows. Otherwise consumed is the length of the piece, of which the splitter keeps
// no reference.
func (s *Splitter) Feed(chunk []byte, emit func(*Line) bool) (consumed int) {
	if s.pending > 0 {
		end := bytes.IndexByte(chunk, '\n')
		if end < 0 {
			s.gather(chunk)
			return len(chunk)
		}
		consumed = end + 1
		if !s.emitGathered(chunk[:end], true, emit) {
			return consumed
		}
	}
	for {
		rest := chunk[consumed:]
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			s.gather(rest)
			return len(chunk)
		}
		consumed += end + 1
		if !s.emit(rest[:end:end], int64(end), true, emit) {
			return consumed
		}
	}
}

// Finish emits the rest behind the last LF, if there is any. Afterwards the splitter stands at the end of
// the file; more bytes would begin a new line.
func (s *Splitter) Finish(emit func(*Line) bool) {
	if s.pending > 0 {
		s.emitGathered(nil, false, emit)
	}
}

// emit hands out a line of the given length, whose bytes are content unless it is too long.
func (s *Splitter) emit(content []byte, length int64, terminated bool, emit func(*Line) bool) bool {
	s.number++
	s.line = Line{Number: s.number, Offset: s.offset, Length: length, Bytes: content, Terminated: terminated}
	if s.Max > 0 && length > s.Max {
		head := s.head()
		s.line.TooLong = true
		s.line.Bytes = content[:head:head]
	}
	s.offset += s.line.Size()
	return emit(&s.line)
}

// head is how much of a line that is too long is kept.
func (s *Splitter) head() int64 { return min(Head, s.Max) }

// emitGathered hands out the unfinished line, of which tail is the last part.
func (s *Splitter) emitGathered(tail []byte, terminated bool, emit func(*Line) bool) bool {
	length := s.pending + int64(len(tail))
	var content []byte
	if s.tooLong(length) {
		s.cut(tail)
		content = s.parts[0]
		s.parts = s.parts[:0]
	} else {
		content = s.join(tail)
	}
	s.pending, s.kept = 0, 0
	return s.emit(content[:len(content):len(content)], length, terminated, emit)
}

// tooLong tells whether a line of the given length is beyond the bound.
func (s *Splitter) tooLong(length int64) bool { return s.Max > 0 && length > s.Max }

// gather adds part to the unfinished line.
func (s *Splitter) gather(part []byte) {
	if len(part) == 0 {
		return
	}
	s.pending += int64(len(part))
	if s.tooLong(s.pending) {
		s.cut(part)
		return
	}
	s.kept += int64(len(part))
	if len(s.parts) > 0 {
		last := &s.parts[len(s.parts)-1]
		room := min(cap(*last)-len(*last), len(part))
		*last = append(*last, part[:room]...)
		part = part[room:]
	}
	if len(part) > 0 {
		s.parts = append(s.parts, append(make([]byte, 0, max(len(part), block)), part...))
	}
}

// cut keeps no more than the head of a line that is too long; part is what follows the kept bytes.
func (s *Splitter) cut(part []byte) {
	head := s.head()
	if len(s.parts) == 1 && s.kept == head && int64(len(s.parts[0])) == head {
		return
	}
	// The head is copied out, because the parts are big and the last one belongs to the caller.
	whole := make([]byte, 0, head)
	for _, p := range append(s.parts, part) {
		whole = append(whole, p[:min(int64(len(p)), head-int64(len(whole)))]...)
	}
	clear(s.parts)
	s.parts = append(s.parts[:0], whole)
	s.kept = int64(len(whole))
}

// join gives the kept bytes and tail in one slice and makes the buffer ready for the next line.
func (s *Splitter) join(tail []byte) []byte {
	var whole []byte
	if len(s.parts) == 1 && cap(s.parts[0])-len(s.parts[0]) >= len(tail) {
		whole = append(s.parts[0], tail...)
	} else {
		whole = make([]byte, 0, int(s.kept)+len(tail))
		for i, p := range s.parts {
			whole = append(whole, p...)
			s.parts[i] = nil
		}
		whole = append(whole, tail...)
	}
	s.parts = append(s.parts[:0], whole[:0])
	switch {
	case cap(whole) <= 16*block || len(whole) >= cap(whole)/4:
		s.idle = 0
	case s.idle < patience:
		s.idle++
	default:
		s.parts[0], s.parts, s.idle = nil, s.parts[:0], 0
	}
	return whole
}

// Blank tells whether b has no content: it is empty or holds only tab, LF, VT, FF, CR and space.
func Blank(b []byte) bool {
	for _, c := range b {
		if !white(c) {
			return false
		}
	}
	return true
}

// Trim cuts tab, LF, VT, FF, CR and space from both ends.
func Trim(b []byte) []byte {
	for len(b) > 0 && white(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && white(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

func white(c byte) bool { return c == ' ' || c-'\t' < 5 }
