package gojs

import (
	"context"
	"fmt"
	"io"
	"math"
	"path"
	"strings"
	"time"
)

// dateData is a point in time in milliseconds since 1970, NaN when invalid.
type dateData struct {
	ms  float64
	loc *time.Location
}

func (d *dateData) time() (time.Time, bool) {
	const most = 8.64e15 // the range of JavaScript dates
	if d.ms != d.ms || math.Abs(d.ms) > most {
		return time.Time{}, false
	}
	return time.UnixMilli(int64(d.ms)), true
}

func (d *dateData) text() string {
	t, ok := d.time()
	if !ok {
		return "Invalid Date"
	}
	return t.In(d.loc).Format("Mon Jan 02 2006 15:04:05 GMT-0700 (MST)")
}

func (r *realm) initDate() {
	in := r.in
	now := func() float64 { return float64(in.clock.Now().UnixMilli()) }
	r.dateProto = r.newObject(r.objectProto)
	c := r.class("Date", r.dateProto, func(context.Context, Value, []Value) (Value, error) {
		return String((&dateData{now(), in.location}).text()), nil
	}, func(_ context.Context, _ Value, args []Value) (Value, error) {
		d := &dateData{now(), in.location}
		switch v := arg(args, 0).(type) {
		case Undefined:
		case String:
			d.ms = math.NaN()
			if t, err := time.Parse(time.RFC3339Nano, string(v)); err == nil {
				d.ms = float64(t.UnixMilli())
			}
		default:
			d.ms = math.Trunc(toNumber(v))
		}
		return &Object{realm: r, proto: r.dateProto, data: d}, nil
	})
	r.method(c, "now", func(context.Context, Value, []Value) (Value, error) { return Number(now()), nil })
	method := func(name string, f func(d *dateData) (Value, error)) {
		r.method(r.dateProto, name, func(_ context.Context, this Value, _ []Value) (Value, error) {
			if o, ok := this.(*Object); ok {
				if d, ok := o.data.(*dateData); ok {
					return f(d)
				}
			}
			return nil, r.typeError(name + " called on something that is not a Date")
		})
	}
	ms := func(d *dateData) (Value, error) { return Number(d.ms), nil }
	method("getTime", ms)
	method("valueOf", ms)
	method("getTimezoneOffset", func(d *dateData) (Value, error) {
		t, ok := d.time()
		if !ok {
			return Number(math.NaN()), nil
		}
		// Minutes from local time to UTC, positive west of Greenwich.
		_, east := t.In(d.loc).Zone()
		return Number(math.Trunc(-float64(east) / 60)), nil
	})
	method("toISOString", func(d *dateData) (Value, error) {
		t, ok := d.time()
		if !ok {
			return nil, r.rangeError("invalid time value")
		}
		return String(t.UTC().Format("2006-01-02T15:04:05.000Z")), nil
	})
}

