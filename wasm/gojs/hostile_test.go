package gojs_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"

	"github.com/rollscope/rollscope/wasm/gojs"
)

// forged is a module written byte by byte: what no Go toolchain would make.
type forged struct {
	module  string   // of the imports, "gojs" when empty
	imports []string // functions (i32) → (), numbered from 0
	typeOf  byte     // of the imports: 0 is (i32) → (), see sections
	exports []string // of "run", "resume", "getsp", "mem"; all when nil
	run     []byte   // body of run
	resume  []byte   // body of resume
	getsp   []byte   // body of getsp, which answers 0x1000 when nil
	start   bool     // run resume as the start section
}

// Instructions of a body.
func i32Const(n uint32) []byte { return append([]byte{0x41}, sleb(int64(int32(n)))...) }
func call(f byte) []byte       { return []byte{0x10, f} }
func body(parts ...[]byte) []byte {
	var b []byte
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

func uleb(n int) []byte { return binary.AppendUvarint(nil, uint64(n)) }

func sleb(n int64) (b []byte) {
	for {
		c := byte(n & 0x7F)
		n >>= 7
		if n == 0 && c&0x40 == 0 || n == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

func vec(items ...[]byte) []byte { return append(uleb(len(items)), body(items...)...) }
func name(s string) []byte       { return append(uleb(len(s)), s...) }
func section(id byte, content []byte) []byte {
	return body([]byte{id}, uleb(len(content)), content)
}

func (f forged) bytes() []byte {
	if f.module == "" {
		f.module = "gojs"
	}
	if f.exports == nil {
		f.exports = []string{"run", "resume", "getsp", "mem"}
	}
	if f.getsp == nil {
		f.getsp = i32Const(0x1000)
	}
	var imports, exports [][]byte
	for _, imp := range f.imports {
		imports = append(imports, body(name(f.module), name(imp), []byte{0, f.typeOf}))
	}
	n := byte(len(f.imports))
	for _, e := range f.exports {
		at := map[string][]byte{"run": {0, n}, "resume": {0, n + 1}, "getsp": {0, n + 2}, "mem": {2, 0}}[e]
		exports = append(exports, body(name(e), at))
	}
	code := func(b []byte) []byte {
		b = body([]byte{0}, b, []byte{0x0B})
		return append(uleb(len(b)), b...)
	}
	wasm := body([]byte("\x00asm\x01\x00\x00\x00"),
		section(1, vec([]byte{0x60, 1, 0x7F, 0}, []byte{0x60, 2, 0x7F, 0x7F, 0}, []byte{0x60, 0, 0}, []byte{0x60, 0, 1, 0x7F}, []byte{0x60, 1, 0x7E, 0})),
		section(2, vec(imports...)),
		section(3, vec([]byte{1}, []byte{2}, []byte{3})),
		section(5, vec([]byte{0, 1})), // one page
		section(7, vec(exports...)))
	if f.start {
		wasm = append(wasm, section(8, uleb(int(n)+1))...)
	}
	return append(wasm, section(10, vec(code(f.run), code(f.resume), code(f.getsp)))...)
}

// knownImports are all functions that the host has.
var knownImports = gojs.ImportNames()

func TestCompileRefuses(t *testing.T) {
	for _, tt := range []struct {
		name string
		wasm []byte
		want string
	}{
		{"nothing", nil, "compile"},
		{"text", []byte("#!/bin/sh\n"), "invalid magic"},
		{"cut", forged{}.bytes()[:40], "compile"},
		{"empty module", []byte("\x00asm\x01\x00\x00\x00"), `no exported function "run"`},
		{"without resume", forged{exports: []string{"run", "getsp", "mem"}}.bytes(), `no exported function "resume"`},
		{"without memory", forged{exports: []string{"run", "resume", "getsp"}}.bytes(), `no exported memory "mem"`},
		{"unknown import", forged{imports: []string{"runtime.teleport"}}.bytes(), `unknown import "runtime.teleport"`},
		{"wrong signature", forged{imports: []string{"runtime.walltime"}, typeOf: 4}.bytes(), "unexpected signature"},
		{"old toolchain", forged{module: "go", imports: []string{"runtime.walltime"}}.bytes(), "older than 1.21"},
		{"wasi", forged{module: "wasi_snapshot_preview1", imports: []string{"fd_write"}}.bytes(), "built for WASI"},
		{"reactor", reactorBytes(t), "built for WASI"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := gojs.Compile(t.Context(), shared(), tt.wasm)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
	if _, err := gojs.StartReactor(t.Context(), shared(), forged{}.bytes(), gojs.Config{}); err == nil {
		t.Error("a js module was accepted as a reactor")
	}
}

func reactorBytes(t *testing.T) []byte {
	return build(t, "wasip1", "build", "-buildmode=c-shared", "./testdata/desk")
}

// startForged starts a forged module after filling its memory. The interpreter
// spares the compilation of a thousand modules.
func startForged(t testing.TB, f forged, fill func(in *gojs.Instance)) error {
	t.Helper()
	return startForgedAt(t, f, gojs.VirtualClock(epoch), fill)
}

func startForgedAt(t testing.TB, f forged, clock gojs.Clock, fill func(in *gojs.Instance)) error {
	t.Helper()
	ctx := t.Context()
	rt := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	defer rt.Close(ctx)
	m, err := gojs.Compile(ctx, rt, f.bytes())
	if err != nil {
		t.Fatal(err)
	}
	in, err := m.Start(ctx, gojs.Config{Clock: clock, Rand: ones{}, Setup: func(in *gojs.Instance) error {
		if fill != nil {
			fill(in)
		}
		return nil
	}})
	if err != nil {
		if strings.Contains(err.Error(), "Go runtime stack trace") {
			t.Fatalf("the host panicked: %v", err)
		}
		return err
	}
	defer in.Close(ctx)
	// What the guest set going must not hurt either.
	for range 3 {
		_ = in.Settle(ctx)
	}
	return nil
}

// words writes 64-bit values into the guest, from sp+8 on.
func words(t testing.TB, in *gojs.Instance, sp uint32, values ...uint64) {
	for i, v := range values {
		if !in.Memory().WriteUint64Le(sp+8+uint32(8*i), v) {
			t.Fatal("out of memory")
		}
	}
}

const (
	idGlobal = 0x7FF80001_00000005
	idNaN    = 0x7FF80000_00000000
	unknown  = 0x7FF80001_00012345
)

// A guest that gives addresses or values which do not exist is stopped, and the
// error says so.
func TestFaults(t *testing.T) {
	const sp, page = 0x2000, 1 << 16
	for _, tt := range []struct {
		imp    string
		sp     uint32
		values []uint64
	}{
		{"syscall/js.valueGet", 0xFFFFFFF8, nil},
		{"syscall/js.valueGet", page - 4, nil},
		{"syscall/js.valueGet", sp, []uint64{idGlobal, page - 3, 4}},
		{"syscall/js.valueGet", sp, []uint64{idGlobal, 0, 1 << 63}},
		{"syscall/js.valueGet", sp, []uint64{idGlobal, 1 << 40, 1}},
		{"syscall/js.valueGet", sp, []uint64{idGlobal, ^uint64(0), ^uint64(0)}},
		{"syscall/js.valueGet", sp, []uint64{unknown, 0, 0}},
		{"syscall/js.valueGet", sp, []uint64{0, 0, 0}},
		{"syscall/js.valueSet", sp, []uint64{idNaN, 0, 0, 0}},
		{"syscall/js.valueSet", sp, []uint64{idGlobal, 0, 0, unknown}},
		{"syscall/js.valueDelete", sp, []uint64{0x7FF80000_00000002, 0, 0}},
		{"syscall/js.valueIndex", sp, []uint64{unknown}},
		{"syscall/js.valueSetIndex", sp, []uint64{unknown, 0, 0}},
		{"syscall/js.valueLength", sp, []uint64{unknown}},
		{"syscall/js.valueCall", sp, []uint64{idGlobal, 0, 1 << 20, 0, 0}},
		{"syscall/js.valueCall", sp, []uint64{idGlobal, 0, 0, 0, 1 << 60}},
		{"syscall/js.valueInvoke", sp, []uint64{idGlobal, 0, 8193}},
		{"syscall/js.valueNew", sp, []uint64{idGlobal, ^uint64(0), 1}},
		{"syscall/js.valueLoadString", sp, []uint64{idGlobal}},
		{"syscall/js.valueInstanceOf", sp, []uint64{idGlobal, idGlobal}},
		{"syscall/js.valueInstanceOf", sp, []uint64{idGlobal, 0}},
		{"syscall/js.stringVal", sp, []uint64{1, page}},
		{"syscall/js.finalizeRef", sp, []uint64{unknown}},
		{"runtime.getRandomData", sp, []uint64{0, page + 1}},
		{"runtime.wasmWrite", sp, []uint64{1, 0, ^uint64(0)}},
		{"runtime.wasmWrite", sp, []uint64{2, page, 1}},
		{"runtime.walltime", page - 8, nil},
		{"runtime.wasmExit", page, nil},
	} {
		t.Run(fmt.Sprintf("%s %x %x", tt.imp, tt.sp, tt.values), func(t *testing.T) {
			f := forged{imports: []string{tt.imp}, run: body(i32Const(tt.sp), call(0))}
			err := startForged(t, f, func(in *gojs.Instance) { words(t, in, tt.sp, tt.values...) })
			if !errors.Is(err, gojs.ErrFault) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// Before there is an instance, a start section has no memory to work with.
func TestStartSection(t *testing.T) {
	for _, imp := range knownImports {
		f := forged{imports: []string{imp}, start: true, resume: body(i32Const(0x2000), call(0))}
		err := startForged(t, f, nil)
		if harmless := imp == "debug" || imp == "runtime.resetMemoryDataView"; !harmless && !errors.Is(err, gojs.ErrFault) {
			t.Errorf("%s: error %v", imp, err)
		}
	}
}

// A stack pointer that moves out of the memory during a nested call is noticed.
func TestMovedStack(t *testing.T) {
	const sp = 0x2000
	f := forged{imports: []string{"syscall/js.valueInvoke", "syscall/js.valueCall"},
		run:   body(i32Const(sp), call(1), i32Const(sp+0x100), call(0)),
		getsp: i32Const(0xFFFFFFF0)}
	err := startForged(t, f, func(in *gojs.Instance) {
		if err := in.WriteMemory(0x100, []byte("_makeFuncWrapper")); err != nil {
			t.Fatal(err)
		}
		words(t, in, sp, 0x7FF80001_00000006, 0x100, 16, 0, 0)
		words(t, in, sp+0x100, 0x7FF80004_00000008, 0, 0) // the wrapper is the second value made, after the table
	})
	// Whatever the id of the wrapper is, the outcome is a fault.
	if !errors.Is(err, gojs.ErrFault) {
		t.Errorf("error %v", err)
	}
}

// A resume that wakes itself again and again runs into the limit of the depth,
// not into the end of the host's stack.
func TestEndlessReentry(t *testing.T) {
	const sp = 0x2000
	f := forged{imports: []string{"syscall/js.valueCall", "syscall/js.valueInvoke", "runtime.walltime"},
		run:    body(i32Const(sp), call(0), i32Const(sp+0x100), call(1)),
		resume: body(i32Const(sp+0x300), call(2), i32Const(sp+0x100), call(1)),
		getsp:  i32Const(sp + 0x200)}
	clock := &countingClock{Clock: gojs.VirtualClock(epoch)}
	err := startForgedAt(t, f, clock, func(in *gojs.Instance) {
		if err := in.WriteMemory(0x100, []byte("_makeFuncWrapper")); err != nil {
			t.Fatal(err)
		}
		words(t, in, sp, 0x7FF80001_00000006, 0x100, 16, 0, 0)
		words(t, in, sp+0x100, 0x7FF80004_00000007, 0, 0) // the first value made
		clock.n = 0
	})
	if err != nil {
		t.Errorf("error %v", err)
	}
	if clock.n < 100 || clock.n > 1000 {
		t.Errorf("the guest was entered %d times", clock.n)
	}
}

// countingClock counts how often it was looked at.
type countingClock struct {
	gojs.Clock
	n int
}

func (c *countingClock) Now() time.Time {
	c.n++
	return c.Clock.Now()
}

// Every import gets many random frames, made of the values that are most likely
// to break something. None may panic in the host.
func TestRandomFrames(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 1500 {
		randomFrames(t, rng.Uint64(), i)
	}
}

func FuzzFrames(f *testing.F) {
	f.Add(uint64(1), uint64(2))
	f.Fuzz(func(t *testing.T, seed, imp uint64) { randomFrames(t, seed, int(imp%1024)) })
}

func randomFrames(t testing.TB, seed uint64, i int) {
	rng := rand.New(rand.NewPCG(seed, uint64(i)))
	sp := []uint32{0x2000, 0x3000, 0xFF00, 0xFFC0, 0xFFFC, 0x10000, 0xFFFFFF00}
	f := forged{}
	// The import itself between two that make values for it.
	f.imports = []string{"syscall/js.valueGet", knownImports[i%len(knownImports)], "syscall/js.valueCall"}
	at := sp[0]
	if rng.IntN(8) == 0 {
		at = sp[rng.IntN(len(sp))]
	}
	names := []string{"Object", "Array", "Uint8Array", "Promise", "fs", "console", "process", "crypto", "Date", "setTimeout", "_values", "Error", ""}
	f.run = body(i32Const(0x1000), call(0), i32Const(0x1100), call(0), i32Const(at), call(1), i32Const(at), call(1), i32Const(0x1200), call(2))
	f.resume = body(i32Const(at), call(1))
	f.getsp = i32Const(at)
	err := startForged(t, f, func(in *gojs.Instance) {
		for k, base := range []uint32{0x1000, 0x1100} {
			n := names[rng.IntN(len(names))]
			if err := in.WriteMemory(0x800+uint32(k)*0x40, []byte(n+" ")); err != nil {
				t.Fatal(err)
			}
			words(t, in, base, idGlobal, 0x800+uint64(k)*0x40, uint64(len(n)))
		}
		methods := []string{"_makeFuncWrapper", "toString", "call", "apply", "open", "write", "read", "then", "push", "assign", "getRandomValues"}
		m := methods[rng.IntN(len(methods))]
		if err := in.WriteMemory(0x900, []byte(m)); err != nil {
			t.Fatal(err)
		}
		pick := func() uint64 {
			values := []uint64{
				0, 1, 2, 7, 8, 0x800, 0x900, uint64(len(m)), 0xFFF0, 0x10000, 1 << 31, 1 << 32, 1 << 53, 1 << 63, ^uint64(0),
				0x7FF80000_00000000, 0x7FF80000_00000001, 0x7FF80000_00000002, 0x7FF80000_00000003, 0x7FF80001_00000005,
				0x7FF80001_00000006, 0x7FF80004_00000007, 0x7FF80001_00000008, 0x7FF80002_00000009, 0x7FF80001_FFFFFFFF,
				0x3FF00000_00000000, 0xC0000000_00000000, 0x40700000_00000000, 0x7FF00000_00000000, 0x41E00000_00000000,
			}
			return values[rng.IntN(len(values))]
		}
		for _, base := range []uint32{0x1200, 0x2000} {
			for k := range 10 {
				words(t, in, base+uint32(8*k), pick())
			}
		}
		words(t, in, 0x1200, pick(), 0x900, uint64(len(m)))
	})
	_ = err // any error is right, startForged has looked for panics
}
