package trajectory

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A kindCase tells what an object may and must be, written down a second time and in another form than the
// tables. A name with ~ may have any value, with {} any object, with 1 the number one half; with ! an object
// raises.
type kindCase struct {
	frame    string // what the object is put into
	minimal  string
	required string // names that must be there and set
	null     string // names that may be null
	optional string // names that may be absent but not null
}

func put(frame, inner string) string { return fmt.Sprintf(frame, inner) }

var (
	inContent  = put(inItems, `{"type":"message","role":"user","content":[%s]}`)
	inResult   = put(inItems, `{"type":"function_call_output","call_id":"c","output":[%s]}`)
	inCustom   = put(inItems, `{"type":"custom_tool_call_output","call_id":"c","output":[%s]}`)
	inOutput   = put(inItems, `{"type":"message","id":"m","content":[{"type":"output_text","text":"","annotations":[]},%s]}`)
	inNote     = put(inOutput, `{"type":"output_text","text":"","annotations":[%s]}`)
	inLogprobs = put(inOutput, `{"type":"output_text","text":"","annotations":[],"logprobs":[%s]}`)
	inReasons  = put(inItems, `{"type":"reasoning","id":"i","summary":[%s]}`)
	inThoughts = put(inItems, `{"type":"reasoning","id":"i","summary":[],"content":[%s]}`)
	inSearch   = put(inItems, `{"type":"web_search_call","id":"i","status":"completed","action":%s}`)
	inSources  = put(inSearch, `{"type":"search","sources":[%s]}`)
	inFound    = put(inItems, `{"type":"file_search_call","id":"i","queries":[],"status":"searching","results":[%s]}`)
	inChecks   = put(inItems, `{"type":"computer_call","id":"i","call_id":"c","pending_safety_checks":[%s],"status":"completed"}`)
	inAction   = put(inItems, `{"type":"computer_call","id":"i","call_id":"c","pending_safety_checks":[],"status":"completed","actions":[%s]}`)
	inPath     = put(inAction, `{"type":"drag","path":[%s]}`)
	inScreen   = put(inItems, `{"type":"computer_call_output","call_id":"c","output":%s}`)
	inCode     = put(inItems, `{"type":"code_interpreter_call","id":"i","container_id":"c","status":"failed","outputs":[%s]}`)
	inExec     = put(inItems, `{"type":"local_shell_call","id":"i","call_id":"c","status":"completed","action":%s}`)
	inPatch    = put(inItems, `{"type":"apply_patch_call","id":"i","call_id":"c","status":"completed","operation":%s}`)
	inCommands = put(inItems, `{"type":"shell_call","id":"i","call_id":"c","status":"completed","action":%s}`)
	inShell    = put(inItems, `{"type":"shell_call","id":"i","call_id":"c","status":"completed","action":{"commands":[]},"environment":%s}`)
	inShown    = put(inItems, `{"type":"shell_call_output","id":"i","call_id":"c","status":"completed","output":[%s]}`)
	inOutcome  = put(inShown, `{"stdout":"","stderr":"","outcome":%s}`)
	inToolList = put(inItems, `{"type":"additional_tools","role":"developer","tools":[%s]}`)
	inFoundOut = put(inItems, `{"type":"tool_search_output","id":"i","execution":"client","status":"completed","tools":[%s]}`)
	inRef      = put(inTurns, plainTurn+`,"model_calls":[%s]}`)
	inModelRef = put(inRef, `{"response_id":"p","model_ref":%s}`)
	inMeta     = put(inCalls, `{"response_metadata":%s}`)
	inStats    = put(inCalls, `{"token_stats":%s}`)
	inWhole    = `%s`
)

