package view

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/rollscope/rollscope/core/metrics"
	"github.com/rollscope/rollscope/core/runfolder"
)

// savedReaders read the files of saved metrics, by their kind.
var savedReaders = []struct {
	kind runfolder.Kind
	read func([]byte) (*metrics.Saved, error)
}{
	{runfolder.AggregateMetrics, metrics.ParseSaved}, {runfolder.RewardProfiling, metrics.ParseProfile},
	{runfolder.AgentMetrics, metrics.ParseAgents}, {runfolder.RepeatLevelMetrics, metrics.ParseRepeats},
}

// SavedScores is a file of saved metrics beside what the rows give.
type SavedScores struct {
	Name  string
	Note  Text // how far they agree
	Error string
	Table Table
}

// agreement is what the files of saved metrics say, held against the rows.
type agreement struct {
	files []agreedFile
}

type agreedFile struct {
	file    int
	name    string
	problem string // why it says nothing
	saved   *metrics.Saved
	agreed  []metrics.Agreement
	shards  bool // the selection has several rollouts files, the file is about one of them
}

// scorePapers lists the saved metrics that must be read first.
func (d *Desk) scorePapers(c *selection) []Need {
	var needs []Need
	if !c.table.Complete() {
		return nil
	}
	for _, r := range savedReaders {
		for _, file := range d.companions(c, r.kind) {
			if _, _, need := d.paper(file); need != nil {
				needs = append(needs, *need)
			}
		}
	}
	return needs
}

// agreement compares the saved metrics with the rows. Rows that a filter leaves are not what files are about.
func (d *Desk) agreement(c *selection, e *earned) *agreement {
	if e.compare != nil {
		return e.compare
	}
	a := new(agreement)
	if e.filtered || !c.table.Complete() {
		return a
	}
	known := true
	for _, r := range savedReaders {
		for _, file := range d.companions(c, r.kind) {
			text, problem, need := d.paper(file)
			if need != nil {
				known = false
				continue
			}
			f := agreedFile{file: file, name: d.listing.Entries[file].Name, problem: problem}
			if problem == "" {
				saved, err := r.read(text)
				if err != nil {
					f.problem = err.Error()
				} else {
					f.saved = saved
					run := e.run
					if len(c.sources) > 1 {
						f.shards = true
						run = d.shardOf(c, file)
					}
					f.agreed = run.Agree(saved)
				}
			}
			a.files = append(a.files, f)
		}
	}
	if known {
		e.compare = a
	}
	return a
}

// shardOf gives the metrics of the rows that a file is about: those of its rollouts file.
func (d *Desk) shardOf(c *selection, file int) *metrics.Run {
	run := metrics.NewRun(metrics.Options{Lenient: true})
	entry := &d.listing.Entries[file]
	for i, source := range c.sources {
		output := d.sources[source]
		if e := &d.listing.Entries[output]; e.Dir != entry.Dir || e.Stem != entry.Stem {
			continue
		}
		before := 0
		for k := range i {
			before += int(c.table.Account(k).Rows())
		}
		for n := range int(c.table.Account(i).Rows()) {
			if row, ok := c.table.Row(before + n); ok && c.measure(run, &row) != nil {
				break
			}
		}
	}
	return run
}

// counts sums the statuses of a file's values up.
func (f *agreedFile) counts() (match, differ, other int) {
	for i := range f.agreed {
		n := &f.agreed[i].Counts
		match += n[metrics.Match] + n[metrics.DefaultScore]
		differ += n[metrics.Differs] + n[metrics.OtherScore]
		other += n[metrics.SavedOnly] + n[metrics.DerivedOnly]
	}
	return match, differ, other
}

