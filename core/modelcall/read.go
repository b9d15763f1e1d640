package modelcall

import (
	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/trajectory/lax"
)

// A Reader makes calls of capture lines. Texts of a call are pieces of its line or of the reader, so that they live
// as long as both; payloads and tool calls die with the next Read. The zero Reader is ready.
type Reader struct {
	scanner jsonscan.Scanner
	inner   jsonscan.Scanner // of arguments
	arena   []byte
	call    Call
}

// A DamageError says why a line of a capture is no call.
type DamageError struct {
	Offset int // in the line
	Reason string
}

// Error gives the reason.
func (e *DamageError) Error() string { return e.Reason }

// Reset forgets the texts of the calls read so far, which must not be used any more.
func (r *Reader) Reset() { r.arena = r.arena[:0] }

// Read makes the call of one line, whose index is its position in the capture. The error is a [*DamageError].
func (r *Reader) Read(line []byte, index int) (*Call, error) {
	v, err := r.scanner.Scan(jsonl.Trim(line))
	if err != nil {
		refusal := err.(*jsonscan.Error)
		return nil, &DamageError{refusal.Offset, "not JSON: " + refusal.Reason}
	}
	if !v.IsObject() {
		return nil, &DamageError{0, "not an object"}
	}
	r.call = Call{ToolCalls: r.call.ToolCalls[:0]}
	r.call.Index = index
	if bad := r.line(&r.call, v); bad != nil {
		return nil, bad
	}
	return &r.call, nil
}

// line takes over what the line itself says, and then what follows from the payloads.
func (r *Reader) line(c *Call, v jsonscan.Value) *DamageError {
	var session, id, dialect, category, reason, source, ref jsonscan.Value
	var status, upstream, attempted, started, completed, latency, ttft jsonscan.Value
	m := v.Members()
	for m.Next() {
		switch string(m.Key) {
		case "model_call_id":
			id = m.Value
		case "client_session_id":
			session = m.Value
		case "model_ref":
			ref = m.Value
		case "dialect":
			dialect = m.Value
		case "status_code":
			status = m.Value
		case "upstream_attempted":
			attempted = m.Value
		case "response_source":
			source = m.Value
		case "upstream_status_code":
			upstream = m.Value
		case "local_response_reason":
			reason = m.Value
		case "started_at":
			started = m.Value
		case "completed_at":
			completed = m.Value
		case "error_category":
			category = m.Value
		case "latency_ms":
			latency = m.Value
		case "latency_ttft_ms":
			ttft = m.Value
		case "request":
			c.Request = m.Value
		case "response":
			c.Response = m.Value
		case "request_raw":
			c.RequestRaw = m.Value
		case "response_raw":
			c.ResponseRaw = m.Value
		}
	}
	f := fields{r: r}
	f.text(&c.ID, id, "model_call_id")
	f.text(&c.Dialect, dialect, "dialect")
	f.text(&c.ErrorCategory, category, "error_category")
	f.text(&c.LocalResponseReason, reason, "local_response_reason")
	f.text(&c.ResponseSource, source, "response_source")
	if f.bad == nil && c.ResponseSource.Set && !c.ResponseSource.Is("upstream") && !c.ResponseSource.Is("local") {
		f.refuse(source, "response_source", "neither upstream nor local")
	}
	f.count(&c.StatusCode, status, "status_code")
	f.count(&c.UpstreamStatusCode, upstream, "upstream_status_code")
	f.real(&c.StartedAt, started, "started_at")
	f.real(&c.CompletedAt, completed, "completed_at")
	f.real(&c.LatencyMS, latency, "latency_ms")
	f.real(&c.TTFTMS, ttft, "latency_ttft_ms")
	f.flag(&c.UpstreamAttempted, attempted, "upstream_attempted")
	f.server(&c.ModelRef, ref)
	if f.bad != nil {
		return f.bad
	}
	if session.IsString() {
		c.ClientSessionID = r.text(session)
	}
	for _, payload := range [...]*jsonscan.Value{&c.Request, &c.Response} {
		if !payload.IsObject() {
			*payload = jsonscan.Value{}
		}
	}
	for _, raw := range [...]*jsonscan.Value{&c.RequestRaw, &c.ResponseRaw} {
		if !raw.IsString() {
			*raw = jsonscan.Value{}
		}
	}
	c.Height = max(c.Height, c.Request.Height(), c.Response.Height())
	return r.payload(c)
}

