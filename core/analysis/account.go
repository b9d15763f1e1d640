package analysis

import "encoding/binary"

// An Account counts lines and their bytes, line ends included.
type Account struct {
	Lines, Read, Blank, Unreadable int64
	ReadBytes, BlankBytes          int64
	UnreadableBytes                int64
	Torn                           int64 // unreadable last lines without a line end; also counted as unreadable

	// Of the unreadable lines that are not torn: those with a record that the tolerant reading can show, and how
	// many records these hold. They stay unreadable.
	Repaired, Recoverable int64
}

// Bytes is the sum over all lines.
func (a Account) Bytes() int64 { return a.ReadBytes + a.BlankBytes + a.UnreadableBytes }

// Rows is the number of non-blank lines.
func (a Account) Rows() int64 { return a.Read + a.Unreadable }

// Add gives the sum of two accounts.
func (a Account) Add(b Account) Account {
	for i, n := range b.fields() {
		*a.fields()[i] += *n
	}
	return a
}

// minus is what was added to b to give a.
func (a Account) minus(b Account) Account {
	for i, n := range b.fields() {
		*a.fields()[i] -= *n
	}
	return a
}

func (a *Account) fields() [10]*int64 {
	return [...]*int64{&a.Lines, &a.Read, &a.Blank, &a.Unreadable, &a.ReadBytes, &a.BlankBytes, &a.UnreadableBytes, &a.Torn, &a.Repaired, &a.Recoverable}
}

func (a *Account) append(dst []byte) []byte {
	for _, n := range a.fields() {
		dst = binary.AppendUvarint(dst, uint64(*n))
	}
	return dst
}
