package jsonscan

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestStandardLibrary tells where this scanner and encoding/json part, so that nobody puts one in place of
// the other.
func TestStandardLibrary(t *testing.T) {
	for _, test := range []struct {
		text            string
		here, there     bool
		what            string
		differentValues bool
	}{
		{text: `{"a":1}`, here: true, there: true},
		{text: "\"\xff\"", here: false, there: true, what: "bytes that are not UTF-8 are replaced there"},
		{text: "\"\xed\xa0\x80\"", here: false, there: true, what: "and so are encoded surrogates"},
		{text: `"\ud83d"`, here: false, there: true, what: "half of a pair is replaced there"},
		{text: `"\ud83d\u0041"`, here: false, there: true, what: "also in front of another escape"},
		{text: `1e400`, here: false, there: true, what: "well-formed there, refused only when read into a float"},
		{text: strings.Repeat("9", 400), here: false, there: true, what: "the same for a whole number"},
		{text: strings.Repeat("[", 1025) + strings.Repeat("]", 1025), here: false, there: true, what: "10000 levels are allowed there"},
		{text: "\xEF\xBB\xBF{}", here: false, there: false},
		{text: "\v{}", here: false, there: false},
		{text: `[1,]`, here: false, there: false},
		{text: `01`, here: false, there: false},
		{text: `NaN`, here: false, there: false},
		{text: "\"\x1f\"", here: false, there: false},
		{text: "\"\x7f\u2028\"", here: true, there: true},
		{text: `{"a":1,"a":2}`, here: true, there: true},
		{text: `"\u0000"`, here: true, there: true},
		{text: `{} {}`, here: false, there: false},
		{text: ``, here: false, there: false},
	} {
		var s Scanner
		_, err := s.Scan([]byte(test.text))
		if here, there := err == nil, json.Valid([]byte(test.text)); here != test.here || there != test.there {
			t.Errorf("%.40q: here %v (%v), there %v; %s", test.text, here, err, there, test.what)
		}
	}
}

