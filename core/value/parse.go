package value

import (
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/rollscope/rollscope/core/jsonscan"
)

// Leniency says what a reader accepts beyond the rules of rows.
type Leniency struct {
	Surrogates bool // escapes that are half of a surrogate pair
	Depth      int  // levels of nesting, the outermost container being 1; 0 for those of rows
}

// A ParseError says why a text is refused, and where.
type ParseError struct {
	Offset int
	Reason string
}

// Error gives reason and offset.
func (e *ParseError) Error() string { return fmt.Sprintf("%s at byte %d", e.Reason, e.Offset) }

// Parse reads a text as the reference's lenient readers do: integers of any size are exact, NaN, Infinity and
// -Infinity are floats, and so is a number that overflows. Half of a surrogate pair, where accepted, stands in the
// string as three bytes. The error is a *ParseError.
func Parse(text []byte, l Leniency) (Value, error) {
	if l.Depth == 0 {
		l.Depth = jsonscan.MaxDepth
	}
	p := parser{text: text, leniency: l}
	v, ok := p.value(0)
	if ok {
		p.space()
		if p.at == len(text) {
			return v, nil
		}
		p.refuse(jsonscan.ReasonTrailing)
	}
	return Value{}, p.err
}

type parser struct {
	text     []byte
	at       int
	leniency Leniency
	err      *ParseError
}

func (p *parser) refuse(reason string) bool {
	if p.err == nil {
		p.err = &ParseError{p.at, reason}
	}
	return false
}

func (p *parser) space() {
	for p.at < len(p.text) {
		switch p.text[p.at] {
		case ' ', '\t', '\n', '\r':
			p.at++
		default:
			return
		}
	}
}

func (p *parser) take(word string) bool {
	if rest := p.text[p.at:]; len(rest) >= len(word) && string(rest[:len(word)]) == word {
		p.at += len(word)
		return true
	}
	return false
}

func (p *parser) value(depth int) (v Value, ok bool) {
	p.space()
	if p.at == len(p.text) {
		return v, p.refuse(jsonscan.ReasonCut)
	}
	switch c := p.text[p.at]; {
	case c == '"':
		s, ok := p.string()
		return Value{kind: jsonscan.String, text: s}, ok
	case c == '{', c == '[':
		if depth == p.leniency.Depth {
			return v, p.refuse("nested too deep")
		}
		if c == '{' {
			return p.object(depth + 1)
		}
		return p.array(depth + 1)
	case c-'0' < 10, c == '-':
		if p.take("-Infinity") {
			return Float(math.Inf(-1)), true
		}
		return p.number()
	case p.take("null"):
		return Null, true
	case p.take("true"):
		return Bool(true), true
	case p.take("false"):
		return Bool(false), true
	case p.take("NaN"):
		return Float(math.NaN()), true
	case p.take("Infinity"):
		return Float(math.Inf(1)), true
	}
	return v, p.refuse(jsonscan.ReasonUnknown)
}

func (p *parser) array(depth int) (v Value, ok bool) {
	list := Value{kind: jsonscan.Array}
	p.at++
	p.space()
	if p.take("]") {
		return list, true
	}
	for {
		item, ok := p.value(depth)
		if !ok {
			return v, false
		}
		list.parts = append(list.parts, Member{Value: item})
		p.space()
		switch {
		case p.take(","):
		case p.take("]"):
			return list, true
		default:
			return v, p.refuse(jsonscan.ReasonUnknown)
		}
	}
}

func (p *parser) object(depth int) (v Value, ok bool) {
	var b builder
	p.at++
	p.space()
	if p.take("}") {
		return Object(), true
	}
	for {
		p.space()
		if p.at == len(p.text) || p.text[p.at] != '"' {
			return v, p.refuse(jsonscan.ReasonUnknown)
		}
		key, ok := p.string()
		if !ok {
			return v, false
		}
		p.space()
		if !p.take(":") {
			return v, p.refuse(jsonscan.ReasonUnknown)
		}
		member, ok := p.value(depth)
		if !ok {
			return v, false
		}
		b.add(key, member)
		p.space()
		switch {
		case p.take(","):
		case p.take("}"):
			return Object(b.members...), true
		default:
			return v, p.refuse(jsonscan.ReasonUnknown)
		}
	}
}

func (p *parser) digits() int {
	from := p.at
	for p.at < len(p.text) && p.text[p.at]-'0' < 10 {
		p.at++
	}
	return p.at - from
}

