package web

import (
	"slices"
	"unicode/utf8"

	"github.com/rollscope/rollscope/core/view"
)

// heights are the row heights that the stylesheet knows, in CSS pixels.
var heights = [...]int{22, 24, 27}

// rowHeight is the height of a table's rows: the one asked for if there is one, else that of a main table.
func rowHeight(t view.Table) int {
	for _, h := range heights {
		if t.Height == h {
			return h
		}
	}
	return heights[len(heights)-1]
}

// tallest is what browsers lay out without rounding; a longer list is scaled by the script.
const tallest = 8_000_000

func above(t view.Table) int { return min(max(t.From, 0)*rowHeight(t), tallest) }

func below(t view.Table) int {
	rest := t.Total - max(t.From, 0) - len(t.Rows)
	return min(max(rest, 0)*rowHeight(t), tallest)
}

// A column of a window that has no width of its own gets one from its head and the rows at hand, in steps, so that it
// changes rarely as other rows come into sight.
const (
	digitWidth  = 7.3 // of a character of a number or in monospace
	letterWidth = 6.6
	padding     = 18 // of a cell, with room for the sort mark
	step        = 8
	markWidth   = 15
	longText    = 120 // numbers and words are never as wide
	leastWide   = 56
	mostWide    = 264
	leastGrow   = 180 // of the column that takes the rest
)

// width is the width of column i in CSS pixels, 0 for what is left.
func width(t view.Table, i int) int {
	c := t.Columns[i]
	switch {
	case c.Grow && t.Window && !c.Set:
		return 0
	case c.Width > 0 || !t.Window:
		return c.Width
	}
	head := c.Title
	if c.Unit != "" {
		head += " " + c.Unit
	}
	widest := max(extent(head, letterWidth), float64(c.Chars)*digitWidth)
	var long []float64
	for _, r := range t.Rows {
		v := cellOf(r, i)
		one := letterWidth
		if c.Right || c.Mono || v.Text.Mono {
			one = digitWidth
		}
		w := extent(v.Text.Text, one)
		if v.Text.Mark != view.NoMark {
			w += markWidth
		}
		if v.Note != "" {
			w += markWidth
		}
		if !nothing(v.Extra) {
			w += extent(" "+v.Extra.Text, one)
			if v.Extra.Mark != view.NoMark {
				w += markWidth
			}
		}
		if w > longText {
			long = append(long, w)
		} else {
			widest = max(widest, w)
		}
	}
	// A column is as wide as its long texts where they are the rule, and cuts them where they are the exception.
	if len(long) > len(t.Rows)/10 {
		widest = max(widest, slices.Max(long))
	}
	w := int(widest) + padding
	return min(max((w+step-1)/step*step, leastWide), mostWide)
}

func extent(s string, one float64) float64 { return float64(utf8.RuneCountInString(s)) * one }

// leastWidth is the width below which a window scrolls sideways inside itself.
func leastWidth(t view.Table) int {
	sum := 0
	for i, c := range t.Columns {
		if c.Grow && !c.Set {
			sum += max(c.Width, leastGrow)
		} else {
			sum += width(t, i)
		}
	}
	return sum
}

// linkless tells whether nothing inside a table with rows can take the focus, so that the table itself has to: what does
// not fit is scrolled by keys.
func linkless(t view.Table) bool {
	for _, c := range t.Columns {
		if c.Href != "" {
			return false
		}
	}
	for _, r := range t.Rows {
		if r.Href != "" || r.Open != nil {
			return false
		}
		for _, c := range r.Cells {
			if c.Text.Href != "" || c.Extra.Href != "" {
				return false
			}
		}
	}
	return len(t.Rows) > 0
}

// headed tells whether any column has a head.
func headed(t view.Table) bool {
	for _, c := range t.Columns {
		if c.Title != "" || c.Unit != "" {
			return true
		}
	}
	return false
}

// cellOf is a row's cell of a column; rows may be short.
func cellOf(r view.Row, i int) view.Cell {
	if i < len(r.Cells) {
		return r.Cells[i]
	}
	return view.Cell{Bar: -1}
}

// carrier is the column whose cell carries the link of the row, so that the keyboard reaches it: the first with a
// text and no link of its own. It is −1 when there is no such link to carry, or another cell has it already.
func carrier(t view.Table, r view.Row) int {
	if !linked(r.Href) {
		return -1
	}
	for i := range t.Columns {
		if cellOf(r, i).Text.Href == r.Href {
			return -1
		}
	}
	for i := range t.Columns {
		if c := cellOf(r, i).Text; c.Text != "" && c.Href == "" && t.Columns[i].Grid == nil {
			return i
		}
	}
	return -1
}

// placed tells whether a column says where its rows stand; its links look like links.
func placed(c view.Column) bool { return c.Key == "place" || c.Key == "line" }

// hint is what a pointer adds to a cell: the title it has, or the whole of a text that a window may cut.
func hint(t view.Table, text view.Text) string {
	if text.Title == "" && t.Window && utf8.RuneCountInString(text.Text) > 16 {
		return text.Text
	}
	return text.Title
}

// gridColumn is the column of a window whose cells are drawn, −1 where there is none.
func gridColumn(t view.Table) int {
	if !t.Window || t.Total == 0 {
		return -1
	}
	return slices.IndexFunc(t.Columns, func(c view.Column) bool { return c.Grid != nil })
}

// narrowCells tells whether the cells of a grid have no room for a shape; grid.js draws them by height then.
func narrowCells(t view.Table) bool {
	at := gridColumn(t)
	return at >= 0 && t.Columns[at].Grid.Cell < 12
}

func gridName(t view.Table) string {
	return plain("repeats of " + view.Group(t.Total) + " " + t.Caption + ": arrow keys move, Enter opens the rollout")
}

// labelEvery thins the labels of a grid out until they fit.
func labelEvery(g *view.GridHead) int {
	widest := 1
	for _, label := range g.Labels {
		widest = max(widest, utf8.RuneCountInString(label))
	}
	return max(1, int(float64(widest)*digit+6)/max(g.Cell, 1)+1)
}
