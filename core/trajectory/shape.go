package trajectory

import "github.com/rollscope/rollscope/core/jsonscan"

// The schema is data: a table names the fields of an object in the order they are written, and a shape says
// what the value of a field must be. The validator, and whatever writes or builds trajectories, range over
// the same tables.

// kind is the basic form of a shape.
type kind uint8

const (
	kindFree   kind = iota // anything, limited in depth
	kindText               // a string
	kindWhole              // a whole number, by the lax rules
	kindNumber             // a float, by the lax rules
	kindFlag               // a bool, by the lax rules
	kindWord               // one of some strings, exactly
	kindList               // an array of one shape
	kindMap                // an object of any names and values of one shape
	kindObject             // an object with a table
	kindTagged             // an object whose type picks the table
	kindOpen               // any object; its members are free values
	kindSeries             // an array, object or string, not looked into
	kindVideo              // a string that is not blank, or an object whose url is one
	kindItem               // an item of a conversation
)

// A shape says what a value must be.
type shape struct {
	kind    kind
	bounded bool // a number must not be below least
	least   int8
	limit   int16    // of a free value: levels of nesting it may have, itself included
	words   []string // of a word
	of      *shape   // of a list or map: its elements
	table   *table
	union   *union
	or      *shape // another form, of another JSON kind
}

// The limits of free values, in levels of nesting (spec health §5.2).
const (
	freeLevels = 255
	keptLevels = 254 // inside a conversation item
)

var (
	text   = shape{kind: kindText}
	whole  = shape{kind: kindWhole}
	count  = shape{kind: kindWhole, bounded: true}
	number = shape{kind: kindNumber}
	span   = shape{kind: kindNumber, bounded: true} // a duration
	flag   = shape{kind: kindFlag}

	free = shape{kind: kindFree, limit: freeLevels}
	kept = shape{kind: kindFree, limit: keptLevels} // a free value of a conversation item
	open = shape{kind: kindOpen}
)

func word(words ...string) shape      { return shape{kind: kindWord, words: words} }
func list(of shape) shape             { return shape{kind: kindList, of: &of} }
func mapOf(of shape) shape            { return shape{kind: kindMap, of: &of} }
func object(t *table) shape           { return shape{kind: kindObject, table: t} }
func tagged(u *union) shape           { return shape{kind: kindTagged, union: u} }
func (s shape) from(least int8) shape { s.bounded, s.least = true, least; return s }

// either joins shapes that differ in their JSON kind; a value of no such kind is held against the last.
func either(forms ...shape) shape {
	s := forms[0]
	if len(forms) > 1 {
		or := either(forms[1:]...)
		s.or = &or
	}
	return s
}

// A field is one key of an object.
type field struct {
	name     string
	shape    shape
	required bool   // must be there
	null     bool   // null may stand for no value
	preset   string // what is written when the field is absent, as JSON; "" leaves it out
}

// must, may and opt are the three manners of a field: there and set; null when absent; absent or set.
func must(name string, s shape) field { return field{name: name, shape: s, required: true} }
func may(name string, s shape) field  { return field{name: name, shape: s, null: true, preset: "null"} }
func opt(name string, s shape) field  { return field{name: name, shape: s} }

// by sets what is written when the field is absent.
func (f field) by(preset string) field { f.preset = preset; return f }

// typed marks the place of `type` among the fields of a variant. Its word is the variant's tag.
var typed = field{name: "type"}

// extra says what becomes of keys that no field has.
type extra uint8

const (
	refused extra = iota
	dropped
	keeps // written as they are behind the fields
)

// rule is a condition over several fields of one object.
type rule uint8

const (
	ruleNone  rule = iota
	ruleRef        // a call id, or a model server together with a response id
	ruleTimes      // does not end before it starts
	ruleVideo      // exactly one of its fields is a key
)

// part says which part of a [Record] an object becomes.
type part uint8

const (
	partNone part = iota
	partInvocation
	partTurn
	partCall
	partMetadata
	partStats
	partTool
	partGap
	partRef
	partModelRef
	partSandbox
	partCompaction
	partObservedTool
)

// A table lists the fields of one kind of object in written order.
type table struct {
	name   string // for people
	tag    string // the value of `type` that picks it
	fields []field
	names  *jsonscan.Names // of the fields, see compile
	extra  extra
	rule   rule
	part   part
	sparse bool   // absent fields are left out when written
	tokens bool   // token fields are written in front of the others
	bare   bool   // `type` may be absent
	typeAt int8   // the place of `type`
	signs  []int8 // of a message kind: where the sign table has its fields
}

// A union is a choice of tables by `type`.
type union struct {
	name   string
	tables []*table
	bare   bool // without a type the first table that fits is taken
	kinds  bool // it is `kind` that tells them apart
}

// key names the field that picks the table.
func (u *union) key() string {
	if u.kinds {
		return "kind"
	}
	return typed.name
}

// tagged completes a table whose fields are told apart by `type`.
func (t table) tagged(tag string, fields []field) *table {
	t.tag, t.fields = tag, fields
	if t.name == "" {
		t.name = tag
	}
	for i := range fields {
		if f := &fields[i]; f.name == typed.name && f.shape.kind == kindFree {
			t.typeAt = int8(i)
			*f = field{name: f.name, shape: word(tag), required: !t.bare}
			if t.bare {
				f.preset = `"` + tag + `"`
			}
		}
	}
	return &t
}

// init compiles the tables that can be reached from where reading begins.
func init() {
	for _, t := range [...]*table{&schema, &bundleTable, &signs, easyMessage, inputMessage, outputMessage} {
		t.compile()
	}
	for _, t := range itemKinds {
		t.compile()
	}
}

// compile makes the names of the fields, here and in the tables of their shapes.
func (t *table) compile() {
	if t.names != nil {
		return
	}
	names := make([]string, len(t.fields))
	for i := range t.fields {
		names[i] = t.fields[i].name
	}
	t.names = jsonscan.NewNames(names...)
	for i := range t.fields {
		t.fields[i].shape.compile()
	}
}

func (s *shape) compile() {
	if s.table != nil {
		s.table.compile()
	}
	if s.union != nil {
		for _, t := range s.union.tables {
			t.compile()
		}
	}
	if s.of != nil {
		s.of.compile()
	}
	if s.or != nil {
		s.or.compile()
	}
}

// find gives the index of the field of that name, −1 if there is none. Objects mostly have their keys in
// written order, so the search begins where the next key is expected.
func (t *table) find(key []byte, next int) int {
	for i := next; i < len(t.fields); i++ {
		if t.fields[i].name == string(key) {
			return i
		}
	}
	for i := 0; i < next; i++ {
		if t.fields[i].name == string(key) {
			return i
		}
	}
	return -1
}
