package view

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rollscope/rollscope/core/analysis"
	"github.com/rollscope/rollscope/core/health"
	"github.com/rollscope/rollscope/core/health/check"
	"github.com/rollscope/rollscope/core/metrics"
	"github.com/rollscope/rollscope/core/pack"
	"github.com/rollscope/rollscope/core/packed"
	"github.com/rollscope/rollscope/core/runfolder"
)

// A Desk holds everything that is known about the files a person gave, and makes Pages of it.
//
// It never reads a file. The host scans the files that [Desk.Open] names and adds what comes of it; a Page
// that shows a row lists the bytes it needs, and the host supplies them and asks again.
type Desk struct {
	files    []runfolder.File
	listing  *runfolder.Listing
	sources  []int           // file index of each source; the number of a source never changes
	sourceOf map[int]int     // the reverse
	table    *analysis.Table // of all sources, in the order they were listed
	texts    supplied
	chosen   selection
	opened   openRow
	mended   mended
	asked    []*asked                     // questions of filters with the answers so far, the latest first
	hashes   map[int]string               // sampled, by file, as far as they were asked for
	answers  map[string]*analysis.Answers // of probes, by their id
	searched *searched                    // the last search in all transcripts, nil for none
	audited  *audit                       // nil until every row is in
	papers   papers
	bundle   *pack.Index // that the files come from, nil for none
	growing  *growth     // nil unless files have changed and what has become of them is being read
	notes    *notebook   // of the person, nil for none

	captureReads map[int]*captureRead // by file
	line         supplied             // the line of another file that is looked at
	sums         map[int]string       // SHA-256 of files that somebody asked for
	sumNeeds     map[Need]bool        // what is read for more of them

	sides    map[string]*selection // runs by themselves, for comparisons
	compared comparison
	talked   talked
}

// A Task names a file that should be scanned.
type Task struct {
	Source int   // number to scan it under
	File   int   // index in the list of files
	Size   int64 // in bytes, as it lies there
	Packed bool  // with gzip: it is scanned from its start to its end, see [analysis.NewPackedScan]
}

// Open takes a list of files and tells which to scan. Files that are there already stay, with what was
// read of them, when add is set; otherwise the desk begins anew.
func (d *Desk) Open(files []runfolder.File, add bool) []Task {
	d.Still()
	old := *d
	if !add {
		old = Desk{}
		d.hashes = nil
	}
	d.files = append(slices.Clone(old.files), files...)
	d.listing = runfolder.Sort(d.files)
	// A source keeps its number, so that scans under way still fit.
	d.sources = slices.Clone(old.sources)
	d.sourceOf = map[int]int{}
	var tasks []Task
	for source, file := range d.sources {
		d.sourceOf[file] = source
	}
	for _, file := range d.listing.Rollouts() {
		if _, known := d.sourceOf[file]; known {
			continue
		}
		source := len(d.sources)
		d.sources = append(d.sources, file)
		d.sourceOf[file] = source
		tasks = append(tasks, Task{Source: source, File: file, Size: d.files[file].Size, Packed: d.packed(file)})
	}
	names, sizes := make([]string, len(d.sources)), make([]int64, len(d.sources))
	for source, file := range d.sources {
		names[source], sizes[source] = d.listing.Entries[file].Name, d.files[file].Size
		if d.packed(file) {
			sizes[source] = -1
		}
	}
	table := analysis.NewTable(names, sizes)
	if old.table != nil {
		table.Adopt(old.table)
	}
	d.table = table
	d.chosen, d.opened, d.texts, d.line, d.asked = selection{}, openRow{}, supplied{}, supplied{}, nil
	old.audited.close()
	d.answers, d.audited, d.searched = nil, nil, nil
	d.sides, d.compared, d.talked = nil, comparison{}, talked{}
	if !add {
		d.papers, d.captureReads, d.sums, d.sumNeeds, d.notes = nil, nil, nil, nil, nil
	}
	return tasks
}

