// Package schema checks the small documents of a run folder field by field, as the reference's validator does: a
// structured failure, a run manifest, a batch manifest (spec outcomes §2, recovery §2, batch-status §1).
//
// A Checker collects faults while its caller reads the fields of an object in their documented order. A fault is a
// path and a type; the value is never part of it, since it may be a secret. Values are coerced where the reference
// coerces them: "01" is an integer, "yes" a bool, 1.0 the literal 1.
//
//	c := schema.Begin(document)
//	id := c.Text("run_id", schema.Required)
//	terminal := c.Bool("terminal", schema.Required)
//	c.End() // what is left over is forbidden
//	if len(c.Faults()) == 0 { … }
package schema

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/value"
)

// A Fault says what is wrong with one field. Path joins names and positions with dots and is empty for the root.
type Fault struct {
	Path string
	Type string
}

// The types of faults, as the reference names them.
const (
	Missing         = "missing"
	Literal         = "literal_error"
	TextType        = "string_type"
	TextTooShort    = "string_too_short"
	TextTooLong     = "string_too_long"
	Pattern         = "string_pattern_mismatch"
	IntType         = "int_type"
	IntParsing      = "int_parsing"
	IntFromFloat    = "int_from_float"
	IntParsingSize  = "int_parsing_size"
	TooSmall        = "greater_than_equal"
	TooLarge        = "less_than_equal"
	BoolType        = "bool_type"
	BoolParsing     = "bool_parsing"
	ValueError      = "value_error"
	ExtraForbidden  = "extra_forbidden"
	ModelType       = "model_type"
	TooShort        = "too_short"
	ListType        = "list_type"
	DictType        = "dict_type"
	JSONInvalid     = "json_invalid"
	longestInteger  = 4300 // characters of a text that can be an integer
	wholeFloatLimit = 1 << 63
)

// Value gives a list of faults as findings have it.
func Value(faults []Fault) value.Value {
	list := make([]value.Value, len(faults))
	for i, f := range faults {
		list[i] = value.Object(value.M("path", value.Text(f.Path)), value.M("type", value.Text(f.Type)))
	}
	return value.List(list...)
}

// Need says what an absent field means.
type Need bool

// The needs.
const (
	Required Need = true
	Optional Need = false
)

// A Checker reads the fields of one object.
type Checker struct {
	object value.Value
	path   string // with its last dot
	faults *[]Fault
	known  []string
}

// Begin starts to check a document. If it is no object, that is its only fault.
func Begin(document value.Value) *Checker {
	c := &Checker{object: document, faults: new([]Fault)}
	if !document.IsObject() {
		c.fault("", ModelType)
	}
	return c
}

// Faults lists what was wrong so far, in the order in which fields were asked for.
func (c *Checker) Faults() []Fault { return *c.faults }

// Sound tells whether nothing was wrong so far.
func (c *Checker) Sound() bool { return len(*c.faults) == 0 }

func (c *Checker) fault(name, kind string) {
	*c.faults = append(*c.faults, Fault{strings.TrimSuffix(c.path+name, "."), kind})
}

// Fault adds a fault of a field, or of the object itself if name is empty.
func (c *Checker) Fault(name, kind string) { c.fault(name, kind) }

// field finds a field; ok is false if it is absent, which is a fault if it is required.
func (c *Checker) field(name string, need Need) (v value.Value, ok bool) {
	c.known = append(c.known, name)
	v = c.object.Get(name)
	if !v.Exists() && need == Required && c.object.IsObject() {
		c.fault(name, Missing)
	}
	return v, v.Exists()
}

// Has tells whether the field is there, null included.
func (c *Checker) Has(name string) bool { return c.object.Get(name).Exists() }

