package finding

// Ids of findings about the evidence of single rollouts: captured model calls (spec model-calls §11), trajectories
// (trajectory §11), numbers of performance (perf §5) and ATIF files (atif §7). Here an error means that the evidence
// contradicts itself, a warning that it is lost or doubtful.
const (
	CallsDamaged            = "calls.damaged"
	CallsIncomplete         = "calls.incomplete"
	CallsNoCapture          = "calls.no_capture"
	CallsOrphanCapture      = "calls.orphan_capture"
	CallsDuplicateID        = "calls.duplicate_id"
	CallsAttachmentMismatch = "calls.attachment_mismatch"
	CallsMetricsMismatch    = "calls.metrics_mismatch"
	CallsStreamMismatch     = "calls.stream_mismatch"
	CallsTimeOrder          = "calls.time_order"
	CallsClockSkew          = "calls.clock_skew"
	CallsTTFTOrder          = "calls.ttft_order"
	CallsBadKey             = "calls.bad_key"
	CallsBadRolloutID       = "calls.bad_rollout_id"
	CallsCategoryMismatch   = "calls.category_mismatch"
	CallsUnknownCategory    = "calls.unknown_category"
	CallsFarOff             = "calls.far_off"
	CallsLate               = "calls.late"
	CallsMissing            = "calls.missing"
	CallsUnfinishedClaim    = "calls.unfinished_claim"
	CallsJoinMismatch       = "calls.join_mismatch"
	CallsVersion            = "calls.older_version"

	TrajInvalid          = "traj.invalid"
	TrajMismatch         = "traj.mismatch"
	TrajSchemaVersion    = "traj.schema_version"
	TrajDanglingRef      = "traj.dangling_ref"
	TrajUnsortedTurns    = "traj.unsorted_turns"
	TrajTurnGap          = "traj.turn_gap"
	TrajStepCount        = "traj.step_count"
	TrajGapContradiction = "traj.gap_contradiction"
	TrajTokenMismatch    = "traj.token_mismatch"
	TrajPayloadDuplicate = "traj.payload_duplicate"
	TrajOrphanTool       = "traj.orphan_tool"
	TrajIdentity         = "traj.identity"
	TrajToolDuration     = "traj.tool_duration"

	PerfMismatch        = "perf.mismatch"
	PerfUnexpected      = "perf.unexpected"
	PerfMissing         = "perf.missing"
	PerfBadLatency      = "perf.bad_latency"
	PerfBadValue        = "perf.bad_value"
	PerfLatencySpan     = "perf.latency_span"
	PerfLowCoverage     = "perf.low_coverage"
	PerfSummaryMismatch = "perf.summary_mismatch"
	PerfSummaryMissing  = "perf.summary_missing"

	ATIFInvalidGym        = "atif.invalid_gym"
	ATIFInvalidHarbor     = "atif.invalid_harbor"
	ATIFNotImportable     = "atif.not_importable"
	ATIFExportBlocked     = "atif.export_blocked"
	ATIFHashMismatch      = "atif.hash_mismatch"
	ATIFMissingFile       = "atif.manifest_missing_file"
	ATIFDuplicate         = "atif.manifest_duplicate"
	ATIFUnpinned          = "atif.manifest_unpinned"
	ATIFBadManifest       = "atif.manifest_refused"
	ATIFExportMismatch    = "atif.export_mismatch"
	ATIFSourceIdentity    = "atif.source_identity"
	ATIFTotalSteps        = "atif.total_steps"
	ATIFMissingMedia      = "atif.missing_media"
	ATIFMetricsSum        = "atif.metrics_sum"
	ATIFDanglingSubagent  = "atif.dangling_subagent"
	ATIFToolUnanswered    = "atif.tool_unanswered"
	ATIFUnknownVersion    = "atif.unknown_version"
	ATIFUnreadable        = "atif.unreadable"
	ATIFObservationOrphan = "atif.orphan_observation"
)

