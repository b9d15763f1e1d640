package gojs

import (
	"cmp"
	"context"
	"slices"
	"strconv"
)

// Object is a JavaScript object: a plain one, an array, a typed array, a
// promise, an error or a function. It belongs to the Instance that made it and,
// like it, is used from one goroutine at a time.
type Object struct {
	realm *realm
	proto *Object
	props map[string]Value
	order []string // keys of props, oldest first
	data  any      // *arrayData, *bufferData, *viewData, *funcData, *promiseData, *dateData, *refTable or nil
}

// Func is a function of the host that the guest can call. An error is thrown in
// the guest: a *[Throw] as the value it carries, any other as an Error object
// with its text.
type Func func(ctx context.Context, this Value, args []Value) (Value, error)

// Throw is a JavaScript exception.
type Throw struct {
	// Value is what was thrown, usually an Error object.
	Value Value
}

func (t *Throw) Error() string { return Text(t.Value) }

type (
	arrayData struct{ elems []Value } // a nil element is a hole
	funcData  struct {
		name string
		call Func
		// construct makes an object for the new operator. A function without it
		// is called with a fresh object, unless method forbids new altogether.
		construct Func
		method    bool
	}
)

// maxArray is the largest length of an array: the elements are kept densely, so
// a guest must not be able to ask for four thousand million of them.
const maxArray = 1 << 24

// Callable reports whether o is a function.
func (o *Object) Callable() bool {
	_, ok := o.data.(*funcData)
	return ok
}

// Get returns a property, looked up along the prototypes; Undefined if there is none.
func (o *Object) Get(name string) Value {
	if v, ok := o.special(name); ok {
		return v
	}
	for p := o; p != nil; p = p.proto {
		if v, ok := p.props[name]; ok {
			return v
		}
	}
	return Undefined{}
}

// special answers the properties that are computed from the object's content.
func (o *Object) special(name string) (Value, bool) {
	switch d := o.data.(type) {
	case *arrayData:
		if name == "length" {
			return Number(len(d.elems)), true
		}
		if i, ok := indexKey(name); ok {
			return o.Index(i), true
		}
	case *viewData:
		switch name {
		case "length":
			return Number(d.length()), true
		case "byteLength":
			return Number(len(d.bytes())), true
		case "byteOffset":
			return Number(d.off), true
		case "buffer":
			return d.buffer, true
		}
		if i, ok := indexKey(name); ok {
			return o.Index(i), true
		}
	case *bufferData:
		if name == "byteLength" {
			return Number(len(d.b)), true
		}
	case *funcData:
		if name == "name" {
			return String(d.name), true
		}
	case *refTable:
		if name == "length" {
			return Number(len(d.slots)), true
		}
	}
	return nil, false
}

// Set sets a property of o itself.
func (o *Object) Set(name string, v Value) {
	switch d := o.data.(type) {
	case *arrayData:
		if name == "length" {
			o.setLength(d, toInt(v))
			return
		}
		if i, ok := indexKey(name); ok {
			o.SetIndex(i, v)
			return
		}
	case *viewData:
		switch name {
		case "length", "byteLength", "byteOffset", "buffer":
			return // read-only, silently ignored as outside strict mode
		}
		if i, ok := indexKey(name); ok {
			o.SetIndex(i, v)
			return
		}
	}
	if o.props == nil {
		o.props = map[string]Value{}
	}
	if _, ok := o.props[name]; !ok {
		o.order = append(o.order, name)
	}
	o.props[name] = norm(v)
}

func (o *Object) setLength(d *arrayData, n int64) {
	if n < 0 || n > maxArray {
		return
	}
	for int64(len(d.elems)) < n {
		d.elems = append(d.elems, nil)
	}
	clear(d.elems[n:])
	d.elems = d.elems[:n]
}

