package projection

import (
	"errors"
	"fmt"
	"slices"

	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/jsontext"
	"github.com/rollscope/rollscope/core/modelcall"
	"github.com/rollscope/rollscope/core/perf"
	"github.com/rollscope/rollscope/core/rollout"
	"github.com/rollscope/rollscope/core/trajectory"
	"github.com/rollscope/rollscope/core/value"
)

// Captures finds the capture of a key.
type Captures interface {
	// Capture gives the content of the key's file, whether it is there, and whether the marker of an incomplete
	// capture is. The content is not changed and not kept beyond the row. The error is that of reading a file that is
	// there.
	Capture(key string) (data []byte, found, marker bool, err error)
}

// A Destination is the file that a projected row belongs in.
type Destination uint8

const (
	Nowhere Destination = iota
	Rollouts
	Failures
)

// The names of the two files.
const (
	RolloutsFile = "projected_rollouts.jsonl"
	FailuresFile = "projected_failures.jsonl"
)

// ErrUnwritable means that the reference could not write the row that comes out.
var ErrUnwritable = errors.New("the row cannot be written")

// mostNesting is how deep the rows that the reference writes can be nested, in arrays and objects.
const mostNesting = 254

// A Projector projects rows one after the other. Set the fields and call Row.
type Projector struct {
	Inputs        *Inputs
	Captures      Captures // nil: no calls are attached
	Observability bool     // ng_perf is written
	// Latency gives the measured milliseconds of a rollout, named by task and rollout index with a hyphen between, as
	// JSON; nil or empty where none is known.
	Latency func(name string) []byte

	reader  rollout.Reader
	input   Input
	calls   modelcall.Reader
	builder trajectory.Builder

	members []member
	fresh   attached
	bundle  []byte // its observations
	text    []byte // itself
	tall    int
}

// A member of the row that is being made: the text it was given, or else the value it came with.
type member struct {
	key   string
	text  []byte
	built *trajectory.Built
	value jsonscan.Value
}

// Row appends the projected row, without a line end. The error wraps [ErrUnwritable] where that is the reason.
func (p *Projector) Row(dst []byte, line *jsonl.Line) ([]byte, Destination, error) {
	row := p.reader.Read(line)
	if row.Problem != nil {
		return dst, Nowhere, fmt.Errorf("%s at byte %d", row.Problem.Reason, row.Problem.Offset)
	}
	if !p.Inputs.Open(&p.input, row) {
		return dst, Nowhere, fmt.Errorf("no materialized input has task %s and rollout %s", shown(row.TaskIndex), shown(row.RolloutIdx))
	}
	p.begin(row)
	names := p.identity(row)
	observed := row.Value.Get("ng_agent_observations")
	saved := row.Value.Get("ng_model_call_capture")
	class := row.Value.Get("_ng_failure_class")

	var fresh *attached
	if p.Captures != nil && real(row.Value, class) {
		key, err := names.Key()
		if err != nil {
			return dst, Nowhere, err
		}
		if key != "" {
			if fresh, err = p.attach(key, row, observed); err != nil {
				return dst, Nowhere, err
			}
		}
	}
	if observed.Exists() || saved.Exists() || fresh != nil || row.Trajectory.Exists() {
		built, err := p.project(row, fresh, observed, saved)
		if err != nil {
			return dst, Nowhere, err
		}
		if p.Observability && built != nil {
			if numbers, ok := perf.Of(built.Record); ok {
				if !numbers.Writable() {
					return dst, Nowhere, fmt.Errorf("%w: a sum of tokens is beyond 64 bits", ErrUnwritable)
				}
				p.set("ng_perf", numbers.AppendJSON(nil, p.latency(row)))
			}
		}
	}
	if row.Value.Get("_ng_no_persist").Truthy() {
		return dst, Nowhere, nil
	}
	start := len(dst)
	dst = p.append(dst)
	if p.tall > mostNesting/2 && nesting(dst[start:]) > mostNesting {
		return dst, Nowhere, fmt.Errorf("%w: it is nested deeper than %d levels", ErrUnwritable, mostNesting)
	}
	if !class.IsNull() {
		return dst, Failures, nil
	}
	return dst, Rollouts, nil
}

