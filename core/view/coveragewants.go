package view

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rollscope/rollscope/core/omitted"
	"github.com/rollscope/rollscope/core/records"
	"github.com/rollscope/rollscope/core/verify"
)

// expected gives the expected rollouts that fit the filter of a State: those with a row if the row fits, the others
// if what is known of them does. They are kept until filter or sort change.
func (d *Desk) expected(c *selection, f *fates, s State) *wantList {
	l := &f.list
	found := d.filter(c, s.With(func(s *State) { s.Tab, s.Rollout = "coverage", "" }))
	sorting := s.Sort
	if s.Tab != "coverage" {
		sorting = ""
	}
	key := fmt.Sprint(found.serial, found.key, "\x00", sorting)
	if l.key == key && !found.pending {
		return l
	}
	*l = wantList{key: key, all: found.filter.Empty() && found.err == nil}
	if !l.all {
		fits := make([]uint64, len(f.rows)/64+1)
		for ordinal := range found.each(c) {
			fits[ordinal/64] |= 1 << (ordinal % 64)
		}
		l.list = []int32{}
		for number := range f.wants {
			row := f.wants[number].row
			switch {
			case row >= 0 && f.rows[row].speaks:
				if fits[row/64]&(1<<(row%64)) == 0 {
					continue
				}
			case !found.filter.Match(wantRow{f, number}):
				continue
			}
			l.list = append(l.list, int32(number))
		}
	}
	for n := range l.len(f) {
		l.n[f.wants[l.at(n)].fate]++
	}
	by, down := sortKey(State{Sort: sorting})
	if i := slices.IndexFunc(wantColumns, func(col wantColumn) bool { return col.Key == by && col.rank != nil }); i >= 0 {
		var ranks ranking
		list := make([]int32, l.len(f))
		for n := range list {
			list[n] = int32(l.at(n))
			wantColumns[i].rank(&ranks, f.open(c, int(list[n])))
		}
		l.all, l.list = false, make([]int32, len(list))
		for n, place := range ranks.order(down) {
			l.list[n] = list[place]
		}
	}
	return l
}

// An openWant is an expected rollout with what a table shows of it.
type openWant struct {
	c      *selection
	f      *fates
	number int
	run    *verify.RunReport
	e      records.Rollout
	speaks records.Attempt // if has
	has    bool
	row    *item // nil where it has none
}

func (f *fates) open(c *selection, number int) *openWant {
	run, i := f.of(number)
	w := &openWant{c: c, f: f, number: number, run: run, e: run.Index.Rollout(i, run.Settings)}
	w.speaks, w.has = run.Index.Selected(i)
	return w
}

// item is the row of the rollouts file that speaks for the rollout, nil for none.
func (w *openWant) item() *item {
	if n := w.f.wants[w.number].row; w.row == nil && n >= 0 && w.f.rows[n].speaks {
		w.row, _ = w.c.item(int(n))
	}
	return w.row
}

// A wantColumn is one column of the table of expected rollouts.
type wantColumn struct {
	Column
	plain bool
	cell  func(d *Desk, s State, w *openWant) Cell
	rank  func(r *ranking, w *openWant)
}

var wantColumns []wantColumn

