package schema

import (
	"reflect"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/value"
)

func of(t *testing.T, text string) value.Value {
	t.Helper()
	v, err := value.Parse([]byte(text), value.Leniency{})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func TestInt(t *testing.T) {
	for _, test := range []struct{ text, want, kind string }{
		{`1`, "1", ""}, {`-7`, "-7", ""}, {`1.0`, "1", ""}, {`-0.0`, "0", ""}, {`true`, "1", ""}, {`false`, "0", ""},
		{`" 2 "`, "2", ""}, {`"01"`, "1", ""}, {`"1.0"`, "1", ""}, {`"1.000"`, "1", ""}, {`"+3"`, "3", ""}, {`"-3"`, "-3", ""}, {`"1_000"`, "1000", ""},
		{`"\u00a02\u2003"`, "2", ""}, {`"123456789012345678901234567890"`, "123456789012345678901234567890", ""},
		{`18446744073709551616`, "18446744073709551616", ""}, {`9223372036854774784.0`, "9223372036854774784", ""},
		{`"5e2"`, "", IntParsing}, {`"1."`, "", IntParsing}, {`".0"`, "", IntParsing}, {`"1.01"`, "", IntParsing}, {`""`, "", IntParsing}, {`"-"`, "", IntParsing},
		{`"_1"`, "", IntParsing}, {`"1_"`, "", IntParsing}, {`"1__0"`, "", IntParsing}, {`"+-1"`, "", IntParsing}, {`"1 2"`, "", IntParsing}, {`"٣"`, "", IntParsing},
		{`1.5`, "", IntFromFloat}, {`1e300`, "", IntParsingSize}, {`9223372036854775808.0`, "", IntParsingSize}, {`-9223372036854775808.0`, "", IntParsingSize},
		{`null`, "", IntType}, {`[]`, "", IntType}, {`{}`, "", IntType},
		{`"` + strings.Repeat("1", 4301) + `"`, "", IntParsingSize},
	} {
		n, kind := Int(of(t, test.text))
		if kind != test.kind || kind == "" && n.String() != test.want {
			t.Errorf("%.40s: %s %q, want %s %q", test.text, n, kind, test.want, test.kind)
		}
	}
}

func TestBool(t *testing.T) {
	for _, test := range []struct {
		text string
		want bool
		kind string
	}{
		{`true`, true, ""}, {`false`, false, ""}, {`0`, false, ""}, {`1`, true, ""}, {`0.0`, false, ""}, {`-0.0`, false, ""}, {`1.0`, true, ""},
		{`"true"`, true, ""}, {`"T"`, true, ""}, {`"yEs"`, true, ""}, {`"y"`, true, ""}, {`"on"`, true, ""}, {`"1"`, true, ""},
		{`"FALSE"`, false, ""}, {`"f"`, false, ""}, {`"No"`, false, ""}, {`"n"`, false, ""}, {`"OFF"`, false, ""}, {`"0"`, false, ""},
		{`" true"`, false, BoolParsing}, {`""`, false, BoolParsing}, {`2`, false, BoolParsing}, {`-1`, false, BoolParsing}, {`2.0`, false, BoolParsing},
		{`9223372036854775807`, false, BoolParsing}, {`-9223372036854775808`, false, BoolParsing},
		{`9223372036854775808`, false, BoolType}, {`1.5`, false, BoolType}, {`1e300`, false, BoolType}, {`null`, false, BoolType}, {`[]`, false, BoolType}, {`{}`, false, BoolType},
	} {
		b, kind := Bool(of(t, test.text))
		if b != test.want || kind != test.kind {
			t.Errorf("%s: %v %q, want %v %q", test.text, b, kind, test.want, test.kind)
		}
	}
}

func TestChecker(t *testing.T) {
	c := Begin(of(t, `{"z":1,"text":5,"choice":"c","n":0,"most":9,"inner":{"flag":"maybe","more":[]},"other":3,"map":{"a":1},"list":["a",1],"none":null,"long":"éé"}`))
	c.Text("text", Required)
	c.Text("gone", Required)
	c.Choice("choice", Required, false, "a", "b")
	c.Int("n", Required, 1, 0, false)
	c.Int("most", Required, 1, 8, false)
	inner, ok := c.Object("inner", Required)
	if !ok {
		t.Error("no inner object")
	}
	inner.Bool("flag", Required)
	inner.End()
	if _, ok := c.Object("other", Required); ok {
		t.Error("a number is an object")
	}
	c.Map("map", Required, func(key string, v value.Value) { c.Member("map", key, v) })
	c.Texts("list", 1)
	c.TextOrNull("none")
	c.Bounded("long", Required, 1, false)
	c.End()
	want := []Fault{
		{"text", TextType}, {"gone", Missing}, {"choice", Literal}, {"n", TooSmall}, {"most", TooLarge}, {"inner.flag", BoolParsing}, {"inner.more", ExtraForbidden},
		{"other", ModelType}, {"map.a", ModelType}, {"list.1", TextType}, {"long", TextTooLong}, {"z", ExtraForbidden},
	}
	if got := c.Faults(); !reflect.DeepEqual(got, want) {
		t.Errorf("%v\nwant %v", got, want)
	}
	for _, text := range []string{`null`, `[]`, `"x"`, `1`} {
		c := Begin(of(t, text))
		c.Text("a", Required)
		c.End()
		if got := c.Faults(); !reflect.DeepEqual(got, []Fault{{"", ModelType}}) {
			t.Errorf("%s: %v", text, got)
		}
	}
}
