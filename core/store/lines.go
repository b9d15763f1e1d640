package store

import (
	"github.com/rollscope/rollscope/core/finding"
	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/value"
)

// An Account counts the physical lines of a file: Lines = Rows + Blank + Unreadable.
type Account struct {
	Lines, Rows, Blank, Unreadable int64
	Bytes                          int64 // of all lines, line ends included
}

// A Fault is a line that is neither blank nor a row.
type Fault struct {
	ID           string // of the finding
	Line, Offset int64
	Bytes        int64         // of the line, with its line end
	Kind         jsonscan.Kind // of a value that is no object
}

// Fatal tells whether the reference stops at the line.
func (f *Fault) Fatal() bool { return f.ID != finding.TornTail }

// Finding is the fault as a finding of a file.
func (f *Fault) Finding(run, file string) finding.Finding {
	v := value.M("bytes", value.Int(f.Bytes))
	if f.ID == finding.NotAnObject {
		v = value.M("kind", value.Text(f.Kind.String()))
	}
	return finding.New(f.ID, run, file, v).At(f.Line, f.Offset)
}

// A Reader reads the lines of one file as rows (spec run-folder §4.2). The zero Reader is ready.
type Reader struct {
	Account Account
	Faults  []Fault // in the order of the file

	scanner jsonscan.Scanner
}

// Read reads the next line. ok is false if it holds no row; a row is valid until the next call.
func (r *Reader) Read(l *jsonl.Line) (row jsonscan.Value, ok bool) {
	r.Account.Lines++
	r.Account.Bytes += l.Size()
	if !l.TooLong && jsonl.Blank(l.Bytes) {
		r.Account.Blank++
		return row, false
	}
	if !l.TooLong {
		v, err := r.scanner.Scan(l.Bytes)
		switch {
		case err != nil && !l.Terminated:
			r.fault(finding.TornTail, l, 0)
			return row, false
		case err == nil && v.IsObject():
			r.Account.Rows++
			return v, true
		case err == nil:
			r.fault(finding.NotAnObject, l, v.Kind())
			return row, false
		}
	}
	r.fault(finding.MalformedLine, l, 0)
	return row, false
}

func (r *Reader) fault(id string, l *jsonl.Line, kind jsonscan.Kind) {
	r.Account.Unreadable++
	r.Faults = append(r.Faults, Fault{ID: id, Line: r.Account.Lines, Offset: l.Offset, Bytes: l.Size(), Kind: kind})
}