// Delete removes a property of o itself.
func (o *Object) Delete(name string) {
	if d, ok := o.data.(*arrayData); ok {
		if i, ok := indexKey(name); ok {
			if i < len(d.elems) {
				d.elems[i] = nil
			}
			return
		}
	}
	if _, ok := o.props[name]; !ok {
		return
	}
	delete(o.props, name)
	for i, k := range o.order {
		if k == name {
			o.order = append(o.order[:i], o.order[i+1:]...)
			break
		}
	}
}

// Has reports whether o itself has the property.
func (o *Object) Has(name string) bool {
	if _, ok := o.props[name]; ok {
		return true
	}
	if i, ok := indexKey(name); ok {
		switch d := o.data.(type) {
		case *arrayData:
			return i < len(d.elems) && d.elems[i] != nil
		case *viewData:
			return i < d.length()
		}
	}
	_, ok := o.data.(*arrayData)
	return ok && name == "length"
}

// Keys lists o's own properties as JavaScript orders them: indices by number,
// then the others in the order in which they were made.
func (o *Object) Keys() []string {
	keys := []string{}
	switch d := o.data.(type) {
	case *arrayData:
		for i, e := range d.elems {
			if e != nil {
				keys = append(keys, strconv.Itoa(i))
			}
		}
	case *viewData:
		for i := range d.length() {
			keys = append(keys, strconv.Itoa(i))
		}
	default:
		for _, k := range o.order {
			if _, ok := indexKey(k); ok {
				keys = append(keys, k)
			}
		}
		slices.SortFunc(keys, func(a, b string) int { // canonical numbers: the longer is the larger
			return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
		})
	}
	for _, k := range o.order {
		if _, ok := indexKey(k); !ok {
			keys = append(keys, k)
		}
	}
	return keys
}

// Len is the length of an array or typed array, otherwise the integer in the
// property "length".
func (o *Object) Len() int {
	switch d := o.data.(type) {
	case *arrayData:
		return len(d.elems)
	case *viewData:
		return d.length()
	}
	return int(toInt(o.Get("length")))
}

// Index returns the element i of an array or typed array, or the property with
// that number as its name.
func (o *Object) Index(i int) Value {
	switch d := o.data.(type) {
	case *arrayData:
		if i >= 0 && i < len(d.elems) {
			return norm(d.elems[i])
		}
		return Undefined{}
	case *viewData:
		if i >= 0 && i < d.length() {
			return Number(d.get(i))
		}
		return Undefined{}
	}
	return o.Get(strconv.Itoa(i))
}

// SetIndex sets the element i. It reports false when the array would grow
// beyond what the host keeps; a typed array ignores an index outside it.
func (o *Object) SetIndex(i int, v Value) bool {
	switch d := o.data.(type) {
	case *arrayData:
		if i < 0 || i >= maxArray {
			return false
		}
		if i >= len(d.elems) {
			o.setLength(d, int64(i)+1)
		}
		d.elems[i] = norm(v)
		return true
	case *viewData:
		if i >= 0 && i < d.length() {
			d.set(i, toNumber(v))
		}
		return true
	}
	o.Set(strconv.Itoa(i), v)
	return true
}

// Bytes returns the memory of an ArrayBuffer or typed array. It is shared with
// the guest: writing to it changes what the guest sees.
func (o *Object) Bytes() ([]byte, bool) {
	switch d := o.data.(type) {
	case *viewData:
		return d.bytes(), true
	case *bufferData:
		return d.b, true
	}
	return nil, false
}

// inherits reports whether proto is on o's prototype chain.
func (o *Object) inherits(proto *Object) bool {
	for p := o.proto; p != nil; p = p.proto {
		if p == proto {
			return true
		}
	}
	return false
}

// indexKey reads a property name that is a canonical array index.
func indexKey(name string) (int, bool) {
	if name == "" || len(name) > 10 || name[0] < '0' || name[0] > '9' || name[0] == '0' && len(name) > 1 {
		return 0, false
	}
	n, err := strconv.Atoi(name)
	return n, err == nil
}
