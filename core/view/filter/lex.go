package filter

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Longest filter text and deepest nesting that are read.
const (
	MaxLength = 1 << 20
	MaxDepth  = 100
)

type tokenKind uint8

const (
	tokEnd    tokenKind = iota
	tokWord             // a name, with dots between its parts
	tokPath             // row.… or $.…
	tokNumber           // in the form of JSON
	tokString           // in quotes
	tokValue            // a text without quotes, where only a value can stand
	tokLoose            // such a text where a field or an operator could stand too
	tokSign             // an operator, a parenthesis, a comma, a colon
	tokBad
)

type token struct {
	kind       tokenKind
	start, end int
	value      string // the text it is read as: of a string without quotes and escapes
	ref        Ref    // of a path
}

// A mode says what may stand at a place. In value mode a run of word characters is one text, so that
// model:gpt-4o needs no quotes; in operand mode "-" and "/" are kept for arithmetic.
type mode uint8

const (
	operandMode mode = iota
	valueMode
)

type parser struct {
	text   string
	at     int // everything before is read
	fields Fields
	depth  int
	err    *Error

	inner *scope // inside any(…), all(…) and count(…); nil for the row
	lists int    // of them so far
	signs int    // of calculations so far
	steps int    // of regular expressions so far

	calculated bool // behind a sign of a calculation

	// Of a completion: where the text is cut and what would have been read there.
	completing bool
	expected   want
	cut        token
	field      *Ref // whose values are expected
	against    Kind // of what the expected operand is compared with
	ordered    bool // by an operator that needs an order
	cutInner   *scope
}

func (p *parser) token(kind tokenKind, start int) token {
	return token{kind: kind, start: start, end: p.at, value: p.text[start:p.at]}
}

// checkText refuses texts that no token can be cut from.
func (p *parser) checkText() error {
	if len(p.text) > MaxLength {
		p.failAt(MaxLength, MaxLength, "", "longer than %d bytes", MaxLength)
		p.err.text = ""
		p.err.Offset = 0
		return p.err
	}
	for i, r := range p.text {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(p.text[i:]); size == 1 {
				p.failAt(i, i+1, "", "not UTF-8")
				return p.err
			}
		}
	}
	return nil
}

func (p *parser) skipSpace() {
	for p.at < len(p.text) {
		r, size := utf8.DecodeRuneInString(p.text[p.at:])
		if !unicode.IsSpace(r) {
			return
		}
		p.at += size
	}
}

// peek gives the next token without consuming it.
func (p *parser) peek(m mode) token {
	at := p.at
	t := p.next(m)
	p.at = at
	return t
}

// next consumes a token. After an error it gives the end.
func (p *parser) next(m mode) token {
	p.skipSpace()
	start := p.at
	if p.err != nil || start == len(p.text) {
		return token{kind: tokEnd, start: start, end: start}
	}
	c := p.text[start]
	switch {
	case c == '"' || c == '\'':
		return p.quoted()
	case m == valueMode && p.word() != "":
		p.at += len(p.word())
		return p.token(tokValue, start)
	case c == '$':
		p.at++
		return p.path(start)
	case digitAt(p.text, start), c == '-' && digitAt(p.text, start+1), c == '.' && digitAt(p.text, start+1):
		p.at += len(p.word())
		if _, ok := validNumber(p.text[start:p.at]); ok {
			return p.token(tokNumber, start)
		}
		if i := strings.IndexAny(p.text[start+1:p.at], "+-/") + 1; i > 0 && p.calculated {
			// Inside a calculation 2+1 cannot be meant as a text.
			if _, ok := validNumber(p.text[start : start+i]); ok {
				p.at = start + i
				return p.token(tokNumber, start)
			}
		}
		return p.token(tokLoose, start)
	}
	if name := p.name(start); name != "" {
		p.at += len(name)
		if (name == rowWord || name == itemWord && p.inner != nil) && p.at < len(p.text) && (p.text[p.at] == '.' || p.text[p.at] == '[') {
			return p.path(start)
		}
		for p.at < len(p.text) && p.text[p.at] == '.' {
			part := p.name(p.at + 1)
			if part == "" {
				break
			}
			p.at += 1 + len(part)
		}
		return p.token(tokWord, start)
	}
	for _, sign := range signs {
		if strings.HasPrefix(p.text[start:], sign) {
			p.at += len(sign)
			return p.token(tokSign, start)
		}
	}
	_, size := utf8.DecodeRuneInString(p.text[start:])
	p.at += size
	t := p.token(tokBad, start)
	suggestion := foreign[t.value]
	if suggestion == "not " && !p.leads(t) {
		suggestion = ""
	}
	p.fail(t, suggestion, "%s has no meaning here", shown(t.value))
	for _, sign := range []string{"&&", "||"} {
		if strings.HasPrefix(p.text[start:], sign) {
			p.err.Length = len(sign)
		}
	}
	return t
}