var kindCases = []kindCase{
	{inWhole, `{"task_id":"t","rollout_id":"r"}`, "task_id rollout_id", "", "schema_version invocations turns model_calls tool_calls gaps"},
	{inInvocation, `{"invocation_id":"i"}`, "invocation_id", "parent_invocation_id spawned_by_tool_call_id duration_ms1 error_type", "kind status model_calls conversation"},
	{inTurns, plainTurn + `}`, "invocation_id task_id rollout_id turn_no timestamp1 step_count", "question~ answer~ reasoning_content~ resolved", "model_calls"},
	{inRef, `{"model_call_id":"c"}`, "", "model_ref response_id", ""},
	{inModelRef, `{"type":"responses_api_models","name":"n"}`, "type name", "", ""},
	{inCalls, `{}`, "", "model_call_id started_at1 completed_at1 duration_ms1 request~ response~", "response_metadata token_stats"},
	{inMeta, `{}`, "", "response_id model_ref model dialect status_code response_status finish_reason upstream_attempted response_source upstream_status_code local_response_reason error_category latency_ttft_ms1", ""},
	{inStats, `{}`, "", "prompt_tokens completion_tokens reasoning_tokens total_tokens cached_tokens", ""},
	{inTools, plainTool + `}`, "invocation_id tool_call_id", "sandbox_id tool_name started_at1 completed_at1 duration_ms1 timing_source error_type output~", "kind status"},
	{inGaps, `{"code":""}`, "code", "invocation_id detail", ""},

	{inItems, `{"type":"message","role":"user","content":"x"}`, "role! content", "phase", ""},
	{inItems, `{"type":"message","role":"system","status":"completed","content":[]}`, "role! content", "", ""},
	{inItems, `{"type":"message","id":"i","content":[{"type":"refusal","refusal":"x"}]}`, "id content", "phase", "role! status"},
	{inItems, `{"type":"function_call","arguments":"{}","call_id":"c","name":"n"}`, "arguments call_id name", "id namespace status", ""},
	{inItems, `{"type":"function_call_output","call_id":"c","output":""}`, "call_id output", "id status", ""},
	{inItems, `{"type":"reasoning","id":"i","summary":[]}`, "id summary", "encrypted_content content", ""},
	{inReasons, `{"type":"summary_text","text":""}`, "type text", "", ""},
	{inThoughts, `{"type":"reasoning_text","text":""}`, "type text", "", ""},
	{inItems, `{"type":"mcp_call","arguments":"","name":""}`, "arguments name", "id server_label approval_request_id error output status", ""},
	{inItems, `{"type":"mcp_list_tools"}`, "", "id server_label error", "tools"},
	{inItems, `{"type":"mcp_approval_request","arguments":"","name":""}`, "arguments name", "id server_label", ""},
	{inItems, `{"type":"mcp_approval_response","approval_request_id":"","approve":"no"}`, "approval_request_id approve", "id reason", ""},
	{inItems, `{"type":"file_search_call","id":"","queries":["q"],"status":"failed"}`, "id queries status", "results", ""},
	{inFound, `{}`, "", "attributes file_id filename text score1", ""},
	{inItems, `{"type":"web_search_call","id":"","status":"searching","action":{"type":"search"}}`, "id status action", "", ""},
	{inSearch, `{"type":"search"}`, "type", "query queries sources", ""},
	{inSources, `{"type":"url","url":"u"}`, "type url", "", ""},
	{inSearch, `{"type":"open_page"}`, "type", "url", ""},
	{inSearch, `{"type":"find_in_page","pattern":"","url":""}`, "type pattern url", "", ""},
	{inItems, `{"type":"computer_call","id":"","call_id":"","pending_safety_checks":[],"status":"in_progress"}`, "id call_id pending_safety_checks status", "action actions", ""},
	{inChecks, `{"id":""}`, "id", "code message", ""},
	{inAction, `{"type":"click","button":"wheel","x":1,"y":"2"}`, "type button x y", "keys", ""},
	{inAction, `{"type":"double_click","x":1,"y":2}`, "type x y", "keys", ""},
	{inAction, `{"type":"drag","path":[]}`, "type path", "keys", ""},
	{inPath, `{"x":1,"y":2.0}`, "x y", "", ""},
	{inAction, `{"type":"keypress","keys":["a"]}`, "type keys", "", ""},
	{inAction, `{"type":"move","x":1,"y":2}`, "type x y", "keys", ""},
	{inAction, `{"type":"screenshot"}`, "type", "", ""},
	{inAction, `{"type":"scroll","scroll_x":1,"scroll_y":1,"x":1,"y":2}`, "type scroll_x scroll_y x y", "keys", ""},
	{inAction, `{"type":"type","text":""}`, "type text", "", ""},
	{inAction, `{"type":"wait"}`, "type", "", ""},
	{inItems, `{"type":"computer_call_output","call_id":"","output":{"type":"computer_screenshot"}}`, "call_id output", "id acknowledged_safety_checks status", ""},
	{inScreen, `{"type":"computer_screenshot"}`, "type", "file_id image_url", ""},
	{inItems, `{"type":"image_generation_call","id":"","status":"generating"}`, "id status", "result", ""},
	{inItems, `{"type":"code_interpreter_call","id":"","container_id":"","status":"interpreting"}`, "id container_id status", "code outputs", ""},
	{inCode, `{"type":"logs","logs":""}`, "type logs", "", ""},
	{inCode, `{"type":"image","url":""}`, "type url", "", ""},
	{inItems, `{"type":"local_shell_call","id":"","call_id":"","action":{"type":"exec","command":[],"env":{}},"status":"incomplete"}`, "id call_id action status", "", ""},
	{inExec, `{"type":"exec","command":["a"],"env":{"a":"b"}}`, "type command env", "timeout_ms user working_directory", ""},
	{inItems, `{"type":"local_shell_call_output","id":"","output":""}`, "id output", "status", ""},
	{inItems, `{"type":"custom_tool_call","call_id":"","input":"","name":""}`, "call_id input name", "id namespace", ""},
	{inItems, `{"type":"custom_tool_call_output","call_id":"","output":""}`, "call_id output", "id", ""},
	{inItems, `{"type":"apply_patch_call","id":"","call_id":"","status":"completed","operation":{"type":"delete_file","path":""}}`, "id call_id status operation", "created_by", ""},
	{inPatch, `{"type":"create_file","diff":"","path":""}`, "type diff path", "", ""},
	{inPatch, `{"type":"update_file","diff":"","path":""}`, "type diff path", "", ""},
	{inPatch, `{"type":"delete_file","path":""}`, "type path", "", ""},
	{inItems, `{"type":"apply_patch_call_output","id":"","call_id":"","status":"failed"}`, "id call_id status", "output created_by", ""},
	{inItems, `{"type":"shell_call","id":"","call_id":"","status":"completed","action":{"commands":[]}}`, "id call_id status action", "environment created_by", ""},
	{inCommands, `{"commands":["a"]}`, "commands", "max_output_length timeout_ms", ""},
	{inShell, `{"type":"local"}`, "type", "", ""},
	{inShell, `{"type":"container_reference","container_id":""}`, "type container_id", "", ""},
	{inItems, `{"type":"shell_call_output","id":"","call_id":"","status":"completed","output":[]}`, "id call_id status output", "max_output_length created_by", ""},
	{inShown, `{"stdout":"","stderr":"","outcome":{"type":"timeout"}}`, "stdout stderr outcome", "created_by", ""},
	{inOutcome, `{"type":"timeout"}`, "type", "", ""},
	{inOutcome, `{"type":"exit","exit_code":-1}`, "type exit_code", "", ""},
	{inItems, `{"type":"tool_search_call","id":"","arguments":0,"execution":"server","status":"completed"}`, "id execution status", "call_id created_by", ""},
	{inItems, `{"type":"tool_search_output","id":"","execution":"client","status":"completed","tools":[]}`, "id execution status tools", "call_id created_by", ""},
	{inItems, `{"type":"compaction","id":"","encrypted_content":""}`, "id encrypted_content", "created_by", ""},
	{inItems, `{"type":"compaction_trigger"}`, "", "", ""},
	{inItems, `{"type":"additional_tools","role":"developer","tools":[]}`, "role tools", "id", ""},

	{inContent, `{"type":"input_text","text":""}`, "type text", "", ""},
	{inContent, `{"type":"input_image","detail":"original"}`, "type detail", "file_id image_url", ""},
	{inContent, `{"type":"input_file"}`, "type", "file_id", "detail file_data file_url filename"},
	{inContent, `{"type":"input_video","video":"v"}`, "type video", "", ""},
	{inContent, `{"type":"input_video","video_url":{"url":"v"}}`, "type video_url", "", ""},
	{inResult, `{"type":"input_text","text":""}`, "type text", "", ""},
	{inResult, `{"type":"input_image"}`, "type", "detail file_id image_url", ""},
	{inResult, `{"type":"input_file"}`, "type", "file_id file_data file_url filename", "detail"},
	{inCustom, `{"type":"input_text","text":""}`, "type text", "", ""},
	{inCustom, `{"type":"input_image","detail":"auto"}`, "type detail", "file_id image_url", ""},
	{inCustom, `{"type":"input_file"}`, "type", "detail file_id file_data file_url filename", ""},
	{inOutput, `{"type":"output_text","text":"","annotations":[]}`, "text annotations", "logprobs", ""},
	{inOutput, `{"text":"","annotations":[]}`, "text annotations", "logprobs", "type"},
	{inOutput, `{"type":"refusal","refusal":""}`, "refusal", "", ""},
	{inOutput, `{"refusal":""}`, "refusal", "", "type"},
	{inNote, `{"type":"file_citation","file_id":"","filename":"","index":1}`, "type file_id filename index", "", ""},
	{inNote, `{"type":"url_citation","url":"","title":"","start_index":1,"end_index":"2"}`, "type url title start_index end_index", "", ""},
	{inNote, `{"type":"container_file_citation","container_id":"","file_id":"","filename":"","start_index":1,"end_index":2}`, "type container_id file_id filename start_index end_index", "", ""},
	{inNote, `{"type":"file_path","file_id":"","index":true}`, "type file_id index", "", ""},
	{inLogprobs, `{"token":"","logprob":"-1.5","bytes":[],"top_logprobs":[null]}`, "token logprob1 bytes{} top_logprobs{}", "", ""},

	{inToolList, `{"type":"function","name":""}`, "type name", "parameters{} strict defer_loading description", ""},
	{inToolList, `{"type":"custom","name":""}`, "type name", "defer_loading description format{}", ""},
	{inToolList, `{"type":"namespace","name":"","description":"","tools":[{"type":"function","name":""},{"type":"custom","name":""}]}`, "type name description tools", "", ""},
	{inToolList, `{"type":"file_search","vector_store_ids":[]}`, "type vector_store_ids", "max_num_results filters{} ranking_options{}", ""},
	{inToolList, `{"type":"mcp","server_label":""}`, "type server_label", "authorization connector_id server_description server_url tunnel_id defer_loading headers allowed_tools{} require_approval{}", ""},
	{inToolList, `{"type":"code_interpreter","container":"c"}`, "type container", "", ""},
	{inToolList, `{"type":"code_interpreter","container":{"type":"auto"}}`, "type container", "", ""},
	{inToolList, `{"type":"computer_use_preview","display_height":1,"display_width":2,"environment":"ubuntu"}`, "type display_height display_width environment", "", ""},
	{inToolList, `{"type":"web_search"}`, "type", "search_context_size filters{} user_location{}", ""},
	{inFoundOut, `{"type":"web_search_2025_08_26"}`, "type", "search_context_size filters{} user_location{}", ""},
	{inFoundOut, `{"type":"web_search_preview"}`, "type", "search_context_size search_content_types user_location{}", ""},
	{inToolList, `{"type":"web_search_preview_2025_03_11"}`, "type", "search_context_size search_content_types user_location{}", ""},
	{inToolList, `{"type":"image_generation"}`, "type", "", ""},
	{inToolList, `{"type":"tool_search"}`, "type", "description execution parameters~", ""},
	{inToolList, `{"type":"shell"}`, "type", "environment{}", ""},
	{inToolList, `{"type":"computer"}`, "type", "", ""},
	{inToolList, `{"type":"local_shell"}`, "type", "", ""},
	{inToolList, `{"type":"apply_patch"}`, "type", "", ""},
}

