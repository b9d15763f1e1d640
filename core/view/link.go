package view

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/rollscope/rollscope/core/harness"
	"github.com/rollscope/rollscope/core/health/check"
	"github.com/rollscope/rollscope/core/runfolder"
)

// A link that was copied names its files. The page that opens it compares them with those it is given, and goes on
// when all are there.

// Read decodes a fragment for what is open, and fills in what a person has chosen before. odd says what of the text
// means nothing here; it is left out of the State.
func (d *Desk) Read(fragment string, h Host) (s State, odd []string) {
	s, odd = Decode(fragment)
	odd = append(odd, d.mend(&s)...)
	if len(s.Files) > 0 && !d.Empty() {
		if l := d.link(s); l.complete() {
			s = l.renamed(s)
		}
	}
	if len(s.Columns) == 0 && s.Rollout == "" {
		saved := s
		saved.Columns = decodeColumns(h.Columns[d.tabOf(s)])
		d.mend(&saved) // of another version, perhaps
		s.Columns = saved.Columns
	}
	return s, odd
}

func (d *Desk) tabOf(s State) string {
	if d.Empty() {
		return s.Tab
	}
	return d.tab(s)
}

// mend takes out of a State what names nothing, and says what that was.
func (d *Desk) mend(s *State) (odd []string) {
	drop := func(key string, value *string) {
		odd = append(odd, key+"="+*value)
		*value = ""
	}
	known := func(list []string, v string) bool { return v == "" || slices.Contains(list, v) }
	tabs := []string{searchTab}
	for _, t := range Tabs {
		tabs = append(tabs, t.ID)
	}
	if !known(tabs, s.Tab) {
		drop("tab", &s.Tab)
	}
	ids := make([]string, len(parts))
	for i, p := range parts {
		ids[i] = p.ID
	}
	if !known(ids, s.Part) {
		drop("part", &s.Part)
	}
	if s.Check != "" && harness.Position(s.Check) < 0 && !slices.ContainsFunc(check.All(), func(k *check.Check) bool { return k.ID == s.Check }) {
		drop("check", &s.Check)
	}
	odd = append(odd, mendSearch(s)...)
	all, sorts := []choosable(nil), []string(nil)
	tab := d.tabOf(*s)
	if panes[s.Tab] != nil && s.Rollout == "" {
		tab = s.Tab // whose evidence may not have been read yet
	}
	switch tab {
	case "rollouts":
		all, sorts = rolloutChoice(), SortKeys()
	case "calls":
		if s.Rollout == "" {
			all, sorts = callChoice(), callSortKeys()
		}
	case "performance":
		if s.Rollout == "" {
			all, sorts = []choosable{}, timeSortKeys()
		}
	case "tasks":
		all, sorts = taskChoice(), taskSortKeys()
	case "coverage":
		if s.Rollout == "" {
			all, sorts = wantChoice(nil), wantSortKeys()
		}
	case "scores":
		if s.Rollout == "" {
			all, sorts = scoredChoice(), scoredSortKeys()
		}
	case searchTab:
		if s.Rollout == "" {
			all = hitChoice()
		}
	case "compare":
		if s.Rollout == "" {
			all, sorts = pairChoice(), pairSortKeys()
		}
	case "overview", "health", "files":
		// Nothing there is sorted or chosen; the page of a rollout goes to its neighbours in an order of rows.
		if all = []choosable{}; s.Rollout != "" {
			sorts = SortKeys()
		}
	}
	if all != nil {
		if key, _ := sortKey(*s); !known(sorts, key) {
			drop("sort", &s.Sort)
		}
		s.Columns = slices.DeleteFunc(s.Columns, func(c Shown) bool {
			if columnAt(all, c.Key) >= 0 {
				return false
			}
			odd = append(odd, "columns="+c.Key)
			return true
		})
	}
	if d.Empty() {
		return odd
	}
	if s.Run != "" && !slices.ContainsFunc(d.listing.Runs, func(r runfolder.Run) bool { return r.Name == s.Run }) {
		drop("run", &s.Run)
		s.Apart = false
	}
	return odd
}

// What became of a file that a link names.
const (
	fileMissing = iota
	fileComparing
	fileGiven
	fileDiffers
)

// A linkedFile is a file of a link and what was given for it.
type linkedFile struct {
	File
	state int
	given int // index of the file, −1 where there is none
}

type link struct {
	d     *Desk
	files []linkedFile
}

// link compares the files that a State names with those that are open.
func (d *Desk) link(s State) link {
	l := link{d: d}
	for _, f := range s.Files {
		one := linkedFile{File: f, given: -1}
		for i := range d.files {
			if state := d.compare(f, i); state > fileMissing && (one.given < 0 || better(state, one.state)) {
				one.state, one.given = state, i
			}
		}
		l.files = append(l.files, one)
	}
	return l
}

// better tells whether one state says more for a file than another.
func better(a, b int) bool {
	rank := [...]int{fileMissing: 0, fileDiffers: 1, fileComparing: 2, fileGiven: 3}
	return rank[a] > rank[b]
}

