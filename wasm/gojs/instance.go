package gojs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/sys"
)

// Instance is one running js guest. See the package comment for the goroutines
// from which it may be used.
type Instance struct {
	exports
	loop
	realm *realm
	refs  *refTable

	clock          Clock
	rand           io.Reader
	location       *time.Location
	stdin          io.Reader
	stdout, stderr io.Writer
	files          *files

	host  api.Module   // the functions that this guest imports
	getsp api.Function // a leaf: it never calls the host, so one object is enough
	goObj *Object      // the value with id 6, by which syscall/js gets its events

	entries uint64 // how often the guest was entered, ever
	depth   int    // nested calls between guest and host, see maxDepth
	leave   func() // lowers depth
}

var (
	_ Guest = (*Instance)(nil)
	_ Guest = (*Reactor)(nil)
)

// maxDepth is how deep the guest and the host may call each other. A level
// costs a few kilobytes of the host's stack.
const maxDepth = 1000

// Start runs a new instance until its goroutines are all parked, or until it
// exits. An exit of any code is no error of Start; [Instance.ExitCode] tells.
func (m *Module) Start(ctx context.Context, cfg Config) (*Instance, error) {
	in, err := m.start(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("gojs: start: %w", err)
	}
	return in, nil
}

func (m *Module) start(ctx context.Context, cfg Config) (_ *Instance, err error) {
	cfg, err = cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	in := &Instance{
		loop:     newLoop(),
		clock:    cfg.Clock,
		rand:     cfg.Rand,
		location: cfg.Location,
		stdin:    cfg.Stdin,
		stdout:   cfg.Stdout,
		stderr:   cfg.Stderr,
		files:    newFiles(cfg),
	}
	in.idle, in.enter, in.hidden = map[string][]api.Function{}, in.runExport, isRuntimeExport
	in.leave = func() { in.depth-- }
	in.realm = newRealm(in)
	in.goObj = in.newGoObject()
	in.refs = newRefTable(in.realm.global, in.goObj)
	in.goObj.Set("_values", &Object{realm: in.realm, data: in.refs})

	defer func() {
		if err != nil {
			_ = in.Close(ctx)
		}
	}()
	if err := in.link(ctx, m); err != nil {
		return nil, err
	}
	if cfg.Setup != nil {
		if err := cfg.Setup(in); err != nil {
			return nil, fmt.Errorf("setup: %w", err)
		}
	}
	argv, err := placeArgs(in.mem, cfg.Args, cfg.Env)
	if err != nil {
		return nil, err
	}
	err = in.task(ctx, func(ctx context.Context) error {
		return in.runGuest(ctx, "run", uint64(len(cfg.Args)), uint64(argv))
	})
	if err != nil && !in.exited {
		return nil, err
	}
	return in, nil
}

// link instantiates the guest with imports of its own, so that the host's
// functions know which instance calls them.
func (in *Instance) link(ctx context.Context, m *Module) error {
	b := m.rt.NewHostModuleBuilder(importModule)
	for _, imp := range imports {
		run := imp.run
		b.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(func(ctx context.Context, _ api.Module, stack []uint64) {
			run(frame{ctx, in, uint32(stack[0]), in.entries})
		}), []api.ValueType{api.ValueTypeI32}, nil).Export(imp.name)
	}
	compiled, err := b.Compile(ctx)
	if err != nil {
		return fmt.Errorf("host functions: %w", err)
	}
	anonymous := wazero.NewModuleConfig().WithName("").WithStartFunctions()
	if in.host, err = m.rt.InstantiateModule(ctx, compiled, anonymous); err != nil {
		return fmt.Errorf("host functions: %w", err)
	}
	// Of a hostile module even the start section may call imports.
	resolving := experimental.WithImportResolver(ctx, func(name string) api.Module {
		if name == importModule {
			return in.host
		}
		return nil
	})
	in.mem = noMemory{}
	mod, err := m.rt.InstantiateModule(resolving, m.compiled, anonymous)
	if err != nil {
		return fmt.Errorf("instantiate: %w", err)
	}
	in.mod = mod
	in.mem = mod.ExportedMemory("mem")
	in.getsp = mod.ExportedFunction("getsp")
	return nil
}

// noMemory stands in until the guest exists.
type noMemory struct{ api.Memory }

func (noMemory) Size() uint32 { return 0 }

// newGoObject makes the value by which syscall/js turns a Go function into a
// JavaScript one: calling the latter leaves an event and wakes the guest, which
// runs the Go function and stores its result in the event.
func (in *Instance) newGoObject() *Object {
	r := in.realm
	o := r.newObject(r.objectProto)
	o.Set("_pendingEvent", Null{})
	r.method(o, "_makeFuncWrapper", func(_ context.Context, _ Value, args []Value) (Value, error) {
		id := arg(args, 0)
		return r.newFunc("", func(ctx context.Context, this Value, args []Value) (Value, error) {
			event := r.newObject(r.objectProto)
			event.Set("id", id)
			event.Set("this", this)
			event.Set("args", r.newArray(append([]Value(nil), args...)))
			o.Set("_pendingEvent", event)
			if err := in.runGuest(ctx, "resume"); err != nil {
				return nil, err
			}
			return event.Get("result"), nil
		}), nil
	})
	return o
}

