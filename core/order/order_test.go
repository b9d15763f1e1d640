package order

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// Each list is in order already; every pair of it is compared both ways.
var lists = map[string][]string{
	"numbers":          {"rollouts-rs1-chunk0", "rollouts-rs2-chunk0", "rollouts-rs10-chunk0", "rollouts-rs10-chunk1"},
	"second number":    {"a1b2", "a1b10", "a2b1", "a10b1"},
	"leading zeros":    {"a0", "a00", "a1", "a01", "a001", "a2", "a02", "a10"},
	"zeros come last":  {"a1b1", "a01b1", "a1b2", "a01b2"},
	"first zero rules": {"1-01", "01-1"},
	"beyond 64 bits": {"9223372036854775807", "9223372036854775808", "18446744073709551615", "18446744073709551616",
		"99999999999999999999999999999999", "100000000000000000000000000000000"},
	"prefix":              {"", "a", "a1", "a1b", "ab"},
	"digit against bytes": {"a", "a!", "a-1", "a.1", "a0", "a:", "aA", "aa", "aé"},
	"folders together":    {"run/1.jsonl", "run/2.jsonl", "run/10.jsonl", "run-2/1.jsonl", "run.jsonl"},
	"folder first":        {"a", "a/b", "a/b/c", "a.jsonl"},
	"folders with zeros":  {"s1/a", "s1/z", "s01/a", "s01/z", "s2/a"},
	"shards": {"shard-000/rollouts.jsonl", "shard-001/rollouts.jsonl", "shard-010/rollouts.jsonl", "shard-099/rollouts.jsonl",
		"shard-100/rollouts.jsonl", "shard-1000/rollouts.jsonl"},
	"empty segments":   {"", "/", "//", "/a", "a", "a/", "a//b", "a/b"},
	"other digits":     {"x1", "x²", "x٣"},
	"bytes, not runes": {"a", "a\x7f", "a\x80", "a\xff"},
	"case is kept":     {"A1", "A2", "a1", "a2"},
}

func TestCompare(t *testing.T) {
	for name, list := range lists {
		for i, a := range list {
			for j, b := range list {
				if got, want := sign(Compare(a, b)), sign(i-j); got != want {
					t.Errorf("%s: %q against %q: %d, want %d", name, a, b, got, want)
				}
			}
		}
	}
}

func TestName(t *testing.T) {
	if Name("a/2", "a/10") >= 0 || Name("a-b", "a/b") >= 0 {
		t.Error("a slash must be a byte like others")
	}
}

func TestTotalOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const alphabet = "00112/-.a/"
	word := func() string {
		var b strings.Builder
		for range rng.IntN(7) {
			b.WriteByte(alphabet[rng.IntN(len(alphabet))])
		}
		return b.String()
	}
	for range 100_000 {
		checkTotal(t, word(), word(), word())
	}
}

func TestFoldersStayTogether(t *testing.T) {
	var paths []string
	for _, dir := range []string{"a", "a1", "a01", "a-1", "a.b", "b"} {
		for _, name := range []string{"1", "01", "2", "10", "x"} {
			paths = append(paths, dir+"/"+name)
		}
	}
	rand.New(rand.NewPCG(3, 4)).Shuffle(len(paths), func(i, j int) { paths[i], paths[j] = paths[j], paths[i] })
	slices.SortFunc(paths, Compare)
	seen := map[string]bool{}
	last := ""
	for _, p := range paths {
		dir, _, _ := strings.Cut(p, "/")
		if dir != last && seen[dir] {
			t.Fatalf("folder %s is split: %q", dir, paths)
		}
		seen[dir], last = true, dir
	}
}

func FuzzCompare(f *testing.F) {
	f.Add("rs1/a", "rs01/a", "rs10")
	f.Add("", "/", "0")
	f.Fuzz(func(t *testing.T, a, b, c string) { checkTotal(t, a, b, c) })
}

func checkTotal(t *testing.T, a, b, c string) {
	t.Helper()
	for _, compare := range []func(a, b string) int{Compare, Name} {
		ab, ba, bc, ac := sign(compare(a, b)), sign(compare(b, a)), sign(compare(b, c)), sign(compare(a, c))
		if ab != -ba || (ab == 0) != (a == b) {
			t.Fatalf("%q against %q: %d and %d", a, b, ab, ba)
		}
		if ab <= 0 && bc <= 0 && ac > 0 || ab >= 0 && bc >= 0 && ac < 0 {
			t.Fatalf("not transitive: %q, %q, %q: %d, %d, %d", a, b, c, ab, bc, ac)
		}
	}
}

func sign(n int) int {
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	}
	return 0
}
