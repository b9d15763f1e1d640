package harness

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"

	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/rollout"
)

// A Mapper makes digests of lines. It reuses its memory and belongs to one goroutine; the zero Mapper is ready.
type Mapper struct {
	judge   Judge
	scanner jsonscan.Scanner
	mended  []byte
	body    []byte
	refused bool // a line was, since this was last set to false
}

// The reasons for which a line is refused besides those of package jsonscan.
const (
	reasonObject = "the row is no object"
	reasonDigits = "integer of more than 4,300 digits"
)

// mostDigits is the number of digits that an int may have.
const mostDigits = 4300

// The digest of a line is empty for a blank line, which is one physical line. Otherwise it is:
//
//	version   one byte
//	lines     how many physical lines there are
//	entries   for each that is not blank: its number, counted from 0; whether it is a record; the size of what
//	          follows; and the digest of the record, or where it is refused and why
const lineVersion = 1

const (
	entryRecord = iota
	entryRefused
)

// Append appends the digest of a line, of what package jsonl calls one: it ends at LF, and a CR in it ends a physical
// line of its own here. row is what a [rollout.Reader] made of the line, or nil; it saves reading the line again.
//
// The digest of a blank line counts as well if it is not empty.
func (m *Mapper) Append(dst []byte, line *jsonl.Line, row *rollout.Row) []byte {
	if line.TooLong {
		dst = append(dst, lineVersion, 1)
		return m.appendRefused(dst, 0, 0, rollout.ReasonTooLong)
	}
	if row != nil && row.Problem == nil && single(line, row) {
		dst = append(dst, lineVersion, 1)
		m.judge.judge(row.Value, nil)
		return m.appendRecord(dst, 0)
	}
	count, entries := 0, m.body[:0]
	physical(line, func(text []byte, at int) bool {
		count++
		if blank(text) {
			return true
		}
		value, original, refusal := m.read(text)
		if refusal.Reason != "" {
			entries = m.appendRefused(entries, count-1, at+refusal.Offset, refusal.Reason)
			return true
		}
		m.judge.judge(value, original)
		entries = m.appendRecord(entries, count-1)
		return true
	})
	m.body = entries
	if count == 1 && len(entries) == 0 {
		return dst
	}
	dst = append(dst, lineVersion)
	dst = binary.AppendUvarint(dst, uint64(count))
	return append(dst, entries...)
}

