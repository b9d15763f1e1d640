package report

import (
	"strings"

	"github.com/rollscope/rollscope/core/view"
)

// A Document is a report for people.
type Document struct {
	Title    string
	Lines    []string // what it is made of
	Sections []Section
}

// A Section answers one question.
type Section struct {
	Title  string
	Number string // the answer in short, may be empty
	Of     string // its denominator or unit
	Parts  []view.Share
	Lines  []Line
	Tables []Table
	Notes  []string
}

// A Line is a name with its value.
type Line struct {
	Text, Value, Note string
}

// A Table has finished texts. Rows are as long as Columns.
type Table struct {
	Title   string
	Columns []Column
	Rows    [][]string
	Empty   string // stands in the place of a table without rows
	More    int    // rows that are left out
}

// A Column is the head of a table's column.
type Column struct {
	Title string
	Right bool // numbers
	Mono  bool // ids, places
}

// fromTable takes a table of the page over, at most so many rows of it. Columns without texts, such as bars, are
// left out.
func fromTable(t view.Table, most int) Table {
	out := Table{Title: t.Caption, Empty: t.Empty}
	var kept []int
	for i, c := range t.Columns {
		written := false
		for _, r := range t.Rows {
			written = written || i < len(r.Cells) && cellText(r.Cells[i]) != ""
		}
		if written && !c.Bars {
			kept = append(kept, i)
			title := c.Title
			if c.Unit != "" {
				title += ", " + c.Unit
			}
			out.Columns = append(out.Columns, Column{Title: title, Right: c.Right, Mono: c.Mono})
		}
	}
	for _, r := range t.Rows {
		if len(out.Rows) == most {
			break
		}
		row := make([]string, len(kept))
		for n, i := range kept {
			if i < len(r.Cells) {
				row[n] = cellText(r.Cells[i])
			}
		}
		out.Rows = append(out.Rows, row)
	}
	out.More = max(t.Total-len(out.Rows), 0)
	return out
}

// cellText is what a cell says.
func cellText(c view.Cell) string {
	var words []string
	add := func(s string) {
		if s != "" {
			words = append(words, s)
		}
	}
	add(c.Text.Text)
	add(c.Extra.Text)
	for _, p := range c.Parts {
		if p.Count > 0 {
			add(p.Text + " " + p.Word)
		}
	}
	for _, b := range c.Boxes {
		add(b.Value.Text)
	}
	return strings.Join(words, " ")
}

func fromFacts(facts []view.Fact) (lines []Line) {
	for _, f := range facts {
		lines = append(lines, Line{f.Label, f.Value.Text, f.Note.Text})
	}
	return lines
}
