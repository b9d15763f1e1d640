package view

import (
	"errors"
	"maps"
	"slices"

	"github.com/rollscope/rollscope/core/analysis"
	"github.com/rollscope/rollscope/core/runfolder"
)

// Files can grow while they are looked at. What has become of them is read in a step beside what is shown: the desk
// takes in what is new and compares the files anew without showing any of it, and goes over to it as a whole. So every
// page is that of the files at one moment, and none shows rows that nobody has compared yet.

// A Change is what has become of a file.
type Change struct {
	File int   // index in the list of files
	Size int64 // in bytes, now
	Anew bool  // it is another file, or was cut: nothing that was read of it holds
}

// growth is a step under way.
type growth struct {
	desk    *Desk // as it will be
	changed map[int]bool
	anew    map[int]bool // rollouts files that are read from their start
}

// Grow begins a step from the files as they are to those of the changes and the added ones. It tells what to scan for it,
// and which files are read from their start again. A step that was begun before is given up; its scans must be over.
func (d *Desk) Grow(changes []Change, added []runfolder.File) (tasks []AskTask, anew []int, err error) {
	d.Still()
	if d.table == nil {
		return nil, nil, errors.New("no files are open")
	}
	g := &growth{changed: map[int]bool{}, anew: map[int]bool{}}
	next := &Desk{files: slices.Clone(d.files), listing: d.listing, sources: d.sources, table: d.table, bundle: d.bundle}
	for _, c := range changes {
		if c.File < 0 || c.File >= len(next.files) || c.Size < 0 {
			return nil, nil, errors.New("a file that is not there has changed")
		}
		g.changed[c.File] = true
		next.files[c.File].Size = c.Size
	}
	fresh := next.Open(added, true)
	g.desk = next
	for _, c := range changes {
		source, known := next.sourceOf[c.File]
		switch {
		case !known || source >= len(d.sources):
		case next.packed(c.File):
			next.table.Renew(source, -1) // there is no way into its middle
			g.anew[c.File] = true
		case c.Anew || c.Size < d.table.Size(source):
			next.table.Renew(source, c.Size)
			g.anew[c.File] = true
		default:
			next.table.Grow(source, c.Size)
		}
	}
	a := &Asking{}
	for _, t := range fresh {
		next.cutTask(a, t.Source)
	}
	for source := range d.sources {
		next.cutTask(a, source)
	}
	for _, c := range changes {
		if g.anew[c.File] {
			anew = append(anew, c.File)
		}
	}
	d.growing = g
	return a.Tasks, anew, nil
}

// cutTask adds what is not in yet of a source.
func (d *Desk) cutTask(a *Asking, source int) {
	switch {
	case d.packed(d.sources[source]):
		if !d.table.Ended(source) {
			d.cut(a, source, analysis.Range{From: 0, To: -1})
		}
	default:
		for _, r := range d.table.Missing(source) {
			d.cut(a, source, r)
		}
	}
}

// Still gives up the step under way.
func (d *Desk) Still() {
	if d.growing != nil {
		d.growing.desk.audited.close()
		d.growing = nil
	}
}

// Grown compares the files of the step under way, one stretch at a time. needs lists bytes that must be supplied first;
// done tells that the desk can go over to it, see [Desk.Step].
func (d *Desk) Grown() (needs []Need, done bool, err error) {
	switch {
	case d.growing == nil:
		return nil, false, errors.New("no step is under way")
	case !d.growing.desk.Complete():
		return nil, false, errors.New("not every byte of the step is in")
	}
	needs, done = d.growing.desk.Audit()
	return needs, done, nil
}

// Step goes over to the files of the step under way, which [Grown] has compared, and tells how many rows there are more.
// No second scan may be under way: what it finds would be of the files before. A State for the files before is mended
// with the names that they have now.
func (d *Desk) Step(s State) (now State, rows int64, err error) {
	if _, done, err := d.Grown(); err != nil || !done {
		return s, 0, errors.Join(errors.New("the step is not done"), err)
	}
	g := d.growing
	next := g.desk
	kept := func(source int) int64 {
		switch file := d.sources[source]; {
		case !g.changed[file]:
			return d.table.Reached(source)
		case g.anew[file]:
			return 0
		}
		return d.table.Ending(source)
	}
	if d.answers != nil {
		next.answers = map[string]*analysis.Answers{}
		for id, a := range d.answers {
			next.answers[id] = a.Grow(len(next.sources), kept)
		}
	}
	for _, a := range d.asked {
		next.asked = append(next.asked, &asked{a.Question, a.answers.Grow(len(next.sources), kept), a.short})
	}
	if by := d.searched; by != nil && by.err == nil {
		next.searched = by.grown(len(next.sources), kept)
	}
	same := func(file int) bool { return !g.changed[file] }
	next.hashes, next.papers, next.captureReads, next.sums = whose(d.hashes, same), whose(d.papers, same), whose(d.captureReads, same), whose(d.sums, same)
	if next.sums != nil {
		next.sumNeeds = map[Need]bool{}
	}
	if d.texts.ok && d.texts.err == "" && !g.anew[d.texts.need.File] {
		next.texts = d.texts // lines that have ended stay as they are
	}
	if same(d.line.need.File) {
		next.line = d.line
	}
	next.notes = d.notes // the page says which of them are on another version now
	rows = next.Rows() - d.Rows()
	s = d.renamed(s, next)
	*d = *next
	return s, rows, nil
}

// whose gives the entries of a map whose files are of a kind.
func whose[V any](m map[int]V, kind func(file int) bool) map[int]V {
	if m == nil {
		return nil
	}
	m = maps.Clone(m)
	maps.DeleteFunc(m, func(file int, _ V) bool { return !kind(file) })
	return m
}

// renamed is a State with the names that the files have on another desk: they are short for what is there.
func (d *Desk) renamed(s State, next *Desk) State {
	names := map[string]string{}
	for i := range d.files {
		if before, now := d.listing.Entries[i].Name, next.listing.Entries[i].Name; before != now {
			names[before] = now
		}
	}
	if len(names) == 0 {
		return s
	}
	return s.With(func(s *State) {
		for _, list := range [...][]string{s.Order, s.Drop} {
			for i, name := range list {
				if now, there := names[name]; there {
					list[i] = now
				}
			}
		}
		if name, _, ok := place(s.Rollout); ok {
			if now, there := names[name]; there {
				s.Rollout = now + s.Rollout[len(name):]
			}
		}
		now := func(run string) string {
			for _, r := range d.listing.Runs {
				if r.Name == run && len(r.Shards) > 0 {
					if at := next.listing.Entries[r.Shards[0]].Run; at >= 0 {
						return next.listing.Runs[at].Name
					}
				}
			}
			return run
		}
		s.Run = now(s.Run)
		for _, key := range [...]string{setBase, setCand} {
			if run := s.Setting(key); run != "" {
				*s = s.Choose(key, now(run))
			}
		}
	})
}

// Where tells the position of a row of the Rollouts table that a State shows, by its place; −1 where it is not shown.
func (d *Desk) Where(s State, place string) int {
	if d.Empty() {
		return -1
	}
	c := d.choose(s)
	ordinal, ok := c.find(place)
	if !ok {
		return -1
	}
	n, shown := d.filter(c, s).position(c, ordinal)
	if !shown {
		return -1
	}
	return n
}
