package lax

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/jsonscan"
)

func value(t *testing.T, text string) jsonscan.Value {
	t.Helper()
	s := new(jsonscan.Scanner)
	v, err := s.Scan([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func TestInt(t *testing.T) {
	long := strings.Repeat("1", 4300)
	tests := []struct{ in, want string }{ // want "" is refused
		{`0`, "0"}, {`-0`, "0"}, {`200`, "200"}, {`-7`, "-7"},
		{`18446744073709551615`, "18446744073709551615"},
		{`-9223372036854775808`, "-9223372036854775808"},
		{`18446744073709551616`, ""}, {`-9223372036854775809`, ""},
		{`200.0`, "200"}, {`-0.0`, "0"}, {`1e3`, "1000"}, {`9.2e18`, "9200000000000000000"},
		{`9223372036854774784.0`, "9223372036854774784"}, {`9223372036854775808.0`, ""}, {`-9223372036854775808.0`, ""},
		{`1.5`, ""}, {`1e-3`, ""}, {`1e300`, ""},
		{`true`, "1"}, {`false`, "0"}, {`null`, ""}, {`[]`, ""}, {`{}`, ""}, {`[1]`, ""},
		{`"0404"`, "404"}, {`" 12 "`, "12"}, {`"+1"`, "1"}, {`"-1"`, "-1"}, {`"-0"`, "0"}, {`"1_000"`, "1000"},
		{`"1.0"`, "1"}, {`"1.000"`, "1"}, {`"-1_0.00"`, "-10"}, {`"\u00a01\u2003\u0085"`, "1"}, {`"\t1\n"`, "1"},
		{`"\u0031"`, "1"}, {`"00"`, "0"}, {`"0_0"`, "0"},
		{`"999999999999999999"`, "999999999999999999"}, {`"-1000000000000000000"`, "-1000000000000000000"},
		{`"99999999999999999999999999"`, "99999999999999999999999999"}, {`"-9_9999999999999999999.0"`, "-99999999999999999999"},
		{`"000000000000000000000000012"`, "12"}, {`"` + long + `"`, long}, {`"` + strings.Repeat("0", 9000) + long + `.0"`, long},
		{`"1` + long + `"`, ""}, {`"-` + long + `"`, ""}, {`"-` + long[1:] + `"`, "-" + long[1:]},
		{`"1.5"`, ""}, {`"1."`, ""}, {`".0"`, ""}, {`"."`, ""}, {`"1e3"`, ""}, {`"0x10"`, ""}, {`""`, ""}, {`" "`, ""},
		{`"+"`, ""}, {`"-"`, ""}, {`"+-1"`, ""}, {`"- 1"`, ""}, {`"_1"`, ""}, {`"1_"`, ""}, {`"1__0"`, ""}, {`"+_1"`, ""},
		{`"1_.0"`, ""}, {`"1._0"`, ""}, {`"1.0_0"`, ""}, {`"1.0.0"`, ""}, {`"true"`, ""}, {`"\u0663"`, ""}, {`"1\u0000"`, ""},
		{`"\u001c1"`, ""}, {`"1\u001f"`, ""}, {`"\u200b1"`, ""}, {`"1 2"`, ""}, {`"_"`, ""}, {`"nan"`, ""},
	}
	for _, tt := range tests {
		n, ok := Int(value(t, tt.in))
		if ok != (tt.want != "") || ok && n.String() != tt.want {
			t.Errorf("Int(%.60s) = %.60s, %t; want %.60q", tt.in, n, ok, tt.want)
		}
	}
	if _, ok := Int(jsonscan.Value{}); ok {
		t.Error("an absent value is no int")
	}
}

func TestFloat(t *testing.T) {
	inf := math.Inf(1)
	tests := []struct {
		in   string
		want float64
	}{
		{`0`, 0}, {`-1`, -1}, {`1.5`, 1.5}, {`1750000048.125`, 1750000048.125}, {`-0.000000000000001`, -1e-15}, {`123456789012345`, 123456789012345},
		{`1234567890123456`, 1234567890123456}, {`0.1234567890123456`, 0.1234567890123456}, {`9007199254740993`, 9007199254740992}, {`1e22`, 1e22}, {`2E-3`, .002}, {`12345678.90123456`, 12345678.90123456}, {`18446744073709551615`, 18446744073709551616}, {`18446744073709551616`, 18446744073709551616},
		{`true`, 1}, {`false`, 0}, {`"1."`, 1}, {`".5"`, .5}, {`"+.5"`, .5}, {`"1e3"`, 1000}, {`"1E+3"`, 1000}, {`"-1e-3"`, -.001}, {`"1.e5"`, 1e5},
		{`"1._5"`, 1.5}, {`"1e_3"`, 1000}, {`"1_e3"`, 1000}, {`"1_0.5_5"`, 10.55}, {`"-_1"`, -1}, {`" 1.5 "`, 1.5}, {`"\u20031.5\u00a0"`, 1.5},
		{`"1e400"`, inf}, {`"-1e400"`, -inf}, {`"1e-400"`, 0}, {`"1e99999999999999999999"`, inf},
		{`"inf"`, inf}, {`"+INF"`, inf}, {`"-Infinity"`, -inf}, {`"in_f"`, inf}, {`"i_n_f_i_n_i_t_y"`, inf}, {`"nan"`, math.NaN()}, {`"-NaN"`, math.NaN()}, {`"n_an"`, math.NaN()},
	}
	for _, tt := range tests {
		f, ok := Float(value(t, tt.in))
		if !ok || f != tt.want && !(math.IsNaN(f) && math.IsNaN(tt.want)) {
			t.Errorf("Float(%s) = %v, %t; want %v", tt.in, f, ok, tt.want)
		}
	}
	for in, negative := range map[string]bool{`-0`: false, `-0.0`: true, `-0e0`: true, `"-0"`: true, `0`: false} {
		if f, _ := Float(value(t, in)); math.Signbit(f) != negative {
			t.Errorf("Float(%s) = %v", in, f)
		}
	}
	for _, in := range []string{
		`null`, `[]`, `{}`, `""`, `" "`, `"1_"`, `"_1"`, `"1__0"`, `"0x1p3"`, `"0x10"`, `"true"`, `"."`, `"+"`, `"-"`, `"e5"`, `".e5"`, `"1e"`, `"1e+"`,
		`"1e5.0"`, `"1.2.3"`, `"--1"`, `"1 e3"`, `"1,5"`, `"infinit"`, `"inf_"`, `"_inf"`, `"in__f"`, `"nano"`, `"\u0661"`, `"1d"`, `"0b1"`, `"\u001c1"`, `"+-inf"`,
	} {
		if f, ok := Float(value(t, in)); ok {
			t.Errorf("Float(%s) = %v, want it refused", in, f)
		}
	}
	if _, ok := Float(jsonscan.Value{}); ok {
		t.Error("an absent value is no float")
	}
}

func TestBool(t *testing.T) {
	for word, want := range map[string]bool{"1": true, "true": true, "t": true, "yes": true, "y": true, "on": true, "0": false, "false": false, "f": false, "no": false, "n": false, "off": false} {
		for _, form := range []string{word, strings.ToUpper(word), strings.ToUpper(word[:1]) + word[1:]} {
			if got, ok := Bool(value(t, strconv.Quote(form))); !ok || got != want {
				t.Errorf("Bool(%q) = %t, %t", form, got, ok)
			}
		}
	}
	for in, want := range map[string]bool{`true`: true, `false`: false, `1`: true, `0`: false, `-0`: false, `1.0`: true, `0.0`: false, `-0.0`: false, `1e0`: true, `"\u0079es"`: true} {
		if got, ok := Bool(value(t, in)); !ok || got != want {
			t.Errorf("Bool(%s) = %t, %t", in, got, ok)
		}
	}
	for _, in := range []string{`null`, `[]`, `{}`, `2`, `-1`, `0.5`, `""`, `" true"`, `"true "`, `"1.0"`, `"2"`, `"oN_"`, `"of"`, `"yess"`, `"tru"`, `"wahr"`, `"\u017f"`, `"ye\u0000"`} {
		if got, ok := Bool(value(t, in)); ok {
			t.Errorf("Bool(%s) = %t, want it refused", in, got)
		}
	}
	if _, ok := Bool(jsonscan.Value{}); ok {
		t.Error("an absent value is no bool")
	}
}