// real tells whether a row is the result of a rollout, as opposed to that of a failed request.
func real(row, class jsonscan.Value) bool {
	for _, failed := range [...]string{"agent_request_failed", "agent_run_error", "environment_server_failed"} {
		if class.Is(failed) {
			return false
		}
	}
	return !row.Get("_ng_dispatch_drained").Truthy()
}

// begin takes over the members of a raw result.
func (p *Projector) begin(row *rollout.Row) {
	p.members = p.members[:0]
	p.tall = row.Value.Height()
	p.calls.Reset()
	p.builder.Reset()
	repeats := value.Repeats(row.Value)
	for m := row.Value.Members(); m.Next(); {
		if repeats {
			if i := p.find(string(m.Key)); i >= 0 {
				p.members[i].value = m.Value
				continue
			}
		}
		p.members = append(p.members, member{key: string(m.Key), value: m.Value})
	}
}

func (p *Projector) find(key string) int {
	for i := range p.members {
		if p.members[i].key == key {
			return i
		}
	}
	return -1
}

func (p *Projector) set(key string, text []byte) {
	if i := p.find(key); i >= 0 {
		p.members[i].text = text
		return
	}
	p.members = append(p.members, member{key: key, text: text})
}

// write sets a member that is written straight into the row, since it is nearly all of it.
func (p *Projector) write(key string, built *trajectory.Built) {
	p.set(key, nil)
	p.members[p.find(key)].built = built
}

func (p *Projector) drop(key string) {
	if i := p.find(key); i >= 0 {
		p.members = append(p.members[:i], p.members[i+1:]...)
	}
}

// identity takes over what the input says of who the rollout is, and gives the names that the capture goes by.
func (p *Projector) identity(row *rollout.Row) modelcall.Names {
	names := modelcall.NamesOf(row)
	in := &p.input
	for _, m := range [...]struct {
		key  string
		from jsonscan.Value
		to   *jsonscan.Value
	}{
		{"_ng_attempt_index", in.Origin.Attempt, &names.Attempt},
		{"_ng_rollout_id", in.Origin.RolloutID, &names.RolloutID},
		{"agent_ref", in.Agent, nil},
	} {
		if m.from.Exists() {
			p.set(m.key, append([]byte(nil), m.from.Raw()...))
			if m.to != nil {
				*m.to = m.from
			}
		}
	}
	return names
}

func (p *Projector) latency(row *rollout.Row) []byte {
	if p.Latency == nil {
		return nil
	}
	n := modelcall.NamesOf(row)
	return p.Latency(string(n.AppendPair(nil)))
}

// append writes the row.
func (p *Projector) append(dst []byte) []byte {
	dst = append(dst, '{')
	for i := range p.members {
		m := &p.members[i]
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(jsontext.AppendQuoted(dst, m.key), ':')
		switch {
		case m.built != nil:
			dst = m.built.AppendJSON(slices.Grow(dst, m.built.Size()))
		case m.text != nil:
			dst = append(dst, m.text...)
		default:
			dst = value.AppendScanned(dst, m.value)
		}
	}
	return append(dst, '}')
}

// nesting counts the arrays and objects around the innermost one, itself included.
func nesting(text []byte) int {
	depth, most := 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			for i++; text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			depth++
			most = max(most, depth)
		case '}', ']':
			depth--
		}
	}
	return most
}

func shown(v jsonscan.Value) string {
	if !v.Exists() {
		return "absent"
	}
	const longest = 80
	raw := v.Raw()
	if len(raw) > longest {
		return string(raw[:longest]) + "…"
	}
	return string(raw)
}
