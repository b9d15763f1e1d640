package harness

import (
	"slices"
	"strings"
	"testing"
)

// A sample is a change of the complete row and where a check fails then.
type sample struct {
	changes string // divided by lines
	// want is the locations behind the base, divided by blanks; "base" for none; "ok" where the check passes.
	want string
}

// samples has, for every check, rows on which it passes and rows on which it fails by itself.
var samples = map[string][]sample{
	"model_calls.present": {
		{"", "ok"}, {"model_calls -", "base"}, {"model_calls = []", "base"}, {"model_calls = {}", "base"}, {"model_calls = null", "base"},
		{"model_calls.+ = 1\nmodel_calls.+ = []", "[2] [3]"}, {"ng_trajectory -", "base"}, {"ng_trajectory = []", "base"},
	},
	"calls.identity": {
		{"model_calls.0.model_call_id = \"\u2003x\"", "ok"}, {"model_calls.1.model_call_id -", "[1]"}, {`model_calls.0.model_call_id = ""`, "[0].model_call_id"},
		{`model_calls.0.model_call_id = "\u001c\u0085\u2028 \u3000"`, "[0].model_call_id"}, {"model_calls.0.model_call_id = 1", "[0].model_call_id"},
		{`model_calls.0.model_call_id = "\u200b"`, "ok"}, {`model_calls.0.model_call_id = "\ud800"`, "ok"},
		{"model_calls.0.model_call_id = null\nmodel_calls.1.model_call_id -", "[0].model_call_id [1]"},
	},
	"calls.model": {
		{"model_calls.0.response_metadata.model_ref.more = 1", "ok"}, {"model_calls.0.response_metadata -", "[0]"}, {"model_calls.0.response_metadata = \"x\"", "[0].response_metadata"},
		{"model_calls.0.response_metadata.model_ref -", "[0].response_metadata"}, {"model_calls.0.response_metadata.model_ref = null", "[0].response_metadata.model_ref"},
		{`model_calls.1.response_metadata.model_ref.name = " "`, "[1].response_metadata.model_ref.name"},
		{"model_calls.1.response_metadata.model_ref = {}", "[1].response_metadata.model_ref"},
		{`model_calls.1.response_metadata.model_ref = {"name": 1, "type": "x"}`, "[1].response_metadata.model_ref.type [1].response_metadata.model_ref.name"},
		{`model_calls.1.response_metadata.model_ref = {"name": 1}`, "[1].response_metadata.model_ref [1].response_metadata.model_ref.name"},
	},
	"calls.protocol": {
		{"", "ok"}, {`model_calls.0.response_metadata.dialect = "messages"`, "ok"}, {`model_calls.0.response_metadata.dialect = "Chat"`, "[0].response_metadata.dialect"},
		{"model_calls.0.response_metadata.dialect -", "[0].response_metadata"},
	},
	"calls.timing": {
		{"model_calls.0.completed_at = 0", "ok"}, {"model_calls.0.completed_at = 1e999", "ok"}, {"model_calls.0.started_at = -0.0", "ok"}, {"model_calls.0.started_at = -1e999", "[0].started_at"},
		{"model_calls.0.started_at = -0.1", "[0].started_at"}, {"model_calls.0.started_at = true", "[0].started_at"}, {`model_calls.1.started_at = "1"`, "[1].started_at"},
		{"model_calls.0.started_at -\nmodel_calls.0.completed_at = null", "[0] [0].completed_at"},
		{"model_calls.0.started_at -\nmodel_calls.0.completed_at -", "[0]"},
		{"model_calls.0.started_at = 123456789012345678901234567890", "ok"}, {"model_calls.0.started_at = -123456789012345678901234567890", "[0].started_at"},
	},
	"calls.outcome": {
		{"model_calls.0.response_metadata.status_code = 299", "ok"}, {"model_calls.0.response_metadata.status_code = 200.0", "ok"}, {"model_calls.0.response_metadata.status_code = 2e2", "ok"},
		{"model_calls.0.response_metadata.status_code = 300", "[0].response_metadata"}, {"model_calls.0.response_metadata.status_code = 200.5", "[0].response_metadata.status_code [0].response_metadata"},
		{"model_calls.0.response_metadata.status_code = 99\nmodel_calls.0.response_metadata.error_category = \"x\"", "[0].response_metadata.status_code"},
		{"model_calls.0.response_metadata.status_code = null\nmodel_calls.0.response_metadata.error_category = \"x\"", "ok"},
		{"model_calls.0.response_metadata.status_code = true", "[0].response_metadata.status_code [0].response_metadata"},
		{`model_calls.0.response_metadata.response_status = "failed"`, "[0].response_metadata"}, {`model_calls.0.response_metadata.response_status = "incomplete"`, "ok"},
		{`model_calls.0.response_metadata.finish_reason = ""`, "[0].response_metadata.finish_reason"}, {"model_calls.0.response_metadata = []", "[0].response_metadata"},
		{"model_calls.0.response_metadata.dialect = \"chat\"", "[0].response_metadata"},
		{"model_calls.0.response_metadata.dialect = \"chat\"\nmodel_calls.0.response_metadata.finish_reason = \"stop\"", "ok"},
	},
	"calls.response_id": {
		{"", "ok"}, {"model_calls.0.response_metadata.response_id -", "[0].response_metadata"}, {"model_calls.0.response_metadata.response_id = null", "[0].response_metadata.response_id"},
		{"model_calls.0.response_metadata.response_id -\nmodel_calls.0.response_metadata.error_category = \"x\"", "ok"},
		{"model_calls.0.response_metadata.response_id = null\nmodel_calls.0.response_metadata.error_category = \"x\"", "ok"},
		{"model_calls.0.response_metadata.response_id = 1\nmodel_calls.0.response_metadata.error_category = \"x\"", "[0].response_metadata.response_id"},
		{"model_calls.0.response_metadata.response_id -\nmodel_calls.0.response_metadata.error_category = \"\"", "[0].response_metadata"},
		{"model_calls.0.response_metadata = 7", "[0].response_metadata"},
	},
	"calls.request": {
		{"", "ok"}, {"model_calls.0.request.input = []", "ok"}, {"model_calls.0.request.input = [{}]", "ok"}, {"model_calls.0.request.input = [{}, 1]", "[0]"}, {"model_calls.0.request.input = {}", "[0]"},
		{"model_calls.0.request -", "[0]"}, {"model_calls.1.request = null\nmodel_calls.0.request = \"\"", "[0] [1]"},
		{"model_calls.0.response_metadata.dialect = \"chat\"", "[0]"}, {"model_calls.0.response_metadata.dialect = \"chat\"\nmodel_calls.0.request.messages = []", "ok"},
		{"model_calls.0.response_metadata.dialect = \"messages\"\nmodel_calls.0.request.messages = [null]", "[0]"},
		{"model_calls.0.response_metadata.dialect = \"messages\"\nmodel_calls.0.request.messages = [{}]", "ok"},
		{"model_calls.0.response_metadata.dialect = \"messages\"\nmodel_calls.0.request.messages = \"text\"", "[0]"},
	},
	"calls.response": {
		{"", "ok"}, {"model_calls.0.response.output = []", "ok"}, {"model_calls.0.response.output = [1]", "[0]"}, {"model_calls.0.response.output -", "[0]"}, {"model_calls.0.response = \"\"", "[0]"},
		{"model_calls.0.response = \"\"\nmodel_calls.0.response_metadata.error_category = \"x\"", "ok"},
		{"model_calls.0.response = \"\"\nmodel_calls.0.response_metadata.status_code = 500", "ok"}, {"model_calls.0.response = []\nmodel_calls.0.response_metadata.status_code = 500", "[0]"},
		{"model_calls.0.response = {}\nmodel_calls.0.response_metadata.status_code = null\nmodel_calls.0.response_metadata.error_category = \"x\"", "[0]"},
		{"model_calls.0.response = null\nmodel_calls.0.response_metadata.status_code = null\nmodel_calls.0.response_metadata.error_category = \"x\"", "ok"},
		{"model_calls.0.response = null\nmodel_calls.0.response_metadata.status_code -\nmodel_calls.0.response_metadata.error_category = \"x\"", "[0]"},
		{"model_calls.0.response -\nmodel_calls.0.response_metadata.status_code = null\nmodel_calls.0.response_metadata.error_category = \"x\"", "[0]"},
		{"model_calls.0.response_metadata.dialect = \"chat\"\nmodel_calls.0.response.choices = []", "ok"},
		{"model_calls.0.response_metadata.dialect = \"chat\"\nmodel_calls.0.response.choices = [{\"message\": {\"role\": \"assistant\"}}]", "ok"},
		{"model_calls.0.response_metadata.dialect = \"chat\"\nmodel_calls.0.response.choices = [{\"message\": {\"role\": \"user\"}}]", "[0]"},
		{"model_calls.0.response_metadata.dialect = \"chat\"\nmodel_calls.0.response.choices = [{}]", "[0]"},
		{"model_calls.0.response_metadata.dialect = \"messages\"\nmodel_calls.0.response.content = [{}]", "ok"},
		{"model_calls.0.response_metadata.dialect = \"messages\"", "[0]"},
	},
	"content.media": {
		{`model_calls.0.request.x = {"file_id": "", "file_url": false, "encrypted_content": {}, "image_url": 0}`, "ok"}, {`model_calls.0.request.x = [[{"file_id": 1}]]`, "base"},
		{`model_calls.0.response.x = {"y": {"file_url": [0]}}`, "base"}, {`model_calls.1.response.x = {"encrypted_content": "a"}`, "base"},
		{`model_calls.0.request.x = {"image_url": "data:image/png;base64,QQ=="}`, "ok"}, {`model_calls.0.request.x = {"image_url": {"url": "data:;base64,QR=="}}`, "ok"},
		{`model_calls.0.request.x = {"image_url": "data:;base64,"}`, "base"}, {`model_calls.0.request.x = {"image_url": "data:;base64,QQ=\u000a="}`, "base"},
		{`model_calls.0.request.x = {"image_url": "data:;base64,\u0051UJD"}`, "ok"}, {`model_calls.0.request.x = {"image_url": "data:;base64,QQ==QQ=="}`, "base"},
		{`model_calls.0.request.x = {"image_url": "data:;base64,Q==="}`, "base"}, {`model_calls.0.request.x = {"image_url": "data:;base64,QUI"}`, "base"},
		{`model_calls.0.request.x = {"image_url": "data:;base64,QU-_"}`, "base"}, {`model_calls.0.request.x = {"image_url": "Data:;base64,QQ=="}`, "base"},
		{`model_calls.0.request.x = {"image_url": "data:;Base64,QQ=="}`, "base"}, {`model_calls.0.request.x = {"image_url": "data:;base64,QQ==;base64,QQ=="}`, "base"},
		{`model_calls.0.request.x = {"image_url": {"detail": "low"}}`, "base"}, {`model_calls.0.request.x = {"image_url": true}`, "base"}, {`model_calls.0.request.x = "file_id image_url"`, "ok"},
		{`model_calls.0.request.x = {"\u0066ile_id": "a"}`, "base"}, {`model_calls.0.request.x = {"file_id": "a", "file_id": ""}`, "ok"},
		{`model_calls.0.request.x = {"y": {"file_id": "a"}, "z": 1, "y": 2}`, "ok"}, {`model_calls.0.request.x = {"y": 2, "y": {"file_id": "a"}}`, "base"},
		{`model_calls.0.token_stats.file_id = "a"`, "ok"},
	},
	"content.previous_response": {
		{"", "ok"}, {`model_calls.0.request.previous_response_id = "r2"`, "base"}, {`model_calls.1.request.previous_response_id = "r3"`, "base"}, {`model_calls.1.request.previous_response_id = 0.0`, "ok"},
		{`model_calls.1.response_metadata.model_ref.more = null`, "base"}, {"model_calls.0.response_metadata.model_ref -\nmodel_calls.1.response_metadata.model_ref -", "ok"},
		{"model_calls.0.response_metadata.model_ref -\nmodel_calls.1.response_metadata.model_ref = null", "ok"},
		{"model_calls.0.response_metadata.response_id = 1\nmodel_calls.1.request.previous_response_id = true", "ok"},
		{"model_calls.0.response_metadata.response_id = 9007199254740993\nmodel_calls.1.request.previous_response_id = 9007199254740992", "base"},
		{"model_calls.0.response = null", "base"}, {"model_calls.0.response -", "base"},
		{`model_calls.0.response_metadata.response_id = "\ud800"` + "\n" + `model_calls.1.request.previous_response_id = "\ud800"`, "ok"},
		{`model_calls.0.response_metadata.response_id = "\ud800"` + "\n" + `model_calls.1.request.previous_response_id = "\ud801"`, "base"},
		{`model_calls.0.response_metadata.response_id = 1e999` + "\n" + `model_calls.1.request.previous_response_id = 2e400`, "ok"},
	},
	"trajectory.task_id": {
		{"", "ok"}, {"task_id -", "base"}, {"task_id = 1", ".task_id"}, {"ng_trajectory = \"x\"", "base"},
	},
	"trajectory.rollout_id": {
		{"", "ok"}, {"rollout_id -", "base"}, {`rollout_id = "\u00a0"`, ".rollout_id"},
	},
	"invocations.present":  {{"", "ok"}, {"invocations = []", "base"}, {"invocations.+ = null", "[1]"}},
	"invocations.identity": {{"", "ok"}, {"invocations.0.invocation_id -", "[0]"}, {"invocations.0.invocation_id = 1", "[0].invocation_id"}},
	"invocations.references": {
		{"invocations.0.model_calls = []", "ok"}, {"invocations.0.model_calls -", "[0]"}, {"invocations.0.model_calls = null", "[0].model_calls"}, {"invocations.0.model_calls.+ = 1", "[0].model_calls[2]"},
		{`invocations.0.model_calls.+ = {}`, "[0].model_calls[2]"}, {`invocations.0.model_calls.+ = {"response_id": "r1"}`, "[0].model_calls[2]"},
		{`invocations.0.model_calls.+ = {"response_id": "r1", "model_ref": {"type": "responses_api_models", "name": "p"}}`, "ok"},
		{`invocations.0.model_calls.+ = {"response_id": "r1", "model_ref": {"type": "responses_api_models", "name": ""}}`, "[0].model_calls[2].model_ref [0].model_calls[2]"},
		{`invocations.0.model_calls.+ = {"model_call_id": "c1", "model_ref": {"type": "x", "name": ""}, "response_id": ""}`, "[0].model_calls[2].model_ref [0].model_calls[2].response_id"},
		{`invocations.0.model_calls.+ = {"model_call_id": null, "model_ref": null, "response_id": null}`, "[0].model_calls[2]"},
	},
	"turns.present":    {{"", "ok"}, {"turns = {}", "base"}, {"turns.+ = 1", "[2]"}},
	"steps.invocation": {{"", "ok"}, {"turns.1.invocation_id -", "[1]"}, {"turns.1.invocation_id = []", "[1].invocation_id"}},
	"steps.number": {
		{"turns.0.turn_no = 1.0", "ok"}, {"turns.0.turn_no = 1e2", "ok"}, {"turns.0.turn_no = 0", "[0].turn_no"}, {"turns.0.turn_no = 1.5", "[0].turn_no"}, {"turns.0.turn_no = true", "[0].turn_no"},
		{"turns.0.turn_no -", "[0]"}, {"turns.0.turn_no = 1e999", "[0].turn_no"}, {"turns.0.turn_no = " + strings.Repeat("9", 4300), "ok"}, {"turns.0.turn_no = -" + strings.Repeat("9", 400), "[0].turn_no"},
		{"turns.0.turn_no = 1" + strings.Repeat("0", 400) + ".0", "[0].turn_no"},
	},
	"steps.timestamp": {{"turns.0.timestamp = 0", "ok"}, {"turns.0.timestamp -", "[0]"}, {"turns.0.timestamp = null", "[0].timestamp"}},
	"steps.resolution": {
		{"turns.0.resolved = false", "ok"}, {"turns.0.resolved -", "[0]"}, {`turns.0.resolved = "true"`, "[0].resolved"}, {"turns.0.resolved = 1", "[0].resolved"},
	},
	"steps.references": {
		{"", "ok"}, {"turns.0.model_calls = []", "[0].model_calls"}, {"turns.0.model_calls -", "[0]"}, {"turns.0.model_calls = [1]", "[0].model_calls[0]"}, {"turns.0.model_calls.0.model_call_id = 1", "[0].model_calls[0].model_call_id [0].model_calls[0]"},
	},
	"tool_calls.present": {{"", "ok"}, {"tool_calls = []", "base"}, {"tool_calls.+ = \"x\"", "[2]"}},
	"tools.identity":     {{"", "ok"}, {"tool_calls.0.tool_call_id -", "[0]"}, {`tool_calls.0.tool_call_id = "\t"`, "[0].tool_call_id"}},
	"tools.name":         {{"", "ok"}, {"tool_calls.0.tool_name -", "[0]"}, {"tool_calls.0.tool_name = {}", "[0].tool_name"}},
	"tools.invocation":   {{"", "ok"}, {"tool_calls.0.invocation_id -", "[0]"}, {"tool_calls.0.invocation_id = false", "[0].invocation_id"}},
	"tools.status":       {{`tool_calls.0.status = "timeout"`, "ok"}, {"tool_calls.0.status -", "[0]"}, {`tool_calls.0.status = "ok"`, "[0].status"}},
	"tools.output": {
		{`tool_calls.0.output = ""`, "ok"}, {"tool_calls.0.output = []", "ok"}, {"tool_calls.0.output = {}", "ok"}, {"tool_calls.0.output -", "[0]"}, {"tool_calls.0.output = null", "[0].output"}, {"tool_calls.0.output = 4", "[0].output"},
	},
	"steps.invocation_target": {
		{"", "ok"}, {`turns.0.invocation_id = "other"`, "base"}, {`invocations.+ = {"invocation_id": "main", "model_calls": []}`, "base"}, {`invocations.+ = {"invocation_id": "m\u0061in", "model_calls": []}`, "base"},
	},
	"tools.invocation_target": {{"", "ok"}, {`tool_calls.1.invocation_id = "Main"`, "base"}},
	"tools.request": {
		{"", "ok"}, {`tool_calls.1.tool_call_id = "t3"`, "base"}, {`tool_calls.1.tool_name = "weather"`, "base"}, {"invocations.0.conversation -", "base"},
		{`invocations.0.conversation.1.arguments = {}`, "base"}, {`invocations.0.conversation.1.type = "tool_call"`, "base"}, {`invocations.0.conversation.+ = {"type": "function_call", "call_id": "t1"}`, "base"},
		{`invocations.0.conversation.+ = "function_call"`, "ok"}, {`invocations.0.conversation.+ = {"type": "function_call", "call_id": "t9"}`, "ok"},
		{`invocations.+ = {"invocation_id": "sub", "model_calls": [], "conversation": [{"type": "function_call", "call_id": "t1"}]}`, "ok"},
	},
	"invocations.parent": {
		{`invocations.+ = {"invocation_id": "sub", "model_calls": [], "parent_invocation_id": "main"}`, "ok"}, {`invocations.0.parent_invocation_id = "main"`, "base"},
		{`invocations.0.parent_invocation_id = "gone"`, "base"}, {`invocations.0.parent_invocation_id = ""`, "base"},
		{"invocations.0.parent_invocation_id = \"sub\"\ninvocations.+ = {\"invocation_id\": \"sub\", \"model_calls\": [], \"parent_invocation_id\": \"main\"}", "base"},
		{"invocations.+ = {\"invocation_id\": \"a\", \"model_calls\": []}\ninvocations.+ = {\"invocation_id\": \"a\", \"model_calls\": []}", "ok"},
		{"invocations.0.parent_invocation_id = \"a\"\ninvocations.+ = {\"invocation_id\": \"a\", \"model_calls\": []}\ninvocations.+ = {\"invocation_id\": \"a\", \"model_calls\": []}", "base"},
	},
	"ownership.call_target": {
		{`invocations.0.model_calls.0 = {"model_call_id": "c1", "response_id": "r1", "model_ref": {"name": "policy_model", "type": "responses_api_models"}}`, "ok"},
		{`invocations.0.model_calls.0 = {"model_call_id": "c1", "response_id": "r2"}`, "base"}, {`invocations.0.model_calls.0.model_call_id = "c3"`, "base"},
		{`invocations.0.model_calls.0 = {"response_id": "r1", "model_ref": {"type": "responses_api_models", "name": "policy_model"}}`, "ok"},
		{`invocations.0.model_calls.0 = {"response_id": "r1", "model_ref": {"type": "responses_api_models", "name": "policy_model", "more": null}}`, "base"},
		{`model_calls.1.model_call_id = "c1"`, "base"}, {`invocations.0.model_calls = []`, "ok"},
	},
	"ownership.call_owner": {
		{"", "ok"}, {`invocations.0.model_calls = []`, "base"}, {`invocations.0.model_calls.+ = {"model_call_id": "c1"}`, "base"},
	},
	"steps.compaction_target": {
		{`ng_agent_observations.records = [{"kind": "context_compaction", "model_calls": []}]`, "ok"}, {`ng_agent_observations.records = [{"kind": "context_compaction"}]`, "base"},
		{`ng_agent_observations.records = [{"kind": "context_compaction", "model_calls": null}]`, "base"}, {`ng_agent_observations.records = [{"kind": "context_compaction", "model_calls": [{"model_call_id": "c3"}]}]`, "base"},
		{`ng_agent_observations.records = [{"kind": "context_compaction", "model_calls": [1]}]`, "base"}, {`ng_agent_observations.records = [{"kind": "other"}, "context_compaction"]`, "ok"},
		{`ng_agent_observations.records = [{"kind": "context_compaction", "model_calls": [{"model_call_id": "c1"}]}]`, "ok"}, {`ng_agent_observations.records = {"kind": "context_compaction"}`, "ok"},
	},
	"steps.call_target": {
		{"", "ok"}, {`turns.0.model_calls.+ = {"model_call_id": "c9"}`, "base"}, {`turns.0.model_calls.0.response_id = "r2"`, "base"},
	},
	"steps.call_owner": {
		{"invocations.0.model_calls = []", "ok"}, {"invocations.0.model_calls = []\ninvocations.+ = {\"invocation_id\": \"sub\", \"model_calls\": [{\"model_call_id\": \"c1\"}]}", "base"},
		{`invocations.0.model_calls.+ = {"model_call_id": "c1"}`, "base"},
	},
	"steps.attempt_accounting": {
		{"", "ok"}, {`turns.0.model_calls.+ = {"model_call_id": "c2"}`, "base"}, {"turns.1 -", "base"}, {"turns.1 -\nmodel_calls.1.response_metadata.status_code = 400", "ok"},
		{"turns.1 -\nmodel_calls.1.response_metadata.status_code = 399", "base"}, {"turns.1 -\nmodel_calls.1.response_metadata.status_code = 500.0", "base"},
		{"turns.1 -\nmodel_calls.1.response_metadata.status_code = true", "base"}, {"turns.1 -\nmodel_calls.1.response_metadata.status_code = " + strings.Repeat("7", 500), "ok"},
		{"model_calls.1.response_metadata.status_code = 500\nturns.0.model_calls.+ = {\"model_call_id\": \"c2\"}", "base"},
		{"turns.1 -\nng_agent_observations.records = [{\"kind\": \"context_compaction\", \"model_calls\": [{\"model_call_id\": \"c2\"}]}]", "ok"},
		{"ng_agent_observations.records = [{\"kind\": \"context_compaction\", \"model_calls\": [{\"model_call_id\": \"c2\"}]}]", "base"},
	},
	"evaluation.reward": {
		{"reward = 0", "ok"}, {"reward = -1e999", "ok"}, {"reward -", "base"}, {"reward = true", ".reward"}, {"reward = null", ".reward"},
	},
	"evaluation.evaluation_completed": {{"evaluation_completed = false", "ok"}, {"evaluation_completed -", "base"}, {"evaluation_completed = 1", ".evaluation_completed"}},
	"evaluation.mask_sample":          {{"mask_sample = true", "ok"}, {"mask_sample -", "base"}, {"mask_sample = null", ".mask_sample"}},
	"evaluation.failure_kind": {
		{"mask_sample = true\nfailure_kind = \"x\"", "ok"}, {"mask_sample = true", "base"}, {"evaluation_completed = false\nfailure_kind = \" \"", ".failure_kind"},
	},
	"evaluation.failure_reason": {
		{"evaluation_completed = false\nfailure_reason = \"x\"", "ok"}, {"evaluation_completed = false", "base"}, {"mask_sample = true\nfailure_reason = null", ".failure_reason"},
	},
	"sandbox.present":  {{`ng_agent_observations.records = [{"kind": "sandbox", "sandbox_id": "s", "outcome": "completed"}]`, "ok"}, {"", "base"}, {`ng_agent_observations.records = ["sandbox", {"kind": "Sandbox"}]`, "base"}},
	"sandbox.identity": {{`ng_agent_observations.records = [{"kind": "sandbox", "sandbox_id": "s"}]`, "ok"}, {`ng_agent_observations.records = [{"kind": "x"}, {"kind": "sandbox"}, 1, {"kind": "sandbox", "sandbox_id": ""}]`, "[0] [1].sandbox_id"}},
	"sandbox.outcome":  {{`ng_agent_observations.records = [{"kind": "sandbox", "outcome": "oom"}]`, "ok"}, {`ng_agent_observations.records = [1, {"kind": "sandbox", "outcome": "done"}]`, "[0].outcome"}},
	"sandbox.error": {
		{`ng_agent_observations.records = [{"kind": "sandbox", "outcome": "timeout"}]`, "ok"}, {`ng_agent_observations.records = [{"kind": "sandbox", "outcome": "oom"}]`, "[0]"},
		{`ng_agent_observations.records = [{"kind": "sandbox", "outcome": "failed", "error_type": null}]`, "[0].error_type"}, {`ng_agent_observations.records = [{"kind": "sandbox", "outcome": "failed", "error_type": "e"}]`, "ok"},
	},
	"calls.capture_gap": {
		{`gaps = [{"code": "model_call"}, {"code": null}, {"code": 1}, {}, "model_call_capture", {"code": "Model_call_capture"}]`, "ok"}, {`gaps = [{"code": "model_call_capture"}]`, "base"},
		{`gaps = [{"code": "model_call_capture_lost"}]`, "base"}, {`gaps = [{"code": "agent_observation_join_failed"}]`, "base"}, {`gaps = [{"code": "agent_observation_join_failed_"}]`, "ok"},
		{`gaps = [{"code": "model_call_capture\ud800"}]`, "base"}, {`gaps = {"code": "model_call_capture"}`, "ok"},
	},
	"ownership.gap":        {{`gaps = [{"code": "model_call_referenc"}]`, "ok"}, {`gaps = [{"code": "model_call_reference_unmatched"}]`, "base"}, {`gaps = [{"code": "model_call_ownership_unavailable"}]`, "base"}},
	"steps.gap":            {{`gaps = [{"code": "turns_unavailable_"}]`, "ok"}, {`gaps = [{"code": "turns_unavailable"}]`, "base"}, {`gaps = [{}, {"code": "turn_evidence_incomplete"}]`, "base"}, {`gaps = [{"code": "trajectory_projection_failed"}]`, "base"}},
	"steps.accounting_gap": {{`gaps = []`, "ok"}, {`gaps = [{"code": "turn_model_call_scope_incomplete"}]`, "base"}},
}

