package filter

import "slices"

// A Test is a condition of a filter that reads the row, and beside it nothing but values of the text: whoever has
// the row can decide it for good, and what was decided need not be looked up again. Tests of one Filter are
// comparable; those of two are told apart by their String.
type Test struct{ node node }

// String gives the condition as a filter of its own.
func (t Test) String() string { return printTerm(t.node, 1, false) }

// Match decides the condition.
func (t Test) Match(row Row) bool { return t.node.match(row) }

// Reads tells whether the condition reads a path, or the outcome for a list.
func (t Test) Reads(path Ref) bool {
	reads := false
	t.node.refs(func(r *Ref) { reads = reads || r.Name == path.Name })
	return reads
}

// Answered is a [Row] of which some tests are decided already. What it knows is not asked of its values.
type Answered interface {
	Row
	Answer(t Test) (met, known bool)
}

// answer asks a row whether a condition is decided.
func answer(row Row, n node) (met, known bool) {
	if a, ok := row.(Answered); ok {
		return a.Answer(Test{n})
	}
	return false, false
}

// Tests gives the conditions that can be decided with the row alone, in the order of the text.
func (f Filter) Tests() []Test {
	tests := []Test{}
	f.leaves(func(n node) {
		if paths, fields := reads(n); paths && !fields {
			tests = append(tests, Test{n})
		}
	})
	return tests
}

// Paths gives the paths and the outcomes for lists that the filter reads inside rows, each once, in order of appearance.
// Those in mixed are compared with fields, so that their values must be known where the fields are.
func (f Filter) Paths() (paths []Ref, mixed []bool) {
	for _, r := range f.Refs() {
		if r.InRow() {
			paths = append(paths, r)
		}
	}
	mixed = make([]bool, len(paths))
	f.leaves(func(n node) {
		if _, fields := reads(n); !fields {
			return
		}
		n.refs(func(r *Ref) {
			if i := slices.IndexFunc(paths, func(p Ref) bool { return p.Name == r.Name }); i >= 0 {
				mixed[i] = true
			}
		})
	})
	return paths, mixed
}

// reads tells what a condition reads.
func reads(n node) (paths, fields bool) {
	n.refs(func(r *Ref) {
		if r.InRow() {
			paths = true
		} else {
			fields = true
		}
	})
	return paths, fields
}

// leaves visits the conditions that hold no other.
func (f Filter) leaves(visit func(node)) {
	var walk func(nodes ...node)
	walk = func(nodes ...node) {
		for _, n := range nodes {
			switch n := n.(type) {
			case *allNode:
				walk(n.nodes...)
			case *anyNode:
				walk(n.nodes...)
			case *notNode:
				walk(n.of)
			default:
				visit(n)
			}
		}
	}
	walk(f.terms...)
}
