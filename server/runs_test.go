package server

import (
	"context"
	"encoding/json"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func (s shelfOf) Run(context.Context, string) (Run, error) { return Run{}, fs.ErrNotExist }

func (s shelfOf) Open(string, string) (*os.File, fs.FileInfo, error) { return nil, nil, fs.ErrNotExist }

// tree writes files below a new folder.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// fetched reads a JSON answer.
func fetched[T any](t *testing.T, s *Server, target string) (value T) {
	t.Helper()
	w := ask(s, "GET", target)
	if w.Code != 200 || !strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") {
		t.Fatalf("%s: %d %s", target, w.Code, w.Body)
	}
	if err := json.Unmarshal(w.Body.Bytes(), &value); err != nil {
		t.Fatal(err)
	}
	return value
}

// listed gives the runs with their files.
func listed(t *testing.T, s *Server) []Run {
	t.Helper()
	list := fetched[[]Run](t, s, "/runs")
	for i := range list {
		list[i].Files = fetched[[]File](t, s, list[i].URL)
	}
	return list
}

const letters = "abcdefghijklmnopqrstuvwxyz"

func TestRanges(t *testing.T) {
	dir := tree(t, map[string]string{"rollouts.jsonl": letters})
	s := start(t, Options{Runs: Named("run", []NamedFile{{filepath.Join(dir, "rollouts.jsonl"), "run/rollouts.jsonl"}})})
	run := listed(t, s)[0]
	if run.Name != "run" || run.Size != 26 || len(run.Files) != 1 {
		t.Fatalf("run %+v", run)
	}
	f := run.Files[0]
	if f.Path != "run/rollouts.jsonl" || f.Size != 26 || f.URL != "/runs/0/0" {
		t.Fatalf("file %+v", f)
	}
	for _, c := range []struct {
		header         string
		status         int
		body, ofHeader string
	}{
		{"", 200, letters, ""},
		{"bytes=0-4", 206, "abcde", "bytes 0-4/26"},
		{"bytes=20-", 206, "uvwxyz", "bytes 20-25/26"},
		{"bytes=-3", 206, "xyz", "bytes 23-25/26"},
		{"bytes=5-5", 206, "f", "bytes 5-5/26"},
		{"bytes=20-9999999999999", 206, "uvwxyz", "bytes 20-25/26"},
		{"bytes=-99", 206, letters, "bytes 0-25/26"},
		{"bytes=26-", 416, "", "bytes */26"},
		{"bytes=99-100", 416, "", "bytes */26"},
		{"bytes=5-4", 416, "", ""},
		{"bytes=-0", 416, "", ""},
		{"bytes=--5", 416, "", ""},
		{"bytes=99999999999999999999-", 416, "", "bytes */26"},
		{"bytes=a-b", 416, "", ""},
		{"bytes", 416, "", ""},
		{"rows=0-4", 200, letters, ""}, // a unit that is not known means no range
		{"BYTES=0-4", 206, "abcde", "bytes 0-4/26"},
		{"bytes=0-99999999999999999999", 206, letters, "bytes 0-25/26"},
		{"bytes=20-99999999999999999999999999", 206, "uvwxyz", "bytes 20-25/26"},
		{"bytes=-99999999999999999999", 206, letters, "bytes 0-25/26"},
		{"bytes=0-9223372036854775807", 206, letters, "bytes 0-25/26"},
		{"bytes=99999999999999999999-99999999999999999999", 416, "", "bytes */26"},
		{"bytes=0-1x", 416, "", ""},
		{"bytes=-", 416, "", ""},
		{"bytes=0-0,2-2", 200, letters, ""}, // one range at a time
		{"bytes=" + strings.Repeat("0-,", 1000) + "0-", 200, letters, ""},
	} {
		headers := []string{}
		if c.header != "" {
			headers = []string{"Range", c.header}
		}
		w := ask(s, "GET", f.URL, headers...)
		if w.Code != c.status || c.body != "" && w.Body.String() != c.body {
			t.Errorf("%.40q: %d %q", c.header, w.Code, w.Body)
		}
		if c.ofHeader != "" && w.Header().Get("Content-Range") != c.ofHeader {
			t.Errorf("%.40q: range %q", c.header, w.Header().Get("Content-Range"))
		}
	}
	w := ask(s, "GET", f.URL)
	for name, value := range map[string]string{
		"Content-Type": "application/octet-stream", "Cache-Control": "no-store", "Content-Disposition": "attachment",
		"X-Content-Type-Options": "nosniff", "ETag": f.Tag, "Accept-Ranges": "bytes",
		"Content-Security-Policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
	} {
		if got := w.Header().Get(name); got != value {
			t.Errorf("%s is %q, want %q", name, got, value)
		}
	}
	if w := ask(s, "HEAD", f.URL); w.Code != 200 || w.Body.Len() != 0 || w.Header().Get("Content-Length") != "26" {
		t.Errorf("head: %d, %v", w.Code, w.Header())
	}
	if w := ask(s, "HEAD", f.URL, "Range", "bytes=0-4"); w.Code != 206 || w.Body.Len() != 0 || w.Header().Get("Content-Length") != "5" {
		t.Errorf("head of a range: %d, %v", w.Code, w.Header())
	}
}

