package view

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rollscope/rollscope/core/finding"
	"github.com/rollscope/rollscope/core/outcome"
	"github.com/rollscope/rollscope/core/records"
	"github.com/rollscope/rollscope/core/verify"
)

// AttemptsPart is the part of the rollout page that lists all records of the rollout.
type AttemptsPart struct {
	Lines []Text // which of them decides, and why
	Facts []Fact
	Table Table
	Line  *Lined
}

// attemptsMost is how many records the part lists.
const attemptsMost = 1000

// An attemptRow is one record of a rollout, or an attempt without any.
type attemptRow struct {
	number  string // of the attempt, "" where it has none
	order   int64
	kind    string
	mark    Mark
	role    string // what it is for the rollout
	why     string
	file    string
	line    int64
	offset  int64
	class   string
	reward  string
	note    string // flags
	reason  string
	elapsed string
	current bool
}

// withAttempts adds the records of the rollout to its page where they are looked at.
func (d *Desk) withAttempts(r *Rollout, c *selection, i *item, s State) (*Rollout, []Need) {
	if s.Part != "attempts" {
		return r, nil
	}
	var needs []Need
	if r.Attempts, needs = d.attempts(c, i, s); r.Attempts.Line != nil {
		r.Target = "line"
	}
	return r, needs
}

// attempts lists the records of the rollout of a row.
func (d *Desk) attempts(c *selection, i *item, s State) (*AttemptsPart, []Need) {
	p := &AttemptsPart{Lines: []Text{}, Facts: []Fact{}}
	f := d.fates(c)
	if f == nil {
		p.Lines = append(p.Lines, Text{Text: "The records of a rollout are listed when every row is in and the files are held against each other.", Muted: true})
		return p, nil
	}
	row := f.rows[i.row.Ordinal]
	var list []attemptRow
	switch {
	case row.want >= 0:
		list = d.indexedAttempts(c, f, i, int(row.want), p)
	default:
		list = d.plainAttempts(c, f, i, row, p)
	}
	p.Table = d.attemptTable(c, s, list)
	var needs []Need
	p.Line, needs = d.lined(s)
	if p.Table.Total > 0 {
		p.Table.Note = count(p.Table.Total, "record", "records")
	}
	return p, needs
}

// indexedAttempts lists the records of an expected rollout, and says which decides.
func (d *Desk) indexedAttempts(c *selection, f *fates, i *item, number int, p *AttemptsPart) []attemptRow {
	run, n := f.of(number)
	ix := run.Index
	e := ix.Rollout(n, run.Settings)
	speaks, has := ix.Selected(n)
	info := fateInfos[f.wants[number].fate]
	p.Facts = append(p.Facts, Fact{Label: "rollout id", Value: Text{Text: e.ID, Mono: true}}, Fact{Label: "what became of it", Value: Text{Text: info.word, Mark: info.mark, Title: info.text}})
	if e.Reserved {
		p.Facts = append(p.Facts, Fact{Label: "reserved attempts", Value: Text{Text: groupNumber(e.Next.String())}})
	}
	p.Facts = append(p.Facts, Fact{Label: "counted failures", Value: Text{Text: Group(e.CountedFailures)}, Note: Text{Text: fmt.Sprintf("of %d allowed", run.Settings.MaxAttempts)}},
		Fact{Label: "a resume", Value: Text{Text: map[bool]string{true: "would run it", false: "would not run it"}[pendingIn(run, &e)]}})
	how := "the latest that was saved"
	if run.Reading == verify.ByManifest {
		how = "the latest that the manifest reserved"
	}
	switch {
	case has:
		p.Lines = append(p.Lines, Text{Text: fmt.Sprintf("Attempt %s decides: it is %s. Records of other attempts are history and never count.", speaks.Number, how), Mark: info.mark})
	case e.HasLatest:
		p.Lines = append(p.Lines, Text{Text: fmt.Sprintf("Nothing decides: attempt %s was reserved, and no record of it was saved. Older records are history and do not stand in for it.", e.Latest), Mark: info.mark})
	}
	if run.Reading == verify.Imported {
		p.Lines = append(p.Lines, Text{Text: "The run has no manifest: rows without a number are numbered as they come, failures before results.", Muted: true})
	}
	list := []attemptRow{}
	stored := map[string]bool{}
	for _, a := range ix.Attempts(n) {
		r := attemptRow{number: a.Number.String(), file: run.Place.Path(a.File), line: a.Line, offset: a.Offset, class: a.Class, reason: a.Reason}
		r.order, _ = a.Number.Int64()
		r.role, r.why = "history", "a later attempt is there"
		if has && a.Number.Cmp(speaks.Number) == 0 {
			r.role, r.why = "decides", "it is "+how
		}
		if a.Elapsed > 0 {
			r.elapsed = trimZeros(a.Elapsed) + " s"
		}
		switch {
		case a.Omitted:
			r.kind, r.mark = "omission", MarkOmitted
		case a.Class != "":
			r.kind, r.mark = "failure", MarkFailed
		default:
			r.kind = "result"
			r.mark = Mark(outcome.MeasurementOf(a.Scored, a.Masked))
		}
		for _, flag := range []struct {
			on   bool
			word string
		}{{a.Terminal, "final"}, {a.Masked, "masked"}, {a.Reuse, "its deliverable is used again"}} {
			if flag.on {
				r.note = strings.TrimPrefix(r.note+", "+flag.word, ", ")
			}
		}
		stored[r.number] = true
		list = append(list, r)
	}
	for _, x := range ix.Duplicates {
		if x.Rollout == e.ID {
			k, _ := x.Attempt.Int64()
			list = append(list, attemptRow{number: x.Attempt.String(), order: k, kind: "record", mark: MarkUnknown, role: "repeated", why: "a later row is equal and stands for it", file: run.Place.Path(x.FirstFile), line: x.FirstAt, offset: -1})
		}
	}
	if next, ok := e.Next.Int64(); ok && e.Reserved {
		for k := int64(0); k < next && len(list) < attemptsMost; k++ {
			if text := strconv.FormatInt(k, 10); !stored[text] {
				list = append(list, attemptRow{number: text, order: k, kind: "no record", mark: MarkUnknown, role: "reserved", why: "it was interrupted, or its record was lost"})
			}
		}
	}
	return append(list, d.otherRecords(f, run, e.ID)...)
}