func init() {
	number := func(r *ranking, f float64, has bool) {
		if has {
			r.rows = append(r.rows, rank{classNumber, f})
		} else {
			r.rows = append(r.rows, rank{class: classMissing})
		}
	}
	index := func(text func(*openWant) string) (func(*Desk, State, *openWant) Cell, func(*ranking, *openWant)) {
		return func(_ *Desk, _ State, w *openWant) Cell { return keyCell(keyOfJSON(text(w))) },
			func(r *ranking, w *openWant) {
				key := keyOfJSON(text(w))
				if key.IsNone() {
					r.rows = append(r.rows, rank{class: classMissing})
					return
				}
				r.rows = append(r.rows, rank{classWord, r.keys.intern(key)})
			}
	}
	taskCell, taskRank := index(func(w *openWant) string { return w.e.Task })
	repeatCell, repeatRank := index(func(w *openWant) string { return w.e.Index })
	wantColumns = []wantColumn{
		{Column{Key: "task", Title: "task", Right: true, Mono: true, Help: "task index of the materialized inputs"}, true, taskCell, taskRank},
		{Column{Key: "repeat", Title: "repeat", Right: true, Mono: true, Help: "rollout index of the materialized inputs"}, true, repeatCell, repeatRank},
		{Column{Key: "id", Title: "rollout id", Mono: true}, false,
			func(_ *Desk, _ State, w *openWant) Cell {
				return Cell{Text: Text{Text: w.e.ID, Mono: true}, Exact: w.e.ID}
			},
			func(r *ranking, w *openWant) { r.word(w.e.ID) }},
		{Column{Key: "run", Title: "run", Mono: true}, false,
			func(_ *Desk, _ State, w *openWant) Cell { return Cell{Text: Text{Text: w.run.Key, Mono: true}} },
			func(r *ranking, w *openWant) { r.word(w.run.Key) }},
		{Column{Key: "agent", Title: "agent", Width: 110}, true,
			func(_ *Desk, _ State, w *openWant) Cell {
				if !w.e.HasAgent {
					return Cell{Text: Text{Text: Dash, Muted: true, Title: "the inputs name none"}}
				}
				return textCell(w.e.Agent)
			},
			func(r *ranking, w *openWant) { r.word(w.e.Agent) }},
		{Column{Key: "fate", Title: "what became of it", Width: 130}, true,
			func(_ *Desk, _ State, w *openWant) Cell {
				info := fateInfos[w.f.wants[w.number].fate]
				return Cell{Text: Text{Text: info.word, Mark: info.mark, Title: info.text}}
			},
			func(r *ranking, w *openWant) { number(r, float64(w.f.wants[w.number].fate), true) }},
		{Column{Key: "state", Title: "in detail", Width: 140}, true, stateCell,
			func(r *ranking, w *openWant) { r.word(string(w.f.states[w.number])) }},
		{Column{Key: "class", Title: "failure class", Mono: true, Width: 160}, true,
			func(_ *Desk, _ State, w *openWant) Cell {
				if !w.has || w.speaks.Class == "" {
					return Cell{Text: Text{Text: Dash, Muted: true, Title: "no failure speaks for it"}}
				}
				name := records.ClassName(w.speaks.Class)
				return Cell{Text: Text{Text: name, Mono: true}, Exact: name}
			},
			func(r *ranking, w *openWant) {
				if w.has && w.speaks.Class != "" {
					r.word(records.ClassName(w.speaks.Class))
				} else {
					r.word("")
				}
			}},
		{Column{Key: "attempt", Title: "attempt", Right: true, Help: "the newest, reserved or saved; from 0"}, true,
			func(_ *Desk, _ State, w *openWant) Cell {
				if !w.e.HasLatest {
					return Cell{Text: Text{Text: Dash, Muted: true, Title: "none was reserved or saved"}}
				}
				return Cell{Text: Text{Text: w.e.Latest.String()}, Exact: w.e.Latest.String()}
			},
			func(r *ranking, w *openWant) {
				n, _ := w.e.Latest.Int64()
				number(r, float64(n), w.e.HasLatest)
			}},
		{Column{Key: "records", Title: "records", Right: true, Help: "saved attempts"}, true,
			func(_ *Desk, _ State, w *openWant) Cell { return numeral(w.e.Outcomes) },
			func(r *ranking, w *openWant) { number(r, float64(w.e.Outcomes), true) }},
		{Column{Key: "counted", Title: "counted failures", Right: true, Help: "failures that spent the retry budget"}, false,
			func(_ *Desk, _ State, w *openWant) Cell { return wide(w.e.CountedFailures) },
			func(r *ranking, w *openWant) { number(r, float64(w.e.CountedFailures), true) }},
		{Column{Key: "reward", Title: "reward", Right: true}, true,
			func(_ *Desk, _ State, w *openWant) Cell {
				if i := w.item(); i != nil {
					return numberCell(i.digest.Facts.Reward, "the row has no number as reward")
				}
				return Cell{Text: Text{Text: Dash, Muted: true, Title: "no result speaks for it"}}
			},
			func(r *ranking, w *openWant) {
				if i := w.item(); i != nil {
					f := double(i.digest.Facts.Reward)
					number(r, f, f == f)
				} else {
					number(r, 0, false)
				}
			}},
		{Column{Key: "place", Title: "place", Mono: true, Width: 190, Help: "of the record that decides; of a rollout without one, its line in the inputs"}, true, wantPlace,
			func(r *ranking, w *openWant) {
				if w.has {
					number(r, float64(w.speaks.File)*1e15+float64(w.speaks.Line), true)
				} else {
					number(r, float64(w.e.Line), true)
				}
			}},
		{Column{Key: "reason", Title: "reason", Grow: true}, true,
			func(_ *Desk, _ State, w *openWant) Cell {
				if w.speaks.Reason == "" {
					return Cell{Text: Text{Text: Dash, Muted: true, Title: "nothing is said"}}
				}
				return Cell{Text: Text{Text: clipped(w.speaks.Reason, 200), Title: clipped(w.speaks.Reason, 2000)}, Exact: w.speaks.Reason}
			}, nil},
	}
}

