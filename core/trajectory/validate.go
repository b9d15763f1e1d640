package trajectory

import (
	"unicode"
	"unicode/utf8"

	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/trajectory/lax"
)

// object reads v by its table.
func (r *Reader) object(t *table, v jsonscan.Value) bool {
	base := len(r.values)
	if t.part == partCall {
		// The parts of a call go straight into it.
		r.record.Calls = more(r.record.Calls)
	}
	ok := r.gather(t, v) && r.rest(t, v, base)
	r.values, r.coerced = r.values[:base], r.coerced[:base]
	return ok
}

// rest reads an object whose fields are gathered.
func (r *Reader) rest(t *table, v jsonscan.Value, base int) bool {
	return r.fields(t, v, base, 0, len(t.fields)) &&
		(t.rule == ruleNone || r.meets(t, v, base)) &&
		(t.part == partNone || r.take(t.part, v, base))
}

// gather walks v once and puts the values of its fields behind the values that are already there. Of a
// repeated key the last value stands.
func (r *Reader) gather(t *table, v jsonscan.Value) bool {
	base := len(r.values)
	r.push(len(t.fields))
	if !v.IsObject() {
		return r.bad(v, t.name+" is not an object")
	}
	other := v.Gather(t.names, r.values[base:])
	if other.Exists() {
		switch t.extra {
		case refused:
			return r.bad(other, "unknown key of "+t.name)
		case keeps:
			r.members(t.fields, v)
		}
	}
	return true
}

// push makes room for the fields of one more object.
func (r *Reader) push(n int) {
	size := len(r.values) + n
	if size > cap(r.values) {
		r.values = append(make([]jsonscan.Value, 0, 2*size+64), r.values...)
		r.coerced = append(make([]coercion, 0, 2*size+64), r.coerced...)
	}
	clear(r.values[len(r.values):size])
	r.values, r.coerced = r.values[:size], r.coerced[:size]
}

// fields checks the gathered fields from one place to another. The commonest kinds are dealt with on the
// spot: calls are what costs most in WebAssembly.
func (r *Reader) fields(t *table, v jsonscan.Value, base, from, to int) bool {
	// Values move when objects inside are read, but the old ones stay as they are.
	values := r.values[base : base+to]
	for i := from; i < to; i++ {
		f, value, ok := &t.fields[i], &values[i], true
		if !value.Exists() {
			if f.required {
				return r.bad(v, f.name+" is missing")
			}
			continue
		}
		if f.null && value.IsNull() {
			continue
		}
		switch f.shape.kind {
		case kindText:
			ok = value.IsString() || r.check(&f.shape, *value)
		case kindFree:
			if value.IsObject() || value.IsArray() {
				r.check(&f.shape, *value)
			}
		case kindWhole:
			r.coerced[base+i].whole, ok = r.whole(&f.shape, *value)
		case kindNumber:
			r.coerced[base+i].number, ok = r.number(&f.shape, *value)
		case kindFlag:
			r.coerced[base+i].truth, ok = r.flag(*value)
		default:
			ok = r.check(&f.shape, *value)
		}
		if !ok {
			return false
		}
	}
	return true
}

// field checks one field of the object v without keeping its number.
func (r *Reader) field(f *field, v, value jsonscan.Value) bool {
	switch {
	case !value.Exists():
		return !f.required || r.bad(v, f.name+" is missing")
	case f.null && value.IsNull():
		return true
	}
	return r.check(&f.shape, value)
}

// meets checks the condition a table has over several fields.
func (r *Reader) meets(t *table, v jsonscan.Value, base int) bool {
	f := r.values[base:]
	switch t.rule {
	case ruleRef:
		if blank(f[refCall]) && (f[refModel].IsNull() || blank(f[refResponse])) {
			return r.bad(v, "names neither a model call nor a response of a model server")
		}
	case ruleTimes:
		started, completed := &r.coerced[base+toolStarted], &r.coerced[base+toolCompleted]
		if !f[toolStarted].IsNull() && !f[toolCompleted].IsNull() && completed.number < started.number {
			return r.bad(f[toolCompleted], "completed_at is before started_at")
		}
	case ruleVideo:
		if f[videoURL].Exists() == f[videoVideo].Exists() {
			return r.bad(v, "has not exactly one of video_url and video")
		}
	}
	return true
}

