package metrics

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"

	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/rollout"
	"github.com/rollscope/rollscope/core/value"
)

// A Mapper makes digests of rows. It reuses its memory and belongs to one goroutine; the zero Mapper is ready.
type Mapper struct {
	// Fields are further top-level members whose values are kept, such as the answer that majority@k needs or the
	// field that rows are sliced by.
	Fields []string
	// Keys keeps the names of all top-level members. Counting failures as zero asks for it: which fields a made-up row
	// takes over depends on which fields real rows have (spec outcomes §7).
	Keys bool

	top, usage members
}

// The digest of a row is, one behind the other:
//
//	version   one byte
//	state     one byte: whether the row can be read, and if not, why
//	and if it can:
//	flags     one byte
//	task, rollout            indices, as kinds of index and their values
//	agent, server, source    texts, those the flags name
//	reward    a cell without a name
//	perf      a bit mask and the numbers of ng_perf, if there is one
//	top       number of cells, then the cells of the row's own members
//	usage     the same of response.usage
//	fields    number of chosen fields, and their values
const digestVersion = 1

// ErrDigest means that a stored digest is damaged or of another version.
var ErrDigest = errors.New("damaged or foreign digest of metrics")

// State says whether metrics can use a row.
type State uint8

// The states of a row. Those behind Readable are reasons to refuse it (spec metrics §1).
const (
	Readable State = iota
	Unreadable
	BadResponse // a truthy response that is not an object
	BadAgent    // a truthy agent_ref that is not an object
	BadUsage    // a truthy response.usage that is not an object
	states
)

var stateTexts = [states]string{
	"", "the line is not a JSON object", "response is not an object", "agent_ref is not an object", "response.usage is not an object",
}

// String says what is wrong, "" for a readable row.
func (s State) String() string { return stateTexts[s] }

const (
	flagMasked = 1 << iota
	flagAgent
	flagServer
	flagServerText // the server stamp is a text
	flagSource
	flagPerf
)

// Kinds of a stored index.
const (
	indexMissing byte = iota
	indexPositive
	indexNegative
	indexText
	indexBad
)

// Kinds of cells.
const (
	cellOther byte = iota // there, but not a number
	cellFalse
	cellTrue
	cellPositive
	cellNegative
	cellFloat
	cellSmall // a float without a fraction, from 0 to 2^32
	cellNull
	cellAbsent
)

// perfFields are the members of ng_perf that the summary reads, in the order of the mask.
var perfFields = [...]string{
	"prompt_tokens", "cached_prompt_tokens", "completion_tokens", "reasoning_tokens",
	"num_turns", "total_latency_ms", "token_observability_coverage",
}

const (
	perfPrompt = iota
	perfCached
	perfCompletion
	perfReasoning
	perfTurns
	perfLatency
	perfCoverage
	perfCount
)

