package trajectory

import (
	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/trajectory/lax"
)

// object reads v by its table.
func (r *Reader) object(t *table, v jsonscan.Value) bool {
	base := len(r.values)
	if t.part == partCall {
		// The parts of a call go straight into it.
		r.record.Calls = append(r.record.Calls, Call{})
	}
	ok := r.gather(t, v) && r.fields(t, v, base, 0, len(t.fields)) && r.meets(t, v, base) && r.take(t.part, v, base)
	r.values, r.coerced = r.values[:base], r.coerced[:base]
	return ok
}

// gather walks v once and puts the values of its fields behind the values that are already there. Of a
// repeated key the last value stands.
func (r *Reader) gather(t *table, v jsonscan.Value) bool {
	base := len(r.values)
	r.push(len(t.fields))
	if !v.IsObject() {
		return r.bad(v, t.name+" is not an object")
	}
	f := r.values[base:]
	next := 0
	for m := v.Members(); m.Next(); {
		i := t.find(m.Key, next)
		if i >= 0 {
			f[i] = m.Value
			next = i + 1
			continue
		}
		switch t.extra {
		case refused:
			return r.bad(m.Value, "unknown key of "+t.name)
		case keeps:
			r.member(v, &m)
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

// fields checks the gathered fields from one place to another.
func (r *Reader) fields(t *table, v jsonscan.Value, base, from, to int) bool {
	for i := from; i < to; i++ {
		if !r.field(&t.fields[i], v, r.values[base+i]) {
			return false
		}
		switch t.fields[i].shape.kind {
		case kindWhole, kindNumber, kindFlag:
			r.coerced[base+i] = r.last
		}
	}
	return true
}

// field checks one field of the object v.
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

// check holds a value against a shape. What the lax rules made of a number or bool stands in r.last.
func (r *Reader) check(s *shape, v jsonscan.Value) bool {
	for s.or != nil && !s.suits(v) {
		s = s.or
	}
	switch s.kind {
	case kindText:
		return v.IsString() || r.bad(v, "is not a string")

	case kindFree:
		if v.Height() > int(s.limit) {
			r.tooDeep(v)
		}
		return true

	case kindWhole:
		n, ok := lax.Int(v)
		if !ok {
			return r.bad(v, "is not a whole number")
		}
		if s.bounded && n.Cmp(integer.Of(int64(s.least))) < 0 {
			return r.bad(v, "is too small")
		}
		r.last.whole = n
		return true

	case kindNumber:
		f, ok := lax.Float(v)
		if !ok {
			return r.bad(v, "is not a number")
		}
		// NaN fails every comparison.
		if s.bounded && !(f >= float64(s.least)) {
			return r.bad(v, "is too small")
		}
		r.last.number = f
		return true

	case kindFlag:
		b, ok := lax.Bool(v)
		if !ok {
			return r.bad(v, "is not a bool")
		}
		r.last.truth = b
		return true

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
		r.members(v)
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
		r.members(v)
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
	switch of.kind {
	case kindFree:
		if v.Height() <= int(of.limit)+1 {
			return true
		}
	case kindWhole:
		if wholeNumbers(v.Raw()) {
			return true
		}
	case kindNumber:
		if plainNumbers(v.Raw()) {
			return true
		}
	}
	for e := v.Elements(); e.Next(); {
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
	for m := v.Members(); m.Next(); {
		if r.check(of, m.Value) {
			continue
		}
		if !replaced(v, &m) {
			return false
		}
		r.fault = fault{}
	}
	return true
}

// replaced tells whether a later member has the same key.
func replaced(v jsonscan.Value, m *jsonscan.Members) bool {
	return v.Get(string(m.Key)).Offset() != m.Value.Offset()
}

// members holds the members of an object that is kept whole against the limit of depth.
func (r *Reader) members(v jsonscan.Value) {
	if v.Height() <= keptLevels+1 {
		return
	}
	for m := v.Members(); m.Next(); {
		r.member(v, &m)
	}
}

// member holds one member that is kept as it is against the limit of depth.
func (r *Reader) member(v jsonscan.Value, m *jsonscan.Members) {
	if m.Value.Height() > keptLevels && !replaced(v, m) {
		r.tooDeep(m.Value)
	}
}

// variant reads an object by the table its type picks.
func (r *Reader) variant(u *union, v jsonscan.Value) bool {
	if !v.IsObject() {
		return r.bad(v, u.name+" is not an object")
	}
	tag := v.Get("type")
	if !tag.Exists() {
		if u.bare {
			return r.whichever(u, v)
		}
		return r.bad(v, "type is missing")
	}
	if tag.IsString() {
		name := r.content(tag)
		for _, t := range u.tables {
			if t.tag == string(name) {
				return r.object(t, v)
			}
		}
	}
	return r.bad(tag, "is not the type of any "+u.name)
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
	if !v.IsString() {
		return false
	}
	s := r.content(v)
	for _, w := range words {
		if w == string(s) {
			return true
		}
	}
	return false
}
