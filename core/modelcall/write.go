package modelcall

import (
	"strconv"

	"github.com/rollscope/rollscope/core/jsontext"
	"github.com/rollscope/rollscope/core/trajectory/lax"
	"github.com/rollscope/rollscope/core/value"
)

// AppendText, AppendCount, AppendReal and AppendFlag append a field as JSON; null is null, and so is a number that is
// not finite.
func AppendText(dst []byte, t lax.Text) []byte {
	if !t.Set {
		return append(dst, "null"...)
	}
	return jsontext.AppendQuoted(dst, t.Bytes)
}

// AppendCount appends a whole number or null.
func AppendCount(dst []byte, n lax.Count) []byte {
	if !n.Set {
		return append(dst, "null"...)
	}
	return n.Int.Append(dst)
}

// AppendReal appends a float or null.
func AppendReal(dst []byte, f lax.Real) []byte {
	if !f.Set {
		return append(dst, "null"...)
	}
	return jsontext.AppendFloat(dst, f.Value)
}

// AppendFlag appends a bool or null.
func AppendFlag(dst []byte, f lax.Flag) []byte {
	if !f.Set {
		return append(dst, "null"...)
	}
	return strconv.AppendBool(dst, f.True)
}

// AppendJSON appends the server as an object, or null.
func (m ModelRef) AppendJSON(dst []byte) []byte {
	if !m.Set {
		return append(dst, "null"...)
	}
	dst = AppendText(append(dst, `{"type":`...), m.Type)
	dst = AppendText(append(dst, `,"name":`...), m.Name)
	return append(dst, '}')
}

// AppendJSON appends the reference as an object.
func (r *Ref) AppendJSON(dst []byte) []byte {
	dst = AppendText(append(dst, `{"model_call_id":`...), r.ModelCallID)
	dst = r.Model.AppendJSON(append(dst, `,"model_ref":`...))
	dst = AppendText(append(dst, `,"response_id":`...), r.ResponseID)
	return append(dst, '}')
}

// A recordField is a field of the call record as rows have it.
type recordField struct {
	name    string
	payload bool // only in rows whose trajectory could not be built
	append  func(dst []byte, c *Call) []byte
}

// recordFields are in written order.
var recordFields = [...]recordField{
	{"model_call_id", false, func(dst []byte, c *Call) []byte { return AppendText(dst, c.ID) }},
	{"response_id", false, func(dst []byte, c *Call) []byte { return AppendText(dst, c.ResponseID) }},
	{"client_session_id", false, func(dst []byte, c *Call) []byte { return AppendText(dst, c.ClientSessionID) }},
	{"call_index", false, func(dst []byte, c *Call) []byte { return strconv.AppendInt(dst, int64(c.Index), 10) }},
	{"model_ref", false, func(dst []byte, c *Call) []byte { return c.ModelRef.AppendJSON(dst) }},
	{"model", false, func(dst []byte, c *Call) []byte { return AppendText(dst, c.Model) }},
	{"dialect", false, func(dst []byte, c *Call) []byte { return AppendText(dst, c.Dialect) }},
	{"status_code", false, func(dst []byte, c *Call) []byte { return AppendCount(dst, c.StatusCode) }},
	{"response_status", false, func(dst []byte, c *Call) []byte { return AppendText(dst, c.ResponseStatus) }},
	{"finish_reason", false, func(dst []byte, c *Call) []byte { return AppendText(dst, c.FinishReason) }},
	{"upstream_attempted", false, func(dst []byte, c *Call) []byte { return AppendFlag(dst, c.UpstreamAttempted) }},
	{"response_source", false, func(dst []byte, c *Call) []byte { return AppendText(dst, c.ResponseSource) }},
	{"upstream_status_code", false, func(dst []byte, c *Call) []byte { return AppendCount(dst, c.UpstreamStatusCode) }},
	{"local_response_reason", false, func(dst []byte, c *Call) []byte { return AppendText(dst, c.LocalResponseReason) }},
	{"started_at", false, func(dst []byte, c *Call) []byte { return AppendReal(dst, c.StartedAt) }},
	{"completed_at", false, func(dst []byte, c *Call) []byte { return AppendReal(dst, c.CompletedAt) }},
	{"tokens_in", false, func(dst []byte, c *Call) []byte { return AppendCount(dst, c.TokensIn) }},
	{"tokens_out", false, func(dst []byte, c *Call) []byte { return AppendCount(dst, c.TokensOut) }},
	{"tokens_reasoning", false, func(dst []byte, c *Call) []byte { return AppendCount(dst, c.TokensReasoning) }},
	{"tokens_total", false, func(dst []byte, c *Call) []byte { return AppendCount(dst, c.TokensTotal) }},
	{"request", true, func(dst []byte, c *Call) []byte { return value.AppendScanned(dst, c.Request) }},
	{"response", true, func(dst []byte, c *Call) []byte { return value.AppendScanned(dst, c.Response) }},
	{"request_raw", true, func(dst []byte, c *Call) []byte { return value.AppendScanned(dst, c.RequestRaw) }},
	{"response_raw", true, func(dst []byte, c *Call) []byte { return value.AppendScanned(dst, c.ResponseRaw) }},
	{"tool_calls", false, appendToolCalls},
	{"reasoning_content", false, func(dst []byte, c *Call) []byte { return AppendText(dst, c.Reasoning) }},
	{"cache_hit", false, func(dst []byte, c *Call) []byte { return AppendFlag(dst, c.CacheHit) }},
	{"cached_tokens", false, func(dst []byte, c *Call) []byte { return AppendCount(dst, c.CachedTokens) }},
	{"cache_creation_tokens", false, func(dst []byte, c *Call) []byte { return AppendCount(dst, c.CacheCreationTokens) }},
	{"error_category", false, func(dst []byte, c *Call) []byte { return AppendText(dst, c.ErrorCategory) }},
	{"latency_total_ms", false, func(dst []byte, c *Call) []byte { return AppendReal(dst, c.LatencyMS) }},
	{"latency_ttft_ms", false, func(dst []byte, c *Call) []byte { return AppendReal(dst, c.TTFTMS) }},
}

