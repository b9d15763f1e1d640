package gojs

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/sys"
)

// ErrBlocked is wrapped by the error of a call whose export waited for
// something that only the event loop can bring, such as a timer. The guest's
// stack is lost then and the instance cannot be used any more.
var ErrBlocked = errors.New("export blocked")

// ExitError is the end of a guest. A panic that nothing recovered ends it with
// code 2.
type ExitError struct {
	// Code is the exit code.
	Code int
	// Message is the last line that the guest's runtime began with "panic:" or
	// "fatal error:", empty if there was none. The whole text with its stack
	// traces went to the guest's standard error.
	Message string
}

func (e *ExitError) Error() string {
	if e.Message != "" {
		return fmt.Sprintf("guest exited with code %d: %s", e.Code, e.Message)
	}
	return fmt.Sprintf("guest exited with code %d", e.Code)
}

// Unwrap gives wazero's form of the same fact.
func (e *ExitError) Unwrap() error { return sys.NewExitError(uint32(e.Code)) }

// Guest is a running module, either an [Instance] or a [Reactor], seen through
// its //go:wasmexport functions and its memory.
type Guest interface {
	// Call runs an export. Parameters and results are encoded as api.Function
	// says. The error wraps an *ExitError when the guest exited instead of
	// returning; once that or a trap happened, every further call fails.
	Call(ctx context.Context, name string, args ...uint64) ([]uint64, error)
	// CallInt32 runs an export of int32 parameters with one int32 result.
	CallInt32(ctx context.Context, name string, args ...int32) (int32, error)
	// ExportedFunction returns an export as a wazero function, nil if there is
	// none. Unlike wazero's own it may be called while it is running, and it
	// fails when the guest exits.
	ExportedFunction(name string) api.Function
	// Memory is the guest's linear memory. Views of it are invalid after the
	// next call into the guest.
	Memory() api.Memory
	// ReadMemory copies n bytes from the guest.
	ReadMemory(addr, n uint32) ([]byte, error)
	// WriteMemory copies data into the guest.
	WriteMemory(addr uint32, data []byte) error
	// ExitCode tells whether the guest has exited, and how.
	ExitCode() (code int, exited bool)
	// Close frees the guest.
	Close(ctx context.Context) error
}

// exports is the part of a guest that does not depend on its operating system.
type exports struct {
	mod  api.Module
	mem  api.Memory
	idle map[string][]api.Function
	// enter wraps one run of the guest: refuse it, do it, judge it.
	enter  func(ctx context.Context, name string, run func() error) error
	hidden func(name string) bool

	exited    bool
	code      int32
	failed    error // why the guest cannot go on, other than an exit
	lastWords lastWords
}

func (e *exports) Memory() api.Memory { return e.mem }

func (e *exports) ReadMemory(addr, n uint32) ([]byte, error) {
	b, ok := e.mem.Read(addr, n)
	if !ok {
		return nil, fmt.Errorf("gojs: %d bytes at address %#x are outside the guest's memory of %d bytes", n, addr, e.mem.Size())
	}
	return append([]byte(nil), b...), nil
}

func (e *exports) WriteMemory(addr uint32, data []byte) error {
	if !e.mem.Write(addr, data) {
		return fmt.Errorf("gojs: %d bytes at address %#x are outside the guest's memory of %d bytes", len(data), addr, e.mem.Size())
	}
	return nil
}

func (e *exports) ExitCode() (code int, exited bool) { return int(e.code), e.exited }

func (e *exports) ExportedFunction(name string) api.Function {
	if e.hidden(name) {
		return nil
	}
	fn := e.mod.ExportedFunction(name)
	if fn == nil {
		return nil
	}
	return &exportFunction{Function: fn, guest: e, name: name}
}

func (e *exports) Call(ctx context.Context, name string, args ...uint64) ([]uint64, error) {
	fn := e.ExportedFunction(name)
	if fn == nil {
		return nil, fmt.Errorf("gojs: the guest exports no function %q", name)
	}
	return fn.Call(ctx, args...)
}

