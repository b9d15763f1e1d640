package view

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rollscope/rollscope/core/search"
)

// Searched is the view of a search in all transcripts.
type Searched struct {
	Box     SearchBox
	Facts   []Fact
	Note    string   // how far it is, for screen readers as well
	Remarks []Link   // what is not in the table, and why
	Acts    []Action // what can be done about that
	Table   *Table   // nil where nothing is looked for
	Help    []string // in its place
}

// A SearchBox is where a person says what is looked for, and how.
type SearchBox struct {
	Text    string
	Ways    [2][]Choice // letter case and regular expressions; into which texts
	Error   string      // why the pattern cannot be looked for
	ErrorAt int         // character it begins at; −1 where no place is meant
}

// An Action is something that the script does.
type Action struct{ Text, Name string }

var searchPane = pane{
	there:  func(*Desk, *selection) bool { return true },
	show:   showSearch,
	table:  searchTable,
	charts: func(*Page) []Chart { return nil },
}

func searchTable(d *Desk, c *selection, r *request, id string, from, to int) (Table, bool) {
	by := d.search(r.state)
	if id != "hits" || by == nil || by.err != nil {
		return Table{}, false
	}
	return d.hitTable(c, r.state, by, d.hits(c, r.found, by), from, to), true
}

func showSearch(d *Desk, c *selection, r *request) []Need {
	s := r.state
	v := &Searched{Box: searchBox(s), Facts: []Fact{}, Remarks: []Link{}, Acts: []Action{}, Help: []string{}}
	r.page.Searched = v
	by := d.search(s)
	if by == nil {
		v.Help = []string{
			"Type what was said, thought, called or returned. Every transcript is searched as people read it: with the escapes of JSON decoded, and each text once however often later questions repeat it.",
			"Letter case does not count unless you say so. Regular expressions are those of Go (RE2): `no such (file|directory)`, `exit code [1-9]\\d*`, `^Traceback`; `^` and `$` are the ends of lines.",
			"`Ctrl-F` comes here from everywhere, and pressed once more is the search of the browser. Hits are marked in the transcripts for as long as something is looked for.",
		}
		return nil
	}
	if by.err != nil {
		message, from, to := search.Mistake(s.Search, by.err)
		v.Box.Error, v.Box.ErrorAt = message, -1
		if to > from {
			v.Box.ErrorAt = utf8.RuneCountInString(s.Search[:from])
		}
		v.Help = []string{"Nothing is looked for until the pattern can be read. To look for a text with characters that mean something in regular expressions, turn these off."}
		return nil
	}
	l := d.hits(c, r.found, by)
	done, total := by.bytes(c)
	reading, stopped := r.host.Reading, by.id() == r.host.Stopped && done < total
	v.Note = searchNote(l, done, total, reading, stopped, r.host.Unasked != "")
	v.Facts = searchFacts(c, r, l, done, total)
	switch {
	case stopped:
		v.Acts = append(v.Acts, Action{"Go on", "search-on"})
	case done < total && !reading && r.host.Unasked == "":
		v.Acts = append(v.Acts, Action{"Cancel", "search-off"})
	}
	t := d.hitTable(c, s, by, l, r.windows["hits"], r.windows["hits"]+windowSize)
	v.Table = &t
	v.Remarks = d.searchRemarks(c, r, l, done, total)
	tableFoot(r.page, s, hitChoice(), t, "in the order of the files")
	return nil
}

