// Package finding holds what the readers of a run folder have to say about it, as values.
//
// A Finding is an id, a place (run, file, line, rollout, attempt) and a few named values; words are put on it by
// [Finding.Message], once, at the edge. Every id is one entry of a table ([All]) with its severity, a title and an
// explanation, which commands, pages and documents print (spec run-commands §3; the severities are those of
// run-folder §9, records §13, outcomes §8, omitted §7, recovery §9, batch-status §8, model-calls §11, trajectory §11,
// perf §5, atif §7).
//
// The ids of health checks are no part of this table: a check judges a rollout by its evidence, a finding is
// about files and about evidence that does not hold.
package finding

import (
	"cmp"
	"slices"
	"strings"

	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/value"
)

// Severity says what the reference does about it.
type Severity string

// The severities.
const (
	Error   Severity = "error"   // it refuses the run
	Warning Severity = "warning" // it warns, or silently loses data
	Info    Severity = "info"    // worth knowing
)

// Rank orders severities, the worst being 2.
func (s Severity) Rank() int { return slices.Index([]Severity{Info, Warning, Error}, s) }

// A Finding is one observation. Empty texts and a Line of 0 mean that it names no such place.
type Finding struct {
	ID       string
	Severity Severity
	Run      string // run key
	File     string // path, or the path a missing file should have
	Line     int64  // physical line from 1
	Offset   int64  // of the first byte of the line; without meaning if there is no line
	Rollout  string // logical id
	Attempt  integer.Int
	Known    bool // whether Attempt is known
	Values   []value.Member
}

// New makes a finding of a registered id with the severity the table has for it.
func New(id, run, file string, values ...value.Member) Finding {
	return Finding{ID: id, Severity: severities[id], Run: run, File: file, Values: values}
}

// At gives the finding a line.
func (f Finding) At(line, offset int64) Finding {
	f.Line, f.Offset = line, offset
	return f
}

// Of gives the finding a rollout.
func (f Finding) Of(rollout string) Finding {
	f.Rollout = rollout
	return f
}

// On gives the finding an attempt.
func (f Finding) On(attempt integer.Int) Finding {
	f.Attempt, f.Known = attempt, true
	return f
}

// As gives the finding another severity.
func (f Finding) As(s Severity) Finding {
	f.Severity = s
	return f
}

// Value is a named value, absent if there is none.
func (f *Finding) Value(name string) value.Value {
	for _, m := range f.Values {
		if m.Key == name {
			return m.Value
		}
	}
	return value.Value{}
}

// Sort brings findings into the order of the documents: run, file, line, id, rollout, attempt, values, what is
// missing first and texts by code point.
func Sort(list []Finding) {
	slices.SortStableFunc(list, Compare)
}

// Compare orders findings as [Sort] does.
func Compare(a, b Finding) int {
	if c := cmp.Or(
		strings.Compare(a.Run, b.Run), strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line),
		strings.Compare(a.ID, b.ID), strings.Compare(a.Rollout, b.Rollout)); c != 0 {
		return c
	}
	switch {
	case a.Known != b.Known:
		if b.Known {
			return -1
		}
		return 1
	case a.Known:
		if c := a.Attempt.Cmp(b.Attempt); c != 0 {
			return c
		}
	}
	return strings.Compare(value.Object(a.Values...).String(), value.Object(b.Values...).String())
}

// Document is the finding as documents have it.
func (f *Finding) Document() value.Value {
	line, offset, attempt := value.Null, value.Null, value.Null
	if f.Line > 0 {
		line, offset = value.Int(f.Line), value.Int(f.Offset)
	}
	if f.Known {
		attempt = value.Whole(f.Attempt)
	}
	return value.Object(
		value.M("id", value.Text(f.ID)), value.M("severity", value.Text(string(f.Severity))),
		value.M("run", value.TextOrNull(f.Run)), value.M("file", value.TextOrNull(f.File)),
		value.M("line", line), value.M("offset", offset),
		value.M("rollout", value.TextOrNull(f.Rollout)), value.M("attempt", attempt),
		value.M("values", value.Object(f.Values...)), value.M("message", value.Text(f.Message())),
	)
}

// Message says the finding in words, without its place.
func (f *Finding) Message() string {
	info, ok := ByID(f.ID)
	if !ok {
		return f.ID
	}
	var b strings.Builder
	rest := info.Says
	for {
		before, after, found := strings.Cut(rest, "{")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		name, behind, _ := strings.Cut(after, "}")
		if own, isOwn := strings.CutPrefix(name, "="); isOwn {
			text, _ := f.Value(own).Text()
			b.WriteString(text)
		} else {
			b.WriteString(words(f.Value(name)))
		}
		rest = behind
	}
}

// words writes a value for people.
func words(v value.Value) string {
	switch {
	case v.IsNull():
		return "nothing"
	case v.Kind() == jsonscan.Array:
		parts := []string{}
		for i, item := range v.Items() {
			if i == mostItems {
				parts = append(parts, "…")
				break
			}
			parts = append(parts, words(item))
		}
		if len(parts) == 0 {
			return "none"
		}
		return strings.Join(parts, ", ")
	case v.IsObject():
		parts := []string{}
		for i, m := range v.Members() {
			if i == mostItems {
				parts = append(parts, "…")
				break
			}
			if path, ok := m.Value.Text(); ok && m.Key == "path" {
				if path == "" {
					path = "the document"
				}
				parts = append(parts, path)
				continue
			}
			parts = append(parts, m.Key+" "+words(m.Value))
		}
		return strings.Join(parts, " ")
	}
	return v.String()
}

// mostItems bounds what a message repeats of a list.
const mostItems = 8

// Count counts findings by id, for ids that begin with one of the prefixes; without prefixes all of them.
func Count(list []Finding, prefixes ...string) value.Value {
	counts := map[string]int64{}
	for i := range list {
		id := list[i].ID
		if len(prefixes) == 0 || slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(id, p) }) {
			counts[id]++
		}
	}
	return Counts(counts)
}

// Counts is a map of names to numbers as documents have it, in the order of the names.
func Counts(counts map[string]int64) value.Value {
	names := make([]string, 0, len(counts))
	for name := range counts {
		names = append(names, name)
	}
	slices.Sort(names)
	members := make([]value.Member, len(names))
	for i, name := range names {
		members[i] = value.M(name, value.Int(counts[name]))
	}
	return value.Object(members...)
}