var calls = []Definition{
	{ID: CallsDamaged, Severity: Warning, Title: "damaged line in a capture",
		Text: "A line of the capture is no call: it is no JSON, no object, or has a field of the wrong type. Such an exchange took place but is lost.",
		Says: "{count} lines of the capture are damaged: {lines}"},
	{ID: CallsIncomplete, Severity: Warning, Title: "capture known to be incomplete",
		Text: "The marker beside the capture says that at least one exchange of this attempt could not be written.",
		Says: "at least one exchange could not be written to the capture {key}"},
	{ID: CallsNoCapture, Severity: Info, Title: "no capture file to compare with",
		Text: "The row has calls attached, but the capture they were made of is not among the files. What the row says about them stands unproved.",
		Says: "{calls} attached calls, and no capture {key} to compare them with"},
	{ID: CallsOrphanCapture, Severity: Info, Title: "capture that no row has",
		Text: "The key of the capture belongs to no row: an attempt that was stopped, or one that is still running.",
		Says: "no row belongs to the capture {key}"},
	{ID: CallsDuplicateID, Severity: Error, Title: "two calls of one id",
		Text: "Ids of model calls are unique. Two calls of one capture share one, so references to it mean nothing, and no trajectory can be built.",
		Says: "the calls {indices} share the id {id}"},
	{ID: CallsAttachmentMismatch, Severity: Error, Title: "attached calls differ from their capture",
		Text: "What the row says about its calls was made of the capture file. Made again from the file, it is something else.",
		Says: "{=path} is {saved}, the capture gives {made}"},
	{ID: CallsMetricsMismatch, Severity: Error, Title: "sums differ from the attached calls",
		Text: "The sums of tokens and latencies in the row are not those of the calls beside them.",
		Says: "{=path} is {saved}, the attached calls give {made}"},
	{ID: CallsStreamMismatch, Severity: Warning, Title: "response differs from its stream",
		Text: "The response of a streamed call was put together from its events. Put together again, it is something else.",
		Says: "the response of call {call} is not what its events add up to, first at {=path}"},
	{ID: CallsTimeOrder, Severity: Warning, Title: "call that ends before it starts",
		Text: "A call ends before it starts, or has a latency below zero. A clock was set back, or the numbers were changed.",
		Says: "call {call} ends before it starts"},
	{ID: CallsClockSkew, Severity: Info, Title: "wall clock and latency disagree",
		Text: "Start and end come from the wall clock, the latency from a clock that only goes forward. They differ by more than a second.",
		Says: "call {call} took {wall_ms} ms by the wall clock and {latency_ms} ms by the other"},
	{ID: CallsTTFTOrder, Severity: Info, Title: "first token after the last",
		Text: "The time to the first token is longer than the whole call.",
		Says: "the first token of call {call} came after {ttft_ms} ms, the call took {latency_ms} ms"},
	{ID: CallsBadKey, Severity: Warning, Title: "capture with an impossible key",
		Text: "The file is named like a capture, but no row can have such a key.",
		Says: "no row can have the key {key}"},
	{ID: CallsBadRolloutID, Severity: Warning, Title: "row that can have no capture",
		Text: "The explicit rollout id or the attempt of the row cannot be part of a capture's name; the reference stops at such a row.",
		Says: "{member} is {value}, which cannot be part of a capture's name"},
	{ID: CallsCategoryMismatch, Severity: Warning, Title: "error category without evidence",
		Text: "The error category of a call is not one that its status, its response and its stream allow.",
		Says: "call {call} has the error category {saved}; its evidence allows {allowed}"},
	{ID: CallsUnknownCategory, Severity: Info, Title: "unknown error category",
		Text: "A newer writer names an error category that is not known here.",
		Says: "call {call} has the unknown error category {saved}"},
	{ID: CallsFarOff, Severity: Info, Title: "call far away in time",
		Text: "A call of the capture began long before or after the others. Two runs with the same indices may have written into one directory.",
		Says: "call {call} began {seconds} s away from the other calls of its capture"},
	{ID: CallsLate, Severity: Warning, Title: "calls after the row",
		Text: "The capture has calls behind those of the row that ended later. They came when the row had been written already.",
		Says: "{count} calls of the capture came too late for the row"},
	{ID: CallsMissing, Severity: Error, Title: "capture shorter than the row",
		Text: "The row has more calls than its capture. The file was cut or replaced.",
		Says: "the row has {attached} calls, its capture {captured}"},
	{ID: CallsUnfinishedClaim, Severity: Warning, Title: "announced write that never came",
		Text: "A write to the capture was announced and never confirmed. The capture is to be treated as incomplete.",
		Says: "a write to the capture {key} was announced and never confirmed"},
	{ID: CallsJoinMismatch, Severity: Warning, Title: "observations are not joined as they would be",
		Text: "Joined again with the attached calls, the observations of the row come out with other references or other gaps.",
		Says: "joined again, the observations differ: {what}"},
	{ID: CallsVersion, Severity: Info, Title: "calls of an older version",
		Text: "The attached calls lack fields that version 0.7.0 writes. They are not compared.",
		Says: "the attached calls lack {fields}"},
}