func stateCell(_ *Desk, s State, w *openWant) Cell {
	state := w.f.states[w.number]
	if state == "" {
		return Cell{Text: Text{Text: Dash, Muted: true, Title: "it has a result"}}
	}
	i := slices.IndexFunc(omitted.States, func(info omitted.StateInfo) bool { return info.State == state })
	return Cell{Text: Text{Text: omitted.States[i].Title, Title: omitted.States[i].Text}, Exact: string(state)}
}

// wantPlace says where the record stands that decides about a rollout, and leads to it.
func wantPlace(d *Desk, s State, w *openWant) Cell {
	if !w.has {
		text := fmt.Sprintf("%s:%d", w.run.Place.Inputs, w.e.Line)
		return Cell{Text: Text{Text: shortPlace(w.run.Place.Inputs, w.e.Line), Mono: true, Muted: true, Title: text}, Exact: text}
	}
	path := w.run.Place.Path(w.speaks.File)
	return Cell{Text: Text{Text: shortPlace(path, w.speaks.Line), Mono: true, Title: fmt.Sprintf("%s:%d", path, w.speaks.Line), Href: d.toLine(s, w.c, path, w.speaks.Line, w.speaks.Offset)},
		Exact: fmt.Sprintf("%s:%d", path, w.speaks.Line)}
}

// shortPlace is a file, by its last segment, and a line.
func shortPlace(path string, line int64) string {
	for i := len(path) - 1; i >= 0; i-- {
		if path[i] == '/' {
			path = path[i+1:]
			break
		}
	}
	return path + ":" + strconv.FormatInt(line, 10)
}

// wantChoice is what the chooser of the table offers.
func wantChoice(f *fates) []choosable {
	list := make([]choosable, len(wantColumns))
	for i := range wantColumns {
		list[i] = choosable{wantColumns[i].Column, wantColumns[i].plain || f != nil && len(f.runs) > 1 && wantColumns[i].Key == "run"}
	}
	return list
}

// wantSortKeys are the columns that the table can be sorted by.
func wantSortKeys() []string {
	var keys []string
	for _, c := range wantColumns {
		if c.rank != nil {
			keys = append(keys, c.Key)
		}
	}
	return keys
}

