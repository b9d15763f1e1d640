package value

import (
	"strconv"

	"github.com/rollscope/rollscope/core/jsonscan"
)

// A Difference is a place where two values differ. Path names it from the root, like calls[3].tokens_in; of the two
// values one may be absent.
type Difference struct {
	Path string
	A, B Value
}

// Differ compares two values place by place. The order of keys does not matter, numbers are equal as in [Equal].
type Differ struct {
	NullIsAbsent bool                               // a member that is null is like one that is not there
	Skip         func(path string, a, b Value) bool // places that are not looked at; may be nil
	Most         int                                // differences that are kept, 0 for all

	Count int // of all differences
	List  []Difference
}

// Compare adds the differences between a and b.
func (d *Differ) Compare(path string, a, b Value) {
	if d.Skip != nil && d.Skip(path, a, b) {
		return
	}
	switch {
	case a.IsObject() && b.IsObject():
		d.objects(path, a, b)
	case a.kind == jsonscan.Array && b.kind == jsonscan.Array:
		for i := range max(len(a.parts), len(b.parts)) {
			var x, y Value
			if i < len(a.parts) {
				x = a.parts[i].Value
			}
			if i < len(b.parts) {
				y = b.parts[i].Value
			}
			d.Compare(path+"["+strconv.Itoa(i)+"]", x, y)
		}
	case a.Exists() != b.Exists():
		if !d.NullIsAbsent || !a.IsNull() || !b.IsNull() {
			d.add(path, a, b)
		}
	case !Equal(a, b):
		d.add(path, a, b)
	}
}

func (d *Differ) objects(path string, a, b Value) {
	if path != "" {
		path += "."
	}
	index := func(v Value) map[string]Value {
		m := make(map[string]Value, len(v.parts))
		for i := range v.parts {
			m[v.parts[i].Key] = v.parts[i].Value
		}
		return m
	}
	others := index(b)
	for _, m := range a.parts {
		d.Compare(path+m.Key, m.Value, others[m.Key])
	}
	known := index(a)
	for _, m := range b.parts {
		if _, there := known[m.Key]; !there {
			d.Compare(path+m.Key, Value{}, m.Value)
		}
	}
}

func (d *Differ) add(path string, a, b Value) {
	if d.Count++; d.Most == 0 || len(d.List) < d.Most {
		d.List = append(d.List, Difference{path, a, b})
	}
}

// Short cuts long texts, lists and objects of a value down, for messages.
func Short(v Value) Value {
	const longest = 120
	text := string(v.OrNull().Append(nil, Row))
	if len(text) <= longest {
		return v.OrNull()
	}
	if s, ok := v.Text(); ok {
		text = s
	}
	cut := min(longest, len(text))
	for cut > 0 && text[cut-1]&0xC0 == 0x80 {
		cut--
	}
	if cut > 0 && text[cut-1] >= 0xC0 {
		cut--
	}
	return Text(text[:cut] + "…")
}
