package filter

import (
	"github.com/rollscope/rollscope/core/rollout"
	"github.com/rollscope/rollscope/core/transcript"
)

// A Look reads what conditions want of a row as it is in its file, and reuses its memory. It is a [Row] without
// fields. The zero Look sees nothing.
type Look struct {
	row    *rollout.Row
	reader transcript.Reader
	shown  *transcript.Rollout // of the row, once somebody wants it
}

// At turns to a row, which must stay valid until the next call. A line that could not be read has no values.
func (l *Look) At(row *rollout.Row) {
	l.row, l.shown = row, nil
}

// Field is missing: fields are for whoever made them.
func (l *Look) Field(string) Value { return Value{} }

// Inside gives the value of a path, of "count", or the truth of "any" or "all".
func (l *Look) Inside(r *Ref) Value {
	switch {
	case l.row == nil || l.row.Problem != nil:
		return Value{}
	case r.list != nil:
		return r.list.of(l, element{value: l.row.Value})
	}
	return Lookup(l.row.Value, r.Path)
}

// transcript is the row as its page shows it.
func (l *Look) transcript() *transcript.Rollout {
	if l.shown == nil {
		l.shown = l.reader.Read(l.row)
	}
	return l.shown
}