// searchBox is the box of a State with what can be chosen beside it.
func searchBox(s State) SearchBox {
	in := "+" + s.Setting(searchIn) + "+"
	cased, regular := s.Setting(searchCase) != "", s.Setting(searchAs) == "regexp"
	other := func(on bool, value string) string {
		if on {
			return ""
		}
		return value
	}
	b := SearchBox{Text: s.Search}
	b.Ways[0] = []Choice{
		{Value: "case", Title: "Aa", Help: "letter case counts", On: cased, Href: s.Choose(searchCase, other(cased, "1")).Href()},
		{Value: "regexp", Title: ".*", Help: "regular expression", On: regular, Href: s.Choose(searchAs, other(regular, "regexp")).Href()},
	}
	for _, p := range searchParts {
		b.Ways[1] = append(b.Ways[1], Choice{Value: p.name, Title: p.title, On: strings.Contains(in, "+"+p.name+"+"), Href: searchingIn(s, p.name).Href()})
	}
	b.Ways[1] = append(b.Ways[1], Choice{Value: "all", Title: "all strings", Help: "every string of a row: ids, prompts as they were sent, what is not shown in the transcript",
		On: strings.Contains(in, "+all+"), Href: searchingIn(s, "all").Href()})
	return b
}

// searchNote says in one line what was found and how far the search is.
func searchNote(l *hitList, done, total int64, reading, stopped, failed bool) string {
	found := count(l.hits, "hit", "hits") + " in " + count(l.rollouts, "rollout", "rollouts")
	switch {
	case done == total && !reading:
		return found
	case stopped:
		return fmt.Sprintf("%s, cancelled at %d %%", found, hundredth(done, total))
	case reading:
		return found + " so far · waits for the files to be read"
	case failed:
		return fmt.Sprintf("%s so far · ended at %d %%", found, hundredth(done, total))
	}
	return fmt.Sprintf("%s · scanning %d %%", found, hundredth(done, total))
}

func searchFacts(c *selection, r *request, l *hitList, done, total int64) []Fact {
	facts := []Fact{
		{Label: "hits", Value: Text{Text: Group(l.hits)}, Stat: "search.hits", Exact: strconv.Itoa(l.hits)},
		{Label: "rollouts with hits", Value: Text{Text: Group(l.rollouts)}, Note: Text{Text: "of " + Group(c.table.Rows())}, Stat: "search.rollouts", Exact: strconv.Itoa(l.rollouts)},
		{Label: "shown by the filter", Value: Text{Text: Group(len(l.rows))}, Note: Text{Text: "of " + count(l.rollouts, "rollout", "rollouts") + ", " + count(l.shown, "hit", "hits")}, Stat: "search.shown", Exact: strconv.Itoa(len(l.rows))},
		{Label: "searched", Value: Text{Text: strconv.Itoa(hundredth(done, total)) + " %", Title: Group(done) + " of " + Group(total) + " bytes"}, Note: Text{Text: "of " + Bytes(total)}, Stat: "search.percent", Exact: strconv.Itoa(hundredth(done, total))},
	}
	if r.host.Reading {
		facts[3].Note.Text += " read so far"
	}
	if done < total {
		for i := range facts[:3] {
			facts[i].Note.Text = strings.TrimSpace(facts[i].Note.Text + " so far")
		}
	}
	return facts
}

// searchRemarks say what is not in the table.
func (d *Desk) searchRemarks(c *selection, r *request, l *hitList, done, total int64) []Link {
	list := []Link{}
	if rest := l.more; rest > 0 {
		list = append(list, Link{Text: fmt.Sprintf("%s beyond the first %d of a rollout: counted here, marked in its transcript.", count(rest, "hit is", "hits are"), hitsKept)})
	}
	if l.bare > 0 {
		list = append(list, Link{Text: fmt.Sprintf("The hits of %s are only counted: those before them take the %s that are kept. A longer pattern has fewer.", count(l.bare, "rollout", "rollouts"), Bytes(hitBytesKept))})
	}
	if n := c.table.Total().Unreadable; n > 0 && done == total {
		list = append(list, Link{Text: "Not searched: " + count(n, "line that is no row,", "lines that are no rows,") + " listed on the Files tab."})
	}
	if l.rollouts > 0 && len(l.rows) == 0 {
		list = append(list, Link{Text: "None of them fits the filter: show all.", Href: r.state.With(func(s *State) { s.Filter = "" }).Href()})
	}
	return list
}

