package filter

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rollscope/rollscope/core/jsonscan"
)

// A Ref is what a condition reads: a field, a path into the row, or the outcome for a list in it.
type Ref struct {
	Name string // of the field; else the usual form, such as row.response.usage.total_tokens
	Path []Step // nil for what is no path

	item bool      // the path begins at an element of a list
	list *listExpr // any(…), all(…) or count(…)
}

// InRow tells whether the row is needed as it is in the file, since no field has it.
func (r *Ref) InRow() bool { return r.Path != nil || r.list != nil }

// A Step of a path is a key of an object or, when Key is nil, an index of an array.
type Step struct {
	Key   *string
	Index int
}

// Lookup follows a path from the row's object. Where it leads nowhere the value is missing.
func Lookup(row jsonscan.Value, path []Step) Value { return Of(follow(row, path)) }

// follow gives what stands at a path, absent if nothing does.
func follow(v jsonscan.Value, path []Step) jsonscan.Value {
	for _, step := range path {
		switch {
		case step.Key != nil && v.IsObject():
			v = v.Get(*step.Key)
		case step.Key == nil && v.IsArray():
			v = nth(v, step.Index)
		default:
			return jsonscan.Value{}
		}
	}
	return v
}

func nth(array jsonscan.Value, index int) jsonscan.Value {
	for e := array.Elements(); e.Next(); index-- {
		if index == 0 {
			return e.Value
		}
	}
	return jsonscan.Value{}
}

// ParsePath reads a path alone: row.a.b[0], $.a.b[0] or row["odd key"].
func ParsePath(s string) (Ref, error) {
	p := &parser{text: s}
	if err := p.checkText(); err != nil {
		return Ref{}, err
	}
	t := p.next(operandMode)
	if p.err == nil && (t.kind != tokPath || t.ref.item) {
		p.fail(t, "", "a path begins with row. or $.")
	}
	if p.err == nil && t.end != len(s) {
		p.failAt(t.end, len(s), "", "not part of a path")
	}
	if p.err != nil {
		return Ref{}, p.err
	}
	return t.ref, nil
}

// path reads the steps that begin at p.at, behind "row" or "$".
func (p *parser) path(start int) token {
	var steps []Step
	root := rowWord
	if p.text[start:p.at] == itemWord {
		root = itemWord
	}
	for p.at < len(p.text) {
		switch p.text[p.at] {
		case '.':
			name := p.name(p.at + 1)
			if name == "" && p.completing && p.at+1 == len(p.text) {
				p.at++
				return p.token(tokBad, start)
			}
			if name == "" {
				p.failAt(p.at, p.at+1, "", "a key must follow; odd keys stand in brackets and quotes: [\"…\"]")
				return p.token(tokBad, start)
			}
			p.at += 1 + len(name)
			steps = append(steps, Step{Key: &name})
		case '[':
			open := p.at
			p.at++
			step, ok := p.bracket()
			if p.err != nil {
				return p.token(tokBad, start)
			}
			if !ok || p.at >= len(p.text) || p.text[p.at] != ']' {
				_, size := utf8.DecodeRuneInString(p.text[p.at:])
				p.failAt(open, p.at+size, "", "brackets hold a number from 0 or a key in quotes")
				return p.token(tokBad, start)
			}
			p.at++
			steps = append(steps, step)
		default:
			goto done
		}
	}
done:
	if steps == nil {
		p.failAt(start, p.at, "", "a path needs a key: %s.reward", p.text[start:p.at])
		return p.token(tokBad, start)
	}
	t := p.token(tokPath, start)
	t.ref = Ref{Name: pathName(root, steps), Path: steps, item: root == itemWord}
	return t
}

func (p *parser) bracket() (Step, bool) {
	if p.at < len(p.text) && (p.text[p.at] == '"' || p.text[p.at] == '\'') {
		t := p.quoted()
		return Step{Key: &t.value}, t.kind == tokString
	}
	n := leadingDigits(p.text[p.at:])
	index, err := strconv.ParseUint(p.text[p.at:p.at+n], 10, 31)
	p.at += n
	return Step{Index: int(index)}, err == nil
}

// pathName prints a path in its usual form.
func pathName(root string, steps []Step) string {
	var b strings.Builder
	b.WriteString(root)
	for _, s := range steps {
		switch {
		case s.Key == nil:
			b.WriteString("[" + strconv.Itoa(s.Index) + "]")
		case plainName(*s.Key):
			b.WriteString("." + *s.Key)
		default:
			b.WriteString("[" + quote(*s.Key) + "]")
		}
	}
	return b.String()
}
