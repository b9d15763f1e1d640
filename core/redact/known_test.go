package redact

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// What was taken out stands nowhere in what is left, however it is written there.
func TestForms(t *testing.T) {
	const secret = `say "hi" to <Bob> & co/Ünï 😀`
	quoted := func(s string) string { b, _ := json.Marshal(s); return string(b) } // escapes < and & as well
	deep := quoted(secret)
	for range deepest - 1 {
		deep = quoted(deep)
	}
	for name, form := range map[string]string{
		"plain":            secret,
		"inside":           "x" + secret + "y",
		"JSON":             `{"q":` + quoted(secret) + `}`,
		"JSON in JSON":     `{"q":` + quoted(`{"q":`+quoted(secret)+`}`) + `}`,
		"three levels":     quoted(quoted(quoted(secret))),
		"as deep as known": deep,
		"slashes":          `{"q":"say \"hi\" to <Bob> & co\/Ünï 😀"}`,
		"every character":  `{"q":"\u0073ay \u0022hi\u0022 to \u003CBob> \u0026 co\u002fÜn\u00ef \uD83D\uDE00"}`,
		"behind backslash": `C:\temp ` + quoted(secret) + ` end\`,
		"quotes of Python": `'say "hi" to <Bob> & co/Ünï 😀'`,
		"other quotes":     `\'say "hi" to <Bob> & co/Ünï 😀\'`,
		"title":            "A run: " + secret,
	} {
		row, _ := json.Marshal(map[string]any{"a": secret, "b": form, "c": map[string]any{form: 1}})
		got, r := redacted(t, "drop a", string(row))
		for text, levels := got[0], 0; levels <= deepest+2; levels++ {
			if strings.Contains(text, "Bob") || strings.Contains(text, "😀") || strings.Contains(text, "hi") {
				t.Errorf("%s: %s is left of %s", name, text, row)
				break
			}
			var l level
			l.unescape([]byte(text))
			text = string(l.text)
		}
		if !json.Valid([]byte(got[0])) {
			t.Errorf("%s: %s is no JSON", name, got[0])
		}
		if text := r.Text(form); strings.Contains(text, "Bob") {
			t.Errorf("%s: the text %s", name, text)
		}
	}
}

func TestTaken(t *testing.T) {
	for _, c := range []struct{ rules, in, want string }{
		// Numbers of eight and more characters say where they are from, shorter ones do not.
		{"drop a", `{"a":491511234567890,"b":491511234567890,"c":"at 491511234567890","d":"491511234567890","e":12}`, `{"b":null,"c":"at xxxxxxxxxxxxxxx","d":"xxxxxxxxxxxxxxx","e":12}`},
		{"drop a", `{"a":"491511234567890","b":491511234567890,"c":[-0.25,1e3]}`, `{"b":null,"c":[-0.25,1e3]}`},
		{"length a", `{"a":1234567,"b":1234567,"c":true}`, `{"a":null,"b":1234567,"c":true}`},
		{"drop a", `{"a":false,"b":false,"c":null}`, `{"b":false,"c":null}`},
		// A text that is JSON is taken out with what it holds.
		{"drop a", `{"a":"{\"cmd\":\"cat /etc/shadow\",\"n\":[123456789]}","b":{"cmd":"cat /etc/shadow"},"c":"123456789"}`, `{"b":{"cmd":"xxxxxxxxxxxxxxx"},"c":"xxxxxxxxx"}`},
		{"drop a", `{"a":"[ \"\\\"cat /etc/shadow\\\"\" ]","b":"cat /etc/shadow"}`, `{"b":"xxxxxxxxxxxxxxx"}`},
		{"drop a", `{"a":"{no json: cat /etc/shadow}","b":"cat /etc/shadow"}`, `{"b":"cat /etc/shadow"}`},
		// So is what goes with the names of members that nobody keeps.
		{"drop a", `{"a":{"Alice Johnson":1},"b":"by Alice Johnson"}`, `{"b":"by xxxxxxxxxxxxx"}`},
		{"length a", `{"a":{"Alice Johnson":1}}`, `{"a":{"xxxxxxxxxxxxx":null}}`},
		{`drop a; keep a."tokens per second"`, `{"a":{"tokens per second":1,"b":2}}`, `{"a":{"tokens per second":1}}`},
		{"drop **; keep **.x", `{"a b c d e f":{"x":1,"y":2}}`, `{"a b c d e f":{"x":1}}`},
		// Texts that overlap are all masked.
		{"drop a", `{"a":["abcdefgh","efghijkl"],"b":"-abcdefghijkl-"}`, `{"b":"-xxxxxxxxxxxx-"}`},
		{"drop a", `{"a":["C:\\path\\to\\"],"b":"{\"p\":\"C:\\\\path\\\\to\\\\\"}"}`, `{"b":"{\"p\":\"xxxxxxxxxxxxxx\"}"}`},
	} {
		if got, _ := redacted(t, c.rules, c.in); got[0] != c.want {
			t.Errorf("%s: %s: %s, want %s", c.rules, c.in, got[0], c.want)
		}
	}
}

// Where known texts stand is what a search at every place gives.
func TestFind(t *testing.T) {
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		random := func(n int) string {
			b := make([]byte, n)
			for i := range b {
				b[i] = "ab"[rnd.IntN(8)/7]
			}
			return string(b)
		}
		k := newKnown()
		var texts []string
		for range 1 + rnd.IntN(20) {
			texts = append(texts, random(8+rnd.IntN(60)))
			k.add([]byte(texts[len(texts)-1]))
		}
		text := random(rnd.IntN(600))
		want := make([]bool, len(text))
		for _, known := range texts {
			for i := 0; i+len(known) <= len(text); i++ {
				for n := 0; text[i:i+len(known)] == known && n < len(known); n++ {
					want[i+n] = true
				}
			}
		}
		got := make([]bool, len(text))
		for _, s := range k.find(nil, []byte(text)) {
			for i := s.from; i < s.to; i++ {
				got[i] = true
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: %v in %s: %v", seed, texts, text, got)
		}
	}
}

// A text that begins like a known one at every place is looked through in steps that grow with its length.
func TestAlike(t *testing.T) {
	k := newKnown()
	k.add([]byte(strings.Repeat("a", 1<<17) + "b"))
	k.add([]byte(strings.Repeat("=", 3000)))
	if list := k.find(nil, []byte(strings.Repeat("a", 1<<16)+strings.Repeat("=", 3001))); !slices.Equal(list, []span{{1 << 16, 1<<16 + 3001}}) {
		t.Errorf("found at %v", list)
	}
}

func FuzzLevel(f *testing.F) {
	f.Add([]byte(`a\u0041\ud83d\ude00\n\\\q\`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var l level
		if !l.unescape(text) && string(l.text) != string(text) {
			t.Errorf("%q became %q", text, l.text)
		}
		if at := l.outside(len(l.text)); at != len(text) {
			t.Errorf("%q ends at %d", text, at)
		}
	})
}