// sentence says how far a file agrees.
func (f *agreedFile) sentence() Text {
	if f.problem != "" {
		return Text{Text: "cannot be used: " + f.problem, Mark: MarkFailed}
	}
	match, differ, other := f.counts()
	t := Text{Text: fmt.Sprintf("equals what the rows give within 1e-9, %s of %s", Group(match), count(match+differ, "value", "values")), Mark: MarkHealthy}
	if differ > 0 {
		t = Text{Text: fmt.Sprintf("differs from what the rows give in %s of %s", Group(differ), count(match+differ, "value", "values")), Mark: MarkUnhealthy}
	}
	if other > 0 {
		t.Text += fmt.Sprintf("; %s on one side only", Group(other))
	}
	for i := range f.agreed {
		if a := &f.agreed[i]; a.Saved >= 0 && a.Saved != a.Rows {
			t.Text += fmt.Sprintf("; it counts %s of %s, the rows are %s: rows were added or lost since", count(a.Saved, "rollout", "rollouts"), labelOf(a), Group(a.Rows))
			t.Mark = MarkUnhealthy
			break
		}
	}
	return t
}

// lines say what the files say, below the headline.
func (a *agreement) lines(s State) []Text {
	var list []Text
	for i := range a.files {
		f := &a.files[i]
		if f.saved != nil && len(f.saved.Entries) == 1 {
			e := f.saved.Entries[0]
			for _, values := range [...][]metrics.SavedValue{e.Agent, e.Key} {
				if v, ok := savedValue(values, "mean/reward"); ok {
					list = append(list, Text{Text: "the file says " + fixed(v.Float(), 4), Title: numberText(v) + " in " + f.name})
					break
				}
			}
		}
		t := f.sentence()
		t.Text = f.name + " " + t.Text
		list = append(list, t)
	}
	return list
}

func savedValue(list []metrics.SavedValue, name string) (metrics.Number, bool) {
	for _, v := range list {
		if v.Name == name && v.Numeric {
			return v.Number, true
		}
	}
	return metrics.Number{}, false
}

// stats are the saved values of entries for scripts, under the name of the metric; those of several entries have that
// of the entry in front.
func (a *agreement) stats() []Stat {
	var list []Stat
	seen := map[string]bool{}
	for i := range a.files {
		f := &a.files[i]
		if f.saved == nil {
			continue
		}
		match, differ, other := f.counts()
		for _, one := range [...]struct {
			name string
			n    int
		}{{"match", match}, {"differs", differ}, {"one_side", other}} {
			list = append(list, Stat{Name: "score.saved_files." + strconv.Itoa(i) + "." + one.name, Value: strconv.Itoa(one.n)})
		}
		for _, e := range f.saved.Entries {
			prefix := "score.saved."
			if len(f.saved.Entries) > 1 {
				prefix += e.Label + "/"
			}
			for _, values := range [...][]metrics.SavedValue{e.Agent, e.Key} {
				for _, v := range values {
					if name := prefix + v.Name; v.Numeric && !seen[name] && len(list) < mostStats {
						seen[name] = true
						list = append(list, Stat{Name: name, Value: numberText(v.Number)})
					}
				}
			}
		}
	}
	return append(list, Stat{Name: "score.saved_files", Value: strconv.Itoa(len(a.files))})
}

// tables hold every file against the rows: what differs first, what is equal folded unless it is asked for.
func (a *agreement) tables(s State) []SavedScores {
	list := make([]SavedScores, len(a.files))
	equal := s.Setting(setEqual) != ""
	for i := range a.files {
		f := &a.files[i]
		one := SavedScores{Name: f.name, Note: f.sentence(), Error: f.problem, Table: Table{}}
		if f.saved == nil {
			list[i] = one
			continue
		}
		t := Table{ID: "saved-" + strconv.Itoa(i), Caption: "saved and derived values of " + f.name, Height: 22, Rows: []Row{}, Columns: []Column{
			{Key: "entry", Title: "entry"}, {Key: "part", Title: "part"}, {Key: "of", Title: "of", Right: true, Help: "task or repeat"}, {Key: "metric", Title: "metric", Mono: true, Grow: true},
			{Key: "derived", Title: "from the rows", Right: true}, {Key: "saved", Title: "the file says", Right: true}, {Key: "status", Title: ""},
		}}
		folded := 0
		for k := range f.agreed {
			folded += f.rows(&t, &f.agreed[k], f.saved.Entries[k], equal)
		}
		t.Total = len(t.Rows)
		t.Empty = "All values are equal."
		t.Links = append(exports(t.ID), Link{Text: "Show equal values", Href: s.Choose(setEqual, "1").Href()})
		if equal {
			t.Links[len(t.Links)-1] = Link{Text: "Fold equal values", Href: s.Choose(setEqual, "").Href()}
		}
		if folded > 0 {
			t.Note = Group(folded) + " equal or further values are folded"
		}
		one.Table = t
		list[i] = one
	}
	return list
}

