package gojs

import (
	"fmt"
	"io"
	"time"
)

// imports is every function that a js guest can import, each with one
// parameter, the stack pointer (debug: the value to print). The offsets are
// those at which the Go compiler lays out arguments and results.
var imports = []struct {
	name string
	run  func(f frame)
}{
	{"runtime.wasmExit", func(f frame) {
		f.in.exit(int32(f.u32(8)))
		f.in.unwindIfDead()
	}},
	{"runtime.wasmWrite", func(f frame) {
		b := f.memory(f.u64(16), uint64(f.u32(24)))
		if f.u64(8) == 1 {
			_, _ = f.in.stdout.Write(b)
			return
		}
		f.in.lastWords.Write(b)
		_, _ = f.in.stderr.Write(b)
	}},
	{"runtime.resetMemoryDataView", func(frame) {}}, // nothing here outlives a call
	{"runtime.nanotime1", func(f frame) {
		// Zero would tell the guest's runtime that there is no clock.
		f.putU64(8, uint64(f.in.clock.Elapsed())+1)
	}},
	{"runtime.walltime", func(f frame) {
		t := f.in.clock.Now()
		f.putU64(8, uint64(t.Unix()))
		f.putU32(16, uint32(t.Nanosecond()))
	}},
	{"runtime.scheduleTimeoutEvent", func(f frame) {
		const most = 1 << 31 // beyond it the guest asks again
		ms := min(max(f.i64(8), 0), most)
		f.putU32(16, uint32(f.in.addGuestTimer(time.Duration(ms)*time.Millisecond)))
	}},
	{"runtime.clearTimeoutEvent", func(f frame) { f.in.clearTimer(int32(f.u32(8)), true) }},
	{"runtime.getRandomData", func(f frame) {
		if _, err := io.ReadFull(f.in.rand, f.slice(8)); err != nil {
			panic(fmt.Errorf("random data: %w", err))
		}
	}},

	{"syscall/js.finalizeRef", func(f frame) {
		if id := f.u32(8); !f.in.refs.drop(id) {
			f.fail("unknown value id %d freed", id)
		}
	}},
	{"syscall/js.stringVal", func(f frame) { f.putValue(24, String(f.str(8))) }},
	{"syscall/js.valueGet", func(f frame) { f.putValue(32, f.object(8).Get(f.str(16))) }},
	{"syscall/js.valueSet", func(f frame) { f.object(8).Set(f.str(16), f.value(32)) }},
	{"syscall/js.valueDelete", func(f frame) { f.object(8).Delete(f.str(16)) }},
	{"syscall/js.valueIndex", func(f frame) { f.putValue(24, f.object(8).Index(int(f.i64(16)))) }},
	{"syscall/js.valueSetIndex", func(f frame) {
		if i := int(f.i64(16)); !f.object(8).SetIndex(i, f.value(24)) {
			f.fail("array index %d is more than this host keeps", i)
		}
	}},
	{"syscall/js.valueCall", func(f frame) {
		v, name, args := f.value(8), f.str(16), f.values(32)
		fn, err := f.in.realm.property(v, name)
		if err == nil {
			v, err = f.in.realm.call(f.ctx, fn, v, args)
		}
		f.again().answer(56, v, err)
	}},
	{"syscall/js.valueInvoke", func(f frame) {
		v, err := f.in.realm.call(f.ctx, f.value(8), Undefined{}, f.values(16))
		f.again().answer(40, v, err)
	}},
	{"syscall/js.valueNew", func(f frame) {
		v, err := f.in.realm.construct(f.ctx, f.value(8), f.values(16))
		f.again().answer(40, v, err)
	}},
	{"syscall/js.valueLength", func(f frame) { f.putU64(16, uint64(f.object(8).Len())) }},
	{"syscall/js.valuePrepareString", func(f frame) {
		b := []byte(Text(f.value(8)))
		f.putValue(16, f.in.realm.newBytes(b))
		f.putU64(24, uint64(len(b)))
	}},
	{"syscall/js.valueLoadString", func(f frame) {
		b, ok := f.object(8).Bytes()
		if !ok {
			f.fail("loading a string from something else")
		}
		copy(f.slice(16), b)
	}},
	{"syscall/js.valueInstanceOf", func(f frame) {
		c := f.object(16)
		proto, ok := c.Get("prototype").(*Object)
		if !c.Callable() {
			f.fail("instanceof something that is not a function")
		}
		o, isObject := f.value(8).(*Object)
		f.putBool(24, ok && isObject && o.inherits(proto))
	}},
	{"syscall/js.copyBytesToGo", func(f frame) {
		src, ok := byteArray(f.value(32))
		n := 0
		if ok {
			n = copy(f.slice(8), src)
		}
		f.putU64(40, uint64(n))
		f.putBool(48, ok)
	}},
	{"syscall/js.copyBytesToJS", func(f frame) {
		dst, ok := byteArray(f.value(8))
		n := 0
		if ok {
			n = copy(dst, f.slice(16))
		}
		f.putU64(40, uint64(n))
		f.putBool(48, ok)
	}},
	{"debug", func(f frame) { fmt.Fprintln(f.in.stderr, int32(f.sp)) }},
}

// answer stores the outcome of a call: the result, or what was thrown, and
// which of the two it is.
func (f frame) answer(off uint32, v Value, err error) {
	if err != nil {
		f.putValue(off, f.in.realm.thrown(err))
	} else {
		f.putValue(off, v)
	}
	f.putBool(off+8, err == nil)
}

// byteArray is the memory of the two typed arrays that count as bytes.
func byteArray(v Value) ([]byte, bool) {
	if o, ok := v.(*Object); ok {
		if d, ok := o.data.(*viewData); ok && (d.kind == elemKinds[0] || d.kind == elemKinds[1]) {
			return d.bytes(), true
		}
	}
	return nil, false
}

// property looks a method up. Strings, numbers and symbols have none here.
func (r *realm) property(v Value, name string) (Value, error) {
	o, ok := v.(*Object)
	if !ok {
		return nil, r.typeError("cannot read property " + name + " of " + Text(v))
	}
	fn := o.Get(name)
	if f, ok := fn.(*Object); !ok || !f.Callable() {
		return nil, r.typeError(name + " is not a function")
	}
	return fn, nil
}
