package view

import (
	"errors"
	"math"
	"slices"

	"github.com/rollscope/rollscope/core/analysis"
	"github.com/rollscope/rollscope/core/health"
	"github.com/rollscope/rollscope/core/health/check"
	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/rollout"
	"github.com/rollscope/rollscope/core/view/filter"
)

// matches are the rows of a filter in the order of a sort. All rows in their own order need no list.
type matches struct {
	key    string // filter, sort and how much was read
	serial int    // which search of the selection found them
	all    bool
	list   []int32 // ordinals

	filter filter.Filter
	err    error // why the text is not used
	errAt  int   // character, from 0
	counts [3]int

	look    *lookup // answers of a second scan, nil where none is needed
	pending bool    // some rows have no answer yet and are left out
}

func (m *matches) len(c *selection) int {
	if m.all {
		return c.table.Rows()
	}
	return len(m.list)
}

// at gives the ordinal of the n-th match.
func (m *matches) at(_ *selection, n int) int {
	if m.all {
		return n
	}
	return int(m.list[n])
}

// position finds a row among the matches.
func (m *matches) position(_ *selection, ordinal int) (n int, ok bool) {
	if m.all {
		return ordinal, true
	}
	n = slices.Index(m.list, int32(ordinal))
	return n, n >= 0
}

// verdicts counts the matches by verdict.
func (m *matches) verdicts(c *selection) [3]int {
	if m.all {
		return c.verdicts()
	}
	return m.counts
}

// chips are the conditions of the filter, each with the link that removes it.
func (m *matches) chips(s State) []Chip {
	chips := []Chip{}
	for i, chip := range m.filter.Chips() {
		chips = append(chips, Chip{Text: chip.Label, Remove: s.With(func(s *State) { s.Filter = m.filter.Without(i).String() }).Href()})
	}
	return chips
}

// filter finds the rows that a State shows, and remembers them.
func (d *Desk) filter(c *selection, s State) *matches {
	if s.Rollout == "" && (s.Tab == "tasks" || panes[s.Tab] != nil) {
		s.Sort = "" // sorts what is listed there
	}
	key := s.Filter + "\x00" + s.Sort + c.noteKey(s)
	if m := &c.found; m.key == key && (m.list != nil || m.all) {
		return m
	}
	c.found = c.search(s.Filter, s.Sort)
	c.searches++
	c.found.key, c.found.serial = key, c.searches
	return &c.found
}

// search finds the rows of a filter text in the order of a sort.
func (c *selection) search(text, sorting string) matches {
	var m matches
	f, err := filter.Parse(text, c.fields())
	if err != nil {
		m.err = err
		var place *filter.Error
		if errors.As(err, &place) {
			m.errAt = place.Column - 1
		}
	}
	if q := questionOf(f); q != nil {
		m.look = c.ask(q).lookup(q, c.sources)
	}
	m.filter = f
	key, down := sortKey(State{Sort: sorting})
	at := slices.IndexFunc(rolloutColumns, func(col rolloutColumn) bool { return col.Key == key && col.rank != nil })
	if f.Empty() && at < 0 {
		m.all = true
		return m
	}
	m.list = []int32{}
	c.tally.count(c.table, c.rules)
	var ranks ranking
	c.table.Each(0, func(r *analysis.Row) bool {
		q := quickRow{c: c, row: *r}
		row := filter.Row(&q)
		if m.look != nil {
			if row = q.open(); !m.look.open(q.open()) {
				m.pending = true
				return true
			}
		}
		if !f.Match(row) {
			return true
		}
		m.list = append(m.list, int32(r.Ordinal))
		if v := c.verdictOf(int(r.Ordinal)); int(v) < len(m.counts) {
			m.counts[v]++
		}
		if at >= 0 {
			q.rank(&ranks, &rolloutColumns[at])
		}
		return true
	})
	if at >= 0 {
		found := m.list
		m.list = make([]int32, len(found))
		for n, place := range ranks.order(down) {
			m.list[n] = found[place]
		}
	}
	return m
}