// otherRecords are rows about a rollout that are no attempts of it: those that were refused, and evidence.
func (d *Desk) otherRecords(f *fates, run *verify.RunReport, id string) (list []attemptRow) {
	for _, said := range f.findings() {
		if said.Run != run.Key || said.Rollout != id || said.Line == 0 || said.Severity != finding.Error || said.File == run.Place.Inputs {
			continue
		}
		list = append(list, attemptRow{order: 1 << 60, kind: "row", mark: MarkUnhealthy, role: "not taken in", why: said.ID + ": " + said.Message(), file: said.File, line: said.Line, offset: said.Offset})
	}
	for _, e := range run.Evidence.Rows {
		if e.ID == id {
			list = append(list, attemptRow{order: 1 << 61, kind: "evidence", mark: MarkUnknown, role: e.Kind.String(), why: "it tells why a result is missing and is no attempt",
				file: run.Place.Path(e.File), line: e.Line, offset: e.Offset, class: e.Class, reason: e.Reason})
		}
	}
	return list
}

// plainAttempts lists the rows with the identity of a row that is about no expected rollout.
func (d *Desk) plainAttempts(c *selection, f *fates, i *item, row rowFate, p *AttemptsPart) []attemptRow {
	list := []attemptRow{}
	var run *verify.RunReport
	if row.run >= 0 {
		run = f.runs[row.run]
	}
	id := i.digest.Identity.ID
	p.Facts = append(p.Facts, Fact{Label: "rollout id", Value: Text{Text: id, Mono: true}})
	switch {
	case run == nil:
		p.Lines = append(p.Lines, Text{Text: "The file of this row belongs to no run, so nothing tells which record decides.", Mark: MarkUnknown})
	case run.Index == nil:
		p.Lines = append(p.Lines, Text{Text: "Nothing tells which record decides: " + strings.TrimSuffix(noIndex(run), ".") + ". Every row counts for itself.", Mark: MarkUnknown})
	default:
		p.Lines = append(p.Lines, Text{Text: "This row was not taken in: it is no attempt of an expected rollout.", Mark: MarkUnhealthy})
	}
	for _, ordinal := range c.groups().of(c.tally.series.task[i.row.Ordinal]) {
		k, ok := c.item(int(ordinal))
		if !ok || k.digest.Identity.ID != id || len(list) == attemptsMost {
			continue
		}
		r := attemptRow{order: int64(ordinal), number: k.digest.Facts.Attempt, kind: "row", mark: fateInfos[f.rows[ordinal].fate].mark, role: cmp.Or(fateInfos[f.rows[ordinal].fate].word, "not taken in"),
			file: c.table.Name(k.row.Source), line: k.row.Line, offset: k.row.Offset}
		if run != nil {
			for _, said := range f.findings() {
				if said.File == r.file && said.Line == r.line && said.Severity == finding.Error {
					r.why = said.ID + ": " + said.Message()
				}
			}
		}
		list = append(list, r)
	}
	if run == nil {
		return list
	}
	for n := range run.Failures {
		if x := &run.Failures[n]; x.ID == id && len(list) < attemptsMost {
			list = append(list, attemptRow{order: int64(n) - 1<<40, kind: "failure", mark: MarkFailed, role: "failure", file: run.Place.Failures, line: x.Line, offset: x.Offset, class: x.Class, reason: x.Reason})
		}
	}
	return list
}