// runGuest enters the guest's runtime.
func (in *Instance) runGuest(ctx context.Context, name string, args ...uint64) error {
	if err := in.alive(); err != nil {
		return err
	}
	leave, err := in.nest()
	if err != nil {
		return err
	}
	defer leave()
	in.entries++
	return in.judge(ctx, in.run(ctx, name, args))
}

// runExport enters a //go:wasmexport function, and after it, when nothing else
// is on the stack, empties the microtask queue as JavaScript does.
func (in *Instance) runExport(ctx context.Context, _ string, run func() error) error {
	return in.task(ctx, func(ctx context.Context) error {
		if err := in.alive(); err != nil {
			return err
		}
		leave, err := in.nest()
		if err != nil {
			return err
		}
		defer leave()
		before, known := in.goroutine()
		in.entries++
		if err := in.judge(ctx, run()); err != nil {
			return err
		}
		if after, _ := in.goroutine(); known && after != before {
			in.failed = fmt.Errorf("%w: it waits for an event and has no result", ErrBlocked)
			return in.failed
		}
		return nil
	})
}

// goroutine is the address of the goroutine that the guest has current. An
// export runs on the one that was current before it. When it parks and nothing
// else can run, the guest's scheduler returns to the host from another one,
// and the result is garbage: that is the only sign of it. The address is in a
// global of the module that is not exported; a module whose globals were
// rearranged by a tool answers false, and a blocked export goes unnoticed.
func (in *Instance) goroutine() (uint64, bool) {
	const sp, g, count = 0, 2, 8
	m, ok := in.mod.(experimental.InternalModule)
	if !ok || m.NumGlobal() != count || m.Global(sp).Type() != api.ValueTypeI32 || m.Global(g).Type() != api.ValueTypeI64 {
		return 0, false
	}
	return m.Global(g).Get(), true
}

// nest counts one more level of calls between guest and host.
func (in *Instance) nest() (leave func(), err error) {
	if in.depth >= maxDepth {
		return nil, in.realm.rangeError("maximum call depth exceeded")
	}
	in.depth++
	return in.leave, nil
}

// exit records the guest's exit. The guest's code still on the stack must not
// run on: see unwindIfDead.
func (in *Instance) exit(code int32) {
	if !in.exited {
		in.exited, in.code = true, code
	}
}

// unwindIfDead leaves all the guest's frames above the host's when the guest
// exited or failed in a nested call; without it, code after os.Exit would run.
func (in *Instance) unwindIfDead() {
	if in.exited || in.failed != nil {
		panic(sys.NewExitError(uint32(in.code)))
	}
}

// Invoke calls a JavaScript function, which can be one of the guest's. An
// exception is returned as a *[Throw].
func (in *Instance) Invoke(ctx context.Context, fn, this Value, args ...Value) (Value, error) {
	var result Value
	err := in.task(ctx, func(ctx context.Context) (err error) {
		if err := in.alive(); err != nil {
			return err
		}
		result, err = in.realm.call(ctx, norm(fn), this, args)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("gojs: invoke: %w", err)
	}
	return result, nil
}

// Construct is JavaScript's new operator.
func (in *Instance) Construct(ctx context.Context, class Value, args ...Value) (*Object, error) {
	var result *Object
	err := in.task(ctx, func(ctx context.Context) error {
		if err := in.alive(); err != nil {
			return err
		}
		v, err := in.realm.construct(ctx, norm(class), args)
		result, _ = v.(*Object)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("gojs: construct: %w", err)
	}
	return result, nil
}

// Global is the global object.
func (in *Instance) Global() *Object { return in.realm.global }

// NewObject makes a plain object.
func (in *Instance) NewObject() *Object { return in.realm.newObject(in.realm.objectProto) }

// NewArray makes an array of the given elements.
func (in *Instance) NewArray(elems ...Value) *Object {
	return in.realm.newArray(append([]Value(nil), elems...))
}

// NewUint8Array makes a Uint8Array that shares b with the host.
func (in *Instance) NewUint8Array(b []byte) *Object { return in.realm.newBytes(b) }

// NewFunc makes a function that the guest can call and use with new.
func (in *Instance) NewFunc(name string, f Func) *Object { return in.realm.newFunc(name, f) }

// NewError makes an Error object with a message.
func (in *Instance) NewError(message string) *Object {
	return in.realm.newErrorObject(in.realm.errorProto, message)
}

// Close frees the instance. The guest's goroutines are dropped where they are.
func (in *Instance) Close(ctx context.Context) error {
	if in.failed == nil {
		in.failed = errors.New("the instance is closed")
	}
	in.files.closeAll()
	var errs []error
	for _, m := range []api.Module{in.mod, in.host} {
		if m != nil {
			errs = append(errs, m.Close(ctx))
		}
	}
	return errors.Join(errs...)
}