// FilterFields are the names a filter can use, without the texts of any run.
func FilterFields() filter.Fields { return new(selection).fields() }

// fields are the names a filter can use, with the texts that this run has.
func (c *selection) fields() filter.Fields {
	checks := func() []string {
		var ids []string
		for _, k := range check.All() {
			ids = append(ids, k.ID)
		}
		return ids
	}
	return filter.Fields{
		{Name: "verdict", Kind: filter.TextKind, Title: "healthy, unhealthy or unobserved", Values: func() []string { return verdictWords[:] }, Closed: true},
		{Name: "check", Aliases: []string{"finding"}, Kind: filter.TextKind, List: true, Title: "id of a check with a finding on the row, or that flagged its task", Values: checks, Closed: true},
		{Name: "unjudged", Kind: filter.TextKind, List: true, Title: "id of a check that could not be judged on the row", Values: checks, Closed: true},
		{Name: "task", Title: "task index, a number or a text"},
		{Name: "task.repeats", Kind: filter.NumberKind, Title: "rows of the row's task"},
		{Name: "task.scored", Kind: filter.NumberKind, Title: "rows of the row's task that are not masked and have a number as reward"},
		{Name: "task.solved", Kind: filter.NumberKind, Title: "rows of the row's task with a reward of exactly 1"},
		{Name: "task.unhealthy", Kind: filter.NumberKind, Title: "unhealthy rows of the row's task"},
		{Name: "repeat", Aliases: []string{"rollout"}, Title: "rollout index, a number or a text"},
		{Name: "stage", Title: "stage index"},
		{Name: "id", Kind: filter.TextKind, Title: "rollout id"},
		{Name: "name", Kind: filter.TextKind, Title: "name of the task, where the row gives one"},
		{Name: "agent", Kind: filter.TextKind, Title: "agent_ref.name", Values: func() []string { return c.tally.series.agents }},
		{Name: "reward", Title: "reward as saved"},
		{Name: "masked", Kind: filter.BoolKind, Title: "mask_sample is set"},
		{Name: "attempt", Title: "_ng_attempt_index"},
		{Name: "disposition", Kind: filter.TextKind, Title: "what became of the row's rollout: success, failure, omitted or unknown", Values: func() []string { return dispositionWords }, Closed: true},
		{Name: "measurement", Kind: filter.TextKind, Title: "of a success, what the row that decides contributes: measured, masked or unscored", Values: func() []string { return measurementWords }, Closed: true},
		{Name: "state", Kind: filter.TextKind, Title: "in what way the row's rollout has no result", Values: stateWords, Closed: true},
		{Name: "failure.class", Kind: filter.TextKind, Title: "failure class of the record that decides about the row's rollout", Values: func() []string { return c.fated.classes() }},
		{Name: "speaks", Kind: filter.BoolKind, Title: "the row is the record that decides about its rollout"},
		{Name: "pending", Kind: filter.BoolKind, Title: "a resume would run the row's rollout"},
		{Name: "prompt", Kind: filter.NumberKind, Title: "prompt tokens by the row's own usage"},
		{Name: "completion", Kind: filter.NumberKind, Title: "completion tokens by the row's own usage"},
		{Name: "latency", Kind: filter.NumberKind, Title: "seconds of the run request, by ng_perf"},
		{Name: "turns", Kind: filter.NumberKind, Title: "turns in the saved trajectory"},
		{Name: "calls", Kind: filter.NumberKind, Title: "model calls in the saved trajectory"},
		{Name: "failed", Kind: filter.NumberKind, Title: "failed model calls in the saved trajectory"},
		{Name: "findings", Kind: filter.NumberKind, Title: "number of findings"},
		{Name: "unreadable", Kind: filter.BoolKind, Title: "the line cannot be read as a record"},
		{Name: "repaired", Kind: filter.BoolKind, Title: "unreadable, but with a record that can be shown"},
		{Name: "reason", Kind: filter.TextKind, Title: "why the line cannot be read"},
		{Name: "note", Kind: filter.TextKind, Title: "your note on the row, kept in this browser"},
		{Name: "file", Kind: filter.TextKind, Title: "name of the file", Values: c.fileNames},
		{Name: "line", Kind: filter.NumberKind, Title: "physical line in its file, from 1"},
		{Name: "bytes", Kind: filter.NumberKind, Title: "length of the line"},
	}
}

