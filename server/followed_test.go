package server

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestFollowed lists a run again and again while its files grow, are replaced, go, come back and are joined by others.
func TestFollowed(t *testing.T) {
	dir := tree(t, map[string]string{"a.jsonl": "{}\n", "b.jsonl": "[]", "secret.txt": "never listed"})
	at := func(name string) string { return filepath.Join(dir, name) }
	names := []string{"a.jsonl", "b.jsonl"}
	var failed error
	s := start(t, Options{Runs: Followed("run", func() (list []NamedFile, err error) {
		for _, name := range names {
			list = append(list, NamedFile{at(name), "run/" + name})
		}
		return list, failed
	})})
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(at(name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(want ...File) {
		t.Helper()
		list := fetched[[]File](t, s, NamedURL)
		for i := range list {
			list[i].Tag = ""
		}
		for i := range want {
			want[i].URL = fileURL(namedRun, want[i].ID)
		}
		if !slices.Equal(list, want) {
			t.Errorf("%+v, want %+v", list, want)
		}
	}
	body := func(id string) string {
		return ask(s, "GET", fileURL(namedRun, id)).Body.String()
	}
	if w := ask(s, "GET", fileURL(namedRun, "0")); w.Code != 404 {
		t.Errorf("a file that was never listed: %d", w.Code)
	}
	expect(File{ID: "0", Path: "run/a.jsonl", Size: 3}, File{ID: "1", Path: "run/b.jsonl", Size: 2})
	if w := ask(s, "GET", NamedURL); w.Header().Get("Cache-Control") != "no-store" {
		t.Error("the list may be cached")
	}

	write("a.jsonl", "{}\n{}\n")
	expect(File{ID: "0", Path: "run/a.jsonl", Size: 6}, File{ID: "1", Path: "run/b.jsonl", Size: 2})
	write("a.jsonl", "{}\n")
	expect(File{ID: "0", Path: "run/a.jsonl", Size: 3, Copy: 1}, File{ID: "1", Path: "run/b.jsonl", Size: 2})

	// Another file under the name.
	write("other", "[1, 2]")
	if err := os.Rename(at("other"), at("b.jsonl")); err != nil {
		t.Fatal(err)
	}
	expect(File{ID: "0", Path: "run/a.jsonl", Size: 3, Copy: 1}, File{ID: "1", Path: "run/b.jsonl", Size: 6, Copy: 1})
	if got := body("1"); got != "[1, 2]" {
		t.Errorf("it holds %q", got)
	}

	// Files that come are numbered on, wherever they stand; those that go keep their number.
	names = []string{"0.jsonl", "a.jsonl", "b.jsonl"}
	write("0.jsonl", "0")
	if err := os.Remove(at("a.jsonl")); err != nil {
		t.Fatal(err)
	}
	expect(File{ID: "2", Path: "run/0.jsonl", Size: 1}, File{ID: "1", Path: "run/b.jsonl", Size: 6, Copy: 1})
	if w := ask(s, "GET", fileURL(namedRun, "0")); w.Code != 404 {
		t.Errorf("a file that is gone: %d", w.Code)
	}
	for _, id := range []string{"3", "-1", "00", "9999999999", "secret.txt", "..%2Fsecret.txt"} {
		if w := ask(s, "GET", fileURL(namedRun, id)); w.Code != 404 {
			t.Errorf("%s: %d", id, w.Code)
		}
	}

	failed = errors.New("the disk is away")
	if w := ask(s, "GET", NamedURL); w.Code != 500 {
		t.Errorf("a run that cannot be listed: %d", w.Code)
	}
}
