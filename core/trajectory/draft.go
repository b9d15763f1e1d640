package trajectory

import (
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/jsontext"
	"github.com/rollscope/rollscope/core/modelcall"
	"github.com/rollscope/rollscope/core/trajectory/lax"
)

// A trajectory is put together from pieces of several origins. A piece of an object is the JSON text of one of its
// fields; where a later origin knows a field better, its text takes the place of the one that is there. A field
// without a text is null.

// A draftCall is a model call that is being put together.
type draftCall struct {
	top   [callMetadata][]byte
	meta  [metaFields][]byte
	stats [statsFields][]byte

	call     Call // what is asked of it: ids and tokens
	exchange exchange
	answered bool // its response is not null
}

// overlay takes over what another call says.
func (d *draftCall) overlay(other *draftCall) {
	lay(d.top[:], other.top[:])
	lay(d.meta[:], other.meta[:])
	lay(d.stats[:], other.stats[:])
	c, o := &d.call, &other.call
	for _, p := range [...]struct{ to, from *Text }{{&c.ID, &o.ID}, {&c.ResponseID, &o.ResponseID}} {
		if p.from.Set {
			*p.to = *p.from
		}
	}
	if o.ModelRef.Set {
		c.ModelRef = o.ModelRef
	}
	for _, p := range [...]struct{ to, from *Count }{
		{&c.PromptTokens, &o.PromptTokens}, {&c.CompletionTokens, &o.CompletionTokens},
		{&c.ReasoningTokens, &o.ReasoningTokens}, {&c.TotalTokens, &o.TotalTokens}, {&c.CachedTokens, &o.CachedTokens},
	} {
		if p.from.Set {
			*p.to = *p.from
		}
	}
}

func lay(to, from [][]byte) {
	for i, text := range from {
		if text != nil {
			to[i] = text
		}
	}
}

func (d *draftCall) append(dst []byte) []byte {
	dst = append(dst, '{')
	for i, text := range d.top {
		dst = piece(dst, &callTable, i, text)
	}
	dst = append(dst, `,"response_metadata":{`...)
	for i, text := range d.meta {
		dst = piece(dst, &metadataTable, i, text)
	}
	dst = append(dst, `},"token_stats":{`...)
	for i, text := range d.stats {
		dst = piece(dst, &statsTable, i, text)
	}
	return append(dst, "}}"...)
}

// piece writes one field.
func piece(dst []byte, t *table, i int, text []byte) []byte {
	dst = name(dst, t.fields[i].name)
	switch {
	case text != nil:
		return append(dst, text...)
	case t.fields[i].preset != "":
		return append(dst, t.fields[i].preset...)
	}
	return append(dst, "null"...)
}

// pieces cuts an object into the texts of its fields.
func (b *Builder) pieces(to [][]byte, t *table, v jsonscan.Value) {
	f := b.w.gather(t, v)
	for i := range to {
		if f[i].IsNull() {
			continue
		}
		if t.fields[i].shape.kind == kindFree {
			to[i] = b.arena.free(f[i])
			continue
		}
		start := len(b.arena.text)
		b.arena.text = b.w.shape(b.arena.text, &t.fields[i].shape, f[i])
		to[i] = b.arena.since(start)
	}
	b.w.release(f)
}

// since is the text that was made behind a place.
func (a *arena) since(start int) []byte { return a.text[start:len(a.text):len(a.text)] }

// draftOf makes a draft of a call that was read from a trajectory.
func (b *Builder) draftOf(c *Call) *draftCall {
	d := &draftCall{call: *c}
	b.pieces(d.top[:], &callTable, c.At)
	b.pieces(d.meta[:], &metadataTable, c.At.Get("response_metadata"))
	b.pieces(d.stats[:], &statsTable, c.At.Get("token_stats"))
	return d
}

