package jsontext

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestFloats(t *testing.T) {
	for _, test := range []struct {
		f                float64
		repr, fast, past string
	}{
		{0, "0.0", "0.0", "0.0"},
		{math.Copysign(0, -1), "-0.0", "-0.0", "-0.0"},
		{1, "1.0", "1.0", "1.0"},
		{-1, "-1.0", "-1.0", "-1.0"},
		{0.1, "0.1", "0.1", "0.1"},
		{0.30000000000000004, "0.30000000000000004", "0.30000000000000004", "0.30000000000000004"},
		{100, "100.0", "100.0", "100.0"},
		{123456.789, "123456.789", "123456.789", "123456.789"},
		{0.0001, "0.0001", "0.0001", "0.0001"},
		{0.00009, "9e-05", "0.00009", "0.00009"},
		{1e-5, "1e-05", "0.00001", "0.00001"},
		{1.5e-5, "1.5e-05", "0.000015", "0.000015"},
		{9.999999e-6, "9.999999e-06", "9.999999e-6", "9.999999e-6"},
		{1e-6, "1e-06", "1e-6", "1e-6"},
		{2.5e-7, "2.5e-07", "2.5e-7", "2.5e-7"},
		{-1.5e-10, "-1.5e-10", "-1.5e-10", "-1.5e-10"},
		{123456789012345.6, "123456789012345.6", "123456789012345.6", "123456789012345.6"},
		{1e15, "1000000000000000.0", "1000000000000000.0", "1000000000000000.0"},
		{9999999999999998, "9999999999999998.0", "9999999999999998.0", "9999999999999998.0"},
		{1e16, "1e+16", "1e+16", "1e16"},
		{-1.5e16, "-1.5e+16", "-1.5e+16", "-1.5e16"},
		{3e18, "3e+18", "3e+18", "3e18"},
		{1 << 64, "1.8446744073709552e+19", "1.8446744073709552e+19", "1.8446744073709552e19"},
		{1e22, "1e+22", "1e+22", "1e22"},
		{1e100, "1e+100", "1e+100", "1e100"},
		{math.SmallestNonzeroFloat64, "5e-324", "5e-324", "5e-324"},
		{math.MaxFloat64, "1.7976931348623157e+308", "1.7976931348623157e+308", "1.7976931348623157e308"},
		{math.NaN(), "nan", "null", "null"},
		{math.Inf(1), "inf", "null", "null"},
		{math.Inf(-1), "-inf", "null", "null"},
	} {
		for _, form := range []struct {
			name   string
			append func([]byte, float64) []byte
			want   string
		}{{"AppendRepr", AppendRepr, test.repr}, {"AppendFloat", AppendFloat, test.fast}, {"AppendOldFloat", AppendOldFloat, test.past}} {
			if have := string(form.append([]byte("1e5,"), test.f)); have != "1e5,"+form.want {
				t.Errorf("%s(%v) = %s, want %s", form.name, test.f, have[4:], form.want)
			}
		}
	}
}

func TestQuoted(t *testing.T) {
	for _, test := range []struct{ in, raw, ascii string }{
		{"", `""`, `""`},
		{"plain", `"plain"`, `"plain"`},
		{"\"\\/", `"\"\\/"`, `"\"\\/"`},
		{"\b\t\n\f\r", `"\b\t\n\f\r"`, `"\b\t\n\f\r"`},
		{"\x00\x01\x0b\x1f ", `"\u0000\u0001\u000b\u001f "`, `"\u0000\u0001\u000b\u001f "`},
		{"<&>'\x7f", "\"<&>'\x7f\"", `"<&>'\u007f"`},
		{"\u0080é\u2028\u2029", "\"\u0080é\u2028\u2029\"", `"\u0080\u00e9\u2028\u2029"`},
		{"\uffff\U00010000\U0001F642\U0010FFFF", "\"\uffff\U00010000\U0001F642\U0010FFFF\"", `"\uffff\ud800\udc00\ud83d\ude42\udbff\udfff"`},
		{"a\xffb\xc3", "\"a\xffb\xc3\"", `"a\ufffdb\ufffd"`},
	} {
		if have := string(AppendQuoted([]byte("x"), test.in)); have != "x"+test.raw {
			t.Errorf("AppendQuoted(%q) = %s", test.in, have[1:])
		}
		if have := string(AppendQuoted([]byte("x"), []byte(test.in))); have != "x"+test.raw {
			t.Errorf("AppendQuoted(bytes of %q) = %s", test.in, have[1:])
		}
		if have := string(AppendQuotedASCII([]byte("x"), test.in)); have != "x"+test.ascii {
			t.Errorf("AppendQuotedASCII(%q) = %s", test.in, have[1:])
		}
	}
}

func FuzzQuoted(f *testing.F) {
	f.Add("a\"\\\x00\x7f\u2028\U0001F642\xff")
	f.Fuzz(func(t *testing.T, s string) {
		want := string([]rune(s))
		var back string
		if utf8.ValidString(s) {
			if err := json.Unmarshal(AppendQuoted(nil, s), &back); err != nil || back != s {
				t.Errorf("AppendQuoted(%q): %q, %v", s, back, err)
			}
		}
		text := AppendQuotedASCII(nil, s)
		if err := json.Unmarshal(text, &back); err != nil || back != want {
			t.Errorf("AppendQuotedASCII(%q): %q, %v", s, back, err)
		}
		for _, c := range text {
			if c < 0x20 || c > 0x7E {
				t.Errorf("AppendQuotedASCII(%q) has byte %#x", s, c)
			}
		}
	})
}

func FuzzFloats(f *testing.F) {
	f.Add(uint64(0x3FF0000000000000))
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, bits uint64) {
		x := math.Float64frombits(bits)
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return
		}
		for _, text := range [][]byte{AppendRepr(nil, x), AppendFloat(nil, x), AppendOldFloat(nil, x)} {
			back, err := strconv.ParseFloat(string(text), 64)
			if err != nil || math.Float64bits(back) != bits || !json.Valid(text) || !strings.ContainsAny(string(text), ".e") {
				t.Errorf("%x: %s, %v", bits, text, err)
			}
		}
	})
}
