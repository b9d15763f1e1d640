package gojs_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tetratelabs/wazero/api"

	"github.com/rollscope/rollscope/wasm/gojs"
)

// desks are the two builds of the same exports, each driven by the same code.
var desks = []struct {
	name  string
	start func(t *testing.T) (gojs.Guest, *output)
}{
	{"js", func(t *testing.T) (gojs.Guest, *output) {
		return start(t, module(t, "desk"), gojs.Config{})
	}},
	{"wasip1", func(t *testing.T) (gojs.Guest, *output) {
		o := &output{}
		r, err := reactor(t).Start(t.Context(), gojs.Config{
			Stdout: &o.stdout, Stderr: &o.stderr, Clock: gojs.VirtualClock(epoch),
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { r.Close(context.Background()) })
		return r, o
	}},
}

var reactorOnce = sync.OnceValues(func() (*gojs.ReactorModule, error) {
	return gojs.CompileReactor(context.Background(), shared(), reactorWasm)
})

var reactorWasm []byte

func reactor(t *testing.T) *gojs.ReactorModule {
	t.Helper()
	reactorWasm = build(t, "wasip1", "build", "-buildmode=c-shared", "./testdata/desk")
	m, err := reactorOnce()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func eachDesk(t *testing.T, f func(t *testing.T, g gojs.Guest, o *output)) {
	for _, d := range desks {
		t.Run(d.name, func(t *testing.T) {
			g, o := d.start(t)
			f(t, g, o)
		})
	}
}

func call32(t *testing.T, g gojs.Guest, name string, args ...int32) int32 {
	t.Helper()
	n, err := g.CallInt32(t.Context(), name, args...)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// feed pushes data through the guest's buffer.
func feed(t *testing.T, g gojs.Guest, data []byte) int32 {
	t.Helper()
	addr := call32(t, g, "buf", int32(len(data)))
	if err := g.WriteMemory(uint32(addr), data); err != nil {
		t.Fatal(err)
	}
	return call32(t, g, "feed", int32(len(data)))
}

func answer(t *testing.T, g gojs.Guest) []byte {
	t.Helper()
	b, err := g.ReadMemory(uint32(call32(t, g, "out")), uint32(call32(t, g, "outlen")))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestDesk(t *testing.T) {
	eachDesk(t, func(t *testing.T, g gojs.Guest, o *output) {
		lines := int32(0)
		for i := range 20 {
			data := []byte(strings.Repeat("line\n", i*1000) + "rest")
			lines += int32(i * 1000)
			if got := feed(t, g, data); got != lines {
				t.Fatalf("%d lines, want %d", got, lines)
			}
		}
		call32(t, g, "call", 1, 6)
		if got, want := string(answer(t, g)), fmt.Sprintf("%d lines, LINE\nL", lines); got != want {
			t.Errorf("answer %q, want %q", got, want)
		}
		if got := call32(t, g, "call", 2, 5000); got != 5000 {
			t.Errorf("goroutines: %d", got)
		}
		call32(t, g, "call", 7, 8)
		o.want(t, "written 8\n")
		if _, exited := g.ExitCode(); exited {
			t.Error("the guest has exited")
		}
	})
}

// The memory grows in the middle of calls; nothing that the host holds may go stale.
func TestDeskMemoryGrowth(t *testing.T) {
	eachDesk(t, func(t *testing.T, g gojs.Guest, _ *output) {
		before := g.Memory().Size()
		for _, n := range []int32{1 << 10, 1 << 20, 32 << 20, 5} {
			call32(t, g, "call", 3, n)
			b := answer(t, g)
			if len(b) != int(n) {
				t.Fatalf("%d bytes, want %d", len(b), n)
			}
			for i := range b {
				if b[i] != byte(i) {
					t.Fatalf("byte %d of %d is %d", i, n, b[i])
				}
			}
		}
		if after := g.Memory().Size(); after <= before {
			t.Errorf("the memory did not grow: %d, %d", before, after)
		}
		if n := feed(t, g, bytes.Repeat([]byte("x\n"), 20<<20)); n != 20<<20 {
			t.Errorf("%d lines", n)
		}
	})
}

func TestDeskPanic(t *testing.T) {
	eachDesk(t, func(t *testing.T, g gojs.Guest, o *output) {
		_, err := g.CallInt32(t.Context(), "call", 4, 3)
		var exit *gojs.ExitError
		if !errors.As(err, &exit) || exit.Code != 2 || exit.Message != "panic: boom 3" {
			t.Errorf("error %v", err)
		}
		if code, exited := g.ExitCode(); !exited || code != 2 {
			t.Errorf("exited %v with code %d", exited, code)
		}
		if !strings.Contains(o.stderr.String(), "main.call(") {
			t.Errorf("no stack on standard error:\n%s", o.stderr.String())
		}
		if _, err := g.CallInt32(t.Context(), "feed", 0); !errors.As(err, &exit) {
			t.Errorf("a call after the end: %v", err)
		}
	})
}

func TestDeskExit(t *testing.T) {
	for _, code := range []int32{0, 5} {
		eachDesk(t, func(t *testing.T, g gojs.Guest, _ *output) {
			_, err := g.CallInt32(t.Context(), "call", 5, code)
			var exit *gojs.ExitError
			if !errors.As(err, &exit) || exit.Code != int(code) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// A js export that sleeps never gets its result; a reactor sleeps for real.
func TestDeskSleep(t *testing.T) {
	eachDesk(t, func(t *testing.T, g gojs.Guest, _ *output) {
		n, err := g.CallInt32(t.Context(), "call", 6, 0)
		if _, js := g.(*gojs.Instance); !js {
			if n != 99 || err != nil {
				t.Errorf("%d, %v", n, err)
			}
			return
		}
		if !errors.Is(err, gojs.ErrBlocked) {
			t.Errorf("error %v", err)
		}
		if _, err := g.CallInt32(t.Context(), "feed", 0); !errors.Is(err, gojs.ErrBlocked) {
			t.Errorf("a call after it: %v", err)
		}
	})
}

func TestDeskCalls(t *testing.T) {
	eachDesk(t, func(t *testing.T, g gojs.Guest, _ *output) {
		ctx := t.Context()
		res, err := g.Call(ctx, "mixed", api.EncodeI32(-1), api.EncodeI64(-1<<40), api.EncodeF32(0.5), api.EncodeF64(0.25))
		if err != nil || len(res) != 1 || api.DecodeF64(res[0]) != -1-(1<<40)+0.75 {
			t.Errorf("mixed: %v, %v", res, err)
		}
		if res, err := g.Call(ctx, "nothing"); err != nil || len(res) != 0 {
			t.Errorf("nothing: %v, %v", res, err)
		}
		if fn := g.ExportedFunction("outlen"); fn == nil {
			t.Error("no function outlen")
		} else if res, err := fn.Call(ctx); err != nil || len(res) != 1 {
			t.Errorf("outlen: %v, %v", res, err)
		} else if err := fn.CallWithStack(ctx, nil); err == nil {
			t.Error("a stack without room for the result was accepted")
		}
		for _, name := range []string{"run", "resume", "getsp", "_initialize", "none"} {
			if g.ExportedFunction(name) != nil {
				t.Errorf("%s is exported", name)
			}
		}
		for _, f := range []func() error{
			func() error { _, err := g.Call(ctx, "none"); return err },
			func() error { _, err := g.Call(ctx, "feed"); return err },
			func() error { _, err := g.Call(ctx, "feed", 1, 2); return err },
			func() error { _, err := g.CallInt32(ctx, "feed"); return err },
			func() error { _, err := g.CallInt32(ctx, "mixed", 1, 2, 3, 4); return err },
			func() error { _, err := g.CallInt32(ctx, "nothing"); return err },
			func() error { _, err := g.CallInt32(ctx, "none"); return err },
			func() error { _, err := g.ReadMemory(g.Memory().Size()-1, 2); return err },
			func() error { _, err := g.ReadMemory(0xFFFFFFFF, 0xFFFFFFFF); return err },
			func() error { return g.WriteMemory(g.Memory().Size(), []byte{1}) },
		} {
			if err := f(); err == nil {
				t.Error("a wrong call was accepted")
			} else if _, exited := g.ExitCode(); exited {
				t.Fatalf("a wrong call ended the guest: %v", err)
			}
		}
		if err := g.Close(ctx); err != nil {
			t.Error(err)
		}
		if _, err := g.CallInt32(ctx, "outlen"); err == nil || !strings.Contains(err.Error(), "closed") {
			t.Errorf("a call after Close: %v", err)
		}
	})
}

// An export calls the host, which calls exports again, several levels deep,
// and the microtasks run when all of it is over.
func TestReentry(t *testing.T) {
	var order []string
	in, _ := start(t, module(t, "desk"), gojs.Config{Setup: func(in *gojs.Instance) error {
		in.Global().Set("later", in.NewFunc("later", func(context.Context, gojs.Value, []gojs.Value) (gojs.Value, error) {
			order = append(order, "later")
			return nil, nil
		}))
		in.Global().Set("reenter", in.NewFunc("reenter", func(ctx context.Context, _ gojs.Value, args []gojs.Value) (gojs.Value, error) {
			n := int32(args[0].(gojs.Number))
			order = append(order, fmt.Sprint("in ", n))
			defer func() { order = append(order, fmt.Sprint("out ", n)) }()
			if n == 0 {
				return gojs.Number(0), nil
			}
			deep, err := in.CallInt32(ctx, "call", 2, 2000)
			if err != nil {
				return nil, err
			}
			rest, err := in.CallInt32(ctx, "through", n-1)
			return gojs.Number(deep + rest), err
		}))
		return nil
	}})
	if in.Global().Get("ready") != gojs.Bool(true) {
		t.Error("main did not run")
	}
	if got := call32(t, in, "through", 3); got != 6000 {
		t.Errorf("through: %d", got)
	}
	want := []string{"in 3", "in 2", "in 1", "in 0", "out 0", "out 1", "out 2", "out 3", "later", "later", "later", "later"}
	if !slices.Equal(order, want) {
		t.Errorf("order %q, want %q", order, want)
	}
}

// An exit deep inside ends every level above it.
func TestReentryExit(t *testing.T) {
	reached := false
	in, _ := start(t, module(t, "desk"), gojs.Config{Setup: func(in *gojs.Instance) error {
		in.Global().Set("reenter", in.NewFunc("reenter", func(ctx context.Context, _ gojs.Value, _ []gojs.Value) (gojs.Value, error) {
			_, err := in.CallInt32(ctx, "call", 5, 6)
			var exit *gojs.ExitError
			reached = errors.As(err, &exit)
			return gojs.Number(1), nil // even an error that is swallowed must not let the guest go on
		}))
		in.Global().Set("later", in.NewFunc("later", func(context.Context, gojs.Value, []gojs.Value) (gojs.Value, error) {
			t.Error("a microtask ran after the exit")
			return nil, nil
		}))
		return nil
	}})
	_, err := in.CallInt32(t.Context(), "through", 0)
	var exit *gojs.ExitError
	if !errors.As(err, &exit) || exit.Code != 6 || !reached {
		t.Errorf("error %v", err)
	}
}

func TestStartReactor(t *testing.T) {
	ctx := t.Context()
	wasm := reactorBytes(t)
	var out bytes.Buffer
	r, err := gojs.StartReactor(ctx, shared(), wasm, gojs.Config{Stdout: &out})
	if err != nil {
		t.Fatal(err)
	}
	call32(t, r, "call", 7, 1)
	if out.String() != "written 1\n" {
		t.Errorf("output %q", out.String())
	}
	if err := r.Close(ctx); err != nil {
		t.Error(err)
	}
	for _, cfg := range []gojs.Config{
		{Scratch: "/scratch"}, {Dir: "x"}, {Setup: func(*gojs.Instance) error { return nil }},
	} {
		if _, err := reactor(t).Start(ctx, cfg); err == nil {
			t.Errorf("%+v was accepted", cfg)
		}
	}
}

func TestModuleExports(t *testing.T) {
	want := []string{"buf", "call", "feed", "mixed", "nothing", "out", "outlen", "through"}
	if got := module(t, "desk").Exports(); !slices.Equal(got, want) {
		t.Errorf("exports %q, want %q", got, want)
	}
}

func BenchmarkCall(b *testing.B) {
	in, _ := start(b, module(b, "desk"), gojs.Config{})
	fn := in.ExportedFunction("outlen")
	stack := make([]uint64, 1)
	for b.Loop() {
		if err := fn.CallWithStack(b.Context(), stack); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkInvoke(b *testing.B) {
	in, _ := start(b, module(b, "guest"), gojs.Config{Args: []string{"guest", "funcs"}, Setup: hostFunctions})
	push, arg := in.Global().Get("push"), in.NewUint8Array(nil)
	for b.Loop() {
		if _, err := in.Invoke(b.Context(), push, nil, arg); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkStart(b *testing.B) {
	m := module(b, "desk")
	for b.Loop() {
		in, err := m.Start(b.Context(), gojs.Config{})
		if err != nil {
			b.Fatal(err)
		}
		in.Close(b.Context())
	}
}
