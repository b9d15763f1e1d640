package rollout

import (
	"encoding/binary"
	"fmt"

	"github.com/rollscope/rollscope/core/jsonscan"
)

// Facts are what a table shows of a row besides its identity: a few values, copied so that they outlive it.
// Numbers keep their text as written; "" means the value is missing.
type Facts struct {
	Name       string // of the task, where the row or its trajectory gives one
	Agent      string // agent_ref.name
	Reward     string // JSON text of reward, whatever its kind
	Attempt    string // JSON text of _ng_attempt_index
	Masked     bool   // mask_sample is truthy
	Prompt     string // tokens by the row's own usage
	Completion string
	Output     int64  // items in response.output, −1 if it is no array
	Turns      int64  // in the saved trajectory, −1 if it has no list of them
	Calls      int64  // model calls in the saved trajectory, −1 if it has no list of them
	Latency    string // JSON text of ng_perf.total_latency_ms, "" unless it is a number
	Attached   bool   // model calls were captured and attached to the row
	Timed      bool   // it says how long it took: ng_perf is there, or the row tells its seconds

	// Of a line that could not be read.
	Class   string // ErrorDecode or ErrorObject
	Reason  string
	Refused int64 // offset of the first byte that cannot stand
	Torn    bool

	Recovered Recovered // what stands there all the same, see [Reader.Recover]
}

// longest bounds a copied text; a task name of a megabyte stays in its file.
const longest = 256

// Facts copies them from the row.
func (r *Row) Facts() Facts {
	f := Facts{Output: -1, Turns: -1, Calls: -1}
	if p := r.Problem; p != nil {
		f.Class, f.Reason, f.Refused, f.Torn = p.Class, p.Reason, p.Offset, r.Torn
		return f
	}
	f.Agent = bounded(r.Agent.Get("name"))
	if r.Reward.Exists() {
		f.Reward = clip(string(r.Reward.Raw()[:min(r.Reward.Len(), longest+1)]))
	}
	if r.Attempt.Exists() {
		f.Attempt = clip(string(r.Attempt.Raw()[:min(r.Attempt.Len(), longest+1)]))
	}
	f.Masked = r.Mask.Truthy()
	u := r.Usage()
	if u.HasPrompt {
		f.Prompt = u.Prompt.String()
	}
	if u.HasCompletion {
		f.Completion = u.Completion.String()
	}
	f.Output = elements(r.Response.Get("output"))
	f.Turns = elements(r.Trajectory.Get("turns"))
	f.Calls = elements(r.Trajectory.Get("model_calls"))
	if v := r.Perf.Get("total_latency_ms"); v.Kind() == jsonscan.Int || v.Kind() == jsonscan.Float {
		f.Latency = clip(string(v.Raw()[:min(v.Len(), longest+1)]))
	}
	f.Attached = elements(r.Value.Get("ng_model_call_capture").Get("calls")) > 0
	f.Timed = r.Perf.IsObject() || !r.Value.Get("elapsed_seconds").IsNull() || !r.Response.Get("metadata").Get("elapsed_seconds").IsNull()
	for _, v := range [...]jsonscan.Value{r.TaskID, r.ProblemID, r.InstanceID, r.Trajectory.Get("task_id")} {
		if v.IsNull() {
			continue
		}
		if v.IsString() {
			f.Name = bounded(v)
		} else {
			f.Name = clip(string(AppendText(nil, v)))
		}
		break
	}
	return f
}

// elements counts those of an array, −1 for every other kind.
func elements(v jsonscan.Value) int64 {
	if !v.IsArray() {
		return -1
	}
	n, _ := v.Parts()
	return int64(n)
}

// bounded copies the start of a string.
func bounded(v jsonscan.Value) string {
	if v.Len() <= longest {
		return v.Text()
	}
	return clip(v.Text())
}

// clip shortens a text at the start of a character and says so with an ellipsis.
func clip(s string) string {
	if len(s) <= longest {
		return s
	}
	cut := longest
	for cut > 0 && s[cut]&0xC0 == 0x80 {
		cut--
	}
	return s[:cut] + "…"
}

// Append stores the facts.
func (f *Facts) Append(dst []byte) []byte {
	var flags byte
	if f.Masked {
		flags |= 1
	}
	if f.Torn {
		flags |= 2
	}
	if f.Recovered.Exists() {
		flags |= 4
	}
	if f.Attached {
		flags |= 8
	}
	if f.Timed {
		flags |= 16
	}
	dst = append(dst, flags)
	for _, n := range f.numbers() {
		dst = binary.AppendVarint(dst, *n)
	}
	for _, s := range f.texts() {
		dst = binary.AppendUvarint(dst, uint64(len(*s)))
		dst = append(dst, *s...)
	}
	if f.Recovered.Exists() {
		dst = f.Recovered.append(dst)
	}
	return dst
}

func (f *Facts) numbers() [4]*int64 {
	return [...]*int64{&f.Output, &f.Turns, &f.Calls, &f.Refused}
}

func (f *Facts) texts() [9]*string {
	return [...]*string{&f.Name, &f.Agent, &f.Reward, &f.Attempt, &f.Prompt, &f.Completion, &f.Latency, &f.Class, &f.Reason}
}

// ParseFacts reads what Append stored and returns the rest of b.
func ParseFacts(b []byte) (f Facts, rest []byte, err error) {
	if len(b) == 0 {
		return f, nil, fmt.Errorf("facts: %w", errStored)
	}
	flags := b[0]
	f.Masked, f.Torn, f.Attached, f.Timed = flags&1 != 0, flags&2 != 0, flags&8 != 0, flags&16 != 0
	b = b[1:]
	for _, n := range f.numbers() {
		v, size := binary.Varint(b)
		if size <= 0 {
			return f, nil, fmt.Errorf("facts: %w", errStored)
		}
		*n, b = v, b[size:]
	}
	for _, s := range f.texts() {
		if *s, b, err = parseText(b); err != nil {
			return f, nil, fmt.Errorf("facts: %w", err)
		}
	}
	if flags&4 != 0 {
		if b, err = f.Recovered.parse(b); err != nil {
			return f, nil, fmt.Errorf("facts: %w", err)
		}
	}
	return f, b, nil
}
