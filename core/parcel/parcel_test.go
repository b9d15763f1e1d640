package parcel

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/pack"
	"github.com/rollscope/rollscope/core/redact"
)

// packedAs runs files through a maker in pieces of random sizes and gives what is in the bundle.
func packedAs(t *testing.T, rnd *rand.Rand, files []File, bodies [][]byte, c *Choice, wanted map[int][]Range) (*pack.Index, map[string][]byte, []string) {
	t.Helper()
	var content []byte
	w := pack.NewCutter(func(_ int, plain []byte) error {
		content = append(content, plain...)
		return nil
	})
	p := NewPlan(files, c)
	m := NewMaker(p, c, w)
	through := func(list []int) {
		for _, i := range list {
			if err := m.Begin(i, wanted[i]); err != nil {
				t.Fatal(err)
			}
			for at := 0; at < len(bodies[i]); {
				n := min(1+rnd.IntN(40), len(bodies[i])-at)
				if err := m.Take(int64(at), bodies[i][at:at+n]); err != nil {
					t.Fatal(err)
				}
				at += n
			}
			if err := m.End(); err != nil {
				t.Fatal(err)
			}
			m.Source(i, int64(len(bodies[i])), "sum")
		}
	}
	if m.Learns() {
		through(p.Rollouts)
		m.Learned()
	}
	through(slices.Concat(p.Rollouts, p.Beside))
	if err := m.Finish(); err != nil {
		t.Fatal(err)
	}
	x := m.Index()
	got := map[string][]byte{}
	for _, f := range x.Files {
		got[f.Path] = content[f.At : f.At+f.Size]
	}
	return x, got, m.Notes()
}

func TestPlan(t *testing.T) {
	files := []File{
		{Path: "r/rollouts.jsonl", Size: 10, Rollouts: true}, {Path: "r/more.jsonl.gz", Size: 5, Rollouts: true, Packed: true},
		{Path: "r/rollouts_failures.jsonl", Size: 3}, {Path: "r/key.env", Size: 1}, {Path: "r/rollouts_coverage.json", Size: LargestBeside + 1},
		{Path: "o/rollouts.jsonl", Size: 2, Rollouts: true, Aside: "it was left out"}, {Path: "o/rollouts_failures.jsonl", Size: 3, Aside: "it was left out"},
	}
	p := NewPlan(files, &Choice{})
	if !slices.Equal(p.Rollouts, []int{0, 1}) || !slices.Equal(p.Beside, []int{2}) {
		t.Errorf("goes along: %v, %v", p.Rollouts, p.Beside)
	}
	why := map[int]string{}
	for _, l := range p.Left {
		why[l.File] = l.Reason
	}
	if len(why) != 4 || why[3] != "it is no file of a run" || why[4] != "it is larger than 16 MiB" || why[5] != "it was left out" || why[6] != "it was left out" {
		t.Errorf("stays: %v", why)
	}
	rules, err := redact.Parse("drop a")
	if err != nil {
		t.Fatal(err)
	}
	if p = NewPlan(files, &Choice{Rules: rules}); len(p.Beside) != 0 || len(p.Rollouts) != 2 || len(p.Left) != 5 {
		t.Errorf("with rules: %+v", p)
	}
}

func TestNames(t *testing.T) {
	p := NewPlan([]File{{Path: "a.jsonl.gz", Size: 1, Rollouts: true, Packed: true}, {Path: "a.jsonl", Size: 1, Rollouts: true}, {Path: "b.gz", Size: 1}, {Path: "a.jsonl", Size: 2}}, &Choice{})
	if got := p.names(); !slices.Equal(got, []string{"a.jsonl", "2/a.jsonl", "b.gz", "3/a.jsonl"}) {
		t.Errorf("names %q", got)
	}
}

