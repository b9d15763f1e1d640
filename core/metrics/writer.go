package metrics

import (
	"io"

	"github.com/rollscope/rollscope/core/jsontext"
	"github.com/rollscope/rollscope/core/rollout"
)

// A jsonWriter writes one JSON document after the other, indented by two spaces or compact, without holding more than
// a piece of it. The first error stays.
type jsonWriter struct {
	w      io.Writer
	indent bool
	buf    []byte
	levels []bool // of open containers: whether something is in it
	value  bool   // a key was written, its value comes next
	err    error
}

// piece is how much is gathered before it is written.
const piece = 64 << 10

func (j *jsonWriter) flush() {
	if j.err == nil && len(j.buf) > 0 {
		_, j.err = j.w.Write(j.buf)
	}
	j.buf = j.buf[:0]
}

// end finishes a document, with a line end where one is wanted.
func (j *jsonWriter) end(line string) {
	j.buf = append(j.buf, line...)
	if len(j.buf) >= piece {
		j.flush()
	}
}

func (j *jsonWriter) breakLine() {
	if !j.indent {
		return
	}
	j.buf = append(j.buf, '\n')
	for range j.levels {
		j.buf = append(j.buf, "  "...)
	}
}

// next makes room for the next member, element or value.
func (j *jsonWriter) next() {
	if len(j.buf) >= piece {
		j.flush()
	}
	if j.value {
		j.value = false
		return
	}
	if n := len(j.levels); n > 0 {
		if j.levels[n-1] {
			j.buf = append(j.buf, ',')
		}
		j.levels[n-1] = true
		j.breakLine()
	}
}

func (j *jsonWriter) open(bracket byte) {
	j.next()
	j.buf = append(j.buf, bracket)
	j.levels = append(j.levels, false)
}

func (j *jsonWriter) close(bracket byte) {
	n := len(j.levels) - 1
	some := j.levels[n]
	j.levels = j.levels[:n]
	if some {
		j.breakLine()
	}
	j.buf = append(j.buf, bracket)
}

// key writes the name of a member, which is made of two parts.
func (j *jsonWriter) key(prefix, name string) {
	j.next()
	j.buf = jsontext.AppendQuoted(j.buf, prefix)
	j.buf = j.buf[:len(j.buf)-1]
	end := len(j.buf)
	j.buf = jsontext.AppendQuoted(j.buf, name)
	// The quote between the parts goes.
	copy(j.buf[end:], j.buf[end+1:])
	j.buf = j.buf[:len(j.buf)-1]
	j.buf = append(j.buf, ':')
	if j.indent {
		j.buf = append(j.buf, ' ')
	}
	j.value = true
}

func (j *jsonWriter) number(n Number) {
	j.next()
	j.buf = n.Append(j.buf)
}

func (j *jsonWriter) text(s string) {
	j.next()
	j.buf = jsontext.AppendQuoted(j.buf, s)
}

// raw writes a value that is JSON already.
func (j *jsonWriter) raw(text string) {
	j.next()
	j.buf = append(j.buf, text...)
}

func (j *jsonWriter) index(k rollout.Key) {
	if !k.IsInt() {
		j.text(k.String())
		return
	}
	j.next()
	j.buf = k.Int.Append(j.buf)
}

func (j *jsonWriter) count(name string, n int) {
	j.key("", name)
	j.number(Whole(int64(n)))
}

func (j *jsonWriter) metrics(list []Metric) {
	for _, m := range list {
		j.key("", m.Name)
		j.number(m.Value)
	}
}

// agent writes the member that names a label.
func (j *jsonWriter) agent(label string) {
	j.key("", "agent_ref")
	j.open('{')
	j.key("", "name")
	j.text(label)
	j.close('}')
}

func (j *jsonWriter) stats(s *Stats) {
	s.each(func(prefix, column string, n Number) {
		j.key(prefix, column)
		j.number(n)
	})
}