// Add takes in a part of a scan.
func (d *Desk) Add(p *analysis.Partial) error {
	if d.table == nil {
		return errors.New("no files are open")
	}
	if p.Query != 0 {
		if !d.addProbed(p) && !d.addSearched(p) {
			d.addAnswers(p)
		}
		return nil
	}
	if d.growing != nil {
		return d.growing.desk.table.Add(p)
	}
	if err := d.table.Add(p); err != nil {
		return err
	}
	d.chosen.stale = true
	for _, c := range d.sides {
		c.stale = true
	}
	return nil
}

// Sources gives the file of each source that was handed out for scanning.
func (d *Desk) Sources() []int { return slices.Clone(d.sources) }

// packed tells whether a file is read through gzip.
func (d *Desk) packed(file int) bool { return d.listing.Entries[file].Packed }

// Packed tells whether the bytes of a Need lie in a packed file, where offsets count plain bytes, and where in that
// file reading must begin to get at them.
func (d *Desk) Packed(n Need) (from packed.Member, ok bool) {
	source, known := d.sourceOf[n.File]
	if !known || !d.packed(n.File) {
		return from, false
	}
	return d.table.Member(source, n.Offset), true
}

// Rows and Complete say how far the reading of all sources is.
func (d *Desk) Rows() int64 {
	if d.table == nil {
		return 0
	}
	return d.table.Total().Rows()
}

// Complete tells whether all sources are in.
func (d *Desk) Complete() bool { return d.table != nil && d.table.Complete() }

// Empty tells whether there are no files.
func (d *Desk) Empty() bool { return len(d.files) == 0 }

// A Need names bytes that a page shows and the host must supply.
type Need struct {
	File   int
	Offset int64
	Length int64
}

// supplied keeps the bytes that were asked for last.
type supplied struct {
	need Need
	data []byte
	ok   bool
	err  string
}

// Supply hands over the bytes of a Need. The desk keeps them. A problem of the host, such as a file that
// has vanished, is given instead of the bytes.
func (d *Desk) Supply(n Need, data []byte, problem string) {
	if d.growing != nil && d.growing.desk.audited.supply(n, data, problem) {
		return
	}
	if d.audited.supply(n, data, problem) || d.keepSum(n, data, problem) || d.keepPaper(n, data, problem) || d.keepLine(n, data, problem) {
		return
	}
	d.talked.keep(n, data, problem) // the page of the row may want them as well
	d.texts = supplied{need: n, data: data, ok: true, err: problem}
	d.opened = openRow{}
}

// selection is the part of the files that a State looks at, with what was derived from it.
type selection struct {
	key     string // of the state it belongs to
	sources []int
	table   *analysis.Table
	stale   bool // rows have come in since

	rules   health.Rules
	options health.Options
	invalid error // why the options cannot be used; the rules are then those without ignored checks
	report  *health.Report
	refused error // why there is no report

	ask   func(*Question) *asked
	desk  *Desk   // whose files they are
	noted noted   // rows with a note
	tally tally   // of the rows so far
	found matches // of the filter that was asked for last

	searches int // made so far
	probes   int // parts of probes that have come in
	harness  *judged
	evidence *harnessView

	grouped taskGroups
	listed  taskList

	measured *metrics.Run // of all rows, as far as they were needed
	scored   earned

	hits   hitList // of the last search
	called called  // what the tabs about calls and time have made of the rows
	only   string  // name of the run that is shown alone, "" for all
	fated  *fates  // nil until the files are held against each other
}

// choose finds the selection of a State and what of the State names nothing.
func (d *Desk) choose(s State) *selection {
	key := s.With(func(s *State) {
		*s = State{Order: s.Order, Drop: s.Drop, Apart: s.Apart, Run: s.Run, Profile: s.Profile, Ignore: s.Ignore}
	}).Encode()
	d.renew(&d.chosen, key, s, func() []int { return d.ordered(s) })
	return &d.chosen
}

