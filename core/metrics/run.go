package metrics

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/rollout"
)

// ErrRefused means that the reference makes no metrics of such rows, and neither do the parity commands.
var ErrRefused = errors.New("refused")

// Options say how a Run reads rows.
type Options struct {
	// Lenient is the reading of the page: rows that cannot be counted are left out instead of refused, indices are
	// those of the row's identity, and of rows with one identity the first counts. The rules of the reference for
	// files, such as labels, are the same.
	Lenient bool
}

// A Row is one non-blank line of a run with its digest.
type Row struct {
	Source         int    // position of its file in the run, from 0
	Name           string // of the file, for messages
	Line           int64  // physical line in the file, from 1
	Offset, Length int64  // of the line in the file; only what is read again needs them

	// Identity is resolved. The lenient reading needs it, the strict one takes the indices of the digest.
	Identity *rollout.Identity
	Digest   []byte // of the Mapper
}

// A Place says where a row stands.
type Place struct {
	Source         int
	Line           int64
	Offset, Length int64
}

// A Run is the rows of a run, as columns. Rows are numbered from 0 in the order they were added, unreadable ones
// included, so that the number is the ordinal of the page.
type Run struct {
	lenient bool
	d       digest

	names interner // of fields
	texts interner // agents, servers, sources, values of chosen fields
	keys  keyTable
	ranks []uint32 // of keys, by their order; made when asked for
	files []string

	file     []uint32
	line     []int64
	spans    []span // of lines; none unless they are known
	state    []State
	flags    []byte
	task     []uint32 // in keys
	repeat   []uint32
	missing  []byte   // which indices the row does not have
	agent    []uint32 // in texts, plus one
	server   []uint32
	source   []uint32
	rewards  []uint64 // bits of a number, or a position in others
	kinds    []byte   // of rewards
	shape    []uint32 // of the cells of a row, in shapes
	bits     []uint64 // of all cells
	bitsEnd  []uint32 // of each row
	fields   []fieldValue
	fieldEnd []uint32
	others   []string // rewards that are not numbers, as JSON

	shapes  [][]shapeCell
	shapeAt map[string]uint32
	draft   []shapeCell // of the row that is being added
	key     []byte
}

// span is where a line stands in its file.
type span struct{ offset, length int64 }

// stored is a cell without its name.
type stored struct {
	bits uint64
	kind byte
}

// tableCell is a cell of a row.
type tableCell struct {
	bits uint64
	shapeCell
}

// shapeCell is what cells of rows have in common, besides their values. Most rows of a run have one of a few lists of
// them, their shape, so that a cell takes eight bytes.
type shapeCell struct {
	name uint32 // in names; of a performance record, in perfFields
	kind byte
	uses byte
}

// Uses of a cell.
const (
	inTable  = 1 << iota // the numeric table
	ofUsage              // rollout info, from the usage
	ofTop                // rollout info, from the row itself
	sawField             // the row has such a member
	ofPerf               // the performance record, nothing else
)

type fieldValue struct {
	kind jsonscan.Kind
	text uint32
}

const (
	missingTask = 1 << iota
	missingRepeat
)

// keyTable gives every different key a small number.
type keyTable struct {
	list []rollout.Key
	at   map[rollout.Key]uint32
}

func (t *keyTable) number(k rollout.Key) uint32 {
	if i, ok := t.at[k]; ok {
		return i
	}
	if t.at == nil {
		t.at = map[rollout.Key]uint32{}
	}
	i := uint32(len(t.list))
	t.list = append(t.list, k)
	t.at[k] = i
	return i
}

// NewRun makes an empty run.
func NewRun(o Options) *Run { return &Run{lenient: o.Lenient} }

// Rows is the number of rows, whether they count or not.
func (r *Run) Rows() int { return len(r.state) }

// Place tells where a row stands.
func (r *Run) Place(row int) Place {
	p := Place{Source: int(r.file[row]), Line: r.line[row]}
	if r.spans != nil {
		p.Offset, p.Length = r.spans[row].offset, r.spans[row].length
	}
	return p
}

// Where gives the place of a row for people.
func (r *Run) Where(row int) string {
	if file := r.file[row]; r.files[file] != "" {
		return fmt.Sprintf("%s:%d", r.files[file], r.line[row])
	}
	return fmt.Sprintf("line %d", r.line[row])
}