func (j *jsonWriter) repeat(r *Repeat, labelled bool) {
	j.open('{')
	if labelled {
		j.agent(r.Label)
	}
	j.key("", "_ng_rollout_index")
	j.index(r.Index)
	j.count("sample_count", r.Sample)
	j.count("missing_count", r.Missing)
	for i := range r.Columns {
		c := &r.Columns[i]
		c.each(func(prefix string, x float64) {
			j.key(prefix, c.Name)
			j.number(Real(x))
		})
	}
	j.close('}')
}

// group writes a group row. sample writes the row of the inventory that stands for it.
func (j *jsonWriter) group(g *Group, sample func()) {
	j.open('{')
	j.key("", "_ng_task_index")
	j.index(g.Task)
	j.stats(g.Stats)
	if g.Labelled {
		j.agent(g.Label)
	}
	j.key("", "sample")
	sample()
	if g.rules != LineOrder {
		j.count("num_rollouts", len(g.Rows))
		j.count("expected_num_rollouts", g.Expected)
		j.count("missing_num_rollouts", g.Missing())
		j.key("", "reward_profile_completion_pct")
		j.number(Real(g.Completion()))
		j.key("", "rollout_infos")
		j.open('[')
		for _, row := range g.Rows {
			j.info(g.run, int(row), g.rules)
		}
		j.close(']')
	}
	j.close('}')
}

// info writes the rollout info of a row: its reward as written, then the numbers of its usage, then those of the row
// itself, which win (spec metrics §2).
func (j *jsonWriter) info(r *Run, row int, rules Rules) {
	j.open('{')
	for _, m := range r.info(row, rules) {
		j.key("", m.name)
		switch {
		case m.index != nil:
			j.index(*m.index)
		case m.text != "":
			j.raw(m.text)
		default:
			j.number(m.value)
		}
	}
	j.close('}')
}

// infoMember is one member of a rollout info.
type infoMember struct {
	name  string
	index *rollout.Key
	text  string // JSON
	value Number
}

func (r *Run) info(row int, rules Rules) []infoMember {
	task, repeat := r.Task(row), r.Repeat(row)
	list := make([]infoMember, 0, 12)
	list = append(list,
		infoMember{name: "rollout_id", text: string(jsontext.AppendQuoted(nil, task.String()+":"+repeat.String()))},
		infoMember{name: "_ng_task_index", index: &task}, infoMember{name: "_ng_rollout_index", index: &repeat})
	if text := r.rewardText(row); text != "" {
		list = append(list, infoMember{name: "reward", text: text})
	}
	set := func(c tableCell) {
		m := infoMember{name: r.names.texts[c.name], value: r.numberOf(c)}
		for i := range list {
			if list[i].name == m.name {
				list[i] = m
				return
			}
		}
		list = append(list, m)
	}
	for c := range r.cellsOf(row) {
		if c.uses&ofUsage != 0 {
			set(c)
		}
	}
	for c := range r.cellsOf(row) {
		if c.uses&ofTop == 0 {
			continue
		}
		switch name := r.names.texts[c.name]; {
		case name == "reward" || name == "response" || name == "_ng_task_index" || name == "_ng_rollout_index":
		case rules == Current && (name[:min(1, len(name))] == "_" || name == "mask_sample"):
		default:
			set(c)
		}
	}
	return list
}

// infoReward is the reward of a rollout info, if it is a number; bools are none.
func (r *Run) infoReward(row int, rules Rules) (Number, bool) {
	for _, m := range r.info(row, rules) {
		switch {
		case m.name != "reward":
		case m.text == "":
			return m.value, true // a field of the usage has this name
		default:
			c := r.reward(row)
			return c.number(), c.numeric() && c.kind != cellFalse && c.kind != cellTrue
		}
	}
	return Number{}, false
}

// rewardText is the reward as JSON, "" if the row has none.
func (r *Run) rewardText(row int) string {
	switch c := r.reward(row); c.kind {
	case cellAbsent:
		return ""
	case cellNull:
		return "null"
	case cellTrue:
		return "true"
	case cellFalse:
		return "false"
	case cellOther:
		return r.others[c.bits]
	default:
		return cell{kind: c.kind, bits: c.bits}.number().String()
	}
}
