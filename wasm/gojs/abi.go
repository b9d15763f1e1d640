package gojs

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// ErrFault is wrapped by the error of an instance whose guest broke the
// interface between Go and JavaScript: an address outside its memory, a value
// that does not exist.
var ErrFault = errors.New("guest broke the js interface")

// A value travels as 64 bits: a number as itself, undefined as zero, all others
// as a quiet NaN with an id in the lower half and a kind of value in the upper.
const (
	nanHead      = 0x7FF80000
	flagNone     = 0
	flagObject   = 1
	flagString   = 2
	flagSymbol   = 3
	flagFunction = 4
)

// The ids that both sides know from the start.
const (
	idNaN = iota
	idZero
	idNull
	idTrue
	idFalse
	idGlobal
	idGo
	firstFreeID
)

// refTable maps ids to the values that the guest holds. The guest's finalizers
// count the references down; an id without any is given to another value.
type refTable struct {
	slots []refSlot
	ids   map[Value]uint32
	free  []uint32
}

type refSlot struct {
	v    Value
	refs int
}

func newRefTable(global, goObject *Object) *refTable {
	t := &refTable{ids: map[Value]uint32{}}
	for id, v := range []Value{Number(math.NaN()), Number(0), Null{}, Bool(true), Bool(false), global, goObject} {
		t.slots = append(t.slots, refSlot{v, 1})
		if id != idNaN { // NaN equals nothing, so a map cannot find it
			t.ids[v] = uint32(id)
		}
	}
	return t
}

// put returns an id of v with one more reference to it.
func (t *refTable) put(v Value) uint32 {
	if id, ok := t.ids[v]; ok {
		t.slots[id].refs++
		return id
	}
	var id uint32
	if n := len(t.free); n > 0 {
		id, t.free = t.free[n-1], t.free[:n-1]
	} else {
		id = uint32(len(t.slots))
		t.slots = append(t.slots, refSlot{})
	}
	t.slots[id] = refSlot{v, 1}
	t.ids[v] = id
	return id
}

func (t *refTable) get(id uint32) (Value, bool) {
	if int64(id) >= int64(len(t.slots)) || t.slots[id].refs == 0 {
		return nil, false
	}
	return t.slots[id].v, true
}

// drop takes one reference away. The ids known from the start stay for ever.
func (t *refTable) drop(id uint32) bool {
	if id < firstFreeID {
		return true
	}
	if _, ok := t.get(id); !ok {
		return false
	}
	s := &t.slots[id]
	if s.refs--; s.refs == 0 {
		delete(t.ids, s.v)
		s.v = nil
		t.free = append(t.free, id)
	}
	return true
}

// encode returns the 64 bits of v.
func (t *refTable) encode(v Value) uint64 {
	flag := uint64(flagNone)
	var id uint32
	switch x := norm(v).(type) {
	case Undefined:
		return 0
	case Number:
		switch {
		case x != x:
			id = idNaN
		case x == 0:
			id = idZero
		default:
			return math.Float64bits(float64(x))
		}
	case Null:
		id = idNull
	case Bool:
		if id = idFalse; x {
			id = idTrue
		}
	case String:
		flag, id = flagString, t.put(x)
	case *Symbol:
		flag, id = flagSymbol, t.put(x)
	case *Object:
		if flag = flagObject; x.Callable() {
			flag = flagFunction
		}
		id = t.put(x)
	}
	return (nanHead|flag)<<32 | uint64(id)
}

func (t *refTable) decode(bits uint64) (Value, bool) {
	f := math.Float64frombits(bits)
	if f == 0 {
		return Undefined{}, true
	}
	if f == f {
		return Number(f), true
	}
	return t.get(uint32(bits))
}

// frame is one call of an import. The guest passes everything on its own stack:
// the arguments begin 8 bytes above sp, the results follow them. A frame method
// that cannot do its work panics with an error wrapping ErrFault; wazero turns
// the panic into the error of the call that entered the guest.
type frame struct {
	ctx     context.Context
	in      *Instance
	sp      uint32
	entries uint64 // in.entries when sp was read
}

func (f frame) fail(format string, args ...any) {
	panic(fmt.Errorf("%w: %s", ErrFault, fmt.Sprintf(format, args...)))
}

// slot checks the address of n bytes at an offset from sp.
func (f frame) slot(off, n uint32) uint32 {
	at := uint64(f.sp) + uint64(off)
	if at+uint64(n) > uint64(f.in.mem.Size()) {
		f.fail("stack pointer %#x is outside the memory of %d bytes", f.sp, f.in.mem.Size())
	}
	return uint32(at)
}

func (f frame) u64(off uint32) uint64 {
	v, _ := f.in.mem.ReadUint64Le(f.slot(off, 8))
	return v
}

