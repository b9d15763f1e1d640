package metrics

import (
	"errors"
	"fmt"
	"slices"

	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/rollout"
)

// Saved is what an aggregate-metrics file says. It keeps the text it was made of.
type Saved struct {
	Entries []*SavedEntry
	scanner jsonscan.Scanner
}

// A SavedEntry is one entry of the file.
type SavedEntry struct {
	Label  string
	Server string // the environment server, "" in files that name none
	Rules  Rules  // which version wrote it, judged by its shape (spec metrics §16)

	// Legacy tells that the entry was written before there were metrics by repeat, which is not the same as having none.
	Legacy bool
	// Part tells that the entry holds one level alone, as the files of the profile command do. The label is then that of
	// an agent, or "" for all rows.
	Part bool

	Agent, Key []SavedValue // agent_metrics and key_metrics
	Groups     []SavedRow
	Repeats    []SavedRow
	Perf       []SavedValue
}

// A SavedValue is a named value. Only numbers are of use; bools are none.
type SavedValue struct {
	Name    string
	Number  Number
	Numeric bool
}

// A SavedRow is a group row or a repeat row.
type SavedRow struct{ v jsonscan.Value }

// ErrSaved means that a file is no aggregate-metrics file.
var ErrSaved = errors.New("not an aggregate-metrics file")

// ParseSaved reads an aggregate-metrics file. Errors wrap [ErrSaved].
func ParseSaved(text []byte) (*Saved, error) {
	s := &Saved{Entries: []*SavedEntry{}}
	root, err := s.scanner.Scan(jsonl.Trim(text))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrSaved, err)
	case !root.IsArray():
		return nil, fmt.Errorf("%w: %s where an array was expected", ErrSaved, root.Kind())
	}
	seen := map[string]bool{}
	for e := root.Elements(); e.Next(); {
		n := len(s.Entries)
		name := e.Value.Get("agent_ref").Get("name")
		switch {
		case !e.Value.IsObject():
			return nil, fmt.Errorf("%w: entry %d is no object", ErrSaved, n)
		case !name.IsString():
			return nil, fmt.Errorf("%w: entry %d has no agent_ref.name", ErrSaved, n)
		}
		label := name.Text()
		if seen[label] {
			return nil, fmt.Errorf("%w: two entries are named %q", ErrSaved, label)
		}
		seen[label] = true
		s.Entries = append(s.Entries, savedEntry(label, e.Value))
	}
	if len(s.Entries) == 0 {
		return nil, fmt.Errorf("%w: it has no entries", ErrSaved)
	}
	return s, nil
}

func savedEntry(label string, v jsonscan.Value) *SavedEntry {
	e := &SavedEntry{Label: label}
	var server, groups, repeats jsonscan.Value
	for m := v.Members(); m.Next(); {
		switch string(m.Key) {
		case "_ng_environment_server":
			server = m.Value
		case "agent_metrics":
			e.Agent = savedValues(m.Value)
		case "key_metrics":
			e.Key = savedValues(m.Value)
		case "perf_summary":
			e.Perf = savedValues(m.Value)
		case "group_level_metrics":
			groups = m.Value
		case "repeat_level_metrics":
			repeats = m.Value
		}
	}
	e.Server = server.Text()
	e.Groups, e.Repeats = savedRows(groups), savedRows(repeats)
	e.Legacy = !repeats.Exists()
	switch {
	case !e.Legacy || e.Server != "":
	case len(e.Groups) > 0 && e.Groups[0].v.Get("rollout_infos").Exists():
		e.Rules = Infos
	default:
		e.Rules = LineOrder
	}
	return e
}

func savedValues(v jsonscan.Value) []SavedValue {
	var all members
	all.collect(v)
	list := make([]SavedValue, 0, len(all.list))
	for i := range all.list {
		c := &all.list[i]
		s := SavedValue{Name: string(all.name(c))}
		s.Number, s.Numeric = numberOf(c.value)
		list = append(list, s)
	}
	return list
}

func savedRows(v jsonscan.Value) []SavedRow {
	list := []SavedRow{}
	for e := v.Elements(); e.Next(); {
		if e.Value.IsObject() {
			list = append(list, SavedRow{e.Value})
		}
	}
	return list
}

