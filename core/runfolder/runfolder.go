package runfolder

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/rollscope/rollscope/core/order"
)

// A File is what is known of a file before it is opened. Path uses "/" between its segments; a host with other
// separators converts them, and cleans paths such as "./a" and "a", which are different names here.
type File struct {
	Path string
	Size int64 // in bytes
}

// A Listing says what every file of a list is and which runs they make. Its slices are never nil.
type Listing struct {
	Entries  []Entry   // Entries[i] is about files[i]
	Order    []int     // all files in the default visible order: by path, numbers by value
	Runs     []Run     // in the default visible order
	Problems []Problem // in the visible order of their files
}

// An Entry says what one file is.
type Entry struct {
	Index int    // of the file in the list that was sorted
	Name  string // as shown: the path without the top folder that all files share; numbered where another file has it
	Dir   string // directory part of Name, without the last "/" unless it is the root
	Base  string // last segment
	Kind  Kind
	Stem  string // of the part the file belongs to, empty if it belongs to none
	Size  int64
	Run   int // index in Runs, or -1

	Packed    bool   // the name says that the rollouts are packed with gzip
	Candidate bool   // could be the rollouts file of its run, but another file is (rule 6)
	SameAs    int    // index of the file that has the same path and size and is taken instead, or -1
	Note      string // one remark for the list, empty if there is none
}

// Role gives the name verify has for the file (spec run-commands §2).
func (e *Entry) Role() string {
	if e.Candidate {
		return "other"
	}
	return e.Kind.Info().Role
}

// A Part is what one collection wrote: the files of one stem in one directory.
type Part struct {
	Stem       string
	Output     int   // file index of the rollouts file, or -1 when there is none
	Companions []int // file indices in visible order
	Others     []int // candidates that lost against Output, in visible order
}

// A Run is one part, or several whose stems differ in digits alone.
type Run struct {
	Name       string // directory and stem, with "*" for the numbers in which the shards differ
	Dir        string
	Stem       string // last part of Name
	Shards     []int  // file indices of the rollouts files, in visible order
	Companions []int  // file indices, in the order of the parts
	Parts      []Part // never empty
	Missing    bool   // no part has a rollouts file
}

// Codes of problems. The layout codes are those of the spec, the others those of the page's alerts.
const (
	AmbiguousOutput = "layout.ambiguous_output"
	OddName         = "layout.odd_name"
	DraftJournal    = "layout.draft_journal"
	MissingOutput   = "layout.missing_output"
	Orphan          = "layout.orphan_companion"
	LeftoverTemp    = "layout.leftover_temp"
	Unsafe          = "layout.unsafe_reverification"
	DuplicateSource = "duplicate_source"
	EmptySource     = "empty_source"
	UnknownKind     = "unknown_kind"
)

// Severity of a problem: what the reference does about it.
type Severity string

// The severities.
const (
	Error   Severity = "error"   // it refuses the run
	Warning Severity = "warning" // it warns or loses data
	Info    Severity = "info"    // worth knowing
)

// A Problem is about one file. Text is a sentence that does not repeat its name.
type Problem struct {
	Code     string
	Severity Severity
	Index    int
	Text     string
}

// Options change how files are sorted. The zero value is what Sort uses.
type Options struct {
	// BatchManifest tells whether the content of file i is that of a batch manifest (spec run-folder §2.1 rule 7). It
	// is asked about files of no other kind and about names of run manifests. Without it no file is one.
	BatchManifest func(i int) bool
}

// Sort sorts files into runs by their names.
func Sort(files []File) *Listing { return Options{}.Sort(files) }

// Rollouts gives the indices of all rollouts files this version reads, in the default visible order: what reading
// all runs together means.
func (l *Listing) Rollouts() []int {
	list := []int{}
	for _, run := range l.Runs {
		for _, i := range run.Shards {
			if l.Entries[i].Kind.Info().Read {
				list = append(list, i)
			}
		}
	}
	slices.SortStableFunc(list, l.compare)
	return list
}

func (l *Listing) compare(a, b int) int {
	if c := order.Compare(l.Entries[a].Name, l.Entries[b].Name); c != 0 {
		return c
	}
	return cmp.Compare(a, b)
}

// Sort sorts files into runs by their names.
func (o Options) Sort(files []File) *Listing {
	l := &Listing{Entries: make([]Entry, len(files)), Order: make([]int, len(files)), Runs: []Run{}, Problems: []Problem{}}
	top := sharedTop(files)
	for i, f := range files {
		name := f.Path[top:]
		dir, base := split(name)
		l.Entries[i] = Entry{Index: i, Name: name, Dir: shownDir(dir), Base: base, Size: f.Size, Run: -1, SameAs: -1}
		l.Order[i] = i
	}
	slices.SortFunc(l.Order, l.compare)
	s := sorter{Listing: l, options: o, folders: map[folderKey]*folder{}}
	s.copies()
	s.firstPass()
	s.secondPass()
	s.choose()
	s.join()
	s.remarks()
	s.distinct()
	return l
}

// split cuts a name behind its last "/".
func split(name string) (dir, base string) {
	s := strings.LastIndexByte(name, '/') + 1
	return name[:s], name[s:]
}

// shownDir drops the last "/" of a directory, unless it is the root.
func shownDir(dir string) string {
	if len(dir) > 1 {
		return dir[:len(dir)-1]
	}
	return dir
}

// sharedTop gives the length of the folder name, with its slash, that all paths begin with. Files named from a root
// or from a parent were not dropped as one folder.
func sharedTop(files []File) int {
	if len(files) == 0 {
		return 0
	}
	first, _, ok := strings.Cut(files[0].Path, "/")
	if !ok || first == "" || first == "." || first == ".." {
		return 0
	}
	top := first + "/"
	for _, f := range files {
		if !strings.HasPrefix(f.Path, top) || len(f.Path) == len(top) {
			return 0
		}
	}
	return len(top)
}