// fileNames are the names of the files, for completion.
func (c *selection) fileNames() []string {
	if c.table == nil {
		return nil
	}
	names := make([]string, c.table.Sources())
	for i := range names {
		names[i] = c.table.Name(i)
	}
	return names
}

// Field gives the value of a field for the filter.
func (i *item) Field(name string) filter.Value {
	f := &i.digest.Facts
	switch name {
	case "verdict":
		return filter.Text(i.verdict().String())
	case "check":
		return filter.Texts(i.fired()...)
	case "unjudged":
		var ids []string
		for _, u := range i.c.unjudged(i) {
			ids = append(ids, u.Check)
		}
		return filter.Texts(ids...)
	case "task":
		return keyValue(i.digest.Identity.Task)
	case "task.repeats", "task.scored", "task.solved", "task.unhealthy":
		return i.ofTask(name)
	case "repeat":
		return keyValue(i.digest.Identity.Rollout)
	case "stage":
		return keyValue(i.digest.Identity.Stage)
	case "id":
		return filter.Text(i.digest.Identity.ID)
	case "name":
		return textValue(f.Name)
	case "agent":
		return textValue(f.Agent)
	case "reward":
		return numberValue(f.Reward)
	case "masked":
		return filter.Bool(f.Masked)
	case "attempt":
		return numberValue(f.Attempt)
	case "prompt":
		return numberValue(f.Prompt)
	case "completion":
		return numberValue(f.Completion)
	case "latency":
		if ms := double(f.Latency); !math.IsNaN(ms) {
			return filter.Float(ms / 1000)
		}
	case "turns":
		return countValue(f.Turns)
	case "calls":
		return countValue(f.Calls)
	case "failed":
		if f.Calls < 0 {
			return filter.Value{}
		}
		return filter.Int(i.failed())
	case "findings":
		return filter.Int(int64(len(i.list())))
	case "disposition", "measurement", "state", "failure.class", "speaks", "pending":
		return i.c.fateField(int(i.row.Ordinal), name)
	case "unreadable":
		return filter.Bool(f.Class != "")
	case "repaired":
		return filter.Bool(i.recovered() != nil)
	case "reason":
		return textValue(f.Reason)
	case "note":
		if n := i.c.note(int(i.row.Ordinal)); n != nil {
			return filter.Text(n.Text)
		}
	case "file":
		return filter.Text(i.c.table.Name(i.row.Source))
	case "line":
		return filter.Int(i.row.Line)
	case "bytes":
		return filter.Int(i.row.Length)
	}
	return filter.Value{}
}

// ofTask gives what all rows of the row's task come to.
func (i *item) ofTask(name string) filter.Value {
	g := i.c.groups()
	if int(i.row.Ordinal) >= g.rows {
		return filter.Value{}
	}
	line := &g.totals[i.c.tally.series.task[i.row.Ordinal]]
	switch name {
	case "task.repeats":
		return filter.Int(int64(line.rows))
	case "task.scored":
		return filter.Int(int64(line.scored))
	case "task.solved":
		return filter.Int(int64(line.solved))
	}
	return filter.Int(int64(line.verdicts[health.Unhealthy]))
}

// fired lists the checks with a finding on the row, and the task checks that flagged its task.
func (i *item) fired() []string {
	if i.c.report == nil {
		p, err := i.c.rules.Preview(i.digest.Health)
		if err != nil {
			return nil
		}
		return p.Fired.IDs()
	}
	return append(i.c.report.Fired(int(i.row.Ordinal)).IDs(), i.flags()...)
}

