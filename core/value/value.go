package value

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"sync"

	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/jsonscan"
)

// A Value is one JSON value. The zero Value is absent, which is not null. Values are not changed after they were
// made and may be shared.
type Value struct {
	kind  jsonscan.Kind
	bits  uint64   // of a float; an integer that fits int64; 1 for true
	text  string   // of a string; the digits of an integer that does not fit int64
	parts []Member // of an object; of an array, without keys
}

// A Member is a member of an object.
type Member struct {
	Key   string
	Value Value
}

// Null is the value null.
var Null = Value{kind: jsonscan.Null}

// Bool makes true or false.
func Bool(b bool) Value {
	v := Value{kind: jsonscan.Bool}
	if b {
		v.bits = 1
	}
	return v
}

// Int makes an integer.
func Int(n int64) Value { return Value{kind: jsonscan.Int, bits: uint64(n)} }

// Whole makes an integer of any size.
func Whole(n integer.Int) Value {
	if small, ok := n.Int64(); ok {
		return Int(small)
	}
	return Value{kind: jsonscan.Int, text: n.String()}
}

// Float makes a float.
func Float(f float64) Value { return Value{kind: jsonscan.Float, bits: math.Float64bits(f)} }

// Text makes a string. Bytes that are not UTF-8, as a file name may have, become U+FFFD.
func Text(s string) Value {
	return Value{kind: jsonscan.String, text: strings.ToValidUTF8(s, "\uFFFD")}
}

// TextOrNull makes a string, or null of the empty one.
func TextOrNull(s string) Value {
	if s == "" {
		return Null
	}
	return Text(s)
}

// List makes an array.
func List(items ...Value) Value {
	v := Value{kind: jsonscan.Array, parts: make([]Member, len(items))}
	for i, item := range items {
		v.parts[i].Value = item
	}
	return v
}

// Texts makes an array of strings.
func Texts(texts []string) Value {
	v := Value{kind: jsonscan.Array, parts: make([]Member, len(texts))}
	for i, text := range texts {
		v.parts[i].Value = Text(text)
	}
	return v
}

// Object makes an object of members whose keys differ.
func Object(members ...Member) Value { return Value{kind: jsonscan.Object, parts: members} }

// M makes a member.
func M(key string, v Value) Member { return Member{key, v} }

// Of keeps a scanned value. Of repeated keys the last value stays, in the place of the first.
func Of(v jsonscan.Value) Value {
	switch kind := v.Kind(); kind {
	case jsonscan.Null:
		return Null
	case jsonscan.Bool:
		b, _ := v.Truth()
		return Bool(b)
	case jsonscan.Int:
		n, _ := v.Integer()
		return Whole(integer.FromUint(n.Negative, n.Magnitude))
	case jsonscan.Float:
		f, _ := v.Float()
		return Float(f)
	case jsonscan.String:
		return Value{kind: kind, text: v.Text()}
	case jsonscan.Array:
		count, _ := v.Parts()
		list := Value{kind: kind, parts: make([]Member, 0, count)}
		for e := v.Elements(); e.Next(); {
			list.parts = append(list.parts, Member{Value: Of(e.Value)})
		}
		return list
	case jsonscan.Object:
		count, _ := v.Parts()
		b := builder{members: make([]Member, 0, count)}
		for m := v.Members(); m.Next(); {
			b.add(string(m.Key), Of(m.Value))
		}
		return Object(b.members...)
	}
	return Value{}
}

// Strict reads a text as the readers of rows do (spec run-folder §4.1).
func Strict(text []byte) (Value, error) {
	s := scanners.Get().(*jsonscan.Scanner)
	defer scanners.Put(s)
	v, err := s.Scan(text)
	if err != nil {
		return Value{}, err
	}
	return Of(v), nil
}

// scanners are used again, since one is much larger than most texts.
var scanners = sync.Pool{New: func() any { return new(jsonscan.Scanner) }}

// A builder collects members; a repeated key replaces the value that is there.
type builder struct {
	members []Member
	at      map[string]int // only of large objects
}

// searched is the number of members up to which a repeated key is looked for one by one.
const searched = 16

func (b *builder) add(key string, v Value) {
	if b.at == nil {
		for i := range b.members {
			if b.members[i].Key == key {
				b.members[i].Value = v
				return
			}
		}
		if len(b.members) == searched {
			b.at = make(map[string]int, 2*searched)
			for i := range b.members {
				b.at[b.members[i].Key] = i
			}
		}
	} else if i, ok := b.at[key]; ok {
		b.members[i].Value = v
		return
	}
	if b.at != nil {
		b.at[key] = len(b.members)
	}
	b.members = append(b.members, Member{key, v})
}

// Kind tells what the value is.
func (v Value) Kind() jsonscan.Kind { return v.kind }

// Exists tells whether the value is there at all; null exists.
func (v Value) Exists() bool { return v.kind != jsonscan.Absent }

// IsNull tells whether the value is null or absent.
func (v Value) IsNull() bool { return v.kind <= jsonscan.Null }

// IsObject tells whether the value is an object.
func (v Value) IsObject() bool { return v.kind == jsonscan.Object }

// OrNull is the value itself, or null if it is absent.
func (v Value) OrNull() Value {
	if v.kind == jsonscan.Absent {
		return Null
	}
	return v
}

