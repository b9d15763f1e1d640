package harness

import (
	"strconv"
	"strings"

	"github.com/rollscope/rollscope/core/jsonscan"
)

// A form is a kind of value that a shape accepts.
type form uint16

const (
	isNull form = 1 << iota
	isBool
	isInteger // an int, or a finite float without fraction
	isNumber
	isText
	isWritten // a text that is not blank
	isArray
	isObject
	anything form = 0
)

// A shape says what a value must be like. The zero shape accepts everything. All of its parts must be met.
type shape struct {
	name   string   // where documents explain it once
	is     form     // one of these
	words  []string // one of these texts
	bounds *bounds  // of numbers
	some   bool     // of arrays: not empty
	items  *shape   // of arrays
	has    []member // of objects
	either []*shape // one of these at least

	// If when is met, so must be then, and otherwise if it is not. Either may be missing.
	when, then, otherwise *shape
}

// bounds are inclusive.
type bounds struct {
	least, most int64
	open        bool // there is no most
}

// A member is one member of an object.
type member struct {
	key   key
	shape *shape
	may   bool // it need not be there
}

// A step leads from a value to a part of it: the index of an element, or −1 minus a key.
type step int32

func byKey(k key) step { return -1 - step(k) }

func appendStep(dst []byte, s step) []byte {
	if s >= 0 {
		dst = append(dst, '[')
		dst = strconv.AppendInt(dst, int64(s), 10)
		return append(dst, ']')
	}
	return append(append(dst, '.'), keyNames[-1-s]...)
}

// fits tells whether a value has a shape.
func (j *Judge) fits(s *shape, v jsonscan.Value) bool {
	if s.is != anything && !j.is(s.is, v) || s.words != nil && !isWord(s.words, v) || s.bounds != nil && !j.within(s.bounds, v) {
		return false
	}
	for i := range s.has {
		m := &s.has[i]
		part := j.objects.get(v, m.key)
		if !part.Exists() {
			if !m.may {
				return false
			}
		} else if !j.fits(m.shape, part) {
			return false
		}
	}
	if v.IsArray() && (s.some || s.items != nil) {
		count, kinds := v.Parts()
		if s.some && count == 0 {
			return false
		}
		if s.items != nil && !(s.items == anObject && kinds.Within(jsonscan.Object)) {
			for e := v.Elements(); e.Next(); {
				if !j.fits(s.items, e.Value) {
					return false
				}
			}
		}
	}
	if branch := j.branch(s, v); branch != nil && !j.fits(branch, v) {
		return false
	}
	return s.either == nil || j.fitsOne(s.either, v)
}

func (j *Judge) fitsOne(shapes []*shape, v jsonscan.Value) bool {
	for _, s := range shapes {
		if j.fits(s, v) {
			return true
		}
	}
	return false
}

// faults reports every way in which a value breaks a shape, at the value of j.path. An object that lacks a member is
// at fault itself, once for all of them; inside an alternative nothing is looked at (§3.1).
func (j *Judge) faults(s *shape, v jsonscan.Value) {
	if s.is != anything && !j.is(s.is, v) || s.words != nil && !isWord(s.words, v) || s.bounds != nil && !j.within(s.bounds, v) {
		j.fault(v)
		return
	}
	for i := range s.has {
		if m := &s.has[i]; !m.may && !j.objects.get(v, m.key).Exists() {
			j.fault(v)
			break
		}
	}
	for i := range s.has {
		m := &s.has[i]
		if part := j.objects.get(v, m.key); part.Exists() {
			j.path = append(j.path, byKey(m.key))
			j.faults(m.shape, part)
			j.path = j.path[:len(j.path)-1]
		}
	}
	if v.IsArray() {
		if count, _ := v.Parts(); s.some && count == 0 {
			j.fault(v)
		}
		if s.items != nil {
			at := len(j.path)
			j.path = append(j.path, 0)
			for e := v.Elements(); e.Next(); j.path[at]++ {
				j.faults(s.items, e.Value)
			}
			j.path = j.path[:at]
		}
	}
	if branch := j.branch(s, v); branch != nil {
		j.faults(branch, v)
	}
	if s.either != nil && !j.fitsOne(s.either, v) {
		j.fault(v)
	}
}

// branch gives the conditional part of a shape that holds for v, nil for none.
func (j *Judge) branch(s *shape, v jsonscan.Value) *shape {
	switch {
	case s.when == nil:
		return nil
	case j.fits(s.when, v):
		return s.then
	}
	return s.otherwise
}

func isWord(words []string, v jsonscan.Value) bool {
	for _, w := range words {
		if v.Is(w) {
			return true
		}
	}
	return false
}

// String puts the shape into words, with the names of shapes that have one.
func (s *shape) String() string {
	if s.name != "" {
		return s.name
	}
	return s.inner()
}

var formNames = []struct {
	form form
	name string
}{
	{isText, "text"}, {isWritten, "text that is not blank"}, {isInteger, "whole number"}, {isNumber, "number"}, {isBool, "true or false"}, {isArray, "array"},
	{isObject, "object"}, {isNull, "null"},
}

// inner puts the parts of the shape into words.
func (s *shape) inner() string {
	var parts []string
	add := func(text ...string) { parts = append(parts, strings.Join(text, "")) }
	switch {
	case s.words != nil:
		add("`", strings.Join(s.words, "` or `"), "`")
	case len(s.has) > 0:
		members := make([]string, len(s.has))
		for i, m := range s.has {
			mark := ""
			if m.may {
				mark = "?"
			}
			members[i] = "`" + m.key.String() + "`" + mark + ": " + m.shape.String()
		}
		add("{", strings.Join(members, ", "), "}")
	case s.items != nil:
		some := ""
		if s.some {
			some = "non-empty "
		}
		add(some, "array of ", s.items.String())
	case s.is != anything:
		var names []string
		for _, f := range formNames {
			if s.is&f.form == 0 {
				continue
			}
			name := f.name
			if s.bounds != nil && f.form&(isInteger|isNumber) != 0 {
				name += s.bounds.String()
			}
			names = append(names, name)
		}
		add(strings.Join(names, " or "))
	}
	if s.when != nil {
		text := "if " + s.when.String() + " then " + s.then.String()
		if s.otherwise != nil {
			text += ", else " + s.otherwise.String()
		}
		add(text)
	}
	if s.either != nil {
		options := make([]string, len(s.either))
		for i, o := range s.either {
			if options[i] = o.String(); strings.Contains(options[i], "either ") {
				options[i] = "(" + options[i] + ")"
			}
		}
		add("either ", strings.Join(options, " or "))
	}
	if len(parts) == 0 {
		return "anything"
	}
	return strings.Join(parts, ", and ")
}

func (b *bounds) String() string {
	if b.open {
		return " from " + strconv.FormatInt(b.least, 10) + " on"
	}
	return " from " + strconv.FormatInt(b.least, 10) + " to " + strconv.FormatInt(b.most, 10)
}
