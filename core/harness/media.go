package harness

import "github.com/rollscope/rollscope/core/jsonscan"

// media is the rule of content.media. Paths end at request or response, because what lies below may be named by the
// user; the value that is pointed at is the unreadable object itself.
func (j *Judge) media() bool {
	ok := true
	for i := range j.calls {
		c := &j.calls[i]
		if at := unreadable(c.request); at.Exists() {
			ok = false
			j.point(inCalls, at, step(i), byKey(keyRequest))
		}
		if at := unreadable(c.body); at.Exists() {
			ok = false
			j.point(inCalls, at, step(i), byKey(keyResponse))
		}
	}
	return ok
}

// unreadable finds an object inside v whose content is elsewhere or encrypted (§7.6); absent if there is none.
func unreadable(v jsonscan.Value) jsonscan.Value {
	switch {
	case v.IsArray():
		if _, kinds := v.Parts(); !kinds.Has(jsonscan.Object) && !kinds.Has(jsonscan.Array) {
			break
		}
		e := v.Elements()
		for e.Next() {
			if found := unreadable(e.Value); found.Exists() {
				return found
			}
		}
	case v.IsObject():
		return unreadableObject(v)
	}
	return jsonscan.Value{}
}

func unreadableObject(v jsonscan.Value) jsonscan.Value {
	var id, url, secret, image, inside jsonscan.Value
	var last map[string]int // where the last member of each name begins
	m := v.Members()
	for m.Next() {
		switch string(m.Key) {
		case "file_id":
			id = m.Value
		case "file_url":
			url = m.Value
		case "encrypted_content":
			secret = m.Value
		case "image_url":
			image = m.Value
		}
		if inside.Exists() || !m.Value.IsObject() && !m.Value.IsArray() {
			continue
		}
		if found := unreadable(m.Value); found.Exists() {
			// Of repeated names only the last counts.
			if last == nil {
				last = lastMembers(v)
			}
			if last[string(m.Key)] == m.Value.Offset() {
				inside = found
			}
		}
	}
	if id.Truthy() || url.Truthy() || secret.Truthy() {
		return v
	}
	if image.Truthy() {
		if image.IsObject() {
			image = image.Get("url")
		}
		if !readable(image) {
			return v
		}
	}
	return inside
}

func lastMembers(v jsonscan.Value) map[string]int {
	last := map[string]int{}
	m := v.Members()
	for m.Next() {
		last[string(m.Key)] = m.Value.Offset()
	}
	return last
}
