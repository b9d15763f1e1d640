package store

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/finding"
	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/schema"
	"github.com/rollscope/rollscope/core/value"
)

// lines calls f for every line of a text.
func lines(text string, f func(*jsonl.Line)) {
	s := jsonl.NewSplitter(0)
	each := func(l *jsonl.Line) bool { f(l); return true }
	s.Feed([]byte(text), each)
	s.Finish(each)
}

// vectors are the digests of spec recovery §3.2; the seventh is that of a configuration (package recovery).
var vectors = []struct{ name, rows, digest string }{
	{"no rows", ``, "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945"},
	{"an empty row", `{}`, "e10808d43975dc400731053386849f864f297e6c4f7519c380f3dbaf7067a840"},
	{"two rows", `{"_ng_task_index":0,"_ng_rollout_index":0,"agent_ref":{"name":"agent"}}` + "\n" + `{"agent_ref":{"name":"agent"},"_ng_task_index":1,"_ng_rollout_index":0}`,
		"c81fedd74c718e8fd46b00de4e4239c19f9960d74e64f3f5b89576cec6549803"},
	{"parameters", `{"_ng_task_index":0,"_ng_rollout_index":0,"agent_ref":{"name":"a"},"responses_create_params":{"input":[{"role":"user","content":"2+2?"}],"temperature":0.5}}`,
		"07274e159b06470afb64fb83ace5093af636130f6168f49a68056200cbc62c09"},
	{"floats", `{"x":1e16,"y":1e-5,"z":1e-7,"w":123456.789,"v":1e15,"u":100,"t":1e22}`,
		"1965006539251b1c53216e825969c6ad3509b83490f55815791287f8e1e6733c"},
	{"strings", `{"b":1,"a":[true,null,1.0,-0.0]}` + "\n" + `{"é":"ü` + "\u2028" + `\"\\\n\u0001/","Z":12345678901234567890}`,
		"f890bdd3021ac7dd5b69568c3e2b9258ca175b671f5110ef3228e561e1152460"},
}

func TestDigestVectors(t *testing.T) {
	for _, test := range vectors {
		var in Inputs
		lines(test.rows, func(l *jsonl.Line) { in.Read(l) })
		if in.Record() != test.digest || in.Resume() != test.digest {
			t.Errorf("%s: %s, %s", test.name, in.Record(), in.Resume())
		}
		items := []value.Value{}
		for line := range strings.SplitSeq(test.rows, "\n") {
			if line != "" {
				v, err := value.Strict([]byte(line))
				if err != nil {
					t.Fatal(err)
				}
				items = append(items, v)
			}
		}
		if got := Digest(value.List(items...)); got != test.digest {
			t.Errorf("%s: %s", test.name, got)
		}
	}
}

func TestInputsReadings(t *testing.T) {
	const one, two = `{"a":1}`, `{"b":2}`
	digest := func(rows ...string) string { return Sum([]byte("[" + strings.Join(rows, ",") + "]")) }
	const wide = `{"n":18446744073709551616}`
	for _, test := range []struct {
		name, text     string
		record, resume string
		refused        bool
		disagree       bool
	}{
		{"two rows", one + "\n" + two + "\n", digest(one, two), digest(one, two), false, false},
		{"no line end", one + "\n" + two, digest(one, two), digest(one, two), false, false},
		{"CR LF", one + "\r\n" + two + "\r\n", digest(one, two), digest(one, two), false, false},
		{"CR at the end", one + "\n" + two + "\r", digest(one, two), digest(one, two), false, false},
		{"spaces and other order", " { \"a\" : 1 }\n\n \t\n" + two, digest(one, two), digest(one, two), false, false},
		{"lone CR between rows", one + "\r" + two + "\n", "", digest(one, two), false, true},
		{"lone CR in a row", "{\"a\":\r1}\n", digest(one), "", true, true},
		{"lone CR in front of a row", "\r" + one + "\n", digest(one), digest(one), false, false},
		{"torn", one + "\n{\"b\"", digest(one), "", true, true},
		{"malformed", one + "\n{\"b\"\n", "", "", true, false},
		{"wide integer", wide + "\n", digest(`{"n":1.8446744073709552e+19}`), digest(wide), false, true},
		{"wide integer behind and before rows", one + "\n" + wide + "\n" + two, digest(one, `{"n":1.8446744073709552e+19}`, two), digest(one, wide, two), false, true},
		{"NaN", `{"n":NaN}` + "\n", "", "", false, true},
		{"overflow", `{"n":1e999}` + "\n", "", "", false, true},
		{"half of a pair", `{"n":"\ud800"}` + "\n", "", "", false, true},
		{"white space of other scripts", one + "\n\u00a0\u2003\n" + two, "", digest(one, two), false, true},
		{"separators are white space", one + "\n\x1c\x1f\n" + two, "", digest(one, two), false, true},
		{"not UTF-8", one + "\n\"\xff\"\n", "", "", true, false},
		{"no object", "[1]\n", "", digest("[1]"), false, true},
		{"byte-order mark", "\ufeff" + one + "\n", "", "", true, false},
		{"form feed", one + "\n\f\n", digest(one), digest(one), false, false},
	} {
		var in Inputs
		lines(test.text, func(l *jsonl.Line) { in.Read(l) })
		if in.Record() != test.record || in.Resume() != test.resume {
			t.Errorf("%s: %q, %q\nwant %q, %q", test.name, in.Record(), in.Resume(), test.record, test.resume)
		}
		if in.Refused() != test.refused || in.Disagree() != test.disagree {
			t.Errorf("%s: refused %v, disagree %v", test.name, in.Refused(), in.Disagree())
		}
	}
}