// Append appends the digest of a row to dst.
func (m *Mapper) Append(dst []byte, row *rollout.Row) []byte {
	state, usage := Readable, jsonscan.Value{}
	switch {
	case row.Problem != nil:
		state = Unreadable
	case !row.Response.IsObject() && row.Response.Truthy():
		state = BadResponse
	case !row.Agent.IsObject() && row.Agent.Truthy():
		state = BadAgent
	default:
		if usage = row.Response.Get("usage"); !usage.IsObject() && usage.Truthy() {
			state = BadUsage
		}
	}
	dst = append(dst, digestVersion, byte(state))
	if state != Readable {
		return dst
	}
	m.top.collect(row.Value)
	m.usage.collect(usage)
	var server, source jsonscan.Value
	if i := m.top.find("_ng_environment_server"); i >= 0 {
		server = m.top.list[i].value
	}
	if i := m.top.find("task_source"); i >= 0 {
		source = m.top.list[i].value
	}
	agent := row.Agent.Get("name")
	flags := byte(0)
	for _, f := range [...]struct {
		on  bool
		bit byte
	}{
		{row.Mask.Truthy(), flagMasked}, {!agent.IsNull(), flagAgent}, {!server.IsNull(), flagServer},
		{server.IsString(), flagServerText}, {source.Exists(), flagSource}, {row.Perf.IsObject(), flagPerf},
	} {
		if f.on {
			flags |= f.bit
		}
	}
	dst = append(dst, flags)
	dst = appendIndex(dst, row.TaskIndex)
	dst = appendIndex(dst, row.RolloutIdx)
	for _, v := range [...]jsonscan.Value{agent, server} {
		if !v.IsNull() {
			dst = appendText(dst, rollout.AppendText(nil, v))
		}
	}
	if source.Exists() {
		dst = appendText(dst, rollout.AppendText(nil, source))
	}
	dst = appendCell(dst, row.Reward)
	if row.Perf.IsObject() {
		dst = appendPerf(dst, row.Perf)
	}
	dst = m.appendTop(dst)
	dst = m.appendUsage(dst)
	dst = binary.AppendUvarint(dst, uint64(len(m.Fields)))
	for _, name := range m.Fields {
		var v jsonscan.Value
		if i := m.top.find(name); i >= 0 {
			v = m.top.list[i].value
		}
		dst = append(dst, byte(v.Kind()))
		switch v.Kind() {
		case jsonscan.Absent, jsonscan.Null:
		case jsonscan.String:
			dst = appendText(dst, v.AppendText(nil))
		default:
			dst = appendText(dst, value.AppendKey(nil, value.Of(v)))
		}
	}
	return dst
}

func (m *Mapper) appendTop(dst []byte) []byte {
	at, count := len(dst), 0
	dst = append(dst, 0) // mended below, since most rows have few cells
	for i := range m.top.list {
		c := &m.top.list[i]
		name := m.top.name(c)
		if !numeric(c.value) && !m.Keys {
			// A usage field of the same name takes this one's place in the table, so the place must be known.
			if k := m.usage.findBytes(name); k < 0 || !numeric(m.usage.list[k].value) {
				continue
			}
		}
		dst = appendCell(appendName(dst, name), number(c.value))
		count++
	}
	return mend(dst, at, count)
}

func (m *Mapper) appendUsage(dst []byte) []byte {
	at, count := len(dst), 0
	dst = append(dst, 0)
	for i := range m.usage.list {
		c := &m.usage.list[i]
		name := m.usage.name(c)
		if !numeric(c.value) {
			// It hides a number of the row.
			if k := m.top.findBytes(name); k < 0 || !numeric(m.top.list[k].value) {
				continue
			}
		}
		dst = appendCell(appendName(dst, name), number(c.value))
		count++
	}
	return mend(dst, at, count)
}

// mend writes a count in front of what was appended behind at.
func mend(dst []byte, at, count int) []byte {
	if count < 0x80 {
		dst[at] = byte(count)
		return dst
	}
	var head [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(head[:], uint64(count))
	dst = append(dst, head[:n-1]...)
	copy(dst[at+n:], dst[at+1:len(dst)-n+1])
	copy(dst[at:], head[:n])
	return dst
}

func numeric(v jsonscan.Value) bool {
	switch v.Kind() {
	case jsonscan.Bool, jsonscan.Int, jsonscan.Float:
		return true
	}
	return false
}

// number hides a value that is none.
func number(v jsonscan.Value) jsonscan.Value {
	if numeric(v) {
		return v
	}
	return jsonscan.Value{}
}

// appendCell appends a value. An absent one in a list of cells stands for what is not a number.
func appendCell(dst []byte, v jsonscan.Value) []byte {
	switch v.Kind() {
	case jsonscan.Absent:
		return append(dst, cellAbsent)
	case jsonscan.Null:
		return append(dst, cellNull)
	case jsonscan.Bool:
		if truth, _ := v.Truth(); truth {
			return append(dst, cellTrue)
		}
		return append(dst, cellFalse)
	case jsonscan.Int:
		n, _ := v.Integer()
		kind := cellPositive
		if n.Negative {
			kind = cellNegative
		}
		return binary.AppendUvarint(append(dst, kind), n.Magnitude)
	case jsonscan.Float:
		f, _ := v.Float()
		if f >= 0 && f < 1<<32 && f == math.Trunc(f) && !math.Signbit(f) {
			return binary.AppendUvarint(append(dst, cellSmall), uint64(f))
		}
		return binary.LittleEndian.AppendUint64(append(dst, cellFloat), math.Float64bits(f))
	}
	dst = append(dst, cellOther)
	return appendText(dst, appendCompact(nil, v))
}

func appendText(dst, text []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(text)))
	return append(dst, text...)
}

