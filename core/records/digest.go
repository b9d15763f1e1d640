package records

import (
	"github.com/rollscope/rollscope/core/finding"
	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/jsonscan"
	rows "github.com/rollscope/rollscope/core/rollout"
	"github.com/rollscope/rollscope/core/store"
)

// A Mapper makes digests of the rows of a rollouts file, for runs whose rows are read by several workers at once. It
// reuses its memory and belongs to one goroutine; the zero Mapper is ready.
type Mapper struct{ reader Reader }

// The first byte of a digest: a row, which follows in its stored form, or the kind of a fault.
const (
	digestRow byte = iota
	digestTorn
	digestNotObject // a byte behind it has the kind of the value
	digestMalformed
	digestKinds
	digestTerminated byte = 0x80 // the line has a line end
)

var digestFaults = [digestKinds]string{digestTorn: finding.TornTail, digestNotObject: finding.NotAnObject, digestMalformed: finding.MalformedLine}

// Append appends the digest of a row to dst.
func (m *Mapper) Append(dst []byte, line *jsonl.Line, row *rows.Row) []byte {
	head := digestRow
	if line.Terminated {
		head = digestTerminated
	}
	if row.Problem == nil && plainEnds(line.Bytes) {
		return m.reader.Read(row.Value, Results, 0, 0, 0).Append(append(dst, head))
	}
	// The readers of rows do not agree on every line, so this one is read as the store reads it.
	var lines store.Reader
	if v, ok := lines.Read(line); ok {
		return m.reader.Read(v, Results, 0, 0, 0).Append(append(dst, head))
	}
	id, kind := finding.MalformedLine, jsonscan.Kind(0)
	if len(lines.Faults) > 0 {
		id, kind = lines.Faults[0].ID, lines.Faults[0].Kind
	}
	switch id {
	case finding.TornTail:
		return append(dst, head|digestTorn)
	case finding.NotAnObject:
		return append(dst, head|digestNotObject, byte(kind))
	}
	return append(dst, head|digestMalformed)
}

// plainEnds tells whether a line has no vertical tab or form feed around its text: white to readers of lines, but not
// to JSON.
func plainEnds(b []byte) bool {
	for _, c := range b {
		if c > ' ' {
			break
		}
		if c == '\v' || c == '\f' {
			return false
		}
	}
	for i := len(b) - 1; i >= 0 && b[i] <= ' '; i-- {
		if b[i] == '\v' || b[i] == '\f' {
			return false
		}
	}
	return true
}

// OpenDigest gives the row of a digest, of the line at a place; length is without its line end. Of a line that is no
// row it gives the fault instead. The row keeps parts of the digest. The error is [ErrStored].
func OpenDigest(digest []byte, line, offset, length int64) (row Row, fault *store.Fault, err error) {
	if len(digest) == 0 {
		return row, nil, ErrStored
	}
	head, rest := digest[0], digest[1:]
	if head&digestTerminated != 0 {
		length++
		head &^= digestTerminated
	}
	if head == digestRow {
		if row, rest, err = ParseRow(rest); err != nil || len(rest) > 0 {
			return Row{}, nil, ErrStored
		}
		row.Line, row.Offset, row.Length = line, offset, length
		return row, nil, nil
	}
	if head >= digestKinds || (len(rest) == 1) != (head == digestNotObject) {
		return row, nil, ErrStored
	}
	fault = &store.Fault{ID: digestFaults[head], Line: line, Offset: offset, Bytes: length}
	if head == digestNotObject {
		fault.Kind = jsonscan.Kind(rest[0])
	}
	return row, fault, nil
}
