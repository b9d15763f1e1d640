package check

import (
	"unicode/utf8"

	"github.com/rollscope/rollscope/core/jsonscan"
)

// nonEmpty tells whether a value holds something a reader would see (spec health §6): a string with more
// than white space in it, an array with such a member, an object with such a value under one of a few
// keys. Numbers, bools and null hold nothing. Free values of a trajectory are at most 255 levels deep, so
// recursion is bounded; every part is looked at once at most.
func nonEmpty(v jsonscan.Value) bool {
	switch {
	case v.IsString():
		return visible(v)
	case v.IsArray():
		for e := v.Elements(); e.Next(); {
			if nonEmpty(e.Value) {
				return true
			}
		}
	case v.IsObject():
		// Of repeated keys the last counts, so the values are judged when all members are known.
		var found [contentKeys]jsonscan.Value
		for m := v.Members(); m.Next(); {
			if i := contentKey(m.Key); i >= 0 {
				found[i] = m.Value
			}
		}
		for i := range found {
			if nonEmpty(found[i]) {
				return true
			}
		}
	}
	return false
}

const contentKeys = 9

// contentKey numbers the keys of an object under which content is looked for.
func contentKey(key []byte) int {
	switch string(key) {
	case "text":
		return 0
	case "content":
		return 1
	case "output_text":
		return 2
	case "answer":
		return 3
	case "refusal":
		return 4
	case "encrypted_content":
		return 5
	case "reasoning":
		return 6
	case "reasoning_content":
		return 7
	case "summary":
		return 8
	}
	return -1
}

// visible tells whether a string has a character that trimming leaves. It reads no further than to the
// first one, and escapes in place.
func visible(v jsonscan.Value) bool {
	raw := v.Raw()
	for s := raw[1 : len(raw)-1]; len(s) > 0; {
		switch c := s[0]; {
		case c == ' ':
			s = s[1:]
		case c == '\\':
			switch s[1] {
			case 't', 'n', 'f', 'r':
				s = s[2:]
			case 'u':
				// Half of a surrogate pair is no white space, so pairs need no joining.
				if !White(hex4(s[2:6])) {
					return true
				}
				s = s[6:]
			default:
				return true
			}
		case c < utf8.RuneSelf:
			return true
		default:
			r, size := utf8.DecodeRune(s)
			if !White(r) {
				return true
			}
			s = s[size:]
		}
	}
	return false
}

// hex4 reads four hexadecimal digits that the scanner found valid.
func hex4(digits []byte) rune {
	var r rune
	for _, c := range digits {
		switch {
		case c <= '9':
			c -= '0'
		case c >= 'a':
			c -= 'a' - 10
		default:
			c -= 'A' - 10
		}
		r = r<<4 | rune(c)
	}
	return r
}

// White tells whether trimming removes a character: the white space of the reference's language, which
// includes the four information separators and excludes U+200B and U+FEFF.
func White(r rune) bool {
	switch {
	case r <= 0x20:
		return r >= 0x1C || r >= 0x09 && r <= 0x0D
	case r < 0x1680:
		return r == 0x85 || r == 0xA0
	case r >= 0x2000 && r <= 0x200A:
		return true
	}
	switch r {
	case 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000:
		return true
	}
	return false
}

// toolCall tells whether a value holds a tool call: an object of such a type or with tool_calls, directly
// or inside arrays. An object whose type is itself a container raises.
func toolCall(v jsonscan.Value) (bool, Raised) {
	switch {
	case v.IsArray():
		for e := v.Elements(); e.Next(); {
			if found, raised := toolCall(e.Value); found || raised != Finished {
				return found, raised
			}
		}
	case v.IsObject():
		var kind, calls jsonscan.Value
		for m := v.Members(); m.Next(); {
			switch string(m.Key) {
			case "type":
				kind = m.Value
			case "tool_calls":
				calls = m.Value
			}
		}
		if kind.IsArray() || kind.IsObject() {
			return false, TypeError
		}
		return toolType(kind) || calls.Truthy(), Finished
	}
	return false, Finished
}

func toolType(v jsonscan.Value) bool {
	inner, escapes := v.Escaped()
	if escapes {
		inner = v.AppendText(nil)
	}
	switch string(inner) {
	case "function_call", "tool_call", "tool_use", "mcp_call", "mcp_list_tools", "mcp_approval_request",
		"file_search_call", "web_search_call", "computer_call", "image_generation_call",
		"code_interpreter_call", "local_shell_call", "custom_tool_call":
		return true
	}
	return false
}

// responseContent tells whether a saved response says anything. Choices are walked before the output is
// looked at, so one of an odd shape raises even if there is output.
func responseContent(v jsonscan.Value) (bool, Raised) {
	if !v.IsObject() {
		return false, Finished
	}
	var text, content, choices, output jsonscan.Value
	for m := v.Members(); m.Next(); {
		switch string(m.Key) {
		case "output_text":
			text = m.Value
		case "content":
			content = m.Value
		case "choices":
			choices = m.Value
		case "output":
			output = m.Value
		}
	}
	if nonEmpty(text) || nonEmpty(content) {
		return true, Finished
	}
	switch choices.Kind() {
	case jsonscan.Int, jsonscan.Float, jsonscan.Bool:
		if choices.Truthy() {
			return false, TypeError
		}
	case jsonscan.Array:
		for e := choices.Elements(); e.Next(); {
			if found, raised := choiceContent(e.Value); found || raised != Finished {
				return found, raised
			}
		}
	}
	return nonEmpty(output), Finished
}

func choiceContent(v jsonscan.Value) (bool, Raised) {
	var text, message jsonscan.Value
	for m := v.Members(); m.Next(); {
		switch string(m.Key) {
		case "text":
			text = m.Value
		case "message":
			message = m.Value
		}
	}
	switch {
	case nonEmpty(text):
		return true, Finished
	case !message.Truthy():
		return false, Finished
	case !message.IsObject():
		return false, AttributeError
	}
	return nonEmpty(message.Get("content")), Finished
}
