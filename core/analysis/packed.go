package analysis

import (
	"errors"

	"github.com/rollscope/rollscope/core/packed"
)

// unpacking stands between a packed source and its scan.
type unpacking struct {
	feeder *packed.Feeder
	at     int64 // plain offset of the next byte
}

// NewPackedScan begins a scan of a source packed with gzip. What is fed to it are the bytes of the packed file from
// its start on; from and to count plain bytes, as everything that comes of it does. Close it when it is not fed to
// its end.
func NewPackedScan(source int, from, to, maxLine int64) *Scan {
	s := NewScan(source, from, to, maxLine)
	u := new(unpacking)
	u.feeder = packed.NewFeeder(packed.Member{}, func(b []byte) int {
		n := len(b)
		if skip := s.next - u.at; skip > 0 && u.at < s.next {
			b = b[min(skip, int64(n)):]
		}
		u.at += int64(n)
		if len(b) > 0 && s.feed(b) {
			return 0 // the range is done: no more is unpacked
		}
		return n
	})
	s.packed = u
	return s
}

// finish ends the source and tells whether it ends as it should.
func (u *unpacking) finish() *packed.Damage {
	var damage *packed.Damage
	errors.As(u.feeder.Finish(), &damage)
	return damage
}
