package trajectory

import "github.com/rollscope/rollscope/core/jsonscan"

// exceeds tells whether v has more levels than allowed, itself included. The scanner knows the height of
// every value at once, but counts values that a repeated key replaces; only then is there more to do.
func exceeds(v jsonscan.Value, levels int) bool {
	if v.Height() <= levels {
		return false
	}
	if levels == 0 {
		return true
	}
	if v.IsArray() {
		e := v.Elements()
		for e.Next() {
			if exceeds(e.Value, levels-1) {
				return true
			}
		}
		return false
	}
	for _, member := range tall(nil, v, levels-1) {
		if exceeds(member, levels-1) {
			return true
		}
	}
	return false
}

// members holds the members of an object that are kept as they are against the limit of depth; the fields
// are not among them.
func (r *Reader) members(fields []field, v jsonscan.Value) {
	// Every level takes two bytes, so most objects need no second look.
	if v.Len() <= 2*keptLevels || v.Height() <= keptLevels+1 {
		return
	}
	var first jsonscan.Value
	for _, member := range tall(fields, v, keptLevels) {
		if exceeds(member, keptLevels) && (!first.Exists() || member.Offset() < first.Offset()) {
			first = member
		}
	}
	if first.Exists() {
		r.tooDeep(first)
	}
}

// tall collects the members of an object that are higher than the limit and stand, by their keys.
func tall(fields []field, v jsonscan.Value, levels int) map[string]jsonscan.Value {
	found := map[string]jsonscan.Value{}
	m := v.Members()
members:
	for m.Next() {
		for i := range fields {
			if fields[i].name == string(m.Key) {
				continue members
			}
		}
		if m.Value.Height() > levels {
			found[string(m.Key)] = m.Value
		} else if len(found) > 0 {
			delete(found, string(m.Key))
		}
	}
	return found
}
