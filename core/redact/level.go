package redact

import (
	"bytes"
	"sort"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// A level is a text with the escapes of JSON in it decoded, wherever they stand: what a text inside it says that is
// written as JSON. It knows where everything stood.
type level struct {
	text   []byte
	behind []mark // of every escape
}

// A mark is the same place in the text and in the one it was made of.
type mark struct{ inside, outside int }

var letters = [256]byte{'"': '"', '\'': '\'', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unescape fills a level. It tells whether there is any escape.
func (l *level) unescape(text []byte) bool {
	l.text, l.behind = l.text[:0], l.behind[:0]
	for from := 0; ; {
		i := bytes.IndexByte(text[from:], '\\')
		if i < 0 {
			l.text = append(l.text, text[from:]...)
			return len(l.behind) > 0
		}
		l.text = append(l.text, text[from:from+i]...)
		from += i
		size := 0
		switch next := text[min(from+1, len(text)-1)]; {
		case from+1 == len(text):
		case next == 'u':
			var r rune
			if r, size = unicodeEscape(text[from:]); size > 0 {
				l.text = utf8.AppendRune(l.text, r)
			}
		case letters[next] != 0:
			l.text, size = append(l.text, letters[next]), 2
		}
		if size == 0 { // a backslash that is one
			l.text = append(l.text, '\\')
			from++
			continue
		}
		from += size
		l.behind = append(l.behind, mark{len(l.text), from})
	}
}

// unicodeEscape decodes the \uXXXX, or two that are a pair, that a text begins with. The size is 0 if it is none.
func unicodeEscape(text []byte) (r rune, size int) {
	unit := func(b []byte) rune {
		if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
			return -1
		}
		n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
		if err != nil {
			return -1
		}
		return rune(n)
	}
	first := unit(text)
	switch {
	case first < 0:
		return 0, 0
	case !utf16.IsSurrogate(first):
		return first, 6
	}
	if r := utf16.DecodeRune(first, unit(text[6:])); r != utf8.RuneError {
		return r, 12
	}
	return 0, 0
}

// outside gives the place in the text that a level was made of.
func (l *level) outside(at int) int {
	n := sort.Search(len(l.behind), func(i int) bool { return l.behind[i].inside > at })
	if n == 0 {
		return at
	}
	m := l.behind[n-1]
	return m.outside + at - m.inside
}
