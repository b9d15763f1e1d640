package view

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"github.com/rollscope/rollscope/core/outcome"
	"github.com/rollscope/rollscope/core/records"
	"github.com/rollscope/rollscope/core/value"
	"github.com/rollscope/rollscope/core/verify"
	"github.com/rollscope/rollscope/core/view/filter"
)

// Failures is the part of the Coverage tab about the failures sidecars.
type Failures struct {
	Note    string
	Classes Table // by class, who wrote it, delivery and status
	Shapes  Table // messages that differ in numbers, paths and the like alone
	Rows    Table // row by row
}

// A failureGroup are rows of the sidecars that are told together.
type failureGroup struct {
	id       string
	class    string // name
	json     string // of the class
	source   string
	delivery string
	status   string
	stage    string
	message  string // the shape of a message, or the first message

	rows, decide, counted, terminal, spent int
	first                                  failureAt
	list                                   []failureAt // as far as an open group shows them
	classes                                []string    // of a shape
}

// A failureAt is a row of a sidecar: the run and the number of the row.
type failureAt struct{ run, row int }

// groupRows is how many rows an open group lists.
const groupRows = 100

// groupsMost is how many groups a table shows.
const groupsMost = 300

func (f *fates) failure(at failureAt) (*verify.RunReport, *verify.Failure) {
	run := f.runs[at.run]
	return run, &run.Failures[at.row]
}

// word reads a text out of the JSON of a member; what is no text stays as it is written.
func word(json string) string {
	if json == "" || json == "null" {
		return ""
	}
	v, err := value.Strict([]byte(json))
	if err != nil {
		return json
	}
	if text, ok := v.Text(); ok {
		return text
	}
	return v.String()
}

func groupID(parts ...string) string {
	h := fnv.New64a()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	return strconv.FormatUint(h.Sum64(), 36)
}

