package filter

import (
	"slices"
	"strings"
)

// A Completion offers what can stand at the cursor.
type Completion struct {
	From, To int // the bytes that an item replaces
	Items    []Item
}

// An Item is one offer.
type Item struct {
	Insert string // what is put in place
	Label  string // what is shown
	Title  string // what it means, may be empty
	Class  string // "field", "operator", "value" or "word"
}

// mostItems bounds a list that nobody reads to its end.
const mostItems = 200

// Complete offers fields, operators, words and known values for a text with the cursor at a byte offset. Texts that
// cannot be understood up to the cursor get no offer.
func Complete(text string, cursor int, fields Fields) Completion {
	cursor = max(0, min(cursor, len(text)))
	c := Completion{From: cursor, To: cursor, Items: []Item{}}
	p := &parser{text: text[:cursor], fields: fields, completing: true}
	if p.checkText() != nil {
		return c
	}
	p.filter()
	if p.err != errCut {
		return c
	}
	p.inner = p.cutInner
	c.From = p.cut.start
	typed := p.cut.value
	if p.cut.kind == tokPath {
		typed = text[p.cut.start:cursor]
	}
	c.Items = rank(p.offers(), typed)
	return c
}

// offers lists everything that fits at the cut.
func (p *parser) offers() []Item {
	var items []Item
	if p.expected&wantOperator != 0 {
		items = append(items, p.operators()...)
	}
	if p.expected&(wantValue|wantOperand) != 0 {
		items = append(items, p.valueItems()...)
	}
	if p.expected&wantList != 0 {
		items = append(items, p.listItems()...)
	}
	if p.expected&(wantCondition|wantOperand|wantName) != 0 && p.cut.kind != tokString {
		side := p.expected&wantOperand != 0
		if p.inner != nil && p.inner.list == nil {
			items = append(items, Item{itemWord, itemWord, "the element, or the beginning of a path into it", "field"})
		}
		names := p.names()
		for i := range names {
			f := &names[i]
			if side && !p.comparable(f) {
				continue
			}
			items = append(items, Item{Insert: f.Name, Label: f.Name, Title: f.Title, Class: "field"})
		}
	}
	if p.expected&wantConnective != 0 {
		items = append(items, Item{"and ", "and", "both conditions must be met", "word"}, Item{"or ", "or", "one of both must be met", "word"})
	}
	if p.expected&wantCondition != 0 {
		items = append(items, Item{"not ", "not", "the next condition must not be met", "word"}, Item{"has(", "has(…)", "a field has a value", "word"},
			Item{"any(", "any(…)", "some element of a list meets a condition", "word"}, Item{"all(", "all(…)", "all elements of a list meet a condition", "word"},
			Item{"count(", "count(…)", "how many elements of a list meet a condition", "word"})
	}
	return items
}

// listItems lists what any, all and count can ask about.
func (p *parser) listItems() []Item {
	items := []Item{}
	if p.inner != nil {
		return append(items, Item{itemWord + ".", itemWord, "a list that the element has", "list"})
	}
	for _, l := range Lists {
		items = append(items, Item{l.Name, l.Name, l.Title, "list"})
	}
	return append(items, Item{rowWord + ".", rowWord, "a list inside the row", "list"})
}

// comparable tells whether a field can stand at the cut, as the other side of a comparison.
func (p *parser) comparable(f *Field) bool {
	switch {
	case p.field != nil && p.field.Name == f.Name, p.ordered && f.Kind == BoolKind:
		return false
	}
	return p.against == AnyKind || f.Kind == AnyKind || f.Kind == p.against
}

// operators lists what can follow a field, or a value that begins a comparison.
func (p *parser) operators() []Item {
	kind, value := AnyKind, p.field == nil
	if !value {
		kind = p.kind(p.field)
	}
	items := []Item{}
	add := func(fits bool, insert, title string) {
		if fits {
			items = append(items, Item{insert, strings.TrimSpace(strings.TrimSuffix(insert, "(")), title, "operator"})
		}
	}
	ordered := kind == NumberKind || kind == AnyKind
	texts := !value && (kind == TextKind || kind == AnyKind)
	add(!value && kind != NumberKind, ":", "is, or is one of")
	add(kind != TextKind, "=", "is")
	add(!value, "!=", "has a value that is another")
	add(ordered, "<", "less than")
	add(ordered, "<=", "at most")
	add(ordered, ">", "more than")
	add(ordered, ">=", "at least")
	add(texts, "~", "contains the text")
	add(texts, "!~", "does not contain the text")
	add(texts, " matches ", "has a part that fits the regular expression")
	add(texts, " not matches ", "has no part that fits the regular expression")
	add(!value, " in (", "is one of several")
	add(!value, " not in (", "has a value that is none of several")
	return items
}

func (p *parser) valueItems() []Item {
	f := p.fieldOf(p.field)
	if f == nil {
		return nil
	}
	items := []Item{}
	if f.Kind == BoolKind {
		if p.expected&wantOperand != 0 && p.ordered {
			return nil
		}
		return append(items, Item{"true", "true", "", "value"}, Item{"false", "false", "", "value"})
	}
	write := bare
	if p.expected&wantOperand != 0 || p.cut.kind == tokString {
		write = quote
	}
	for _, v := range f.values() {
		insert := v
		if f.Kind != NumberKind {
			insert = write(v)
		}
		items = append(items, Item{insert, v, "", "value"})
	}
	return items
}

// rank keeps the items that fit what was typed: first those that begin with it, then those that contain it.
func rank(items []Item, typed string) []Item {
	typed = strings.ToLower(typed)
	place := func(it Item) int {
		switch i := strings.Index(strings.ToLower(it.Label), typed); {
		case i == 0:
			return 0
		case i > 0:
			return 1
		}
		return 2
	}
	kept := []Item{}
	for _, it := range items {
		if place(it) < 2 {
			kept = append(kept, it)
		}
	}
	slices.SortStableFunc(kept, func(a, b Item) int { return place(a) - place(b) })
	return kept[:min(len(kept), mostItems)]
}
