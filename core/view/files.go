package view

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rollscope/rollscope/core/finding"
	"github.com/rollscope/rollscope/core/runfolder"
)

// most is how many entries a list shows that is not a window into its rows.
const most = 500

// filesPage is the Files tab: what was given, what was read, where every line went, and whether the files agree.
func (d *Desk) filesPage(c *selection, s State, windows map[string]int) (*Files, []Need) {
	fates := d.fates(c)
	needs := d.summing(s)
	f := &Files{Facts: d.fileFacts(c), Order: d.fileOrder(c, s)}
	f.Read = d.readTable(c, fates, s, most)
	f.Others = d.othersTable(c, fates, s, most)
	f.Refused = d.refusedTable(c, s, windows["refused"], windows["refused"]+windowSize)
	if fates != nil || d.AuditPending() {
		f.Said = d.saidTable(c, fates, s)
	}
	if fates != nil {
		if len(fates.findings()) > 0 {
			f.Saying = d.sayingTable(c, fates, s, windows["saying"], windows["saying"]+windowSize)
		}
		f.Batch, f.BatchDifferences = fates.batchTables()
	} else if d.audited != nil && d.audited.failed != nil {
		f.Note = "The files could not be held against each other: " + d.audited.failed.Error() + "."
	}
	line, more := d.lined(s)
	f.Line, needs = line, append(needs, more...)
	for _, t := range [...]*Table{&f.Read, &f.Others, &f.Refused, &f.Said, &f.Saying, &f.Batch, &f.BatchDifferences} {
		if t.Total > 0 {
			t.Links = exports(t.ID)
		}
	}
	return f, needs
}

func (d *Desk) fileFacts(c *selection) []Fact {
	a := c.table.Total()
	fact := func(label string, n int64, note string) Fact {
		return Fact{Label: label, Value: Text{Text: Group(n)}, Note: Text{Text: note}}
	}
	return []Fact{
		fact("files", int64(len(d.files)), Group(c.table.Sources())+" read as rollouts"),
		fact("lines", a.Lines, "physical lines"),
		fact("read", a.Read, Group(a.ReadBytes)+" bytes"),
		fact("blank", a.Blank, Group(a.BlankBytes)+" bytes"),
		fact("unreadable", a.Unreadable, unreadableNote(a)),
		fact("bytes", a.Bytes(), "in "+count(c.table.Sources(), "rollouts file", "rollouts files")),
	}
}

// wholeSum is up to which size a digest is one of the whole file.
const wholeSum = 16 << 20

const sumPrefix = "digest:"

// sumCell is the digest of a file, or the link that asks for it.
func (d *Desk) sumCell(s State, file int) Cell {
	e := &d.listing.Entries[file]
	if sum, ok := d.sums[file]; ok {
		return Cell{Text: Text{Text: clipped(sum, 12), Mono: true, Title: "SHA-256 " + sum}, Exact: sum}
	}
	asked := slices.Contains(s.Open, sumPrefix+e.Name)
	if hash, ok := d.hashes[file]; ok && (asked || !d.summed(file)) {
		return Cell{Text: Text{Text: clipped(hash, 12), Mono: true, Title: "first half of the SHA-256 of ten blocks of the file: " + hash}, Extra: Text{Text: "sampled"}, Exact: hash}
	}
	if asked {
		return Cell{Text: Text{Text: "reading", Muted: true}}
	}
	return Cell{Text: Text{Text: "digest", Href: s.With(func(s *State) { s.Open = append(s.Open, sumPrefix+e.Name) }).Href()}, Exact: ""}
}

// summed tells whether the digest of a file is one of all its bytes.
func (d *Desk) summed(file int) bool { return d.files[file].Size <= wholeSum && !d.packed(file) }

// summing lists the files whose bytes are needed for digests that somebody asked for.
func (d *Desk) summing(s State) []Need {
	var needs []Need
	for _, id := range s.Open {
		name, ok := strings.CutPrefix(id, sumPrefix)
		if !ok {
			continue
		}
		file := d.fileNamed(name)
		if file < 0 || !d.summed(file) {
			continue
		}
		if _, there := d.sums[file]; there {
			continue
		}
		if d.sums == nil {
			d.sums, d.sumNeeds = map[int]string{}, map[Need]bool{}
		}
		need := Need{file, 0, d.files[file].Size}
		d.sumNeeds[need] = true
		if need.Length == 0 {
			d.keepSum(need, nil, "")
			continue
		}
		needs = append(needs, need)
	}
	return needs
}

