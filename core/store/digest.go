package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/value"
)

// Digest is the digest of a value (spec recovery §3): lower-case hexadecimal.
func Digest(v value.Value) string { return Sum(v.Append(nil, value.Canonical)) }

// Sum is the digest of bytes.
func Sum(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Inputs reads the materialized inputs as rows, and computes their digest as the reader of rows and as the check
// before a resume see them (spec recovery §4 and §5). The zero Inputs is ready.
type Inputs struct {
	Reader

	record   array
	resume   *array // nil as long as both see the same
	refused  bool   // the resume check cannot parse a line
	noDigest bool   // it can, and has no canonical text for what it parsed
	writer   value.Writer
	text     []byte
}

// Read reads the next line; see [Reader.Read].
func (in *Inputs) Read(l *jsonl.Line) (row jsonscan.Value, ok bool) {
	row, ok = in.Reader.Read(l)
	text := l.Bytes
	if n := len(text); n > 0 && text[n-1] == '\r' {
		text = text[:n-1] // the line end is CR LF, or CR at the end of the file
	}
	plain := bytes.IndexByte(text, '\r') < 0
	if ok {
		in.writer.Wide = false
		in.text = in.writer.Append(in.text[:0], row, value.Canonical)
		if plain && !in.writer.Wide {
			in.record.add(in.text)
			if in.resume != nil && !in.refused {
				in.resume.add(in.text)
			}
			return row, true
		}
		in.part()
		in.record.add(in.text)
	} else if plain && !l.TooLong && jsonl.Blank(text) {
		return row, false
	}
	in.part()
	in.lenient(text, l.TooLong)
	return row, ok
}

// part lets the two digests go different ways.
func (in *Inputs) part() {
	if in.resume == nil {
		in.resume = in.record.clone()
	}
}

// lenient reads text as the resume check does: CR ends a line too, lines of white space are skipped, and values are
// parsed by the lenient reader.
func (in *Inputs) lenient(text []byte, tooLong bool) {
	if tooLong || !utf8.Valid(text) {
		in.refused = true
	}
	for len(text) > 0 && !in.refused {
		line := text
		if end := bytes.IndexByte(text, '\r'); end >= 0 {
			line, text = text[:end], text[end+1:]
		} else {
			text = nil
		}
		if strings.TrimFunc(string(line), space) == "" {
			continue
		}
		v, err := value.Parse(line, value.Leniency{Surrogates: true})
		switch {
		case err != nil:
			in.refused = true
		case v.Undefined():
			in.noDigest = true
		default:
			in.resume.add(v.Append(nil, value.Canonical))
		}
	}
}

// space is white space in the reference's language.
func space(r rune) bool { return unicode.IsSpace(r) || 0x1C <= r && r <= 0x1F }

// Record is the digest as the reader of rows sees the inputs; empty if it stops at a line.
func (in *Inputs) Record() string {
	for i := range in.Faults {
		if in.Faults[i].Fatal() {
			return ""
		}
	}
	return in.record.sum()
}

// Resume is the digest as the check before a resume sees the inputs; empty if it refuses them, or if what it reads has
// no canonical text.
func (in *Inputs) Resume() string {
	switch {
	case in.refused || in.noDigest:
		return ""
	case in.resume != nil:
		return in.resume.sum()
	}
	return in.record.sum()
}

// Refused tells whether the check before a resume cannot read the inputs.
func (in *Inputs) Refused() bool { return in.refused }

// Disagree tells whether the two readings see different inputs.
func (in *Inputs) Disagree() bool {
	if in.Record() != in.Resume() {
		return true
	}
	// Neither has a digest. One of them reads on nevertheless if only the canonical text is missing.
	return in.Record() == "" && in.noDigest && !in.refused
}

// An array computes the digest of an array from the texts of its elements.
type array struct {
	hash hash.Hash
	some bool
}

func (a *array) start() {
	if a.hash == nil {
		a.hash = sha256.New()
		a.hash.Write([]byte{'['})
	}
}

func (a *array) add(element []byte) {
	a.start()
	if a.some {
		a.hash.Write([]byte{','})
	}
	a.some = true
	a.hash.Write(element)
}

func (a *array) clone() *array {
	a.start()
	h, err := a.hash.(hash.Cloner).Clone()
	if err != nil { // a SHA-256 can always be cloned
		panic(err)
	}
	return &array{h, a.some}
}

func (a *array) sum() string {
	c := a.clone()
	c.hash.Write([]byte{']'})
	return hex.EncodeToString(c.hash.Sum(nil))
}
