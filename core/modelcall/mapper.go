package modelcall

import (
	"encoding/binary"
	"math"

	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/rollout"
	"github.com/rollscope/rollscope/core/trajectory/lax"
)

// The digest of a row's calls is, one behind the other:
//
//	version   one byte
//	source    one byte: none, attachment or trajectory
//	calls     number
//	words     number, then the words that calls have: models, servers, dialects, reasons, categories, statuses
//	call      for every call: which fields are there, and those that are
//
// Times, latencies and tokens are kept exactly, most of them in two to four bytes. A call takes about twenty. Its turn and
// its invocation are those of the row's trajectory that refer to it.
const digestVersion = 2

// A Source says where the calls of a row come from.
type Source uint8

const (
	SourceNone       Source = iota // the row has no calls
	SourceAttachment               // ng_model_call_capture
	SourceTrajectory               // ng_trajectory.model_calls, where nothing is attached
)

// String gives the word for it.
func (s Source) String() string { return [...]string{"none", "attachment", "trajectory"}[s] }

// The fields of a call, as bits.
const (
	hasStarted = 1 << iota
	hasCompleted
	hasLatency
	hasTTFT
	hasIn
	hasOut
	hasReasoning
	hasTotal
	hasCached
	hasStatus
	hasModel
	hasServer
	hasDialect
	hasFinish
	hasCategory
	hasResponseStatus
	hasTools
	hasResponse // what came back is known to be something
	hasTurn
	hasInvocation
	knownBits = 1<<iota - 1
)

// A Summary is what a table of calls shows of one call. Its texts are shared by the calls of a row.
type Summary struct {
	Index                                                     int    // among the row's calls
	Model, Server, Dialect, Finish, Category, ResponseStatus  string // "" for null
	Status                                                    lax.Count
	Started, Completed, LatencyMS, TTFTMS                     lax.Real
	TokensIn, TokensOut, TokensReasoning, TokensTotal, Cached lax.Count
	Tools                                                     int // tool calls asked for; 0 where that is not known

	// Where the trajectory of the row places the call.
	Turn       int    // place among its turns, from 1; 0 for none
	Invocation string // id of the agent's run that made it, "" for none
}

// Failed tells whether the call failed, by the rule of the health checks: an error status, an error category, or a
// response that says so.
func (s *Summary) Failed() bool {
	if s.Category != "" {
		return true
	}
	if n, ok := s.Status.Int.Int64(); s.Status.Set && (!ok && s.Status.Int.Sign() > 0 || n >= 400) {
		return true
	}
	return s.ResponseStatus == "failed" || s.ResponseStatus == "error" || s.ResponseStatus == "cancelled"
}

// Differs names the first field in which two calls differ, "" where they say the same. Where a trajectory places them
// is no part of it.
func (s *Summary) Differs(t *Summary) string {
	a, b := *s, *t
	for _, f := range [...]struct {
		name string
		same bool
	}{
		{"model", a.Model == b.Model}, {"model_ref", a.Server == b.Server}, {"dialect", a.Dialect == b.Dialect}, {"finish_reason", a.Finish == b.Finish},
		{"error_category", a.Category == b.Category}, {"response_status", a.ResponseStatus == b.ResponseStatus}, {"status_code", sameCount(a.Status, b.Status)},
		{"started_at", a.Started == b.Started}, {"completed_at", a.Completed == b.Completed}, {"latency_total_ms", a.LatencyMS == b.LatencyMS},
		{"latency_ttft_ms", a.TTFTMS == b.TTFTMS}, {"tokens_in", sameCount(a.TokensIn, b.TokensIn)}, {"tokens_out", sameCount(a.TokensOut, b.TokensOut)},
		{"tokens_reasoning", sameCount(a.TokensReasoning, b.TokensReasoning)}, {"tokens_total", sameCount(a.TokensTotal, b.TokensTotal)},
		{"cached_tokens", sameCount(a.Cached, b.Cached)}, {"tool_calls", a.Tools == b.Tools},
	} {
		if !f.same {
			return f.name
		}
	}
	return ""
}

func sameCount(a, b lax.Count) bool { return a.Set == b.Set && a.Int.Cmp(b.Int) == 0 }

// A Mapper makes digests of the calls of rows. It reuses its memory and belongs to one goroutine; the zero Mapper is
// ready.
type Mapper struct {
	words []byte
	at    map[string]uint64
	body  []byte
	last  float64
	key   []byte
	calls []callFields
	place placing
}

// Append appends the digest of a row's calls to dst.
func (m *Mapper) Append(dst []byte, row *rollout.Row) []byte {
	if row.Problem != nil {
		return append(dst, digestVersion, byte(SourceNone))
	}
	attached := row.Value.Get("ng_model_call_capture").Get("calls")
	if attached.IsArray() {
		return m.list(dst, attached, row.Trajectory, SourceAttachment)
	}
	if calls := row.Trajectory.Get("model_calls"); calls.IsArray() {
		return m.list(dst, calls, row.Trajectory, SourceTrajectory)
	}
	return append(dst, digestVersion, byte(SourceNone))
}

