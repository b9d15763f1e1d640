package rollout

import (
	"strconv"

	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/jsonscan"
)

// A Row is one non-blank line of a rollouts file, read or refused.
type Row struct {
	Line   int64 // physical line from 1, counted within what the caller reads
	Offset int64 // of the line's first byte in its source
	Length int64 // of the line without its line end
	Lead   int64 // bytes of white space before the row's text; offsets of spans count from behind them
	Torn   bool  // the last line of its source, cut and without a line end

	// Problem tells why the line could not be read; nil for a readable row. All values below are absent then.
	Problem *Problem

	Value      jsonscan.Value // the whole row, an object
	TaskIndex  jsonscan.Value // _ng_task_index
	RolloutIdx jsonscan.Value // _ng_rollout_index
	Stage      jsonscan.Value // stage_index
	RolloutID  jsonscan.Value // _ng_rollout_id
	Attempt    jsonscan.Value // _ng_attempt_index
	Reward     jsonscan.Value // reward
	Mask       jsonscan.Value // mask_sample
	Agent      jsonscan.Value // agent_ref
	Response   jsonscan.Value // response
	Trajectory jsonscan.Value // ng_trajectory
	Perf       jsonscan.Value // ng_perf
	Params     jsonscan.Value // responses_create_params
	TaskID     jsonscan.Value // task_id
	ProblemID  jsonscan.Value // problem_id
	InstanceID jsonscan.Value // instance_id
}

// The classes of a refused line, as reports name them (spec health §3).
const (
	ErrorDecode = "JSONDecodeError" // no JSON value
	ErrorObject = "ValueError"      // a value, but not an object
)

// ReasonTooLong is the reason of a line beyond what its reader holds at once.
const ReasonTooLong = "line is too long to be read here"

// A Problem says why a line cannot be read as a row.
type Problem struct {
	Class  string // ErrorDecode or ErrorObject
	Offset int64  // of the first byte that cannot stand, in the source
	Reason string // short, for people
}

// A Reader turns lines into rows and reuses its memory: a row is valid until the next call of Read.
type Reader struct {
	scanner  jsonscan.Scanner
	row      Row
	recovery *recovery
}

// Read reads one non-blank line. It never fails: a refused line gives a Row with a Problem.
func (r *Reader) Read(line *jsonl.Line) *Row {
	r.row = Row{Offset: line.Offset, Length: line.Length}
	row := &r.row
	if line.TooLong {
		row.Problem = &Problem{Class: ErrorDecode, Offset: line.Offset, Reason: ReasonTooLong}
		return row
	}
	text := jsonl.Trim(line.Bytes)
	lead := int64(leading(line.Bytes))
	row.Lead = lead
	value, err := r.scanner.Scan(text)
	if err != nil {
		refusal := err.(*jsonscan.Error)
		row.Problem = &Problem{Class: ErrorDecode, Offset: line.Offset + lead + int64(refusal.Offset), Reason: reason(refusal)}
		row.Torn = !line.Terminated
		return row
	}
	if !value.IsObject() {
		row.Problem = &Problem{Class: ErrorObject, Offset: line.Offset + lead, Reason: "the row is " + article(value.Kind()) + ", not an object"}
		return row
	}
	row.Value = value
	m := value.Members() // in front of the loop: a variable of it is copied every round
	for m.Next() {
		switch string(m.Key) {
		case "_ng_task_index":
			row.TaskIndex = m.Value
		case "_ng_rollout_index":
			row.RolloutIdx = m.Value
		case "_ng_rollout_id":
			row.RolloutID = m.Value
		case "_ng_attempt_index":
			row.Attempt = m.Value
		case "stage_index":
			row.Stage = m.Value
		case "reward":
			row.Reward = m.Value
		case "mask_sample":
			row.Mask = m.Value
		case "agent_ref":
			row.Agent = m.Value
		case "response":
			row.Response = m.Value
		case "responses_create_params":
			row.Params = m.Value
		case "ng_trajectory":
			row.Trajectory = m.Value
		case "ng_perf":
			row.Perf = m.Value
		case "task_id":
			row.TaskID = m.Value
		case "problem_id":
			row.ProblemID = m.Value
		case "instance_id":
			row.InstanceID = m.Value
		}
	}
	return row
}

// reason says why a text is refused, without the place.
func reason(e *jsonscan.Error) string {
	if e.Count > 0 {
		return strconv.Itoa(e.Count) + " " + e.Reason
	}
	return e.Reason
}

// leading counts the bytes Trim takes from the front.
func leading(b []byte) int {
	n := 0
	for n < len(b) && jsonl.Blank(b[n:n+1]) {
		n++
	}
	return n
}

func article(k jsonscan.Kind) string {
	switch k {
	case jsonscan.Int, jsonscan.Array:
		return "an " + k.String()
	case jsonscan.Null:
		return "null"
	}
	return "a " + k.String()
}

// Usage is the row's own count of tokens, from response.usage (spec health §6).
type Usage struct {
	Prompt, Completion       jsonscan.Integer
	HasPrompt, HasCompletion bool
}

// Usage reads the row's own token counts. Only whole numbers from 0 on count; everything else is missing.
func (r *Row) Usage() Usage {
	var u Usage
	if !r.Response.IsObject() {
		return u
	}
	var input, prompt, output, completion jsonscan.Value
	for m := r.Response.Get("usage").Members(); m.Next(); {
		switch string(m.Key) {
		case "input_tokens":
			input = m.Value
		case "prompt_tokens":
			prompt = m.Value
		case "output_tokens":
			output = m.Value
		case "completion_tokens":
			completion = m.Value
		}
	}
	u.Prompt, u.HasPrompt = count(input, prompt)
	u.Completion, u.HasCompletion = count(output, completion)
	return u
}

// count takes the first value that is there at all, even when it is null.
func count(first, second jsonscan.Value) (jsonscan.Integer, bool) {
	if !first.Exists() {
		first = second
	}
	n, ok := first.Integer()
	if !ok || n.Negative {
		return jsonscan.Integer{}, false
	}
	return n, true
}
