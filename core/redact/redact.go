package redact

import (
	"bytes"
	"strconv"

	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/jsontext"
)

// A Count is what became of the values that a rule decided about, in all rows that were written.
type Count struct {
	Rule   Rule
	Values int64 // texts, numbers, truth values, nulls and empty lists and objects
	Texts  int64 // texts among them that were taken out
}

// A Redactor applies rules to rows. It belongs to one goroutine.
type Redactor struct {
	rules  Rules
	counts []Count
	other  int64 // values no rule decided about
	kept   int64 // values that are as they were
	copies int64 // kept texts in which copies were masked
	known  known
	scan   jsonscan.Scanner
	inner  []*jsonscan.Scanner // of rows inside texts

	learning bool
	at       []places // of every rule on every level, a row of len(rules) each
	text     []byte
	number   []byte
}

// New makes a Redactor.
func New(rules Rules) *Redactor {
	r := &Redactor{rules: rules, counts: make([]Count, len(rules)), known: newKnown()}
	for i := range rules {
		r.counts[i].Rule = rules[i]
	}
	return r
}

// Counts tells what the rules did so far, in their order.
func (r *Redactor) Counts() []Count { return append([]Count(nil), r.counts...) }

// Kept is how many values were written as they were, Copies in how many texts a copy was masked of what was taken
// out elsewhere.
func (r *Redactor) Kept() int64   { return r.kept }
func (r *Redactor) Copies() int64 { return r.copies }

// Learn notes the texts that the rules take out of a row. It tells whether the line is one: what cannot be read
// cannot be redacted either.
func (r *Redactor) Learn(line []byte) bool {
	v, err := r.scan.Scan(line)
	if err != nil {
		return false
	}
	r.learning = true
	r.begin()
	r.walk(nil, v, 0, -1)
	r.learning = false
	return true
}

// Row appends a row to dst as the rules leave it. Parts that nothing was taken out of keep their bytes. ok is false
// for a line that cannot be read; nothing is appended then.
func (r *Redactor) Row(dst, line []byte) (out []byte, ok bool) {
	v, err := r.scan.Scan(line)
	if err != nil {
		return dst, false
	}
	r.begin()
	before := len(dst)
	dst, became := r.walk(dst, v, 0, -1)
	switch became {
	case gone:
		return append(dst[:before], "{}"...), true // still a row
	case same:
		return append(dst[:before], line...), true
	}
	return dst, true
}

// Text masks what was taken out in a text that goes along with the rows, such as a title or a path.
func (r *Redactor) Text(s string) string {
	if masked, found := r.known.mask(nil, []byte(s)); found {
		return string(masked)
	}
	return s
}

func (r *Redactor) begin() {
	r.at = r.at[:0]
	for i := range r.rules {
		r.at = append(r.at, r.rules[i].start())
	}
}

// A fate is what became of a value.
type fate uint8

const (
	same    fate = iota // nothing of it was changed; what was written is not needed
	changed             // it was written
	gone                // it is not there any more
)

// walk writes a value. depth is its level, decided the last rule that holds for a level above it.
func (r *Redactor) walk(dst []byte, v jsonscan.Value, depth, decided int) ([]byte, fate) {
	for i := len(r.rules) - 1; i > decided; i-- {
		if r.rules[i].met(r.at[depth*len(r.rules)+i]) {
			decided = i
			break
		}
	}
	action := Keep
	if decided >= 0 {
		action = r.rules[decided].Action
	}
	if v.IsObject() || v.IsArray() {
		if n, _ := v.Parts(); n > 0 {
			return r.inside(dst, v, depth, decided, action)
		}
	}
	return r.leaf(dst, v, decided, action)
}

// inside writes an object or array with something in it.
func (r *Redactor) inside(dst []byte, v jsonscan.Value, depth, decided int, action Action) ([]byte, fate) {
	before, became, left := len(dst), same, 0
	first := true
	separate := func() {
		if !first {
			dst = append(dst, ',')
		}
		first = false
	}
	part := func(inner jsonscan.Value, key []byte, object bool) {
		r.enter(depth, key)
		start, wasFirst := len(dst), first
		separate()
		if object && r.learning && !plainName(key) && r.takes(depth+1, decided) {
			r.known.add(key)
		}
		if object {
			var renamed bool
			if dst, renamed = r.key(dst, key); renamed {
				became = changed
			}
			dst = append(dst, ':')
		}
		from := len(dst)
		var f fate
		dst, f = r.walk(dst, inner, depth+1, decided)
		switch {
		case r.learning:
			dst = dst[:start]
		case f == same:
			dst = append(dst[:from], inner.Raw()...)
			left++
		case f == changed:
			became = changed
			left++
		default:
			became = changed
			if object {
				dst, first = dst[:start], wasFirst
			} else {
				dst = append(dst[:from], "null"...)
			}
		}
	}
	if v.IsObject() {
		dst = append(dst, '{')
		for m := v.Members(); m.Next(); {
			part(m.Value, m.Key, true)
		}
		dst = append(dst, '}')
	} else {
		dst = append(dst, '[')
		n := 0
		for e := v.Elements(); e.Next(); n++ {
			r.number = strconv.AppendInt(r.number[:0], int64(n), 10)
			part(e.Value, r.number, false)
		}
		dst = append(dst, ']')
	}
	if action == Drop && left == 0 {
		return dst[:before], gone
	}
	return dst, became
}

