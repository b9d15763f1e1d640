package modelcall

import (
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/trajectory/lax"
)

// A ModelRef names a model server. The zero ModelRef is null.
type ModelRef struct {
	Type, Name lax.Text
	Set        bool
}

// Equal tells whether both name the same server, or both none.
func (m ModelRef) Equal(n ModelRef) bool {
	return m.Set == n.Set && m.Type.Equal(n.Type) && m.Name.Equal(n.Name)
}

// ServerType is the only type of a model server there is.
const ServerType = "responses_api_models"

// A Ref points from a turn, an invocation or a compaction to a model call.
type Ref struct {
	ModelCallID lax.Text
	Model       ModelRef
	ResponseID  lax.Text
}

// Label is how gaps and findings name a reference: its call id if that is not empty, else its response id.
func (r *Ref) Label() []byte {
	if !r.ModelCallID.Empty() {
		return r.ModelCallID.Bytes
	}
	return r.ResponseID.Bytes
}

// Valid tells whether the reference names anything: a call, or a response of a model server.
func (r *Ref) Valid() bool {
	return !r.ModelCallID.Empty() || r.Model.Set && !r.ResponseID.Empty()
}

// Matches tells whether the reference fits a call of this canonical form (spec model-calls §10).
func (r *Ref) Matches(call *Ref) bool {
	if !r.ModelCallID.Empty() {
		return string(r.ModelCallID.Bytes) == string(call.ModelCallID.Bytes) &&
			(!r.Model.Set || r.Model.Equal(call.Model)) &&
			(!r.ResponseID.Set || r.ResponseID.Equal(call.ResponseID))
	}
	return !r.ResponseID.Empty() && r.Model.Set && r.Model.Equal(call.Model) &&
		string(r.ResponseID.Bytes) == string(call.ResponseID.Bytes)
}

// A Call is the record of one exchange with a model server (spec model-calls §5). Every field may be null.
type Call struct {
	Index           int // position of its line in the capture, damaged ones counted
	ID, ResponseID  lax.Text
	ClientSessionID lax.Text
	ModelRef        ModelRef
	Model, Dialect  lax.Text
	StatusCode      lax.Count
	ResponseStatus  lax.Text
	FinishReason    lax.Text

	UpstreamAttempted   lax.Flag
	ResponseSource      lax.Text
	UpstreamStatusCode  lax.Count
	LocalResponseReason lax.Text

	StartedAt, CompletedAt                            lax.Real // Unix seconds
	TokensIn, TokensOut, TokensReasoning, TokensTotal lax.Count

	// The payloads as they stand in the line: objects, or texts where the bodies were none. Absent where they are
	// not known.
	Request, Response, RequestRaw, ResponseRaw jsonscan.Value

	ToolCalls                         []ToolCall
	Reasoning                         lax.Text
	CacheHit                          lax.Flag
	CachedTokens, CacheCreationTokens lax.Count
	ErrorCategory                     lax.Text
	LatencyMS, TTFTMS                 lax.Real

	// Height is how deep the tallest of payloads and arguments is nested, in levels.
	Height int
	// Unwritable says why no row can hold the call: a loosely read argument is nothing that JSON can say. "" for all
	// others.
	Unwritable string
}

// A ToolCall is what a model asked for in a response. Its parts are JSON texts.
type ToolCall struct{ CallID, Name, Arguments []byte }

// Canonical is the reference that names the call fully.
func (c *Call) Canonical() Ref {
	return Ref{ModelCallID: c.ID, Model: c.ModelRef, ResponseID: c.ResponseID}
}

// Label is how gaps name a call: its id if that is not empty, else its response id.
func (c *Call) Label() []byte {
	if !c.ID.Empty() {
		return c.ID.Bytes
	}
	return c.ResponseID.Bytes
}
