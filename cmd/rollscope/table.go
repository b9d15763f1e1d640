package main

import (
	"io"
	"strings"
	"unicode/utf8"
)

// A column is the head of a printed table.
type column struct {
	title string
	right bool // numbers
}

// printTable prints rows under their heads, columns two spaces apart and none padded at the end of a line.
func printTable(w io.Writer, columns []column, rows [][]string) error {
	width := make([]int, len(columns))
	head := make([]string, len(columns))
	for i, c := range columns {
		head[i] = c.title
		width[i] = utf8.RuneCountInString(c.title)
		for _, r := range rows {
			width[i] = max(width[i], utf8.RuneCountInString(r[i]))
		}
	}
	var b strings.Builder
	for _, r := range append([][]string{head}, rows...) {
		var line strings.Builder
		for i, c := range columns {
			if i > 0 {
				line.WriteString("  ")
			}
			room := strings.Repeat(" ", width[i]-utf8.RuneCountInString(r[i]))
			if c.right {
				line.WriteString(room + r[i])
			} else {
				line.WriteString(r[i] + room)
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " "))
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// wrap breaks a text at spaces so that no line is longer than most, where words allow it.
func wrap(text string, most int) string {
	var b strings.Builder
	at := 0
	for word := range strings.FieldsSeq(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case at == 0:
		case at+1+n > most:
			b.WriteByte('\n')
			at = 0
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += n
	}
	return b.String()
}
