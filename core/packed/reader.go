package packed

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// A Member is a place where reading can begin: the offset of its first byte in the packed file and that of the
// first plain byte it stands for. The zero Member is the start of the file.
type Member struct{ Packed, Plain int64 }

// Damage says where a packed file cannot be read any further.
type Damage struct {
	Packed int64  // offset in the packed file
	Plain  int64  // plain bytes in front of it
	Reason string // short, for people
}

// Error gives reason and offset.
func (d *Damage) Error() string {
	return fmt.Sprintf("%s at byte %d of the packed file", d.Reason, d.Packed)
}

// The reasons of damage. Each goes on from the name of the file.
const (
	ReasonCut      = "ends inside a gzip member"
	ReasonData     = "holds damaged gzip data"
	ReasonChecksum = "holds a gzip member whose checksum does not fit"
	ReasonTrailing = "holds bytes that are no gzip member"
)

// input counts the packed bytes that are used. It hands them out one by one, so that nothing is read beyond the end
// of a member.
type input interface {
	io.Reader
	io.ByteReader
	peek() (byte, error)
	Offset() int64 // in the packed file, of the next byte
}

// A Reader gives the plain bytes of a packed file. It reads to the end of the last member or to the first damage,
// which it returns as a *[Damage].
type Reader struct {
	in      input
	gzip    *gzip.Reader
	plain   int64
	inside  bool // a member
	raw     bool // not packed at all
	begun   bool
	members []Member
	err     error
}

// NewReader reads a packed file from a member on, of which r gives the first byte.
func NewReader(r io.Reader, from Member) *Reader {
	return newReader(&counted{Reader: bufio.NewReaderSize(r, 64<<10), at: from.Packed}, from)
}

func newReader(in input, from Member) *Reader { return &Reader{in: in, plain: from.Plain} }

// Offset is the offset of the next plain byte.
func (r *Reader) Offset() int64 { return r.plain }

// Used is how many bytes of the packed file are used so far.
func (r *Reader) Used() int64 { return r.in.Offset() }

// Members gives the members that have begun since the last call.
func (r *Reader) Members() []Member {
	list := r.members
	r.members = nil
	return list
}

// Read gives the next plain bytes. The error is io.EOF behind the last member, a *[Damage], or that of the file.
func (r *Reader) Read(p []byte) (int, error) {
	for r.err == nil && len(p) > 0 {
		if !r.inside {
			r.err = r.begin()
			continue
		}
		var n int
		var err error
		if r.raw {
			n, err = r.in.Read(p)
		} else {
			n, err = r.gzip.Read(p)
		}
		r.plain += int64(n)
		switch {
		case err == io.EOF && !r.raw:
			r.inside = false
		case err != nil:
			r.err = r.damage(err)
		}
		if n > 0 {
			return n, nil
		}
	}
	return 0, r.err
}

// begin opens the next member, if there is one.
func (r *Reader) begin() error {
	first, err := r.in.peek()
	for r.begun && err == nil && first == 0 {
		// Padding up to a block of whatever the file was kept on.
		if _, err = r.in.ReadByte(); err == nil {
			first, err = r.in.peek()
		}
	}
	if err != nil {
		return err
	}
	at := r.in.Offset()
	if first != 0x1F {
		if r.begun || at > 0 {
			return &Damage{at, r.plain, ReasonTrailing}
		}
		r.begun, r.inside, r.raw = true, true, true
		r.members = append(r.members, Member{})
		return nil
	}
	if r.gzip == nil {
		r.gzip = new(gzip.Reader)
	}
	if err := r.gzip.Reset(r.in); err != nil {
		if errors.Is(err, gzip.ErrHeader) {
			return &Damage{at, r.plain, ReasonTrailing}
		}
		return r.damage(err)
	}
	r.gzip.Multistream(false)
	r.begun, r.inside = true, true
	r.members = append(r.members, Member{Packed: at, Plain: r.plain})
	return nil
}

// damage tells an end of the file and bad content from a file that cannot be read.
func (r *Reader) damage(err error) error {
	var corrupt flate.CorruptInputError
	switch {
	case r.raw:
		return err
	case errors.Is(err, io.ErrUnexpectedEOF), err == io.EOF:
		return &Damage{r.in.Offset(), r.plain, ReasonCut}
	case errors.Is(err, gzip.ErrChecksum):
		return &Damage{r.in.Offset(), r.plain, ReasonChecksum}
	case errors.Is(err, gzip.ErrHeader), errors.As(err, &corrupt):
		return &Damage{r.in.Offset(), r.plain, ReasonData}
	}
	return err
}

// counted is a buffered reader that knows where it is.
type counted struct {
	*bufio.Reader
	at int64
}

func (c *counted) Offset() int64 { return c.at }

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.at += int64(n)
	return n, err
}

func (c *counted) ReadByte() (byte, error) {
	b, err := c.Reader.ReadByte()
	if err == nil {
		c.at++
	}
	return b, err
}

func (c *counted) peek() (byte, error) {
	b, err := c.Reader.Peek(1)
	if err != nil {
		return 0, err
	}
	return b[0], nil
}