// payload takes over what follows from request and response.
func (r *Reader) payload(c *Call) *DamageError {
	p := c.Response
	var id, model, status, usage, stop, choices, incomplete, output, content jsonscan.Value
	m := p.Members()
	for m.Next() {
		switch string(m.Key) {
		case "id":
			id = m.Value
		case "model":
			model = m.Value
		case "status":
			status = m.Value
		case "usage":
			usage = m.Value
		case "stop_reason":
			stop = m.Value
		case "choices":
			choices = m.Value
		case "incomplete_details":
			incomplete = m.Value
		case "output":
			output = m.Value
		case "content":
			content = m.Value
		}
	}
	c.ResponseID = r.textOrNull(id)
	if !model.Truthy() {
		model = c.Request.Get("model")
	}
	c.Model = r.textOrNull(model)
	c.ResponseStatus = r.textOrNull(status)
	c.readUsage(usage)
	c.FinishReason = r.textOrNull(finishReason(stop, choices, incomplete))
	switch {
	case output.IsArray():
		return r.responses(c, output)
	case choices.IsArray():
		return r.chat(c, choices)
	case content.IsArray():
		return r.messages(c, content)
	}
	return nil
}

// finishReason is the first string of those that tell why a model stopped (spec model-calls §5.3).
func finishReason(stop, choices, incomplete jsonscan.Value) jsonscan.Value {
	if stop.IsString() {
		return stop
	}
	first := choices.Elements()
	if first.Next() {
		if reason := first.Value.Get("finish_reason"); reason.IsString() {
			return reason
		}
	}
	return incomplete.Get("reason")
}

// text keeps a string.
func (r *Reader) text(v jsonscan.Value) lax.Text {
	inner, escapes := v.Escaped()
	if !escapes {
		return lax.Text{Bytes: inner, Set: true}
	}
	start := len(r.arena)
	r.arena = v.AppendText(r.arena)
	return lax.Text{Bytes: r.arena[start:len(r.arena):len(r.arena)], Set: true}
}

// textOrNull keeps a string and takes everything else for null.
func (r *Reader) textOrNull(v jsonscan.Value) lax.Text {
	if !v.IsString() {
		return lax.Text{}
	}
	return r.text(v)
}

// fields coerces the fields of a line; the first that cannot be is kept.
type fields struct {
	r   *Reader
	bad *DamageError
}

func (f *fields) refuse(v jsonscan.Value, name, reason string) {
	if f.bad == nil {
		f.bad = &DamageError{v.Offset(), name + " is " + reason}
	}
}

func (f *fields) text(to *lax.Text, v jsonscan.Value, name string) {
	switch {
	case v.IsNull():
	case v.IsString():
		*to = f.r.text(v)
	default:
		f.refuse(v, name, "not a string")
	}
}

func (f *fields) count(to *lax.Count, v jsonscan.Value, name string) {
	if v.IsNull() {
		return
	}
	n, ok := lax.Int(v)
	if !ok {
		f.refuse(v, name, "not a whole number")
	}
	*to = lax.Count{Int: n, Set: true}
}

func (f *fields) real(to *lax.Real, v jsonscan.Value, name string) {
	if v.IsNull() {
		return
	}
	x, ok := lax.Float(v)
	if !ok {
		f.refuse(v, name, "not a number")
	}
	*to = lax.RealOf(x)
}

func (f *fields) flag(to *lax.Flag, v jsonscan.Value, name string) {
	if v.IsNull() {
		return
	}
	b, ok := lax.Bool(v)
	if !ok {
		f.refuse(v, name, "not a bool")
	}
	*to = lax.Flag{True: b, Set: true}
}

func (f *fields) server(to *ModelRef, v jsonscan.Value) {
	if v.IsNull() {
		return
	}
	kind, name := v.Get("type"), v.Get("name")
	if !kind.Is(ServerType) || !name.IsString() {
		f.refuse(v, "model_ref", "no model server")
		return
	}
	*to = ModelRef{Type: f.r.text(kind), Name: f.r.text(name), Set: true}
}

// countOf reads a count: a whole number from 0 on, by no rule but its own kind (spec model-calls §5.1).
func countOf(v jsonscan.Value) lax.Count {
	n, ok := v.Integer()
	if !ok || n.Negative {
		return lax.Count{}
	}
	return lax.Count{Int: integer.FromUint(false, n.Magnitude), Set: true}
}