func (e *exports) CallInt32(ctx context.Context, name string, args ...int32) (int32, error) {
	fn := e.ExportedFunction(name)
	if fn == nil {
		return 0, fmt.Errorf("gojs: the guest exports no function %q", name)
	}
	def := fn.Definition()
	results := def.ResultTypes()
	ok := len(results) == 1 && results[0] == api.ValueTypeI32 && len(def.ParamTypes()) == len(args)
	for _, t := range def.ParamTypes() {
		ok = ok && t == api.ValueTypeI32
	}
	if !ok {
		return 0, fmt.Errorf("gojs: the export %s is not a function of %d int32 with one int32 result", name, len(args))
	}
	stack := make([]uint64, max(len(args), 1))
	for i, a := range args {
		stack[i] = api.EncodeI32(a)
	}
	if err := fn.CallWithStack(ctx, stack); err != nil {
		return 0, err
	}
	return api.DecodeI32(stack[0]), nil
}

// run calls a function of the module. A wazero function object must not be
// entered twice at once, so each nested call takes another one.
func (e *exports) run(ctx context.Context, name string, stack []uint64) error {
	var fn api.Function
	if list := e.idle[name]; len(list) > 0 {
		fn = list[len(list)-1]
		e.idle[name] = list[:len(list)-1]
	} else {
		fn = e.mod.ExportedFunction(name)
	}
	err := fn.CallWithStack(ctx, stack)
	if err == nil {
		e.idle[name] = append(e.idle[name], fn)
	}
	return err
}

// alive is nil as long as the guest can be run.
func (e *exports) alive() error {
	if e.exited {
		return e.exitError()
	}
	return e.failed
}

func (e *exports) exitError() error {
	return &ExitError{Code: int(e.code), Message: e.lastWords.message()}
}

// judge turns the error of a run of the guest into the instance's state. The
// first failure is kept: what follows while the stacks unwind only repeats it.
func (e *exports) judge(ctx context.Context, err error) error {
	if err == nil || e.exited || e.failed != nil {
		return e.alive()
	}
	var exit *sys.ExitError
	if errors.As(err, &exit) {
		switch exit.ExitCode() {
		case sys.ExitCodeContextCanceled, sys.ExitCodeDeadlineExceeded:
			e.failed = fmt.Errorf("guest stopped: %w", err)
			if ctx.Err() != nil {
				e.failed = fmt.Errorf("guest stopped: %w", ctx.Err())
			}
		default:
			e.exited, e.code = true, int32(exit.ExitCode())
		}
		return e.alive()
	}
	e.failed = err
	return err
}

// exportFunction is an export whose calls go through the guest's bookkeeping.
type exportFunction struct {
	api.Function
	guest *exports
	name  string
}

func (f *exportFunction) Call(ctx context.Context, params ...uint64) ([]uint64, error) {
	def := f.Definition()
	if want := len(def.ParamTypes()); len(params) != want {
		return nil, fmt.Errorf("gojs: call %s: %d parameters, want %d", f.name, len(params), want)
	}
	results := len(def.ResultTypes())
	stack := make([]uint64, max(len(params), results))
	copy(stack, params)
	if err := f.CallWithStack(ctx, stack); err != nil {
		return nil, err
	}
	return stack[:results], nil
}

func (f *exportFunction) CallWithStack(ctx context.Context, stack []uint64) error {
	def := f.Definition()
	if need := max(len(def.ParamTypes()), len(def.ResultTypes())); len(stack) < need {
		return fmt.Errorf("gojs: call %s: a stack of %d, need %d", f.name, len(stack), need)
	}
	err := f.guest.enter(ctx, f.name, func() error { return f.guest.run(ctx, f.name, stack) })
	if err != nil {
		return fmt.Errorf("gojs: call %s: %w", f.name, err)
	}
	return nil
}

// lastWords watches what the guest's runtime prints and remembers the line that
// says why it gave up.
type lastWords struct {
	line  []byte
	words string
}

const maxLastWords = 1024

func (l *lastWords) Write(b []byte) (int, error) {
	for _, c := range b {
		if c == '\n' {
			l.endLine()
			l.line = l.line[:0]
		} else if len(l.line) < maxLastWords {
			l.line = append(l.line, c)
		}
	}
	return len(b), nil
}

func (l *lastWords) endLine() {
	for _, prefix := range []string{"panic: ", "fatal error: "} {
		if s := string(l.line); strings.HasPrefix(s, prefix) {
			l.words = strings.ToValidUTF8(s, "�")
		}
	}
}

func (l *lastWords) message() string {
	l.endLine()
	return l.words
}