// TestNumbers is a table of the numbers at the edges.
func TestNumbers(t *testing.T) {
	zeros := func(n int) string { return strings.Repeat("0", n) }
	for _, test := range []struct {
		text    string
		kind    Kind // Absent if refused
		integer string
		float   float64
	}{
		{"0", Int, "0", 0},
		{"-0", Int, "0", 0},
		{"-0.0", Float, "", math.Copysign(0, -1)},
		{"-0e5", Float, "", math.Copysign(0, -1)},
		{"1.0", Float, "", 1},
		{"1e5", Float, "", 1e5},
		{"1E+05", Float, "", 1e5},
		{"1e-5", Float, "", 1e-5},
		{"12345678", Int, "12345678", 12345678},
		{"123456789", Int, "123456789", 123456789},
		{"999999999999999999", Int, "999999999999999999", 999999999999999999},
		{"9007199254740993", Int, "9007199254740993", 9007199254740992},
		{"9223372036854775807", Int, "9223372036854775807", 1 << 63},
		{"9223372036854775808", Int, "9223372036854775808", 1 << 63},
		{"18446744073709551615", Int, "18446744073709551615", 1 << 64},
		{"18446744073709551616", Float, "", 1 << 64},
		{"18446744073709551620", Float, "", 1 << 64},
		{"99999999999999999999", Float, "", 1e20},
		{"-9223372036854775808", Int, "-9223372036854775808", -1 << 63},
		{"-9223372036854775809", Float, "", -1 << 63},
		{"-18446744073709551615", Float, "", -1 << 64},
		{"123456789012345678901234567890", Float, "", 123456789012345678901234567890},
		{"1" + zeros(308), Float, "", 1e308},
		{strings.Repeat("9", 308), Float, "", 1e308},
		{strings.Repeat("9", 309), Absent, "", 0},
		{strings.Repeat("9", 400), Absent, "", 0},
		{"-" + strings.Repeat("9", 400), Absent, "", 0},
		{"1e308", Float, "", 1e308},
		{"1e309", Absent, "", 0},
		{"1e400", Absent, "", 0},
		{"-1e400", Absent, "", 0},
		{"1e99999999999999999999", Absent, "", 0},
		{"1.7976931348623157e308", Float, "", math.MaxFloat64},
		{"1.7976931348623158e308", Float, "", math.MaxFloat64},
		{"1.7976931348623159e308", Absent, "", 0},
		{"179769313486231580793728971405301e276", Float, "", math.MaxFloat64},
		{"1e-400", Float, "", 0},
		{"-1e-400", Float, "", math.Copysign(0, -1)},
		{"1e-99999999999999999999", Float, "", 0},
		{"5e-324", Float, "", math.SmallestNonzeroFloat64},
		{"0e999999", Float, "", 0},
		{"0e99999999999999999999", Float, "", 0},
		{"0." + zeros(400) + "1e450", Float, "", 1e49},
		{"0." + zeros(20000) + "1e20001", Float, "", 1},
		{"0." + zeros(200000) + "1e200001", Float, "", 1},
		{"-0." + zeros(200000) + "1e200001", Float, "", -1},
		{"0." + zeros(200000) + "1e400000", Absent, "", 0},
		{"1" + zeros(200000) + "e-200000", Float, "", 1},
		{"1" + zeros(400) + ".5e-200", Float, "", 1e200},
		{"1" + zeros(400) + "." + zeros(400) + "e-400", Float, "", 1},
		{"0" + "." + zeros(2000), Float, "", 0},
		// Half way between two doubles, and a hair above it, beyond the digits that strconv looks at.
		{"9007199254740993.0", Float, "", 9007199254740992},
		{"9007199254740993." + zeros(3000) + "1", Float, "", 9007199254740994},
		{"9007199254740993" + zeros(1000) + "e-1000", Float, "", 9007199254740992},
		{"01", Absent, "", 0},
		{"-01", Absent, "", 0},
		{"00", Absent, "", 0},
		{"0123456789", Absent, "", 0},
		{"1.", Absent, "", 0},
		{".5", Absent, "", 0},
		{"-", Absent, "", 0},
		{"-.5", Absent, "", 0},
		{"+1", Absent, "", 0},
		{"1e", Absent, "", 0},
		{"1e+", Absent, "", 0},
		{"1.e5", Absent, "", 0},
		{"0x10", Absent, "", 0},
		{"1_000", Absent, "", 0},
		{"1,000", Absent, "", 0},
		{"--1", Absent, "", 0},
		{"1-", Absent, "", 0},
		{"1e5.0", Absent, "", 0},
	} {
		// The same literal alone, in a list, in front of a lot and as a member takes different ways.
		for _, around := range []string{"%s", "[%s]", "[1,%s,2.5,3]", "[7 , %s , 8,9,10,11,12,13]", `{"a":%s}`, `{"a":%s,"b":"something longer"}`, " %s                "} {
			text := fmt.Sprintf(around, test.text)
			if test.text == "1,000" && strings.HasPrefix(around, "[") {
				continue
			}
			var s Scanner
			v, err := s.Scan([]byte(text))
			if (err == nil) != (test.kind != Absent) {
				t.Errorf("%.60s: %v", text, err)
				continue
			}
			if err != nil {
				continue
			}
			want := strings.Index(around, "%s")
			if e := v.Elements(); e.Next() {
				for e.Value.Offset() != want {
					e.Next()
				}
				v = e.Value
			}
			if a := v.Get("a"); a.Exists() {
				v = a
			}
			f, ok := v.Float()
			if v.Kind() != test.kind || !ok || math.Float64bits(f) != math.Float64bits(test.float) {
				t.Errorf("%.60s: %v %v, want %v %v", text, v.Kind(), f, test.kind, test.float)
			}
			if n, ok := v.Integer(); ok != (test.kind == Int) || ok && n.String() != test.integer {
				t.Errorf("%.60s: integer %v %v", text, n, ok)
			}
		}
	}
}

