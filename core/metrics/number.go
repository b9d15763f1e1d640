package metrics

import (
	"math"
	"strconv"

	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/jsontext"
	"github.com/rollscope/rollscope/core/value"
)

// A Number is a metric's value with its spelling: a whole number or a float. The zero Number is the whole number 0.
type Number struct {
	float bool
	f     float64
	n     integer.Int
}

// Whole makes a whole number.
func Whole(n int64) Number { return Number{n: integer.Of(n)} }

// Real makes a float.
func Real(f float64) Number { return Number{float: true, f: f} }

func exact(n integer.Int) Number { return Number{n: n} }

// IsWhole tells whether the number is spelled without a fraction.
func (n Number) IsWhole() bool { return !n.float }

// Float is the value as a double.
func (n Number) Float() float64 {
	if n.float {
		return n.f
	}
	return intFloat(n.n)
}

// Finite tells whether the number can stand in a JSON text.
func (n Number) Finite() bool { return !n.float || !math.IsNaN(n.f) && !math.IsInf(n.f, 0) }

// Append appends the number as the files of a run spell it.
func (n Number) Append(dst []byte) []byte {
	if n.float {
		return jsontext.AppendFloat(dst, n.f)
	}
	return n.n.Append(dst)
}

// String gives the text of Append.
func (n Number) String() string { return string(n.Append(nil)) }

// A Metric is a named number.
type Metric struct {
	Name  string
	Value Number
}

// Find gives the value of the metric with a name.
func Find(list []Metric, name string) (Number, bool) {
	for i := range list {
		if list[i].Name == name {
			return list[i].Value, true
		}
	}
	return Number{}, false
}

func intFloat(n integer.Int) float64 {
	if small, ok := n.Int64(); ok {
		return float64(small)
	}
	f, _ := strconv.ParseFloat(n.String(), 64)
	return f
}

// Value is the number as a JSON value; one that no JSON text can hold is null.
func (n Number) Value() value.Value {
	switch {
	case !n.Finite():
		return value.Null
	case n.float:
		return value.Float(n.f)
	}
	return value.Whole(n.n)
}
