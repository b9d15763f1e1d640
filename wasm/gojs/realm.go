package gojs

import (
	"context"
	"errors"
	"math"
)

// realm holds the built-in objects of one Instance. Two instances share none,
// so a guest that changes a prototype changes only its own.
type realm struct {
	in     *Instance
	global *Object

	objectProto, functionProto, arrayProto  *Object
	errorProto, typeErrorProto, rangeProto  *Object
	promiseProto, dateProto                 *Object
	bufferProto, uint8Proto, uint8ClampProt *Object
}

func newRealm(in *Instance) *realm {
	r := &realm{in: in}
	r.objectProto = &Object{realm: r}
	r.functionProto = r.newObject(r.objectProto)
	r.global = r.newObject(r.objectProto)
	r.global.Set("globalThis", r.global)
	r.initObject()
	r.initFunction()
	r.initArray()
	r.initErrors()
	r.initScalars()
	r.initBuffers()
	r.initPromise()
	r.initDate()
	r.initHost()
	r.initTimers()
	r.initFS()
	return r
}

func (r *realm) newObject(proto *Object) *Object { return &Object{realm: r, proto: proto} }

func (r *realm) newArray(elems []Value) *Object {
	return &Object{realm: r, proto: r.arrayProto, data: &arrayData{elems}}
}

func (r *realm) newFunc(name string, f Func) *Object {
	return &Object{realm: r, proto: r.functionProto, data: &funcData{name: name, call: f}}
}

// method adds a built-in function that cannot be used with new.
func (r *realm) method(o *Object, name string, f Func) {
	o.Set(name, &Object{realm: r, proto: r.functionProto, data: &funcData{name: name, call: f, method: true}})
}

// class makes a constructor, its prototype and their links, and publishes it as
// a global. A nil call lets the constructor work without new too.
func (r *realm) class(name string, proto *Object, call, construct Func) *Object {
	if call == nil {
		call = construct
	}
	c := &Object{realm: r, proto: r.functionProto, data: &funcData{name: name, call: call, construct: construct}}
	c.Set("prototype", proto)
	proto.Set("constructor", c)
	r.global.Set(name, c)
	return c
}

func (r *realm) newErrorObject(proto *Object, message string) *Object {
	e := r.newObject(proto)
	e.Set("message", String(message))
	return e
}

func (r *realm) typeError(message string) error {
	return &Throw{r.newErrorObject(r.typeErrorProto, message)}
}

func (r *realm) rangeError(message string) error {
	return &Throw{r.newErrorObject(r.rangeProto, message)}
}

// codeError is an Error with the text code by which package syscall finds its
// errno.
func (r *realm) codeError(code, message string) *Object {
	e := r.newErrorObject(r.errorProto, code+": "+message)
	e.Set("code", String(code))
	return e
}

// thrown is the value that an error of a host function throws in the guest.
func (r *realm) thrown(err error) Value {
	var t *Throw
	if errors.As(err, &t) {
		return norm(t.Value)
	}
	return r.newErrorObject(r.errorProto, err.Error())
}

// call calls any function value with a bound on the nesting: guest and host can
// call each other, and the host's stack must outlast a guest that never stops.
func (r *realm) call(ctx context.Context, fn, this Value, args []Value) (Value, error) {
	f, ok := fn.(*Object)
	if !ok || !f.Callable() {
		return nil, r.typeError(Text(fn) + " is not a function")
	}
	leave, err := r.in.nest()
	if err != nil {
		return nil, err
	}
	defer leave()
	v, err := f.data.(*funcData).call(ctx, norm(this), args)
	return norm(v), err
}

// construct is the new operator.
func (r *realm) construct(ctx context.Context, fn Value, args []Value) (Value, error) {
	f, ok := fn.(*Object)
	if !ok || !f.Callable() {
		return nil, r.typeError(Text(fn) + " is not a constructor")
	}
	d := f.data.(*funcData)
	if d.method {
		return nil, r.typeError(d.name + " is not a constructor")
	}
	if d.construct == nil {
		proto, ok := f.Get("prototype").(*Object)
		if !ok {
			proto = r.objectProto
		}
		this := r.newObject(proto)
		v, err := r.call(ctx, f, this, args)
		if o, ok := v.(*Object); ok || err != nil {
			return o, err
		}
		return this, nil
	}
	leave, err := r.in.nest()
	if err != nil {
		return nil, err
	}
	defer leave()
	v, err := d.construct(ctx, Undefined{}, args)
	return norm(v), err
}

