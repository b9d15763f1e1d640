package filter

import "strings"

// A Row gives the values of one rollout.
type Row interface {
	// Field gives the value of a field by the Name in its Field.
	Field(name string) Value
	// Inside gives what is read from the row as it is in the file: the value at a path, or the outcome for a list.
	// [Look] knows it.
	Inside(r *Ref) Value
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

// An operand is what ref names, else a calculation, else a value.
type operand struct {
	ref   *Ref
	sum   *sum
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
	if r.InRow() {
		return row.Inside(r)
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
	switch {
	case o.ref != nil:
		return o.ref.value(row)
	case o.sum != nil:
		return o.sum.get(row)
	}
	return o.value
}

// visit calls f for every ref of the operand.
func (o *operand) visit(f func(*Ref)) {
	if o.ref != nil {
		f(o.ref)
	}
	if o.sum != nil {
		o.sum.left.visit(f)
		o.sum.right.visit(f)
	}
}

// meets compares two values. Of a list one element must meet the condition; to differ, all of them must.
func meets(op op, a, b Value) bool {
	if a.kind == missing || b.kind == missing {
		return false
	}
	if op == opDiffers {
		return !meets(opEqual, a, b)
	}
	if a.kind == list && b.kind == list && len(a.list)*len(b.list) > fewPairs {
		return meetsMany(op, a, b)
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

// fewPairs is how many pairs of elements are compared one by one.
const fewPairs = 64

// meetsMany compares the elements of long lists without comparing every pair.
func meetsMany(op op, a, b Value) bool {
	if op == opEqual {
		return a.each(setOf(b.list).has)
	}
	if op == opMore || op == opMoreEqual {
		a, b, op = b, a, op-opMore+opLess
	}
	// Some element of a is before some of b if the first of a is before the last of b, among numbers and among texts.
	for _, fits := range []func(Value) bool{Value.isNumber, func(v Value) bool { return v.kind == text }} {
		first, last := a.extreme(-1, fits), b.extreme(1, fits)
		if c, ok := first.order(last); ok && (c < 0 || c == 0 && op == opLessEqual) {
			return true
		}
	}
	return false
}

// extreme gives the least or, with a sign of 1, the greatest of the elements that fit.
func (v Value) extreme(sign int, fits func(Value) bool) (e Value) {
	for _, w := range v.list {
		if !fits(w) {
			continue
		}
		if c, ok := w.order(e); !ok || c*sign > 0 {
			e = w
		}
	}
	return e
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
	for i := range n.operands {
		n.operands[i].visit(visit)
	}
}

func (n *inNode) refs(visit func(*Ref))       { visit(n.ref) }
func (n *containsNode) refs(visit func(*Ref)) { visit(n.ref) }

func visitAll(nodes []node, visit func(*Ref)) {
	for _, n := range nodes {
		n.refs(visit)
	}
}