// State tells whether a row can be used.
func (r *Run) State(row int) State { return r.state[row] }

// Masked tells whether the row's score must not be taken as a measurement.
func (r *Run) Masked(row int) bool { return r.flags[row]&flagMasked != 0 }

// Task is the task of a row.
func (r *Run) Task(row int) rollout.Key { return r.keys.list[r.task[row]] }

// Repeat is the rollout index of a row.
func (r *Run) Repeat(row int) rollout.Key { return r.keys.list[r.repeat[row]] }

// Agent is the name of the row's agent; ok is false if it names none.
func (r *Run) Agent(row int) (name string, ok bool) { return r.textOf(r.agent[row]) }

// Server is the stamp of the row's environment server; ok is false if it has none.
func (r *Run) Server(row int) (name string, ok bool) { return r.textOf(r.server[row]) }

// TaskSource is the row's task_source; ok is false if it has none.
func (r *Run) TaskSource(row int) (text string, ok bool) { return r.textOf(r.source[row]) }

func (r *Run) textOf(i uint32) (string, bool) {
	if i == 0 {
		return "", false
	}
	return r.texts.texts[i-1], true
}

// Reward is the row's reward; ok is false unless it is a number, for which bools count.
func (r *Run) Reward(row int) (reward float64, ok bool) {
	c := r.reward(row)
	return c.float(), c.numeric()
}

func (r *Run) reward(row int) stored { return stored{r.rewards[row], r.kinds[row]} }

// Field is the value of the i-th of [Mapper.Fields]: its text, and its kind. Texts of objects and arrays are JSON.
func (r *Run) Field(row, i int) (text string, kind jsonscan.Kind) {
	from := uint32(0)
	if row > 0 {
		from = r.fieldEnd[row-1]
	}
	if at := from + uint32(i); at < r.fieldEnd[row] {
		f := r.fields[at]
		text, _ = r.textOf(f.text)
		return text, f.kind
	}
	return "", jsonscan.Absent
}

// Cells calls f for the numeric fields of a row in the order of the table: those of the row itself, in which usage
// replaces what has the same name, then the others of the usage (spec metrics §2).
func (r *Run) Cells(row int, f func(name string, n Number)) {
	for c := range r.cellsOf(row) {
		if c.uses&inTable != 0 {
			f(r.names.texts[c.name], r.numberOf(c))
		}
	}
}

func (r *Run) numberOf(c tableCell) Number { return cell{kind: c.kind, bits: c.bits}.number() }

// cellsOf walks the cells of a row.
func (r *Run) cellsOf(row int) iter.Seq[tableCell] {
	from := uint32(0)
	if row > 0 {
		from = r.bitsEnd[row-1]
	}
	shape, bits := r.shapes[r.shape[row]], r.bits[from:r.bitsEnd[row]]
	return func(yield func(tableCell) bool) {
		for i, c := range shape {
			if !yield(tableCell{bits[i], c}) {
				return
			}
		}
	}
}

// Add takes the next row of the run. The strict reading gives an error that wraps [ErrRefused] for a row that the
// reference does not take; any other error wraps [ErrDigest].
func (r *Run) Add(row *Row) error {
	if err := r.d.open(row.Digest); err != nil {
		return fmt.Errorf("%s:%d: %w", row.Name, row.Line, err)
	}
	if len(r.bits) > math.MaxUint32-1<<24 {
		return fmt.Errorf("%s:%d: too many numeric fields in one run", row.Name, row.Line)
	}
	if !r.lenient {
		if err := r.check(&r.d, row); err != nil {
			return err
		}
	}
	r.add(&r.d, row)
	return nil
}

// check refuses what the strict reading does not take.
func (r *Run) check(d *digest, row *Row) error {
	if d.state != Readable {
		return fmt.Errorf("%s:%d: %s: %w", row.Name, row.Line, d.state, ErrRefused)
	}
	for _, x := range [...]struct {
		name string
		index
	}{{"_ng_task_index", d.task}, {"_ng_rollout_index", d.repeat}} {
		if x.bad() {
			return fmt.Errorf("%s:%d: %s is %s, neither a whole number nor a text: %w", row.Name, row.Line, x.name, x.text, ErrRefused)
		}
	}
	return nil
}