// Without rules and filter a file goes in byte by byte; with either it is lines, each with its end.
func TestMaker(t *testing.T) {
	body := []byte("{\"a\":1}\r\n\n not json\n{\"a\":\"b\"}\n{\"a\":3}")
	files := []File{{Path: "r/rollouts.jsonl", Size: int64(len(body)), Rollouts: true}, {Path: "r/empty.jsonl", Rollouts: true}, {Path: "r/rollouts_failures.jsonl", Size: 4}}
	bodies := [][]byte{body, nil, []byte("{}\n{")}
	parse := func(text string) redact.Rules {
		rules, err := redact.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return rules
	}
	for _, c := range []struct {
		name   string
		choice Choice
		wanted map[int][]Range
		want   string // of the first file
		files  int
		rows   pack.Rows
		notes  int
	}{
		{"all", Choice{Rows: pack.Rows{Of: 4, Kept: 4}}, nil, string(body), 3, pack.Rows{Of: 4, Kept: 4}, 0},
		{"some", Choice{Filtered: true, Filter: "x"}, map[int][]Range{0: {{0, 8}, {20, 9}}}, "{\"a\":1}\r\n{\"a\":\"b\"}\n", 2, pack.Rows{}, 0},
		{"rows together", Choice{Filtered: true}, map[int][]Range{0: {{20, 17}}}, "{\"a\":\"b\"}\n{\"a\":3}\n", 2, pack.Rows{}, 0},
		{"rules", Choice{Rules: parse("length a"), Rows: pack.Rows{Of: 4, Kept: 4}}, nil, "{\"a\":null}\n\n{\"a\":\"x\"}\n{\"a\":null}\n", 2, pack.Rows{Of: 4, Kept: 3, Unreadable: 1}, 2},
		{"rules on some", Choice{Filtered: true, Rules: parse("drop z"), Rows: pack.Rows{Of: 4, Kept: 1}}, map[int][]Range{0: {{10, 9}}}, "", 1, pack.Rows{Of: 4, Unreadable: 1}, 2},
	} {
		for seed := range uint64(5) {
			choice := c.choice
			x, got, notes := packedAs(t, rand.New(rand.NewPCG(seed, 2)), files, bodies, &choice, c.wanted)
			if string(got["r/rollouts.jsonl"]) != c.want || len(got) != c.files || x.Rows != c.rows || len(notes) != c.notes {
				t.Errorf("%s: %q, %d files, %+v, notes %q", c.name, got["r/rollouts.jsonl"], len(got), x.Rows, notes)
			}
			if (len(x.Sources) == 0) != (c.choice.Rules != nil) {
				t.Errorf("%s: sources %v", c.name, x.Sources)
			}
		}
	}
}

func TestMakerRefuses(t *testing.T) {
	maker := func(filtered bool) *Maker {
		c := &Choice{Filtered: filtered}
		p := NewPlan([]File{{Path: "a.jsonl", Size: 20, Rollouts: true}}, c)
		return NewMaker(p, c, pack.NewCutter(func(int, []byte) error { return nil }))
	}
	for _, bad := range [][]Range{{{-1, 2}}, {{0, 0}}, {{5, 5}, {9, 2}}, {{5, 5}, {0, 2}}} {
		if err := maker(true).Begin(0, bad); err == nil {
			t.Errorf("%v was begun", bad)
		}
	}
	m := maker(false)
	if m.Begin(1, nil) == nil || m.Take(0, []byte("x")) == nil || m.End() == nil {
		t.Error("there is no such file")
	}
	if err := m.Begin(0, nil); err != nil {
		t.Fatal(err)
	}
	if m.Begin(0, nil) == nil || m.Take(1, []byte("x")) == nil {
		t.Error("a gap was taken")
	}
	m = maker(true)
	if err := m.Begin(0, []Range{{2, 6}}); err != nil {
		t.Fatal(err)
	}
	if err := m.Take(0, []byte("xxab")); err != nil {
		t.Fatal(err)
	}
	if m.Take(5, []byte("de")) == nil {
		t.Error("a gap within a row was taken")
	}
	if err := m.End(); err == nil || !strings.Contains(err.Error(), "shorter") {
		t.Errorf("a file that lacks bytes: %v", err)
	}
}

// row is a made-up row; texts are taken from a list so that they repeat in other places.
func row(rnd *rand.Rand, texts []string) map[string]any {
	text := func() string {
		s := texts[rnd.IntN(len(texts))]
		switch rnd.IntN(4) {
		case 0:
			return "before " + s + " behind"
		case 1:
			b, _ := json.Marshal(map[string]string{"k": s})
			return string(b)
		}
		return s
	}
	list := []any{}
	for range rnd.IntN(4) {
		list = append(list, map[string]any{"text": text(), "n": rnd.IntN(99)})
	}
	return map[string]any{"a": text(), "b": map[string]any{"c": text(), "d": text()}, "list": list}
}

