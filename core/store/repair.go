package store

import (
	"fmt"
	"io"

	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/jsonscan"
)

// An Edit is one difference between a file and its repaired copy.
type Edit struct {
	Line    int64  // physical line of the source
	Offset  int64  // in the source
	Removed int64  // bytes of the source from Offset on that the copy lacks
	LF      bool   // the copy has a line end at Offset
	Reason  string // one of the reasons below
}

// The reasons of edits.
const (
	CutTail  = "cut_tail"    // the last line has no line end and is no JSON value
	EndTail  = "end_tail"    // the last line is a JSON value and lacks its line end
	SplitRow = "split_glued" // several objects stand on one line
)

// A Repair decides how a copy of a rollouts file or failures sidecar differs from it (spec run-folder §4.4). Feed it
// all lines in order.
type Repair struct {
	Glued bool // split lines on which complete objects stand behind each other
	Edits []Edit

	scanner jsonscan.Scanner
}

// Line looks at the next line.
func (r *Repair) Line(l *jsonl.Line) {
	if l.TooLong || l.Terminated && !r.Glued {
		return
	}
	rest, offset := l.Bytes, l.Offset
	_, err := r.scanner.Scan(rest)
	if err != nil && r.Glued && !jsonl.Blank(rest) {
		rest, offset, err = r.split(l, err)
	}
	switch {
	case l.Terminated || len(rest) == 0:
	case err == nil:
		r.Edits = append(r.Edits, Edit{Line: l.Number, Offset: l.Offset + l.Length, LF: true, Reason: EndTail})
	default:
		r.Edits = append(r.Edits, Edit{Line: l.Number, Offset: offset, Removed: int64(len(rest)), Reason: CutTail})
	}
}

// split finds the objects that stand behind each other on a line. The rest is what the last of them begins with, or
// the cut text behind them if the line has no end; err tells whether it can be read. A line that is damaged in any
// other way stays as it is.
func (r *Repair) split(l *jsonl.Line, first error) (rest []byte, offset int64, err error) {
	rest, offset, err = l.Bytes, l.Offset, first
	var edits []Edit
	for err != nil {
		at := err.(*jsonscan.Error).Offset
		if at == 0 || at >= len(rest) || rest[at] != '{' {
			break
		}
		v, refused := r.scanner.Scan(rest[:at])
		if refused != nil || !v.IsObject() {
			break
		}
		rest, offset = rest[at:], offset+int64(at)
		edits = append(edits, Edit{Line: l.Number, Offset: offset, LF: true, Reason: SplitRow})
		if v, err = r.scanner.Scan(rest); err == nil && !v.IsObject() {
			return l.Bytes, l.Offset, first
		}
	}
	if len(edits) == 0 || err != nil && l.Terminated {
		return l.Bytes, l.Offset, first
	}
	r.Edits = append(r.Edits, edits...)
	return rest, offset, err
}

// Apply writes the repaired copy of a source of size bytes.
func Apply(w io.Writer, source io.ReaderAt, size int64, edits []Edit) error {
	at := int64(0)
	upTo := func(end int64) error {
		if _, err := io.Copy(w, io.NewSectionReader(source, at, end-at)); err != nil {
			return fmt.Errorf("copy bytes %d to %d: %w", at, end, err)
		}
		at = end
		return nil
	}
	for _, e := range edits {
		if err := upTo(e.Offset); err != nil {
			return err
		}
		if e.LF {
			if _, err := w.Write([]byte{'\n'}); err != nil {
				return err
			}
		}
		at += e.Removed
	}
	return upTo(size)
}