// A hitRow is a line of the table of hits.
type hitRow struct {
	item  *item
	by    *searched
	hit   *search.Hit // nil for those that are counted alone
	no    int         // of the hit in its rollout, from 0
	count int         // hits of the rollout
	first bool        // of its rollout
}

// A hitColumn is one column of the table of hits.
type hitColumn struct {
	Column
	plain bool
	cell  func(*hitRow) Cell
}

var hitColumns = []hitColumn{
	{Column{Key: "rollout", Chars: 10, Title: "rollout", Right: true, Mono: true, Help: "task and rollout index of the row"}, true,
		func(r *hitRow) Cell {
			return Cell{Text: Text{Text: r.item.name(), Mono: true, Muted: !r.first}, Exact: r.item.name()}
		}},
	{Column{Key: "verdict", Title: "verdict", Width: 104, Help: "of the health checks"}, true,
		func(r *hitRow) Cell {
			t := verdictText(r.item.verdict())
			if !r.first {
				return Cell{Text: Text{}, Exact: t.Text}
			}
			return Cell{Text: t}
		}},
	{Column{Key: "name", Title: "name", Width: 150, Help: "of the task, where the row gives one"}, false,
		func(r *hitRow) Cell { return textCell(r.item.digest.Facts.Name) }},
	{Column{Key: "agent", Title: "agent", Width: 120, Help: "agent_ref.name"}, false,
		func(r *hitRow) Cell { return textCell(r.item.digest.Facts.Agent) }},
	{Column{Key: "turn", Chars: 4, Title: "turn", Right: true, Help: "in the transcript, from 1"}, true,
		r1(func(h *search.Hit) Cell {
			if h.Turn == 0 {
				return missingCell("it stands in no turn")
			}
			return wide(int64(h.Turn))
		})},
	{Column{Key: "part", Title: "part", Width: 150, Help: "who says it, or which tool"}, true,
		r1(func(h *search.Hit) Cell {
			return Cell{Text: Text{Text: h.Words(), Title: h.Pointer}, Exact: h.Words()}
		})},
	{Column{Key: "tool", Title: "tool", Width: 110, Help: "that is called or returns it"}, false, r1(func(h *search.Hit) Cell { return orMissing(h.Tool, "it is of no tool") })},
	{Column{Key: "match", Title: "hit", Mono: true, Width: 150, Help: "what was found"}, false,
		r1(func(h *search.Hit) Cell { return Cell{Text: Text{Text: h.Match, Mono: true}, Exact: h.Match} })},
	{Column{Key: "text", Title: "hit in its line", Grow: true, Width: 320, Help: "the hit with the rest of its line, as far as it is kept"}, true, lineCell},
	{Column{Key: "hits", Chars: 6, Title: "hits", Right: true, Help: "of the rollout"}, false, func(r *hitRow) Cell { return wide(int64(r.count)) }},
	{Column{Key: "pointer", Title: "JSON pointer", Mono: true, Width: 220, Help: "of the text in the row"}, false,
		r1(func(h *search.Hit) Cell { return Cell{Text: Text{Text: h.Pointer, Mono: true}, Exact: h.Pointer} })},
	{Column{Key: "offset", Chars: 8, Title: "offset", Right: true, Help: "of the hit in the decoded text, in bytes"}, false, r1(func(h *search.Hit) Cell { return wide(int64(h.Offset)) })},
	{Column{Key: "length", Chars: 6, Title: "length", Right: true, Help: "of the hit, in bytes"}, false, r1(func(h *search.Hit) Cell { return wide(int64(h.Length)) })},
	{Column{Key: "place", Title: "place", Right: true, Mono: true, Help: "file and physical line of the row"}, false, func(r *hitRow) Cell { return placeCell(r.item) }},
}

// r1 is a cell that is about one hit.
func r1(cell func(*search.Hit) Cell) func(*hitRow) Cell {
	return func(r *hitRow) Cell {
		if r.hit == nil {
			return missingCell("these hits are counted, not kept")
		}
		return cell(r.hit)
	}
}

