package value

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/jsontext"
)

// A Writer writes the compact text with sorted keys straight from scanned spans. It reuses its memory; the zero
// Writer is ready.
type Writer struct {
	// Wide is set when an integer was met that only a float could hold, so that a reader with exact integers would
	// write something else.
	Wide bool
	// Exponent is set when a float was written whose text depends on the version of the serialiser (spec batch-status
	// §3.1).
	Exponent bool

	stack []member
	keys  []byte
}

// A member is one member of an object that is being sorted; its name is a part of keys.
type member struct {
	from, to int
	value    jsonscan.Value
}

// Append appends the text of v in a form that sorts keys. Of an object that is v itself, members with a name in skip
// are left out.
func (w *Writer) Append(dst []byte, v jsonscan.Value, f *Form, skip ...string) []byte {
	switch v.Kind() {
	case jsonscan.Int:
		if raw := v.Raw(); string(raw) != "-0" {
			return append(dst, raw...)
		}
		return append(dst, '0')
	case jsonscan.Float:
		if bytes.IndexAny(v.Raw(), ".eE") < 0 {
			w.Wide = true
		}
		n, _ := v.Float()
		start := len(dst)
		dst = f.float(dst, n)
		if bytes.IndexByte(dst[start:], '+') > 0 {
			w.Exponent = true
		}
		return dst
	case jsonscan.String:
		// What needs an escape cannot stand in a JSON text without one.
		inner, escapes := v.Escaped()
		if !escapes {
			dst = append(dst, '"')
			dst = append(dst, inner...)
			return append(dst, '"')
		}
		return jsontext.AppendQuoted(dst, v.Text())
	case jsonscan.Array:
		dst = append(dst, '[')
		first := true
		for e := v.Elements(); e.Next(); first = false {
			if !first {
				dst = append(dst, ',')
			}
			dst = w.Append(dst, e.Value, f)
		}
		return append(dst, ']')
	case jsonscan.Object:
		return w.object(dst, v, f, skip)
	}
	return append(dst, v.Raw()...)
}

func (w *Writer) object(dst []byte, v jsonscan.Value, f *Form, skip []string) []byte {
	base, keys := len(w.stack), len(w.keys)
	for m := v.Members(); m.Next(); {
		if len(skip) > 0 && slices.Contains(skip, string(m.Key)) {
			continue
		}
		from := len(w.keys)
		w.keys = append(w.keys, m.Key...)
		w.stack = append(w.stack, member{from, len(w.keys), m.Value})
	}
	key := func(m member) []byte { return w.keys[m.from:m.to] }
	slices.SortFunc(w.stack[base:], func(a, b member) int {
		return cmp.Or(bytes.Compare(key(a), key(b)), cmp.Compare(a.from, b.from))
	})
	dst = append(dst, '{')
	empty := true
	for i, end := base, len(w.stack); i < end; i++ {
		m := w.stack[i]
		if i+1 < end && bytes.Equal(key(m), key(w.stack[i+1])) {
			continue // a later one of the same name wins
		}
		if !empty {
			dst = append(dst, ',')
		}
		empty = false
		dst = jsontext.AppendQuoted(dst, key(m))
		dst = append(dst, ':')
		dst = w.Append(dst, m.value, f)
	}
	w.stack, w.keys = w.stack[:base], w.keys[:keys]
	return append(dst, '}')
}