// Truthy follows the reference's language: absent, null, false, zero, "", [] and {} are false.
func (v Value) Truthy() bool {
	switch v.kind {
	case jsonscan.Absent, jsonscan.Null:
		return false
	case jsonscan.Bool:
		return v.bits != 0
	case jsonscan.Int:
		return v.bits != 0 || v.text != ""
	case jsonscan.Float:
		return math.Float64frombits(v.bits) != 0
	case jsonscan.String:
		return v.text != ""
	}
	return len(v.parts) > 0
}

// Truth is the value of a bool; ok is false for every other kind.
func (v Value) Truth() (truth, ok bool) {
	ok = v.kind == jsonscan.Bool
	return ok && v.bits != 0, ok
}

// Text is the content of a string; ok is false for every other kind.
func (v Value) Text() (text string, ok bool) {
	if v.kind != jsonscan.String {
		return "", false
	}
	return v.text, true
}

// Is tells whether the value is exactly this string.
func (v Value) Is(s string) bool { return v.kind == jsonscan.String && v.text == s }

// Whole is the value of an integer; ok is false for every other kind.
func (v Value) Whole() (n integer.Int, ok bool) {
	switch {
	case v.kind != jsonscan.Int:
		return n, false
	case v.text == "":
		return integer.Of(int64(v.bits)), true
	}
	return integer.Parse(v.text)
}

// Int64 is the value of an integer that fits; ok is false for every other value.
func (v Value) Int64() (n int64, ok bool) {
	return int64(v.bits), v.kind == jsonscan.Int && v.text == ""
}

// Float is the value of a float; ok is false for every other kind, integers included.
func (v Value) Float() (f float64, ok bool) {
	if v.kind != jsonscan.Float {
		return 0, false
	}
	return math.Float64frombits(v.bits), true
}

// Number is the nearest double of an integer or a float; ok is false for every other kind.
func (v Value) Number() (f float64, ok bool) {
	switch {
	case v.kind == jsonscan.Float:
		return math.Float64frombits(v.bits), true
	case v.kind != jsonscan.Int:
		return 0, false
	case v.text == "":
		return float64(int64(v.bits)), true
	}
	f, _ = strconv.ParseFloat(v.text, 64)
	return f, true
}

// Get finds a member of an object by its name; absent if there is none or the value is no object.
func (v Value) Get(key string) Value {
	for i := range v.Members() {
		if v.parts[i].Key == key {
			return v.parts[i].Value
		}
	}
	return Value{}
}

// Members are the members of an object in the order of the text, nil for every other kind. They must not be changed.
func (v Value) Members() []Member {
	if v.kind != jsonscan.Object {
		return nil
	}
	return v.parts
}

// Len is the number of members or elements.
func (v Value) Len() int { return len(v.parts) }

// At is an element of an array.
func (v Value) At(i int) Value { return v.parts[i].Value }

// Height counts the levels of nesting, the value itself included, as [jsonscan.Value.Height] does.
func (v Value) Height() int {
	inner := 0
	for i := range v.parts {
		inner = max(inner, v.parts[i].Value.Height())
	}
	return inner + 1
}

// Items are the elements of an array, nil for every other kind.
func (v Value) Items() []Value {
	if v.kind != jsonscan.Array {
		return nil
	}
	items := make([]Value, len(v.parts))
	for i := range v.parts {
		items[i] = v.parts[i].Value
	}
	return items
}

// With gives an object with one member replaced, or added at the end.
func (v Value) With(key string, member Value) Value {
	members := append([]Member(nil), v.Members()...)
	for i := range members {
		if members[i].Key == key {
			members[i].Value = member
			return Object(members...)
		}
	}
	return Object(append(members, Member{key, member})...)
}

// Without gives an object without some members.
func (v Value) Without(keys ...string) Value {
	members := make([]Member, 0, len(v.Members()))
next:
	for _, m := range v.Members() {
		for _, key := range keys {
			if m.Key == key {
				continue next
			}
		}
		members = append(members, m)
	}
	return Object(members...)
}

// Equal compares as the reference's language does: true, 1 and 1.0 are equal, the order of keys does not matter.
func Equal(a, b Value) bool {
	return string(AppendKey(nil, a)) == string(AppendKey(nil, b))
}

// AppendKey appends a text that two values share exactly if they are equal (see [Equal]). Absent counts as null. It
// is fit for a map that takes values as keys.
func AppendKey(dst []byte, v Value) []byte { return appendValue(dst, v, &keyForm) }

// Key is [AppendKey] as a string.
func Key(v Value) string { return string(AppendKey(nil, v)) }

// keyForm writes equal numbers alike.
var keyForm = Form{number: func(dst []byte, v Value) []byte {
	switch v.kind {
	case jsonscan.Bool:
		return strconv.AppendUint(dst, v.bits, 10)
	case jsonscan.Float:
		f := math.Float64frombits(v.bits)
		if f != math.Trunc(f) || math.IsInf(f, 0) {
			return strconv.AppendFloat(dst, f, 'g', -1, 64)
		}
		if math.Abs(f) < 1<<62 {
			return strconv.AppendInt(dst, int64(f), 10)
		}
		whole, _ := new(big.Float).SetFloat64(f).Int(nil)
		return whole.Append(dst, 10)
	}
	return appendInt(dst, v)
}, sorted: true, unifies: true}

func appendInt(dst []byte, v Value) []byte {
	if v.text != "" {
		return append(dst, v.text...)
	}
	return strconv.AppendInt(dst, int64(v.bits), 10)
}
