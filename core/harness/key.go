package harness

import "github.com/rollscope/rollscope/core/jsonscan"

// A key is a member name that some check reads. The numbers are part of stored digests.
type key uint8

const (
	keyNone key = iota
	keyTrajectory
	keyObservations
	keyRecords
	keyKind
	keyModelCalls
	keyTurns
	keyInvocations
	keyToolCalls
	keyGaps
	keyCode
	keyTaskID
	keyRolloutID
	keyReward
	keyCompleted
	keyMask
	keyFailureKind
	keyFailureReason
	keyModelCallID
	keyMetadata
	keyModelRef
	keyType
	keyName
	keyDialect
	keyStartedAt
	keyCompletedAt
	keyStatusCode
	keyErrorCategory
	keyResponseStatus
	keyFinishReason
	keyResponseID
	keyRequest
	keyResponse
	keyInput
	keyMessages
	keyOutput
	keyChoices
	keyMessage
	keyRole
	keyContent
	keyTokenStats
	keyPromptTokens
	keyCompletionTokens
	keyReasoningTokens
	keyTotalTokens
	keyCachedTokens
	keyPreviousResponseID
	keyInvocationID
	keyParentID
	keyConversation
	keyCallID
	keyArguments
	keyTurnNo
	keyTimestamp
	keyResolved
	keyToolCallID
	keyToolName
	keyStatus
	keySandboxID
	keyOutcome
	keyErrorType
	keyCount
)

var keyNames = [keyCount]string{
	keyTrajectory:         "ng_trajectory",
	keyObservations:       "ng_agent_observations",
	keyRecords:            "records",
	keyKind:               "kind",
	keyModelCalls:         "model_calls",
	keyTurns:              "turns",
	keyInvocations:        "invocations",
	keyToolCalls:          "tool_calls",
	keyGaps:               "gaps",
	keyCode:               "code",
	keyTaskID:             "task_id",
	keyRolloutID:          "rollout_id",
	keyReward:             "reward",
	keyCompleted:          "evaluation_completed",
	keyMask:               "mask_sample",
	keyFailureKind:        "failure_kind",
	keyFailureReason:      "failure_reason",
	keyModelCallID:        "model_call_id",
	keyMetadata:           "response_metadata",
	keyModelRef:           "model_ref",
	keyType:               "type",
	keyName:               "name",
	keyDialect:            "dialect",
	keyStartedAt:          "started_at",
	keyCompletedAt:        "completed_at",
	keyStatusCode:         "status_code",
	keyErrorCategory:      "error_category",
	keyResponseStatus:     "response_status",
	keyFinishReason:       "finish_reason",
	keyResponseID:         "response_id",
	keyRequest:            "request",
	keyResponse:           "response",
	keyInput:              "input",
	keyMessages:           "messages",
	keyOutput:             "output",
	keyChoices:            "choices",
	keyMessage:            "message",
	keyRole:               "role",
	keyContent:            "content",
	keyTokenStats:         "token_stats",
	keyPromptTokens:       "prompt_tokens",
	keyCompletionTokens:   "completion_tokens",
	keyReasoningTokens:    "reasoning_tokens",
	keyTotalTokens:        "total_tokens",
	keyCachedTokens:       "cached_tokens",
	keyPreviousResponseID: "previous_response_id",
	keyInvocationID:       "invocation_id",
	keyParentID:           "parent_invocation_id",
	keyConversation:       "conversation",
	keyCallID:             "call_id",
	keyArguments:          "arguments",
	keyTurnNo:             "turn_no",
	keyTimestamp:          "timestamp",
	keyResolved:           "resolved",
	keyToolCallID:         "tool_call_id",
	keyToolName:           "tool_name",
	keyStatus:             "status",
	keySandboxID:          "sandbox_id",
	keyOutcome:            "outcome",
	keyErrorType:          "error_type",
}

// String gives the name of the member.
func (k key) String() string { return keyNames[k] }

// keySlots finds keys by a sum over a few of their bytes; those of one sum follow each other in keyChain.
var (
	keySlots [512]key
	keyChain [keyCount]key
)

func init() {
	for k := keyCount - 1; k > keyNone; k-- {
		sum := keySum([]byte(keyNames[k]))
		keyChain[k], keySlots[sum] = keySlots[sum], k
	}
}

func keySum(name []byte) int {
	n := len(name)
	return (n*37 + int(name[0])*5 + int(name[n/2])*11 + int(name[n-1])*3) & (len(keySlots) - 1)
}

// keyOf gives the key of a name, keyNone if no check reads it.
func keyOf(name []byte) key {
	if len(name) == 0 {
		return keyNone
	}
	k := keySlots[keySum(name)]
	for k != keyNone && keyNames[k] != string(name) {
		k = keyChain[k]
	}
	return k
}

// An object holds the members of a JSON object that checks read.
type object struct {
	present uint64
	slots   [keyCount]jsonscan.Value
}

// get finds a member; it is absent if there is none.
func (o *object) get(k key) jsonscan.Value {
	if o.present>>k&1 == 0 {
		return jsonscan.Value{}
	}
	return o.slots[k]
}

// kept is how many objects are remembered.
const kept = 8

// objects opens JSON objects and remembers the last few, since many checks look at the same ones.
type objects struct {
	at     [kept]int // where each of them begins; −1 for none
	ring   [kept]object
	next   int
	walked jsonscan.Members
}

// reset forgets everything; it is due when another text is looked at.
func (o *objects) reset() {
	for i := range o.at {
		o.at[i] = -1
	}
}

// nothing is the object that values of other kinds are taken for.
var nothing object

// open gives the members of v, none if it is no object. The result is good until the next call.
func (o *objects) open(v jsonscan.Value) *object {
	if !v.IsObject() {
		return &nothing
	}
	at := v.Offset()
	for i := range o.at {
		if o.at[i] == at {
			return &o.ring[i]
		}
	}
	into := &o.ring[o.next]
	o.at[o.next] = at
	o.next = (o.next + 1) % kept
	into.present = 0
	m := &o.walked
	*m = v.Members()
	for m.Next() {
		if k := keyOf(m.Key); k != keyNone {
			into.present |= 1 << k
			into.slots[k] = m.Value
		}
	}
	return into
}

// get finds a member of v; it is absent if there is none or v is no object.
func (o *objects) get(v jsonscan.Value, k key) jsonscan.Value { return o.open(v).get(k) }
