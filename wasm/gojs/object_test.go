package gojs_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/wasm/gojs"
)

// idle is an instance for tests of the object model from the host's side.
func idle(t *testing.T) *gojs.Instance {
	in, _ := start(t, module(t, "guest"), gojs.Config{Args: []string{"guest", "park"}})
	return in
}

func TestValues(t *testing.T) {
	in := idle(t)
	date, err := in.Construct(t.Context(), in.Global().Get("Date"), gojs.Number(0))
	if err != nil {
		t.Fatal(err)
	}
	symbol, err := in.Invoke(t.Context(), in.Global().Get("Symbol"), nil, gojs.String("s"))
	if err != nil {
		t.Fatal(err)
	}
	named := in.NewError("no disk")
	for _, tt := range []struct {
		v      gojs.Value
		typeOf string
		text   string
		truthy bool
	}{
		{gojs.Undefined{}, "undefined", "undefined", false},
		{gojs.Null{}, "object", "null", false},
		{gojs.Bool(true), "boolean", "true", true},
		{gojs.Number(0), "number", "0", false},
		{gojs.Number(math.NaN()), "number", "NaN", false},
		{gojs.Number(-1.5e-9), "number", "-1.5e-9", true},
		{gojs.String(""), "string", "", false},
		{gojs.String("ü"), "string", "ü", true},
		{symbol, "symbol", "Symbol(s)", true},
		{in.NewObject(), "object", "[object Object]", true},
		{in.NewArray(gojs.Number(1), nil, gojs.Null{}, in.NewArray(gojs.String("x"))), "object", "1,,,x", true},
		{in.NewUint8Array([]byte{1, 255}), "object", "1,255", true},
		{named, "object", "Error: no disk", true},
		{date, "object", "Thu Jan 01 1970 00:00:00 GMT+0000 (UTC)", true},
		{in.NewFunc("f", nil), "function", "function f() { [native code] }", true},
	} {
		if got := tt.v.TypeOf(); got != tt.typeOf {
			t.Errorf("typeof %s is %q, want %q", tt.text, got, tt.typeOf)
		}
		if got := gojs.Text(tt.v); got != tt.text {
			t.Errorf("text %q, want %q", got, tt.text)
		}
		if got := gojs.Truthy(tt.v); got != tt.truthy {
			t.Errorf("%s is truthy: %v", tt.text, got)
		}
	}
	var none *gojs.Object
	if gojs.Text(nil) != "undefined" || gojs.Text(none) != "undefined" {
		t.Error("nil is not undefined")
	}
}

func TestObjects(t *testing.T) {
	in := idle(t)
	o := in.NewObject()
	for _, k := range []string{"z", "10", "a", "9"} {
		o.Set(k, gojs.String(k))
	}
	o.Set("a", nil)
	o.Delete("none")
	if got := o.Keys(); !slices.Equal(got, []string{"9", "10", "z", "a"}) {
		t.Errorf("keys %q", got)
	}
	if !o.Has("a") || o.Get("a") != (gojs.Undefined{}) || o.Has("toString") || o.Get("toString") == (gojs.Undefined{}) {
		t.Error("own and inherited properties are mixed up")
	}
	if o.Delete("z"); o.Has("z") || len(o.Keys()) != 3 {
		t.Errorf("keys after delete %q", o.Keys())
	}
	if o.Index(9) != gojs.String("9") || !o.SetIndex(11, gojs.Null{}) || o.Get("11") != (gojs.Null{}) {
		t.Error("an index of a plain object is not its property")
	}

	a := in.NewArray(gojs.Number(5))
	if !a.SetIndex(3, gojs.Bool(true)) || a.Len() != 4 || a.Index(2) != (gojs.Undefined{}) || a.Index(-1) != (gojs.Undefined{}) {
		t.Errorf("array %s", gojs.Text(a))
	}
	if a.SetIndex(-1, nil) || a.SetIndex(1<<30, nil) || a.Len() != 4 {
		t.Error("an index out of range was accepted")
	}
	a.Set("1", gojs.Number(6))
	a.Delete("0")
	a.Set("note", gojs.Null{})
	if got := a.Keys(); !slices.Equal(got, []string{"1", "3", "note"}) || a.Has("0") || !a.Has("length") {
		t.Errorf("keys %q", got)
	}
	for _, n := range []float64{-1, 1 << 40, math.NaN()} {
		a.Set("length", gojs.Number(n))
	}
	if a.Len() != 0 {
		t.Errorf("length %d", a.Len())
	}

	shared := []byte{1, 2, 3}
	u := in.NewUint8Array(shared)
	u.SetIndex(1, gojs.Number(300))
	u.SetIndex(7, gojs.Number(1))
	u.Set("2", gojs.String("9"))
	u.Set("length", gojs.Number(99))
	b, ok := u.Bytes()
	if !ok || !slices.Equal(b, []byte{1, 44, 9}) || shared[1] != 44 || u.Len() != 3 || !u.Has("2") || u.Has("3") {
		t.Errorf("bytes %v", b)
	}
	buffer := u.Get("buffer").(*gojs.Object)
	if b, ok := buffer.Bytes(); !ok || len(b) != 3 || buffer.Get("byteLength") != gojs.Number(3) {
		t.Errorf("buffer %v", b)
	}
	if _, ok := o.Bytes(); ok {
		t.Error("a plain object has bytes")
	}
	made, err := in.Construct(t.Context(), in.Global().Get("ArrayBuffer"), gojs.Number(4))
	if b, ok := made.Bytes(); err != nil || !ok || len(b) != 4 {
		t.Errorf("ArrayBuffer: %v, %v", b, err)
	}
	for _, n := range []float64{-1, 1 << 33} {
		if _, err := in.Construct(t.Context(), in.Global().Get("ArrayBuffer"), gojs.Number(n)); err == nil {
			t.Errorf("an ArrayBuffer of %g bytes was made", n)
		}
	}
}