// add takes an opened digest.
func (r *Run) add(d *digest, row *Row) {
	for row.Source >= len(r.files) {
		r.files = append(r.files, "")
	}
	if r.files[row.Source] == "" {
		r.files[row.Source] = row.Name
	}
	r.file = append(r.file, uint32(row.Source))
	r.line = append(r.line, row.Line)
	if r.spans == nil && row.Length > 0 {
		r.spans = make([]span, len(r.state))
	}
	if r.spans != nil {
		r.spans = append(r.spans, span{row.Offset, row.Length})
	}
	r.state = append(r.state, d.state)
	r.flags = append(r.flags, d.flags)
	task, repeat := d.task.key(), d.repeat.key()
	if r.lenient && row.Identity != nil {
		task, repeat = row.Identity.Task, row.Identity.Rollout
	}
	r.task = append(r.task, r.keys.number(task))
	r.repeat = append(r.repeat, r.keys.number(repeat))
	missing := byte(0)
	if d.task.kind == indexMissing {
		missing |= missingTask
	}
	if d.repeat.kind == indexMissing {
		missing |= missingRepeat
	}
	r.missing = append(r.missing, missing)
	r.agent = append(r.agent, r.text(d.flags&flagAgent != 0, d.agent))
	r.server = append(r.server, r.text(d.flags&flagServer != 0, d.server))
	r.source = append(r.source, r.text(d.flags&flagSource != 0, d.source))
	if d.state != Readable {
		d.reward.kind = cellAbsent
	}
	reward := d.reward
	switch reward.kind {
	case cellOther:
		r.others = append(r.others, string(reward.text))
		reward.bits = uint64(len(r.others) - 1)
	case cellSmall:
		reward = plain(reward)
	}
	r.rewards, r.kinds = append(r.rewards, reward.bits), append(r.kinds, reward.kind)
	r.compose(d)
	for _, f := range d.fields {
		r.fields = append(r.fields, fieldValue{f.kind, r.text(f.kind > jsonscan.Null, f.text)})
	}
	r.fieldEnd = append(r.fieldEnd, uint32(len(r.fields)))
}

func (r *Run) text(there bool, text []byte) uint32 {
	if !there {
		return 0
	}
	return r.texts.number(text) + 1
}

// plain gives a numeric cell one of the three kinds that rows of a run keep: bools are whole numbers.
func plain(c cell) cell {
	switch c.kind {
	case cellFalse:
		return cell{kind: cellPositive}
	case cellTrue:
		return cell{kind: cellPositive, bits: 1}
	case cellSmall:
		return cell{kind: cellFloat, bits: math.Float64bits(c.float())}
	}
	return c
}

// compose lays the usage over the row (spec metrics §2): a field of the usage takes the place of the row's own of the
// same name, others stand behind. What the rollout info needs stands beside it.
func (r *Run) compose(d *digest) {
	r.draft = r.draft[:0]
	add := func(name []byte, c cell, uses byte) {
		c = plain(c)
		r.bits = append(r.bits, c.bits)
		r.draft = append(r.draft, shapeCell{r.names.number(name), c.kind, uses})
	}
	top, usage := finder(d.top), finder(d.usage)
	for i := range d.top {
		c := &d.top[i]
		if u := usage(c.name); u != nil {
			if u.numeric() {
				add(c.name, u.cell, inTable)
			}
			if c.numeric() {
				add(c.name, c.cell, ofTop|sawField)
			} else {
				add(c.name, cell{}, sawField)
			}
			continue
		}
		if c.numeric() {
			add(c.name, c.cell, inTable|ofTop|sawField)
		} else {
			add(c.name, cell{}, sawField)
		}
	}
	for i := range d.usage {
		c := &d.usage[i]
		if !c.numeric() {
			continue
		}
		uses := byte(inTable | ofUsage)
		if top(c.name) != nil {
			uses = ofUsage
		}
		add(c.name, c.cell, uses)
	}
	for i, c := range d.perfs {
		if d.perf>>i&1 != 0 {
			c = plain(c)
			r.bits = append(r.bits, c.bits)
			r.draft = append(r.draft, shapeCell{uint32(i), c.kind, ofPerf})
		}
	}
	r.shape = append(r.shape, r.shapeOf(r.draft))
	r.bitsEnd = append(r.bitsEnd, uint32(len(r.bits)))
}

