package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/rollscope/rollscope/core/pack"
	"github.com/rollscope/rollscope/core/redact"
	"github.com/rollscope/rollscope/core/source"
	"github.com/rollscope/rollscope/web/bundle"
)

// unpacked reads a bundle of one file: its index as text and the content of its files.
func unpacked(t *testing.T, path string) (*pack.Index, []byte, [][]byte) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d, err := bundle.ReadDocument(text)
	if err != nil {
		t.Fatal(err)
	}
	index, err := d.Index()
	if err != nil {
		t.Fatal(err)
	}
	x, err := pack.Parse(index, d.ID)
	if err != nil {
		t.Fatal(err)
	}
	r := pack.NewReader(x, d.Block)
	var files [][]byte
	for i, f := range x.Files {
		b := make([]byte, f.Size)
		if _, err := r.ReadAt(i, b, 0); err != nil {
			t.Fatal(err)
		}
		files = append(files, b)
	}
	return x, index, files
}

func bundled(t *testing.T, args ...string) string {
	t.Helper()
	h, out, talk := quietHost()
	h.env = func(name string) string { return map[string]string{"SOURCE_DATE_EPOCH": "1700000000"}[name] }
	if code := h.run(context.Background(), append([]string{"bundle"}, args...)); code != exitDone {
		t.Fatalf("%q: status %d: %s%s", args, code, out, talk)
	}
	return talk.String()
}

// What is in a bundle without rules is what was in the files, byte for byte, whatever they hold.
func TestBundleKeepsBytes(t *testing.T) {
	dir := t.TempDir()
	rollouts := "{\"_ng_task_index\":1,\"_ng_rollout_index\":0}\r\n\n not json\n{\"a\":\"\xff\"}\n{\"_ng_task_index\":2}\n{\"torn"
	write(t, dir, "rollouts.jsonl", rollouts)
	write(t, dir, "rollouts_failures.jsonl", "{}\n")
	write(t, dir, "secret.env", "KEY=1")
	out := filepath.Join(dir, "out.html")
	bundled(t, dir, "-o", out, "--title", "x")
	x, index, files := unpacked(t, out)
	if len(files) != 2 || string(files[0]) != rollouts || string(files[1]) != "{}\n" {
		t.Errorf("files %q", files)
	}
	if len(x.Sources) != 2 || x.Made != "2023-11-14T22:13:20Z" || x.Title != "x" || bytes.Contains(index, []byte(filepath.Dir(dir))) {
		t.Errorf("index %s", index)
	}
	if len(x.Left) != 1 || !strings.HasSuffix(x.Left[0].Name, "secret.env") {
		t.Errorf("left out %v", x.Left)
	}
	// Twice the same is the same file.
	again := filepath.Join(t.TempDir(), "again.html")
	os.Remove(out)
	bundled(t, dir, "-o", out, "--title", "x")
	bundled(t, dir, "-o", again, "--title", "x")
	a, _ := os.ReadFile(out)
	if b, _ := os.ReadFile(again); !bytes.Contains(a, index) || len(b) == 0 {
		t.Error("the second bundle has another index")
	}
	// Only the rows of a filter, in their bytes.
	bundled(t, filepath.Join(dir, "rollouts.jsonl"), "-o", out, "--filter", "task=2")
	if x, _, files = unpacked(t, out); len(files) != 1 || string(files[0]) != "{\"_ng_task_index\":2}\n" || x.Rows.Kept != 1 || x.Filter != "task=2" {
		t.Errorf("rows of the filter %q, %+v", files, x.Rows)
	}
}

// walk calls f for every text with its path.
func walk(v any, path []string, f func([]string, string)) {
	switch v := v.(type) {
	case map[string]any:
		for k, inner := range v {
			walk(inner, append(slices.Clone(path), k), f)
		}
	case []any:
		for i, inner := range v {
			walk(inner, append(slices.Clone(path), strconv.Itoa(i)), f)
		}
	case string:
		f(path, v)
	}
}

// namesIn collects the names of members.
func namesIn(v any, names map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			names[name] = true
			namesIn(inner, names)
		}
	case []any:
		for _, inner := range v {
			namesIn(inner, names)
		}
	}
}

