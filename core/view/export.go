package view

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/rollscope/rollscope/core/jsontext"
)

// An Export is a part of a table as a file or for the clipboard. Parts follow each other until there is no more;
// they are put together as they are.
type Export struct {
	Text   string
	Ranges []Need // bytes of files instead of a text, each to be followed by a line feed
	Next   int    // row that the next part begins at
	Total  int    // rows of the table
	Done   bool
}

// Rows of one part.
const (
	textPart  = 1000
	rangePart = 20000
)

// Forms of an export.
const (
	formTSV   = "tsv"
	formCSV   = "csv"
	formJSONL = "jsonl"
)

// Export gives the part of a whole table that begins at a row: the rows of the current filter in their order. The
// rows of the Rollouts table and the refused lines are, as JSONL, the bytes of their files.
func (d *Desk) Export(s State, table, form string, from int) (*Export, error) {
	if d.Empty() {
		return nil, errNoReport
	}
	c := d.choose(s)
	c.tally.count(c.table, c.rules)
	s.Tab = d.tab(s)
	from = max(from, 0)
	t, ok := d.wholeTable(c, s, table, from, from+textPart)
	if !ok {
		return nil, fmt.Errorf("there is no table %q to save", table)
	}
	if form == formJSONL && (table == "rollouts" || table == "refused") {
		return d.exportLines(c, s, table, from), nil
	}
	rows := t.Rows
	if !t.Window {
		rows = rows[min(from, len(rows)):min(from+textPart, len(rows))]
	}
	e := &Export{Next: from + len(rows), Total: t.Total}
	e.Done = len(rows) < textPart || e.Next >= t.Total
	var b bytes.Buffer
	switch form {
	case formTSV:
		if from == 0 {
			b.WriteString(tsvHead(t.Columns))
		}
		for _, r := range rows {
			writeTSV(&b, t.Columns, r)
		}
	case formCSV:
		if from == 0 {
			writeCSVHead(&b, t.Columns)
		}
		for _, r := range rows {
			writeCSV(&b, t.Columns, r)
		}
	case formJSONL:
		for _, r := range rows {
			writeJSON(&b, t.Columns, r)
		}
	default:
		return nil, fmt.Errorf("there is no form %q of a table", form)
	}
	e.Text = b.String()
	return e, nil
}

// wholeTable is a table with the rows of a part at least; ok is false if the page has no such table.
func (d *Desk) wholeTable(c *selection, s State, table string, from, to int) (t Table, ok bool) {
	switch table {
	case "rollouts":
		return d.rolloutTable(c, s, d.filter(c, s), from, to), true
	case "tasks":
		return d.taskTable(c, s, from, to), true
	case "checks":
		return d.health(c, s).Checks, true
	case "eyes":
		return d.eyes(c, s), true
	case "read":
		return d.readTable(c, d.fates(c), s, math.MaxInt), true
	case "others":
		return d.othersTable(c, d.fates(c), s, math.MaxInt), true
	case "said":
		return d.saidTable(c, d.fates(c), s), true
	case "saying":
		return d.sayingTable(c, d.fates(c), s, from, to), true
	case "batch", "batch_differences":
		f := d.fates(c)
		if f == nil {
			return Table{}, false
		}
		agents, differences := f.batchTables()
		if table == "batch_differences" {
			agents = differences
		}
		return agents, true
	case "refused":
		return d.refusedTable(c, s, from, to), true
	}
	return d.paneTable(c, s, table, from, to)
}

// exportLines gives the places of rows in their files. Lines that follow each other there make one range.
func (d *Desk) exportLines(c *selection, s State, table string, from int) *Export {
	total, at := len(c.tally.refused), func(n int) int { return int(c.tally.refused[n]) }
	if table == "rollouts" {
		found := d.filter(c, s)
		total, at = found.len(c), func(n int) int { return found.at(c, n) }
	}
	e := &Export{Total: total, Ranges: []Need{}, Next: min(max(from, 0)+rangePart, total)}
	e.Done = e.Next >= total
	for n := from; n < e.Next; n++ {
		row, ok := c.table.Row(at(n))
		if !ok {
			continue
		}
		need := Need{File: d.sources[c.sources[row.Source]], Offset: row.Offset, Length: row.Length}
		if last := len(e.Ranges) - 1; last >= 0 && e.Ranges[last].follows(need) {
			e.Ranges[last].Length += 1 + need.Length
			continue
		}
		e.Ranges = append(e.Ranges, need)
	}
	return e
}

// longestRange bounds ranges that lines are joined to; a packed file gives each of them from memory.
const longestRange = 4 << 20

