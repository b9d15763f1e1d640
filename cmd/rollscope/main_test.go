package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "write what the scripts expect anew")

// page stands for the built page.
var page = fstest.MapFS{
	"page.js":              {Data: []byte("// page")},
	"worker.js":            {Data: []byte("// worker")},
	"static/service.js":    {Data: []byte("// service worker")},
	"built/wasm_exec.js":   {Data: []byte("// loader")},
	"built/rollscope.wasm": {Data: []byte("module")},
}

func withPage(assets fs.FS) *host {
	h := newHost()
	h.cpus = 2 // what the help says is the same everywhere
	h.assets = assets
	h.browse = func(string) error { return errors.New("there is no browser in tests") }
	return h
}

// asCommand makes the test program the command, for the test that sends it a signal.
const asCommand = "ROLLSCOPE_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		os.Exit(run(withPage(page)))
	}
	testscript.Main(m, map[string]func(){
		"rollscope": func() { os.Exit(run(withPage(page))) },
		// A program that was built without the module.
		"rollscope-unbuilt": func() { os.Exit(run(withPage(fstest.MapFS{}))) },
	})
}

func TestScripts(t *testing.T) {
	cases, err := filepath.Abs("../../testdata/cases")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status": runStatus,
			// "cut FILE" takes the last byte away.
			"cut": func(ts *testscript.TestScript, _ bool, args []string) {
				path := ts.MkAbs(args[0])
				info, err := os.Stat(path)
				ts.Check(err)
				ts.Check(os.Truncate(path, info.Size()-1))
			},
			// "pack FROM TO" packs a file with gzip.
			"pack": func(ts *testscript.TestScript, _ bool, args []string) {
				text, err := os.ReadFile(ts.MkAbs(args[0]))
				ts.Check(err)
				var b bytes.Buffer
				w := gzip.NewWriter(&b)
				_, err = w.Write(text)
				ts.Check(err)
				ts.Check(w.Close())
				ts.Check(os.WriteFile(ts.MkAbs(args[1]), b.Bytes(), 0o666))
			},
			// "case NAME" copies a folder of hard cases.
			"case": func(ts *testscript.TestScript, _ bool, args []string) {
				ts.Check(os.CopyFS(ts.MkAbs(args[0]), os.DirFS(filepath.Join(cases, args[0]))))
			},
			// "project NAME" copies a run with its captures, raw and finished.
			"project": func(ts *testscript.TestScript, _ bool, args []string) {
				ts.Check(os.CopyFS(ts.MkAbs(args[0]), os.DirFS(filepath.Join(filepath.Dir(cases), "project", args[0]))))
			},
			// "escape NAME TEXT" sets a variable to the text and a sequence that colours a terminal.
			"escape": func(ts *testscript.TestScript, _ bool, args []string) { ts.Setenv(args[0], args[1]+"\x1b[31m") },
		},
	})
}

// runStatus is the script command "status N PROGRAM ARGS…": the program must end with exit status N.
func runStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N PROGRAM ARGS…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var ended *exec.ExitError
		if !errors.As(err, &ended) {
			ts.Fatalf("%v", err)
		}
		got = ended.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

// A quiet host writes into buffers.
func quietHost() (h *host, out, talk *bytes.Buffer) {
	h = withPage(page)
	out, talk = new(bytes.Buffer), new(bytes.Buffer)
	h.out, h.err = out, talk
	h.env = func(string) string { return "" }
	return h, out, talk
}

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// The reports of an empty file are those of the reference, to the byte.
func TestEmptyFile(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "rollouts.jsonl", "")
	h, _, talk := quietHost()
	if code := h.run(context.Background(), []string{"health", dir, "-o", filepath.Join(dir, "new", "reports")}); code != exitDone {
		t.Fatalf("status %d: %s", code, talk)
	}
	summary, err := os.ReadFile(filepath.Join(dir, "new", "reports", "quality_summary.json"))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(summary)
	if got := hex.EncodeToString(sum[:]); got != "704c441fb9246fd0cc368ad21ad7836bc89f7d7d31eb8db14dfbf602ac47f16d" {
		t.Errorf("summary of %d bytes has the hash %s", len(summary), got)
	}
	verdicts, err := os.ReadFile(filepath.Join(dir, "new", "reports", "rollout_verdicts.jsonl"))
	if err != nil || len(verdicts) != 0 {
		t.Errorf("verdicts %q, %v", verdicts, err)
	}
}