// TestReasons tells why texts are refused and where.
func TestReasons(t *testing.T) {
	for _, test := range []struct {
		text   string
		offset int
		reason string
	}{
		{"", 0, ReasonEmpty},
		{" \t", 2, ReasonEmpty},
		{"[", 1, ReasonCut},
		{`{"a`, 3, ReasonCut},
		{`{"a"`, 4, ReasonCut},
		{`{"a":`, 5, ReasonCut},
		{`{"a":1`, 6, ReasonCut},
		{`{"a":1,`, 7, ReasonCut},
		{`{"a":"\`, 7, ReasonCut},
		{`{"a":"\u12`, 10, ReasonCut},
		{`{"a":"\ud83d`, 12, ReasonCut},
		{`{"a":"\ud83d\`, 13, ReasonCut},
		{`{"a":"\ud83d\ude`, 16, ReasonCut},
		{`{"a":-`, 6, ReasonCut},
		{`{"a":1.`, 7, ReasonCut},
		{`{"a":1e-`, 8, ReasonCut},
		{`{"a":tr`, 7, ReasonCut},
		{"{\"a\":\"\xf0\x9f", 8, ReasonCut},
		{"[\xe2\x80", 3, ReasonCut},
		{"\xEF\xBB\xBF[]", 0, ReasonBOM},
		{"[\"\xEF\xBB\xBF\",\xEF\xBB\xBF1]", 7, ReasonBOM},
		{"\xff\xfe[\x00", 0, ReasonUTF8},
		{"[\"abc\xc3\x28\"]", 5, ReasonUTF8},
		{"[\"é\xff\x01\"]", 4, ReasonUTF8},
		{"[\"é\x01\xff\"]", 4, ReasonControl},
		{"[\xff]", 1, ReasonUTF8},
		{"[é]", 1, ReasonUnknown},
		{"[\"a\tb\"]", 3, ReasonControl},
		{`["\q"]`, 2, ReasonEscape},
		{`["\u00zz"]`, 2, ReasonEscape},
		{`["\ud83d\u00zz"]`, 8, ReasonEscape},
		{`["ab\ud83d"]`, 4, ReasonSurrogate},
		{`["ab\ud83d\n"]`, 4, ReasonSurrogate},
		{`["ab\ude42"]`, 4, ReasonSurrogate},
		{`["ab\ud83d\ud83d"]`, 4, ReasonSurrogate},
		{`[01]`, 1, ReasonNumber},
		{`[5,1.]`, 3, ReasonNumber},
		{`[5,-x]`, 3, ReasonNumber},
		{`[5, 6,1e400]`, 6, ReasonOverflow},
		{`[5,NaN]`, 3, ReasonConstant},
		{`[5,-Infinity]`, 3, ReasonConstant},
		{`[5,Infinity]`, 3, ReasonConstant},
		{`[5,nan]`, 4, ReasonUnknown},
		{`[5,None]`, 3, ReasonUnknown},
		{`[5,]`, 3, ReasonComma},
		{`{"a":5, }`, 8, ReasonComma},
		{`{"a":5]`, 6, ReasonUnknown},
		{`[5}`, 2, ReasonUnknown},
		{`[5 6]`, 3, ReasonUnknown},
		{`{"a" 5}`, 5, ReasonUnknown},
		{`{5:5}`, 1, ReasonUnknown},
		{`{'a':5}`, 1, ReasonUnknown},
		{`]`, 0, ReasonUnknown},
		{`{"a":}`, 5, ReasonUnknown},
		{`[,5]`, 1, ReasonUnknown},
		{`{} {}`, 3, ReasonTrailing},
		{`{}}`, 2, ReasonTrailing},
		{"{}\v", 2, ReasonTrailing},
		{"\f{}", 0, ReasonUnknown},
		{strings.Repeat("[", 1025), 1024, ReasonDepth},
		{strings.Repeat(`{"a":`, 1024) + "[", 5120, ReasonDepth},
		{strings.Repeat("[", 1024), 1024, ReasonCut},
	} {
		var s Scanner
		v, err := s.Scan([]byte(test.text))
		e, ok := err.(*Error)
		if !ok || e.Offset != test.offset || e.Reason != test.reason || v.Exists() {
			t.Errorf("%.40q: %v, want %s at byte %d", test.text, err, test.reason, test.offset)
		}
	}
}

// TestDepth checks the limit and that the deepest accepted texts can be walked.
func TestDepth(t *testing.T) {
	for _, test := range []struct{ open, close string }{{"[", "]"}, {`{"a":`, "}"}, {` [ 1 , `, " ] "}} {
		inner := "0"
		for depth, want := range map[int]bool{1: true, 2: true, 1023: true, 1024: true, 1025: false, 60000: false} {
			text := strings.Repeat(test.open, depth) + inner + strings.Repeat(test.close, depth)
			var s Scanner
			v, err := s.Scan([]byte(text))
			if (err == nil) != want {
				t.Fatalf("%q %d times: %v", test.open, depth, err)
			}
			if want && v.Height() != depth+1 {
				t.Errorf("%q %d times: height %d", test.open, depth, v.Height())
			}
			if want && depth > 2 {
				agree(t, &s, []byte(text))
			}
		}
	}
}

// TestReuse scans different texts with one scanner, failures in between.
func TestReuse(t *testing.T) {
	var s Scanner
	random := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		agree(t, &s, randomText(random, 300))
	}
	line := makeRows(0, 1)[0]
	if n := testing.AllocsPerRun(20, func() {
		if _, err := s.Scan(line); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations for a scan", n)
	}
}

// TestRows holds the rows of the benchmarks against the plain reader.
func TestRows(t *testing.T) {
	var s Scanner
	for kind := range rowKinds {
		for _, line := range makeRows(kind, 2) {
			agree(t, &s, line)
		}
	}
}

// TestCrowded walks texts in which containers stand so close that most of them have no mark.
func TestCrowded(t *testing.T) {
	var s Scanner
	nest := func(open, between, close string, depth int) string {
		return strings.Repeat(open, depth) + between + strings.Repeat(close, depth)
	}
	for _, unit := range []string{
		nest("[", "", "]", 1000),
		nest("[", "1", ",2]", 1000),
		nest(`[[],`, `"x"`, `,{"a":[]}]`, 500),
		nest(`{"":[`, `"`+strings.Repeat("x", 300)+`"`, `]}`, 500),
		nest(`["`+strings.Repeat("y", 140)+`",[[[[`, ``, `]]],"`+strings.Repeat("z", 200)+`"]]`, 200),
		nest(`{"`+strings.Repeat("k", 150)+`":[[[`, ``, `]]]}`, 250),
	} {
		agree(t, &s, []byte("["+strings.Repeat(unit+",", 40)+"0]"))
	}
	random := rand.New(rand.NewPCG(5, 6))
	for range 20 {
		agree(t, &s, randomText(random, 60_000))
	}
}

// randomText writes a text of random structure of about the given size, sometimes damaged.
func randomText(random *rand.Rand, size int) []byte {
	b := randomValue(nil, random, size, 0)
	if len(b) > 0 && random.IntN(3) == 0 {
		b[random.IntN(len(b))] = byte(random.IntN(256))
	}
	return b
}

func randomValue(b []byte, random *rand.Rand, size, depth int) []byte {
	white := func() {
		if random.IntN(4) == 0 {
			b = append(b, " \t\r\n"[random.IntN(4)])
		}
	}
	white()
	goal := len(b) + size
	switch choice := random.IntN(10); {
	case choice < 6 && depth < 1020 && size > 4:
		open, close := byte('['), byte(']')
		if random.IntN(2) == 0 {
			open, close = '{', '}'
		}
		b = append(b, open)
		for i := 0; len(b) < goal && random.IntN(40) > 0; i++ {
			if i > 0 {
				white()
				b = append(b, ',')
			}
			if open == '{' {
				white()
				b = randomString(b, random)
				white()
				b = append(b, ':')
			}
			b = randomValue(b, random, random.IntN(max(goal-len(b), 0)+2), depth+1)
		}
		white()
		b = append(b, close)
	case choice < 8:
		b = randomString(b, random)
	case choice == 8:
		b = append(b, [...]string{"true", "false", "null", "0", "-1", "1.5e-7", "18446744073709551616", "1234567890"}[random.IntN(8)]...)
	default:
		b = fmt.Appendf(b, "%v", random.Int64()>>random.IntN(64))
	}
	white()
	return b
}

func randomString(b []byte, random *rand.Rand) []byte {
	pieces := [...]string{"a", "key", "a longer piece of text ", `\n`, `\"`, `\\`, `\u00e9`, `\ud83d\ude42`, "é", "漢", "🙂", "\x7f", "{", "]", ","}
	b = append(b, '"')
	for range random.IntN(random.IntN(30) + 1) {
		b = append(b, pieces[random.IntN(len(pieces))]...)
	}
	return append(b, '"')
}