var trajectories = []Definition{
	{ID: TrajInvalid, Severity: Error, Title: "trajectory that violates its schema",
		Text: "The saved trajectory cannot be used by anything that reads trajectories.",
		Says: "{=class} at {=path}: {=reason}"},
	{ID: TrajMismatch, Severity: Error, Varies: "warning where the capture is not there or not the row's", Title: "trajectory differs from its evidence",
		Text: "Built again from the observations and the calls, the trajectory is another one, whether its turns come from the agent or from the calls.",
		Says: "{count} places differ from what the {=origin} gives, first {=path}: saved {saved}, built {made}"},
	{ID: TrajSchemaVersion, Severity: Info, Title: "trajectory of another version",
		Text: "The record says it is of a version that is not known here. Known fields are shown; it is not built again.",
		Says: "schema_version is {version}"},
	{ID: TrajDanglingRef, Severity: Warning, Title: "reference to no single call",
		Text: "A turn, invocation or compaction names a model call that is not there, or that several are, and no gap says so.",
		Says: "{where} names {label}, which fits {matches} calls"},
	{ID: TrajUnsortedTurns, Severity: Warning, Title: "turns out of order",
		Text: "The turns are not ordered by time, invocation and number.",
		Says: "turn {position} of the list comes before an earlier one"},
	{ID: TrajTurnGap, Severity: Info, Title: "turn numbers with holes",
		Text: "The turns of an invocation are not numbered from 1 without holes.",
		Says: "the turns of {invocation} are numbered {numbers}"},
	{ID: TrajStepCount, Severity: Warning, Title: "step count that falls",
		Text: "The number of steps of an invocation is lower at a later turn.",
		Says: "the step count of {invocation} falls at turn {turn}"},
	{ID: TrajGapContradiction, Severity: Warning, Title: "gap about something that is there",
		Text: "A gap says that turns, calls or the conversation are not there, and they are; or they are missing and no gap says so.",
		Says: "{gap}: {state}"},
	{ID: TrajTokenMismatch, Severity: Error, Title: "tokens differ from the attached call",
		Text: "The token counts of a call in the trajectory are not those of the attached call with the same id.",
		Says: "{=field} of call {call} is {saved}, the attached call has {made}"},
	{ID: TrajPayloadDuplicate, Severity: Info, Title: "payloads kept twice",
		Text: "The attached calls still hold requests and responses although the trajectory has them.",
		Says: "{calls} attached calls still hold their payload"},
	{ID: TrajOrphanTool, Severity: Info, Title: "tool of an unlisted invocation",
		Text: "A tool call names an invocation that is not in the trajectory.",
		Says: "tool call {tool} names the invocation {invocation}"},
	{ID: TrajIdentity, Severity: Error, Title: "ids differ from the row",
		Text: "Task id and rollout id of the trajectory are made of the input row. Made again they are others.",
		Says: "{=field} is {saved}, the row gives {made}"},
	{ID: TrajToolDuration, Severity: Info, Title: "duration differs from the end points",
		Text: "Both ends of a tool call and its duration were measured, and they do not fit.",
		Says: "tool call {tool} took {duration_ms} ms and lasted {span_ms} ms by its ends"},
}

var performance = []Definition{
	{ID: PerfMismatch, Severity: Error, Title: "numbers differ from the trajectory",
		Text: "The numbers of performance were computed from the trajectory beside them. Computed again they are others.",
		Says: "{=field} is {saved}, the trajectory gives {made}"},
	{ID: PerfUnexpected, Severity: Error, Title: "numbers without a trajectory",
		Text: "The row has numbers of performance, but no trajectory that can give any.",
		Says: "ng_perf is there, and {why}"},
	{ID: PerfMissing, Severity: Warning, Title: "no numbers",
		Text: "The trajectory of the row gives numbers of performance and other rows have them, this one has none.",
		Says: "the row has no ng_perf"},
	{ID: PerfBadLatency, Severity: Warning, Title: "latency that is none",
		Text: "The measured time of the rollout is no number, or below zero.",
		Says: "total_latency_ms is {saved}"},
	{ID: PerfBadValue, Severity: Warning, Title: "value that is no number",
		Text: "A number of performance is something else. It is left out of every sum.",
		Says: "{=field} is {saved}"},
	{ID: PerfLatencySpan, Severity: Info, Title: "calls longer than the rollout",
		Text: "From the first start to the last end of its calls more time passed than the rollout took.",
		Says: "the calls span {span_ms} ms, the rollout took {latency_ms} ms"},
	{ID: PerfLowCoverage, Severity: Info, Title: "turns without tokens",
		Text: "Not every turn of the rollout has a model call whose tokens were observed.",
		Says: "the tokens of {coverage} of the turns were observed"},
	{ID: PerfSummaryMismatch, Severity: Error, Varies: "info for differences that another numeric library makes", Title: "saved summary differs",
		Text: "The saved summary of a batch was computed from its rows. Computed again it is another one.",
		Says: "{=field} of {entry} is {saved}, the rows give {made}"},
	{ID: PerfSummaryMissing, Severity: Warning, Title: "no summary",
		Text: "Rows of the entry have numbers of performance, and the saved metrics have no summary of them.",
		Says: "{entry} has no perf_summary"},
}