// with gives an object with one member changed, without it for "".
func with(t *testing.T, object, name, value string) string {
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(object), &members); err != nil {
		t.Fatalf("%s: %v", object, err)
	}
	delete(members, name)
	if value != "" {
		members[name] = json.RawMessage(value)
	}
	text, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// closedFrames are those whose objects may have no unknown keys.
var closedFrames = []string{inWhole, inInvocation, inTurns, inRef, inCalls, inMeta, inStats, inTools, inGaps}

func TestKinds(t *testing.T) {
	tags := map[string]bool{}
	for _, c := range kindCases {
		try := func(want bool, object string) {
			t.Helper()
			class := ""
			if !want {
				class = ClassValidation
			}
			expect(t, class, fmt.Sprintf(c.frame, object))
		}
		try(true, c.minimal)
		for _, wrong := range []string{`null`, `"x"`, `[]`, `1`} {
			if c.frame == inShell && wrong == `null` {
				continue
			}
			try(false, wrong)
		}
		try(!slices.Contains(closedFrames, c.frame), with(t, c.minimal, "unknown", "[1]"))
		for list, names := range map[string]string{"required": c.required, "null": c.null, "optional": c.optional} {
			for _, name := range strings.Fields(names) {
				plain := strings.TrimRight(name, "~{}1!")
				sign := name[len(plain):]
				try(list != "required", with(t, c.minimal, plain, ""))
				try(list == "null", with(t, c.minimal, plain, "null"))
				try(sign == "~" || sign == "1", with(t, c.minimal, plain, "0.5"))
				object := with(t, c.minimal, plain, `{"a":[{}]}`)
				if sign == "!" {
					expect(t, ClassType, fmt.Sprintf(c.frame, object))
				} else {
					try(sign == "~" || sign == "{}", object)
				}
			}
		}
		if c.frame == inItems {
			tag := scan(t, c.minimal).Get("type").Text()
			tags[tag] = true
		}
	}
	for _, kind := range itemKinds {
		if !tags[kind.tag] {
			t.Errorf("no case for %s", kind.tag)
		}
	}
	if want := len(itemKinds) + 1; len(tags) != want {
		t.Errorf("%d tags, want %d", len(tags), want)
	}
}

