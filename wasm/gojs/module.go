package gojs

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// importModule is the name under which a js guest imports its host.
const importModule = "gojs"

// Module is a compiled guest from which any number of instances are started.
type Module struct {
	rt       wazero.Runtime
	compiled wazero.CompiledModule
}

// Compile checks that wasm is a module built with GOOS=js GOARCH=wasm whose
// imports this package knows, and compiles it. Compiling takes seconds for a
// large module; a runtime with a compilation cache does it once.
//
// Imports from other modules than "gojs" (go:wasmimport) are resolved when an
// instance is started, from the modules that rt then has.
func Compile(ctx context.Context, rt wazero.Runtime, wasm []byte) (*Module, error) {
	compiled, err := rt.CompileModule(ctx, wasm)
	if err != nil {
		return nil, fmt.Errorf("gojs: compile: %w", err)
	}
	if err := checkModule(compiled); err != nil {
		_ = compiled.Close(ctx)
		return nil, fmt.Errorf("gojs: compile: %w", err)
	}
	return &Module{rt, compiled}, nil
}

// Close frees the compiled code. Instances must be closed before.
func (m *Module) Close(ctx context.Context) error { return m.compiled.Close(ctx) }

// Exports are the names of the //go:wasmexport functions, sorted.
func (m *Module) Exports() []string {
	names := []string{}
	for name := range m.compiled.ExportedFunctions() {
		if !isRuntimeExport(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// runtimeExports are the entry points that the Go linker adds to every js module.
var runtimeExports = []struct {
	name            string
	params, results []api.ValueType
}{
	{"run", []api.ValueType{api.ValueTypeI32, api.ValueTypeI32}, nil},
	{"resume", nil, nil},
	{"getsp", nil, []api.ValueType{api.ValueTypeI32}},
}

func isRuntimeExport(name string) bool {
	for _, e := range runtimeExports {
		if e.name == name {
			return true
		}
	}
	return false
}

func checkModule(m wazero.CompiledModule) error {
	known := map[string]bool{}
	for _, imp := range imports {
		known[imp.name] = true
	}
	for _, def := range m.ImportedFunctions() {
		switch module, name, _ := def.Import(); module {
		case importModule:
			if !known[name] {
				return fmt.Errorf("unknown import %q: the module was built by a Go toolchain with another interface", name)
			}
			if !slices.Equal(def.ParamTypes(), []api.ValueType{api.ValueTypeI32}) || len(def.ResultTypes()) != 0 {
				return fmt.Errorf("import %q has an unexpected signature", name)
			}
		case "go":
			return fmt.Errorf("the module was built by a Go toolchain older than 1.21")
		case "wasi_snapshot_preview1":
			return fmt.Errorf("the module was built for WASI, not with GOOS=js")
		}
	}
	exported := m.ExportedFunctions()
	for _, e := range runtimeExports {
		def, ok := exported[e.name]
		if !ok {
			return fmt.Errorf("not a GOOS=js module: no exported function %q", e.name)
		}
		if !slices.Equal(def.ParamTypes(), e.params) || !slices.Equal(def.ResultTypes(), e.results) {
			return fmt.Errorf("not a GOOS=js module: exported function %q has an unexpected signature", e.name)
		}
	}
	if m.ExportedMemories()["mem"] == nil {
		return fmt.Errorf("not a GOOS=js module: no exported memory %q", "mem")
	}
	return nil
}

// The command line and the environment are placed where the Go linker leaves
// room for them: from argsStart, strings first, then the pointers.
const (
	argsStart = 4096
	argsEnd   = argsStart + 8192
)

// ArgsSize is the number of bytes that a command line and an environment take
// in the guest, and ArgsRoom the most that fits.
func ArgsSize(args, env []string) int {
	n := 0
	for _, s := range append(append([]string(nil), args...), env...) {
		n += (len(s) + 1 + 7) &^ 7
	}
	return n + 8*(len(args)+len(env)+2)
}

// ArgsRoom is the size of the room that the Go linker leaves for arguments and
// environment.
const ArgsRoom = argsEnd - argsStart

// placeArgs writes args and env into the guest's memory and returns the address
// of the pointer array.
func placeArgs(mem api.Memory, args, env []string) (argv uint32, err error) {
	if n := ArgsSize(args, env); n > ArgsRoom {
		return 0, fmt.Errorf("arguments and environment take %d bytes, a js module has room for %d", n, ArgsRoom)
	}
	at := uint32(argsStart)
	var pointers []uint32
	place := func(list []string) {
		for _, s := range list {
			pointers = append(pointers, at)
			padded := s + strings.Repeat("\x00", (len(s)+1+7)&^7-len(s))
			if !mem.WriteString(at, padded) {
				err = fmt.Errorf("memory of %d bytes is too small for the arguments", mem.Size())
			}
			at += uint32(len(padded))
		}
		pointers = append(pointers, 0)
	}
	place(args)
	place(env)
	argv = at
	for i, p := range pointers {
		if !mem.WriteUint64Le(argv+uint32(8*i), uint64(p)) {
			err = fmt.Errorf("memory of %d bytes is too small for the arguments", mem.Size())
		}
	}
	return argv, err
}
