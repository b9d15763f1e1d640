package filter

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/jsonscan"
)

// A Value is what a field has in one row. The zero Value is missing.
type Value struct {
	kind  valueKind
	truth bool
	whole integer.Int
	float float64
	text  string
	list  []Value
}

type valueKind uint8

const (
	missing valueKind = iota
	boolean
	whole
	float
	text
	list
	object // is there, and equal to nothing
)

// Bool makes a Value of a truth value.
func Bool(b bool) Value { return Value{kind: boolean, truth: b} }

// Int makes a Value of a whole number.
func Int(n int64) Value { return Value{kind: whole, whole: integer.Of(n)} }

// Whole makes a Value of a whole number of any size.
func Whole(n integer.Int) Value { return Value{kind: whole, whole: n} }

// Float makes a Value of a double. What is not a number is missing.
func Float(f float64) Value {
	if math.IsNaN(f) {
		return Value{}
	}
	return Value{kind: float, float: f}
}

// Text makes a Value of a text.
func Text(s string) Value { return Value{kind: text, text: s} }

// List makes a Value of several. An empty list is there but holds nothing.
func List(values ...Value) Value { return Value{kind: list, list: values} }

// Texts makes a list of texts.
func Texts(texts ...string) Value {
	values := make([]Value, len(texts))
	for i, s := range texts {
		values[i] = Text(s)
	}
	return List(values...)
}

// Number reads a number as JSON writes it: whole numbers of any size are exact, others are the nearest double. What
// is no such number, or is out of the range of doubles, gives a missing Value.
func Number(s string) Value {
	wholePart, ok := validNumber(s)
	if !ok {
		return Value{}
	}
	if wholePart {
		if len(s) > maxDigits {
			return Value{}
		}
		n, ok := integer.Parse(s)
		if !ok {
			return Value{}
		}
		return Whole(n)
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return Value{}
	}
	return Float(f)
}

// maxDigits bounds whole numbers. No row has longer ones, since they would be out of the range of doubles.
const maxDigits = 400

// validNumber checks the form of a JSON number; whole tells that it has neither fraction nor exponent.
func validNumber(s string) (whole, ok bool) {
	s = strings.TrimPrefix(s, "-")
	n := leadingDigits(s)
	if n == 0 || n > 1 && s[0] == '0' {
		return false, false
	}
	s, whole = s[n:], true
	if strings.HasPrefix(s, ".") {
		n := leadingDigits(s[1:])
		if n == 0 {
			return false, false
		}
		s, whole = s[1+n:], false
	}
	if s != "" && s[0]|0x20 == 'e' {
		s = s[1:]
		if s != "" && (s[0] == '+' || s[0] == '-') {
			s = s[1:]
		}
		n := leadingDigits(s)
		if n == 0 {
			return false, false
		}
		s, whole = s[n:], false
	}
	return whole, s == ""
}

func leadingDigits(s string) int {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return i
		}
	}
	return len(s)
}

// Of makes a Value of what stands in a row. null is missing; the elements of an array become a list.
func Of(v jsonscan.Value) Value {
	if v.IsArray() {
		values := []Value{}
		for e := v.Elements(); e.Next(); {
			values = append(values, scalar(e.Value))
		}
		return List(values...)
	}
	return scalar(v)
}

func scalar(v jsonscan.Value) Value {
	if v.IsNull() {
		return Value{}
	}
	switch v.Kind() {
	case jsonscan.Bool:
		truth, _ := v.Truth()
		return Bool(truth)
	case jsonscan.Int, jsonscan.Float:
		if n := Number(string(v.Raw())); n.kind != missing {
			return n
		}
		f, _ := v.Float()
		return Float(f)
	case jsonscan.String:
		return Text(v.Text())
	}
	return Value{kind: object}
}

// IsMissing tells whether there is no value.
func (v Value) IsMissing() bool { return v.kind == missing }

// Word is the value as a name of a group: a text as it is, everything else as [Value.String] has it; ok is false for
// what is missing.
func (v Value) Word() (word string, ok bool) {
	if v.kind == text {
		return v.text, true
	}
	return v.String(), v.kind != missing
}

// String gives the value as the language writes it, for messages.
func (v Value) String() string {
	switch v.kind {
	case missing:
		return "missing"
	case object:
		return "object"
	case list:
		parts := make([]string, len(v.list))
		for i, e := range v.list {
			parts[i] = e.String()
		}
		return "(" + strings.Join(parts, ", ") + ")"
	}
	return literal(v)
}

func (v Value) isNumber() bool { return v.kind == whole || v.kind == float }

// plain turns a double that is a whole number into one, so that equal numbers have one form.
func (v Value) plain() Value {
	if v.kind == float && v.float == math.Trunc(v.float) && math.Abs(v.float) < 1<<63 {
		return Int(int64(v.float))
	}
	return v
}

// order compares two numbers or two texts exactly; ok is false for anything else.
func (v Value) order(w Value) (c int, ok bool) {
	switch {
	case v.kind == text && w.kind == text:
		return strings.Compare(v.text, w.text), true
	case v.kind == whole && w.kind == whole:
		return v.whole.Cmp(w.whole), true
	case v.kind == float && w.kind == float:
		switch {
		case v.float < w.float:
			return -1, true
		case v.float > w.float:
			return 1, true
		}
		return 0, true
	case v.kind == whole && w.kind == float:
		return orderMixed(v.whole, w.float), true
	case v.kind == float && w.kind == whole:
		return -orderMixed(w.whole, v.float), true
	}
	return 0, false
}

// orderMixed compares a whole number with a double by their exact values.
func orderMixed(n integer.Int, f float64) int {
	if math.IsInf(f, 0) {
		if f > 0 {
			return -1
		}
		return 1
	}
	floor := math.Floor(f)
	if c := n.Cmp(wholeOf(floor)); c != 0 {
		return c
	}
	if f > floor {
		return -1
	}
	return 0
}

// wholeOf gives the whole number that a finite double without fraction is.
func wholeOf(f float64) integer.Int {
	if -(1<<63) <= f && f < 1<<63 {
		return integer.Of(int64(f))
	}
	b, _ := new(big.Float).SetFloat64(f).Int(nil)
	n, _ := integer.Parse(b.String())
	return n
}

// equal tells whether two single values are the same. A number is no text, and a bool is no number.
func (v Value) equal(w Value) bool {
	if v.kind == boolean && w.kind == boolean {
		return v.truth == w.truth
	}
	c, ok := v.order(w)
	return ok && c == 0
}

// each calls f with the value or, of a list, with every element, until f gives true.
func (v Value) each(f func(Value) bool) bool {
	if v.kind != list {
		return f(v)
	}
	for _, e := range v.list {
		if e.kind != list && f(e) {
			return true
		}
	}
	return false
}

// numberKey gives equal numbers the same text and different ones different texts.
func numberKey(dst []byte, v Value) []byte {
	v = v.plain()
	switch {
	case v.kind == whole:
		return v.whole.Append(dst)
	case v.float == math.Trunc(v.float) && !math.IsInf(v.float, 0):
		return wholeOf(v.float).Append(dst)
	}
	return strconv.AppendFloat(dst, v.float, 'g', -1, 64)
}
