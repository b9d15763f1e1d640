package search

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/rollout"
)

var dataDir = flag.String("data", "../../testdata", "hold searches in the JSONL files below this `directory` against naive ones")

// naive finds the places of a pattern in a decoded text.
func naive(o Options, text string) (places [][2]int) {
	re := o.Pattern
	if o.Literal {
		if !o.Fold {
			for at := 0; ; {
				i := strings.Index(text[at:], o.Pattern)
				if i < 0 {
					return places
				}
				places = append(places, [2]int{at + i, at + i + len(o.Pattern)})
				at += i + len(o.Pattern)
			}
		}
		re = regexp.QuoteMeta(re)
	}
	flags := "(?m)"
	if o.Fold {
		flags = "(?mi)"
	}
	for _, m := range regexp.MustCompile(flags+re).FindAllStringIndex(text, -1) {
		if m[0] < m[1] {
			places = append(places, [2]int{m[0], m[1]})
		}
	}
	return places
}

// eachString visits all strings of decoded JSON with their pointers.
func eachString(v any, pointer string, visit func(pointer, text string)) {
	switch v := v.(type) {
	case string:
		visit(pointer, v)
	case []any:
		for i, e := range v {
			eachString(e, pointer+"/"+strconv.Itoa(i), visit)
		}
	case map[string]any:
		for key, e := range v {
			eachString(e, pointer+"/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(key), visit)
		}
	}
}

// inside follows a pointer into decoded JSON.
func inside(t *testing.T, v any, pointer string) any {
	for _, key := range strings.Split(pointer, "/")[1:] {
		switch at := v.(type) {
		case map[string]any:
			v = at[strings.NewReplacer("~1", "/", "~0", "~").Replace(key)]
		case []any:
			n, _ := strconv.Atoi(key)
			v = at[n]
		default:
			t.Fatalf("%s leads nowhere", pointer)
		}
	}
	return v
}

type found struct {
	pointer    string
	start, end int
}

// hits finds all of a line, in the way that everybody should: with the quick look first.
func hits(t *testing.T, s *Search, line []byte) (list []found) {
	l := &jsonl.Line{Bytes: line, Length: int64(len(line)), Terminated: true}
	var reader rollout.Reader
	row := reader.Read(l)
	f := s.Finder()
	f.Row(row, func(h *Hit) bool {
		list = append(list, found{h.Pointer, h.Offset, h.Offset + h.Length})
		return true
	})
	if len(list) > 0 && !s.Could(line) {
		t.Fatalf("%s: the quick look misses a line of %d hits", s, len(list))
	}
	a, err := ParseAnswer(s.Append(nil, l, row))
	if err != nil || a.Count != len(list) || len(a.Hits) != min(len(list), s.options.Keep) {
		t.Fatalf("%s: %d hits, the answer has %d of %d, %v", s, len(list), len(a.Hits), a.Count, err)
	}
	return list
}

// A decoded line: all its strings, and those that are said.
type decoded struct {
	line      []byte
	all, said []text
	refused   bool
}

type text struct{ pointer, text string }

// decode reads a line without anything of this package but the list of texts that are said. ok is false for what is no
// JSON.
func decode(t *testing.T, line []byte) (d decoded, ok bool) {
	var v any
	if json.Unmarshal(line, &v) != nil {
		return d, false
	}
	d.line = line
	eachString(v, "", func(pointer, s string) { d.all = append(d.all, text{pointer, s}) })
	slices.SortFunc(d.all, func(a, b text) int { return strings.Compare(a.pointer, b.pointer) })
	var rows rollout.Reader
	row := rows.Read(&jsonl.Line{Bytes: line, Length: int64(len(line)), Terminated: true})
	if d.refused = row.Problem != nil; d.refused {
		return d, true
	}
	var texts reader
	for _, one := range texts.read(row) {
		at := (&trail{row: row.Value}).pointer(one.value.Offset())
		s, ok := inside(t, v, at).(string)
		if !ok {
			t.Fatalf("%s is no text", at)
		}
		d.said = append(d.said, text{at, s})
	}
	return d, true
}

// compare holds a search of a line against the naive one: over all strings, and over the texts that are said.
func compare(t *testing.T, o Options, d *decoded) (n int) {
	t.Helper()
	for _, o.All = range []bool{true, false} {
		s, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		texts := d.said
		if o.All && !d.refused {
			texts = d.all
		}
		var want []found
		for _, one := range texts {
			for _, p := range naive(o, one.text) {
				want = append(want, found{one.pointer, p[0], p[1]})
			}
		}
		got := hits(t, s, d.line)
		order := func(a, b found) int {
			if c := strings.Compare(a.pointer, b.pointer); c != 0 {
				return c
			}
			return a.start - b.start
		}
		slices.SortFunc(got, order)
		slices.SortFunc(want, order)
		if !slices.Equal(got, want) {
			t.Fatalf("%+v in %.300s:\ngot  %v\nwant %v", o, d.line, got, want)
		}
		n += len(want)
	}
	return n
}

// eachLine gives the rows of all files below a directory.
func eachLine(t testing.TB, dir string, visit func(name string, line []byte)) {
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(strings.TrimSuffix(path, ".gz"), ".jsonl") {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if strings.HasSuffix(path, ".gz") {
			if z, err := gzip.NewReader(bytes.NewReader(b)); err == nil {
				b, _ = io.ReadAll(z)
			}
		}
		for line := range bytes.SplitSeq(b, []byte("\n")) {
			if len(line) > 8<<20 {
				continue // the one of 30 MB is one letter
			}
			visit(path, line)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// patterns takes patterns from the texts of a line, and some that are in none.
func patterns(rng *rand.Rand, d *decoded) []Options {
	list := []Options{{Pattern: "the"}, {Pattern: `\berr(or|no)\b`, Fold: true}, {Pattern: "absent from all", Literal: true}, {Pattern: `[0-9]{3,}\n`}, {Pattern: "^ *[a-z]+$"}}
	list = []Options{list[rng.IntN(len(list))]}
	for range 2 {
		var runes []rune
		if len(d.all) > 0 {
			runes = []rune(d.all[rng.IntN(len(d.all))].text)
		}
		if len(runes) == 0 {
			continue
		}
		at := rng.IntN(len(runes))
		piece := string(runes[at:min(at+1+rng.IntN(12), len(runes))])
		switch rng.IntN(4) {
		case 0:
			list = append(list, Options{Pattern: piece, Literal: true})
		case 1:
			list = append(list, Options{Pattern: strings.ToUpper(piece), Literal: true, Fold: true})
		case 2:
			list = append(list, Options{Pattern: regexp.QuoteMeta(piece) + `\w*`, Fold: rng.IntN(2) == 0})
		default:
			list = append(list, Options{Pattern: "(" + regexp.QuoteMeta(piece) + "|zzz+)"})
		}
	}
	return list
}

// TestNaive holds searches in all test data against naive ones.
func TestNaive(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	lines, searches, total := 0, 0, 0
	sets := map[string]bool{}
	eachLine(t, *dataDir, func(name string, line []byte) {
		lines++
		sets[filepath.Dir(name)] = true
		d, ok := decode(t, line)
		if !ok {
			return
		}
		for _, o := range patterns(rng, &d) {
			searches += 2 // in what is said, and in all strings
			total += compare(t, o, &d)
		}
		if rng.IntN(10) == 0 && len(line) < 200_000 && !d.refused {
			// The same with other escapes.
			other, _ := decode(t, escaped2(rng, line))
			for _, o := range patterns(rng, &d) {
				searches += 2
				total += compare(t, o, &other)
			}
		}
	})
	t.Logf("%d folders, %d lines, %d searches of a line, %d hits, no difference", len(sets), lines, searches, total)
	if flag.Lookup("data").DefValue == *dataDir && (lines < 300 || total < 10_000) {
		t.Errorf("%d lines, %d hits", lines, total)
	}
}

// escaped2 writes the strings of a line with escapes at random, nil if the line is no JSON.
func escaped2(rng *rand.Rand, line []byte) []byte {
	if !json.Valid(line) {
		return nil
	}
	var b bytes.Buffer
	for i := 0; i < len(line); {
		if line[i] != '"' {
			b.WriteByte(line[i])
			i++
			continue
		}
		end := i + 1
		for line[end] != '"' {
			if line[end] == '\\' {
				end++
			}
			end++
		}
		var s string
		if json.Unmarshal(line[i:end+1], &s) != nil || !utf8.ValidString(s) || strings.ContainsRune(s, utf8.RuneError) {
			b.Write(line[i : end+1])
			i = end + 1
			continue
		}
		b.WriteByte('"')
		often := 1 + rng.IntN(30)
		for _, r := range s {
			switch {
			case r == '/' && rng.IntN(2) == 0:
				b.WriteString(`\/`)
			case r < ' ', r == '"', r == '\\', rng.IntN(often) == 0 && r <= 0xFFFF:
				fmt.Fprintf(&b, []string{`\u%04x`, `\u%04X`}[rng.IntN(2)], r)
			case r > 0xFFFF && rng.IntN(2) == 0:
				fmt.Fprintf(&b, `\u%04x\u%04x`, 0xD800+(r-0x10000)>>10, 0xDC00+(r-0x10000)&0x3FF)
			default:
				b.WriteRune(r)
			}
		}
		b.WriteByte('"')
		i = end + 1
	}
	return b.Bytes()
}

// TestFolding is about letters with relatives, and about escapes of what needs none.
func TestFolding(t *testing.T) {
	texts := []string{"Kelvin \u212a and \u017fharp s ß ẞ SS", "ΣΑΣ σας ς", "İstanbul ıI", "Ǆ ǆ ǅ", "a\"b\\c/d\ne\tf", "x😀y𐐀𐐨", "kkk\u212ak", "aaaa", "", "tac\ntack", "K", "日本語"}
	var lines []*decoded
	add := func(line []byte) {
		if d, ok := decode(t, line); ok {
			lines = append(lines, &d)
		}
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for _, text := range texts {
		b, _ := json.Marshal(map[string]any{"response": map[string]any{"output": []any{map[string]any{"type": "message", "role": "assistant", "content": text}}}, "other": text, text: text + text})
		add(b)
		add(escaped2(rng, b))
		add(escaped2(rng, b))
	}
	add([]byte(`{"a":"one","b":"x","a":"two one"}`))
	add([]byte(`"one"`))
	add([]byte(`[]`))
	for _, pattern := range []string{"k", "K", "\u212a", "s", "\u017f", "ss", "ß", "ẞ", "σασ", "ς", "i", "İ", "ı", "ǆ", "\"b\\", "/d\n", "\n", "\te", "😀", "𐐀", "y𐐀", "kk", "aa", "tac", "^tac$", "one", "本", "and s", "b\\c", `"`, "kelvin \u212a", "A", "x😀", "[ks]+", "a|k"} {
		for _, line := range lines {
			for _, o := range []Options{{Literal: true}, {Literal: true, Fold: true}, {}, {Fold: true}} {
				if o.Pattern = pattern; !o.Literal {
					if _, err := regexp.Compile(pattern); err != nil {
						continue
					}
				}
				compare(t, o, line)
			}
		}
	}
}

func FuzzSearch(f *testing.F) {
	f.Add("one", "zwei one \u212a", true, false)
	f.Add("a+b", "xaab", false, true)
	f.Fuzz(func(t *testing.T, pattern, text string, literal, fold bool) {
		o := Options{Pattern: pattern, Literal: literal, Fold: fold}
		if _, err := New(o); err != nil || !utf8.ValidString(text) || strings.ContainsRune(text, utf8.RuneError) {
			return
		}
		line, err := json.Marshal(map[string]any{"response": text, "x": []string{text}})
		if err != nil {
			return
		}
		for _, line := range [][]byte{line, escaped2(rand.New(rand.NewPCG(uint64(len(pattern)), uint64(len(text)))), line)} {
			if d, ok := decode(t, line); ok {
				compare(t, o, &d)
			}
		}
	})
}

func FuzzAnswer(f *testing.F) {
	s, err := New(Options{Pattern: "a"})
	if err != nil {
		f.Fatal(err)
	}
	line := []byte(`{"response":{"output":[{"type":"message","role":"assistant","content":"a banana"}]}}`)
	l := &jsonl.Line{Bytes: line, Length: int64(len(line))}
	var reader rollout.Reader
	f.Add(s.Append(nil, l, reader.Read(l)))
	f.Fuzz(func(t *testing.T, b []byte) {
		if a, err := ParseAnswer(b); err == nil && len(a.Hits) > a.Count {
			t.Errorf("%d of %d hits", len(a.Hits), a.Count)
		}
	})
}

func TestRefused(t *testing.T) {
	for pattern, want := range map[string]string{
		"": "empty", "(": "missing closing", "\xff": "not UTF-8", `((a{30}){30}){30}`: "", `(\pL{100}[a-z]{50}){3}(\pL{100}[a-z]{50}){3}(\pL{100}[a-z]{50}){3}(\pL{100}[a-z]{50}){3}(\pL{100}[a-z]{50}){3}`: "too large",
		strings.Repeat("a", MaxPattern+1): "longer", `a\Cb`: "invalid escape",
	} {
		if _, err := New(Options{Pattern: pattern}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v", pattern, err)
		}
	}
}

// TestRequired is about what every match of an expression must contain.
func TestRequired(t *testing.T) {
	for pattern, want := range map[string]string{
		"a+b": "b", "(foo|bar)+x?": "foo bar", "x?y*": "", "(abc){2,3}[xyz]": "abc", "[a-z]+error": "error", "(?i)Straße|x": "", "foo|b*": "", "^error: (.*)$": "error: ",
		"one|abc|def|ghi|jkl|mnp|qrs|tuv|wxy": "", "zebra.*the": "zebra", "(?:no such|missing) file": " file",
	} {
		s, err := New(Options{Pattern: pattern})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, n := range s.needles {
			got = append(got, string(n.run))
		}
		if strings.Join(got, " ") != want && want != "" || want == "" && len(got) > 0 && pattern != "(?i)Straße|x" {
			t.Errorf("%s: %q", pattern, got)
		}
	}
	if one, two := (Options{Pattern: "a"}), (Options{Pattern: "a", All: true}); true {
		a, _ := New(one)
		b, _ := New(two)
		c, _ := New(one)
		if a.Number() == b.Number() || a.Number() != c.Number() || a.Number() == 0 {
			t.Error("numbers do not tell searches apart")
		}
	}
}

// TestTrail asks for places of a row in any order: each pointer leads back to its text.
func TestTrail(t *testing.T) {
	line := []byte(`{"a":["x",["y",{"":"z","b/c":["w"],"d~":{}}],"v"], "e":{"f":"u","f":"t"},"g":"s"}`)
	var rows rollout.Reader
	row := rows.Read(&jsonl.Line{Bytes: line, Length: int64(len(line)), Terminated: true})
	if row.Problem != nil {
		t.Fatal(row.Problem)
	}
	want := map[int]string{}
	for pointer, text := range map[string]string{"/a/0": "x", "/a/1/0": "y", "/a/1/1/": "z", "/a/1/1/b~1c/0": "w", "/a/2": "v", "/e/f": "t", "/g": "s"} {
		want[bytes.Index(line, []byte(`"`+text+`"`))] = pointer
	}
	want[bytes.Index(line, []byte(`"u"`))] = "/e/f"
	want[bytes.Index(line, []byte(`{}`))] = "/a/1/1/d~0"
	want[bytes.Index(line, []byte(`["y"`))] = "/a/1"
	want[0] = ""
	places := slices.Sorted(maps.Keys(want))
	path := trail{row: row.Value}
	for _, at := range places {
		if got := path.pointer(at); got != want[at] {
			t.Errorf("in order: %q at byte %d, want %q", got, at, want[at])
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 1000 {
		at := places[rng.IntN(len(places))]
		if got := path.pointer(at); got != want[at] {
			t.Fatalf("%q at byte %d, want %q", got, at, want[at])
		}
	}
}

// TestMistake is about the place of what is wrong with a pattern.
func TestMistake(t *testing.T) {
	for pattern, want := range map[string]string{
		"a(b": "1-2 missing closing )", "é)": "2-3 unexpected )", `\((x|[)(])(`: "10-11 missing closing )", "a**": "1-3 invalid nested repetition operator",
		"[b-a]x": "1-4 invalid character class range", `x\Cb`: "1-3 invalid escape sequence", "[^](]": "-", "": "0-0 it is empty", "(a)]": "-", "[": "0-1 missing closing ]",
	} {
		_, err := New(Options{Pattern: pattern})
		if err == nil {
			if want != "-" {
				t.Errorf("%s is taken", pattern)
			}
			continue
		}
		message, from, to := Mistake(pattern, err)
		if got := fmt.Sprintf("%d-%d %s", from, to, message); got != want {
			t.Errorf("%s: %s, want %s", pattern, got, want)
		}
	}
}

// TestCounts holds the quick reading of answers against the whole one, and answers without their hits.
func TestCounts(t *testing.T) {
	s, err := New(Options{Pattern: "an", Literal: true, Keep: 2})
	if err != nil {
		t.Fatal(err)
	}
	var reader rollout.Reader
	for text, n := range map[string]int{"": 0, "an": 1, "a banana": 2, "banana an": 3} {
		line := fmt.Appendf(nil, `{"response":{"output":[{"type":"message","role":"assistant","content":%q}]}}`, text)
		l := &jsonl.Line{Bytes: line, Length: int64(len(line))}
		answer := s.Append(nil, l, reader.Read(l))
		if count, kept := Counts(answer); count != n || kept != min(n, 2) {
			t.Errorf("%q: %d hits, %d kept", text, count, kept)
		}
		short := AppendCount(nil, answer)
		a, err := ParseAnswer(short)
		if count, kept := Counts(short); err != nil || count != n || kept != 0 || a.Count != n || len(a.Hits) != 0 {
			t.Errorf("%q: %d hits, %d kept, %+v %v", text, count, kept, a, err)
		}
	}
}

// TestIn finds in a text what a finder finds in a row that says it.
func TestIn(t *testing.T) {
	const text = "Banana\n \u212a is kelvin, bananas"
	line, err := json.Marshal(map[string]any{"response": map[string]any{"output": []any{map[string]any{"type": "message", "role": "assistant", "content": text}}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []Options{{Pattern: "an", Literal: true}, {Pattern: "K", Literal: true, Fold: true}, {Pattern: "banana", Literal: true, Fold: true}, {Pattern: "^B.*|s$"}, {Pattern: "x*"}} {
		s, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		var got, want [][2]int
		s.In(text, func(start, end int) bool {
			got = append(got, [2]int{start, end})
			return true
		})
		for _, h := range hits(t, s, line) {
			want = append(want, [2]int{h.start, h.end})
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", s, got, want)
		}
	}
}

// All hits of a text are visited, however many there are, in the places where a list of them has them.
func TestManyMatches(t *testing.T) {
	for _, pattern := range []string{"[ab]", "a|b+", "^a*", "x*", `\ba`, "(a|ab)(b|)", "c?"} {
		s, err := New(Options{Pattern: pattern})
		if err != nil {
			t.Fatal(err)
		}
		room := make([]byte, 0, 40_000)
		for n := range 3000 {
			room = append(room, "abbé c\nd aab"[n%5:]...)
		}
		text := room[3 : len(room)-2]
		var want, got [][2]int
		for _, m := range s.re.FindAllIndex(text, -1) {
			if m[0] < m[1] {
				want = append(want, [2]int{m[0], m[1]})
			}
		}
		s.each(text, func(start, end int) bool { got = append(got, [2]int{start, end}); return true })
		if !slices.Equal(got, want) {
			t.Errorf("%s: %d hits, want %d", pattern, len(got), len(want))
		}
		for _, most := range []int{1, fewMatches, fewMatches + 1, 1000} {
			n := 0
			s.each(text, func(int, int) bool { n++; return n < most })
			if want := min(most, len(want)); n != want {
				t.Errorf("%s: %d hits, want %d", pattern, n, want)
			}
		}
	}
}

// A text with hits everywhere and no capital letter is gone through once: who looks for the capital anew behind every
// hit is not done in an hour.
func TestManyFolded(t *testing.T) {
	text := strings.Repeat("x", 16<<20)
	line := []byte(`{"response":{"output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"` + text + `"}]}]}}`)
	s, err := New(Options{Pattern: "X", Literal: true, Fold: true, Keep: 2, Context: 8})
	if err != nil {
		t.Fatal(err)
	}
	var reader rollout.Reader
	l := &jsonl.Line{Bytes: line}
	a, err := ParseAnswer(s.Append(nil, l, reader.Read(l)))
	if err != nil || a.Count != len(text) || len(a.Hits) != 2 {
		t.Fatalf("%d hits, %d kept: %v", a.Count, len(a.Hits), err)
	}
	if h := a.Hits[1]; h.Offset != 1 || h.Before != "x" || h.After != "xxxxxxxx" {
		t.Errorf("second hit %+v", h)
	}
}