// renew brings a selection up to date. It begins anew where the key of its sources or the rules have changed.
func (d *Desk) renew(c *selection, key string, s State, sources func() []int) {
	key += "\x00" + s.Profile + "\x00" + join(s.Ignore) + "\x00" + join(s.Drop)
	if c.key != key || c.table == nil {
		*c = selection{key: key, sources: sources(), stale: true}
		if s.Apart {
			c.only = s.Run
		}
		c.options = health.Options{Profile: s.Profile, Ignored: s.Ignore}
		if c.rules, c.invalid = health.NewRules(c.options); c.invalid != nil {
			c.rules, _ = health.NewRules(health.Options{})
		}
	}
	c.ask, c.desk = d.ask, d // of a step to other files it was made by another desk
	if c.stale {
		c.table = d.table.Select(c.sources)
		c.stale = false
		c.report, c.refused = nil, nil
		c.found = matches{}
	}
	if before := c.fated; before != d.fates(c) {
		// Rows mean more now, and there are tasks without any.
		c.found, c.grouped, c.listed = matches{}, taskGroups{}, taskList{}
		if c.projects() {
			c.report, c.refused = nil, nil
		}
	}
	if c.report == nil && c.refused == nil && c.table.Complete() {
		c.report, c.refused = c.reduce()
	}
	c.takeNotes()
}

// projects tells whether the report is about selected results alone: profile main, and a run with a manifest or an
// attempt journal.
func (c *selection) projects() bool {
	return c.rules.Profile() == check.Main && c.fated != nil && c.fated.projects()
}

// reduce makes the report of complete sources.
func (c *selection) reduce() (*health.Report, error) {
	reducer, err := health.NewReducer(c.options)
	if err != nil {
		return nil, err
	}
	projected := c.projects()
	c.table.Each(0, func(r *analysis.Row) bool {
		var digest analysis.Digest
		if digest, err = r.Digest(); err != nil {
			return false
		}
		err = reducer.Add(&health.Row{
			Source: r.Source, Name: c.table.Name(r.Source), Line: r.Line, Ordinal: r.Ordinal,
			Identity: digest.Identity, Digest: digest.Health, Left: projected && !c.fated.judged(int(r.Ordinal)),
		})
		return err == nil
	})
	if err != nil {
		return nil, err
	}
	return reducer.Report()
}

// ordered gives the sources of a State in their visible order.
func (d *Desk) ordered(s State) []int {
	var list []int
	for _, file := range d.listing.Rollouts() {
		if s.Apart && s.Run != "" && d.listing.Runs[d.listing.Entries[file].Run].Name != s.Run {
			continue
		}
		if slices.Contains(s.Drop, d.listing.Entries[file].Name) {
			continue
		}
		list = append(list, d.sourceOf[file])
	}
	if len(s.Order) == 0 {
		return list
	}
	place := map[string]int{}
	for i, name := range s.Order {
		if _, seen := place[name]; !seen {
			place[name] = i
		}
	}
	at := func(source int) int {
		if i, named := place[d.name(source)]; named {
			return i
		}
		return len(s.Order)
	}
	slices.SortStableFunc(list, func(a, b int) int { return at(a) - at(b) })
	return list
}

func (d *Desk) name(source int) string { return d.listing.Entries[d.sources[source]].Name }

// place splits the "<source>:<line>" of a State.
func place(text string) (name string, line int64, ok bool) {
	colon := strings.LastIndexByte(text, ':')
	if colon < 0 {
		return "", 0, false
	}
	line, err := strconv.ParseInt(text[colon+1:], 10, 64)
	return text[:colon], line, err == nil && line > 0
}

// find gives the ordinal of the row that a State has open.
func (c *selection) find(text string) (ordinal int, ok bool) {
	name, line, ok := place(text)
	if !ok {
		return 0, false
	}
	for i := range c.table.Sources() {
		if c.table.Name(i) == name {
			if ordinal, ok := c.table.Find(i, line); ok {
				return ordinal, true
			}
		}
	}
	return 0, false
}

// placeOf writes the place of a row.
func placeOf(t *analysis.Table, r *analysis.Row) string {
	return fmt.Sprintf("%s:%d", t.Name(r.Source), r.Line)
}
