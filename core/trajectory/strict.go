package trajectory

import (
	"github.com/rollscope/rollscope/core/jsonscan"
)

// CheckStrict holds a valid trajectory against the strict rules of types: a string is a string and a bool a bool, a
// whole number has no fraction, and only for a float may a whole number stand. The error is an [*Invalid].
func (b *Builder) CheckStrict(v jsonscan.Value) error {
	s := strictness{w: &b.w}
	if s.object(&schema, v) {
		return nil
	}
	return fault{ClassValidation, s.at.Offset(), s.reason}.in(v)
}

// strictness looks for values that only the lax rules accept.
type strictness struct {
	w      *writer
	at     jsonscan.Value
	reason string
}

func (s *strictness) bad(v jsonscan.Value, reason string) bool {
	s.at, s.reason = v, reason
	return false
}

func (s *strictness) object(t *table, v jsonscan.Value) bool {
	f := append([]jsonscan.Value(nil), s.w.gather(t, v)...)
	s.w.release(f)
	for i := range t.fields {
		if !f[i].IsNull() && !s.value(&t.fields[i].shape, f[i]) {
			return false
		}
	}
	return true
}

func (s *strictness) value(sh *shape, v jsonscan.Value) bool {
	for sh.or != nil && !sh.suits(v) {
		sh = sh.or
	}
	switch kind := v.Kind(); sh.kind {
	case kindWhole:
		if kind != jsonscan.Int {
			return s.bad(v, "is not a whole number")
		}
	case kindNumber:
		if kind != jsonscan.Int && kind != jsonscan.Float {
			return s.bad(v, "is not a number")
		}
	case kindFlag:
		if kind != jsonscan.Bool {
			return s.bad(v, "is not a bool")
		}
	case kindList:
		for e := v.Elements(); e.Next(); {
			if !s.value(sh.of, e.Value) {
				return false
			}
		}
	case kindMap:
		for m := v.Members(); m.Next(); {
			if !s.value(sh.of, m.Value) {
				return false
			}
		}
	case kindObject:
		return s.object(sh.table, v)
	case kindTagged:
		return s.object(s.w.pick(sh.union, v), v)
	case kindItem:
		if t := s.w.kindOf(v); t != nil {
			return s.object(t, v)
		}
	}
	return true
}
