package view

import (
	"fmt"
	"strings"

	"github.com/rollscope/rollscope/core/analysis"
	"github.com/rollscope/rollscope/core/finding"
	"github.com/rollscope/rollscope/core/modelcall"
	"github.com/rollscope/rollscope/core/runfolder"
	"github.com/rollscope/rollscope/core/value"
)

// Captures are the files with recorded model calls that were given beside the rollouts, each held against its row.
type Captures struct {
	Heading string
	Note    string
	Table   Table
}

// What is read of captures for a page. A capture may hold every request in full, so a store of a large run is much
// larger than its rollouts.
const (
	mostCaptures = 500      // files
	captureRoom  = 64 << 20 // bytes of all of them
)

// A captureRead is what a page keeps of a capture file.
type captureRead struct {
	calls    []byte // digest
	count    int
	damaged  []modelcall.Damage
	findings []string // in words
	problem  string   // why it was not read
}

// captured is the table of captures of a selection, with the rows by their keys.
type captured struct {
	key  string
	rows map[string]int32 // ordinals

	damaged int    // lines of all captures
	first   string // place of the first one
}

// readCapture takes what is kept of a capture.
func readCapture(key string, text []byte) *captureRead {
	r := &captureRead{}
	add := func(id string, values ...value.Member) {
		f := finding.New(id, "", "", values...)
		r.findings = append(r.findings, f.Message())
	}
	var (
		reader modelcall.Reader
		census modelcall.Census
		attach modelcall.Attachment
	)
	attach.Reset(key)
	scan := modelcall.Scan{Reader: &reader}
	scan.Data(text, func(c *modelcall.Call) {
		modelcall.CheckCall(c, add)
		census.Add(c)
		attach.Add(c)
	})
	census.Report(add)
	r.damaged, r.count = scan.Damaged, scan.Calls
	r.calls = modelcall.AppendAttachment(nil, attach.AppendJSON(nil, nil))
	return r
}

// captures holds the captures against the rows. needs are those that have not been read yet.
func (d *Desk) captures(c *selection, s State) (*Captures, []Need) {
	v := &Captures{Heading: "Captures", Table: Table{ID: "captures", Caption: "captures", Height: 24, Rows: []Row{}, Links: exports("captures"), Columns: []Column{
		{Key: "file", Title: "file", Mono: true, Grow: true}, {Key: "key", Title: "key", Mono: true}, {Key: "rollout", Title: "rollout", Mono: true, Right: true},
		{Key: "calls", Title: "calls", Right: true}, {Key: "row", Title: "in the row", Right: true}, {Key: "damaged", Title: "damaged", Right: true, Help: "lines that are no call"},
		{Key: "state", Title: "against the row"}, {Key: "findings", Title: "findings", Help: "clocks, error categories, streams, ids that repeat"},
	}}}
	rows := d.captureRows(c)
	markers := map[string]bool{}
	var files []int
	for _, file := range d.listing.Order {
		e := &d.listing.Entries[file]
		if e.Kind != runfolder.Capture || e.SameAs >= 0 {
			continue
		}
		key, kind := modelcall.File(e.Base)
		if kind == modelcall.FileMarker {
			markers[key] = true
		}
		files = append(files, file)
	}
	var needs []Need
	read, room, left, damaged, first := 0, int64(captureRoom), 0, 0, ""
	for _, file := range files {
		e := &d.listing.Entries[file]
		key, kind := modelcall.File(e.Base)
		row := Row{ID: "capture-" + e.Name, Index: len(v.Table.Rows)}
		cells := []Cell{{Text: Text{Text: e.Name, Mono: true, Title: e.Name}, Exact: e.Name}, {Text: Text{Text: key, Mono: true}, Exact: key}}
		ordinal, there := rows[key]
		if there {
			i, _ := c.item(int(ordinal))
			row.Rollout, row.Href = i.place(), d.toRow(s, c, int(ordinal))
			cells = append(cells, Cell{Text: Text{Text: i.name(), Mono: true, Href: row.Href}})
		} else {
			cells = append(cells, missingCell("no row that was read has this key"))
		}
		switch kind {
		case modelcall.FileMarker:
			cells = append(cells, Cell{}, Cell{}, Cell{}, Cell{Text: Text{Text: "marks that an exchange could not be written", Mark: MarkUnhealthy}}, Cell{})
		case modelcall.FileBadKey:
			cells = append(cells, Cell{}, Cell{}, Cell{}, Cell{Text: Text{Text: "no row can have this key", Mark: MarkUnknown}}, Cell{})
		case modelcall.FileClaim:
			cells = append(cells, Cell{}, Cell{}, Cell{}, Cell{Text: Text{Text: "a write was announced and never confirmed", Mark: MarkUnhealthy}}, Cell{})
		case modelcall.FileCapture:
			r := d.captureReads[file]
			if r == nil {
				read++
				if room -= d.files[file].Size; read > mostCaptures || room < 0 {
					left++
					cells = append(cells, missingCell("not read here"), Cell{}, Cell{}, Cell{Text: Text{Text: "not read here", Muted: true}}, Cell{})
					break
				}
				text, problem, need := d.paper(file)
				if need != nil {
					needs = append(needs, *need)
					break
				}
				r = &captureRead{problem: problem}
				if problem == "" {
					r = readCapture(key, text)
				}
				delete(d.papers, file)
				if d.captureReads == nil {
					d.captureReads = map[int]*captureRead{}
				}
				d.captureReads[file] = r
			}
			if n := len(r.damaged); n > 0 {
				if damaged == 0 {
					first = fmt.Sprintf("%s:%d, byte %d", e.Name, r.damaged[0].Line, r.damaged[0].Offset)
				}
				damaged += n
			}
			cells = append(cells, d.captureCells(c, r, ordinal, there, markers[key])...)
		}
		row.Cells = cells
		v.Table.Rows = append(v.Table.Rows, row)
	}
	v.Table.Total = len(v.Table.Rows)
	v.Note = count(len(files), "file", "files")
	if left > 0 {
		v.Note += fmt.Sprintf("; %s not read here, where %s files of together %s bytes are. The command line reads all: rollscope trajectory validate",
			Group(left), Group(mostCaptures), Group(captureRoom))
	}
	if len(needs) > 0 {
		return v, needs
	}
	c.called.captures.damaged, c.called.captures.first = damaged, first
	return v, nil
}

