package modelcall

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rollscope/rollscope/core/value"
)

// Events walks over the server-sent events of a stream whose data are objects (spec model-calls §6.1). What is no
// event, no JSON or no object is passed over.
func Events(text string, each func(event value.Value)) {
	for more := true; more; {
		var block string
		block, text, more = cutBlock(text)
		data, found := blockData(block)
		if !found || data == "[DONE]" {
			continue
		}
		if v, err := value.Parse([]byte(data), Loose); err == nil && v.IsObject() {
			each(v)
		}
	}
}

// cutBlock cuts a text where two line ends meet; a line end is LF with an optional CR in front of it.
func cutBlock(text string) (block, rest string, found bool) {
	for i := 0; i < len(text); i++ {
		first := lineEnd(text[i:])
		if first == 0 {
			continue
		}
		if second := lineEnd(text[i+first:]); second > 0 {
			return text[:i], text[i+first+second:], true
		}
		i += first - 1
	}
	return text, "", false
}

// lineEnd is the length of the line end that a text begins with.
func lineEnd(text string) int {
	switch {
	case strings.HasPrefix(text, "\n"):
		return 1
	case strings.HasPrefix(text, "\r\n"):
		return 2
	}
	return 0
}

// blockData joins the data of a block; found is false if it has none.
func blockData(block string) (data string, found bool) {
	var b strings.Builder
	for len(block) > 0 {
		end, size := breakAt(block)
		line := block[:end]
		block = block[end+size:]
		rest, ok := strings.CutPrefix(line, "data:")
		if !ok {
			continue
		}
		if found {
			b.WriteByte('\n')
		}
		found = true
		b.WriteString(strings.TrimLeftFunc(rest, blankRune))
	}
	return b.String(), found
}

// breakAt finds the first end of a line, in the wide sense of the reference's language, and how long it is.
func breakAt(text string) (at, size int) {
	for i, r := range text {
		switch r {
		case '\r':
			if strings.HasPrefix(text[i+1:], "\n") {
				return i, 2
			}
			return i, 1
		case '\n', '\v', '\f', 0x1C, 0x1D, 0x1E:
			return i, 1
		case 0x85, 0x2028, 0x2029:
			return i, utf8.RuneLen(r)
		}
	}
	return len(text), 0
}

// blankRune tells white space in the sense of the reference's language.
func blankRune(r rune) bool { return unicode.IsSpace(r) || r >= 0x1C && r <= 0x1F }

// A Terminal tells how a stream ended.
type Terminal uint8

const (
	NotEnded Terminal = iota // no event says so
	Complete
	Incomplete
	Failed
)

// String gives the word for it.
func (t Terminal) String() string {
	return [...]string{"none", "complete", "incomplete", "error"}[t]
}

// terminals are the lines that end a stream.
var terminals = map[string]map[string]Terminal{
	"responses": {
		"event: response.completed":  Complete,
		"event: response.incomplete": Incomplete,
		"event: response.failed":     Failed,
		"event: error":               Failed,
	},
	"chat":     {"data: [DONE]": Complete, "event: error": Failed},
	"messages": {"event: message_stop": Complete, "event: error": Failed},
}

// TerminalOf finds how the stream of a dialect ended, in its raw text (spec model-calls §6.5). What no blank line
// follows has not arrived.
func TerminalOf(dialect, text string) Terminal {
	table, known := terminals[dialect]
	if !known {
		return NotEnded
	}
	for {
		block, rest, whole := cutBlock(text)
		if !whole {
			return NotEnded
		}
		text = rest
		end := NotEnded
		plainLines(block, func(field, content string) bool {
			end = table[field+": "+content]
			return end == NotEnded
		})
		if end == NotEnded && dialect == "chat" {
			plainLines(block, func(field, content string) bool {
				if field != "data" {
					return true
				}
				if v, err := value.Parse([]byte(content), Loose); err == nil && v.IsObject() && !v.Get("error").IsNull() {
					end = Failed
				}
				return end == NotEnded
			})
		}
		if end != NotEnded {
			return end
		}
	}
}

// plainLines walks over the lines of a block, which end at LF, CR or both, as field and content.
func plainLines(block string, each func(field, content string) bool) {
	for len(block) > 0 {
		end := strings.IndexAny(block, "\r\n")
		line := block
		if end < 0 {
			block = ""
		} else {
			line = block[:end]
			block = strings.TrimPrefix(block[end:], "\r")
			block = strings.TrimPrefix(block, "\n")
		}
		field, content, found := strings.Cut(line, ":")
		if found && !each(field, strings.TrimLeft(content, " \t\n\r\v\f")) {
			return
		}
	}
}