// initHost adds console, performance, crypto, process and path.
func (r *realm) initHost() {
	in := r.in
	object := func(name string) *Object {
		o := r.newObject(r.objectProto)
		r.global.Set(name, o)
		return o
	}

	console := object("console")
	print := func(w io.Writer) Func {
		return func(_ context.Context, _ Value, args []Value) (Value, error) {
			parts := make([]string, len(args))
			for i, a := range args {
				parts[i] = Text(a)
			}
			fmt.Fprintln(w, strings.Join(parts, " "))
			return Undefined{}, nil
		}
	}
	for _, name := range []string{"log", "info", "debug"} {
		r.method(console, name, print(in.stdout))
	}
	for _, name := range []string{"warn", "error", "trace"} {
		r.method(console, name, print(in.stderr))
	}

	performance := object("performance")
	performance.Set("timeOrigin", Number(in.clock.Now().UnixMilli()))
	start := in.clock.Elapsed()
	r.method(performance, "now", func(context.Context, Value, []Value) (Value, error) {
		return Number(float64(in.clock.Elapsed()-start) / float64(time.Millisecond)), nil
	})

	crypto := object("crypto")
	r.method(crypto, "getRandomValues", func(_ context.Context, _ Value, args []Value) (Value, error) {
		o, ok := arg(args, 0).(*Object)
		if !ok {
			return nil, r.typeError("getRandomValues needs a typed array")
		}
		d, ok := o.data.(*viewData)
		if !ok {
			return nil, r.typeError("getRandomValues needs a typed array")
		}
		if _, err := io.ReadFull(in.rand, d.bytes()); err != nil {
			return nil, fmt.Errorf("getRandomValues: %w", err)
		}
		return o, nil
	})

	process := object("process")
	process.Set("argv0", String("gojs"))
	process.Set("pid", Number(1))
	process.Set("ppid", Number(0))
	for _, name := range []string{"getuid", "getgid", "geteuid", "getegid"} {
		r.method(process, name, func(context.Context, Value, []Value) (Value, error) { return Number(-1), nil })
	}
	r.method(process, "getgroups", func(context.Context, Value, []Value) (Value, error) {
		return nil, &Throw{r.codeError("ENOSYS", "no groups in this host")}
	})
	r.method(process, "umask", func(context.Context, Value, []Value) (Value, error) { return Number(0o022), nil })
	r.method(process, "cwd", func(context.Context, Value, []Value) (Value, error) { return String(in.files.dir), nil })
	r.method(process, "chdir", func(_ context.Context, _ Value, args []Value) (Value, error) {
		if err := in.files.chdir(Text(arg(args, 0))); err != nil {
			return nil, &Throw{r.fileError(err)}
		}
		return Undefined{}, nil
	})
	r.method(process, "exit", func(_ context.Context, _ Value, args []Value) (Value, error) {
		in.exit(int32(uint32(toInt(arg(args, 0)))))
		return Undefined{}, nil // the caller notices the exit and unwinds the guest
	})

	r.method(object("path"), "resolve", func(_ context.Context, _ Value, args []Value) (Value, error) {
		p := in.files.dir
		for _, a := range args {
			if s := Text(a); path.IsAbs(s) {
				p = s
			} else {
				p = path.Join(p, s)
			}
		}
		return String(path.Clean(p)), nil
	})
}

// initTimers adds the timer functions of JavaScript.
func (r *realm) initTimers() {
	in := r.in
	timer := func(name string, repeat bool) {
		r.method(r.global, name, func(_ context.Context, _ Value, args []Value) (Value, error) {
			fn, ok := arg(args, 0).(*Object)
			if !ok || !fn.Callable() {
				return nil, r.typeError(name + ": the callback is not a function")
			}
			var rest []Value
			if len(args) > 2 {
				rest = append(rest, args[2:]...)
			}
			delay := time.Duration(min(max(toInt(arg(args, 1)), 0), math.MaxInt32)) * time.Millisecond
			var t *timer
			t = in.addTimer(delay, func(ctx context.Context) error {
				if repeat {
					in.rearm(t, max(delay, time.Millisecond))
				}
				_, err := r.call(ctx, fn, Undefined{}, rest)
				return err
			})
			return Number(t.id), nil
		})
	}
	timer("setTimeout", false)
	timer("setInterval", true)
	for _, name := range []string{"clearTimeout", "clearInterval"} {
		r.method(r.global, name, func(_ context.Context, _ Value, args []Value) (Value, error) {
			in.clearTimer(int32(toInt(arg(args, 0))), false)
			return Undefined{}, nil
		})
	}
	r.method(r.global, "queueMicrotask", func(_ context.Context, _ Value, args []Value) (Value, error) {
		fn := arg(args, 0)
		in.microtask(func(ctx context.Context) error {
			_, err := r.call(ctx, fn, Undefined{}, nil)
			return err
		})
		return Undefined{}, nil
	})
}