func (d *Desk) attemptTable(c *selection, s State, list []attemptRow) Table {
	slices.SortStableFunc(list, func(a, b attemptRow) int {
		return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line))
	})
	t := Table{ID: "attempts", Caption: "records of the rollout", Height: 24, Rows: []Row{}, Total: len(list), Columns: []Column{
		{Key: "attempt", Title: "attempt", Right: true}, {Key: "record", Title: "record"}, {Key: "role", Title: "role"}, {Key: "place", Title: "place", Mono: true}, {Key: "class", Title: "class", Mono: true},
		{Key: "reward", Title: "reward", Right: true}, {Key: "flags", Title: ""}, {Key: "elapsed", Title: "took", Right: true}, {Key: "why", Title: "why", Grow: true}, {Key: "reason", Title: "message"}}}
	for n, r := range list {
		if n == attemptsMost {
			break
		}
		attempt := Cell{Text: Text{Text: r.number}, Exact: r.number}
		if r.number == "" {
			attempt = Cell{Text: Text{Text: Dash, Muted: true, Title: "it has no number"}}
		}
		place := Cell{Text: Text{Text: Dash, Muted: true, Title: "nothing was saved"}}
		reward := Cell{Text: Text{Text: Dash, Muted: true, Title: "the record is no result"}}
		row := Row{ID: fmt.Sprint("attempt-", n), Index: n}
		if r.line > 0 {
			full := fmt.Sprintf("%s:%d", r.file, r.line)
			place = Cell{Text: Text{Text: shortPlace(r.file, r.line), Mono: true, Title: full, Href: d.toLine(s, c, r.file, r.line, r.offset)}, Exact: full}
			row.Selected = full == s.Rollout
			for k := range c.table.Sources() {
				if c.table.Name(k) != r.file {
					continue
				}
				if ordinal, ok := c.table.Find(k, r.line); ok {
					other, _ := c.item(ordinal)
					row.Rollout = other.place()
					reward = numberCell(other.digest.Facts.Reward, "the row has no reward")
					if row.Selected {
						place.Text.Href = ""
					} else {
						place.Text.Href = s.With(func(s *State) { s.Rollout = full; s.Open = nil }).Href()
					}
				}
			}
		}
		class := Cell{Text: Text{Text: Dash, Muted: true, Title: "it is no failure"}}
		if r.class != "" {
			class = Cell{Text: Text{Text: records.ClassName(r.class), Mono: true, Title: classText(records.ClassName(r.class))}}
		}
		row.Cells = []Cell{attempt, {Text: Text{Text: r.kind, Mark: r.mark}}, {Text: Text{Text: r.role}}, place, class, reward, {Text: Text{Text: r.note}}, {Text: Text{Text: r.elapsed}},
			{Text: Text{Text: clipped(r.why, 160), Title: r.why}, Exact: r.why}, {Text: Text{Text: clipped(r.reason, 160), Title: clipped(r.reason, 2000)}, Exact: r.reason}}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// outcomeFacts say in the column of facts what became of the rollout of a row, and lead to its records.
func (d *Desk) outcomeFacts(c *selection, i *item, s State) []Fact {
	f := d.fates(c)
	if f == nil || int(i.row.Ordinal) >= len(f.rows) {
		return nil
	}
	row := f.rows[i.row.Ordinal]
	if row.want < 0 {
		return nil
	}
	_, e := f.rollout(int(row.want))
	info := fateInfos[row.fate]
	href := s.With(func(s *State) { s.Part, s.Turn, s.At, s.Token, s.Find, s.Hit = "attempts", 0, "", 0, "", 0 }).Href()
	facts := []Fact{{Label: "outcome", Value: Text{Text: info.word, Mark: info.mark, Title: info.text}}}
	note := "this row decides"
	if !row.speaks {
		note = "another one decides"
		if f.wants[row.want].fate == fateUnknown {
			note = "none decides"
		}
	}
	return append(facts, Fact{Label: "records", Value: Text{Text: count(e.Outcomes, "attempt", "attempts"), Href: href}, Note: Text{Text: note}})
}