// AppendAttachment appends the digest of an attachment that is a JSON text of its own, such as the one that
// [Attachment.AppendJSON] made.
func AppendAttachment(dst, text []byte) []byte {
	var (
		s jsonscan.Scanner
		m Mapper
	)
	v, err := s.Scan(text)
	if calls := v.Get("calls"); err == nil && calls.IsArray() {
		return m.list(dst, calls, jsonscan.Value{}, SourceAttachment)
	}
	return append(dst, digestVersion, byte(SourceNone))
}

func (m *Mapper) list(dst []byte, calls, trajectory jsonscan.Value, source Source) []byte {
	if m.at == nil {
		m.at = map[string]uint64{}
	}
	clear(m.at)
	m.words, m.body, m.last = m.words[:0], m.body[:0], 0
	m.calls = m.calls[:0]
	e := calls.Elements()
	for e.Next() {
		if !e.Value.IsObject() {
			continue
		}
		var f callFields
		if source == SourceAttachment {
			f.attached(e.Value)
		} else {
			f.saved(e.Value)
		}
		m.calls = append(m.calls, f)
	}
	m.place.look(m.calls, trajectory)
	for i := range m.calls {
		m.call(&m.calls[i])
	}
	dst = append(dst, digestVersion, byte(source))
	dst = binary.AppendUvarint(dst, uint64(len(m.calls)))
	dst = binary.AppendUvarint(dst, uint64(len(m.at)))
	dst = append(dst, m.words...)
	return append(dst, m.body...)
}

// callFields are the fields of a call wherever they stand.
type callFields struct {
	model, server, dialect, finish, category, responseStatus jsonscan.Value
	status, started, completed, latency, ttft                jsonscan.Value
	in, out, reasoning, total, cached                        jsonscan.Value
	tools                                                    int
	answered                                                 bool

	id, response, ref jsonscan.Value // what others name the call by
	turn              int
	invocation        jsonscan.Value
}

// attached reads a call of an attachment.
func (f *callFields) attached(v jsonscan.Value) {
	m := v.Members()
	for m.Next() {
		switch string(m.Key) {
		case "model_call_id":
			f.id = m.Value
		case "response_id":
			f.response = m.Value
		case "model":
			f.model = m.Value
		case "model_ref":
			f.ref = m.Value
		case "dialect":
			f.dialect = m.Value
		case "finish_reason":
			f.finish = m.Value
		case "error_category":
			f.category = m.Value
		case "response_status":
			f.responseStatus = m.Value
		case "status_code":
			f.status = m.Value
		case "started_at":
			f.started = m.Value
		case "completed_at":
			f.completed = m.Value
		case "latency_total_ms":
			f.latency = m.Value
		case "latency_ttft_ms":
			f.ttft = m.Value
		case "tokens_in":
			f.in = m.Value
		case "tokens_out":
			f.out = m.Value
		case "tokens_reasoning":
			f.reasoning = m.Value
		case "tokens_total":
			f.total = m.Value
		case "cached_tokens":
			f.cached = m.Value
		case "tool_calls":
			f.tools = 0
			if m.Value.IsArray() {
				f.tools, _ = m.Value.Parts()
			}
		}
	}
	f.server = f.ref.Get("name")
}

// saved reads a call of a trajectory.
func (f *callFields) saved(v jsonscan.Value) {
	var metadata, stats jsonscan.Value
	m := v.Members()
	for m.Next() {
		switch string(m.Key) {
		case "model_call_id":
			f.id = m.Value
		case "started_at":
			f.started = m.Value
		case "completed_at":
			f.completed = m.Value
		case "duration_ms":
			f.latency = m.Value
		case "response":
			f.answered = !m.Value.IsNull()
		case "response_metadata":
			metadata = m.Value
		case "token_stats":
			stats = m.Value
		}
	}
	m = metadata.Members()
	for m.Next() {
		switch string(m.Key) {
		case "response_id":
			f.response = m.Value
		case "model":
			f.model = m.Value
		case "model_ref":
			f.ref = m.Value
		case "dialect":
			f.dialect = m.Value
		case "finish_reason":
			f.finish = m.Value
		case "error_category":
			f.category = m.Value
		case "response_status":
			f.responseStatus = m.Value
		case "status_code":
			f.status = m.Value
		case "latency_ttft_ms":
			f.ttft = m.Value
		}
	}
	f.server = f.ref.Get("name")
	f.in, f.out = stats.Get("prompt_tokens"), stats.Get("completion_tokens")
	f.reasoning, f.total, f.cached = stats.Get("reasoning_tokens"), stats.Get("total_tokens"), stats.Get("cached_tokens")
}