func TestReader(t *testing.T) {
	for _, test := range []struct {
		name, text string
		account    Account
		faults     []Fault
	}{
		{"nothing", "", Account{}, nil},
		{"line ends", "\n\n\n", Account{Lines: 3, Blank: 3, Bytes: 3}, nil},
		{"no line end", `{"x":1}`, Account{Lines: 1, Rows: 1, Bytes: 7}, nil},
		{"torn", "{}\n{\"a\":", Account{Lines: 2, Rows: 1, Unreadable: 1, Bytes: 8}, []Fault{{finding.TornTail, 2, 3, 5, 0}}},
		{"zero bytes", "{}\n\x00\x00\x00", Account{Lines: 2, Rows: 1, Unreadable: 1, Bytes: 6}, []Fault{{finding.TornTail, 2, 3, 3, 0}}},
		{"malformed", "{\"a\":1,}\n{}\n", Account{Lines: 2, Rows: 1, Unreadable: 1, Bytes: 12}, []Fault{{finding.MalformedLine, 1, 0, 9, 0}}},
		{"no object at the end", "{}\n17", Account{Lines: 2, Rows: 1, Unreadable: 1, Bytes: 5}, []Fault{{finding.NotAnObject, 2, 3, 2, jsonscan.Int}}},
		{"CR LF", "{}\r\n\r\n", Account{Lines: 2, Rows: 1, Blank: 1, Bytes: 6}, nil},
		{"vertical tab behind", "{}\v\n", Account{Lines: 1, Unreadable: 1, Bytes: 4}, []Fault{{finding.MalformedLine, 1, 0, 4, 0}}},
		{"form feeds", "\f\f\n{}", Account{Lines: 2, Rows: 1, Blank: 1, Bytes: 5}, nil},
	} {
		var r Reader
		lines(test.text, func(l *jsonl.Line) { r.Read(l) })
		if r.Account != test.account || !reflect.DeepEqual(r.Faults, test.faults) {
			t.Errorf("%s: %+v %+v", test.name, r.Account, r.Faults)
		}
	}
}

