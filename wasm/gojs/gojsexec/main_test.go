package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rollscope/rollscope/wasm/gojs"
)

func TestRun(t *testing.T) {
	dir := t.TempDir()
	wasm, cache := filepath.Join(dir, "guest.wasm"), filepath.Join(dir, "cache")
	cmd := exec.Command("go", "build", "-o", wasm, "../testdata/guest")
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false")
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, msg)
	}
	bad := filepath.Join(dir, "bad.wasm")
	if err := os.WriteFile(bad, []byte("no module"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "sub", "a.txt"), []byte("here"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Join(dir, "sub"))

	for _, tt := range []struct {
		name   string
		args   []string
		stdin  string
		code   int
		stdout string // part
		stderr string // part
		err    string // part
	}{
		{name: "no arguments", code: 2, stderr: "usage: gojsexec"},
		{name: "bad flag", args: []string{"-x"}, code: 2, stderr: "flag provided but not defined"},
		{name: "no file", args: []string{"none.wasm"}, code: 1, err: "none.wasm"},
		{name: "no module", args: []string{"-cache", cache, bad}, code: 1, err: "invalid magic"},
		{name: "arguments", args: []string{"-cache", cache, wasm, "args", "-a", "b c"}, stdout: `["-a" "b c"]`},
		{name: "environment", args: []string{"-cache", cache, wasm, "env", "TMPDIR"}, stdout: `"/.gojsexec-scratch"`},
		{name: "too long", args: []string{"-cache", cache, wasm, "env", "KEPT"}, stdout: `"yes"`, stderr: "left out: HUGE\n"},
		{name: "exit code", args: []string{"-cache", cache, wasm, "exit"}, code: 7},
		{name: "panic", args: []string{"-cache", cache, wasm, "panic"}, code: 2, stderr: "panic: boom"},
		{name: "deadlock", args: []string{"-cache", cache, wasm, "deadlock"}, code: 2, stderr: "all goroutines are asleep"},
		{name: "files", args: []string{"-cache", cache, wasm, "cat", "../sub/a.txt"}, stdout: `"here" <nil>`},
		{name: "scratch", args: []string{"-cache", cache, wasm, "scratch"}, stdout: "hello world <nil>"},
		{name: "input", args: []string{"-cache", cache, wasm, "stdin"}, stdin: "one\n", stdout: "line one\n<nil>\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			env := []string{"KEPT=yes", "TMPDIR=/elsewhere"}
			if tt.name == "too long" {
				env = append(env, "HUGE="+strings.Repeat("x", gojs.ArgsRoom))
			}
			var stdout, stderr bytes.Buffer
			code, err := run(tt.args, env, strings.NewReader(tt.stdin), &stdout, &stderr)
			if code != tt.code {
				t.Errorf("code %d, want %d", code, tt.code)
			}
			if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
				t.Errorf("error %v, want %q", err, tt.err)
			}
			if !strings.Contains(stdout.String(), tt.stdout) || !strings.Contains(stderr.String(), tt.stderr) {
				t.Errorf("standard output %q, want %q; standard error %q, want %q", stdout.String(), tt.stdout, stderr.String(), tt.stderr)
			}
		})
	}
	if entries, err := os.ReadDir(cache); err != nil || len(entries) < 2 {
		t.Errorf("nothing was cached: %v, %v", entries, err)
	}
}

func TestFit(t *testing.T) {
	args := []string{"prog"}
	env := []string{"A=" + strings.Repeat("a", 3000), "B=b", "C=" + strings.Repeat("c", 5000), "D=" + strings.Repeat("d", 4000)}
	kept, left := fit(args, env)
	if !slices.Equal(left, []string{"C"}) || !slices.Equal(kept, []string{env[0], env[1], env[3]}) {
		t.Errorf("kept %d entries, left out %q", len(kept), left)
	}
	if kept, left := fit(args, env[:2]); len(left) != 0 || len(kept) != 2 {
		t.Errorf("kept %d entries, left out %q", len(kept), left)
	}
}

func TestPrune(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	now := time.Date(2024, 5, 20, 12, 0, 0, 0, time.UTC)
	if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(name string, age time.Duration) {
		t.Helper()
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(p, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	there := func(name string) bool {
		_, err := os.Stat(filepath.Join(dir, name))
		return err == nil
	}
	write("sub/old", 6*24*time.Hour)
	write("sub/new", 4*24*time.Hour)
	if err := prune(dir, now); err != nil {
		t.Fatal(err)
	}
	if there("sub/old") || !there("sub/new") {
		t.Errorf("old is there: %v, new is there: %v", there("sub/old"), there("sub/new"))
	}
	// Once a day is enough.
	write("sub/old", 6*24*time.Hour)
	if err := prune(dir, now.Add(23*time.Hour)); err != nil || !there("sub/old") {
		t.Errorf("pruned again on the same day, error %v", err)
	}
	if err := prune(dir, now.Add(25*time.Hour)); err != nil || there("sub/old") {
		t.Errorf("not pruned on the next day, error %v", err)
	}
}
