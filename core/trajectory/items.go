package trajectory

// The tables of this file are the kinds of conversation items (spec health appendix A).
//
// Six kinds drop keys they do not know: the three forms of a message, function calls, their outputs and
// reasoning. All others come from hosted tools; they keep every key, at every level.

// progress is how far most items have come.
var progress = word("in_progress", "completed", "incomplete")

// phase says whether a message is an interim or the last word.
var phase = word("commentary", "final_answer")

var easyMessage = message(table{name: "easy message", tokens: true},
	must("content", either(text, list(tagged(&inputParts)))),
	must("role", word("user", "assistant", "system", "developer")),
	typed,
	may("phase", phase),
)

var inputMessage = message(table{name: "input message", tokens: true},
	must("content", list(tagged(&inputParts))),
	must("role", word("user", "system", "developer")),
	opt("status", progress).by(`"completed"`),
	typed,
)

var outputMessage = message(table{name: "output message", tokens: true},
	must("id", text),
	must("content", list(tagged(&outputParts))),
	opt("role", word("assistant")).by(`"assistant"`),
	opt("status", progress).by(`"completed"`),
	typed,
	may("phase", phase),
)

var functionCall = closed("function_call", table{tokens: true},
	must("arguments", text),
	must("call_id", text),
	must("name", text),
	typed,
	may("id", text),
	may("status", progress),
	may("namespace", text),
)

// Token fields of an output are dropped when it is written.
var functionCallOutput = closed("function_call_output", table{},
	must("call_id", text),
	must("output", either(text, list(tagged(&resultParts)))),
	typed,
	may("id", text),
	may("status", progress),
)

var reasoning = closed("reasoning", table{tokens: true},
	must("id", text),
	must("summary", list(object(variant("summary_text", must("text", text), typed)))),
	typed,
	may("encrypted_content", text),
	may("content", list(object(variant("reasoning_text", must("text", text), typed)))),
)

var mcpCall = hosted("mcp_call",
	must("arguments", text),
	must("name", text),
	typed,
	may("id", text),
	may("server_label", text),
	may("approval_request_id", text),
	may("error", text),
	may("output", text),
	may("status", text),
)

// mcpListTools is also what an object without a type becomes when nothing else is recognised in it.
var mcpListTools = hosted("mcp_list_tools",
	opt("tools", list(kept)).by(`[]`),
	typed,
	may("id", text),
	may("server_label", text),
	may("error", text),
)

// itemKinds are the kinds that an item names by its type. Messages are told apart by other means.
var itemKinds = [...]*table{
	functionCall,
	functionCallOutput,
	reasoning,
	mcpCall,
	mcpListTools,

	hosted("mcp_approval_request",
		must("arguments", text),
		must("name", text),
		typed,
		may("id", text),
		may("server_label", text),
	),

	hosted("mcp_approval_response",
		must("approval_request_id", text),
		must("approve", flag),
		typed,
		may("id", text),
		may("reason", text),
	),

	hosted("file_search_call",
		must("id", text),
		must("queries", list(text)),
		must("status", word("in_progress", "searching", "completed", "incomplete", "failed")),
		typed,
		may("results", list(object(plain("file search result",
			may("attributes", mapOf(either(text, number, flag))),
			may("file_id", text),
			may("filename", text),
			may("score", number),
			may("text", text),
		)))),
	),

	hosted("web_search_call",
		must("id", text),
		must("status", word("in_progress", "searching", "completed", "failed")),
		must("action", tagged(&searchActions)),
		typed,
	),

	hosted("computer_call",
		must("id", text),
		must("call_id", text),
		must("pending_safety_checks", list(object(safetyCheck))),
		must("status", progress),
		typed,
		may("action", tagged(&computerActions)),
		may("actions", list(tagged(&computerActions))),
	),

	hosted("computer_call_output",
		must("call_id", text),
		must("output", object(variant("computer_screenshot", typed, may("file_id", text), may("image_url", text)))),
		typed,
		may("id", text),
		may("acknowledged_safety_checks", list(object(safetyCheck))),
		may("status", progress),
	),

	hosted("image_generation_call",
		must("id", text),
		must("status", word("in_progress", "completed", "generating", "failed")),
		typed,
		may("result", text),
	),

	hosted("code_interpreter_call",
		must("id", text),
		must("container_id", text),
		must("status", word("in_progress", "completed", "incomplete", "interpreting", "failed")),
		typed,
		may("code", text),
		may("outputs", list(tagged(&union{name: "code output", tables: []*table{
			variant("logs", must("logs", text), typed),
			variant("image", typed, must("url", text)),
		}}))),
	),

	hosted("local_shell_call",
		must("id", text),
		must("call_id", text),
		must("action", object(variant("exec",
			must("command", list(text)),
			must("env", mapOf(text)),
			typed,
			may("timeout_ms", whole),
			may("user", text),
			may("working_directory", text),
		))),
		must("status", progress),
		typed,
	),

	hosted("local_shell_call_output",
		must("id", text),
		must("output", text),
		typed,
		may("status", progress),
	),

	hosted("custom_tool_call",
		must("call_id", text),
		must("input", text),
		must("name", text),
		typed,
		may("id", text),
		may("namespace", text),
	),

	hosted("custom_tool_call_output",
		must("call_id", text),
		must("output", either(text, list(tagged(&hostedParts)))),
		typed,
		may("id", text),
	),

	hosted("apply_patch_call",
		must("id", text),
		must("call_id", text),
		must("operation", tagged(&union{name: "patch operation", tables: []*table{
			variant("create_file", must("diff", text), must("path", text), typed),
			variant("update_file", must("diff", text), must("path", text), typed),
			variant("delete_file", must("path", text), typed),
		}})),
		must("status", word("in_progress", "completed")),
		typed,
		may("created_by", text),
	),

	hosted("apply_patch_call_output",
		must("id", text),
		must("call_id", text),
		must("status", word("completed", "failed")),
		typed,
		may("created_by", text),
		may("output", text),
	),

	hosted("shell_call",
		must("id", text),
		must("action", object(plain("shell action",
			must("commands", list(text)),
			may("max_output_length", whole),
			may("timeout_ms", whole),
		))),
		must("call_id", text),
		must("status", progress),
		typed,
		may("environment", tagged(&union{name: "shell environment", tables: []*table{
			variant("local", typed),
			variant("container_reference", must("container_id", text), typed),
		}})),
		may("created_by", text),
	),

	hosted("shell_call_output",
		must("id", text),
		must("call_id", text),
		must("output", list(object(plain("shell output",
			must("outcome", tagged(&union{name: "shell outcome", tables: []*table{
				variant("timeout", typed),
				variant("exit", must("exit_code", whole), typed),
			}})),
			must("stderr", text),
			must("stdout", text),
			may("created_by", text),
		)))),
		must("status", progress),
		typed,
		may("max_output_length", whole),
		may("created_by", text),
	),

	hosted("tool_search_call",
		must("id", text),
		must("arguments", kept),
		must("execution", word("server", "client")),
		must("status", progress),
		typed,
		may("call_id", text),
		may("created_by", text),
	),

	hosted("tool_search_output",
		must("id", text),
		must("execution", word("server", "client")),
		must("status", progress),
		must("tools", list(tagged(&tools))),
		typed,
		may("call_id", text),
		may("created_by", text),
	),

	hosted("compaction",
		must("id", text),
		must("encrypted_content", text),
		typed,
		may("created_by", text),
	),

	hosted("compaction_trigger",
		typed,
	),

	hosted("additional_tools",
		must("role", word("developer")),
		must("tools", list(tagged(&tools))),
		typed,
		may("id", text),
	),
}