// learn notes a text or a number that is taken out, and of a text that is JSON itself, such as the arguments of a tool,
// what it holds.
func (r *Redactor) learn(v jsonscan.Value, depth int) {
	switch {
	case isNumber(v):
		r.known.add(v.Raw())
	case v.IsString():
		text := v.AppendText(nil)
		r.known.add(text)
		if begin := bytes.TrimLeft(text, " \t\r\n"); depth == deepest || len(begin) == 0 || begin[0] != '{' && begin[0] != '[' && begin[0] != '"' {
			return
		}
		if depth == len(r.inner) {
			r.inner = append(r.inner, new(jsonscan.Scanner))
		}
		if inner, err := r.inner[depth].Scan(text); err == nil {
			r.learn(inner, depth+1)
		}
	case v.IsArray():
		for e := v.Elements(); e.Next(); {
			r.learn(e.Value, depth)
		}
	case v.IsObject():
		for m := v.Members(); m.Next(); {
			r.learn(m.Value, depth)
		}
	}
}

func isNumber(v jsonscan.Value) bool {
	k := v.Kind()
	return k == jsonscan.Int || k == jsonscan.Float
}

// takes tells whether a value on a level is taken out whole: no rule that keeps may still hold for a part of it.
func (r *Redactor) takes(depth, decided int) bool {
	at := r.at[depth*len(r.rules):]
	for i := range r.rules {
		if rule := &r.rules[i]; rule.Action == Keep && at[i] != 0 {
			return false
		} else if i > decided && rule.met(at[i]) {
			decided = i
		}
	}
	return decided >= 0 && r.rules[decided].Action != Keep
}

// enter puts the places of all rules one level further down behind those of depth.
func (r *Redactor) enter(depth int, key []byte) {
	n := len(r.rules)
	from := depth * n
	r.at = r.at[:from+n]
	for i := range r.rules {
		r.at = append(r.at, r.rules[i].enter(r.at[from+i], key))
	}
}

// key writes the name of a member. A plain name stays what it is: it belongs to the form of rows.
func (r *Redactor) key(dst, key []byte) ([]byte, bool) {
	if !r.learning && !plainName(key) {
		if masked, found := r.known.mask(nil, key); found {
			return jsontext.AppendQuoted(dst, masked), true
		}
	}
	return jsontext.AppendQuoted(dst, key), false
}

const longestName = 64

func plainName(key []byte) bool {
	if len(key) > longestName {
		return false
	}
	for _, c := range key {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.' || c == '/') {
			return false
		}
	}
	return true
}

// leaf writes a text, a number, a truth value, null or an empty container.
func (r *Redactor) leaf(dst []byte, v jsonscan.Value, decided int, action Action) ([]byte, fate) {
	isText := v.IsString()
	if r.learning {
		if action != Keep {
			r.learn(v, 0)
		}
		return dst, same
	}
	if decided >= 0 {
		r.counts[decided].Values++
		if isText && action != Keep {
			r.counts[decided].Texts++
		}
	} else {
		r.other++
	}
	switch {
	case action == Drop:
		return dst, gone
	case action == Length && isText:
		r.text = v.AppendText(r.text[:0])
		return append(appendMask(append(dst, '"'), r.text), '"'), changed
	case action == Length && (v.IsObject() || v.IsArray()):
		// How many there are is what is kept: none.
	case action == Length:
		return append(dst, "null"...), changed
	case isText:
		r.text = v.AppendText(r.text[:0])
		if masked, found := r.known.mask(nil, r.text); found {
			r.copies++
			return jsontext.AppendQuoted(dst, masked), changed
		}
	case isNumber(v):
		if _, found := r.known.mask(nil, v.Raw()); found {
			r.copies++
			return append(dst, "null"...), changed
		}
	}
	r.kept++
	return dst, same
}
