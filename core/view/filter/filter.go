package filter

import (
	"slices"
	"strings"
)

// A Filter is a list of conditions that must all be met. Filters are values that never change; the zero Filter has
// no condition and lets every row pass.
type Filter struct {
	terms []node
	texts []string // of each term, when there are several
}

// Parse reads a filter text with the names of fields. An error is an *Error.
func Parse(text string, fields Fields) (Filter, error) {
	p := &parser{text: text, fields: fields}
	if err := p.checkText(); err != nil {
		return Filter{}, err
	}
	terms := p.filter()
	if p.err != nil {
		return Filter{}, p.err
	}
	return of(terms), nil
}

// of makes a filter of terms. A condition that is there already is not repeated.
func of(terms []node) Filter {
	f := Filter{}
	seen := map[string]bool{}
	for _, n := range terms {
		s := printTerm(n, 2, false)
		if !seen[s] {
			seen[s] = true
			f.terms, f.texts = append(f.terms, n), append(f.texts, s)
		}
	}
	return f
}

// Empty tells whether the filter lets every row pass because it has no condition.
func (f Filter) Empty() bool { return len(f.terms) == 0 }

// Match tells whether a row meets all conditions. It has an answer for every row.
func (f Filter) Match(row Row) bool {
	for _, n := range f.terms {
		if !n.match(row) {
			return false
		}
	}
	return true
}

// String gives the filter in its usual form. Parsing that with the same fields gives an equal filter.
func (f Filter) String() string {
	if len(f.terms) == 1 {
		return printTerm(f.terms[0], 1, false)
	}
	var b strings.Builder
	for i, s := range f.texts {
		switch {
		case i > 0 && s[0] == '-': // a sign behind a value is kept for arithmetic
			b.WriteString(" and ")
		case i > 0:
			b.WriteByte(' ')
		}
		b.WriteString(s)
	}
	return b.String()
}

// Equal tells whether two filters have the same conditions in the same order.
func (f Filter) Equal(g Filter) bool { return slices.Equal(f.texts, g.texts) }

// A Chip is one condition as the page shows it.
type Chip struct {
	Text  string // the condition as a filter of its own
	Label string // the same with more room: "reward = 0"
}

// Chips gives the conditions in order.
func (f Filter) Chips() []Chip {
	chips := make([]Chip, len(f.terms))
	for i, n := range f.terms {
		chips[i] = Chip{Text: printTerm(n, 1, false), Label: printTerm(n, 1, true)}
	}
	return chips
}

// Without gives the filter without chip i. An index out of range removes nothing.
func (f Filter) Without(i int) Filter {
	if i < 0 || i >= len(f.terms) {
		return f
	}
	return of(slices.Delete(slices.Clone(f.terms), i, i+1))
}

// With gives the filter with the conditions of g added at the end, except for those it has already.
func (f Filter) With(g Filter) Filter { return of(slices.Concat(f.terms, g.terms)) }

// Refs gives what the filter reads, each field and path once, in order of appearance.
func (f Filter) Refs() []Ref {
	refs := []Ref{}
	visitAll(f.terms, func(r *Ref) {
		if !slices.ContainsFunc(refs, func(s Ref) bool { return s.Name == r.Name }) {
			refs = append(refs, *r)
		}
	})
	return refs
}

// Equal gives the text of the condition that a field has a value, for marks that filter. Of a missing value it is
// the condition that there is none.
func Equal(name string, v Value) string {
	if v.kind == missing || v.kind == list || v.kind == object {
		return "not has(" + name + ")"
	}
	n := &compareNode{operands: []operand{{ref: &Ref{Name: name}}, {value: v}}, ops: []op{opEqual}}
	return printTerm(n, 1, false)
}

// Between gives the text of the condition that a field is at least from and less than below, or at most below if
// closed is set. A missing border leaves that side open.
func Between(name string, from, below Value, closed bool) string {
	last := opLess
	if closed {
		last = opLessEqual
	}
	n := &compareNode{operands: []operand{{ref: &Ref{Name: name}}}}
	switch {
	case from.kind == missing && below.kind == missing:
		return "has(" + name + ")"
	case from.kind == missing:
		n.operands, n.ops = append(n.operands, operand{value: below}), []op{last}
	case below.kind == missing:
		n.operands, n.ops = append(n.operands, operand{value: from}), []op{opMoreEqual}
	default:
		n.operands, n.ops = []operand{{value: from}, n.operands[0], {value: below}}, []op{opLessEqual, last}
	}
	return printTerm(n, 1, false)
}
