package main

import (
	"fmt"
	"math"
	"syscall/js"
)

// language shows what the object model does with values at their edges. The
// expected output, language.golden, is what the toolchain's own host gives with
// Node.js 20.
func language([]string) {
	texts()
	numbers()
	arrays()
	objects()
	dates()
	promises()
}

func texts() {
	for _, s := range []string{
		"\ufeffx", "\ufeff\ufeffx", "a\xe2\x82", "a\xe2\x28", "\xed\xa0\x80", "\xf0\x9f\x98", "\xff\xfe",
		"\xf4\x90\x80\x80", "\xe2\x82\xe2\x82\xac", "\xc0\x80", "\xf0\x80\x80", "\xf0\x9f\x98\x80\xf0\x9f", "ok\x00",
	} {
		fmt.Printf("%q %q\n", s, js.ValueOf(s).String())
	}
}

func numbers() {
	for _, f := range []float64{
		0, math.Copysign(0, -1), 1, -1, 1.5, 1e20, 1e21, 123456789012345680000, 1e-6, 1e-7, math.MaxFloat64, 5e-324,
		0.1, -1e-10, 1e300, math.Inf(1), math.Inf(-1), math.NaN(), 123e-20, 1 << 32, 1<<53 + 1,
	} {
		fmt.Print(js.ValueOf(f).String(), " ")
	}
	fmt.Println()
	for _, s := range []string{" 0x1F ", "1e3", "1_0", "-Infinity", "+Infinity", "Inf", "", "+-1", "-0x10", "1e999", ".5", "5.", "0b11", "0o17", "0x", "nan", "1 2"} {
		fmt.Print(global.Get("Number").Invoke(s).Float(), " ")
	}
	fmt.Println()
	for _, v := range []any{nil, true, false, js.Undefined(), []any{}, "x"} {
		fmt.Print(global.Get("Boolean").Invoke(v).Bool(), global.Get("String").Invoke(v).String(), " ")
	}
	fmt.Println()
}

func arrays() {
	text := func(v js.Value) string { return global.Get("String").Invoke(v).String() }
	a := js.ValueOf([]any{1, "x", nil, js.Undefined(), []any{2, 3}, true})
	fmt.Println(text(a), a.Call("join", "-").String(), a.Call("slice", -2).Length(), a.Call("indexOf", "x").Int(),
		a.Call("includes", math.NaN()).Bool(), a.Call("push", 7, 8).Int(), a.Call("pop").Int(), a.Call("shift").Int(),
		a.Call("unshift", "f").Int(), a.Call("concat", []any{1, 2}, 3).Length())
	a.SetIndex(9, "far")
	a.Delete("0")
	fmt.Println(a.Length(), a.Index(8).IsUndefined(), a.Index(99).IsUndefined(), text(a), a.Call("hasOwnProperty", "0").Bool())
	a.Set("length", 2)
	fmt.Println(text(a), a.Length(), global.Get("Array").Call("isArray", a).Bool(), global.Get("Array").Call("from", "aü").Length())

	u := global.Get("Uint8Array").New(4)
	for i, f := range []float64{257, -1, 3.7} {
		u.SetIndex(i, f)
	}
	u.SetIndex(9, 1)
	fmt.Println(text(u), u.Get("byteLength").Int(), u.Index(9).IsUndefined(), u.Index(-1).IsUndefined())
	fmt.Println(text(global.Get("Uint8ClampedArray").New([]any{300, -5, 1.5, 2.5, math.NaN()})))
	fmt.Println(text(global.Get("Int32Array").New([]any{1 << 31, -1, 1e20, math.Inf(1)})))
	i16 := global.Get("Int16Array").New(u.Get("buffer"), 2, 1)
	i16.SetIndex(0, 40000)
	fmt.Println(i16.Index(0).Int(), u.Index(2).Int(), u.Index(3).Int(), i16.Get("byteOffset").Int())
	sub := u.Call("subarray", 1, -1)
	sub.Call("fill", 9)
	u.Call("set", []any{5}, 3)
	fmt.Println(text(u), sub.Length(), u.Call("slice", -2).Length(), u.Get("buffer").Call("slice", 1, 2).Get("byteLength").Int())
	f32 := global.Get("Float32Array").New([]any{0.1})
	fmt.Println(f32.Index(0).Float(), global.Get("Float64Array").New(f32).Index(0).Float())
}

