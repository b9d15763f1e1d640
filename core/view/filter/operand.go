package filter

import (
	"slices"
	"strings"
)

// value reads a value where nothing else can stand: behind ":", "~" and in a list. What it is depends on the field;
// without one it is a text.
func (p *parser) value(ref *Ref) (Value, token) {
	t := p.expect(valueMode, wantValue, ref)
	if p.err != nil {
		return Value{}, t
	}
	p.next(valueMode)
	kind := TextKind
	if ref != nil {
		kind = p.kind(ref)
	}
	switch {
	case p.err != nil:
		return Value{}, t
	case t.kind == tokEnd:
		p.fail(t, "", "a value is missing")
		return Value{}, t
	case t.kind != tokString && t.kind != tokValue:
		p.fail(t, "", "a value must stand here; a text with such signs needs quotes")
		return Value{}, t
	}
	v := Text(t.value)
	if t.kind == tokValue {
		word := strings.ToLower(t.value)
		truth := word == "true" || word == "false"
		n := Number(t.value)
		switch {
		case truth && kind != TextKind:
			v = Bool(word == "true")
		case n.kind != missing && kind != TextKind:
			v = n.plain()
		case word == "null" && ref != nil:
			p.fail(t, "", "a missing value is asked for by not has(%s)", ref.Name)
		case reserved(word) && !truth:
			p.fail(t, quote(t.value), "a text that is a word of the language needs quotes")
		}
	}
	if ref != nil {
		p.check(ref, operand{value: v}, t, opEqual)
	}
	return v, t
}

// chain reads comparisons: one, or several in a row as in 0 < reward <= 1.
// place is where its first operand stands.
func (p *parser) chain(first operand, place token) node {
	n := &compareNode{operands: []operand{first}}
	last := place
	for p.err == nil {
		t := p.peek(operandMode)
		op, ok := parseOp(t.value)
		if !ok || t.kind != tokSign {
			if len(n.ops) == 0 {
				p.fail(t, "", "a comparison must follow a calculation")
			}
			break
		}
		p.next(operandMode)
		left := n.operands[len(n.operands)-1]
		at := p.peek(operandMode)
		p.against, p.ordered = p.operandKind(left), op > opDiffers
		right := p.operand(left.ref)
		p.check(left.ref, right, at, op)
		p.check(right.ref, left, last, op)
		last = at
		n.operands = append(n.operands, right)
		n.ops = append(n.ops, op)
	}
	if p.err != nil {
		return nil
	}
	named := false
	n.refs(func(*Ref) { named = true })
	if !named {
		p.failAt(p.at, p.at, "", "a comparison needs a field")
		return nil
	}
	return n
}

// primary reads a side of a comparison or a part of it; field is the other side, if that is a field.
func (p *parser) primary(field *Ref) operand {
	t := p.expect(operandMode, wantOperand, field)
	if p.err != nil {
		return operand{}
	}
	p.next(operandMode)
	switch {
	case p.err != nil:
	case t.kind == tokEnd:
		p.fail(t, "", "a value is missing")
	case t.kind == tokPath:
		p.rooted(t)
		return operand{ref: &t.ref}
	case t.is(quantCount) && p.is(t, "("):
		return operand{ref: p.quantified(t)}
	case t.is(quantAny, quantAll) && p.is(t, "("):
		p.fail(t, "", "%s(…) is a condition and no value", asWord(t))
	case t.kind == tokNumber:
		v := Number(t.value).plain()
		if v.kind == missing {
			p.fail(t, "", "the number is out of range")
		}
		return operand{value: v}
	case t.kind == tokString:
		return operand{value: Text(t.value)}
	case t.is(":"):
		p.fail(t, "", "a value must stand here")
	case t.is("("):
		p.at = t.start
		return p.grouped(t, field)
	case t.kind == tokWord && !p.glued(t) && !p.is(t, ":"):
		return p.wordOperand(t, field)
	case t.kind == tokWord && p.is(t, "("):
		p.unknown(t)
	case t.kind == tokWord, t.kind == tokLoose:
		p.at = t.start
		word := p.word()
		suggestion := quote(word)
		if p.kind(field) == NumberKind || p.calculated {
			suggestion = p.almostNumber(word)
		}
		p.failAt(t.start, t.start+len(word), suggestion, "%s is neither a number nor a word; a text with such signs needs quotes", shown(word))
	default:
		p.fail(t, "", "a value must stand here")
	}
	return operand{}
}

