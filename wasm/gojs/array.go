package gojs

import "context"

// initArray adds Array with the methods that code written against syscall/js
// commonly calls.
func (r *realm) initArray() {
	r.arrayProto = r.newObject(r.objectProto)
	c := r.class("Array", r.arrayProto, nil, func(_ context.Context, _ Value, args []Value) (Value, error) {
		if n, ok := arg(args, 0).(Number); ok && len(args) == 1 {
			if n < 0 || n > maxArray || n != Number(int(n)) {
				return nil, r.rangeError("invalid array length")
			}
			return r.newArray(make([]Value, int(n))), nil
		}
		return r.newArray(append([]Value(nil), args...)), nil
	})
	r.method(c, "isArray", func(_ context.Context, _ Value, args []Value) (Value, error) {
		o, ok := arg(args, 0).(*Object)
		if ok {
			_, ok = o.data.(*arrayData)
		}
		return Bool(ok), nil
	})
	r.method(c, "of", func(_ context.Context, _ Value, args []Value) (Value, error) {
		return r.newArray(append([]Value(nil), args...)), nil
	})
	r.method(c, "from", func(_ context.Context, _ Value, args []Value) (Value, error) {
		var elems []Value
		switch x := arg(args, 0).(type) {
		case *Object:
			for i := range min(max(x.Len(), 0), maxArray) {
				elems = append(elems, x.Index(i))
			}
		case String:
			for _, c := range string(x) {
				elems = append(elems, String(string(c)))
			}
		}
		return r.newArray(elems), nil
	})

	method := func(name string, f func(ctx context.Context, o *Object, d *arrayData, args []Value) (Value, error)) {
		r.method(r.arrayProto, name, func(ctx context.Context, this Value, args []Value) (Value, error) {
			if o, ok := this.(*Object); ok {
				if d, ok := o.data.(*arrayData); ok {
					return f(ctx, o, d, args)
				}
			}
			return nil, r.typeError("Array.prototype." + name + " called on something that is not an array")
		})
	}
	method("push", func(_ context.Context, _ *Object, d *arrayData, args []Value) (Value, error) {
		if len(d.elems)+len(args) > maxArray {
			return nil, r.rangeError("invalid array length")
		}
		d.elems = append(d.elems, args...)
		return Number(len(d.elems)), nil
	})
	method("pop", func(_ context.Context, _ *Object, d *arrayData, _ []Value) (Value, error) {
		n := len(d.elems)
		if n == 0 {
			return Undefined{}, nil
		}
		v := d.elems[n-1]
		d.elems[n-1] = nil
		d.elems = d.elems[:n-1]
		return v, nil
	})
	method("shift", func(_ context.Context, _ *Object, d *arrayData, _ []Value) (Value, error) {
		if len(d.elems) == 0 {
			return Undefined{}, nil
		}
		v := d.elems[0]
		d.elems = append([]Value(nil), d.elems[1:]...)
		return v, nil
	})
	method("unshift", func(_ context.Context, _ *Object, d *arrayData, args []Value) (Value, error) {
		if len(d.elems)+len(args) > maxArray {
			return nil, r.rangeError("invalid array length")
		}
		d.elems = append(append([]Value(nil), args...), d.elems...)
		return Number(len(d.elems)), nil
	})
	method("concat", func(_ context.Context, _ *Object, d *arrayData, args []Value) (Value, error) {
		elems := append([]Value(nil), d.elems...)
		for _, a := range args {
			if o, ok := a.(*Object); ok {
				if more, ok := o.data.(*arrayData); ok {
					if elems = append(elems, more.elems...); len(elems) > maxArray {
						return nil, r.rangeError("invalid array length")
					}
					continue
				}
			}
			elems = append(elems, a)
		}
		return r.newArray(elems), nil
	})
	method("slice", func(_ context.Context, _ *Object, d *arrayData, args []Value) (Value, error) {
		lo, hi := span(args, 0, len(d.elems))
		return r.newArray(append([]Value(nil), d.elems[lo:hi]...)), nil
	})
	method("join", func(_ context.Context, _ *Object, d *arrayData, args []Value) (Value, error) {
		sep := ","
		if s := arg(args, 0); s != (Undefined{}) {
			sep = Text(s)
		}
		w := textWriter{left: maxTextElements}
		w.join(sep, len(d.elems), func(i int) { w.element(d.elems[i]) })
		return String(w.String()), nil
	})
	method("indexOf", func(_ context.Context, _ *Object, d *arrayData, args []Value) (Value, error) {
		for i, e := range d.elems {
			if e == arg(args, 0) {
				return Number(i), nil
			}
		}
		return Number(-1), nil
	})
	method("includes", func(_ context.Context, _ *Object, d *arrayData, args []Value) (Value, error) {
		for _, e := range d.elems {
			if sameValueZero(norm(e), arg(args, 0)) {
				return Bool(true), nil
			}
		}
		return Bool(false), nil
	})
	// The callback may change the array, so its length is read anew each time,
	// up to the length at the start as the language says.
	method("forEach", func(ctx context.Context, o *Object, d *arrayData, args []Value) (Value, error) {
		n := len(d.elems)
		for i := 0; i < n && i < len(d.elems); i++ {
			if d.elems[i] == nil {
				continue
			}
			if _, err := r.call(ctx, arg(args, 0), arg(args, 1), []Value{d.elems[i], Number(i), o}); err != nil {
				return nil, err
			}
		}
		return Undefined{}, nil
	})
}

// sameValueZero is === with NaN equal to itself.
func sameValueZero(a, b Value) bool {
	x, ok1 := a.(Number)
	y, ok2 := b.(Number)
	return a == b || ok1 && ok2 && x != x && y != y
}
