package atif

import (
	"bytes"
	"fmt"
	"math"
	"strconv"

	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/value"
)

// A SyntaxError says why the strict reader refuses a text.
type SyntaxError struct {
	Offset int
	Reason string
}

// Error gives reason and offset.
func (e *SyntaxError) Error() string { return fmt.Sprintf("%s at byte %d", e.Reason, e.Offset) }

// Strict reads JSON as the exporter and the importer do (spec atif §4): no repeated key at any depth, whole numbers of
// any size, and of other numbers only those that a double says exactly, as far as its shortest text goes. The error is
// a [*SyntaxError].
func Strict(text []byte) (value.Value, error) {
	var s jsonscan.Scanner
	v, err := s.Scan(text)
	if err != nil {
		e := err.(*jsonscan.Error)
		return value.Value{}, &SyntaxError{e.Offset, e.Reason}
	}
	return strict(v)
}

func strict(v jsonscan.Value) (value.Value, error) {
	switch v.Kind() {
	case jsonscan.Int, jsonscan.Float:
		return strictNumber(v)
	case jsonscan.Array:
		n, _ := v.Parts()
		items := make([]value.Value, 0, n)
		for e := v.Elements(); e.Next(); {
			item, err := strict(e.Value)
			if err != nil {
				return value.Value{}, err
			}
			items = append(items, item)
		}
		return value.List(items...), nil
	case jsonscan.Object:
		n, _ := v.Parts()
		members := make([]value.Member, 0, n)
		seen := make(map[string]bool, n)
		for m := v.Members(); m.Next(); {
			key := string(m.Key)
			if seen[key] {
				return value.Value{}, &SyntaxError{m.Value.Offset(), "the key " + strconv.Quote(key) + " is repeated"}
			}
			seen[key] = true
			member, err := strict(m.Value)
			if err != nil {
				return value.Value{}, err
			}
			members = append(members, value.M(key, member))
		}
		return value.Object(members...), nil
	}
	return value.Of(v), nil
}

func strictNumber(v jsonscan.Value) (value.Value, error) {
	raw := v.Raw()
	if bytes.IndexAny(raw, ".eE") < 0 {
		n, ok := integer.Parse(string(raw))
		if !ok {
			return value.Value{}, &SyntaxError{v.Offset(), "malformed number"}
		}
		return value.Whole(n), nil
	}
	f, _ := v.Float()
	digits, exponent := decimal(raw)
	switch {
	case math.IsInf(f, 0):
		return value.Value{}, &SyntaxError{v.Offset(), "number overflows to infinity"}
	case f == 0 && digits != "":
		return value.Value{}, &SyntaxError{v.Offset(), "number underflows to zero"}
	}
	shortest, at := decimal(strconv.AppendFloat(nil, f, 'e', -1, 64))
	if digits != shortest || digits != "" && exponent != at {
		return value.Value{}, &SyntaxError{v.Offset(), "number has digits that are lost"}
	}
	return value.Float(f), nil
}

// decimal gives the digits of a number without the zeros around them, and the power of ten that the first digit stands
// for. A number that is zero has no digits.
func decimal(raw []byte) (digits string, exponent int64) {
	if len(raw) > 0 && raw[0] == '-' {
		raw = raw[1:]
	}
	mantissa, power, _ := bytes.Cut(bytes.ToLower(raw), []byte{'e'})
	whole, fraction, _ := bytes.Cut(mantissa, []byte{'.'})
	all := append(append([]byte(nil), whole...), fraction...)
	first := 0
	for first < len(all) && all[first] == '0' {
		first++
	}
	last := len(all)
	for last > first && all[last-1] == '0' {
		last--
	}
	if first == last {
		return "", 0
	}
	if len(power) > 0 {
		// An exponent of so many digits makes any number overflow or vanish, which is told before it matters.
		exponent, _ = strconv.ParseInt(string(power), 10, 64)
	}
	return string(all[first:last]), exponent + int64(len(whole)-1-first)
}

// Looks tells whether a parsed text is an ATIF document: an object with a list of steps, and a version of the format or
// an agent.
func Looks(v value.Value) bool {
	if v.Get("steps").Kind() != jsonscan.Array {
		return false
	}
	version, _ := v.Get("schema_version").Text()
	_, _, ok := versionOf(version)
	return ok || v.Get("agent").IsObject()
}

// versionOf takes ATIF-v1.7 apart.
func versionOf(s string) (major, minor string, ok bool) {
	const prefix = "ATIF-v"
	if len(s) <= len(prefix) || s[:len(prefix)] != prefix {
		return "", "", false
	}
	for i, part := range bytes.SplitN([]byte(s[len(prefix):]), []byte{'.'}, 3) {
		if len(part) == 0 || len(bytes.Trim(part, "0123456789")) > 0 || i > 1 {
			return "", "", false
		}
		if i == 0 {
			major = string(part)
		} else {
			minor = string(part)
		}
	}
	return major, minor, minor != ""
}