// Bundles with random rules on real rows: no text of eight or more characters that a rule takes out stands anywhere in
// the unpacked bundle, its index and the names in it included. Names of members are part of the form of rows.
func TestBundleRedacted(t *testing.T) {
	rows, err := os.ReadFile("../../testdata/health/s16-agents/input/rollouts.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(rows, []byte("\n"))[:6]
	dir := t.TempDir()
	run := filepath.Join(dir, "alpha_agent")
	if err := os.Mkdir(run, 0o777); err != nil {
		t.Fatal(err)
	}
	write(t, run, "rollouts.jsonl", string(bytes.Join(lines, nil)))
	write(t, run, "rollouts_failures.jsonl", string(lines[0]))
	var paths [][]string
	names := map[string]bool{}
	texts := map[string][]string{} // by path
	for _, line := range lines {
		var row any
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatal(err)
		}
		namesIn(row, names)
		walk(row, nil, func(path []string, text string) {
			paths = append(paths, path)
			texts[strings.Join(path, "\x00")] = append(texts[strings.Join(path, "\x00")], text)
		})
	}
	slices.SortFunc(paths, slices.Compare)
	for seed := range uint64(12) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		taken := map[string]bool{}
		var rules []string
		for range 1 + rnd.IntN(3) {
			path := paths[rnd.IntN(len(paths))]
			cut := 1 + rnd.IntN(len(path)) // of the path and everything below
			var steps []string
			wild := rnd.IntN(len(path) + 1)
			for i, step := range path[:cut] {
				if i == wild {
					step = "*"
				}
				steps = append(steps, strconv.Quote(step))
				if i == wild {
					steps[i] = "*"
				}
			}
			rules = append(rules, []string{"drop ", "length "}[rnd.IntN(2)]+strings.Join(steps, "."))
			for key, list := range texts {
				other := strings.Split(key, "\x00")
				if len(other) < cut {
					continue
				}
				fits := true
				for i := range cut {
					fits = fits && (i == wild || other[i] == path[i])
				}
				for _, text := range list {
					if fits && utf8.RuneCountInString(text) >= 8 {
						taken[text] = true
					}
				}
			}
		}
		out := filepath.Join(dir, "out.html")
		title := "run of "
		for text := range taken {
			title += text + " "
		}
		bundled(t, run, "-o", out, "--redact", strings.Join(rules, "\n"), "--title", title, "--filter", `agent:"alpha_agent" or task >= 0`)
		x, index, files := unpacked(t, out)
		if len(files) != 1 || len(x.Sources) != 0 || x.Redaction == nil || len(x.Redaction.Rules) != len(rules) || len(x.Left) != 1 {
			t.Fatalf("seed %d: %d files, index %s", seed, len(files), index)
		}
		for text := range taken {
			for _, line := range bytes.Split(files[0], []byte("\n")) {
				var row any
				if len(line) > 0 && json.Unmarshal(line, &row) != nil {
					t.Fatalf("seed %d: %s is no row", seed, line)
				}
				walk(row, nil, func(path []string, found string) {
					if strings.Contains(found, text) {
						t.Fatalf("seed %d: %q stands at %v; rules %q", seed, text, path, rules)
					}
				})
			}
			for _, said := range []string{x.Title, x.Filter, x.Files[0].Path, x.Left[0].Name} {
				if strings.Contains(said, text) {
					t.Errorf("seed %d: %q stands in %q", seed, text, said)
				}
			}
			named := false
			for name := range names {
				named = named || strings.Contains(name, text)
			}
			if !named && bytes.Contains(files[0], []byte(text)) {
				t.Errorf("seed %d: %q stands in the bytes", seed, text)
			}
		}
	}
}