// Object starts to check a field that is an object of its own. ok is false if there is none; its checker may be used
// even so and finds nothing.
func (c *Checker) Object(name string, need Need) (child *Checker, ok bool) {
	v, there := c.field(name, need)
	child = &Checker{path: c.path + name + ".", faults: c.faults}
	switch {
	case !there:
		child.faults = new([]Fault)
	case !v.IsObject():
		c.fault(name, ModelType)
		child.faults = new([]Fault)
	default:
		child.object, ok = v, true
	}
	return child, ok
}

// Map walks the members of a field that is an object with free names.
func (c *Checker) Map(name string, need Need, member func(key string, v value.Value)) (size int, ok bool) {
	v, there := c.field(name, need)
	switch {
	case !there:
		return 0, need == Optional
	case !v.IsObject():
		c.fault(name, DictType)
		return 0, false
	}
	for _, m := range v.Members() {
		member(m.Key, m.Value)
	}
	return v.Len(), true
}

// Member starts to check a value met by [Checker.Map] of the field name.
func (c *Checker) Member(name, key string, v value.Value) (child *Checker, ok bool) {
	child = &Checker{object: v, path: c.path + name + "." + key + ".", faults: c.faults}
	if !v.IsObject() {
		child.fault("", ModelType)
	}
	return child, v.IsObject()
}

// Text reads a string.
func (c *Checker) Text(name string, need Need) (text string, ok bool) {
	v, there := c.field(name, need)
	if !there {
		return "", false
	}
	if text, ok = v.Text(); !ok {
		c.fault(name, TextType)
	}
	return text, ok
}

// TextOrNull reads a string or null.
func (c *Checker) TextOrNull(name string) (text string, ok bool) {
	if c.null(name) {
		return "", false
	}
	return c.Text(name, Optional)
}

// null tells whether a field is there and null, and counts it as known then.
func (c *Checker) null(name string) bool {
	if v := c.object.Get(name); v.Kind() == jsonscan.Null {
		c.known = append(c.known, name)
		return true
	}
	return false
}

// Bounded reads a string of at most most code points; null as well if it may be null.
func (c *Checker) Bounded(name string, need Need, most int, nullable bool) (text string, ok bool) {
	if nullable && c.null(name) {
		return "", false
	}
	if text, ok = c.Text(name, need); ok && utf8.RuneCountInString(text) > most {
		c.fault(name, TextTooLong)
		return text, false
	}
	return text, ok
}

// Choice reads one of some strings; null as well if it may be null.
func (c *Checker) Choice(name string, need Need, nullable bool, choices ...string) (text string, ok bool) {
	if nullable && c.null(name) {
		return "", false
	}
	v, there := c.field(name, need)
	if !there {
		return "", false
	}
	for _, choice := range choices {
		if v.Is(choice) {
			return choice, true
		}
	}
	c.fault(name, Literal)
	return "", false
}

// Version reads a number that must equal n.
func (c *Checker) Version(name string, n int64) {
	if v, there := c.field(name, Optional); there && !value.Equal(v, value.Int(n)) {
		c.fault(name, Literal)
	}
}

// Int reads an integer of at least least and, unless most is 0, at most most, after coercion.
func (c *Checker) Int(name string, need Need, least, most int64, nullable bool) (n integer.Int, ok bool) {
	if nullable && c.null(name) {
		return n, false
	}
	v, there := c.field(name, need)
	if !there {
		return n, false
	}
	n, kind := Int(v)
	switch {
	case kind != "":
	case n.Cmp(integer.Of(least)) < 0:
		kind = TooSmall
	case most != 0 && n.Cmp(integer.Of(most)) > 0:
		kind = TooLarge
	default:
		return n, true
	}
	c.fault(name, kind)
	return n, false
}

// Bool reads a bool, after coercion.
func (c *Checker) Bool(name string, need Need) (b, ok bool) {
	v, there := c.field(name, need)
	if !there {
		return false, false
	}
	b, kind := Bool(v)
	if kind != "" {
		c.fault(name, kind)
	}
	return b, kind == ""
}

