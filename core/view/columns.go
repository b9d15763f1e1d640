package view

import (
	"fmt"
	"slices"
	"strconv"
)

// A Chooser shows which columns a table has, with the links that show, hide, move and resize them.
type Chooser struct {
	Tab     string // the table is that of this tab, whose choice is kept
	Entries []ChosenColumn
	Default string // link to the usual columns; "" while they are shown
	Shown   int
}

// A ChosenColumn is one column of a [Chooser]. Links are "" where there is nothing to do.
type ChosenColumn struct {
	Key, Title, Help string
	On               bool
	Toggle           string
	Up, Down         string // nearer to the first column, nearer to the last
	Wider, Narrower  string
}

// A choosable is a column that a table can have, and whether it is shown unless others are chosen.
type choosable struct {
	Column
	plain bool
}

// choosables lists the columns of a table for its chooser.
func choosables[C any](columns []C, of func(*C) choosable) []choosable {
	list := make([]choosable, len(columns))
	for i := range columns {
		list[i] = of(&columns[i])
	}
	return list
}

const (
	widthStep  = 24 // by how much a link makes a column wider
	usualWidth = 96 // stands for the width of a column that is as wide as its content
)

func columnAt(all []choosable, key string) int {
	return slices.IndexFunc(all, func(c choosable) bool { return c.Key == key })
}

// chosen gives the columns that a State shows. Keys that the table does not have are left out; when nothing is left,
// the usual ones are shown.
func chosen(s State, all []choosable) []Shown {
	var list []Shown
	for _, c := range s.Columns {
		if columnAt(all, c.Key) >= 0 {
			list = append(list, c)
		}
	}
	if len(list) > 0 {
		return list
	}
	for i := range all {
		if all[i].plain {
			list = append(list, Shown{Key: all[i].Key})
		}
	}
	return list
}

// chooserOf makes the chooser of a table: the shown columns in their order, then the others.
func chooserOf(s State, all []choosable) *Chooser {
	now := chosen(s, all)
	c := &Chooser{Tab: s.Tab, Shown: len(now), Entries: make([]ChosenColumn, 0, len(all))}
	to := func(list []Shown) string { return s.With(func(s *State) { s.Columns = list }).Href() }
	if len(s.Columns) > 0 {
		c.Default = to(nil)
	}
	for i, shown := range now {
		col := &all[columnAt(all, shown.Key)]
		e := ChosenColumn{Key: col.Key, Title: col.Title, Help: col.Help, On: true}
		if len(now) > 1 {
			e.Toggle = to(slices.Delete(slices.Clone(now), i, i+1))
		}
		if i > 0 {
			e.Up = to(swapped(now, i, i-1))
		}
		if i < len(now)-1 {
			e.Down = to(swapped(now, i, i+1))
		}
		width := shown.Width
		if width == 0 {
			width = max(col.Width, usualWidth)
		}
		resized := func(by int) string {
			list := slices.Clone(now)
			list[i].Width = min(max(width+by, narrowest), broadest)
			return to(list)
		}
		if width < broadest {
			e.Wider = resized(widthStep)
		}
		if width > narrowest {
			e.Narrower = resized(-widthStep)
		}
		c.Entries = append(c.Entries, e)
	}
	for i := range all {
		if slices.ContainsFunc(now, func(s Shown) bool { return s.Key == all[i].Key }) {
			continue
		}
		// It comes behind the last column that stands in front of it by nature.
		at := 0
		for k, shown := range now {
			if columnAt(all, shown.Key) < i {
				at = k + 1
			}
		}
		c.Entries = append(c.Entries, ChosenColumn{Key: all[i].Key, Title: all[i].Title, Help: all[i].Help,
			Toggle: to(slices.Insert(slices.Clone(now), at, Shown{Key: all[i].Key}))})
	}
	return c
}

func swapped[T any](list []T, i, k int) []T {
	list = slices.Clone(list)
	list[i], list[k] = list[k], list[i]
	return list
}

// head is the head of a column of a table that can be sorted: a click sorts, a second one turns the order, a third
// one gives the first order back.
func head(s State, col Column, shown Shown, sortable bool) Column {
	if shown.Width > 0 {
		col.Width, col.Set = shown.Width, true
	}
	if !sortable {
		return col
	}
	key, down := sortKey(s)
	if col.Key == key {
		col.Sorted = 1
		if down {
			col.Sorted = -1
		}
	}
	col.Href = s.With(func(s *State) {
		switch {
		case col.Key != key:
			s.Sort = col.Key
		case !down:
			s.Sort = "-" + col.Key
		default:
			s.Sort = ""
		}
	}).Href()
	return col
}

// sized tells a column how long its values are, so that it keeps its width as other rows come into sight.
func (c *selection) sized(col Column) Column {
	switch col.Key {
	case "place", "line":
		if c.table.Sources() == 1 || col.Key == "line" {
			for i := range c.table.Sources() {
				col.Chars = max(col.Chars, len(strconv.FormatInt(c.table.Account(i).Lines, 10)))
			}
		}
	case "byte":
		for i := range c.table.Sources() {
			col.Chars = max(col.Chars, len(strconv.FormatInt(c.table.Account(i).Bytes(), 10)))
		}
	default:
		col.Chars = c.tally.series.chars[col.Key]
	}
	return col
}

// sortedBy says in words how a table is sorted.
func sortedBy(s State, all []choosable, otherwise string) string {
	key, down := sortKey(s)
	i := columnAt(all, key)
	switch {
	case key == "" || i < 0:
		return otherwise
	case down:
		return "sorted by " + all[i].Title + ", descending"
	}
	return "sorted by " + all[i].Title
}

// tableFoot is the foot of a tab that is one table: what of it is in sight, how it is sorted, its columns, what can
// be taken along.
func tableFoot(p *Page, s State, all []choosable, t Table, otherwise string) {
	p.Chooser = chooserOf(s, all)
	last := t.From + len(t.Rows)
	p.Sight = &Sight{Table: t.ID, Total: t.Total, Text: fmt.Sprintf("rows %s–%s of %s", Group(min(t.From+1, last)), Group(last), Group(t.Total))}
	p.Foot = []Text{
		{Text: sortedBy(s, all, otherwise)},
		{Text: fmt.Sprintf("%d of %s", p.Chooser.Shown, count(len(all), "column", "columns"))},
	}
	p.Links = exports(t.ID)
}