// Random rules, filters and pieces: what is taken out of any row that goes along stands nowhere in the bundle, not in its
// rows, its names, its title or its filter; and rows that do not go along are not there.
func TestRandomParcels(t *testing.T) {
	paths := map[string]func(map[string]any) []string{
		"a":   func(r map[string]any) []string { return []string{r["a"].(string)} },
		"b.c": func(r map[string]any) []string { return []string{r["b"].(map[string]any)["c"].(string)} },
		"b.**": func(r map[string]any) []string {
			return []string{r["b"].(map[string]any)["c"].(string), r["b"].(map[string]any)["d"].(string)}
		},
		"list.*.text": func(r map[string]any) (found []string) {
			for _, e := range r["list"].([]any) {
				found = append(found, e.(map[string]any)["text"].(string))
			}
			return found
		},
	}
	for seed := range uint64(150) {
		rnd := rand.New(rand.NewPCG(seed, 21))
		var texts []string
		for n := range 8 {
			texts = append(texts, fmt.Sprintf("ünique \"text\" %d of\n%d", n, rnd.Uint32()))
		}
		var rules []string
		var taken []string
		fields := []string{}
		for path := range paths {
			fields = append(fields, path)
		}
		slices.Sort(fields)
		chosen := fields[rnd.IntN(len(fields))]
		rules = append(rules, []string{"drop ", "length "}[rnd.IntN(2)]+chosen, "drop nothing.here")
		var files []File
		var bodies [][]byte
		wanted := map[int][]Range{}
		c := &Choice{Filtered: rnd.IntN(2) == 0, Made: "2026-01-02T03:04:05Z"}
		for i := range 2 {
			var body []byte
			var kept []Range
			for range 1 + rnd.IntN(5) {
				r := row(rnd, texts)
				line, _ := json.Marshal(r)
				goes := !c.Filtered || rnd.IntN(2) == 0
				if goes {
					kept = append(kept, Range{int64(len(body)), int64(len(line))})
					c.Rows.Kept++
					taken = append(taken, paths[chosen](r)...)
				}
				c.Rows.Of++
				body = append(append(body, line...), '\n')
			}
			name := fmt.Sprintf("run/part%d.jsonl", i)
			if i == 1 && len(taken) > 0 {
				name = "run/" + strings.ReplaceAll(taken[0], "\n", " ") + ".jsonl"
			}
			files, bodies = append(files, File{Path: name, Size: int64(len(body)), Rollouts: true}), append(bodies, body)
			wanted[i] = kept
		}
		c.Title, c.Filter = "title: "+strings.Join(taken, " "), strings.Join(taken, " or ")
		var err error
		if c.Rules, err = redact.Parse(strings.Join(rules, "\n")); err != nil {
			t.Fatal(err)
		}
		x, got, notes := packedAs(t, rnd, files, bodies, c, wanted)
		index, _ := json.Marshal(x)
		rows := 0
		for _, content := range got {
			rows += bytes.Count(content, []byte("\n"))
		}
		if int64(rows) != c.Rows.Kept {
			t.Fatalf("seed %d: %d rows, want %d", seed, rows, c.Rows.Kept)
		}
		if len(taken) > 0 && !slices.ContainsFunc(notes, func(n string) bool { return strings.Contains(n, "drop nothing.here") }) {
			t.Fatalf("seed %d: notes %q", seed, notes)
		}
		for _, text := range taken {
			inner, _ := json.Marshal(text)
			for _, form := range [][]byte{[]byte(text), inner[1 : len(inner)-1]} {
				for name, content := range got {
					if bytes.Contains(content, form) {
						t.Fatalf("seed %d: %q stands in %s:\n%s\nrules %q", seed, text, name, content, rules)
					}
				}
				if bytes.Contains(index, form) {
					t.Fatalf("seed %d: %q stands in the index %s", seed, text, index)
				}
			}
		}
		if len(x.Sources) > 0 {
			t.Fatalf("seed %d: sources %v", seed, x.Sources)
		}
	}
}

// A bundle that is handed on again says from what, unless that would tell of what is redacted.
func TestOrigin(t *testing.T) {
	files := []File{{Path: "a.jsonl", Size: 24, Rollouts: true}}
	body := [][]byte{[]byte("{\"a\":\"a secret text here\"}\n")}
	origin := &pack.Origin{ID: "abc", Made: "then", Filter: "a secret text here"}
	x, _, _ := packedAs(t, rand.New(rand.NewPCG(1, 1)), files, body, &Choice{Origin: origin}, nil)
	if x.Origin == nil || *x.Origin != *origin {
		t.Errorf("origin %+v", x.Origin)
	}
	rules, _ := redact.Parse("drop a")
	if x, _, _ = packedAs(t, rand.New(rand.NewPCG(1, 1)), files, body, &Choice{Origin: origin, Rules: rules}, nil); x.Origin.ID != "" || x.Origin.Filter != "xxxxxxxxxxxxxxxxxx" || origin.ID != "abc" {
		t.Errorf("origin %+v", x.Origin)
	}
}
