package compare

import (
	"errors"
	"fmt"
	"math"

	"github.com/rollscope/rollscope/core/metrics"
	"github.com/rollscope/rollscope/core/rollout"
)

// ErrRefused means that there is nothing to compare, or not in this way.
var ErrRefused = errors.New("refused")

// A Value is a named number of an entry; some names have none.
type Value struct {
	Name    string
	Number  metrics.Number
	Numeric bool
}

// An Entry is what one side says of one agent.
type Entry struct {
	Label   string
	Values  []Value         // key metrics first, then the others; names differ
	Key     map[string]bool // names of the key metrics
	Repeats []Repeat
	Tasks   []Task
	Groups  int // tasks, those without an index included

	// RepeatCount is how many repeats there are, −1 if that is not known.
	RepeatCount int
	// Rebuilt tells that repeats were computed here, since the file was written before there were any.
	Rebuilt bool

	at map[string]int // in Values
}

// A Repeat is what one repeat says.
type Repeat struct {
	Sample, Missing int // tasks
	Values          map[string]float64
}

// A Task is what an entry says of one task.
type Task struct {
	Index          rollout.Key
	Mean, Min, Max Optional
	// Rewards gives the rewards of its rollouts in the order of their indices, nil if they are not all known.
	Rewards func() []metrics.Number
}

// Optional is a number that may be missing.
type Optional struct {
	X  float64
	OK bool
}

func some(n metrics.Number, ok bool) Optional { return Optional{n.Float(), ok} }

// set adds a value, or replaces the one of its name.
func (e *Entry) set(v Value) {
	if e.at == nil {
		e.at = map[string]int{}
	}
	if i, ok := e.at[v.Name]; ok {
		e.Values[i] = v
		return
	}
	e.at[v.Name] = len(e.Values)
	e.Values = append(e.Values, v)
}

// number gives the number of a name.
func (e *Entry) number(name string) Optional {
	if e == nil {
		return Optional{}
	}
	if i, ok := e.at[name]; ok && e.Values[i].Numeric {
		return some(e.Values[i].Number, true)
	}
	return Optional{}
}

// primary are the names of the entry that can be compared, in order.
func (e *Entry) primary() []string {
	var names []string
	for _, v := range e.Values {
		if v.Numeric && metrics.Primary(v.Name) {
			names = append(names, v.Name)
		}
	}
	return names
}

// Saved makes an entry of what a file says. Where the file lacks repeats because of its age, they are computed from
// the rollout infos it has; values it does have stay. The error wraps [metrics.ErrRefused] if that fails.
func Saved(s *metrics.SavedEntry) (*Entry, error) {
	e := &Entry{Label: s.Label, Key: map[string]bool{}, RepeatCount: -1, Groups: len(s.Groups)}
	for _, v := range s.Key {
		e.Key[v.Name] = true
		e.set(Value(v))
	}
	if s.Legacy {
		rebuilt, err := s.Rebuild()
		if err != nil {
			return nil, fmt.Errorf("agent %q: %w", s.Label, err)
		}
		e.Rebuilt = true
		if rebuilt != nil {
			own := map[string]bool{}
			for _, v := range s.Agent {
				own[v.Name] = true
			}
			for _, m := range rebuilt.Metrics() {
				if !own[m.Name] {
					e.set(Value{m.Name, m.Value, true})
				} else {
					// Its place is among the computed ones, its value comes below.
					e.set(Value{Name: m.Name})
				}
			}
			e.repeats(rebuilt.Repeats)
		}
	}
	for _, v := range s.Agent {
		e.set(Value(v))
	}
	if !s.Legacy {
		for _, r := range s.Repeats {
			e.Repeats = append(e.Repeats, savedRepeat(r))
		}
	}
	expected := -1
	at := map[rollout.Key]int{}
	for _, g := range s.Groups {
		if n, ok := g.Number("expected_num_rollouts"); ok && n.IsWhole() {
			expected = max(expected, int(clamp(n.Float())))
		}
		index, ok := g.Index("_ng_task_index")
		if !ok {
			continue
		}
		t := Task{Index: index, Rewards: func() []metrics.Number {
			list, _ := g.Rewards()
			return list
		}}
		t.Mean, t.Min, t.Max = some(g.Number("mean/reward")), some(g.Number("min/reward")), some(g.Number("max/reward"))
		if i, ok := at[index]; ok {
			e.Tasks[i] = t
			continue
		}
		at[index] = len(e.Tasks)
		e.Tasks = append(e.Tasks, t)
	}
	e.count(expected)
	return e, nil
}

// clamp keeps a count in the range of an int.
func clamp(x float64) float64 { return max(-1, min(x, math.MaxInt32)) }

// count decides how many repeats there are.
func (e *Entry) count(expected int) {
	switch {
	case expected >= 0:
		e.RepeatCount = expected
	case len(e.Repeats) > 0:
		e.RepeatCount = len(e.Repeats)
	}
}

func savedRepeat(r metrics.SavedRow) Repeat {
	d := Repeat{Values: map[string]float64{}}
	for _, v := range r.Values() {
		switch v.Name {
		case "sample_count":
			d.Sample = int(clamp(v.Number.Float()))
		case "missing_count":
			d.Missing = int(clamp(v.Number.Float()))
		default:
			d.Values[v.Name] = v.Number.Float()
		}
	}
	return d
}

// repeats takes over computed repeats. Only their means can be compared.
func (e *Entry) repeats(list []metrics.Repeat) {
	for i := range list {
		r := &list[i]
		d := Repeat{Sample: r.Sample, Missing: r.Missing, Values: make(map[string]float64, len(r.Columns))}
		for k := range r.Columns {
			d.Values["mean/"+r.Columns[k].Name] = r.Columns[k].Mean
		}
		e.Repeats = append(e.Repeats, d)
	}
}

// Derived makes an entry of computed metrics.
func Derived(m *metrics.Entry) *Entry {
	e := &Entry{Label: m.Label, Key: map[string]bool{}, RepeatCount: -1, Groups: m.Groups()}
	for _, v := range m.KeyMetrics() {
		e.Key[v.Name] = true
		e.set(Value{v.Name, v.Value, true})
	}
	for _, v := range m.Metrics() {
		e.set(Value{v.Name, v.Value, true})
	}
	e.repeats(m.Repeats)
	expected := -1
	for i := range m.Groups() {
		g := m.Group(i)
		expected = max(expected, g.Expected)
		t := Task{Index: g.Task, Rewards: func() []metrics.Number {
			list, _ := m.Rewards(i)
			return list
		}}
		if c := g.Stats.Column("reward"); c != nil {
			t.Mean, t.Min, t.Max = Optional{c.Mean, true}, some(c.Min, true), some(c.Max, true)
		}
		e.Tasks = append(e.Tasks, t)
	}
	e.count(expected)
	return e
}
