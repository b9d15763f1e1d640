package records

import (
	"github.com/rollscope/rollscope/core/finding"
	"github.com/rollscope/rollscope/core/outcome"
	"github.com/rollscope/rollscope/core/value"
)

// Legacy is the reading of versions 0.5.1 and 0.7.0 (spec records §10.2): a rollout is a pair of indices, whatever is
// in the rollouts file is done, and every sidecar row is an attempt.
type Legacy struct {
	Duplicates []finding.Finding // results that are there twice

	place  Place
	names  *Names
	at     map[string]int32
	keys   pages[legacyKey]
	inputs pages[legacyInput]
	odd    map[int32][2]string // JSON of both indices of inputs whose id does not hold them

	rows, done, failed int64 // sidecar rows, keys with a result, keys with a failure
}

// A legacyKey is one pair of indices.
type legacyKey struct {
	result           int64 // line of its first result, 0 for none
	failures         int32
	class, reason    int32 // of its last failure
	agent            int32 // of its last input that names one
	input, done      bool
	final, finalOver bool // any failure is terminal; so under the override
	skip, skipOver   bool // the last failure is a final skip; so under the override
	reuse            bool // some failure left a deliverable that is used again
}

// A legacyInput is one row of the materialized inputs.
type legacyInput struct {
	id       string // empty if there is none that is valid
	line     int64
	key      int32
	agent    int32
	split    int32
	routable bool
}

// NewLegacy starts a reading.
func NewLegacy(place Place, names *Names) *Legacy {
	return &Legacy{place: place, names: names, at: map[string]int32{}, odd: map[int32][2]string{}}
}

func (l *Legacy) key(row *Row) *legacyKey { return l.keys.at(l.number(row)) }

func (l *Legacy) number(row *Row) int32 {
	text := Pair(row.Task, row.Rollout)
	i, ok := l.at[text]
	if !ok {
		i = l.keys.add(legacyKey{agent: noAgent})
		l.at[text] = i
	}
	return i
}

// Keyed tells whether both indices are there, null or not.
func (r *Row) Keyed() bool { return len(r.Task) > 0 && len(r.Rollout) > 0 }

// Input takes the next row of the materialized inputs. All inputs come before the other rows.
func (l *Legacy) Input(row *Row) {
	in := legacyInput{id: string(row.ID), line: row.Line, key: l.number(row), agent: noAgent, routable: row.Is(Routable)}
	if row.Is(AgentName) {
		in.agent = l.names.Number(row.Agent)
	}
	n := len(row.Task)
	if n > 0 && n+1+len(row.Rollout) == len(in.id) && in.id[:n] == string(row.Task) && in.id[n] == '-' && in.id[n+1:] == string(row.Rollout) {
		in.split = int32(n)
	} else {
		l.odd[int32(l.inputs.len())] = [2]string{string(row.Task), string(row.Rollout)}
	}
	k := l.keys.at(in.key)
	k.input = true
	if in.agent >= 0 {
		k.agent = in.agent
	}
	l.inputs.add(in)
}

// Add takes the next row of the sidecar or of the rollouts file.
func (l *Legacy) Add(row *Row) {
	if row.Evidence != outcome.NoEvidence || !row.Keyed() {
		return
	}
	k := l.key(row)
	if row.File == Results {
		if k.done {
			f := row.At(finding.New(finding.DuplicateResult, l.place.Run, l.place.Results, value.M("first_line", value.Int(k.result))))
			l.Duplicates = append(l.Duplicates, f)
			return
		}
		k.done, k.result = true, row.Line
		l.done++
		return
	}
	l.rows++
	if k.failures == 0 {
		l.failed++
	}
	k.failures++
	class, _ := parsed(row.Class).Text()
	final, over := outcome.Terminal(class, row.Is(Terminal), false), outcome.Terminal(class, row.Is(Terminal), true)
	k.final, k.finalOver = k.final || final, k.finalOver || over
	k.reuse = k.reuse || row.Is(Reuse)
	k.class, k.reason = l.names.Number(row.Class), l.names.Number(row.Reason)
	k.skip, k.skipOver = class == outcome.Skipped && final, class == outcome.Skipped && over
}

