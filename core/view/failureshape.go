package view

import "strings"

// The signs that stand in the shape of a message for what differs between messages of one kind.
const (
	signNumber  = "#"
	signHex     = "#hex"
	signPath    = "#path"
	signAddress = "#url"
)

const (
	shapeBytes = 400 // of a message that its shape is made of
	shortHex   = 8   // letters and digits from which on a hexadecimal word is no word of a language
)

// shapeOf takes out of a message what differs between messages of one kind: numbers, long hexadecimal words, paths
// and addresses.
func shapeOf(message string) string {
	cut := len(message) > shapeBytes
	if cut {
		end := shapeBytes
		for end > 0 && message[end]&0xC0 == 0x80 {
			end--
		}
		message = message[:end]
	}
	var b strings.Builder
	space := false
	for i := 0; i < len(message); {
		switch c := message[i]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			space = b.Len() > 0
			i++
			continue
		default:
			if space {
				b.WriteByte(' ')
				space = false
			}
		}
		n, sign := shapedWord(message, i)
		if sign != "" {
			b.WriteString(sign)
		} else {
			b.WriteString(message[i : i+n])
		}
		i += n
	}
	if cut {
		b.WriteString(" …")
	}
	return b.String()
}

// shapedWord is the length of what begins at a byte of a message, with the sign that stands for it.
func shapedWord(s string, at int) (n int, sign string) {
	rest := s[at:]
	for _, scheme := range [...]string{"http://", "https://", "file://"} {
		if strings.HasPrefix(rest, scheme) {
			return span(rest, notSpace), signAddress
		}
	}
	c := rest[0]
	switch {
	case c == '/' || c == '~' && strings.HasPrefix(rest, "~/") || drive(rest):
		if n := span(rest, inPath); n > 1 && strings.ContainsAny(rest[:n], "/\\") && (n > 2 && pathName(rest[1])) {
			return trimmed(rest, n), signPath
		}
		return 1, ""
	case !wordByte(c):
		return 1, ""
	}
	n = span(rest, func(c byte) bool { return wordByte(c) || c == '-' || c == '.' })
	for n > 1 && (rest[n-1] == '.' || rest[n-1] == '-') {
		n--
	}
	token := rest[:n]
	switch {
	case strings.HasPrefix(token, "0x") && len(token) > 2 && hexadecimal(token[2:]):
		return n, signHex
	case hexadecimal(token) && len(token) >= shortHex && digits(token) && !numeric(token):
		return n, signHex
	case numeric(token):
		return n, signNumber
	}
	// Digits inside a word differ as well: "worker-12", "shard3".
	word := span(rest, func(c byte) bool { return wordByte(c) && c-'0' >= 10 })
	if word > 0 {
		return word, ""
	}
	n = span(rest, func(c byte) bool { return c-'0' < 10 || c == '.' })
	for rest[n-1] == '.' {
		n--
	}
	return n, signNumber
}

func span(s string, in func(byte) bool) int {
	n := 0
	for n < len(s) && in(s[n]) {
		n++
	}
	return n
}

func notSpace(c byte) bool {
	return c > ' ' && c != '"' && c != '\'' && c != ')' && c != '>' && c != ',' && c != ']'
}

func inPath(c byte) bool {
	return wordByte(c) || c == '/' || c == '\\' || c == '.' || c == '-' || c == '~' || c == '+' || c == '@' || c == ':'
}

func pathName(c byte) bool { return wordByte(c) || c == '.' || c == '/' || c == ':' }

// drive tells whether a text begins with the name of a drive.
func drive(s string) bool {
	return len(s) > 2 && (s[0]|0x20)-'a' < 26 && s[1] == ':' && s[2] == '\\'
}

// trimmed leaves out the marks that end a sentence behind a path.
func trimmed(s string, n int) int {
	for n > 1 && (s[n-1] == '.' || s[n-1] == ':') {
		n--
	}
	return n
}

func wordByte(c byte) bool {
	return c-'0' < 10 || (c|0x20)-'a' < 26 || c == '_' || c >= 0x80
}

// hexadecimal tells whether a word is hexadecimal, with dashes as in an UUID.
func hexadecimal(s string) bool {
	for i := range len(s) {
		if c := s[i]; c-'0' >= 10 && (c|0x20)-'a' >= 6 && c != '-' {
			return false
		}
	}
	return s != ""
}

func digits(s string) bool { return strings.ContainsAny(s, "0123456789") }

// numeric tells whether a word is a number: digits with points, and perhaps a unit of up to two letters behind them.
func numeric(s string) bool {
	n := span(s, func(c byte) bool { return c-'0' < 10 || c == '.' || c == '_' })
	return n > 0 && s[0]-'0' < 10 && len(s)-n == 0
}