// An interrupted command leaves nothing behind and says so with its status.
func TestInterrupted(t *testing.T) {
	for _, args := range [][]string{{"health"}, {"rows"}, {"health", "--json"}} {
		dir := t.TempDir()
		path := write(t, dir, "rollouts.jsonl", strings.Repeat("{}\n", 10000))
		ctx, stop := context.WithCancelCause(context.Background())
		stop(errors.New("interrupt signal received"))
		h, out, talk := quietHost()
		args = append(args, path)
		if args[0] == "health" {
			args = append(args, "-o", filepath.Join(dir, "reports"))
		}
		if code := h.run(ctx, args); code != exitInterrupted {
			t.Errorf("%q: status %d: %s", args, code, talk)
		}
		if out.Len() > 0 || talk.String() != "rollscope: interrupted\n" {
			t.Errorf("%q: output %q, talk %q", args, out, talk)
		}
		if _, err := os.Stat(filepath.Join(dir, "reports")); err == nil {
			t.Errorf("%q: a directory was made", args)
		}
	}
}

// Whatever goes wrong while files are written, none of them and no draft is left.
func TestSaveLeavesNothing(t *testing.T) {
	failed := errors.New("disk full")
	for name, second := range map[string]func(stop func()) func(io.Writer) error{
		"failure": func(func()) func(io.Writer) error {
			return func(w io.Writer) error { io.WriteString(w, "half"); return failed }
		},
		"interrupt": func(stop func()) func(io.Writer) error {
			return func(w io.Writer) error { stop(); _, err := io.WriteString(w, "more"); return err }
		},
	} {
		dir := t.TempDir()
		write(t, dir, "second", "old")
		ctx, stop := context.WithCancel(context.Background())
		err := save(ctx, dir, nil, []product{
			{"first", func(w io.Writer) error { _, err := io.WriteString(w, "one"); return err }},
			{"second", second(stop)},
		})
		if err == nil {
			t.Errorf("%s: no error", name)
		}
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) != 1 {
			t.Errorf("%s: left %v, %v", name, entries, err)
		}
		if b, err := os.ReadFile(filepath.Join(dir, "second")); string(b) != "old" {
			t.Errorf("%s: the old file is %q, %v", name, b, err)
		}
		stop()
	}
}

// Ctrl-C is how a server ends: its status is 0, and standard output holds the address alone.
func TestViewUntilInterrupted(t *testing.T) {
	dir := t.TempDir()
	path := write(t, dir, "rollouts.jsonl", "{}\n")
	for _, paths := range [][]string{nil, {dir}, {path}} {
		h, _, talk := quietHost()
		r, w := io.Pipe()
		h.out = w
		ctx, stop := context.WithCancel(context.Background())
		ended := make(chan int, 1)
		go func() {
			ended <- h.run(ctx, append([]string{"view", "--no-open", "--print-url", "--addr", "127.0.0.1:0"}, paths...))
			w.Close()
		}()
		lines := bufio.NewReader(r)
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("%q: no address: %v %s", paths, err, talk)
		}
		url := strings.TrimSuffix(line, "\n")
		body := get(t, url)
		if got := strings.Contains(body, `data-runs="/runs/0"`); got != (paths != nil) {
			t.Errorf("%q: runs named: %v", paths, got)
		}
		if got := strings.Contains(body, "data-sample"); got != (paths == nil) {
			t.Errorf("%q: sample named: %v", paths, got)
		}
		if paths != nil {
			if got := get(t, url+"runs/0/0"); got != "{}\n" {
				t.Errorf("%q: file %q", paths, got)
			}
		}
		stop()
		if code := <-ended; code != exitDone {
			t.Errorf("%q: status %d: %s", paths, code, talk)
		}
		if rest, err := io.ReadAll(lines); err != nil || len(rest) > 0 {
			t.Errorf("%q: more output: %q, %v", paths, rest, err)
		}
		if talk.Len() > 0 {
			t.Errorf("%q: talk: %s", paths, talk)
		}
	}
}

func get(t *testing.T, url string) string {
	t.Helper()
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %v", url, r.StatusCode, err)
	}
	return string(b)
}

// The signal itself: the process ends in order.
func TestSignal(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "view", "--no-open", "--print-url", "--addr", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), asCommand+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Errorf("no address: %v", err)
	}
	if got := get(t, strings.TrimSuffix(line, "\n")+"healthz"); got != "ok\n" {
		t.Errorf("healthz: %q", got)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("after the signal: %v", err)
	}
}

// A taken port makes view take the next one; serve says that it is taken.
func TestTakenPort(t *testing.T) {
	first, err := listen("127.0.0.1:0", true)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	addr := first.Addr().String()
	second, err := listen(addr, true)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if second.Addr().String() == addr {
		t.Errorf("both listen at %s", addr)
	}
	if third, err := listen(addr, false); err == nil {
		third.Close()
		t.Errorf("%s was taken twice", addr)
	}
	for _, bad := range []string{"", "localhost", ":", "1.2.3.4:99999", "127.0.0.1:-1", "a:b:c"} {
		if l, err := listen(bad, true); err == nil {
			l.Close()
			t.Errorf("%q was listened at", bad)
		}
	}
	if l, err := listen(":0", true); err != nil || !strings.HasPrefix(address(l), "http://127.0.0.1:") {
		t.Errorf("an address without host: %v", err)
	} else {
		l.Close()
	}
}
