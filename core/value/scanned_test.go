package value

import (
	"bytes"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/jsonscan"
)

func TestAppendScanned(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{` { "a" : [ 1 , 2.50 , -0 , -0.0 , 1E5 , 1e16 ] , "b" : { } , "c" : [ ] } `, `{"a":[1,2.5,0,-0.0,100000.0,1e+16],"b":{},"c":[]}`},
		{`{"a":1,"b":2,"a":[3]}`, `{"a":[3],"b":2}`},
		{`"\/\u00e9\u0041\u001F\u001f\u000a\u0008\b\n\"\\"`, `"/éA\u001f\u001f\n\b\b\n\"\\"`},
		{`18446744073709551616`, `1.8446744073709552e+19`}, {`18446744073709551615`, `18446744073709551615`},
		{`0.1`, `0.1`}, {`0.10`, `0.1`}, {`0.00001`, `0.00001`}, {`0.000001`, `1e-6`}, {`0.0`, `0.0`}, {`0.00`, `0.0`}, {`0.3000000000000000444`, `0.30000000000000004`},
		{`-0.3465735912322998`, `-0.3465735912322998`}, {`1234567890123.45`, `1234567890123.45`}, {`123456789012345.6`, `123456789012345.6`},
		{`{"\u0061":1,"a":2}`, `{"a":2}`}, {`null`, `null`}, {`[true,false,null,"x"]`, `[true,false,null,"x"]`},
	} {
		var s jsonscan.Scanner
		v, err := s.Scan([]byte(tt.in))
		if err != nil {
			t.Fatal(err)
		}
		if got := string(AppendScanned(nil, v)); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.in, got, tt.want)
		}
		if settled := string(v.Raw()) == tt.want; Settled(v) != settled {
			t.Errorf("%s: settled is %t", tt.in, !settled)
		}
	}
	if got := string(AppendScanned(nil, jsonscan.Value{})); got != "null" {
		t.Errorf("absent: %s", got)
	}
	var wide bytes.Buffer
	wide.WriteString(`{"k0":0`)
	for range 3 {
		for i := range 40 {
			wide.WriteString(`,"k` + strings.Repeat("x", i) + `":` + string(rune('0'+i%10)))
		}
	}
	wide.WriteString(`}`)
	v, err := Strict(wide.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	var s jsonscan.Scanner
	scanned, _ := s.Scan(wide.Bytes())
	if got, want := string(AppendScanned(nil, scanned)), string(v.Append(nil, Row)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// FuzzAppendScanned holds the copy against the tree.
func FuzzAppendScanned(f *testing.F) {
	f.Add([]byte(`{"a":[1,2.50,-0,1E5],"a":{"\u0062":"\/"},"c":0.000010}`))
	f.Add([]byte(`[0.1234567890123456,1.0e-7,99999999999999999999,"\ud83d\ude42"]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var s jsonscan.Scanner
		v, err := s.Scan(text)
		if err != nil {
			return
		}
		got, want := AppendScanned(nil, v), Of(v).Append(nil, Row)
		if !bytes.Equal(got, want) {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
		if settled := bytes.Equal(v.Raw(), want); Settled(v) != settled {
			t.Errorf("%s: settled is %t", text, !settled)
		}
	})
}

func BenchmarkAppendScanned(b *testing.B) {
	text := []byte(`{"messages":[{"role":"user","content":"` + strings.Repeat(`some text with\nlines and \"quotes\" and more of it `, 200) + `"},{"role":"assistant","content":"ok","logprobs":[-0.3465735912322998,-1.25,-0.0001]}],"max_tokens":64}`)
	var s jsonscan.Scanner
	v, err := s.Scan(text)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	var dst []byte
	for b.Loop() {
		dst = AppendScanned(dst[:0], v)
	}
}

func BenchmarkSettled(b *testing.B) {
	text := []byte(`{"messages":[{"role":"user","content":"` + strings.Repeat(`some text with\nlines and \"quotes\" and more of it `, 200) + `"},{"role":"assistant","content":"ok","logprobs":[-0.3465735912322998,-1.25,-0.0001]}],"max_tokens":64}`)
	var s jsonscan.Scanner
	v, err := s.Scan(text)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if !Settled(v) {
			b.Fatal("it is")
		}
	}
}

func TestSettledAfter(t *testing.T) {
	for _, tt := range []struct {
		before, text string
		want         bool
	}{
		{`{"a":[1,2]}`, `{"a":[1,2,3]}`, true},
		{`{"a":[1,2]}`, `{"a":[1,2],"a":3}`, false},
		{`{"a":1}`, `{"a":1.50}`, false},
		{`[12]`, `[120.0]`, true},
		{`["ab"]`, `["ab\/"]`, false},
		{`[{"x":{"y":1}}]`, `[{"x":{"y":1},"x":2}]`, false},
		{`[1,[2,"x"],3]`, `[1,[2,"x"], 3]`, false},
		{`[1,[2,"x"],3]`, `[1,[2,"x"],3]`, true},
		{``, `{"a":1}`, true},
		{`"x"`, `"x"`, true},
	} {
		v, err := new(jsonscan.Scanner).Scan([]byte(tt.text))
		if err != nil {
			t.Fatal(err)
		}
		if got := SettledAfter(v, []byte(tt.before)); got != tt.want || got != Settled(v) {
			t.Errorf("%s after %s: %t", tt.text, tt.before, got)
		}
	}
	long := `["` + strings.Repeat("x", 10000) + `",`
	v, _ := new(jsonscan.Scanner).Scan([]byte(long + `1]`))
	if !SettledAfter(v, []byte(long+`2]`)) || common([]byte(long+"1"), []byte(long+"2")) != len(long) {
		t.Error("long texts")
	}
}

// FuzzSettledAfter holds the answer for a text behind another one against the answer for the text alone.
func FuzzSettledAfter(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"b":"x"}]}`), uint8(12), []byte(`,2.0]}`))
	f.Add([]byte(`{"a":[1,{"b":"x"}]}`), uint8(17), []byte(`,"b":1}]}`))
	f.Fuzz(func(t *testing.T, before []byte, at uint8, rest []byte) {
		v, err := new(jsonscan.Scanner).Scan(before)
		if err != nil || !Settled(v) {
			return
		}
		text := append(append([]byte{}, before[:min(int(at), len(before))]...), rest...)
		w, err := new(jsonscan.Scanner).Scan(text)
		if err != nil {
			return
		}
		if got, want := SettledAfter(w, v.Raw()), Settled(w); got != want {
			t.Errorf("%s after %s: %t", text, before, got)
		}
	})
}
