package filter

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/rollscope/rollscope/core/search"
)

// Bounds of regular expressions. They are matched in a time that grows with the text times the steps of the
// expression, so the steps are what must stay small.
const (
	MaxPattern = 1000 // bytes of one
	MaxSteps   = search.MaxSteps
	allSteps   = 20_000 // of all in one filter
)

// A matchNode asks whether a text has a part that a regular expression describes.
type matchNode struct {
	ref     *Ref
	text    string
	re      *regexp.Regexp
	negated bool
}

func (n *matchNode) match(row Row) bool {
	if met, known := answer(row, n); known {
		return met
	}
	v := n.ref.value(row)
	return v.kind != missing && v.each(func(v Value) bool {
		return v.kind == text && n.re.MatchString(v.text)
	}) != n.negated
}

func (n *matchNode) refs(visit func(*Ref)) { visit(n.ref) }

func (n *matchNode) print(p *printer) {
	p.ref(n.ref)
	if n.negated {
		p.WriteString(" not")
	}
	p.WriteString(" matches " + quote(n.text))
}

// matches reads the regular expression behind "matches".
func (p *parser) matches(ref *Ref, negated bool) node {
	value, t := p.value(nil)
	if p.err != nil {
		return nil
	}
	if k := p.kind(ref); k == NumberKind || k == BoolKind {
		p.fail(t, "", "%s is %s and has no text to match", ref.Name, k)
		return nil
	}
	re := p.pattern(value.text, t)
	if p.err != nil {
		return nil
	}
	return &matchNode{ref: ref, text: value.text, re: re, negated: negated}
}

// pattern compiles a regular expression that stands in t.
func (p *parser) pattern(text string, t token) *regexp.Regexp {
	if len(text) > MaxPattern {
		p.fail(t, "", "a regular expression has at most %d bytes", MaxPattern)
		return nil
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		p.wrongPattern(text, t, err)
		return nil
	}
	steps := search.Steps(tree)
	if steps > MaxSteps || p.steps+steps > allSteps {
		p.fail(t, "", "the regular expression is too large: its repetitions multiply")
		return nil
	}
	p.steps += steps
	re, err := regexp.Compile(text)
	if err != nil {
		p.wrongPattern(text, t, err)
	}
	return re
}

// wrongPattern says what is wrong with a regular expression, at its place where that can be told.
func (p *parser) wrongPattern(text string, t token, err error) {
	message, part := err.Error(), ""
	if wrong := (*syntax.Error)(nil); errors.As(err, &wrong) {
		message, part = wrong.Code.String(), wrong.Expr
	}
	start, end := t.start, t.end
	inner := t.start
	if t.kind == tokString {
		inner++
	}
	// Without escapes the expression stands in the filter as it is.
	if at := strings.LastIndex(text, part); part != "" && at >= 0 && inner+len(text) <= t.end && p.text[inner:inner+len(text)] == text {
		start, end = inner+at, inner+at+len(part)
	}
	p.failAt(start, end, "", "the regular expression cannot be read: %s", message)
}