func TestManifest(t *testing.T) {
	const digests = `"source_digest":"s","materialized_digest":"m","config_digest":"c"`
	sound := func(members string) string { return `{"run_id":"r",` + digests + members + `}` }
	for _, test := range []struct {
		text   string
		faults []schema.Fault
	}{
		{sound(``), nil},
		{sound(`,"schema_version":2,"selection_policy":"latest_allocated","next_attempt":{"0-0":1,"x":99999999999999999999},"legacy_import":"true","identity_overridden":0`), nil},
		{sound(`,"schema_version":2.0`), nil},
		{`{"run_id":"",` + digests + `}`, nil},
		{`{"run_id":3,"run_id":"r",` + digests + `}`, nil},
		{sound(`,"schema_version":"2"`), []schema.Fault{{Path: "schema_version", Type: schema.Literal}}},
		{sound(`,"schema_version":1`), []schema.Fault{{Path: "schema_version", Type: schema.Literal}}},
		{sound(`,"schema_version":3`), []schema.Fault{{Path: "schema_version", Type: schema.Literal}}},
		{sound(`,"schema_version":true`), []schema.Fault{{Path: "schema_version", Type: schema.Literal}}},
		{sound(`,"schema_version":null,"selection_policy":null`), []schema.Fault{{Path: "schema_version", Type: schema.Literal}, {Path: "selection_policy", Type: schema.Literal}}},
		{sound(`,"selection_policy":"latest_dispatched"`), []schema.Fault{{Path: "selection_policy", Type: schema.Literal}}},
		{sound(`,"next_attempt":{"0-0":2.0,"b":0,"c":true,"d":"1","e":null,"f":-1}`), []schema.Fault{
			{Path: "next_attempt.0-0", Type: schema.IntType}, {Path: "next_attempt.b", Type: schema.TooSmall}, {Path: "next_attempt.c", Type: schema.IntType},
			{Path: "next_attempt.d", Type: schema.IntType}, {Path: "next_attempt.e", Type: schema.IntType}, {Path: "next_attempt.f", Type: schema.TooSmall}}},
		{sound(`,"next_attempt":[]`), []schema.Fault{{Path: "next_attempt", Type: schema.DictType}}},
		{sound(`,"next_attempt":null`), []schema.Fault{{Path: "next_attempt", Type: schema.DictType}}},
		{sound(`,"legacy_import":null,"identity_overridden":"maybe"`), []schema.Fault{{Path: "legacy_import", Type: schema.BoolType}, {Path: "identity_overridden", Type: schema.BoolParsing}}},
		{sound(`,"x":NaN,"y":-Infinity,"z":123456789012345678901234567890`), []schema.Fault{{Path: "x", Type: schema.ExtraForbidden}, {Path: "y", Type: schema.ExtraForbidden}, {Path: "z", Type: schema.ExtraForbidden}}},
		{`{}`, []schema.Fault{{Path: "run_id", Type: schema.Missing}, {Path: "source_digest", Type: schema.Missing}, {Path: "materialized_digest", Type: schema.Missing}, {Path: "config_digest", Type: schema.Missing}}},
		{`[]`, []schema.Fault{{Type: schema.ModelType}}},
		{``, []schema.Fault{{Type: schema.JSONInvalid}}},
		{`{"run_id":"r"`, []schema.Fault{{Type: schema.JSONInvalid}}},
		{"\ufeff" + sound(``), []schema.Fault{{Type: schema.JSONInvalid}}},
		{sound(`,"x":"\ud800"`), []schema.Fault{{Type: schema.JSONInvalid}}},
		{sound(`,"x":` + strings.Repeat("[", 200) + strings.Repeat("]", 200)), []schema.Fault{{Path: "x", Type: schema.ExtraForbidden}}},
		{sound(`,"x":` + strings.Repeat("[", 201) + strings.Repeat("]", 201)), []schema.Fault{{Type: schema.JSONInvalid}}},
	} {
		m, faults := ReadManifest([]byte(test.text))
		if !reflect.DeepEqual(faults, test.faults) || (m == nil) != (faults != nil) {
			t.Errorf("%.80s: %v\nwant %v", test.text, faults, test.faults)
		}
	}
	m, _ := ReadManifest([]byte(sound(`,"next_attempt":{"b":2,"a":99999999999999999999},"legacy_import":1.0`)))
	if m.RunID != "r" || !m.Imported || m.Overridden || len(m.Reserved) != 2 || m.Reserved[0].ID != "b" || m.Reserved[1].Next.String() != "99999999999999999999" {
		t.Errorf("%+v", m)
	}
}

