package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rollscope/rollscope/core/health"
	"github.com/rollscope/rollscope/core/source"
)

func TestThreshold(t *testing.T) {
	for _, c := range []struct {
		text      string
		have, all int64
		matches   bool
	}{
		{"unhealthy", 0, 10, false},
		{"unhealthy", 1, 10, true},
		{"unhealthy=1", 1, 10, true},
		{"unhealthy=2", 1, 10, false},
		{"unhealthy=2", 2, 10, true},
		{"unhealthy=0", 0, 10, false},
		{"unhealthy=0", 1, 10, true},
		{"unhealthy=10%", 1, 10, true},
		{"unhealthy=10.1%", 1, 10, false},
		{"unhealthy=33.34%", 1, 3, false},
		{"unhealthy=33.3%", 1, 3, true},
		{"unhealthy=0%", 0, 0, false},
		{"unhealthy=0%", 1, 1000000, true},
		{"unhealthy=100%", 3, 3, true},
		{"unhealthy=99999999999999999999", 3, 3, false},
		{"unobserved", 0, 10, false},
		{"unobserved", 1, 10, true},
		{"unobserved=50%", 4, 10, false},
		{"unobserved=50%", 5, 10, true},
	} {
		limit, err := parseThreshold(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if got := limit.matches(c.have, c.all); got != c.matches {
			t.Errorf("%s with %d of %d: %v", c.text, c.have, c.all, got)
		}
		counts := [health.Skipped + 1]int64{health.Skipped: c.all - c.have}
		counts[limit.of] = c.have
		if err := limit.check(counts); errors.Is(err, errMatched) != c.matches {
			t.Errorf("%s with %d of %d: %v", c.text, c.have, c.all, err)
		}
	}
	for _, bad := range []string{"", "healthy", "skipped", "unobserved=x", "unhealthy=", "unhealthy=%", "unhealthy=-1", "unhealthy=1.5", "unhealthy=x", "unhealthy=101%",
		"unhealthy=1/2", "unhealthy=1e2", "unhealthy= 1", "unhealthy=1.2.3%", "unhealthy=.%", "unhealthy=" + strings.Repeat("9", 40)} {
		if _, err := parseThreshold(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestSafe(t *testing.T) {
	for text, want := range map[string]string{
		"plain ünïcödé 漢字":    "plain ünïcödé 漢字",
		"\x1b[31mred\x07":     `\x1b[31mred\x07`,
		"two\nlines\t":        `two\x0alines\x09`,
		"right\u202eleft":     `right\u{202e}left`,
		"zero\u200bwidth":     `zero\u{200b}width`,
		"bad \xff byte":       `bad \xff byte`,
		"a real \uFFFD stays": "a real \uFFFD stays",
		"c1 \u009b control":   `c1 \u{9b} control`,
		"no-break\u00a0space": `no-break\u{a0}space`,
		"nul\x00":             `nul\x00`,
		"":                    "",
	} {
		if got := safe(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for _, c := range []struct {
		text string
		n    int
		want string
	}{{"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"äöüß", 4, "äöüß"}, {"äöüßé", 4, "äöü…"}, {"", 1, ""}} {
		if got := short(c.text, c.n); got != c.want {
			t.Errorf("%q to %d: %q", c.text, c.n, got)
		}
	}
}

// What happens to a file while it is read: growing is fine, anything else is told.
func TestChangedInput(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(path string) error
		grown   int64
		changed bool
	}{
		"nothing": {change: func(string) error { return nil }},
		"growth": {change: func(path string) error {
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = f.WriteString("more")
			return err
		}, grown: 4},
		"shrinking": {change: func(path string) error { return os.Truncate(path, 2) }, changed: true},
		"rewriting": {change: func(path string) error { return os.Chtimes(path, time.Time{}, time.Unix(1, 0)) }, changed: true},
		"removal":   {change: os.Remove, changed: true},
		"replacement": {change: func(path string) error {
			if err := os.WriteFile(path+".new", []byte("other"), 0o644); err != nil {
				return err
			}
			return os.Rename(path+".new", path)
		}, changed: true},
	} {
		path := write(t, t.TempDir(), "rollouts.jsonl", "{}\n{}\n")
		in, err := openInput(path, false)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.change(path); err != nil {
			t.Fatal(err)
		}
		grown, err := in.grown()
		if grown != c.grown || errors.Is(err, source.ErrChanged) != c.changed || (err == nil) == c.changed {
			t.Errorf("%s: grown by %d, %v", name, grown, err)
		}
		if err != nil && !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v does not name the file", name, err)
		}
		in.file.Close()
	}
}

// The progress line stands on a terminal alone, and has no escape sequence where they are unwanted.
func TestProgress(t *testing.T) {
	show := func(terminal bool, env map[string]string) string {
		h, _, talk := quietHost()
		h.terminal = terminal
		h.env = func(name string) string { return env[name] }
		p := h.progress(2000)
		for _, n := range []int64{1000, 2000} {
			p.last = time.Time{} // as if a while had passed
			p.show(n, n/10)
		}
		p.show(2000, 200) // too soon
		p.done()
		return talk.String()
	}
	if got := show(false, nil); got != "" {
		t.Errorf("not on a terminal: %q", got)
	}
	first, second := "reading: 50 % of 2.00 kB, 100 rows", "reading: 100 % of 2.00 kB, 200 rows"
	if got, want := show(true, nil), "\r"+first+"\x1b[K\r"+second+"\x1b[K\r\x1b[K"; got != want {
		t.Errorf("on a terminal: %q, want %q", got, want)
	}
	blank := "\r" + strings.Repeat(" ", len(second)) + "\r"
	for _, env := range []map[string]string{{"NO_COLOR": "1"}, {"TERM": "dumb"}} {
		if got, want := show(true, env), "\r"+first+"\r"+second+blank; got != want {
			t.Errorf("%v: %q, want %q", env, got, want)
		}
	}
}

func TestExpand(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"run/b10.jsonl", "run/b2.jsonl", "run/deep/c.jsonl", "run/.hidden", "run/.git/x", "other.jsonl", "empty/.x"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, dir, name, "")
	}
	t.Chdir(dir)
	if err := os.Symlink("run", "link"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ paths, names string }{
		{"run", "run/b2.jsonl run/b10.jsonl run/deep/c.jsonl"},
		{"./run/", "run/b2.jsonl run/b10.jsonl run/deep/c.jsonl"},
		{"link", "link/b2.jsonl link/b10.jsonl link/deep/c.jsonl"},
		{"other.jsonl run/b2.jsonl ./other.jsonl", "other.jsonl run/b2.jsonl"},
		{"run/.hidden", "run/.hidden"}, // named itself
		{".", "link other.jsonl run/b2.jsonl"},
	} {
		files, err := expand(strings.Fields(c.paths))
		if err != nil {
			t.Errorf("%s: %v", c.paths, err)
		}
		var names []string
		for _, f := range files {
			if b, err := os.ReadFile(f.Path); err != nil || len(b) != 0 {
				t.Errorf("%s: %v", f.Path, err)
			}
			names = append(names, f.Name)
		}
		if got := strings.Join(names, " "); got != c.names && c.paths != "." {
			t.Errorf("%s: %s", c.paths, got)
		} else if c.paths == "." && got != "other.jsonl run/b2.jsonl run/b10.jsonl run/deep/c.jsonl" {
			t.Errorf("here: %s", got)
		}
	}
	for _, bad := range []string{"nothing", "empty", os.DevNull} {
		if _, err := expand([]string{bad}); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text string
		most int
		want string
	}{
		{"", 10, ""},
		{"one two three", 7, "one two\nthree"},
		{"  spaces \n are  one ", 80, "spaces are one"},
		{"extraordinary a", 5, "extraordinary\na"},
	} {
		if got := wrap(c.text, c.most); got != c.want {
			t.Errorf("%q: %q", c.text, got)
		}
	}
}
