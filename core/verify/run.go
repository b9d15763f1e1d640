package verify

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/rollscope/rollscope/core/batch"
	"github.com/rollscope/rollscope/core/finding"
	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/records"
	"github.com/rollscope/rollscope/core/runfolder"
	"github.com/rollscope/rollscope/core/source"
	"github.com/rollscope/rollscope/core/store"
	"github.com/rollscope/rollscope/core/value"
)

const (
	// piece is how much of a file is read at once.
	piece = 1 << 20
	// largestManifest bounds the files in which a batch manifest is looked for.
	largestManifest = 16 << 20
	// largestDocument bounds the small documents; a larger one is none.
	largestDocument = 1 << 30
)

// A folder is being verified.
type folder struct {
	ctx     context.Context
	files   []File
	options Options
	listing *runfolder.Listing
	report  *Report
	parts   []*part
	done    int64 // bytes that were read
}

// A part is a run of the folder with the places of its files in the list; −1 for one that is missing.
type part struct {
	Part
	dir                string
	output             int
	others, companions []int
	byKind             map[runfolder.Kind]int
	run                *RunReport
}

// Run reads files and reports what they say. The error is that of a source, or of the context.
func Run(ctx context.Context, files []File, o Options) (*Report, error) {
	f := &folder{ctx: ctx, files: files, options: o, report: &Report{Files: []FileInfo{}, Runs: []*RunReport{}, Manifests: []BatchManifest{}, Findings: []finding.Finding{}}}
	if err := f.sort(); err != nil {
		return nil, err
	}
	for _, p := range f.parts {
		if err := f.read(p); err != nil {
			return nil, err
		}
	}
	f.list()
	f.copies()
	if err := f.batches(); err != nil {
		return nil, err
	}
	for _, p := range f.parts {
		finding.Sort(p.run.Findings)
		f.report.Findings = append(f.report.Findings, p.run.Findings...)
	}
	finding.Sort(f.report.Findings)
	return f.report, nil
}

// top stands in front of all paths, since the listing leaves out the folder that all files share.
const top = "run/"

// sort finds the runs and the batch manifests.
func (f *folder) sort() error {
	list := make([]runfolder.File, len(f.files))
	for i, file := range f.files {
		list[i] = runfolder.File{Path: top + file.Path, Size: file.Source.Size()}
	}
	var failed error
	found := map[int][]byte{}
	f.listing = runfolder.Options{BatchManifest: func(i int) bool {
		if failed != nil || f.files[i].Source.Size() > largestManifest {
			return false
		}
		text, err := f.document(i)
		if err != nil {
			failed = err
			return false
		}
		if !batch.Recognised(text) {
			return false
		}
		found[i] = text
		return true
	}}.Sort(list)
	if failed != nil {
		return failed
	}
	for _, run := range f.listing.Runs {
		for _, p := range run.Parts {
			f.part(p)
		}
	}
	slices.SortFunc(f.parts, func(a, b *part) int { return strings.Compare(a.Key, b.Key) })
	f.only()
	return f.manifests(found)
}

// real tells whether a packed file counts as the rollouts file of a run: only if companions are named after its full
// name.
func (f *folder) real(i int) bool {
	e := &f.listing.Entries[i]
	return !e.Packed || runfolder.Stem(e.Base) == e.Stem
}

// part makes a run of a part of the listing.
func (f *folder) part(p runfolder.Part) {
	candidates := []int{}
	for _, i := range append([]int{p.Output}, p.Others...) {
		if i >= 0 && f.real(i) {
			candidates = append(candidates, i)
		}
	}
	if len(candidates) == 0 && len(p.Companions) == 0 {
		return
	}
	made := &part{output: -1, companions: p.Companions, byKind: map[runfolder.Kind]int{}}
	if len(candidates) > 0 {
		made.output, made.others = candidates[0], candidates[1:]
	}
	for _, i := range append(candidates, p.Companions...) {
		made.dir = f.listing.Entries[i].Dir
	}
	for _, i := range p.Companions {
		made.byKind[f.listing.Entries[i].Kind] = i
		made.Companions = append(made.Companions, f.files[i].Path)
	}
	path := func(suffix string) string { return join(made.dir, p.Stem+suffix) }
	made.Key = path("")
	made.Place = records.Place{
		Run: made.Key, Results: path(".jsonl"), Inputs: path("_materialized_inputs.jsonl"), Failures: path("_failures.jsonl"), Manifest: path("_manifest.json"),
	}
	if made.output >= 0 {
		made.Place.Results = f.files[made.output].Path
		made.Present[records.Results] = true
	}
	_, made.Present[records.Inputs] = made.byKind[runfolder.MaterializedInputs]
	_, made.Present[records.Failures] = made.byKind[runfolder.Failures]
	_, made.Journal = made.byKind[runfolder.Attempts]
	f.parts = append(f.parts, made)
}