// TestWords goes through every enumerated field: each of its words stands, and only as it is written.
func TestWords(t *testing.T) {
	for _, c := range []struct{ frame, object, name, words string }{
		{inWhole, `{"task_id":"t","rollout_id":"r"}`, "schema_version", "1.0"},
		{inInvocation, `{"invocation_id":"i"}`, "kind", "agent_invocation"},
		{inInvocation, `{"invocation_id":"i"}`, "status", "completed failed incomplete unknown"},
		{inMeta, `{}`, "response_source", "upstream local"},
		{inTools, plainTool + `}`, "kind", "tool_call"},
		{inTools, plainTool + `}`, "timing_source", "executor artifact harness"},
		{inTools, plainTool + `}`, "status", "completed failed timeout cancelled incomplete unknown"},
		{inItems, `{"type":"message","content":"x"}`, "role", "user assistant system developer"},
		{inItems, `{"type":"message","role":"user","content":"x"}`, "phase", "commentary final_answer"},
		{inItems, `{"type":"message","id":"i","content":[{"type":"refusal","refusal":"x"}]}`, "role", "assistant"},
		{inItems, `{"type":"message","id":"i","content":[{"type":"refusal","refusal":"x"}]}`, "status", "in_progress completed incomplete"},
		{inItems, `{"type":"function_call","arguments":"{}","call_id":"c","name":"n"}`, "status", "in_progress completed incomplete"},
		{inItems, `{"type":"file_search_call","id":"","queries":[]}`, "status", "in_progress searching completed incomplete failed"},
		{inItems, `{"type":"web_search_call","id":"","action":{"type":"search"}}`, "status", "in_progress searching completed failed"},
		{inItems, `{"type":"computer_call","id":"","call_id":"","pending_safety_checks":[]}`, "status", "in_progress completed incomplete"},
		{inItems, `{"type":"image_generation_call","id":""}`, "status", "in_progress completed generating failed"},
		{inItems, `{"type":"code_interpreter_call","id":"","container_id":""}`, "status", "in_progress completed incomplete interpreting failed"},
		{inItems, `{"type":"apply_patch_call","id":"","call_id":"","operation":{"type":"delete_file","path":""}}`, "status", "in_progress completed"},
		{inItems, `{"type":"apply_patch_call_output","id":"","call_id":""}`, "status", "completed failed"},
		{inItems, `{"type":"tool_search_call","id":"","arguments":0,"status":"completed"}`, "execution", "server client"},
		{inItems, `{"type":"additional_tools","tools":[]}`, "role", "developer"},
		{inAction, `{"type":"click","x":1,"y":2}`, "button", "left right wheel back forward"},
		{inContent, `{"type":"input_image"}`, "detail", "low high auto original"},
		{inResult, `{"type":"input_file"}`, "detail", "low high"},
		{inToolList, `{"type":"computer_use_preview","display_height":1,"display_width":2}`, "environment", "windows mac linux ubuntu browser"},
		{inToolList, `{"type":"web_search"}`, "search_context_size", "low medium high"},
		{inToolList, `{"type":"mcp","server_label":""}`, "require_approval", "always never"},
		{inToolList, `{"type":"tool_search"}`, "execution", "server client"},
	} {
		for _, word := range strings.Fields(c.words) {
			expect(t, "", fmt.Sprintf(c.frame, with(t, c.object, c.name, `"`+word+`"`)))
			expect(t, "", fmt.Sprintf(c.frame, with(t, c.object, c.name, fmt.Sprintf(`"\u%04x%s"`, word[0], word[1:]))))
			for _, wrong := range []string{" " + word, word + " ", strings.ToUpper(word), "x", ""} {
				if wrong != word {
					expect(t, ClassValidation, fmt.Sprintf(c.frame, with(t, c.object, c.name, `"`+wrong+`"`)))
				}
			}
		}
	}
}

