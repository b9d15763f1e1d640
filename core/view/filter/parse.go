package filter

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// A want says what can stand at a place, for completion.
type want uint8

const (
	wantCondition  want = 1 << iota // a field, "not", "has(" or "("
	wantConnective                  // "and", "or"
	wantOperator
	wantValue   // a value of a field, without quotes where that is possible
	wantOperand // a value of a field, or another field
	wantName    // a field and nothing else
	wantList    // a list
)

// expect peeks at the next token and says what is wanted there. A completion ends where the text is cut.
func (p *parser) expect(m mode, w want, field *Ref) token {
	t := p.peek(m)
	if p.completing && p.err == nil && t.end == len(p.text) && t.kind != tokSign && t.kind != tokString {
		if t.kind == tokBad && (p.text[t.start] == '"' || p.text[t.start] == '\'') {
			w &= wantValue | wantOperand // open quotes can only become a text
			t.kind = tokString
		}
		p.expected, p.cut, p.field, p.cutInner = w, t, field, p.inner
		p.err = errCut
		return token{kind: tokEnd, start: t.start, end: t.start}
	}
	return t
}

func (t token) is(words ...string) bool {
	switch t.kind {
	case tokWord:
		return slices.Contains(words, strings.ToLower(t.value))
	case tokSign:
		return slices.Contains(words, t.value)
	}
	return false
}

// filter reads a whole text.
func (p *parser) filter() []node {
	if p.peek(operandMode).kind == tokEnd && !p.completing {
		return nil
	}
	n := p.or()
	if t := p.next(operandMode); p.err == nil && t.kind != tokEnd {
		switch {
		case t.is(")"):
			p.fail(t, "", "there is no ( before it")
		case t.is(","):
			p.fail(t, "", "several values follow the word in: in (1, 2)")
		default:
			p.fail(t, "", "%s cannot stand here", shown(t.value))
		}
	}
	if p.err != nil {
		return nil
	}
	if all, ok := n.(*allNode); ok {
		return all.nodes
	}
	return []node{n}
}

func (p *parser) or() node {
	nodes := []node{p.and()}
	for p.peek(operandMode).is("or") {
		p.next(operandMode)
		nodes = append(nodes, p.and())
	}
	if p.err != nil {
		return nil
	}
	var flat []node
	for _, n := range nodes {
		if inner, ok := n.(*anyNode); ok {
			flat = append(flat, inner.nodes...)
		} else {
			flat = append(flat, n)
		}
	}
	if len(flat) == 1 {
		return flat[0]
	}
	return &anyNode{flat}
}

func (p *parser) and() node {
	var flat []node
	for p.err == nil {
		n := p.condition()
		if inner, ok := n.(*allNode); ok {
			flat = append(flat, inner.nodes...)
		} else {
			flat = append(flat, n)
		}
		if !p.another() {
			break
		}
	}
	if p.err != nil {
		return nil
	}
	if len(flat) == 1 {
		return flat[0]
	}
	return &allNode{flat}
}

// another tells whether a further condition follows that must be met as well.
func (p *parser) another() bool {
	t := p.expect(operandMode, wantConnective|wantCondition, nil)
	switch {
	case t.is("and"):
		p.next(operandMode)
		return true
	case t.is("or", ")"):
		return false
	case (t.kind == tokNumber || t.kind == tokSign) && strings.HasPrefix(t.value, "-"):
		p.fail(t, "and "+t.value, "a sign behind a condition is not read as the beginning of another one")
		return false
	case t.is("("), t.kind != tokEnd && t.kind != tokSign && t.kind != tokBad:
		return true
	}
	return false
}

func (p *parser) condition() node {
	t := p.expect(operandMode, wantCondition, nil)
	if p.err != nil {
		return nil
	}
	switch {
	case t.kind == tokEnd:
		p.fail(t, "", "a condition is missing")
	case t.is("(") && p.calculates(t), t.is("-"):
		first := p.operand(nil)
		p.expect(operandMode, wantOperator, nil)
		return p.chain(first, t)
	case t.is("("):
		return p.nested(t, func() node {
			n := p.or()
			if end := p.next(operandMode); p.err == nil && !end.is(")") {
				if end.kind == tokEnd {
					p.fail(end, ")", "the ( at character %d is not closed", p.column(t.start))
				} else {
					p.fail(end, "", "%s cannot stand here", shown(end.value))
				}
			}
			return n
		})
	case t.is("not"):
		return p.nested(t, func() node { return &notNode{p.condition()} })
	case t.is("has"):
		p.next(operandMode)
		return p.has()
	case t.is(quantAny, quantAll):
		p.next(operandMode)
		if ref := p.quantified(t); p.err == nil {
			return &listNode{ref}
		}
		return nil
	case t.is(quantCount):
		p.next(operandMode)
		return p.about(p.quantified(t))
	case t.is("true", "false"), t.kind == tokNumber, t.kind == tokString:
		first := p.operand(nil)
		next := p.expect(operandMode, wantOperator, nil)
		if _, ok := parseOp(next.value); p.err == nil && (!ok || next.kind != tokSign) && first.sum == nil {
			p.fail(t, "", "a value alone is no condition; compare it with a field")
		}
		return p.chain(first, t)
	case t.kind == tokWord, t.kind == tokPath:
		return p.about(p.reference())
	case t.kind == tokLoose:
		p.fail(t, "", "%s is neither a number nor the name of a field", shown(t.value))
	default:
		p.fail(t, "", "a condition must stand before %s", shown(t.value))
	}
	return nil
}

