package atif

import (
	"errors"
	"testing"

	"github.com/rollscope/rollscope/core/value"
)

func TestStrict(t *testing.T) {
	for _, tt := range []struct {
		text string
		want string // "" is refused
	}{
		{`0.10`, "0.1"},
		{`1E5`, "100000.0"},
		{`100.00`, "100.0"},
		{`-0.0`, "-0.0"},
		{`0e-400`, "0.0"},
		{`0.000e999999999999999999`, "0.0"},
		{`123456789012345678901234567890`, "123456789012345678901234567890"},
		{`-0`, "0"},
		{`0.1`, "0.1"},
		{`1e-7`, "1e-7"},
		{`5e-324`, "5e-324"},
		{`1.7976931348623157e308`, "1.7976931348623157e+308"},
		{`12.5e-1`, "1.25"},
		{`1.0000000000000001`, ""},
		{`0.1000000000000000055`, ""},
		{`4.9e-324`, ""},
		{`1e-400`, ""},
		{`1e400`, ""},
		{`1e99999999999999999999`, ""},
		{`1e-99999999999999999999`, ""},
		{`9007199254740993.0`, ""},
		{`NaN`, ""},
		{`[Infinity]`, ""},
		{`{"a":1,"a":1}`, ""},
		{`{"a":{"b":1,"\u0062":2}}`, ""},
		{`{"a":[1,2.0,"x",null,true]}`, `{"a":[1,2.0,"x",null,true]}`},
		{"\ufeff{}", ""},
		{`{} {}`, ""},
		{`{},`, ""},
		{` {} `, "{}"},
		{`["\ud800"]`, ""},
		{``, ""},
		{`01`, ""},
		{`1.`, ""},
		{`'a'`, ""},
	} {
		v, err := Strict([]byte(tt.text))
		var e *SyntaxError
		switch {
		case tt.want == "" && !errors.As(err, &e):
			t.Errorf("%s: %s, want a syntax error", tt.text, v)
		case tt.want == "":
			if e.Reason == "" || e.Offset > len(tt.text) {
				t.Errorf("%s: %+v", tt.text, e)
			}
		case err != nil:
			t.Errorf("%s: %s", tt.text, err)
		default:
			if got := string(v.Append(nil, value.Row)); got != tt.want {
				t.Errorf("%s: %s, want %s", tt.text, got, tt.want)
			}
		}
	}
}

func TestLooks(t *testing.T) {
	for text, want := range map[string]bool{
		`{"steps":[],"schema_version":"ATIF-v1.7"}`:   true,
		`{"steps":[],"schema_version":"ATIF-v10.12"}`: true,
		`{"steps":[],"agent":{}}`:                     true,
		`{"steps":[],"schema_version":"ATIF-v1"}`:     false,
		`{"steps":[],"schema_version":"ATIF-v1.7.1"}`: false,
		`{"steps":[],"schema_version":"ATIF-v.1"}`:    false,
		`{"steps":[],"schema_version":"ATIF-vx.y"}`:   false,
		`{"steps":[],"schema_version":"x","agent":1}`: false,
		`{"steps":{},"schema_version":"ATIF-v1.7"}`:   false,
		`{"schema_version":"ATIF-v1.7","agent":{}}`:   false,
		`[]`: false,
	} {
		if got := Looks(parse(t, text)); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}
