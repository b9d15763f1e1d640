package filter

import "strings"

// A Row gives the values of one rollout.
type Row interface {
	// Field gives the value of a field by the Name in its Field.
	Field(name string) Value
	// Path gives the value at a path into the row as it is in the file; see Lookup.
	Path(path []Step) Value
}

// A node is a condition.
type node interface {
	match(row Row) bool
	print(p *printer)
	refs(visit func(*Ref))
}

type (
	allNode struct{ nodes []node } // two or more, none of them an allNode
	anyNode struct{ nodes []node } // two or more, none of them an anyNode
	notNode struct{ of node }
	hasNode struct{ ref *Ref }

	compareNode struct {
		operands []operand
		ops      []op // one less; every pair of neighbours must meet its own
	}
	inNode struct {
		ref     *Ref
		values  []Value
		negated bool
		set     *set
	}
	containsNode struct {
		ref     *Ref
		text    string
		negated bool
	}
)

// An operand is a field, a path or, when ref is nil, a value.
type operand struct {
	ref   *Ref
	value Value
}

type op uint8

const (
	opEqual op = iota
	opDiffers
	opLess
	opLessEqual
	opMore
	opMoreEqual
)

var opSigns = [...]string{"=", "!=", "<", "<=", ">", ">="}

func parseOp(s string) (op, bool) {
	if s == "==" {
		return opEqual, true
	}
	for i, sign := range opSigns {
		if s == sign {
			return op(i), true
		}
	}
	return 0, false
}

func (r *Ref) value(row Row) Value {
	if r.Path != nil {
		return row.Path(r.Path)
	}
	return row.Field(r.Name)
}

func (n *allNode) match(row Row) bool {
	for _, m := range n.nodes {
		if !m.match(row) {
			return false
		}
	}
	return true
}

func (n *anyNode) match(row Row) bool {
	for _, m := range n.nodes {
		if m.match(row) {
			return true
		}
	}
	return false
}

func (n *notNode) match(row Row) bool { return !n.of.match(row) }

func (n *hasNode) match(row Row) bool {
	if met, known := answer(row, n); known {
		return met
	}
	return n.ref.value(row).each(func(v Value) bool { return v.kind != missing })
}

func (n *compareNode) match(row Row) bool {
	if met, known := answer(row, n); known {
		return met
	}
	left := n.operands[0].get(row)
	for i, op := range n.ops {
		right := n.operands[i+1].get(row)
		if !meets(op, left, right) {
			return false
		}
		left = right
	}
	return true
}

func (o *operand) get(row Row) Value {
	if o.ref != nil {
		return o.ref.value(row)
	}
	return o.value
}

// meets compares two values. Of a list one element must meet the condition; to differ, all of them must.
func meets(op op, a, b Value) bool {
	if a.kind == missing || b.kind == missing {
		return false
	}
	if op == opDiffers {
		return !meets(opEqual, a, b)
	}
	return a.each(func(a Value) bool {
		return b.each(func(b Value) bool {
			if op == opEqual {
				return a.equal(b)
			}
			c, ok := a.order(b)
			if !ok {
				return false
			}
			switch op {
			case opLess:
				return c < 0
			case opLessEqual:
				return c <= 0
			case opMore:
				return c > 0
			}
			return c >= 0
		})
	})
}

func (n *inNode) match(row Row) bool {
	if met, known := answer(row, n); known {
		return met
	}
	v := n.ref.value(row)
	return v.kind != missing && v.each(n.set.has) != n.negated
}

func (n *containsNode) match(row Row) bool {
	if met, known := answer(row, n); known {
		return met
	}
	v := n.ref.value(row)
	return v.kind != missing && v.each(func(v Value) bool {
		return v.kind == text && strings.Contains(v.text, n.text)
	}) != n.negated
}

// A set answers whether a value is among many at the cost of one.
type set struct {
	texts, numbers map[string]struct{}
	truths         [2]bool
}

func setOf(values []Value) *set {
	s := &set{texts: map[string]struct{}{}, numbers: map[string]struct{}{}}
	for _, v := range values {
		switch {
		case v.kind == text:
			s.texts[v.text] = struct{}{}
		case v.isNumber():
			s.numbers[string(numberKey(nil, v))] = struct{}{}
		case v.kind == boolean:
			s.truths[index(v.truth)] = true
		}
	}
	return s
}

func (s *set) has(v Value) (ok bool) {
	switch {
	case v.kind == text:
		_, ok = s.texts[v.text]
	case v.isNumber():
		var room [32]byte
		_, ok = s.numbers[string(numberKey(room[:0], v))]
	case v.kind == boolean:
		ok = s.truths[index(v.truth)]
	}
	return ok
}

func index(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (n *allNode) refs(visit func(*Ref)) { visitAll(n.nodes, visit) }
func (n *anyNode) refs(visit func(*Ref)) { visitAll(n.nodes, visit) }
func (n *notNode) refs(visit func(*Ref)) { n.of.refs(visit) }
func (n *hasNode) refs(visit func(*Ref)) { visit(n.ref) }

func (n *compareNode) refs(visit func(*Ref)) {
	for _, o := range n.operands {
		if o.ref != nil {
			visit(o.ref)
		}
	}
}

func (n *inNode) refs(visit func(*Ref))       { visit(n.ref) }
func (n *containsNode) refs(visit func(*Ref)) { visit(n.ref) }

func visitAll(nodes []node, visit func(*Ref)) {
	for _, n := range nodes {
		n.refs(visit)
	}
}