func appendIndex(dst []byte, v jsonscan.Value) []byte {
	switch v.Kind() {
	case jsonscan.Absent:
		return append(dst, indexMissing)
	case jsonscan.String:
		return appendText(append(dst, indexText), v.AppendText(nil))
	case jsonscan.Int:
		n, _ := v.Integer()
		return appendWhole(dst, n)
	case jsonscan.Bool:
		var n jsonscan.Integer
		if truth, _ := v.Truth(); truth {
			n.Magnitude = 1
		}
		return appendWhole(dst, n)
	case jsonscan.Float:
		if f, _ := v.Float(); f == math.Trunc(f) && f > -(1<<63) && f < 1<<63 {
			return appendWhole(dst, jsonscan.Integer{Negative: f < 0, Magnitude: uint64(math.Abs(f))})
		}
	}
	text := v.Raw()
	return appendText(append(dst, indexBad), text[:min(len(text), 80)])
}

func appendWhole(dst []byte, n jsonscan.Integer) []byte {
	kind := indexPositive
	if n.Negative && n.Magnitude != 0 {
		kind = indexNegative
	}
	return binary.AppendUvarint(append(dst, kind), n.Magnitude)
}

func appendPerf(dst []byte, perf jsonscan.Value) []byte {
	var found [perfCount]jsonscan.Value
	for m := perf.Members(); m.Next(); {
		for i, name := range perfFields {
			if string(m.Key) == name {
				found[i] = m.Value
			}
		}
	}
	mask := byte(0)
	for i, v := range found {
		if numeric(v) {
			mask |= 1 << i
		}
	}
	dst = append(dst, mask)
	for _, v := range found {
		if numeric(v) {
			dst = appendCell(dst, v)
		}
	}
	return dst
}

// members are the members of an object in the order of their first appearance, each with its last value.
type members struct {
	list  []member
	names []byte
	at    map[string]int // only of large objects
}

type member struct {
	from, to uint32
	value    jsonscan.Value
}

// searched is the number of members up to which a name is looked for one by one.
const searched = 32

func (m *members) collect(v jsonscan.Value) {
	m.list, m.names, m.at = m.list[:0], m.names[:0], nil
	for w := v.Members(); w.Next(); {
		if i := m.findBytes(w.Key); i >= 0 {
			m.list[i].value = w.Value
			continue
		}
		from := len(m.names)
		m.names = append(m.names, w.Key...)
		m.list = append(m.list, member{uint32(from), uint32(len(m.names)), w.Value})
		switch {
		case m.at != nil:
			m.at[string(w.Key)] = len(m.list) - 1
		case len(m.list) > searched:
			m.at = make(map[string]int, 2*searched)
			for i := range m.list {
				m.at[string(m.name(&m.list[i]))] = i
			}
		}
	}
}

func (m *members) name(c *member) []byte { return m.names[c.from:c.to] }

func (m *members) find(name string) int { return m.findBytes([]byte(name)) }

// findBytes gives the position of a name, −1 if there is none.
func (m *members) findBytes(name []byte) int {
	if m.at != nil {
		if i, ok := m.at[string(name)]; ok {
			return i
		}
		return -1
	}
	for i := range m.list {
		if c := &m.list[i]; int(c.to-c.from) == len(name) && bytes.Equal(m.name(c), name) {
			return i
		}
	}
	return -1
}