// wantTable is the part of the table of expected rollouts between two of its rows.
func (d *Desk) wantTable(c *selection, f *fates, s State, from, to int) Table {
	l := d.expected(c, f, s)
	t := Table{ID: "expected", Caption: "expected rollouts", Height: rowHeight, Columns: []Column{}, Rows: []Row{}, Total: l.len(f),
		Window: true, Sortable: true, Movable: true, Empty: "No expected rollout fits the filter."}
	if len(f.wants) == 0 {
		t.Empty = "Nothing says which rollouts were expected."
	}
	rows := 0
	for n := range l.n {
		if fate(n) >= fateMeasured && fate(n) <= fateUnscored {
			rows += l.n[n]
		}
	}
	t.Note = fmt.Sprintf("%s of %s, %s without a result", Group(t.Total), Group(len(f.wants)), Group(t.Total-rows))
	all := wantChoice(f)
	var cols []*wantColumn
	for _, shown := range chosen(s, all) {
		col := &wantColumns[columnAt(all, shown.Key)]
		cols, t.Columns = append(cols, col), append(t.Columns, head(s, col.Column, shown, col.rank != nil))
	}
	from = max(0, min(from, t.Total-1))
	t.From = from
	for n := from; n < min(to, t.Total); n++ {
		w := f.open(c, l.at(n))
		row := Row{ID: "want-" + strconv.Itoa(w.number), Index: n, Cells: make([]Cell, 0, len(cols))}
		if i := w.item(); i != nil {
			row.Rollout = i.place()
			row.Href = d.toRow(s, c, int(i.row.Ordinal))
		} else if w.has {
			row.Href = d.toLine(s, c, w.run.Place.Path(w.speaks.File), w.speaks.Line, w.speaks.Offset)
		}
		for _, col := range cols {
			row.Cells = append(row.Cells, col.cell(d, s, w))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// resumeRows is how many rollouts the table of a resume shows; its exports hold all of them.
const resumeRows = 200

// resume says what a resume would run, why, and what it would refuse.
func (d *Desk) resume(f *fates, s State) Resume {
	r := Resume{Lines: []Text{}}
	for n, run := range f.runs {
		if n == 6 {
			r.Lines = append(r.Lines, Text{Text: "… and so on; the table of runs has all of them.", Muted: true})
			break
		}
		r.Lines = append(r.Lines, d.resumeLines(run, f, n, s)...)
	}
	if f.plan == nil {
		t := f.resumeTable(resumeRows)
		f.plan = &t
	}
	r.Table = *f.plan
	return r
}

// plans counts what a resume would do with a run.
func (f *fates) plans(n int) planSum {
	if f.planned == nil {
		f.planned = make([]planSum, len(f.runs))
		for n, run := range f.runs {
			p := &f.planned[n]
			run.Planned(func(x verify.Planned) {
				p.total++
				if x.Failures > 0 || x.Has {
					p.again++
				} else {
					p.first++
				}
			})
			for i := f.starts[n]; i < f.starts[n+1]; i++ {
				if f.states[i] == omitted.Terminal {
					p.final++
				}
			}
		}
	}
	return f.planned[n]
}

func (d *Desk) resumeLines(run *verify.RunReport, f *fates, n int, s State) []Text {
	name := ""
	if len(f.runs) > 1 {
		name = run.Key + ": "
	}
	list := []Text{}
	sum := f.plans(n)
	pending := s.ToTab("coverage").With(func(t *State) { t.Filter = withTerm(s.Filter, "pending") }).Href()
	of := ""
	if run.Index != nil {
		of = " of " + Group(run.Index.Len())
	}
	would := fmt.Sprintf("%s%s %s: %s again, %s for the first time.", Group(sum.total), of, plural(sum.total, "rollout", "rollouts"), Group(sum.again), Group(sum.first))
	codes := cmp.Or(strings.Join(run.Resume.Codes, ", "), "no reason is known")
	switch {
	case run.Resume.Outcome == "fresh":
		list = append(list, Text{Text: name + "A resume would start the run: nothing of it is here yet."})
	case run.Resume.Outcome == "restart":
		list = append(list, Text{Text: name + "A resume would start afresh and delete what is here, since the rollouts file or the materialized inputs are missing.", Mark: MarkUnhealthy})
	case run.Resume.Outcome == "refused" && run.Dialect == verify.Legacy:
		list = append(list, Text{Text: name + "By the rules of 0.7.0 a resume would run " + would, Href: pending},
			Text{Text: "Later versions refuse to resume it unless they are forced: " + codes + ".", Muted: true})
	case run.Resume.Outcome == "refused":
		list = append(list, Text{Text: name + "A resume would be refused: " + codes + ".", Mark: MarkUnhealthy})
		for _, id := range run.Resume.Codes {
			list = append(list, Text{Text: explained(id), Muted: true})
		}
		if run.Index != nil {
			list = append(list, Text{Text: "Otherwise it would run " + would, Href: pending})
		}
	default:
		list = append(list, Text{Text: name + "A resume would run " + would, Href: pending})
	}
	if c := run.Coverage; c != nil && c.Failed+c.Omitted > 0 {
		list = append(list, Text{Muted: true, Text: fmt.Sprintf("Not run again: %s with all %d attempts spent, %s failed for good, %s omitted.",
			count(c.Exhausted, "rollout", "rollouts"), run.Settings.MaxAttempts, Group(sum.final), Group(c.Omitted))})
	}
	if run.Output != "" && sum.total > 0 {
		list = append(list, Text{Text: "rollscope recovery plan " + run.Output + " -o DIR writes the whole plan.", Muted: true})
	}
	return list
}

// resumeTable lists what a resume would run, in its order.
func (f *fates) resumeTable(limit int) Table {
	t := Table{ID: "resume", Caption: "what a resume would run", Height: 22, Rows: []Row{}, Empty: "Nothing is left to run.", Columns: []Column{
		{Key: "run", Title: "run", Mono: true}, {Key: "task", Title: "task", Right: true, Mono: true}, {Key: "repeat", Title: "repeat", Right: true, Mono: true}, {Key: "attempt", Title: "attempt", Right: true, Help: "its number; the first of an old run has none"},
		{Key: "reuse", Title: "deliverable"}, {Key: "why", Title: "why", Grow: true}}}
	if len(f.runs) < 2 {
		t.Columns = t.Columns[1:]
	}
	for _, run := range f.runs {
		run.Planned(func(p verify.Planned) {
			t.Total++
			if len(t.Rows) >= limit {
				return
			}
			attempt := Cell{Text: Text{Text: Dash, Muted: true, Title: "the first attempt of an old run has no number"}}
			if p.HasAttempt {
				attempt = Cell{Text: Text{Text: p.Attempt.String()}, Exact: p.Attempt.String()}
			}
			reuse := Cell{Text: Text{Text: "new", Muted: true}, Exact: "false"}
			if p.Reuse {
				reuse = Cell{Text: Text{Text: "used again"}, Exact: "true"}
			}
			why := "it was never started, as far as the files tell"
			switch {
			case p.Failures > 0 && p.Class != "":
				why = fmt.Sprintf("failed %s, last with %s", times(p.Failures), records.ClassName(p.Class))
			case p.Has:
				why = "an attempt was reserved and left no outcome"
			}
			cells := []Cell{keyCell(keyOfJSON(p.Task)), keyCell(keyOfJSON(p.Index)), attempt, reuse, {Text: Text{Text: why}}}
			if len(f.runs) > 1 {
				cells = append([]Cell{{Text: Text{Text: run.Key, Mono: true}}}, cells...)
			}
			t.Rows = append(t.Rows, Row{ID: "resume-" + strconv.Itoa(t.Total), Index: t.Total - 1, Cells: cells})
		})
	}
	switch {
	case t.Total == 0: // why is said in words; a run that starts afresh would run all
	case t.Total > len(t.Rows):
		t.Note = fmt.Sprintf("the first %s of %s", Group(len(t.Rows)), Group(t.Total))
	default:
		t.Note = count(t.Total, "rollout", "rollouts")
	}
	return t
}

func times(n int64) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return Group(n) + " times"
}
