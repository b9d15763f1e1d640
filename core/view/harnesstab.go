package view

import (
	"errors"
	"fmt"
	"hash/fnv"
	"strconv"

	"github.com/rollscope/rollscope/core/analysis"
	"github.com/rollscope/rollscope/core/harness"
	"github.com/rollscope/rollscope/core/jsonl"
)

// Harness is the tab of that name: whether the harness leaves the evidence that training needs.
type Harness struct {
	Title   string
	Note    string // what a passing cell says, and the scope
	Scope   []Choice
	By      []Choice
	Matrix  Table
	More    string // groups that the matrix leaves out, and why nothing is known yet
	Cell    HarnessCell
	Refused []Alert // lines for which the command refuses the input
	Records Table   // every record with its verdicts
}

// A HarnessCell is what lies behind a cell of the matrix that is open.
type HarnessCell struct {
	Title  string // "hermes · TE-4 history"
	Note   string // "3 of 6 checks fail"
	Text   string // what the capability promises
	Checks Table
	Graph  HarnessGraph
	Check  string // the check that is open
	About  []Pair // what it asks, what it waits for, what waits for it
	Fails  Table  // records on which it fails
}

// A HarnessGraph shows which checks wait for which.
type HarnessGraph struct {
	Width, Height int
	Nodes         []GraphNode
	Edges         []GraphEdge
	Text          string // the same for those who do not see it
}

// A GraphNode is a check in the graph. X and Y are those of its left upper corner, in CSS pixels.
type GraphNode struct {
	X, Y    int
	Text    string
	Note    string // "412 fail"
	Mark    Mark
	Href    string
	Current bool
}

// A GraphEdge leads from a check to one that waits for it.
type GraphEdge struct{ X1, Y1, X2, Y2 int }

var harnessPane = pane{
	there: func(_ *Desk, c *selection) bool { return c.table.Rows() > 0 },
	probe: "harness",
	show:  (*Desk).harness,
	table: func(d *Desk, c *selection, r *request, id string, from, to int) (Table, bool) {
		v := d.harnessView(c, r)
		switch id {
		case "capabilities":
			return v.matrix(), true
		case "harness-checks":
			return v.checks(), true
		case "failing":
			return v.failing(from, to), true
		case "records":
			return v.recordTable(from, to), true
		}
		return Table{}, false
	},
	download: func(d *Desk, c *selection, r *request, name string) ([]byte, bool, error) {
		return d.harnessFile(c, r, name)
	},
}

// harnessProbe keeps what every check found on a row, whatever the scope is.
var harnessProbe = &Probe{ID: "harness", number: probeNumber("harness"), mapper: func() analysis.Mapper { return new(harnessMapper) }}

// probeNumber makes the number of a question from a name that no filter has.
func probeNumber(id string) uint64 {
	hash := fnv.New64a()
	hash.Write([]byte("probe\x00" + id))
	return hash.Sum64() | 1
}

// harnessMapper asks package harness, also about blank lines: a carriage return makes more than one of them.
type harnessMapper struct{ harness.Mapper }

func (m *harnessMapper) AppendBlank(dst []byte, line *jsonl.Line) []byte {
	return m.Mapper.Append(dst, line, nil)
}

// shortWindow is how many rows the tables of the tab carry before they are asked for others: there are several of them.
const shortWindow = 24

// The settings of the tab.
const (
	setBy    = "harness.by"    // what the columns are
	setScope = "harness.scope" // what the harness is said to lack, joined by "+"
	setCell  = "harness.cell"  // label of the open capability, and behind ":" the name of the open group
)

// judged is what was made of the answers to the probe.
type judged struct {
	stamp   int             // parts of probes that were in
	rows    int             // rows of the selection then
	report  *harness.Report // nil without a record
	refused []*harness.Refused
	damaged error
	ordinal []int32 // of the row that each record is part of
}

// judge reduces the answers that are there, in the order of the rows.
func (d *Desk) judge(c *selection) *judged {
	if j := c.harness; j != nil && j.stamp == c.probes && j.rows == c.table.Rows() {
		return j
	}
	j := &judged{stamp: c.probes, rows: c.table.Rows()}
	c.harness = j
	answers := d.probed(harnessProbe)
	reducer := harness.NewReducer()
	reducer.Lenient = true
	type blankLine struct {
		before int64
		answer []byte
	}
	var blanks []blankLine
	source := -1
	add := func(source int, line, offset int64, digest []byte) bool {
		j.damaged = reducer.Add(harness.Line{Source: source, Name: c.table.Name(source), Number: line, Offset: offset, Digest: digest})
		return j.damaged == nil
	}
	c.table.Each(0, func(r *analysis.Row) bool {
		for source < r.Source {
			source++
			blanks = blanks[:0]
			answers.EachBlank(c.sources[source], func(before int64, answer []byte) { blanks = append(blanks, blankLine{before, answer}) })
		}
		answer, ok := answers.Row(c.sources[r.Source], r.Number)
		if !ok {
			return true // not in yet; what is behind it may be
		}
		for len(blanks) > 0 && blanks[0].before <= r.Number {
			if !add(r.Source, r.Line, r.Offset, blanks[0].answer) {
				return false
			}
			blanks = blanks[1:]
		}
		if !add(r.Source, r.Line, r.Offset, answer) {
			return false
		}
		for len(j.ordinal) < reducer.Records() {
			j.ordinal = append(j.ordinal, int32(r.Ordinal))
		}
		return true
	})
	j.refused = reducer.Refusals
	if report, err := reducer.Report(harness.Scope{}); err == nil {
		j.report = report
	}
	return j
}