// captured makes a draft of a captured call. Without payload it keeps nothing of what was sent and received. The error
// is that of a call which no trajectory can have.
func (a *arena) captured(c *modelcall.Call, payload bool) (*draftCall, *BuildError) {
	d := new(draftCall)
	for _, f := range [...]lax.Real{c.LatencyMS, c.TTFTMS} {
		if f.Set && !(f.Value >= 0) {
			return nil, &BuildError{ClassValidation, "a latency of the call " + string(c.Label()) + " is below zero"}
		}
	}
	d.call = Call{
		ID: c.ID, ResponseID: c.ResponseID, ModelRef: c.ModelRef,
		PromptTokens: c.TokensIn, CompletionTokens: c.TokensOut, ReasoningTokens: c.TokensReasoning,
		TotalTokens: c.TokensTotal, CachedTokens: c.CachedTokens, StartedAt: c.StartedAt, CompletedAt: c.CompletedAt,
	}
	d.top[callID] = a.quoted(c.ID)
	d.top[callStarted] = a.real(c.StartedAt)
	d.top[callCompleted] = a.real(c.CompletedAt)
	d.top[callDuration] = a.real(c.LatencyMS)
	m := &d.meta
	m[metaResponseID] = a.quoted(c.ResponseID)
	if c.ModelRef.Set {
		start := len(a.text)
		a.text = c.ModelRef.AppendJSON(a.text)
		m[metaModelRef] = a.since(start)
	}
	m[metaModel] = a.quoted(c.Model)
	m[metaDialect] = a.quoted(c.Dialect)
	m[metaStatus] = a.count(c.StatusCode)
	m[metaResponseStatus] = a.quoted(c.ResponseStatus)
	m[metaFinish] = a.quoted(c.FinishReason)
	if c.UpstreamAttempted.Set {
		start := len(a.text)
		a.text = modelcall.AppendFlag(a.text, c.UpstreamAttempted)
		m[metaAttempted] = a.since(start)
	}
	m[metaSource] = a.quoted(c.ResponseSource)
	m[metaUpstreamStatus] = a.count(c.UpstreamStatusCode)
	m[metaLocalReason] = a.quoted(c.LocalResponseReason)
	m[metaError] = a.quoted(c.ErrorCategory)
	m[metaTTFT] = a.real(c.TTFTMS)
	s := &d.stats
	s[statsPrompt] = a.count(c.TokensIn)
	s[statsCompletion] = a.count(c.TokensOut)
	s[statsReasoning] = a.count(c.TokensReasoning)
	s[statsTotal] = a.count(c.TokensTotal)
	s[statsCached] = a.count(c.CachedTokens)
	if payload {
		request, response := c.Request, c.Response
		if !request.Exists() {
			request = c.RequestRaw
		}
		if !response.Exists() {
			response = c.ResponseRaw
		}
		a.payload(d, request, response)
	}
	return d, nil
}

// payload takes over what was sent and received.
func (a *arena) payload(d *draftCall, request, response jsonscan.Value) {
	if !request.IsNull() {
		d.top[callRequest] = a.request(request)
	}
	if d.answered = !response.IsNull(); d.answered {
		d.top[callResponse] = a.free(response)
		d.exchange = a.exchangeOf(request, response, d.top[callRequest], d.top[callResponse])
	}
}

// timestamp is when the call began, or ended, or 0 where neither is known.
func (d *draftCall) timestamp() float64 {
	for _, at := range [...]Real{d.call.StartedAt, d.call.CompletedAt} {
		if at.Set && at.Value != 0 {
			return at.Value
		}
	}
	return 0
}

// quoted, count and real make the texts of fields; those that are null have none.
func (a *arena) quoted(t Text) []byte {
	if !t.Set {
		return nil
	}
	start := len(a.text)
	a.text = jsontext.AppendQuoted(a.text, t.Bytes)
	return a.since(start)
}

func (a *arena) count(n Count) []byte {
	if !n.Set {
		return nil
	}
	start := len(a.text)
	a.text = n.Int.Append(a.text)
	return a.since(start)
}