func TestRepair(t *testing.T) {
	for _, test := range []struct{ name, text, tail, glued string }{
		{"empty", "", "", ""},
		{"whole", "{}\n", "{}\n", "{}\n"},
		{"no line end", "{}\n{\"x\":1}", "{}\n{\"x\":1}\n", "{}\n{\"x\":1}\n"},
		{"torn", "{}\n{\"x\":", "{}\n", "{}\n"},
		{"only line torn", "{\"a\":", "", ""},
		{"any value", "17", "17\n", "17\n"},
		{"spaces", "{}\n  ", "{}\n", "{}\n"},
		{"zero bytes", "{}\n\x00\x00", "{}\n", "{}\n"},
		{"damage with a line end stays", "{\"a\":1,}\n{}\n", "{\"a\":1,}\n{}\n", "{\"a\":1,}\n{}\n"},
		{"glued", "{\"a\":1}{\"b\":2} {\"c\":3}\n{}\n", "{\"a\":1}{\"b\":2} {\"c\":3}\n{}\n", "{\"a\":1}\n{\"b\":2} \n{\"c\":3}\n{}\n"},
		{"glued without a line end", "{}\n{\"a\":1}{\"b\":2}", "{}\n", "{}\n{\"a\":1}\n{\"b\":2}\n"},
		{"glued and torn", "{\"a\":1}{\"b\":2}{\"c\"", "", "{\"a\":1}\n{\"b\":2}\n"},
		{"glued and damaged stays", "{\"a\":1}{\"b\":2}{\"c\"\n", "{\"a\":1}{\"b\":2}{\"c\"\n", "{\"a\":1}{\"b\":2}{\"c\"\n"},
		{"no objects stay", "1 2\n[][]\n{}3\n", "1 2\n[][]\n{}3\n", "1 2\n[][]\n{}3\n"},
	} {
		for _, glued := range []bool{false, true} {
			want := test.tail
			if glued {
				want = test.glued
			}
			if got := repaired(t, test.text, glued); got != want {
				t.Errorf("%s, glued %v: %q, want %q", test.name, glued, got, want)
			}
		}
	}
}

func repaired(t *testing.T, text string, glued bool) string {
	t.Helper()
	r := Repair{Glued: glued}
	lines(text, r.Line)
	var b bytes.Buffer
	if err := Apply(&b, strings.NewReader(text), int64(len(text)), r.Edits); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func FuzzManifest(f *testing.F) {
	f.Add([]byte(`{"schema_version":2,"selection_policy":"latest_allocated","next_attempt":{"0-0":1},"run_id":"r","source_digest":"s","materialized_digest":"m","config_digest":"c","legacy_import":false,"identity_overridden":false}`))
	f.Add([]byte(`{"next_attempt":{"a":1e5,"":null},"run_id":NaN}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if m, faults := ReadManifest(text); (m == nil) == (len(faults) == 0) {
			t.Fatal("neither a manifest nor faults, or both")
		}
	})
}

func FuzzInputs(f *testing.F) {
	for _, test := range vectors {
		f.Add([]byte(test.rows))
	}
	f.Add([]byte("{\"a\":1}\r{\"b\":\"\\ud800\"}\r\n\x1c\n[NaN]\n{\"c\":18446744073709551616}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var in Inputs
		lines(string(text), func(l *jsonl.Line) { in.Read(l) })
		a := in.Account
		if a.Bytes != int64(len(text)) || a.Lines != a.Rows+a.Blank+a.Unreadable || int64(len(in.Faults)) != a.Unreadable {
			t.Fatalf("%+v of %d bytes", a, len(text))
		}
		// The resume check reads the text as a whole, split at every kind of line end.
		whole := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(text))
		items, refused := []value.Value{}, false
		for line := range strings.SplitSeq(whole, "\n") {
			if strings.TrimFunc(line, space) == "" && strings.ToValidUTF8(line, "") == line {
				continue
			}
			v, err := value.Parse([]byte(line), value.Leniency{Surrogates: true})
			refused = refused || err != nil
			items = append(items, v)
		}
		want := ""
		if list := value.List(items...); !refused && !list.Undefined() {
			want = Digest(list)
		}
		if in.Resume() != want {
			t.Fatalf("%q: %s, want %s", text, in.Resume(), want)
		}
	})
}

func FuzzRepair(f *testing.F) {
	f.Add("{}\n{\"a\":1}{\"b\":2}{\"c\"", true)
	f.Add("{}\n{\"a\":", false)
	f.Fuzz(func(t *testing.T, text string, glued bool) {
		once := repaired(t, text, glued)
		if once != "" && !strings.HasSuffix(once, "\n") {
			t.Fatalf("%q has no line end", once)
		}
		if again := repaired(t, once, glued); again != once {
			t.Fatalf("%q is repaired to %q and then to %q", text, once, again)
		}
	})
}