// mostSaved bounds the values of a file that are listed unless all are asked for.
const mostSaved = 200

// rows lists the values of an entry: what differs, the key metrics, what is on one side only, and all others when they
// are asked for. It tells how many it leaves out.
func (f *agreedFile) rows(t *Table, a *metrics.Agreement, e *metrics.SavedEntry, equal bool) (folded int) {
	add := func(part, of, name string, derived, saved Cell, status Text) {
		t.Rows = append(t.Rows, Row{ID: "value-" + strconv.Itoa(len(t.Rows)), Index: len(t.Rows), Cells: []Cell{
			{Text: Text{Text: labelOf(a)}}, {Text: Text{Text: part, Muted: true}}, {Text: Text{Text: of}}, {Text: Text{Text: name, Mono: true}}, derived, saved, {Text: status},
		}})
	}
	none := func(why string) Cell { return Cell{Text: Text{Text: Dash, Muted: true, Title: why}} }
	difference := func(d metrics.Difference) {
		of := ""
		if d.Part == metrics.GroupPart || d.Part == metrics.RepeatPart {
			of = d.Index.String()
		}
		derived, saved := numberOf(d.Derived), numberOf(d.Saved)
		status := Text{Text: d.Status.String()}
		switch d.Status {
		case metrics.Differs, metrics.OtherScore:
			status.Mark = MarkUnhealthy
		case metrics.SavedOnly:
			derived = none("it cannot be derived from the rows: the environment made it")
			status.Mark = MarkUnobserved
		case metrics.DerivedOnly:
			saved = none("the file does not have it")
			status.Mark = MarkUnobserved
		case metrics.DefaultScore:
			status.Mark = MarkHealthy
		}
		if status.Mark != MarkUnhealthy && len(t.Rows) >= mostSaved && !equal {
			folded++
			return
		}
		add(d.Part.String(), of, d.Name, derived, saved, status)
	}
	bad := func(d metrics.Difference) bool { return d.Status == metrics.Differs || d.Status == metrics.OtherScore }
	for _, d := range a.Differences {
		if bad(d) {
			difference(d)
		}
	}
	key := map[string]bool{}
	for _, v := range e.Key {
		key[v.Name] = true
	}
	for _, m := range a.Matches {
		main := m.Part == metrics.AgentPart && (key[m.Name] || strings.HasPrefix(m.Name, "mean/")) || m.Part == metrics.GroupPart && m.Name == "mean/reward"
		if !equal && (!main || len(t.Rows) >= mostSaved) {
			folded++
			continue
		}
		of := ""
		if m.Part == metrics.GroupPart || m.Part == metrics.RepeatPart {
			of = m.Index.String()
		}
		add(m.Part.String(), of, m.Name, numberOf(m.Derived), numberOf(m.Saved), Text{Text: "match", Mark: MarkHealthy})
	}
	for _, d := range a.Differences {
		if !bad(d) {
			difference(d)
		}
	}
	return folded
}

func numberOf(n metrics.Number) Cell {
	text := numberText(n)
	if text == "" {
		return Cell{Text: Text{Text: Dash, Muted: true, Title: "no finite number"}}
	}
	if n.IsWhole() {
		return Cell{Text: Text{Text: groupNumber(text)}, Exact: text}
	}
	return Cell{Text: Text{Text: shortFloat(n.Float()), Title: text}, Exact: text}
}