// captureRows finds rows by the keys of their captures. The last row of a key has it: earlier ones were attempts.
func (d *Desk) captureRows(c *selection) map[string]int32 {
	k := &c.called.captures
	key := fmt.Sprint(c.table.Rows(), d.callNumbers(c).probes)
	if k.rows != nil && k.key == key {
		return k.rows
	}
	k.key, k.rows = key, map[string]int32{}
	c.table.Each(0, func(row *analysis.Row) bool {
		if r, ok := d.callsOf(c, row); ok && len(r.key) > 0 {
			k.rows[string(r.key)] = int32(row.Ordinal)
		}
		return true
	})
	return k.rows
}

// captureCells say what is in a capture and how that fits its row.
func (d *Desk) captureCells(c *selection, r *captureRead, ordinal int32, there, marked bool) []Cell {
	if r.problem != "" {
		return []Cell{missingCell(r.problem), {}, {}, {Text: Text{Text: "not read: " + r.problem, Mark: MarkUnknown}}, {}}
	}
	cells := []Cell{wide(int64(r.count)), missingCell("there is no row"), wide(int64(len(r.damaged)))}
	if n := len(r.damaged); n > 0 {
		cells[2].Text.Mark = MarkUnhealthy
		cells[2].Text.Title = fmt.Sprintf("line %d, byte %d: %s", r.damaged[0].Line, r.damaged[0].Offset, r.damaged[0].Reason)
	}
	state := Text{Text: "no row that was read has this key", Mark: MarkUnknown}
	if there {
		state = Text{Text: "the row has no attached calls", Mark: MarkUnobserved}
		if row, ok := d.digestOfCalls(c, int(ordinal)); ok && row.Source == modelcall.SourceAttachment {
			cells[1] = wide(int64(row.Len))
			state = compareCalls(row, r)
		}
	}
	if marked {
		state.Text += "; known to be incomplete"
		state.Mark = MarkUnhealthy
	}
	cells = append(cells, Cell{Text: state})
	if len(r.findings) == 0 {
		return append(cells, Cell{Text: Text{Text: "none", Muted: true}})
	}
	text := r.findings[0]
	more := Cell{Text: Text{Text: text, Title: strings.Join(r.findings[:min(len(r.findings), 20)], "\n")}}
	if n := len(r.findings) - 1; n > 0 {
		more.Extra = Text{Text: "+" + Group(n)}
	}
	return append(cells, more)
}

// compareCalls holds the calls of a row against those of its capture, in what a table shows of them.
func compareCalls(row *modelcall.Digest, r *captureRead) Text {
	made, err := modelcall.Open(r.calls)
	if err != nil {
		return Text{Text: "cannot be compared", Mark: MarkUnknown}
	}
	for row.Next() {
		if !made.Next() {
			return Text{Text: fmt.Sprintf("has %s than the row: cut or replaced", count(row.Len-made.Len, "call less", "calls less")), Mark: MarkUnhealthy}
		}
		if field := row.Call.Differs(&made.Call); field != "" {
			return Text{Text: fmt.Sprintf("call %d differs: %s", row.Call.Index, field), Mark: MarkUnhealthy}
		}
	}
	if n := made.Len - row.Len; n > 0 {
		return Text{Text: count(n, "call came", "calls came") + " after the row", Mark: MarkUnhealthy}
	}
	return Text{Text: "agrees", Mark: MarkHealthy}
}