// call adds a call to the body.
func (m *Mapper) call(f *callFields) {
	bits := uint64(0)
	start := len(m.body)
	m.body = append(m.body, 0, 0, 0) // room for the bits
	if x, ok := real(f.started); ok {
		bits |= hasStarted
		m.body = appendTime(m.body, x, m.last)
		m.last = x
	}
	if x, ok := real(f.completed); ok {
		bits |= hasCompleted
		m.body = appendTime(m.body, x, m.last)
	}
	for _, one := range [...]struct {
		v   jsonscan.Value
		bit uint64
	}{{f.latency, hasLatency}, {f.ttft, hasTTFT}} {
		if x, ok := real(one.v); ok {
			bits |= one.bit
			m.body = appendScaled(m.body, x, 100)
		}
	}
	for _, one := range [...]struct {
		v   jsonscan.Value
		bit uint64
	}{{f.in, hasIn}, {f.out, hasOut}, {f.reasoning, hasReasoning}, {f.total, hasTotal}, {f.cached, hasCached}} {
		n, ok := lax.Int(one.v)
		if small, fits := n.Int64(); ok && fits && small >= 0 {
			bits |= one.bit
			m.body = binary.AppendUvarint(m.body, uint64(small))
		}
	}
	if n, ok := lax.Int(f.status); ok && !f.status.IsNull() {
		small, fits := n.Int64()
		if !fits {
			small = math.MaxInt64
			if n.Sign() < 0 {
				small = math.MinInt64
			}
		}
		bits |= hasStatus
		m.body = binary.AppendVarint(m.body, small)
	}
	for _, one := range [...]struct {
		v   jsonscan.Value
		bit uint64
	}{
		{f.model, hasModel}, {f.server, hasServer}, {f.dialect, hasDialect}, {f.finish, hasFinish},
		{f.category, hasCategory}, {f.responseStatus, hasResponseStatus},
	} {
		if one.v.IsString() {
			bits |= one.bit
			m.body = binary.AppendUvarint(m.body, m.word(one.v))
		}
	}
	if f.tools > 0 {
		bits |= hasTools
		m.body = binary.AppendUvarint(m.body, uint64(f.tools))
	}
	if f.turn > 0 {
		bits |= hasTurn
		m.body = binary.AppendUvarint(m.body, uint64(f.turn))
	}
	if f.invocation.IsString() {
		bits |= hasInvocation
		m.body = binary.AppendUvarint(m.body, m.word(f.invocation))
	}
	if f.answered {
		bits |= hasResponse
	}
	m.body[start], m.body[start+1], m.body[start+2] = byte(bits), byte(bits>>8), byte(bits>>16)
}

// longestWord bounds what is kept of a text.
const longestWord = 200

// word numbers the words of a row.
func (m *Mapper) word(v jsonscan.Value) uint64 {
	m.key = v.AppendText(m.key[:0])
	if len(m.key) > longestWord {
		cut := longestWord
		for cut > 0 && m.key[cut]&0xC0 == 0x80 {
			cut--
		}
		m.key = append(m.key[:cut], "…"...)
	}
	n, known := m.at[string(m.key)]
	if !known {
		n = uint64(len(m.at))
		m.at[string(m.key)] = n
		m.words = binary.AppendUvarint(m.words, uint64(len(m.key)))
		m.words = append(m.words, m.key...)
	}
	return n
}

// real reads a finite number by the lax rules; others say nothing here.
func real(v jsonscan.Value) (float64, bool) {
	if v.IsNull() {
		return 0, false
	}
	f, ok := lax.Float(v)
	return f, ok && !math.IsNaN(f) && !math.IsInf(f, 0)
}

// A float is a varint of its multiple where that says it exactly, or else its bits. The lowest bit of the varint says
// which.

// appendScaled stores a number that probably has few decimals.
func appendScaled(dst []byte, x, scale float64) []byte {
	const most = 1 << 52
	if n := math.Round(x * scale); math.Abs(n) < most && n/scale == x && !(n == 0 && math.Signbit(x)) {
		return binary.AppendVarint(dst, int64(n)*2)
	}
	dst = binary.AppendVarint(dst, 1)
	return binary.LittleEndian.AppendUint64(dst, math.Float64bits(x))
}

// appendTime stores a time, by its distance from another in milliseconds where that says it exactly.
func appendTime(dst []byte, x, last float64) []byte {
	const most, scale = 1 << 50, 1000
	n, base := math.Round(x*scale), math.Round(last*scale)
	if math.Abs(n) < most && math.Abs(base) < most && n/scale == x && !(n == 0 && math.Signbit(x)) {
		return binary.AppendVarint(dst, int64(n-base)*2)
	}
	dst = binary.AppendVarint(dst, 1)
	return binary.LittleEndian.AppendUint64(dst, math.Float64bits(x))
}