func (f frame) i64(off uint32) int64 { return int64(f.u64(off)) }

func (f frame) u32(off uint32) uint32 {
	v, _ := f.in.mem.ReadUint32Le(f.slot(off, 4))
	return v
}

func (f frame) putU64(off uint32, v uint64) { f.in.mem.WriteUint64Le(f.slot(off, 8), v) }
func (f frame) putU32(off uint32, v uint32) { f.in.mem.WriteUint32Le(f.slot(off, 4), v) }

func (f frame) putBool(off uint32, v bool) {
	var b byte
	if v {
		b = 1
	}
	f.in.mem.WriteByte(f.slot(off, 1), b)
}

// memory returns a view of n bytes at ptr, both as the guest's 64-bit integers.
// It is valid until the guest runs again, because the memory can move then.
func (f frame) memory(ptr, n uint64) []byte {
	size := uint64(f.in.mem.Size())
	if n > size || ptr > size-n {
		f.fail("%d bytes at address %#x are outside the memory of %d bytes", n, ptr, size)
	}
	if n == 0 {
		return nil
	}
	b, ok := f.in.mem.Read(uint32(ptr), uint32(n))
	if !ok {
		f.fail("%d bytes at address %#x cannot be read", n, ptr)
	}
	return b
}

// slice is the memory of a slice or string whose header is at off.
func (f frame) slice(off uint32) []byte { return f.memory(f.u64(off), f.u64(off+8)) }

func (f frame) str(off uint32) string { return decodeText(f.slice(off)) }

func (f frame) value(off uint32) Value { return f.decode(f.u64(off)) }

func (f frame) decode(bits uint64) Value {
	v, ok := f.in.refs.decode(bits)
	if !ok {
		f.fail("unknown value id %d", uint32(bits))
	}
	return v
}

func (f frame) putValue(off uint32, v Value) { f.putU64(off, f.in.refs.encode(v)) }

// object is a value whose properties are used. The guest's own code checks the
// type before it comes here.
func (f frame) object(off uint32) *Object {
	v := f.value(off)
	o, ok := v.(*Object)
	if !ok {
		f.fail("use of a property of %s", Text(v))
	}
	return o
}

// values reads a slice of encoded values.
func (f frame) values(off uint32) []Value {
	ptr, n := f.u64(off), f.u64(off+8)
	if n > maxArray {
		f.fail("a call with %d arguments", n)
	}
	raw := f.memory(ptr, n*8)
	list := make([]Value, n)
	for i := range list {
		list[i] = f.decode(binary.LittleEndian.Uint64(raw[8*i:]))
	}
	return list
}

// again is the frame after code that may have run the guest: its stack can have
// moved, so the stack pointer is asked for anew.
func (f frame) again() frame {
	f.in.unwindIfDead()
	if f.in.entries == f.entries {
		return f
	}
	stack := [1]uint64{}
	if err := f.in.getsp.CallWithStack(f.ctx, stack[:]); err != nil {
		panic(err)
	}
	f.sp, f.entries = uint32(stack[0]), f.in.entries
	return f
}

// decodeText turns the guest's bytes into text exactly as a browser's
// TextDecoder does: one byte order mark at the start is dropped, and each
// maximal part of a broken sequence becomes one replacement character.
func decodeText(b []byte) string {
	if len(b) >= 3 && b[0] == 0xEF && b[1] == 0xBB && b[2] == 0xBF {
		b = b[3:]
	}
	if utf8.Valid(b) {
		return string(b)
	}
	var w strings.Builder
	for len(b) > 0 {
		if c, n := utf8.DecodeRune(b); c != utf8.RuneError || n > 1 {
			w.WriteRune(c)
			b = b[n:]
			continue
		}
		w.WriteRune(utf8.RuneError)
		b = b[brokenPrefix(b):]
	}
	return w.String()
}

// brokenPrefix is the length of the longest start of b that begins a valid
// sequence, at least 1.
func brokenPrefix(b []byte) int {
	need, lo, hi := 0, byte(0x80), byte(0xBF)
	switch c := b[0]; {
	case c >= 0xC2 && c <= 0xDF:
		need = 1
	case c >= 0xE0 && c <= 0xEF:
		need = 2
		if c == 0xE0 {
			lo = 0xA0
		} else if c == 0xED {
			hi = 0x9F
		}
	case c >= 0xF0 && c <= 0xF4:
		need = 3
		if c == 0xF0 {
			lo = 0x90
		} else if c == 0xF4 {
			hi = 0x8F
		}
	}
	n := 1
	for ; n <= need && n < len(b) && b[n] >= lo && b[n] <= hi; n++ {
		lo, hi = 0x80, 0xBF
	}
	return n
}