// Conditions tell a reader that the file is another one by now.
func TestChanged(t *testing.T) {
	dir := tree(t, map[string]string{"a.jsonl": letters})
	path := filepath.Join(dir, "a.jsonl")
	s := start(t, Options{Runs: Named("a", []NamedFile{{path, "a.jsonl"}})})
	f := listed(t, s)[0].Files[0]
	if w := ask(s, "GET", f.URL, "Range", "bytes=0-0", "If-Range", f.Tag, "If-Match", f.Tag); w.Code != 206 {
		t.Errorf("unchanged: %d", w.Code)
	}
	if err := os.WriteFile(path, []byte(letters+"!"), 0o644); err != nil {
		t.Fatal(err)
	}
	if w := ask(s, "GET", f.URL, "Range", "bytes=0-0", "If-Range", f.Tag); w.Code != 200 || w.Body.String() != letters+"!" {
		t.Errorf("if-range after growth: %d %q", w.Code, w.Body)
	}
	if w := ask(s, "GET", f.URL, "Range", "bytes=0-0", "If-Match", f.Tag); w.Code != http.StatusPreconditionFailed {
		t.Errorf("if-match after growth: %d", w.Code)
	}
	// The same size at another time is another state as well.
	grown := listed(t, s)[0].Files[0]
	if err := os.Chtimes(path, time.Time{}, time.Unix(1, 5)); err != nil {
		t.Fatal(err)
	}
	if again := listed(t, s)[0].Files[0]; again.Tag == grown.Tag || again.Size != grown.Size {
		t.Errorf("tag %s after a change of time", again.Tag)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if w := ask(s, "GET", f.URL); w.Code != 404 {
		t.Errorf("gone: %d", w.Code)
	}
	if files := listed(t, s)[0].Files; len(files) != 0 {
		t.Errorf("still listed: %v", files)
	}
}

func TestSites(t *testing.T) {
	dir := tree(t, map[string]string{"a.jsonl": letters})
	s := start(t, Options{Site: site(t), Runs: Named("a", []NamedFile{{filepath.Join(dir, "a.jsonl"), "a.jsonl"}})})
	for _, c := range []struct {
		headers []string
		status  int
	}{
		{[]string{"Sec-Fetch-Site", "same-origin"}, 200},
		{[]string{"Sec-Fetch-Site", "none"}, 200},
		{[]string{"Sec-Fetch-Site", "same-site"}, 403},
		{[]string{"Sec-Fetch-Site", "cross-site"}, 403},
		{[]string{"Sec-Fetch-Site", "something"}, 403},
		{[]string{"Origin", "http://localhost:7410"}, 200},
		{[]string{"Origin", "http://localhost:7411"}, 403},
		{[]string{"Origin", "null"}, 403},
		{[]string{"Origin", "https://evil.example"}, 403},
	} {
		for _, target := range []string{"/runs", "/runs/0/0"} {
			if w := ask(s, "GET", target, c.headers...); w.Code != c.status {
				t.Errorf("%s with %v: %d, want %d", target, c.headers, w.Code, c.status)
			}
		}
	}
	// Links to the page from anywhere are fine.
	if w := ask(s, "GET", "/", "Sec-Fetch-Site", "cross-site"); w.Code != 200 {
		t.Errorf("page: %d", w.Code)
	}
}

func TestNamedIDs(t *testing.T) {
	dir := tree(t, map[string]string{"a.jsonl": "a", "b.jsonl": "b", "secret": "s"})
	s := start(t, Options{Runs: Named("r", []NamedFile{{filepath.Join(dir, "b.jsonl"), "b"}, {filepath.Join(dir, "a.jsonl"), "a"}})})
	if run := listed(t, s)[0]; run.Files[0].Path != "b" || run.Files[1].Path != "a" {
		t.Errorf("order %+v", run.Files)
	}
	if w := ask(s, "GET", "/runs/0/1"); w.Body.String() != "a" {
		t.Errorf("second: %q", w.Body)
	}
	for _, target := range []string{
		"/runs/0/2", "/runs/1/0", "/runs/0/-1", "/runs/0/+1", "/runs/0/01", "/runs/0/1.0", "/runs/0/", "/runs/1", "/runs//0",
		"/runs/0/99999999999999999999", "/runs/0/../../secret", "/runs/0/..%2f..%2fsecret", "/runs/%2e%2e/secret", "/runs/0/0/0", "/runs/0/0%00",
	} {
		if w := ask(s, "GET", target); w.Code != 404 {
			t.Errorf("%s: %d %q", target, w.Code, w.Body)
		}
	}
}

func TestBelow(t *testing.T) {
	outside := tree(t, map[string]string{"rollouts.jsonl": "outside", "run/rollouts.jsonl": "outside"})
	dir := tree(t, map[string]string{
		"b10/rollouts.jsonl":             "ten",
		"b2/rollouts-rs10.jsonl":         "ten",
		"b2/rollouts-rs2.jsonl":          "two",
		"b2/rollouts-rs2_failures.jsonl": "",
		"b2/notes.txt":                   "notes",
		"b2/.secret.jsonl":               "secret",
		"b2/deep/er/rollouts.jsonl":      "deep",
		".hidden/rollouts.jsonl":         "hidden",
		"logs/out.txt":                   "no run",
		"rollouts.jsonl":                 "top",
	})
	links := map[string]string{
		"b2/inside.jsonl":  "../b10/rollouts.jsonl",
		"b2/outside.jsonl": filepath.Join(outside, "rollouts.jsonl"),
		"b2/up.jsonl":      "../../" + filepath.Base(outside) + "/rollouts.jsonl",
		"linked":           filepath.Join(outside, "run"),
		"loop":             ".",
		"b2/gone.jsonl":    "nothing",
		"b2/dot.jsonl":     ".secret.jsonl",
		"b2/dots.jsonl":    "dot.jsonl",
		"b2/round.jsonl":   "round.jsonl",
		"b2/chain.jsonl":   "inside.jsonl",
		"shown":            ".hidden",
		"b2/folder.jsonl":  "../shown/rollouts.jsonl",
	}
	if runtime.GOOS != "windows" {
		for name, target := range links {
			if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	shelf, err := Below(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer shelf.Close()
	s := start(t, Options{Runs: shelf})
	var got []string
	for _, run := range listed(t, s) {
		got = append(got, run.Name)
		for _, f := range run.Files {
			w := ask(s, "GET", f.URL)
			got = append(got, "  "+f.Path+" "+w.Body.String())
			if int64(w.Body.Len()) != f.Size || w.Header().Get("ETag") != f.Tag {
				t.Errorf("%s: %d bytes of %d, %s", f.Path, w.Body.Len(), f.Size, f.Tag)
			}
		}
	}
	want := []string{
		".", "  rollouts.jsonl top",
		"b2", "  b2/chain.jsonl ten", "  b2/inside.jsonl ten", "  b2/notes.txt notes", "  b2/rollouts-rs2.jsonl two", "  b2/rollouts-rs2_failures.jsonl ", "  b2/rollouts-rs10.jsonl ten",
		"b2/deep/er", "  b2/deep/er/rollouts.jsonl deep",
		"b10", "  b10/rollouts.jsonl ten",
	}
	if runtime.GOOS != "windows" && strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("list:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}

	for _, c := range [][2]string{
		{"b2", ".secret.jsonl"}, {".hidden", "rollouts.jsonl"}, {"b2", "outside.jsonl"}, {"b2", "up.jsonl"}, {"linked", "rollouts.jsonl"},
		{"b2", "gone.jsonl"}, {"b2", "deep"}, {"b2", "deep/er/rollouts.jsonl"}, {"b2", "../b10/rollouts.jsonl"}, {"..", "rollouts.jsonl"},
		{"../" + filepath.Base(outside), "rollouts.jsonl"}, {outside, "rollouts.jsonl"}, {"b2/", "notes.txt"}, {"/b2", "notes.txt"},
		{"b2/../b10", "rollouts.jsonl"}, {"b2", "."}, {"b2", ".."}, {"b2", ""}, {"", "rollouts.jsonl"}, {"b2", "notes.txt\x00"}, {"b2", "\xff"},
		{"b2", `..\..\x`}, {"loop", ".."}, {"loop", "rollouts.jsonl"},
		{"b2", "dot.jsonl"}, {"b2", "dots.jsonl"}, {"b2", "round.jsonl"}, {"shown", "rollouts.jsonl"}, {"b2", "folder.jsonl"},
	} {
		target := fileURL(idOf(c[0]), idOf(c[1]))
		if w := ask(s, "GET", target); w.Code != 404 || strings.Contains(w.Body.String(), "outside") {
			t.Errorf("%q %q: %d %s", c[0], c[1], w.Code, w.Body)
		}
	}
	for _, target := range []string{"/runs/b2/notes.txt", "/runs/" + idOf("b2") + "=/" + idOf("notes.txt"), "/runs/Lg/Lh"} {
		if w := ask(s, "GET", target); w.Code != 404 {
			t.Errorf("%s: %d", target, w.Code)
		}
	}

	for _, dir := range []string{".hidden", "logs", "linked", "loop", "shown", "..", "../x", "", "b2/../b2", "nothing", outside} {
		if w := ask(s, "GET", runURL(idOf(dir))); w.Code != 404 {
			t.Errorf("run %q: %d %s", dir, w.Code, w.Body)
		}
	}

	shelf.entries = 3
	if _, more, err := shelf.List(context.Background()); err != nil || !more {
		t.Errorf("a bounded list: more %v, %v", more, err)
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, _, err := shelf.List(ctx); err == nil {
		t.Error("a list that nobody waits for was made")
	}
	if _, err := Below(filepath.Join(dir, "nothing")); err == nil {
		t.Error("a missing root was taken")
	}
}