// appendRecord appends the entry of the row that was judged last.
func (m *Mapper) appendRecord(dst []byte, number int) []byte {
	dst = binary.AppendUvarint(dst, uint64(number))
	dst = append(dst, entryRecord)
	// Most digests are shorter than a one-byte size can say; others are moved.
	at := len(dst)
	dst = m.judge.append(append(dst, 0))
	size := len(dst) - at - 1
	if size < 0x80 {
		dst[at] = byte(size)
		return dst
	}
	var head [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(head[:], uint64(size))
	dst = append(dst, head[1:n]...)
	copy(dst[at+n:], dst[at+1:at+1+size])
	copy(dst[at:], head[:n])
	return dst
}

func (m *Mapper) appendRefused(dst []byte, number, offset int, reason string) []byte {
	m.refused = true
	dst = binary.AppendUvarint(dst, uint64(number))
	body := binary.AppendUvarint(nil, uint64(offset))
	body = append(body, reason...)
	dst = binary.AppendUvarint(append(dst, entryRefused), uint64(len(body)))
	return append(dst, body...)
}

// physical gives the physical lines of a line, and where they begin in it.
func physical(line *jsonl.Line, each func(text []byte, at int) bool) {
	b := line.Bytes
	if n := len(b); line.Terminated && n > 0 && b[n-1] == '\r' {
		b = b[:n-1]
	}
	at := 0
	for {
		end := bytes.IndexByte(b[at:], '\r')
		if end < 0 {
			break
		}
		if !each(b[at:at+end], at) {
			return
		}
		at += end + 1
	}
	// Behind a last CR there is a line only if something ends it.
	if at < len(b) || at == 0 || line.Terminated {
		each(b[at:], at)
	}
}

// single tells whether a line that was read as a row is one physical line with nothing around the row that is refused
// here.
func single(line *jsonl.Line, row *rollout.Row) bool {
	b := line.Bytes
	if n := len(b); line.Terminated && n > 0 && b[n-1] == '\r' {
		b = b[:n-1]
	}
	if bytes.IndexByte(b, '\r') >= 0 {
		return false
	}
	end := int(row.Lead) + row.Value.Offset() + row.Value.Len()
	return len(bytes.Trim(b[:row.Lead], " \t")) == 0 && (end >= len(b) || len(bytes.Trim(b[end:], " \t")) == 0)
}

// read reads one physical line that is not blank. If the text had to be mended, original is what stands in the file.
func (m *Mapper) read(text []byte) (row jsonscan.Value, original []byte, refusal jsonscan.Error) {
	row, err := m.scanner.Scan(text)
	if err != nil {
		refusal = *err.(*jsonscan.Error)
		if refusal.Reason != jsonscan.ReasonSurrogate && refusal.Reason != jsonscan.ReasonOverflow {
			return row, nil, withCount(refusal)
		}
		// The scanner is stricter than the rules for these rows are.
		if refusal = m.mend(text); refusal.Reason != "" {
			return row, nil, refusal
		}
		if row, err = m.scanner.Scan(m.mended); err != nil {
			return row, nil, withCount(*err.(*jsonscan.Error))
		}
		original = text
	}
	if !row.IsObject() {
		return row, nil, jsonscan.Error{Offset: row.Offset(), Reason: reasonObject}
	}
	return row, original, jsonscan.Error{}
}

// withCount puts the count of an error into its reason.
func withCount(e jsonscan.Error) jsonscan.Error {
	if e.Count > 0 {
		e.Reason = strconv.Itoa(e.Count) + " " + e.Reason
	}
	return e
}

// mend copies a text and writes something that the scanner accepts over what these rules accept and it does not: halves
// of surrogate pairs become the escape of U+FFFD, and numbers beyond all doubles a small one. The copy is as long as
// the text and every value stands where it was, so that what it really is can be read there.
func (m *Mapper) mend(text []byte) (refusal jsonscan.Error) {
	m.mended = append(m.mended[:0], text...)
	b := m.mended
	for i := 0; i < len(b); {
		switch c := b[i]; {
		case c == '"':
			i = mendString(b, i+1)
		case c == '-' || c-'0' < 10:
			end := i + 1
			for end < len(b) && (b[end]-'0' < 10 || bytes.IndexByte([]byte("+-.eE"), b[end]) >= 0) {
				end++
			}
			if refusal := m.mendNumber(b[i:end]); refusal.Reason != "" {
				refusal.Offset = i
				return refusal
			}
			i = end
		default:
			i++
		}
	}
	return refusal
}

// mendString mends a string whose content begins at i and gives the place behind it. Where the string is wrong in
// another way, the scanner will say so.
func mendString(b []byte, i int) int {
	for i < len(b) {
		switch b[i] {
		case '"':
			return i + 1
		case '\\':
			unit, ok := hexUnit(b, i)
			switch {
			case !ok:
				i += 2
			case unit>>11 != 0xD800>>11:
				i += 6
			default:
				if unit>>10 == 0xD800>>10 {
					if low, ok := hexUnit(b, i+6); ok && low>>10 == 0xDC00>>10 {
						i += 12
						continue
					}
				}
				copy(b[i+2:], "fffd")
				i += 6
			}
		default:
			i++
		}
	}
	return i
}

// hexUnit reads the escape \uxxxx at i.
func hexUnit(b []byte, i int) (unit uint16, ok bool) {
	if i+6 > len(b) || b[i] != '\\' || b[i+1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[i+2:i+6]), 16, 16)
	return uint16(n), err == nil
}

// mendNumber mends a number that is too large for the scanner.
func (m *Mapper) mendNumber(number []byte) (refusal jsonscan.Error) {
	digits := bytes.TrimPrefix(number, []byte("-"))
	if isInt(digits) {
		if len(digits) > mostDigits {
			return jsonscan.Error{Reason: reasonDigits}
		}
		if len(digits) < 309 {
			return refusal
		}
	} else if len(digits) < 309 && bytes.IndexAny(digits, "eE") < 0 {
		return refusal
	}
	_, err := m.judge.scanner.Scan(number)
	if e, ok := err.(*jsonscan.Error); !ok || e.Reason != jsonscan.ReasonOverflow || len(digits) < 3 {
		return refusal
	}
	for i := range digits {
		digits[i] = '1'
	}
	copy(digits, "0.")
	return refusal
}

// Failures judges one record of a line and tells exactly where each check fails by itself; number is its physical line
// within the line, from 0. The error says why that line cannot be read.
func (m *Mapper) Failures(line *jsonl.Line, number int, s Scope) ([]Failure, error) {
	var (
		list  = []Failure{}
		err   = fmt.Errorf("there is no physical line %d", number)
		index = 0
	)
	physical(line, func(text []byte, at int) bool {
		if index++; index <= number {
			return true
		}
		if blank(text) {
			err = fmt.Errorf("physical line %d is blank", number)
			return false
		}
		value, original, refusal := m.read(text)
		if refusal.Reason != "" {
			refusal.Offset += at
			refusal.Count = 0
			err = &refusal
			return false
		}
		err = nil
		m.judge.judge(value, original)
		list = m.judge.failures(int64(at), s)
		return false
	})
	return list, err
}