// leads tells whether a sign stands before a condition, as the negation of other languages does.
func (p *parser) leads(t token) bool {
	before, _ := utf8.DecodeLastRuneInString(p.text[:t.start])
	after, _ := utf8.DecodeRuneInString(p.text[t.end:])
	return (t.start == 0 || before == '(' || unicode.IsSpace(before)) && (after == '(' || nameRune(after, true))
}

// signs, longer ones before their beginnings.
var signs = []string{"==", "=~", "!=", "!~", "<=", ">=", "=", "<", ">", "~", "(", ")", ",", ":", "+", "-", "*", "/"}

// foreign maps signs of other languages to what this one has for them.
var foreign = map[string]string{"&": "and", "|": "or", "!": "not ", "×": "*", "÷": "/", "−": "-", "≤": "<=", "≥": ">=", "≠": "!=", "“": `"`, "”": `"`, "„": `"`, "[": "(", "]": ")", ";": "and"}

// word gives the run of characters that make a text without quotes.
func (p *parser) word() string { return p.wordAt(p.at) }

func (p *parser) wordAt(at int) string {
	for i, r := range p.text[at:] {
		if !wordRune(r) {
			return p.text[at : at+i]
		}
	}
	return p.text[at:]
}

// name gives the name that begins at offset at, empty if none does.
func (p *parser) name(at int) string {
	for i, r := range p.text[at:] {
		if !nameRune(r, i == 0) {
			return p.text[at : at+i]
		}
	}
	return p.text[at:]
}

func digitAt(s string, i int) bool { return i < len(s) && '0' <= s[i] && s[i] <= '9' }

// quoted reads a text in quotes, with the escapes of JSON and of the quote itself.
func (p *parser) quoted() token {
	start, mark := p.at, p.text[p.at]
	p.at++
	var b strings.Builder
	for p.at < len(p.text) {
		c := p.text[p.at]
		switch {
		case c == mark:
			p.at++
			t := p.token(tokString, start)
			t.value = b.String()
			return t
		case c != '\\':
			b.WriteByte(c)
			p.at++
		default:
			size := p.escape(&b)
			if size == 0 {
				if p.at+1 < len(p.text) {
					_, after := utf8.DecodeRuneInString(p.text[p.at+1:])
					p.failAt(p.at, p.at+1+after, `\\`+p.text[p.at+1:p.at+1+after], "no such escape")
					return p.token(tokBad, start)
				}
				p.at++
				continue
			}
			p.at += size
		}
	}
	t := p.token(tokBad, start)
	t.value = b.String()
	if !p.completing {
		p.failAt(start, len(p.text), quote(t.value), "the quotes are not closed")
	}
	return t
}

// escape decodes the escape at p.at and gives its length, 0 if there is no such escape.
func (p *parser) escape(b *strings.Builder) int {
	s := p.text[p.at:]
	if len(s) < 2 {
		return 0
	}
	const from, to = `"'\/bfnrt`, "\"'\\/\b\f\n\r\t"
	if i := strings.IndexByte(from, s[1]); i >= 0 {
		b.WriteByte(to[i])
		return 2
	}
	r, ok := unit(s)
	if !ok {
		return 0
	}
	size := 6
	if 0xD800 <= r && r < 0xE000 {
		low, ok := unit(s[6:])
		if !ok || r >= 0xDC00 || low < 0xDC00 || low > 0xDFFF {
			return 0
		}
		r = (r-0xD800)<<10 + low - 0xDC00 + 0x10000
		size = 12
	}
	b.WriteRune(r)
	return size
}

// unit reads one \uXXXX.
func unit(s string) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' || s[2] == '+' || s[2] == '-' {
		return 0, false
	}
	n, err := strconv.ParseUint(s[2:6], 16, 16)
	return rune(n), err == nil
}
