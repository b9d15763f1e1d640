package view

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rollscope/rollscope/core/view/filter"
)

// filterBar is the row under the bar: the filter as chips and as text, and how many rows fit.
func filterBar(c *selection, s State, found *matches, h Host) FilterBar {
	f := FilterBar{Text: s.Filter, Chips: found.chips(s), Shown: found.len(c), Total: c.table.Rows(), Unit: "rollouts"}
	if f.Total == 1 {
		f.Unit = "rollout"
	}
	if h.Reading {
		f.Unit = "read so far"
	}
	f.Count = Group(f.Shown) + " of " + Group(f.Total)
	if found.pending {
		f.pending(c, found, h)
	}
	if found.err == nil {
		return f
	}
	f.Error = found.err.Error()
	f.Unit += ", not filtered"
	var wrong *filter.Error
	if errors.As(found.err, &wrong) {
		f.Error, f.ErrorAt = wrong.Message, wrong.Column-1
		if wrong.Suggestion != "" {
			f.Fix = Link{Text: wrong.Suggestion, Href: s.With(func(s *State) { s.Filter = wrong.Fixed() }).Href()}
		}
	}
	return f
}

// pending says how far the second scan is that the filter needs.
func (f *FilterBar) pending(c *selection, found *matches, h Host) {
	switch {
	case h.Unasked != "":
		f.Error = "Some rows could not be asked for what the filter reads inside them and are left out: " + h.Unasked
	case h.Reading:
		f.Unit += ", the filter waits for the files to be read"
	default:
		f.Unit += fmt.Sprintf(", scanning %d %%", found.look.percent(c))
	}
}

// Offers is what can stand at a place of the filter text, for the list under it.
type Offers struct {
	Before, After string // the text around what an offer replaces
	Items         []filter.Item
}

// mostOffers is how many offers a list shows; typing on narrows them down.
const mostOffers = 40

// Offer lists what can stand at a byte of a filter text, with the names and texts of the files that are open.
func (d *Desk) Offer(s State, text string, cursor int) Offers {
	fields := FilterFields()
	if !d.Empty() {
		c := d.choose(s)
		c.tally.count(c.table, c.rules)
		fields = c.fields()
	}
	done := filter.Complete(text, cursor, fields)
	o := Offers{Before: text[:done.From], After: text[done.To:], Items: done.Items}
	typed := text[done.From:min(max(cursor, done.From), len(text))]
	for _, item := range done.Items {
		if item.Insert != typed || typed == "" {
			continue
		}
		// The word is whole: what can follow it is of more use than the word.
		next := filter.Complete(text[:done.From]+typed+" ", len(text[:done.From]+typed)+1, fields)
		o.Items = slices.DeleteFunc(o.Items, func(i filter.Item) bool { return i.Insert == typed })
		for _, more := range next.Items {
			if more.Class != "operator" || strings.HasPrefix(more.Insert, " ") {
				more.Insert = " " + strings.TrimLeft(more.Insert, " ")
			}
			more.Insert = typed + more.Insert
			o.Items = append(o.Items, more)
		}
		break
	}
	o.Items = o.Items[:min(len(o.Items), mostOffers)]
	return o
}
