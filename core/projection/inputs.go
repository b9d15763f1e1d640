package projection

import (
	"errors"
	"fmt"

	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/rollout"
	"github.com/rollscope/rollscope/core/trajectory"
	"github.com/rollscope/rollscope/core/value"
)

// ErrInput means that a materialized row cannot be read, so that its file is refused.
var ErrInput = errors.New("materialized input is refused")

// Inputs are the materialized inputs of a run: of each the few members that go into a result.
type Inputs struct {
	rows map[string][]byte
}

// inputMembers are what is kept of an input row.
var inputMembers = [...]string{
	"_ng_task_index", "_ng_rollout_index", "_ng_rollout_id", "_ng_attempt_index", "agent_ref", "task_id", "problem_id", "instance_id",
}

// ReadInputs reads materialized inputs line by line; add takes each physical line with its number.
func ReadInputs(lines func(add func(line []byte, number int) error) error) (*Inputs, error) {
	in := &Inputs{rows: map[string][]byte{}}
	var scanner jsonscan.Scanner
	err := lines(func(line []byte, number int) error {
		if jsonl.Blank(line) {
			return nil
		}
		v, err := scanner.Scan(jsonl.Trim(line))
		if err != nil {
			return fmt.Errorf("line %d: %w: %w", number, ErrInput, err)
		}
		if !v.IsObject() {
			return fmt.Errorf("line %d: %w: the row is no object", number, ErrInput)
		}
		in.add(v)
		return nil
	})
	return in, err
}

// add keeps the members of a row that are wanted. A later row of the same indices takes the place of an earlier one.
func (in *Inputs) add(v jsonscan.Value) {
	var kept []byte
	for _, name := range inputMembers {
		if found := v.Get(name); found.Exists() {
			kept = append(append(append(kept, ",\""...), name...), `":`...)
			kept = value.AppendScanned(kept, found)
		}
	}
	if len(kept) == 0 {
		kept = []byte{','}
	}
	kept[0] = '{'
	in.rows[pair(v.Get("_ng_task_index"), v.Get("_ng_rollout_index"))] = append(kept, '}')
}

// pair is the identity of a row: numbers of one value are one, texts are not numbers.
func pair(task, repeat jsonscan.Value) string {
	return string(value.AppendKey(value.AppendKey(nil, value.Of(task)), value.Of(repeat)))
}

// Len is the number of rows.
func (in *Inputs) Len() int { return len(in.rows) }

// An Input is an opened row of the inputs. It is valid until it is opened again.
type Input struct {
	Origin  trajectory.Origin
	Agent   jsonscan.Value // agent_ref
	scanner jsonscan.Scanner
}

// Open finds the input of a result; ok is false if there is none.
func (in *Inputs) Open(r *Input, row *rollout.Row) (ok bool) {
	text, ok := in.rows[pair(row.TaskIndex, row.RolloutIdx)]
	if !ok {
		return false
	}
	v, err := r.scanner.Scan(text)
	if err != nil {
		return false
	}
	r.Origin, r.Agent = trajectory.Origin{}, jsonscan.Value{}
	for m := v.Members(); m.Next(); {
		switch string(m.Key) {
		case "_ng_task_index":
			r.Origin.Task = m.Value
		case "_ng_rollout_index":
			r.Origin.Rollout = m.Value
		case "_ng_rollout_id":
			r.Origin.RolloutID = m.Value
		case "_ng_attempt_index":
			r.Origin.Attempt = m.Value
		case "agent_ref":
			r.Agent = m.Value
		case "task_id":
			r.Origin.TaskID = m.Value
		case "problem_id":
			r.Origin.ProblemID = m.Value
		case "instance_id":
			r.Origin.InstanceID = m.Value
		}
	}
	return true
}