// keepSum makes the digest of a file whose bytes were asked for, and tells whether they were.
func (d *Desk) keepSum(n Need, data []byte, problem string) bool {
	if !d.sumNeeds[n] {
		return false
	}
	delete(d.sumNeeds, n)
	if d.sums[n.File] = "cannot be read: " + problem; problem == "" {
		sum := sha256.Sum256(data)
		d.sums[n.File] = hex.EncodeToString(sum[:])
	}
	return true
}

// saidCell tells how many findings there are about a file.
func saidCell(f *fates, s State, path string) Cell {
	if f == nil {
		return Cell{Text: Text{Text: Dash, Muted: true, Title: "the files are not held against each other yet"}}
	}
	said := f.saidOf(path)
	if said.n == 0 {
		return Cell{Text: Text{Text: "0", Muted: true}, Exact: "0"}
	}
	t := severityText(said.worst)
	return Cell{Text: Text{Text: Group(said.n), Mark: t.Mark, Title: "the worst: " + said.first, Href: toFindings(s, said.first)}, Exact: strconv.Itoa(said.n)}
}

// runCell names the run of a file.
func (d *Desk) runCell(file int) Cell {
	if r := d.listing.Entries[file].Run; r >= 0 {
		return Cell{Text: Text{Text: d.listing.Runs[r].Name}}
	}
	return Cell{Text: Text{Text: Dash, Muted: true, Title: "belongs to no run"}}
}

// readTable accounts for every line and byte of the rollouts files.
func (d *Desk) readTable(c *selection, f *fates, s State, limit int) Table {
	t := Table{ID: "read", Caption: "rollouts files", Height: rowHeight, Rows: []Row{}, Total: c.table.Sources(),
		Empty: "None of these files is a rollouts file.",
		Columns: []Column{
			{Key: "file", Title: "rollouts file", Mono: true, Grow: true}, {Key: "run", Title: "run"}, {Key: "size", Title: "size", Unit: "bytes", Right: true},
			{Key: "lines", Title: "lines", Right: true}, {Key: "read", Title: "read", Right: true}, {Key: "blank", Title: "blank", Right: true},
			{Key: "unreadable", Title: "unreadable", Right: true}, {Key: "done", Title: "accounted", Unit: "bytes", Right: true},
			{Key: "said", Title: "findings", Right: true}, {Key: "digest", Title: "digest", Mono: true}, {Key: "state", Title: ""},
		}}
	for i := range min(c.table.Sources(), limit) {
		a := c.table.Account(i)
		file := d.sources[c.sources[i]]
		state := Text{Text: "complete", Mark: MarkHealthy}
		switch {
		case a.Lines == 0 && c.table.Size(i) == 0:
			state = Text{Text: "0 records", Muted: true}
		case a.Rows() == 0 && a.Bytes() == c.table.Size(i):
			state = Text{Text: "0 records", Muted: true, Title: "blank lines only"}
		case c.table.Size(i) < 0:
			state = Text{Text: "reading", Title: "how much a packed file holds is known at its end"}
		case c.table.Damage(i) != nil:
			state = Text{Text: "damaged", Mark: MarkUnhealthy, Title: c.table.Damage(i).Error()}
		case a.Bytes() < c.table.Size(i):
			state = Text{Text: fmt.Sprintf("%d %%", a.Bytes()*100/max(c.table.Size(i), 1)), Title: "of its bytes are in"}
		case a.Unreadable > 0:
			state = Text{Text: "damaged lines", Mark: MarkUnhealthy}
		}
		t.Rows = append(t.Rows, Row{ID: c.table.Name(i), Index: i, Cells: []Cell{
			{Text: Text{Text: c.table.Name(i), Mono: true}}, d.runCell(file), d.sizeCell(c.table.Size(i), file),
			wide(a.Lines), wide(a.Read), wide(a.Blank), wide(a.Unreadable), wide(a.Bytes()), saidCell(f, s, c.table.Name(i)), d.sumCell(s, file), {Text: state},
		}})
	}
	if c.table.Sources() > limit {
		t.Note = fmt.Sprintf("%s of %s files; the sums above hold all of them.", Group(limit), Group(c.table.Sources()))
	}
	return t
}

