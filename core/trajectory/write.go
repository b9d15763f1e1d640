package trajectory

import (
	"strconv"

	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/jsontext"
	"github.com/rollscope/rollscope/core/trajectory/lax"
	"github.com/rollscope/rollscope/core/value"
)

// The written form of what a reader has found valid (spec trajectory §2, §4; health appendix A): every field in the
// order of its table, numbers coerced, defaults written, and of unknown keys what the table says. Free values stay as
// they are.

// A writer writes values by their shapes. It asks a reader for the kinds of conversation items and reuses its memory.
type writer struct {
	reader Reader
	values []jsonscan.Value
	wide   bool // a whole number was written that no row can hold
}

// gather puts the values of a table's fields behind those that are there.
func (w *writer) gather(t *table, v jsonscan.Value) []jsonscan.Value {
	base, size := len(w.values), len(w.values)+len(t.fields)
	if size > cap(w.values) {
		w.values = append(make([]jsonscan.Value, 0, 2*size+64), w.values...)
	}
	w.values = w.values[:size]
	f := w.values[base:size:size]
	clear(f)
	v.Gather(t.names, f)
	return f
}

func (w *writer) release(f []jsonscan.Value) { w.values = w.values[:len(w.values)-len(f)] }

// object writes an object by its table.
func (w *writer) object(dst []byte, t *table, v jsonscan.Value) []byte {
	f := w.gather(t, v)
	dst = append(dst, '{')
	if t.tokens {
		dst = w.tokens(dst, v)
	}
	for i := range t.fields {
		dst = w.field(dst, t, i, f[i])
	}
	if t.extra == keeps {
		dst = w.rest(dst, t, v)
	}
	w.release(f)
	return append(dst, '}')
}

// field writes one field with its name, unless it is absent and left out.
func (w *writer) field(dst []byte, t *table, i int, v jsonscan.Value) []byte {
	f := &t.fields[i]
	switch {
	case v.Exists():
		dst = name(dst, f.name)
		if f.null && v.IsNull() {
			return append(dst, "null"...)
		}
		return w.shape(dst, &f.shape, v)
	case f.preset != "" && !t.sparse:
		return append(name(dst, f.name), f.preset...)
	}
	return dst
}

// name begins a member of an object.
func name(dst []byte, key string) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	dst = append(dst, '"')
	dst = append(dst, key...)
	return append(dst, `":`...)
}

// tokens writes the token fields of a message, in front of all others, if the item has any.
func (w *writer) tokens(dst []byte, v jsonscan.Value) []byte {
	var f [signRouted - signPrompt + 1]jsonscan.Value
	any := false
	m := v.Members()
	for m.Next() {
		for i := range f {
			if signs.fields[signPrompt+i].name == string(m.Key) {
				f[i], any = m.Value, true
			}
		}
	}
	if !any {
		return dst
	}
	for i := range f {
		if s := &signs.fields[signPrompt+i]; f[i].IsNull() {
			dst = append(name(dst, s.name), "null"...)
		} else {
			dst = w.shape(name(dst, s.name), &s.shape, f[i])
		}
	}
	return dst
}

// rest writes the members that no field has, in the order of the text.
func (w *writer) rest(dst []byte, t *table, v jsonscan.Value) []byte {
	m := v.Members()
	extras := 0
	for m.Next() {
		if t.find(m.Key, 0) < 0 {
			extras++
		}
	}
	if extras == 0 {
		return dst
	}
	repeats := extras > 1 && value.Repeats(v)
	m = v.Members()
	for m.Next() {
		if t.find(m.Key, 0) >= 0 {
			continue
		}
		last := m.Value
		if repeats {
			if last = v.Get(string(m.Key)); first(v, m.Key) != m.Value.Offset() {
				continue
			}
		}
		if dst[len(dst)-1] != '{' {
			dst = append(dst, ',')
		}
		dst = append(jsontext.AppendQuoted(dst, m.Key), ':')
		dst = value.AppendScanned(dst, last)
	}
	return dst
}

// first finds where the first value of a key stands.
func first(v jsonscan.Value, key []byte) int {
	for m := v.Members(); m.Next(); {
		if string(m.Key) == string(key) {
			return m.Value.Offset()
		}
	}
	return -1
}

