package gojs

import "context"

type promiseState uint8

const (
	pending promiseState = iota
	fulfilled
	rejected
)

type promiseData struct {
	state     promiseState
	locked    bool // resolved with another promise whose outcome is awaited
	value     Value
	reactions []reaction
}

// reaction is what happens when a promise is settled: one handler per outcome,
// whose result settles the derived promise.
type reaction struct {
	onFulfilled, onRejected Value
	derived                 *Object
}

func (r *realm) newPromise() *Object {
	return &Object{realm: r, proto: r.promiseProto, data: &promiseData{value: Undefined{}}}
}

func asPromise(v Value) (*Object, *promiseData) {
	if o, ok := v.(*Object); ok {
		if d, ok := o.data.(*promiseData); ok {
			return o, d
		}
	}
	return nil, nil
}

// resolve settles p with v, or ties p to v when v has a then method.
func (r *realm) resolve(p *Object, v Value) {
	d := p.data.(*promiseData)
	if d.state != pending || d.locked {
		return
	}
	o, ok := v.(*Object)
	if !ok {
		r.settle(p, fulfilled, v)
		return
	}
	if o == p {
		r.settle(p, rejected, r.newErrorObject(r.typeErrorProto, "promise resolved with itself"))
		return
	}
	then, ok := o.Get("then").(*Object)
	if !ok || !then.Callable() {
		r.settle(p, fulfilled, v)
		return
	}
	d.locked = true
	r.in.microtask(func(ctx context.Context) error {
		onOK, onErr := r.settlers(p)
		_, err := r.call(ctx, then, o, []Value{onOK, onErr})
		if err != nil {
			_, _ = onErr.data.(*funcData).call(ctx, Undefined{}, []Value{r.thrown(err)})
		}
		return nil
	})
}

func (r *realm) reject(p *Object, v Value) {
	if d := p.data.(*promiseData); d.state == pending && !d.locked {
		r.settle(p, rejected, v)
	}
}

// settlers are the two functions by which others settle p; only the first call
// of either counts.
func (r *realm) settlers(p *Object) (onOK, onErr *Object) {
	used := false
	once := func(f func(v Value)) Func {
		return func(_ context.Context, _ Value, args []Value) (Value, error) {
			if !used {
				used = true
				p.data.(*promiseData).locked = false
				f(arg(args, 0))
			}
			return Undefined{}, nil
		}
	}
	return r.newFunc("resolve", once(func(v Value) { r.resolve(p, v) })),
		r.newFunc("reject", once(func(v Value) { r.reject(p, v) }))
}

func (r *realm) settle(p *Object, state promiseState, v Value) {
	d := p.data.(*promiseData)
	d.state, d.value = state, norm(v)
	waiting := d.reactions
	d.reactions = nil
	for _, re := range waiting {
		r.react(d, re)
	}
}

func (r *realm) react(d *promiseData, re reaction) {
	state, v := d.state, d.value
	r.in.microtask(func(ctx context.Context) error {
		handler := re.onFulfilled
		if state == rejected {
			handler = re.onRejected
		}
		if h, ok := handler.(*Object); ok && h.Callable() {
			result, err := r.call(ctx, h, Undefined{}, []Value{v})
			if err != nil {
				r.reject(re.derived, r.thrown(err))
			} else {
				r.resolve(re.derived, result)
			}
			return nil
		}
		if state == rejected {
			r.reject(re.derived, v)
		} else {
			r.resolve(re.derived, v)
		}
		return nil
	})
}

func (r *realm) then(p *Object, onFulfilled, onRejected Value) *Object {
	d := p.data.(*promiseData)
	re := reaction{onFulfilled, onRejected, r.newPromise()}
	if d.state == pending {
		d.reactions = append(d.reactions, re)
	} else {
		r.react(d, re)
	}
	return re.derived
}

func (r *realm) initPromise() {
	r.promiseProto = r.newObject(r.objectProto)
	c := r.class("Promise", r.promiseProto, func(context.Context, Value, []Value) (Value, error) {
		return nil, r.typeError("Promise needs new")
	}, func(ctx context.Context, _ Value, args []Value) (Value, error) {
		p := r.newPromise()
		onOK, onErr := r.settlers(p)
		if _, err := r.call(ctx, arg(args, 0), Undefined{}, []Value{onOK, onErr}); err != nil {
			if o, ok := arg(args, 0).(*Object); !ok || !o.Callable() {
				return nil, err
			}
			_, _ = onErr.data.(*funcData).call(ctx, Undefined{}, []Value{r.thrown(err)})
		}
		return p, nil
	})
	r.method(c, "resolve", func(_ context.Context, _ Value, args []Value) (Value, error) {
		return r.promiseOf(arg(args, 0)), nil
	})
	r.method(c, "reject", func(_ context.Context, _ Value, args []Value) (Value, error) {
		p := r.newPromise()
		r.reject(p, arg(args, 0))
		return p, nil
	})
	r.method(c, "all", func(_ context.Context, _ Value, args []Value) (Value, error) {
		list, ok := arg(args, 0).(*Object)
		if !ok {
			return nil, r.typeError("Promise.all needs an array")
		}
		return r.all(list), nil
	})

	method := func(name string, f func(p *Object, args []Value) Value) {
		r.method(r.promiseProto, name, func(_ context.Context, this Value, args []Value) (Value, error) {
			p, _ := asPromise(this)
			if p == nil {
				return nil, r.typeError(name + " called on something that is not a promise")
			}
			return f(p, args), nil
		})
	}
	method("then", func(p *Object, args []Value) Value { return r.then(p, arg(args, 0), arg(args, 1)) })
	method("catch", func(p *Object, args []Value) Value { return r.then(p, Undefined{}, arg(args, 0)) })
	method("finally", func(p *Object, args []Value) Value {
		f := arg(args, 0)
		// The handler's result is dropped, but an error in it wins, and a
		// promise it returns is awaited.
		pass := func(outcome promiseState) *Object {
			return r.newFunc("finally", func(ctx context.Context, _ Value, args []Value) (Value, error) {
				result, err := r.call(ctx, f, Undefined{}, nil)
				if err != nil {
					return nil, err
				}
				v := arg(args, 0)
				return r.then(r.promiseOf(result), r.newFunc("finally", func(context.Context, Value, []Value) (Value, error) {
					if outcome == rejected {
						return nil, &Throw{v}
					}
					return v, nil
				}), Undefined{}), nil
			})
		}
		return r.then(p, pass(fulfilled), pass(rejected))
	})
}

// promiseOf is v itself when it is a promise, otherwise a promise of it.
func (r *realm) promiseOf(v Value) *Object {
	if p, _ := asPromise(v); p != nil {
		return p
	}
	p := r.newPromise()
	r.resolve(p, v)
	return p
}

func (r *realm) all(list *Object) *Object {
	result := r.newPromise()
	n := min(max(list.Len(), 0), maxArray)
	values := make([]Value, n)
	left := n
	if n == 0 {
		r.resolve(result, r.newArray(values))
	}
	for i := range n {
		r.then(r.promiseOf(list.Index(i)),
			r.newFunc("all", func(_ context.Context, _ Value, args []Value) (Value, error) {
				values[i] = arg(args, 0)
				if left--; left == 0 {
					r.resolve(result, r.newArray(values))
				}
				return Undefined{}, nil
			}),
			r.newFunc("all", func(_ context.Context, _ Value, args []Value) (Value, error) {
				r.reject(result, arg(args, 0))
				return Undefined{}, nil
			}))
	}
	return result
}
