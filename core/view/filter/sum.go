package filter

import "strings"

// MaxSigns bounds the signs of calculations in a filter.
const MaxSigns = 1000

// operand reads one side of a comparison, which may be a calculation; field is the other side, if that is a field.
func (p *parser) operand(field *Ref) operand {
	place := p.peek(operandMode)
	return p.calculation(p.signed(field), place, 1)
}

// calculating tells which sign of a calculation comes next, 0 for none, and where it ends.
func (p *parser) calculating() (op byte, end int) {
	if p.err != nil {
		return 0, 0
	}
	t := p.peek(operandMode)
	switch {
	case t.is("+", "-", "*", "/"):
		return t.value[0], t.end
	case (t.kind == tokNumber || t.kind == tokLoose) && t.value[0] == '-':
		return '-', t.start + 1 // behind a number the sign is not that of the next one
	}
	return 0, 0
}

// calculation reads the signs behind a first number, as far as they bind at least as tightly as level. place is where
// the number stands.
func (p *parser) calculation(left operand, place token, level int) operand {
	for p.err == nil {
		op, end := p.calculating()
		if op == 0 || levels[op] < level {
			break
		}
		p.number(left, place)
		if p.signs++; p.err == nil && p.signs > MaxSigns {
			p.failAt(end-1, end, "", "more than %d signs of calculations", MaxSigns)
		}
		if p.err != nil {
			break
		}
		p.at = end
		p.against, p.ordered, p.calculated = NumberKind, false, true
		next := p.peek(operandMode)
		right := p.calculation(p.signed(nil), next, levels[op]+1)
		p.calculated = false
		p.number(right, next)
		left = operand{sum: &sum{op, left, right}}
	}
	return left
}

// signed reads a number with any signs in front of it, or another value without one.
func (p *parser) signed(field *Ref) operand {
	t := p.peek(operandMode)
	if !t.is("-") {
		return p.primary(field)
	}
	var o operand
	p.nested(t, func() node {
		next := p.peek(operandMode)
		if f := p.names().find(next.value); p.leads(t) && next.kind == tokWord && f != nil && (f.Kind == TextKind || f.Kind == BoolKind || p.is(next, ":")) {
			p.fail(t, "not ", "%s has no meaning before %s, which is no number", shown("-"), f.Name)
		}
		o = p.signed(nil)
		p.number(o, next)
		return nil
	})
	switch {
	case p.err != nil:
		return operand{}
	case o.ref == nil && o.sum == nil:
		return operand{value: calculate('-', Int(0), o.value).plain()}
	}
	return operand{sum: &sum{op: negation, left: o}}
}

// grouped reads a side of a comparison in parentheses.
func (p *parser) grouped(open token, field *Ref) operand {
	var o operand
	p.nested(open, func() node {
		o = p.operand(field)
		end := p.next(operandMode)
		switch {
		case p.err != nil || end.is(")"):
		case end.is(","):
			p.fail(end, "", "one value must stand here; several follow the word in: in (1, 2)")
		case end.kind == tokEnd:
			p.fail(end, ")", "the ( at character %d is not closed", p.column(open.start))
		default:
			p.fail(end, "", "%s cannot stand here", shown(end.value))
		}
		return nil
	})
	return o
}

// number refuses to calculate with what is never a single number. t is where it stands.
func (p *parser) number(o operand, t token) {
	f := p.fieldOf(o.ref)
	switch {
	case p.err != nil || o.sum != nil:
	case o.ref == nil && !o.value.isNumber() && t.kind == tokWord:
		p.fail(t, nearest(t.value, p.names().names()), "there is no field %s to calculate with", shown(t.value))
	case o.ref == nil && !o.value.isNumber():
		p.fail(t, "", "only numbers can be calculated with")
	case f != nil && f.List:
		p.fail(t, "", "%s is a list, and only single numbers can be calculated with", f.Name)
	case f != nil && f.Kind != NumberKind && f.Kind != AnyKind:
		p.fail(t, "", "%s is %s, and only numbers can be calculated with", f.Name, f.Kind)
	}
}

// calculates tells whether the parenthesis at t holds a side of a comparison, by what follows its end. It reads no
// tokens on the way, so that it costs little for each of many parentheses.
func (p *parser) calculates(t token) bool {
	depth := 0
	for i := t.start; i < len(p.text); i++ {
		switch c := p.text[i]; c {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				at, err := p.at, p.err
				p.at = i + 1
				next := p.peek(operandMode)
				op, _ := p.calculating()
				p.at, p.err = at, err
				_, compared := parseOp(next.value)
				return next.kind == tokSign && compared || op != 0
			}
		case '"', '\'':
			for i++; i < len(p.text) && p.text[i] != c; i++ {
				if p.text[i] == '\\' {
					i++
				}
			}
		}
	}
	return false
}

// asWord gives a word of the language in its usual letters.
func asWord(t token) string { return strings.ToLower(t.value) }
