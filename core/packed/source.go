package packed

import (
	"errors"
	"io"
	"sort"
	"sync"

	"github.com/rollscope/rollscope/core/source"
)

// A Source is a packed source seen as its plain bytes. Reading by range goes forward from where the last one ended,
// or from the member in front of it. It may be used by several goroutines.
type Source struct {
	packed source.Source

	lock    sync.Mutex
	members []Member // in order, those that were met
	size    int64    // in plain bytes, −1 until the end was met
	damage  *Damage
	cursor  *Reader
}

// Of makes a Source of a packed one.
func Of(s source.Source) *Source { return &Source{packed: s, size: -1} }

// Name is that of the packed source.
func (s *Source) Name() string { return s.packed.Name() }

// Packed is the source as it lies there.
func (s *Source) Packed() source.Source { return s.packed }

// Size is the number of plain bytes, −1 until somebody has read to the end.
func (s *Source) Size() int64 {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.size
}

// Damage tells where the source cannot be read any further, nil where nothing is known of such a place.
func (s *Source) Damage() *Damage {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.damage
}

// Open reads the plain bytes from the first one on. The reader is for one goroutine.
func (s *Source) Open() *Stream { return &Stream{Reader: s.reader(Member{}), source: s} }

func (s *Source) reader(from Member) *Reader {
	return NewReader(io.NewSectionReader(s.packed, from.Packed, max(s.packed.Size()-from.Packed, 0)), from)
}

// A Stream is a [Reader] that tells its Source what it meets.
type Stream struct {
	*Reader
	source *Source
	fresh  []Member
}

// Read gives the next plain bytes; see [Reader.Read].
func (s *Stream) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if members := s.Reader.Members(); err != nil || len(members) > 0 {
		s.fresh = append(s.fresh, members...)
		s.source.lock.Lock()
		defer s.source.lock.Unlock()
		s.source.met(s.Reader, members, err)
	}
	return n, err
}

// Members gives the members that have begun since the last call.
func (s *Stream) Members() []Member {
	list := s.fresh
	s.fresh = nil
	return list
}

// met takes in what a reader has come across.
func (s *Source) met(r *Reader, members []Member, err error) {
	for _, m := range members {
		at := sort.Search(len(s.members), func(i int) bool { return s.members[i].Packed >= m.Packed })
		if at == len(s.members) {
			s.members = append(s.members, m)
		}
	}
	if err == nil {
		return
	}
	damage := (*Damage)(nil)
	if errors.As(err, &damage) {
		s.damage = damage
	}
	if err == io.EOF || damage != nil {
		s.size = r.Offset()
	}
}

// ReadAt gives the plain bytes from an offset on.
func (s *Source) ReadAt(p []byte, offset int64) (int, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if offset < 0 {
		return 0, errors.New("negative offset")
	}
	from := Before(s.members, offset)
	if s.cursor == nil || s.cursor.Offset() > offset || s.cursor.Offset() < from.Plain {
		s.cursor = s.reader(from)
	}
	n, err := s.fill(p, offset)
	s.met(s.cursor, s.cursor.Members(), err)
	if err != nil {
		s.cursor = nil
	}
	if damage := (*Damage)(nil); errors.As(err, &damage) {
		err = io.EOF // whatever is there has been read
	}
	return n, err
}

func (s *Source) fill(p []byte, offset int64) (int, error) {
	if skip := offset - s.cursor.Offset(); skip > 0 {
		if n, err := io.CopyN(io.Discard, s.cursor, skip); n < skip {
			return 0, err
		}
	}
	n, err := io.ReadFull(s.cursor, p)
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	return n, err
}

// Before gives the last of some members, in order, that begins at or in front of a plain offset, the start of the
// file if there is none.
func Before(members []Member, offset int64) Member {
	n := sort.Search(len(members), func(i int) bool { return members[i].Plain > offset })
	if n == 0 {
		return Member{}
	}
	return members[n-1]
}
