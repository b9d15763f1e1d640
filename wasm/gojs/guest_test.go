package gojs_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/sys"

	"github.com/rollscope/rollscope/wasm/gojs"
)

// hostFunctions are the functions of the host that the cases of the guest call.
func hostFunctions(in *gojs.Instance) error {
	set := func(name string, f gojs.Func) { in.Global().Set(name, in.NewFunc(name, f)) }
	set("fetchRow", func(_ context.Context, _ gojs.Value, args []gojs.Value) (gojs.Value, error) {
		n := args[0].(gojs.Number)
		return in.Async(func() (gojs.Value, error) {
			if n < 0 {
				return nil, errors.New("no such row")
			}
			return gojs.String(fmt.Sprint("row ", n)), nil
		}), nil
	})
	set("callMe", func(ctx context.Context, _ gojs.Value, args []gojs.Value) (gojs.Value, error) {
		return in.Invoke(ctx, args[0], nil, args[1])
	})
	set("twice", func(_ context.Context, _ gojs.Value, args []gojs.Value) (gojs.Value, error) {
		return args[0].(gojs.Number) * 2, nil
	})
	set("values", func(context.Context, gojs.Value, []gojs.Value) (gojs.Value, error) {
		return gojs.Number(in.LiveValues()), nil
	})
	set("fail", func(_ context.Context, _ gojs.Value, args []gojs.Value) (gojs.Value, error) {
		if args[0] == gojs.String("coded") {
			e := in.NewError("with code")
			e.Set("code", gojs.String("E1"))
			return nil, &gojs.Throw{Value: e}
		}
		return nil, errors.New("it failed")
	})
	return nil
}

func TestGuest(t *testing.T) {
	tree := fstest.MapFS{
		"data/a.txt":     {Data: []byte("alpha\n"), Mode: 0o644, ModTime: epoch},
		"data/link":      {Data: []byte("a.txt"), Mode: fs.ModeSymlink | 0o777, ModTime: epoch},
		"data/sub/b.txt": {Data: []byte("0123456789"), Mode: 0o600, ModTime: epoch},
	}
	tests := []struct {
		name   string
		args   []string
		cfg    gojs.Config
		stdout string
		code   int
		stderr []string // parts
	}{
		{name: "args", args: []string{"", "a b", "ü", "x"}, stdout: `["" "a b" "ü" "x"]` + "\n"},
		{name: "env", args: []string{"NAME"}, cfg: gojs.Config{Env: []string{"A=1", "NAME=va=lue"}}, stdout: `"va=lue" ""` + "\n"},
		{name: "exit", code: 7},
		{name: "panic", code: 2, stderr: []string{"panic: boom", "main.inner("}},
		{name: "nil", code: 2, stderr: []string{"nil pointer dereference"}},
		{name: "zone", cfg: gojs.Config{Location: time.FixedZone("", -(3*3600 + 1800))}, stdout: "08:30 -0330 2024-02-29T23:59:59Z\n"},
		{name: "timers", stdout: "tick 1\ntick 2\ntick 3\none\njs\nthree\nfour true\n4h0m0s\n"},
		{name: "workers", stdout: "332833500\n"},
		{name: "promise", stdout: "row 3 <nil>\nJavaScript error: no such row\nrow 1 2\n"},
		{name: "wait", stdout: "47\n"},
		{name: "garbage", stdout: "true\n"},
		{name: "files", cfg: gojs.Config{FS: tree, Dir: "/data"}, stdout: `"alpha\n" <nil>
a.txt false link false sub true <nil>
<nil>
234 89 10 -rw------- 2024-02-29T23:59:59Z
true
open none: No such file or directory true
open new.txt: Read-only file system
remove a.txt: Read-only file system
read sub: Is a directory
<nil> chdir /nowhere: No such file or directory
/data/sub <nil>
<nil>
`},
		{name: "scratch", cfg: gojs.Config{Scratch: "/scratch", Env: []string{"TMPDIR=/scratch"}}, stdout: `true
hello world <nil>
2 -r-------- 5 <nil>
<nil>
"he\x00\x00\x00\x00Z" <nil> -rw-r-----
true true <nil> true
true
true
true
true
true true true true true true true true true true
3 b true <nil>
true <nil> true
<nil>
true
`},
		{name: "cat", args: []string{"a.txt"}, stdout: `"" open a.txt: not implemented on js` + "\n"},
		{name: "cat", args: []string{"/a.txt"}, cfg: gojs.Config{Scratch: "/scratch"}, stdout: `"" open /a.txt: No such file or directory` + "\n"},
		{name: "link", args: []string{"link"}, cfg: gojs.Config{FS: tree, Dir: "/data"}, stdout: "a.txt <nil>\nL--------- <nil>\n\"alpha\\n\" <nil>\n"},
		{name: "cat", args: []string{"/data/a.txt"}, cfg: gojs.Config{FS: plainFS{tree}}, stdout: `"alpha\n" <nil>` + "\n"},
		{name: "stdin", cfg: gojs.Config{Stdin: strings.NewReader("one\ntwo")}, stdout: "line one\nline two\n<nil>\n"},
		{name: "recursion", stdout: "true maximum call depth exceeded true\n"},
		{name: "exitlater", code: 4},
		{name: "jsexit", code: 9},
		{name: "console", stdout: "1 two null 3,\n"},
		{name: "throw", stdout: `error: it failed <undefined>
error: with code E1
other: syscall/js: Value.Call: property none is not a function, got undefined
error: invalid array length <undefined>
error: invalid typed array length: 1099511627776 <undefined>
error: this host does not evaluate code <undefined>
error: ENOSYS: no groups in this host ENOSYS
`},
		{name: "random", cfg: gojs.Config{Rand: ones{}}, stdout: "1 1 1 1\n"},
		{name: "released", stdout: "true\n", stderr: []string{"call to released function"}},
		{name: "unknown", code: 3, stderr: []string{"no such case"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.cfg.Args = append([]string{"guest", tt.name}, tt.args...)
			tt.cfg.Setup = hostFunctions
			in, o := start(t, module(t, "guest"), tt.cfg)
			err := in.Run(t.Context())
			code, exited := in.ExitCode()
			if !exited || code != tt.code || (err == nil) != (code == 0) {
				t.Errorf("exited %v with code %d, want %d; error %v\n%s", exited, code, tt.code, err, o.stderr.String())
			}
			o.want(t, tt.stdout)
			for _, part := range tt.stderr {
				if !strings.Contains(o.stderr.String(), part) {
					t.Errorf("standard error lacks %q:\n%s", part, o.stderr.String())
				}
			}
			if len(tt.stderr) == 0 && o.stderr.Len() > 0 {
				t.Errorf("unexpected standard error:\n%s", o.stderr.String())
			}
		})
	}
}

