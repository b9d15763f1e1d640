package gojs_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/rollscope/rollscope/wasm/gojs"
)

// The tests and examples of standard packages pass under the host, run in the
// ordinary way by the go tool.
func TestStandardPackages(t *testing.T) {
	prog := filepath.Join(t.TempDir(), "gojsexec")
	if runtime.GOOS == "windows" {
		prog += ".exe"
	}
	if msg, err := exec.Command("go", "build", "-o", prog, "./gojsexec").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, msg)
	}
	packages := []string{"strings", "sync", "encoding/json", "context", "sort"}
	cmd := exec.Command("go", append([]string{"test", "-short", "-count=1", "-vet=off", "-exec", prog}, packages...)...)
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, p := range packages {
		if !strings.Contains(string(out), "ok  \t"+p+"\t") {
			t.Errorf("no result of %s:\n%s", p, out)
		}
	}
}

// The tests of syscall/js itself pass. They evaluate a few pieces of JavaScript,
// whose values are made by hand here.
func TestSyscallJS(t *testing.T) {
	ctx := t.Context()
	rt := wazero.NewRuntime(ctx)
	defer rt.Close(ctx)
	i32, i64 := api.ValueTypeI32, api.ValueTypeI64
	_, err := rt.NewHostModuleBuilder("_gotest").
		NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(func(_ context.Context, _ api.Module, stack []uint64) {
		stack[0] = uint64(uint32(stack[0]) + uint32(stack[1]))
	}), []api.ValueType{i32, i32}, []api.ValueType{i32}).Export("add").
		NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(func(ctx context.Context, guest api.Module, stack []uint64) {
		if _, err := guest.ExportedFunction("testExport0").Call(ctx); err != nil {
			panic(err)
		}
		res, err := guest.ExportedFunction("testExport").Call(ctx, stack...)
		if err != nil {
			panic(err)
		}
		stack[0] = res[0]
	}), []api.ValueType{i32, i64}, []api.ValueType{i64}).Export("callExport").
		Instantiate(ctx)
	if err != nil {
		t.Fatal(err)
	}
	m, err := gojs.Compile(ctx, rt, build(t, "js", "test", "-c", "syscall/js"))
	if err != nil {
		t.Fatal(err)
	}
	in, o := start(t, m, gojs.Config{
		Args:  []string{"js.test", "-test.v"},
		Clock: gojs.SystemClock(), // AllocsPerRun and its kind measure
		Setup: func(in *gojs.Instance) error {
			in.Global().Set("eval", in.NewFunc("eval", func(ctx context.Context, _ gojs.Value, args []gojs.Value) (gojs.Value, error) {
				return evaluate(ctx, in, gojs.Text(args[0]))
			}))
			return nil
		},
	})
	if err := in.Run(ctx); err != nil || !strings.HasSuffix(o.stdout.String(), "PASS\n") {
		t.Errorf("%v\n%s\n%s", err, o.stdout.String(), o.stderr.String())
	}
	if n := strings.Count(o.stdout.String(), "\n--- PASS:"); n < 30 {
		t.Errorf("only %d tests ran:\n%s", n, o.stdout.String())
	}
}

func evaluate(ctx context.Context, in *gojs.Instance, code string) (gojs.Value, error) {
	o := in.NewObject()
	switch {
	case strings.Contains(code, "someBool"):
		fn := func(name string, f gojs.Func) { o.Set(name, in.NewFunc(name, f)) }
		o.Set("someBool", gojs.Bool(true))
		o.Set("someString", gojs.String("abc\u1234"))
		o.Set("someInt", gojs.Number(42))
		o.Set("someFloat", gojs.Number(42.123))
		o.Set("someArray", in.NewArray(gojs.Number(41), gojs.Number(42), gojs.Number(43)))
		date, err := in.Construct(ctx, in.Global().Get("Date"))
		if err != nil {
			return nil, err
		}
		o.Set("someDate", date)
		fn("add", func(_ context.Context, _ gojs.Value, args []gojs.Value) (gojs.Value, error) {
			return args[0].(gojs.Number) + args[1].(gojs.Number), nil
		})
		o.Set("zero", gojs.Number(0))
		o.Set("stringZero", gojs.String("0"))
		o.Set("NaN", in.Global().Get("NaN"))
		o.Set("emptyObj", in.NewObject())
		o.Set("emptyArray", in.NewArray())
		o.Set("Infinity", in.Global().Get("Infinity"))
		o.Set("NegInfinity", -in.Global().Get("Infinity").(gojs.Number))
		o.Set("objNumber0", in.NewObject())
		o.Set("objBooleanFalse", in.NewObject())
		return o, nil
	case strings.Contains(code, "freeze"):
		o.Set("field", gojs.Number(5))
		return o, nil
	case code == "new Object()":
		return o, nil
	case code == "40":
		return gojs.Number(40), nil
	}
	return nil, errors.New("unexpected code: " + code)
}