// scopeOf reads the declared scope of a State.
func scopeOf(s State) harness.Scope {
	var scope harness.Scope
	for _, o := range scopeChoices {
		if scoped(s, o.id) {
			o.set(&scope)
		}
	}
	return scope
}

var scopeChoices = []struct {
	id, title, help string
	set             func(*harness.Scope)
}{
	{"no-tools", "no tools", "the harness dispatches no tools: TE-5 does not apply", func(s *harness.Scope) { s.NoTools = true }},
	{"no-verifier", "no verifier", "there is no verifier: TE-6 does not apply", func(s *harness.Scope) { s.NoVerifier = true }},
	{"no-steps", "no steps", "the policy has no steps: TE-3 and TE-9 do not apply", func(s *harness.Scope) { s.NoSteps = true }},
	{"require-sandbox", "sandbox required", "every record must have a sandbox record", func(s *harness.Scope) { s.RequireSandbox = true }},
}

// harness makes the tab.
func (d *Desk) harness(c *selection, r *request) []Need {
	v := d.harnessView(c, r)
	h := &Harness{
		Title: "Saved evidence by " + v.by.title + ", profile " + harness.Profile, Scope: v.scopes(), By: v.groupings(), Refused: []Alert{},
		Note:   "a passing cell says that the evidence is saved, not that the task was solved",
		Matrix: v.matrix(), Records: v.recordTable(r.windows["records"], r.windows["records"]+shortWindow), Cell: v.cell(r.windows["failing"]),
	}
	for _, t := range []*Table{&h.Matrix, &h.Records, &h.Cell.Checks, &h.Cell.Fails} {
		t.Links = exports(t.ID)
	}
	switch {
	case v.damaged != nil:
		h.More = "The evidence cannot be judged: " + v.damaged.Error() + "."
	case r.pending:
		h.More = "So far: " + count(v.total, "record is", "records are") + " judged; the rows are read a second time for this tab."
	case v.total == 0:
		h.More = "There is no record to judge."
	case v.left > 0:
		h.More = count(v.left, "smaller group is", "smaller groups are") + " left out of the matrix; the records below are complete."
	}
	if n := len(v.refused); n > 0 {
		first := v.refused[0]
		h.Refused = append(h.Refused, Alert{Code: "refused_report", Count: n,
			Text:  "The command refuses these files: a line is not readable as a record. The page leaves " + plural(n, "it", "them") + " out.",
			Place: Text{Text: first.Source + ":" + strconv.FormatInt(first.Line, 10), Title: "byte " + strconv.FormatInt(first.Offset, 10), Mono: true},
			Help:  first.Reason + " at byte " + Group(first.Offset) + more(n-1),
		})
	}
	r.page.Harness = h
	r.page.Stats = append(r.page.Stats, v.stats()...)
	if v.report != nil && len(v.refused) == 0 && !r.pending {
		r.page.Links = append(r.page.Links, Link{Text: "Download " + harness.ResultsFile, Download: harness.ResultsFile})
	}
	return nil
}

func more(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("; %s more", Group(n))
}

// stats are the counts of every check over the rows of the filter.
func (v *harnessView) stats() []Stat {
	list := []Stat{{Name: "harness.records", Value: strconv.Itoa(v.total)}}
	t := v.whole()
	for i, k := range harness.All() {
		n := t.Checks[i]
		for _, part := range [...]struct {
			name  string
			count int64
		}{{"pass", n.Passed}, {"fail", n.Failed + n.Blocked}, {"not_applicable", n.NotApplicable}} {
			list = append(list, Stat{Name: "harness." + k.ID + "." + part.name, Value: strconv.FormatInt(part.count, 10)})
		}
	}
	for _, k := range harness.AllCapabilities() {
		n := t.Capabilities[k-1]
		list = append(list, Stat{Name: "harness." + k.Label() + ".fulfilled", Value: strconv.FormatInt(n.Fulfilled, 10)},
			Stat{Name: "harness." + k.Label() + ".not_fulfilled", Value: strconv.FormatInt(n.NotFulfilled, 10)})
	}
	return list
}

// harnessFile makes the files of a report that can be made without reading anything again.
func (d *Desk) harnessFile(c *selection, r *request, name string) ([]byte, bool, error) {
	if name != harness.ResultsFile {
		return nil, false, nil
	}
	j := d.judge(c)
	switch {
	case j.damaged != nil:
		return nil, true, j.damaged
	case len(j.refused) > 0:
		return nil, true, j.refused[0]
	case j.report == nil:
		return nil, true, harness.ErrEmpty
	}
	b := fileBuffer{most: mostDownloaded}
	err := j.report.Under(scopeOf(r.state)).WriteResults(&b)
	if errors.Is(err, errTooLarge) {
		err = fmt.Errorf("%s: %w; rollscope harness RUN -o DIR writes it", name, err)
	}
	return b.bytes.Bytes(), true, err
}
