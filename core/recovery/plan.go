package recovery

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"slices"

	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/outcome"
	"github.com/rollscope/rollscope/core/records"
	"github.com/rollscope/rollscope/core/value"
)

// A Sum describes a file after a repair of its tail.
type Sum struct {
	Bytes, Lines int64 // Lines counts line ends
	SHA256       string
}

// A Plan is what a resume would run, in the order in which it would dispatch it.
type Plan struct {
	Remaining []Remaining
	Completed int64 // rows of the rollouts file, copies included
	Results   Sum
	Failures  *Sum // nil without a sidecar
	Inputs    int64
	Counts    Counts
}

// Counts says why inputs are run or not. They add up to the inputs.
type Counts struct {
	Done, Terminal, Maxed int64 // not run
	First, Again          int64 // run: never failed, failed before
}

// A Remaining is a rollout that would be run. Values are those of the input row; an absent one is not there.
type Remaining struct {
	Task, Rollout, Attempt, Reuse value.Value
}

// Document is the plan as its file has it.
func (p *Plan) Document() value.Value {
	remaining := make([]value.Value, len(p.Remaining))
	for i, r := range p.Remaining {
		members := []value.Member{}
		for _, m := range []value.Member{
			value.M("_ng_task_index", r.Task), value.M("_ng_rollout_index", r.Rollout), value.M("_ng_attempt_index", r.Attempt), value.M("reuse_cached_deliverable", r.Reuse)} {
			if m.Value.Exists() {
				members = append(members, m)
			}
		}
		remaining[i] = value.Object(members...)
	}
	failures := value.Null
	if p.Failures != nil {
		failures = p.Failures.document()
	}
	return value.Object(value.M("remaining", value.List(remaining...)), value.M("completed", value.Int(p.Completed)),
		value.M("rollouts_after", p.Results.document()), value.M("failures_after", failures))
}

// File is the text of the plan's file.
func (p *Plan) File() []byte { return p.Document().AppendIndented(nil, false) }

func (s *Sum) document() value.Value {
	return value.Object(value.M("bytes", value.Int(s.Bytes)), value.M("lines", value.Int(s.Lines)), value.M("sha256", value.Text(s.SHA256)))
}

// A Tail sums up a file as it is after its tail was repaired (spec run-folder §4.4). Feed it all lines in order.
type Tail struct {
	scanner jsonscan.Scanner
	hash    hash.Hash
	sum     Sum
}

// Line takes the next line. kept tells whether the repaired file has it.
func (t *Tail) Line(l *jsonl.Line) (kept bool) {
	if !l.Terminated {
		if _, err := t.scanner.Scan(l.Bytes); err != nil {
			return false
		}
	}
	t.start()
	t.hash.Write(l.Bytes)
	t.hash.Write([]byte{'\n'})
	t.sum.Bytes += l.Length + 1
	t.sum.Lines++
	return true
}

func (t *Tail) start() {
	if t.hash == nil {
		t.hash = sha256.New()
	}
}

// Sum is the sum of what was fed.
func (t *Tail) Sum() Sum {
	t.start()
	s := t.sum
	s.SHA256 = hex.EncodeToString(t.hash.Sum(nil))
	return s
}

// A Refusal says at which line the reference stops.
type Refusal struct {
	File   records.File
	Line   int64
	Reason string
}

// Error gives the reason and the line; the name of the file is for the caller to add.
func (r *Refusal) Error() string { return fmt.Sprintf("line %d: %s", r.Line, r.Reason) }

// A Planner plans the resume of a run without a manifest (spec recovery §6.1). Feed it all lines of the inputs, then
// of the rollouts file, then of the sidecar.
type Planner struct {
	Settings     records.Settings
	LongestFirst bool

	scanner           jsonscan.Scanner
	inputs            []Remaining
	keys              []int32 // of the inputs
	at                map[string]int32
	states            []state
	results, failures Tail
	sidecar           bool
	completed         int64
	number            int64 // of the text line among the inputs
}

// A state is what is known of one pair of indices.
type state struct {
	expected, done, terminal, reuse bool
	failures                        int64
	elapsed                         float64
}

func (p *Planner) key(row jsonscan.Value) (i int32, task, rollout value.Value, problem string) {
	t, r := row.Get("_ng_task_index"), row.Get("_ng_rollout_index")
	switch {
	case !t.Exists() || !r.Exists():
		return 0, task, rollout, "the row lacks its task or rollout index"
	case t.IsArray() || t.IsObject() || r.IsArray() || r.IsObject():
		return 0, task, rollout, "an index is a list or an object"
	}
	task, rollout = value.Of(t), value.Of(r)
	key := string(value.AppendKey(append(value.AppendKey(nil, task), ','), rollout))
	i, ok := p.at[key]
	if !ok {
		if p.at == nil {
			p.at = map[string]int32{}
		}
		i = int32(len(p.states))
		p.states = append(p.states, state{})
		p.at[key] = i
	}
	return i, task, rollout, ""
}

// Input takes the next line of the materialized inputs, which the reference reads as text: CR ends a line as well.
func (p *Planner) Input(l *jsonl.Line) error {
	text := l.Bytes
	if n := len(text); n > 0 && text[n-1] == '\r' {
		text = text[:n-1]
	}
	for more := true; more; {
		line := text
		if end := bytes.IndexByte(text, '\r'); end >= 0 {
			line, text = text[:end], text[end+1:]
		} else {
			more = false
		}
		p.number++
		if l.TooLong {
			return &Refusal{records.Inputs, p.number, "the line is too long"}
		}
		row, err := p.scanner.Scan(line)
		if err != nil {
			return &Refusal{records.Inputs, p.number, err.Error()}
		}
		if !row.IsObject() {
			return &Refusal{records.Inputs, p.number, "the row is no object"}
		}
		i, task, rollout, problem := p.key(row)
		if problem != "" {
			return &Refusal{records.Inputs, p.number, problem}
		}
		p.states[i].expected = true
		p.keys = append(p.keys, i)
		p.inputs = append(p.inputs, Remaining{task, rollout, value.Of(row.Get("_ng_attempt_index")), value.Of(row.Get("reuse_cached_deliverable"))})
	}
	return nil
}