// nested reads what follows a parenthesis or a "not", as deep as allowed.
func (p *parser) nested(t token, read func() node) node {
	if p.depth == MaxDepth {
		p.fail(t, "", "nested deeper than %d levels", MaxDepth)
		return nil
	}
	p.next(operandMode)
	p.depth++
	n := read()
	p.depth--
	return n
}

func (p *parser) column(offset int) int { return utf8.RuneCountInString(p.text[:offset]) + 1 }

func (p *parser) has() node {
	if open := p.next(operandMode); p.err == nil && !open.is("(") {
		p.fail(open, "", "has asks about one field in parentheses: has(reward)")
	}
	p.expect(operandMode, wantName, nil)
	ref := p.reference()
	if end := p.next(operandMode); p.err == nil && !end.is(")") {
		p.fail(end, "", "a ) must follow the field")
	}
	if p.err != nil {
		return nil
	}
	return &hasNode{ref}
}

// reference reads a field or a path.
func (p *parser) reference() *Ref {
	t := p.next(operandMode)
	switch {
	case p.err != nil:
		return nil
	case t.kind == tokPath:
		p.rooted(t)
		return &t.ref
	case t.kind == tokEnd:
		p.fail(t, "", "a field is missing")
		return nil
	case t.kind != tokWord:
		p.fail(t, "", "%s is no field", shown(t.value))
		return nil
	}
	if ref := p.named(t); ref != nil && !p.glued(t) {
		return ref
	}
	p.unknown(t)
	return nil
}

// named gives what a word names at this place, nil if nothing.
func (p *parser) named(t token) *Ref {
	if p.inner != nil && t.value == itemWord {
		return itemRef()
	}
	if f := p.names().find(t.value); f != nil {
		return &Ref{Name: f.Name}
	}
	return nil
}

// glued tells whether a word that was read goes on without a space in a way that has no meaning. Behind a field a sign
// is that of a calculation, except for a "-" that stands where the field has an underscore.
func (p *parser) glued(t token) bool {
	if p.at == len(p.text) {
		return false
	}
	r, _ := utf8.DecodeRuneInString(p.text[p.at:])
	if strings.ContainsRune("+-*/", r) && p.named(t) != nil {
		run, _, _ := strings.Cut(p.wordAt(t.start), ":")
		return r == '-' && p.names().find(strings.ReplaceAll(run, "-", "_")) != nil
	}
	return r != ':' && (wordRune(r) || r == '(')
}

// unknown says that a word is no field, and which one may be meant.
func (p *parser) unknown(t token) {
	word := t.value
	if p.at < len(p.text) && p.text[p.at] != '(' {
		p.at = t.start
		word, _, _ = strings.Cut(p.word(), ":")
		word = t.value + strings.TrimPrefix(word, t.value)
		p.at = t.end
	}
	end := t.start + len(word)
	name := strings.ToLower(word)
	switch {
	case slices.Contains(keywords, name) && strings.HasPrefix(p.text[end:], "("):
		p.fail(t, "", "a field must stand here, not %s", shown(word))
	case strings.HasPrefix(p.text[end:], "("):
		p.fail(t, nearest(word, []string{"has", quantAny, quantAll, quantCount}), "there is no function %s", shown(word))
	case slices.Contains(keywords, name):
		p.fail(t, "", "a condition must stand before %s", shown(word))
	case slices.Contains(later, name):
		p.fail(t, "", "%s is kept for later versions", shown(word))
	case name == rowWord:
		p.fail(t, "", "a path needs a key: row.reward")
	case p.inner != nil && p.inner.list == nil:
		p.failAt(t.start, end, itemWord+"."+word, "what an element of %s has is named by a path from %s", shown(p.inner.what), itemWord)
	case p.inner != nil:
		message := "%s have no field %s"
		if p.fields.find(word) != nil {
			message = "%s are asked for their own fields, and %s is one of the row"
		}
		p.failAt(t.start, end, nearest(word, p.names().names()), message, p.inner.what, shown(word))
	case slices.Contains(listNames(), word):
		p.failAt(t.start, end, quantCount+"("+word+")", "%s is a list, which any, all and count ask about", word)
	default:
		suggestion := nearest(word, p.fields.names())
		if suggestion == "" && strings.Contains(t.value, ".") && word == t.value {
			suggestion = rowWord + "." + word
		}
		p.failAt(t.start, end, suggestion, "there is no field %s", shown(word))
	}
}

