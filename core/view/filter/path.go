package filter

import (
	"strconv"
	"strings"

	"github.com/rollscope/rollscope/core/jsonscan"
)

// A Ref is what a condition reads: a field, or a path into the row.
type Ref struct {
	Name string // of the field; of a path its usual form, such as row.response.usage.total_tokens
	Path []Step // nil for a field
}

// A Step of a path is a key of an object or, when Key is nil, an index of an array.
type Step struct {
	Key   *string
	Index int
}

// Lookup follows a path from the row's object. Where it leads nowhere the value is missing.
func Lookup(row jsonscan.Value, path []Step) Value {
	for _, step := range path {
		switch {
		case step.Key != nil && row.IsObject():
			row = row.Get(*step.Key)
		case step.Key == nil && row.IsArray():
			row = element(row, step.Index)
		default:
			return Value{}
		}
	}
	return Of(row)
}

func element(array jsonscan.Value, index int) jsonscan.Value {
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
	if p.err == nil && t.kind != tokPath {
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
				p.failAt(open, min(p.at+1, len(p.text)), "", "brackets hold a number from 0 or a key in quotes")
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
	t.ref = Ref{Name: pathName(steps), Path: steps}
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
func pathName(steps []Step) string {
	var b strings.Builder
	b.WriteString(rowWord)
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
