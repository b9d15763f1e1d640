package trajectory

import "testing"

// TestPlaces holds the constants of the tables against the names they stand for.
func TestPlaces(t *testing.T) {
	for _, c := range []struct {
		table *table
		place int
		name  string
	}{
		{&schema, recordTask, "task_id"}, {&schema, recordRollout, "rollout_id"}, {&schema, recordInvocations, "invocations"},
		{&invocationTable, invocationID, "invocation_id"}, {&invocationTable, invocationParent, "parent_invocation_id"},
		{&invocationTable, invocationSpawnedBy, "spawned_by_tool_call_id"}, {&invocationTable, invocationStatus, "status"},
		{&invocationTable, invocationDuration, "duration_ms"}, {&invocationTable, invocationError, "error_type"},
		{&invocationTable, invocationConversation, "conversation"},
		{&turnTable, turnInvocation, "invocation_id"}, {&turnTable, turnTask, "task_id"}, {&turnTable, turnRollout, "rollout_id"},
		{&turnTable, turnNo, "turn_no"}, {&turnTable, turnTimestamp, "timestamp"}, {&turnTable, turnQuestion, "question"},
		{&turnTable, turnAnswer, "answer"}, {&turnTable, turnReasoning, "reasoning_content"}, {&turnTable, turnResolved, "resolved"},
		{&turnTable, turnSteps, "step_count"},
		{&refTable, refCall, "model_call_id"}, {&refTable, refModel, "model_ref"}, {&refTable, refResponse, "response_id"},
		{&modelRefTable, modelRefType, "type"}, {&modelRefTable, modelRefName, "name"},
		{&callTable, callID, "model_call_id"}, {&callTable, callStarted, "started_at"}, {&callTable, callCompleted, "completed_at"},
		{&callTable, callDuration, "duration_ms"}, {&callTable, callRequest, "request"}, {&callTable, callResponse, "response"},
		{&metadataTable, metaResponseID, "response_id"}, {&metadataTable, metaModelRef, "model_ref"}, {&metadataTable, metaModel, "model"},
		{&metadataTable, metaDialect, "dialect"}, {&metadataTable, metaStatus, "status_code"}, {&metadataTable, metaResponseStatus, "response_status"},
		{&metadataTable, metaFinish, "finish_reason"}, {&metadataTable, metaAttempted, "upstream_attempted"}, {&metadataTable, metaSource, "response_source"},
		{&metadataTable, metaUpstreamStatus, "upstream_status_code"}, {&metadataTable, metaLocalReason, "local_response_reason"},
		{&metadataTable, metaError, "error_category"}, {&metadataTable, metaTTFT, "latency_ttft_ms"},
		{&statsTable, statsPrompt, "prompt_tokens"}, {&statsTable, statsCompletion, "completion_tokens"}, {&statsTable, statsReasoning, "reasoning_tokens"},
		{&statsTable, statsTotal, "total_tokens"}, {&statsTable, statsCached, "cached_tokens"},
		{&toolTable, toolInvocation, "invocation_id"}, {&toolTable, toolID, "tool_call_id"}, {&toolTable, toolSandbox, "sandbox_id"},
		{&toolTable, toolName, "tool_name"}, {&toolTable, toolStarted, "started_at"}, {&toolTable, toolCompleted, "completed_at"},
		{&toolTable, toolDuration, "duration_ms"}, {&toolTable, toolTiming, "timing_source"}, {&toolTable, toolStatus, "status"},
		{&toolTable, toolError, "error_type"}, {&toolTable, toolOutput, "output"},
		{&gapTable, gapCode, "code"}, {&gapTable, gapInvocation, "invocation_id"}, {&gapTable, gapDetail, "detail"},
		{video, videoURL, "video_url"}, {video, videoVideo, "video"},
		{&signs, signType, "type"}, {&signs, signID, "id"}, {&signs, signSummary, "summary"}, {&signs, signRole, "role"},
		{&signs, signContent, "content"}, {&signs, signStatus, "status"}, {&signs, signArguments, "arguments"}, {&signs, signCallID, "call_id"},
		{&signs, signName, "name"}, {&signs, signOutput, "output"}, {&signs, signPrompt, "prompt_token_ids"}, {&signs, signRouted, "routed_experts"},
	} {
		if got := c.table.fields[c.place].name; got != c.name {
			t.Errorf("%s: field %d is %s, not %s", c.table.name, c.place, got, c.name)
		}
	}
}

// TestTables walks every table and looks for slips that no value would show.
func TestTables(t *testing.T) {
	seen := map[*table]bool{}
	var visit func(tab *table)
	var follow func(s *shape)
	follow = func(s *shape) {
		if s == nil {
			return
		}
		follow(s.of)
		follow(s.or)
		visit(s.table)
		if s.union != nil {
			tags := map[string]bool{}
			for _, tab := range s.union.tables {
				if tab.tag == "" || tags[tab.tag] {
					t.Errorf("%s: tag %q", s.union.name, tab.tag)
				}
				if tab.bare != s.union.bare {
					t.Errorf("%s: %s disagrees about missing types", s.union.name, tab.tag)
				}
				tags[tab.tag] = true
				visit(tab)
			}
		}
		if s.kind == kindWord && len(s.words) == 0 || s.kind == kindFree && s.limit != freeLevels && s.limit != keptLevels {
			t.Errorf("empty shape %+v", s)
		}
	}
	visit = func(tab *table) {
		if tab == nil || seen[tab] {
			return
		}
		seen[tab] = true
		names := map[string]bool{}
		for i, f := range tab.fields {
			if f.name == "" || names[f.name] {
				t.Errorf("%s: field %q", tab.name, f.name)
			}
			names[f.name] = true
			if f.required && (f.null || f.preset != "") {
				t.Errorf("%s: %s is required and has a value for its absence", tab.name, f.name)
			}
			if f.preset != "" && f.preset != "null" {
				// What is written for an absent field must be valid.
				r := Reader{record: Record{Calls: make([]Call, 1)}}
				if !r.check(&f.shape, scan(t, f.preset)) {
					t.Errorf("%s: %s has the preset %s", tab.name, f.name, f.preset)
				}
			}
			if tab.signs != nil && signs.fields[tab.signs[i]].name != f.name {
				t.Errorf("%s: sign of %s", tab.name, f.name)
			}
			follow(&f.shape)
		}
		if tab.tag != "" && tab.fields[tab.typeAt].name != "type" {
			t.Errorf("%s has no type", tab.name)
		}
	}
	visit(&schema)
	visit(&signs)
	for _, tab := range []*table{easyMessage, inputMessage, outputMessage} {
		visit(tab)
	}
	for _, tab := range itemKinds {
		visit(tab)
	}
	if len(seen) < 100 {
		t.Errorf("only %d tables", len(seen))
	}
}