func join(dir, base string) string {
	if dir == "" {
		return base
	}
	return strings.TrimSuffix(dir, "/") + "/" + base
}

// only leaves out the runs to which the named file does not belong.
func (f *folder) only() {
	if f.options.Only == "" {
		return
	}
	f.parts = slices.DeleteFunc(f.parts, func(p *part) bool {
		for _, i := range p.files() {
			if f.files[i].Path == f.options.Only {
				return false
			}
		}
		return true
	})
}

// files lists the files of a run.
func (p *part) files() []int {
	list := append(slices.Clone(p.companions), p.others...)
	if p.output >= 0 {
		list = append(list, p.output)
	}
	return list
}

// document reads a small document.
func (f *folder) document(i int) ([]byte, error) { return f.text(f.files[i]) }

func (f *folder) text(file File) ([]byte, error) {
	size := file.Source.Size()
	if size > largestDocument {
		return []byte{}, nil
	}
	text := make([]byte, size)
	if err := source.ReadFull(file.Source, text, 0); err != nil {
		return nil, fmt.Errorf("%s: %w", file.Path, err)
	}
	return text, nil
}

// companion reads a document of a run, nil if it is not there.
func (f *folder) companion(p *part, kind runfolder.Kind) (text []byte, path string, err error) {
	i, ok := p.byKind[kind]
	if !ok {
		return nil, "", nil
	}
	text, err = f.document(i)
	return text, f.files[i].Path, err
}

// read reads a run.
func (f *folder) read(p *part) (err error) {
	if p.Manifest, _, err = f.companion(p, runfolder.Manifest); err != nil {
		return err
	}
	if p.Coverage, p.CoverPath, err = f.companion(p, runfolder.Coverage); err != nil {
		return err
	}
	sources := [3]int{-1, -1, p.output}
	if i, ok := p.byKind[runfolder.MaterializedInputs]; ok {
		sources[records.Inputs] = i
	}
	if i, ok := p.byKind[runfolder.Failures]; ok {
		sources[records.Failures] = i
	}
	r := NewReader(p.Part, &f.options, savedRows{f, sources})
	for file, i := range sources {
		if i < 0 {
			continue
		}
		if records.File(file) == records.Results && f.options.Scanned != nil {
			if rows := f.options.Scanned(i); rows != nil {
				if err := f.scanned(r, rows); err != nil {
					return fmt.Errorf("%s: %w", f.files[i].Path, err)
				}
				continue
			}
		}
		if err := f.lines(i, func(l *jsonl.Line) error { return r.Line(records.File(file), l) }); err != nil {
			return err
		}
	}
	p.run = r.Finish()
	p.run.Batch.tally = r.tally
	f.report.Runs = append(f.report.Runs, p.run)
	f.names(p)
	return nil
}

// scanned takes rows that were read elsewhere.
func (f *folder) scanned(r *Reader, rows Scanned) error {
	r.Unread(rows.Account())
	return rows.Each(func(row *records.Row, fault *store.Fault) error {
		if f.ctx.Err() != nil {
			return context.Cause(f.ctx)
		}
		if fault != nil {
			r.Unread(store.Account{Rows: -1, Unreadable: 1}, *fault)
			return nil
		}
		return r.Row(row)
	})
}