// fieldTable describes every numeric field of the rows that count, with what the file says of its mean.
func fieldTable(e *earned, saved *agreement) Table {
	stats := e.all.Stats
	if stats == nil || len(stats.Columns) == 0 {
		return Table{}
	}
	t := Table{ID: "fields", Caption: "numeric fields", Height: 22, Rows: []Row{}, Columns: []Column{
		{Key: "field", Title: "field", Mono: true, Grow: true}, {Key: "mean", Title: "mean", Right: true}, {Key: "of", Title: "of", Right: true, Help: "rows that have the field, of the rows that count"},
		{Key: "interval", Title: "95 % over repeats", Right: true}, {Key: "std", Title: "std", Right: true}, {Key: "min", Title: "min", Right: true}, {Key: "median", Title: "median", Right: true},
		{Key: "max", Title: "max", Right: true},
	}}
	said := saved.means()
	if said != nil {
		t.Columns = append(t.Columns, Column{Key: "saved", Title: "the file says", Right: true, Help: "the saved mean of the field"}, Column{Key: "status", Title: ""})
	}
	for i := range stats.Columns {
		if i == mostColumns {
			t.Note = fmt.Sprintf("the first %s of %s", Group(i), Group(len(stats.Columns)))
			break
		}
		c := &stats.Columns[i]
		interval := Cell{Text: Text{Text: Dash, Muted: true, Title: "an interval takes the means of two repeats"}}
		for k := range e.all.Across {
			if a := &e.all.Across[k]; a.Name == "mean/"+c.Name && a.Interval && finiteRange(a.Low, a.High) {
				interval = Cell{Text: Text{Text: shortFloat(a.Low) + " – " + shortFloat(a.High), Muted: true, Title: exactFloat(a.Low) + " – " + exactFloat(a.High)}}
			}
		}
		cell := func(name string, f float64, there bool) Cell {
			if !there || !finiteRange(f, f) {
				return Cell{Text: Text{Text: Dash, Muted: true, Title: "too few values, or values beyond all numbers"}}
			}
			full := exactFloat(f)
			return Cell{Text: Text{Text: shortFloat(f), Title: full}, Exact: full}
		}
		row := Row{ID: "field-" + strconv.Itoa(i), Index: i, Cells: []Cell{
			{Text: Text{Text: c.Name, Mono: true}}, cell("mean", c.Mean, true), {Text: Text{Text: Group(c.N)}, Extra: Text{Text: "of " + Group(stats.Rows)}, Exact: strconv.Itoa(c.N)}, interval,
			cell("std", c.Std, c.Defined), cell("min", c.Min.Float(), true), cell("median", c.Median, true), cell("max", c.Max.Float(), true),
		}}
		if said != nil {
			if d, ok := said[c.Name]; ok {
				status := Text{Text: "match", Mark: MarkHealthy}
				if !d.equal {
					status = Text{Text: "differs", Mark: MarkUnhealthy}
				}
				row.Cells = append(row.Cells, numberOf(d.saved), Cell{Text: status})
			} else {
				row.Cells = append(row.Cells, Cell{Text: Text{Text: Dash, Muted: true, Title: "the file does not have it"}}, Cell{})
			}
		}
		t.Rows = append(t.Rows, row)
	}
	t.Total = len(t.Rows)
	t.Links = exports(t.ID)
	return t
}

// saidMean is a saved mean, and whether it is what the rows give.
type saidMean struct {
	saved metrics.Number
	equal bool
}

// means are the saved means of fields where one entry of a file is about all rows.
func (a *agreement) means() map[string]saidMean {
	for i := range a.files {
		f := &a.files[i]
		if f.saved == nil || len(f.saved.Entries) != 1 || f.shards {
			continue
		}
		list := map[string]saidMean{}
		for _, d := range f.agreed[0].Matches {
			if name, ok := strings.CutPrefix(d.Name, "mean/"); ok && d.Part == metrics.AgentPart {
				list[name] = saidMean{d.Saved, true}
			}
		}
		for _, d := range f.agreed[0].Differences {
			if name, ok := strings.CutPrefix(d.Name, "mean/"); ok && d.Part == metrics.AgentPart && d.Status == metrics.Differs {
				list[name] = saidMean{d.Saved, false}
			}
		}
		if len(list) > 0 {
			return list
		}
	}
	return nil
}

// labelOf names an entry of a file; one about all rows has no name.
func labelOf(a *metrics.Agreement) string {
	if a.Label == "" {
		return "all rows"
	}
	return a.Label
}
