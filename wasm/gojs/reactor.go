package gojs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"github.com/tetratelabs/wazero/sys"
)

// ReactorModule is a compiled reactor from which any number are started.
type ReactorModule struct {
	rt       wazero.Runtime
	compiled wazero.CompiledModule
}

// Reactor is a running module built with GOOS=wasip1 -buildmode=c-shared. It
// has no JavaScript side: only exports, memory and WASI. An export of it may
// sleep, which stops the host meanwhile.
type Reactor struct {
	exports
	owned *ReactorModule // closed together with the reactor; nil if it is the caller's
}

// CompileReactor checks that wasm is a reactor and compiles it.
func CompileReactor(ctx context.Context, rt wazero.Runtime, wasm []byte) (*ReactorModule, error) {
	compiled, err := rt.CompileModule(ctx, wasm)
	if err != nil {
		return nil, fmt.Errorf("gojs: compile reactor: %w", err)
	}
	if compiled.ExportedFunctions()[initialize] == nil || compiled.ExportedMemories()["memory"] == nil {
		_ = compiled.Close(ctx)
		return nil, fmt.Errorf("gojs: compile reactor: not built by Go as a reactor: exports %q and %q are needed", initialize, "memory")
	}
	return &ReactorModule{rt, compiled}, nil
}

// StartReactor compiles and starts a single reactor.
func StartReactor(ctx context.Context, rt wazero.Runtime, wasm []byte, cfg Config) (*Reactor, error) {
	m, err := CompileReactor(ctx, rt, wasm)
	if err != nil {
		return nil, err
	}
	r, err := m.Start(ctx, cfg)
	if err != nil {
		_ = m.Close(ctx)
		return nil, err
	}
	r.owned = m
	return r, nil
}

// Start initialises a new reactor. WASI is added to the runtime unless it is
// there. Setup and Scratch of the configuration are refused.
func (m *ReactorModule) Start(ctx context.Context, cfg Config) (*Reactor, error) {
	r, err := m.start(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("gojs: start reactor: %w", err)
	}
	return r, nil
}

func (m *ReactorModule) start(ctx context.Context, cfg Config) (_ *Reactor, err error) {
	if cfg.Setup != nil || cfg.Scratch != "" {
		return nil, errors.New("a reactor has neither setup nor a scratch directory")
	}
	if cfg, err = cfg.withDefaults(); err != nil {
		return nil, err
	}
	if m.rt.Module(wasi_snapshot_preview1.ModuleName) == nil {
		if _, err := wasi_snapshot_preview1.Instantiate(ctx, m.rt); err != nil {
			return nil, err
		}
	}
	r := &Reactor{}
	r.idle, r.enter = map[string][]api.Function{}, r.runExport
	r.hidden = func(name string) bool { return name == initialize }
	if r.mod, err = m.rt.InstantiateModule(ctx, m.compiled, r.moduleConfig(cfg)); err != nil {
		return nil, r.judge(ctx, err)
	}
	r.mem = r.mod.ExportedMemory("memory")
	return r, nil
}

// Close frees the compiled code. Reactors must be closed before.
func (m *ReactorModule) Close(ctx context.Context) error { return m.compiled.Close(ctx) }

// initialize is the export that runs package initialisation.
const initialize = "_initialize"

func (r *Reactor) moduleConfig(cfg Config) wazero.ModuleConfig {
	clock := cfg.Clock
	mc := wazero.NewModuleConfig().WithName("").WithStartFunctions(initialize).
		WithArgs(cfg.Args...).
		WithStdin(cfg.Stdin).WithStdout(cfg.Stdout).WithStderr(io.MultiWriter(&r.lastWords, cfg.Stderr)).
		WithRandSource(cfg.Rand).
		WithWalltime(func() (int64, int32) {
			t := clock.Now()
			return t.Unix(), int32(t.Nanosecond())
		}, sys.ClockResolution(1)).
		WithNanotime(func() int64 { return int64(clock.Elapsed()) + 1 }, sys.ClockResolution(1)).
		WithNanosleep(func(ns int64) { _ = clock.Wait(context.Background(), time.Duration(ns), nil) })
	if cfg.FS != nil {
		mc = mc.WithFSConfig(wazero.NewFSConfig().WithFSMount(cfg.FS, "/"))
	}
	env := append([]string{"PWD=" + cfg.Dir}, cfg.Env...)
	for _, e := range env {
		if name, value, _ := strings.Cut(e, "="); name != "" {
			mc = mc.WithEnv(name, value)
		}
	}
	return mc
}

func (r *Reactor) runExport(ctx context.Context, _ string, run func() error) error {
	if err := r.alive(); err != nil {
		return err
	}
	return r.judge(ctx, run())
}

// judge knows that the runtime of a reactor does not exit when it gives up: it
// prints why and traps.
func (r *Reactor) judge(ctx context.Context, err error) error {
	var exit *sys.ExitError
	if err != nil && r.alive() == nil && !errors.As(err, &exit) && r.lastWords.message() != "" {
		r.exited, r.code = true, 2
	}
	return r.exports.judge(ctx, err)
}

// Close frees the reactor.
func (r *Reactor) Close(ctx context.Context) error {
	if r.failed == nil {
		r.failed = errors.New("the reactor is closed")
	}
	var errs []error
	if r.mod != nil {
		errs = append(errs, r.mod.Close(ctx))
	}
	if r.owned != nil {
		errs = append(errs, r.owned.Close(ctx))
	}
	return errors.Join(errs...)
}
