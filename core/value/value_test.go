package value

import (
	"math"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/jsonscan"
)

func strict(t *testing.T, text string) Value {
	t.Helper()
	v, err := Strict([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func TestEqual(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{`1`, `1.0`, true}, {`true`, `1`, true}, {`true`, `1.0`, true}, {`false`, `0`, true}, {`false`, `-0.0`, true},
		{`0.0`, `-0.0`, true}, {`0`, `-0`, true}, {`null`, `0`, false}, {`null`, `false`, false}, {`""`, `null`, false},
		{`1`, `"1"`, false}, {`9007199254740993`, `9007199254740992`, false}, {`9007199254740993`, `9007199254740992.0`, false},
		{`9007199254740992`, `9007199254740992.0`, true}, {`18446744073709551615`, `18446744073709551616`, false},
		{`18446744073709551616`, `1.8446744073709552e19`, true}, {`1e300`, `1e300`, true}, {`1e300`, `1.0000000001e300`, false},
		{`-9223372036854775808`, `-9223372036854775808.0`, true}, {`0.1`, `0.10000000000000001`, true},
		{`{"a":1,"b":[true]}`, `{"b":[1.0],"a":1}`, true}, {`{"a":1}`, `{"a":1,"b":null}`, false},
		{`{"a":1,"a":2}`, `{"a":2}`, true}, {`[1,2]`, `[2,1]`, false}, {`[]`, `{}`, false}, {`"1,2"`, `"1"`, false},
		{`["a","b"]`, `["a\",\"b"]`, false}, {`"\u00e9"`, `"é"`, true}, {`"e\u0301"`, `"é"`, false},
	} {
		a, b := strict(t, test.a), strict(t, test.b)
		if got := Equal(a, b); got != test.want {
			t.Errorf("Equal(%s, %s) = %v", test.a, test.b, got)
		}
		if got := Equal(b, a); got != test.want {
			t.Errorf("Equal(%s, %s) = %v", test.b, test.a, got)
		}
	}
	if !Equal(Value{}, Null) {
		t.Error("absent is not null")
	}
}

func TestTruthy(t *testing.T) {
	for _, text := range []string{`null`, `false`, `0`, `-0`, `0.0`, `-0.0`, `""`, `[]`, `{}`} {
		if strict(t, text).Truthy() {
			t.Errorf("%s is truthy", text)
		}
	}
	for _, text := range []string{`true`, `1`, `-1`, `18446744073709551615`, `1e-300`, `"false"`, `"0"`, `[0]`, `{"a":null}`} {
		if !strict(t, text).Truthy() {
			t.Errorf("%s is not truthy", text)
		}
	}
	if (Value{}).Truthy() {
		t.Error("absent is truthy")
	}
}

// forms lists what a text becomes in each form.
var forms = []struct {
	text                             string
	canonical, batch, old, inner, as string
}{
	{`{"x":1e16,"y":1e-5,"z":1e-7,"w":123456.789,"v":1e15,"u":100,"t":1e22}`,
		`{"t":1e+22,"u":100,"v":1000000000000000.0,"w":123456.789,"x":1e+16,"y":1e-05,"z":1e-07}`,
		`{"t":1e+22,"u":100,"v":1000000000000000.0,"w":123456.789,"x":1e+16,"y":0.00001,"z":1e-7}`,
		`{"t":1e22,"u":100,"v":1000000000000000.0,"w":123456.789,"x":1e16,"y":0.00001,"z":1e-7}`,
		`{"t":1e+22,"u":100,"v":1000000000000000.0,"w":123456.789,"x":1e+16,"y":1e-05,"z":1e-07}`,
		`{"x":1e+16,"y":1e-05,"z":1e-07,"w":123456.789,"v":1000000000000000.0,"u":100,"t":1e+22}`},
	{`[ true , null,1.0,-0.0, -0 ]`, `[true,null,1.0,-0.0,0]`, `[true,null,1.0,-0.0,0]`, `[true,null,1.0,-0.0,0]`,
		`[true,null,1.0,-0.0,0]`, `[true,null,1.0,-0.0,0]`},
	{`{"é":"ü\u2028\"\\\n\u0001\/\u007f","Z":12345678901234567890}`,
		"{\"Z\":12345678901234567890,\"é\":\"ü\u2028\\\"\\\\\\n\\u0001/\u007f\"}",
		"{\"Z\":12345678901234567890,\"é\":\"ü\u2028\\\"\\\\\\n\\u0001/\u007f\"}",
		"{\"Z\":12345678901234567890,\"é\":\"ü\u2028\\\"\\\\\\n\\u0001/\u007f\"}",
		`{"Z":12345678901234567890,"\u00e9":"\u00fc\u2028\"\\\n\u0001/\u007f"}`,
		"{\"é\":\"ü\u2028\\\"\\\\\\n\\u0001/\u007f\",\"Z\":12345678901234567890}"},
	{`{"b":1,"a":{"d":2,"c":3},"b":4}`, `{"a":{"c":3,"d":2},"b":4}`, `{"a":{"c":3,"d":2},"b":4}`, `{"a":{"c":3,"d":2},"b":4}`,
		`{"a":{"c":3,"d":2},"b":4}`, `{"b":4,"a":{"d":2,"c":3}}`},
	{`["\ud83d\ude00"]`, `["😀"]`, `["😀"]`, `["😀"]`, `["\ud83d\ude00"]`, `["😀"]`},
	{`{}`, `{}`, `{}`, `{}`, `{}`, `{}`},
}

func TestForms(t *testing.T) {
	for _, test := range forms {
		v := strict(t, test.text)
		for _, form := range []struct {
			name string
			form *Form
			want string
		}{{"Canonical", Canonical, test.canonical}, {"Batch", Batch, test.batch}, {"BatchOld", BatchOld, test.old}, {"Inner", Inner, test.inner}, {"Plain", Plain, test.as}} {
			if got := string(v.Append(nil, form.form)); got != form.want {
				t.Errorf("%s of %s\n got %s\nwant %s", form.name, test.text, got, form.want)
			}
			if form.form == Plain || form.form == Inner {
				continue
			}
			var s jsonscan.Scanner
			span, err := s.Scan([]byte(test.text))
			if err != nil {
				t.Fatal(err)
			}
			var w Writer
			if got := string(w.Append([]byte("x"), span, form.form)); got != "x"+form.want {
				t.Errorf("Writer, %s of %s\n got %s\nwant %s", form.name, test.text, got, form.want)
			}
		}
	}
}

func TestWriterMarks(t *testing.T) {
	for _, test := range []struct {
		text           string
		wide, exponent bool
	}{
		{`[18446744073709551615,-9223372036854775808]`, false, false},
		{`[18446744073709551616]`, true, true},
		{`{"a":-9223372036854775809}`, true, true},
		{`[1e16]`, false, true}, {`[1e-9,1.5]`, false, false}, {`["1e+16"]`, false, false},
	} {
		var s jsonscan.Scanner
		v, err := s.Scan([]byte(test.text))
		if err != nil {
			t.Fatal(err)
		}
		var w Writer
		w.Append(nil, v, Batch)
		if w.Wide != test.wide || w.Exponent != test.exponent {
			t.Errorf("%s: wide %v, exponent %v", test.text, w.Wide, w.Exponent)
		}
	}
}

func TestWriterSkips(t *testing.T) {
	var s jsonscan.Scanner
	v, err := s.Scan([]byte(`{"b":{"a":1},"a":2,"\u0061":3,"c":4}`))
	if err != nil {
		t.Fatal(err)
	}
	var w Writer
	if got := string(w.Append(nil, v, Canonical, "a", "c")); got != `{"b":{"a":1}}` {
		t.Error(got)
	}
}

func TestParse(t *testing.T) {
	lenient := Leniency{Surrogates: true}
	for _, test := range []struct{ text, want string }{
		{`NaN`, `NaN`}, {`[Infinity,-Infinity,1e999,-1e999]`, `[Infinity,-Infinity,Infinity,-Infinity]`},
		{`123456789012345678901234567890`, `123456789012345678901234567890`}, {`-123456789012345678901234567890`, `-123456789012345678901234567890`},
		{`-0`, `0`}, {` {"a" : [ ] , "b":{ } }` + "\r\n", `{"a":[],"b":{}}`}, {`1E5`, `100000.0`}, {`"\u0000\b\/"`, `"\u0000\b/"`},
		{`"\ud800"`, "\"\xed\xa0\x80\""}, {`"\ud800\ud83d\ude00x"`, "\"\xed\xa0\x80😀x\""}, {`"\ude00"`, "\"\xed\xb8\x80\""}, {`"\ud800\u0041"`, "\"\xed\xa0\x80A\""},
		{`{"a":1,"b":2,"a":3}`, `{"a":3,"b":2}`}, {"\"\x7f\"", "\"\x7f\""}, {`"é\n"`, `"é\n"`}, {`18446744073709551616`, `18446744073709551616`},
	} {
		v, err := Parse([]byte(test.text), lenient)
		if err != nil {
			t.Errorf("%s: %v", test.text, err)
		} else if got := v.String(); got != test.want {
			t.Errorf("%s: %s, want %s", test.text, got, test.want)
		}
	}
	for _, text := range []string{
		``, ` `, `{`, `[1,]`, `{"a":1,}`, `{"a"}`, `{a:1}`, `01`, `-`, `1.`, `.5`, `1e`, `1e+`, `+1`, `nul`, `tru`, `"`, `"\`, `"\x"`, `"\u12"`, `"\u12g4"`,
		"\"\n\"", "\"\xff\"", "\"\xed\xa0\x80\"", "\ufeff1", `1 2`, `[1 2]`, `-NaN`, `nan`, "1\v", `[`, `[1`, `{"a":`, `{"a":1`,
		strings.Repeat("[", 1025) + strings.Repeat("]", 1025), "\"\xc3",
	} {
		if v, err := Parse([]byte(text), lenient); err == nil {
			t.Errorf("%q is read as %s", text, v)
		}
	}
	if _, err := Parse([]byte(`"\ud800"`), Leniency{}); err == nil {
		t.Error("half of a surrogate pair is accepted")
	}
	for depth, ok := range map[int]bool{201: true, 202: false} {
		if _, err := Parse([]byte(strings.Repeat("[", depth)+strings.Repeat("]", depth)), Leniency{Depth: 201}); (err == nil) != ok {
			t.Errorf("depth %d: %v", depth, err)
		}
	}
}

func TestUndefinedAndWide(t *testing.T) {
	for _, test := range []struct {
		text            string
		undefined, wide bool
	}{
		{`[1,"a",{"b":1.5}]`, false, false}, {`[[NaN]]`, true, false}, {`{"a":-Infinity}`, true, false}, {`{"\udc00":1}`, true, false}, {`["\udc00"]`, true, false},
		{`[18446744073709551615]`, false, false}, {`[18446744073709551616]`, false, true}, {`{"a":-9223372036854775809}`, false, true}, {`[-9223372036854775808]`, false, false},
	} {
		v, err := Parse([]byte(test.text), Leniency{Surrogates: true})
		if err != nil {
			t.Fatal(err)
		}
		if v.Undefined() != test.undefined || v.Wide() != test.wide {
			t.Errorf("%s: undefined %v, wide %v", test.text, v.Undefined(), v.Wide())
		}
	}
}

func TestInnerHalves(t *testing.T) {
	v, err := Parse([]byte(`"a\ud800é\udfff\u007f"`), Leniency{Surrogates: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := string(v.Append(nil, Inner)); got != `"a\ud800\u00e9\udfff\u007f"` {
		t.Error(got)
	}
}

func TestIndented(t *testing.T) {
	v := strict(t, `{"b":[],"a":{"d":{},"c":[1,"é\u007f"]},"f":1.0}`)
	if got, want := string(v.AppendIndented(nil, true)), "{\n  \"b\": [],\n  \"a\": {\n    \"d\": {},\n    \"c\": [\n      1,\n      \"\\u00e9\\u007f\"\n    ]\n  },\n  \"f\": 1.0\n}"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got, want := string(v.Sorted().AppendIndented(nil, false)), "{\n  \"a\": {\n    \"c\": [\n      1,\n      \"é\u007f\"\n    ],\n    \"d\": {}\n  },\n  \"b\": [],\n  \"f\": 1.0\n}"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func TestMembers(t *testing.T) {
	v := strict(t, `{"a":1,"b":2}`)
	if got := v.With("b", Text("x")).With("c", Null).String(); got != `{"a":1,"b":"x","c":null}` {
		t.Error(got)
	}
	if got := v.Without("a", "z").String(); got != `{"b":2}` {
		t.Error(got)
	}
	if v.String() != `{"a":1,"b":2}` {
		t.Error("the value was changed")
	}
	many := Value{kind: jsonscan.Object}
	var b builder
	for i := range 100 {
		b.add(strings.Repeat("k", i%40), Int(int64(i)))
	}
	many.parts = b.members
	if many.Len() != 40 || !Equal(many.Get(""), Int(80)) {
		t.Errorf("%d members, %s", many.Len(), many.Get(""))
	}
	if n, ok := Float(2).Number(); !ok || n != 2 {
		t.Error("number of a float")
	}
	if n, ok := strict(t, "18446744073709551615").Number(); !ok || n != math.MaxUint64 {
		t.Error("number of a wide integer")
	}
}

func FuzzParse(f *testing.F) {
	for _, test := range forms {
		f.Add([]byte(test.text))
	}
	f.Add([]byte(`{"a":[NaN,"\ud800",123456789012345678901234567890]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := Parse(text, Leniency{Surrogates: true})
		exact, refused := Strict(text)
		if refused == nil {
			// Whatever the strict reader takes, the lenient one takes too, and writes the same unless integers are wide.
			if err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			if !v.Wide() && v.String() != exact.String() {
				t.Fatalf("%q: %s and %s", text, v, exact)
			}
		}
		if err != nil || v.Undefined() {
			return
		}
		again, err := Parse([]byte(v.String()), Leniency{})
		if err != nil || !Equal(v, again) {
			t.Fatalf("%q: %s reads back as %s, %v", text, v, again, err)
		}
	})
}

func FuzzWriter(f *testing.F) {
	for _, test := range forms {
		f.Add([]byte(test.text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var s jsonscan.Scanner
		span, err := s.Scan(text)
		if err != nil {
			return
		}
		var w Writer
		for _, form := range []*Form{Canonical, Batch, BatchOld} {
			if got, want := string(w.Append(nil, span, form)), string(Of(span).Append(nil, form)); got != want {
				t.Fatalf("%q: %s, tree %s", text, got, want)
			}
		}
	})
}
