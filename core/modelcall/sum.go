package modelcall

import (
	"math"

	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/jsontext"
	"github.com/rollscope/rollscope/core/trajectory/lax"
)

// A Sum adds floats with compensation, in the order they come (spec model-calls §8.3). The zero Sum is empty.
type Sum struct {
	high, low float64
	any       bool
}

// Add adds a float.
func (s *Sum) Add(x float64) {
	if !s.any {
		s.high, s.any = x, true
		return
	}
	t := s.high + x
	if math.Abs(s.high) >= math.Abs(x) {
		s.low += (s.high - t) + x
	} else {
		s.low += (x - t) + s.high
	}
	s.high = t
}

// Value is the sum, 0 of nothing.
func (s *Sum) Value() float64 {
	if s.low != 0 && !math.IsNaN(s.low) && !math.IsInf(s.low, 0) {
		return s.high + s.low
	}
	return s.high
}

// Any tells whether anything was added.
func (s *Sum) Any() bool { return s.any }

// Metrics are the sums over the calls of an attachment (spec model-calls §8.3): those of the values that are known,
// null where none is.
type Metrics struct {
	TokensIn, TokensOut, TokensReasoning, TokensTotal, CachedTokens lax.Count
	LatencyTotalMS                                                  lax.Real
	NumCalls                                                        int

	latency Sum
}

// Add adds a call.
func (m *Metrics) Add(c *Call) {
	m.NumCalls++
	for _, p := range [...]struct{ sum, n *lax.Count }{
		{&m.TokensIn, &c.TokensIn}, {&m.TokensOut, &c.TokensOut}, {&m.TokensReasoning, &c.TokensReasoning},
		{&m.TokensTotal, &c.TokensTotal}, {&m.CachedTokens, &c.CachedTokens},
	} {
		addCount(p.sum, *p.n)
	}
	if c.LatencyMS.Set {
		m.latency.Add(c.LatencyMS.Value)
		m.LatencyTotalMS = lax.RealOf(m.latency.Value())
	}
}

func addCount(sum *lax.Count, n lax.Count) {
	if n.Set {
		*sum = lax.Count{Int: sum.Int.Add(n.Int), Set: true}
	}
}

// MetricNames are the keys of the sums in written order.
var MetricNames = [...]string{"tokens_in", "tokens_out", "tokens_reasoning", "tokens_total", "cached_tokens", "latency_total_ms", "num_calls"}

// AppendJSON appends the sums as an object.
func (m *Metrics) AppendJSON(dst []byte) []byte {
	dst = AppendCount(append(dst, `{"tokens_in":`...), m.TokensIn)
	dst = AppendCount(append(dst, `,"tokens_out":`...), m.TokensOut)
	dst = AppendCount(append(dst, `,"tokens_reasoning":`...), m.TokensReasoning)
	dst = AppendCount(append(dst, `,"tokens_total":`...), m.TokensTotal)
	dst = AppendCount(append(dst, `,"cached_tokens":`...), m.CachedTokens)
	dst = AppendReal(append(dst, `,"latency_total_ms":`...), m.LatencyTotalMS)
	dst = integer.Of(int64(m.NumCalls)).Append(append(dst, `,"num_calls":`...))
	return append(dst, '}')
}

// Writable tells whether rows can hold the sums.
func (m *Metrics) Writable() bool {
	for _, n := range [...]lax.Count{m.TokensIn, m.TokensOut, m.TokensReasoning, m.TokensTotal, m.CachedTokens} {
		if !n.Int.Writable() {
			return false
		}
	}
	return true
}

// A Gap of an attachment says what the capture lacks.
type Gap struct{ Code, Detail string } // Detail "" is none

// The gaps of an attachment.
const (
	GapNoRecords   = "model_call_capture_no_records"
	GapUnreadable  = "model_call_capture_unreadable"
	GapDamaged     = "model_call_capture_records_unreadable"
	GapIncomplete  = "model_call_capture_incomplete"
	GapJoinFailed  = "agent_observation_join_failed"
	GapProjection  = "trajectory_projection_failed"
	GapUnmatched   = "model_call_reference_unmatched"
	GapAmbiguous   = "model_call_reference_ambiguous"
	GapConflict    = "model_call_reference_conflict"
	GapUnowned     = "model_call_ownership_unavailable"
	GapRedacted    = "multimodal_history_redacted"
	GapGapInvalid  = "model_call_capture_gap_invalid"
	GapNoCalls     = "model_calls_unavailable"
	GapNoTurns     = "turns_unavailable"
	GapNoDialogue  = "conversation_unavailable"
	GapBadProducer = "producer_trajectory_invalid"
	GapIdentity    = "producer_trajectory_identity_mismatch"
	GapBadBundle   = "agent_observations_invalid"
)

// AppendJSON appends the gap as an object without null keys.
func (g Gap) AppendJSON(dst []byte) []byte {
	dst = jsontext.AppendQuoted(append(dst, `{"code":`...), g.Code)
	if g.Detail != "" {
		dst = jsontext.AppendQuoted(append(dst, `,"detail":`...), g.Detail)
	}
	return append(dst, '}')
}