func init() {
	for _, field := range TokenFields() {
		path := "model_calls.1.token_stats." + field
		samples["tokens."+field] = []sample{
			{path + " -", "ok"}, {path + " = null", "ok"}, {path + " = 7.0", "ok"}, {path + " = " + strings.Repeat("8", 40), "ok"}, {path + " = -1", "[1].token_stats." + field},
			{path + " = 1.5", "[1].token_stats." + field}, {path + " = true", "[1].token_stats." + field}, {path + ` = "1"`, "[1].token_stats." + field},
			{path + " = 1e999", "[1].token_stats." + field}, {"model_calls.1.token_stats -", "[1]"}, {"model_calls.1.token_stats = null", "[1].token_stats"}, {"model_calls.1.token_stats = {}", "ok"},
		}
	}
}

// TestChecks runs every sample of every check: status, locations, and that every failing place lies in the row.
func TestChecks(t *testing.T) {
	if len(samples) != Count {
		t.Errorf("samples for %d checks", len(samples))
	}
	for _, c := range All() {
		t.Run(c.ID, func(t *testing.T) {
			passes, fails := false, false
			for _, s := range samples[c.ID] {
				text := change(t, splitChanges(s.changes)...)
				scope := Scope{RequireSandbox: c.ID == "sandbox.present"}
				row := judge(t, text, scope).Checks.Find(c.ID)
				passes, fails = passes || row.Status == Pass, fails || row.Status == Fail
				have := "ok"
				if row.Status == Fail {
					if len(row.BlockedBy) > 0 {
						t.Errorf("%s: waits for %v", s.changes, row.BlockedBy)
					}
					if have = "base"; len(row.Locations) > 1 {
						have = ""
						for _, l := range row.Locations[1:] {
							have += " " + strings.TrimPrefix(l, c.Location)
						}
						have = have[1:]
					}
				}
				if row.Locations[0] != c.Location {
					t.Errorf("%s: first location %s", s.changes, row.Locations[0])
				}
				if row.Status == NotApplicable || have != s.want {
					t.Errorf("%s: %s %q, want %q", short(s.changes), row.Status, have, s.want)
				}
				holdFailures(t, text, row, scope)
			}
			if !passes || !fails {
				t.Errorf("passes %v, fails %v", passes, fails)
			}
		})
	}
}