// sizeCell is the size of a rollouts file, of a packed one that of its content and of itself.
func (d *Desk) sizeCell(size int64, file int) Cell {
	if !d.packed(file) {
		return wide(size)
	}
	c := Cell{Text: Text{Text: Dash, Muted: true, Title: "known when the packed file is read to its end"}}
	if size >= 0 {
		c = wide(size)
		c.Text.Title = "unpacked"
	}
	c.Extra = Text{Text: Group(d.files[file].Size) + " packed", Title: "bytes of the file as it lies there"}
	return c
}

func wide(n int64) Cell { return Cell{Text: Text{Text: Group(n)}} }

// othersTable lists the files that are not read as rollouts, with what they are.
func (d *Desk) othersTable(c *selection, f *fates, s State, limit int) Table {
	t := Table{ID: "others", Caption: "other files", Height: rowHeight, Rows: []Row{}, Empty: "There are no other files.",
		Columns: []Column{{Key: "file", Title: "other file", Mono: true, Grow: true}, {Key: "kind", Title: "kind"}, {Key: "run", Title: "run"}, {Key: "size", Title: "size", Unit: "bytes", Right: true},
			{Key: "lines", Title: "lines", Right: true}, {Key: "read", Title: "read", Right: true}, {Key: "blank", Title: "blank", Right: true}, {Key: "unreadable", Title: "unreadable", Right: true},
			{Key: "said", Title: "findings", Right: true}, {Key: "digest", Title: "digest", Mono: true}, {Key: "state", Title: ""}}}
	for _, file := range d.listing.Order {
		if _, read := d.sourceOf[file]; read {
			continue
		}
		e := d.listing.Entries[file]
		t.Total++
		if len(t.Rows) == limit {
			continue
		}
		if d.isBatch(e.Name) {
			e.Kind, e.Note = runfolder.BatchManifest, "" // which its content alone says
		}
		info := e.Kind.Info()
		state := Text{Text: "listed", Muted: true, Title: "its content is not looked at for this"}
		lines := [4]Cell{}
		for i := range lines {
			lines[i] = Cell{Text: Text{Text: Dash, Muted: true, Title: "it is not read line by line"}}
		}
		if report := f.reportOf(e.Name); report != nil {
			if a := report.Account; a != nil {
				lines = [4]Cell{wide(a.Lines), wide(a.Rows), wide(a.Blank), wide(a.Unreadable)}
				state = Text{Text: "read", Mark: MarkHealthy}
				if a.Unreadable > 0 {
					state = Text{Text: "damaged lines", Mark: MarkUnhealthy}
				}
			}
		}
		switch e.Kind {
		case runfolder.Manifest, runfolder.Coverage, runfolder.BatchManifest, runfolder.BatchStatus:
			state = Text{Text: "read", Mark: MarkHealthy}
			if f == nil {
				state = Text{Text: "not yet read", Muted: true}
			} else if said := f.saidOf(e.Name); said.worst == finding.Error {
				state = Text{Text: "in doubt", Mark: MarkUnhealthy}
			}
		}
		if e.Note != "" && (f == nil || state.Mark == NoMark) {
			state = Text{Text: e.Note, Muted: true}
		}
		if e.Size == 0 {
			state = Text{Text: "empty file", Muted: true}
		}
		t.Rows = append(t.Rows, Row{ID: e.Name, Index: len(t.Rows), Cells: []Cell{
			{Text: Text{Text: e.Name, Mono: true}}, {Text: Text{Text: info.Title, Title: info.Text}}, d.runCell(file), wide(e.Size),
			lines[0], lines[1], lines[2], lines[3], saidCell(f, s, e.Name), d.sumCell(s, file), {Text: state},
		}})
	}
	if t.Total > limit {
		t.Note = fmt.Sprintf("%s of %s files.", Group(limit), Group(t.Total))
	}
	return t
}