// The text of arrays that contain themselves, or each other many times, ends.
func TestTextEnds(t *testing.T) {
	in := idle(t)
	self := in.NewArray()
	self.SetIndex(0, self)
	self.SetIndex(1, gojs.Number(1))
	if s := gojs.Text(self); !strings.HasSuffix(s, ",1,1,1") || !strings.Contains(s, "…") {
		t.Errorf("text %q", s)
	}
	wide := in.NewArray(gojs.Number(1))
	for range 15 {
		next := in.NewArray()
		for i := range 50 {
			next.SetIndex(i, wide)
		}
		wide = next
	}
	if n := len(gojs.Text(wide)); n > 16<<20 {
		t.Errorf("a text of %d bytes", n)
	}
	loop := in.NewError("")
	loop.Set("message", loop)
	if s := gojs.Text(loop); !strings.Contains(s, "…") {
		t.Errorf("text %q", s)
	}
}

func TestConstruct(t *testing.T) {
	in := idle(t)
	ctx := t.Context()
	f := in.NewFunc("Row", func(_ context.Context, this gojs.Value, args []gojs.Value) (gojs.Value, error) {
		this.(*gojs.Object).Set("task", args[0])
		return nil, nil
	})
	o, err := in.Construct(ctx, f, gojs.Number(3))
	if err != nil || o.Get("task") != gojs.Number(3) {
		t.Errorf("%v, %v", o, err)
	}
	for _, bad := range []gojs.Value{nil, gojs.Null{}, in.NewObject(), in.Global().Get("Function"), in.Global().Get("setTimeout"), in.Global().Get("Symbol")} {
		if _, err := in.Construct(ctx, bad); err == nil {
			t.Errorf("new %s worked", gojs.Text(bad))
		}
	}
}

// Calls of built-in functions with wrong receivers and arguments throw.
func TestWrongCalls(t *testing.T) {
	in := idle(t)
	ctx := t.Context()
	at := func(path string) gojs.Value {
		var v gojs.Value = in.Global()
		for _, name := range strings.Split(path, ".") {
			v = v.(*gojs.Object).Get(name)
		}
		return v
	}
	for _, tt := range []struct {
		path string
		args []gojs.Value
	}{
		{path: "Array.prototype.push"}, {path: "Date.prototype.getTime"}, {path: "Promise.prototype.then"},
		{path: "Promise"}, {path: "Promise.all"}, {path: "ArrayBuffer.prototype.slice"}, {path: "Object.assign"},
		{path: "Function.prototype.call"}, {path: "Function.prototype.bind"}, {path: "Function.prototype.apply"},
		{path: "setTimeout"}, {path: "setInterval", args: []gojs.Value{gojs.Number(1)}},
		{path: "crypto.getRandomValues"}, {path: "crypto.getRandomValues", args: []gojs.Value{in.NewArray()}},
		{path: "fs.open"}, {path: "fs.stat", args: []gojs.Value{gojs.String("x")}}, {path: "fs.read"}, {path: "fs.write", args: []gojs.Value{gojs.Number(1)}},
		{path: "process.chdir", args: []gojs.Value{gojs.String("/none")}}, {path: "process.getgroups"},
	} {
		if v, err := in.Invoke(ctx, at(tt.path), nil, tt.args...); err == nil {
			t.Errorf("%s gave %s", tt.path, gojs.Text(v))
		}
	}
	view := in.NewUint8Array(make([]byte, 3))
	for _, tt := range []struct {
		name string
		args []gojs.Value
	}{
		{"set", nil}, {"set", []gojs.Value{in.NewArray(nil, nil), gojs.Number(2)}}, {"set", []gojs.Value{in.NewArray(nil), gojs.Number(-1)}},
	} {
		if _, err := in.Invoke(ctx, view.Get(tt.name), view, tt.args...); err == nil {
			t.Errorf("%s was accepted", tt.name)
		}
	}
	for _, args := range [][]gojs.Value{
		{gojs.Number(-1)}, {gojs.Number(1 << 40)}, {view.Get("buffer"), gojs.Number(4)}, {view.Get("buffer"), gojs.Number(-1)},
		{view.Get("buffer"), gojs.Number(1), gojs.Number(3)}, {view.Get("buffer"), gojs.Number(0), gojs.Number(-1)},
	} {
		if _, err := in.Construct(ctx, in.Global().Get("Uint8Array"), args...); err == nil {
			t.Errorf("a Uint8Array was made of %v", args)
		}
	}
	for _, args := range [][]gojs.Value{{view.Get("buffer")}, {view.Get("buffer"), gojs.Number(1)}} {
		if _, err := in.Construct(ctx, in.Global().Get("Uint16Array"), args...); err == nil {
			t.Errorf("a Uint16Array was made of %v", args)
		}
	}
	if _, exited := in.ExitCode(); exited {
		t.Error("the guest has exited")
	}
}