func (a *arena) real(f Real) []byte {
	if !f.Set {
		return nil
	}
	start := len(a.text)
	a.text = jsontext.AppendFloat(a.text, f.Value)
	return a.since(start)
}

// keptText copies a text so that it outlives its reader.
func keptText(t Text) Text {
	if t.Set {
		t.Bytes = append([]byte{}, t.Bytes...)
	}
	return t
}

// A draftTool is a tool call that is being put together.
type draftTool struct {
	pieces [toolOutput + 1][]byte
	tool   ToolCall // what is asked of it
}

// overlay takes over what an observation says. That its status is unknown says nothing.
func (d *draftTool) overlay(pieces [][]byte, t *ToolCall) {
	if string(t.Status.Bytes) == "unknown" && string(d.tool.Status.Bytes) != "unknown" {
		pieces[toolStatus] = nil
	}
	lay(d.pieces[:], pieces)
	if pieces[toolStatus] != nil {
		d.tool.Status = t.Status
	}
	if t.StartedAt.Set {
		d.tool.StartedAt = t.StartedAt
	}
	if t.CompletedAt.Set {
		d.tool.CompletedAt = t.CompletedAt
	}
}

// ordered tells whether the tool does not end before it starts.
func (d *draftTool) ordered() bool {
	t := &d.tool
	return !t.StartedAt.Set || !t.CompletedAt.Set || !(t.CompletedAt.Value < t.StartedAt.Value)
}

func (d *draftTool) append(dst []byte) []byte {
	dst = append(dst, '{')
	for i, text := range d.pieces {
		dst = piece(dst, &toolTable, i, text)
	}
	return append(dst, '}')
}

// A draftTurn is a turn with its text, or with the call that it is derived from.
type draftTurn struct {
	turn Turn // whose, which number, when
	text []byte
	call *draftCall
}

// A draftInvocation is an invocation with its text.
type draftInvocation struct {
	invocation Invocation
	text       []byte
}

// turn writes a turn of a producer under the canonical ids.
func (w *writer) turn(dst []byte, t *Turn, task, rollout []byte) []byte {
	f := w.gather(&turnTable, t.At)
	dst = append(dst, '{')
	for i := range turnTable.fields {
		key := turnTable.fields[i].name
		switch i {
		case turnTask:
			dst = append(name(dst, key), task...)
		case turnRollout:
			dst = append(name(dst, key), rollout...)
		case turnRefs:
			dst = appendRefs(name(dst, key), t.Refs)
		default:
			dst = w.field(dst, &turnTable, i, f[i])
		}
	}
	w.release(f)
	return append(dst, '}')
}

// append writes a turn.
func (t *draftTurn) append(dst, task, rollout []byte) []byte {
	if t.call == nil {
		return append(dst, t.text...)
	}
	e := &t.call.exchange
	dst = appendText(append(dst, `{"invocation_id":`...), t.turn.InvocationID)
	dst = append(append(dst, `,"task_id":`...), task...)
	dst = append(append(dst, `,"rollout_id":`...), rollout...)
	dst = t.turn.No.Append(append(dst, `,"turn_no":`...))
	dst = jsontext.AppendFloat(append(dst, `,"timestamp":`...), t.turn.Timestamp)
	dst = e.question.append(append(dst, `,"question":`...))
	dst = e.answer.append(append(dst, `,"answer":`...))
	dst = e.reasoning.append(append(dst, `,"reasoning_content":`...))
	dst = modelcall.AppendFlag(append(dst, `,"resolved":`...), t.turn.Resolved)
	dst = t.turn.StepCount.Append(append(dst, `,"step_count":`...))
	dst = appendRefs(append(dst, `,"model_calls":`...), t.turn.Refs)
	return append(dst, '}')
}

// size bounds the length of the text.
func (t *draftTurn) size() int {
	if t.call == nil {
		return len(t.text)
	}
	e := &t.call.exchange
	return e.question.size() + e.answer.size() + e.reasoning.size() + 512
}