// lines reads a file line by line.
func (f *folder) lines(i int, each func(*jsonl.Line) error) error {
	s := f.files[i].Source
	var failed error
	emit := func(l *jsonl.Line) bool {
		failed = each(l)
		return failed == nil
	}
	splitter := jsonl.NewSplitter(0)
	size := s.Size()
	buffer := make([]byte, min(size, piece))
	for at := int64(0); at < size; {
		if f.ctx.Err() != nil {
			return context.Cause(f.ctx)
		}
		b := buffer[:min(piece, size-at)]
		if err := source.ReadFull(s, b, at); err != nil {
			return fmt.Errorf("%s: %w", f.files[i].Path, err)
		}
		splitter.Feed(b, emit)
		if failed != nil {
			return fmt.Errorf("%s: %w", f.files[i].Path, failed)
		}
		at += int64(len(b))
		f.done += int64(len(b))
		if f.options.Progress != nil {
			f.options.Progress(f.done)
		}
	}
	splitter.Finish(emit)
	if failed != nil {
		return fmt.Errorf("%s: %w", f.files[i].Path, failed)
	}
	return nil
}

// savedRows reads rows of a run again.
type savedRows struct {
	f       *folder
	sources [3]int
}

// Saved gives a row once more; one that is no row any more is absent.
func (s savedRows) Saved(file records.File, offset, length int64) (value.Value, error) {
	text := make([]byte, length)
	if err := source.ReadFull(s.f.files[s.sources[file]].Source, text, offset); err != nil {
		return value.Value{}, err
	}
	v, err := value.Strict(text)
	if err != nil {
		return value.Value{}, nil
	}
	return v, nil
}

// names says what the names of a run's files tell.
func (f *folder) names(p *part) {
	add := func(id string, values ...value.Member) {
		p.run.Findings = append(p.run.Findings, finding.New(id, p.Key, p.run.Output, values...))
	}
	if p.output < 0 {
		return
	}
	if strings.HasSuffix(p.run.Output, ".") {
		add(finding.OddName)
	}
	base := f.listing.Entries[p.output].Base
	if rest, unsafe := strings.CutPrefix(base, "unsafe_"); unsafe && !strings.HasPrefix(rest, ".") && rest != "" {
		add(finding.UnsafeReverification)
	}
	if len(p.others) > 0 {
		others := []string{}
		for _, i := range p.others {
			others = append(others, f.files[i].Path)
		}
		slices.Sort(others)
		add(finding.AmbiguousOutput, value.M("others", value.Texts(others)))
	}
}

// list describes every file.
func (f *folder) list() {
	belongs := map[int]*part{}
	for _, p := range f.parts {
		for _, i := range p.files() {
			belongs[i] = p
		}
	}
	for i := range f.files {
		e := &f.listing.Entries[i]
		p := belongs[i]
		if p == nil && e.Run >= 0 && f.real(i) {
			continue // of a run that is left out
		}
		info := FileInfo{Path: f.files[i].Path, Role: e.Role(), Bytes: f.files[i].Source.Size()}
		if !f.real(i) {
			info.Role = "other"
		}
		if p != nil {
			info.Run = p.Key
			switch info.Role = e.Kind.Info().Role; {
			case i == p.output:
				info.Role, info.Account = "results", &p.run.Accounts[records.Results]
			case slices.Contains(p.others, i):
				info.Role = "other"
			case e.Kind == runfolder.MaterializedInputs:
				info.Account = &p.run.Accounts[records.Inputs]
			case e.Kind == runfolder.Failures:
				info.Account = &p.run.Accounts[records.Failures]
			}
		}
		f.report.Files = append(f.report.Files, info)
		if e.Kind == runfolder.Temporary {
			f.report.Findings = append(f.report.Findings, finding.New(finding.LeftoverTemp, "", info.Path))
		}
	}
	slices.SortFunc(f.report.Files, func(a, b FileInfo) int { return cmp.Compare(a.Path, b.Path) })
}

// copies finds runs with the same run id.
func (f *folder) copies() {
	byID := map[string][]string{}
	order := []string{}
	for _, p := range f.parts {
		if p.run.HasRunID {
			if byID[p.run.RunID] == nil {
				order = append(order, p.run.RunID)
			}
			byID[p.run.RunID] = append(byID[p.run.RunID], p.Key)
		}
	}
	for _, id := range order {
		if keys := byID[id]; len(keys) > 1 {
			f.report.Findings = append(f.report.Findings, finding.New(finding.DuplicateRun, "", "", value.M("run_id", value.Text(id)), value.M("runs", value.Texts(keys))))
		}
	}
}