var safetyCheck = plain("safety check",
	must("id", text),
	may("code", text),
	may("message", text),
)

var searchActions = union{name: "search action", tables: []*table{
	variant("search",
		typed,
		may("query", text),
		may("queries", list(text)),
		may("sources", list(object(variant("url", typed, must("url", text))))),
	),
	variant("open_page", typed, may("url", text)),
	variant("find_in_page", must("pattern", text), typed, must("url", text)),
}}

var computerActions = union{name: "computer action", tables: []*table{
	variant("click",
		must("button", word("left", "right", "wheel", "back", "forward")),
		typed,
		must("x", whole),
		must("y", whole),
		may("keys", list(text)),
	),
	variant("double_click", typed, must("x", whole), must("y", whole), may("keys", list(text))),
	variant("drag",
		must("path", list(object(plain("point", must("x", whole), must("y", whole))))),
		typed,
		may("keys", list(text)),
	),
	variant("keypress", must("keys", list(text)), typed),
	variant("move", typed, must("x", whole), must("y", whole), may("keys", list(text))),
	variant("screenshot", typed),
	variant("scroll",
		must("scroll_x", whole),
		must("scroll_y", whole),
		typed,
		must("x", whole),
		must("y", whole),
		may("keys", list(text)),
	),
	variant("type", must("text", text), typed),
	variant("wait", typed),
}}

// signs are the keys that tell what an item is, with all other keys of the kinds that drop what they do not
// know: such an item is read in one walk.
var signs = table{name: "conversation item", extra: dropped, fields: []field{
	opt("type", kept),
	opt("id", kept),
	opt("summary", kept),
	opt("encrypted_content", kept),
	opt("role", kept),
	opt("content", kept),
	opt("status", kept),
	opt("phase", kept),
	opt("arguments", kept),
	opt("call_id", kept),
	opt("name", kept),
	opt("namespace", kept),
	opt("output", kept),
	opt("prompt_token_ids", list(whole)),
	opt("generation_token_ids", list(whole)),
	opt("generation_log_probs", list(number)),
	may("routed_experts", either(text, list(list(list(whole))))),
}}

const (
	signType = iota
	signID
	signSummary
	_
	signRole
	signContent
	signStatus
	_
	signArguments
	signCallID
	signName
	_
	signOutput
	signPrompt // the first of the token fields, which are the last
	_
	_
	signRouted
)

// message makes a table of a message kind.
func message(t table, fields ...field) *table {
	return closed("message", t, fields...)
}

// closed makes a table of a kind that drops what it does not know.
func closed(tag string, t table, fields ...field) *table {
	t.extra, t.bare = dropped, true
	t.signs = make([]int8, len(fields))
	for i, f := range fields {
		t.signs[i] = int8(signs.find([]byte(f.name), 0))
	}
	return t.tagged(tag, fields)
}

// hosted makes a table of a kind that keeps everything.
func hosted(tag string, fields ...field) *table {
	return table{extra: keeps, bare: true}.tagged(tag, fields)
}

// variant makes a table of an object inside such a kind that has a type, plain one of an object without.
func variant(tag string, fields ...field) *table { return table{extra: keeps}.tagged(tag, fields) }

func plain(name string, fields ...field) *table {
	return &table{name: name, extra: keeps, fields: fields}
}
