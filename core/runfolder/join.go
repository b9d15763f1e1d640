package runfolder

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rollscope/rollscope/core/order"
)

// join makes runs of parts: those of one folder whose stems differ in digits alone are the shards of one run.
func (s *sorter) join() {
	type draft struct {
		folder *folder
		parts  []*Part
	}
	var drafts []*draft
	for _, f := range s.list {
		byMask := map[string]*draft{}
		for _, p := range f.list {
			mask := digitless(p.Stem)
			d := byMask[mask]
			if d == nil {
				d = &draft{folder: f}
				byMask[mask] = d
				drafts = append(drafts, d)
			}
			d.parts = append(d.parts, p)
		}
	}
	place := func(p *Part) string { // last segment of the path the rollouts file has or would have
		if p.Output >= 0 {
			return s.Entries[p.Output].Base
		}
		return p.Stem + plainExt
	}
	for _, d := range drafts {
		slices.SortStableFunc(d.parts, func(a, b *Part) int { return order.Name(place(a), place(b)) })
	}
	slices.SortStableFunc(drafts, func(a, b *draft) int {
		if c := order.Compare(a.folder.dir+place(a.parts[0]), b.folder.dir+place(b.parts[0])); c != 0 {
			return c
		}
		return a.folder.copy - b.folder.copy
	})
	for _, d := range drafts {
		run := Run{Dir: shownDir(d.folder.dir), Stem: pattern(d.parts), Shards: []int{}, Companions: []int{}}
		run.Name = d.folder.dir + run.Stem
		if d.folder.copy > 0 {
			run.Name += fmt.Sprintf(" (%d)", d.folder.copy+1)
		}
		for _, p := range d.parts {
			if p.Output >= 0 {
				run.Shards = append(run.Shards, p.Output)
				s.Entries[p.Output].Run = len(s.Runs)
			}
			for _, i := range p.Companions {
				s.Entries[i].Run = len(s.Runs)
			}
			for _, i := range p.Others {
				s.Entries[i].Run = len(s.Runs)
			}
			run.Companions = append(run.Companions, p.Companions...)
			run.Parts = append(run.Parts, *p)
		}
		run.Missing = len(run.Shards) == 0
		s.Runs = append(s.Runs, run)
	}
}

// digitless gives a text that two stems share exactly if they differ in digits alone: every run of digits, of any
// length, becomes one zero.
func digitless(stem string) string {
	var b strings.Builder
	last := byte(0)
	for i := range len(stem) {
		c := stem[i]
		if '0' <= c && c <= '9' {
			c = '0'
		}
		if c != '0' || last != '0' {
			b.WriteByte(c)
		}
		last = c
	}
	return b.String()
}

// pattern gives the stem the parts have in common, with "*" for each number in which they differ.
func pattern(parts []*Part) string {
	if len(parts) == 1 {
		return parts[0].Stem
	}
	first := pieces(parts[0].Stem)
	for _, p := range parts[1:] {
		for k, piece := range pieces(p.Stem) {
			if first[k] != piece {
				first[k] = "*"
			}
		}
	}
	return strings.Join(first, "")
}

// pieces cuts a stem where digits begin and end. Stems with the same digitless text have the same number of pieces.
func pieces(stem string) []string {
	var list []string
	start := 0
	for i := 1; i <= len(stem); i++ {
		if i == len(stem) || isDigit(stem[i]) != isDigit(stem[i-1]) {
			list = append(list, stem[start:i])
			start = i
		}
	}
	return list
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// remarks adds what names and sizes alone say about runs and files.
func (s *sorter) remarks() {
	for r := range s.Runs {
		for _, p := range s.Runs[r].Parts {
			s.partRemarks(p)
		}
	}
	for i := range s.Entries {
		e := &s.Entries[i]
		info := e.Kind.Info()
		if e.Kind == Temporary {
			s.problem(LeftoverTemp, Info, i, "A half-written file was left behind; it is not read.")
		}
		if e.Size == 0 {
			if e.Note == "" {
				e.Note = "empty file"
				if info.Group == GroupRollouts || e.Kind == Failures {
					e.Note = "empty file, 0 records"
				}
			}
			if !info.Empty && e.SameAs < 0 {
				s.problem(EmptySource, Info, i, "The file is empty.")
			}
		} else if info.Group == GroupOther && e.SameAs < 0 && !e.Candidate && e.Kind != "system" {
			s.problem(UnknownKind, Info, i, "Not read (%s).", info.Title)
		}
		if e.Note == "" && !info.Read && info.Group != GroupLeftover {
			e.Note = "not yet read"
		}
	}
	place := make([]int, len(s.Order))
	for at, i := range s.Order {
		place[i] = at
	}
	slices.SortStableFunc(s.Problems, func(a, b Problem) int {
		if c := place[a.Index] - place[b.Index]; c != 0 {
			return c
		}
		return strings.Compare(a.Code, b.Code)
	})
}

func (s *sorter) partRemarks(p Part) {
	has := func(kind Kind) bool {
		return slices.ContainsFunc(p.Companions, func(i int) bool { return s.Entries[i].Kind == kind })
	}
	for _, i := range p.Companions {
		switch {
		case s.Entries[i].Kind == Attempts:
			s.problem(DraftJournal, Error, i, "An attempt journal of a withdrawn format; the reference refuses a run that has one.")
		case p.Output < 0 && !has(Manifest) && !has(MaterializedInputs):
			s.problem(Orphan, Warning, i, "The rollouts file %s%s is not in the list.", p.Stem, plainExt)
		}
	}
	if p.Output < 0 {
		severity := Warning
		if has(Manifest) {
			severity = Error
		}
		if k := slices.IndexFunc(p.Companions, func(i int) bool {
			return s.Entries[i].Kind == Manifest || s.Entries[i].Kind == MaterializedInputs
		}); k >= 0 {
			s.problem(MissingOutput, severity, p.Companions[k], "The rollouts file %s%s is not in the list.", p.Stem, plainExt)
		}
		return
	}
	output := &s.Entries[p.Output]
	if strings.HasSuffix(output.Base, ".") {
		s.problem(OddName, Warning, p.Output, "The name ends in a dot; the reference derives two different companion names from it.")
	}
	if rest, ok := strings.CutPrefix(p.Stem, "unsafe_"); ok && rest != "" {
		s.problem(Unsafe, Info, p.Output, "The name is that of a reverification forced past a refusal.")
	}
	if len(p.Others) > 0 {
		names := make([]string, len(p.Others))
		for k, i := range p.Others {
			names[k] = s.Entries[i].Base
		}
		s.problem(AmbiguousOutput, Warning, p.Output, "Other files have the same stem and are not read: %s.", strings.Join(names, ", "))
	}
}
