package lax

import "github.com/rollscope/rollscope/core/integer"

// A Text is a string field that may be null: absent, null and a missing field are all the zero Text. The content
// is decoded; how long it lives, its reader says.
type Text struct {
	Bytes []byte
	Set   bool
}

// TextOf makes a text that is set.
func TextOf(s string) Text { return Text{Bytes: []byte(s), Set: true} }

// Empty tells whether the text is null or "".
func (t Text) Empty() bool { return len(t.Bytes) == 0 }

// Is tells whether the text is set and has this content.
func (t Text) Is(s string) bool { return t.Set && string(t.Bytes) == s }

// Equal tells whether two texts are both null, or both set with the same content.
func (t Text) Equal(u Text) bool { return t.Set == u.Set && string(t.Bytes) == string(u.Bytes) }

// String gives the content, "" for null.
func (t Text) String() string { return string(t.Bytes) }

// A Count is a whole-number field that may be null.
type Count struct {
	Int integer.Int
	Set bool
}

// CountOf makes a count that is set.
func CountOf(n int64) Count { return Count{integer.Of(n), true} }

// A Real is a float field that may be null. It may be infinite or NaN: numeric strings say so.
type Real struct {
	Value float64
	Set   bool
}

// RealOf makes a real that is set.
func RealOf(f float64) Real { return Real{f, true} }

// A Flag is a bool field that may be null.
type Flag struct{ True, Set bool }
