package filter

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// An Error says where a filter text cannot be understood.
type Error struct {
	Offset, Length int    // the bytes it is about; Length is 0 at the end of the text
	Column         int    // the place counted in characters, from 1
	Message        string // what is wrong there
	Suggestion     string // text that could stand there instead, empty when there is no good guess
	text           string
}

// Error gives the message with its place and the suggestion.
func (e *Error) Error() string {
	s := fmt.Sprintf("filter, character %d: %s", e.Column, e.Message)
	if e.Suggestion != "" {
		s += "; did you mean " + e.Suggestion + "?"
	}
	return s
}

// Fixed gives the text with the suggestion in place.
func (e *Error) Fixed() string {
	return e.text[:e.Offset] + e.Suggestion + e.text[e.Offset+e.Length:]
}

// markRoom is how many bytes of the text Mark shows before and behind the beginning of the place.
const markRoom = 60

// Mark gives the text on one line and, on a second one, a mark under the place, for a terminal. Of a long text it
// gives what stands around the place.
func (e *Error) Mark() string {
	var line, mark strings.Builder
	for i, r := range e.text {
		if i < e.Offset-markRoom || i > e.Offset+markRoom {
			continue
		}
		if !unicode.IsPrint(r) {
			r = '·'
		}
		line.WriteRune(r)
		switch {
		case i < e.Offset:
			mark.WriteByte(' ')
		case i == e.Offset || i < e.Offset+e.Length:
			mark.WriteByte('^')
		}
	}
	if e.Offset >= len(e.text) {
		mark.WriteByte('^')
	}
	return line.String() + "\n" + mark.String()
}

// shown quotes a text for a message, shortened when it is long.
func shown(s string) string {
	const most = 40
	if utf8.RuneCountInString(s) > most {
		s = string([]rune(s)[:most]) + "…"
	}
	return quote(s)
}

// errCut stops a parser that has reached the cursor of a completion.
var errCut = &Error{Message: "cut"}

const longestSuggestion = 200

// failAt notes the first error, about the bytes from start to end.
func (p *parser) failAt(start, end int, suggestion, format string, args ...any) {
	if p.err != nil {
		return
	}
	if len(suggestion) > longestSuggestion {
		suggestion = "" // nobody has meant that
	}
	message := format
	if len(args) > 0 {
		message = fmt.Sprintf(format, args...)
	}
	p.err = &Error{
		Offset: start, Length: end - start, Column: utf8.RuneCountInString(p.text[:start]) + 1,
		Message: message, Suggestion: suggestion, text: p.text,
	}
}

func (p *parser) fail(t token, suggestion, format string, args ...any) {
	p.failAt(t.start, t.end, suggestion, format, args...)
}

// nearest gives the word that was probably meant: the one with the fewest slips of the keyboard, if they are few.
func nearest(word string, words []string) string {
	if len(word) > 64 {
		return ""
	}
	best, least := "", 1+max(1, utf8.RuneCountInString(word)/3)
	for _, w := range words {
		if len(w) > 64 {
			continue
		}
		if d := slips(strings.ToLower(word), strings.ToLower(w)); d < least {
			best, least = w, d
		}
	}
	if best != "" {
		return best
	}
	for _, w := range words { // the beginning of a long name
		if len(word) >= 3 && strings.HasPrefix(strings.ToLower(w), strings.ToLower(word)) {
			return w
		}
	}
	return ""
}

// slips counts how many letters are missing, too many, wrong, or swapped with their neighbour.
func slips(a, b string) int {
	s, t := []rune(a), []rune(b)
	before, row, next := make([]int, len(t)+1), make([]int, len(t)+1), make([]int, len(t)+1)
	for j := range row {
		row[j] = j
	}
	for i := range s {
		next[0] = i + 1
		for j := range t {
			cost := 1
			if s[i] == t[j] {
				cost = 0
			}
			next[j+1] = min(row[j]+cost, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && s[i] == t[j-1] && s[i-1] == t[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row, next = row, next, before
	}
	return row[len(t)]
}
