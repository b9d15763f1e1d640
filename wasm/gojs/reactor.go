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

// Reactor is a running module built with GOOS=wasip1 -buildmode=c-shared. It
// has no JavaScript side: only exports, memory and WASI. An export of it may
// sleep, which stops the host meanwhile.
type Reactor struct {
	exports
	compiled wazero.CompiledModule
}

// StartReactor compiles and initialises a reactor. WASI is added to rt unless
// it is there. Setup and Scratch of the configuration are refused.
func StartReactor(ctx context.Context, rt wazero.Runtime, wasm []byte, cfg Config) (*Reactor, error) {
	r, err := startReactor(ctx, rt, wasm, cfg)
	if err != nil {
		return nil, fmt.Errorf("gojs: start reactor: %w", err)
	}
	return r, nil
}

func startReactor(ctx context.Context, rt wazero.Runtime, wasm []byte, cfg Config) (_ *Reactor, err error) {
	if cfg.Setup != nil || cfg.Scratch != "" {
		return nil, errors.New("a reactor has neither setup nor a scratch directory")
	}
	if cfg, err = cfg.withDefaults(); err != nil {
		return nil, err
	}
	if rt.Module(wasi_snapshot_preview1.ModuleName) == nil {
		if _, err := wasi_snapshot_preview1.Instantiate(ctx, rt); err != nil {
			return nil, err
		}
	}
	r := &Reactor{}
	r.idle, r.enter = map[string][]api.Function{}, r.runExport
	r.hidden = func(name string) bool { return name == initialize }
	if r.compiled, err = rt.CompileModule(ctx, wasm); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = r.Close(ctx)
		}
	}()
	exported := r.compiled.ExportedFunctions()
	if exported[initialize] == nil || r.compiled.ExportedMemories()["memory"] == nil {
		return nil, fmt.Errorf("not a reactor built by Go: exports %q and %q are needed", initialize, "memory")
	}
	if r.mod, err = rt.InstantiateModule(ctx, r.compiled, r.moduleConfig(cfg)); err != nil {
		return nil, r.judge(ctx, err)
	}
	r.mem = r.mod.ExportedMemory("memory")
	return r, nil
}

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

// Close frees the reactor.
func (r *Reactor) Close(ctx context.Context) error {
	if r.failed == nil {
		r.failed = errors.New("the reactor is closed")
	}
	var errs []error
	if r.mod != nil {
		errs = append(errs, r.mod.Close(ctx))
	}
	if r.compiled != nil {
		errs = append(errs, r.compiled.Close(ctx))
	}
	return errors.Join(errs...)
}
