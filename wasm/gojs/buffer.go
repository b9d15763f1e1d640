package gojs

import (
	"context"
	"encoding/binary"
	"math"
)

type (
	bufferData struct{ b []byte }
	// viewData is a typed array over a part of an ArrayBuffer.
	viewData struct {
		kind   *elemKind
		buffer *Object
		off, n int // in bytes, elements
	}
	// elemKind is one kind of typed array.
	elemKind struct {
		name string
		size int
		get  func(b []byte) float64
		set  func(b []byte, f float64)
	}
)

// maxBuffer is the largest ArrayBuffer in bytes, as in Chromium on 32-bit hosts;
// a wasm memory of 4 GiB could not hold a copy of more.
const maxBuffer = 1<<31 - 1

func (d *viewData) length() int { return d.n }
func (d *viewData) bytes() []byte {
	return d.buffer.data.(*bufferData).b[d.off:][: d.n*d.kind.size : d.n*d.kind.size]
}
func (d *viewData) get(i int) float64 {
	return d.kind.get(d.bytes()[i*d.kind.size:])
}
func (d *viewData) set(i int, f float64) { d.kind.set(d.bytes()[i*d.kind.size:], f) }

// elemKinds are the typed arrays over numbers. The first two are those that
// syscall/js accepts as bytes.
var elemKinds = []*elemKind{
	{"Uint8Array", 1, func(b []byte) float64 { return float64(b[0]) }, func(b []byte, f float64) { b[0] = byte(wrap(f)) }},
	{"Uint8ClampedArray", 1, func(b []byte) float64 { return float64(b[0]) }, func(b []byte, f float64) {
		if f != f {
			f = 0
		}
		b[0] = byte(math.RoundToEven(min(max(f, 0), 255)))
	}},
	{"Int8Array", 1, func(b []byte) float64 { return float64(int8(b[0])) }, func(b []byte, f float64) { b[0] = byte(wrap(f)) }},
	{"Int16Array", 2, func(b []byte) float64 { return float64(int16(binary.LittleEndian.Uint16(b))) }, put16},
	{"Uint16Array", 2, func(b []byte) float64 { return float64(binary.LittleEndian.Uint16(b)) }, put16},
	{"Int32Array", 4, func(b []byte) float64 { return float64(int32(binary.LittleEndian.Uint32(b))) }, put32},
	{"Uint32Array", 4, func(b []byte) float64 { return float64(binary.LittleEndian.Uint32(b)) }, put32},
	{"Float32Array", 4, func(b []byte) float64 { return float64(math.Float32frombits(binary.LittleEndian.Uint32(b))) },
		func(b []byte, f float64) { binary.LittleEndian.PutUint32(b, math.Float32bits(float32(f))) }},
	{"Float64Array", 8, func(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) },
		func(b []byte, f float64) { binary.LittleEndian.PutUint64(b, math.Float64bits(f)) }},
}

func put16(b []byte, f float64) { binary.LittleEndian.PutUint16(b, uint16(wrap(f))) }
func put32(b []byte, f float64) { binary.LittleEndian.PutUint32(b, wrap(f)) }

// wrap converts a number to an integer modulo 2^32.
func wrap(f float64) uint32 {
	if f != f || math.IsInf(f, 0) {
		return 0
	}
	f = math.Mod(math.Trunc(f), 1<<32)
	return uint32(int64(f))
}

func (r *realm) newBuffer(b []byte) *Object {
	return &Object{realm: r, proto: r.bufferProto, data: &bufferData{b}}
}

func (r *realm) newView(kind *elemKind, proto, buffer *Object, off, n int) *Object {
	return &Object{realm: r, proto: proto, data: &viewData{kind, buffer, off, n}}
}

// newBytes makes a Uint8Array that shares b.
func (r *realm) newBytes(b []byte) *Object {
	return r.newView(elemKinds[0], r.uint8Proto, r.newBuffer(b), 0, len(b))
}

