package check

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/jsontext"
)

// A Finding is one thing that a check found: which, where, and the values that show it. Reports hold
// check, locator and detail; the rest leads people to the place.
type Finding struct {
	Check   string  // id
	Locator []Field // call_id, turn, or source_file and line; empty when it is about the row
	Detail  []Field // in report order
	Aside   []Field // further values for people, never part of a report
	Place   Place
	Fired   int // findings of this check on the row, this one included
	Among   int // turns, calls or chains of the row that the check looked at
}

// A Place is where in a row a finding stands.
type Place struct {
	Offset  int64  // of the first byte, counted from the first byte of the line
	Length  int64  // in bytes; 0 when there is no value to point at
	Pointer string // JSON pointer of the value, "" for the row
	Turn    int    // position in ng_trajectory.turns, −1 for none
	Call    int    // position in ng_trajectory.model_calls, −1 for none
}

// A Field is a named value.
type Field struct {
	Name  string
	Value Value
}

// A Value is what a field holds: null, a bool, a whole number, a text or a list of texts.
type Value struct {
	Kind Kind
	True bool
	Int  integer.Int
	Text string
	List []string
}

// Kind tells what a Value holds.
type Kind uint8

// The kinds of values.
const (
	Null Kind = iota
	Bool
	Int
	Text
	List
)

// String gives the value as plain text, "" for null.
func (v Value) String() string {
	switch v.Kind {
	case Bool:
		return strconv.FormatBool(v.True)
	case Int:
		return v.Int.String()
	case Text:
		return v.Text
	case List:
		s := ""
		for i, t := range v.List {
			if i > 0 {
				s += ", "
			}
			s += t
		}
		return s
	}
	return ""
}

// Get finds a field by its name in locator, detail or aside; a missing one is null.
func (f *Finding) Get(name string) Value {
	for _, fields := range [...][]Field{f.Locator, f.Detail, f.Aside} {
		for i := range fields {
			if fields[i].Name == name {
				return fields[i].Value
			}
		}
	}
	return Value{}
}

// ErrIntegerRange means that a report cannot hold a number: it lies outside −2^63 … 2^64−1.
var ErrIntegerRange = errors.New("integer out of range")

// AppendJSON appends the finding as reports have it, without spaces. The error wraps [ErrIntegerRange].
func (f *Finding) AppendJSON(dst []byte) ([]byte, error) {
	var err error
	dst = append(dst, `{"check":`...)
	dst = jsontext.AppendQuoted(dst, f.Check)
	if len(f.Locator) > 0 {
		dst = append(dst, `,"locator":`...)
		if dst, err = appendFields(dst, f.Locator); err != nil {
			return dst, fmt.Errorf("%s: %w", f.Check, err)
		}
	}
	dst = append(dst, `,"detail":`...)
	if dst, err = appendFields(dst, f.Detail); err != nil {
		return dst, fmt.Errorf("%s: %w", f.Check, err)
	}
	return append(dst, '}'), nil
}

func appendFields(dst []byte, fields []Field) ([]byte, error) {
	dst = append(dst, '{')
	for i := range fields {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = jsontext.AppendQuoted(dst, fields[i].Name)
		dst = append(dst, ':')
		v := &fields[i].Value
		switch v.Kind {
		case Bool:
			dst = strconv.AppendBool(dst, v.True)
		case Int:
			if !v.Int.Writable() {
				return dst, fmt.Errorf("%s: %w", fields[i].Name, ErrIntegerRange)
			}
			dst = v.Int.Append(dst)
		case Text:
			dst = jsontext.AppendQuoted(dst, v.Text)
		case List:
			dst = append(dst, '[')
			for k, t := range v.List {
				if k > 0 {
					dst = append(dst, ',')
				}
				dst = jsontext.AppendQuoted(dst, t)
			}
			dst = append(dst, ']')
		default:
			dst = append(dst, "null"...)
		}
	}
	return append(dst, '}'), nil
}

// Sentence puts a finding into words, from its fields alone.
func Sentence(f Finding) string {
	if c, ok := ByID(f.Check); ok && c.Say != nil {
		return c.Say(&f)
	}
	return f.Check
}

// Duplicate makes the finding of a row whose identity count rows share.
func Duplicate(count int) Finding {
	return Finding{
		Check:  duplicateIdentity.ID,
		Detail: []Field{{fields[fieldDuplicateCount].name, Value{Kind: Int, Int: integer.Of(int64(count))}}},
		Place:  Place{Turn: -1, Call: -1},
		Fired:  1, Among: 1,
	}
}

// InLine adds the file and the physical line to the finding of a line that cannot be read.
func (f *Finding) InLine(source string, line int64) {
	f.Locator = []Field{
		{fields[fieldSourceFile].name, Value{Kind: Text, Text: source}},
		{fields[fieldLine].name, Value{Kind: Int, Int: integer.Of(line)}},
	}
}

// stopped turns the place where a check stopped into the finding that reports it.
func stopped(failed *Check, raised Raised, place Place) Finding {
	return Finding{
		Check: executionError.ID,
		Detail: []Field{
			{fields[fieldReason].name, Value{Kind: Text, Text: phrases[phraseRaised]}},
			{fields[fieldFailedCheck].name, Value{Kind: Text, Text: failed.ID}},
			{fields[fieldError].name, Value{Kind: Text, Text: raised.String()}},
		},
		Place: place,
		Fired: 1, Among: 1,
	}
}

// String gives the name of the exception, "" for none.
func (r Raised) String() string {
	switch r {
	case TypeError:
		return "TypeError"
	case AttributeError:
		return "AttributeError"
	}
	return ""
}
