package health

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"strconv"
	"strings"

	"github.com/rollscope/rollscope/core/health/check"
	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/jsontext"
)

// SummaryJSON gives quality_summary.json: indented, without a final line end. The error wraps
// [ErrIntegerRange].
func (r *Report) SummaryJSON() ([]byte, error) {
	if err := r.stats.writable(); err != nil {
		return nil, err
	}
	return r.summary(writer{indent: true}), nil
}

// SummaryCompact gives the same document as one line with its line end. It has every number, whether
// quality_summary.json can hold it or not.
func (r *Report) SummaryCompact() []byte { return append(r.summary(writer{}), '\n') }

func (r *Report) summary(w writer) []byte {
	s := &r.stats
	w.open('{')
	w.key("run")
	w.open('{')
	w.texts("ignored_checks", r.rules.ignoredIDs())
	w.key("artifacts")
	w.open('{')
	w.number("records", int64(s.Records))
	w.number("captures", int64(s.Captures))
	w.key("coverage")
	w.open('{')
	for i := range r.checks {
		c := &r.checks[i]
		w.key(check.At(i).ID)
		w.open('{')
		w.number("evaluated", int64(c.evaluated))
		w.number("unobserved", int64(c.unobserved))
		w.number("ignored", int64(c.ignored))
		w.close('}')
	}
	w.close('}')
	w.close('}')
	w.key("verdicts")
	w.open('{')
	w.number("healthy", int64(s.Healthy))
	w.number("unhealthy", int64(s.Unhealthy))
	w.number("unobserved", int64(s.Unobserved))
	w.close('}')
	w.key("issues")
	w.open('{')
	for i := range r.checks {
		w.number(check.At(i).ID, r.checks[i].fired)
	}
	w.close('}')
	w.key("stats")
	w.open('{')
	w.key("model_call_errors")
	w.open('{')
	w.number("total", s.Errors)
	w.key("by_status")
	w.open('{')
	for _, status := range s.ByStatus {
		w.number(status.Status, status.Calls)
	}
	w.close('}')
	w.number("rollouts_affected", int64(s.ErrorRollouts))
	w.number("ended_on_error", int64(s.EndedOnError))
	w.close('}')
	w.key("duplicated_calls")
	w.open('{')
	w.number("replayed", s.Replayed)
	w.number("rollouts", int64(s.ReplayedRollouts))
	w.close('}')
	w.key("tokens")
	w.open('{')
	w.integer("prompt", s.Prompt)
	w.integer("completion", s.Completion)
	w.integer("capture_prompt", s.CapturePrompt)
	w.integer("capture_completion", s.CaptureCompletion)
	w.close('}')
	w.close('}')
	w.close('}')
	r.summaryTasks(&w)
	w.close('}')
	return w.b
}

func (r *Report) summaryTasks(w *writer) {
	w.key("tasks")
	w.open('{')
	var text []byte
	order, replaced := r.taskOrder()
	for _, i := range order {
		t := &r.tasks[i]
		text = r.keys.appendText(text[:0], t.key)
		if by, ok := replaced[i]; ok {
			t = &r.tasks[by]
		}
		w.keyBytes(text)
		w.open('{')
		w.number("repeats", int64(t.repeats()))
		w.number("healthy", int64(t.healthy))
		w.number("unhealthy", int64(t.unhealthy))
		w.number("unobserved", int64(t.unobserved))
		w.texts("flags", t.flags.IDs())
		w.close('}')
	}
	w.close('}')
}

// taskEntry is a task as it is sorted.
type taskEntry struct {
	text bool
	task uint32
	head uint64   // first eight bytes of the text, which settle most comparisons
	tail [12]byte // the others of a whole number, of which there are at most twelve
}

// taskOrder sorts the tasks as the summary lists them: whole numbers first, then texts, each by the code
// points of its text. A text that looks like the whole number of another task has no entry of its own: as
// in the reference, where they share a key, the number keeps the place and the text gives the value.
func (r *Report) taskOrder() (order []uint32, replaced map[uint32]uint32) {
	entries := make([]taskEntry, len(r.tasks))
	var alike map[string]uint32 // texts that look like whole numbers
	var buf []byte
	for i := range r.tasks {
		buf = r.keys.appendText(buf[:0], r.tasks[i].key)
		e := &entries[i]
		e.task, e.text = uint32(i), r.keys.isText(r.tasks[i].key)
		var head [8]byte
		n := copy(head[:], buf)
		e.head = binary.BigEndian.Uint64(head[:])
		if !e.text {
			copy(e.tail[:], buf[n:])
		} else if numeric(buf) {
			if alike == nil {
				alike = map[string]uint32{}
			}
			alike[string(buf)] = uint32(i)
		}
	}
	slices.SortFunc(entries, func(a, b taskEntry) int {
		switch {
		case a.text != b.text:
			if b.text {
				return -1
			}
			return 1
		case a.head != b.head:
			return cmp.Compare(a.head, b.head)
		case a.text:
			return strings.Compare(r.keys.text(r.tasks[a.task].key), r.keys.text(r.tasks[b.task].key))
		}
		return bytes.Compare(a.tail[:], b.tail[:])
	})
	order = make([]uint32, 0, len(entries))
	gone := map[uint32]bool{}
	for i := range entries {
		e := &entries[i]
		if !e.text && len(alike) > 0 {
			buf = r.keys.appendText(buf[:0], r.tasks[e.task].key)
			if text, ok := alike[string(buf)]; ok {
				if replaced == nil {
					replaced = map[uint32]uint32{}
				}
				replaced[e.task] = text
				gone[text] = true
			}
		}
		if !gone[e.task] {
			order = append(order, e.task)
		}
	}
	return order, replaced
}

// numeric tells whether a text has nothing but digits behind an optional minus.
func numeric(b []byte) bool {
	if len(b) > 0 && b[0] == '-' {
		b = b[1:]
	}
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(b) > 0
}

// writer writes JSON, indented by two spaces or compact.
type writer struct {
	b      []byte
	indent bool
	depth  int
	filled bool // the open container has a member
}

func (w *writer) open(c byte) {
	w.b = append(w.b, c)
	w.depth++
	w.filled = false
}

func (w *writer) close(c byte) {
	w.depth--
	if w.filled {
		w.line()
	}
	w.b = append(w.b, c)
	w.filled = true
}

// line begins a new line in the indented form.
func (w *writer) line() {
	if !w.indent {
		return
	}
	w.b = append(w.b, '\n')
	for range w.depth {
		w.b = append(w.b, "  "...)
	}
}

// item begins a member or an element.
func (w *writer) item() {
	if w.filled {
		w.b = append(w.b, ',')
	}
	w.filled = true
	w.line()
}

func (w *writer) key(name string) {
	w.item()
	w.b = jsontext.AppendQuoted(w.b, name)
	w.colon()
}

func (w *writer) keyBytes(name []byte) {
	w.item()
	w.b = jsontext.AppendQuoted(w.b, name)
	w.colon()
}

func (w *writer) colon() {
	w.b = append(w.b, ':')
	if w.indent {
		w.b = append(w.b, ' ')
	}
}

func (w *writer) number(name string, n int64) {
	w.key(name)
	w.b = strconv.AppendInt(w.b, n, 10)
}

func (w *writer) integer(name string, n integer.Int) {
	w.key(name)
	w.b = n.Append(w.b)
}

func (w *writer) texts(name string, list []string) {
	w.key(name)
	w.open('[')
	for _, s := range list {
		w.item()
		w.b = jsontext.AppendQuoted(w.b, s)
	}
	w.close(']')
}
