// Package gojs runs modules built with GOOS=js GOARCH=wasm on wazero, without
// a browser and without a JavaScript engine.
//
// # What it is for
//
// The module that a page loads can be driven by an ordinary Go test: the same
// bytes, the same exports, the same syscall/js calls. The package implements
// the functions that such a module imports under the name "gojs", a small
// JavaScript object model behind them, and an event loop.
//
// # Nouns
//
//   - A [Module] is a compiled guest; [Compile] refuses anything that is not a
//     GOOS=js module.
//   - An [Instance] is one running guest. [Module.Start] runs its main function
//     until every goroutine of the guest is parked, or until it exits.
//   - A [Value] is a JavaScript value: [Undefined], [Null], [Bool], [Number],
//     [String], *[Symbol] or *[Object].
//   - An export is a //go:wasmexport function. [Instance.Call] runs it and tells
//     apart a result, an exit, and an export that wrongly went to sleep.
//   - A task is one run of the guest from the outside (a call, a timer, a posted
//     function); after each task the queue of microtasks is emptied.
//   - A [Guest] is what an Instance and a [Reactor] have in common. The same
//     source built for GOOS=wasip1 with -buildmode=c-shared is started with
//     [StartReactor] and driven by the same code.
//
// # Example
//
//	rt := wazero.NewRuntime(ctx)
//	defer rt.Close(ctx)
//	mod, err := gojs.Compile(ctx, rt, wasm)
//	…
//	in, err := mod.Start(ctx, gojs.Config{Stderr: os.Stderr})
//	…
//	addr, err := in.CallInt32(ctx, "buf", int32(len(data)))
//	err = in.WriteMemory(uint32(addr), data)
//	status, err := in.CallInt32(ctx, "feed", int32(len(data)))
//
// # How the guest is run
//
// A js guest never blocks: its exported functions run and resume return when
// all its goroutines wait for something. So one goroutine of the host is enough,
// and the host's call stack holds nothing between two tasks. Methods of an
// Instance must therefore be called from one goroutine at a time; only
// [Instance.Post] and the work of [Instance.Async] may come from others.
//
// A host function called by the guest may call the guest again. The guest's
// stack can move meanwhile, so every result is stored relative to a stack
// pointer asked for anew, and every nested call uses a wazero function object
// of its own. Nesting deeper than a fixed number of levels throws a RangeError
// into the guest instead of using up the host's stack.
//
// # What a guest can do to the host
//
// It can use memory and time: wazero limits both when the runtime is made
// (WithMemoryLimitPages, WithCloseOnContextDone); a single host buffer or array
// has a fixed maximum. It reads files only through [Config.FS], writes only to
// the given writers and to the memory behind [Config.Scratch], and has no
// network. A guest that breaks the interface (an address outside its memory, an
// unknown value) is stopped with an error that wraps [ErrFault]; it never
// panics the host.
//
// # What is left out
//
// There is no code evaluation: eval and the Function constructor are missing,
// and so are fetch, JSON, regular expressions, methods of strings, getters and
// proxies. [Config.Setup] can add objects and functions before main runs.
//
// The interface followed is that of the Go toolchains since 1.21; it is not
// covered by Go's compatibility promise, and Compile names the import it does
// not know when a later toolchain changes it.
package gojs