func (r *realm) initBuffers() {
	r.bufferProto = r.newObject(r.objectProto)
	r.class("ArrayBuffer", r.bufferProto, nil, func(_ context.Context, _ Value, args []Value) (Value, error) {
		n := toInt(arg(args, 0))
		if n < 0 || n > maxBuffer {
			return nil, r.rangeError("invalid array buffer length")
		}
		return r.newBuffer(make([]byte, n)), nil
	})
	r.method(r.bufferProto, "slice", func(_ context.Context, this Value, args []Value) (Value, error) {
		o, ok := this.(*Object)
		if !ok {
			return nil, r.typeError("not an ArrayBuffer")
		}
		d, ok := o.data.(*bufferData)
		if !ok {
			return nil, r.typeError("not an ArrayBuffer")
		}
		lo, hi := span(args, 0, len(d.b))
		return r.newBuffer(append([]byte(nil), d.b[lo:hi]...)), nil
	})
	common := r.newObject(r.objectProto)
	r.initViewMethods(common)
	for i, kind := range elemKinds {
		proto := r.newObject(common)
		c := r.class(kind.name, proto, nil, func(_ context.Context, _ Value, args []Value) (Value, error) {
			return r.makeView(kind, proto, args)
		})
		c.Set("BYTES_PER_ELEMENT", Number(kind.size))
		if i == 0 {
			r.uint8Proto = proto
		}
	}
}

// makeView is the constructor of the typed arrays: of a length, of a buffer with
// an offset and a length, or of the elements of another array.
func (r *realm) makeView(kind *elemKind, proto *Object, args []Value) (Value, error) {
	src, ok := arg(args, 0).(*Object)
	if !ok {
		n := toInt(arg(args, 0))
		if n < 0 || n > maxBuffer/int64(kind.size) {
			return nil, r.rangeError("invalid typed array length: " + Text(arg(args, 0)))
		}
		return r.newView(kind, proto, r.newBuffer(make([]byte, int(n)*kind.size)), 0, int(n)), nil
	}
	if d, ok := src.data.(*bufferData); ok {
		off, size := toInt(arg(args, 1)), int64(kind.size)
		room := int64(len(d.b)) - off
		if off < 0 || off%size != 0 || room < 0 {
			return nil, r.rangeError("invalid offset of a typed array")
		}
		n := room / size
		if v := arg(args, 2); v != (Undefined{}) {
			if n = toInt(v); n < 0 || n > room/size {
				return nil, r.rangeError("invalid typed array length")
			}
		} else if room%size != 0 {
			return nil, r.rangeError("buffer length is not a multiple of the element size")
		}
		return r.newView(kind, proto, src, int(off), int(n)), nil
	}
	n := src.Len()
	if n < 0 || int64(n) > maxBuffer/int64(kind.size) {
		return nil, r.rangeError("invalid typed array length")
	}
	if _, dense := src.data.(*arrayData); !dense {
		if _, typed := src.data.(*viewData); !typed {
			n = min(n, maxArray)
		}
	}
	view := r.newView(kind, proto, r.newBuffer(make([]byte, n*kind.size)), 0, n)
	d := view.data.(*viewData)
	for i := range n {
		d.set(i, toNumber(src.Index(i)))
	}
	return view, nil
}

func (r *realm) initViewMethods(proto *Object) {
	method := func(name string, f func(o *Object, d *viewData, args []Value) (Value, error)) {
		r.method(proto, name, func(_ context.Context, this Value, args []Value) (Value, error) {
			if o, ok := this.(*Object); ok {
				if d, ok := o.data.(*viewData); ok {
					return f(o, d, args)
				}
			}
			return nil, r.typeError(name + " called on something that is not a typed array")
		})
	}
	method("set", func(_ *Object, d *viewData, args []Value) (Value, error) {
		src, ok := arg(args, 0).(*Object)
		if !ok {
			return nil, r.typeError("set: the source is not an array")
		}
		off, n := toInt(arg(args, 1)), src.Len()
		if off < 0 || n < 0 || off+int64(n) > int64(d.n) {
			return nil, r.rangeError("set: the source does not fit")
		}
		if s, ok := src.data.(*viewData); ok && s.kind == d.kind {
			copy(d.bytes()[int(off)*d.kind.size:], s.bytes())
			return Undefined{}, nil
		}
		for i := range n {
			d.set(int(off)+i, toNumber(src.Index(i)))
		}
		return Undefined{}, nil
	})
	method("subarray", func(o *Object, d *viewData, args []Value) (Value, error) {
		lo, hi := span(args, 0, d.n)
		return r.newView(d.kind, o.proto, d.buffer, d.off+lo*d.kind.size, hi-lo), nil
	})
	method("slice", func(o *Object, d *viewData, args []Value) (Value, error) {
		lo, hi := span(args, 0, d.n)
		b := append([]byte(nil), d.bytes()[lo*d.kind.size:hi*d.kind.size]...)
		return r.newView(d.kind, o.proto, r.newBuffer(b), 0, hi-lo), nil
	})
	method("fill", func(o *Object, d *viewData, args []Value) (Value, error) {
		lo, hi := span(args, 1, d.n)
		f := toNumber(arg(args, 0))
		for i := lo; i < hi; i++ {
			d.set(i, f)
		}
		return o, nil
	})
}