// shapeOf gives the number of a shape.
func (r *Run) shapeOf(shape []shapeCell) uint32 {
	r.key = r.key[:0]
	for _, c := range shape {
		r.key = append(binary.AppendUvarint(r.key, uint64(c.name)), c.kind, c.uses)
	}
	if i, ok := r.shapeAt[string(r.key)]; ok {
		return i
	}
	if r.shapeAt == nil {
		r.shapeAt = map[string]uint32{}
	}
	i := uint32(len(r.shapes))
	r.shapeAt[string(r.key)] = i
	r.shapes = append(r.shapes, slices.Clone(shape))
	return i
}

// finder looks names up in a list, one by one unless it is long.
func finder(list []named) func(name []byte) *named {
	if len(list) <= searched {
		return func(name []byte) *named {
			for i := range list {
				if string(list[i].name) == string(name) {
					return &list[i]
				}
			}
			return nil
		}
	}
	at := make(map[string]*named, len(list))
	for i := range list {
		at[string(list[i].name)] = &list[i]
	}
	return func(name []byte) *named { return at[string(name)] }
}

// Merge puts the rows of another run behind these; the other run is of no use afterwards. Both must read alike. It is
// associative.
func (r *Run) Merge(o *Run) {
	names, texts, keys := make([]uint32, o.names.len()), make([]uint32, o.texts.len()+1), make([]uint32, len(o.keys.list))
	for i, t := range o.names.texts {
		names[i] = r.names.add(t)
	}
	for i, t := range o.texts.texts {
		texts[i+1] = r.texts.add(t) + 1
	}
	for i, k := range o.keys.list {
		keys[i] = r.keys.number(k)
	}
	for i, name := range o.files {
		for i >= len(r.files) {
			r.files = append(r.files, "")
		}
		if r.files[i] == "" {
			r.files[i] = name
		}
	}
	bits, fields, others := uint32(len(r.bits)), uint32(len(r.fields)), uint64(len(r.others))
	for i, kind := range o.kinds {
		if kind == cellOther {
			o.rewards[i] += others
		}
	}
	shapes := make([]uint32, len(o.shapes))
	for i, shape := range o.shapes {
		for k := range shape {
			if shape[k].uses != ofPerf {
				shape[k].name = names[shape[k].name]
			}
		}
		shapes[i] = r.shapeOf(shape)
	}
	if r.spans == nil && o.spans != nil {
		r.spans = make([]span, len(r.state))
	}
	if r.spans != nil {
		if o.spans == nil {
			o.spans = make([]span, len(o.state))
		}
		r.spans = append(r.spans, o.spans...)
	}
	for i := range o.fields {
		o.fields[i].text = texts[o.fields[i].text]
	}
	for i := range o.state {
		r.task = append(r.task, keys[o.task[i]])
		r.repeat = append(r.repeat, keys[o.repeat[i]])
		r.agent = append(r.agent, texts[o.agent[i]])
		r.server = append(r.server, texts[o.server[i]])
		r.source = append(r.source, texts[o.source[i]])
		r.shape = append(r.shape, shapes[o.shape[i]])
		r.bitsEnd = append(r.bitsEnd, o.bitsEnd[i]+bits)
		r.fieldEnd = append(r.fieldEnd, o.fieldEnd[i]+fields)
	}
	r.file = append(r.file, o.file...)
	r.line = append(r.line, o.line...)
	r.state = append(r.state, o.state...)
	r.flags = append(r.flags, o.flags...)
	r.missing = append(r.missing, o.missing...)
	r.rewards = append(r.rewards, o.rewards...)
	r.kinds = append(r.kinds, o.kinds...)
	r.bits = append(r.bits, o.bits...)
	r.fields = append(r.fields, o.fields...)
	r.others = append(r.others, o.others...)
}

func (s stored) integer() integer.Int { return cell{kind: s.kind, bits: s.bits}.integer() }

func (s stored) float() float64 { return cell{kind: s.kind, bits: s.bits}.float() }

func (s stored) numeric() bool { return cell{kind: s.kind}.numeric() }
