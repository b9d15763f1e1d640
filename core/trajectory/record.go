package trajectory

import (
	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/modelcall"
	"github.com/rollscope/rollscope/core/trajectory/lax"
)

// The fields of a record that may be null. A Text stays valid until the next Read of the reader that made it.
type (
	Text  = lax.Text
	Count = lax.Count
	Real  = lax.Real
	Flag  = lax.Flag
)

// How a call names its model server, and how others name the call.
type (
	ModelRef = modelcall.ModelRef
	Ref      = modelcall.Ref
)

// An Invocation is one run of the root agent or of a subagent.
type Invocation struct {
	ID, Parent, SpawnedBy Text
	Status                Text
	DurationMS            Real
	ErrorType             Text
	Refs                  []Ref
	Conversation          jsonscan.Value // the items as written; each was validated
	At                    jsonscan.Value // the invocation as written
}

// A Turn is one step of an agent as its transcript shows it.
type Turn struct {
	InvocationID     Text
	No               integer.Int
	Timestamp        float64
	Question, Answer jsonscan.Value // any value; absent counts as null
	Reasoning        jsonscan.Value
	Resolved         Flag
	StepCount        integer.Int
	Refs             []Ref
	At               jsonscan.Value // the turn as written
}

// A Call is one captured model call.
type Call struct {
	ID                     Text
	StartedAt, CompletedAt Real
	DurationMS             Real
	Request, Response      jsonscan.Value

	ResponseID, Model, Dialect, ResponseStatus, FinishReason Text
	ModelRef                                                 ModelRef
	StatusCode, UpstreamStatusCode                           Count
	UpstreamAttempted                                        Flag
	ResponseSource, LocalResponseReason, ErrorCategory       Text
	TTFTMS                                                   Real

	PromptTokens, CompletionTokens, ReasoningTokens, TotalTokens, CachedTokens Count

	At jsonscan.Value // the call as written
}

// A ToolCall is one execution of a tool.
type ToolCall struct {
	InvocationID, ID       Text
	SandboxID, Name        Text
	ErrorType              Text
	StartedAt, CompletedAt Real
	DurationMS             Real
	TimingSource, Status   Text
	Output                 jsonscan.Value
	At                     jsonscan.Value
}

// A Gap says which evidence is missing, and why, by its code.
type Gap struct {
	Code                 Text
	InvocationID, Detail Text
}

// A Record is a valid trajectory.
type Record struct {
	TaskID, RolloutID Text
	Invocations       []Invocation
	Turns             []Turn
	Calls             []Call
	Tools             []ToolCall
	Gaps              []Gap
}

// Has tells whether some gap has exactly this code, whatever its invocation.
func (r *Record) Has(code string) bool {
	for i := range r.Gaps {
		if string(r.Gaps[i].Code.Bytes) == code {
			return true
		}
	}
	return false
}
