package jsonscan

import (
	"bytes"
	"strings"
	"testing"
)

// seeds are texts at the edges of the rules.
var seeds = []string{
	``, ` `, `null`, `true`, `false`, `tru`, `nul`, `1`, `"x"`, "\xEF\xBB\xBF{}", "{}\x00\x00", "\x00",
	`{"a":1,"a":2,"b":[1,2.5,-3e2,"x",null,true,{}]}`,
	`[1,2,3]`, `[1, 2, 3]`, `[1 ,2 , 3 ]`, `[1,]`, `[,1]`, `{"a":1,}`, `{,}`, `{"a"}`, `{"a":}`, `{a:1}`, `['a']`,
	`[01]`, `[-01]`, `[1.]`, `[.5]`, `[-]`, `[1e]`, `[1e+]`, `[+1]`, `[0x1]`, `[1_0]`, `[NaN]`, `[-Infinity]`, `[1,2,NaN]`,
	`[-0,-0.0,0e0,0e999999]`, `[18446744073709551615,18446744073709551616,-9223372036854775808,-9223372036854775809]`,
	`[1e400]`, `[1e-400]`, `[1.7976931348623158e308,1.7976931348623159e308]`, `123456789012345678901234567890`,
	`["\u0000\u00e9\ud83d\ude42\uD83D\uDE42"]`, `["\ud83d"]`, `["\ude42"]`, `["\ud83d\u0041"]`, `["\ud83dx"]`, `["\x"]`, `["\u00g0"]`, `["\u12`,
	"[\"\x1f\"]", "[\"\x7f\"]", "[\"a\xff\"]", "[\"\xed\xa0\x80\"]", "[\"\xc0\x80\"]", "[\"\xf4\x90\x80\x80\"]", "[\"\xe2\x80", "\u00a0[]", "[]\u2028",
	`{"` + strings.Repeat("k", 200) + `":"` + strings.Repeat("v", 200) + `","` + strings.Repeat(`\n`, 100) + `":"` + strings.Repeat(`\"`, 100) + `"}`,
	`{"a":"` + strings.Repeat("long ", 40) + `","b":[` + strings.Repeat(`{"c":[1]},`, 30) + `0]}`,
	strings.Repeat("[", 70) + strings.Repeat("]", 70), strings.Repeat("[", 70),
	strings.Repeat(`{"a":[`, 40) + `"` + strings.Repeat("é", 70) + `"` + strings.Repeat(`]}`, 40),
	`{"a":1}{"b":2}`, `[1][2]`, `1 2`, `{"a":1}x`,
}

func FuzzScan(f *testing.F) {
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	for _, line := range sampleLines(f) {
		f.Add(line)
	}
	var s Scanner
	f.Fuzz(func(t *testing.T, text []byte) {
		agree(t, &s, text)
		agree(t, &s, append([]byte("["), append(text, ']')...))
	})
}

// TestAgree holds the two readers against each other on all seeds and samples, and on every one of them
// cut short or with one byte changed at many places.
func TestAgree(t *testing.T) {
	var s Scanner
	texts := sampleLines(t)
	for _, seed := range seeds {
		texts = append(texts, []byte(seed))
	}
	for _, text := range texts {
		agree(t, &s, text)
		step := 1 + len(text)/60
		for i := 0; i < len(text); i += step {
			agree(t, &s, text[:i])
			changed := bytes.Clone(text)
			for _, c := range []byte("\x00\"\\,]}{0e\x80 ") {
				changed[i] = c
				agree(t, &s, changed)
			}
		}
	}
}