// numberOf reads a number that is not a bool.
func numberOf(v jsonscan.Value) (Number, bool) {
	switch v.Kind() {
	case jsonscan.Int:
		n, _ := v.Integer()
		return cell{kind: signed(n), bits: n.Magnitude}.number(), true
	case jsonscan.Float:
		f, _ := v.Float()
		return Real(f), true
	}
	return Number{}, false
}

func signed(n jsonscan.Integer) byte {
	if n.Negative {
		return cellNegative
	}
	return cellPositive
}

// Number is a member of the row, if it is a number.
func (r SavedRow) Number(name string) (Number, bool) { return numberOf(r.v.Get(name)) }

// Values lists the members of the row that are numbers, in their order.
func (r SavedRow) Values() []SavedValue {
	list := savedValues(r.v)
	kept := list[:0]
	for _, v := range list {
		if v.Numeric {
			kept = append(kept, v)
		}
	}
	return kept
}

// Index is the row's index, of the task or of the repeat; ok is false if it has none.
func (r SavedRow) Index(name string) (k rollout.Key, ok bool) {
	switch v := r.v.Get(name); v.Kind() {
	case jsonscan.Int:
		n, _ := v.Integer()
		return rollout.IntKey(n), true
	case jsonscan.String:
		return rollout.TextKey(v.Text()), true
	case jsonscan.Float:
		x := reader{b: appendIndex(nil, v)}
		index := x.index()
		return index.key(), !index.bad()
	}
	return k, false
}

// Infos is the number of rollout infos; ok is false if the row has none at all.
func (r SavedRow) Infos() (n int, ok bool) {
	v := r.v.Get("rollout_infos")
	n, _ = v.Parts()
	return n, v.IsArray()
}

// Rewards lists the rewards of the row's rollout infos in the order of their rollout indices; ok is false unless
// there are some and every one is a number.
func (r SavedRow) Rewards() (list []Number, ok bool) {
	type one struct {
		index  rollout.Key
		reward Number
	}
	var all []one
	for e := r.v.Get("rollout_infos").Elements(); e.Next(); {
		n, numeric := numberOf(e.Value.Get("reward"))
		if !numeric {
			return nil, false
		}
		k, _ := SavedRow{e.Value}.Index("_ng_rollout_index")
		all = append(all, one{k, n})
	}
	slices.SortStableFunc(all, func(a, b one) int { return a.index.Compare(b.index) })
	for _, o := range all {
		list = append(list, o.reward)
	}
	return list, len(list) > 0
}

// Rebuild computes an entry from the rollout infos of the saved group rows, as if they were the rows of a run. It is
// nil if there are none. Errors wrap [ErrRefused].
func (e *SavedEntry) Rebuild() (*Entry, error) {
	run := NewRun(Options{})
	var (
		m      Mapper
		lines  rollout.Reader
		digest []byte
	)
	for _, g := range e.Groups {
		for info := g.v.Get("rollout_infos").Elements(); info.Next(); {
			raw := info.Value.Raw()
			row := lines.Read(&jsonl.Line{Bytes: raw, Length: int64(len(raw)), Terminated: true})
			digest = m.Append(digest[:0], row)
			if err := run.Add(&Row{Name: e.Label, Line: int64(run.Rows()) + 1, Digest: digest}); err != nil {
				return nil, fmt.Errorf("rollout infos: %w", err)
			}
		}
	}
	if run.Rows() == 0 {
		return nil, nil
	}
	rebuilt, err := run.AllRows()
	if err != nil {
		return nil, fmt.Errorf("rollout infos: %w", err)
	}
	return rebuilt, nil
}

// Slice tells in which slice the task of a group row is: by the rewards of its rollout infos, or else by what is known
// of them (spec metrics §13).
func (r SavedRow) Slice(threshold float64) Slice {
	if rewards, ok := r.Rewards(); ok {
		passed := 0
		for _, n := range rewards {
			if n.Float() >= threshold {
				passed++
			}
		}
		switch passed {
		case len(rewards):
			return Always
		case 0:
			return Never
		}
		return Sometimes
	}
	most, ok := r.Number("max/reward")
	if !ok {
		return MissingTask
	}
	least, known := r.Number("min/reward")
	switch {
	case known && least.Float() >= threshold:
		return Always
	case most.Float() < threshold:
		return Never
	}
	return Sometimes
}