// about reads what a condition says about a field.
func (p *parser) about(ref *Ref) node {
	if p.err != nil {
		return nil
	}
	start := p.at
	t := p.expect(operandMode, wantOperator|wantConnective, ref)
	if p.err != nil {
		return nil
	}
	negated := false
	if t.is("not") {
		// Only "not in", "not contains" and "not matches" go on; any other "not" begins the next condition.
		at := p.at
		p.next(operandMode)
		second := p.peek(operandMode)
		p.at = at
		if second.is("in", "contains", "matches") {
			p.next(operandMode)
			t, negated = second, true
		}
	}
	switch {
	case t.is(":"):
		p.next(operandMode)
		value, _ := p.value(ref)
		if p.err != nil {
			return nil
		}
		return &compareNode{operands: []operand{{ref: ref}, {value: value}}, ops: []op{opEqual}}
	case t.is("in"):
		p.next(operandMode)
		return p.in(ref, negated)
	case t.is("contains", "~", "!~"):
		p.next(operandMode)
		return p.contains(ref, negated || t.value == "!~")
	case t.is("matches", "=~"):
		p.next(operandMode)
		return p.matches(ref, negated)
	}
	if op, _ := p.calculating(); op != 0 && p.kind(ref) != BoolKind {
		place := token{kind: tokWord, start: max(start-len(ref.Name), 0), end: start, value: ref.Name}
		first := p.calculation(operand{ref: ref}, place, 1)
		p.expect(operandMode, wantOperator, nil)
		return p.chain(first, place)
	}
	if _, ok := parseOp(t.value); ok && t.kind == tokSign {
		return p.chain(operand{ref: ref}, t)
	}
	switch p.kind(ref) {
	case BoolKind, AnyKind:
		return &compareNode{operands: []operand{{ref: ref}, {value: Bool(true)}}, ops: []op{opEqual}}
	}
	if t.kind == tokBad {
		return nil
	}
	if ref.list != nil {
		p.failAt(start, start, " > 0", "a comparison must follow %s", ref.Name)
		return nil
	}
	from := start - len(ref.Name)
	if from < 0 || p.text[from:start] != ref.Name { // an alias was written
		p.failAt(start, start, "", "a comparison must follow %s", ref.Name)
		return nil
	}
	p.failAt(from, start, "has("+ref.Name+")", "%s is %s and needs a comparison", ref.Name, p.kind(ref))
	return nil
}

// is tells whether a sign stands right behind a token.
func (p *parser) is(t token, sign string) bool { return strings.HasPrefix(p.text[t.end:], sign) }

func (p *parser) kind(ref *Ref) Kind {
	if f := p.fieldOf(ref); f != nil {
		return f.Kind
	}
	return AnyKind
}

// fieldOf gives the field behind a reference, nil for a path, whose values no list can promise.
func (p *parser) fieldOf(ref *Ref) *Field {
	switch {
	case ref == nil || ref.Path != nil:
		return nil
	case ref.list != nil:
		return &Field{Name: ref.Name, Kind: NumberKind}
	}
	return p.names().find(ref.Name)
}

func (p *parser) in(ref *Ref, negated bool) node {
	open := p.next(operandMode)
	if p.err == nil && !open.is("(") {
		p.fail(open, "", "values in parentheses must follow in: in (1, 2)")
	}
	n := &inNode{ref: ref, negated: negated}
	for p.err == nil {
		value, _ := p.value(ref)
		n.values = append(n.values, value.plain())
		t := p.next(valueMode)
		if t.is(")") {
			n.set = setOf(n.values)
			return n
		}
		if !t.is(",") {
			if t.kind == tokEnd {
				p.fail(t, ")", "the ( at character %d is not closed", p.column(open.start))
			} else {
				p.fail(t, "", "a comma or ) must stand here")
			}
		}
	}
	return nil
}

func (p *parser) contains(ref *Ref, negated bool) node {
	value, t := p.value(nil)
	if k := p.kind(ref); p.err == nil && (k == NumberKind || k == BoolKind) {
		p.fail(t, "", "%s is %s and contains no text", ref.Name, k)
	}
	if p.err != nil {
		return nil
	}
	return &containsNode{ref: ref, text: value.text, negated: negated}
}
