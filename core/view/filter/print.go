package filter

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// quote writes a text in quotes. What does not print is escaped, so that a filter can be shown anywhere.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r > 0xFFFF:
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xD800+(r-0x10000)>>10, 0xDC00+(r-0x10000)&0x3FF)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// bare writes a text for a place where only a value can stand: without quotes if it reads back as the same text
// whatever the field.
func bare(s string) string {
	for _, r := range s {
		if !wordRune(r) {
			return quote(s)
		}
	}
	if _, number := validNumber(s); number || s == "" || reserved(s) {
		return quote(s)
	}
	return s
}

// literal writes a single value as an operand.
func literal(v Value) string {
	v = v.plain()
	switch v.kind {
	case boolean:
		return strconv.FormatBool(v.truth)
	case whole:
		return v.whole.String()
	case float:
		s := strconv.FormatFloat(v.float, 'g', -1, 64)
		if !strings.ContainsAny(s, ".e") { // only doubles beyond 64 bits have neither
			s += "e0"
		}
		return s
	}
	return quote(v.text)
}

// item writes a single value where only a value can stand.
func item(v Value) string {
	if v.kind == text {
		return bare(v.text)
	}
	return literal(v)
}

// A printer writes conditions; wide puts spaces around operators, for labels.
type printer struct {
	strings.Builder
	wide bool
}

func (p *printer) sign(op string) {
	if p.wide {
		op = " " + op + " "
	}
	p.WriteString(op)
}

func (n *compareNode) print(p *printer) {
	if len(n.ops) == 1 && n.ops[0] == opEqual && n.operands[0].ref != nil && n.operands[1].ref == nil && n.operands[1].value.kind == text {
		p.ref(n.operands[0].ref)
		p.WriteByte(':')
		if p.wide {
			p.WriteByte(' ')
		}
		p.WriteString(bare(n.operands[1].value.text))
		return
	}
	room := ""
	for _, o := range n.operands {
		if o.sum != nil && !p.wide {
			room = " " // turns + 1 > 2, since the signs of calculations have spaces around them
		}
	}
	for i := range n.operands {
		if i > 0 {
			p.sign(room + opSigns[n.ops[i-1]] + room)
		}
		p.operand(&n.operands[i], 0)
	}
}

// ref writes a field or a path as it is named, and lists with room where there is room.
func (p *printer) ref(r *Ref) {
	if r.list != nil && p.wide {
		r.list.print(p)
	} else {
		p.WriteString(r.Name)
	}
}

// The levels of calculations: what binds more tightly is above.
var levels = map[byte]int{'+': 1, '-': 1, '*': 2, '/': 2, negation: 3}

// operand writes a side of a comparison or of a calculation, in parentheses if it binds less tightly than level.
func (p *printer) operand(o *operand, level int) {
	switch {
	case o.ref != nil:
		p.ref(o.ref)
		return
	case o.sum == nil:
		p.WriteString(literal(o.value))
		return
	}
	own := levels[o.sum.op]
	if own < level {
		p.WriteByte('(')
		defer p.WriteByte(')')
	}
	if o.sum.op == negation {
		p.WriteByte('-')
		p.operand(&o.sum.left, own)
		return
	}
	p.operand(&o.sum.left, own)
	p.WriteString(" " + string(o.sum.op) + " ")
	p.operand(&o.sum.right, own+1)
}

func (n *inNode) print(p *printer) {
	p.ref(n.ref)
	if n.negated {
		p.WriteString(" not")
	}
	p.WriteString(" in (")
	for i, v := range n.values {
		if i > 0 {
			p.WriteString(", ")
		}
		p.WriteString(item(v))
	}
	p.WriteByte(')')
}

func (n *containsNode) print(p *printer) {
	p.ref(n.ref)
	if n.negated {
		p.sign("!~")
	} else {
		p.sign("~")
	}
	p.WriteString(bare(n.text))
}

func (n *hasNode) print(p *printer) { p.WriteString("has(" + n.ref.Name + ")") }

func (n *notNode) print(p *printer) {
	p.WriteString("not ")
	p.inner(n.of, false)
}

func (n *allNode) print(p *printer) { p.joined(n.nodes, " and ", false) }
func (n *anyNode) print(p *printer) { p.joined(n.nodes, " or ", true) }

func (p *printer) joined(nodes []node, word string, allowAll bool) {
	for i, n := range nodes {
		if i > 0 {
			p.WriteString(word)
		}
		p.inner(n, allowAll)
	}
}

// inner writes a part of a condition, in parentheses where it would otherwise be read differently.
func (p *printer) inner(n node, allowAll bool) {
	switch n.(type) {
	case *anyNode:
	case *allNode:
		if allowAll {
			n.print(p)
			return
		}
	default:
		n.print(p)
		return
	}
	p.WriteByte('(')
	n.print(p)
	p.WriteByte(')')
}

// printTerm writes one of count conditions that must all be met.
func printTerm(n node, count int, wide bool) string {
	p := &printer{wide: wide}
	if count > 1 {
		p.inner(n, false)
	} else {
		n.print(p)
	}
	return p.String()
}
