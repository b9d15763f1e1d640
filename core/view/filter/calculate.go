package filter

import (
	"math"
	"math/big"

	"github.com/rollscope/rollscope/core/integer"
)

// A sum is a calculation with one or two operands: + - * / or, with a right operand of none, the other sign.
type sum struct {
	op          byte // '+', '-', '*', '/' or 'n' for the other sign of left
	left, right operand
}

const negation = 'n'

// get calculates for a row. What is no single number makes the result missing.
func (s *sum) get(row Row) Value {
	left := s.left.get(row)
	if s.op == negation {
		return calculate('-', Int(0), left)
	}
	if left.kind == missing {
		return Value{}
	}
	return calculate(s.op, left, s.right.get(row))
}

// calculate gives the result for two numbers. Whole numbers are exact, with a quotient that has a remainder as the
// nearest double; with any other number on one side the result is that of doubles. A division by zero, a result
// beyond the doubles and anything that is no single number give a missing Value.
func calculate(op byte, a, b Value) Value {
	if !a.isNumber() || !b.isNumber() {
		return Value{}
	}
	a, b = a.plain(), b.plain()
	if a.kind == whole && b.kind == whole {
		return calculateWhole(op, a.whole, b.whole)
	}
	f, g := a.double(), b.double()
	switch op {
	case '+':
		f += g
	case '-':
		f -= g
	case '*':
		f *= g
	case '/':
		f /= g
	}
	if math.IsInf(f, 0) {
		return Value{}
	}
	return Float(f)
}

func calculateWhole(op byte, a, b integer.Int) Value {
	x, small := a.Int64()
	y, both := b.Int64()
	if small && both && -1<<31 < x && x < 1<<31 && -1<<31 < y && y < 1<<31 {
		switch {
		case op == '+':
			return Int(x + y)
		case op == '-':
			return Int(x - y)
		case op == '*':
			return Int(x * y)
		case y == 0:
			return Value{}
		case x%y == 0:
			return Int(x / y)
		}
		return Float(float64(x) / float64(y))
	}
	p, q := wide(a), wide(b)
	switch op {
	case '+':
		p.Add(p, q)
	case '-':
		p.Sub(p, q)
	case '*':
		p.Mul(p, q)
	case '/':
		if q.Sign() == 0 {
			return Value{}
		}
		quotient := new(big.Rat).SetFrac(p, q)
		if !quotient.IsInt() {
			f, _ := quotient.Float64()
			return Float(f)
		}
		p = quotient.Num()
	}
	if f, _ := new(big.Float).SetInt(p).Float64(); math.IsInf(f, 0) {
		return Value{} // and so factors cannot grow a number without a bound
	}
	n, _ := integer.Parse(p.String())
	return Whole(n)
}

func wide(n integer.Int) *big.Int {
	if small, ok := n.Int64(); ok {
		return big.NewInt(small)
	}
	b, _ := new(big.Int).SetString(n.String(), 10)
	return b
}

// double is the nearest double of a number.
func (v Value) double() float64 {
	if v.kind == float {
		return v.float
	}
	if small, ok := v.whole.Int64(); ok {
		return float64(small)
	}
	f, _ := new(big.Float).SetInt(wide(v.whole)).Float64()
	return f
}
