package rollout

import (
	"encoding/binary"

	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/tolerant"
)

// Recovered is what the tolerant reading makes of a refused line, so that a list can say what stands there. It is
// for eyes alone: verdicts, reports and means know nothing of it. The zero Recovered means that no record was found.
type Recovered struct {
	Records       int64  // on the line; more than one where objects are glued together
	Summary       string // what was changed
	Task, Rollout Key    // of the first record, none where it has no index or an odd one
	Name, Agent   string
	Reward        string // JSON text, as Facts has it
}

// Exists tells whether there is a record to show.
func (r *Recovered) Exists() bool { return r.Records > 0 }

// recovery is the second reading of a Reader, made when the first line is refused.
type recovery struct {
	tolerant tolerant.Reader
	reader   Reader
}

// Recover reads a line that Read has refused once more, tolerantly. Rows of other lines are not touched; the row
// that Read gave of this one stays valid.
func (r *Reader) Recover(line *jsonl.Line) Recovered {
	if line.TooLong || line.Length > tolerant.MaxLine {
		return Recovered{}
	}
	if r.recovery == nil {
		r.recovery = new(recovery)
	}
	result := r.recovery.tolerant.Read(line.Bytes)
	if len(result.Values) == 0 {
		return Recovered{}
	}
	first := result.Values[0]
	row := r.recovery.reader.Read(&jsonl.Line{Bytes: first, Length: int64(len(first)), Terminated: true})
	facts := row.Facts()
	found := Recovered{
		Records: int64(len(result.Values)), Summary: clip(result.Summary()),
		Name: facts.Name, Agent: facts.Agent, Reward: facts.Reward,
	}
	if v := row.TaskIndex; v.Exists() {
		found.Task = index(v).orNone()
	}
	if v := row.RolloutIdx; v.Exists() {
		found.Rollout = index(v).orNone()
	}
	return found
}

// orNone makes none of a key that no index rule accepts.
func (k Key) orNone() Key {
	if k.kind == keyBad {
		return Key{}
	}
	return k
}

func (r *Recovered) texts() [4]*string { return [...]*string{&r.Summary, &r.Name, &r.Agent, &r.Reward} }

func (r *Recovered) append(dst []byte) []byte {
	dst = binary.AppendVarint(dst, r.Records)
	dst = r.Rollout.append(r.Task.append(dst))
	for _, s := range r.texts() {
		dst = binary.AppendUvarint(dst, uint64(len(*s)))
		dst = append(dst, *s...)
	}
	return dst
}

func (r *Recovered) parse(b []byte) ([]byte, error) {
	n, size := binary.Varint(b)
	if size <= 0 || n <= 0 {
		return nil, errStored
	}
	r.Records, b = n, b[size:]
	var err error
	for _, k := range [...]*Key{&r.Task, &r.Rollout} {
		if b, err = k.parse(b); err != nil {
			return nil, err
		}
	}
	for _, s := range r.texts() {
		if *s, b, err = parseText(b); err != nil {
			return nil, err
		}
	}
	return b, nil
}