// Result takes the next line of the rollouts file.
func (p *Planner) Result(l *jsonl.Line) error {
	row, blank, err := p.row(&p.results, records.Results, l)
	if err != nil || blank {
		return err
	}
	if !row.IsObject() {
		return &Refusal{records.Results, l.Number, "the row is no object"}
	}
	i, _, _, problem := p.key(row)
	if problem == "" && !p.states[i].expected {
		problem = "the row is not among the materialized inputs"
	}
	if problem != "" {
		return &Refusal{records.Results, l.Number, problem}
	}
	p.states[i].done = true
	p.completed++
	return nil
}

// Sidecar says that there is a failures sidecar, even if it is empty.
func (p *Planner) Sidecar() { p.sidecar = true }

// Failure takes the next line of the failures sidecar.
func (p *Planner) Failure(l *jsonl.Line) error {
	p.sidecar = true
	row, blank, err := p.row(&p.failures, records.Failures, l)
	if err != nil || blank {
		return err
	}
	switch row.Kind() {
	case jsonscan.Array, jsonscan.String:
		return nil
	case jsonscan.Object:
	default:
		return &Refusal{records.Failures, l.Number, "the row is " + row.Kind().String() + ", not an object"}
	}
	if !row.Get("_ng_task_index").Exists() || !row.Get("_ng_rollout_index").Exists() {
		return nil
	}
	i, _, _, problem := p.key(row)
	if problem != "" {
		return &Refusal{records.Failures, l.Number, problem}
	}
	s := &p.states[i]
	s.failures++
	s.terminal = s.terminal || outcome.Terminal(row.Get("_ng_failure_class").Text(), row.Get("_ng_failure_terminal").Truthy(), p.Settings.Override)
	s.reuse = s.reuse || row.Get("reuse_cached_deliverable").Truthy()
	seconds, _ := outcome.Elapsed(row.Get("elapsed_seconds"), row.Get("response"))
	s.elapsed = max(s.elapsed, seconds)
	return nil
}

// row reads a line of a file whose tail is repaired first.
func (p *Planner) row(t *Tail, file records.File, l *jsonl.Line) (row jsonscan.Value, blank bool, err error) {
	if l.TooLong {
		return row, false, &Refusal{file, l.Number, "the line is too long"}
	}
	if !t.Line(l) || jsonl.Blank(l.Bytes) {
		return row, true, nil
	}
	if row, err = p.scanner.Scan(jsonl.Trim(l.Bytes)); err != nil {
		return row, false, &Refusal{file, l.Number, err.Error()}
	}
	return row, false, nil
}

// Plan is the plan, once all lines are in.
func (p *Planner) Plan() *Plan {
	plan := &Plan{Remaining: []Remaining{}, Completed: p.completed, Results: p.results.Sum(), Inputs: int64(len(p.inputs))}
	if p.sidecar {
		sum := p.failures.Sum()
		plan.Failures = &sum
	}
	elapsed := []float64{}
	for n, row := range p.inputs {
		s := &p.states[p.keys[n]]
		switch {
		case s.done:
			plan.Counts.Done++
			continue
		case s.terminal:
			plan.Counts.Terminal++
			continue
		case s.failures > 0 && s.failures >= p.Settings.MaxAttempts:
			plan.Counts.Maxed++
			continue
		case s.failures > 0:
			plan.Counts.Again++
			row.Attempt = value.Int(s.failures)
		default:
			plan.Counts.First++
		}
		if s.reuse {
			row.Reuse = value.Bool(true)
		}
		plan.Remaining = append(plan.Remaining, row)
		elapsed = append(elapsed, s.elapsed)
	}
	if p.LongestFirst {
		order := make([]int, len(elapsed))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int {
			switch x, y := elapsed[a], elapsed[b]; {
			case x > y:
				return -1
			case x < y:
				return 1
			}
			return 0
		})
		sorted := make([]Remaining, len(order))
		for i, from := range order {
			sorted[i] = plan.Remaining[from]
		}
		plan.Remaining = sorted
	}
	return plan
}

// Indexed fills in what a resume of an indexed run would run.
func (p *Plan) Indexed(ix *records.Index, s records.Settings, longestFirst bool) {
	p.Remaining, p.Counts, p.Inputs = []Remaining{}, Counts{}, int64(ix.Len())
	list := ix.Pending(s)
	if longestFirst {
		ix.LongestFirst(list)
	}
	for _, next := range list {
		r := ix.Rollout(next.Rollout, s)
		row := Remaining{Attempt: value.Whole(next.Attempt)}
		row.Task, _ = value.Strict([]byte(r.Task))
		row.Rollout, _ = value.Strict([]byte(r.Index))
		if next.Reuse {
			row.Reuse = value.Bool(true)
		}
		p.Remaining = append(p.Remaining, row)
	}
	for i := range ix.Len() {
		switch r := ix.Rollout(i, s); {
		case r.Disposition == records.Success || r.Disposition == records.Omission:
			p.Counts.Done++
		case !r.Retryable:
			p.Counts.Terminal++
		case r.Exhausted:
			p.Counts.Maxed++
		case r.HasLatest:
			p.Counts.Again++
		default:
			p.Counts.First++
		}
	}
}