// shape writes a value that has been held against the shape.
func (w *writer) shape(dst []byte, s *shape, v jsonscan.Value) []byte {
	for s.or != nil && !s.suits(v) {
		s = s.or
	}
	switch s.kind {
	case kindText, kindWord:
		return value.AppendScannedText(dst, v)

	case kindWhole:
		n, _ := lax.Int(v)
		w.wide = w.wide || !n.Writable()
		return n.Append(dst)

	case kindNumber:
		f, _ := lax.Float(v)
		return jsontext.AppendFloat(dst, f)

	case kindFlag:
		b, _ := lax.Bool(v)
		return strconv.AppendBool(dst, b)

	case kindList:
		return w.list(dst, s.of, v)

	case kindMap:
		return w.entries(dst, s.of, v)

	case kindObject:
		if s.table == logprob {
			return w.logprob(dst, v)
		}
		return w.object(dst, s.table, v)

	case kindTagged:
		return w.object(dst, w.pick(s.union, v), v)

	case kindItem:
		return w.item(dst, v)
	}
	return value.AppendScanned(dst, v)
}

func (w *writer) list(dst []byte, of *shape, v jsonscan.Value) []byte {
	// What is written as it stands needs no look at its parts.
	switch _, kinds := v.Parts(); {
	case of.kind == kindFree, of.kind == kindText, of.kind == kindWhole && kinds.Within(jsonscan.Int):
		return value.AppendScanned(dst, v)
	}
	dst = append(dst, '[')
	e := v.Elements()
	for i := 0; e.Next(); i++ {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = w.shape(dst, of, e.Value)
	}
	return append(dst, ']')
}

func (w *writer) entries(dst []byte, of *shape, v jsonscan.Value) []byte {
	dst = append(dst, '{')
	repeats := value.Repeats(v)
	for m := v.Members(); m.Next(); {
		last := m.Value
		if repeats {
			if last = v.Get(string(m.Key)); first(v, m.Key) != m.Value.Offset() {
				continue
			}
		}
		if dst[len(dst)-1] != '{' {
			dst = append(dst, ',')
		}
		dst = append(jsontext.AppendQuoted(dst, m.Key), ':')
		dst = w.shape(dst, of, last)
	}
	return append(dst, '}')
}

// pick finds the table that an object was read by.
func (w *writer) pick(u *union, v jsonscan.Value) *table {
	tag := v.Get(u.key())
	for _, t := range u.tables {
		if tag.Exists() {
			if tag.Is(t.tag) {
				return t
			}
			continue
		}
		// Without a type it is the first one that fits.
		r := &w.reader
		r.reset()
		if r.object(t, v) {
			return t
		}
	}
	return u.tables[len(u.tables)-1]
}

// item writes a conversation item.
func (w *writer) item(dst []byte, v jsonscan.Value) []byte {
	if t := w.kindOf(v); t != nil {
		return w.object(dst, t, v)
	}
	return value.AppendScanned(dst, v)
}

// kindOf is the table of a valid conversation item.
func (w *writer) kindOf(v jsonscan.Value) *table {
	w.reader.reset()
	return w.reader.kindOf(v)
}

// logprob writes a log probability. Its inner lists are not checked when it is read; they are coerced as far as that
// can be done and left as they are otherwise.
func (w *writer) logprob(dst []byte, v jsonscan.Value) []byte {
	f := w.gather(logprob, v)
	dst = w.field(append(dst, '{'), logprob, 0, f[0])
	dst = appendBytes(name(dst, "bytes"), f[1])
	dst = w.field(dst, logprob, 2, f[2])
	dst = name(dst, "top_logprobs")
	if !f[3].IsArray() || !candidates(f[3]) {
		dst = value.AppendScanned(dst, f[3])
	} else {
		dst = append(dst, '[')
		e := f[3].Elements()
		for i := 0; e.Next(); i++ {
			if i > 0 {
				dst = append(dst, ',')
			}
			token, probability := e.Value.Get("token"), e.Value.Get("logprob")
			dst = value.AppendScannedText(append(dst, `{"token":`...), token)
			dst = appendBytes(append(dst, `,"bytes":`...), e.Value.Get("bytes"))
			p, _ := lax.Float(probability)
			dst = jsontext.AppendFloat(append(dst, `,"logprob":`...), p)
			dst = append(dst, '}')
		}
		dst = append(dst, ']')
	}
	w.release(f)
	return append(dst, '}')
}

