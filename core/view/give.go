package view

import (
	"errors"
	"strings"

	"github.com/rollscope/rollscope/core/pack"
	"github.com/rollscope/rollscope/core/parcel"
)

// A Given is what of the files that a State looks at can be handed on in a bundle.
type Given struct {
	Files    []parcel.File // all that the desk has
	Filtered bool          // some rows alone
	Filter   string        // that chooses them
	Rows     pack.Rows
	Wanted   map[int][]parcel.Range // the rows, by file, where they are some
	Origin   *pack.Origin           // the bundle that the files come from
}

// ErrUnread means that rows are still to come in.
var ErrUnread = errors.New("the files are still being read")

// Give lists what of the files can be handed on: all of them, or the rows that fit the filter of the State alone. The
// error is that of the filter, or [ErrUnread].
func (d *Desk) Give(s State, filtered bool) (*Given, error) {
	if d.Empty() {
		return nil, errNoReport
	}
	c := d.choose(s)
	g := &Given{Filtered: filtered, Files: make([]parcel.File, len(d.files)), Rows: pack.Rows{Of: int64(c.table.Rows())}}
	above := d.above()
	looked := map[int]bool{}
	for _, source := range c.sources {
		looked[d.sources[source]] = true
	}
	for i, f := range d.files {
		e := &d.listing.Entries[i]
		_, rollouts := d.sourceOf[i]
		g.Files[i] = parcel.File{Path: strings.TrimPrefix(f.Path, above), Size: f.Size, Rollouts: rollouts, Packed: rollouts && d.packed(i)}
		switch {
		case s.Apart && s.Run != "" && e.Run >= 0 && d.listing.Runs[e.Run].Name != s.Run:
			g.Files[i].Aside = "it belongs to a run that is not shown"
		case rollouts && !looked[i]:
			g.Files[i].Aside = "it was left out of what is shown"
		}
	}
	if x := d.bundle; x != nil {
		g.Origin = &pack.Origin{ID: x.ID(), Made: x.Made, Rows: x.Rows, Filter: x.Filter, Left: len(x.Left), Redacted: x.Redaction != nil}
	}
	if !c.table.Complete() {
		return g, ErrUnread
	}
	if g.Rows.Kept = g.Rows.Of; !filtered {
		return g, nil
	}
	c.tally.count(c.table, c.rules)
	s.Sort = "" // rows go along in the order of their files
	found := d.filter(c, s)
	if found.err != nil {
		return g, found.err
	}
	if found.pending {
		return g, ErrUnread
	}
	g.Filter, g.Rows.Kept, g.Wanted = s.Filter, int64(found.len(c)), map[int][]parcel.Range{}
	for from, done := 0, false; !done; {
		e := d.exportLines(c, s, "rollouts", from)
		for _, r := range e.Ranges {
			g.Wanted[r.File] = append(g.Wanted[r.File], parcel.Range{Offset: r.Offset, Length: r.Length})
		}
		from, done = e.Next, e.Done
	}
	return g, nil
}

// above is the way to the folder that all files share. It tells where somebody keeps their runs, which is nobody else's
// business.
func (d *Desk) above() string {
	folder := d.files[0].Path
	for _, f := range d.files {
		for !strings.HasPrefix(f.Path, folder) || !strings.HasSuffix(folder, "/") && folder != "" {
			folder = folder[:strings.LastIndexByte(strings.TrimSuffix(folder, "/"), '/')+1]
		}
	}
	above := folder[:strings.LastIndexByte(strings.TrimSuffix(folder, "/"), '/')+1]
	if base := strings.TrimSuffix(folder[len(above):], "/"); base == "" || base == "." || base == ".." {
		return folder // it has no name
	}
	return above
}
