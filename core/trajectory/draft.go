package trajectory

import (
	"github.com/rollscope/rollscope/core/integer"
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
func (w *writer) pieces(to [][]byte, t *table, v jsonscan.Value) {
	f := w.gather(t, v)
	for i := range to {
		if !f[i].IsNull() {
			to[i] = w.shape(nil, &t.fields[i].shape, f[i])
		}
	}
	w.release(f)
}

// draftOf makes a draft of a call that was read from a trajectory.
func (w *writer) draftOf(c *Call) *draftCall {
	d := &draftCall{call: *c}
	w.pieces(d.top[:], &callTable, c.At)
	w.pieces(d.meta[:], &metadataTable, c.At.Get("response_metadata"))
	w.pieces(d.stats[:], &statsTable, c.At.Get("token_stats"))
	return d
}

// captured makes a draft of a captured call. Without payload it keeps nothing of what was sent and received. The error
// is that of a call which no trajectory can have.
func captured(c *modelcall.Call, payload bool) (*draftCall, *BuildError) {
	d := new(draftCall)
	for _, f := range [...]lax.Real{c.LatencyMS, c.TTFTMS} {
		if f.Set && !(f.Value >= 0) {
			return nil, &BuildError{ClassValidation, "a latency of the call " + string(c.Label()) + " is below zero"}
		}
	}
	d.call = Call{
		ID: keptText(c.ID), ResponseID: keptText(c.ResponseID),
		ModelRef:     ModelRef{Type: keptText(c.ModelRef.Type), Name: keptText(c.ModelRef.Name), Set: c.ModelRef.Set},
		PromptTokens: c.TokensIn, CompletionTokens: c.TokensOut, ReasoningTokens: c.TokensReasoning,
		TotalTokens: c.TokensTotal, CachedTokens: c.CachedTokens, StartedAt: c.StartedAt, CompletedAt: c.CompletedAt,
	}
	d.top[callID] = pieceText(c.ID)
	d.top[callStarted] = pieceReal(c.StartedAt)
	d.top[callCompleted] = pieceReal(c.CompletedAt)
	d.top[callDuration] = pieceReal(c.LatencyMS)
	m := &d.meta
	m[metaResponseID] = pieceText(c.ResponseID)
	if c.ModelRef.Set {
		m[metaModelRef] = c.ModelRef.AppendJSON(nil)
	}
	m[metaModel] = pieceText(c.Model)
	m[metaDialect] = pieceText(c.Dialect)
	m[metaStatus] = pieceCount(c.StatusCode)
	m[metaResponseStatus] = pieceText(c.ResponseStatus)
	m[metaFinish] = pieceText(c.FinishReason)
	if c.UpstreamAttempted.Set {
		m[metaAttempted] = modelcall.AppendFlag(nil, c.UpstreamAttempted)
	}
	m[metaSource] = pieceText(c.ResponseSource)
	m[metaUpstreamStatus] = pieceCount(c.UpstreamStatusCode)
	m[metaLocalReason] = pieceText(c.LocalResponseReason)
	m[metaError] = pieceText(c.ErrorCategory)
	m[metaTTFT] = pieceReal(c.TTFTMS)
	s := &d.stats
	s[statsPrompt] = pieceCount(c.TokensIn)
	s[statsCompletion] = pieceCount(c.TokensOut)
	s[statsReasoning] = pieceCount(c.TokensReasoning)
	s[statsTotal] = pieceCount(c.TokensTotal)
	s[statsCached] = pieceCount(c.CachedTokens)
	if payload {
		request, response := c.Request, c.Response
		if !request.Exists() {
			request = c.RequestRaw
		}
		if !response.Exists() {
			response = c.ResponseRaw
		}
		d.payload(request, response)
	}
	return d, nil
}

// payload takes over what was sent and received.
func (d *draftCall) payload(request, response jsonscan.Value) {
	d.top[callRequest] = pieceFree(request)
	d.top[callResponse] = pieceFree(response)
	if d.answered = !response.IsNull(); d.answered {
		d.exchange = exchangeOf(request, response)
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

func pieceText(t Text) []byte {
	if !t.Set {
		return nil
	}
	return jsontext.AppendQuoted(nil, t.Bytes)
}

func pieceCount(n Count) []byte {
	if !n.Set {
		return nil
	}
	return n.Int.Append(nil)
}

func pieceReal(f Real) []byte {
	if !f.Set {
		return nil
	}
	return jsontext.AppendFloat(nil, f.Value)
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

// A draftTurn is a turn with its text.
type draftTurn struct {
	turn       Turn // whose, which number, when
	text       []byte
	resolvedAt int // end of the value of resolved, of derived ones
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

// derived makes a turn of a call.
func derived(owner Text, task, rollout []byte, no, steps int, c *draftCall, ref *Ref) draftTurn {
	at := c.timestamp()
	dst := appendText(append([]byte(nil), `{"invocation_id":`...), owner)
	dst = append(append(dst, `,"task_id":`...), task...)
	dst = append(append(dst, `,"rollout_id":`...), rollout...)
	dst = integer.Of(int64(no)).Append(append(dst, `,"turn_no":`...))
	dst = jsontext.AppendFloat(append(dst, `,"timestamp":`...), at)
	dst = append(append(dst, `,"question":`...), c.exchange.question...)
	dst = append(append(dst, `,"answer":`...), c.exchange.answer...)
	dst = append(append(dst, `,"reasoning_content":`...), c.exchange.reasoning...)
	dst = append(dst, `,"resolved":null`...)
	resolvedAt := len(dst)
	dst = integer.Of(int64(steps)).Append(append(dst, `,"step_count":`...))
	dst = ref.AppendJSON(append(dst, `,"model_calls":[`...))
	dst = append(dst, "]}"...)
	return draftTurn{
		turn: Turn{InvocationID: owner, No: integer.Of(int64(no)), Timestamp: at, StepCount: integer.Of(int64(steps)), Refs: []Ref{*ref}},
		text: dst, resolvedAt: resolvedAt,
	}
}
