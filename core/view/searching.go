package view

import (
	"slices"
	"strconv"
	"strings"

	"github.com/rollscope/rollscope/core/analysis"
	"github.com/rollscope/rollscope/core/search"
)

// searchTab is the id of the view of a search. It is reached by the search of the bar, not by a tab.
const searchTab = "search"

// The settings of a search beside its pattern. Without them it is for a text, whatever the letter case, in what is said.
const (
	searchCase = "search.case" // "1": letter case counts
	searchAs   = "search.as"   // "regexp": the pattern is a regular expression
	searchIn   = "search.in"   // names of parts, or "all" for every string of a row
)

// searchParts are the parts of what is said that a search can be narrowed down to.
var searchParts = []struct {
	name, title string
	part        search.Part
}{
	{"message", "messages", search.Message}, {"reasoning", "reasoning", search.Reasoning},
	{"tool_call", "tool calls", search.ToolCall}, {"tool_result", "tool results", search.ToolResult},
}

// Bounds of what is kept of the hits of a search: so many of a rollout, and all together so many bytes. What is beyond
// is counted.
const (
	hitsKept     = 10
	hitBytesKept = 64 << 20
)

// searchOptions are those of a State.
func searchOptions(s State) search.Options {
	o := search.Options{Pattern: s.Search, Literal: s.Setting(searchAs) != "regexp", Fold: s.Setting(searchCase) == "", Keep: hitsKept}
	for name := range strings.SplitSeq(s.Setting(searchIn), "+") {
		if name == "all" {
			o.All, o.Parts = true, 0
			return o
		}
		for _, p := range searchParts {
			if p.name == name {
				o.Parts = o.Parts.With(p.part)
			}
		}
	}
	return o
}

// mendSearch takes out of a State the settings of a search that mean nothing, and says what they were.
func mendSearch(s *State) (odd []string) {
	for _, c := range slices.Clone(s.Set) {
		left := ""
		switch c.Name {
		case searchCase:
			if c.Value == "1" {
				continue
			}
		case searchAs:
			if c.Value == "regexp" {
				continue
			}
		case searchIn:
			list := strings.Split(c.Value, "+")
			known := slices.DeleteFunc(slices.Clone(list), func(name string) bool { return name != "all" && !slices.Contains(partNames(), name) })
			if len(known) == len(list) {
				continue
			}
			left = strings.Join(known, "+")
		default:
			if !strings.HasPrefix(c.Name, "search.") {
				continue
			}
		}
		odd = append(odd, c.Name+"="+c.Value)
		*s = s.Choose(c.Name, left)
	}
	return odd
}

// searchingIn is the State that looks into a part as well, or no longer.
func searchingIn(s State, name string) State {
	var list []string
	had := false
	for _, p := range append([]string{"all"}, partNames()...) {
		on := slices.Contains(strings.Split(s.Setting(searchIn), "+"), p)
		if p == name {
			had, on = on, !on
		}
		if on && (p == "all") == (name == "all") { // all strings, or some parts
			list = append(list, p)
		}
	}
	if name == "all" && had || len(list) == len(searchParts) {
		list = nil
	}
	return s.Choose(searchIn, strings.Join(list, "+"))
}

func partNames() []string {
	names := make([]string, len(searchParts))
	for i, p := range searchParts {
		names[i] = p.name
	}
	return names
}

// A searched is a search in all transcripts, with what it has found so far.
type searched struct {
	options search.Options
	search  *search.Search
	err     error // why there is none

	answers *analysis.Answers
	parts   int   // of the scan that have come in
	kept    int64 // bytes of the answers
}

// search gives the search of a State, nil where it has none. It is begun now if the last one was another; of that one
// nothing is kept.
func (d *Desk) search(s State) *searched {
	if s.Search == "" {
		return nil
	}
	o := searchOptions(s)
	if d.searched == nil || d.searched.options != o {
		d.searched = &searched{options: o}
		if d.searched.search, d.searched.err = search.New(o); d.searched.err == nil {
			d.searched.answers = analysis.NewAnswers(d.searched.search.Number(), len(d.sources))
		}
	}
	return d.searched
}