// TestForms holds fields that have several forms, and parts with rules of their own.
func TestForms(t *testing.T) {
	tests := []struct {
		frame, object string
		valid         bool
	}{
		{inFound, `{"attributes":{"a":"x","b":1,"c":1.5,"d":true,"e":""}}`, true},
		{inFound, `{"attributes":{"a":null}}`, false},
		{inFound, `{"attributes":{"a":[]}}`, false},
		{inFound, `{"attributes":{"a":[],"b":1,"a":1}}`, true},
		{inFound, `{"attributes":{"a":1,"b":1,"a":[]}}`, false},
		{inFound, `{"attributes":{"a":[],"b":{},"a":1}}`, false},
		{inExec, `{"type":"exec","command":[],"env":{"a":1}}`, false},
		{inExec, `{"type":"exec","command":[],"env":{"a":1,"\u0061":"1"}}`, true},
		{inExec, `{"type":"exec","command":[1],"env":{}}`, false},
		{inExec, `{"type":"exec","command":[],"env":{},"timeout_ms":"1_000"}`, true},
		{inToolList, `{"type":"mcp","server_label":"","allowed_tools":["a"]}`, true},
		{inToolList, `{"type":"mcp","server_label":"","allowed_tools":[1]}`, false},
		{inToolList, `{"type":"mcp","server_label":"","allowed_tools":"a"}`, false},
		{inToolList, `{"type":"mcp","server_label":"","headers":{"a":"b"}}`, true},
		{inToolList, `{"type":"mcp","server_label":"","headers":{"a":null}}`, false},
		{inToolList, `{"type":"code_interpreter","container":{"type":"manual"}}`, false},
		{inToolList, `{"type":"code_interpreter","container":[]}`, false},
		{inToolList, `{"type":"namespace","name":"","description":"","tools":[{"type":"mcp","name":""}]}`, false},
		{inToolList, `{"type":"namespace","name":"","description":"","tools":[{"type":"custom"}]}`, false},
		{inToolList, `{"type":"unknown"}`, false},
		{inToolList, `{"type":"image_generation","size":[1],"quality":null}`, true},
		{inItems, `{"type":"function_call_output","call_id":"c","output":[{"type":"input_video","video":"v"}]}`, false},
		{inItems, `{"type":"function_call_output","call_id":"c","output":{}}`, false},
		{inItems, `{"type":"function_call_output","call_id":"c","output":null}`, false},
		{inContent, `{"type":"output_text","text":"","annotations":[]}`, false},
		{inContent, `{"type":"input_\u0074ext","text":""}`, true},
		{inContent, `{"text":"","type":5,"type":"input_text"}`, true},
		{inContent, `{"text":"","type":"input_text","type":5}`, false},
		{inContent, `{"type":"input_file","type":"input_text","text":""}`, true},

		// A video has one source, under either name.
		{inContent, `{"type":"input_video","video":"v","video_url":"v"}`, false},
		{inContent, `{"type":"input_video","video":"v","video_url":null}`, false},
		{inContent, `{"type":"input_video"}`, false},
		{inContent, `{"type":"input_video","video":null}`, false},
		{inContent, `{"type":"input_video","video":"v","video":"w"}`, true},
		{inContent, `{"type":"input_video","video":""}`, false},
		{inContent, `{"type":"input_video","video":" \u001c\u3000\u0085\t"}`, false},
		{inContent, `{"type":"input_video","video":"\u200b"}`, true},
		{inContent, `{"type":"input_video","video":"\ufeff"}`, true},
		{inContent, `{"type":"input_video","video":{"url":"\u001f"}}`, false},
		{inContent, `{"type":"input_video","video":{"url":5}}`, false},
		{inContent, `{"type":"input_video","video":{}}`, false},
		{inContent, `{"type":"input_video","video_url":{"url":"u","other":{}}}`, true},
		{inContent, `{"type":"input_video","video_url":["u"]}`, false},

		// The type of an output part may be missing, but not be wrong.
		{inOutput, `{"type":null,"refusal":"x"}`, false},
		{inOutput, `{"type":"","refusal":"x"}`, false},
		{inOutput, `{"type":"output_text","refusal":"x"}`, false},
		{inOutput, `{"text":"x","refusal":"x"}`, true},
		{inOutput, `{"text":"x","annotations":[],"refusal":5}`, true},
		{inOutput, `{"text":"x","annotations":[],"logprobs":5,"refusal":""}`, true},
		{inOutput, `{"text":"x"}`, false},
		{inOutput, `{}`, false},

		// The lists of a log probability are not looked into.
		{inLogprobs, `{"token":"","logprob":0,"bytes":"ab","top_logprobs":{}}`, true},
		{inLogprobs, `{"token":"","logprob":0,"bytes":["x"],"top_logprobs":[5]}`, true},
		{inLogprobs, `{"token":"","logprob":0,"bytes":5,"top_logprobs":[]}`, false},
		{inLogprobs, `{"token":"","logprob":0,"bytes":[],"top_logprobs":true}`, false},
		{inLogprobs, `{"token":"","logprob":"x","bytes":[],"top_logprobs":[]}`, false},

		// Token fields come together or not at all, whatever the kind.
		{inItems, `{"type":"message","role":"user","content":"","prompt_token_ids":[1,"2",3.0,true],"generation_token_ids":[],"generation_log_probs":[-1,"-2.5","nan"]}`, true},
		{inItems, `{"type":"mcp_list_tools","prompt_token_ids":[],"generation_token_ids":[18446744073709551615],"generation_log_probs":[]}`, true},
		{inItems, `{"prompt_token_ids":[],"generation_token_ids":[18446744073709551616],"generation_log_probs":[]}`, false},
		{inItems, `{"prompt_token_ids":[1.5],"generation_token_ids":[],"generation_log_probs":[]}`, false},
		{inItems, `{"prompt_token_ids":[null],"generation_token_ids":[],"generation_log_probs":[]}`, false},
		{inItems, `{"prompt_token_ids":null,"generation_token_ids":[],"generation_log_probs":[]}`, false},
		{inItems, `{"prompt_token_ids":"x","generation_token_ids":[],"generation_log_probs":[]}`, false},
		{inItems, `{"prompt_token_ids":[],"generation_token_ids":[],"generation_log_probs":["x"]}`, false},
		{inItems, `{"prompt_token_ids":[],"generation_token_ids":[]}`, false},
		{inItems, `{"generation_token_ids":[],"generation_log_probs":[]}`, false},
		{inItems, `{"routed_experts":null}`, false},
		{inItems, `{"prompt_token_ids":[],"generation_token_ids":[],"generation_log_probs":[],"routed_experts":null}`, true},
		{inItems, `{"prompt_token_ids":[],"generation_token_ids":[],"generation_log_probs":[],"routed_experts":"x"}`, true},
		{inItems, `{"prompt_token_ids":[],"generation_token_ids":[],"generation_log_probs":[],"routed_experts":[[[1,"2"],[]],[]]}`, true},
		{inItems, `{"prompt_token_ids":[],"generation_token_ids":[],"generation_log_probs":[],"routed_experts":[[1]]}`, false},
		{inItems, `{"prompt_token_ids":[],"generation_token_ids":[],"generation_log_probs":[],"routed_experts":[[["x"]]]}`, false},
		{inItems, `{"prompt_token_ids":[],"generation_token_ids":[],"generation_log_probs":[],"routed_experts":{}}`, false},
	}
	for _, tt := range tests {
		want := ClassValidation
		if tt.valid {
			want = ""
		}
		expect(t, want, fmt.Sprintf(tt.frame, tt.object))
	}
}