func (p *parser) number() (v Value, ok bool) {
	from := p.at
	p.take("-")
	if p.take("0") {
		// Digits behind a zero are content behind the number.
	} else if p.digits() == 0 {
		return v, p.refuse(jsonscan.ReasonNumber)
	}
	whole := true
	if p.take(".") {
		whole = false
		if p.digits() == 0 {
			return v, p.refuse(jsonscan.ReasonNumber)
		}
	}
	if p.take("e") || p.take("E") {
		whole = false
		if !p.take("+") {
			p.take("-")
		}
		if p.digits() == 0 {
			return v, p.refuse(jsonscan.ReasonNumber)
		}
	}
	text := string(p.text[from:p.at])
	if !whole {
		f, _ := strconv.ParseFloat(text, 64) // an overflow gives an infinity, as it should
		return Float(f), true
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return Int(n), true
	}
	return Value{kind: jsonscan.Int, text: text}, true
}

func (p *parser) string() (s string, ok bool) {
	p.at++
	from := p.at
	for p.at < len(p.text) && p.text[p.at] != '"' && p.text[p.at] != '\\' && p.text[p.at]-0x20 < 0x60 {
		p.at++
	}
	if p.at < len(p.text) && p.text[p.at] == '"' {
		s = string(p.text[from:p.at])
		p.at++
		return s, true
	}
	decoded := append([]byte(nil), p.text[from:p.at]...)
	for p.at < len(p.text) {
		switch c := p.text[p.at]; {
		case c == '"':
			p.at++
			return string(decoded), true
		case c < 0x20:
			return "", p.refuse(jsonscan.ReasonControl)
		case c == '\\':
			if decoded, ok = p.escape(decoded); !ok {
				return "", false
			}
		case c < utf8.RuneSelf:
			decoded = append(decoded, c)
			p.at++
		default:
			r, size := utf8.DecodeRune(p.text[p.at:])
			if r == utf8.RuneError && size == 1 {
				return "", p.refuse(jsonscan.ReasonUTF8)
			}
			decoded = append(decoded, p.text[p.at:p.at+size]...)
			p.at += size
		}
	}
	return "", p.refuse(jsonscan.ReasonCut)
}

func (p *parser) escape(dst []byte) ([]byte, bool) {
	if p.at+1 == len(p.text) {
		return dst, p.refuse(jsonscan.ReasonCut)
	}
	const names, bytes = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	c := p.text[p.at+1]
	for i := range len(names) {
		if names[i] == c {
			p.at += 2
			return append(dst, bytes[i]), true
		}
	}
	r, ok := p.unit()
	if !ok {
		return dst, p.refuse(jsonscan.ReasonEscape)
	}
	if r>>10 == 0xD800>>10 {
		at := p.at
		if low, ok := p.unit(); ok && low>>10 == 0xDC00>>10 {
			return utf8.AppendRune(dst, 0x10000+(r-0xD800)<<10+(low-0xDC00)), true
		}
		p.at = at
	}
	if r>>11 == 0xD800>>11 {
		if !p.leniency.Surrogates {
			return dst, p.refuse(jsonscan.ReasonSurrogate)
		}
		return append(dst, surrogateLead, 0x80|byte(r>>6)&63, 0x80|byte(r)&63), true
	}
	return utf8.AppendRune(dst, r), true
}

// unit reads one \uxxxx.
func (p *parser) unit() (r rune, ok bool) {
	if p.at+6 > len(p.text) || p.text[p.at] != '\\' || p.text[p.at+1] != 'u' {
		return 0, false
	}
	for _, c := range p.text[p.at+2 : p.at+6] {
		switch {
		case c-'0' < 10:
			c -= '0'
		case c|0x20-'a' < 6:
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	p.at += 6
	return r, true
}

// Undefined tells whether a value holds what the canonical text has no form for: NaN, an infinity, or half of a
// surrogate pair.
func (v Value) Undefined() bool {
	switch v.kind {
	case jsonscan.Float:
		f := math.Float64frombits(v.bits)
		return math.IsNaN(f) || math.IsInf(f, 0)
	case jsonscan.String:
		return !utf8.ValidString(v.text)
	}
	for i := range v.parts {
		if !utf8.ValidString(v.parts[i].Key) || v.parts[i].Value.Undefined() {
			return true
		}
	}
	return false
}

// Wide tells whether a value holds an integer beyond −2^63 … 2^64−1.
func (v Value) Wide() bool {
	if v.kind == jsonscan.Int && v.text != "" {
		n, ok := v.Whole()
		return !ok || !n.Writable()
	}
	for i := range v.parts {
		if v.parts[i].Value.Wide() {
			return true
		}
	}
	return false
}

// Halved tells whether a string of the value holds half of a surrogate pair, which UTF-8 has no form for.
func (v Value) Halved() bool {
	if v.kind == jsonscan.String {
		return !utf8.ValidString(v.text)
	}
	for i := range v.parts {
		if !utf8.ValidString(v.parts[i].Key) || v.parts[i].Value.Halved() {
			return true
		}
	}
	return false
}

// Raw makes a string of texts that came from [Parse], in which half of a surrogate pair may stand as three bytes.
func Raw(s string) Value { return Value{kind: jsonscan.String, text: s} }