var update = flag.Bool("update", false, "rewrite the golden files")

// The object model treats the edges of values as the toolchain's own host does
// with a real JavaScript engine.
func TestLanguage(t *testing.T) {
	in, o := start(t, module(t, "guest"), gojs.Config{Args: []string{"guest", "language"}})
	if err := in.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/language.golden"
	if *update {
		if err := os.WriteFile(golden, o.stdout.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	o.want(t, string(want))
}

// plainFS hides everything of a file system but Open, and of its files all but
// what fs.File needs.
type plainFS struct{ fsys fs.FS }

func (p plainFS) Open(name string) (fs.File, error) {
	f, err := p.fsys.Open(name)
	return struct{ fs.File }{f}, err
}

// ones is a source of randomness that is none.
type ones struct{}

func (ones) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 1
	}
	return len(b), nil
}

func TestExitError(t *testing.T) {
	in, _ := start(t, module(t, "guest"), gojs.Config{Args: []string{"guest", "panic"}})
	err := in.Run(t.Context())
	var exit *gojs.ExitError
	if !errors.As(err, &exit) || exit.Code != 2 || exit.Message != "panic: boom" {
		t.Errorf("error %v", err)
	}
	var low *sys.ExitError
	if !errors.As(err, &low) || low.ExitCode() != 2 {
		t.Errorf("no exit error of wazero in %v", err)
	}
	if _, err := in.Invoke(t.Context(), in.Global().Get("queueMicrotask"), nil); !errors.As(err, &exit) {
		t.Errorf("use after the exit: %v", err)
	}
}

func TestDeadlock(t *testing.T) {
	in, o := start(t, module(t, "guest"), gojs.Config{Args: []string{"guest", "deadlock"}})
	if err := in.Run(t.Context()); !errors.Is(err, gojs.ErrDeadlock) {
		t.Errorf("error %v", err)
	}
	if code, exited := in.ExitCode(); !exited || code != 2 {
		t.Errorf("exited %v with code %d", exited, code)
	}
	for _, part := range []string{"all goroutines are asleep - deadlock!", "sync.(*Mutex).Lock"} {
		if !strings.Contains(o.stderr.String(), part) {
			t.Errorf("standard error lacks %q:\n%s", part, o.stderr.String())
		}
	}
}

