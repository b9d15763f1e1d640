package gojs

import (
	"math"
	"strconv"
	"strings"
)

// Value is a JavaScript value. Its types are [Undefined], [Null], [Bool],
// [Number], [String], *[Symbol] and *[Object]; a nil Value counts as Undefined.
// Values are comparable with ==, which is JavaScript's === except that Go
// compares strings by their bytes.
type Value interface {
	// TypeOf is the answer of JavaScript's typeof operator.
	TypeOf() string
}

type (
	// Undefined is the value of a missing property or result.
	Undefined struct{}
	// Null is JavaScript's null.
	Null struct{}
	// Bool is true or false.
	Bool bool
	// Number is any JavaScript number.
	Number float64
	// String is text in UTF-8; it never holds a lone surrogate.
	String string
	// Symbol is a unique value, equal to itself alone.
	Symbol struct{ description string }
)

func (Undefined) TypeOf() string { return "undefined" }
func (Null) TypeOf() string      { return "object" }
func (Bool) TypeOf() string      { return "boolean" }
func (Number) TypeOf() string    { return "number" }
func (String) TypeOf() string    { return "string" }
func (*Symbol) TypeOf() string   { return "symbol" }

// TypeOf is "function" for an object that can be called, otherwise "object".
func (o *Object) TypeOf() string {
	if o.Callable() {
		return "function"
	}
	return "object"
}

// norm replaces the nil forms that Go code can produce by Undefined.
func norm(v Value) Value {
	switch x := v.(type) {
	case nil:
		return Undefined{}
	case *Object:
		if x == nil {
			return Undefined{}
		}
	case *Symbol:
		if x == nil {
			return Undefined{}
		}
	}
	return v
}

// Truthy reports whether v counts as true in a condition.
func Truthy(v Value) bool {
	switch x := norm(v).(type) {
	case Undefined, Null:
		return false
	case Bool:
		return bool(x)
	case Number:
		return x != 0 && x == x
	case String:
		return x != ""
	}
	return true
}

// Arrays can contain themselves and share parts, so the text of one is cut with
// an ellipsis below a depth and after a number of elements.
const (
	maxTextDepth    = 16
	maxTextElements = 1 << 20
)

// Text is the text of v as JavaScript's String(v) gives it for values without
// a toString of their own; functions of the guest are never called.
func Text(v Value) string {
	w := textWriter{left: maxTextElements}
	w.value(v)
	return w.String()
}

type textWriter struct {
	strings.Builder
	depth, left int
}

func (w *textWriter) value(v Value) {
	switch x := norm(v).(type) {
	case Undefined:
		w.WriteString("undefined")
	case Null:
		w.WriteString("null")
	case Bool:
		w.WriteString(strconv.FormatBool(bool(x)))
	case Number:
		w.WriteString(numberText(float64(x)))
	case String:
		w.WriteString(string(x))
	case *Symbol:
		w.WriteString("Symbol(" + x.description + ")")
	case *Object:
		w.object(x)
	}
}

func (w *textWriter) object(o *Object) {
	if w.depth++; w.depth > maxTextDepth {
		w.WriteString("…")
		w.depth--
		return
	}
	defer func() { w.depth-- }()
	switch d := o.data.(type) {
	case *arrayData:
		w.join(",", len(d.elems), func(i int) { w.element(d.elems[i]) })
	case *viewData:
		w.join(",", d.length(), func(i int) { w.WriteString(numberText(d.get(i))) })
	case *funcData:
		w.WriteString("function " + d.name + "() { [native code] }")
	case *dateData:
		w.WriteString(d.text())
	default:
		if !o.inherits(o.realm.errorProto) {
			w.WriteString("[object Object]")
			return
		}
		w.value(o.Get("name"))
		if msg := o.Get("message"); Truthy(msg) {
			w.WriteString(": ")
			w.value(msg)
		}
	}
}

func (w *textWriter) join(sep string, n int, element func(i int)) {
	for i := range n {
		if i > 0 {
			w.WriteString(sep)
		}
		if w.left--; w.left < 0 {
			w.WriteString("…")
			return
		}
		element(i)
	}
}

// element writes one element of an array, where undefined and null are empty.
func (w *textWriter) element(v Value) {
	switch v := norm(v).(type) {
	case Undefined, Null:
	default:
		w.value(v)
	}
}

// numberText writes a number as JavaScript does: shortest digits that read back
// the same, plain notation for exponents from -7 to 20.
func numberText(f float64) string {
	switch {
	case f != f:
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	case f == 0:
		return "0"
	}
	if abs := math.Abs(f); abs >= 1e-6 && abs < 1e21 {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	s := strconv.FormatFloat(f, 'e', -1, 64)
	// Go pads the exponent to two digits, JavaScript does not.
	mant, exp, _ := strings.Cut(s, "e")
	return mant + "e" + exp[:1] + strings.TrimLeft(exp[1:], "0")
}

// toNumber converts v as JavaScript's Number(v) does for values without a
// valueOf of their own.
func toNumber(v Value) float64 {
	switch x := norm(v).(type) {
	case Null:
		return 0
	case Bool:
		if x {
			return 1
		}
		return 0
	case Number:
		return float64(x)
	case String:
		return parseNumber(string(x))
	case *Object:
		if d, ok := x.data.(*dateData); ok {
			return d.ms
		}
	}
	return math.NaN()
}

func parseNumber(s string) float64 {
	s = strings.TrimSpace(s)
	if s == "" {
		return 0
	}
	if len(s) > 2 && s[0] == '0' && strings.ContainsRune("xXoObB", rune(s[1])) {
		if n, err := strconv.ParseUint(s, 0, 64); err == nil && !strings.Contains(s, "_") {
			return float64(n)
		}
		return math.NaN()
	}
	if t := strings.TrimLeft(s, "+-"); t == "Infinity" && len(s)-len(t) <= 1 {
		if s[0] == '-' {
			return math.Inf(-1)
		}
		return math.Inf(1)
	}
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && !strings.ContainsRune("+-.eE", rune(c)) {
			return math.NaN()
		}
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil && !math.IsInf(f, 0) {
		return math.NaN()
	}
	return f
}

// toInt converts v to an integer as JavaScript's ToIntegerOrInfinity does,
// clamped to what an int64 holds exactly as a float.
func toInt(v Value) int64 {
	f := toNumber(v)
	const limit = 1 << 53
	switch {
	case f != f:
		return 0
	case f > limit:
		return limit
	case f < -limit:
		return -limit
	}
	return int64(f)
}

// arg is the i-th argument, Undefined when it is missing.
func arg(args []Value, i int) Value {
	if i < len(args) {
		return norm(args[i])
	}
	return Undefined{}
}

// span resolves the begin and end arguments of slice-like methods, which may be
// missing or count from the end, against a length.
func span(args []Value, at, n int) (lo, hi int) {
	pick := func(v Value, missing int) int {
		if _, ok := v.(Undefined); ok {
			return missing
		}
		i := toInt(v)
		if i < 0 {
			i += int64(n)
		}
		return int(min(max(i, 0), int64(n)))
	}
	lo = pick(arg(args, at), 0)
	hi = pick(arg(args, at+1), n)
	return lo, max(lo, hi)
}
