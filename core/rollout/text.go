package rollout

import (
	"strconv"
	"unicode"
	"unicode/utf8"

	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/jsontext"
)

// AppendText appends the text form of a value as the reference prints it (spec health appendix B):
// strings as they are, True, False and None, floats in their shortest form, containers as literals.
func AppendText(dst []byte, v jsonscan.Value) []byte {
	switch v.Kind() {
	case jsonscan.String:
		return v.AppendText(dst)
	default:
		return appendLiteral(dst, v)
	}
}

func appendLiteral(dst []byte, v jsonscan.Value) []byte {
	switch v.Kind() {
	case jsonscan.Absent, jsonscan.Null:
		return append(dst, "None"...)
	case jsonscan.Bool:
		if truth, _ := v.Truth(); truth {
			return append(dst, "True"...)
		}
		return append(dst, "False"...)
	case jsonscan.Int:
		n, _ := v.Integer()
		return n.Append(dst)
	case jsonscan.Float:
		f, _ := v.Float()
		return jsontext.AppendRepr(dst, f)
	case jsonscan.String:
		return appendQuoted(dst, v.AppendText(nil))
	case jsonscan.Array:
		dst = append(dst, '[')
		n := 0
		for e := v.Elements(); e.Next(); n++ {
			if n > 0 {
				dst = append(dst, ", "...)
			}
			dst = appendLiteral(dst, e.Value)
		}
		return append(dst, ']')
	}
	dst = append(dst, '{')
	for i, m := range distinct(v) {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = appendQuoted(dst, []byte(m.key))
		dst = append(dst, ": "...)
		dst = appendLiteral(dst, m.value)
	}
	return append(dst, '}')
}

type member struct {
	key   string
	value jsonscan.Value
}

// distinct gives an object's members as the value model sees them: a repeated key keeps its first place
// and its last value (spec run-folder §4.1).
func distinct(v jsonscan.Value) []member {
	var members []member
	place := map[string]int{}
	for m := v.Members(); m.Next(); {
		key := string(m.Key)
		if at, seen := place[key]; seen {
			members[at].value = m.Value
			continue
		}
		place[key] = len(members)
		members = append(members, member{key, m.Value})
	}
	return members
}

// appendQuoted writes a string inside a container: single quotes, or double ones where that saves escapes.
func appendQuoted(dst, s []byte) []byte {
	quote := byte('\'')
	single, double := false, false
	for _, c := range s {
		single = single || c == '\''
		double = double || c == '"'
	}
	if single && !double {
		quote = '"'
	}
	dst = append(dst, quote)
	for len(s) > 0 {
		r, size := utf8.DecodeRune(s)
		switch {
		case r == '\\', r == rune(quote):
			dst = append(dst, '\\', byte(r))
		case r == '\n':
			dst = append(dst, `\n`...)
		case r == '\r':
			dst = append(dst, `\r`...)
		case r == '\t':
			dst = append(dst, `\t`...)
		case printable(r):
			dst = append(dst, s[:size]...)
		case r < 0x100:
			dst = appendHex(append(dst, `\x`...), r, 2)
		case r < 0x10000:
			dst = appendHex(append(dst, `\u`...), r, 4)
		default:
			dst = appendHex(append(dst, `\U`...), r, 8)
		}
		s = s[size:]
	}
	return append(dst, quote)
}

func appendHex(dst []byte, r rune, width int) []byte {
	digits := strconv.FormatInt(int64(r), 16)
	for range width - len(digits) {
		dst = append(dst, '0')
	}
	return append(dst, digits...)
}

// printable tells whether the reference shows a character as itself: all but the categories Cc, Cf, Cs,
// Co, Cn, Zl, Zp and Zs, with the space let through.
func printable(r rune) bool {
	if r < 0x7F {
		return r >= ' '
	}
	return unicode.IsGraphic(r) && !unicode.Is(unicode.Z, r)
}
