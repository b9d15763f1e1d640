package rollout

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/rollscope/rollscope/core/jsonscan"
)

// A Key is a task, rollout or stage index: a whole number or a text. The zero Key is none.
type Key struct {
	Int  jsonscan.Integer
	Text string
	kind byte
}

const (
	keyNone byte = iota
	keyInt
	keyText
	keyOrdinal    // the row's ordinal, not known yet
	keyUnreadable // the made-up index of an unreadable line, not known yet
	keyBad        // a value that no index rule accepts; Text holds it as written
)

// IntKey makes a key of a whole number.
func IntKey(n jsonscan.Integer) Key { return Key{Int: n, kind: keyInt} }

// TextKey makes a key of a text; "" is one as well.
func TextKey(s string) Key { return Key{Text: s, kind: keyText} }

// IsNone tells whether there is no key: a stage index that is null or absent.
func (k Key) IsNone() bool { return k.kind == keyNone }

// IsInt tells whether the key is a whole number.
func (k Key) IsInt() bool { return k.kind == keyInt }

// String gives the key as text, "None" for none. Keys of different kinds can print alike.
func (k Key) String() string {
	switch k.kind {
	case keyInt:
		return k.Int.String()
	case keyNone:
		return "None"
	}
	return k.Text
}

// Compare orders keys: whole numbers by value before everything else, the rest by text, where none
// counts as the text None (spec health §14).
func (k Key) Compare(l Key) int {
	switch {
	case k.kind == keyInt && l.kind == keyInt:
		return k.Int.Compare(l.Int)
	case k.kind == keyInt:
		return -1
	case l.kind == keyInt:
		return 1
	}
	a, b := k.String(), l.String()
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// ErrIdentity means that an index can be neither a whole number nor a text (spec health §4). The whole
// health pass refuses such a run.
var ErrIdentity = errors.New("index is neither a whole number nor a text")

// An Identity says which rollout a row is. Before Resolve its defaults are symbolic.
type Identity struct {
	Task, Rollout, Stage Key
	ID                   string // explicit or from the trajectory; "" until Resolve when derived
	derived              bool
	taskText, repeatText string // raw text forms that a derived id is made of; "" means: of the key
	rawTask, rawRepeat   bool
}

// Bad names the member whose value no index rule accepts, and that value as written; ok is false for a
// good identity.
func (id *Identity) Bad() (member, value string, ok bool) {
	switch {
	case id.Task.kind == keyBad:
		return "_ng_task_index", id.Task.Text, true
	case id.Rollout.kind == keyBad:
		return "_ng_rollout_index", id.Rollout.Text, true
	case id.Stage.kind == keyBad:
		return "stage_index", id.Stage.Text, true
	}
	return "", "", false
}

// Identity reads who the row is (spec health §4).
func (r *Row) Identity() Identity {
	var id Identity
	switch {
	case r.Problem != nil:
		id.Task.kind = keyUnreadable
	case !r.TaskIndex.Exists():
		id.Task.kind = keyOrdinal
	default:
		id.Task = index(r.TaskIndex)
	}
	id.Rollout = IntKey(jsonscan.Integer{})
	if r.RolloutIdx.Exists() {
		id.Rollout = index(r.RolloutIdx)
	}
	if !r.Stage.IsNull() {
		id.Stage = index(r.Stage)
	}
	switch {
	case r.RolloutID.Truthy():
		id.ID = string(AppendText(nil, r.RolloutID))
		return id
	case r.Trajectory.IsObject():
		if v := r.Trajectory.Get("rollout_id"); v.Truthy() {
			id.ID = string(AppendText(nil, v))
			return id
		}
	}
	// The derived id is made of the values as written, so true and 1.0 keep their own text form.
	id.derived = true
	if raw := r.TaskIndex; raw.Exists() && !plain(raw) {
		id.taskText, id.rawTask = string(AppendText(nil, raw)), true
	}
	if raw := r.RolloutIdx; raw.Exists() && !plain(raw) {
		id.repeatText, id.rawRepeat = string(AppendText(nil, raw)), true
	}
	return id
}

// plain tells whether an index prints as its key does.
func plain(v jsonscan.Value) bool { return v.Kind() == jsonscan.Int || v.Kind() == jsonscan.String }

// KeyOf reads an index that stands elsewhere than in a row of a rollouts file, by the rule of those rows.
func KeyOf(v jsonscan.Value) Key { return index(v) }

// index applies the index rule: texts and whole numbers are kept, bools and whole floats become numbers.
func index(v jsonscan.Value) Key {
	switch v.Kind() {
	case jsonscan.String:
		return TextKey(v.Text())
	case jsonscan.Int:
		n, _ := v.Integer()
		return IntKey(n)
	case jsonscan.Bool:
		truth, _ := v.Truth()
		if truth {
			return IntKey(jsonscan.Integer{Magnitude: 1})
		}
		return IntKey(jsonscan.Integer{})
	case jsonscan.Float:
		f, _ := v.Float()
		if f == math.Trunc(f) && f > -(1<<63) && f < 1<<63 {
			n := jsonscan.Integer{Negative: f < 0, Magnitude: uint64(math.Abs(f))}
			return IntKey(n)
		}
	}
	return Key{Text: string(v.Raw()), kind: keyBad}
}

// Resolve replaces the symbolic defaults: ordinal counts the non-blank lines of all sources from 0, source
// is the position of the file from 0 and line its physical line from 1.
func (id Identity) Resolve(ordinal int64, source int, line int64) Identity {
	switch id.Task.kind {
	case keyOrdinal:
		id.Task = IntKey(jsonscan.Integer{Magnitude: uint64(ordinal)})
	case keyUnreadable:
		id.Task = TextKey("__unreadable_record__:input-" + strconv.Itoa(source) + ":line-" + strconv.FormatInt(line, 10))
	}
	if id.derived {
		task, repeat := id.taskText, id.repeatText
		if !id.rawTask {
			task = id.Task.String()
		}
		if !id.rawRepeat {
			repeat = id.Rollout.String()
		}
		id.ID = task + "-" + repeat
	}
	return id
}

// Append stores the identity in its symbolic form.
func (id *Identity) Append(dst []byte) []byte {
	var flags byte
	for i, on := range [...]bool{id.derived, id.rawTask, id.rawRepeat} {
		if on {
			flags |= 1 << i
		}
	}
	dst = append(dst, flags)
	dst = id.Task.append(dst)
	dst = id.Rollout.append(dst)
	dst = id.Stage.append(dst)
	for _, s := range [...]string{id.ID, id.taskText, id.repeatText} {
		dst = binary.AppendUvarint(dst, uint64(len(s)))
		dst = append(dst, s...)
	}
	return dst
}

func (k Key) append(dst []byte) []byte {
	sign := byte(0)
	if k.Int.Negative {
		sign = 0x80
	}
	dst = append(dst, k.kind|sign)
	switch k.kind {
	case keyInt:
		dst = binary.AppendUvarint(dst, k.Int.Magnitude)
	case keyText, keyBad:
		dst = binary.AppendUvarint(dst, uint64(len(k.Text)))
		dst = append(dst, k.Text...)
	}
	return dst
}

var errStored = errors.New("stored identity is damaged")

// ParseIdentity reads what Append stored and returns the rest of b.
func ParseIdentity(b []byte) (id Identity, rest []byte, err error) {
	if len(b) == 0 {
		return id, nil, errStored
	}
	flags := b[0]
	id.derived, id.rawTask, id.rawRepeat = flags&1 != 0, flags&2 != 0, flags&4 != 0
	b = b[1:]
	for _, k := range [...]*Key{&id.Task, &id.Rollout, &id.Stage} {
		if b, err = k.parse(b); err != nil {
			return id, nil, err
		}
	}
	for _, s := range [...]*string{&id.ID, &id.taskText, &id.repeatText} {
		if *s, b, err = parseText(b); err != nil {
			return id, nil, err
		}
	}
	return id, b, nil
}

func (k *Key) parse(b []byte) ([]byte, error) {
	if len(b) == 0 {
		return nil, errStored
	}
	k.kind = b[0] &^ 0x80
	negative := b[0]&0x80 != 0
	b = b[1:]
	switch k.kind {
	case keyInt:
		n, size := binary.Uvarint(b)
		if size <= 0 {
			return nil, errStored
		}
		k.Int = jsonscan.Integer{Negative: negative, Magnitude: n}
		return b[size:], nil
	case keyText, keyBad:
		var err error
		k.Text, b, err = parseText(b)
		return b, err
	case keyNone, keyOrdinal, keyUnreadable:
		return b, nil
	}
	return nil, fmt.Errorf("%w: key kind %d", errStored, k.kind)
}

func parseText(b []byte) (string, []byte, error) {
	n, size := binary.Uvarint(b)
	if size <= 0 || n > uint64(len(b)-size) {
		return "", nil, errStored
	}
	return string(b[size : size+int(n)]), b[size+int(n):], nil
}