func (r *realm) initObject() {
	create := func(_ context.Context, _ Value, args []Value) (Value, error) {
		if o, ok := arg(args, 0).(*Object); ok {
			return o, nil
		}
		return r.newObject(r.objectProto), nil
	}
	c := r.class("Object", r.objectProto, nil, create)
	list := func(pick func(o *Object, key string) Value) Func {
		return func(_ context.Context, _ Value, args []Value) (Value, error) {
			var elems []Value
			if o, ok := arg(args, 0).(*Object); ok {
				for _, k := range o.Keys() {
					elems = append(elems, pick(o, k))
				}
			}
			return r.newArray(elems), nil
		}
	}
	r.method(c, "keys", list(func(_ *Object, k string) Value { return String(k) }))
	r.method(c, "values", list(func(o *Object, k string) Value { return o.Get(k) }))
	r.method(c, "entries", list(func(o *Object, k string) Value {
		return r.newArray([]Value{String(k), o.Get(k)})
	}))
	r.method(c, "assign", func(_ context.Context, _ Value, args []Value) (Value, error) {
		dst, ok := arg(args, 0).(*Object)
		if !ok {
			return nil, r.typeError("Object.assign: the target is not an object")
		}
		for _, a := range args[1:] {
			if src, ok := a.(*Object); ok {
				for _, k := range src.Keys() {
					dst.Set(k, src.Get(k))
				}
			}
		}
		return dst, nil
	})
	p := r.objectProto
	r.method(p, "hasOwnProperty", func(_ context.Context, this Value, args []Value) (Value, error) {
		o, ok := this.(*Object)
		return Bool(ok && o.Has(Text(arg(args, 0)))), nil
	})
	r.method(p, "toString", func(_ context.Context, this Value, _ []Value) (Value, error) {
		return String(Text(this)), nil
	})
	r.method(p, "valueOf", func(_ context.Context, this Value, _ []Value) (Value, error) { return this, nil })
}

func (r *realm) initFunction() {
	refuse := func(context.Context, Value, []Value) (Value, error) {
		return nil, r.typeError("this host does not evaluate code")
	}
	r.class("Function", r.functionProto, nil, refuse)
	p := r.functionProto
	r.method(p, "call", func(ctx context.Context, this Value, args []Value) (Value, error) {
		return r.call(ctx, this, arg(args, 0), args[min(1, len(args)):])
	})
	r.method(p, "apply", func(ctx context.Context, this Value, args []Value) (Value, error) {
		var list []Value
		if o, ok := arg(args, 1).(*Object); ok {
			for i := range min(max(o.Len(), 0), maxArray) {
				list = append(list, o.Index(i))
			}
		}
		return r.call(ctx, this, arg(args, 0), list)
	})
	r.method(p, "bind", func(_ context.Context, this Value, args []Value) (Value, error) {
		target, ok := this.(*Object)
		if !ok || !target.Callable() {
			return nil, r.typeError("bind of something that is not a function")
		}
		self, front := arg(args, 0), append([]Value(nil), args[min(1, len(args)):]...)
		return r.newFunc("bound "+target.data.(*funcData).name, func(ctx context.Context, _ Value, args []Value) (Value, error) {
			return r.call(ctx, target, self, append(front[:len(front):len(front)], args...))
		}), nil
	})
}

func (r *realm) initErrors() {
	make := func(name string, base *Object) *Object {
		proto := r.newObject(base)
		proto.Set("name", String(name))
		proto.Set("message", String(""))
		r.class(name, proto, nil, func(_ context.Context, _ Value, args []Value) (Value, error) {
			e := r.newObject(proto)
			if m := arg(args, 0); m != (Undefined{}) {
				e.Set("message", String(Text(m)))
			}
			return e, nil
		})
		return proto
	}
	r.errorProto = make("Error", r.objectProto)
	r.typeErrorProto = make("TypeError", r.errorProto)
	r.rangeProto = make("RangeError", r.errorProto)
}

// initScalars adds the conversion functions; the wrapper objects that new makes
// of them in JavaScript do not exist here.
func (r *realm) initScalars() {
	conversion := func(name string, f func(v Value) Value) *Object {
		c := r.class(name, r.newObject(r.objectProto), func(_ context.Context, _ Value, args []Value) (Value, error) {
			return f(arg(args, 0)), nil
		}, nil)
		c.data.(*funcData).method = true
		return c
	}
	conversion("String", func(v Value) Value { return String(Text(v)) })
	conversion("Boolean", func(v Value) Value { return Bool(Truthy(v)) })
	n := conversion("Number", func(v Value) Value { return Number(toNumber(v)) })
	n.Set("MAX_SAFE_INTEGER", Number(1<<53-1))
	conversion("Symbol", func(v Value) Value {
		if v == (Undefined{}) {
			return &Symbol{}
		}
		return &Symbol{Text(v)}
	})
	r.global.Set("NaN", Number(math.NaN()))
	r.global.Set("Infinity", Number(math.Inf(1)))
}
