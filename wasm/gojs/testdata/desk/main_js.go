package main

import "syscall/js"

// A js module ends when main returns, so it waits. The two functions let the
// host's code run in the middle of an export.
func main() {
	js.Global().Set("ready", true)
	select {}
}

//go:wasmexport through
func through(n int32) int32 {
	js.Global().Call("queueMicrotask", js.Global().Get("later"))
	return int32(js.Global().Call("reenter", n).Int())
}