// A folder is a directory. Files of the same path but different sizes come from two directories that look alike, so
// the second of them is in copy 1.
type folder struct {
	folderKey
	parts map[string]*Part
	list  []*Part // in order of appearance
}

type folderKey struct {
	dir  string // with its last "/", so that the root is not the folder that was dropped
	copy int
}

type sorter struct {
	*Listing
	options Options
	folders map[folderKey]*folder
	list    []*folder
	copy    []int // of each file
	loose   []int // files for which the first pass found no rule
}

func (s *sorter) problem(code string, severity Severity, index int, format string, args ...any) {
	s.Problems = append(s.Problems, Problem{code, severity, index, fmt.Sprintf(format, args...)})
}

// copies finds files that are there twice.
func (s *sorter) copies() {
	type twin struct {
		size  int64
		index int
	}
	seen := make(map[string][]twin, len(s.Entries))
	s.copy = make([]int, len(s.Entries))
	for i := range s.Entries {
		e := &s.Entries[i]
		twins := seen[e.Name]
		if same := slices.IndexFunc(twins, func(t twin) bool { return t.size == e.Size }); same >= 0 {
			e.SameAs = twins[same].index
			s.copy[i] = same
			e.Note = "listed twice, read once"
			s.problem(DuplicateSource, Warning, i, "A file of this name and size is in the list already; it is read once.")
			continue
		}
		if len(twins) > 0 {
			e.Note = fmt.Sprintf("file %d of this name", len(twins)+1)
			s.problem(DuplicateSource, Warning, i, "Another file of this name has %d bytes, this one has %d; both are kept.", twins[0].size, e.Size)
		}
		s.copy[i] = len(twins)
		seen[e.Name] = append(twins, twin{e.Size, i})
	}
}

// distinct numbers files that have the name of another one, since rows and links are told apart by names of files.
func (s *sorter) distinct() {
	changed := false
	for i := range s.Entries {
		if n := s.copy[i]; n > 0 {
			s.Entries[i].Name += fmt.Sprintf(" (%d)", n+1)
			changed = true
		}
	}
	if changed {
		slices.SortFunc(s.Order, s.compare)
	}
}

func (s *sorter) folder(i int) *folder {
	dir, _ := split(s.Entries[i].Name)
	key := folderKey{dir, s.copy[i]}
	f := s.folders[key]
	if f == nil {
		f = &folder{folderKey: key, parts: map[string]*Part{}}
		s.folders[key] = f
		s.list = append(s.list, f)
	}
	return f
}

func (f *folder) part(stem string) *Part {
	p := f.parts[stem]
	if p == nil {
		p = &Part{Stem: stem, Output: -1, Companions: []int{}, Others: []int{}}
		f.parts[stem] = p
		f.list = append(f.list, p)
	}
	return p
}

// firstPass places the files whose own name decides. Files are met in visible order, so lists come out ordered.
func (s *sorter) firstPass() {
	for _, i := range s.Order {
		e := &s.Entries[i]
		kind, stem := byRules(e.Base)
		if (kind == Manifest || kind == Unknown) && s.options.BatchManifest != nil && e.SameAs < 0 && s.options.BatchManifest(i) {
			kind, stem = BatchManifest, ""
		}
		e.Kind, e.Stem = kind, stem
		switch {
		case kind == Unknown:
			s.loose = append(s.loose, i)
		case e.SameAs >= 0 || stem == "":
		case kind == Rollouts:
			p := s.folder(i).part(stem)
			p.Others = append(p.Others, i) // a candidate until choose
		default:
			p := s.folder(i).part(stem)
			p.Companions = append(p.Companions, i)
		}
	}
}

// secondPass places the files for which the companions of the directory decide (second half of rule 4), and names
// the rest by their endings.
func (s *sorter) secondPass() {
	for _, i := range s.loose {
		e := &s.Entries[i]
		f := s.folder(i)
		own := Stem(e.Base)
		unpacked, packed := packedStem(e.Base)
		switch p := f.parts[own]; {
		case p != nil && len(p.Companions) > 0:
			e.Stem = own
		case packed:
			// No companion was written beside this name, so the file was packed afterwards and keeps its old stem.
			e.Stem = unpacked
		default:
			e.Kind = byEndings(e.Base)
			continue
		}
		e.Kind, e.Packed = Rollouts, packed
		if packed {
			e.Kind = PackedRollouts
		}
		if e.SameAs < 0 {
			p := f.part(e.Stem)
			p.Others = append(p.Others, i)
		}
	}
}

// choose picks the rollouts file of every part (rule 6).
func (s *sorter) choose() {
	rank := func(i int) int {
		switch e := &s.Entries[i]; {
		case e.Stem+plainExt == e.Base:
			return 0
		case e.Packed:
			return 1
		}
		return 2
	}
	for _, f := range s.list {
		for _, p := range f.list {
			if len(p.Others) == 0 {
				continue
			}
			slices.SortStableFunc(p.Others, func(a, b int) int {
				return cmp.Or(cmp.Compare(rank(a), rank(b)), s.compare(a, b))
			})
			p.Output, p.Others = p.Others[0], p.Others[1:]
			for _, i := range p.Others {
				e := &s.Entries[i]
				e.Candidate = true
				e.Note = "not read: " + s.Entries[p.Output].Base + " has the same stem"
				if !e.Packed {
					e.Kind = byEndings(e.Base)
				}
			}
		}
	}
}