// flags lists the checks that flag the row's task; none are known before there is a report.
func (i *item) flags() []string {
	if i.c.report == nil {
		return nil
	}
	if task := i.c.report.TaskOf(int(i.row.Ordinal)); task >= 0 {
		return i.c.report.Task(task).Flags
	}
	return nil
}

func keyValue(k rollout.Key) filter.Value {
	switch {
	case k.IsNone():
		return filter.Value{}
	case k.IsInt():
		return filter.Whole(integer.FromUint(k.Int.Negative, k.Int.Magnitude))
	}
	return filter.Text(k.String())
}

func textValue(s string) filter.Value {
	if s == "" {
		return filter.Value{}
	}
	return filter.Text(s)
}

// numberValue reads JSON text: a number stays exact, a text is a text, everything else its own writing.
func numberValue(json string) filter.Value {
	switch {
	case json == "", json == "null":
		return filter.Value{}
	case json == "true", json == "false":
		return filter.Bool(json == "true")
	}
	if v := filter.Number(json); !v.IsMissing() {
		return v
	}
	return filter.Text(json)
}

func countValue(n int64) filter.Value {
	if n < 0 {
		return filter.Value{}
	}
	return filter.Int(n)
}

// withTerm adds a condition to a filter text.
func withTerm(text, term string) string {
	fields := FilterFields()
	base, err := filter.Parse(text, fields)
	if err != nil {
		base = filter.Filter{}
	}
	more, err := filter.Parse(term, fields)
	if err != nil {
		return text
	}
	return base.With(more).String()
}

// taskTerm is the condition that a row is of one task.
func taskTerm(k rollout.Key) string { return filter.Equal("task", keyValue(k)) }

// Window gives the part of a table that a page has asked for.
func (d *Desk) Window(s State, table string, from, to int) (Table, []Need, error) {
	if d.Empty() {
		return Table{}, nil, errNoReport
	}
	c := d.choose(s)
	c.tally.count(c.table, c.rules)
	s.Tab = d.tab(s)
	to = min(to, from+1000)
	switch table {
	case "rollouts":
		return d.rolloutTable(c, s, d.filter(c, s), from, to), nil, nil
	case "tasks":
		return d.taskTable(c, s, from, to), nil, nil
	case "refused":
		return d.refusedTable(c, s, from, to), nil, nil
	case "calls-of-row", "spans":
		_, i, needs, err := d.open(s)
		if err != nil || len(needs) > 0 {
			return Table{}, needs, err
		}
		if table == "spans" {
			return d.talk(i, s).spanTable(s, from, to-from), nil, nil
		}
		open, _, _ := spotOf(s.At)
		return d.talk(i, s).callTable(s, open.n, from, to-from), nil, nil
	case "saying":
		return d.sayingTable(c, d.fates(c), s, from, to), nil, nil
	}
	if t, ok := d.paneTable(c, s, table, from, to); ok {
		return t, nil, nil
	}
	return Table{}, nil, errors.New("there is no table " + table)
}

// findingsTSV lists all findings of a check with their places.
func (d *Desk) findingsTSV(c *selection, id string) string {
	t := Table{Columns: []Column{{Key: "source"}, {Key: "line"}, {Key: "byte"}, {Key: "task"}, {Key: "repeat"}, {Key: "check"}, {Key: "finding"}}}
	plain := func(s string) Cell { return Cell{Exact: s, Text: Text{Text: s}} }
	c.eachFinding(func(i *item, f *check.Finding) {
		if f.Check != id {
			return
		}
		t.Rows = append(t.Rows, Row{Cells: []Cell{
			plain(c.table.Name(i.row.Source)), wide(i.row.Line), wide(i.row.Offset + f.Place.Offset),
			plain(i.digest.Identity.Task.String()), plain(i.digest.Identity.Rollout.String()), plain(f.Check), plain(check.Sentence(*f)),
		}})
	})
	return tsv(t)
}