// compare tells what a file of the list is to one of a link.
func (d *Desk) compare(f File, i int) int {
	entry := &d.listing.Entries[i]
	named := entry.Name == f.Name || d.files[i].Path == f.Name || path.Base(f.Name) == entry.Base
	same := d.files[i].Size == f.Size
	hash, known := d.hashes[i]
	switch {
	case !same && named:
		return fileDiffers
	case !same:
		return fileMissing
	case f.Hash == "" && named:
		return fileGiven
	case f.Hash == "":
		return fileMissing
	case !known:
		return fileComparing
	case hash == f.Hash:
		return fileGiven // under another name it is the same file all the same
	case named:
		return fileDiffers
	}
	return fileMissing
}

func (l link) count(state int) (n int) {
	for _, f := range l.files {
		if f.state == state {
			n++
		}
	}
	return n
}

func (l link) complete() bool { return l.count(fileGiven) == len(l.files) }

// renamed is the State with the names that the files have here.
func (l link) renamed(s State) State {
	s = s.With(func(s *State) { s.Files = nil })
	for _, f := range l.files {
		if f.state != fileGiven {
			continue
		}
		here := l.d.listing.Entries[f.given].Name
		for _, list := range [...][]string{s.Order, s.Drop} {
			for i := range list {
				if list[i] == f.Name {
					list[i] = here
				}
			}
		}
		if name, line, ok := strings.Cut(s.Rollout, f.Name+":"); ok && name == "" {
			s.Rollout = here + ":" + line
		}
	}
	return l.alone(s)
}

// mostDropped is how many files that a link does not name are left out; their names stand in every State.
const mostDropped = 20

// alone leaves the rollouts files out that a link does not name, since it was made without them.
func (l link) alone(s State) State {
	if !l.complete() {
		return s
	}
	var named, others []string
	for _, f := range l.files {
		named = append(named, l.d.listing.Entries[f.given].Name)
	}
	for _, file := range l.d.listing.Rollouts() {
		if name := l.d.listing.Entries[file].Name; !slices.Contains(named, name) && !slices.Contains(s.Drop, name) {
			others = append(others, name)
		}
	}
	if len(others) <= mostDropped {
		s.Drop = append(s.Drop, others...)
	}
	return s
}

// Unhashed lists the files whose sampled hash is needed to tell whether they are those of a link.
func (d *Desk) Unhashed(s State) []int {
	list := []int{}
	for _, f := range s.Files {
		for i := range d.files {
			if d.compare(f, i) == fileComparing && !slices.Contains(list, i) {
				list = append(list, i)
			}
		}
	}
	// Of a large file nobody reads every byte for a digest.
	for _, id := range s.Open {
		if name, ok := strings.CutPrefix(id, sumPrefix); ok && !d.Empty() {
			file := d.fileNamed(name)
			if _, there := d.hashes[file]; file >= 0 && !there && !d.summed(file) && !slices.Contains(list, file) {
				list = append(list, file)
			}
		}
	}
	return list
}

// Hashed takes in the sampled hash of a file.
func (d *Desk) Hashed(file int, hash string) {
	if d.hashes == nil {
		d.hashes = map[int]string{}
	}
	if file >= 0 && file < len(d.files) {
		d.hashes[file] = hash
	}
}

// How many files a link names, and of how many it tells the hash.
const (
	mostLinked = 200
	mostHashed = 20
)

// Link is the fragment that others can open: the State with the files it is of. needs lists the files whose hash is
// needed first.
func (d *Desk) Link(s State) (fragment string, needs []int) {
	needs = []int{}
	if d.Empty() {
		return s.Encode(), needs
	}
	c := d.choose(s)
	s = s.With(func(s *State) { s.Files = nil })
	if len(c.sources) > mostLinked {
		return s.Encode(), needs
	}
	for _, source := range c.sources {
		i := d.sources[source]
		f := File{Name: d.name(source), Size: d.files[i].Size}
		if len(c.sources) <= mostHashed {
			hash, known := d.hashes[i]
			if !known {
				needs = append(needs, i)
			}
			f.Hash = hash
		}
		s.Files = append(s.Files, f)
	}
	return s.Encode(), needs
}