// addSearched takes in a part of a search and tells whether it was one of the search that is wanted now.
func (d *Desk) addSearched(p *analysis.Partial) bool {
	s := d.searched
	if s == nil || s.err != nil || s.search.Number() != p.Query {
		return false
	}
	if s.kept > hitBytesKept {
		p.Answered(search.AppendCount)
	}
	if s.answers.Add(p) == nil { // one that is there already was scanned twice
		s.parts++
		p.Each(func(answer []byte) { s.kept += int64(len(answer)) })
	}
	return true
}

// grown is the search in files that have grown; kept tells how much of a source is as it was.
func (s *searched) grown(sources int, kept func(source int) int64) *searched {
	next := *s
	next.answers = s.answers.Grow(sources, kept)
	return &next
}

// id tells searches apart in the script, which keeps texts exact.
func (s *searched) id() string { return strconv.FormatUint(s.search.Number(), 16) }

// missing lists what was not searched yet: by number of the source.
func (s *searched) missing(c *selection, f func(source int, r analysis.Range)) {
	c.unanswered(s.answers, f)
}

// bytes tells how many of the bytes of a selection were searched.
func (s *searched) bytes(c *selection) (done, total int64) {
	return c.scanned(func(f func(int, analysis.Range)) { s.missing(c, f) })
}

// all tells whether all of a selection was searched.
func (s *searched) all(c *selection) bool {
	done, total := s.bytes(c)
	return done == total
}

// searching is the search that a State needs the files scanned for, nil where it needs none or has all answers. It goes
// on while one of the rollouts that were found is looked at.
func (d *Desk) searching(c *selection, s State) *searched {
	if s.Tab != searchTab {
		return nil
	}
	found := d.search(s)
	if found == nil || found.err != nil || found.all(c) {
		return nil
	}
	return found
}

// A hitList is what a search has found in the rows of a filter. The table has a row for every hit that is kept, and one
// more for a rollout that has others.
type hitList struct {
	key   string
	parts int

	hits, rollouts int // in all rows so far
	shown          int // hits in rows of the filter
	more           int // of them, those that are counted alone
	bare           int // rollouts of the filter of which no hit is kept

	rows   []int32 // ordinals of the rollouts of the filter that have hits, in their order
	starts []int32 // row of the table at which each begins, and the end
}

// hits gives what a search has found in the rows of a filter. It is made again when rows or answers come in.
func (d *Desk) hits(c *selection, found *matches, by *searched) *hitList {
	l := &c.hits
	key := by.id() + " " + strconv.Itoa(found.serial) + " " + strconv.Itoa(c.table.Rows())
	if l.key == key && l.starts != nil {
		// What is made of all rows is not made again for every piece of the scan where they are many.
		if more := by.parts - l.parts; more == 0 || c.table.Rows() > 20_000 && more < l.parts/4 && !by.all(c) {
			return l
		}
	}
	*l = hitList{key: key, parts: by.parts, rows: []int32{}, starts: []int32{0}}
	kept, counts := make([]int32, c.table.Rows()), make([]int32, c.table.Rows())
	c.table.Each(0, func(row *analysis.Row) bool {
		b, _ := by.answers.Row(c.sources[row.Source], row.Number)
		if count, k := search.Counts(b); count > 0 {
			l.hits += count
			l.rollouts++
			kept[row.Ordinal], counts[row.Ordinal] = int32(k), int32(count)
		}
		return true
	})
	for n := range found.len(c) {
		ordinal := found.at(c, n)
		if ordinal >= len(counts) || counts[ordinal] == 0 {
			continue
		}
		lines := kept[ordinal]
		l.shown += int(counts[ordinal])
		if rest := counts[ordinal] - kept[ordinal]; rest > 0 {
			l.more += int(rest)
			lines++
		}
		if kept[ordinal] == 0 {
			l.bare++
		}
		l.rows = append(l.rows, int32(ordinal))
		l.starts = append(l.starts, l.starts[len(l.starts)-1]+lines)
	}
	return l
}