func splitChanges(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

func short(s string) string { return s[:min(len(s), 200)] }

// holdFailures compares the exact places of a row's failures with its status.
func holdFailures(t *testing.T, text string, row *Row, scope Scope) {
	t.Helper()
	const lead = " \t"
	var m Mapper
	list, err := m.Failures(lineOf(lead+text), 0, scope)
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, f := range list {
		if len(f.Places) == 0 {
			t.Errorf("%s fails nowhere", f.Check.ID)
		}
		for _, p := range f.Places {
			if p.Offset < int64(len(lead)) || p.Offset+p.Length > int64(len(lead)+len(text)) || p.Length < 0 {
				t.Errorf("%s: place %+v outside of the row", f.Check.ID, p)
			}
		}
		if f.Check.ID != row.ID {
			continue
		}
		found = true
		if f.Check.Kind == Schema && f.Check.place != inSandboxes && f.Check.shape != nil {
			want := []string{f.Check.Location}
			for _, p := range f.Places {
				want = join(want, []string{p.Location})
			}
			if !slices.Equal(want, row.Locations) {
				t.Errorf("%s: places at %v, locations %v", row.ID, want, row.Locations)
			}
		}
	}
	if found != (row.Status == Fail && len(row.BlockedBy) == 0) {
		t.Errorf("%s: %s, failure found: %v", row.ID, row.Status, found)
	}
}

// breaking is a change that makes a check fail by itself.
func breaking(t *testing.T, id string) []string {
	t.Helper()
	for _, s := range samples[id] {
		if s.want != "ok" {
			return splitChanges(s.changes)
		}
	}
	t.Fatalf("nothing breaks %s", id)
	return nil
}

// TestBlocked breaks every prerequisite of every check and asks that the check waits for it and for all others that do
// not pass, in their order.
func TestBlocked(t *testing.T) {
	for _, c := range All() {
		for _, need := range c.Needs {
			scope := Scope{RequireSandbox: c.Applies == WithSandbox}
			r := judge(t, change(t, breaking(t, need)...), scope)
			row := r.Checks.Find(c.ID)
			if row.Status != Fail || !slices.Contains(row.BlockedBy, need) {
				t.Errorf("%s without %s: %s, waits for %v", c.ID, need, row.Status, row.BlockedBy)
			}
			want := []string{}
			for _, n := range c.Needs {
				if r.Checks.Find(n).Status != Pass {
					want = append(want, n)
				}
			}
			if !slices.Equal(want, row.BlockedBy) || len(row.Locations) != 1 || len(row.Reasons) != 1 || !strings.Contains(row.Reasons[0], need) {
				t.Errorf("%s without %s: %+v", c.ID, need, row)
			}
		}
	}
}

// TestNotApplicable asks every check under the scope that excludes it, on a row that would fail it.
func TestNotApplicable(t *testing.T) {
	for _, c := range All() {
		scope := map[Applicability]Scope{WithSteps: {NoSteps: true}, WithTools: {NoTools: true}, WithVerifier: {NoVerifier: true}, WhenFailed: {NoVerifier: true}}[c.Applies]
		changes := breaking(t, c.ID)
		if c.Applies == WithSandbox {
			changes = nil
		}
		row := judge(t, change(t, changes...), scope).Checks.Find(c.ID)
		if (row.Status == NotApplicable) != (c.Applies != Always) {
			t.Errorf("%s: %s", c.ID, row.Status)
		}
		if row.Status == NotApplicable && (len(row.Reasons) > 0 || len(row.Locations) != 1) {
			t.Errorf("%s: %+v", c.ID, row)
		}
	}
	// A row that counts has no failure to name, and prerequisites are told even where nothing applies.
	r := judge(t, change(t), Scope{})
	for _, id := range []string{"evaluation.failure_kind", "evaluation.failure_reason", "sandbox.present", "sandbox.identity", "sandbox.outcome", "sandbox.error"} {
		if row := r.Checks.Find(id); row.Status != NotApplicable || len(row.BlockedBy) > 0 {
			t.Errorf("%s: %+v", id, row)
		}
	}
	r = judge(t, change(t, "turns -"), Scope{NoSteps: true})
	if row := r.Checks.Find("steps.number"); row.Status != NotApplicable || !slices.Equal(row.BlockedBy, []string{"turns.present"}) {
		t.Errorf("%+v", row)
	}
}
