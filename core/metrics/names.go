package metrics

import (
	"encoding/binary"
	"slices"

	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/jsontext"
)

// dictionary holds the names of fields that most rows have. A digest has their position in one byte instead of the
// name. Names may be added at the end; any other change needs a new version of the digest.
var dictionary = [...]string{
	"reward", "input_tokens", "output_tokens", "total_tokens", "_ng_task_index", "_ng_rollout_index", "mask_sample",
	"_ng_attempt_index", "token_usage_version", "prompt_tokens", "completion_tokens", "agent_ref", "response",
	"responses_create_params", "ng_trajectory", "ng_perf", "ng_model_call_capture", "_ng_environment_server",
	"task_source", "extracted_answer", "expected_answer", "library_reward", "judge_evaluations", "num_turns",
	"score", "correct", "resolved", "duration", "question", "metadata", "verifier_metadata", "id", "uuid",
	"stage_index", "_ng_rollout_id", "ng_agent_observations", "category", "difficulty", "task_id", "instance_id",
}

var dictionaryAt = func() map[string]int {
	at := make(map[string]int, len(dictionary))
	for i, name := range dictionary {
		at[name] = i
	}
	return at
}()

// appendName stores the name of a field.
func appendName(dst, name []byte) []byte {
	if i, ok := dictionaryAt[string(name)]; ok {
		return binary.AppendUvarint(dst, uint64(i)+1)
	}
	return appendText(append(dst, 0), name)
}

// An interner gives every different text a small number.
type interner struct {
	texts []string
	at    map[string]uint32
}

func (t *interner) len() int { return len(t.texts) }

func (t *interner) number(text []byte) uint32 {
	if i, ok := t.at[string(text)]; ok {
		return i
	}
	return t.add(string(text))
}

func (t *interner) add(text string) uint32 {
	if i, ok := t.at[text]; ok {
		return i
	}
	if t.at == nil {
		t.at = map[string]uint32{}
	}
	i := uint32(len(t.texts))
	t.texts = append(t.texts, text)
	t.at[text] = i
	return i
}

// appendCompact appends a scanned value as the compact text the reference writes: numbers by value, of repeated keys
// the last value in the place of the first. Of an object that is v itself, members with a name in skip are left out.
func appendCompact(dst []byte, v jsonscan.Value, skip ...string) []byte {
	switch v.Kind() {
	case jsonscan.Absent:
		return append(dst, "null"...)
	case jsonscan.Int:
		n, _ := v.Integer()
		return n.Append(dst)
	case jsonscan.Float:
		f, _ := v.Float()
		return jsontext.AppendFloat(dst, f)
	case jsonscan.String:
		// What needs an escape cannot stand in a JSON text without one.
		inner, escapes := v.Escaped()
		if escapes {
			return jsontext.AppendQuoted(dst, v.AppendText(nil))
		}
		dst = append(append(dst, '"'), inner...)
		return append(dst, '"')
	case jsonscan.Array:
		dst = append(dst, '[')
		first := true
		for e := v.Elements(); e.Next(); first = false {
			if !first {
				dst = append(dst, ',')
			}
			dst = appendCompact(dst, e.Value)
		}
		return append(dst, ']')
	case jsonscan.Object:
		var list members
		list.collect(v)
		dst = append(dst, '{')
		first := true
		for i := range list.list {
			c := &list.list[i]
			if len(skip) > 0 && slices.Contains(skip, string(list.name(c))) {
				continue
			}
			if !first {
				dst = append(dst, ',')
			}
			first = false
			dst = append(jsontext.AppendQuoted(dst, list.name(c)), ':')
			dst = appendCompact(dst, c.value)
		}
		return append(dst, '}')
	}
	return append(dst, v.Raw()...)
}

// compactRow writes a line of the inventory without its indices.
func compactRow(line []byte) ([]byte, error) {
	var s jsonscan.Scanner
	v, err := s.Scan(jsonl.Trim(line))
	if err != nil {
		return nil, err
	}
	return appendCompact(nil, v, "_ng_task_index", "_ng_rollout_index"), nil
}
