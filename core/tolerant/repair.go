package tolerant

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Kind says what was changed.
type Kind uint8

// The kinds of repairs, in the order a summary names them.
const (
	Glued     Kind = iota // another record follows on the same line
	Cut                   // the record ends where the line does, or where another record begins
	BOM                   // a byte-order mark is left out
	Zeros                 // zero bytes are left out
	UTF8                  // bytes that are not UTF-8 become U+FFFD
	Surrogate             // the escaped half of a surrogate pair becomes U+FFFD
	Control               // a raw control character is escaped, or left out between values
	Escape                // the backslash of an unknown escape stands for itself
	Constant              // NaN or Infinity becomes a text
	Number                // a number that JSON or a double cannot hold becomes a text
	Word                  // an unknown word becomes a text
	Comma                 // a comma in front of nothing is left out
	Member                // a name without a value is left out
	Depth                 // what is nested too deep becomes a text with its size
	Trailing              // what follows and is no record is left out
	kinds
)

// A KindInfo explains a kind. Pages print from it.
type KindInfo struct {
	Name  string                       // one word, for scripts
	Title string                       // what was found
	say   func(places, n int64) string // what was done, for so many places and bytes
}

var infos = [kinds]KindInfo{
	Glued:     {"glued", "several records on one line", func(places, _ int64) string { return plural(places+1, "record", "records") + " on one line" }},
	Cut:       {"cut", "incomplete record", func(places, _ int64) string { return "shown up to where it is cut" }},
	BOM:       {"bom", "byte-order mark", func(places, _ int64) string { return "byte-order mark skipped" }},
	Zeros:     {"zeros", "zero bytes", func(_, n int64) string { return plural(n, "zero byte", "zero bytes") + " left out" }},
	UTF8:      {"utf8", "not UTF-8", func(_, n int64) string { return plural(n, "byte", "bytes") + " not UTF-8, shown as U+FFFD" }},
	Surrogate: {"surrogate", "half of a surrogate pair", func(_, n int64) string { return plural(n/6, "half surrogate", "half surrogates") + " shown as U+FFFD" }},
	Control: {"control", "raw control character", func(_, n int64) string {
		return plural(n, "raw control character", "raw control characters") + " escaped"
	}},
	Escape: {"escape", "unknown escape", func(places, _ int64) string {
		return plural(places, "unknown escape", "unknown escapes") + " shown as written"
	}},
	Constant: {"constant", "NaN or Infinity", func(places, _ int64) string { return times(places) + "NaN or Infinity shown as text" }},
	Number: {"number", "number out of range or misspelt", func(places, _ int64) string {
		return plural(places, "number", "numbers") + " out of range or misspelt, shown as text"
	}},
	Word: {"word", "unknown word", func(places, _ int64) string {
		return plural(places, "unknown word", "unknown words") + " shown as text"
	}},
	Comma: {"comma", "comma in front of nothing", func(places, _ int64) string {
		return plural(places, "comma", "commas") + " in front of nothing left out"
	}},
	Member: {"member", "name without a value", func(places, _ int64) string { return plural(places, "name", "names") + " without a value left out" }},
	Depth: {"depth", "nested deeper than 1024 levels", func(_, n int64) string {
		return plural(n, "byte", "bytes") + " nested deeper than 1024 levels left out"
	}},
	Trailing: {"trailing", "content that is no record", func(_, n int64) string { return plural(n, "byte", "bytes") + " behind it left out" }},
}

// Info explains a kind.
func (k Kind) Info() KindInfo {
	if k < kinds {
		return infos[k]
	}
	return KindInfo{Name: "unknown", Title: "unknown"}
}

// String gives the kind's name.
func (k Kind) String() string { return k.Info().Name }

// A Repair is one change. Equal changes of neighbouring bytes are one.
type Repair struct {
	Kind   Kind
	Offset int    // of the first byte concerned, in the line
	Length int    // bytes of the line concerned; 0 where something ends or begins
	Value  int    // the record it belongs to, an index of Values; what follows the last one belongs to it
	At     int    // where it stands in that record's text
	Text   string // the start of those bytes, fit to be shown
}

// String says what was found, where and which bytes it is.
func (r Repair) String() string {
	s := r.Kind.Info().Title + " at byte " + strconv.Itoa(r.Offset)
	if r.Text != "" {
		s += ": " + r.Text
	}
	return s
}

// Summary says in one line what was changed, most telling first.
func (r *Result) Summary() string {
	var parts []string
	for k := range kinds {
		if n := r.counts[k]; n.places > 0 {
			parts = append(parts, infos[k].say(n.places, n.bytes))
		}
	}
	return strings.Join(parts, "; ")
}

// Count tells how many places of a kind were changed, and how many bytes of the line they are.
func (r *Result) Count(k Kind) (places, bytes int64) {
	if k >= kinds {
		return 0, 0
	}
	return r.counts[k].places, r.counts[k].bytes
}

type tally struct{ places, bytes int64 }

func plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.FormatInt(n, 10) + " " + many
}

func times(n int64) string {
	if n == 1 {
		return ""
	}
	return strconv.FormatInt(n, 10) + " × "
}

// shown is how many bytes of a repaired place its Text holds.
const shown = 40

// visible makes a short text of bytes that may be none: what cannot be printed is written as its number.
func visible(b []byte) string {
	more := len(b) > shown
	b = b[:min(len(b), shown)]
	var s strings.Builder
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			if more && !utf8.FullRune(b[i:]) {
				i = len(b) // a character that the bound cuts
				continue
			}
			const digits = "0123456789abcdef"
			s.WriteString(`\x`)
			s.WriteByte(digits[b[i]>>4])
			s.WriteByte(digits[b[i]&15])
		case unicode.IsPrint(r):
			s.WriteRune(r)
		default:
			s.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		}
		i += size
	}
	if more {
		s.WriteString("…")
	}
	return s.String()
}