// follows tells whether a line comes right behind a range, with a line feed between.
func (n *Need) follows(next Need) bool {
	return n.File == next.File && n.Offset+n.Length+1 == next.Offset && n.Length+next.Length < longestRange
}

// Bytes gives a range of a file, as far as it has been supplied; otherwise it is needed first.
func (d *Desk) Bytes(n Need) (data []byte, needs []Need, err error) {
	if n.File < 0 || n.File >= len(d.files) || n.Offset < 0 || n.Length < 0 {
		return nil, nil, errNoRange
	}
	if n.Length == 0 {
		return []byte{}, nil, nil
	}
	if t := &d.texts; !t.ok || t.need != n {
		return nil, []Need{n}, nil
	}
	if d.texts.err != "" {
		return nil, nil, errors.New(d.texts.err)
	}
	return d.texts.data, nil, nil
}

var errNoRange = errors.New("there is no such range of a file")

// exports are the links that copy and save a table.
func exports(table string) []Link {
	return []Link{
		{Text: "Copy TSV", Copy: formTSV, Table: table},
		{Text: "Download CSV", Download: table + "." + formCSV, Table: table},
		{Text: "Download JSONL", Download: table + "." + formJSONL, Table: table},
	}
}

// A spreadsheet takes a text that begins with one of these for a formula, and runs it; what is wide is taken for what
// is narrow.
const formulaStarts = "=+-@\t\r\n＝＋－＠"

// Formula tells whether a spreadsheet may take a text for a formula.
func Formula(s string) bool {
	first, size := utf8.DecodeRuneInString(s)
	return size > 0 && strings.ContainsRune(formulaStarts, first)
}

// inert puts an apostrophe in front of a text that a spreadsheet would run. Numbers stay as they are.
func inert(s string) string {
	if !Formula(s) || isNumber(s) {
		return s
	}
	return "'" + s
}

// isNumber tells whether a text is a number as JSON writes it.
func isNumber(s string) bool {
	digits := func() int {
		n := 0
		for n < len(s) && s[n] >= '0' && s[n] <= '9' {
			n++
		}
		return n
	}
	s = strings.TrimPrefix(s, "-")
	n := digits()
	if n == 0 || n > 1 && s[0] == '0' {
		return false
	}
	if s = s[n:]; strings.HasPrefix(s, ".") {
		s = s[1:]
		if n = digits(); n == 0 {
			return false
		}
		s = s[n:]
	}
	if s != "" && (s[0] == 'e' || s[0] == 'E') {
		if s = s[1:]; s != "" && (s[0] == '+' || s[0] == '-') {
			s = s[1:]
		}
		if n = digits(); n == 0 {
			return false
		}
		s = s[n:]
	}
	return s == ""
}

func tsvHead(columns []Column) string {
	keys := make([]string, len(columns))
	for i, col := range columns {
		keys[i] = field(col.Key)
	}
	return strings.Join(keys, "\t") + "\n"
}

func writeTSV(b *bytes.Buffer, columns []Column, r Row) {
	for i := range columns {
		if i > 0 {
			b.WriteByte('\t')
		}
		b.WriteString(field(inert(exactAt(r, i))))
	}
	b.WriteByte('\n')
}

func writeCSVHead(b *bytes.Buffer, columns []Column) {
	for i, col := range columns {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(quoted(col.Key))
	}
	b.WriteString("\r\n")
}

func writeCSV(b *bytes.Buffer, columns []Column, r Row) {
	for i := range columns {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(quoted(inert(exactAt(r, i))))
	}
	b.WriteString("\r\n")
}

// quoted is a field of a CSV file (RFC 4180).
func quoted(s string) string {
	if !strings.ContainsAny(s, ",\"\r\n") {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}

// writeJSON writes a row as one object: numbers of number columns as they are, missing values as null.
func writeJSON(b *bytes.Buffer, columns []Column, r Row) {
	b.WriteByte('{')
	for i, col := range columns {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(jsontext.AppendQuoted(nil, col.Key))
		b.WriteByte(':')
		switch text := exactAt(r, i); {
		case text == "":
			b.WriteString("null")
		case col.Right && isNumber(text):
			b.WriteString(text)
		default:
			b.Write(jsontext.AppendQuoted(nil, text))
		}
	}
	b.WriteString("}\n")
}

// exactAt is the exact value of a row's cell; rows may be short.
func exactAt(r Row, i int) string {
	if i >= len(r.Cells) {
		return ""
	}
	return exact(r.Cells[i])
}
