package view

import (
	"slices"
	"strconv"
	"strings"

	"github.com/rollscope/rollscope/core/rollout"
)

// A Note is what a person has written about a rollout. The browser keeps notes; the desk is told of them, so that
// tables mark the rows and filters can ask for them. It belongs to the row of its line if that has its task and
// repeat, else to the first row of the file that has them.
type Note struct {
	File   int    // index in the list of files
	Line   int64  // physical line, from 1
	Task   string // as the page writes it, "" where the row has none
	Repeat string
	Text   string // "" takes the note away
	Other  bool   // it was written on another version of the file
}

// A notebook holds the notes on what is open.
type notebook struct {
	list   []Note
	serial int // counts changes
}

// Note takes in notes: all there are, or with add some that are new, changed or gone.
func (d *Desk) Note(list []Note, add bool) {
	if d.notes == nil {
		d.notes = &notebook{}
	}
	b := d.notes
	b.serial++
	if add {
		for _, n := range list {
			b.put(n)
		}
		return
	}
	b.list = slices.DeleteFunc(slices.Clone(list), func(n Note) bool { return n.Text == "" })
}

func (b *notebook) put(n Note) {
	for i := range b.list {
		if l := &b.list[i]; l.File == n.File && l.Line == n.Line && l.Other == n.Other {
			if n.Text != "" {
				*l = n
			} else {
				b.list = slices.Delete(b.list, i, i+1)
			}
			return
		}
	}
	if n.Text != "" {
		b.list = append(b.list, n)
	}
}

// noted are the notes on the rows of a selection, as [selection.takeNotes] found them.
type noted struct {
	serial, rows int
	complete     bool
	of           map[int]int         // ordinal of a row → the note on it
	tasks        map[int32]taskNotes // by index of a task in the series
}

// taskNotes are the notes on the rows of a task.
type taskNotes struct {
	count, first int // ordinal of the first row with one
	words        string
}

// takeNotes finds the rows that the notes are on, anew when rows have come in or notes have changed.
func (c *selection) takeNotes() {
	n, b := &c.noted, c.desk.notes
	if b == nil || n.serial == b.serial && (len(b.list) == 0 || n.rows == c.table.Rows() && n.complete == c.table.Complete()) {
		return
	}
	*n = noted{serial: b.serial, rows: c.table.Rows(), complete: c.table.Complete(), of: map[int]int{}, tasks: map[int32]taskNotes{}}
	c.tally.count(c.table, c.rules)
	lost := map[[2]string][]int{} // by task and repeat, those whose line is another row
	for _, other := range [...]bool{false, true} {
		for i := range b.list {
			if b.list[i].Other == other && !c.noteOn(n, &b.list[i], i) {
				key := [2]string{b.list[i].Task, b.list[i].Repeat}
				lost[key] = append(lost[key], i)
			}
		}
	}
	if n.complete && len(lost) > 0 {
		c.findNoted(n, b, lost)
	}
	for ordinal := range n.of {
		c.noteTask(n, b, ordinal)
	}
}

// noteOn puts a note on the row of its line, if that row is the one that the note is about.
func (c *selection) noteOn(n *noted, note *Note, number int) bool {
	source, known := c.desk.sourceOf[note.File]
	if !known {
		return true // the file holds no rollouts any more
	}
	for i, s := range c.sources {
		if s != source {
			continue
		}
		ordinal, ok := c.table.Find(i, note.Line)
		if !ok {
			return note.Task == "" && note.Repeat == ""
		}
		item, _ := c.item(ordinal)
		if task, repeat := item.identity(); task != note.Task || repeat != note.Repeat {
			return note.Task == "" && note.Repeat == ""
		}
		if _, there := n.of[ordinal]; !there {
			n.of[ordinal] = number
		}
	}
	return true
}

// findNoted looks for the rows of notes by their task and repeat.
func (c *selection) findNoted(n *noted, b *notebook, lost map[[2]string][]int) {
	columns := &c.tally.series
	texts := func(keys []rollout.Key) []string {
		list := make([]string, len(keys))
		for i, k := range keys {
			list[i] = keyText(k)
		}
		return list
	}
	tasks, repeats := texts(columns.tasks), texts(columns.repeats)
	for ordinal := range columns.rows() {
		key := [2]string{tasks[columns.task[ordinal]], repeats[columns.repeat[ordinal]]}
		list := lost[key]
		if len(list) == 0 {
			continue
		}
		item, ok := c.item(ordinal)
		if !ok {
			return
		}
		if task, repeat := item.identity(); task != key[0] || repeat != key[1] {
			continue // a line that cannot be read has no task
		}
		for at, number := range list {
			if c.desk.sources[c.sources[item.row.Source]] != b.list[number].File {
				continue
			}
			if _, there := n.of[ordinal]; !there {
				n.of[ordinal] = number
				lost[key] = append(list[:at:at], list[at+1:]...)
			}
			break
		}
	}
}