// almostNumber gives the number that .5, 5. or 007 probably stand for, or the calculation that lacks its spaces.
func (p *parser) almostNumber(word string) string {
	if i := strings.IndexAny(word, "+-/"); i > 0 {
		left, right := word[:i], word[i+1:]
		_, first := validNumber(left)
		_, second := validNumber(right)
		if first && (second || p.names().find(right) != nil) {
			return left + " " + word[i:i+1] + " " + right
		}
	}
	s := strings.TrimSuffix(word, ".")
	s = strings.TrimLeft(s, "0")
	if s == "" || s[0] == '.' {
		s = "0" + s
	}
	if _, ok := validNumber(s); ok && s != word {
		return s
	}
	return ""
}

// wordOperand decides what a word means: true and false, a field, or else a text.
func (p *parser) wordOperand(t token, field *Ref) operand {
	if ref := p.named(t); ref != nil {
		return operand{ref: ref}
	}
	word := strings.ToLower(t.value)
	switch {
	case word == "true" || word == "false":
		return operand{value: Bool(word == "true")}
	case word == "null" && field != nil:
		p.fail(t, "", "a missing value is asked for by not has(%s)", field.Name)
	case reserved(word):
		p.fail(t, quote(t.value), "a text that is a word of the language needs quotes")
	case word == rowWord:
		p.unknown(t)
	}
	return operand{value: Text(t.value)}
}

// check refuses a comparison of a field with something it can never be; t is where that stands.
func (p *parser) check(ref *Ref, other operand, t token, op op) {
	f := p.fieldOf(ref)
	if p.err != nil || f == nil {
		return
	}
	kind, literal := p.operandKind(other), other.ref == nil && other.sum == nil
	switch {
	case f.Kind == BoolKind && op != opEqual && op != opDiffers:
		p.fail(t, "", "%s is true or false and has no order", f.Name)
	case kind == AnyKind || f.Kind == AnyKind:
	case kind != f.Kind && literal:
		suggestion := ""
		switch {
		case f.Kind == TextKind && (t.kind == tokNumber || t.kind == tokWord):
			suggestion = quote(t.value)
		case t.kind == tokWord:
			suggestion = nearest(t.value, p.names().names())
		case t.kind == tokValue && f.Kind == BoolKind:
			suggestion = nearest(t.value, []string{"true", "false"})
		}
		p.fail(t, suggestion, "%s is %s, not %s", f.Name, f.Kind, kind)
	case kind != f.Kind && other.sum != nil:
		p.fail(t, "", "%s is %s, a calculation is a number", f.Name, f.Kind)
	case kind != f.Kind:
		p.fail(t, "", "%s is %s, %s is %s", f.Name, f.Kind, other.ref.Name, kind)
	case literal && f.Closed && kind == TextKind && (op == opEqual || op == opDiffers) && !slices.Contains(f.values(), other.value.text):
		suggestion := nearest(other.value.text, f.values())
		if suggestion != "" && t.kind == tokValue {
			suggestion = bare(suggestion)
		} else if suggestion != "" {
			suggestion = quote(suggestion)
		}
		p.fail(t, suggestion, "%s is never %s", f.Name, shown(other.value.text))
	}
}

// operandKind gives the kind of values an operand has.
func (p *parser) operandKind(o operand) Kind {
	switch {
	case o.ref != nil:
		return p.kind(o.ref)
	case o.sum != nil:
		return NumberKind
	case o.value.kind == boolean:
		return BoolKind
	case o.value.isNumber():
		return NumberKind
	case o.value.kind == text:
		return TextKind
	}
	return AnyKind
}