// refusedTable is the part of the list of unreadable lines between two of its rows.
func (d *Desk) refusedTable(c *selection, s State, from, to int) Table {
	list := c.tally.refused
	t := Table{ID: "refused", Caption: "unreadable lines", Height: rowHeight, Rows: []Row{}, Total: len(list), Window: true,
		Empty: "Every line that is not blank could be read.",
		Columns: []Column{{Key: "place", Title: "unreadable line", Mono: true}, {Key: "byte", Title: "first bad byte", Right: true},
			{Key: "length", Title: "length", Unit: "bytes", Right: true}, {Key: "class", Title: "class", Mono: true}, {Key: "reason", Title: "reason", Grow: true}, {Key: "shown", Title: "shown as", Help: "what the tolerant reading makes of the line, for display alone"}}}
	from = max(0, min(from, len(list)-1))
	t.From = from
	for n := from; n < min(to, len(list)); n++ {
		i, ok := c.item(int(list[n]))
		if !ok {
			break
		}
		href := d.toRow(s, c, int(list[n]))
		t.Rows = append(t.Rows, Row{ID: i.place(), Index: n, Rollout: i.place(), Href: href, Cells: []Cell{
			{Text: Text{Text: i.place(), Mono: true, Href: href}}, wide(i.digest.Facts.Refused), wide(i.row.Length),
			{Text: Text{Text: i.digest.Facts.Class, Mono: true}}, {Text: Text{Text: i.digest.Facts.Reason}}, shownAs(i.recovered()),
		}})
	}
	return t
}

// fileOrder lists the rollouts files in the order they are read, with the links that change it.
func (d *Desk) fileOrder(c *selection, s State) []FileOrder {
	list := []FileOrder{}
	names := make([]string, len(c.sources))
	for i, source := range c.sources {
		names[i] = d.name(source)
	}
	if len(names)+len(s.Drop) < 2 {
		return list
	}
	swapped := func(i, k int) string {
		if k < 0 || k >= len(names) {
			return ""
		}
		return s.With(func(s *State) {
			s.Order = slices.Clone(names)
			s.Order[i], s.Order[k] = s.Order[k], s.Order[i]
		}).Href()
	}
	for i, name := range names {
		if i == most {
			break
		}
		list = append(list, FileOrder{Name: name, Up: swapped(i, i-1), Down: swapped(i, i+1),
			Drop: s.With(func(s *State) { s.Drop = append(s.Drop, name) }).Href()})
	}
	for _, name := range s.Drop {
		list = append(list, FileOrder{Name: name, Dropped: true,
			Drop: s.With(func(s *State) {
				s.Drop = slices.DeleteFunc(s.Drop, func(n string) bool { return n == name })
			}).Href()})
	}
	return list
}

// missing stands where a link names files that are not there.
func (d *Desk) missing(s State) *Missing {
	name, _, ok := place(s.Rollout)
	names := slices.Clone(s.Order)
	if ok && !slices.Contains(names, name) {
		names = append(names, name)
	}
	if len(names) == 0 {
		return nil
	}
	m := &Missing{Heading: "This link shows files that are not here yet.", Lines: []Text{}, Shows: []Text{},
		Go: Link{Text: "Start without them", Href: "#"}}
	m.Lines = append(m.Lines, Text{Text: "Drop the files below anywhere in this window. The link goes on as soon as they are there."})
	m.Table = Table{ID: "missing", Caption: "files of the link", Height: rowHeight, Total: len(names), Rows: []Row{},
		Columns: []Column{{Key: "file", Title: "file", Mono: true, Grow: true}, {Key: "state", Title: ""}}}
	for i, n := range names {
		m.Table.Rows = append(m.Table.Rows, Row{ID: n, Index: i, Cells: []Cell{{Text: Text{Text: n, Mono: true}}, {Text: Text{Text: "missing", Mark: MarkUnknown}}}})
	}
	m.Shows = d.shows(s)
	return m
}
