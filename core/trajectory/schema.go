package trajectory

// The tables of this file are those of spec health §5; the written order is that of spec trajectory §2. The
// constants behind a table are the places of its fields.

var schema = table{
	name: "trajectory",
	fields: []field{
		opt("schema_version", word("1.0")).by(`"1.0"`),
		must("task_id", text),
		must("rollout_id", text),
		opt("invocations", list(object(&invocationTable))).by(`[]`),
		opt("turns", list(object(&turnTable))).by(`[]`),
		opt("model_calls", list(object(&callTable))).by(`[]`),
		opt("tool_calls", list(object(&toolTable))).by(`[]`),
		opt("gaps", list(object(&gapTable))).by(`[]`),
	},
}

const (
	_ = iota
	recordTask
	recordRollout
	recordInvocations
)

var invocationTable = table{
	name: "invocation",
	part: partInvocation,
	fields: []field{
		opt("kind", word("agent_invocation")).by(`"agent_invocation"`),
		must("invocation_id", text),
		may("parent_invocation_id", text),
		may("spawned_by_tool_call_id", text),
		opt("status", word("completed", "failed", "incomplete", "unknown")).by(`"unknown"`),
		may("duration_ms", span),
		may("error_type", text),
		opt("model_calls", list(object(&refTable))).by(`[]`),
		opt("conversation", list(shape{kind: kindItem})).by(`[]`),
	},
}

const (
	_ = iota
	invocationID
	invocationParent
	invocationSpawnedBy
	invocationStatus
	invocationDuration
	invocationError
	invocationRefs
	invocationConversation
)

var turnTable = table{
	name: "turn",
	part: partTurn,
	fields: []field{
		must("invocation_id", text),
		must("task_id", text),
		must("rollout_id", text),
		must("turn_no", whole.from(1)),
		must("timestamp", number),
		may("question", free),
		may("answer", free),
		may("reasoning_content", free),
		may("resolved", flag),
		must("step_count", count),
		opt("model_calls", list(object(&refTable))).by(`[]`),
	},
}

const (
	turnInvocation = iota
	turnTask
	turnRollout
	turnNo
	turnTimestamp
	turnQuestion
	turnAnswer
	turnReasoning
	turnResolved
	turnSteps
	turnRefs
)

var refTable = table{
	name: "model call reference",
	part: partRef,
	rule: ruleRef,
	fields: []field{
		may("model_call_id", text),
		may("model_ref", object(&modelRefTable)),
		may("response_id", text),
	},
}

const (
	refCall = iota
	refModel
	refResponse
)

var modelRefTable = table{
	name:  "model reference",
	part:  partModelRef,
	extra: dropped,
	fields: []field{
		must("type", word("responses_api_models")),
		must("name", text),
	},
}

const (
	modelRefType = iota
	modelRefName
)

var callTable = table{
	name: "model call",
	part: partCall,
	fields: []field{
		may("model_call_id", text),
		may("started_at", number),
		may("completed_at", number),
		may("duration_ms", span),
		may("request", free),
		may("response", free),
		opt("response_metadata", object(&metadataTable)).by(`{}`),
		opt("token_stats", object(&statsTable)).by(`{}`),
	},
}

const (
	callID = iota
	callStarted
	callCompleted
	callDuration
	callRequest
	callResponse
	callMetadata
)

var metadataTable = table{
	name: "response metadata",
	part: partMetadata,
	fields: []field{
		may("response_id", text),
		may("model_ref", object(&modelRefTable)),
		may("model", text),
		may("dialect", text),
		may("status_code", whole),
		may("response_status", text),
		may("finish_reason", text),
		may("upstream_attempted", flag),
		may("response_source", word("upstream", "local")),
		may("upstream_status_code", whole),
		may("local_response_reason", text),
		may("error_category", text),
		may("latency_ttft_ms", span),
	},
}

const (
	metaResponseID = iota
	metaModelRef
	metaModel
	metaDialect
	metaStatus
	metaResponseStatus
	metaFinish
	metaAttempted
	metaSource
	metaUpstreamStatus
	metaLocalReason
	metaError
	metaTTFT
	metaFields
)

var statsTable = table{
	name: "token stats",
	part: partStats,
	fields: []field{
		may("prompt_tokens", count),
		may("completion_tokens", count),
		may("reasoning_tokens", count),
		may("total_tokens", count),
		may("cached_tokens", count),
	},
}

const (
	statsPrompt = iota
	statsCompletion
	statsReasoning
	statsTotal
	statsCached
	statsFields
)

var toolTable = table{
	name: "tool call",
	part: partTool,
	rule: ruleTimes,
	fields: []field{
		opt("kind", word("tool_call")).by(`"tool_call"`),
		must("invocation_id", text),
		must("tool_call_id", text),
		may("sandbox_id", text),
		may("tool_name", text),
		may("started_at", number),
		may("completed_at", number),
		may("duration_ms", span),
		may("timing_source", word("executor", "artifact", "harness")),
		opt("status", word("completed", "failed", "timeout", "cancelled", "incomplete", "unknown")).by(`"unknown"`),
		may("error_type", text),
		may("output", free),
	},
}

const (
	_ = iota
	toolInvocation
	toolID
	toolSandbox
	toolName
	toolStarted
	toolCompleted
	toolDuration
	toolTiming
	toolStatus
	toolError
	toolOutput
)

var gapTable = table{
	name: "gap",
	part: partGap,
	fields: []field{
		must("code", text),
		may("invocation_id", text),
		may("detail", text),
	},
}

const (
	gapCode = iota
	gapInvocation
	gapDetail
)
