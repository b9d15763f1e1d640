package synth

// Conversation items, in the two forms rows hold: as a model server answers
// (sparse) and as a saved conversation is normalised (full: every optional key
// is there). Texts and arguments are JSON strings, outputs JSON values.

type form bool

const (
	sparse form = false
	full   form = true
)

// appendMessage appends an assistant message. tokens is empty or the token
// fields, each followed by a comma; logprobs is empty (null) or a JSON list.
func appendMessage(dst []byte, f form, id, text, tokens, logprobs string) []byte {
	dst = append(dst, '{')
	dst = append(dst, tokens...)
	dst = append(dst, `"id":"msg_`...)
	dst = append(dst, id...)
	dst = append(dst, `","content":[{"annotations":[],"text":`...)
	dst = append(dst, text...)
	dst = append(dst, `,"type":"output_text","logprobs":`...)
	dst = appendJSON(dst, logprobs)
	dst = append(dst, `}],"role":"assistant","status":"completed","type":"message"`...)
	if f == full {
		dst = append(dst, `,"phase":null`...)
	}
	return append(dst, '}')
}

// appendEasyMessage appends a message of system or user.
func appendEasyMessage(dst []byte, f form, role, content string) []byte {
	dst = append(dst, `{"content":`...)
	dst = append(dst, content...)
	dst = append(dst, `,"role":"`...)
	dst = append(dst, role...)
	dst = append(dst, `","type":"message"`...)
	if f == full {
		dst = append(dst, `,"phase":null`...)
	}
	return append(dst, '}')
}

func appendReasoning(dst []byte, f form, id, text string) []byte {
	dst = append(dst, `{"id":"rs_`...)
	dst = append(dst, id...)
	dst = append(dst, `","summary":[{"text":`...)
	dst = append(dst, text...)
	dst = append(dst, `,"type":"summary_text"}],"type":"reasoning","encrypted_content":null`...)
	if f == full {
		dst = append(dst, `,"content":null`...)
	}
	return append(dst, '}')
}

func appendFunctionCall(dst []byte, f form, id, name, arguments string) []byte {
	dst = append(dst, `{"arguments":`...)
	dst = append(dst, arguments...)
	dst = append(dst, `,"call_id":"call_`...)
	dst = append(dst, id...)
	dst = append(dst, `","name":"`...)
	dst = append(dst, name...)
	dst = append(dst, `","type":"function_call","id":"fc_`...)
	dst = append(dst, id...)
	dst = append(dst, `","status":"completed"`...)
	if f == full {
		dst = append(dst, `,"namespace":null`...)
	}
	return append(dst, '}')
}

func appendFunctionOutput(dst []byte, id, output string) []byte {
	dst = append(dst, `{"call_id":"call_`...)
	dst = append(dst, id...)
	dst = append(dst, `","output":`...)
	dst = append(dst, output...)
	return append(dst, `,"type":"function_call_output","id":null,"status":"completed"}`...)
}

// appendCapturedTool appends a member of a captured call's tool_calls list;
// arguments is the decoded object.
func appendCapturedTool(dst []byte, id, name, arguments string) []byte {
	dst = append(dst, `{"call_id":"call_`...)
	dst = append(dst, id...)
	dst = append(dst, `","name":"`...)
	dst = append(dst, name...)
	dst = append(dst, `","arguments":`...)
	dst = append(dst, arguments...)
	return append(dst, '}')
}