// waiting is the page of a link whose files are not there, or not all of them. It is nil for a State that needs none.
func (d *Desk) waiting(s State) *Missing {
	if len(s.Files) == 0 {
		return d.missing(s)
	}
	l := link{d: d}
	if d.Empty() {
		for _, f := range s.Files {
			l.files = append(l.files, linkedFile{File: f, given: -1})
		}
	} else {
		l = d.link(s)
	}
	given, lacking := l.count(fileGiven), l.count(fileMissing)
	m := &Missing{Heading: fmt.Sprintf("This link needs %s. Drop %s here.", count(lacking, "more file", "more files"), themOf(lacking)),
		Lines: []Text{{Text: "A link holds names, sizes and hashes, never the data. The view opens as soon as the files are there."}},
		Shows: d.shows(s)}
	switch {
	case lacking == len(l.files):
		m.Heading = fmt.Sprintf("This link needs %s. Drop %s here.", count(lacking, "file", "files"), themOf(lacking))
	case lacking == 0 && l.count(fileDiffers) > 0:
		m.Heading = fmt.Sprintf("%s not as the link names %s.", isAre(l.count(fileDiffers)), themOf(l.count(fileDiffers)))
	case lacking == 0:
		m.Heading = "Comparing the files with those of the link."
	}
	m.Go = Link{Text: "Start without them", Href: "#"}
	if !d.Empty() {
		m.Go.Text = fmt.Sprintf("Go on with %d of %s", given, count(len(l.files), "file", "files"))
		if differing := l.count(fileDiffers); differing > 0 {
			m.Go.Text = "Go on with what is here"
		}
		m.Go.Href = l.renamed(s).Href()
		if m.Go.Href == "#" {
			m.Go.Href = State{Tab: Tabs[0].ID}.Href()
		}
	}
	m.Table = l.table()
	return m
}

func themOf(n int) string {
	if n == 1 {
		return "it"
	}
	return "them"
}

func isAre(n int) string {
	if n == 1 {
		return "1 file is"
	}
	return Group(n) + " files are"
}

func (l link) table() Table {
	t := Table{ID: "missing", Caption: "files of the link", Height: rowHeight, Total: len(l.files), Rows: []Row{},
		Note: fmt.Sprintf("%d of %d given", l.count(fileGiven), len(l.files)),
		Columns: []Column{{Key: "file", Title: "name", Mono: true, Grow: true}, {Key: "size", Title: "bytes", Right: true},
			{Key: "hash", Title: "hash", Mono: true, Help: "of the first, the last and eight blocks between them"}, {Key: "state", Title: "state"}}}
	if n := l.count(fileDiffers); n > 0 {
		t.Note += ", " + Group(n) + " " + map[bool]string{true: "differs", false: "differ"}[n == 1]
	}
	for i, f := range l.files {
		state := Text{Text: "missing", Mark: MarkUnknown}
		switch f.state {
		case fileComparing:
			state = Text{Text: "being compared", Mark: MarkUnknown}
		case fileGiven:
			state = Text{Text: "given", Mark: MarkHealthy}
			if name := l.d.listing.Entries[f.given].Name; name != f.Name {
				state.Text = "given as " + name
			}
		case fileDiffers:
			state = Text{Text: "differs: " + l.d.difference(f), Mark: MarkUnhealthy}
		}
		hash := Text{Text: Dash, Muted: true, Title: "the link does not say"}
		if f.Hash != "" {
			hash = Text{Text: "sha256 " + clipHash(f.Hash), Title: f.Hash, Mono: true}
		}
		t.Rows = append(t.Rows, Row{ID: f.Name, Index: i, Cells: []Cell{
			{Text: Text{Text: f.Name, Mono: true}}, wide(f.Size), {Text: hash}, {Text: state},
		}})
	}
	return t
}

// difference says how a given file is another than the one of the link.
func (d *Desk) difference(f linkedFile) string {
	if size := d.files[f.given].Size; size != f.Size {
		return "the file here has " + count(size, "byte", "bytes")
	}
	return "the file here is sha256 " + clipHash(d.hashes[f.given])
}

func clipHash(hash string) string {
	if len(hash) > 8 {
		return hash[:8] + "…"
	}
	return hash
}

// shows says in words what a link will show.
func (d *Desk) shows(s State) []Text {
	list := []Text{}
	add := func(t Text) { list = append(list, t) }
	for _, t := range Tabs {
		if t.ID == s.Tab {
			add(Text{Text: t.Title})
		}
	}
	if s.Filter != "" {
		add(Text{Text: s.Filter, Mono: true})
	}
	switch s.Tab {
	case "rollouts":
		if by := sortedBy(s, rolloutChoice(), ""); by != "" {
			add(Text{Text: by})
		}
	case "tasks":
		if by := sortedBy(s, taskChoice(), ""); by != "" {
			add(Text{Text: by})
		}
	case "coverage":
		if by := sortedBy(s, wantChoice(nil), ""); by != "" {
			add(Text{Text: by})
		}
	case "calls":
		if where := s.Setting(callsWhere); where != "" {
			add(Text{Text: "calls: " + where, Mono: true})
		}
		if by := sortedBy(s, callChoice(), ""); by != "" {
			add(Text{Text: by})
		}
	}
	if s.Rollout != "" {
		text := "the rollout at " + s.Rollout
		if s.Turn > 0 {
			text += fmt.Sprintf(", turn %d", s.Turn)
		}
		add(Text{Text: text})
	}
	if s.Profile != "" {
		add(Text{Text: "judged by profile " + s.Profile})
	}
	if len(list) == 0 {
		add(Text{Text: "the first look at the run"})
	}
	return list
}