var atif = []Definition{
	{ID: ATIFUnreadable, Severity: Error, Title: "file that is no trajectory",
		Text: "The file cannot be read as an ATIF document at all.",
		Says: "{=reason}"},
	{ID: ATIFUnknownVersion, Severity: Info, Title: "version that is not known",
		Text: "The document says it is of a version that is not known here. What is known of it is shown.",
		Says: "schema_version is {version}"},
	{ID: ATIFInvalidGym, Severity: Warning, Title: "not valid for NeMo Gym",
		Text: "The document is not of the strict form that NeMo Gym writes and reads.",
		Says: "{=path}: {=reason}"},
	{ID: ATIFInvalidHarbor, Severity: Warning, Title: "not valid for Harbor",
		Text: "The document violates the schema of the Harbor framework.",
		Says: "{=path}: {=reason}"},
	{ID: ATIFNotImportable, Severity: Warning, Title: "cannot be imported by NeMo Gym",
		Text: "The document could not be turned back into a response that a verifier judges.",
		Says: "{=path}: {=reason}"},
	{ID: ATIFExportBlocked, Severity: Info, Title: "rollout that cannot be exported",
		Text: "The rollout breaks a rule of the export. The first one is named.",
		Says: "{=rule}"},
	{ID: ATIFHashMismatch, Severity: Error, Title: "file differs from its digest",
		Text: "The manifest names the SHA-256 of the file, and the file has another.",
		Says: "the SHA-256 is {made}, the manifest says {saved}"},
	{ID: ATIFMissingFile, Severity: Error, Title: "file that is not there",
		Text: "The manifest names a file that is not among those given.",
		Says: "{path} is not there"},
	{ID: ATIFDuplicate, Severity: Error, Title: "entry that repeats another",
		Text: "Two entries of the manifest share a rollout, a file, a digest or the identity of their trajectory.",
		Says: "{=what} {value} is in several entries"},
	{ID: ATIFUnpinned, Severity: Info, Title: "entry without a digest",
		Text: "The manifest does not say which bytes the file should have.",
		Says: "{path} has no digest"},
	{ID: ATIFBadManifest, Severity: Error, Title: "manifest that is refused",
		Text: "A line of the manifest is not of its form.",
		Says: "{=reason}"},
	{ID: ATIFExportMismatch, Severity: Error, Title: "exported file differs from its rollout",
		Text: "Exported again, the rollout gives another document.",
		Says: "{=path} is {saved}, the rollout gives {made}"},
	{ID: ATIFSourceIdentity, Severity: Error, Title: "file of another rollout",
		Text: "The indices that the document declares differ from those of the manifest or of its name.",
		Says: "{=field} is {saved}, expected {made}"},
	{ID: ATIFTotalSteps, Severity: Warning, Title: "number of steps differs",
		Text: "The document says it has another number of steps than it has, and no note explains it.",
		Says: "total_steps is {saved}, there are {made}"},
	{ID: ATIFMissingMedia, Severity: Warning, Title: "media file that is not there",
		Text: "An image or a sound of the document is not among the files.",
		Says: "{path} is not there"},
	{ID: ATIFMetricsSum, Severity: Warning, Title: "totals differ from the steps",
		Text: "The totals of the document are not the sums over its steps.",
		Says: "{=field}: the file says {saved}, its steps give {made}"},
	{ID: ATIFDanglingSubagent, Severity: Warning, Title: "subagent that is not there",
		Text: "A result refers to the trajectory of a subagent that is neither in the document nor among the files.",
		Says: "{path} refers to {value}"},
	{ID: ATIFToolUnanswered, Severity: Info, Title: "tool call without a result",
		Text: "A tool call of a step has no result in that step.",
		Says: "tool call {tool} of step {step} has no result"},
	{ID: ATIFObservationOrphan, Severity: Warning, Title: "result of no tool call",
		Text: "A result names a tool call that its step does not have.",
		Says: "step {step} has a result of {tool}, which it did not call"},
}