func objects() {
	o := global.Get("Object").New()
	for _, k := range []string{"b", "10", "a", "2", "01"} {
		o.Set(k, k)
	}
	o.Delete("b")
	o.Set("b", 1)
	fmt.Println(global.Get("Object").Call("keys", o).Call("join").String(), o.Call("hasOwnProperty", "a").Bool(), o.Call("hasOwnProperty", "keys").Bool())
	p := global.Get("Object").Call("assign", map[string]any{}, o)
	fmt.Println(global.Get("Object").Call("entries", p).Call("join", ";").String(), o.Call("toString").String(), o.Get("none").IsUndefined())
	e := global.Get("TypeError").New("bad")
	fmt.Println(e.Call("toString").String(), e.InstanceOf(global.Get("Error")), e.InstanceOf(global.Get("RangeError")), e.Get("name").String(), js.Error{Value: e}.Error())
	f := js.FuncOf(func(this js.Value, args []js.Value) any {
		if this.Type() == js.TypeObject {
			this.Set("made", len(args))
		}
		return len(args)
	})
	fmt.Println(f.New(1, 2).Get("made").Int(), f.Call("call", o, 1).Int(), f.Call("apply", js.Null(), []any{1, 2, 3}).Int(), f.Call("bind", js.Null(), 1).Invoke(2).Int())
	s := global.Get("Symbol").Invoke("s")
	fmt.Println(s.Type(), s.Equal(s), s.Equal(global.Get("Symbol").Invoke("s")), f.Type(), global.Equal(global.Get("globalThis")))
}

func dates() {
	d := global.Get("Date").New(1709251199999)
	fmt.Println(d.Call("toISOString").String(), d.Call("getTime").Float(), global.Get("Date").New("2024-02-29T23:59:59.999Z").Call("valueOf").Float())
	fmt.Println(global.Get("Date").New(math.NaN()).Call("getTime").IsNaN(), global.Get("String").Invoke(global.Get("Date").New(math.NaN())).String())
}

// promises prints the order in which reactions run.
func promises() {
	c := make(chan string, 20)
	log := func(s string) js.Func {
		return js.FuncOf(func(_ js.Value, args []js.Value) any {
			line := s
			for _, a := range args {
				line += " " + a.String()
			}
			c <- line
			return "after " + s
		})
	}
	p := global.Get("Promise")
	p.Call("resolve", 1).Call("then", log("a")).Call("then", log("b"))
	p.Call("reject", "no").Call("then", log("c")).Call("catch", log("d")).Call("finally", log("e")).Call("then", log("f"))
	p.Call("all", []any{1, p.Call("resolve", "two")}).Call("then", log("all"))
	p.Call("all", []any{1, p.Call("reject", "three")}).Call("then", log("never"), log("all fails"))
	p.New(js.FuncOf(func(_ js.Value, args []js.Value) any {
		args[0].Invoke(p.Call("resolve", "inner"))
		args[0].Invoke("second")
		args[1].Invoke("third")
		return nil
	})).Call("then", log("g"))
	p.Call("resolve", map[string]any{"then": js.FuncOf(func(_ js.Value, args []js.Value) any {
		args[1].Invoke("thenable")
		return nil
	})}).Call("catch", log("h"))
	global.Call("setTimeout", log("late"), 20)
	global.Call("setTimeout", log("early"), 5, "with argument")
	global.Call("queueMicrotask", log("micro"))
	for range 12 {
		fmt.Println(<-c)
	}
}
