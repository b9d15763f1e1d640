package web

import (
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
const tallest = 15_000_000

func above(t view.Table) int { return min(max(t.From, 0)*rowHeight(t), tallest) }

func below(t view.Table) int {
	rest := t.Total - max(t.From, 0) - len(t.Rows)
	return min(max(rest, 0)*rowHeight(t), tallest)
}

// Columns of a window cannot ask their content for a width: it changes as rows come into sight.
const (
	glyph     = 7   // width of a character of a head, rounded up
	padding   = 18  // of a cell, with room for the sort mark
	leastGrow = 180 // of the column that takes the rest
)

// width is the width of a column in CSS pixels, 0 for what is left.
func width(t view.Table, c view.Column) int {
	switch {
	case c.Grow && t.Window:
		return 0
	case c.Width > 0 || !t.Window:
		return c.Width
	}
	chars := utf8.RuneCountInString(c.Title)
	if c.Unit != "" {
		chars += 1 + utf8.RuneCountInString(c.Unit)
	}
	return max(chars*glyph+padding, 56)
}

// leastWidth is the width below which a window scrolls sideways inside itself.
func leastWidth(t view.Table) int {
	sum := 0
	for _, c := range t.Columns {
		if c.Grow {
			sum += max(c.Width, leastGrow)
		} else {
			sum += width(t, c)
		}
	}
	return sum
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
		if c := cellOf(r, i).Text; c.Text != "" && c.Href == "" {
			return i
		}
	}
	return -1
}
