package gojs_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"

	"github.com/rollscope/rollscope/wasm/gojs"
)

// buildDir holds what the tests build; each program is built once.
var buildDir string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "gojs")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	buildDir = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

var builds sync.Map // target and arguments → func() ([]byte, error)

// build runs the go tool and returns what it wrote.
func build(t testing.TB, goos string, args ...string) []byte {
	t.Helper()
	key := fmt.Sprint(goos, args)
	once, _ := builds.LoadOrStore(key, sync.OnceValues(func() ([]byte, error) {
		out := filepath.Join(buildDir, fmt.Sprintf("%x", key))
		cmd := exec.Command("go", append([]string{args[0], "-o", out}, args[1:]...)...)
		cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false")
		if msg, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%v: %w\n%s", cmd.Args, err, msg)
		}
		return os.ReadFile(out)
	}))
	b, err := once.(func() ([]byte, error))()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// shared is one runtime for all ordinary tests, so that each guest is compiled
// once.
var shared = sync.OnceValue(func() wazero.Runtime { return wazero.NewRuntime(context.Background()) })

var compiled sync.Map // name → func() (*gojs.Module, error)

func module(t testing.TB, name string) *gojs.Module {
	t.Helper()
	wasm := build(t, "js", "build", "./testdata/"+name)
	once, _ := compiled.LoadOrStore(name, sync.OnceValues(func() (*gojs.Module, error) {
		return gojs.Compile(context.Background(), shared(), wasm)
	}))
	m, err := once.(func() (*gojs.Module, error))()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// epoch is where the virtual clocks of the tests start.
var epoch = time.Date(2024, 2, 29, 23, 59, 59, 0, time.UTC)

// output is what a guest wrote.
type output struct{ stdout, stderr bytes.Buffer }

// start starts a guest with the configuration's gaps filled deterministically.
func start(t testing.TB, m *gojs.Module, cfg gojs.Config) (*gojs.Instance, *output) {
	t.Helper()
	o := &output{}
	cfg.Stdout, cfg.Stderr = &o.stdout, &o.stderr
	if cfg.Clock == nil {
		cfg.Clock = gojs.VirtualClock(epoch)
	}
	if cfg.Location == nil {
		cfg.Location = time.UTC
	}
	in, err := m.Start(t.Context(), cfg)
	if err != nil {
		t.Fatalf("%v\n%s", err, o.stderr.String())
	}
	t.Cleanup(func() {
		if err := in.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return in, o
}

func (o *output) want(t testing.TB, stdout string) {
	t.Helper()
	if got := o.stdout.String(); got != stdout {
		t.Errorf("guest wrote\n%s\nwant\n%s\nstandard error:\n%s", got, stdout, o.stderr.String())
	}
}
