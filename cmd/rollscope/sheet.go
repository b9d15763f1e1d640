package main

import (
	"encoding/csv"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rollscope/rollscope/core/view"
)

// A sheet is one table of a printed result, with sentences before and behind it. Cells are text, ready to be read.
type sheet struct {
	title   string
	intro   []string
	columns []column
	rows    [][]string
	notes   []string
}

// sheets are what a result prints. The one marked main is what CSV has.
type sheets struct {
	list []sheet
	main sheet
}

func (s *sheets) add(one sheet) { s.list = append(s.list, one) }

// A printing says in which form a result goes to standard output, and whether files are written.
type printing struct {
	dir                 string
	json, csv, markdown bool
}

func (p *printing) flags(cmd *cobra.Command, files string) {
	f := cmd.Flags()
	f.StringVarP(&p.dir, "output", "o", "", "write "+files+" into this `directory`")
	f.BoolVar(&p.json, "json", false, "print one JSON document")
	f.BoolVar(&p.csv, "csv", false, "print the main table as CSV")
	f.BoolVar(&p.markdown, "markdown", false, "print the tables as Markdown")
	cmd.MarkFlagsMutuallyExclusive("json", "csv", "markdown")
}

func (p *printing) check(cmd *cobra.Command) error {
	if p.dir == "" && cmd.Flags().Changed("output") {
		return usagef("-o: a directory is missing")
	}
	return nil
}

// print writes a result in the wanted form; document writes the JSON.
func (p *printing) print(w io.Writer, s *sheets, document func(io.Writer) error) error {
	switch {
	case p.json:
		if err := document(w); err != nil {
			return err
		}
		_, err := io.WriteString(w, "\n")
		return err
	case p.csv:
		return printCSV(w, &s.main)
	case p.markdown:
		return printMarkdown(w, s.list)
	}
	return printSheets(w, s.list)
}

// print prints a result on standard output.
func (h *host) print(p *printing, s *sheets, document func(io.Writer) error) error {
	return h.shown(func(w io.Writer) error { return p.print(w, s, document) })
}

func printSheets(w io.Writer, list []sheet) error {
	out := &errWriter{w: w}
	for i, s := range list {
		if i > 0 {
			out.printf("\n")
		}
		if s.title != "" {
			out.printf("%s\n", safe(s.title))
		}
		for _, line := range s.intro {
			out.printf("%s\n", safe(line))
		}
		if out.err != nil {
			return out.err
		}
		if len(s.rows) > 0 {
			rows := make([][]string, len(s.rows))
			for k, r := range s.rows {
				rows[k] = make([]string, len(r))
				for n, text := range r {
					rows[k][n] = safe(text)
				}
			}
			if err := printTable(w, s.columns, rows); err != nil {
				return err
			}
		}
		for _, line := range s.notes {
			out.printf("%s\n", safe(line))
		}
	}
	return out.err
}

func printMarkdown(w io.Writer, list []sheet) error {
	out := &errWriter{w: w}
	for i, s := range list {
		if i > 0 {
			out.printf("\n")
		}
		if s.title != "" {
			out.printf("## %s\n\n", markdownText(s.title))
		}
		for _, line := range s.intro {
			out.printf("%s\n\n", markdownText(line))
		}
		if len(s.rows) > 0 {
			for _, c := range s.columns {
				out.printf("| %s ", markdownText(c.title))
			}
			out.printf("|\n")
			for _, c := range s.columns {
				if c.right {
					out.printf("|---:")
				} else {
					out.printf("|---")
				}
			}
			out.printf("|\n")
			for _, r := range s.rows {
				for _, text := range r {
					out.printf("| %s ", markdownText(text))
				}
				out.printf("|\n")
			}
		}
		for _, line := range s.notes {
			out.printf("\n%s\n", markdownText(line))
		}
	}
	return out.err
}

// markdownText writes a text so that nothing in it is markup.
func markdownText(s string) string {
	var b strings.Builder
	s = safe(s)
	for i, r := range s {
		// An address is no link.
		if strings.ContainsRune("\\`*_{}[]<>#|&~!", r) || r == ':' && strings.HasPrefix(s[i:], "://") || r == '.' && i > 2 && strings.EqualFold(s[i-3:i], "www") {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

func printCSV(w io.Writer, s *sheet) error {
	c := csv.NewWriter(w)
	head := make([]string, len(s.columns))
	for i, column := range s.columns {
		head[i] = column.title
	}
	if err := c.Write(head); err != nil {
		return err
	}
	row := make([]string, len(s.columns))
	for _, r := range s.rows {
		for i, text := range r {
			row[i] = csvText(text, s.columns[i].right)
		}
		if err := c.Write(row); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

// csvText writes a cell. Spreadsheets take text that begins like a formula for one, so an apostrophe goes in front of
// it; what is missing is empty.
func csvText(text string, number bool) string {
	if text == view.Dash {
		return ""
	}
	if number {
		if _, err := strconv.ParseFloat(text, 64); err == nil {
			return text
		}
	}
	if view.Formula(text) {
		return "'" + text
	}
	return text
}

// decimal writes a computed number for people: four decimals below ten, two above, a dash for none.
func decimal(x float64, there bool) string {
	switch {
	case !there || math.IsNaN(x) || math.IsInf(x, 0):
		return view.Dash
	case math.Abs(x) >= 1e15:
		return strconv.FormatFloat(x, 'g', 6, 64)
	case math.Abs(x) < 10:
		return strconv.FormatFloat(x, 'f', 4, 64)
	}
	return strconv.FormatFloat(x, 'f', 2, 64)
}

// plainDecimal writes a computed number for programs.
func plainDecimal(x float64, there bool) string {
	if !there || math.IsNaN(x) || math.IsInf(x, 0) {
		return view.Dash
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// between writes an interval.
func between(low, high float64, there bool) string {
	if !there {
		return view.Dash
	}
	return "[" + decimal(low, true) + ", " + decimal(high, true) + "]"
}
