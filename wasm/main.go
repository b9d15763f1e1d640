//go:build wasm

// Command wasm is the module the page runs: five exports around an [engine.Engine]. It builds for
// GOOS=js, the page's form, and with -buildmode=c-shared for GOOS=wasip1, which the tests drive through the
// same harness.
//
// An export never sleeps and never does I/O, and none lets a panic through: a panic in an export comes back
// to the caller as a silent wrong number.
package main

import (
	"fmt"
	"runtime/debug"
	"unsafe"

	"github.com/rollscope/rollscope/wasm/engine"
)

// softLimit makes the collector work harder before the four gigabytes of a 32-bit memory are gone.
const softLimit = 2 << 30

var (
	state engine.Engine
	in    []byte
	out   []byte
)

func init() { debug.SetMemoryLimit(softLimit) }

// scanning is set by the first scan. What a scan keeps is small and its garbage smaller: collecting it rarely costs a
// few MiB and saves a tenth of the time. The desk keeps much, and collects as usual.
var scanning bool

// main parks; everything happens in the exports.
func main() { select {} }

//go:wasmexport version
func version() int32 { return engine.Protocol }

// buf gives the address of a buffer of n bytes for the next feed or call.
//
//go:wasmexport buf
func buf(n int32) int32 {
	if n < 1 {
		n = 1
	}
	if cap(in) < int(n) || cap(in) > 64<<20 && int(n) < cap(in)/8 {
		in = make([]byte, n)
	}
	in = in[:n]
	return address(in)
}

//go:wasmexport feed
func feed(n int32) (status int32) {
	defer recovered(&status)
	if n < 0 || int(n) > len(in) {
		return fail(fmt.Errorf("feed of %d bytes into a buffer of %d", n, len(in)))
	}
	done, err := state.Feed(in[:n])
	switch {
	case err != nil:
		return fail(err)
	case done:
		return 1
	}
	return 0
}

//go:wasmexport call
func call(op, n int32) (status int32) {
	defer recovered(&status)
	if n < 0 || int(n) > len(in) {
		return fail(fmt.Errorf("call with %d bytes in a buffer of %d", n, len(in)))
	}
	if op == engine.OpScan && !scanning {
		scanning = true
		debug.SetGCPercent(400)
	}
	answer, needs, err := state.Call(int(op), in[:n])
	if err != nil {
		return fail(err)
	}
	out = answer
	if needs {
		return 1
	}
	return 0
}

//go:wasmexport out
func outAddress() int32 { return address(out) }

//go:wasmexport outlen
func outLength() int32 { return int32(len(out)) }

func address(b []byte) int32 {
	return int32(uintptr(unsafe.Pointer(unsafe.SliceData(b))))
}

func fail(err error) int32 {
	out = engine.Failure(err.Error(), "")
	return -1
}

// recovered turns a panic into a failure that carries its stack.
func recovered(status *int32) {
	if r := recover(); r != nil {
		out = engine.Failure(fmt.Sprint(r), string(debug.Stack()))
		*status = -1
	}
}
