package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rollscope/rollscope/core/pack"
)

// Describe tells the desk that its files come from a bundle: its pages say when it was made, from what, and what was
// left out. It is called after [Desk.Open]; nil is no bundle.
func (d *Desk) Describe(x *pack.Index) { d.bundle = x }

// mostDescribed bounds the lines about one thing.
const mostDescribed = 20

// describe says what a page shows files of.
func (d *Desk) describe(p *Page) {
	x := d.bundle
	if x == nil {
		return
	}
	if x.Title != "" {
		p.Title = x.Title + " – " + brand
	}
	p.Foot = append([]Text{{Text: bundleInShort(x), Title: strings.Join(bundleLines(x), "\n")}}, p.Foot...)
	p.Lock.Lines = append(bundleLines(x), p.Lock.Lines...)
	n := func(name string, n int64) Stat { return Stat{Name: name, Value: fmt.Sprint(n)} }
	p.Stats = append(p.Stats, Stat{Name: "bundle.id", Value: x.ID()}, Stat{Name: "bundle.made", Value: x.Made}, n("bundle.rows_of", x.Rows.Of), n("bundle.rows_kept", x.Rows.Kept))
}

func bundleInShort(x *pack.Index) string {
	words := "bundle of " + count(x.Rows.Of, "row", "rows")
	if x.Rows.Kept != x.Rows.Of {
		words = "bundle of " + Group(x.Rows.Kept) + " of " + count(x.Rows.Of, "row", "rows")
	}
	if x.Redaction != nil {
		words += ", redacted"
	}
	return words
}

// bundleLines say what a bundle is, for the panel behind the lock.
func bundleLines(x *pack.Index) []string {
	made, more := aboutBundle(x)
	return slices.Concat([]string{"These files come from a bundle made " + x.Made + " by " + x.By + ". Every block is held against its hash when it is opened; the bundle is known as " + x.ID()[:16] + "."}, made, more)
}

// aboutBundle says from what a bundle was made, and what is not in it.
func aboutBundle(x *pack.Index) (made, lines []string) {
	short := func(list []string, what string) []string {
		if len(list) > mostDescribed {
			return append(list[:mostDescribed:mostDescribed], "… and "+count(len(list)-mostDescribed, what, what+"s")+" more")
		}
		return list
	}
	for _, s := range x.Sources {
		made = append(made, fmt.Sprintf("made from %s: %s bytes, SHA-256 %s", s.Name, Group(s.Size), s.SHA256))
	}
	made = short(made, "file")
	if o := x.Origin; o != nil {
		line := "They came from another bundle, made " + o.Made + ", which held " + Group(o.Rows.Kept) + " of " + count(o.Rows.Of, "row", "rows")
		if o.Filter != "" {
			line += ", those that fit the filter " + o.Filter
		}
		if o.Left > 0 {
			line += ", without " + count(o.Left, "file", "files")
		}
		if o.Redacted {
			line += ", and was redacted"
		}
		lines = append(lines, line+".")
	}
	if x.Filter != "" {
		lines = append(lines, fmt.Sprintf("It holds the %s of %s rows that fit the filter %s. Lines are counted within the bundle.", Group(x.Rows.Kept), Group(x.Rows.Of), x.Filter))
	}
	if x.Rows.Unreadable > 0 {
		lines = append(lines, "Left out, since they could not be read and so not redacted: "+count(x.Rows.Unreadable, "line", "lines")+".")
	}
	var left []string
	for _, l := range x.Left {
		left = append(left, "left out: "+l.Name+", "+l.Reason)
	}
	lines = append(lines, short(left, "file")...)
	if r := x.Redaction; r != nil {
		lines = append(lines, fmt.Sprintf("It was redacted, so numbers are those of what is left: %s stayed as they were, copies of redacted texts were masked in %s.",
			count(r.Kept, "value", "values"), count(r.Copies, "other text", "other texts")))
		for _, c := range r.Rules {
			lines = append(lines, fmt.Sprintf("rule %s %s: %s", c.Action, c.Path, count(c.Values, "value", "values")))
		}
	}
	return made, lines
}