// contextShown is how many characters in front of a hit a cell shows, so that the hit is in sight.
const contextShown = 36

// lineCell shows a hit in its line.
func lineCell(r *hitRow) Cell {
	if r.hit == nil {
		text := "and " + Group(r.count-r.no) + " more in this rollout"
		if r.no == 0 {
			text = count(r.count, "hit, not kept", "hits, not kept")
		}
		return Cell{Text: Text{Text: text, Muted: true}, Exact: text}
	}
	h := r.hit
	before, match, after := h.Before, h.Match, h.After
	if cut := len(before); utf8.RuneCountInString(before) > contextShown {
		for range contextShown {
			_, size := utf8.DecodeLastRuneInString(before[:cut])
			cut -= size
		}
		before = "…" + before[cut:]
	}
	if h.Cut {
		after = "…" + after
	}
	return Cell{Text: Text{Text: before + match + after, Mono: h.Part == search.ToolCall || h.Part == search.ToolResult},
		Hits: []Hit{{From: len(before), To: len(before) + len(match)}}, Exact: h.Before + match + after}
}

// hitChoice is what the chooser of the table offers.
func hitChoice() []choosable {
	return choosables(hitColumns, func(c *hitColumn) choosable { return choosable{c.Column, c.plain} })
}

// hitTable is the part of the table of hits between two of its rows.
func (d *Desk) hitTable(c *selection, s State, by *searched, l *hitList, from, to int) Table {
	t := Table{ID: "hits", Caption: "hits", Height: rowHeight, Columns: []Column{}, Rows: []Row{}, Total: int(l.starts[len(l.rows)]),
		Window: true, Movable: true, Empty: "No transcript holds it."}
	switch {
	case l.hits > 0:
		t.Empty = "No rollout with hits fits the filter."
	case !by.all(c) || !c.table.Complete():
		t.Empty = "Nothing found so far."
	case !by.options.All:
		t.Empty = "No transcript holds it. What is not shown in transcripts, such as ids, is found among all strings."
	default:
		t.Empty = "No string of any row holds it."
	}
	all := hitChoice()
	var cols []*hitColumn
	for _, shown := range chosen(s, all) {
		col := &hitColumns[columnAt(all, shown.Key)]
		cols, t.Columns = append(cols, col), append(t.Columns, head(s, c.sized(col.Column), shown, false))
	}
	t.From = max(0, min(from, t.Total-1))
	n := t.From
	for k := l.rollout(n); k < len(l.rows) && n < min(to, t.Total); k++ {
		i, ok := c.item(int(l.rows[k]))
		if !ok {
			break
		}
		b, _ := by.answers.Row(c.sources[i.row.Source], i.row.Number)
		a, err := search.ParseAnswer(b)
		if err != nil {
			break
		}
		for ; n < min(int(l.starts[k+1]), to); n++ {
			r := &hitRow{item: i, by: by, no: n - int(l.starts[k]), count: a.Count, first: n == int(l.starts[k])}
			if r.no < len(a.Hits) {
				r.hit = &a.Hits[r.no]
			}
			t.Rows = append(t.Rows, r.row(s, n, cols))
		}
	}
	return t
}

// rollout is the place of the rollout to which a row of the table belongs.
func (l *hitList) rollout(row int) int {
	low, high := 0, len(l.rows)
	for low < high {
		if middle := (low + high) / 2; int(l.starts[middle+1]) <= row {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}

func (r *hitRow) row(s State, n int, cols []*hitColumn) Row {
	place := r.item.place()
	row := Row{ID: place + ":" + strconv.Itoa(r.no), Index: n, Rollout: place, Cells: make([]Cell, 0, len(cols)), Href: toHit(s, place, r.no, r.hit)}
	for _, col := range cols {
		cell := col.cell(r)
		if col.Key == "place" || col.Key == "rollout" {
			cell.Text.Href = row.Href
		}
		row.Cells = append(row.Cells, cell)
	}
	return row
}