// Texts reads an array of at least least strings.
func (c *Checker) Texts(name string, least int) (texts []string, ok bool) {
	v, there := c.field(name, Required)
	if !there {
		return nil, false
	}
	if v.Kind() != jsonscan.Array {
		c.fault(name, ListType)
		return nil, false
	}
	ok = true
	for i, item := range v.Items() {
		text, is := item.Text()
		if !is {
			c.fault(name+"."+strconv.Itoa(i), TextType)
			ok = false
		}
		texts = append(texts, text)
	}
	if ok && len(texts) < least {
		c.fault(name, TooShort)
		ok = false
	}
	return texts, ok
}

// End adds a fault for every member that was not asked for.
func (c *Checker) End() {
next:
	for _, m := range c.object.Members() {
		for _, name := range c.known {
			if m.Key == name {
				continue next
			}
		}
		c.fault(m.Key, ExtraForbidden)
	}
}

// Int coerces a value to an integer; kind is the type of the fault, or empty.
func Int(v value.Value) (n integer.Int, kind string) {
	switch v.Kind() {
	case jsonscan.Int:
		n, _ = v.Whole()
		return n, ""
	case jsonscan.Bool:
		if v.Truthy() {
			return integer.Of(1), ""
		}
		return n, ""
	case jsonscan.Float:
		f, _ := v.Float()
		switch {
		case f != math.Trunc(f): // NaN as well
			return n, IntFromFloat
		case f <= -wholeFloatLimit || f >= wholeFloatLimit:
			return n, IntParsingSize
		}
		return integer.Of(int64(f)), ""
	case jsonscan.String:
		text, _ := v.Text()
		return parseInt(text)
	}
	return n, IntType
}

// parseInt reads an integer text: white space around it, a sign, leading zeros, single underscores between digits and
// a fraction of zeros are in order.
func parseInt(text string) (n integer.Int, kind string) {
	text = strings.TrimFunc(text, unicode.IsSpace)
	if len(text) > longestInteger {
		return n, IntParsingSize
	}
	if whole, zeros, found := strings.Cut(text, "."); found {
		if zeros == "" || strings.Trim(zeros, "0") != "" {
			return n, IntParsing
		}
		text = whole
	}
	digits := strings.TrimPrefix(text, "-")
	negative := digits != text
	if !negative {
		digits = strings.TrimPrefix(text, "+")
	}
	plain := make([]byte, 0, len(digits)+1)
	if negative {
		plain = append(plain, '-')
	}
	last := byte('_')
	for i := range len(digits) {
		switch c := digits[i]; {
		case c-'0' < 10:
			plain = append(plain, c)
		case c != '_' || last == '_':
			return n, IntParsing
		}
		last = digits[i]
	}
	if last == '_' { // no digit at all, or an underscore at the end
		return n, IntParsing
	}
	n, _ = integer.Parse(string(plain))
	return n, ""
}

// words lists the texts that are bools.
var words = map[string]bool{
	"true": true, "t": true, "yes": true, "y": true, "on": true, "1": true,
	"false": false, "f": false, "no": false, "n": false, "off": false, "0": false,
}

// Bool coerces a value to a bool; kind is the type of the fault, or empty.
func Bool(v value.Value) (b bool, kind string) {
	whole := func(n int64) (bool, string) {
		if n != 0 && n != 1 {
			return false, BoolParsing
		}
		return n == 1, ""
	}
	switch v.Kind() {
	case jsonscan.Bool:
		return v.Truthy(), ""
	case jsonscan.Int:
		if n, ok := v.Int64(); ok {
			return whole(n)
		}
	case jsonscan.Float:
		if f, _ := v.Float(); f == math.Trunc(f) && f >= -wholeFloatLimit && f < wholeFloatLimit {
			return whole(int64(f))
		}
	case jsonscan.String:
		text, _ := v.Text()
		if b, ok := words[lowerASCII(text)]; ok {
			return b, ""
		}
		return false, BoolParsing
	}
	return false, BoolType
}

// lowerASCII makes capital letters small and leaves everything else, such as the Kelvin sign, as it is.
func lowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}