// noteTask tells the task of a row that there is a note on it.
func (c *selection) noteTask(n *noted, b *notebook, ordinal int) {
	if ordinal >= c.tally.series.rows() {
		return
	}
	task, words := c.tally.series.task[ordinal], firstWords(b.list[n.of[ordinal]].Text)
	t := n.tasks[task]
	if t.count == 0 || ordinal < t.first {
		t.first, t.words = ordinal, words
	}
	t.count++
	n.tasks[task] = t
}

// taskHint is what a mark says of the notes on the rows of a task, "" where there are none.
func (c *selection) taskHint(task int32) string {
	switch t := c.noted.tasks[task]; t.count {
	case 0, 1:
		return t.words
	default:
		return strconv.Itoa(t.count) + " notes, the first: " + t.words
	}
}

// note is the note on a row, nil where there is none.
func (c *selection) note(ordinal int) *Note {
	number, there := c.noted.of[ordinal]
	if !there || c.noted.serial != c.desk.notes.serial {
		return nil
	}
	return &c.desk.notes.list[number]
}

// noteHint is what a mark says of the note on a row, "" where there is none.
func (c *selection) noteHint(ordinal int) string {
	if n := c.note(ordinal); n != nil {
		return firstWords(n.Text)
	}
	return ""
}

// noteKey changes with the notes for a State whose rows depend on them.
func (c *selection) noteKey(s State) string {
	if key, _ := sortKey(s); key != "note" && !strings.Contains(s.Filter, "note") {
		return ""
	}
	return "\x00" + strconv.Itoa(c.noted.serial)
}

// identity is task and repeat of a row as notes have them; a line that cannot be read has none.
func (i *item) identity() (task, repeat string) {
	if i.digest.Facts.Class != "" {
		return "", ""
	}
	return keyText(i.digest.Identity.Task), keyText(i.digest.Identity.Rollout)
}

func keyText(k rollout.Key) string {
	if k.IsNone() {
		return ""
	}
	return keyCell(k).Text.Text
}

// mostWords is how many bytes of a note its mark shows.
const mostWords = 100

func firstWords(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	return clipped(text, mostWords)
}

func noteCell(i *item) Cell {
	n := i.c.note(int(i.row.Ordinal))
	if n == nil {
		return Cell{Text: Text{Text: Dash, Muted: true, Title: "no note"}}
	}
	c := Cell{Text: Text{Text: firstWords(n.Text), Title: n.Text}, Exact: n.Text}
	if n.Other {
		c.Extra = Text{Text: "of another version", Title: "it was written on another version of the file"}
	}
	return c
}

// A NoteField is where the page of a rollout takes a note: the row it is on.
type NoteField struct {
	File         int
	Line         int64
	Task, Repeat string
	Words        string // first ones of the note that is there
	Other        string // the note of another version of the file, where it is shown
}

func (d *Desk) noteField(c *selection, i *item) *NoteField {
	f := &NoteField{File: d.sources[c.sources[i.row.Source]], Line: i.row.Line}
	f.Task, f.Repeat = i.identity()
	if n := c.note(int(i.row.Ordinal)); n != nil {
		f.Words = firstWords(n.Text)
		if n.Other {
			f.Other = n.Text
		}
	}
	return f
}

// A Noted is a note with the row it is on.
type Noted struct {
	Note
	Rollout, Name, Href string // "" where no row that is shown is meant
}

// Noted lists all notes that the desk was told of, in the order of their files and lines, with links.
func (d *Desk) Noted(s State) []Noted {
	list := []Noted{}
	if d.Empty() || d.notes == nil {
		return list
	}
	c := d.choose(s)
	rows := map[int]int{}
	for ordinal, number := range c.noted.of {
		rows[number] = ordinal
	}
	for number, n := range d.notes.list {
		one := Noted{Note: n}
		if ordinal, there := rows[number]; there {
			i, _ := c.item(ordinal)
			one.Rollout, one.Name, one.Href = i.place(), i.name(), d.toRow(s, c, ordinal)
		}
		list = append(list, one)
	}
	return list
}
