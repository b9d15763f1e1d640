package trajectory

import "github.com/rollscope/rollscope/core/jsonscan"

// The choice of an item's kind (spec health appendix A, steps 0 and 1). The reference looks some values up in
// sets. Arrays and objects cannot be looked up there, so an item with such a value raises: that is the
// TypeError of a trajectory, and where it happens depends on the order of the questions.

// item reads an item of a conversation.
func (r *Reader) item(v jsonscan.Value) bool {
	base := len(r.values)
	ok := false
	if t := r.kindOf(v); t != nil {
		if t.signs == nil {
			ok = r.object(t, v)
		} else {
			ok = r.signed(t, v, base)
		}
	}
	r.values, r.coerced = r.values[:base], r.coerced[:base]
	return ok
}

// signed checks an item that drops unknown keys. All its fields are among the signs already.
func (r *Reader) signed(t *table, v jsonscan.Value, base int) bool {
	for i := range t.fields {
		f, value := &t.fields[i], r.values[base+int(t.signs[i])]
		if f.shape.kind == kindText && value.IsString() {
			continue
		}
		if !r.field(f, v, value) {
			return false
		}
	}
	return true
}

// kindOf gathers the signs of an item and picks its table; nil if it has none or raises.
func (r *Reader) kindOf(v jsonscan.Value) *table {
	base := len(r.values)
	if !r.gather(&signs, v) || !r.tokens(v, base) {
		return nil
	}
	s := r.values[base:]
	switch tag := s[signType]; {
	case tag.IsString():
		if r.is(tag, "message") {
			return r.message(s)
		}
		for _, t := range itemKinds {
			if r.is(tag, t.tag) {
				return t
			}
		}
		r.bad(tag, "is not the type of any conversation item")
		return nil
	case tag.IsNull():
		// With an explicit null the item fails later, at the check of its type; it may raise before.
		return r.untyped(s)
	default:
		r.bad(tag, "is not a string")
		return nil
	}
}

// tokens checks the token fields. If there is any of them, there must be all but the last.
func (r *Reader) tokens(v jsonscan.Value, base int) bool {
	s := r.values[base+signPrompt : base+signRouted+1]
	if !s[0].Exists() && !s[1].Exists() && !s[2].Exists() && !s[3].Exists() {
		return true
	}
	for i := signPrompt; i <= signRouted; i++ {
		value := r.values[base+i]
		if !value.Exists() && i < signRouted {
			return r.bad(v, signs.fields[i].name+" is missing beside other token fields")
		}
		if !r.field(&signs.fields[i], v, value) {
			return false
		}
	}
	return true
}

// message tells the three kinds of messages apart.
func (r *Reader) message(s []jsonscan.Value) *table {
	role, content := s[signRole], s[signContent]
	if r.unfit(role, "role") {
		return nil
	}
	switch {
	case !content.IsArray():
	case r.is(role, "user"), r.is(role, "system"), r.is(role, "developer"):
		status := s[signStatus]
		if r.unfit(status, "status") {
			return nil
		}
		if r.among(progress.words, status) {
			return inputMessage
		}
	case empty(content):
		if s[signID].IsString() {
			return outputMessage
		}
	default:
		out, ok := r.out(content)
		if !ok {
			return nil
		}
		if out {
			return outputMessage
		}
	}
	return easyMessage
}

// untyped finds the kind of an item without a type.
func (r *Reader) untyped(s []jsonscan.Value) *table {
	role, content, id := s[signRole], s[signContent], s[signID]
	if r.unfit(role, "role") {
		return nil
	}
	if (content.IsString() || content.IsArray()) && r.among(easyMessage.fields[1].shape.words, role) {
		t := r.message(s)
		if t == nil {
			return nil
		}
		stands := id.IsString()
		if t != outputMessage {
			out, ok := r.out(content)
			if !ok {
				return nil
			}
			stands = !out
		}
		if stands {
			return t
		}
		return mcpListTools
	}
	if !role.Exists() && id.IsString() && content.IsArray() {
		out, ok := r.out(content)
		if !ok {
			return nil
		}
		if out || empty(content) {
			return outputMessage
		}
	}
	switch {
	case s[signArguments].Exists() && s[signName].Exists():
		if s[signCallID].Exists() {
			return functionCall
		}
		return mcpCall
	case s[signCallID].IsString() && s[signOutput].Exists():
		return functionCallOutput
	case id.IsString() && s[signSummary].IsArray():
		return reasoning
	}
	return mcpListTools
}

// out tells whether a content begins with a part that only a model's message has. It is not ok if the type
// of that part cannot be looked up.
func (r *Reader) out(content jsonscan.Value) (out, ok bool) {
	parts := content.Elements()
	if !parts.Next() || !parts.Value.IsObject() {
		return false, true
	}
	tag := parts.Value.Get("type")
	if !tag.Truthy() {
		return parts.Value.Get("refusal").Exists(), true
	}
	if r.unfit(tag, "type") {
		return false, false
	}
	return r.is(tag, "output_text") || r.is(tag, "refusal"), true
}

// unfit notes an array or object where the reference looks a value up.
func (r *Reader) unfit(v jsonscan.Value, name string) bool {
	if !v.IsArray() && !v.IsObject() {
		return false
	}
	r.raises(v, name+" is an array or object and cannot be looked up")
	return true
}

// empty tells whether an array has no elements.
func empty(v jsonscan.Value) bool {
	e := v.Elements()
	return !e.Next()
}

// findRaising looks for an item that raises, wherever it stands and whatever else is wrong with the trajectory.
func (r *Reader) findRaising(v jsonscan.Value) {
	for i := v.Get("invocations").Elements(); i.Next(); {
		if r.raisesIn(i.Value.Get("conversation")) {
			return
		}
	}
}