// Expects tells whether the indices of a row are among the inputs.
func (l *Legacy) Expects(row *Row) bool {
	i, ok := l.at[Pair(row.Task, row.Rollout)]
	return ok && l.keys.at(i).input
}

// AgentOf is the agent of a row: what it names itself, else what the input with its indices names. ok is false if it
// names one in a shape that is none, or neither names one.
func (l *Legacy) AgentOf(row *Row) (agent string, ok bool) {
	switch {
	case row.Is(AgentName):
		return string(row.Agent), true
	case row.Is(AgentRef):
		return "", false
	}
	i, ok := l.at[Pair(row.Task, row.Rollout)]
	if !ok || l.keys.at(i).agent < 0 {
		return "", false
	}
	return l.names.Text(l.keys.at(i).agent), true
}

// Numbers are the sums of a reading.
type Numbers struct {
	Done        int64 // keys with a result
	FailureRows int64
	FailureKeys int64
	Terminal    int64 // keys of which any failure is terminal
	Maxed       int64 // keys with as many failures as are allowed
	// Of a run with materialized inputs.
	Inputs     int64 // rows
	ToRun      int64 // inputs that a resume would run
	Imputable  int64 // keys without result and failure whose inputs name an agent or a server
	Unroutable int64 // such keys whose inputs name none
}

// Numbers sums up under some settings.
func (l *Legacy) Numbers(s Settings) Numbers {
	n := Numbers{Done: l.done, FailureRows: l.rows, FailureKeys: l.failed, Inputs: int64(l.inputs.len())}
	for i := range int32(l.keys.len()) {
		k := l.keys.at(i)
		if k.terminal(s) {
			n.Terminal++
		}
		if k.maxed(s) {
			n.Maxed++
		}
	}
	seen := make([]bool, l.keys.len())
	for i := range int32(l.inputs.len()) {
		in := l.inputs.at(i)
		k := l.keys.at(in.key)
		if !k.done && !k.terminal(s) && !k.maxed(s) {
			n.ToRun++
		}
		if k.done || k.failures > 0 || seen[in.key] {
			continue
		}
		seen[in.key] = true
		if in.routable {
			n.Imputable++
		} else {
			n.Unroutable++
		}
	}
	return n
}

func (k *legacyKey) terminal(s Settings) bool {
	if s.Override {
		return k.finalOver
	}
	return k.final
}

func (k *legacyKey) maxed(s Settings) bool {
	return k.failures > 0 && int64(k.failures) >= s.MaxAttempts
}

// Runs tells whether a resume by the old reading would run the rollout with a pair of indices, given as JSON.
func (l *Legacy) Runs(task, index string, s Settings) bool {
	i, ok := l.at[Pair(task, index)]
	if !ok {
		return false
	}
	k := l.keys.at(i)
	return k.input && !k.done && !k.terminal(s) && !k.maxed(s)
}

// An Input is a row of the materialized inputs with what the old reading knows of it.
type Input struct {
	ID              string // empty if there is none that is valid
	Task, Index     string // JSON, empty when absent
	Agent           string
	HasAgent        bool
	Line            int64
	Done            bool
	Failures        int64
	Terminal, Maxed bool
	Skip            bool   // the last failure is a final skip
	Reuse           bool   // some failure left a deliverable that is used again
	Class, Reason   string // of the last failure; class as JSON
}

// Inputs walks the materialized inputs under some settings.
func (l *Legacy) Inputs(s Settings, f func(Input)) {
	for i := range int32(l.inputs.len()) {
		in := l.inputs.at(i)
		k := l.keys.at(in.key)
		r := Input{
			ID: in.id, Line: in.line, Done: k.done, Failures: int64(k.failures), Terminal: k.terminal(s), Maxed: k.maxed(s), Skip: k.skip,
			Reuse: k.reuse, Class: l.names.Text(k.class), Reason: l.names.Text(k.reason),
		}
		if s.Override {
			r.Skip = k.skipOver
		}
		if in.split > 0 {
			r.Task, r.Index = in.id[:in.split], in.id[in.split+1:]
		} else {
			both := l.odd[i]
			r.Task, r.Index = both[0], both[1]
		}
		if in.agent >= 0 {
			r.Agent, r.HasAgent = l.names.Text(in.agent), true
		}
		f(r)
	}
}
