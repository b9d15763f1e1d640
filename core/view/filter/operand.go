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
	if !slices.ContainsFunc(n.operands, func(o operand) bool { return o.ref != nil }) {
		p.failAt(p.at, p.at, "", "a comparison needs a field")
		return nil
	}
	return n
}

// operand reads one side of a comparison; field is the other side, if that is a field.
func (p *parser) operand(field *Ref) operand {
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
		return operand{ref: &t.ref}
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
		p.fail(t, "", "one value must stand here; several follow the word in: in (1, 2)")
	case t.kind == tokWord && !p.glued() && !p.is(t, ":"):
		return p.wordOperand(t, field)
	case t.kind == tokWord && p.is(t, "("):
		p.unknown(t)
	case t.kind == tokWord, t.kind == tokLoose:
		p.at = t.start
		word := p.word()
		suggestion := quote(word)
		if p.kind(field) == NumberKind {
			suggestion = almostNumber(word)
		}
		p.failAt(t.start, t.start+len(word), suggestion, "%s is neither a number nor a word; a text with such signs needs quotes", shown(word))
	default:
		p.fail(t, "", "a value must stand here")
	}
	return operand{}
}

// almostNumber gives the number that .5, 5., 007 or 1,5 probably stand for.
func almostNumber(word string) string {
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
	if f := p.fields.find(t.value); f != nil {
		return operand{ref: &Ref{Name: f.Name}}
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
	kind, literal := p.operandKind(other), other.ref == nil
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
			suggestion = nearest(t.value, p.fields.names())
		case t.kind == tokValue && f.Kind == BoolKind:
			suggestion = nearest(t.value, []string{"true", "false"})
		}
		p.fail(t, suggestion, "%s is %s, not %s", f.Name, f.Kind, kind)
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
	case o.value.kind == boolean:
		return BoolKind
	case o.value.isNumber():
		return NumberKind
	case o.value.kind == text:
		return TextKind
	}
	return AnyKind
}