// PayloadFields are the keys of a call record that hold what was sent and received.
var PayloadFields = [...]string{"request", "response", "request_raw", "response_raw"}

func appendToolCalls(dst []byte, c *Call) []byte {
	dst = append(dst, '[')
	for i, t := range c.ToolCalls {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(dst, `{"call_id":`...), t.CallID...)
		dst = append(append(dst, `,"name":`...), t.Name...)
		dst = append(append(dst, `,"arguments":`...), t.Arguments...)
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

// AppendHead appends the record up to the place of the payload, AppendTail the rest. Between them goes nothing, or
// what AppendPayload appends. All three need the payload's line to be there still.
func (c *Call) AppendHead(dst []byte) []byte {
	return c.appendFields(append(dst, '{'), 0, firstPayload)
}

// AppendPayload appends the four payload fields, each with a comma in front.
func (c *Call) AppendPayload(dst []byte) []byte {
	return c.appendFields(dst, firstPayload, firstPayload+len(PayloadFields))
}

// AppendTail appends the fields behind the payload and closes the object.
func (c *Call) AppendTail(dst []byte) []byte {
	return append(c.appendFields(dst, firstPayload+len(PayloadFields), len(recordFields)), '}')
}

// Writable says why no row can hold the call, "" if one can.
func (c *Call) Writable() string {
	for _, n := range [...]lax.Count{c.TokensIn, c.TokensOut, c.TokensReasoning, c.TokensTotal, c.CachedTokens, c.CacheCreationTokens, c.StatusCode, c.UpstreamStatusCode} {
		if !n.Int.Writable() {
			return "a number of the call " + string(c.Label()) + " is beyond 64 bits"
		}
	}
	return c.Unwritable
}

// AppendRecord appends the whole record without its payload.
func (c *Call) AppendRecord(dst []byte) []byte { return c.AppendTail(c.AppendHead(dst)) }

const firstPayload = 20

func (c *Call) appendFields(dst []byte, from, to int) []byte {
	for i := from; i < to; i++ {
		if i > 0 {
			dst = append(dst, ',')
		}
		f := &recordFields[i]
		dst = append(append(append(dst, '"'), f.name...), `":`...)
		dst = f.append(dst, c)
	}
	return dst
}