// A guest that waits to be called is no deadlock for Settle, which finishes
// what a call set going.
func TestSettle(t *testing.T) {
	in, o := start(t, module(t, "guest"), gojs.Config{Args: []string{"guest", "park"}})
	ctx := t.Context()
	if err := in.Settle(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Invoke(ctx, in.Global().Get("later"), nil); err != nil {
		t.Fatal(err)
	}
	o.want(t, "")
	if err := in.Settle(ctx); err != nil {
		t.Fatal(err)
	}
	o.want(t, "later\n")
	if _, exited := in.ExitCode(); exited {
		t.Error("the guest has exited")
	}
}

func TestPush(t *testing.T) {
	in, o := start(t, module(t, "guest"), gojs.Config{Args: []string{"guest", "funcs"}, Setup: hostFunctions})
	ctx := t.Context()
	call := func(name string, args ...gojs.Value) gojs.Value {
		t.Helper()
		this := in.NewObject()
		this.Set("name", gojs.String("it"))
		v, err := in.Invoke(ctx, in.Global().Get(name), this, args...)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	want := 0
	for n := range 100 {
		b := make([]byte, n*100)
		for i := range b {
			b[i] = byte(i)
			want += int(b[i])
		}
		if got := call("push", in.NewUint8Array(b)); got != gojs.Number(want) {
			t.Fatalf("push %d: %v, want %d", n, got, want)
		}
	}
	if got := call("grow", gojs.Number(3000)); got != gojs.Number(42) {
		t.Errorf("grow: %v", got)
	}
	if got := call("self", gojs.Null{}, gojs.Bool(true)); got != gojs.String("it2 true") {
		t.Errorf("self: %v", got)
	}
	_, err := in.Invoke(ctx, gojs.Number(1), nil)
	var thrown *gojs.Throw
	if !errors.As(err, &thrown) || gojs.Text(thrown.Value) != "TypeError: 1 is not a function" {
		t.Errorf("call of a number: %v", err)
	}
	// The answer of the last call is lost, since main returns before it arrives.
	var exit *gojs.ExitError
	if _, err := in.Invoke(ctx, in.Global().Get("stop"), nil); !errors.As(err, &exit) || exit.Code != 0 {
		t.Errorf("stop: %v", err)
	}
	if err := in.Run(ctx); err != nil {
		t.Fatal(err)
	}
	o.want(t, fmt.Sprintf("stopped %d\n", want))
}

// Tasks may be posted while the loop waits, and their errors end it.
func TestPost(t *testing.T) {
	in, o := start(t, module(t, "guest"), gojs.Config{Args: []string{"guest", "park"}, Setup: hostFunctions})
	ctx := t.Context()
	release := make(chan struct{})
	p := in.Async(func() (gojs.Value, error) { <-release; return gojs.Number(5), nil })
	var got gojs.Value
	then := in.NewFunc("", func(_ context.Context, _ gojs.Value, args []gojs.Value) (gojs.Value, error) {
		got = args[0]
		return nil, nil
	})
	if _, err := in.Invoke(ctx, p.Get("then"), p, then); err != nil {
		t.Fatal(err)
	}
	in.Post(func(context.Context) error { close(release); return nil })
	if err := in.Settle(ctx); err != nil {
		t.Fatal(err)
	}
	if got != gojs.Number(5) {
		t.Errorf("the promise gave %v", got)
	}
	bad := errors.New("bad task")
	in.Post(func(context.Context) error { return bad })
	if err := in.Settle(ctx); !errors.Is(err, bad) {
		t.Errorf("error %v", err)
	}
	in.Post(func(ctx context.Context) error { return in.Settle(ctx) })
	if err := in.Settle(ctx); err == nil || !strings.Contains(err.Error(), "already running") {
		t.Errorf("a loop inside the loop: %v", err)
	}
	fail := in.NewFunc("", func(context.Context, gojs.Value, []gojs.Value) (gojs.Value, error) { return nil, bad })
	if _, err := in.Invoke(ctx, in.Global().Get("setTimeout"), nil, fail, gojs.Number(1)); err != nil {
		t.Fatal(err)
	}
	if err := in.Settle(ctx); err != nil {
		t.Fatal(err)
	}
	if got := o.stderr.String(); got != "Uncaught bad task\n" {
		t.Errorf("standard error %q", got)
	}
}

// A guest that never stops is ended by its context, if the runtime is made so.
func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	rt := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter().WithCloseOnContextDone(true))
	defer rt.Close(context.Background())
	m, err := gojs.Compile(ctx, rt, build(t, "js", "build", "./testdata/guest"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Start(ctx, gojs.Config{Args: []string{"guest", "spin"}, Setup: func(in *gojs.Instance) error {
		in.Global().Set("cancel", in.NewFunc("cancel", func(context.Context, gojs.Value, []gojs.Value) (gojs.Value, error) {
			cancel()
			return nil, nil
		}))
		return nil
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestMemoryLimit(t *testing.T) {
	ctx := t.Context()
	rt := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter().WithMemoryLimitPages(1024))
	defer rt.Close(ctx)
	m, err := gojs.Compile(ctx, rt, build(t, "js", "build", "./testdata/guest"))
	if err != nil {
		t.Fatal(err)
	}
	in, o := start(t, m, gojs.Config{Args: []string{"guest", "memory"}})
	err = in.Run(ctx)
	if code, exited := in.ExitCode(); !exited || code != 2 || !strings.Contains(o.stderr.String(), "out of memory") {
		t.Errorf("exited %v with code %d, error %v\n%s", exited, code, err, o.stderr.String())
	}
}

// Two instances of one module share nothing.
func TestTwoInstances(t *testing.T) {
	ctx := t.Context()
	a, outA := start(t, module(t, "guest"), gojs.Config{Args: []string{"guest", "funcs"}, Setup: hostFunctions})
	b, outB := start(t, module(t, "guest"), gojs.Config{Args: []string{"guest", "funcs"}, Setup: hostFunctions})
	for i, in := range []*gojs.Instance{a, b, a} {
		if _, err := in.Invoke(ctx, in.Global().Get("push"), nil, in.NewUint8Array([]byte{byte(i + 1)})); err != nil {
			t.Fatal(err)
		}
	}
	for _, in := range []*gojs.Instance{a, b} {
		if err := in.Settle(ctx); err != nil {
			t.Fatal(err)
		}
		in.Post(func(ctx context.Context) error {
			_, err := in.Invoke(ctx, in.Global().Get("stop"), nil)
			return err
		})
		if err := in.Run(ctx); err != nil {
			t.Fatal(err)
		}
	}
	outA.want(t, "stopped 4\n")
	outB.want(t, "stopped 2\n")
}

func TestConfigErrors(t *testing.T) {
	m := module(t, "guest")
	for _, tt := range []struct {
		cfg  gojs.Config
		want string
	}{
		{gojs.Config{Args: []string{"a\x00b"}}, "contains a NUL"},
		{gojs.Config{Dir: "here"}, "not absolute"},
		{gojs.Config{Scratch: "scratch"}, "not absolute"},
		{gojs.Config{Scratch: "/"}, "cannot be the root"},
		{gojs.Config{Env: []string{"A=" + strings.Repeat("x", 9000)}}, "has room for 8192"},
		{gojs.Config{Setup: func(*gojs.Instance) error { return errors.New("not today") }}, "setup: not today"},
	} {
		_, err := m.Start(t.Context(), tt.cfg)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("error %v, want %q", err, tt.want)
		}
	}
}

// The room for arguments is used to the last byte.
func TestArgsRoom(t *testing.T) {
	args := []string{"guest", "env", "A"}
	env := []string{"A="}
	env[0] += strings.Repeat("x", gojs.ArgsRoom-gojs.ArgsSize(args, env)+5)
	if n := gojs.ArgsSize(args, env); n != gojs.ArgsRoom {
		t.Fatalf("%d bytes", n)
	}
	in, o := start(t, module(t, "guest"), gojs.Config{Args: args, Env: env})
	if err := in.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	o.want(t, fmt.Sprintf("%q %q\n", env[0][2:], ""))
	env[0] += "xxx"
	if _, err := module(t, "guest").Start(t.Context(), gojs.Config{Args: args, Env: env}); err == nil {
		t.Error("arguments beyond the room were accepted")
	}
}

func TestVirtualClock(t *testing.T) {
	c := gojs.VirtualClock(epoch)
	start := c.Elapsed()
	if err := c.Wait(t.Context(), time.Hour, nil); err != nil {
		t.Fatal(err)
	}
	if d := c.Elapsed() - start; d != time.Hour+time.Microsecond {
		t.Errorf("%v passed", d)
	}
	if d := c.Now().Sub(epoch); d != time.Hour+3*time.Microsecond {
		t.Errorf("the wall clock moved by %v", d)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []gojs.Clock{c, gojs.SystemClock()} {
		if err := c.Wait(ctx, time.Hour, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	}
	wake := make(chan struct{}, 1)
	wake <- struct{}{}
	if err := gojs.SystemClock().Wait(t.Context(), time.Hour, wake); err != nil {
		t.Error(err)
	}
}