// blank tells whether a string that may be null is empty.
func blank(v jsonscan.Value) bool { return v.IsNull() || v.Len() == 2 }

// whole reads a whole number by the lax rules.
func (r *Reader) whole(s *shape, v jsonscan.Value) (integer.Int, bool) {
	n, ok := lax.Int(v)
	if !ok {
		return n, r.bad(v, "is not a whole number")
	}
	if s.bounded && n.Cmp(integer.Of(int64(s.least))) < 0 {
		return n, r.bad(v, "is too small")
	}
	return n, true
}

// number reads a float by the lax rules. NaN is below every bound.
func (r *Reader) number(s *shape, v jsonscan.Value) (float64, bool) {
	f, ok := lax.Float(v)
	if !ok {
		return f, r.bad(v, "is not a number")
	}
	if s.bounded && !(f >= float64(s.least)) {
		return f, r.bad(v, "is too small")
	}
	return f, true
}

// flag reads a bool by the lax rules.
func (r *Reader) flag(v jsonscan.Value) (bool, bool) {
	b, ok := lax.Bool(v)
	if !ok {
		return b, r.bad(v, "is not a bool")
	}
	return b, true
}

// check holds a value against a shape.
func (r *Reader) check(s *shape, v jsonscan.Value) bool {
	for s.or != nil && !s.suits(v) {
		s = s.or
	}
	switch s.kind {
	case kindText:
		return v.IsString() || r.bad(v, "is not a string")

	case kindFree:
		if exceeds(v, int(s.limit)) {
			r.tooDeep(v)
		}
		return true

	case kindWhole:
		_, ok := r.whole(s, v)
		return ok

	case kindNumber:
		_, ok := r.number(s, v)
		return ok

	case kindFlag:
		_, ok := r.flag(v)
		return ok

	case kindWord:
		return r.among(s.words, v) || r.bad(v, "is not "+oneOf(s.words))

	case kindList:
		return r.list(s.of, v)

	case kindMap:
		return r.entries(s.of, v)

	case kindObject:
		return r.object(s.table, v)

	case kindTagged:
		return r.variant(s.union, v)

	case kindOpen:
		if !v.IsObject() {
			return r.bad(v, "is not an object")
		}
		r.members(nil, v)
		return true

	case kindSeries:
		return v.IsArray() || v.IsObject() || v.IsString() || r.bad(v, "is not an array")

	case kindVideo:
		url := v
		if v.IsObject() {
			url = v.Get("url")
		}
		if !url.IsString() || trimmed(r.content(url)) {
			return r.bad(v, "has no url")
		}
		r.members(nil, v)
		return true
	}
	return r.item(v)
}

// suits tells whether the JSON kind of v is the one a shape is for. It is asked only where there are several.
func (s *shape) suits(v jsonscan.Value) bool {
	switch s.kind {
	case kindText, kindWord:
		return v.IsString()
	case kindList:
		return v.IsArray()
	case kindNumber:
		k := v.Kind()
		return k == jsonscan.Int || k == jsonscan.Float
	}
	return v.IsObject()
}

// list checks the elements of an array.
func (r *Reader) list(of *shape, v jsonscan.Value) bool {
	if !v.IsArray() {
		return r.bad(v, "is not an array")
	}
	// Token arrays are by far the longest; mostly it is enough to know of which kinds their elements are.
	switch of.kind {
	case kindFree:
		if v.Height() <= int(of.limit)+1 {
			return true
		}
	case kindText:
		if _, kinds := v.Parts(); kinds.Within(jsonscan.String) {
			return true
		}
	case kindWhole:
		if _, kinds := v.Parts(); kinds.Within(jsonscan.Int) && !of.bounded {
			return true
		}
	case kindNumber:
		if _, kinds := v.Parts(); kinds.Within(jsonscan.Int, jsonscan.Float) && !of.bounded {
			return true
		}
	}
	e := v.Elements()
	for e.Next() {
		if !r.check(of, e.Value) {
			return false
		}
	}
	return true
}