// groupFailures sorts the rows of all sidecars into groups, in order of appearance. Rows that are evidence about
// something else are counted apart.
func (f *fates) groupFailures(key func(run *verify.RunReport, r *verify.Failure) failureGroup, open func(id string) bool, keep func(failureAt) bool) (list []*failureGroup, evidence int) {
	at := map[string]*failureGroup{}
	for n, run := range f.runs {
		for i := range run.Failures {
			r := &run.Failures[i]
			if !keep(failureAt{n, i}) {
				continue
			}
			if r.Evidence != outcome.NoEvidence {
				evidence++
				continue
			}
			k := key(run, r)
			g := at[k.id]
			if g == nil {
				k.first = failureAt{n, i}
				g = &k
				at[k.id] = g
				list = append(list, g)
			}
			g.rows++
			if r.Counted {
				g.counted++
			}
			if r.Terminal && !run.Settings.Override || r.TerminalOver && run.Settings.Override {
				g.terminal++
			}
			if r.Selected {
				g.decide++
				if ix := run.Index; ix != nil {
					if e, ok := ix.Find(r.ID); ok && ix.Rollout(e, run.Settings).Exhausted {
						g.spent++
					}
				}
			}
			if name := records.ClassName(r.Class); !slices.Contains(g.classes, name) && len(g.classes) < 8 {
				g.classes = append(g.classes, name)
			}
			if open(g.id) && len(g.list) < groupRows {
				g.list = append(g.list, failureAt{n, i})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b *failureGroup) int {
		return cmp.Or(cmp.Compare(b.decide, a.decide), cmp.Compare(b.rows, a.rows))
	})
	return list, evidence
}

func (d *Desk) failures(c *selection, f *fates, s State, windows map[string]int) Failures {
	p := Failures{}
	rows := 0
	for _, run := range f.runs {
		rows += len(run.Failures)
	}
	if rows == 0 {
		p.Note = "There are no rows in a failures sidecar."
		for _, run := range f.runs {
			if !run.Present[records.Failures] {
				p.Note = "There is no failures sidecar."
			}
		}
		return p
	}
	keep := d.keptFailures(c, f, s)
	opened := func(id string) bool { return slices.Contains(s.Open, "group:"+id) }
	p.Classes, p.Note = d.classTable(c, f, s, opened, keep)
	p.Shapes = d.shapeTable(c, f, s, opened, keep)
	p.Rows = d.failureTable(c, f, s, windows["failures"], windows["failures"]+windowSize)
	return p
}

// keptFailures tells which rows of the sidecars the filter leaves: those about a rollout that it leaves, and of rows
// about none those that fit by themselves.
func (d *Desk) keptFailures(c *selection, f *fates, s State) func(failureAt) bool {
	found := d.filter(c, s.With(func(s *State) { s.Tab, s.Rollout = "coverage", "" }))
	if found.filter.Empty() {
		return func(failureAt) bool { return true }
	}
	l := d.expected(c, f, s)
	fits := make([]bool, len(f.wants))
	for n := range l.len(f) {
		fits[l.at(n)] = true
	}
	return func(at failureAt) bool {
		run, r := f.failure(at)
		if run.Index != nil && r.ID != "" {
			if i, ok := run.Index.Find(r.ID); ok {
				return fits[f.starts[at.run]+i]
			}
		}
		return found.filter.Match(strayRow{r})
	}
}

// A strayRow gives a filter what is known of a row of a sidecar that is about no expected rollout.
type strayRow struct{ r *verify.Failure }

// Field gives the value of a field.
func (s strayRow) Field(name string) filter.Value {
	switch name {
	case "id":
		if s.r.ID != "" {
			return filter.Text(s.r.ID)
		}
	case "failure.class":
		if s.r.Class != "" {
			return filter.Text(records.ClassName(s.r.Class))
		}
	case "line":
		return filter.Int(s.r.Line)
	}
	return filter.Value{}
}

// Inside is missing: the row is no rollout.
func (s strayRow) Inside(*filter.Ref) filter.Value { return filter.Value{} }

// toggled opens or closes a group.
func toggled(s State, id string) string {
	return s.With(func(s *State) {
		name := "group:" + id
		if i := slices.Index(s.Open, name); i >= 0 {
			s.Open = slices.Delete(s.Open, i, i+1)
			return
		}
		s.Open = append(s.Open, name)
	}).Href()
}

func mutedOr(text, why string) Cell {
	if text == "" {
		return Cell{Text: Text{Text: Dash, Muted: true, Title: why}}
	}
	return Cell{Text: Text{Text: text}, Exact: text}
}

// classTable shows failures by class, by who wrote them, by delivery and status.
func (d *Desk) classTable(c *selection, f *fates, s State, opened func(string) bool, keep func(failureAt) bool) (Table, string) {
	list, evidence := f.groupFailures(func(_ *verify.RunReport, r *verify.Failure) failureGroup {
		g := failureGroup{json: r.Class, class: records.ClassName(r.Class), source: word(r.Source), delivery: word(r.Delivery), status: word(r.Status), stage: word(r.Stage)}
		g.id = groupID("class", r.Class, r.Source, r.Delivery, r.Status, r.Stage)
		return g
	}, opened, keep)
	t := Table{ID: "classes", Caption: "failures by class, source, delivery and status", Height: 24, Rows: []Row{}, Total: len(list), Empty: "No row of a sidecar fits the filter.", Columns: []Column{
		{Key: "class", Title: "class", Mono: true, Grow: true}, {Key: "source", Title: "written by"}, {Key: "delivery", Title: "delivery"}, {Key: "status", Title: "HTTP", Right: true}, {Key: "stage", Title: "stage"},
		{Key: "rollouts", Title: "rollouts", Right: true, Help: "it is the record that decides"}, {Key: "bar", Bars: true, Width: 92}, {Key: "rows", Title: "attempts", Right: true, Help: "failed attempts: rows of the sidecars"},
		{Key: "spent", Title: "exhausted", Right: true}, {Key: "place", Title: "first place", Mono: true}}}
	scale, decide, rows, counted, spent := 0.0, 0, 0, 0, 0
	for _, g := range list {
		scale = max(scale, float64(g.decide))
		decide, rows, counted, spent = decide+g.decide, rows+g.rows, counted+g.counted, spent+g.spent
	}
	scale = niceMax(scale)
	t.Columns[6].Title = "0 – " + Group(int(scale))
	for n, g := range list {
		if n == groupsMost {
			break
		}
		run, r := f.failure(g.first)
		row := Row{ID: "class-" + g.id, Index: n, Href: toggled(s, g.id), Selected: opened(g.id), Cells: []Cell{
			{Text: Text{Text: cmp.Or(noClass[g.json], g.class), Mono: true, Mark: MarkFailed, Title: classText(g.class)}, Exact: g.class}, mutedOr(g.source, "the row does not say whether the environment or the collector wrote it"), mutedOr(g.delivery, "the row does not say whether it was sent"),
			mutedOr(g.status, "no status was saved"), mutedOr(g.stage, "no stage was saved"), numeral(g.decide), {Bar: float64(g.decide) / scale, Tone: "failed"}, numeral(g.rows),
			{Text: Text{Text: Group(g.spent)}, Extra: Text{Text: "of " + Group(g.decide)}}, d.failurePlace(s, c, run, r)}}
		if opened(g.id) {
			row.Open = d.groupDetail(c, f, s, g, classText(g.class))
			if run.Index != nil {
				row.Open.Links = append(row.Open.Links, Link{Text: "Rollouts that ended in it", Href: s.With(func(s *State) {
					s.Filter = withTerm(s.Filter, filter.Equal("failure.class", filter.Text(g.class)))
				}).Href()})
			}
		}
		t.Rows = append(t.Rows, row)
	}
	if !slices.ContainsFunc(list, func(g *failureGroup) bool { return g.stage != "" }) {
		t.Columns = slices.Delete(t.Columns, 4, 5)
		for i := range t.Rows {
			t.Rows[i].Cells = slices.Delete(t.Rows[i].Cells, 4, 5)
		}
	}
	if len(list) > groupsMost {
		t.Note = fmt.Sprintf("%s of %s groups", Group(groupsMost), Group(len(list)))
	}
	note := fmt.Sprintf("%s, %s, %s counted, %s exhausted", count(decide, "rollout", "rollouts"), count(rows, "failed attempt", "failed attempts"), Group(counted), Group(spent))
	if len(f.runs) == 1 {
		note += fmt.Sprintf(", %d attempts allowed", f.runs[0].Settings.MaxAttempts)
	}
	if evidence > 0 {
		note += ", " + count(evidence, "row is evidence and no attempt", "rows are evidence and no attempts")
	}
	return t, note
}

// noClass is what stands for a class that is none.
var noClass = map[string]string{"": "no class", "null": "no class"}

// classText explains a class, as far as it is known.
func classText(class string) string {
	if i := slices.IndexFunc(outcome.Labels, func(l outcome.Label) bool { return l.Class == class }); i >= 0 {
		return outcome.Labels[i].Text
	}
	return "A class of the environment's own."
}

func (d *Desk) failurePlace(s State, c *selection, run *verify.RunReport, r *verify.Failure) Cell {
	full := fmt.Sprintf("%s:%d", run.Place.Failures, r.Line)
	return Cell{Text: Text{Text: shortPlace(run.Place.Failures, r.Line), Mono: true, Title: full, Href: d.toLine(s, c, run.Place.Failures, r.Line, r.Offset)}, Exact: full}
}

// groupDetail lists the rows of an open group.
func (d *Desk) groupDetail(c *selection, f *fates, s State, g *failureGroup, text string) *Detail {
	detail := &Detail{Text: text, Notes: []string{}, Tables: []Table{}, Links: []Link{}}
	t := Table{ID: "group-" + g.id, Caption: "rows of the group", Height: 22, Rows: []Row{}, Total: len(g.list), Columns: failureColumns()}
	for n, at := range g.list {
		t.Rows = append(t.Rows, d.failureRow(c, f, s, at, n))
	}
	if g.rows > len(g.list) {
		t.Note = fmt.Sprintf("the first %s of %s rows", Group(len(g.list)), Group(g.rows))
	}
	detail.Tables = append(detail.Tables, t)
	return detail
}

func failureColumns() []Column {
	return []Column{{Key: "place", Title: "row", Mono: true, Width: 190}, {Key: "id", Title: "rollout", Mono: true}, {Key: "attempt", Title: "attempt", Right: true}, {Key: "class", Title: "class", Mono: true},
		{Key: "what", Title: "what it does"}, {Key: "message", Title: "message", Grow: true}}
}

func (d *Desk) failureRow(c *selection, f *fates, s State, at failureAt, index int) Row {
	run, r := f.failure(at)
	attempt := Cell{Text: Text{Text: Dash, Muted: true, Title: "the row is about no attempt of an expected rollout"}}
	if r.Stored {
		attempt = Cell{Text: Text{Text: r.Attempt.String()}, Exact: r.Attempt.String()}
	}
	what := []string{}
	switch {
	case r.Evidence != outcome.NoEvidence:
		what = append(what, "evidence: "+r.Evidence.String())
	case !r.Stored && run.Index != nil:
		what = append(what, "not taken in")
	case r.Selected:
		what = append(what, "decides")
	case r.Stored:
		what = append(what, "history")
	}
	if r.Counted {
		what = append(what, "counted")
	}
	if r.Terminal {
		what = append(what, "final")
	}
	place := d.failurePlace(s, c, run, r)
	id := Text{Text: cmp.Or(r.ID, Dash), Mono: true, Muted: r.ID == ""}
	if r.ID == "" {
		id.Title = "the row has no valid id"
	}
	return Row{ID: fmt.Sprintf("failure-%d-%d", at.run, at.row), Index: index, Href: place.Text.Href, Cells: []Cell{
		place, {Text: id, Exact: r.ID}, attempt, {Text: Text{Text: records.ClassName(r.Class), Mono: true}}, {Text: Text{Text: strings.Join(what, ", ")}},
		{Text: Text{Text: clipped(cmp.Or(r.Reason, Dash), 200), Title: clipped(r.Reason, 2000), Muted: r.Reason == ""}, Exact: r.Reason}}}
}

// failureTable is the part of the list of sidecar rows between two of its rows.
func (d *Desk) failureTable(c *selection, f *fates, s State, from, to int) Table {
	t := Table{ID: "failures", Caption: "rows of the failures sidecars", Height: rowHeight, Rows: []Row{}, Window: true, Empty: "No row of a sidecar fits the filter.", Columns: failureColumns()}
	list := d.failureList(c, f, s)
	t.Total = len(list)
	from = max(0, min(from, t.Total-1))
	t.From = from
	for n := from; n < min(to, t.Total); n++ {
		t.Rows = append(t.Rows, d.failureRow(c, f, s, list[n], n))
	}
	t.Note = count(t.Total, "row", "rows")
	return t
}

// failureList are the rows of the sidecars that the filter leaves.
func (d *Desk) failureList(c *selection, f *fates, s State) []failureAt {
	keep := d.keptFailures(c, f, s)
	key := d.expected(c, f, s).key
	if f.failed.key == key && f.failed.list != nil {
		return f.failed.list
	}
	f.failed.key, f.failed.list = key, []failureAt{}
	for n, run := range f.runs {
		for i := range run.Failures {
			if at := (failureAt{n, i}); keep(at) {
				f.failed.list = append(f.failed.list, at)
			}
		}
	}
	return f.failed.list
}

// shapeTable shows messages by their shape.
func (d *Desk) shapeTable(c *selection, f *fates, s State, opened func(string) bool, keep func(failureAt) bool) Table {
	list, _ := f.groupFailures(func(_ *verify.RunReport, r *verify.Failure) failureGroup {
		shape := shapeOf(r.Reason)
		return failureGroup{id: groupID("shape", shape), message: shape}
	}, opened, keep)
	slices.SortStableFunc(list, func(a, b *failureGroup) int { return cmp.Compare(b.rows, a.rows) })
	t := Table{ID: "shapes", Caption: "messages of failures by their shape", Height: 24, Rows: []Row{}, Total: len(list), Columns: []Column{
		{Key: "message", Title: "message", Grow: true, Help: "numbers, long hexadecimal words, paths and addresses stand as signs"}, {Key: "rows", Title: "rows", Right: true}, {Key: "rollouts", Title: "rollouts", Right: true},
		{Key: "classes", Title: "classes", Mono: true}, {Key: "place", Title: "first place", Mono: true}}}
	for n, g := range list {
		if n == groupsMost {
			t.Note = fmt.Sprintf("%s of %s shapes", Group(groupsMost), Group(len(list)))
			break
		}
		run, r := f.failure(g.first)
		message := Text{Text: clipped(g.message, 160), Title: clipped(r.Reason, 2000)}
		if g.message == "" {
			message = Text{Text: "no message", Muted: true}
		}
		row := Row{ID: "shape-" + g.id, Index: n, Href: toggled(s, g.id), Selected: opened(g.id), Cells: []Cell{
			{Text: message, Exact: g.message}, numeral(g.rows), numeral(g.decide), {Text: Text{Text: strings.Join(g.classes, ", "), Mono: true}}, d.failurePlace(s, c, run, r)}}
		if opened(g.id) {
			text := ""
			if r.Reason != "" {
				text = "The first: " + clipped(r.Reason, 2000)
			}
			row.Open = d.groupDetail(c, f, s, g, text)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
