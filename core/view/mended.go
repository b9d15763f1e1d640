package view

import (
	"fmt"

	"github.com/rollscope/rollscope/core/analysis"
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/rollout"
	"github.com/rollscope/rollscope/core/tolerant"
)

// mended is the tolerant reading of one refused line.
type mended struct {
	reader  tolerant.Reader
	scanner jsonscan.Scanner
	result  tolerant.Result
}

// tolerant reads a refused line once more, so that its row can be shown. value is the line's first record; ok is
// false where there is none. Offsets of repairs count from the line's first byte, At and Value name the place in a
// record. Everything is valid until the next call of tolerant or record.
func (d *Desk) tolerant(line []byte) (value jsonscan.Value, repairs []tolerant.Repair, ok bool) {
	m := &d.mended
	m.result = tolerant.Result{}
	if len(line) <= tolerant.MaxLine {
		m.result = m.reader.Read(line)
	}
	value, ok = d.record(0)
	return value, m.result.Repairs, ok
}

// record gives one of the records of the line that tolerant was called with; there are several where records were
// glued together. The one that was given before dies.
func (d *Desk) record(n int) (value jsonscan.Value, ok bool) {
	m := &d.mended
	if n < 0 || n >= len(m.result.Values) {
		return value, false
	}
	value, err := m.scanner.Scan(m.result.Values[n])
	return value, err == nil
}

// mendedNotice says on a row's own page what was done to show it.
func (d *Desk) mendedNotice(i *item) Alert {
	result := &d.mended.result
	place := Text{Text: i.place(), Mono: true}
	if len(result.Repairs) > 0 {
		place.Text = fmt.Sprintf("%s, byte %d", i.place(), i.row.Offset+int64(result.Repairs[0].Offset))
	}
	return Alert{Code: "repaired_row", Count: 1, Place: place, Text: "Repaired for display: " + result.Summary() + ".",
		Help: "What is shown enters no number: verdict, reports and means know the line as an unreadable record."}
}

// recovered is what the tolerant reading found on the row's line, nil where the row is read as it is or where
// nothing was found.
func (i *item) recovered() *rollout.Recovered {
	if r := &i.digest.Facts.Recovered; r.Exists() {
		return r
	}
	return nil
}

// mendedCell is a value of the tolerant reading in a table of rows that are read strictly. It says so to eyes, to
// pointers and in copies.
func (i *item) mendedCell(shown Cell) Cell {
	if shown.Text.Text == Dash {
		return shown
	}
	plain := exact(shown)
	return Cell{
		Text: Text{Text: shown.Text.Text, Mono: shown.Text.Mono, Muted: true,
			Title: plain + " – repaired for display: " + i.digest.Facts.Recovered.Summary + "; enters no number"},
		Exact: "repaired: " + plain,
	}
}

// mendedMark is what stands behind the first value of a repaired row.
func mendedMark(r *rollout.Recovered) Text {
	if r.Records > 1 {
		return Text{Text: count(r.Records, "record", "records") + ", repaired", Title: r.Summary}
	}
	return Text{Text: "repaired", Title: r.Summary}
}

// shownAs says in the list of unreadable lines what a row's page makes of one.
func shownAs(r *rollout.Recovered) Cell {
	if r == nil {
		return Cell{Text: Text{Text: "its bytes", Muted: true, Title: "no record was found on the line"}}
	}
	return Cell{Text: Text{Text: r.Summary, Title: "repaired for display; enters no number"}}
}

// repair is what was repaired of one source.
type repair struct {
	problem
	records int64
}

// countRepair takes in a row whose line was refused.
func (t *tally) countRepair(p problem, f *rollout.Facts) {
	r := &f.Recovered
	if !r.Exists() || f.Torn {
		return
	}
	p.reason = r.Summary
	if n := len(t.repaired); n > 0 && t.repaired[n-1].source == p.source {
		t.repaired[n-1].count++
		t.repaired[n-1].records += r.Records
		return
	}
	t.repaired = append(t.repaired, repair{p, r.Records})
}

// repairAlerts name the refused lines that are shown all the same, one message a source.
func (d *Desk) repairAlerts(c *selection, s State) []Alert {
	var list []Alert
	for _, p := range c.tally.repaired {
		text := fmt.Sprintf("%s of %s repaired for display. The first: %s.", count(p.count, "unreadable line", "unreadable lines"), c.table.Name(p.source), p.reason)
		if p.records > int64(p.count) {
			text = fmt.Sprintf("%s of %s repaired for display; %s recovered from %s. The first: %s.", count(p.count, "unreadable line", "unreadable lines"),
				c.table.Name(p.source), count(p.records, "record", "records"), them(p.count), p.reason)
		}
		list = append(list, Alert{Code: "repaired_row", Text: text, Count: p.count,
			Place: Text{Text: fmt.Sprintf("%s:%d, byte %d", c.table.Name(p.source), p.line, p.offset), Mono: true, Href: d.toRow(s, c, p.first)},
			Help:  "They stay unreadable records: no verdict, report or mean holds anything of them."})
	}
	return list
}

func them(n int) string {
	if n == 1 {
		return "it"
	}
	return "them"
}

// unreadableNote says of the unreadable lines what can be shown of them.
func unreadableNote(a analysis.Account) string {
	note := Group(a.UnreadableBytes) + " bytes"
	if a.Repaired > 0 {
		note += ", " + Group(a.Repaired) + " repaired for display"
	}
	if a.Recoverable > a.Repaired {
		note += " (" + Group(a.Recoverable) + " recoverable)"
	}
	return note
}