// candidates tells whether all elements of an array are log probabilities.
func candidates(v jsonscan.Value) bool {
	for e := v.Elements(); e.Next(); {
		if _, ok := lax.Float(e.Value.Get("logprob")); !ok || !e.Value.Get("token").IsString() || !e.Value.Get("bytes").IsArray() {
			return false
		}
	}
	return true
}

// appendBytes writes a list of whole numbers, or what stands there instead.
func appendBytes(dst []byte, v jsonscan.Value) []byte {
	start := len(dst)
	if !v.IsArray() {
		return value.AppendScanned(dst, v)
	}
	dst = append(dst, '[')
	for e := v.Elements(); e.Next(); {
		n, ok := lax.Int(e.Value)
		if !ok {
			return value.AppendScanned(dst[:start], v)
		}
		if dst[len(dst)-1] != '[' {
			dst = append(dst, ',')
		}
		dst = n.Append(dst)
	}
	return append(dst, ']')
}

// refs writes a list of references.
func appendRefs(dst []byte, refs []Ref) []byte {
	dst = append(dst, '[')
	for i := range refs {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = refs[i].AppendJSON(dst)
	}
	return append(dst, ']')
}

// invocation writes an invocation with the references it has now.
func (w *writer) invocation(dst []byte, in *Invocation) []byte {
	f := w.gather(&invocationTable, in.At)
	dst = append(dst, '{')
	for i := range invocationTable.fields {
		if i == invocationRefs {
			dst = appendRefs(name(dst, invocationTable.fields[i].name), in.Refs)
			continue
		}
		dst = w.field(dst, &invocationTable, i, f[i])
	}
	w.release(f)
	return append(dst, '}')
}

// compaction writes a compaction with the references it has now.
func (w *writer) compaction(dst []byte, c *Compaction) []byte {
	f := w.gather(&compactionTable, c.At)
	dst = append(dst, '{')
	for i := range compactionTable.fields {
		key := compactionTable.fields[i].name
		switch i {
		case compactionBefore:
			dst = appendRefOrNull(name(dst, key), c.Before)
		case compactionRefs:
			dst = appendRefs(name(dst, key), c.Refs)
		case compactionAfter:
			dst = appendRefOrNull(name(dst, key), c.After)
		default:
			dst = w.field(dst, &compactionTable, i, f[i])
		}
	}
	w.release(f)
	return append(dst, '}')
}

func appendRefOrNull(dst []byte, r *Ref) []byte {
	if r == nil {
		return append(dst, "null"...)
	}
	return r.AppendJSON(dst)
}

// bundle writes a bundle.
func (w *writer) bundle(dst []byte, b *Bundle) []byte {
	dst = appendText(append(dst, `{"source":`...), b.Source)
	dst = append(dst, `,"records":[`...)
	for i, o := range b.Records {
		if i > 0 {
			dst = append(dst, ',')
		}
		switch o.Kind {
		case ObservedInvocation:
			dst = w.invocation(dst, &b.Invocations[o.Index])
		case ObservedTool:
			dst = w.object(dst, &observedToolTable, b.Tools[o.Index].At)
		case ObservedSandbox:
			dst = w.object(dst, &sandboxTable, b.Sandboxes[o.Index].At)
		case ObservedCompaction:
			dst = w.compaction(dst, &b.Compactions[o.Index])
		}
	}
	dst = appendGaps(append(dst, `],"gaps":`...), b.Gaps)
	return append(dst, '}')
}

func appendGaps(dst []byte, gaps []Gap) []byte {
	dst = append(dst, '[')
	for i := range gaps {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = gaps[i].appendJSON(dst)
	}
	return append(dst, ']')
}

func (g *Gap) appendJSON(dst []byte) []byte {
	dst = appendText(append(dst, `{"code":`...), g.Code)
	dst = appendText(append(dst, `,"invocation_id":`...), g.InvocationID)
	dst = appendText(append(dst, `,"detail":`...), g.Detail)
	return append(dst, '}')
}

func appendText(dst []byte, t Text) []byte {
	if !t.Set {
		return append(dst, "null"...)
	}
	return jsontext.AppendQuoted(dst, t.Bytes)
}