// entries checks the values of an object whose names are free.
func (r *Reader) entries(of *shape, v jsonscan.Value) bool {
	if !v.IsObject() {
		return r.bad(v, "is not an object")
	}
	m := v.Members()
	for m.Next() {
		if !r.check(of, m.Value) {
			return r.lastEntries(of, v)
		}
	}
	return true
}

// lastEntries is entries where some value is wrong, which may be one that does not stand because its key is
// repeated.
func (r *Reader) lastEntries(of *shape, v jsonscan.Value) bool {
	r.fault = fault{}
	last := map[string]int{}
	m := v.Members()
	for m.Next() {
		last[string(m.Key)] = m.Value.Offset()
	}
	m = v.Members()
	for m.Next() {
		if last[string(m.Key)] == m.Value.Offset() && !r.check(of, m.Value) {
			return false
		}
	}
	return true
}

// variant reads an object by the table its type picks.
func (r *Reader) variant(u *union, v jsonscan.Value) bool {
	if !v.IsObject() {
		return r.bad(v, u.name+" is not an object")
	}
	// Where nothing is made of unknown keys, the first table may be tried at once. It is mostly the right one.
	first := u.tables[0]
	if first.extra != dropped {
		return r.pick(u, v, v.Get(u.key()))
	}
	base := len(r.values)
	r.gather(first, v)
	tag := r.values[base+int(first.typeAt)]
	ok := false
	if r.is(tag, first.tag) {
		ok = r.rest(first, v, base)
	} else {
		ok = r.pick(u, v, tag)
	}
	r.values, r.coerced = r.values[:base], r.coerced[:base]
	return ok
}

// pick reads an object by the table a type picks.
func (r *Reader) pick(u *union, v, tag jsonscan.Value) bool {
	if !tag.Exists() {
		if u.bare {
			return r.whichever(u, v)
		}
		return r.bad(v, u.key()+" is missing")
	}
	for _, t := range u.tables {
		if r.is(tag, t.tag) {
			return r.object(t, v)
		}
	}
	return r.bad(tag, "is not the "+u.key()+" of any "+u.name)
}

// whichever reads an object without a type by the first table it fits.
func (r *Reader) whichever(u *union, v jsonscan.Value) bool {
	for _, t := range u.tables {
		if r.object(t, v) {
			return true
		}
		r.fault = fault{}
	}
	return r.bad(v, "is not a "+u.name)
}

// among tells whether a value is exactly one of some words.
func (r *Reader) among(words []string, v jsonscan.Value) bool {
	for _, w := range words {
		if r.is(v, w) {
			return true
		}
	}
	return false
}

// is tells whether a value is exactly this word. No word has characters that must be escaped, so one that is
// written plainly is found as it stands.
func (r *Reader) is(v jsonscan.Value, word string) bool {
	if !v.IsString() {
		return false
	}
	raw := v.Raw()
	if string(raw[1:len(raw)-1]) == word {
		return true
	}
	// A character takes six bytes at most.
	if len(raw) < len(word)+3 || len(raw) > 6*len(word)+2 {
		return false
	}
	return v.Is(word)
}

// trimmed tells whether nothing of a string remains when white space is taken off. What counts as white
// space is wider here than for numbers: the four separators from 1C on are part of it.
func trimmed(s []byte) bool {
	for len(s) > 0 {
		c, size := utf8.DecodeRune(s)
		if !unicode.IsSpace(c) && (c < 0x1C || c > 0x1F) {
			return false
		}
		s = s[size:]
	}
	return true
}
