package redact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestParse(t *testing.T) {
	rules, err := Parse("\uFEFF# nothing yet\r\n drop a.b ; length\tc.*.d # why\n\nkeep row.\"odd ; # \\\" name\"[0][*].**.**.x\ndrop **;")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range rules {
		got = append(got, fmt.Sprint(r.Action, " ", r.Path, " ", r.steps))
	}
	want := []string{
		"drop a.b [{0 a} {0 b}]", "length c.*.d [{0 c} {1 } {0 d}]",
		`keep row."odd ; # \" name"[0][*].**.**.x [{0 odd ; # " name} {0 0} {1 } {2 } {0 x}]`, "drop ** [{2 }]",
	}
	if !slices.Equal(got, want) {
		t.Errorf("rules %q", got)
	}
	for _, bad := range []string{"", "# no rule", "drop", "drop ", "remove a", "drop a..b", "drop .a", "drop a.", "drop a*", "drop a[0", `drop "a`, "drop a b", "keep a]b",
		"drop \xff", strings.Repeat("drop a;", mostRules+1), "length " + strings.Repeat("a.", 60) + "a"} {
		if _, err := Parse(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func redacted(t *testing.T, rules string, lines ...string) ([]string, *Redactor) {
	t.Helper()
	parsed, err := Parse(rules)
	if err != nil {
		t.Fatal(err)
	}
	r := New(parsed)
	for _, line := range lines {
		r.Learn([]byte(line))
	}
	var out []string
	for _, line := range lines {
		b, ok := r.Row(nil, []byte(line))
		if !ok {
			b = []byte("refused")
		}
		out = append(out, string(b))
	}
	return out, r
}

func TestRow(t *testing.T) {
	for _, c := range []struct{ rules, in, want string }{
		{"drop nothing", `{ "a" : 1.50 , "b":[ ] }`, `{ "a" : 1.50 , "b":[ ] }`},
		{"drop a", `{"a":1,"b":2}`, `{"b":2}`},
		{"drop b", `{"a":1,"b":{"c":[1,2]},"d":3}`, `{"a":1,"d":3}`},
		{"length a", `{"a":"héllo","b":1}`, `{"a":"xxxxx","b":1}`},
		{"length a", `{"a":["one",2,true,null,[],{}]}`, `{"a":["xxx",null,null,null,[],{}]}`},
		{"drop a.1", `{"a":["one","two","three"]}`, `{"a":["one",null,"three"]}`},
		{"drop a[1]", `{"a":["one","two","three"]}`, `{"a":["one",null,"three"]}`},
		{"drop a.*", `{"a":["one","two"],"b":{"c":1}}`, `{"a":[null,null],"b":{"c":1}}`},
		{"drop **; keep a.b", `{"a":{"b": 1,"c":2},"d":3}`, `{"a":{"b":1}}`},
		{"drop **", `{"a":1}`, `{}`},
		{"keep a; drop **", `{"a":1}`, `{}`},
		{"length **.text", `{"text":"ab","o":[{"text":{"text":"abc","n":1}}]}`, `{"text":"xx","o":[{"text":{"text":"xxx","n":null}}]}`},
		{"drop a.**.z", `{"a":{"z":1,"b":{"z":2,"y":3}},"z":4}`, `{"a":{"b":{"y":3}},"z":4}`},
		{`drop row["a.b"]; drop row.a["b"]`, `{"a.b":1,"a":{"b":2,"c":3}}`, `{"a":{"c":3}}`},
		{`drop row`, `{"row":1,"b":2}`, `{"b":2}`},
		{`drop "a.b"`, `{"a.b":1,"a":{"b":2}}`, `{"a":{"b":2}}`},
		{"drop a", `{"a":1,"a":2,"b":3}`, `{"b":3}`},
		{"drop a", `not json`, "refused"},
		// What was taken out does not stand elsewhere either.
		{"drop a", `{"a":"secret text","b":"a secret text, twice: secret text","c":"secret"}`, `{"b":"a xxxxxxxxxxx, twice: xxxxxxxxxxx","c":"secret"}`},
		{"drop a", `{"a":"say \"hi\" now","b":"{\"q\":\"say \\\"hi\\\" now\"}"}`, `{"b":"{\"q\":\"xxxxxxxxxxxxxx\"}"}`},
		{"drop a", `{"a":"function","b":{"function":1,"the function of it":2}}`, `{"b":{"function":1,"the xxxxxxxx of it":2}}`},
		{"drop a", `{"a":["secret text","secret text and more of it"],"b":"secret text and more of it"}`, `{"b":"xxxxxxxxxxxxxxxxxxxxxxxxxx"}`},
	} {
		if got, _ := redacted(t, c.rules, c.in); got[0] != c.want {
			t.Errorf("%s: %s: %s, want %s", c.rules, c.in, got[0], c.want)
		}
	}
}

func TestAcrossRows(t *testing.T) {
	got, r := redacted(t, "length a; drop b; keep nowhere; drop a.deep", `{"c":"tell: the secret"}`, `{"a":"the secret","b":1,"d":2}`)
	if want := []string{`{"c":"tell: xxxxxxxxxx"}`, `{"a":"xxxxxxxxxx","d":2}`}; !slices.Equal(got, want) {
		t.Errorf("rows %q", got)
	}
	if text := r.Text("title of the secret run"); text != "title of xxxxxxxxxx run" {
		t.Errorf("title %q", text)
	}
	var counts []int64
	for _, c := range r.Counts() {
		counts = append(counts, c.Values, c.Texts)
	}
	if !slices.Equal(counts, []int64{1, 1, 1, 0, 0, 0, 0, 0}) || r.Kept() != 1 || r.Copies() != 1 {
		t.Errorf("counts %v, %d kept, %d copies", counts, r.Kept(), r.Copies())
	}
}

// tree is a made-up value with what may be in a row.
func tree(rnd *rand.Rand, depth int, texts []string) any {
	switch n := rnd.IntN(10); {
	case depth > 0 && n < 4:
		m := map[string]any{}
		for range rnd.IntN(5) {
			m[string(rune('a'+rnd.IntN(4)))] = tree(rnd, depth-1, texts)
		}
		return m
	case depth > 0 && n < 6:
		list := []any{}
		for range rnd.IntN(4) {
			list = append(list, tree(rnd, depth-1, texts))
		}
		return list
	case n < 9:
		text := texts[rnd.IntN(len(texts))]
		switch rnd.IntN(4) {
		case 0:
			text = "before " + text + " behind"
		case 1:
			b, _ := json.Marshal(map[string]string{"k": text})
			text = string(b)
		}
		return text
	}
	return rnd.IntN(1000)
}

// leaves calls f for every leaf with its path.
func leaves(v any, path []string, f func(path []string, v any)) {
	switch v := v.(type) {
	case map[string]any:
		for k, inner := range v {
			leaves(inner, append(slices.Clone(path), k), f)
		}
	case []any:
		for i, inner := range v {
			leaves(inner, append(slices.Clone(path), strconv.Itoa(i)), f)
		}
	default:
		f(path, v)
	}
}

// holds tells in the plain way whether steps lead to a path or one above it.
func holds(steps []step, path []string) bool {
	if len(steps) == 0 {
		return true
	}
	if steps[0].kind == deep {
		return holds(steps[1:], path) || len(path) > 0 && holds(steps, path[1:])
	}
	return len(path) > 0 && (steps[0].kind == any1 || steps[0].name == path[0]) && holds(steps[1:], path[1:])
}

func rulesOf(rnd *rand.Rand) string {
	var b strings.Builder
	for range 1 + rnd.IntN(4) {
		b.WriteString([]string{"keep ", "length ", "drop "}[rnd.IntN(3)])
		for n := range 1 + rnd.IntN(3) {
			if n > 0 {
				b.WriteByte('.')
			}
			b.WriteString([]string{"a", "b", "c", "d", "*", "**", "0", "1"}[rnd.IntN(8)])
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Random rules on random rows: no text of eight characters or more that a rule takes out of any row stands in any of
// them, as a text, inside one, or in the bytes; and values that no rule takes out stay.
func TestRandomRules(t *testing.T) {
	for seed := range uint64(400) {
		rnd := rand.New(rand.NewPCG(seed, 9))
		texts := []string{"short", "fünfzehn Zeichen", "line one\nline \"two\"", "tab\tand \\ slash", "漢字漢字漢字漢字漢", "common start one", "common start two, longer than a rung of it is", "", "common start"}
		for range 6 {
			texts = append(texts, fmt.Sprintf("text %d of %d", rnd.Uint32(), seed))
		}
		rules, err := Parse(rulesOf(rnd))
		if err != nil {
			t.Fatal(err)
		}
		r := New(rules)
		var lines [][]byte
		taken := map[string]bool{}
		for range 4 {
			row := map[string]any{"a": tree(rnd, 4, texts), "b": tree(rnd, 3, texts), "c": tree(rnd, 2, texts)}
			leaves(row, nil, func(path []string, v any) {
				action := Keep
				for _, rule := range rules {
					if holds(rule.steps, path) {
						action = rule.Action
					}
				}
				if text, ok := v.(string); ok && action != Keep && utf8.RuneCountInString(text) >= 8 {
					taken[text] = true
				}
			})
			line, _ := json.Marshal(row)
			lines = append(lines, line)
			if !r.Learn(line) {
				t.Fatal("refused")
			}
		}
		for _, line := range lines {
			out, ok := r.Row(nil, line)
			var row any
			if !ok || json.Unmarshal(out, &row) != nil {
				t.Fatalf("seed %d: %s became %s", seed, line, out)
			}
			for text := range taken {
				inner, _ := json.Marshal(text)
				if bytes.Contains(out, []byte(text)) || bytes.Contains(out, inner[1:len(inner)-1]) {
					t.Fatalf("seed %d: %q stands in %s\nof %s\nrules %v", seed, text, out, line, rules)
				}
				leaves(row, nil, func(path []string, v any) {
					if s, ok := v.(string); ok && strings.Contains(s, text) {
						t.Fatalf("seed %d: %q stands at %v of %s", seed, text, path, out)
					}
				})
			}
			if len(taken) == 0 {
				dropped := false
				for _, c := range r.Counts() {
					dropped = dropped || c.Rule.Action != Keep && c.Values > 0
				}
				if !dropped && !bytes.Equal(out, line) {
					t.Fatalf("seed %d: %s became %s", seed, line, out)
				}
			}
		}
	}
}

func FuzzRow(f *testing.F) {
	f.Add("drop a; length **.b", `{"a":"secret text","b":["secret text"]}`)
	f.Fuzz(func(t *testing.T, text, line string) {
		rules, err := Parse(text)
		if err != nil {
			return
		}
		r := New(rules)
		learned := r.Learn([]byte(line))
		out, ok := r.Row(nil, []byte(line))
		if learned != ok || ok && !r.Learn(out) {
			t.Errorf("%q on %q: %q", text, line, out)
		}
	})
}

// A message shows the beginning of a rule, however long the line is that was taken for one.
func TestLongRule(t *testing.T) {
	for _, text := range []string{strings.Repeat("é", 10_000), "drop " + strings.Repeat("a*", 10_000), "drop a b" + strings.Repeat("c", 10_000), `drop "` + strings.Repeat("a", 10_000), "drop " + strings.Repeat("a.", 10_000)} {
		if _, err := Parse(text); err == nil || len(err.Error()) > 400 {
			t.Errorf("%.20s: %.500v", text, err)
		}
	}
}
