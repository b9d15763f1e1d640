package view

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// errNoReport means that a report was asked for that cannot be made.
var errNoReport = errors.New("there is no report of these rows")

// errNotOpen means that the text of a row is asked for that is not at hand.
var errNotOpen = errors.New("the rollout is not open")

// mostDownloaded bounds a file that is made in memory. While it grows it is there twice, and a module has 4 GiB in all: to run
// out of them would end the page.
const mostDownloaded = 512 << 20

var errTooLarge = errors.New("too large to be made on the page")

// A fileBuffer takes a file down until it is larger than most.
type fileBuffer struct {
	bytes bytes.Buffer
	most  int
}

func (b *fileBuffer) Write(p []byte) (int, error) {
	if len(p) > b.most-b.bytes.Len() {
		return 0, errTooLarge
	}
	return b.bytes.Write(p)
}

// Download makes the content of a file that a page offers.
func (d *Desk) Download(s State, name string) ([]byte, error) {
	if d.Empty() {
		return nil, errNoReport
	}
	if s.Rollout != "" && strings.HasSuffix(name, transcriptSuffix) {
		return d.markdown(s)
	}
	c := d.choose(s)
	s.Tab = d.tab(s)
	if p := d.pane(s); p != nil && p.download != nil {
		c.tally.count(c.table, c.rules)
		if content, ok, err := p.download(d, c, d.request(c, s), name); ok {
			return content, err
		}
	}
	if c.report == nil {
		if c.refused != nil {
			return nil, c.refused
		}
		return nil, errNoReport
	}
	switch name {
	case summaryFile:
		return c.report.SummaryJSON()
	case verdictsFile:
		b := fileBuffer{most: mostDownloaded}
		err := c.report.WriteVerdicts(&b)
		if errors.Is(err, errTooLarge) {
			err = fmt.Errorf("%s: %w; rollscope health RUN -o DIR writes it", name, err)
		}
		return b.bytes.Bytes(), err
	}
	return nil, fmt.Errorf("nothing is called %q here", name)
}

// Copy makes the text that a page offers to copy: the whole of a table as tab-separated values.
func (d *Desk) Copy(s State, what string) (string, error) {
	if d.Empty() {
		return "", errNoReport
	}
	if what == "json" {
		_, i, needs, err := d.open(s)
		if err != nil || len(needs) > 0 {
			return "", errors.Join(err, errNotOpen)
		}
		return d.jsonText(i, s), nil
	}
	c := d.choose(s)
	c.tally.count(c.table, c.rules)
	switch kind, id, _ := strings.Cut(what, ":"); kind {
	case "checks":
		return tsv(d.health(c, s).Checks), nil
	case "findings":
		return d.findingsTSV(c, id), nil
	case "rollouts":
		found := d.filter(c, s)
		return tsv(d.rolloutTable(c, s, found, 0, found.len(c))), nil
	}
	return "", fmt.Errorf("nothing is called %q here", what)
}

// tsv writes a table as tab-separated values with exact numbers.
func tsv(t Table) string {
	var b bytes.Buffer
	b.WriteString(tsvHead(t.Columns))
	for _, row := range t.Rows {
		writeTSV(&b, t.Columns, row)
	}
	return b.String()
}

// exact is a cell's value as saved: separators are for eyes.
func exact(c Cell) string {
	switch {
	case c.Exact != "":
		return c.Exact
	case c.Text.Text == Dash && c.Text.Muted:
		return ""
	}
	plain := strings.ReplaceAll(c.Text.Text, ",", "")
	if groupNumber(plain) == c.Text.Text {
		return plain
	}
	return c.Text.Text
}

// field makes a text fit into one field: a tab or line end would make more of it.
func field(s string) string {
	return strings.NewReplacer("\t", " ", "\n", " ", "\r", " ").Replace(s)
}
