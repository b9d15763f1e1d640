package filter

// What a condition may ask about the elements of a list.
const (
	quantAny   = "any"
	quantAll   = "all"
	quantCount = "count"
)

// MaxLists bounds how many lists a filter goes through.
const MaxLists = 100

// A listExpr is any(…), all(…) or count(…).
type listExpr struct {
	word string
	list *NamedList // a named one, nil for a path
	path *Ref       // of the list, from the row or from the element around
	cond node       // the condition, nil for count without one
}

// A listNode is any(…) or all(…) as a condition.
type listNode struct{ ref *Ref }

func (n *listNode) match(row Row) bool {
	if met, known := answer(row, n); known {
		return met
	}
	v := n.ref.value(row)
	return v.kind == boolean && v.truth
}

func (n *listNode) refs(visit func(*Ref)) { visit(n.ref) }
func (n *listNode) print(p *printer)      { p.ref(n.ref) }

// of gives the truth or the number for a row, or for the element that holds the list. A list that is not there, or is
// no list, gives a missing Value.
func (e *listExpr) of(l *Look, around element) Value {
	n, count := 0, 0
	there := e.each(l, around, func(el *element) bool {
		n++
		if e.cond == nil || e.cond.match(elementRow{l, e.list, el}) {
			count++
			return e.word != quantAny
		}
		return e.word != quantAll
	})
	switch {
	case !there:
		return Value{}
	case e.word == quantAny:
		return Bool(count > 0)
	case e.word == quantAll:
		return Bool(count == n)
	}
	return Int(int64(count))
}

// each visits the elements until visit gives false, and tells whether there is a list at all.
func (e *listExpr) each(l *Look, around element, visit func(*element) bool) (there bool) {
	if e.list != nil {
		return e.list.each(l, visit)
	}
	v := follow(around.value, e.path.Path)
	if !v.IsArray() {
		return false
	}
	for m := v.Elements(); m.Next(); {
		if !visit(&element{value: m.Value}) {
			break
		}
	}
	return true
}

// An elementRow is one element of a list as conditions see it.
type elementRow struct {
	look *Look
	list *NamedList
	el   *element
}

// Field gives a field of an element of a named list.
func (r elementRow) Field(name string) Value { return r.list.field(r.look, r.el, name) }

// Inside gives what a path leads to from the element, or the outcome for a list in it.
func (r elementRow) Inside(ref *Ref) Value {
	if ref.list != nil {
		return ref.list.of(r.look, *r.el)
	}
	return Lookup(r.el.value, ref.Path)
}

// print writes the expression.
func (e *listExpr) print(p *printer) {
	p.WriteString(e.word + "(")
	if e.list != nil {
		p.WriteString(e.list.Name)
	} else {
		p.ref(e.path)
	}
	if e.cond != nil {
		p.WriteString(", ")
		e.cond.print(p)
	}
	p.WriteByte(')')
}

// A scope says what names mean: those of the row, or inside any(…) those of an element.
type scope struct {
	list *NamedList // nil for a path
	what string     // "calls", to speak of
}

// itemWord is the element of a list; paths into it begin with it.
const itemWord = "item"

// names are the fields that can stand at this place.
func (p *parser) names() Fields {
	switch {
	case p.inner == nil:
		return p.fields
	case p.inner.list != nil:
		return p.inner.list.Fields
	}
	return nil
}

// quantified reads what follows any, all or count. The word is consumed.
func (p *parser) quantified(t token) *Ref {
	word := asWord(t)
	open := p.peek(operandMode)
	if p.err == nil && !open.is("(") {
		p.fail(open, "", "%s asks about a list in parentheses: %s(calls, status >= 500)", word, word)
	}
	if p.lists++; p.err == nil && p.lists > MaxLists {
		p.fail(t, "", "a filter goes through at most %d lists", MaxLists)
	}
	if p.err != nil {
		return nil
	}
	e := &listExpr{word: word}
	p.nested(open, func() node {
		outer := p.inner
		p.inner = p.listOf(e)
		next := p.next(operandMode)
		switch {
		case p.err != nil:
		case next.is(","):
			e.cond = p.or()
			next = p.next(operandMode)
		case word != quantCount:
			p.fail(next, "", "a comma and a condition must follow the list: %s(calls, status >= 500)", word)
		}
		if p.err == nil && !next.is(")") {
			if next.kind == tokEnd {
				p.fail(next, ")", "the ( at character %d is not closed", p.column(open.start))
			} else {
				p.fail(next, "", "%s cannot stand here", shown(next.value))
			}
		}
		p.inner = outer
		return nil
	})
	if p.err != nil {
		return nil
	}
	w := &printer{}
	e.print(w)
	return &Ref{Name: w.String(), list: e}
}

// listOf reads the list that e is about and gives the scope of its elements.
func (p *parser) listOf(e *listExpr) *scope {
	t := p.expect(operandMode, wantList, nil)
	p.next(operandMode)
	switch {
	case p.err != nil:
	case t.kind == tokPath:
		if !p.rooted(t) {
			return nil
		}
		ref := t.ref
		e.path = &ref
		return &scope{what: ref.Name}
	case p.inner != nil && t.is(itemWord):
		e.path = itemRef()
		return &scope{what: itemWord}
	case t.kind == tokWord && p.inner != nil:
		p.fail(t, itemWord+"."+t.value, "inside a list stands a list of its element, which begins with %s", itemWord)
	case t.kind == tokWord:
		for _, l := range Lists {
			if l.Name == t.value {
				e.list = l
				return &scope{list: l, what: l.Name}
			}
		}
		p.fail(t, nearest(t.value, listNames()), "there is no list %s; lists are %s, and paths such as row.response.output", shown(t.value), joined(listNames()))
	case t.kind == tokEnd:
		p.fail(t, "", "a list is missing")
	default:
		p.fail(t, "", "%s is no list", shown(t.value))
	}
	return nil
}

// itemRef is the element itself.
func itemRef() *Ref { return &Ref{Name: itemWord, Path: []Step{}, item: true} }

// rooted refuses paths that do not begin where they can: inside a list at its element, elsewhere at the row.
func (p *parser) rooted(t token) bool {
	switch {
	case p.inner == nil && t.ref.item:
		p.fail(t, "", "there is no element outside of any, all and count")
		return false
	case p.inner != nil && !t.ref.item:
		p.fail(t, "", "inside %s stands what one element has, not what the row has; paths begin with %s", shown(p.inner.what), itemWord)
		return false
	}
	return true
}

func joined(words []string) string {
	s := ""
	for i, w := range words {
		if i > 0 {
			s += ", "
		}
		s += w
	}
	return s
}
