package tolerant

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/jsonscan"
)

// lines says what is made of a line.
var lines = []struct {
	name, line string
	values     []string
	repairs    string // kind@offset+length of each
	torn       bool
}{
	{"nothing to do", `{"a":[1,{"b":null}],"c":"é\n"}`, []string{`{"a":[1,{"b":null}],"c":"é\n"}`}, "", false},
	{"white space goes", " { \"a\" : [ ] } \r", []string{`{"a":[]}`}, "", false},
	{"byte-order mark", "\xEF\xBB\xBF{\"a\":1}", []string{`{"a":1}`}, "bom@0+3", false},
	{"byte-order mark inside a text stays", "{\"a\":\"\xEF\xBB\xBF\"}", []string{"{\"a\":\"\xEF\xBB\xBF\"}"}, "", false},
	{"latin-1", "{\"a\":\"caf\xE9\"}", []string{"{\"a\":\"caf\uFFFD\"}"}, "utf8@9+1", false},
	{"overlong", "{\"a\":\"\xC0\xAFx\xFF\"}", []string{"{\"a\":\"\uFFFD\uFFFDx\uFFFD\"}"}, "utf8@6+2 utf8@9+1", false},
	{"encoded pair", "{\"a\":\"\xED\xA0\xBD\xED\xB9\x82\"}", []string{"{\"a\":\"" + strings.Repeat("\uFFFD", 6) + "\"}"}, "utf8@6+6", false},
	{"in a name", "{\"\xE9\":1}", []string{"{\"\uFFFD\":1}"}, "utf8@2+1", false},
	{"first half", `{"a":"x\ud83d"}`, []string{"{\"a\":\"x\uFFFD\"}"}, "surrogate@7+6", false},
	{"second half", `{"a":"\ude42x"}`, []string{"{\"a\":\"\uFFFDx\"}"}, "surrogate@6+6", false},
	{"two first halves", `{"a":"\ud83d\ud83d\ude42"}`, []string{"{\"a\":\"\uFFFD\\ud83d\\ude42\"}"}, "surrogate@6+6", false},
	{"half before another escape", `{"a":"\ud83d\n"}`, []string{"{\"a\":\"\uFFFD\\n\"}"}, "surrogate@6+6", false},
	{"control characters", "{\"a\":\"\x01\t\x1F\"}", []string{`{"a":"\u0001\t\u001f"}`}, "control@6+3", false},
	{"control between", "{\"a\":\v1}", []string{`{"a":1}`}, "control@5+1", false},
	{"escape", `{"a":"\x41\'\u12g"}`, []string{`{"a":"\\x41\\'\\u12g"}`}, "escape@6+1 escape@10+1 escape@12+1", false},
	{"constants", `{"a":NaN,"b":[Infinity,-Infinity]}`, []string{`{"a":"NaN","b":["Infinity","-Infinity"]}`}, "constant@5+3 constant@14+8 constant@23+9", false},
	{"numbers", `{"a":1e400,"b":01,"c":-,"d":.5,"e":1.,"f":+1,"g":0x1F,"h":1_0}`,
		[]string{`{"a":"1e400","b":"01","c":"-","d":".5","e":"1.","f":"+1","g":"0x1F","h":"1_0"}`},
		"number@5+5 number@15+2 number@22+1 number@28+2 number@35+2 number@42+2 number@49+4 number@58+3", false},
	{"good numbers", `{"a":NaN,"b":[-0,1.50,1E-7,123456789012345678901234567890]}`,
		[]string{`{"a":"NaN","b":[-0,1.50,1E-7,123456789012345678901234567890]}`}, "constant@5+3", false},
	{"words", `{"a":None,"b":[true,nul]}`, []string{`{"a":"None","b":[true,"nul"]}`}, "word@5+4 word@20+3", false},
	{"zero bytes behind", "{\"a\":1}\x00\x00\x00", []string{`{"a":1}`}, "zeros@7+3", false},
	{"zero bytes inside", "{\"a\":\x00\"b\x00\x00c\"}", []string{`{"a":"bc"}`}, "zeros@5+1 zeros@8+2", false},
	{"zero bytes alone", "\x00\x00", nil, "", false},
	{"zero bytes between", "{\"a\":1}\x00\x00{\"b\":2}", []string{`{"a":1}`, `{"b":2}`}, "zeros@7+2 glued@9+0", false},
	{"glued", `{"a":"}{"}{"b":2}`, []string{`{"a":"}{"}`, `{"b":2}`}, "glued@10+0", false},
	{"glued with a comma", `{"a":1}, {"b":2},`, []string{`{"a":1}`, `{"b":2}`}, "comma@7+1 glued@9+0 comma@16+1", false},
	{"three", `{}{}{}`, []string{`{}`, `{}`, `{}`}, "glued@2+0 glued@4+0", false},
	{"text sequence", "\x1E{\"a\":1}", []string{`{"a":1}`}, "", false},
	{"trailing", `{"a":1} and more`, []string{`{"a":1}`}, "trailing@8+8", false},
	{"trailing bracket", `{"a":1}}`, []string{`{"a":1}`}, "trailing@7+1", false},
	{"commas", `{"a":[1,,2,],}`, []string{`{"a":[1,2]}`}, "comma@8+1 comma@11+0 comma@13+0", false},
	{"only commas", `{,}`, []string{`{}`}, "comma@1+1", false},
	{"no value", `{"a":,"b","c":1,"d":}`, []string{`{"c":1}`}, "member@1+4 member@6+3 member@16+4", false},
	{"broken", `{"a":[1 2],"b":3}`, []string{`{"a":[1]}`}, "cut@8+0 trailing@8+9", false},
	{"wrong bracket", `{"a":[1}`, []string{`{"a":[1]}`}, "cut@7+0 trailing@7+1", false},
	{"cut by the next record", `{"a":[1,{"b":2{"c":3}`, []string{`{"a":[1,{"b":2}]}`, `{"c":3}`}, "cut@14+0 glued@14+0", false},
	{"no colon", `{"a" 1}`, []string{`{}`}, "cut@5+0 trailing@5+2", false},
	{"cut in a text", `{"a":1,"b":["xy`, []string{`{"a":1,"b":["xy"]}`}, "cut@15+0", true},
	{"cut in a character", "{\"a\":\"caf\xC3", []string{`{"a":"caf"}`}, "cut@10+0", true},
	{"cut in an escape", `{"a":"caf\u00`, []string{`{"a":"caf"}`}, "cut@13+0", true},
	{"cut at a backslash", `{"a":"caf\`, []string{`{"a":"caf"}`}, "cut@10+0", true},
	{"cut in a pair", `{"a":"\ud83d\ude`, []string{"{\"a\":\"\uFFFD\"}"}, "surrogate@6+6 cut@16+0", true},
	{"cut in a name", `{"a":1,"bc`, []string{`{"a":1}`}, "cut@10+0", true},
	{"cut in a mended name", "{\"\xD40", []string{`{}`}, "utf8@2+1 cut@4+0", true},
	{"cut behind a name", `{"a":1,"bc"`, []string{`{"a":1}`}, "cut@11+0", true},
	{"cut behind a colon", `{"a":1,"bc":`, []string{`{"a":1}`}, "cut@12+0", true},
	{"cut in a number", `{"a":1,"bc":12`, []string{`{"a":1,"bc":"12…"}`}, "cut@14+0", true},
	{"cut in a word", `{"a":tru`, []string{`{"a":"tru…"}`}, "cut@8+0", true},
	{"cut at once", `{`, []string{`{}`}, "cut@1+0", true},
	{"cut behind a comma", `{"a":[1,`, []string{`{"a":[1]}`}, "cut@8+0", true},
	{"cut with zero bytes", "{\"a\":\"x\x00\x00", []string{`{"a":"x"}`}, "zeros@7+2 cut@9+0", true},
	{"second one cut", `{"a":1}{"b":`, []string{`{"a":1}`, `{}`}, "glued@7+0 cut@12+0", true},
	{"no record", `[1,NaN]`, nil, "", false},
	{"no record either", `hello {"a":1}`, nil, "", false},
	{"empty", ``, nil, "", false},
	{"several", "\xEF\xBB\xBF{\"r\":NaN,\"t\":\"\\ud800\"}x", []string{"{\"r\":\"NaN\",\"t\":\"\uFFFD\"}"}, "bom@0+3 constant@8+3 surrogate@17+6 trailing@25+1", false},
}

func TestRead(t *testing.T) {
	for _, tt := range lines {
		t.Run(tt.name, func(t *testing.T) {
			r := Read([]byte(tt.line))
			var values []string
			for _, v := range r.Values {
				values = append(values, string(v))
			}
			if !slices.Equal(values, tt.values) {
				t.Errorf("got %q, want %q", values, tt.values)
			}
			if got := places(r.Repairs); got != tt.repairs {
				t.Errorf("repairs %q, want %q", got, tt.repairs)
			}
			if r.Torn != tt.torn {
				t.Errorf("torn: %t", r.Torn)
			}
			check(t, []byte(tt.line), r)
		})
	}
}

func places(list []Repair) string {
	var parts []string
	for _, r := range list {
		parts = append(parts, fmt.Sprintf("%s@%d+%d", r.Kind, r.Offset, r.Length))
	}
	return strings.Join(parts, " ")
}

// check holds a result against what is promised of every one.
func check(t *testing.T, line []byte, r Result) {
	t.Helper()
	var s jsonscan.Scanner
	for _, v := range r.Values {
		value, err := s.Scan(v)
		if err != nil {
			t.Fatalf("%q gives %q, which is refused: %v", line, v, err)
		}
		if !value.IsObject() {
			t.Fatalf("%q gives %q, which is no object", line, v)
		}
		again := Read(v)
		if len(again.Values) != 1 || string(again.Values[0]) != string(v) || len(again.Repairs) > 0 {
			t.Fatalf("%q is read again as %q with %v", v, again.Values, again.Repairs)
		}
	}
	if len(r.Repairs) > maxRepairs || len(r.Values) > MaxValues {
		t.Errorf("%d repairs, %d values", len(r.Repairs), len(r.Values))
	}
	for _, p := range r.Repairs {
		if p.Offset < 0 || p.Length < 0 || p.Offset+p.Length > len(line) || p.Kind >= kinds {
			t.Fatalf("%q: repair %+v", line, p)
		}
		if p.Value < 0 || p.Value >= len(r.Values) || p.At < 0 || p.At > len(r.Values[p.Value]) {
			t.Fatalf("%q: place of repair %+v", line, p)
		}
		_ = p.String()
	}
	strict, err := s.Scan(jsonl.Trim(line))
	switch {
	case err != nil:
		if len(r.Values) > 0 && len(r.Repairs) == 0 && line[0] != '\x1E' {
			t.Errorf("%q is refused (%v), and nothing was repaired", line, err)
		}
	case strict.IsObject():
		if len(r.Values) != 1 || len(r.Repairs) > 0 || r.Torn {
			t.Errorf("%q needs no repair and got %q, %v", line, r.Values, r.Repairs)
		}
	}
	if (r.Summary() == "") != (len(r.Repairs) == 0) {
		t.Errorf("%q: summary %q of %d repairs", line, r.Summary(), len(r.Repairs))
	}
}

func TestDepth(t *testing.T) {
	nest := func(n int, inner string) string {
		return strings.Repeat(`{"a":`, n) + inner + strings.Repeat(`}`, n)
	}
	for _, n := range []int{1022, 1023, 1024, 1025, 60_000} {
		line := []byte(nest(n, `[1]`))
		r := Read(line)
		check(t, line, r)
		if deep := n+1 > jsonscan.MaxDepth; deep != (len(r.Repairs) == 1 && r.Repairs[0].Kind == Depth) {
			t.Errorf("%d levels: %v", n+1, r.Repairs)
		}
	}
	// Nothing is closed.
	for _, open := range []string{`[`, `{"a":`, `[{"a":[`} {
		line := []byte(`{"first":1,"a":` + strings.Repeat(open, 60_000))
		r := Read(line)
		check(t, line, r)
		if !r.Torn || len(r.Values) != 1 || !strings.HasPrefix(string(r.Values[0]), `{"first":1,`) {
			t.Errorf("%s: torn %t, %d values", open, r.Torn, len(r.Values))
		}
	}
	for _, tail := range []string{`"`, `"\`, `"\"`, `"a"`, `]`} {
		line := []byte(`{"a":` + strings.Repeat(`[`, 1100) + tail)
		check(t, line, Read(line))
	}
}

func TestBounds(t *testing.T) {
	var bad strings.Builder
	bad.WriteString(`{"a":"`)
	for range 5000 {
		bad.WriteString("\xFFx")
	}
	bad.WriteString(`"}`)
	r := Read([]byte(bad.String()))
	check(t, []byte(bad.String()), r)
	if places, n := r.Count(UTF8); places != 5000 || n != 5000 || len(r.Repairs) != maxRepairs {
		t.Errorf("%d places, %d bytes, %d listed", places, n, len(r.Repairs))
	}
	many := []byte(strings.Repeat(`{}`, 3*MaxValues))
	r = Read(many)
	check(t, many, r)
	if len(r.Values) != MaxValues || size(r, Trailing) != 4*MaxValues {
		t.Errorf("%d values, %d bytes behind them", len(r.Values), size(r, Trailing))
	}
}

func size(r Result, k Kind) int64 { _, n := r.Count(k); return n }

func TestSummary(t *testing.T) {
	for line, want := range map[string]string{
		"{\"a\":1}":                            "",
		"\xEF\xBB\xBF{\"a\":1}":                "byte-order mark skipped",
		"{\"a\":\"\xFF\xFE\"}\x00\x00\x00":     "3 zero bytes left out; 2 bytes not UTF-8, shown as U+FFFD",
		`{"a":1}{"a":NaN}{"a":NaN`:             "3 records on one line; shown up to where it is cut; NaN or Infinity shown as text",
		`{"a":NaN,"b":NaN}`:                    "2 × NaN or Infinity shown as text",
		`{"a":"\ud800 \udc00"}`:                "2 half surrogates shown as U+FFFD",
		`{"a":01}`:                             "1 number out of range or misspelt, shown as text",
		"{\"a\":\"\\q\x01\",}x":                "1 raw control character escaped; 1 unknown escape shown as written; 1 comma in front of nothing left out; 1 byte behind it left out",
		`{"a":` + strings.Repeat("[", 1) + `}`: "shown up to where it is cut; 1 byte behind it left out",
	} {
		r := Read([]byte(line))
		if got := r.Summary(); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
	for k := range kinds {
		if info := k.Info(); info.Name == "" || info.Title == "" || info.say == nil {
			t.Errorf("kind %d is not explained", k)
		}
	}
}

// TestReader reads lines of all sizes with one Reader: nothing of one is seen in the next.
func TestReader(t *testing.T) {
	var r Reader
	for _, line := range []string{`{"a":NaN}`, strings.Repeat(" ", 3<<20) + `{"b":"` + strings.Repeat("x", 2<<20) + `",}`, `{"c":`, `{}x`} {
		got, want := r.Read([]byte(line)), Read([]byte(line))
		if fmt.Sprint(got.Values, got.Repairs, got.Torn) != fmt.Sprint(want.Values, want.Repairs, want.Torn) {
			t.Errorf("%.40q is read in another way by a used reader", line)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, tt := range lines {
		f.Add([]byte(tt.line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		check(t, line, Read(line))
	})
}