// A run that changes while it is packed makes no bundle: its rows would be neither those that were judged nor those
// whose texts were learned.
func TestBundleChanged(t *testing.T) {
	row := "{\"_ng_task_index\":1,\"_ng_rollout_index\":0,\"text\":\"some text\"}\n"
	for name, change := range map[string]func(path string) error{
		"shorter":  func(path string) error { return os.Truncate(path, 10) },
		"replaced": func(path string) error { return errors.Join(os.Remove(path), os.WriteFile(path, []byte(row), 0o666)) },
		"gone":     os.Remove,
		"edited": func(path string) error {
			return errors.Join(os.WriteFile(path, []byte(strings.ToUpper(row)), 0o666), os.Chtimes(path, time.Time{}, time.Unix(1, 0)))
		},
	} {
		for _, rules := range []string{"", "drop text"} {
			dir := t.TempDir()
			write(t, dir, "rollouts.jsonl", row)
			h, _, _ := quietHost()
			b := &bundler{h: h, ctx: context.Background()}
			if rules != "" {
				parsed, err := redact.Parse(rules)
				if err != nil {
					t.Fatal(err)
				}
				b.choice.Rules = parsed
			}
			var err error
			if b.run, err = h.lay(b.ctx, []string{dir}, 1); err != nil {
				t.Fatal(err)
			}
			_, _, err = b.pack(func(int, []byte) error { return change(filepath.Join(dir, "rollouts.jsonl")) })
			b.run.close()
			if !errors.Is(err, source.ErrChanged) {
				t.Errorf("%s, %q: %v", name, rules, err)
			}
		}
	}
}

// Files are told apart in a bundle whatever their names are, and known as what they are when names are masked.
func TestBundleNames(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	names := []string{"a\xff.jsonl", "a\xfe.jsonl", "b\x1b[31m\n\"<x>.jsonl", "rollouts of Alice Johnson.jsonl"}
	for i, name := range names {
		write(t, dir, name, `{"_ng_task_index":`+strconv.Itoa(i)+`,"_ng_rollout_index":0,"who":["Alice Johnson","rollouts of Alice Johnson.jsonl"]}`)
	}
	out := filepath.Join(t.TempDir(), "out.html")
	for _, c := range []struct {
		rules, last string
	}{
		{"", "run/rollouts of Alice Johnson.jsonl"},
		{"drop who[0]; keep who[1]", "run/rollouts of xxxxxxxxxxxxx.jsonl"},
		{"drop who", "run/rollouts.jsonl"},
	} {
		args := []string{dir, "-o", out}
		if c.rules != "" {
			args = append(args, "--redact", c.rules)
		}
		bundled(t, args...)
		var got []string
		x, _, _ := unpacked(t, out)
		for _, f := range x.Files {
			got = append(got, f.Path)
		}
		slices.Sort(got)
		want := append([]string{"2/run/a\uFFFD.jsonl", "run/a\uFFFD.jsonl", "run/b\x1b[31m\n\"<x>.jsonl"}, c.last)
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", c.rules, got, want)
		}
	}
}

// Damaged blocks are listed up to a bound, and what is no file is not read.
func TestVerifyBounds(t *testing.T) {
	dir := t.TempDir()
	var rows strings.Builder
	for i := range 60 {
		rows.WriteString(`{"_ng_task_index":` + strconv.Itoa(i) + `,"_ng_rollout_index":0,"text":"` + strings.Repeat("x", 600_000) + "\"}\n")
	}
	write(t, dir, "rollouts.jsonl", rows.String())
	site := filepath.Join(t.TempDir(), "site")
	bundled(t, dir, "-o", site)
	blocks, err := filepath.Glob(filepath.Join(site, "data", "*", "*.zst"))
	if err != nil || len(blocks) < 25 {
		t.Fatalf("%d blocks, %v", len(blocks), err)
	}
	for _, block := range blocks {
		if err := errors.Join(os.Remove(block), os.Mkdir(block, 0o777)); err != nil {
			t.Fatal(err)
		}
	}
	h, _, talk := quietHost()
	if code := h.run(context.Background(), []string{"bundle", "--verify", site}); code != exitRefused ||
		strings.Count(talk.String(), "is no file") != mostDamages || !strings.Contains(talk.String(), "and "+strconv.Itoa(len(blocks)-mostDamages)+" more") {
		t.Errorf("status %d: %s", code, talk)
	}
}
